# SPDX-License-Identifier: Apache-2.0
"""Reductions and running sums with NumPy's arguments, dtypes and errors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.parts import real_type
from aclnn_py.array.promotion import cast, expect_operands, tensor_of
from aclnn_py.functional.shapes import reduced_shape
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["REDUCTIONS", "accumulate", "arg_extreme", "reduce", "standard_deviation", "variance"]

Axis = int | tuple[int, ...] | None
_AxisError: Any = getattr(np, "exceptions", np).AxisError  # it moved with NumPy 1.25


def axes_of(axis: Axis, rank: int) -> tuple[int, ...]:
    """The dimensions an ``axis`` argument names, counted from the first.

    Raises
    ------
    ValueError
        One is out of range (``numpy.exceptions.AxisError``, an IndexError too) or named twice.
    """
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(operator.index(item) for item in given)
    for item in found:
        if not -rank <= item < rank:
            raise _AxisError(item, rank)
    found = tuple(item % rank for item in found)
    if len(set(found)) != len(found):
        raise ValueError(f"repeated axis in {axis}")
    return found


def _sum_type(kind: DType) -> DType:
    """int64 for bool and signed integers, uint64 for unsigned ones, else the same."""
    host = kind.numpy.kind
    return dtype_of("int64") if host in "bi" else dtype_of("uint64") if host == "u" else kind


def _sum(x: Tensor, axes: tuple[int, ...], keepdims: bool, kind: DType, out: Tensor) -> None:
    ops.reduce_sum(x, axes, keepdims, kind.name, out)


def _prod(x: Tensor, axes: tuple[int, ...], keepdims: bool, kind: DType, out: Tensor) -> None:
    # aclnnProdDim takes one dimension, so those to reduce are joined into the last one.
    kept = [i for i in range(x.ndim) if i not in axes]
    shape = tuple(x.shape[i] for i in kept)
    rows = x.permute(*kept, *axes).reshape(*shape, prod(x.shape[i] for i in axes))
    ops.prod_dim(rows, len(shape), False, kind.name, out.reshape(*shape))


def _mean(x: Tensor, axes: tuple[int, ...], keepdims: bool, kind: DType, out: Tensor) -> None:
    ops.mean(x, axes, keepdims, kind.name, out)


def _plain(operator: str) -> Callable[..., None]:
    def run(x: Tensor, axes: tuple[int, ...], keepdims: bool, _: DType, out: Tensor) -> None:
        getattr(ops, operator)(x, axes, keepdims, out)

    return run


def _mean_type(kind: DType) -> DType:
    return dtype_of("float64") if kind.numpy.kind in "biu" else kind


# Name -> (queue the operator, dtype of the result, whether a result without elements exists).
REDUCTIONS: dict[str, tuple[Callable[..., None], Callable[[DType], DType], bool]] = {
    "sum": (_sum, _sum_type, True),
    "prod": (_prod, _sum_type, True),
    "mean": (_mean, _mean_type, True),
    "max": (_plain("amax"), lambda kind: kind, False),
    "min": (_plain("amin"), lambda kind: kind, False),
    "any": (_plain("any"), lambda kind: dtype_of("bool"), True),
    "all": (_plain("all"), lambda kind: dtype_of("bool"), True),
}


def _added_as(given: DType, kind: DType) -> bool:
    """Whether aclnnReduceSum itself takes the elements for numbers of that dtype."""
    return kind.name == "int64" and given.name in ("bool", "int8", "uint8", "int16", "int32")


def reduce(
    name: str,
    x: Tensor,
    axis: Axis = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Tensor:
    """Evaluate a reduction.

    ``where`` is a mask of the elements that count, ``initial`` an element that counts besides.
    """
    run, type_rule, has_identity = REDUCTIONS[name]
    keepdims = bool(keepdims)
    if name in ("any", "all") and x.dtype.kind == "c":
        x = x != 0
    if where is not True:
        return _reduce_some(name, x, axis, dtype, keepdims, initial, where)
    if not x.ndim and axis in (0, -1) and name != "mean":
        axis = None  # NumPy's ufuncs take an element for a row of one
    axes = axes_of(axis, x.ndim)
    given = x.layout.dtype
    kind = dtype_of(dtype) if dtype is not None else type_rule(given)
    if not has_identity and not prod(x.shape[i] for i in axes):
        if initial is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        first = tensor_of(initial, kind, x.device)
        return functional.contiguous(first.broadcast_to(reduced_shape(x.shape, axes, keepdims)))
    # The operators add up in int64; the bits of a sum in uint64 are the same.
    compute = dtype_of("int64") if kind.name == "uint64" else kind
    if name in ("prod", "mean") or (name == "sum" and not _added_as(given, compute)):
        x = cast(x, compute)
    if not axes:
        out = functional.contiguous(x if x.layout.dtype is kind else cast(x, kind))
    else:
        out = empty(reduced_shape(x.shape, axes, keepdims), compute, device=x.device)
        run(x, axes, keepdims, compute, out)
        out = cast(out, kind)
    if initial is None:
        return out
    first = tensor_of(initial, kind, x.device) if kind.name == "bool" else initial
    return cast(apply(_COMBINED[name], out, first), kind)


# How a further element joins the result, and what an element that does not count becomes.
_COMBINED = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
_NOTHING: dict[str, Any] = {"sum": 0, "mean": 0, "any": False, "prod": 1, "all": True}


def _reduce_some(
    name: str, x: Tensor, axis: Axis, dtype: Any, keepdims: bool, initial: Any, where: Any
) -> Tensor:
    mask = tensor_of(where, dtype_of("bool"), expect_operands(name, x, where))
    mask = functional.contiguous(mask.broadcast_to(x.shape))
    if name in ("max", "min"):
        if initial is None:
            raise ValueError(
                f"reduction operation '{name}' does not have an identity, so to use a where mask "
                "one has to specify 'initial'"
            )
        instead = initial
    else:
        instead = _NOTHING[name]
    filled = functional.where(mask, x, tensor_of(instead, x.layout.dtype, x.device))
    if name != "mean":
        return reduce(name, filled, axis, dtype, keepdims, initial)
    kind = dtype_of(dtype) if dtype is not None else _mean_type(x.layout.dtype)
    wide = dtype_of("float32") if kind.numpy.itemsize == 2 else kind
    total = reduce("sum", filled, axis, wide, keepdims)
    count = reduce("sum", mask, axis, None, keepdims)
    return cast(apply("divide", total, cast(count, real_type(wide))), kind)


def arg_extreme(name: str, x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Evaluate argmax or argmin; without an axis the tensor counts as one row."""
    if not (x.count if axis is None else x.shape[axes_of(axis, x.ndim)[0]]):
        raise ValueError(f"attempt to get {name} of an empty sequence")
    keepdims = bool(keepdims)
    kind = x.layout.dtype
    values = cast(x, dtype_of("uint8")) if kind.name == "bool" else x
    shape = reduced_shape(x.shape, () if axis is None else axes_of(axis, x.ndim), keepdims)
    out = empty(shape, "int64", device=x.device)
    if not out.count:
        return out
    queue = ops.arg_max if name == "argmax" else ops.arg_min
    if axis is None:
        row = values if values.ndim == 1 else values.reshape(-1)
        queue(row, 0, False, out.reshape(()) if out.ndim else out)
    else:
        queue(values, axes_of(axis, x.ndim)[0], keepdims, out)
    return out


