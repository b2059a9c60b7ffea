# SPDX-License-Identifier: Apache-2.0
"""Gradients of LayerNorm and RmsNorm: the slopes of the normalisations in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import NUMPY, Array, hollow, op, place, refusal, wide

from ..problems import Case, In, Out, Problem, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
EPS, STEP = 1e-5, 1e-6


def layer_norm(x: Array, g: Array, b: Array, axes: tuple[int, ...]) -> Array:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(variance + EPS) * g + b)


def rms_norm(x: Array, g: Array, b: Array, axes: tuple[int, ...]) -> Array:
    return np.asarray(x / np.sqrt((x * x).mean(axes, keepdims=True) + EPS) * g)


def slopes(norm: Any, dy: Array, parts: list[Array], axes: tuple[int, ...]) -> list[Array]:
    """The derivative of ``sum(dy * norm(x, g, b))`` with respect to each element of x, g and b."""
    found = []
    for which, part in enumerate(parts):
        slope = np.zeros(part.shape)
        for at in np.ndindex(part.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = [one.copy() for one in parts]
                moved[which][at] += step
                ends.append((dy * norm(*moved, axes)).sum())
            slope[at] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(slope)
    return found


def layer(inner: int, weights: str) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        shape, kind = (3, 2, 5), NUMPY[weights] if weights else dtype
        axes = tuple(range(3 - inner, 3))
        dy, x = (rng.normal(size=shape).astype(dtype) for _ in range(2))
        g, b = (rng.normal(size=shape[3 - inner :]).astype(kind) for _ in range(2))
        mean = wide(x).mean(axes, keepdims=True).astype(np.float32)
        rstd = (1 / np.sqrt(wide(x).var(axes, keepdims=True) + EPS)).astype(np.float32)
        dx, dg, db = slopes(layer_norm, wide(dy), [wide(x), wide(g), wide(b)], axes)
        inputs = [In(dy), In(x), list(shape[3 - inner :]), In(mean), In(rstd), In(g), In(b)]
        results = [Out(dx, dtype, 32), Out(dg, kind, 32), Out(db, kind, 32)]
        return [*inputs, [True] * 3, *results]

    return Case("LayerNormBackward", build, f"{inner}-{weights}", nullable=frozenset({5, 6}))


def rms(inner: int, weights: str) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        shape, kind = (3, 2, 5), NUMPY[weights] if weights else dtype
        axes = tuple(range(3 - inner, 3))
        dy, x = (rng.normal(size=shape).astype(dtype) for _ in range(2))
        g = rng.normal(size=shape[3 - inner :]).astype(kind)
        rstd = (1 / np.sqrt((wide(x) ** 2).mean(axes) + EPS)).astype(np.float32)
        dx, dg, _ = slopes(rms_norm, wide(dy), [wide(x), wide(g), np.zeros(1)], axes)
        inputs = [In(dy), In(x), In(rstd), In(g)]
        return [*inputs, Out(dx, dtype, 32), Out(dg, np.float32, 32)]

    return Case("RmsNormGrad", build, f"{inner}-{weights}", free_shapes=True)


KINDS = [(1, ""), (2, "FLOAT")]
TestGradients = suite([make(*kind) for make in (layer, rms) for kind in KINDS])


def test_only_what_the_mask_asks_for_is_written() -> None:
    x = place(np.ones((2, 3), np.float32))
    ones = place(np.ones((2, 1), np.float32))
    bias = hollow((3,), np.float32)
    mask = [False, False, True]
    op("aclnnLayerNormBackward")(x, x, [3], ones, ones, None, None, mask, None, None, bias)
    assert_same(bias.numpy(), np.full(3, 2, np.float32))


def test_many_rows_are_summed_in_float64() -> None:
    rng = np.random.default_rng(4)
    dy, x = (rng.normal(size=(3000, 40)).astype(np.float32) for _ in range(2))
    rstd = np.ones(3000, np.float32)
    dx, dg = hollow((3000, 40), np.float32), hollow((40,), np.float32)
    op("aclnnRmsNormGrad")(place(dy), place(x), place(rstd), place(np.ones(40, np.float32)), dx, dg)
    np.testing.assert_allclose(dg.numpy(), (wide(dy) * wide(x)).sum(0), rtol=1e-6, atol=1e-5)
    along = (wide(dy) * wide(x)).mean(1, keepdims=True)
    assert_close(dx.numpy(), wide(dy) - wide(x) * along, scale=8)


def test_the_gradient_may_overwrite_its_operand() -> None:
    rng = np.random.default_rng(6)
    dy, x = (rng.normal(size=(4, 8)).astype(np.float32) for _ in range(2))
    rstd, gamma = np.ones(4, np.float32), np.ones(8, np.float32)
    apart, dg = hollow((4, 8), np.float32), hollow((8,), np.float32)
    op("aclnnRmsNormGrad")(place(dy), place(x), place(rstd), place(gamma), apart, dg)
    shared = place(dy)
    op("aclnnRmsNormGrad")(shared, place(x), place(rstd), place(gamma), shared, dg)
    assert_same(shared.numpy(), apart.numpy())


def test_no_rows_give_gradients_of_zero() -> None:
    none, dg = place(np.zeros((0, 4), np.float32)), hollow((4,), np.float32)
    rstd = place(np.zeros(0, np.float32))
    op("aclnnRmsNormGrad")(none, none, rstd, place(np.ones(4, np.float32)), none, dg)
    assert_same(dg.numpy(), np.zeros(4, np.float32))


def test_what_does_not_fit_is_refused() -> None:
    x, row, one = hollow((2, 3), np.float32), hollow((3,), np.float32), hollow((2,), np.float32)
    rms, layer = "aclnnRmsNormGrad", "aclnnLayerNormBackward"
    assert refusal(rms, x, x, row, row, x, row) == 561002  # rstd
    assert refusal(rms, x, x, one, one, x, row) == 561002  # gamma
    assert refusal(rms, x, x, one, row, x, one) == 561002  # dgammaOut
    assert refusal(rms, hollow((2, 3), np.float16), x, one, row, x, row) == 161002
    stats = hollow((2, 1), np.float32)
    mask = [True, False, False]
    tail = (None, None)
    assert refusal(layer, x, x, [3], stats, stats, row, None, [True], x, *tail) == 161002
    assert refusal(layer, x, x, [2], stats, stats, row, None, mask, x, *tail) == 161002
    assert refusal(layer, x, x, [], stats, stats, row, None, mask, x, *tail) == 161002
    assert refusal(layer, x, x, [3], row, stats, row, None, mask, x, *tail) == 161002
    assert refusal(layer, x, x, [3], stats, stats, one, None, mask, x, *tail) == 161002
    assert refusal(layer, x, x, [3], stats, stats, row, None, mask, None, *tail) == 161001
    assert refusal(layer, x, x, [3], stats, stats, row, None, [True] * 3, x, *tail) == 161001
