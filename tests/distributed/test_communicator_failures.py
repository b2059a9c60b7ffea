# SPDX-License-Identifier: Apache-2.0
"""A rank that ends, never comes or does something else: the others raise, name it, and go on."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.ranks import run_ranks, start_ranks
from helpers.recovery import assert_usable

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator
from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.errors import AclnnPyError, DeviceTimeoutError, StatusError
from aclnn_py.errors.ranks import RankLostError
from aclnn_py.runtime.handle import Handle

BEGIN = """
import os, signal, sys, time
import numpy as np
import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.errors import StatusError
from helpers.recovery import assert_usable

comm = dist.Communicator.from_env(timeout_s=30)
x = ap.from_numpy(np.ones(64, np.float32))
dist.all_reduce(x)
assert x.numpy()[0] == comm.world_size
if comm.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
began = time.monotonic()
try:
    dist.all_reduce(x)
"""
END = """
except Exception as error:
    took = time.monotonic() - began
    assert isinstance(error, (dist.RankLostError, StatusError)), repr(error)
    comm.close()
    assert_usable()
    print(type(error).__name__, "rank 1" in str(error), took < 20)
else:
    print("no error")
"""


def test_a_killed_rank_is_named_by_a_wait_of_the_communicator(tmp_path: Path) -> None:
    script = BEGIN + "    comm.synchronize(timeout_s=40)" + END
    first, killed, third = start_ranks(tmp_path, 3, script)
    assert killed[0] == -signal.SIGKILL
    assert first == third == (0, "RankLostError True True")


class LateNews(Rendezvous):
    """A meeting that tells of a lost rank only when it is asked for the third time."""

    rank, world_size, asked = 0, 2, 0

    def gather(self, label: str, payload: dict[str, Any], *, timeout_s: float) -> list[Any]:
        raise AssertionError("nobody gathers after bring-up")

    def lost_ranks(self) -> tuple[int, ...]:
        self.asked += 1
        return (1,) if self.asked >= 3 else ()

    def close(self) -> None:
        return


@pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")
def test_a_lost_rank_is_named_when_the_news_come_after_the_fault() -> None:
    [comm] = Communicator.init_all(1)
    Handle.raw.__get__(comm).meeting = LateNews()
    with comm.device, comm.device.create_stream():
        x, bad = ap.from_numpy(np.ones((4, 3), np.float32)), ap.from_numpy(np.array([7]))
        ap.ops.index_select(x, 0, bad, ap.empty((1, 3), np.float32))
        with pytest.raises(RankLostError, match="rank 1") as caught:
            comm.synchronize()
    assert isinstance(caught.value.__cause__, StatusError)
    with contextlib.suppress(StatusError):  # the stream still reports its fault
        comm.close()


def test_a_killed_rank_is_named_by_any_other_wait(tmp_path: Path) -> None:
    first, killed, third = start_ranks(tmp_path, 3, BEGIN + "    x.numpy()" + END)
    assert killed[0] == -signal.SIGKILL
    for status, output in (first, third):
        assert status == 0
        assert output.endswith("Error True True")


def test_a_rank_killed_during_bring_up_is_named(tmp_path: Path) -> None:
    script = """
import os, signal, time
from aclnn_py import distributed as dist
from aclnn_py.distributed import bringup
if os.environ["RANK"] == "1":
    facts = bringup.own_facts
    bringup.own_facts = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
began = time.monotonic()
try:
    dist.Communicator.from_env(timeout_s=40)
except dist.RankLostError as error:
    print(error.ranks, time.monotonic() - began < 20)
