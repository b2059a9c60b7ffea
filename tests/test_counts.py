# SPDX-License-Identifier: Apache-2.0
"""Numbers of operators and functions that README, CHANGELOG and docs/ give are the true ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from aclnn_py import facts, functional
from aclnn_py.operators.describe.documentation import DOCUMENT_MARK
from aclnn_py.operators.launch.table import operator_named, operator_names

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def contributed() -> int:
    """How many operators are from contributed packages."""
    return sum(fact.experimental for fact in facts.operators().values())


def from_documents() -> int:
    """How many operators have prototypes that are known from documents only."""
    return sum(DOCUMENT_MARK in operator_named(name).summary for name in operator_names())


# What a page may say -> the number. White space stands for any, so that lines may break anywhere.
CLAIMS: dict[str, Callable[[], int]] = {
    r"functional` has ([\d,]+) functions": lambda: len(functional.__all__),
    r"Operators bound \| ([\d,]+),": lambda: len(facts.operators()),
    r"of them ([\d,]+) contributed packages": lambda: sum(
        fact.experimental for fact in facts.operators().values()
    ),
    r"([\d,]+) with prototypes known from documents": from_documents,
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_number_on_a_page_is_true(claim: str) -> None:
    found: Counter[int] = Counter()
    for page in PAGES:
        for text in re.findall(claim.replace(" ", r"\s+"), page.read_text(encoding="utf-8")):
            found[int(text.replace(",", ""))] += 1
    assert set(found) == {CLAIMS[claim]()}, "no page says it, or one says it wrongly"


def test_every_count_of_operators_or_functions_is_checked() -> None:
    """A new way of saying one needs a line in CLAIMS."""
    known = [re.compile(claim.replace(" ", r"\s+")) for claim in CLAIMS]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for pattern in known:
            text = pattern.sub("", text)
        assert re.findall(r"\b(?:\d,)?\d{3,}\s+(?:functions|operators)\b", text) == [], page.name
