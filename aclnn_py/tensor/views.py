# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of strided views: shapes, strides and offsets in elements. No memory, no device."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

__all__ = ["MAX_RANK", "View", "contiguous_strides", "is_contiguous"]

# aclCreateTensor takes more, but operators are specified for ranks up to 8.
MAX_RANK = 8


class View(NamedTuple):
    """Shape, strides and offset of a view, all in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def shape_of(value: object, argument: str = "shape") -> tuple[int, ...]:
    """Return a shape as a tuple of non-negative integers.

    Raises
    ------
    TypeError
        The value is neither an integer nor a sequence of integers.
    ValueError
        A dimension is negative, or there are more than ``MAX_RANK``.
    """
    if type(value) is tuple and len(value) <= MAX_RANK:
        for dim in value:
            if type(dim) is not int or dim < 0:
                break
        else:
            return value  # what nearly all calls give
    dims = value if isinstance(value, (tuple, list)) else (value,)
    try:
        shape = tuple(map(operator.index, dims))
    except TypeError:
        raise TypeError(f"{argument}: expected an int or a tuple of ints, got {value!r}") from None
    if shape and min(shape) < 0:
        raise ValueError(f"{argument}: dimensions must not be negative, got {shape}")
    if len(shape) > MAX_RANK:
        raise ValueError(f"{argument}: at most {MAX_RANK} dimensions, got {len(shape)}")
    return shape


def of_width(view: View, old: int, new: int) -> View:
    """Return the view in elements of another width, in bits: the last dimension changes."""
    if not view.shape or (view.shape[-1] != 1 and view.strides[-1] != 1):
        raise ValueError(
            "dtype: one of another width takes a last dimension whose elements follow each other"
        )
    given = (view.shape[-1], *view.strides[:-1], view.offset)
    if any(number * old % new for number in given):
        raise ValueError(f"dtype: rows of {view.shape[-1]} elements of {old} bits do not fit {new}")
    last, *strides, offset = (number * old // new for number in given)
    return View((*view.shape[:-1], last), (*strides, 1), offset)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the row-major strides of a shape; a dimension of length 0 counts as 1."""
    strides, step = [], 1
    for dim in reversed(shape):
        strides.append(step)
        step *= max(dim, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements lie one after the other in row-major order."""
    step = 1
    for dim, stride in zip(reversed(shape), reversed(strides), strict=True):
        if dim == 0:
            return True
        if dim != 1 and stride != step:
            return False
        step *= dim
    return True


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many elements lie between the first and the last one, both included."""
    if 0 in shape:
        return 0
    return 1 + sum((dim - 1) * stride for dim, stride in zip(shape, strides, strict=True))


def _axis(axis: object, rank: int, argument: str) -> int:
    try:
        index = operator.index(axis)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{argument}: expected an int, got {axis!r}") from None
    if not -rank <= index < rank:
        raise ValueError(f"{argument}: axis {index} is out of range for {rank} dimensions")
    return index % rank


def permute(view: View, axes: Sequence[object]) -> View:
    """Reorder the dimensions: dimension ``i`` of the result is ``axes[i]``."""
    rank = len(view.shape)
    order = tuple(_axis(axis, rank, "axes") for axis in axes)
    if sorted(order) != list(range(rank)):
        raise ValueError(f"axes: {tuple(axes)} is not a permutation of {rank} dimensions")
    return View(
        tuple(view.shape[i] for i in order), tuple(view.strides[i] for i in order), view.offset
    )


def swap(view: View, first: object, second: object) -> View:
    """Exchange two dimensions; a dimension with itself changes nothing."""
    rank = len(view.shape)
    order = list(range(rank))
    a, b = _axis(first, rank, "dim0"), _axis(second, rank, "dim1")
    order[a], order[b] = order[b], order[a]
    return permute(view, order)


def broadcast(view: View, shape: tuple[int, ...]) -> View:
    """Repeat dimensions of length 1, and add leading ones, by strides of 0."""
    lead = len(shape) - len(view.shape)
    if lead < 0:
        raise ValueError(f"shape: cannot broadcast {view.shape} to fewer dimensions {shape}")
    strides = [0] * lead
    for have, stride, want in zip(view.shape, view.strides, shape[lead:], strict=True):
        if have != want and have != 1:
            raise ValueError(f"shape: cannot broadcast {view.shape} to {shape}")
        strides.append(stride if have == want else 0)
    return View(shape, tuple(strides), view.offset)


def squeeze(view: View, axis: object = None) -> View:
    """Drop dimensions of length 1: all of them, or the ones named."""
    rank = len(view.shape)
    if axis is None:
        drop = {i for i, dim in enumerate(view.shape) if dim == 1}
    else:
        axes = axis if isinstance(axis, (tuple, list)) else (axis,)
        drop = {_axis(item, rank, "axis") for item in axes}
        for i in sorted(drop):
            if view.shape[i] != 1:
                raise ValueError(f"axis: dimension {i} has length {view.shape[i]}, not 1")
    keep = [i for i in range(rank) if i not in drop]
    return View(
        tuple(view.shape[i] for i in keep), tuple(view.strides[i] for i in keep), view.offset
    )


def unsqueeze(view: View, axis: object) -> View:
    """Insert a dimension of length 1."""
    rank = len(view.shape) + 1
    at = _axis(axis, rank, "axis")
    stride = view.strides[at] * view.shape[at] if at < rank - 1 else 1
    return View(
        (*view.shape[:at], 1, *view.shape[at:]),
        (*view.strides[:at], stride, *view.strides[at:]),
        view.offset,
    )


def _resolve_unknown(shape: Sequence[object], count: int) -> tuple[int, ...]:
    try:
        dims = [operator.index(dim) for dim in shape]  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"shape: expected ints, got {tuple(shape)!r}") from None
    unknown = [i for i, dim in enumerate(dims) if dim == -1]
    if len(unknown) > 1:
        raise ValueError(f"shape: only one dimension may be -1, got {tuple(dims)}")
    if unknown:
        known = prod(dim for dim in dims if dim != -1)
        if known <= 0 or count % known:
            raise ValueError(f"shape: {count} elements do not fill {tuple(dims)}")
        dims[unknown[0]] = count // known
    return shape_of(tuple(dims))


