# SPDX-License-Identifier: Apache-2.0
"""Who hears of which fault, in any order of calls: a state machine beside a model of the rule.

The rule stands in docs/emulator.md. The model knows, for each fault of a stream, whether a wait for
the stream has reported it, whether the thread that launched the work knows, and which threads have
heard. ``pytest --fault-steps 20000`` makes so many steps; without it there are a few hundred.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.distributed import Communicator, all_reduce

pytestmark = pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")

THREADS, STREAMS, STEPS = 4, 3, 60
GRAPH_FAULT, KERNEL_FAULT = 507011, 507015
thread_of = st.integers(0, THREADS - 1)
stream_of = st.integers(0, STREAMS - 1)


class Worker:
    """A thread that makes the calls it is given, one after the other."""

    def __init__(self) -> None:
        self.calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (call := self.calls.get()) is not None:
            try:
                self.answers.put((call(), None))
            except BaseException as error:
                self.answers.put((None, error))

    def make(self, call: Callable[[], Any]) -> Any:
        """Make a call on the thread; return or raise what it does."""
        self.calls.put(call)
        value, error = self.answers.get(timeout=120)
        if error is not None:
            raise error
        return value

    def end(self) -> None:
        self.calls.put(None)
        self.thread.join(60)


class Fault:
    """What the model knows of a fault."""

    def __init__(self, number: int, thread: int, status: int) -> None:
        self.number, self.thread, self.status = number, thread, status
        self.told = self.owner_knows = False
        self.heard: set[int] = set()

    def concerns(self, thread: int) -> bool:
        own = thread == self.thread and not self.owner_knows
        return thread not in self.heard and (not self.told or own)


class Queue:
    """A stream, its tensors and graphs, and the model of its faults."""

    def __init__(self, stream: ap.Stream) -> None:
        self.stream = stream
        self.numbers = itertools.count(1)
        self.last = 0
        self.faults: list[Fault] = []
        with stream.use():
            self.values = ap.zeros((4,), np.float32)
            self.good = ap.from_numpy(np.array([1], np.int64))
            self.bad = ap.from_numpy(np.array([9], np.int64))
            self.row = ap.zeros((1,), np.float32)
            stream.synchronize()
            self.graphs = [ap.Graph(), ap.Graph()]
            for graph, index in zip(self.graphs, (self.good, self.bad), strict=True):
                with graph.capture(stream):
                    ops.index_select(self.values, 0, index, self.row)
        self.expected = 0.0
        self.row_used = 0  # the number of the last work on `row`
        self.read = 0  # the last work that a wait found done without fault

    def launched(self, thread: int, status: int = 0) -> int:
        self.last = next(self.numbers)
        if status:
            self.faults.append(Fault(self.last, thread, status))
        return self.last

    def pending(self, thread: int, last: int | None = None) -> list[Fault]:
        last = self.last if last is None else last
        return [f for f in self.faults if f.number <= last and f.concerns(thread)]

    def waited(self, thread: int, last: int | None = None) -> None:
        """A wait for the stream up to a number is over."""
        last = self.last if last is None else last
        for fault in self.faults:
            if fault.number <= last:
                fault.heard.add(thread)
                fault.told = True
                fault.owner_knows |= fault.thread == thread

    def device_waited(self, thread: int) -> None:
        for fault in self.faults:
            if fault.concerns(thread):
                fault.heard.add(thread)
            fault.owner_knows |= fault.thread == thread

    def close(self) -> None:
        for graph in self.graphs:
            graph.close()
        for tensor in (self.values, self.good, self.bad, self.row):
            tensor.close()


class Lane:
    """A rank, its stream with what is reduced there, and a stream beside it."""

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.stream, self.side = ap.Stream(comm.device), ap.Stream(comm.device)
        with self.stream.use():
            self.total, self.row = ap.zeros((4,), np.float32), ap.zeros((1,), np.float32)
            self.bad = ap.from_numpy(np.array([7]))
            self.stream.synchronize()

    def fill(self, value: float) -> None:
        with self.comm.device:
            self.total.copy_from(np.full(4, value, np.float32))

    def spoil(self, by_event: bool) -> None:
        """Fail on the stream, or on the one beside it that it waits for."""
        stream = self.side if by_event else self.stream
        with self.comm.device:
            ops.index_select(self.total, 0, self.bad, self.row, stream=stream)
            if by_event:
                self.stream.wait_stream(self.side)

    def reduce(self) -> None:
        with self.comm.device:
            all_reduce(self.total, "sum", self.comm, stream=self.stream)

    def read(self) -> list[float]:
        with self.comm.device:
            self.stream.synchronize()
            values: list[float] = self.total.numpy().tolist()
            return values

    def close(self) -> None:
        for stream in (self.stream, self.side):
            with contextlib.suppress(errors.StatusError):  # judged before
                stream.synchronize()
        for handle in (self.total, self.row, self.bad, self.stream, self.side, self.comm):
            handle.close()


class Rule(RuleBasedStateMachine):
    """Calls of four threads on three streams of device 0, and collectives of two devices."""

    steps = 0  # of all examples

    def __init__(self) -> None:
        super().__init__()
        self.workers: list[Worker] = []
        self.queues: list[Queue] = []
        self.events: list[tuple[ap.Event, Queue, int]] = []
        self.ranks: list[Communicator] = []
        self.lanes: list[Lane] = []

    @initialize(threads=st.integers(1, THREADS))
    def begin(self, threads: int) -> None:
        self.device = ap.Device(0)
        self.threads = threads
        self.workers = [Worker() for _ in range(threads)]
        with self.device:
            self.queues = [Queue(ap.Stream(self.device)) for _ in range(STREAMS)]

    def on(self, thread: int, call: Callable[[], Any]) -> Any:
        def inside() -> Any:
            with self.device:
                return call()

        return self.workers[thread % self.threads].make(inside)

    def number(self, thread: int) -> int:
        return thread % self.threads

    def expect(self, wanted: list[Fault], call: Callable[[], Any], thread: int) -> Any:
        """Make a call that must report these faults, or succeed when there are none."""
        try:
            value = self.on(thread, call)
        except errors.DeviceTimeoutError:
            raise
        except errors.StatusError as error:
            assert wanted, f"nobody is to hear of a fault now: {error}"
            assert error.status == wanted[0].status, (error, [f.status for f in wanted])
            more = f"and {len(wanted) - 1} more after it"
            assert (more in str(error)) == (len(wanted) > 1), (error, len(wanted))
            return None
        assert not wanted, f"{len(wanted)} faults were not reported"
        return value

    # --- work

    @rule(thread=thread_of, at=stream_of)
    def launch(self, thread: int, at: int) -> None:
        queue_ = self.queues[at]
        self.on(thread, lambda: ops.inplace_adds(queue_.values, 1.0, 1.0, stream=queue_.stream))
        queue_.launched(self.number(thread))
        queue_.expected += 1

    @rule(thread=thread_of, at=stream_of, bad=st.booleans())
    def gather(self, thread: int, at: int, bad: bool) -> None:
        q = self.queues[at]
        index = q.bad if bad else q.good
        self.on(thread, lambda: ops.index_select(q.values, 0, index, q.row, stream=q.stream))
        q.row_used = q.launched(self.number(thread), KERNEL_FAULT if bad else 0)

    @rule(thread=thread_of, at=stream_of, bad=st.booleans())
    def replay(self, thread: int, at: int, bad: bool) -> None:
        q = self.queues[at]
        self.on(thread, lambda: q.graphs[bad].replay(q.stream))
        q.row_used = q.launched(self.number(thread), GRAPH_FAULT if bad else 0)

    # --- waits of a stream

    @rule(thread=thread_of, at=stream_of)
    def wait(self, thread: int, at: int) -> None:
        q, number = self.queues[at], self.number(thread)
        self.expect(q.pending(number), q.stream.synchronize, thread)
        q.waited(number)

    @rule(thread=thread_of, at=stream_of)
    def wait_with_a_limit(self, thread: int, at: int) -> None:
        q, number = self.queues[at], self.number(thread)
        try:
            self.expect(q.pending(number), lambda: q.stream.synchronize(0.001), thread)
        except errors.DeviceTimeoutError:
            return  # nothing has been reported
        q.waited(number)

    @rule(thread=thread_of, at=stream_of)
    def read(self, thread: int, at: int) -> None:
        q, number = self.queues[at], self.number(thread)
        values = self.expect(q.pending(number), q.values.numpy, thread)
        # A read waits for the stream, unless a wait has found all work on the tensor done well.
        if values is not None:
            assert values.tolist() == [q.expected] * 4
        q.waited(number)

    @rule(thread=thread_of, at=stream_of)
    def write(self, thread: int, at: int) -> None:
        q, number = self.queues[at], self.number(thread)
        array = np.full(4, q.expected, np.float32)
        self.expect(q.pending(number), lambda: q.values.copy_from(array), thread)
        q.waited(number)

    @rule(thread=thread_of, at=stream_of)
    def read_behind(self, thread: int, at: int) -> None:
        """Queue a copy to pinned memory, and wait for an event behind it."""
        q, number = self.queues[at], self.number(thread)

        def copy() -> list[float]:
            with ap.HostBuffer(16) as host, q.stream.use():
                q.values.buffer.read(host, stream=q.stream)
                with q.stream.record() as event:
                    try:
                        event.synchronize()
                    finally:
                        q.stream.state.poll()
                return host.numpy().view(np.float32).tolist()

        values = self.expect(q.pending(number), copy, thread)
        q.launched(number)
        if values is not None:
            assert values == [q.expected] * 4
        q.waited(number)

    # --- events

    @rule(thread=thread_of, at=stream_of)
    def record(self, thread: int, at: int) -> None:
        q = self.queues[at]
        event = self.on(thread, q.stream.record)
        self.events.append((event, q, q.last))
        if len(self.events) > 4:
            self.events.pop(0)[0].close()

    @rule(thread=thread_of, which=st.integers(0, 3))
    def wait_for_event(self, thread: int, which: int) -> None:
        if which < len(self.events):
            event, q, last = self.events[which]
            number = self.number(thread)
            open_ = q in self.queues
            self.expect(q.pending(number, last) if open_ else [], event.synchronize, thread)
            q.waited(number, last)

    @rule(thread=thread_of, at=stream_of, which=st.integers(0, 3))
    def follow(self, thread: int, at: int, which: int) -> None:
        if which < len(self.events):
            self.on(thread, lambda: self.events[which][0].wait(self.queues[at].stream))

    # --- what reports nothing

    @rule(thread=thread_of, at=stream_of)
    def query(self, thread: int, at: int) -> None:
        def until_done() -> None:
            while not self.queues[at].stream.query():
                pass

        self.expect([], until_done, thread)

    @rule(thread=thread_of, at=stream_of)
    def poll(self, thread: int, at: int) -> None:
        def release() -> None:
            for _ in range(130):
                self.queues[at].stream.retain(object())

        self.expect([], release, thread)

    @rule(thread=thread_of, which=st.integers(0, 3))
    def query_event(self, thread: int, which: int) -> None:
        if which < len(self.events):
            self.expect([], self.events[which][0].query, thread)

    @rule(thread=thread_of)
    def read_elsewhere(self, thread: int) -> None:
        """Make, compute and read a tensor on another stream."""

        def elsewhere() -> list[float]:
            with self.device.create_stream() as own, own.use():
                return (ap.from_numpy(np.ones(3, np.float32)) + 1.0).numpy().tolist()

        assert self.expect([], elsewhere, thread) == [2.0] * 3

    # --- waits for the device, ends

    @rule(thread=thread_of)
    def wait_for_device(self, thread: int) -> None:
        number = self.number(thread)
        pending = [q.pending(number) for q in self.queues]
        wanted = [fault for faults in pending for fault in faults]
        try:
            self.on(thread, self.device.synchronize)
        except errors.StatusError as error:
            assert error.status in {fault.status for fault in wanted}
            named = str(error).count("failed on the device")
            assert named >= sum(map(bool, pending)), (error, pending)
        else:
            assert not wanted
        for q in self.queues:
            q.device_waited(number)

    @rule(thread=thread_of, at=stream_of)
    def close(self, thread: int, at: int) -> None:
        q, number = self.queues[at], self.number(thread)
        self.expect(q.pending(number), q.stream.synchronize, thread)
        self.expect([], lambda: (q.close(), q.stream.close()), thread)
        self.queues[at] = self.on(thread, lambda: Queue(ap.Stream(self.device)))

    # --- ranks

    @rule(thread=thread_of, faulty=st.sampled_from([None, None, 0, 1]), by_event=st.booleans())
    def reduce(self, thread: int, faulty: int | None, by_event: bool) -> None:
        """Reduce over two devices: the numbers are right, or both ranks hear."""
        if not self.ranks:
            self.ranks = Communicator.init_all(2)
            for rank in self.ranks:
                with rank.device:
                    self.lanes.append(Lane(rank))
        for number, lane in enumerate(self.lanes):
            self.on(thread, lambda lane=lane, number=number: lane.fill(number + 1.0))
        if faulty is not None:
            self.on(thread, lambda: self.lanes[faulty].spoil(by_event))
        answers = [self._reduced(thread, lane) for lane in self.lanes]
        # The call of the second rank may come when the first has told that it failed.
        for lane, answer in zip(self.lanes, answers, strict=True):
            if answer is None:
                answer = self._reduced_values(thread, lane)
            if faulty is None:
                assert answer == [3.0] * 4
                continue
            assert isinstance(answer, errors.StatusError) and "IndexSelect" in str(answer)
        if faulty is None:
            return
        if by_event:
            with pytest.raises(errors.DeviceError, match="IndexSelect"):
                self.on(thread, self.lanes[faulty].side.synchronize)
        self._end_ranks()

    def _reduced(self, thread: int, lane: Lane) -> errors.StatusError | None:
        try:
            self.on(thread, lane.reduce)
        except errors.HcclError as error:
            return error
        return None

    def _reduced_values(self, thread: int, lane: Lane) -> list[float] | errors.StatusError:
        try:
            return self.on(thread, lane.read)
        except errors.StatusError as error:
            return error

    def _end_ranks(self) -> None:
        for lane in self.lanes:
            lane.close()
        self.ranks, self.lanes = [], []

    @invariant()
    def count(self) -> None:
        Rule.steps += 1

    def teardown(self) -> None:
        if not self.workers:
            return
        self._end_ranks()
        for event, _, _ in self.events:
            event.close()
        for q in self.queues:
            if q.faults:
                try:
                    q.stream.synchronize()
                except errors.StatusError:
                    assert any(not fault.told for fault in q.faults)
            q.close()
            q.stream.close()
        for worker in self.workers:
            worker.end()


@pytest.mark.timeout(3600)  # of --fault-steps
def test_who_hears_of_a_fault(request: pytest.FixtureRequest) -> None:
    steps = int(request.config.getoption("--fault-steps"))
    Rule.steps = 0
    while Rule.steps < steps:
        run_state_machine_as_test(
            Rule,
            settings=settings(
                max_examples=max(1, (steps - Rule.steps) // STEPS),
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    print(f"{Rule.steps} steps")
