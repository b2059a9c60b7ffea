# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pooling."""

from __future__ import annotations

from aclnn_py.functional.row import Output, Row

__all__ = ["ROWS"]

_PAIR = "int | tuple[int, ...]"
_ABOUT = {
    "input": "Shape ``(n, channels, height, width)``.",
    "kernel_size": "Height and width of the window.",
    "stride": "How far the window moves; its own size by default.",
    "padding": "Rows and columns added on each side.",
    "dilation": "Distance of neighbours in the window.",
    "ceil_mode": "Whether windows that leave the input at its end count.",
}
_STEP = "each(kernel_size if stride is None else stride, 2)"

ROWS = (
    Row("conv2d", "input: Tensor, weight: Tensor, bias: Tensor | None = None, "
        f"stride: {_PAIR} = 1, padding: {_PAIR} = 0, dilation: {_PAIR} = 1, "
        "groups: int = 1, *, cube_math_type: int = 0",
        "Convolve images with filters.",
        (Output("Shape ``(n, filters, rows, columns)``; the promoted dtype.",
                "conv_shape(input.shape, weight.shape, each(stride, 2), each(padding, 2), "
                "each(dilation, 2))", "promote(input, weight)"),),
        ("convolution(channels_first(input), channels_first(weight, 'weight'), bias, "
         "each(stride, 2), each(padding, 2), each(dilation, 2), False, (0, 0), groups, "
         "channels_first(out), cube_math_type)",),
        {**_ABOUT, "stride": "How far the filters move.",
         "weight": "Shape ``(filters, channels / groups, height, width)``.",
         "bias": "Shape ``(filters,)``.", "groups": "Groups of channels that do not mix."},
        checks=("check_filters(input, weight, 2)",)),
    Row("avg_pool2d", f"input: Tensor, kernel_size: {_PAIR}, stride: {_PAIR} | None = None, "
        f"padding: {_PAIR} = 0, ceil_mode: bool = False, count_include_pad: bool = True, "
        "divisor_override: int = 0", "Average over a moving window.",
        (Output("Shape ``(n, channels, rows, columns)``; the same dtype.",
                f"pooled_shape(input.shape, each(kernel_size, 2), {_STEP}, each(padding, 2), "
                "ceil_mode=ceil_mode)"),),
        (f"avg_pool2d(channels_first(input), each(kernel_size, 2), {_STEP}, each(padding, 2), "
         "ceil_mode, count_include_pad, divisor_override, 0, channels_first(out))",),
        {**_ABOUT, "count_include_pad": "Whether the padding counts in the divisor.",
         "divisor_override": "The divisor; 0 for the size of the window."}),
    Row("max_pool2d", f"input: Tensor, kernel_size: {_PAIR}, stride: {_PAIR} | None = None, "
        f"padding: {_PAIR} = 0, dilation: {_PAIR} = 1, ceil_mode: bool = False",
        "Largest element in a moving window.",
        (Output("Shape ``(n, channels, rows, columns)``; the same dtype.",
                f"pooled_shape(input.shape, each(kernel_size, 2), {_STEP}, each(padding, 2), "
                "each(dilation, 2), ceil_mode)"),),
        (f"max_pool(input, each(kernel_size, 2), {_STEP}, 0, each(padding, 2), "
         "each(dilation, 2), int(ceil_mode), out)",), _ABOUT),
    Row("unfold", f"input: Tensor, kernel_size: {_PAIR}, dilation: {_PAIR} = 1, "
        f"padding: {_PAIR} = 0, stride: {_PAIR} = 1", "Put every window of an image into a column.",
        (Output("Shape ``(n, channels * window, windows)``.",
                "unfolded_shape(input.shape, each(kernel_size, 2), each(stride, 2), "
                "each(padding, 2), each(dilation, 2))"),),
        ("im2col(input, each(kernel_size, 2), each(dilation, 2), each(padding, 2), "
         "each(stride, 2), out)",), {**_ABOUT, "stride": "How far the window moves."}),
)  # fmt: skip
