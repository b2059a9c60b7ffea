# SPDX-License-Identifier: Apache-2.0
"""A permutation of tables as one of their rows, against slices in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place, refusal

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

NAME = "aclnnExpandIntoJaggedPermute"


def whole(values: Any) -> Any:
    return np.array(values, np.int32)


def edges(lengths: Any) -> Any:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


@pytest.mark.parametrize("layout", ["dense", "stepped"])
def test_rows_of_permuted_tables(layout: str) -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 9, 6)
    order = rng.permutation(6)
    start, end = edges(lengths), edges(lengths[order])
    expected = np.concatenate([np.arange(start[p], start[p + 1]) for p in order])
    out = hollow((int(lengths.sum()),), np.int32, layout)
    given = (place(whole(one), layout) for one in (order, start, end))
    op(NAME)(*given, int(lengths.sum()), out)
    assert_same(out.numpy(), expected.astype(np.int32))


def test_the_example_of_the_document_and_no_tables() -> None:
    given = ([1, 0, 2], [0, 3, 5, 8], [0, 2, 4, 6])
    out = hollow((6,), np.int32)
    op(NAME)(*(place(whole(one)) for one in given), 6, out)
    assert_same(out.numpy(), whole([3, 4, 0, 1, 5, 6]))
    none = hollow((0,), np.int32)
    op(NAME)(none, place(whole([0])), place(whole([0])), 0, none)
    ap.synchronize()


@pytest.mark.parametrize(
    ("order", "end", "word"),
    [
        ([0, 3, 1], [0, 1, 2, 3], "permute"),
        ([0, -1, 1], [0, 1, 2, 3], "permute"),
        ([0, 1, 2], [0, 2, 1, 3], "outputOffset"),
        ([0, 1, 2], [0, 1, 2, 4], "outputOffset"),
        ([0, 1, 2], [0, 1, 2, 2], "outputOffset"),
        ([0, 1, 2], [-1, 1, 2, 3], "outputOffset"),
    ],
)
def test_what_leads_out_of_the_tensors_is_a_fault(
    order: list[int], end: list[int], word: str
) -> None:
    start, out = place(whole([0, 1, 2, 3])), hollow((3,), np.int32)
    with pytest.raises(ap.errors.DeviceError, match=word):
        op(NAME)(place(whole(order)), start, place(whole(end)), 3, out)
        ap.synchronize()


def test_what_does_not_fit_is_refused() -> None:
    three, four = hollow((3,), np.int32), hollow((4,), np.int32)
    assert refusal(NAME, three, three, four, 4, four) == 561002
    assert refusal(NAME, three, four, three, 4, four) == 561002
    assert refusal(NAME, three, four, four, 3, four) == 561002
    assert refusal(NAME, three, four, four, -1, four) == 561002
    assert refusal(NAME, hollow((3, 1), np.int32), four, four, 4, four) == 561002
    assert refusal(NAME, hollow((3,), np.int64), four, four, 4, four) == 161002
