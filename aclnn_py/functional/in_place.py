# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Functions that write their first argument and return it; their names end in an underscore."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_numbers, expect_tensors_or_numbers
from aclnn_py.functional.drawing import Replayed, fixed_place, next_place, signed, unsigned
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.random.generator import Generator
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "add_",
    "addcdiv_",
    "addcmul_",
    "bernoulli_",
    "copy_",
    "cos_",
    "div_",
    "exp_",
    "fill_",
    "floor_divide_",
    "fmod_",
    "index_copy_",
    "leaky_relu_",
    "log_",
    "masked_fill_",
    "mul_",
    "neg_",
    "normal_",
    "reciprocal_",
    "relu_",
    "remainder_",
    "rsqrt_",
    "scatter_update_",
    "sigmoid_",
    "sin_",
    "sqrt_",
    "sub_",
    "tanh_",
    "uniform_",
    "zero_",
]


def add_(
    input: Tensor, other: Tensor | Number, *, alpha: Number = 1, stream: Stream | None = None
) -> Tensor:
    """Add ``alpha`` times ``other`` to ``input``, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor or number
        Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold the
        result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 |
        int32 | int64 | uint8 | bool | complex64 | complex128.
    alpha : number, default 1
        Factor of ``other``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceAdd (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceAdds
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    if isinstance(other, Tensor):
        ops.inplace_add(input, other, alpha, stream=stream)
    else:
        ops.inplace_adds(input, other, alpha, stream=stream)
    return input


def sub_(
    input: Tensor, other: Tensor | Number, *, alpha: Number = 1, stream: Stream | None = None
) -> Tensor:
    """Subtract ``alpha`` times ``other`` from ``input``, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor or number
        Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold the
        result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 |
        int32 | int64 | uint8 | bool | complex64 | complex128.
    alpha : number, default 1
        Factor of ``other``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceSub (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceSubs
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    if isinstance(other, Tensor):
        ops.inplace_sub(input, other, alpha, stream=stream)
    else:
        ops.inplace_subs(input, other, alpha, stream=stream)
    return input


def mul_(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Multiply element by element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor or number
        Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold the
        result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 |
        int32 | int64 | uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceMul (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceMuls
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    if isinstance(other, Tensor):
        ops.inplace_mul(input, other, stream=stream)
    else:
        ops.inplace_muls(input, other, stream=stream)
    return input


def div_(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Divide element by element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    other : Tensor or number
        Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold the
        result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 |
        int32 | int64 | uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceDiv (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceDivs
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    if isinstance(other, Tensor):
        ops.inplace_div(input, other, stream=stream)
    else:
        ops.inplace_divs(input, other, stream=stream)
    return input


def floor_divide_(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Divide and round down, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    other : Tensor or number
        Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold the
        result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 |
        int32 | int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceFloorDivide (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceFloorDivides
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    if isinstance(other, Tensor):
        ops.inplace_floor_divide(input, other, stream=stream)
    else:
        ops.inplace_floor_divides(input, other, stream=stream)
    return input


def remainder_(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Compute the remainder of a division, with the sign of the divisor, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8.
    other : Tensor or number
        Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold the
        result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 |
        int32 | int64 | uint8 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceRemainderTensorTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1;
    aclnnInplaceRemainderTensorScalar (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    if isinstance(other, Tensor):
        ops.inplace_remainder_tensor_tensor(input, other, stream=stream)
    else:
        ops.inplace_remainder_tensor_scalar(input, other, stream=stream)
    return input


def fmod_(input: Tensor, other: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Compute the remainder of a division, with the sign of the dividend, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int32 | int64 |
        uint8.
    other : Tensor or number
        Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold the
        result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int32 |
        int64 | uint8.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceFmodTensor (``include/aclnnop/math.h``), CANN >= 8.1.RC1; aclnnInplaceFmodScalar
    (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(other=other)
    if isinstance(other, Tensor):
        ops.inplace_fmod_tensor(input, other, stream=stream)
    else:
        ops.inplace_fmod_scalar(input, other, stream=stream)
    return input


def addcmul_(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Number = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Add ``value`` times the product of two tensors to ``input``, in place.

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
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceAddcmul (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, tensor1=tensor1, tensor2=tensor2)
    ops.inplace_addcmul(input, tensor1, tensor2, value, stream=stream)
    return input


def addcdiv_(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: Number = 1,
    stream: Stream | None = None,
) -> Tensor:
    """Add ``value`` times the quotient of two tensors to ``input``, in place.

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
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceAddcdiv (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, tensor1=tensor1, tensor2=tensor2)
    ops.inplace_addcdiv(input, tensor1, tensor2, value, stream=stream)
    return input


def neg_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Change the sign of each element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int32 | int64 |
        complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceNeg (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_neg(input, stream=stream)
    return input


def sqrt_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the square root of each element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceSqrt (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_sqrt(input, stream=stream)
    return input


def rsqrt_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute one divided by the square root of each element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceRsqrt (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_rsqrt(input, stream=stream)
    return input


def reciprocal_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute one divided by each element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceReciprocal (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_reciprocal(input, stream=stream)
    return input


def exp_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Raise e to the power of each element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceExp (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_exp(input, stream=stream)
    return input


def log_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the natural logarithm of each element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceLog (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_log(input, stream=stream)
    return input


def sin_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the sine of angles in radians, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceSin (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_sin(input, stream=stream)
    return input


def cos_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the cosine of angles in radians, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceCos (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_cos(input, stream=stream)
    return input


def tanh_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the hyperbolic tangent of each element, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceTanh (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_tanh(input, stream=stream)
    return input


def relu_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Replace negative elements by zero, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32 | int64 | uint8.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceRelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_relu(input, stream=stream)
    return input


def sigmoid_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the logistic function ``1 / (1 + exp(-input))``, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceSigmoid (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_sigmoid(input, stream=stream)
    return input


def leaky_relu_(
    input: Tensor, negative_slope: Number = 0.01, *, stream: Stream | None = None
) -> Tensor:
    """Multiply negative elements by a slope, in place.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64.
    negative_slope : number, default 0.01
        Factor of negative elements.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceLeakyRelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_leaky_relu(input, negative_slope, stream=stream)
    return input


def copy_(input: Tensor, src: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Copy elements into a tensor and convert them.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | uint32 | uint64 | bool | complex64 | complex128 | float8_e4m3fn |
        float8_e5m2 | hifloat8 | float8_e8m0.
    src : Tensor
        Tensor to copy from, broadcast to the shape of ``input``. 0 to 8 dimensions; dtype float32 |
        float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 |
        uint64 | bool | complex64 | complex128 | float8_e4m3fn | float8_e5m2 | hifloat8 |
        float8_e8m0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

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
    expect_tensors(input=input, src=src)
    ops.inplace_copy(input, src, stream=stream)
    return input


def zero_(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Set all elements to zero.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | uint16 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceZero (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    ops.inplace_zero(input, stream=stream)
    return input


def fill_(input: Tensor, value: Tensor | Number, *, stream: Stream | None = None) -> Tensor:
    """Set all elements to one value.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    value : Tensor or number
        Value, as a number or as a tensor of one element. Dtype float32 | float16 | bfloat16 |
        float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool | complex32
        | complex64 | complex128 | float8_e4m3fn | float8_e5m2.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceFillTensor (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1;
    aclnnInplaceFillScalar (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(value=value)
    if isinstance(value, Tensor):
        ops.inplace_fill_tensor(input, value, stream=stream)
    else:
        ops.inplace_fill_scalar(input, value, stream=stream)
    return input


def masked_fill_(
    input: Tensor, mask: Tensor, value: Tensor | Number, *, stream: Stream | None = None
) -> Tensor:
    """Set the elements selected by a mask to one value.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | int8 | int32 | int64 | bool.
    mask : Tensor
        True for the elements to set, broadcast to the shape of ``input``. 0 to 8 dimensions; dtype
        bool.
    value : Tensor or number
        Value, as a number or as a tensor of one element. 0 dimensions; dtype float32 | float16 |
        bfloat16 | int8 | int32 | int64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceMaskedFillTensor (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1;
    aclnnInplaceMaskedFillScalar (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, mask=mask)
    expect_tensors_or_numbers(value=value)
    if isinstance(value, Tensor):
        ops.inplace_masked_fill_tensor(input, mask, value, stream=stream)
    else:
        ops.inplace_masked_fill_scalar(input, mask, value, stream=stream)
    return input


def index_copy_(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Overwrite slices along a dimension.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool | complex64 | complex128.
    dim : int
        Dimension; a negative one counts from the last.
    index : Tensor
        Indices of the slices, one dimension; int32 or int64. 0 to 1 dimensions; dtype int32 |
        int64.
    source : Tensor
        New slices. Dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 | int64 |
        uint8 | bool | complex64 | complex128.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceIndexCopy (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, index=index, source=source)
    ops.inplace_index_copy(input, dim, index, source, stream=stream)
    return input


def scatter_update_(
    input: Tensor, indices: Tensor, updates: Tensor, axis: int, *, stream: Stream | None = None
) -> Tensor:
    """Overwrite places of each batch along a dimension.

    Parameters
    ----------
    input : Tensor
        The first dimension is the batch. 2 to 8 dimensions; dtype float32 | float16 | bfloat16 |
        int8 | int32.
    indices : Tensor
        Where the update of each batch begins, shape ``(batch,)``, or a batch and a place for each
        update, shape ``(updates, 2)``; int32 or int64. 0 to 2 dimensions; dtype int32 | int64.
    updates : Tensor
        New values; shape of ``input`` but for ``axis`` and the batch. 2 to 8 dimensions; dtype
        float32 | float16 | bfloat16 | int8 | int32.
    axis : int
        Dimension of the places; not the first one.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceScatterUpdate (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, indices=indices, updates=updates)
    ops.inplace_scatter_update(input, indices, updates, axis, stream=stream)
    return input


def normal_(
    input: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Fill a tensor with normally distributed random numbers.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    mean : float, default 0.0
        Mean of the distribution.
    std : float, default 1.0
        Standard deviation.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers, and each replay of a graph or sequence that
    captured the call draws new ones. With ``seed``, element ``i`` is always number ``offset + i``
    of the sequence of that seed, in every replay too. The emulator's sequence is Philox 4x32-10;
    that of a real device differs.

    Source
    ------
    aclnnInplaceNormalTensor (``include/aclnnop/random.h``), CANN: a release after 8.1.RC1;
    aclnnInplaceNormal (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    place = next_place(input, generator, seed, offset, stream)
    if isinstance(place, Replayed):
        ops.inplace_normal_tensor(
            input, mean, std, place.seed, place.offset, place.start, stream=stream
        )
    else:
        ops.inplace_normal(input, mean, std, signed(place.seed), place.offset, stream=stream)
    return input


def uniform_(
    input: Tensor,
    low: float = 0.0,
    high: float = 1.0,
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Fill a tensor with uniformly distributed random numbers.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8.
    low : float, default 0.0
        Lower bound, included.
    high : float, default 1.0
        Upper bound, excluded.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers, and each replay of a graph or sequence that
    captured the call draws new ones. With ``seed``, element ``i`` is always number ``offset + i``
    of the sequence of that seed, in every replay too. The emulator's sequence is Philox 4x32-10;
    that of a real device differs.

    Source
    ------
    aclnnInplaceUniformTensor (``include/aclnnop/random.h``), CANN: a release after 8.1.RC1;
    aclnnInplaceUniform (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_numbers(low=low, high=high)
    place = next_place(input, generator, seed, offset, stream)
    if isinstance(place, Replayed):
        ops.inplace_uniform_tensor(
            input,
            low,
            high,
            unsigned(place.seed),
            unsigned(place.offset),
            place.start,
            stream=stream,
        )
    else:
        ops.inplace_uniform(input, low, high, place.seed, place.offset, stream=stream)
    return input


def bernoulli_(
    input: Tensor,
    p: Tensor | Number = 0.5,
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Fill a tensor with random ones and zeros.

    Parameters
    ----------
    input : Tensor
        0 to 8 dimensions; dtype float32 | float16 | bfloat16 | float64 | int8 | int16 | int32 |
        int64 | uint8 | bool.
    p : Tensor or number, default 0.5
        Chance of a 1, as a number or as a tensor in the shape of ``input``. 0 to 8 dimensions;
        dtype float32 | float16 | bfloat16 | float64.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers. The operator takes its place in their
    sequence as numbers, so that a replay cannot draw new ones: a graph or a sequence captures the
    call with ``seed`` alone. Element ``i`` is made of number ``offset + i`` of the sequence; the
    emulator's is Philox 4x32-10, that of a real device differs.

    Source
    ------
    aclnnInplaceBernoulliTensor (``include/aclnnop/random.h``), CANN >= 8.1.RC1;
    aclnnInplaceBernoulli (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(p=p)
    place = fixed_place(input, generator, seed, offset, stream)
    if isinstance(p, Tensor):
        ops.inplace_bernoulli_tensor(input, p, signed(place.seed), place.offset, stream=stream)
    else:
        ops.inplace_bernoulli(input, p, signed(place.seed), place.offset, stream=stream)
    return input
