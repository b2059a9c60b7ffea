# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that write into a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.operands import (
    device_of,
    indices_on,
    key_along,
    placed,
)
from aclnn_py.array.promotion import cast, is_operand, kind_order, scalar, tensor_of
from aclnn_py.array.reduction import axes_of
from aclnn_py.array.searching import flatnonzero
from aclnn_py.array.shaping import diagonal
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def _values(target: Tensor, values: Any) -> Tensor:
    if is_operand(values):
        return tensor_of(values, target.layout.dtype, target.device)
    return cast(placed(values, target.device), target.layout.dtype)


def _into(target: Any, name: str) -> Tensor:
    if not isinstance(target, Tensor):
        raise TypeError(f"np.{name}: the target is on the host; copy the values with t.numpy()")
    return target


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    target = _into(dst, "copyto")
    source = scalar(src)
    given = source.dtype if isinstance(source, (Tensor, np.generic)) else np.asarray(source).dtype
    weak = type(source) is int and target.dtype.kind in "uifc"  # it goes where it fits
    narrower = not weak and kind_order(given) > kind_order(target.dtype)
    if casting != "unsafe" and (narrower or casting not in ("same_kind",)):
        raise TypeError(
            f"Cannot cast array data from {given} to {target.dtype} according to the rule "
            f"{casting!r}; 'same_kind' and 'unsafe' are taken"
        )
    values = _values(target, source)
    if where is True:
        target[...] = values
        return
    device = device_of("copyto", target, where)
    mask = tensor_of(where, dtype_of("bool"), device)
    target[...] = functional.where(mask, values, functional.contiguous(target))


def fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        rows, columns = a.shape
        period = columns + 1
        starts = range(0, rows, period) if wrap and rows > period else (0,)
        done = 0
        for start in starts:
            part = diagonal(a[start : start + columns])
            part[...] = _cycled(a, val, done, part.count)
            done += part.count
        return
    if len(set(a.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    line = Tensor.wrap(
        a.buffer, (a.shape[0],), a.dtype_name, strides=(sum(a.strides),), offset=a.offset
    )
    line[...] = _cycled(a, val, 0, line.count)


def _cycled(target: Tensor, values: Any, start: int, count: int) -> Tensor:
    """Values repeated as often as there are places."""
    row = _values(target, values).reshape(-1)
    return row[(np.arange(count) + start) % max(row.count, 1)]


def place(arr: Tensor, mask: Any, vals: Any) -> None:
    mask = placed(mask, arr.device)
    if mask.count != arr.count:
        raise ValueError("place: mask and data must be the same size")
    places = flatnonzero(cast(mask, dtype_of("bool")))
    if not places.count:
        return
    if not np.size(vals):
        raise ValueError("Cannot insert from an empty array!")
    _scatter(arr, places, _cycled(arr, vals, 0, places.count))


def putmask(a: Tensor, mask: Any, values: Any) -> None:
    mask = placed(mask, a.device)
    if mask.shape != a.shape:
        raise ValueError("putmask: mask and data must be the same size")
    if not np.size(values) or not a.count:
        return
    new = _cycled(a, values, 0, a.count).reshape(a.shape)
    a[...] = functional.where(cast(mask, dtype_of("bool")), new, functional.contiguous(a))


def put(a: Tensor, ind: Any, v: Any, mode: str = "raise") -> None:
    index = indices_on(a.device, ind).reshape(-1)
    if mode == "wrap":
        index = index % a.count
    elif mode == "clip":
        index = index.clip(0, a.count - 1)
    if index.count and np.size(v):
        _scatter(a, index, _cycled(a, v, 0, index.count))


def _scatter(target: Tensor, places: Tensor, values: Tensor) -> None:
    """Write elements by their places in row-major order."""
    row = target.reshape(-1)
    row[places] = values
    if row.buffer is not target.buffer:  # a copy, because the strides allow no view
        target[...] = row.reshape(target.shape)


def put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    if axis is None:
        put(arr, indices, values)
        return
    (at,) = axes_of(axis, arr.ndim)
    index = indices_on(arr.device, indices)
    if index.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    shape = tuple(index.shape[i] if i == at else arr.shape[i] for i in range(arr.ndim))
    arr[key_along(at, index.broadcast_to(shape), shape)] = _values(arr, values)
