# SPDX-License-Identifier: Apache-2.0
"""Functions whose output size depends on the data.

They count the elements on the device first and allocate a result of exactly that size. Reading the
count waits for the stream, so these functions cannot be captured in a graph.
"""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.shapes import broadcast
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream, resolve_stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = ["count_nonzero", "masked_select", "nonzero"]


def count_nonzero(input: Tensor, *, stream: Stream | None = None) -> int:
    """Count nonzero elements and wait for the result.

    Parameters
    ----------
    input : Tensor
        dtype float16 | float32 | float64 | bfloat16 | int8 | uint8 | int16 | int32 | int64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call waits for the device.

    Returns
    -------
    int
        Number of nonzero elements.

    Raises
    ------
    AclnnError
        161002 the dtype is refused.

    Source
    ------
    aclnnNeScalar, aclnnReduceSum (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    return _count(_flags(input, stream), stream)


def _flags(input: Tensor, stream: Stream | None) -> Tensor:
    """Whether each element is not zero."""
    if input.dtype_name == "bool":
        return input
    flags = empty(input.shape, "bool", device=input.device)
    ops.ne_scalar(input, 0, flags, stream=stream)
    return flags


def _count(flags: Tensor, stream: Stream | None) -> int:
    # Half the width adds up in less than half the time.
    kind = "int32" if flags.count < 1 << 31 else "int64"
    total = empty((), kind, device=flags.device)
    ops.reduce_sum(flags, tuple(range(flags.ndim)), False, kind, total, stream=stream)
    if stream is not None:
        resolve_stream(stream).synchronize()
    return int(total.item())


def nonzero(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Find nonzero elements.

    Parameters
    ----------
    input : Tensor
        dtype float16 | float32 | float64 | bfloat16 | int8 | uint8 | int16 | int32 | int64 | bool.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call waits for the device
        once, to learn the length.

    Returns
    -------
    Tensor
        Shape ``(count, input.ndim)``; int64. One row of indices per element, in row-major order.

    Raises
    ------
    AclnnError
        161002 the dtype is refused.

    Source
    ------
    aclnnNonzero (``include/aclnnop/index.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    flags = _flags(input, stream)
    out = empty((_count(flags, stream), input.ndim), "int64", device=input.device)
    ops.nonzero(flags, out, stream=stream)
    return out


def masked_select(input: Tensor, mask: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Take the elements selected by a mask, in row-major order.

    Parameters
    ----------
    input : Tensor
        dtype float16 | float32 | float64 | bfloat16 | int8 | uint8 | int16 | int32 | int64 | bool.
    mask : Tensor
        dtype bool; broadcast with ``input``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call waits for the device
        once, to learn the length.

    Returns
    -------
    Tensor
        Shape ``(count,)``; the dtype of ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype is refused.

    Source
    ------
    aclnnMaskedSelect (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, mask=mask)
    count = count_nonzero(mask.broadcast_to(broadcast(input, mask)), stream=stream)
    out = empty((count,), input.dtype_name, device=input.device)
    ops.masked_select(input, mask, out, stream=stream)
    return out
