# SPDX-License-Identifier: Apache-2.0
"""Host arrays to device bytes and back: packing, blocked formats, strided layouts."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py.tensor import dtypes
from aclnn_py.tensor.dtypes import DType
from aclnn_py.tensor.formats import Format, has_filter_blocks, is_blocked, storage_shape
from aclnn_py.tensor.views import contiguous_strides

__all__ = ["to_host", "to_storage"]

Array = npt.NDArray[Any]


def to_blocks(array: Array, format: Format, dtype: DType) -> Array:
    """Rearrange the elements into the blocks of a format; the margin is filled with zeros."""
    shape = storage_shape(array.shape, format, dtype)
    if has_filter_blocks(format):
        return _filters_to_blocks(array, shape)
    batch, (across, down, height, width) = shape[:-4], shape[-4:]
    padded = np.zeros((*batch, down * height, across * width), array.dtype)
    padded[..., : array.shape[-2], : array.shape[-1]] = array
    split = padded.reshape(*batch, down, height, across, width)
    # (down, height, across, width) -> (across, down, height, width)
    return np.ascontiguousarray(np.moveaxis(split, -2, -4))


def from_blocks(blocks: Array, shape: tuple[int, ...], format: Format) -> Array:
    """Undo ``to_blocks`` for a logical shape."""
    if has_filter_blocks(format):
        return _filters_from_blocks(blocks, shape)
    across, down, height, width = blocks.shape[-4:]
    split = np.moveaxis(blocks, -4, -2)
    matrix = split.reshape(*blocks.shape[:-4], down * height, across * width)
    return np.ascontiguousarray(matrix[..., : shape[-2], : shape[-1]])


def _filters_to_blocks(array: Array, stored: tuple[int, ...]) -> Array:
    n, c, d, h, w = _as_volume(array.shape)
    _, down, height, width = stored
    across = -(-c // width)
    padded = np.zeros((down * height, across * width, d, h, w), array.dtype)
    padded[:n, :c] = array.reshape(n, c, d, h, w)
    split = padded.reshape(down, height, across, width, d, h, w)
    return np.ascontiguousarray(split.transpose(4, 2, 5, 6, 0, 1, 3)).reshape(stored)


def _filters_from_blocks(blocks: Array, shape: tuple[int, ...]) -> Array:
    n, c, d, h, w = _as_volume(shape)
    _, down, height, width = blocks.shape
    across = -(-c // width)
    split = blocks.reshape(d, across, h, w, down, height, width)
    whole = split.transpose(4, 5, 1, 6, 0, 2, 3).reshape(down * height, across * width, d, h, w)
    return np.ascontiguousarray(whole[:n, :c]).reshape(shape)


def _as_volume(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Filters of an image are those of a volume with one slice."""
    return shape if len(shape) == 5 else (*shape[:2], 1, *shape[2:])


def to_storage(array: Array, dtype: DType, format: Format) -> npt.NDArray[np.uint8]:
    """Return the bytes a contiguous tensor of this format and dtype has on the device.

    Parameters
    ----------
    array : ndarray
        Values in the host type of ``dtype``, any strides.
    dtype : DType
    format : Format

    Returns
    -------
    ndarray
        One-dimensional uint8. It may share memory with ``array``.
    """
    if is_blocked(format):
        array = to_blocks(array, format, dtype)
    # Not ascontiguousarray alone: the bytes of a strided array are not the bytes of its elements.
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype.packed:
        return dtypes.pack(flat, dtype)
    return flat.view(np.uint8)


def to_host(
    raw: npt.NDArray[np.uint8],
    dtype: DType,
    format: Format,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    start: int = 0,
) -> Array:
    """Return a new C-ordered array of the elements of a view.

    Parameters
    ----------
    raw : ndarray
        uint8. For blocked formats the whole storage, else at least the span of the view.
    dtype : DType
    format : Format
    shape, strides : tuple of int
        The view, strides in elements.
    start : int, default 0
        Elements in ``raw`` before the first one of the view.
    """
    if is_blocked(format):
        # The only strided view of a blocked tensor is the exchange of a matrix's two dimensions.
        flipped = tuple(strides) != contiguous_strides(shape)
        logical = (*shape[:-2], shape[-1], shape[-2]) if flipped else shape
        stored = storage_shape(logical, format, dtype)
        elements = _elements(raw, dtype, prod(stored)).reshape(stored)
        matrix = from_blocks(elements, logical, format)
        return np.ascontiguousarray(matrix.swapaxes(-1, -2)) if flipped else matrix
    if 0 in shape:
        return np.empty(shape, dtype.numpy)
    last = start + sum((dim - 1) * stride for dim, stride in zip(shape, strides, strict=True))
    flat = _elements(raw, dtype, last + 1)
    size = dtype.numpy.itemsize
    steps = tuple(stride * size for stride in strides)
    # Over bytes, because NumPy's as_strided does not know the types of ml_dtypes.
    view: Array = np.ndarray(shape, dtype.numpy, flat.view(np.uint8), start * size, steps)
    return np.array(view, order="C")


def _elements(raw: npt.NDArray[np.uint8], dtype: DType, count: int) -> Array:
    if dtype.packed:
        return dtypes.unpack(raw, dtype, count)
    elements: Array = raw[: count * dtype.numpy.itemsize].view(dtype.numpy)
    return elements
