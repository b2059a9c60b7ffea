# SPDX-License-Identifier: Apache-2.0
"""Collectives and operators fused with them inside captured graphs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.distributed import (
    Communicator,
    all_gather_into_tensor,
    all_gather_matmul,
    all_reduce,
    moe_distribute_combine,
    moe_distribute_dispatch,
)
from aclnn_py.memory.workspace import release_workspace


def reduce_and_gather(comm: Communicator) -> None:
    """Three replays of reduce, scale and gather; every rank has other values every time."""
    x = ap.zeros((4,), np.float32)
    total = ap.empty((4,), np.float32)
    everything = ap.empty((comm.world_size * 4,), np.float32)
    with ap.Graph() as graph:
        with graph.capture() as main:
            total.copy_from(x, stream=main)
            all_reduce(total, "sum", comm)
            ap.ops.inplace_adds(total, float(comm.rank), 1.0)
            all_gather_into_tensor(everything, total, comm)
        for turn in range(3):
            x.copy_from(np.full(4, 10 * turn + comm.rank, np.float32))
            graph.replay()
            mean = sum(10 * turn + rank for rank in range(comm.world_size))
            parts = [np.full(4, mean + rank, np.float32) for rank in range(comm.world_size)]
            assert np.array_equal(everything.numpy(), np.concatenate(parts))


def test_threads(run_threads: Any) -> None:
    run_threads(2, reduce_and_gather)


def send_and_bring_back(comm: Communicator) -> None:
    """Replays of dispatch and combine: other tokens choose other experts every time."""
    x, ids = ap.zeros((3, 32), np.float16), ap.zeros((3, 2), np.int32)
    weights = ap.from_numpy(np.array([[0.5, 0.25]] * 3, np.float32))
    with ap.Graph() as graph:
        with graph.capture():
            sent = moe_distribute_dispatch(x, ids, comm, moe_expert_num=4)
            # Each expert adds its rank to a row.
            results = sent.expand_x + float(comm.rank)
            out = moe_distribute_combine(results, ids, sent, weights, comm, moe_expert_num=4)
        rng = np.random.default_rng(comm.rank)
        for _ in range(3):
            values = rng.integers(-8, 9, (3, 32)).astype(np.float16)
            chosen = np.stack([rng.permutation(4)[:2] for _ in range(3)]).astype(np.int32)
            x.copy_from(values)
            ids.copy_from(chosen)
            graph.replay()
            rank = chosen // (4 // comm.world_size)
            expected = values * 0.75 + (rank * [0.5, 0.25]).sum(1, keepdims=True)
            assert np.array_equal(out.numpy(), expected)


def test_experts_on_ranks(run_threads: Any) -> None:
    run_threads(2, send_and_bring_back)


def test_processes(tmp_path: Path) -> None:
    run_ranks(2, in_a_process, str(tmp_path / "meeting"))


def in_a_process(rank: int, ranks: int, meeting: str) -> None:
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(ranks),
        ACLNN_PY_RENDEZVOUS=f"file://{meeting}",
    )
    with Communicator.from_env() as comm, comm.device:
        reduce_and_gather(comm)


def test_the_workspace_of_captured_launches_is_the_graphs_own(run_threads: Any) -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(-3, 4, (2, 16, 256)).astype(np.float16)
    b = rng.integers(-3, 4, (256, 32)).astype(np.float16)

    def work(comm: Communicator) -> None:
        x, w = ap.from_numpy(a[comm.rank]), ap.from_numpy(b)
        stream = ap.current_stream()
        with ap.Graph() as graph:
            with graph.capture(stream):
                out, gathered = all_gather_matmul(x, w, comm)
            # The stream has its own arena again, or none, whatever it did during the capture.
            release_workspace(stream.state)
            junk = [ap.from_numpy(np.full((1 << 19,), np.nan, np.float32)) for _ in range(4)]
            for _ in range(3):
                graph.replay()
                assert np.array_equal(gathered.numpy(), a.reshape(32, 256))
                assert np.array_equal(out.numpy(), a.reshape(32, 256) @ b)
            assert all(np.isnan(block.numpy()).all() for block in junk)

    run_threads(2, work)


def test_graphs_that_share_memory_share_their_workspace(run_threads: Any) -> None:
    """The second product needs more, in both captures: launches keep what they were given."""
    rng = np.random.default_rng(4)
    a = [rng.integers(-1, 2, (2, m, k)).astype(np.float16) for m, k in ((16, 256), (256, 4096))]
    b = [rng.integers(-1, 2, (array.shape[2], 16)).astype(np.float16) for array in a]
    expected = [
        x.reshape(-1, len(y)).astype(np.float32) @ y.astype(np.float32)
        for x, y in zip(a, b, strict=True)
    ]

    def work(comm: Communicator) -> None:
        x = [ap.from_numpy(array[comm.rank]) for array in a]
        w = [ap.from_numpy(array) for array in b]
        first = ap.Graph()
        graphs, results = [first, ap.Graph(memory_of=first)], []
        for graph in graphs:
            with graph.capture():
                results.append(
                    [all_gather_matmul(one, two, comm)[0] for one, two in zip(x, w, strict=True)]
                )
        arenas = [graph.raw.recordings[0].arenas for graph in graphs]
        assert len(arenas[0]) == 2 and len(arenas[1]) == 1  # the larger one was there already
        assert arenas[0][1] is arenas[1][0]
        for closing in (None, first):
            if closing is not None:
                closing.close()
            for graph, result in zip(graphs, results, strict=True):
                if graph.closed:
                    continue
                for tensor in result:
                    tensor.fill(0)
                graph.replay()
                for tensor, values in zip(result, expected, strict=True):
                    assert np.array_equal(tensor.numpy(), values)
        graphs[1].close()

    run_threads(2, work)


def test_a_communicator_that_was_closed_is_named() -> None:
    comms = Communicator.init_all(1)
    with comms[0].device:
        x = ap.from_numpy(np.ones(4, np.float32))
        with ap.Graph() as graph:
            with graph.capture():
                all_reduce(x, "sum", comms[0])
            graph.replay()
            closing = comms.pop()
            closing.close()
            with pytest.raises(errors.ClosedError, match="Communicator"):
                graph.replay()


def test_a_collective_on_a_stream_outside_is_refused(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.from_numpy(np.ones(4, np.float32))
        with (
            comm.device.create_stream() as outside,
            ap.Graph() as graph,
            pytest.raises(errors.CaptureError, match="HcclAllReduce"),
            graph.capture(),
        ):
            all_reduce(x, "sum", comm, stream=outside)
        all_reduce(x, "sum", comm)
        assert x.numpy().tolist() == [2, 2, 2, 2]

    run_threads(2, work)
