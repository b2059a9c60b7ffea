# SPDX-License-Identifier: Apache-2.0
"""Products of rows that are quantised on the way, which the 310P has, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import hollow, op, place, wide

from aclnn_py.errors import AclnnError

Array = np.ndarray[Any, Any]
PLAIN, GROUPED = "quant_matmul_dequant", "quant_grouped_matmul_dequant"
NZ = GROUPED + "_weight_nz"
M, K, N, GROUPS = 6, 48, 32, 3
ENDS = np.array([2, 2, 5])


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


def blocks(weight: Array) -> Array:
    """(groups, n, k) as (groups, k / 32, n / 16, 16, 32), filled with ones."""
    groups, n, k = weight.shape
    filled = np.ones((groups, n, -(-k // 32) * 32), np.int8)
    filled[:, :, :k] = weight
    return filled.reshape(groups, n // 16, 16, -1, 32).transpose(0, 3, 1, 2, 4)


def operands(
    name: str,
    *,
    given: str = "",
    smooth: bool = False,
    joined: bool = False,
    depth: int = K,
    form: str = "ND",
    stepped: bool = False,
) -> tuple[list[Any], Array]:
    """Arguments, and the exact result of rows in a group."""
    rng = np.random.default_rng(depth)
    x = rng.standard_normal((M, depth)).astype(np.float16)
    weight = rng.integers(-99, 99, (GROUPS, N, depth)).astype(np.int8)
    scale = rng.uniform(1e-3, 1e-2, (GROUPS, N)).astype(np.float32)
    factors = rng.uniform(0.5, 2, depth).astype(np.float16)
    values = wide(x) * wide(factors) if smooth else wide(x)
    values = values.astype(np.float32)
    if given:
        count = 1 if given == "pertensor" else M
        own = rng.uniform(0.02, 0.04, count).astype(np.float16 if joined else np.float32)
    else:
        own = np.abs(values).max(axis=1) / np.float32(127)
    rows = np.broadcast_to(wide(own), (M,))
    codes = np.clip(np.rint(values / rows.astype(np.float32)[:, None]), -128, 127)
    owner = np.searchsorted(ENDS, np.arange(ENDS[-1]), side="right")
    if name == PLAIN:
        owner = np.zeros(M, int)
    exact = np.stack([wide(codes[r]) @ wide(weight[g]).T * wide(scale[g])
                      for r, g in enumerate(owner)])  # fmt: skip
    if not joined:
        exact *= rows[: len(exact), None]
    held: Any = Given(scale, "float32")
    if joined:
        held = Given(scale.view(np.int32).astype(np.int64), "int64")
    stored = Given(blocks(weight), "int8") if name == NZ else Given(weight, "int8", format=form)
    if name == PLAIN:
        stored = Given(stored.values[0], "int8", format=form)
        held = Given(held.values[0], held.dtype)
    arguments: list[Any] = [Given(x, "float16", stepped=stepped), stored, held]
    if name != PLAIN:
        arguments.append(Given(ENDS, "int64"))
    arguments += [
        None, Given(own, str(own.dtype)) if given else None, None,
        Given(factors, "float16") if smooth else None, given or "pertoken", True,
        Made((M, N), "float16", stepped=stepped and name == PLAIN),
    ]  # fmt: skip
    return arguments, exact


@pytest.mark.parametrize("name", [PLAIN, GROUPED, NZ])
@pytest.mark.parametrize(
    "form",
    [
        {},
        {"given": "pertoken", "smooth": True},
        {"given": "pertensor", "depth": 64},
        {"given": "pertensor", "joined": True, "depth": 64, "form": "FRACTAL_NZ"},
        {"smooth": True, "stepped": True, "depth": 64},
    ],
    ids=str,
)
def test_rows_are_quantised_multiplied_and_scaled_back(
    smaller: Chip950, name: str, form: dict[str, Any]
) -> None:
    arguments, exact = operands(name, **form)
    (out,) = smaller.operator(name, *arguments)
    assert_close(out[: len(exact)], exact, scale=2)
    assert (out[len(exact) :] == 77).all()


def test_a_row_of_zeros_stays_zero(smaller: Chip950) -> None:
    arguments, _ = operands(PLAIN)
    arguments[0].values[2] = 0
    (out,) = smaller.operator(PLAIN, *arguments)
    assert (out[2] == 0).all()
    assert (out[1] != 0).any()


def changed(name: str, index: int, value: Any, **form: Any) -> list[Any]:
    arguments, _ = operands(name, **form)
    arguments[index] = value
    return arguments


def test_refusals_name_the_parameter(smaller: Chip950) -> None:
    def refused(status: int, name: str, index: int, value: Any, **form: Any) -> str:
        answer = smaller.operator(name, *changed(name, index, value, **form))
        assert isinstance(answer, Refused)
        assert answer.status == status, answer.text
        return answer.text

    floats = Given(np.ones(N, np.float32), "float32")
    assert "x is null" in refused(161001, PLAIN, 0, None)
    assert "groupList is null" in refused(161001, GROUPED, 3, None)
    assert "biasOptional is given" in refused(161002, PLAIN, 3, floats)
    assert "x has dtype" in refused(161002, PLAIN, 0, Given(np.ones((M, K), np.float32), "float32"))
    half = Given(np.ones(M, np.float16), "float16")
    assert "xScaleOptional has dtype" in refused(161002, PLAIN, 4, half, given="pertoken")
    narrow = Given(np.ones((N, K + 1), np.int8), "int8")
    assert "multiples of 16" in refused(161002, PLAIN, 1, narrow)
    assert "x has shape" in refused(
        561002, PLAIN, 0, Given(np.ones((M, 16), np.float16), "float16")
    )
    assert "weightScale has shape" in refused(
        561002, PLAIN, 2, Given(np.ones(3, np.float32), "float32")
    )
    assert 'xQuantMode is "perrow"' in refused(561002, PLAIN, 7, "perrow")
    assert "pertensor" in refused(561002, PLAIN, 7, "pertensor")
    assert "transposeWeight is false" in refused(561002, PLAIN, 8, False)
    assert "groupList has shape" in refused(561002, GROUPED, 3, Given(ENDS[:2], "int64"))
    assert "out has shape" in refused(561002, PLAIN, 9, Made((M, 16), "float16"))
    fault = smaller.operator(GROUPED, *changed(GROUPED, 3, Given(np.array([2, 1, 5]), "int64")))
    assert isinstance(fault, Refused)
    assert "groupList" in fault.text


@pytest.mark.usefixtures("device")
def test_a_910b_does_not_have_them() -> None:
    one = place(np.ones((16, 16), np.float16))
    weight, scale = place(np.ones((16, 16), np.int8)), place(np.ones(16, np.float32))
    with pytest.raises(AclnnError, match="only the 310P has this operator") as caught:
        op("aclnnQuantMatmulDequant")(
            one, weight, scale, None, None, None, None, "pertoken", True, hollow((16, 16), np.half)
        )
    assert caught.value.status == 161002
