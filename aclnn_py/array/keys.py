# SPDX-License-Identifier: Apache-2.0
"""Keys of indexing, taken apart as NumPy does, before a tensor is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_py.tensor.tensor import Tensor

__all__ = ["SEQUENCES", "checked", "expanded", "forwards", "is_array", "is_truth"]

SEQUENCES = (list, tuple, range)


def is_truth(key: Any) -> bool:
    """Whether a key is a single truth value."""
    if key.__class__ in (int, slice, tuple):
        return False
    return isinstance(key, (bool, np.bool_)) or (
        isinstance(key, (Tensor, np.ndarray)) and not key.ndim and key.dtype.kind == "b"
    )


def expanded(items: list[Any], rank: int) -> list[Any]:
    """The key with lists as arrays and one entry for every dimension.

    An ellipsis that stands for no dimension is left in: NumPy takes index arrays on its two sides
    for separate ones.
    """
    items = [np.asarray(item) if isinstance(item, SEQUENCES) else item for item in items]
    items = [item.astype(np.int64) if is_array(item) and item.size == 0 and item.dtype.kind == "f"
             and isinstance(item, np.ndarray) else item for item in items]  # fmt: skip
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(_consumed(item) for item in items)
    if used > rank:
        raise IndexError(
            f"too many indices for array: array is {rank}-dimensional, but {used} were indexed"
        )
    full = [slice(None)] * (rank - used)
    if dots and not full:
        return items
    at = dots[0] if dots else len(items)
    return [*items[:at], *full, *items[at + bool(dots) :]]


def is_array(item: Any) -> bool:
    return isinstance(item, (Tensor, np.ndarray))


def _consumed(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, (bool, np.bool_)):
        raise IndexError("a single bool is no index here; use a mask of the shape of the tensor")
    if is_array(item) and item.dtype.kind == "b":
        return int(item.ndim)
    if isinstance(item, slice) or is_array(item) or hasattr(item, "__index__"):
        return 1
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays are "
        f"valid indices, not {type(item).__name__}"
    )


def forwards(item: slice, length: int) -> tuple[slice, bool]:
    start, stop, step = item.indices(length)
    if step > 0:
        return item, False
    positions = range(start, stop, step)
    if not positions:
        return slice(0, 0), True
    return slice(positions[-1], positions[0] + 1, -step), True


def checked(item: Any, length: int, axis: int) -> int:
    at = int(item)
    if not -length <= at < length:
        raise IndexError(f"index {at} is out of bounds for axis {axis} with size {length}")
    return at % length
