# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on two or more operands, element by element."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import PAIR, REAL_PAIR, binary

__all__ = ["ROWS"]

_ALPHA = ", *, alpha: Number = 1"
_THREE = Output("Broadcast shape and promoted dtype of the three tensors.",
                "broadcast(input, tensor1, tensor2)",
                "promote(input, tensor1, tensor2)")  # fmt: skip

ROWS = (
    binary("add", "Add ``alpha`` times ``other`` to ``input``.",
           "add(input, other, alpha, out)", "adds(input, other, alpha, out)", more=_ALPHA),
    binary("sub", "Subtract ``alpha`` times ``other`` from ``input``.",
           "sub(input, other, alpha, out)", "subs(input, other, alpha, out)", more=_ALPHA),
    binary("rsub", "Subtract ``alpha`` times ``input`` from ``other``.",
           "rsub(input, other, alpha, out)", "rsubs(input, other, alpha, out)", more=_ALPHA,
           about={"alpha": "Factor of ``input``."}),
    binary("mul", "Multiply element by element.", "mul(input, other, out)",
           "muls(input, other, out)"),
    binary("div", "Divide element by element.", "div(input, other, out)",
           "divs(input, other, out)", REAL_PAIR),
    binary("floor_divide", "Divide and round down.", "floor_divide(input, other, out)",
           "floor_divides(input, other, out)"),
    binary("remainder", "Compute the remainder of a division, with the sign of the divisor.",
           "remainder_tensor_tensor(input, other, out)",
           "remainder_tensor_scalar(input, other, out)"),
    binary("fmod", "Compute the remainder of a division, with the sign of the dividend.",
           "fmod_tensor(input, other, out)", "fmod_scalar(input, other, out)"),
    binary("maximum", "Take the larger of two elements, or NaN if one of them is NaN.",
           "maximum(input, other, out)"),
    binary("minimum", "Take the smaller of two elements, or NaN if one of them is NaN.",
           "minimum(input, other, out)"),
    binary("atan2", "Compute the angle of the point (``other``, ``input``) in radians.",
           "atan2(input, other, out)", out=REAL_PAIR),
    binary("logaddexp", "Compute the logarithm of the sum of two exponentials.",
           "log_add_exp(input, other, out)", out=REAL_PAIR),
    Row("pow", "input: Tensor | Number, exponent: Tensor | Number",
        "Raise ``input`` to the power ``exponent``, element by element.",
        (Output(PAIR.text, "broadcast(input, exponent)", "promote(input, exponent)"),),
        (Call("not isinstance(exponent, Tensor)", ("pow_tensor_scalar(tensor, exponent, out)",)),
         Call("isinstance(input, Tensor)", ("pow_tensor_tensor(input, exponent, out)",)),
         "pow_scalar_tensor(input, exponent, out)"),
        {"input": "Base.",
         "exponent": "Exponent, broadcast with ``input``. At least one of the two is a tensor."},
        steps=("tensor = first_tensor(input=input, exponent=exponent)",),
        device="tensor.device"),
    Row("addcmul", "input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1",
        "Add ``value`` times the product of two tensors to ``input``.", (_THREE,),
        ("addcmul(input, tensor1, tensor2, value, out)",), {"value": "Factor of the product."}),
    Row("addcdiv", "input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1",
        "Add ``value`` times the quotient of two tensors to ``input``.", (_THREE,),
        ("addcdiv(input, tensor1, tensor2, value, out)",), {"value": "Factor of the quotient."}),
    Row("lerp", "input: Tensor, end: Tensor, weight: Tensor | Number",
        "Interpolate linearly between ``input`` and ``end``.",
        (Output("Broadcast shape; dtype of ``input``.", "broadcast(input, end, weight)"),),
        (Call("isinstance(weight, Tensor)", ("lerp(input, end, weight, out)",)),
         "lerps(input, end, weight, out)"),
        {"end": "Same dtype as ``input``.",
         "weight": "Position between the two: 0 gives ``input``, 1 gives ``end``."}),
)  # fmt: skip
