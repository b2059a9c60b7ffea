# SPDX-License-Identifier: Apache-2.0
"""The capture of a graph, and what keeps alive what the graph refers to.

While a stream is captured, the state of a ``Recording`` stands in for its own. Captured work leaves
its marks (see ``memory.block``) under the number of that state, which is not passed before the
graph is released: memory that captured work touches is not freed before that, whoever lets go of
it. What is allocated during the capture belongs to the graph's memory (see
``memory.graph_memory``), as does the workspace of captured launches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import (
    AclnnPyError,
    CaptureError,
    NotSupportedError,
    StatusError,
    SymbolNotFoundError,
)
from aclnn_py.memory.allocator import give_to
from aclnn_py.memory.graph_memory import GraphMemory, Moment, pending, unchecked
from aclnn_py.random.draws import Draws
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.faults import Note
from aclnn_py.runtime.status import check_acl, recent_message
from aclnn_py.runtime.stream import Stream, follow
from aclnn_py.runtime.stream_state import NEVER, StreamState, leave, pending_streams

__all__ = ["MODES", "Capture", "CapturedGraph", "Point", "Recording", "address_of"]

MODES = {
    "global": capture_rules.GLOBAL,
    "thread": capture_rules.THREAD,
    "relaxed": capture_rules.RELAXED,
}
_INSTEAD = (
    "Without capture, ap.Sequence records launches and repeats them in one call of the package."
)


class Recording:
    """One captured stream: the state that stands in for its own, and what its work touches.

    It is the ``Recorder`` of that state. ``uses`` are the ap_use structures of the memory that
    captured work touches, by address: the cdata that own them, since the buffers may go before the
    graph does; ``copied`` are the addresses of those that copies and collectives touch; ``arenas``
    are all buffers that launches use as workspace; ``place`` is the number of the stream among
    those of the capture.
    """

    __slots__ = ("arenas", "capture", "copied", "graph", "place", "state", "uses")

    def __init__(self, raw: Any, capture: Capture, place: int) -> None:
        self.capture = capture
        self.graph = capture.graph
        self.place = place
        self.uses: dict[int, Any] = {}
        self.copied: set[int] = set()
        self.arenas: list[Any] = []
        self.state = StreamState(raw, capture.device, True)
        self.state.recorder = self
        # All of them, for the errors of replays.
        self.state.notes = deque()

    def kept_arena(self, nbytes: int) -> Any:
        """The workspace of the graphs that share memory: their replays do not overlap."""
        arena = self.graph.memory.arenas.get(self.place)
        return arena if arena is not None and arena.nbytes >= nbytes else None

    def keep_arena(self, arena: Any) -> None:
        """Keep one more buffer as workspace: earlier launches run again with the ones before."""
        if arena is None:
            self.graph.memory.arenas.pop(self.place, None)
            return
        self.graph.memory.arenas[self.place] = arena
        self.arenas.append(arena)
        use = arena.block.use
        self.uses[address_of(use)] = use
        lib.ap_mark_use(self.state.context, ffi.new("ap_use *[]", [use]), 1)

    def launched(self, uses: Iterable[Any]) -> None:
        """Remember memory that a captured operator touches."""
        for use in uses:
            self.uses[address_of(use)] = use

    def note(self, uses: Iterable[Any]) -> None:
        """Remember memory that other captured work touches."""
        for use in uses:
            self.uses[address_of(use)] = use
            self.copied.add(address_of(use))

    def touches(self, use: Any) -> bool:
        """Whether captured work touches a piece of memory."""
        return address_of(use) in self.uses

    def forget(self, use: Any) -> None:
        """Drop the marks of the graph from memory that it does not need any more."""
        self.uses.pop(address_of(use), None)
        lib.ap_forget_stream(use, self.state.context.id)

    def settle(self, timeout_s: float | None) -> None:
        """Wait for the replays queued so far."""
        self.graph.settle(timeout_s)

    def end(self) -> None:
        """Let go of everything; no replay is queued."""
        state = self.state
        state.context.closed = lib.AP_STREAM_ENDED
        for use in list(self.uses.values()):
            self.forget(use)
        leave(state)
        self.arenas.clear()
        state.recorder = None
        state.passed(NEVER)
        lib.ap_pools_forget(state.context)


def address_of(use: Any) -> int:
    """The address of an ap_use, which names a piece of memory as long as it lives."""
    return int(ffi.cast("uintptr_t", use))


class CapturedGraph:
    """The part of a graph that its finalizer needs.

    Attributes
    ----------
    model : cdata or None
        The aclmdlRI, once the capture has ended well.
    memory : GraphMemory
        What the graph keeps, alone or with others, and where one of them was used last.
    last : Moment or None
        Where this graph was used last: others may go on when it is released.
    recordings : list of Recording
        One per captured stream.
    queue : Stream or None
        A stream of the graph's own.
    communicators : list
        Communicators whose collectives were captured.
    prior : list of StreamState
        Streams whose work on captured memory the next replay has to wait for.
    draws : Draws or None
        The random numbers that each replay draws anew.
    """

    __slots__ = (
        "communicators",
        "device",
        "draws",
        "last",
        "memory",
        "model",
        "prior",
        "queue",
        "recordings",
    )

    def __init__(self, device: Device, memory: GraphMemory) -> None:
        self.device = device
        self.memory = memory
        self.last: Moment | None = None
        self.model: Any = None
        self.recordings: list[Recording] = []
        self.queue: Stream | None = None
        self.communicators: list[Any] = []
        self.prior: list[StreamState] = []
        self.draws: Draws | None = None

    @property
    def notes(self) -> list[Note]:
        """The captured launches, for the errors of replays."""
        return [note for recording in self.recordings for note in recording.state.notes]

    def own_queue(self) -> Stream:
        """Return the stream of the graph's own; it lives as long as the graph."""
        if self.queue is None:
            self.queue = Stream(self.device)
        return self.queue

    def used(self, state: StreamState, sequence: int) -> None:
        """Note the last use of the graph, which is that of its memory as well."""
        self.last = self.memory.last = state, sequence

    def settle(self, timeout_s: float | None) -> None:
        """Wait for the replays queued so far."""
        before = unchecked(self.last)
        if before is not None:
            before[0].synchronize(timeout_s)

    def follow(self, stream: Stream) -> None:
        """Let ``stream`` wait for the last use of the memory, on whatever stream that was."""
        before = pending(self.memory.last)
        if before is not None:
            _follow(stream, before[0])
        while self.prior:
            _follow(stream, self.prior[-1])
            self.prior.pop()

    def release(self) -> None:
        """Destroy the graph, or leave that to the stream that still replays it."""
        before = pending(self.last)
        if before is not None:
            before[0].defer(before[1], self.release)
            return
        model, self.model = self.model, None
        try:
            if model is not None:
                with self.device.as_active():
                    status = C.aclmdlRIDestroy(model)
                    check_acl(status, "aclmdlRIDestroy", device=self.device.index)
        finally:
            self.drop()

    def drop(self) -> None:
        """Let go of all that the graph kept alive."""
        recordings, self.recordings = self.recordings, []
        for recording in recordings:
            recording.end()
        self.memory.leave(self)
        self.communicators, self.prior, self.draws = [], [], None
        queue, self.queue = self.queue, None
        if queue is not None:
            queue.close()


