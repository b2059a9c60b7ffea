# SPDX-License-Identifier: Apache-2.0
"""Grouped products with quantised operands in float64, written from their formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from helpers.operators import place

import aclnn_py as ap

from ..quantised import packed

Array = np.ndarray[Any, Any]


def packed_scale(scale: Array) -> Array:
    """Scales as a 64-bit parameter: the bits of a float32 in the lower half."""
    return scale.astype(np.float32).view(np.uint32).astype(np.uint64)


def coarse(shape: Sequence[int], rng: np.random.Generator) -> Array:
    """Scales of few bits, which a packed parameter holds exactly."""
    return (rng.integers(16, 64, tuple(shape)) / 2048).astype(np.float32)


def bounds(groups: Sequence[int], listed: int) -> list[tuple[int, int]]:
    """First and last row of each group: 0 lists their ends, 1 their sizes."""
    ends = np.cumsum(groups) if listed == 1 else np.asarray(groups)
    return list(zip([0, *ends[:-1]], ends, strict=True))


def group_of_rows(groups: Sequence[int], listed: int, rows: int) -> Array:
    """The group of each row, -1 for those behind the last one."""
    found = np.full(rows, -1)
    for group, (first, last) in enumerate(bounds(groups, listed)):
        found[first:last] = group
    return found


def grouped(x: Array, weight: Array, scale: Array, token: Array, owner: Array) -> Array:
    """Rows times the weight of their group, scaled; (E, N) scales or (E, G, N) by parts of K."""
    pieces = 1 if scale.ndim == 2 else scale.shape[1]
    part = x.shape[1] // pieces
    cut = scale.reshape(len(weight), pieces, -1).astype(np.float64)
    out = np.zeros((len(x), weight.shape[2]))
    for row, group in enumerate(owner):
        if group >= 0:
            spread = weight[group].astype(np.float64) * np.repeat(cut[group], part, axis=0)
            out[row] = x[row].astype(np.float64) @ spread * float(token[row])
    return out


def put_weight(numbers: Array, kind: str) -> ap.Tensor:
    """A weight of groups: int8 or int4 in FRACTAL_NZ, as its blocks, transposed, or plain."""
    number, _, form = kind.partition("-")
    dtype = {"int8": np.dtype(np.int8), "int4": np.dtype(ml_dtypes.int4)}
    if number == "int32":
        if form == "blocks":
            return place(packed(_blocks(numbers, 64)))
        return place(packed(numbers))
    array = numbers.astype(np.int8).astype(dtype[number])
    if form == "blocks":
        return ap.from_numpy(_blocks(array, 32 if number == "int8" else 64))
    if form == "transposed":
        turned = np.ascontiguousarray(np.swapaxes(array, -1, -2))
        return ap.from_numpy(turned, format=ap.Format.FRACTAL_NZ).swapaxes(-1, -2)
    if form == "nz":
        return ap.from_numpy(array, format=ap.Format.FRACTAL_NZ)
    return ap.from_numpy(array)


def _blocks(numbers: Array, width: int) -> Array:
    """(..., K, N) as (..., N / width, K / 16, 16, width)."""
    *stack, k, n = numbers.shape
    parts = numbers.reshape(*stack, k // 16, 16, n // width, width)
    order = [*range(len(stack)), *(len(stack) + axis for axis in (2, 0, 1, 3))]
    return np.ascontiguousarray(parts.transpose(order))
