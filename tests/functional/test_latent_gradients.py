# SPDX-License-Identifier: Apache-2.0
"""Gradients of attention over chosen keys, and how far an indexer is from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import Array, place, wide
from helpers.slopes import slopes_at, some_places
from ops.sparse_attention.test_indexer_gradients import Attention, Indexer, divergence
from ops.sparse_attention.test_sparse_flash_gradients import SparseProblem, compare

from aclnn_py import functional as f

pytestmark = pytest.mark.usefixtures("device")

F16 = np.dtype(np.float16)


@pytest.mark.parametrize("united", [False, True])
def test_attention_over_chosen_keys_and_back(united: bool) -> None:
    x = SparseProblem("BSND", F16, 3, 1, rotary=united)
    value = x.k if united else x.v
    q, k, v, chosen, dy = (place(x.shaped(t)) for t in (x.q, x.k, value, x.chosen, x.dy))
    ropes = [place(x.shaped(t)) for t in x.ropes] or [None, None]
    more = {"query_rope": ropes[0], "key_rope": ropes[1], "scale": 0.05}
    results = f.sparse_flash_attention(q, k, v, chosen, return_softmax_lse=True, **more)
    found = f.sparse_flash_attention_backward(
        dy, q, k, None if united else v, chosen, *results, **more
    )
    parts = [x.q, x.k, *([] if united else [x.v]), *x.ropes]
    absent = [] if not united else [found[2]]
    absent += [] if x.ropes else list(found[3:])
    assert all(t.shape == (0,) for t in absent)
    kept = [t for t in found if t.shape != (0,)]
    places = [some_places(t.shape, 6, seed=i) for i, t in enumerate(parts)]

    def forward(q: Array, k: Array, *rest: Array) -> Array:
        return x.forward(q, k, None, *rest) if united else x.forward(q, k, *rest)

    wanted = slopes_at(forward, [wide(t) for t in parts], places, wide(x.dy))
    flat = [t.numpy().reshape(p.shape) for t, p in zip(kept, parts, strict=True)]
    compare(flat, wanted, places)


def test_the_scores_of_an_indexer_and_back() -> None:
    x = Indexer("TND", F16, causal=True)
    q, k, w = (place(x.shaped(t)) for t in (x.q, x.k, x.w))
    ends = [place(np.array(n, np.int32)) for n in x.ends()]
    lists: dict[str, Any] = {
        "actual_seq_lengths_query": ends[0],
        "actual_seq_lengths_key": ends[1],
    }
    indices, values = f.lightning_indexer(
        q, k, w, **lists, layout_query="TND", layout_key="TND", return_values=True
    )
    dy = x.draw(*values.shape)
    grads = f.lightning_indexer_backward(place(dy), q, k, w, indices, **lists, layout="TND")
    rows = x.keys_of(indices.numpy()[: len(x.q), 0])

    def forward(q: Array, k: Array, w: Array) -> Array:
        found = np.take_along_axis(x.scores(q, k, w), np.maximum(rows, 0), -1)
        return np.where(rows >= 0, found, 0)

    x.compare(list(grads), forward, wide(dy)[: len(x.q), 0])


@pytest.mark.parametrize("dense", [False, True])
def test_how_far_an_indexer_is_from_attention(dense: bool) -> None:
    x = Indexer("TND", F16, causal=True)
    attention = Attention(x, dense, rotary=False)
    met = x.seen
    tensors = [*attention.tensors(), *(place(x.shaped(t)) for t in (x.q, x.k, x.w))]
    lists = x.ends()
    more: dict[str, Any] = {
        "actual_seq_lengths_query": lists[0],
        "actual_seq_lengths_key": lists[1],
        "layout": "TND",
        "scale": 0.06,
    }
    if dense:
        shares, highest, total = attention.shares(met)
        scores = np.where(met, x.scores(wide(x.q), wide(x.k), wide(x.w)), -np.inf)
        sums = [
            x.shaped(s.astype(np.float32))
            for s in (scores.max(-1), np.exp(scores - scores.max(-1, keepdims=True)).sum(-1))
        ]
        loss, *grads = f.dense_lightning_indexer_kl_loss(
            *tensors, attention.statistics(highest), attention.statistics(total),
            *(place(s[None]) for s in sums), **more,
        )  # fmt: skip
    else:
        places = x.chosen(1024, 6)
        rows = x.keys_of(places)
        met = np.zeros_like(x.seen)
        for at, keys in enumerate(rows):
            met[at, keys[keys >= 0]] = True
        shares, highest, total = attention.shares(met)
        loss, *grads = f.sparse_lightning_indexer_kl_loss(
            *tensors, place(x.shaped(places[:, None], junk=-1)), attention.statistics(highest),
            attention.statistics(total), **more,
        )  # fmt: skip

    def forward(q: Array, k: Array, w: Array) -> Array:
        return divergence(shares, x.scores(q, k, w), met)

    x.compare(grads, forward, np.ones(()))
    wanted = forward(wide(x.q), wide(x.k), wide(x.w))
    np.testing.assert_allclose(loss.numpy(), [wanted], rtol=1e-5)
