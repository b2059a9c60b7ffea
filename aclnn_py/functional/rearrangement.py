# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Copies that join, repeat, cut or reorder tensors."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import check_margins, expect_list
from aclnn_py.functional.promotion import promote
from aclnn_py.functional.shapes import (
    axis,
    joined_shape,
    pad_shape,
    permuted_shape,
    replaced,
    stacked_shape,
    tiled_shape,
    whole_repeats,
)
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "cat",
    "flip",
    "narrow_copy",
    "pad",
    "permute_copy",
    "repeat_interleave",
    "roll",
    "stack",
    "tile",
    "tril",
    "triu",
]


def cat(tensors: Sequence[Tensor], dim: int = 0, *, stream: Stream | None = None) -> Tensor:
    """Join tensors along a dimension.

    Parameters
    ----------
    tensors : sequence of Tensor
        At least one; the shapes are equal except in ``dim``. 1 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool | complex64.
    dim : int, default 0
        Dimension; a negative one counts from the last.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Lengths in ``dim`` added up; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCat (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_list(tensors=tensors)
    out = empty(joined_shape(tensors, dim), promote(*tensors), device=tensors[0].device)
    ops.cat(tensors, dim, out, stream=stream)
    return out


def stack(tensors: Sequence[Tensor], dim: int = 0, *, stream: Stream | None = None) -> Tensor:
    """Join tensors of one shape along a new dimension.

    Parameters
    ----------
    tensors : sequence of Tensor
        At least one; all of the same shape. 0 to 7 dimensions; dtype float32 | float16 | bfloat16 |
        float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64
        | complex128.
    dim : int, default 0
        Position of the new dimension in the result.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        One dimension more than each tensor; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnStack (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_list(tensors=tensors)
    out = empty(stacked_shape(tensors, dim), promote(*tensors), device=tensors[0].device)
    ops.stack(tensors, dim, out, stream=stream)
    return out


@remembered
def pad(
    input: Tensor,
    pad: Sequence[int],
    mode: str = "constant",
    value: Number = 0,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Add elements around a tensor.

    Parameters
    ----------
    input : Tensor
        2 to 3 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    pad : sequence of int
        Number of elements to add before and after each dimension, as pairs; the first pair is for
        the last dimension.
    mode : str, default 'constant'
        'constant' adds ``value``, 'reflect' mirrors at the border, 'replicate' repeats the border.
        The last two take one to three pairs.
    value : number, default 0
        Value to add in mode 'constant'.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Padded shape; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReflectionPad1d (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1; aclnnReflectionPad2d
    (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1; aclnnReflectionPad3d
    (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1; aclnnReplicationPad1d
    (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1; aclnnReplicationPad2d
    (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1; aclnnReplicationPad3d
    (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1; aclnnConstantPadNd
    (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    check_margins(pad, mode)
    out = empty(pad_shape(input.shape, pad), input.dtype_name, device=input.device)
    if mode == "reflect" and len(pad) == 2:
        ops.reflection_pad1d(input, pad, out, stream=stream)
    elif mode == "reflect" and len(pad) == 4:
        ops.reflection_pad2d(input, pad, out, stream=stream)
    elif mode == "reflect" and len(pad) == 6:
        ops.reflection_pad3d(input, pad, out, stream=stream)
    elif mode == "replicate" and len(pad) == 2:
        ops.replication_pad1d(input, pad, out, stream=stream)
    elif mode == "replicate" and len(pad) == 4:
        ops.replication_pad2d(input, pad, out, stream=stream)
    elif mode == "replicate" and len(pad) == 6:
        ops.replication_pad3d(input, pad, out, stream=stream)
    else:
        ops.constant_pad_nd(input, pad, value, out, stream=stream)
    return out


@remembered
def narrow_copy(
    input: Tensor, dim: int, start: int, length: int, *, stream: Stream | None = None
) -> Tensor:
    """Copy a range of one dimension.

    Parameters
    ----------
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32 | int64 | uint8 | bool.
    dim : int
        Dimension; a negative one counts from the last.
    start : int
        First index.
    length : int
        Number of indices.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with ``length`` in ``dim``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSlice (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_whole(start=start, length=length)
    out = empty(replaced(input.shape, dim, length), input.dtype_name, device=input.device)
    ops.slice(input, dim, start, start + length, 1, out, stream=stream)
    return out


@remembered
def tile(input: Tensor, dims: Sequence[int], *, stream: Stream | None = None) -> Tensor:
    """Repeat a tensor along its dimensions.

    Parameters
    ----------
    input : Tensor
        First operand.
    dims : sequence of int
        Number of repeats of each dimension; missing leading ones are 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Repeated shape; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRepeat (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(tiled_shape(input.shape, dims), input.dtype_name, device=input.device)
    ops.repeat(input, whole_repeats(input.shape, dims), out, stream=stream)
    return out


@remembered
def repeat_interleave(
    input: Tensor, repeats: int, dim: int, *, stream: Stream | None = None
) -> Tensor:
    """Repeat each element along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 | uint8
        | bool.
    repeats : int
        Number of times each element appears.
    dim : int
        Dimension; a negative one counts from the last.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with the length in ``dim`` multiplied by ``repeats``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRepeatInterleaveIntWithDim (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_whole(repeats=repeats)
    length = input.shape[axis(dim, input.ndim)] * repeats
    out = empty(replaced(input.shape, dim, length), input.dtype_name, device=input.device)
    ops.repeat_interleave_int_with_dim(input, repeats, dim, length, out, stream=stream)
    return out


@remembered
def permute_copy(input: Tensor, dims: Sequence[int], *, stream: Stream | None = None) -> Tensor:
    """Copy a tensor with its dimensions in another order.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64 | complex128 | float8_e4m3fn |
        float8_e5m2 | hifloat8.
    dims : sequence of int
        All dimensions of ``input``, each once.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Dimension ``i`` is dimension ``dims[i]`` of ``input``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnPermute (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(permuted_shape(input.shape, dims), input.dtype_name, device=input.device)
    ops.permute(input, dims, out, stream=stream)
    return out


@remembered
def flip(input: Tensor, dims: Sequence[int], *, stream: Stream | None = None) -> Tensor:
    """Reverse the order along dimensions.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dims : sequence of int
        Dimensions to reverse.
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
    aclnnFlip (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.flip(input, dims, out, stream=stream)
    return out


@remembered
def roll(
    input: Tensor, shifts: Sequence[int], dims: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Shift elements along dimensions; those that leave at the end re-enter at the start.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 | uint8
        | uint32 | bool.
    shifts : sequence of int
        Distance for each of ``dims``.
    dims : sequence of int
        Dimensions to shift along.
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
    aclnnRoll (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.roll(input, shifts, dims, out, stream=stream)
    return out


@remembered
def tril(input: Tensor, diagonal: int = 0, *, stream: Stream | None = None) -> Tensor:
    """Keep the lower triangle of matrices and set the rest to zero.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    diagonal : int, default 0
        Last diagonal to keep; 0 is the main diagonal.
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
    aclnnTril (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.tril(input, diagonal, out, stream=stream)
    return out


@remembered
def triu(input: Tensor, diagonal: int = 0, *, stream: Stream | None = None) -> Tensor:
    """Keep the upper triangle of matrices and set the rest to zero.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    diagonal : int, default 0
        First diagonal to keep; 0 is the main diagonal.
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
    aclnnTriu (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.triu(input, diagonal, out, stream=stream)
    return out
