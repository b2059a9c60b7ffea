# SPDX-License-Identifier: Apache-2.0
"""Gated units and activations that only chips of the 950 series have."""

from __future__ import annotations

from collections.abc import Iterator
from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import hollow, place, refusal, wide

from ..low_bits import FLOAT8, LARGEST, NUMBER, codes_of, values
from ..quantised import HALVES, assert_quantised

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
FLOATS = [np.dtype(np.float32), *HALVES]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def given(x: Array) -> Given:
    return Given(x, x.dtype.name)


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("interleaved", [True, False])
def test_clipped_swiglu_v2(
    newer: Chip950, dtype: np.dtype[Any], late: int, interleaved: bool
) -> None:
    x = (4 * np.random.default_rng(1).standard_normal((3, 20))).astype(dtype)
    gate, linear = (
        (wide(x)[:, ::2], wide(x)[:, 1::2]) if interleaved else np.split(wide(x), 2, axis=1)
    )
    linear = np.clip(linear, -2.5, 2.5)
    if late:
        oracle = np.minimum(silu(gate), 2.5) * linear
    else:
        gate = np.minimum(gate, 2.5)
        oracle = gate / (1 + np.exp(-1.702 * gate)) * (linear + 0.5)
    made = Made((3, 10), dtype.name)
    found = newer.operator(
        "clipped_swiglu_v2", given(x), None, -1, 1.702, 2.5, 0.5, interleaved, late, made
    )
    assert not isinstance(found, Refused), found
    assert_close(found[0], oracle, scale=4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("limit", [-1.0, 1.5])
@pytest.mark.parametrize("weighted", [True, False])
def test_swiglu_group(newer: Chip950, dtype: np.dtype[Any], limit: float, weighted: bool) -> None:
    rng = np.random.default_rng(2)
    x = (2 * rng.standard_normal((2, 3, 16))).astype(dtype)
    weight = rng.random((6, 1)).astype(np.float32)
    gate, linear = np.split(wide(x).reshape(6, 16), 2, axis=1)
    if limit > 0:
        gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
    oracle = silu(gate) * linear * (wide(weight) if weighted else 1)
    for groups, rows in [(None, 6), ([1, 3], 4), ([9], 6)]:
        index = None if groups is None else given(np.array(groups))
        found = newer.operator(
            *("swiglu_group", given(x), given(weight) if weighted else None, index, limit),
            Made((2, 3, 8), dtype.name),
        )
        assert not isinstance(found, Refused), found
        assert_close(found[0].reshape(6, 8)[:rows], oracle[:rows], scale=4)


def gelu(x: Array, form: str) -> Array:
    if form == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


@pytest.mark.parametrize("form", ["none", "tanh"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("dynamic", [True, False])
def test_gelu_quant_to_int8(newer: Chip950, form: str, dtype: np.dtype[Any], dynamic: bool) -> None:
    rng = np.random.default_rng(3)
    x = (2 * rng.standard_normal((2, 3, 24))).astype(dtype)
    factor = rng.uniform(5, 30, 24).astype(dtype)
    offset = rng.uniform(-9, 9, 24).astype(dtype)
    exact = gelu(wide(x), form) * wide(factor)
    y, mode = Made((2, 3, 24), "int8"), "dynamic" if dynamic else "static"
    found = newer.operator(
        *("gelu_quant", given(x), given(factor), None if dynamic else given(offset)),
        *(form, mode, "rint", 2, y, Made((2, 3), "float32") if dynamic else None),
    )
    assert not isinstance(found, Refused), found
    if dynamic:
        scales = np.abs(exact).max(axis=-1) / 127
        assert_close(found[1], scales, scale=16)
        assert_quantised(found[0], exact / scales[..., None], "int8", slack=2e-3)
    else:
        assert_quantised(found[0], exact + wide(offset), "int8", slack=2e-3)


@pytest.mark.parametrize("kind", [*FLOAT8, "hifloat8"])
def test_gelu_quant_to_floats_of_8_bits(newer: Chip950, kind: str) -> None:
    rng = np.random.default_rng(4)
    x = (3 * rng.standard_normal((5, 40))).astype(np.float32)
    exact = gelu(wide(x), "none")
    number = NUMBER.get(kind, 34)
    rounding = "round" if kind == "hifloat8" else "rint"
    made = Made((5, 40), kind), Made((5,), "float32")
    found = newer.operator(
        "gelu_quant", given(x), None, None, "none", "dynamic", rounding, number, *made
    )
    assert not isinstance(found, Refused), found
    scales = np.abs(exact).max(axis=-1) / LARGEST[kind]
    assert_close(found[1], scales, scale=16)
    numbers = values(kind)
    finite = np.sort(numbers[np.isfinite(numbers)])
    wanted = exact / scales[:, None]
    got = numbers[codes_of(found[0])]
    # Each is a nearest number of the format: no other one is closer by more than float32 is wrong.
    distance = np.abs(finite[None, None, :] - wanted[..., None]).min(axis=-1)
    assert (np.abs(got - wanted) <= distance + 1e-5 * np.abs(wanted) + 1e-6).all()


def test_a_910b_refuses_them() -> None:
    x, out = place(np.ones((2, 8), np.float32)), hollow((2, 4), np.float32)
    clipped = (x, None, -1, 1.0, 1.0, 1.0, True, 0, out)
    assert refusal("aclnnClippedSwigluV2", *clipped) == 561003
    assert refusal("aclnnSwigluGroup", x, None, None, -1.0, out) == 561003
    y, scale = hollow((2, 8), np.int8), hollow((2,), np.float32)
    call = (x, None, None, "none", "dynamic", "rint", 2, y, scale)
    assert refusal("aclnnGeluQuant", *call) == 361001


@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    [
        ("clipped_swiglu_v2", (None, 2, 1.0, 1.0, 1.0, True, 0), 161002),
        ("clipped_swiglu_v2", (None, -1, 1.0, 0.0, 1.0, True, 0), 161002),
        ("clipped_swiglu_v2", (None, -1, 1.0, 1.0, 1.0, True, 2), 161002),
        ("swiglu_group", (None, None, 0.0), 561002),
        ("swiglu_group", (Given(np.ones(3, np.float32), "float32"), None, -1.0), 561002),
        ("swiglu_group", (None, Given(np.array([-1]), "int64"), -1.0), 507015),
    ],
)
def test_refusals(newer: Chip950, name: str, arguments: Any, status: int) -> None:
    x = np.ones((2, 8), np.float32)
    found = newer.operator(name, given(x), *arguments, Made((2, 4), "float32"))
    assert isinstance(found, Refused)
    assert found.status == status


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({3: "erf"}, 161002),
        ({4: "other"}, 161002),
        ({5: "round"}, 161002),
        ({6: 36}, 161002),
        ({8: None}, 161001),
        ({4: "static", 8: None}, 161001),
        ({1: Given(np.ones(3, np.float32), "float32")}, 161002),
        ({2: Given(np.ones(8, np.float32), "float32")}, 161002),
        ({1: Given(np.ones(8, ml_dtypes.bfloat16), "bfloat16")}, 161002),
        ({8: Made((2, 1), "float32")}, 161002),
    ],
)
def test_gelu_quant_refuses(newer: Chip950, changes: dict[int, Any], status: int) -> None:
    x = given(np.ones((2, 8), np.float32))
    made = Made((2, 8), "int8"), Made((2,), "float32")
    call: list[Any] = [x, None, None, "none", "dynamic", "rint", 2, *made]
    for position, value in changes.items():
        call[position] = value
    found = newer.operator("gelu_quant", *call)
    assert isinstance(found, Refused)
    assert found.status == status
