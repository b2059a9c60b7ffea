# SPDX-License-Identifier: Apache-2.0
"""Powers of the sums of runs and their gradient against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, wide
from helpers.slopes import slopes

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")

F32 = np.float32


def powers(x: Array) -> Array:
    """By the steps of the document; the sums may be complex."""
    length = x.shape[-1]
    below = np.tril(np.ones((length, length), bool), -1)
    spread = np.where(below, np.broadcast_to(x[..., None], (*x.shape, length)), 0)
    return np.where(below | np.eye(length, dtype=bool), np.exp(spread.cumsum(-2)), 0)


def forward(shape: tuple[int, ...]) -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        x = (-rng.random(shape)).astype(dtype)
        return [In(x), Out(powers(wide(x)), dtype, 2)]

    return Case("ExpSegsum", build, "x".join(map(str, shape)))


def backward(shape: tuple[int, ...]) -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        x = -rng.random(shape)
        made = powers(x).astype(dtype)
        grad = rng.standard_normal(made.shape).astype(dtype)
        product = np.tril(wide(grad) * wide(made), -1)
        sums = np.tril(np.flip(np.flip(product, -2).cumsum(-2), -2), -1)
        return [In(grad), In(made), Out(sums.sum(-1), dtype, 2)]

    return Case("ExpSegsumBackward", build, "x".join(map(str, shape)))


SHAPES = [(2, 3, 5), (1, 2, 1, 9), (2, 2, 1)]
TestRuns = suite([*map(forward, SHAPES), *map(backward, SHAPES)])


def test_the_gradient_is_the_derivative() -> None:
    rng = np.random.default_rng(3)
    x, grad = rng.standard_normal((2, 1, 6)).astype(F32), rng.standard_normal((2, 1, 6, 6))
    made, slope = hollow((2, 1, 6, 6), F32), hollow((2, 1, 6), F32)
    op("aclnnExpSegsum")(place(x), made)
    op("aclnnExpSegsumBackward")(place(grad.astype(F32)), made, slope)
    (exact,) = slopes(powers, [x], grad.astype(F32))
    assert_close(slope.numpy(), exact, scale=40)


def test_rows_wider_than_what_one_thread_takes() -> None:
    x = (-np.random.default_rng(4).random((1, 2, 300)) / 50).astype(F32)
    made = hollow((1, 2, 300, 300), F32)
    op("aclnnExpSegsum")(place(x), made)
    assert_close(made.numpy(), powers(wide(x)), scale=4)


@pytest.mark.parametrize("shape", [(2, 0, 3), (2, 3, 0)], ids=str)
def test_no_elements(shape: tuple[int, ...]) -> None:
    made = hollow((*shape, shape[-1]), F32)
    op("aclnnExpSegsum")(place(np.zeros(shape, F32)), made)
    slope = hollow(shape, F32)
    op("aclnnExpSegsumBackward")(made, made, slope)
    assert slope.numpy().size == made.numpy().size == 0


def test_refusals() -> None:
    f32 = lambda *shape: hollow(shape, F32)  # noqa: E731
    assert "self has 2 dim" in message("aclnnExpSegsum", 161002, [f32(3, 4), f32(3, 4, 4)])
    assert "out has shape" in message("aclnnExpSegsum", 161002, [f32(1, 3, 4), f32(1, 3, 4, 5)])
    half = hollow((1, 3, 4, 4), np.float16)
    assert "out has dtype" in message("aclnnExpSegsum", 161002, [f32(1, 3, 4), half])
    name, whole = "aclnnExpSegsumBackward", f32(1, 3, 4, 4)
    assert "gradSelf has shape" in message(name, 161002, [whole, f32(1, 3, 4, 5), f32(1, 3, 4)])
    assert "gradOutput has shape" in message(name, 161002, [whole, whole, f32(1, 3, 5)])
    assert "gradSelf has dtype" in message(name, 161002, [whole, half, f32(1, 3, 4)])
