# SPDX-License-Identifier: Apache-2.0
"""Gradients of pooling, adaptive maxima, and the inverses of pools."""

from __future__ import annotations

from maintain.functional.row import Output, Row
from maintain.functional.tables.window_forms import GRADIENT, NUMBERS, SHAPES, SLOPE, each, pooling

__all__ = ["ROWS"]

_WINDOW = {
    **SLOPE,
    "kernel_size": "Size of the window, one number or one per dimension.",
    "stride": "Step of the window; default is ``kernel_size``.",
    "padding": "Number of elements added on each side.",
    "ceil_mode": "Whether there are windows that reach beyond the end of the input.",
    "count_include_pad": "Whether the padding counts towards the divisor.",
    "divisor_override": "Divisor; 0 for the size of the window.",
    "indices": "Indices that the function returned; int32.",
}


def _average(spatial: int) -> Row:
    call = (
        "avg_pool2d_backward(channels_first(grad_output), channels_first(input), kernel_size, "
        "stride, padding, ceil_mode, count_include_pad, divisor_override, 0, channels_first(out))"
        if spatial == 2
        else "avg_pool3d_backward(grad_output, input, kernel_size, stride, padding, ceil_mode, "
        "count_include_pad, divisor_override, out)"
    )
    return Row(
        f"avg_pool{spatial}d_backward",
        f"grad_output: Tensor, input: Tensor, kernel_size: {NUMBERS}, "
        f"stride: {NUMBERS} | None = None, "
        f"padding: {NUMBERS} = 0, ceil_mode: bool = False, count_include_pad: bool = True, "
        "divisor_override: int = 0",
        f"Compute the gradient of ``avg_pool{spatial}d`` with respect to its input.",
        (GRADIENT,), (call,), _WINDOW, steps=pooling(spatial, "padding"),
    )  # fmt: skip


def _highest(spatial: int) -> Row:
    name = {2: "max_pool2d_with_indices", 3: "max_pool3d_with_argmax"}[spatial]
    return Row(
        f"max_pool{spatial}d_with_indices_backward",
        "grad_output: Tensor, input: Tensor, indices: Tensor, "
        f"kernel_size: {NUMBERS}, stride: {NUMBERS} | None = None, "
        f"padding: {NUMBERS} = 0, ceil_mode: bool = False",
        f"Compute the gradient of ``max_pool{spatial}d_with_indices`` with respect to its input.",
        (GRADIENT,),
        (f"{name}_backward(grad_output, input, indices, kernel_size, stride, padding, "
         f"({', '.join('1' * spatial)}), ceil_mode, out)",),
        {**_WINDOW, "input": "As in the function; float32 for two dimensions."}
        if spatial == 2 else _WINDOW,
        steps=pooling(spatial, "padding"),
    )  # fmt: skip


def _adaptive(spatial: int) -> tuple[Row, ...]:
    kind = {2: "int64", 3: "int32"}[spatial]
    size = {
        "input": f"Shape ``(n, channels, {SHAPES[spatial]})`` or without ``n``.",
        "output_size": "Number of cells, one number or one per dimension.",
    }
    named = "channels_first(input), output_size, channels_first(out), channels_first(indices)"
    return (
        Row(f"adaptive_avg_pool{spatial}d_backward", "grad_output: Tensor, input: Tensor",
            f"Compute the gradient of ``adaptive_avg_pool{spatial}d`` with respect to its input.",
            (GRADIENT,), (f"adaptive_avg_pool{spatial}d_backward(grad_output, input, out)",),
            SLOPE),
        Row(f"adaptive_max_pool{spatial}d", f"input: Tensor, output_size: {NUMBERS}",
            f"Find the largest element of cells that divide {spatial} dimensions evenly, and its "
            "index.",
            (Output("Shape of ``input`` with ``output_size`` as the last dimensions; the same "
                    "dtype.", f"(*input.shape[:-{spatial}], *output_size)"),
             Output(f"Row-major indices in ``({SHAPES[spatial]})`` of ``input``; {kind}.",
                    f"(*input.shape[:-{spatial}], *output_size)", f"'{kind}'", "indices")),
            (f"adaptive_max_pool{spatial}d({named})",), size,
            steps=each(spatial, "output_size")),
        Row(f"adaptive_max_pool{spatial}d_backward",
            "grad_output: Tensor, input: Tensor, indices: Tensor",
            f"Compute the gradient of ``adaptive_max_pool{spatial}d`` with respect to its input.",
            (GRADIENT,),
            (f"adaptive_max_pool{spatial}d_backward(grad_output, input, indices, out)",),
            {**SLOPE, "indices": "Indices that the function returned."}),
    )  # fmt: skip


def _unpool(spatial: int) -> Row:
    arrays = ", [1, 1, 1], [0, 0, 0]" if spatial == 3 else ""
    return Row(
        f"max_unpool{spatial}d",
        f"input: Tensor, indices: Tensor, output_size: {NUMBERS}",
        "Put elements where a pool found them, and zeros elsewhere.",
        (Output("Shape of ``input`` with ``output_size`` as the last dimensions; the same dtype.",
                f"(*input.shape[:-{spatial}], *output_size)"),),
        (f"max_unpool{spatial}d(input, indices, output_size{arrays}, out)",),
        {"input": f"Shape ``(n, channels, {SHAPES[spatial]})`` or without ``n``.",
         "indices": f"Row-major index of each element in the last {spatial} dimensions of the "
         "result; int32 or int64.",
         "output_size": f"Last {spatial} dimensions of the result."},
        steps=each(spatial, "output_size"),
    )  # fmt: skip


ROWS = (
    *map(_average, (2, 3)),
    *map(_highest, (2, 3)),
    *_adaptive(2),
    *_adaptive(3),
    *map(_unpool, (2, 3)),
)
