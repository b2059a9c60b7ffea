# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Gradients of pooling, adaptive maxima, and the inverses of pools."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import channels_first, per_dimension
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "adaptive_avg_pool2d_backward",
    "adaptive_avg_pool3d_backward",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_backward",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_backward",
    "avg_pool2d_backward",
    "avg_pool3d_backward",
    "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices_backward",
    "max_unpool2d",
    "max_unpool3d",
]


@remembered
def avg_pool2d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``avg_pool2d`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    ceil_mode : bool, default False
        Whether there are windows that reach beyond the end of the input.
    count_include_pad : bool, default True
        Whether the padding counts towards the divisor.
    divisor_override : int, default 0
        Divisor; 0 for the size of the window.
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
    aclnnAvgPool2dBackward (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 2)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 2)
    padding = per_dimension("padding", padding, 2)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.avg_pool2d_backward(
        grad_output=channels_first(grad_output),
        self=channels_first(input),
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
        cube_math_type=0,
        grad_input=channels_first(out),
        stream=stream,
    )
    return out


@remembered
def avg_pool3d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``avg_pool3d`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        As in the function. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    ceil_mode : bool, default False
        Whether there are windows that reach beyond the end of the input.
    count_include_pad : bool, default True
        Whether the padding counts towards the divisor.
    divisor_override : int, default 0
        Divisor; 0 for the size of the window.
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
    aclnnAvgPool3dBackward (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 3)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 3)
    padding = per_dimension("padding", padding, 3)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.avg_pool3d_backward(
        grad_output,
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        out,
        stream=stream,
    )
    return out


@remembered
def max_pool2d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    indices: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    ceil_mode: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``max_pool2d_with_indices`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function; float32 for two dimensions.
    indices : Tensor
        Indices that the function returned; int32.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    ceil_mode : bool, default False
        Whether there are windows that reach beyond the end of the input.
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
    aclnnMaxPool2dWithIndicesBackward (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, indices=indices)
    kernel_size = per_dimension("kernel_size", kernel_size, 2)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 2)
    padding = per_dimension("padding", padding, 2)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.max_pool2d_with_indices_backward(
        grad_output,
        input,
        indices,
        kernel_size,
        stride,
        padding,
        (1, 1),
        ceil_mode,
        out,
        stream=stream,
    )
    return out


@remembered
def max_pool3d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    indices: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    ceil_mode: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``max_pool3d_with_indices`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    indices : Tensor
        Indices that the function returned; int32.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    ceil_mode : bool, default False
        Whether there are windows that reach beyond the end of the input.
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
    aclnnMaxPool3dWithArgmaxBackward (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, indices=indices)
    kernel_size = per_dimension("kernel_size", kernel_size, 3)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 3)
    padding = per_dimension("padding", padding, 3)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.max_pool3d_with_argmax_backward(
        grad_output,
        input,
        indices,
        kernel_size,
        stride,
        padding,
        (1, 1, 1),
        ceil_mode,
        out,
        stream=stream,
    )
    return out


