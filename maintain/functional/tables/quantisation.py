# SPDX-License-Identifier: Apache-2.0
"""Values rounded to few bits, and the way back."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_ROWS = "One factor for each row, float32; shape of ``input`` without the last dimension."
_CODES = "Shape of ``input``; dtype ``dtype``."
_SMOOTH = (
    "What the values are multiplied with first; shape ``(width,)``, with ``group_index`` a row for "
    "each group."
)
_GROUPS = "The row where each group ends, int32, shape ``(groups,)``."
_KIND = "int8 or int4."

ROWS = (
    Row("dynamic_quant", "input: Tensor, *, smooth_scales: Tensor | None = None, "
        "group_index: Tensor | None = None, dtype: DTypeLike = 'int8'",
        "Quantise each row by its largest absolute value.",
        (Output(_CODES, dtype="dtype"),
         Output(_ROWS, "input.shape[:-1]", "'float32'", "scale")),
        (Call("group_index is None", ("dynamic_quant(input, smooth_scales, out, scale)",)),
         "dynamic_quant_v2(input, smooth_scales, group_index, element_code('dtype', dtype), out, "
         "scale, None)"),
        {"smooth_scales": _SMOOTH, "group_index": _GROUPS, "dtype": _KIND},
        notes="``out * scale[..., None]`` is close to ``input * smooth_scales``."),
    Row("dynamic_quant_asymmetric", "input: Tensor, *, smooth_scales: Tensor | None = None, "
        "group_index: Tensor | None = None, dtype: DTypeLike = 'int8'",
        "Quantise each row by its smallest and its largest value.",
        (Output(_CODES, dtype="dtype"),
         Output(_ROWS, "input.shape[:-1]", "'float32'", "scale"),
         Output("What was added to each row; shape and dtype of ``scale``.", "input.shape[:-1]",
                "'float32'", "offset")),
        ("dynamic_quant_v2(input, smooth_scales, group_index, element_code('dtype', dtype), out, "
         "scale, offset)",),
        {"smooth_scales": _SMOOTH, "group_index": _GROUPS, "dtype": _KIND},
        notes="``(out - offset[..., None]) * scale[..., None]`` is close to ``input * "
        "smooth_scales``."),
    Row("dynamic_block_quant", "input: Tensor, *, block_size: Sequence[int] = (1, 128), "
        "dtype: DTypeLike = 'int8', min_scale: float = 0.0, round_mode: str = 'rint'",
        "Quantise blocks of rows by columns, each by its largest absolute value.",
        (Output(_CODES, dtype="dtype"),
         Output("One factor for each block, float32; the last two dimensions count blocks.",
                "block_counts(input.shape, block_size)", "'float32'", "scale")),
        ("dynamic_block_quant(input, min_scale, round_mode, element_code('dtype', dtype), "
         "block_size[0], block_size[1], out, scale)",),
        {"input": "Shape ``(..., rows, columns)``.",
         "block_size": "Rows and columns of a block; a 910B has (1, 128).",
         "dtype": "int8, on a 950 also float8_e4m3fn, float8_e5m2 or hifloat8.",
         "min_scale": "With a positive one no factor is above its reciprocal.",
         "round_mode": "'rint' (to even), for hifloat8 'round'."},
        notes="Every code times the factor of its block is close to ``input``."),
    Row("group_quant", "input: Tensor, scale: Tensor, group_index: Tensor, "
        "offset: Tensor | None = None, *, dtype: DTypeLike = 'int8'",
        "Multiply the rows of each group by factors of their own and round.",
        (Output(_CODES, dtype="dtype"),),
        ("group_quant(input, scale, group_index, offset, element_code('dtype', dtype), out)",),
        {"scale": "Factors, shape ``(groups, width)``.",
         "group_index": "The row where each group ends, int32 or int64.",
         "offset": "One term for all, shape ``(1,)``.", "dtype": _KIND}),
    Row("quantize", "input: Tensor, scale: Tensor, offset: Tensor | None = None, *, "
        "dtype: DTypeLike = 'int8', axis: int = -1, sqrt_mode: bool = False, "
        "round_mode: str = 'round'",
        "Multiply by given factors and round.",
        (Output(_CODES, dtype="dtype"),),
        ("ascend_quant_v3(input, scale, offset, sqrt_mode, round_mode, element_code('dtype', "
         "dtype), axis, out)",),
        {"scale": "Factors; one, or one for each element along ``axis``.",
         "offset": "Terms, shape of ``scale``.", "dtype": _KIND,
         "axis": "The last dimension or the one before it.",
         "sqrt_mode": "Whether the factors are multiplied with twice.",
         "round_mode": "'round' (to even), 'floor', 'ceil' or 'trunc'."}),
    Row("anti_quant", "input: Tensor, scale: Tensor, offset: Tensor | None = None, *, "
        "dtype: DTypeLike = 'float16', sqrt_mode: bool = False",
        "Add offsets to quantised values and multiply them.",
        (Output("Shape of ``input``; dtype ``dtype``.", dtype="dtype"),),
        ("ascend_anti_quant(input, scale, offset, element_code('dtype', dtype), sqrt_mode, out)",),
        {"scale": "Factors; one, or one for each element of the last dimension.",
         "offset": "Terms, shape of ``scale``.", "dtype": "float16 or bfloat16.",
         "sqrt_mode": "Whether the factors are multiplied with twice."}),
    Row("swiglu_quant", "input: Tensor, *, smooth_scales: Tensor | None = None, "
        "group_index: Tensor | None = None, activate_left: bool = False",
        "Gate a half of each row by silu of the other and quantise the rows.",
        (Output("Shape of ``input`` with half the last dimension; dtype int8.",
                "(*input.shape[:-1], input.shape[-1] // 2)", "'int8'"),
         Output(_ROWS, "input.shape[:-1]", "'float32'", "scale")),
        ("swi_glu_quant_v2(input, smooth_scales, None, group_index, activate_left, 'dynamic', 0, "
         "2, out, scale)",),
        {"smooth_scales": "What gated values are multiplied with; shape ``(width / 2,)``, with "
         "``group_index`` a row for each group.", "group_index": _GROUPS,
         "activate_left": "Whether silu is applied to the first half."}),
    Row("convert_weight_to_int4_pack", "weight: Tensor",
        "Pack a weight of small integers into 4 bits each.",
        (Output("Eight values in each element; shape ``(..., n / 8)``, dtype int32.",
                "(*weight.shape[:-1], weight.shape[-1] // 8)", "'int32'"),),
        ("convert_weight_to_int4_pack(weight, out)",),
        {"weight": "Values from -8 to 7, int32; n is a multiple of 8."}),
)  # fmt: skip
