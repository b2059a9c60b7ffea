# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import pickle
import subprocess
import sys

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


ECHO = (
    errors.Argument(
        name="self",
        shape=(4, 8),
        dtype="float16",
        strides=(8, 1),
        format="ND",
        storage_shape=(4, 8),
        address=0x1000,
        nbytes=64,
        device=3,
        owner="a buffer of 64 bytes",
    ),
    errors.Argument(
        name="other",
        shape=(8,),
        dtype="int4",
        strides=(1,),
        offset=8,
        format="ND",
        storage_shape=(16,),
        origin="model.py:12",
    ),
    errors.Argument(name="alpha", value="1.0"),
)


def refusal(**changed):
    fields = {
        "routine": "aclnnAddGetWorkspaceSize",
        "status_name": "ACLNN_ERR_PARAM_INVALID",
        "meaning": "an argument has an unacceptable value",
        "detail": "EZ1001: other has dtype int4\nTraceBack: add.cpp:12",
        "broken": [errors.BrokenRule("other", "dtype int4 is not among float16")],
        "hint": "Cast it first.",
        "arguments": ECHO,
        "device": 3,
        "rank": 1,
    }
    return errors.status_error("aclnn", 161002, **{**fields, **changed})


def test_text_is_a_short_line_and_a_block():
    assert str(refusal()).splitlines() == [
        "aclnnAddGetWorkspaceSize: ACLNN_ERR_PARAM_INVALID (161002): "
        "EZ1001: other has dtype int4 [rank 1, device 3]",
        "  TraceBack: add.cpp:12",
        "  broken rule: other: dtype int4 is not among float16",
        "  next: Cast it first.",
        "  self: (4, 8) float16 strides (8, 1) ND, 0x1000..0x1040 of a buffer of 64 bytes"
        " on device 3",
        "  other: (8,) int4 strides (1,) ND offset 8 storage (16,), made at model.py:12",
        "  alpha: 1.0",
        "  more: aclnn-py explain 161002",
    ]


def test_without_words_of_the_library_the_rule_leads_and_without_a_rule_the_meaning():
    assert "(161002): other: dtype int4 is not" in str(refusal(detail="")).splitlines()[0]
    bare = refusal(detail="", broken=(), arguments=())
    assert "(161002): an argument has an unacceptable value" in str(bare)


def test_an_unknown_status_does_not_point_to_an_explanation():
    assert "aclnn-py explain" not in str(errors.status_error("acl", 424242, routine="f"))


def test_hccl_is_explained_by_name():
    error = errors.status_error("hccl", 9, status_name="HCCL_E_TIMEOUT", meaning="timed out")
    assert "aclnn-py explain HCCL_E_TIMEOUT" in str(error)


def test_a_refusal_keeps_everything_across_processes():
    copy = pickle.loads(pickle.dumps(refusal(verdict="driver 23.0 is older than CANN 8.0 needs")))
    assert copy.arguments == ECHO
    assert copy.broken[0].argument == "other"
    assert copy.verdict in str(copy)
    assert copy.explain() == refusal(verdict="driver 23.0 is older than CANN 8.0 needs").explain()


def test_explain_has_the_codes_their_causes_and_the_documents():
    text = refusal().explain()
    for words in (
        "161002 ACLNN_ERR_PARAM_INVALID: an argument has an unacceptable value",
        "EZ1001 ACLNN_PARAM",
        "usual cause",
        "what to check",
        "Parameters of aclnnAdd:",
        "self, other, out: 0-8 dimensions; dtype FLOAT | FLOAT16 | BFLOAT16",
    ):
        assert words in text


def test_explain_works_without_the_c_libraries(tmp_path):
    path = tmp_path / "error"
    path.write_bytes(pickle.dumps(refusal()))
    script = (
        "import pickle, sys; error = pickle.load(open(sys.argv[1], 'rb')); text = error.explain();"
        "assert 'EZ1001 ACLNN_PARAM' in text;"
        "assert not {'aclnn_py._ffi', 'numpy'} & set(sys.modules)"
    )
    # The checker is made of the C libraries.
    plain = {**os.environ, "ACLNN_PY_CHECK": "0"}
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=60, env=plain)


@pytest.mark.parametrize("library", ["acl", "aclnn", "hccl"])
@pytest.mark.parametrize(
    "kind", ["InvalidArgument", "OutOfMemory", "Timeout", "NotSupported", "Device", "Communication"]
)
def test_every_combination_survives_pickling_with_its_fields(library, kind):
    cls = getattr(errors, f"{library.capitalize()}{kind}Error")
    error = cls(7, routine="f", status_name="N", detail="d", arguments=ECHO, rank=2, stream=5)
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
