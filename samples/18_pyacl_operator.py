# SPDX-License-Identifier: Apache-2.0
"""Plan and run one operator from handles and addresses, as pyACL's scripts do.

Run:  python samples/18_pyacl_operator.py

The operators of `acl.op` and `acl.create_tensor` are additions of this package to pyACL.
docs/pyacl.md lists the functions.
Last line: "ok".
"""

from __future__ import annotations

import numpy as np

from aclnn_py import acl


def check(ret: int, what: str) -> None:
    """Every call returns a status; 0 is success."""
    if ret:
        raise RuntimeError(f"{what} gives {ret}: {acl.get_recent_err_msg()}")


def to_device(array: np.ndarray) -> int:
    """Copy an array into new device memory."""
    address, ret = acl.rt.malloc(array.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret, "malloc")
    content = array.tobytes()
    source, kind = acl.util.bytes_to_ptr(content), acl.ACL_MEMCPY_HOST_TO_DEVICE
    check(acl.rt.memcpy(address, array.nbytes, source, array.nbytes, kind), "memcpy")
    return address


def tensor_of(address: int, shape: tuple[int, ...]) -> int:
    """Describe device memory as a contiguous float32 tensor."""
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    return acl.create_tensor(shape, acl.ACL_FLOAT, strides, 0, acl.ACL_FORMAT_ND, shape, address)


check(acl.init(), "init")
check(acl.rt.set_device(0), "set_device")
stream, ret = acl.rt.create_stream()
check(ret, "create_stream")
print(acl.get_soc_name())

rng = np.random.default_rng(1)
a = rng.standard_normal((64, 32), dtype=np.float32)
b = rng.standard_normal((32, 48), dtype=np.float32)
out = np.full((64, 48), np.nan, np.float32)

addresses = [to_device(array) for array in (a, b, out)]
tensors = [
    tensor_of(address, array.shape) for address, array in zip(addresses, (a, b, out), strict=True)
]

# Phase one checks the arguments and says how much workspace the operator needs. The last argument
# is cubeMathType; 0 keeps float32.
workspace_size, executor, ret = acl.op.aclnnMatmulGetWorkspaceSize(*tensors, 0)
check(ret, "aclnnMatmulGetWorkspaceSize")
workspace = 0
if workspace_size:
    workspace, ret = acl.rt.malloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret, "malloc")

# Phase two queues it on the stream.
check(acl.op.aclnnMatmul(workspace, workspace_size, executor, stream), "aclnnMatmul")
check(acl.rt.synchronize_stream(stream), "synchronize_stream")

there, kind = acl.util.numpy_to_ptr(out), acl.ACL_MEMCPY_DEVICE_TO_HOST
check(acl.rt.memcpy(there, out.nbytes, addresses[2], out.nbytes, kind), "memcpy")
np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)

# Shapes that do not fit are refused by phase one, with the reason.
*_, ret = acl.op.aclnnMatmulGetWorkspaceSize(tensors[0], tensors[0], tensors[2], 0)
assert ret == acl.ACLNN_ERR_PARAM_INVALID
print("refused:", acl.get_recent_err_msg().splitlines()[0])

for tensor in tensors:
    check(acl.destroy_tensor(tensor), "destroy_tensor")
for address in filter(None, (*addresses, workspace)):
    check(acl.rt.free(address), "free")
check(acl.rt.destroy_stream(stream), "destroy_stream")
check(acl.rt.reset_device(0), "reset_device")
check(acl.finalize(), "finalize")
print("ok")
