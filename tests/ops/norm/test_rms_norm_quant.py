# SPDX-License-Identifier: Apache-2.0
"""Normalisation by the root mean square with a residual, a cast or a quantisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap

from ..quantised import HALVES, LIMITS, assert_quantised, result, unpacked

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
FLOATS = [np.dtype(np.float32), *HALVES]
EPS = 1e-5


def normalised(x: Array, gamma: Array, axes: tuple[int, ...] = (-1,)) -> tuple[Array, Array]:
    """The documented formula in float64, and the factor of each row."""
    factor = 1 / np.sqrt((x**2).mean(axis=axes, keepdims=True) + EPS)
    return x * factor * wide(gamma), factor


def draw(seed: int, shape: tuple[int, ...], dtype: np.dtype[Any], shift: float = 0.0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * 2 + shift).astype(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gemma_scales_by_one_more_than_gamma(dtype: np.dtype[Any], layout: str) -> None:
    x, gamma = draw(1, (3, 4, 19), dtype), draw(2, (19,), dtype)
    y, rstd = hollow(x.shape, dtype, layout), hollow((3, 4, 1), np.float32, layout)
    ap.ops.gemma_rms_norm(place(x, layout), place(gamma, layout), EPS, y, rstd)
    oracle, factor = normalised(wide(x), 1 + wide(gamma))
    assert_close(y.numpy(), oracle, scale=4)
    assert_close(rstd.numpy(), factor, scale=4)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_the_cast_result_holds_what_the_half_holds(dtype: np.dtype[Any], layout: str) -> None:
    x1, x2, gamma = draw(3, (3, 4, 19), dtype), draw(4, (3, 4, 19), dtype), draw(5, (4, 19), dtype)
    y1, y2 = hollow(x1.shape, np.float32, layout), hollow(x1.shape, dtype, layout)
    rstd, x = hollow((3,), np.float32), hollow(x1.shape, dtype, layout)
    parts = [place(part, layout) for part in (x1, x2, gamma)]
    ap.ops.add_rms_norm_cast(*parts, EPS, y1, y2, rstd, x)
    total = wide(x1) + wide(x2)
    oracle, factor = normalised(total, gamma, (-2, -1))
    assert_close(y2.numpy(), oracle, scale=4)
    assert_same(y1.numpy(), y2.numpy().astype(np.float32))
    assert_close(rstd.numpy(), factor.ravel(), scale=4)
    assert_close(x.numpy(), total)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_sum_and_its_norm_in_place(dtype: np.dtype[Any], layout: str) -> None:
    first, second, gamma = draw(6, (5, 19), dtype), draw(7, (5, 19), dtype), draw(8, (19,), dtype)
    x1, x2, rstd = place(first, layout), place(second, layout), hollow((5, 1), np.float32)
    ap.ops.inplace_add_rms_norm(x1, x2, place(gamma), EPS, rstd)
    y, factors, x = hollow((5, 19), dtype), hollow((5, 1), np.float32), hollow((5, 19), dtype)
    ap.ops.add_rms_norm(place(first), place(second), place(gamma), EPS, y, factors, x)
    for given, wanted in ((x1, y), (x2, x), (rstd, factors)):
        assert_same(given.numpy(), wanted.numpy())
    assert_close(x1.numpy(), normalised(wide(first) + wide(second), gamma)[0], scale=4)


SCALES = [("float16", "float32", "int32"), ("bfloat16", "bfloat16", "bfloat16"),
          ("bfloat16", "float32", "int32")]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dtype", "scales", "zeros"), SCALES)
@pytest.mark.parametrize("results", [1, 2])
def test_add_rms_norm_quant(dtype: str, scales: str, zeros: str, results: int, layout: str) -> None:
    kinds = {str(kind): kind for kind in (*FLOATS, np.dtype(np.int32))}
    kind = kinds[dtype]
    x1, x2, gamma = draw(9, (2, 3, 24), kind), draw(10, (2, 3, 24), kind), draw(11, (24,), kind)
    rng = np.random.default_rng(12)
    divisors = [rng.uniform(0.02, 0.1, 24).astype(kinds[scales]) for _ in range(results)]
    shifts = [rng.integers(-9, 10, 24).astype(kinds[zeros]) for _ in range(results)]
    ys = [hollow((2, 3, 24), np.int8, layout) for _ in range(results)]
    x = hollow((2, 3, 24), kind, layout)

    def pair(parts: list[Array]) -> list[ap.Tensor | None]:
        return [*(place(part, layout) for part in parts), None][:2]

    inputs = [place(part, layout) for part in (x1, x2, gamma)]
    outputs = [*ys, hollow((1,), np.int8)][:2]
    ap.ops.add_rms_norm_quant(*inputs, *pair(divisors), *pair(shifts), -1, EPS, True, *outputs, x)
    total = wide(x1) + wide(x2)
    assert_close(x.numpy(), total)
    y = normalised(total, gamma)[0]
    for made, divisor, shift in zip(ys, divisors, shifts, strict=True):
        assert_quantised(made.numpy(), y / wide(divisor) + wide(shift), "int8", 1e-3)
    if results == 1:
        assert outputs[1].numpy().item() == 77


def test_add_rms_norm_quant_refuses() -> None:
    half, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    scale, zero = place(np.ones(8, np.float32)), place(np.ones(8, np.int32))
    y = hollow((3, 8), np.int8)
    good = [half, half, vector, scale, scale, zero, zero, -1, EPS, True, y, y, half]
    name = "aclnnAddRmsNormQuant"

    def changed(position: int, value: Any) -> int:
        return refusal(name, *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 3, 10, 11, 12):
        assert changed(position, None) == 161001, position
    assert changed(4, None) == 161002  # an offset without its scale
    assert changed(9, False) == 161002  # this chip divides
    assert changed(3, place(np.ones(8, HALVES[1]))) == 161002
    assert changed(5, place(np.ones(8, HALVES[1]))) == 161002
    assert changed(3, place(np.ones(1, np.float32))) == 161002
    assert changed(2, place(np.ones(7, np.float16))) == 161002
    assert changed(11, hollow((3, 7), np.int8)) == 161002


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["int8", "int4", "int32"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rms_norm_quant(dtype: np.dtype[Any], kind: str, layout: str) -> None:
    x, gamma, beta = draw(13, (2, 3, 24), dtype), draw(14, (24,), dtype), draw(15, (24,), dtype)
    scale = np.array([0.05 if kind == "int8" else 0.5], dtype)
    offset = np.array([-3], np.int8)
    shape = (1, 24) if layout == "transposed" else (24,)
    y = result((2, 3, 24), kind, layout)
    ap.ops.rms_norm_quant(
        place(x, layout),
        place(gamma.reshape(shape), layout),
        place(beta.reshape(shape), layout),
        place(scale),
        place(offset),
        EPS,
        y,
    )
    exact = (normalised(wide(x), gamma)[0] + wide(beta)) / wide(scale) - 3
    assert_quantised(unpacked(y, kind), exact, kind, 1e-3)


def test_rms_norm_quant_refuses() -> None:
    x, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    scale, offset = place(np.ones(1, np.float16)), place(np.ones(1, np.int8))
    good = [x, vector, vector, scale, offset, EPS, hollow((3, 8), np.int8)]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnRmsNormQuant", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 3, 4, 6):
        assert changed(position, None) == 161001, position
    assert changed(2, place(np.ones((1, 8), np.float16))) == 161002  # not the shape of gamma
    assert changed(3, vector) == 161002
    assert changed(3, place(np.ones(1, np.float32))) == 161002
    assert changed(4, place(np.ones(1, np.int32))) == 161002
    assert changed(6, hollow((3, 2), np.int32)) == 161002


@pytest.mark.parametrize("smooth", [0, 1, 2])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_add_rms_norm_dynamic_quant(dtype: np.dtype[Any], smooth: int, layout: str) -> None:
    x1, x2, gamma = draw(16, (2, 3, 24), dtype), draw(17, (2, 3, 24), dtype), draw(18, (24,), dtype)
    rng = np.random.default_rng(19)
    factors = [rng.uniform(0.5, 2.0, 24).astype(dtype) for _ in range(smooth)]
    made = 2 if smooth == 2 else 1
    ys = [hollow((2, 3, 24), np.int8, layout), hollow((2, 3, 24), np.int8)]
    scales, x = [hollow((2, 3), np.float32), hollow((6,), np.float32)], hollow(x1.shape, dtype)
    inputs = [place(part, layout) for part in (x1, x2, gamma)]
    given = [*(place(part) for part in factors), None, None][:2]
    ap.ops.add_rms_norm_dynamic_quant(*inputs, *given, EPS, *ys, x, *scales)
    total = wide(x1) + wide(x2)
    assert_close(x.numpy(), total)
    y = normalised(total, gamma)[0]
    for n in range(2):
        if n >= made:
            assert (ys[n].numpy() == 77).all() and (scales[n].numpy() == 77).all()
            continue
        values = y * (wide(factors[n]) if n < smooth else 1)
        expected = np.abs(values).max(axis=-1) / 127
        assert_quantised(ys[n].numpy(), values / expected[..., None], "int8", 1e-3)
        assert_close(scales[n].numpy().ravel(), expected.ravel(), scale=4)


@pytest.mark.parametrize("kind", ["int8", "int4"])
@pytest.mark.parametrize("mask", [(True, False), (False, True), (True, True)], ids=str)
def test_the_mask_says_which_results_are_made(kind: str, mask: tuple[bool, bool]) -> None:
    dtype = np.dtype(np.float16)
    x1, x2, gamma = draw(20, (4, 16), dtype), draw(21, (4, 16), dtype), draw(22, (16,), dtype)
    beta, factor = draw(23, (16,), dtype), np.linspace(0.5, 2, 16).astype(dtype)
    ys = [result((4, 16), kind) if bit else hollow((1,), np.int8) for bit in mask]
    scales = [hollow((4,) if bit else (1,), np.float32) for bit in mask]
    smooth = [place(factor) if bit else None for bit in mask]
    inputs = [place(part) for part in (x1, x2, gamma)]
    x = hollow((4, 16), dtype)
    ap.ops.add_rms_norm_dynamic_quant_v2(
        *inputs, *smooth, place(beta), EPS, list(mask), *ys, x, *scales
    )
    values = (normalised(wide(x1) + wide(x2), gamma)[0] + wide(beta)) * wide(factor)
    expected = np.abs(values).max(axis=-1) / LIMITS[kind][1]
    for bit, y, scale in zip(mask, ys, scales, strict=True):
        if bit:
            assert_quantised(unpacked(y, kind), values / expected[:, None], kind, 1e-3)
            assert_close(scale.numpy(), expected, scale=4)
        else:
            assert y.numpy().item() == 77 and scale.numpy().item() == 77


def test_add_rms_norm_dynamic_quant_refuses() -> None:
    x, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    y, scale = hollow((3, 8), np.int8), hollow((3,), np.float32)
    good = [x, x, vector, vector, vector, EPS, y, y, x, scale, scale]
    name = "aclnnAddRmsNormDynamicQuant"

    def changed(position: int, value: Any) -> int:
        return refusal(name, *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 6, 7, 8, 9, 10):
        assert changed(position, None) == 161001, position
    assert changed(3, None) == 161002  # the second factor without the first
    assert changed(2, place(np.ones(7, np.float16))) == 161002
    assert changed(3, place(np.ones(8, HALVES[1]))) == 161002
    assert changed(7, hollow((3, 7), np.int8)) == 161002
    assert changed(9, hollow((4,), np.float32)) == 161002
    v2 = "aclnnAddRmsNormDynamicQuantV2"
    for mask in ([True], [False, False], [True, False]):
        arguments = [x, x, vector, vector, vector, None, EPS, mask, y, y, x, scale, scale]
        assert refusal(v2, *arguments) == 161002, mask
    mixed = [y, result((3, 8), "int4")]
    assert (
        refusal(v2, x, x, vector, None, None, None, EPS, [True, True], *mixed, x, scale, scale)
        == 161002
    )
