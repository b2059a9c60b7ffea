# SPDX-License-Identifier: Apache-2.0
"""Which library of CANN has which function, by release. Data is in ``libraries.json``.

The build makes the emulator's libraries from it, and the binding looks functions up by it.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from aclnn_py.facts.operator_rows import OperatorFact

__all__ = [
    "NEWEST",
    "RELEASES",
    "exports",
    "file_of",
    "first_release",
    "named",
    "needs",
    "search_order",
    "shipped",
]

RELEASES = ("8.1", "8.5", "9.0", "9.1")
NEWEST = "newest"
"""What is declared, whichever release it is of."""

_PHASE_ONE = "GetWorkspaceSize"


def shipped(release: str) -> tuple[str, ...]:
    """Return the names of the libraries of a release, such as ``"nnopbase"``."""
    number = _number(release)
    return tuple(
        row["name"]
        for row in _table()["libraries"]
        if _number(row.get("since", "")) <= number <= _number(row.get("until", NEWEST))
    )


def file_of(library: str, release: str, known: Container[str]) -> str | None:
    """Return the file that serves a release, relative to the directory of the newest libraries.

    Parameters
    ----------
    library : str
        Its name, such as ``"acl_rt"``.
    release : str
        One of ``RELEASES``, or ``NEWEST``.
    known : container of str
        The files there are. A release has one of its own only where the next one differs.
    """
    name = f"lib{library}.so"
    later = RELEASES[RELEASES.index(release) :] if release != NEWEST else ()
    for path in (*(f"releases/{number}/{name}" for number in later), name):
        if path in known:
            return path
    return None


def needs(library: str, release: str) -> tuple[str, ...]:
    """Return the libraries that this one needs, of those whose functions programs call.

    The linker names them when a program that needs them too does not link them, and ``dlsym`` finds
    their functions through this one.
    """
    (row,) = (row for row in _table()["libraries"] if row["name"] == library)
    found = _at(row.get("needs", {}), release)
    return tuple(name for name in found.split() if name in shipped(release))


def search_order(function: str) -> tuple[str, ...]:
    """Return the libraries that may hold a function that is no operator, the newest first.

    Parameters
    ----------
    function : str
        Its C name.

    Returns
    -------
    tuple of str
        Names such as ``"acl_rt"``; empty for a function that no row names.
    """
    row = _row(function)
    if row is None:
        return ()
    texts = [row["in"][release] for release in sorted(row["in"], key=_number, reverse=True)]
    return tuple(dict.fromkeys(" ".join([*texts, row.get("also", "")]).split()))


def named(library: str) -> frozenset[str]:
    """Return the functions that the rows of one library list by their names."""
    rows = (row for row in _table()["functions"] if library in " ".join(row["in"].values()).split())
    return frozenset(name for row in rows for name in row["names"].split() if "*" not in name)


def exports(
    release: str, functions: Mapping[str, str], operators: Mapping[str, OperatorFact]
) -> dict[str, list[str]]:
    """Divide functions among the libraries of a release.

    Parameters
    ----------
    release : str
        One of ``RELEASES``, or ``NEWEST``.
    functions : mapping
        C name -> the release that its header names, or "". Both phases of operators are among them.
    operators : mapping
        The facts of each operator.

    Returns
    -------
    dict
        Library -> its functions, sorted. A function that the release lacks is in none.
    """
    found: dict[str, list[str]] = {name: [] for name in shipped(release)}
    for function in sorted(functions):
        operator = function.removesuffix(_PHASE_ONE)
        if operator in operators:
            homes = _of_operator(operator, operators[operator], release)
        elif _number(first_release(function, functions[function])) <= _number(release):
            row = _row(function)
            homes = _at(row["in"], release).split() if row else []
        else:
            homes = []
        for home in homes:
            found.setdefault(home, []).append(function)
    return found


def first_release(function: str, header: str = "") -> str:
    """Return the first release that has a function, "" for one that is older than all we know.

    Parameters
    ----------
    function : str
        Its C name.
    header : str
        What its header says; the table is asked where that is nothing.
    """
    return header or _since().get(function, "")


@lru_cache(maxsize=1)
def _since() -> dict[str, str]:
    return {name: release for release, names in _table()["since"].items() for name in names.split()}


def _of_operator(operator: str, fact: OperatorFact, release: str) -> list[str]:
    table = _table()
    if _number(release) < _number("8.5"):
        if fact.since == "later":
            return []
        domains = table["domains"].items()
        return ["opapi", *(name for name, names in domains if operator in names.split())]
    part = table["apart"].get(operator) or next(
        name for name, families in table["families"].items() if fact.family in families.split()
    )
    return [part] if part == "cust_opapi" else [part, "opapi"]


def _at(by_release: Mapping[str, str], release: str) -> str:
    """Return what the last release up to this one says."""
    known = [key for key in by_release if _number(key) <= _number(release)]
    return by_release[max(known, key=_number)] if known else ""


def _number(release: str) -> tuple[int, ...]:
    if release in (NEWEST, "later"):
        return (1000,)
    digits = release.split("-")[0].split(".") if release else ["0"]
    return tuple(int(part) for part in digits[:2])


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    text = Path(__file__).with_name("libraries.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


@lru_cache(maxsize=1)
def _patterns() -> dict[str, dict[str, Any]]:
    return {name: row for row in _table()["functions"] for name in row["names"].split()}


def _row(function: str) -> dict[str, Any] | None:
    """Return the row of the name itself, of the longest beginning, or of an end."""
    patterns = _patterns()
    if function in patterns:
        return patterns[function]
    for length in range(len(function), 0, -1):
        if row := patterns.get(f"{function[:length]}*"):
            return row
    return next(
        (row for name, row in patterns.items() if name[0] == "*" and function.endswith(name[1:])),
        None,
    )
