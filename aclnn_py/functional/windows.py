# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Convolution and pooling."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import (
    channels_first,
    check_filters,
    expect_optional,
    per_dimension,
)
from aclnn_py.functional.promotion import promote
from aclnn_py.functional.shapes import conv_shape, pooled_shape, transposed_shape, unfolded_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "unfold",
]


@remembered
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Convolve in 1 dimension.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, length)``.
    weight : Tensor
        Shape ``(filters, channels / groups, length)``.
    bias : Tensor, optional
        Shape ``(filters,)``.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    dilation : int or tuple of int, default 1
        Distance between neighbours in a filter.
    groups : int, default 1
        Number of groups of channels that do not mix.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, filters, length)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolution (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    expect_optional(bias=bias)
    check_filters(input, weight, 1)
    stride = per_dimension("stride", stride, 1)
    padding = per_dimension("padding", padding, 1)
    dilation = per_dimension("dilation", dilation, 1)
    out = empty(
        conv_shape(input.shape, weight.shape, stride, padding, dilation),
        promote(input, weight),
        device=input.device,
    )
    ops.convolution(
        input=channels_first(input),
        weight=channels_first(weight),
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=False,
        output_padding=(0,),
        groups=groups,
        output=channels_first(out),
        cube_math_type=cube_math_type,
        stream=stream,
    )
    return out


@remembered
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Convolve in 2 dimensions.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)``.
    weight : Tensor
        Shape ``(filters, channels / groups, height, width)``.
    bias : Tensor, optional
        Shape ``(filters,)``.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    dilation : int or tuple of int, default 1
        Distance between neighbours in a filter.
    groups : int, default 1
        Number of groups of channels that do not mix.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, filters, height, width)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolution (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    expect_optional(bias=bias)
    check_filters(input, weight, 2)
    stride = per_dimension("stride", stride, 2)
    padding = per_dimension("padding", padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    out = empty(
        conv_shape(input.shape, weight.shape, stride, padding, dilation),
        promote(input, weight),
        device=input.device,
    )
    ops.convolution(
        input=channels_first(input),
        weight=channels_first(weight),
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=False,
        output_padding=(0, 0),
        groups=groups,
        output=channels_first(out),
        cube_math_type=cube_math_type,
        stream=stream,
    )
    return out


@remembered
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Convolve in 3 dimensions.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, depth, height, width)``.
    weight : Tensor
        Shape ``(filters, channels / groups, depth, height, width)``.
    bias : Tensor, optional
        Shape ``(filters,)``.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    dilation : int or tuple of int, default 1
        Distance between neighbours in a filter.
    groups : int, default 1
        Number of groups of channels that do not mix.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, filters, depth, height, width)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolution (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    expect_optional(bias=bias)
    check_filters(input, weight, 3)
    stride = per_dimension("stride", stride, 3)
    padding = per_dimension("padding", padding, 3)
    dilation = per_dimension("dilation", dilation, 3)
    out = empty(
        conv_shape(input.shape, weight.shape, stride, padding, dilation),
        promote(input, weight),
        device=input.device,
    )
    ops.convolution(
        input=channels_first(input),
        weight=channels_first(weight),
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=False,
        output_padding=(0, 0, 0),
        groups=groups,
        output=channels_first(out),
        cube_math_type=cube_math_type,
        stream=stream,
    )
    return out


@remembered
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Apply a transposed convolution in 1 dimension.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, length)``.
    weight : Tensor
        Shape ``(channels, filters / groups, length)``.
    bias : Tensor, optional
        Shape ``(filters,)``. 1 to 5 dimensions; dtype float32 | float16 | bfloat16.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements removed from each side of the result.
    output_padding : int or tuple of int, default 0
        Number of elements added at the end of the result; less than ``stride`` or ``dilation``.
    groups : int, default 1
        Number of groups of channels that do not mix.
    dilation : int or tuple of int, default 1
        Distance between neighbours in a filter.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, filters, length)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolution (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    expect_optional(bias=bias)
    check_filters(input, weight, 1)
    stride = per_dimension("stride", stride, 1)
    padding = per_dimension("padding", padding, 1)
    output_padding = per_dimension("output_padding", output_padding, 1)
    dilation = per_dimension("dilation", dilation, 1)
    out = empty(
        transposed_shape(
            input.shape, weight.shape, stride, padding, output_padding, dilation, groups
        ),
        input.dtype_name,
        device=input.device,
    )
    ops.convolution(
        input=channels_first(input),
        weight=channels_first(weight),
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=True,
        output_padding=output_padding,
        groups=groups,
        output=channels_first(out),
        cube_math_type=cube_math_type,
        stream=stream,
    )
    return out


@remembered
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Apply a transposed convolution in 2 dimensions.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)``.
    weight : Tensor
        Shape ``(channels, filters / groups, height, width)``.
    bias : Tensor, optional
        Shape ``(filters,)``. 1 to 5 dimensions; dtype float32 | float16 | bfloat16.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements removed from each side of the result.
    output_padding : int or tuple of int, default 0
        Number of elements added at the end of the result; less than ``stride`` or ``dilation``.
    groups : int, default 1
        Number of groups of channels that do not mix.
    dilation : int or tuple of int, default 1
        Distance between neighbours in a filter.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, filters, height, width)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolution (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    expect_optional(bias=bias)
    check_filters(input, weight, 2)
    stride = per_dimension("stride", stride, 2)
    padding = per_dimension("padding", padding, 2)
    output_padding = per_dimension("output_padding", output_padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    out = empty(
        transposed_shape(
            input.shape, weight.shape, stride, padding, output_padding, dilation, groups
        ),
        input.dtype_name,
        device=input.device,
    )
    ops.convolution(
        input=channels_first(input),
        weight=channels_first(weight),
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=True,
        output_padding=output_padding,
        groups=groups,
        output=channels_first(out),
        cube_math_type=cube_math_type,
        stream=stream,
    )
    return out


@remembered
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Apply a transposed convolution in 3 dimensions.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, depth, height, width)``.
    weight : Tensor
        Shape ``(channels, filters / groups, depth, height, width)``.
    bias : Tensor, optional
        Shape ``(filters,)``. 1 to 5 dimensions; dtype float32 | float16 | bfloat16.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements removed from each side of the result.
    output_padding : int or tuple of int, default 0
        Number of elements added at the end of the result; less than ``stride`` or ``dilation``.
    groups : int, default 1
        Number of groups of channels that do not mix.
    dilation : int or tuple of int, default 1
        Distance between neighbours in a filter.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, filters, depth, height, width)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolution (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    expect_optional(bias=bias)
    check_filters(input, weight, 3)
    stride = per_dimension("stride", stride, 3)
    padding = per_dimension("padding", padding, 3)
    output_padding = per_dimension("output_padding", output_padding, 3)
    dilation = per_dimension("dilation", dilation, 3)
    out = empty(
        transposed_shape(
            input.shape, weight.shape, stride, padding, output_padding, dilation, groups
        ),
        input.dtype_name,
        device=input.device,
    )
    ops.convolution(
        input=channels_first(input),
        weight=channels_first(weight),
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=True,
        output_padding=output_padding,
        groups=groups,
        output=channels_first(out),
        cube_math_type=cube_math_type,
        stream=stream,
    )
    return out


@remembered
def avg_pool2d(
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
    """Average over a moving window of 2 dimensions.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)`` or ``(channels, height, width)``.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    ceil_mode : bool, default False
        Whether to include windows that reach beyond the end of the input.
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
        Shape ``(n, channels, height, width)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAvgPool2d (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 2)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 2)
    padding = per_dimension("padding", padding, 2)
    out = empty(
        pooled_shape(input.shape, kernel_size, stride, padding, ceil_mode=ceil_mode),
        input.dtype_name,
        device=input.device,
    )
    ops.avg_pool2d(
        channels_first(input),
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        0,
        channels_first(out),
        stream=stream,
    )
    return out


@remembered
def max_pool2d(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    ceil_mode: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Find the largest element in a moving window of 2 dimensions.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)`` or ``(channels, height, width)``. 3 to 4 dimensions;
        dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 | uint8 | uint16.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    dilation : int or tuple of int, default 1
        Distance between neighbours in the window.
    ceil_mode : bool, default False
        Whether to include windows that reach beyond the end of the input.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, channels, height, width)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMaxPool (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 2)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 2)
    padding = per_dimension("padding", padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    out = empty(
        pooled_shape(input.shape, kernel_size, stride, padding, dilation, ceil_mode),
        input.dtype_name,
        device=input.device,
    )
    ops.max_pool(
        input, kernel_size, stride, 0, padding, dilation, int(ceil_mode), out, stream=stream
    )
    return out


@remembered
def adaptive_avg_pool2d(
    input: Tensor, output_size: int | tuple[int, ...], *, stream: Stream | None = None
) -> Tensor:
    """Average over cells that divide 2 dimensions evenly.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)`` or ``(channels, height, width)``.
    output_size : int or tuple of int
        Number of cells, one number or one per dimension.
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
    aclnnAdaptiveAvgPool2d (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    output_size = per_dimension("output_size", output_size, 2)
    out = empty((*input.shape[:-2], *output_size), input.dtype_name, device=input.device)
    ops.adaptive_avg_pool2d(channels_first(input), output_size, channels_first(out), stream=stream)
    return out


@remembered
def adaptive_avg_pool3d(
    input: Tensor, output_size: int | tuple[int, ...], *, stream: Stream | None = None
) -> Tensor:
    """Average over cells that divide 3 dimensions evenly.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, depth, height, width)`` or ``(channels, depth, height, width)``. 4 to
        5 dimensions; dtype float32 | float16 | bfloat16.
    output_size : int or tuple of int
        Number of cells, one number or one per dimension.
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
    aclnnAdaptiveAvgPool3d (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    output_size = per_dimension("output_size", output_size, 3)
    out = empty((*input.shape[:-3], *output_size), input.dtype_name, device=input.device)
    ops.adaptive_avg_pool3d(input, output_size, out, stream=stream)
    return out


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    ceil_mode: bool = False,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Find the largest element in a moving window of 2 dimensions, and its index.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)`` or ``(channels, height, width)``. 3 to 4 dimensions;
        dtype float32 | float16 | bfloat16.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    dilation : int or tuple of int, default 1
        Distance between neighbours in the window.
    ceil_mode : bool, default False
        Whether to include windows that reach beyond the end of the input.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Largest elements; dtype of ``input``.
    indices : Tensor
        Their row-major index in ``(height, width)`` of ``input``; int32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMaxPool2dWithIndices (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 2)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 2)
    padding = per_dimension("padding", padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    shape = pooled_shape(input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    out = empty(shape, input.dtype_name, device=input.device)
    indices = empty(shape, "int32", device=input.device)
    ops.max_pool2d_with_indices(
        input, kernel_size, stride, padding, dilation, ceil_mode, out, indices, stream=stream
    )
    return out, indices


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    ceil_mode: bool = False,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Find the largest element in a moving window of 3 dimensions, and its index.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, depth, height, width)`` or ``(channels, depth, height, width)``. 4 to
        5 dimensions; dtype float32 | float16 | bfloat16.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    dilation : int or tuple of int, default 1
        Distance between neighbours in the window.
    ceil_mode : bool, default False
        Whether to include windows that reach beyond the end of the input.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Largest elements; dtype of ``input``.
    indices : Tensor
        Their row-major index in ``(depth, height, width)`` of ``input``; int32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMaxPool3dWithArgmax (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 3)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 3)
    padding = per_dimension("padding", padding, 3)
    dilation = per_dimension("dilation", dilation, 3)
    shape = pooled_shape(input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    out = empty(shape, input.dtype_name, device=input.device)
    indices = empty(shape, "int32", device=input.device)
    ops.max_pool3d_with_argmax(
        input, kernel_size, stride, padding, dilation, ceil_mode, out, indices, stream=stream
    )
    return out, indices


@remembered
def avg_pool3d(
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
    """Average over a moving window of 3 dimensions.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, depth, height, width)`` or ``(channels, depth, height, width)``. 4 to
        5 dimensions; dtype float32 | float16 | bfloat16.
    kernel_size : int or tuple of int
        Size of the window, one number or one per dimension.
    stride : int or tuple of int, optional
        Step of the window; default is ``kernel_size``.
    padding : int or tuple of int, default 0
        Number of elements added on each side.
    ceil_mode : bool, default False
        Whether to include windows that reach beyond the end of the input.
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
        Shape ``(n, channels, depth, height, width)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAvgPool3d (``include/aclnnop/pooling.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 3)
    stride = per_dimension("stride", kernel_size if stride is None else stride, 3)
    padding = per_dimension("padding", padding, 3)
    out = empty(
        pooled_shape(input.shape, kernel_size, stride, padding, ceil_mode=ceil_mode),
        input.dtype_name,
        device=input.device,
    )
    ops.avg_pool3d(
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
def unfold(
    input: Tensor,
    kernel_size: int | tuple[int, ...],
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    stride: int | tuple[int, ...] = 1,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Copy each window of an image into a column.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)``. 3 to 4 dimensions; dtype float32 | float16 |
        bfloat16 | int8 | int16 | int32 | int64 | uint8 | uint16.
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
        Shape ``(n, channels * window, windows)``; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnIm2col (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    kernel_size = per_dimension("kernel_size", kernel_size, 2)
    stride = per_dimension("stride", stride, 2)
    padding = per_dimension("padding", padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    out = empty(
        unfolded_shape(input.shape, kernel_size, stride, padding, dilation),
        input.dtype_name,
        device=input.device,
    )
    ops.im2col(input, kernel_size, dilation, padding, stride, out, stream=stream)
    return out
