# SPDX-License-Identifier: Apache-2.0
"""Latent attention: what stands before it, the choice of keys, and attention over those."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_FAR = "9223372036854775807"
_TOKENS = (
    "token_x: Tensor, weight_dq: Tensor, weight_uq_qr: Tensor, weight_uk: Tensor, "
    "weight_dkv_kr: Tensor, rmsnorm_gamma_cq: Tensor, rmsnorm_gamma_ckv: Tensor, "
    "rope_sin: Tensor, rope_cos: Tensor, "
)
_SCALES = (
    "dequant_scale_x: Tensor | None = None, dequant_scale_w_dq: Tensor | None = None, "
    "dequant_scale_w_uq_qr: Tensor | None = None, "
    "dequant_scale_w_dkv_kr: Tensor | None = None, quant_scale_ckv: Tensor | None = None, "
    "quant_scale_ckr: Tensor | None = None, smooth_scales_cq: Tensor | None = None, "
)
_EPSILONS = (
    "rmsnorm_epsilon_cq: float = 1e-05, rmsnorm_epsilon_ckv: float = 1e-05, "
    "cache_mode: str = 'PA_BSND'"
)
_FIRST = (
    "token_x, weight_dq, weight_uq_qr, weight_uk, weight_dkv_kr, rmsnorm_gamma_cq, "
    "rmsnorm_gamma_ckv, rope_sin, rope_cos"
)
_GIVEN_SCALES = (
    "dequant_scale_x, dequant_scale_w_dq, dequant_scale_w_uq_qr, dequant_scale_w_dkv_kr, "
    "quant_scale_ckv, quant_scale_ckr, smooth_scales_cq"
)
_SECOND = (
    f"({_FIRST}, cache_index, kv_cache, kr_cache, {_GIVEN_SCALES}, rmsnorm_epsilon_cq, "
    "rmsnorm_epsilon_ckv, cache_mode, query, query_rope"
)
_QUERY = Output(
    "Queries in latent space, shape ``(tokens, heads, latent width)``, with a dimension more where "
    "``token_x`` has 3; bfloat16, or int8 where tokens and cache are quantised.",
    "absorbed_shape(token_x, weight_uk)",
    "'int8' if quantised else 'bfloat16'",
    "query",
)
_QUERY_ROPE = Output(
    "Rotary part of the queries, bfloat16; shape ``(tokens, heads, rotary width)``.",
    "absorbed_shape(token_x, weight_uk, with_width(rope_cos=rope_cos))",
    "'bfloat16'",
    "query_rope",
)
_QUERY_SCALE = Output(
    "Scales of int8 queries, float32; shape ``(tokens, heads, 1)``. Without elements unless "
    "``query`` is int8.",
    "if_asked(quantised, prod(token_x.shape[:-1]), heads_of(weight_uk=weight_uk[:, 0]), 1)",
    "'float32'",
    "query_scale",
)
_WEIGHT = "int8 or bfloat16, format FRACTAL_NZ."
_PROLOG = {
    "token_x": "Tokens, bfloat16 or int8; shape ``(tokens, hidden)`` or ``(batch, tokens, "
    "hidden)``.",
    "weight_dq": f"Tokens to latent queries, ``(hidden, rank)``; {_WEIGHT}",
    "weight_uq_qr": "Latent queries to heads and rotary parts, ``(rank, heads * (head width + "
    f"rotary width))``; {_WEIGHT}",
    "weight_uk": "Queries of each head into the space of latent keys, bfloat16, ``(heads, head "
    "width, latent width)``.",
    "weight_dkv_kr": "Tokens to latent keys and a rotary key, ``(hidden, latent width + rotary "
    f"width)``; {_WEIGHT}",
    "rmsnorm_gamma_cq": "Weight of the norm of latent queries, ``(rank,)``.",
    "rmsnorm_gamma_ckv": "Weight of the norm of latent keys, ``(latent width,)``.",
    "rope_sin": "Sines of the angles of each token, bfloat16; shape ``(tokens, rotary width)``.",
    "rope_cos": "Cosines of the angles, shape of ``rope_sin``.",
    "cache_index": "Where each token goes in the caches, int64; shape of the tokens.",
    "kv_cache": "Written: pages of latent keys, ``(pages, page size, 1, latent width)``.",
    "kr_cache": "Written too: pages of rotary keys, ``(pages, page size, 1, rotary width)``.",
    "dequant_scale_x": "Scales of int8 tokens, float32, ``(tokens, 1)``.",
    "dequant_scale_w_dq": "Scales of the columns of an int8 ``weight_dq``, ``(1, rank)``.",
    "dequant_scale_w_uq_qr": "Scales of the columns of an int8 ``weight_uq_qr``.",
    "dequant_scale_w_dkv_kr": "Scales of the columns of an int8 ``weight_dkv_kr``.",
    "quant_scale_ckv": "What latent keys are divided by before they go to an int8 cache.",
    "quant_scale_ckr": "The same for rotary keys.",
    "smooth_scales_cq": "What latent queries are multiplied by before they are quantised, ``(1, "
    "rank)``.",
    "rmsnorm_epsilon_cq": "Added to the mean square of latent queries.",
    "rmsnorm_epsilon_ckv": "Added to the mean square of latent keys.",
    "cache_mode": "'PA_BSND', or 'PA_NZ' for pages in blocks of 32 bytes.",
}
_CHOICE = (
    "query: Tensor, key: Tensor, weights: Tensor, *, {scales}"
    "actual_seq_lengths_query: Tensor | None = None, "
    "actual_seq_lengths_key: Tensor | None = None, block_table: Tensor | None = None, "
    "layout_query: str = 'BSND', layout_key: str = 'BSND', sparse_count: int = 2048, "
    f"sparse_mode: int = 3, pre_tokens: int = {_FAR}, next_tokens: int = {_FAR}"
)
_INDICES = Output(
    "Positions of the keys with the highest scores, int32, the highest first; -1 where there are "
    "fewer. Shape ``(..., key heads, sparse_count)``.",
    "chosen_keys_shape(query, key, sparse_count)",
    "'int32'",
    "indices",
)
_INDEXER = {
    "query": "Shape as ``layout_query`` says, 128 elements to a head.",
    "key": "Shape as ``layout_key`` says, one head.",
    "weights": "Weight of each head of ``query``; shape of ``query`` without the last dimension.",
    "actual_seq_lengths_query": "Number of tokens of each query, int32; with 'TND' where each "
    "ends.",
    "actual_seq_lengths_key": "Number of keys of each sequence, int32; with 'TND' where each ends.",
    "block_table": "Pages of each sequence, int32, shape ``(batch, pages)``.",
    "layout_query": "'BSND' or 'TND' (packed sequences).",
    "layout_key": "'BSND', 'TND' or 'PA_BSND' (pages).",
    "sparse_count": "How many keys each token gets.",
    "sparse_mode": "3: a token sees the keys up to its own; 0: all.",
    "pre_tokens": "How many keys before its own a token sees; the operator takes all only.",
    "next_tokens": "How many keys after its own a token sees; the operator takes all only.",
}
_SUMS = "key_sums_shape(query, key, layout_query, return_softmax_lse)"


def _sparse(version: str, sinks: str) -> str:
    return (
        f"sparse_flash_attention{version}(query, key, value, sparse_indices, block_table, "
        "actual_seq_lengths_query, actual_seq_lengths_kv, query_rope, key_rope, "
        f"{sinks}scale, sparse_block_size, layout_query, layout_kv, sparse_mode, pre_tokens, "
        "next_tokens, 2, return_softmax_lse, attention_out, softmax_max, softmax_sum)"
    )


_MLA = {
    "cu_seqlens_q": "Where each query begins, and the end, int32; for 'TND'.",
    "cu_seqlens_ori_kv": "The same of the keys.",
    "cu_seqlens_cmp_kv": "The same of the compressed keys.",
    "seqused_ori_kv": "Number of keys of each sequence, int32.",
    "seqused_cmp_kv": "Number of compressed keys of each sequence, int32.",
    "cmp_residual_kv": "Tokens behind the last compressed key of each sequence, int32.",
    "cmp_ratio": "Tokens that make a compressed key.",
    "ori_mask_mode": "4: a window. On a 950 also 0: no mask, and 3: no later keys.",
    "cmp_mask_mode": "3: no later keys. On a 950 also 0: no mask.",
    "ori_win_left": "Tokens of the window in front; on a 950 any number, and -1 for all.",
    "ori_win_right": "Tokens of the window behind.",
    "layout_q": "'BSND' or 'TND' (packed sequences).",
    "layout_kv": "'BSND', 'TND' or 'PA_BBND' (pages).",
}

_OR_NONE = "kv_cache_rope: Tensor | None"
_PREPROCESSED = (
    "input, gamma0, beta0, quant_scale0, quant_offset0, wdqkv, de_scale0, bias0, gamma1, beta1, "
    "quant_scale1, quant_offset1, wuq, de_scale1, bias1, gamma2, cos, sin, wuk, kv_cache, "
    "kv_cache_rope, slot_mapping"
)
_PREPROCESS = {
    "input": "Tokens, float16 or bfloat16, ``(tokens, hidden)``. Norms, scales, ``cos``, ``sin``, "
    "``wuk`` and caches have its dtype.",
    "gamma0": "Weight of the norm of the tokens, ``(hidden,)``.",
    "beta0": "Added behind it.",
    "quant_scale0": "What the tokens are divided by before they are rounded to int8, ``(1,)``.",
    "quant_offset0": "Added then, int8, ``(1,)``.",
    "wdqkv": "Tokens to latent keys, a rotary key and latent queries, int8, ``(latent width + "
    "rotary width + rank, hidden)``, format FRACTAL_NZ.",
    "de_scale0": "Scales of the rows of ``wdqkv``: float32 beside bfloat16; beside float16 the "
    "bits of float32 in int64.",
    "bias0": "Added before these scales, int32.",
    "gamma1": "Weight of the norm of latent queries, ``(rank,)``.",
    "beta1": "Added behind it.",
    "quant_scale1": "As ``quant_scale0``, for latent queries.",
    "quant_offset1": "As ``quant_offset0``.",
    "wuq": "Latent queries to heads and rotary parts, int8, ``(heads * (head width + rotary "
    "width), rank)``, format FRACTAL_NZ.",
    "de_scale1": "Scales of the rows of ``wuq``, as ``de_scale0``.",
    "bias1": "Added before these scales, int32.",
    "gamma2": "Weight of the norm of latent keys, ``(latent width,)``.",
    "cos": "Cosines of the angles of each token, ``(tokens, rotary width)``.",
    "sin": "Sines of the angles.",
    "wuk": "Queries of each head into the space of latent keys, ``(heads, head width, latent "
    "width)``.",
    "kv_cache": "Written: pages of latent keys, ``(pages, 128, 1, latent width)``; with "
    "``cache_mode`` 0 and the rotary key behind each.",
    "kv_cache_rope": "Written too: pages of rotary keys, ``(pages, 128, 1, rotary width)``; None "
    "with ``cache_mode`` 0.",
    "slot_mapping": "Where each token goes in the caches, int32; a number below 0 writes nothing.",
    "epsilon": "Added to the mean squares.",
    "cache_mode": "0: one cache; 1: two; 3: two in blocks of 32 bytes.",
    "do_rms_norm": "Whether the tokens go through their norm.",
}

ROWS = (
    Row(
        "mla_preprocess",
        f"{_PREPROCESSED.replace(',', ': Tensor,').replace('kv_cache_rope: Tensor', _OR_NONE)}"
        ": Tensor, *, epsilon: float = 1e-05, cache_mode: int = 1, do_rms_norm: bool = True",
        "Make the queries of latent attention with products of 8 bits, and write its keys into "
        "caches.",
        (
            Output(
                "Queries in latent space, dtype of ``input``; shape ``(tokens, heads, latent "
                "width)``, with ``cache_mode`` 0 and the rotary part behind each.",
                "absorbed_shape(input, wuk, None if cache_mode else with_width(wuk=wuk) + "
                "with_width(cos=cos))",
                "input.dtype_name",
                "query",
            ),
            Output(
                "Rotary part of the queries, ``(tokens, heads, rotary width)``; without elements "
                "with ``cache_mode`` 0.",
                "if_asked(cache_mode != 0, *absorbed_shape(input, wuk, with_width(cos=cos)))",
                "input.dtype_name",
                "query_rope",
            ),
        ),
        (
            f"mla_preprocess({_PREPROCESSED}, None, None, with_width(gamma1=gamma1), "
            "with_width(cos=cos), with_width(cos=cos), epsilon, 2, 2, True, True, True, "
            "cache_mode, 0, do_rms_norm, 1, query, kv_cache, query_rope if cache_mode else None, "
            "kv_cache_rope)",
        ),
        _PREPROCESS,
        steps=("expect_whole(cache_mode=cache_mode)", "expect_flags(do_rms_norm=do_rms_norm)"),
    ),
    Row(
        "mla_prolog",
        f"{_TOKENS}cache_index: Tensor, kv_cache: Tensor, kr_cache: Tensor, *, {_SCALES}"
        f"{_EPSILONS}",
        "Make the queries of latent attention, and write latent and rotary keys into caches.",
        (_QUERY, _QUERY_ROPE, _QUERY_SCALE),
        (
            Call("dequant_scale_x is None", (f"mla_prolog{_SECOND})",)),
            f"mla_prolog_v2_weight_nz{_SECOND}, query_scale if quantised else None)",
        ),
        _PROLOG,
        steps=("quantised = dequant_scale_x is not None and quant_scale_ckv is not None",),
    ),
    Row(
        "mla_prolog_v3",
        f"{_TOKENS}kv_cache: Tensor, kr_cache: Tensor, *, cache_index: Tensor | None = None, "
        f"{_SCALES}actual_seq_len: Tensor | None = None, {_EPSILONS}, "
        "weight_quant_mode: int = 0, kv_cache_quant_mode: int = 0, qc_qr_scale: float = 1.0, "
        "kc_scale: float = 1.0, query_norm_flag: bool = False",
        "Make the queries of latent attention with the factors and norms of its third version.",
        (
            _QUERY,
            _QUERY_ROPE,
            _QUERY_SCALE,
            Output(
                "Latent queries behind their norm, bfloat16, or int8 where ``weight_uq_qr`` is; "
                "shape ``(tokens, rank)``. Without elements unless ``query_norm_flag`` is set.",
                "if_asked(query_norm_flag, *token_x.shape[:-1], with_width(weight_dq=weight_dq))",
                "'int8' if weight_quant_mode else 'bfloat16'",
                "query_norm",
            ),
            Output(
                "Scales of int8 ``query_norm``, float32, shape ``(tokens, 1)``; else without "
                "elements.",
                "if_asked(query_norm_flag and weight_quant_mode != 0, prod(token_x.shape[:-1]), 1)",
                "'float32'",
                "query_norm_scale",
            ),
        ),
        (
            f"mla_prolog_v3_weight_nz({_FIRST}, kv_cache, kr_cache, cache_index, {_GIVEN_SCALES}, "
            "actual_seq_len, None, rmsnorm_epsilon_cq, rmsnorm_epsilon_ckv, cache_mode, "
            "weight_quant_mode, kv_cache_quant_mode, int(quantised), 0, 0, 128, qc_qr_scale, "
            "kc_scale, query, query_rope, query_scale if quantised else None, "
            "query_norm if query_norm_flag else None, "
            "query_norm_scale if query_norm_flag and weight_quant_mode != 0 else None)",
        ),
        {
            **_PROLOG,
            "cache_index": "Where each token goes in the caches, int64; None where the caches lie "
            "as the tokens.",
            "actual_seq_len": "Where each sequence ends, int32, for a cache of blocks.",
            "cache_mode": "'PA_BSND', 'PA_NZ', 'PA_BLK_BSND', 'PA_BLK_NZ', 'BSND' or 'TND'.",
            "weight_quant_mode": "0: no weight is int8; 1: ``weight_uq_qr``; 2: the tokens and all "
            "weights but ``weight_uk``.",
            "kv_cache_quant_mode": "0: none; 1: ``kv_cache`` with one scale; 2: both caches with a "
            "scale for each element.",
            "qc_qr_scale": "Factor of the norm of latent queries.",
            "kc_scale": "Factor of the norm of latent keys.",
            "query_norm_flag": "Whether to give the latent queries behind their norm.",
        },
        steps=(
            "expect_flags(query_norm_flag=query_norm_flag)",
            "expect_whole(weight_quant_mode=weight_quant_mode, "
            "kv_cache_quant_mode=kv_cache_quant_mode)",
            "quantised = weight_quant_mode == 2 and kv_cache_quant_mode != 0",
        ),
    ),
    Row(
        "lightning_indexer",
        _CHOICE.format(scales="") + ", return_values: bool = False",
        "Choose the keys that matter most to each token.",
        (
            _INDICES,
            Output(
                "Scores of those keys, dtype of ``query``, -inf where there are fewer. Without "
                "elements unless ``return_values`` is set.",
                "if_asked(return_values, *indices.shape)",
                "query.dtype_name",
                "values",
            ),
        ),
        (
            "lightning_indexer(query, key, weights, actual_seq_lengths_query, "
            "actual_seq_lengths_key, block_table, layout_query, layout_key, sparse_count, "
            "sparse_mode, pre_tokens, next_tokens, return_values, indices, values)",
        ),
        {**_INDEXER, "return_values": "Whether to give the scores; not with pages."},
        steps=("expect_flags(return_values=return_values)",),
        notes="The score of a key is the sum over heads of ``weights * max(query @ key, 0)``. Of "
        "equal scores the key in front is chosen.",
    ),
    Row(
        "lightning_indexer_v2",
        "query: Tensor, key: Tensor, weights: Tensor, *, cu_seqlens_q: Tensor | None = None, "
        "cu_seqlens_k: Tensor | None = None, seqused_k: Tensor | None = None, "
        "cmp_residual_k: Tensor | None = None, block_table: Tensor | None = None, "
        "metadata: Tensor | None = None, sparse_count: int = 2048, max_seqlen_q: int = -1, "
        "layout_q: str = 'BSND', layout_k: str = 'BSND', mask_mode: int = 3, "
        "cmp_ratio: int = 1, return_values: bool = False",
        "Choose the keys that matter most to each token, also among compressed keys.",
        (
            _INDICES,
            Output(
                "Scores of those keys, float32, -inf where there are fewer. Without elements "
                "unless ``return_values`` is set.",
                "if_asked(return_values, *indices.shape)",
                "'float32'",
                "values",
            ),
        ),
        (
            "lightning_indexer_v2(query, key, weights, cu_seqlens_q, cu_seqlens_k, None, "
            "seqused_k, cmp_residual_k, block_table, None, metadata, sparse_count, max_seqlen_q, "
            "layout_q, layout_k, mask_mode, cmp_ratio, int(return_values), indices, values)",
        ),
        {
            "query": _INDEXER["query"].replace("layout_query", "layout_q"),
            "key": _INDEXER["key"].replace("layout_key", "layout_k"),
            "weights": "Weight of each head of ``query``, float32; shape of ``query`` without the "
            "last dimension.",
            "cu_seqlens_q": "Where each query ends, int32, from 0 on; for 'TND'.",
            "cu_seqlens_k": "Where the keys of each sequence end, int32, from 0 on; for 'TND'.",
            "seqused_k": "Number of keys of each sequence, int32.",
            "cmp_residual_k": "Tokens of each sequence behind its last compressed key, int32.",
            "block_table": _INDEXER["block_table"],
            "metadata": "The list of tasks of the operator that makes it, int32.",
            "sparse_count": _INDEXER["sparse_count"],
            "max_seqlen_q": "Tokens of the longest query; -1: not given.",
            "layout_q": _INDEXER["layout_query"],
            "layout_k": "'BSND', 'TND' or 'PA_BBND' (pages).",
            "mask_mode": "3: a token sees the keys up to its own; 0: all.",
            "cmp_ratio": "How many tokens a key stands for.",
            "return_values": "Whether to give the scores.",
        },
        steps=("expect_flags(return_values=return_values)",),
    ),
    Row(
        "quant_lightning_indexer",
        _CHOICE.format(scales="query_scale: Tensor, key_scale: Tensor, "),
        "Choose the keys that matter most to each token, from quantised queries and keys.",
        (_INDICES,),
        (
            "quant_lightning_indexer(query, key, weights, query_scale, key_scale, "
            "actual_seq_lengths_query, actual_seq_lengths_key, block_table, 0, 0, layout_query, "
            "layout_key, sparse_count, sparse_mode, pre_tokens, next_tokens, indices)",
        ),
        {
            **_INDEXER,
            "query_scale": "Scale of each token and head, float16; shape of ``weights``.",
            "key_scale": "Scale of each key, float16; shape of ``key`` without the last dimension.",
        },
    ),
    Row(
        "sparse_flash_attention",
        "query: Tensor, key: Tensor, value: Tensor, sparse_indices: Tensor, *, "
        "block_table: Tensor | None = None, actual_seq_lengths_query: Tensor | None = None, "
        "actual_seq_lengths_kv: Tensor | None = None, query_rope: Tensor | None = None, "
        "key_rope: Tensor | None = None, sinks: Tensor | None = None, scale: float = 1.0, "
        "sparse_block_size: int = 1, layout_query: str = 'BSND', layout_kv: str = 'BSND', "
        f"sparse_mode: int = 3, pre_tokens: int = {_FAR}, next_tokens: int = {_FAR}, "
        "return_softmax_lse: bool = False",
        "Attend over the keys that were chosen for each token.",
        (
            Output("Shape and dtype of ``query``.", "query.shape", "query.dtype_name",
                   "attention_out"),
            Output("Highest score, float32; shape ``(batch, key heads, tokens, heads / key "
                   "heads)``, or without the batch with 'TND'. Without elements unless "
                   "``return_softmax_lse`` is set.", _SUMS, "'float32'", "softmax_max"),
            Output("Sum of exponentials, shape and dtype of ``softmax_max``.", _SUMS, "'float32'",
                   "softmax_sum"),
        ),
        (Call("sinks is None", (_sparse("", ""),)), _sparse("_v2", "sinks, ")),
        {
            "query": "Shape as ``layout_query`` says, 512 elements to a head.",
            "key": "Shape as ``layout_kv`` says, one head.",
            "value": "Shape of ``key``.",
            "sparse_indices": "Blocks of keys for each token, int32, as `lightning_indexer` gives "
            "them.",
            "block_table": "Pages of each sequence, int32, shape ``(batch, pages)``.",
            "actual_seq_lengths_query": "Number of tokens of each query, int32; with 'TND' where "
            "each ends.",
            "actual_seq_lengths_kv": "Number of keys of each sequence, int32; with 'TND' where "
            "each ends.",
            "query_rope": "Rotary part of the queries, 64 elements to a head.",
            "key_rope": "Rotary part of the keys.",
            "sinks": "A score of each head that takes part in the softmax without a value, "
            "float32; on a 950 only.",
            "scale": "Factor of the products.",
            "sparse_block_size": "Keys of a block, a power of 2 up to 128.",
            "layout_query": "'BSND' or 'TND' (packed sequences).",
            "layout_kv": "'BSND', 'TND' or 'PA_BSND' (pages).",
            "sparse_mode": "3: a token sees the keys up to its own; 0: all.",
            "pre_tokens": "How many keys before its own a token sees; the operator takes all only.",
            "next_tokens": "How many keys after its own a token sees; the operator takes all only.",
            "return_softmax_lse": "Whether to give the maxima and sums; not with pages.",
        },
    ),
    Row(
        "sparse_flash_mla_metadata",
        "num_heads_q: int, *, cu_seqlens_q: Tensor | None = None, "
        "cu_seqlens_ori_kv: Tensor | None = None, cu_seqlens_cmp_kv: Tensor | None = None, "
        "seqused_ori_kv: Tensor | None = None, seqused_cmp_kv: Tensor | None = None, "
        "cmp_residual_kv: Tensor | None = None, batch_size: int = 0, max_seqlen_q: int = 0, "
        "max_seqlen_ori_kv: int = 0, max_seqlen_cmp_kv: int = 0, cmp_topk: int = 0, "
        "cmp_ratio: int = 1, ori_mask_mode: int = 4, cmp_mask_mode: int = 3, "
        "ori_win_left: int = 127, ori_win_right: int = 0, layout_q: str = 'BSND', "
        "layout_kv: str = 'BSND', has_cmp_kv: bool = False, device: Device | None = None",
        "Share out the work of `sparse_flash_mla` to the cores.",
        (Output("int32, shape ``(1024,)``.", "(1024,)", "'int32'"),),
        (
            "sparse_flash_mla_metadata(cu_seqlens_q, cu_seqlens_ori_kv, cu_seqlens_cmp_kv, None, "
            "seqused_ori_kv, seqused_cmp_kv, cmp_residual_kv, None, None, num_heads_q, 1, 512, "
            "batch_size, max_seqlen_q, max_seqlen_ori_kv, max_seqlen_cmp_kv, 0, cmp_topk, "
            "cmp_ratio, ori_mask_mode, cmp_mask_mode, ori_win_left, ori_win_right, layout_q, "
            "layout_kv, True, has_cmp_kv, out)",
        ),
        {
            **_MLA,
            "num_heads_q": "Number of heads of the queries.",
            "batch_size": "Number of sequences, where no list says it.",
            "max_seqlen_q": "Length of the queries, where no list says it.",
            "max_seqlen_ori_kv": "Length of the keys, where no list says it.",
            "max_seqlen_cmp_kv": "Number of compressed keys, where no list says it.",
            "cmp_topk": "Number of compressed keys that are chosen; 0 for all of them.",
            "has_cmp_kv": "Whether there are compressed keys.",
        },
        device="device",
    ),
    Row(
        "sparse_flash_mla",
        "query: Tensor, ori_kv: Tensor, sinks: Tensor, metadata: Tensor, *, "
        "cmp_kv: Tensor | None = None, cmp_sparse_indices: Tensor | None = None, "
        "ori_block_table: Tensor | None = None, cmp_block_table: Tensor | None = None, "
        "cu_seqlens_q: Tensor | None = None, cu_seqlens_ori_kv: Tensor | None = None, "
        "cu_seqlens_cmp_kv: Tensor | None = None, seqused_ori_kv: Tensor | None = None, "
        "seqused_cmp_kv: Tensor | None = None, cmp_residual_kv: Tensor | None = None, "
        "softmax_scale: float = 1.0, cmp_ratio: int = 1, ori_mask_mode: int = 4, "
        "cmp_mask_mode: int = 3, ori_win_left: int = 127, ori_win_right: int = 0, "
        "layout_q: str = 'BSND', layout_kv: str = 'BSND', return_softmax_lse: bool = False",
        "Attend over a window of keys and over compressed keys, all of them or chosen ones.",
        (
            Output("Shape and dtype of ``query``.", "query.shape", "query.dtype_name",
                   "attention_out"),
            Output("Logarithm of the sum of exponentials, float32; shape ``(batch, 1, tokens, "
                   "heads)``, or ``(1, tokens, heads)`` with 'TND'. Without elements unless "
                   "``return_softmax_lse`` is set.",
                   "if_asked(return_softmax_lse, *query.shape[:-3], 1, *query.shape[-3:-1])",
                   "'float32'", "softmax_lse"),
        ),
        (
            "sparse_flash_mla(query, ori_kv, cmp_kv, None, cmp_sparse_indices, ori_block_table, "
            "cmp_block_table, cu_seqlens_q, cu_seqlens_ori_kv, cu_seqlens_cmp_kv, None, "
            "seqused_ori_kv, seqused_cmp_kv, cmp_residual_kv, None, None, sinks, metadata, "
            "softmax_scale, cmp_ratio, ori_mask_mode, cmp_mask_mode, ori_win_left, ori_win_right, "
            "layout_q, layout_kv, 1, return_softmax_lse, attention_out, "
            "softmax_lse if return_softmax_lse else None)",
        ),
        {
            **_MLA,
            "query": "Shape as ``layout_q`` says, 512 elements to a head, the last 64 of them "
            "rotary.",
            "ori_kv": "Keys, which are also the values; shape as ``layout_kv`` says, one head.",
            "sinks": "A score of each head that takes part in the softmax without a value, "
            "float32.",
            "metadata": "What `sparse_flash_mla_metadata` gave for the same lengths.",
            "cmp_kv": "Compressed keys, with a layout as that of ``ori_kv``.",
            "cmp_sparse_indices": "The compressed keys that each token chooses, int32.",
            "ori_block_table": "Pages of ``ori_kv`` of each sequence, int32.",
            "cmp_block_table": "Pages of ``cmp_kv`` of each sequence, int32.",
            "softmax_scale": "Factor of the products.",
            "return_softmax_lse": "Whether to give the logarithm too.",
        },
        steps=("expect_flags(return_softmax_lse=return_softmax_lse)",),
    ),
)  # fmt: skip
