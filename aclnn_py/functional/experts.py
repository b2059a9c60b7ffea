# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Layers of experts: grouped products fused with what stands around them."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import check_grouped, expect_optional, has_operator, in_list
from aclnn_py.functional.promotion import DTypeLike
from aclnn_py.functional.shapes import values_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.formats import Format
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "dequant_swiglu_quant",
    "ffn",
    "grouped_matmul",
    "grouped_matmul_finalize_routing",
    "grouped_matmul_swiglu_quant",
]


@remembered
def grouped_matmul(
    x: Tensor,
    weight: Tensor,
    group_list: Tensor,
    *,
    bias: Tensor | None = None,
    scale: Tensor | None = None,
    offset: Tensor | None = None,
    per_token_scale: Tensor | None = None,
    antiquant_scale: Tensor | None = None,
    antiquant_offset: Tensor | None = None,
    group_list_type: int = 0,
    act_type: int = 0,
    output_dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply each group of rows by its own weight, which may be quantised.

    Parameters
    ----------
    x : Tensor
        Shape ``(m, k)``; float16 | bfloat16 | float32, int8 beside a weight of int8 or int4, int4
        beside one of int4.
    weight : Tensor
        Shape ``(groups, k, n)``; dtype of ``x``, or int8 and int4 to be scaled first; int8 also in
        FRACTAL_NZ.
    group_list : Tensor
        Shape ``(groups,)``; dtype int64; see ``group_list_type``. 1 to 2 dimensions; dtype int64.
    bias : Tensor, optional
        Shape ``(groups, n)``. Of int8 with int4 the sums along k of ``8 * weight * scale``, in
        float32.
    scale : Tensor, optional
        Factors of the columns of a product of integers, shape ``(groups, n)``; of an int4 weight as
        uint64 that holds a float32, also ``(groups, pieces, n)`` for equal pieces of k.
    offset : Tensor, optional
        What is added to a weight of int4 beside int8, times its scale; float32, shape ``(groups, 1,
        n)``.
    per_token_scale : Tensor, optional
        Factors of the rows of a product of integers, shape ``(m,)``.
    antiquant_scale : Tensor, optional
        Factors of a quantised weight beside float ``x``, shape ``(groups, n)``.
    antiquant_offset : Tensor, optional
        What is added to such a weight first, shape of ``antiquant_scale``.
    group_list_type : int, default 0
        0: ``group_list`` holds the row where each group ends; 1: how many rows it has.
    act_type : int, default 0
        Activation of an int8 product: 0 none, 1 relu, 2 gelu (tanh), 4 fast gelu, 5 silu.
    output_dtype : dtype-like, optional
        Default is the dtype of ``x``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)``; dtype ``output_dtype``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGroupedMatmulV5 (``include/aclnnop/gmm.h``), CANN: a release after 8.1.RC1;
    aclnnGroupedMatmulV4 (``include/aclnnop/gmm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x=x, weight=weight, group_list=group_list)
    expect_optional(
        bias=bias,
        scale=scale,
        offset=offset,
        per_token_scale=per_token_scale,
        antiquant_scale=antiquant_scale,
        antiquant_offset=antiquant_offset,
    )
    check_grouped(x, weight)
    out = empty(
        (x.shape[0], values_shape(weight)[-1]),
        x.dtype_name if output_dtype is None else output_dtype,
        device=x.device,
    )
    if has_operator("grouped_matmul_v5"):
        ops.grouped_matmul_v5(
            x=[x],
            weight=[weight],
            bias=in_list(bias),
            scale=in_list(scale),
            offset=in_list(offset),
            antiquant_scale=in_list(antiquant_scale),
            antiquant_offset=in_list(antiquant_offset),
            per_token_scale=in_list(per_token_scale),
            group_list=group_list,
            activation_input=None,
            activation_quant_scale=None,
            activation_quant_offset=None,
            split_item=3,
            group_type=0,
            group_list_type=group_list_type,
            act_type=act_type,
            tuning_config=None,
            out=[out],
            activation_feature_out=None,
            dyn_quant_scale_out=None,
            stream=stream,
        )
    else:
        ops.grouped_matmul_v4(
            x=[x],
            weight=[weight],
            bias=in_list(bias),
            scale=in_list(scale),
            offset=in_list(offset),
            antiquant_scale=in_list(antiquant_scale),
            antiquant_offset=in_list(antiquant_offset),
            per_token_scale=in_list(per_token_scale),
            group_list=group_list,
            activation_input=None,
            activation_quant_scale=None,
            activation_quant_offset=None,
            split_item=3,
            group_type=0,
            group_list_type=group_list_type,
            act_type=act_type,
            out=[out],
            activation_feature_out=None,
            dyn_quant_scale_out=None,
            stream=stream,
        )
    return out


