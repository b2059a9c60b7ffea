# SPDX-License-Identifier: Apache-2.0
"""BandwidthTest, which a 950 has: tokens arrive by the rank they come from, in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import NAME
from helpers.experts import on_threads
from helpers.numerics import assert_same
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py.distributed import Communicator
from aclnn_py.errors import AclError, AclnnError

pytestmark = pytest.mark.emulator_only(reason="the emulator can be any chip")

WIDTH, MOST = 40, 9
Array = np.ndarray[Any, Any]


def tokens(rank: int, ranks: int, only: int | None = None) -> tuple[Array, Array]:
    """The tokens of a rank and where they go: anywhere, or all to one rank."""
    rng = np.random.default_rng(rank)
    count = 3 + 2 * rank % (MOST - 2)
    to = rng.integers(0, ranks, count) if only is None else np.full(count, only)
    return rng.standard_normal((count, WIDTH)).astype(np.float16), to.astype(np.int32)


def launch(comm: Communicator, x: Array, to: Array, mode: int, rows: int) -> list[Array]:
    """y and receiveCnt, which were 77 and -1."""
    y = ap.full((rows, 2 * WIDTH), 77, np.float16)[:, ::2]
    counts = ap.full((comm.world_size,), -1, np.int32)
    ap.ops.bandwidth_test(
        ap.from_numpy(np.repeat(x, 2, axis=1))[:, ::2], ap.from_numpy(to), comm.name,
        comm.world_size, MOST, mode, "", -1, y, counts,
    )  # fmt: skip
    return [y.numpy(), counts.numpy()]


def arrive(comm: Communicator) -> None:
    ranks = comm.world_size
    for only in (None, ranks - 1):
        sent = [tokens(rank, ranks, only) for rank in range(ranks)]
        come = [x[to == comm.rank] for x, to in sent]
        expected = np.concatenate(come)
        y, counts = launch(comm, *sent[comm.rank], 0, len(expected) + 2)
        assert_same(counts, np.array([len(rows) for rows in come], np.int32))
        assert_same(y, np.concatenate([expected, np.full((2, WIDTH), 77, np.float16)]))


def only_send(comm: Communicator) -> None:
    y, counts = launch(comm, *tokens(comm.rank, comm.world_size), 1, 4)
    assert_same(y, np.full(y.shape, 77, np.float16))
    assert_same(counts, np.full(counts.shape, -1, np.int32))


def refuse(comm: Communicator) -> None:
    x, to = tokens(comm.rank, comm.world_size)
    good = [
        ap.from_numpy(x), ap.from_numpy(to), comm.name, comm.world_size, MOST, 0, "", -1,
        ap.zeros((4, WIDTH), np.float16), ap.zeros((comm.world_size,), np.int32),
    ]  # fmt: skip
    for at, wrong, status, words in (
        (0, None, 161001, "x is null"),
        (9, None, 161001, "receiveCnt is null"),
        (0, ap.zeros(x.shape, np.float32), 161002, "x has dtype FLOAT"),
        (1, ap.zeros(to.shape, np.int64), 161002, "dstRankId has dtype INT64"),
        (1, ap.zeros((99,), np.int32), 561002, "dstRankId has shape"),
        (2, "nobody", 361001, "nobody"),
        (3, comm.world_size + 1, 561002, "receiveCnt has shape"),
        (3, 1, 561002, "worldSize is 1"),
        (4, 1, 561002, "maxBs is 1"),
        (4, 1 << 40, 561002, "set HCCL_BUFFSIZE"),
        (5, 2, 561002, "mode is 2; allowed: 0, 1"),
        (8, ap.zeros((4, WIDTH + 1), np.float16), 561002, "y has shape"),
    ):
        arguments = [*good[:at], wrong, *good[at + 1 :]]
        with pytest.raises(AclnnError) as caught:
            ap.ops.bandwidth_test(*arguments)
        assert caught.value.status == status, caught.value
        assert words in str(caught.value), caught.value


def too_many(comm: Communicator) -> None:
    x, to = tokens(comm.rank, comm.world_size, only=0)
    with pytest.raises(AclError, match=r"tokens are for rank 0, whose y has 2 rows"):
        launch(comm, x, to, 0, 2)


def to_nobody(comm: Communicator) -> None:
    x, to = tokens(comm.rank, comm.world_size)
    to[0] = comm.world_size
    with pytest.raises(AclError, match=r"dstRankId has \d; there are \d ranks"):
        launch(comm, x, to, 0, 2)


def _threads(rank: int, ranks: int) -> None:
    for count, cases in (
        (2, [arrive, only_send, refuse]),
        (5, [arrive]),
        (2, [too_many]),
        (2, [to_nobody]),
    ):
        comms = Communicator.init_all(count)
        for case in cases:
            on_threads([[comm] for comm in comms], case)
        for comm in comms:
            comm.close()


def test_tokens_arrive_by_rank_and_in_order() -> None:
    run_ranks(1, _threads, env={"ACLNN_PY_EMULATOR_SOC": NAME}, timeout_s=120.0)


def _on_a_910b(rank: int, ranks: int) -> None:
    comms = Communicator.init_all(2)

    def refused(comm: Communicator) -> None:
        with pytest.raises(AclnnError, match="chips of the 950 series have") as caught:
            launch(comm, *tokens(comm.rank, 2), 0, 9)
        assert caught.value.status == 561003

    on_threads([[comm] for comm in comms], refused)
    for comm in comms:
        comm.close()


def test_a_910b_lacks_it() -> None:
    run_ranks(1, _on_a_910b, timeout_s=60.0)
