# SPDX-License-Identifier: Apache-2.0
"""The checked-in table of the forms of inference against the library and the tests."""

from __future__ import annotations

import pytest

from maintain.forms import FAMILIES, forms_path, forms_table

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="the table lists what the emulator implements"),
]


def rows() -> dict[str, list[str]]:
    lines = forms_path().read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if line.startswith("| aclnn")]
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
