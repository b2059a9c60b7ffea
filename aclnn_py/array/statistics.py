# SPDX-License-Identifier: Apache-2.0
"""NumPy's sums, extremes, averages, quantiles and histograms."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array import reduction
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import (
    floating,
    placed,
    promoted,
    real_floating,
)
from aclnn_py.array.promotion import cast, tensor_of
from aclnn_py.array.reduction import Axis, axes_of, reduce
from aclnn_py.array.searching import searchsorted
from aclnn_py.array.searching import sort as sorted_along
from aclnn_py.array.shaping import diagonal
from aclnn_py.tensor.creation import empty, from_numpy, zeros
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def sum_(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Tensor:  # fmt: skip
    return reduce("sum", a, axis, dtype, keepdims, initial, where)


def prod_(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Tensor:  # fmt: skip
    return reduce("prod", a, axis, dtype, keepdims, initial, where)


def mean(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, where: Any = True
) -> Tensor:
    return reduce("mean", a, axis, dtype, keepdims, None, where)


def _extreme(name: str) -> Callable[..., Tensor]:
    def find(
        a: Tensor, axis: Axis = None, *, keepdims: bool = False, initial: Any = None,
        where: Any = True,
    ) -> Tensor:  # fmt: skip
        return reduce(name, a, axis, None, keepdims, initial, where)

    return find


max_ = amax = _extreme("max")
min_ = amin = _extreme("min")


def _truth(name: str) -> Callable[..., Tensor]:
    def find(a: Tensor, axis: Axis = None, *, keepdims: bool = False, where: Any = True) -> Tensor:
        return reduce(name, a, axis, None, keepdims, None, where)

    return find


any_, all_ = _truth("any"), _truth("all")


def ptp(a: Tensor, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    largest, smallest = (reduce(name, a, axis, keepdims=keepdims) for name in ("max", "min"))
    return apply("subtract", largest, smallest)


def var(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Tensor:  # fmt: skip
    x, ddof = _spread_of(a, dtype, ddof, correction)
    return reduction.variance(x, axis, ddof, keepdims, where, mean)


def std(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Tensor:  # fmt: skip
    x, ddof = _spread_of(a, dtype, ddof, correction)
    return reduction.standard_deviation(x, axis, ddof, keepdims, where, mean)


def _spread_of(a: Tensor, dtype: Any, ddof: float, correction: Any) -> tuple[Tensor, float]:
    if correction is not None:
        if ddof:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    return (a if dtype is None else cast(a, dtype_of(dtype))), ddof


def cumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    return reduction.accumulate("cumsum", a, axis, dtype)


def cumprod(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    return reduction.accumulate("cumprod", a, axis, dtype)


def _cumulative(name: str, first: int) -> Callable[..., Tensor]:
    def run(
        x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Tensor:
        if axis is None:
            if x.ndim != 1:
                raise ValueError(
                    "For arrays which have more than one dimension ``axis`` argument is required."
                )
            axis = 0
        result = reduction.accumulate(name, x, axis, dtype)
        if not include_initial:
            return result
        (at,) = axes_of(axis, x.ndim)
        lengths = (*x.shape[:at], 1, *x.shape[at + 1 :])
        start = tensor_of(first, result.layout.dtype, x.device).broadcast_to(lengths)
        return functional.cat([functional.contiguous(start), result], at)

    return run


cumulative_sum, cumulative_prod = _cumulative("cumsum", 0), _cumulative("cumprod", 1)


def average(
    a: Tensor, axis: Axis = None, weights: Any = None, returned: bool = False, *,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    if weights is None:
        result = reduce("mean", a, axis, keepdims=keepdims)
        if not result.count:
            raise ZeroDivisionError("np.average: there are no elements to average")
        count = a.count / result.count
        total = tensor_of(count, result.layout.dtype, a.device).broadcast_to(result.shape)
        return (result, functional.contiguous(total)) if returned else result
    weights = placed(weights, a.device)
    values, weights = promoted("average", floating(a), floating(weights))
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = axes_of(axis, a.ndim)
        if weights.shape != tuple(a.shape[i] for i in axes):
            raise ValueError(
                f"Shape of weights {weights.shape} must be consistent with shape of a along axis."
            )
        lengths = [1] * a.ndim
        for length, at in zip(weights.shape, axes, strict=True):
            lengths[at] = length
        order = sorted(range(len(axes)), key=lambda i: axes[i])
        weights = weights.permute(*order).reshape(tuple(lengths)).broadcast_to(a.shape)
    total = reduce("sum", weights, axis, keepdims=keepdims)
    if bool((total == 0).any()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = reduce("sum", values * weights, axis, keepdims=keepdims) / total
    return (result, total) if returned else result


# Quantiles.

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


def quantile(
    a: Tensor, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False,
    weights: Any = None,
) -> Tensor:  # fmt: skip
    """The elements sorted, and the two beside the place of each probability."""
    if weights is not None:
        raise TypeError("np.quantile: weights are not taken for tensors; repeat the elements")
    if method not in _METHODS:
        raise ValueError(f"np.quantile: method must be one of {sorted(_METHODS)}, not {method!r}")
    wanted = np.asarray(q.numpy() if isinstance(q, Tensor) else q, np.float64)
    if wanted.ndim > 1:
        raise ValueError("q must be a scalar or 1d")
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    if a.dtype_name == "bool":
        raise TypeError("np.quantile: not for booleans; use astype(np.int8)")
    if not a.count:
        raise IndexError("np.quantile: there are no elements")
    values = real_floating("quantile", a)
    if wanted.ndim and not isinstance(q, Tensor):
        values = cast(values, dtype_of("float64"))  # probabilities in a list are float64
    rows, shape = _rows(values, axis, keepdims)
    length = rows.shape[-1]
    places = np.clip(_METHODS[method](wanted, length), 0, length - 1)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, length - 1)
    ordered = sorted_along(rows)
    below, above = (_picked(ordered, index) for index in (low, high))
    weight = from_numpy((places - low).astype(rows.dtype), device=a.device)
    weight = weight.reshape((*wanted.shape, *(1,) * (rows.ndim - 1)))
    result = below + (above - below) * weight
    # A NaN among the elements is last, and the result.
    last = ordered[..., -1]
    result = functional.where(last != last, last, result)
    return functional.contiguous(result).reshape(wanted.shape + shape)


def _picked(ordered: Tensor, index: Any) -> Tensor:
    if not index.ndim:
        return ordered[..., int(index)]
    return ordered[..., index].permute(ordered.ndim - 1, *range(ordered.ndim - 1))


def _rows(a: Tensor, axis: Axis, keepdims: bool) -> tuple[Tensor, tuple[int, ...]]:
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
    wanted = np.asarray(q.numpy() if isinstance(q, Tensor) else q, np.float64) / 100
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ValueError("Percentiles must be in the range [0, 100]")
    return quantile(a, wanted, axis, method=method, keepdims=keepdims, weights=weights)


def median(a: Tensor, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    values = real_floating("median", a)
    rows, shape = _rows(values, axis, keepdims)
    length = rows.shape[-1]
    if not length:
        return _of_nothing(rows, shape)
    ordered = sorted_along(rows)
    middle = ordered[..., (length - 1) // 2 : length // 2 + 1]
    wide = middle if middle.dtype.itemsize > 2 else middle.astype("float32")
    result = cast(reduce("mean", wide, -1), rows.layout.dtype)
    last = ordered[..., -1]
    return functional.where(last != last, last, result).reshape(shape)


# Covariance.


def cov(
    m: Tensor, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Tensor:  # fmt: skip
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    kind = dtype_of("float64" if dtype is None else dtype)
    if m.dtype.kind == "c":
        raise TypeError("np.cov: not for complex numbers, whose result is complex128")
    rows = _variables(m, rowvar, kind)
    if y is not None:
        rows = functional.cat([rows, _variables(placed(y, m.device), rowvar, kind)], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    both = (item for item in (fweights, aweights) if item is not None)
    given = [cast(placed(item, m.device), kind) for item in both]
    if not given:
        total = float(rows.shape[1])
        return _covariance(rows, None, total, total - ddof)
    weights = given[0] * given[1] if len(given) == 2 else given[0]
    total = float(weights.sum())
    factor = total - ddof
    if ddof and aweights is not None:
        factor = total - ddof * float((weights * given[-1]).sum()) / total
    return _covariance(rows, weights, total, factor)


def _covariance(rows: Tensor, weights: Tensor | None, total: float, factor: float) -> Tensor:
    """Row by row: CANN has no matrix product of float64."""
    weighted = rows if weights is None else rows * weights
    rows = rows - reduce("sum", weighted, 1, keepdims=True) / total
    weighted = rows if weights is None else rows * weights
    products = [reduce("sum", rows[i] * weighted, 1) for i in _counted(rows.shape[0])]
    scale = 1 / factor if factor > 0 else float("inf")
    return (functional.stack(products, 0) * scale).squeeze()


def _variables(m: Tensor, rowvar: bool, kind: DType) -> Tensor:
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    rows = m.reshape(1, -1) if m.ndim < 2 else m
    return cast(rows.T if not rowvar and m.ndim == 2 else rows, kind)


def corrcoef(x: Tensor, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Tensor:
    covariance = cov(x, y, rowvar, dtype=dtype)
    if not covariance.ndim:
        return covariance / covariance
    deviation = apply("sqrt", diagonal(covariance))
    result = covariance / deviation[:, None] / deviation[None, :]
    return result.clip(-1, 1)


# Histograms.


def bincount(x: Tensor, /, weights: Any = None, minlength: int = 0) -> Tensor:
    if x.ndim != 1:
        raise ValueError("object too deep for desired array")
    if x.dtype.kind not in "biu":
        raise TypeError(
            f"Cannot cast array data from {x.dtype} to int64 according to the rule 'safe'"
        )
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    kind = dtype_of("int64" if weights is None else "float64")
    if not x.count:
        return zeros((minlength,), kind, device=x.device)
    places = cast(x, dtype_of("int64"))
    if int(places.min()) < 0:
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(places.max()) + 1, minlength)
    out = empty((length,), kind, device=x.device)
    if weights is not None:
        weights = placed(weights, x.device)
        if weights.shape != x.shape:
            raise ValueError("The weights and list don't have the same length.")
        weights = cast(weights, kind)
    ops.bincount(places, weights, length, out)
    return out


def histogram_bin_edges(
    a: Tensor, bins: Any = 10, range: Any = None, weights: Any = None
) -> Tensor:
    if weights is not None and np.shape(weights) != a.shape:
        raise ValueError("weights should have the same shape as a.")
    if isinstance(bins, str):
        raise TypeError(f"np.histogram: bins={bins!r} is not taken for tensors; give a number")
    if (isinstance(bins, Tensor) and bins.ndim) or isinstance(bins, (list, tuple, np.ndarray)):
        edges = placed(bins, a.device)
        if bool((edges[1:] < edges[:-1]).any()):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    count = int(bins)
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if range is not None:
        low, high = (float(item) for item in range)
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    elif not a.count:
        low, high = 0.0, 1.0
    else:
        low, high = float(a.min()), float(a.max())
    if not np.isfinite(low) or not np.isfinite(high):
        raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    kind = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
    return from_numpy(np.linspace(low, high, count + 1).astype(kind), device=a.device)


def histogram(
    a: Tensor, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Tensor, Tensor]:
    if a.dtype.kind == "c":
        raise TypeError("np.histogram: not for complex numbers")
    edges = histogram_bin_edges(a, bins, range, weights)
    values = a.reshape(-1)
    count = edges.count - 1
    place = _bins(values, edges)
    inside = place < count
    kept = place[inside]
    if weights is not None:
        weights = placed(weights, a.device).reshape(-1)[inside]
    counts = bincount(kept, weights, count)
    if weights is not None and weights.dtype.kind == "f":
        counts = cast(counts, weights.layout.dtype)
    if density:
        wide = cast(edges[1:] - edges[:-1], dtype_of("float64"))
        return counts / wide / float(counts.sum()), edges
    return counts, edges


def _bins(values: Tensor, edges: Tensor) -> Tensor:
    """The bin of each value; the number of bins where there is none. The last bin is closed."""
    count = edges.count - 1
    place = searchsorted(edges, values, "right") - 1
    last = edges[-1]
    place = functional.where(
        values == last, tensor_of(count - 1, place.layout.dtype, values.device), place
    )
    outside = (place < 0) | (place >= count) | (values != values)
    return functional.where(outside, tensor_of(count, place.layout.dtype, values.device), place)


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    columns = (
        [sample[:, i] for i in _counted(sample.shape[1])]
        if isinstance(sample, Tensor)
        else list(sample)
    )
    per_axis = [bins] * len(columns) if isinstance(bins, int) else list(bins)
    ranges = [None] * len(columns) if range is None else list(range)
    edges = [
        histogram_bin_edges(column, number, limits)
        for column, number, limits in zip(columns, per_axis, ranges, strict=True)
    ]
    total = zeros((columns[0].count,), "int64", device=columns[0].device)
    outside = zeros((columns[0].count,), "bool", device=columns[0].device)
    lengths = tuple(edge.count - 1 for edge in edges)
    for column, edge, length in zip(columns, edges, lengths, strict=True):
        place = _bins(column, edge)
        outside = outside | (place >= length)
        total = total * length + place
    kept = total[~outside]
    if weights is not None:
        weights = placed(weights, kept.device)[~outside]
    counts = bincount(kept, weights, prod(lengths)).reshape(lengths)
    counts = cast(counts, dtype_of("float64"))
    if density:
        whole = float(counts.sum())
        for at, edge in enumerate(edges):
            width = cast(edge[1:] - edge[:-1], dtype_of("float64"))
            counts = counts / width.reshape(
                tuple(-1 if i == at else 1 for i in _counted(len(edges)))
            )
        counts = counts / whole
    return counts, tuple(edges)


def histogram2d(
    x: Tensor,
    y: Tensor,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    if not isinstance(bins, int) and len(bins) != 2:
        bins = [bins, bins]
    counts, edges = histogramdd(promoted("histogram2d", x, y), bins, range, density, weights)
    return counts, edges[0], edges[1]


def _counted(n: int) -> list[int]:
    """The numbers below ``n``; the parameter `range` of histograms hides Python's."""
    return list(np.arange(n).tolist())
