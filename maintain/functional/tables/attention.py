# SPDX-License-Identifier: Apache-2.0
"""Attention for inference, and rotary embeddings."""

from __future__ import annotations

from maintain.functional.row import Output, Row
from maintain.functional.tables.forms import SAME

__all__ = ["ROWS"]

_ABSENT = ", ".join(["None"] * 7)
_LATER = ", ".join(["None"] * 9)

ROWS = (
    Row("scaled_dot_product_attention", "query: Tensor, key: Tensor, value: Tensor, "
        "attn_mask: Tensor | None = None, *, is_causal: bool = False, scale: float | None = None, "
        "enable_gqa: bool = False",
        "Average values, weighted by the softmax of the scaled products of queries and keys.",
        (Output("Shape and dtype of ``query``.", "query.shape", "query.dtype_name"),),
        (f"fused_infer_attention_score_v2(query, [key], [value], scores, hidden, None, None, "
         f"{_ABSENT}, {_LATER}, None, query.shape[1], scale, ALL_TOKENS, "
         "0 if is_causal else ALL_TOKENS, 'BNSD', key.shape[1], "
         "sparse_mode(query, key, is_causal), 2 if query.shape[2] > 1 else 0, 0, 0, False, 0, 0, "
         "out, None)",),
        {"query": "Shape ``(batch, heads, tokens, width)``.",
         "key": "Shape ``(batch, heads, keys, width)``.",
         "value": "Same shape as ``key``.",
         "attn_mask": "Broadcast to ``(batch, heads, tokens, keys)``. A bool mask is true for the "
         "keys that take part and is the same for all heads; a mask of the dtype of ``query`` is "
         "added to the scores.",
         "is_causal": "Whether token ``i`` sees only the keys up to ``i``.",
         "scale": "Factor of the products; default is ``width ** -0.5``.",
         "enable_gqa": "Whether several heads of ``query`` may share one head of ``key``."},
        steps=("check_attention(query, key, value, attn_mask, is_causal, enable_gqa)",
               "if scale is None: scale = query.shape[3] ** -0.5",
               "scores = added_scores(query, key, attn_mask)",
               "hidden = hidden_keys(query, key, attn_mask, is_causal, stream)"),
        notes="The operands may be strided views. If there are several tokens and one of them sees "
        "no key, its result is zero."),
    Row("fused_infer_attention_score", "query: Tensor, key: Tensor, value: Tensor, *, "
        "pse_shift: Tensor | None = None, atten_mask: Tensor | None = None, "
        "actual_seq_lengths: Sequence[int] | None = None, "
        "actual_seq_lengths_kv: Sequence[int] | None = None, block_table: Tensor | None = None, "
        "num_heads: int = 1, scale: float = 1.0, pre_tokens: int = 2147483647, "
        "next_tokens: int = 2147483647, input_layout: str = 'BSH', num_key_value_heads: int = 0, "
        "sparse_mode: int = 0, inner_precise: int = 0, block_size: int = 0, "
        "softmax_lse_flag: bool = False",
        "Compute attention with the layouts, masks, lengths and pages of CANN's operator.",
        (Output("Shape and dtype of ``query``; ``BNSD_BSND`` swaps heads and tokens.",
                "attended_shape(query, input_layout)", "query.dtype_name", "attention_out"),
         Output("Logarithm of the sum of exponentials, float32; shape ``(batch, heads, tokens, "
                "1)``, or ``(tokens, heads, 1)`` with 'TND'. Without elements unless "
                "``softmax_lse_flag`` is set.",
                "lse_shape(query, num_heads, input_layout, softmax_lse_flag)", "'float32'",
                "softmax_lse")),
        ("fused_infer_attention_score_v2(query, [key], [value], pse_shift, atten_mask, "
         f"actual_seq_lengths, actual_seq_lengths_kv, {_ABSENT}, block_table, {_LATER}, num_heads, "
         "scale, pre_tokens, next_tokens, input_layout, num_key_value_heads, sparse_mode, "
         "inner_precise, block_size, 0, softmax_lse_flag, 0, 0, attention_out, "
         "softmax_lse if softmax_lse_flag else None)",),
        {"query": "Shape as ``input_layout`` says.",
         "key": "Shape as ``input_layout`` says, or the pages of a cache.",
         "value": "Same shape as ``key``.",
         "pse_shift": "Added to the scores, shape ``(batch or 1, heads, tokens, keys)``.",
         "atten_mask": "True for the keys to hide.",
         "actual_seq_lengths": "Number of tokens of each query; a single number serves all. With "
         "'TND', the end of each query instead.",
         "actual_seq_lengths_kv": "Number of keys of each sequence; a single number serves all. "
         "With 'TND' and no pages, the end of each sequence's keys instead.",
         "block_table": "Pages of each sequence, int32, shape ``(batch, pages)``.",
         "num_heads": "Number of heads of ``query``.", "scale": "Factor of the products.",
         "pre_tokens": "With a mask, how many keys before its own position a token sees.",
         "next_tokens": "With a mask, how many keys after its own position a token sees.",
         "input_layout": "'BSH', 'BSND', 'BNSD', 'BNSD_BSND', or 'TND' for sequences packed one "
         "after another.",
         "num_key_value_heads": "Number of heads of ``key``; 0 means as many as ``query``.",
         "sparse_mode": "0 applies mask and band, 1 the mask, 2 is causal aligned to the first "
         "token, 3 causal aligned to the last, 4 a band aligned to the last. 2 to 4 take a "
         "triangle of 2048 rows as mask.",
         "inner_precise": "2 and 3 give zeros where all keys are masked.",
         "block_size": "Number of tokens in a page.",
         "softmax_lse_flag": "Whether to compute ``softmax_lse``."}),
    Row("rotary_position_embedding", "input: Tensor, cos: Tensor, sin: Tensor, mode: int = 0",
        "Rotate pairs of elements by the angle of their position.", (SAME,),
        ("rotary_position_embedding(input, cos, sin, mode, out)",),
        {"cos": "Cosines of the angles.", "sin": "Sines of the angles.",
         "mode": "How elements pair up: 0 by halves, 1 with their neighbour, 2 by quarters."}),
    Row("interleave_rope", "input: Tensor, cos: Tensor, sin: Tensor",
        "Rotate pairs of neighbours and put the first of all pairs in front of the second ones.",
        (SAME,), ("interleave_rope(input, cos, sin, out)",),
        {"input": "Shape ``(batch, heads, tokens, 64)``.",
         "cos": "Cosines of the angles, shape ``(batch, 1, tokens, 64)`` or with one token.",
         "sin": "Sines of the angles, shape of ``cos``."}),
    Row("gather_pa_kv_cache", "key_cache: Tensor, value_cache: Tensor, block_tables: Tensor, "
        "seq_lens: Tensor, num_tokens: int, *, seq_offset: Tensor | None = None, "
        "is_seq_lens_cumsum: bool = False",
        "Read the keys and values of sequences from the pages of a cache.",
        (Output("Shape ``(num_tokens, heads, width)``, dtype of ``key_cache``.",
                "(num_tokens, *key_cache.shape[2:])", "key_cache.dtype_name"),
         Output("The same of ``value_cache``.", "(num_tokens, *value_cache.shape[2:])",
                "value_cache.dtype_name", name="values")),
        ("gather_pa_kv_cache(key_cache, value_cache, block_tables, seq_lens, out, values, "
         "seq_offset, 'Norm', is_seq_lens_cumsum)",),
        {"key_cache": "Shape ``(blocks, block size, heads, width)``.",
         "value_cache": "Blocks and block size of ``key_cache``.",
         "block_tables": "Blocks of each sequence, int32, shape ``(batch, blocks)``.",
         "seq_lens": "Tokens of each sequence, int32, or the ends of the sequences behind a 0.",
         "num_tokens": "Tokens of all sequences together.",
         "seq_offset": "Tokens to pass over in whole blocks, int32, shape ``(batch,)``.",
         "is_seq_lens_cumsum": "Whether ``seq_lens`` holds ends."},
        steps=("expect_whole(num_tokens=num_tokens)",)),
)  # fmt: skip
