# SPDX-License-Identifier: Apache-2.0
"""Median and its kin against NumPy: the lower of two middle values, and where it lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import NUMPY, hollow, op, place, refusal, values

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
DTYPES = ["FLOAT", "FLOAT16", "BFLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8"]


def assert_same(found: Array, wanted: Array) -> None:
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


def some(name: str, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(len(name))
    made: Array = values(rng, shape, NUMPY[name], 0 if name == "UINT8" else -9, 9)
    if name in ("FLOAT", "FLOAT16", "BFLOAT16"):
        made[rng.random(shape) < 0.3] = np.nan
    return made


def medians(x: Array, dim: int, numbers_only: bool) -> tuple[Array, Array]:
    """Values and places along a dimension; of equal values the one in front."""
    key = x.astype(np.float64)
    order = np.argsort(key, axis=dim, kind="stable")
    count = np.full(x.sum(axis=dim).shape, x.shape[dim])
    if numbers_only:
        count = np.maximum((~np.isnan(key)).sum(axis=dim), 1)
    middle = np.expand_dims((count - 1) // 2, dim)
    where = np.take_along_axis(order, middle, dim)
    return np.take_along_axis(x, where, dim), where


@pytest.mark.parametrize("layout", ["dense", "stepped", "transposed"])
@pytest.mark.parametrize("name", DTYPES)
def test_medians_of_rows(name: str, layout: str) -> None:
    x = some(name, (4, 7, 6))
    x[1] = x[1, :1]
    if x.dtype.kind not in "iu":
        x[0, :, 0] = np.nan
    for operator, numbers_only in (("MedianDim", False), ("NanMedianDim", True)):
        for dim, keeps in ((1, False), (-1, True), (0, False)):
            value, where = medians(x, dim, numbers_only)
            if not keeps:
                value, where = value.squeeze(dim), where.squeeze(dim)
            found = hollow(value.shape, x.dtype, layout), hollow(where.shape, np.int64, layout)
            op("aclnn" + operator)(place(x, layout), dim, keeps, *found)
            assert_same(found[0].numpy(), value)
            np.testing.assert_array_equal(found[1].numpy(), where)


@pytest.mark.parametrize("layout", ["dense", "stepped", "transposed"])
@pytest.mark.parametrize("name", DTYPES)
def test_medians_of_all_elements(name: str, layout: str) -> None:
    x = some(name, (5, 6))
    for operator, numbers_only in (("Median", False), ("NanMedian", True)):
        out = hollow((1,), x.dtype)
        op("aclnn" + operator)(place(x, layout), out)
        assert_same(out.numpy(), medians(x.reshape(-1), 0, numbers_only)[0])


ROWS = {
    "many": lambda rng: rng.standard_normal(3000),
    "equal": lambda rng: np.ones(700),
    "of two kinds": lambda rng: rng.integers(0, 2, 900),
    "with many NaNs": lambda rng: np.where(rng.random(900) < 0.7, np.nan, rng.integers(-9, 9, 900)),
    "ascending": lambda rng: np.arange(1000),
    "with infinities": lambda rng: rng.choice([-np.inf, -0.0, 0.0, 1.0, np.inf], 1100),
    "large": lambda rng: rng.integers(2**53, 2**53 + 40, 800),
}


@pytest.mark.parametrize("kind", ROWS)
def test_each_entry_of_the_order_of_a_long_row(kind: str) -> None:
    made = np.asarray(ROWS[kind](np.random.default_rng(3)))
    x = made if kind == "large" else made.astype(np.float32)
    order, value, where = np.argsort(x, kind="stable"), hollow((), x.dtype), hollow((), np.int64)
    for rank in (0, 1, 300, len(x) // 2, len(x) - 2, len(x) - 1):
        op("aclnnKthvalue")(place(x), rank + 1, 0, False, value, where)
        assert where.numpy() == order[rank]
        np.testing.assert_array_equal(value.numpy(), x[order[rank]])
    for operator, count in (("MedianDim", len(x)), ("NanMedianDim", int((x == x).sum()))):
        op("aclnn" + operator)(place(x), 0, False, value, where)
        assert where.numpy() == order[(count - 1) // 2]


def test_the_examples_of_the_documents() -> None:
    x = np.array([[1, np.nan, 3, 2], [-1, np.nan, 3, 2]], np.float32)
    value, where = hollow((1, 4), np.float32), hollow((1, 4), np.int64)
    op("aclnnNanMedianDim")(place(x), 0, True, value, where)
    np.testing.assert_array_equal(value.numpy(), [[-1, np.nan, 3, 2]])
    assert where.numpy().tolist() == [[1, 0, 0, 0]]
    value, where = hollow((2,), np.float32), hollow((2,), np.int64)
    op("aclnnNanMedianDim")(place(x), 1, False, value, where)
    assert (value.numpy().tolist(), where.numpy().tolist()) == ([2, 2], [3, 3])
    one = hollow((1,), np.float32)
    op("aclnnNanMedian")(place(x[0]), one)
    assert one.numpy().tolist() == [2]
    op("aclnnMedian")(place(np.float32(5)), one)
    assert one.numpy().tolist() == [5]


def test_medians_of_no_rows() -> None:
    none = place(np.zeros((0, 3), np.float32))
    op("aclnnMedianDim")(none, 1, False, hollow((0,), np.float32), hollow((0,), np.int64))


def test_wrong_calls_of_medians() -> None:
    x = place(np.ones((4, 3), np.float32))
    value, where = hollow((4,), np.float32), hollow((4,), np.int64)
    for call in ("aclnnMedianDim", "aclnnNanMedianDim"):
        assert refusal(call, x, 1, False, None, where) == 161001
        assert refusal(call, x, 1, False, value, None) == 161001
        assert refusal(call, x, 2, False, value, where) == 161002
        assert refusal(call, x, 1, True, value, where) == 161002
        assert refusal(call, x, 0, False, value, where) == 161002
        assert refusal(call, x, 1, False, hollow((4,), np.int32), where) == 161002
        assert refusal(call, x, 1, False, value, hollow((4,), np.int32)) == 161002
        assert refusal(call, place(np.ones((4, 0), np.float32)), 1, False, value, where) == 161002
    for call in ("aclnnMedian", "aclnnNanMedian"):
        assert refusal(call, x, None) == 161001
        assert refusal(call, x, hollow((1,), np.int32)) == 161002
        assert refusal(call, x, hollow((2,), np.float32)) == 161002
        assert refusal(call, place(np.ones((4, 0), np.float32)), hollow((1,), np.float32)) == 161002
        column = place(np.ones((4, 1), NUMPY["BFLOAT16"]))
        assert refusal(call, column, hollow((1,), NUMPY["BFLOAT16"])) == 161002
    column, one = place(np.ones((4, 1), NUMPY["BFLOAT16"])), hollow((4,), NUMPY["BFLOAT16"])
    assert refusal("aclnnMedianDim", column, 1, False, one, where) == 161002
    op("aclnnNanMedianDim")(column, 1, False, one, where)
    assert where.numpy().tolist() == [0] * 4
