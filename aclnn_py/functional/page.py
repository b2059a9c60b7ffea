# SPDX-License-Identifier: Apache-2.0
"""The text of `docs/functional.md`, which `python -m aclnn_py.functional.stubs` writes."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from aclnn_py.functional.tables import FAMILIES, WRITTEN
from aclnn_py.operators.launch.table import operator_named

__all__ = ["PAGE_PATH", "page_text"]

PAGE_PATH = Path("docs", "functional.md")
"""Below the root of the repository, which is the current directory of whoever writes it."""
_HEAD = """\
# Functions of `aclnn_py.functional`

Written by `python -m aclnn_py.functional.stubs` from the function table. \
`help(ap.functional.add)` has the parameters, shapes and dtypes of a function. Where a function \
names several operators, the first one is preferred; the others serve numbers in the place of \
tensors, captures, or older libraries. Names that end in an underscore write their first \
argument and return it.
"""


def page_text() -> str:
    """The page for the function table."""
    parts = [_HEAD]
    for title, family in FAMILIES.items():
        lines = [
            (row.name, [operator_named(name).c_name for name in reversed(row.names)], row.summary)
            for row in family
        ]
        parts.append(_section(title, lines))
    for title, names in WRITTEN.items():
        module = import_module(f"aclnn_py.functional.{title}")
        parts.append(_section(title, [(name, *_described(module, name)) for name in names]))
    return "\n".join(parts)


def _section(title: str, lines: list[tuple[str, list[str], str]]) -> str:
    rows = [
        f"| `{name}` | {' '.join(operators)} | {summary.replace('``', '`')} |\n"
        for name, operators, summary in lines
    ]
    head = f"## {title.replace('_', ' ')}\n\n| function | operator | |\n|---|---|---|\n"
    return head + "".join(rows)


def _described(module: object, name: str) -> tuple[list[str], str]:
    """The operators that a written function's documentation names, and its first sentence."""
    text: str = getattr(module, name).__doc__
    source = text[text.index("Source\n") :]
    operators = dict.fromkeys(re.findall(r"aclnn[A-Z]\w+", source))
    return list(operators), text.split("\n\n")[0]
