# SPDX-License-Identifier: Apache-2.0
"""Integers scaled back, gated and quantised again."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..gmm.grouped_oracle import group_of_rows
from ..problems import fault
from ..quantised import HALVES, assert_quantised

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

SIZES, ROWS, WIDTH = [2, 0, 5], 9, 64  # two rows belong to no group
V1, V2 = "aclnnDequantSwigluQuant", "aclnnDequantSwigluQuantV2"
SITU = "aclnnDequantSituQuant"


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gated(x: Array, form: int, left: bool, limit: float, alpha: float, bias: float) -> Array:
    first, second = (x[..., ::2], x[..., 1::2]) if form == 1 else np.split(x, 2, axis=-1)
    gate, linear = (first, second) if left else (second, first)
    if form == 0:
        return gate * sigmoid(gate) * linear
    if form == 3:
        return np.minimum(gate * sigmoid(gate), limit) * np.clip(linear, -limit, limit)
    gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
    return gate * sigmoid(alpha * gate) * (linear + bias)


def check(y: Array, scale: Array, values: Array, taken: Array) -> None:
    """Rows of groups are quantised by their largest value; the others are not touched."""
    scales = np.abs(values).max(axis=-1) / 127
    assert_close(scale[taken], scales[taken], scale=8)
    assert_quantised(y[taken], values[taken] / scales[taken, None], "int8", slack=2e-3)
    assert (y[~taken] == hollow((1,), np.int8).numpy()[0]).all()
    assert (scale[~taken] == hollow((1,), np.float32).numpy()[0]).all()


@pytest.mark.parametrize("bias", [None, "float32", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
def test_first_version(bias: str | None, left: bool) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(-5000, 5000, (3, 3, WIDTH)).astype(np.int32)
    weight = rng.uniform(0.0005, 0.002, WIDTH).astype(np.float32)
    token = rng.uniform(0.2, 2, (3, 3, 1)).astype(np.float32)
    smooth = rng.uniform(0.5, 2, WIDTH // 2).astype(np.float32)
    values = wide(x)
    shift = None
    if bias is not None:
        numbers = rng.integers(-900, 900, WIDTH) if bias == "int32" else rng.standard_normal(WIDTH)
        shift = numbers.astype(bias)
    if bias == "int32":
        values = values + wide(shift)
    values = values * wide(weight) * wide(token)
    if bias not in (None, "int32"):
        values = values + wide(shift)
    values = gated(values, 0, left, 1, 1, 0) * wide(smooth)
    for layout in LAYOUTS:
        y, scale = hollow((3, 3, WIDTH // 2), np.int8, layout), hollow((3, 3), np.float32, layout)
        ap.ops.dequant_swiglu_quant(
            *(place(x, layout), place(weight, layout), place(token, layout)),
            *(None if shift is None else place(shift, layout), place(smooth, layout)),
            *(None, None, left, "dynamic", y, scale),
        )
        flat = values.reshape(9, -1)
        check(y.numpy().reshape(9, -1), scale.numpy().reshape(9), flat, np.full(9, True))


@pytest.mark.parametrize("name", [V1, V2])
@pytest.mark.parametrize("smooth_rank", [0, 1, 2])
def test_groups(name: str, smooth_rank: int) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(-5000, 5000, (ROWS, WIDTH)).astype(np.int32)
    weight = rng.uniform(0.0005, 0.002, (3, WIDTH)).astype(np.float32)
    token = rng.uniform(0.2, 2, ROWS).astype(np.float32)
    bias = rng.standard_normal((3, WIDTH)).astype(np.float32)
    owner = group_of_rows(SIZES, 1, ROWS)
    values = wide(x) * wide(weight)[owner] * wide(token)[:, None] + wide(bias)[owner]
    values = gated(values, 0, True, 1, 1, 0)
    smooth = None
    if smooth_rank:
        shape = (3,) if smooth_rank == 1 else (3, WIDTH // 2)
        smooth = rng.uniform(0.5, 2, shape).astype(np.float32)
        values *= wide(smooth)[owner].reshape(ROWS, -1)
    y, scale = hollow((ROWS, WIDTH // 2), np.int8), hollow((ROWS,), np.float32)
    more = [] if name == V1 else [2, "rint", -1, 0, 7.0, 1.702, 1.0]
    op(name)(
        *(place(x), place(weight), place(token), place(bias)),
        *(None if smooth is None else place(smooth), None, place(np.array(SIZES))),
        *(True, "dynamic", *more, y, scale),
    )
    check(y.numpy(), scale.numpy(), values, owner >= 0)


@pytest.mark.parametrize("form", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", [np.dtype(np.int32), *HALVES], ids=str)
def test_forms_of_the_gate(form: int, dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(3)
    whole = dtype == np.int32
    x = rng.integers(-5000, 5000, (5, WIDTH)) if whole else 4 * rng.standard_normal((5, WIDTH))
    x = x.astype(dtype)
    weight = rng.uniform(0.0005, 0.002, WIDTH).astype(np.float32) if whole else None
    values = wide(x) if weight is None else wide(x) * wide(weight)
    values = gated(values, form, True, 2.5, 1.702, 0.75)
    y, scale = hollow((5, WIDTH // 2), np.int8), hollow((5,), np.float32)
    ap.ops.dequant_swiglu_quant_v2(
        *(place(x), None if weight is None else place(weight), None, None, None, None, None),
        *(True, "dynamic", 2, None, -1, form, 2.5, 1.702, 0.75, y, scale),
    )
    check(y.numpy(), scale.numpy(), values, np.full(5, True))


def test_it_is_dequantisation_the_gate_and_quantisation() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(-5000, 5000, (4, WIDTH)).astype(np.int32)
    weight, token = np.full(WIDTH, 0.001, np.float32), np.full(4, 0.5, np.float32)
    y, scale = hollow((4, WIDTH // 2), np.int8), hollow((4,), np.float32)
    operands = place(x), place(weight), place(token)
    ap.ops.dequant_swiglu_quant(*operands, *[None] * 4, True, "dynamic", y, scale)
    middle, parts, scales = (
        hollow((4, WIDTH), np.float16),
        hollow((4, WIDTH // 2), np.int8),
        hollow((4,), np.float32),
    )
    ap.ops.dequant_bias(*operands, None, 1, middle)
    ap.ops.swi_glu_quant_v2(middle, None, None, None, True, "dynamic", 0, 2, parts, scales)
    assert_close(scale.numpy(), scales.numpy(), dtype=np.float16, scale=2)
    assert np.abs(y.numpy().astype(int) - parts.numpy()).max() <= 1
    assert (np.abs(y.numpy().astype(int)).max(axis=1) == 127).all()


def situ(gate: Array, up: Array, beta: float, linear_beta: float) -> Array:
    if linear_beta > 0:
        up = linear_beta * np.tanh(up / linear_beta)
    return beta * np.tanh(gate / beta) * sigmoid(gate) * up


def towards_zero(numbers: Array, exact: Array) -> None:
    """Each number is the exact value without its fraction; at a whole number either is right."""
    clipped = np.clip(exact, -128, 127)
    wrong = numbers != np.trunc(clipped)
    assert (np.abs(clipped - np.rint(clipped))[wrong] < 1e-3).all()
    assert (np.abs(numbers - clipped) < 1 + 1e-3).all()


@pytest.mark.parametrize("dtype", [np.dtype(np.int8), np.dtype(np.int32), *HALVES], ids=str)
@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("single", [True, False], ids=["one", "columns"])
def test_situ_dynamic(dtype: np.dtype[Any], left: bool, single: bool) -> None:
    rng = np.random.default_rng(5)
    shape = (2, 3, 48) if dtype == np.int8 else (6, 48)
    whole = dtype.kind == "i"
    numbers = rng.integers(-100, 100, shape) if whole else 3 * rng.standard_normal(shape)
    x = numbers.astype(dtype)
    count = 1 if single else 48
    weight = rng.uniform(0.01, 0.05, count).astype(np.float32) if whole else None
    bias = rng.standard_normal(count).astype(np.float32) if whole else None
    token = np.array([1.5], np.float32) if dtype == np.int32 else None
    smooth = rng.uniform(0.5, 2, 1 if single else 24).astype(np.float32)
    values = wide(x)
    if weight is not None and bias is not None:
        values = values * wide(weight) * (1 if token is None else 1.5) + wide(bias)
    halves = np.split(values, 2, axis=-1)
    values = situ(*(halves if left else halves[::-1]), 4.0, 25.0)
    if dtype == np.int8:
        values = values * wide(smooth)
    scales = np.abs(values).max(axis=-1) / 127
    for layout in LAYOUTS:
        y, scale = hollow(values.shape, np.int8, layout), hollow(scales.shape, np.float32, layout)
        given = [None if v is None else place(v, layout) for v in (weight, token, bias)]
        ap.ops.dequant_situ_quant(
            *(place(x, layout), *given, place(smooth, layout) if dtype == np.int8 else None),
            *(None, None, 4.0, 25.0, left, "dynamic", y, scale),
        )
        assert_close(scale.numpy(), scales, scale=8)
        towards_zero(y.numpy(), values / scales[..., None])


@pytest.mark.parametrize("count", [1, 24])
def test_situ_static(count: int) -> None:
    rng = np.random.default_rng(6)
    x = rng.integers(-100, 100, (5, 48)).astype(np.int8)
    weight = np.array([0.05], np.float32)
    divisor = rng.uniform(0.01, 0.1, count).astype(np.float32)
    offset = rng.uniform(-5, 5, count).astype(np.float32)
    values = situ(*np.split(wide(x) * wide(weight), 2, axis=-1), -2.0, 0.0)
    y, scale = hollow((5, 24), np.int8), hollow((5,), np.float32)
    before = scale.numpy()
    ap.ops.dequant_situ_quant(
        *(place(x), place(weight), None, None, place(divisor), place(offset), None),
        *(-2.0, 0.0, True, "static", y, scale),
    )
    towards_zero(y.numpy(), values / wide(divisor) + wide(offset))
    assert_same(scale.numpy(), before)


def swiglu_call() -> list[Any]:
    """An accepted call of the second version."""
    return [
        place(np.ones((ROWS, WIDTH), np.int32)),
        place(np.ones((3, WIDTH), np.float32)),
        place(np.ones(ROWS, np.float32)),
        *(None, None, None, place(np.array(SIZES))),
        *(True, "dynamic", 2, "rint", -1, 0, 7.0, 1.7, 1.0),
        hollow((ROWS, WIDTH // 2), np.int8),
        hollow((ROWS,), np.float32),
    ]


@pytest.mark.parametrize(
    ("position", "given", "status"),
    [
        (0, lambda: None, 161001),
        (1, lambda: None, 161001),
        (16, lambda: None, 161001),
        (17, lambda: None, 161001),
        (0, lambda: place(np.ones((ROWS, WIDTH), np.float32)), 161002),
        (0, lambda: place(np.ones((ROWS, WIDTH), np.float16)), 161002),
        (0, lambda: place(np.ones((ROWS, 32), np.int32)), 161002),
        (0, lambda: place(np.ones((3, 3, WIDTH), np.int32)), 161002),
        (1, lambda: place(np.ones(WIDTH, np.float32)), 161002),
        (2, lambda: place(np.ones(ROWS + 1, np.float32)), 161002),
        (3, lambda: place(np.ones(WIDTH, np.float32)), 161002),
        (4, lambda: place(np.ones(WIDTH, np.float32)), 161002),
        (5, lambda: place(np.ones((3, WIDTH // 2), np.float32)), 161002),
        (6, lambda: place(np.ones((3, 2), np.int64)), 161002),
        (6, lambda: place(np.ones(3, np.int32)), 161002),
        (8, lambda: "static", 161002),
        (8, lambda: None, 161002),
        (8, lambda: "other", 161002),
        (9, lambda: 36, 161002),
        (10, lambda: "floor", 161002),
        (11, lambda: 0, 161002),
        (12, lambda: 4, 161002),
        (16, lambda: hollow((ROWS, WIDTH), np.int8), 161002),
        (17, lambda: hollow((ROWS, 1), np.float32), 161002),
    ],
)
def test_swiglu_refuses(position: int, given: Any, status: int) -> None:
    call = swiglu_call()
    op(V2)(*call)
    call[position] = given()
    assert refusal(V2, *call) == status


def test_clipped_forms_have_limits() -> None:
    for form, left, limit in [(1, False, 7.0), (2, True, 0.0), (3, True, float("inf"))]:
        call = swiglu_call()
        call[7], call[12], call[13] = left, form, limit
        assert refusal(V2, *call) == 161002


def test_what_does_not_fit_a_core_is_refused() -> None:
    width = 8192
    x, weight = ap.empty((1, width), np.int32), ap.empty((width,), np.float32)
    y, scale = hollow((1, width // 2), np.int8), hollow((1,), np.float32)
    call = [x, weight, *[None] * 5, True, "dynamic", y, scale]
    assert refusal(V1, *call) == 561002


@pytest.mark.parametrize("wrong", [[2, -1, 3], [4, 4, 4]])
def test_groups_outside_the_rows_are_faults(wrong: list[int]) -> None:
    call = swiglu_call()
    call[6] = place(np.array(wrong))
    assert "groupIndexOptional" in fault(V2, *call)


def situ_call(dtype: Any = np.int8) -> list[Any]:
    """An accepted call."""
    return [
        place(np.ones((3, 8), dtype)),
        place(np.ones(8, np.float32)),
        *[None] * 5,
        *(4.0, 25.0, True, "dynamic", hollow((3, 4), np.int8), hollow((3,), np.float32)),
    ]


@pytest.mark.parametrize(
    ("position", "given", "status"),
    [
        (0, lambda: None, 161001),
        (1, lambda: None, 161001),
        (11, lambda: None, 161001),
        (12, lambda: None, 161001),
        (10, lambda: "static", 161001),
        (0, lambda: place(np.ones((3, 8), np.float32)), 161002),
        (0, lambda: place(np.ones((3, 8), ml_dtypes.bfloat16)), 161002),
        (0, lambda: place(np.ones((3, 7), np.int8)), 161002),
        (0, lambda: place(np.ones((0, 8), np.int8)), 161002),
        (1, lambda: place(np.ones(4, np.float32)), 161002),
        (2, lambda: place(np.ones(1, np.float32)), 161002),
        (3, lambda: place(np.ones(4, np.float32)), 161002),
        (4, lambda: place(np.ones(8, np.float32)), 161002),
        (5, lambda: place(np.ones(8, np.float32)), 161002),
        (6, lambda: place(np.ones(1, np.int64)), 161002),
        (7, lambda: 0.0, 161002),
        (10, lambda: "other", 161002),
        (11, lambda: hollow((3, 8), np.int8), 161002),
        (12, lambda: hollow((3, 1), np.float32), 161002),
    ],
)
def test_situ_refuses(position: int, given: Any, status: int) -> None:
    call = situ_call()
    op(SITU)(*call)
    call[position] = given()
    assert refusal(SITU, *call) == status


def test_situ_of_words_needs_both_scales() -> None:
    call = situ_call(np.int32)
    assert refusal(SITU, *call) == 161001
    call[2] = place(np.ones(1, np.float32))
    op(SITU)(*call)
    call[4] = place(np.ones(4, np.float32))
    assert refusal(SITU, *call) == 161002
