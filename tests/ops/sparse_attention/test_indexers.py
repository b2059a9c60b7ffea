# SPDX-License-Identifier: Apache-2.0
"""The lightning indexers, and the attention over what they choose, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place

import aclnn_py as ap
from aclnn_py.errors import AclnnError, DeviceError

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
FAR = 2**63 - 1
WIDTH = 128


def ints(*values: int) -> Any:
    return place(np.array(values, np.int32))


def scores(query: Array, key: Array, weights: Array) -> Array:
    """(tokens, heads, width), (keys, width) and (tokens, heads) to (tokens, keys)."""
    q, k, w = (x.astype(np.float64) for x in (query, key, weights))
    found: Array = (np.maximum(q @ k.T, 0) * w[..., None]).sum(1)
    return found


class Sequences:
    """Queries and keys of some sequences, and how they lie in tensors."""

    def __init__(
        self, layout: str, key_layout: str, dtype: Any, *, heads: int = 4, width: int = WIDTH,
        lengths: tuple[int, ...] = (3, 1), keys: tuple[int, ...] = (20, 33), seed: int = 3,
    ) -> None:  # fmt: skip
        g = np.random.default_rng(seed)
        self.layout, self.key_layout, self.heads = layout, key_layout, heads
        self.lengths, self.keys, self.rng, self.width = lengths, keys, g, width
        integer = dtype == np.int8

        def some(*shape: int) -> Array:
            if integer:
                return g.integers(-128, 128, shape).astype(np.int8)
            return g.standard_normal(shape).astype(dtype)

        self.q = [some(n, heads, width) for n in lengths]
        self.k = [some(n, width) for n in keys]
        self.block = 16
        columns = [-(-n // 16) for n in keys]
        self.table = np.full((len(keys), max(columns) + 1), -1, np.int32)
        order = list(g.permutation(sum(columns) + 1))
        for b, n in enumerate(columns):
            self.table[b, :n] = [order.pop() for _ in range(n)]
        self.pages = sum(columns) + 1

    def query_tensor(self, parts: list[Array]) -> Array:
        if self.layout == "TND":
            return np.concatenate(parts)
        return self.padded(parts, max(self.lengths) + 1)

    @staticmethod
    def padded(parts: list[Array], tokens: int) -> Array:
        whole = np.zeros((len(parts), tokens, *parts[0].shape[1:]), parts[0].dtype)
        for b, x in enumerate(parts):
            whole[b, : len(x)] = x
        return whole

    def key_tensor(self, parts: list[Array]) -> Array:
        """Parts of (keys, elements) with the one head the indexers have."""
        parts = [x[:, None] for x in parts]
        if self.key_layout == "TND":
            return np.concatenate(parts)
        if self.key_layout == "BSND":
            return self.padded(parts, max(self.keys) + 2)
        cache = np.zeros((self.pages, self.block, *parts[0].shape[1:]), parts[0].dtype)
        for b, x in enumerate(parts):
            for t in range(len(x)):
                cache[self.table[b, t // self.block], t % self.block] = x[t]
        return cache

    def rows(self, result: Array, b: int) -> Array:
        """The rows of a sequence in a result of the query's layout."""
        first = sum(self.lengths[:b]) if self.layout == "TND" else 0
        whole = result if self.layout == "TND" else result[b]
        return whole[first : first + self.lengths[b]]

    def query_lengths(self) -> Any:
        return ints(*(np.cumsum(self.lengths) if self.layout == "TND" else self.lengths))

    def key_lengths(self) -> Any:
        return ints(*(np.cumsum(self.keys) if self.key_layout == "TND" else self.keys))

    def block_table(self) -> Any:
        return place(self.table) if self.key_layout.startswith("PA") else None

    def result(self, count: int, dtype: Any) -> Any:
        total = sum(self.lengths)
        shape = (total,) if self.layout == "TND" else (len(self.keys), max(self.lengths) + 1)
        return hollow((*shape, 1, count), dtype)


def chosen_well(indices: Array, found: Array, count: int, limit: float) -> None:
    """The indices are those of the highest scores, the highest first, then -1."""
    kept = min(count, len(found))
    assert (indices[kept:] == -1).all()
    own = indices[:kept]
    assert len(set(own)) == kept
    assert ((own >= 0) & (own < len(found))).all()
    best = np.sort(found)[::-1][:kept]
    np.testing.assert_allclose(found[own], best, rtol=limit, atol=limit)


