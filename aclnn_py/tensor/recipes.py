# SPDX-License-Identifier: Apache-2.0
"""Functions that make one tensor with one launch, done in one C call from the third time on.

What such a function does is decided by the layouts of its tensors and by its other arguments: which
operator it calls, with which attributes, and what the result looks like. So a *recipe* is kept for
each of these: the operator's call block, the layout of the result, and which tensor goes where. A
call with a known recipe is found, takes memory, launches and wraps the result in C (recall.c).
Everything else runs the function itself: unknown arguments, streams that are named, and whatever
``ap_make`` does not do, such as launches under observers and captures.

A recipe is learnt by watching the function (``operators/launch/learning.py``). If it launched more
or other things than such a recipe can say, it is not watched again for these arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from aclnn_py import late
from aclnn_py._ffi import ffi, held
from aclnn_py.tensor.layout import Layout

__all__ = ["MOST_GIVEN", "Key", "Recipe", "addresses", "fail", "remembered"]

Key = tuple[object, ...]
_Function = TypeVar("_Function", bound=Callable[..., Any])

MOST_GIVEN = 8
_MOST_SEEN = 4096
_key_of: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Key, tuple[Any, ...]] | None] = held.key
_make: Callable[[dict[Key, Recipe], tuple[Any, ...], dict[str, Any]], Any] = held.make


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


def addresses(given: Sequence[Any]) -> list[int]:
    """Where the structures of tensors are that launches take."""
    return [int(tensor._at) for tensor in given]


def fail(recipe: Recipe, given: Sequence[Any], made: Any) -> None:
    """Raise what was wrong with a launch that the library refused."""
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
        made = _make(recipes, args, named)
        if made is not None:
            return made
        found = _key_of(args, named)
        if found is None:  # an argument that no key can say, or a stream
            return function(*args, **named)
        key, given = found
        recipe = recipes.get(key)
        if recipe is None:
            if key in seen:
                work = functools.partial(function, *args, **named)
                return late.learning.learn(recipes, key, given, work)
            if len(seen) >= _MOST_SEEN:
                seen.clear()
            seen.add(key)  # most arguments come once: those that come again are worth learning
        elif recipe.cdata.same:
            recipes.pop(key, None)  # learnt from one tensor in two places: these are two
        return function(*args, **named)

    return short  # type: ignore[return-value]
