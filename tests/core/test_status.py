# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from aclnn_py import errors, status
from aclnn_py._ffi import C, ffi


@pytest.mark.parametrize(
    ("library", "number", "name"),
    [
        ("acl", 107002, "ACL_ERROR_RT_CONTEXT_NULL"),
        ("aclnn", 161002, "ACLNN_ERR_PARAM_INVALID"),
        ("aclnn", 561105, "ACLNN_ERR_INNER_KEY_CONFLICT"),
        ("aclnn", 207001, "ACL_ERROR_RT_MEMORY_ALLOCATION"),
        ("hccl", 9, "HCCL_E_TIMEOUT"),
        ("acl", 9, "UNKNOWN_STATUS"),
    ],
)
def test_names(library, number, name):
    assert status.status_name(library, number) == name


def test_zero_is_silent():
    assert status.check_acl(0, "f") is None
    assert status.check_aclnn(0, "f") is None
    assert status.check_hccl(0, "f") is None


@pytest.mark.parametrize(
    ("check", "number", "cls"),
    [
        (status.check_acl, 107002, errors.AclError),
        (status.check_aclnn, 161001, errors.AclnnError),
        (status.check_hccl, 1, errors.HcclError),
    ],
)
def test_a_status_raises_with_routine_and_name(check, number, cls):
    with pytest.raises(cls) as caught:
        check(number, "someRoutine")
    assert caught.value.status == number
    assert caught.value.routine == "someRoutine"
    assert caught.value.status_name in str(caught.value)


def test_the_library_s_own_message_is_in_the_error_and_is_taken_once(device):
    device.activate()
    out = ffi.new("void **")
    number = C.aclrtMalloc(out, 0, 0)
    assert number == 100000
    with pytest.raises(ValueError) as caught:
        status.check_acl(number, "aclrtMalloc")
    assert caught.value.detail
    assert caught.value.detail in str(caught.value)
    assert status.recent_message() == ""


def test_where_it_happened_is_part_of_the_text():
    with pytest.raises(errors.AclError, match=r"\[device 3, stream 7\]"):
        status.check_acl(507899, "f", device=3, stream=7)