LAYOUTS = [("BSND", "BSND"), ("TND", "TND"), ("BSND", "PA_BSND"), ("TND", "PA_BSND")]


@pytest.mark.parametrize("mode", [0, 3])
@pytest.mark.parametrize(("layout", "key_layout"), LAYOUTS)
@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_an_indexer_chooses_the_highest_scores(
    dtype: Any, layout: str, key_layout: str, mode: int
) -> None:
    s = Sequences(layout, key_layout, dtype)
    weights = [s.rng.standard_normal((n, s.heads)).astype(dtype) for n in s.lengths]
    indices, values = s.result(25, np.int32), s.result(25, dtype)
    with_values = key_layout != "PA_BSND"
    op("LightningIndexer")(
        place(s.query_tensor(s.q)), place(s.key_tensor(s.k)), place(s.query_tensor(weights)),
        s.query_lengths(), s.key_lengths(), s.block_table(), layout, key_layout, 25, mode, FAR,
        FAR, with_values, indices, values,
    )  # fmt: skip
    for b, (n, keys) in enumerate(zip(s.lengths, s.keys, strict=True)):
        found = scores(s.q[b], s.k[b], weights[b])
        for t in range(n):
            seen = keys - n + t + 1 if mode == 3 else keys
            row = s.rows(indices.numpy(), b)[t, 0]
            chosen_well(row, found[t, :seen], 25, 1e-4)
            if with_values:
                kept = min(25, seen)
                got = s.rows(values.numpy(), b)[t, 0]
                assert_close(got[:kept], found[t, row[:kept]], scale=2.0)
                assert (got[kept:] == -np.inf).all()
    if layout == "BSND":  # tokens behind the last one of a sequence choose nothing
        assert (indices.numpy()[0, s.lengths[0] :] == -1).all()


def test_of_equal_scores_the_key_in_front_is_chosen() -> None:
    q = np.zeros((1, 1, 1, WIDTH), F16)
    k = np.zeros((1, 9, 1, WIDTH), F16)
    indices = hollow((1, 1, 1, 4), np.int32)
    op("LightningIndexer")(
        place(q), place(k), place(np.ones((1, 1, 1), F16)), None, None, None, "BSND", "BSND", 4, 0,
        FAR, FAR, False, indices, None,
    )  # fmt: skip
    assert_same(indices.numpy().ravel(), np.arange(4, dtype=np.int32))


@pytest.mark.parametrize(("layout", "key_layout"), [("BSND", "BSND"), ("TND", "PA_BSND")])
def test_an_indexer_of_bytes(layout: str, key_layout: str) -> None:
    s = Sequences(layout, key_layout, np.int8)
    weights = [s.rng.standard_normal((n, s.heads)).astype(F16) for n in s.lengths]
    q_scale = [(0.01 * s.rng.random((n, s.heads))).astype(F16) for n in s.lengths]
    k_scale = [(0.01 * s.rng.random((n,))).astype(F16) for n in s.keys]
    indices = s.result(7, np.int32)
    op("QuantLightningIndexer")(
        place(s.query_tensor(s.q)), place(s.key_tensor(s.k)), place(s.query_tensor(weights)),
        place(s.query_tensor(q_scale)), place(s.key_tensor(k_scale)), s.query_lengths(),
        s.key_lengths(), s.block_table(), 0, 0, layout, key_layout, 7, 3, FAR, FAR, indices,
    )  # fmt: skip
    for b, (n, keys) in enumerate(zip(s.lengths, s.keys, strict=True)):
        q = s.q[b] * q_scale[b].astype(np.float64)[..., None]
        k = s.k[b] * k_scale[b].astype(np.float64)[:, None]
        found = scores(q, k, weights[b])
        for t in range(n):
            chosen_well(s.rows(indices.numpy(), b)[t, 0], found[t, : keys - n + t + 1], 7, 1e-4)


