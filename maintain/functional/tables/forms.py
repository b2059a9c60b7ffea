# SPDX-License-Identifier: Apache-2.0
"""Forms that many rows share: functions of one tensor, and of two operands."""

from __future__ import annotations

from collections.abc import Mapping

from maintain.functional.row import Call, Output, Row

__all__ = ["PAIR", "REAL", "REAL_PAIR", "SAME", "TRUTH", "TRUTH_PAIR", "binary", "unary"]

SAME = Output("Same shape and dtype as ``input``.")
REAL = Output("Same shape as ``input``; float32 for integers and bool, else the same dtype.",
              dtype="floating(promote(input))")  # fmt: skip
TRUTH = Output("Same shape as ``input``; dtype bool.", dtype="'bool'")
PAIR = Output(
    "Broadcast shape and promoted dtype of the operands.",
    "broadcast(input, other)",
    "promote(input, other)",
)
REAL_PAIR = Output(
    "Broadcast shape of the operands; float32 for integers and bool, else the promoted dtype.",
    "broadcast(input, other)",
    "floating(promote(input, other))",
)
TRUTH_PAIR = Output(
    "Broadcast shape of the operands; dtype bool.", "broadcast(input, other)", "'bool'"
)


def unary(name: str, summary: str, out: Output = SAME, operator: str = "") -> Row:
    """A function of every element."""
    call = f"{operator or name}(input, out)"
    return Row(name, "input: Tensor", summary, (out,), (call,))


def binary(
    name: str,
    summary: str,
    tensor: str,
    number: str = "",
    out: Output = PAIR,
    *,
    more: str = "",
    about: Mapping[str, str] | None = None,
) -> Row:
    """A function of two tensors, or of a tensor and a number where an operator takes that."""
    operand = "Tensor | Number" if number else "Tensor"
    calls: tuple[str | Call, ...] = (tensor,)
    if number:
        calls = (Call("isinstance(other, Tensor)", (tensor,)), number)
    head = f"input: Tensor, other: {operand}{more}"
    known = {} if number else {"other": "Second operand, broadcast with ``input``."}
    return Row(name, head, summary, (out,), calls, {**known, **(about or {})})
