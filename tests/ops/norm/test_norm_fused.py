# SPDX-License-Identifier: Apache-2.0
"""Normalisation of sums, and of groups of channels with an activation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap

from ..quantised import HALVES

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
SINGLE = np.dtype(np.float32)
FLOATS = [SINGLE, *HALVES]
EPS = 1e-5


def draw(seed: int, shape: tuple[int, ...], dtype: np.dtype[Any], shift: float = 0.0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * 2 + shift).astype(dtype)


def normalised(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """The normalised values, mean and 1 / sqrt(variance + eps), in float64."""
    mean = x.mean(axis=axes, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axis=axes, keepdims=True) + EPS)
    return (x - mean) * rstd, mean, rstd


# dtypes of x1, x2, gamma and of the sum
SUMS = [
    *((kind, kind, kind, kind) for kind in FLOATS),
    *((kind, kind, SINGLE, kind) for kind in HALVES),
    *((kind, SINGLE, SINGLE, SINGLE) for kind in HALVES),
    *((SINGLE, kind, SINGLE, SINGLE) for kind in HALVES),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bias", [None, (24,), (2, 3, 24)], ids=str)
@pytest.mark.parametrize("kinds", SUMS, ids=lambda kinds: "-".join(map(str, kinds)))
def test_add_layer_norm(
    kinds: tuple[np.dtype[Any], ...], bias: tuple[int, ...] | None, layout: str
) -> None:
    shape, (first, second, affine, kind) = (2, 3, 24), kinds
    x1, x2 = draw(1, shape, first, 3.0), draw(2, shape, second)
    gamma, beta = draw(3, (24,), affine, 1.0), draw(4, (24,), affine)
    added = None if bias is None else draw(5, bias, kind)
    y, x = hollow(shape, kind), hollow(shape, kind)
    mean, rstd = hollow((2, 3, 1), SINGLE), hollow((2, 3, 1), SINGLE)
    ap.ops.add_layer_norm(
        *(place(part, layout) for part in (x1, x2, gamma, beta)),
        None if added is None else place(added, layout),
        EPS,
        layout != "stepped",
        *(y, mean, rstd, x),
    )
    total = wide(x1) + wide(x2) + (0 if added is None else wide(added))
    values, means, rstds = normalised(total, (-1,))
    assert_close(y.numpy(), values * wide(gamma) + wide(beta), scale=4)
    assert_close(mean.numpy(), means, scale=4)
    assert_close(rstd.numpy(), rstds, scale=4)
    if layout == "stepped":
        assert_same(x.numpy(), np.full(shape, 77, kind))  # not asked for
    else:
        assert_close(x.numpy(), total, scale=2)


def test_add_layer_norm_refuses() -> None:
    x, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    one = hollow((3, 1), np.float32)
    good = [x, x, vector, vector, None, EPS, True, x, one, one, x]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnAddLayerNorm", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 3, 7, 8, 9, 10):
        assert changed(position, None) == 161001, position
    assert changed(1, place(np.ones((3, 8), HALVES[1]))) == 161002
    assert changed(2, place(np.ones(8, HALVES[1]))) == 161002
    assert changed(3, place(np.ones(8, np.float32))) == 161002
    assert changed(4, place(np.ones(8, np.float32))) == 161002
    assert changed(4, place(np.ones(3, np.float16))) == 561002
    assert changed(2, place(np.ones(7, np.float16))) == 561002
    assert changed(8, hollow((3,), np.float32)) == 561002
    nothing = [ap.empty((0, 8), np.float16)] * 2
    rest = [vector, vector, None, EPS, True]
    results = [nothing[0], ap.empty((0, 1), SINGLE), ap.empty((0, 1), SINGLE), nothing[0]]
    assert refusal("aclnnAddLayerNorm", *nothing, *rest, *results) == 561002


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tail", [1, 2])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_deep_norm(dtype: np.dtype[Any], tail: int, layout: str) -> None:
    shape, alpha = (4, 3, 10), 0.3
    inner, axes = shape[-tail:], tuple(range(-tail, 0))
    x, gx = draw(6, shape, dtype, 1.0), draw(7, shape, dtype)
    beta, gamma = draw(8, inner, dtype), draw(9, inner, dtype, 1.0)
    outer = (*shape[: 3 - tail], *([1] * tail))
    mean, rstd = hollow(outer, SINGLE, layout), hollow(outer, SINGLE, layout)
    y = hollow(shape, dtype, layout)
    parts = [place(part, layout) for part in (x, gx, beta, gamma)]
    ap.ops.deep_norm(*parts, alpha, EPS, mean, rstd, y)
    values, means, rstds = normalised(alpha * wide(x) + wide(gx), axes)
    assert_close(y.numpy(), values * wide(gamma) + wide(beta), scale=4)
    assert_close(mean.numpy(), means, scale=6)
    assert_close(rstd.numpy(), rstds, scale=4)


def test_deep_norm_refuses() -> None:
    x, vector = place(np.ones((3, 8), np.float16)), place(np.ones(8, np.float16))
    one = hollow((3, 1), np.float32)
    good = [x, x, vector, vector, 0.3, EPS, one, one, x]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnDeepNorm", *good[:position], value, *good[position + 1 :])

    for position in (0, 1, 2, 3, 6, 7, 8):
        assert changed(position, None) == 161001, position
    assert changed(1, place(np.ones((3, 8), np.float32))) == 161002
    assert changed(3, place(np.ones(7, np.float16))) == 161002
    assert changed(2, place(np.ones(7, np.float16))) == 161002
    assert changed(6, hollow((3,), np.float32)) == 161002


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("operator", ["silu", "silu_v2", "silu_v2 off", "swish", "swish off"])
@pytest.mark.parametrize("affine", ["own", "single"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_group_norm_with_an_activation(
    dtype: np.dtype[Any], affine: str, operator: str, layout: str
) -> None:
    shape, groups = (2, 6, 3, 5), 2
    kept = dtype if affine == "own" else SINGLE
    x = draw(10, shape, dtype, 1.0)
    gamma, beta = draw(11, (6,), kept, 1.0), draw(12, (6,), kept)
    saved = kept if operator.startswith("swish") else dtype
    y, mean, rstd = hollow(shape, dtype), hollow((2, 2), saved), hollow((2, 2), saved)
    parts = [place(part, layout) for part in (x, gamma, beta)]
    active, scale = not operator.endswith("off"), 1.0
    if operator == "silu":
        ap.ops.group_norm_silu(*parts, groups, EPS, y, mean, rstd)
    elif operator.startswith("silu"):
        ap.ops.group_norm_silu_v2(*parts, groups, EPS, active, y, mean, rstd)
    else:
        scale = 1.5
        ap.ops.group_norm_swish(*parts, groups, "NCHW", EPS, active, scale, y, mean, rstd)
    values, means, rstds = normalised(wide(x).reshape(2, groups, -1), (-1,))
    column = (6, 1, 1)
    oracle = values.reshape(shape) * wide(gamma).reshape(column) + wide(beta).reshape(column)
    if active:
        oracle = oracle / (1 + np.exp(-scale * oracle))
    assert_close(y.numpy(), oracle, scale=8)
    assert_close(mean.numpy(), means[..., 0], scale=6)
    assert_close(rstd.numpy(), rstds[..., 0], scale=6)


def test_group_norm_with_an_activation_refuses() -> None:
    x, six = place(np.ones((2, 6, 4), np.float16)), place(np.ones(6, np.float16))
    two = hollow((2, 2), np.float16)
    good = [x, six, six, 2, EPS, x, two, two]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnGroupNormSilu", *good[:position], value, *good[position + 1 :])

    for position in (0, 5, 6, 7):
        assert changed(position, None) == 161001, position
    assert changed(3, 4) == 161002
    assert changed(3, 0) == 161002
    assert changed(4, 0.0) == 161002
    assert changed(1, place(np.ones(6, HALVES[1]))) == 161002
    assert changed(1, place(np.ones(6, np.float32))) == 161002  # not that of beta
    assert changed(2, place(np.ones(5, np.float16))) == 161002
    assert changed(6, hollow((2, 2), np.float32)) == 161002
    assert changed(7, hollow((2, 3), np.float16)) == 161002
    swish = "aclnnGroupNormSwish"
    assert refusal(swish, x, six, six, 2, "NHWC", EPS, True, 1.0, x, two, two) == 161002
    assert refusal(swish, x, None, six, 2, "NCHW", EPS, True, 1.0, x, two, two) == 161001
