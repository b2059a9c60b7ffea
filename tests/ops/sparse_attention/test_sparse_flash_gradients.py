# SPDX-License-Identifier: Apache-2.0
"""Gradients of SparseFlashAttention and SparseFlashMla against complex steps of a NumPy forward."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import Array, hollow, op, place, wide
from helpers.slopes import slopes_at, some_places

import aclnn_py as ap
from aclnn_py.errors import AclnnError, DeviceError

pytestmark = pytest.mark.usefixtures("device")

F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
ALL = 2147483647
SCALE = 0.05
LENGTHS, KEYS, HEADS = (4, 2), (40, 21), 2
PLACES = 9  # of each tensor, at which a derivative is taken


def compare(results: list[Any], expected: list[Array], places: list[Any]) -> None:
    """Hold elements to the rounding of the result, and to that of the forward result it reads."""
    for result, wanted, at in zip(results, expected, places, strict=True):
        found = np.array([wide(result)[place] for place in at])
        step = {F16: 2.0**-9, BF16: 2.0**-6}.get(result.dtype, 2.0**-9)
        usual = np.sqrt(np.mean(wanted**2))
        np.testing.assert_array_less(abs(found - wanted), step * (abs(wanted) + 8 * usual) + 1e-9)


def powers(scores: Array, shown: Array) -> Array:
    """Return the exponentials of the shown scores, and 0 for others; for complex numbers too."""
    highest = np.where(shown, scores.real, -99.0).max(-1, keepdims=True)
    return np.where(shown, np.exp(np.where(shown, scores, 0) - highest), 0)


def ints(*values: Any) -> ap.Tensor:
    return place(np.array(values, np.int32))


class Tokens:
    """Random tokens of two sequences, packed or apart, and their tensors."""

    def __init__(self, layout: str, dtype: Any, seed: int) -> None:
        self.packed, self.dtype = layout == "TND", dtype
        self.rng = np.random.default_rng(seed)
        self.lengths = LENGTHS if self.packed else (LENGTHS[0],) * 2
        self.keys = KEYS if self.packed else (KEYS[0],) * 2
        self.starts = (0, self.lengths[0])

    def draw(self, lengths: tuple[int, ...], *rest: int) -> Array:
        """Return the tokens of both sequences behind each other."""
        return self.rng.normal(size=(sum(lengths), *rest)).astype(self.dtype)

    def shaped(self, rows: Array) -> Array:
        return rows if self.packed else rows.reshape(2, -1, *rows.shape[1:])

    def statistics(self, rows: Array) -> Array:
        """Return (tokens, heads) in the shape of the sums of a softmax."""
        return rows[None] if self.packed else rows.reshape(2, 1, -1, rows.shape[-1])


class SparseProblem(Tokens):
    """Keys that are chosen by blocks, and the places that a mask leaves of them."""

    def __init__(self, layout: str, dtype: Any, mode: int, block: int, rotary: bool) -> None:
        super().__init__(layout, dtype, seed=1)
        self.mode, self.block, self.layout = mode, block, layout
        self.q, self.k = self.draw(self.lengths, HEADS, 512), self.draw(self.keys, 1, 512)
        self.v = self.draw(self.keys, 1, 512)
        self.ropes = [self.draw(self.lengths, HEADS, 64), self.draw(self.keys, 1, 64)]
        self.ropes = self.ropes if rotary else []
        self.dy = self.draw(self.lengths, HEADS, 512)
        self.chosen = np.full((len(self.q), 1, 1024), -1, np.int32)
        self.shown = np.zeros((len(self.q), len(self.k)), bool)
        key_starts = (0, self.keys[0])
        for b in range(2):
            for t in range(self.lengths[b]):
                blocks = self.rng.permutation(-(-self.keys[b] // block))[: 1 + 12 // block]
                blocks = blocks if (b, t) != (0, 1) else blocks[:0]  # one token meets nothing
                self.chosen[self.starts[b] + t, 0, : len(blocks)] = blocks
                seen = self.keys[b] - self.lengths[b] + t + 1 if mode == 3 else self.keys[b]
                for key in range(self.keys[b]):
                    met = key // block in blocks and key < seen
                    self.shown[self.starts[b] + t, key_starts[b] + key] = met

    def forward(self, q: Array, k: Array, v: Array | None = None, *ropes: Array) -> Array:
        v = k if v is None else v
        scores = np.einsum("tnd,kd->tnk", q, k[:, 0])
        if ropes:
            scores = scores + np.einsum("tnd,kd->tnk", ropes[0], ropes[1][:, 0])
        p = powers(SCALE * scores, self.shown[:, None])
        return np.einsum("tnk,kd->tnd", p, v[:, 0]) / np.maximum(p.sum(-1, keepdims=True), 1e-300)

    def run(self, united: bool, **changed: Any) -> list[Any]:
        value = self.k if united else self.v
        q, k, v, chosen = (place(self.shaped(x)) for x in (self.q, self.k, value, self.chosen))
        ropes = [place(self.shaped(x), "stepped") for x in self.ropes] or [None, None]
        lists = [ints(*np.cumsum(n)) if self.packed else None for n in (self.lengths, self.keys)]
        out = hollow(q.shape, self.dtype)
        sums = [hollow(self.statistics(self.q[:, :, 0]).shape, F32) for _ in range(2)]
        op("SparseFlashAttention")(
            q, k, v, chosen, None, *lists, *ropes, SCALE, self.block, self.layout, self.layout,
            self.mode, ALL, ALL, 2, True, out, *sums,
        )  # fmt: skip
        parts = [self.q, self.k] + ([] if united else [self.v])
        results = [hollow(self.shaped(x).shape, self.dtype) for x in [*parts, *self.ropes]]
        dv = None if united else results[2]
        rope_results = results[len(parts) :] or [None, None]
        given = {
            "query": q, "key": k, "value": None if united else v, "sparse_indices": chosen,
            "d_out": place(self.shaped(self.dy), "transposed"), "out": out,
            "softmax_max": sums[0], "softmax_sum": sums[1],
            "actual_seq_lengths_query": lists[0], "actual_seq_lengths_kv": lists[1],
            "query_rope": ropes[0], "key_rope": ropes[1], "scale_value": SCALE,
            "sparse_block_size": self.block, "layout": self.layout, "sparse_mode": self.mode,
            "pre_tokens": ALL, "next_tokens": ALL, "deterministic": False,
            "d_query_out": results[0], "d_key_out": results[1], "d_value_out": dv,
            "d_query_rope_out": rope_results[0], "d_key_rope_out": rope_results[1],
        }  # fmt: skip
        op("SparseFlashAttentionGrad")(**{**given, **changed})
        ap.synchronize()
        return results

    def check(self, united: bool) -> None:
        results = self.run(united)
        parts = [self.q, self.k, *([] if united else [self.v]), *self.ropes]
        places = [some_places(x.shape, PLACES, seed=i) for i, x in enumerate(parts)]

        def forward(q: Array, k: Array, *rest: Array) -> Array:
            return self.forward(q, k, None, *rest) if united else self.forward(q, k, *rest)

        wanted = slopes_at(forward, [wide(x) for x in parts], places, wide(self.dy))
        flat = [r.numpy().reshape(x.shape) for r, x in zip(results, parts, strict=True)]
        compare(flat, wanted, places)
        assert not wide(flat[0][1]).any(), "the token that meets nothing"


@pytest.mark.parametrize(
    ("layout", "dtype", "mode", "block", "rotary", "united"),
    [
        ("TND", F16, 3, 1, True, False),
        ("TND", BF16, 0, 16, False, True),
        ("BSND", BF16, 3, 8, True, True),
        ("BSND", F16, 0, 1, False, False),
    ],
)
def test_the_gradient_over_chosen_blocks(
    layout: str, dtype: Any, mode: int, block: int, rotary: bool, united: bool
) -> None:
    SparseProblem(layout, dtype, mode, block, rotary).check(united)


def test_many_tokens_are_added_in_a_fixed_order() -> None:
    """Runs of tokens go to several threads; a sum of theirs is the same at every call."""
    rng = np.random.default_rng(3)
    q, dy = (rng.normal(size=(1, 70, 1, 512)).astype(F16) for _ in range(2))
    k = rng.normal(size=(1, 40, 1, 512)).astype(F16)
    chosen = np.full((1, 70, 1, 1024), -1, np.int32)
    chosen[..., :20] = np.argsort(rng.random((1, 70, 1, 40)))[..., :20]
    out, sums = hollow(q.shape, F16), [hollow((1, 1, 70, 1), F32) for _ in range(2)]
    tensors = [place(x) for x in (q, k)]
    op("SparseFlashAttention")(
        *tensors, tensors[1], place(chosen), None, None, None, None, None, SCALE, 1, "BSND", "BSND",
        0, ALL, ALL, 2, True, out, *sums,
    )  # fmt: skip
    found = []
    for _ in range(3):
        results = [hollow(x.shape, F16) for x in (q, k)]
        op("SparseFlashAttentionGrad")(
            *tensors, None, place(chosen), place(dy), out, *sums, None, None, None, None, SCALE, 1,
            "BSND", 0, ALL, ALL, False, *results, None, None, None,
        )  # fmt: skip
        found.append([r.numpy() for r in results])
    for again in found[1:]:
        for first, other in zip(found[0], again, strict=True):
            np.testing.assert_array_equal(first, other)
    scores = np.einsum("td,kd->tk", wide(q)[0, :, 0], wide(k)[0, :, 0])
    shown = np.zeros((70, 40), bool)
    np.put_along_axis(shown, chosen[0, :, 0, :20], True, -1)
    p = powers(SCALE * scores, shown)
    p /= p.sum(-1, keepdims=True)
    g, keys = wide(dy)[0, :, 0], wide(k)[0, :, 0]
    slope = SCALE * p * (g @ keys.T - (g * (p @ keys)).sum(-1, keepdims=True))
    wanted = slope.T @ wide(q)[0, :, 0] + p.T @ g
    np.testing.assert_allclose(wide(found[0][1])[0, :, 0], wanted, rtol=2e-2, atol=2e-2)


class MlaProblem(Tokens):
    """A window of tokens and compressed ones, all of them or chosen ones, with sinks."""

    def __init__(self, kind: str, layout: str, dtype: Any, sinks: bool = True) -> None:
        super().__init__(layout, dtype, seed=5)
        self.kind, self.layout, self.ratio = kind, layout, 4 if kind == "chosen" else 8
        if self.packed:
            self.keys = (150, 33)
        else:
            self.keys = (150, 150)
        self.counts = tuple(n // self.ratio for n in self.keys)
        self.residuals = [n % self.ratio for n in self.keys]
        self.q, self.dy = (self.draw(self.lengths, HEADS, 512) for _ in range(2))
        self.own, self.compressed = (self.draw(n, 1, 512) for n in (self.keys, self.counts))
        self.sinks = self.rng.normal(size=HEADS).astype(F32) if sinks else None
        self.chosen = np.full((len(self.q), 1, 512), -1, np.int32)
        self.shown = np.zeros((len(self.q), sum(self.keys)), bool)
        self.seen = np.zeros((len(self.q), sum(self.counts)), bool)
        for b in range(2):
            for t in range(self.lengths[b]):
                row = self.starts[b] + t
                last = self.keys[b] - self.lengths[b] + t
                first = max(0, last - 127)
                self.shown[row, self.keys[0] * b + first : self.keys[0] * b + last + 1] = True
                if kind == "window":
                    continue
                seen = np.arange((last + 1) // self.ratio)
                if kind == "chosen":
                    found = self.rng.permutation(self.counts[b])[:9]
                    self.chosen[row, 0, 2 : 2 + len(found)] = (
                        found  # places without a token may stand in front
                    )
                    seen = np.intersect1d(found, seen)
                self.seen[row, self.counts[0] * b + seen] = True

    def chances(self, q: Array, own: Array, compressed: Array, sinks: Array) -> Array:
        keys = np.concatenate([own, compressed])[:, 0]
        scores = SCALE * np.einsum("tnd,kd->tnk", q, keys)
        shown = np.concatenate([self.shown, self.seen], 1)[:, None]
        if self.sinks is not None:
            column = np.broadcast_to(sinks[None, :, None], (*scores.shape[:2], 1))
            scores = np.concatenate([scores, column], -1)
            shown = np.concatenate([shown, np.ones((len(q), 1, 1), bool)], -1)
        p = powers(scores, np.broadcast_to(shown, scores.shape))
        return p / p.sum(-1, keepdims=True)

    def forward(self, q: Array, own: Array, compressed: Array, sinks: Array) -> Array:
        keys = np.concatenate([own, compressed])[:, 0]
        return np.einsum(
            "tnk,kd->tnd", self.chances(q, own, compressed, sinks)[..., : len(keys)], keys
        )

    def arguments(self) -> dict[str, Any]:
        parts = [wide(x) for x in self.parts()]
        out = self.forward(*parts).astype(self.dtype)
        keys = np.concatenate([self.own, self.compressed])[:, 0]
        shown = np.concatenate([self.shown, self.seen], 1)[:, None]
        scores = np.where(shown, SCALE * np.einsum("tnd,kd->tnk", parts[0], wide(keys)), -np.inf)
        lse = np.logaddexp.reduce(scores, -1)
        if self.sinks is not None:
            lse = np.logaddexp(lse, self.sinks)
        both, chosen = self.kind != "window", self.kind == "chosen"

        def offsets(lengths: tuple[int, ...]) -> Any:
            return ints(0, *np.cumsum(lengths)) if self.packed else None

        self.results = [hollow(self.shaped(x).shape, x.dtype) for x in self.parts()[:3]]
        self.results.append(hollow((HEADS,), F32))
        self.shares = hollow(self.shaped(self.chosen).shape, F32)
        return {
            "query": place(self.shaped(self.q), "stepped"), "d_out": place(self.shaped(self.dy)),
            "out": place(self.shaped(out)), "lse": place(self.statistics(lse.astype(F32))),
            "ori_kv": place(self.shaped(self.own), "transposed"),
            "cmp_kv": place(self.shaped(self.compressed)) if both else None,
            "ori_sparse_indices": None,
            "cmp_sparse_indices": place(self.shaped(self.chosen)) if chosen else None,
            "cu_seqlens_q": offsets(self.lengths), "cu_seqlens_ori_kv": offsets(self.keys),
            "cu_seqlens_cmp_kv": offsets(self.counts) if both else None,
            "seqused_q": None, "seqused_ori_kv": None, "seqused_cmp_kv": None,
            "cmp_residual_kv": ints(*self.residuals) if both else None,
            "ori_topk_length": None, "cmp_topk_length": None,
            "sinks": None if self.sinks is None else place(self.sinks), "metadata": None,
            "scale_value": SCALE, "cmp_ratio": self.ratio, "ori_mask_mode": 4, "cmp_mask_mode": 3,
            "ori_win_left": 127, "ori_win_right": 0, "layout_q": self.layout,
            "layout_kv": self.layout, "d_query_out": self.results[0],
            "d_ori_kv_out": self.results[1], "d_cmp_kv_out": self.results[2] if both else None,
            "d_sinks_out": None if self.sinks is None else self.results[3],
            "ori_softmax_l1_norm": None, "cmp_softmax_l1_norm": self.shares if chosen else None,
        }  # fmt: skip

    def parts(self) -> list[Array]:
        sinks = np.zeros(HEADS, F32) if self.sinks is None else self.sinks
        return [self.q, self.own, self.compressed, sinks]

    def check(self) -> None:
        op("SparseFlashMlaGrad")(**self.arguments())
        ap.synchronize()
        used = [0, 1]
        used += [2] if self.kind != "window" else []
        used += [3] if self.sinks is not None else []
        parts = self.parts()
        places: list[Any] = [
            some_places(x.shape, PLACES if i in used else 0) for i, x in enumerate(parts)
        ]
        wanted = slopes_at(self.forward, [wide(x) for x in parts], places, wide(self.dy))
        compare(
            [self.results[i].numpy().reshape(parts[i].shape) for i in used],
            [wanted[i] for i in used],
            [places[i] for i in used],
        )
        if self.kind != "chosen":
            return
        shares = self.chances(*(wide(x) for x in parts)).mean(1)[:, sum(self.keys) :]
        found = self.shares.numpy().reshape(len(self.q), 512)
        expected = np.zeros_like(found)
        for b in range(2):
            for row in range(self.starts[b], self.starts[b] + self.lengths[b]):
                for i, key in enumerate(self.chosen[row, 0]):
                    at = self.counts[0] * b + key
                    if key >= 0 and self.seen[row, at]:
                        expected[row, i] = shares[row, at]
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "layout", "dtype", "sinks"),
    [
        ("window", "TND", F16, True),
        ("chosen", "TND", BF16, True),
        ("all", "BSND", F16, False),
        ("chosen", "BSND", F16, True),
    ],
)
def test_the_gradient_over_compressed_tokens(
    kind: str, layout: str, dtype: Any, sinks: bool
) -> None:
    MlaProblem(kind, layout, dtype, sinks).check()


def test_a_chosen_block_outside_its_sequence_is_a_fault() -> None:
    problem = SparseProblem("TND", F16, 0, 1, False)
    problem.run(True)
    wrong = problem.chosen.copy()
    wrong[0, 0, 0] = KEYS[0]
    with pytest.raises(DeviceError, match="sparseIndices has 40; sequence 0 has 40 blocks"):
        problem.run(True, sparse_indices=place(wrong))


WRONG_SPARSE = [
    ({"d_value_out": np.zeros((61, 1, 512), F16)}, 561002, "dValueOutOptional is given"),
    ({"sparse_indices": np.zeros((6, 1, 1000), np.int32)}, 561002, "1000 places"),
    ({"sparse_block_size": 2}, 561002, "sparseBlockSize is 2"),
    ({"sparse_mode": 4}, 561002, "sparseMode is 4; allowed: 0, 3"),
    ({"layout": "BNSD"}, 561002, "layoutOptional is"),
    ({"key": np.zeros((61, 2, 512), F16)}, 561002, "key has 2 heads"),
    ({"softmax_max": np.zeros((1, 6, 3), F32)}, 561002, "softmaxMax"),
    ({"out": np.zeros((6, 2, 512), BF16)}, 161002, "out"),
    ({"d_query_out": None}, 161001, "dQueryOut"),
    ({"actual_seq_lengths_kv": None}, 561002, "actualSeqLengthsKvOptional is null"),
]


@pytest.mark.parametrize(("changed", "status", "text"), WRONG_SPARSE)
def test_wrong_calls_over_blocks(changed: dict[str, Any], status: int, text: str) -> None:
    placed = {k: place(v) if isinstance(v, np.ndarray) else v for k, v in changed.items()}
    with pytest.raises(AclnnError, match=text) as error:
        SparseProblem("TND", F16, 3, 1, False).run(True, **placed)
    assert int(error.value.status) == status


WRONG_MLA = [
    ({"ori_mask_mode": 0}, 561002, "oriMaskMode is 0; allowed: 4"),
    ({"ori_win_left": 100}, 561002, "oriWinLeft is 100"),
    ({"cmp_residual_kv": None}, 561002, "cmpResidualKvOptional is null"),
    ({"cmp_ratio": 129}, 561002, "cmpRatio is 129"),
    ({"layout_kv": "BSND"}, 561002, "oriKvOptional"),
    ({"seqused_q": np.array([4, 2], np.int32)}, 161002, "sequsedQOptional"),
    ({"d_cmp_kv_out": None}, 161001, "dCmpKvOutOptional"),
    ({"cmp_softmax_l1_norm": np.zeros((6, 1, 9), F32)}, 561002, "cmpSoftmaxL1NormOptional"),
]


@pytest.mark.parametrize(("changed", "status", "text"), WRONG_MLA)
def test_wrong_calls_over_compressed_tokens(
    changed: dict[str, Any], status: int, text: str
) -> None:
    placed = {k: place(v) if isinstance(v, np.ndarray) else v for k, v in changed.items()}
    with pytest.raises(AclnnError, match=text) as error:
        op("SparseFlashMlaGrad")(**{**MlaProblem("chosen", "TND", F16).arguments(), **placed})
    assert int(error.value.status) == status


def test_an_empty_query_changes_nothing() -> None:
    empty, k = np.zeros((1, 0, 2, 512), F16), np.zeros((1, 3, 1, 512), F16)
    kept = hollow(k.shape, F16)
    sums = place(np.zeros((1, 1, 0, 2), F32))
    op("SparseFlashAttentionGrad")(
        place(empty), place(k), None, place(np.zeros((1, 0, 1, 1024), np.int32)), place(empty),
        place(empty), sums, sums, None, None, None, None, 1.0, 1, "BSND", 0, ALL, ALL, False,
        hollow(empty.shape, F16), kept, None, None, None,
    )  # fmt: skip
    assert (kept.numpy() == 77).all()


def test_a_950_takes_the_tokens_that_are_used() -> None:
    """Its masks may be 0 and 3, and lists shorten queries, tokens and compressed tokens."""
    rng = np.random.default_rng(8)
    q, dy = (rng.normal(size=(1, 4, 3, 512)).astype(F16) for _ in range(2))
    own, compressed = (rng.normal(size=(1, n, 1, 512)).astype(F16) for n in (9, 5))
    shown = np.zeros((4, 14), bool)
    shown[:2, :7] = shown[:2, [9, 12]] = True  # 2 queries, 7 tokens, 2 of 4 compressed ones
    chosen = np.array([[[[0, 3, 1]]] * 4], np.int32).reshape(1, 4, 1, 3)
    counts = np.full((1, 4, 1), 2, np.int32)

    def forward(q: Array, own: Array, compressed: Array) -> Array:
        keys = np.concatenate([own, compressed], 1)[0, :, 0]
        p = powers(SCALE * np.einsum("tnd,kd->tnk", q[0], keys), shown[:, None])
        return np.einsum("tnk,kd->tnd", p, keys) / np.maximum(p.sum(-1, keepdims=True), 1e-300)

    parts = [wide(x) for x in (q, own, compressed)]
    keys = np.concatenate(parts[1:], 1)[0, :, 0]
    scores = np.where(shown[:, None], SCALE * np.einsum("tnd,kd->tnk", parts[0][0], keys), -np.inf)
    lse = np.logaddexp.reduce(scores, -1).astype(F32)[None, None]
    made = [Made(x.shape, "float16") for x in (q, own, compressed)]

    def given(x: Any, dtype: str = "float16") -> Given:
        return Given(np.asarray(x), dtype)

    with Chip950() as chip:
        found = chip.operator(
            "sparse_flash_mla_grad", given(q), given(dy),
            given(forward(*parts)[None].astype(F16)), given(lse, "float32"), given(own),
            given(compressed), None, given(chosen, "int32"), None, None, None,
            *(given(np.array([n], np.int32), "int32") for n in (2, 7, 4)), None, None,
            given(counts, "int32"), None, given(np.zeros(1024, np.int32), "int32"), SCALE, 1, 0, 0,
            -1, -1, "BSND", "BSND", *made, None, None, None,
        )  # fmt: skip
        assert not isinstance(found, Refused), found
    places = [some_places(x.shape, PLACES) for x in parts]
    places[2] += [(0, 0, 0, i) for i in range(4)] + [(0, 1, 0, 3)]
    compare(found, slopes_at(forward, parts, places, wide(dy)[0]), places)
    assert not wide(found[0][0, 2:]).any()
