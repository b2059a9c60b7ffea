# SPDX-License-Identifier: Apache-2.0
"""The text of `docs/functional.md`."""

from __future__ import annotations

import re
from importlib import import_module

from aclnn_py.operators.launch.table import operator_named
from maintain.functional.modules import COMMAND
from maintain.functional.tables import FAMILIES, WRITTEN

__all__ = ["page_text"]

_HEAD = f"""\
# Functions of `aclnn_py.functional`

Written by `{COMMAND}`. `help(ap.functional.add)` shows the parameters, shapes and dtypes of a \
function. Where several operators are named, the arguments and the loaded libraries decide which \
of them runs. A name that ends in an underscore writes its first argument and returns it.
"""


def page_text() -> str:
    """The page of all functions, by module."""
    parts = [_HEAD]
    for name, family in FAMILIES.items():
        lines = [
            (row.name, [operator_named(operator).c_name for operator in row.names], row.summary)
            for row in family.ROWS
        ]
        parts.append(_section(name, family.__doc__ or "", lines))
    for name, names in WRITTEN.items():
        module = import_module(f"aclnn_py.functional.{name}")
        described = [(function, *_described(module, function)) for function in names]
        parts.append(_section(name, (module.__doc__ or "").split("\n\n")[0], described))
    return "\n".join(parts)


def _section(name: str, about: str, lines: list[tuple[str, list[str], str]]) -> str:
    rows = [
        f"| `{function}` | {' '.join(operators)} | {summary.replace('``', '`')} |\n"
        for function, operators, summary in lines
    ]
    head = f"## {name.replace('_', ' ')}\n\n{about}\n\n| function | operator | |\n|---|---|---|\n"
    return head + "".join(rows)


def _described(module: object, name: str) -> tuple[list[str], str]:
    """The operators that a hand-written function's documentation names, and its first sentence."""
    text: str = getattr(module, name).__doc__
    source = text[text.index("Source\n") :]
    operators = dict.fromkeys(re.findall(r"aclnn[A-Z]\w+", source))
    return list(operators), text.split("\n\n")[0]
