# SPDX-License-Identifier: Apache-2.0
"""Dtypes that chips of the 950 series add to quantised norms and to a rotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused

from ..low_bits import FLOAT8, LARGEST, codes_of, values
from ..mx_calls import given
from ..quantised import assert_quantised

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
EPS = 1e-5


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def wide(x: Array) -> Array:
    return x.astype(np.float64)


def assert_near(made: Array, exact: Array, kind: str) -> None:
    """Integers nearest to the exact values, or floats of 8 bits within half a step."""
    if kind == "int8":
        return assert_quantised(made, exact, kind, 1e-3)
    step = {"float8_e4m3fn": 2.0**-4, "float8_e5m2": 2.0**-3, "hifloat8": 2.0**-3}[kind]
    limited = np.clip(exact, -LARGEST[kind], LARGEST[kind])
    tiny = 2.0**-10 if kind == "float8_e4m3fn" else 2.0**-17
    distance = np.abs(values(kind)[codes_of(made)] - limited)
    assert (distance <= step * np.abs(limited) * 1.001 + tiny + 1e-5).all()


@pytest.mark.parametrize("kind", ["int8", "hifloat8", *FLOAT8])
@pytest.mark.parametrize(
    ("dtype", "scale_kind", "offset_kind", "scales"),
    [("float32", "float32", "float32", 32), ("float16", "float32", "int32", 1),
     ("float16", "float16", "float16", 32), ("float16", "float16", "int8", 1)],
)  # fmt: skip
def test_rms_norm_quant(
    newer: Chip950, dtype: str, scale_kind: str, offset_kind: str, scales: int, kind: str
) -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((2, 3, 32)) * 2).astype(dtype)
    gamma, beta = (rng.standard_normal(32).astype(dtype) for _ in range(2))
    scale = rng.uniform(0.1, 0.9, scales).astype(scale_kind)
    offset = rng.integers(-3, 4, scales).astype(offset_kind)
    parts = (given(x), given(gamma), given(beta[None]), given(scale), given(offset))
    (y,) = newer.operator("rms_norm_quant", *parts, EPS, Made(x.shape, kind))
    root = np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + EPS)
    exact = (wide(x) / root * wide(gamma) + wide(beta)) / wide(scale) + wide(offset)
    assert_near(y, exact, kind)


def test_what_is_no_number_becomes_0(newer: Chip950) -> None:
    x, ones = np.ones((2, 8), np.float32), np.ones(8, np.float32)
    x[0, 3] = np.nan
    scale = ones.copy()
    scale[5] = np.nan
    (y,) = newer.operator(
        "rms_norm_quant",
        *(given(x), given(ones), given(ones), given(scale), given(ones), EPS),
        Made(x.shape, "float8_e4m3fn"),
    )
    numbers = values("float8_e4m3fn")[codes_of(y)]
    wanted = np.where(np.arange(8) == 5, 0.0, [[0.0], [3.0]])
    np.testing.assert_array_equal(numbers, wanted)


@pytest.mark.parametrize(
    ("position", "value", "says"),
    [
        (3, np.ones(5, np.float32), "scale has 5 values; allowed: 1 or 8"),
        (3, np.ones(8, np.float16), "scale has dtype FLOAT16; it must be FLOAT"),
        (4, np.ones(8, np.int32), "offset has dtype INT32; beside scale of FLOAT it must be FLOAT"),
        (2, np.ones((2, 4), np.float32), "CheckShape failed: beta"),
    ],
)
def test_rms_norm_quant_refuses(newer: Chip950, position: int, value: Array, says: str) -> None:
    ones = np.ones(8, np.float32)
    parts = [np.ones((2, 8), np.float32), ones, ones, ones, ones]
    parts[position] = value
    found = newer.operator("rms_norm_quant", *map(given, parts), EPS, Made((2, 8), "int8"))
    assert isinstance(found, Refused)
    assert found.status == 161002
    assert says in found.text


@pytest.mark.parametrize("zero", [None, -3])
def test_layer_norm_quant_of_float32(newer: Chip950, zero: int | None) -> None:
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((2, 3, 16)) * 2).astype(np.float32)
    gamma, beta = (rng.standard_normal((1, 16)).astype(np.float32) for _ in range(2))
    scale = np.array([0.03], np.float32)
    y, scales = newer.operator(
        "layer_norm_quant",
        *(given(x), given(gamma), given(beta), given(scale)),
        None if zero is None else given(np.array([zero], np.int8)),
        *(0, EPS, Made(x.shape, "int8"), Made((2, 3), "float32")),
    )
    centred = wide(x) - wide(x).mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
    exact = (normal * wide(gamma) + wide(beta)) / wide(scale) + (zero or 0)
    assert_quantised(y, exact, "int8", 1e-3)
    assert (scales == 77).all()


def test_interleave_rope_of_float32(newer: Chip950) -> None:
    rng = np.random.default_rng(3)
    x, cos, sin = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((2, 3, 4, 64), (2, 1, 1, 64), (2, 1, 1, 64))
    )
    (out,) = newer.operator(
        "interleave_rope",
        *(Given(x, "float32", stepped=True), given(cos), given(sin), Made(x.shape, "float32")),
    )
    halves = wide(x).reshape(2, 3, 4, 32, 2).swapaxes(-1, -2).reshape(x.shape)
    turned = np.concatenate([-halves[..., 32:], halves[..., :32]], axis=-1)
    np.testing.assert_allclose(out, halves * wide(cos) + turned * wide(sin), rtol=2e-6, atol=1e-6)


def test_rows_of_nothing(newer: Chip950) -> None:
    nothing = given(np.zeros(0, np.float32))
    x, made = given(np.zeros((3, 0), np.float32)), Made((3, 0), "float8_e4m3fn")
    found = newer.operator("rms_norm_quant", x, *[nothing] * 4, EPS, made)
    assert not isinstance(found, Refused)
    assert found[0].shape == (3, 0)
