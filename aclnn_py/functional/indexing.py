# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Elements chosen by index or by mask, and sorting."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_tensors_or_numbers
from aclnn_py.functional.promotion import promote
from aclnn_py.functional.shapes import broadcast, replaced
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "argsort",
    "embedding",
    "gather",
    "index_add",
    "index_copy",
    "index_select",
    "masked_fill",
    "scatter",
    "scatter_add",
    "sort",
    "take",
    "take_along",
    "topk",
    "where",
]


@remembered
def where(
    condition: Tensor, input: Tensor, other: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Choose ``input`` where the condition holds, else ``other``.

    Parameters
    ----------
    condition : Tensor
        True where ``input`` is chosen. 0 to 8 dimensions; dtype uint8 | bool.
    input : Tensor
        Broadcast with the other two. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 |
        float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64
        | complex128.
    other : Tensor
        Broadcast with the other two. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 |
        float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64
        | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the three tensors; promoted dtype of ``input`` and ``other``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSWhere (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(condition=condition, input=input, other=other)
    out = empty(broadcast(condition, input, other), promote(input, other), device=condition.device)
    ops.s_where(condition, input, other, out, stream=stream)
    return out


def masked_fill(
    input: Tensor, mask: Tensor, value: Tensor | Number, *, stream: Stream | None = None
) -> Tensor:
    """Copy a tensor and set the elements selected by a mask to one value.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64 | complex128 | float8_e4m3fn |
        float8_e5m2 | hifloat8 | float8_e8m0.
    mask : Tensor
        True for the elements to set, broadcast with ``input``. 0 to 8 dimensions; dtype bool.
    value : Tensor or number
        Value, as a number or as a tensor of one element. 0 dimensions; dtype float32 | float16 |
        bfloat16 | int8 | int32 | int64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of ``input`` and ``mask``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceCopy (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1;
    aclnnInplaceMaskedFillTensor (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1;
    aclnnInplaceMaskedFillScalar (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, mask=mask)
    expect_tensors_or_numbers(value=value)
    out = empty(broadcast(input, mask), input.dtype_name, device=input.device)
    ops.inplace_copy(out, input, stream=stream)
    if isinstance(value, Tensor):
        ops.inplace_masked_fill_tensor(out, mask, value, stream=stream)
    else:
        ops.inplace_masked_fill_scalar(out, mask, value, stream=stream)
    return out


@remembered
def embedding(input: Tensor, weight: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Look up rows of a table.

    Parameters
    ----------
    input : Tensor
        Indices of rows. 0 to 8 dimensions; dtype int32 | int64.
    weight : Tensor
        The table, shape ``(rows, width)``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 |
        float64 | int8 | int16 | int32 | int64 | uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` followed by that of a row; dtype of ``weight``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnEmbedding (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    out = empty((*input.shape, *weight.shape[1:]), weight.dtype_name, device=input.device)
    ops.embedding(weight, input, out, stream=stream)
    return out


@remembered
def index_select(input: Tensor, dim: int, index: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Take whole slices along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64 | complex128.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices along the dimension, one dimension; int32 or int64. 0 to 1 dimensions; dtype int32 |
        int64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with the length of ``index`` in ``dim``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnIndexSelect (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index)
    out = empty(replaced(input.shape, dim, index.count), input.dtype_name, device=input.device)
    ops.index_select(input, dim, index, out, stream=stream)
    return out


@remembered
def take_along(input: Tensor, dim: int, index: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Take slices along a dimension by an index tensor of any shape.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices along the dimension; int32 or int64. 0 to 8 dimensions; dtype int32 | int64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with the shape of ``index`` in place of ``dim``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGatherV2 (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index)
    out = empty(replaced(input.shape, dim, *index.shape), input.dtype_name, device=input.device)
    ops.gather_v2(input, dim, index, out, stream=stream)
    return out


@remembered
def gather(input: Tensor, dim: int, index: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Take single elements along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices along the dimension; int32 or int64. 0 to 8 dimensions; dtype int32 | int64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``index``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGather (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index)
    out = empty(index.shape, input.dtype_name, device=input.device)
    ops.gather(input, dim, index, out, stream=stream)
    return out


@remembered
def take(input: Tensor, index: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Take elements by their position in row-major order.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64 | complex128.
    index : Tensor
        Positions; int32 or int64. 0 to 8 dimensions; dtype int32 | int64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``index``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnTake (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index)
    out = empty(index.shape, input.dtype_name, device=input.device)
    ops.take(input, index, out, stream=stream)
    return out


@remembered
def index_copy(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Copy a tensor and overwrite slices along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices along the dimension, one dimension; int32 or int64. 0 to 1 dimensions; dtype int32 |
        int64.
    source : Tensor
        New slices. Dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 |
        uint8 | bool | complex64 | complex128.
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

    Source
    ------
    aclnnIndexCopy (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index, source=source)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.index_copy(input, dim, index, source, out, stream=stream)
    return out


@remembered
def index_add(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Number = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Copy a tensor and add to slices along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices along the dimension, one dimension; int32 or int64. 0 to 1 dimensions; dtype int32 |
        int64.
    source : Tensor
        Slices to add. Dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 |
        uint8 | bool.
    alpha : number, default 1
        Factor of ``source``.
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

    Source
    ------
    aclnnIndexAdd (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index, source=source)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.index_add(input, dim, index, source, alpha, out, stream=stream)
    return out


@remembered
def scatter_add(
    input: Tensor, dim: int, index: Tensor, src: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Copy a tensor and add to single elements along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices along the dimension; int32 or int64. Dtype int32 | int64.
    src : Tensor
        Elements to add. Dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 | int64
        | uint8 | bool | complex64 | complex128.
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

    Source
    ------
    aclnnScatterAdd (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index, src=src)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.scatter_add(input, dim, index, src, out, stream=stream)
    return out


@remembered
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Copy a tensor and overwrite single elements along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices along the dimension; int32 or int64. 0 to 8 dimensions; dtype int32 | int64.
    src : Tensor
        New elements. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16
        | int32 | int64 | uint8 | bool | complex64 | complex128.
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

    Source
    ------
    aclnnScatter (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index, src=src)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.scatter(input, dim, index, src, 0, out, stream=stream)
    return out


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool = False,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Sort along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 | uint8
        | bool.
    dim : int, default -1
        Dimension; a negative one counts from the last.
    descending : bool, default False
        Whether the largest element comes first.
    stable : bool, default False
        Whether equal elements keep their order.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    values : Tensor
        Elements in order; same shape and dtype as ``input``.
    indices : Tensor
        Index that each element had in ``input``; int64.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSort (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    values = empty(input.shape, input.dtype_name, device=input.device)
    indices = empty(input.shape, "int64", device=input.device)
    ops.sort(input, stable, dim, descending, values, indices, stream=stream)
    return values, indices


@remembered
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stream: Stream | None = None
) -> Tensor:
    """Compute the indices that sort along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 |
        uint8.
    dim : int, default -1
        Dimension; a negative one counts from the last.
    descending : bool, default False
        Whether the largest element comes first.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``; int64.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnArgsort (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, "int64", device=input.device)
    ops.argsort(input, dim, descending, out, stream=stream)
    return out


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Take the largest or smallest elements along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8.
    k : int
        How many elements to take.
    dim : int, default -1
        Dimension; a negative one counts from the last.
    largest : bool, default True
        Whether to take the largest or the smallest.
    sorted : bool, default True
        Whether the result is sorted.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    values : Tensor
        Shape of ``input`` with length ``k`` in ``dim``; the same dtype.
    indices : Tensor
        Index that each element has in ``input``; int64.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnTopk (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_whole(k=k)
    values = empty(replaced(input.shape, dim, k), input.dtype_name, device=input.device)
    indices = empty(replaced(input.shape, dim, k), "int64", device=input.device)
    ops.topk(input, k, dim, largest, sorted, values, indices, stream=stream)
    return values, indices
