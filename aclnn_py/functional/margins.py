# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Margins that hold the other side, gradients of margins, and the inverse of ``unfold``."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import per_dimension
from aclnn_py.functional.shapes import folded_shape, pad_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "circular_pad2d",
    "circular_pad2d_backward",
    "circular_pad3d",
    "circular_pad3d_backward",
    "fold",
    "reflection_pad1d_backward",
    "reflection_pad2d_backward",
    "reflection_pad3d_backward",
    "replication_pad1d_backward",
    "replication_pad2d_backward",
    "replication_pad3d_backward",
]


@remembered
def circular_pad2d(input: Tensor, pad: Sequence[int], *, stream: Stream | None = None) -> Tensor:
    """Add margins in 2 dimensions that hold the other side of the tensor.

    Parameters
    ----------
    input : Tensor
        3 to 4 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
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
    aclnnCircularPad2d (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(pad_shape(input.shape, pad), input.dtype_name, device=input.device)
    ops.circular_pad2d(input, pad, out, stream=stream)
    return out


@remembered
def circular_pad3d(input: Tensor, pad: Sequence[int], *, stream: Stream | None = None) -> Tensor:
    """Add margins in 3 dimensions that hold the other side of the tensor.

    Parameters
    ----------
    input : Tensor
        4 to 5 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
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
    aclnnCircularPad3d (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(pad_shape(input.shape, pad), input.dtype_name, device=input.device)
    ops.circular_pad3d(input, pad, out, stream=stream)
    return out


@remembered
def reflection_pad1d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by reflection in 1 dimension.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    input : Tensor
        As in the function. 2 to 3 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReflectionPad1dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.reflection_pad1d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def reflection_pad2d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by reflection in 2 dimensions.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    input : Tensor
        As in the function. 3 to 4 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReflectionPad2dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.reflection_pad2d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def reflection_pad3d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by reflection in 3 dimensions.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    input : Tensor
        As in the function. 4 to 5 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReflectionPad3dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.reflection_pad3d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def replication_pad1d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by replication in 1 dimension.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    input : Tensor
        As in the function. 2 to 3 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReplicationPad1dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.replication_pad1d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def replication_pad2d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by replication in 2 dimensions.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    input : Tensor
        As in the function. 3 to 4 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReplicationPad2dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.replication_pad2d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def replication_pad3d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by replication in 3 dimensions.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    input : Tensor
        As in the function. 4 to 5 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnReplicationPad3dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.replication_pad3d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def circular_pad2d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by circular in 2 dimensions.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16.
    input : Tensor
        As in the function. 3 to 4 dimensions; dtype float32 | float16 | bfloat16.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCircularPad2dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.circular_pad2d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def circular_pad3d_backward(
    grad_output: Tensor, input: Tensor, pad: Sequence[int], *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of margins made by circular in 3 dimensions.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. Dtype float32 | float16 | bfloat16.
    input : Tensor
        As in the function. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    pad : sequence of int
        Number of elements added before and after each dimension, as pairs; the first pair is for
        the last dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCircularPad3dBackward (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.circular_pad3d_backward(grad_output, input, pad, out, stream=stream)
    return out


@remembered
def fold(
    input: Tensor,
    output_size: int | tuple[int, ...],
    kernel_size: int | tuple[int, ...],
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    stride: int | tuple[int, ...] = 1,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Add up columns where the windows that they were copied from overlap.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels * window, windows)`` or without ``n``, as ``unfold`` returns it. 2 to 3
        dimensions; dtype float32 | float16 | bfloat16.
    output_size : int or tuple of int
        Height and width of the result.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    dilation : int or tuple of int, default 1
        Distance between neighbours in the window.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    stride : int or tuple of int, default 1
        Step of the window.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, channels, height, width)`` or without ``n``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnIm2colBackward (``include/aclnnop/image.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    output_size = per_dimension("output_size", output_size, 2)
    kernel_size = per_dimension("kernel_size", kernel_size, 2)
    stride = per_dimension("stride", stride, 2)
    padding = per_dimension("padding", padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    out = empty(
        folded_shape(input.shape, output_size, kernel_size), input.dtype_name, device=input.device
    )
    ops.im2col_backward(
        input, output_size, kernel_size, dilation, padding, stride, out, stream=stream
    )
    return out
