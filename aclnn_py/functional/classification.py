# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Losses of classes, divergences, lookups in tables, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional, reduction_mode
from aclnn_py.functional.classes import (
    bag_mode,
    class_weights,
    divergence_mode,
    longest_target,
    number_of_bags,
    sample_weights,
)
from aclnn_py.functional.promotion import promote
from aclnn_py.functional.shapes import broadcast
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "cross_entropy",
    "cross_entropy_backward",
    "ctc_loss",
    "ctc_loss_backward",
    "embedding_backward",
    "embedding_bag",
    "kl_div",
    "kl_div_backward",
    "nll_loss",
    "nll_loss_backward",
]


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the negative log likelihood of classes.

    Parameters
    ----------
    input : Tensor
        Scores: classes in dimension 1, or the only dimension. For ``nll_loss`` they are logarithms
        of probabilities. 4 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Class of each row. 3 dimensions; dtype int32 | int64 | uint8.
    weight : Tensor, optional
        Factor of each class; shape ``(classes,)``.
    reduction : str, default 'mean'
        'none' keeps a loss per row, 'mean' divides the sum by the weights of the rows that count,
        'sum' adds them.
    ignore_index : int, default -100
        The class of rows that do not count.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the shape of ``target`` when ``reduction`` is 'none'. Dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNLLLoss2d (``include/aclnnop/loss.h``), CANN >= 8.1.RC1; aclnnNLLLoss
    (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    expect_optional(weight=weight)
    expect_optional(weight=weight)
    weights = class_weights(input, weight, stream)
    out = empty(target.shape if reduction == "none" else (), input.dtype_name, device=input.device)
    total_weight = empty((1,), input.dtype_name, device=input.device)
    if input.ndim == 4:
        ops.nll_loss2d(
            input,
            target,
            weights,
            reduction_mode(reduction),
            ignore_index,
            out,
            total_weight,
            stream=stream,
        )
    else:
        ops.nll_loss(
            input,
            target,
            weights,
            reduction_mode(reduction),
            ignore_index,
            out,
            total_weight,
            stream=stream,
        )
    return out


def nll_loss_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``nll_loss`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. Dtype float32 | float16 | bfloat16.
    input : Tensor
        Scores: classes in dimension 1, or the only dimension. For ``nll_loss`` they are logarithms
        of probabilities. 4 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Class of each row. 3 dimensions; dtype int32 | int64 | uint8.
    weight : Tensor, optional
        Factor of each class; shape ``(classes,)``.
    reduction : str, default 'mean'
        'none' keeps a loss per row, 'mean' divides the sum by the weights of the rows that count,
        'sum' adds them.
    ignore_index : int, default -100
        The class of rows that do not count.
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
    aclnnNLLLoss2d (``include/aclnnop/loss.h``), CANN >= 8.1.RC1; aclnnNLLLoss2dBackward
    (``include/aclnnop/loss.h``), CANN >= 8.1.RC1; aclnnNLLLoss (``include/aclnnop/loss.h``), CANN
    >= 8.1.RC1; aclnnNLLLossBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    expect_optional(weight=weight)
    expect_optional(weight=weight)
    weights = class_weights(input, weight, stream)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    total_weight = empty((1,), input.dtype_name, device=grad_output.device)
    scratch = empty((1,), input.dtype_name, device=grad_output.device)
    if input.ndim == 4:
        ops.nll_loss2d(
            input, target, weights, 2, ignore_index, scratch, total_weight, stream=stream
        )
        ops.nll_loss2d_backward(
            grad_output,
            input,
            target,
            weights,
            reduction_mode(reduction),
            ignore_index,
            total_weight,
            out,
            stream=stream,
        )
    else:
        ops.nll_loss(input, target, weights, 2, ignore_index, scratch, total_weight, stream=stream)
        ops.nll_loss_backward(
            grad_output,
            input,
            target,
            weights,
            reduction_mode(reduction),
            ignore_index,
            total_weight,
            out,
            stream=stream,
        )
    return out


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the cross entropy of logits and classes.

    Parameters
    ----------
    input : Tensor
        Logits, shape ``(rows, classes)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Class of each row, int64. Dtype int64.
    weight : Tensor, optional
        Factor of each class, float32; shape ``(classes,)``. 1 dimension; dtype float32.
    reduction : str, default 'mean'
        'none' keeps a loss per row, 'mean' divides the sum by the weights of the rows that count,
        'sum' adds them.
    ignore_index : int, default -100
        The class of rows that do not count.
    label_smoothing : float, default 0.0
        Part of each loss that is spread over all classes.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor; the shape of ``target`` when ``reduction`` is 'none'. Dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCrossEntropyLoss (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    expect_optional(weight=weight)
    expect_optional(weight=weight)
    out = empty(target.shape if reduction == "none" else (), input.dtype_name, device=input.device)
    log_prob = empty(input.shape, input.dtype_name, device=input.device)
    unused = empty(input.shape[:1], input.dtype_name, device=input.device)
    ops.cross_entropy_loss(
        input=input,
        target=target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        lse_square_scale_for_zloss=0.0,
        return_zloss=False,
        loss_out=out if reduction == "none" else out.reshape(1),
        log_prob_out=log_prob,
        zloss_out=unused,
        lse_for_zloss_out=unused,
        stream=stream,
    )
    return out


def cross_entropy_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``cross_entropy`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss. Dtype float32 | float16 | bfloat16.
    input : Tensor
        Logits, shape ``(rows, classes)``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 |
        float64.
    target : Tensor
        Class of each row, int64. 1 dimension; dtype int64.
    weight : Tensor, optional
        Factor of each class, float32; shape ``(classes,)``. 1 dimension; dtype float32.
    reduction : str, default 'mean'
        'none' keeps a loss per row, 'mean' divides the sum by the weights of the rows that count,
        'sum' adds them.
    ignore_index : int, default -100
        The class of rows that do not count.
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
    aclnnLogSoftmax (``include/aclnnop/activation.h``), CANN >= 8.1.RC1; aclnnCrossEntropyLossGrad
    (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    expect_optional(weight=weight)
    expect_optional(weight=weight)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    log_prob = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.log_softmax(input, 1, log_prob, stream=stream)
    ops.cross_entropy_loss_grad(
        grad_loss=grad_output,
        log_prob=log_prob,
        target=target,
        weight=weight,
        grad_zloss=None,
        lse_for_zloss=None,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=0.0,
        lse_square_scale_for_zloss=0.0,
        out=out,
        stream=stream,
    )
    return out


@remembered
def kl_div(
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    log_target: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the divergence of Kullback and Leibler of a target from ``input``.

    Parameters
    ----------
    input : Tensor
        Logarithms of probabilities. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        Probabilities, or their logarithms with ``log_target``; it broadcasts with ``input``. 0 to 8
        dimensions; dtype float32 | float16 | bfloat16.
    reduction : str, default 'mean'
        'none' keeps a value per element, 'mean' averages them, 'sum' adds them, 'batchmean' divides
        the sum by the length of the first dimension.
    log_target : bool, default False
        Whether ``target`` holds logarithms.
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
    aclnnKlDiv (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, target=target)
    out = empty(
        broadcast(input, target) if reduction == "none" else (),
        promote(input, target),
        device=input.device,
    )
    ops.kl_div(input, target, divergence_mode(reduction), log_target, out, stream=stream)
    return out


@remembered
def kl_div_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    *,
    reduction: str = "mean",
    log_target: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``kl_div`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the loss.
    input : Tensor
        Logarithms of probabilities. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    target : Tensor
        As given to ``kl_div``; it broadcasts to ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    reduction : str, default 'mean'
        'none' keeps a value per element, 'mean' averages them, 'sum' adds them, 'batchmean' divides
        the sum by the length of the first dimension.
    log_target : bool, default False
        Whether ``target`` holds logarithms.
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
    aclnnKlDivBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, target=target)
    out = empty(input.shape, input.dtype_name, device=grad_output.device)
    ops.kl_div_backward(
        grad_output if grad_output.ndim > 0 else grad_output.reshape(1),
        input,
        target,
        divergence_mode(reduction),
        log_target,
        out,
        stream=stream,
    )
    return out


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    *,
    blank: int = 0,
    zero_infinity: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute the loss of each sequence whose labels have no times of their own.

    Parameters
    ----------
    log_probs : Tensor
        Logarithms of probabilities; shape ``(times, sequences, classes)``. 2 to 3 dimensions; dtype
        float32 | float16 | bfloat16 | float64.
    targets : Tensor
        Labels; shape ``(sequences, longest)``, or all behind each other in one dimension. 1 to 2
        dimensions; dtype float32 | float16 | int32 | int64 | bool.
    input_lengths : sequence of int
        Number of times of each sequence.
    target_lengths : sequence of int
        Number of labels of each sequence.
    blank : int, default 0
        The class between labels.
    zero_infinity : bool, default False
        Whether the loss of a target that no path spells is 0 instead of infinite.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    loss : Tensor
        The losses; shape ``(sequences,)``. Dtype of ``log_probs``.
    log_alpha : Tensor
        Logarithms of the probabilities of all paths so far, for the gradient; shape ``(sequences,
        times, places)``. Dtype of ``log_probs``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The number of places is that of chips before the 950 series.

    Source
    ------
    aclnnCtcLoss (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(log_probs=log_probs, targets=targets)
    loss = empty(log_probs.shape[1:2], log_probs.dtype_name, device=log_probs.device)
    log_alpha = empty(
        (
            *log_probs.shape[1:2],
            *log_probs.shape[:1],
            (2 * longest_target(target_lengths) + 8) // 8 * 8,
        ),
        log_probs.dtype_name,
        device=log_probs.device,
    )
    ops.ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        zero_infinity,
        loss,
        log_alpha,
        stream=stream,
    )
    return loss, log_alpha


@remembered
def ctc_loss_backward(
    grad_output: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    loss: Tensor,
    log_alpha: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    *,
    blank: int = 0,
    zero_infinity: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``ctc_loss`` for logarithms that a log-softmax made.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to each loss. 1 dimension; dtype float32 | float16 | bfloat16 |
        float64.
    log_probs : Tensor
        Logarithms of probabilities; shape ``(times, sequences, classes)``. 3 dimensions; dtype
        float32 | float16 | bfloat16 | float64.
    targets : Tensor
        Labels; shape ``(sequences, longest)``, or all behind each other in one dimension. 1 to 2
        dimensions; dtype float32 | float16 | int32 | int64 | bool.
    loss : Tensor
        Losses of ``ctc_loss``. Dtype float32 | float16 | bfloat16 | float64.
    log_alpha : Tensor
        Second result of ``ctc_loss``. 3 dimensions; dtype float32 | float16 | bfloat16 | float64.
    input_lengths : sequence of int
        Number of times of each sequence.
    target_lengths : sequence of int
        Number of labels of each sequence.
    blank : int, default 0
        The class between labels.
    zero_infinity : bool, default False
        Whether the loss of a target that no path spells is 0 instead of infinite.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``log_probs``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The gradient of a row is its probabilities less the shares of the labels, which is also the
    gradient with respect to the logits.

    Source
    ------
    aclnnCtcLossBackward (``include/aclnnop/loss.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(
        grad_output=grad_output,
        log_probs=log_probs,
        targets=targets,
        loss=loss,
        log_alpha=log_alpha,
    )
    out = empty(log_probs.shape, log_probs.dtype_name, device=grad_output.device)
    ops.ctc_loss_backward(
        grad_out=grad_output,
        log_probs=log_probs,
        targets=targets,
        input_lengths=input_lengths,
        target_lengths=target_lengths,
        neg_log_likelihood=loss,
        log_alpha=log_alpha,
        blank=blank,
        zero_infinity=zero_infinity,
        out=out,
        stream=stream,
    )
    return out


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor,
    *,
    mode: str = "mean",
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
    stream: Stream | None = None,
) -> Tensor:
    """Combine the rows of a table that each bag of indices names.

    Parameters
    ----------
    input : Tensor
        Indices of rows, one dimension. 0 to 2 dimensions; dtype int8 | int16 | int32 | int64 |
        uint8.
    weight : Tensor
        The table, shape ``(rows, width)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    offsets : Tensor
        Where each bag begins among the indices. 0 to 1 dimensions; dtype int8 | int16 | int32 |
        int64 | uint8.
    mode : str, default 'mean'
        'mean', 'sum' or 'max' of the rows.
    per_sample_weights : Tensor, optional
        Factor of each index, for sums.
    include_last_offset : bool, default False
        Whether the last offset is the end of the last bag.
    padding_idx : int, default -1
        Row that does not count; -1 for none.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(bags, width)``; dtype of ``weight``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnEmbeddingBag (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight, offsets=offsets)
    expect_optional(per_sample_weights=per_sample_weights)
    weights = sample_weights(per_sample_weights)
    out = empty(
        (number_of_bags(offsets, include_last_offset), *weight.shape[1:]),
        weight.dtype_name,
        device=input.device,
    )
    bags = empty((input.count,), promote(input, offsets), device=input.device)
    sizes = empty(out.shape[:1], promote(input, offsets), device=input.device)
    positions = empty(
        out.shape if mode == "max" else out.shape[:1], promote(input, offsets), device=input.device
    )
    ops.embedding_bag(
        weight=weight,
        indices=input,
        offsets=offsets,
        scale_grad_by_freq=False,
        mode=bag_mode(mode),
        sparse=False,
        per_sample_weights=weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
        output=out,
        offset2bag=bags,
        bag_size=sizes,
        max_indices=positions,
        stream=stream,
    )
    return out


@remembered
def embedding_backward(
    grad_output: Tensor,
    input: Tensor,
    num_weights: int,
    *,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``embedding`` with respect to its table.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the rows that were looked up. 1 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    input : Tensor
        Indices of rows, as given to ``embedding``. 0 to 8 dimensions; dtype float32 | float16 |
        float64 | int8 | int16 | int32 | int64 | uint8 | bool.
    num_weights : int
        Number of rows of the table.
    padding_idx : int, default -1
        Row without a gradient; -1 for none.
    scale_grad_by_freq : bool, default False
        Whether a gradient is divided by how often its row is named.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(num_weights, width)``; dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnEmbeddingDenseBackward (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input)
    out = empty(
        (num_weights, *grad_output.shape[-1:]), grad_output.dtype_name, device=grad_output.device
    )
    ops.embedding_dense_backward(
        grad_output, input, num_weights, padding_idx % 2**64, scale_grad_by_freq, out, stream=stream
    )
    return out
