# SPDX-License-Identifier: Apache-2.0
"""The way of tokens to their experts and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import place, wide

from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
TOKENS, EXPERTS, K, WIDTH = 5, 8, 2, 16
CHOSEN = np.array([[1, 6], [0, 1], [7, 1], [3, 0], [1, 2]], np.int32)
COUNTS = np.bincount(CHOSEN.ravel(), minlength=EXPERTS)
ORDER = np.argsort(CHOSEN.ravel(), kind="stable")


@pytest.fixture
def x() -> Array:
    values = np.random.default_rng(1).standard_normal((TOKENS, WIDTH))
    return values.astype(np.float32)


def softmax(x: Array) -> Array:
    power = np.exp(wide(x) - wide(x).max(axis=-1, keepdims=True))
    return np.asarray(power / power.sum(axis=-1, keepdims=True))


def test_gating_by_softmax(x: Array) -> None:
    y, experts, places = functional.moe_gating_top_k_softmax(place(x), k=3)
    best = np.argsort(-x, axis=1, kind="stable")[:, :3]
    assert_same(experts.numpy(), best.astype(np.int32))
    assert_close(y.numpy(), np.take_along_axis(softmax(x), best, 1))
    assert_same(places.numpy(), np.arange(15, dtype=np.int32).reshape(3, TOKENS).T)


def test_gating_within_groups(x: Array) -> None:
    bias = np.linspace(-1, 1, WIDTH).astype(np.float32)
    y, experts, scores = functional.moe_gating_top_k(
        place(x), 3, bias=place(bias), k_group=2, group_count=4, group_select_mode=1, norm_type=1,
        out_flag=True, routed_scaling_factor=2.5,
    )  # fmt: skip
    own = 1 / (1 + np.exp(-wide(x)))
    ranked = own + bias
    groups = ranked.reshape(TOKENS, 4, 4)
    worth = np.sort(groups, axis=2)[..., -2:].sum(axis=2)
    kept = np.argsort(-worth, axis=1)[:, :2]
    hidden = np.full((TOKENS, 4, 1), -np.inf)
    np.put_along_axis(hidden, kept[..., None], 0, 1)
    best = np.argsort(-(groups + hidden).reshape(TOKENS, WIDTH), axis=1)[:, :3]
    weights = np.take_along_axis(own, best, 1)
    assert_same(experts.numpy(), best.astype(np.int32))
    assert_close(y.numpy(), weights / weights.sum(axis=1, keepdims=True) * 2.5, scale=2)
    assert_close(scores.numpy(), own, scale=2)


def test_tokens_go_to_their_experts_and_back(x: Array) -> None:
    rows, places, counts, _ = functional.moe_init_routing(place(x), place(CHOSEN), EXPERTS)
    assert_same(rows.numpy(), x[ORDER // K])
    assert_same(counts.numpy(), COUNTS.astype(np.int64))
    scales = np.random.default_rng(2).uniform(0, 1, (TOKENS, K)).astype(np.float32)
    back = functional.moe_finalize_routing(rows, places, scales=place(scales), drop_pad_mode=2)
    assert_close(back.numpy(), wide(x) * wide(scales).sum(axis=1, keepdims=True))


def test_tokens_are_quantised_on_their_way(x: Array) -> None:
    rows, _, ends, scale = functional.moe_init_routing(
        place(x), place(CHOSEN), EXPERTS, quant_mode=1, expert_tokens_num_type=0,
        active_expert_range=(1, 4),
    )  # fmt: skip
    wanted = [at for at in ORDER if 1 <= CHOSEN.ravel()[at] < 4]
    exact = wide(x)[[at // K for at in wanted]]
    assert rows.dtype_name == "int8"
    assert_same(ends.numpy(), np.cumsum(COUNTS[1:4]))
    held = scale.numpy()[: len(wanted)]
    assert_close(held, np.abs(exact).max(axis=1) / 127, scale=4)
    steps = exact / wide(held)[:, None]
    assert np.abs(rows.numpy()[: len(wanted)] - steps).max() <= 0.5 + 1e-3


def test_capacity_of_experts(x: Array) -> None:
    rows, places, _, _ = functional.moe_init_routing(
        place(x), place(CHOSEN), EXPERTS, drop_pad_mode=1, expert_capacity=2
    )
    assert rows.shape == (EXPERTS, 2, WIDTH)
    first = [at for at in ORDER if CHOSEN.ravel()[at] == 1][:2]
    assert_same(rows.numpy()[1], x[np.array(first) // K])
    assert (rows.numpy()[4] == 0).all()
    back = functional.moe_finalize_routing(
        rows, places, scales=place(np.ones((TOKENS, K), np.float32)),
        expert_idx=place(CHOSEN), drop_pad_mode=3,
    )  # fmt: skip
    kept = (places.numpy().reshape(TOKENS, K) >= 0).sum(axis=1, keepdims=True)
    assert_close(back.numpy(), wide(x) * kept)


def test_permutation_and_back(x: Array) -> None:
    rows, places = functional.moe_token_permute(place(x), place(CHOSEN))
    assert_same(rows.numpy(), x[ORDER // K])
    probs = np.random.default_rng(2).uniform(0, 1, (TOKENS, K)).astype(np.float32)
    back = functional.moe_token_unpermute(rows, places, place(probs))
    assert_close(back.numpy(), wide(x) * wide(probs).sum(axis=1, keepdims=True))
    kept, _ = functional.moe_token_permute(place(x), place(CHOSEN), 4)
    assert_same(kept.numpy(), x[ORDER[:4] // K])


def test_a_map_names_the_experts(x: Array) -> None:
    routes = np.zeros((TOKENS, EXPERTS), np.bool_)
    np.put_along_axis(routes, CHOSEN, True, axis=1)
    chosen = int(routes.sum(axis=1)[0])
    probs = np.random.default_rng(4).uniform(0, 1, routes.shape).astype(np.float32)
    given = {"probs": place(probs)}
    count = TOKENS * chosen
    rows, factors, places = functional.moe_token_permute_with_routing_map(
        place(x), place(routes), count, **given
    )
    owners = np.broadcast_to(np.arange(TOKENS), (EXPERTS, TOKENS))[routes.T]
    assert_same(rows.numpy(), x[owners])
    assert_same(factors.numpy(), probs.T[routes.T])
    back = functional.moe_token_unpermute_with_routing_map(
        rows, places, TOKENS, routing_map=place(routes), **given
    )
    exact = wide(x) * (wide(probs) * routes).sum(axis=1, keepdims=True)
    assert_close(back.numpy(), exact, scale=2)
    rows, factors, places = functional.moe_token_permute_with_routing_map(
        place(x), place(np.ones((TOKENS, EXPERTS), np.bool_)), 2 * EXPERTS, drop_and_pad=True
    )
    assert rows.shape == (2 * EXPERTS, WIDTH)
    assert factors.shape == (0,)
    assert_same(places.numpy(), np.tile(np.array([0, 1], np.int32), EXPERTS))
    with pytest.raises(ValueError, match="routing_map: expected shape"):
        functional.moe_token_permute_with_routing_map(place(x), place(np.ones(3, np.int8)), 3)


def test_copies_of_experts() -> None:
    table = np.array([[1, 4, -1], [2, 0, 5], [2, 1, 3]], np.int32)
    ids = np.array([[0, 1], [2, 1], [1, 0]], np.int32)
    scales = np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]], np.float32)
    copies, _ = functional.moe_update_expert(place(ids), place(table), 0, 2, balance_mode=1)
    wanted = [[table[e, 1 + t % table[e, 0]] for e in row] for t, row in enumerate(ids)]
    assert_same(copies.numpy(), np.array(wanted, np.int32))
    threshold = np.array([0.2, 0.2], np.float32)
    _, kept = functional.moe_update_expert(
        place(ids), place(table), 0, 2, balance_mode=1, expert_scales=place(scales),
        pruning_threshold=place(threshold), active_mask=place(np.ones(3, np.bool_)),
    )  # fmt: skip
    assert_same(kept.numpy(), scales >= scales.sum(axis=1, keepdims=True) * threshold)


def test_expert_tokens() -> None:
    owners = place(np.repeat(np.arange(EXPERTS), COUNTS).astype(np.int32))
    ends = functional.moe_compute_expert_tokens(owners, EXPERTS)
    assert_same(ends.numpy(), np.cumsum(COUNTS).astype(np.int32))


def test_mistakes_are_named(x: Array) -> None:
    with pytest.raises(ValueError, match="active_expert_range"):
        functional.moe_init_routing(place(x), place(CHOSEN), 8, active_expert_range=(3, 1))
    with pytest.raises(ValueError, match="expert_capacity: -1"):
        functional.moe_init_routing(place(x), place(CHOSEN), 8, drop_pad_mode=1, expert_capacity=-1)