def reshape(view: View, shape: Sequence[object]) -> View | None:
    """Give the same elements another shape without moving them; None where strides do not allow it.

    Raises
    ------
    ValueError
        The number of elements differs.
    """
    count = prod(view.shape)
    target = _resolve_unknown(shape, count)
    if prod(target) != count:
        raise ValueError(f"shape: cannot reshape {view.shape} ({count} elements) to {target}")
    if count == 0 or is_contiguous(view.shape, view.strides):
        return View(target, contiguous_strides(target), view.offset)
    strides = _split_strides(view, target)
    if strides is None:
        return None
    return View(target, strides, view.offset)


def _split_strides(view: View, target: tuple[int, ...]) -> tuple[int, ...] | None:
    # Both shapes are cut into the shortest groups of equal product. Inside a group of the old shape
    # the dimensions must follow each other in memory; then the group acts as one run of elements.
    old = [(dim, stride) for dim, stride in zip(view.shape, view.strides, strict=True) if dim != 1]
    result: list[int] = []
    at = 0
    position = 0
    while position < len(target):
        if target[position] == 1:
            result.append(1)
            position += 1
            continue
        size_old, first = old[at][0], at
        group = [target[position]]
        position += 1
        while prod(group) != size_old:
            if prod(group) < size_old:
                group.append(target[position])
                position += 1
            else:
                at += 1
                size_old *= old[at][0]
        at += 1
        run = old[first:at]
        for (_, outer), (dim, inner) in pairwise(run):
            if outer != dim * inner:
                return None
        step = run[-1][1]
        result.extend(stride * step for stride in contiguous_strides(group))
    return tuple(result)


def _expand(index: tuple[Any, ...], rank: int) -> list[Any]:
    consumed = sum(1 for item in index if item is not None and item is not Ellipsis)
    dots = sum(1 for item in index if item is Ellipsis)
    if dots > 1:
        raise IndexError("index: only one ellipsis is allowed")
    if consumed > rank:
        raise IndexError(f"index: {consumed} indices for {rank} dimensions")
    full = [slice(None)] * (rank - consumed)
    if not dots:
        return [*index, *full]
    at = next(i for i, item in enumerate(index) if item is Ellipsis)
    return [*index[:at], *full, *index[at + 1 :]]


def is_basic(key: object) -> bool:
    """Whether a key selects a view: integers, slices forwards, ``None`` and an ellipsis."""
    if isinstance(key, slice):
        return not isinstance(key.step, int) or key.step >= 0
    if isinstance(key, tuple):
        return all(is_basic(item) and not isinstance(item, tuple) for item in key)
    # By attribute: arrays and tensors have dimensions, NumPy's integers have none.
    return key is None or key is Ellipsis or _is_integer(key)


def has_dots(key: object) -> bool:
    """Whether there is an ellipsis in a key: then NumPy gives an array, and no number."""
    return key is Ellipsis or (isinstance(key, tuple) and any(item is Ellipsis for item in key))


def _is_integer(item: object) -> bool:
    if type(item) is int:
        return True
    # By name: NumPy's bool is an index to operator.index() in some releases.
    truth = type(item).__name__ in ("bool", "bool_") or getattr(item, "dtype", None) == "bool"
    return hasattr(item, "__index__") and not truth and not getattr(item, "shape", ())


def index(view: View, key: object) -> View:
    """Apply integers, slices, ``None`` and one ellipsis, as NumPy's basic indexing does.

    Raises
    ------
    TypeError
        An index is of another kind; lists, arrays and booleans are gathers, not views.
    ValueError
        A slice has a step below 1.
    IndexError
        An integer is out of range, or there are too many indices.
    """
    items = _expand(key if isinstance(key, tuple) else (key,), len(view.shape))
    shape, strides, offset, axis = [], [], view.offset, 0
    for item in items:
        if item is None:
            shape.append(1)
            strides.append(1)
            continue
        dim, stride = view.shape[axis], view.strides[axis]
        if isinstance(item, slice):
            start, length, step = _slice(item, dim)
            shape.append(length)
            strides.append(stride * step)
            offset += start * stride if length else 0
        else:
            offset += _integer(item, dim, axis) * stride
        axis += 1
    return View(tuple(shape), tuple(strides), offset)


def _slice(item: slice, dim: int) -> tuple[int, int, int]:
    try:
        start, stop, step = item.indices(dim)
    except TypeError:
        raise TypeError(f"index: slice bounds must be ints, got {item!r}") from None
    if step < 1:
        raise ValueError("index: a device view cannot run backwards; use a step of at least 1")
    return start, len(range(start, stop, step)), step


def _integer(item: object, dim: int, axis: int) -> int:
    if not _is_integer(item):
        raise TypeError(f"index: expected int, slice, None or ..., got {type(item).__name__}")
    try:
        at = operator.index(item)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"index: expected an int, got {item!r}") from None
    if not -dim <= at < dim:
        raise IndexError(f"index: {at} is out of range for dimension {axis} of length {dim}")
    return at % dim
