# SPDX-License-Identifier: Apache-2.0
"""Families of operators of windows beside NumPy: `python -m benchmarks.families_windows`.

Pools, margins, resizing, sampling at places, columns and regions of images, each with its gradient.
As `benchmarks.inference`: about a million elements, beside the straightforward form in NumPy, both
on one thread, the least CPU time of the process, and results that were compared before.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.families import linear_matrix  # limits threads
from benchmarks.inference import F32, Case, Families, device, main, measured, runs
from benchmarks.training import gives, normal

# ruff: isort: split
import numpy as np

import aclnn_py as ap

f: Any = ap.functional
ops: Any = ap.ops  # whose arguments are too many to be written out
FLAT, DEEP = "16 x 16 x 64 x 64, float32", "8 x 8 x 16 x 32 x 32, float32"
CELLS = 16, 16, 32, 2, 32, 2  # of 2 x 2 elements of FLAT
CUBES = 8, 8, 8, 2, 16, 2, 16, 2


def flat(rng: np.random.Generator, size: int = 64) -> Any:
    return normal(rng, 16, 16, size, size)


def deep(rng: np.random.Generator, *size: int) -> Any:
    return normal(rng, 8, 8, *(size or (16, 32, 32)))


def widened(x: Any, value: float = 0) -> Any:
    """One element more on each side."""
    return np.pad(x, [(0, 0), (0, 0), *[(1, 1)] * (x.ndim - 2)], constant_values=value)


def average(rng: np.random.Generator) -> Case:
    x = flat(rng)
    (input,) = device(x)

    def theirs() -> Any:
        wide, total = widened(x), np.zeros_like(x)
        for i, j in np.ndindex(3, 3):
            total += wide[:, :, i : i + 64, j : j + 64]
        return (total / F32(9),)

    return Case(
        "average pool of 3 x 3", FLAT, gives(lambda: f.avg_pool2d(input, 3, 1, 1)), theirs, 1e-5
    )


def average_gradient(rng: np.random.Generator) -> Case:
    x, g = flat(rng), flat(rng)
    input, slope = device(x, g)

    def theirs() -> Any:
        total, shares = np.zeros((16, 16, 66, 66), F32), g / F32(9)
        for i, j in np.ndindex(3, 3):
            total[:, :, i : i + 64, j : j + 64] += shares
        return (total[:, :, 1:-1, 1:-1],)

    call = gives(lambda: f.avg_pool2d_backward(slope, input, 3, 1, 1))
    return Case("average pool of 3 x 3, gradient", FLAT, call, theirs, 1e-5)


def largest(rng: np.random.Generator) -> Case:
    x = flat(rng)
    (input,) = device(x)

    def theirs() -> Any:
        wide = widened(x, -np.inf)
        found = wide[:, :, 0:64:2, 0:64:2]
        for i, j in np.ndindex(3, 3):
            found = np.maximum(found, wide[:, :, i : i + 63 : 2, j : j + 63 : 2])
        return (found,)

    return Case("largest of 3 x 3", FLAT, gives(lambda: f.max_pool2d(input, 3, 2, 1)), theirs, 0)


def cells_of(x: Any) -> Any:
    """Windows of 2 in each direction, the elements of each behind it."""
    spatial = x.ndim - 2
    shape = list(x.shape[:2])
    for size in x.shape[2:]:
        shape += [size // 2, 2]
    order = [0, 1, *range(2, 2 + 2 * spatial, 2), *range(3, 3 + 2 * spatial, 2)]
    cells = x.reshape(shape).transpose(order)
    return cells.reshape(*cells.shape[: 2 + spatial], -1)


def places_of(x: Any) -> Any:
    """Where the largest element of each of those windows lies in its plane."""
    at = cells_of(x).argmax(-1)
    parts = np.unravel_index(at, (2,) * (x.ndim - 2))
    starts = np.indices(at.shape)[2:] * 2
    coordinates = tuple(start + part for start, part in zip(starts, parts, strict=True))
    return np.ravel_multi_index(coordinates, x.shape[2:])


def with_places(rng: np.random.Generator) -> Case:
    x = flat(rng)
    (input,) = device(x)
    call = gives(lambda: f.max_pool2d_with_indices(input, 2))
    return Case(
        "largest of 2 x 2 and where", FLAT, call, lambda: (cells_of(x).max(-1), places_of(x))[:1], 0
    )


def deep_with_places(rng: np.random.Generator) -> Case:
    x = deep(rng)
    (input,) = device(x)
    call = gives(lambda: f.max_pool3d_with_indices(input, 2))
    return Case(
        "largest of 2 x 2 x 2 and where",
        DEEP,
        call,
        lambda: (cells_of(x).max(-1), places_of(x))[:1],
        0,
    )


def put(g: Any, at: Any, shape: tuple[int, ...]) -> Any:
    """Each slope where its place says; the windows lie apart."""
    planes = np.zeros((shape[0] * shape[1], int(np.prod(shape[2:]))), F32)
    np.put_along_axis(planes, at.reshape(len(planes), -1), g.reshape(len(planes), -1), 1)
    return planes.reshape(shape)


def largest_gradient(rng: np.random.Generator) -> Case:
    x, g = flat(rng), flat(rng, 32)
    at = places_of(x)
    input, slope = device(x, g)
    _, indices = f.max_pool2d_with_indices(input, 2)
    call = gives(lambda: f.max_pool2d_with_indices_backward(slope, input, indices, 2))
    return Case("largest of 2 x 2, gradient", FLAT, call, lambda: (put(g, at, x.shape),), 0)


def largest_overlapping_gradient(rng: np.random.Generator) -> Case:
    x, g = flat(rng), flat(rng, 32)
    input, slope = device(x, g)
    _, indices = f.max_pool2d_with_indices(input, 3, 2, 1)
    at = indices.numpy().reshape(256, -1).astype(np.int64)

    def theirs() -> Any:
        planes = np.zeros((256, 64 * 64), F32)
        np.add.at(planes, (np.arange(256)[:, None], at), g.reshape(256, -1))
        return (planes.reshape(x.shape),)

    call = gives(lambda: f.max_pool2d_with_indices_backward(slope, input, indices, 3, 2, 1))
    return Case("largest of 3 x 3, gradient", FLAT, call, theirs, 1e-5)


def deep_largest_gradient(rng: np.random.Generator) -> Case:
    x, g = deep(rng), deep(rng, 8, 16, 16)
    at = places_of(x)
    input, slope = device(x, g)
    _, indices = f.max_pool3d_with_indices(input, 2)
    call = gives(lambda: f.max_pool3d_with_indices_backward(slope, input, indices, 2))
    return Case("largest of 2 x 2 x 2, gradient", DEEP, call, lambda: (put(g, at, x.shape),), 0)


def unpooling(rng: np.random.Generator) -> Case:
    x, g = flat(rng), flat(rng, 32)
    at = places_of(x)
    input, indices = device(g, at)
    call = gives(lambda: f.max_unpool2d(input, indices, (64, 64)))
    return Case("largest of 2 x 2 put back", FLAT, call, lambda: (put(g, at, x.shape),), 0)


def cell_averages(rng: np.random.Generator) -> Case:
    x = flat(rng)
    (input,) = device(x)

    def theirs() -> Any:
        return (x.reshape(16, 16, 8, 8, 8, 8).mean((3, 5)),)

    call = gives(lambda: f.adaptive_avg_pool2d(input, 8))
    return Case("adaptive average pool", FLAT, call, theirs, 1e-5)


def cell_maxima(rng: np.random.Generator) -> Case:
    x = flat(rng)
    (input,) = device(x)

    def theirs() -> Any:
        cells = x.reshape(16, 16, 32, 2, 32, 2).max((3, 5))
        return (cells,)

    call = gives(lambda: f.adaptive_max_pool2d(input, 32))
    return Case("adaptive largest", FLAT, call, theirs, 0)


def cell_maxima_gradient(rng: np.random.Generator) -> Case:
    x, g = flat(rng), flat(rng, 32)
    at = places_of(x)
    input, slope = device(x, g)
    _, indices = f.adaptive_max_pool2d(input, 32)
    call = gives(lambda: f.adaptive_max_pool2d_backward(slope, input, indices))
    return Case("adaptive largest, gradient", FLAT, call, lambda: (put(g, at, x.shape),), 0)


def deep_average(rng: np.random.Generator) -> Case:
    x = deep(rng)
    (input,) = device(x)
    call = gives(lambda: f.avg_pool3d(input, 2))
    return Case(
        "average pool of 2 x 2 x 2", DEEP, call, lambda: (x.reshape(CUBES).mean((3, 5, 7)),), 1e-5
    )


def deep_average_gradient(rng: np.random.Generator) -> Case:
    x, g = deep(rng), deep(rng, 8, 16, 16)
    input, slope = device(x, g)

    def theirs() -> Any:
        return ((g / F32(8)).repeat(2, -1).repeat(2, -2).repeat(2, -3),)

    call = gives(lambda: f.avg_pool3d_backward(slope, input, 2))
    return Case("average pool of 2 x 2 x 2, gradient", DEEP, call, theirs, 0)


def deep_cells(rng: np.random.Generator) -> Case:
    x = deep(rng)
    (input,) = device(x)

    def theirs() -> Any:
        return (x.reshape(8, 8, 4, 4, 4, 8, 4, 8).mean((3, 5, 7)),)

    call = gives(lambda: f.adaptive_avg_pool3d(input, 4))
    return Case("adaptive average pool of volumes", DEEP, call, theirs, 1e-5)


def deep_cells_gradient(rng: np.random.Generator) -> Case:
    x, g = deep(rng), deep(rng, 4, 4, 4)
    input, slope = device(x, g)

    def theirs() -> Any:
        return ((g / F32(256)).repeat(8, -1).repeat(8, -2).repeat(4, -3),)

    call = gives(lambda: f.adaptive_avg_pool3d_backward(slope, input))
    return Case("adaptive pool of volumes, gradient", DEEP, call, theirs, 0)


def deep_cell_maxima(rng: np.random.Generator) -> Case:
    x = deep(rng)
    (input,) = device(x)
    call = gives(lambda: f.adaptive_max_pool3d(input, (8, 16, 16)))
    return Case(
        "adaptive largest of volumes", DEEP, call, lambda: (x.reshape(CUBES).max((3, 5, 7)),), 0
    )


def constant_margins(rng: np.random.Generator) -> Case:
    x = flat(rng)
    (input,) = device(x)
    call = gives(lambda: f.pad(input, [2, 2, 2, 2]))
    pad = [(0, 0), (0, 0), (2, 2), (2, 2)]
    return Case("margins of a constant", FLAT, call, lambda: (np.pad(x, pad),), 0)


def edges(rng: np.random.Generator) -> Case:
    x = deep(rng)
    (input,) = device(x)
    call = gives(lambda: f.pad(input, [1] * 6, "replicate"))
    pad = [(0, 0), (0, 0), *[(1, 1)] * 3]
    return Case("margins of the edge, volumes", DEEP, call, lambda: (np.pad(x, pad, "edge"),), 0)


def circle(rng: np.random.Generator) -> Case:
    x = flat(rng)
    (input,) = device(x)
    call = gives(lambda: f.circular_pad2d(input, [2, 2, 2, 2]))
    pad = [(0, 0), (0, 0), (2, 2), (2, 2)]
    return Case("margins in a circle", FLAT, call, lambda: (np.pad(x, pad, "wrap"),), 0)


def edges_gradient(rng: np.random.Generator) -> Case:
    x, g = flat(rng), flat(rng, 66)
    input, slope = device(x, g)

    def theirs() -> Any:
        found = g[:, :, 1:-1].copy()
        found[:, :, 0] += g[:, :, 0]
        found[:, :, -1] += g[:, :, -1]
        across = found[..., 1:-1].copy()
        across[..., 0] += found[..., 0]
        across[..., -1] += found[..., -1]
        return (across,)

    call = gives(lambda: f.replication_pad2d_backward(slope, input, [1] * 4))
    return Case("margins of the edge, gradient", FLAT, call, theirs, 1e-5)


def circle_gradient(rng: np.random.Generator) -> Case:
    x, g = deep(rng), deep(rng, 18, 34, 34)
    input, slope = device(x, g)

    def theirs() -> Any:
        found = g
        for axis in (2, 3, 4):
            turned = np.moveaxis(found, axis, 0)
            inner = turned[1:-1].copy()
            inner[0] += turned[-1]
            inner[-1] += turned[0]
            found = np.moveaxis(inner, 0, axis)
        return (found,)

    call = gives(lambda: f.circular_pad3d_backward(slope, input, [1] * 6))
    return Case("margins in a circle, gradient", DEEP, call, theirs, 1e-5)


def nearest(rng: np.random.Generator) -> Case:
    x = flat(rng, 32)
    (input,) = device(x)
    call = gives(lambda: f.interpolate(input, (64, 64)))
    return Case("resizing, nearest", FLAT, call, lambda: (x.repeat(2, 2).repeat(2, 3),), 0)


def nearest_apart(rng: np.random.Generator) -> Case:
    x, at = flat(rng, 48), np.arange(64) * 48 // 64
    (input,) = device(x)
    call = gives(lambda: f.interpolate(input, (64, 64)))
    case = "16 x 16 x 48 x 48 to 64 x 64, float32"
    return Case("resizing, nearest, 4/3", case, call, lambda: (x[:, :, at[:, None], at],), 0)


def nearest_gradient(rng: np.random.Generator) -> Case:
    x, g = flat(rng, 32), flat(rng)
    input, slope = device(x, g)
    call = gives(lambda: f.interpolate_backward(slope, input, 2.0))
    return Case(
        "resizing, nearest, gradient", FLAT, call, lambda: (g.reshape(CELLS).sum((3, 5)),), 1e-5
    )


def nearest_volume(rng: np.random.Generator) -> Case:
    x = deep(rng, 8, 16, 16)
    (input,) = device(x)

    def theirs() -> Any:
        return (x.repeat(2, 2).repeat(2, 3).repeat(2, 4),)

    call = gives(lambda: f.interpolate(input, (16, 32, 32)))
    return Case("resizing of volumes, nearest", DEEP, call, theirs, 0)


def cubic_matrix(size: int, count: int) -> Any:
    """The share of each element, by column, in each place, with a slope of -3/4 at the edges."""
    at = (np.arange(count) + 0.5) * (size / count) - 0.5
    found, a = np.zeros((count, size)), -0.75
    for k in range(-1, 3):
        place = np.floor(at) + k
        d = abs(at - place)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        column = np.clip(place, 0, size - 1).astype(int)
        np.add.at(found, (np.arange(count), column), np.where(d <= 1, near, far))
    return found.astype(F32)


def cubic(rng: np.random.Generator) -> Case:
    x, weights = flat(rng, 32), cubic_matrix(32, 64)
    (input,) = device(x)
    call = gives(lambda: f.interpolate(input, (64, 64), mode="bicubic"))
    case = "16 x 16 x 32 x 32 to 64 x 64, float32"
    return Case("resizing, bicubic", case, call, lambda: (weights @ x @ weights.T,), 1e-4)


def cubic_gradient(rng: np.random.Generator) -> Case:
    x, g, weights = flat(rng, 32), flat(rng), cubic_matrix(32, 64)
    input, slope = device(x, g)
    call = gives(lambda: f.interpolate_backward(slope, input, 2.0, "bicubic"))
    return Case(
        "resizing, bicubic, gradient", FLAT, call, lambda: (weights.T @ (g @ weights),), 1e-4
    )


def smoothed(rng: np.random.Generator) -> Case:
    x = flat(rng)
    at = (np.arange(32)[:, None] + 0.5) * 2 - 0.5
    weights = np.maximum(0, 1 - abs(at - np.arange(64)) / 2)
    weights = (weights / weights.sum(1, keepdims=True)).astype(F32)
    (input,) = device(x)
    call = gives(lambda: f.interpolate(input, (32, 32), mode="bilinear", antialias=True))
    return Case("resizing, smoothed", FLAT, call, lambda: (weights @ x @ weights.T,), 1e-4)


def trilinear(rng: np.random.Generator) -> Case:
    x = deep(rng, 8, 16, 16)
    down, across = linear_matrix(8, 16), linear_matrix(16, 32)
    (input,) = device(x)

    def theirs() -> Any:
        planes = across @ (x @ across.T)
        return ((down @ planes.reshape(64, 8, -1)).reshape(8, 8, 16, 32, 32),)

    call = gives(lambda: f.interpolate(input, (16, 32, 32), mode="trilinear"))
    return Case("resizing of volumes, trilinear", DEEP, call, theirs, 1e-4)


def linear(rng: np.random.Generator) -> Case:
    x = normal(rng, 16, 64, 512)
    place = np.clip((np.arange(1024) + 0.5) / 2 - 0.5, 0, None)
    low = place.astype(int)
    high, share = np.minimum(low + 1, 511), (place - low).astype(F32)
    (input,) = device(x)

    def theirs() -> Any:
        return (x[..., low] * (1 - share) + x[..., high] * share,)

    call = gives(lambda: f.interpolate(input, (1024,), mode="linear"))
    return Case("resizing of lines", "16 x 64 x 512 to 1,024, float32", call, theirs, 1e-5)


def sampling_gradient(rng: np.random.Generator) -> Case:
    x, g = flat(rng), flat(rng)
    places = (rng.random((16, 64, 64, 2)) * 1.9 - 0.95).astype(F32)
    input, grid, slope = device(x, places, g)

    def theirs() -> Any:
        at = ((places + 1) * 64 - 1) / 2
        low = np.floor(at).astype(np.int64)
        part, n = at - low, np.arange(16)[:, None, None]
        last, slopes = x.transpose(0, 2, 3, 1), g.transpose(0, 2, 3, 1)
        found, by_place = np.zeros(last.shape, F32), np.zeros(places.shape, F32)
        for right, down in np.ndindex(2, 2):
            column, row = low[..., 0] + right, low[..., 1] + down
            shares = [abs(1 - right - part[..., 0]), abs(1 - down - part[..., 1])]
            np.add.at(found, (n, row, column), slopes * (shares[0] * shares[1])[..., None])
            pull = (last[n, row, column] * slopes).sum(-1) * F32(32)
            by_place[..., 0] += pull * shares[1] * (2 * right - 1)
            by_place[..., 1] += pull * shares[0] * (2 * down - 1)
        return found.transpose(0, 3, 1, 2), by_place

    call = gives(lambda: f.grid_sample_backward(slope, input, grid))
    return Case("grid sampling, gradient", FLAT, call, lambda: theirs()[:1], 1e-3)


def deep_sampling(rng: np.random.Generator) -> Case:
    x = deep(rng)
    places = (rng.random((8, 16, 32, 32, 3)) * 1.8 - 0.9).astype(F32)
    input, grid = device(x, places)

    def theirs() -> Any:
        sizes = np.array([32, 32, 16], F32)
        at = ((places + 1) * sizes - 1) / 2
        low = np.floor(at).astype(np.int64)
        part, n, last = at - low, np.arange(8)[:, None, None, None], x.transpose(0, 2, 3, 4, 1)
        found = np.zeros(last.shape, F32)
        for corner in np.ndindex(2, 2, 2):
            share = abs(1 - np.array(corner, F32) - part).prod(-1)
            column, row, plane = (low[..., k] + corner[k] for k in range(3))
            found += last[n, plane, row, column] * share[..., None]
        return (found.transpose(0, 4, 1, 2, 3),)

    call = gives(lambda: f.grid_sample(input, grid))
    return Case("grid sampling of volumes", DEEP, call, theirs, 1e-3)


def columns(rng: np.random.Generator) -> Case:
    x = flat(rng, 32)
    (input,) = device(x)

    def theirs() -> Any:
        windows = np.lib.stride_tricks.sliding_window_view(widened(x), (3, 3), (2, 3))
        return (windows.transpose(0, 1, 4, 5, 2, 3).reshape(16, 16 * 9, 32 * 32),)

    call = gives(lambda: f.unfold(input, 3, padding=1))
    return Case("columns of windows", "16 x 16 x 32 x 32, 3 x 3, float32", call, theirs, 0)


def unfolding_gradient(rng: np.random.Generator) -> Case:
    g = normal(rng, 64, 1022 * 5, 4)
    (slope,), out = device(g), ap.empty((64, 1022 * 5 + 3), "float32")

    def theirs() -> Any:
        found = np.zeros((64, 1022 * 5 + 3), F32)
        for k in range(4):
            found[:, k : k + 1022 * 5] += g[:, :, k]
        return (found,)

    call = runs(lambda: ops.unfold_grad(slope, list(out.shape), 1, 4, 1, out), out)
    return Case("windows of lines, gradient", "64 x 5,110 x 4, float32", call, theirs, 1e-5)


def regions(rng: np.random.Generator) -> tuple[Any, Any]:
    """Boxes of images of 64 x 64, and the places and shares of 2 x 2 samples a bin of 7 x 7."""
    corner, size = rng.uniform(0, 30, (256, 2)), rng.uniform(8, 30, (256, 2))
    boxes = np.concatenate([rng.integers(0, 4, (256, 1)), corner, corner + size], 1).astype(F32)
    steps = (np.arange(14, dtype=F32) + F32(0.5)) / F32(14)
    at = boxes[:, None, 1:3] + steps[:, None] * (boxes[:, 3:] - boxes[:, 1:3])[:, None]
    return boxes, at  # at: box, sample, (x, y)


def corners(at: Any) -> Any:
    """Rows, columns and shares of the four elements around each sample."""
    low = np.floor(at).astype(np.int64)
    part = at - low
    for down, right in np.ndindex(2, 2):
        rows, columns = low[:, :, None, 1] + down, low[:, None, :, 0] + right
        share = abs(1 - down - part[:, :, None, 1]) * abs(1 - right - part[:, None, :, 0])
        yield rows, columns, share.astype(F32)


def region_averages(rng: np.random.Generator) -> Case:
    x, (boxes, at) = normal(rng, 4, 64, 64, 64), regions(rng)
    input, given = device(x, boxes)

    def theirs() -> Any:
        last, n = x.transpose(0, 2, 3, 1), boxes[:, 0].astype(int)[:, None, None]
        found = np.zeros((256, 14, 14, 64), F32)
        for rows, columns, share in corners(at):
            found += last[n, rows, columns] * share[..., None]
        return (found.reshape(256, 7, 2, 7, 2, 64).mean((2, 4)).transpose(0, 3, 1, 2),)

    call = gives(lambda: f.roi_align(input, given, 7, sampling_ratio=2))
    case = "256 boxes of 4 x 64 x 64 x 64, 7 x 7 bins, float32"
    return Case("regions of images", case, call, theirs, 1e-3)


def region_gradient(rng: np.random.Generator) -> Case:
    g, (boxes, at) = normal(rng, 256, 64, 7, 7), regions(rng)
    slope, given = device(g, boxes)

    def theirs() -> Any:
        found, n = np.zeros((4, 64, 64, 64), F32), boxes[:, 0].astype(int)[:, None, None]
        shares = (g.transpose(0, 2, 3, 1) / F32(4)).repeat(2, 1).repeat(2, 2)
        for rows, columns, share in corners(at):
            np.add.at(found, (n, rows, columns), shares * share[..., None])
        return (found.transpose(0, 3, 1, 2),)

    shape = [4, 64, 64, 64]
    call = gives(lambda: f.roi_align_backward(slope, given, shape, sampling_ratio=2))
    case = "256 boxes of 4 x 64 x 64 x 64, 7 x 7 bins, float32"
    return Case("regions of images, gradient", case, call, theirs, 1e-3)


FAMILIES: Families = (
    average, average_gradient, largest, with_places, largest_gradient, largest_overlapping_gradient,
    unpooling, cell_averages, cell_maxima, cell_maxima_gradient, deep_average,
    deep_average_gradient, deep_with_places, deep_largest_gradient, deep_cells,
    deep_cells_gradient, deep_cell_maxima, constant_margins, edges, circle, edges_gradient,
    circle_gradient, nearest, nearest_apart, nearest_gradient, nearest_volume, cubic,
    cubic_gradient, smoothed, trilinear, linear, sampling_gradient, deep_sampling, columns,
    unfolding_gradient, region_averages, region_gradient,
)  # fmt: skip


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