@pytest.mark.parametrize("ratio", [1, 4])
@pytest.mark.parametrize(
    ("layout", "key_layout"), [("BSND", "BSND"), ("TND", "TND"), ("TND", "PA_BBND")]
)
def test_an_indexer_of_compressed_keys(layout: str, key_layout: str, ratio: int) -> None:
    lengths = (4, 4) if layout == "BSND" else (5, 2)
    s = Sequences(layout, key_layout, BF16, lengths=lengths, keys=(9, 9))
    if layout == "BSND":  # there are no lists of lengths for whole tensors
        s.padded = lambda parts, _: np.stack(parts)  # type: ignore[assignment,method-assign]
    weights = [s.rng.standard_normal((n, s.heads)).astype(F32) for n in s.lengths]
    residuals = (3, 1)
    packed = layout == "TND"
    shape = (7,) if packed else (2, 4)
    indices, values = hollow((*shape, 1, 6), np.int32), hollow((*shape, 1, 6), F32)
    op("LightningIndexerV2")(
        place(s.query_tensor(s.q)), place(s.key_tensor(s.k)), place(s.query_tensor(weights)),
        ints(0, *np.cumsum(s.lengths)) if packed else None,
        ints(0, *np.cumsum(s.keys)) if key_layout == "TND" else None, None,
        ints(*s.keys) if key_layout == "PA_BBND" else None,
        ints(*residuals) if ratio > 1 else None, s.block_table(), None, None, 6, -1, layout,
        key_layout, 3, ratio, 1, indices, values,
    )  # fmt: skip
    for b, n in enumerate(s.lengths):
        found = scores(s.q[b], s.k[b], weights[b])
        tokens = 9 * ratio + (residuals[b] if ratio > 1 else 0)
        for t in range(n):
            # A compressed key is seen by tokens that stand behind all it is made of.
            seen = max(0, (tokens - n + t + 1) // ratio)
            row = s.rows(indices.numpy(), b)[t, 0]
            chosen_well(row, found[t, : min(seen, 9)], 6, 1e-4)
            kept = min(6, seen, 9)
            assert_close(s.rows(values.numpy(), b)[t, 0, :kept], found[t, row[:kept]], scale=9.0)


@pytest.mark.parametrize("layout", ["BSND", "TND"])
@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_statistics_of_dense_indexers(layout: str, dtype: Any) -> None:
    s = Sequences(layout, layout, dtype, heads=8, lengths=(3, 11), keys=(5, 600))
    weights = [(0.1 * s.rng.standard_normal((n, 8))).astype(F32) for n in s.lengths]
    q, k, w = s.query_tensor(s.q), s.key_tensor(s.k), s.query_tensor(weights)
    shape = (1, q.shape[0]) if layout == "TND" else (2, 1, q.shape[1])
    highest, sums = hollow(shape, F32), hollow(shape, F32)
    lists = [
        [int(x) for x in (np.cumsum(y) if layout == "TND" else y)] for y in (s.lengths, s.keys)
    ]
    op("DenseLightningIndexerSoftmaxLse")(
        place(q), place(k), place(w), *lists, layout, 3, FAR, FAR, highest, sums
    )
    for b, (n, keys) in enumerate(zip(s.lengths, s.keys, strict=True)):
        found = scores(s.q[b], s.k[b], weights[b])
        for t in range(n):
            row = found[t, : keys - n + t + 1]
            at = (0, sum(s.lengths[:b]) + t) if layout == "TND" else (b, 0, t)
            assert_close(highest.numpy()[at], row.max(), scale=9.0)
            assert_close(sums.numpy()[at], np.exp(row - row.max()).sum(), scale=99.0)


@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("mode", [0, 3])
@pytest.mark.parametrize("block", [1, 8])
@pytest.mark.parametrize(("layout", "key_layout"), LAYOUTS)
def test_attention_over_chosen_keys(
    layout: str, key_layout: str, block: int, mode: int, rotary: bool
) -> None:
    s = Sequences(layout, key_layout, BF16, width=512)
    q_rope = [s.rng.standard_normal((n, s.heads, 64)).astype(BF16) for n in s.lengths]
    k_rope = [s.rng.standard_normal((n, 64)).astype(BF16) for n in s.keys]
    values = [s.rng.standard_normal((n, 512)).astype(BF16) for n in s.keys]
    chosen = []
    for n, keys in zip(s.lengths, s.keys, strict=True):
        rows = np.full((n, 1, 4), -1, np.int32)
        for t in range(n):
            count = int(s.rng.integers(0, 4))
            rows[t, 0, :count] = s.rng.permutation(-(-keys // block))[:count]
        chosen.append(rows)
    version = "V2" if rotary else ""
    with_sums = key_layout != "PA_BSND"
    out = s.query_tensor([np.full_like(x, 77) for x in s.q])
    result = hollow(out.shape, BF16)
    total = out.shape[0] if layout == "TND" else out.shape[1]
    sums_shape = (1, total, s.heads) if layout == "TND" else (2, 1, total, s.heads)
    highest, sums = hollow(sums_shape, F32), hollow(sums_shape, F32)
    op("SparseFlashAttention" + version)(
        place(s.query_tensor(s.q)), place(s.key_tensor(s.k)), place(s.key_tensor(values)),
        place(s.query_tensor(chosen)), s.block_table(), s.query_lengths(), s.key_lengths(),
        place(s.query_tensor(q_rope)) if rotary else None,
        place(s.key_tensor(k_rope)) if rotary else None, *([None] if version else []), 0.05, block,
        layout, key_layout, mode, FAR, FAR, 2, with_sums, result,
        highest if with_sums else None, sums if with_sums else None,
    )  # fmt: skip
    for b, (n, keys) in enumerate(zip(s.lengths, s.keys, strict=True)):
        q, k, v = (x[b].astype(np.float64) for x in (s.q, s.k, values))
        if rotary:
            q = np.concatenate([q, q_rope[b].astype(np.float64)], -1)
            k = np.concatenate([k, k_rope[b].astype(np.float64)], -1)
        for t in range(n):
            seen = keys - n + t + 1 if mode == 3 else keys
            met = [
                j
                for i in chosen[b][t, 0]
                if i >= 0
                for j in range(i * block, min((i + 1) * block, seen))
            ]
            got = s.rows(result.numpy(), b)[t]
            if not met:
                assert not got.any()
                continue
            score = 0.05 * q[t] @ k[met].T
            most = score.max(-1)
            powers = np.exp(score - most[:, None])
            assert_close(got, powers @ v[met] / powers.sum(-1)[:, None], scale=2.0)
            if with_sums:
                at = (0, sum(s.lengths[:b]) + t) if layout == "TND" else (b, 0, t)
                assert_close(highest.numpy()[at], most, scale=9.0)
                assert_close(sums.numpy()[at], powers.sum(-1), scale=9.0)


def sparse(**changed: Any) -> None:
    given: dict[str, Any] = {
        "query": np.zeros((1, 2, 2, 512), F16), "key": np.zeros((1, 3, 1, 512), F16),
        "value": np.zeros((1, 3, 1, 512), F16), "indices": np.zeros((1, 2, 1, 2), np.int32),
        "table": None, "lengths": None, "key_lengths": None, "scale": 1.0, "block": 1,
        "layout": "BSND", "key_layout": "BSND", "mode": 3, "attention_mode": 2, "flag": False,
        "out": np.zeros((1, 2, 2, 512), F16),
    }  # fmt: skip
    given.update(changed)
    g = {k: place(x) if isinstance(x, np.ndarray) else x for k, x in given.items()}
    op("SparseFlashAttention")(
        g["query"], g["key"], g["value"], g["indices"], g["table"], g["lengths"],
        g["key_lengths"], None, None, g["scale"], g["block"], g["layout"], g["key_layout"],
        g["mode"], FAR, FAR, g["attention_mode"], g["flag"], g["out"], None, None,
    )  # fmt: skip
    ap.synchronize()


SPARSE_REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"query": None}, 161001, "query is null"),
    ({"flag": True}, 161001, "softmaxMax is null"),
    ({"key": np.zeros((1, 3, 1, 512), BF16)}, 161002, "key has dtype BFLOAT16"),
    ({"indices": np.zeros((1, 2, 1, 2), np.int64)}, 161002, "sparseIndices has dtype INT64"),
    ({"attention_mode": 0}, 561002, "attentionMode is 0; allowed: 2"),
    ({"mode": 4}, 561002, "sparseMode is 4; allowed: 0, 3"),
    ({"block": 3}, 561002, "sparseBlockSize is 3; allowed: powers of 2 up to 128"),
    ({"layout": "BNSD"}, 561002, 'layoutQueryOptional is "BNSD"; allowed: BSND, TND'),
    ({"key_layout": "PA_BSND"}, 561002, "key has pages of 3 tokens"),
    ({"query": np.zeros((1, 2, 3, 512), F16)}, 561002, "query has 3 heads"),
    ({"query": np.zeros((1, 2, 2, 128), F16)}, 561002, "heads of 128 elements"),
    ({"key": np.zeros((1, 3, 2, 512), F16)}, 561002, "key has 2 heads; it must have 1"),
    ({"indices": np.zeros((1, 3, 1, 2), np.int32)}, 561002, "sparseIndices has shape"),
    ({"lengths": np.zeros(2, np.int32)}, 561002, "actualSeqLengthsQueryOptional has shape (2,)"),
    ({"out": np.zeros((1, 2, 2, 256), F16)}, 561002, "attentionOut has shape"),
]


