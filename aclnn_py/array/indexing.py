# SPDX-License-Identifier: Apache-2.0
"""Indexing by tensors, arrays and lists, steps backwards, and assignment.

``views`` does basic indexing (integers, slices with a positive step, ``None``, ``...``), which
makes a view. This module does the rest with NumPy's results. It splits a key into the basic part,
which is a view, and the index tensors, which aclnnIndex reads with and aclnnIndexPutImpl writes
with. What NumPy copies is copied; a slice with a negative step is a copy too (``backwards``).

An index out of range would stop the device for good, so indices are checked: host indices before
they are copied, those in a tensor by reading them, or the extremes of many, which waits for the
device.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aclnn_py import functional, ops
from aclnn_py._ffi import lib
from aclnn_py.array.arithmetic import overlaps, shares_memory
from aclnn_py.array.backwards import flipped as turned
from aclnn_py.array.backwards import written
from aclnn_py.array.elements import expect_target
from aclnn_py.array.keys import (
    SEQUENCES,
    checked,
    expanded,
    forwards,
    is_array,
    is_truth,
)
from aclnn_py.array.parts import WIDE_UNSIGNED, as_bits, part
from aclnn_py.array.promotion import cast, is_operand, scalar, tensor_of
from aclnn_py.errors import DeviceMismatchError
from aclnn_py.functional.shapes import broadcast
from aclnn_py.memory.buffer import raise_of_read
from aclnn_py.runtime.current import thread
from aclnn_py.tensor.creation import empty, from_numpy
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["add", "assign", "take", "take_along"]

# So many index elements are copied to the host in less time than the device finds their extremes.
_FEW = 1 << 16

_BITS = {"complex64": "int64", **WIDE_UNSIGNED}


class Selection(NamedTuple):
    """A key taken apart.

    ``view`` is the basic part, ``flipped`` the dimensions of it that run backwards, ``indices`` one
    tensor or None for each of its dimensions; empty when the key has no index tensors.
    """

    view: Tensor
    flipped: tuple[int, ...]
    indices: tuple[Tensor | None, ...]


def take(tensor: Tensor, key: Any) -> Tensor:
    """Evaluate ``tensor[key]`` for a key that is not basic."""
    if isinstance(key, Tensor) and key.dtype.kind in "iu" and tensor.ndim:
        return take_along(tensor, key, 0)
    if is_truth(key):
        return functional.contiguous(_all_or_none(tensor, key))
    if tensor.dtype_name != "complex128" and _is_mask(key) and key.shape == tensor.shape:
        _same_device(tensor, key)
        chosen = functional.masked_select(_movable(tensor), key)
        return chosen.view(tensor.dtype_name) if tensor.dtype_name in _BITS else chosen
    view, flipped, indices = _select(tensor, key)
    if not indices:
        return turned(view, flipped)
    return _gathered(_backwards(view, flipped) if flipped else view, indices)


def _backwards(tensor: Tensor, axes: tuple[int, ...]) -> Tensor:
    return as_bits(tensor, lambda bits: functional.flip(bits, axes))


def _gathered(view: Tensor, indices: tuple[Tensor | None, ...]) -> Tensor:
    if view.dtype_name == "complex128":
        parts = (functional.contiguous(_gathered(part(view, i), indices)) for i in (0, 1))
        return functional.complex(*parts)
    out = empty(_indexed_shape(view, indices), view.dtype_name, device=view.device)
    if out.count:
        ops.index(_movable(view), list(indices), _movable(out))
    return out


def take_along(tensor: Tensor, index: Tensor, axis: int) -> Tensor:
    """Evaluate ``tensor[:, .., index]`` with ``axis`` colons: the short way of one index tensor."""
    index = _index_tensor(index, tensor, axis)
    shape = tensor.shape
    out = empty(
        (*shape[:axis], *index.shape, *shape[axis + 1 :]), tensor.dtype_name, device=tensor.device
    )
    if out.count:
        ops.gather_v2(_movable(tensor), axis, index, _movable(out))
    return out


def _movable(tensor: Tensor) -> Tensor:
    """As integers of their width what aclnnIndex does not take."""
    bits = _BITS.get(tensor.layout.dtype.name)
    return tensor if bits is None else tensor.view(bits)


def assign(tensor: Tensor, key: Any, value: Any) -> None:
    """Evaluate ``tensor[key] = value``; the value is converted as ``astype`` does and broadcast."""
    expect_target(tensor)
    _assign(tensor, key, scalar(value))
    written(tensor)


def _all_or_none(tensor: Tensor, key: Any) -> Tensor:
    """The tensor in a new dimension, which is as long as the truth value says."""
    return tensor[None] if key else tensor[None][:0]


def _assign(tensor: Tensor, key: Any, value: Any) -> None:
    if is_truth(key):
        tensor, key = _all_or_none(tensor, key), ...
    if tensor.dtype_name == "complex128":
        source = _source(value, tensor)
        for number in (0, 1):
            _assign(part(tensor, number), key, part(source, number))
        return
    plain = is_operand(value) and not isinstance(value, Tensor)
    if plain and _is_mask(key) and key.shape == tensor.shape:
        _same_device(tensor, key)
        # aclnnInplaceMaskedFillScalar lacks float64 and some integers, which aclnnSWhere has.
        filled = tensor_of(value, tensor.layout.dtype, tensor.device)
        ops.inplace_copy(tensor, functional.where(key, filled, tensor))
        return
    view, flipped, indices = _select(tensor, key)
    if not indices:
        _write(view, value, flipped)
        return
    shape = _indexed_shape(view, indices)
    source = _stretched(_source(value, view), shape)
    if not source.count:
        return
    if flipped:
        work = _backwards(view, flipped)
        ops.index_put_impl(
            _movable(work), list(indices), _movable(source.contiguous()), False, False
        )
        ops.inplace_copy(view, _backwards(work, flipped))
        return
    if shares_memory(source, view):
        source = functional.contiguous(source)
    ops.index_put_impl(_movable(view), list(indices), _movable(source.contiguous()), False, False)


def add(tensor: Tensor, key: Any, value: Tensor) -> None:
    """Add to the selected elements; to one that is selected twice, twice."""
    expect_target(tensor)
    _add(tensor, key, value)
    written(tensor)


def _add(tensor: Tensor, key: Any, value: Tensor) -> None:
    if _is_mask(key):
        key = tuple(functional.contiguous(part) for part in _places(key))
    view, flipped, indices = _select(tensor, key)
    if not indices:
        _write(view, functional.add(functional.contiguous(view[...]), value), flipped)
        return
    if flipped:
        raise TypeError(
            "add: a slice backwards beside index tensors is not taken; reverse the values"
        )
    shape = _indexed_shape(view, indices)
    source = _stretched(value, shape)
    if source.count:
        ops.index_put_impl(view, list(indices), functional.contiguous(source), True, False)


def _places(mask: Tensor) -> list[Tensor]:
    places = functional.nonzero(mask)
    return [places[:, i] for i in range(mask.ndim)]


def _write(view: Tensor, value: Any, flipped: tuple[int, ...]) -> None:
    source = _source(value, view)
    if source.shape == () and not isinstance(value, Tensor):
        ops.inplace_copy(view, source)
        return
    if shares_memory(source, view):
        if not overlaps(source, view) and not flipped:
            return  # onto itself, as the end of `t[k] += u` does
        source = functional.contiguous(source)
    if flipped:
        source = _backwards(_stretched(source, view.shape), flipped)
    ops.inplace_copy(view, _stretched(source, view.shape))


def _source(value: Any, view: Tensor) -> Tensor:
    """The value on the device, in the dtype of the view."""
    kind = view.layout.dtype
    if isinstance(value, Tensor):
        _same_device(view, value)
        return cast(value, kind)
    if is_operand(value):
        return tensor_of(value, kind, view.device)
    array = np.asarray(value)
    if array.dtype.kind == "O":
        raise TypeError(f"value: {type(value).__name__} is no array of numbers")
    if isinstance(value, SEQUENCES):
        array = np.array(value, kind.numpy)  # refuses Python numbers that do not fit
    return from_numpy(array.astype(kind.numpy), device=view.device)


def _stretched(source: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The source broadcast to the shape it is assigned to."""
    lead = source.ndim - len(shape)
    if lead > 0 and source.shape[:lead] == (1,) * lead:
        source = source.reshape(source.shape[lead:])
    if source.shape == shape:
        return source
    try:
        return source.broadcast_to(shape)
    except ValueError:
        raise ValueError(
            f"could not broadcast input array from shape {source.shape} into shape {shape}"
        ) from None


