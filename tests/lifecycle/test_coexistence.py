# SPDX-License-Identifier: Apache-2.0
"""Another library of the process, here ctypes in the place of pyACL, uses the same runtime."""

from __future__ import annotations

import pytest
from helpers.processes import run_script

pytestmark = pytest.mark.emulator_only(reason="opens the emulator's library by path")

OTHER = """
import ctypes
from aclnn_py.emulator import library_path
other = ctypes.CDLL(str(library_path()))
def call(name, *arguments):
    status = getattr(other, name)(*arguments)
    assert status == 0, (name, status)
"""


# A finalizer that was made first runs last: after the runtime's.
LAST = """
import weakref
class Sentinel: pass
sentinel = Sentinel()
weakref.finalize(sentinel, lambda: print("aclFinalize gives", other.aclFinalize()))
"""


def test_an_init_that_was_done_before_is_accepted_and_left_to_its_owner():
    outcome = run_script(
        OTHER
        + LAST
        + """
call("aclInit", None)
import aclnn_py as ap
from aclnn_py.runtime import initialization
tensor = ap.full(4, 5, "int32")
tensor.buffer.fill(5, stream=ap.current_stream())
assert tensor.numpy()[0] == 0x05050505
assert not initialization.ensure().owned
"""
    ).check()
    assert outcome.err == ""
    assert outcome.out.strip() == "aclFinalize gives 0"


def test_our_own_init_is_finalised_once_and_last():
    outcome = run_script(
        OTHER
        + LAST
        + """
import aclnn_py as ap
from aclnn_py.runtime import initialization
tensor = ap.zeros(4, "int32")
tensor.buffer.fill(5, stream=ap.current_stream())
assert initialization.ensure().owned
""",
        env={"ACLNN_PY_CHECK": "0"},  # the checker is loaded with the package, before the sentinel
    ).check()
    assert outcome.err == ""
    assert outcome.out.strip() == "aclFinalize gives 100037"


def test_integer_handles_of_the_other_library_wrap():
    run_script(
        OTHER
        + """
import numpy as np
call("aclInit", None)
call("aclrtSetDevice", 1)
stream, pointer = ctypes.c_void_p(), ctypes.c_void_p()
call("aclrtCreateStream", ctypes.byref(stream))
call("aclrtMalloc", ctypes.byref(pointer), ctypes.c_size_t(64), 0)

import aclnn_py as ap
assert ap.Device.current() is ap.Device(1)
theirs = ap.Buffer.from_address(pointer.value, 64)
queue = ap.Stream.wrap(stream.value)
tensor = ap.Tensor.wrap(theirs, (16,), "int32")
theirs.fill(0, stream=queue)
tensor.copy_from(np.arange(16, dtype=np.int32), stream=queue)
queue.synchronize()
host = (ctypes.c_int32 * 16)()
call("aclrtMemcpy", host, ctypes.c_size_t(64), pointer, ctypes.c_size_t(64), 2)
assert list(host) == list(range(16))
assert tensor.device is ap.Device(1)
queue.close()
tensor.close()
call("aclrtDestroyStream", stream)
call("aclrtFree", pointer)
"""
    ).check()


def test_a_finalise_by_the_other_library_is_an_error_not_a_crash():
    outcome = run_script(
        OTHER
        + """
import aclnn_py as ap
from aclnn_py import errors
tensor = ap.zeros(4, "int32")
call("aclrtResetDeviceForce", 0)
getattr(other, "aclFinalize")()
try:
    ap.zeros(4, "int32").numpy()
except errors.AclnnPyError as error:
    print(type(error).__name__)
""",
        flags=("-X", "faulthandler"),
    )
    assert outcome.status == 0, outcome.err
