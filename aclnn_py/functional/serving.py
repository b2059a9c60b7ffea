# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""What a service does between its layers: the next step, adapters, attention in parts."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional, expect_together
from aclnn_py.functional.latent import with_width
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "add_lora",
    "advance_step_",
    "ring_attention_update",
]


def advance_step_(
    input_tokens: Tensor,
    sampled_token_ids: Tensor,
    input_positions: Tensor,
    seq_lens: Tensor,
    slot_mapping: Tensor,
    block_tables: Tensor,
    *,
    num_seqs: int,
    num_queries: int,
    block_size: int,
    spec_token: Tensor | None = None,
    accepted_num: Tensor | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Move sequences on to the tokens that were sampled.

    Parameters
    ----------
    input_tokens : Tensor
        Written: the next tokens, int64, shape ``(sequences,)``; with guessed tokens a row of 1 +
        their number for each sequence. 1 to 2 dimensions; dtype int64.
    sampled_token_ids : Tensor
        The tokens that were sampled, int64, shape ``(queries, 1)``; with guessed tokens all of a
        sequence. 2 dimensions; dtype int64.
    input_positions : Tensor
        Written: the position of each token, int64. 1 to 2 dimensions; dtype int64.
    seq_lens : Tensor
        Written: one more than the position, int64. 1 to 2 dimensions; dtype int64.
    slot_mapping : Tensor
        Written: where the token goes in the cache, int64. 1 to 2 dimensions; dtype int64.
    block_tables : Tensor
        Pages of each sequence, int64, shape ``(sequences, pages)``. 2 dimensions; dtype int64.
    num_seqs : int
        Number of sequences, with those of padding.
    num_queries : int
        Number of sequences without padding.
    block_size : int
        Tokens of a page.
    spec_token : Tensor, optional
        Guessed tokens, int64, shape ``(sequences, guessed)``. 2 dimensions; dtype int64.
    accepted_num : Tensor, optional
        How many guesses of each sequence were right, int64. 1 dimension; dtype int64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input_tokens`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAdvanceStepV2 (``include/aclnnop/optim.h``), CANN: a release after 8.1.RC1;
    aclnnAdvanceStep (``include/aclnnop/optim.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(
        input_tokens=input_tokens,
        sampled_token_ids=sampled_token_ids,
        input_positions=input_positions,
        seq_lens=seq_lens,
        slot_mapping=slot_mapping,
        block_tables=block_tables,
    )
    expect_optional(spec_token=spec_token, accepted_num=accepted_num)
    expect_together(spec_token=spec_token, accepted_num=accepted_num)
    if spec_token is not None and accepted_num is not None:
        ops.advance_step_v2(
            input_tokens_ref=input_tokens,
            sampled_token_ids=sampled_token_ids,
            input_positions_ref=input_positions,
            seq_lens_ref=seq_lens,
            slot_mapping_ref=slot_mapping,
            block_tables=block_tables,
            spec_token=spec_token,
            accepted_num=accepted_num,
            num_seqs=num_seqs,
            num_queries=num_queries,
            block_size=block_size,
            stream=stream,
        )
    else:
        ops.advance_step(
            input_tokens,
            sampled_token_ids,
            input_positions,
            seq_lens,
            slot_mapping,
            block_tables,
            num_seqs,
            num_queries,
            block_size,
            stream=stream,
        )
    return input_tokens


@remembered
def add_lora(
    y: Tensor,
    x: Tensor,
    weight_b: Tensor,
    indices: Tensor,
    *,
    weight_a: Tensor | None = None,
    layer_idx: int = 0,
    scale: float = 1.0,
    y_offset: int = 0,
    y_slice_size: int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Add to each row what its adapter of low rank makes of it.

    Parameters
    ----------
    y : Tensor
        What the layer made, float16; shape ``(rows, width)``. 2 dimensions; dtype float16.
    x : Tensor
        What the layer was given, float16; shape ``(rows, inner)``. 2 dimensions; dtype float16.
    weight_b : Tensor
        Second matrices, shape ``(adapters, layers, columns, rank)``. 4 dimensions; dtype float16.
    indices : Tensor
        The adapter of each row, int32. 1 dimension; dtype int32.
    weight_a : Tensor, optional
        First matrices, shape ``(adapters, layers, rank, inner)``; without them ``x`` has been
        multiplied by them already. 4 dimensions; dtype float16.
    layer_idx : int, default 0
        The layer.
    scale : float, default 1.0
        Factor of what is added.
    y_offset : int, default 0
        The first column of ``y`` that is added to.
    y_slice_size : int, optional
        How many columns are added to; default is all behind ``y_offset``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``y``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddLora (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(y=y, x=x, weight_b=weight_b, indices=indices)
    expect_optional(weight_a=weight_a)
    expect_whole(layer_idx=layer_idx, y_offset=y_offset)
    size = with_width(y=y) - y_offset if y_slice_size is None else y_slice_size
    expect_whole(y_slice_size=size)
    out = empty(y.shape, y.dtype_name, device=y.device)
    ops.add_lora(
        y=y,
        x=x,
        weight_b=weight_b,
        indices=indices,
        weight_a=weight_a,
        layer_idx=layer_idx,
        scale=scale,
        y_offset=y_offset,
        y_slice_size=size,
        out=out,
        stream=stream,
    )
    return out


def ring_attention_update(
    prev_attn_out: Tensor,
    prev_softmax_max: Tensor,
    prev_softmax_sum: Tensor,
    cur_attn_out: Tensor,
    cur_softmax_max: Tensor,
    cur_softmax_sum: Tensor,
    *,
    actual_seq_qlen: Tensor | None = None,
    input_layout: str = "SBH",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Join attention over some keys with attention over others.

    Parameters
    ----------
    prev_attn_out : Tensor
        Attention over the first keys, shape as ``input_layout`` says. 3 dimensions; dtype float32 |
        float16 | bfloat16.
    prev_softmax_max : Tensor
        The maxima of the first, float32; shape ``(batch, heads, tokens, 8)``, or ``(tokens, heads,
        8)``. 3 to 4 dimensions; dtype float32.
    prev_softmax_sum : Tensor
        The sums of the first, float32; shape ``(batch, heads, tokens, 8)``, or ``(tokens, heads,
        8)``. 3 to 4 dimensions; dtype float32.
    cur_attn_out : Tensor
        Attention over the other keys, shape of ``prev_attn_out``. 3 dimensions; dtype float32 |
        float16 | bfloat16.
    cur_softmax_max : Tensor
        The maxima of the second, float32; shape ``(batch, heads, tokens, 8)``, or ``(tokens, heads,
        8)``. 3 to 4 dimensions; dtype float32.
    cur_softmax_sum : Tensor
        The sums of the second, float32; shape ``(batch, heads, tokens, 8)``, or ``(tokens, heads,
        8)``. 3 to 4 dimensions; dtype float32.
    actual_seq_qlen : Tensor, optional
        Where each sequence ends, int64, with 'TND'; it begins with 0. 1 dimension; dtype int64.
    input_layout : str, default 'SBH'
        'SBH', or 'TND' (packed sequences).
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    attn_out : Tensor
        Attention over both; shape and dtype of ``prev_attn_out``.
    softmax_max : Tensor
        The higher maximum, as ``prev_softmax_max``.
    softmax_sum : Tensor
        The sum against it, as ``prev_softmax_sum``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRingAttentionUpdate (``include/aclnnop/attention.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(
        prev_attn_out=prev_attn_out,
        prev_softmax_max=prev_softmax_max,
        prev_softmax_sum=prev_softmax_sum,
        cur_attn_out=cur_attn_out,
        cur_softmax_max=cur_softmax_max,
        cur_softmax_sum=cur_softmax_sum,
    )
    expect_optional(actual_seq_qlen=actual_seq_qlen)
    attn_out = empty(prev_attn_out.shape, prev_attn_out.dtype_name, device=prev_attn_out.device)
    softmax_max = empty(
        prev_softmax_max.shape, prev_softmax_max.dtype_name, device=prev_attn_out.device
    )
    softmax_sum = empty(
        prev_softmax_sum.shape, prev_softmax_sum.dtype_name, device=prev_attn_out.device
    )
    ops.ring_attention_update(
        prev_attn_out=prev_attn_out,
        prev_softmax_max=prev_softmax_max,
        prev_softmax_sum=prev_softmax_sum,
        cur_attn_out=cur_attn_out,
        cur_softmax_max=cur_softmax_max,
        cur_softmax_sum=cur_softmax_sum,
        actual_seq_qlen=actual_seq_qlen,
        input_layout=input_layout,
        attn_out_out=attn_out,
        softmax_max_out=softmax_max,
        softmax_sum_out=softmax_sum,
        stream=stream,
    )
    return attn_out, softmax_max, softmax_sum
