# SPDX-License-Identifier: Apache-2.0
"""The corpus of accepted calls against the library: every operator is there, every call runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.accepted_calls import (
    PATH,
    PATH_950,
    TensorSpec,
    calls,
    operators,
    read_argument,
    write_argument,
)
from helpers.chip_950 import Chip950
from helpers.operators import tensor_dtypes
from helpers.places import places

import aclnn_py as ap
from aclnn_py import facts
from maintain.coverage import implemented

pytestmark = pytest.mark.emulator_only(reason="the calls cover what the emulator implements")


def test_every_operator_has_an_accepted_call(device: ap.Device) -> None:
    advice = "add a call to aclnn_py/facts/accepted_calls.json"
    taken = {name: tensor_dtypes(name) for name in implemented()}
    # The others take no tensor on this chip, though they have some.
    here = [name for name, accepts in taken.items() if not accepts or any(accepts.values())]
    assert operators() == here, advice
    assert all(calls(operator) for operator in operators()), advice


@pytest.mark.parametrize("path", [PATH, PATH_950])
def test_what_is_read_is_written_the_same(path: Path) -> None:
    for operator, rows in json.loads(path.read_text(encoding="utf-8")).items():
        for row in rows:
            again = [write_argument(read_argument(argument)) for argument in row]
            assert repr(again) == repr(row), operator  # by its text: a NaN is not equal to itself


def test_a_changed_call_leaves_the_other_alone() -> None:
    call = calls("aclnnRelu")[0]
    before = call.arguments[0]
    assert isinstance(before, TensorSpec)
    assert call.changed(0, offset=7).arguments[0].offset == 7
    assert call.changed(0).arguments[0] is None
    assert call.arguments[0] is before


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


@pytest.mark.parametrize("operator", operators())
def test_accepted_calls_are_accepted_and_run(
    operator: str, device: ap.Device, request: pytest.FixtureRequest
) -> None:
    if chip := facts.emulated()[operator].chip:
        name = "newer" if chip == "950" else "smaller"
        process: Chip950 = request.getfixturevalue(name)
        process.call("helpers.chip_950", "make_accepted_calls", operator)
        return
    for call in calls(operator):
        with places(call.group_keys) as found:
            for rank, (place, groups) in enumerate(found):
                with place:
                    call.op(*call.at(rank).build(groups))
            for place, _ in found:
                place.synchronize()


@pytest.mark.parametrize("operator", operators(PATH_950))
def test_accepted_calls_of_a_950_run_there(operator: str, newer: Chip950) -> None:
    newer.call("helpers.chip_950", "make_accepted_calls", operator)
