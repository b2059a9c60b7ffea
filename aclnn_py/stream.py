# SPDX-License-Identifier: Apache-2.0
"""Streams, and what a stream keeps alive until the device has passed it."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.current import thread
from aclnn_py.device import Device, resolve
from aclnn_py.errors import AclnnPyError, ClosedError, DeviceTimeoutError
from aclnn_py.handle import Handle
from aclnn_py.status import check_acl
from aclnn_py.waiting import wait

if TYPE_CHECKING:
    from aclnn_py.event import Event

__all__ = ["Stream", "current_stream", "synchronize"]

_SYNC_TIMEOUT = 507046
_COMPLETE = 0
_EVENT_COMPLETE = 1
_EVENT_SYNC = 0x1
_CAPTURE_NONE = 0
# Entries a stream holds back before it asks the device how far it is.
_PRUNE_AT = 64
# Beyond every sequence number.
_NEVER = (1 << 64) - 1
# A stream is destroyed at exit even when another rank never comes.
_CLOSE_TIMEOUT_S = 60.0

_ids = itertools.count(1)
_open: dict[int, StreamState] = {}


class StreamState:
    """The part of a stream that its finalizer needs: the C structure and what waits for the device.

    ``context`` is the ap_stream of the launcher: it numbers the work that is queued (``sequence``)
    and knows how much of it is done (``completed``).
    """

    __slots__ = ("arena", "borrowed", "context", "deferred", "device", "fence", "fence_at", "raw")

    def __init__(self, raw: Any, device: Device, borrowed: bool) -> None:
        self.raw = raw
        self.device = device
        self.borrowed = borrowed
        self.context = ffi.new("ap_stream *")
        self.context.raw = raw
        self.context.id = next(_ids)
        self.context.device = device.index
        # (sequence, callable or None, objects): a deque because appending and popping cannot be
        # torn by a finalizer that runs in between, and a lock would deadlock there.
        self.deferred: deque[tuple[int, Callable[[], None] | None, object]] = deque()
        self.fence: Any = None
        # Workspace of launches; it goes with the stream, after the device has passed all of them.
        self.arena: Any = None
        self.fence_at = 0
        _open[self.context.id] = self

    def replace_arena(self, arena: Any, sequence: int) -> None:
        """Hold the buffer that launches use as workspace; ``sequence`` is the last one on the old.

        Launches leave no marks on it, so it carries one that only the end of the stream reaches: at
        exit it may be asked to go before the stream has been waited for.
        """
        if arena is not None:
            entry = arena._block.use.marks[0]
            entry.stream_id, entry.sequence = self.context.id, _NEVER
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
            self.prune()

    def prune(self) -> None:
        """Ask the device how far it is, without waiting."""
        if self.context.closed or not C.has("aclrtQueryEventStatus"):
            return
        with self.device.as_active():
            if self._capturing():
                return  # an event recorded now would become part of the captured graph
            if self.fence is not None and self.fence_at > self.context.completed:
                out = ffi.new("aclrtEventRecordedStatus *")
                if C.aclrtQueryEventStatus(self.fence, out) != 0 or out[0] != _EVENT_COMPLETE:
                    return
                self.passed(self.fence_at)
            if len(self.deferred) < _PRUNE_AT:
                return
            if self.fence is None:
                event = ffi.new("aclrtEvent *")
                status = C.aclrtCreateEventWithFlag(event, _EVENT_SYNC)
                check_acl(status, "aclrtCreateEventWithFlag", device=self.device.index)
                self.fence = event[0]
            at = int(self.context.sequence)
            check_acl(C.aclrtRecordEvent(self.fence, self.raw), "aclrtRecordEvent")
            self.fence_at = at

    def _capturing(self) -> bool:
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
        self.passed(target)


def _destroy(state: StreamState) -> None:
    """Wait for the stream, destroy it, and let go of all it held; the first failure is raised."""
    failures: list[AclnnPyError] = []

    def attempt(call: Callable[[], None]) -> None:
        try:
            call()
        except AclnnPyError as error:
            failures.append(error)

    try:
        attempt(lambda: state.synchronize(_CLOSE_TIMEOUT_S))
    finally:
        # Also when the wait was interrupted: the finalizer runs once.
        state.context.closed = 1
        _open.pop(state.context.id, None)
        with state.device.as_active():
            attempt(lambda: _destroy_raw(state, failures))
        state.arena = None
        state.passed(_NEVER)
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


class Stream(Handle):
    """A queue of work that the device executes in order.

    In a ``with`` block the stream is the current one of this thread, and it is closed at the end of
    the block. ``with stream.use():`` makes it current without closing it.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.

    Source
    ------
    aclrtCreateStream, aclrtDestroyStream (``include/acl/acl_rt.h``).
    """

    __slots__ = ("_ctx", "_device", "_queue")

    def __init__(self, device: Device | int | None = None) -> None:
        where = resolve(device)
        out = ffi.new("aclrtStream *")
        with where.as_active():
            check_acl(C.aclrtCreateStream(out), "aclrtCreateStream", device=where.index)
        self._adopt(out[0], where, None)

    def _adopt(self, raw: Any, device: Device, owner: object, borrowed: bool = False) -> None:
        state = StreamState(raw, device, borrowed)
        self._queue = state
        self._ctx = state.context
        self._device = device
        super().__init__(state, _destroy, owner)

    @classmethod
    def wrap(
        cls, handle: int, *, owner: object = None, device: Device | int | None = None
    ) -> Stream:
        """Use a stream that another library made, for example pyACL.

        Parameters
        ----------
        handle : int
            The aclrtStream as a number; 0 is the default stream of the device's context.
        owner : object, optional
            Kept alive as long as the result.
        device : Device or int, optional
            The device of the stream; default: the current one.

        Returns
        -------
        Stream
            Closing it waits for its work and leaves the stream itself alone.
        """
        if isinstance(handle, bool) or not isinstance(handle, int):
            raise TypeError(f"handle: expected an int, got {type(handle).__name__}")
        where = resolve(device)
        where.activate()
        stream = cls.__new__(cls)
        stream._adopt(ffi.cast("aclrtStream", handle), where, owner, borrowed=True)
        return stream

    @property
    def raw(self) -> Any:
        """The aclrtStream."""
        state: StreamState = super().raw
        return state.raw

    @property
    def device(self) -> Device:
        """The device the stream belongs to."""
        return self._device

    @property
    def id(self) -> int:
        """A number that names the stream in this process, also in errors."""
        return int(self._ctx.id)

    @property
    def pending(self) -> int:
        """How many objects wait for the device to pass this stream."""
        return len(self._queue.deferred)

    def synchronize(self, timeout_s: float | None = None) -> None:
        """Wait until the work queued so far is done.

        Ctrl-C ends the wait and leaves the work going on.

        Parameters
        ----------
        timeout_s : float, optional
            In seconds; forever by default.

        Raises
        ------
        DeviceTimeoutError
            The work was not done in time.
        DeviceError
            Queued work failed on the device.

        Source
        ------
        aclrtSynchronizeStreamWithTimeout, aclrtSynchronizeStream (``include/acl/acl_rt.h``).
        """
        state: StreamState = super().raw
        state.synchronize(timeout_s)

    def query(self) -> bool:
        """Return whether all queued work is done, without waiting.

        Source
        ------
        aclrtStreamQuery (``include/acl/acl_rt.h``).
        """
        state: StreamState = super().raw
        target = int(self._ctx.sequence)
        out = ffi.new("aclrtStreamStatus *")
        with self._device.as_active():
            status = C.aclrtStreamQuery(state.raw, out)
            check_acl(status, "aclrtStreamQuery", device=self._device.index, stream=self.id)
        if int(out[0]) != _COMPLETE:
            return False
        state.passed(target)
        return True

    def record(self) -> Event:
        """Return a new event that happens when the work queued so far is done."""
        from aclnn_py.event import Event

        event = Event(self._device)
        event.record(self)
        return event

    def wait(self, event: Event) -> None:
        """Let work queued from now on wait for an event, of this or another stream."""
        event.wait(self)

    def wait_stream(self, other: Stream) -> None:
        """Let work queued from now on wait for what ``other`` has been given so far."""
        self.wait(other.record())

    def retain(self, *objects: object) -> None:
        """Keep objects alive until the device has passed the work queued so far."""
        state: StreamState = super().raw
        state.defer(mark(self, ()), None, objects)

    def activate(self) -> None:
        """Point the C library at the device of this stream on this thread."""
        self._device.activate()

    @contextmanager
    def use(self) -> Iterator[Stream]:
        """Make the stream, and its device, current on this thread inside a ``with`` block."""
        self._enter()
        try:
            yield self
        finally:
            thread.pop()

    def _enter(self) -> None:
        _ = self.raw
        Device.current()  # settles what the block goes back to
        self._device.activate()
        thread.push(self._device, self)

    def __enter__(self) -> Stream:
        self._enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        thread.pop()
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"device {self._device.index}"
        return f"<Stream {self.id} {state}>"


class DefaultStream(Stream):
    """The stream of a device that calls use when none is given; it is closed with the runtime."""

    __slots__ = ()

    def close(self) -> None:
        """Do nothing: other calls may depend on the default stream at any time."""


def mark(stream: Stream, uses: Iterable[Any]) -> int:
    """Note that ``stream`` was given work outside a launch, on the buffers of these ap_use
    structures.

    Returns the sequence number of that work. Whoever queues work by a plain C call (a copy, a
    collective) calls this right after it.
    """
    array = list(uses)
    cell = ffi.new("ap_use *[]", array) if array else ffi.NULL
    return int(lib.ap_mark_use(stream._ctx, cell, len(array)))


def current_stream() -> Stream:
    """Return the stream that calls of this thread use when none is given.

    That is the one of the innermost ``with`` block, else the default stream of the current device.

    Raises
    ------
    ClosedError
        The stream of the ``with`` block was closed inside it.
    """
    stream = thread.stream
    if stream is None:
        device = Device.current()
        stream = device.default_stream
        device.activate()
        thread.set_stream(stream)
    elif stream.closed:
        raise ClosedError(f"{stream!r} is current on this thread, but closed")
    return stream


def resolve_stream(stream: object, argument: str = "stream") -> Stream:
    """Return the stream an argument names: ``None`` is the current one.

    Raises
    ------
    TypeError
        The value is neither a Stream nor None.
    """
    if stream is None:
        return current_stream()
    if isinstance(stream, Stream):
        _ = stream.raw
        return stream
    raise TypeError(f"{argument}: expected a Stream or None, got {type(stream).__name__}")


def synchronize(timeout_s: float | None = None) -> None:
    """Wait until all work of the current device is done.

    Parameters
    ----------
    timeout_s : float, optional
        In seconds; forever by default.

    Raises
    ------
    DeviceTimeoutError
        The work was not done in time.
    DeviceError
        Work failed on the device.
    """
    Device.current().synchronize(timeout_s)


def pending_streams(use: Any) -> list[tuple[StreamState, int]]:
    """Return the open streams whose work on a buffer is not known to be done, with its sequence."""
    if use.overflow:
        # More streams than the structure has room for: any of them may be meant.
        found = [(state, int(state.context.sequence)) for state in list(_open.values())]
    else:
        found = []
        for entry in use.marks:
            state = _open.get(entry.stream_id) if entry.stream_id else None
            if state is not None:
                found.append((state, int(entry.sequence)))
    return [(state, at) for state, at in found if at > state.context.completed]


@contextmanager
def completing(device: Device) -> Iterator[None]:
    """Around a wait for a whole device: what its streams had queued before is done after it."""
    targets = [
        (state, int(state.context.sequence))
        for state in list(_open.values())
        if state.device is device
    ]
    yield
    for state, target in targets:
        state.passed(target)
