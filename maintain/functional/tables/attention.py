# SPDX-License-Identifier: Apache-2.0
"""Attention for inference."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_ABSENT = ", ".join(["None"] * 7)
_LATER = ", ".join(["None"] * 9)


def _fused(version: int, tensors: str = "", modes: str = "") -> str:
    """A call of a version: what it has behind the rotary parts, and behind the modes."""
    rotary = ", query_rope, key_rope, None" if version > 2 else ""
    return (
        f"fused_infer_attention_score_v{version}(query, [key], [value], pse_shift, atten_mask, "
        f"actual_seq_lengths, actual_seq_lengths_kv, {_ABSENT}, block_table, query_padding_size, "
        "kv_padding_size, key_antiquant_scale, key_antiquant_offset, value_antiquant_scale, "
        "value_antiquant_offset, key_shared_prefix, value_shared_prefix, actual_shared_prefix_len"
        f"{rotary}{tensors}, num_heads, scale, pre_tokens, next_tokens, input_layout, "
        "num_key_value_heads, sparse_mode, inner_precise, block_size, 0, softmax_lse_flag, "
        f"key_antiquant_mode, value_antiquant_mode{modes}, attention_out, "
        "softmax_lse if softmax_lse_flag else None)"
    )


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
        "query_padding_size: Tensor | None = None, kv_padding_size: Tensor | None = None, "
        "key_antiquant_scale: Tensor | None = None, key_antiquant_offset: Tensor | None = None, "
        "value_antiquant_scale: Tensor | None = None, "
        "value_antiquant_offset: Tensor | None = None, key_shared_prefix: Tensor | None = None, "
        "value_shared_prefix: Tensor | None = None, "
        "actual_shared_prefix_len: Sequence[int] | None = None, "
        "query_rope: Tensor | None = None, key_rope: Tensor | None = None, "
        "learnable_sink: Tensor | None = None, q_start_idx: Sequence[int] | None = None, "
        "kv_start_idx: Sequence[int] | None = None, "
        "num_heads: int = 1, scale: float = 1.0, pre_tokens: int = 2147483647, "
        "next_tokens: int = 2147483647, input_layout: str = 'BSH', num_key_value_heads: int = 0, "
        "sparse_mode: int = 0, inner_precise: int = 0, block_size: int = 0, "
        "softmax_lse_flag: bool = False, key_antiquant_mode: int = 0, "
        "value_antiquant_mode: int = 0, pse_type: int = 0",
        "Compute attention with the layouts, masks, lengths and pages of CANN's operator.",
        (Output("Dtype of ``query``; shape of ``query``, or in the layout behind the underscore.",
                "attended_shape(query, value, num_heads, input_layout)", "query.dtype_name",
                "attention_out"),
         Output("Logarithm of the sum of exponentials, float32; shape ``(batch, heads, tokens, "
                "1)``, or ``(tokens, heads, 1)`` with packed sequences. Without elements unless "
                "``softmax_lse_flag`` is set.",
                "lse_shape(query, num_heads, input_layout, softmax_lse_flag)", "'float32'",
                "softmax_lse")),
        (Call("pse_type or q_start_idx is not None or kv_start_idx is not None",
              (_fused(5, ", None, learnable_sink, q_start_idx, kv_start_idx",
                      ", 0, pse_type"),)),
         Call("learnable_sink is not None or input_layout not in OLDER_LAYOUTS",
              (_fused(4, ", None, learnable_sink", ", 0"),)),
         Call("query_rope is not None or key_rope is not None", (_fused(3),)),
         _fused(2)),
        {"query": "Shape as ``input_layout`` says.",
         "key": "Shape as ``input_layout`` says, or the pages of a cache: ``(pages, page size, "
         "heads * width)``, ``(pages, heads, page size, width)``, or 5 dimensions for pages in "
         "blocks of 32 bytes.",
         "value": "Same shape as ``key``.",
         "pse_shift": "Added to the scores, shape ``(batch or 1, heads, tokens, keys)``.",
         "atten_mask": "True for the keys to hide.",
         "actual_seq_lengths": "Number of tokens of each query; a single number serves all. With "
         "packed sequences, the end of each query instead.",
         "actual_seq_lengths_kv": "Number of keys of each sequence; a single number serves all. "
         "With packed sequences and no pages, the end of each sequence's keys instead.",
         "block_table": "Pages of each sequence, int32, shape ``(batch, pages)``.",
         "query_padding_size": "How many tokens of padding stand behind queries that are padded on "
         "the left, int64, 1 element.",
         "kv_padding_size": "The same for keys.",
         "key_antiquant_scale": "Factors of quantised keys.",
         "key_antiquant_offset": "What is added to quantised keys before they are scaled.",
         "value_antiquant_scale": "Factors of quantised values.",
         "value_antiquant_offset": "What is added to quantised values before they are scaled.",
         "key_shared_prefix": "Keys that stand before those of every sequence, batch 1.",
         "value_shared_prefix": "Values of ``key_shared_prefix``.",
         "actual_shared_prefix_len": "Number of keys of the prefix.",
         "query_rope": "Rotary part of the queries, which adds its own products to the scores.",
         "key_rope": "Rotary part of the keys.",
         "learnable_sink": "A score of each head that takes part in the softmax without a value.",
         "q_start_idx": "Position of the first query, with ``pse_type`` 2 and 3.",
         "kv_start_idx": "Position of the first key, with ``pse_type`` 2 and 3.",
         "num_heads": "Number of heads of ``query``.", "scale": "Factor of the products.",
         "pre_tokens": "With a mask, how many keys before its own position a token sees.",
         "next_tokens": "With a mask, how many keys after its own position a token sees.",
         "input_layout": "'BSH', 'BSND', 'BNSD', 'TND' or 'NTD' (packed sequences); 'BNSD_BSND', "
         "'BSH_BNSD', 'BSND_BNSD', 'BSH_NBSD', 'BSND_NBSD', 'BNSD_NBSD', 'TND_NTD' and 'NTD_TND' "
         "give the result in another layout.",
         "num_key_value_heads": "Number of heads of ``key``; 0 means as many as ``query``.",
         "sparse_mode": "0 applies mask and band, 1 the mask, 2 is causal aligned to the first "
         "token, 3 causal aligned to the last, 4 a band aligned to the last. 2 to 4 take a "
         "triangle of 2048 rows as mask.",
         "inner_precise": "2 and 3 give zeros where all keys are masked.",
         "block_size": "Number of tokens in a page.",
         "softmax_lse_flag": "Whether to compute ``softmax_lse``.",
         "key_antiquant_mode": "How ``key_antiquant_scale`` lies: 0 per channel, 1 per token, and "
         "further forms of the operator.",
         "value_antiquant_mode": "How ``value_antiquant_scale`` lies.",
         "pse_type": "What ``pse_shift`` is: 0 added to the scores; 2 and 3 slopes of the distance "
         "between query and key."},
        notes="In a captured graph the lists of lengths can be inputs: `Graph.rebind` "
        "exchanges them."),
    Row("prompt_flash_attention", "query: Tensor, key: Tensor, value: Tensor, *, "
        "pse_shift: Tensor | None = None, atten_mask: Tensor | None = None, "
        "actual_seq_lengths: Sequence[int] | None = None, "
        "actual_seq_lengths_kv: Sequence[int] | None = None, num_heads: int = 1, "
        "scale: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 0, "
        "input_layout: str = 'BSH', num_key_value_heads: int = 0, sparse_mode: int = 0, "
        "inner_precise: int = 1",
        "Compute attention of whole prompts.",
        (Output("Dtype and shape of ``query``; 'BNSD_BSND' swaps heads and tokens.",
                "attended_shape(query, value, num_heads, input_layout)", "query.dtype_name"),),
        ("prompt_flash_attention_v3(query, key, value, pse_shift, atten_mask, actual_seq_lengths, "
         "actual_seq_lengths_kv, None, None, None, None, None, num_heads, scale, pre_tokens, "
         "next_tokens, input_layout, num_key_value_heads, sparse_mode, inner_precise, out)",),
        {"query": "Shape as ``input_layout`` says.", "key": "Shape as ``input_layout`` says.",
         "value": "Same shape as ``key``.",
         "pse_shift": "Added to the scores, shape ``(batch or 1, heads, tokens, keys)``.",
         "atten_mask": "True for the keys to hide.",
         "actual_seq_lengths": "Number of tokens of each query; a single number serves all.",
         "actual_seq_lengths_kv": "Number of keys of each sequence; a single number serves all.",
         "num_heads": "Number of heads of ``query``.", "scale": "Factor of the products.",
         "pre_tokens": "How many keys before its own position a token sees.",
         "next_tokens": "How many keys after its own position a token sees.",
         "input_layout": "'BSH', 'BSND', 'BNSD' or 'BNSD_BSND'.",
         "num_key_value_heads": "Number of heads of ``key``; 0 means as many as ``query``.",
         "sparse_mode": "As of `fused_infer_attention_score`.",
         "inner_precise": "0 computes the softmax of float16 in float32, 1 does not; 2 and 3 also "
         "give zeros where all keys are masked."}),
    Row("incre_flash_attention", "query: Tensor, key: Tensor, value: Tensor, *, "
        "pse_shift: Tensor | None = None, atten_mask: Tensor | None = None, "
        "actual_seq_lengths: Sequence[int] | None = None, block_table: Tensor | None = None, "
        "kv_padding_size: Tensor | None = None, antiquant_scale: Tensor | None = None, "
        "antiquant_offset: Tensor | None = None, num_heads: int = 1, scale: float = 1.0, "
        "input_layout: str = 'BSH', num_key_value_heads: int = 0, block_size: int = 0, "
        "inner_precise: int = 1",
        "Compute attention of one new token of each sequence.",
        (Output("Dtype and shape of ``query``.", "query.shape", "query.dtype_name"),),
        ("incre_flash_attention_v4(query, [key], [value], pse_shift, atten_mask, "
         "actual_seq_lengths, None, None, None, None, None, antiquant_scale, antiquant_offset, "
         "block_table, kv_padding_size, num_heads, scale, input_layout, num_key_value_heads, "
         "block_size, inner_precise, out)",),
        {"query": "Shape as ``input_layout`` says, with one token.",
         "key": "Shape as ``input_layout`` says, or the pages of a cache.",
         "value": "Same shape as ``key``.",
         "pse_shift": "Added to the scores, shape ``(batch or 1, heads, 1, keys)``.",
         "atten_mask": "True for the keys to hide; shape ``(batch, keys)``.",
         "actual_seq_lengths": "Number of keys of each sequence; a single number serves all.",
         "block_table": "Pages of each sequence, int32, shape ``(batch, pages)``.",
         "kv_padding_size": "How many tokens of padding stand behind keys that are padded on the "
         "left, int64, 1 element.",
         "antiquant_scale": "Factors of int8 keys and values, first those of the keys.",
         "antiquant_offset": "What is added to them before they are scaled.",
         "num_heads": "Number of heads of ``query``.", "scale": "Factor of the products.",
         "input_layout": "'BSH', 'BSND' or 'BNSD'.",
         "num_key_value_heads": "Number of heads of ``key``; 0 means as many as ``query``.",
         "block_size": "Number of tokens in a page.",
         "inner_precise": "0 computes the softmax of float16 in float32, 1 does not."},
        notes="In a captured graph ``actual_seq_lengths`` can be an input: `Graph.rebind` "
        "exchanges it."),
    Row("attention_update", "lse: Sequence[Tensor], local_out: Sequence[Tensor]",
        "Join the results of attention over parts of the keys.",
        (Output("Shape and dtype of the parts.", "local_out[0].shape", "local_out[0].dtype_name"),
         Output("The joined logarithms, shape of one of ``lse``.", "lse[0].shape", "'float32'",
                "lse_out")),
        ("attention_update(lse, local_out, 1, out, lse_out)",),
        {"lse": "Logarithms of the sums of exponentials of each part, float32, shape "
         "``(tokens * heads,)``.",
         "local_out": "Result of each part, shape ``(tokens * heads, width)``."}),
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
