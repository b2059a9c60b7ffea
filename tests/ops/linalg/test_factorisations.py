# SPDX-License-Identifier: Apache-2.0
"""Factors of matrices and logarithms of determinants against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, wide

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator


def normal(rng: Rng, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def qr(shape: tuple[int, ...], some: bool) -> Case:
    def build(rng: Rng, dtype: np.dtype[Any]) -> Problem:
        x = normal(rng, shape, dtype)
        q, r = np.linalg.qr(wide(x), "reduced" if some else "complete")
        return [In(x), some, Out(q, dtype, 4), Out(r, dtype, 4)]

    return Case("Qr", build, f"{some}-{'x'.join(map(str, shape))}")


def logdet(rng: Rng, dtype: np.dtype[Any]) -> Problem:
    x = (normal(rng, (2, 3, 5, 5), dtype) + 3 * np.eye(5)).astype(dtype)
    sign, logarithm = np.linalg.slogdet(wide(x))
    if dtype.kind == "c":
        return [In(x), Out(logarithm + 1j * np.angle(sign), dtype, 4)]
    return [In(x), Out(np.where(sign < 0, np.nan, logarithm), dtype, 4)]


def definite(rng: Rng, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    x = rng.standard_normal(shape)
    matrix = (x @ x.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)
    return np.tril(wide(matrix)) + np.tril(wide(matrix), -1).swapaxes(-1, -2)


def cholesky(upper: bool, shape: tuple[int, ...]) -> Case:
    def build(rng: Rng, dtype: np.dtype[Any]) -> Problem:
        matrix = definite(rng, shape, dtype)
        factor = np.linalg.cholesky(matrix)
        # The other triangle is not read.
        given = (np.triu if upper else np.tril)(matrix).astype(dtype)
        result = factor.swapaxes(-1, -2) if upper else factor
        return [In(given), upper, Out(result, dtype, 4)]

    return Case("LinalgCholesky", build, f"{upper}-{'x'.join(map(str, shape))}")


TestFactors = suite(
    [
        *(qr(shape, some) for shape in [(6, 3), (2, 3, 6)] for some in (True, False)),
        Case("Logdet", logdet),
        *(cholesky(upper, (2, 1, 5, 5)) for upper in (True, False)),
        *(cholesky(upper, (300, 300)) for upper in (True, False)),
    ]
)


def test_determinants_without_a_logarithm() -> None:
    x = np.zeros((4, 2, 2))
    x[1] = [[0, 1], [1, 0]]
    x[2] = [[np.nan, 1], [1, 1]]
    x[3] = 1e-200 * np.eye(2)
    out = hollow((4,), np.float64)
    op("aclnnLogdet")(place(x), out)
    assert_close(out.numpy(), np.array([-np.inf, np.nan, np.nan, 2 * np.log(1e-200)]))


def test_a_negative_determinant_has_a_complex_logarithm() -> None:
    out = hollow((), np.complex128)
    op("aclnnLogdet")(place(np.array([[0, 1], [1, 0]], np.complex128)), out)
    assert_close(out.numpy(), np.array(1j * np.pi))


def test_a_matrix_that_is_not_positive_definite_has_no_factor() -> None:
    x = np.stack([np.eye(3), -np.eye(3), np.zeros((3, 3)), np.full((3, 3), np.nan)])
    for upper in (True, False):
        out = hollow(x.shape, np.float32)
        op("aclnnLinalgCholesky")(place(x.astype(np.float32)), upper, out)
        assert_same(out.numpy()[0], np.eye(3, dtype=np.float32))
        assert np.isnan(out.numpy()[1:]).all()


@pytest.mark.parametrize("shape", [(0, 3, 3), (0, 0)], ids=str)
def test_empty_matrices_have_empty_factors(shape: tuple[int, ...]) -> None:
    x, out = place(np.zeros(shape, np.float32)), hollow(shape, np.float32)
    op("aclnnLinalgCholesky")(x, True, out)
    q, r = hollow(shape, np.float32), hollow(shape, np.float32)
    op("aclnnQr")(x, True, q, r)
    assert out.numpy().shape == q.numpy().shape == r.numpy().shape == shape


def test_the_factor_may_lie_on_the_matrix() -> None:
    matrix = definite(np.random.default_rng(2), (4, 4), np.dtype(np.float32)).astype(np.float32)
    x = place(matrix)
    op("aclnnLinalgCholesky")(x, False, x)
    assert_close(x.numpy(), np.linalg.cholesky(wide(matrix)), scale=4)


def test_refusals() -> None:
    f32, f64 = (lambda *s: hollow(s, np.float32)), (lambda *s: hollow(s, np.float64))
    name = "aclnnLinalgCholesky"
    assert "last two dimensions" in message(name, 161002, [f32(3, 2), True, f32(3, 2)])
    assert "self has 1 dim" in message(name, 161002, [f32(3), True, f32(3)])
    half = hollow((3, 3), np.float16)
    assert "out has dtype" in message(name, 161002, [f32(3, 3), True, half])
    assert "Q has shape" in message("aclnnQr", 161002, [f32(4, 3), False, f32(4, 3), f32(4, 3)])
    assert "R has shape" in message("aclnnQr", 161002, [f32(4, 3), True, f32(4, 3), f32(4, 3)])
    assert "self has 1 dim" in message("aclnnQr", 161002, [f32(4), True, f32(4), f32(4)])
    assert "last two dimensions" in message("aclnnLogdet", 161002, [f64(3, 2), f64()])
    assert "self has 1 dim" in message("aclnnLogdet", 161002, [f64(3), f64()])
    complex_matrix = hollow((2, 2), np.complex64)
    assert "COMPLEX64 can" in message("aclnnLogdet", 161002, [complex_matrix, f32()])
