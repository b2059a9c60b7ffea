# SPDX-License-Identifier: Apache-2.0
"""Methods of NumPy's ufuncs on tensors: reduce, accumulate, outer, at, reduceat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array import indexing, reduction
from aclnn_py.array.operands import (
    along,
    host_integers,
    neutral,
    stored,
)
from aclnn_py.array.promotion import cast, scalar, tensor_of
from aclnn_py.array.reduction import axes_of
from aclnn_py.array.ufuncs import evaluate
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["call"]

# Ufunc -> the reduction and the running form that stand for its methods.
_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_or": "any",
    "logical_and": "all",
}
_RUNNING = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
# Ufuncs whose `at` is an operator that adds up, and what becomes of the values first.
_ADDING: dict[str, Callable[[Any], Any]] = {"add": lambda v: v, "subtract": lambda v: -v}


def call(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Evaluate a method of a ufunc."""
    name = ufunc.__name__
    found = _METHODS[method]
    out = kwargs.pop("out", None)
    if method in ("reduce", "accumulate", "reduceat"):
        known = {"reduce": ("axis", "dtype", "keepdims", "initial", "where")}.get(
            method, ("axis", "dtype")
        )
        no_value: Any = getattr(np, "_NoValue", None)
        given = {key: value for key, value in kwargs.items() if value is not no_value}
        _only(f"np.{name}.{method}", given, known)
        result = found(name, *inputs, **{key: given[key] for key in known if key in given})
        return stored(f"np.{name}.{method}", result, out)
    _only(f"np.{name}.{method}", kwargs, ())
    return stored(f"np.{name}.{method}", found(name, *inputs), out)


def reduce(name: str, array: Tensor, axis: Any = 0, dtype: Any = None, **how: Any) -> Tensor:
    """Combine the elements along dimensions."""
    if name in _REDUCED:
        return reduction.reduce(_REDUCED[name], array, axis, dtype, **how)
    axes = axes_of(axis, array.ndim)
    if len(axes) != 1:
        raise ValueError(f"np.{name}.reduce: one axis at a time; the order would matter")
    if how.get("where", True) is not True or how.get("initial") is not None:
        raise TypeError(f"np.{name}.reduce: where and initial are not taken for tensors")
    parts = _slices(array if dtype is None else cast(array, dtype_of(dtype)), axes[0])
    if not parts:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    result = parts[0] if len(parts) > 1 else _of_its_result(name, parts[0])
    for part in parts[1:]:
        result = evaluate(name, result, part)
    return result.unsqueeze(axes[0]) if how.get("keepdims") else functional.contiguous(result)


def accumulate(name: str, array: Tensor, axis: int = 0, dtype: Any = None) -> Tensor:
    """The result after each element along a dimension."""
    (at,) = axes_of(axis, array.ndim)
    if name in _RUNNING:
        return reduction.accumulate(_RUNNING[name], array, at, dtype)
    parts = _slices(array if dtype is None else cast(array, dtype_of(dtype)), at)
    if len(parts) == 1:
        parts = [_of_its_result(name, parts[0])]
    for i in range(1, len(parts)):
        parts[i] = evaluate(name, parts[i - 1], parts[i])
    if not parts:
        return functional.contiguous(array)
    kind = parts[-1].layout.dtype
    return functional.stack([cast(part, kind) for part in parts], at)


def outer(name: str, a: Any, b: Any) -> Any:
    """Each element of one operand with each of the other."""
    # As to np.outer, a Python number is an array, with a dtype that is not weak.
    a, b = (item if isinstance(item, Tensor) else np.asarray(item)[()] for item in (a, b))
    shape, rest = np.shape(a), np.ndim(b)
    if isinstance(a, Tensor):
        a = a.reshape((*shape, *(1,) * rest))
    return evaluate(name, a, b)


def at(name: str, array: Tensor, indices: Any, values: Any = None) -> None:
    """Change elements in place; those that are named twice are changed twice."""
    if name in _ADDING:
        change = _ADDING[name](scalar(values))
        kind = array.layout.dtype
        if not isinstance(change, Tensor):
            change = tensor_of(change, kind, array.device)
        indexing.add(array, indices, cast(change, kind))
        return
    operands = () if values is None else (values,)
    _expect_different(name, array, indices)
    array[indices] = evaluate(name, functional.contiguous(array[indices]), *operands)


def _expect_different(name: str, array: Tensor, indices: Any) -> None:
    """Raise if an element is named twice: what comes after what would decide."""
    places = functional.arange(0, array.count, dtype="int64", device=array.device)
    named = places.reshape(array.shape)[indices].reshape(-1)
    ordered = functional.sort(named, 0)[0]
    if named.count > 1 and bool((ordered[1:] == ordered[:-1]).any()):
        raise TypeError(
            f"np.{name}.at: an element is named twice, for which there is an operator only for "
            "add and subtract; call it once for each group of different elements"
        )


def reduceat(name: str, array: Tensor, indices: Any, axis: int = 0, dtype: Any = None) -> Tensor:
    """Combine the elements of slices that start at the indices."""
    (where,) = axes_of(axis, array.ndim)
    starts, length = host_integers(indices), array.shape[where]
    for start in starts:
        if not 0 <= start < length:
            raise IndexError(f"index {start} out-of-bounds in {name}.reduceat [0, {length})")
    if not starts:
        raise ValueError(f"np.{name}.reduceat: no indices")
    pieces = []
    for start, stop in zip(starts, [*starts[1:], length], strict=True):
        part = array[along(where, slice(start, max(stop, start + 1)))]
        pieces.append(reduce(name, part, where, dtype))
    return functional.stack(pieces, where)


def _slices(array: Tensor, axis: int) -> list[Tensor]:
    return [array[along(axis, i)] for i in range(array.shape[axis])]


def _of_its_result(name: str, part: Tensor) -> Tensor:
    """An element that is combined with none, in the dtype that a combination would have."""
    return cast(part, evaluate(name, part, part).layout.dtype)


def _only(name: str, kwargs: dict[str, Any], known: tuple[str, ...]) -> None:
    for argument, value in kwargs.items():
        if argument not in known and not neutral(argument, value):
            raise TypeError(f"{name}: {argument}={value!r} is not taken for tensors")


_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "outer": outer,
    "at": at,
    "reduceat": reduceat,
}
