# SPDX-License-Identifier: Apache-2.0
"""The allocator: what it hands out, what it counts, what it gives back."""

from __future__ import annotations

import gc
import itertools
import threading

import numpy as np
import pytest
from helpers.processes import run_script
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.memory.allocator import device_allocator, pinned_allocator
from aclnn_py.memory.buffer import buffer_for_host

MIB = 1 << 20


@pytest.fixture(autouse=True)
def caching(device, monkeypatch):
    """The caching allocator, whatever the environment chose, with nothing in it."""
    for allocator in (device_allocator(device), pinned_allocator(device)):
        monkeypatch.setattr(allocator, "caching", True)
    ap.trim_memory(device)


class Blocks(RuleBasedStateMachine):
    """Any order of allocations, releases, work, waits and trims on two streams."""

    def __init__(self) -> None:
        super().__init__()
        self.live: list[ap.Buffer] = []

    @initialize()
    def open(self) -> None:
        self.device = ap.Device(0)
        device_allocator(self.device).trim()
        self.before = ap.memory_stats(self.device)
        self.streams = [self.device.create_stream() for _ in range(2)]

    @rule(
        nbytes=st.sampled_from([1, 32, 33, 480, 5000, MIB - 64, MIB, 3 * MIB, 11 * MIB]),
        who=st.integers(0, 2),
    )
    def allocate(self, nbytes: int, who: int) -> None:
        if who == 2:
            buffer = buffer_for_host(nbytes, self.device)
        else:
            buffer = ap.Buffer.allocate(nbytes, stream=self.streams[who])
        self.live.append(buffer)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        self.live.pop(data.draw(st.integers(0, len(self.live) - 1))).close()

    @precondition(lambda self: self.live)
    @rule(data=st.data(), who=st.integers(0, 1))
    def work(self, data: st.DataObject, who: int) -> None:
        buffer = data.draw(st.sampled_from(self.live))
        if buffer.nbytes < MIB:
            buffer.fill(1, stream=self.streams[who])

    @rule(who=st.integers(0, 1))
    def wait(self, who: int) -> None:
        self.streams[who].synchronize()

    @rule()
    def trim(self) -> None:
        ap.trim_memory(self.device)

    @rule(who=st.integers(0, 1))
    def replace_stream(self, who: int) -> None:
        self.streams[who].close()
        self.streams[who] = self.device.create_stream()

    @invariant()
    def blocks_are_apart_and_aligned(self) -> None:
        places = sorted((buffer.address, buffer.nbytes) for buffer in self.live)
        assert all(address % 512 == 0 for address, _ in places)
        for (address, nbytes), (following, _) in itertools.pairwise(places):
            # CANN: a block is its length, rounded up to 32 bytes, and 32 more.
            assert address + -(-nbytes // 32) * 32 + 32 <= following

    @invariant()
    def counts_hold_at_least_the_live_blocks(self) -> None:
        if not hasattr(self, "before"):
            return
        stats = ap.memory_stats(self.device)
        # A block that was released under the work of both streams counts until one is done.
        assert stats.blocks - self.before.blocks >= len(self.live)
        held = sum(buffer.nbytes for buffer in self.live)
        assert stats.requested_nbytes - self.before.requested_nbytes >= held
        assert stats.allocated_nbytes <= stats.reserved_nbytes

    def teardown(self) -> None:
        while self.live:
            self.live.pop().close()
        for stream in self.streams:
            stream.close()
        ap.trim_memory(self.device)
        after = ap.memory_stats(self.device)
        assert after.reserved_nbytes == self.before.reserved_nbytes
        assert after.segments == self.before.segments
        assert after.blocks == self.before.blocks
        assert after.requested_nbytes == self.before.requested_nbytes


def test_blocks_never_overlap_and_all_of_them_come_back(device):
    from hypothesis.stateful import run_state_machine_as_test

    few = settings(max_examples=25, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Blocks, settings=few)


def test_small_blocks_share_a_segment_and_neighbours_grow_together_again(device):
    before = ap.memory_stats()
    small = [ap.Buffer.allocate(100) for _ in range(1000)]
    during = ap.memory_stats()
    assert during.raw_allocations - before.raw_allocations <= 1
    assert during.by_size[128].live - getattr(before.by_size.get(128), "live", 0) == 1000
    assert during.hits - before.hits >= 999
    for buffer in small[::2] + small[1::2]:
        buffer.close()
    assert ap.memory_stats().largest_free_nbytes >= 1000 * 512
    assert ap.trim_memory() >= 2 * MIB or before.segments


def test_peaks_start_again_when_they_are_reset(device):
    big = ap.Buffer.allocate(8 * MIB)
    big.close()
    assert ap.memory_stats().allocated_peak_nbytes >= 8 * MIB
    ap.trim_memory()
    ap.reset_peak_memory_stats()
    stats = ap.memory_stats()
    assert stats.allocated_peak_nbytes == stats.allocated_nbytes < 8 * MIB
    assert stats.reserved_peak_nbytes == stats.reserved_nbytes


def test_a_limit_is_kept_and_named(device):
    held = ap.memory_stats().reserved_nbytes
    ap.set_memory_limit(held + 30 * MIB)
    try:
        first = ap.Buffer.allocate(20 * MIB)
        with pytest.raises(errors.OutOfMemoryError, match=r"limit of \d+.*set_memory_limit") as no:
            ap.Buffer.allocate(20 * MIB)
        assert str(20 * MIB) in str(no.value)
        assert "reserved" in str(no.value) and "largest free block" in str(no.value)
        first.close()
        ap.Buffer.allocate(25 * MIB).close()  # what is free is given back to make room
        assert ap.memory_stats().reserved_nbytes <= held + 30 * MIB
        assert ap.memory_stats().limit_nbytes == held + 30 * MIB
    finally:
        ap.set_memory_limit(None)
    assert ap.memory_stats().limit_nbytes is None
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=r"^nbytes: "):
            ap.set_memory_limit(wrong)


