# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace

import pytest

from aclnn_py import errors
from aclnn_py._ffi import C, ffi
from aclnn_py.runtime import status
from aclnn_py.tools.doctor import Finding


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
    assert status.check_hccl(0, "f") is None


@pytest.mark.parametrize(
    ("check", "number", "cls"),
    [
        (status.check_acl, 107002, errors.AclError),
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


def test_a_status_of_the_installation_carries_the_verdict_about_it(monkeypatch):
    def examine(error):
        found = Finding("error", "driver 23.0", "CANN 8.0 needs 24.1.", "Install it.")
        return [found] if error.status == 507033 else []

    monkeypatch.setattr(status, "library_info", lambda: SimpleNamespace(kind="npu"))
    monkeypatch.setattr("aclnn_py.tools.doctor.findings_for", examine)
    with pytest.raises(errors.AclError, match=r"installation: driver 23\.0 CANN") as caught:
        status.check_acl(507033, "aclrtSetDevice")
    assert caught.value.verdict == "installation: driver 23.0 CANN 8.0 needs 24.1. Install it."
    assert caught.value.verdict in caught.value.explain()
    with pytest.raises(errors.AclError) as caught:
        status.check_acl(107002, "aclrtSetDevice")
    assert caught.value.verdict == ""


@pytest.mark.emulator_only(reason="an NPU has an installation")
def test_the_emulator_has_no_installation_to_examine(device):
    error = status.error_of("aclnn", 561103, "aclnnAddGetWorkspaceSize")
    assert isinstance(error, errors.AclnnError)
    assert error.verdict == ""
