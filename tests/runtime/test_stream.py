# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np
import pytest
from helpers.gates import Gate, held
from helpers.memory import free_memory

import aclnn_py as ap
from aclnn_py import errors


class Probe:
    """Something a weak reference can watch."""


def test_block_makes_it_current_and_closes_it(device):
    before = ap.current_stream()
    with device.create_stream() as stream:
        assert ap.current_stream() is stream
    assert stream.closed
    assert ap.current_stream() is before is device.default_stream


def test_use_makes_it_current_and_keeps_it_open(device):
    stream = ap.Stream()
    with stream.use() as same:
        assert same is stream is ap.current_stream()
        with device.create_stream() as inner:
            assert ap.current_stream() is inner
        assert ap.current_stream() is stream
        with device:
            assert ap.current_stream() is device.default_stream
        assert ap.current_stream() is stream
    assert not stream.closed
    stream.close()


def test_a_stream_brings_its_device(device, second_device):
    with ap.Stream(second_device) as stream:
        assert ap.Device.current() is second_device
        assert stream.device is second_device
    assert ap.Device.current() is device


def test_another_device_means_its_own_default_stream(stream, second_device):
    with second_device:
        assert ap.current_stream() is second_device.default_stream
    assert ap.current_stream() is stream


def test_the_default_stream_cannot_be_closed(device):
    device.default_stream.close()
    assert not device.default_stream.closed
    device.default_stream.synchronize()


@pytest.mark.parametrize("what", ["synchronize", "query", "record"])
def test_a_closed_stream_is_refused(device, what):
    stream = device.create_stream()
    stream.close()
    stream.close()
    with pytest.raises(errors.ClosedError, match="Stream is closed"):
        getattr(stream, what)()


def test_a_stream_closed_inside_its_block_is_refused_as_current(device):
    with device.create_stream() as stream:
        stream.close()
        with pytest.raises(errors.ClosedError):
            ap.current_stream()


def test_query_and_timeout_see_work_that_is_not_done(stream):
    with held(stream) as gate:
        gate.reached.wait(10)
        assert not stream.query()
        started = time.monotonic()
        with pytest.raises(TimeoutError) as caught:
            stream.synchronize(timeout_s=0.25)
        assert 0.2 <= time.monotonic() - started < 5
        assert caught.value.status == 507046
        assert isinstance(caught.value, errors.AclError)
        gate.open()
        stream.synchronize(timeout_s=30)
        assert stream.query()


@pytest.mark.parametrize(
    ("value", "error"), [("1", TypeError), (-1, ValueError), (True, TypeError)]
)
def test_a_bad_timeout_names_the_argument(stream, value, error):
    with pytest.raises(error, match="timeout_s: "):
        stream.synchronize(timeout_s=value)


def test_retained_objects_live_until_the_stream_has_passed(stream):
    probe = Probe()
    seen = weakref.ref(probe)
    with held(stream) as gate:
        stream.retain(probe)
        del probe
        gc.collect()
        assert seen() is not None
        gate.open()
        stream.synchronize()
        assert seen() is None


def test_closing_a_stream_lets_go_of_what_it_held(device):
    probe = Probe()
    seen = weakref.ref(probe)
    stream = device.create_stream()
    stream.retain(probe)
    del probe
    stream.close()
    assert seen() is None


def test_memory_released_under_queued_work_is_freed_after_it(stream, device):
    free = free_memory(device)
    with held(stream) as gate:
        buffer = ap.Buffer.allocate(1 << 20)
        buffer.fill(1, stream=stream)
        del buffer
        gc.collect()
        assert free_memory(device) < free
        assert stream.pending > 0
        gate.open()
        stream.synchronize()
    assert free_memory(device) == free
    assert stream.pending == 0


def test_memory_used_by_two_streams_waits_for_both(device):
    free = free_memory(device)
    with device.create_stream() as first, device.create_stream() as second:
        with held(first) as gate_a, held(second) as gate_b:
            buffer = ap.Buffer.allocate(1 << 20)
            buffer.fill(1, stream=first)
            buffer.fill(2, stream=second)
            buffer.close()
            gate_a.open()
            first.synchronize()
            assert free_memory(device) < free
            gate_b.open()
            second.synchronize()
        assert free_memory(device) == free


def test_memory_used_by_more_streams_than_have_marks_waits_for_all(device):
    free = free_memory(device)
    streams = [device.create_stream() for _ in range(7)]
    gates = [Gate() for _ in streams]
    buffer = ap.Buffer.allocate(1 << 20)
    for stream, gate in zip(streams, gates, strict=True):
        gate.put(stream)
        buffer.fill(1, stream=stream)
    buffer.close()
    for stream, gate in zip(streams, gates, strict=True):
        assert free_memory(device) < free
        gate.open()
        stream.synchronize()
    device.synchronize()
    assert free_memory(device) == free
    for stream in streams:
        stream.close()


def test_held_objects_are_pruned_without_a_synchronize(stream):
    peak = 0
    for _ in range(2000):
        ap.Buffer.allocate(64).fill(0, stream=stream)
        peak = max(peak, stream.pending)
    assert peak < 1500
    stream.synchronize()
    assert stream.pending == 0


def test_events_order_two_streams(device):
    target = ap.zeros(4, "int32")
    with device.create_stream() as first, device.create_stream() as second:
        with held(first) as gate:
            target.buffer.fill(1, stream=first)
            second.wait(first.record())
            target.buffer.fill(2, stream=second)
            assert not second.query()
            gate.open()
            second.synchronize()
        np.testing.assert_array_equal(target.numpy(), np.full(4, 0x02020202))


def test_a_foreign_stream_is_used_and_left_alone(device):
    from aclnn_py._ffi import C, ffi
    from aclnn_py.runtime.status import check_acl

    device.activate()
    out = ffi.new("aclrtStream *")
    check_acl(C.aclrtCreateStream(out), "aclrtCreateStream")
    handle = int(ffi.cast("uintptr_t", out[0]))
    owner = Probe()
    seen = weakref.ref(owner)
    stream = ap.Stream.wrap(handle, owner=owner)
    del owner
    buffer = ap.Buffer.allocate(4)
    buffer.fill(3, stream=stream)
    stream.synchronize()
    assert bytes(buffer.read()) == b"\3\3\3\3"
    assert seen() is not None
    stream.close()
    assert seen() is None
    check_acl(C.aclrtDestroyStream(out[0]), "aclrtDestroyStream")  # still ours to destroy


def test_zero_is_the_default_stream_of_the_context(device):
    with ap.Stream.wrap(0) as stream:
        buffer = ap.Buffer.allocate(4)
        buffer.fill(5, stream=stream)
        stream.synchronize()
        assert bytes(buffer.read()) == b"\5\5\5\5"


@pytest.mark.parametrize("handle", ["0", 1.0, True, None])
def test_only_numbers_are_handles(device, handle):
    with pytest.raises(TypeError, match="handle: "):
        ap.Stream.wrap(handle)


def test_one_stream_serves_many_threads(stream):
    buffers = [ap.Buffer.allocate(1 << 12) for _ in range(4)]

    def work(buffer, value):
        for _ in range(200):
            buffer.fill(value, stream=stream)
            ap.Buffer.allocate(256).fill(0, stream=stream)

    threads = [
        threading.Thread(target=work, args=(buffer, value + 1))
        for value, buffer in enumerate(buffers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    stream.synchronize()
    assert [buffer.read()[0] for buffer in buffers] == [1, 2, 3, 4]
