# SPDX-License-Identifier: Apache-2.0
"""The gradient of the distances to nearest points, against their derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import Array, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

STEP = 1e-6


def distances(x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    apart = ((x[:, :, None] - y[:, None]) ** 2).sum(-1)
    return apart.min(2), apart.min(1), apart.argmin(2), apart.argmin(1)


def case(points: int, others: int) -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        x, y = (rng.normal(size=(2, n, 2)).astype(dtype) for n in (points, others))
        g, h = (rng.normal(size=(2, n)).astype(dtype) for n in (points, others))
        *_, near, far = distances(wide(x), wide(y))
        slopes = []
        for which, given in enumerate((x, y)):
            slope = np.empty(given.shape)
            for at in np.ndindex(given.shape):
                ends = []
                for step in (STEP, -STEP):
                    moved = [wide(x).copy(), wide(y).copy()]
                    moved[which][at] += step
                    one, two, *_ = distances(*moved)
                    ends.append((wide(g) * one).sum() + (wide(h) * two).sum())
                slope[at] = (ends[0] - ends[1]) / (2 * STEP)
            slopes.append(Out(slope, dtype, 4))
        return [
            *(In(x), In(y), In(near.astype(np.int32)), In(far.astype(np.int32))),
            *(In(g), In(h), *slopes),
        ]

    return Case("ChamferDistanceBackward", build, f"{points}-{others}")


TestGradient = suite([case(5, 5), case(3, 7)])


def test_many_points_with_one_nearest() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(1, 5000, 2)).astype(np.float32), np.zeros((1, 1, 2), np.float32)
    g, h = np.ones((1, 5000), np.float32), np.zeros((1, 1), np.float32)
    near, far = np.zeros((1, 5000), np.int32), np.zeros((1, 1), np.int32)
    of_x, of_y = hollow(x.shape, np.float32), hollow(y.shape, np.float32)
    ap.ops.chamfer_distance_backward(*map(place, (x, y, near, far, g, h)), of_x, of_y)
    assert_same(of_x.numpy(), 2 * x)
    assert_same(of_y.numpy(), (-2 * wide(x).sum(1, keepdims=True)).astype(np.float32))


def test_no_points() -> None:
    x, g = ap.empty((2, 0, 2), np.float32), ap.empty((2, 0), np.float32)
    near = ap.empty((2, 0), np.int32)
    ap.ops.chamfer_distance_backward(x, x, near, near, g, g, x, x)
    ap.synchronize()


def test_what_does_not_fit_is_refused() -> None:
    name = "aclnnChamferDistanceBackward"
    x, near, g = hollow((2, 3, 2), np.float32), hollow((2, 3), np.int32), hollow((2, 3), np.float32)
    good = [x, x, near, near, g, g, x, x]
    for position, wrong in [
        (1, hollow((1, 3, 2), np.float32)),
        (0, hollow((2, 3, 3), np.float32)),
        (2, hollow((2, 4), np.int32)),
        (5, hollow((3, 2), np.float32)),
        (7, hollow((2, 4, 2), np.float32)),
        (3, hollow((2, 3), np.int64)),
    ]:
        assert refusal(name, *[wrong if i == position else a for i, a in enumerate(good)]) == 161002
    text = message(name, 161002, [hollow((2, 3), np.float32), *good[1:]])
    assert "xyz1 has 2 dimensions" in text


@pytest.mark.parametrize("index", [-1, 3])
@pytest.mark.parametrize("which", ["idx1", "idx2"])
def test_a_point_that_does_not_exist_is_a_fault(index: int, which: str) -> None:
    x, g = hollow((1, 3, 2), np.float32), hollow((1, 3), np.float32)
    good, bad = np.zeros((1, 3), np.int32), np.array([[0, index, 0]], np.int32)
    pair = (bad, good) if which == "idx1" else (good, bad)
    call = (x, x, *map(place, pair), g, g, x, x)
    text = fault("aclnnChamferDistanceBackward", *call)
    assert which in text and str(index) in text
