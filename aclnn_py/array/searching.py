# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that sort, search, count and select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.indexing import take_along
from aclnn_py.array.operands import (
    along,
    as_row,
    device_of,
    flat,
    indices_on,
    key_along,
    placed,
    promoted,
)
from aclnn_py.array.promotion import cast, result_type, scalar, tensor_of, without_lists
from aclnn_py.array.reduction import arg_extreme, axes_of, reduce
from aclnn_py.tensor.creation import empty, zeros
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _check_kind(name: str, kind: Any, order: Any, stable: Any) -> None:
    if order is not None:
        raise ValueError(f"np.{name}: order={order!r} is not taken: tensors have no fields")
    if kind not in _KINDS:
        raise ValueError(f"np.{name}: kind must be one of {_KINDS}, not {kind!r}")
    if kind is not None and stable is not None:
        raise ValueError("`kind` and `stable` parameters can't be provided at the same time")


def sort(
    a: Tensor, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Tensor:
    """Every kind is stable."""
    _check_kind("sort", kind, order, stable)
    return sorted_with_places(a, axis)[0]


def argsort(
    a: Tensor, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Tensor:
    """Every kind is stable."""
    _check_kind("argsort", kind, order, stable)
    a = as_row(a, axis)
    return sorted_with_places(a, axis)[1]


def sorted_with_places(a: Tensor, axis: int | None) -> tuple[Tensor, Tensor]:
    """The elements in order, and where each came from."""
    a, axis = flat(a, axis)
    (at,) = axes_of(axis, a.ndim)
    kind = a.layout.dtype
    if not a.ndim:
        return functional.contiguous(a), zeros((), "int64", device=a.device)
    if kind.name == "bool":
        values, places = functional.sort(cast(a, dtype_of("uint8")), at, stable=True)
        return cast(values, kind), places
    if kind.name == "float64":
        places = functional.sort(_keys(a), at, stable=True)[1]
        return _moved(a, places, at), places
    if kind.numpy.kind == "c":
        places = _lexical([a.imag, a.real], at)
        return _moved(a, places, at), places
    return functional.sort(a, at, stable=True)


def _keys(a: Tensor) -> Tensor:
    """Integers in NumPy's order of floats: both zeros are equal, NaN of either sign is the last."""
    if a.dtype.itemsize < 4:
        a = cast(a, dtype_of("float32"))
    kind, device = a.layout.dtype, a.device
    plain = functional.where(a == 0, tensor_of(0.0, kind, device), a)
    plain = functional.where(a != a, tensor_of(float("nan"), kind, device), plain)
    bits = functional.contiguous(plain).view("int64" if kind.name == "float64" else "int32")
    return functional.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _moved(a: Tensor, places: Tensor, axis: int) -> Tensor:
    """Elements by their places; aclnnGather lacks complex numbers, so their parts are moved."""
    if not a.count:
        return functional.contiguous(a)
    if a.dtype.kind == "c":
        parts = (functional.contiguous(part) for part in (a.real, a.imag))
        return functional.complex(*(_moved(part, places, axis) for part in parts))
    return functional.gather(a, axis, places)


def sort_complex(a: Tensor) -> Tensor:
    if a.dtype.kind == "c":
        return sort(a)
    small = a.dtype.kind in "iu" and a.dtype.itemsize <= 2
    return sort(a.astype("complex64" if small else "complex128"))


def lexsort(keys: Any, axis: int = -1) -> Tensor:
    rows = list(keys)
    if not rows:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    device = device_of("lexsort", *rows)
    if not rows[0].ndim:
        return zeros((), "int64", device=device)
    return _lexical(rows, axes_of(axis, rows[0].ndim)[0])


def _lexical(keys: Sequence[Tensor], axis: int) -> Tensor:
    """Sorts that keep the order of equals, by the least important key first."""
    places = argsort(keys[0], axis)
    for key in keys[1:]:
        places = functional.gather(
            places, axis, argsort(functional.gather(key, axis, places), axis)
        )
    return places


def partition(
    a: Tensor, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Tensor:
    """All elements sorted, which is a partition for every ``kth``."""
    _check_partition("partition", a, kth, axis, kind, order)
    return sort(a, axis)


def argpartition(
    a: Tensor, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Tensor:
    a = as_row(a, axis)
    _check_partition("argpartition", a, kth, axis, kind, order)
    return argsort(a, axis)


def _check_partition(name: str, a: Tensor, kth: Any, axis: Any, kind: str, order: Any) -> None:
    if kind != "introselect" or order is not None:
        raise TypeError(f"np.{name}: only kind='introselect' and order=None are taken for tensors")
    a, axis = flat(a, axis)
    length = a.shape[axes_of(axis, a.ndim)[0]]
    for place in np.atleast_1d(np.asarray(kth)).tolist():
        if not -length <= place < length:
            raise ValueError(f"kth(={place}) out of bounds ({length})")


def argmax(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return _arg_extreme("argmax", a, axis, keepdims)


def argmin(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return _arg_extreme("argmin", a, axis, keepdims)


def _arg_extreme(name: str, a: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    if not a.ndim and axis in (0, -1):
        axis = None
    return arg_extreme(name, a, axis, keepdims)


def nanargmax(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return _nan_extreme("argmax", a, axis, keepdims, float("-inf"))


def nanargmin(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return _nan_extreme("argmin", a, axis, keepdims, float("inf"))


def _nan_extreme(name: str, a: Tensor, axis: Any, keepdims: bool, instead: float) -> Tensor:
    if a.dtype.kind in "biu":
        return _arg_extreme(name, a, axis, keepdims)
    missing = a != a
    if bool(reduce("any", reduce("all", missing, axis))):
        raise ValueError("All-NaN slice encountered")
    filled = functional.where(missing, tensor_of(instead, a.layout.dtype, a.device), a)
    return _arg_extreme(name, filled, axis, keepdims)


def where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return nonzero(condition)
    if len(choices) != 2:
        raise ValueError("either both or neither of x and y should be given")
    condition, a, b = without_lists(condition, *map(scalar, choices))
    device = device_of("where", condition, a, b)
    kind = result_type(a, b)
    operands = (tensor_of(item, kind, device) for item in (a, b))
    return functional.where(tensor_of(scalar(condition), dtype_of("bool"), device), *operands)


def nonzero(a: Tensor) -> tuple[Tensor, ...]:
    if not a.ndim:
        raise ValueError("nonzero: not for a tensor without dimensions; reshape it to (1,) first")
    if a.dtype.kind == "c":
        a = a != 0
    places = functional.nonzero(a)
    return tuple(places[:, i].contiguous() for i in range(a.ndim))


def flatnonzero(a: Tensor) -> Tensor:
    return nonzero(a.reshape(-1))[0]


def trim_zeros(filt: Tensor, trim: str = "fb", axis: Any = None) -> Tensor:
    """A view of the least box with all that is not zero. Waits for the device."""
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = axes_of(axis, filt.ndim)
    key = [slice(None)] * filt.ndim
    places = nonzero(filt) if axes else ()
    for at in axes:
        if not places[at].count:
            key[at] = slice(0, 0)
            continue
        first, last = int(places[at].min()), int(places[at].max())
        key[at] = slice(first if "f" in sides else None, last + 1 if "b" in sides else None)
    return filt[tuple(key)]


def argwhere(a: Tensor) -> Tensor:
    if not a.ndim:
        return empty((int(bool(a)), 0), "int64", device=a.device)
    return functional.nonzero(a != 0 if a.dtype.kind == "c" else a)


def count_nonzero(a: Tensor, axis: Any = None, *, keepdims: bool = False) -> Any:
    if axis is None and not keepdims:
        return functional.count_nonzero(a != 0 if a.dtype.kind == "c" else a)
    return reduce("sum", cast(a, dtype_of("bool")), axis, keepdims=keepdims)


def extract(condition: Any, arr: Tensor) -> Tensor:
    mask = _mask_on("extract", condition, arr).reshape(-1)
    values = arr.reshape(-1)
    count = min(mask.count, values.count)
    if mask.count > count and bool(mask[count:].any()):
        raise IndexError(f"index {count} is out of bounds for axis 0 with size {count}")
    return values[:count][mask[:count]]


def compress(condition: Any, a: Tensor, axis: int | None = None) -> Tensor:
    a, axis = flat(a, axis)
    (at,) = axes_of(axis, a.ndim)
    mask = _mask_on("compress", condition, a)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    places = flatnonzero(mask)
    return a[along(at, places)]


def _mask_on(name: str, condition: Any, tensor: Tensor) -> Tensor:
    condition = placed(condition, tensor.device)
    device_of(name, condition, tensor)
    return cast(condition, dtype_of("bool"))


def choose(a: Any, choices: Any, *, mode: str = "raise") -> Tensor:
    device = device_of("choose", *(item for item in (a, *choices) if isinstance(item, Tensor)))
    options = promoted("choose", *(placed(item, device) for item in choices))
    index = indices_on(device, a)
    count = len(options)
    if mode == "raise":
        outside = (index < 0) | (index >= count)
        if bool(outside.any()):
            raise ValueError("invalid entry in choice array")
    elif mode == "wrap":
        index = index % count
    else:
        index = index.clip(0, count - 1)
    result = options[0]
    for number in range(1, count):
        result = functional.where(index == number, options[number], result)
    return functional.where(index == 0, options[0], result)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    device = device_of("select", *condlist, *(c for c in choicelist if isinstance(c, Tensor)))
    kind = result_type(*map(scalar, choicelist), scalar(default))
    *options, result = (tensor_of(scalar(c), kind, device) for c in (*choicelist, default))
    for condition, option in zip(reversed(condlist), reversed(options), strict=True):
        if isinstance(condition, Tensor) and condition.dtype.kind != "b":
            raise TypeError("invalid entry in condlist: should be boolean ndarray")
        result = functional.where(tensor_of(condition, dtype_of("bool"), device), option, result)
    return result


def piecewise(x: Tensor, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Tensor:
    conditions = [condlist] if isinstance(condlist, Tensor) else list(condlist)
    if len(funclist) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(~rest)
    if len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    result = x * 0
    for condition, function in zip(conditions, funclist, strict=True):
        value = function(x, *args, **kw) if callable(function) else function
        value = tensor_of(scalar(value), x.layout.dtype, x.device)
        result = functional.where(condition, value, result)
    return result


def take(a: Tensor, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Tensor:
    a, axis = flat(as_row(a, axis), axis)
    (at,) = axes_of(axis, a.ndim)
    length = a.shape[at]
    if mode != "raise":
        wanted = indices_on(a.device, indices)
        indices = wanted % length if mode == "wrap" else wanted.clip(0, length - 1)
    elif isinstance(indices, (list, tuple)):
        indices = np.asarray(indices)
    if isinstance(indices, Tensor) and indices.dtype.kind in "iu":
        return take_along(a, indices, at)
    key: list[Any] = [slice(None)] * a.ndim
    key[at] = indices
    return a[tuple(key)]


def take_along_axis(arr: Tensor, indices: Any, axis: int | None = -1) -> Tensor:
    arr, axis = flat(arr, axis)
    (at,) = axes_of(axis, arr.ndim)
    index = indices_on(arr.device, indices)
    if index.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    shape = tuple(
        index.shape[i] if i == at or arr.shape[i] == 1 else arr.shape[i] for i in range(arr.ndim)
    )
    wide = tuple(shape[i] if i != at else arr.shape[at] for i in range(arr.ndim))
    # An index out of range would stop the device, so indexing checks it.
    index = index.broadcast_to(shape)
    return arr.broadcast_to(wide)[key_along(at, index, wide)]


def searchsorted(a: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    if not np.isscalar(v):
        v = placed(v, a.device)
    edges, values = promoted("searchsorted", a, v)
    if edges.ndim != 1:
        raise ValueError("object too deep for desired array")
    if sorter is not None:
        edges = edges[indices_on(a.device, sorter)]
    out = empty(values.shape, "int64", device=values.device)
    if not values.count:
        return out
    if not edges.count:
        ops.inplace_zero(out)
        return out
    row = functional.contiguous(_searchable(values)).reshape(-1)
    edges = functional.contiguous(_searchable(edges))
    unsorted: Any = None  # a null sorter: the edges are sorted
    ops.search_sorted(edges, row, False, side == "right", unsorted, out.reshape(-1))
    return out


def _searchable(tensor: Tensor) -> Tensor:
    """aclnnSearchSorted lacks booleans and float64, and takes NaN for smaller than any number."""
    if tensor.dtype_name == "bool":
        return cast(tensor, dtype_of("uint8"))
    return _keys(tensor) if tensor.dtype.kind in "fV" else tensor


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    tensor = x if isinstance(x, Tensor) else bins
    edges = placed(bins, tensor.device)
    if edges.ndim != 1:
        raise ValueError("object of too small depth for desired array")
    if isinstance(x, Tensor) and x.dtype.kind == "c":
        raise TypeError("np.digitize: not for complex numbers")
    steps = edges[1:] - edges[:-1]
    rising, falling = bool((steps >= 0).all()), bool((steps <= 0).all())
    if not rising and not falling:
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if rising:
        return searchsorted(edges, x, side)
    return edges.count - searchsorted(functional.flip(edges, (0,)), x, side)
