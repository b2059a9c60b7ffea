# SPDX-License-Identifier: Apache-2.0
"""What streams still have to do with which memory, and the lines that launched it."""

from __future__ import annotations

import threading
import traceback
from collections import deque
from typing import NamedTuple

from aclnn_py._ffi import C, ffi
from aclnn_py.runtime.stream_state import StreamState, open_streams

__all__ = ["Queued", "Work"]

_KEPT = 1024
_COMPLETE = 0


class Work(NamedTuple):
    """One launch: where it was queued, what it uses, and who launched it."""

    stream_id: int
    sequence: int
    name: str
    ranges: tuple[tuple[int, int], ...]
    stack: traceback.StackSummary
    task: tuple[int, int]
    """The numbers of its stream and of its task in the library, -1 where it does not say."""


class Queued:
    """The launches of each stream that the device may not have passed."""

    def __init__(self) -> None:
        # A finalizer that frees memory may run in the middle of any of these on the same thread.
        self._lock = threading.RLock()
        self._work: dict[int, deque[Work]] = {}
        self._devices: dict[int, int] = {}

    def add(self, work: Work) -> None:
        """Remember a launch; the oldest of a stream are forgotten."""
        with self._lock:
            self._work.setdefault(work.stream_id, deque(maxlen=_KEPT)).append(work)

    def using(self, address: int, nbytes: int) -> Work | None:
        """Return a launch that uses memory and that its stream has not passed."""
        for state in open_streams():
            number = int(state.context.id)
            with self._lock:
                known = list(self._work.get(number, ()))
            for work in known:
                if work.sequence > int(state.context.completed) and _touches(work, address, nbytes):
                    if not _idle(state):
                        return work
                    break  # all of the stream is done
        return None

    def launched(self, stream_id: int, sequence: int) -> Work | None:
        """Return the launch with a number, if it is still known."""
        with self._lock:
            known = self._work.get(stream_id, ())
            return next((work for work in known if work.sequence == sequence), None)

    def of_task(self, stream: int, task: int) -> Work | None:
        """Return the launch that a task of the library belongs to, if it is still known."""
        with self._lock:
            known = [work for queue in self._work.values() for work in queue]
        return next((work for work in known if work.task == (stream, task)), None)

    def adopt(self, stream: int, device: int) -> None:
        """Note the device of a stream, by its address."""
        self._devices[stream] = device

    def streams_of(self, device: int) -> list[int]:
        """Return the addresses of the streams that were made on a device."""
        return [stream for stream, owner in self._devices.items() if owner == device]


def _idle(state: StreamState) -> bool:
    out = ffi.new("aclrtStreamStatus *")
    with state.device.as_active():
        return C.aclrtStreamQuery(state.raw, out) == 0 and int(out[0]) == _COMPLETE


def _touches(work: Work, address: int, nbytes: int) -> bool:
    end = address + nbytes
    return any(start < end and address < stop for start, stop in work.ranges)
