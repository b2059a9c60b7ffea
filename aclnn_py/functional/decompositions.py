# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Solutions, factors, inverses and determinants of matrices."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import check_matrix, qr_mode
from aclnn_py.functional.shapes import matmul_shape, qr_shapes
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "cholesky",
    "inverse",
    "logdet",
    "qr",
    "slogdet",
    "svd",
    "triangular_solve",
]


def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Solve ``A x = input`` for a triangular matrix ``A``.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., n, k)``. 2 to 8 dimensions; dtype float32 | float64 | complex64 | complex128.
    A : Tensor
        Shape ``(..., n, n)``. 2 to 8 dimensions; dtype float32 | float64 | complex64 | complex128.
    upper : bool, default True
        Whether to read the upper or the lower triangle.
    transpose : bool, default False
        Whether to transpose ``A``.
    unitriangular : bool, default False
        Whether to take the diagonal as ones.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    x : Tensor
        The solution, shape ``(..., n, k)``; batch dimensions are broadcast.
    m : Tensor
        A copy of ``A``, broadcast to the batch dimensions of ``x``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnTriangularSolve (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, A=A)
    x = empty(matmul_shape(A.shape, input.shape), input.dtype_name, device=input.device)
    m = empty(
        (*matmul_shape(A.shape, input.shape)[:-1], A.shape[-1]), A.dtype_name, device=input.device
    )
    ops.triangular_solve(input, A, upper, transpose, unitriangular, x, m, stream=stream)
    return x, m


def qr(
    input: Tensor, mode: str = "reduced", *, stream: Stream | None = None
) -> tuple[Tensor, Tensor]:
    """Factor a matrix into an orthogonal and an upper triangular matrix.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., m, n)``. 2 to 8 dimensions; dtype float32 | float16 | float64 | complex64 |
        complex128.
    mode : str, default 'reduced'
        'reduced', 'complete' with a square ``q``, or 'r' for ``r`` alone.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    q : Tensor
        Orthogonal matrix; without elements in mode 'r'.
    r : Tensor
        Upper triangular matrix.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLinalgQr (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    check_matrix(input)
    q_shape, r_shape = qr_shapes(input.shape, mode)
    q = empty(q_shape, input.dtype_name, device=input.device)
    r = empty(r_shape, input.dtype_name, device=input.device)
    ops.linalg_qr(input, qr_mode(mode), q, r, stream=stream)
    return q, r


def svd(
    input: Tensor, full_matrices: bool = True, *, stream: Stream | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the singular value decomposition ``u @ diag(sigma) @ v.T``.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., m, n)``. 2 to 8 dimensions; dtype float32 | float64 | complex64 | complex128.
    full_matrices : bool, default True
        Whether ``u`` and ``v`` are square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    u : Tensor
        Left singular vectors, in columns.
    sigma : Tensor
        Singular values, in descending order.
    v : Tensor
        Right singular vectors, in columns.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The signs of the vectors are not specified. On the emulator a matrix with NaN or infinity gives
    NaN everywhere.

    Source
    ------
    aclnnSvd (``include/aclnnop/math.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input)
    check_matrix(input)
    *batch, m, n = input.shape
    u = empty((*batch, m, m if full_matrices else min(m, n)), input.dtype_name, device=input.device)
    sigma = empty((*batch, min(m, n)), input.dtype_name, device=input.device)
    v = empty((*batch, n, n if full_matrices else min(m, n)), input.dtype_name, device=input.device)
    ops.svd(input, full_matrices, True, sigma, u, v, stream=stream)
    return u, sigma, v


@remembered
def cholesky(input: Tensor, upper: bool = False, *, stream: Stream | None = None) -> Tensor:
    """Factor symmetric positive definite matrices into a triangular one and its transpose.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., n, n)``. 2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    upper : bool, default False
        Whether the result is the upper factor; the triangle it names is the one that is read.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    On the emulator a matrix that is not positive definite gives NaN.

    Source
    ------
    aclnnLinalgCholesky (``include/aclnnop/math.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.linalg_cholesky(input, upper, out, stream=stream)
    return out


def slogdet(input: Tensor, *, stream: Stream | None = None) -> tuple[Tensor, Tensor]:
    """Compute the sign and the logarithm of the absolute value of a determinant.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., n, n)``. 2 to 8 dimensions; dtype float32 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    sign : Tensor
        1 or -1, or 0 for a singular matrix.
    logabsdet : Tensor
        Logarithm of the absolute value.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSlogdet (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceOne
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceZero (``include/aclnnop/math.h``),
    CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    check_matrix(input)
    sign = empty(input.shape[:-2], input.dtype_name, device=input.device)
    logabsdet = empty(input.shape[:-2], input.dtype_name, device=input.device)
    if 0 not in input.shape:
        ops.slogdet(input, sign, logabsdet, stream=stream)
    else:
        ops.inplace_one(sign, stream=stream)
        ops.inplace_zero(logabsdet, stream=stream)
    return sign, logabsdet


@remembered
def logdet(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the logarithm of a determinant.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., n, n)``. 2 to 8 dimensions; dtype float32 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        NaN for a negative determinant, -inf for a singular matrix.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLogdet (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceZero
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    check_matrix(input)
    out = empty(input.shape[:-2], input.dtype_name, device=input.device)
    if 0 not in input.shape:
        ops.logdet(input, out, stream=stream)
    else:
        ops.inplace_zero(out, stream=stream)
    return out


@remembered
def inverse(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Invert square matrices.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., n, n)``. 2 to 8 dimensions; dtype float32 | float16 | float64 | complex64 |
        complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    On the emulator the inverse of a singular matrix is NaN.

    Source
    ------
    aclnnInverse (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.inverse(input, out, stream=stream)
    return out
