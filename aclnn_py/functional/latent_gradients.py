# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Gradients of attention over chosen keys, and of the indexers that choose them."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.functional.latent import heads_of, if_asked
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "dense_lightning_indexer_kl_loss",
    "lightning_indexer_backward",
    "sparse_flash_attention_backward",
    "sparse_lightning_indexer_kl_loss",
]


def lightning_indexer_backward(
    grad_output: Tensor,
    query: Tensor,
    key: Tensor,
    weights: Tensor,
    sparse_indices: Tensor,
    *,
    actual_seq_lengths_query: Tensor | None = None,
    actual_seq_lengths_key: Tensor | None = None,
    layout: str = "BSND",
    sparse_mode: int = 3,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradient of the scores of `lightning_indexer`.

    Parameters
    ----------
    grad_output : Tensor
        Gradient of the scores; shape of ``sparse_indices``. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    query : Tensor
        Shape as ``layout`` says, 128 elements to a head. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    key : Tensor
        Shape as ``layout`` says, one head. 3 to 4 dimensions; dtype float16 | bfloat16.
    weights : Tensor
        Weight of each head of ``query``; its shape without the last dimension. 2 to 3 dimensions;
        dtype float16 | bfloat16.
    sparse_indices : Tensor
        The keys of each token, 2048 of them; below 0 where there are fewer. 2 to 4 dimensions;
        dtype int32.
    actual_seq_lengths_query : Tensor, optional
        Number of tokens of each query, int32; with 'TND' where each ends. 1 dimension; dtype int32.
    actual_seq_lengths_key : Tensor, optional
        Number of keys of each sequence, int32; with 'TND' where each ends. 1 dimension; dtype
        int32.
    layout : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    sparse_mode : int, default 3
        3: a token sees the keys up to its own; 0: all.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_query : Tensor
        Shape and dtype of ``query``.
    grad_key : Tensor
        Shape and dtype of ``key``.
    grad_weights : Tensor
        Shape and dtype of ``weights``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLightningIndexerGrad (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        grad_output=grad_output,
        query=query,
        key=key,
        weights=weights,
        sparse_indices=sparse_indices,
    )
    expect_optional(
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_key=actual_seq_lengths_key,
    )
    grad_query = empty(query.shape, query.dtype_name, device=grad_output.device)
    grad_key = empty(key.shape, key.dtype_name, device=grad_output.device)
    grad_weights = empty(weights.shape, weights.dtype_name, device=grad_output.device)
    ops.lightning_indexer_grad(
        query=query,
        key=key,
        dy=grad_output,
        sparse_indices=sparse_indices,
        weights=weights,
        actual_seq_q_len=actual_seq_lengths_query,
        actual_seq_kv_len=actual_seq_lengths_key,
        head_num=heads_of(query=query),
        input_layout=layout,
        sparse_mode=sparse_mode,
        pre_tokens=2147483647,
        next_tokens=2147483647,
        deterministic=False,
        dq_out=grad_query,
        dk_out=grad_key,
        dweights_out=grad_weights,
        stream=stream,
    )
    return grad_query, grad_key, grad_weights


def sparse_flash_attention_backward(
    grad_output: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor | None,
    sparse_indices: Tensor,
    output: Tensor,
    softmax_max: Tensor,
    softmax_sum: Tensor,
    *,
    actual_seq_lengths_query: Tensor | None = None,
    actual_seq_lengths_kv: Tensor | None = None,
    query_rope: Tensor | None = None,
    key_rope: Tensor | None = None,
    scale: float = 1.0,
    sparse_block_size: int = 1,
    layout: str = "BSND",
    sparse_mode: int = 3,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradient of `sparse_flash_attention`.

    Parameters
    ----------
    grad_output : Tensor
        Gradient of the first result. 3 to 4 dimensions; dtype float16 | bfloat16.
    query : Tensor
        Shape as ``layout`` says, 512 elements to a head. Dtype float16 | bfloat16.
    key : Tensor
        Shape as ``layout`` says, one head. Dtype float16 | bfloat16.
    value : Tensor, optional
        Shape of ``key``; None where the keys are the values too. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    sparse_indices : Tensor
        Blocks of keys for each token, int32, 1024 to 8192 in steps of 1024; a block below 0 ends
        the list. Dtype int32.
    output : Tensor
        The first result of `sparse_flash_attention`. 3 to 4 dimensions; dtype float16 | bfloat16.
    softmax_max : Tensor
        Its second result. Dtype float32.
    softmax_sum : Tensor
        Its third result. 3 to 4 dimensions; dtype float32.
    actual_seq_lengths_query : Tensor, optional
        Number of tokens of each query, int32; with 'TND' where each ends. 1 dimension; dtype int32.
    actual_seq_lengths_kv : Tensor, optional
        Number of keys of each sequence, int32; with 'TND' where each ends. 1 dimension; dtype
        int32.
    query_rope : Tensor, optional
        Rotary part of the queries, 64 elements to a head. Dtype float16 | bfloat16.
    key_rope : Tensor, optional
        Rotary part of the keys. 3 to 4 dimensions; dtype float16 | bfloat16.
    scale : float, default 1.0
        Factor of the products.
    sparse_block_size : int, default 1
        Keys of a block: 1, 8, 16, 32 or 64.
    layout : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    sparse_mode : int, default 3
        3: a token sees the keys up to its own; 0: all.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_query : Tensor
        Shape and dtype of ``query``.
    grad_key : Tensor
        Shape and dtype of ``key``; without ``value`` its gradient as values is part of it.
    grad_value : Tensor
        Shape and dtype of ``key``, without elements where ``value`` is None.
    grad_query_rope : Tensor
        Shape and dtype of ``query_rope``, or without elements.
    grad_key_rope : Tensor
        Shape and dtype of ``key_rope``, or without elements.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSparseFlashAttentionGrad (``include/aclnnop/attention.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        grad_output=grad_output,
        query=query,
        key=key,
        sparse_indices=sparse_indices,
        output=output,
        softmax_max=softmax_max,
        softmax_sum=softmax_sum,
    )
    expect_optional(
        value=value,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        query_rope=query_rope,
        key_rope=key_rope,
    )
    grad_query = empty(query.shape, query.dtype_name, device=grad_output.device)
    grad_key = empty(key.shape, key.dtype_name, device=grad_output.device)
    grad_value = empty(
        if_asked(value is not None, *key.shape), query.dtype_name, device=grad_output.device
    )
    grad_query_rope = empty(
        if_asked(query_rope is not None, *(query if query_rope is None else query_rope).shape),
        query.dtype_name,
        device=grad_output.device,
    )
    grad_key_rope = empty(
        if_asked(key_rope is not None, *(key if key_rope is None else key_rope).shape),
        query.dtype_name,
        device=grad_output.device,
    )
    ops.sparse_flash_attention_grad(
        query=query,
        key=key,
        value=value,
        sparse_indices=sparse_indices,
        d_out=grad_output,
        out=output,
        softmax_max=softmax_max,
        softmax_sum=softmax_sum,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_kv=actual_seq_lengths_kv,
        query_rope=query_rope,
        key_rope=key_rope,
        scale_value=scale,
        sparse_block_size=sparse_block_size,
        layout=layout,
        sparse_mode=sparse_mode,
        pre_tokens=2147483647,
        next_tokens=2147483647,
        deterministic=False,
        d_query_out=grad_query,
        d_key_out=grad_key,
        d_value_out=None if value is None else grad_value,
        d_query_rope_out=None if query_rope is None else grad_query_rope,
        d_key_rope_out=None if key_rope is None else grad_key_rope,
        stream=stream,
    )
    return grad_query, grad_key, grad_value, grad_query_rope, grad_key_rope


def sparse_lightning_indexer_kl_loss(
    query: Tensor,
    key: Tensor,
    query_index: Tensor,
    key_index: Tensor,
    weights: Tensor,
    sparse_indices: Tensor,
    softmax_max: Tensor,
    softmax_sum: Tensor,
    *,
    query_rope: Tensor | None = None,
    key_rope: Tensor | None = None,
    actual_seq_lengths_query: Sequence[int] | None = None,
    actual_seq_lengths_key: Sequence[int] | None = None,
    scale: float = 1.0,
    layout: str = "BSND",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute how far index scores are from attention over chosen keys, and its gradient.

    Parameters
    ----------
    query : Tensor
        Queries of the attention, 512 elements to a head. Dtype float16 | bfloat16.
    key : Tensor
        Keys of the attention, one head. Dtype float16 | bfloat16.
    query_index : Tensor
        Queries of the indexer, 128 elements to a head. Dtype float16 | bfloat16.
    key_index : Tensor
        Keys of the indexer, one head of 128 elements. Dtype float16 | bfloat16.
    weights : Tensor
        Weight of each head of ``query_index``; its shape without the last dimension, float32 or the
        dtype of ``query``. 2 to 3 dimensions; dtype float32 | float16 | bfloat16.
    sparse_indices : Tensor
        The keys of each token, int32, 1024 to 8192 in steps of 1024; below 0 where there are fewer.
        Dtype int32.
    softmax_max : Tensor
        The second result of `sparse_flash_attention`. 3 to 4 dimensions; dtype float32.
    softmax_sum : Tensor
        Its third result. 3 to 4 dimensions; dtype float32.
    query_rope : Tensor, optional
        Rotary part of the queries, 64 elements to a head. Dtype float16 | bfloat16.
    key_rope : Tensor, optional
        Rotary part of the keys. Dtype float16 | bfloat16.
    actual_seq_lengths_query : sequence of int, optional
        Number of tokens of each query; with 'TND' where each ends.
    actual_seq_lengths_key : sequence of int, optional
        Number of keys of each sequence; with 'TND' where each ends.
    scale : float, default 1.0
        Factor of the products of the attention.
    layout : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    loss : Tensor
        The divergence, summed over all tokens; float32, shape ``(1,)``.
    grad_query_index : Tensor
        Shape and dtype of ``query_index``.
    grad_key_index : Tensor
        Shape and dtype of ``key_index``.
    grad_weights : Tensor
        Shape and dtype of ``weights``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The divergence of a token is that of the softmax of its index scores from the softmax of the
    attention, averaged over the heads. Each token sees the keys up to its own; the last tokens of
    query and keys are level.

    Source
    ------
    aclnnSparseLightningIndexerGradKLLoss (``include/aclnnop/attention.h``), CANN: a release after
    8.1.RC1.
    """
    expect_tensors(
        query=query,
        key=key,
        query_index=query_index,
        key_index=key_index,
        weights=weights,
        sparse_indices=sparse_indices,
        softmax_max=softmax_max,
        softmax_sum=softmax_sum,
    )
    expect_optional(query_rope=query_rope, key_rope=key_rope)
    loss = empty((1,), "float32", device=query.device)
    grad_query_index = empty(query_index.shape, query_index.dtype_name, device=query.device)
    grad_key_index = empty(key_index.shape, key_index.dtype_name, device=query.device)
    grad_weights = empty(weights.shape, weights.dtype_name, device=query.device)
    ops.sparse_lightning_indexer_grad_kl_loss(
        query=query,
        key=key,
        query_index=query_index,
        key_index=key_index,
        weights=weights,
        sparse_indices=sparse_indices,
        softmax_max=softmax_max,
        softmax_sum=softmax_sum,
        query_rope=query_rope,
        key_rope=key_rope,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_key=actual_seq_lengths_key,
        scale_value=scale,
        layout=layout,
        sparse_mode=3,
        pre_tokens=2147483647,
        next_tokens=2147483647,
        deterministic=False,
        d_query_index=grad_query_index,
        d_key_index=grad_key_index,
        d_weights=grad_weights,
        loss=loss,
        stream=stream,
    )
    return loss, grad_query_index, grad_key_index, grad_weights


def dense_lightning_indexer_kl_loss(
    query: Tensor,
    key: Tensor,
    query_index: Tensor,
    key_index: Tensor,
    weights: Tensor,
    softmax_max: Tensor,
    softmax_sum: Tensor,
    softmax_max_index: Tensor,
    softmax_sum_index: Tensor,
    *,
    query_rope: Tensor | None = None,
    key_rope: Tensor | None = None,
    actual_seq_lengths_query: Sequence[int] | None = None,
    actual_seq_lengths_key: Sequence[int] | None = None,
    scale: float = 1.0,
    layout: str = "BSND",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute how far index scores are from attention over all keys, and its gradient.

    Parameters
    ----------
    query : Tensor
        Queries of the attention, 128 elements to a head. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    key : Tensor
        Keys of the attention, as many heads. 3 to 4 dimensions; dtype float16 | bfloat16.
    query_index : Tensor
        Queries of the indexer, 128 elements to a head. Dtype float16 | bfloat16.
    key_index : Tensor
        Keys of the indexer, one head of 128 elements. Dtype float16 | bfloat16.
    weights : Tensor
        Weight of each head of ``query_index``; its shape without the last dimension, float32 or the
        dtype of ``query``. 2 to 3 dimensions; dtype float32 | float16 | bfloat16.
    softmax_max : Tensor
        Highest score of each token of the attention, shape ``(batch, heads, tokens, 1)``, or
        without the batch with 'TND'. 3 to 4 dimensions; dtype float32.
    softmax_sum : Tensor
        Sum of its exponentials, the same shape. 3 to 4 dimensions; dtype float32.
    softmax_max_index : Tensor
        Highest index score of each token, shape ``(batch, 1, tokens)``, or without the batch with
        'TND'. 2 to 3 dimensions; dtype float32.
    softmax_sum_index : Tensor
        Sum of its exponentials, the same shape. 2 to 3 dimensions; dtype float32.
    query_rope : Tensor, optional
        Rotary part of the queries, 64 elements to a head. 3 to 4 dimensions; dtype float16 |
        bfloat16.
    key_rope : Tensor, optional
        Rotary part of the keys. 3 to 4 dimensions; dtype float16 | bfloat16.
    actual_seq_lengths_query : sequence of int, optional
        Number of tokens of each query; with 'TND' where each ends.
    actual_seq_lengths_key : sequence of int, optional
        Number of keys of each sequence; with 'TND' where each ends.
    scale : float, default 1.0
        Factor of the products of the attention.
    layout : str, default 'BSND'
        'BSND' or 'TND' (packed sequences).
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    loss : Tensor
        The divergence, summed over all tokens; float32, shape ``(1,)``.
    grad_query_index : Tensor
        Shape and dtype of ``query_index``.
    grad_key_index : Tensor
        Shape and dtype of ``key_index``.
    grad_weights : Tensor
        Shape and dtype of ``weights``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The divergence of a token is that of the softmax of its index scores from the softmax of the
    attention, averaged over the heads. Each token sees the keys up to its own; the last tokens of
    query and keys are level.

    Source
    ------
    aclnnDenseLightningIndexerGradKLLoss (``include/aclnnop/attention.h``), CANN: a release after
    8.1.RC1.
    """
    expect_tensors(
        query=query,
        key=key,
        query_index=query_index,
        key_index=key_index,
        weights=weights,
        softmax_max=softmax_max,
        softmax_sum=softmax_sum,
        softmax_max_index=softmax_max_index,
        softmax_sum_index=softmax_sum_index,
    )
    expect_optional(query_rope=query_rope, key_rope=key_rope)
    loss = empty((1,), "float32", device=query.device)
    grad_query_index = empty(query_index.shape, query_index.dtype_name, device=query.device)
    grad_key_index = empty(key_index.shape, key_index.dtype_name, device=query.device)
    grad_weights = empty(weights.shape, weights.dtype_name, device=query.device)
    ops.dense_lightning_indexer_grad_kl_loss(
        query=query,
        key=key,
        query_index=query_index,
        key_index=key_index,
        weights=weights,
        softmax_max=softmax_max,
        softmax_sum=softmax_sum,
        softmax_max_index=softmax_max_index,
        softmax_sum_index=softmax_sum_index,
        query_rope=query_rope,
        key_rope=key_rope,
        actual_seq_lengths_query=actual_seq_lengths_query,
        actual_seq_lengths_key=actual_seq_lengths_key,
        scale_value=scale,
        layout=layout,
        sparse_mode=3,
        pre_tokens=2147483647,
        next_tokens=2147483647,
        d_query_index=grad_query_index,
        d_key_index=grad_key_index,
        d_weights=grad_weights,
        loss=loss,
        stream=stream,
    )
    return loss, grad_query_index, grad_key_index, grad_weights
