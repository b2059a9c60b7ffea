# SPDX-License-Identifier: Apache-2.0
"""The pages people read, cut into the parts that tests check."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "samples" / "README.md",
    ROOT / "samples" / "embedding_service" / "README.md",
    *sorted(DOCS.glob("*.md")),
]


def name_of(page: Path) -> str:
    """A page's path from the root, as the name of a test."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, text) of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    """Targets of links that lead to another place of the repository."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    return [target for target in found if "://" not in target]


def anchors(page: Path) -> set[str]:
    """What a link may name behind ``#``: the headings, spelled as GitHub spells them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def tree_paths(text: str) -> list[str]:
    """Paths of a ``tree`` block: one entry per line, indented by two spaces under its folder."""
    paths, folders = [], []
    for line in filter(str.strip, text.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 2
        entry = line.split()[0]
        folders[depth:] = [entry.rstrip("/")]
        paths.append("/".join(folders))
    return paths
