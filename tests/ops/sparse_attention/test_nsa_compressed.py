# SPDX-License-Identifier: Apache-2.0
"""Native sparse attention over compressed keys and its choice of blocks, in float64."""

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
DTYPES = pytest.mark.parametrize("dtype", [F16, BF16], ids=str)


def compressed(
    q: Array, k: Array, v: Array, scale: float, hidden: Array | None
) -> tuple[Array, Array, Array, Array]:
    """One token, (heads, width), over (keys, kv heads, ...): result, chances, highest, sums."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = len(q) // k.shape[1]
    score = scale * np.einsum("nd,knd->nk", q, np.repeat(k, group, 1))
    if hidden is not None:
        score = np.where(hidden, -3.4e38, score)
    highest = score.max(1)
    powers = np.exp(score - highest[:, None])
    chances = powers / powers.sum(1, keepdims=True)
    out = np.einsum("nk,knd->nd", chances, np.repeat(v, group, 1))
    return out, chances, highest, powers.sum(1)


def best(chances: Array, kv_heads: int, window: int, stride: int, block: int, count: int) -> Array:
    """(heads, keys) to the blocks that are chosen, (kv heads, count)."""
    step, keys = block // stride, chances.shape[1]
    joined = chances.reshape(kv_heads, -1, keys).sum(1)
    sums = np.zeros((kv_heads, -(-keys // step)))
    for j in range(sums.shape[1]):
        for m in range(step):
            for n in range(window // stride):
                if step * j - m - n >= 0:
                    sums[:, j] += joined[:, step * j - m - n]
    chosen = np.full((kv_heads, count), -1)
    order = np.argsort(-sums, axis=1, kind="stable")[:, :count]
    chosen[:, : order.shape[1]] = order
    return chosen


@DTYPES
@pytest.mark.parametrize(
    ("window", "stride", "block", "mask"),
    [(32, 16, 64, None), (16, 16, 16, "causal"), (48, 32, 64, "random"), (128, 16, 128, None)],
)
def test_packed_sequences(window: int, stride: int, block: int, mask: Any, dtype: Any) -> None:
    g = np.random.default_rng(window + block)
    lengths, keys, count = [5, 20, 1], [33, 24, 40], 3
    q = g.standard_normal((26, 4, 24)).astype(dtype)
    k = g.standard_normal((97, 2, 24)).astype(dtype)
    v = g.standard_normal((97, 2, 16)).astype(dtype)
    hidden = {
        None: None,
        "causal": np.triu(np.ones((20, 40), np.bool_), 1),
        "random": g.random((22, 41)) < 0.4,
    }[mask]
    blocks = [-(-n // (block // stride)) for n in keys]
    out, chosen = hollow((26, 4, 16), dtype), hollow((26, 2, count), np.int32)
    highest, total = hollow((26, 4, 8), F32), hollow((26, 4, 8), F32)
    op("NsaCompressAttention")(
        place(q, "transposed"), place(k, "stepped"), place(v),
        None if hidden is None else place(hidden), None, np.cumsum(lengths).tolist(),
        np.cumsum(keys).tolist(), np.cumsum(blocks).tolist(), 0.3, 4, "TND", 0, window, stride,
        block, count, highest, total, out, chosen,
    )  # fmt: skip
    at = 0
    for b, n in enumerate(lengths):
        part = slice(sum(keys[:b]), sum(keys[: b + 1]))
        for s in range(n):
            hide = None if hidden is None else hidden[s, : keys[b]]
            result, chances, most, sums = compressed(q[at], k[part], v[part], 0.3, hide)
            assert_close(out.numpy()[at], result, scale=2.0)
            assert_close(highest.numpy()[at], np.repeat(most[:, None], 8, 1), scale=9.0)
            assert_close(total.numpy()[at], np.repeat(sums[:, None], 8, 1), scale=9.0)
            assert_same(
                chosen.numpy()[at], best(chances, 2, window, stride, block, count).astype(np.int32)
            )
            at += 1


@pytest.mark.parametrize("layout", ["BSND", "TND"])
@pytest.mark.parametrize("several", [False, True])
def test_steps_over_pages(several: bool, layout: str) -> None:
    g = np.random.default_rng(8)
    window, stride, block, count, page = 32, 16, 64, 2, 16
    whole = [230, 150]
    keys = [(n - window) // stride + 1 for n in whole]
    tokens = [2, 4] if several else [1, 1]
    q = [g.standard_normal((n, 8, 32)).astype(BF16) for n in tokens]
    k = [g.standard_normal((n, 2, 32)).astype(BF16) for n in keys]
    v = [g.standard_normal((n, 2, 16)).astype(BF16) for n in keys]
    table = np.array([[2, 0], [1, -1]], np.int32)
    caches = [np.full((3, page, 2, w), 9, BF16) for w in (32, 16)]
    for b, n in enumerate(keys):
        for t in range(n):
            for cache, side in zip(caches, (k, v), strict=True):
                cache[table[b, t // page], t % page] = side[b][t]
    most = max(tokens)
    if layout == "TND":
        query = np.concatenate(q)
    else:
        query = np.full((2, most, 8, 32), 5, BF16)
        for b, x in enumerate(q):
            query[b, : len(x)] = x
    out = hollow((*query.shape[:-1], 16), BF16)
    chosen = hollow((*query.shape[:-2], 2, count), np.int32)
    op("NsaCompressAttentionInfer")(
        place(query), *(place(c.reshape(3, page, -1)) for c in caches), None, place(table),
        tokens if several else None, keys, whole if several else None, None, 8, 2, block, count,
        window, stride, 0.2, layout, page, 0, out, chosen,
    )  # fmt: skip
    results, choices = out.numpy(), chosen.numpy()
    for b, n in enumerate(tokens):
        for t in range(n):
            seen = (whole[b] - n + t + 1 - window) // stride + 1
            result, chances, *_ = compressed(q[b][t], k[b][:seen], v[b][:seen], 0.2, None)
            row = (sum(tokens[:b]) + t,) if layout == "TND" else (b, t)
            assert_close(results[row], result, scale=2.0)
            assert_same(
                choices[row], best(chances, 2, window, stride, block, count).astype(np.int32)
            )
    if layout == "BSND" and several:  # behind the last token of the first sequence
        assert_same(results[0, 2:].astype(F32), np.zeros((2, 8, 16), F32))
        assert_same(choices[0, 2:], np.full((2, 2, count), -1, np.int32))


def call(**changed: Any) -> None:
    given: dict[str, Any] = {
        "query": np.zeros((3, 2, 16), F16), "key": np.zeros((7, 1, 16), F16),
        "value": np.zeros((7, 1, 16), F16), "atten_mask": None, "topk_mask": None,
        "actual_seq_q_len": [1, 3], "actual_cmp_seq_kv_len": [4, 7],
        "actual_sel_seq_kv_len": [2, 4], "scale_value": 1.0, "head_num": 2,
        "input_layout": "TND", "sparse_mode": 0, "compress_block_size": 32, "compress_stride": 16,
        "select_block_size": 32, "select_block_count": 1,
        "softmax_max_out": np.zeros((3, 2, 8), F32), "softmax_sum_out": np.zeros((3, 2, 8), F32),
        "attention_out_out": np.zeros((3, 2, 16), F16),
        "topk_indices_out": np.zeros((3, 1, 1), np.int32), **changed,
    }  # fmt: skip
    op("NsaCompressAttention")(
        **{k: place(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    )


REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"value": None}, 161001, "value is null"),
    ({"key": np.zeros((7, 1, 16), BF16)}, 161002, "key has dtype BFLOAT16"),
    ({"input_layout": "BSND"}, 161002, 'inputLayout is "BSND"; allowed: TND'),
    ({"sparse_mode": 2}, 161002, "sparseMode is 2; allowed: 0, 1"),
    ({"topk_mask": np.zeros((2, 2), np.bool_)}, 161002, "topkMaskOptional is given"),
    ({"compress_block_size": 40}, 561002, "compressBlockSize is 40"),
    ({"compress_stride": 0}, 561002, "compressStride is 0"),
    ({"select_block_size": 16}, 561002, "selectBlockSize is 16"),
    ({"select_block_count": 33}, 561002, "selectBlockCount is 33; allowed: 1 to 32"),
    ({"select_block_count": 3}, 561002, "selectBlockCount is 3; sequence 0 has 2 blocks"),
    ({"head_num": 1}, 561002, "headNum is 1; it must be the heads of query, 2"),
    ({"value": np.zeros((7, 1, 32), F16)}, 561002, "the third no larger"),
    ({"actual_cmp_seq_kv_len": None}, 561002, "actualCmpSeqKvLenOptional is missing"),
    ({"actual_sel_seq_kv_len": [2, 5]}, 561002, "its 3 compressed keys make 2"),
    ({"atten_mask": np.zeros((1, 4), np.bool_)}, 561002, "it must have at least (2, 4)"),
    ({"topk_indices_out": np.zeros((3, 2, 1), np.int32)}, 561002, "topkIndicesOut has shape"),
]


@pytest.mark.parametrize(("changed", "status", "words"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_refusals(changed: dict[str, Any], status: int, words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        call(**changed)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def step(**changed: Any) -> None:
    given: dict[str, Any] = {
        "query": np.zeros((1, 1, 2, 16), F16), "key": np.zeros((2, 16, 16), F16),
        "value": np.zeros((2, 16, 16), F16), "attention_mask": None,
        "block_table": np.zeros((1, 2), np.int32), "actual_q_seq_len": None,
        "actual_cmp_kv_seq_len": [20], "actual_sel_kv_seq_len": None, "top_k_mask": None,
        "num_heads": 2, "num_key_value_heads": 1, "select_block_size": 32, "select_block_count": 2,
        "compress_block_size": 32, "compress_block_stride": 16, "scale_value": 1.0,
        "layout": "BSND", "page_block_size": 16, "sparse_mode": 0,
        "output": np.zeros((1, 1, 2, 16), F16), "top_k_output": np.zeros((1, 1, 1, 2), np.int32),
        **changed,
    }  # fmt: skip
    op("NsaCompressAttentionInfer")(
        **{k: place(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    )
    ap.synchronize()


STEP_REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"block_table": None}, 161001, "blockTableOptional is null"),
    ({"num_key_value_heads": 0}, 561002, "numKeyValueHeads 0; they must be positive"),
    ({"layout": "BSH"}, 561002, 'layoutOptional is "BSH"; allowed: BSND, TND'),
    ({"page_block_size": 32}, 561002, "pageBlockSize is 32"),
    ({"actual_cmp_kv_seq_len": [33]}, 561002, "actualCmpKvSeqLenOptional[0] is 33"),
    ({"select_block_count": 11}, 561002, "sequence 0 has 10 blocks"),
    ({"query": np.zeros((1, 2, 2, 16), F16)}, 561002, "several of a sequence need"),
    (
        {
            "query": np.zeros((1, 2, 2, 16), F16), "output": np.zeros((1, 2, 2, 16), F16),
            "top_k_output": np.zeros((1, 2, 1, 2), np.int32), "actual_q_seq_len": [2],
            "actual_sel_kv_seq_len": [336], "attention_mask": np.zeros((2, 20), np.bool_),
        },
        561002,
        "attentionMaskOptional is given; with several tokens",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "status", "words"), STEP_REFUSALS, ids=[r[2] for r in STEP_REFUSALS]
)
def test_refusals_of_steps(changed: dict[str, Any], status: int, words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        step(**changed)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def test_a_page_outside_the_cache_is_a_fault() -> None:
    with pytest.raises(DeviceError, match=r"has 2 at \(0, 1\); the cache has 2 pages"):
        step(block_table=np.array([[0, 2]], np.int32))
