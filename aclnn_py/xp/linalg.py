# SPDX-License-Identifier: Apache-2.0
"""The extension ``linalg`` of the array API standard."""

from __future__ import annotations

from typing import Any

from aclnn_py.array import decompositions, linear
from aclnn_py.array.decompositions import linalg_cholesky as cholesky
from aclnn_py.array.decompositions import linalg_matrix_norm as matrix_norm
from aclnn_py.array.decompositions import linalg_svdvals as svdvals
from aclnn_py.array.decompositions import linalg_vector_norm as vector_norm
from aclnn_py.array.linear import linalg_cross as cross
from aclnn_py.array.linear import linalg_vecdot as vecdot
from aclnn_py.array.products import matmul
from aclnn_py.array.shaping import linalg_diagonal as diagonal
from aclnn_py.array.shaping import linalg_trace as trace
from aclnn_py.array.shaping import matrix_transpose
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.xp.functions import tensordot

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def det(x: Tensor, /) -> Tensor:
    """Determinant."""
    return decompositions.linalg_det(x)


def eigh(x: Tensor, /) -> decompositions.Eigh:
    """Eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""
    return decompositions.linalg_eigh(x)


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of a symmetric or Hermitian matrix."""
    return decompositions.linalg_eigvalsh(x)


def inv(x: Tensor, /) -> Tensor:
    """Inverse."""
    return decompositions.linalg_inv(x)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Product of a matrix with itself."""
    return decompositions.linalg_matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """Number of singular values that are not small."""
    result: Tensor = decompositions.linalg_matrix_rank(x, rtol=rtol)
    return result


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Products of each element of one vector with each of the other."""
    return linear.outer(x1, x2)


def pinv(x: Tensor, /, *, rtol: Any = None) -> Tensor:
    """Pseudo-inverse."""
    return decompositions.linalg_pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> decompositions.QR:
    """Orthogonal and triangular factor."""
    result: decompositions.QR = decompositions.linalg_qr(x, mode)
    return result


def slogdet(x: Tensor, /) -> decompositions.SlogDet:
    """Sign and logarithm of the determinant."""
    return decompositions.linalg_slogdet(x)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Solution of linear equations."""
    return decompositions.linalg_solve(x1, x2)


def svd(x: Tensor, /, *, full_matrices: bool = True) -> decompositions.SVD:
    """Singular values and vectors."""
    result: decompositions.SVD = decompositions.linalg_svd(x, full_matrices)
    return result
