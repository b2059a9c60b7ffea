# SPDX-License-Identifier: Apache-2.0
"""What goes wrong between ranks, and that every rank is told what it was and who."""

from __future__ import annotations

import ctypes as ct
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hccl_ranks import (
    AGAIN,
    LATE,
    LOST,
    MISMATCH,
    REMOTE,
    TIMEOUT,
    CallError,
    Item,
    Rank,
    close_jobs,
    job,
    library,
    u64,
)

HERE = Path(__file__).resolve().parent
MODES = ["process", "thread"]


@pytest.fixture(scope="module", autouse=True)
def _end_jobs() -> Iterator[None]:
    yield
    close_jobs()


def failure(rank: Rank, act: Callable[[Rank], None]) -> tuple[int, str, float]:
    """Run a call that must fail at synchronize; return status, text and seconds, then clean up."""
    start = time.monotonic()
    try:
        act(rank)
        rank.sync()
    except CallError as error:
        took = time.monotonic() - start
        assert rank.async_error() == REMOTE
        # the communicator stays unusable, and says why
        buf = rank.put(np.zeros(4, np.float32))
        status = rank.lib.status("HcclAllReduce", buf, buf, 4, 4, 0, rank.comm, rank.stream)
        assert status == REMOTE
        assert "failed before" in rank.lib.message()
        assert rank.lib.status("HcclCommDestroy", rank.comm) == 0
        rank.comm = ct.c_void_p()
        return error.status, error.text, took
    raise AssertionError("the call did not fail")


def mismatch_work(rank: Rank, case: str) -> tuple[int, str, float]:
    me, n = rank.rank, rank.ranks
    odd = me == n - 1
    buf, other = rank.put(np.zeros(64 * n, np.float32)), rank.put(np.zeros(64 * n, np.float32))

    def act(rank: Rank) -> None:
        if case == "count":
            rank.call("HcclAllReduce", buf, buf, 8 if odd else 4, 4, 0)
        elif case == "dtype":
            rank.call("HcclAllReduce", buf, buf, 4, 3 if odd else 4, 0)
        elif case == "op":
            rank.call("HcclAllReduce", buf, buf, 4, 4, 2 if odd else 0)
        elif case == "root":
            rank.call("HcclBroadcast", buf, 4, 4, 1 if odd else 0)
        elif case == "collective" and odd:
            rank.call("HcclAllGather", buf, other, 4, 4)
        elif case == "collective":
            rank.call("HcclAllReduce", buf, other, 4, 4, 0)
        elif case == "v counts":
            counts = [4] * n
            if odd:
                counts[0] = 5
            rank.call(
                "HcclAllGatherV",
                buf,
                counts[me],
                other,
                u64(*counts),
                u64(*[8 * r for r in range(n)]),
                4,
            )
        elif case == "all to all counts":
            send, recv = [4] * n, [4] * n
            if odd:
                send[0] = 6
            places = u64(*[8 * r for r in range(n)])
            rank.call("HcclAlltoAllV", buf, u64(*send), places, 4, other, u64(*recv), places, 4)
        elif case == "collective against send":
            if odd:
                rank.call("HcclSend", buf, 4, 4, 0)
            else:
                rank.call("HcclAllReduce", buf, buf, 4, 4, 0)

    return failure(rank, act)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            "count",
            [
                "HcclAllReduce(count=8, dataType=fp32, op=sum)",
                "HcclAllReduce(count=4, dataType=fp32, op=sum)",
            ],
        ),
        ("dtype", ["dataType=fp16", "dataType=fp32"]),
        ("op", ["op=max", "op=sum"]),
        ("root", ["HcclBroadcast(count=4, dataType=fp32, root=1)", "root=0"]),
        ("collective", ["HcclAllGather(sendCount=4, dataType=fp32)", "HcclAllReduce(count=4"]),
        ("v counts", ["HcclAllGatherV", "block 0", "20 bytes", "16"]),
        ("all to all counts", ["HcclAlltoAllV", "24 bytes", "16"]),
        (
            "collective against send",
            ["HcclSend(count=4, dataType=fp32, destRank=0)", "HcclAllReduce(count=4"],
        ),
    ],
)
def test_calls_that_differ_fail_on_every_rank(mode: str, case: str, words: list[str]) -> None:
    answers = job(3, mode).run(mismatch_work, case, timeout_s=60)
    for status, text, took in answers:
        assert status == MISMATCH
        assert "EI0005" in text
        assert "rank 2" in text
        for word in words:
            assert word in text, text
        assert took < 20
    assert len({text.split("EI0005")[1] for _, text, _ in answers}) == 1, (
        "the ranks were told different things"
    )