@pytest.mark.parametrize(
    ("changed", "status", "words"), SPARSE_REFUSALS, ids=[r[2] for r in SPARSE_REFUSALS]
)
def test_refusals_of_sparse_attention(changed: dict[str, Any], status: int, words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        sparse(**changed)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def test_what_only_the_device_knows_is_a_fault() -> None:
    with pytest.raises(DeviceError, match="sparseIndices has 3; sequence 0 has 3 blocks"):
        sparse(indices=np.full((1, 2, 1, 2), 3, np.int32))
    with pytest.raises(DeviceError, match="actualSeqLengthsKvOptional has 4 for sequence 0"):
        sparse(key_lengths=np.array([4], np.int32))
    cache = np.zeros((2, 16, 1, 512), F16)
    with pytest.raises(DeviceError, match=r"the block table has 2 at \(0, 1\); the cache has 2"):
        sparse(
            key=cache, value=cache, key_layout="PA_BSND", key_lengths=np.array([20], np.int32),
            table=np.array([[0, 2]], np.int32),
        )  # fmt: skip


def test_what_no_chip_takes_is_refused() -> None:
    q, k = place(np.zeros((1, 1, 1, WIDTH), F16)), place(np.zeros((1, 1, 1, WIDTH), F16))
    w, out = place(np.zeros((1, 1, 1), F32)), hollow((1, 1, 1, 1), np.int32)
    with pytest.raises(AclnnError, match="sequsedQOptional is given; no chip takes it yet"):
        op("LightningIndexerV2")(
            q, k, w, None, None, ints(1), None, None, None, None, None, 1, -1, "BSND", "BSND", 0, 1,
            0, out, hollow((1, 1, 1, 1), F32),
        )  # fmt: skip


INDEXER_REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"count": 0}, "sparseCount is 0; allowed: 1 to 2048"),
    ({"count": 2049}, "sparseCount is 2049"),
    ({"mode": 2}, "sparseMode is 2; allowed: 0, 3"),
    ({"key": np.zeros((1, 3, 1, 64), F16)}, "both must have 128"),
    ({"key": np.zeros((2, 3, 1, 128), F16)}, "key has 2 sequences and query 1"),
    ({"weights": np.zeros((1, 1, 3), F16)}, "weights has shape (1, 1, 3)"),
    ({"layout": "TND", "query": np.zeros((1, 2, 128), F16)}, "is null; with layoutQueryOptional"),
]


@pytest.mark.parametrize(
    ("changed", "words"), INDEXER_REFUSALS, ids=[r[1] for r in INDEXER_REFUSALS]
)
def test_refusals_of_indexers(changed: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {
        "query": np.zeros((1, 1, 2, 128), F16), "key": np.zeros((1, 3, 1, 128), F16),
        "weights": np.zeros((1, 1, 2), F16), "layout": "BSND", "count": 2, "mode": 0,
    }  # fmt: skip
    given.update(changed)
    g = {k: place(x) if isinstance(x, np.ndarray) else x for k, x in given.items()}
    with pytest.raises(AclnnError) as caught:
        op("LightningIndexer")(
            g["query"], g["key"], g["weights"], None, None, None, g["layout"], "BSND", g["count"],
            g["mode"], FAR, FAR, False, hollow((1, 1, 1, 2), np.int32), None,
        )  # fmt: skip
    assert caught.value.status == 561002, caught.value
    assert words in str(caught.value), caught.value
