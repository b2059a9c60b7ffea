# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Losses and their gradients."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional, reduction_mode
from aclnn_py.functional.promotion import promote
from aclnn_py.functional.shapes import broadcast
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy_with_logits_backward",
    "l1_loss",
    "l1_loss_backward",
    "log_softmax_backward",
    "mse_loss",
    "mse_loss_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "soft_margin_loss",
    "soft_margin_loss_backward",
    "softmax_backward",
]


@remembered
def soft_margin_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", stream: Stream | None = None
) -> Tensor:
    """Compute the logistic loss of two classes, ``log(1 + exp(-input * target))``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Class of each element, 1 or -1. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    reduction : str, default 'mean'
        'none' keeps a loss per element, 'mean' averages them, 'sum' adds them.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the broadcast shape when ``reduction`` is 'none'. The promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSoftMarginLoss (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    out = empty(
        broadcast(input, target) if reduction == "none" else (),
        promote(input, target),
        device=input.device,
    )
    ops.soft_margin_loss(input, target, reduction_mode(reduction), out, stream=stream)
    return out


@remembered
def soft_margin_loss_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``soft_margin_loss`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Class of each element, 1 or -1. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    reduction : str, default 'mean'
        As given to ``soft_margin_loss``.
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
    aclnnSoftMarginLossBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.soft_margin_loss_backward(
        grad_output, input, target, reduction_mode(reduction), out, stream=stream
    )
    return out


@remembered
def l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", stream: Stream | None = None
) -> Tensor:
    """Compute the distance of each element from its target.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int64.
    target : Tensor
        What ``input`` should be; it broadcasts with ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | int64.
    reduction : str, default 'mean'
        'none' keeps a loss per element, 'mean' averages them, 'sum' adds them.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the broadcast shape when ``reduction`` is 'none'. The promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnL1Loss (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    out = empty(
        broadcast(input, target) if reduction == "none" else (),
        promote(input, target),
        device=input.device,
    )
    ops.l1_loss(input, target, reduction_mode(reduction), out, stream=stream)
    return out


@remembered
def l1_loss_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``l1_loss`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        What ``input`` should be; it broadcasts with ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    reduction : str, default 'mean'
        As given to ``l1_loss``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        The broadcast shape of ``input`` and ``target``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnL1LossBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    out = empty(broadcast(input, target), promote(input, target), device=grad_output.device)
    ops.l1_loss_backward(grad_output, input, target, reduction_mode(reduction), out, stream=stream)
    return out


@remembered
def mse_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", stream: Stream | None = None
) -> Tensor:
    """Compute the squared distance of each element from its target.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        What ``input`` should be; it broadcasts with ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    reduction : str, default 'mean'
        'none' keeps a loss per element, 'mean' averages them, 'sum' adds them.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the broadcast shape when ``reduction`` is 'none'. The promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMseLoss (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    out = empty(
        broadcast(input, target) if reduction == "none" else (),
        promote(input, target),
        device=input.device,
    )
    ops.mse_loss(input, target, reduction_mode(reduction), out, stream=stream)
    return out


@remembered
def mse_loss_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``mse_loss`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        What ``input`` should be; it broadcasts with ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    reduction : str, default 'mean'
        As given to ``mse_loss``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        The broadcast shape of ``input`` and ``target``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMseLossBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    out = empty(broadcast(input, target), promote(input, target), device=grad_output.device)
    ops.mse_loss_backward(grad_output, input, target, reduction_mode(reduction), out, stream=stream)
    return out


@remembered
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    beta: float = 1.0,
    stream: Stream | None = None,
) -> Tensor:
    """Compute a loss that is squared near the target and absolute far from it.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        What ``input`` should be; it broadcasts with ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    reduction : str, default 'mean'
        'none' keeps a loss per element, 'mean' averages them, 'sum' adds them.
    beta : float, default 1.0
        Distance from which on the loss is absolute; 0 makes all of it absolute.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the broadcast shape when ``reduction`` is 'none'. The promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSmoothL1Loss (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    out = empty(
        broadcast(input, target) if reduction == "none" else (),
        promote(input, target),
        device=input.device,
    )
    ops.smooth_l1_loss(input, target, reduction_mode(reduction), beta, out, stream=stream)
    return out


@remembered
def smooth_l1_loss_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    beta: float = 1.0,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``smooth_l1_loss`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        What ``input`` should be; it broadcasts with ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    reduction : str, default 'mean'
        As given to ``smooth_l1_loss``.
    beta : float, default 1.0
        Distance from which on the loss is absolute; 0 makes all of it absolute.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        The broadcast shape of ``input`` and ``target``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSmoothL1LossBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    out = empty(broadcast(input, target), promote(input, target), device=grad_output.device)
    ops.smooth_l1_loss_backward(
        grad_output, input, target, reduction_mode(reduction), beta, out, stream=stream
    )
    return out


@remembered
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    stream: Stream | None = None,
) -> Tensor:
    """Compute the cross entropy of probabilities of two classes.

    Parameters
    ----------
    input : Tensor
        Probabilities, 0 to 1. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Probabilities, 0 to 1; shape and dtype of ``input``. Dtype float32 | float16 | bfloat16.
    weight : Tensor, optional
        Factor of each loss; broadcasts to ``input``. Dtype float32 | float16 | bfloat16.
    reduction : str, default 'mean'
        'none' keeps a loss per element, 'mean' averages them, 'sum' adds them.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the shape of ``input`` when ``reduction`` is 'none'. Dtype of ``target``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBinaryCrossEntropy (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    expect_optional(weight=weight)
    expect_optional(weight=weight)
    out = empty(input.shape if reduction == "none" else (), target.dtype_name, device=input.device)
    ops.binary_cross_entropy(input, target, weight, reduction_mode(reduction), out, stream=stream)
    return out


@remembered
def binary_cross_entropy_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``binary_cross_entropy`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        Probabilities, 0 to 1. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Probabilities, 0 to 1; shape and dtype of ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    weight : Tensor, optional
        Factor of each loss; broadcasts to ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    reduction : str, default 'mean'
        As given to ``binary_cross_entropy``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input``; dtype of ``target``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBinaryCrossEntropyBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    expect_optional(weight=weight)
    expect_optional(weight=weight)
    out = empty(input.shape, target.dtype_name, device=grad_output.device)
    ops.binary_cross_entropy_backward(
        grad_output, input, target, weight, reduction_mode(reduction), out, stream=stream
    )
    return out


@remembered
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    stream: Stream | None = None,
) -> Tensor:
    """Compute the cross entropy of two classes from logits.

    Parameters
    ----------
    input : Tensor
        Logits: probabilities are their sigmoids. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    target : Tensor
        Probabilities, 0 to 1; shape of ``input``. Dtype float32 | float16 | bfloat16.
    weight : Tensor, optional
        Factor of each loss; broadcasts to ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    pos_weight : Tensor, optional
        Factor of the positive class; broadcasts to ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    reduction : str, default 'mean'
        'none' keeps a loss per element, 'mean' averages them, 'sum' adds them.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the shape of ``input`` when ``reduction`` is 'none'. Dtype of ``target``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBinaryCrossEntropyWithLogits (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    expect_optional(weight=weight, pos_weight=pos_weight)
    expect_optional(weight=weight, pos_weight=pos_weight)
    out = empty(input.shape if reduction == "none" else (), target.dtype_name, device=input.device)
    ops.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction_mode(reduction), out, stream=stream
    )
    return out


@remembered
def binary_cross_entropy_with_logits_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``binary_cross_entropy_with_logits`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. Dtype float32 | float16 | bfloat16.
    input : Tensor
        Logits: probabilities are their sigmoids. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    target : Tensor
        Probabilities, 0 to 1; shape of ``input``. Dtype float32 | float16 | bfloat16.
    weight : Tensor, optional
        Factor of each loss; broadcasts to ``input``. Dtype float32 | float16 | bfloat16.
    pos_weight : Tensor, optional
        Factor of the positive class; broadcasts to ``input``. Dtype float32 | float16 | bfloat16.
    reduction : str, default 'mean'
        As given to ``binary_cross_entropy_with_logits``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input``; dtype of ``target``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBinaryCrossEntropyWithLogitsBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    expect_optional(weight=weight, pos_weight=pos_weight)
    expect_optional(weight=weight, pos_weight=pos_weight)
    out = empty(input.shape, target.dtype_name, device=grad_output.device)
    ops.binary_cross_entropy_with_logits_backward(
        grad_output,
        input,
        target,
        weight,
        pos_weight,
        reduction_mode(reduction),
        out,
        stream=stream,
    )
    return out


@remembered
def softmax_backward(
    grad_output: Tensor, output: Tensor, dim: int = -1, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``softmax`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``softmax``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    output : Tensor
        The result of ``softmax``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    dim : int, default -1
        As given to ``softmax``.
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
    aclnnSoftmaxBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, output=output)
    out = empty(output.shape, output.dtype_name, device=grad_output.device)
    ops.softmax_backward(grad_output, output, dim, out, stream=stream)
    return out


@remembered
def log_softmax_backward(
    grad_output: Tensor, output: Tensor, dim: int = -1, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``log_softmax`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result of ``log_softmax``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    output : Tensor
        The result of ``log_softmax``. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    dim : int, default -1
        As given to ``log_softmax``.
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
    aclnnLogSoftmaxBackward (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, output=output)
    out = empty(output.shape, output.dtype_name, device=grad_output.device)
    ops.log_softmax_backward(grad_output, output, dim, out, stream=stream)
    return out
