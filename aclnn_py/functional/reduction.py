# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Sums, extremes and norms over dimensions; running sums."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import check_matrix
from aclnn_py.functional.promotion import DTypeLike, floating, promote, sum_type
from aclnn_py.functional.shapes import given_dims, reduced_dims, reduced_shape
from aclnn_py.operators.describe.argument_errors import expect_flags, expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "exp_segsum",
    "exp_segsum_backward",
    "logsumexp",
    "mean",
    "norm",
    "prod",
    "std",
    "sum",
    "var",
    "vector_norm",
]


@remembered
def sum(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Add elements along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    dtype : dtype-like, optional
        Element type of the sum; default is int64 for integers and bool, else that of ``input``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReduceSum (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = given_dims(dim)
    out = empty(
        reduced_shape(input.shape, dims, keepdim), sum_type(input, dtype), device=input.device
    )
    ops.reduce_sum(input, dims, keepdim, out.dtype_name, out, stream=stream)
    return out


@remembered
def mean(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Average elements along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | complex64 | complex128.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    dtype : dtype-like, optional
        Element type of the result; default is float32 for integers and bool, else that of
        ``input``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMean (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(
        reduced_shape(input.shape, dims, keepdim),
        floating(promote(input)) if dtype is None else dtype,
        device=input.device,
    )
    ops.mean(input, dims, keepdim, out.dtype_name, out, stream=stream)
    return out


@remembered
def prod(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply elements, all of them or along one dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dim : int, optional
        Dimension to reduce; default is all of them.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    dtype : dtype-like, optional
        Element type of the product; default is int64 for integers and bool, else that of ``input``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; with ``dim`` the shape of ``input`` without the dimension, or with length 1
        there.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnProd (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnProdDim
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_flags(keepdim=keepdim)
    out = empty(
        () if dim is None else reduced_shape(input.shape, (dim,), keepdim),
        sum_type(input, dtype),
        device=input.device,
    )
    if dim is None:
        ops.prod(input, out.dtype_name, out, stream=stream)
    else:
        ops.prod_dim(input, dim, keepdim, out.dtype_name, out, stream=stream)
    return out


@remembered
def amax(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Find the largest element along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAmax (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), input.dtype_name, device=input.device)
    ops.amax(input, dims, keepdim, out, stream=stream)
    return out


@remembered
def amin(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Find the smallest element along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAmin (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), input.dtype_name, device=input.device)
    ops.amin(input, dims, keepdim, out, stream=stream)
    return out


@remembered
def any(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Test whether any element along dimensions is nonzero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAny (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), "bool", device=input.device)
    ops.any(input, dims, keepdim, out, stream=stream)
    return out


@remembered
def all(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Test whether all elements along dimensions are nonzero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAll (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), "bool", device=input.device)
    ops.all(input, dims, keepdim, out, stream=stream)
    return out


@remembered
def logsumexp(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the logarithm of the sum of exponentials along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 | uint8
        | bool.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; float32 for
        integers and bool, else the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLogSumExp (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(
        reduced_shape(input.shape, dims, keepdim), floating(promote(input)), device=input.device
    )
    ops.log_sum_exp(input, dims, keepdim, out, stream=stream)
    return out


@remembered
def argmax(
    input: Tensor, dim: int, *, keepdim: bool = False, stream: Stream | None = None
) -> Tensor:
    """Find the index of the first largest element along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8.
    dim : int
        Dimension; a negative one counts from the last.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Indices, int64. Shape of ``input`` without the dimension, or with length 1 there.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnArgMax (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(reduced_shape(input.shape, (dim,), keepdim), "int64", device=input.device)
    ops.arg_max(input, dim, keepdim, out, stream=stream)
    return out


@remembered
def argmin(
    input: Tensor, dim: int, *, keepdim: bool = False, stream: Stream | None = None
) -> Tensor:
    """Find the index of the first smallest element along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8.
    dim : int
        Dimension; a negative one counts from the last.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Indices, int64. Shape of ``input`` without the dimension, or with length 1 there.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnArgMin (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(reduced_shape(input.shape, (dim,), keepdim), "int64", device=input.device)
    ops.arg_min(input, dim, keepdim, out, stream=stream)
    return out


@remembered
def var(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    correction: int = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the variance along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    correction : int, default 1
        The divisor is the number of elements minus this.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnVarCorrection (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), input.dtype_name, device=input.device)
    ops.var_correction(input, dims, correction, keepdim, out, stream=stream)
    return out


@remembered
def std(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    correction: int = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the standard deviation along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    correction : int, default 1
        The divisor is the number of elements minus this.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnStd (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), input.dtype_name, device=input.device)
    ops.std(input, dims, correction, keepdim, out, stream=stream)
    return out


@remembered
def cumsum(
    input: Tensor, dim: int, *, dtype: DTypeLike | None = None, stream: Stream | None = None
) -> Tensor:
    """Compute the running sum along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | complex64 | complex128.
    dim : int
        Dimension; a negative one counts from the last.
    dtype : dtype-like, optional
        Element type of the sum; default is int64 for integers and bool, else that of ``input``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCumsum (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, sum_type(input, dtype), device=input.device)
    ops.cumsum(input, dim, out.dtype_name, out, stream=stream)
    return out


@remembered
def cumprod(
    input: Tensor, dim: int, *, dtype: DTypeLike | None = None, stream: Stream | None = None
) -> Tensor:
    """Compute the running product along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64.
    dim : int
        Dimension; a negative one counts from the last.
    dtype : dtype-like, optional
        Element type of the product; default is int64 for integers and bool, else that of ``input``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCumprod (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, sum_type(input, dtype), device=input.device)
    ops.cumprod(input, dim, out.dtype_name, out, stream=stream)
    return out


@remembered
def vector_norm(
    input: Tensor,
    ord: Number = 2,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the norm of vectors along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    ord : number, default 2
        Order of the norm.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLinalgVectorNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = given_dims(dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), input.dtype_name, device=input.device)
    ops.linalg_vector_norm(input, ord, dims, keepdim, out.dtype_name, out, stream=stream)
    return out


@remembered
def norm(
    input: Tensor,
    p: Number = 2,
    dim: int | tuple[int, ...] = (),
    keepdim: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the p-norm of elements along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    p : number, default 2
        Order of the norm.
    dim : int or tuple of int, default ()
        Dimensions to reduce; default is all.
    keepdim : bool, default False
        Whether to keep reduced dimensions with length 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` without the reduced dimensions, or with length 1 there; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    dims = reduced_dims(input, dim)
    out = empty(reduced_shape(input.shape, dims, keepdim), input.dtype_name, device=input.device)
    ops.norm(input, p, dims, keepdim, out, stream=stream)
    return out


@remembered
def exp_segsum(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the powers of the sums of all runs of each row.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., n)`` of 3 or 4 dimensions. 3 to 4 dimensions; dtype float32 | float16 |
        bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(..., n, n)``: at ``i, j`` the power of the sum of the elements behind ``j`` up to
        ``i``, and 0 above the diagonal.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnExpSegsum (``include/aclnnop/math.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input)
    check_matrix(input)
    out = empty((*input.shape, input.shape[-1]), input.dtype_name, device=input.device)
    ops.exp_segsum(input, out, stream=stream)
    return out


@remembered
def exp_segsum_backward(grad: Tensor, output: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the gradient of `exp_segsum`.

    Parameters
    ----------
    grad : Tensor
        Shape ``(..., n, n)``. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    output : Tensor
        The result of `exp_segsum`. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(..., n)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnExpSegsumBackward (``include/aclnnop/math.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(grad=grad, output=output)
    out = empty(grad.shape[:-1], grad.dtype_name, device=grad.device)
    ops.exp_segsum_backward(grad, output, out, stream=stream)
    return out
