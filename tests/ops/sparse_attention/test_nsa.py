# SPDX-License-Identifier: Apache-2.0
"""Native sparse attention: windows of keys, and attention over selected blocks, in float64."""

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


def windows(tokens: Array, weight: Array, stride: int) -> Array:
    """(tokens, heads, width) and (length, heads) to the compressed tokens."""
    length = len(weight)
    x, w = tokens.astype(np.float64), weight.astype(np.float64)[:, :, None]
    rows = [(x[i : i + length] * w).sum(0) for i in range(0, len(tokens) - length + 1, stride)]
    return np.array(rows).reshape(-1, *tokens.shape[1:])


@DTYPES
@pytest.mark.parametrize(("length", "stride"), [(16, 16), (48, 16), (32, 32)])
def test_windows_become_their_weighted_sums(length: int, stride: int, dtype: Any) -> None:
    g = np.random.default_rng(1)
    lengths = [100, 15, 0, 64]
    x = g.standard_normal((sum(lengths), 3, 32)).astype(dtype)
    w = g.standard_normal((length, 3)).astype(dtype)
    ends = [int(e) for e in np.cumsum(lengths)]
    parts = np.split(x, ends[:-1])
    expected = np.concatenate([windows(p, w, stride) for p in parts])
    out = hollow(expected.shape, dtype)
    op("NsaCompress")(place(x, "transposed"), place(w), ends, "TND", length, stride, 0, out)
    assert_close(out.numpy(), expected, scale=4.0)


@DTYPES
@pytest.mark.parametrize("paged", [False, True])
def test_the_last_window_of_a_sequence_goes_to_its_slot(paged: bool, dtype: Any) -> None:
    g = np.random.default_rng(2)
    # full, one token more, two strides later, too short
    lengths, length, stride = [32, 33, 64, 31], 32, 16
    parts = [g.standard_normal((n, 2, 16)).astype(dtype) for n in lengths]
    w = g.standard_normal((length, 2)).astype(dtype)
    slots = np.array([5, -3, 0, 99], np.int32)  # those of no window are not looked at
    table = None
    x = np.concatenate(parts)
    if paged:
        order = g.permutation(8)
        x = np.zeros((8, 64, 2, 16), dtype)
        table = order.reshape(4, 2).astype(np.int32)
        for b, p in enumerate(parts):
            for t in range(len(p)):
                x[table[b, t // 64], t % 64] = p[t]
    cache = hollow((40, 2, 16), dtype)
    op("NsaCompressWithCache")(
        place(x), place(w), place(slots), lengths, None if table is None else place(table), "TND",
        length, stride, 1, 64, cache,
    )  # fmt: skip
    expected = np.full((40, 2, 16), 77.0)
    expected[5] = windows(parts[0], w, stride)[-1]
    expected[0] = windows(parts[2], w, stride)[-1]
    assert_close(cache.numpy(), expected, scale=4.0)


def test_a_slot_outside_the_cache_is_a_fault() -> None:
    x, w = np.zeros((16, 1, 16), F16), np.zeros((16, 1), F16)
    with pytest.raises(DeviceError, match="slotMapping has 2 for sequence 0; the cache has 2 rows"):
        op("NsaCompressWithCache")(
            place(x), place(w), place(np.array([2], np.int32)), [16], None, "TND", 16, 16, 1, 64,
            hollow((2, 1, 16), F16),
        )  # fmt: skip
        ap.synchronize()


COMPRESS_REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"x": None}, 161001, "input is null"),
    ({"ends": None}, 161001, "actSeqLenOptional is null"),
    ({"w": np.zeros((16, 2), BF16)}, 161002, "weight has dtype BFLOAT16"),
    ({"w": np.zeros((16, 3), F16)}, 161002, "the number of heads must be equal"),
    ({"layout": "BSH"}, 161002, 'layoutOptional is "BSH"; allowed: TND'),
    ({"length": 24}, 561002, "compressBlockSize is 24; allowed: multiples of 16 up to 128"),
    ({"stride": 32}, 561002, "compressStride is 32"),
    ({"kind": 1}, 561002, "actSeqLenType is 1; allowed: 0"),
    ({"ends": [16]}, 561002, "must end with the tokens of input, 32"),
    ({"ends": [33, 32]}, 561002, "actSeqLenOptional[0] is 33"),
    ({"out": np.zeros((3, 2, 16), F16)}, 561002, "output has shape (3, 2, 16)"),
]


