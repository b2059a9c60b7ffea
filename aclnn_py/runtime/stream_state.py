# SPDX-License-Identifier: Apache-2.0
"""How far each stream is, and what it keeps alive until the device has done its work."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, Protocol

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import AclnnPyError, DeviceTimeoutError, StatusError
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.faults import Note, Replayed, is_fault, name_launches
from aclnn_py.runtime.roles import ActiveDevice, Capture
from aclnn_py.runtime.status import check_acl, recent_message
from aclnn_py.runtime.waiting import wait

__all__ = [
    "NEVER",
    "Recorder",
    "StreamState",
    "destroy",
    "leave",
    "new_context",
    "note_done",
    "open_streams",
    "pending_streams",
    "queued_on",
    "raise_of_wait",
    "unchecked_streams",
]

_SYNC_TIMEOUT = 507046
_EVENT_COMPLETE = 1
_EVENT_SYNC = 0x1
_CAPTURE_NONE = 0
_NOT_SUPPORTED = 207000
# So many deferred entries make a stream ask the device how far it is.
_PRUNE_AT = 64
# Beyond every sequence number.
NEVER = (1 << 64) - 1
_MARKS_NBYTES = ffi.offsetof("ap_use", "overflow")
_NO_MARKS = bytes(_MARKS_NBYTES)
# A stream is destroyed at exit even when another rank never comes.
_CLOSE_TIMEOUT_S = 60.0

_ids = itertools.count(1)
_open: dict[int, StreamState] = {}


def new_context(device: ActiveDevice) -> Any:
    """Return an ap_stream with a number of its own."""
    context = ffi.new("ap_stream *")
    context.id = next(_ids)
    context.device = device.index
    return context


class Recorder(Protocol):
    """What becomes of work that a stream is given while a graph captures it: the capture's part."""

    @property
    def capture(self) -> Capture:
        """The capture."""

    def note(self, uses: Iterable[Any]) -> None:
        """Remember the memory (ap_use structures) that recorded copies and collectives touch."""

    def touches(self, use: Any) -> bool:
        """Whether recorded work touches a piece of memory."""

    def kept_arena(self, nbytes: int) -> Any:
        """Return a buffer of at least so many bytes that serves as workspace already, or None."""

    def keep_arena(self, arena: Any) -> None:
        """Keep a buffer, or None, that launches use as workspace from now on."""

    def settle(self, timeout_s: float | None) -> None:
        """Wait for the replays queued so far."""


