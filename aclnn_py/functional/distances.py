# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Distances between the rows of matrices, and scaling to equal sums."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import check_matrix
from aclnn_py.functional.promotion import promote
from aclnn_py.functional.shapes import matmul_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "cdist",
    "cdist_backward",
    "pdist",
    "sinkhorn",
]


@remembered
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, *, stream: Stream | None = None) -> Tensor:
    """Compute the distance between each row of one matrix and each row of another.

    Parameters
    ----------
    x1 : Tensor
        Shape ``(..., m, k)``. 2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    x2 : Tensor
        Shape ``(..., n, k)``. 2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    p : float, default 2.0
        Order of the norm.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(..., m, n)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCdist (``include/aclnnop/math.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2)
    out = empty(
        matmul_shape(x1.shape, x2.transpose(-2, -1).shape), promote(x1, x2), device=x1.device
    )
    ops.cdist(x1, x2, p, 0, out, stream=stream)
    return out


@remembered
def cdist_backward(
    grad: Tensor,
    x1: Tensor,
    x2: Tensor,
    cdist: Tensor,
    p: float = 2.0,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of `cdist` for ``x1``.

    Parameters
    ----------
    grad : Tensor
        Gradient of the distances, shape ``(..., m, n)``. 2 to 7 dimensions; dtype float32 | float16
        | bfloat16.
    x1 : Tensor
        Shape ``(..., m, k)``, with the batch of ``grad``. Dtype float32 | float16 | bfloat16.
    x2 : Tensor
        Shape ``(..., n, k)``; its batch is broadcast to that of ``grad``. Dtype float32 | float16 |
        bfloat16.
    cdist : Tensor
        The distances. Dtype float32 | float16 | bfloat16.
    p : float, default 2.0
        Order of the norm.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``x1``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    A distance of 0 has no gradient.

    Source
    ------
    aclnnCdistBackward (``include/aclnnop/math.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(grad=grad, x1=x1, x2=x2, cdist=cdist)
    out = empty(x1.shape, x1.dtype_name, device=grad.device)
    ops.cdist_backward(grad, x1, x2, cdist, p, out, stream=stream)
    return out


@remembered
def pdist(input: Tensor, p: float = 2.0, *, stream: Stream | None = None) -> Tensor:
    """Compute the distances between the rows of a matrix, each pair once.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, k)``. 2 dimensions; dtype float32 | float16.
    p : float, default 2.0
        Order of the norm.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n * (n - 1) / 2,)``: the distances of row 0 to those behind it, then those of row
        1.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnPdist (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    check_matrix(input)
    out = empty((len(input) * (len(input) - 1) // 2,), input.dtype_name, device=input.device)
    ops.pdist(input, p, out, stream=stream)
    return out


@remembered
def sinkhorn(cost: Tensor, tol: Number = 0.0001, *, stream: Stream | None = None) -> Tensor:
    """Scale the powers of a matrix until its rows, and its columns, have equal sums.

    Parameters
    ----------
    cost : Tensor
        Shape ``(rows, columns)``, with values in 0 to 1. 2 dimensions; dtype float32 | float16 |
        bfloat16.
    tol : number, default 0.0001
        Mean change of the scales at which to stop.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``cost``; the sum of all elements is 1.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSinkhorn (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(cost=cost)
    out = empty(cost.shape, cost.dtype_name, device=cost.device)
    ops.sinkhorn(cost, tol, out, stream=stream)
    return out
