# SPDX-License-Identifier: Apache-2.0
"""Sums, products and functions of single elements."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.creation import empty
from aclnn_py.dtypes import DType, dtype_of
from aclnn_py.functional.results import broadcast, promote
from aclnn_py.operators.expected import expect_tensors
from aclnn_py.operators.scalar import Number
from aclnn_py.stream import Stream
from aclnn_py.tensor import Tensor

__all__ = ["add", "div", "exp", "mul", "relu", "sub"]


def add(input: Tensor, other: Tensor, *, alpha: Number = 1, stream: Stream | None = None) -> Tensor:
    """Add ``alpha`` times ``other`` to ``input``.

    Parameters
    ----------
    input, other : Tensor
        Shapes that broadcast together; dtypes are promoted.
    alpha : number, default 1
        Factor of ``other``.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the broadcast shape and the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype is refused.

    Source
    ------
    aclnnAdd (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    ops.add(input, other, alpha, out, stream=stream)
    return out


def sub(input: Tensor, other: Tensor, *, alpha: Number = 1, stream: Stream | None = None) -> Tensor:
    """Subtract ``alpha`` times ``other`` from ``input``.

    Parameters
    ----------
    input, other : Tensor
        Shapes that broadcast together; dtypes are promoted.
    alpha : number, default 1
        Factor of ``other``.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the broadcast shape and the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype is refused.

    Source
    ------
    aclnnSub (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    ops.sub(input, other, alpha, out, stream=stream)
    return out


def mul(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Multiply two tensors element by element.

    Parameters
    ----------
    input, other : Tensor
        Shapes that broadcast together; dtypes are promoted.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the broadcast shape and the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype is refused.

    Source
    ------
    aclnnMul (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), promote(input, other), device=input.device)
    ops.mul(input, other, out, stream=stream)
    return out


def div(input: Tensor, other: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Divide two tensors element by element.

    Parameters
    ----------
    input, other : Tensor
        Shapes that broadcast together; dtypes are promoted.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the broadcast shape; float32 for integers, else the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype is refused.

    Source
    ------
    aclnnDiv (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(broadcast(input, other), _real(promote(input, other)), device=input.device)
    ops.div(input, other, out, stream=stream)
    return out


def exp(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Raise e to the power of each element.

    Parameters
    ----------
    input : Tensor
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the same shape; float32 for integers, else the same dtype.

    Raises
    ------
    AclnnError
        161002 the dtype is refused.

    Source
    ------
    aclnnExp (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, _real(promote(input)), device=input.device)
    ops.exp(input, out, stream=stream)
    return out


def relu(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Replace negative elements by zero.

    Parameters
    ----------
    input : Tensor
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the same shape and dtype.

    Raises
    ------
    AclnnError
        161002 the dtype is refused.

    Source
    ------
    aclnnRelu (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.relu(input, out, stream=stream)
    return out


def _real(dtype: DType) -> DType:
    return dtype_of("float32") if dtype.name.startswith(("int", "uint", "bool")) else dtype