class StreamState:
    """The part of a stream that its finalizer needs: the C structure and what waits for the device.

    ``context`` is the ap_stream of the launcher. It numbers the work that is queued (``sequence``),
    and knows how much of it is done (``completed``) and how much waits of a thread have found done
    without fault (``checked``). A query tells the first; nobody reads what the device wrote before
    the second. While a ``recorder`` is set, the work is part of a graph: it counts as going on
    until the graph is released, whatever the device has done.
    """

    __slots__ = (
        "arena",
        "borrowed",
        "checked",
        "checker",
        "context",
        "deferred",
        "device",
        "ending",
        "epilogue",
        "fence",
        "fence_at",
        "heard",
        "notes",
        "raw",
        "recorder",
        "replays",
        "visitors",
    )

    def __init__(self, raw: Any, device: ActiveDevice, borrowed: bool) -> None:
        self.raw = raw
        self.device = device
        self.borrowed = borrowed
        self.recorder: Recorder | None = None
        self.context = new_context(device)
        self.context.raw = raw
        # How many threads use the C stream now, and what the last of them does if the stream was
        # ended meanwhile. The lock is reentrant, because the collector may end a stream inside it.
        self.ending = threading.RLock()
        self.visitors = 0
        self.epilogue: Callable[[], None] | None = None
        # (sequence, callable or None, objects). A finalizer may run between any two steps here: a
        # lock could deadlock, while appending to a deque and popping from it are single steps.
        self.deferred: deque[tuple[int, Callable[[], None] | None, object]] = deque()
        self.fence: Any = None
        # The workspace of launches. It is freed with the stream, when all launches are done.
        self.arena: Any = None
        self.fence_at = 0
        # The last work that a wait of any thread found without fault, and the thread that waited
        # last; an event happens after failed work too.
        self.checked = 0
        self.checker = 0
        # By the number of a thread, the last work whose faults a wait of it has raised.
        self.heard: dict[int, int] = {}
        # As long as the launcher's own ring of operators.
        self.notes: deque[Note] = deque(maxlen=lib.AP_RECENT)
        # The last graphs, with the number of their replay.
        self.replays: deque[tuple[int, Replayed]] = deque(maxlen=lib.AP_RECENT)
        _open[self.context.id] = self

    @property
    def capture(self) -> Capture | None:
        """The capture that records the work of the stream, None while the work runs."""
        return None if self.recorder is None else self.recorder.capture

    def is_checked(self, sequence: int) -> bool:
        """Whether a wait of this thread has found the work up to ``sequence`` done without fault.

        Who is told of a fault depends on the thread, and no thread knows what another one heard.
        """
        return self.recorder is None and sequence <= int(lib.ap_checked_here(self.context))

    def unlisted(self) -> int:
        """The last work that no error of this thread has to list any more."""
        return max(self.checked, self.heard.get(threading.get_ident(), 0))

    def passed(self, sequence: int) -> None:
        """Note that the device is done with everything up to ``sequence``, and let go of it."""
        if self.recorder is not None:
            return  # replays are still to come
        context = self.context
        if sequence > context.completed:
            context.completed = sequence
        if self.deferred:
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
        """Keep the C stream until ``exit``; return False if it has ended already.

        A thread may wait for a stream, or ask about it, while another one closes it.
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
        if self.recorder is not None:
            return  # recorded work does not run by itself
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
                if C.aclrtQueryEventStatus(self.fence, out):
                    recent_message()  # nobody waits here who could be told; the next wait asks too
                    return
                if out[0] != _EVENT_COMPLETE:
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

    def capturing(self) -> bool:
        """Whether work that is queued now becomes part of a graph."""
        if not C.has("aclmdlRICaptureGetInfo"):
            return False
        out, model = ffi.new("aclmdlRICaptureStatus *"), ffi.new("aclmdlRI *")
        status = C.aclmdlRICaptureGetInfo(self.raw, out, model)
        if status == _NOT_SUPPORTED:
            recent_message()  # there are no captures then
            return False
        check_acl(status, "aclmdlRICaptureGetInfo", stream=self.context.id)
        return int(out[0]) != _CAPTURE_NONE

    def synchronize(self, timeout_s: float | None = None) -> None:
        """Wait for the work queued so far, or for the replays of the graph that records it."""
        if self.recorder is not None:
            self.recorder.settle(timeout_s)
            return
        work = [(self, int(self.context.sequence))]
        if not self.enter():
            return  # whoever ended it has waited for its work
        try:
            self._wait(timeout_s)
        except StatusError as error:
            raise_of_wait(error, work)
        finally:
            self.exit()
        note_done(work)

    def _wait(self, timeout_s: float | None) -> None:
        raw, device, stream = self.raw, self.device.index, self.context.id
        with self.device.as_active():
            if C.has("aclrtSynchronizeStreamWithTimeout"):
                wait(
                    lambda ms: C.aclrtSynchronizeStreamWithTimeout(raw, ms),
                    _SYNC_TIMEOUT,
                    "aclrtSynchronizeStreamWithTimeout",
                    timeout_s=timeout_s,
                    device=device,
                    stream=stream,
                )
            else:
                status = C.aclrtSynchronizeStream(raw)
                check_acl(status, "aclrtSynchronizeStream", device=device, stream=stream)


def destroy(state: StreamState) -> None:
    """Wait for the stream, destroy it and release what it held; raise the first failure."""
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
        # Done even if the wait was interrupted, since the finalizer runs only once.
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
    """Forget a stream: it has no work any more."""
    _open.pop(state.context.id, None)


def open_streams() -> list[StreamState]:
    """Return the streams of this process that are not closed."""
    return list(_open.values())


def pending_streams(use: Any) -> list[tuple[StreamState, int]]:
    """Return the open streams whose work on a buffer is not known to be done, with its sequence."""
    return [(state, at) for state, at in _marking(use) if at > state.context.completed]


def unchecked_streams(use: Any) -> list[StreamState]:
    """Return the open streams whose work on a buffer no wait of this thread has found done."""
    return [state for state, at in _marking(use) if not state.is_checked(at)]


def _marking(use: Any) -> list[tuple[StreamState, int]]:
    """The open streams that have worked on a buffer, with the number of their last work on it."""
    if ffi.buffer(use, _MARKS_NBYTES)[:] == _NO_MARKS and not use.overflow:
        return []  # most buffers of most programs, without looking at every entry
    if use.overflow:
        # More streams than the structure has room for: any of them may be meant.
        return [
            (state, int(state.context.sequence))
            for state in list(_open.values())
            if state.recorder is None or state.recorder.touches(use)
        ]
    found = []
    for entry in use.marks:
        number = entry.stream_id
        if number and number in _open:
            found.append((_open[number], int(entry.sequence)))
    return found


def queued_on(device: ActiveDevice) -> list[tuple[StreamState, int]]:
    """Return the open streams of a device, each with the number of the last work it was given."""
    # Lists and integers are all there is, because a wait for an idle device costs nothing else.
    return [
        (state, state.context.sequence) for state in list(_open.values()) if state.device is device
    ]


def note_done(work: Iterable[tuple[StreamState, int]]) -> None:
    """Note that what ``queued_on`` returned is done, without fault, after a wait of this thread."""
    thread = threading.get_ident()
    for state, target in work:
        if target <= state.checked and state.checker == thread and not state.deferred:
            continue
        if state.recorder is not None:
            continue  # replays are still to come
        state.checked = max(target, state.checked)
        state.checker = thread
        lib.ap_note_done(state.context, target)
        if state.deferred:
            state.drain()


def raise_of_wait(error: StatusError, work: Iterable[tuple[StreamState, int]]) -> NoReturn:
    """Raise the error of a wait for streams up to these numbers, with the launches behind it."""
    work = list(work)
    name_launches(error, [state for state, _target in work])
    if is_fault(error):
        for state, target in work:
            state.heard[threading.get_ident()] = target
            # The wait has ended, so the device is done with the work, whatever became of it.
            if state.recorder is None:
                state.passed(target)
    try:
        raise error
    finally:
        del error  # its traceback has this frame: a circle would keep the frames and their tensors
