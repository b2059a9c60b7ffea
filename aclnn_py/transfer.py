# SPDX-License-Identifier: Apache-2.0
"""The elements of a tensor on their way to the host and back."""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from aclnn_py import guard
from aclnn_py.convert import to_host, to_storage
from aclnn_py.dtypes import DType
from aclnn_py.errors import DeviceMismatchError
from aclnn_py.formats import is_blocked
from aclnn_py.stream import Stream

if TYPE_CHECKING:
    from aclnn_py.tensor import Tensor

__all__ = ["read", "write"]


def read(tensor: Tensor) -> npt.NDArray[Any]:
    """Wait for the work on a tensor and return its elements; see ``Tensor.numpy``."""
    layout, memory = tensor._layout, tensor._memory
    _ = memory.raw
    guard.before_copy("Tensor.numpy", "Read it when the graph has been replayed.")
    if layout.count == 0:
        memory.settle()
        return np.empty(layout.shape, layout.dtype.numpy)
    # Elements narrower than a byte are read from the last one before that starts a byte.
    start = tensor._offset % (8 // gcd(layout.dtype.bits, 8))
    first = (tensor._offset - start) * layout.dtype.bits // 8
    nbytes = layout.dtype.nbytes(start + layout.span)
    if is_blocked(layout.format):
        nbytes = layout.storage_nbytes
    raw = np.empty(nbytes, np.uint8)
    memory.read(raw, offset=first)
    return to_host(raw, layout.dtype, layout.format, layout.shape, layout.strides, start)


def write(target: Tensor, source: npt.NDArray[Any] | Tensor, stream: Stream | None) -> None:
    """Overwrite the elements of a tensor; see ``Tensor.copy_from``."""
    from aclnn_py.tensor import Tensor

    if not isinstance(source, (np.ndarray, Tensor)):
        raise TypeError(f"source: expected an array or a Tensor, got {type(source).__name__}")
    if tuple(source.shape) != target.shape:
        raise ValueError(f"source: shape {tuple(source.shape)}, expected {target.shape}")
    layout = target._layout
    if not layout.contiguous:
        raise ValueError(f"the strides {layout.strides} have gaps; use ops.inplace_copy")
    if not _on_bytes(target):
        raise ValueError("the view shares a byte with elements outside it; write the whole tensor")
    if stream is None:
        advice = "Pass stream= and a tensor, or copy before or after the capture."
        guard.before_copy("Tensor.copy_from", advice)
    at = target._offset * layout.dtype.bits // 8
    if isinstance(source, Tensor):
        _copy(target, source, at, stream)
        return
    array = _host_array(source, layout.dtype)
    raw = to_storage(array, layout.dtype, layout.format)
    if stream is not None and np.shares_memory(raw, source):
        # The caller may change the array as soon as this returns.
        raw = raw.copy()
    target._memory.write(raw, offset=at, stream=stream)


def _copy(target: Tensor, source: Tensor, at: int, stream: Stream | None) -> None:
    theirs, mine = source._layout, target._layout
    if theirs.dtype is not mine.dtype or theirs.format is not mine.format:
        raise ValueError(f"source: {theirs}, expected {mine}")
    if not theirs.contiguous or not _on_bytes(source):
        raise ValueError(f"source: the strides {theirs.strides} have gaps; use ops.inplace_copy")
    if source.device is not target.device:
        raise DeviceMismatchError(f"source: on {source.device!r}, expected {target.device!r}")
    nbytes = mine.storage_nbytes if is_blocked(mine.format) else mine.dtype.nbytes(mine.count)
    offset = source._offset * theirs.dtype.bits // 8
    target._memory.copy_from(
        source._memory, offset=at, source_offset=offset, nbytes=nbytes, stream=stream
    )


def _on_bytes(tensor: Tensor) -> bool:
    """Whether the elements begin and end with whole bytes, or with the memory."""
    layout, bits = tensor._layout, tensor._layout.dtype.bits
    end = tensor._offset + layout.span
    whole = end == prod(layout.storage_shape)
    return tensor._offset * bits % 8 == 0 and (end * bits % 8 == 0 or whole)


def _host_array(array: npt.NDArray[Any], kind: DType) -> npt.NDArray[Any]:
    if array.dtype == kind.numpy:
        return array
    if array.dtype.newbyteorder("=") == kind.numpy:
        return array.astype(kind.numpy)
    raise ValueError(f"source: dtype {array.dtype}, expected {kind}")
