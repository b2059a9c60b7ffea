# SPDX-License-Identifier: Apache-2.0
"""Attention of inference over chosen blocks of keys, and the choice of the blocks."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

_CACHE = "Pages of a cache, shape ``(pages, page size, heads * width)``."
_STEPS = "Shape ``(tokens, heads, width)``, or ``(batch, tokens, heads, width)`` with 'BSND'."
_TABLE = "Pages of each sequence, int32, shape ``(batch, pages)``."
_LAYOUTS = "'TND' (packed sequences) or 'BNSD'."
_ALL = "2147483647, 2147483647"

_PACKED = "Packed sequences, shape ``(tokens, heads, width)``."
_ENDS = "Where the tokens of each sequence end."
_TOTALS = (
    Output(
        "Highest score of each token and head, float32, eight times; shape ``(tokens, heads, 8)``.",
        "(*query.shape[:2], 8)",
        "'float32'",
        "softmax_max",
    ),
    Output("Sum of exponentials, as ``softmax_max``.", "(*query.shape[:2], 8)", "'float32'",
           "softmax_sum"),
)  # fmt: skip
_WINDOWS = {
    "input": "Packed sequences, shape ``(tokens, heads, width)``.",
    "weight": "Weight of each token of a window and head, ``(compress_block_size, heads)``.",
    "act_seq_len": _ENDS,
    "compress_block_size": "Tokens of a window.",
    "compress_stride": "Tokens between the beginnings of two windows.",
}

ROWS = (
    Row(
        "nsa_compress",
        "input: Tensor, weight: Tensor, act_seq_len: Sequence[int], *, compress_block_size: int, "
        "compress_stride: int",
        "Add up the tokens of each window, weighted.",
        (
            Output(
                "Shape ``(windows, heads, width)``, dtype of ``input``.",
                "windows_shape(input, act_seq_len, compress_block_size, compress_stride)",
            ),
        ),
        (
            "nsa_compress(input, weight, act_seq_len, 'TND', compress_block_size, "
            "compress_stride, 0, out)",
        ),
        _WINDOWS,
    ),
    Row(
        "nsa_compress_with_cache_",
        "output_cache: Tensor, input: Tensor, weight: Tensor, slot_mapping: Tensor, "
        "act_seq_len: Sequence[int], *, compress_block_size: int, compress_stride: int, "
        "block_table: Tensor | None = None, page_block_size: int = 128",
        "Write the window that the last token of a sequence fills into a cache.",
        (),
        (
            "nsa_compress_with_cache(input, weight, slot_mapping, act_seq_len, block_table, "
            "'TND', compress_block_size, compress_stride, 1, page_block_size, output_cache)",
        ),
        {
            **_WINDOWS,
            "output_cache": "Written; shape ``(slots, heads, width)``.",
            "input": "Packed sequences, or the pages of a cache.",
            "slot_mapping": "The slot of the window of each sequence, int32.",
            "act_seq_len": "Number of tokens of each sequence.",
            "block_table": "Pages of each sequence, int32, shape ``(batch, pages)``.",
            "page_block_size": "Number of tokens in a page.",
        },
    ),
    Row(
        "nsa_compress_attention",
        "query: Tensor, key: Tensor, value: Tensor, *, scale: float, num_heads: int, "
        "compress_block_size: int, compress_stride: int, select_block_size: int, "
        "select_block_count: int, actual_seq_qlen: Sequence[int], "
        "actual_cmp_seq_kvlen: Sequence[int], actual_sel_seq_kvlen: Sequence[int], "
        "atten_mask: Tensor | None = None, topk_mask: Tensor | None = None, sparse_mode: int = 0",
        "Attend over compressed keys of packed sequences and choose blocks of keys.",
        (
            Output(
                "Shape of ``query`` with the width of ``value``; dtype of ``query``.",
                "(*query.shape[:-1], with_width(value=value))",
                "query.dtype_name",
                "output",
            ),
            Output(
                "Blocks, the best first, int32; shape ``(tokens, key heads, select_block_count)``.",
                "chosen_shape(query, heads_of(key=key), select_block_count)",
                "'int32'",
                "blocks",
            ),
            *_TOTALS,
        ),
        (
            "nsa_compress_attention(query, key, value, atten_mask, topk_mask, actual_seq_qlen, "
            "actual_cmp_seq_kvlen, actual_sel_seq_kvlen, scale, num_heads, 'TND', sparse_mode, "
            "compress_block_size, compress_stride, select_block_size, select_block_count, "
            "softmax_max, softmax_sum, output, blocks)",
        ),
        {
            "query": _PACKED,
            "key": "Compressed keys, as `nsa_compress` gives them.",
            "value": "Compressed values; their heads may be narrower.",
            "scale": "Factor of the products.",
            "num_heads": "Number of heads of ``query``.",
            "compress_block_size": "Tokens that became one compressed key.",
            "compress_stride": "Tokens between the beginnings of two of those.",
            "select_block_size": "Tokens of a block.",
            "select_block_count": "How many blocks each token gets.",
            "actual_seq_qlen": _ENDS,
            "actual_cmp_seq_kvlen": "Where the compressed keys of each sequence end.",
            "actual_sel_seq_kvlen": "Where the blocks of each sequence end.",
            "atten_mask": "True for the compressed keys to hide, bool.",
            "topk_mask": "True for the blocks that are not chosen, bool.",
            "sparse_mode": "0, or 1 with a mask for all.",
        },
    ),
    Row(
        "nsa_selected_attention",
        "query: Tensor, key: Tensor, value: Tensor, blocks: Tensor, *, scale: float, "
        "num_heads: int, select_block_size: int, select_block_count: int, "
        "actual_seq_qlen: Sequence[int], actual_seq_kvlen: Sequence[int], "
        "atten_mask: Tensor | None = None, sparse_mode: int = 0",
        "Attend over the blocks of keys that were chosen, in packed sequences.",
        (
            Output(
                "Shape of ``query`` with the width of ``value``; dtype of ``query``.",
                "(*query.shape[:-1], with_width(value=value))",
                "query.dtype_name",
                "output",
            ),
            *_TOTALS,
        ),
        (
            "nsa_selected_attention(query, key, value, blocks, atten_mask, actual_seq_qlen, "
            "actual_seq_kvlen, scale, num_heads, 'TND', sparse_mode, select_block_size, "
            "select_block_count, softmax_max, softmax_sum, output)",
        ),
        {
            "query": f"{_PACKED} Heads have 192 elements.",
            "key": _PACKED,
            "value": "As ``key``, with heads of 128 elements.",
            "blocks": "The second result of `nsa_compress_attention`.",
            "scale": "Factor of the products.",
            "num_heads": "Number of heads of ``query``.",
            "select_block_size": "Tokens of a block.",
            "select_block_count": "How many blocks each token has.",
            "actual_seq_qlen": _ENDS,
            "actual_seq_kvlen": "Where the keys of each sequence end.",
            "atten_mask": "True for the keys to hide, bool.",
            "sparse_mode": "0, or 2 for a mask of 2048 x 2048 that hides later keys.",
        },
    ),
    Row(
        "nsa_compress_attention_infer",
        "query: Tensor, key: Tensor, value: Tensor, block_table: Tensor, "
        "actual_cmp_kv_seq_len: Sequence[int], *, num_heads: int, num_key_value_heads: int, "
        "select_block_size: int, select_block_count: int, compress_block_size: int, "
        "compress_stride: int, page_block_size: int, scale: float = 1.0, "
        "actual_q_seq_len: Sequence[int] | None = None, "
        "actual_sel_kv_seq_len: Sequence[int] | None = None, layout: str = 'TND'",
        "Attend over compressed keys and choose the blocks of keys for the next step.",
        (
            Output(
                "Shape of ``query`` with the width of ``value``; dtype of ``query``.",
                "stepped_shape(query, value, num_key_value_heads)",
                "query.dtype_name",
                "output",
            ),
            Output(
                "Blocks, the best first, int32; -1 where a token has fewer. Shape ``(..., "
                "num_key_value_heads, select_block_count)``.",
                "chosen_shape(query, num_key_value_heads, select_block_count)",
                "'int32'",
                "blocks",
            ),
        ),
        (
            "nsa_compress_attention_infer(query, key, value, None, block_table, actual_q_seq_len, "
            "actual_cmp_kv_seq_len, actual_sel_kv_seq_len, None, num_heads, num_key_value_heads, "
            "select_block_size, select_block_count, compress_block_size, compress_stride, scale, "
            "layout, page_block_size, 0, output, blocks)",
        ),
        {
            "query": _STEPS,
            "key": _CACHE,
            "value": "As ``key``; its heads may be narrower.",
            "block_table": _TABLE,
            "actual_cmp_kv_seq_len": "Number of compressed keys of each sequence.",
            "num_heads": "Number of heads of ``query``.",
            "num_key_value_heads": "Number of heads of ``key``.",
            "select_block_size": "Tokens of a block.",
            "select_block_count": "How many blocks each token gets.",
            "compress_block_size": "Tokens that became one compressed key.",
            "compress_stride": "Tokens between the beginnings of two of those.",
            "page_block_size": "Number of keys in a page.",
            "scale": "Factor of the products.",
            "actual_q_seq_len": "Number of tokens of each query, 1 to 4; by default one each.",
            "actual_sel_kv_seq_len": "Number of keys before compression; needed with several "
            "tokens of a sequence.",
            "layout": "'TND' or 'BSND'.",
        },
    ),
    Row(
        "nsa_selected_attention_infer",
        "query: Tensor, key: Tensor, value: Tensor, blocks: Tensor, block_table: Tensor, "
        "actual_kv_seq_len: Sequence[int], *, num_heads: int, num_key_value_heads: int, "
        "select_block_size: int, select_block_count: int, page_block_size: int, "
        "scale: float = 1.0, actual_q_seq_len: Sequence[int] | None = None, layout: str = 'TND'",
        "Attend over the blocks of keys that were chosen for each token.",
        (
            Output(
                "Shape of ``query`` with the width of ``value``; dtype of ``query``.",
                "stepped_shape(query, value, num_key_value_heads)",
                "query.dtype_name",
                "output",
            ),
        ),
        (
            "nsa_selected_attention_infer(query, key, value, blocks, None, block_table, "
            "actual_q_seq_len, actual_kv_seq_len, layout, num_heads, num_key_value_heads, "
            "select_block_size, select_block_count, page_block_size, scale, 0, output)",
        ),
        {
            "query": _STEPS,
            "key": _CACHE,
            "value": "As ``key``, with heads of 128 elements.",
            "blocks": "The second result of `nsa_compress_attention_infer`.",
            "block_table": _TABLE,
            "actual_kv_seq_len": "Number of keys of each sequence.",
            "num_heads": "Number of heads of ``query``.",
            "num_key_value_heads": "Number of heads of ``key``.",
            "select_block_size": "Tokens of a block.",
            "select_block_count": "How many blocks each token has.",
            "page_block_size": "Number of keys in a page: 64 or 128.",
            "scale": "Factor of the products.",
            "actual_q_seq_len": "Number of tokens of each query, 1 to 4; by default one each.",
            "layout": "'TND' or 'BSND'.",
        },
    ),
    Row(
        "bsa_select_block_mask",
        "query: Tensor, key: Tensor, sparsity: float, *, scale: float = 1.0, "
        "block_shape: Sequence[int] = (128, 128), "
        "actual_seq_lengths: Sequence[int] | None = None, "
        "actual_seq_lengths_kv: Sequence[int] | None = None, input_layout: str = 'BNSD'",
        "Choose the pairs of blocks that attend to each other, by the averages of the blocks.",
        (
            Output(
                "1 for a chosen pair, int8; shape ``(batch, heads, blocks of queries, blocks of "
                "keys)``.",
                "block_pairs(query, key, block_shape, actual_seq_lengths, actual_seq_lengths_kv, "
                "input_layout)",
                "'int8'",
                "mask",
            ),
        ),
        (
            "bsa_select_block_mask(query, key, block_shape, None, actual_seq_lengths, "
            "actual_seq_lengths_kv, None, None, input_layout, input_layout, key.shape[1], scale, "
            "sparsity, mask)",
        ),
        {
            "query": "Shape as ``input_layout`` says, 128 elements to a head.",
            "key": "As ``query``, with as many heads.",
            "sparsity": "Share of the pairs to choose, between 0 and 1.",
            "scale": "Factor of the products.",
            "block_shape": "Tokens of a block of queries and of keys, multiples of 8.",
            "actual_seq_lengths": "Number of tokens of each query.",
            "actual_seq_lengths_kv": "Number of keys of each sequence.",
            "input_layout": _LAYOUTS,
        },
    ),
    Row(
        "block_sparse_attention",
        "query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *, scale: float = 1.0, "
        "block_shape: Sequence[int] = (128, 128), num_key_value_heads: int, "
        "actual_seq_lengths: Sequence[int] | None = None, "
        "actual_seq_lengths_kv: Sequence[int] | None = None, input_layout: str = 'BNSD'",
        "Attend over the pairs of blocks that a mask names.",
        (Output("Shape and dtype of ``query``.", "query.shape", "query.dtype_name", "output"),),
        (
            "block_sparse_attention(query, key, value, mask, None, block_shape, "
            "actual_seq_lengths, actual_seq_lengths_kv, None, input_layout, input_layout, "
            f"num_key_value_heads, 0, scale, 0, 0, {_ALL}, 0, output, None)",
        ),
        {
            "query": "Shape as ``input_layout`` says, 64 or 128 elements to a head.",
            "key": "As ``query``; several heads of ``query`` may share one.",
            "value": "Shape of ``key``.",
            "mask": "1 for pairs that meet, int8; see `bsa_select_block_mask`.",
            "scale": "Factor of the products.",
            "block_shape": "Tokens of a block of queries and of keys, the second a multiple of "
            "128.",
            "num_key_value_heads": "Number of heads of ``key``.",
            "actual_seq_lengths": "Number of tokens of each query.",
            "actual_seq_lengths_kv": "Number of keys of each sequence.",
            "input_layout": "'TND' (packed sequences), 'BNSD' or 'BSND'.",
        },
    ),
)
