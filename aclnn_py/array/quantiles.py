# SPDX-License-Identifier: Apache-2.0
"""NumPy's quantiles, percentiles and medians."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.operands import floating, placed, real_floating
from aclnn_py.array.promotion import cast, result_type, tensor_of
from aclnn_py.array.reduction import Axis, axes_of, reduce
from aclnn_py.array.searching import argsort, take_along_axis
from aclnn_py.array.searching import sort as sorted_along
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []

_METHODS: dict[str, Callable[[Any, int], Any]] = {
    # From the probability and the number of elements to the place, counted from 0.
    "linear": lambda q, n: q * (n - 1),
    "weibull": lambda q, n: q * (n + 1) - 1,
    "hazen": lambda q, n: q * n - 0.5,
    "interpolated_inverted_cdf": lambda q, n: q * n - 1,
    "median_unbiased": lambda q, n: q * (n + 1 / 3) - 2 / 3,
    "normal_unbiased": lambda q, n: q * (n + 1 / 4) - 5 / 8,
    "lower": lambda q, n: np.floor(q * (n - 1)),
    "higher": lambda q, n: np.ceil(q * (n - 1)),
    "nearest": lambda q, n: np.rint(q * (n - 1)),
    "midpoint": lambda q, n: (np.floor(q * (n - 1)) + np.ceil(q * (n - 1))) / 2,
}
_METHODS |= {
    "inverted_cdf": lambda q, n: np.ceil(q * n - 1),
    "averaged_inverted_cdf": lambda q, n: _after(q * n - 1, 0.5),
    "closest_observation": lambda q, n: _after(q * n - 1.5, np.floor(q * n - 1.5) % 2 == 0),
}
_OF_ONE_ELEMENT = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
# Methods whose places stay integers where the probabilities are the integers 0 and 1.
_AT_WHOLE_PLACES = ("weibull", "interpolated_inverted_cdf")


def quantile(
    a: Tensor, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False,
    weights: Any = None,
) -> Tensor:  # fmt: skip
    """The elements sorted, and the two beside the place of each probability."""
    if method not in _METHODS:
        raise ValueError(f"np.quantile: method must be one of {sorted(_METHODS)}, not {method!r}")
    given = np.asarray(q.numpy() if isinstance(q, Tensor) else q)
    wanted = given.astype(np.float64)
    if wanted.ndim > 1:
        raise ValueError("q must be a scalar or 1d")
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    if a.dtype.kind == "c":
        raise TypeError("np.quantile: not for complex numbers; use the real or the imaginary part")
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        return _weighted(a, wanted, axis, keepdims, placed(weights, a.device))
    if a.dtype_name == "bool":
        raise TypeError("np.quantile: not for booleans; use astype(np.int8)")
    if not a.count:
        raise IndexError("np.quantile: there are no elements")
    of_one = method in _OF_ONE_ELEMENT or (method == "linear" and given.dtype.kind in "biu")
    values = a if of_one else between_type(a, q, given.dtype, method)
    rows, shape = rows_of(values, axis, keepdims)
    length = rows.shape[-1]
    places = np.clip(_METHODS[method](wanted, length), 0, length - 1)
    low = np.floor(places).astype(np.int64)
    ordered = sorted_along(rows)
    result = _picked(ordered, low)
    if not of_one:
        above = _picked(ordered, np.minimum(low + 1, length - 1))
        weight = from_numpy((places - low).astype(rows.dtype), device=a.device)
        weight = weight.reshape((*wanted.shape, *(1,) * (rows.ndim - 1)))
        result = between(result, above, weight)
    # A NaN among the elements is last, and the result.
    last = ordered[..., -1]
    result = functional.where(last != last, last, result)
    return functional.contiguous(result).reshape(wanted.shape + shape)


def _after(place: Any, part: Any) -> Any:
    """A part of the way to the next place from whole places, else all of it."""
    whole = np.floor(place)
    return whole + np.where(place == whole, part, 1)


def _weighted(a: Tensor, wanted: Any, axis: Axis, keepdims: bool, weights: Tensor) -> Tensor:
    """The first elements at which the weights make up the probabilities."""
    axes = axes_of(axis, a.ndim)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if weights.shape != tuple(a.shape[i] for i in axes):
            raise ValueError(f"weights of shape {weights.shape} do not fit the dimensions of a")
        lengths = tuple(a.shape[i] if i in axes else 1 for i in range(a.ndim))
        weights = weights.reshape(lengths).broadcast_to(a.shape)
    rows, shape = rows_of(a, axes, keepdims)
    counts = cast(rows_of(weights, axes, keepdims)[0], dtype_of("float64"))
    if bool((counts < 0).any()):
        raise ValueError("Weights must be non-negative.")
    order = argsort(rows, -1)
    made_up = functional.cumsum(take_along_axis(counts, order, -1), -1)
    made_up = made_up / made_up[..., -1:]
    made_up = functional.where(made_up == 0, made_up - 1, made_up)  # weights of 0 are left out
    ordered = take_along_axis(rows, order, -1)
    found = []
    for probability in np.atleast_1d(wanted).tolist():
        place = reduce("sum", made_up < probability, -1, keepdims=True)
        place = place.clip(0, rows.shape[-1] - 1)
        found.append(take_along_axis(ordered, place, -1).reshape(shape))
    return functional.stack(found, 0).reshape(wanted.shape + shape)


def between_type(a: Tensor, q: Any, given: np.dtype[Any], method: str) -> Tensor:
    """The elements in the dtype of values between them: a Python number is weak."""
    values = floating(a)
    if type(q) in (int, float):
        return values
    if given.kind in "biu" and method not in _AT_WHOLE_PLACES:
        given = np.dtype(np.float64)
    return cast(a, result_type(a, given.type(0)))


def between(below: Tensor, above: Tensor, weight: Tensor) -> Tensor:
    """The value at a part of the way, from the nearer end: infinite ends differ in this."""
    way = above - below
    return functional.where(weight < 0.5, below + way * weight, above + way * (weight - 1))


def _picked(ordered: Tensor, index: Any) -> Tensor:
    if not index.ndim:
        return ordered[..., int(index)]
    return ordered[..., index].permute(ordered.ndim - 1, *range(ordered.ndim - 1))


def rows_of(a: Tensor, axis: Axis, keepdims: bool) -> tuple[Tensor, tuple[int, ...]]:
    """The elements to reduce along the last dimension, and the shape of the result."""
    axes = axes_of(axis, a.ndim)
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = tuple(a.shape[i] for i in kept)
    rows = a.permute(*kept, *axes).reshape((*shape, prod(a.shape[i] for i in axes)))
    if keepdims:
        shape = tuple(1 if i in axes else a.shape[i] for i in range(a.ndim))
    return rows, shape


def _of_nothing(rows: Tensor, shape: tuple[int, ...]) -> Tensor:
    nothing = tensor_of(float("nan"), rows.layout.dtype, rows.device)
    return functional.contiguous(nothing.broadcast_to(shape))


def percentile(
    a: Tensor, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False,
    weights: Any = None,
) -> Tensor:  # fmt: skip
    wanted = parts_of_one(a, q)
    return quantile(a, wanted, axis, method=method, keepdims=keepdims, weights=weights)


def parts_of_one(a: Tensor, q: Any) -> Any:
    """Percentages as probabilities of the dtype that NumPy divides in."""
    if isinstance(q, Tensor):
        q = q.numpy()
    hundred = a.dtype.type(100) if a.dtype.kind == "f" else 100
    wanted = q / 100 if type(q) in (int, float) else np.true_divide(q, hundred)
    if not np.all((np.asarray(wanted) >= 0) & (np.asarray(wanted) <= 1)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return wanted


def median(a: Tensor, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    values = real_floating("median", a)
    rows, shape = rows_of(values, axis, keepdims)
    length = rows.shape[-1]
    if not length:
        return _of_nothing(rows, shape)
    ordered = sorted_along(rows)
    middle = ordered[..., (length - 1) // 2 : length // 2 + 1]
    wide = middle if middle.dtype.itemsize > 2 else middle.astype("float32")
    result = cast(reduce("mean", wide, -1), rows.layout.dtype)
    last = ordered[..., -1]
    return functional.where(last != last, last, result).reshape(shape)
