# SPDX-License-Identifier: Apache-2.0
"""Quantisation to floats of 8 bits by the operators that a 910B has for integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused

from ..low_bits import FLOAT8, LARGEST, NUMBER, codes_of, encoded, values

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
KINDS = [*FLOAT8, "hifloat8"]
DTYPE = {**NUMBER, "hifloat8": 34}


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def random(shape: tuple[int, ...], dtype: Any = np.float16, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * 2.0 ** rng.integers(-5, 3, shape)).astype(dtype)


def given(x: Array) -> Given:
    return Given(x, x.dtype.name)


def stored(x: Array, kind: str) -> Array:
    """Codes of values; HiFloat8 rounds away from zero and has one zero only."""
    if kind != "hifloat8":
        return encoded(x, kind)
    codes = encoded(x, kind, "round")
    codes[values(kind)[codes & 127] == 0] = 0
    return codes


def numbers(array: Array, kind: str) -> Array:
    """The values of what a device gave back."""
    return values(kind)[codes_of(array)]


def by_rows(x: Array, kind: str) -> tuple[Array, Array]:
    """Codes and scales of rows in float32; a row of zeros stays zeros."""
    scale = np.abs(x).max(axis=-1) / np.float32(LARGEST[kind])
    divisor = np.where(scale == 0, np.float32(1), scale)
    return stored(x / divisor[..., None], kind), scale


def assert_rows(found: Any, x: Array, kind: str) -> None:
    assert not isinstance(found, Refused), found
    codes, scale = by_rows(x.astype(np.float32), kind)
    np.testing.assert_array_equal(codes_of(found[0]), codes)
    np.testing.assert_array_equal(found[1], scale)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("smoothed", [False, True])
def test_rows_with_scales_of_their_own(newer: Chip950, smoothed: bool, kind: str) -> None:
    x, smooth = random((3, 5, 70)), random((70,), seed=1)
    x[1, 2] = 0
    made = Made(x.shape, kind), Made((3, 5), "float32")
    factor = given(smooth) if smoothed else None
    wide = x.astype(np.float32) * (smooth.astype(np.float32) if smoothed else np.float32(1))
    assert_rows(newer.operator("dynamic_quant", given(x), factor, *made), wide, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_groups(newer: Chip950, kind: str) -> None:
    x, smooth = random((6, 32)), random((2, 32), seed=1)
    wide = x.astype(np.float32) * smooth.astype(np.float32).repeat([2, 4], axis=0)
    found = newer.operator(
        "dynamic_quant_v2",
        *(given(x), given(smooth), Given(np.array([2, 6], np.int32), "int32"), DTYPE[kind]),
        *(Made(x.shape, kind), Made((6,), "float32"), None),
    )
    assert_rows(found, wide, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_given_scales(newer: Chip950, kind: str) -> None:
    x, scale = random((4, 70), np.float32), np.abs(random((70,), np.float32, 1)) + 1
    offset = random((70,), np.float32, 2)
    found = newer.operator(
        "ascend_quant_v3",
        *(given(x), given(scale), given(offset), False, "round", DTYPE[kind], -1),
        Made(x.shape, kind),
    )
    assert not isinstance(found, Refused), found
    np.testing.assert_array_equal(codes_of(found[0]), stored(x * scale + offset, kind))
    found = newer.operator("quantize", given(x), given(scale), None, kind, 1, Made(x.shape, kind))
    assert not isinstance(found, Refused), found
    np.testing.assert_array_equal(codes_of(found[0]), stored(x / scale, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_values_beyond_the_range_become_the_largest(newer: Chip950, kind: str) -> None:
    x = np.array([[1e6, -1e6, np.inf, -np.inf, np.nan, 1]], np.float32)
    scale = np.ones(1, np.float32)
    found = newer.operator(
        "ascend_quant_v3",
        *(given(x), given(scale), None, False, "round", DTYPE[kind], -1, Made(x.shape, kind)),
    )
    most = LARGEST[kind]
    np.testing.assert_array_equal(numbers(found[0], kind), [[most, -most, most, -most, np.nan, 1]])


@pytest.mark.parametrize("kind", KINDS)
def test_norms_with_scales_of_their_rows(newer: Chip950, kind: str) -> None:
    x, other, gamma = random((3, 64)), random((3, 64), seed=1), random((64,), seed=2)
    total = (x.astype(np.float32) + other.astype(np.float32)).astype(np.float64)
    rms = np.sqrt((total**2).mean(axis=-1, keepdims=True) + 1e-3)
    normed = (total / rms * gamma.astype(np.float64)).astype(np.float32)
    found = newer.operator(
        "add_rms_norm_dynamic_quant",
        *(given(x), given(other), given(gamma), None, None, 1e-3, Made(x.shape, kind)),
        *(Made((1,), kind), Made(x.shape, "float16"), Made((3,), "float32"), Made((1,), "float32")),
    )
    assert not isinstance(found, Refused), found
    codes, scale = by_rows(normed, kind)
    np.testing.assert_allclose(found[3], scale, rtol=1e-6)
    # Beside the middle of two numbers either is right: the norm is computed in float32.
    assert np.abs(codes_of(found[0]).astype(int) - codes.astype(int)).max() <= 1
    assert (codes_of(found[0]) != codes).mean() < 0.02
