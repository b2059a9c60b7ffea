# SPDX-License-Identifier: Apache-2.0
"""What differs between the answers of two libraries, by operator and kind of difference."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

__all__ = ["compare", "differences"]


def compare(old: Path, new: Path, *, pattern: str = "", examples: int = 2) -> int:
    """Print the differences between two dumps; return 1 if there is one, else 0.

    Parameters
    ----------
    old, new : Path
        Files that `dump` wrote.
    pattern : str
        A regular expression; operators whose C names have it are compared.
    examples : int
        How many questions are shown for each operator and kind of difference.
    """
    asked, kinds = 0, Counter[str]()
    found: dict[str, dict[str, list[str]]] = {}
    for chip, operator, before, after in _pairs(old, new, pattern):
        asked += len(before.keys() | after.keys())
        for kind, question, text in differences(before, after):
            kinds[kind] += 1
            found.setdefault(operator, {}).setdefault(kind, []).append(
                f"{chip} {question}\n      {text}"
            )
    for operator, of_kind in sorted(found.items()):
        print(f"{operator}: {sum(map(len, of_kind.values()))}")
        for kind, lines in sorted(of_kind.items()):
            print(f"  {kind}: {len(lines)}")
            for line in lines[:examples]:
                print(f"    {line}")
    print(f"{asked:,} questions, {kinds.total():,} answers differ in {len(found):,} operators")
    for kind, count in kinds.most_common():
        print(f"  {kind}: {count:,}")
    return 1 if found else 0


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, question and both answers for each question that is answered differently.

    Where the older library names no parameter, parameters are not compared.
    """
    for question in sorted(before.keys() | after.keys()):
        old, new = before.get(question), after.get(question)
        if old is None or new is None:
            only = "asked of the new library alone" if old is None else "asked of the old one alone"
            yield only, question, _said(new or old)
        elif old[1] != new[1]:
            yield _change(old[1], new[1]), question, f"{_said(old)}\n   -> {_said(new)}"
        elif old[2] != new[2] and old[2]:
            yield "another parameter", question, f"{_said(old)}\n   -> {_said(new)}"
        elif old[3] != new[3]:
            yield "another text", question, f"{_said(old)}\n   -> {_said(new)}"


def _change(old: object, new: object) -> str:
    if old == 0:
        return "refused now"
    if new == 0:
        return "accepted now"
    return f"another status: {old} -> {new}"


def _said(answer: Any) -> str:
    _kind, status, parameter, text = answer
    if status == 0:
        return "accepted"
    return f"{status}{f' of {parameter}' if parameter else ''}: {text}"


def _pairs(
    old: Path, new: Path, pattern: str
) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yield chip, operator and the answers of both dumps; both are in the same order."""
    waiting: tuple[dict[tuple[str, str], Any], dict[tuple[str, str], Any]] = {}, {}
    for rows in zip_longest(_rows(old, pattern), _rows(new, pattern)):
        for mine, theirs, row in zip(waiting, reversed(waiting), rows, strict=True):
            if row is None:
                continue
            key = row["chip"], row["operator"]
            mine[key] = row["answers"]
            if key in theirs:
                yield *key, waiting[0].pop(key), waiting[1].pop(key)
    for key in waiting[0].keys() | waiting[1].keys():
        yield *key, waiting[0].get(key, {}), waiting[1].get(key, {})


def _rows(file: Path, pattern: str) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            if re.search(pattern, row["operator"]):
                yield row
