# SPDX-License-Identifier: Apache-2.0
"""Parameters of quantised products: packed scales and weights in FRACTAL_NZ."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py import ops
from aclnn_py.operators.describe.argument_errors import expect_tensors, type_name
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.formats import Format
from aclnn_py.tensor.layout import layout_of
from aclnn_py.tensor.tensor import Tensor, tensor_over
from aclnn_py.tensor.views import contiguous_strides

__all__ = [
    "npu_format_cast",
    "pack_scale",
    "trans_convolution_weight",
    "trans_matmul_weight",
    "trans_quant_param",
    "unpack_scale",
]

_SCALE_BITS = np.uint64(0xFFFFE000)
_OFFSET_SHIFT, _OFFSET_BITS = np.uint64(37), np.uint64(0x1FF)
_FLAG = np.uint64(1 << 46)
_LOWEST_OFFSET, _HIGHEST_OFFSET = -256, 255


def pack_scale(scale: npt.ArrayLike, offset: npt.ArrayLike | None = None) -> npt.NDArray[np.uint64]:
    """Pack scales and offsets into the 64-bit form of quantised products, on the host.

    Bits 13 to 31 hold the upper 19 bits of the float32 scale; the rest of its mantissa is cut off.
    Bits 37 to 45 hold the offset in two's complement. Bit 46 is set.

    Parameters
    ----------
    scale : array_like
        Converted to float32; any shape.
    offset : array_like, optional
        Broadcast to ``scale``; rounded to the nearest, ties away from zero, and clipped to
        [-256, 255]. Default is 0.

    Returns
    -------
    ndarray
        uint64, of the shape the two broadcast to; ``from_numpy`` takes it.

    Raises
    ------
    ValueError
        The shapes do not broadcast, or an offset is NaN.

    Source
    ------
    The layout and the rounding of aclnnTransQuantParam, CANN >= 8.0.RC2.
    """
    scales = _numbers("scale", scale, np.float32)
    shifts = _numbers("offset", 0.0 if offset is None else offset, np.float64)
    if np.isnan(shifts).any():
        raise ValueError("offset: NaN is no offset")
    nearest = np.trunc(shifts + np.copysign(0.5, shifts))
    integers = np.clip(nearest, _LOWEST_OFFSET, _HIGHEST_OFFSET).astype(np.int64).astype(np.uint64)
    bits = np.atleast_1d(scales).view(np.uint32).reshape(scales.shape).astype(np.uint64)
    return np.asarray(
        (bits & _SCALE_BITS) | _FLAG | ((integers & _OFFSET_BITS) << _OFFSET_SHIFT), np.uint64
    )


def _numbers(
    argument: str, value: npt.ArrayLike, dtype: type[np.floating[Any]]
) -> npt.NDArray[np.floating[Any]]:
    try:
        return np.asarray(value, dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{argument}: expected numbers, got {type_name(value)}") from error


def unpack_scale(
    packed: npt.ArrayLike,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int16]]:
    """Unpack scales, as the hardware uses them, and offsets.

    Parameters
    ----------
    packed : array_like
        uint64 or int64; any shape.

    Returns
    -------
    scale : ndarray
        float32; the lower 13 bits are ignored, as the hardware does.
    offset : ndarray
        int16, within [-256, 255].

    Raises
    ------
    TypeError
        ``packed`` does not hold integers.

    Source
    ------
    The layout of aclnnTransQuantParam, CANN >= 8.0.RC2.
    """
    values = np.asarray(packed)
    if values.dtype.kind not in "iu":
        raise TypeError(f"packed: expected 64-bit integers, got {values.dtype}")
    bits = values.astype(np.uint64)
    low = np.atleast_1d((bits & _SCALE_BITS).astype(np.uint32))
    offset = ((bits >> _OFFSET_SHIFT) & _OFFSET_BITS).astype(np.int16)
    offset = np.where(offset > _HIGHEST_OFFSET, offset - 512, offset).astype(np.int16)
    return low.view(np.float32).reshape(values.shape), offset


def trans_quant_param(
    scale: Tensor,
    offset: Tensor | None = None,
    *,
    round_mode: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Pack scales and offsets for quantised products, on the device.

    Parameters
    ----------
    scale : Tensor
        Shape ``(n,)`` or ``(1, n)``; dtype float32; format ND.
    offset : Tensor, optional
        Of the same rank; dtype float32. Rounded to the nearest, ties to even, and clipped to
        [-256, 255]. Either tensor may hold a single value for all.
    round_mode : int, default 0
        0 cuts the mantissa of the scale to 10 bits, 1 rounds it to the nearest.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        uint64, in the shape of the longer tensor. ``quant_matmul_all_reduce`` takes it as
        ``dequant_scale``.

    Raises
    ------
    AclnnError
        161001 ``scale`` is missing; 161002 a dtype, a shape or ``round_mode`` is refused.
    SymbolNotFoundError
        The library has no operator that takes the ``round_mode``.

    Source
    ------
    aclnnTransQuantParamV2, and V3 for ``round_mode`` 1 (``include/aclnnop/quant.h``),
    CANN >= 8.0.RC2.
    """
    expect_tensors(scale=scale)
    if offset is not None:
        expect_tensors(offset=offset)
    longest = offset if offset is not None and offset.count > scale.count else scale
    out = empty(longest.shape, "uint64", device=scale.device)
    if round_mode == 0:
        ops.trans_quant_param_v2(scale, offset, out, stream=stream)
    else:
        ops.trans_quant_param_v3(scale, offset, round_mode, out, stream=stream)
    return out


