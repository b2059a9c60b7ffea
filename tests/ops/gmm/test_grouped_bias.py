# SPDX-License-Identifier: Apache-2.0
"""Sums of groups of rows against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, wide

from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

F32, V1, V2 = np.float32, "aclnnGroupedBiasAddGrad", "aclnnGroupedBiasAddGradV2"
SIZES = [3, 0, 5, 1]


def case(second: bool, kind: int | None, index: Any = np.int32) -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        grad = rng.standard_normal((9, 7) if kind is not None else (4, 3, 7)).astype(dtype)
        listed = None
        if kind is None:
            result = wide(grad).sum(1)
        else:
            ends = np.cumsum(SIZES)
            parts = np.split(wide(grad), ends[:-1])
            result = np.stack([part.sum(0) for part in parts])
            listed = In((np.array(SIZES) if kind else ends).astype(index))
        version = (kind or 0,) if second else ()
        return [In(grad), listed, *version, Out(result, dtype, 2)]

    name = f"{kind}-{np.dtype(index)}"
    return Case("GroupedBiasAddGradV2" if second else "GroupedBiasAddGrad", build, name,
                nullable=frozenset({1}))  # fmt: skip


TestSums = suite(
    [
        *(case(False, kind) for kind in (None, 0)),
        *(case(True, kind, np.int64) for kind in (None, 0, 1)),
    ]
)


def test_wide_rows_and_no_groups() -> None:
    grad = np.random.default_rng(1).standard_normal((6, 1300)).astype(F32)
    out = hollow((2, 1300), F32)
    op(V1)(place(grad), place(np.array([4, 6], np.int32)), out)
    assert_close(out.numpy(), np.stack([wide(grad)[:4].sum(0), wide(grad)[4:].sum(0)]), scale=2)
    out = hollow((3, 4), F32)
    op(V1)(place(np.zeros((3, 0, 4), F32)), None, out)
    assert_same(out.numpy(), np.zeros((3, 4), F32), "groups without rows")
    op(V1)(place(np.zeros((0, 4), F32)), place(np.zeros(0, np.int32)), hollow((0, 4), F32))


@pytest.mark.parametrize(
    ("kind", "values", "says"),
    [
        (0, [4, 3, 8], "[1] is 3"),
        (0, [4, 6, 9], "[2] is 9"),
        (0, [4, 6, 7], "ends at row 7"),
        (0, [-1, 6, 8], "[0] is -1"),
        (1, [4, 6, 1], "[1] is 6"),
        (1, [2**62, 2**62, 2**62], "[0] is"),
        (1, [4, -1, 5], "[1] is -1"),
        (1, [4, 2, 1], "ends at row 7"),
    ],
)
def test_groups_that_do_not_cover_the_rows_are_a_fault(
    kind: int, values: list[int], says: str
) -> None:
    out = hollow((3, 2), F32)
    groups = place(np.array(values, np.int64))
    text = fault(V2, place(np.ones((8, 2), F32)), groups, kind, out)
    assert says in text and "groupIdxOptional" in text


def test_refusals() -> None:
    two, three, groups = hollow((8, 2), F32), hollow((2, 4, 2), F32), place(np.array([8], np.int32))
    out = hollow((1, 2), F32)
    assert "gradY has 3 dim" in message(V1, 161002, [three, groups, out])
    assert "gradY has 2 dim" in message(V1, 161002, [two, None, out])
    assert "groupIdxType is 2" in message(V2, 161002, [two, groups, 2, out])
    assert "out has shape" in message(V2, 161002, [two, groups, 0, hollow((2, 2), F32)])
    assert "out has dtype" in message(V2, 161002, [two, groups, 0, hollow((1, 2), np.float16)])
    many = place(np.zeros(2049, np.int32))
    assert "2049 groups" in message(V1, 161002, [two, many, hollow((2049, 2), F32)])
    flat = groups.reshape(1, 1)
    assert "groupIdxOptional has 2 dim" in message(V1, 161002, [two, flat, out])
