# SPDX-License-Identifier: Apache-2.0
"""Arguments of a launch with one tensor exchanged for another."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py.operators.describe.operator import Operator
from aclnn_py.tensor.formats import is_blocked
from aclnn_py.tensor.tensor import Tensor

__all__ = ["exchanged", "overlap", "reach", "same_layout", "same_place"]


def exchanged(op: Operator, values: Sequence[object], index: int, tensor: Tensor) -> list[object]:
    """Return the arguments with another tensor at ``index``, counted through all lists."""
    result = list(values)
    first = 0
    for position, parameter in enumerate(op.parameters):
        value = result[position]
        if parameter.kind == "L" and isinstance(value, (list, tuple)):
            if first <= index < first + len(value):
                at = index - first
                result[position] = [*value[:at], tensor, *value[at + 1 :]]
                break
            first += len(value)
        elif parameter.kind == "T":
            if index == first:
                result[position] = tensor
                break
            first += 1
    return result


def same_layout(one: Tensor, other: Tensor) -> bool:
    """Whether one can stand in for the other in a launch that is prepared."""
    return one.layout is other.layout and one.offset == other.offset


def same_place(one: Tensor, other: Tensor) -> bool:
    """Whether both are the same elements in the same order."""
    return same_layout(one, other) and bool(one._desc.address == other._desc.address)


def overlap(one: Tensor, other: Tensor) -> bool:
    """Whether the two reach into the same bytes."""
    (low, high), (start, end) = reach(one), reach(other)
    return low < end and start < high


def reach(tensor: Tensor) -> tuple[int, int]:
    """The address of the first byte of the elements, and the one behind the last."""
    layout = tensor.layout
    base = tensor.buffer.address
    start = base + layout.dtype.nbytes(tensor.offset)
    return start, max(start + layout.dtype.nbytes(layout.span), base + _blocked_nbytes(tensor))


def _blocked_nbytes(tensor: Tensor) -> int:
    """A blocked format covers its storage, whatever its shape says."""
    return tensor.layout.storage_nbytes if is_blocked(tensor.format) else 0
