# SPDX-License-Identifier: Apache-2.0
"""Rows and elements written by index, in the order of the index: any length, with duplicates."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.operators import LAYOUTS, hollow, place

import aclnn_py as ap

from ..problems import fault

# Below, at and between whole lines of memory, of one page, and longer than what is fetched ahead.
BYTES = (63, 64, 65, 130, 1000, 4096, 4100, 8192, 9001)


@pytest.mark.parametrize("width", BYTES)
def test_rows_of_any_length_that_an_index_overwrites(width: int) -> None:
    rng = np.random.default_rng(width)
    x = rng.integers(0, 200, (7, width)).astype(np.uint8)
    source = rng.integers(0, 200, (90, width)).astype(np.uint8)
    index = rng.integers(0, 7, 90)
    index[index == 3] = 2  # one row stays
    last = {row: place for place, row in enumerate(index.tolist())}
    expected = x.copy()
    for row, place_in_source in last.items():
        expected[row] = source[place_in_source]
    table = place(x)
    ap.ops.index_put_impl(table, [place(index)], place(source), False, False)
    np.testing.assert_array_equal(table.numpy(), expected)
    out = hollow(x.shape, np.uint8)
    ap.ops.index_copy(place(x), 0, place(index.astype(np.int32)), place(source), out)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_copy_with_slices_of_another(dim: int, layout: str) -> None:
    rng = np.random.default_rng(dim)
    shape = (6, 5, 40)
    x = rng.standard_normal(shape).astype(np.float32)
    index = np.array([4, 0, 4, 2])
    source = rng.standard_normal((*shape[:dim], 4, *shape[dim + 1 :])).astype(np.float32)
    expected = x.copy()
    np.moveaxis(expected, dim, 0)[index[1:]] = np.moveaxis(source, dim, 0)[1:]
    given = place(x, layout)
    out = hollow(shape, np.float32)
    ap.ops.index_copy(given, dim, place(index), place(source), out)
    np.testing.assert_array_equal(out.numpy(), expected)
    np.testing.assert_array_equal(given.numpy(), x)
    np.testing.assert_array_equal(
        ap.functional.index_copy(given, dim, place(index), place(source)).numpy(), expected
    )


def test_a_copy_may_be_written_over_what_it_reads() -> None:
    x = np.arange(4 * 32, dtype=np.float32).reshape(4, 32)
    index = np.array([2, 0])
    expected = x.copy()
    expected[index] = x[:2]
    table = place(x)
    ap.ops.index_copy(table, 0, place(index), table[:2], table)
    np.testing.assert_array_equal(table.numpy(), expected)
    fresh, out = place(x), hollow(x.shape, np.float32)
    ap.ops.inplace_copy(out, fresh)
    ap.ops.index_copy(fresh, 0, place(index), out[:2], out)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("bad", [4, -1])
def test_a_copy_with_a_row_outside_is_a_device_fault(bad: int) -> None:
    x, source = place(np.zeros((4, 32), np.float32)), place(np.ones((2, 32), np.float32))
    text = fault("aclnnIndexCopy", x, 0, place(np.array([0, bad])), source, x)
    assert str(bad) in text
    out = hollow((4, 32), np.float32)
    fault("aclnnIndexCopy", x, 0, place(np.array([bad, 1])), source, out)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16", "int8"])
def test_elements_are_added_in_the_order_of_the_index(dtype: str) -> None:
    rng = np.random.default_rng(5)
    at = rng.integers(0, 9, (2, 3000))
    x = rng.integers(-9, 9, (9, 9)).astype(dtype)
    s = (rng.standard_normal(3000) * 40).astype(dtype)
    expected = x.copy()
    np.add.at(expected, tuple(at), s)
    table = place(x)
    ap.ops.index_put_impl(table, [place(part) for part in at], place(s), True, False)
    np.testing.assert_array_equal(table.numpy(), expected)


def test_an_index_outside_among_many_is_a_device_fault() -> None:
    at = np.zeros(3000, np.int64)
    at[2500] = -10
    table = place(np.zeros((9,), np.float32))
    text = fault(
        "aclnnIndexPutImpl", table, [place(at)], place(np.ones(3000, np.float32)), True, False
    )
    assert "-10" in text
