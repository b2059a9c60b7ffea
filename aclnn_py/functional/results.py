# SPDX-License-Identifier: Apache-2.0
"""Shapes and dtypes of results: the rules that the rows of the function table name."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import Any

import numpy as np

from aclnn_py import ops
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import not_a_tensor, type_name
from aclnn_py.operators.describe.scalar import Scalar
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "arange_length",
    "arange_type",
    "axes",
    "axis",
    "broadcast",
    "ceil_div",
    "conv_shape",
    "expect_list",
    "has_operator",
    "is_number",
    "joined_shape",
    "matmul_shape",
    "matrix_shape",
    "pad_shape",
    "pooled_shape",
    "promote",
    "qr_shapes",
    "real",
    "reduced_shape",
    "replaced",
    "rows",
    "stacked_shape",
    "sum_type",
    "tiled_shape",
    "transposed_shape",
    "unfolded_shape",
]

# Kinds in the order in which they take over: a mixed operation has the dtype of its highest kind.
_KINDS = ("bool", "int", "float", "complex")
_NUMBERS = (bool, int, float, complex, np.generic, Scalar)
# What a number brings when its kind is higher than that of the tensor.
_DEFAULTS = {"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"}


def has_operator(name: str) -> bool:
    """Whether the loaded libraries have an operator of ``ops``."""
    return bool(getattr(ops, name).available())


def is_number(value: object) -> bool:
    """Whether an operand goes to the operator's scalar form."""
    return isinstance(value, _NUMBERS)


def expect_list(**arguments: object) -> None:
    """Raise for an argument that is no filled sequence of tensors."""
    for name, value in arguments.items():
        if isinstance(value, Tensor) or not isinstance(value, Sequence):
            raise TypeError(f"{name}: expected a sequence of tensors, got {type_name(value)}")
        if not value:
            raise InvalidArgumentError(f"{name}: at least one tensor is needed")
        for index, item in enumerate(value):
            if not isinstance(item, Tensor):
                raise not_a_tensor(f"{name}[{index}]", item)


# Element types.


def promote(*operands: Any) -> DType:
    """dtype of the result of a mixed operation, by the rules CANN and torch share.

    Within one kind it is the smallest type that holds both; float16 with bfloat16 gives float32. A
    higher kind takes over with its own width: int64 with float16 gives float16. Numbers count only
    when their kind is higher than that of every tensor.
    """
    tensors = [item._layout.dtype for item in operands if isinstance(item, Tensor)]
    result = tensors[0]
    for kind in tensors[1:]:
        result = _promote_two(result, kind)
    for item in operands:
        if not isinstance(item, Tensor) and _rank(_number_kind(item)) > _rank(_kind(result)):
            result = dtype_of(_DEFAULTS[_number_kind(item)])
    return result


def _promote_two(a: DType, b: DType) -> DType:
    if a == b:
        return a
    if _kind(a) != _kind(b):
        return a if _rank(_kind(a)) > _rank(_kind(b)) else b
    if {a.name, b.name} == {"float16", "bfloat16"}:
        return dtype_of("float32")
    return dtype_of(np.promote_types(a.numpy, b.numpy), "result")


def _rank(kind: str) -> int:
    return _KINDS.index(kind)


def _kind(dtype: DType) -> str:
    for kind in ("bool", "complex"):
        if dtype.name.startswith(kind):
            return kind
    return "int" if dtype.name.startswith(("int", "uint")) else "float"


def _number_kind(value: Any) -> str:
    if isinstance(value, Scalar):
        return _kind(dtype_of(value.dtype))
    if isinstance(value, np.generic):
        return _kind(dtype_of(value.dtype))
    if isinstance(value, bool):
        return "bool"
    return {int: "int", float: "float", complex: "complex"}[type(value)]


def real(dtype: DType) -> DType:
    """float32 for integers and bool, else the dtype itself."""
    return dtype_of("float32") if _kind(dtype) in ("bool", "int") else dtype


def sum_type(input: Tensor, dtype: Any) -> DType:
    """dtype of a sum or product: int64 for integers and bool unless one is given."""
    if dtype is not None:
        return dtype_of(dtype)
    kind = promote(input)
    return dtype_of("int64") if _kind(kind) in ("bool", "int") else kind


def arange_type(start: Any, end: Any, step: Any, dtype: Any) -> DType:
    """dtype of a range: int64, or float32 when a bound or the step is no integer."""
    if dtype is not None:
        return dtype_of(dtype)
    whole = all(_number_kind(value) in ("bool", "int") for value in (start, end, step))
    return dtype_of("int64" if whole else "float32")


# Dimensions.


def axis(dim: int, rank: int) -> int:
    """The dimension, counted from the first."""
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise InvalidArgumentError(f"dim: {dim} is out of range for {rank} dimensions")
    return dim % max(rank, 1)


