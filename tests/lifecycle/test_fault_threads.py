# SPDX-License-Identifier: Apache-2.0
"""Threads that make faults: each hears of its own, and ranks beside them compute right.

``pytest --fault-seconds 600`` lets them go on for ten minutes.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.distributed import Communicator, all_reduce

pytestmark = pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")


class Count:
    """What a thread has made, and what it has heard of."""

    def __init__(self) -> None:
        self.made = self.raised = self.rounds = self.strange = 0

    def hear(self, error: errors.StatusError) -> None:
        """Count the faults that an error reports."""
        assert error.status == 507015, error
        more = re.search(r"and (\d+) more after it", str(error))
        self.raised += 1 + (int(more[1]) if more else 0)


class Bench:
    """A table on a stream, of which rows are gathered; row 9 does not exist."""

    def __init__(self, stream: ap.Stream) -> None:
        self.stream = stream
        self.table = ap.from_numpy(np.arange(4, dtype=np.float32))
        self.rows = {n: ap.from_numpy(np.array([n])) for n in (1, 9)}
        self.out = ap.zeros((1,), np.float32)
        # On a shared stream the wait may be the first to cover another thread's fault.
        with suppress(errors.DeviceError):
            stream.synchronize()

    def gather(self, row: int) -> None:
        ops.index_select(self.table, 0, self.rows[row], self.out)

    def close(self) -> None:
        for tensor in (self.table, *self.rows.values(), self.out):
            tensor.close()

    def wait(self, how: str) -> None:
        """Wait for the stream in one of the ways there are."""
        if how == "synchronize":
            self.stream.synchronize()
        elif how == "limit":
            self.stream.synchronize(60)
        elif how == "event":
            with self.stream.record() as event:
                event.synchronize()
        elif how == "query":
            while not self.stream.query():
                time.sleep(0)
            self.out.numpy()
        elif how == "poll":
            for _ in range(130):
                self.stream.retain(object())
            self.out.numpy()
        else:
            self.table.numpy()


WAYS = ("synchronize", "limit", "event", "query", "poll", "read")


@contextmanager
def bench(stream: ap.Stream | None) -> Iterator[Bench]:
    with ap.Device(0) as device:
        if stream is not None:
            with stream.use():
                made = Bench(stream)
                yield made
                made.close()
            return
        with device.create_stream() as own, own.use():
            made = Bench(own)
            yield made
            made.close()


def on_an_own_stream(count: Count, goes_on: Callable[[], bool], seed: int) -> None:
    """Make some faults between good work, and wait: each of them is raised, and nothing else."""
    choose = random.Random(seed)
    with bench(None) as work:
        while goes_on():
            rows = [choose.choice((1, 1, 9)) for _ in range(choose.randrange(1, 5))]
            for row in rows:
                work.gather(row)
            bad = rows.count(9)
            try:
                work.wait(choose.choice(WAYS))
            except errors.StatusError as error:
                before = count.raised
                count.hear(error)
                count.strange += count.raised - before != bad
            else:
                count.strange += bad != 0
            count.made += bad
            count.rounds += 1


def on_a_shared_stream(
    count: Count, goes_on: Callable[[], bool], seed: int, stream: ap.Stream
) -> None:
    """Faults of a thread are raised in it, whoever else waits for the stream."""
    choose = random.Random(seed)
    with bench(stream) as work:
        while goes_on():
            bad = choose.random() < 0.3
            work.gather(9 if bad else 1)
            try:
                work.wait(choose.choice(WAYS))
            except errors.StatusError:
                count.raised += bad
            else:
                count.strange += bad
            count.made += bad
            count.rounds += 1


def wait_for_the_device(count: Count, goes_on: Callable[[], bool]) -> None:
    """Take nothing from anybody."""
    with ap.Device(0) as device:
        while goes_on():
            try:
                device.synchronize()
            except errors.StatusError:
                count.raised += 1
            count.rounds += 1
            time.sleep(0.001)


def reduce(count: Count, goes_on: Callable[[], bool], comm: Communicator, turn: list[int]) -> None:
    """Sum over the ranks, again and again; the ranks agree on the last turn."""
    with comm.device, ap.Stream(comm.device) as stream, stream.use():
        total = ap.zeros((64,), np.float32)
        while count.rounds < turn[0]:
            total.copy_from(np.full(64, count.rounds + comm.rank, np.float32))
            all_reduce(total, "sum", comm)
            want = 2 * count.rounds + 1
            count.strange += not np.array_equal(total.numpy(), np.full(64, want, np.float32))
            count.rounds += 1
            if comm.rank == 0 and goes_on():
                turn[0] = count.rounds + 2
        total.close()


@pytest.mark.timeout(3600)  # of --fault-seconds
def test_each_thread_hears_of_its_own_faults(request: pytest.FixtureRequest) -> None:
    end = time.monotonic() + float(request.config.getoption("--fault-seconds"))
    failures: list[BaseException] = []
    counts: dict[str, Count] = {}
    threads: list[threading.Thread] = []

    def goes_on() -> bool:
        return time.monotonic() < end and not failures

    def start(name: str, work: Callable[..., None], *arguments: object) -> None:
        count = counts[name] = Count()

        def run() -> None:
            try:
                work(count, goes_on, *arguments)
            except BaseException as error:
                failures.append(error)

        threads.append(threading.Thread(target=run, name=name))

    ranks = Communicator.init_all(2)
    with ap.Device(0) as device, device.create_stream() as shared:
        turn = [3]
        for comm in ranks:
            start(f"rank {comm.rank}", reduce, comm, turn)
        for seed in range(3):
            start(f"own {seed}", on_an_own_stream, seed)
        for seed in (3, 4):
            start(f"shared {seed}", on_a_shared_stream, seed, shared)
        start("device", wait_for_the_device)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(900)
            assert not thread.is_alive(), f"{thread.name} does not end"
        try:
            shared.synchronize()
        except errors.DeviceError as error:
            raise AssertionError(f"a fault that nobody had heard of: {error}") from error
    for comm in ranks:
        comm.close()
    if failures:
        raise failures[0]
    for name, count in counts.items():
        print(f"{name}: {count.rounds} rounds, {count.made} faults made, {count.raised} raised")
        assert count.strange == 0, name
        if name != "device":
            assert count.raised == count.made, name
