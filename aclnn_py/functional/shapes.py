# SPDX-License-Identifier: Apache-2.0
"""Dimensions and shapes of results."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite, prod
from typing import Any

import numpy as np

from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import (
    expect_flags,
    expect_whole,
    type_name,
    whole_numbers,
)
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "arange_length",
    "axis",
    "block_counts",
    "broadcast",
    "conv_shape",
    "einsum_shape",
    "folded_shape",
    "given_dims",
    "half",
    "joined_shape",
    "matmul_shape",
    "matrix_shape",
    "ordered_shape",
    "pad_shape",
    "permuted_shape",
    "pooled_shape",
    "qr_shapes",
    "reduced_dims",
    "reduced_shape",
    "replaced",
    "rows_shape",
    "stacked_shape",
    "statistics_shape",
    "tiled_shape",
    "transposed_shape",
    "unfolded_shape",
    "values_shape",
    "whole_repeats",
]

# Values of 4 bits in an element of int32.
_IN_A_WORD = 8


def axis(dim: int, rank: int) -> int:
    """The dimension, counted from the first."""
    expect_whole(dim=dim)
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise InvalidArgumentError(f"dim: {dim} is out of range for {rank} dimensions")
    return dim % max(rank, 1)


def given_dims(dim: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The dimensions to reduce as a tuple; an empty one stands for all."""
    if dim is None:
        return ()
    return whole_numbers("dim", dim)


