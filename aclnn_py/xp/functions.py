# SPDX-License-Identifier: Apache-2.0
"""Functions of the array API standard of whole tensors: shapes, statistics, sorting, sets."""

from __future__ import annotations

from typing import Any

from aclnn_py import functional
from aclnn_py.array import calculus, joining, searching, sets, shaping, statistics
from aclnn_py.array.linear import linalg_vecdot as vecdot
from aclnn_py.array.linear import tensordot as _tensordot
from aclnn_py.array.operands import along
from aclnn_py.array.products import matmul
from aclnn_py.array.promotion import cast
from aclnn_py.array.reduction import axes_of
from aclnn_py.array.sets import unique_all, unique_counts, unique_inverse, unique_values
from aclnn_py.array.shaping import broadcast_arrays, matrix_transpose
from aclnn_py.array.statistics import cumulative_prod, cumulative_sum
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "expand_dims",
    "flip",
    "isin",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "min",
    "moveaxis",
    "nonzero",
    "permute_dims",
    "prod",
    "repeat",
    "reshape",
    "roll",
    "searchsorted",
    "sort",
    "squeeze",
    "stack",
    "std",
    "sum",
    "take",
    "take_along_axis",
    "tensordot",
    "tile",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
]

Axes = int | tuple[int, ...] | None


# Shapes.


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A view in which dimensions of length 1 are repeated."""
    return x.broadcast_to(shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Tensor:
    """Tensors joined along a dimension."""
    return joining.concatenate(arrays, axis)


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """A view with a dimension of length 1 more."""
    return shaping.expand_dims(x, axis)


def flip(x: Tensor, /, *, axis: Axes = None) -> Tensor:
    """Dimensions reversed."""
    return shaping.flip(x, axis)


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """A view with dimensions at other places."""
    return shaping.moveaxis(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """A view with the dimensions in another order."""
    return shaping.transpose(x, axes)


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element several times."""
    return shaping.repeat(x, repeats, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape."""
    return shaping.reshape(x, shape, copy=copy)


def roll(x: Tensor, /, shift: Any, *, axis: Axes = None) -> Tensor:
    """Elements moved along dimensions, from the end to the beginning."""
    return shaping.roll(x, shift, axis)


def squeeze(x: Tensor, /, axis: Axes) -> Tensor:
    """A view without dimensions of length 1."""
    return x.squeeze(axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Tensor:
    """Tensors joined along a new dimension."""
    return joining.stack(arrays, axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole tensor several times."""
    return shaping.tile(x, repetitions)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Views of the slices along a dimension."""
    return joining.unstack(x, axis=axis)


# Statistics.


def sum(x: Tensor, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum along dimensions."""
    return statistics.sum_(x, axis, dtype, keepdims=keepdims)


def prod(x: Tensor, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Product along dimensions."""
    return statistics.prod_(x, axis, dtype, keepdims=keepdims)


def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Average along dimensions."""
    return statistics.mean(x, axis, keepdims=keepdims)


def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Largest element along dimensions."""
    return statistics.max_(x, axis, keepdims=keepdims)


def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Smallest element along dimensions."""
    return statistics.min_(x, axis, keepdims=keepdims)


def std(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Standard deviation along dimensions."""
    return statistics.std(x, axis, ddof=correction, keepdims=keepdims)


def var(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Variance along dimensions."""
    return statistics.var(x, axis, ddof=correction, keepdims=keepdims)


def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along dimensions are not zero."""
    return statistics.all_(x, axis, keepdims=keepdims)


def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether an element along dimensions is not zero."""
    return statistics.any_(x, axis, keepdims=keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Number of elements along dimensions that are not zero."""
    return statistics.sum_(cast(x, dtype_of("bool")), axis, keepdims=keepdims)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours."""
    return calculus.diff(x, n, axis, prepend, append)


# Searching and sorting.


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Place of the first largest element."""
    return searching.argmax(x, axis, keepdims=keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Place of the first smallest element."""
    return searching.argmin(x, axis, keepdims=keepdims)


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """Places that would sort; equal elements keep their order."""
    if not descending:
        return searching.argsort(x, axis)
    (at,) = axes_of(axis, x.ndim)
    # Sorted from behind, so that equal elements keep their order when the result is turned.
    places = functional.flip(searching.argsort(functional.flip(x, (at,)), at), (at,))
    return x.shape[at] - 1 - places


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Sorted along a dimension."""
    found = searching.sort(x, axis)
    return functional.flip(found, axes_of(axis, x.ndim)) if descending else found


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Places of the elements that are not zero."""
    return searching.nonzero(x)


def searchsorted(
    x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None
) -> Tensor:
    """Places in a sorted tensor that keep it sorted."""
    return searching.searchsorted(x1, x2, side, sorter)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """Elements of one where the condition holds, else of the other."""
    result: Tensor = searching.where(condition, x1, x2)
    return result


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Slices along a dimension."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError("take: axis is needed for more than one dimension")
        axis = 0
    (at,) = axes_of(axis, x.ndim)
    return x[along(at, indices)]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Elements along a dimension, for each row its own."""
    return searching.take_along_axis(x, indices, axis)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Whether each element is among those of the other."""
    return sets.isin(x1, x2, invert=invert)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """Sums of products along dimensions of both."""
    return _tensordot(x1, x2, axes)
