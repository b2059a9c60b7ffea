# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Attention of inference over chosen blocks of keys, and the choice of the blocks."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.functional.blocks import block_pairs, chosen_shape, stepped_shape
from aclnn_py.functional.latent import heads_of, windows_shape, with_width
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "block_sparse_attention",
    "bsa_select_block_mask",
    "nsa_compress",
    "nsa_compress_attention",
    "nsa_compress_attention_infer",
    "nsa_compress_with_cache_",
    "nsa_selected_attention",
    "nsa_selected_attention_infer",
]


@remembered
def nsa_compress(
    input: Tensor,
    weight: Tensor,
    act_seq_len: Sequence[int],
    *,
    compress_block_size: int,
    compress_stride: int,
    stream: Stream | None = None,
) -> Tensor:
    """Add up the tokens of each window, weighted.

    Parameters
    ----------
    input : Tensor
        Packed sequences, shape ``(tokens, heads, width)``. 3 dimensions; dtype float16 | bfloat16.
    weight : Tensor
        Weight of each token of a window and head, ``(compress_block_size, heads)``. 2 dimensions;
        dtype float16 | bfloat16.
    act_seq_len : sequence of int
        Where the tokens of each sequence end.
    compress_block_size : int
        Tokens of a window.
    compress_stride : int
        Tokens between the beginnings of two windows.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(windows, heads, width)``, dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNsaCompress (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    out = empty(
        windows_shape(input, act_seq_len, compress_block_size, compress_stride),
        input.dtype_name,
        device=input.device,
    )
    ops.nsa_compress(
        input,
        weight,
        act_seq_len,
        "TND",
        compress_block_size,
        compress_stride,
        0,
        out,
        stream=stream,
    )
    return out


def nsa_compress_with_cache_(
    output_cache: Tensor,
    input: Tensor,
    weight: Tensor,
    slot_mapping: Tensor,
    act_seq_len: Sequence[int],
    *,
    compress_block_size: int,
    compress_stride: int,
    block_table: Tensor | None = None,
    page_block_size: int = 128,
    stream: Stream | None = None,
) -> Tensor:
    """Write the window that the last token of a sequence fills into a cache.

    Parameters
    ----------
    output_cache : Tensor
        Written; shape ``(slots, heads, width)``. 3 dimensions; dtype float16 | bfloat16.
    input : Tensor
        Packed sequences, or the pages of a cache. Dtype float16 | bfloat16.
    weight : Tensor
        Weight of each token of a window and head, ``(compress_block_size, heads)``. 2 dimensions;
        dtype float16 | bfloat16.
    slot_mapping : Tensor
        The slot of the window of each sequence, int32. 1 dimension; dtype int32.
    act_seq_len : sequence of int
        Number of tokens of each sequence.
    compress_block_size : int
        Tokens of a window.
    compress_stride : int
        Tokens between the beginnings of two windows.
    block_table : Tensor, optional
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    page_block_size : int, default 128
        Number of tokens in a page.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``output_cache`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNsaCompressWithCache (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(output_cache=output_cache, input=input, weight=weight, slot_mapping=slot_mapping)
    expect_optional(block_table=block_table)
    ops.nsa_compress_with_cache(
        input=input,
        weight=weight,
        slot_mapping=slot_mapping,
        act_seq_len=act_seq_len,
        block_table=block_table,
        layout="TND",
        compress_block_size=compress_block_size,
        compress_stride=compress_stride,
        act_seq_len_type=1,
        page_block_size=page_block_size,
        output_cache=output_cache,
        stream=stream,
    )
    return output_cache


def nsa_compress_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    num_heads: int,
    compress_block_size: int,
    compress_stride: int,
    select_block_size: int,
    select_block_count: int,
    actual_seq_qlen: Sequence[int],
    actual_cmp_seq_kvlen: Sequence[int],
    actual_sel_seq_kvlen: Sequence[int],
    atten_mask: Tensor | None = None,
    topk_mask: Tensor | None = None,
    sparse_mode: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Attend over compressed keys of packed sequences and choose blocks of keys.

    Parameters
    ----------
    query : Tensor
        Packed sequences, shape ``(tokens, heads, width)``. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    key : Tensor
        Compressed keys, as `nsa_compress` gives them. 3 to 4 dimensions; dtype float16 | bfloat16.
    value : Tensor
        Compressed values; their heads may be narrower. 3 to 4 dimensions; dtype float16 | bfloat16.
    scale : float
        Factor of the products.
    num_heads : int
        Number of heads of ``query``.
    compress_block_size : int
        Tokens that became one compressed key.
    compress_stride : int
        Tokens between the beginnings of two of those.
    select_block_size : int
        Tokens of a block.
    select_block_count : int
        How many blocks each token gets.
    actual_seq_qlen : sequence of int
        Where the tokens of each sequence end.
    actual_cmp_seq_kvlen : sequence of int
        Where the compressed keys of each sequence end.
    actual_sel_seq_kvlen : sequence of int
        Where the blocks of each sequence end.
    atten_mask : Tensor, optional
        True for the compressed keys to hide, bool. 2 dimensions; dtype uint8 | bool.
    topk_mask : Tensor, optional
        True for the blocks that are not chosen, bool. 2 dimensions.
    sparse_mode : int, default 0
        0, or 1 with a mask for all.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    output : Tensor
        Shape of ``query`` with the width of ``value``; dtype of ``query``.
    blocks : Tensor
        Blocks, the best first, int32; shape ``(tokens, key heads, select_block_count)``.
    softmax_max : Tensor
        Highest score of each token and head, float32, eight times; shape ``(tokens, heads, 8)``.
    softmax_sum : Tensor
        Sum of exponentials, as ``softmax_max``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNsaCompressAttention (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value)
    expect_optional(atten_mask=atten_mask, topk_mask=topk_mask)
    output = empty(
        (*query.shape[:-1], with_width(value=value)), query.dtype_name, device=query.device
    )
    blocks = empty(
        chosen_shape(query, heads_of(key=key), select_block_count), "int32", device=query.device
    )
    softmax_max = empty((*query.shape[:2], 8), "float32", device=query.device)
    softmax_sum = empty((*query.shape[:2], 8), "float32", device=query.device)
    ops.nsa_compress_attention(
        query=query,
        key=key,
        value=value,
        atten_mask=atten_mask,
        topk_mask=topk_mask,
        actual_seq_q_len=actual_seq_qlen,
        actual_cmp_seq_kv_len=actual_cmp_seq_kvlen,
        actual_sel_seq_kv_len=actual_sel_seq_kvlen,
        scale_value=scale,
        head_num=num_heads,
        input_layout="TND",
        sparse_mode=sparse_mode,
        compress_block_size=compress_block_size,
        compress_stride=compress_stride,
        select_block_size=select_block_size,
        select_block_count=select_block_count,
        softmax_max_out=softmax_max,
        softmax_sum_out=softmax_sum,
        attention_out_out=output,
        topk_indices_out=blocks,
        stream=stream,
    )
    return output, blocks, softmax_max, softmax_sum


def nsa_selected_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    blocks: Tensor,
    *,
    scale: float,
    num_heads: int,
    select_block_size: int,
    select_block_count: int,
    actual_seq_qlen: Sequence[int],
    actual_seq_kvlen: Sequence[int],
    atten_mask: Tensor | None = None,
    sparse_mode: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend over the blocks of keys that were chosen, in packed sequences.

    Parameters
    ----------
    query : Tensor
        Packed sequences, shape ``(tokens, heads, width)``. Heads have 192 elements. 3 dimensions;
        dtype float16 | bfloat16.
    key : Tensor
        Packed sequences, shape ``(tokens, heads, width)``. 3 dimensions; dtype float16 | bfloat16.
    value : Tensor
        As ``key``, with heads of 128 elements. 3 dimensions; dtype float16 | bfloat16.
    blocks : Tensor
        The second result of `nsa_compress_attention`. Dtype int32.
    scale : float
        Factor of the products.
    num_heads : int
        Number of heads of ``query``.
    select_block_size : int
        Tokens of a block.
    select_block_count : int
        How many blocks each token has.
    actual_seq_qlen : sequence of int
        Where the tokens of each sequence end.
    actual_seq_kvlen : sequence of int
        Where the keys of each sequence end.
    atten_mask : Tensor, optional
        True for the keys to hide, bool. 2 dimensions; dtype uint8 | bool.
    sparse_mode : int, default 0
        0, or 2 for a mask of 2048 x 2048 that hides later keys.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    output : Tensor
        Shape of ``query`` with the width of ``value``; dtype of ``query``.
    softmax_max : Tensor
        Highest score of each token and head, float32, eight times; shape ``(tokens, heads, 8)``.
    softmax_sum : Tensor
        Sum of exponentials, as ``softmax_max``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNsaSelectedAttention (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value, blocks=blocks)
    expect_optional(atten_mask=atten_mask)
    output = empty(
        (*query.shape[:-1], with_width(value=value)), query.dtype_name, device=query.device
    )
    softmax_max = empty((*query.shape[:2], 8), "float32", device=query.device)
    softmax_sum = empty((*query.shape[:2], 8), "float32", device=query.device)
    ops.nsa_selected_attention(
        query=query,
        key=key,
        value=value,
        topk_indices=blocks,
        atten_mask=atten_mask,
        actual_seq_q_len=actual_seq_qlen,
        actual_seq_kv_len=actual_seq_kvlen,
        scale_value=scale,
        head_num=num_heads,
        input_layout="TND",
        sparse_mode=sparse_mode,
        selected_block_size=select_block_size,
        selected_block_count=select_block_count,
        softmax_max_out=softmax_max,
        softmax_sum_out=softmax_sum,
        attention_out=output,
        stream=stream,
    )
    return output, softmax_max, softmax_sum


def nsa_compress_attention_infer(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block_table: Tensor,
    actual_cmp_kv_seq_len: Sequence[int],
    *,
    num_heads: int,
    num_key_value_heads: int,
    select_block_size: int,
    select_block_count: int,
    compress_block_size: int,
    compress_stride: int,
    page_block_size: int,
    scale: float = 1.0,
    actual_q_seq_len: Sequence[int] | None = None,
    actual_sel_kv_seq_len: Sequence[int] | None = None,
    layout: str = "TND",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend over compressed keys and choose the blocks of keys for the next step.

    Parameters
    ----------
    query : Tensor
        Shape ``(tokens, heads, width)``, or ``(batch, tokens, heads, width)`` with 'BSND'. 3 to 4
        dimensions; dtype float16 | bfloat16.
    key : Tensor
        Pages of a cache, shape ``(pages, page size, heads * width)``. 3 dimensions; dtype float16 |
        bfloat16.
    value : Tensor
        As ``key``; its heads may be narrower. 3 dimensions; dtype float16 | bfloat16.
    block_table : Tensor
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    actual_cmp_kv_seq_len : sequence of int
        Number of compressed keys of each sequence.
    num_heads : int
        Number of heads of ``query``.
    num_key_value_heads : int
        Number of heads of ``key``.
    select_block_size : int
        Tokens of a block.
    select_block_count : int
        How many blocks each token gets.
    compress_block_size : int
        Tokens that became one compressed key.
    compress_stride : int
        Tokens between the beginnings of two of those.
    page_block_size : int
        Number of keys in a page.
    scale : float, default 1.0
        Factor of the products.
    actual_q_seq_len : sequence of int, optional
        Number of tokens of each query, 1 to 4; by default one each.
    actual_sel_kv_seq_len : sequence of int, optional
        Number of keys before compression; needed with several tokens of a sequence.
    layout : str, default 'TND'
        'TND' or 'BSND'.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    output : Tensor
        Shape of ``query`` with the width of ``value``; dtype of ``query``.
    blocks : Tensor
        Blocks, the best first, int32; -1 where a token has fewer. Shape ``(...,
        num_key_value_heads, select_block_count)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNsaCompressAttentionInfer (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value, block_table=block_table)
    output = empty(
        stepped_shape(query, value, num_key_value_heads), query.dtype_name, device=query.device
    )
    blocks = empty(
        chosen_shape(query, num_key_value_heads, select_block_count), "int32", device=query.device
    )
    ops.nsa_compress_attention_infer(
        query=query,
        key=key,
        value=value,
        attention_mask=None,
        block_table=block_table,
        actual_q_seq_len=actual_q_seq_len,
        actual_cmp_kv_seq_len=actual_cmp_kv_seq_len,
        actual_sel_kv_seq_len=actual_sel_kv_seq_len,
        top_k_mask=None,
        num_heads=num_heads,
        num_key_value_heads=num_key_value_heads,
        select_block_size=select_block_size,
        select_block_count=select_block_count,
        compress_block_size=compress_block_size,
        compress_block_stride=compress_stride,
        scale_value=scale,
        layout=layout,
        page_block_size=page_block_size,
        sparse_mode=0,
        output=output,
        top_k_output=blocks,
        stream=stream,
    )
    return output, blocks


@remembered
def nsa_selected_attention_infer(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    blocks: Tensor,
    block_table: Tensor,
    actual_kv_seq_len: Sequence[int],
    *,
    num_heads: int,
    num_key_value_heads: int,
    select_block_size: int,
    select_block_count: int,
    page_block_size: int,
    scale: float = 1.0,
    actual_q_seq_len: Sequence[int] | None = None,
    layout: str = "TND",
    stream: Stream | None = None,
) -> Tensor:
    """Attend over the blocks of keys that were chosen for each token.

    Parameters
    ----------
    query : Tensor
        Shape ``(tokens, heads, width)``, or ``(batch, tokens, heads, width)`` with 'BSND'. Dtype
        float16 | bfloat16.
    key : Tensor
        Pages of a cache, shape ``(pages, page size, heads * width)``. Dtype float16 | bfloat16.
    value : Tensor
        As ``key``, with heads of 128 elements. Dtype float16 | bfloat16.
    blocks : Tensor
        The second result of `nsa_compress_attention_infer`. 3 to 4 dimensions; dtype int32.
    block_table : Tensor
        Pages of each sequence, int32, shape ``(batch, pages)``. 2 dimensions; dtype int32.
    actual_kv_seq_len : sequence of int
        Number of keys of each sequence.
    num_heads : int
        Number of heads of ``query``.
    num_key_value_heads : int
        Number of heads of ``key``.
    select_block_size : int
        Tokens of a block.
    select_block_count : int
        How many blocks each token has.
    page_block_size : int
        Number of keys in a page: 64 or 128.
    scale : float, default 1.0
        Factor of the products.
    actual_q_seq_len : sequence of int, optional
        Number of tokens of each query, 1 to 4; by default one each.
    layout : str, default 'TND'
        'TND' or 'BSND'.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``query`` with the width of ``value``; dtype of ``query``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNsaSelectedAttentionInfer (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value, blocks=blocks, block_table=block_table)
    output = empty(
        stepped_shape(query, value, num_key_value_heads), query.dtype_name, device=query.device
    )
    ops.nsa_selected_attention_infer(
        query=query,
        key=key,
        value=value,
        topk_indices=blocks,
        atten_mask=None,
        block_table=block_table,
        actual_q_seq_len=actual_q_seq_len,
        actual_kv_seq_len=actual_kv_seq_len,
        layout=layout,
        num_heads=num_heads,
        num_key_value_heads=num_key_value_heads,
        select_block_size=select_block_size,
        select_block_count=select_block_count,
        page_block_size=page_block_size,
        scale_value=scale,
        sparse_mode=0,
        output=output,
        stream=stream,
    )
    return output


@remembered
def bsa_select_block_mask(
    query: Tensor,
    key: Tensor,
    sparsity: float,
    *,
    scale: float = 1.0,
    block_shape: Sequence[int] = (128, 128),
    actual_seq_lengths: Sequence[int] | None = None,
    actual_seq_lengths_kv: Sequence[int] | None = None,
    input_layout: str = "BNSD",
    stream: Stream | None = None,
) -> Tensor:
    """Choose the pairs of blocks that attend to each other, by the averages of the blocks.

    Parameters
    ----------
    query : Tensor
        Shape as ``input_layout`` says, 128 elements to a head. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    key : Tensor
        As ``query``, with as many heads. 3 to 4 dimensions; dtype float16 | bfloat16.
    sparsity : float
        Share of the pairs to choose, between 0 and 1.
    scale : float, default 1.0
        Factor of the products.
    block_shape : sequence of int, default (128, 128)
        Tokens of a block of queries and of keys, multiples of 8.
    actual_seq_lengths : sequence of int, optional
        Number of tokens of each query.
    actual_seq_lengths_kv : sequence of int, optional
        Number of keys of each sequence.
    input_layout : str, default 'BNSD'
        'TND' (packed sequences) or 'BNSD'.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        1 for a chosen pair, int8; shape ``(batch, heads, blocks of queries, blocks of keys)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBSASelectBlockMask (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key)
    mask = empty(
        block_pairs(
            query, key, block_shape, actual_seq_lengths, actual_seq_lengths_kv, input_layout
        ),
        "int8",
        device=query.device,
    )
    ops.bsa_select_block_mask(
        query=query,
        key=key,
        block_shape=block_shape,
        post_block_shape=None,
        actual_seq_lengths=actual_seq_lengths,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        actual_block_len_query=None,
        actual_block_len_key=None,
        q_input_layout=input_layout,
        kv_input_layout=input_layout,
        num_key_value_heads=key.shape[1],
        scale_value=scale,
        sparsity=sparsity,
        block_sparse_mask_out=mask,
        stream=stream,
    )
    return mask


@remembered
def block_sparse_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    *,
    scale: float = 1.0,
    block_shape: Sequence[int] = (128, 128),
    num_key_value_heads: int,
    actual_seq_lengths: Sequence[int] | None = None,
    actual_seq_lengths_kv: Sequence[int] | None = None,
    input_layout: str = "BNSD",
    stream: Stream | None = None,
) -> Tensor:
    """Attend over the pairs of blocks that a mask names.

    Parameters
    ----------
    query : Tensor
        Shape as ``input_layout`` says, 64 or 128 elements to a head. 3 to 4 dimensions; dtype
        float16 | bfloat16.
    key : Tensor
        As ``query``; several heads of ``query`` may share one. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    value : Tensor
        Shape of ``key``. 3 to 4 dimensions; dtype float16 | bfloat16.
    mask : Tensor
        1 for pairs that meet, int8; see `bsa_select_block_mask`. 4 dimensions; dtype int8.
    scale : float, default 1.0
        Factor of the products.
    block_shape : sequence of int, default (128, 128)
        Tokens of a block of queries and of keys, the second a multiple of 128.
    num_key_value_heads : int
        Number of heads of ``key``.
    actual_seq_lengths : sequence of int, optional
        Number of tokens of each query.
    actual_seq_lengths_kv : sequence of int, optional
        Number of keys of each sequence.
    input_layout : str, default 'BNSD'
        'TND' (packed sequences), 'BNSD' or 'BSND'.
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

    Source
    ------
    aclnnBlockSparseAttention (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value, mask=mask)
    output = empty(query.shape, query.dtype_name, device=query.device)
    ops.block_sparse_attention(
        query=query,
        key=key,
        value=value,
        block_sparse_mask=mask,
        atten_mask=None,
        block_shape=block_shape,
        actual_seq_lengths=actual_seq_lengths,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        block_table=None,
        q_input_layout=input_layout,
        kv_input_layout=input_layout,
        num_key_value_heads=num_key_value_heads,
        mask_type=0,
        scale_value=scale,
        inner_precise=0,
        block_size=0,
        pre_tokens=2147483647,
        next_tokens=2147483647,
        softmax_lse_flag=0,
        attention_out=output,
        softmax_lse=None,
        stream=stream,
    )
    return output
