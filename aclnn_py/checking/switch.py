# SPDX-License-Identifier: Apache-2.0
"""Turning the checker on and off."""

from __future__ import annotations

from typing import NoReturn

from aclnn_py._ffi import CallWrapper, add_wrapper, remove_wrapper
from aclnn_py._ffi.settings import enabled
from aclnn_py._ffi.source_lines import calling_stack
from aclnn_py.checking.functions import Functions
from aclnn_py.checking.history import History, stack_text
from aclnn_py.checking.launches import Launches
from aclnn_py.checking.queued import Queued
from aclnn_py.checking.reports import Reports
from aclnn_py.errors import CheckArgumentError, CheckClosedError
from aclnn_py.operators.launch.mode import Mode
from aclnn_py.operators.launch.observers import add_observer, remove_observer
from aclnn_py.runtime import faults, handle

__all__ = ["check", "start_from_environment"]


class check(Mode):
    """Look for mistakes with memory and C objects, and report them with both Python stacks.

    Found are: double destroy, use after destroy, an executor that runs twice, memory freed before
    its stream was done with it, a host pointer given for a device pointer, access outside an
    allocation, a workspace that is too small, an output that overlaps another argument in part, a
    stream used after its device was reset (``CheckError`` and its subclasses), and reads of memory
    that nothing has written (``CheckWarning``, since the work is done by then). The error of a
    fault on the device carries the stacks of the launch and of the wait.

    It holds for the whole process from the call on, or inside a ``with`` block;
    ``ACLNN_PY_CHECK=1`` turns it on from the start.

    Parameters
    ----------
    enabled : bool, default True
        False goes back to calls that nobody looks at.

    Notes
    -----
    Turned on by this call, and not by ``ACLNN_PY_CHECK=1``, it lacks what has to be there when
    memory is allocated: on the emulator guard zones, bounds to the byte, and reads of memory that
    nothing has written; everywhere the stacks of objects that were made before. Memory then comes
    from the caching allocator, whose pieces lie side by side in larger ones: bounds are those of
    the larger ones, and what was freed is known by its handle alone.
    """

    def _current(self) -> bool:
        return _active is not None

    def _change(self, value: bool) -> None:
        _set(value)


def start_from_environment() -> None:
    """Turn the checker on when ``ACLNN_PY_CHECK=1`` asks for it."""
    if enabled("ACLNN_PY_CHECK"):
        check()


class _Watcher(handle.Watcher):
    def __init__(self, history: History) -> None:
        self._history = history

    def made(self, handle: handle.Handle) -> None:
        self._history.handle_made(handle)

    def closing(self, handle: handle.Handle) -> None:
        self._history.handle_closed(handle)

    def used(self, handle: handle.Handle) -> NoReturn:
        kind = type(handle).__name__
        raise CheckClosedError(
            f"{kind} is closed",
            fault="use after destroy",
            stacks=[*self._history.handle_stacks(handle), _used(kind)],
        )

    def misused(self, handle: handle.Handle, fault: str, message: str) -> NoReturn:
        stacks = [*self._history.handle_stacks(handle), _used(type(handle).__name__)]
        raise CheckArgumentError(message, fault=fault, stacks=stacks)


def _used(kind: str) -> tuple[str, str]:
    return (f"{kind} used", stack_text(calling_stack()))


_active: tuple[Launches, CallWrapper] | None = None


def _set(enabled: bool) -> None:
    global _active
    if enabled == (_active is not None):
        return
    if not enabled:
        assert _active is not None  # as `enabled` differs
        launches, functions = _active
        remove_observer(launches)
        remove_wrapper(functions)
        handle.watch(None)
        faults.on_fault(None)
        _active = None
        return
    history, queued = History(), Queued()
    launches = Launches(history, queued)
    functions = Functions(history, queued, Reports(queued)).wrap
    add_wrapper(functions)
    handle.watch(_Watcher(history))
    faults.on_fault(launches.faulted)
    add_observer(launches)
    _active = launches, functions
