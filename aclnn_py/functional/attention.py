# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Attention for inference, and rotary embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.functional.masks import (
    ALL_TOKENS,
    added_scores,
    attended_shape,
    check_attention,
    hidden_keys,
    lse_shape,
    sparse_mode,
)
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "fused_infer_attention_score",
    "gather_pa_kv_cache",
    "interleave_rope",
    "rotary_position_embedding",
    "scaled_dot_product_attention",
]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Average values, weighted by the softmax of the scaled products of queries and keys.

    Parameters
    ----------
    query : Tensor
        Shape ``(batch, heads, tokens, width)``.
    key : Tensor
        Shape ``(batch, heads, keys, width)``.
    value : Tensor
        Same shape as ``key``.
    attn_mask : Tensor, optional
        Broadcast to ``(batch, heads, tokens, keys)``. A bool mask is true for the keys that take
        part and is the same for all heads; a mask of the dtype of ``query`` is added to the scores.
    is_causal : bool, default False
        Whether token ``i`` sees only the keys up to ``i``.
    scale : float, optional
        Factor of the products; default is ``width ** -0.5``.
    enable_gqa : bool, default False
        Whether several heads of ``query`` may share one head of ``key``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``query``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The operands may be strided views. If there are several tokens and one of them sees no key, its
    result is zero.

    Source
    ------
    aclnnFusedInferAttentionScoreV2 (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value)
    expect_optional(attn_mask=attn_mask)
    check_attention(query, key, value, attn_mask, is_causal, enable_gqa)
    if scale is None:
        scale = query.shape[3] ** -0.5
    scores = added_scores(query, key, attn_mask)
    hidden = hidden_keys(query, key, attn_mask, is_causal, stream)
    out = empty(query.shape, query.dtype_name, device=query.device)
    ops.fused_infer_attention_score_v2(
        query=query,
        key=[key],
        value=[value],
        pse_shift=scores,
        atten_mask=hidden,
        actual_seq_lengths=None,
        actual_seq_lengths_kv=None,
        deq_scale1=None,
        quant_scale1=None,
        deq_scale2=None,
        quant_scale2=None,
        quant_offset2=None,
        antiquant_scale=None,
        antiquant_offset=None,
        block_table=None,
        query_padding_size=None,
        kv_padding_size=None,
        key_antiquant_scale=None,
        key_antiquant_offset=None,
        value_antiquant_scale=None,
        value_antiquant_offset=None,
        key_shared_prefix=None,
        value_shared_prefix=None,
        actual_shared_prefix_len=None,
        num_heads=query.shape[1],
        scale_value=scale,
        pre_tokens=ALL_TOKENS,
        next_tokens=0 if is_causal else ALL_TOKENS,
        input_layout="BNSD",
        num_key_value_heads=key.shape[1],
        sparse_mode=sparse_mode(query, key, is_causal),
        inner_precise=2 if query.shape[2] > 1 else 0,
        block_size=0,
        antiquant_mode=0,
        softmax_lse_flag=False,
        key_antiquant_mode=0,
        value_antiquant_mode=0,
        attention_out=out,
        softmax_lse=None,
        stream=stream,
    )
    return out


