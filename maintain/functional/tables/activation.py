# SPDX-License-Identifier: Apache-2.0
"""Activation functions."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import PAIR, REAL, SAME, unary

__all__ = ["ROWS"]

_HALF = Output(
    "Shape of ``input`` with half the length in ``dim``; the same dtype.",
    "replaced(input.shape, dim, half(input.shape, dim))",
)

ROWS = (
    unary("relu", "Replace negative elements by zero."),
    unary("sigmoid", "Compute the logistic function ``1 / (1 + exp(-input))``.", REAL),
    unary("silu", "Multiply each element by its sigmoid."),
    unary("hardswish", "Compute the piecewise linear form of silu."),
    unary("hardsigmoid", "Compute the piecewise linear form of the sigmoid."),
    unary("mish", "Multiply each element by the hyperbolic tangent of its softplus."),
    unary("selu", "Compute the scaled exponential linear unit."),
    unary("logsigmoid", "Compute the logarithm of the sigmoid.", SAME, "log_sigmoid"),
    Row("gelu", "input: Tensor, *, approximate: str = 'none'",
        "Multiply each element by the normal distribution function of it.", (SAME,),
        # Libraries older than gelu_v2 have only the form with the hyperbolic tangent.
        (Call("approximate == 'tanh' and not has_operator('gelu_v2')", ("gelu(input, out)",)),
         "gelu_v2(input, gelu_mode(approximate), out)"),
        {"approximate": "'none' uses the error function, 'tanh' the formula with a hyperbolic "
         "tangent."}),
    Row("leaky_relu", "input: Tensor, negative_slope: Number = 0.01",
        "Multiply negative elements by a slope.", (SAME,),
        ("leaky_relu(input, negative_slope, out)",),
        {"negative_slope": "Factor of negative elements."}),
    Row("elu", "input: Tensor, alpha: Number = 1.0", "Compute the exponential linear unit.",
        (SAME,), ("elu(input, alpha, 1.0, 1.0, out)",),
        {"alpha": "Negative elements approach ``-alpha``."}),
    Row("softplus", "input: Tensor, beta: Number = 1, threshold: Number = 20",
        "Compute a smooth form of relu, ``log(1 + exp(beta * input)) / beta``.", (SAME,),
        ("softplus(input, beta, threshold, out)",),
        {"beta": "Sharpness of the bend.",
         "threshold": "Where ``beta * input`` is larger, the result is ``input``."}),
    Row("softshrink", "input: Tensor, lambd: Number = 0.5",
        "Move each element towards zero by ``lambd``, but not beyond zero.", (SAME,),
        ("softshrink(input, lambd, out)",), {"lambd": "Distance to move."}),
    Row("threshold", "input: Tensor, threshold: Number, value: Number",
        "Replace elements that are not above a threshold.", (SAME,),
        ("threshold(input, threshold, value, out)",),
        {"threshold": "Elements above it stay.", "value": "Replacement for the others."}),
    Row("softmax", "input: Tensor, dim: int = -1",
        "Divide exponentials by their sum along one dimension.", (SAME,),
        ("softmax(input, dim, out)",), {"dim": "Dimension along which the result adds up to 1."}),
    Row("log_softmax", "input: Tensor, dim: int = -1", "Compute the logarithm of the softmax.",
        (SAME,), ("log_softmax(input, dim, out)",), {"dim": "Dimension of the softmax."}),
    Row("glu", "input: Tensor, dim: int = -1",
        "Multiply the first half of a dimension by the sigmoid of the second half.", (_HALF,),
        ("glu(input, dim, out)",), {"dim": "Dimension to split; its length is even."}),
    Row("swiglu", "input: Tensor, dim: int = -1",
        "Multiply the silu of the first half of a dimension by the second half.", (_HALF,),
        ("swi_glu(input, dim, out)",), {"dim": "Dimension to split; its length is even."}),
    Row("gelu_mul", "input: Tensor, *, approximate: str = 'none'",
        "Multiply the gelu of the first half of the last dimension by the second half.",
        (Output(_HALF.text, "replaced(input.shape, -1, half(input.shape, -1))"),),
        ("gelu_mul(input, approximate, out)",),
        {"approximate": "'none' uses the error function, 'tanh' the formula with a hyperbolic "
         "tangent."}),
    Row("clipped_swiglu", "input: Tensor, group_index: Tensor | None = None, *, dim: int = -1, "
        "alpha: float = 1.702, limit: float = 7.0, bias: float = 1.0, interleaved: bool = True",
        "Multiply the limited silu of one part of a dimension by the limited other part.", (_HALF,),
        ("clipped_swiglu(input, group_index, dim, alpha, limit, bias, interleaved, out)",),
        {"group_index": "How many rows each group has; shape ``(groups,)``; dtype int64. Rows "
         "behind the last group are undefined.",
         "dim": "Dimension to split; its length is even.", "alpha": "Factor in the sigmoid.",
         "limit": "What the gate is limited to, and the other part to both sides.",
         "bias": "What is added to the other part.",
         "interleaved": "Whether even elements are the gate, else the first half is."}),
    Row("add_relu", "input: Tensor, other: Tensor, *, alpha: Number = 1",
        "Add ``alpha`` times ``other`` and replace negative sums by zero.", (PAIR,),
        ("add_relu(input, other, alpha, out)",),
        {"other": "Second operand, broadcast with ``input``."}),
)  # fmt: skip
