# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Comparisons, logic and bits, element by element."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_tensors_or_numbers
from aclnn_py.functional.promotion import promote
from aclnn_py.functional.shapes import broadcast
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "ge",
    "gt",
    "isclose",
    "isfinite",
    "isinf",
    "le",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "signbit",
]


@remembered
def eq(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Test where ``input`` is equal to ``other``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool | complex64 |
        complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnEqTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnEqScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    if isinstance(other, Tensor):
        ops.eq_tensor(input, other, out, stream=stream)
    else:
        ops.eq_scalar(input, other, out, stream=stream)
    return out


@remembered
def ne(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Test where ``input`` is different from ``other``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool | complex64 |
        complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnNeTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnNeScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    if isinstance(other, Tensor):
        ops.ne_tensor(input, other, out, stream=stream)
    else:
        ops.ne_scalar(input, other, out, stream=stream)
    return out


@remembered
def gt(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Test where ``input`` is greater than ``other``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 |
        uint64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGtTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnGtScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    if isinstance(other, Tensor):
        ops.gt_tensor(input, other, out, stream=stream)
    else:
        ops.gt_scalar(input, other, out, stream=stream)
    return out


@remembered
def ge(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Test where ``input`` is greater than or equal to ``other``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 |
        uint64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGeTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnGeScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    if isinstance(other, Tensor):
        ops.ge_tensor(input, other, out, stream=stream)
    else:
        ops.ge_scalar(input, other, out, stream=stream)
    return out


@remembered
def lt(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Test where ``input`` is less than ``other``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 |
        uint64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLtTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnLtScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    if isinstance(other, Tensor):
        ops.lt_tensor(input, other, out, stream=stream)
    else:
        ops.lt_scalar(input, other, out, stream=stream)
    return out


@remembered
def le(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Test where ``input`` is less than or equal to ``other``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLeTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnLeScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    if isinstance(other, Tensor):
        ops.le_tensor(input, other, out, stream=stream)
    else:
        ops.le_scalar(input, other, out, stream=stream)
    return out


@remembered
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Test where two tensors are equal within a tolerance.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool.
    rtol : float, default 1e-05
        Tolerance relative to ``other``.
    atol : float, default 1e-08
        Absolute tolerance.
    equal_nan : bool, default False
        Whether NaN equals NaN.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnIsClose (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    ops.is_close(input, other, rtol, atol, equal_nan, out, stream=stream)
    return out


@remembered
def logical_and(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Test where both elements are nonzero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLogicalAnd (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    ops.logical_and(input, other, out, stream=stream)
    return out


@remembered
def logical_or(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Test where at least one of the elements is nonzero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLogicalOr (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    ops.logical_or(input, other, out, stream=stream)
    return out


@remembered
def logical_xor(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Test where exactly one of the elements is nonzero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLogicalXor (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), "bool", device=input.device)
    ops.logical_xor(input, other, out, stream=stream)
    return out


@remembered
def logical_not(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Test where elements are zero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLogicalNot (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, "bool", device=input.device)
    ops.logical_not(input, out, stream=stream)
    return out


@remembered
def bitwise_and(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Compute the bitwise and of integers or bool.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype int8 | int16 | int32 | int64 | uint8 | uint16 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype int8 | int16 |
        int32 | int64 | uint8 | uint16 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape and promoted dtype of the operands.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBitwiseAndTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnBitwiseAndScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.bitwise_and_tensor(input, other, out, stream=stream)
    else:
        ops.bitwise_and_scalar(input, other, out, stream=stream)
    return out


@remembered
def bitwise_or(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Compute the bitwise or of integers or bool.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 |
        bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype int8 | int16 |
        int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape and promoted dtype of the operands.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBitwiseOrTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnBitwiseOrScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.bitwise_or_tensor(input, other, out, stream=stream)
    else:
        ops.bitwise_or_scalar(input, other, out, stream=stream)
    return out


@remembered
def bitwise_xor(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Compute the bitwise exclusive or of integers or bool.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype int8 | int16 | int32 | int64 | uint8 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype int8 | int16 |
        int32 | int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape and promoted dtype of the operands.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBitwiseXorTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnBitwiseXorScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.bitwise_xor_tensor(input, other, out, stream=stream)
    else:
        ops.bitwise_xor_scalar(input, other, out, stream=stream)
    return out


@remembered
def bitwise_not(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Invert the bits of integers, or negate bool.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype int8 | int16 | int32 | int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBitwiseNot (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.bitwise_not(input, out, stream=stream)
    return out


@remembered
def isfinite(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Test where elements are neither infinite nor NaN.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnIsFinite (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, "bool", device=input.device)
    ops.is_finite(input, out, stream=stream)
    return out


@remembered
def isinf(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Test where elements are infinite.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnIsInf (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, "bool", device=input.device)
    ops.is_inf(input, out, stream=stream)
    return out


@remembered
def signbit(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Test where the sign bit is set.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape as ``input``; dtype bool.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnSignbit (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, "bool", device=input.device)
    ops.signbit(input, out, stream=stream)
    return out
