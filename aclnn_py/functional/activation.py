# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Activation functions."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional, gelu_mode, has_operator
from aclnn_py.functional.promotion import floating, promote
from aclnn_py.functional.shapes import broadcast, half, replaced
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "add_relu",
    "clipped_swiglu",
    "elu",
    "gelu",
    "gelu_mul",
    "glu",
    "hardsigmoid",
    "hardswish",
    "leaky_relu",
    "log_softmax",
    "logsigmoid",
    "mish",
    "relu",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softshrink",
    "swiglu",
    "threshold",
]


@remembered
def relu(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Replace negative elements by zero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32 | int64 | uint8.
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
    aclnnRelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.relu(input, out, stream=stream)
    return out


@remembered
def sigmoid(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the logistic function ``1 / (1 + exp(-input))``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``; float32 for integers and bool, else the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSigmoid (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, floating(promote(input)), device=input.device)
    ops.sigmoid(input, out, stream=stream)
    return out


@remembered
def silu(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Multiply each element by its sigmoid.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnSilu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.silu(input, out, stream=stream)
    return out


@remembered
def hardswish(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the piecewise linear form of silu.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnHardswish (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.hardswish(input, out, stream=stream)
    return out


@remembered
def hardsigmoid(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the piecewise linear form of the sigmoid.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int32.
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
    aclnnHardsigmoid (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.hardsigmoid(input, out, stream=stream)
    return out


@remembered
def mish(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Multiply each element by the hyperbolic tangent of its softplus.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnMish (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.mish(input, out, stream=stream)
    return out


@remembered
def selu(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the scaled exponential linear unit.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32.
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
    aclnnSelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.selu(input, out, stream=stream)
    return out


@remembered
def logsigmoid(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the logarithm of the sigmoid.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
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
    aclnnLogSigmoid (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.log_sigmoid(input, out, stream=stream)
    return out


@remembered
def gelu(input: Tensor, *, approximate: str = "none", stream: Stream | None = None) -> Tensor:
    """Multiply each element by the normal distribution function of it.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    approximate : str, default 'none'
        'none' uses the error function, 'tanh' the formula with a hyperbolic tangent.
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
    aclnnGelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1; aclnnGeluV2
    (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    if approximate == "tanh" and not has_operator("gelu_v2"):
        ops.gelu(input, out, stream=stream)
    else:
        ops.gelu_v2(input, gelu_mode(approximate), out, stream=stream)
    return out


@remembered
def leaky_relu(
    input: Tensor, negative_slope: Number = 0.01, *, stream: Stream | None = None
) -> Tensor:
    """Multiply negative elements by a slope.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    negative_slope : number, default 0.01
        Factor of negative elements.
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
    aclnnLeakyRelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.leaky_relu(input, negative_slope, out, stream=stream)
    return out


@remembered
def elu(input: Tensor, alpha: Number = 1.0, *, stream: Stream | None = None) -> Tensor:
    """Compute the exponential linear unit.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    alpha : number, default 1.0
        Negative elements approach ``-alpha``.
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
    aclnnElu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.elu(input, alpha, 1.0, 1.0, out, stream=stream)
    return out


@remembered
def softplus(
    input: Tensor, beta: Number = 1, threshold: Number = 20, *, stream: Stream | None = None
) -> Tensor:
    """Compute a smooth form of relu, ``log(1 + exp(beta * input)) / beta``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    beta : number, default 1
        Sharpness of the bend.
    threshold : number, default 20
        Where ``beta * input`` is larger, the result is ``input``.
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
    aclnnSoftplus (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.softplus(input, beta, threshold, out, stream=stream)
    return out


@remembered
def softshrink(input: Tensor, lambd: Number = 0.5, *, stream: Stream | None = None) -> Tensor:
    """Move each element towards zero by ``lambd``, but not beyond zero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    lambd : number, default 0.5
        Distance to move.
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
    aclnnSoftshrink (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.softshrink(input, lambd, out, stream=stream)
    return out


@remembered
def threshold(
    input: Tensor, threshold: Number, value: Number, *, stream: Stream | None = None
) -> Tensor:
    """Replace elements that are not above a threshold.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 |
        uint8.
    threshold : number
        Elements above it stay.
    value : number
        Replacement for the others.
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
    aclnnThreshold (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.threshold(input, threshold, value, out, stream=stream)
    return out


@remembered
def softmax(input: Tensor, dim: int = -1, *, stream: Stream | None = None) -> Tensor:
    """Divide exponentials by their sum along one dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    dim : int, default -1
        Dimension along which the result adds up to 1.
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
    aclnnSoftmax (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.softmax(input, dim, out, stream=stream)
    return out


@remembered
def log_softmax(input: Tensor, dim: int = -1, *, stream: Stream | None = None) -> Tensor:
    """Compute the logarithm of the softmax.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    dim : int, default -1
        Dimension of the softmax.
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
    aclnnLogSoftmax (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.log_softmax(input, dim, out, stream=stream)
    return out


@remembered
def glu(input: Tensor, dim: int = -1, *, stream: Stream | None = None) -> Tensor:
    """Multiply the first half of a dimension by the sigmoid of the second half.

    Parameters
    ----------
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    dim : int, default -1
        Dimension to split; its length is even.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with half the length in ``dim``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGlu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(
        replaced(input.shape, dim, half(input.shape, dim)), input.dtype_name, device=input.device
    )
    ops.glu(input, dim, out, stream=stream)
    return out


@remembered
def swiglu(input: Tensor, dim: int = -1, *, stream: Stream | None = None) -> Tensor:
    """Multiply the silu of the first half of a dimension by the second half.

    Parameters
    ----------
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    dim : int, default -1
        Dimension to split; its length is even.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with half the length in ``dim``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSwiGlu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(
        replaced(input.shape, dim, half(input.shape, dim)), input.dtype_name, device=input.device
    )
    ops.swi_glu(input, dim, out, stream=stream)
    return out


@remembered
def gelu_mul(input: Tensor, *, approximate: str = "none", stream: Stream | None = None) -> Tensor:
    """Multiply the gelu of the first half of the last dimension by the second half.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    approximate : str, default 'none'
        'none' uses the error function, 'tanh' the formula with a hyperbolic tangent.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with half the length in ``dim``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGeluMul (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(
        replaced(input.shape, -1, half(input.shape, -1)), input.dtype_name, device=input.device
    )
    ops.gelu_mul(input, approximate, out, stream=stream)
    return out


@remembered
def clipped_swiglu(
    input: Tensor,
    group_index: Tensor | None = None,
    *,
    dim: int = -1,
    alpha: float = 1.702,
    limit: float = 7.0,
    bias: float = 1.0,
    interleaved: bool = True,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply the limited silu of one part of a dimension by the limited other part.

    Parameters
    ----------
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    group_index : Tensor, optional
        How many rows each group has; shape ``(groups,)``; dtype int64. Rows behind the last group
        are undefined. 1 dimension; dtype int64.
    dim : int, default -1
        Dimension to split; its length is even.
    alpha : float, default 1.702
        Factor in the sigmoid.
    limit : float, default 7.0
        What the gate is limited to, and the other part to both sides.
    bias : float, default 1.0
        What is added to the other part.
    interleaved : bool, default True
        Whether even elements are the gate, else the first half is.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input`` with half the length in ``dim``; the same dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnClippedSwiglu (``include/aclnnop/activation.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(group_index=group_index)
    out = empty(
        replaced(input.shape, dim, half(input.shape, dim)), input.dtype_name, device=input.device
    )
    ops.clipped_swiglu(input, group_index, dim, alpha, limit, bias, interleaved, out, stream=stream)
    return out


@remembered
def add_relu(
    input: Tensor, other: Tensor, *, alpha: Number = 1, stream: Stream | None = None
) -> Tensor:
    """Add ``alpha`` times ``other`` and replace negative sums by zero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int16 | int32 | int64 |
        uint8.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | int8 | int16 | int32 | int64 | uint8.
    alpha : number, default 1
        Factor of ``other``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape and promoted dtype of the operands.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddRelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    ops.add_relu(input, other, alpha, out, stream=stream)
    return out