@remembered
def adaptive_avg_pool2d_backward(
    grad_output: Tensor, input: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``adaptive_avg_pool2d`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. 3 to 4 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        As in the function. 3 to 4 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnAdaptiveAvgPool2dBackward (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.adaptive_avg_pool2d_backward(grad_output, input, out, stream=stream)
    return out


def adaptive_max_pool2d(
    input: Tensor, output_size: int | tuple[int, ...], *, stream: Stream | None = None
) -> tuple[Tensor, Tensor]:
    """Find the largest element of cells that divide 2 dimensions evenly, and its index.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)`` or without ``n``.
    output_size : int or tuple of int
        Number of cells, one number or one per dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``input`` with ``output_size`` as the last dimensions; the same dtype.
    indices : Tensor
        Row-major indices in ``(height, width)`` of ``input``; int64.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAdaptiveMaxPool2d (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    output_size = per_dimension("output_size", output_size, 2)
    out = empty((*input.shape[:-2], *output_size), input.dtype_name, device=input.device)
    indices = empty((*input.shape[:-2], *output_size), "int64", device=input.device)
    ops.adaptive_max_pool2d(
        channels_first(input),
        output_size,
        channels_first(out),
        channels_first(indices),
        stream=stream,
    )
    return out, indices


@remembered
def adaptive_max_pool2d_backward(
    grad_output: Tensor, input: Tensor, indices: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``adaptive_max_pool2d`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. 3 to 4 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        As in the function. 3 to 4 dimensions; dtype float32 | float16 | bfloat16.
    indices : Tensor
        Indices that the function returned. 3 to 4 dimensions; dtype int32 | int64.
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
    aclnnAdaptiveMaxPool2dBackward (``include/aclnnop/pooling.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, indices=indices)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.adaptive_max_pool2d_backward(grad_output, input, indices, out, stream=stream)
    return out


@remembered
def adaptive_avg_pool3d_backward(
    grad_output: Tensor, input: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``adaptive_avg_pool3d`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        As in the function. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnAdaptiveAvgPool3dBackward (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.adaptive_avg_pool3d_backward(grad_output, input, out, stream=stream)
    return out


def adaptive_max_pool3d(
    input: Tensor, output_size: int | tuple[int, ...], *, stream: Stream | None = None
) -> tuple[Tensor, Tensor]:
    """Find the largest element of cells that divide 3 dimensions evenly, and its index.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, depth, height, width)`` or without ``n``.
    output_size : int or tuple of int
        Number of cells, one number or one per dimension.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``input`` with ``output_size`` as the last dimensions; the same dtype.
    indices : Tensor
        Row-major indices in ``(depth, height, width)`` of ``input``; int32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAdaptiveMaxPool3d (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    output_size = per_dimension("output_size", output_size, 3)
    out = empty((*input.shape[:-3], *output_size), input.dtype_name, device=input.device)
    indices = empty((*input.shape[:-3], *output_size), "int32", device=input.device)
    ops.adaptive_max_pool3d(
        channels_first(input),
        output_size,
        channels_first(out),
        channels_first(indices),
        stream=stream,
    )
    return out, indices


@remembered
def adaptive_max_pool3d_backward(
    grad_output: Tensor, input: Tensor, indices: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``adaptive_max_pool3d`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        As in the function. 4 to 5 dimensions; dtype float32 | float16 | bfloat16.
    indices : Tensor
        Indices that the function returned. 4 to 5 dimensions; dtype int32 | int64.
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
    aclnnAdaptiveMaxPool3dBackward (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, indices=indices)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.adaptive_max_pool3d_backward(grad_output, input, indices, out, stream=stream)
    return out


@remembered
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    output_size: int | tuple[int, ...],
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Put elements where a pool found them, and zeros elsewhere.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)`` or without ``n``. 3 to 4 dimensions; dtype float32 |
        float16 | float64 | int8 | int16 | int32 | int64 | uint8.
    indices : Tensor
        Row-major index of each element in the last 2 dimensions of the result; int32 or int64. 3 to
        4 dimensions; dtype int32 | int64.
    output_size : int or tuple of int
        Last 2 dimensions of the result.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with ``output_size`` as the last dimensions; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMaxUnpool2d (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, indices=indices)
    output_size = per_dimension("output_size", output_size, 2)
    out = empty((*input.shape[:-2], *output_size), input.dtype_name, device=input.device)
    ops.max_unpool2d(input, indices, output_size, out, stream=stream)
    return out


@remembered
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    output_size: int | tuple[int, ...],
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Put elements where a pool found them, and zeros elsewhere.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, depth, height, width)`` or without ``n``.
    indices : Tensor
        Row-major index of each element in the last 3 dimensions of the result; int32 or int64.
    output_size : int or tuple of int
        Last 3 dimensions of the result.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with ``output_size`` as the last dimensions; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMaxUnpool3d (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, indices=indices)
    output_size = per_dimension("output_size", output_size, 3)
    out = empty((*input.shape[:-3], *output_size), input.dtype_name, device=input.device)
    ops.max_unpool3d(input, indices, output_size, [1, 1, 1], [0, 0, 0], out, stream=stream)
    return out
