# SPDX-License-Identifier: Apache-2.0
"""What a service does between its layers: the next step, adapters, attention in parts."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_PART = "The {} of {}, float32; shape ``(batch, heads, tokens, 8)``, or ``(tokens, heads, 8)``."

ROWS = (
    Row(
        "advance_step_",
        "input_tokens: Tensor, sampled_token_ids: Tensor, input_positions: Tensor, "
        "seq_lens: Tensor, slot_mapping: Tensor, block_tables: Tensor, *, num_seqs: int, "
        "num_queries: int, block_size: int, spec_token: Tensor | None = None, "
        "accepted_num: Tensor | None = None",
        "Move sequences on to the tokens that were sampled.",
        (),
        (
            Call(
                "spec_token is not None and accepted_num is not None",
                ("advance_step_v2(input_tokens, sampled_token_ids, input_positions, seq_lens, "
                 "slot_mapping, block_tables, spec_token, accepted_num, num_seqs, num_queries, "
                 "block_size)",),
            ),
            "advance_step(input_tokens, sampled_token_ids, input_positions, seq_lens, "
            "slot_mapping, block_tables, num_seqs, num_queries, block_size)",
        ),
        {
            "input_tokens": "Written: the next tokens, int64, shape ``(sequences,)``; with guessed "
            "tokens a row of 1 + their number for each sequence.",
            "sampled_token_ids": "The tokens that were sampled, int64, shape ``(queries, 1)``; "
            "with guessed tokens all of a sequence.",
            "input_positions": "Written: the position of each token, int64.",
            "seq_lens": "Written: one more than the position, int64.",
            "slot_mapping": "Written: where the token goes in the cache, int64.",
            "block_tables": "Pages of each sequence, int64, shape ``(sequences, pages)``.",
            "num_seqs": "Number of sequences, with those of padding.",
            "num_queries": "Number of sequences without padding.",
            "block_size": "Tokens of a page.",
            "spec_token": "Guessed tokens, int64, shape ``(sequences, guessed)``.",
            "accepted_num": "How many guesses of each sequence were right, int64.",
        },
        steps=("expect_together(spec_token=spec_token, accepted_num=accepted_num)",),
    ),
    Row(
        "add_lora",
        "y: Tensor, x: Tensor, weight_b: Tensor, indices: Tensor, *, "
        "weight_a: Tensor | None = None, layer_idx: int = 0, scale: float = 1.0, "
        "y_offset: int = 0, y_slice_size: int | None = None",
        "Add to each row what its adapter of low rank makes of it.",
        (Output("Shape and dtype of ``y``.", "y.shape", "y.dtype_name"),),
        (
            "add_lora(y, x, weight_b, indices, weight_a, layer_idx, scale, y_offset, size, out)",
        ),
        {
            "y": "What the layer made, float16; shape ``(rows, width)``.",
            "x": "What the layer was given, float16; shape ``(rows, inner)``.",
            "weight_b": "Second matrices, shape ``(adapters, layers, columns, rank)``.",
            "indices": "The adapter of each row, int32.",
            "weight_a": "First matrices, shape ``(adapters, layers, rank, inner)``; without them "
            "``x`` has been multiplied by them already.",
            "layer_idx": "The layer.",
            "scale": "Factor of what is added.",
            "y_offset": "The first column of ``y`` that is added to.",
            "y_slice_size": "How many columns are added to; default is all behind ``y_offset``.",
        },
        steps=(
            "expect_whole(layer_idx=layer_idx, y_offset=y_offset)",
            "size = with_width(y=y) - y_offset if y_slice_size is None else y_slice_size",
            "expect_whole(y_slice_size=size)",
        ),
    ),
    Row(
        "ring_attention_update",
        "prev_attn_out: Tensor, prev_softmax_max: Tensor, prev_softmax_sum: Tensor, "
        "cur_attn_out: Tensor, cur_softmax_max: Tensor, cur_softmax_sum: Tensor, *, "
        "actual_seq_qlen: Tensor | None = None, input_layout: str = 'SBH'",
        "Join attention over some keys with attention over others.",
        (
            Output("Attention over both; shape and dtype of ``prev_attn_out``.",
                   "prev_attn_out.shape", "prev_attn_out.dtype_name", "attn_out"),
            Output("The higher maximum, as ``prev_softmax_max``.", "prev_softmax_max.shape",
                   "prev_softmax_max.dtype_name", "softmax_max"),
            Output("The sum against it, as ``prev_softmax_sum``.", "prev_softmax_sum.shape",
                   "prev_softmax_sum.dtype_name", "softmax_sum"),
        ),
        (
            "ring_attention_update(prev_attn_out, prev_softmax_max, prev_softmax_sum, "
            "cur_attn_out, cur_softmax_max, cur_softmax_sum, actual_seq_qlen, input_layout, "
            "attn_out, softmax_max, softmax_sum)",
        ),
        {
            "prev_attn_out": "Attention over the first keys, shape as ``input_layout`` says.",
            "prev_softmax_max": _PART.format("maxima", "the first"),
            "prev_softmax_sum": _PART.format("sums", "the first"),
            "cur_attn_out": "Attention over the other keys, shape of ``prev_attn_out``.",
            "cur_softmax_max": _PART.format("maxima", "the second"),
            "cur_softmax_sum": _PART.format("sums", "the second"),
            "actual_seq_qlen": "Where each sequence ends, int64, with 'TND'; it begins with 0.",
            "input_layout": "'SBH', or 'TND' (packed sequences).",
        },
    ),
)  # fmt: skip
