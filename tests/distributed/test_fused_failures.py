# SPDX-License-Identifier: Apache-2.0
"""What the other ranks hear when one rank of a fused operator fails."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.experts import Layer, combine, dispatch, on_threads
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py.distributed import Communicator

A3 = {"ACLNN_PY_EMULATOR_SOC": "Ascend910_9391", "HCCL_EXEC_TIMEOUT": "30"}
WIDTH = 1024


def _layer() -> Layer:
    x = np.ones((3, WIDTH), np.float16)
    return Layer([x, x], [np.array([[0], [1], [0]], np.int32)] * 2, 2)


def _dispatch(comm: Communicator, tp: Communicator) -> str:
    layer = _layer()
    if comm.rank == 0 and tp.rank == 0:
        layer.ids[0] = np.full((3, 1), 9, np.int32)
    with pytest.raises(ap.errors.StatusError) as caught:
        dispatch(layer, comm, 2, tp=tp)["expand_x"].numpy()
    return str(caught.value)


def _combine(comm: Communicator, tp: Communicator) -> str:
    layer = _layer()
    sent = dispatch(layer, comm, 2, tp=tp)
    if comm.rank == 0 and tp.rank == 0:
        sent["tp_recv_counts"] = ap.from_numpy(np.array([-1, 3], np.int32))
    with pytest.raises(ap.errors.StatusError) as caught:
        combine(layer, comm, sent, sent["expand_x"], 2).numpy()
    return str(caught.value)


def _with_tensor_parallelism(rank: int, ranks: int) -> list[list[str]]:
    texts = []
    for case in (_dispatch, _combine):
        rows = [Communicator.init_all([0, 1]), Communicator.init_all([2, 3])]
        columns = [Communicator.init_all([0, 2]), Communicator.init_all([1, 3])]
        members = [[rows[i // 2][i % 2], columns[i % 2][i // 2]] for i in range(4)]
        texts.append(on_threads(members, case))
        for comm in (*rows[0], *rows[1], *columns[0], *columns[1]):
            comm.close()
    return texts


@pytest.mark.emulator_only(reason="the emulator can be any chip")
def test_both_groups_hear_of_a_failure() -> None:
    """Rank 0 of both groups fails, its partners wait in one of them, the last rank in none."""
    (found,) = run_ranks(1, _with_tensor_parallelism, env=A3)
    reasons = ("expertIds names expert 9", "tpSendCounts has -1")
    for texts, reason in zip(found, reasons, strict=True):
        assert reason in texts[0]
        for text in texts[1:]:
            assert reason in text or "failed on a rank of this group" in text
