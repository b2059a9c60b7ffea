# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py ops``: the list of operators."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase

from aclnn_py import facts
from aclnn_py._ffi import C
from aclnn_py.errors import AclnnPyError
from aclnn_py.operators.describe.documentation import DOCUMENT_MARK
from aclnn_py.operators.launch.op import Op
from aclnn_py.operators.launch.table import operator_named, python_name

__all__ = ["OperatorRow", "chosen", "find", "matches", "run"]


@dataclass(frozen=True, kw_only=True)
class OperatorRow:
    """One operator as ``aclnn-py ops`` shows it.

    Source
    ------
    ``include/aclnnop`` and the documents of CANN.
    """

    name: str
    """Name in ``aclnn_py.ops``."""
    function: str
    """C name."""
    since: str
    """First release known to have it: ``"8.1.RC1"`` (or before) or ``"later"``."""
    source: str
    """``"header"``, ``"document"`` (prototype known from documents only) or ``"contributed"``."""
    available: bool | None
    """Whether the device in use has it; None when no device can be used."""
    parameters: tuple[str, ...]
    """Parameters in C's order, by their C names."""


def find(*patterns: str) -> list[OperatorRow]:
    """Return the operators that match one of some patterns, by name.

    Parameters
    ----------
    *patterns : str
        Each is a Python or C name in upper or lower case, or, where no operator has that name, a
        part of one. With ``*``, ``?`` or ``[`` it is a shell pattern for the whole name. Without
        any, every operator matches.

    Returns
    -------
    list[OperatorRow]
        Sorted by name.
    """
    known = facts.operators()
    has = _availability()
    rows = []
    for c_name in chosen(patterns):
        op, fact = operator_named(python_name(c_name)), known[c_name]
        rows.append(
            OperatorRow(
                name=op.name,
                function=op.c_name,
                since=fact.since,
                source=_source(op, fact),
                available=None if has is None else has(op.c_name),
                parameters=tuple(parameter.c_name for parameter in op.parameters),
            )
        )
    return sorted(rows, key=lambda row: row.name)


def _source(op: Op, fact: facts.OperatorFact) -> str:
    if fact.experimental:
        return "contributed"
    return "document" if DOCUMENT_MARK in op.summary else "header"


def run(patterns: Sequence[str], *, as_json: bool, with_parameters: bool) -> int:
    """Print the operators that match.

    Parameters
    ----------
    patterns : Sequence[str]
        As for ``find``.
    as_json : bool
        Whether to print one JSON array.
    with_parameters : bool
        Whether the table shows parameters too.

    Returns
    -------
    int
        0, or 1 when nothing matches.
    """
    rows = find(*patterns)
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    elif rows:
        _print_table(rows, with_parameters)
    if not rows:
        print(f"no operator matches {' or '.join(map(repr, patterns))}", file=sys.stderr)
    return 0 if rows else 1


def chosen(patterns: Sequence[str]) -> list[str]:
    """Return the C names of the operators that match one of the patterns, as ``find`` has them."""
    names = {name: (name, python_name(name)) for name in facts.operators()}
    if not patterns:
        return list(names)
    found: set[str] = set()
    for pattern in patterns:
        whole = [c for c, both in names.items() if pattern.lower() in map(str.lower, both)]
        parts = [c for c, both in names.items() if any(matches(pattern, name) for name in both)]
        found.update(whole or parts)
    return [name for name in names if name in found]


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern matches a name."""
    pattern, name = pattern.lower(), name.lower()
    if any(sign in pattern for sign in "*?["):
        return fnmatchcase(name, pattern)
    return pattern in name


def _print_table(rows: list[OperatorRow], with_parameters: bool) -> None:
    width = max(len(row.name) for row in rows)
    c_width = max(len(row.function) for row in rows)
    mark = {True: "yes", False: "no", None: "?"}
    print(f"{'name':<{width}}  {'C function':<{c_width}}  {'since':<7}  {'source':<11}  device")
    for row in rows:
        print(
            f"{row.name:<{width}}  {row.function:<{c_width}}  {row.since:<7}  {row.source:<11}"
            f"  {mark[row.available]}"
        )
        if with_parameters:
            print(f"    ({', '.join(row.parameters)})")
    available = sum(row.available is True for row in rows)
    print(f"{len(rows)} operators, {available} on the device in use")


def _availability() -> Callable[[str], bool] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            C.has("aclnnAdd")
    except AclnnPyError as error:
        print(f"aclnn-py ops: no device can be used: {error}", file=sys.stderr)
        return None
    return C.has
