# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Attention of inference over chosen blocks of keys, and the choice of the blocks."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.blocks import block_pairs, chosen_shape, stepped_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "block_sparse_attention",
    "bsa_select_block_mask",
    "nsa_compress_attention_infer",
    "nsa_selected_attention_infer",
]


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
        Pages of a cache, shape ``(pages, page size, heads * width)``. Dtype float16 | bfloat16.
    value : Tensor
        As ``key``; its heads may be narrower. Dtype float16 | bfloat16.
    block_table : Tensor
        Pages of each sequence, int32, shape ``(batch, pages)``. Dtype int32.
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
        The second result of `nsa_compress_attention_infer`. Dtype int32.
    block_table : Tensor
        Pages of each sequence, int32, shape ``(batch, pages)``. Dtype int32.
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
