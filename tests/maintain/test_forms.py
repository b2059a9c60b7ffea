# SPDX-License-Identifier: Apache-2.0
"""The checked-in table of the forms of inference against the library and the tests."""

from __future__ import annotations

import pytest

from aclnn_py import facts
from maintain.coverage import absent, coverage_path, implemented
from maintain.forms import FAMILIES, forms_path, forms_table, inference_operators, refused

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="the table lists what the emulator implements"),
]


def rows() -> dict[str, list[str]]:
    lines = forms_path().read_text(encoding="utf-8").splitlines()
    end = lines.index("## Documented and refused")
    cells = [line.strip("|").split("|") for line in lines[:end] if line.startswith("| aclnn")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in cells}


def test_table_is_up_to_date() -> None:
    written = forms_path().read_text(encoding="utf-8")
    assert written == forms_table(), "run: python -m maintain.coverage"
    assert all(f"## {family}" in written for family in FAMILIES)


def test_every_row_has_dtypes_and_an_oracle() -> None:
    for name, (dtypes, _, _, oracle, tolerance) in rows().items():
        assert dtypes, name
        assert oracle, name
        assert tolerance in ("exact", "by dtype"), name


def test_rows_say_what_phase_one_takes() -> None:
    table = rows()
    assert "layoutQueryOptional: BSND, TND" in table["aclnnLightningIndexer"][1]
    assert "FRACTAL_NZ" in table["aclnnMlaProlog"][1]
    assert "a 950 adds" in table["aclnnFusedInferAttentionScoreV5"][0]
    assert table["aclnnGatherPaKvCache"][4] == "exact"


def test_every_operator_of_inference_has_a_row_or_a_reason() -> None:
    table, names = rows(), set(inference_operators())
    assert len(names) == 276
    assert {name for name in names if name not in table} == names & set(absent())
    assert len(names & set(implemented())) == 272
    pages = coverage_path().read_text(encoding="utf-8")
    reasons = dict(line.split(" | ")[:2] for line in pages.splitlines() if line.startswith("| acl"))
    for name in names & set(absent()):
        assert reasons[f"| {name}"].strip(" |") not in ("", "not implemented yet"), name


def test_a_dtype_that_no_chip_takes_has_a_reason_that_is_not_about_one_chip() -> None:
    for name in rows():
        for parameter, (dtypes, reason) in refused(name).items():
            assert reason, (name, parameter, dtypes)
            of_one_chip = reason.startswith(("a 910B", "the columns", "the source's list for 910B"))
            assert not of_one_chip, (name, parameter, reason)
            assert "only a 950" not in reason, (name, parameter)


def test_reasons_of_the_facts_are_about_tensors_they_have() -> None:
    for name, fact in facts.emulated().items():
        for parameter, known in fact.parameters.items():
            assert known.dtypes is not None or known.why in ({}, {"dtypes": "unused"}), (
                name,
                parameter,
            )
