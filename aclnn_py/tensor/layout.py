# SPDX-License-Identifier: Apache-2.0
"""Layouts: the shape, strides, dtype and format of a tensor, apart from its memory."""

from __future__ import annotations

import itertools
import weakref
from functools import lru_cache
from math import prod
from typing import Any

from aclnn_py._ffi import ffi
from aclnn_py.tensor.dtypes import DType
from aclnn_py.tensor.formats import Format, storage_shape
from aclnn_py.tensor.views import View, contiguous_strides, is_contiguous, span

__all__ = ["Layout", "contiguous_layout", "layout_of"]


_ids = itertools.count(1)


class Layout:
    """Everything aclCreateTensor is told about a tensor but its address and offset.

    Layouts are immutable and interned: equal layouts in use are one object and one ap_layout
    structure (``cdata``), whatever the number of tensors.
    """

    __slots__ = (
        "__weakref__",
        "at",
        "cdata",
        "contiguous",
        "count",
        "dtype",
        "format",
        "reshaped",
        "row",
        "shape",
        "span",
        "storage_nbytes",
        "storage_shape",
        "strides",
        "transposed",
    )

    def __init__(
        self,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: DType,
        format: Format,
        storage: tuple[int, ...],
    ) -> None:
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.format = format
        self.storage_shape = storage
        self.count = prod(shape)
        self.span = span(shape, strides)
        self.storage_nbytes = dtype.nbytes(prod(storage))
        self.contiguous = is_contiguous(shape, strides)
        cell = ffi.new("ap_layout *")
        cell.id = next(_ids)
        cell.dtype = dtype.acl
        cell.format = int(format)
        cell.ndim = len(shape)
        cell.storage_ndim = len(storage)
        try:
            cell.nbytes = self.storage_nbytes
            for i, (dim, stride) in enumerate(zip(shape, strides, strict=True)):
                cell.shape[i] = dim
                cell.strides[i] = stride
            for i, dim in enumerate(storage):
                cell.storage[i] = dim
        except OverflowError:
            raise ValueError(
                f"shape: {shape} of {dtype} has more elements than 64 bits can count in bytes; "
                "use smaller dimensions"
            ) from None
        self.cdata: Any = cell
        # The address of it, as launches take one.
        self.at = float(int(ffi.cast("intptr_t", cell)))
        # Layouts of views that were made before; what is None was not asked for.
        self.row: Layout | None = None
        self.transposed: Layout | None = None
        self.reshaped: dict[tuple[int, ...], Layout] = {}

    def __repr__(self) -> str:
        return f"<Layout {self}>"

    def __str__(self) -> str:
        return f"{self.shape} {self.dtype} strides {self.strides} {self.format.name}"


_Key = tuple[tuple[int, ...], tuple[int, ...], int, int, tuple[int, ...]]
_interned: weakref.WeakValueDictionary[_Key, Layout] = weakref.WeakValueDictionary()


# Bounded, and strong: the usual temporary tensors and views come and go with the same few layouts.
@lru_cache(maxsize=8192)
def layout_of(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: DType,
    format: Format,
    storage: tuple[int, ...],
) -> Layout:
    """Return the one layout with these properties."""
    key = (shape, strides, dtype.acl, int(format), storage)
    found = _interned.get(key)
    if found is None:
        # Two threads may both come here; then two equal objects exist, which costs memory and
        # nothing else.
        found = _interned[key] = Layout(shape, strides, dtype, format, storage)
    return found


@lru_cache(maxsize=8192)
def contiguous_layout(shape: tuple[int, ...], dtype: DType, format: Format) -> Layout:
    """Return the layout of a fresh tensor.

    Raises
    ------
    ValueError
        The rank does not fit the format.
    """
    storage = storage_shape(shape, format, dtype)
    return layout_of(shape, contiguous_strides(shape), dtype, format, storage)


def viewed(layout: Layout, view: View) -> Layout:
    """Return the layout of a view of a tensor: other shape and strides over the same storage."""
    return layout_of(view.shape, view.strides, layout.dtype, layout.format, layout.storage_shape)
