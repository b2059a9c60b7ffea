# SPDX-License-Identifier: Apache-2.0
"""Copies in another dtype or layout."""

from __future__ import annotations

from typing import Any

from aclnn_py import ops
from aclnn_py.creation import empty
from aclnn_py.operators.expected import expect_tensors
from aclnn_py.stream import Stream
from aclnn_py.tensor import Tensor

__all__ = ["cast", "contiguous"]


def cast(input: Tensor, dtype: Any, *, stream: Stream | None = None) -> Tensor:
    """Convert the elements to another dtype.

    Parameters
    ----------
    input : Tensor
    dtype : dtype-like
        What to convert to.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the same shape, row-major.

    Raises
    ------
    AclnnError
        161002 the conversion is refused.

    Source
    ------
    aclnnCast (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, dtype, device=input.device)
    ops.cast(input, dtype, out, stream=stream)
    return out


def contiguous(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Copy a strided view into a row-major tensor.

    Parameters
    ----------
    input : Tensor
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        A new tensor of the same shape and dtype, also when ``input`` is row-major already.

    Raises
    ------
    AclnnError
        161002 the dtype is refused.

    Source
    ------
    aclnnInplaceCopy (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.inplace_copy(out, input, stream=stream)
    return out
