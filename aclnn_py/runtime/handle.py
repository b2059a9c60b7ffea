# SPDX-License-Identifier: Apache-2.0
"""How C objects are owned: each is destroyed exactly once, and its owners live until then."""

from __future__ import annotations

import itertools
import os
import sys
import warnings
import weakref
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from aclnn_py._ffi import ffi, held, lib
from aclnn_py.errors import ClosedError, ForkError, ReleaseWarning

__all__ = [
    "Handle",
    "Watcher",
    "check_owner",
    "check_process",
    "live_handles",
    "misused",
    "watch",
]

_Self = TypeVar("_Self", bound="Handle")

_next_serial = itertools.count(1).__next__
# What releasing needs of every open handle, by its serial number, and the reference whose callback
# is the finalizer. One operation of a dict with numbers as keys is one step for the interpreter:
# whoever takes an entry out is the only one who releases it, be it a call, another thread or a
# finalizer in the middle of either.
_open: dict[int, _Entry] = {}
_fork_generation = 0
_pid = os.getpid()


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
    lib.ap_set_watched(watcher is not None)  # or handles would be made without a word


def _note_fork() -> None:
    global _fork_generation, _pid
    _fork_generation += 1
    _pid = os.getpid()
    held.set_generation(_fork_generation)


os.register_at_fork(after_in_child=_note_fork)


def misused(handle: Handle, fault: str, message: str) -> None:
    """Tell the watcher of a handle that is about to be refused."""
    if _watcher is not None:
        _watcher.misused(handle, fault, message)


def live_handles() -> dict[str, int]:
    """Return how many handles of each kind are open in this process."""
    counts = Counter(entry[5].__name__ for entry in _open.copy().values())
    if quick := held.count_open():
        counts["Buffer"] += quick
    return dict(sorted(counts.items()))


def check_process(generation: int, what: str) -> None:
    """Raise ``ForkError`` when ``what`` was made before this process was forked off."""
    if generation != _fork_generation:
        raise ForkError(
            f"{what} belongs to the parent process: the runtime does not survive fork(). "
            "Start workers with the 'spawn' start method, or fork before the first call."
        )


def check_owner(handle: Handle, what: str) -> None:
    """Raise ``ForkError`` when a handle was made before this process was forked off."""
    check_process(handle._generation, what)


class _Reference(weakref.ref):  # type: ignore[type-arg]
    """A reference that knows its handle's serial number when the handle is gone.

    ``weakref.finalize`` does the same for twice the time, and buffers come and go often. Those of
    new tensors, which come and go with every expression, have a ``Held`` of C instead, with the
    same two names: ``over`` says whether the object was released, ``release`` releases it.
    """

    __slots__ = ("over", "serial")

    over: bool
    serial: int

    def release(self) -> None:
        """Release the object unless that was done."""
        _release(self)


_Entry = tuple[
    _Reference,
    Callable[[Any], None] | None,
    Any,
    tuple[object, ...],
    int,
    type["Handle"],
]


def _release(reference: _Reference) -> None:
    entry = _open.pop(reference.serial, None)
    if entry is None:
        return
    reference.over = True
    # `entry` also keeps the owners alive until the end of this function.
    _, destroy, raw, _owners, pid, kind = entry
    # The parent owns what was made before a fork; releasing it here would release it twice.
    if destroy is None or os.getpid() != pid:
        return
    try:
        destroy(raw)
    except Exception as error:
        # May run inside the garbage collector or at exit, where an exception has nobody to catch
        # it.
        warnings.warn(ReleaseWarning(f"{kind.__name__} was not released: {error}"), stacklevel=2)


def _release_all() -> None:
    """Release what is open at exit, the newest first: what C holds is younger than its pool."""
    held.release_all()
    while _open:
        for entry in reversed(_open.copy().values()):
            try:
                _release(entry[0])
            except Exception:  # a warning that a filter turned into an error
                sys.excepthook(*sys.exc_info())


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

    __slots__ = ("__weakref__", "_generation", "_raw", "_reference")

    def __init__(self, raw: Any, destroy: Callable[[Any], None] | None, *owners: object) -> None:
        serial = _next_serial()
        self._reference = reference = _Reference(self, _release)
        reference.serial = serial
        reference.over = False
        self._raw = raw
        self._generation = _fork_generation
        _open[serial] = (reference, destroy, raw, owners, _pid, type(self))
        if _watcher is not None:
            _watcher.made(self)

    @property
    def raw(self) -> Any:
        """The C object; raises ``ClosedError`` once closed and ``ForkError`` in a forked child."""
        if self._reference.over:
            if _watcher is not None:
                _watcher.used(self)
            raise ClosedError(f"{type(self).__name__} is closed")
        if self._generation != _fork_generation:
            check_process(self._generation, f"this {type(self).__name__}")
        return self._raw

    @property
    def closed(self) -> bool:
        """Whether the object has been released."""
        over: bool = self._reference.over
        return over

    def close(self) -> None:
        """Release the C object now; a second call does nothing."""
        if _watcher is not None and not self.closed:
            _watcher.closing(self)
        self._reference.release()

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
    return int(ffi.cast("uintptr_t", raw))


# Finalizers run in reverse order at exit: those that are made after this one still find everything
# in place.
weakref.finalize(Handle, _release_all)
