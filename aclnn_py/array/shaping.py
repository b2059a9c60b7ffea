# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that give the same elements in another shape or order."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.backwards import flipped
from aclnn_py.array.operands import (
    along,
    as_row,
    device_of,
    flat,
    host_integers,
    placed,
    with_dtype,
)
from aclnn_py.array.parts import as_bits
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.functional.shapes import broadcast
from aclnn_py.tensor.creation import zeros
from aclnn_py.tensor.shown import SHOWN, numpys_view
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.tensor.views import View, is_contiguous

__all__: list[str] = []


def shape(a: Tensor) -> tuple[int, ...]:
    return a.shape


def ndim(a: Tensor) -> int:
    return a.ndim


def size(a: Tensor, axis: Any = None) -> int:
    return a.count if axis is None else prod(a.shape[i] for i in axes_of(axis, a.ndim))


def copy(a: Tensor, order: str = "K") -> Tensor:
    return functional.contiguous(a)


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True) -> Tensor:
    return x.astype(dtype) if copy else with_dtype(x, dtype)


def reshape(a: Tensor, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Tensor:
    if order not in ("C", "A", "F"):
        raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
    if order == "F" or (order == "A" and _column_major(a)):
        dims = (shape,) if isinstance(shape, int) else tuple(shape)
        result = a.T.reshape(tuple(reversed(dims))).T
    else:
        result = a.reshape(shape)
    if copy is False and result.buffer is not a.buffer:
        raise ValueError("reshape: the strides make a copy necessary, and copy=False")
    return functional.contiguous(result) if copy and result.buffer is a.buffer else result


def _column_major(a: Tensor) -> bool:
    """Whether the elements lie with the first index fastest, and not the last."""
    step = 1
    for length, stride in zip(a.shape, a.strides, strict=True):
        if length != 1 and stride != step:
            return False
        step *= length
    return sum(length > 1 for length in a.shape) > 1


def ravel(a: Tensor, order: str = "C") -> Tensor:
    """A view of elements that follow each other, else a copy."""
    if order == "K":  # as they lie in memory
        a = a.permute(*sorted(range(a.ndim), key=lambda axis: -a.strides[axis]))
    elif order == "F" or (order == "A" and _column_major(a)):
        a = a.T
    elif order not in ("C", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    row = a.reshape(-1)
    return row if row.buffer is not a.buffer or _follow(a) else functional.contiguous(row)


def _follow(a: Tensor) -> bool:
    """Whether the elements follow each other to NumPy, for which there are views backwards."""
    shown = SHOWN.get(id(a.buffer))
    if shown is None:
        return a.is_contiguous
    view = numpys_view(shown, View(a.shape, a.strides, a.offset))
    return is_contiguous(view.shape, view.strides)


def transpose(a: Tensor, axes: Any = None) -> Tensor:
    return a.transpose() if axes is None else a.permute(*axes_of(tuple(axes), a.ndim))


def matrix_transpose(x: Tensor, /) -> Tensor:
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: two dimensions at least, got {x.ndim}")
    return x.swapaxes(-1, -2)


linalg_matrix_transpose = matrix_transpose


def swapaxes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    return a.swapaxes(axis1, axis2)


def moveaxis(a: Tensor, source: Any, destination: Any) -> Tensor:
    places, targets = axes_of(source, a.ndim), axes_of(destination, a.ndim)
    if len(places) != len(targets):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [axis for axis in range(a.ndim) if axis not in places]
    for target, place in sorted(zip(targets, places, strict=True)):
        order.insert(target, place)
    return a.permute(*order)


def rollaxis(a: Tensor, axis: int, start: int = 0) -> Tensor:
    (at,) = axes_of(axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise ValueError(f"start: {start} is outside of {-a.ndim} to {a.ndim}")
    target = start + a.ndim if start < 0 else start
    order = [i for i in range(a.ndim) if i != at]
    order.insert(target - (at < target), at)
    return a.permute(*order)


def squeeze(a: Tensor, axis: Any = None) -> Tensor:
    return a.squeeze(axis)


def expand_dims(a: Tensor, axis: Any) -> Tensor:
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = a.ndim + len(given)
    for at in sorted(axes_of(tuple(given), rank)):
        a = a.unsqueeze(at)
    return a


def broadcast_to(array: Tensor, shape: Any) -> Tensor:
    return array.broadcast_to(shape)


def broadcast_arrays(*args: Any) -> tuple[Tensor, ...]:
    device = device_of("broadcast_arrays", *args)
    found = broadcast(*args)
    made = (placed(item, device) for item in args)
    return tuple(item.broadcast_to(found) for item in made)


def _at_least(rank: int) -> Any:
    def convert(*arys: Any) -> Any:
        found = []
        for item in arys:
            tensor = placed(item, device_of("atleast", *arys))
            if tensor.ndim == 0:
                tensor = tensor.reshape((1,) * rank)
            elif tensor.ndim == 1 and rank > 1:
                tensor = tensor[None, :] if rank == 2 else tensor[None, :, None]
            elif tensor.ndim == 2 and rank == 3:
                tensor = tensor[:, :, None]
            found.append(tensor)
        return found[0] if len(found) == 1 else tuple(found)

    return convert


atleast_1d, atleast_2d, atleast_3d = (_at_least(rank) for rank in (1, 2, 3))


def flip(m: Tensor, axis: Any = None) -> Tensor:
    return flipped(m, axes_of(axis, m.ndim))


def fliplr(m: Tensor) -> Tensor:
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


def flipud(m: Tensor) -> Tensor:
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


def rot90(m: Tensor, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    first, second = axes_of(tuple(axes), m.ndim)
    turns = k % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return flipped(m, (first, second))
    if turns == 1:
        return flipped(m, (second,)).swapaxes(first, second)
    return flipped(m.swapaxes(first, second), (second,))


def roll(a: Tensor, shift: Any, axis: Any = None) -> Tensor:
    if axis is None:
        by = (sum(host_integers(shift)),)
        row = as_bits(a.reshape(-1), lambda x: functional.roll(x, by, (0,)))
        return row.reshape(a.shape)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = host_integers(shift)
    pairs = np.broadcast(np.asarray(shifts), np.asarray(given))
    total = [0] * a.ndim
    for step, at in pairs:
        total[axes_of(int(at), a.ndim)[0]] += int(step)
    moved = [i for i in range(a.ndim) if total[i] and a.shape[i]]
    if not moved:
        return functional.contiguous(a)
    return as_bits(a, lambda x: functional.roll(x, [total[i] for i in moved], moved))


def diagonal(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A view, as in NumPy; the dimension of the diagonal comes last."""
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = axes_of((axis1, axis2), a.ndim)
    rows, columns = a.shape[first], a.shape[second]
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(rows - down, columns - right), 0)
    rest = [i for i in range(a.ndim) if i not in (first, second)]
    lengths = (*(a.shape[i] for i in rest), length)
    if not prod(lengths):
        return zeros(lengths, a.dtype_name, device=a.device)
    return Tensor.wrap(
        a.buffer,
        lengths,
        a.dtype_name,
        strides=(*(a.strides[i] for i in rest), a.strides[first] + a.strides[second]),
        offset=a.offset + down * a.strides[first] + right * a.strides[second],
    )


def linalg_diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    return diagonal(x, offset, -2, -1)


def trace(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    return reduce("sum", diagonal(a, offset, axis1, axis2), -1, dtype)


def linalg_trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return trace(x, offset, -2, -1, dtype)


def diag(v: Tensor, k: int = 0) -> Tensor:
    if v.ndim == 1:
        return diagflat(v, k)
    if v.ndim != 2:
        raise ValueError("Input must be 1- or 2-d.")
    return functional.contiguous(diagonal(v, k))


def diagflat(v: Tensor, k: int = 0) -> Tensor:
    values = v.reshape(-1)
    length = values.count + abs(k)
    result = zeros((length, length), v.dtype_name, device=v.device)
    if values.count:
        diagonal(result, k)[...] = values
    return result


def tril(m: Tensor, k: int = 0) -> Tensor:
    return as_bits(_matrix(m), lambda x: functional.tril(x, k))


def triu(m: Tensor, k: int = 0) -> Tensor:
    return as_bits(_matrix(m), lambda x: functional.triu(x, k))


def _matrix(m: Tensor) -> Tensor:
    return m.broadcast_to((m.count, m.count)) if m.ndim == 1 else m


def tile(A: Tensor, reps: Any) -> Tensor:
    counts = host_integers(reps)
    if any(n < 0 for n in counts):
        raise ValueError("negative dimensions are not allowed")
    lead = max(A.ndim, len(counts))
    whole = A.reshape((1,) * (lead - A.ndim) + A.shape)
    counts = [1] * (lead - len(counts)) + counts
    if not whole.count or not all(counts):
        lengths = tuple(n * times for n, times in zip(whole.shape, counts, strict=True))
        return zeros(lengths, A.dtype_name, device=A.device)
    return functional.tile(whole, counts)


def repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    a, axis = flat(as_row(a, axis), axis)
    (at,) = axes_of(axis, a.ndim)
    if isinstance(repeats, (int, np.integer)):
        times = operator.index(repeats)
        return as_bits(a, lambda x: functional.repeat_interleave(x, times, at))
    counts = host_integers(repeats)
    if len(counts) == 1:
        return repeat(a, counts[0], at)
    if len(counts) != a.shape[at]:
        raise ValueError(
            f"operands could not be broadcast together with shape ({a.shape[at]},) ({len(counts)},)"
        )
    return a[along(at, np.repeat(np.arange(len(counts)), counts))]


def resize(a: Tensor, new_shape: Any) -> Tensor:
    dims = tuple(host_integers(new_shape))
    if any(n < 0 for n in dims):
        raise ValueError("all elements of `new_shape` must be non-negative")
    count = prod(dims)
    if not a.count or not count:
        return zeros(dims, a.dtype_name, device=a.device)
    row = tile(a.reshape(-1), -(-count // a.count))
    return functional.contiguous(row[:count]).reshape(dims)
