# SPDX-License-Identifier: Apache-2.0
"""NumPy's sets: different elements, and what two tensors have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.operands import (
    along,
    placed,
    promoted,
)
from aclnn_py.array.promotion import cast
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.array.searching import (
    flatnonzero,
    lexsort,
    searchsorted,
    sort,
    sorted_with_places,
)
from aclnn_py.tensor.creation import empty, from_numpy, zeros
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


class All(NamedTuple):
    """What ``np.unique_all`` returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class Counts(NamedTuple):
    """What ``np.unique_counts`` returns."""

    values: Tensor
    counts: Tensor


class Inverse(NamedTuple):
    """What ``np.unique_inverse`` returns."""

    values: Tensor
    inverse_indices: Tensor


def unique(
    ar: Tensor, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    """Sorted; the index is that of the first of equal elements."""
    if axis is None:
        row = ar.reshape(-1)
        if row.count and not return_index and row.dtype.kind != "c":
            values, found = _distinct(row, return_inverse, equal_nan)
        else:  # aclnnUnique2 tells of no first places, and takes no complex numbers
            ordered, order = sorted_with_places(row, 0)
            found = _grouped(order, row.count, _changes(ordered, equal_nan))
            values = row[found.indices]
        inverse = found.inverse_indices.reshape(ar.shape)
    else:
        (at,) = axes_of(axis, ar.ndim)
        rows = functional.contiguous(ar.permute(at, *(i for i in range(ar.ndim) if i != at)))
        table = rows.reshape(rows.shape[0], -1)
        columns = [table[:, i] for i in reversed(range(table.shape[1]))]
        order = lexsort(columns)
        ordered = table[order]
        changed = (ordered[1:] != ordered[:-1]).any(1)
        found = _grouped(order, table.shape[0], changed)
        values = ar[along(at, found.indices)]
        inverse = found.inverse_indices
    result = [values]
    for wanted, item in (
        (return_index, found.indices),
        (return_inverse, inverse),
        (return_counts, found.counts),
    ):
        if wanted:
            result.append(item)
    return result[0] if len(result) == 1 else tuple(result)


class Groups(NamedTuple):
    """First places of the groups of equal elements, the group of each element, sizes."""

    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


def _distinct(row: Tensor, want_inverse: bool, equal_nan: bool) -> tuple[Tensor, Groups]:
    """The values of a row in order, and its groups without their first places.

    The group of each element is there if it is wanted.
    """
    values = empty(row.shape, row.dtype_name, device=row.device)
    inverse = empty(row.shape, "int64", device=row.device)
    counts = zeros(row.shape, "int64", device=row.device)
    ops.unique2(row, True, want_inverse, True, values, inverse, counts)
    length = functional.count_nonzero(counts)
    values, counts = values[:length], counts[:length]
    if equal_nan and row.dtype.kind in "fV" and bool(values[-1] != values[-1]):
        # They are last, each for itself.
        nans = functional.count_nonzero(values != values)
        length += 1 - nans
        values, counts = values[:length], counts[:length]
        counts[-1] = nans
        inverse = functional.clamp(inverse, max=length - 1) if want_inverse else inverse
    return _fitting(values, row.count), Groups(counts[:0], inverse, _fitting(counts, row.count))


def _fitting(found: Tensor, room: int) -> Tensor:
    """A few results in memory of their own; the memory they are in has room for many."""
    return found if 2 * found.count > room else found.copy()


def _changes(ordered: Tensor, equal_nan: bool) -> Tensor:
    """Where a sorted element differs from the one before it."""
    changed = ordered[1:] != ordered[:-1]
    if equal_nan and ordered.dtype.kind in "fcV":
        changed = changed & (ordered[:-1] == ordered[:-1])  # NaN is last: behind one is another
    return changed


def _starts(changed: Tensor) -> Tensor:
    """Where groups begin: at the first element and after each change."""
    return functional.cat([from_numpy(np.ones(1, bool), device=changed.device), changed], 0)


def _grouped(order: Tensor, count: int, changed: Tensor) -> Groups:
    device = order.device
    if not count:
        nothing = [empty((0,), "int64", device=device) for _ in range(3)]
        return Groups(*nothing)
    starts = _starts(changed)
    groups = functional.cumsum(cast(starts, dtype_of("int64")), 0) - 1
    inverse = empty((count,), "int64", device=device)
    inverse[order] = groups
    places = flatnonzero(starts)
    ends = functional.cat([places, from_numpy(np.asarray([count]), device=device)], 0)
    return Groups(order[places], inverse, ends[1:] - ends[:-1])


def unique_all(x: Tensor, /) -> All:
    return All(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Tensor, /) -> Counts:
    return Counts(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Tensor, /) -> Inverse:
    return Inverse(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Tensor, /) -> Tensor:
    result: Tensor = unique(x, equal_nan=False)
    return result


def _both(name: str, a: Any, b: Any) -> list[Tensor]:
    device = (a if isinstance(a, Tensor) else b).device
    made = (placed(item, device) for item in (a, b))
    return promoted(name, *made)


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: Any = None,
) -> Tensor:  # fmt: skip
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.")
    values, wanted = _both("isin", element, test_elements)
    row = wanted.reshape(-1)
    if not row.count:
        found = values != values
        found = found & ~found
    elif values.dtype.kind == "c":  # aclnnSearchSorted takes none
        found = reduce("any", values.unsqueeze(-1) == row, -1)
    else:
        ordered = sort(row)
        place = searchsorted(ordered, values).clip(0, row.count - 1)
        found = ordered[place] == values
    return ~found if invert else found


def union1d(ar1: Any, ar2: Any) -> Tensor:
    first, second = _both("union1d", ar1, ar2)
    result: Tensor = unique(functional.cat([first.reshape(-1), second.reshape(-1)], 0))
    return result


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    first, second = _both("intersect1d", ar1, ar2)
    values, places = unique(first.reshape(-1), return_index=True)
    mask = isin(values, second)
    kept = values[mask]
    if not return_indices:
        return kept
    others, other_places = unique(second.reshape(-1), return_index=True)
    return kept, places[mask], other_places[isin(others, first)]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    device = (ar1 if isinstance(ar1, Tensor) else ar2).device
    first = placed(ar1, device)
    values = first.reshape(-1) if assume_unique else unique(first)
    result: Tensor = values[isin(values, ar2, invert=True)]
    return result


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Tensor:
    first, second = (unique(item) for item in _both("setxor1d", ar1, ar2))
    parts = [first[isin(first, second, invert=True)], second[isin(second, first, invert=True)]]
    return sort(functional.cat(parts, 0))
