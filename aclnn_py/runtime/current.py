# SPDX-License-Identifier: Apache-2.0
"""What is current on a thread: the device and the stream that calls use when none is given."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from aclnn_py._ffi import ffi, lib
from aclnn_py.runtime.roles import ActiveDevice, Capture, Draws

__all__ = ["CurrentStream", "Thread", "thread"]


class CurrentStream(Protocol):
    """A stream, for the thread on which it is current."""

    @property
    def context(self) -> Any:
        """The ap_stream of the launcher."""


class Thread(threading.local):
    """The state of one thread.

    ``device`` is the choice of the user, ``active`` what the C library was last told, which differs
    while a release on another device is under way and after a ``with`` block, until it matters
    again. ``capture`` is the graph that this thread records, ``recording`` what the sequence draws
    that it records. ``unsupported`` says what happens where an operator takes no float64 or no
    complex numbers.
    """

    device: ActiveDevice | None = None
    active: ActiveDevice | None = None
    stream: CurrentStream | None = None
    capture: Capture | None = None
    recording: Draws | None = None
    unsupported: str = "refuse"

    def __init__(self) -> None:
        self._saved: list[tuple[ActiveDevice | None, CurrentStream | None]] = []

    def push(self, device: ActiveDevice, stream: CurrentStream | None) -> None:
        """Enter a ``with`` block of a device or a stream."""
        self._saved.append((self.device, self.stream))
        self.set(device, stream)

    def pop(self) -> None:
        """Leave the innermost ``with`` block."""
        self.set(*self._saved.pop())

    def set(self, device: ActiveDevice | None, stream: CurrentStream | None) -> None:
        """Choose; the stream is ``None`` until a call needs one."""
        self.device = device
        self.set_stream(stream)

    def set_stream(self, stream: CurrentStream | None) -> None:
        """Choose the stream, also for launches, which look it up in C."""
        self.stream = stream
        lib.ap_set_current_stream(ffi.NULL if stream is None else stream.context)


thread = Thread()
