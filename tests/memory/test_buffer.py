# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from helpers.gates import held
from helpers.memory import free_memory
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors


class Probe:
    pass


def test_write_and_read_are_the_same_bytes(device):
    data = bytes(range(256)) * 3
    buffer = ap.Buffer.allocate(len(data))
    buffer.write(data)
    assert bytes(buffer.read()) == data
    assert bytes(buffer.read(offset=10, nbytes=5)) == data[10:15]
    buffer.write(b"xyz", offset=100)
    assert bytes(buffer.read(offset=99, nbytes=5)) == data[99:100] + b"xyz" + data[103:104]


def test_reading_into_memory_of_the_caller(device):
    buffer = ap.Buffer.allocate(8)
    buffer.write(bytes(range(8)))
    target = np.zeros(4, np.uint8)
    assert buffer.read(target, offset=2) is target
    assert target.tolist() == [2, 3, 4, 5]


def test_addresses_are_aligned(device):
    buffers = [ap.Buffer.allocate(n) for n in (1, 33, 100, 500, 4097, 3 << 20)]
    assert all(buffer.address % 512 == 0 for buffer in buffers)


def test_nothing_has_no_address(device):
    buffer = ap.Buffer.allocate(0)
    assert buffer.address == 0
    buffer.fill(0)
    buffer.write(b"")
    assert bytes(buffer.read()) == b""


@pytest.mark.parametrize(
    ("call", "error", "argument"),
    [
        (lambda b: ap.Buffer.allocate(-1), ValueError, "nbytes"),
        (lambda b: ap.Buffer.allocate(1.5), TypeError, "nbytes"),
        (lambda b: ap.Buffer.allocate(True), TypeError, "nbytes"),
        (lambda b: ap.Buffer.allocate(8, device="0"), TypeError, "device"),
        (lambda b: b.write(b"x" * 17), ValueError, "data"),
        (lambda b: b.write(b"x", offset=16), ValueError, "data"),
        (lambda b: b.write("text"), TypeError, "data"),
        (lambda b: b.write(np.zeros((4, 4), np.uint8)[:, ::2]), ValueError, "data"),
        (lambda b: b.read(offset=17), ValueError, "nbytes"),
        (lambda b: b.read(b"read-only"), ValueError, "target"),
        (lambda b: b.read(bytearray(2), nbytes=4), ValueError, "target"),
        (lambda b: b.fill(256), ValueError, "value"),
        (lambda b: b.copy_from(b"bytes"), TypeError, "source"),
        (lambda b: b.copy_from(b, offset=1), ValueError, "nbytes"),
        (lambda b: b.write(b"x", stream="s"), TypeError, "stream"),
    ],
)
def test_mistakes_name_the_argument(device, call, error, argument):
    buffer = ap.Buffer.allocate(16)
    with pytest.raises(error, match=f"^{argument}: "):
        call(buffer)


def test_the_constructor_points_at_the_factories():
    with pytest.raises(TypeError, match=r"Buffer\.allocate"):
        ap.Buffer()


def test_a_closed_buffer_is_refused(device):
    buffer = ap.Buffer.allocate(4)
    buffer.close()
    buffer.close()
    for call in (buffer.read, lambda: buffer.write(b"abcd"), lambda: buffer.fill(0)):
        with pytest.raises(errors.ClosedError, match="Buffer is closed"):
            call()
    assert "closed" in repr(buffer)


def test_out_of_memory_says_what_was_asked_and_what_is_free(device):
    total = device.memory_info().total
    with pytest.raises(MemoryError) as caught:
        ap.Buffer.allocate(total * 2)
    assert isinstance(caught.value, errors.OutOfMemoryError)
    assert caught.value.routine == "aclrtMalloc"
    assert str(total * 2) in str(caught.value)
    assert bytes(ap.Buffer.allocate(4).read()) is not None  # the process goes on


SMALL = {"ACLNN_PY_EMULATOR_MEMORY": str(64 << 20)}


@pytest.mark.emulator_only(reason="needs a device whose memory is small")
def test_what_nobody_needs_is_reclaimed_before_giving_up():
    run_script(
        """
        import gc
        import aclnn_py as ap

        most = int(ap.memory_info().free * 0.6)
        gc.disable()
        cycle = [ap.Buffer.allocate(most)]
        cycle.append(cycle)
        del cycle
        again = ap.Buffer.allocate(most)  # the first one was unreachable
        again.fill(0, stream=ap.current_stream())
        del again
        third = ap.Buffer.allocate(most)  # the second one was waiting for its stream
        try:
            ap.Buffer.allocate(most)
        except ap.errors.OutOfMemoryError as error:
            assert str(most) in str(error)
        else:
            raise AssertionError("more memory than there is")
        """,
        env=SMALL,
    ).check()


