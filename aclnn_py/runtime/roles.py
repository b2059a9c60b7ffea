# SPDX-License-Identifier: Apache-2.0
"""What lower modules need of objects that higher modules make, as small Protocols.

A device, a stream and the capture of a graph refer to each other. Each module names here what it
reads of the others, so that it need not import a module that stands above it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["ActiveDevice", "Capture", "Draws", "Point", "RecordableState", "RecordableStream"]


class ActiveDevice(Protocol):
    """A device, for those who make C calls on it."""

    @property
    def index(self) -> int:
        """The index among the devices this process can see."""

    def activate(self) -> None:
        """Point the C library at the device on this thread."""

    def as_active(self) -> AbstractContextManager[None]:
        """Return a ``with`` block for a few C calls."""


class Draws(Protocol):
    """The random numbers of work that is captured or recorded, drawn anew at each run."""

    def place(self, generator: Any, count: int, stream: Any) -> Any:
        """Return where the numbers of a launch begin."""


class Capture(Protocol):
    """The capture of a graph, for those whose work it records."""

    @property
    def active(self) -> bool:
        """Whether it is going on."""

    @property
    def device(self) -> ActiveDevice:
        """The device of the graph."""

    @property
    def mode(self) -> int:
        """The aclmdlRICaptureMode."""

    @property
    def keeper(self) -> Any:
        """The ap_stream under whose number the allocator keeps the memory of the graph."""

    @property
    def draws(self) -> Draws | None:
        """The random numbers of the captured launches."""

    def record(self, stream: Any) -> Point:
        """Return the point of an event that was just recorded on a captured stream."""

    def wait(self, stream: Any, point: Any) -> None:
        """Note that a stream waits for a point."""

    def wait_before_replay(self, state: Any) -> None:
        """Let the next replay wait for the work of another stream."""

    def depend(self, communicator: Any) -> None:
        """Note that replays need a communicator."""

    def lends(self, stream: Any) -> bool:
        """Whether memory allocated for the work of a stream may be used again in the capture."""

    def take_over(self, use: Any) -> bool:
        """Whether the capture keeps memory that was allocated and released in it."""


class Point(Protocol):
    """What an event stands for inside a capture."""

    @property
    def capture(self) -> Capture:
        """The capture."""


class RecordableState(Protocol):
    """The state of a stream, for those who ask whether it is captured."""

    @property
    def capture(self) -> Capture | None:
        """The capture that records the work of the stream, None while the work runs."""


class RecordableStream(Protocol):
    """A stream, for those who ask whether it is captured."""

    @property
    def state(self) -> RecordableState:
        """Its state."""
