# SPDX-License-Identifier: Apache-2.0
"""Quantisation in blocks whose scale is a power of two, and the way back."""

from __future__ import annotations

from typing import Any

from aclnn_py import ops
from aclnn_py.functional.promotion import DTypeLike
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["anti_mx_quant", "dynamic_mx_quant"]

_FORMATS = ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "float4_e1m2")
_FLOATS = ("float32", "float16", "bfloat16")
_SCALE = "float8_e8m0fnu"


def dynamic_mx_quant(
    x: Tensor,
    dtype: DTypeLike = "float8_e4m3fn",
    *,
    axis: int = -1,
    block_size: int = 32,
    round_mode: str = "rint",
    scale_alg: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Quantise blocks of values along a dimension, each with a power of two as its scale.

    Parameters
    ----------
    x : Tensor
        At most 7 dimensions; dtype float16 | bfloat16 | float32; format ND. The last dimension is
        even for a format of 4 bits.
    dtype : dtype-like, default "float8_e4m3fn"
        float8_e4m3fn | float8_e5m2 | float4_e2m1fn | float4_e1m2.
    axis : int, default -1
        Dimension along which the blocks lie.
    block_size : int, default 32
        A multiple of 32 up to 1024; 32 for a float32 ``x``.
    round_mode : str, default "rint"
        ``"rint"``, and for formats of 4 bits also ``"floor"`` and ``"round"``.
    scale_alg : int, default 0
        0: the exponent of the largest value less that of the format; larger values are limited to
        the range. 1, for formats of 8 bits: the smallest scale that limits no value.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple of Tensor
        The values in ``dtype`` and the shape of ``x``, and their scales in float8_e8m0fnu: along
        ``axis`` one pair for each two blocks, rounded up, with a last dimension of 2. The second
        scale of an odd last pair is the smallest there is.

    Raises
    ------
    TypeError
        ``dtype`` is none of the four.
    ValueError
        ``axis`` names no dimension of ``x``, or ``block_size`` is not positive.
    AclnnError
        161002 another argument is refused; 361001 the chip is not of the 950 series.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnDynamicMxQuant (``include/aclnnop/quant.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(x=x)
    kind = _one_of("dtype", dtype, _FORMATS)
    expect_whole(block_size=block_size)
    if block_size < 1:
        raise ValueError(f"block_size: {block_size} is given; it must be a multiple of 32")
    along = _dimension(axis, x)
    y = empty(x.shape, kind, device=x.device)
    scales = empty(_scale_shape(x.shape, along, block_size), _SCALE, device=x.device)
    number = dtype_of(kind).acl
    ops.dynamic_mx_quant(
        x, along, round_mode, number, block_size, scale_alg, y, scales, stream=stream
    )
    return y, scales


def anti_mx_quant(
    x: Tensor,
    scale: Tensor,
    dtype: DTypeLike = "bfloat16",
    *,
    axis: int = -1,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply quantised values by the scales of their blocks of 32.

    Parameters
    ----------
    x : Tensor
        Values from `dynamic_mx_quant` with blocks of 32.
    scale : Tensor
        Their scales.
    dtype : dtype-like, default "bfloat16"
        float32 | float16 | bfloat16.
    axis : int, default -1
        Dimension along which the blocks lie.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape of ``x`` in ``dtype``.

    Raises
    ------
    TypeError
        ``dtype`` is none of the three.
    ValueError
        ``axis`` names no dimension of ``x``.
    AclnnError
        161002 a dtype or a shape is refused; 361001 the chip is not of the 950 series.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnAntiMxQuant (``include/aclnnop/quant.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(x=x, scale=scale)
    kind = _one_of("dtype", dtype, _FLOATS)
    out = empty(x.shape, kind, device=x.device)
    ops.anti_mx_quant(x, scale, _dimension(axis, x), dtype_of(kind).acl, out, stream=stream)
    return out


def _one_of(argument: str, given: Any, allowed: tuple[str, ...]) -> str:
    name = dtype_of(given, argument).name
    if name not in allowed:
        raise TypeError(f"{argument}: {name} is given; allowed: {', '.join(allowed)}")
    return name


def _dimension(axis: int, x: Tensor) -> int:
    expect_whole(axis=axis)
    rank = len(x.shape)
    if not -rank <= axis < rank:
        raise ValueError(f"axis: {axis} is given, but x has {rank} dimensions")
    return axis % rank


def _scale_shape(shape: tuple[int, ...], axis: int, block_size: int) -> tuple[int, ...]:
    pairs = -(-shape[axis] // (2 * block_size))
    return (*shape[:axis], pairs, *shape[axis + 1 :], 2)
