# SPDX-License-Identifier: Apache-2.0
"""Memory that is taken again while streams may still work on it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from helpers.gates import held

import aclnn_py as ap
from aclnn_py.memory.allocator import device_allocator

NBYTES = 12 << 20  # of this size every segment holds one


@pytest.fixture(autouse=True)
def caching(device, monkeypatch):
    """The caching allocator, whatever the environment chose."""
    monkeypatch.setattr(device_allocator(device), "caching", True)
    ap.trim_memory(device)


def test_the_same_stream_takes_a_block_again_at_once(device, stream):
    with held(stream):
        first = ap.Buffer.allocate(NBYTES)
        first.fill(1, stream=stream)
        address, asked = first.address, ap.memory_stats().raw_allocations
        first.close()
        again = ap.Buffer.allocate(NBYTES)
        assert again.address == address
        assert ap.memory_stats().raw_allocations == asked
        assert stream.pending == 1  # the gate: nothing waits for the buffer


def test_memory_for_the_host_is_never_one_a_stream_works_on(device, stream):
    with held(stream):
        first = ap.Buffer.allocate(NBYTES)
        first.fill(1, stream=stream)
        address = first.address
        first.close()
        tensor = ap.from_numpy(np.arange(NBYTES, dtype=np.uint8))  # returns though the gate is shut
        assert tensor.address != address
    np.testing.assert_array_equal(tensor.numpy(), np.arange(NBYTES, dtype=np.uint8))


def test_another_stream_does_not_take_it_before_the_first_is_done(device, stream):
    other = device.create_stream()
    with held(stream) as gate:
        first = ap.Buffer.allocate(NBYTES)
        first.fill(1, stream=stream)
        address = first.address
        first.close()
        taken = ap.Buffer.allocate(NBYTES, stream=other)
        assert taken.address != address
        gate.open()
        stream.synchronize()
        later = ap.Buffer.allocate(NBYTES, stream=other)
        assert later.address == address
    other.close()


@pytest.mark.parametrize("how", ["operator", "plan", "sequence", "fill", "copy"])
def test_work_of_another_stream_waits_for_the_one_before(device, stream, how):
    """The memory still belongs to queued work of the first stream when the second one gets it."""
    other = device.create_stream()
    shape, ones = (256, 256), ap.full((256, 256), 1, np.float32)
    plain = ap.full(shape, 3, np.float32)
    with held(stream) as gate:
        old = ap.empty(shape, np.float32)
        old.buffer.fill(0xFF, stream=stream)
        address = old.address
        old.close()
        new = ap.empty(shape, np.float32)
        assert new.address == address
        if how == "operator":
            ap.ops.add(ones, ones, 2.0, new, stream=other)
        elif how == "plan":
            ap.plan(ap.ops.add, ones, ones, 2.0, new).run(other)
        elif how == "sequence":
            step = ap.plan(ap.ops.add, ones, ones, 2.0, new, repeatable=True)
            ap.Sequence([step]).run(other)
        elif how == "fill":
            new.buffer.fill(0, stream=other)
        else:
            new.copy_from(plain, stream=other)
        assert not other.query()
        gate.open()
        other.synchronize()
    expected = 0.0 if how == "fill" else 3.0
    np.testing.assert_array_equal(new.numpy(), np.full(shape, expected, np.float32))
    other.close()


@pytest.mark.usefixtures("eager_switches")
def test_threads_read_what_streams_work_on_that_others_are_closing(device):
    shared = [ap.full((64,), value, np.float32) for value in range(4)]
    failures = []

    def work(seed):
        try:
            for turn in range(30):
                with device.create_stream() as own, own.use():
                    operand = shared[(seed + turn) % 4]
                    result = ap.functional.mul(ap.functional.add(operand, 1.0), 2.0)
                    # Waits for the streams of the other threads that read it.
                    assert set(operand.numpy().tolist()) == {(seed + turn) % 4}
                    assert set(result.numpy().tolist()) == {((seed + turn) % 4 + 1) * 2}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
