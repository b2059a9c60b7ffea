# SPDX-License-Identifier: Apache-2.0
"""Copy data from the host to the device and back, as pyACL's scripts do.

Run:  python samples/17_pyacl_memory.py

With `import acl` in place of `from aclnn_py import acl` the script uses whatever pyACL is
installed. docs/pyacl.md lists the functions.
Last line: "ok".
"""

from __future__ import annotations

import numpy as np

from aclnn_py import acl


def check(ret: int, what: str) -> None:
    """Every call returns a status; 0 is success."""
    if ret:
        raise RuntimeError(f"{what} gives {ret}: {acl.get_recent_err_msg()}")


check(acl.init(), "init")
check(acl.rt.set_device(0), "set_device")
print(acl.get_soc_name())

values = np.linspace(-1, 1, 1 << 16, dtype=np.float32)
nbytes = values.nbytes

# Device memory is an address, an integer.
first, ret = acl.rt.malloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
check(ret, "malloc")
second, ret = acl.rt.malloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
check(ret, "malloc")

# Up: from ordinary memory. `content` has to live until the copy is done.
content = values.tobytes()
source = acl.util.bytes_to_ptr(content)
check(acl.rt.memcpy(first, nbytes, source, nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE), "memcpy")

# Across: on the device, in the order of a stream.
stream, ret = acl.rt.create_stream()
check(ret, "create_stream")
kind = acl.ACL_MEMCPY_DEVICE_TO_DEVICE
check(acl.rt.memcpy_async(second, nbytes, first, nbytes, kind, stream), "memcpy_async")

# Down: to pinned memory, so that the copy does not hold up the host.
pinned, ret = acl.rt.malloc_host(nbytes)
check(ret, "malloc_host")
kind = acl.ACL_MEMCPY_DEVICE_TO_HOST
check(acl.rt.memcpy_async(pinned, nbytes, second, nbytes, kind, stream), "memcpy_async")
check(acl.rt.synchronize_stream(stream), "synchronize_stream")
result = np.frombuffer(acl.util.ptr_to_bytes(pinned, nbytes), np.float32)
np.testing.assert_array_equal(result, values)

# A mistake is a status with a sentence, not a crash.
assert acl.rt.free(first) == 0
assert acl.rt.free(first) != 0
print("freed twice:", acl.get_recent_err_msg())

check(acl.rt.free(second), "free")
check(acl.rt.free_host(pinned), "free_host")
check(acl.rt.destroy_stream(stream), "destroy_stream")
check(acl.rt.reset_device(0), "reset_device")
check(acl.finalize(), "finalize")
print("ok")
