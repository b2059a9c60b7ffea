# SPDX-License-Identifier: Apache-2.0
"""Attention of inference."""

from __future__ import annotations

from aclnn_py.functional.row import Output, Row

__all__ = ["ROWS"]

_ABSENT = ", ".join(["None"] * 7)
_LATER = ", ".join(["None"] * 9)

ROWS = (
    Row("scaled_dot_product_attention", "query: Tensor, key: Tensor, value: Tensor, "
        "attn_mask: Tensor | None = None, *, is_causal: bool = False, scale: float | None = None, "
        "enable_gqa: bool = False",
        "Average values by the softmax of scaled products of queries and keys.",
        (Output("Shape and dtype of ``query``.", "query.shape", "query.dtype_name"),),
        ("fused_infer_attention_score_v2(query, [key], [value], "
         "added_scores(query, key, attn_mask), "
         f"hidden_keys(query, key, attn_mask, is_causal, stream), None, None, {_ABSENT}, {_LATER}, "
         "None, query.shape[1], query.shape[3] ** -0.5 if scale is None else scale, ALL_TOKENS, "
         "0 if is_causal else ALL_TOKENS, 'BNSD', key.shape[1], "
         "sparse_mode(query, key, is_causal), 2 if query.shape[2] > 1 else 0, 0, 0, False, 0, 0, "
         "out, None)",),
        {"query": "Shape ``(batch, heads, tokens, width)``.",
         "key": "Shape ``(batch, heads, keys, width)``.",
         "value": "The shape of ``key``.",
         "attn_mask": "Broadcast to ``(batch, heads, tokens, keys)``. Truth values say which keys "
         "take part and are the same for all heads; numbers of the dtype of ``query`` are added to "
         "the scores.",
         "is_causal": "Whether token ``i`` meets the keys up to ``i`` only.",
         "scale": "Factor of the products; ``width ** -0.5`` by default.",
         "enable_gqa": "Whether several heads of ``query`` may share one of ``key``."},
        checks=("check_attention(query, key, value, attn_mask, is_causal, enable_gqa)",),
        notes="Operands may be strided views. A query of several tokens that takes no key gives "
        "zeros."),
    Row("fused_infer_attention_score", "query: Tensor, key: Tensor, value: Tensor, *, "
        "pse_shift: Tensor | None = None, atten_mask: Tensor | None = None, "
        "actual_seq_lengths: Sequence[int] | None = None, "
        "actual_seq_lengths_kv: Sequence[int] | None = None, block_table: Tensor | None = None, "
        "num_heads: int = 1, scale: float = 1.0, pre_tokens: int = 2147483647, "
        "next_tokens: int = 2147483647, input_layout: str = 'BSH', num_key_value_heads: int = 0, "
        "sparse_mode: int = 0, inner_precise: int = 0, block_size: int = 0, "
        "softmax_lse_flag: bool = False",
        "Attend with the operator's own layouts, masks, lengths and pages.",
        (Output("Shape and dtype of ``query``; ``BNSD_BSND`` turns heads and tokens.",
                "attended_shape(query, input_layout)", "query.dtype_name", "attention_out"),
         Output("Logarithm of the sum of powers, shape ``(batch, heads, tokens, 1)``, or "
                "``(tokens, heads, 1)`` with 'TND', float32; without elements unless "
                "``softmax_lse_flag``.",
                "lse_shape(query, num_heads, input_layout, softmax_lse_flag)", "'float32'",
                "softmax_lse")),
        ("fused_infer_attention_score_v2(query, [key], [value], pse_shift, atten_mask, "
         f"actual_seq_lengths, actual_seq_lengths_kv, {_ABSENT}, block_table, {_LATER}, num_heads, "
         "scale, pre_tokens, next_tokens, input_layout, num_key_value_heads, sparse_mode, "
         "inner_precise, block_size, 0, softmax_lse_flag, 0, 0, attention_out, "
         "softmax_lse if softmax_lse_flag else None)",),
        {"query": "In ``input_layout``.", "key": "In ``input_layout``, or the pages of a cache.",
         "value": "The shape of ``key``.",
         "pse_shift": "Added to the scores, shape ``(batch or 1, heads, tokens, keys)``.",
         "atten_mask": "Hides keys where it is true.",
         "actual_seq_lengths": "Tokens of each query; one number serves all. Where each query ends "
         "with 'TND'.",
         "actual_seq_lengths_kv": "Keys of each sequence; one number serves all. Where the keys of "
         "each sequence end with 'TND', unless they are in pages.",
         "block_table": "Pages of each sequence, int32, shape ``(batch, pages)``.",
         "num_heads": "Heads of ``query``.", "scale": "Factor of the products.",
         "pre_tokens": "How far back of a token its keys begin, with a mask.",
         "next_tokens": "How far beyond a token its keys end, with a mask.",
         "input_layout": "'BSH', 'BSND', 'BNSD', 'BNSD_BSND', or 'TND' for sequences that follow "
         "each other.",
         "num_key_value_heads": "Heads of ``key``; 0 for those of ``query``.",
         "sparse_mode": "0 takes mask and band, 1 the mask, 2 is causal from the first token, 3 "
         "from the last, 4 is a band from the last. 2 to 4 take a triangle of 2048 rows as mask.",
         "inner_precise": "2 and 3 give zeros where all keys are masked.",
         "block_size": "Tokens of a page.",
         "softmax_lse_flag": "Whether the logarithms are wanted."}),
)  # fmt: skip
