# SPDX-License-Identifier: Apache-2.0
"""Linear attention that keeps a matrix per head."""

from __future__ import annotations

from typing import Any

from aclnn_py import ops
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = ["chunk_gated_delta_rule", "recurrent_gated_delta_rule"]


def chunk_gated_delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    initial_state: Tensor,
    actual_seq_lengths: Tensor,
    *,
    g: Tensor | None = None,
    scale: float | None = None,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend with the gated delta rule over whole sequences, as a prompt needs it.

    Each token multiplies the matrix ``S`` of its head by ``exp(g)``, adds ``beta * (v - S k) k^T``,
    and answers with ``scale * S q``.

    Parameters
    ----------
    query, key : Tensor
        Shape ``(tokens, key_heads, key_width)``; dtype bfloat16; format ND. Sequences lie one
        behind the other. Vectors are expected to have the length 1.
    value : Tensor
        Shape ``(tokens, heads, value_width)``; dtype bfloat16; format ND. ``heads`` is a multiple
        of ``key_heads``.
    beta : Tensor
        How much a token learns, between 0 and 1. Shape ``(tokens, heads)``; dtype bfloat16.
    initial_state : Tensor
        Shape ``(sequences, heads, value_width, key_width)``; dtype bfloat16, or float32 on a 950.
    actual_seq_lengths : Tensor
        Tokens of each sequence. Shape ``(sequences,)``; dtype int32.
    g : Tensor, optional
        Logarithm of how much a token keeps; default keeps all. Shape ``(tokens, heads)``; dtype
        float32.
    scale : float, optional
        Factor of the queries; default is ``key_width ** -0.5``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple of Tensor
        The answers in shape and dtype of ``value``, and the matrices behind the last tokens in
        shape and dtype of ``initial_state``.

    Raises
    ------
    AclnnError
        161002 a dtype is refused; 561002 the shapes do not belong together.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnChunkGatedDeltaRule (``include/aclnnop/attention.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(query=query, value=value, initial_state=initial_state)
    out = empty(value.shape, value.dtype, device=value.device)
    final = empty(initial_state.shape, initial_state.dtype, device=value.device)
    factor = _scale(query, scale)
    ops.chunk_gated_delta_rule(
        *(query, key, value, beta, initial_state, actual_seq_lengths, g, factor, out, final),
        stream=stream,
    )
    return out, final


def recurrent_gated_delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    state: Tensor,
    actual_seq_lengths: Tensor,
    ssm_state_indices: Tensor,
    *,
    g: Tensor | None = None,
    gk: Tensor | None = None,
    num_accepted_tokens: Tensor | None = None,
    scale: float | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Attend with the gated delta rule over a few tokens of each sequence, as decoding needs it.

    The rule is that of `chunk_gated_delta_rule`; the matrix behind each token is written to
    ``state``.

    Parameters
    ----------
    query, key : Tensor
        Shape ``(tokens, key_heads, key_width)``; dtype bfloat16; format ND. Sequences lie one
        behind the other. Vectors are expected to have the length 1.
    value : Tensor
        Shape ``(tokens, heads, value_width)``; dtype bfloat16; format ND. ``heads`` is a multiple
        of ``key_heads``.
    beta : Tensor
        How much a token learns, between 0 and 1. Shape ``(tokens, heads)``; dtype bfloat16.
    state : Tensor
        Matrices, read and written. Shape ``(slots, heads, value_width, key_width)``; dtype
        bfloat16.
    actual_seq_lengths : Tensor
        Tokens of each sequence, at most 8. Shape ``(sequences,)``; dtype int32.
    ssm_state_indices : Tensor
        The slot of each token. Shape ``(tokens,)``; dtype int32.
    g : Tensor, optional
        Logarithm of how much a token keeps; default keeps all. Shape ``(tokens, heads)``; dtype
        float32.
    gk : Tensor, optional
        The same for each column. Shape ``(tokens, heads, key_width)``; dtype float32.
    num_accepted_tokens : Tensor, optional
        The token of each sequence, counted from 1, in whose slot its matrix lies at first; default
        is 1. Shape ``(sequences,)``; dtype int32.
    scale : float, optional
        Factor of the queries; default is ``key_width ** -0.5``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        The answers in shape and dtype of ``value``.

    Raises
    ------
    AclnnError
        161002 an argument is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnRecurrentGatedDeltaRule (``include/aclnnop/attention.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(query=query, value=value)
    # The C parameter may be null although its name does not say so.
    accepted: Any = num_accepted_tokens
    out = empty(value.shape, value.dtype, device=value.device)
    ops.recurrent_gated_delta_rule(
        query,
        key,
        value,
        beta,
        state,
        actual_seq_lengths,
        ssm_state_indices,
        g,
        gk,
        accepted,
        _scale(query, scale),
        out,
        stream=stream,
    )
    return out


def _scale(query: Tensor, scale: float | None) -> float:
    if scale is not None:
        return scale
    if not query.shape or query.shape[-1] == 0:
        raise ValueError(f"query: shape {query.shape} has no width; give scale")
    return float(query.shape[-1] ** -0.5)
