# SPDX-License-Identifier: Apache-2.0
"""Settings of communicators, argument checks of the collectives, and what each chip supports."""

from __future__ import annotations

import ctypes as ct
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hccl_ranks import (
    CONFIG_SIZES,
    NOT_FOUND,
    NOT_SUPPORT,
    PARA,
    PTR,
    Item,
    Rank,
    close_jobs,
    config,
    job,
    library,
    script,
    u64,
)

from aclnn_py.tools.doctor.host import Host
from aclnn_py.tools.doctor.report import examine

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module", autouse=True)
def _end_jobs() -> Iterator[None]:
    yield
    close_jobs()


# --- configuration -----------------------------------------------


def single(rank: Rank, given: Any) -> int:
    from hccl_ranks import RootInfo, root_info

    info = RootInfo.from_buffer_copy(root_info())
    return rank.lib.status(
        "HcclCommInitRootInfoConfig", 1, ct.byref(info), 0, given, ct.byref(rank.comm)
    )


@pytest.mark.parametrize("version", CONFIG_SIZES)
def test_every_version_of_the_configuration(version: int) -> None:
    rank = Rank(0, 1)
    assert single(rank, config(version, name="pairs" if version >= 2 else "")) == 0, (
        rank.lib.message()
    )
    assert (rank.name() == "pairs") == (version >= 2)
    rank.close()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"magic": 0x12345678}, "magic word 0x12345678"),
        ({"buffer": 0}, "hcclBufferSize"),
        ({"deterministic": 3}, "hcclDeterministic"),
        ({"mode": 9}, "hcclOpExpansionMode"),
        ({"traffic": 3}, "hcclRdmaTrafficClass"),
        ({"service": 8}, "hcclRdmaServiceLevel"),
        ({"version": 8, "exec": 0x80000000}, "hcclExecTimeOut"),
        ({"name": "n" * 128}, "hcclCommName"),
    ],
)
def test_refused_configurations(fields: dict[str, Any], words: str) -> None:
    rank = Rank(0, 1)
    assert single(rank, config(**fields)) == PARA
    assert words in rank.lib.message()
    assert single(rank, None) == PTR
    rank.close()


