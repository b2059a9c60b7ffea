# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on tensors: they run on the device, or refuse and say why and what to use.

``np.asarray(t)`` and ``np.array(t)`` copy to the host because that is what they are for; no other
function does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any, NamedTuple

import numpy as np

from aclnn_py.array import arithmetic, ufunc_methods
from aclnn_py.array.hosting import on_host
from aclnn_py.array.names import BY_CHOICE, evaluator, refusal
from aclnn_py.array.operands import device_of, expect_cast, neutral, promoted, stored
from aclnn_py.array.promotion import cast, tensor_of, without_lists
from aclnn_py.array.ufuncs import evaluate
from aclnn_py.runtime.current import thread
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = ["array_function", "array_ufunc"]

# What NumPy hands on for an argument that was not given; not every release declares it.
_NO_VALUE: Any = getattr(np, "_NoValue", None)
_MOST_FUNCTIONS = 2048


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Evaluate a ufunc on tensors."""
    if method == "__call__" and not kwargs:
        return _ufuncs[ufunc](*inputs)
    return _array_ufunc(ufunc, inputs, kwargs, method)


def array_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Evaluate another function of NumPy on tensors."""
    return _functions[function](*args, **kwargs)


class _Short(dict[Any, Callable[..., Any]]):
    """What evaluates a function of NumPy, with recipes of its own.

    What reads elements launches a copy, so that no recipe is made of it.
    """

    def __init__(self, evaluating: Callable[[Any], Callable[..., Any]]) -> None:
        super().__init__()
        self._evaluating = evaluating

    def __missing__(self, function: Any) -> Callable[..., Any]:
        if len(self) >= _MOST_FUNCTIONS:  # a program can make ufuncs of its own
            self.clear()
        return self.setdefault(function, remembered(self._evaluating(function)))


def _array_ufunc(
    ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any], method: str = "__call__"
) -> Any:
    name = ufunc.__name__
    if method != "__call__":
        return ufunc_methods.call(ufunc, method, inputs, kwargs)
    out = kwargs.pop("out", None)
    where = kwargs.pop("where", True)
    dtype = kwargs.pop("dtype", None)
    casting = kwargs.get("casting") or "same_kind"
    _refuse_keywords(f"np.{name}", kwargs)
    inputs = without_lists(*inputs)
    if dtype is not None:
        inputs = _in_dtype(ufunc, inputs, dtype_of(dtype), casting)
    if out is not None and len(out) == 1 and where is True and name in arithmetic.NAMES:
        return arithmetic.apply(name, *inputs, out=out[0])
    result = evaluate(name, *inputs)
    if where is not True and out is not None:
        result = _where_told(name, where, result, out)
    return stored(f"np.{name}", result, out)


class _Function:
    """What evaluates a function of NumPy other than a ufunc."""

    __slots__ = ("found", "function", "name", "taken")

    def __init__(self, function: Any) -> None:
        self.function = function
        self.name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
        self.found = evaluator(self.name)
        self.taken = None if self.found is None else _signature(self.found)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found, taken, name = self.found, self.taken, self.name
        if found is None or taken is None:
            if name in BY_CHOICE and thread.unsupported == "host":
                return on_host(self.function, *args, **kwargs)
            raise TypeError(refusal(name))
        if len(args) > taken.by_position:
            count = int(taken.by_position)
            names = _numpys_names(self.function)[count : len(args)]
            kwargs = {**dict(zip(names, args[count:], strict=False)), **kwargs}
            args = args[:count]
        out = None
        if kwargs:
            kwargs = {key: value for key, value in kwargs.items() if value is not _NO_VALUE}
            out = kwargs.pop("out", None)
            if not taken.anything:
                others = {key: kwargs.pop(key) for key in list(kwargs) if key not in taken.every}
                _refuse_keywords(f"np.{name}", others)
        result = found(*args, **kwargs)
        return result if out is None else stored(f"np.{name}", result, out)


_ufuncs = _Short(lambda ufunc: lambda *inputs: _array_ufunc(ufunc, inputs, {}))
_functions = _Short(_Function)


class Taken(NamedTuple):
    """What a function here takes: how many by position, which by name, whether any name."""

    by_position: float
    every: frozenset[str]
    anything: bool


@cache
def _signature(function: Callable[..., Any]) -> Taken:
    parameters = inspect.signature(function).parameters.values()
    kinds = inspect.Parameter
    endless = any(item.kind is kinds.VAR_POSITIONAL for item in parameters)
    anything = any(item.kind is kinds.VAR_KEYWORD for item in parameters)
    places = (kinds.POSITIONAL_OR_KEYWORD, kinds.POSITIONAL_ONLY)
    by_position = inf if endless else sum(item.kind in places for item in parameters)
    return Taken(by_position, frozenset(item.name for item in parameters), anything)


def _numpys_names(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def _refuse_keywords(name: str, kwargs: dict[str, Any]) -> None:
    for argument, value in kwargs.items():
        if not neutral(argument, value):
            raise TypeError(
                f"{name}: {argument}={value!r} is not taken for tensors; leave it out, or call "
                "NumPy with np.asarray(t), a copy on the host"
            )


def _in_dtype(ufunc: Any, inputs: tuple[Any, ...], kind: DType, casting: str) -> tuple[Any, ...]:
    """The operands in the dtype that is asked for; what gives truth values has no other."""
    if all(loop.endswith("->?") for loop in ufunc.types if "O" not in loop):
        if kind.name != "bool":
            raise TypeError(f"np.{ufunc.__name__}: the result is bool, not {kind}; use astype()")
        return inputs
    for item in inputs:
        if isinstance(item, Tensor):
            expect_cast(f"np.{ufunc.__name__}", item.layout.dtype, kind, casting)
    return tuple(cast(item, kind) if isinstance(item, Tensor) else item for item in inputs)


def _where_told(name: str, where: Any, result: Any, out: tuple[Any, ...]) -> Any:
    """The result where the mask holds, what ``out`` has elsewhere."""
    results = result if isinstance(result, tuple) else (result,)
    merged = []
    for item, target in zip(results, out, strict=True):
        device = device_of(name, where, item, target)
        mask = tensor_of(where, dtype_of("bool"), device)
        arithmetic.check_out(target, item.shape, item.layout.dtype, name)
        merged.append(
            arithmetic.choose(mask, *promoted(name, cast(item, target.layout.dtype), target))
        )
    return tuple(merged) if isinstance(result, tuple) else merged[0]