def test_pinned_memory_is_pooled_apart(device):
    ap.trim_memory(pinned=True)
    before = ap.memory_stats(pinned=True)
    first = ap.HostBuffer(1000)
    address = first.address
    first.close()
    assert ap.HostBuffer(1000).address == address
    after = ap.memory_stats(pinned=True)
    assert after.raw_allocations - before.raw_allocations == 1
    assert ap.trim_memory(pinned=True) == after.reserved_nbytes


def test_threads_take_and_give_at_a_time(device):
    failures = []

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            with device, device.create_stream() as stream:
                kept: list[tuple[ap.Buffer, int]] = []
                for turn in range(150):
                    buffer = ap.Buffer.allocate(int(rng.integers(1, 4096)))
                    buffer.fill(seed * 16 + turn % 16, stream=stream)
                    kept.append((buffer, seed * 16 + turn % 16))
                    if len(kept) > 8:
                        old, value = kept.pop(int(rng.integers(0, 8)))
                        assert set(old.read()) == {value}
                stream.synchronize()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)


def test_finalizers_may_run_inside_an_allocation(device):
    class Node:
        def __init__(self) -> None:
            self.buffer = ap.Buffer.allocate(256)
            self.me = self

    before = ap.memory_stats().blocks
    threshold = gc.get_threshold()
    gc.set_threshold(3, 2, 2)
    try:
        for _ in range(300):
            Node()
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert ap.memory_stats().blocks == before


