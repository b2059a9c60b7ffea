# SPDX-License-Identifier: Apache-2.0
"""Rotary embeddings, alone and with the norms and caches beside them."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import SAME

__all__ = ["ROWS"]

_QUANTISED = "Given for a quantised cache only, whose values are rounded to int8"
_CACHE_MODES = (
    "'Norm' for a cache of sequences, shape ``(batch, heads, places, width)``, 'PA' and 'PA_BNSD' "
    "for pages, shape ``(pages, page size, heads, width)``, 'PA_NZ' for pages in blocks of 32 "
    "bytes; 'PA_BLK_BNSD' and 'PA_BLK_NZ' take one number of ``index`` for each page."
)

ROWS = (
    Row(
        "rotary_position_embedding",
        "input: Tensor, cos: Tensor, sin: Tensor, mode: int = 0",
        "Rotate pairs of elements by the angle of their position.",
        (SAME,),
        ("rotary_position_embedding(input, cos, sin, mode, out)",),
        {
            "cos": "Cosines of the angles.",
            "sin": "Sines of the angles.",
            "mode": "How elements pair up: 0 by halves, 1 with their neighbour. A chip of the 950 "
            "series also has 2, by quarters, and 3, with their neighbour and then by halves; a "
            "910B pairs them by halves for every mode but 1.",
        },
    ),
    Row(
        "rotary_position_embedding_backward",
        "grad_output: Tensor, input: Tensor, cos: Tensor, sin: Tensor, mode: int = 0",
        "Gradient of `rotary_position_embedding`, also by the cosines and sines.",
        (
            Output("Shape and dtype of ``input``.", name="grad_input"),
            Output("Shape and dtype of ``cos``.", "cos.shape", "cos.dtype_name", "grad_cos"),
            Output("Shape and dtype of ``sin``.", "sin.shape", "sin.dtype_name", "grad_sin"),
        ),
        ("rotary_position_embedding_grad(grad_output, cos, sin, input, mode, grad_input, grad_cos, "
         "grad_sin)",),
        {
            "grad_output": "Gradient of the result.",
            "input": "What was rotated.",
            "cos": "Cosines of the angles.",
            "sin": "Sines of the angles.",
            "mode": "As of `rotary_position_embedding`.",
        },
    ),
    Row(
        "interleave_rope",
        "input: Tensor, cos: Tensor, sin: Tensor",
        "Rotate pairs of neighbours and put the first of all pairs in front of the second ones.",
        (SAME,),
        ("interleave_rope(input, cos, sin, out)",),
        {
            "input": "Shape ``(batch, heads, tokens, 64)``.",
            "cos": "Cosines of the angles, shape ``(batch, 1, tokens, 64)`` or with one token.",
            "sin": "Sines of the angles, shape of ``cos``.",
        },
    ),
    Row(
        "partial_rotary_mul_",
        "input: Tensor, cos: Tensor, sin: Tensor, *, rotary_mode: int = 1, "
        "partial_slice: Sequence[int] | None = None",
        "Rotate a part of each row in place.",
        (),
        ("inplace_partial_rotary_mul(input, cos, sin, rotary_mode, partial_slice)",),
        {
            "input": "Shape ``(batch, tokens, heads, width)``.",
            "cos": "Cosines of the angles; broadcast to ``input``, as wide as the part.",
            "sin": "Sines of the angles, shape of ``cos``.",
            "rotary_mode": "1: each element pairs up with its neighbour.",
            "partial_slice": "Start and end of the part; default is the whole row.",
        },
    ),
    Row(
        "rope_with_sin_cos_cache",
        "positions: Tensor, query: Tensor, key: Tensor, cos_sin_cache: Tensor, head_size: int, *, "
        "mrope_section: Sequence[int] | None = None, is_neox_style: bool = True, "
        "cache_mode: int = 0",
        "Rotate queries and keys by the angles that a table has for their positions.",
        (
            Output("The queries; shape and dtype of ``query``.", "query.shape",
                   "query.dtype_name", "query_out"),
            Output("The keys; shape and dtype of ``key``.", "key.shape", "key.dtype_name",
                   "key_out"),
        ),
        (
            Call(
                "cache_mode == 0",
                ("rope_with_sin_cos_cache(positions, query, key, cos_sin_cache, mrope_section, "
                 "head_size, is_neox_style, query_out, key_out)",),
            ),
            "rope_with_sin_cos_cache_v2(positions, query, key, cos_sin_cache, mrope_section, "
            "head_size, is_neox_style, cache_mode, query_out, key_out)",
        ),
        {
            "positions": "Position of each token, int64, shape ``(tokens,)``; with "
            "``mrope_section`` a row for each section.",
            "query": "Shape ``(tokens, heads * head_size)``; dtype float16 | bfloat16 | float32.",
            "key": "Shape ``(tokens, key heads * head_size)``; dtype of ``query``.",
            "cos_sin_cache": "A row of cosines and then sines for each position, shape "
            "``(positions, rotary size)``; dtype of ``query``. Elements of a head behind the "
            "rotary size stay as they are.",
            "head_size": "Number of elements of a head.",
            "mrope_section": "How many angles take each row of ``positions``.",
            "is_neox_style": "Whether elements pair up by halves; else with their neighbour.",
            "cache_mode": "1: the sections of ``mrope_section`` take turns.",
        },
    ),
    Row(
        "apply_rotary_pos_emb_",
        "query: Tensor, key: Tensor, cos: Tensor, sin: Tensor, *, layout: int = 1, "
        "rotary_mode: str = 'half'",
        "Rotate queries and keys in place.",
        (),
        (
            Call(
                "rotary_mode == 'half' and layout == 1",
                ("apply_rotary_pos_emb(query, key, cos, sin, layout)",),
            ),
            "apply_rotary_pos_emb_v2(query, key, cos, sin, layout, rotary_mode)",
        ),
        {
            "query": "Written; shape as ``layout`` says.",
            "key": "Written too; tokens and width of ``query``.",
            "cos": "Cosines of the angles, with one head.",
            "sin": "Sines of the angles, shape of ``cos``.",
            "layout": "1: ``(batch, tokens, heads, width)``; 2: ``(tokens, batch, heads, width)``; "
            "3: ``(batch, heads, tokens, width)``; 4: ``(tokens, heads, width)``. A 910B takes 1 "
            "and 4.",
            "rotary_mode": "How elements pair up: 'half', 'interleave' or 'quarter'. A 910B does "
            "not read it and pairs them by halves.",
        },
    ),
    Row(
        "kv_rms_norm_rope_cache",
        "kv: Tensor, gamma: Tensor, cos: Tensor, sin: Tensor, index: Tensor, k_cache: Tensor, "
        "ckv_cache: Tensor, *, k_rope_scale: Tensor | None = None, "
        "c_kv_scale: Tensor | None = None, k_rope_offset: Tensor | None = None, "
        "c_kv_offset: Tensor | None = None, epsilon: float = 1e-05, cache_mode: str = 'Norm', "
        "is_output_kv: bool = False",
        "Normalise latent keys and values, rotate the keys and write both into caches.",
        (
            Output("The rotated keys, without a cache; shape ``(batch, 1, tokens, rotary width)``. "
                   "Undefined unless ``is_output_kv`` is set.",
                   "(*kv.shape[:-1], kv.shape[-1] - gamma.shape[-1])", "kv.dtype_name", "k_rope"),
            Output("The normalised values; shape ``(batch, 1, tokens, latent width)``. Undefined "
                   "unless ``is_output_kv`` is set.",
                   "(*kv.shape[:-1], gamma.shape[-1])", "kv.dtype_name", "c_kv"),
        ),
        (
            "kv_rms_norm_rope_cache(kv, gamma, cos, sin, index, k_cache, ckv_cache, k_rope_scale, "
            "c_kv_scale, k_rope_offset, c_kv_offset, epsilon, cache_mode, is_output_kv, k_rope, "
            "c_kv)",
        ),
        {
            "kv": "Values, and behind them keys: shape ``(batch, 1, tokens, latent width + rotary "
            "width)``.",
            "gamma": "Weight of the norm, shape ``(latent width,)``.",
            "cos": "Cosines of the angles, shape ``(batch, 1, tokens, rotary width)``.",
            "sin": "Sines of the angles, shape of ``cos``.",
            "index": "Where in the caches each token goes; -1 leaves it out. Shape ``(batch, "
            "tokens)``, with pages ``(batch * tokens,)``.",
            "k_cache": "Cache of the keys; written.",
            "ckv_cache": "Cache of the values; written.",
            "k_rope_scale": f"Divisors of the keys, shape ``(1, rotary width)``. {_QUANTISED}.",
            "c_kv_scale": f"Divisors of the values, shape ``(1, latent width)``. {_QUANTISED}.",
            "k_rope_offset": "What is added to the divided keys.",
            "c_kv_offset": "What is added to the divided values.",
            "epsilon": "Added to the mean square.",
            "cache_mode": _CACHE_MODES,
            "is_output_kv": "Whether to compute the results as well.",
        },
        notes="Keys are rotated as `interleave_rope` does it.",
    ),
    Row(
        "qkv_rms_norm_rope_cache",
        "qkv: Tensor, q_gamma: Tensor, k_gamma: Tensor, cos: Tensor, sin: Tensor, index: Tensor, "
        "k_cache: Tensor, v_cache: Tensor, qkv_size: Sequence[int], head_nums: Sequence[int], *, "
        "k_scale: Tensor | None = None, v_scale: Tensor | None = None, "
        "k_offset: Tensor | None = None, v_offset: Tensor | None = None, epsilon: float = 1e-06",
        "Normalise and rotate queries and keys, and write keys and values into caches.",
        (
            Output("The queries; shape ``(batch * tokens, heads * 128)``, dtype of ``qkv``.",
                   "(qkv.shape[0], head_nums[0] * cos.shape[-1])", "qkv.dtype_name", "query"),
        ),
        (
            "qkv_rms_norm_rope_cache(qkv, q_gamma, k_gamma, cos, sin, index, query, k_cache, "
            "v_cache, k_scale, v_scale, k_offset, v_offset, qkv_size, head_nums, epsilon, 'PA_NZ', "
            "None, None, None)",
        ),
        {
            "qkv": "Shape ``(batch * tokens, all heads * 128)``.",
            "q_gamma": "Weight of the queries' norm, shape ``(128,)``.",
            "k_gamma": "Weight of the keys' norm, shape ``(128,)``.",
            "cos": "Cosines of the angles, shape ``(batch * tokens, 128)``.",
            "sin": "Sines of the angles, shape of ``cos``.",
            "index": "Where in the caches each token goes; -1 leaves it out.",
            "k_cache": "Cache of the keys in blocks of 32 bytes, shape ``(pages, heads * 128 / "
            "block, page size, block)``; written.",
            "v_cache": "Cache of the values, as ``k_cache``; written.",
            "qkv_size": "Batch, tokens, all heads and 128.",
            "head_nums": "Heads of queries, keys and values.",
            "k_scale": f"Divisors of the keys, shape ``(heads, 128)``. {_QUANTISED}.",
            "v_scale": f"Divisors of the values. {_QUANTISED}.",
            "k_offset": "What is added to the divided keys.",
            "v_offset": "What is added to the divided values.",
            "epsilon": "Added to the mean square.",
        },
        steps=("check_head_numbers(head_nums)",),
    ),
)  # fmt: skip
