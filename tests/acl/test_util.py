# SPDX-License-Identifier: Apache-2.0
"""Addresses of Python's objects."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py import acl, errors

FLOAT32, FLOAT16, INT32 = 11, 23, 5  # NumPy's numbers


def test_bytes_have_an_address_and_come_back():
    data = bytes(range(100))
    assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(data), 100) == data
    assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(data) + 10, 5) == data[10:15]


@pytest.mark.parametrize(
    ("number", "dtype"), [(FLOAT32, np.float32), (FLOAT16, np.float16), (INT32, np.int32)]
)
def test_an_array_over_memory_shares_it(number, dtype):
    data = np.arange(6, dtype=dtype)
    view = acl.util.ptr_to_numpy(acl.util.numpy_to_ptr(data), (2, 3), number)
    assert view.dtype == dtype
    np.testing.assert_array_equal(view, data.reshape(2, 3))
    data[0] = 9
    assert view[0, 0] == 9


def test_an_array_with_gaps_is_warned_about_or_copied():
    data = np.arange(12, dtype=np.int32).reshape(3, 4)[:, ::2]
    with pytest.warns(RuntimeWarning, match="numpy_contiguous_to_ptr"):
        acl.util.numpy_to_ptr(data)
    address, copy = acl.util.numpy_contiguous_to_ptr(data)
    assert address == acl.util.numpy_to_ptr(copy)
    np.testing.assert_array_equal(acl.util.ptr_to_numpy(address, (3, 2), INT32), data)


def test_a_contiguous_array_is_not_copied():
    data = np.arange(4)
    address, same = acl.util.numpy_contiguous_to_ptr(data)
    assert address == acl.util.numpy_to_ptr(data)
    assert np.shares_memory(same, data)


def test_memory_that_python_cannot_read_is_refused(device):
    with pytest.raises(errors.InvalidArgumentError, match=r"ptr: 8 bytes at 0x10 cannot be read"):
        acl.util.ptr_to_bytes(0x10, 8)
    with pytest.raises(errors.InvalidArgumentError, match="ptr: 24 bytes at 0x10"):
        acl.util.ptr_to_numpy(0x10, (2, 3), INT32)
    with pytest.raises(errors.InvalidArgumentError, match="ptr: 0 is not within"):
        acl.util.ptr_to_bytes(0, 8)


@pytest.mark.emulator_only(reason="memory of an NPU is not mapped at all")
def test_memory_of_a_device_is_refused_as_an_npu_would(device):
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    with pytest.raises(errors.InvalidArgumentError, match="is memory of a device"):
        acl.util.ptr_to_bytes(address, 64)
    assert acl.rt.free(address) == 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: acl.util.bytes_to_ptr("text"), "bytes_data: expected bytes, got str"),
        (lambda: acl.util.numpy_to_ptr([1, 2]), "data: expected a NumPy array, got list"),
        (lambda: acl.util.ptr_to_bytes("a", 1), "ptr: expected an integer"),
        (lambda: acl.util.ptr_to_numpy(64, 3, INT32), "shape: expected a tuple"),
        (lambda: acl.util.start_thread(3, []), "thr_func: expected a function"),
    ],
)
def test_a_wrong_type_names_the_argument(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_a_dtype_of_objects_is_refused():
    data = np.zeros(4)
    with pytest.raises(errors.InvalidArgumentError, match="type: 17"):
        acl.util.ptr_to_numpy(acl.util.numpy_to_ptr(data), (4,), 17)


def test_a_thread_runs_a_function_and_is_waited_for():
    seen = []
    number, ret = acl.util.start_thread(seen.extend, [1, 2])
    assert ret == 0 and number > 0
    assert acl.util.stop_thread(number) == 0
    assert seen == [1, 2]
    assert acl.util.stop_thread(number) != 0, "it was waited for already"


def test_scripts_ask_with_dir_what_there_is():
    assert "ptr_to_bytes" in dir(acl.util)
    assert "malloc" in dir(acl.rt)
    assert "init" in dir(acl)
    assert "load_from_file" in dir(acl.mdl)
