# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of operators: it finds what is planted, and nothing in the emulator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from . import operators as fuzzer
from .budget import Budget
from .cases import read_case
from .worker import case_of, names_of

pytestmark = pytest.mark.emulator_only(reason="a device that dies takes the machine with it")


CALLS = 6_000


def test_no_operator_is_harmed(tmp_path: Path) -> None:
    budget = Budget(calls=CALLS, seed=1, cases=tmp_path)
    assert fuzzer.fuzz(budget) == 0, json.dumps(budget.defects, indent=1)
    assert budget.spent == CALLS
    reached = {outcome.split()[0] for outcome in budget.tally}
    assert {"ran", "refused", "fault", "phase"} <= reached, budget.table()
    assert budget.tally["ran"] > CALLS // 10, budget.table()


@pytest.mark.parametrize(
    ("planted", "kind"),
    [
        ("crash", "crash"),
        ("write_behind", "write outside"),
        ("write_input", "write outside"),
        ("no_words", "no message"),
        ("odd_status", "unknown status"),
    ],
)
def test_planted_faults_are_found_and_attributed(
    planted: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzer, "CASES_OF_A_KIND", 1)  # each takes several processes
    budget = Budget(calls=2, seed=3, pattern="aclnnRelu$", cases=tmp_path)
    before = f"{fuzzer.__package__}.planted:{planted}"
    assert fuzzer.fuzz(budget, before=before) > 0
    assert budget.spent == 2  # the other is made all the same
    defect = budget.defects[0]
    assert defect["kind"] == kind
    assert defect["case"]["operator"] == "aclnnRelu"
    # The file repeats the call: it reads as it was written.
    again = read_case(sorted(tmp_path.iterdir())[0]).written()
    assert again == {name: defect["case"][name] for name in again}


def test_a_hang_is_found_and_attributed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of the processor, which the planted fault uses: a busy machine makes no difference.
    monkeypatch.setattr(fuzzer, "HANG_CPU_S", 3.0)
    budget = Budget(calls=1, seed=3, pattern="aclnnRelu$")
    before = f"{fuzzer.__package__}.planted:hang"
    assert fuzzer.fuzz(budget, before=before) > 0
    assert {row["kind"] for row in budget.defects} == {"hang"}
    assert "comparing" in budget.defects[0]["what"]


def test_a_case_depends_on_its_number_alone() -> None:
    names = names_of("")
    first = [case_of(names, 5, number).written() for number in range(200)]
    again = [case_of(names, 5, number).written() for number in reversed(range(200))]
    assert repr(first) == repr(again[::-1])
    assert repr(first) != repr([case_of(names, 6, number).written() for number in range(200)])


def test_leaving_a_mutation_out_keeps_the_others() -> None:
    names = names_of("")
    whole = next(number for number in range(500) if len(case_of(names, 5, number).mutations) == 3)
    assert case_of(names, 5, whole, (0,)).mutations == case_of(names, 5, whole).mutations[:1]


def test_an_unknown_operator_is_named() -> None:
    with pytest.raises(SystemExit, match="no operator's name has 'Nothing'"):
        names_of("Nothing")