def test_fields_beyond_the_given_version_are_not_read() -> None:
    given = config(5)
    struct.pack_into("<I", given, 12, 3)  # version 3 ends before hcclOpExpansionMode
    struct.pack_into("<I", given, 288, 77)
    rank = Rank(0, 1)
    assert single(rank, given) == 0, rank.lib.message()
    rank.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HCCL_CONNECT_TIMEOUT", "soon"),
        ("HCCL_EXEC_TIMEOUT", "-1"),
        ("HCCL_BUFFSIZE", "0"),
        ("HCCL_DETERMINISTIC", "yes"),
    ],
)
def test_refused_environment(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rank = Rank(0, 1)
    # os.environ reaches the C library of this process
    monkeypatch.setenv(name, value)
    assert single(rank, config()) == PARA
    text = rank.lib.message()
    assert "EI0001" in text
    assert name in text
    rank.close()


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("HCCL_CONNECT_TIMEOUT", 7200),
        ("HCCL_EXEC_TIMEOUT", 2**31 - 1),
        ("HCCL_BUFFSIZE", 2**31 - 1),
    ],
)
def test_the_doctor_allows_what_the_library_does(
    name: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rank = Rank(0, 1)
    for value, wanted in ((most, 0), (most + 1, PARA)):
        monkeypatch.setenv(name, str(value))
        assert single(rank, config()) == wanted, rank.lib.message()
        worst = examine(Host(tmp_path, {name: str(value)}, {}), device=False).worst()
        assert [finding.rule for finding in worst] == ["hccl-variables"] * bool(wanted)
    rank.close()


def test_settings_and_capability() -> None:
    lib = library()
    value = ct.c_int32(-1)
    lib("HcclGetConfig", 0, ct.byref(value))
    assert value.value == 0
    lib("HcclSetConfig", 0, 1)
    lib("HcclGetConfig", 0, ct.byref(value))
    assert value.value == 1
    lib("HcclSetConfig", 0, 0)
    assert lib.status("HcclSetConfig", 0, 7) == PARA
    assert lib.status("HcclSetConfig", 1, 0) == PARA
    assert lib.status("HcclGetConfig", 0, None) == PTR
    assert lib.dll.HcclGetCommConfigCapability() > 8
    texts = {lib.dll.HcclGetErrorString(code) for code in range(25)}
    assert len(texts) == 25
    assert lib.dll.HcclGetErrorString(12345) == b"unknown HCCL result"


# --- arguments of the collectives --------------------------------


def arguments_work(rank: Rank) -> None:
    lib, comm, stream = rank.lib, rank.comm, rank.stream
    buf, other = rank.put(np.zeros(64, np.float32)), rank.put(np.zeros(64, np.float32))
    host = np.zeros(64, np.float32).ctypes.data_as(ct.c_void_p)

    def code(routine: str, *arguments: Any) -> int:
        return lib.status(routine, *arguments)

    # a count of 0 is a success before anything else is looked at
    assert code("HcclAllGather", None, None, 0, 4, None, None) == 0
    assert code("HcclAllReduce", None, None, 0, 99, 99, None, None) == 0
    # null pointers
    for place in range(4):
        arguments: list[Any] = [buf, other, 4, 4, comm, stream]
        arguments[[0, 1, 4, 5][place]] = None
        assert code("HcclAllGather", *arguments) == PTR
        assert "is null" in lib.message()
    assert code("HcclBroadcast", None, 4, 4, 0, comm, stream) == PTR
    assert code("HcclSend", None, 4, 4, 1, comm, stream) == PTR
    assert code("HcclBarrier", None, stream) == PTR
    assert (
        code("HcclAlltoAllV", buf, None, u64(1), 4, other, u64(1), u64(1), 4, comm, stream) == PTR
    )
    # counts, types, reductions, ranks
    assert code("HcclAllGather", buf, other, 0x80000000, 4, comm, stream) == PARA
    assert code("HcclAllGather", buf, other, 4, 12, comm, stream) == NOT_SUPPORT
    assert code("HcclAllGather", buf, other, 4, 255, comm, stream) == NOT_SUPPORT
    assert code("HcclAllReduce", buf, other, 4, 10, 0, comm, stream) == NOT_SUPPORT
    assert "fp64" in lib.message()
    assert code("HcclAllReduce", buf, other, 4, 4, 4, comm, stream) == NOT_SUPPORT
    assert code("HcclAllReduce", buf, other, 4, 1, 1, comm, stream) == NOT_SUPPORT  # prod of int16
    assert code("HcclAllReduce", buf, other, 4, 11, 1, comm, stream) == NOT_SUPPORT  # prod of bf16
    assert (
        code("HcclReduceScatterV", buf, u64(2, 2), u64(0, 2), other, 2, 4, 1, comm, stream)
        == NOT_SUPPORT
    )
    assert code("HcclBroadcast", buf, 4, 4, 2, comm, stream) == PARA
    assert code("HcclReduce", buf, other, 4, 4, 0, 5, comm, stream) == PARA
    assert code("HcclSend", buf, 4, 4, rank.rank, comm, stream) == PARA
    assert code("HcclSend", buf, 4, 4, 9, comm, stream) == PARA
    # buffers
    assert code("HcclAllReduce", host, other, 4, 4, 0, comm, stream) == PARA
    assert "sendBuf" in lib.message()
    far = 1 << 24
    assert code("HcclAllGather", buf, other, far, 4, comm, stream) == PARA
    assert code("HcclAlltoAll", buf, 4, 4, buf, 4, 4, comm, stream) == PARA
    assert code("HcclAlltoAll", buf, 4, 4, other, 4, 2, comm, stream) == PARA
    assert code("HcclAlltoAll", buf, 4, 4, other, 5, 4, comm, stream) == PARA
    assert code("HcclAllGatherV", buf, 3, other, u64(4, 4), u64(0, 4), 4, comm, stream) == PARA
    items = (Item * 1)(Item(2, buf.value, 4, 4, 1))
    assert code("HcclBatchSendRecv", items, 1, comm, stream) == PARA
    assert code("HcclBatchSendRecv", None, 1, comm, stream) == PTR
    assert code("HcclBatchSendRecv", None, 0, comm, stream) == 0
    # handles
    assert code("HcclAllGather", buf, other, 4, 4, ct.c_void_p(0x1234), stream) == PARA
    assert code("HcclAllGather", buf, other, 4, 4, comm, ct.c_void_p(0x1234)) == PARA
    assert code("HcclGetRankId", ct.c_void_p(0x1234), ct.byref(ct.c_uint32())) == PARA
    assert code("HcclGetRankId", comm, None) == PTR
    assert code("HcclGetCommName", None, ct.create_string_buffer(128)) == PTR
    assert code("HcclCommDestroy", None) == PTR
    # another device: its stream, its memory
    mine = rank.device
    lib("aclrtSetDevice", 7)
    foreign, memory = ct.c_void_p(), ct.c_void_p()
    lib("aclrtCreateStream", ct.byref(foreign))
    lib("aclrtMalloc", ct.byref(memory), 256, 0)
    lib("aclrtSetDevice", mine)
    assert code("HcclAllGather", buf, other, 4, 4, comm, foreign) == PARA
    assert "device 7" in lib.message()
    assert code("HcclAllGather", memory, other, 4, 4, comm, stream) == PARA
    assert "device 7" in lib.message()
    lib("aclrtFree", memory)
    lib("aclrtSetDevice", 7)
    lib("aclrtDestroyStream", foreign)
    lib("aclrtSetDevice", mine)
    # nothing of this reached the other rank
    rank.call("HcclAllReduce", buf, other, 4, 4, 0)
    rank.sync()


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_refused_arguments(mode: str) -> None:
    job(2, mode).run(arguments_work)


def memory_range_work(rank: Rank) -> None:
    lib, comm = rank.lib, rank.comm
    base, size = 0x100000000, 1 << 22
    handle = ct.c_void_p(1)
    lib("HcclCommSetMemoryRange", comm, ct.c_void_p(base), size, 1 << 21, 0)
    assert lib.status("HcclCommSetMemoryRange", comm, ct.c_void_p(base + 4096), size, 0, 0) == PARA
    assert lib.status("HcclCommSetMemoryRange", comm, ct.c_void_p(3 << 33 | 5), size, 64, 0) == PARA
    assert (
        lib.status("HcclCommActivateCommMemory", comm, ct.c_void_p(base + size), 4096, 0, handle, 0)
        == PARA
    )
    lib("HcclCommActivateCommMemory", comm, ct.c_void_p(base), 4096, 0, handle, 0)
    assert (
        lib.status("HcclCommActivateCommMemory", comm, ct.c_void_p(base), 4096, 0, handle, 0)
        == PARA
    )
    assert lib.status("HcclCommUnsetMemoryRange", comm, ct.c_void_p(base)) == PARA
    lib("HcclCommDeactivateCommMemory", comm, ct.c_void_p(base))
    assert lib.status("HcclCommDeactivateCommMemory", comm, ct.c_void_p(base)) == NOT_FOUND
    lib("HcclCommUnsetMemoryRange", comm, ct.c_void_p(base))
    assert lib.status("HcclCommUnsetMemoryRange", comm, ct.c_void_p(base)) == NOT_FOUND
    ranks, backup = (ct.c_uint32 * 1)(0), (ct.c_bool * 1)(True)
    assert lib.status("HcclCommWorkingDevNicSet", comm, ranks, backup, 1) == NOT_SUPPORT


def test_memory_ranges() -> None:
    job(1, "process").run(memory_range_work)


@pytest.mark.parametrize(
    ("soc", "answers"),
    [
        # AllReduce fp64, AllReduce bf16, Broadcast fp32, AllGather bf16, ReduceScatterV prod,
        # AllReduce int16
        ("Ascend910B1", [5, 0, 0, 0, 5, 0]),
        ("Ascend910_9391", [5, 0, 0, 0, 5, 0]),
        ("Ascend950PR", [0, 0, 0, 0, 0, 0]),
        ("Ascend910A", [5, 5, 0, 5, 5, 5]),
        ("Ascend310P3", [5, 5, 5, 5, 5, 0]),
    ],
)
def test_what_each_chip_supports(soc: str, answers: list[int]) -> None:
    out = script(
        """
        one = Rank(0, 1)
        join(one, root_info())
        buf, other = one.put(np.zeros(8)), one.put(np.zeros(8))
        codes = []
        for routine, *arguments in [
            ("HcclAllReduce", buf, other, 4, 10, 0), ("HcclAllReduce", buf, other, 4, 11, 0),
            ("HcclBroadcast", buf, 4, 4, 0), ("HcclAllGather", buf, other, 4, 11),
            ("HcclReduceScatterV", buf, u64(4), u64(0), other, 4, 4, 1),
            ("HcclAllReduce", buf, other, 4, 1, 0),
        ]:
            codes.append(one.lib.status(routine, *arguments, one.comm, one.stream))
        one.sync()
        print(codes)
        one.close()
        """,
        env={"ACLNN_PY_EMULATOR_SOC": soc},
    )
    assert out.strip() == str(answers)
