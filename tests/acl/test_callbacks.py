# SPDX-License-Identifier: Apache-2.0
"""Python functions in the order of a stream, and reports of faults."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from helpers.processes import run_script

from aclnn_py import acl

NO_CALLBACK_THREAD = 107015
BLOCK, NO_BLOCK = 1, 0


class Server:
    """A thread that serves a stream's callbacks until it is told to end."""

    def __init__(self) -> None:
        self.context, ret = acl.rt.get_context()
        assert ret == 0
        self.ended = threading.Event()
        self.number, ret = acl.util.start_thread(self.serve, [20])
        assert ret == 0

    def serve(self, arguments: list[int]) -> None:
        assert acl.rt.set_context(self.context) == 0
        while not self.ended.is_set():
            acl.rt.process_report(arguments[0])


@pytest.fixture
def served(device) -> Iterator[int]:
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    server = Server()
    assert acl.rt.subscribe_report(server.number, stream) == 0
    yield stream
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.unsubscribe_report(server.number, stream) == 0
    server.ended.set()
    assert acl.util.stop_thread(server.number) == 0
    assert acl.rt.destroy_stream(stream) == 0


def test_functions_run_in_order_on_the_thread_that_serves(served):
    seen: list[object] = []

    def note(arguments):
        seen.append((threading.get_ident(), *arguments))

    for i in range(5):
        assert acl.rt.launch_callback(note, [i, "text"], BLOCK, served) == 0
    assert acl.rt.synchronize_stream(served) == 0
    assert [item[1:] for item in seen] == [(i, "text") for i in range(5)]
    assert {item[0] for item in seen}.isdisjoint({threading.get_ident()})


def test_later_work_waits_for_a_function_that_blocks(served):
    memory, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    host, ret = acl.rt.malloc_host(64)
    assert ret == 0
    assert acl.rt.memset(memory, 64, 1, 64) == 0
    seen = []

    def look(arguments):
        acl.rt.memcpy(host, 64, memory, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST)
        seen.append(acl.util.ptr_to_bytes(host, 64))

    assert acl.rt.launch_callback(look, [], BLOCK, served) == 0
    assert acl.rt.memset_async(memory, 64, 2, 64, served) == 0
    assert acl.rt.synchronize_stream(served) == 0
    look([])
    assert seen == [b"\x01" * 64, b"\x02" * 64]
    assert acl.rt.free(memory) == 0
    assert acl.rt.free_host(host) == 0


def test_a_stream_that_nobody_serves_gets_the_documented_status(device):
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.rt.launch_callback(print, [], NO_BLOCK, stream) == NO_CALLBACK_THREAD
    assert acl.rt.destroy_stream(stream) == 0


def test_an_exception_in_a_function_is_printed_and_work_goes_on():
    outcome = run_script(
        """
        import threading
        from aclnn_py import acl
        acl.init(), acl.rt.set_device(0)
        stream, ret = acl.rt.create_stream()
        ended = threading.Event()
        def serve(_):
            while not ended.is_set():
                acl.rt.process_report(20)
        number, ret = acl.util.start_thread(serve, [])
        assert acl.rt.subscribe_report(number, stream) == 0
        def fail(arguments):
            raise RuntimeError("out of luck")
        assert acl.rt.launch_callback(fail, [], 1, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.unsubscribe_report(number, stream) == 0
        ended.set()
        assert acl.util.stop_thread(number) == 0
        print("done")
        """
    ).check()
    assert "RuntimeError: out of luck" in outcome.err
    assert outcome.out.strip() == "done"


@pytest.mark.emulator_only(reason="an NPU need not notice that the memory is gone")
def test_a_fault_is_reported_to_the_function_that_was_set():
    run_script(
        """
        from aclnn_py import acl
        acl.init(), acl.rt.set_device(0)
        seen = []
        def hear(info):
            seen.append((acl.rt.get_error_code_from_exception_info(info),
                         acl.rt.get_device_id_from_exception_info(info),
                         acl.rt.get_stream_id_from_exception_info(info)))
            assert acl.rt.get_task_id_from_exception_info(info) >= 0
            assert acl.rt.get_thread_id_from_exception_info(info) > 0
        assert acl.rt.set_exception_info_callback(hear) == 0
        stream, ret = acl.rt.create_stream()
        other, ret = acl.rt.create_stream()
        gate, ret = acl.rt.create_notify(0)
        memory, ret = acl.rt.malloc(64, 0)
        assert acl.rt.wait_and_reset_notify(gate, stream, 0) == 0
        assert acl.rt.memset_async(memory, 64, 0, 64, stream) == 0
        assert acl.rt.free(memory) == 0  # before the work that uses it
        assert acl.rt.record_notify(gate, other) == 0
        status = acl.rt.synchronize_stream(stream)
        number, ret = acl.rt.stream_get_id(stream)
        assert seen == [(status, 0, number)] and status // 1000 == 507, (seen, status)
        assert acl.rt.set_exception_info_callback() == 0
        """
    ).check()
