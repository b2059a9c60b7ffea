# SPDX-License-Identifier: Apache-2.0
"""Gradients of convolution, pooling and margins: the derivative of the function, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, place, wide
from ops.window.window_oracle import (
    adaptively_pooled,
    columns,
    convolution,
    pooled,
    slopes,
    transposed_convolution,
)

import aclnn_py as ap
from aclnn_py import functional as f

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(11)
SIZES = {1: (5,), 2: (4, 5), 3: (2, 3, 4)}


def drawn(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def distinct(*shape: int) -> Array:
    return (4 * RNG.permutation(int(np.prod(shape))).reshape(shape)).astype(np.float32)


def check(found: ap.Tensor, forward: Callable[[Array], Array], dy: Array, x: Array) -> None:
    assert_close(found.numpy(), slopes(forward, wide(dy), wide(x)), scale=16)


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_convolutions(spatial: int, transposed: bool) -> None:
    x, w = drawn(2, 4, *SIZES[spatial]), drawn(4, 2, *(2,) * spatial)
    one, two = (1,) * spatial, (2,) * spatial

    def forward(image: Array, filters: Array) -> Array:
        if transposed:
            return transposed_convolution(image, filters, two, one, one, one, 2)
        return convolution(image, filters, two, one, one, 2)

    dy = drawn(*forward(wide(x), wide(w)).shape)
    given: dict[str, Any] = {"stride": 2, "padding": 1, "groups": 2}
    given |= {"output_padding": 1} if transposed else {}
    name = f"conv_transpose{spatial}d" if transposed else f"conv{spatial}d"
    made = getattr(f, name)(place(x), place(w), **given)
    assert_close(made.numpy(), forward(wide(x), wide(w)), scale=16)
    backward = getattr(f, f"{name}_backward")
    dx, dw, db = backward(place(dy), place(x), place(w), **given)
    check(dx, lambda part: forward(part, wide(w)), dy, x)
    check(dw, lambda part: forward(wide(x), part), dy, w)
    assert_close(db.numpy(), wide(dy).sum((0, *range(2, dy.ndim))), scale=16)


@pytest.mark.parametrize("spatial", [2, 3])
def test_gradients_of_pools(spatial: int) -> None:
    x = distinct(1, 2, *SIZES[spatial])
    window, step = (2,) * spatial, (1,) * spatial
    sides = [(1, 1)] * spatial

    def largest(part: Array) -> Array:
        return pooled(part, window, step, sides, False, "max")

    def mean(part: Array) -> Array:
        return pooled(part, window, step, sides, False, "mean", False)

    dy = drawn(*largest(x).shape)
    size = {"stride": 1, "padding": 1}
    pool = getattr(f, f"max_pool{spatial}d_with_indices")
    out, indices = pool(place(x), 2, **size)
    assert_same(out.numpy(), largest(x).astype(np.float32))
    back = getattr(f, f"max_pool{spatial}d_with_indices_backward")
    check(back(place(dy), place(x), indices, 2, **size), largest, dy, x)
    back = getattr(f, f"avg_pool{spatial}d_backward")
    check(back(place(dy), place(x), 2, count_include_pad=False, **size), mean, dy, x)


@pytest.mark.parametrize("spatial", [2, 3])
def test_gradients_of_cells_and_the_inverse_of_pools(spatial: int) -> None:
    x, counts = distinct(1, 2, *SIZES[spatial]), (2,) * spatial
    out, indices = getattr(f, f"adaptive_max_pool{spatial}d")(place(x), 2)
    assert_same(out.numpy(), adaptively_pooled(x, counts, "max").astype(np.float32))
    assert_close(indices.numpy(), adaptively_pooled(x, counts, "place").astype(indices.dtype))
    dy = drawn(*out.shape)
    back = getattr(f, f"adaptive_max_pool{spatial}d_backward")(place(dy), place(x), indices)
    check(back, lambda part: adaptively_pooled(part, counts, "max"), dy, x)
    back = getattr(f, f"adaptive_avg_pool{spatial}d_backward")(place(dy), place(x))
    check(back, lambda part: adaptively_pooled(part, counts, "mean"), dy, x)
    whole = getattr(f, f"max_unpool{spatial}d")(out, indices, SIZES[spatial]).numpy()
    wanted = np.zeros((2, int(np.prod(SIZES[spatial]))), np.float32)
    np.put_along_axis(wanted, indices.numpy().reshape(2, -1), out.numpy().reshape(2, -1), 1)
    assert_same(whole, wanted.reshape(x.shape))


@pytest.mark.parametrize(
    ("kind", "mode", "most"),
    [("reflection", "reflect", 1), ("replication", "edge", 1), ("circular", "wrap", 2)],
)
def test_gradients_of_margins(kind: str, mode: str, most: int) -> None:
    for spatial in range(most, 4):
        x, pad = drawn(1, 2, *SIZES[spatial]), [1, 0] * spatial
        sides = [(0, 0), (0, 0), *[(1, 0)] * spatial]

        def forward(part: Array, sides: Any = sides) -> Array:
            return np.asarray(np.pad(part, sides, mode=mode))  # type: ignore[call-overload]

        if kind == "circular":
            made = getattr(f, f"circular_pad{spatial}d")(place(x), pad)
            assert_same(made.numpy(), forward(x))
        dy = drawn(*forward(x).shape)
        back = getattr(f, f"{kind}_pad{spatial}d_backward")
        check(back(place(dy), place(x), pad), forward, dy, x)


def test_fold_adds_up_what_unfold_copies() -> None:
    x = drawn(2, 2, 4, 5)
    dy = drawn(*columns(x, (2, 3), (1, 1), (1, 0), (1, 2)).shape)
    found = f.fold(place(dy), (4, 5), (2, 3), 1, (1, 0), (1, 2))
    check(found, lambda part: columns(part, (2, 3), (1, 1), (1, 0), (1, 2)), dy, x)
    with pytest.raises(ValueError, match="input: shape"):
        f.fold(place(dy[:, :5]), 4, 2)