class Pool:
    """Functions for ``set_allocator`` that take from one big buffer, never the same place twice."""

    def __init__(self) -> None:
        self.memory = ap.Buffer.allocate(4 * MIB)
        self.next = self.memory.address
        self.calls: list[tuple[str, int, int]] = []

    def allocate(self, nbytes: int, device: int) -> int:
        address, self.next = self.next, self.next + -(-nbytes // 64) * 64
        self.calls.append(("allocate", address, nbytes))
        return address

    def free(self, address: int, nbytes: int, device: int) -> None:
        self.calls.append(("free", address, nbytes))


@pytest.fixture
def pool(device):
    made = Pool()
    ap.set_allocator(made.allocate, made.free)
    yield made
    ap.set_allocator(None)
    made.memory.close()


def test_functions_of_the_caller_make_and_get_back_their_blocks(device, stream, pool):
    from helpers.gates import held

    tensor = ap.from_numpy(np.arange(10, dtype=np.float32))
    ((_, address, nbytes),) = pool.calls
    assert tensor.address == address and nbytes >= 64 + 32 and nbytes % 32 == 0
    with held(stream) as gate:
        tensor.buffer.fill(0, stream=stream)
        ap.set_allocator(None)
        tensor.close()  # goes back to the functions that made it, but not under queued work
        assert len(pool.calls) == 1
        gate.open()
        stream.synchronize()
    assert pool.calls[1:] == [("free", address, nbytes)]


def test_failing_functions_of_the_caller_are_typed(device, pool):
    before = ap.memory_stats().reserved_nbytes

    def fails(nbytes: int, device: int) -> int:
        raise KeyError("mine")

    ap.set_allocator(fails, pool.free)
    with pytest.raises(errors.AllocatorError, match=r"^allocate: .*KeyError") as caught:
        ap.Buffer.allocate(10)
    assert isinstance(caught.value.__cause__, KeyError)
    for wrong in (None, 0, True, -64, pool.memory.address + 8):
        ap.set_allocator(lambda nbytes, device, wrong=wrong: wrong, pool.free)
        with pytest.raises(errors.AllocatorError, match=r"^allocate: "):
            ap.Buffer.allocate(10)
    assert ap.memory_stats().reserved_nbytes == before

    def cannot_free(address: int, nbytes: int, device: int) -> None:
        raise KeyError("mine")

    ap.set_allocator(pool.allocate, cannot_free)
    with pytest.warns(errors.ReleaseWarning, match="mine"):
        ap.Buffer.allocate(10).close()
    assert ap.memory_stats().reserved_nbytes == before
    for arguments in ((pool.allocate,), (1, pool.free), (None, pool.free), (pool.allocate, 1)):
        with pytest.raises(TypeError, match=r"^(allocate|free): "):
            ap.set_allocator(*arguments)


@pytest.mark.emulator_only(reason="needs a device whose memory is small")
@pytest.mark.parametrize("mode", ["caching", "direct"])
def test_a_small_device_is_used_to_the_end_and_the_error_sums_up(mode):
    run_script(
        """
        import aclnn_py as ap

        total = ap.memory_info().total
        kept = []
        try:
            while True:
                kept.append(ap.Buffer.allocate(3 << 20))
        except ap.errors.OutOfMemoryError as error:
            text = str(error)
        assert sum(b.nbytes for b in kept) > 0.8 * total, len(kept)
        stats = ap.memory_stats()
        for number in (3 << 20, total, stats.allocated_nbytes, stats.reserved_nbytes):
            assert str(number) in text, text
        for buffer in kept:
            buffer.fill(0, stream=ap.current_stream())
        del buffer
        kept.clear()
        # All of it is cached in pieces or waits for the stream, and one block needs most of it.
        big = ap.Buffer.allocate(int(0.8 * total))
        big.close()
        ap.synchronize()
        ap.trim_memory()
        assert ap.memory_stats().reserved_nbytes == 0
        """,
        env={"ACLNN_PY_EMULATOR_MEMORY": str(64 << 20), "ACLNN_PY_ALLOCATOR": mode},
    ).check()


def test_at_the_end_of_the_process_all_segments_go_back():
    outcome = run_script(
        """
        import aclnn_py as ap
        from aclnn_py.runtime import initialization

        device = ap.Device(0)
        before = device.memory_info().free
        keep = [ap.zeros(1000, "float32") for _ in range(3)]
        pinned = ap.HostBuffer(100)
        def report():
            left = ap.memory_stats().reserved_nbytes + ap.memory_stats(pinned=True).reserved_nbytes
            print("left", left, before - device.memory_info().free)
        initialization.ensure().before_reset(report)
        """,
        env={"ACLNN_PY_ALLOCATOR": "caching"},
    ).check()
    assert outcome.out.split() == ["left", "0", "0"]
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("environment", "caching"),
    [
        ({"ACLNN_PY_ALLOCATOR": "caching", "ACLNN_PY_CHECK": "1"}, True),
        ({"ACLNN_PY_ALLOCATOR": "", "ACLNN_PY_CHECK": "1"}, False),
        ({"ACLNN_PY_ALLOCATOR": "", "ACLNN_PY_CHECK": "0"}, True),
        ({"ACLNN_PY_ALLOCATOR": "direct", "ACLNN_PY_CHECK": "0"}, False),
    ],
)
def test_the_environment_chooses(monkeypatch, environment, caching):
    from aclnn_py.memory.allocator import caching_wanted

    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert caching_wanted() is caching
    monkeypatch.setenv("ACLNN_PY_ALLOCATOR", "slab")
    with pytest.raises(ValueError, match="ACLNN_PY_ALLOCATOR is 'slab'; it must be one of"):
        caching_wanted()