def _is_mask(key: Any) -> bool:
    return isinstance(key, Tensor) and key.dtype_name == "bool"


def _same_device(tensor: Tensor, other: Tensor) -> None:
    if tensor.device is not other.device:
        raise DeviceMismatchError(
            f"index: a tensor on device {tensor.device.index} with one on device "
            f"{other.device.index}"
        )


def _select(tensor: Tensor, key: Any) -> Selection:
    items = expanded(list(key) if isinstance(key, tuple) else [key], tensor.ndim)
    gathers = any(is_array(item) for item in items)
    basic: list[Any] = []
    flipped: list[int] = []
    indices: list[Tensor | None] = []
    axis = apart = 0
    for item in items:
        if item is Ellipsis:
            apart = len(indices)
            continue
        if item is None:
            basic.append(None)
            indices.append(None)
            continue
        if isinstance(item, slice):
            ahead, backwards = forwards(item, tensor.shape[axis])
            if backwards:
                flipped.append(len(indices))
            basic.append(ahead)
            indices.append(None)
        elif is_array(item):
            for index in _index_tensors(item, tensor, axis):
                basic.append(slice(None))
                indices.append(index)
            axis += item.ndim - 1 if item.dtype.kind == "b" else 0
        elif gathers:
            # Beside index arrays an integer is one of them.
            position = np.asarray(checked(item, tensor.shape[axis], axis))
            basic.append(slice(None))
            indices.append(from_numpy(position, device=tensor.device))
        else:
            basic.append(item)
        axis += 1
    selected = (*basic, ...)  # with an ellipsis it is a view, also without dimensions
    view = tensor[selected]
    if not gathers:
        return Selection(view, tuple(flipped), ())
    before, behind = ([i is not None for i in part] for part in (indices[:apart], indices[apart:]))
    if any(before) and any(behind):
        # Index arrays that are not adjacent come first in the result, so their dimensions are moved
        # to the front.
        order = sorted(range(len(indices)), key=lambda i: indices[i] is None)
        view = view.permute(*order)
        flipped = [order.index(i) for i in flipped]
        indices = [indices[i] for i in order]
    return Selection(view, tuple(flipped), tuple(indices))


