# SPDX-License-Identifier: Apache-2.0
"""Attention of inference against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, place

from aclnn_py.errors import DeviceError
from ops.attention.attention_calls import (
    ALL,
    BF16,
    F16,
    FUSED,
    TRIANGLE,
    Array,
    arranged,
    attention,
    call,
    meets,
    operands,
    restored,
)

pytestmark = pytest.mark.usefixtures("device")

DTYPES = pytest.mark.parametrize("dtype", [F16, BF16], ids=str)


def agree(results: tuple[Array, Array], oracles: tuple[Array, Array]) -> None:
    assert_close(results[0], oracles[0], what="result")
    assert_close(results[1], oracles[1], scale=4.0, what="log-sum-exp")


@DTYPES
@pytest.mark.parametrize("kv_heads", [0, 2, 1])
@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "BNSD_BSND"])
@pytest.mark.parametrize("version", ["", "V2", "V3"])
def test_layouts_and_groups_of_heads(version: str, layout: str, kv_heads: int, dtype: Any) -> None:
    q, k, v = operands(4, kv_heads=kv_heads, dtype=dtype)
    side = [arranged(x, layout) for x in (q, k, v)]
    out, lse = call(
        "FusedInferAttentionScore" + version,
        *side,
        num_heads=4,
        num_key_value_heads=kv_heads,
        input_layout=layout,
        scale_value=0.25,
    )
    agree((restored(out, layout, 4), lse), attention(q, k, v, 0.25))


@DTYPES
@pytest.mark.parametrize("shape", ["qk", "1qk", "bqk", "11qk", "b1qk"])
@pytest.mark.parametrize("mode", [0, 1])
def test_masks_of_prompts(mode: int, shape: str, dtype: Any) -> None:
    q, k, v = operands(dtype=dtype)
    sizes = {"1": 1, "b": 2, "q": 6, "k": 9}  # larger than the operands: only their part counts
    hidden = np.random.default_rng(3).random([sizes[x] for x in shape]) < 0.5
    hidden[..., 2] = False
    kind = {0: np.bool_, 1: np.int8}[mode]
    result = call(FUSED, q, k, v, num_heads=2, atten_mask=hidden.astype(kind), sparse_mode=mode)
    met = ~hidden.reshape(-1, 1, 6, 9)[:, :, :5, :7]
    agree(result, attention(q, k, v, 1.0, met=met))


@pytest.mark.parametrize(("before", "after"), [(1, 2), (3, -1), (-1, 4), (ALL, 0), (0, 2**60)])
def test_a_mask_meets_a_band(before: int, after: int) -> None:
    q, k, v = operands(queries=6)
    hidden = np.zeros((6, 7), np.uint8)
    hidden[:, 1] = 1
    result = call(
        FUSED, q, k, v, num_heads=2, atten_mask=hidden, pre_tokens=before, next_tokens=after,
        inner_precise=2,
    )  # fmt: skip
    agree(result, attention(q, k, v, 1.0, met=meets(6, 7, before, after) & (hidden == 0)))
    # without a mask nobody looks at the band
    plain = call(FUSED, q, k, v, num_heads=2, pre_tokens=before, next_tokens=after)
    agree(plain, attention(q, k, v, 1.0))


@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (4, 9), (9, 4)])
@pytest.mark.parametrize("mode", [2, 3, 4])
def test_masks_that_a_triangle_stands_for(mode: int, queries: int, keys: int) -> None:
    q, k, v = operands(4, queries, keys, kv_heads=2)
    lengths, key_lengths = [queries, queries - 1], [keys - 1, keys]
    met = np.zeros((2, 1, queries, keys), np.bool_)
    for b in range(2):
        shift = key_lengths[b] - lengths[b]
        at = {2: (ALL, 0, 0), 3: (ALL, 0, shift), 4: (2, 1, shift)}[mode]
        part = meets(lengths[b], key_lengths[b], *at)
        met[b, 0, : lengths[b], : key_lengths[b]] = part
    result = call(
        FUSED, q, k, v, num_heads=4, num_key_value_heads=2, atten_mask=TRIANGLE, sparse_mode=mode,
        pre_tokens=2, next_tokens=1, actual_seq_lengths=lengths, actual_seq_lengths_kv=key_lengths,
    )  # fmt: skip
    agree(result, attention(q, k, v, 1.0, met=met))


@pytest.mark.parametrize(
    ("lengths", "key_lengths"),
    [([3], None), ([5, 2], [7, 0]), (None, [4]), ([0, 5, 9], [1, 7, 9]), ([], [])],
    ids=str,
)
def test_actual_lengths(lengths: list[int] | None, key_lengths: list[int] | None) -> None:
    q, k, v = operands()
    result = call(
        FUSED, q, k, v, num_heads=2, actual_seq_lengths=lengths, actual_seq_lengths_kv=key_lengths
    )
    rows = np.resize(lengths or [5], 2)[:, None, None, None]
    columns = np.resize(key_lengths or [7], 2)[:, None, None, None]
    met = (np.arange(5)[:, None] < rows) & (np.arange(7) < columns)
    agree(result, attention(q, k, v, 1.0, met=met))


@DTYPES
@pytest.mark.parametrize("shared", [True, False])
def test_encodings_are_added_to_the_scores(shared: bool, dtype: Any) -> None:
    q, k, v = operands(dtype=dtype)
    rng = np.random.default_rng(5)
    pse = (3 * rng.standard_normal((1 if shared else 2, 2, 6, 10))).astype(dtype)
    pse[:, 0, 0, :3] = -np.inf
    result = call(FUSED, q, k, v, num_heads=2, pse_shift=pse, scale_value=0.5)
    agree(result, attention(q, k, v, 0.5, added=pse[:, :, :5, :7]))


def test_strides_of_single_elements_mean_nothing() -> None:
    q, k, v = operands(2, 1, 7)
    pse = np.random.default_rng(6).standard_normal((2, 2, 1, 7)).astype(F16)
    flat = place(pse).broadcast_to((2, 2, 3, 7))[:, :, :1]
    assert flat.strides[2] == 0
    result = call(FUSED, q, k, v, num_heads=2, pse_shift=flat)
    agree(result, attention(q, k, v, 1.0, added=pse))


@DTYPES
@pytest.mark.parametrize("layout", ["BSND", "BNSD"])
def test_a_list_has_keys_and_values_of_each_sequence(layout: str, dtype: Any) -> None:
    q, k, v = operands(2, 3, 7, dtype=dtype)
    lengths = [7, 4]
    parts = [[arranged(x[b : b + 1, :, : lengths[b]], layout) for b in range(2)] for x in (k, v)]
    out, lse = call(FUSED, arranged(q, layout), *parts, num_heads=2, input_layout=layout)
    met = np.arange(7) < np.array(lengths)[:, None, None, None]
    agree((restored(out, layout, 2), lse), attention(q, k, v, 1.0, met=met))
    short = call(
        FUSED, arranged(q, layout), *parts, num_heads=2, input_layout=layout,
        actual_seq_lengths_kv=[2, 4],
    )  # fmt: skip
    met = np.arange(7) < np.array([2, 4])[:, None, None, None]
    agree((restored(short[0], layout, 2), short[1]), attention(q, k, v, 1.0, met=met))


@DTYPES
@pytest.mark.parametrize("shape", [(2, 9), (2, 1, 9), (2, 1, 1, 9)], ids=str)
def test_a_step_takes_one_row_of_mask_and_no_band(shape: tuple[int, ...], dtype: Any) -> None:
    q, k, v = operands(8, 1, 7, kv_heads=2, dtype=dtype)
    hidden = np.zeros(shape, np.bool_)
    hidden.reshape(2, 9)[:, ::3] = True
    result = call(
        FUSED, q, k, v, num_heads=8, num_key_value_heads=2, atten_mask=hidden, pre_tokens=0,
        next_tokens=0, sparse_mode=3, actual_seq_lengths=[0, 0], actual_seq_lengths_kv=[6, 7],
    )  # fmt: skip
    met = ~hidden.reshape(2, 1, 1, 9)[..., :7]
    met = met & (np.arange(7) < np.array([6, 7])[:, None, None, None])
    agree(result, attention(q, k, v, 1.0, met=met))


def paged(array: Array, table: Array, size: int, pages: int, hidden: bool) -> Array:
    """Tokens of (batch, heads, tokens, width) spread over the pages of a cache; the rest is NaN."""
    batch, heads, tokens, width = array.shape
    cache = np.full((pages, heads, size, width), np.nan).astype(array.dtype)
    for b in range(batch):
        for start in range(0, tokens, size):
            part = array[b, :, start : start + size]
            cache[table[b, start // size], :, : part.shape[1]] = part
    return arranged(cache, "BSH") if hidden else cache


@DTYPES
@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize(("queries", "keys", "size"), [(1, 50, 16), (3, 300, 128), (1, 700, 112)])
def test_caches_of_pages(queries: int, keys: int, size: int, hidden: bool, dtype: Any) -> None:
    q, k, v = operands(4, queries, keys, kv_heads=2, dtype=dtype)
    columns = -(-keys // size)
    order = np.random.default_rng(2).permutation(2 * columns + 1)[: 2 * columns]
    table = np.full((2, columns + 1), -1, np.int32)
    table[:, :columns] = order.reshape(2, columns)
    lengths = [keys, keys - size - 3]
    k, v = (np.where(np.arange(keys)[:, None] < keys - 1, x, 0).astype(dtype) for x in (k, v))
    caches = [paged(x, table, size, 2 * columns + 1, hidden) for x in (k, v)]
    hide = np.zeros((2, 1, queries, columns * size), np.bool_)
    hide[:, :, :, 5] = True
    result = call(
        FUSED, q, *caches, num_heads=4, num_key_value_heads=2, block_table=table, block_size=size,
        actual_seq_lengths_kv=lengths, atten_mask=hide, scale_value=0.25,
    )  # fmt: skip
    met = ~hide[..., :keys] & (np.arange(keys) < np.array(lengths)[:, None, None, None])
    agree(result, attention(q, k, v, 0.25, met=met))


def test_one_page_may_serve_two_sequences_and_a_missing_one_is_a_fault() -> None:
    q, k, v = operands(2, 1, 16)
    k[1], v[1] = k[0], v[0]
    given = {"num_heads": 2, "block_size": 16, "actual_seq_lengths_kv": [16]}
    caches = (k[:1], v[:1])
    shared = call(FUSED, q, *caches, block_table=np.zeros((2, 1), np.int32), **given)
    agree(shared, attention(q, k, v, 1.0))
    with pytest.raises(DeviceError, match=r"the block table has 1 at \(1, 0\); the cache has 1"):
        call(FUSED, q, *caches, block_table=np.array([[0], [1]], np.int32), **given)


@DTYPES
def test_many_rows_and_keys_pass_in_pieces(dtype: Any) -> None:
    q, k, v = operands(2, 300, 1300, batch=1, width=32, dtype=dtype)
    result = call(FUSED, q, k, v, num_heads=2, scale_value=1.0)
    agree(result, attention(q, k, v, 1.0))
    causal = call(FUSED, q, k, v, num_heads=2, atten_mask=TRIANGLE, sparse_mode=3)
    agree(causal, attention(q, k, v, 1.0, met=meets(300, 1300, ALL, 0, 1000)))
    band = call(
        FUSED, q, k, v, num_heads=2, atten_mask=TRIANGLE, sparse_mode=4, pre_tokens=-450,
        next_tokens=550,
    )  # fmt: skip
    agree(band, attention(q, k, v, 1.0, met=meets(300, 1300, -450, 550, 1000)))


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    q, k, v = operands(8, 200, 600, batch=1, kv_heads=2, width=32)
    mask = {"atten_mask": TRIANGLE, "sparse_mode": 3}
    together = call(FUSED, q, k, v, num_heads=8, num_key_value_heads=2, **mask)
    few = call(FUSED, q[:, :, -7:], k, v, num_heads=8, num_key_value_heads=2, **mask)
    one = call(FUSED, q[:, :, -1:], k, v, num_heads=8, num_key_value_heads=2)
    agree(one, attention(q[:, :, -1:], k, v, 1.0))
    for at in range(2):
        assert np.asarray(together[at], np.float32).any()
        assert_same(few[at], together[at][:, :, -7:])
        assert_same(one[at], together[at][:, :, -1:])


def test_scores_of_any_size_keep_their_order() -> None:
    q, k, v = operands(1, 2, 3, batch=1)
    q[0, 0, 0], q[0, 0, 1] = 30000, -30000
    k[0, 0] = np.array([[1], [2], [3]])
    huge = call(FUSED, q, k, v, num_heads=1, scale_value=1e6)
    agree(huge, attention(q, k, v, 1e6))
    assert_same(huge[0][0, 0], v[0, 0, [2, 0]])
    v[0, 0, 1] = np.nan
    spoiled = call(FUSED, q, k, v, num_heads=1, scale_value=0.0)[0]
    assert np.isnan(spoiled).all()
    hidden = np.array([[False, True, False]] * 2)
    q[0, 0, 0] = np.nan
    one = call(FUSED, q, k, np.nan_to_num(v), num_heads=1, atten_mask=hidden, scale_value=0.0)[0]
    assert np.isnan(one[0, 0, 0]).all()
    assert_close(one[0, 0, 1], v[0, 0, ::2].astype(np.float64).mean(0))


def test_rows_whose_keys_are_all_masked() -> None:
    q, k, v = operands(2, 3, 5)
    hidden = np.zeros((3, 5), np.bool_)
    hidden[1] = True
    oracle = attention(q, k, v, 1.0, met=~hidden)
    for precise in (2, 3):
        agree(call(FUSED, q, k, v, num_heads=2, atten_mask=hidden, inner_precise=precise), oracle)
    for precise in (0, 1):
        out, _ = call(FUSED, q, k, v, num_heads=2, atten_mask=hidden, inner_precise=precise)
        average = v.astype(np.float64).mean(2)
        assert_close(out, np.where(hidden[:, :1], average[:, :, None], oracle[0]))


def test_without_keys_the_result_is_zero() -> None:
    q, k, v = operands()
    out, lse = call(FUSED, q, k[:, :, :0], v[:, :, :0], num_heads=2)
    assert_same(out, np.zeros_like(q))
    assert_same(lse, np.full((2, 2, 5, 1), np.inf, np.float32))


def test_without_queries_there_is_nothing_to_do() -> None:
    q, k, v = operands()
    out, _ = call(FUSED, q[:, :, :0], k, v, num_heads=2)
    assert out.shape == (2, 2, 0, 16)
    out, _ = call(FUSED, q[:0], k[:0], v[:0], num_heads=2)
    assert out.shape == (0, 2, 5, 16)


def test_the_log_sum_exp_is_only_written_when_asked_for() -> None:
    q, k, v = operands()
    out, lse = call(FUSED, q, k, v, num_heads=2, softmax_lse_flag=False)
    assert_close(out, attention(q, k, v, 1.0)[0])
    assert_same(lse, np.full((2, 2, 5, 1), 77, np.float32))
    alone, _ = call(FUSED, q, k, v, num_heads=2, softmax_lse_flag=False, softmax_lse=None)
    assert_same(alone, out)


def test_the_result_may_be_strided_or_lie_on_an_operand() -> None:
    q, k, v = operands()
    oracle, _ = attention(q, k, v, 1.0)
    for layout in ("transposed", "stepped"):
        out = hollow(q.shape, q.dtype, layout)
        assert_close(call(FUSED, q, k, v, num_heads=2, attention_out=out)[0], oracle)
    q, k, v = operands(2, 7, 7)
    oracle, _ = attention(q, k, v, 1.0)
    for name in ("query", "key", "value"):
        shared = {"query": place(q), "key": place(k), "value": place(v)}
        sides = {**shared, "key": [shared["key"]], "value": [shared["value"]]}
        result, _ = call(FUSED, q, k, v, num_heads=2, **sides, attention_out=shared[name])
        assert_close(result, oracle)


@pytest.mark.parametrize("wrong", [TRIANGLE.T, np.zeros_like(TRIANGLE), ~TRIANGLE])
def test_a_wrong_triangle_is_a_fault(wrong: Array) -> None:
    q, k, v = operands()
    with pytest.raises(DeviceError, match=r"row \d+ of the mask is not 0 up to its diagonal"):
        call(FUSED, q, k, v, num_heads=2, atten_mask=wrong.copy(), sparse_mode=3)


# Tokens of packed sequences: one of several, one of a single token, one of none, the longest.
PACKED = [4, 1, 0, 7]
PACKED_KEYS = [6, 9, 3, 7]


def packed(arrays: list[Array]) -> Array:
    """(heads, tokens, width) of each sequence behind each other, and three tokens of nobody."""
    rest = np.full((3, arrays[0].shape[0], arrays[0].shape[2]), np.nan).astype(arrays[0].dtype)
    return np.concatenate([*(x.transpose(1, 0, 2) for x in arrays), rest])


def pieces(dtype: Any) -> tuple[list[Array], list[Array], list[Array]]:
    rng = np.random.default_rng(8)

    def some(heads: int, tokens: list[int]) -> list[Array]:
        return [rng.standard_normal((heads, n, 16)).astype(dtype) for n in tokens]

    return some(4, PACKED), some(2, PACKED_KEYS), some(2, PACKED_KEYS)


@DTYPES
@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("mode", [0, 3, 4])
@pytest.mark.parametrize("version", ["V2", "V3"])
def test_packed_sequences(version: str, mode: int, cached: bool, dtype: Any) -> None:
    q, k, v = pieces(dtype)
    sides: list[Any] = [packed(k), packed(v)]
    given: dict[str, Any] = {"actual_seq_lengths_kv": list(np.cumsum(PACKED_KEYS))}
    if cached:
        table = np.array([[3], [0], [4], [1]], np.int32)
        whole = [
            [np.pad(x, ((0, 0), (0, 9 - x.shape[1]), (0, 0))) for x in side] for side in (k, v)
        ]
        sides = [paged(np.stack(side), table, 128, 5, True) for side in whole]
        given = {
            "actual_seq_lengths_kv": PACKED_KEYS, "block_table": table, "block_size": 128,
        }  # fmt: skip
    out, lse = call(
        FUSED[:-2] + version, packed(q), *sides, num_heads=4, num_key_value_heads=2,
        input_layout="TND", sparse_mode=mode, atten_mask=TRIANGLE if mode else None, pre_tokens=3,
        next_tokens=1, actual_seq_lengths=list(np.cumsum(PACKED)), **given,
    )  # fmt: skip
    start = 0
    for i, (queries, keys) in enumerate(zip(PACKED, PACKED_KEYS, strict=True)):
        at = {0: (ALL, ALL, 0), 3: (ALL, 0, keys - queries), 4: (3, 1, keys - queries)}[mode]
        oracle = attention(q[i][None], k[i][None], v[i][None], 1.0, met=meets(queries, keys, *at))
        part = slice(start, start + queries)
        agree((out[part], lse[part]), tuple(x[0].transpose(1, 0, 2) for x in oracle))
        start += queries
    # what belongs to nobody stays
    assert_same(out[start:], np.full((3, 4, 16), 77).astype(dtype))
    assert_same(lse[start:], np.full((3, 4, 1), 77, np.float32))


def test_packed_sequences_may_all_be_empty() -> None:
    q, k, v = (packed(x) for x in pieces(F16))
    given = {"num_heads": 4, "num_key_value_heads": 2, "input_layout": "TND"}
    ends = {"actual_seq_lengths": [0, 0], "actual_seq_lengths_kv": [0, 5]}
    out, _ = call(FUSED, q, k, v, **given, **ends)
    assert_same(out, np.full(q.shape, 77).astype(F16))
    out, lse = call(FUSED, q, k, v, **given, actual_seq_lengths=[15], actual_seq_lengths_kv=[0])
    assert_same(out, np.zeros_like(q))
    assert np.isinf(lse).all()


@pytest.mark.parametrize("version", ["", "V2", "V3"])
@pytest.mark.parametrize("queries", [1, 5])
def test_prompts_take_keys_and_values_as_tensors(queries: int, version: str) -> None:
    q, k, v = operands(4, queries, 7, kv_heads=2)
    hidden = np.random.default_rng(4).random((queries, 7)) < 0.4
    hidden[:, 0] = False
    given = {"key": place(k), "value": place(v), "num_heads": 4, "num_key_value_heads": 2}
    out, _ = call(
        "PromptFlashAttention" + version, q, k, v, **given, atten_mask=hidden, next_tokens=4,
        actual_seq_lengths=[queries], scale_value=0.25,
    )  # fmt: skip
    met = ~hidden & meets(queries, 7, after=4)
    assert_close(out, attention(q, k, v, 0.25, met=met)[0])


@pytest.mark.parametrize("queries", [1, 3])
def test_prompts_of_any_length_have_sparse_modes(queries: int) -> None:
    q, k, v = operands(2, queries, 7)
    given = {"key": place(k), "value": place(v), "num_heads": 2, "atten_mask": TRIANGLE}
    out, _ = call("PromptFlashAttentionV3", q, k, v, **given, sparse_mode=2)
    assert_close(out, attention(q, k, v, 1.0, met=meets(queries, 7, after=0))[0])


@pytest.mark.parametrize("version", ["", "V2", "V3", "V4"])
def test_steps_take_the_lengths_of_keys(version: str) -> None:
    q, k, v = operands(4, 1, 7, kv_heads=2)
    hidden = np.arange(14).reshape(2, 7) % 3 == 1
    out, _ = call(
        "IncreFlashAttention" + version, q, k, v, num_heads=4, num_key_value_heads=2,
        atten_mask=hidden, actual_seq_lengths=[6, 7], scale_value=0.5,
    )  # fmt: skip
    met = ~hidden[:, None, None] & (np.arange(7) < np.array([6, 7])[:, None, None, None])
    assert_close(out, attention(q, k, v, 0.5, met=met)[0])


@pytest.mark.parametrize("version", ["V3", "V4"])
def test_steps_read_pages(version: str) -> None:
    q, k, v = operands(2, 1, 16)
    out, _ = call(
        "IncreFlashAttention" + version, q, k, v, num_heads=2, block_size=16,
        blocktable=np.array([[1], [0]], np.int32), actual_seq_lengths=[16],
    )  # fmt: skip
    assert_close(out, attention(q, k[::-1], v[::-1], 1.0)[0])


def test_a_kept_plan_takes_the_tensors_of_each_launch() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        q = rng.standard_normal((2, 2, 1, 16)).astype(F16)
        k, v = (rng.standard_normal((2, 2, 16, 16)).astype(F16) for _ in range(2))
        table = rng.permutation(2).astype(np.int32).reshape(2, 1)
        hidden = rng.random((2, 16)) < 0.3
        result = call(
            FUSED, q, k, v, num_heads=2, atten_mask=hidden, block_table=table, block_size=16,
            actual_seq_lengths_kv=[16],
        )  # fmt: skip
        order = table[:, 0]
        agree(result, attention(q, k[order], v[order], 1.0, met=~hidden[:, None, None, :]))


@pytest.mark.parametrize("operator", [FUSED, "IncreFlashAttentionV4"])
@pytest.mark.parametrize("view", ["transposed", "stepped"])
@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH"])
def test_operands_may_be_strided_views(layout: str, view: str, operator: str) -> None:
    q, k, v = operands(4, 1 if "Incre" in operator else 5, 9, kv_heads=2)
    q_side, k_side, v_side = (place(arranged(x, layout), view) for x in (q, k, v))
    assert not k_side.is_contiguous
    out, lse = call(
        operator,
        *(arranged(x, layout) for x in (q, k, v)),
        query=q_side,
        key=[k_side],
        value=[v_side],
        num_heads=4,
        num_key_value_heads=2,
        input_layout=layout,
    )
    oracle = attention(q, k, v, 1.0)
    assert_close(restored(out, layout, 4), oracle[0])
    if operator == FUSED:
        assert_close(lse, oracle[1], scale=4.0)


@pytest.mark.parametrize("queries", [1, 5])
@pytest.mark.parametrize("view", ["transposed", "stepped"])
def test_masks_and_encodings_may_be_strided_views(view: str, queries: int) -> None:
    q, k, v = operands(2, queries, 9)
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 2, (2, 1, queries, 9)).astype(np.bool_)
    hidden[..., 0] = False
    added = rng.standard_normal((2, 2, queries, 9)).astype(q.dtype)
    out, lse = call(
        FUSED,
        q,
        k,
        v,
        num_heads=2,
        atten_mask=place(hidden, view),
        pse_shift=place(added, view),
    )
    agree((out, lse), attention(q, k, v, 1.0, met=~hidden, added=added))


def test_one_encoding_and_one_mask_may_stand_for_all_heads_and_tokens() -> None:
    q, k, v = operands(2, 5, 9)
    added = np.linspace(-1, 1, 9).astype(q.dtype).reshape(1, 1, 1, 9)
    hidden = (np.arange(9) % 4 == 3).reshape(1, 9)
    out, lse = call(
        FUSED,
        q,
        k,
        v,
        num_heads=2,
        pse_shift=place(added).broadcast_to((2, 2, 5, 9)),
        atten_mask=place(hidden).broadcast_to((5, 9)),
    )
    agree((out, lse), attention(q, k, v, 1.0, met=~hidden, added=added))


@pytest.mark.parametrize("view", ["transposed", "stepped"])
def test_a_strided_triangle_is_read_where_it_lies(view: str) -> None:
    q, k, v = operands(2, 5, 9)
    met = meets(5, 9, ALL, 0)
    out, lse = call(FUSED, q, k, v, num_heads=2, atten_mask=place(TRIANGLE, view), sparse_mode=2)
    agree((out, lse), attention(q, k, v, 1.0, met=met))
    wrong = TRIANGLE.copy()
    wrong[700, 3] = True
    with pytest.raises(DeviceError, match="row 700 of the mask"):
        call(FUSED, q, k, v, num_heads=2, atten_mask=place(wrong, view), sparse_mode=2)


@pytest.mark.parametrize("view", ["transposed", "stepped"])
def test_pages_of_a_cache_may_be_strided(view: str) -> None:
    q, k, v = operands(2, 1, 32)
    # Page 2 i + j has the tokens 16 j to 16 j + 15 of sequence i, as (pages, heads, tokens, width).
    key, value = (
        x.reshape(2, 2, 2, 16, 16).transpose(0, 2, 1, 3, 4).reshape(4, 2, 16, 16) for x in (k, v)
    )
    out, lse = call(
        FUSED,
        q,
        key,
        value,
        key=[place(key, view)],
        value=[place(value, view)],
        num_heads=2,
        block_table=np.arange(4, dtype=np.int32).reshape(2, 2),
        actual_seq_lengths_kv=[32, 20],
        block_size=16,
    )
    met = np.arange(32) < np.array([32, 20]).reshape(2, 1, 1, 1)
    agree((out, lse), attention(q, k, v, 1.0, met=met))
