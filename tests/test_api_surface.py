# SPDX-License-Identifier: Apache-2.0
"""What include/ declares, what is bound, and what the emulator exports."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from aclnn_py import facts, ops
from aclnn_py._ffi import C
from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.naming import operator_name
from aclnn_py._ffi.contract.reader import read_file
from aclnn_py.emulator import library_path

ROOT = Path(__file__).parent.parent
INCLUDE = ROOT / "include"
EMULATOR = ROOT / "aclnn_py" / "emulator" / "src"
# The marker of the emulator's own build, checked when the library is loaded.
OWN = {
    "aclnn_py_emulator_contract",
    "aclnn_py_emulator_describe",  # for gdb
    "aclnn_py_emulator_describe_group",
    "aclnn_py_emulator_memory_origin",  # for the doctor
    "aclnn_py_emulator_python_reports",
    "aclnn_py_emulator_refusal",
    "aclnn_py_emulator_set_chip",
    "aclnn_py_emulator_take_report",
}
# What programs link and no header here declares with a prototype, each for its reason.
UNDECLARED = {
    "HcclCommConfigInit",  # its header has a body, for releases without the symbol
    # The driver's; programs declare them themselves.
    "drvGetDevNum",
    "halHostRegister",
    "halHostUnregister",
    "halHostUnregisterEx",
}


def declared(*folders: str, variadic: bool = False) -> set[str]:
    return {
        name
        for path in fragments(INCLUDE)
        if path.parent.name in folders
        for name, function in read_file(path).functions.items()
        if variadic or not function.variadic
    }


@pytest.fixture(scope="module")
def exported() -> set[str]:
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", str(library_path())],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return {line.split()[2].split("@")[0] for line in lines if len(line.split()) == 3}


def test_every_function_declared_is_bound() -> None:
    # A function with a variable argument list has no wrapper that Python could call.
    functions = declared("acl", "aclnn", "hccl", "mstx", variadic=False)
    assert len(functions) > 400, "the headers were found"
    assert not functions - set(dir(C))


def test_every_operator_declared_has_facts_and_a_callable() -> None:
    functions = declared("aclnnop")
    operators = {name for name in functions if f"{name}GetWorkspaceSize" in functions}
    table = set(facts.operators())
    assert table <= operators
    named = {operator_name(name) for name in table}
    assert len(named) == len(table), "two operators share a Python name"
    assert named <= set(dir(ops))


def test_the_emulator_exports_nothing_that_is_not_declared(exported: set[str]) -> None:
    allowed = declared("acl", "aclnn", "aclnnop", "hccl", "mstx", variadic=True) | OWN
    # Programs link these names of other families; they answer "feature not supported".
    unsupported = EMULATOR / "runtime" / "unsupported.inc"
    allowed |= set(re.findall(r"^EMU_\w+\(.*?(\w+)\)", unsupported.read_text(), re.MULTILINE))
    # For C programs only: the functions take argument lists that cffi does not read.
    securec = (ROOT / "include" / "securec.h").read_text()
    allowed |= set(re.findall(r"^\w[\w ]*[ *](\w+_s)\(", securec, re.MULTILINE))
    assert exported - allowed == UNDECLARED


def test_the_emulator_exports_both_phases_of_an_operator_or_none(exported: set[str]) -> None:
    for name in facts.operators():
        assert (name in exported) == (f"{name}GetWorkspaceSize" in exported), name


def test_the_emulator_has_all_of_the_basic_surface(exported: set[str]) -> None:
    """What 8.1 has of communication; later additions are optional."""
    collectives = {
        "HcclAllGather", "HcclAllGatherV", "HcclAllReduce", "HcclAlltoAll", "HcclAlltoAllV",
        "HcclBarrier", "HcclBatchSendRecv", "HcclBroadcast", "HcclCommDestroy", "HcclCommInitAll",
        "HcclCommInitClusterInfo", "HcclCommInitClusterInfoConfig", "HcclCommInitRootInfo",
        "HcclCommInitRootInfoConfig", "HcclCreateSubCommConfig", "HcclGetCommAsyncError",
        "HcclGetCommName", "HcclGetRankId", "HcclGetRankSize", "HcclGetRootInfo", "HcclRecv",
        "HcclReduce", "HcclReduceScatter", "HcclReduceScatterV", "HcclScatter", "HcclSend",
    }  # fmt: skip
    assert not collectives - exported
    assert {"aclnnAdd", "aclnnMatmul", "aclnnAllGatherMatmul"} <= exported
