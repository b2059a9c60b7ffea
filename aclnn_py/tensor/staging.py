# SPDX-License-Identifier: Apache-2.0
"""Strided arrays on their way to the device and back, through a pinned stage of bounded size.

Only contiguous bytes cross between host and device. A strided array is gathered into the stage and
copied from there, piece by piece; the stage fits a processor's cache, so that each element goes
through main memory once on each side, and no temporary grows with the array.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py._ffi import C, ffi
from aclnn_py.memory.buffer import Buffer, HostBuffer
from aclnn_py.runtime.status import check_acl

__all__ = ["gather", "scatter"]

Array = npt.NDArray[Any]

STAGE_NBYTES = 1 << 20
_DEVICE_TO_HOST = 2
# Gaps are read with what is between them, unless they are this many times as long and this far.
_SPARSE = 8
_FAR = 4096


def gather(target: Buffer, at: int, array: Array, dtype: np.dtype[Any]) -> None:
    """Copy an array of any strides and byte order to contiguous device memory.

    Parameters
    ----------
    target : Buffer
    at : int
        Where in it, in bytes.
    array : ndarray
        At least one element.
    dtype : dtype
        What the elements are on the device: that of ``array``, in native byte order.
    """
    with HostBuffer(min(array.size * dtype.itemsize, STAGE_NBYTES), device=target.device) as stage:
        _gather(target, at, array, dtype, stage.numpy())


def _gather(
    target: Buffer, at: int, array: Array, dtype: np.dtype[Any], room: npt.NDArray[np.uint8]
) -> None:
    for piece in _pieces(array, max(1, STAGE_NBYTES // dtype.itemsize)):
        nbytes = piece.size * dtype.itemsize
        packed: Array = room[:nbytes].view(dtype).reshape(piece.shape)
        np.copyto(packed, piece)
        target.write(room[:nbytes], offset=at)
        at += nbytes


def _pieces(array: Array, most: int) -> Iterator[Array]:
    """Cut an array along its first dimensions into pieces of at most ``most`` elements."""
    if array.size <= most:
        yield array
        return
    rows = most // (array.size // len(array))
    if rows == 0:
        for part in array:
            yield from _pieces(part, most)
        return
    for start in range(0, len(array), rows):
        yield array[start : start + rows]


def scatter(source: Buffer, at: int, strides: tuple[int, ...], target: Array) -> None:
    """Copy strided device memory into an array of the same shape and any strides.

    Parameters
    ----------
    source : Buffer
    at : int
        Where the first element is, in bytes.
    strides : tuple of int
        Of the elements on the device, in bytes, not negative.
    target : ndarray
        At least one element; native byte order.
    """
    # The longest stride first: then a part along the first dimension is one stretch of memory.
    axes = sorted(range(target.ndim), key=lambda axis: -strides[axis])
    steps = tuple(strides[axis] for axis in axes)
    source.settle()
    span = _span(target.shape, strides, target.itemsize)
    with HostBuffer(min(span, STAGE_NBYTES), device=source.device) as stage:
        _scatter(source, at, steps, target.transpose(axes), stage.numpy())


def _scatter(
    source: Buffer,
    at: int,
    strides: tuple[int, ...],
    target: Array,
    room: npt.NDArray[np.uint8],
) -> None:
    shape, size = target.shape, target.itemsize
    span = _span(shape, strides, size)
    inner = _span(shape[1:], strides[1:], size)
    sparse = target.ndim > 0 and strides[0] > max(_SPARSE * inner, _FAR)
    if span <= len(room) and not sparse:
        source.read(room[:span], offset=at)
        stretch: Array = np.ndarray(shape, target.dtype, room, 0, strides)
        np.copyto(target, stretch)
    elif sparse and inner == prod(shape[1:]) * size and inner <= len(room):
        _copy_rows(source, at, strides, target, room)
    elif sparse or inner > len(room):
        for index in range(shape[0]):
            # With an ellipsis, because an element alone would be a copy.
            part = target[index, ...]
            _scatter(source, at + index * strides[0], strides[1:], part, room)
    else:
        count = (len(room) - inner) // strides[0] + 1
        for start in range(0, shape[0], count):
            part = target[start : start + count]
            _scatter(source, at + start * strides[0], strides, part, room)


def _copy_rows(
    source: Buffer,
    at: int,
    strides: tuple[int, ...],
    target: Array,
    room: npt.NDArray[np.uint8],
) -> None:
    """Copy rows without gaps inside, but with wide ones between them."""
    width = target.nbytes // len(target)
    count = len(room) // width
    for start in range(0, len(target), count):
        part = target[start : start + count]
        first = ffi.cast("void *", source.raw + at + start * strides[0])
        to = ffi.cast("void *", room.ctypes.data)
        with source.device.as_active():
            status = C.aclrtMemcpy2d(
                to, width, first, strides[0], width, len(part), _DEVICE_TO_HOST
            )
            check_acl(status, "aclrtMemcpy2d", device=source.device.index)
        packed: Array = np.ndarray(part.shape, part.dtype, room, 0, (width, *strides[1:]))
        np.copyto(part, packed)


def _span(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> int:
    """Bytes from the first element to the end of the last one."""
    return sum((dim - 1) * step for dim, step in zip(shape, strides, strict=True)) + size
