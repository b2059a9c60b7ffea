# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Copies in another dtype or layout."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.promotion import DTypeLike
from aclnn_py.functional.shapes import broadcast, rows_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "cast",
    "complex",
    "contiguous",
    "sign_bits_pack",
    "sign_bits_unpack",
]


@remembered
def cast(input: Tensor, dtype: DTypeLike, *, stream: Stream | None = None) -> Tensor:
    """Convert elements to another dtype.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64 | complex128.
    dtype : dtype-like
        Element type of the result.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``; row-major.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnCast (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, dtype, device=input.device)
    ops.cast(input, dtype, out, stream=stream)
    return out


@remembered
def contiguous(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Copy a tensor into row-major order.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64 | complex128 | float8_e4m3fn |
        float8_e5m2 | hifloat8 | float8_e8m0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``; always a new tensor, even when ``input`` is already row-
        major.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceCopy (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.inplace_copy(out, input, stream=stream)
    return out


@remembered
def complex(real: Tensor, imag: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Combine real and imaginary parts into complex numbers.

    Parameters
    ----------
    real : Tensor
        0 to 8 dimensions; dtype float32 | float16 | float64.
    imag : Tensor
        0 to 8 dimensions; dtype float32 | float16 | float64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the parts; complex64 for float32, complex128 for float64.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnComplex (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(real=real, imag=imag)
    out = empty(
        broadcast(real, imag),
        "complex128" if real.dtype_name == "float64" else "complex64",
        device=real.device,
    )
    ops.complex(real, imag, out, stream=stream)
    return out


@remembered
def sign_bits_pack(input: Tensor, size: int = 1, *, stream: Stream | None = None) -> Tensor:
    """Pack the signs of numbers into bytes, the first into the lowest bit.

    Parameters
    ----------
    input : Tensor
        Shape ``(n,)``, float32 or float16. 1 dimension; dtype float32 | float16.
    size : int, default 1
        Rows of the result; it must divide the number of bytes.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(size, n / 8 / size)``, rounded up to whole bytes; uint8.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    A number that is not negative gives 1; bits behind the last number are 0.

    Source
    ------
    aclnnSignBitsPack (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(rows_shape(size, -(-input.count // 8)), "uint8", device=input.device)
    ops.sign_bits_pack(input, size, out, stream=stream)
    return out


@remembered
def sign_bits_unpack(
    input: Tensor, size: int = 1, dtype: DTypeLike = "float32", *, stream: Stream | None = None
) -> Tensor:
    """Turn the bits of bytes into 1 and -1, the lowest bit first.

    Parameters
    ----------
    input : Tensor
        Shape ``(n,)``, uint8. 1 dimension; dtype uint8.
    size : int, default 1
        Rows of the result; it must divide the number of bits.
    dtype : dtype-like, default 'float32'
        float32 or float16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(size, 8 * n / size)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSignBitsUnpack (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(rows_shape(size, 8 * input.count), dtype, device=input.device)
    ops.sign_bits_unpack(input, size, dtype, out, stream=stream)
    return out
