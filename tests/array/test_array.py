# SPDX-License-Identifier: Apache-2.0
"""A table of expressions on tensors and on NumPy arrays: value, shape, dtype, or kind of error."""

from __future__ import annotations

import pytest
from array_table import EXPRESSIONS, REFUSED
from habits_table import HABITS
from helpers.each import each
from sides import expect_equal, on_device, on_numpy


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression_is_numpys(text: str) -> None:
    expect_equal(on_device(text), on_numpy(text))


@pytest.mark.parametrize("habit", HABITS)
def test_habits_give_what_numpy_gives(habit: str) -> None:
    def judge(text: str) -> None:
        expect_equal(on_device(text), on_numpy(text))

    each(HABITS[habit], judge)


@pytest.mark.parametrize("text", REFUSED)
def test_what_there_is_no_operator_for_is_refused(text: str) -> None:
    result = on_device(text)
    assert isinstance(result, REFUSED[text]), repr(result)


def test_the_table_is_long_enough_and_without_repetition() -> None:
    assert len(set(EXPRESSIONS)) == len(EXPRESSIONS) >= 300
