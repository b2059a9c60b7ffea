# SPDX-License-Identifier: Apache-2.0
"""Losses of classes, divergences, lookups in tables, and their gradients."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_SLOPE = Output("Shape and dtype of ``input``.", "input.shape", "input.dtype_name")
_SCALAR = Output(
    "A 0-d tensor; the shape of ``target`` when ``reduction`` is 'none'. Dtype of ``input``.",
    "target.shape if reduction == 'none' else ()",
    "input.dtype_name",
)
_CLASSES = {
    "input": "Scores: classes in dimension 1, or the only dimension. For ``nll_loss`` they are "
    "logarithms of probabilities.",
    "target": "Class of each row.",
    "weight": "Factor of each class; shape ``(classes,)``.",
    "reduction": "'none' keeps a loss per row, 'mean' divides the sum by the weights of the rows "
    "that count, 'sum' adds them.",
    "ignore_index": "The class of rows that do not count.",
}
_MORE = "*, reduction: str = 'mean', ignore_index: int = -100"
_SCALE = Output("", "(1,)", "input.dtype_name", "total_weight")
_SCRATCH = Output("", "(1,)", "input.dtype_name", "scratch")
_LOGITS = {
    **_CLASSES,
    "input": "Logits, shape ``(rows, classes)``.",
    "target": "Class of each row, int64.",
    "weight": "Factor of each class, float32; shape ``(classes,)``.",
}
_LOGS = Output("", "input.shape", "input.dtype_name", "log_prob")
_ROWS = Output("", "input.shape[:1]", "input.dtype_name", "unused")
_DIVERGENCE = {
    "input": "Logarithms of probabilities.",
    "target": "Probabilities, or their logarithms with ``log_target``; it broadcasts with "
    "``input``.",
    "reduction": "'none' keeps a value per element, 'mean' averages them, 'sum' adds them, "
    "'batchmean' divides the sum by the length of the first dimension.",
    "log_target": "Whether ``target`` holds logarithms.",
}
_KL = "*, reduction: str = 'mean', log_target: bool = False"
_GRADIENT = "Gradient with respect to the loss."
_SPELLED = {
    "log_probs": "Logarithms of probabilities; shape ``(times, sequences, classes)``.",
    "targets": "Labels; shape ``(sequences, longest)``, or all behind each other in one dimension.",
    "input_lengths": "Number of times of each sequence.",
    "target_lengths": "Number of labels of each sequence.",
    "blank": "The class between labels.",
    "zero_infinity": "Whether the loss of a target that no path spells is 0 instead of infinite.",
}
_LENGTHS = (
    "input_lengths: Sequence[int], target_lengths: Sequence[int], *, blank: int = 0, "
    "zero_infinity: bool = False"
)


def _loss_of(call: str) -> tuple[str | Call, ...]:
    """The operator for rows of classes, or the one for planes."""
    return (Call("input.ndim == 4", (call.format("nll_loss2d"),)), call.format("nll_loss"))


def _gradient_of() -> tuple[str | Call, ...]:
    calls = []
    for name in ("nll_loss2d", "nll_loss"):
        calls.append((
            # The weights of all rows, which a mean divides by.
            f"{name}(input, target, weights, 2, ignore_index, scratch, total_weight)",
            f"{name}_backward(grad_output, input, target, weights, reduction_mode(reduction), "
            "ignore_index, total_weight, out)",
        ))  # fmt: skip
    return Call("input.ndim == 4", calls[0]), *calls[1]


_WEIGHTS = ("expect_optional(weight=weight)", "weights = class_weights(input, weight, stream)")

ROWS = (
    Row("nll_loss", f"input: Tensor, target: Tensor, weight: Tensor | None = None, {_MORE}",
        "Compute the negative log likelihood of classes.", (_SCALAR, _SCALE),
        _loss_of("{}(input, target, weights, reduction_mode(reduction), ignore_index, out, "
                 "total_weight)"),
        _CLASSES, returns="out", steps=_WEIGHTS),
    Row("nll_loss_backward", "grad_output: Tensor, input: Tensor, target: Tensor, "
        f"weight: Tensor | None = None, {_MORE}",
        "Compute the gradient of ``nll_loss`` with respect to its input.",
        (_SLOPE, _SCALE, _SCRATCH), _gradient_of(), {**_CLASSES, "grad_output": _GRADIENT},
        returns="out", steps=_WEIGHTS),
    Row("cross_entropy", f"input: Tensor, target: Tensor, weight: Tensor | None = None, {_MORE}, "
        "label_smoothing: float = 0.0",
        "Compute the cross entropy of logits and classes.", (_SCALAR, _LOGS, _ROWS),
        ("cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing, 0.0, "
         "False, out if reduction == 'none' else out.reshape(1), log_prob, unused, unused)",),
        {**_LOGITS, "label_smoothing": "Part of each loss that is spread over all classes."},
        returns="out", steps=("expect_optional(weight=weight)",)),
    Row("cross_entropy_backward", "grad_output: Tensor, input: Tensor, target: Tensor, "
        f"weight: Tensor | None = None, {_MORE}",
        "Compute the gradient of ``cross_entropy`` with respect to its input.", (_SLOPE, _LOGS),
        ("log_softmax(input, 1, log_prob)",
         "cross_entropy_loss_grad(grad_output, log_prob, target, weight, None, None, reduction, "
         "ignore_index, 0.0, 0.0, out)"),
        {**_LOGITS, "grad_output": _GRADIENT}, returns="out",
        steps=("expect_optional(weight=weight)",)),
    Row("kl_div", f"input: Tensor, target: Tensor, {_KL}",
        "Compute the divergence of Kullback and Leibler of a target from ``input``.",
        (Output("A 0-d tensor; the broadcast shape when ``reduction`` is 'none'. The promoted "
                "dtype.", "broadcast(input, target) if reduction == 'none' else ()",
                "promote(input, target)"),),
        ("kl_div(input, target, divergence_mode(reduction), log_target, "
         "out)",),
        _DIVERGENCE),
    Row("kl_div_backward", f"grad_output: Tensor, input: Tensor, target: Tensor, {_KL}",
        "Compute the gradient of ``kl_div`` with respect to its input.", (_SLOPE,),
        ("kl_div_backward(grad_output if grad_output.ndim > 0 else grad_output.reshape(1), input, "
         "target, divergence_mode(reduction), log_target, out)",),
        {**_DIVERGENCE, "target": "As given to ``kl_div``; it broadcasts to ``input``.",
         "grad_output": _GRADIENT}),
    Row("ctc_loss", f"log_probs: Tensor, targets: Tensor, {_LENGTHS}",
        "Compute the loss of each sequence whose labels have no times of their own.",
        (Output("The losses; shape ``(sequences,)``. Dtype of ``log_probs``.",
                "log_probs.shape[1:2]", "log_probs.dtype_name", "loss"),
         Output("Logarithms of the probabilities of all paths so far, for the gradient; shape "
                "``(sequences, times, places)``. Dtype of ``log_probs``.",
                "(*log_probs.shape[1:2], *log_probs.shape[:1], "
                "(2 * longest_target(target_lengths) + 8) // 8 * 8)",
                "log_probs.dtype_name", "log_alpha")),
        ("ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, loss, "
         "log_alpha)",),
        _SPELLED, notes="The number of places is that of chips before the 950 series."),
    Row("ctc_loss_backward", "grad_output: Tensor, log_probs: Tensor, targets: Tensor, "
        f"loss: Tensor, log_alpha: Tensor, {_LENGTHS}",
        "Compute the gradient of ``ctc_loss`` for logarithms that a log-softmax made.",
        (Output("Shape and dtype of ``log_probs``.", "log_probs.shape", "log_probs.dtype_name"),),
        ("ctc_loss_backward(grad_output, log_probs, targets, input_lengths, target_lengths, loss, "
         "log_alpha, blank, zero_infinity, out)",),
        {**_SPELLED, "grad_output": "Gradient with respect to each loss.",
         "loss": "Losses of ``ctc_loss``.", "log_alpha": "Second result of ``ctc_loss``."},
        notes="The gradient of a row is its probabilities less the shares of the labels, which is "
        "also the gradient with respect to the logits."),
    Row("embedding_bag", "input: Tensor, weight: Tensor, offsets: Tensor, *, mode: str = 'mean', "
        "per_sample_weights: Tensor | None = None, include_last_offset: bool = False, "
        "padding_idx: int = -1",
        "Combine the rows of a table that each bag of indices names.",
        (Output("Shape ``(bags, width)``; dtype of ``weight``.",
                "(number_of_bags(offsets, include_last_offset), *weight.shape[1:])",
                "weight.dtype_name"),
         Output("", "(input.count,)", "promote(input, offsets)", "bags"),
         Output("", "out.shape[:1]", "promote(input, offsets)", "sizes"),
         Output("", "out.shape if mode == 'max' else out.shape[:1]", "promote(input, offsets)",
                "positions")),
        ("embedding_bag(weight, input, offsets, False, bag_mode(mode), False, weights, "
         "include_last_offset, padding_idx, out, bags, sizes, positions)",),
        {"input": "Indices of rows, one dimension.",
         "weight": "The table, shape ``(rows, width)``.",
         "offsets": "Where each bag begins among the indices.",
         "mode": "'mean', 'sum' or 'max' of the rows.",
         "per_sample_weights": "Factor of each index, for sums.",
         "include_last_offset": "Whether the last offset is the end of the last bag.",
         "padding_idx": "Row that does not count; -1 for none."},
        returns="out", steps=("weights = sample_weights(per_sample_weights)",)),
    Row("embedding_backward", "grad_output: Tensor, input: Tensor, num_weights: int, *, "
        "padding_idx: int = -1, scale_grad_by_freq: bool = False",
        "Compute the gradient of ``embedding`` with respect to its table.",
        (Output("Shape ``(num_weights, width)``; dtype of ``grad_output``.",
                "(num_weights, *grad_output.shape[-1:])", "grad_output.dtype_name"),),
        ("embedding_dense_backward(grad_output, input, num_weights, padding_idx % 2**64, "
         "scale_grad_by_freq, out)",),
        {"grad_output": "Gradient with respect to the rows that were looked up.",
         "input": "Indices of rows, as given to ``embedding``.",
         "num_weights": "Number of rows of the table.",
         "padding_idx": "Row without a gradient; -1 for none.",
         "scale_grad_by_freq": "Whether a gradient is divided by how often its row is named."}),
)  # fmt: skip