def test_wrapping_keeps_the_owner_alive_until_the_device_is_done(stream):
    memory = ap.Buffer.allocate(16)
    owner = Probe()
    seen = weakref.ref(owner)
    view = ap.Buffer.wrap(memory.address, 16, owner=owner)
    del owner
    with held(stream) as gate:
        view.fill(9, stream=stream)
        del view
        gc.collect()
        assert seen() is not None
        gate.open()
        stream.synchronize()
        assert seen() is None
    assert set(memory.read()) == {9}
    with pytest.raises(ValueError, match="owner: "):
        ap.Buffer.wrap(memory.address, 16, owner=None)


def test_a_plain_address_is_not_freed(device):
    memory = ap.Buffer.allocate(16)
    free = free_memory(device)
    plain = ap.Buffer.from_address(memory.address, 16)
    plain.fill(4)
    plain.close()
    assert free_memory(device) == free
    assert set(memory.read()) == {4}


def test_device_to_device_copies(device, stream):
    source, target = ap.Buffer.allocate(64), ap.Buffer.allocate(64)
    source.write(bytes(range(64)))
    target.fill(0)
    target.copy_from(source, offset=8, source_offset=4, nbytes=16)
    assert bytes(target.read(offset=8, nbytes=16)) == bytes(range(4, 20))
    target.copy_from(source, stream=stream)
    stream.synchronize()
    assert bytes(target.read()) == bytes(range(64))


def test_copies_between_devices(device, second_device):
    source = ap.Buffer.allocate(32)
    source.write(bytes(range(32)))
    target = ap.Buffer.allocate(32, device=second_device)
    target.copy_from(source)
    assert bytes(target.read()) == bytes(range(32))


def test_a_stream_of_another_device_is_refused(device, second_device):
    buffer = ap.Buffer.allocate(4)
    with ap.Stream(second_device) as other, pytest.raises(errors.DeviceMismatchError):
        buffer.fill(1, stream=other)


def test_pinned_memory_takes_asynchronous_copies(stream):
    pinned = ap.HostBuffer(1 << 16)
    values = pinned.numpy()
    values[:] = np.arange(1 << 16, dtype=np.uint32).astype(np.uint8)
    expected = values.copy()
    buffer = ap.Buffer.allocate(1 << 16)
    buffer.write(pinned, stream=stream)
    back = ap.HostBuffer(1 << 16)
    buffer.read(back, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(back.numpy(), expected)


def test_an_array_over_pinned_memory_outlives_the_buffer(device):
    pinned = ap.HostBuffer(1 << 12)
    array = pinned.numpy()[1024:2048]
    pinned.numpy()[:] = 7
    pinned.close()
    gc.collect()
    ap.HostBuffer(1 << 12).numpy()[:] = 1  # would reuse the memory had it been freed
    assert set(array.tolist()) == {7}


def test_the_host_side_of_a_queued_copy_lives_until_it_is_done(stream):
    buffer = ap.Buffer.allocate(1 << 12)
    pinned = ap.HostBuffer(1 << 12)
    pinned.numpy()[:] = 5
    with held(stream) as gate:
        buffer.write(pinned, stream=stream)
        del pinned
        gc.collect()
        ap.HostBuffer(1 << 12).numpy()[:] = 1  # would reuse the memory had it been freed
        gate.open()
    assert set(buffer.read()) == {5}


def test_a_synchronous_copy_waits_for_queued_work_on_the_buffer(stream):
    import threading

    buffer = ap.Buffer.allocate(8)
    buffer.fill(0)
    with held(stream) as gate:
        buffer.fill(6, stream=stream)
        threading.Timer(0.2, gate.open).start()
        assert set(buffer.read()) == {6}


def test_many_buffers_leave_nothing(device):
    free = free_memory(device)
    for _ in range(2000):
        ap.Buffer.allocate(4096)
    assert free_memory(device) == free


@pytest.mark.parametrize("queued", [False, True])
def test_a_copy_that_fails_holds_no_memory_of_the_host(device, queued):
    buffer, target = ap.Buffer.allocate(8), bytearray(8)
    graph = ap.Graph()
    with graph.capture() as stream, pytest.raises(errors.AclnnPyError) as caught:
        buffer.read(target, stream=stream if queued else None)
    # While memory is exported, its length cannot change; the exception keeps the frames.
    target.extend(b"more")
    assert caught.value is not None
