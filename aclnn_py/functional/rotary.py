# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Rotary embeddings, alone and with the norms and caches beside them."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.functional.routed import check_head_numbers
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "apply_rotary_pos_emb_",
    "interleave_rope",
    "kv_rms_norm_rope_cache",
    "partial_rotary_mul_",
    "qkv_rms_norm_rope_cache",
    "rope_with_sin_cos_cache",
    "rotary_position_embedding",
    "rotary_position_embedding_backward",
]


@remembered
def rotary_position_embedding(
    input: Tensor, cos: Tensor, sin: Tensor, mode: int = 0, *, stream: Stream | None = None
) -> Tensor:
    """Rotate pairs of elements by the angle of their position.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    cos : Tensor
        Cosines of the angles. Dtype float32 | float16 | bfloat16.
    sin : Tensor
        Sines of the angles. Dtype float32 | float16 | bfloat16.
    mode : int, default 0
        How elements pair up: 0 by halves, 1 with their neighbour. A chip of the 950 series also has
        2, by quarters, and 3, with their neighbour and then by halves; a 910B pairs them by halves
        for every mode but 1.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRotaryPositionEmbedding (``include/aclnnop/posembedding.h``), CANN: a release after
    8.1.RC1.
    """
    expect_tensors(input=input, cos=cos, sin=sin)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.rotary_position_embedding(input, cos, sin, mode, out, stream=stream)
    return out


def rotary_position_embedding_backward(
    grad_output: Tensor,
    input: Tensor,
    cos: Tensor,
    sin: Tensor,
    mode: int = 0,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradient of `rotary_position_embedding`, also by the cosines and sines.

    Parameters
    ----------
    grad_output : Tensor
        Gradient of the result. 3 to 4 dimensions; dtype float32 | float16 | bfloat16.
    input : Tensor
        What was rotated. Dtype float32 | float16 | bfloat16.
    cos : Tensor
        Cosines of the angles. Dtype float32 | float16 | bfloat16.
    sin : Tensor
        Sines of the angles. Dtype float32 | float16 | bfloat16.
    mode : int, default 0
        As of `rotary_position_embedding`.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_input : Tensor
        Shape and dtype of ``input``.
    grad_cos : Tensor
        Shape and dtype of ``cos``.
    grad_sin : Tensor
        Shape and dtype of ``sin``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRotaryPositionEmbeddingGrad (``include/aclnnop/posembedding.h``), CANN: a release after
    8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, cos=cos, sin=sin)
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_cos = empty(cos.shape, cos.dtype_name, device=grad_output.device)
    grad_sin = empty(sin.shape, sin.dtype_name, device=grad_output.device)
    ops.rotary_position_embedding_grad(
        grad_output, cos, sin, input, mode, grad_input, grad_cos, grad_sin, stream=stream
    )
    return grad_input, grad_cos, grad_sin


