# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Values rounded to few bits, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import element_code, expect_optional
from aclnn_py.functional.promotion import DTypeLike
from aclnn_py.functional.shapes import block_counts
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "anti_quant",
    "convert_weight_to_int4_pack",
    "dynamic_block_quant",
    "dynamic_quant",
    "dynamic_quant_asymmetric",
    "group_quant",
    "quantize",
    "swiglu_quant",
]


def dynamic_quant(
    input: Tensor,
    *,
    smooth_scales: Tensor | None = None,
    group_index: Tensor | None = None,
    dtype: DTypeLike = "int8",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Quantise each row by its largest absolute value.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float16 | bfloat16.
    smooth_scales : Tensor, optional
        What the values are multiplied with first; shape ``(width,)``, with ``group_index`` a row
        for each group. 1 dimension; dtype float16 | bfloat16.
    group_index : Tensor, optional
        The row where each group ends, int32, shape ``(groups,)``.
    dtype : dtype-like, default 'int8'
        int8 or int4.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``input``; dtype ``dtype``.
    scale : Tensor
        One factor for each row, float32; shape of ``input`` without the last dimension.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    ``out * scale[..., None]`` is close to ``input * smooth_scales``.

    Source
    ------
    aclnnDynamicQuant (``include/aclnnop/quant.h``), CANN >= 8.1.RC1; aclnnDynamicQuantV2
    (``include/aclnnop/quant.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(smooth_scales=smooth_scales, group_index=group_index)
    out = empty(input.shape, dtype, device=input.device)
    scale = empty(input.shape[:-1], "float32", device=input.device)
    if group_index is None:
        ops.dynamic_quant(input, smooth_scales, out, scale, stream=stream)
    else:
        ops.dynamic_quant_v2(
            input,
            smooth_scales,
            group_index,
            element_code("dtype", dtype),
            out,
            scale,
            None,
            stream=stream,
        )
    return out, scale


def dynamic_quant_asymmetric(
    input: Tensor,
    *,
    smooth_scales: Tensor | None = None,
    group_index: Tensor | None = None,
    dtype: DTypeLike = "int8",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Quantise each row by its smallest and its largest value.

    Parameters
    ----------
    input : Tensor
        First operand.
    smooth_scales : Tensor, optional
        What the values are multiplied with first; shape ``(width,)``, with ``group_index`` a row
        for each group.
    group_index : Tensor, optional
        The row where each group ends, int32, shape ``(groups,)``.
    dtype : dtype-like, default 'int8'
        int8 or int4.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``input``; dtype ``dtype``.
    scale : Tensor
        One factor for each row, float32; shape of ``input`` without the last dimension.
    offset : Tensor
        What was added to each row; shape and dtype of ``scale``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    ``(out - offset[..., None]) * scale[..., None]`` is close to ``input * smooth_scales``.

    Source
    ------
    aclnnDynamicQuantV2 (``include/aclnnop/quant.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(smooth_scales=smooth_scales, group_index=group_index)
    out = empty(input.shape, dtype, device=input.device)
    scale = empty(input.shape[:-1], "float32", device=input.device)
    offset = empty(input.shape[:-1], "float32", device=input.device)
    ops.dynamic_quant_v2(
        input,
        smooth_scales,
        group_index,
        element_code("dtype", dtype),
        out,
        scale,
        offset,
        stream=stream,
    )
    return out, scale, offset


def dynamic_block_quant(
    input: Tensor,
    *,
    block_size: Sequence[int] = (1, 128),
    dtype: DTypeLike = "int8",
    min_scale: float = 0.0,
    round_mode: str = "rint",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Quantise blocks of rows by columns, each by its largest absolute value.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., rows, columns)``.
    block_size : sequence of int, default (1, 128)
        Rows and columns of a block; a 910B has (1, 128).
    dtype : dtype-like, default 'int8'
        int8, on a 950 also float8_e4m3fn, float8_e5m2 or hifloat8.
    min_scale : float, default 0.0
        With a positive one no factor is above its reciprocal.
    round_mode : str, default 'rint'
        'rint' (to even), for hifloat8 'round'.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``input``; dtype ``dtype``.
    scale : Tensor
        One factor for each block, float32; the last two dimensions count blocks.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Every code times the factor of its block is close to ``input``.

    Source
    ------
    aclnnDynamicBlockQuant (``include/aclnnop/quant.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, dtype, device=input.device)
    scale = empty(block_counts(input.shape, block_size), "float32", device=input.device)
    ops.dynamic_block_quant(
        input,
        min_scale,
        round_mode,
        element_code("dtype", dtype),
        block_size[0],
        block_size[1],
        out,
        scale,
        stream=stream,
    )
    return out, scale


@remembered
def group_quant(
    input: Tensor,
    scale: Tensor,
    group_index: Tensor,
    offset: Tensor | None = None,
    *,
    dtype: DTypeLike = "int8",
    stream: Stream | None = None,
) -> Tensor:
    """Multiply the rows of each group by factors of their own and round.

    Parameters
    ----------
    input : Tensor
        First operand.
    scale : Tensor
        Factors, shape ``(groups, width)``.
    group_index : Tensor
        The row where each group ends, int32 or int64.
    offset : Tensor, optional
        One term for all, shape ``(1,)``.
    dtype : dtype-like, default 'int8'
        int8 or int4.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input``; dtype ``dtype``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGroupQuant (``include/aclnnop/quant.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, scale=scale, group_index=group_index)
    expect_optional(offset=offset)
    out = empty(input.shape, dtype, device=input.device)
    ops.group_quant(
        input, scale, group_index, offset, element_code("dtype", dtype), out, stream=stream
    )
    return out


@remembered
def quantize(
    input: Tensor,
    scale: Tensor,
    offset: Tensor | None = None,
    *,
    dtype: DTypeLike = "int8",
    axis: int = -1,
    sqrt_mode: bool = False,
    round_mode: str = "round",
    stream: Stream | None = None,
) -> Tensor:
    """Multiply by given factors and round.

    Parameters
    ----------
    input : Tensor
        First operand.
    scale : Tensor
        Factors; one, or one for each element along ``axis``.
    offset : Tensor, optional
        Terms, shape of ``scale``.
    dtype : dtype-like, default 'int8'
        int8 or int4.
    axis : int, default -1
        The last dimension or the one before it.
    sqrt_mode : bool, default False
        Whether the factors are multiplied with twice.
    round_mode : str, default 'round'
        'round' (to even), 'floor', 'ceil' or 'trunc'.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input``; dtype ``dtype``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAscendQuantV3 (``include/aclnnop/quant.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, scale=scale)
    expect_optional(offset=offset)
    out = empty(input.shape, dtype, device=input.device)
    ops.ascend_quant_v3(
        input,
        scale,
        offset,
        sqrt_mode,
        round_mode,
        element_code("dtype", dtype),
        axis,
        out,
        stream=stream,
    )
    return out


@remembered
def anti_quant(
    input: Tensor,
    scale: Tensor,
    offset: Tensor | None = None,
    *,
    dtype: DTypeLike = "float16",
    sqrt_mode: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Add offsets to quantised values and multiply them.

    Parameters
    ----------
    input : Tensor
        First operand.
    scale : Tensor
        Factors; one, or one for each element of the last dimension.
    offset : Tensor, optional
        Terms, shape of ``scale``.
    dtype : dtype-like, default 'float16'
        float16 or bfloat16.
    sqrt_mode : bool, default False
        Whether the factors are multiplied with twice.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``input``; dtype ``dtype``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAscendAntiQuant (``include/aclnnop/quant.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, scale=scale)
    expect_optional(offset=offset)
    out = empty(input.shape, dtype, device=input.device)
    ops.ascend_anti_quant(
        input, scale, offset, element_code("dtype", dtype), sqrt_mode, out, stream=stream
    )
    return out


def swiglu_quant(
    input: Tensor,
    *,
    smooth_scales: Tensor | None = None,
    group_index: Tensor | None = None,
    activate_left: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Gate a half of each row by silu of the other and quantise the rows.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    smooth_scales : Tensor, optional
        What gated values are multiplied with; shape ``(width / 2,)``, with ``group_index`` a row
        for each group. Dtype float32.
    group_index : Tensor, optional
        The row where each group ends, int32, shape ``(groups,)``. 1 dimension; dtype int32.
    activate_left : bool, default False
        Whether silu is applied to the first half.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``input`` with half the last dimension; dtype int8.
    scale : Tensor
        One factor for each row, float32; shape of ``input`` without the last dimension.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSwiGluQuantV2 (``include/aclnnop/quant.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(smooth_scales=smooth_scales, group_index=group_index)
    out = empty((*input.shape[:-1], input.shape[-1] // 2), "int8", device=input.device)
    scale = empty(input.shape[:-1], "float32", device=input.device)
    ops.swi_glu_quant_v2(
        x=input,
        smooth_scales=smooth_scales,
        offsets=None,
        group_index=group_index,
        activate_left=activate_left,
        quant_mode="dynamic",
        group_list_type=0,
        dst_type=2,
        y_out=out,
        scale_out=scale,
        stream=stream,
    )
    return out, scale


@remembered
def convert_weight_to_int4_pack(weight: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Pack a weight of small integers into 4 bits each.

    Parameters
    ----------
    weight : Tensor
        Values from -8 to 7, int32; n is a multiple of 8. 2 to 3 dimensions; dtype int32 | float32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Eight values in each element; shape ``(..., n / 8)``, dtype int32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnConvertWeightToINT4Pack (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(weight=weight)
    out = empty((*weight.shape[:-1], weight.shape[-1] // 8), "int32", device=weight.device)
    ops.convert_weight_to_int4_pack(weight, out, stream=stream)
    return out
