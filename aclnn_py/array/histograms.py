# SPDX-License-Identifier: Apache-2.0
"""NumPy's counts of values and histograms."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, prod
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.operands import placed, promoted
from aclnn_py.array.promotion import cast, tensor_of
from aclnn_py.array.quantiles import percentile
from aclnn_py.array.searching import searchsorted
from aclnn_py.tensor.creation import empty, from_numpy, zeros
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


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
        if weights is not None:
            raise TypeError(
                "Automated estimation of the number of bins is not supported for weighted data"
            )
        bins = _estimated(a.reshape(-1), bins, range)
    if (isinstance(bins, Tensor) and bins.ndim) or isinstance(bins, (list, tuple, np.ndarray)):
        edges = placed(bins, a.device)
        if bool((edges[1:] < edges[:-1]).any()):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    count = int(bins)
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low: Any
    high: Any
    if range is not None:
        low, high = (float(item) for item in range)
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    elif not a.count:
        low, high = 0.0, 1.0
    else:
        low, high = a.min().numpy()[()], a.max().numpy()[()]  # NumPy works in their dtype
    if not np.isfinite(low) or not np.isfinite(high):
        raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    kind = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
    return from_numpy(np.linspace(low, high, count + 1).astype(kind), device=a.device)


def _estimated(row: Tensor, rule: str, limits: Any) -> int:
    """The number of bins by a rule for their width, computed from a few numbers of the data."""
    if rule not in _RULES:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`; {sorted(_RULES)} are")
    if limits is not None:
        row = row[(row >= limits[0]) & (row <= limits[1])]
    if not row.count:
        return 1
    low, high = float(row.min()), float(row.max())
    width = _RULES[rule](row, row.count, high - low)
    if row.dtype.kind in "biu" and 0 < width < 1:
        width = 1.0
    if limits is not None:
        low, high = (float(item) for item in limits)
    return int(np.ceil((high - low) / width)) if width else 1


def _scott(row: Tensor, n: int, extent: float) -> float:
    return float((24 * pi**0.5 / n) ** (1 / 3) * float(row.std()))


def _freedman_diaconis(row: Tensor, n: int, extent: float) -> float:
    upper, lower = percentile(row, [75, 25]).tolist()
    return float(2 * (upper - lower) * n ** (-1 / 3))


def _doane(row: Tensor, n: int, extent: float) -> float:
    deviation = float(row.std())
    if n <= 2 or not deviation:
        return 0.0
    skewness = float((((row - row.mean()) / deviation) ** 3).mean())
    scale = (6 * (n - 2) / ((n + 1) * (n + 3))) ** 0.5
    return float(extent / (1 + np.log2(n) + np.log2(1 + abs(skewness) / scale)))


def _sturges(row: Tensor, n: int, extent: float) -> float:
    return float(extent / (np.log2(n) + 1))


def _auto(row: Tensor, n: int, extent: float) -> float:
    narrow = max(_freedman_diaconis(row, n, extent), extent / float(n) ** 0.5 / 2)
    return float(min(narrow, _sturges(row, n, extent)))


# Rule -> the width of bins, from the elements, their number and their extent.
_RULES: dict[str, Callable[[Tensor, int, float], float]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": lambda row, n, extent: extent / (2 * float(n) ** (1 / 3)),
    "scott": _scott,
    "sqrt": lambda row, n, extent: extent / float(n) ** 0.5,
    "sturges": _sturges,
}


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
    if weights is not None:
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
