# SPDX-License-Identifier: Apache-2.0
"""The ways data take from rank to rank: where they lie, through staging, or short ones at once."""

from __future__ import annotations

import ctypes as ct
import os
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import test_hccl_collectives as collectives
from hccl_ranks import Rank, close_jobs, config, job

STAGED = {"ACLNN_PY_EMULATOR_PEER_MEMORY": "0"}
SHORT = 32768  # bytes of a message that goes in one step
INT32, SUM = 2, 0


@pytest.fixture(scope="module", autouse=True)
def _end_jobs() -> Iterator[None]:
    yield
    close_jobs()


WORKS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "all_reduce": (collectives.all_reduces_work, ()),
    "reduce_scatter": (collectives.reduce_scatter_work, ()),
    "reduce": (collectives.reduce_work, ()),
    "all_gather": (collectives.all_gather_work, ()),
    "broadcast": (collectives.broadcast_work, ()),
    "scatter": (collectives.scatter_work, ()),
    "all_to_all": (collectives.all_to_all_work, ()),
    "all_to_all_v": (collectives.all_to_all_v_work, (30_001,)),
    "v_forms": (collectives.v_forms_work, (9_001,)),
    "ring": (collectives.ring_work, ()),
    "batch": (collectives.batch_work, ()),
    "many": (collectives.many_calls_work, ()),
}


@pytest.mark.parametrize("mode", ["process", "thread"])
@pytest.mark.parametrize("name", WORKS)
def test_every_collective_through_staging(name: str, mode: str) -> None:
    work, arguments = WORKS[name]
    job(3, mode).run(work, *arguments, env=STAGED)


def around_the_limit_work(rank: Rank) -> list[bytes]:
    """Sizes at which the way changes, up to some that take several rounds of staging."""
    n, me = rank.ranks, rank.rank
    results = []
    for count in (SHORT // 4, SHORT // 4 + 1, SHORT // n // 4, SHORT // n // 4 + 1, 400_003):
        whole = [np.arange(count * n, dtype=np.int32) * (r + 1) for r in range(n)]
        send = rank.put(whole[me])
        one = rank.empty(count * 4)
        everyone = rank.empty(count * n * 4)
        rank.call("HcclAllReduce", send, one, count, INT32, SUM)
        rank.sync()
        results.append(rank.get(one, count, np.int32))
        assert (results[-1] == sum(w[:count] for w in whole)).all()
        rank.call("HcclReduceScatter", send, one, count, INT32, SUM)
        rank.sync()
        share = slice(me * count, (me + 1) * count)
        assert (rank.get(one, count, np.int32) == sum(w[share] for w in whole)).all()
        rank.call("HcclAllGather", send, everyone, count, INT32)
        rank.sync()
        expected = np.concatenate([w[:count] for w in whole])
        assert (rank.get(everyone, count * n, np.int32) == expected).all()
        rank.call("HcclAlltoAll", send, count, INT32, everyone, count, INT32)
        rank.sync()
        expected = np.concatenate([w[share] for w in whole])
        assert (rank.get(everyone, count * n, np.int32) == expected).all()
        for root in range(n):
            rank.call("HcclScatter", send, one, count, INT32, root)
            rank.call("HcclBroadcast", send if me == root else everyone, count, INT32, root)
            rank.sync()
            assert (rank.get(one, count, np.int32) == whole[root][share]).all()
            if me != root:
                assert (rank.get(everyone, count, np.int32) == whole[root][:count]).all()
        rank.free()
    return [collectives.bits(result) for result in results]


@pytest.mark.parametrize("env", [{}, STAGED], ids=["peer-memory", "staged"])
@pytest.mark.parametrize("mode", ["process", "thread"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_sizes_at_which_the_way_changes(ranks: int, mode: str, env: dict[str, str]) -> None:
    job(ranks, mode).run(around_the_limit_work, env=env)


def one_without_work(rank: Rank) -> None:
    """A part of all ranks, in which rank 0 cannot share its memory: all go through the staging."""
    if rank.rank == 0:
        os.environ.update(STAGED)
    try:
        part = ct.c_void_p()
        ids = (ct.c_uint32 * rank.ranks)(*range(rank.ranks))
        create = "HcclCreateSubCommConfig"
        comm = ct.byref(rank.comm)
        rank.lib(create, comm, rank.ranks, ids, 3, rank.rank, config(5), ct.byref(part))
    finally:
        os.environ.pop("ACLNN_PY_EMULATOR_PEER_MEMORY", None)
    whole, rank.comm = rank.comm, part
    try:
        around_the_limit_work(rank)
        collectives.ring_work(rank)
        collectives.batch_work(rank)
    finally:
        rank.lib("HcclCommDestroy", part)
        rank.comm = whole


def test_one_rank_that_cannot_share_its_memory() -> None:
    job(3, "process").run(one_without_work)


def mapped_memory_work(rank: Rank) -> None:
    """Buffers mapped from physical memory lie where no other process can reach them."""
    unit = 2 << 20
    address, handle = ct.c_void_p(), ct.c_void_p()
    properties = (ct.c_uint32 * 8)(0, 0, 4, rank.device, 1, 0, 0, 0)  # huge pages, a device
    rank.lib("aclrtReserveMemAddress", ct.byref(address), unit, 0, None, 1)
    rank.lib("aclrtMallocPhysical", ct.byref(handle), unit, properties, 0)
    rank.lib("aclrtMapMem", address, unit, 0, handle, 0)
    try:
        count = 100_000
        values = np.arange(count, dtype=np.int32)
        ordinary = rank.put(values * (rank.rank + 1))
        # on one rank only: the others learn of it and take the same way
        send = recv = ordinary
        if rank.rank == 1:
            rank.lib("aclrtMemcpy", address, count * 4, ordinary, count * 4, 3)
            send = recv = address
        for _ in range(2):
            rank.call("HcclAllReduce", send, recv, count, INT32, SUM)
        rank.sync()
        total = sum(range(1, rank.ranks + 1)) * rank.ranks
        assert (rank.get(recv, count, np.int32) == values * total).all()
    finally:
        rank.lib("aclrtUnmapMem", address)
        rank.lib("aclrtFreePhysical", handle)
        rank.lib("aclrtReleaseMemAddress", address)


def test_memory_that_others_cannot_reach() -> None:
    job(3, "process").run(mapped_memory_work)


def late_work(rank: Rank) -> float:
    """CPU time of this process while it waits for rank 0 for a second."""
    rank.call("HcclBarrier")
    rank.sync()
    before = resource.getrusage(resource.RUSAGE_SELF)
    if rank.rank == 0:
        time.sleep(1.0)
    rank.call("HcclBarrier")
    rank.sync()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("ranks", [2, 8])
def test_ranks_that_wait_do_not_spin(ranks: int) -> None:
    spent = job(ranks, "process").run(late_work)
    assert max(spent) < 0.3, f"CPU seconds of each rank while it waited for one second: {spent}"


def crowded_work(rank: Rank, rounds: int) -> None:
    count = 20_000
    values = np.full(count, rank.rank + 1, np.int32)
    send, recv = rank.put(values), rank.empty(count * 4)
    for _ in range(rounds):
        rank.call("HcclAllReduce", send, recv, count, INT32, SUM)
        rank.call("HcclBarrier")
        rank.sync()
    total = sum(range(1, rank.ranks + 1))
    assert (rank.get(recv, count, np.int32) == total).all()


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_more_ranks_than_processors(mode: str) -> None:
    job(8, mode).run(crowded_work, 50)
