# SPDX-License-Identifier: Apache-2.0
"""Attention over points of feature maps of several sizes, and its gradients, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, place, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

SIZES = np.array([[3, 4], [2, 1]], np.int32)
STARTS = np.array([1, 13], np.int32)  # key 0 belongs to no map
KEYS, HEADS, CHANNELS, POINTS = 15, 2, 8, 2
STEP = 1e-6


def forward(value: Array, location: Array, weights: Array) -> Array:
    samples, queries = location.shape[:2]
    out = np.zeros((samples, queries, HEADS, CHANNELS))
    for n, q, h, level, p in np.ndindex(*location.shape[:5]):
        height, width = SIZES[level]
        u, v = location[n, q, h, level, p]
        x, y = u * width - 0.5, v * height - 0.5
        rows, columns = np.arange(height), np.arange(width)
        near = np.maximum(0, 1 - abs(rows - y))[:, None] * np.maximum(0, 1 - abs(columns - x))
        plane = value[n, STARTS[level] : STARTS[level] + height * width, h]
        out[n, q, h] += weights[n, q, h, level, p] * (near.reshape(-1) @ plane)
    return out.reshape(samples, queries, -1)


def draw(rng: np.random.Generator, dtype: Any, queries: int) -> list[Array]:
    shape = (2, queries, HEADS, len(SIZES), POINTS)
    value = rng.standard_normal((2, KEYS, HEADS, CHANNELS))
    location = rng.uniform(-0.2, 1.2, (*shape, 2))  # some outside
    return [x.astype(dtype) for x in (value, location, rng.uniform(size=shape))]


def attention(kind: Any) -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        value, location, weights = draw(rng, dtype, 32)
        y = forward(wide(value), wide(location), wide(weights))
        levels = [In(SIZES.astype(kind)), In(STARTS.astype(kind))]
        return [In(value), *levels, In(location), In(weights), Out(y, dtype, 8)]

    return Case("MultiScaleDeformableAttnFunction", build, kind.__name__)


def slope(parts: list[Array], which: int, dy: Array) -> Array:
    """The derivative by one input, by central differences."""
    found = np.zeros(parts[which].shape)
    for at in np.ndindex(found.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = [part.copy() for part in parts]
            moved[which][at] += step
            ends.append((dy * forward(*moved)).sum())
        found[at] = (ends[0] - ends[1]) / (2 * STEP)
    return found


def slope_of_value(parts: list[Array], dy: Array) -> Array:
    """The derivative by value, in which the forward is linear and whose channels are alike."""
    found = np.zeros(parts[0].shape)
    for key in range(KEYS):
        one = np.zeros(parts[0].shape)
        one[:, key] = 1
        share = (dy * forward(one, *parts[1:])).sum(1)
        found[:, key] = share.reshape(-1, HEADS, CHANNELS)
    return found


def gradient() -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        parts = [x[:1] for x in draw(rng, dtype, 2)]
        dy = rng.standard_normal((1, 2, HEADS * CHANNELS)).astype(dtype)
        given = [wide(part) for part in parts]
        slopes = [
            slope_of_value(given, wide(dy)),
            *(slope(given, which, wide(dy)) for which in (1, 2)),
        ]
        levels = [In(SIZES), In(STARTS.astype(np.int64))]
        results = [Out(one, dtype, 64) for one in slopes]
        return [In(parts[0]), *levels, *map(In, parts[1:]), In(dy), *results]

    return Case("MultiScaleDeformableAttentionGrad", build)


TestAttention = suite([attention(np.int32), attention(np.int64)])
TestGradient = suite([gradient()])


def arguments(queries: int = 32) -> list[Any]:
    rng = np.random.default_rng(3)
    value, location, weights = map(place, draw(rng, np.float32, queries))
    return [value, place(SIZES), place(STARTS), location, weights]


@pytest.mark.parametrize("far", [np.nan, np.inf, -3e38, 1e9])
def test_a_point_that_lies_nowhere_counts_as_zero(far: float) -> None:
    given = arguments()
    given[3] = ap.full(given[3].shape, far, np.float32)
    out = hollow((2, 32, HEADS * CHANNELS), np.float32)
    ap.ops.multi_scale_deformable_attn_function(*given, out)
    assert (out.numpy() == 0).all()
    slopes = [hollow(given[i].shape, np.float32) for i in (0, 3, 4)]
    ap.ops.multi_scale_deformable_attention_grad(*given, out, *slopes)
    assert all((x.numpy() == 0).all() for x in slopes)


def test_many_queries_at_one_key() -> None:
    given = arguments(1000)
    given[3] = ap.full(given[3].shape, 0.5, np.float32)  # between keys 6, 7, 10 and 11, and others
    dy = ap.full((2, 1000, HEADS * CHANNELS), 1, np.float32)
    slopes = [hollow(given[i].shape, np.float32) for i in (0, 3, 4)]
    ap.ops.multi_scale_deformable_attention_grad(*given, dy, *slopes)
    total = wide(given[4].numpy()).sum((1, 3, 4))
    assert_close(slopes[0].numpy().sum((1, 3)), total * CHANNELS, scale=8)


def test_no_query() -> None:
    given = arguments(0)
    none = ap.empty((2, 0, HEADS * CHANNELS), np.float32)
    slopes = [hollow(given[i].shape, np.float32) for i in (0, 3, 4)]
    ap.ops.multi_scale_deformable_attention_grad(*given, none, *slopes)
    assert (slopes[0].numpy() == 0).all()


@pytest.mark.parametrize(
    ("position", "at", "bad"), [(1, (0, 1), 5), (1, (1, 0), -1), (2, 1, 14), (2, 0, -1)]
)
def test_maps_that_lead_out_of_the_keys_are_a_fault(position: int, at: Any, bad: int) -> None:
    given = arguments()
    changed = given[position].numpy().copy()
    changed[at] = bad
    given[position] = place(changed)
    out = hollow((2, 32, HEADS * CHANNELS), np.float32)
    slopes = [hollow(given[i].shape, np.float32) for i in (0, 3, 4)]
    if position == 1 and bad > 0:
        text = fault("aclnnMultiScaleDeformableAttentionGrad", *given, out, *slopes)
    else:
        text = fault("aclnnMultiScaleDeformableAttnFunction", *given, out)
    assert "spatialShape" in text or "levelStartIndex" in text


def test_what_does_not_fit_is_refused() -> None:
    out = hollow((2, 32, HEADS * CHANNELS), np.float32)
    name = "aclnnMultiScaleDeformableAttnFunction"
    for position, wrong, words in [
        (0, hollow((2, KEYS, HEADS, 12), np.float32), "value has 12 channels"),
        (0, hollow((2, KEYS, HEADS, 264), np.float32), "value has 264 channels"),
        (0, hollow((2, KEYS, 17, 8), np.float32), "value has 17 heads"),
        (1, hollow((2, 3), np.int32), "spatialShape has shape (2, 3)"),
        (1, hollow((17, 2), np.int32), "spatialShape has 17 levels"),
        (2, hollow((3,), np.int32), "levelStartIndex has shape (3,)"),
        (3, hollow((2, 32, 2, 2, 17, 2), np.float32), "location has 17 points"),
        (3, hollow((2, 32, 2, 2, 2, 3), np.float32), "location has shape"),
        (3, hollow((2, 31, 2, 2, 2, 2), np.float32), "location has 31 queries"),
        (4, hollow((2, 32, 2, 2, 3), np.float32), "attnWeight has shape"),
    ]:
        given = arguments()
        given[position] = wrong
        assert words in message(name, 161002, [*given, out])
