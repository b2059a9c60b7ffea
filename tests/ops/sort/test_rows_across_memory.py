# SPDX-License-Identifier: Apache-2.0
"""Rows whose elements lie far apart, and rows of lengths at which the way of ordering changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import aclnn_py as ap

Array = npt.NDArray[Any]
ROWS, COLUMNS = 97, 103  # no multiples of a register or of a tile


def drawn(dtype: Any) -> Array:
    rng = np.random.default_rng(11)
    return (rng.standard_normal((ROWS, COLUMNS)) * 50).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64, np.complex128])
def test_transposed_and_reversed_copies(device: ap.Device, dtype: Any) -> None:
    array = (np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 251).astype(dtype)
    x = ap.from_numpy(array)
    out = ap.empty((COLUMNS, ROWS), dtype)
    ap.ops.permute(x, [1, 0], out)
    np.testing.assert_array_equal(out.numpy(), array.T)
    for dims in ([0], [1], [0, 1]):
        out = ap.empty(array.shape, dtype)
        ap.ops.flip(x, dims, out)
        np.testing.assert_array_equal(out.numpy(), np.flip(array, tuple(dims)))


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_running_results_down_the_columns(device: ap.Device, dtype: Any) -> None:
    array = drawn(dtype)
    x, wide = ap.from_numpy(array), np.float64 if dtype == np.float32 else np.int64
    total = ap.empty(array.shape, dtype)
    ap.ops.cumsum(x, 0, dtype, total)
    expected = np.cumsum(array, 0, dtype=wide).astype(dtype)
    np.testing.assert_allclose(total.numpy(), expected, rtol=1e-5, atol=1e-3)
    most, places = ap.empty(array.shape, dtype), ap.empty(array.shape, np.int64)
    ap.ops.cummax(x, 0, most, places)
    np.testing.assert_array_equal(most.numpy(), np.maximum.accumulate(array, 0))
    np.testing.assert_array_equal(np.take_along_axis(array, places.numpy(), 0), most.numpy())


def test_results_of_columns(device: ap.Device) -> None:
    array = drawn(np.float32)
    x, spread, place = (
        ap.from_numpy(array),
        ap.empty((COLUMNS,), np.float32),
        ap.empty((COLUMNS,), np.int64),
    )
    ap.ops.std(x, [0], 1, False, spread)
    np.testing.assert_allclose(spread.numpy(), array.std(0, ddof=1, dtype=np.float64), rtol=1e-6)
    ap.ops.arg_max(x, 0, False, place)
    np.testing.assert_array_equal(place.numpy(), array.argmax(0))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("width", [79, 80, 81, 256, 1025, 16385])
def test_rows_of_every_length_are_ordered(device: ap.Device, dtype: Any, width: int) -> None:
    rng = np.random.default_rng(width)
    array = rng.integers(0, 200, (3, width)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        array[0, ::7], array[1, 3], array[1, 5] = -array[0, ::7], np.nan, -0.0
        array[2] *= 1e-3
    elif np.dtype(dtype).kind == "i":
        array[0] -= 100
    for values, axis in ((array, 1), (np.ascontiguousarray(array.T), 0)):
        for descending in (False, True):
            x = ap.from_numpy(values)
            out, places = ap.full(values.shape, 1, dtype), ap.empty(values.shape, np.int64)
            ap.ops.sort(x, True, axis, descending, out, places)
            np.testing.assert_array_equal(places.numpy(), stable_order(values, axis, descending))
            np.testing.assert_array_equal(
                out.numpy(), np.take_along_axis(values, places.numpy(), axis)
            )


def stable_order(values: Array, axis: int, descending: bool) -> Array:
    """Equal elements keep their order; NaN counts as the greatest."""
    if not descending:
        return np.argsort(values, axis=axis, kind="stable")
    length = values.shape[axis]
    backwards = np.argsort(np.flip(values, axis), axis=axis, kind="stable")
    return length - 1 - np.flip(backwards, axis)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_values_are_looked_up_in_rows(device: ap.Device, dtype: Any, right: bool) -> None:
    rng = np.random.default_rng(5)
    side: Any = "right" if right else "left"
    for width in (0, 1, 2, 7, 64, 1000):
        rows = np.sort(rng.integers(0, 300, (2, width)).astype(dtype), axis=1)
        sought = rng.integers(-5, 305, (2, 1003)).astype(dtype)
        out = ap.full(sought.shape, -1, np.int64)
        ap.ops.search_sorted(ap.from_numpy(rows), ap.from_numpy(sought), False, right, None, out)
        expected = [
            np.searchsorted(row, line, side) for row, line in zip(rows, sought, strict=True)
        ]
        np.testing.assert_array_equal(out.numpy(), np.stack(expected))


@pytest.mark.parametrize(
    "shifts, dims", [([3], [1]), ([-5, 40], [0, 1]), ([1234], []), ([0], [0]), ([97], [0])]
)
def test_roll_of_views(device: ap.Device, shifts: list[int], dims: list[int]) -> None:
    whole = drawn(np.float32)
    amounts, axes = (shifts, tuple(dims)) if dims else (shifts[0], None)
    for view in (lambda t: t, lambda t: t[:, 3:90], lambda t: t.T):
        array = view(whole)
        out = ap.full(array.shape, 7, np.float32)
        ap.ops.roll(view(ap.from_numpy(whole)), shifts, dims, out)
        np.testing.assert_array_equal(out.numpy(), np.roll(array, amounts, axes))