def accumulate(name: str, x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Evaluate cumsum, cumprod, cummax or cummin; without an axis the tensor counts as one row."""
    if axis is None or (not x.ndim and axis in (0, -1)):
        x, axis = x.reshape(-1), 0
    (at,) = axes_of(axis, x.ndim)
    if name in ("cummax", "cummin"):
        values = x if dtype is None else cast(x, dtype_of(dtype))
        out = empty(x.shape, values.layout.dtype, device=x.device)
        if out.count:
            extremes = ops.cummax if name == "cummax" else ops.cummin
            extremes(values, at, out, empty(x.shape, "int64", device=x.device))
        return out
    kind = dtype_of(dtype) if dtype is not None else _sum_type(x.layout.dtype)
    compute = dtype_of("int64") if kind.name == "uint64" else kind
    out = empty(x.shape, compute, device=x.device)
    queue = ops.cumsum if name == "cumsum" else ops.cumprod
    queue(cast(x, compute), at, compute.name, out)
    return cast(out, kind)


_MOMENT_TYPES = ("float32", "float16", "bfloat16")


def variance(
    x: Tensor,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    root: bool = False,
) -> Tensor:
    """Evaluate var, or std with ``root``.

    CANN's own operators have no float64, masks or fractions of ``ddof``; without them var is made
    of two means.
    """
    axes, keepdims = axes_of(axis, x.ndim), bool(keepdims)
    plain = where is True and mean is None and float(ddof).is_integer()
    if plain and axes and x.count and x.dtype_name in _MOMENT_TYPES:
        out = empty(reduced_shape(x.shape, axes, keepdims), x.layout.dtype, device=x.device)
        queue = ops.std if root else ops.var_correction
        queue(x, axes, int(ddof), keepdims, out)
        return out
    kind = _mean_type(x.layout.dtype)
    # As NumPy does, half precision is added up in float32.
    work = cast(x, dtype_of("float32") if kind.numpy.itemsize == 2 else kind)
    if mean is None:
        mean = reduce("mean", work, axis, None, True, None, where)
    distances = apply("subtract", work, mean)
    if kind.numpy.kind == "c":
        distances = apply("absolute", distances)
    squares = reduce("sum", apply("square", distances), axis, None, keepdims, None, where)
    if where is True:
        count: Any = float(max(prod(x.shape[i] for i in axes) - ddof, 0))
    else:
        mask = tensor_of(where, dtype_of("bool"), x.device).broadcast_to(x.shape)
        present = reduce("sum", functional.contiguous(mask), axis, None, keepdims)
        count = cast(apply("maximum", present - ddof, 0), squares.layout.dtype)
    found = cast(apply("divide", squares, count), real_type(kind))
    return apply("sqrt", found) if root else found


def standard_deviation(
    x: Tensor,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
) -> Tensor:
    """Evaluate std."""
    return variance(x, axis, ddof, keepdims, where, mean, root=True)
