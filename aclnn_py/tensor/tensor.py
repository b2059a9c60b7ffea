# SPDX-License-Identifier: Apache-2.0
"""Tensors: a layout over device memory, and strided views of it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py import late
from aclnn_py._ffi import C, ffi, held, lib
from aclnn_py.memory.buffer import Buffer, buffer_for_host, give_back_held
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor import recipes, transfer, views
from aclnn_py.tensor.array_methods import ArrayMethods
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.elements import is_element, note
from aclnn_py.tensor.formats import Format, format_of, has_matrix_blocks, is_blocked
from aclnn_py.tensor.layout import Layout, contiguous_layout, layout_of, viewed
from aclnn_py.tensor.shown import SHOWN, numpys_view
from aclnn_py.tensor.views import View, shape_of

__all__ = ["Tensor", "describe", "description", "fresh", "fresh_here", "fresh_of", "tensor_over"]

_blank = object.__new__
# Reentrant: the collector may run code of the user inside.
_describing = threading.RLock()
_describe = lib.ap_describe
_new = ffi.new
_TENSOR = ffi.typeof("ap_tensor *")
_WHOLE = {int}
_SEQUENCES = (tuple, list, np.ndarray)
# Shapes that a layout remembers as those of its views.
_MOST_SHAPES = 64
# It asks for an array without saying what for, and then takes strides in bytes.
_AS_STRIDED = getattr(np.lib.stride_tricks.as_strided, "__code__", None)


def _renew_lock() -> None:
    global _describing
    _describing = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


def _desc_of(tensor: Tensor) -> Any:
    """Make the structure that launches take. For the first of them: many views see none."""
    block = tensor._memory.block
    with _describing:  # of several threads one makes it: the others may not exchange it
        if (made := getattr(tensor, "_made_desc", None)) is not None:
            return made
        desc = _new(_TENSOR)
        at = _describe(desc, tensor._layout.cdata, block.address, tensor._offset, block.use)
        tensor._made_desc = desc
        # The address of a new tensor lies with its memory, and stays.
        if getattr(tensor, "_made_at", None) is None:
            tensor._made_at = at
        return desc


def _at_of(tensor: Tensor) -> float:
    _desc_of(tensor)
    return tensor._made_at


def describe(tensors: Sequence[Any]) -> bool:
    """Make the structures of those that no launch has seen.

    False where there are none such, or something else than tensors.
    """
    known = [tensor is None or hasattr(tensor, "_made_at") for tensor in tensors]
    if all(known) or any(tensor is not None and type(tensor) is not Tensor for tensor in tensors):
        return False
    for tensor, there in zip(tensors, known, strict=True):
        if not there:
            _desc_of(tensor)
    return True


def _element(tensor: Tensor) -> Tensor:
    """A number of a tensor; inside a capture, which will write later, with memory of its own."""
    if thread.capture is not None:
        tensor = late.functional.contiguous(tensor)
    note(tensor)
    return tensor


class Tensor(ArrayMethods):
    """An n-dimensional array in device memory.

    Made by ``from_numpy``, ``empty`` and their like, by ``Tensor.wrap`` over memory that exists, or
    as a view of another tensor. Slices (``t[1:, ::2]``), ``transpose``, ``permute``, ``reshape``,
    ``broadcast_to``, ``squeeze`` and ``unsqueeze`` are views: they move nothing and share the
    memory, which lives as long as one of them. Indexing by tensors, arrays or lists makes copies.
    Operators and the methods of ``ArrayMethods`` follow NumPy 2 in values, dtypes and errors.
    """

    __slots__ = ("__weakref__", "_layout", "_made_at", "_made_desc", "_memory", "_offset")

    _at: float  # the address of _desc, as launches take it
    _desc: Any
    _made_at: float  # behind these two: nothing until they are asked for
    _made_desc: Any
    _layout: Layout
    _memory: Buffer
    _offset: int

    def __init__(self) -> None:
        raise TypeError("use from_numpy, empty, zeros, full or Tensor.wrap")

    @classmethod
    def _of(cls, memory: Buffer, layout: Layout, offset: int = 0) -> Tensor:
        tensor = _blank(cls)
        tensor._memory = memory
        tensor._layout = layout
        tensor._offset = offset
        return tensor

    @classmethod
    def wrap(
        cls,
        memory: Buffer,
        shape: int | tuple[int, ...],
        dtype: Any,
        *,
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
        format: Format | str = Format.ND,
    ) -> Tensor:
        """Put a layout over device memory that exists.

        Parameters
        ----------
        memory : Buffer
            Kept alive by the tensor.
        shape : int or tuple of int
        dtype : dtype-like
        strides : tuple of int, optional
            In elements, not negative. Default: row-major.
        offset : int, default 0
            Elements before the first one.
        format : Format or str, default ND
            A blocked format takes neither strides nor offset.

        Raises
        ------
        ValueError
            The memory is too small for the layout.
        """
        if not isinstance(memory, Buffer):
            raise TypeError(f"memory: expected a Buffer, got {type(memory).__name__}")
        kind, where, dims = dtype_of(dtype), format_of(format), shape_of(shape)
        start = shape_of((offset,), "offset")[0]
        layout = contiguous_layout(dims, kind, where)
        if strides is not None:
            steps = shape_of(tuple(strides), "strides")
            if len(steps) != len(dims):
                raise ValueError(f"strides: {len(steps)} given for {len(dims)} dimensions")
            if is_blocked(where) and steps != layout.strides:
                raise ValueError(f"strides: a {where.name} tensor has none of its own")
            extent = start + views.span(dims, steps)
            layout = layout_of(dims, steps, kind, where, (extent,))
        if is_blocked(where) and start:
            raise ValueError(f"offset: a {where.name} tensor starts where its memory does")
        needed = kind.nbytes(start + layout.span)
        if is_blocked(where):
            needed = layout.storage_nbytes
        if needed > memory.nbytes:
            raise ValueError(
                f"memory: {memory.nbytes} bytes cannot hold {dims} {kind} ({needed} bytes)"
            )
        return cls._of(memory, layout, start)

    # What it is.

    @property
    def layout(self) -> Layout:
        """Shape, strides, dtype and format as one object, which equal tensors share."""
        return self._layout

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every dimension, in elements."""
        return self._layout.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """Distance between neighbours in every dimension, in elements."""
        return self._layout.strides

    @property
    def offset(self) -> int:
        """Elements between the start of the memory and the first one of this tensor."""
        return self._offset

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._layout.shape)

    @property
    def count(self) -> int:
        """Number of elements."""
        return self._layout.count

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type as NumPy and ml_dtypes know it.

        For types neither has it is the unsigned integer that carries the bits; see ``dtype_name``.
        """
        return self._layout.dtype.numpy

    @property
    def dtype_name(self) -> str:
        """Name of the element type, unambiguous for every type of CANN."""
        return self._layout.dtype.name

    @property
    def format(self) -> Format:
        """Storage format."""
        return self._layout.format

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """Shape of the memory behind the tensor, in elements."""
        return self._layout.storage_shape

    @property
    def nbytes(self) -> int:
        """Bytes the elements take on the device; for blocked formats those of the storage."""
        layout = self._layout
        if is_blocked(layout.format):
            return layout.storage_nbytes
        return layout.dtype.nbytes(layout.count)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow each other in row-major order."""
        return self._layout.contiguous

    @property
    def buffer(self) -> Buffer:
        """The memory, shared by all views."""
        return self._memory

    @property
    def device(self) -> Device:
        """The device the memory is on."""
        return self._memory.device

    @property
    def address(self) -> int:
        """Address of the byte where the first element starts; 0 for a tensor without elements."""
        start = self._memory.address
        return start + self._offset * self._layout.dtype.bits // 8 if start else 0

    @property
    def closed(self) -> bool:
        """Whether the memory was released."""
        return self._memory.closed

    def close(self) -> None:
        """Release the memory now; all views of it are closed as well."""
        self._memory.close()

    def move_to(self, other: Tensor) -> None:
        """Take the memory of another tensor of the same shape and dtype; launches keep the old."""
        kept = self._memory, getattr(self, "_made_desc", None)
        self._memory, self._layout, self._offset = other._memory, other._layout, other._offset
        for name in ("_made_desc", "_made_at"):
            if hasattr(self, name):
                delattr(self, name)
        note(self, kept)

    # Views.

    @property
    def _view(self) -> View:
        return View(self._layout.shape, self._layout.strides, self._offset)

    def _seen(self, layout: Layout, offset: int) -> Tensor:
        """A view whose layout is known."""
        tensor = _blank(Tensor)
        tensor._memory = self._memory
        tensor._layout = layout
        tensor._offset = offset
        return tensor

    def _viewed(self, view: View, what: str) -> Tensor:
        if is_blocked(self._layout.format):
            raise ValueError(
                f"{what}: a {self._layout.format.name} tensor has no such view; convert it first"
            )
        if not self._layout.shape and is_element(self):  # a number, of which NumPy makes arrays
            own: Tensor = late.functional.contiguous(self)
            return Tensor._of(own._memory, viewed(own._layout, view), view.offset - self._offset)
        return Tensor._of(self._memory, viewed(self._layout, view), view.offset)

    def __getitem__(self, key: Any) -> Tensor:
        if key.__class__ is int:
            layout = self._layout
            row = layout.row
            if row is not None:
                length = layout.shape[0]
                if -length <= key < length:
                    start = (key if key >= 0 else key + length) * layout.strides[0]
                    seen = self._seen(row, self._offset + start)
                    return seen if row.shape else _element(seen)
            elif layout.shape and not is_blocked(layout.format):
                shape, strides = layout.shape[1:], layout.strides[1:]
                layout.row = viewed(layout, View(shape, strides, 0))
        if views.is_basic(key):
            found = self._viewed(views.index(self._view, key), "index")
            return found if found._layout.shape or views.has_dots(key) else _element(found)
        selected: Tensor = late.array.index(self, key)
        return selected

    def __len__(self) -> int:
        if not self._layout.shape:
            raise TypeError("len() of a tensor without dimensions")
        return self._layout.shape[0]

    def transpose(self, *axes: int | tuple[int, ...] | None) -> Tensor:
        """Return a view with the dimensions in another order.

        Two numbers exchange these two dimensions, as in torch, and where there are just two that is
        what NumPy does. Otherwise the arguments are NumPy's: all dimensions in their new order, or
        nothing to reverse them. The exchange of its last two is the one view a FRACTAL_NZ tensor
        has.
        """
        if not axes and has_matrix_blocks(self._layout.format):
            return self.swapaxes(-2, -1)
        if len(axes) != 2:
            order: Any = axes[0] if len(axes) == 1 else axes
            return self.T if not order else self.permute(order)
        pair: Any = axes
        view = self.swapaxes(*pair)
        if self.ndim == 2 and view.strides == self.strides and view.shape == self.shape:
            # To NumPy these are all dimensions in their new order, so both have to be there.
            views.permute(self._view, axes)
        return view

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """Return a view with two dimensions exchanged."""
        view = views.swap(self._view, axis1, axis2)
        last = {axis1 % self.ndim, axis2 % self.ndim} == {self.ndim - 2, self.ndim - 1}
        if has_matrix_blocks(self._layout.format) and last:
            return Tensor._of(self._memory, viewed(self._layout, view), view.offset)
        return self._viewed(view, "transpose")

    @property
    def T(self) -> Tensor:
        """The view with the dimensions in reverse order."""
        layout = self._layout
        if layout.transposed is not None:
            return self._seen(layout.transposed, self._offset)
        if len(layout.shape) == 2:
            (m, n), (row, column) = layout.shape, layout.strides
            layout.transposed = viewed(layout, View((n, m), (column, row), 0))
            return self._seen(layout.transposed, self._offset)
        return self.permute(*reversed(range(self.ndim)))

    def permute(self, *axes: int | tuple[int, ...]) -> Tensor:
        """Return a view whose dimension ``i`` is dimension ``axes[i]`` of this tensor."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return self._viewed(views.permute(self._view, order), "permute")

    def reshape(
        self, *shape: int | tuple[int, ...], order: str = "C", copy: bool | None = None
    ) -> Tensor:
        """Return the elements in another shape; one dimension may be -1.

        It is a view where the strides allow it, else a row-major copy on the device. With
        ``order="F"`` the first index changes fastest.

        Raises
        ------
        ValueError
            The number of elements differs, or ``copy`` is False where there is no view.
        """
        if copy is not None:
            wanted = shape[0] if len(shape) == 1 else shape
            asked: Tensor = late.array.reshape(self, wanted, order, copy=copy)
            return asked
        dims: Any = shape[0] if len(shape) == 1 and isinstance(shape[0], _SEQUENCES) else shape
        if order != "C":
            turned: Tensor = late.array.reshape(self, dims, order)
            return turned
        shown = SHOWN.get(id(self._memory)) if SHOWN else None
        if shown is not None and views.reshape(numpys_view(shown, self._view), dims) is None:
            own: Tensor = late.functional.contiguous(self)  # what is no view in NumPy
            return own.reshape(*shape)
        reshaped, plain = self._layout.reshaped, {*map(type, dims)} <= _WHOLE
        if plain and (known := reshaped.get(tuple(dims))) is not None:
            return self._seen(known, self._offset)
        view = views.reshape(self._view, dims)
        if view is None:
            return self.contiguous().reshape(*shape)
        found = self._viewed(view, "reshape")
        if plain and self._layout.shape and len(reshaped) < _MOST_SHAPES:
            reshaped[tuple(dims)] = found._layout
        return found

    def view(self, dtype: Any = None) -> Tensor:
        """Return a view of the same bits as another element type.

        Parameters
        ----------
        dtype : dtype-like, optional
            One of another width changes the length of the last dimension, whose elements have to
            follow each other. Default: the same type.

        Raises
        ------
        ValueError
            The widths do not fit.
        """
        layout = self._layout
        old = layout.dtype
        kind = old if dtype is None else dtype_of(dtype)
        if kind.bits != old.bits:
            if is_blocked(layout.format):
                raise ValueError(f"dtype: a {layout.format.name} tensor keeps the width of {old}")
            shape, strides, offset = views.of_width(self._view, old.bits, kind.bits)
            return Tensor.wrap(self._memory, shape, kind, strides=strides, offset=offset)
        layout = layout_of(layout.shape, layout.strides, kind, layout.format, layout.storage_shape)
        return Tensor._of(self._memory, layout, self._offset)

    def with_format(self, format: Format | str) -> Tensor:
        """Return a view of the same elements under the name of another plain format.

        Operators on images ask for NCL, NCHW or NCDHW, which say what the dimensions mean and move
        nothing.

        Parameters
        ----------
        format : Format or str
            Any but the blocked ones.

        Raises
        ------
        ValueError
            The rank does not fit the format, or one of the two formats is blocked.
        """
        named, layout = format_of(format), self._layout
        if is_blocked(named) or is_blocked(layout.format):
            raise ValueError(f"format: {layout.format.name} and {named.name} are not both plain")
        contiguous_layout(layout.shape, layout.dtype, named)  # raises where the rank does not fit
        layout = layout_of(layout.shape, layout.strides, layout.dtype, named, layout.storage_shape)
        return Tensor._of(self._memory, layout, self._offset)

    def broadcast_to(self, shape: int | tuple[int, ...]) -> Tensor:
        """Return a view in which dimensions of length 1 are repeated, by strides of 0."""
        return self._viewed(views.broadcast(self._view, shape_of(shape)), "broadcast_to")

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Tensor:
        """Return a view without the dimensions of length 1, or without those named."""
        return self._viewed(views.squeeze(self._view, axis), "squeeze")

    def unsqueeze(self, axis: int) -> Tensor:
        """Return a view with a dimension of length 1 inserted."""
        return self._viewed(views.unsqueeze(self._view, axis), "unsqueeze")

    # Copies on the device.

    def contiguous(self, *, stream: Stream | None = None) -> Tensor:
        """Return this tensor if it is row-major, else a row-major copy.

        Parameters
        ----------
        stream : Stream, optional
            Ordering; default is the current stream. Returns before the device finishes.

        Source
        ------
        aclnnInplaceCopy (``include/aclnnop/conversion.h``).
        """
        if self._layout.contiguous:
            return self
        if is_blocked(self._layout.format):
            raise ValueError(f"contiguous: not for the format {self._layout.format.name}")
        copied: Tensor = late.functional.contiguous(self, stream=stream)
        return copied

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
        *,
        stream: Stream | None = None,
    ) -> Tensor:
        """Return the values in another element type, in a new row-major tensor.

        Parameters
        ----------
        dtype : dtype-like
        order, subok
            NumPy's; they change nothing here.
        casting : str, default "unsafe"
            NumPy's rule of what may be converted.
        copy : bool, default True
            Without it a tensor of this type is returned itself.
        stream : Stream, optional
            Ordering; default is the current stream. Returns before the device finishes.

        Raises
        ------
        AclnnError
            161002 the operator refuses the conversion.
        TypeError
            ``casting`` forbids the conversion.

        Notes
        -----
        Where the library has no aclnnCast the host converts the values, as NumPy does.

        Source
        ------
        aclnnCast (``include/aclnnop/math.h``).
        """
        kind = dtype_of(dtype)
        if casting != "unsafe":
            late.array.expect_cast("astype", self._layout.dtype, kind, casting)
        if not copy and kind is self._layout.dtype:
            return self
        if C.has("aclnnCast"):
            converted: Tensor = late.functional.cast(self, kind, stream=stream)
            return converted
        if not (kind.exact and self._layout.dtype.exact):
            raise TypeError(f"dtype: {self.dtype_name} cannot be converted to {kind} on the host")
        result = fresh(self.shape, kind, Format.ND, self.device, for_host=True)
        result.copy_from(self.numpy().astype(kind.numpy))
        return result

    # To and from the host.

    def numpy(self, *, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Wait for the work on this tensor and return its elements.

        Parameters
        ----------
        out : ndarray, optional
            Where they go: of this shape and dtype, writable, with any strides; memory of a
            ``HostBuffer`` is reached fastest. By default a new array in C order.

        Returns
        -------
        ndarray
            ``out``, or an array of ``shape`` and ``dtype``, whatever strides and format the tensor
            has.

        Raises
        ------
        ClosedError
            The memory was released.
        ValueError
            ``out`` has another shape or dtype, or is read-only.
        DeviceError
            The work on the tensor failed.
        """
        return transfer.read(self, out)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("an array of device memory is always a copy")
        if sys._getframe(1).f_code is _AS_STRIDED:
            raise TypeError(
                "as_strided: the strides of a Tensor count elements, those of NumPy bytes, and the "
                "view would be of a copy on the host; use Tensor.wrap(t.buffer, shape, t.dtype, "
                "strides=..., offset=t.offset), in elements, or as_strided(t.numpy(), ...) in bytes"
            )
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def item(self, *place: Any) -> Any:
        """Return an element as a Python number.

        Parameters
        ----------
        *place : int or tuple[int, ...]
            Its index in each dimension, or its place in row-major order; without any, the only
            element.

        Raises
        ------
        ValueError
            There is not exactly one element.
        """
        if place:
            index: Any = place[0] if len(place) == 1 and isinstance(place[0], tuple) else place
            chosen: Any = self.flat[index[0]] if len(index) == 1 else self[index]
            return chosen.item()
        if self._layout.count != 1:
            raise ValueError(f"item: {self._layout.count} elements in {self._layout.shape}")
        return self.numpy().reshape(-1)[0].item()

    def copy_from(self, source: npt.NDArray[Any] | Tensor, *, stream: Stream | None = None) -> None:
        """Overwrite the elements.

        Parameters
        ----------
        source : ndarray or Tensor
            Of this shape and dtype. A tensor is copied on its device.
        stream : Stream, optional
            Queue the copy there and return. Without it the call waits.

        Raises
        ------
        ValueError
            Shape or dtype differ, or the tensor has gaps between its elements: use
            ``ops.inplace_copy`` for those.
        """
        if not isinstance(source, (np.ndarray, Tensor)):
            raise TypeError(f"source: expected an array or a Tensor, got {type(source).__name__}")
        transfer.write(self, source, stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        found: tuple[int, int] = late.dlpack.device_of(self)
        return found

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return late.dlpack.export(self, stream, max_version, dl_device, copy)


def description(tensor: Tensor) -> str:
    """What ``repr`` says of a tensor beside its elements."""
    layout = tensor.layout
    text = f"shape={layout.shape}, dtype={layout.dtype}"
    if not layout.contiguous:
        text += f", strides={layout.strides}"
    if layout.format is not Format.ND:
        text += f", format={layout.format.name}"
    return f"{text}, device={tensor.device.index}"


def tensor_over(memory: Buffer, layout: Layout, offset: int = 0) -> Tensor:
    """Return a tensor of a layout over memory that is known to hold it."""
    return Tensor._of(memory, layout, offset)


Tensor._at = held.lazy_slot(vars(Tensor)["_made_at"], _at_of)
Tensor._desc = held.lazy_slot(vars(Tensor)["_made_desc"], _desc_of)
held.serve(Buffer, Tensor, recipes.Recipe, give_back_held, recipes.fail)
# A tensor over new memory of the pool, None where Python has to make it.
_fresh: Callable[[float, int, Layout, Device], Tensor | None] = held.fresh


def fresh(
    shape: tuple[int, ...],
    kind: DType,
    format: Format,
    device: Device,
    *,
    for_host: bool = False,
) -> Tensor:
    """Return a tensor over new memory, with undefined elements; ``for_host``: the host writes it
    first."""
    layout = contiguous_layout(shape, kind, format)
    if for_host:
        return Tensor._of(buffer_for_host(layout.storage_nbytes, device), layout)
    return fresh_of(layout, device)


def fresh_here(layout: Layout) -> Tensor:
    """``fresh_of`` the current device of this thread."""
    device: Any = thread.device
    made = None if device is None else _fresh(layout.at, -1, layout, device)
    return fresh_of(layout, resolve(None)) if made is None else made


def fresh_of(layout: Layout, device: Device) -> Tensor:
    """Return a tensor of a layout over new memory, with undefined elements."""
    made = _fresh(layout.at, device.index, layout, device)
    if made is not None:
        return made
    return Tensor._of(Buffer.allocate(layout.storage_nbytes, device=device), layout)
