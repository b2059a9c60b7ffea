# SPDX-License-Identifier: Apache-2.0
"""Softmax of masked scores, and the projection of attention split into heads."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, refusal, wide

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

FLOATS = [np.float32, np.float16, ml_dtypes.bfloat16]
LAYOUTS = ["dense", "transposed", "stepped"]


def soft(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def normal(shape: tuple[int, ...], dtype: Any, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("lead", [(2, 3), (1, 3), (2, 1), (1, 1)], ids=str)
def test_masked_scores(dtype: Any, lead: tuple[int, int], layout: str) -> None:
    x = normal((2, 3, 4, 7), dtype)
    mask = np.random.default_rng(2).random((*lead, 4, 7)) < 0.4
    mask[0, 0, 1] = True  # a row with nothing left is even
    y = hollow(x.shape, dtype, layout)
    op("aclnnScaledMaskedSoftmax")(place(x, layout), place(mask, layout), 3.0, False, y)
    # FLOAT16 is scaled in its own dtype, the others in float32.
    scaled = wide(x * np.float16(3)) if dtype is np.float16 else 3.0 * wide(x)
    scores = np.where(mask, -10000.0, scaled)
    assert_close(y.numpy(), soft(scores), scale=2)
    assert_close(y.numpy()[0, 0, 1], np.full(7, 1 / 7))


@pytest.mark.parametrize("scale", [0.7, 3.3])
def test_float16_is_scaled_in_its_own_dtype(scale: float) -> None:
    x = np.random.default_rng(5).uniform(100, 104, (1, 2, 4, 70)).astype(np.float16)
    mask, y = np.zeros((1, 1, 4, 70), bool), hollow(x.shape, np.float16)
    op("aclnnScaledMaskedSoftmax")(place(x), place(mask), scale, False, y)
    assert_close(y.numpy(), soft(wide(x * np.float16(scale))), scale=2)
    wrong = np.abs(soft(wide(x) * scale) - soft(wide(x * np.float16(scale))))
    assert wrong.max() > 0.001  # more than the tolerance: rounding shows


def test_float16_overflows_where_it_is_scaled() -> None:
    x, mask = np.full((1, 1, 1, 3), 60000, np.float16), np.zeros((1, 1, 1, 3), bool)
    y = hollow(x.shape, np.float16)
    op("aclnnScaledMaskedSoftmax")(place(x), place(mask), 2.0, False, y)
    assert np.isnan(y.numpy()).all()


def test_the_longest_row() -> None:
    x, mask = normal((1, 1, 2, 4096), np.float32), np.zeros((1, 1, 2, 4096), bool)
    y = hollow(x.shape, np.float32)
    op("aclnnScaledMaskedSoftmax")(place(x), place(mask), -1.0, False, y)
    assert_close(y.numpy(), soft(-wide(x)), scale=2)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("lead", [(2, 3), (1, 3), (1, 1)], ids=str)
def test_gradients_of_masked_scores(dtype: Any, lead: tuple[int, int], layout: str) -> None:
    g, y = normal((2, 3, 4, 7), dtype, 3), soft(normal((2, 3, 4, 7), np.float64)).astype(dtype)
    mask = np.random.default_rng(2).random((*lead, 4, 7)) < 0.4
    formula = 0.5 * wide(y) * (wide(g) - (wide(g) * wide(y)).sum(-1, keepdims=True))
    out = hollow(g.shape, dtype, layout)
    name = "aclnnScaledMaskedSoftmaxBackward"
    op(name)(place(g, layout), place(y, layout), place(mask, layout), 0.5, False, out)
    assert_close(out.numpy(), np.where(mask, 0, formula), scale=4)


def test_the_gradient_of_masked_scores_is_their_derivative() -> None:
    x, g = normal((1, 1, 3, 5), np.float64), normal((1, 1, 3, 5), np.float64, 3)
    slope = np.empty(x.shape)
    for at in range(5):
        moved = x.astype(complex)
        moved[..., at] += 1e-30j
        powers = np.exp(0.5 * moved)
        slope[..., at] = (g * powers / powers.sum(-1, keepdims=True)).sum(-1).imag / 1e-30
    mask, out = place(np.zeros(x.shape, np.bool_)), hollow(x.shape, np.float32)
    name = "aclnnScaledMaskedSoftmaxBackward"
    y = soft(0.5 * x).astype(np.float32)
    op(name)(place(g.astype(np.float32)), place(y), mask, 0.5, False, out)
    assert_close(out.numpy(), slope, scale=4)


def test_gradients_of_masked_scores_refuse() -> None:
    name = "aclnnScaledMaskedSoftmaxBackward"
    g, mask = hollow((2, 3, 4, 7), np.float32), hollow((2, 3, 4, 7), np.bool_)
    for position in (0, 1, 2, 5):
        given = [g, g, mask, 1.0, False, g]
        given[position] = None
        assert refusal(name, *given) == 161001
    assert "fixTriuMask is true" in message(name, 161002, [g, g, mask, 1.0, True, g])
    half = hollow((2, 3, 4, 7), np.float16)
    assert refusal(name, g, half, mask, 1.0, False, g) == 161002
    assert refusal(name, g, g, mask, 1.0, False, half) == 161002
    assert refusal(name, g, g, hollow((2, 3, 1, 7), np.bool_), 1.0, False, g) == 161002
    assert refusal(name, g, hollow((2, 3, 4, 6), np.float32), mask, 1.0, False, g) == 161002
    none, hides = hollow((2, 3, 4, 0), np.float32), hollow((2, 3, 4, 0), np.bool_)
    assert refusal(name, none, none, hides, 1.0, False, none) == 161002


def test_masked_scores_refuse() -> None:
    name = "aclnnScaledMaskedSoftmax"
    x, y, mask = (hollow((2, 3, 4, 7), k) for k in (np.float32, np.float32, np.bool_))
    assert refusal(name, x, None, 1.0, False, y) == 161001
    assert "fixTriuMask is true" in message(name, 161002, [x, mask, 1.0, True, y])
    assert "x has rows of 0" in message(
        name, 161002, [x[..., :0], mask[..., :0], 1.0, False, y[..., :0]]
    )
    long = hollow((1, 1, 1, 4097), np.float32)
    hidden = hollow((1, 1, 1, 4097), np.bool_)
    assert "4097" in message(name, 161002, [long, hidden, 1.0, False, long])
    assert "mask (2, 3, 1, 7)" in message(name, 161002, [x, mask[:, :, :1], 1.0, False, y])
    assert "y has dtype" in message(
        name, 161002, [x, mask, 1.0, False, hollow(y.shape, np.float16)]
    )
    assert "mask has 3" in message(name, 161002, [x, mask[0], 1.0, False, y])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("five", [False, True])
@pytest.mark.parametrize(("mask_rank", "bias_rank"), [(3, 5), (4, 4), (5, 3), (0, 3)])
def test_windows(dtype: Any, five: bool, mask_rank: int, bias_rank: int, layout: str) -> None:
    batch, windows, heads, rows, width = 2, 3, 2, 4, 5
    x = normal((batch, windows, heads, rows, width), dtype)
    mask, bias = normal((windows, rows, width), dtype, 2), normal((heads, rows, width), dtype, 3)
    exact = 0.5 * wide(x) + wide(bias)
    hidden = None
    if mask_rank:
        exact = exact + wide(mask)[None, :, None]
        shapes = {3: mask.shape, 4: (windows, 1, rows, width), 5: (1, windows, 1, rows, width)}
        hidden = place(mask.reshape(shapes[mask_rank]), layout)
    shift = place(bias.reshape((1,) * (bias_rank - 3) + bias.shape), layout)
    shape = x.shape if five else (batch * windows, heads, rows, width)
    out = hollow(shape, dtype, layout)
    name = "aclnnMaskedSoftmaxWithRelPosBias"
    op(name)(place(x.reshape(shape), layout), hidden, shift, 0.5, 0, out)
    assert_close(out.numpy(), soft(exact).reshape(shape), scale=4)


def test_windows_refuse() -> None:
    name = "aclnnMaskedSoftmaxWithRelPosBias"
    x, mask, bias = (hollow(s, np.float32) for s in ((6, 2, 4, 5), (3, 4, 5), (2, 4, 5)))
    assert refusal(name, None, mask, bias, 1.0, 0, x) == 161001
    assert refusal(name, x, mask, None, 1.0, 0, x) == 161001

    def text(*arguments: Any) -> str:
        return message(name, 561002, arguments)

    assert "scaleValue is inf" in text(x, mask, bias, float("inf"), 0, x)
    assert "innerPrecisionMode is 1" in text(x, mask, bias, 1.0, 1, x)
    assert "attenMaskOptional has 4 windows" in text(
        x, hollow((4, 4, 5), np.float32), bias, 1.0, 0, x
    )
    assert "attenMaskOptional has dtype" in text(x, hollow(mask.shape, np.float16), bias, 1.0, 0, x)
    assert "relativePosBias has" in text(x, mask, hollow((3, 4, 5), np.float32), 1.0, 0, x)
    assert "out has" in text(x, mask, bias, 1.0, 0, hollow((6, 2, 4, 6), np.float32))
    wide_row = [hollow((*lead, 1, 6144), np.float32) for lead in ((1, 1), (1,), (1,))]
    assert "unified buffer" in text(wide_row[0], wide_row[1], wide_row[2], 1.0, 0, wide_row[0])


# --- heads


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("batch", "length", "heads", "depth"), [(2, 3, 2, 4), (1, 5, 3, 7), (0, 3, 1, 2)]
)
def test_heads(dtype: Any, batch: int, length: int, heads: int, depth: int, layout: str) -> None:
    width = 3 * heads * depth
    qkv, bias = normal((batch, length, width), dtype), normal((width,), dtype, 2)
    outs = [hollow((batch, heads, length, depth), dtype, layout) for _ in range(3)]
    op("aclnnTransformBiasRescaleQkv")(place(qkv, layout), place(bias, layout), heads, *outs)
    parts = (wide(qkv) + wide(bias)).reshape(batch, length, 3, heads, depth)
    exact = parts.transpose(2, 0, 3, 1, 4) / np.array([np.sqrt(depth), 1, 1]).reshape(3, 1, 1, 1, 1)
    for part, out in enumerate(outs):
        assert_close(out.numpy(), exact[part])


def test_heads_keep_what_is_not_finite() -> None:
    qkv = np.array([[[np.nan, np.inf, -np.inf]]], np.float32)
    outs = [hollow((1, 1, 1, 1), np.float32) for _ in range(3)]
    op("aclnnTransformBiasRescaleQkv")(place(qkv), place(np.ones(3, np.float32)), 1, *outs)
    for out, value in zip(outs, qkv[0, 0], strict=True):
        assert_same(out.numpy()[0, 0, 0], value[None])


def test_heads_refuse() -> None:
    name = "aclnnTransformBiasRescaleQkv"
    qkv, bias = hollow((2, 3, 24), np.float32), hollow((24,), np.float32)
    out = hollow((2, 2, 3, 4), np.float32)
    assert refusal(name, qkv, None, 2, out, out, out) == 161001
    assert "numHeads is 0" in message(name, 161002, [qkv, bias, 0, out, out, out])
    assert "qkv has 24 columns" in message(name, 161002, [qkv, bias, 5, out, out, out])
    assert "qkvBias has" in message(name, 161002, [qkv, bias[:23], 2, out, out, out])
    assert "kOut has" in message(name, 161002, [qkv, bias, 2, out, out[:1], out])
    assert "vOut has dtype" in message(
        name, 161002, [qkv, bias, 2, out, out, hollow(out.shape, np.float16)]
    )
