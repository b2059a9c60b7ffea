# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling."""

from __future__ import annotations

from maintain.functional.row import Output, Row
from maintain.functional.tables.window_forms import NUMBERS, SHAPES, each, pooling

__all__ = ["ROWS"]

_WINDOW = {
    "kernel_size": "Size of the window, one number or one per dimension.",
    "stride": "Step of the window; default is ``kernel_size``.",
    "padding": "Number of elements added on each side.",
    "dilation": "Distance between neighbours in the window.",
    "ceil_mode": "Whether to include windows that reach beyond the end of the input.",
    "count_include_pad": "Whether the padding counts towards the divisor.",
    "divisor_override": "Divisor; 0 for the size of the window.",
}
_FILTERS = {
    "stride": "Step of the filters.",
    "padding": "Number of elements added on each side.",
    "dilation": "Distance between neighbours in a filter.",
    "bias": "Shape ``(filters,)``.",
    "groups": "Number of groups of channels that do not mix.",
}


def _image(spatial: int) -> str:
    return f"Shape ``(n, channels, {SHAPES[spatial]})``."


def _batch_or_not(spatial: int) -> str:
    return f"Shape ``(n, channels, {SHAPES[spatial]})`` or ``(channels, {SHAPES[spatial]})``."


def _pooled(arguments: str) -> str:
    return f"pooled_shape(input.shape, kernel_size, stride, padding, {arguments})"


def _convolution(spatial: int) -> Row:
    lengths = SHAPES[spatial]
    none = ", ".join("0" * spatial)
    return Row(
        f"conv{spatial}d",
        "input: Tensor, weight: Tensor, bias: Tensor | None = None, "
        f"stride: {NUMBERS} = 1, padding: {NUMBERS} = 0, dilation: {NUMBERS} = 1, "
        "groups: int = 1, *, cube_math_type: int = 0",
        f"Convolve in {spatial} dimension{'s'[: spatial > 1]}.",
        (Output(f"Shape ``(n, filters, {lengths})``; the promoted dtype.",
                "conv_shape(input.shape, weight.shape, stride, padding, dilation)",
                "promote(input, weight)"),),
        ("convolution(channels_first(input), channels_first(weight), bias, stride, padding, "
         f"dilation, False, ({none},), groups, channels_first(out), cube_math_type)",),
        {**_FILTERS, "input": _image(spatial),
         "weight": f"Shape ``(filters, channels / groups, {lengths})``."},
        steps=(f"check_filters(input, weight, {spatial})",
               *each(spatial, "stride", "padding", "dilation")),
    )  # fmt: skip


def _transposed(spatial: int) -> Row:
    lengths = SHAPES[spatial]
    return Row(
        f"conv_transpose{spatial}d",
        "input: Tensor, weight: Tensor, bias: Tensor | None = None, "
        f"stride: {NUMBERS} = 1, padding: {NUMBERS} = 0, output_padding: {NUMBERS} = 0, "
        f"groups: int = 1, dilation: {NUMBERS} = 1, *, cube_math_type: int = 0",
        f"Apply a transposed convolution in {spatial} dimension{'s'[: spatial > 1]}.",
        (Output(f"Shape ``(n, filters, {lengths})``; dtype of ``input``.",
                "transposed_shape(input.shape, weight.shape, stride, padding, output_padding, "
                "dilation, groups)"),),
        ("convolution(channels_first(input), channels_first(weight), bias, stride, padding, "
         "dilation, True, output_padding, groups, channels_first(out), cube_math_type)",),
        {**_FILTERS, "input": _image(spatial),
         "weight": f"Shape ``(channels, filters / groups, {lengths})``.",
         "padding": "Number of elements removed from each side of the result.",
         "output_padding": "Number of elements added at the end of the result; less than "
         "``stride`` or ``dilation``."},
        steps=(f"check_filters(input, weight, {spatial})",
               *each(spatial, "stride", "padding", "output_padding", "dilation")),
    )  # fmt: skip


