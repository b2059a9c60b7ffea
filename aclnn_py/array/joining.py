# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that join tensors and take them apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.operands import (
    along,
    cat,
    common,
    expect_cast,
    flat,
    host_integers,
    placed,
    with_dtype,
)
from aclnn_py.array.promotion import cast, tensor_of
from aclnn_py.array.reduction import axes_of
from aclnn_py.array.shaping import atleast_1d, atleast_2d, atleast_3d
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def _with_dtype(name: str, tensor: Tensor, dtype: Any, casting: str) -> Tensor:
    if dtype is not None:
        expect_cast(f"np.{name}", tensor.layout.dtype, dtype_of(dtype), casting)
    return with_dtype(tensor, dtype)


def concatenate(
    arrays: Sequence[Any],
    axis: int | None = 0,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Tensor:
    tensors = common("concatenate", arrays)
    if any(not tensor.ndim for tensor in tensors) and axis is not None:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if axis is None:
        tensors, axis = [tensor.reshape(-1) for tensor in tensors], 0
    joined = cat(tensors, axes_of(axis, tensors[0].ndim)[0])
    return _with_dtype("concatenate", joined, dtype, casting)


def stack(
    arrays: Sequence[Any], axis: int = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> Tensor:
    tensors = common("stack", arrays)
    if len({tensor.shape for tensor in tensors}) != 1:
        raise ValueError("all input arrays must have the same shape")
    joined = functional.stack(tensors, axes_of(axis, tensors[0].ndim + 1)[0])
    return _with_dtype("stack", joined, dtype, casting)


def _listed(found: Any) -> list[Tensor]:
    return list(found) if isinstance(found, tuple) else [found]


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    tensors = _listed(atleast_1d(*common("hstack", tup)))
    axis = 0 if tensors[0].ndim == 1 else 1
    return concatenate(tensors, axis, dtype=dtype, casting=casting)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Tensor:
    rows = _listed(atleast_2d(*common("vstack", tup)))
    return concatenate(rows, 0, dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> Tensor:
    return concatenate(_listed(atleast_3d(*common("dstack", tup))), 2)


def column_stack(tup: Sequence[Any]) -> Tensor:
    tensors = common("column_stack", tup)
    return concatenate([t if t.ndim > 1 else t.reshape(-1, 1) for t in tensors], 1)


def block(arrays: Any) -> Tensor:
    depth = _depth(arrays)
    kinds = common("block", list(_leaves(arrays)))
    rank = max(depth, *(tensor.ndim for tensor in kinds))
    kind = kinds[0].layout.dtype
    device = kinds[0].device

    def join(part: Any, axis: int) -> Tensor:
        if isinstance(part, list):
            if not part:
                raise ValueError("List at arrays cannot be empty")
            return cat([join(item, axis + 1) for item in part], axis)
        tensor = tensor_of(part, kind, device)
        return tensor.reshape((1,) * (rank - tensor.ndim) + tensor.shape)

    return functional.contiguous(join(arrays, rank - depth))


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise TypeError("block: lists say how tensors are joined, not tuples")
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(item) for item in arrays}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched")
    return 1 + (depths.pop() if depths else 0)


def _leaves(arrays: Any) -> Any:
    if isinstance(arrays, list):
        for item in arrays:
            yield from _leaves(item)
    else:
        yield arrays


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    device = (arr if isinstance(arr, Tensor) else values).device
    first, second = common("append", [placed(item, device) for item in (arr, values)])
    return concatenate([first, second], axis)


def insert(arr: Tensor, obj: Any, values: Any, axis: int | None = None) -> Tensor:
    arr, axis = flat(arr, axis)
    (at,) = axes_of(axis, arr.ndim)
    length = arr.shape[at]
    single = not isinstance(obj, slice) and np.ndim(obj) == 0
    places = _places(obj, length, one_more=True)
    kind = arr.layout.dtype
    number = isinstance(values, (bool, int, float, complex))  # refused where it does not fit
    new = tensor_of(values, kind, arr.device) if number else cast(placed(values, arr.device), kind)
    if single and new.ndim:
        # One place takes values along the dimension, as many as there are.
        new = new.reshape((1,) * (arr.ndim - new.ndim) + new.shape)
        new = new.permute(*_cycled(arr.ndim, at))
        places = places * new.shape[at]
    lengths = (*arr.shape[:at], len(places), *arr.shape[at + 1 :])
    if not single and new.ndim == 1 and arr.ndim > 1:
        new = new.reshape(-1) if at == arr.ndim - 1 else new
    new = new.broadcast_to(lengths)
    order = sorted(range(len(places)), key=lambda i: places[i])
    both = cat([functional.contiguous(arr), functional.contiguous(new)], at)
    positions: list[int] = list(range(length))
    for count, i in enumerate(order):
        positions.insert(places[i] + count, length + i)
    return both[along(at, np.asarray(positions, np.int64))]


def _cycled(rank: int, at: int) -> list[int]:
    """NumPy moves the first dimension of the values to where they are inserted."""
    order = list(range(1, rank))
    order.insert(at, 0)
    return order


def delete(arr: Tensor, obj: Any, axis: int | None = None) -> Tensor:
    arr, axis = flat(arr, axis)
    (at,) = axes_of(axis, arr.ndim)
    length = arr.shape[at]
    kept = np.delete(np.arange(length), obj.numpy() if isinstance(obj, Tensor) else obj)
    return arr[along(at, kept)]


def _places(obj: Any, length: int, one_more: bool) -> list[int]:
    if isinstance(obj, slice):
        return list(range(*obj.indices(length)))
    if isinstance(obj, Tensor) and obj.dtype.kind == "b":
        obj = obj.numpy()
    if isinstance(obj, np.ndarray) and obj.dtype.kind == "b":
        obj = np.flatnonzero(obj)
    found = host_integers(obj)
    for place in found:
        if not -length <= place < length + one_more:
            raise IndexError(f"index {place} is out of bounds for axis 0 with size {length}")
    return [place + length if place < 0 else place for place in found]


def split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    if not np.ndim(indices_or_sections):
        (at,) = axes_of(axis, ary.ndim)
        (sections,) = host_integers(indices_or_sections)
        if ary.shape[at] % sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    (at,) = axes_of(axis, ary.ndim)
    length = ary.shape[at]
    if not np.ndim(indices_or_sections):
        (sections,) = host_integers(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        short, longer = divmod(length, sections)
        sizes = [short + 1] * longer + [short] * (sections - longer)
        ends = [sum(sizes[:i]) for i in range(sections + 1)]
    else:
        ends = [0, *host_integers(indices_or_sections), length]
    return [ary[along(at, slice(start, stop))] for start, stop in pairwise(ends)]


def hsplit(ary: Tensor, indices_or_sections: Any) -> list[Tensor]:
    if not ary.ndim:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Tensor, indices_or_sections: Any) -> list[Tensor]:
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Tensor, indices_or_sections: Any) -> list[Tensor]:
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    if not x.ndim:
        raise ValueError("Input array must be at least 1-d.")
    (at,) = axes_of(axis, x.ndim)
    return tuple(x[along(at, i)] for i in range(x.shape[at]))
