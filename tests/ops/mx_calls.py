# SPDX-License-Identifier: Apache-2.0
"""What tests of quantisation in blocks hand to the process with the newer chip."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from helpers.chip_950 import Given, Made, Refused

from .low_bits import FLOAT4, FLOAT8, SCALE, codes_of

Array = np.ndarray[Any, Any]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FORMATS = [*FLOAT8, *FLOAT4]


def random(shape: tuple[int, ...], dtype: Any = np.float16, seed: int = 0) -> Array:
    """Values of very different size, some of them 0, the largest far from 1."""
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=shape) * 2.0 ** rng.integers(-9, 6, shape)
    return np.where(rng.random(shape) < 0.1, 0.0, spread).astype(dtype)


def given(x: Array, stepped: bool = False) -> Given:
    return Given(x, x.dtype.name, stepped)


def scale_shape(shape: tuple[int, ...], axis: int, block: int = 32) -> tuple[int, ...]:
    sizes = list(shape)
    blocks = -(-sizes[axis] // block)
    sizes[axis] = -(-blocks // 2)
    return (*sizes, 2)


def results(shape: tuple[int, ...], dtype: str, axis: int, block: int = 32) -> tuple[Made, Made]:
    return Made(shape, dtype), Made(scale_shape(shape, axis, block), SCALE)


def assert_codes(found: Any, expected: tuple[Array, ...]) -> None:
    assert not isinstance(found, Refused), found
    assert len(found) == len(expected)
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(codes_of(got), wanted)
