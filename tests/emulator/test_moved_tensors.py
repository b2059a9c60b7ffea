# SPDX-License-Identifier: Apache-2.0
"""aclSetRawTensorAddr on a tensor that a repeatable executor was made from."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py.emulator import library_path

pytestmark = pytest.mark.emulator_only(reason="calls the emulator beside the binding")

FLOAT, ND = 0, 2
POINTER = ctypes.c_void_p


@functools.cache
def library() -> ctypes.CDLL:
    """The emulator as a C program sees it."""
    loaded = ctypes.CDLL(str(library_path()))
    loaded.aclCreateTensor.restype = POINTER
    loaded.aclDestroyTensor.argtypes = [POINTER]
    loaded.aclDestroyAclOpExecutor.argtypes = [POINTER]
    return loaded


def tensor_of(array: ap.Tensor) -> Any:
    """A C tensor over the memory of an array of four floats."""
    four = (ctypes.c_int64 * 1)(4)
    made = library().aclCreateTensor(
        four, ctypes.c_uint64(1), FLOAT, None, ctypes.c_int64(0), ND, four, ctypes.c_uint64(1),
        POINTER(array.address),
    )  # fmt: skip
    assert made
    return POINTER(made)


def test_the_next_run_uses_the_new_address(device: ap.Device) -> None:
    first, second = (ap.from_numpy(np.arange(4, dtype=np.float32) + i) for i in (1, 10))
    result, other = ap.zeros((4,), np.float32), ap.zeros((4,), np.float32)
    lib, x, out = library(), tensor_of(first), tensor_of(result)
    size, executor = ctypes.c_uint64(), POINTER()
    assert lib.aclnnNegGetWorkspaceSize(x, out, ctypes.byref(size), ctypes.byref(executor)) == 0
    assert lib.aclSetAclOpExecutorRepeatable(executor) == 0

    def run() -> None:
        assert lib.aclnnNeg(None, size, executor, None) == 0
        assert lib.aclrtSynchronizeStream(None) == 0

    with device:
        run()
        np.testing.assert_array_equal(result.numpy(), -first.numpy())
        assert lib.aclSetRawTensorAddr(x, POINTER(second.address)) == 0
        run()
        np.testing.assert_array_equal(result.numpy(), -second.numpy())
        assert lib.aclSetRawTensorAddr(out, POINTER(other.address)) == 0
        assert lib.aclSetRawTensorAddr(x, POINTER(first.address)) == 0
        run()
        np.testing.assert_array_equal(other.numpy(), -first.numpy())
        np.testing.assert_array_equal(result.numpy(), -second.numpy())
    assert lib.aclDestroyAclOpExecutor(executor) == 0
    for handle in (x, out):
        assert lib.aclDestroyTensor(handle) == 0
