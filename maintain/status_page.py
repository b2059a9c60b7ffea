# SPDX-License-Identifier: Apache-2.0
"""Write docs/status_codes.md: ``python -m maintain.status_page``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from aclnn_py import facts
from maintain.written_file import write_or_check

__all__ = ["PAGE_PATH", "text"]

PAGE_PATH = Path(__file__).resolve().parent.parent / "docs" / "status_codes.md"
_INTRODUCTION = """\
# Status and message codes

Written by `python -m maintain.status_page` from `aclnn_py/facts/status.json`.
`aclnn-py explain CODE` says the same with what to check; `debugging.md` is the way from a code to
its cause.

The first digit of a status says what kind of failure it is: 1 a mistake of the caller or of the
environment, 2 a resource or a feature that is missing, 3 the state of the business logic, 5 an
internal error or a fault of the device. AscendCL and operator calls share one range of numbers;
HCCL counts from 0."""
_TITLES: dict[str, str] = {
    "acl": "AscendCL front end (`acl*`)",
    "rt": "Runtime (`aclrt*`)",
    "ge": "Graph engine",
    "aclnn": "Operator library (`aclnn*`)",
    "hccl": "HCCL (`Hccl*`), counted on its own",
    "msg_prefix": "Classes of message codes",
    "message": "Message codes, in front of the library's words",
}


def text() -> str:
    """Return the page: one table per family, from the package's own facts."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    for domain, title in _TITLES.items():
        yield from ("", f"## {title}", "", "| Code | Name | Meaning | Usual cause | Next step |")
        yield "| --- | --- | --- | --- | --- |"
        for row in facts.statuses():
            if row["domain"] == domain:
                cells = (
                    str(row["code"]),
                    f"`{row['name']}`" if row["name"] else "",
                    row["meaning"],
                    row.get("cause", ""),
                    row.get("next", ""),
                )
                yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE_PATH, text(), "python -m maintain.status_page"))
