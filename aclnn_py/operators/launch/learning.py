# SPDX-License-Identifier: Apache-2.0
"""Recipes of functions, learnt by watching what they launch; see ``tensor/recipes.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aclnn_py import late
from aclnn_py._ffi import ffi, lib
from aclnn_py.operators.describe.call_arguments import CallBlock, block_at
from aclnn_py.operators.launch.table import operator_named
from aclnn_py.runtime.stream import current_stream
from aclnn_py.tensor.recipes import MOST_GIVEN, Key, Recipe, addresses
from aclnn_py.tensor.tensor import Tensor

__all__ = ["fail", "learn"]

_MOST_RECIPES = 1024
_MOST_HOPELESS = 4096
# What no recipe can say: a function, by its recipes, and what decides about its work.
_hopeless: set[tuple[int, Key]] = set()


def learn(
    recipes: dict[Key, Recipe], key: Key, given: Sequence[Tensor], work: Callable[[], Any]
) -> Any:
    """Do the work of a call that came before, and keep a recipe of it.

    Parameters
    ----------
    recipes : dict
        Those of the function.
    key : tuple
        What decides about its work.
    given : sequence of Tensor
        The tensors among its arguments.
    work : callable
        The function with its arguments.
    """
    note = id(recipes), key
    if note in _hopeless or not given or not lib.ap_may_make():
        return work()
    # Before the work: a structure that is made afterwards may lie where that of a tensor lay which
    # the function made and dropped.
    places = addresses(given)
    cell = ffi.new("ap_learned *")
    before = lib.ap_learn(cell)
    try:
        result = work()
    finally:
        lib.ap_learn_end(cell, before)
    if cell.launches:
        recipe = _recipe(cell, given, places, result)
        if recipe is None:
            if len(_hopeless) >= _MOST_HOPELESS:
                _hopeless.clear()
            _hopeless.add(note)
        else:
            if len(recipes) >= _MOST_RECIPES:
                recipes.clear()  # calls under way hold their own
            recipes[key] = recipe
    return result


def _recipe(
    learned: Any, given: Sequence[Tensor], at: Sequence[int], result: object
) -> Recipe | None:
    """What was watched as a recipe, None where no recipe can say it.

    ``at`` is where the structures of the given tensors are.
    """
    if learned.launches != 1 or not isinstance(result, Tensor) or len(given) > MOST_GIVEN:
        return None
    use = result.buffer.block.use
    whole = ffi.addressof(use, "whole")
    block = block_at(learned.call)
    if whole.address == ffi.NULL or whole.layout != result.layout.cdata or block is None:
        return None  # a view, or memory that was not made for this tensor alone
    kinds = _kinds_of_tensors(block)
    if not set(kinds) <= {"i", "o"}:
        return None
    if lib.ap_op_find(learned.call.op.name) != learned.call.op:
        return None  # declared at run time
    places = _places(learned, at, whole)
    if places is None or kinds[places.index(lib.AP_PLACE_NEW)] != "o":
        return None
    cell = ffi.new("ap_recipe *")
    cell.call = learned.call
    cell.layout = result.layout.cdata
    cell.count = len(places)
    # A tensor that was given twice may stand in either of its places.
    ids = [id(tensor) for tensor in given]
    cell.same = len({*ids}) < len(ids)
    cell.given = len(ids)
    for index, number in enumerate(ids):
        cell.first[index] = ids.index(number)
    for index, place in enumerate(places):
        cell.places[index] = place
    return Recipe(cell, result.layout, (block, result.layout))


def _kinds_of_tensors(block: CallBlock) -> list[str]:
    """For each tensor of a call whether it is read (i), written (o) or both; L for a list."""
    op = block.cdata.op
    kinds, modes = ffi.string(op.kinds).decode(), ffi.string(op.modes).decode().lower()
    pairs = zip(kinds, modes, strict=True)
    return [mode if kind == "T" else kind for kind, mode in pairs if kind in "TL"]


def _places(learned: Any, given: Sequence[int], made: Any) -> list[int] | None:
    """Where the tensors of a launch come from."""
    places = []
    for index in range(learned.count):
        tensor = learned.tensors[index]
        if tensor == ffi.NULL:
            places.append(lib.AP_PLACE_NULL)
        elif tensor == made:
            places.append(lib.AP_PLACE_NEW)
        elif (address := int(ffi.cast("uintptr_t", tensor))) in given:
            places.append(given.index(address))
        else:
            return None
    return places if places.count(lib.AP_PLACE_NEW) == 1 else None


def fail(recipe: Any, given: Sequence[Tensor], made: Tensor) -> None:
    """Raise the error of a recipe whose launch has just failed on this thread."""
    from_given = {lib.AP_PLACE_NULL: None, lib.AP_PLACE_NEW: made}
    places = [recipe.places[index] for index in range(recipe.count)]
    tensors = iter([from_given[at] if at < 0 else given[at] for at in places])
    block = block_at(recipe.call)
    op = operator_named(ffi.string(recipe.call.op.name).decode())
    attributes = iter(() if block is None else block.attributes)
    values = tuple(next(tensors if p.is_tensor else attributes, None) for p in op.parameters)
    late.settling.settle(op, lib.AP_FAILED, values, current_stream())
