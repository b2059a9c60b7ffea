# SPDX-License-Identifier: Apache-2.0
"""What the rows of convolution, pooling and margins share: sizes of windows, and gradients."""

from __future__ import annotations

from maintain.functional.row import Output

__all__ = ["GRADIENT", "NUMBERS", "SHAPES", "SLOPE", "each", "pooling"]

NUMBERS = "int | tuple[int, ...]"
SHAPES = {1: "length", 2: "height, width", 3: "depth, height, width"}
SLOPE = {"grad_output": "Gradient with respect to the result.", "input": "As in the function."}
GRADIENT = Output("Shape and dtype of ``input``.")


def each(spatial: int, *names: str) -> tuple[str, ...]:
    """Steps that make one number per dimension of each argument."""
    return tuple(f"{name} = per_dimension('{name}', {name}, {spatial})" for name in names)


def pooling(spatial: int, *names: str) -> tuple[str, ...]:
    """As ``each``, for a window whose step is its size unless another is given."""
    default = f"stride = per_dimension('stride', kernel_size if stride is None else stride, " \
        f"{spatial})"  # fmt: skip
    return (*each(spatial, "kernel_size"), default, *each(spatial, *names))
