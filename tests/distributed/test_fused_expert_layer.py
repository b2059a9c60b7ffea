# SPDX-License-Identifier: Apache-2.0
"""A layer of experts as a service runs it: gating, dispatch, int8 products with swiglu, combine."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.experts import quantised

import aclnn_py as ap
from aclnn_py.distributed import (
    Communicator,
    all_to_all_matmul,
    matmul_all_to_all,
    moe_distribute_combine,
    moe_distribute_dispatch,
)
from aclnn_py.errors import AclnnError

BF16 = ml_dtypes.bfloat16
TOKENS, WIDTH, INNER, CHOSEN = 6, 64, 32, 2


class Weights:
    """Experts of all ranks, quantised by column."""

    def __init__(self, experts: int) -> None:
        rng = np.random.default_rng(3)
        self.first = rng.integers(-30, 31, (experts, WIDTH, 2 * INNER)).astype(np.int8)
        self.first_scale = rng.random((experts, 2 * INNER), np.float32) / 200
        self.second = rng.integers(-30, 31, (experts, INNER, WIDTH)).astype(np.int8)
        self.second_scale = (rng.random((experts, WIDTH), np.float32) / 200).astype(BF16)


def scores_of(rank: int, experts: int) -> np.ndarray:
    return np.random.default_rng(20 + rank).standard_normal((TOKENS, experts)).astype(np.float32)


def tokens_of(rank: int) -> np.ndarray:
    return np.random.default_rng(rank).standard_normal((TOKENS, WIDTH)).astype(BF16)


def layer(comm: Communicator, experts: int) -> np.ndarray:
    """The layer on this rank."""
    local = experts // comm.world_size
    mine = slice(comm.rank * local, (comm.rank + 1) * local)
    weights = Weights(experts)
    x = ap.from_numpy(tokens_of(comm.rank))
    share = ap.full((TOKENS, CHOSEN), -7, np.float32)
    ids, rows = (ap.full((TOKENS, CHOSEN), -7, np.int32) for _ in range(2))
    scores = ap.from_numpy(scores_of(comm.rank, experts))
    ap.ops.moe_gating_top_k_softmax(scores, None, CHOSEN, share, ids, rows)
    sent = moe_distribute_dispatch(
        x, ids, comm, moe_expert_num=experts, quant_mode=2, expert_token_nums_type=0
    )
    room = sent.expand_x.shape[0]
    hidden, hidden_scale = ap.full((room, INNER), 0, np.int8), ap.full((room,), 0, np.float32)
    ap.ops.grouped_matmul_swiglu_quant(
        sent.expand_x, ap.from_numpy(weights.first[mine], format="FRACTAL_NZ"), None, None,
        ap.from_numpy(weights.first_scale[mine]), sent.dynamic_scales, sent.expert_token_nums,
        hidden, hidden_scale, None,
    )  # fmt: skip
    results = ap.full((room, WIDTH), 0, BF16)
    ap.ops.grouped_matmul_v4(
        [hidden], [ap.from_numpy(weights.second[mine])], None,
        [ap.from_numpy(weights.second_scale[mine])], None, None, None, [hidden_scale],
        sent.expert_token_nums, None, None, None, 3, 0, 0, 0, [results], None, None,
    )  # fmt: skip
    out = moe_distribute_combine(results, ids, sent, share, comm, moe_expert_num=experts)
    return out.numpy()


def in_numpy(rank: int, experts: int) -> np.ndarray:
    """The same layer in float64, quantised where the operators quantise."""
    weights = Weights(experts)
    scores = scores_of(rank, experts).astype(np.float64)
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    out = np.zeros((TOKENS, WIDTH))
    for token, x in enumerate(tokens_of(rank).astype(np.float32)):
        for expert in np.argsort(-scores[token], kind="stable")[:CHOSEN]:
            values, scale = quantised(x)
            both = values.astype(np.float64) @ weights.first[expert].astype(np.float64)
            both *= weights.first_scale[expert] * np.float64(scale)
            gate, up = both[:INNER], both[INNER:]
            hidden = gate / (1 + np.exp(-gate)) * up
            step = np.abs(hidden).max() / 127
            small = np.rint(hidden / step)
            result = small @ weights.second[expert].astype(np.float64) * step
            out[token] += share[token, expert] * result * weights.second_scale[expert].astype(float)
    return out


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_the_layer_is_that_of_numpy(run_threads: Any, ranks: int) -> None:
    experts = 16
    results = run_threads(ranks, lambda comm: layer(comm, experts), timeout_s=240.0)
    for rank, result in enumerate(results):
        expected = in_numpy(rank, experts)
        # a step of int8 may fall to the other side, and results are bfloat16
        limit = 0.02 * np.abs(expected).max()
        np.testing.assert_allclose(result.astype(np.float64), expected, rtol=0.02, atol=limit)


def test_the_number_of_ranks_changes_nothing(run_threads: Any) -> None:
    """The same tokens give the same bits on 2 and on 4 ranks."""
    few = run_threads(2, lambda comm: layer(comm, 8))
    many = run_threads(4, lambda comm: layer(comm, 8))
    for rank in range(2):
        np.testing.assert_array_equal(few[rank].view(np.uint16), many[rank].view(np.uint16))


def test_special_experts_need_no_rank(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.from_numpy(tokens_of(comm.rank))
        ids = ap.from_numpy(np.array([[2, 3]] * TOKENS, np.int32))  # a zero and a copy
        share = ap.from_numpy(np.full((TOKENS, 2), 0.5, np.float32))
        special = {"moe_expert_num": 2, "zero_expert_num": 1, "copy_expert_num": 1}
        sent = moe_distribute_dispatch(x, ids, comm, **special)
        assert not sent.expert_token_nums.numpy().any()
        results = ap.zeros(sent.expand_x.shape, BF16)
        out = moe_distribute_combine(results, ids, sent, share, comm, ori_x=x, **special)
        np.testing.assert_array_equal(out.numpy(), tokens_of(comm.rank) * BF16(0.5))

    run_threads(2, work)


def test_products_with_exchanges(run_threads: Any) -> None:
    def whole(seed: int, *shape: int) -> np.ndarray:
        return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float16)

    def work(comm: Communicator) -> None:
        rank = comm.rank
        parts = [whole(r, 4, 6) for r in range(2)]
        x2, bias = whole(9, 12, 5), whole(8, 5)
        rows = np.concatenate([part[rank * 2 : rank * 2 + 2] for part in parts], axis=1)
        expected = rows.astype(np.float64) @ x2 + bias
        for trans in (False, True):
            right = ap.from_numpy(np.ascontiguousarray(x2.T) if trans else x2)
            out, exchanged = all_to_all_matmul(
                ap.from_numpy(parts[rank]), right, comm, bias=ap.from_numpy(bias), trans_x2=trans,
                all_to_all_output=not trans,
            )  # fmt: skip
            np.testing.assert_array_equal(out.numpy(), expected)
            assert (exchanged is None) == trans
            if exchanged is not None:
                np.testing.assert_array_equal(exchanged.numpy(), rows)
        right = whole(5, 6, 4)
        out = matmul_all_to_all(ap.from_numpy(parts[rank]), ap.from_numpy(right), comm, 2)
        products = [part.astype(np.float64) @ right for part in parts]
        expected = np.concatenate([p[:, rank * 2 : rank * 2 + 2] for p in products])
        np.testing.assert_array_equal(out.numpy(), expected)

    run_threads(2, work)


def test_mistakes_python_can_name(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.zeros((2, 32), np.float16)
        ids = ap.zeros((2, 1), np.int32)
        with pytest.raises(ValueError, match="world_size: 4"):
            moe_distribute_dispatch(x, ids, comm, 4, moe_expert_num=2)
        with pytest.raises(TypeError, match="expert_ids"):
            moe_distribute_dispatch(x, np.zeros((2, 1), np.int32), comm, moe_expert_num=2)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="matrix"):
            all_to_all_matmul(x[0], x, comm)
        with pytest.raises(AclnnError, match="moeExpertNum"):
            moe_distribute_dispatch(x, ids, comm, moe_expert_num=3)

    run_threads(2, work)