@remembered
def interleave_rope(
    input: Tensor, cos: Tensor, sin: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Rotate pairs of neighbours and put the first of all pairs in front of the second ones.

    Parameters
    ----------
    input : Tensor
        Shape ``(batch, heads, tokens, 64)``. 4 dimensions; dtype float16 | bfloat16 | float32.
    cos : Tensor
        Cosines of the angles, shape ``(batch, 1, tokens, 64)`` or with one token. 4 dimensions;
        dtype float16 | bfloat16 | float32.
    sin : Tensor
        Sines of the angles, shape of ``cos``. 4 dimensions; dtype float16 | bfloat16 | float32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInterleaveRope (``include/aclnnop/posembedding.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input, cos=cos, sin=sin)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.interleave_rope(input, cos, sin, out, stream=stream)
    return out


def partial_rotary_mul_(
    input: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    rotary_mode: int = 1,
    partial_slice: Sequence[int] | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Rotate a part of each row in place.

    Parameters
    ----------
    input : Tensor
        Shape ``(batch, tokens, heads, width)``. 4 dimensions; dtype float32 | float16 | bfloat16.
    cos : Tensor
        Cosines of the angles; broadcast to ``input``, as wide as the part. 4 dimensions; dtype
        float32 | float16 | bfloat16.
    sin : Tensor
        Sines of the angles, shape of ``cos``. 4 dimensions; dtype float32 | float16 | bfloat16.
    rotary_mode : int, default 1
        1: each element pairs up with its neighbour.
    partial_slice : sequence of int, optional
        Start and end of the part; default is the whole row.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplacePartialRotaryMul (``include/aclnnop/posembedding.h``), CANN: a release after
    8.1.RC1.
    """
    expect_tensors(input=input, cos=cos, sin=sin)
    ops.inplace_partial_rotary_mul(input, cos, sin, rotary_mode, partial_slice, stream=stream)
    return input


def rope_with_sin_cos_cache(
    positions: Tensor,
    query: Tensor,
    key: Tensor,
    cos_sin_cache: Tensor,
    head_size: int,
    *,
    mrope_section: Sequence[int] | None = None,
    is_neox_style: bool = True,
    cache_mode: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Rotate queries and keys by the angles that a table has for their positions.

    Parameters
    ----------
    positions : Tensor
        Position of each token, int64, shape ``(tokens,)``; with ``mrope_section`` a row for each
        section. 1 to 2 dimensions; dtype int64.
    query : Tensor
        Shape ``(tokens, heads * head_size)``; dtype float16 | bfloat16 | float32. 2 dimensions;
        dtype float32 | float16 | bfloat16.
    key : Tensor
        Shape ``(tokens, key heads * head_size)``; dtype of ``query``. 2 dimensions; dtype float32 |
        float16 | bfloat16.
    cos_sin_cache : Tensor
        A row of cosines and then sines for each position, shape ``(positions, rotary size)``; dtype
        of ``query``. Elements of a head behind the rotary size stay as they are. 2 dimensions;
        dtype float32 | float16 | bfloat16.
    head_size : int
        Number of elements of a head.
    mrope_section : sequence of int, optional
        How many angles take each row of ``positions``.
    is_neox_style : bool, default True
        Whether elements pair up by halves; else with their neighbour.
    cache_mode : int, default 0
        1: the sections of ``mrope_section`` take turns.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    query_out : Tensor
        The queries; shape and dtype of ``query``.
    key_out : Tensor
        The keys; shape and dtype of ``key``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRopeWithSinCosCache (``include/aclnnop/posembedding.h``), CANN: a release after 8.1.RC1;
    aclnnRopeWithSinCosCacheV2 (``include/aclnnop/posembedding.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(positions=positions, query=query, key=key, cos_sin_cache=cos_sin_cache)
    query_out = empty(query.shape, query.dtype_name, device=positions.device)
    key_out = empty(key.shape, key.dtype_name, device=positions.device)
    if cache_mode == 0:
        ops.rope_with_sin_cos_cache(
            positions,
            query,
            key,
            cos_sin_cache,
            mrope_section,
            head_size,
            is_neox_style,
            query_out,
            key_out,
            stream=stream,
        )
    else:
        ops.rope_with_sin_cos_cache_v2(
            positions=positions,
            query_in=query,
            key_in=key,
            cos_sin_cache=cos_sin_cache,
            mrope_section=mrope_section,
            head_size=head_size,
            is_neox_style=is_neox_style,
            cache_mode=cache_mode,
            query_out=query_out,
            key_out=key_out,
            stream=stream,
        )
    return query_out, key_out


def apply_rotary_pos_emb_(
    query: Tensor,
    key: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    layout: int = 1,
    rotary_mode: str = "half",
    stream: Stream | None = None,
) -> Tensor:
    """Rotate queries and keys in place.

    Parameters
    ----------
    query : Tensor
        Written; shape as ``layout`` says. 4 dimensions; dtype float32 | float16 | bfloat16.
    key : Tensor
        Written too; tokens and width of ``query``. 4 dimensions; dtype float32 | float16 |
        bfloat16.
    cos : Tensor
        Cosines of the angles, with one head. Dtype float32 | float16 | bfloat16.
    sin : Tensor
        Sines of the angles, shape of ``cos``. Dtype float32 | float16 | bfloat16.
    layout : int, default 1
        1: ``(batch, tokens, heads, width)``; 2: ``(tokens, batch, heads, width)``; 3: ``(batch,
        heads, tokens, width)``; 4: ``(tokens, heads, width)``. A 910B takes 1 and 4.
    rotary_mode : str, default 'half'
        How elements pair up: 'half', 'interleave' or 'quarter'. A 910B does not read it and pairs
        them by halves.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``query`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnApplyRotaryPosEmb (``include/aclnnop/posembedding.h``), CANN >= 8.1.RC1;
    aclnnApplyRotaryPosEmbV2 (``include/aclnnop/posembedding.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, cos=cos, sin=sin)
    if rotary_mode == "half" and layout == 1:
        ops.apply_rotary_pos_emb(query, key, cos, sin, layout, stream=stream)
    else:
        ops.apply_rotary_pos_emb_v2(query, key, cos, sin, layout, rotary_mode, stream=stream)
    return query


def kv_rms_norm_rope_cache(
    kv: Tensor,
    gamma: Tensor,
    cos: Tensor,
    sin: Tensor,
    index: Tensor,
    k_cache: Tensor,
    ckv_cache: Tensor,
    *,
    k_rope_scale: Tensor | None = None,
    c_kv_scale: Tensor | None = None,
    k_rope_offset: Tensor | None = None,
    c_kv_offset: Tensor | None = None,
    epsilon: float = 1e-05,
    cache_mode: str = "Norm",
    is_output_kv: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Normalise latent keys and values, rotate the keys and write both into caches.

    Parameters
    ----------
    kv : Tensor
        Values, and behind them keys: shape ``(batch, 1, tokens, latent width + rotary width)``. 4
        dimensions; dtype float16 | bfloat16.
    gamma : Tensor
        Weight of the norm, shape ``(latent width,)``. 1 dimension; dtype float16 | bfloat16.
    cos : Tensor
        Cosines of the angles, shape ``(batch, 1, tokens, rotary width)``. 4 dimensions; dtype
        float16 | bfloat16.
    sin : Tensor
        Sines of the angles, shape of ``cos``. 4 dimensions; dtype float16 | bfloat16.
    index : Tensor
        Where in the caches each token goes; -1 leaves it out. Shape ``(batch, tokens)``, with pages
        ``(batch * tokens,)``. 1 to 2 dimensions; dtype int64.
    k_cache : Tensor
        Cache of the keys; written. 4 dimensions; dtype float16 | bfloat16 | int8 | float8_e4m3fn |
        float8_e5m2 | hifloat8.
    ckv_cache : Tensor
        Cache of the values; written. 4 dimensions; dtype float16 | bfloat16 | int8 | float8_e4m3fn
        | float8_e5m2 | hifloat8.
    k_rope_scale : Tensor, optional
        Divisors of the keys, shape ``(1, rotary width)``. Given for a quantised cache only, whose
        values are rounded to int8. 1 to 2 dimensions; dtype float32.
    c_kv_scale : Tensor, optional
        Divisors of the values, shape ``(1, latent width)``. Given for a quantised cache only, whose
        values are rounded to int8. Dtype float32.
    k_rope_offset : Tensor, optional
        What is added to the divided keys. 1 to 2 dimensions; dtype float32.
    c_kv_offset : Tensor, optional
        What is added to the divided values. 1 to 2 dimensions; dtype float32.
    epsilon : float, default 1e-05
        Added to the mean square.
    cache_mode : str, default 'Norm'
        'Norm' for a cache of sequences, shape ``(batch, heads, places, width)``, 'PA' and 'PA_BNSD'
        for pages, shape ``(pages, page size, heads, width)``, 'PA_NZ' for pages in blocks of 32
        bytes; 'PA_BLK_BNSD' and 'PA_BLK_NZ' take one number of ``index`` for each page.
    is_output_kv : bool, default False
        Whether to compute the results as well.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    k_rope : Tensor
        The rotated keys, without a cache; shape ``(batch, 1, tokens, rotary width)``. Undefined
        unless ``is_output_kv`` is set.
    c_kv : Tensor
        The normalised values; shape ``(batch, 1, tokens, latent width)``. Undefined unless
        ``is_output_kv`` is set.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Keys are rotated as `interleave_rope` does it.

    Source
    ------
    aclnnKvRmsNormRopeCache (``include/aclnnop/posembedding.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        kv=kv, gamma=gamma, cos=cos, sin=sin, index=index, k_cache=k_cache, ckv_cache=ckv_cache
    )
    expect_optional(
        k_rope_scale=k_rope_scale,
        c_kv_scale=c_kv_scale,
        k_rope_offset=k_rope_offset,
        c_kv_offset=c_kv_offset,
    )
    k_rope = empty(
        (*kv.shape[:-1], kv.shape[-1] - gamma.shape[-1]), kv.dtype_name, device=kv.device
    )
    c_kv = empty((*kv.shape[:-1], gamma.shape[-1]), kv.dtype_name, device=kv.device)
    ops.kv_rms_norm_rope_cache(
        kv=kv,
        gamma=gamma,
        cos=cos,
        sin=sin,
        index=index,
        k_cache_ref=k_cache,
        ckv_cache_ref=ckv_cache,
        k_rope_scale=k_rope_scale,
        c_kv_scale=c_kv_scale,
        k_rope_offset=k_rope_offset,
        c_kv_offset=c_kv_offset,
        epsilon=epsilon,
        cache_mode=cache_mode,
        is_output_kv=is_output_kv,
        k_rope_out=k_rope,
        c_kv_out=c_kv,
        stream=stream,
    )
    return k_rope, c_kv


@remembered
def qkv_rms_norm_rope_cache(
    qkv: Tensor,
    q_gamma: Tensor,
    k_gamma: Tensor,
    cos: Tensor,
    sin: Tensor,
    index: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    qkv_size: Sequence[int],
    head_nums: Sequence[int],
    *,
    k_scale: Tensor | None = None,
    v_scale: Tensor | None = None,
    k_offset: Tensor | None = None,
    v_offset: Tensor | None = None,
    epsilon: float = 1e-06,
    stream: Stream | None = None,
) -> Tensor:
    """Normalise and rotate queries and keys, and write keys and values into caches.

    Parameters
    ----------
    qkv : Tensor
        Shape ``(batch * tokens, all heads * 128)``. 2 dimensions; dtype float16 | bfloat16.
    q_gamma : Tensor
        Weight of the queries' norm, shape ``(128,)``. 1 dimension; dtype float16 | bfloat16.
    k_gamma : Tensor
        Weight of the keys' norm, shape ``(128,)``. 1 dimension; dtype float16 | bfloat16.
    cos : Tensor
        Cosines of the angles, shape ``(batch * tokens, 128)``. 2 dimensions; dtype float16 |
        bfloat16.
    sin : Tensor
        Sines of the angles, shape of ``cos``. 2 dimensions; dtype float16 | bfloat16.
    index : Tensor
        Where in the caches each token goes; -1 leaves it out. 1 dimension; dtype int64.
    k_cache : Tensor
        Cache of the keys in blocks of 32 bytes, shape ``(pages, heads * 128 / block, page size,
        block)``; written. 4 dimensions; dtype float16 | bfloat16 | int8.
    v_cache : Tensor
        Cache of the values, as ``k_cache``; written. 4 dimensions; dtype float16 | bfloat16 | int8.
    qkv_size : sequence of int
        Batch, tokens, all heads and 128.
    head_nums : sequence of int
        Heads of queries, keys and values.
    k_scale : Tensor, optional
        Divisors of the keys, shape ``(heads, 128)``. Given for a quantised cache only, whose values
        are rounded to int8. 2 dimensions; dtype float32.
    v_scale : Tensor, optional
        Divisors of the values. Given for a quantised cache only, whose values are rounded to int8.
        2 dimensions; dtype float32.
    k_offset : Tensor, optional
        What is added to the divided keys. 2 dimensions; dtype float32.
    v_offset : Tensor, optional
        What is added to the divided values. 2 dimensions; dtype float32.
    epsilon : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        The queries; shape ``(batch * tokens, heads * 128)``, dtype of ``qkv``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnQkvRmsNormRopeCache (``include/aclnnop/posembedding.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        qkv=qkv,
        q_gamma=q_gamma,
        k_gamma=k_gamma,
        cos=cos,
        sin=sin,
        index=index,
        k_cache=k_cache,
        v_cache=v_cache,
    )
    expect_optional(k_scale=k_scale, v_scale=v_scale, k_offset=k_offset, v_offset=v_offset)
    check_head_numbers(head_nums)
    query = empty((qkv.shape[0], head_nums[0] * cos.shape[-1]), qkv.dtype_name, device=qkv.device)
    ops.qkv_rms_norm_rope_cache(
        qkv=qkv,
        q_gamma=q_gamma,
        k_gamma=k_gamma,
        cos=cos,
        sin=sin,
        index=index,
        q_out_ref=query,
        k_cache_ref=k_cache,
        v_cache_ref=v_cache,
        k_scale=k_scale,
        v_scale=v_scale,
        k_offset=k_offset,
        v_offset=v_offset,
        qkv_size=qkv_size,
        head_nums=head_nums,
        epsilon=epsilon,
        cache_mode="PA_NZ",
        q_out_before_quant=None,
        k_out_before_quant=None,
        v_out_before_quant=None,
        stream=stream,
    )
    return query
