# SPDX-License-Identifier: Apache-2.0
"""Which library is asked for which function."""

from __future__ import annotations

import re

import pytest

from aclnn_py._ffi import C, routing
from aclnn_py.facts import operators


@pytest.mark.parametrize(
    ("name", "libraries"),
    [
        ("aclrtMalloc", ("libacl_rt.so", "libascendcl.so")),
        ("aclInit", ("libacl_rt.so", "libascendcl.so")),
        ("aclmdlRICaptureBegin", ("libacl_rt.so", "libascendcl.so")),
        ("aclmdlLoadFromFile", ("libacl_mdl.so", "libascendcl.so")),
        ("aclCreateTensor", ("libnnopbase.so", "libopapi.so")),
        ("aclnnInit", ("libnnopbase.so", "libopapi.so")),
        ("aclprofInit", ("libmsprofiler.so",)),
        ("acltdtCreateQueue", ("libacl_tdt_queue.so", "libacl_tdt_channel.so")),
        ("aclopCompileAndExecute", ("libacl_op_compiler.so",)),
    ],
)
def test_family(name, libraries):
    found = routing.libraries_of(name)
    assert found[: len(libraries)] == libraries or set(libraries) <= set(found)


def test_collectives_are_in_either_hccl_library():
    assert routing.libraries_of("HcclAllReduce")[:2] == ("libhccl.so", "libhcomm.so")
    assert "libhcomm.so" in routing.libraries_of("HcclCommInitRootInfo")


def test_every_function_of_the_contract_has_a_library():
    homeless = [name for name in dir(C) if not routing.libraries_of(name)]
    assert homeless == []


def test_every_meta_function_is_in_the_contract_and_none_is_missing():
    declared = set(dir(C))
    assert routing.meta_functions() <= declared
    pattern = re.compile(r"acl(Create|Destroy)(Tensor|Scalar|\w+Array)(List)?$")
    runtime_own = {"aclCreateTensorDesc", "aclDestroyTensorDesc"}
    likely = {name for name in declared if pattern.match(name)} - runtime_own
    assert likely <= routing.meta_functions()


def test_operator_libraries_put_the_split_ones_first():
    found = routing.operator_libraries(("libopapi_math.so",))
    assert found[:2] == ("libopapi_math.so", "libopapi.so")
    assert "libaclnn_ops_infer.so" in found


def test_renamed_functions_are_found_under_both_spellings():
    assert routing.other_spelling("aclSetTensorAddr") == "AclSetTensorAddr"
    assert routing.other_spelling("AclSetInputTensorAddr") == "aclSetInputTensorAddr"
    assert routing.other_spelling("aclSetRawTensorAddr") is None
    assert routing.other_spelling("aclrtMalloc") is None


def test_operator_names_are_no_runtime_functions():
    assert not set(operators()) & set(dir(C))
