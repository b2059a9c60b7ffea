# SPDX-License-Identifier: Apache-2.0
"""Graphs: work that is recorded once and queued again in one call."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import CaptureError, ClosedError, DeviceMismatchError
from aclnn_py.graphs.capture import MODES, Capture, CapturedGraph, Recording
from aclnn_py.graphs.inputs import GraphInputs, tensors_of
from aclnn_py.memory.graph_memory import GraphMemory
from aclnn_py.operators.launch.observers import Launch, Observer, observe, observing, timed
from aclnn_py.random.draws import Draws
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.status import error_of
from aclnn_py.runtime.stream import Stream, current_stream, mark, order, resolve_stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Graph"]


class Graph(Handle):
    """Work that is captured once and replayed often, each time with one call of the device.

    ``capture`` records what is launched in its ``with`` block, ``replay`` queues all of it. A
    replay works on the memory that was captured: the graph keeps it, with the workspace of its
    launches, until it is closed, whoever else lets go of it. To compute with other values, write
    them into a captured tensor, or ``rebind`` an input to another tensor or list of numbers.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.
    memory_of : Graph, optional
        A graph of the same device whose memory this one uses as well; by default each has its own.
        Both then need as much as the larger one, capture that one first. Their replays run one
        after the other, and each may overwrite what the other one left: results that have to last
        are tensors allocated before the capture, given to the operators as outputs.

    Raises
    ------
    DeviceMismatchError
        ``memory_of`` is a graph of another device.
    ClosedError
        ``memory_of`` is closed.

    Notes
    -----
    Memory that is allocated inside a capture and released inside it is used again by later work of
    the capture (not in the mode "relaxed", and with ``ACLNN_PY_ALLOCATOR=direct`` not at all). So a
    tensor allocated inside has the values that the graph gives it, and no others between replays.

    Functions that draw random numbers take new ones at each replay, from the generator that they
    were captured with, as long as they got no seed. Replays move the generator on; the capture
    does not.

    Threads may share a graph. Its replays run one after the other, on whatever streams.

    Source
    ------
    aclmdlRICaptureBegin, aclmdlRICaptureEnd, aclmdlRIDestroy (``include/acl/acl_rt.h``).
    """

    __slots__ = ("_capturing", "_device", "_failure", "_inputs")

    def __init__(
        self, device: Device | int | None = None, *, memory_of: Graph | None = None
    ) -> None:
        if memory_of is None:
            where = resolve(device)
            memory = GraphMemory(where)
        else:
            memory, where = _memory_of(memory_of, device)
        where.activate()
        self._device = where
        self._capturing: Capture | None = None
        self._failure: BaseException | None = None
        state = CapturedGraph(where, memory)
        self._inputs = GraphInputs({}, state)
        super().__init__(state, CapturedGraph.release)

    @property
    def raw(self) -> CapturedGraph:
        """What the graph owns; ``raw.model`` is the aclmdlRI, or None before a capture."""
        state: CapturedGraph = super().raw
        return state

    @property
    def device(self) -> Device:
        """The device the graph belongs to."""
        return self._device

    @property
    def captured(self) -> bool:
        """Whether there is something to replay."""
        return self.raw.model is not None

    @property
    def inputs(self) -> dict[str, Any]:
        """The tensors and lists the inputs stand for now, by the names given to ``capture``."""
        return self._inputs.named

    @contextmanager
    def capture(
        self,
        stream: Stream | None = None,
        *,
        mode: str = "thread",
        inputs: Mapping[str, Tensor | Sequence[Any]] | None = None,
    ) -> Iterator[Stream]:
        """Record what is launched inside a ``with`` block, instead of running it.

        The block gets the stream that is recorded, which is also the current one inside. Another
        stream joins by waiting for an event of it (``side.wait_stream(main)``) and has to come back
        (``main.wait_stream(side)``). An exception that leaves the block undoes the capture.

        Parameters
        ----------
        stream : Stream, optional
            The stream to record; by default one of the graph's own.
        mode : str, default "thread"
            Who may copy between host and device meanwhile without a stream: "thread" forbids it to
            this thread, "global" to all threads, "relaxed" to none.
        inputs : mapping of str to Tensor or list, optional
            What ``rebind`` can exchange, by names of your choice: tensors, which only operators may
            use in the block and which the graph keeps while they are bound; and lists of numbers
            that operators read on the host (``actual_seq_lengths`` and others), known by the very
            object that the operator is given.

        Raises
        ------
        CaptureError
            A capture is going on on this device, the graph was captured before, a stream did not
            come back, or the block called what a capture forbids: waits, host reads, copies without
            a stream or from pageable memory, work for a stream that takes no part. Or no operator
            was given a list of ``inputs``.
        SymbolNotFoundError
            The library has no capture, which came with CANN 8.1.
        AclError
            The library refused the capture.

        Notes
        -----
        A refusal changes nothing by itself: a block that catches it goes on.

        Operators copy their lists. A replay is refused when a list that one of them was given was
        changed since, until ``rebind`` gives the graph the new numbers. A function that makes
        another list of the one it is given (dimensions, sizes of windows) has copied it.

        Source
        ------
        aclmdlRICaptureBegin, aclmdlRICaptureEnd, aclmdlRICaptureTaskGrpBegin
        (``include/acl/acl_rt.h``).
        """
        state = self.raw
        if state.model is not None or self._capturing is not None:
            raise CaptureError(
                "Graph.capture: the graph was captured before; make another one, or close it and "
                "capture again",
                call="Graph.capture",
            )
        if mode not in MODES:
            raise ValueError(f"mode: expected one of {', '.join(MODES)}, got {mode!r}")
        fresh = GraphInputs(inputs or {}, state)
        state.draws = Draws(running=False)
        main = self._stream_to_record(stream)
        capture = Capture(state, main, MODES[mode])
        capture.begin()
        self._capturing = capture
        try:
            with observing(_Recorder(capture, fresh)), main.use():
                yield main
            fresh.finish(state)
        except BaseException:
            self._capturing = None
            capture.abort()
            raise
        self._capturing = None
        capture.end()
        state.draws = state.draws or None
        self._inputs = fresh

    def replay(self, stream: Stream | None = None) -> None:
        """Queue what was captured, as one piece of work.

        Parameters
        ----------
        stream : Stream, optional
            Default: the current stream of this thread. Returns before the device finishes.

        Raises
        ------
        CaptureError
            Nothing was captured, or a capture is going on on this thread.
        ClosedError
            The graph, an input or a communicator of it was closed.
        DeviceMismatchError
            The stream is of another device.
        InvalidArgumentError
            A list of numbers that an operator was captured with was changed since.
        AclError
            The library refused.

        Notes
        -----
        It waits on the device for the replay before it, also for one on another stream.

        Source
        ------
        aclmdlRIExecuteAsync (``include/acl/acl_rt.h``).
        """
        state = self._ready("Graph.replay")
        lists = self._inputs.lists
        if lists.watched:
            lists.check_unchanged()
        where = current_stream() if stream is None else resolve_stream(stream)
        queue = where.state
        if where.device is not self._device:
            raise DeviceMismatchError(f"stream: {where!r} is not of {self._device!r}")
        if queue.recorder is not None or thread.capture is not None:
            raise CaptureError(
                "Graph.replay: a capture is going on, and a graph cannot become part of another; "
                "replay it after the capture",
                call="Graph.replay",
            )
        with state.memory.lock:
            for communicator in state.communicators:
                communicator.stream(where)
            last = state.memory.last
            if (last is not None and last[0] is not queue) or state.prior:
                state.follow(where)
            if state.draws is not None:
                state.draws.advance(where)
            inputs = self._inputs
            status = lib.ap_replay(queue.context, state.model, inputs.cells, inputs.count)
            if status:
                self._settle(status, state, where)
            sequence = queue.context.sequence
            queue.replays.append((sequence, state))
            state.used(queue, sequence)

    def _settle(self, status: int, state: CapturedGraph, stream: Stream) -> None:
        """Deal with a replay that did not go through at once."""
        inputs, context = self._inputs, stream.state.context
        while status:
            if status == lib.AP_NO_STREAM:
                stream.activate()
            elif status == lib.AP_GUARDED:
                order(stream, inputs.uses)
            elif status == lib.AP_INTERCEPTED:
                launch = Launch("graph", None, (), stream, name="aclmdlRIExecuteAsync")
                observe(launch, lambda seen: self._replay_observed(seen, state))
                return
            else:
                raise self._failed(stream)
            status = lib.ap_replay(context, state.model, inputs.cells, inputs.count)

    def _replay_observed(self, seen: Launch, state: CapturedGraph) -> None:
        inputs, context = self._inputs, seen.stream.state.context
        call = functools.partial(lib.ap_replay, context, state.model, inputs.cells, inputs.count)
        seen.executor = int(ffi.cast("uintptr_t", state.model))
        status, seen.phase_two_begun_ns, seen.phase_two_ns = timed(call)
        if status == lib.AP_FAILED and lib.ap_last_failure().phase == lib.AP_PHASE_TWO:
            seen.phase_two_status = int(lib.ap_last_failure().status)
        self._settle(status, state, seen.stream)
        seen.phase_two_status = 0
        seen.sequence = int(context.sequence)

    def _failed(self, stream: Stream) -> Exception:
        failure = lib.ap_last_failure()
        if failure.phase == lib.AP_PHASE_TWO:
            return error_of(
                "acl",
                int(failure.status),
                "aclmdlRIExecuteAsync",
                detail=ffi.string(failure.message).decode("utf-8", "replace"),
                device=stream.device.index,
                stream=stream.id,
            )
        if failure.reason == lib.AP_REASON_CLOSED:
            name = list(self._inputs.bound)[failure.parameter]
            return ClosedError(
                f"Graph.replay: the input {name!r} was closed; rebind it to another tensor"
            )
        # Another thread began a capture of the stream, or closed it, since it was looked at.
        return CaptureError(f"Graph.replay: {stream!r} takes no work now", call="Graph.replay")

    def rebind(self, /, **inputs: Tensor | Sequence[Any]) -> None:
        """Let replays from now on use other tensors and lists for inputs.

        Replays queued before keep what they had. The memory of an input that is not bound any more
        belongs to its owner alone.

        Parameters
        ----------
        **inputs : Tensor or list
            A tensor of the shape, dtype, strides and format of the input it stands for; for a list
            as many numbers as it had. The same list may be given again after it was changed.

        Raises
        ------
        ValueError
            There is no such input, the layout differs, or the number of numbers does.
        TypeError
            It is not what the input is, or a number is not what the operator takes.
        ClosedError
            The graph or a tensor is closed.
        AclnnError
            161002 an operator refuses the numbers of a list; the graph is what it was.
        AclError
            The library refused the other address; the graph cannot be replayed any more.

        Notes
        -----
        Phase one of the operators that read a list runs again.

        Source
        ------
        aclmdlRICaptureTaskUpdateBegin, aclmdlRICaptureTaskUpdateEnd (``include/acl/acl_rt.h``).
        """
        state = self._ready("Graph.rebind")
        if thread.capture is not None:
            raise CaptureError(
                "Graph.rebind: a capture is going on on this thread; rebind after it",
                call="Graph.rebind",
            )
        known = self._inputs
        tensors, lists = known.check(inputs)
        with state.memory.lock:
            queue = self._stream_to_update()
            bound = known.prepare(queue, tensors, lists)
            state.follow(queue)
            try:
                known.rebind(state, queue, tensors, lists, bound)
            except BaseException as error:
                self._failure = error
                raise
            finally:
                state.used(queue.state, mark(queue, ()))

    def close(self) -> None:
        """Release the graph and what only it kept alive, once the device has done its replays."""
        capture_rules.before_close("Graph.close", self._capturing)
        super().close()
        self._inputs.clear()
        self._failure = None

    def _ready(self, call: str) -> CapturedGraph:
        state = self.raw
        if self._failure is not None:
            raise CaptureError(
                f"{call}: an exchange of inputs failed halfway, so the graph is of no use; capture "
                "it again",
                call=call,
            ) from self._failure
        if state.model is None:
            raise CaptureError(
                f"{call}: nothing was captured; launch inside `with graph.capture():` first",
                call=call,
            )
        return state

    def _stream_to_update(self) -> Stream:
        """The stream of the last replay, if it is current: then nobody has to wait for another."""
        current, last = current_stream(), self.raw.memory.last
        if last is not None and last[0] is current.state and current.state.recorder is None:
            return current
        return self.raw.own_queue()

    def _stream_to_record(self, stream: Stream | None) -> Stream:
        if stream is None:
            return self.raw.own_queue()
        main = resolve_stream(stream)
        if main.device is not self._device:
            raise DeviceMismatchError(f"stream: {main!r} is not of {self._device!r}")
        return main

    def _state(self) -> str:
        if self.closed:
            return "closed"
        return f"device {self._device.index}, {'captured' if self.captured else 'empty'}"


def _memory_of(graph: object, device: Device | int | None) -> tuple[GraphMemory, Device]:
    if not isinstance(graph, Graph):
        raise TypeError(f"memory_of: expected a Graph or None, got {type(graph).__name__}")
    memory = graph.raw.memory
    if device is not None and resolve(device) is not graph.device:
        raise DeviceMismatchError(
            f"memory_of: {graph!r} is not of {resolve(device)!r}; leave device out, or give "
            "each device a graph of its own"
        )
    return memory, graph.device


class _Recorder(Observer):
    """Looks at every launch while a graph is captured."""

    def __init__(self, capture: Capture, inputs: GraphInputs) -> None:
        self._capture = capture
        self._inputs = inputs

    def before(self, launch: Launch) -> None:
        if launch.kind == "plan":
            return  # phase one alone records nothing
        if thread.capture is self._capture:
            capture_rules.before_queue(launch.name, launch.stream)
        recording = launch.stream.state.recorder
        if isinstance(recording, Recording) and recording.capture is self._capture:
            recording.launched(t.buffer.block.use for t in tensors_of(launch.values))
            self._inputs.begin(launch)

    def after(self, launch: Launch) -> None:
        self._inputs.end(launch)