@remembered
def grouped_matmul_finalize_routing(
    x: Tensor,
    weight: Tensor,
    group_list: Tensor,
    row_index: Tensor,
    tokens: int,
    scale: Tensor,
    *,
    bias: Tensor | None = None,
    offset: Tensor | None = None,
    pertoken_scale: Tensor | None = None,
    shared_input: Tensor | None = None,
    logit: Tensor | None = None,
    shared_input_weight: float = 1.0,
    shared_input_offset: int = 0,
    group_list_type: int = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply quantised rows by the weight of their group and add them up by token.

    Parameters
    ----------
    x : Tensor
        Shape ``(m, k)``; dtype int8. 2 dimensions; dtype int8 | float8_e4m3fn | hifloat8.
    weight : Tensor
        Shape ``(groups, k, n)``; int8 in FRACTAL_NZ, or int4. 3 dimensions; dtype int8 | int32 |
        int4 | float8_e4m3fn | hifloat8 | float4_e2m1.
    group_list : Tensor
        Shape ``(groups,)``; dtype int64; see ``group_list_type``. Dtype int64.
    row_index : Tensor
        The token of each row; int64, shape ``(m,)``. Dtype int32 | int64.
    tokens : int
        Number of tokens.
    scale : Tensor
        Factors of the columns: ``(groups, n)`` beside int8, packed ``(groups, 1, n)`` beside int4.
        Dtype float32 | bfloat16 | int64 | float8_e8m0.
    bias : Tensor, optional
        Beside int4: eight times the sum over k of the scaled weight; shape ``(groups, n)``. Beside
        int8: added to the product. Dtype float32 | bfloat16.
    offset : Tensor, optional
        Beside int4: shape ``(groups, 1, n)``. Dtype float32.
    pertoken_scale : Tensor, optional
        Factors of the rows, float32, shape ``(m,)``. Dtype float32 | float8_e8m0.
    shared_input : Tensor, optional
        Rows of an expert that all tokens share, bfloat16. 2 dimensions; dtype bfloat16.
    logit : Tensor, optional
        Weights of the rows, float32, shape ``(m,)``. Dtype float32.
    shared_input_weight : float, default 1.0
        Factor of ``shared_input``.
    shared_input_offset : int, default 0
        The token that the first row of ``shared_input`` is added to.
    group_list_type : int, default 1
        0: ``group_list`` holds the row where each group ends; 1: how many rows it has.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(tokens, n)``; dtype float32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGroupedMatmulFinalizeRoutingWeightNzV2 (``include/aclnnop/gmm.h``), CANN: a release after
    8.1.RC1; aclnnGroupedMatmulFinalizeRoutingV2 (``include/aclnnop/gmm.h``), CANN: a release after
    8.1.RC1.
    """
    expect_tensors(x=x, weight=weight, group_list=group_list, row_index=row_index, scale=scale)
    expect_optional(
        bias=bias,
        offset=offset,
        pertoken_scale=pertoken_scale,
        shared_input=shared_input,
        logit=logit,
    )
    expect_whole(tokens=tokens)
    out = empty((tokens, values_shape(weight)[-1]), "float32", device=x.device)
    if weight.format == Format.FRACTAL_NZ:
        ops.grouped_matmul_finalize_routing_weight_nz_v2(
            x1=x,
            x2=weight,
            scale=scale,
            bias=bias,
            offset=offset,
            antiquant_scale=None,
            antiquant_offset=None,
            pertoken_scale=pertoken_scale,
            group_list=group_list,
            shared_input=shared_input,
            logit=logit,
            row_index=row_index,
            dtype=0,
            shared_input_weight=shared_input_weight,
            shared_input_offset=shared_input_offset,
            transpose_x1=False,
            transpose_x2=False,
            group_list_type=group_list_type,
            tuning_config=None,
            out=out,
            stream=stream,
        )
    else:
        ops.grouped_matmul_finalize_routing_v2(
            x1=x,
            x2=weight,
            scale=scale,
            bias=bias,
            offset=offset,
            antiquant_scale=None,
            antiquant_offset=None,
            pertoken_scale=pertoken_scale,
            group_list=group_list,
            shared_input=shared_input,
            logit=logit,
            row_index=row_index,
            dtype=0,
            shared_input_weight=shared_input_weight,
            shared_input_offset=shared_input_offset,
            transpose_x1=False,
            transpose_x2=False,
            group_list_type=group_list_type,
            out=out,
            stream=stream,
        )
    return out


def grouped_matmul_swiglu_quant(
    x: Tensor,
    weight: Tensor,
    weight_scale: Tensor,
    x_scale: Tensor,
    group_list: Tensor,
    *,
    smooth_scale: Tensor | None = None,
    weight_assist_matrix: Tensor | None = None,
    group_list_type: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Multiply quantised rows by the weight of their group, gate them and quantise them.

    Parameters
    ----------
    x : Tensor
        Shape ``(m, k)``; dtype int8 or int4. 2 dimensions; dtype int8 | int32 | int4 |
        float8_e4m3fn | float8_e5m2 | hifloat8 | float4_e2m1.
    weight : Tensor
        Shape ``(groups, k, n)``; int8 in FRACTAL_NZ, or int4.
    weight_scale : Tensor
        Shape ``(groups, n)``, or ``(groups, pieces of k, n)`` beside int4; float beside int8,
        packed as uint64 beside int4.
    x_scale : Tensor
        Shape ``(m,)``; dtype float32. 1 or 3 dimensions; dtype float32 | float8_e8m0.
    group_list : Tensor
        Shape ``(groups,)``; dtype int64; see ``group_list_type``. 1 dimension; dtype int64.
    smooth_scale : Tensor, optional
        Factors of the gated values, only with int4 ``x`` and ``weight``; shape ``(groups,)`` or
        ``(groups, n / 2)``; dtype float32. 1 to 2 dimensions; dtype float32.
    weight_assist_matrix : Tensor, optional
        Eight times the sum over k of the scaled weight, only with int8 ``x`` and int4 ``weight``;
        shape ``(groups, n)``; dtype float32.
    group_list_type : int, default 0
        0: ``group_list`` holds the row where each group ends; 1: how many rows it has.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape ``(m, n / 2)``; dtype int8. Rows of no group are undefined.
    out_scale : Tensor
        What each row is to be multiplied with; shape ``(m,)``; dtype float32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The silu of the first half of a row is multiplied by its second half.

    Source
    ------
    aclnnGroupedMatmulSwigluQuantV2 (``include/aclnnop/gmm.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(
        x=x, weight=weight, weight_scale=weight_scale, x_scale=x_scale, group_list=group_list
    )
    expect_optional(smooth_scale=smooth_scale, weight_assist_matrix=weight_assist_matrix)
    out = empty((x.shape[0], weight_scale.shape[-1] // 2), "int8", device=x.device)
    out_scale = empty((x.shape[0],), "float32", device=x.device)
    ops.grouped_matmul_swiglu_quant_v2(
        x=x,
        weight=[weight],
        weight_scale=[weight_scale],
        weight_assist_matrix=None if weight_assist_matrix is None else [weight_assist_matrix],
        bias=None,
        x_scale=x_scale,
        smooth_scale=smooth_scale,
        group_list=group_list,
        dequant_mode=int(weight_scale.ndim == 3),
        dequant_dtype=0,
        quant_mode=0,
        group_list_type=group_list_type,
        tuning_config=None,
        output=out,
        output_scale=out_scale,
        stream=stream,
    )
    return out, out_scale


def dequant_swiglu_quant(
    x: Tensor,
    *,
    weight_scale: Tensor | None = None,
    activation_scale: Tensor | None = None,
    bias: Tensor | None = None,
    quant_scale: Tensor | None = None,
    group_index: Tensor | None = None,
    activate_left: bool = True,
    swiglu_mode: int = 0,
    clamp_limit: float = 7.0,
    glu_alpha: float = 1.702,
    glu_bias: float = 1.0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Scale a product of integers back, gate it and quantise it by rows.

    Parameters
    ----------
    x : Tensor
        Shape ``(m, n)`` with n a multiple of 64; dtype int32 | float16 | bfloat16. 2 to 8
        dimensions; dtype float16 | bfloat16 | int32.
    weight_scale : Tensor, optional
        Factors of the columns, required for int32 ``x`` and only there; shape ``(n,)``, with
        ``group_index`` ``(groups, n)``; dtype float32. Dtype float32.
    activation_scale : Tensor, optional
        Factors of the rows; shape ``(m,)``; dtype float32. 1 to 7 dimensions; dtype float32.
    bias : Tensor, optional
        Shape of ``weight_scale``. Integers are added to ``x``, floats to its scaled values. Dtype
        float32 | float16 | bfloat16 | int32.
    quant_scale : Tensor, optional
        Factors of the gated values; shape ``(n / 2,)``, with ``group_index`` ``(groups,)`` or
        ``(groups, n / 2)``; dtype float32. Dtype float32.
    group_index : Tensor, optional
        How many rows each group has; shape ``(groups,)``; dtype int64. 1 dimension; dtype int64.
    activate_left : bool, default True
        Whether the first half of a row is the gate.
    swiglu_mode : int, default 0
        0: silu; 1: even elements are the gate, odd ones the other, both are limited; 2: the same
        for halves; 3: the gate is limited after silu.
    clamp_limit : float, default 7.0
        The limit of modes 1 to 3.
    glu_alpha : float, default 1.702
        Factor in the sigmoid of modes 1 and 2.
    glu_bias : float, default 1.0
        What modes 1 and 2 add to the other half.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape ``(m, n / 2)``; dtype int8. Rows of no group are undefined.
    out_scale : Tensor
        What each row is to be multiplied with; shape ``(m,)``; dtype float32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnDequantSwigluQuantV2 (``include/aclnnop/quant.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(x=x)
    expect_optional(
        weight_scale=weight_scale,
        activation_scale=activation_scale,
        bias=bias,
        quant_scale=quant_scale,
        group_index=group_index,
    )
    out = empty((x.shape[0], x.shape[1] // 2), "int8", device=x.device)
    out_scale = empty((x.shape[0],), "float32", device=x.device)
    ops.dequant_swiglu_quant_v2(
        x=x,
        weight_scale=weight_scale,
        activation_scale=activation_scale,
        bias=bias,
        quant_scale=quant_scale,
        quant_offset=None,
        group_index=group_index,
        activate_left=activate_left,
        quant_mode="dynamic",
        dst_type=2,
        round_mode=None,
        activate_dim=-1,
        swiglu_mode=swiglu_mode,
        clamp_limit=clamp_limit,
        glu_alpha=glu_alpha,
        glu_bias=glu_bias,
        y_out=out,
        scale_out=out_scale,
        stream=stream,
    )
    return out, out_scale


@remembered
def ffn(
    x: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    activation: str,
    *,
    expert_tokens: Tensor | None = None,
    expert_tokens_index: bool = False,
    bias1: Tensor | None = None,
    bias2: Tensor | None = None,
    antiquant_scale1: Tensor | None = None,
    antiquant_scale2: Tensor | None = None,
    antiquant_offset1: Tensor | None = None,
    antiquant_offset2: Tensor | None = None,
    inner_precise: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply by two weights, of each expert where there are some, with an activation between.

    Parameters
    ----------
    x : Tensor
        Shape ``(..., k)``; dtype float16 | bfloat16. 2 to 8 dimensions; dtype float16 | bfloat16 |
        int8.
    weight1 : Tensor
        Shape ``(k, n)``, or ``(experts, k, n)``; dtype of ``x``, int8 or int4. Dtype float16 |
        bfloat16 | int8 | int4.
    weight2 : Tensor
        Shape ``(n, k)``, or ``(experts, n, k)``; dtype of ``weight1``. Dtype float16 | bfloat16 |
        int8 | int4.
    activation : str
        'relu', 'gelu', 'fastgelu' or 'silu'.
    expert_tokens : Tensor, optional
        How many rows each expert has, all of them together those of ``x``; shape ``(experts,)``;
        dtype int64. Dtype int64.
    expert_tokens_index : bool, default False
        Whether ``expert_tokens`` holds the row where each expert ends.
    bias1 : Tensor, optional
        Shape ``(n,)``, or ``(experts, n)``; float16 beside float16, else float32. Dtype float32 |
        float16 | int32.
    bias2 : Tensor, optional
        Shape ``(k,)``, or ``(experts, k)``; dtype as ``bias1``. Dtype float32 | float16 | int32.
    antiquant_scale1 : Tensor, optional
        Factors of a quantised ``weight1``, shape of ``bias1`` or one row for each group of rows of
        the weight; dtype of ``x``. Dtype float16 | bfloat16.
    antiquant_scale2 : Tensor, optional
        The same for ``weight2``. Dtype float16 | bfloat16.
    antiquant_offset1 : Tensor, optional
        What is added to a quantised ``weight1`` before it is scaled; shape and dtype of
        ``antiquant_scale1``. Dtype float16 | bfloat16.
    antiquant_offset2 : Tensor, optional
        The same for ``weight2``. Dtype float16 | bfloat16.
    inner_precise : int, default 0
        1 rounds to float16 in front of the activation; only for float16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``x``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnFFNV3 (``include/aclnnop/ffn.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x=x, weight1=weight1, weight2=weight2)
    expect_optional(
        expert_tokens=expert_tokens,
        bias1=bias1,
        bias2=bias2,
        antiquant_scale1=antiquant_scale1,
        antiquant_scale2=antiquant_scale2,
        antiquant_offset1=antiquant_offset1,
        antiquant_offset2=antiquant_offset2,
    )
    out = empty(x.shape, x.dtype_name, device=x.device)
    ops.ffn_v3(
        x=x,
        weight1=weight1,
        weight2=weight2,
        expert_tokens=expert_tokens,
        bias1=bias1,
        bias2=bias2,
        scale=None,
        offset=None,
        deq_scale1=None,
        deq_scale2=None,
        antiquant_scale1=antiquant_scale1,
        antiquant_scale2=antiquant_scale2,
        antiquant_offset1=antiquant_offset1,
        antiquant_offset2=antiquant_offset2,
        activation=activation,
        inner_precise=inner_precise,
        tokens_index_flag=expert_tokens_index,
        y=out,
        stream=stream,
    )
    return out
