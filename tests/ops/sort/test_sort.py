# SPDX-License-Identifier: Apache-2.0
"""Sorting, selection and counting against NumPy; results are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place, refusal, values

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]


def some(rng: Rng, shape: tuple[int, ...], dtype: Dtype) -> Array:
    return values(rng, shape, dtype, 0 if dtype.kind == "u" else -20, 20)


def ordered(x: Array, dim: int, descending: bool) -> Array:
    """Positions of a stable order; equal values keep their places either way."""
    key = x.astype(np.float64)
    return np.argsort(-key if descending else key, axis=dim, kind="stable")


def sorting(operator: str, shape: tuple[int, ...], dim: int, descending: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        order = ordered(x, dim, descending)
        if operator == "Argsort":
            return [In(x), dim, descending, Out(order, np.int64)]
        sorted_ = np.take_along_axis(x, order, dim)
        return [In(x), True, dim, descending, Out(sorted_, dtype), Out(order, np.int64)]

    return Case(operator, build, f"{shape}@{dim}{descending}".replace(" ", ""))


def top(shape: tuple[int, ...], k: int, dim: int, largest: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        order = np.take(ordered(x, dim, largest), np.arange(k), dim)
        chosen = np.take_along_axis(x, order, dim)
        return [In(x), k, dim, largest, True, Out(chosen, dtype), Out(order, np.int64)]

    return Case("Topk", build, f"{shape}{k}@{dim}{largest}".replace(" ", ""))


def kth(dim: int, keep: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, (4, 9, 5), dtype)
        order = np.take(ordered(x, dim, False), [2], dim)
        chosen = np.take_along_axis(x, order, dim)
        if not keep:
            order, chosen = order.squeeze(dim), chosen.squeeze(dim)
        return [In(x), 3, dim, keep, Out(chosen, dtype), Out(order, np.int64)]

    return Case("Kthvalue", build, f"{dim}{keep}")


def unique(operator: str, inverse: bool, counts: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = values(rng, (6, 7), dtype, 0, 6)
        whole = np.round(x.astype(np.float64)).astype(dtype) if dtype.kind not in "iub" else x
        found = np.unique(whole.astype(np.float64), return_inverse=True, return_counts=True)
        tail = [
            Out(found[0].astype(dtype), dtype),
            Out(found[1].reshape(x.shape), np.int64)
            if inverse
            else Out(np.full((1,), 77), np.int64),
        ]
        if operator == "Unique":
            return [In(whole), True, inverse, *tail]
        last = Out(found[2], np.int64) if counts else Out(np.full((1,), 77), np.int64)
        return [In(whole), True, inverse, counts, *tail, last]

    optional = {5, 6} - ({5} if inverse else set()) - ({6} if counts else set())
    if operator == "Unique":
        optional = set() if inverse else {4}
    return Case(
        operator, build, f"{inverse}{counts}", nullable=frozenset(optional), free_shapes=True
    )


def searched(rows: tuple[int, ...], right: bool, narrow: bool, sorter: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        line = np.sort(some(rng, (*rows, 9), dtype).astype(np.float64), axis=-1).astype(dtype)
        x = some(rng, (*rows, 4) if rows else (3, 4), dtype)
        side = "right" if right else "left"
        lines, sought = line.reshape(-1, 9), x.reshape(-1, 4)
        result = np.stack(
            [
                np.searchsorted(
                    lines[i if rows else 0].astype(np.float64), part.astype(np.float64), side
                )
                for i, part in enumerate(sought)
            ]
        ).reshape(x.shape)
        order = None
        if sorter:
            mixed = rng.permuted(np.broadcast_to(np.arange(9), line.shape), axis=-1)
            shuffled = np.empty_like(line)
            np.put_along_axis(shuffled, mixed, line, axis=-1)
            line, order = shuffled, In(mixed)
        return [
            In(line),
            In(x),
            narrow,
            right,
            order,
            Out(result, np.int32 if narrow else np.int64),
        ]

    return Case(
        "SearchSorted",
        build,
        f"{rows}{right}{narrow}{sorter}".replace(" ", ""),
        nullable=frozenset({4}),
    )


def searched_one(rng: Rng, dtype: Dtype) -> Problem:
    line = np.sort(some(rng, (9,), dtype).astype(np.float64)).astype(dtype)
    value = 3 if dtype.kind in "iu" else 3.25
    return [
        In(line),
        value,
        False,
        True,
        None,
        Out(np.array(np.searchsorted(line.astype(np.float64), value, "right")), np.int64),
    ]


def counted(weights: Any) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = rng.integers(0, 9, 50).astype(dtype)
        x[0] = 8
        factor = None if weights is None else rng.integers(0, 5, 50).astype(weights)
        result = np.bincount(x.astype(np.int64), factor, 12)
        kind = np.int64 if weights is None else np.float64
        return [In(x), None if factor is None else In(factor), 12, Out(result, kind)]

    return Case("Bincount", build, str(weights), nullable=frozenset({1}), free_shapes=False)


def histogram(low: float, high: float) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = rng.integers(0, 17, (5, 30)).astype(dtype)
        ends = (low, high) if low != high else (float(x.min()), float(x.max()))
        result, _ = np.histogram(x.astype(np.float64), 8, ends)
        return [In(x), 8, low, high, Out(result, dtype)]

    return Case("Histc", build, f"{low}-{high}")


CASES = [
    *(
        sorting(name, shape, dim, down)
        for name in ("Sort", "Argsort")
        for shape, dim, down in (
            ((7, 9), -1, False),
            ((7, 9), 0, True),
            ((3, 40, 2), 1, True),
            ((300,), 0, False),
            ((0, 4), 1, False),
        )
    ),
    top((5, 30), 4, -1, True),
    top((5, 30), 7, 1, False),
    top((30, 5), 3, 0, True),
    top((4, 6), 6, 1, True),
    top((4, 6), 0, 1, True),
    kth(1, False),
    kth(-1, True),
    kth(0, False),
    unique("Unique", True, False),
    unique("Unique", False, False),
    unique("Unique2", True, True),
    unique("Unique2", False, True),
    unique("Unique2", False, False),
    searched((), False, False, False),
    searched((), True, True, False),
    searched((2, 3), False, True, False),
    searched((5,), True, False, True),
    Case("SearchSorteds", searched_one, nullable=frozenset({4})),
    counted(None),
    counted(np.float32),
    counted(np.int32),
    histogram(0, 16),
    histogram(4, 12),
    histogram(0, 0),
]

TestTable = suite(CASES)


@pytest.mark.parametrize("descending", [False, True])
def test_nan_is_the_greatest(descending: bool) -> None:
    x = np.array([1, np.nan, -np.inf, np.inf, np.nan, 0], np.float32)
    out, order = hollow((6,), np.float32), hollow((6,), np.int64)
    ap.ops.sort(place(x), True, 0, descending, out, order)
    expected = [1, 4, 3, 0, 5, 2] if descending else [2, 5, 0, 3, 1, 4]
    assert order.numpy().tolist() == expected
    assert_same(out.numpy(), x[expected])


def test_large_integers_keep_their_order() -> None:
    x = np.array([2**62 + 1, 2**62, -(2**62), 2**62 + 2], np.int64)
    out, order = hollow((4,), np.int64), hollow((4,), np.int64)
    ap.ops.sort(place(x), True, 0, False, out, order)
    assert out.numpy().tolist() == sorted(x.tolist())
    values_, places = hollow((1,), np.int64), hollow((1,), np.int64)
    ap.ops.topk(place(x), 1, 0, True, True, values_, places)
    assert values_.numpy()[0] == 2**62 + 2


def test_sorting_in_place() -> None:
    tensor, order = place(np.array([[3, 1, 2], [9, 7, 8]], np.int32)), hollow((2, 3), np.int64)
    ap.ops.sort(tensor, True, 1, False, tensor, order)
    assert tensor.numpy().tolist() == [[1, 2, 3], [7, 8, 9]]


def test_numbers_outside_are_faults() -> None:
    out = hollow((4,), np.int64)
    fault("aclnnBincount", place(np.array([4])), None, 0, out)
    fault("aclnnBincount", place(np.array([-1])), None, 0, out)
    line, sorter = place(np.array([1.0, 2.0], np.float32)), place(np.array([0, 5]))
    found = hollow((2,), np.int64)
    fault("aclnnSearchSorted", line, line, False, False, sorter, found)
    fault("aclnnUnique", line, True, False, hollow((1,), np.float32), hollow((2,), np.int64))


def test_refusals() -> None:
    x, out, order = (
        place(np.ones((4, 5), np.float32)),
        hollow((4, 5), np.float32),
        hollow((4, 5), np.int64),
    )
    assert refusal("aclnnSort", x, True, 2, False, out, order) == 161002
    assert refusal("aclnnSort", x, True, 0, False, out, hollow((4, 5), np.int32)) == 161002
    small, places = hollow((4, 6), np.float32), hollow((4, 6), np.int64)
    assert refusal("aclnnTopk", x, 6, 1, True, True, small, places) == 161002
    assert refusal("aclnnHistc", x, 0, 0.0, 1.0, hollow((0,), np.float32)) == 161002
    assert refusal("aclnnHistc", x, 2, 2.0, 1.0, hollow((2,), np.float32)) == 161002
    assert refusal("aclnnBincount", place(np.array([1])), None, 5, hollow((3,), np.int64)) == 161002
    line = place(np.ones(4, np.float32))
    assert (
        refusal("aclnnSearchSorted", line, line, True, False, None, hollow((4,), np.int64))
        == 161002
    )


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_a_scalar_is_looked_up_in_the_dtype_of_the_sequence(dtype: type, right: bool) -> None:
    numbers = np.array([1, 2, 3, 1 << 24], dtype)
    for value in (2.5, -0.5, float((1 << 24) + 1)):
        out = hollow((1,), np.int64)
        op("aclnnSearchSorteds")(place(numbers), value, False, right, None, out)
        sought = np.float32(value).astype(dtype)
        side = "right" if right else "left"
        assert out.numpy().tolist() == [np.searchsorted(numbers, sought, side)]


def test_values_are_looked_up_in_the_dtype_in_which_both_meet() -> None:
    numbers = np.array([1 << 24, (1 << 24) + 1, (1 << 24) + 2], np.int64)
    sought, out = np.array([1 << 24], np.float32), hollow((1,), np.int64)
    ap.ops.search_sorted(place(numbers), place(sought), False, True, None, out)
    assert out.numpy().tolist() == [2]  # float32 does not tell the first two
    halves = np.array([2048, 2049], np.int32)
    ap.ops.search_sorted(place(halves), place(np.array([2048], np.float16)), False, True, None, out)
    assert out.numpy().tolist() == [2]


def test_a_search_goes_on_behind_every_nan_it_meets() -> None:
    numbers, out = place(np.array([1, np.nan, np.nan], np.float32)), hollow((3,), np.int64)
    sought = place(np.array([0, 5, np.nan], np.float32))
    for right in (False, True):
        ap.ops.search_sorted(numbers, sought, False, right, None, out)
        # NaN is not above any value, and the middle of the sequence is looked at first.
        assert out.numpy().tolist() == [3, 3, 3]


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_950_hands_out_all_elements_as_they_lie() -> None:
    x = np.array([[3, 1, 2], [5, 9, 7]], np.float32)
    made = Made((2, 3), "float32"), Made((2, 3), "int64")
    with Chip950() as newer:
        found = newer.operator("topk", Given(x, "float32"), 3, 1, True, False, *made)
        np.testing.assert_array_equal(found[0], x)
        np.testing.assert_array_equal(found[1], [[0, 1, 2]] * 2)
        found = newer.operator("topk", Given(x, "float32"), 3, 1, True, True, *made)
        np.testing.assert_array_equal(found[0], -np.sort(-x))
