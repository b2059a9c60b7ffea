# SPDX-License-Identifier: Apache-2.0
"""The elements of a tensor on their way to the host and back."""

from __future__ import annotations

from math import gcd, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from aclnn_py._ffi import lib
from aclnn_py.errors import DeviceMismatchError
from aclnn_py.memory.buffer import HostBuffer, raise_of_read
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.stream import Stream, resolve_stream
from aclnn_py.tensor.dtypes import DType
from aclnn_py.tensor.formats import is_blocked
from aclnn_py.tensor.host_arrays import to_host, to_storage
from aclnn_py.tensor.staging import gather, scatter

if TYPE_CHECKING:
    from aclnn_py.tensor.tensor import Tensor

__all__ = ["fill", "read", "write"]


def read(tensor: Tensor, out: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    """Wait for the work on a tensor and return its elements; see ``Tensor.numpy``."""
    layout, memory = tensor.layout, tensor.buffer
    _ = memory.raw
    capture_rules.before_copy("Tensor.numpy", "Read it when the graph has been replayed.")
    kind = layout.dtype
    if out is not None:
        _check_out(out, tensor)
    if layout.count == 0:
        memory.settle()
        return np.empty(layout.shape, kind.numpy) if out is None else out
    if kind.packed or is_blocked(layout.format):
        values = _read_storage(tensor)
        if out is None:
            return values
        np.copyto(out, values)
        return out
    size = kind.numpy.itemsize
    at = tensor.offset * size
    if out is None:
        out = np.empty(layout.shape, kind.numpy)
        place = memory.raw + at, out.nbytes, out.ctypes.data
        code = lib.ap_read(memory.block.use, *place) if layout.contiguous else lib.AP_UNCERTAIN
        if code == lib.AP_OK:
            return out
        if code == lib.AP_FAILED:
            raise_of_read(tensor.device)
    if layout.contiguous and out.flags.c_contiguous:
        # As bytes: not every type of ml_dtypes has a buffer.
        memory.read(out.reshape(-1).view(np.uint8), offset=at)
    else:
        scatter(memory, at, tuple(stride * size for stride in layout.strides), out)
    return out


def _check_out(out: object, tensor: Tensor) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out: expected a numpy.ndarray, got {type(out).__name__}")
    if out.shape != tensor.shape:
        raise ValueError(f"out: shape {out.shape}, expected {tensor.shape}")
    if out.dtype != tensor.dtype:
        raise ValueError(f"out: dtype {out.dtype}, expected {tensor.dtype}")
    if not out.flags.writeable:
        raise ValueError("out: must be writable")


def _read_storage(tensor: Tensor) -> npt.NDArray[Any]:
    """Read elements that the host has to unpack or rearrange."""
    layout = tensor.layout
    # Elements narrower than a byte are read from the last one before that starts a byte.
    start = tensor.offset % (8 // gcd(layout.dtype.bits, 8))
    first = (tensor.offset - start) * layout.dtype.bits // 8
    nbytes = layout.dtype.nbytes(start + layout.span)
    if is_blocked(layout.format):
        nbytes = layout.storage_nbytes
    raw = np.empty(nbytes, np.uint8)
    tensor.buffer.read(raw, offset=first)
    return to_host(raw, layout.dtype, layout.format, layout.shape, layout.strides, start)


def write(target: Tensor, source: npt.NDArray[Any] | Tensor, stream: Stream | None) -> None:
    """Overwrite the elements of a tensor; see ``Tensor.copy_from``."""
    if tuple(source.shape) != target.shape:
        raise ValueError(f"source: shape {tuple(source.shape)}, expected {target.shape}")
    layout = target.layout
    if not layout.contiguous:
        raise ValueError(f"the strides {layout.strides} have gaps; use ops.inplace_copy")
    if not _on_bytes(target):
        raise ValueError("the view shares a byte with elements outside it; write the whole tensor")
    if stream is None:
        advice = "Pass stream= and a tensor, or copy before or after the capture."
        capture_rules.before_copy("Tensor.copy_from", advice)
    at = target.offset * layout.dtype.bits // 8
    if not isinstance(source, np.ndarray):
        _copy(target, source, at, stream)
        return
    if not _same_type(source.dtype, layout.dtype):
        raise ValueError(f"source: dtype {source.dtype}, expected {layout.dtype}")
    if stream is None:
        fill(target, source)
        return
    capture_rules.before_pageable_copy("Tensor.copy_from", resolve_stream(stream))
    if layout.count == 0:
        return
    raw = to_storage(source.astype(layout.dtype.numpy, copy=False), layout.dtype, layout.format)
    # The caller may change the array as soon as this returns; and only from pinned memory the
    # device copies on its own.
    pinned = HostBuffer(raw.nbytes, device=target.device)
    np.copyto(pinned.numpy(), raw)
    target.buffer.write(pinned, offset=at, stream=stream)


def fill(target: Tensor, array: npt.NDArray[Any]) -> None:
    """Copy the bits of an array of a tensor's shape, in any strides and byte order, to it."""
    layout, kind = target.layout, target.layout.dtype
    native = array.dtype.newbyteorder("=")
    if layout.count == 0:
        return
    at = target.offset * kind.bits // 8
    plain = array.flags.c_contiguous and array.dtype.isnative
    if kind.packed or is_blocked(layout.format) or plain:
        values = array.astype(native, copy=False)
        target.buffer.write(to_storage(values, kind, layout.format), offset=at)
    else:
        gather(target.buffer, at, array, native)


def _copy(target: Tensor, source: Tensor, at: int, stream: Stream | None) -> None:
    theirs, mine = source.layout, target.layout
    if theirs.dtype is not mine.dtype or theirs.format is not mine.format:
        raise ValueError(f"source: {theirs}, expected {mine}")
    if not theirs.contiguous or not _on_bytes(source):
        raise ValueError(f"source: the strides {theirs.strides} have gaps; use ops.inplace_copy")
    if source.device is not target.device:
        raise DeviceMismatchError(f"source: on {source.device!r}, expected {target.device!r}")
    nbytes = mine.storage_nbytes if is_blocked(mine.format) else mine.dtype.nbytes(mine.count)
    offset = source.offset * theirs.dtype.bits // 8
    target.buffer.copy_from(
        source.buffer, offset=at, source_offset=offset, nbytes=nbytes, stream=stream
    )


def _on_bytes(tensor: Tensor) -> bool:
    """Whether the elements begin and end with whole bytes, or with the memory."""
    layout, bits = tensor.layout, tensor.layout.dtype.bits
    end = tensor.offset + layout.span
    whole = end == prod(layout.storage_shape)
    return tensor.offset * bits % 8 == 0 and (end * bits % 8 == 0 or whole)


def _same_type(given: np.dtype[Any], kind: DType) -> bool:
    return given == kind.numpy or given.newbyteorder("=") == kind.numpy
