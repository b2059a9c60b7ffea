# SPDX-License-Identifier: Apache-2.0
"""Layers of experts: grouped products fused with what stands around them."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

_GROUPS = "Shape ``(groups,)``; dtype int64; see ``group_list_type``."
_LIST_TYPE = "0: ``group_list`` holds the row where each group ends; 1: how many rows it has."

ROWS = (
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
