# SPDX-License-Identifier: Apache-2.0
"""How communicators come into being, what they say of themselves, and how they end."""

from __future__ import annotations

import copy
import json
import os
import pickle
import socket
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.ranks import run_ranks
from helpers.recovery import assert_usable

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator
from aclnn_py.errors import ClosedError, DeviceMismatchError, HcclError


@pytest.fixture
def place() -> dict[str, str]:
    """A meeting place of a job of processes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def environ(rank: int, ranks: int, **other: str) -> dict[str, str]:
    return {
        **os.environ,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        **other,
    }


def test_init_all_gives_one_communicator_per_device(run_threads: Any) -> None:
    seen = run_threads(4, lambda c: (c.rank, c.world_size, c.device.index, c.name))
    assert [item[:3] for item in seen] == [(0, 4, 0), (1, 4, 1), (2, 4, 2), (3, 4, 3)]
    assert len({item[3] for item in seen}) == 1


def test_init_all_takes_devices_in_the_order_given() -> None:
    comms = Communicator.init_all([3, ap.Device(1)])
    assert [(c.rank, c.device.index) for c in comms] == [(0, 3), (1, 1)]
    for comm in comms:
        comm.close()


def test_init_all_refuses_a_device_twice() -> None:
    with pytest.raises(HcclError):
        Communicator.init_all([1, 1])


def test_root_info_joins_threads() -> None:
    with ap.Device(0):
        root = Communicator.root_info()
    assert len(root) == 4108
    found: dict[int, Any] = {}

    def join(rank: int) -> None:
        with Communicator.from_root_info(root, 2, rank, device=rank) as comm, comm.device:
            x = ap.from_numpy(np.array([rank + 1], np.int32))
            dist.all_reduce(x, group=comm)
            found[rank] = (comm.rank, comm.world_size, x.numpy()[0])

    threads = [threading.Thread(target=join, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {0: (0, 2, 3), 1: (1, 2, 3)}


def test_a_root_info_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="4108"):
        Communicator.from_root_info(b"short", 2, 0)


def test_rank_table_joins_threads(tmp_path: Path) -> None:
    devices = [
        {"device_id": str(r), "device_ip": f"192.0.2.{r + 1}", "rank_id": str(r)} for r in (0, 1)
    ]
    table = {
        "version": "1.0",
        "status": "completed",
        "server_count": "1",
        "server_list": [{"server_id": "node0", "device": devices}],
    }
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table))
    found = {}

    def join(rank: int) -> None:
        with Communicator.from_rank_table(path, rank, device=rank) as comm:
            found[rank] = (comm.rank, comm.world_size)

    threads = [threading.Thread(target=join, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {0: (0, 2), 1: (1, 2)}


def test_a_rank_table_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HcclError, match="HcclCommInitClusterInfo"):
        Communicator.from_rank_table(tmp_path / "nothing.json", 0)


def _from_env(rank: int, ranks: int, place: dict[str, str]) -> tuple[Any, ...]:
    with Communicator.from_env(environ=environ(rank, ranks, **place)) as comm:
        x = ap.from_numpy(np.arange(3, dtype=np.float32) + rank)
        dist.all_reduce(x)  # the default group, on the device that from_env made current
        comm.barrier()
        return comm.rank, comm.world_size, comm.device.index, comm.name, x.numpy().tolist()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_from_env_joins_processes(ranks: int, place: dict[str, str]) -> None:
    results = run_ranks(ranks, _from_env, place)
    total = sum(range(ranks))
    for rank, found in enumerate(results):
        assert found[:3] == (rank, ranks, rank)
        assert found[4] == [i * ranks + total for i in range(3)]
    assert len({found[3] for found in results}) == 1


def test_from_env_meets_in_a_directory(tmp_path: Path) -> None:
    results = run_ranks(2, _from_env, {"ACLNN_PY_RENDEZVOUS": f"file://{tmp_path}/job"})
    assert [found[:3] for found in results] == [(0, 2, 0), (1, 2, 1)]


def _on_device_zero(rank: int, ranks: int, place: dict[str, str]) -> str:
    with pytest.raises(dist.RendezvousMismatchError) as caught:
        Communicator.from_env(device=0, environ=environ(rank, ranks, **place))
    return str(caught.value)


def test_ranks_on_one_device_are_named_before_hccl_is_entered(place: dict[str, str]) -> None:
    for text in run_ranks(3, _on_device_zero, place):
        assert "ranks 0, 1, 2 share device 0" in text


def _without_rank_one(rank: int, ranks: int, place: dict[str, str]) -> tuple[Any, ...]:
    if rank == 1:
        return ()
    began = time.monotonic()
    with pytest.raises(dist.RendezvousTimeoutError) as caught:
        Communicator.from_env(timeout_s=1.5, environ=environ(rank, ranks, **place))
    assert "rank 1" in str(caught.value)
    with ap.Device(rank):
        assert_usable()
    return caught.value.missing, time.monotonic() - began < 15


def test_a_rank_that_never_comes_is_named_on_the_others(place: dict[str, str]) -> None:
    assert run_ranks(3, _without_rank_one, place) == [((1,), True), (), ((1,), True)]


def test_a_local_rank_without_a_device_is_explained(place: dict[str, str]) -> None:
    env = environ(0, 1, **place)
    env["LOCAL_RANK"] = "99"
    with pytest.raises(dist.RankEnvironmentError, match="local rank 99"):
        Communicator.from_env(environ=env)


def test_split_makes_groups_that_work_side_by_side(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        low, high = comm.split([0, 1]), comm.split([2, 3])
        mine = low if comm.rank < 2 else high
        assert (low is None, high is None) == (comm.rank >= 2, comm.rank < 2)
        assert mine is not None
        x = ap.from_numpy(np.array([10.0**comm.rank], np.float32))
        dist.all_reduce(x, group=mine)
        identity = mine.rank, mine.world_size
        value = float(x.numpy()[0])
        mine.close()
        dist.all_reduce(x, group=comm)  # the parent lives on
        x.numpy()
        return identity, value

    assert run_threads(4, work) == [
        ((0, 2), 11.0),
        ((1, 2), 11.0),
        ((0, 2), 1100.0),
        ((1, 2), 1100.0),
    ]


@pytest.mark.parametrize("ranks", [[], [1, 0], [0, 0], [0, 2], [-1, 0]])
def test_split_refuses_ranks_that_are_no_group(ranks: list[int]) -> None:
    comms = Communicator.init_all(2)
    for comm in comms:
        with pytest.raises(ValueError, match="ranks"):
            comm.split(ranks)
        comm.close()


def test_closing_twice_is_one_release_and_use_after_it_raises() -> None:
    [comm] = Communicator.init_all(1)
    assert "rank 0 of 1" in repr(comm)
    comm.close()
    comm.close()
    assert comm.closed
    assert "closed" in repr(comm)
    for use in (comm.barrier, comm.check, lambda: comm.split([0]), lambda: comm.raw):
        with pytest.raises(ClosedError):
            use()
    with pytest.raises(ClosedError):
        dist.barrier(comm)


def test_a_communicator_is_neither_built_by_hand_nor_copied() -> None:
    with pytest.raises(TypeError, match="from_env"):
        Communicator()
    [comm] = Communicator.init_all(1)
    for attempt in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(comm)
    comm.close()


def test_closing_waits_for_queued_collectives(run_threads: Any) -> None:
    def work(comm: Communicator) -> float:
        x = ap.from_numpy(np.full(1 << 18, comm.rank + 1, np.float32))
        for _ in range(4):
            dist.all_reduce(x, "max", comm)
        comm.close()
        return float(x.numpy().max())

    assert run_threads(2, work) == [2.0, 2.0]


def test_a_stream_of_another_device_is_refused() -> None:
    comms = Communicator.init_all(2)
    with ap.Stream(1) as other, pytest.raises(DeviceMismatchError, match="device 1"):
        comms[0].barrier(stream=other)
    for comm in comms:
        comm.close()


def test_barrier_waits_for_the_last_rank(run_threads: Any) -> None:
    def work(comm: Communicator) -> float:
        if comm.rank == 1:
            time.sleep(0.4)
        began = time.monotonic()
        comm.barrier(timeout_s=30)
        return time.monotonic() - began

    waited, _ = run_threads(2, work)
    assert waited > 0.2


def test_check_is_silent_when_all_is_well(run_threads: Any) -> None:
    run_threads(2, lambda comm: comm.check())
