# SPDX-License-Identifier: Apache-2.0
"""Python functions that the runtime calls: callbacks of streams, and reports of faults."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from aclnn_py._ffi import C, ffi
from aclnn_py.acl.values import number, value_of

__all__ = ["launch_callback", "set_exception_info_callback"]

_waiting: dict[int, tuple[Callable[[Any], Any], Any]] = {}
_numbers = itertools.count(1)
_lock = threading.Lock()
_listener: Callable[[int], Any] | None = None


# cffi prints the traceback of an exception, as Python does for one that nobody can catch.
@ffi.callback("void(void *)")  # type: ignore[untyped-decorator]
def _run(data: Any) -> None:
    with _lock:
        function, user_data = _waiting.pop(int(ffi.cast("uintptr_t", data)))
    function(user_data)


@ffi.callback("void(void *)")  # type: ignore[untyped-decorator]
def _tell(info: Any) -> None:
    listener = _listener
    if listener is not None:
        listener(int(ffi.cast("uintptr_t", info)))


def launch_callback(
    fn: Callable[[Any], Any], user_data_list: Any, block_type: int, stream: int
) -> int:
    """Queue a Python function on a stream; it runs on the thread that serves the stream's reports.

    Parameters
    ----------
    fn : callable
        Called with ``user_data_list``.
    user_data_list : list
        What the function gets.
    block_type : int
        1 if later work of the stream has to wait for the function, else 0.
    stream : int
        The stream; 0 is the default one.

    Returns
    -------
    int
        The status: 107015 if no thread serves the stream.

    Source
    ------
    aclrtLaunchCallback, include/acl/acl_rt.h
    """
    if not callable(fn):
        raise TypeError(f"fn: expected a function, got {type(fn).__name__}")
    block = number("block_type", block_type, -(2**31), 2**31 - 1, "integer")
    address = value_of(ffi.typeof("void *"))("stream", stream)
    with _lock:
        key = next(_numbers)
        _waiting[key] = (fn, user_data_list)
    status = int(C.aclrtLaunchCallback(_run, ffi.cast("void *", key), block, address))
    if status:
        with _lock:
            del _waiting[key]
    return status


def set_exception_info_callback(fn: Callable[[int], Any] | None = None) -> int:
    """Let a Python function hear of faults on the device; the last one that was set is called.

    Parameters
    ----------
    fn : callable, optional
        Called with the address of the report, from which ``get_task_id_from_exception_info`` and
        its kin read. Without it, nothing is called any more.

    Returns
    -------
    int
        The status.

    Source
    ------
    aclrtSetExceptionInfoCallback, include/acl/acl_rt.h
    """
    global _listener
    if fn is not None and not callable(fn):
        raise TypeError(f"fn: expected a function or None, got {type(fn).__name__}")
    pointer = ffi.NULL if fn is None else ffi.cast("aclrtExceptionInfoCallback", _tell)
    status = int(C.aclrtSetExceptionInfoCallback(pointer))
    if status == 0:
        _listener = fn
    return status