def axes(dim: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Dimensions as the operators take them; none means all."""
    if dim is None:
        return ()
    return (dim,) if isinstance(dim, int) else tuple(dim)


def ceil_div(count: int, step: int) -> int:
    """The quotient, rounded up."""
    return -(-count // step)


# Shapes.


def broadcast(*operands: Any) -> tuple[int, ...]:
    """Shape all tensors broadcast to; numbers have none."""
    shapes = [item.shape for item in operands if isinstance(item, Tensor)]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(map(str, shapes))
        raise ValueError(f"shapes {text} cannot be broadcast together") from None


def matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the product of two operands of one or more dimensions."""
    if not a or not b:
        raise ValueError(f"matmul needs at least one dimension on both sides, got {a} and {b}")
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise ValueError(f"matmul: inner dimensions of {a} and {b} differ")
    batch: tuple[Any, ...] = np.broadcast_shapes(a[:-2], b[:-2])
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def matrix_shape(a: tuple[int, ...], b: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Shape of the product of two matrices (rank 2) or two batches of them (rank 3)."""
    if len(a) != rank or len(b) != rank:
        raise ValueError(f"two operands of {rank} dimensions are needed, got {a} and {b}")
    return matmul_shape(a, b)


def qr_shapes(shape: tuple[int, ...], mode: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of the two factors of matrices."""
    *batch, m, n = shape
    inner = m if mode == "complete" else min(m, n)
    return ((0,) if mode == "r" else (*batch, m, inner)), (*batch, inner, n)


def tiled_shape(shape: tuple[int, ...], dims: Sequence[int]) -> tuple[int, ...]:
    """Shape of a tensor repeated along its dimensions, counted from the last."""
    rank = max(len(shape), len(dims))
    lengths = (1,) * (rank - len(shape)) + shape
    repeats = (1,) * (rank - len(dims)) + tuple(dims)
    return tuple(a * b for a, b in zip(lengths, repeats, strict=True))


def unfolded_shape(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[int, ...]:
    """Shape of the columns of all windows of (n, channels, height, width)."""
    count = prod(pooled_shape(shape, kernel, stride, padding, dilation)[2:])
    return (shape[0], shape[1] * prod(kernel), count)


def reduced_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """Shape after a reduction over ``dims`` (all when empty)."""
    gone = {axis(dim, len(shape)) for dim in dims} if dims else set(range(len(shape)))
    if keepdim:
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def replaced(shape: tuple[int, ...], dim: int, *lengths: int) -> tuple[int, ...]:
    """The shape with other dimensions in the place of one."""
    at = axis(dim, len(shape))
    return (*shape[:at], *lengths, *shape[at + 1 :])


def joined_shape(tensors: Sequence[Tensor], dim: int) -> tuple[int, ...]:
    """Shape of tensors put one after the other along a dimension."""
    first = tensors[0].shape
    at = axis(dim, len(first))
    for index, tensor in enumerate(tensors):
        if len(tensor.shape) != len(first) or replaced(tensor.shape, at) != replaced(first, at):
            raise InvalidArgumentError(
                f"tensors[{index}]: shape {tensor.shape} differs from {first} outside dim {at}"
            )
    return replaced(first, at, sum(tensor.shape[at] for tensor in tensors))


def stacked_shape(tensors: Sequence[Tensor], dim: int) -> tuple[int, ...]:
    """Shape of tensors of one shape put along a new dimension."""
    first = tensors[0].shape
    for index, tensor in enumerate(tensors):
        if tensor.shape != first:
            raise InvalidArgumentError(f"tensors[{index}]: shape {tensor.shape} is not {first}")
    at = axis(dim, len(first) + 1)
    return (*first[:at], len(tensors), *first[at:])


def pad_shape(shape: tuple[int, ...], pad: Sequence[int]) -> tuple[int, ...]:
    """Shape after padding; the pairs of ``pad`` count from the last dimension."""
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
    """Shape after a window moved over the last dimensions, one window length for each."""
    result = []
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
        count = (ceil_div(room, step) if ceil_mode else room // step) + 1
        # A window that starts in the margin behind the last element counts no more.
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
    sizes = (
        (size - 1) * step - 2 * margin + spread * (window - 1) + 1 + extra
        for size, window, step, margin, extra, spread in zip(
            shape[2:], weight[2:], stride, padding, more, dilation, strict=True
        )
    )
    return (shape[0], weight[1] * groups, *sizes)


def arange_length(start: Any, end: Any, step: Any) -> int:
    """How many numbers a range has."""
    if step == 0:
        raise InvalidArgumentError("step: must not be 0")
    count: int = ceil((end - start) / step)
    return max(0, count)


def rows(tensor: Tensor, stream: Stream | None = None) -> Tensor:
    """The tensor as a matrix: all dimensions but the last one joined."""
    count = prod(tensor.shape[:-1])
    return tensor.contiguous(stream=stream).reshape(count, tensor.shape[-1])
