# SPDX-License-Identifier: Apache-2.0
"""Margins that hold the other side, gradients of margins, and the inverse of ``unfold``."""

from __future__ import annotations

from maintain.functional.row import Output, Row
from maintain.functional.tables.window_forms import GRADIENT, NUMBERS, SLOPE, each

__all__ = ["ROWS"]

_PADDING = {
    "pad": "Number of elements added before and after each dimension, as pairs; the first pair is "
    "for the last dimension.",
}


def _margins(kind: str, spatial: int) -> Row:
    name = f"{kind}_pad{spatial}d"
    return Row(
        f"{name}_backward", "grad_output: Tensor, input: Tensor, pad: Sequence[int]",
        f"Compute the gradient of margins made by {kind} in {spatial} "
        f"dimension{'s'[: spatial > 1]}.",
        (GRADIENT,), (f"{name}_backward(grad_output, input, pad, out)",), {**SLOPE, **_PADDING},
    )  # fmt: skip


def _circular(spatial: int) -> Row:
    return Row(
        f"circular_pad{spatial}d", "input: Tensor, pad: Sequence[int]",
        f"Add margins in {spatial} dimensions that hold the other side of the tensor.",
        (Output("Padded shape; dtype of ``input``.", "pad_shape(input.shape, pad)"),),
        (f"circular_pad{spatial}d(input, pad, out)",), _PADDING,
    )  # fmt: skip


ROWS = (
    *map(_circular, (2, 3)),
    *(_margins(kind, n) for kind in ("reflection", "replication") for n in (1, 2, 3)),
    *(_margins("circular", n) for n in (2, 3)),
    Row("fold", f"input: Tensor, output_size: {NUMBERS}, kernel_size: {NUMBERS}, "
        f"dilation: {NUMBERS} = 1, padding: {NUMBERS} = 0, stride: {NUMBERS} = 1",
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
        steps=each(2, "output_size", "kernel_size", "stride", "padding", "dilation")),
)  # fmt: skip
