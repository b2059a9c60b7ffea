# SPDX-License-Identifier: Apache-2.0
"""The dtypes phase one takes for every tensor of every operator are those of the facts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers.accepted_calls import PATH_950, operators
from helpers.chip_950 import Chip950
from helpers.walk import group_names, taken

from aclnn_py import facts
from aclnn_py.tensor.dtypes import DType, dtype_of
from maintain.coverage import implemented

pytestmark = pytest.mark.emulator_only(reason="walks over what the emulator takes")

# Where phase one takes another dtype than CANN's source, by reason; see `facts.EmulatedFact`.
MOST_EXCEPTIONS = 40


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
    if chip := facts.emulated()[operator].get("chip"):
        name = "newer" if chip == "950" else "smaller"
        process: Chip950 = request.getfixturevalue(name)
        found = process.call("helpers.chip_950", "taken_dtypes", operator)
    else:
        found = taken(operator, groups)
    _assert_found(operator, found, facts.emulated()[operator]["accepts"])


@pytest.mark.parametrize("operator", operators(PATH_950))
def test_every_tensor_takes_the_dtypes_of_the_facts_on_a_950(operator: str, newer: Chip950) -> None:
    fact = facts.emulated()[operator]
    wanted = {**fact["accepts"], **fact["accepts_950"]}
    _assert_found(operator, newer.call("helpers.chip_950", "taken_dtypes", operator), wanted)


def test_operators_with_dtypes_of_a_950_have_calls_there() -> None:
    advice = "a call in tests/helpers/accepted_calls_950.json belongs to accepts_950 of the facts"
    named = [name for name, fact in facts.emulated().items() if "accepts_950" in fact]
    assert sorted(named) == operators(PATH_950), advice


def test_every_operator_of_the_emulator_has_facts() -> None:
    assert sorted(facts.emulated()) == implemented()


def test_a_difference_from_the_documents_has_a_reason() -> None:
    for operator, known in facts.emulated().items():
        fact = facts.operator(operator)
        assert fact is not None
        documented = {row["name"]: set(row.get("dtypes", ())) for row in fact["params"]}
        assert set(known["accepts"]) <= set(documented), operator
        for parameter, names in known["accepts"].items():
            if documented[parameter] and set(names) != documented[parameter]:
                assert known.get("why", {}).get(parameter), f"{operator}: {parameter}"


def test_departures_from_the_source_are_few() -> None:
    exceptions = {
        (operator, reason)
        for operator, known in facts.emulated().items()
        for reason in known.get("why", {}).values()
        if reason.startswith("exception: ")
    }
    assert len(exceptions) < MOST_EXCEPTIONS, sorted(exceptions)


def _assert_found(
    operator: str, found: dict[str, set[DType]], wanted: dict[str, list[str]]
) -> None:
    for parameter, names in wanted.items():
        # A tensor that no accepted call gives is one that must be null.
        assert _names(found.get(parameter, set())) == _names(map(_dtype, names)), (
            f"{operator}: {parameter}"
        )
    assert set(found) <= set(wanted), "every tensor has its dtypes in facts/emulator/*.json"


def _dtype(name: str) -> DType:
    return dtype_of(name.lower())


def _names(dtypes: object) -> list[str]:
    return sorted(str(dtype) for dtype in dtypes)  # type: ignore[attr-defined]
