# SPDX-License-Identifier: Apache-2.0
"""Let two streams and a Python function take turns, as pyACL's scripts do.

Run:  python samples/19_pyacl_streams.py

With `import acl` in place of `from aclnn_py import acl` the script uses whatever pyACL is
installed. docs/pyacl.md lists the functions.
Last line: "ok".
"""

from __future__ import annotations

import threading

import numpy as np

from aclnn_py import acl

NBYTES = 1 << 20


def check(ret: int, what: str) -> None:
    """Every call returns a status; 0 is success."""
    if ret:
        raise RuntimeError(f"{what} gives {ret}: {acl.get_recent_err_msg()}")


check(acl.init(), "init")
check(acl.rt.set_device(0), "set_device")
context, ret = acl.rt.get_context()
check(ret, "get_context")
print(acl.get_soc_name())

producer, ret = acl.rt.create_stream()
check(ret, "create_stream")
consumer, ret = acl.rt.create_stream()
check(ret, "create_stream")
memory, ret = acl.rt.malloc(NBYTES, acl.ACL_MEM_MALLOC_HUGE_FIRST)
check(ret, "malloc")
pinned, ret = acl.rt.malloc_host(NBYTES)
check(ret, "malloc_host")

# A thread of the program runs the functions that are queued on a stream. It has no context of its
# own, and it asks for work until it is told to end.
ended = threading.Event()


def serve(arguments: list[int]) -> None:
    """Run callbacks; `arguments` is the list that start_thread was given."""
    check(acl.rt.set_context(arguments[0]), "set_context")
    while not ended.is_set():
        acl.rt.process_report(20)


server, ret = acl.util.start_thread(serve, [context])
check(ret, "start_thread")
check(acl.rt.subscribe_report(server, consumer), "subscribe_report")

seen: list[int] = []


def look(arguments: list[int]) -> None:
    """Note the values of the copy; later work of the stream waits for it."""
    copy = np.frombuffer(acl.util.ptr_to_bytes(arguments[0], NBYTES), np.uint8)
    assert (copy == copy[0]).all()
    seen.append(int(copy[0]))


flags = acl.ACL_EVENT_SYNC | acl.ACL_EVENT_TIME_LINE
filled, ret = acl.rt.create_event_ex_with_flag(flags)
check(ret, "create_event_ex_with_flag")
read, ret = acl.rt.create_event_ex_with_flag(flags)
check(ret, "create_event_ex_with_flag")
begin, ret = acl.rt.create_event_with_flag(acl.ACL_EVENT_TIME_LINE)
check(ret, "create_event_with_flag")
end, ret = acl.rt.create_event_with_flag(acl.ACL_EVENT_TIME_LINE)
check(ret, "create_event_with_flag")

check(acl.rt.record_event(begin, producer), "record_event")
for value in range(1, 6):
    # The producer fills the memory; the consumer copies it and shows it to `look`; only then may
    # the producer fill it again.
    check(acl.rt.memset_async(memory, NBYTES, value, NBYTES, producer), "memset_async")
    check(acl.rt.record_event(filled, producer), "record_event")
    check(acl.rt.stream_wait_event(consumer, filled), "stream_wait_event")
    kind = acl.ACL_MEMCPY_DEVICE_TO_HOST
    check(acl.rt.memcpy_async(pinned, NBYTES, memory, NBYTES, kind, consumer), "memcpy_async")
    check(acl.rt.launch_callback(look, [pinned], acl.ACL_CALLBACK_BLOCK, consumer), "callback")
    check(acl.rt.record_event(read, consumer), "record_event")
    check(acl.rt.stream_wait_event(producer, read), "stream_wait_event")
check(acl.rt.record_event(end, producer), "record_event")
check(acl.rt.synchronize_event(end), "synchronize_event")
check(acl.rt.synchronize_stream(consumer), "synchronize_stream")
milliseconds, ret = acl.rt.event_elapsed_time(begin, end)
check(ret, "event_elapsed_time")
print(f"five rounds took {milliseconds:.2f} ms; the function saw {seen}")
assert seen == [1, 2, 3, 4, 5]

check(acl.rt.unsubscribe_report(server, consumer), "unsubscribe_report")
ended.set()
check(acl.util.stop_thread(server), "stop_thread")
for event in (filled, read, begin, end):
    check(acl.rt.destroy_event(event), "destroy_event")
for stream in (producer, consumer):
    check(acl.rt.destroy_stream(stream), "destroy_stream")
check(acl.rt.free(memory), "free")
check(acl.rt.free_host(pinned), "free_host")
check(acl.rt.reset_device(0), "reset_device")
check(acl.finalize(), "finalize")
print("ok")
