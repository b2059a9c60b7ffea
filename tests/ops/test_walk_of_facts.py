# SPDX-License-Identifier: Apache-2.0
"""The dtypes phase one takes for every tensor of every operator are those of the facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.accepted_calls import PATH_950, operators
from helpers.chip_950 import Chip950
from helpers.operators import tensor_dtypes
from helpers.rank_walk import asked
from helpers.walk import group_names, taken

from aclnn_py import facts
from aclnn_py.tensor.dtypes import DType, dtype_of
from maintain.coverage import implemented

pytestmark = pytest.mark.emulator_only(reason="walks over what the emulator takes")

# Where phase one takes another dtype than CANN's source, by reason; see `facts.ParameterFact`.
MOST_EXCEPTIONS = 40
# Tensors that phase one takes in other ranks than those of the facts.
UNCHECKED_RANKS = Path(__file__).with_name("unchecked_ranks.txt")


@pytest.fixture(scope="module")
def groups() -> Iterator[dict[int, str]]:
    with group_names() as names:
        yield names


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


@pytest.mark.parametrize("operator", sorted(facts.emulated()))
def test_every_tensor_takes_the_dtypes_of_the_facts(
    operator: str, groups: dict[int, str], request: pytest.FixtureRequest
) -> None:
    if chip := facts.emulated()[operator].chip:
        name = "newer" if chip == "950" else "smaller"
        process: Chip950 = request.getfixturevalue(name)
        found = process.call("helpers.chip_950", "taken_dtypes", operator)
    else:
        found = taken(operator, groups)
    _assert_found(operator, found, tensor_dtypes(operator))


@pytest.mark.parametrize("operator", operators(PATH_950))
def test_every_tensor_takes_the_dtypes_of_the_facts_on_a_950(operator: str, newer: Chip950) -> None:
    wanted = tensor_dtypes(operator, of_950=True)
    _assert_found(operator, newer.call("helpers.chip_950", "taken_dtypes", operator), wanted)


def test_the_ranks_phase_one_takes_and_names_are_those_of_the_facts(
    groups: dict[int, str],
) -> None:
    wrong, unchecked = [], set()
    for operator in (name for name in operators() if not facts.operators()[name].chip):
        for answer in asked(operator, groups):
            if not answer.given | answer.named() <= answer.known:
                wrong.append(f"{operator} {answer.parameter}: {answer}")
            if None in answer.refusals.values():
                unchecked.add(f"{operator} {answer.parameter}")
    assert wrong == [], "correct ranks in facts/operators, with documented and why"
    lines = UNCHECKED_RANKS.read_text(encoding="utf-8").splitlines()
    assert sorted(unchecked) == [line for line in lines if not line.startswith("#")]


def test_operators_with_dtypes_of_a_950_have_calls_there() -> None:
    advice = "an operator with dtypes of its own on a 950 has a call in accepted_calls_950.json"
    named = [name for name, fact in facts.emulated().items() if fact.has_own_dtypes_on_950]
    assert sorted(named) == operators(PATH_950), advice


def test_every_operator_of_the_emulator_has_facts() -> None:
    assert sorted(facts.emulated()) == implemented()


def test_a_difference_from_the_documents_has_a_reason() -> None:
    for operator, fact in facts.operators().items():
        for name, known in fact.parameters.items():
            where = f"{operator}: {name}"
            assert set(known.documented) <= set(known.why), where
            # The documents often have one list for all chips.
            if not set(known.every_dtype) <= set(known.dtypes or ()):
                assert "dtypes" in known.why, where


def test_departures_from_the_source_are_few() -> None:
    exceptions = {
        (operator, reason)
        for operator, fact in facts.emulated().items()
        for known in fact.parameters.values()
        for reason in known.why.values()
        if reason.startswith("exception: ")
    }
    assert len(exceptions) < MOST_EXCEPTIONS, sorted(exceptions)


def _assert_found(
    operator: str, found: dict[str, set[DType]], wanted: dict[str, tuple[str, ...]]
) -> None:
    for parameter, names in wanted.items():
        # A tensor that no accepted call gives is one that must be null.
        assert _names(found.get(parameter, set())) == _names(map(_dtype, names)), (
            f"{operator}: {parameter}"
        )
    assert set(found) <= set(wanted), "every tensor has its dtypes in facts/operators/*.json"


def _dtype(name: str) -> DType:
    return dtype_of(name.lower())


def _names(dtypes: object) -> list[str]:
    return sorted(str(dtype) for dtype in dtypes)  # type: ignore[attr-defined]
