# SPDX-License-Identifier: Apache-2.0
"""Layers of experts: grouped products fused with what stands around them."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_GROUPS = "Shape ``(groups,)``; dtype int64; see ``group_list_type``."
_LIST_TYPE = "0: ``group_list`` holds the row where each group ends; 1: how many rows it has."

ROWS = (
    Row(
        "grouped_matmul",
        "x: Tensor, weight: Tensor, group_list: Tensor, *, bias: Tensor | None = None, "
        "scale: Tensor | None = None, offset: Tensor | None = None, "
        "per_token_scale: Tensor | None = None, "
        "antiquant_scale: Tensor | None = None, antiquant_offset: Tensor | None = None, "
        "group_list_type: int = 0, act_type: int = 0, output_dtype: DTypeLike | None = None",
        "Multiply each group of rows by its own weight, which may be quantised.",
        (
            Output(
                "Shape ``(m, n)``; dtype ``output_dtype``.",
                "(x.shape[0], values_shape(weight)[-1])",
                "x.dtype_name if output_dtype is None else output_dtype",
            ),
        ),
        (
            Call(
                "has_operator('grouped_matmul_v5')",
                (
                    "grouped_matmul_v5([x], [weight], in_list(bias), in_list(scale), "
                    "in_list(offset), "
                    "in_list(antiquant_scale), in_list(antiquant_offset), "
                    "in_list(per_token_scale), group_list, None, None, None, 3, 0, "
                    "group_list_type, act_type, None, [out], None, None)",
                ),
            ),
            "grouped_matmul_v4([x], [weight], in_list(bias), in_list(scale), in_list(offset), "
            "in_list(antiquant_scale), in_list(antiquant_offset), in_list(per_token_scale), "
            "group_list, None, None, None, 3, 0, group_list_type, act_type, [out], None, None)",
        ),
        {
            "x": "Shape ``(m, k)``; float16 | bfloat16 | float32, int8 beside a weight of int8 or "
            "int4, int4 beside one of int4.",
            "weight": "Shape ``(groups, k, n)``; dtype of ``x``, or int8 and int4 to be scaled "
            "first; int8 also in FRACTAL_NZ.",
            "group_list": _GROUPS,
            "bias": "Shape ``(groups, n)``. Of int8 with int4 the sums along k of "
            "``8 * weight * scale``, in float32.",
            "scale": "Factors of the columns of a product of integers, shape ``(groups, n)``; of "
            "an int4 weight as uint64 that holds a float32, also ``(groups, pieces, n)`` for equal "
            "pieces of k.",
            "offset": "What is added to a weight of int4 beside int8, times its scale; float32, "
            "shape ``(groups, 1, n)``.",
            "per_token_scale": "Factors of the rows of a product of integers, shape ``(m,)``.",
            "antiquant_scale": "Factors of a quantised weight beside float ``x``, shape "
            "``(groups, n)``.",
            "antiquant_offset": "What is added to such a weight first, shape of "
            "``antiquant_scale``.",
            "group_list_type": _LIST_TYPE,
            "act_type": "Activation of an int8 product: 0 none, 1 relu, 2 gelu (tanh), 4 fast "
            "gelu, 5 silu.",
            "output_dtype": "Default is the dtype of ``x``.",
        },
        steps=("check_grouped(x, weight)",),
    ),
    Row(
        "grouped_matmul_finalize_routing",
        "x: Tensor, weight: Tensor, group_list: Tensor, row_index: Tensor, tokens: int, "
        "scale: Tensor, *, bias: Tensor | None = None, offset: Tensor | None = None, "
        "pertoken_scale: Tensor | None = None, shared_input: Tensor | None = None, "
        "logit: Tensor | None = None, shared_input_weight: float = 1.0, "
        "shared_input_offset: int = 0, group_list_type: int = 1",
        "Multiply quantised rows by the weight of their group and add them up by token.",
        (
            Output(
                "Shape ``(tokens, n)``; dtype float32.",
                "(tokens, values_shape(weight)[-1])",
                "'float32'",
            ),
        ),
        (
            Call(
                "weight.format == Format.FRACTAL_NZ",
                (
                    "grouped_matmul_finalize_routing_weight_nz_v2(x, weight, scale, bias, offset, "
                    "None, None, pertoken_scale, group_list, shared_input, logit, row_index, 0, "
                    "shared_input_weight, shared_input_offset, False, False, group_list_type, "
                    "None, out)",
                ),
            ),
            "grouped_matmul_finalize_routing_v2(x, weight, scale, bias, offset, None, None, "
            "pertoken_scale, group_list, shared_input, logit, row_index, 0, shared_input_weight, "
            "shared_input_offset, False, False, group_list_type, out)",
        ),
        {
            "x": "Shape ``(m, k)``; dtype int8.",
            "weight": "Shape ``(groups, k, n)``; int8 in FRACTAL_NZ, or int4.",
            "group_list": _GROUPS,
            "row_index": "The token of each row; int64, shape ``(m,)``.",
            "tokens": "Number of tokens.",
            "scale": "Factors of the columns: ``(groups, n)`` beside int8, packed ``(groups, 1, "
            "n)`` beside int4.",
            "bias": "Beside int4: eight times the sum over k of the scaled weight; shape "
            "``(groups, n)``. Beside int8: added to the product.",
            "offset": "Beside int4: shape ``(groups, 1, n)``.",
            "pertoken_scale": "Factors of the rows, float32, shape ``(m,)``.",
            "shared_input": "Rows of an expert that all tokens share, bfloat16.",
            "logit": "Weights of the rows, float32, shape ``(m,)``.",
            "shared_input_weight": "Factor of ``shared_input``.",
            "shared_input_offset": "The token that the first row of ``shared_input`` is added to.",
            "group_list_type": _LIST_TYPE,
        },
        steps=("expect_whole(tokens=tokens)",),
    ),
    Row(
        "grouped_matmul_swiglu_quant",
        "x: Tensor, weight: Tensor, weight_scale: Tensor, x_scale: Tensor, group_list: Tensor, *, "
        "smooth_scale: Tensor | None = None, weight_assist_matrix: Tensor | None = None, "
        "group_list_type: int = 0",
        "Multiply quantised rows by the weight of their group, gate them and quantise them.",
        (
            Output(
                "Shape ``(m, n / 2)``; dtype int8. Rows of no group are undefined.",
                "(x.shape[0], weight_scale.shape[-1] // 2)",
                "'int8'",
            ),
            Output(
                "What each row is to be multiplied with; shape ``(m,)``; dtype float32.",
                "(x.shape[0],)",
                "'float32'",
                "out_scale",
            ),
        ),
        (
            "grouped_matmul_swiglu_quant_v2(x, [weight], [weight_scale], "
            "None if weight_assist_matrix is None else [weight_assist_matrix], None, x_scale, "
            "smooth_scale, group_list, int(weight_scale.ndim == 3), 0, 0, group_list_type, None, "
            "out, "
            "out_scale)",
        ),
        {
            "x": "Shape ``(m, k)``; dtype int8 or int4.",
            "weight": "Shape ``(groups, k, n)``; int8 in FRACTAL_NZ, or int4.",
            "weight_scale": "Shape ``(groups, n)``, or ``(groups, pieces of k, n)`` beside int4; "
            "float beside int8, packed as uint64 beside int4.",
            "x_scale": "Shape ``(m,)``; dtype float32.",
            "group_list": _GROUPS,
            "smooth_scale": "Factors of the gated values, only with int4 ``x`` and ``weight``; "
            "shape ``(groups,)`` or ``(groups, n / 2)``; dtype float32.",
            "weight_assist_matrix": "Eight times the sum over k of the scaled weight, only with "
            "int8 "
            "``x`` and int4 ``weight``; shape ``(groups, n)``; dtype float32.",
            "group_list_type": _LIST_TYPE,
        },
        notes="The silu of the first half of a row is multiplied by its second half.",
    ),
    Row(
        "dequant_swiglu_quant",
        "x: Tensor, *, weight_scale: Tensor | None = None, activation_scale: Tensor | None = None, "
        "bias: Tensor | None = None, quant_scale: Tensor | None = None, "
        "group_index: Tensor | None = None, activate_left: bool = True, swiglu_mode: int = 0, "
        "clamp_limit: float = 7.0, glu_alpha: float = 1.702, glu_bias: float = 1.0",
        "Scale a product of integers back, gate it and quantise it by rows.",
        (
            Output(
                "Shape ``(m, n / 2)``; dtype int8. Rows of no group are undefined.",
                "(x.shape[0], x.shape[1] // 2)",
                "'int8'",
            ),
            Output(
                "What each row is to be multiplied with; shape ``(m,)``; dtype float32.",
                "(x.shape[0],)",
                "'float32'",
                "out_scale",
            ),
        ),
        (
            "dequant_swiglu_quant_v2(x, weight_scale, activation_scale, bias, quant_scale, None, "
            "group_index, activate_left, 'dynamic', 2, None, -1, swiglu_mode, clamp_limit, "
            "glu_alpha, "
            "glu_bias, out, out_scale)",
        ),
        {
            "x": "Shape ``(m, n)`` with n a multiple of 64; dtype int32 | float16 | bfloat16.",
            "weight_scale": "Factors of the columns, required for int32 ``x`` and only there; "
            "shape ``(n,)``, with ``group_index`` ``(groups, n)``; dtype float32.",
            "activation_scale": "Factors of the rows; shape ``(m,)``; dtype float32.",
            "bias": "Shape of ``weight_scale``. Integers are added to ``x``, floats to its scaled "
            "values.",
            "quant_scale": "Factors of the gated values; shape ``(n / 2,)``, with ``group_index`` "
            "``(groups,)`` or ``(groups, n / 2)``; dtype float32.",
            "group_index": "How many rows each group has; shape ``(groups,)``; dtype int64.",
            "activate_left": "Whether the first half of a row is the gate.",
            "swiglu_mode": "0: silu; 1: even elements are the gate, odd ones the other, both are "
            "limited; 2: the same for halves; 3: the gate is limited after silu.",
            "clamp_limit": "The limit of modes 1 to 3.",
            "glu_alpha": "Factor in the sigmoid of modes 1 and 2.",
            "glu_bias": "What modes 1 and 2 add to the other half.",
        },
    ),
    Row(
        "ffn",
        "x: Tensor, weight1: Tensor, weight2: Tensor, activation: str, *, "
        "expert_tokens: Tensor | None = None, expert_tokens_index: bool = False, "
        "bias1: Tensor | None = None, bias2: Tensor | None = None, "
        "antiquant_scale1: Tensor | None = None, antiquant_scale2: Tensor | None = None, "
        "antiquant_offset1: Tensor | None = None, antiquant_offset2: Tensor | None = None, "
        "inner_precise: int = 0",
        "Multiply by two weights, of each expert where there are some, with an activation between.",
        (Output("Shape and dtype of ``x``.", "x.shape", "x.dtype_name"),),
        (
            "ffn_v3(x, weight1, weight2, expert_tokens, bias1, bias2, None, None, None, None, "
            "antiquant_scale1, antiquant_scale2, antiquant_offset1, antiquant_offset2, activation, "
            "inner_precise, expert_tokens_index, out)",
        ),
        {
            "x": "Shape ``(..., k)``; dtype float16 | bfloat16.",
            "weight1": "Shape ``(k, n)``, or ``(experts, k, n)``; dtype of ``x``, int8 or int4.",
            "weight2": "Shape ``(n, k)``, or ``(experts, n, k)``; dtype of ``weight1``.",
            "activation": "'relu', 'gelu', 'fastgelu' or 'silu'.",
            "expert_tokens": "How many rows each expert has, all of them together those of ``x``; "
            "shape ``(experts,)``; dtype int64.",
            "expert_tokens_index": "Whether ``expert_tokens`` holds the row where each expert "
            "ends.",
            "bias1": "Shape ``(n,)``, or ``(experts, n)``; float16 beside float16, else float32.",
            "bias2": "Shape ``(k,)``, or ``(experts, k)``; dtype as ``bias1``.",
            "antiquant_scale1": "Factors of a quantised ``weight1``, shape of ``bias1`` or one "
            "row for "
            "each group of rows of the weight; dtype of ``x``.",
            "antiquant_scale2": "The same for ``weight2``.",
            "antiquant_offset1": "What is added to a quantised ``weight1`` before it is scaled; "
            "shape and dtype of ``antiquant_scale1``.",
            "antiquant_offset2": "The same for ``weight2``.",
            "inner_precise": "1 rounds to float16 in front of the activation; only for float16.",
        },
    ),
)
