# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Arithmetic on two or more operands, element by element."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_tensors_or_numbers, first_tensor
from aclnn_py.functional.promotion import floating, promote
from aclnn_py.functional.shapes import broadcast
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "atan2",
    "div",
    "floor_divide",
    "fmod",
    "lerp",
    "logaddexp",
    "maximum",
    "minimum",
    "mul",
    "pow",
    "remainder",
    "rsub",
    "sub",
]


@remembered
def add(
    input: Tensor, other: Tensor | Number, *, alpha: Number = 1, stream: Stream | None = None
) -> Tensor:
    """Add ``alpha`` times ``other`` to ``input``.

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
    alpha : number, default 1
        Factor of ``other``.
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
    aclnnAdd (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnAdds (``include/aclnnop/math.h``),
    CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.add(input, other, alpha, out, stream=stream)
    else:
        ops.adds(input, other, alpha, out, stream=stream)
    return out


@remembered
def sub(
    input: Tensor, other: Tensor | Number, *, alpha: Number = 1, stream: Stream | None = None
) -> Tensor:
    """Subtract ``alpha`` times ``other`` from ``input``.

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
    alpha : number, default 1
        Factor of ``other``.
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
    aclnnSub (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnSubs (``include/aclnnop/math.h``),
    CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.sub(input, other, alpha, out, stream=stream)
    else:
        ops.subs(input, other, alpha, out, stream=stream)
    return out


@remembered
def rsub(
    input: Tensor, other: Tensor | Number, *, alpha: Number = 1, stream: Stream | None = None
) -> Tensor:
    """Subtract ``alpha`` times ``input`` from ``other``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | complex64 | complex128.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | complex64 |
        complex128.
    alpha : number, default 1
        Factor of ``input``.
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
    aclnnRsub (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnRsubs
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.rsub(input, other, alpha, out, stream=stream)
    else:
        ops.rsubs(input, other, alpha, out, stream=stream)
    return out


@remembered
def mul(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Multiply element by element.

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
        Broadcast shape and promoted dtype of the operands.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMul (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnMuls (``include/aclnnop/math.h``),
    CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.mul(input, other, out, stream=stream)
    else:
        ops.muls(input, other, out, stream=stream)
    return out


@remembered
def div(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Divide element by element.

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
        Broadcast shape of the operands; float32 for integers and bool, else the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnDiv (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnDivs (``include/aclnnop/math.h``),
    CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), floating(promote(input, other)), device=input.device)
    if isinstance(other, Tensor):
        ops.div(input, other, out, stream=stream)
    else:
        ops.divs(input, other, out, stream=stream)
    return out


@remembered
def floor_divide(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Divide and round down.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool.
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
    aclnnFloorDivide (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnFloorDivides
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.floor_divide(input, other, out, stream=stream)
    else:
        ops.floor_divides(input, other, out, stream=stream)
    return out


@remembered
def remainder(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Compute the remainder of a division, with the sign of the divisor.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool.
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
    aclnnRemainderTensorTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1;
    aclnnRemainderTensorScalar (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.remainder_tensor_tensor(input, other, out, stream=stream)
    else:
        ops.remainder_tensor_scalar(input, other, out, stream=stream)
    return out


@remembered
def fmod(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Compute the remainder of a division, with the sign of the dividend.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int32 | int64 |
        uint8.
    other : Tensor or number
        Second operand, broadcast with ``input``. A number changes the dtype of the result only if
        its kind is higher (bool < int < float < complex). 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int32 | int64 | uint8.
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
    aclnnFmodTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnFmodScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    if isinstance(other, Tensor):
        ops.fmod_tensor(input, other, out, stream=stream)
    else:
        ops.fmod_scalar(input, other, out, stream=stream)
    return out


@remembered
def maximum(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Take the larger of two elements, or NaN if one of them is NaN.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool.
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
    aclnnMaximum (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    ops.maximum(input, other, out, stream=stream)
    return out


@remembered
def minimum(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Take the smaller of two elements, or NaN if one of them is NaN.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool.
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
    aclnnMinimum (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    ops.minimum(input, other, out, stream=stream)
    return out


@remembered
def atan2(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the angle of the point (``other``, ``input``) in radians.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; float32 for integers and bool, else the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAtan2 (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), floating(promote(input, other)), device=input.device)
    ops.atan2(input, other, out, stream=stream)
    return out


@remembered
def logaddexp(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the logarithm of the sum of two exponentials.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool.
    other : Tensor
        Second operand, broadcast with ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape of the operands; float32 for integers and bool, else the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLogAddExp (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), floating(promote(input, other)), device=input.device)
    ops.log_add_exp(input, other, out, stream=stream)
    return out


@remembered
def pow(
    input: Tensor | Number, exponent: Tensor | Number, *, stream: Stream | None = None
) -> Tensor:
    """Raise ``input`` to the power ``exponent``, element by element.

    Parameters
    ----------
    input : Tensor or number
        Base. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32
        | int64 | uint8 | bool | complex64 | complex128.
    exponent : Tensor or number
        Exponent, broadcast with ``input``. At least one of the two is a tensor.
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
    aclnnPowTensorScalar (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnPowTensorTensor
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnPowScalarTensor
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors_or_numbers(input=input, exponent=exponent)
    tensor = first_tensor(input=input, exponent=exponent)
    out = empty(broadcast(input, exponent), promote(input, exponent), device=tensor.device)
    if not isinstance(exponent, Tensor):
        ops.pow_tensor_scalar(tensor, exponent, out, stream=stream)
    elif isinstance(input, Tensor):
        ops.pow_tensor_tensor(input, exponent, out, stream=stream)
    else:
        ops.pow_scalar_tensor(input, exponent, out, stream=stream)
    return out


@remembered
def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Number = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Add ``value`` times the product of two tensors to ``input``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int32 | int64 |
        uint8.
    tensor1 : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int32 | int64 |
        uint8.
    tensor2 : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int32 | int64 |
        uint8.
    value : number, default 1
        Factor of the product.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape and promoted dtype of the three tensors.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddcmul (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, tensor1=tensor1, tensor2=tensor2)
    out = empty(
        broadcast(input, tensor1, tensor2), promote(input, tensor1, tensor2), device=input.device
    )
    ops.addcmul(input, tensor1, tensor2, value, out, stream=stream)
    return out


@remembered
def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Number = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Add ``value`` times the quotient of two tensors to ``input``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int64.
    tensor1 : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int64.
    tensor2 : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int64.
    value : number, default 1
        Factor of the quotient.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape and promoted dtype of the three tensors.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddcdiv (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, tensor1=tensor1, tensor2=tensor2)
    out = empty(
        broadcast(input, tensor1, tensor2), promote(input, tensor1, tensor2), device=input.device
    )
    ops.addcdiv(input, tensor1, tensor2, value, out, stream=stream)
    return out


@remembered
def lerp(
    input: Tensor, end: Tensor, weight: Tensor | Number, *, stream: Stream | None = None
) -> Tensor:
    """Interpolate linearly between ``input`` and ``end``.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    end : Tensor
        Same dtype as ``input``. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    weight : Tensor or number
        Position between the two: 0 gives ``input``, 1 gives ``end``. 0 to 8 dimensions; dtype
        float32 | float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Broadcast shape; dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLerp (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnLerps
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, end=end)
    expect_tensors_or_numbers(weight=weight)
    out = empty(broadcast(input, end, weight), input.dtype_name, device=input.device)
    if isinstance(weight, Tensor):
        ops.lerp(input, end, weight, out, stream=stream)
    else:
        ops.lerps(input, end, weight, out, stream=stream)
    return out
