# SPDX-License-Identifier: Apache-2.0
"""What streams still have to do, and what they keep alive until it is done."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import AclnnPyError, DeviceTimeoutError, StatusError
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.faults import Note, name_launches
from aclnn_py.runtime.status import check_acl
from aclnn_py.runtime.waiting import wait

if TYPE_CHECKING:
    from aclnn_py.graphs.capture import Capture, CapturedGraph

__all__ = [
    "NEVER",
    "StreamState",
    "completing",
    "destroy",
    "leave",
    "new_context",
    "open_streams",
    "pending_streams",
    "streams_of",
]

_SYNC_TIMEOUT = 507046
_EVENT_COMPLETE = 1
_EVENT_SYNC = 0x1
_CAPTURE_NONE = 0
# Entries a stream holds back before it asks the device how far it is.
_PRUNE_AT = 64
# Beyond every sequence number.
NEVER = (1 << 64) - 1
_MARKS_NBYTES = ffi.offsetof("ap_use", "overflow")
_NO_MARKS = bytes(_MARKS_NBYTES)
# A stream is destroyed at exit even when another rank never comes.
_CLOSE_TIMEOUT_S = 60.0

_ids = itertools.count(1)
_open: dict[int, StreamState] = {}


def new_context(device: Device) -> Any:
    """Return an ap_stream with a number of its own."""
    context = ffi.new("ap_stream *")
    context.id = next(_ids)
    context.device = device.index
    return context


class StreamState:
    """The part of a stream that its finalizer needs: the C structure and what waits for the device.

    ``context`` is the ap_stream of the launcher: it numbers the work that is queued (``sequence``)
    and knows how much of it is done (``completed``).
    """

    __slots__ = (
        "arena",
        "borrowed",
        "checked",
        "context",
        "deferred",
        "device",
        "ending",
        "epilogue",
        "fence",
        "fence_at",
        "notes",
        "raw",
        "replays",
        "visitors",
    )

    # The capture that records the work of the stream.
    capture: Capture | None = None

    def __init__(self, raw: Any, device: Device, borrowed: bool) -> None:
        self.raw = raw
        self.device = device
        self.borrowed = borrowed
        self.context = new_context(device)
        self.context.raw = raw
        # Threads that use the C stream now, and what the last of them has to do if it was ended
        # meanwhile. The lock is reentrant: the collector may end a stream in between.
        self.ending = threading.RLock()
        self.visitors = 0
        self.epilogue: Callable[[], None] | None = None
        # (sequence, callable or None, objects): a deque because appending and popping cannot be
        # torn by a finalizer that runs in between, and a lock would deadlock there.
        self.deferred: deque[tuple[int, Callable[[], None] | None, object]] = deque()
        self.fence: Any = None
        # Workspace of launches; it goes with the stream, after the device has passed all of them.
        self.arena: Any = None
        self.fence_at = 0
        # The last work that a wait found without fault. An event is passed by failed work too.
        self.checked = 0
        # As long as the launcher's own ring of operators.
        self.notes: deque[Note] = deque(maxlen=lib.AP_RECENT)
        # The last graphs, with the number of their replay.
        self.replays: deque[tuple[int, CapturedGraph]] = deque(maxlen=lib.AP_RECENT)
        _open[self.context.id] = self

    def kept_arena(self, nbytes: int) -> Any:
        """Return a buffer of at least so many bytes that serves as workspace already, or None."""
        del nbytes

    def replace_arena(self, arena: Any, sequence: int) -> None:
        """Hold the buffer that launches use as workspace; ``sequence`` is the last one on the old.

        Launches leave no marks on it, so it carries one that only the end of the stream reaches: at
        exit it may be asked to go before the stream has been waited for.
        """
        if arena is not None:
            entry = arena._block.use.marks[0]
            entry.stream_id, entry.sequence = self.context.id, NEVER
        old, self.arena = self.arena, arena
        if old is not None:
            old._block.use.marks[0].sequence = sequence

    def passed(self, sequence: int) -> None:
        """Note that the device is done with everything up to ``sequence``, and let go of it."""
        if sequence > self.context.completed:
            self.context.completed = sequence
        self.drain()

    def drain(self) -> None:
        """Let go of what the device has passed."""
        for _ in range(len(self.deferred)):
            try:
                entry = self.deferred.popleft()
            except IndexError:
                return  # another thread drains as well
            if entry[0] > self.context.completed:
                self.deferred.append(entry)
            elif entry[1] is not None:
                entry[1]()

    def defer(self, sequence: int, action: Callable[[], None] | None, held: object = None) -> None:
        """Run ``action`` and drop ``held`` when the device has passed ``sequence``."""
        self.deferred.append((sequence, action, held))
        if len(self.deferred) >= _PRUNE_AT:
            self.poll()

    def enter(self) -> bool:
        """Whether the C stream is there; if so, it is until ``exit``, whoever closes it.

        Whatever waits for the work of a stream, or asks about it, may do so on another thread than
        the one that owns and ends it.
        """
        with self.ending:
            if self.context.closed == lib.AP_STREAM_ENDED:
                return False
            self.visitors += 1
            return True

    def exit(self) -> None:
        """End what ``enter`` began."""
        with self.ending:
            self.visitors -= 1
            last = None if self.visitors else self.epilogue
            if last is not None:
                self.epilogue = None
        if last is not None:
            last()

    def poll(self) -> None:
        """Ask the device how far it is, without waiting."""
        if self.context.sequence == self.context.completed:
            return
        if self.context.closed or not C.has("aclrtQueryEventStatus"):
            return
        if not capture_rules.waits_are_safe() or not self.enter():
            return
        try:
            self._poll()
        finally:
            self.exit()

    def _poll(self) -> None:
        with self.device.as_active():
            if self.capturing():
                return  # an event recorded now would become part of the captured graph
            if self.fence is not None and self.fence_at > self.context.completed:
                out = ffi.new("aclrtEventRecordedStatus *")
                if C.aclrtQueryEventStatus(self.fence, out) != 0 or out[0] != _EVENT_COMPLETE:
                    return
                self.passed(self.fence_at)
                if self.context.sequence == self.fence_at:
                    return
            if self.fence is None:
                event = ffi.new("aclrtEvent *")
                status = C.aclrtCreateEventWithFlag(event, _EVENT_SYNC)
                check_acl(status, "aclrtCreateEventWithFlag", device=self.device.index)
                self.fence = event[0]
            at = int(self.context.sequence)
            check_acl(C.aclrtRecordEvent(self.fence, self.raw), "aclrtRecordEvent")
            self.fence_at = at

    def launched(self, uses: Iterable[Any]) -> None:
        """Do nothing, as ``note``."""

    def note(self, uses: Iterable[Any]) -> None:
        """Do nothing: the marks say which memory the work of a stream touches."""

    def may_use(self, use: Any) -> bool:
        """Whether the stream may work on a buffer that more streams use than leave marks on it."""
        del use
        return True

    def capturing(self) -> bool:
        """Whether work that is queued now becomes part of a graph."""
        if not C.has("aclmdlRICaptureGetInfo"):
            return False
        status, model = ffi.new("aclmdlRICaptureStatus *"), ffi.new("aclmdlRI *")
        return (
            C.aclmdlRICaptureGetInfo(self.raw, status, model) == 0
            and int(status[0]) != _CAPTURE_NONE
        )

    def synchronize(self, timeout_s: float | None = None) -> None:
        """Wait for the work queued so far."""
        target = int(self.context.sequence)
        if not self.enter():
            return  # whoever ended it has waited for its work
        try:
            self._wait(timeout_s)
        except StatusError as error:
            name_launches(error, [self])
            raise
        finally:
            self.exit()
        self.checked = max(self.checked, target)
        self.passed(target)

    def _wait(self, timeout_s: float | None) -> None:
        place = {"device": self.device.index, "stream": int(self.context.id)}
        with self.device.as_active():
            if C.has("aclrtSynchronizeStreamWithTimeout"):
                wait(
                    lambda ms: int(C.aclrtSynchronizeStreamWithTimeout(self.raw, ms)),
                    _SYNC_TIMEOUT,
                    "aclrtSynchronizeStreamWithTimeout",
                    timeout_s=timeout_s,
                    **place,
                )
            else:
                check_acl(C.aclrtSynchronizeStream(self.raw), "aclrtSynchronizeStream", **place)


def destroy(state: StreamState) -> None:
    """Wait for the stream, destroy it, and let go of all it held; the first failure is raised."""
    failures: list[AclnnPyError] = []

    def attempt(call: Callable[[], None]) -> None:
        try:
            call()
        except AclnnPyError as error:
            failures.append(error)

    def end() -> None:
        with state.device.as_active():
            _destroy_raw(state, failures)

    try:
        attempt(lambda: state.synchronize(_CLOSE_TIMEOUT_S))
    finally:
        # Also when the wait was interrupted: the finalizer runs once.
        with state.ending:
            state.context.closed = lib.AP_STREAM_ENDED
            visited = state.visitors > 0
            if visited:
                state.epilogue = end
        leave(state)
        if not visited:
            attempt(end)
        state.arena = None
        state.passed(NEVER)
        lib.ap_pools_forget(state.context)
    if failures:
        raise failures[0]


def _destroy_raw(state: StreamState, failures: list[AclnnPyError]) -> None:
    if state.fence is not None:
        check_acl(C.aclrtDestroyEvent(state.fence), "aclrtDestroyEvent")
    if state.borrowed:
        return
    hangs = any(isinstance(error, DeviceTimeoutError) for error in failures)
    if hangs and C.has("aclrtDestroyStreamForce"):
        check_acl(C.aclrtDestroyStreamForce(state.raw), "aclrtDestroyStreamForce")
    else:
        check_acl(C.aclrtDestroyStream(state.raw), "aclrtDestroyStream")


def leave(state: StreamState) -> None:
    """Take a stream from those that may have work to do."""
    _open.pop(state.context.id, None)


def open_streams() -> list[StreamState]:
    """Return the streams of this process that are not closed."""
    return list(_open.values())


def streams_of(device: Device) -> list[StreamState]:
    """Return the open streams of a device."""
    return [state for state in open_streams() if state.device is device]


def pending_streams(use: Any) -> list[tuple[StreamState, int]]:
    """Return the open streams whose work on a buffer is not known to be done, with its sequence."""
    if ffi.buffer(use, _MARKS_NBYTES)[:] == _NO_MARKS and not use.overflow:
        return []  # most buffers of most programs, without looking at every entry
    if use.overflow:
        # More streams than the structure has room for: any of them may be meant.
        found = [
            (state, int(state.context.sequence))
            for state in list(_open.values())
            if state.may_use(use)
        ]
    else:
        found = []
        for entry in use.marks:
            number = entry.stream_id
            if number and number in _open:
                found.append((_open[number], int(entry.sequence)))
    return [(state, at) for state, at in found if at > state.context.completed]


@contextmanager
def completing(device: Device) -> Iterator[None]:
    """Around a wait for a whole device: what its streams had queued before is done after it."""
    targets = [(state, int(state.context.sequence)) for state in streams_of(device)]
    try:
        yield
    except StatusError as error:
        name_launches(error, [state for state, _target in targets])
        raise
    for state, target in targets:
        state.checked = max(state.checked, target)
        state.passed(target)
