# SPDX-License-Identifier: Apache-2.0
"""Single operators by type: what reaches the library, and how its answer comes back."""

from __future__ import annotations

import numpy as np
import pytest

from aclnn_py import acl, errors

NOT_SUPPORTED = 207000


@pytest.fixture
def attr(device):
    handle = acl.op.create_attr()
    yield handle
    assert acl.op.destroy_attr(handle) is None


def test_attributes_of_every_kind_reach_the_library(attr):
    assert attr
    assert acl.op.set_attr_bool(attr, "a", 1) == 0
    assert acl.op.set_attr_int(attr, "b", -3) == 0
    assert acl.op.set_attr_float(attr, "c", 0.5) == 0
    assert acl.op.set_attr_string(attr, "d", "text") == 0
    assert acl.op.set_attr_list_bool(attr, "e", 2, [True, False]) == 0
    assert acl.op.set_attr_list_int(attr, "f", 3, np.array([1, 2, 3])) == 0
    assert acl.op.set_attr_list_float(attr, "g", 1, [0.5]) == 0
    assert acl.op.set_attr_list_string(attr, "h", ["x", "yz"]) == 0
    assert acl.op.set_attr_list_list_int(attr, "i", [[1], [2, 3], []]) == 0


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: acl.op.set_attr_list_int(0, "f", 4, [1, 2]),
            errors.InvalidArgumentError,
            "attr_value: num_values says that there are 4, but the list has 2 elements",
        ),
        (
            lambda: acl.op.set_attr_list_int(0, "f", 1, [0.5]),
            TypeError,
            r"attr_value\[0\]: expected an integer",
        ),
        (
            lambda: acl.op.set_attr_list_string(0, "h", ["x", 3]),
            TypeError,
            r"attr_value\[1\]: expected a str",
        ),
        (
            lambda: acl.op.set_attr_list_string(0, "h", "xy"),
            TypeError,
            "attr_value: expected a list, got str",
        ),
        (
            lambda: acl.op.set_attr_list_list_int(0, "i", [[1], 2]),
            TypeError,
            r"attr_value\[1\]: expected a list",
        ),
        (lambda: acl.op.set_attr_int(0, 3, 3), TypeError, "attr_name: expected a str"),
        (
            lambda: acl.op.set_attr_bool(0, "a", 256),
            errors.InvalidArgumentError,
            "attr_value: 256 is not within 0 to 255",
        ),
        (
            lambda: acl.op.execute_v2("Add", 1, [], [], [], 0, 0),
            TypeError,
            "input_desc: expected a list, got int",
        ),
        (
            lambda: acl.op.execute_v2("Add", [1, 2], [1], [], [], 0, 0),
            errors.InvalidArgumentError,
            "inputs: input_desc says that there are 2, but the list has 1 elements",
        ),
    ],
)
def test_a_wrong_argument_is_named(device, call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.emulator_only(reason="CANN compiles and runs operators by type")
def test_what_needs_a_compiler_or_a_model_is_refused_with_a_reason(device):
    desc = acl.create_tensor_desc(acl.ACL_FLOAT, [2], acl.ACL_FORMAT_ND)
    content = bytes(8)
    assert acl.op.set_model_dir("no_such_directory") == NOT_SUPPORTED
    assert acl.op.load(acl.util.bytes_to_ptr(content), 8) == NOT_SUPPORTED
    assert acl.op.start_dump_args(1, ".") == NOT_SUPPORTED
    assert acl.op.stop_dump_args(1) == NOT_SUPPORTED
    assert "emulator has no" in acl.get_recent_err_msg()
    ret = acl.op.infer_shape("NoSuchType", [desc], [0], 1, [desc], 0)
    assert ret != 0
    handle, ret = acl.op.create_handle("NoSuchType", [desc], [desc], 0)
    assert ret != 0 and handle == 0
    assert acl.op.execute("NoSuchType", [desc], [0], [desc], [0], 0, 0) != 0
    assert acl.op.execute_v2("NoSuchType", [desc], [0], [desc], [0], 0, 0) != 0
    assert acl.op.compile("NoSuchType", [desc], [desc], 0, 0, 0, "") != 0
    acl.destroy_tensor_desc(desc)
