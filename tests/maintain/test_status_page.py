# SPDX-License-Identifier: Apache-2.0
"""docs/status_codes.md is what the facts say."""

from __future__ import annotations

from aclnn_py import facts
from maintain import status_page


def test_the_page_is_written_from_the_facts() -> None:
    written = status_page.PAGE_PATH.read_text(encoding="utf-8")
    assert written == status_page.text(), "run: python -m maintain.status_page"


def test_the_page_has_every_code() -> None:
    text = status_page.text()
    for code in ("161002", "507015", "EZ1001", "EI0006", "HCCL_E_TIMEOUT"):
        assert code in text
    heads = 2 * len({row["domain"] for row in facts.statuses()})
    assert sum(line.startswith("| ") for line in text.splitlines()) == len(facts.statuses()) + heads