def reduced_dims(input: Tensor, dim: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The dimensions to reduce as a tuple, all of them written out when none is given."""
    return given_dims(dim) or tuple(range(input.ndim))


def half(shape: tuple[int, ...], dim: int) -> int:
    """Half the length of a dimension."""
    length = shape[axis(dim, len(shape))]
    if length % 2:
        raise InvalidArgumentError(
            f"dim: dimension {dim} has the odd length {length}; expected an even length"
        )
    return length // 2


def whole_repeats(shape: tuple[int, ...], dims: Sequence[int]) -> tuple[int, ...]:
    """The repeats of every dimension; missing leading ones are 1."""
    repeats = whole_numbers("dims", dims)
    return (*(1 for _ in range(len(shape) - len(repeats))), *repeats)


def statistics_shape(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The shape with length 1 in the last ``count`` dimensions."""
    return (*shape[:-count], *(1,) * count)


def block_counts(shape: tuple[int, ...], block_size: Sequence[int]) -> tuple[int, ...]:
    """The shape with the last two dimensions counted in blocks, begun ones included."""
    sizes = whole_numbers("block_size", block_size)
    if len(sizes) != 2 or min(sizes) < 1:
        raise InvalidArgumentError(f"block_size: {sizes}; expected 2 positive numbers")
    if len(shape) < 2:
        raise InvalidArgumentError(f"input: {len(shape)} dimensions; expected at least 2")
    return (*shape[:-2], -(-shape[-2] // sizes[0]), -(-shape[-1] // sizes[1]))


def broadcast(*operands: Any) -> tuple[int, ...]:
    """The shape that all tensors broadcast to; numbers do not count."""
    shapes = [item.shape for item in operands if isinstance(item, Tensor)]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(map(str, shapes))
        raise ValueError(f"shapes {text} cannot be broadcast together") from None


def matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the matrix product of two operands of at least one dimension."""
    if not a or not b:
        raise ValueError(f"matmul needs at least one dimension on both sides, got {a} and {b}")
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise ValueError(f"matmul: inner dimensions of {a} and {b} differ")
    batch: tuple[Any, ...] = np.broadcast_shapes(a[:-2], b[:-2])
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def einsum_shape(equation: str, operands: Sequence[Tensor]) -> tuple[int, ...]:
    """Shape that an equation gives to its result."""
    if not isinstance(equation, str):
        raise TypeError(f"equation: expected a str, got {type_name(equation)}")
    left, _, right = equation.replace(" ", "").partition("->")
    names = left.split(",")
    if len(names) != len(operands):
        raise InvalidArgumentError(
            f"operands: {len(operands)} are given; the equation {equation!r} names {len(names)}"
        )
    lengths: dict[str, int] = {}
    for index, (letters, operand) in enumerate(zip(names, operands, strict=True)):
        if len(letters) != operand.ndim:
            raise InvalidArgumentError(
                f"operands[{index}]: shape {operand.shape} does not fit {letters!r} of the equation"
            )
        for letter, length in zip(letters, operand.shape, strict=True):
            if lengths.setdefault(letter, length) != length:
                raise InvalidArgumentError(
                    f"operands[{index}]: {letter!r} has the lengths {lengths[letter]} and {length}"
                )
    unknown = sorted(set(right) - set(lengths))
    if unknown:
        raise InvalidArgumentError(f"equation: no operand has the letter {unknown[0]!r}")
    return tuple(lengths[letter] for letter in right)


def matrix_shape(a: tuple[int, ...], b: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Shape of the product of two matrices (rank 2) or two batches of them (rank 3)."""
    if len(a) != rank or len(b) != rank:
        raise ValueError(f"two operands of {rank} dimensions are needed, got {a} and {b}")
    return matmul_shape(a, b)


def qr_shapes(shape: tuple[int, ...], mode: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of the two factors of a QR decomposition."""
    *batch, m, n = shape
    inner = m if mode == "complete" else min(m, n)
    return ((0,) if mode == "r" else (*batch, m, inner)), (*batch, inner, n)


def tiled_shape(shape: tuple[int, ...], dims: Sequence[int]) -> tuple[int, ...]:
    """Shape of a repeated tensor; ``dims`` counts from the last dimension."""
    repeats = whole_repeats(shape, dims)
    lengths = (1,) * (len(repeats) - len(shape)) + shape
    return tuple(a * b for a, b in zip(lengths, repeats, strict=True))


def permuted_shape(shape: tuple[int, ...], dims: Sequence[int]) -> tuple[int, ...]:
    """Shape whose dimension ``i`` is dimension ``dims[i]`` of another."""
    return tuple(shape[axis(dim, len(shape))] for dim in whole_numbers("dims", dims))


def unfolded_shape(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[int, ...]:
    """Shape of the columns made of all windows of (n, channels, height, width)."""
    count = prod(pooled_shape(shape, kernel, stride, padding, dilation)[2:])
    return (shape[0], shape[1] * prod(kernel), count)


def folded_shape(
    shape: tuple[int, ...], size: tuple[int, ...], kernel: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the shape of the image that columns of windows were copied from."""
    if len(shape) not in (2, 3) or shape[-2] % prod(kernel):
        raise InvalidArgumentError(
            f"input: shape {shape}; expected (n, channels * {prod(kernel)}, windows) or without n"
        )
    return (*shape[:-2], shape[-2] // prod(kernel), *size)


def reduced_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """Shape after a reduction over ``dims``; an empty tuple reduces all."""
    expect_flags(keepdim=keepdim)
    gone = {axis(dim, len(shape)) for dim in dims} if dims else set(range(len(shape)))
    if keepdim:
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def replaced(shape: tuple[int, ...], dim: int, *lengths: int) -> tuple[int, ...]:
    """The shape with one dimension replaced by others."""
    at = axis(dim, len(shape))
    return (*shape[:at], *lengths, *shape[at + 1 :])


def rows_shape(size: int, total: int) -> tuple[int, int]:
    """Shape of so many elements in ``size`` rows."""
    expect_whole(size=size)
    if size < 1 or total % size:
        raise InvalidArgumentError(
            f"size: {size} rows cannot hold {total} elements; expected a divisor of {total}"
        )
    return size, total // size


def joined_shape(tensors: Sequence[Tensor], dim: int) -> tuple[int, ...]:
    """Shape of tensors joined along a dimension."""
    first = tensors[0].shape
    at = axis(dim, len(first))
    for index, tensor in enumerate(tensors):
        if len(tensor.shape) != len(first) or replaced(tensor.shape, at) != replaced(first, at):
            raise InvalidArgumentError(
                f"tensors[{index}]: shape {tensor.shape} differs from {first} outside dim {at}"
            )
    return replaced(first, at, sum(tensor.shape[at] for tensor in tensors))


def stacked_shape(tensors: Sequence[Tensor], dim: int) -> tuple[int, ...]:
    """Shape of equally shaped tensors joined along a new dimension."""
    first = tensors[0].shape
    for index, tensor in enumerate(tensors):
        if tensor.shape != first:
            raise InvalidArgumentError(f"tensors[{index}]: shape {tensor.shape} is not {first}")
    at = axis(dim, len(first) + 1)
    return (*first[:at], len(tensors), *first[at:])


def pad_shape(shape: tuple[int, ...], pad: Sequence[int]) -> tuple[int, ...]:
    """Shape after padding; the first pair of ``pad`` is for the last dimension."""
    pad = whole_numbers("pad", pad)
    if len(pad) % 2 or len(pad) // 2 > len(shape):
        raise InvalidArgumentError(f"pad: {len(pad)} numbers for {len(shape)} dimensions")
    lengths = list(shape)
    for i in range(len(pad) // 2):
        lengths[-1 - i] += pad[2 * i] + pad[2 * i + 1]
    return tuple(lengths)


def pooled_shape(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...] | None = None,
    ceil_mode: bool = False,
) -> tuple[int, ...]:
    """Shape after a window has moved over the last ``len(kernel)`` dimensions."""
    result = []
    expect_flags(ceil_mode=ceil_mode)
    if len(shape) < len(kernel):
        raise InvalidArgumentError(f"input: shape {shape} has fewer than {len(kernel)} dimensions")
    sizes = shape[-len(kernel) :]
    for size, window, step, margin, spread in zip(
        sizes, kernel, stride, padding, dilation or (1,) * len(kernel), strict=True
    ):
        if step < 1:
            raise InvalidArgumentError(f"stride: {step} is less than 1")
        room = size + 2 * margin - spread * (window - 1) - 1
        if room < 0 and not ceil_mode:
            raise InvalidArgumentError(
                f"kernel_size: {window} with dilation {spread} does not fit into {size} elements "
                f"with padding {margin}"
            )
        count = (-(-room // step) if ceil_mode else room // step) + 1
        # A window that starts in the margin after the last element does not count.
        result.append(count - (ceil_mode and (count - 1) * step >= size + margin))
    return (*shape[: -len(kernel)], *result)


def conv_shape(
    shape: tuple[int, ...],
    weight: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[int, ...]:
    """Shape of a convolution over (n, channels, ...) with weights (out, in / groups, ...)."""
    windows = pooled_shape(shape, weight[2:], stride, padding, dilation)
    return (shape[0], weight[0], *windows[2:])


def transposed_shape(
    shape: tuple[int, ...],
    weight: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    more: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int,
) -> tuple[int, ...]:
    """Shape of a transposed convolution with weights (in, out / groups, ...)."""
    expect_whole(groups=groups)
    sizes = (
        (size - 1) * step - 2 * margin + spread * (window - 1) + 1 + extra
        for size, window, step, margin, extra, spread in zip(
            shape[2:], weight[2:], stride, padding, more, dilation, strict=True
        )
    )
    return (shape[0], weight[1] * groups, *sizes)


def arange_length(start: Any, end: Any, step: Any, dtype: Any) -> int:
    """Number of elements of a range; a range of int64 has three whole numbers."""
    for name, value in (("start", start), ("end", end), ("step", step)):
        if not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"{name}: expected a real number, got {type_name(value)}")
    if dtype is not None and dtype_of(dtype).name == "int64":
        if not all(isfinite(value) for value in (start, end, step)):
            raise InvalidArgumentError("start, end, step: expected finite numbers for int64")
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise InvalidArgumentError("step: expected a nonzero number, got 0")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return max(0, -((start - end) // step))
    count: int = ceil((end - start) / step)
    return max(0, count)


def ordered_shape(argument: str, shape: tuple[int, ...], order: Sequence[int]) -> tuple[int, ...]:
    """The shape with its dimensions in another order."""
    dims = whole_numbers(argument, order)
    if sorted(dims) != list(range(len(shape))):
        raise InvalidArgumentError(
            f"{argument}: {dims} is no order of the dimensions of {shape}; expected "
            f"each of 0 to {len(shape) - 1} once"
        )
    return tuple(shape[dim] for dim in dims)


def values_shape(tensor: Tensor) -> tuple[int, ...]:
    """The shape in values: an element of int32 has eight of 4 bits, along the dense dimension."""
    if tensor.dtype_name != "int32" or not tensor.ndim:
        return tensor.shape
    *outer, rows, columns = (1, *tensor.shape)
    if tensor.ndim > 1 and tensor.strides[-2] == 1 and tensor.strides[-1] != 1:
        rows *= _IN_A_WORD
    else:
        columns *= _IN_A_WORD
    return (*outer, rows, columns)[-tensor.ndim :]
