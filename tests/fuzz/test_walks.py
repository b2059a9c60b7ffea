# SPDX-License-Identifier: Apache-2.0
"""Every operator with scalars of every dtype, each allocation refused, at the edge of memory."""

from __future__ import annotations

import json

import pytest

from . import edges, sanitizer, scalars, scarce
from .budget import Budget
from .worker import names_of, walked

pytestmark = pytest.mark.emulator_only(reason="a device that dies takes the machine with it")

SCALARS = 8_000  # of the cases: all of them take half a minute
EDGES = 400  # of 8,000 cases: all of them take two minutes
SCARCE = 2_000  # of 4,200 cases: all of them take more than a minute


def test_scalars_of_any_dtype_are_read_or_refused() -> None:
    budget = Budget(calls=SCALARS)
    assert scalars.fuzz(budget) == 0, json.dumps(budget.defects, indent=1)
    assert budget.spent == SCALARS
    assert min(budget.tally["ran"], budget.tally["refused 161002"]) > SCALARS // 5, budget.table()


@pytest.mark.skipif(sanitizer.sanitized(), reason="the sanitizer has an allocator of its own")
def test_every_operator_bears_the_failure_of_each_allocation(
    request: pytest.FixtureRequest,
) -> None:
    calls = None if request.config.getoption("--every-allocation") else SCARCE
    budget = Budget(seconds=250, calls=calls)
    assert scarce.fuzz(budget) == 0, json.dumps(budget.defects, indent=1)
    assert set(budget.tally) <= {"refused", "succeeded", "phase one alone"}, budget.table()
    assert budget.tally["refused"] > 10_000, budget.table()


@pytest.mark.skipif(sanitizer.sanitized(), reason="the sanitizer has no closed pages")
def test_packed_tensors_and_blocks_are_not_read_beyond_memory() -> None:
    budget = Budget(calls=EDGES)
    assert edges.fuzz(budget) == 0, json.dumps(budget.defects, indent=1)
    assert budget.tally["at the end"] > EDGES // 4, budget.table()
    assert budget.tally["never at the end"] == 0, budget.table()
    assert budget.tally["refused 161002"] > EDGES // 10, budget.table()


@pytest.mark.parametrize(
    ("fields", "defect"),
    [
        ({}, ""),
        ({"failed": 1}, ""),
        ({"code": 161002}, "refused"),
        ({"failed": 1, "undocumented": 507018}, "unknown status"),
        ({"failed": 1, "silent": 207001}, "no message"),
    ],
)
def test_an_attempt_is_judged_by_what_it_answered(fields: dict[str, int], defect: str) -> None:
    assert scarce.judged(scarce.Outcome(**fields)).defect == defect


def test_a_sample_of_a_walk_reaches_over_all_operators() -> None:
    names = names_of("")
    some = walked("scarce", "", len(names) // 4)
    assert len(some) == len(names) // 4
    assert len({case.call.operator for case in some}) > len(some) * 3 // 4
