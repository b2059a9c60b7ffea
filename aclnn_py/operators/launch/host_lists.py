# SPDX-License-Identifier: Apache-2.0
"""Lists that an operator reads on the host, and launches that are repeated with them.

Phase one copies ``actual_seq_lengths`` and other lists. So a launch that is repeated keeps the
numbers it was prepared with, whatever becomes of the caller's list. A repeat looks at the lists
first and refuses when one of them has changed.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any

from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import type_name
from aclnn_py.operators.describe.call_arguments import is_immutable, token_of
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.tensor.tensor import Tensor

__all__ = ["HostLists", "expect_numbers", "frozen", "items_of"]

# Kinds of parameters that phase one copies from a list, and those whose elements compare as C's do.
_LISTS = "IFBR"
_PLAIN = "IB"
_texts = reprlib.Repr()
_texts.maxlist = 16


def _is_list(parameter: Parameter) -> bool:
    """Whether an operator takes a list of numbers there."""
    return parameter.kind in _LISTS


def expect_numbers(name: str, value: object, expected: str = "a list of numbers") -> None:
    """Raise unless a value can stand for a list of numbers."""
    if type(value) is list or type(value) is tuple:
        return
    if (
        isinstance(value, (str, bytes, Tensor))
        or not (isinstance(value, Sized) and isinstance(value, Iterable))
        or getattr(value, "ndim", 1) != 1
    ):
        raise TypeError(f"{name}: expected {expected}, got {type_name(value)}")


def items_of(value: Any) -> tuple[Any, ...]:
    """The elements as they are now."""
    if type(value) is list or type(value) is tuple:
        return tuple(value)
    found = value.tolist() if hasattr(value, "tolist") else value
    return tuple(found) if isinstance(found, Iterable) else (found,)


def frozen(op: Operator, values: Sequence[object]) -> tuple[object, ...]:
    """The arguments of a launch, with lists that the caller may change copied."""
    return tuple(
        _copied(parameter, value) if _is_watched(parameter, value) else value
        for parameter, value in zip(op.parameters, values, strict=True)
    )


def _copied(parameter: Parameter, value: object) -> object:
    items = items_of(value)
    # An array without dimensions may stand for a number.
    return items if _is_list(parameter) else items[0]


def _is_watched(parameter: Parameter, value: object) -> bool:
    return not parameter.is_tensor and _may_change(value)


def _text(items: tuple[Any, ...]) -> str:
    return _texts.repr(list(items))


def _may_change(value: object) -> bool:
    """Whether the same object may stand for other numbers later."""
    if is_immutable(value) or isinstance(value, (tuple, range, Tensor)):
        return False
    return isinstance(value, Sized) and isinstance(value, Iterable)


class _Held:
    """A list that launches have read: the object, and what was in it."""

    __slots__ = ("seen", "value")

    def __init__(self, value: Any, seen: tuple[Any, ...]) -> None:
        self.value = value
        self.seen = seen


class _Read:
    """Where a launch has read a list."""

    __slots__ = ("held", "launch", "op", "parameter", "position")

    def __init__(self, op: Operator, position: int, held: _Held, launch: int) -> None:
        self.op = op
        self.position = position
        self.parameter = op.parameters[position]
        self.held = held
        self.launch = launch

    def same(self) -> bool:
        """Whether a launch would read the same numbers now."""
        now, seen = items_of(self.held.value), self.held.seen
        if self.parameter.kind in _PLAIN or not _is_list(self.parameter):
            return now == seen
        try:  # as bytes: 0.0 is another number than -0.0, and NaN is itself
            return token_of(self.parameter, now) == token_of(self.parameter, seen)
        except (TypeError, ValueError):
            return False


class HostLists:
    """The lists that prepared launches have read from objects which the caller can change."""

    __slots__ = ("_distinct", "_held", "_reads")

    def __init__(self) -> None:
        self._reads: list[_Read] = []
        # By identity of the object, which the entries keep alive.
        self._held: dict[int, list[_Held]] = {}
        # Layers share their lists; each is compared once.
        self._distinct: list[_Read] = []

    def __bool__(self) -> bool:
        """Whether one of them can change."""
        return bool(self._distinct)

    def note(self, op: Operator, values: Sequence[object], launch: int = 0) -> None:
        """Remember what a launch has just read; ``launch`` is its number for ``uses``."""
        for position, (parameter, value) in enumerate(zip(op.parameters, values, strict=True)):
            if (_is_list(parameter) and value is not None) or _is_watched(parameter, value):
                self._add(_Read(op, position, self._held_of(value), launch))

    def _held_of(self, value: Any) -> _Held:
        known, seen = self._held.setdefault(id(value), []), items_of(value)
        for held in known:
            if held.seen == seen:
                return held
        known.append(_Held(value, seen))
        return known[-1]

    def _add(self, read: _Read) -> None:
        self._reads.append(read)
        if not _may_change(read.held.value):
            return
        for other in self._distinct:
            if other.held is read.held and other.parameter.kind == read.parameter.kind:
                return
        self._distinct.append(read)

    def uses(self, value: object) -> list[tuple[int, int, int]]:
        """(launch, position among its parameters, length) of every use of a list, by identity."""
        return [
            (r.launch, r.position, len(r.held.seen)) for r in self._reads if r.held.value is value
        ]

    def exchange(self, old: object, new: object) -> None:
        """Note that launches were prepared again, with another list in the place of one."""
        found, seen = self._held.pop(id(old)), items_of(new)
        for held in found:
            held.value, held.seen = new, seen
        self._held.setdefault(id(new), []).extend(found)
        if new is not old:
            reads, self._reads, self._distinct = self._reads, [], []
            for read in reads:
                self._add(read)

    def check(self, call: str, what: str, advice: Callable[[str], str]) -> None:
        """Refuse to repeat launches whose lists have changed since.

        Raises
        ------
        InvalidArgumentError
            It names the operator, the parameter, both values and the way out.
        """
        for read in self._distinct:
            if not read.same():
                name, now = read.parameter.name, items_of(read.held.value)
                raise InvalidArgumentError(
                    f"{call}: {read.op.c_name} was {what} with {name}={_text(read.held.seen)}, and "
                    f"the list is {_text(now)} now. The operator keeps the numbers it was given. "
                    f"{advice(name)}"
                )