"""
    first, killed = start_ranks(tmp_path, 2, script)
    assert killed[0] == -signal.SIGKILL
    assert first == (0, "(1,) True")


def _one_rank_stays_away(rank: int, ranks: int, port: int) -> Any:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), HCCL_EXEC_TIMEOUT="2",
    )  # fmt: skip
    comm = Communicator.from_env()
    x = ap.from_numpy(np.ones(4, np.float32))
    began = time.monotonic()
    if rank == 1:
        time.sleep(6)  # alive, but elsewhere
        return "", True, True
    dist.all_reduce(x)
    with pytest.raises(AclnnPyError) as caught:
        comm.synchronize(timeout_s=60)
    in_time = time.monotonic() - began < 20
    is_status = isinstance(caught.value, StatusError)
    text = str(caught.value)
    comm.close()
    assert_usable()
    return text, in_time, is_status


def test_a_rank_that_never_comes_to_a_collective_is_named() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    results = run_ranks(3, _one_rank_stays_away, port)
    for rank in (0, 2):
        text, in_time, is_status = results[rank]
        assert is_status
        assert in_time
        assert "rank 1" in text


def test_a_wait_with_a_timeout_gives_up_and_the_work_goes_on(run_threads: Any) -> None:
    def work(comm: Communicator) -> float:
        x = ap.from_numpy(np.ones(4, np.float32))
        if comm.rank == 1:
            time.sleep(1.0)
        dist.all_reduce(x)
        if comm.rank == 0:
            with pytest.raises(DeviceTimeoutError):
                comm.synchronize(timeout_s=0.2)
        comm.synchronize(timeout_s=30)
        return float(x.numpy()[0])

    assert run_threads(2, work) == [2.0, 2.0]


def test_ranks_that_call_different_collectives_are_told(run_threads: Any) -> None:
    def work(comm: Communicator) -> str:
        x = ap.from_numpy(np.ones(4, np.float32))
        if comm.rank == 0:
            dist.all_reduce(x)
        else:
            dist.broadcast(x, 0)
        with pytest.raises(StatusError) as caught:
            comm.synchronize(timeout_s=30)
        assert_usable()
        return str(caught.value)

    for text in run_threads(2, work):
        assert "HcclAllReduce" in text and "HcclBroadcast" in text


def test_ranks_that_pass_different_sizes_are_told(run_threads: Any) -> None:
    def work(comm: Communicator) -> str:
        dist.all_reduce(ap.from_numpy(np.ones(4 + comm.rank, np.float32)))
        with pytest.raises(StatusError) as caught:
            comm.synchronize(timeout_s=30)
        return str(caught.value)

    for text in run_threads(2, work):
        assert "count=4" in text and "count=5" in text


def _after_a_fault(comm: Communicator, work: str) -> str:
    """Let rank 0 come to a collective after a fault; return what each rank hears."""
    with comm.device, ap.Stream(comm.device) as stream, stream.use():
        x = ap.from_numpy(np.full((4, 256), comm.rank + 1.0, np.float16))
        w = ap.from_numpy(np.ones((256, 4), np.float16))
        bad = ap.from_numpy(np.array([1 if comm.rank else 9]))
        row = ap.empty((1, 256), np.float16)
        stream.synchronize()
        try:
            if work == "graph":
                with ap.Graph() as graph:
                    with graph.capture():
                        ap.ops.index_select(x, 0, bad, row)
                        dist.all_reduce(x, "sum", comm)
                    graph.replay()
                    stream.synchronize()
            else:
                ap.ops.index_select(x, 0, bad, row)
                if work == "all_reduce":
                    dist.all_reduce(x, "sum", comm)
                else:
                    dist.all_gather_matmul(x, w, comm)
                stream.synchronize()
        except StatusError as error:
            return str(error)
        finally:
            with contextlib.suppress(StatusError):
                stream.synchronize()
        return "nothing"


@pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")
@pytest.mark.parametrize("work", ["all_reduce", "all_gather_matmul", "graph"])
def test_what_was_computed_after_a_fault_reaches_no_other_rank(run_threads: Any, work: str) -> None:
    own, other = run_threads(2, lambda comm: _after_a_fault(comm, work))
    assert "index holds 9" in own
    after = "captured graph" if work == "graph" else "aclnnIndexSelect"
    assert "rank 0" in other and "after a fault" in other and after in other
