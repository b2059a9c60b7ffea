# SPDX-License-Identifier: Apache-2.0
"""A product and what follows it element by element, on a chip of the 950 series."""

from __future__ import annotations

from collections.abc import Iterator
from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import hollow, wide

from ..problems import message

pytestmark = pytest.mark.emulator_only(reason="the chip of the emulator is chosen")

NAME = "fused_matmul"
HALVES = [np.float16, ml_dtypes.bfloat16]
FLOATS = [*HALVES, np.float32]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def normal(shape: tuple[int, ...], dtype: Any, seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def given(array: Any, stepped: bool = False) -> Given | None:
    return None if array is None else Given(array, array.dtype.name, stepped)


def after(name: str, product: Any, other: Any) -> Any:
    if name == "gelu_erf":
        return product * 0.5 * (1 + np.vectorize(erf)(product / np.sqrt(2)))
    if name == "gelu_tanh":
        inner = np.sqrt(2 / np.pi) * (product + 0.044715 * product**3)
        return product * 0.5 * (1 + np.tanh(inner))
    return {
        "": lambda: product,
        "16cast32": lambda: product,
        "relu": lambda: np.maximum(product, 0),
        "add": lambda: product + other,
        "mul": lambda: product * other,
    }[name]()


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("", FLOATS),
        ("relu", FLOATS),
        ("add", FLOATS),
        ("mul", FLOATS),
        ("gelu_erf", HALVES),
        ("gelu_tanh", HALVES),
        ("16cast32", HALVES),
    ],
)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("stepped", [False, True])
def test_matrices(newer: Chip950, name: str, dtypes: Any, biased: bool, stepped: bool) -> None:
    for dtype in dtypes:
        x1, x2 = normal((5, 19), dtype, 1), normal((19, 7), dtype, 2)
        bias = normal((7,), dtype, 3) if biased and "gelu" not in name else None
        x3 = normal((5, 7), dtype, 4) if name in ("add", "mul") else None
        kind = "float32" if name == "16cast32" else np.dtype(dtype).name
        (y,) = newer.operator(
            NAME,
            *(given(x1, stepped), given(x2, stepped), given(bias), given(x3, stepped), name),
            *(3 if dtype is np.float32 else 0, Made((5, 7), kind, stepped)),
        )
        product = wide(x1) @ wide(x2) + (0 if bias is None else wide(bias))
        exact = after(name, product, None if x3 is None else wide(x3))
        assert_close(y, exact, scale=8)


@pytest.mark.parametrize("third", [(5, 7), (1, 5, 7), (2, 5, 7)], ids=str)
@pytest.mark.parametrize("name", ["add", "mul"])
def test_stacks(newer: Chip950, name: str, third: tuple[int, ...]) -> None:
    half = np.float16
    x1, x2, x3 = normal((2, 5, 9), half, 1), normal((2, 9, 7), half, 2), normal(third, half, 3)
    bias = normal((1, 7), np.float32, 4)
    (y,) = newer.operator(
        NAME, given(x1), given(x2), given(bias), given(x3), name, 4, Made((2, 5, 7), "float16")
    )
    assert_close(y, after(name, wide(x1) @ wide(x2) + wide(bias), wide(x3)), scale=8)


def test_stacks_broadcast(newer: Chip950) -> None:
    x1, x2 = normal((2, 1, 5, 9), np.float16, 1), normal((3, 9, 7), np.float16, 2)
    (y,) = newer.operator(
        NAME, given(x1), given(x2), None, None, "relu", 0, Made((2, 3, 5, 7), "float16")
    )
    assert_close(y, np.maximum(wide(x1) @ wide(x2), 0), scale=8)


