# SPDX-License-Identifier: Apache-2.0
"""Write docs/aclop.md: ``python -m maintain.aclop_page``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from aclnn_py import facts
from build_parts.paths import FACTS
from build_parts.single_operators import COPY, Attribute, Port, Type, read_types
from maintain.written_file import write_or_check

__all__ = ["PAGE_PATH", "text"]

PAGE_PATH = Path(__file__).resolve().parent.parent / "docs" / "aclop.md"
_COPIES = "`aclnnInplaceCopy`, `aclnnNpuFormatCast`"
_INTRODUCTION = Path(__file__).with_name("aclop_introduction.md")


def text() -> str:
    """Return the page: what is taken, and one line per type."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    types = read_types(FACTS)
    introduction = _INTRODUCTION.read_text(encoding="utf-8").rstrip()
    yield introduction.replace("{count}", str(len(types)))
    for row in types:
        cells = (
            f"`{row.name}`",
            ", ".join(_port(port, row) for port in row.inputs if _taken(port, row)),
            ", ".join(_port(port, row) for port in row.outputs),
            ", ".join(_attribute(attribute, row) for attribute in row.attributes),
            _COPIES if row.function == COPY else f"`{row.function}`{_chip(row)}",
        )
        yield f"| {' | '.join(cells)} |"


def _taken(port: Port, row: Type) -> bool:
    return port.unread or row.reads(port.name)


def _port(port: Port, row: Type) -> str:
    return port.name + ("..." if port.listed else " (optional)" if port.optional else "")


def _attribute(attribute: Attribute, row: Type) -> str:
    if attribute.free:
        return f"({attribute.name})"
    only = attribute.only
    if only is None and not row.reads(attribute.name):
        only = attribute.default
    if only is not None:
        return f"{attribute.name} only {only}"
    if attribute.default is None:
        return f"{attribute.name}: {attribute.kind}, required"
    return f"{attribute.name}: {attribute.kind} = {attribute.default}"


def _chip(row: Type) -> str:
    fact = facts.operator(row.function)
    return f" ({fact.chip})" if fact is not None and fact.chip else ""


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE_PATH, text(), "python -m maintain.aclop_page"))
