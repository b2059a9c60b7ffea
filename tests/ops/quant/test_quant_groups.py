# SPDX-License-Identifier: Apache-2.0
"""Quantisation by groups of rows, after a gated unit or alone, and dequantisation with a bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import fault
from ..quantised import HALVES, LIMITS, assert_quantised, result, unpacked

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
FLOATS = [np.dtype(np.float32), *HALVES]


def gated(x: Array, left: bool) -> Array:
    """SiLU of one half of the last dimension times the other half."""
    first, second = np.split(wide(x), 2, axis=-1)
    gate, linear = (first, second) if left else (second, first)
    return gate / (1 + np.exp(-gate)) * linear


def spread(factors: Array, rows: list[int]) -> Array:
    """The factors of the group of each row, as columns or as one value."""
    return wide(factors)[rows] if factors.ndim == 2 else wide(factors)[rows][:, None]


@pytest.mark.parametrize("mode", ["dynamic", "static", None])
@pytest.mark.parametrize("per_column", [True, False], ids=["columns", "one"])
@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
def test_swiglu_quant(mode: str | None, per_column: bool, left: bool) -> None:
    rng = np.random.default_rng(11)
    ends, rows = np.array([2, 2, 5], np.int32), [0, 0, 2, 2, 2]
    for dtype in FLOATS:
        x = rng.standard_normal((5, 48)).astype(dtype)
        shape = (3, 24) if per_column else (3,)
        smooth = rng.uniform(1, 30, shape).astype(np.float32)
        offsets = rng.uniform(-5, 5, shape).astype(np.float32)
        y, scale = hollow((5, 24), np.int8), hollow((5,), np.float32)
        ap.ops.swi_glu_quant(
            *(place(x), place(smooth), place(offsets), place(ends)), left, mode, y, scale
        )
        values = gated(x, left) * spread(smooth, rows)
        if mode == "static":
            assert_quantised(y.numpy(), values + spread(offsets, rows), "int8")
            assert_same(scale.numpy(), np.full(5, 77, np.float32))  # nothing to tell
        else:
            scales = np.abs(values).max(axis=-1) / 127
            assert_quantised(y.numpy(), values / scales[:, None], "int8")
            assert_close(scale.numpy(), scales, scale=4)


@pytest.mark.parametrize("kind", ["int8", "int4"])
@pytest.mark.parametrize("listed", ["ends", "sizes", None])
def test_swiglu_quant_v2(kind: str, listed: str | None) -> None:
    rng = np.random.default_rng(12)
    x = rng.standard_normal((2, 3, 32)).astype(np.float16)
    lists = {"ends": [1, 4, 6], "sizes": [1, 3, 2]}
    rows = [0, 1, 1, 1, 2, 2] if listed else [0] * 6
    smooth = rng.uniform(0.5, 2, (3 if listed else 1, 16)).astype(np.float32)
    index = place(np.array(lists[listed], np.int32)) if listed else None
    y, scale = result((2, 3, 16), kind), hollow((2, 3), np.float32)
    number, list_type = {"int8": 2, "int4": 29}[kind], int(listed == "sizes")
    ap.ops.swi_glu_quant_v2(
        *(place(x), place(smooth), None, index), True, "dynamic", list_type, number, y, scale
    )
    values = gated(x, True) * spread(smooth, rows).reshape(2, 3, 16)
    scales = np.abs(values).max(axis=-1) / LIMITS[kind][1]
    assert_quantised(unpacked(y, kind), values / scales[..., None], kind)
    assert_close(scale.numpy(), scales, scale=4)


def test_swiglu_quant_is_swiglu_and_dynamic_quant() -> None:
    x = np.random.default_rng(13).standard_normal((4, 64)).astype(np.float16)
    fused, scale = hollow((4, 32), np.int8), hollow((4,), np.float32)
    ap.ops.swi_glu_quant_v2(*(place(x), None, None, None), True, "dynamic", 0, 2, fused, scale)
    middle, parts, scales = (
        hollow((4, 32), np.float16),
        hollow((4, 32), np.int8),
        hollow((4,), np.float32),
    )
    ap.ops.swi_glu(place(x), -1, middle)
    ap.ops.dynamic_quant(middle, None, parts, scales)
    gate, factor = np.split(wide(x), 2, axis=-1)
    product = gate / (1 + np.exp(-gate)) * factor
    assert_close(scale.numpy(), np.abs(product).max(-1) / 127, dtype=np.float16)
    # The parts round to float16 in between.
    assert_close(scale.numpy(), scales.numpy(), dtype=np.float16)
    assert np.abs(fused.numpy().astype(int) - parts.numpy()).max() <= 1


def test_swiglu_quant_refuses() -> None:
    x, smooth = place(np.ones((3, 16), np.float16)), place(np.ones((1, 8), np.float32))
    index = place(np.array([3], np.int32))
    y, scale, name = hollow((3, 8), np.int8), hollow((3,), np.float32), "aclnnSwiGluQuant"
    assert refusal(name, None, smooth, None, index, True, "dynamic", y, scale) == 161001
    assert refusal(name, x, smooth, None, index, True, "dynamic", None, scale) == 161001
    assert refusal(name, x, smooth, None, index, True, "dynamic_msd", y, scale) == 161002
    assert refusal(name, x, None, None, index, True, "dynamic", y, scale) == 161002
    assert refusal(name, x, smooth, None, None, True, "dynamic", y, scale) == 161002
    odd = place(np.ones((3, 15), np.float16))
    assert refusal(name, odd, smooth, None, index, True, "dynamic", y, scale) == 161002
    seven = place(np.ones((1, 7), np.float32))
    assert refusal(name, x, seven, None, index, True, "dynamic", y, scale) == 161002
    assert refusal(name, x, smooth, seven, index, True, "static", y, scale) == 161002
    wide_x = ap.empty((1, 8194), np.float16)
    bound = (hollow((1, 4097), np.int8), hollow((1,), np.float32))
    assert (
        refusal(name, wide_x, place(np.ones(1, np.float32)), None, index, True, None, *bound)
        == 161002
    )
    v2 = "aclnnSwiGluQuantV2"
    assert refusal(v2, x, smooth, None, index, True, "dynamic", 2, 2, y, scale) == 161002
    assert refusal(v2, x, smooth, None, index, True, "dynamic", 0, 29, y, scale) == 161002
    text = fault(name, x, smooth, None, place(np.array([4], np.int32)), True, "dynamic", y, scale)
    assert "groupIndexOptional[0] is 4" in text


@pytest.mark.parametrize("kind", ["int8", "int4", "int32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_group_quant(kind: str, layout: str) -> None:
    rng = np.random.default_rng(14)
    ends, rows = np.array([1, 1, 4], np.int64), [0, 2, 2, 2]
    for dtype, kept in zip(FLOATS, reversed(FLOATS), strict=True):
        x = (rng.integers(-32, 33, (4, 16)) / 8).astype(dtype)
        scale = (2.0 ** rng.integers(-2, 3, (3, 16))).astype(kept)
        y = result((4, 16), kind, layout)
        number = {"int8": 2, "int4": 29, "int32": 3}[kind]
        offset = place(np.array([1.5], kept))
        index = place(ends if layout == "dense" else ends.astype(np.int32), layout)
        ap.ops.group_quant(place(x, layout), place(scale, layout), index, offset, number, y)
        exact = np.rint(wide(x) * wide(scale)[rows] + 1.5)
        assert_same(unpacked(y, kind), np.clip(exact, *LIMITS[kind]).astype(np.int8))


def test_group_quant_refuses() -> None:
    x, scale = place(np.ones((4, 6), np.float16)), place(np.ones((2, 6), np.float16))
    index, y, name = place(np.array([1, 4], np.int32)), hollow((4, 6), np.int8), "aclnnGroupQuant"
    for position in (0, 1, 2, 5):
        arguments = [x, scale, index, None, 2, y]
        arguments[position] = None
        assert refusal(name, *arguments) == 161001
    assert refusal(name, x, scale, index, place(np.ones(1, np.float32)), 2, y) == 161002
    assert refusal(name, x, scale, index, place(np.ones(2, np.float16)), 2, y) == 161002
    assert refusal(name, x, scale, index, None, 3, y) == 161002
    three = place(np.array([1, 2, 4], np.int32))
    assert refusal(name, x, scale, three, None, 2, y) == 161002
    none = (ap.empty((0, 6), np.float16), ap.empty((0,), np.int32))
    assert refusal(name, x, *none, None, 2, y) == 161002
    text = fault(name, x, scale, place(np.array([3, 2], np.int32)), None, 2, y)
    assert "groupIndex[1] is 2" in text


@pytest.mark.parametrize("bias", [None, np.float32, *HALVES, np.int32], ids=str)
@pytest.mark.parametrize("weight", [np.dtype(np.float32), HALVES[1]], ids=str)
def test_dequant_bias(weight: np.dtype[Any], bias: Any) -> None:
    rng = np.random.default_rng(15)
    x = rng.integers(-5000, 5000, (7, 33)).astype(np.int32)
    weights = rng.uniform(0.001, 0.01, 33).astype(weight)
    rows = rng.uniform(0.1, 1.0, 7).astype(np.float32)
    added = None if bias is None else rng.integers(-2000, 2000, 33).astype(bias)
    dtype, number = (np.float16, 1) if weight == np.float32 else (HALVES[1], 27)
    for scales in (rows, None):
        out = hollow((7, 33), dtype)
        ap.ops.dequant_bias(
            place(x),
            place(weights),
            None if scales is None else place(scales),
            None if added is None else place(added),
            number,
            out,
        )
        factors = wide(weights) * (1 if scales is None else wide(scales)[:, None])
        if added is None:
            oracle = x * factors
        elif bias is np.int32:
            oracle = (wide(x) + wide(added)) * factors
        else:
            oracle = x * factors + wide(added)
        assert_close(out.numpy(), oracle)


def test_dequant_bias_refuses() -> None:
    x, weight = place(np.ones((2, 6), np.int32)), place(np.ones(6, np.float32))
    out, name = hollow((2, 6), np.float16), "aclnnDequantBias"
    assert refusal(name, None, weight, None, None, 1, out) == 161001
    assert refusal(name, x, None, None, None, 1, out) == 161001
    assert refusal(name, x, weight, None, None, 1, None) == 161001
    assert refusal(name, weight, weight, None, None, 1, out) == 161002
    assert refusal(name, x, weight, None, None, 27, out) == 561002
    half = place(np.ones(2, np.float16))
    assert refusal(name, x, weight, half, None, 1, out) == 561002
    assert refusal(name, x, weight, weight, None, 1, out) == 561002
    empty = ap.empty((0, 6), np.int32)
    assert refusal(name, empty, weight, None, None, 1, ap.empty((0, 6), np.float16)) == 561002