def test_refusals(newer: Chip950) -> None:
    half, single = np.float16, np.float32
    x1, x2, x3 = normal((5, 9), half, 1), normal((9, 7), half, 2), normal((5, 7), half, 3)
    bias, y = normal((7,), half, 4), Made((5, 7), "float16")

    def refused(*arguments: Any) -> tuple[int, str]:
        values = [given(a) if isinstance(a, np.ndarray) else a for a in arguments]
        found = newer.operator(NAME, *values)
        assert isinstance(found, Refused), found
        return found.status, found.text

    for arguments, status, says in [
        ((None, x2, None, None, "", 0, y), 161001, "x1"),
        ((x1, x2, None, None, "add", 0, y), 161001, "x3Optional"),
        ((x1, x2, bias, None, "gelu_erf", 0, y), 161001, "biasOptional is given"),
        ((x1, x2, None, None, "sub", 0, y), 161002, 'fusedOpType is "sub"'),
        ((x1, x2, None, None, "16cast32", 0, y), 161002, "y has dtype"),
        (
            (x1.astype(single), x2.astype(single), None, None, "", 0, Made((5, 7), "float32")),
            161002,
            "cubeMathType is 0",
        ),
        ((x1, x2, None, x3[:, :1], "mul", 0, y), 161002, "x3Optional (5, 1)"),
        ((x1, x2[:8], None, None, "", 0, y), 161002, "cannot be multiplied"),
        (
            (x1[None], x2[None], None, None, "gelu_tanh", 0, Made((1, 5, 7), "float16")),
            161002,
            "x1 has 3 dimensions",
        ),
        ((x1, x2, bias[:6], None, "", 0, y), 161002, "biasOptional has shape"),
        ((x1, x2.astype(ml_dtypes.bfloat16), None, None, "", 0, y), 161002, "x2 has dtype"),
    ]:
        found = refused(*arguments)
        assert found[0] == status, found
        assert says in found[1]


@pytest.mark.usefixtures("device")
def test_an_older_chip_does_not_have_it() -> None:
    x = hollow((4, 4), np.float16)
    assert "950 series" in message("aclnnFusedMatmul", 361001, [x, x, None, None, "", 0, x])


@pytest.mark.parametrize("stepped", [False, True])
def test_weights_in_two_parts(newer: Chip950, stepped: bool) -> None:
    bf16 = ml_dtypes.bfloat16
    x, weight = normal((5, 19), bf16, 1), normal((19, 7), np.float32, 2)
    high = weight.astype(bf16)
    low = ((weight - high.astype(np.float32)) * 256).astype(bf16)
    (y,) = newer.operator(
        "matmul_emu_split_weight",
        *(given(x, stepped), given(high, stepped), given(low, stepped)),
        *(Made((5, 7), "float32", stepped), 1 / 256, 0),
    )
    assert_close(y, wide(x) @ wide(high) + wide(x) @ wide(low) / 256, scale=10)
    # What the low parts are for: the result is nearly that of the whole weight.
    assert_close(y, wide(x) @ wide(weight), scale=80)


def test_weights_in_two_parts_refuse(newer: Chip950) -> None:
    name, bf16 = "matmul_emu_split_weight", ml_dtypes.bfloat16
    x, w, y = (
        given(normal((5, 9), bf16, 1)),
        given(normal((9, 7), bf16, 2)),
        Made((5, 7), "float32"),
    )
    for arguments, status, says in [
        ((x, None, w, y, 1 / 256, 0), 161001, "wHigh"),
        ((x, w, w, y, 0.5, 0), 161002, "wLowScale is 0.5"),
        ((x, w, w, y, 1 / 256, 1), 161002, "yDtype is 1"),
        ((x, w, given(normal((8, 7), bf16, 2)), y, 1 / 256, 0), 161002, "wLow has shape"),
        ((w, w, w, y, 1 / 256, 0), 161002, "cannot be multiplied"),
        ((x, w, w, Made((5, 6), "float32"), 1 / 256, 0), 161002, "y has shape"),
        ((x, given(normal((9, 7), np.float16, 2)), w, y, 1 / 256, 0), 161002, "wHigh has dtype"),
    ]:
        found = newer.operator(name, *arguments)
        assert isinstance(found, Refused)
        assert found.status == status, found
        assert says in found.text
