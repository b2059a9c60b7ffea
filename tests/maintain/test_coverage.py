# SPDX-License-Identifier: Apache-2.0
"""The checked-in table of implemented operators against the library and the tests."""

from __future__ import annotations

import pytest
from helpers.numerics import TOLERANCES
from ops.elementwise.elementwise_table import CASES
from ops.foreach.foreach_table import FOREACH

from aclnn_py import facts
from maintain.coverage import (
    TOLERANCE_TEXT,
    absent,
    coverage_path,
    coverage_table,
    implemented,
)

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="the table lists what the emulator implements"),
]


def test_table_is_up_to_date() -> None:
    written = coverage_path().read_text(encoding="utf-8")
    assert written == coverage_table(), "run: python -m maintain.coverage"


def test_tolerances_are_those_the_tests_use() -> None:
    for name, text in TOLERANCE_TEXT.items():
        assert float(text) == TOLERANCES[name].relative


def test_operators_of_both_tolerances_are_told_apart() -> None:
    cells = [line.split(" | ") for line in coverage_table().splitlines()]
    tolerance = {row[0]: row[-1] for row in cells}
    for name in ("aclnnEqTensor", "aclnnInplaceCopy", "aclnnPermute", "aclnnForeachAbs"):
        assert tolerance[f"| {name}"] == "exact |"
    for name in ("aclnnAdd", "aclnnMatmul", "aclnnIndexAdd", "aclnnMean"):
        assert tolerance[f"| {name}"] == "by dtype |"


def test_rows_of_the_test_tables_are_implemented() -> None:
    assert {"aclnn" + case.operator for case in [*CASES, *FOREACH]} <= set(implemented())


def test_every_absent_operator_has_a_reason() -> None:
    assert "not implemented yet" not in coverage_table(), "add the reason to its row: absent"


def test_reasons_are_for_operators_that_are_absent_and_not_contributed() -> None:
    assert set(absent()) == set(facts.operators()) - set(facts.emulated())
    contributed = [fact for fact in facts.operators().values() if fact.experimental]
    assert not any(fact.absent for fact in contributed)
