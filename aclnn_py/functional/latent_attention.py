# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Latent attention: what stands before it, the choice of keys, and attention over those."""

from __future__ import annotations

from math import prod

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.functional.latent import (
    absorbed_shape,
    chosen_keys_shape,
    heads_of,
    if_asked,
    key_sums_shape,
    with_width,
)
from aclnn_py.operators.describe.argument_errors import expect_flags, expect_tensors, expect_whole
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "lightning_indexer",
    "lightning_indexer_v2",
    "mla_preprocess",
    "mla_prolog",
    "mla_prolog_v3",
    "quant_lightning_indexer",
    "sparse_flash_attention",
    "sparse_flash_mla",
    "sparse_flash_mla_metadata",
]


def mla_preprocess(
    input: Tensor,
    gamma0: Tensor,
    beta0: Tensor,
    quant_scale0: Tensor,
    quant_offset0: Tensor,
    wdqkv: Tensor,
    de_scale0: Tensor,
    bias0: Tensor,
    gamma1: Tensor,
    beta1: Tensor,
    quant_scale1: Tensor,
    quant_offset1: Tensor,
    wuq: Tensor,
    de_scale1: Tensor,
    bias1: Tensor,
    gamma2: Tensor,
    cos: Tensor,
    sin: Tensor,
    wuk: Tensor,
    kv_cache: Tensor,
    kv_cache_rope: Tensor | None,
    slot_mapping: Tensor,
    *,
    epsilon: float = 1e-05,
    cache_mode: int = 1,
    do_rms_norm: bool = True,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Make the queries of latent attention with products of 8 bits, and write its keys into caches.

    Parameters
    ----------
    input : Tensor
        Tokens, float16 or bfloat16, ``(tokens, hidden)``. Norms, scales, ``cos``, ``sin``, ``wuk``
        and caches have its dtype. 2 dimensions; dtype float16 | bfloat16.
    gamma0 : Tensor
        Weight of the norm of the tokens, ``(hidden,)``. 1 dimension; dtype float16 | bfloat16.
    beta0 : Tensor
        Added behind it. 1 dimension; dtype float16 | bfloat16.
    quant_scale0 : Tensor
        What the tokens are divided by before they are rounded to int8, ``(1,)``. 1 dimension; dtype
        float16 | bfloat16.
    quant_offset0 : Tensor
        Added then, int8, ``(1,)``. 1 dimension; dtype int8.
    wdqkv : Tensor
        Tokens to latent keys, a rotary key and latent queries, int8, ``(latent width + rotary width
        + rank, hidden)``, format FRACTAL_NZ. Dtype int8.
    de_scale0 : Tensor
        Scales of the rows of ``wdqkv``: float32 beside bfloat16; beside float16 the bits of float32
        in int64. 1 dimension; dtype float32 | int64.
    bias0 : Tensor
        Added before these scales, int32. 1 dimension; dtype int32.
    gamma1 : Tensor
        Weight of the norm of latent queries, ``(rank,)``. 1 dimension; dtype float16 | bfloat16.
    beta1 : Tensor
        Added behind it. 1 dimension; dtype float16 | bfloat16.
    quant_scale1 : Tensor
        As ``quant_scale0``, for latent queries. 1 dimension; dtype float16 | bfloat16.
    quant_offset1 : Tensor
        As ``quant_offset0``. 1 dimension; dtype int8.
    wuq : Tensor
        Latent queries to heads and rotary parts, int8, ``(heads * (head width + rotary width),
        rank)``, format FRACTAL_NZ. Dtype int8.
    de_scale1 : Tensor
        Scales of the rows of ``wuq``, as ``de_scale0``. Dtype float32 | int64.
    bias1 : Tensor
        Added before these scales, int32. Dtype int32.
    gamma2 : Tensor
        Weight of the norm of latent keys, ``(latent width,)``. 1 dimension; dtype float16 |
        bfloat16.
    cos : Tensor
        Cosines of the angles of each token, ``(tokens, rotary width)``. 2 dimensions; dtype float16
        | bfloat16.
    sin : Tensor
        Sines of the angles. 2 dimensions; dtype float16 | bfloat16.
    wuk : Tensor
        Queries of each head into the space of latent keys, ``(heads, head width, latent width)``. 3
        dimensions; dtype float16 | bfloat16.
    kv_cache : Tensor
        Written: pages of latent keys, ``(pages, 128, 1, latent width)``; with ``cache_mode`` 0 and
        the rotary key behind each. 4 dimensions; dtype float16 | bfloat16.
    kv_cache_rope : Tensor, optional
        Written too: pages of rotary keys, ``(pages, 128, 1, rotary width)``; None with
        ``cache_mode`` 0. Dtype float16 | bfloat16.
    slot_mapping : Tensor
        Where each token goes in the caches, int32; a number below 0 writes nothing. 1 dimension;
        dtype int32.
    epsilon : float, default 1e-05
        Added to the mean squares.
    cache_mode : int, default 1
        0: one cache; 1: two; 3: two in blocks of 32 bytes.
    do_rms_norm : bool, default True
        Whether the tokens go through their norm.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    query : Tensor
        Queries in latent space, dtype of ``input``; shape ``(tokens, heads, latent width)``, with
        ``cache_mode`` 0 and the rotary part behind each.
    query_rope : Tensor
        Rotary part of the queries, ``(tokens, heads, rotary width)``; without elements with
        ``cache_mode`` 0.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMlaPreprocess (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        input=input,
        gamma0=gamma0,
        beta0=beta0,
        quant_scale0=quant_scale0,
        quant_offset0=quant_offset0,
        wdqkv=wdqkv,
        de_scale0=de_scale0,
        bias0=bias0,
        gamma1=gamma1,
        beta1=beta1,
        quant_scale1=quant_scale1,
        quant_offset1=quant_offset1,
        wuq=wuq,
        de_scale1=de_scale1,
        bias1=bias1,
        gamma2=gamma2,
        cos=cos,
        sin=sin,
        wuk=wuk,
        kv_cache=kv_cache,
        slot_mapping=slot_mapping,
    )
    expect_optional(kv_cache_rope=kv_cache_rope)
    expect_whole(cache_mode=cache_mode)
    expect_flags(do_rms_norm=do_rms_norm)
    query = empty(
        absorbed_shape(
            input, wuk, None if cache_mode else with_width(wuk=wuk) + with_width(cos=cos)
        ),
        input.dtype_name,
        device=input.device,
    )
    query_rope = empty(
        if_asked(cache_mode != 0, *absorbed_shape(input, wuk, with_width(cos=cos))),
        input.dtype_name,
        device=input.device,
    )
    ops.mla_preprocess(
        input=input,
        gamma0=gamma0,
        beta0=beta0,
        quant_scale0=quant_scale0,
        quant_offset0=quant_offset0,
        wdqkv=wdqkv,
        de_scale0=de_scale0,
        bias0=bias0,
        gamma1=gamma1,
        beta1=beta1,
        quant_scale1=quant_scale1,
        quant_offset1=quant_offset1,
        wuq=wuq,
        de_scale1=de_scale1,
        bias1=bias1,
        gamma2=gamma2,
        cos=cos,
        sin=sin,
        wuk=wuk,
        kv_cache=kv_cache,
        kv_cache_rope=kv_cache_rope,
        slot_mapping=slot_mapping,
        ctkv_scale=None,
        q_nope_scale=None,
        wdq_dim=with_width(gamma1=gamma1),
        q_rope_dim=with_width(cos=cos),
        k_rope_dim=with_width(cos=cos),
        epsilon=epsilon,
        q_rotary_coeff=2,
        k_rotary_coeff=2,
        transpose_wdq=True,
        transpose_wuq=True,
        transpose_wuk=True,
        cache_mode=cache_mode,
        quant_mode=0,
        do_rms_norm=do_rms_norm,
        wdkv_split_count=1,
        q_out=query,
        kv_cache_out=kv_cache,
        q_rope_out=query_rope if cache_mode else None,
        kr_cache_out=kv_cache_rope,
        stream=stream,
    )
    return query, query_rope


def mla_prolog(
    token_x: Tensor,
    weight_dq: Tensor,
    weight_uq_qr: Tensor,
    weight_uk: Tensor,
    weight_dkv_kr: Tensor,
    rmsnorm_gamma_cq: Tensor,
    rmsnorm_gamma_ckv: Tensor,
    rope_sin: Tensor,
    rope_cos: Tensor,
    cache_index: Tensor,
    kv_cache: Tensor,
    kr_cache: Tensor,
    *,
    dequant_scale_x: Tensor | None = None,
    dequant_scale_w_dq: Tensor | None = None,
    dequant_scale_w_uq_qr: Tensor | None = None,
    dequant_scale_w_dkv_kr: Tensor | None = None,
    quant_scale_ckv: Tensor | None = None,
    quant_scale_ckr: Tensor | None = None,
    smooth_scales_cq: Tensor | None = None,
    rmsnorm_epsilon_cq: float = 1e-05,
    rmsnorm_epsilon_ckv: float = 1e-05,
    cache_mode: str = "PA_BSND",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Make the queries of latent attention, and write latent and rotary keys into caches.

    Parameters
    ----------
    token_x : Tensor
        Tokens, bfloat16 or int8; shape ``(tokens, hidden)`` or ``(batch, tokens, hidden)``. 2 to 3
        dimensions; dtype bfloat16.
    weight_dq : Tensor
        Tokens to latent queries, ``(hidden, rank)``; int8 or bfloat16, format FRACTAL_NZ. 2
        dimensions; dtype bfloat16.
    weight_uq_qr : Tensor
        Latent queries to heads and rotary parts, ``(rank, heads * (head width + rotary width))``;
        int8 or bfloat16, format FRACTAL_NZ. 2 dimensions; dtype bfloat16 | int8.
    weight_uk : Tensor
        Queries of each head into the space of latent keys, bfloat16, ``(heads, head width, latent
        width)``. 3 dimensions; dtype bfloat16.
    weight_dkv_kr : Tensor
        Tokens to latent keys and a rotary key, ``(hidden, latent width + rotary width)``; int8 or
        bfloat16, format FRACTAL_NZ. 2 dimensions; dtype bfloat16.
    rmsnorm_gamma_cq : Tensor
        Weight of the norm of latent queries, ``(rank,)``. 1 dimension; dtype bfloat16.
    rmsnorm_gamma_ckv : Tensor
        Weight of the norm of latent keys, ``(latent width,)``. 1 dimension; dtype bfloat16.
    rope_sin : Tensor
        Sines of the angles of each token, bfloat16; shape ``(tokens, rotary width)``. Dtype
        bfloat16.
    rope_cos : Tensor
        Cosines of the angles, shape of ``rope_sin``. Dtype bfloat16.
    cache_index : Tensor
        Where each token goes in the caches, int64; shape of the tokens. Dtype int64.
    kv_cache : Tensor
        Written: pages of latent keys, ``(pages, page size, 1, latent width)``. 4 dimensions; dtype
        bfloat16 | int8.
    kr_cache : Tensor
        Written too: pages of rotary keys, ``(pages, page size, 1, rotary width)``. 4 dimensions;
        dtype bfloat16 | int8.
    dequant_scale_x : Tensor, optional
        Scales of int8 tokens, float32, ``(tokens, 1)``. Dtype float32.
    dequant_scale_w_dq : Tensor, optional
        Scales of the columns of an int8 ``weight_dq``, ``(1, rank)``. 2 dimensions.
    dequant_scale_w_uq_qr : Tensor, optional
        Scales of the columns of an int8 ``weight_uq_qr``. 2 dimensions; dtype float32.
    dequant_scale_w_dkv_kr : Tensor, optional
        Scales of the columns of an int8 ``weight_dkv_kr``. 2 dimensions.
    quant_scale_ckv : Tensor, optional
        What latent keys are divided by before they go to an int8 cache. 2 dimensions; dtype
        float32.
    quant_scale_ckr : Tensor, optional
        The same for rotary keys. 2 dimensions; dtype float32.
    smooth_scales_cq : Tensor, optional
        What latent queries are multiplied by before they are quantised, ``(1, rank)``. 2
        dimensions; dtype float32.
    rmsnorm_epsilon_cq : float, default 1e-05
        Added to the mean square of latent queries.
    rmsnorm_epsilon_ckv : float, default 1e-05
        Added to the mean square of latent keys.
    cache_mode : str, default 'PA_BSND'
        'PA_BSND', or 'PA_NZ' for pages in blocks of 32 bytes.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    query : Tensor
        Queries in latent space, shape ``(tokens, heads, latent width)``, with a dimension more
        where ``token_x`` has 3; bfloat16, or int8 where tokens and cache are quantised.
    query_rope : Tensor
        Rotary part of the queries, bfloat16; shape ``(tokens, heads, rotary width)``.
    query_scale : Tensor
        Scales of int8 queries, float32; shape ``(tokens, heads, 1)``. Without elements unless
        ``query`` is int8.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMlaProlog (``include/aclnnop/attention.h``), CANN >= 8.1.RC1; aclnnMlaPrologV2WeightNz
    (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        token_x=token_x,
        weight_dq=weight_dq,
        weight_uq_qr=weight_uq_qr,
        weight_uk=weight_uk,
        weight_dkv_kr=weight_dkv_kr,
        rmsnorm_gamma_cq=rmsnorm_gamma_cq,
        rmsnorm_gamma_ckv=rmsnorm_gamma_ckv,
        rope_sin=rope_sin,
        rope_cos=rope_cos,
        cache_index=cache_index,
        kv_cache=kv_cache,
        kr_cache=kr_cache,
    )
    expect_optional(
        dequant_scale_x=dequant_scale_x,
        dequant_scale_w_dq=dequant_scale_w_dq,
        dequant_scale_w_uq_qr=dequant_scale_w_uq_qr,
        dequant_scale_w_dkv_kr=dequant_scale_w_dkv_kr,
        quant_scale_ckv=quant_scale_ckv,
        quant_scale_ckr=quant_scale_ckr,
        smooth_scales_cq=smooth_scales_cq,
    )
    quantised = dequant_scale_x is not None and quant_scale_ckv is not None
    query = empty(
        absorbed_shape(token_x, weight_uk),
        "int8" if quantised else "bfloat16",
        device=token_x.device,
    )
    query_rope = empty(
        absorbed_shape(token_x, weight_uk, with_width(rope_cos=rope_cos)),
        "bfloat16",
        device=token_x.device,
    )
    query_scale = empty(
        if_asked(quantised, prod(token_x.shape[:-1]), heads_of(weight_uk=weight_uk[:, 0]), 1),
        "float32",
        device=token_x.device,
    )
    if dequant_scale_x is None:
        ops.mla_prolog(
            token_x=token_x,
            weight_dq=weight_dq,
            weight_uq_qr=weight_uq_qr,
            weight_uk=weight_uk,
            weight_dkv_kr=weight_dkv_kr,
            rmsnorm_gamma_cq=rmsnorm_gamma_cq,
            rmsnorm_gamma_ckv=rmsnorm_gamma_ckv,
            rope_sin=rope_sin,
            rope_cos=rope_cos,
            cache_index=cache_index,
            kv_cache_ref=kv_cache,
            kr_cache_ref=kr_cache,
            dequant_scale_x=dequant_scale_x,
            dequant_scale_w_dq=dequant_scale_w_dq,
            dequant_scale_w_uq_qr=dequant_scale_w_uq_qr,
            dequant_scale_w_dkv_kr=dequant_scale_w_dkv_kr,
            quant_scale_ckv=quant_scale_ckv,
            quant_scale_ckr=quant_scale_ckr,
            smooth_scales_cq=smooth_scales_cq,
            rmsnorm_epsilon_cq=rmsnorm_epsilon_cq,
            rmsnorm_epsilon_ckv=rmsnorm_epsilon_ckv,
            cache_mode=cache_mode,
            query_out=query,
            query_rope_out=query_rope,
            stream=stream,
        )
    else:
        ops.mla_prolog_v2_weight_nz(
            token_x=token_x,
            weight_dq=weight_dq,
            weight_uq_qr=weight_uq_qr,
            weight_uk=weight_uk,
            weight_dkv_kr=weight_dkv_kr,
            rmsnorm_gamma_cq=rmsnorm_gamma_cq,
            rmsnorm_gamma_ckv=rmsnorm_gamma_ckv,
            rope_sin=rope_sin,
            rope_cos=rope_cos,
            cache_index=cache_index,
            kv_cache_ref=kv_cache,
            kr_cache_ref=kr_cache,
            dequant_scale_x=dequant_scale_x,
            dequant_scale_w_dq=dequant_scale_w_dq,
            dequant_scale_w_uq_qr=dequant_scale_w_uq_qr,
            dequant_scale_w_dkv_kr=dequant_scale_w_dkv_kr,
            quant_scale_ckv=quant_scale_ckv,
            quant_scale_ckr=quant_scale_ckr,
            smooth_scales_cq=smooth_scales_cq,
            rmsnorm_epsilon_cq=rmsnorm_epsilon_cq,
            rmsnorm_epsilon_ckv=rmsnorm_epsilon_ckv,
            cache_mode=cache_mode,
            query_out=query,
            query_rope_out=query_rope,
            dequant_scale_q_nope_out=query_scale if quantised else None,
            stream=stream,
        )
    return query, query_rope, query_scale


def mla_prolog_v3(
    token_x: Tensor,
    weight_dq: Tensor,
    weight_uq_qr: Tensor,
    weight_uk: Tensor,
    weight_dkv_kr: Tensor,
    rmsnorm_gamma_cq: Tensor,
    rmsnorm_gamma_ckv: Tensor,
    rope_sin: Tensor,
    rope_cos: Tensor,
    kv_cache: Tensor,
    kr_cache: Tensor,
    *,
    cache_index: Tensor | None = None,
    dequant_scale_x: Tensor | None = None,
    dequant_scale_w_dq: Tensor | None = None,
    dequant_scale_w_uq_qr: Tensor | None = None,
    dequant_scale_w_dkv_kr: Tensor | None = None,
    quant_scale_ckv: Tensor | None = None,
    quant_scale_ckr: Tensor | None = None,
    smooth_scales_cq: Tensor | None = None,
    actual_seq_len: Tensor | None = None,
    rmsnorm_epsilon_cq: float = 1e-05,
    rmsnorm_epsilon_ckv: float = 1e-05,
    cache_mode: str = "PA_BSND",
    weight_quant_mode: int = 0,
    kv_cache_quant_mode: int = 0,
    qc_qr_scale: float = 1.0,
    kc_scale: float = 1.0,
    query_norm_flag: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Make the queries of latent attention with the factors and norms of its third version.

    Parameters
    ----------
    token_x : Tensor
        Tokens, bfloat16 or int8; shape ``(tokens, hidden)`` or ``(batch, tokens, hidden)``. 2 to 3
        dimensions; dtype bfloat16 | int8 | float8_e4m3fn | hifloat8.
    weight_dq : Tensor
        Tokens to latent queries, ``(hidden, rank)``; int8 or bfloat16, format FRACTAL_NZ. 2
        dimensions; dtype bfloat16 | int8 | float8_e4m3fn | hifloat8.
    weight_uq_qr : Tensor
        Latent queries to heads and rotary parts, ``(rank, heads * (head width + rotary width))``;
        int8 or bfloat16, format FRACTAL_NZ. 2 dimensions; dtype bfloat16 | int8 | float8_e4m3fn |
        hifloat8.
    weight_uk : Tensor
        Queries of each head into the space of latent keys, bfloat16, ``(heads, head width, latent
        width)``. 3 dimensions; dtype bfloat16.
    weight_dkv_kr : Tensor
        Tokens to latent keys and a rotary key, ``(hidden, latent width + rotary width)``; int8 or
        bfloat16, format FRACTAL_NZ. 2 dimensions; dtype bfloat16 | int8 | float8_e4m3fn | hifloat8.
    rmsnorm_gamma_cq : Tensor
        Weight of the norm of latent queries, ``(rank,)``. 1 dimension; dtype bfloat16.
    rmsnorm_gamma_ckv : Tensor
        Weight of the norm of latent keys, ``(latent width,)``. 1 dimension; dtype bfloat16.
    rope_sin : Tensor
        Sines of the angles of each token, bfloat16; shape ``(tokens, rotary width)``. Dtype
        bfloat16.
    rope_cos : Tensor
        Cosines of the angles, shape of ``rope_sin``. Dtype bfloat16.
    kv_cache : Tensor
        Written: pages of latent keys, ``(pages, page size, 1, latent width)``. Dtype bfloat16 |
        int8 | float8_e4m3fn | hifloat8.
    kr_cache : Tensor
        Written too: pages of rotary keys, ``(pages, page size, 1, rotary width)``. Dtype bfloat16 |
        int8.
    cache_index : Tensor, optional
        Where each token goes in the caches, int64; None where the caches lie as the tokens. 1
        dimension; dtype int64.
    dequant_scale_x : Tensor, optional
        Scales of int8 tokens, float32, ``(tokens, 1)``. Dtype float32 | float8_e8m0.
    dequant_scale_w_dq : Tensor, optional
        Scales of the columns of an int8 ``weight_dq``, ``(1, rank)``. Dtype float32 | float8_e8m0.
    dequant_scale_w_uq_qr : Tensor, optional
        Scales of the columns of an int8 ``weight_uq_qr``. Dtype float32 | float8_e8m0.
    dequant_scale_w_dkv_kr : Tensor, optional
        Scales of the columns of an int8 ``weight_dkv_kr``. Dtype float32 | float8_e8m0.
    quant_scale_ckv : Tensor, optional
        What latent keys are divided by before they go to an int8 cache. Dtype float32.
    quant_scale_ckr : Tensor, optional
        The same for rotary keys. 2 dimensions; dtype float32.
    smooth_scales_cq : Tensor, optional
        What latent queries are multiplied by before they are quantised, ``(1, rank)``. 2
        dimensions; dtype float32.
    actual_seq_len : Tensor, optional
        Where each sequence ends, int32, for a cache of blocks. 1 dimension; dtype int32.
    rmsnorm_epsilon_cq : float, default 1e-05
        Added to the mean square of latent queries.
    rmsnorm_epsilon_ckv : float, default 1e-05
        Added to the mean square of latent keys.
    cache_mode : str, default 'PA_BSND'
        'PA_BSND', 'PA_NZ', 'PA_BLK_BSND', 'PA_BLK_NZ', 'BSND' or 'TND'.
    weight_quant_mode : int, default 0
        0: no weight is int8; 1: ``weight_uq_qr``; 2: the tokens and all weights but ``weight_uk``.
    kv_cache_quant_mode : int, default 0
        0: none; 1: ``kv_cache`` with one scale; 2: both caches with a scale for each element.
    qc_qr_scale : float, default 1.0
        Factor of the norm of latent queries.
    kc_scale : float, default 1.0
        Factor of the norm of latent keys.
    query_norm_flag : bool, default False
        Whether to give the latent queries behind their norm.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    query : Tensor
        Queries in latent space, shape ``(tokens, heads, latent width)``, with a dimension more
        where ``token_x`` has 3; bfloat16, or int8 where tokens and cache are quantised.
    query_rope : Tensor
        Rotary part of the queries, bfloat16; shape ``(tokens, heads, rotary width)``.
    query_scale : Tensor
        Scales of int8 queries, float32; shape ``(tokens, heads, 1)``. Without elements unless
        ``query`` is int8.
    query_norm : Tensor
        Latent queries behind their norm, bfloat16, or int8 where ``weight_uq_qr`` is; shape
        ``(tokens, rank)``. Without elements unless ``query_norm_flag`` is set.
    query_norm_scale : Tensor
        Scales of int8 ``query_norm``, float32, shape ``(tokens, 1)``; else without elements.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMlaPrologV3WeightNz (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        token_x=token_x,
        weight_dq=weight_dq,
        weight_uq_qr=weight_uq_qr,
        weight_uk=weight_uk,
        weight_dkv_kr=weight_dkv_kr,
        rmsnorm_gamma_cq=rmsnorm_gamma_cq,
        rmsnorm_gamma_ckv=rmsnorm_gamma_ckv,
        rope_sin=rope_sin,
        rope_cos=rope_cos,
        kv_cache=kv_cache,
        kr_cache=kr_cache,
    )
    expect_optional(
        cache_index=cache_index,
        dequant_scale_x=dequant_scale_x,
        dequant_scale_w_dq=dequant_scale_w_dq,
        dequant_scale_w_uq_qr=dequant_scale_w_uq_qr,
        dequant_scale_w_dkv_kr=dequant_scale_w_dkv_kr,
        quant_scale_ckv=quant_scale_ckv,
        quant_scale_ckr=quant_scale_ckr,
        smooth_scales_cq=smooth_scales_cq,
        actual_seq_len=actual_seq_len,
    )
    expect_flags(query_norm_flag=query_norm_flag)
    expect_whole(weight_quant_mode=weight_quant_mode, kv_cache_quant_mode=kv_cache_quant_mode)
    quantised = weight_quant_mode == 2 and kv_cache_quant_mode != 0
    query = empty(
        absorbed_shape(token_x, weight_uk),
        "int8" if quantised else "bfloat16",
        device=token_x.device,
    )
    query_rope = empty(
        absorbed_shape(token_x, weight_uk, with_width(rope_cos=rope_cos)),
        "bfloat16",
        device=token_x.device,
    )
    query_scale = empty(
        if_asked(quantised, prod(token_x.shape[:-1]), heads_of(weight_uk=weight_uk[:, 0]), 1),
        "float32",
        device=token_x.device,
    )
    query_norm = empty(
        if_asked(query_norm_flag, *token_x.shape[:-1], with_width(weight_dq=weight_dq)),
        "int8" if weight_quant_mode else "bfloat16",
        device=token_x.device,
    )
    query_norm_scale = empty(
        if_asked(query_norm_flag and weight_quant_mode != 0, prod(token_x.shape[:-1]), 1),
        "float32",
        device=token_x.device,
    )
    ops.mla_prolog_v3_weight_nz(
        token_x=token_x,
        weight_dq=weight_dq,
        weight_uq_qr=weight_uq_qr,
        weight_uk=weight_uk,
        weight_dkv_kr=weight_dkv_kr,
        rmsnorm_gamma_cq=rmsnorm_gamma_cq,
        rmsnorm_gamma_ckv=rmsnorm_gamma_ckv,
        rope_sin=rope_sin,
        rope_cos=rope_cos,
        kv_cache_ref=kv_cache,
        kr_cache_ref=kr_cache,
        cache_index=cache_index,
        dequant_scale_x=dequant_scale_x,
        dequant_scale_w_dq=dequant_scale_w_dq,
        dequant_scale_w_uq_qr=dequant_scale_w_uq_qr,
        dequant_scale_w_dkv_kr=dequant_scale_w_dkv_kr,
        quant_scale_ckv=quant_scale_ckv,
        quant_scale_ckr=quant_scale_ckr,
        smooth_scales_cq=smooth_scales_cq,
        actual_seq_len=actual_seq_len,
        k_nope_clip_alpha=None,
        rmsnorm_epsilon_cq=rmsnorm_epsilon_cq,
        rmsnorm_epsilon_ckv=rmsnorm_epsilon_ckv,
        cache_mode=cache_mode,
        weight_quant_mode=weight_quant_mode,
        kv_cache_quant_mode=kv_cache_quant_mode,
        query_quant_mode=int(quantised),
        ckvkr_repo_mode=0,
        quant_scale_repo_mode=0,
        tile_size=128,
        qc_qr_scale=qc_qr_scale,
        kc_scale=kc_scale,
        query_out=query,
        query_rope_out=query_rope,
        dequant_scale_q_nope_out=query_scale if quantised else None,
        query_norm_out=query_norm if query_norm_flag else None,
        dequant_scale_q_norm_out=query_norm_scale
        if query_norm_flag and weight_quant_mode != 0
        else None,
        stream=stream,
    )
    return query, query_rope, query_scale, query_norm, query_norm_scale


def lightning_indexer(
    query: Tensor,
    key: Tensor,
    weights: Tensor,
    *,
    actual_seq_lengths_query: Tensor | None = None,
    actual_seq_lengths_key: Tensor | None = None,
    block_table: Tensor | None = None,
    layout_query: str = "BSND",
    layout_key: str = "BSND",
    sparse_count: int = 2048,
    sparse_mode: int = 3,
    pre_tokens: int = 9223372036854775807,
    next_tokens: int = 9223372036854775807,
    return_values: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Choose the keys that matter most to each token.

    Parameters
    ----------
    query : Tensor
        Shape as ``layout_query`` says, 128 elements to a head. Dtype float16 | bfloat16.
    key : Tensor
        Shape as ``layout_key`` says, one head. 4 dimensions; dtype float16 | bfloat16.
    weights : Tensor
        Weight of each head of ``query``; shape of ``query`` without the last dimension. Dtype
        float32 | float16 | bfloat16.
    actual_seq_lengths_query : Tensor, optional
        Number of tokens of each query, int32; with 'TND' where each ends. 1 dimension; dtype int32.
    actual_seq_lengths_key : Tensor, optional
        Number of keys of each sequence, int32; with 'TND' where each ends. 1 dimension; dtype
        int32.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    layout_query : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    layout_key : str, default 'BSND'
        'BSND', 'TND' or 'PA_BSND' (pages).
    sparse_count : int, default 2048
        How many keys each token gets.
    sparse_mode : int, default 3
        3: a token sees the keys up to its own; 0: all.
    pre_tokens : int, default 9223372036854775807
        How many keys before its own a token sees; the operator takes all only.
    next_tokens : int, default 9223372036854775807
        How many keys after its own a token sees; the operator takes all only.
    return_values : bool, default False
        Whether to give the scores; not with pages.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    indices : Tensor
        Positions of the keys with the highest scores, int32, the highest first; -1 where there are
        fewer. Shape ``(..., key heads, sparse_count)``.
    values : Tensor
        Scores of those keys, dtype of ``query``, -inf where there are fewer. Without elements
        unless ``return_values`` is set.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The score of a key is the sum over heads of ``weights * max(query @ key, 0)``. Of equal scores
    the key in front is chosen.

    Source
    ------
    aclnnLightningIndexer (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, weights=weights)
    expect_optional(
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_key=actual_seq_lengths_key,
        block_table=block_table,
    )
    expect_flags(return_values=return_values)
    indices = empty(chosen_keys_shape(query, key, sparse_count), "int32", device=query.device)
    values = empty(if_asked(return_values, *indices.shape), query.dtype_name, device=query.device)
    ops.lightning_indexer(
        query=query,
        key=key,
        weights=weights,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_key=actual_seq_lengths_key,
        block_table=block_table,
        layout_query=layout_query,
        layout_key=layout_key,
        sparse_count=sparse_count,
        sparse_mode=sparse_mode,
        pre_tokens=pre_tokens,
        next_tokens=next_tokens,
        return_values=return_values,
        sparse_indices_out=indices,
        sparse_values_out=values,
        stream=stream,
    )
    return indices, values


def lightning_indexer_v2(
    query: Tensor,
    key: Tensor,
    weights: Tensor,
    *,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k: Tensor | None = None,
    seqused_k: Tensor | None = None,
    cmp_residual_k: Tensor | None = None,
    block_table: Tensor | None = None,
    metadata: Tensor | None = None,
    sparse_count: int = 2048,
    max_seqlen_q: int = -1,
    layout_q: str = "BSND",
    layout_k: str = "BSND",
    mask_mode: int = 3,
    cmp_ratio: int = 1,
    return_values: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Choose the keys that matter most to each token, also among compressed keys.

    Parameters
    ----------
    query : Tensor
        Shape as ``layout_q`` says, 128 elements to a head. Dtype float16 | bfloat16.
    key : Tensor
        Shape as ``layout_k`` says, one head. Dtype float16 | bfloat16.
    weights : Tensor
        Weight of each head of ``query``, float32; shape of ``query`` without the last dimension.
        Dtype float32.
    cu_seqlens_q : Tensor, optional
        Where each query ends, int32, from 0 on; for 'TND'. 1 dimension; dtype int32.
    cu_seqlens_k : Tensor, optional
        Where the keys of each sequence end, int32, from 0 on; for 'TND'. 1 dimension; dtype int32.
    seqused_k : Tensor, optional
        Number of keys of each sequence, int32. 1 dimension; dtype int32.
    cmp_residual_k : Tensor, optional
        Tokens of each sequence behind its last compressed key, int32. 1 dimension; dtype int32.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    metadata : Tensor, optional
        The list of tasks of the operator that makes it, int32. Dtype int32.
    sparse_count : int, default 2048
        How many keys each token gets.
    max_seqlen_q : int, default -1
        Tokens of the longest query; -1: not given.
    layout_q : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    layout_k : str, default 'BSND'
        'BSND', 'TND' or 'PA_BBND' (pages).
    mask_mode : int, default 3
        3: a token sees the keys up to its own; 0: all.
    cmp_ratio : int, default 1
        How many tokens a key stands for.
    return_values : bool, default False
        Whether to give the scores.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    indices : Tensor
        Positions of the keys with the highest scores, int32, the highest first; -1 where there are
        fewer. Shape ``(..., key heads, sparse_count)``.
    values : Tensor
        Scores of those keys, float32, -inf where there are fewer. Without elements unless
        ``return_values`` is set.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLightningIndexerV2 (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, weights=weights)
    expect_optional(
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_k=cu_seqlens_k,
        seqused_k=seqused_k,
        cmp_residual_k=cmp_residual_k,
        block_table=block_table,
        metadata=metadata,
    )
    expect_flags(return_values=return_values)
    indices = empty(chosen_keys_shape(query, key, sparse_count), "int32", device=query.device)
    values = empty(if_asked(return_values, *indices.shape), "float32", device=query.device)
    ops.lightning_indexer_v2(
        q=query,
        k=key,
        w=weights,
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_k=cu_seqlens_k,
        seqused_q=None,
        seqused_k=seqused_k,
        cmp_residual_k=cmp_residual_k,
        block_table=block_table,
        output_idx_offset=None,
        metadata=metadata,
        topk=sparse_count,
        max_seqlen_q=max_seqlen_q,
        layout_q=layout_q,
        layout_k=layout_k,
        mask_mode=mask_mode,
        cmp_ratio=cmp_ratio,
        return_value=int(return_values),
        sparse_indices=indices,
        sparse_values=values,
        stream=stream,
    )
    return indices, values


@remembered
def quant_lightning_indexer(
    query: Tensor,
    key: Tensor,
    weights: Tensor,
    *,
    query_scale: Tensor,
    key_scale: Tensor,
    actual_seq_lengths_query: Tensor | None = None,
    actual_seq_lengths_key: Tensor | None = None,
    block_table: Tensor | None = None,
    layout_query: str = "BSND",
    layout_key: str = "BSND",
    sparse_count: int = 2048,
    sparse_mode: int = 3,
    pre_tokens: int = 9223372036854775807,
    next_tokens: int = 9223372036854775807,
    stream: Stream | None = None,
) -> Tensor:
    """Choose the keys that matter most to each token, from quantised queries and keys.

    Parameters
    ----------
    query : Tensor
        Shape as ``layout_query`` says, 128 elements to a head. Dtype int8 | float8_e4m3fn |
        hifloat8.
    key : Tensor
        Shape as ``layout_key`` says, one head. 4 dimensions; dtype int8 | float8_e4m3fn | hifloat8.
    weights : Tensor
        Weight of each head of ``query``; shape of ``query`` without the last dimension. Dtype
        float16 | bfloat16.
    query_scale : Tensor
        Scale of each token and head, float16; shape of ``weights``. Dtype float16 | float32.
    key_scale : Tensor
        Scale of each key, float16; shape of ``key`` without the last dimension. Dtype float16 |
        float32.
    actual_seq_lengths_query : Tensor, optional
        Number of tokens of each query, int32; with 'TND' where each ends. 1 dimension; dtype int32.
    actual_seq_lengths_key : Tensor, optional
        Number of keys of each sequence, int32; with 'TND' where each ends. 1 dimension; dtype
        int32.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    layout_query : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    layout_key : str, default 'BSND'
        'BSND', 'TND' or 'PA_BSND' (pages).
    sparse_count : int, default 2048
        How many keys each token gets.
    sparse_mode : int, default 3
        3: a token sees the keys up to its own; 0: all.
    pre_tokens : int, default 9223372036854775807
        How many keys before its own a token sees; the operator takes all only.
    next_tokens : int, default 9223372036854775807
        How many keys after its own a token sees; the operator takes all only.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Positions of the keys with the highest scores, int32, the highest first; -1 where there are
        fewer. Shape ``(..., key heads, sparse_count)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnQuantLightningIndexer (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        query=query, key=key, weights=weights, query_scale=query_scale, key_scale=key_scale
    )
    expect_optional(
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_key=actual_seq_lengths_key,
        block_table=block_table,
    )
    indices = empty(chosen_keys_shape(query, key, sparse_count), "int32", device=query.device)
    ops.quant_lightning_indexer(
        query=query,
        key=key,
        weights=weights,
        query_dequant_scale=query_scale,
        key_dequant_scale=key_scale,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_key=actual_seq_lengths_key,
        block_table=block_table,
        query_quant_mode=0,
        key_quant_mode=0,
        layout_query=layout_query,
        layout_key=layout_key,
        sparse_count=sparse_count,
        sparse_mode=sparse_mode,
        pre_tokens=pre_tokens,
        next_tokens=next_tokens,
        out=indices,
        stream=stream,
    )
    return indices


def sparse_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_indices: Tensor,
    *,
    block_table: Tensor | None = None,
    actual_seq_lengths_query: Tensor | None = None,
    actual_seq_lengths_kv: Tensor | None = None,
    query_rope: Tensor | None = None,
    key_rope: Tensor | None = None,
    sinks: Tensor | None = None,
    scale: float = 1.0,
    sparse_block_size: int = 1,
    layout_query: str = "BSND",
    layout_kv: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = 9223372036854775807,
    next_tokens: int = 9223372036854775807,
    return_softmax_lse: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend over the keys that were chosen for each token.

    Parameters
    ----------
    query : Tensor
        Shape as ``layout_query`` says, 512 elements to a head. Dtype float16 | bfloat16.
    key : Tensor
        Shape as ``layout_kv`` says, one head. 4 dimensions; dtype float16 | bfloat16.
    value : Tensor
        Shape of ``key``. Dtype float16 | bfloat16.
    sparse_indices : Tensor
        Blocks of keys for each token, int32, as `lightning_indexer` gives them. Dtype int32.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    actual_seq_lengths_query : Tensor, optional
        Number of tokens of each query, int32; with 'TND' where each ends. 1 dimension; dtype int32.
    actual_seq_lengths_kv : Tensor, optional
        Number of keys of each sequence, int32; with 'TND' where each ends. 1 dimension; dtype
        int32.
    query_rope : Tensor, optional
        Rotary part of the queries, 64 elements to a head. Dtype float16 | bfloat16.
    key_rope : Tensor, optional
        Rotary part of the keys. Dtype float16 | bfloat16.
    sinks : Tensor, optional
        A score of each head that takes part in the softmax without a value, float32; on a 950 only.
        Dtype float32.
    scale : float, default 1.0
        Factor of the products.
    sparse_block_size : int, default 1
        Keys of a block, a power of 2 up to 128.
    layout_query : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    layout_kv : str, default 'BSND'
        'BSND', 'TND' or 'PA_BSND' (pages).
    sparse_mode : int, default 3
        3: a token sees the keys up to its own; 0: all.
    pre_tokens : int, default 9223372036854775807
        How many keys before its own a token sees; the operator takes all only.
    next_tokens : int, default 9223372036854775807
        How many keys after its own a token sees; the operator takes all only.
    return_softmax_lse : bool, default False
        Whether to give the maxima and sums; not with pages.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    attention_out : Tensor
        Shape and dtype of ``query``.
    softmax_max : Tensor
        Highest score, float32; shape ``(batch, key heads, tokens, heads / key heads)``, or without
        the batch with 'TND'. Without elements unless ``return_softmax_lse`` is set.
    softmax_sum : Tensor
        Sum of exponentials, shape and dtype of ``softmax_max``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSparseFlashAttention (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1;
    aclnnSparseFlashAttentionV2 (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value, sparse_indices=sparse_indices)
    expect_optional(
        block_table=block_table,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        query_rope=query_rope,
        key_rope=key_rope,
        sinks=sinks,
    )
    attention_out = empty(query.shape, query.dtype_name, device=query.device)
    softmax_max = empty(
        key_sums_shape(query, key, layout_query, return_softmax_lse), "float32", device=query.device
    )
    softmax_sum = empty(
        key_sums_shape(query, key, layout_query, return_softmax_lse), "float32", device=query.device
    )
    if sinks is None:
        ops.sparse_flash_attention(
            query=query,
            key=key,
            value=value,
            sparse_indices=sparse_indices,
            block_table=block_table,
            actual_seq_lengths_query=actual_seq_lengths_query,
            actual_seq_lengths_kv=actual_seq_lengths_kv,
            query_rope=query_rope,
            key_rope=key_rope,
            scale_value=scale,
            sparse_block_size=sparse_block_size,
            layout_query=layout_query,
            layout_kv=layout_kv,
            sparse_mode=sparse_mode,
            pre_tokens=pre_tokens,
            next_tokens=next_tokens,
            attention_mode=2,
            return_softmax_lse=return_softmax_lse,
            attention_out=attention_out,
            softmax_max=softmax_max,
            softmax_sum=softmax_sum,
            stream=stream,
        )
    else:
        ops.sparse_flash_attention_v2(
            query=query,
            key=key,
            value=value,
            sparse_indices=sparse_indices,
            block_table=block_table,
            actual_seq_lengths_query=actual_seq_lengths_query,
            actual_seq_lengths_kv=actual_seq_lengths_kv,
            query_rope=query_rope,
            key_rope=key_rope,
            sinks=sinks,
            scale_value=scale,
            sparse_block_size=sparse_block_size,
            layout_query=layout_query,
            layout_kv=layout_kv,
            sparse_mode=sparse_mode,
            pre_tokens=pre_tokens,
            next_tokens=next_tokens,
            attention_mode=2,
            return_softmax_lse=return_softmax_lse,
            attention_out=attention_out,
            softmax_max=softmax_max,
            softmax_sum=softmax_sum,
            stream=stream,
        )
    return attention_out, softmax_max, softmax_sum


@remembered
def sparse_flash_mla_metadata(
    num_heads_q: int,
    *,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_ori_kv: Tensor | None = None,
    cu_seqlens_cmp_kv: Tensor | None = None,
    seqused_ori_kv: Tensor | None = None,
    seqused_cmp_kv: Tensor | None = None,
    cmp_residual_kv: Tensor | None = None,
    batch_size: int = 0,
    max_seqlen_q: int = 0,
    max_seqlen_ori_kv: int = 0,
    max_seqlen_cmp_kv: int = 0,
    cmp_topk: int = 0,
    cmp_ratio: int = 1,
    ori_mask_mode: int = 4,
    cmp_mask_mode: int = 3,
    ori_win_left: int = 127,
    ori_win_right: int = 0,
    layout_q: str = "BSND",
    layout_kv: str = "BSND",
    has_cmp_kv: bool = False,
    device: Device | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Share out the work of `sparse_flash_mla` to the cores.

    Parameters
    ----------
    num_heads_q : int
        Number of heads of the queries.
    cu_seqlens_q : Tensor, optional
        Where each query begins, and the end, int32; for 'TND'. 1 dimension; dtype int32.
    cu_seqlens_ori_kv : Tensor, optional
        The same of the keys. 1 dimension; dtype int32.
    cu_seqlens_cmp_kv : Tensor, optional
        The same of the compressed keys. 1 dimension; dtype int32.
    seqused_ori_kv : Tensor, optional
        Number of keys of each sequence, int32. 1 dimension; dtype int32.
    seqused_cmp_kv : Tensor, optional
        Number of compressed keys of each sequence, int32. 1 dimension; dtype int32.
    cmp_residual_kv : Tensor, optional
        Tokens behind the last compressed key of each sequence, int32. 1 dimension; dtype int32.
    batch_size : int, default 0
        Number of sequences, where no list says it.
    max_seqlen_q : int, default 0
        Length of the queries, where no list says it.
    max_seqlen_ori_kv : int, default 0
        Length of the keys, where no list says it.
    max_seqlen_cmp_kv : int, default 0
        Number of compressed keys, where no list says it.
    cmp_topk : int, default 0
        Number of compressed keys that are chosen; 0 for all of them.
    cmp_ratio : int, default 1
        Tokens that make a compressed key.
    ori_mask_mode : int, default 4
        4: a window. On a 950 also 0: no mask, and 3: no later keys.
    cmp_mask_mode : int, default 3
        3: no later keys. On a 950 also 0: no mask.
    ori_win_left : int, default 127
        Tokens of the window in front; on a 950 any number, and -1 for all.
    ori_win_right : int, default 0
        Tokens of the window behind.
    layout_q : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    layout_kv : str, default 'BSND'
        'BSND', 'TND' or 'PA_BBND' (pages).
    has_cmp_kv : bool, default False
        Whether there are compressed keys.
    device : Device | None, default None
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        int32, shape ``(1024,)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSparseFlashMlaMetadata (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_optional(
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_ori_kv=cu_seqlens_ori_kv,
        cu_seqlens_cmp_kv=cu_seqlens_cmp_kv,
        seqused_ori_kv=seqused_ori_kv,
        seqused_cmp_kv=seqused_cmp_kv,
        cmp_residual_kv=cmp_residual_kv,
    )
    out = empty((1024,), "int32", device=device)
    ops.sparse_flash_mla_metadata(
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_ori_kv=cu_seqlens_ori_kv,
        cu_seqlens_cmp_kv=cu_seqlens_cmp_kv,
        seqused_q=None,
        seqused_ori_kv=seqused_ori_kv,
        seqused_cmp_kv=seqused_cmp_kv,
        cmp_residual_kv=cmp_residual_kv,
        ori_topk_length=None,
        cmp_topk_length=None,
        num_heads_q=num_heads_q,
        num_heads_kv=1,
        head_dim=512,
        batch_size=batch_size,
        max_seqlen_q=max_seqlen_q,
        max_seqlen_ori_kv=max_seqlen_ori_kv,
        max_seqlen_cmp_kv=max_seqlen_cmp_kv,
        ori_topk=0,
        cmp_topk=cmp_topk,
        cmp_ratio=cmp_ratio,
        ori_mask_mode=ori_mask_mode,
        cmp_mask_mode=cmp_mask_mode,
        ori_win_left=ori_win_left,
        ori_win_right=ori_win_right,
        layout_q=layout_q,
        layout_kv=layout_kv,
        has_ori_kv=True,
        has_cmp_kv=has_cmp_kv,
        meta_data=out,
        stream=stream,
    )
    return out


def sparse_flash_mla(
    query: Tensor,
    ori_kv: Tensor,
    sinks: Tensor,
    metadata: Tensor,
    *,
    cmp_kv: Tensor | None = None,
    cmp_sparse_indices: Tensor | None = None,
    ori_block_table: Tensor | None = None,
    cmp_block_table: Tensor | None = None,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_ori_kv: Tensor | None = None,
    cu_seqlens_cmp_kv: Tensor | None = None,
    seqused_ori_kv: Tensor | None = None,
    seqused_cmp_kv: Tensor | None = None,
    cmp_residual_kv: Tensor | None = None,
    softmax_scale: float = 1.0,
    cmp_ratio: int = 1,
    ori_mask_mode: int = 4,
    cmp_mask_mode: int = 3,
    ori_win_left: int = 127,
    ori_win_right: int = 0,
    layout_q: str = "BSND",
    layout_kv: str = "BSND",
    return_softmax_lse: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend over a window of keys and over compressed keys, all of them or chosen ones.

    Parameters
    ----------
    query : Tensor
        Shape as ``layout_q`` says, 512 elements to a head, the last 64 of them rotary. 3
        dimensions; dtype float16 | bfloat16.
    ori_kv : Tensor
        Keys, which are also the values; shape as ``layout_kv`` says, one head. Dtype float16 |
        bfloat16.
    sinks : Tensor
        A score of each head that takes part in the softmax without a value, float32. 1 dimension;
        dtype float32.
    metadata : Tensor
        What `sparse_flash_mla_metadata` gave for the same lengths. 1 dimension; dtype int32.
    cmp_kv : Tensor, optional
        Compressed keys, with a layout as that of ``ori_kv``. Dtype float16 | bfloat16.
    cmp_sparse_indices : Tensor, optional
        The compressed keys that each token chooses, int32. 3 dimensions; dtype int32.
    ori_block_table : Tensor, optional
        Pages of ``ori_kv`` of each sequence, int32. 2 dimensions; dtype int32.
    cmp_block_table : Tensor, optional
        Pages of ``cmp_kv`` of each sequence, int32. 2 dimensions; dtype int32.
    cu_seqlens_q : Tensor, optional
        Where each query begins, and the end, int32; for 'TND'. 1 dimension; dtype int32.
    cu_seqlens_ori_kv : Tensor, optional
        The same of the keys. 1 dimension; dtype int32.
    cu_seqlens_cmp_kv : Tensor, optional
        The same of the compressed keys. 1 dimension; dtype int32.
    seqused_ori_kv : Tensor, optional
        Number of keys of each sequence, int32. 1 dimension; dtype int32.
    seqused_cmp_kv : Tensor, optional
        Number of compressed keys of each sequence, int32. 1 dimension; dtype int32.
    cmp_residual_kv : Tensor, optional
        Tokens behind the last compressed key of each sequence, int32. 1 dimension; dtype int32.
    softmax_scale : float, default 1.0
        Factor of the products.
    cmp_ratio : int, default 1
        Tokens that make a compressed key.
    ori_mask_mode : int, default 4
        4: a window. On a 950 also 0: no mask, and 3: no later keys.
    cmp_mask_mode : int, default 3
        3: no later keys. On a 950 also 0: no mask.
    ori_win_left : int, default 127
        Tokens of the window in front; on a 950 any number, and -1 for all.
    ori_win_right : int, default 0
        Tokens of the window behind.
    layout_q : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    layout_kv : str, default 'BSND'
        'BSND', 'TND' or 'PA_BBND' (pages).
    return_softmax_lse : bool, default False
        Whether to give the logarithm too.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    attention_out : Tensor
        Shape and dtype of ``query``.
    softmax_lse : Tensor
        Logarithm of the sum of exponentials, float32; shape ``(batch, 1, tokens, heads)``, or ``(1,
        tokens, heads)`` with 'TND'. Without elements unless ``return_softmax_lse`` is set.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSparseFlashMla (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, ori_kv=ori_kv, sinks=sinks, metadata=metadata)
    expect_optional(
        cmp_kv=cmp_kv,
        cmp_sparse_indices=cmp_sparse_indices,
        ori_block_table=ori_block_table,
        cmp_block_table=cmp_block_table,
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_ori_kv=cu_seqlens_ori_kv,
        cu_seqlens_cmp_kv=cu_seqlens_cmp_kv,
        seqused_ori_kv=seqused_ori_kv,
        seqused_cmp_kv=seqused_cmp_kv,
        cmp_residual_kv=cmp_residual_kv,
    )
    expect_flags(return_softmax_lse=return_softmax_lse)
    attention_out = empty(query.shape, query.dtype_name, device=query.device)
    softmax_lse = empty(
        if_asked(return_softmax_lse, *query.shape[:-3], 1, *query.shape[-3:-1]),
        "float32",
        device=query.device,
    )
    ops.sparse_flash_mla(
        q=query,
        ori_kv=ori_kv,
        cmp_kv=cmp_kv,
        ori_sparse_indices=None,
        cmp_sparse_indices=cmp_sparse_indices,
        ori_block_table=ori_block_table,
        cmp_block_table=cmp_block_table,
        cu_seqlens_q=cu_seqlens_q,
        cu_seqlens_ori_kv=cu_seqlens_ori_kv,
        cu_seqlens_cmp_kv=cu_seqlens_cmp_kv,
        seqused_q=None,
        seqused_ori_kv=seqused_ori_kv,
        seqused_cmp_kv=seqused_cmp_kv,
        cmp_residual_kv=cmp_residual_kv,
        ori_topk_length=None,
        cmp_topk_length=None,
        sinks=sinks,
        metadata=metadata,
        softmax_scale=softmax_scale,
        cmp_ratio=cmp_ratio,
        ori_mask_mode=ori_mask_mode,
        cmp_mask_mode=cmp_mask_mode,
        ori_win_left=ori_win_left,
        ori_win_right=ori_win_right,
        layout_q=layout_q,
        layout_kv=layout_kv,
        topk_value_mode=1,
        return_softmax_lse=return_softmax_lse,
        attn_out_out=attention_out,
        softmax_lse_out=softmax_lse if return_softmax_lse else None,
        stream=stream,
    )
    return attention_out, softmax_lse
