# SPDX-License-Identifier: Apache-2.0
"""Attention over chosen blocks, from the choice to the result."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from ops.sparse_attention.test_block_select import choice
from ops.sparse_attention.test_nsa import selected, windows
from ops.sparse_attention.test_nsa_compressed import best, compressed

import aclnn_py as ap
from aclnn_py import functional as f
from aclnn_py.errors import AclnnError, InvalidArgumentError

pytestmark = pytest.mark.usefixtures("device")

F16 = np.dtype(np.float16)
WINDOW, STRIDE, BLOCK, COUNT, PAGE = 32, 16, 64, 2, 64


def test_a_step_of_native_sparse_attention() -> None:
    g = np.random.default_rng(4)
    tokens, queries, heads = 256, 2, 4
    windows = (tokens - WINDOW) // STRIDE + 1
    q = g.standard_normal((queries, heads, 192)).astype(F16)
    k, short = (g.standard_normal((4 * PAGE, 2, 192)).astype(F16) for _ in range(2))
    v, brief = (g.standard_normal((4 * PAGE, 2, 128)).astype(F16) for _ in range(2))
    table = ap.from_numpy(np.arange(4, dtype=np.int32)[None])
    pages = [ap.from_numpy(x.reshape(4, PAGE, -1)) for x in (short, brief, k, v)]
    common = {
        "num_heads": heads, "num_key_value_heads": 2, "select_block_size": BLOCK,
        "select_block_count": COUNT, "page_block_size": PAGE, "scale": 0.1,
        "actual_q_seq_len": [queries],
    }  # fmt: skip
    out, blocks = f.nsa_compress_attention_infer(
        ap.from_numpy(q), *pages[:2], table, [windows], compress_block_size=WINDOW,
        compress_stride=STRIDE, actual_sel_kv_seq_len=[tokens], **common,
    )  # fmt: skip
    result = f.nsa_selected_attention_infer(
        ap.from_numpy(q), *pages[2:], blocks, table, [tokens], **common
    )
    for t in range(queries):
        seen = tokens - queries + t + 1
        there = (seen - WINDOW) // STRIDE + 1
        expected, chances, *_ = compressed(q[t], short[:there], brief[:there], 0.1, None)
        chosen = best(chances, 2, WINDOW, STRIDE, BLOCK, COUNT).astype(np.int32)
        assert_close(out.numpy()[t], expected, scale=2.0)
        assert_same(blocks.numpy()[t], chosen)
        expected, *_ = selected(q[t], k[:seen], v[:seen], chosen, BLOCK, 0.1, lambda j: False)
        assert_close(result.numpy()[t], expected, scale=2.0)


def test_native_sparse_attention_of_packed_sequences() -> None:
    g = np.random.default_rng(5)
    lengths, keys, size = [3, 2], [128, 96], 32
    ends, key_ends = (np.cumsum(x).tolist() for x in (lengths, keys))
    q = g.standard_normal((5, 4, 192)).astype(F16)
    k, v = (g.standard_normal((224, 2, w)).astype(F16) for w in (192, 128))
    w = (g.random((WINDOW, 2)) / WINDOW).astype(F16)
    strides = {"compress_block_size": WINDOW, "compress_stride": STRIDE}
    short, brief = (
        f.nsa_compress(ap.from_numpy(x), ap.from_numpy(w), key_ends, **strides) for x in (k, v)
    )
    counts = [(n - WINDOW) // STRIDE + 1 for n in keys]
    parts = np.split(k, key_ends[:-1])
    assert_close(short.numpy(), np.concatenate([windows(x, w, STRIDE) for x in parts]), scale=4.0)
    common = {"scale": 0.1, "num_heads": 4, "actual_seq_qlen": ends}
    out, blocks, *_ = f.nsa_compress_attention(
        ap.from_numpy(q), short, brief, select_block_size=size, select_block_count=COUNT,
        actual_cmp_seq_kvlen=np.cumsum(counts).tolist(),
        actual_sel_seq_kvlen=np.cumsum([n // size for n in keys]).tolist(), **strides, **common,
    )  # fmt: skip
    result, highest, total = f.nsa_selected_attention(
        ap.from_numpy(q), ap.from_numpy(k), ap.from_numpy(v), blocks, select_block_size=size,
        select_block_count=COUNT, actual_seq_kvlen=key_ends, **common,
    )  # fmt: skip
    at = 0
    for b, n in enumerate(lengths):
        own, near = slice(sum(keys[:b]), key_ends[b]), slice(sum(counts[:b]), sum(counts[: b + 1]))
        for _ in range(n):
            expected, *_ = compressed(q[at], short.numpy()[near], brief.numpy()[near], 0.1, None)
            assert_close(out.numpy()[at], expected, scale=2.0)
            expected, most, sums = selected(
                q[at], k[own], v[own], blocks.numpy()[at], size, 0.1, lambda j: False
            )
            assert_close(result.numpy()[at], expected, scale=2.0)
            assert_close(highest.numpy()[at], np.repeat(most[:, None], 8, 1), scale=9.0)
            assert_close(total.numpy()[at], np.repeat(sums[:, None], 8, 1), scale=9.0)
            at += 1


def test_a_full_window_goes_into_a_cache() -> None:
    g = np.random.default_rng(6)
    x, w = g.standard_normal((64, 2, 16)).astype(F16), g.random((WINDOW, 2)).astype(F16)
    cache = ap.from_numpy(np.full((4, 2, 16), 7, F16))
    slots = ap.from_numpy(np.array([2, 0], np.int32))
    found = f.nsa_compress_with_cache_(
        cache, ap.from_numpy(x), ap.from_numpy(w), slots, [32, 32], compress_block_size=WINDOW,
        compress_stride=STRIDE,
    )  # fmt: skip
    assert found is cache
    for slot, part in ((2, x[:32]), (0, x[32:])):
        assert_close(cache.numpy()[slot], windows(part, w, STRIDE)[0], scale=4.0)
    assert_same(cache.numpy()[[1, 3]], np.full((2, 2, 16), 7, F16))


@pytest.mark.parametrize("layout", ["BNSD", "TND"])
def test_blocks_that_attend_to_each_other(layout: str) -> None:
    g = np.random.default_rng(6)
    q, k = (2 * g.standard_normal((2, n, 128)).astype(F16) for n in (100, 300))
    lengths = {"actual_seq_lengths": [100], "actual_seq_lengths_kv": [300]}
    shape = (16, 128)
    sides = [ap.from_numpy(x.transpose(1, 0, 2) if layout == "TND" else x[None]) for x in (q, k)]
    mask = f.bsa_select_block_mask(
        *sides, 0.4, scale=0.5, block_shape=shape, input_layout=layout, **lengths
    )
    out = f.block_sparse_attention(
        *sides, sides[1], mask, scale=0.1, block_shape=shape, num_key_value_heads=2,
        input_layout=layout, **lengths,
    )  # fmt: skip
    result = out.numpy().transpose(1, 0, 2) if layout == "TND" else out.numpy()[0]
    for n in range(2):
        met = choice(q[n], k[n], shape, None, 0.5, 0.4)
        assert_same(mask.numpy()[0, n], met)
        wide = np.repeat(np.repeat(met, 16, 0), 128, 1)[:100, :300] != 0
        scores = 0.1 * q[n].astype(np.float64) @ k[n].astype(np.float64).T
        powers = np.where(wide, np.exp(scores - scores.max(1, keepdims=True)), 0.0)
        total = powers.sum(1, keepdims=True)
        expected = powers @ k[n].astype(np.float64) / np.where(total == 0, 1, total)
        assert_close(result[n], expected, scale=2.0)


def test_wrong_arguments_are_named() -> None:
    x = ap.from_numpy(np.zeros((1, 2, 256, 128), F16))
    with pytest.raises(InvalidArgumentError, match=r"block_shape: \(0, 8\)"):
        f.bsa_select_block_mask(x, x, 0.5, block_shape=(0, 8))
    with pytest.raises(InvalidArgumentError, match="actual_seq_lengths: give the lengths"):
        f.bsa_select_block_mask(x[0], x[0], 0.5, input_layout="TND")
    with pytest.raises(InvalidArgumentError, match="input_layout: 'TND' does not fit"):
        f.bsa_select_block_mask(x, x, 0.5, input_layout="TND")
    with pytest.raises(AclnnError, match="sparsity is 2"):
        f.bsa_select_block_mask(x, x, 2.0)
    table = ap.from_numpy(np.zeros((1, 1), np.int32))
    common = {"num_heads": 2, "select_block_size": 64, "page_block_size": 64}
    with pytest.raises(InvalidArgumentError, match="num_key_value_heads: 0 is not positive"):
        f.nsa_selected_attention_infer(
            x, x, x, table, table, [3], num_key_value_heads=0, select_block_count=1, **common
        )
    with pytest.raises(InvalidArgumentError, match="select_block_count: -1 is not positive"):
        f.nsa_compress_attention_infer(
            x, x, x, table, [3], num_key_value_heads=1, select_block_count=-1,
            compress_block_size=16, compress_stride=16, **common,
        )  # fmt: skip
