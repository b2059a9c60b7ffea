# SPDX-License-Identifier: Apache-2.0
"""The README: short, true about numbers, and the way to every other page."""

from __future__ import annotations

from pathlib import Path

from helpers.documents import DOCS, README, blocks, links

SHELL = [text for language, text in blocks(README) if language == "sh"]


def test_the_two_commands_stand_first() -> None:
    """.ci/run takes them from here."""
    assert SHELL[0].strip() == "pip install . && aclnn-py run -n 2 samples/01_all_gather_matmul.py"
    assert SHELL[1].strip() == "pip install '.[test]' && pytest -n auto"


def test_every_page_can_be_reached() -> None:
    reached, rest = set[Path](), [README]
    while rest:
        page = rest.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        rest += [(page.parent / target.partition("#")[0]).resolve() for target in links(page)]
    lost = [page.name for page in DOCS.glob("*.md") if page not in reached]
    assert not lost, "no link leads there from the README"


def test_length() -> None:
    assert len(README.read_text().splitlines()) < 120
