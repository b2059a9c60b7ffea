# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Gradients of convolution."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import channels_first, check_filters, per_dimension
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "conv1d_backward",
    "conv2d_backward",
    "conv3d_backward",
    "conv_transpose1d_backward",
    "conv_transpose2d_backward",
    "conv_transpose3d_backward",
]


def conv1d_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``conv1d`` with respect to its input, weight and bias.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    weight : Tensor
        As in the function.
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
    grad_input : Tensor
        Gradient with respect to ``input``; its shape and dtype.
    grad_weight : Tensor
        Gradient with respect to ``weight``; its shape and dtype.
    grad_bias : Tensor
        Gradient with respect to the bias. Shape ``(filters,)``; dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolutionBackward (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, weight=weight)
    check_filters(input, weight, 1)
    stride = per_dimension("stride", stride, 1)
    padding = per_dimension("padding", padding, 1)
    dilation = per_dimension("dilation", dilation, 1)
    filters = weight.shape[0]
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(weight.shape, weight.dtype_name, device=grad_output.device)
    grad_bias = empty((filters,), grad_output.dtype_name, device=grad_output.device)
    ops.convolution_backward(
        grad_output=channels_first(grad_output),
        input=channels_first(input),
        weight=channels_first(weight),
        bias_sizes=[filters],
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=False,
        output_padding=(0,),
        groups=groups,
        output_mask=[True, True, True],
        cube_math_type=cube_math_type,
        grad_input=channels_first(grad_input),
        grad_weight=channels_first(grad_weight),
        grad_bias=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def conv2d_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``conv2d`` with respect to its input, weight and bias.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    weight : Tensor
        As in the function.
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
    grad_input : Tensor
        Gradient with respect to ``input``; its shape and dtype.
    grad_weight : Tensor
        Gradient with respect to ``weight``; its shape and dtype.
    grad_bias : Tensor
        Gradient with respect to the bias. Shape ``(filters,)``; dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolutionBackward (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, weight=weight)
    check_filters(input, weight, 2)
    stride = per_dimension("stride", stride, 2)
    padding = per_dimension("padding", padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    filters = weight.shape[0]
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(weight.shape, weight.dtype_name, device=grad_output.device)
    grad_bias = empty((filters,), grad_output.dtype_name, device=grad_output.device)
    ops.convolution_backward(
        grad_output=channels_first(grad_output),
        input=channels_first(input),
        weight=channels_first(weight),
        bias_sizes=[filters],
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=False,
        output_padding=(0, 0),
        groups=groups,
        output_mask=[True, True, True],
        cube_math_type=cube_math_type,
        grad_input=channels_first(grad_input),
        grad_weight=channels_first(grad_weight),
        grad_bias=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def conv3d_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``conv3d`` with respect to its input, weight and bias.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    weight : Tensor
        As in the function.
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
    grad_input : Tensor
        Gradient with respect to ``input``; its shape and dtype.
    grad_weight : Tensor
        Gradient with respect to ``weight``; its shape and dtype.
    grad_bias : Tensor
        Gradient with respect to the bias. Shape ``(filters,)``; dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolutionBackward (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, weight=weight)
    check_filters(input, weight, 3)
    stride = per_dimension("stride", stride, 3)
    padding = per_dimension("padding", padding, 3)
    dilation = per_dimension("dilation", dilation, 3)
    filters = weight.shape[0]
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(weight.shape, weight.dtype_name, device=grad_output.device)
    grad_bias = empty((filters,), grad_output.dtype_name, device=grad_output.device)
    ops.convolution_backward(
        grad_output=channels_first(grad_output),
        input=channels_first(input),
        weight=channels_first(weight),
        bias_sizes=[filters],
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=False,
        output_padding=(0, 0, 0),
        groups=groups,
        output_mask=[True, True, True],
        cube_math_type=cube_math_type,
        grad_input=channels_first(grad_input),
        grad_weight=channels_first(grad_weight),
        grad_bias=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def conv_transpose1d_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``conv_transpose1d`` with respect to its input, weight and bias.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    weight : Tensor
        As in the function.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements removed from each side of the result.
    output_padding : int or tuple of int, default 0
        Number of elements added at the end of the result.
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
    grad_input : Tensor
        Gradient with respect to ``input``; its shape and dtype.
    grad_weight : Tensor
        Gradient with respect to ``weight``; its shape and dtype.
    grad_bias : Tensor
        Gradient with respect to the bias. Shape ``(filters,)``; dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolutionBackward (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, weight=weight)
    check_filters(input, weight, 1)
    stride = per_dimension("stride", stride, 1)
    padding = per_dimension("padding", padding, 1)
    dilation = per_dimension("dilation", dilation, 1)
    output_padding = per_dimension("output_padding", output_padding, 1)
    filters = weight.shape[1] * groups
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(weight.shape, weight.dtype_name, device=grad_output.device)
    grad_bias = empty((filters,), grad_output.dtype_name, device=grad_output.device)
    ops.convolution_backward(
        grad_output=channels_first(grad_output),
        input=channels_first(input),
        weight=channels_first(weight),
        bias_sizes=[filters],
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=True,
        output_padding=output_padding,
        groups=groups,
        output_mask=[True, True, True],
        cube_math_type=cube_math_type,
        grad_input=channels_first(grad_input),
        grad_weight=channels_first(grad_weight),
        grad_bias=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def conv_transpose2d_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``conv_transpose2d`` with respect to its input, weight and bias.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    weight : Tensor
        As in the function.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements removed from each side of the result.
    output_padding : int or tuple of int, default 0
        Number of elements added at the end of the result.
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
    grad_input : Tensor
        Gradient with respect to ``input``; its shape and dtype.
    grad_weight : Tensor
        Gradient with respect to ``weight``; its shape and dtype.
    grad_bias : Tensor
        Gradient with respect to the bias. Shape ``(filters,)``; dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolutionBackward (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, weight=weight)
    check_filters(input, weight, 2)
    stride = per_dimension("stride", stride, 2)
    padding = per_dimension("padding", padding, 2)
    dilation = per_dimension("dilation", dilation, 2)
    output_padding = per_dimension("output_padding", output_padding, 2)
    filters = weight.shape[1] * groups
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(weight.shape, weight.dtype_name, device=grad_output.device)
    grad_bias = empty((filters,), grad_output.dtype_name, device=grad_output.device)
    ops.convolution_backward(
        grad_output=channels_first(grad_output),
        input=channels_first(input),
        weight=channels_first(weight),
        bias_sizes=[filters],
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=True,
        output_padding=output_padding,
        groups=groups,
        output_mask=[True, True, True],
        cube_math_type=cube_math_type,
        grad_input=channels_first(grad_input),
        grad_weight=channels_first(grad_weight),
        grad_bias=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def conv_transpose3d_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    output_padding: int | tuple[int, ...] = 0,
    groups: int = 1,
    dilation: int | tuple[int, ...] = 1,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``conv_transpose3d`` with respect to its input, weight and bias.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function.
    weight : Tensor
        As in the function.
    stride : int or tuple of int, default 1
        Step of the filters.
    padding : int or tuple of int, default 0
        Number of elements removed from each side of the result.
    output_padding : int or tuple of int, default 0
        Number of elements added at the end of the result.
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
    grad_input : Tensor
        Gradient with respect to ``input``; its shape and dtype.
    grad_weight : Tensor
        Gradient with respect to ``weight``; its shape and dtype.
    grad_bias : Tensor
        Gradient with respect to the bias. Shape ``(filters,)``; dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvolutionBackward (``include/aclnnop/conv.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, weight=weight)
    check_filters(input, weight, 3)
    stride = per_dimension("stride", stride, 3)
    padding = per_dimension("padding", padding, 3)
    dilation = per_dimension("dilation", dilation, 3)
    output_padding = per_dimension("output_padding", output_padding, 3)
    filters = weight.shape[1] * groups
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(weight.shape, weight.dtype_name, device=grad_output.device)
    grad_bias = empty((filters,), grad_output.dtype_name, device=grad_output.device)
    ops.convolution_backward(
        grad_output=channels_first(grad_output),
        input=channels_first(input),
        weight=channels_first(weight),
        bias_sizes=[filters],
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=True,
        output_padding=output_padding,
        groups=groups,
        output_mask=[True, True, True],
        cube_math_type=cube_math_type,
        grad_input=channels_first(grad_input),
        grad_weight=channels_first(grad_weight),
        grad_bias=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias
