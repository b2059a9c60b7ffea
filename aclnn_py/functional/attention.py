# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Attention for inference."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_list, expect_optional
from aclnn_py.functional.masks import (
    ALL_TOKENS,
    OLDER_LAYOUTS,
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
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "attention_update",
    "fused_infer_attention_score",
    "gather_pa_kv_cache",
    "incre_flash_attention",
    "prompt_flash_attention",
    "scaled_dot_product_attention",
]


@remembered
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
    query_padding_size: Tensor | None = None,
    kv_padding_size: Tensor | None = None,
    key_antiquant_scale: Tensor | None = None,
    key_antiquant_offset: Tensor | None = None,
    value_antiquant_scale: Tensor | None = None,
    value_antiquant_offset: Tensor | None = None,
    key_shared_prefix: Tensor | None = None,
    value_shared_prefix: Tensor | None = None,
    actual_shared_prefix_len: Sequence[int] | None = None,
    query_rope: Tensor | None = None,
    key_rope: Tensor | None = None,
    learnable_sink: Tensor | None = None,
    q_start_idx: Sequence[int] | None = None,
    kv_start_idx: Sequence[int] | None = None,
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
    key_antiquant_mode: int = 0,
    value_antiquant_mode: int = 0,
    pse_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute attention with the layouts, masks, lengths and pages of CANN's operator.

    Parameters
    ----------
    query : Tensor
        Shape as ``input_layout`` says. Dtype float16 | bfloat16 | int8 | float8_e4m3fn | hifloat8.
    key : Tensor
        Shape as ``input_layout`` says, or the pages of a cache: ``(pages, page size, heads *
        width)``, ``(pages, heads, page size, width)``, or 5 dimensions for pages in blocks of 32
        bytes.
    value : Tensor
        Same shape as ``key``.
    pse_shift : Tensor, optional
        Added to the scores, shape ``(batch or 1, heads, tokens, keys)``. 4 dimensions; dtype
        float16 | bfloat16.
    atten_mask : Tensor, optional
        True for the keys to hide. Dtype int8 | uint8 | bool.
    actual_seq_lengths : sequence of int, optional
        Number of tokens of each query; a single number serves all. With packed sequences, the end
        of each query instead.
    actual_seq_lengths_kv : sequence of int, optional
        Number of keys of each sequence; a single number serves all. With packed sequences and no
        pages, the end of each sequence's keys instead.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    query_padding_size : Tensor, optional
        How many tokens of padding stand behind queries that are padded on the left, int64, 1
        element. 1 dimension; dtype int64.
    kv_padding_size : Tensor, optional
        The same for keys. 1 dimension; dtype int64.
    key_antiquant_scale : Tensor, optional
        Factors of quantised keys. 1 to 5 dimensions; dtype float32 | float16 | bfloat16 |
        float8_e8m0.
    key_antiquant_offset : Tensor, optional
        What is added to quantised keys before they are scaled. Dtype float32 | float16 | bfloat16.
    value_antiquant_scale : Tensor, optional
        Factors of quantised values. 1 to 5 dimensions; dtype float32 | float16 | bfloat16 |
        float8_e8m0.
    value_antiquant_offset : Tensor, optional
        What is added to quantised values before they are scaled. Dtype float32 | float16 |
        bfloat16.
    key_shared_prefix : Tensor, optional
        Keys that stand before those of every sequence, batch 1. 4 dimensions; dtype float16 |
        bfloat16 | int8 | int32 | int4.
    value_shared_prefix : Tensor, optional
        Values of ``key_shared_prefix``. 4 dimensions; dtype float16 | bfloat16 | int8 | int32 |
        int4.
    actual_shared_prefix_len : sequence of int, optional
        Number of keys of the prefix.
    query_rope : Tensor, optional
        Rotary part of the queries, which adds its own products to the scores. Dtype float16 |
        bfloat16.
    key_rope : Tensor, optional
        Rotary part of the keys. Dtype float16 | bfloat16.
    learnable_sink : Tensor, optional
        A score of each head that takes part in the softmax without a value. 1 dimension; dtype
        float16 | bfloat16.
    q_start_idx : sequence of int, optional
        Position of the first query, with ``pse_type`` 2 and 3.
    kv_start_idx : sequence of int, optional
        Position of the first key, with ``pse_type`` 2 and 3.
    num_heads : int, default 1
        Number of heads of ``query``.
    scale : float, default 1.0
        Factor of the products.
    pre_tokens : int, default 2147483647
        With a mask, how many keys before its own position a token sees.
    next_tokens : int, default 2147483647
        With a mask, how many keys after its own position a token sees.
    input_layout : str, default 'BSH'
        'BSH', 'BSND', 'BNSD', 'TND' or 'NTD' (packed sequences); 'BNSD_BSND', 'BSH_BNSD',
        'BSND_BNSD', 'BSH_NBSD', 'BSND_NBSD', 'BNSD_NBSD', 'TND_NTD' and 'NTD_TND' give the result
        in another layout.
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
    key_antiquant_mode : int, default 0
        How ``key_antiquant_scale`` lies: 0 per channel, 1 per token, and further forms of the
        operator.
    value_antiquant_mode : int, default 0
        How ``value_antiquant_scale`` lies.
    pse_type : int, default 0
        What ``pse_shift`` is: 0 added to the scores; 2 and 3 slopes of the distance between query
        and key.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    attention_out : Tensor
        Dtype of ``query``; shape of ``query``, or in the layout behind the underscore.
    softmax_lse : Tensor
        Logarithm of the sum of exponentials, float32; shape ``(batch, heads, tokens, 1)``, or
        ``(tokens, heads, 1)`` with packed sequences. Without elements unless ``softmax_lse_flag``
        is set.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    In a captured graph the lists of lengths can be inputs: `Graph.rebind` exchanges them.

    Source
    ------
    aclnnFusedInferAttentionScoreV5 (``include/aclnnop/attention.h``), CANN: a release after
    8.1.RC1; aclnnFusedInferAttentionScoreV4 (``include/aclnnop/attention.h``), CANN: a release
    after 8.1.RC1; aclnnFusedInferAttentionScoreV3 (``include/aclnnop/attention.h``), CANN >=
    8.1.RC1; aclnnFusedInferAttentionScoreV2 (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value)
    expect_optional(
        pse_shift=pse_shift,
        atten_mask=atten_mask,
        block_table=block_table,
        query_padding_size=query_padding_size,
        kv_padding_size=kv_padding_size,
        key_antiquant_scale=key_antiquant_scale,
        key_antiquant_offset=key_antiquant_offset,
        value_antiquant_scale=value_antiquant_scale,
        value_antiquant_offset=value_antiquant_offset,
        key_shared_prefix=key_shared_prefix,
        value_shared_prefix=value_shared_prefix,
        query_rope=query_rope,
        key_rope=key_rope,
        learnable_sink=learnable_sink,
    )
    attention_out = empty(
        attended_shape(query, value, num_heads, input_layout), query.dtype_name, device=query.device
    )
    softmax_lse = empty(
        lse_shape(query, num_heads, input_layout, softmax_lse_flag), "float32", device=query.device
    )
    if pse_type or q_start_idx is not None or kv_start_idx is not None:
        ops.fused_infer_attention_score_v5(
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
            query_padding_size=query_padding_size,
            kv_padding_size=kv_padding_size,
            key_antiquant_scale=key_antiquant_scale,
            key_antiquant_offset=key_antiquant_offset,
            value_antiquant_scale=value_antiquant_scale,
            value_antiquant_offset=value_antiquant_offset,
            key_shared_prefix=key_shared_prefix,
            value_shared_prefix=value_shared_prefix,
            actual_shared_prefix_len=actual_shared_prefix_len,
            query_rope=query_rope,
            key_rope=key_rope,
            key_rope_antiquant_scale=None,
            dequant_scale_query=None,
            learnable_sink=learnable_sink,
            q_start_idx=q_start_idx,
            kv_start_idx=kv_start_idx,
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
            key_antiquant_mode=key_antiquant_mode,
            value_antiquant_mode=value_antiquant_mode,
            query_quant_mode=0,
            pse_type=pse_type,
            attention_out=attention_out,
            softmax_lse=softmax_lse if softmax_lse_flag else None,
            stream=stream,
        )
    elif learnable_sink is not None or input_layout not in OLDER_LAYOUTS:
        ops.fused_infer_attention_score_v4(
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
            query_padding_size=query_padding_size,
            kv_padding_size=kv_padding_size,
            key_antiquant_scale=key_antiquant_scale,
            key_antiquant_offset=key_antiquant_offset,
            value_antiquant_scale=value_antiquant_scale,
            value_antiquant_offset=value_antiquant_offset,
            key_shared_prefix=key_shared_prefix,
            value_shared_prefix=value_shared_prefix,
            actual_shared_prefix_len=actual_shared_prefix_len,
            query_rope=query_rope,
            key_rope=key_rope,
            key_rope_antiquant_scale=None,
            dequant_scale_query=None,
            learnable_sink=learnable_sink,
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
            key_antiquant_mode=key_antiquant_mode,
            value_antiquant_mode=value_antiquant_mode,
            query_quant_mode=0,
            attention_out=attention_out,
            softmax_lse=softmax_lse if softmax_lse_flag else None,
            stream=stream,
        )
    elif query_rope is not None or key_rope is not None:
        ops.fused_infer_attention_score_v3(
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
            query_padding_size=query_padding_size,
            kv_padding_size=kv_padding_size,
            key_antiquant_scale=key_antiquant_scale,
            key_antiquant_offset=key_antiquant_offset,
            value_antiquant_scale=value_antiquant_scale,
            value_antiquant_offset=value_antiquant_offset,
            key_shared_prefix=key_shared_prefix,
            value_shared_prefix=value_shared_prefix,
            actual_shared_prefix_len=actual_shared_prefix_len,
            query_rope=query_rope,
            key_rope=key_rope,
            key_rope_antiquant_scale=None,
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
            key_antiquant_mode=key_antiquant_mode,
            value_antiquant_mode=value_antiquant_mode,
            attention_out=attention_out,
            softmax_lse=softmax_lse if softmax_lse_flag else None,
            stream=stream,
        )
    else:
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
            query_padding_size=query_padding_size,
            kv_padding_size=kv_padding_size,
            key_antiquant_scale=key_antiquant_scale,
            key_antiquant_offset=key_antiquant_offset,
            value_antiquant_scale=value_antiquant_scale,
            value_antiquant_offset=value_antiquant_offset,
            key_shared_prefix=key_shared_prefix,
            value_shared_prefix=value_shared_prefix,
            actual_shared_prefix_len=actual_shared_prefix_len,
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
            key_antiquant_mode=key_antiquant_mode,
            value_antiquant_mode=value_antiquant_mode,
            attention_out=attention_out,
            softmax_lse=softmax_lse if softmax_lse_flag else None,
            stream=stream,
        )
    return attention_out, softmax_lse


@remembered
def prompt_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    pse_shift: Tensor | None = None,
    atten_mask: Tensor | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    actual_seq_lengths_kv: Sequence[int] | None = None,
    num_heads: int = 1,
    scale: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Compute attention of whole prompts.

    Parameters
    ----------
    query : Tensor
        Shape as ``input_layout`` says. 3 to 4 dimensions; dtype float16 | bfloat16 | int8.
    key : Tensor
        Shape as ``input_layout`` says. 3 to 4 dimensions; dtype float16 | bfloat16 | int8.
    value : Tensor
        Same shape as ``key``. 3 to 4 dimensions; dtype float16 | bfloat16 | int8.
    pse_shift : Tensor, optional
        Added to the scores, shape ``(batch or 1, heads, tokens, keys)``. 4 dimensions; dtype
        float16 | bfloat16.
    atten_mask : Tensor, optional
        True for the keys to hide. 2 to 4 dimensions; dtype int8 | uint8 | bool.
    actual_seq_lengths : sequence of int, optional
        Number of tokens of each query; a single number serves all.
    actual_seq_lengths_kv : sequence of int, optional
        Number of keys of each sequence; a single number serves all.
    num_heads : int, default 1
        Number of heads of ``query``.
    scale : float, default 1.0
        Factor of the products.
    pre_tokens : int, default 2147483647
        How many keys before its own position a token sees.
    next_tokens : int, default 0
        How many keys after its own position a token sees.
    input_layout : str, default 'BSH'
        'BSH', 'BSND', 'BNSD' or 'BNSD_BSND'.
    num_key_value_heads : int, default 0
        Number of heads of ``key``; 0 means as many as ``query``.
    sparse_mode : int, default 0
        As of `fused_infer_attention_score`.
    inner_precise : int, default 1
        0 computes the softmax of float16 in float32, 1 does not; 2 and 3 also give zeros where all
        keys are masked.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Dtype and shape of ``query``; 'BNSD_BSND' swaps heads and tokens.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnPromptFlashAttentionV3 (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value)
    expect_optional(pse_shift=pse_shift, atten_mask=atten_mask)
    out = empty(
        attended_shape(query, value, num_heads, input_layout), query.dtype_name, device=query.device
    )
    ops.prompt_flash_attention_v3(
        query=query,
        key=key,
        value=value,
        pse_shift=pse_shift,
        atten_mask=atten_mask,
        actual_seq_lengths=actual_seq_lengths,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        deq_scale1=None,
        quant_scale1=None,
        deq_scale2=None,
        quant_scale2=None,
        quant_offset2=None,
        num_heads=num_heads,
        scale_value=scale,
        pre_tokens=pre_tokens,
        next_tokens=next_tokens,
        input_layout=input_layout,
        num_key_value_heads=num_key_value_heads,
        sparse_mode=sparse_mode,
        inner_precise=inner_precise,
        attention_out=out,
        stream=stream,
    )
    return out


@remembered
def incre_flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    pse_shift: Tensor | None = None,
    atten_mask: Tensor | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    block_table: Tensor | None = None,
    kv_padding_size: Tensor | None = None,
    antiquant_scale: Tensor | None = None,
    antiquant_offset: Tensor | None = None,
    num_heads: int = 1,
    scale: float = 1.0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    block_size: int = 0,
    inner_precise: int = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Compute attention of one new token of each sequence.

    Parameters
    ----------
    query : Tensor
        Shape as ``input_layout`` says, with one token. 4 dimensions; dtype float16 | bfloat16.
    key : Tensor
        Shape as ``input_layout`` says, or the pages of a cache.
    value : Tensor
        Same shape as ``key``.
    pse_shift : Tensor, optional
        Added to the scores, shape ``(batch or 1, heads, 1, keys)``. 4 dimensions; dtype float16 |
        bfloat16.
    atten_mask : Tensor, optional
        True for the keys to hide; shape ``(batch, keys)``. 2 to 4 dimensions; dtype int8 | uint8 |
        bool.
    actual_seq_lengths : sequence of int, optional
        Number of keys of each sequence; a single number serves all.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    kv_padding_size : Tensor, optional
        How many tokens of padding stand behind keys that are padded on the left, int64, 1 element.
        Dtype int64.
    antiquant_scale : Tensor, optional
        Factors of int8 keys and values, first those of the keys. 1 to 5 dimensions; dtype float16 |
        bfloat16.
    antiquant_offset : Tensor, optional
        What is added to them before they are scaled. Dtype float16 | bfloat16.
    num_heads : int, default 1
        Number of heads of ``query``.
    scale : float, default 1.0
        Factor of the products.
    input_layout : str, default 'BSH'
        'BSH', 'BSND' or 'BNSD'.
    num_key_value_heads : int, default 0
        Number of heads of ``key``; 0 means as many as ``query``.
    block_size : int, default 0
        Number of tokens in a page.
    inner_precise : int, default 1
        0 computes the softmax of float16 in float32, 1 does not.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Dtype and shape of ``query``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    In a captured graph ``actual_seq_lengths`` can be an input: `Graph.rebind` exchanges it.

    Source
    ------
    aclnnIncreFlashAttentionV4 (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value)
    expect_optional(
        pse_shift=pse_shift,
        atten_mask=atten_mask,
        block_table=block_table,
        kv_padding_size=kv_padding_size,
        antiquant_scale=antiquant_scale,
        antiquant_offset=antiquant_offset,
    )
    out = empty(query.shape, query.dtype_name, device=query.device)
    ops.incre_flash_attention_v4(
        query=query,
        key=[key],
        value=[value],
        pse_shift=pse_shift,
        atten_mask=atten_mask,
        actual_seq_lengths=actual_seq_lengths,
        dequant_scale1=None,
        quant_scale1=None,
        dequant_scale2=None,
        quant_scale2=None,
        quant_offset2=None,
        antiquant_scale=antiquant_scale,
        antiquant_offset=antiquant_offset,
        blocktable=block_table,
        kv_padding_size=kv_padding_size,
        num_heads=num_heads,
        scale_value=scale,
        input_layout=input_layout,
        num_key_value_heads=num_key_value_heads,
        block_size=block_size,
        inner_precise=inner_precise,
        attention_out=out,
        stream=stream,
    )
    return out


def attention_update(
    lse: Sequence[Tensor], local_out: Sequence[Tensor], *, stream: Stream | None = None
) -> tuple[Tensor, Tensor]:
    """Join the results of attention over parts of the keys.

    Parameters
    ----------
    lse : sequence of Tensor
        Logarithms of the sums of exponentials of each part, float32, shape ``(tokens * heads,)``. 1
        dimension; dtype float32.
    local_out : sequence of Tensor
        Result of each part, shape ``(tokens * heads, width)``. 2 dimensions; dtype float32 |
        float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape and dtype of the parts.
    lse_out : Tensor
        The joined logarithms, shape of one of ``lse``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAttentionUpdate (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_list(lse=lse, local_out=local_out)
    out = empty(local_out[0].shape, local_out[0].dtype_name, device=lse[0].device)
    lse_out = empty(lse[0].shape, "float32", device=lse[0].device)
    ops.attention_update(lse, local_out, 1, out, lse_out, stream=stream)
    return out, lse_out


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
        Shape ``(blocks, block size, heads, width)``. 4 dimensions; dtype float16 | bfloat16 | int8
        | float32 | int16 | int32 | uint8 | uint16 | uint32 | float8_e4m3fn | float8_e5m2 |
        hifloat8.
    value_cache : Tensor
        Blocks and block size of ``key_cache``. 4 dimensions; dtype float16 | bfloat16 | int8 |
        float32 | int16 | int32 | uint8 | uint16 | uint32 | float8_e4m3fn | float8_e5m2 | hifloat8.
    block_tables : Tensor
        Blocks of each sequence, int32, shape ``(batch, blocks)``. 2 dimensions; dtype int32 |
        int64.
    seq_lens : Tensor
        Tokens of each sequence, int32, or the ends of the sequences behind a 0. 1 dimension; dtype
        int32 | int64.
    num_tokens : int
        Tokens of all sequences together.
    seq_offset : Tensor, optional
        Tokens to pass over in whole blocks, int32, shape ``(batch,)``. 1 dimension; dtype int32 |
        int64.
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
