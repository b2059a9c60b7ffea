# SPDX-License-Identifier: Apache-2.0
"""Methods of NumPy's ufuncs on tensors: reduce, accumulate, outer, at, reduceat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array import indexing, reduction
from aclnn_py.array.operands import (
    along,
    host_integers,
    neutral,
    placed,
    stored,
)
from aclnn_py.array.promotion import (
    cast,
    is_operand,
    result_type,
    scalar,
    tensor_of,
    without_lists,
)
from aclnn_py.array.quantiles import rows_of
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
# Others whose result does not depend on the order of the elements.
_ANY_ORDER = {
    "bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor", "fmax", "fmin", "gcd", "lcm",
    "hypot", "logaddexp", "logaddexp2",
}  # fmt: skip
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
    if len(axes) != 1 and name not in _ANY_ORDER:
        raise ValueError(f"np.{name}.reduce: one axis at a time; the order would matter")
    if how.get("where", True) is not True or how.get("initial") is not None:
        raise TypeError(f"np.{name}.reduce: where and initial are not taken for tensors")
    rows, shape = rows_of(array, axes, bool(how.get("keepdims")))
    parts = _slices(rows if dtype is None else cast(rows, dtype_of(dtype)), rows.ndim - 1)
    if not parts:
        return _of_nothing(name, array, shape)
    result = parts[0] if len(parts) > 1 else _of_its_result(name, parts[0])
    for part in parts[1:]:
        result = evaluate(name, result, part)
    return functional.contiguous(result).reshape(shape)


def _of_nothing(name: str, array: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The result without elements: what changes no other element."""
    identity = getattr(np, name).identity
    if identity is None:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    kind = _of_its_result(name, array).layout.dtype
    return functional.contiguous(tensor_of(identity, kind, array.device).broadcast_to(shape))


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
    a, b = without_lists(a, b)
    # As to np.outer, a Python number is an array, with a dtype that is not weak.
    a, b = (item if isinstance(item, Tensor) else np.asarray(item)[()] for item in (a, b))
    shape, rest = np.shape(a), np.ndim(b)
    if isinstance(a, Tensor):
        a = a.reshape((*shape, *(1,) * rest))
    return evaluate(name, a, b)


def at(name: str, array: Tensor, indices: Any, values: Any = None) -> None:
    """Change elements in place; those that are named twice are changed twice."""
    kind = array.layout.dtype
    values = scalar(values)
    if values is not None and not is_operand(values):
        values = placed(values, array.device)
    if name in _ADDING and kind.numpy.kind != "c" and result_type(array, values) is kind:
        indexing.add(array, indices, tensor_of(_ADDING[name](values), kind, array.device))
        return
    numbers = functional.arange(0, array.count, dtype="int64", device=array.device)
    places = numbers.reshape(array.shape)[indices]
    if isinstance(values, Tensor):
        values = functional.contiguous(values.broadcast_to(places.shape)).reshape(-1)
    row = functional.contiguous(array).reshape(-1)
    named = functional.contiguous(places).reshape(-1)
    for turn in _turns(named):
        operands = (
            (values[turn],) if isinstance(values, Tensor) else (values,) * (values is not None)
        )
        row[named[turn]] = evaluate(name, row[named[turn]], *operands)
    array[...] = row.reshape(array.shape)


def _turns(places: Tensor) -> Iterator[Tensor]:
    """Which of the places are changed together: the first of each element, then the second, .."""
    if not places.count:
        return
    order = functional.sort(places, 0, stable=True)[1]
    ordered = places[order]
    position = functional.arange(0, places.count, dtype="int64", device=places.device)
    start = functional.where(ordered[1:] != ordered[:-1], position[1:], position[1:] * 0)
    start = reduction.accumulate("cummax", functional.cat([position[:1], start], 0))
    turns, moved = functional.sort(position - start, 0, stable=True)
    order = order[moved]
    ends = np.cumsum(np.bincount(turns.numpy()))
    for first, last in pairwise((0, *ends.tolist())):
        yield order[first:last]


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
