# SPDX-License-Identifier: Apache-2.0
"""Latent attention over windows, chosen tokens and compressed tokens, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, op, place

import aclnn_py as ap
from aclnn_py.errors import AclnnError, DeviceError
from ops.sparse_attention.test_indexers import BF16, F16, F32, Sequences, ints

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
SCALE = 0.05


class Problem:
    """Queries, tokens and compressed tokens of two sequences, and the call over them."""

    def __init__(self, kind: str, layout: str, key_layout: str, dtype: Any) -> None:
        whole = layout == "BSND"  # all sequences have the length of their tensor
        lengths = (3, 3) if whole else (3, 1)
        keys = (180, 180) if key_layout == "BSND" else (180, 33)
        s = Sequences(layout, key_layout, dtype, width=512, lengths=lengths, keys=keys)
        self.kind, self.s, self.dtype = kind, s, dtype
        self.ratio = {"csa": 4, "hca": 128}.get(kind, 1)
        self.residuals = [keys[0] % self.ratio, keys[1] % self.ratio]
        counts = (keys[0] // self.ratio, keys[1] // self.ratio)
        if key_layout == "BSND":
            counts = (max(counts),) * 2
        self.compressed = Sequences(layout, key_layout, dtype, width=512, keys=counts, seed=4)
        self.sinks = s.rng.standard_normal(s.heads).astype(F32)
        count = {"sparse": 9, "csa": 512}.get(kind, 0)
        self.counts = [s.rng.integers(0, 10, (n, 1)).astype(np.int32) for n in lengths]
        self.chosen: list[Array] = []
        for b, n in enumerate(lengths):
            most = keys[b] if kind == "sparse" else counts[b]
            rows = np.full((n, 1, count), -1, np.int32)
            for t in range(n):
                found = s.rng.permutation(most)[:count]
                if kind == "sparse":
                    found = found[: self.counts[b][t, 0]]
                rows[t, 0, : len(found)] = found
            self.chosen.append(rows)

    def tensor(self, parts: list[Array]) -> Any:
        if self.s.layout == "TND":
            return place(np.concatenate(parts))
        return place(np.stack(parts))

    def cache(self, s: Sequences) -> Any:
        if s.key_layout == "BSND":
            return place(np.stack([x[:, None] for x in s.k]))
        return place(s.key_tensor(s.k))

    def run(self, **changed: Any) -> tuple[Array, Array]:
        s, c, packed = self.s, self.compressed, self.s.layout == "TND"
        paged, both = s.key_layout == "PA_BBND", self.kind in ("csa", "hca")
        q = self.tensor(s.q)
        total = sum(s.lengths) if packed else s.lengths[0]
        out = hollow(q.shape, self.dtype)
        lse = hollow((1, total, s.heads) if packed else (2, 1, total, s.heads), F32)
        sparse = self.kind == "sparse"
        given: dict[str, Any] = {
            "q": q, "ori_kv": self.cache(s), "cmp_kv": self.cache(c) if both else None,
            "ori_sparse_indices": self.tensor(self.chosen) if sparse else None,
            "cmp_sparse_indices": self.tensor(self.chosen) if self.kind == "csa" else None,
            "ori_block_table": s.block_table(),
            "cmp_block_table": c.block_table() if both else None,
            "cu_seqlens_q": ints(0, *np.cumsum(s.lengths)) if packed else None,
            "cu_seqlens_ori_kv": (
                ints(0, *np.cumsum(s.keys)) if s.key_layout == "TND" else None
            ),
            "cu_seqlens_cmp_kv": (
                ints(0, *np.cumsum(c.keys)) if both and s.key_layout == "TND" else None
            ),
            "seqused_q": None, "seqused_ori_kv": ints(*s.keys) if paged else None,
            "seqused_cmp_kv": ints(*c.keys) if both and paged else None,
            "cmp_residual_kv": ints(*self.residuals) if both else None,
            "ori_topk_length": self.tensor(self.counts) if sparse else None,
            "cmp_topk_length": None, "sinks": place(self.sinks),
            "metadata": place(np.zeros(1024, np.int32)), "softmax_scale": SCALE,
            "cmp_ratio": self.ratio, "ori_mask_mode": 0 if sparse else 4, "cmp_mask_mode": 3,
            "ori_win_left": 127, "ori_win_right": 0, "layout_q": s.layout,
            "layout_kv": s.key_layout, "topk_value_mode": 1, "return_softmax_lse": True,
            "attn_out_out": out, "softmax_lse_out": lse, **changed,
        }  # fmt: skip
        op("SparseFlashMla")(**given)
        ap.synchronize()
        return out.numpy(), lse.numpy()

    def met(self, b: int, token: int) -> Array:
        """The elements of all tokens and compressed tokens that a token meets."""
        own, n = self.s.k[b], self.s.lengths[b]
        threshold = len(own) - n + token + 1
        if self.kind == "sparse":
            return own[self.chosen[b][token, 0, : self.counts[b][token, 0]]]
        first = own[max(threshold - 128, 0) : threshold]
        if self.kind == "swa":
            return first
        compressed = self.compressed.k[b]
        whole = len(compressed) * self.ratio + self.residuals[b]
        seen = max(0, (whole - n + token + 1) // self.ratio)
        if self.kind == "hca":
            return np.concatenate([first, compressed[:seen]])
        picked = [i for i in self.chosen[b][token, 0] if 0 <= i < seen]
        return np.concatenate([first, compressed[picked]])

    def check(self, **changed: Any) -> None:
        out, lse = self.run(**changed)
        s = self.s
        for b, n in enumerate(s.lengths):
            for t in range(n):
                keys = self.met(b, t).astype(np.float64)
                score = SCALE * s.q[b][t].astype(np.float64) @ keys.T
                sink = self.sinks.astype(np.float64)[:, None]
                most = np.maximum(sink, score.max(-1, keepdims=True, initial=-np.inf))
                powers = np.exp(score - most)
                total = powers.sum(-1, keepdims=True) + np.exp(sink - most)
                assert_close(s.rows(out, b)[t], powers @ keys / total, scale=2.0)
                at = (0, sum(s.lengths[:b]) + t) if s.layout == "TND" else (b, 0, t)
                assert_close(lse[at], (most + np.log(total))[:, 0], scale=9.0)


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
@pytest.mark.parametrize("kind", ["swa", "sparse", "csa", "hca"])
@pytest.mark.parametrize(
    ("layout", "key_layout"),
    [("BSND", "BSND"), ("TND", "TND"), ("BSND", "PA_BBND"), ("TND", "PA_BBND")],
)
def test_attention_over_tokens_and_compressed_tokens(
    layout: str, key_layout: str, kind: str, dtype: Any
) -> None:
    Problem(kind, layout, key_layout, dtype).check()


REFUSALS: list[tuple[str, dict[str, Any], int, str]] = [
    ("swa", {"softmax_lse_out": None}, 161001, "softmaxLseOutOptional is null"),
    ("swa", {"ori_kv": None}, 161002, "oriKvOptional is null or empty"),
    ("swa", {"sinks": None}, 161002, "sinksOptional is null or empty"),
    ("swa", {"metadata": None}, 161002, "metadataOptional is null or empty"),
    ("swa", {"seqused_q": np.ones(2, np.int32)}, 161002, "sequsedQOptional is given; pass null"),
    ("swa", {"cu_seqlens_q": None}, 161002, "cuSeqlensQOptional is null; with layoutQOptional"),
    ("swa", {"ori_mask_mode": 3}, 161002, "oriMaskMode is 3; allowed: 4"),
    ("sparse", {"ori_mask_mode": 4}, 161002, "oriMaskMode is 4; allowed: 0 with chosen tokens"),
    ("sparse", {"ori_topk_length": None}, 161002, "the first two go together"),
    ("csa", {"cmp_mask_mode": 0}, 161002, "cmpMaskMode is 0; allowed: 3"),
    ("csa", {"cmp_ratio": 128}, 161002, "cmpRatio is 128; allowed: 4"),
    ("hca", {"cmp_residual_kv": None}, 161002, "cmpResidualKvOptional is null"),
    ("swa", {"ori_win_left": 5}, 161002, "oriWinLeft is 5 and oriWinRight 0; allowed: 127 and 0"),
    ("swa", {"topk_value_mode": 0}, 161002, "topkValueMode is 0; allowed: 1"),
    ("swa", {"layout_kv": "BSND"}, 161002, "oriKvOptional has 3 dimensions"),
    ("swa", {"sinks": np.zeros(3, F32)}, 161002, "sinksOptional has shape (3,)"),
]


@pytest.mark.parametrize(
    ("kind", "changed", "status", "words"), REFUSALS, ids=[f"{r[0]}: {r[3]}" for r in REFUSALS]
)
def test_refusals(kind: str, changed: dict[str, Any], status: int, words: str) -> None:
    placed = {k: place(v) if isinstance(v, np.ndarray) else v for k, v in changed.items()}
    with pytest.raises(AclnnError) as caught:
        Problem(kind, "TND", "TND", F16).run(**placed)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def test_empty_tensors_are_absent() -> None:
    Problem("swa", "TND", "TND", F16).check(cmp_topk_length=place(np.zeros(0, np.int32)))


def test_a_chosen_token_outside_its_sequence_is_a_fault() -> None:
    problem = Problem("sparse", "TND", "TND", F16)
    problem.counts = [np.ones_like(x) for x in problem.counts]
    problem.chosen = [np.full_like(x, 180) for x in problem.chosen]
    with pytest.raises(DeviceError, match="oriSparseIndicesOptional has 180; sequence 0 has 180"):
        problem.run()
