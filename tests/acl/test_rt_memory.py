# SPDX-License-Identifier: Apache-2.0
"""Registered, shared and described memory, each group in a process of its own."""

from __future__ import annotations

from helpers.processes import run_script

HEAD = """
import os
import numpy as np
from aclnn_py import acl
assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
memory, ret = acl.rt.malloc(4096, acl.ACL_MEM_MALLOC_HUGE_FIRST)
host, ret = acl.rt.malloc_host(4096)

def floats(address, count):
    kind = acl.ACL_MEMCPY_DEVICE_TO_HOST
    assert acl.rt.memcpy(host, 4 * count, address, 4 * count, kind) == 0
    return np.frombuffer(acl.util.ptr_to_bytes(host, 4 * count), np.float32)

def put(address, values):
    content = np.asarray(values, np.float32).tobytes()
    kind, source = acl.ACL_MEMCPY_HOST_TO_DEVICE, acl.util.bytes_to_ptr(content)
    assert acl.rt.memcpy(address, len(content), source, len(content), kind) == 0
"""


def run(text: str) -> None:
    run_script(HEAD + text).check()


def test_other_ways_to_allocate():
    run(
        """
for address, ret in (acl.rt.malloc_align32(64, 0), acl.rt.malloc_cached(64, 0),
                     acl.rt.malloc_with_cfg(64, 0, {}),
                     acl.rt.malloc_for_task_scheduler(64, 0, {})):
    assert ret == 0 and address
    assert acl.rt.free_with_dev_sync(address) == 0
module = {"attr": acl.ACL_RT_MEM_ATTR_MODULE_ID, "value": {"module_id": 33}}
address, ret = acl.rt.malloc_host_with_cfg(64, {"attrs": [module]})
assert ret == 0 and address
assert acl.rt.free_host_with_dev_sync(address) == 0
"""
    )


def test_memory_of_the_program_is_registered():
    run(
        """
pages = np.zeros(3 * 4096, np.uint8)
page = (acl.util.numpy_to_ptr(pages) + 4095) // 4096 * 4096
mapped, ret = acl.rt.host_register(page, 4096, acl.ACL_HOST_REGISTER_MAPPED)
assert ret == 0
assert acl.rt.host_get_device_pointer(page, 0) == (mapped, 0)
assert acl.rt.host_unregister(page) == 0
assert acl.rt.host_register_v2(page, 4096, 0) == 0
assert acl.rt.host_unregister(page) == 0
assert acl.rt.host_unregister(page) != 0
"""
    )


def test_copies_with_descriptions_sums_and_signals():
    run(
        """
put(memory, np.arange(16))
put(memory + 1024, np.full(16, 100))
size, ret = acl.rt.get_memcpy_desc_size(acl.ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
assert ret == 0
desc, ret = acl.rt.malloc(size, 0)
inner = acl.ACL_MEMCPY_INNER_DEVICE_TO_DEVICE
assert acl.rt.set_memcpy_desc(desc, inner, memory, memory + 2048, 64, 0) == 0
assert acl.rt.memcpy_async_with_desc(desc, inner, stream) == 0
add = acl.ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM
assert acl.rt.reduce_async(memory + 1024, memory, 64, add, acl.ACL_FLOAT, stream, 0) == 0
assert acl.rt.value_write(memory + 3072, 7, 0, stream) == 0
assert acl.rt.value_wait(memory + 3072, 7, 0, stream) == 0
assert acl.rt.cmo_async(memory, 64, acl.ACL_RT_CMO_TYPE_PREFETCH, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert (floats(memory + 2048, 16) == np.arange(16)).all()
assert (floats(memory + 1024, 16) == np.arange(16) + 100).all()
kind = acl.ACL_MEMCPY_DEVICE_TO_HOST
assert acl.rt.memcpy_async_with_condition(host, 64, memory, 64, kind, stream) == 0
assert acl.rt.memcpy2d_async(host + 64, 8, memory, 16, 8, 2, kind, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
seen = np.frombuffer(acl.util.ptr_to_bytes(host, 80), np.float32)
assert seen.tolist() == [*range(16), 0, 1, 4, 5]
assert acl.rt.free(desc) == 0
"""
    )


def test_keys_share_memory_and_notifies():
    run(
        """
put(memory, [1, 2, 3])
key, ret = acl.rt.ipc_mem_get_export_key(memory, 4096, 65, 0)
assert ret == 0 and len(key) < 65
assert acl.rt.ipc_mem_set_import_pid(key, [os.getpid()]) == 0
shared, ret = acl.rt.ipc_mem_import_by_key(key, 0)
assert ret == 0
assert floats(shared, 3).tolist() == [1, 2, 3]
assert acl.rt.ipc_mem_close(key) == 0
assert acl.rt.ipc_mem_import_by_key("no such key", 0)[1] != 0

notify, ret = acl.rt.create_notify(0)
key, ret = acl.rt.notify_get_export_key(notify, 65, 0)
assert ret == 0 and key
assert acl.rt.notify_set_import_pid(notify, [os.getpid()]) == 0
other, ret = acl.rt.notify_import_by_key(key, 0)
assert ret == 0
assert acl.rt.record_notify(other, 0) == 0
assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.destroy_notify(other) == 0 and acl.rt.destroy_notify(notify) == 0
"""
    )


def test_physical_memory_is_exported_and_imported():
    run(
        """
prop = {"mem_attr": acl.ACL_HBM_MEM_HUGE,
        "location": {"id": 0, "type": acl.ACL_MEM_LOCATION_TYPE_DEVICE}}
size, ret = acl.rt.mem_get_allocation_granularity(prop, 0)
handle, ret = acl.rt.malloc_physical(size, prop, 0)
assert ret == 0
shareable, ret = acl.rt.mem_export_to_shareable_handle(handle, 0, 0)
assert ret == 0
assert acl.rt.mem_set_pid_to_shareable_handle(shareable, [os.getpid()]) == 0
other, ret = acl.rt.mem_import_from_shareable_handle(shareable, 0)
assert ret == 0
assert acl.rt.free_physical(other) == 0 and acl.rt.free_physical(handle) == 0
"""
    )
