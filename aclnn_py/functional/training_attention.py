# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Attention of training, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_numbers, expect_optional
from aclnn_py.functional.masks import attended_shape, softmax_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "flash_attention",
    "flash_attention_backward",
]


def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    pse: Tensor | None = None,
    drop_mask: Tensor | None = None,
    atten_mask: Tensor | None = None,
    prefix: Sequence[int] | None = None,
    actual_seq_q_len: Sequence[int] | None = None,
    actual_seq_kv_len: Sequence[int] | None = None,
    num_heads: int = 1,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    input_layout: str = "BSH",
    inner_precise: int = 0,
    sparse_mode: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute attention and keep what its gradient needs.

    Parameters
    ----------
    query : Tensor
        Shape as ``input_layout`` says. 3 dimensions; dtype float32 | float16 | bfloat16.
    key : Tensor
        Shape as ``input_layout`` says; its heads may be fewer. 3 dimensions; dtype float32 |
        float16 | bfloat16.
    value : Tensor
        Shape as ``input_layout`` says; tokens and heads of ``key``. 3 dimensions; dtype float32 |
        float16 | bfloat16.
    pse : Tensor, optional
        Added to the products before they are scaled, shape ``(batch or 1, heads, tokens or 1,
        keys)``, or the last 1024 tokens of a bias that goes by distance. Dtype float32 | float16 |
        bfloat16.
    drop_mask : Tensor, optional
        One bit for each score, the first in the lowest bit of a byte; 1 keeps it, and what is kept
        is divided by ``keep_prob``. 0 to 1 dimensions; dtype uint8.
    atten_mask : Tensor, optional
        True for the keys to hide. 2 to 4 dimensions; dtype uint8 | bool.
    prefix : sequence of int, optional
        With ``sparse_mode`` 5 and 6, how many keys at its beginning each sequence always sees.
    actual_seq_q_len : sequence of int, optional
        With packed sequences, the end of each query.
    actual_seq_kv_len : sequence of int, optional
        With packed sequences, the end of each sequence's keys.
    num_heads : int, default 1
        Number of heads of ``query``.
    scale : float, default 1.0
        Factor of the products.
    keep_prob : float, default 1.0
        Share of the scores that ``drop_mask`` keeps.
    pre_tokens : int, default 2147483647
        With a mask, how many keys before its own position a token sees.
    next_tokens : int, default 2147483647
        With a mask, how many keys after its own position a token sees.
    input_layout : str, default 'BSH'
        'BSH', 'SBH', 'BSND', 'BNSD' or 'TND' (packed sequences).
    inner_precise : int, default 0
        As of the operator.
    sparse_mode : int, default 0
        0 applies mask and band, 1 the mask, 2 is causal aligned to the first token, 3 causal
        aligned to the last, 4 a band aligned to the last, 5 and 6 add a prefix, 7 and 8 are 3 and 4
        for parts of sequences.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape and dtype of ``query``.
    softmax_max : Tensor
        Highest score of each token and head, float32; shape ``(batch, heads, tokens, 8)``, or
        ``(tokens, heads, 8)`` with packed sequences.
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
    aclnnFlashAttentionVarLenScore (``include/aclnnop/attention.h``), CANN >= 8.1.RC1;
    aclnnFlashAttentionScore (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(query=query, key=key, value=value)
    expect_optional(pse=pse, drop_mask=drop_mask, atten_mask=atten_mask)
    out = empty(
        attended_shape(query, value, num_heads, input_layout), query.dtype_name, device=query.device
    )
    softmax_max = empty(
        softmax_shape(query, num_heads, input_layout), "float32", device=query.device
    )
    softmax_sum = empty(
        softmax_shape(query, num_heads, input_layout), "float32", device=query.device
    )
    softmax_out = empty((0,), query.dtype_name, device=query.device)
    if actual_seq_q_len is not None or actual_seq_kv_len is not None:
        ops.flash_attention_var_len_score(
            query=query,
            key=key,
            value=value,
            real_shift=pse,
            drop_mask=drop_mask,
            padding_mask=None,
            atten_mask=atten_mask,
            prefix=prefix,
            actual_seq_q_len=actual_seq_q_len,
            actual_seq_kv_len=actual_seq_kv_len,
            scale_value=scale,
            keep_prob=keep_prob,
            pre_tokens=pre_tokens,
            next_tokens=next_tokens,
            head_num=num_heads,
            input_layout=input_layout,
            inner_precise=inner_precise,
            sparse_mode=sparse_mode,
            softmax_max_out=softmax_max,
            softmax_sum_out=softmax_sum,
            softmax_out_out=softmax_out,
            attention_out_out=out,
            stream=stream,
        )
    else:
        ops.flash_attention_score(
            query=query,
            key=key,
            value=value,
            real_shift=pse,
            drop_mask=drop_mask,
            padding_mask=None,
            atten_mask=atten_mask,
            prefix=prefix,
            scale_value=scale,
            keep_prob=keep_prob,
            pre_tokens=pre_tokens,
            next_tokens=next_tokens,
            head_num=num_heads,
            input_layout=input_layout,
            inner_precise=inner_precise,
            sparse_mode=sparse_mode,
            softmax_max_out=softmax_max,
            softmax_sum_out=softmax_sum,
            softmax_out_out=softmax_out,
            attention_out_out=out,
            stream=stream,
        )
    return out, softmax_max, softmax_sum


def flash_attention_backward(
    grad_output: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    softmax_max: Tensor,
    softmax_sum: Tensor,
    *,
    pse: Tensor | None = None,
    drop_mask: Tensor | None = None,
    atten_mask: Tensor | None = None,
    prefix: Sequence[int] | None = None,
    actual_seq_q_len: Sequence[int] | None = None,
    actual_seq_kv_len: Sequence[int] | None = None,
    num_heads: int = 1,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    input_layout: str = "BSH",
    inner_precise: int = 0,
    sparse_mode: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradient of `flash_attention`.

    Parameters
    ----------
    grad_output : Tensor
        Gradient of the result. 3 dimensions; dtype float32 | float16 | bfloat16.
    query : Tensor
        Shape as ``input_layout`` says. 3 dimensions; dtype float32 | float16 | bfloat16.
    key : Tensor
        Shape as ``input_layout`` says; its heads may be fewer. 3 dimensions; dtype float32 |
        float16 | bfloat16.
    value : Tensor
        Shape as ``input_layout`` says; tokens and heads of ``key``. 3 dimensions; dtype float32 |
        float16 | bfloat16.
    output : Tensor
        The result of `flash_attention`. 3 dimensions; dtype float32 | float16 | bfloat16.
    softmax_max : Tensor
        Its second result. 3 dimensions; dtype float32.
    softmax_sum : Tensor
        Its third result. 3 dimensions; dtype float32.
    pse : Tensor, optional
        Added to the products before they are scaled, shape ``(batch or 1, heads, tokens or 1,
        keys)``, or the last 1024 tokens of a bias that goes by distance. Dtype float32 | float16 |
        bfloat16.
    drop_mask : Tensor, optional
        One bit for each score, the first in the lowest bit of a byte; 1 keeps it, and what is kept
        is divided by ``keep_prob``. 0 to 1 dimensions; dtype uint8.
    atten_mask : Tensor, optional
        True for the keys to hide. 2 to 4 dimensions; dtype uint8 | bool.
    prefix : sequence of int, optional
        With ``sparse_mode`` 5 and 6, how many keys at its beginning each sequence always sees.
    actual_seq_q_len : sequence of int, optional
        With packed sequences, the end of each query.
    actual_seq_kv_len : sequence of int, optional
        With packed sequences, the end of each sequence's keys.
    num_heads : int, default 1
        Number of heads of ``query``.
    scale : float, default 1.0
        Factor of the products.
    keep_prob : float, default 1.0
        Share of the scores that ``drop_mask`` keeps.
    pre_tokens : int, default 2147483647
        With a mask, how many keys before its own position a token sees.
    next_tokens : int, default 2147483647
        With a mask, how many keys after its own position a token sees.
    input_layout : str, default 'BSH'
        'BSH', 'SBH', 'BSND', 'BNSD' or 'TND' (packed sequences).
    inner_precise : int, default 0
        As of the operator.
    sparse_mode : int, default 0
        0 applies mask and band, 1 the mask, 2 is causal aligned to the first token, 3 causal
        aligned to the last, 4 a band aligned to the last, 5 and 6 add a prefix, 7 and 8 are 3 and 4
        for parts of sequences.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_query : Tensor
        Shape and dtype of ``query``.
    grad_key : Tensor
        Shape and dtype of ``key``.
    grad_value : Tensor
        Shape and dtype of ``value``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnFlashAttentionUnpaddingScoreGrad (``include/aclnnop/attention.h``), CANN >= 8.1.RC1;
    aclnnFlashAttentionScoreGrad (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(
        grad_output=grad_output,
        query=query,
        key=key,
        value=value,
        output=output,
        softmax_max=softmax_max,
        softmax_sum=softmax_sum,
    )
    expect_optional(pse=pse, drop_mask=drop_mask, atten_mask=atten_mask)
    expect_whole(num_heads=num_heads)
    expect_numbers(scale=scale)
    grad_query = empty(query.shape, query.dtype_name, device=grad_output.device)
    grad_key = empty(key.shape, key.dtype_name, device=grad_output.device)
    grad_value = empty(value.shape, value.dtype_name, device=grad_output.device)
    grad_pse = empty((0,), query.dtype_name, device=grad_output.device)
    if actual_seq_q_len is not None or actual_seq_kv_len is not None:
        ops.flash_attention_unpadding_score_grad(
            query=query,
            key_in=key,
            value=value,
            dy=grad_output,
            pse_shift=pse,
            drop_mask=drop_mask,
            padding_mask=None,
            atten_mask=atten_mask,
            softmax_max=softmax_max,
            softmax_sum=softmax_sum,
            softmax_in=None,
            attention_in=output,
            prefix=prefix,
            actual_seq_q_len=actual_seq_q_len,
            actual_seq_kv_len=actual_seq_kv_len,
            scale_value=scale,
            keep_prob=keep_prob,
            pre_tokens=pre_tokens,
            next_tokens=next_tokens,
            head_num=num_heads,
            input_layout=input_layout,
            inner_precise=inner_precise,
            sparse_mode=sparse_mode,
            dq_out=grad_query,
            dk_out=grad_key,
            dv_out=grad_value,
            dpse_out=grad_pse,
            stream=stream,
        )
    else:
        ops.flash_attention_score_grad(
            query=query,
            key_in=key,
            value=value,
            dy=grad_output,
            pse_shift=pse,
            drop_mask=drop_mask,
            padding_mask=None,
            atten_mask=atten_mask,
            softmax_max=softmax_max,
            softmax_sum=softmax_sum,
            softmax_in=None,
            attention_in=output,
            prefix=prefix,
            scale_value=scale,
            keep_prob=keep_prob,
            pre_tokens=pre_tokens,
            next_tokens=next_tokens,
            head_num=num_heads,
            input_layout=input_layout,
            inner_precise=inner_precise,
            sparse_mode=sparse_mode,
            dq_out=grad_query,
            dk_out=grad_key,
            dv_out=grad_value,
            dpse_out=grad_pse,
            stream=stream,
        )
    return grad_query, grad_key, grad_value