def _index_tensors(item: Any, tensor: Tensor, axis: int) -> list[Tensor]:
    """The index tensors an array stands for: itself, or the places where a mask is true."""
    if item.dtype.kind == "b":
        wanted = tensor.shape[axis : axis + item.ndim]
        if item.shape != wanted:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; sizes of its "
                f"dimensions are {wanted} but those of the index {item.shape}"
            )
        if isinstance(item, Tensor):
            return [functional.contiguous(part) for part in _places(item)]
        return [from_numpy(part, device=tensor.device) for part in np.nonzero(item)]
    if item.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if isinstance(item, Tensor):
        return [_index_tensor(item, tensor, axis)]
    length = tensor.shape[axis]
    if item.size:
        checked(item.min(), length, axis)
        checked(item.max(), length, axis)
    return [from_numpy(item.astype(np.int64), device=tensor.device)]


def _index_tensor(item: Tensor, tensor: Tensor, axis: int) -> Tensor:
    """The index tensor as int64, when all of it is in range."""
    _same_device(tensor, item)
    index, length = cast(item, dtype_of("int64")), tensor.shape[axis]
    if item.count and thread.capture is None and not _all_within(index, length):
        for extreme in _extremes(index):
            checked(extreme, length, axis)
    return index


def _all_within(index: Tensor, length: int) -> bool:
    """Whether it is known at once that all of a few indices are in range."""
    layout, memory = index.layout, index.buffer
    if index.count > _FEW or not layout.contiguous:
        return False
    at = memory.raw + index.offset * layout.dtype.numpy.itemsize
    code = lib.ap_indices_within(memory.block.use, at, index.count, length)
    if code == lib.AP_FAILED:
        raise_of_read(index.device)
    return bool(code == lib.AP_OK)


def _extremes(index: Tensor) -> tuple[int, int]:
    """The least and the greatest index."""
    if index.count <= _FEW:
        found = index.numpy()
        return int(found.min()), int(found.max())
    both = empty((2,), "int64", device=index.device)
    ops.aminmax_all(index, both[:1], both[1:])
    least, greatest = both.numpy().tolist()  # one copy brings both
    return least, greatest


def _indexed_shape(view: Tensor, indices: tuple[Tensor | None, ...]) -> tuple[int, ...]:
    """Shape of the result: the indexed dimensions stand where adjacent index tensors stood, else in
    front."""
    try:
        found = broadcast(*(index for index in indices if index is not None))
    except ValueError:
        shapes = " ".join(str(index.shape) for index in indices if index is not None)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        ) from None
    places = [i for i, index in enumerate(indices) if index is not None]
    rest = [n for i, n in enumerate(view.shape) if i not in places]
    adjacent = places == list(range(places[0], places[-1] + 1))
    at = places[0] if adjacent else 0
    return (*rest[:at], *found, *rest[at:])
