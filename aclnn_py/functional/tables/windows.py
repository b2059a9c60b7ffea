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


def _step(spatial: int) -> str:
    return f"each(kernel_size if stride is None else stride, {spatial})"


_STEP = _step(2)

_SHAPES = {1: "length", 2: "height, width", 3: "depth, height, width"}
_FILTERS = {
    "stride": "How far the filters move.",
    "padding": "Elements added on each side.",
    "dilation": "Distance of neighbours in a filter.",
    "bias": "Shape ``(filters,)``.",
    "groups": "Groups of channels that do not mix.",
}


def _convolution(spatial: int) -> Row:
    lengths = _SHAPES[spatial]
    three = ", ".join(f"each({name}, {spatial})" for name in ("stride", "padding", "dilation"))
    return Row(
        f"conv{spatial}d",
        "input: Tensor, weight: Tensor, bias: Tensor | None = None, "
        f"stride: {_PAIR} = 1, padding: {_PAIR} = 0, dilation: {_PAIR} = 1, "
        "groups: int = 1, *, cube_math_type: int = 0",
        f"Convolve in {spatial} dimension{'s'[: spatial > 1]}.",
        (Output(f"Shape ``(n, filters, {lengths})``; the promoted dtype.",
                f"conv_shape(input.shape, weight.shape, {three})", "promote(input, weight)"),),
        (f"convolution(channels_first(input), channels_first(weight), bias, {three}, False, "
         f"(0,) * {spatial}, groups, channels_first(out), cube_math_type)",),
        {**_FILTERS, "input": f"Shape ``(n, channels, {lengths})``.",
         "weight": f"Shape ``(filters, channels / groups, {lengths})``."},
        checks=(f"check_filters(input, weight, {spatial})",),
    )  # fmt: skip


def _transposed(spatial: int) -> Row:
    lengths = _SHAPES[spatial]
    stride, padding, more, dilation = (
        f"each({name}, {spatial})" for name in ("stride", "padding", "output_padding", "dilation")
    )
    return Row(
        f"conv_transpose{spatial}d",
        "input: Tensor, weight: Tensor, bias: Tensor | None = None, "
        f"stride: {_PAIR} = 1, padding: {_PAIR} = 0, output_padding: {_PAIR} = 0, "
        f"groups: int = 1, dilation: {_PAIR} = 1, *, cube_math_type: int = 0",
        f"Convolve transposed in {spatial} dimension{'s'[: spatial > 1]}.",
        (Output(f"Shape ``(n, filters, {lengths})``; the dtype of ``input``.",
                f"transposed_shape(input.shape, weight.shape, {stride}, {padding}, {more}, "
                f"{dilation}, groups)"),),
        (f"convolution(channels_first(input), channels_first(weight), bias, {stride}, {padding}, "
         f"{dilation}, True, {more}, groups, channels_first(out), cube_math_type)",),
        {**_FILTERS, "input": f"Shape ``(n, channels, {lengths})``.",
         "weight": f"Shape ``(channels, filters / groups, {lengths})``.",
         "padding": "Elements taken off each side of the result.",
         "output_padding": "Elements added behind the result; less than stride or dilation."},
        checks=(f"check_filters(input, weight, {spatial})",),
    )  # fmt: skip


def _adaptive(spatial: int) -> Row:
    lengths = _SHAPES[spatial]
    return Row(
        f"adaptive_avg_pool{spatial}d",
        f"input: Tensor, output_size: {_PAIR}",
        f"Average over cells that share {spatial} dimensions evenly.",
        (Output("Shape of ``input`` with ``output_size`` at its end; the same dtype.",
                f"(*input.shape[:-{spatial}], *each(output_size, {spatial}))"),),
        (f"adaptive_avg_pool{spatial}d({_named(spatial, 'input')}, each(output_size, {spatial}), "
         f"{_named(spatial, 'out')})",),
        {"input": f"Shape ``(n, channels, {lengths})``; the batch may be missing.",
         "output_size": "How many cells along each dimension."},
    )  # fmt: skip


def _named(spatial: int, tensor: str) -> str:
    # The operators of three dimensions take ND as well, for tensors with and without a batch.
    return f"channels_first({tensor})" if spatial == 2 else tensor


def _with_indices(spatial: int) -> Row:
    lengths, step = _SHAPES[spatial], _step(spatial)
    operator = {2: "max_pool2d_with_indices", 3: "max_pool3d_with_argmax"}[spatial]
    shape = (f"pooled_shape(input.shape, each(kernel_size, {spatial}), {step}, "
             f"each(padding, {spatial}), each(dilation, {spatial}), ceil_mode)")  # fmt: skip
    return Row(
        f"max_pool{spatial}d_with_indices",
        f"input: Tensor, kernel_size: {_PAIR}, stride: {_PAIR} | None = None, "
        f"padding: {_PAIR} = 0, dilation: {_PAIR} = 1, ceil_mode: bool = False",
        f"Largest element in a moving window of {spatial} dimensions, and where it is.",
        (Output("The largest elements; the same dtype.", shape),
         Output("int32: their places in the dimensions of the window, counted through.",
                shape, "'int32'", "indices")),
        (f"{operator}(input, each(kernel_size, {spatial}), {step}, each(padding, {spatial}), "
         f"each(dilation, {spatial}), ceil_mode, out, indices)",),
        {**_ABOUT, "input": f"Shape ``(n, channels, {lengths})``; the batch may be missing.",
         "kernel_size": "Lengths of the window.", "padding": "Elements added on each side."},
    )  # fmt: skip


ROWS = (
    *map(_convolution, _SHAPES),
    *map(_transposed, _SHAPES),
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
    *map(_adaptive, (2, 3)),
    *map(_with_indices, (2, 3)),
    Row("avg_pool3d", f"input: Tensor, kernel_size: {_PAIR}, stride: {_PAIR} | None = None, "
        f"padding: {_PAIR} = 0, ceil_mode: bool = False, count_include_pad: bool = True, "
        "divisor_override: int = 0", "Average over a moving window of three dimensions.",
        (Output("Shape ``(n, channels, slices, rows, columns)``; the same dtype.",
                f"pooled_shape(input.shape, each(kernel_size, 3), {_step(3)}, each(padding, 3), "
                "ceil_mode=ceil_mode)"),),
        (f"avg_pool3d(input, each(kernel_size, 3), {_step(3)}, each(padding, 3), ceil_mode, "
         "count_include_pad, divisor_override, out)",),
        {**_ABOUT, "input": "Shape ``(n, channels, depth, height, width)``.",
         "kernel_size": "Depth, height and width of the window.",
         "padding": "Elements added on each side.",
         "count_include_pad": "Whether the padding counts in the divisor.",
         "divisor_override": "The divisor; 0 for the size of the window."}),
    Row("unfold", f"input: Tensor, kernel_size: {_PAIR}, dilation: {_PAIR} = 1, "
        f"padding: {_PAIR} = 0, stride: {_PAIR} = 1", "Put every window of an image into a column.",
        (Output("Shape ``(n, channels * window, windows)``.",
                "unfolded_shape(input.shape, each(kernel_size, 2), each(stride, 2), "
                "each(padding, 2), each(dilation, 2))"),),
        ("im2col(input, each(kernel_size, 2), each(dilation, 2), each(padding, 2), "
         "each(stride, 2), out)",), {**_ABOUT, "stride": "How far the window moves."}),
)  # fmt: skip
