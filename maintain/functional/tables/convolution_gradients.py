# SPDX-License-Identifier: Apache-2.0
"""Gradients of convolution."""

from __future__ import annotations

from maintain.functional.row import Output, Row
from maintain.functional.tables.window_forms import NUMBERS, SHAPES, SLOPE, each

__all__ = ["ROWS"]

_FILTERS = {
    **SLOPE,
    "weight": "As in the function.",
    "stride": "Step of the filters.",
    "dilation": "Distance between neighbours in a filter.",
    "groups": "Number of groups of channels that do not mix.",
}


def _convolution(spatial: int, transposed: bool) -> Row:
    name = f"conv_transpose{spatial}d" if transposed else f"conv{spatial}d"
    more = f"output_padding: {NUMBERS} = 0, " if transposed else ""
    outer = "output_padding" if transposed else f"({', '.join('0' * spatial)},)"
    channels = "weight.shape[1] * groups" if transposed else "weight.shape[0]"
    arrays = ("stride", "padding", "dilation", *(["output_padding"] if transposed else []))
    return Row(
        f"{name}_backward",
        f"grad_output: Tensor, input: Tensor, weight: Tensor, stride: {NUMBERS} = 1, "
        f"padding: {NUMBERS} = 0, {more}groups: int = 1, dilation: {NUMBERS} = 1, *, "
        "cube_math_type: int = 0"
        if transposed
        else f"grad_output: Tensor, input: Tensor, weight: Tensor, stride: {NUMBERS} = 1, "
        f"padding: {NUMBERS} = 0, dilation: {NUMBERS} = 1, groups: int = 1, *, "
        "cube_math_type: int = 0",
        f"Compute the gradients of ``{name}`` with respect to its input, weight and bias.",
        (Output("Gradient with respect to ``input``; its shape and dtype.", name="grad_input"),
         Output("Gradient with respect to ``weight``; its shape and dtype.", "weight.shape",
                "weight.dtype_name", "grad_weight"),
         Output("Gradient with respect to the bias. Shape ``(filters,)``; dtype of "
                "``grad_output``.", "(filters,)", "grad_output.dtype_name", "grad_bias")),
        ("convolution_backward(channels_first(grad_output), channels_first(input), "
         f"channels_first(weight), [filters], stride, padding, dilation, {transposed}, {outer}, "
         "groups, [True, True, True], cube_math_type, channels_first(grad_input), "
         "channels_first(grad_weight), grad_bias)",),
        {**_FILTERS,
         "padding": "Number of elements removed from each side of the result." if transposed
         else "Number of elements added on each side.",
         "output_padding": "Number of elements added at the end of the result."},
        steps=(f"check_filters(input, weight, {spatial})", *each(spatial, *arrays),
               f"filters = {channels}"),
    )  # fmt: skip


ROWS = tuple(_convolution(spatial, turned) for turned in (False, True) for spatial in SHAPES)
