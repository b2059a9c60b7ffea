# SPDX-License-Identifier: Apache-2.0
"""Quantisation with given scales or with scales found from the data, and the way back."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import fault
from ..quantised import HALVES, LIMITS, assert_quantised, packed, put_packed, result, unpacked

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
KINDS = ["int8", "int4", "int32"]
FLOATS = [np.dtype(np.float32), *HALVES]


def message(operator: str, *arguments: Any) -> str:
    """The text of the refusal of a call."""
    with pytest.raises(ap.errors.AclnnError) as caught:
        getattr(ap.ops, operator)(*arguments)
    assert caught.value.status == 161002
    return str(caught.value)


def dynamic(x: Array, kind: str, symmetric: bool) -> tuple[Array, Array, Array]:
    """Quotients, scales and offsets of rows by the documented formulas."""
    low, high = LIMITS[kind]
    if symmetric:
        scale = np.abs(x).max(axis=-1) / high
        return x / scale[..., None], scale, np.zeros_like(scale)
    scale = (x.max(axis=-1) - x.min(axis=-1)) / (high - low)
    offset = high - x.max(axis=-1) / scale
    return x / scale[..., None] + offset[..., None], scale, offset


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("smooth", [False, True])
def test_dynamic_quant(kind: str, smooth: bool, layout: str) -> None:
    rng = np.random.default_rng(5)
    for dtype in HALVES:
        x = (rng.standard_normal((2, 3, 40)) * 3).astype(dtype)
        factors = rng.uniform(0.5, 2.0, 40).astype(dtype) if smooth else None
        y, scale = result((2, 3, 40), kind, layout), hollow((2, 3), np.float32, layout)
        given = None if factors is None else place(factors, layout)
        ap.ops.dynamic_quant(place(x, layout), given, y, scale)
        quotients, scales, _ = dynamic(
            wide(x) * (1 if factors is None else wide(factors)), kind, True
        )
        assert_quantised(unpacked(y, kind), quotients, kind)
        assert_close(scale.numpy(), scales)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("groups", [None, [2, 2, 5]], ids=["plain", "groups"])
def test_dynamic_quant_v2(kind: str, symmetric: bool, groups: list[int] | None) -> None:
    rng = np.random.default_rng(6)
    x = (rng.standard_normal((5, 24)) * 2 + 1).astype(np.float16)
    smooth = rng.uniform(0.5, 2.0, (3, 24) if groups else (24,)).astype(np.float16)
    rows = smooth[[0, 0, 2, 2, 2]] if groups else smooth
    y, scale = result((5, 24), kind), hollow((5,), np.float32)
    offset = None if symmetric else hollow((5,), np.float32)
    index = None if groups is None else place(np.array(groups, np.int32))
    number = {"int8": 2, "int4": 29, "int32": 3}[kind]
    ap.ops.dynamic_quant_v2(place(x), place(smooth), index, number, y, scale, offset)
    quotients, scales, offsets = dynamic(wide(x) * wide(rows), kind, symmetric)
    assert_quantised(unpacked(y, kind), quotients, kind)
    assert_close(scale.numpy(), scales)
    if offset is not None:
        # The offset is a small difference of larger numbers.
        assert np.abs(offset.numpy() - offsets).max() < 1e-4


def test_halves_are_rounded_to_even() -> None:
    x = np.array([[127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5]], np.float16)
    y, scale = hollow((1, 8), np.int8), hollow((1,), np.float32)
    ap.ops.dynamic_quant(place(x), None, y, scale)
    assert_same(y.numpy(), np.array([[127, 0, 2, 2, 0, -2, -2, 4]], np.int8))
    assert scale.numpy().item() == 1.0


def test_rows_of_zeros_have_the_scale_zero() -> None:
    x = np.array([[0, 0, 0, 0], [1, np.nan, -2, 0.5]], np.float16)
    y, scale = hollow((2, 4), np.int8), hollow((2,), np.float32)
    ap.ops.dynamic_quant(place(x), None, y, scale)
    assert_same(y.numpy(), np.array([[0, 0, 0, 0], [64, 0, -127, 32]], np.int8))
    assert_close(scale.numpy(), np.array([0, 2 / 127]))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (2, 0, 8)], ids=str)
def test_nothing_to_quantise(shape: tuple[int, ...]) -> None:
    scale = hollow(shape[:-1], np.float32)
    ap.ops.dynamic_quant(ap.empty(shape, np.float16), None, ap.empty(shape, np.int8), scale)
    assert_same(scale.numpy(), np.zeros(shape[:-1], np.float32))


def test_rows_behind_the_last_group_stay_as_they_are() -> None:
    x, smooth = place(np.ones((4, 8), np.float16)), place(np.ones((2, 8), np.float16))
    y, scale = hollow((4, 8), np.int8), hollow((4,), np.float32)
    ap.ops.dynamic_quant_v2(x, smooth, place(np.array([1, 3], np.int32)), 2, y, scale, None)
    assert_same(y.numpy()[:, 0], np.array([127, 127, 127, 77], np.int8))
    assert scale.numpy()[3] == 77


@pytest.mark.parametrize("groups", [[3, 2], [1, 5], [-1, 4]], ids=str)
def test_groups_outside_the_rows_are_a_fault(groups: list[int]) -> None:
    x, smooth = place(np.ones((4, 8), np.float16)), place(np.ones((2, 8), np.float16))
    y, scale = hollow((4, 8), np.int8), hollow((4,), np.float32)
    index = place(np.array(groups, np.int32))
    text = fault("aclnnDynamicQuantV2", x, smooth, index, 2, y, scale, None)
    assert "groupIndexOptional[" in text


def test_dynamic_quant_refuses() -> None:
    x, y = place(np.ones((4, 12), np.float16)), hollow((4, 12), np.int8)
    scale, twelve = hollow((4,), np.float32), place(np.ones(12, np.float16))
    name = "aclnnDynamicQuant"
    assert refusal(name, None, None, y, scale) == 161001
    assert refusal(name, x, None, None, scale) == 161001
    assert refusal(name, x, None, y, None) == 161001
    single = place(np.ones((4, 12), np.float32))
    assert "x has dtype FLOAT" in message("dynamic_quant", single, None, y, scale)
    assert "x has 1 dimensions" in message(
        "dynamic_quant", twelve, None, hollow((12,), np.int8), scale
    )
    other = place(np.ones(12, HALVES[1]))
    assert "smoothScalesOptional" in message("dynamic_quant", x, other, y, scale)
    long = place(np.ones(13, np.float16))
    assert "smoothScalesOptional" in message("dynamic_quant", x, long, y, scale)
    eighths = hollow((4, 1), np.int32)
    assert "multiple of 8" in message("dynamic_quant", x, None, eighths, scale)
    assert "scaleOut" in message("dynamic_quant", x, None, y, hollow((4, 1), np.float32))
    eight = ap.empty((4, 12), ml_dtypes.float8_e4m3fn)
    assert "yOut has dtype FLOAT8" in message("dynamic_quant", x, None, eight, scale)
    odd = place(np.ones((4, 3), np.float16))
    assert "multiple of 2" in message("dynamic_quant", odd, None, result((4, 3), "int4"), scale)
    v2 = "dynamic_quant_v2"
    assert "dstType is 3" in message(v2, x, None, None, 3, y, scale, None)
    index = place(np.array([4], np.int32))
    assert "groupIndexOptional" in message(v2, x, None, index, 2, y, scale, None)
    assert "smoothScalesOptional" in message(v2, x, twelve, index, 2, y, scale, None)
    assert "offsetOutOptional" in message(v2, x, None, None, 2, y, scale, hollow((3,), np.float32))


ROUNDINGS = {"round": np.rint, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_ascend_quant(kind: str, mode: str, layout: str) -> None:
    """Numbers whose products are exact, so that every rounding is."""
    rng = np.random.default_rng(7)
    for dtype in FLOATS:
        x = (rng.integers(-64, 65, (3, 4, 16)) / 8).astype(dtype)
        scale = (2.0 ** rng.integers(-2, 4, 16)).astype(dtype)
        offset = rng.integers(-3, 4, 16).astype(dtype)
        for square in (False, True):
            y = result((3, 4, 16), kind, layout)
            parts = (place(x, layout), place(scale, layout), place(offset, layout))
            number = {"int8": 2, "int4": 29, "int32": 3}[kind]
            ap.ops.ascend_quant(*parts, square, mode, number, y)
            exact = wide(x) * wide(scale) ** (2 if square else 1) + wide(offset)
            expected = np.clip(ROUNDINGS[mode](exact), *LIMITS[kind])
            assert_same(unpacked(y, kind), expected.astype(np.int8), f"{dtype} {square}")


@pytest.mark.parametrize("axis", [-1, -2, 1, 2])
@pytest.mark.parametrize("form", ["one", "vector", "full"])
def test_ascend_quant_v3_scales_along_an_axis(axis: int, form: str) -> None:
    x = np.arange(30, dtype=np.float32).reshape(2, 3, 5) - 15
    extent = x.shape[axis]
    count = 1 if form == "one" else extent
    scale, offset = np.arange(1.0, count + 1), np.arange(count) - 1.0
    along = [1, 1, 1]
    along[axis] = count
    shape = tuple(along) if form == "full" else (count,)
    y = hollow(x.shape, np.int8)
    parts = [place(part.astype(np.float32).reshape(shape)) for part in (scale, offset)]
    ap.ops.ascend_quant_v3(place(x), *parts, False, "round", 2, axis, y)
    expected = wide(x) * scale.reshape(along) + offset.reshape(along)
    assert_same(y.numpy(), np.clip(expected, -128, 127).astype(np.int8))


def test_what_is_no_number_becomes_zero_and_the_infinite_the_bound() -> None:
    x = place(np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, -0.4], np.float32))
    y = hollow((6,), np.int8)
    ap.ops.ascend_quant(x, place(np.ones(1, np.float32)), None, False, "round", 2, y)
    assert_same(y.numpy(), np.array([0, 127, -128, 127, -128, 0], np.int8))


def test_ascend_quant_refuses() -> None:
    x, scale = place(np.ones((3, 6), np.float16)), place(np.ones(6, np.float16))
    y, name = hollow((3, 6), np.int8), "aclnnAscendQuant"
    assert refusal(name, None, scale, None, False, "round", 2, y) == 161001
    assert refusal(name, x, None, None, False, "round", 2, y) == 161001
    assert refusal(name, x, scale, None, False, "round", 2, None) == 161001
    call = "ascend_quant"
    assert 'roundMode is "nearest"' in message(call, x, scale, None, False, "nearest", 2, y)
    assert "dstType is 29" in message(call, x, scale, None, False, "round", 29, y)
    single = place(np.ones(6, np.float32))
    assert "scale has dtype FLOAT" in message(call, x, single, None, False, "round", 2, y)
    assert "offsetOptional" in message(call, x, scale, single, False, "round", 2, y)
    five, two = place(np.ones(5, np.float16)), place(np.ones((3, 6), np.float16))
    assert "scale has shape (5,)" in message(call, x, five, None, False, "round", 2, y)
    assert "scale has shape (3, 6)" in message(call, x, two, None, False, "round", 2, y)
    one = place(np.ones(1, np.float16))
    assert "offsetOptional" in message(call, x, scale, one, False, "round", 2, y)
    short = hollow((3, 5), np.int8)
    assert "y has shape" in message(call, x, scale, None, False, "round", 2, short)
    cube = place(np.ones((2, 3, 6), np.float16))
    out = hollow((2, 3, 6), np.int8)
    assert "axis is 0" in message("ascend_quant_v3", cube, scale, None, False, "round", 2, 0, out)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ascend_anti_quant(kind: str, dtype: np.dtype[Any], layout: str) -> None:
    rng = np.random.default_rng(8)
    low, high = LIMITS[kind]
    numbers = rng.integers(low, high + 1, (3, 4, 16))
    for count, kept in ((16, np.dtype(np.float32)), (1, HALVES[1])):
        scale = rng.uniform(0.01, 0.2, count).astype(kept)
        offset = rng.integers(-4, 5, count).astype(kept)
        for shift in (None, offset):
            for square in (False, True):
                y = hollow(numbers.shape, dtype, layout)
                ap.ops.ascend_anti_quant(
                    put_packed(numbers, kind, layout),
                    place(scale, layout),
                    None if shift is None else place(shift, layout),
                    1 if dtype == np.float16 else 27,
                    square,
                    y,
                )
                power = wide(scale) ** (2 if square else 1)
                oracle = (numbers + (0 if shift is None else wide(shift))) * power
                assert_close(y.numpy(), oracle, what=f"{count} {square}")


def test_a_number_comes_back_from_quantisation() -> None:
    rng = np.random.default_rng(9)
    x = rng.standard_normal((6, 32)).astype(np.float16)
    y, scale = hollow((6, 32), np.int8), hollow((6,), np.float32)
    ap.ops.dynamic_quant(place(x), None, y, scale)
    scales = scale.numpy()
    for row in range(6):
        back = hollow((32,), np.float16)
        ap.ops.ascend_anti_quant(y[row], scale[row : row + 1], None, 1, False, back)
        distance = np.abs(wide(back.numpy()) - wide(x[row]))
        assert distance.max() <= scales[row] * 0.5 + 2e-3


def test_ascend_anti_quant_refuses() -> None:
    x, scale = place(np.ones((3, 6), np.int8)), place(np.ones(6, np.float32))
    name, y = "aclnnAscendAntiQuant", hollow((3, 6), np.float16)
    assert refusal(name, None, scale, None, 1, False, y) == 161001
    assert refusal(name, x, None, None, 1, False, y) == 161001
    assert refusal(name, x, scale, None, 1, False, None) == 161001
    call = "ascend_anti_quant"
    assert "dstType is 27" in message(call, x, scale, None, 27, False, y)
    assert "scale has 2 dimensions" in message(
        call, x, place(np.ones((1, 6), np.float32)), None, 1, False, y
    )
    assert "scale has shape (3,)" in message(
        call, x, place(np.ones(3, np.float32)), None, 1, False, y
    )
    half = place(np.ones(6, np.float16))
    assert "scale has dtype FLOAT16" in message(call, x, half, None, 1, False, y)
    words = place(packed(np.ones((3, 8), np.int64)))
    assert "x" in message(call, words, scale, None, 1, False, hollow((3, 16), np.float16))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("out", [np.int8, np.uint8, np.int32])
@pytest.mark.parametrize("zero", [None, np.int32, np.int8, np.uint8, HALVES[1]], ids=str)
def test_quantize(zero: Any, out: Any, layout: str) -> None:
    rng = np.random.default_rng(16)
    for dtype in [HALVES[1]] if zero == HALVES[1] else FLOATS:
        x = (rng.integers(-640, 641, (2, 3, 5)) / 8).astype(dtype)
        for axis, count in ((-1, 5), (1, 3), (0, 1)):
            scale = (2.0 ** rng.integers(-4, 3, count)).astype(dtype)
            shift = None if zero is None else rng.integers(0, 9, count).astype(zero)
            y = hollow(x.shape, out, layout)
            ap.ops.quantize(
                place(x, layout),
                place(scale, layout),
                None if shift is None else place(shift, layout),
                np.dtype(out),
                axis,
                y,
            )
            along = [1, 1, 1]
            along[axis] = count
            exact = wide(x) / wide(scale).reshape(along)
            exact = np.rint(exact + (0 if shift is None else wide(shift).reshape(along)))
            limits = np.iinfo(out)
            expected = np.clip(exact, limits.min, limits.max).astype(out)
            assert_same(y.numpy(), expected, f"{dtype} {axis}")


def test_quantize_to_32_bits_is_limited() -> None:
    x = place(np.array([np.nan, np.inf, -np.inf, 3e9, 16777217.0, 2.5], np.float32))
    y = hollow((6,), np.int32)
    ap.ops.quantize(x, place(np.ones(1, np.float32)), None, np.dtype(np.int32), 0, y)
    low, high = -(2**31), 2**31 - 1
    assert_same(y.numpy(), np.array([0, high, low, high, 16777216, 2], np.int32))


def test_quantize_refuses() -> None:
    x, scale = place(np.ones((3, 6), np.float16)), place(np.ones(6, np.float16))
    kind, y, name = np.dtype(np.int8), hollow((3, 6), np.int8), "aclnnQuantize"
    assert refusal(name, None, scale, None, kind, 1, y) == 161001
    assert refusal(name, x, None, None, kind, 1, y) == 161001
    assert refusal(name, x, scale, None, kind, 1, None) == 161001
    assert refusal(name, x, scale, None, np.dtype(np.uint8), 1, y) == 161002
    assert refusal(name, x, scale, None, kind, 0, y) == 161002
    assert refusal(name, x, scale, None, kind, 2, y) == 161002
    assert refusal(name, x, scale, place(np.ones(1, np.int32)), kind, 1, y) == 161002
    assert refusal(name, x, scale, place(np.ones(6, HALVES[1])), kind, 1, y) == 161002
    assert refusal(name, x, place(np.ones(6, np.float32)), None, kind, 1, y) == 161002
    assert refusal(name, x, scale, None, kind, 1, hollow((3, 5), np.int8)) == 161002
