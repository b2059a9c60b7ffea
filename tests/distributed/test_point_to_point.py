# SPDX-License-Identifier: Apache-2.0
"""Transfers between two ranks, over ranks that are threads."""

from __future__ import annotations

from typing import Any

import numpy as np

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator


def test_send_and_recv_pass_a_value_round_the_ring(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x = ap.from_numpy(np.array([comm.rank], np.int32))
        left, right = (comm.rank - 1) % comm.world_size, (comm.rank + 1) % comm.world_size
        if comm.rank == 0:
            dist.send(x, right)
            dist.recv(x, left)
        else:
            mine = ap.from_numpy(np.array([comm.rank], np.int32))
            dist.recv(x, left)
            x = ap.from_numpy(x.numpy() + mine.numpy())
            dist.send(x, right)
        return int(x.numpy()[0])

    assert run_threads(4, work) == [6, 1, 3, 6]


def test_batch_send_recv_exchanges_with_both_neighbours(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        left, right = (comm.rank - 1) % 3, (comm.rank + 1) % 3
        mine = ap.from_numpy(np.full(4, comm.rank, np.float32))
        from_left, from_right = ap.empty((4,), np.float32), ap.empty((4,), np.float32)
        dist.batch_send_recv(
            sends=[(mine, left), (mine, right)], recvs=[(from_left, left), (from_right, right)]
        )
        return float(from_left.numpy()[0]), float(from_right.numpy()[3])

    assert run_threads(3, work) == [(2.0, 1.0), (0.0, 2.0), (1.0, 0.0)]