def _adaptive(spatial: int) -> Row:
    return Row(
        f"adaptive_avg_pool{spatial}d",
        f"input: Tensor, output_size: {NUMBERS}",
        f"Average over cells that divide {spatial} dimensions evenly.",
        (Output("Shape of ``input`` with ``output_size`` as the last dimensions; the same dtype.",
                f"(*input.shape[:-{spatial}], *output_size)"),),
        (f"adaptive_avg_pool{spatial}d({_named(spatial, 'input')}, output_size, "
         f"{_named(spatial, 'out')})",),
        {"input": _batch_or_not(spatial),
         "output_size": "Number of cells, one number or one per dimension."},
        steps=each(spatial, "output_size"),
    )  # fmt: skip


def _named(spatial: int, tensor: str) -> str:
    # The operators of three dimensions take ND as well, for tensors with and without a batch.
    return f"channels_first({tensor})" if spatial == 2 else tensor


def _average(spatial: int) -> Row:
    call = (
        "avg_pool2d(channels_first(input), kernel_size, stride, padding, ceil_mode, "
        "count_include_pad, divisor_override, 0, channels_first(out))"
        if spatial == 2
        else "avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, "
        "divisor_override, out)"
    )
    return Row(
        f"avg_pool{spatial}d",
        f"input: Tensor, kernel_size: {NUMBERS}, stride: {NUMBERS} | None = None, "
        f"padding: {NUMBERS} = 0, ceil_mode: bool = False, count_include_pad: bool = True, "
        "divisor_override: int = 0",
        f"Average over a moving window of {spatial} dimensions.",
        (Output(f"Shape ``(n, channels, {SHAPES[spatial]})``; dtype of ``input``.",
                _pooled("ceil_mode=ceil_mode")),),
        (call,), {**_WINDOW, "input": _batch_or_not(spatial)},
        steps=pooling(spatial, "padding"),
    )  # fmt: skip


def _with_indices(spatial: int) -> Row:
    operator = {2: "max_pool2d_with_indices", 3: "max_pool3d_with_argmax"}[spatial]
    return Row(
        f"max_pool{spatial}d_with_indices",
        f"input: Tensor, kernel_size: {NUMBERS}, stride: {NUMBERS} | None = None, "
        f"padding: {NUMBERS} = 0, dilation: {NUMBERS} = 1, ceil_mode: bool = False",
        f"Find the largest element in a moving window of {spatial} dimensions, and its index.",
        (Output("Largest elements; dtype of ``input``.", "shape"),
         Output(f"Their row-major index in ``({SHAPES[spatial]})`` of ``input``; int32.",
                "shape", "'int32'", "indices")),
        (f"{operator}(input, kernel_size, stride, padding, dilation, ceil_mode, out, indices)",),
        {**_WINDOW, "input": _batch_or_not(spatial)},
        steps=(*pooling(spatial, "padding", "dilation"),
               f"shape = {_pooled('dilation, ceil_mode')}"),
    )  # fmt: skip


ROWS = (
    *map(_convolution, SHAPES),
    *map(_transposed, SHAPES),
    _average(2),
    Row("max_pool2d", f"input: Tensor, kernel_size: {NUMBERS}, stride: {NUMBERS} | None = None, "
        f"padding: {NUMBERS} = 0, dilation: {NUMBERS} = 1, ceil_mode: bool = False",
        "Find the largest element in a moving window of 2 dimensions.",
        (Output("Shape ``(n, channels, height, width)``; dtype of ``input``.",
                _pooled("dilation, ceil_mode")),),
        ("max_pool(input, kernel_size, stride, 0, padding, dilation, int(ceil_mode), out)",),
        {**_WINDOW, "input": _batch_or_not(2)},
        steps=pooling(2, "padding", "dilation")),
    *map(_adaptive, (2, 3)),
    *map(_with_indices, (2, 3)),
    _average(3),
    Row("unfold", f"input: Tensor, kernel_size: {NUMBERS}, dilation: {NUMBERS} = 1, "
        f"padding: {NUMBERS} = 0, stride: {NUMBERS} = 1",
        "Copy each window of an image into a column.",
        (Output("Shape ``(n, channels * window, windows)``; dtype of ``input``.",
                "unfolded_shape(input.shape, kernel_size, stride, padding, dilation)"),),
        ("im2col(input, kernel_size, dilation, padding, stride, out)",),
        {**_WINDOW, "input": _image(2), "stride": "Step of the window."},
        steps=each(2, "kernel_size", "stride", "padding", "dilation")),
)  # fmt: skip
