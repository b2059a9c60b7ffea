# SPDX-License-Identifier: Apache-2.0
"""docs/status_codes.md is what the facts say."""

from __future__ import annotations

from pathlib import Path

from aclnn_py.tools import status_table

PAGE = Path(__file__).parent.parent / "docs" / "status_codes.md"


def test_the_page_is_written_from_the_facts(tmp_path: Path) -> None:
    fresh = tmp_path / "page.md"
    assert status_table.main([str(fresh)]) == 0
    assert fresh.read_text() == PAGE.read_text(), (
        "write it anew: python -m aclnn_py.tools.status_table"
    )


def test_the_page_has_every_code() -> None:
    text = PAGE.read_text()
    for code in ("161002", "507015", "EZ1001", "EI0006", "HCCL_E_TIMEOUT"):
        assert code in text
    assert sum(line.startswith("| ") for line in text.splitlines()) == 958 + 2 * 7
