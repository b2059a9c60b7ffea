# SPDX-License-Identifier: Apache-2.0
"""Normalisation followed by quantisation, and batch normalisation of quantised numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import Format
from aclnn_py.tensor.layout import layout_of
from aclnn_py.tensor.tensor import tensor_over

from ..quantised import HALVES, assert_quantised

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
SINGLE = np.dtype(np.float32)
FLOATS = [SINGLE, *HALVES]
EPS = 1e-5


def draw(seed: int, shape: tuple[int, ...], dtype: Any, shift: float = 0.0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * 2 + shift).astype(dtype)


def scaled(seed: int, shape: tuple[int, ...], dtype: Any) -> Array:
    return np.random.default_rng(seed).uniform(0.02, 0.1, shape).astype(dtype)


def layer(x: Array, axes: tuple[int, ...] = (-1,)) -> Array:
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + EPS)


def root(x: Array) -> Array:
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS)


def maybe(array: Array | None, layout: str = "dense") -> ap.Tensor | None:
    return None if array is None else place(array, layout)


def assert_dynamic(y: ap.Tensor, scale: ap.Tensor, exact: Array) -> None:
    """Rows are divided by the largest absolute value over 127."""
    largest = np.abs(exact).max(axis=-1)
    assert_close(scale.numpy(), largest / 127, scale=10)
    with np.errstate(invalid="ignore"):
        quotient = np.nan_to_num(exact / (largest / 127)[..., None])
    assert_quantised(y.numpy(), quotient, "int8", 2e-3)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("given", ["", "smooth", "beta", "smooth beta"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rms_norm_dynamic_quant(dtype: np.dtype[Any], given: str, layout: str) -> None:
    x, gamma = draw(1, (2, 3, 24), dtype), draw(2, (24,), dtype, 1.0)
    smooth = draw(3, (24,), dtype) if "smooth" in given else None
    beta = draw(4, (24,), dtype) if "beta" in given else None
    y, scale = hollow(x.shape, np.int8, layout), hollow((2, 3), SINGLE, layout)
    ap.ops.rms_norm_dynamic_quant(
        *(place(x, layout), place(gamma, layout), maybe(smooth, layout), maybe(beta, layout)),
        *(EPS, 2, y, scale),
    )
    exact = root(wide(x)) * wide(gamma) + (0 if beta is None else wide(beta))
    assert_dynamic(y, scale, exact * (1 if smooth is None else wide(smooth)))
    # The sum of it and nothing, quantised by the operator of sums, is the same.
    if smooth is None and beta is None:
        ys, scales = hollow(x.shape, np.int8), hollow((2, 3), SINGLE)
        nothing, unused = place(np.zeros_like(x)), [hollow((1,), np.int8), hollow((1,), SINGLE)]
        ap.ops.add_rms_norm_dynamic_quant(
            *(place(x), nothing, place(gamma), None, None, EPS),
            *(ys, unused[0], hollow(x.shape, dtype), scales, unused[1]),
        )
        assert_same(y.numpy(), ys.numpy())
        assert_same(scale.numpy(), scales.numpy())


def test_rms_norm_dynamic_quant_refuses() -> None:
    x, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    good = [x, vector, vector, vector, EPS, 2, hollow((3, 8), np.int8), hollow((3,), SINGLE)]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnRmsNormDynamicQuant", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 6, 7):
        assert changed(position, None) == 161001
    assert changed(0, place(np.ones((3, 8), np.float32))) == 161002
    assert changed(6, hollow((3, 8), np.uint8)) == 161002
    for position in (1, 2, 3):
        assert changed(position, place(np.ones(8, HALVES[1]))) == 561002
        assert changed(position, place(np.ones(7, np.float16))) == 561002
    assert changed(5, 3) == 561002
    assert changed(6, hollow((3, 7), np.int8)) == 561002
    assert changed(7, hollow((3, 1), SINGLE)) == 561002
    empty = [ap.empty((0, 8), "float16"), vector, None, None, EPS, 2]
    results = [ap.empty((0, 8), "int8"), ap.empty((0,), "float32")]
    assert refusal("aclnnRmsNormDynamicQuant", *empty, *results) == 561002


ADDED = [("float16", "float32", "int32"), ("bfloat16", "bfloat16", "bfloat16")]
KINDS = {"float32": SINGLE, "int32": np.dtype(np.int32), **{str(kind): kind for kind in HALVES}}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dtype", "scales", "zeros"), ADDED)
@pytest.mark.parametrize("new", ["", "beta", "norm", "beta norm"])
@pytest.mark.parametrize("results", [1, 2])
def test_add_rms_norm_quant_v2(
    results: int, new: str, dtype: str, scales: str, zeros: str, layout: str
) -> None:
    kind = KINDS[dtype]
    x1, x2, gamma = draw(9, (2, 3, 24), kind), draw(10, (2, 3, 24), kind), draw(11, (24,), kind)
    beta = draw(12, (24,), kind) if "beta" in new else None
    divisors = [scaled(13 + n, (24,), KINDS[scales]) for n in range(results)]
    rng = np.random.default_rng(15)
    shifts = [rng.integers(-9, 10, 24).astype(KINDS[zeros]) for _ in range(results)]
    ys = [hollow((2, 3, 24), np.int8, layout) for _ in range(results)]
    x, norm = hollow((2, 3, 24), kind, layout), hollow((2, 3, 24), kind, layout)

    def two(parts: list[Array]) -> list[ap.Tensor | None]:
        return [*(place(part, layout) for part in parts), None][:2]

    divide = bool(new) or results == 1  # a 910B multiplies only where nothing new is asked for
    ap.ops.add_rms_norm_quant_v2(
        *(place(part, layout) for part in (x1, x2, gamma)),
        *(*two(divisors), *two(shifts), maybe(beta, layout), -1, EPS, divide),
        *([*ys, hollow((1,), np.int8)][:2]),
        *(x, norm if "norm" in new else None),
    )
    total = wide(x1) + wide(x2)
    assert_close(x.numpy(), total)
    normed = root(total) * wide(gamma)
    if "norm" in new:
        assert_close(norm.numpy(), normed, scale=4)
    exact = normed + (0 if beta is None else wide(beta))
    for made, divisor, shift in zip(ys, divisors, shifts, strict=True):
        by = 1 / wide(divisor) if divide else wide(divisor)
        assert_quantised(made.numpy(), exact * by + wide(shift), "int8", 1e-3)


def test_add_rms_norm_quant_v2_refuses() -> None:
    half, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    scale, zero = place(np.ones(8, np.float32)), place(np.ones(8, np.int32))
    y = hollow((3, 8), np.int8)
    good = [half, half, vector, scale, scale, zero, zero, vector, -1, EPS, True, y, y, half, half]

    def changed(*changes: tuple[int, Any]) -> int:
        arguments = list(good)
        for position, value in changes:
            arguments[position] = value
        return refusal("aclnnAddRmsNormQuantV2", *arguments)

    for position in (0, 1, 2, 3, 11, 12, 13):
        assert changed((position, None)) == 161001, position
    assert changed((7, place(np.ones(8, HALVES[1])))) == 161002
    assert changed((7, place(np.ones(7, np.float16)))) == 161002
    assert changed((14, hollow((3, 8), HALVES[1]))) == 161002
    assert changed((14, hollow((3, 7), np.float16))) == 161002
    assert changed((4, None)) == 161002
    assert changed((10, False)) == 161002
    assert changed((10, False), (7, None)) == 161002
    assert changed((10, False), (14, None)) == 161002


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("zero", [None, -7])
@pytest.mark.parametrize("row", [(24,), (1, 24)], ids=str)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_layer_norm_quant(
    dtype: np.dtype[Any], row: tuple[int, ...], zero: int | None, layout: str
) -> None:
    x, gamma, beta = draw(16, (2, 3, 24), dtype, 3.0), draw(17, row, dtype), draw(18, row, dtype)
    scale = np.array([0.04], dtype)
    shift = None if zero is None else np.array([zero], np.int8)
    y, unused = hollow(x.shape, np.int8, layout), hollow((2, 3), SINGLE)
    ap.ops.layer_norm_quant(
        *(place(part, layout) for part in (x, gamma, beta, scale)),
        *(maybe(shift), 0, EPS, y, unused),
    )
    exact = (layer(wide(x)) * wide(gamma).ravel() + wide(beta).ravel()) / wide(scale) + (zero or 0)
    assert_quantised(y.numpy(), exact, "int8", 2e-3)
    assert_same(unused.numpy(), np.full((2, 3), 77, SINGLE))


def test_layer_norm_quant_refuses() -> None:
    x, row = place(np.ones((3, 8), np.float16)), place(np.ones((1, 8), np.float16))
    one, zero = place(np.ones(1, np.float16)), place(np.ones(1, np.int8))
    good = [x, row, row, one, zero, 0, EPS, hollow((3, 8), np.int8), hollow((3,), SINGLE)]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnLayerNormQuant", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 3, 7, 8):
        assert changed(position, None) == 161001, position
    assert changed(0, place(np.ones((3, 8), np.float32))) == 161002
    for position, shape in [(1, (8,)), (2, (8,)), (1, (2, 8)), (1, (1, 7)), (3, (8,)), (3, ())]:
        assert changed(position, place(np.ones(shape, np.float16))) == 161002, shape
    for position in (1, 2, 3):
        assert changed(position, place(np.ones((1, 8), HALVES[1]))) == 161002
    assert changed(4, place(np.ones(8, np.int8))) == 161002
    assert changed(5, 1) == 161002
    assert changed(7, hollow((3, 7), np.int8)) == 161002
    empty = hollow((0, 8), np.int8)
    ap.ops.layer_norm_quant(
        ap.empty((0, 8), "float16"), row, row, one, zero, 0, EPS, empty, good[8]
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["bare", "full", "full with steps"])
@pytest.mark.parametrize("samples", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_ada_layer_norm_quant(
    dtype: np.dtype[Any], samples: tuple[int, ...], form: str, layout: str
) -> None:
    x = draw(19, (*samples, 5, 24), dtype, 2.0)
    shape = (*samples, 1, 24) if "steps" in form else (*samples, 24)
    scale, shift = draw(20, shape, dtype), draw(21, shape, dtype)
    weight, bias, smooth = (
        None if form == "bare" else draw(22 + n, (24,), dtype, 1.0) for n in range(3)
    )
    y, scales = hollow(x.shape, np.int8, layout), hollow((*samples, 5), SINGLE, layout)
    ap.ops.ada_layer_norm_quant(
        *(place(part, layout) for part in (x, scale, shift)),
        *(maybe(part, layout) for part in (weight, bias, smooth)),
        *(EPS, "dynamic", y, scales, None),
    )
    exact = layer(wide(x))
    if weight is not None and bias is not None:
        exact = exact * wide(weight) + wide(bias)
    by, plus = (wide(part).reshape(*samples, 1, 24) for part in (scale, shift))
    exact = exact * (1 + by) + plus
    assert_dynamic(y, scales, exact if smooth is None else exact * wide(smooth))


def test_ada_layer_norm_quant_refuses() -> None:
    x, row = place(np.ones((2, 3, 8), np.float16)), place(np.ones((2, 8), np.float16))
    vector, scales = place(np.ones(8, np.float16)), hollow((2, 3), SINGLE)
    y = hollow((2, 3, 8), np.int8)
    good = [x, row, row, vector, vector, vector, EPS, "dynamic", y, scales, None]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnAdaLayerNormQuant", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 8, 9):
        assert changed(position, None) == 161001, position
    for position in (1, 2):
        for shape in [(2, 7), (8,), (2, 3, 8), (1, 8)]:
            assert changed(position, place(np.ones(shape, np.float16))) == 161002, shape
        assert changed(position, place(np.ones((2, 8), HALVES[1]))) == 161002
    for position in (3, 4, 5):
        assert changed(position, place(np.ones(7, np.float16))) == 161002
        assert changed(position, place(np.ones(8, HALVES[1]))) == 161002
    assert changed(7, "static") == 161002
    assert changed(8, hollow((2, 3, 8), ml_dtypes.float8_e5m2)) == 161002
    assert changed(9, hollow((2, 3, 1), SINGLE)) == 161002
    assert changed(10, hollow((2, 3), np.float16)) == 161002


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("bias", [None, (1, 24), (2, 3, 24)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_add_layer_norm_quant_v2(
    dtype: np.dtype[Any], bias: tuple[int, ...] | None, zero: bool, layout: str
) -> None:
    x1, x2 = draw(30, (2, 3, 24), dtype, 3.0), draw(31, (2, 3, 24), dtype)
    gamma, beta = draw(32, (1, 24), dtype), draw(33, (1, 24), dtype)
    added = None if bias is None else draw(34, bias, dtype)
    scale, shift = np.array([20.0], dtype), np.array([5.0], dtype)
    y, norm = hollow(x1.shape, np.int8, layout), hollow(x1.shape, dtype, layout)
    x, nothing, unused = hollow(x1.shape, dtype), hollow((1,), np.int8), hollow((1,), SINGLE)
    ap.ops.add_layer_norm_quant_v2(
        *(place(part, layout) for part in (x1, x2, gamma, beta)),
        *(maybe(added, layout), place(scale), None, place(shift) if zero else None, None),
        *("static", EPS, layout != "stepped", False, y, nothing, x, norm, unused, unused),
    )
    total = wide(x1) + wide(x2) + (0 if added is None else wide(added))
    exact = layer(total) * wide(gamma).ravel() + wide(beta).ravel()
    assert_close(norm.numpy(), exact, scale=4)
    assert_quantised(y.numpy(), exact * 20 + (5 if zero else 0), "int8", 2e-3)
    if layout == "stepped":
        assert_same(x.numpy(), np.full(x1.shape, 77, dtype))  # not asked for
    else:
        assert_close(x.numpy(), total, scale=2)


def sums_of(operator: str) -> list[Any]:
    x, row, one = (place(np.ones(shape, np.float16)) for shape in [(2, 3, 8), (1, 8), (1,)])
    y, unused = hollow((2, 3, 8), np.int8), hollow((2, 3), SINGLE)
    good = [x, x, row, row, x, one, None, one, None, "static", EPS, True, False, y, y, x, x]
    return [*(good if operator.endswith("V2") else good[:-1]), unused, unused]


def test_add_layer_norm_quant_v2_refuses() -> None:
    good = sums_of("aclnnAddLayerNormQuantV2")

    def changed(*changes: tuple[int, Any]) -> int:
        arguments = list(good)
        for position, value in changes:
            arguments[position] = value
        return refusal("aclnnAddLayerNormQuantV2", *arguments)

    for position in (0, 1, 2, 3, 13, 14, 15, 16, 17, 18):
        assert changed((position, None)) == 161001, position
    for position in (1, 2, 3, 4, 15, 16):
        assert changed((position, place(np.ones((2, 3, 8), HALVES[1])))) == 161002, position
    one = good[5]
    assert changed((9, "none")) == 161002
    assert changed((9, "dynamic"), (7, None)) == 161002
    assert changed((12, True)) == 161002
    assert changed((5, None)) == 161002
    assert changed((6, one), (8, one)) == 161002
    assert changed((6, one)) == 161002
    assert changed((8, one)) == 161002
    assert changed((5, place(np.ones(1, np.float32))), (7, None)) == 161002
    assert changed((7, place(np.ones(1, np.float32)))) == 161002
    assert changed((7, place(np.ones(8, np.float16)))) == 161002
    eight = place(np.ones((1, 8), np.float16))
    assert changed((5, eight), (7, eight)) == 161002
    for shape in [(8,), (3, 8), (1, 7)]:
        wrong = place(np.ones(shape, np.float16))
        assert changed((2, wrong), (3, wrong)) == 161002, shape
    assert changed((3, place(np.ones((8,), np.float16)))) == 161002
    assert changed((4, place(np.ones((3, 8), np.float16)))) == 161002
    assert changed((1, place(np.ones((2, 3, 7), np.float16)))) == 161002
    assert changed((13, hollow((2, 3, 7), np.int8))) == 161002


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [None, "own", "single"])
@pytest.mark.parametrize("tail", [(24,), (3, 24)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_fast_layer_norm(
    dtype: np.dtype[Any], tail: tuple[int, ...], affine: str | None, layout: str
) -> None:
    x = draw(40, (4, 3, 24), dtype, 2.0)
    kind = SINGLE if affine == "single" else dtype
    weight, bias = (None if affine is None else draw(41 + n, tail, kind, 1.0) for n in range(2))
    axes = tuple(range(-len(tail), 0))
    shape = (*x.shape[: 3 - len(tail)], *([1] * len(tail)))
    y, mean, rstd = hollow(x.shape, dtype, layout), hollow(shape, SINGLE), hollow(shape, SINGLE)
    ap.ops.fast_layer_norm(
        *(place(x, layout), tail, maybe(weight, layout), maybe(bias, layout), EPS, y, mean, rstd)
    )
    exact = layer(wide(x), axes)
    if weight is not None and bias is not None:
        exact = exact * wide(weight) + wide(bias)
    assert_close(y.numpy(), exact, scale=4)
    assert_close(mean.numpy(), wide(x).mean(axis=axes, keepdims=True), scale=4)
    assert_close(rstd.numpy(), 1 / np.sqrt(wide(x).var(axis=axes, keepdims=True) + EPS), scale=4)


def test_fast_layer_norm_refuses() -> None:
    x, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    good = [x, [8], vector, vector, EPS, x, None, None]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnFastLayerNorm", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 5):
        assert changed(position, None) == 161001
    assert changed(1, [7]) == 161002
    assert changed(2, place(np.ones(8, HALVES[1]))) == 161002
    assert changed(3, place(np.ones(8, np.float32))) == 161002
    assert changed(6, hollow((3,), SINGLE)) == 161002
    # More than the kernel can normalise together; nothing of that size is allocated.
    kind, one = dtype_of("float16"), place(np.ones(1, np.float16))
    layout = layout_of((1, 583705601), (0, 0), kind, Format.ND, (1,))
    wide_ = tensor_over(one.buffer, layout, 0)
    assert (
        refusal("aclnnFastLayerNorm", wide_, [583705601], None, None, EPS, wide_, None, None)
        == 561103
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scales", [1, 6])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_group_norm_silu_quant(
    dtype: np.dtype[Any], affine: bool, scales: int, layout: str
) -> None:
    shape, groups = (2, 6, 3, 5), 2
    x = draw(50, shape, dtype, 1.0)
    gamma, beta = (draw(51 + n, (6,), dtype, 1.0) if affine else None for n in range(2))
    divisors = scaled(53, (scales,), SINGLE)
    y = hollow(shape, np.int8, layout)
    mean, rstd = hollow((2, groups), dtype, layout), hollow((2, groups), dtype, layout)
    ap.ops.group_norm_silu_quant(
        *(place(x, layout), maybe(gamma, layout), maybe(beta, layout), place(divisors, layout)),
        *(groups, EPS, True, y, mean, rstd),
    )
    rows = wide(x).reshape(2, groups, -1)
    exact = layer(rows).reshape(shape)
    if gamma is not None and beta is not None:
        exact = exact * wide(gamma)[:, None, None] + wide(beta)[:, None, None]
    exact = exact / (1 + np.exp(-exact)) / wide(divisors)[:, None, None]
    assert_quantised(y.numpy(), exact, "int8", 2e-3)
    assert_close(mean.numpy(), rows.mean(-1), scale=4)
    assert_close(rstd.numpy(), 1 / np.sqrt(rows.var(-1) + EPS), scale=4)


def test_group_norm_silu_quant_refuses() -> None:
    x, vector = place(np.ones((2, 6, 3), np.float16)), place(np.ones(6, np.float16))
    scale, y = place(np.ones(6, np.float32)), hollow((2, 6, 3), np.int8)
    statistics = hollow((2, 2), np.float16)
    good = [x, vector, vector, scale, 2, EPS, True, y, statistics, statistics]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnGroupNormSiluQuant", *good[:position], value, *good[position + 1 :])

    for position in (0, 3, 7, 8, 9):
        assert changed(position, None) == 161001, position
    for position in (1, 2, 8, 9):
        assert changed(position, place(np.ones((2, 2), np.float32))) == 161002
    assert changed(1, place(np.ones(5, np.float16))) == 161002
    assert changed(3, place(np.ones(2, np.float32))) == 161002
    assert changed(3, place(np.ones((1, 6), np.float32))) == 161002
    for group in (0, -2, 4, 7, 2**62):
        assert changed(4, group) == 161002
    for eps in (0.0, -1.0, float("nan")):
        assert changed(5, eps) == 161002
    assert changed(6, False) == 161002
    assert changed(7, hollow((2, 6, 2), np.int8)) == 161002
    assert changed(8, hollow((2, 3), np.float16)) == 161002


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32])
def test_quantized_batch_norm(kind: Any, affine: bool, layout: str) -> None:
    rng, limits = np.random.default_rng(60), np.iinfo(kind)
    low, high = max(limits.min, -1000), min(limits.max, 1000)
    x = rng.integers(low, high, (2, 3, 4, 5), endpoint=True).astype(kind)
    mean, var = draw(61, (3,), SINGLE), rng.uniform(0.1, 4, 3).astype(SINGLE)
    weight, bias = (draw(62 + n, (3,), SINGLE) if affine else None for n in range(2))
    y = hollow(x.shape, kind, layout)
    ap.ops.quantized_batch_norm(
        *(place(x, layout), place(mean, layout), place(var, layout), 0.11, 3, 0.07, 6),
        *(maybe(weight, layout), maybe(bias, layout), EPS, y),
    )
    step, result_step = float(np.float32(0.11)), float(np.float32(0.07))
    exact = (wide(x) - 3) * step - wide(mean)[:, None, None]
    exact = exact / np.sqrt(wide(var) + float(np.float32(EPS)))[:, None, None]
    if weight is not None and bias is not None:
        exact = exact * wide(weight)[:, None, None] + wide(bias)[:, None, None]
    exact = np.clip(np.rint(exact / result_step + 6), limits.min, limits.max)
    assert_same(y.numpy(), exact.astype(kind))


def test_quantized_batch_norm_keeps_to_32_bits() -> None:
    numbers = np.array([2**31 - 1, -(2**31), 2**31 - 7, 5], np.int32).reshape(1, 1, 2, 2)
    one, zero = place(np.ones(1, np.float32)), place(np.zeros(1, np.float32))

    def made(scale: float, offset: int) -> list[int]:
        y = hollow(numbers.shape, np.int32)
        ap.ops.quantized_batch_norm(
            place(numbers), zero, one, 1.0, 0, scale, offset, None, None, 0.0, y
        )
        return [int(n) for n in y.numpy().ravel()]

    assert made(1.0, 0) == numbers.ravel().tolist()
    assert made(0.5, 0) == [2**31 - 1, -(2**31), 2**31 - 1, 10]
    assert made(1.0, 2) == [2**31 - 1, -(2**31) + 2, 2**31 - 5, 7]


def test_quantized_batch_norm_refuses() -> None:
    x, vector = place(np.ones((2, 3, 4, 5), np.int8)), place(np.ones(3, np.float32))
    good = [x, vector, vector, 0.5, 0, 0.5, 0, vector, vector, EPS, x]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnQuantizedBatchNorm", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 10):
        assert changed(position, None) == 161001, position
    for position in (1, 2, 7, 8):
        assert changed(position, place(np.ones(4, np.float32))) == 161002
        assert changed(position, place(np.ones(3, np.float16))) == 161002
    for position in (4, 6):
        for zero in (128, -129, 2**31 - 1):
            assert changed(position, zero) == 161002
    assert changed(0, place(np.ones((2, 3, 4), np.int8))) == 161002
    assert changed(0, x.with_format("NHWC")) == 161002
    assert changed(10, hollow((2, 3, 4, 5), np.uint8)) == 161002
    assert changed(10, hollow((2, 3, 4, 4), np.int8)) == 161002
    empty = ap.empty((0, 3, 4, 5), "int8")
    assert refusal("aclnnQuantizedBatchNorm", empty, *good[1:-1], empty) == 161002
