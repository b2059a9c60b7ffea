# SPDX-License-Identifier: Apache-2.0
"""NumPy oracles that round where the fused operators round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def gen(shape: tuple[int, ...], a: int, b: int, q: int, o: int) -> Array:
    """Small integers with a pattern: ``(a * t + b) % q - o`` over the flat index t."""
    t = np.arange(np.prod(shape))
    return ((a * t + b) % q - o).reshape(shape)


def rounded(values: npt.ArrayLike, dtype: Any) -> Array:
    """To float32 and from there to the dtype, ties to even each time."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values, np.float64).astype(np.float32).astype(dtype)


def product(x1: npt.ArrayLike, x2: npt.ArrayLike, bias: npt.ArrayLike | None = None) -> Array:
    """The product with its bias in float64; exact for small integers."""
    result = np.asarray(x1, np.float64) @ np.asarray(x2, np.float64)
    return result if bias is None else result + np.asarray(bias, np.float64)


def added(a: npt.ArrayLike, b: npt.ArrayLike, dtype: Any) -> Array:
    """The sum of two values of a dtype, rounded to it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (np.asarray(a).astype(np.float32) + np.asarray(b).astype(np.float32)).astype(dtype)


def all_reduced(parts: Sequence[Array], dtype: Any) -> Array:
    """The sum in the order of the ranks, each partial sum rounded to the dtype."""
    total = parts[0]
    for part in parts[1:]:
        total = added(total, part, dtype)
    return total


def contribution(
    x1: npt.ArrayLike,
    x2: npt.ArrayLike,
    dtype: Any,
    bias: npt.ArrayLike | None = None,
    x3: npt.ArrayLike | None = None,
) -> Array:
    """One rank's share of a floating product: rounded, then x3 added and rounded again."""
    result = rounded(product(x1, x2, bias), dtype)
    return result if x3 is None else added(result, x3, dtype)


def dequantised(
    x1: npt.ArrayLike,
    x2: npt.ArrayLike,
    scale: npt.ArrayLike,
    dtype: Any,
    bias: npt.ArrayLike | None = None,
    pertoken: npt.ArrayLike | None = None,
    x3: npt.ArrayLike | None = None,
) -> Array:
    """One rank's share of an int8 product: int32 sums, float32 scaling, rounded, then x3."""
    sums = np.asarray(x1, np.int64) @ np.asarray(x2, np.int64)
    if bias is not None:
        sums = sums + np.asarray(bias, np.int64)
    values = sums.astype(np.int32).astype(np.float32) * np.asarray(scale).astype(np.float32)
    if pertoken is not None:
        rows = np.asarray(pertoken, np.float32).reshape(*values.shape[:-1], 1)
        values = values * rows
    result = values.astype(dtype)
    return result if x3 is None else added(result, x3, dtype)


def weight_of(
    x2: npt.ArrayLike, scale: Array, dtype: Any, offset: Array | None = None, group_size: int = 0
) -> Array:
    """A weight of few bits as the product sees it: ``round((x2 + offset) * scale)``."""
    values = np.asarray(x2).astype(np.float32)

    def spread(rows: Array) -> Array:
        wide = rows.astype(np.float32)
        return np.repeat(wide, group_size, axis=0)[: len(values)] if group_size else wide

    if offset is not None:
        values = values + spread(offset)
    return (values * spread(scale)).astype(dtype)
