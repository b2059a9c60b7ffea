# SPDX-License-Identifier: Apache-2.0
"""The process-wide AscendCL runtime: initialised once, finalised last."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import AclnnPyError
from aclnn_py.runtime.handle import Handle, check_owner
from aclnn_py.runtime.status import check_acl, recent_message

__all__ = ["Runtime", "ensure"]

_REPEAT_INITIALIZE = 100002

_lock = threading.Lock()
_runtime: Runtime | None = None


def _renew_lock() -> None:
    # A fork may have happened while another thread of the parent held the lock.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class _Adopted:
    """What finalising has to undo. Apart from ``Runtime``, because finalizers must not refer to
    it."""

    def __init__(self, owned: bool) -> None:
        self.owned = owned
        self.devices: list[int] = []
        self.before_reset: list[Callable[[], object]] = []


def _finalize(adopted: _Adopted) -> None:
    first: AclnnPyError | None = None
    lib.ap_reuse_clear()
    calls: list[tuple[str, tuple[int, ...]]] = [
        ("aclrtResetDevice", (index,)) for index in adopted.devices
    ]
    if adopted.owned:
        calls.append(("aclFinalize", ()))
    steps: list[Callable[[], object]] = [*adopted.before_reset]
    steps += [partial(_checked_call, routine, arguments) for routine, arguments in calls]
    for step in steps:
        try:
            step()
        except AclnnPyError as error:
            first = first or error
    if first is not None:
        raise first


def _checked_call(routine: str, arguments: tuple[int, ...]) -> None:
    check_acl(getattr(C, routine)(*arguments), routine)


class Runtime(Handle):
    """The initialised runtime of this process.

    It is the first handle that is made and therefore the last one that is released at exit, after
    all streams, buffers and communicators. When another library of the process had initialised the
    runtime before, that library also finalises it.
    """

    __slots__ = ()

    def __init__(self, config_path: str | None = None) -> None:
        path = ffi.NULL if config_path is None else os.fsencode(config_path)
        status = C.aclInit(path)
        owned = status != _REPEAT_INITIALIZE
        if owned:
            check_acl(status, "aclInit")
        else:
            recent_message()  # so that it does not turn up in the text of a later error
        super().__init__(_Adopted(owned), _finalize)

    @property
    def owned(self) -> bool:
        """Whether this package initialised the runtime and will finalise it."""
        adopted: _Adopted = self.raw
        return adopted.owned

    def adopt_device(self, index: int) -> None:
        """Reset device ``index`` once when the runtime is finalised."""
        self.raw.devices.append(index)

    def before_reset(self, call: Callable[[], object]) -> None:
        """Call a function when the runtime is finalised, before the devices are reset."""
        self.raw.before_reset.append(call)

    def _state(self) -> str:
        return "closed" if self.closed else ("owned" if self.owned else "shared")


def ensure(config_path: str | None = None) -> Runtime:
    """Return the runtime, initialising it at the first call.

    Parameters
    ----------
    config_path : str, optional
        JSON file for aclInit; it has no effect once the runtime is initialised.

    Raises
    ------
    ForkError
        The parent of this process had initialised it before the fork.
    LibraryNotFoundError
        No device library is installed.
    AclError
        Initialisation failed.
    """
    global _runtime
    runtime = _runtime
    if runtime is None:
        with _lock:
            if _runtime is None:
                _runtime = Runtime(config_path)
            runtime = _runtime
    check_owner(runtime, "the runtime")
    return runtime


def initialized() -> bool:
    """Whether this package has initialised the runtime in this process."""
    return _runtime is not None and not _runtime.closed
