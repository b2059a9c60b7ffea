# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Experts: which of them a token goes to, its way there and back."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.functional.routed import (
    counts_shape,
    expanded_shape,
    finalized_rows,
    mapped_rows,
    permuted_rows,
)
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "moe_compute_expert_tokens",
    "moe_finalize_routing",
    "moe_gating_top_k",
    "moe_gating_top_k_softmax",
    "moe_init_routing",
    "moe_token_permute",
    "moe_token_permute_with_routing_map",
    "moe_token_unpermute",
    "moe_token_unpermute_with_routing_map",
    "moe_update_expert",
]


def moe_gating_top_k_softmax(
    input: Tensor, finished: Tensor | None = None, k: int = 1, *, stream: Stream | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Choose the ``k`` likeliest experts of each token.

    Parameters
    ----------
    input : Tensor
        Scores, shape ``(..., experts)``; dtype float16 | bfloat16 | float32. 2 to 3 dimensions;
        dtype float32 | float16 | bfloat16.
    finished : Tensor, optional
        True for tokens that need no expert: they get the number of experts. bool, shape ``(...)``.
        1 to 2 dimensions; dtype bool.
    k : int, default 1
        How many experts each token gets.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    y : Tensor
        Probabilities of the chosen experts; shape ``(..., k)``, dtype of ``input``.
    expert_idx : Tensor
        The chosen experts, int32, shape ``(..., k)``.
    row_idx : Tensor
        The number of each choice when choices are counted expert by expert, int32, shape ``(...,
        k)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Probabilities are the softmax over all experts; they are not divided by their sum.

    Source
    ------
    aclnnMoeGatingTopKSoftmax (``include/aclnnop/moe.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(finished=finished)
    expect_whole(k=k)
    y = empty((*input.shape[:-1], k), input.dtype_name, device=input.device)
    expert_idx = empty((*input.shape[:-1], k), "int32", device=input.device)
    row_idx = empty((*input.shape[:-1], k), "int32", device=input.device)
    ops.moe_gating_top_k_softmax(input, finished, k, y, expert_idx, row_idx, stream=stream)
    return y, expert_idx, row_idx


def moe_gating_top_k(
    input: Tensor,
    k: int,
    *,
    bias: Tensor | None = None,
    k_group: int = 1,
    group_count: int = 1,
    group_select_mode: int = 0,
    renorm: int = 0,
    norm_type: int = 0,
    out_flag: bool = False,
    routed_scaling_factor: float = 1.0,
    eps: float = 1e-20,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Choose the ``k`` best experts of each token within its best groups of experts.

    Parameters
    ----------
    input : Tensor
        Scores, shape ``(tokens, experts)``; dtype float16 | bfloat16 | float32. 2 dimensions; dtype
        float32 | float16 | bfloat16.
    k : int
        How many experts each token gets.
    bias : Tensor, optional
        Added to the normalised scores for the choice, not for the weights; shape ``(experts,)``,
        dtype of ``input``. 1 dimension; dtype float32 | float16 | bfloat16.
    k_group : int, default 1
        How many groups of experts a token may choose from.
    group_count : int, default 1
        Number of groups.
    group_select_mode : int, default 0
        A group counts with 0 its best score, 1 the sum of its two best.
    renorm : int, default 0
        0; the operator knows no other.
    norm_type : int, default 0
        0 normalises scores by softmax, 1 by sigmoid and divides the weights by their sum.
    out_flag : bool, default False
        Whether to give all scores.
    routed_scaling_factor : float, default 1.0
        Factor of the weights.
    eps : float, default 1e-20
        Added to the sum of the weights.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    y : Tensor
        Weights of the chosen experts; shape ``(tokens, k)``, dtype of ``input``.
    expert_idx : Tensor
        The chosen experts, int32, shape ``(tokens, k)``.
    scores : Tensor
        Scores of all experts, float32, shape of ``input``; undefined unless ``out_flag`` is set.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeGatingTopK (``include/aclnnop/moe.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(bias=bias)
    expect_whole(k=k)
    y = empty((*input.shape[:-1], k), input.dtype_name, device=input.device)
    expert_idx = empty((*input.shape[:-1], k), "int32", device=input.device)
    scores = empty(input.shape, "float32", device=input.device)
    ops.moe_gating_top_k(
        x=input,
        bias=bias,
        k=k,
        k_group=k_group,
        group_count=group_count,
        group_select_mode=group_select_mode,
        renorm=renorm,
        norm_type=norm_type,
        out_flag=out_flag,
        routed_scaling_factor=routed_scaling_factor,
        eps=eps,
        y_out=y,
        expert_idx_out=expert_idx,
        out_out=scores,
        stream=stream,
    )
    return y, expert_idx, scores


def moe_init_routing(
    x: Tensor,
    expert_idx: Tensor,
    expert_num: int,
    *,
    scale: Tensor | None = None,
    offset: Tensor | None = None,
    active_num: int = 0,
    expert_capacity: int = 0,
    drop_pad_mode: int = 0,
    expert_tokens_num_type: int = 1,
    quant_mode: int = -1,
    active_expert_range: Sequence[int] | None = None,
    row_idx_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Copy tokens into the order of their experts.

    Parameters
    ----------
    x : Tensor
        Shape ``(tokens, width)``. 2 dimensions; dtype float32 | float16 | bfloat16 | int8 |
        float8_e4m3fn | float8_e5m2 | hifloat8 | float4_e2m1.
    expert_idx : Tensor
        Experts of each token, int32, shape ``(tokens, k)``. 2 dimensions; dtype int32.
    expert_num : int
        Number of experts.
    scale : Tensor, optional
        Without quantisation a factor of each token, shape ``(tokens,)``; with ``quant_mode`` 0 one
        factor, with 1 a row for each expert of the range. Dtype float32 | float8_e8m0.
    offset : Tensor, optional
        What ``quant_mode`` 0 adds. Dtype float32.
    active_num : int, default 0
        Most rows of the result; 0 for all.
    expert_capacity : int, default 0
        Rows of an expert with ``drop_pad_mode`` 1.
    drop_pad_mode : int, default 0
        1: each expert has ``expert_capacity`` rows, further tokens are dropped and missing ones are
        zeros.
    expert_tokens_num_type : int, default 1
        0: the ends of the experts' rows; 1: their numbers; 2: pairs of an expert and its number.
    quant_mode : int, default -1
        -1: none; 0: by one factor; 1: each row by its own.
    active_expert_range : sequence of int, optional
        First expert and the one behind the last; default is all.
    row_idx_type : int, default 0
        0: the place of each choice, -1 for one without a row; 1: the choice of each place.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    expanded_x : Tensor
        Rows of tokens in the order of their experts; shape ``(tokens * k, width)``, or with
        ``drop_pad_mode`` ``(experts, expert_capacity, width)``; dtype of ``x``, int8 with
        ``quant_mode``. Rows behind the last choice are undefined.
    expanded_row_idx : Tensor
        Where the row of each choice lies, int32, shape ``(tokens * k,)``; see ``row_idx_type``.
    expert_tokens : Tensor
        Number of tokens of each expert in the range; int64.
    expanded_scale : Tensor
        What each row is to be multiplied with, float32, with ``quant_mode`` 1 or ``scale``; shape
        ``(rows,)``. Else undefined.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeInitRoutingV3 (``include/aclnnop/moe.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(x=x, expert_idx=expert_idx)
    expect_optional(scale=scale, offset=offset)
    expanded_x = empty(
        expanded_shape(x, expert_idx, expert_num, active_num, expert_capacity, drop_pad_mode),
        x.dtype_name if quant_mode == -1 else "int8",
        device=x.device,
    )
    expanded_row_idx = empty((expert_idx.count,), "int32", device=x.device)
    expert_tokens = empty(
        counts_shape(expert_num, active_expert_range, expert_tokens_num_type),
        "int64",
        device=x.device,
    )
    expanded_scale = empty((prod(expanded_x.shape[:-1]),), "float32", device=x.device)
    ops.moe_init_routing_v3(
        x=x,
        expert_idx=expert_idx,
        scale=scale,
        offset=offset,
        active_num=active_num or expert_idx.count,
        expert_capacity=expert_capacity,
        expert_num=expert_num,
        drop_pad_mode=drop_pad_mode,
        expert_tokens_num_type=expert_tokens_num_type,
        expert_tokens_num_flag=True,
        quant_mode=quant_mode,
        active_expert_range=active_expert_range,
        row_idx_type=row_idx_type,
        expanded_x_out=expanded_x,
        expanded_row_idx_out=expanded_row_idx,
        expert_tokens_count_or_cumsum_out=expert_tokens,
        expanded_scale_out=expanded_scale,
        stream=stream,
    )
    return expanded_x, expanded_row_idx, expert_tokens, expanded_scale


@remembered
def moe_finalize_routing(
    expanded_x: Tensor,
    expanded_row_idx: Tensor,
    *,
    x1: Tensor | None = None,
    x2: Tensor | None = None,
    bias: Tensor | None = None,
    scales: Tensor | None = None,
    expert_idx: Tensor | None = None,
    drop_pad_mode: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Add up the results of each token's experts.

    Parameters
    ----------
    expanded_x : Tensor
        Rows of tokens in the order of their experts; shape ``(rows, width)``, or with
        ``drop_pad_mode`` 1 and 3 ``(experts, capacity, width)``. Dtype float32 | float16 |
        bfloat16.
    expanded_row_idx : Tensor
        Where the row of each choice lies, int32, shape ``(tokens * k,)``. 1 dimension; dtype int32.
    x1 : Tensor, optional
        Added to the sum; shape of the result. Dtype float32 | float16 | bfloat16.
    x2 : Tensor, optional
        Added to the sum too. Dtype float32 | float16 | bfloat16.
    bias : Tensor, optional
        Added to the results of each expert; shape ``(experts, width)``. 2 dimensions; dtype float32
        | float16 | bfloat16.
    scales : Tensor, optional
        Weights of the choices, shape ``(tokens, k)``; without them a token has one choice of weight
        1. 2 dimensions; dtype float32 | float16 | bfloat16.
    expert_idx : Tensor, optional
        Experts of each token, shape of ``scales``; needed for ``bias``. 2 dimensions; dtype int32.
    drop_pad_mode : int, default 0
        0 and 1: ``expanded_row_idx`` lists all first choices, then all second ones; 2 and 3: all
        choices of the first token, then those of the second, as `moe_init_routing` gives it. With 1
        and 3 experts have a fixed number of rows.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(tokens, width)``; dtype of ``expanded_x``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeFinalizeRoutingV2 (``include/aclnnop/moe.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(expanded_x=expanded_x, expanded_row_idx=expanded_row_idx)
    expect_optional(x1=x1, x2=x2, bias=bias, scales=scales, expert_idx=expert_idx)
    out = empty(
        (finalized_rows(expanded_row_idx, scales), expanded_x.shape[-1]),
        expanded_x.dtype_name,
        device=expanded_x.device,
    )
    ops.moe_finalize_routing_v2(
        expanded_x,
        expanded_row_idx,
        x1,
        x2,
        bias,
        scales,
        expert_idx,
        drop_pad_mode,
        out,
        stream=stream,
    )
    return out


def moe_token_permute(
    tokens: Tensor, indices: Tensor, num_out_tokens: int = 0, *, stream: Stream | None = None
) -> tuple[Tensor, Tensor]:
    """Copy tokens into the order of their experts.

    Parameters
    ----------
    tokens : Tensor
        Shape ``(tokens, width)``. 2 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8.
    indices : Tensor
        Experts of each token, int32 or int64, shape ``(tokens,)`` or ``(tokens, k)``. 1 to 2
        dimensions; dtype int32 | int64.
    num_out_tokens : int, default 0
        Number of rows to keep; 0 for all, a negative number leaves out as many.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    permuted_tokens : Tensor
        Rows of tokens in the order of their experts; shape ``(rows, width)``, dtype of ``tokens``.
    sorted_indices : Tensor
        Where the row of each choice lies, int32, shape ``(tokens * k,)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeTokenPermute (``include/aclnnop/moe.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(tokens=tokens, indices=indices)
    permuted_tokens = empty(
        (permuted_rows(indices, num_out_tokens), *tokens.shape[1:]),
        tokens.dtype_name,
        device=tokens.device,
    )
    sorted_indices = empty((indices.count,), "int32", device=tokens.device)
    ops.moe_token_permute(
        tokens, indices, num_out_tokens, False, permuted_tokens, sorted_indices, stream=stream
    )
    return permuted_tokens, sorted_indices


@remembered
def moe_token_unpermute(
    permuted_tokens: Tensor,
    sorted_indices: Tensor,
    probs: Tensor | None = None,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Add up the rows of each token.

    Parameters
    ----------
    permuted_tokens : Tensor
        Rows of tokens in the order of their experts; shape ``(rows, width)``. 2 dimensions; dtype
        float32 | float16 | bfloat16.
    sorted_indices : Tensor
        Where the row of each choice lies, int32, shape ``(tokens * k,)``, as `moe_token_permute`
        gives it. 1 dimension; dtype int32.
    probs : Tensor, optional
        Weights of the choices, shape ``(tokens, k)``; without them a token has one choice of weight
        1. 2 dimensions; dtype float32 | float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(tokens, width)``, dtype of ``permuted_tokens``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeTokenUnpermute (``include/aclnnop/moe.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(permuted_tokens=permuted_tokens, sorted_indices=sorted_indices)
    expect_optional(probs=probs)
    out = empty(
        (finalized_rows(sorted_indices, probs), permuted_tokens.shape[-1]),
        permuted_tokens.dtype_name,
        device=permuted_tokens.device,
    )
    ops.moe_token_unpermute(permuted_tokens, sorted_indices, probs, False, None, out, stream=stream)
    return out


@remembered
def moe_compute_expert_tokens(
    sorted_experts: Tensor, num_experts: int, *, stream: Stream | None = None
) -> Tensor:
    """Count how many rows lie before the end of each expert's rows.

    Parameters
    ----------
    sorted_experts : Tensor
        The expert of each row, in ascending order. 1 dimension; dtype int32.
    num_experts : int
        Number of experts.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        int32, shape ``(num_experts,)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeComputeExpertTokens (``include/aclnnop/moe.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(sorted_experts=sorted_experts)
    expect_whole(num_experts=num_experts)
    out = empty((num_experts,), "int32", device=sorted_experts.device)
    ops.moe_compute_expert_tokens(sorted_experts, num_experts, out, stream=stream)
    return out


def moe_token_permute_with_routing_map(
    tokens: Tensor,
    routing_map: Tensor,
    num_out_tokens: int,
    *,
    probs: Tensor | None = None,
    drop_and_pad: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Copy tokens to the experts that a map of zeros and ones names.

    Parameters
    ----------
    tokens : Tensor
        Shape ``(tokens, width)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    routing_map : Tensor
        Whether a token goes to an expert, bool or int8, shape ``(tokens, experts)``. 2 dimensions;
        dtype int8 | bool.
    num_out_tokens : int
        Number of rows.
    probs : Tensor, optional
        Probabilities, shape ``(tokens, experts)``. 2 dimensions; dtype float32 | float16 |
        bfloat16.
    drop_and_pad : bool, default False
        Whether every expert gets the same number of rows.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    permuted_tokens : Tensor
        Rows of tokens in the order of their experts; shape ``(rows, width)``, dtype of ``tokens``;
        ``rows`` is the multiple below ``num_out_tokens`` of the tokens, or, with ``drop_and_pad``,
        of the experts.
    permuted_probs : Tensor
        Probability of each row, shape ``(rows,)``, dtype of ``probs``; without elements when there
        are none.
    sorted_indices : Tensor
        Where the copies of each token lie, or, with ``drop_and_pad``, the token of each row; int32,
        shape ``(rows,)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeTokenPermuteWithRoutingMap (``include/aclnnop/moe.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(tokens=tokens, routing_map=routing_map)
    expect_optional(probs=probs)
    rows = mapped_rows(routing_map, num_out_tokens, drop_and_pad)
    permuted_tokens = empty((rows, *tokens.shape[1:]), tokens.dtype_name, device=tokens.device)
    permuted_probs = empty(
        (rows,) if probs is not None else (0,),
        probs.dtype_name if probs is not None else "float32",
        device=tokens.device,
    )
    sorted_indices = empty((rows,), "int32", device=tokens.device)
    ops.moe_token_permute_with_routing_map(
        tokens,
        routing_map,
        probs,
        num_out_tokens,
        drop_and_pad,
        permuted_tokens,
        permuted_probs if probs is not None else None,
        sorted_indices,
        stream=stream,
    )
    return permuted_tokens, permuted_probs, sorted_indices


def moe_token_unpermute_with_routing_map(
    permuted_tokens: Tensor,
    sorted_indices: Tensor,
    num_tokens: int,
    *,
    routing_map: Tensor | None = None,
    probs: Tensor | None = None,
    padded_mode: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Add up the copies of each token that `moe_token_permute_with_routing_map` made.

    Parameters
    ----------
    permuted_tokens : Tensor
        Rows of tokens in the order of their experts; shape ``(rows, width)``.
    sorted_indices : Tensor
        What `moe_token_permute_with_routing_map` gave, int32, shape ``(rows,)``.
    num_tokens : int
        Number of tokens.
    routing_map : Tensor, optional
        What the permutation got; needed with ``probs``.
    probs : Tensor, optional
        Weights of the copies, shape ``(tokens, experts)``.
    padded_mode : bool, default False
        ``drop_and_pad`` of the permutation.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(num_tokens, width)``, dtype of ``permuted_tokens``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeTokenUnpermuteWithRoutingMap (``include/aclnnop/moe.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(permuted_tokens=permuted_tokens, sorted_indices=sorted_indices)
    expect_optional(routing_map=routing_map, probs=probs)
    expect_whole(num_tokens=num_tokens)
    out = empty(
        (num_tokens, permuted_tokens.shape[-1]),
        permuted_tokens.dtype_name,
        device=permuted_tokens.device,
    )
    rows = empty((permuted_tokens.shape[0],), "int32", device=permuted_tokens.device)
    owners = empty((permuted_tokens.shape[0],), "int32", device=permuted_tokens.device)
    factors = empty(
        (permuted_tokens.shape[0],),
        probs.dtype_name if probs is not None else "float32",
        device=permuted_tokens.device,
    )
    ops.moe_token_unpermute_with_routing_map(
        permuted_tokens=permuted_tokens,
        sorted_indices=sorted_indices,
        routing_map=routing_map,
        probs=probs,
        padded_mode=padded_mode,
        restore_shape=(num_tokens, permuted_tokens.shape[-1]) if padded_mode else None,
        unpermuted_tokens=out,
        out_index=rows,
        permute_token_id=owners,
        permute_probs=factors,
        stream=stream,
    )
    return out


def moe_update_expert(
    expert_ids: Tensor,
    eplb_table: Tensor,
    local_rank_id: int,
    world_size: int,
    *,
    balance_mode: int = 0,
    expert_scales: Tensor | None = None,
    pruning_threshold: Tensor | None = None,
    active_mask: Tensor | None = None,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Choose a copy of each expert, and leave out experts of little weight.

    Parameters
    ----------
    expert_ids : Tensor
        Experts of each token, int32 or int64, shape ``(tokens, k)``. 2 dimensions; dtype int32 |
        int64.
    eplb_table : Tensor
        Number of copies of each expert and then the copies, int32, shape ``(experts, width)``. 2
        dimensions; dtype int32.
    local_rank_id : int
        Number of this rank.
    world_size : int
        Number of ranks.
    balance_mode : int, default 0
        0: a rank takes the copy that its number names. 1: a token does.
    expert_scales : Tensor, optional
        Weights of the choices, shape of ``expert_ids``. 2 dimensions; dtype float32 | float16 |
        bfloat16.
    pruning_threshold : Tensor, optional
        A choice is left out whose weight is below the sum of the token's weights times this,
        float32, shape ``(k,)`` or ``(1, k)``. 1 to 2 dimensions; dtype float32.
    active_mask : Tensor, optional
        Which tokens take part, bool, shape ``(tokens,)``. 1 dimension; dtype bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    balanced_expert_ids : Tensor
        The copies; shape and dtype of ``expert_ids``.
    balanced_active_mask : Tensor
        Which choices are kept, bool, shape of ``expert_ids``; undefined without
        ``pruning_threshold``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMoeUpdateExpert (``include/aclnnop/mc2.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(expert_ids=expert_ids, eplb_table=eplb_table)
    expect_optional(
        expert_scales=expert_scales, pruning_threshold=pruning_threshold, active_mask=active_mask
    )
    balanced_expert_ids = empty(expert_ids.shape, expert_ids.dtype_name, device=expert_ids.device)
    balanced_active_mask = empty(expert_ids.shape, "bool", device=expert_ids.device)
    ops.moe_update_expert(
        expert_ids=expert_ids,
        eplb_table=eplb_table,
        expert_scales=expert_scales,
        pruning_threshold=pruning_threshold,
        active_mask=active_mask,
        local_rank_id=local_rank_id,
        world_size=world_size,
        balance_mode=balance_mode,
        balanced_expert_ids=balanced_expert_ids,
        balanced_active_mask=balanced_active_mask,
        stream=stream,
    )
    return balanced_expert_ids, balanced_active_mask
