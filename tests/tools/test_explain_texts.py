# SPDX-License-Identifier: Apache-2.0
"""Texts of public reports and manuals end at the cause that a maintainer or the manual gave."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from aclnn_py.errors.log_line import read_line
from aclnn_py.facts.log_facts import causes
from aclnn_py.tools.explain import explain

TEXTS = json.loads((Path(__file__).parent / "log_texts.json").read_text(encoding="utf-8"))


def answer(text: str) -> str:
    found = explain(text)
    return found[0].cause or "unknown" if found else "unknown"


def test_there_are_many_texts_with_a_known_cause() -> None:
    assert len(TEXTS) >= 150
    assert {row["source"] for row in TEXTS} == {"manual", "report"}
    assert {row["cause"] for row in TEXTS} - {"unknown"} <= set(causes())
    assert max(Counter(row["text"] for row in TEXTS).values()) == 1


def test_no_text_ends_at_a_wrong_cause_and_nine_of_ten_at_the_right_one() -> None:
    answers = [(answer(row["text"]), row) for row in TEXTS]
    wrong = [(got, row) for got, row in answers if got not in (row["cause"], "unknown")]
    assert wrong == []
    right = sum(got == row["cause"] for got, row in answers)
    assert right >= 0.9 * len(TEXTS)


@pytest.mark.parametrize("row", TEXTS, ids=range(len(TEXTS)))
def test_the_answer_quotes_the_text_and_says_what_to_do(row: dict[str, str]) -> None:
    lines = row["text"].splitlines()
    for one in explain(row["text"]):
        assert one.checks
        if one.cause == "unknown":
            assert any("plog" in check for check in one.checks)
            continue
        assert one.quote
        part = one.quote.removeprefix("... ").removesuffix(" ...")
        pieces = lines[one.line - 1].split("\\n")
        assert any(part in read_line(piece).text for piece in pieces)
        assert all(value in part for value in one.named.values())
