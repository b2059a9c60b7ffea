# SPDX-License-Identifier: Apache-2.0
"""Bags of rows of a table, and rows scaled to a norm, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, Ref, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
SUM, MEAN, MAX = 0, 1, 2
STARTS = np.array([0, 3, 3, 8])
NONE = -1


def bags(
    table: Any, indices: Any, starts: Any, mode: int, padding: int, weights: Any = None
) -> tuple[Any, Any, Any]:
    """The results of all bags, how many indices of each count, and the rows of largest values."""
    ends = [*starts[1:], len(indices)]
    out = np.zeros((len(starts), table.shape[1]))
    rows = np.full(out.shape, -1)
    sizes = []
    for b, (first, end) in enumerate(zip(starts, ends, strict=True)):
        used = [i for i in range(first, end) if indices[i] != padding]
        sizes.append(len(used))
        if not used:
            continue
        taken = table[indices[used]]
        if mode == MAX:
            out[b] = taken.max(0)
            rows[b] = indices[used][taken.argmax(0)]
        else:
            out[b] = (taken * (1 if weights is None else weights[used][:, None])).sum(0)
            out[b] /= len(used) if mode == MEAN else 1
    return out, np.array(sizes), rows


def case(mode: int, kinds: tuple[str, str], padding: int, last: bool, weighted: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        table = rng.normal(size=(6, 5)).astype(dtype)
        indices = rng.integers(0, 6, 11)
        weights = rng.normal(size=11).astype(dtype) if weighted else None
        known = None if weights is None else wide(weights)
        out, sizes, rows = bags(wide(table), indices, STARTS, mode, padding, known)
        starts = np.append(STARTS, 11) if last else STARTS
        index = np.result_type(*kinds)
        bag_of = np.repeat(np.arange(4), np.diff(np.append(STARTS, 11)))
        largest = Out(rows, index) if mode == MAX else In(np.full(4, 5, index))
        return [
            *(In(table), In(indices.astype(kinds[0])), In(starts.astype(kinds[1])), False, mode),
            *(False, None if weights is None else In(weights), last, padding, Out(out, dtype, 2)),
            *(Out(bag_of, index), Out(sizes, index), largest),
        ]

    note = f"{mode}-{kinds}-{padding}-{last}-{weighted}"
    return Case("EmbeddingBag", build, note, nullable=frozenset({6}))


TestBags = suite(
    [
        case(SUM, ("int64", "int64"), NONE, False, False),
        case(SUM, ("int32", "int64"), 2, True, True),
        case(MEAN, ("int64", "int32"), 3, False, False),
        case(MEAN, ("int32", "int32"), NONE, True, False),
        case(MAX, ("uint8", "int32"), 1, False, False),
        case(MAX, ("int64", "int8"), NONE, True, False),
    ]
)


def test_a_bag_of_nothing_but_padding_is_empty() -> None:
    table = place(np.ones((3, 2), np.float32))
    indices, starts = place(np.array([1, 1])), place(np.array([0]))
    for mode, rows in [(MEAN, 1), (MAX, 2)]:
        out, of, size = hollow((1, 2), np.float32), hollow((2,), np.int64), hollow((1,), np.int64)
        best = hollow((1,) if rows == 1 else (1, 2), np.int64)
        call = (False, mode, False, None, False, 1, out, of, size, best)
        ap.ops.embedding_bag(table, indices, starts, *call)
        assert_same(out.numpy(), np.zeros((1, 2), np.float32))
        assert size.numpy()[0] == 0
        assert_same(of.numpy(), np.zeros(2, np.int64))
    assert_same(best.numpy(), np.array([[-1, -1]]))


def test_the_first_of_equal_values_and_nan_are_largest() -> None:
    table = np.array([[1, np.nan, 3], [1, 5, np.nan]], np.float32)
    out, of = hollow((1, 3), np.float32), hollow((2,), np.int64)
    size, best = hollow((1,), np.int64), hollow((1, 3), np.int64)
    indices, starts = place(np.array([1, 0])), place(np.array([0]))
    call = (False, MAX, False, None, False, NONE, out, of, size, best)
    ap.ops.embedding_bag(place(table), indices, starts, *call)
    assert_same(out.numpy(), np.array([[1, np.nan, np.nan]], np.float32))
    assert_same(best.numpy(), np.array([[1, 0, 1]]))


def test_bags_without_indices() -> None:
    table, none = place(np.ones((3, 2), np.float32)), ap.empty((0,), np.int64)
    starts = place(np.zeros(2, np.int64))
    out, size, best = hollow((2, 2), np.float32), hollow((2,), np.int64), hollow((2,), np.int64)
    call = (False, SUM, False, None, False, NONE, out, none, size, best)
    ap.ops.embedding_bag(table, none, starts, *call)
    assert_same(out.numpy(), np.zeros((2, 2), np.float32))
    assert_same(size.numpy(), np.zeros(2, np.int64))


def arguments(**changed: Any) -> list[Any]:
    given = {
        "weight": hollow((4, 3), np.float32),
        "indices": place(np.array([0, 1, 3])),
        "offsets": place(np.array([0, 2])),
        "scale": False,
        "mode": SUM,
        "sparse": False,
        "samples": None,
        "last": False,
        "padding": NONE,
        "out": hollow((2, 3), np.float32),
        "of": hollow((3,), np.int64),
        "size": hollow((2,), np.int64),
        "best": hollow((2,), np.int64),
    }
    return list((given | changed).values())


@pytest.mark.parametrize(
    ("what", "values", "last"),
    [
        ("indices", [0, 4, 1], False),
        ("indices", [0, -1, 1], False),
        ("offsets", [1, 2], False),
        ("offsets", [0, 4], False),
        ("offsets", [0, -1], False),
        ("offsets", [0, 2, 1], True),
        ("offsets", [0, 2, 2], True),
        ("offsets", [0, 2, 2**40], True),
    ],
)
def test_places_that_do_not_exist_are_faults(what: str, values: list[int], last: bool) -> None:
    given = arguments(**{what: place(np.array(values)), "last": last})
    assert what in fault("aclnnEmbeddingBag", *given)
    assert_same(given[9].numpy(), np.full((2, 3), 77, np.float32))


def test_what_does_not_fit_is_refused() -> None:
    name, row = "aclnnEmbeddingBag", hollow((3,), np.float32)
    assert "must be false" in message(name, 161002, arguments(scale=True))
    assert "must be false" in message(name, 161002, arguments(sparse=True))
    assert "only sums" in message(name, 161002, arguments(samples=row, mode=MEAN))
    assert "includeLastOffset" in message(
        name, 161002, arguments(last=True, offsets=ap.empty((0,), np.int64))
    )
    small = {"indices": hollow((3,), np.int8), "offsets": hollow((2,), np.int16)}
    assert "INT32 or INT64" in message(name, 161002, arguments(**small))
    for changed in [
        {"weight": hollow((4, 3, 1), np.float32)},
        {"indices": hollow((1, 3), np.int64)},
        {"samples": hollow((2,), np.float32)},
        {"samples": hollow((3,), np.float16)},
        {"out": hollow((3, 3), np.float32)},
        {"out": hollow((2, 3), np.float16)},
        {"of": hollow((2,), np.int64)},
        {"of": hollow((3,), np.int32)},
        {"size": hollow((3,), np.int64)},
        {"best": hollow((2, 3), np.int64)},
        {"mode": MAX},
    ]:
        assert refusal(name, *arguments(**changed)) == 161002, changed


def renorm(order: float, limit: float) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        table = rng.normal(size=(6, 5)).astype(dtype)
        rows = rng.integers(0, 4, (2, 3))
        oracle = wide(table).copy()
        for row in np.unique(rows):
            size = np.linalg.norm(oracle[row], order)
            if size > limit:
                oracle[row] *= limit / (size + 1e-7)
        return [Ref(table, oracle), In(rows), limit, order]

    return Case("EmbeddingRenorm", build, f"{order}-{limit}")


TestNorms = suite([renorm(2.0, 1.5), renorm(1.0, 3.0), renorm(np.inf, 1.0), renorm(3.0, 0.0)])


def test_a_row_named_twice_is_scaled_once() -> None:
    table = place(np.array([[3, 4], [6, 8]], np.float32))
    ap.ops.embedding_renorm(table, place(np.array([[1, 1], [1, 1]], np.int32)), 5.0, 2.0)
    assert_close(table.numpy(), [[3, 4], [3, 4]], scale=1)


def test_norms_refuse() -> None:
    name, table = "aclnnEmbeddingRenorm", hollow((2, 3), np.float32)
    rows = place(np.array([0]))
    assert "normType is -1" in message(name, 161002, [table, rows, 1.0, -1.0])
    assert "maxNorm is -1" in message(name, 161002, [table, rows, -1.0, 1.0])
    assert refusal(name, table[0], rows, 1.0, 1.0) == 161002
    for row in (-1, 2):
        assert f"{row}" in fault(name, table, place(np.array([0, row])), 1.0, 2.0)
    assert_same(table.numpy(), np.full((2, 3), 77, np.float32))
