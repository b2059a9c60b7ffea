# SPDX-License-Identifier: Apache-2.0
"""Distances between the rows of a matrix, and the gradient of those between two, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, wide
from helpers.slopes import slopes

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
ORDERS = (0.0, 0.5, 1.0, 2.0, 3.5, np.inf)


def norm(apart: Array, p: float) -> Array:
    """The norm of the last dimension; analytic where an order allows it."""
    size = np.where(apart.real < 0, -apart, apart)
    if p == 0:
        return (size != 0).sum(-1).astype(np.float64)
    if np.isinf(p):
        chosen = size.real.argmax(-1)[..., None]
        return np.take_along_axis(size, chosen, -1)[..., 0]
    return (size**p).sum(-1) ** (1 / p)


def between(x1: Array, x2: Array, p: float) -> Array:
    return norm(x1[..., :, None, :] - x2[..., None, :, :], p)


def pairs(p: float, scalar: bool) -> Case:
    def build(rng: Rng, dtype: np.dtype[Any]) -> Problem:
        x = rng.standard_normal((7, 5)).astype(dtype)
        x[3] = x[1]
        i, j = np.triu_indices(7, 1)
        order = ap.Scalar(p, "float32") if scalar else p
        return [In(x), order, Out(norm(wide(x)[i] - wide(x)[j], p), dtype, 4)]

    return Case("PdistForward" if scalar else "Pdist", build, f"{p:g}")


def gradient(p: float) -> Case:
    def build(rng: Rng, dtype: np.dtype[Any]) -> Problem:
        x1, x2 = (rng.standard_normal(s).astype(dtype) for s in ((2, 1, 4, 5), (1, 1, 6, 5)))
        x1[0, 0, 1], x2[0, 0, 2, 0] = x2[0, 0, 3], x1[1, 0, 2, 0]
        grad = rng.standard_normal((2, 1, 4, 6)).astype(dtype)
        lengths = between(wide(x1), wide(x2), p).astype(dtype)
        apart = wide(x1)[..., :, None, :] - wide(x2)[..., None, :, :]
        if p == 0:
            slope = np.zeros_like(apart)
        elif np.isinf(p):
            size = np.abs(apart)
            slope = np.sign(apart) * (size == size.max(-1, keepdims=True))
        else:
            with np.errstate(all="ignore"):
                slope = np.sign(apart) * (np.abs(apart) / wide(lengths)[..., None]) ** (p - 1)
            slope = np.where((apart == 0) | (wide(lengths)[..., None] == 0), 0, slope)
        result = (wide(grad)[..., None] * slope).sum(-2)
        return [In(grad), In(x1), In(x2), In(lengths), p, Out(result, dtype, 4)]

    return Case("CdistBackward", build, f"{p:g}")


TestDistances = suite(
    [
        *(pairs(p, scalar) for p, scalar in [(p, p == 2) for p in ORDERS]),
        *(gradient(p) for p in ORDERS),
    ]
)


@pytest.mark.parametrize("p", ORDERS[1:])
def test_the_gradient_is_the_derivative(p: float) -> None:
    rng = np.random.default_rng(4)
    x1, x2, grad = (rng.standard_normal(s).astype(np.float32) for s in ((3, 4), (5, 4), (3, 5)))
    lengths = between(wide(x1), wide(x2), p).real.astype(np.float32)
    out = hollow(x1.shape, np.float32)
    op("aclnnCdistBackward")(*(place(one) for one in (grad, x1, x2, lengths)), p, out)
    exact, _ = slopes(lambda a, b: between(a, b, p), [x1, x2], grad)
    assert_close(out.numpy(), exact, scale=20)


def test_a_row_at_distance_0_has_no_gradient() -> None:
    x = place(np.ones((2, 3), np.float32))
    grad, lengths = place(np.ones((2, 2), np.float32)), place(np.zeros((2, 2), np.float32))
    for p in ORDERS:
        out = hollow((2, 3), np.float32)
        op("aclnnCdistBackward")(grad, x, x, lengths, p, out)
        assert_same(out.numpy(), np.zeros((2, 3), np.float32), f"p {p}")


def test_rows_longer_than_a_block_and_more_than_one_block_of_pairs() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((1100, 3)).astype(np.float32)
    out = hollow((1100 * 1099 // 2,), np.float32)
    op("aclnnPdist")(place(x), 1.0, out)
    i, j = np.triu_indices(1100, 1)
    assert_close(out.numpy(), np.abs(wide(x)[i] - wide(x)[j]).sum(-1), scale=2)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (3, 0)], ids=str)
def test_few_rows_and_empty_ones(shape: tuple[int, int]) -> None:
    pairs_of = shape[0] * (shape[0] - 1) // 2
    out = hollow((pairs_of,), np.float32)
    op("aclnnPdist")(place(np.ones(shape, np.float32)), 2.0, out)
    assert_same(out.numpy(), np.zeros(pairs_of, np.float32))


def test_refusals() -> None:
    x, half = hollow((4, 3), np.float32), hollow((4, 3), np.float16)
    out = hollow((6,), np.float32)
    for p in (-1.0, float("nan")):
        assert "p is" in message("aclnnPdist", 161002, [x, p, out])
        scalar = ap.Scalar(p, "float32")
        assert "pScalar is" in message("aclnnPdistForward", 161002, [x, scalar, out])
    assert "self has 1 dim" in message("aclnnPdist", 161002, [hollow((4,), np.float32), 2.0, out])
    assert "out has dtype" in message("aclnnPdist", 161002, [half, 2.0, out])
    assert "out has shape" in message("aclnnPdist", 161002, [x, 2.0, out[:5]])
    name, grad, other = "aclnnCdistBackward", hollow((4, 5), np.float32), hollow((5, 3), np.float32)
    for arguments, says in [
        ((grad, x, other, grad, -1.0, x), "p is -1"),
        ((grad, x, other[:4], grad, 2.0, x), "x2 has shape (4, 3)"),
        ((grad, x, other[:, :2], grad, 2.0, x), "x2 has shape (5, 2)"),
        ((grad, x[:3], other, grad, 2.0, x[:3]), "x1 has shape"),
        ((grad, x, other, grad[:, :4], 2.0, x), "cdist has shape"),
        ((grad, x, other, grad, 2.0, x[:, :2]), "out has shape"),
        ((grad, x, other.reshape(1, 5, 3), grad, 2.0, x), "x2 has 3 dimensions"),
        ((grad, half, other, grad, 2.0, x), "x1 has dtype"),
    ]:
        assert says in message(name, 161002, arguments)
