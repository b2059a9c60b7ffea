# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and eigenvectors of symmetric and Hermitian matrices: what defines them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import xp

_RNG = np.random.default_rng(12)


def _matrices(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    found = _RNG.standard_normal(shape) * 5
    if dtype[0] == "c":
        found = found + 1j * _RNG.standard_normal(shape)
    return found.astype(dtype)


def _whole(a: np.ndarray, triangle: str) -> np.ndarray:
    """The matrix of which LAPACK reads one triangle, and of the diagonal the real parts."""
    half = np.tril(a, -1) if triangle == "L" else np.triu(a, 1)
    diagonal = np.einsum("...ii->...i", a).real
    return half + half.conj().swapaxes(-1, -2) + np.eye(a.shape[-1]) * diagonal[..., None, :]


def expect_eigen(result: Any, a: np.ndarray, triangle: str) -> None:
    values, vectors = (np.asarray(item) for item in result)
    wanted = np.linalg.eigvalsh(a, triangle)
    assert values.dtype == wanted.dtype and vectors.dtype == np.linalg.eigh(a)[1].dtype
    n = a.shape[-1]
    limit = 8 * n * float(np.finfo(values.dtype).eps)
    size = np.abs(wanted).max()
    np.testing.assert_allclose(values, wanted, rtol=0, atol=limit * size)
    assert (np.diff(values, axis=-1) >= 0).all()
    whole = _whole(a, triangle)
    np.testing.assert_allclose(
        whole @ vectors, vectors * values[..., None, :], rtol=0, atol=4 * limit * size
    )
    products = vectors.conj().swapaxes(-1, -2) @ vectors
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(n), a.shape), atol=4 * limit)


@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 5), (2, 3, 4, 4), (40, 40)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4"])
def test_eigh_of_a_triangle(device, dtype: str, shape: tuple[int, ...], triangle: str) -> None:
    a = _matrices(dtype, shape)
    t = ap.from_numpy(a)
    result = np.linalg.eigh(t, UPLO=triangle)
    expect_eigen(result, a, triangle)
    np.testing.assert_array_equal(
        np.asarray(np.linalg.eigvalsh(t, triangle)), result.eigenvalues.numpy()
    )


def test_equal_zero_large_and_small_eigenvalues(device) -> None:
    turned = np.linalg.qr(_RNG.standard_normal((4, 4)))[0]
    for values in ([3.0, 3, 3, -1], [0.0, 0, 0, 2], [1e-300] * 4, [1e300, -1e300, 1e300, 0]):
        a = (turned * values) @ turned.T
        expect_eigen(np.linalg.eigh(ap.from_numpy(a)), (a + a.T) / 2, "L")
    assert (np.linalg.eigvalsh(ap.zeros((3, 3), "float32")).numpy() == 0).all()


def test_the_standards_functions(device) -> None:
    a = _whole(_matrices("c8", (3, 3)), "L")
    result = xp.linalg.eigh(ap.from_numpy(a))
    expect_eigen((result.eigenvalues, result.eigenvectors), a, "L")
    found = xp.linalg.eigvalsh(ap.from_numpy(a)).numpy()
    np.testing.assert_array_equal(found, result.eigenvalues.numpy())


def test_matrices_without_elements(device) -> None:
    for shape in ((0, 3, 3), (2, 0, 0)):
        values, vectors = np.linalg.eigh(ap.zeros(shape, "float64"))
        assert values.shape == shape[:-1] and vectors.shape == shape


def test_what_is_no_square_matrix_and_no_triangle_is_refused(device) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.eigh(ap.zeros((2, 3), "float32"))
    with pytest.raises(ValueError, match="UPLO"):
        np.linalg.eigh(ap.zeros((2, 2), "float32"), UPLO="X")
    with pytest.raises(np.linalg.LinAlgError, match="converge"):
        np.linalg.eigvalsh(ap.full((3, 3), float("nan"), "float32"))
