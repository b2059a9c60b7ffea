# SPDX-License-Identifier: Apache-2.0
"""Write the table of status and message codes: ``python -m aclnn_py.tools.status_table``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from aclnn_py import facts

__all__ = ["main", "text"]

_INTRODUCTION = """\
# Status and message codes

Written by `python -m aclnn_py.tools.status_table` from `aclnn_py/facts/status.json`.
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


def main(arguments: list[str] | None = None) -> int:
    """Write the page to a file.

    Parameters
    ----------
    arguments : list of str, optional
        The file; default is ``docs/status_codes.md`` of the current directory.

    Returns
    -------
    int
        0.
    """
    words = sys.argv[1:] if arguments is None else arguments
    Path(words[0] if words else "docs/status_codes.md").write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
