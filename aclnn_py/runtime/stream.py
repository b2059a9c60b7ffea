# SPDX-License-Identifier: Apache-2.0
"""Streams, and what a stream keeps alive until the device has passed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from aclnn_py import late
from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import ClosedError
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.status import check_acl
from aclnn_py.runtime.stream_state import StreamState, destroy, pending_streams

if TYPE_CHECKING:
    from aclnn_py.runtime.event import Event

__all__ = ["Stream", "WorkspaceStats", "current_stream", "synchronize"]

_COMPLETE = 0


class WorkspaceStats(NamedTuple):
    """The workspace that a stream lends its launches.

    ``nbytes`` is the size of the arena now, ``peak_nbytes`` the most that a launch has used so far,
    ``exchanges`` how often the arena was replaced.
    """

    nbytes: int
    peak_nbytes: int
    exchanges: int


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

    __slots__ = {
        "_device": "",
        "_id": "",
        "context": "The ap_stream that the launcher reads; for modules of this package.",
        "state": "What the device still has to do; for modules of this package.",
    }

    context: Any
    state: StreamState
    _device: Device
    _id: int

    def __init__(self, device: Device | int | None = None) -> None:
        where = resolve(device)
        out = ffi.new("aclrtStream *")
        with where.as_active():
            check_acl(C.aclrtCreateStream(out), "aclrtCreateStream", device=where.index)
        self._adopt(out[0], where, None)

    def _adopt(self, raw: Any, device: Device, owner: object, borrowed: bool = False) -> None:
        state = StreamState(raw, device, borrowed)
        self.state = state
        self.context = state.context
        self._id = int(state.context.id)
        self._device = device
        super().__init__(state, destroy, owner)

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
        return self._id

    @property
    def pending(self) -> int:
        """How many objects wait for the device to pass this stream."""
        return len(self.state.deferred)

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
        capture_rules.before_wait("Stream.synchronize", self.state.capture)
        state.synchronize(timeout_s)

    def query(self) -> bool:
        """Return whether all queued work is done, without waiting.

        Source
        ------
        aclrtStreamQuery (``include/acl/acl_rt.h``).
        """
        state: StreamState = super().raw
        capture_rules.before_wait("Stream.query", self.state.capture)
        target = int(self.context.sequence)
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
        event: Event = late.event.Event(self._device)
        event.record(self)
        return event

    def wait(self, event: Event) -> None:
        """Let work queued from now on wait for an event, of this or another stream."""
        event.wait(self)

    def wait_stream(self, other: Stream) -> None:
        """Let work queued from now on wait for what ``other`` has been given so far."""
        self.wait(other.record())

    def workspace_stats(self) -> WorkspaceStats:
        """Return the size of the arena that launches on this stream share, and its history."""
        _ = self.raw
        context = self.context
        return WorkspaceStats(
            int(context.workspace_nbytes),
            int(context.workspace_peak),
            int(context.workspace_exchanges),
        )

    def trim_workspace(self) -> int:
        """Give up the arena that launches on this stream share; the next one makes a new one.

        The memory goes back when the device has passed the last launch that may use it.

        Returns
        -------
        int
            How many bytes it had.
        """
        state: StreamState = super().raw
        nbytes: int = late.workspace.release_workspace(state)
        return nbytes

    def retain(self, *objects: object) -> None:
        """Keep objects alive until the device has passed the work queued so far."""
        _ = self.raw
        self.state.defer(mark(self, ()), None, objects)

    def lend(self, state: StreamState) -> StreamState:
        """Let a state of a graph stand in for the stream's own, which is returned."""
        own = self.state
        own.context.closed = lib.AP_STREAM_CAPTURED
        self._exchange(state)
        return own

    def take_back(self, own: StreamState) -> None:
        """Undo ``lend``."""
        own.context.closed = 0
        self._exchange(own)

    def _exchange(self, state: StreamState) -> None:
        self.state, self.context = state, state.context
        if thread.stream is self:
            thread.set_stream(self)

    def close(self) -> None:
        """Wait for the work queued so far and destroy the stream; a second call does nothing."""
        capture_rules.before_close("Stream.close", self.state.capture)
        super().close()

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
    """Mark memory (ap_use structures) as used by work that ``stream`` was given outside a launch.

    Call it right after a plain C call that queues work, such as a copy or a collective. It returns
    the sequence number of that work.
    """
    array = list(uses)
    state = stream.state
    if state.recorder is not None:
        state.recorder.note(array)
    cell = ffi.new("ap_use *[]", array) if array else ffi.NULL
    return int(lib.ap_mark_use(state.context, cell, len(array)))


def order(stream: Stream, uses: Iterable[Any]) -> None:
    """Let ``stream`` wait for the earlier users of memory (ap_use structures) that was reallocated.

    Memory may be allocated again while another stream still works on it. Call this right before a
    plain C call that queues work on the memory.
    """
    for use in uses:
        if use.guard and use.guard != stream.context.id:
            _await_guard(stream, use)


def _await_guard(stream: Stream, use: Any) -> None:
    before = [state for state, _ in pending_streams(use) if state.context.id == use.guard]
    if not before:
        use.guard = 0
        return
    capture = stream.state.capture
    if capture is not None and not use.overflow:
        # Recorded work runs with the replays: the first of them waits.
        capture.wait_before_replay(before[0])
        lib.ap_mark_use(stream.context, ffi.new("ap_use *[]", [use]), 1)
        return
    capture_rules.before_wait("Stream.synchronize", capture)
    if use.overflow:
        # The structure has no room for a mark which says that this stream has waited.
        before[0].synchronize()
        use.guard = 0
        return
    follow(stream, before[0])
    mark(stream, [use])


def follow(stream: Stream, before: StreamState) -> None:
    """Let ``stream`` wait for the work of another one, which any thread may close meanwhile."""
    event: Event = late.event.Event(stream.device, timing=False)
    if not before.enter():
        return  # the device is done with all of it
    try:
        event.record_state(before)
    finally:
        before.exit()
    event.wait(stream)


def current_stream() -> Stream:
    """Return the stream that calls of this thread use when none is given.

    That is the one of the innermost ``with`` block, else the default stream of the current device.

    Raises
    ------
    ClosedError
        The stream of the ``with`` block was closed inside it.
    """
    stream = cast("Stream | None", thread.stream)
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
