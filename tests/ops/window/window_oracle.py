# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling and columns in float64, written from the formulas."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..problems import Build, Problem

Array = np.ndarray[Any, Any]
Ints = Sequence[int]
FORMATS = {3: "NCL", 4: "NCHW", 5: "NCDHW"}


def margins(padding: Ints, spatial: int) -> list[tuple[int, int]]:
    """The margins before and behind each dimension; twice as many numbers name both."""
    if len(padding) == 2 * spatial:
        return [(padding[2 * d], padding[2 * d + 1]) for d in range(spatial)]
    return [(padding[d], padding[d]) for d in range(spatial)]


def convolution(
    x: Array, w: Array, stride: Ints, padding: Ints, dilation: Ints, groups: int = 1
) -> Array:
    spatial = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *margins(padding, spatial)])
    count = [
        (x.shape[2 + d] - dilation[d] * (w.shape[2 + d] - 1) - 1) // stride[d] + 1
        for d in range(spatial)
    ]
    y = np.zeros((x.shape[0], w.shape[0], *count))
    outs, ins = w.shape[0] // groups, w.shape[1]
    for k in itertools.product(*map(range, w.shape[2:])):
        at = [
            slice(
                k[d] * dilation[d], k[d] * dilation[d] + (count[d] - 1) * stride[d] + 1, stride[d]
            )
            for d in range(spatial)
        ]
        part = x[(slice(None), slice(None), *at)]
        for g in range(groups):
            rows, columns = slice(g * outs, (g + 1) * outs), slice(g * ins, (g + 1) * ins)
            y[:, rows] += np.einsum("oi,ni...->no...", w[(rows, slice(None), *k)], part[:, columns])
    return y


def transposed_convolution(
    x: Array,
    w: Array,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    more: Ints,
    groups: int = 1,
) -> Array:
    spatial, sides = x.ndim - 2, margins(padding, x.ndim - 2)
    full = [
        (x.shape[2 + d] - 1) * stride[d] + dilation[d] * (w.shape[2 + d] - 1) + 1 + more[d]
        for d in range(spatial)
    ]
    ins, outs = x.shape[1] // groups, w.shape[1]
    y = np.zeros((x.shape[0], outs * groups, *full))
    for place in itertools.product(*map(range, x.shape[2:])):
        for k in itertools.product(*map(range, w.shape[2:])):
            at = tuple(place[d] * stride[d] + k[d] * dilation[d] for d in range(spatial))
            for g in range(groups):
                rows, columns = slice(g * ins, (g + 1) * ins), slice(g * outs, (g + 1) * outs)
                y[(slice(None), columns, *at)] += (
                    x[(slice(None), rows, *place)] @ w[(rows, slice(None), *k)]
                )
    inner = [slice(sides[d][0], full[d] - sides[d][1]) for d in range(spatial)]
    return y[(slice(None), slice(None), *inner)]


def count_windows(
    size: int, window: int, step: int, sides: tuple[int, int], ceil: bool = False, spread: int = 1
) -> int:
    room = size + sum(sides) - spread * (window - 1) - 1
    count = (-(-room // step) if ceil else room // step) + 1
    return count - 1 if ceil and (count - 1) * step >= size + sides[0] else count


def pooled(
    x: Array,
    window: Ints,
    step: Ints,
    sides: Sequence[tuple[int, int]],
    ceil: bool,
    kind: str,
    count_margins: bool = True,
    divisor: int = 0,
) -> Array:
    """Maximum ("max"), its place ("place") or average ("mean") over the last dimensions."""
    axes, shape = range(len(window)), x.shape[-len(window) :]
    counts = [count_windows(shape[d], window[d], step[d], sides[d], ceil) for d in axes]
    y = np.zeros((*x.shape[: -len(window)], *counts))
    for place in np.ndindex(*counts):
        begin = [place[d] * step[d] - sides[d][0] for d in axes]
        end = [min(begin[d] + window[d], shape[d] + sides[d][1]) for d in axes]
        cell = [(max(begin[d], 0), min(end[d], shape[d])) for d in axes]
        bounds = list(zip(begin, end, strict=True)) if count_margins else cell
        area = divisor or int(np.prod([high - low for low, high in bounds]))
        y[(..., *place)] = reduced(x, cell, kind, area)
    return y


def adaptively_pooled(x: Array, counts: Ints, kind: str) -> Array:
    """The same over cells that share the last dimensions as evenly as they can."""
    shape = x.shape[-len(counts) :]
    y = np.zeros((*x.shape[: -len(counts)], *counts))
    for place in np.ndindex(*counts):
        cell = [
            (i * size // count, -(-(i + 1) * size // count))
            for i, size, count in zip(place, shape, counts, strict=True)
        ]
        area = int(np.prod([high - low for low, high in cell]))
        y[(..., *place)] = reduced(x, cell, kind, area)
    return y


def reduced(x: Array, cell: Sequence[tuple[int, int]], kind: str, area: int) -> Array:
    """Maximum, its place in the whole, or sum by area of one cell of the last dimensions."""
    axes = tuple(range(-len(cell), 0))
    part = x[(..., *(slice(low, high) for low, high in cell))]
    if kind == "mean":
        return np.asarray(part.sum(axes) / area)
    if kind == "max":
        return np.asarray(part.max(axes, initial=-np.inf))
    inner = part.reshape(*part.shape[: -len(cell)], -1).argmax(-1)
    places = np.unravel_index(inner, part.shape[-len(cell) :])
    whole = [place + low for place, (low, _) in zip(places, cell, strict=True)]
    return np.asarray(np.ravel_multi_index(whole, x.shape[-len(cell) :]))


def columns(x: Array, window: Ints, spread: Ints, padding: Ints, step: Ints) -> Array:
    """Every window of the last two dimensions as a column."""
    x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(p, p) for p in padding])
    counts = [
        count_windows(x.shape[-2 + d], window[d], step[d], (0, 0), False, spread[d]) for d in (0, 1)
    ]
    rows = []
    for channel, k0, k1 in np.ndindex(x.shape[-3], *window):
        at = [
            slice(k * spread[d], k * spread[d] + (counts[d] - 1) * step[d] + 1, step[d])
            for d, k in ((0, k0), (1, k1))
        ]
        part = x[..., channel, at[0], at[1]]
        rows.append(part.reshape(*part.shape[:-2], counts[0] * counts[1]))
    return np.stack(rows, -2)


def slopes(forward: Callable[[Array], Array], dy: Array, part: Array) -> Array:
    """The derivative of ``sum(dy * forward(part))``, by differences with steps of one.

    Every forward here is linear, or linear between the places where maxima change: the steps leave
    no error where nothing changes.
    """
    found = np.zeros(part.shape)
    for at in np.ndindex(part.shape):
        ends = []
        for step in (1.0, -1.0):
            moved = part.copy()
            moved[at] += step
            ends.append((dy * forward(moved)).sum())
        found[at] = (ends[0] - ends[1]) / 2
    return found


def kept(build: Build) -> Build:
    """The builder of a problem that makes one for each dtype and keeps it: slopes take time."""
    known: dict[str, Problem] = {}

    def again(rng: np.random.Generator, dtype: np.dtype[Any]) -> Problem:
        if dtype.name not in known:
            known[dtype.name] = build(rng, dtype)
        return known[dtype.name]

    return again