def transfer_mismatch_work(rank: Rank, case: str) -> tuple[int, str, float]:
    buf = rank.put(np.zeros(64, np.float32))

    def act(rank: Rank) -> None:
        if case == "count":
            rank.call(
                *(("HcclSend", buf, 8, 4, 1) if rank.rank == 0 else ("HcclRecv", buf, 4, 4, 0))
            )
        elif case == "dtype":
            rank.call(
                *(("HcclSend", buf, 8, 3, 1) if rank.rank == 0 else ("HcclRecv", buf, 8, 4, 0))
            )
        elif case == "both send":
            rank.call("HcclSend", buf, 8, 4, 1 - rank.rank)
        else:
            rank.call("HcclRecv", buf, 8, 4, 1 - rank.rank)

    return failure(rank, act)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("count", ["sends 8 elements of fp32", "receives 4 of fp32"]),
        ("dtype", ["8 elements of fp16", "8 of fp32"]),
        ("both send", ["wait for each other", "destRank=0", "destRank=1"]),
        ("both receive", ["wait for each other", "srcRank=0", "srcRank=1"]),
    ],
)
def test_transfers_that_do_not_match(mode: str, case: str, words: list[str]) -> None:
    for status, text, took in job(2, mode).run(transfer_mismatch_work, case, timeout_s=60):
        assert status == MISMATCH
        for word in ["rank 0", "rank 1", *words]:
            assert word in text, text
        assert took < 20


def late_work(rank: Rank) -> Any:
    if rank.rank == 1:
        time.sleep(4)  # neither calls nor leaves
        return None
    buf = rank.put(np.zeros(4, np.float32))
    return failure(rank, lambda r: r.call("HcclAllReduce", buf, buf, 4, 4, 0))


@pytest.mark.parametrize("mode", MODES)
def test_execution_timeout_names_the_rank_that_did_not_call(mode: str) -> None:
    answers = job(3, mode).run(late_work, env={"HCCL_EXEC_TIMEOUT": "1"}, timeout_s=60)
    for rank in (0, 2):
        status, text, took = answers[rank]
        assert status == LATE
        assert "EI0002" in text
        assert "rank 1 (" in text.split(" for ")[1], text
        assert "HCCL_EXEC_TIMEOUT" in text
        assert 0.9 < took < 10


def left_work(rank: Rank) -> Any:
    if rank.rank == 1:
        rank.lib("HcclCommDestroy", rank.comm)
        rank.comm = ct.c_void_p()
        return None
    buf = rank.put(np.zeros(4, np.float32))
    return failure(rank, lambda r: r.call("HcclAllReduce", buf, buf, 4, 4, 0))


@pytest.mark.parametrize("mode", MODES)
def test_a_rank_that_destroyed_its_communicator_is_named(mode: str) -> None:
    answers = job(2, mode).run(left_work, timeout_s=60)
    status, text, took = answers[0]
    assert status == LOST
    assert "rank 1" in text
    assert "destroyed" in text
    assert took < 10


# --- a failed stream, exit with work pending, suspension ---------


def dropped_work(rank: Rank) -> Any:
    """Rank 1's stream fails before its collective can run; rank 0 must not wait for it."""
    buf = rank.put(np.zeros(4, np.float32))
    if rank.rank == 1:
        doomed = ct.c_void_p()
        rank.lib("aclrtCreateStream", ct.byref(doomed))
        rank.lib("HcclRecv", buf, 4, 4, 0, rank.comm, doomed)  # waits: rank 0 sends nothing
        rank.lib("HcclAllReduce", buf, buf, 4, 4, 0, rank.comm, doomed)
        time.sleep(0.2)
        rank.lib("aclrtStreamAbort", doomed)
        time.sleep(0.5)
        result = rank.async_error()
        rank.lib("aclrtDestroyStream", doomed)
        return result
    return failure(rank, lambda r: r.call("HcclAllReduce", buf, buf, 4, 4, 0))


@pytest.mark.parametrize("mode", MODES)
def test_an_aborted_stream_is_reported_to_the_others(mode: str) -> None:
    answers = job(2, mode).run(dropped_work, timeout_s=60)
    status, text, took = answers[0]
    assert status in (LATE, LOST, MISMATCH)
    assert "rank 1" in text
    assert took < 15
    assert answers[1] == REMOTE