def trans_matmul_weight(weight: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Copy a weight into FRACTAL_NZ, the layout that the matrix units read fastest.

    Parameters
    ----------
    weight : Tensor
        Shape ``(..., k, n)``, strided views included; dtype float16 | bfloat16 | int8; format ND.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype in format FRACTAL_NZ. It has memory of its own, of the size that
        aclnnCalculateMatmulWeightSizeV2 gives.

    Raises
    ------
    ValueError
        ``weight`` has fewer than two dimensions.
    AclnnError
        161002 the dtype or the format is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnTransMatmulWeight (``include/aclnnop/conversion.h``), CANN >= 8.0.RC2.
    """
    expect_tensors(weight=weight)
    blocked = empty(weight.shape, weight.dtype_name, format=Format.FRACTAL_NZ, device=weight.device)
    # The operator converts in place, so the rows are first copied into a plain view of that memory.
    rows = layout_of(
        weight.shape,
        contiguous_strides(weight.shape),
        blocked.layout.dtype,
        Format.ND,
        blocked.storage_shape,
    )
    plain = tensor_over(blocked.buffer, rows)
    ops.inplace_copy(plain, weight, stream=stream)
    ops.trans_matmul_weight(plain, stream=stream)
    return blocked


def npu_format_cast(x: Tensor, format: Format | str, *, stream: Stream | None = None) -> Tensor:
    """Copy a tensor into another storage format, such as FRACTAL_NZ, or back to ND.

    Parameters
    ----------
    x : Tensor
        Shape ``(..., m, n)`` for FRACTAL_NZ; dtype of 8, 16 or 32 bits.
    format : Format or str
        Format of the result.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape, dtype and elements in ``format``.

    Raises
    ------
    ValueError
        The shape does not fit ``format``, or there is no such format.
    AclnnError
        161002 there is no cast of this dtype between these formats.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnNpuFormatCast (``include/aclnnop/copy.h``), CANN >= 8.2.
    """
    expect_tensors(x=x)
    target = empty(x.shape, x.dtype_name, format=format, device=x.device)
    ops.npu_format_cast(x, target, stream=stream)
    return target


def trans_convolution_weight(weight: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Copy filters of images into FRACTAL_Z, which convolutions of a 310P read fastest.

    Parameters
    ----------
    weight : Tensor
        Shape ``(n, c, h, w)``, strided views included; dtype float32 | float16; format NCHW.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape, dtype float16, in format FRACTAL_Z. It has memory of its own, of the size that
        aclnnCalculateConvolutionWeightSize gives. Convolutions with one group take it.

    Raises
    ------
    ValueError
        ``weight`` has another number of dimensions than 4.
    AclnnError
        161002 the dtype or the format is refused, or the chip is not a 310P.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnTransConvolutionWeight (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(weight=weight)
    blocked = empty(weight.shape, "float16", format=Format.FRACTAL_Z, device=weight.device)
    # The operator knows its result by the plain shape, over memory that has room for the blocks.
    rows = layout_of(
        weight.shape,
        contiguous_strides(weight.shape),
        blocked.layout.dtype,
        Format.NCHW,
        blocked.storage_shape,
    )
    ops.trans_convolution_weight(weight, False, 1, tensor_over(blocked.buffer, rows), stream=stream)
    return blocked
