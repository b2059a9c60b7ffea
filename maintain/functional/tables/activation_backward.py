# SPDX-License-Identifier: Apache-2.0
"""Gradients of activation functions."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

_GRADIENT = "Gradient with respect to the result of ``{}``."


def _of(
    name: str,
    call: str,
    more: str = "",
    about: dict[str, str] | None = None,
    *,
    given: str = "input",
) -> Row:
    """The gradient of an activation from what it was given, or from its result."""
    told = f"As given to ``{name}``." if given == "input" else f"The result of ``{name}``."
    what = Output(f"Shape and dtype of ``{given}``.", f"{given}.shape", f"{given}.dtype_name")
    parameters = f"grad_output: Tensor, {given}: Tensor" + (f", {more}" if more else "")
    names = [part.split(":")[0].strip("* ") for part in more.split(", ") if ":" in part]
    known = dict.fromkeys(names, f"As given to ``{name}``.")
    return Row(
        f"{name}_backward",
        parameters,
        f"Compute the gradient of ``{name}`` with respect to its input.",
        (what,),
        (call,),
        {"grad_output": _GRADIENT.format(name), given: told, **known, **(about or {})},
    )


ROWS = (
    _of("sigmoid", "sigmoid_backward(grad_output, output, out)", given="output"),
    _of("tanh", "tanh_backward(grad_output, output, out)", given="output"),
    _of("selu", "selu_backward(grad_output, output, out)", given="output"),
    _of("relu", "threshold_backward(grad_output, input, 0, out)"),
    _of("silu", "silu_backward(grad_output, input, out)"),
    _of("mish", "mish_backward(grad_output, input, out)"),
    _of("hardswish", "hardswish_backward(grad_output, input, out)"),
    _of("hardsigmoid", "hardsigmoid_backward(grad_output, input, out)"),
    # The buffer is not looked at.
    _of("logsigmoid", "log_sigmoid_backward(grad_output, input, input, out)"),
    _of("gelu", "gelu_backward_v2(grad_output, input, approximate, out)",
        "*, approximate: str = 'none'"),
    _of("leaky_relu", "leaky_relu_backward(grad_output, input, negative_slope, False, out)",
        "negative_slope: Number = 0.01"),
    _of("elu", "elu_backward(grad_output, alpha, 1.0, 1.0, False, input, out)",
        "alpha: Number = 1.0"),
    _of("softplus", "softplus_backward(grad_output, input, beta, threshold, out)",
        "beta: Number = 1, threshold: Number = 20"),
    _of("softshrink", "softshrink_backward(grad_output, input, lambd, out)",
        "lambd: Number = 0.5"),
    _of("threshold", "threshold_backward(grad_output, input, threshold, out)",
        "threshold: Number"),
    _of("glu", "glu_backward(grad_output, input, dim, out)", "dim: int = -1"),
    _of("swiglu", "swi_glu_grad(grad_output, input, dim, out)", "dim: int = -1"),
    Row("prelu", "input: Tensor, weight: Tensor",
        "Multiply negative elements by a slope, one for all or one for each channel.",
        (Output("Shape and dtype of ``input``."),), ("prelu(input, weight, out)",),
        {"weight": "Slopes: one element, or one for each element of dimension 1."}),
    Row("prelu_backward", "grad_output: Tensor, input: Tensor, weight: Tensor",
        "Compute the gradients of ``prelu``.",
        (Output("Shape and dtype of ``input``.", name="grad_input"),
         Output("Shape and dtype of ``weight``.", "weight.shape", "weight.dtype_name",
                "grad_weight")),
        ("prelu_backward(grad_output, input, weight, grad_input, grad_weight)",),
        {"grad_output": _GRADIENT.format("prelu"), "weight": "As given to ``prelu``."}),
)  # fmt: skip
