# SPDX-License-Identifier: Apache-2.0
"""Losses and their gradients."""

from __future__ import annotations

from maintain.functional.row import Output, Row
from maintain.functional.tables.forms import SAME

__all__ = ["ROWS"]

_SHAPE = "broadcast(input, target) if reduction == 'none' else ()"
_LOSS = Output(
    "A 0-d tensor; the broadcast shape when ``reduction`` is 'none'. The promoted dtype.",
    _SHAPE,
    "promote(input, target)",
)
_SLOPE = Output(
    "The broadcast shape of ``input`` and ``target``; the promoted dtype.",
    "broadcast(input, target)",
    "promote(input, target)",
)
_TARGET_LOSS = Output(
    "A 0-d tensor; the shape of ``input`` when ``reduction`` is 'none'. Dtype of ``target``.",
    "input.shape if reduction == 'none' else ()",
    "target.dtype_name",
)
_TARGET_SLOPE = Output("Shape of ``input``; dtype of ``target``.", "input.shape",
                       "target.dtype_name")  # fmt: skip
_ABOUT = {
    "target": "What ``input`` should be; it broadcasts with ``input``.",
    "reduction": "'none' keeps a loss per element, 'mean' averages them, 'sum' adds them.",
}
_BETA = {"beta": "Distance from which on the loss is absolute; 0 makes all of it absolute."}
_WEIGHT = {"weight": "Factor of each loss; broadcasts to ``input``."}
_POSITIVE = {"pos_weight": "Factor of the positive class; broadcasts to ``input``."}
_REDUCTION = "*, reduction: str = 'mean'"


def _pair(
    name: str,
    summary: str,
    about: dict[str, str] | None = None,
    *,
    operator: str = "",
    optional: str = "",
    more: str = "",
    outputs: tuple[Output, Output] = (_LOSS, _SLOPE),
) -> tuple[Row, Row]:
    """A loss and its gradient; ``optional`` tensors come before the reduction, ``more`` after."""
    operator = operator or name
    tensors = "".join(f", {one}" for one in optional.split())
    given = "".join(f", {one}: Tensor | None = None" for one in optional.split())
    extra = "".join(f", {one.split(':')[0]}" for one in more.split(", ") if one)
    tail = f"{_REDUCTION}, {more}" if more else _REDUCTION
    steps = (f"expect_optional({', '.join(f'{o}={o}' for o in optional.split())})",)
    checks = steps if optional else ()
    told = {**_ABOUT, **(about or {})}
    return (
        Row(name, f"input: Tensor, target: Tensor{given}, {tail}", summary, (outputs[0],),
            (f"{operator}(input, target{tensors}, reduction_mode(reduction){extra}, out)",),
            told, steps=checks),
        Row(f"{name}_backward",
            f"grad_output: Tensor, input: Tensor, target: Tensor{given}, {tail}",
            f"Compute the gradient of ``{name}`` with respect to its input.", (outputs[1],),
            (f"{operator}_backward(grad_output, input, target{tensors}, "
             f"reduction_mode(reduction){extra}, out)",),
            {**told, "grad_output": "Gradient with respect to the loss.",
             "reduction": f"As given to ``{name}``."}, steps=checks),
    )  # fmt: skip


ROWS = (
    *_pair("soft_margin_loss",
           "Compute the logistic loss of two classes, ``log(1 + exp(-input * target))``.",
           {"target": "Class of each element, 1 or -1."}, outputs=(_LOSS, SAME)),
    *_pair("l1_loss", "Compute the distance of each element from its target."),
    *_pair("mse_loss", "Compute the squared distance of each element from its target."),
    *_pair("smooth_l1_loss",
           "Compute a loss that is squared near the target and absolute far from it.", _BETA,
           more="beta: float = 1.0"),
    *_pair("binary_cross_entropy", "Compute the cross entropy of probabilities of two classes.",
           {"input": "Probabilities, 0 to 1.", "target": "Probabilities, 0 to 1; shape and dtype "
            "of ``input``.", **_WEIGHT}, optional="weight",
           outputs=(_TARGET_LOSS, _TARGET_SLOPE)),
    *_pair("binary_cross_entropy_with_logits",
           "Compute the cross entropy of two classes from logits.",
           {"input": "Logits: probabilities are their sigmoids.",
            "target": "Probabilities, 0 to 1; shape of ``input``.", **_WEIGHT, **_POSITIVE},
           optional="weight pos_weight", outputs=(_TARGET_LOSS, _TARGET_SLOPE)),
    *(Row(f"{name}_backward", "grad_output: Tensor, output: Tensor, dim: int = -1",
          f"Compute the gradient of ``{name}`` with respect to its input.",
          (Output("Shape and dtype of ``output``.", "output.shape", "output.dtype_name"),),
          (f"{name}_backward(grad_output, output, dim, out)",),
          {"grad_output": f"Gradient with respect to the result of ``{name}``.",
           "output": f"The result of ``{name}``.", "dim": f"As given to ``{name}``."})
      for name in ("softmax", "log_softmax")),
)  # fmt: skip
