# SPDX-License-Identifier: Apache-2.0
"""Limits of the fused operators: ranks, chips, list lengths, empty tensors, nulls, phase two."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py._ffi import C, ffi
from aclnn_py.distributed import Communicator
from aclnn_py.emulator import library_path
from aclnn_py.errors import AclnnError

from .mc2_arguments import (
    ALL_REDUCE,
    BASES,
    BF16,
    F32,
    GROUPED,
    NZ,
    SLICED,
    Arguments,
    Change,
    new,
    plan,
    refused,
    shape,
    sliced_of,
    summed,
)


@pytest.fixture(autouse=True)
def _on_device_0(device: ap.Device) -> None:
    pass


def test_grouped_bias_of_bfloat16_must_be_float32(groups: dict[int, str]) -> None:
    def change(arguments: Arguments) -> None:
        for name in ("x", "weight", "y", "bias"):
            arguments[name] = [new(*t.shape, dtype=BF16) for t in arguments[name]]

    assert refused(GROUPED, groups[2], change).status == 161002

    def mended(arguments: Arguments) -> None:
        change(arguments)
        arguments["bias"] = [new(5, dtype=F32), new(5, dtype=F32)]

    plan(GROUPED, groups[2], mended).close()


def test_grouped_lists_hold_at_most_64_tensors(groups: dict[int, str]) -> None:
    def of(count: int) -> Arguments:
        return {
            "weight": [new(4, 5)] * count, "bias": None, "group_list": [3] * count,
        }  # fmt: skip

    plan(GROUPED, groups[2], of(64)).close()
    assert refused(GROUPED, groups[2], of(65)).status == 161002


@pytest.mark.parametrize(
    ("name", "status"),
    [(n, 561002) for n in (*SLICED, *ALL_REDUCE)] + [(GROUPED, 161002)],
)
def test_three_ranks_are_refused(name: str, status: int, groups: dict[int, str]) -> None:
    change = sliced_of(m=3, ranks=3) if name in SLICED else {}
    error = refused(name, groups[3], change)
    assert (error.status, "3 ranks" in str(error)) == (status, True), error


@pytest.mark.parametrize("name", BASES)
def test_one_rank(name: str, groups: dict[int, str]) -> None:
    if name in SLICED:
        assert refused(name, groups[1], sliced_of(ranks=1)).status == 561002
    else:
        plan(name, groups[1]).close()


@pytest.mark.parametrize("name", SLICED)
@pytest.mark.parametrize("sizes", [{"m": 0}, {"n": 0}], ids=str)
def test_sliced_operators_have_nothing_to_do(
    name: str, sizes: dict[str, int], groups: dict[int, str]
) -> None:
    if name == "all_gather_matmul" and "n" in sizes:
        return  # x1 is still gathered, which takes a workspace or gatherOut
    step = plan(name, groups[2], sliced_of(**sizes))
    assert step.workspace_nbytes == 0
    step.run()


def test_norms_of_nothing_succeed(groups: dict[int, str]) -> None:
    def change(arguments: Arguments) -> None:
        arguments["x1"] = new(0, 64)
        for name in ("residual", "y", "norm_out"):
            arguments[name] = new(0, 2, 3)

    step = plan("matmul_all_reduce_add_rms_norm", groups[2], change)
    assert step.workspace_nbytes == 0
    step.run()


def _on_chip(rank: int, ranks: int) -> dict[str, Any]:
    """Codes on the chip of this process; 0 where phase one accepts."""
    found: dict[str, Any] = {}
    made = {count: Communicator.init_all(count) for count in (1, 2, 4, 8, 16, 32)}

    def code(name: str, group: str, change: Arguments | Change) -> int:
        try:
            plan(name, group, change).close()
        except AclnnError as error:
            return error.status
        return 0

    with ap.Device(0):
        for name in ("matmul_reduce_scatter", "matmul_all_reduce", GROUPED):
            for count, comms in made.items():
                change = sliced_of(m=32, ranks=count) if name in SLICED else {}
                found[f"{name} {count}"] = code(name, comms[0].name, change)
        two = made[2][0].name
        found["bf16"] = code("matmul_all_reduce", two, lambda a: a.update(summed(dtype=BF16)))
        found["x3"] = code("matmul_all_reduce_v2", two, {})
        found["no x3"] = code("matmul_all_reduce_v2", two, {"x3": None})
        found["NZ"] = code("matmul_all_reduce", two, shape("x2", 64, 3, format=NZ))
        per_token = {"dequant_scale": new(3, dtype=F32), "pertoken_scale": new(2, dtype=F32)}
        found["per token"] = code("quant_matmul_all_reduce_v2", two, per_token)
        found["packed"] = code("quant_matmul_all_reduce_v2", two, {})
    for comms in made.values():
        for comm in comms:
            comm.close()
    return found


ON_CHIP = {
    "Ascend910B1": ([2, 4, 8], [1, 2, 4, 8], set()),
    "Ascend910_9391": ([2, 4, 8, 16, 32], [], set()),
    "Ascend310P3": ([], [1, 2, 4], {"bf16", "x3", "per token"}),
    "Ascend950": ([2, 4, 8, 16, 32], [1, 2, 4, 8, 16, 32], set()),
}


@pytest.mark.emulator_only(reason="the emulator can be any chip")
@pytest.mark.parametrize("soc", ON_CHIP)
def test_limits_of_a_chip(soc: str) -> None:
    env = {"ACLNN_PY_EMULATOR_SOC": soc, "ACLNN_PY_EMULATOR_DEVICES": "32"}
    (found,) = run_ranks(1, _on_chip, env=env)
    spread, summing, refused_here = ON_CHIP[soc]
    for name, allowed, other in (
        ("matmul_reduce_scatter", spread, 561002),
        ("matmul_all_reduce", summing, 561002),
        (GROUPED, summing, 161002),
    ):
        codes = {count: found[f"{name} {count}"] for count in (1, 2, 4, 8, 16, 32)}
        assert codes == {count: 0 if count in allowed else other for count in codes}, name
    absent = 0 if summing else 561002
    for what in ("bf16", "x3", "no x3", "per token", "packed"):
        assert found[what] == (161002 if what in refused_here else absent), what
    assert found["NZ"] == (0 if soc == "Ascend310P3" else 161002)


@pytest.mark.parametrize("name", ["matmul_reduce_scatter", "matmul_all_reduce"])
@pytest.mark.parametrize("argument", ["group", "reduce_op"])
def test_python_wants_texts(name: str, argument: str, groups: dict[int, str]) -> None:
    with pytest.raises(TypeError, match=argument):
        plan(name, groups[2], {argument: None})


@pytest.mark.emulator_only(reason="ctypes finds the operators in one known library")
@pytest.mark.parametrize(
    ("name", "group", "reduction", "status"),
    [
        ("matmul_reduce_scatter", False, True, 561002),
        ("matmul_reduce_scatter", True, False, 561002),
        ("matmul_all_reduce", False, True, 561002),
        ("matmul_all_reduce", True, False, 161001),
    ],
)
def test_null_texts_in_c(
    name: str, group: bool, reduction: bool, status: int, groups: dict[int, str]
) -> None:
    arguments = BASES[name]()
    made = []
    for key in ("x1", "x2", "output"):
        t = arguments[key]
        dims, where = ffi.new("int64_t[]", t.shape), ffi.cast("void *", t.address)
        made.append(C.aclCreateTensor(dims, 2, 1, ffi.NULL, 0, 2, dims, 2, where))
    pointers = [int(ffi.cast("uintptr_t", handle)) for handle in made]
    library = ctypes.CDLL(str(library_path()))
    phase_one = getattr(library, getattr(ops, name).c_name + "GetWorkspaceSize")
    text, whole, address = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
    phase_one.argtypes = [*[address] * 3, text, text, whole, whole, *[address] * 3]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    found = phase_one(
        pointers[0],
        pointers[1],
        None,
        groups[2].encode() if group else None,
        b"sum" if reduction else None,
        0,
        1,
        pointers[2],
        ctypes.addressof(size),
        ctypes.addressof(executor),
    )
    for handle in made:
        C.aclDestroyTensor(handle)
    assert (found, executor.value) == (status, None)


@pytest.mark.emulator_only(reason="ctypes finds the operators in one known library")
@pytest.mark.parametrize(
    ("name", "status"),
    [("matmul_reduce_scatter", 0), ("matmul_all_reduce", 561000), (GROUPED, 561000)],
)
def test_phase_two_without_a_workspace(name: str, status: int, groups: dict[int, str]) -> None:
    """Sliced operators skip all their work; the wrappers of the others say only that it failed."""
    library = ctypes.CDLL(str(library_path()))
    phase_two = getattr(library, getattr(ops, name).c_name)
    phase_two.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    step = plan(name, groups[2])
    stream = ap.Device(0).default_stream
    stream.activate()
    executor = int(ffi.cast("uintptr_t", step.raw.prepared.executor))
    assert phase_two(None, 0, executor, int(ffi.cast("uintptr_t", stream.raw))) == status
    step.close()  # the executor is gone already, which closing has to stand