def fused_infer_attention_score(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    pse_shift: Tensor | None = None,
    atten_mask: Tensor | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    actual_seq_lengths_kv: Sequence[int] | None = None,
    block_table: Tensor | None = None,
    num_heads: int = 1,
    scale: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 0,
    block_size: int = 0,
    softmax_lse_flag: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute attention with the layouts, masks, lengths and pages of CANN's operator.

    Parameters
    ----------
    query : Tensor
        Shape as ``input_layout`` says. 3 to 4 dimensions; dtype float16 | bfloat16 | int8.
    key : Tensor
        Shape as ``input_layout`` says, or the pages of a cache.
    value : Tensor
        Same shape as ``key``.
    pse_shift : Tensor, optional
        Added to the scores, shape ``(batch or 1, heads, tokens, keys)``. 4 dimensions; dtype
        float16 | bfloat16.
    atten_mask : Tensor, optional
        True for the keys to hide. 2 to 4 dimensions; dtype bool | int8 | uint8.
    actual_seq_lengths : sequence of int, optional
        Number of tokens of each query; a single number serves all. With 'TND', the end of each
        query instead.
    actual_seq_lengths_kv : sequence of int, optional
        Number of keys of each sequence; a single number serves all. With 'TND' and no pages, the
        end of each sequence's keys instead.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    num_heads : int, default 1
        Number of heads of ``query``.
    scale : float, default 1.0
        Factor of the products.
    pre_tokens : int, default 2147483647
        With a mask, how many keys before its own position a token sees.
    next_tokens : int, default 2147483647
        With a mask, how many keys after its own position a token sees.
    input_layout : str, default 'BSH'
        'BSH', 'BSND', 'BNSD', 'BNSD_BSND', or 'TND' for sequences packed one after another.
    num_key_value_heads : int, default 0
        Number of heads of ``key``; 0 means as many as ``query``.
    sparse_mode : int, default 0
        0 applies mask and band, 1 the mask, 2 is causal aligned to the first token, 3 causal
        aligned to the last, 4 a band aligned to the last. 2 to 4 take a triangle of 2048 rows as
        mask.
    inner_precise : int, default 0
        2 and 3 give zeros where all keys are masked.
    block_size : int, default 0
        Number of tokens in a page.
    softmax_lse_flag : bool, default False
        Whether to compute ``softmax_lse``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    attention_out : Tensor
        Shape and dtype of ``query``; ``BNSD_BSND`` swaps heads and tokens.
    softmax_lse : Tensor
        Logarithm of the sum of exponentials, float32; shape ``(batch, heads, tokens, 1)``, or
        ``(tokens, heads, 1)`` with 'TND'. Without elements unless ``softmax_lse_flag`` is set.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnFusedInferAttentionScoreV2 (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value)
    expect_optional(pse_shift=pse_shift, atten_mask=atten_mask, block_table=block_table)
    attention_out = empty(
        attended_shape(query, input_layout), query.dtype_name, device=query.device
    )
    softmax_lse = empty(
        lse_shape(query, num_heads, input_layout, softmax_lse_flag), "float32", device=query.device
    )
    ops.fused_infer_attention_score_v2(
        query=query,
        key=[key],
        value=[value],
        pse_shift=pse_shift,
        atten_mask=atten_mask,
        actual_seq_lengths=actual_seq_lengths,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        deq_scale1=None,
        quant_scale1=None,
        deq_scale2=None,
        quant_scale2=None,
        quant_offset2=None,
        antiquant_scale=None,
        antiquant_offset=None,
        block_table=block_table,
        query_padding_size=None,
        kv_padding_size=None,
        key_antiquant_scale=None,
        key_antiquant_offset=None,
        value_antiquant_scale=None,
        value_antiquant_offset=None,
        key_shared_prefix=None,
        value_shared_prefix=None,
        actual_shared_prefix_len=None,
        num_heads=num_heads,
        scale_value=scale,
        pre_tokens=pre_tokens,
        next_tokens=next_tokens,
        input_layout=input_layout,
        num_key_value_heads=num_key_value_heads,
        sparse_mode=sparse_mode,
        inner_precise=inner_precise,
        block_size=block_size,
        antiquant_mode=0,
        softmax_lse_flag=softmax_lse_flag,
        key_antiquant_mode=0,
        value_antiquant_mode=0,
        attention_out=attention_out,
        softmax_lse=softmax_lse if softmax_lse_flag else None,
        stream=stream,
    )
    return attention_out, softmax_lse


def rotary_position_embedding(
    input: Tensor, cos: Tensor, sin: Tensor, mode: int = 0, *, stream: Stream | None = None
) -> Tensor:
    """Rotate pairs of elements by the angle of their position.

    Parameters
    ----------
    input : Tensor
        Dtype bfloat16 | float16 | float32.
    cos : Tensor
        Cosines of the angles. Dtype bfloat16 | float16 | float32.
    sin : Tensor
        Sines of the angles. Dtype bfloat16 | float16 | float32.
    mode : int, default 0
        How elements pair up: 0 by halves, 1 with their neighbour, 2 by quarters.
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


def interleave_rope(
    input: Tensor, cos: Tensor, sin: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Rotate pairs of neighbours and put the first of all pairs in front of the second ones.

    Parameters
    ----------
    input : Tensor
        Shape ``(batch, heads, tokens, 64)``. 4 dimensions; dtype float32 | float16 | bfloat16.
    cos : Tensor
        Cosines of the angles, shape ``(batch, 1, tokens, 64)`` or with one token. 4 dimensions.
    sin : Tensor
        Sines of the angles, shape of ``cos``. 4 dimensions.
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


def gather_pa_kv_cache(
    key_cache: Tensor,
    value_cache: Tensor,
    block_tables: Tensor,
    seq_lens: Tensor,
    num_tokens: int,
    *,
    seq_offset: Tensor | None = None,
    is_seq_lens_cumsum: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Read the keys and values of sequences from the pages of a cache.

    Parameters
    ----------
    key_cache : Tensor
        Shape ``(blocks, block size, heads, width)``. 4 dimensions; dtype int8 | float16 | bfloat16
        | float32 | uint8 | int16 | uint16 | int32 | uint32 | hifloat8 | float8_e5m2 |
        float8_e4m3fn.
    value_cache : Tensor
        Blocks and block size of ``key_cache``. 4 dimensions; dtype int8 | float16 | bfloat16 |
        float32 | uint8 | int16 | uint16 | int32 | uint32 | hifloat8 | float8_e5m2 | float8_e4m3fn.
    block_tables : Tensor
        Blocks of each sequence, int32, shape ``(batch, blocks)``. 2 dimensions; dtype int32 |
        int64.
    seq_lens : Tensor
        Tokens of each sequence, int32, or the ends of the sequences behind a 0. 1 dimension.
    num_tokens : int
        Tokens of all sequences together.
    seq_offset : Tensor, optional
        Tokens to pass over in whole blocks, int32, shape ``(batch,)``. 1 dimension.
    is_seq_lens_cumsum : bool, default False
        Whether ``seq_lens`` holds ends.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape ``(num_tokens, heads, width)``, dtype of ``key_cache``.
    values : Tensor
        The same of ``value_cache``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGatherPaKvCache (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        key_cache=key_cache, value_cache=value_cache, block_tables=block_tables, seq_lens=seq_lens
    )
    expect_optional(seq_offset=seq_offset)
    expect_whole(num_tokens=num_tokens)
    out = empty((num_tokens, *key_cache.shape[2:]), key_cache.dtype_name, device=key_cache.device)
    values = empty(
        (num_tokens, *value_cache.shape[2:]), value_cache.dtype_name, device=key_cache.device
    )
    ops.gather_pa_kv_cache(
        key_cache,
        value_cache,
        block_tables,
        seq_lens,
        out,
        values,
        seq_offset,
        "Norm",
        is_seq_lens_cumsum,
        stream=stream,
    )
    return out, values
