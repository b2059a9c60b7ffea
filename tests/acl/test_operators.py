# SPDX-License-Identifier: Apache-2.0
"""Both phases of aclnn operators on handles."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest

from aclnn_py import acl, errors

NULL_PARAMETER, INVALID_PARAMETER = 161001, 161002


class Handles:
    """Makes objects of operators and destroys them in reverse order."""

    def __init__(self, exits: contextlib.ExitStack) -> None:
        self.exits = exits
        self.context, ret = acl.rt.get_context()
        assert ret == 0

    def later(self, function, *arguments):
        self.exits.callback(lambda: self.checked(function(*arguments)))

    @staticmethod
    def checked(ret: int) -> None:
        assert ret == 0, acl.get_recent_err_msg()

    def memory(self, nbytes: int) -> int:
        address, ret = acl.rt.malloc(nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert ret == 0
        self.later(acl.rt.free, address)
        return address

    def tensor(self, array: np.ndarray, data_type: int, strides=None) -> tuple[int, int]:
        address = self.memory(array.nbytes)
        content = array.tobytes()
        source = acl.util.bytes_to_ptr(content)
        kind = acl.ACL_MEMCPY_HOST_TO_DEVICE
        self.checked(acl.rt.memcpy(address, array.nbytes, source, array.nbytes, kind))
        shape = list(array.shape)
        handle = acl.create_tensor(shape, data_type, strides, 0, acl.ACL_FORMAT_ND, shape, address)
        assert handle != 0
        self.later(acl.destroy_tensor, handle)
        return handle, address


@pytest.fixture
def handles(device) -> Iterator[Handles]:
    with contextlib.ExitStack() as exits:
        yield Handles(exits)


def content_of(address: int, like: np.ndarray) -> np.ndarray:
    out = np.empty_like(like)
    kind = acl.ACL_MEMCPY_DEVICE_TO_HOST
    nbytes = like.nbytes
    assert acl.rt.memcpy(acl.util.numpy_to_ptr(out), nbytes, address, nbytes, kind) == 0
    return out


def test_a_sum_in_two_phases(handles):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.full((2, 3), 10, np.float32)
    first, _ = handles.tensor(x, acl.ACL_FLOAT)
    second, _ = handles.tensor(y, acl.ACL_FLOAT)
    out, address = handles.tensor(np.full((2, 3), -1, np.float32), acl.ACL_FLOAT)
    alpha = acl.create_scalar(2.0, acl.ACL_FLOAT)
    handles.later(acl.destroy_scalar, alpha)
    nbytes, executor, ret = acl.op.aclnnAddGetWorkspaceSize(first, second, alpha, out)
    assert ret == 0, acl.get_recent_err_msg()
    workspace = handles.memory(nbytes) if nbytes else 0
    assert acl.op.aclnnAdd(workspace, nbytes, executor, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    np.testing.assert_array_equal(content_of(address, x), x + 2 * y)


def test_lists_and_arrays_are_arguments(handles):
    parts = [np.full((2, 2), i, np.float32) for i in range(3)]
    made = []
    for part in parts:  # the list destroys its tensors
        address = handles.memory(part.nbytes)
        content = part.tobytes()
        source = acl.util.bytes_to_ptr(content)
        kind = acl.ACL_MEMCPY_HOST_TO_DEVICE
        assert acl.rt.memcpy(address, part.nbytes, source, part.nbytes, kind) == 0
        made.append(
            acl.create_tensor([2, 2], acl.ACL_FLOAT, [2, 1], 0, acl.ACL_FORMAT_ND, [2, 2], address)
        )
    tensors = acl.create_tensor_list(made)
    handles.later(acl.destroy_tensor_list, tensors)
    assert acl.get_tensor_list_size(tensors) == (3, 0)
    out, address = handles.tensor(np.full((6, 2), -1, np.float32), acl.ACL_FLOAT)
    nbytes, executor, ret = acl.op.aclnnCatGetWorkspaceSize(tensors, 0, out)
    assert ret == 0, acl.get_recent_err_msg()
    workspace = handles.memory(nbytes) if nbytes else 0
    assert acl.op.aclnnCat(workspace, nbytes, executor, 0) == 0
    assert acl.rt.synchronize_device() == 0
    np.testing.assert_array_equal(
        content_of(address, np.empty((6, 2), np.float32)), np.concatenate(parts)
    )


def test_an_executor_is_kept_and_given_other_addresses(handles):
    x = np.arange(4, dtype=np.float32)
    first, _ = handles.tensor(x, acl.ACL_FLOAT)
    out, address = handles.tensor(np.full(4, -1, np.float32), acl.ACL_FLOAT)
    nbytes, executor, ret = acl.op.aclnnNegGetWorkspaceSize(first, out)
    assert ret == 0
    assert acl.set_executor_repeatable(executor) == 0
    workspace = handles.memory(nbytes) if nbytes else 0
    assert acl.op.aclnnNeg(workspace, nbytes, executor, 0) == 0
    other = acl.create_tensor([4], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [4], address)
    handles.later(acl.destroy_tensor, other)
    assert acl.rt.synchronize_device() == 0
    assert acl.set_input_tensor_addr(executor, 0, first, address) == 0
    assert acl.op.aclnnNeg(workspace, nbytes, executor, 0) == 0
    assert acl.rt.synchronize_device() == 0
    np.testing.assert_array_equal(content_of(address, x), x)
    assert acl.destroy_executor(executor) == 0
    assert acl.destroy_executor(executor) != 0


def test_objects_say_what_they_hold(unchecked, handles):
    tensor, address = handles.tensor(np.zeros((2, 2), np.float16), acl.ACL_FLOAT16)
    assert acl.get_data_type(tensor) == (acl.ACL_FLOAT16, 0)
    assert acl.get_format(tensor) == (acl.ACL_FORMAT_ND, 0)
    assert acl.get_view_offset(tensor) == (0, 0)
    assert acl.get_raw_tensor_addr(tensor) == (address, 0)
    assert acl.set_raw_tensor_addr(tensor, address) == 0
    integers = acl.create_int_array([1, -2, 3])
    assert acl.get_int_array_size(integers) == (3, 0)
    assert acl.destroy_int_array(integers) == 0
    assert acl.destroy_int_array(integers) != 0
    floats = acl.create_float_array([0.5])
    assert acl.get_float_array_size(floats) == (1, 0)
    assert acl.destroy_float_array(floats) == 0
    booleans = acl.create_bool_array([True, False])
    assert acl.get_bool_array_size(booleans) == (2, 0)
    assert acl.destroy_bool_array(booleans) == 0
    scalars = acl.create_scalar_list([acl.create_scalar(i, acl.ACL_INT64) for i in range(2)])
    assert acl.get_scalar_list_size(scalars) == (2, 0)
    assert acl.destroy_scalar_list(scalars) == 0


def test_every_operator_has_both_phases():
    names = dir(acl.op)
    assert "aclnnMatmul" in names and "aclnnMatmulGetWorkspaceSize" in names
    assert acl.op.aclnnAddGetWorkspaceSize.__doc__.startswith(
        "workspace_size, executor, ret = acl.op.aclnnAddGetWorkspaceSize(self, other, alpha, out)"
    )
    with pytest.raises(AttributeError, match=r"no function acl\.op\.aclnnNoSuchOperator"):
        _ = acl.op.aclnnNoSuchOperator


def test_mistakes_get_the_documented_status(handles):
    tensor, _ = handles.tensor(np.zeros(4, np.float32), acl.ACL_FLOAT)
    assert acl.op.aclnnNegGetWorkspaceSize(0, tensor) == (0, 0, NULL_PARAMETER)
    other, _ = handles.tensor(np.zeros(5, np.float32), acl.ACL_FLOAT)
    *_, ret = acl.op.aclnnNegGetWorkspaceSize(tensor, other)
    assert ret == INVALID_PARAMETER
    assert "aclnnNeg" in acl.get_recent_err_msg()
    assert acl.op.aclnnNeg(0, 0, 0x1234, 0) != 0
    assert acl.destroy_tensor(0x1234) != 0
    *_, ret = acl.op.aclnnNegGetWorkspaceSize(0x1234, tensor)
    assert ret == INVALID_PARAMETER


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: acl.op.aclnnNegGetWorkspaceSize(1), TypeError, r"takes 2 arguments \(self, out\)"),
        (lambda: acl.op.aclnnNegGetWorkspaceSize("x", 1), TypeError, "self: expected an integer"),
        (lambda: acl.op.aclnnNeg(0, 0, None, 0), TypeError, "executor: expected an integer"),
        (lambda: acl.create_scalar("x", 0), ValueError, "value: 'x' does not fit"),
        (lambda: acl.create_scalar(300, acl.ACL_INT8), ValueError, "value: 300 does not fit"),
        (lambda: acl.create_scalar(1, 999), TypeError, "aclDataType 999"),
        (
            lambda: acl.create_tensor(4, 0, None, 0, 2, [4], 0),
            TypeError,
            "view_dims: expected a list",
        ),
        (
            lambda: acl.create_int_array([2**63]),
            errors.InvalidArgumentError,
            r"values\[0\]: .* is not within",
        ),
    ],
)
def test_a_wrong_argument_is_named(device, call, error, text):
    with pytest.raises(error, match=text):
        call()
