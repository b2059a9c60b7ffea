# SPDX-License-Identifier: Apache-2.0
"""Functions that make one tensor with one launch, done in one C call from the third time on.

What such a function does is decided by the layouts of its tensors and by its other arguments: which
operator it calls, with which attributes, and what the result looks like. So a *recipe* is kept for
each of these: the operator's call block, the layout of the result, and which tensor goes where. A
call with a known recipe takes memory, launches and describes the result in C (``ap_make``) and only
wraps it here. Everything else runs the function itself: unknown arguments, streams that are named,
and whatever ``ap_make`` does not do, such as launches under observers and captures.

A recipe is learnt by watching the function (``operators/launch/learning.py``). If it launched more
or other things than such a recipe can say, it is not watched again for these arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, TypeVar

from aclnn_py import late
from aclnn_py._ffi import ffi, lib
from aclnn_py.runtime.device import Device
from aclnn_py.tensor.layout import Layout

__all__ = ["MOST_GIVEN", "Key", "Recipe", "addresses", "remembered", "serve"]

Key = tuple[object, ...]
_Function = TypeVar("_Function", bound=Callable[..., Any])

MOST_GIVEN = 8
_MOST_SEEN = 4096
# Values of these types say the same to C whenever they are equal.
_PLAIN = frozenset({bool, int, str, NoneType})
_WHOLE = {int}
_new = ffi.new
_USE = ffi.typeof("ap_use *")
_make2 = lib.ap_make2
_MAKES: tuple[Any, ...] = (None, *(getattr(lib, f"ap_make{n}") for n in range(1, MOST_GIVEN + 1)))

# Of the module of tensors, which stands above and imports this one.
_tensor: Any = type(None)
_wrap: Callable[[Any, float, Layout, Device], Any]


class Recipe:
    """How a result is made.

    Parameters
    ----------
    cdata : cdata
        The ap_recipe.
    layout : Layout
        Of the result.
    owners : object
        What the structure points to.
    """

    __slots__ = ("_owners", "at", "cdata", "layout")

    def __init__(self, cdata: Any, layout: Layout, owners: object) -> None:
        self.cdata = cdata
        self.at = float(int(ffi.cast("intptr_t", cdata)))
        self.layout = layout
        self._owners = owners


def serve(kind: type, wrap: Callable[[Any, float, Layout, Device], Any]) -> None:
    """Note the class of tensors, and what makes one over a filled ap_use."""
    global _tensor, _wrap
    _tensor, _wrap = kind, wrap


def addresses(given: Sequence[Any]) -> list[int]:
    """Where the structures of tensors are that launches take."""
    return [int(tensor._at) for tensor in given]


def _fail(recipe: Recipe, use: Any, at: float, given: Sequence[Any]) -> None:
    """Raise: part of the work may have been queued, so the long way must not do it again."""
    made = _wrap(use, -at, recipe.layout, given[0].device)
    late.learning.fail(recipe.cdata, given, made)


def remembered(function: _Function) -> _Function:
    """Let a function go the short way where it can.

    For functions that make one tensor with one launch, and whose work depends on nothing but the
    layouts of tensors and on numbers: neither on elements nor on random numbers.
    """
    recipes: dict[Key, Recipe] = {}
    seen: set[Key] = set()

    @functools.wraps(function)
    def short(*args: Any, **named: Any) -> Any:
        if len(args) == 2 and not named:
            # As below, for the most frequent arguments: two tensors.
            a, b = args
            if a.__class__ is _tensor is b.__class__:
                recipe = recipes.get((a._layout, b._layout))
                if recipe is not None:
                    use = _new(_USE)
                    at = _make2(recipe.at, use, a._at, b._at)
                    if at > 0:
                        return _wrap(use, at, recipe.layout, a._memory.device)
                    if at < 0:
                        _fail(recipe, use, at, args)
        key: list[Any] = []
        given = []
        for value in (*args, *named.values()) if named else args:
            kind = value.__class__
            if kind is _tensor:
                key.append(value._layout)
                given.append(value)
            elif kind in _PLAIN:
                key.append(kind)
                key.append(value)
            elif kind is float:
                key.append(kind)
                key.append(value or str(value))  # a zero has a sign
            elif kind is tuple and {*map(type, value)} <= _WHOLE:
                key.append(value)
            else:
                return function(*args, **named)
        if named:
            if named.get("stream") is not None:
                return function(*args, **named)
            key.append(tuple(named))
        known = tuple(key)
        recipe = recipes.get(known)
        if recipe is None:
            if known in seen:
                work = functools.partial(function, *args, **named)
                return late.learning.learn(recipes, known, given, work)
            if len(seen) >= _MOST_SEEN:
                seen.clear()
            seen.add(known)  # most arguments come once: those that come again are worth learning
            return function(*args, **named)
        use = _new(_USE)
        at = _MAKES[len(given)](recipe.at, use, *[tensor._at for tensor in given])
        if at > 0:
            return _wrap(use, at, recipe.layout, given[0]._memory.device)
        if at < 0:
            _fail(recipe, use, at, given)
        if recipe.cdata.same:
            recipes.pop(known, None)  # learnt from one tensor in two places: these are two
        return function(*args, **named)

    return short  # type: ignore[return-value]