def _follow(stream: Stream, before: StreamState) -> None:
    if before is stream.state or before.context.closed == lib.AP_STREAM_ENDED:
        return
    if before.context.closed == lib.AP_STREAM_CAPTURED:
        raise CaptureError(
            "Graph.replay: a stream that this one has to wait for is being captured; replay after "
            "the capture",
            call="Graph.replay",
        )
    follow(stream, before)


class Point:
    """What an event stands for inside a capture.

    ``reached`` has the number of every captured stream, and how much of its work lies before.
    """

    __slots__ = ("capture", "reached")

    def __init__(self, capture: Capture, reached: dict[int, int]) -> None:
        self.capture = capture
        self.reached = reached


class Capture:
    """One capture, from its begin to its end, on the thread that began it."""

    __slots__ = ("_known", "_left", "_main", "_members", "active", "device", "graph", "mode")

    def __init__(self, graph: CapturedGraph, main: Stream, mode: int) -> None:
        self.graph = graph
        self.device = graph.device
        self._main: Stream | None = main
        self.mode = mode
        self.active = False
        # (stream, its own state, what stands in for it), the main one first.
        self._members: list[tuple[Stream, StreamState, Recording]] = []
        # What of the work of every stream is known to be done, by the number of the stream.
        self._known: dict[int, dict[int, int]] = {}
        # The ap_use structures of memory that several streams have used, and that was released.
        self._left: list[Any] = []

    @property
    def main(self) -> Stream:
        """The stream the capture began on; known as long as it goes on."""
        assert self._main is not None
        return self._main

    @property
    def keeper(self) -> Any:
        """The ap_stream under whose number the allocator keeps the memory of the graph."""
        return self.graph.memory.context

    @property
    def draws(self) -> Draws | None:
        """The random numbers of the captured launches."""
        return self.graph.draws

    def wait_before_replay(self, state: StreamState) -> None:
        """Let the next replay wait for the work of another stream."""
        self.graph.prior.append(state)

    def depend(self, communicator: Any) -> None:
        """Note that replays need a communicator."""
        if communicator not in self.graph.communicators:
            self.graph.communicators.append(communicator)

    def lends(self, stream: Stream) -> bool:
        """Whether memory allocated for the work of a stream may be used again in the capture.

        In the mode "relaxed" the host may write it meanwhile, and what it writes has to last.
        """
        return stream.state.capture is self and self.mode != capture_rules.RELAXED

    def take_over(self, use: Any) -> bool:
        """Keep memory that was allocated in the capture and released in it, for more of its work.

        False if something else may use it as well. What is still there when the capture ends is not
        used again before the graph goes: it may be a result.
        """
        pending = pending_streams(use)
        if not self.active or any(state.capture is not self for state, _sequence in pending):
            return False
        if len(pending) == 1:
            state, sequence = pending[0]
            give_to(use, state.context, sequence)
        else:
            self._left.append(use)  # no order of one stream covers all that was done with it
        return True

    def begin(self) -> None:
        """Start to record the main stream."""
        capture_rules.enter(self)
        try:
            with self.device.as_active():
                status = C.aclmdlRICaptureBegin(self.main.raw, self.mode)
                check_acl(
                    status,
                    "aclmdlRICaptureBegin",
                    device=self.device.index,
                    stream=self.main.id,
                )
        except (SymbolNotFoundError, NotSupportedError) as error:
            capture_rules.leave(self)
            raise _with_advice(error) from None
        except BaseException:
            capture_rules.leave(self)
            raise
        self.active = True
        self.graph.memory.join(self.graph)
        self._lend(self.main)

    def _lend(self, stream: Stream) -> None:
        recording = Recording(stream.raw, self, len(self._members))
        self.graph.recordings.append(recording)
        self._members.append((stream, stream.lend(recording.state), recording))
        self._known[recording.state.context.id] = {}

    def record(self, stream: Stream) -> Point:
        """Return the point of an event that was just recorded on a captured stream."""
        number = stream.state.context.id
        reached = dict(self._known[number])
        reached[number] = int(stream.state.context.sequence)
        return Point(self, reached)

    def wait(self, stream: Stream, point: Point) -> None:
        """Note that a stream waits for a point; one that was outside joins by that."""
        if stream.state.capture is None:
            self._lend(stream)
        known = self._known[stream.state.context.id]
        for number, sequence in point.reached.items():
            known[number] = max(known.get(number, 0), sequence)

    def end(self) -> None:
        """End the capture well, or raise and leave nothing of it."""
        names = ", ".join(map(repr, self._unjoined()))
        if names:
            error = CaptureError(
                f"Graph.capture: {names} took part and did not come back: end with "
                f"main.wait_stream(...) of each, with main being {self.main!r}",
                call="Graph.capture",
            )
            self.abort()
            raise error
        out = ffi.new("aclmdlRI *")
        try:
            with self.device.as_active():
                status = C.aclmdlRICaptureEnd(self.main.raw, out)
                check_acl(
                    status, "aclmdlRICaptureEnd", device=self.device.index, stream=self.main.id
                )
        except BaseException:
            self._close()
            self.graph.drop()
            raise
        self._close()
        _ = C.aclmdlRIExecuteAsync  # found now, for replays, which call it from C
        self.graph.model = out[0]

    def abort(self) -> None:
        """End the capture and leave nothing of it."""
        out = ffi.new("aclmdlRI *")
        try:
            with self.device.as_active():
                # A capture that an illegal call made invalid, or that has unjoined streams, is
                # ended by this all the same; the status repeats what the caller knows.
                if C.aclmdlRICaptureEnd(self.main.raw, out) != 0:
                    recent_message()
                elif out[0] != ffi.NULL:
                    check_acl(C.aclmdlRIDestroy(out[0]), "aclmdlRIDestroy")
        finally:
            self._close()
            self.graph.drop()

    def _close(self) -> None:
        self.active = False
        for stream, own, recording in self._members:
            stream.take_back(own)
            lib.ap_pools_keep(recording.state.context, self.keeper)
        # The graph refers to this object, and must not keep the streams of others open.
        self._members.clear()
        self._main = None
        capture_rules.leave(self)
        while self._left:
            give_to(self._left.pop(), self.keeper, 1)

    def _unjoined(self) -> list[Stream]:
        known = self._known[self._members[0][2].state.context.id]
        return [
            stream
            for stream, _own, recording in self._members[1:]
            if known.get(recording.state.context.id, 0) < int(recording.state.context.sequence)
        ]


def _with_advice(error: AclnnPyError) -> AclnnPyError:
    if isinstance(error, SymbolNotFoundError):
        error.detail = f"{error.detail} {_INSTEAD}".strip()
    elif isinstance(error, StatusError):
        error.hint = _INSTEAD
    return error
