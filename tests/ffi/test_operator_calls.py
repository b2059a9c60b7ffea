# SPDX-License-Identifier: Apache-2.0
"""The structs of operator calls that the build writes for the emulator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclnn_py._ffi.contract.operators import parse_operator
from build_parts import calls
from build_parts.toolchain import BuildError

ROOT = Path(__file__).resolve().parents[2]
TAIL = "uint64_t *workspaceSize, aclOpExecutor **executor)"


def operators(**parameters):
    return [
        parse_operator(f"aclnnStatus aclnn{name}GetWorkspaceSize({words}, {TAIL}")
        for name, words in parameters.items()
    ]


def group(rows=None, **parameters):
    (found,) = calls.groups_of(operators(**parameters), rows or {})
    return found


def members(found, name):
    return {one.parameter: (one.member, one.access) for one in found.operators[name]}


def test_members_are_named_and_accessed_as_the_prototype_says():
    found = group(
        Foo="const aclTensor *x, aclTensor *selfRef, const aclTensorList *scalesOptional, "
        "int64_t dimNum, const char *mode, aclTensor *yOut"
    )
    assert found.struct == "FooCall"
    assert members(found, "aclnnFoo") == {
        "x": ("x", "read"),
        "selfRef": ("self", "both"),
        "scalesOptional": ("scales", "read"),
        "dimNum": ("dim_num", ""),
        "mode": ("mode", ""),
        "yOut": ("y_out", "written"),
    }
    assert found.members()["dim_num"] == "int64_t"
    assert found.members()["mode"] == "Named<char>"


def test_versions_share_a_struct_and_the_members_of_equal_type():
    found = group(
        Foo="const aclTensor *x, int32_t size, float rate",
        FooV2="const aclTensor *xOptional, int64_t size, const aclTensor *rate",
    )
    assert list(found.operators) == ["aclnnFoo", "aclnnFooV2"]
    assert found.members() == {
        "x": "Named<aclTensor>",
        "size": "int64_t",
        "rate": "double",
        "rate_tensor": "Named<aclTensor>",
    }


def test_operators_are_joined_and_renamed_by_rows():
    rows = {"Both": {"operators": ["Foo", "Bar"], "names": {"in": "x"}}}
    found = group(rows, Foo="const aclTensor *x", BarV2="const aclTensor *in")
    assert found.struct == "BothCall"
    assert found.members() == {"x": "Named<aclTensor>"}


def test_a_name_may_belong_to_one_operator_and_a_number_may_have_a_default():
    row = {"operators": ["Foo", "Bar"], "names": {"Bar.in": "y"}, "defaults": {"mode": "1"}}
    found = group({"Both": row}, Foo="const aclTensor *in", Bar="const aclTensor *in, int64_t mode")
    assert list(found.members()) == ["in", "y", "mode"]
    assert "int64_t mode{1};" in calls.header_text("math", [found])


def test_two_parameters_of_one_member_are_refused():
    rows = {"Foo": {"operators": ["Foo"], "names": {"a": "x", "b": "x"}}}
    with pytest.raises(BuildError, match="aclnnFoo: two parameters are one member"):
        group(rows, Foo="const aclTensor *a, const aclTensor *b")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"operators": ["NoSuchOperator"]}, "no family has operators of GoneCall"),
        (
            {"operators": ["RmsNorm"], "names": {"noSuchParameter": "x"}},
            "GoneCall has no parameter noSuchParameter",
        ),
    ],
)
def test_rows_about_what_is_not_in_the_contract_are_refused(tmp_path, monkeypatch, row, text):
    rows = json.loads(calls.GROUPS.read_text()) | {"Gone": row}
    monkeypatch.setattr(calls, "GROUPS", tmp_path / "calls.json")
    calls.GROUPS.write_text(json.dumps(rows))
    with pytest.raises(BuildError, match=text):
        calls.write_calls(ROOT / "include", tmp_path / "headers")
