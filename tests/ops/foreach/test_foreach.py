# SPDX-License-Identifier: Apache-2.0
"""Foreach operators against NumPy: dtypes, shapes that differ from member to member, refusals."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same, is_exact
from helpers.operators import NUMPY, accepted_dtypes, hollow, op, place, refusal, values, wide

import aclnn_py as ap

from .foreach_table import FOREACH, Foreach

pytestmark = pytest.mark.usefixtures("device")
by_operator = pytest.mark.parametrize("case", FOREACH, ids=lambda case: case.operator)

SHAPES = [(3, 70), (), (0, 4), (301,)]


def supported(case: Foreach) -> frozenset[str]:
    names = frozenset(NUMPY)
    for position, kind in enumerate(case.form):
        if kind in "lo":
            names &= accepted_dtypes("aclnn" + case.operator, position)
    return names


def scalar_dtype(case: Foreach, position: int, name: str) -> np.dtype[Any]:
    """A dtype the scalar tensor may have that holds the number and suits the members."""
    takes = accepted_dtypes("aclnn" + case.operator, position)
    if NUMPY[name].kind in "iu":
        return NUMPY["INT32"] if "INT32" in takes else NUMPY[min(takes)]
    if name == "FLOAT16" and "FLOAT16" in takes:
        return NUMPY["FLOAT16"]
    return NUMPY["FLOAT"]


def scalars_for(case: Foreach, name: str, members: int) -> dict[str, Any]:
    """The arguments that stand for each letter of the form but lists and results."""
    whole = NUMPY[name].kind in "iu"
    number = int(case.number) if whole else float(case.number)
    made: dict[str, Any] = {
        "s": ap.ops.Scalar(number, np.int64) if whole else number,
        "S": [number] * members,
    }
    for position, kind in enumerate(case.form):
        if kind in "tT":
            shape = (members,) if kind == "T" else (1,)
            made[kind] = place(np.full(shape, number, scalar_dtype(case, position, name)))
    return made


@by_operator
def test_agrees_with_numpy_over_its_dtypes(case: Foreach) -> None:
    names = supported(case)
    assert names
    for name in sorted(names):
        rng = np.random.default_rng(zlib.crc32(f"{case.operator}{name}".encode()))
        lists = [
            [values(rng, shape, NUMPY[name], *case.domain) for shape in SHAPES]
            for kind in case.form
            if kind == "l"
        ]
        extra = scalars_for(case, name, len(SHAPES))
        results = [hollow(shape, NUMPY[name]) for shape in SHAPES]
        placed = [[place(array, "stepped") for array in arrays] for arrays in lists]
        given = iter(placed)
        arguments = [
            next(given) if kind == "l" else results if kind == "o" else extra[kind]
            for kind in case.form
        ]
        op("aclnn" + case.operator)(*arguments)
        if "o" not in case.form:
            results = placed[0]
        numbers = [case.number] if set("sStT") & set(case.form) else []
        if NUMPY[name].kind in "iu":
            numbers = [int(number) for number in numbers]
        for index, result in enumerate(results):
            expected = np.asarray(case.formula(*[wide(a[index]) for a in lists], *numbers))
            what = f"{case.operator} {name}[{index}]"
            if NUMPY[name].kind in "iub" or is_exact(case.operator):
                assert_same(result.numpy(), expected.astype(NUMPY[name]), what)
            else:
                assert_close(result.numpy(), expected, scale=4, what=what)


@by_operator
def test_refusals(case: Foreach) -> None:
    operator = "aclnn" + case.operator
    x = hollow((2, 3), np.float32)
    extra = scalars_for(case, "FLOAT", 1)

    def arguments(position: int, replacement: Any) -> list[Any]:
        good = [[x] if kind in "lo" else extra[kind] for kind in case.form]
        good[position] = replacement
        return good

    for position, kind in enumerate(case.form):
        if kind in "lo":
            assert refusal(operator, *arguments(position, None)) == 161001
        if kind in "lo" and len(case.form) > 1 and case.form.count("l") + ("o" in case.form) > 1:
            assert refusal(operator, *arguments(position, [x, x])) == 161002
            other = hollow((3, 2), np.float32)
            assert refusal(operator, *arguments(position, [other])) == 161002
            half = hollow((2, 3), np.float16)
            if operator != "aclnnForeachCopy":  # which casts
                assert refusal(operator, *arguments(position, [half])) == 161002
        if kind == "t":
            assert refusal(operator, *arguments(position, hollow((2,), np.float32))) == 161002
    wrong = hollow((2, 3), np.complex64)
    whole = [[wrong] if kind in "lo" else extra[kind] for kind in case.form]
    assert refusal(operator, *whole) == 161002
