# SPDX-License-Identifier: Apache-2.0
"""Sums over dimensions, and what is built on them."""

from __future__ import annotations

from typing import Any

from aclnn_py import ops
from aclnn_py.creation import empty
from aclnn_py.dtypes import dtype_of
from aclnn_py.functional.results import promote, reduced_shape
from aclnn_py.operators.expected import expect_tensors
from aclnn_py.stream import Stream
from aclnn_py.tensor import Tensor

__all__ = ["softmax", "sum"]


def sum(
    input: Tensor,
    dim: int | tuple[int, ...] = (),
    *,
    keepdim: bool = False,
    dtype: Any = None,
    stream: Stream | None = None,
) -> Tensor:
    """Add the elements along dimensions.

    Parameters
    ----------
    input : Tensor
    dim : int or tuple of int, default ()
        Dimensions to add along; all of them by default.
    keepdim : bool, default False
        Whether these dimensions stay, with length 1.
    dtype : dtype-like, optional
        Of the result and of the sum; by default int64 for integers and bool, else that of
        ``input``.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Without the dimensions, or with length 1 in them.

    Raises
    ------
    AclnnError
        161002 a dtype or dimension is refused.

    Source
    ------
    aclnnReduceSum (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    axes = (dim,) if isinstance(dim, int) else tuple(dim)
    kind = dtype_of(dtype) if dtype is not None else promote(input)
    if dtype is None and kind.name.startswith(("int", "uint", "bool")):
        kind = dtype_of("int64")
    out = empty(reduced_shape(input.shape, axes, keepdim), kind, device=input.device)
    ops.reduce_sum(input, axes, keepdim, kind, out, stream=stream)
    return out


def softmax(input: Tensor, dim: int = -1, *, stream: Stream | None = None) -> Tensor:
    """Exponentials divided by their sum along one dimension.

    Parameters
    ----------
    input : Tensor
    dim : int, default -1
        The dimension whose elements add up to 1.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Of the same shape and dtype.

    Raises
    ------
    AclnnError
        161002 the dtype or dimension is refused.

    Source
    ------
    aclnnSoftmax (``include/aclnnop/activation.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.softmax(input, dim, out, stream=stream)
    return out
