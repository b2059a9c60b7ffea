# SPDX-License-Identifier: Apache-2.0
"""Ways of working that are on for the whole process, or inside a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TypeVar

from aclnn_py.operators.launch.observers import Observer, add_observer, observers, remove_observer

__all__ = ["Mode", "ObserverMode"]

_Self = TypeVar("_Self", bound="Mode")


class Mode(ABC):
    """Turned on or off where it is made; the end of a ``with`` block brings back what was before.

    Parameters
    ----------
    enabled : bool, default True
        Whether the mode is on from now on.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._before = self._is_on()
        self._turn(enabled)

    @abstractmethod
    def _is_on(self) -> bool: ...

    @abstractmethod
    def _turn(self, enabled: bool) -> None: ...

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._turn(self._before)


class ObserverMode(Mode):
    """A mode that is one observer of the launches."""

    _observer: Observer

    def _is_on(self) -> bool:
        return self._observer in observers()

    def _turn(self, enabled: bool) -> None:
        remove_observer(self._observer)
        if enabled:
            add_observer(self._observer)
