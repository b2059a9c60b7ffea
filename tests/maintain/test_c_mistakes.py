# SPDX-License-Identifier: Apache-2.0
"""The page about C programs says what the tests expect."""

from __future__ import annotations

from maintain.c_mistakes import PAGE_PATH, text


def test_page_is_up_to_date() -> None:
    written = PAGE_PATH.read_text(encoding="utf-8")
    assert written == text(), "run: python -m maintain.c_mistakes"
