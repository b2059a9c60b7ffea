# SPDX-License-Identifier: Apache-2.0
"""Resizing and grid sampling in float64: a matrix of weights for each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def keys(distance: Array, a: float) -> Array:
    t = abs(distance)
    near = (a + 2) * t**3 - (a + 3) * t**2 + 1
    return np.where(t <= 1, near, np.where(t < 2, a * (t**3 - 5 * t**2 + 8 * t - 4), 0))


def axis_weights(kind: str, size: int, count: int, align: bool, scale: float) -> Array:
    """The share of each of ``size`` elements, by column, in each of ``count`` places."""
    i, elements = np.arange(count), np.arange(size)
    ratio = 1 / scale if scale > 0 else size / count
    if kind in ("below", "middle"):
        shift = np.float32(0.5 if kind == "middle" else 0)
        places = (i.astype(np.float32) + shift) * np.float32(ratio)
        chosen = np.minimum(np.floor(places).astype(np.int64), size - 1)
        return np.asarray(np.where(chosen[:, None] == elements, 1.0, 0.0))
    if align:
        ratio = (size - 1) / (count - 1) if count > 1 else 0.0
    if kind.startswith("smooth"):
        return smooth_weights(kind == "smooth cubic", size, (i + 0.5) * ratio, ratio)
    middle = i * ratio if align else (i + 0.5) * ratio - 0.5
    if kind == "linear":
        middle = np.clip(middle, 0, size - 1)
        return np.asarray(np.maximum(0, 1 - abs(middle[:, None] - elements)))
    found = np.zeros((count, size))
    for k in (-1, 0, 1, 2):
        at = np.floor(middle) + k
        share = keys(middle - at, -0.75)
        found += np.where(np.clip(at, 0, size - 1)[:, None] == elements, share[:, None], 0)
    return found


def smooth_weights(cubic: bool, size: int, middles: Array, ratio: float) -> Array:
    """Weights of the elements whose middles lie within the filter, which grows with the ratio."""
    step = max(ratio, 1.0)
    reach = step * (2 if cubic else 1)
    found = np.zeros((len(middles), size))
    for row, middle in zip(found, middles, strict=True):
        begin, end = max(int(middle - reach + 0.5), 0), min(int(middle + reach + 0.5), size)
        away = (np.arange(begin, end) + 0.5 - middle) / step
        shares = keys(away, -0.5) if cubic else np.maximum(0, 1 - abs(away))
        if shares.sum() > 0:
            row[begin:end] = shares / shares.sum()
    return found


def stretches(kind: str, size: int, count: int, scale: float) -> Array:
    """Which of ``count`` results, by row, give their gradient to each of ``size`` elements."""
    step = np.float32(scale if scale > 0 else count / size)
    shift = np.float32(0.5 if kind == "middle" else 0)
    ends = np.ceil(np.arange(size + 1, dtype=np.float32) * step - shift)
    results = np.arange(count)[:, None]
    return np.where((ends[:-1] <= results) & (results < ends[1:]), 1.0, 0.0)


# Which scales the host code of an operator hands to a 910B's kernel: each positive one ("each"),
# all or none ("together"), all where each leads from one size to the other or none ("fitting").
TOGETHER = ("UpsampleNearest2dV2", "UpsampleNearest3d", "UpsampleNearestExact3d", "UpsampleTrilin")
FITTING = ("UpsampleNearest1dBackward", "UpsampleBilinear2dBackwardV2", "UpsampleLinear1dBackward")
SIZES_FIRST = ("UpsampleNearest2dV2", "UpsampleNearestExact2d", "UpsampleLinear1d",
               "UpsampleBilinear2d", "UpsampleBicubic2d", "UpsampleTrilinear3d",
               "UpsampleBilinear2dAA", "UpsampleBicubic2dAA")  # fmt: skip


def counted(
    operator: str, sizes: Sequence[int], counts: Sequence[int], scales: Sequence[float]
) -> list[float]:
    """The scales that count; 0 where the sizes decide."""
    pairs = list(zip(sizes, counts, strict=True))
    taken = len(scales) > 0 and operator != "UpsampleBilinear2dBackward"
    if operator.startswith(TOGETHER):
        taken = taken and all(scale > 0 for scale in scales)
    if operator in (*FITTING, "UpsampleBilinear2d"):
        taken = taken and all(
            int(size * scale) == count for (size, count), scale in zip(pairs, scales, strict=True)
        )
    kept = operator in SIZES_FIRST
    return [
        scales[d] if taken and not (kept and size == count) else 0.0
        for d, (size, count) in enumerate(pairs)
    ]


def resized(
    kind: str, x: Array, counts: Sequence[int], align: bool, scales: Sequence[float]
) -> Array:
    """An image (n, channels, sizes) in other sizes; without scales those of the sizes."""
    for d, count in enumerate(counts):
        axis = x.ndim - len(counts) + d
        scale = scales[d] if scales else 0.0
        if kind.startswith("given back"):
            matrix = stretches(kind.split()[-1], x.shape[axis], count, scale)
        else:
            matrix = axis_weights(kind, x.shape[axis], count, align, scale)
        x = np.moveaxis(np.tensordot(x, matrix, (axis, 1)), -1, axis)
    return x


def sampled(x: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    """The image at the places of a grid, one axis after the other as a matrix of weights."""
    axes = [
        place_weights(grid[..., d], size, mode, padding, align)
        for d, size in enumerate(reversed(x.shape[2:]))
    ]
    if len(axes) == 2:
        return np.asarray(np.einsum("nchw,nijh,nijw->ncij", x, axes[1], axes[0]))
    names = "ncdhw,nkijd,nkijh,nkijw->nckij"
    return np.asarray(np.einsum(names, x, axes[2], axes[1], axes[0]))


def place_weights(place: Array, size: int, mode: int, padding: int, align: bool) -> Array:
    """The share of each element along an axis; analytic in the places between elements."""
    x = (place + 1) / 2 * (size - 1) if align else ((place + 1) * size - 1) / 2

    def clipped(x: Array) -> Array:
        # A place at the outermost element no longer moves.
        return np.where(x.real <= 0, 0, np.where(x.real >= size - 1, size - 1, x))

    def moved(x: Array) -> Array:
        if padding == 2:
            begin, span = (0, size - 1) if align else (-0.5, size)
            if span == 0:
                return x * 0
            away = np.where(x.real < begin, begin - x, x - begin)
            turn = away - np.floor(away.real / (2 * span)) * 2 * span
            x = begin + np.where(turn.real > span, 2 * span - turn, turn)
        return x if padding == 0 else clipped(x)

    if mode != 2:
        x = moved(x)
    low = np.floor(x.real)
    if mode == 1:
        taps = [(np.rint(x.real), np.ones_like(x))]
    elif mode == 0:
        taps = [(low, 1 - (x - low)), (low + 1, x - low)]
    else:
        taps = [(moved(low + k), keys(x - low - k, -0.75)) for k in (-1, 0, 1, 2)]
    elements = np.arange(size)
    parts = [np.where(at[..., None] == elements, share[..., None], 0) for at, share in taps]
    return np.asarray(np.sum(parts, 0))
