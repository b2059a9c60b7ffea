# SPDX-License-Identifier: Apache-2.0
"""The runtime as pyACL's scripts call it."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.processes import run_script

from aclnn_py import acl, errors

INVALID_PARAM = 100000
PARAM_INVALID = 107000
NOT_A_LIVE_OBJECT = 107017
NBYTES = 64


@pytest.fixture
def device_memory(device):
    address, ret = acl.rt.malloc(NBYTES, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert ret == 0
    yield address
    assert acl.rt.free(address) == 0


@pytest.fixture
def host_memory(device):
    address, ret = acl.rt.malloc_host(NBYTES)
    assert ret == 0
    yield address
    assert acl.rt.free_host(address) == 0


@pytest.fixture
def raw_stream(device):
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    yield handle
    assert acl.rt.destroy_stream(handle) == 0


def floats_of(address):
    return np.frombuffer(acl.util.ptr_to_bytes(address, NBYTES), np.float32)


def test_a_script_from_init_to_finalize():
    run_script(
        """
        from aclnn_py import acl
        assert acl.init() == 0
        assert acl.init() == 100002  # a repeated call, which CANN documents
        assert acl.rt.set_device(0) == 0
        assert acl.rt.get_device() == (0, 0)
        count, ret = acl.rt.get_device_count()
        assert ret == 0 and count >= 1
        assert acl.rt.get_run_mode() == (acl.ACL_HOST, 0)
        assert acl.get_soc_name().startswith("Ascend")
        major, minor, patch, ret = acl.get_version()
        assert (major, ret) == (1, 0) and minor >= 13
        assert acl.rt.synchronize_device() == 0
        assert acl.rt.reset_device(0) == 0
        assert acl.finalize() == 0
        assert acl.finalize() == 100037
        """
    ).check()


def test_a_configuration_file_is_read_and_one_that_is_missing_is_refused(tmp_path):
    path = tmp_path / "acl.json"
    path.write_text("{}")
    run_script(
        """
        import sys
        from aclnn_py import acl
        assert acl.init(sys.argv[1] + ".missing") != 0
        assert "missing" in acl.get_recent_err_msg()
        assert acl.init(sys.argv[1]) == 0
        """,
        str(path),
    ).check()


def test_bytes_travel_to_the_device_and_back(device_memory, host_memory):
    data = np.arange(16, dtype=np.float32).tobytes()
    source = acl.util.bytes_to_ptr(data)
    to_device = acl.ACL_MEMCPY_HOST_TO_DEVICE
    assert acl.rt.memcpy(device_memory, NBYTES, source, NBYTES, to_device) == 0
    back = acl.ACL_MEMCPY_DEVICE_TO_HOST
    assert acl.rt.memcpy(host_memory, NBYTES, device_memory, NBYTES, back) == 0
    np.testing.assert_array_equal(floats_of(host_memory), np.arange(16))


def test_asynchronous_copies_and_fills_keep_the_order_of_their_stream(
    device_memory, host_memory, raw_stream
):
    back = acl.ACL_MEMCPY_DEVICE_TO_HOST
    assert acl.rt.memset_async(device_memory, NBYTES, 7, NBYTES, raw_stream) == 0
    ret = acl.rt.memcpy_async(host_memory, NBYTES, device_memory, NBYTES, back, raw_stream)
    assert ret == 0
    assert acl.rt.synchronize_stream(raw_stream) == 0
    assert acl.util.ptr_to_bytes(host_memory, NBYTES) == b"\x07" * NBYTES
    assert acl.rt.memset(device_memory, NBYTES, 1, NBYTES) == 0


def test_rows_of_a_matrix_are_copied(device_memory):
    matrix = np.arange(16, dtype=np.uint8).reshape(4, 4)
    address = acl.util.numpy_to_ptr(matrix)
    assert acl.rt.memset(device_memory, NBYTES, 0, NBYTES) == 0
    to_device = acl.ACL_MEMCPY_HOST_TO_DEVICE
    assert acl.rt.memcpy2d(device_memory, 8, address, 4, 2, 4, to_device) == 0
    out = np.zeros((4, 2), np.uint8)
    back = acl.ACL_MEMCPY_DEVICE_TO_HOST
    there = acl.util.numpy_to_ptr(out)
    assert acl.rt.memcpy2d(there, 2, device_memory, 8, 2, 4, back) == 0
    np.testing.assert_array_equal(out, matrix[:, :2])


def test_kinds_of_memory(device):
    address, ret = acl.rt.malloc(100, acl.ACL_MEM_MALLOC_NORMAL_ONLY)
    assert ret == 0 and address % 64 == 0
    assert acl.rt.mem_flush(address, 64) == 0
    assert acl.rt.mem_invalidate(address, 64) == 0
    assert acl.rt.free(address) == 0
    free, total, ret = acl.rt.get_mem_info(acl.ACL_HBM_MEM)
    assert ret == 0 and 0 < free <= total


def test_what_an_address_is(device_memory):
    attributes, ret = acl.rt.pointer_get_attributes(device_memory)
    assert ret == 0
    assert attributes["location"] == {"id": 0, "type": acl.ACL_MEM_LOCATION_TYPE_DEVICE}


def test_virtual_memory_is_reserved_mapped_and_given_back(device):
    prop = {
        "handle_type": acl.ACL_MEM_HANDLE_TYPE_NONE,
        "allocation_type": acl.ACL_MEM_ALLOCATION_TYPE_PINNED,
        "mem_attr": acl.ACL_HBM_MEM_HUGE,
        "location": {"id": 0, "type": acl.ACL_MEM_LOCATION_TYPE_DEVICE},
    }
    size, ret = acl.rt.mem_get_allocation_granularity(prop, 0)
    assert ret == 0 and size > 0
    address, ret = acl.rt.reserve_mem_address(size, 0, 0, 1)
    assert ret == 0
    handle, ret = acl.rt.malloc_physical(size, prop, 0)
    assert ret == 0
    assert acl.rt.map_mem(address, size, 0, handle, 0) == 0
    assert acl.rt.memset(address, size, 3, size) == 0
    assert acl.rt.unmap_mem(address) == 0
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.release_mem_address(address) == 0


def test_contexts(device):
    outer, ret = acl.rt.get_context()
    assert ret == 0
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    assert acl.rt.get_context() == (context, 0)
    stream, ret = acl.rt.ctx_get_current_default_stream()
    assert ret == 0 and stream != 0
    active, flags, ret = acl.rt.get_primary_ctx_state(0)
    assert ret == 0 and active == 1 and flags == 0
    assert acl.rt.set_context(outer) == 0
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.destroy_context(context) == NOT_A_LIVE_OBJECT


def test_streams(unchecked, device):
    stream, ret = acl.rt.create_stream_with_config(0, acl.ACL_STREAM_FAST_LAUNCH)
    assert ret == 0
    assert acl.rt.stream_query(stream) == (acl.ACL_STREAM_STATUS_COMPLETE, 0)
    number, ret = acl.rt.stream_get_id(stream)
    assert ret == 0 and number >= 0
    assert acl.rt.stream_get_flags(stream) == (acl.ACL_STREAM_FAST_LAUNCH, 0)
    assert acl.rt.synchronize_stream_with_timeout(stream, 1000) == 0
    assert acl.rt.stream_abort(stream) == 0
    assert acl.rt.destroy_stream_force(stream) == 0
    assert acl.rt.destroy_stream(stream) == NOT_A_LIVE_OBJECT
    assert "not a live stream" in acl.get_recent_err_msg()


def test_streams_that_stop_on_a_failure_have_a_context_of_their_own(unchecked, device):
    outer, ret = acl.rt.get_context()
    assert ret == 0
    # One such stream makes all streams of its context stop with it.
    context, ret = acl.rt.create_context(0)
    assert ret == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.set_stream_failure_mode(stream, acl.ACL_STOP_ON_FAILURE) == 0
    assert acl.rt.set_stream_failure_mode(stream, acl.ACL_STOP_ON_FAILURE) == PARAM_INVALID
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.set_context(outer) == 0
    assert acl.rt.destroy_context(context) == 0


def test_events_order_streams_and_measure_time(unchecked, raw_stream, device_memory):
    other, ret = acl.rt.create_stream()
    flag = acl.ACL_EVENT_TIME_LINE | acl.ACL_EVENT_SYNC
    begin, ret = acl.rt.create_event_with_flag(flag)
    assert ret == 0
    end, ret = acl.rt.create_event()
    assert ret == 0
    assert acl.rt.query_event_status(end) == (acl.ACL_EVENT_RECORDED_STATUS_COMPLETE, 0)
    assert acl.rt.record_event(begin, raw_stream) == 0
    assert acl.rt.memset_async(device_memory, NBYTES, 7, NBYTES, raw_stream) == 0
    assert acl.rt.record_event(end, raw_stream) == 0
    assert acl.rt.stream_wait_event(other, end) == 0
    assert acl.rt.synchronize_event(end) == 0
    assert acl.rt.synchronize_stream(other) == 0
    elapsed, ret = acl.rt.event_elapsed_time(begin, end)
    assert ret == 0 and elapsed >= 0.0
    first, ret = acl.rt.event_get_timestamp(begin)
    assert ret == 0
    last, ret = acl.rt.event_get_timestamp(end)
    assert ret == 0 and last >= first
    assert acl.rt.query_event(end) == (acl.ACL_EVENT_STATUS_COMPLETE, 0)
    assert acl.rt.query_event_wait_status(end) == (acl.ACL_EVENT_WAIT_STATUS_COMPLETE, 0)
    assert acl.rt.reset_event(end, raw_stream) == 0
    assert acl.rt.synchronize_stream(raw_stream) == 0
    for event in (begin, end):
        assert acl.rt.destroy_event(event) == 0
    assert acl.rt.destroy_event(end) == NOT_A_LIVE_OBJECT
    assert acl.rt.destroy_stream(other) == 0


def test_an_event_that_is_used_again(raw_stream):
    event, ret = acl.rt.create_event_ex_with_flag(acl.ACL_EVENT_SYNC)
    assert ret == 0
    for _ in range(3):
        assert acl.rt.record_event(event, raw_stream) == 0
    assert acl.rt.synchronize_event_with_timeout(event, 1000) == 0
    assert acl.rt.destroy_event(event) == 0


def test_notifies(raw_stream):
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    number, ret = acl.rt.get_notify_id(notify)
    assert ret == 0 and number >= 0
    assert acl.rt.record_notify(notify, raw_stream) == 0
    assert acl.rt.wait_and_reset_notify(notify, raw_stream, 0) == 0
    assert acl.rt.synchronize_stream(raw_stream) == 0
    assert acl.rt.notify_batch_reset([notify]) == 0
    assert acl.rt.destroy_notify(notify) == 0


def test_limits_and_modes(device, raw_stream):
    mode, ret = acl.rt.get_device_sat_mode()
    assert ret == 0
    assert acl.rt.set_device_sat_mode(mode) == 0
    assert acl.rt.set_stream_overflow_switch(raw_stream, 1) == 0
    assert acl.rt.get_stream_overflow_switch(raw_stream) == (1, 0)
    assert acl.rt.set_op_wait_timeout(0) == 0
    value, ret = acl.rt.get_sys_param_opt(acl.ACL_OPT_DETERMINISTIC)
    assert ret == 0
    assert acl.rt.set_sys_param_opt(acl.ACL_OPT_DETERMINISTIC, value) == 0
    utilization, ret = acl.rt.get_device_utilization_rate(0)
    assert ret == 0 and set(utilization) >= {"cube_utilization", "vector_utilization"}
    assert acl.rt.query_device_status(0) == (acl.ACL_RT_DEVICE_STATUS_NORMAL, 0)
    cores, ret = acl.rt.get_device_info(0, acl.ACL_DEV_ATTR_CUBE_CORE_NUM)
    assert ret == 0 and cores > 0


def test_the_last_error_of_a_thread_is_kept_until_it_is_taken(device):
    acl.rt.get_last_error(acl.ACL_RT_THREAD_LEVEL)
    assert acl.rt.free(0x10) == PARAM_INVALID
    assert acl.rt.peek_at_last_error(acl.ACL_RT_THREAD_LEVEL) == PARAM_INVALID
    assert acl.rt.get_last_error(acl.ACL_RT_THREAD_LEVEL) == PARAM_INVALID
    assert acl.rt.get_last_error(acl.ACL_RT_THREAD_LEVEL) == 0


# Mistakes: a status where CANN documents one, an exception that names the argument otherwise.


@pytest.mark.parametrize(
    "call",
    [
        lambda p: acl.rt.malloc(0, 0)[1],
        lambda p: acl.rt.free(0),
        lambda p: acl.rt.memcpy(0, NBYTES, p, NBYTES, acl.ACL_MEMCPY_DEVICE_TO_HOST),
    ],
)
def test_null_and_nothing_are_refused_by_the_library(device_memory, call):
    assert call(device_memory) == INVALID_PARAM


@pytest.mark.parametrize(
    "call",
    [
        acl.rt.synchronize_stream,
        acl.rt.destroy_stream,
        acl.rt.destroy_event,
        acl.rt.destroy_context,
        acl.rt.destroy_notify,
        acl.rt.free_physical,
        lambda handle: acl.rt.record_event(handle, 0),
        lambda handle: acl.rt.stream_query(handle)[1],
    ],
)
def test_a_number_that_is_no_handle_gets_the_documented_status(device, call):
    assert call(0x1234) == NOT_A_LIVE_OBJECT


def test_memory_is_freed_once(unchecked, device):
    address, ret = acl.rt.malloc(NBYTES, 0)
    assert ret == 0
    assert acl.rt.free(address) == 0
    assert acl.rt.free(address) == PARAM_INVALID
    assert acl.rt.memset(address, NBYTES, 0, NBYTES) == PARAM_INVALID


@pytest.mark.emulator_only(reason="only there all memory is mapped on the host")
@pytest.mark.parametrize("place", ["dst", "src"])
def test_an_address_without_memory_is_a_status_and_no_crash(device_memory, place):
    kind = acl.ACL_MEMCPY_HOST_TO_DEVICE
    nowhere = 0x10
    dst, src = (nowhere, device_memory) if place == "dst" else (device_memory, nowhere)
    assert acl.rt.memcpy(dst, NBYTES, src, NBYTES, kind) == PARAM_INVALID
    assert acl.get_recent_err_msg().startswith(f"acl.rt.memcpy: {place} is 0x10")
    assert acl.rt.memcpy_async(dst, NBYTES, src, NBYTES, kind, 0) == PARAM_INVALID
    assert acl.rt.memcpy2d(dst, 8, src, 8, 8, 8, kind) == PARAM_INVALID


def test_a_copy_into_less_memory_is_refused(device_memory, host_memory):
    kind = acl.ACL_MEMCPY_DEVICE_TO_HOST
    assert acl.rt.memcpy(host_memory, 8, device_memory, NBYTES, kind) == PARAM_INVALID


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: acl.rt.malloc("64", 0), "size: expected an integer"),
        (lambda: acl.rt.malloc(64.0, 0), "size: expected an integer"),
        (lambda: acl.rt.synchronize_stream(None), "stream: .*0 stands for null"),
        (lambda: acl.rt.malloc(64), r"acl.rt.malloc\(\) takes 2 arguments \(size, policy\), got 1"),
        (lambda: acl.rt.create_stream(1), r"acl.rt.create_stream\(\) takes no argument, got 1"),
        (lambda: acl.rt.ipc_mem_close(7), "key: expected a str"),
        (lambda: acl.rt.notify_batch_reset(7), "notifies: expected a list"),
        (lambda: acl.rt.notify_batch_reset(["a"]), r"notifies\[0\]: expected an integer"),
        (lambda: acl.rt.malloc_physical(1, 0, 0), "prop: expected a dict"),
        (lambda: acl.rt.malloc_with_cfg(1, 0, 0x1234), "cfg: expected a dict"),
        (lambda: acl.rt.malloc_with_cfg(1, 0, {"attrs": 3}), "cfg.attrs: expected a list of"),
        (lambda: acl.rt.launch_callback(3, [], 0, 0), "fn: expected a function"),
    ],
)
def test_a_wrong_type_names_the_argument(device, call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: acl.rt.malloc(-1, 0), "size: -1 is not within 0 to 18446744073709551615"),
        (lambda: acl.rt.set_device(2**31), "device_id: 2147483648 is not within"),
        (lambda: acl.rt.free(2**64), "dev_ptr: .* is not within"),
        (lambda: acl.rt.ipc_mem_close("a\0b"), "key: .*null character"),
        (lambda: acl.rt.malloc_physical(1, {"size": 3}, 0), "no member 'size'; there are"),
        (
            lambda: acl.rt.malloc_with_cfg(1, 0, {"attrs": [], "numAttrs": 2}),
            "cfg.num_attrs: 2 says more than the list of 0 has",
        ),
        (
            lambda: acl.rt.get_task_id_from_exception_info(0x1234),
            "info is 0x1234, where no 1 bytes of memory are",
        ),
    ],
)
def test_a_number_that_does_not_fit_names_the_argument(device, call, text):
    with pytest.raises(errors.InvalidArgumentError, match=text):
        call()


def test_an_unknown_name_suggests_close_ones():
    with pytest.raises(AttributeError, match=r"no function acl\.rt\.mallok; did you mean malloc"):
        _ = acl.rt.mallok
