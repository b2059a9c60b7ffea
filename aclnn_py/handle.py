# SPDX-License-Identifier: Apache-2.0
"""One way to own a C object: destroyed exactly once, after which its owners may go."""

from __future__ import annotations

import itertools
import os
import warnings
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from aclnn_py.errors import ClosedError, ForkError, ReleaseWarning

__all__ = ["Handle", "Watcher", "check_process", "live_handles", "misused", "watch"]

_Self = TypeVar("_Self", bound="Handle")

_serials = itertools.count(1)
# Serial numbers of live handles by kind: numbers, not objects, so that nothing is kept alive. One
# set operation is one step for the interpreter, so a finalizer that runs in the middle of another
# cannot lose an entry.
_live: dict[str, set[int]] = {}
_fork_generation = 0


class Watcher:
    """Is told of the life of handles; ``watch`` says who it is."""

    def made(self, handle: Handle) -> None:
        """Look at a handle that has just been made."""

    def closing(self, handle: Handle) -> None:
        """Look at a handle that is about to be closed by a call."""

    def used(self, handle: Handle) -> None:
        """Look at a closed handle that somebody uses; ``ClosedError`` follows."""

    def misused(self, handle: Handle, fault: str, message: str) -> None:
        """Look at a handle that is given where it does not fit; an error with this text follows."""


_watcher: Watcher | None = None


def watch(watcher: Watcher | None) -> None:
    """Tell one watcher of the life of handles from now on, or nobody."""
    global _watcher
    _watcher = watcher


def _note_fork() -> None:
    global _fork_generation
    _fork_generation += 1


os.register_at_fork(after_in_child=_note_fork)


def misused(handle: Handle, fault: str, message: str) -> None:
    """Tell the watcher of a handle that is about to be refused."""
    if _watcher is not None:
        _watcher.misused(handle, fault, message)


def live_handles() -> dict[str, int]:
    """Return how many handles of each kind are open in this process."""
    return {kind: len(serials) for kind, serials in sorted(_live.items()) if serials}


def fork_generation() -> int:
    """Return how often an ancestor of this process was forked since this module was imported."""
    return _fork_generation


def check_process(generation: int, what: str) -> None:
    """Raise ``ForkError`` when ``what`` was made before this process was forked off."""
    if generation != _fork_generation:
        raise ForkError(
            f"{what} belongs to the parent process: the runtime does not survive fork(). "
            "Start workers with the 'spawn' start method, or fork before the first call."
        )


def _release(
    destroy: Callable[[Any], None] | None,
    raw: Any,
    owners: tuple[object, ...],
    pid: int,
    kind: str,
    serial: int,
) -> None:
    del owners  # held by the finalizer up to here, which is what keeps them alive
    if os.getpid() != pid:
        return  # the parent owns the C object; releasing it here would release it twice
    _live[kind].discard(serial)
    if destroy is None:
        return
    try:
        destroy(raw)
    except Exception as error:
        # May run inside the garbage collector or at exit, where an exception has nobody to catch
        # it.
        warnings.warn(ReleaseWarning(f"{kind} was not released: {error}"), stacklevel=2)


class Handle:
    """A C object, the function that destroys it, and whatever must outlive it.

    Parameters
    ----------
    raw : cdata or int
        The C object.
    destroy : callable or None
        Called once with ``raw``; raises when the release fails, which becomes a ``ReleaseWarning``.
        ``None`` for objects that belong to somebody else.
    *owners
        Objects that must live until ``destroy`` has returned.
    """

    __slots__ = ("__weakref__", "_finalizer", "_generation", "_raw")

    def __init__(self, raw: Any, destroy: Callable[[Any], None] | None, *owners: object) -> None:
        kind = type(self).__name__
        serial = next(_serials)
        self._raw = raw
        self._generation = _fork_generation
        _live.setdefault(kind, set()).add(serial)
        self._finalizer = weakref.finalize(
            self, _release, destroy, raw, owners, os.getpid(), kind, serial
        )
        if _watcher is not None:
            _watcher.made(self)

    @property
    def raw(self) -> Any:
        """The C object; raises ``ClosedError`` once closed and ``ForkError`` in a forked child."""
        if not self._finalizer.alive:
            if _watcher is not None:
                _watcher.used(self)
            raise ClosedError(f"{type(self).__name__} is closed")
        if self._generation != _fork_generation:
            check_process(self._generation, f"this {type(self).__name__}")
        return self._raw

    @property
    def closed(self) -> bool:
        """Whether the object has been released."""
        return not self._finalizer.alive

    def close(self) -> None:
        """Release the C object now; a second call does nothing."""
        if _watcher is not None and self._finalizer.alive:
            _watcher.closing(self)
        self._finalizer()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _state(self) -> str:
        return "closed" if self.closed else hex(_address(self._raw))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state()}>"

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be copied or pickled: "
            "it owns a C object of this process"
        )

    __copy__ = _refuse
    __deepcopy__ = _refuse

    def __reduce__(self) -> NoReturn:
        self._refuse()


def _address(raw: Any) -> int:
    if isinstance(raw, int):
        return raw
    from aclnn_py._ffi import ffi

    return int(ffi.cast("uintptr_t", raw))
