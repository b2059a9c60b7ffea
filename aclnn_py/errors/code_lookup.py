# SPDX-License-Identifier: Apache-2.0
"""Codes found in a text, and what is known about each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from aclnn_py import facts
from aclnn_py.errors.code_families import (
    Family,
    family_of_message,
    family_of_name,
    family_of_status,
)

__all__ = ["Explanation", "explain_message", "explain_status", "find"]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What is known about one code.

    Attributes
    ----------
    code : str
        The number, or the code in front of a message.
    name : str
        Its name in CANN's headers; "" where it has none.
    library : str
        ``"acl"``, ``"aclnn"``, ``"hccl"`` or ``"message"``; "" where the range has no known owner.
    known : bool
        Whether a table has the code. If not, the rest follows from its range.
    family : str
        Who gives codes of this range, and for what.
    meaning : str
    causes, checks : tuple of str
        Usual causes; what to look at, in this order.
    since : str
        First CANN release known to have it; "" when unknown.
    """

    code: str
    name: str
    library: str
    known: bool
    family: str
    meaning: str
    causes: tuple[str, ...]
    checks: tuple[str, ...]
    since: str


# A number without context is taken for a status only where the tables have it: logs are full of
# process ids and sizes.
_MESSAGE = re.compile(r"(?<![A-Za-z0-9])([EWI][A-Z0-9]\d{4})(?![A-Za-z0-9])")
_NAME = re.compile(
    r"(?<![A-Za-z0-9_])((?:ACL|ACLNN)_(?:SUCCESS|ERR[A-Z0-9_]{1,60})"
    r"|HCCL_(?:SUCCESS|E_[A-Z0-9_]{1,60}))(?![A-Za-z0-9_])"
)
_STATUS = re.compile(r"(?<![\w.:/-])([1235]\d{5})(?![\w:/-]|\.\d)")
MOST = 1000
_BEFORE = 40
# What stands before a number that is something else.
_OTHER = re.compile(r"(?:pid|tid|thread|process|line|size|bytes|port|seed)\W*$", re.IGNORECASE)
_FAILED = re.compile(
    r"(?:error|err|errno|ret|retcode|result|status|code|fail|failed|failure|return|returned)"
    r"[\s:=\[(#is,]*(\d{6})(?![\w.])",
    re.IGNORECASE,
)
_HCCL_LINE = re.compile(r"hccl", re.IGNORECASE)
_HCCL_NUMBER = re.compile(
    r"(?:error|err|errno|ret|retcode|result|status|code|fail|failed|failure|return|returned|hccl)"
    r"[\s:=\[(#is,]*(\d{1,4})(?![\w.])",
    re.IGNORECASE,
)


def explain_status(status: int, *, hccl: bool = False) -> Explanation:
    """Explain a status number.

    Parameters
    ----------
    status : int
    hccl : bool, default False
        Whether it is an HcclResult; those count from 0 on their own.
    """
    return _of(facts.status(status, hccl=hccl), str(status), family_of_status(status, hccl=hccl))


def explain_message(code: str) -> Explanation:
    """Explain a code such as ``EZ1001`` that stands in front of a library's message."""
    fact = facts.message(code)
    text = "a module of CANN that no table has"
    group = facts.message(code[:2])
    if group is not None:
        text = group["meaning"].removeprefix("message class: ")
    if fact is not None and fact["code"] != code:
        fact = None  # that is the row of its class
    return _of(fact, code, family_of_message(code, text))


def _of(fact: facts.StatusFact | None, code: str, family: Family, name: str = "") -> Explanation:
    first, topics, causes = [], list(family.advice), []
    if fact is not None:
        name, topics = fact["name"], fact["advice"]
        first = [fact["next"]] if "next" in fact else []
        causes = [fact["cause"]] if "cause" in fact else []
    checks = [*first, *(line for topic in topics for line in facts.advice()[topic])]
    return Explanation(
        code=code,
        name=name,
        library=family.library,
        known=fact is not None,
        family=family.text,
        meaning="" if fact is None else fact["meaning"],
        causes=tuple(causes),
        checks=tuple(dict.fromkeys(checks)),
        since="" if fact is None else fact.get("since", ""),
    )


@lru_cache(maxsize=1)
def _by_name() -> dict[str, tuple[int, bool]]:
    return {
        row["name"]: (row["code"], row["domain"] == "hccl")
        for row in facts.statuses()
        if isinstance(row["code"], int)
    }


def _explain_name(name: str) -> Explanation:
    found = _by_name().get(name)
    if found is not None:
        return explain_status(found[0], hccl=found[1])
    return _of(None, "", family_of_name(name), name)


def find(text: str) -> list[Explanation]:
    """Find all codes in a text and explain them, in the order of their first appearance.

    Parameters
    ----------
    text : str
        A number, a name, a message code, or any number of lines of a log.

    Returns
    -------
    list of Explanation
        Each code once; empty when there is none. After ``MOST`` of them the rest is not read: no
        log of a failure has as many.
    """
    word = text.strip()
    if re.fullmatch(r"[0-9]{1,20}", word):
        number = int(word)
        return [explain_status(number, hccl=0 < number < 10_000)]
    hccl_word = re.fullmatch(r"hccl[\s:]+(\d{1,4})", word, re.IGNORECASE)
    if hccl_word is not None:
        return [explain_status(int(hccl_word[1]), hccl=True)]
    found: dict[tuple[str, str], Explanation] = {}
    for line in text.splitlines():
        places = islice(_in_line(line), 100 * MOST)
        for _at, explanation in sorted(places, key=lambda pair: pair[0]):
            # 0 is success in every family; a log is read for its failures.
            if explanation.code != "0":
                key = (explanation.library, explanation.code or explanation.name)
                found.setdefault(key, explanation)
        if len(found) >= MOST:
            break
    return list(found.values())


def _in_line(line: str) -> Iterator[tuple[int, Explanation]]:
    for match in _MESSAGE.finditer(line):
        if facts.message(match[1]) is not None:
            yield match.start(1), explain_message(match[1])
    for match in _NAME.finditer(line):
        yield match.start(1), _explain_name(match[1])
    stated = {match.start(1) for match in _FAILED.finditer(line)}
    for match in _STATUS.finditer(line):
        number = int(match[1])
        # Of a long line no more than the words before the number.
        if _OTHER.search(line[max(match.start(1) - _BEFORE, 0) : match.start(1)]):
            continue
        if facts.status(number) is not None or match.start(1) in stated:
            yield match.start(1), explain_status(number)
    if _HCCL_LINE.search(line):
        for match in _HCCL_NUMBER.finditer(line):
            if facts.status(int(match[1]), hccl=True) is not None:
                yield match.start(1), explain_status(int(match[1]), hccl=True)
