# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Gradients of activation functions."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "elu_backward",
    "gelu_backward",
    "glu_backward",
    "hardsigmoid_backward",
    "hardswish_backward",
    "leaky_relu_backward",
    "logsigmoid_backward",
    "mish_backward",
    "prelu",
    "prelu_backward",
    "relu_backward",
    "selu_backward",
    "sigmoid_backward",
    "silu_backward",
    "softplus_backward",
    "softshrink_backward",
    "swiglu_backward",
    "tanh_backward",
    "threshold_backward",
]


@remembered
def sigmoid_backward(
    grad_output: Tensor, output: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``sigmoid`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``sigmoid``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | complex64 | complex128.
    output : Tensor
        The result of ``sigmoid``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSigmoidBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, output=output)
    out = empty(output.shape, output.dtype_name, device=grad_output.device)
    ops.sigmoid_backward(grad_output, output, out, stream=stream)
    return out


@remembered
def tanh_backward(grad_output: Tensor, output: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the gradient of ``tanh`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``tanh``. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16 | float64.
    output : Tensor
        The result of ``tanh``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnTanhBackward (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, output=output)
    out = empty(output.shape, output.dtype_name, device=grad_output.device)
    ops.tanh_backward(grad_output, output, out, stream=stream)
    return out


@remembered
def selu_backward(grad_output: Tensor, output: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the gradient of ``selu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``selu``. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16 | int8 | int32.
    output : Tensor
        The result of ``selu``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 |
        int32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSeluBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, output=output)
    out = empty(output.shape, output.dtype_name, device=grad_output.device)
    ops.selu_backward(grad_output, output, out, stream=stream)
    return out


@remembered
def relu_backward(grad_output: Tensor, input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the gradient of ``relu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``relu``. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16 | int8 | int32 | uint8.
    input : Tensor
        As given to ``relu``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32 |
        uint8.
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
    aclnnThresholdBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.threshold_backward(grad_output, input, 0, out, stream=stream)
    return out


@remembered
def silu_backward(grad_output: Tensor, input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the gradient of ``silu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``silu``. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16.
    input : Tensor
        As given to ``silu``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnSiluBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.silu_backward(grad_output, input, out, stream=stream)
    return out


@remembered
def mish_backward(grad_output: Tensor, input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the gradient of ``mish`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``mish``. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16.
    input : Tensor
        As given to ``mish``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnMishBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.mish_backward(grad_output, input, out, stream=stream)
    return out


@remembered
def hardswish_backward(
    grad_output: Tensor, input: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``hardswish`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``hardswish``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    input : Tensor
        As given to ``hardswish``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnHardswishBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.hardswish_backward(grad_output, input, out, stream=stream)
    return out


@remembered
def hardsigmoid_backward(
    grad_output: Tensor, input: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``hardsigmoid`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``hardsigmoid``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    input : Tensor
        As given to ``hardsigmoid``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnHardsigmoidBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.hardsigmoid_backward(grad_output, input, out, stream=stream)
    return out


@remembered
def logsigmoid_backward(
    grad_output: Tensor, input: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``logsigmoid`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``logsigmoid``. 1 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    input : Tensor
        As given to ``logsigmoid``. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnLogSigmoidBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.log_sigmoid_backward(grad_output, input, input, out, stream=stream)
    return out


@remembered
def gelu_backward(
    grad_output: Tensor, input: Tensor, *, approximate: str = "none", stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``gelu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``gelu``. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16.
    input : Tensor
        As given to ``gelu``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    approximate : str, default 'none'
        As given to ``gelu``.
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
    aclnnGeluBackwardV2 (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.gelu_backward_v2(grad_output, input, approximate, out, stream=stream)
    return out


@remembered
def leaky_relu_backward(
    grad_output: Tensor,
    input: Tensor,
    negative_slope: Number = 0.01,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``leaky_relu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``leaky_relu``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64.
    input : Tensor
        As given to ``leaky_relu``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    negative_slope : number, default 0.01
        As given to ``leaky_relu``.
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
    aclnnLeakyReluBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.leaky_relu_backward(grad_output, input, negative_slope, False, out, stream=stream)
    return out


@remembered
def elu_backward(
    grad_output: Tensor, input: Tensor, alpha: Number = 1.0, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``elu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``elu``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    input : Tensor
        As given to ``elu``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    alpha : number, default 1.0
        As given to ``elu``.
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
    aclnnEluBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.elu_backward(grad_output, alpha, 1.0, 1.0, False, input, out, stream=stream)
    return out


@remembered
def softplus_backward(
    grad_output: Tensor,
    input: Tensor,
    beta: Number = 1,
    threshold: Number = 20,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``softplus`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``softplus``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64.
    input : Tensor
        As given to ``softplus``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 |
        int8 | int16 | int32 | int64 | uint8 | bool.
    beta : number, default 1
        As given to ``softplus``.
    threshold : number, default 20
        As given to ``softplus``.
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
    aclnnSoftplusBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.softplus_backward(grad_output, input, beta, threshold, out, stream=stream)
    return out


@remembered
def softshrink_backward(
    grad_output: Tensor, input: Tensor, lambd: Number = 0.5, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``softshrink`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``softshrink``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    input : Tensor
        As given to ``softshrink``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    lambd : number, default 0.5
        As given to ``softshrink``.
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
    aclnnSoftshrinkBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.softshrink_backward(grad_output, input, lambd, out, stream=stream)
    return out


@remembered
def threshold_backward(
    grad_output: Tensor, input: Tensor, threshold: Number, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``threshold`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``threshold``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | int8 | int32 | uint8.
    input : Tensor
        As given to ``threshold``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 |
        int32 | uint8.
    threshold : number
        As given to ``threshold``.
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
    aclnnThresholdBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.threshold_backward(grad_output, input, threshold, out, stream=stream)
    return out


@remembered
def glu_backward(
    grad_output: Tensor, input: Tensor, dim: int = -1, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``glu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``glu``. Dtype float32 | float16 | bfloat16 |
        float64.
    input : Tensor
        As given to ``glu``. 1 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    dim : int, default -1
        As given to ``glu``.
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
    aclnnGluBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.glu_backward(grad_output, input, dim, out, stream=stream)
    return out


@remembered
def swiglu_backward(
    grad_output: Tensor, input: Tensor, dim: int = -1, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``swiglu`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``swiglu``. 1 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    input : Tensor
        As given to ``swiglu``. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    dim : int, default -1
        As given to ``swiglu``.
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
    aclnnSwiGluGrad (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.swi_glu_grad(grad_output, input, dim, out, stream=stream)
    return out


@remembered
def prelu(input: Tensor, weight: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Multiply negative elements by a slope, one for all or one for each channel.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    weight : Tensor
        Slopes: one element, or one for each element of dimension 1. 0 to 8 dimensions; dtype
        float32 | float16 | bfloat16.
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
    aclnnPrelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.prelu(input, weight, out, stream=stream)
    return out


def prelu_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, *, stream: Stream | None = None
) -> tuple[Tensor, Tensor]:
    """Compute the gradients of ``prelu``.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``prelu``. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16.
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    weight : Tensor
        As given to ``prelu``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_input : Tensor
        Shape and dtype of ``input``.
    grad_weight : Tensor
        Shape and dtype of ``weight``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnPreluBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, weight=weight)
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(weight.shape, weight.dtype_name, device=grad_output.device)
    ops.prelu_backward(grad_output, input, weight, grad_input, grad_weight, stream=stream)
    return grad_input, grad_weight
