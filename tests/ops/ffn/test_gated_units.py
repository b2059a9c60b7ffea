# SPDX-License-Identifier: Apache-2.0
"""Gated units of one tensor, against their formulas in float64."""

from __future__ import annotations

from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import fault
from ..quantised import HALVES

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
FLOATS = [np.dtype(np.float32), *HALVES]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gelu(x: Array, form: str | None) -> Array:
    if form == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def clipped(gate: Array, linear: Array, alpha: float, limit: float, bias: float) -> Array:
    gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
    return gate * sigmoid(alpha * gate) * (linear + bias)


def situ(gate: Array, up: Array, beta: float, linear_beta: float) -> Array:
    if linear_beta > 0:
        up = linear_beta * np.tanh(up / linear_beta)
    return beta * np.tanh(gate / beta) * sigmoid(gate) * up


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("form", ["none", "tanh", None])
def test_gelu_mul(dtype: np.dtype[Any], form: str | None) -> None:
    x = (3 * np.random.default_rng(1).standard_normal((2, 3, 40))).astype(dtype)
    first, second = np.split(wide(x), 2, axis=-1)
    for layout in LAYOUTS:
        out = hollow((2, 3, 20), dtype, layout)
        ap.ops.gelu_mul(place(x, layout), form, out)
        assert_close(out.numpy(), gelu(first, form) * second, scale=4, what=layout)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)], ids=str)
def test_fatrelu_mul(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    x = (np.random.default_rng(2).integers(-16, 17, (5, 64)) / 4).astype(dtype)
    first, second = np.split(wide(x), 2, axis=-1)
    for layout in LAYOUTS:
        out = hollow((5, 32), dtype, layout)
        ap.ops.fatrelu_mul(place(x, layout), place(np.full(shape, 1.25, dtype)), out)
        # Products of small numbers are exact in every dtype, also at the threshold itself.
        assert_same(wide(out.numpy()), np.where(first < 1.25, 0.0, first) * second)


def test_fatrelu_keeps_what_is_not_below() -> None:
    x = np.array([[np.nan, np.inf, -np.inf, 2, 2, 2]], np.float32)
    out = hollow((1, 3), np.float32)
    ap.ops.fatrelu_mul(place(x), place(np.array([0.5], np.float32)), out)
    assert_same(out.numpy(), np.array([[np.nan, np.inf, 0]], np.float32))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("interleaved", [True, False])
def test_clipped_swiglu(dtype: np.dtype[Any], dim: int, interleaved: bool) -> None:
    x = (4 * np.random.default_rng(3).standard_normal((4, 6, 10))).astype(dtype)
    axis = dim % 3
    rows = wide(x).reshape(*x.shape[:axis], -1)
    half = rows.shape[-1] // 2
    # From the dimension that is cut to the last one the elements are one row.
    parts = (rows[..., ::2], rows[..., 1::2]) if interleaved else np.split(rows, [half], axis=-1)
    shape = [extent // (2 if d == axis else 1) for d, extent in enumerate(x.shape)]
    oracle = clipped(*parts, 1.702, 3.0, 1.0).reshape(shape)
    for layout in LAYOUTS:
        out = hollow(shape, dtype, layout)
        ap.ops.clipped_swiglu(place(x, layout), None, dim, 1.702, 3.0, 1.0, interleaved, out)
        assert_close(out.numpy(), oracle, scale=4, what=layout)


@pytest.mark.parametrize(("groups", "rows"), [([1, 0, 2], 3), ([0], 0), ([9], 5), ([2, 2**62], 5)])
def test_groups_say_how_many_rows_are_made(groups: list[int], rows: int) -> None:
    x = np.random.default_rng(4).standard_normal((5, 2600)).astype(np.float32)
    out = hollow((5, 1300), np.float32)
    before = out.numpy()
    ap.ops.clipped_swiglu(place(x), place(np.array(groups)), 1, 1.0, 7.0, 0.5, False, out)
    oracle = clipped(*np.split(wide(x), 2, axis=-1), 1.0, 7.0, 0.5)
    assert_close(out.numpy()[:rows], oracle[:rows], scale=4)
    assert_same(out.numpy()[rows:], before[rows:])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("factors", [(4.0, 25.0), (1.0, 0.0), (-2.0, -1.0)])
def test_situ_glu(dtype: np.dtype[Any], left: bool, factors: tuple[float, float]) -> None:
    x = (4 * np.random.default_rng(5).standard_normal((3, 4, 600))).astype(dtype)
    for dim in (-1, 1):
        halves = np.split(wide(x), 2, axis=dim)
        gate, up = halves if left else halves[::-1]
        oracle = situ(gate, up, *factors)
        for layout in LAYOUTS:
            out = hollow(oracle.shape, dtype, layout)
            ap.ops.situ_glu(place(x, layout), dim, *factors, left, out)
            assert_close(out.numpy(), oracle, scale=8, what=layout)


def test_gelu_mul_is_geglu() -> None:
    x = np.random.default_rng(6).standard_normal((4, 64)).astype(np.float32)
    out, parts, activated = (hollow((4, 32), np.float32) for _ in range(3))
    ap.ops.gelu_mul(place(x), "tanh", out)
    ap.ops.ge_glu_v3(place(x), -1, 1, True, parts, activated)
    assert_close(out.numpy(), parts.numpy(), scale=2)
    assert np.ptp(out.numpy()) > 1


def test_empty_tensors() -> None:
    for shape in [(0, 8), (3, 0)]:
        x, out = ap.empty(shape, np.float32), ap.empty((shape[0], shape[1] // 2), np.float32)
        ap.ops.gelu_mul(x, None, out)
        ap.ops.fatrelu_mul(x, place(np.ones(1, np.float32)), out)
        ap.ops.clipped_swiglu(x, None, -1, 1.0, 1.0, 1.0, True, out)
        ap.ops.situ_glu(x, -1, 1.0, 1.0, True, out)
        ap.synchronize()
        assert out.numpy().size == 0


def test_the_result_may_overlap_the_operand() -> None:
    x = np.random.default_rng(7).standard_normal((3, 8)).astype(np.float32)
    memory = place(x)
    ap.ops.situ_glu(memory, -1, 1.0, 0.0, True, memory[:, 2:6])
    oracle = situ(*np.split(wide(x), 2, axis=-1), 1.0, 0.0)
    assert_close(memory.numpy()[:, 2:6], oracle, scale=8)


def test_refusals() -> None:
    x, out = place(np.ones((3, 8), np.float32)), hollow((3, 4), np.float32)
    one, half = place(np.ones(1, np.float32)), hollow((3, 4), np.float16)
    for call in [("aclnnGeluMul", "none"), ("aclnnFatreluMul", one)]:
        name, rest = call
        assert refusal(name, None, rest, out) == refusal(name, x, rest, None) == 161001
        assert refusal(name, x, rest, half) == 161002
        assert refusal(name, x, rest, hollow((3, 8), np.float32)) == 161002
        odd = place(np.ones((3, 7), np.float32))
        assert refusal(name, odd, rest, hollow((3, 3), np.float32)) == 161002
        flat = place(np.ones(8, np.float32))
        assert refusal(name, flat, rest, hollow((4,), np.float32)) == 161002
        long = (place(np.ones((1, 1026), np.float32)), hollow((1, 513), np.float32))
        assert refusal(name, long[0], rest, long[1]) == 161002
        many = (ap.empty((200001, 2), np.float32), ap.empty((200001, 1), np.float32))
        assert refusal(name, many[0], rest, many[1]) == 161002
    assert refusal("aclnnGeluMul", x, "erf", out) == 161002
    assert refusal("aclnnFatreluMul", x, None, out) == 161001
    assert refusal("aclnnFatreluMul", x, place(np.ones(2, np.float32)), out) == 161002
    assert refusal("aclnnFatreluMul", x, place(np.ones(1, np.float16)), out) == 161002
    clip = "aclnnClippedSwiglu"
    assert refusal(clip, None, None, 0, 1.0, 1.0, 1.0, True, out) == 161001
    assert refusal(clip, x, None, 2, 1.0, 1.0, 1.0, True, out) == 161002
    assert refusal(clip, x, None, 0, 1.0, 1.0, 1.0, True, out) == 161002
    square = place(np.ones((1, 1), np.int64))
    assert refusal(clip, x, square, 1, 1.0, 1.0, 1.0, True, out) == 161002
    assert refusal(clip, x, place(np.ones(1, np.int32)), 1, 1.0, 1.0, 1.0, True, out) == 161002
    assert refusal("aclnnSituGlu", x, -3, 1.0, 1.0, True, out) == 161002
    assert refusal("aclnnSituGlu", x, -1, 1.0, 1.0, True, half) == 161002
    wrong = place(np.array([2, -1]))
    assert "groupIndexOptional[1] is -1" in fault(clip, x, wrong, 1, 1.0, 1.0, 1.0, True, out)


def test_values_beyond_the_limits_stay_numbers() -> None:
    x = np.array([[np.inf, -np.inf, np.nan, 0, 100, -100, np.inf, -np.inf]], np.float32)
    out = hollow((1, 4), np.float32)
    ap.ops.clipped_swiglu(place(x), None, -1, 1.0, 7.0, 1.0, False, out)
    seven = 7 / (1 + np.exp(-7.0))
    assert_close(out.numpy(), [[seven * 8, np.nan, np.nan, 0]], scale=4)
    low = np.array([[-200, 3]], ml_dtypes.bfloat16)
    tiny = hollow((1, 1), ml_dtypes.bfloat16)
    ap.ops.situ_glu(place(low), -1, 4.0, 25.0, True, tiny)
    assert abs(float(tiny.numpy()[0, 0])) < 1e-30
