# SPDX-License-Identifier: Apache-2.0
"""Gradients of the lightning indexers, and of their divergence from attention, by complex steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.operators import Array, hollow, op, place, wide
from helpers.slopes import slopes_at, some_places

import aclnn_py as ap
from aclnn_py.errors import AclnnError, DeviceError

pytestmark = pytest.mark.usefixtures("device")

F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
ALL, WIDTH, HEADS, PLACES = 2147483647, 128, 8, 12
SCALE = 0.06


def ints(*values: Any) -> ap.Tensor:
    return place(np.array(values, np.int32))


class Indexer:
    """Queries and keys of two sequences, behind each other; a packed tensor has one token more."""

    def __init__(self, layout: str, dtype: Any, causal: bool, weights: Any = None) -> None:
        self.rng = np.random.default_rng(7)
        self.layout, self.dtype, self.packed = layout, dtype, layout == "TND"
        self.lengths, self.keys = ((4, 2), (13, 9)) if self.packed else ((4, 4), (13, 13))
        self.q = self.draw(sum(self.lengths), HEADS, WIDTH) / 4
        self.k = self.draw(sum(self.keys), 1, WIDTH)
        self.w = self.draw(sum(self.lengths), HEADS).astype(weights or dtype)
        self.q = self.q.astype(dtype)
        self.seen = np.zeros((len(self.q), len(self.k)), bool)
        for b, (n, keys) in enumerate(zip(self.lengths, self.keys, strict=True)):
            for t in range(n):
                most = keys - n + t + 1 if causal else keys
                self.seen[self.row(b, t), self.key(b) : self.key(b) + most] = True

    def row(self, b: int, token: int) -> int:
        return b * self.lengths[0] + token

    def key(self, b: int) -> int:
        return b * self.keys[0]

    def draw(self, *shape: int) -> Array:
        return self.rng.normal(size=shape).astype(self.dtype)

    def shaped(self, rows: Array, junk: float = 3.0) -> Array:
        """Return the tensor; a packed one has a token behind the last sequence."""
        if not self.packed:
            return rows.reshape(2, -1, *rows.shape[1:])
        return np.concatenate([rows, np.full((1, *rows.shape[1:]), junk).astype(rows.dtype)])

    def flat(self, tensor: Any, like: Array) -> Array:
        """Return the rows of a result; what is behind the last sequence must be 0."""
        found = wide(tensor.numpy()).reshape(-1, *like.shape[1:])
        assert not found[len(like) :].any()
        return found[: len(like)]

    def chosen(self, width: int, counts: int, every: Array | None = None) -> Array:
        """Return the places of keys for each token; those without a key are anywhere."""
        places = np.full((len(self.q), width), -1, np.int32)
        for b, (n, keys) in enumerate(zip(self.lengths, self.keys, strict=True)):
            for t in range(n):
                found = self.rng.permutation(keys)[:counts]
                at = self.rng.permutation(counts + 3)[: len(found)]
                places[self.row(b, t), at] = found
        places[1] = -1  # a token that meets nothing
        return places

    def keys_of(self, places: Array) -> Array:
        """Return the row of the key at each place, -1 where a token does not see it."""
        rows = np.full(places.shape, -1)
        for b, n in enumerate(self.lengths):
            for t in range(n):
                at = self.row(b, t)
                key = np.where(places[at] < 0, 0, places[at] + self.key(b))
                rows[at] = np.where((places[at] >= 0) & self.seen[at, key], key, -1)
        return rows

    def scores(self, q: Array, k: Array, w: Array) -> Array:
        products = np.einsum("tnd,kd->tnk", q, k[:, 0])
        return np.einsum("tn,tnk->tk", w, np.where(products.real > 0, products, 0))

    def offsets(self) -> list[Any]:
        if not self.packed:
            return [None, None]
        return [ints(0, *np.cumsum(x)) for x in (self.lengths, self.keys)]

    def ends(self) -> list[Any]:
        return [list(map(int, np.cumsum(x))) for x in (self.lengths, self.keys)]

    def compare(self, results: list[Any], forward: Callable[..., Any], *dy: Array) -> None:
        parts = [self.q, self.k, self.w]
        spots = [some_places(x.shape, PLACES, seed=i) for i, x in enumerate(parts)]
        wanted = slopes_at(forward, [wide(x) for x in parts], spots, *dy)
        for result, part, expected, at in zip(results, parts, wanted, spots, strict=True):
            found = self.flat(result, part)
            step = {F16: 2.0**-10, BF16: 2.0**-7}.get(part.dtype, 2.0**-17)
            usual = np.sqrt(np.mean(found**2))
            error = abs(np.array([found[i] for i in at]) - expected)
            np.testing.assert_array_less(error, step * (abs(expected) + usual) + 1e-9)

    def hollows(self) -> list[Any]:
        return [hollow(self.shaped(x).shape, x.dtype) for x in (self.q, self.k, self.w)]


def softmax(scores: Array, shown: Array) -> Array:
    highest = np.where(shown, scores.real, -1e30).max(-1, keepdims=True)
    p = np.where(shown, np.exp(np.where(shown, scores - highest, 0)), 0)
    return np.asarray(p / np.maximum(p.sum(-1, keepdims=True), 1e-300))


def divergence(shares: Array, scores: Array, shown: Array) -> Array:
    """Return the sum over tokens of the divergence of softmax(scores) from the shares."""
    used = shown & (shares > 0)
    q = np.where(used, softmax(scores, shown), 1)
    return np.where(used, shares * (np.log(np.where(used, shares, 1)) - np.log(q)), 0).sum()


@pytest.mark.parametrize(
    ("layout", "mode", "dtype", "with_head"),
    [("TND", 3, F16, False), ("BSND", 0, BF16, True), ("TND", 0, BF16, True)],
)
def test_the_gradient_of_scores(layout: str, mode: int, dtype: Any, with_head: bool) -> None:
    x = Indexer(layout, dtype, causal=mode == 3)
    places = x.chosen(2048, 6)
    places[2, 20:22] = places[2].max()  # one key at three places
    rows = x.keys_of(places)
    dy = x.draw(*places.shape)
    shape = (lambda a: a[:, None]) if with_head else (lambda a: a)
    results = x.hollows()
    lists = [ints(*n) if x.packed else None for n in x.ends()]
    op("LightningIndexerGrad")(
        place(x.shaped(x.q), "stepped"), place(x.shaped(x.k)), place(x.shaped(shape(dy))),
        place(x.shaped(shape(places), junk=-1)), place(x.shaped(x.w), "transposed"), *lists, HEADS,
        layout, mode, ALL, ALL, False, *results,
    )  # fmt: skip

    def forward(q: Array, k: Array, w: Array) -> Array:
        found = np.take_along_axis(x.scores(q, k, w), np.maximum(rows, 0), -1)
        return np.where(rows >= 0, found, 0)

    x.compare(results, forward, wide(dy))
    assert not x.flat(results[0], x.q)[1].any()


@pytest.mark.parametrize(
    ("layout", "mode", "ratio", "dtype"), [("TND", 3, 1, BF16), ("BSND", 3, 4, F16)]
)
def test_the_gradient_towards_given_shares(layout: str, mode: int, ratio: int, dtype: Any) -> None:
    """With a compression ratio the list of keys alone says what a token meets."""
    x = Indexer(layout, dtype, causal=ratio == 1, weights=F32)
    places = x.chosen(512, 6)
    rows = x.keys_of(places)
    shares = np.where(rows >= 0, x.rng.random(rows.shape), 0)
    shares[2, np.argmax(rows[2] >= 0)] = 0
    shares = (shares / np.maximum(shares.sum(-1, keepdims=True), 1e-30)).astype(F32)
    results = [*x.hollows(), hollow(x.shaped(places[:, None]).shape, F32)]
    op("SparseLightningIndexerKLLossGrad")(
        place(x.shaped(x.q)), place(x.shaped(x.k)), place(x.shaped(x.w)),
        place(x.shaped(places[:, None], junk=-1)), place(x.shaped(shares[:, None])), *x.offsets(),
        None, None, None, ints(*[0] * 64), layout, layout, mode, ratio, *results,
    )  # fmt: skip

    def forward(q: Array, k: Array, w: Array) -> Array:
        found = np.take_along_axis(x.scores(q, k, w), np.maximum(rows, 0), -1)
        return divergence(shares.astype(np.float64), found, rows >= 0)

    x.compare(results[:3], forward, np.ones(()))
    found = x.flat(results[3], places[:, None])[:, 0]
    scores = np.take_along_axis(x.scores(wide(x.q), wide(x.k), wide(x.w)), np.maximum(rows, 0), -1)
    np.testing.assert_allclose(found, softmax(scores, rows >= 0), rtol=2e-5, atol=1e-9)


class Attention:
    """The attention whose average over its heads the scores shall have."""

    def __init__(self, x: Indexer, dense: bool, rotary: bool) -> None:
        self.x, self.dense, heads, width = x, dense, 32, 128 if dense else 512
        self.q, self.k = (
            x.draw(len(x.q), heads, width),
            x.draw(len(x.k), heads if dense else 1, width),
        )
        self.ropes = (
            [x.draw(*self.q.shape[:2], 64), x.draw(*self.k.shape[:2], 64)] if rotary else []
        )

    def shares(self, shown: Array) -> tuple[Array, Array, Array]:
        """Return the average of the softmax, and the statistics of (tokens, heads)."""
        form = "tnd,knd->tnk" if self.dense else "tnd,kid->tnk"
        scores = np.einsum(form, wide(self.q), wide(self.k))
        if self.ropes:
            scores = scores + np.einsum(form, *(wide(r) for r in self.ropes))
        scores = SCALE * np.where(shown[:, None], scores, -np.inf)
        highest = scores.max(-1)
        highest = np.where(np.isfinite(highest), highest, 0)
        total = np.exp(scores - highest[..., None]).sum(-1)
        p = softmax(
            np.where(shown[:, None], scores, 0), np.broadcast_to(shown[:, None], scores.shape)
        )
        return p.mean(1), highest, np.maximum(total, 1e-30)

    def statistics(self, rows: Array) -> Any:
        whole = self.x.shaped(rows.astype(F32))
        if self.dense:  # heads stand in front of tokens
            return place(np.ascontiguousarray(np.swapaxes(whole, -1, -2))[..., None])
        return place(whole[None] if self.x.packed else whole[:, None])

    def tensors(self) -> list[Any]:
        return [place(self.x.shaped(t)) for t in (self.q, self.k)]

    def rope_tensors(self) -> list[Any]:
        return [place(self.x.shaped(t), "stepped") for t in self.ropes] or [None, None]


@pytest.mark.parametrize(
    ("layout", "dtype", "weights", "rotary"), [("TND", BF16, F32, True), ("BSND", F16, F16, False)]
)
def test_the_divergence_over_chosen_keys(
    layout: str, dtype: Any, weights: Any, rotary: bool
) -> None:
    x = Indexer(layout, dtype, causal=True, weights=weights)
    attention = Attention(x, False, rotary)
    places = x.chosen(1024, 6)
    rows = x.keys_of(places)
    met = np.zeros_like(x.seen)
    for at, keys in enumerate(rows):
        met[at, keys[keys >= 0]] = True
    shares, highest, total = attention.shares(met)
    results, loss = x.hollows(), hollow((1,), F32)
    ropes = attention.rope_tensors()
    op("SparseLightningIndexerGradKLLoss")(
        *attention.tensors(), place(x.shaped(x.q)), place(x.shaped(x.k), "transposed"),
        place(x.shaped(x.w)), place(x.shaped(places[:, None], junk=-1)),
        attention.statistics(highest), attention.statistics(total), *ropes,
        *(x.ends() if x.packed else [None, None]), SCALE, layout, 3, ALL, ALL, True, *results, loss,
    )  # fmt: skip

    def forward(q: Array, k: Array, w: Array) -> Array:
        return divergence(shares, x.scores(q, k, w), met)

    x.compare(results, forward, np.ones(()))
    wanted = forward(wide(x.q), wide(x.k), wide(x.w))
    np.testing.assert_allclose(loss.numpy(), [wanted], rtol=1e-5)


@pytest.mark.parametrize(
    ("layout", "dtype", "weights", "rotary"), [("TND", F16, F16, True), ("BSND", BF16, F32, False)]
)
def test_the_divergence_over_all_keys(layout: str, dtype: Any, weights: Any, rotary: bool) -> None:
    x = Indexer(layout, dtype, causal=True, weights=weights)
    attention = Attention(x, True, rotary)
    shares, highest, total = attention.shares(x.seen)
    lists = x.ends() if x.packed else [None, None]
    tensors = [place(x.shaped(part)) for part in (x.q, x.k, x.w)]
    shape = (1, len(x.q) + 1) if x.packed else (2, 1, x.lengths[0])
    sums = [hollow(shape, F32) for _ in range(2)]
    op("DenseLightningIndexerSoftmaxLse")(*tensors, *lists, layout, 3, ALL, ALL, *sums)
    results, loss = x.hollows(), hollow((1,), F32)
    op("DenseLightningIndexerGradKLLoss")(
        *attention.tensors(), *tensors, attention.statistics(highest), attention.statistics(total),
        *sums, *attention.rope_tensors(), *lists, SCALE, layout, 3, ALL, ALL, *results, loss,
    )  # fmt: skip

    def forward(q: Array, k: Array, w: Array) -> Array:
        return divergence(shares, x.scores(q, k, w), x.seen)

    x.compare(results, forward, np.ones(()))
    wanted = forward(wide(x.q), wide(x.k), wide(x.w))
    np.testing.assert_allclose(loss.numpy(), [wanted], rtol=1e-5)


def test_all_keys_of_many_tokens_are_the_chosen_ones() -> None:
    """Blocks of tokens over all keys make what each token makes with all keys in its list."""
    rng = np.random.default_rng(2)
    tokens, keys = 70, 80
    q, k = (rng.normal(size=(1, n, h, WIDTH)).astype(F16) for n, h in ((tokens, 8), (keys, 1)))
    w = rng.normal(size=(1, tokens, 8)).astype(F32)
    main = [rng.normal(size=(1, n, 32, 128)).astype(F16) for n in (tokens, keys)]
    shown = np.tril(np.ones((tokens, keys), bool), keys - tokens)
    scores = SCALE * np.einsum("btnd,bknd->btnk", *(wide(m) for m in main))
    scores = np.where(shown[None, :, None], scores, -np.inf)
    highest = scores.max(-1).transpose(0, 2, 1)[..., None].astype(F32)
    total = np.exp(scores - scores.max(-1, keepdims=True)).sum(-1).transpose(0, 2, 1)[..., None]
    shares = softmax(
        np.where(shown[None, :, None], scores, 0),
        np.broadcast_to(shown[None, :, None], scores.shape),
    )
    sums = [hollow((1, 1, tokens), F32) for _ in range(2)]
    tensors = [place(x) for x in (q, k, w)]
    op("DenseLightningIndexerSoftmaxLse")(*tensors, None, None, "BSND", 3, ALL, ALL, *sums)
    found = [hollow(x.shape, x.dtype) for x in (q, k, w)]
    loss = hollow((1,), F32)
    op("DenseLightningIndexerGradKLLoss")(
        *(place(m) for m in main), *tensors, place(highest), place(total.astype(F32)), *sums, None,
        None, None, None, SCALE, "BSND", 3, ALL, ALL, *found, loss,
    )  # fmt: skip
    listed = np.full((1, tokens, 1, 512), -1, np.int32)
    listed[..., :keys] = np.where(shown, np.arange(keys), -1)[None, :, None]
    given = np.zeros((1, tokens, 1, 512), F32)
    given[0, :, 0, :keys] = shares.mean(2)[0]
    expected = [hollow(x.shape, x.dtype) for x in (q, k, w)]
    op("SparseLightningIndexerKLLossGrad")(
        *tensors, place(listed), place(given), None, None, None, None, None, None, "BSND", "BSND",
        3, 1, *expected, hollow(given.shape, F32),
    )  # fmt: skip
    for one, other in zip(found, expected, strict=True):
        a, b = wide(one.numpy()), wide(other.numpy())
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3 * np.sqrt(np.mean(b**2)))
    products = np.maximum(np.einsum("btnd,bkd->btnk", wide(q), wide(k)[:, :, 0]), 0)
    wanted = divergence(given[0, :, 0, :keys], np.einsum("btn,btnk->btk", w, products)[0], shown)
    np.testing.assert_allclose(loss.numpy(), [wanted], rtol=1e-4)


def test_a_key_outside_its_sequence_is_a_fault() -> None:
    x = Indexer("BSND", F16, causal=False)
    places = x.chosen(2048, 6)
    places[5, 0] = 13
    with pytest.raises(DeviceError, match="sparseIndices has 13; sequence 1 has 13 keys"):
        op("LightningIndexerGrad")(
            place(x.shaped(x.q)), place(x.shaped(x.k)), place(x.shaped(x.draw(*places.shape))),
            place(x.shaped(places)), place(x.shaped(x.w)), None, None, HEADS, "BSND", 0, ALL, ALL,
            False, *x.hollows(),
        )  # fmt: skip
        ap.synchronize()


GRAD: dict[str, Any] = {
    "query": np.zeros((1, 2, 8, 128), F16), "key": np.zeros((1, 3, 1, 128), F16),
    "dy": np.zeros((1, 2, 2048), F16), "sparse_indices": np.zeros((1, 2, 2048), np.int32),
    "weights": np.zeros((1, 2, 8), F16), "actual_seq_q_len": None, "actual_seq_kv_len": None,
    "head_num": 8, "input_layout": "BSND", "sparse_mode": 3, "pre_tokens": ALL, "next_tokens": ALL,
    "deterministic": False, "dq_out": np.zeros((1, 2, 8, 128), F16),
    "dk_out": np.zeros((1, 3, 1, 128), F16), "dweights_out": np.zeros((1, 2, 8), F16),
}  # fmt: skip
LOSS: dict[str, Any] = {
    "query": np.zeros((1, 2, 32, 512), F16), "key": np.zeros((1, 3, 1, 512), F16),
    "query_index": np.zeros((1, 2, 8, 128), F16), "key_index": np.zeros((1, 3, 1, 128), F16),
    "weights": np.zeros((1, 2, 8), F32), "sparse_indices": np.zeros((1, 2, 1, 1024), np.int32),
    "softmax_max": np.zeros((1, 1, 2, 32), F32), "softmax_sum": np.ones((1, 1, 2, 32), F32),
    "query_rope": None, "key_rope": None, "actual_seq_lengths_query": None,
    "actual_seq_lengths_key": None, "scale_value": 1.0, "layout": "BSND", "sparse_mode": 3,
    "pre_tokens": ALL, "next_tokens": ALL, "deterministic": False,
    "d_query_index": np.zeros((1, 2, 8, 128), F16), "d_key_index": np.zeros((1, 3, 1, 128), F16),
    "d_weights": np.zeros((1, 2, 8), F32), "loss": np.zeros(1, F32),
}  # fmt: skip
KL_LOSS = "SparseLightningIndexerGradKLLoss"
REFUSED = [
    ("LightningIndexerGrad", {"dy": np.zeros((1, 2, 8, 128), F16)}, 561002, "dy has shape"),
    ("LightningIndexerGrad", {"head_num": 4}, 561002, "headNum is 4"),
    ("LightningIndexerGrad", {"input_layout": "BNSD"}, 161002, "inputLayout is"),
    ("LightningIndexerGrad", {"sparse_mode": 4}, 561002, "sparseMode is 4; allowed: 0, 3"),
    ("LightningIndexerGrad", {"weights": np.zeros((1, 2, 8), BF16)}, 161002, "weights"),
    (KL_LOSS, {"sparse_mode": 0}, 561002, "sparseMode is 0; allowed: 3"),
    (KL_LOSS, {"loss": None}, 161001, "loss"),
    (KL_LOSS, {"key": np.zeros((1, 4, 1, 512), F16)}, 561002, "keyIndex and key"),
    (KL_LOSS, {"weights": np.zeros((1, 2, 8), BF16)}, 161002, "weights"),
    (KL_LOSS, {"actual_seq_lengths_key": [1]}, 561002, "sequence 0 has 2 queries and 1"),
    (KL_LOSS, {"query_rope": np.zeros((1, 2, 32, 64), F16)}, 561002, "queryRopeOptional is given"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changed", "status", "text"), REFUSED)
def test_what_does_not_fit_is_refused(
    name: str, changed: dict[str, Any], status: int, text: str
) -> None:
    given = {**(GRAD if name == "LightningIndexerGrad" else LOSS), **changed}
    placed = {k: place(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    with pytest.raises(AclnnError, match=text) as error:
        op(name)(**placed)
    assert int(error.value.status) == status
