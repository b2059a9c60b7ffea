# SPDX-License-Identifier: Apache-2.0
"""Settings that hold from a call on, or inside a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import get_ident
from types import TracebackType
from typing import Any, Generic, TypeVar

from aclnn_py.operators.launch.observers import Observer, add_observer, observers, remove_observer

__all__ = ["Mode", "ObserverMode", "Setting"]

_Value = TypeVar("_Value")
_Self = TypeVar("_Self", bound="Setting[Any]")


class Setting(ABC, Generic[_Value]):
    """A value that holds from the call on; a ``with`` block sets it again and ends with a return.

    The end of a block brings back what held before the block. Of a block that follows the call
    with no other value in between, as in ``with strict():``, that is what held before the call.
    Blocks of one object may lie in each other and run in several threads.
    """

    def __init__(self, value: _Value) -> None:
        self._value = value
        # The thread and what held before the call, until the first block.
        self._called: tuple[int, _Value] | None = (get_ident(), self._current())
        self._before: dict[int, list[_Value]] = {}  # by thread, of the blocks it is in
        self._change(value)

    @abstractmethod
    def _current(self) -> _Value: ...

    @abstractmethod
    def _change(self, value: _Value) -> None: ...

    def __enter__(self: _Self) -> _Self:
        before, caller = self._current(), get_ident()
        if self._called is not None and self._called[0] == caller and before == self._value:
            before = self._called[1]
        self._called = None
        self._before.setdefault(caller, []).append(before)
        self._change(self._value)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        caller = get_ident()
        blocks = self._before[caller]
        self._change(blocks.pop())
        if not blocks:
            del self._before[caller]


class Mode(Setting[bool]):
    """Turned on or off for the whole process.

    Parameters
    ----------
    enabled : bool, default True
        Whether the mode is on from now on.
    """

    def __init__(self, enabled: bool = True) -> None:
        super().__init__(bool(enabled))


class ObserverMode(Mode):
    """A mode that is one observer of the launches."""

    _observer: Observer

    def _current(self) -> bool:
        return self._observer in observers()

    def _change(self, value: bool) -> None:
        remove_observer(self._observer)
        if value:
            add_observer(self._observer)
