# SPDX-License-Identifier: Apache-2.0
"""Remainders and whole quotients of float32 and int32, which are found by vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import aclnn_py as ap

Array = npt.NDArray[Any]
SPECIAL = [0.0, 1.0, -1.0, 3.0, -3.0, 0.5, np.inf, -np.inf, np.nan, 1e-45, 3e38, 1e30, -7.0, 0.1]
FORMS: list[tuple[str, Any]] = [
    ("floor_divide", np.floor_divide),
    ("remainder_tensor_tensor", np.remainder),
    ("fmod_tensor", np.fmod),
]


def compared(operator: str, oracle: Any, x: Array, y: Array) -> None:
    out = ap.full(x.shape, 77, x.dtype)
    getattr(ap.ops, operator)(ap.from_numpy(x), ap.from_numpy(y), out)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out.numpy(), oracle(x, y))


@pytest.mark.parametrize(("operator", "oracle"), FORMS)
def test_floats(device: ap.Device, operator: str, oracle: Any) -> None:
    rng = np.random.default_rng(8)
    special = np.array(SPECIAL, np.float32)
    x, y = (side.reshape(-1) for side in np.meshgrid(special, special))
    compared(operator, oracle, x, y)  # together they take the formula
    for i in range(x.size):  # alone each takes the way of its numbers
        compared(operator, oracle, x[i : i + 1], y[i : i + 1])
    for scale in (1.0, 1e3, 1e6, 1e12):
        drawn = (rng.standard_normal(3000) * scale).astype(np.float32)
        compared(operator, oracle, drawn, rng.standard_normal(3000).astype(np.float32))
    tenths = (rng.integers(-500, 500, 3000) * np.float32(0.1)).astype(np.float32)
    compared(operator, oracle, tenths, np.full(3000, 0.1, np.float32))


@pytest.mark.parametrize(("operator", "oracle"), FORMS)
def test_whole_numbers(device: ap.Device, operator: str, oracle: Any) -> None:
    rng = np.random.default_rng(9)
    ends = np.array([1, -1, 2, -2, 7, -7, 2**31 - 1, -(2**31), 12345], np.int32)
    x, y = (side.reshape(-1) for side in np.meshgrid(ends, ends))
    compared(operator, oracle, x, y)
    drawn = rng.integers(-(2**31), 2**31, (2, 5000)).astype(np.int32)
    compared(operator, oracle, drawn[0], np.where(drawn[1] == 0, 1, drawn[1]))
    compared(operator, oracle, drawn[0], np.where(drawn[1] % 99 == 0, -1, drawn[1] % 99))


def test_a_quotient_by_zero_of_whole_numbers_is_zero(device: ap.Device) -> None:
    x = np.array([5, -5, 0], np.int32)
    for operator in ("floor_divide", "remainder_tensor_tensor", "fmod_tensor"):
        out = ap.full(x.shape, 77, np.int32)
        getattr(ap.ops, operator)(ap.from_numpy(x), ap.from_numpy(x * 0), out)
        assert out.numpy().tolist() == [0, 0, 0], operator
