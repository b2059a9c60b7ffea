# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
import threading

import pytest
from helpers.memory import free_memory

import aclnn_py as ap
from aclnn_py import errors


def in_thread(function):
    result = []

    def run():
        try:
            result.append((True, function()))
        except BaseException as error:
            result.append((False, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    good, value = result[0]
    if not good:
        raise value
    return value


def test_one_object_per_index():
    assert ap.Device(0) is ap.Device(0)
    assert ap.Device(0) is not ap.Device(1)
    assert pickle.loads(pickle.dumps(ap.Device(1))) is ap.Device(1)
    assert repr(ap.Device(1)) == "Device(1)"


@pytest.mark.parametrize(
    ("index", "error"), [("0", TypeError), (True, TypeError), (-1, ValueError)]
)
def test_a_bad_index_names_the_argument(index, error):
    with pytest.raises(error, match="index: "):
        ap.Device(index)


def test_an_index_beyond_the_last_device_is_refused_at_its_first_use(device):
    beyond = ap.Device(ap.device_count())
    with pytest.raises(errors.InvalidArgumentError) as caught:
        beyond.activate()
    assert caught.value.status == 107001
    assert caught.value.routine == "aclrtSetDevice"
    assert ap.Device.current() is device
    ap.empty(4, "int8")  # the thread is as it was


def test_blocks_nest_and_restore(device, second_device):
    assert ap.Device.current() is device
    with second_device:
        assert ap.Device.current() is second_device
        assert ap.empty(1, "int8").device is second_device
        with device:
            assert ap.empty(1, "int8").device is device
        assert ap.empty(1, "int8").device is second_device
    assert ap.Device.current() is device
    assert ap.empty(1, "int8").device is device


def test_an_exception_restores_as_well(device, second_device):
    with pytest.raises(KeyError), second_device:
        raise KeyError
    assert ap.Device.current() is device


def test_threads_choose_for_themselves(device, second_device):
    def work():
        with second_device:
            tensor = ap.zeros(8, "int32")
            return tensor.device, tensor.numpy().sum()

    assert in_thread(work) == (second_device, 0)
    assert ap.Device.current() is device


def test_a_thread_needs_no_preparation(device):
    assert in_thread(lambda: ap.zeros((2, 2), "float32").numpy().tolist()) == [[0, 0], [0, 0]]


def test_use_on_a_thread_holds_for_that_thread_only(device, second_device):
    assert in_thread(lambda: second_device.use() and ap.Device.current()) is second_device
    assert in_thread(ap.Device.current) is ap.Device(0)
    assert ap.Device.current() is device


def test_a_device_another_library_chose_on_a_thread_is_taken(device, second_device):
    from aclnn_py._ffi import C
    from aclnn_py.runtime.status import check_acl

    second_device.activate()
    device.activate()

    def foreign():
        check_acl(C.aclrtSetDevice(1), "aclrtSetDevice")
        try:
            return ap.Device.current()
        finally:
            check_acl(C.aclrtResetDevice(1), "aclrtResetDevice")

    assert in_thread(foreign) is second_device


def test_memory_info_follows_allocations(device):
    before = device.memory_info()
    assert 0 < before.free <= before.total
    buffer = ap.Buffer.allocate(1 << 20)
    assert free_memory(device) <= before.free - (1 << 20)
    assert ap.memory_info() == device.memory_info()
    buffer.close()
    assert free_memory(device) == before.free


def test_name_and_count(device):
    assert device.name.startswith("Ascend")
    assert ap.device_count() >= 1


def test_peer_access(device, second_device):
    assert device.can_access_peer(second_device) in (True, False)
    if device.can_access_peer(second_device):
        device.enable_peer_access(second_device)


def test_synchronize_waits_for_all_streams(device):
    from helpers.gates import Gate

    gate = Gate()
    with device.create_stream() as other:
        gate.put(other)
        with pytest.raises(errors.DeviceTimeoutError):
            device.synchronize(timeout_s=0.05)
        gate.open()
        ap.synchronize(timeout_s=30)
        assert other.query()
        assert other.pending == 0
