# SPDX-License-Identifier: Apache-2.0
"""Activation functions, and losses made of them."""

from __future__ import annotations

from aclnn_py.functional.row import Call, Output, Row
from aclnn_py.functional.tables.elementwise import unary

__all__ = ["ROWS"]

_SAME = Output("Of the same shape and dtype.")
_REAL = Output("Of the same shape; float32 for integers, else the same dtype.",
               dtype="real(promote(input))")  # fmt: skip
_LOSS = Output(
    "A tensor without dimensions, or of the shape of ``input`` when nothing is reduced.",
    "broadcast(input, target) if reduction == 'none' else ()",
)
_HALF = Output(
    "Half as long in the dimension.", "replaced(input.shape, dim, half(input.shape, dim))"
)

ROWS = (
    unary("relu", "Replace negative elements by zero."),
    unary("sigmoid", "Logistic function: one divided by one plus e to the minus ``input``.", _REAL),
    unary("silu", "Multiply each element by its sigmoid."),
    unary("hardswish", "Piecewise linear form of silu."),
    unary("hardsigmoid", "Piecewise linear form of the sigmoid."),
    unary("mish", "Multiply each element by the hyperbolic tangent of its softplus."),
    unary("selu", "Scaled exponential linear unit."),
    unary("logsigmoid", "Logarithm of the sigmoid.", _SAME, "log_sigmoid"),
    Row("gelu", "input: Tensor, *, approximate: str = 'none'",
        "Multiply each element by the normal distribution function of it.", (_SAME,),
        # Libraries older than gelu_v2 have the form with the hyperbolic tangent alone.
        (Call("approximate == 'tanh' and not has_operator('gelu_v2')", ("gelu(input, out)",)),
         "gelu_v2(input, gelu_form(approximate), out)"),
        {"approximate": "'none' for the error function, 'tanh' for the formula with a hyperbolic "
         "tangent."}),
    Row("leaky_relu", "input: Tensor, negative_slope: Number = 0.01",
        "Multiply negative elements by a slope.", (_SAME,),
        ("leaky_relu(input, negative_slope, out)",),
        {"negative_slope": "Factor of negative elements."}),
    Row("elu", "input: Tensor, alpha: Number = 1.0", "Exponential linear unit.", (_SAME,),
        ("elu(input, alpha, 1.0, 1.0, out)",), {"alpha": "What negative elements go to, negated."}),
    Row("softplus", "input: Tensor, beta: Number = 1, threshold: Number = 20",
        "Smooth form of relu.", (_SAME,), ("softplus(input, beta, threshold, out)",),
        {"beta": "Sharpness of the bend.", "threshold": "Above it the function is the identity."}),
    Row("softshrink", "input: Tensor, lambd: Number = 0.5",
        "Pull elements towards zero by ``lambd``, and to zero when they are nearer.", (_SAME,),
        ("softshrink(input, lambd, out)",), {"lambd": "The distance."}),
    Row("threshold", "input: Tensor, threshold: Number, value: Number",
        "Replace elements that are not above a threshold.", (_SAME,),
        ("threshold(input, threshold, value, out)",),
        {"threshold": "The limit.", "value": "What replaces them."}),
    Row("softmax", "input: Tensor, dim: int = -1",
        "Divide exponentials by their sum along one dimension.", (_SAME,),
        ("softmax(input, dim, out)",), {"dim": "The dimension whose elements add up to 1."}),
    Row("log_softmax", "input: Tensor, dim: int = -1", "Logarithm of the softmax.", (_SAME,),
        ("log_softmax(input, dim, out)",), {"dim": "The dimension softmax adds up along."}),
    Row("glu", "input: Tensor, dim: int = -1",
        "Multiply the first half of a dimension by the sigmoid of the second half.", (_HALF,),
        ("glu(input, dim, out)",)),
    Row("swiglu", "input: Tensor, dim: int = -1",
        "Multiply the silu of the first half of a dimension by the second half.", (_HALF,),
        ("swi_glu(input, dim, out)",)),
    Row("add_relu", "input: Tensor, other: Tensor, *, alpha: Number = 1",
        "Add ``alpha`` times ``other`` and replace negative sums by zero.",
        (Output("Of the broadcast shape and the promoted dtype.", "broadcast(input, other)",
                "promote(input, other)"),),
        ("add_relu(input, other, alpha, out)",)),
    Row("soft_margin_loss", "input: Tensor, target: Tensor, *, reduction: str = 'mean'",
        "Logistic loss of two classes, ``log(1 + exp(-input * target))``.",
        (_LOSS,), ("soft_margin_loss(input, target, reduction_form(reduction), out)",),
        {"target": "1 or -1 for each element.", "reduction": "'none', 'mean' or 'sum'."}),
    Row("soft_margin_loss_backward",
        "grad_output: Tensor, input: Tensor, target: Tensor, *, reduction: str = 'mean'",
        "Gradient of ``soft_margin_loss`` for its input.", (_SAME,),
        ("soft_margin_loss_backward(grad_output, input, target, reduction_form(reduction), out)",),
        {"grad_output": "Gradient of the loss.", "target": "1 or -1 for each element.",
         "reduction": "'none', 'mean' or 'sum'."}),
)  # fmt: skip
