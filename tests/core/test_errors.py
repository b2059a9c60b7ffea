# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle

import pytest

from aclnn_py import errors

CASES = [
    ("aclnn", 161002, errors.AclnnError, errors.InvalidArgumentError, ValueError),
    ("acl", 107002, errors.AclError, errors.InvalidArgumentError, ValueError),
    ("acl", 207001, errors.AclError, errors.OutOfMemoryError, MemoryError),
    ("acl", 507046, errors.AclError, errors.DeviceTimeoutError, TimeoutError),
    ("acl", 207000, errors.AclError, errors.NotSupportedError, NotImplementedError),
    ("acl", 507015, errors.AclError, errors.DeviceError, RuntimeError),
    ("hccl", 1, errors.HcclError, errors.InvalidArgumentError, ValueError),
    ("hccl", 9, errors.HcclError, errors.DeviceTimeoutError, TimeoutError),
    ("hccl", 21, errors.HcclError, errors.CommunicationError, ConnectionError),
    ("hccl", 5, errors.HcclError, errors.NotSupportedError, NotImplementedError),
]


@pytest.mark.parametrize(("library", "status", "who", "what", "builtin"), CASES)
def test_status_is_caught_by_library_by_kind_and_by_builtin(library, status, who, what, builtin):
    for wanted in (who, what, builtin, errors.StatusError, errors.AclnnPyError):
        with pytest.raises(wanted):
            raise errors.status_error(library, status)


def test_same_number_means_different_kinds_in_different_libraries():
    assert not isinstance(errors.status_error("acl", 9), TimeoutError)
    assert isinstance(errors.status_error("hccl", 9), TimeoutError)


def test_status_without_a_kind_is_the_plain_library_class():
    assert type(errors.status_error("aclnn", 561103)) is errors.AclnnError


def test_text_has_routine_name_number_message_hint_place_and_arguments_in_order():
    error = errors.status_error(
        "aclnn",
        161002,
        routine="aclnnAddGetWorkspaceSize",
        status_name="ACLNN_ERR_PARAM_INVALID",
        detail="EZ1001: other has dtype int4",
        hint="Cast it first.",
        arguments=["self: (4, 8) float16 (8, 1) ND", "other: (8,) int4 (1,) ND"],
        device=3,
        rank=1,
    )
    assert str(error).splitlines() == [
        "aclnnAddGetWorkspaceSize: ACLNN_ERR_PARAM_INVALID (161002): "
        "EZ1001: other has dtype int4. Cast it first. [rank 1, device 3]",
        "  self: (4, 8) float16 (8, 1) ND",
        "  other: (8,) int4 (1,) ND",
    ]


@pytest.mark.parametrize("library", ["acl", "aclnn", "hccl"])
@pytest.mark.parametrize(
    "kind", ["InvalidArgument", "OutOfMemory", "Timeout", "NotSupported", "Device", "Communication"]
)
def test_every_combination_survives_pickling_with_its_fields(library, kind):
    cls = getattr(errors, f"{library.capitalize()}{kind}Error")
    error = cls(7, routine="f", status_name="N", detail="d", arguments=["a: 1"], rank=2, stream=5)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert str(copy) == str(error)
    assert (copy.status, copy.rank, copy.stream, copy.library) == (7, 2, 5, library)


def test_search_and_symbol_errors_survive_pickling():
    missing = errors.LibraryNotFoundError(
        "no CANN", library="libascendcl.so", searched=[("/opt", "absent")]
    )
    copy = pickle.loads(pickle.dumps(missing))
    assert isinstance(copy, OSError)
    assert copy.searched == (("/opt", "absent"),)
    assert "/opt: absent" in str(copy)
    symbol = errors.SymbolNotFoundError("aclnnFoo", libraries=["libopapi.so"], since="8.5.0")
    copy = pickle.loads(pickle.dumps(symbol))
    assert isinstance(copy, NotImplementedError)
    assert copy.since == "8.5.0"
    assert "aclnnFoo" in str(copy)
    assert "libopapi.so" in str(copy)
