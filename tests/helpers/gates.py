# SPDX-License-Identifier: Apache-2.0
"""A gate in a stream: work queued behind it waits until the test opens it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import aclnn_py as ap
from aclnn_py._ffi import C, ffi
from aclnn_py.runtime.status import check_acl

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Gate:
    """Closed until ``open`` is called; also by itself after ``limit_s``, so that no test hangs."""

    def __init__(self, limit_s: float = 30.0) -> None:
        self._event = threading.Event()
        self._limit_s = limit_s
        self.reached = threading.Event()
        self._callback = _Callback(self._wait)

    def _wait(self, _: int | None) -> None:
        self.reached.set()
        self._event.wait(self._limit_s)

    def put(self, stream: ap.Stream) -> None:
        """Queue the gate on a stream."""
        pointer = ffi.cast("aclrtHostFunc", ctypes.cast(self._callback, ctypes.c_void_p).value)
        with stream.device.as_active():
            check_acl(C.aclrtLaunchHostFunc(stream.raw, pointer, ffi.NULL), "aclrtLaunchHostFunc")
        stream.retain(self)

    def open(self) -> None:
        """Let the stream pass."""
        self._event.set()


@contextmanager
def held(stream: ap.Stream) -> Iterator[Gate]:
    """Hold a stream for the length of a ``with`` block, or until the gate is opened in it."""
    gate = Gate()
    gate.put(stream)
    try:
        yield gate
    finally:
        gate.open()
        stream.synchronize(30.0)