def test_exit_with_a_collective_pending_does_not_hang(tmp_path: Path) -> None:
    code = """
    import sys, time
    import numpy as np
    from hccl_ranks import *
    rank, root = int(sys.argv[1]), sys.argv[2]
    one = Rank(rank, 2)
    if rank == 0:
        open(root + ".part", "wb").write(root_info())
        os.rename(root + ".part", root)
    while not os.path.exists(root):
        time.sleep(0.01)
    join(one, open(root, "rb").read())
    buf = one.put(np.zeros(4, np.float32))
    if rank == 0:
        one.call("HcclAllReduce", buf, buf, 4, 4, 0)   # and out, without waiting
        print("leaving", flush=True)
    else:
        time.sleep(3)
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), str(r), str(tmp_path / "root")], cwd=HERE
        )
        for r in range(2)
    ]
    start = time.monotonic()
    for process in processes:
        assert process.wait(60) == 0
    assert time.monotonic() - start < 30


def suspend_work(rank: Rank) -> None:
    buf = rank.put(np.ones(4, np.float32))
    rank.call("HcclAllReduce", buf, buf, 4, 4, 0)
    rank.sync()
    rank.lib("HcclCommSuspend", rank.comm)
    status = rank.lib.status("HcclAllReduce", buf, buf, 4, 4, 0, rank.comm, rank.stream)
    assert status == 22
    rank.lib("HcclCommResume", rank.comm)
    # a failure ends the communicator until all ranks resume it
    try:
        rank.call("HcclAllReduce", buf, buf, 4 - rank.rank, 4, 0)
        rank.sync()
        raise AssertionError("no failure")
    except CallError as error:
        assert error.status == MISMATCH
    assert rank.async_error() == REMOTE
    rank.lib("HcclCommResume", rank.comm)
    assert rank.async_error() == 0
    buf = rank.put(np.full(4, rank.rank + 1, np.float32))
    rank.call("HcclAllReduce", buf, buf, 4, 4, 0)
    rank.call(*(("HcclSend", buf, 4, 4, 1) if rank.rank == 0 else ("HcclRecv", buf, 4, 4, 0)))
    rank.sync()
    assert (rank.get(buf, 4, np.float32) == 3).all()


@pytest.mark.parametrize("mode", MODES)
def test_suspend_and_resume(mode: str) -> None:
    job(2, mode).run(suspend_work)


def busy_work(rank: Rank) -> None:
    """A communicator with work under way is not destroyed."""
    buf = rank.put(np.ones(4, np.float32))
    if rank.rank == 0:
        rank.call("HcclRecv", buf, 4, 4, 1)
        assert rank.lib.status("HcclCommDestroy", rank.comm) == AGAIN
    else:
        time.sleep(0.5)
        rank.call("HcclSend", buf, 4, 4, 0)
    rank.sync()
    rank.lib("HcclCommDestroy", rank.comm)
    assert rank.lib.status("HcclCommDestroy", rank.comm) == 1
    rank.comm = ct.c_void_p()


@pytest.mark.parametrize("mode", MODES)
def test_destroy_while_busy(mode: str) -> None:
    job(2, mode).run(busy_work)


def test_batch_with_a_lost_rank_fails() -> None:
    """Covers the wait for any of several peers."""
    answers = job(3, "thread").run(batch_left_work, timeout_s=60)
    status, text, _ = answers[0]
    assert status == LOST
    assert "rank 2" in text


def batch_left_work(rank: Rank) -> Any:
    buf, other = rank.put(np.zeros(4, np.float32)), rank.put(np.zeros(4, np.float32))
    if rank.rank == 2:
        rank.lib("HcclCommDestroy", rank.comm)
        rank.comm = ct.c_void_p()
        return None
    if rank.rank == 1:
        rank.call("HcclSend", buf, 4, 4, 0)
        rank.sync()
        return None
    items = (Item * 2)(Item(1, buf.value, 4, 4, 1), Item(1, other.value, 4, 4, 2))
    return failure(rank, lambda r: r.call("HcclBatchSendRecv", items, 2))


def test_the_library_is_the_one_under_test() -> None:
    assert library().dll.HcclGetErrorString(TIMEOUT) == b"timed out"


def freed_work(rank: Rank) -> tuple[int, str, float]:
    """Rank 1 frees its buffer while the call that needs it waits behind another."""
    buf, gone = rank.put(np.zeros(4, np.float32)), rank.empty(64)

    def act(rank: Rank) -> None:
        if rank.rank == 0:
            time.sleep(0.5)
        rank.call("HcclBarrier")
        rank.call("HcclAllReduce", gone, gone, 16, 4, 0)
        if rank.rank == 1:
            rank.lib("aclrtFree", gone)
            rank._buffers.remove(gone)

    answer = failure(rank, act)
    assert buf
    return answer


@pytest.mark.parametrize("mode", MODES)
def test_a_buffer_freed_before_the_call_ran(mode: str) -> None:
    for status, text, _ in job(2, mode).run(freed_work, timeout_s=60):
        assert status == 507015
        assert "sendBuf of rank 1" in text
        assert "was freed" in text
