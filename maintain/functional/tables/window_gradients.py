# SPDX-License-Identifier: Apache-2.0
"""Gradients of convolution, pooling and margins, and the inverses of pools and columns."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

_PAIR = "int | tuple[int, ...]"
_SHAPES = {1: "length", 2: "height, width", 3: "depth, height, width"}
_SLOPE = {"grad_output": "Gradient with respect to the result.", "input": "As in the function."}
_WINDOW = {
    **_SLOPE,
    "kernel_size": "Size of the window, one number or one per dimension.",
    "stride": "Step of the window; default is ``kernel_size``.",
    "padding": "Number of elements added on each side.",
    "ceil_mode": "Whether there are windows that reach beyond the end of the input.",
    "count_include_pad": "Whether the padding counts towards the divisor.",
    "divisor_override": "Divisor; 0 for the size of the window.",
    "indices": "Indices that the function returned; int32.",
}
_FILTERS = {
    **_SLOPE,
    "weight": "As in the function.",
    "stride": "Step of the filters.",
    "dilation": "Distance between neighbours in a filter.",
    "groups": "Number of groups of channels that do not mix.",
}
_PADDING = {
    "pad": "Number of elements added before and after each dimension, as pairs; the first pair is "
    "for the last dimension.",
}
_GRADIENT = Output("Shape and dtype of ``input``.")


def _each(spatial: int, *names: str) -> tuple[str, ...]:
    return tuple(f"{name} = per_dimension('{name}', {name}, {spatial})" for name in names)


def _pooling(spatial: int, *names: str) -> tuple[str, ...]:
    default = f"stride = per_dimension('stride', kernel_size if stride is None else stride, " \
        f"{spatial})"  # fmt: skip
    return (*_each(spatial, "kernel_size"), default, *_each(spatial, *names))


def _convolution(spatial: int, transposed: bool) -> Row:
    name = f"conv_transpose{spatial}d" if transposed else f"conv{spatial}d"
    more = f"output_padding: {_PAIR} = 0, " if transposed else ""
    outer = "output_padding" if transposed else f"({', '.join('0' * spatial)},)"
    channels = "weight.shape[1] * groups" if transposed else "weight.shape[0]"
    arrays = ("stride", "padding", "dilation", *(["output_padding"] if transposed else []))
    return Row(
        f"{name}_backward",
        f"grad_output: Tensor, input: Tensor, weight: Tensor, stride: {_PAIR} = 1, "
        f"padding: {_PAIR} = 0, {more}groups: int = 1, dilation: {_PAIR} = 1, *, "
        "cube_math_type: int = 0"
        if transposed
        else f"grad_output: Tensor, input: Tensor, weight: Tensor, stride: {_PAIR} = 1, "
        f"padding: {_PAIR} = 0, dilation: {_PAIR} = 1, groups: int = 1, *, "
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
        steps=(f"check_filters(input, weight, {spatial})", *_each(spatial, *arrays),
               f"filters = {channels}"),
    )  # fmt: skip


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
        f"grad_output: Tensor, input: Tensor, kernel_size: {_PAIR}, stride: {_PAIR} | None = None, "
        f"padding: {_PAIR} = 0, ceil_mode: bool = False, count_include_pad: bool = True, "
        "divisor_override: int = 0",
        f"Compute the gradient of ``avg_pool{spatial}d`` with respect to its input.",
        (_GRADIENT,), (call,), _WINDOW, steps=_pooling(spatial, "padding"),
    )  # fmt: skip


def _highest(spatial: int) -> Row:
    name = {2: "max_pool2d_with_indices", 3: "max_pool3d_with_argmax"}[spatial]
    return Row(
        f"max_pool{spatial}d_with_indices_backward",
        "grad_output: Tensor, input: Tensor, indices: Tensor, "
        f"kernel_size: {_PAIR}, stride: {_PAIR} | None = None, "
        f"padding: {_PAIR} = 0, ceil_mode: bool = False",
        f"Compute the gradient of ``max_pool{spatial}d_with_indices`` with respect to its input.",
        (_GRADIENT,),
        (f"{name}_backward(grad_output, input, indices, kernel_size, stride, padding, "
         f"({', '.join('1' * spatial)}), ceil_mode, out)",),
        {**_WINDOW, "input": "As in the function; float32 for two dimensions."}
        if spatial == 2 else _WINDOW,
        steps=_pooling(spatial, "padding"),
    )  # fmt: skip


def _adaptive(spatial: int) -> tuple[Row, ...]:
    kind = {2: "int64", 3: "int32"}[spatial]
    size = {
        "input": f"Shape ``(n, channels, {_SHAPES[spatial]})`` or without ``n``.",
        "output_size": "Number of cells, one number or one per dimension.",
    }
    named = "channels_first(input), output_size, channels_first(out), channels_first(indices)"
    return (
        Row(f"adaptive_avg_pool{spatial}d_backward", "grad_output: Tensor, input: Tensor",
            f"Compute the gradient of ``adaptive_avg_pool{spatial}d`` with respect to its input.",
            (_GRADIENT,), (f"adaptive_avg_pool{spatial}d_backward(grad_output, input, out)",),
            _SLOPE),
        Row(f"adaptive_max_pool{spatial}d", f"input: Tensor, output_size: {_PAIR}",
            f"Find the largest element of cells that divide {spatial} dimensions evenly, and its "
            "index.",
            (Output("Shape of ``input`` with ``output_size`` as the last dimensions; the same "
                    "dtype.", f"(*input.shape[:-{spatial}], *output_size)"),
             Output(f"Row-major indices in ``({_SHAPES[spatial]})`` of ``input``; {kind}.",
                    f"(*input.shape[:-{spatial}], *output_size)", f"'{kind}'", "indices")),
            (f"adaptive_max_pool{spatial}d({named})",), size,
            steps=_each(spatial, "output_size")),
        Row(f"adaptive_max_pool{spatial}d_backward",
            "grad_output: Tensor, input: Tensor, indices: Tensor",
            f"Compute the gradient of ``adaptive_max_pool{spatial}d`` with respect to its input.",
            (_GRADIENT,),
            (f"adaptive_max_pool{spatial}d_backward(grad_output, input, indices, out)",),
            {**_SLOPE, "indices": "Indices that the function returned."}),
    )  # fmt: skip


def _unpool(spatial: int) -> Row:
    arrays = ", [1, 1, 1], [0, 0, 0]" if spatial == 3 else ""
    return Row(
        f"max_unpool{spatial}d",
        f"input: Tensor, indices: Tensor, output_size: {_PAIR}",
        "Put elements where a pool found them, and zeros elsewhere.",
        (Output("Shape of ``input`` with ``output_size`` as the last dimensions; the same dtype.",
                f"(*input.shape[:-{spatial}], *output_size)"),),
        (f"max_unpool{spatial}d(input, indices, output_size{arrays}, out)",),
        {"input": f"Shape ``(n, channels, {_SHAPES[spatial]})`` or without ``n``.",
         "indices": f"Row-major index of each element in the last {spatial} dimensions of the "
         "result; int32 or int64.",
         "output_size": f"Last {spatial} dimensions of the result."},
        steps=_each(spatial, "output_size"),
    )  # fmt: skip


def _margins(kind: str, spatial: int) -> Row:
    name = f"{kind}_pad{spatial}d"
    return Row(
        f"{name}_backward", "grad_output: Tensor, input: Tensor, pad: Sequence[int]",
        f"Compute the gradient of margins made by {kind} in {spatial} "
        f"dimension{'s'[: spatial > 1]}.",
        (_GRADIENT,), (f"{name}_backward(grad_output, input, pad, out)",), {**_SLOPE, **_PADDING},
    )  # fmt: skip


def _circular(spatial: int) -> Row:
    return Row(
        f"circular_pad{spatial}d", "input: Tensor, pad: Sequence[int]",
        f"Add margins in {spatial} dimensions that hold the other side of the tensor.",
        (Output("Padded shape; dtype of ``input``.", "pad_shape(input.shape, pad)"),),
        (f"circular_pad{spatial}d(input, pad, out)",), _PADDING,
    )  # fmt: skip


ROWS = (
    *(_convolution(spatial, turned) for turned in (False, True) for spatial in _SHAPES),
    *map(_average, (2, 3)),
    *map(_highest, (2, 3)),
    *_adaptive(2),
    *_adaptive(3),
    *map(_unpool, (2, 3)),
    *map(_circular, (2, 3)),
    *(_margins(kind, n) for kind in ("reflection", "replication") for n in (1, 2, 3)),
    *(_margins("circular", n) for n in (2, 3)),
    Row("fold", f"input: Tensor, output_size: {_PAIR}, kernel_size: {_PAIR}, "
        f"dilation: {_PAIR} = 1, padding: {_PAIR} = 0, stride: {_PAIR} = 1",
        "Add up columns where the windows that they were copied from overlap.",
        (Output("Shape ``(n, channels, height, width)`` or without ``n``; dtype of ``input``.",
                "folded_shape(input.shape, output_size, kernel_size)"),),
        ("im2col_backward(input, output_size, kernel_size, dilation, padding, stride, out)",),
        {"input": "Shape ``(n, channels * window, windows)`` or without ``n``, as ``unfold`` "
         "returns it.",
         "output_size": "Height and width of the result.",
         "kernel_size": "Size of the window, one number or one per dimension.",
         "stride": "Step of the window.",
         "dilation": "Distance between neighbours in the window.",
         "padding": "Number of elements added on each side."},
        steps=_each(2, "output_size", "kernel_size", "stride", "padding", "dilation")),
)  # fmt: skip
