# SPDX-License-Identifier: Apache-2.0
"""Every operator type of the table against NumPy, by the functions that run operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.aclop import Side, run
from helpers.chip_950 import Chip950

from aclnn_py import facts
from build_parts.paths import FACTS
from build_parts.single_operators import read_types

from .types import PROBLEMS

pytestmark = pytest.mark.usefixtures("device")
ROWS = {row.name: row for row in read_types(FACTS)}
# The chip whose operator the aclnn form is, where a 910B has none.
CHIPS = {name: getattr(facts.operator(row.function), "chip", "") for name, row in ROWS.items()}
HERE = [name for name in ROWS if not CHIPS[name]]
ELSEWHERE = [name for name in ROWS if CHIPS[name]]


def outputs_of(problem: Any) -> list[Side]:
    """The outputs to be written, described as the expected ones are."""
    sides = [e if isinstance(e, Side) else Side(np.asarray(e)) for e in problem.expected]
    return [replace(side, shared=problem.shared.get(i)) for i, side in enumerate(sides)]


def answer(kind: str) -> None:
    """Run a type and compare, within the rounding of the result's dtype."""
    problem = PROBLEMS[kind]()
    results = run(kind, problem.inputs, outputs_of(problem), problem.attributes)
    for result, expected in zip(results, outputs_of(problem), strict=True):
        limit = 0 if expected.value.dtype.kind in "iub" else problem.relative
        np.testing.assert_allclose(result, expected.value, rtol=limit, atol=limit)


def test_every_type_has_a_problem() -> None:
    assert set(PROBLEMS) == set(ROWS)
    assert len(ROWS) >= 300


@pytest.mark.parametrize("kind", HERE)
def test_a_type_gives_numpys_answer(kind: str) -> None:
    answer(kind)


@pytest.fixture(scope="module")
def chips() -> Iterator[dict[str, Chip950]]:
    """A process per chip."""
    made = {name: Chip950(name) for name in sorted({CHIPS[kind] for kind in ELSEWHERE})}
    yield made
    for process in made.values():
        process.__exit__(None, None, None)


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_a_type_of_another_chip(kind: str, chips: dict[str, Chip950]) -> None:
    chip = CHIPS[kind]
    assert chip is not None
    chips[chip].call(__name__, "answer", kind)