@pytest.mark.parametrize(
    ("changed", "status", "words"), COMPRESS_REFUSALS, ids=[r[2] for r in COMPRESS_REFUSALS]
)
def test_refusals_of_windows(changed: dict[str, Any], status: int, words: str) -> None:
    g: dict[str, Any] = {
        "x": np.zeros((32, 2, 16), F16), "w": np.zeros((16, 2), F16), "ends": [16, 32],
        "layout": "TND", "length": 16, "stride": 16, "kind": 0, "out": np.zeros((2, 2, 16), F16),
        **changed,
    }  # fmt: skip
    g = {k: place(v) if isinstance(v, np.ndarray) else v for k, v in g.items()}
    with pytest.raises(AclnnError) as caught:
        op("NsaCompress")(*g.values())
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def selected(
    q: Array, k: Array, v: Array, blocks: Array, size: int, scale: float, hidden: Any
) -> tuple[Array, Array, Array]:
    """One token: (heads, width), (keys, kv heads, ...), blocks (kv heads, count), by head."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = len(q) // k.shape[1]
    result, highest, total = np.zeros((len(q), v.shape[2])), np.zeros(len(q)), np.zeros(len(q))
    for n in range(len(q)):
        met = [j for i in blocks[n // group] if i >= 0 for j in range(i * size, (i + 1) * size)]
        met = [j for j in met if j < len(k)]
        if not met:
            continue
        score = scale * k[met, n // group] @ q[n]
        score = np.where([bool(hidden(j)) for j in met], -3.4e38, score)
        highest[n] = score.max()
        powers = np.exp(score - highest[n])
        total[n] = powers.sum()
        result[n] = powers @ v[met, n // group] / total[n]
    return result, highest, total


@DTYPES
@pytest.mark.parametrize("mask", [None, "full", "causal"])
def test_attention_over_selected_blocks(mask: str | None, dtype: Any) -> None:
    g = np.random.default_rng(4)
    lengths, keys, size, count = [3, 5], [64, 48], 16, 2
    q = g.standard_normal((8, 4, 192)).astype(dtype)
    k = g.standard_normal((112, 2, 192)).astype(dtype)
    v = g.standard_normal((112, 2, 128)).astype(dtype)
    blocks = np.stack(
        [[g.permutation(n // size)[:count] for _ in range(2)]
         for n, s in zip(keys, lengths, strict=True) for _ in range(s)]
    ).astype(np.int32)  # fmt: skip
    blocks[:, :, 0] = 0  # so that a causal mask leaves a key
    full = g.random((6, 70)) < 0.3
    given = {None: None, "full": full, "causal": np.triu(np.ones((2048, 2048), np.bool_), 1)}[mask]
    out, highest, total = hollow((8, 4, 128), dtype), hollow((8, 4, 8), F32), hollow((8, 4, 8), F32)
    op("NsaSelectedAttention")(
        place(q), place(k), place(v), place(blocks), None if given is None else place(given),
        [3, 8], [64, 112], 0.07, 4, "TND", 2 if mask == "causal" else 0, size, count, highest,
        total, out,
    )  # fmt: skip
    for t in range(8):
        b = int(t >= 3)
        s, part = t - 3 * b, slice(64 * b, 64 + 48 * b)
        hide = {
            None: lambda j: False,
            "full": lambda j, s=s: full[s, j],
            "causal": lambda j, s=s: j > s,
        }[mask]
        result, most, sums = selected(q[t], k[part], v[part], blocks[t], size, 0.07, hide)
        assert_close(out.numpy()[t], result, scale=2.0)
        assert_close(highest.numpy()[t], np.repeat(most[:, None], 8, 1), scale=9.0)
        assert_close(total.numpy()[t], np.repeat(sums[:, None], 8, 1), scale=9.0)


@pytest.mark.parametrize("layout", ["BSND", "BSH", "TND"])
@pytest.mark.parametrize("steps", [None, [1, 3]])
def test_steps_over_selected_blocks_in_pages(steps: list[int] | None, layout: str) -> None:
    g = np.random.default_rng(6)
    lengths, size, page = [70, 130], 32, 64
    counts = steps or [1, 1]
    tokens = max(counts)
    q = [g.standard_normal((n, 4, 192)).astype(BF16) for n in counts]
    k = [g.standard_normal((n, 2, 192)).astype(BF16) for n in lengths]
    v = [g.standard_normal((n, 2, 128)).astype(BF16) for n in lengths]
    blocks = [
        np.stack([[g.permutation(-(-n // size))[:2] for _ in range(2)] for _ in range(c)])
        for n, c in zip(lengths, counts, strict=True)
    ]
    table = np.array([[4, 1, -1], [3, 0, 2]], np.int32)
    caches = [np.zeros((5, page, 2, w), BF16) for w in (192, 128)]
    for b, n in enumerate(lengths):
        for t in range(n):
            for cache, side in zip(caches, (k, v), strict=True):
                cache[table[b, t // page], t % page] = side[b][t]
    if layout == "BSH":
        caches = [c.reshape(5, page, -1) for c in caches]

    def laid(parts: list[Array], junk: Any) -> Array:
        if layout == "TND":
            return np.concatenate(parts)
        whole = np.full((2, tokens, *parts[0].shape[1:]), junk, parts[0].dtype)
        for b, x in enumerate(parts):
            whole[b, : len(x)] = x
        return whole

    query, chosen = laid(q, 1), laid(blocks, -1).astype(np.int32)
    shape = (*query.shape[:-1], 128)
    if layout == "BSH":
        query, shape = query.reshape(2, tokens, -1), (2, tokens, 4 * 128)
    out = hollow(shape, BF16)
    op("NsaSelectedAttentionInfer")(
        place(query), *(place(c) for c in caches), place(chosen), None, place(table), steps,
        lengths, layout, 4, 2, size, 2, page, 0.07, 0, out,
    )  # fmt: skip
    results = out.numpy()
    for b, n in enumerate(lengths):
        for t in range(counts[b]):
            seen = n - counts[b] + t + 1
            expected, *_ = selected(
                q[b][t], k[b][:seen], v[b][:seen], blocks[b][t], size, 0.07, lambda j: False
            )
            row = results[sum(counts[:b]) + t] if layout == "TND" else results[b, t]
            assert_close(row.reshape(4, 128), expected, scale=2.0)
    if layout != "TND" and steps:
        assert_same(results[0, 1:].astype(F32), np.zeros_like(results[0, 1:], F32))


SELECTED_REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"query": None}, 161001, "query is null"),
    ({"input_layout": "BSND"}, 161002, 'inputLayout is "BSND"; allowed: TND'),
    ({"topk_indices": np.zeros((3, 1, 1), np.int64)}, 161002, "topkIndices has dtype INT64"),
    ({"selected_block_size": 24}, 561002, "selectedBlockSize is 24"),
    ({"selected_block_count": 0}, 561002, "selectedBlockCount is 0"),
    ({"head_num": 3}, 561002, "headNum is 3; it must be the heads of query, 2"),
    ({"query": np.zeros((3, 2, 128), F16)}, 561002, "allowed: 192, 192 and 128"),
    ({"actual_seq_q_len": None}, 561002, "actualSeqQLenOptional is missing"),
    ({"actual_seq_kv_len": [20]}, 561002, "sequence 0 has 20 keys; it must have whole blocks"),
    ({"sparse_mode": 3, "atten_mask": np.zeros((3, 32), np.bool_)}, 561002, "sparseMode is 3"),
    ({"atten_mask": np.zeros((3, 31), np.bool_)}, 561002, "attenMaskOptional has shape (3, 31)"),
    ({"attention_out": np.zeros((3, 2, 192), F16)}, 561002, "attentionOut has shape"),
]


def call_selected(**changed: Any) -> None:
    given: dict[str, Any] = {
        "query": np.zeros((3, 2, 192), F16), "key": np.zeros((32, 1, 192), F16),
        "value": np.zeros((32, 1, 128), F16), "topk_indices": np.zeros((3, 1, 1), np.int32),
        "atten_mask": None, "actual_seq_q_len": [3], "actual_seq_kv_len": [32], "scale_value": 1.0,
        "head_num": 2, "input_layout": "TND", "sparse_mode": 0, "selected_block_size": 16,
        "selected_block_count": 1, "softmax_max_out": np.zeros((3, 2, 8), F32),
        "softmax_sum_out": np.zeros((3, 2, 8), F32), "attention_out": np.zeros((3, 2, 128), F16),
        **changed,
    }  # fmt: skip
    op("NsaSelectedAttention")(
        **{k: place(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    )
    ap.synchronize()


@pytest.mark.parametrize(
    ("changed", "status", "words"), SELECTED_REFUSALS, ids=[r[2] for r in SELECTED_REFUSALS]
)
def test_refusals_of_selected_blocks(changed: dict[str, Any], status: int, words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        call_selected(**changed)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def test_a_block_outside_the_keys_is_a_fault() -> None:
    with pytest.raises(DeviceError, match="topkIndices has 2; sequence 0 has 2 blocks"):
        call_selected(topk_indices=np.full((3, 1, 1), 2, np.int32))
