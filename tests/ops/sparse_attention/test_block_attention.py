# SPDX-License-Identifier: Apache-2.0
"""Attention over chosen blocks, and that of Floyd, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, op, place

import aclnn_py as ap
from aclnn_py.errors import AclnnError, DeviceError

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
DTYPES = pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
ALL = 2147483647


class Blocks:
    """Sequences as (heads, tokens, width), and which blocks of them meet."""

    def __init__(self, layout: str, dtype: Any, shape: tuple[int, int], width: int = 64) -> None:
        g = np.random.default_rng(7)
        self.layout, self.shape, self.heads, self.kv_heads = layout, shape, 4, 2
        self.lengths, self.keys = [9, 37], [300, 129]
        self.q = [g.standard_normal((4, n, width)).astype(dtype) for n in self.lengths]
        self.k, self.v = (
            [g.standard_normal((2, n, width)).astype(dtype) for n in self.keys] for _ in range(2)
        )
        self.met = [
            g.random((4, -(-n // shape[0]), -(-m // shape[1]))) < 0.6
            for n, m in zip(self.lengths, self.keys, strict=True)
        ]
        self.met[0][0, 0] = False  # a block that meets nothing

    def tensor(self, parts: list[Array], tokens: int) -> Array:
        if self.layout == "TND":
            return np.concatenate([x.transpose(1, 0, 2) for x in parts])
        whole = np.zeros((2, parts[0].shape[0], tokens, parts[0].shape[2]), parts[0].dtype)
        for b, x in enumerate(parts):
            whole[b, :, : x.shape[1]] = x
        return whole.transpose(0, 2, 1, 3) if self.layout == "BSND" else whole

    def part(self, result: Array, b: int) -> Array:
        """What a sequence has in a result, as (heads, tokens, elements)."""
        n = self.lengths[b]
        if self.layout == "TND":
            first = sum(self.lengths[:b])
            return result[first : first + n].transpose(1, 0, 2)
        whole = result.transpose(0, 2, 1, 3) if self.layout == "BSND" else result
        return whole[b, :, :n]

    def answer(self, b: int, scale: float) -> tuple[Array, Array]:
        q, k, v = (x[b].astype(np.float64) for x in (self.q, self.k, self.v))
        k, v = (np.repeat(x, 2, axis=0) for x in (k, v))
        wide = np.repeat(np.repeat(self.met[b], self.shape[0], 1), self.shape[1], 2)
        met = wide[:, : self.lengths[b], : self.keys[b]]
        scores = np.where(met, scale * q @ k.swapaxes(1, 2), -np.inf)
        empty = ~met.any(-1)
        highest = np.where(empty, 0.0, scores.max(-1))
        powers = np.exp(scores - highest[..., None])
        total = np.where(empty, 1.0, powers.sum(-1))
        return powers @ v / total[..., None], np.where(empty, np.inf, highest + np.log(total))


@DTYPES
@pytest.mark.parametrize("shape", [(128, 128), (5, 128), (16, 256)])
@pytest.mark.parametrize("layout", ["TND", "BNSD", "BSND"])
def test_a_mask_of_pairs_of_blocks(layout: str, shape: tuple[int, int], dtype: Any) -> None:
    x = Blocks(layout, dtype, shape)
    mask = np.zeros((2, 4, max(m.shape[1] for m in x.met), max(m.shape[2] for m in x.met)), np.int8)
    for b, m in enumerate(x.met):
        mask[b, :, : m.shape[1], : m.shape[2]] = m
    q = x.tensor(x.q, 40)
    out, lse = hollow(q.shape, dtype), hollow((*q.shape[:-1], 1), F32)
    op("BlockSparseAttention")(
        place(q), place(x.tensor(x.k, 310)), place(x.tensor(x.v, 310)), place(mask), None,
        None if shape == (128, 128) else list(shape), x.lengths, x.keys, None, layout, layout, 2,
        0, 0.125, 0, 0, ALL, ALL, 1, out, lse,
    )  # fmt: skip
    for b in range(2):
        result, total = x.answer(b, 0.125)
        assert_close(x.part(out.numpy(), b), result, scale=2.0)
        assert_close(x.part(lse.numpy(), b)[..., 0], total, scale=9.0)
    if layout == "BNSD":
        assert not out.numpy()[0, :, 9:].any()


@DTYPES
@pytest.mark.parametrize("shape", [(8, 100), (64, 32)])
@pytest.mark.parametrize("layout", ["TND", "BNSD"])
def test_a_list_of_blocks(layout: str, shape: tuple[int, int], dtype: Any) -> None:
    x = Blocks(layout, dtype, shape, width=16)
    rows = [m[:, i] for m in x.met for i in range(m.shape[1])]
    chosen = np.full((len(rows), 4, max(m.shape[2] for m in x.met)), -1, np.int64)
    counts = np.zeros((len(rows), 4), np.int64)
    for i, row in enumerate(rows):
        for n in range(4):
            found = np.flatnonzero(row[n])
            chosen[i, n, : len(found)], counts[i, n] = found, len(found)
    q = x.tensor(x.q, 40)
    out = hollow(q.shape, dtype)
    op("RainFusionAttention")(
        place(q), place(x.tensor(x.k, 310)), place(x.tensor(x.v, 310)), place(chosen),
        place(counts), list(shape), None, x.lengths, x.keys, None, layout, layout, 2, 0, 0.25, 0, 0,
        out, None,
    )  # fmt: skip
    for b in range(2):
        assert_close(x.part(out.numpy(), b), x.answer(b, 0.25)[0], scale=2.0)


def sparse(**changed: Any) -> None:
    given: dict[str, Any] = {
        "query": np.zeros((1, 2, 3, 64), F16), "key": np.zeros((1, 1, 5, 64), F16),
        "value": np.zeros((1, 1, 5, 64), F16), "block_sparse_mask": np.ones((1, 2, 1, 1), np.int8),
        "atten_mask": None, "block_shape": None, "actual_seq_lengths": None,
        "actual_seq_lengths_kv": None, "block_table": None, "q_input_layout": "BNSD",
        "kv_input_layout": "BNSD", "num_key_value_heads": 1, "mask_type": 0, "scale_value": 1.0,
        "inner_precise": 0, "block_size": 0, "pre_tokens": ALL, "next_tokens": ALL,
        "softmax_lse_flag": 0, "attention_out": np.zeros((1, 2, 3, 64), F16), "softmax_lse": None,
        **changed,
    }  # fmt: skip
    op("BlockSparseAttention")(
        **{k: place(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    )
    ap.synchronize()


REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"query": None}, 161001, "query is null"),
    ({"block_sparse_mask": None}, 161001, "blockSparseMaskOptional is null"),
    ({"softmax_lse_flag": 1}, 161001, "softmaxLseOptional is null"),
    ({"key": np.zeros((1, 1, 5, 64), BF16)}, 161002, "key has dtype BFLOAT16"),
    ({"atten_mask": np.zeros((3, 5), np.int8)}, 161002, "attenMaskOptional is given"),
    ({"q_input_layout": "BSH"}, 161002, 'qInputLayout is "BSH"; allowed: TND, BNSD, BSND'),
    ({"kv_input_layout": "BSND"}, 161002, "it must be qInputLayout"),
    ({"block_shape": [128]}, 161002, "blockShapeOptional has 1 elements"),
    ({"block_shape": [0, 128]}, 161002, "blockShapeOptional has a size below 1"),
    ({"inner_precise": 4}, 161002, "innerPrecise is 4; allowed: 0, and 1 for FLOAT16"),
    ({"block_shape": [16, 16]}, 561002, "must be a multiple of 128"),
    ({"pre_tokens": 1}, 561002, "preTokens is 1"),
    ({"mask_type": 1}, 561002, "maskType is 1; allowed: 0"),
    ({"actual_seq_lengths": [3]}, 561002, "have to be given both or not"),
    (
        {"actual_seq_lengths": [4], "actual_seq_lengths_kv": [5]},
        561002,
        "[0] is 4; allowed: 0 to 3",
    ),
    ({"num_key_value_heads": 2}, 561002, "numKeyValueHeads is 2"),
    ({"block_sparse_mask": np.ones((1, 2, 2, 1), np.int8)}, 561002, "expected (1, 2, 1, 1)"),
    ({"attention_out": np.zeros((1, 3, 2, 64), F16)}, 561002, "attentionOut has shape"),
]


@pytest.mark.parametrize(("changed", "status", "words"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_refusals(changed: dict[str, Any], status: int, words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        sparse(**changed)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


@pytest.mark.parametrize(
    ("block", "count", "words"),
    [(2, 1, "selectIdx has 2; sequence 0 has 2 blocks"), (0, 2, "selectNumIdx has 2")],
)
def test_a_wrong_list_of_blocks_is_a_fault(block: int, count: int, words: str) -> None:
    q, k = place(np.zeros((3, 1, 16), F16)), place(np.zeros((5, 1, 16), F16))
    with pytest.raises(DeviceError, match=words):
        op("RainFusionAttention")(
            q, k, k, place(np.full((1, 1, 1), block)), place(np.full((1, 1), count)), [3, 4], None,
            [3], [5], None, "TND", "TND", 1, 0, 1.0, 0, 0, hollow((3, 1, 16), F16), None,
        )  # fmt: skip
        ap.synchronize()


@DTYPES
@pytest.mark.parametrize("masked", [True, False])
def test_pairs_meet_all_between_them(masked: bool, dtype: Any) -> None:
    g = np.random.default_rng(8)
    b, h, n, m, k, d = 1, 1, 16, 128, 128, 32
    q = g.standard_normal((b, h, n, m, d)).astype(dtype)
    k1, v1 = (g.standard_normal((b, h, n, k, d)).astype(dtype) for _ in range(2))
    k2, v2 = (g.standard_normal((b, h, k, m, d)).astype(dtype) for _ in range(2))
    mask = g.random((b, 1, n, 1, k)) < 0.3
    out, highest, total = (
        hollow(q.shape, dtype), hollow((b, h, n, m, 8), F32), hollow((b, h, n, m, 8), F32)
    )  # fmt: skip
    op("FusedFloydAttention")(
        place(q), place(k1), place(v1, "transposed"), place(k2), place(v2),
        place(mask) if masked else None, 0.3, highest, total, out,
    )  # fmt: skip
    wq, w1, x1, w2, x2 = (x.astype(np.float64) for x in (q, k1, v1, k2, v2))
    scores = np.einsum("bhnmd,bhnkd->bhnmk", wq, w1) + np.einsum("bhnmd,bhkmd->bhnmk", wq, w2)
    scores *= 0.3
    if masked:
        scores = np.where(mask, -np.inf, scores)
    most = scores.max(-1, keepdims=True)
    powers = np.exp(scores - most)
    sums = powers.sum(-1, keepdims=True)
    powers /= sums
    result = np.einsum("bhnmk,bhnkd->bhnmd", powers, x1)
    result += np.einsum("bhnmk,bhkmd->bhnmd", powers, x2)
    assert_close(out.numpy(), result, scale=2.0)
    assert_close(highest.numpy(), np.repeat(most, 8, -1), scale=9.0)
    assert_close(total.numpy(), np.repeat(sums, 8, -1), scale=9.0)


def test_refusals_of_floyd() -> None:
    def call(n: int = 16, m: int = 128, k: int = 128, d: int = 32) -> None:
        q, one, two = ((1, 1, n, m, d), (1, 1, n, k, d), (1, 1, k, m, d))
        sums = hollow((1, 1, n, m, 8), F32)
        op("FusedFloydAttention")(
            hollow(q, F16), *[hollow(one, F16)] * 2, *[hollow(two, F16)] * 2, None, 1.0, sums, sums,
            hollow(q, F16),
        )  # fmt: skip

    for changed, words in (
        ({"n": 8}, "a multiple of 16"),
        ({"m": 64}, "its fourth of 128"),
        ({"k": 64}, "key1 has shape"),
        ({"d": 16}, "heads of 16 elements; allowed: 32, 64, 128"),
    ):
        with pytest.raises(AclnnError, match=words) as caught:
            call(**changed)
        assert caught.value.status == 561002
