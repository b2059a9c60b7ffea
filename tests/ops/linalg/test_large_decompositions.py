# SPDX-License-Identifier: Apache-2.0
"""Factors and singular values of matrices of more than one block, and of unusual ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import Array, hollow, op, place

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
CLOSE = 1e-11


def adjoint(x: Array) -> Array:
    return np.conj(x.swapaxes(-1, -2))


def normal(shape: tuple[int, ...], kind: type[Any] = float) -> Array:
    rng = np.random.default_rng(shape[-1])
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if kind is complex else x


def svd(x: Array, full: bool = True, vectors: bool = True) -> tuple[Array, Array, Array]:
    *batch, m, n = x.shape
    k = min(m, n)
    shapes = [(k,), (m, m if full else k), (n, n if full else k)]
    sigma, u, v = (hollow((*batch, *shape), x.dtype) for shape in shapes)
    op("aclnnSvd")(place(x), full, vectors, sigma, u, v)
    return sigma.numpy().real, u.numpy(), v.numpy()


def qr(x: Array, complete: bool = False) -> tuple[Array, Array]:
    m, n = x.shape
    k = m if complete else min(m, n)
    q, r = hollow((m, k), x.dtype), hollow((k, n), x.dtype)
    op("aclnnLinalgQr")(place(x), int(complete), q, r)
    return q.numpy(), r.numpy()


def assert_unitary(x: Array, close: float = CLOSE) -> None:
    units = np.broadcast_to(np.eye(x.shape[-1]), (*x.shape[:-2], *x.shape[-1:] * 2))
    np.testing.assert_allclose(adjoint(x) @ x, units, atol=close)


def expect_svd(x: Array, full: bool = True, close: float = CLOSE) -> Array:
    """Descending values with unitary vectors that give the matrix again; its scale is free."""
    size = float(abs(x).max()) or 1.0
    s, u, v = svd(x, full)
    k = s.shape[-1]
    assert (s[..., :-1] >= s[..., 1:]).all() and (s >= 0).all()
    for basis in (u, v):
        assert_unitary(basis, close)
    product = (u[..., :k] * (s / size)[..., None, :]) @ adjoint(v[..., :k])
    np.testing.assert_allclose(product, x / size, atol=close * k)
    np.testing.assert_allclose(svd(x, full, vectors=False)[0], s, rtol=close, atol=close * size)
    return s


SHAPES = [(130, 130), (200, 90), (90, 200), (1, 100), (100, 1), (64, 64), (65, 64), (3, 40, 40)]


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_singular_values_of_several_blocks(shape: tuple[int, ...], kind: type[Any]) -> None:
    x = normal(shape, kind)
    oracle = np.linalg.svd(x, compute_uv=False)
    for full in (True, False):
        np.testing.assert_allclose(expect_svd(x, full), oracle, rtol=CLOSE)


def rotated(values: Array) -> Array:
    """A matrix with these singular values."""
    n = len(values)
    left, right = (
        np.linalg.qr(np.random.default_rng(i).standard_normal((n, n)))[0] for i in (1, 2)
    )
    return (left * values) @ right


UNUSUAL = {
    "zeros": np.zeros((70, 70)),
    "ones": np.ones((70, 50)),
    "rank 5": normal((100, 5)) @ normal((5, 90)),
    "equal values": rotated(np.repeat([3.0, 1.0, 0.0], [30, 30, 20])),
    "all values equal": rotated(np.ones(70)),
    "one great value": rotated(np.repeat([1e12, 1.0], [1, 79])),
    "graded values": rotated(np.logspace(0, -30, 80)),
    "graded columns": normal((80, 80)) * np.logspace(0, -300, 80),
    "graded rows": normal((80, 80)) * np.logspace(-300, 0, 80)[:, None],
    "with zeros on the diagonal": np.triu(normal((40, 40)), 1),
    "a chain": np.diag(np.ones(69), 1),
    "split": np.diag(np.arange(90.0)) + np.diag([1.0, 0, 0] * 29 + [1, 0], 1),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_singular_values_of_unusual_matrices(name: str) -> None:
    x = UNUSUAL[name]
    oracle = np.linalg.svd(x, compute_uv=False)
    for given in (x, x.T.copy(), x[::-1, ::-1].copy()):
        found = expect_svd(given, close=1e-10)
        np.testing.assert_allclose(found, oracle, rtol=1e-10, atol=1e-13 * max(oracle[0], 1e-300))


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_decompositions_neither_overflow_nor_lose_small_numbers(size: float) -> None:
    x = normal((90, 70))
    np.testing.assert_allclose(
        expect_svd(x * size) / size, np.linalg.svd(x, compute_uv=False), rtol=CLOSE
    )
    q, r = qr(x * size)
    for found, oracle in zip((q, r / size), np.linalg.qr(x), strict=True):
        np.testing.assert_allclose(found, oracle, atol=CLOSE)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_float32_keeps_its_tolerance_at_the_ends_of_its_range(size: float) -> None:
    x = (normal((90, 70)) * size).astype(np.float32)
    wide = x.astype(np.float64)
    s, u, v = svd(x)
    np.testing.assert_allclose(s, np.linalg.svd(wide, compute_uv=False), rtol=1e-6)
    np.testing.assert_allclose((u[:, :70] * s) @ v.T / size, wide / size, atol=1e-5)
    q, r = qr(x)
    oracle = np.linalg.qr(wide)
    np.testing.assert_allclose(q, oracle[0], atol=1e-6)
    np.testing.assert_allclose(r / size, oracle[1] / size, atol=1e-5)


def test_the_least_singular_values_have_all_their_digits() -> None:
    # Bidiagonal, so that its elements determine each value to rounding; the determinant tells.
    diagonal = np.logspace(0, -120, 60)
    for order in (diagonal, diagonal[::-1]):
        x = np.diag(order) + np.diag(0.7 * order[1:], -1)
        s = svd(x, vectors=False)[0]
        np.testing.assert_allclose(np.log(s).sum(), np.log(diagonal).sum(), rtol=1e-13)
        assert s[-1] > 1e-121


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_gives_nan_and_ends(value: float) -> None:
    x = normal((2, 80, 80))
    x[0, 50, 60] = value
    for part in svd(x):
        assert np.isnan(part[0]).all() and np.isfinite(part[1]).all()
    assert all(np.isnan(part).any() for part in qr(x[0]))


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("shape", [(200, 200), (200, 70), (70, 200), (65, 64)], ids=str)
def test_orthogonal_factors_of_several_blocks(
    shape: tuple[int, ...], kind: type[Any], complete: bool
) -> None:
    x = normal(shape, kind)
    q, r = qr(x, complete)
    oracle = np.linalg.qr(x, "complete" if complete else "reduced")
    np.testing.assert_allclose(r, oracle[1], atol=CLOSE)
    assert_unitary(q)
    np.testing.assert_allclose(q @ r, x, atol=CLOSE)
    k = min(shape)
    np.testing.assert_allclose(q[:, :k], oracle[0][:, :k], atol=CLOSE)


@pytest.mark.parametrize("name", UNUSUAL)
def test_orthogonal_factors_of_unusual_matrices(name: str) -> None:
    for x in (UNUSUAL[name], UNUSUAL[name].T.copy()):
        q, r = qr(x)
        assert_unitary(q)
        np.testing.assert_array_equal(np.tril(r, -1), 0)
        np.testing.assert_allclose(q @ r, x, atol=CLOSE * (float(abs(x).max()) or 1.0))
