# SPDX-License-Identifier: Apache-2.0
"""What is known about one code: a status, a name, a message code, a number of a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from aclnn_py import facts
from aclnn_py.errors.code_families import (
    Family,
    family_of_message,
    family_of_name,
    family_of_status,
)
from aclnn_py.facts.log_facts import CauseFact, cause_of_code, log_codes

__all__ = [
    "Explanation",
    "explain_dcmi",
    "explain_driver",
    "explain_framework",
    "explain_message",
    "explain_name",
    "explain_runtime",
    "explain_status",
]


_MOST_OF_A_CODE = 2  # the weight of a code: a text that names the cause itself says more


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What is known about one code, or about a cause that a text names.

    Attributes
    ----------
    code : str
        The number, or the code in front of a message; "" for a text.
    name : str
        Its name in CANN's headers; "" where it has none.
    library : str
        ``"acl"``, ``"aclnn"``, ``"hccl"``, ``"message"``, ``"runtime"`` (its own numbers),
        ``"driver"``, ``"dcmi"``, ``"framework"``, or ``"text"``; "" where the range has no known
        owner.
    known : bool
        Whether a table has the code or the cause. If not, the rest follows from its range.
    family : str
        Who gives codes of this range, and for what.
    meaning : str
    causes, checks : tuple of str
        Usual causes; what to look at, in this order.
    since : str
        First CANN release known to have it; "" when unknown.
    cause : str
        The cause that the code or the text stands for, such as ``"port-in-use"``; ``"unknown"``
        where a log names none; "" for a code that several causes can have.
    weight : int
        How directly it speaks of the cause: 3 names it, 1 also follows from other causes, 0 none.
    quote, file, line : str, str, int
        The part of the text that was used, and where it stands; "" and 0 where no text was read.
    named : dict of str to str
        What the text names: rank, device, index, bound, port, library, symbol ...
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
    cause: str = ""
    weight: int = 0
    quote: str = ""
    file: str = ""
    line: int = 0
    named: Mapping[str, str] = field(default_factory=dict)


def explain_status(status: int, *, hccl: bool = False) -> Explanation:
    """Explain a status number.

    Parameters
    ----------
    status : int
    hccl : bool, default False
        Whether it is an HcclResult; those count from 0 on their own.
    """
    key = f"hccl {status}" if hccl else str(status)
    family = family_of_status(status, hccl=hccl)
    return _of(facts.status(status, hccl=hccl), str(status), family, cause_of_code().get(key))


def explain_message(code: str) -> Explanation:
    """Explain a code such as ``EZ1001`` that stands in front of a library's message."""
    fact = facts.message(code)
    text = "a module of CANN that no table has"
    group = facts.message(code[:2])
    if group is not None:
        text = group["meaning"].removeprefix("message class: ")
    if fact is not None and fact["code"] != code:
        fact = None  # that is the row of its class
    return _of(fact, code, family_of_message(code, text), cause_of_code().get(code))


def explain_name(name: str) -> Explanation:
    """Explain a name of CANN's headers, such as ``ACLNN_ERR_PARAM_INVALID``."""
    found = _by_name().get(name)
    if found is not None:
        return explain_status(found[0], hccl=found[1])
    return _of(None, "", family_of_name(name), None, name)


def explain_runtime(number: int, *, scheduler: bool = False) -> Explanation:
    """Explain a number of the runtime or of the device's task scheduler, as ``retCode=0x7020023``.

    Parameters
    ----------
    number : int
    scheduler : bool, default False
        Whether it is one of the task scheduler, such as 0x26.
    """
    who = "the device's task scheduler" if scheduler else "the runtime"
    status = _internal("task_scheduler" if scheduler else "runtime").get(number)
    fact = None if status is None else facts.status(status)
    family = Family("runtime", f"{who}'s own number of a failure, in logs only", ("plog",))
    cause = None if status is None else cause_of_code().get(str(status))
    found = _of(fact, f"0x{number:x}", family, cause)
    if fact is None:
        return found
    return replace(found, meaning=f"{who}'s own number of {fact['code']}: {fact['meaning']}")


def explain_driver(number: int) -> Explanation:
    """Explain a number that the driver returned, as ``drvRetCode=7``."""
    return _of_log("driver", number, "driver", "driver: the result of one of its functions")


def explain_dcmi(number: int) -> Explanation:
    """Explain a number of DCMI, as ``ret is -8005`` of ``npu-smi``."""
    return _of_log("dcmi", number, "dcmi", "device management (DCMI), on which npu-smi stands")


def explain_framework(code: str) -> Explanation:
    """Explain a code of torch_npu, such as ``ERR00100``."""
    table = log_codes()
    kind = table["framework_kinds"].get(code[5:])
    owner = table["framework_modules"].get(code[3:5], "a module that no table has")
    meaning, topics = kind if kind is not None else ("", ["plog"])
    return Explanation(
        code=code,
        name="",
        library="framework",
        known=kind is not None,
        family=f"torch_npu, {owner}",
        meaning=meaning,
        causes=(),
        checks=advised(topics),
        since="",
    )


def advised(topics: Iterable[str]) -> tuple[str, ...]:
    """The advice of several topics, each sentence once."""
    return tuple(dict.fromkeys(line for topic in topics for line in facts.advice()[topic]))


def _of_log(table: str, number: int, library: str, family: str) -> Explanation:
    meaning = log_codes()[table].get(str(number), "")
    cause = cause_of_code().get(f"{library} {number}")
    checks = [*(cause["next"] if cause else ()), *advised(["devices", "hardware", "plog"])]
    return Explanation(
        code=str(number),
        name="",
        library=library,
        known=bool(meaning),
        family=family,
        meaning=meaning,
        causes=(),
        checks=tuple(dict.fromkeys(checks)),
        since="",
        cause=cause["id"] if cause else "",
        weight=min(cause.get("weight", 2), _MOST_OF_A_CODE) if cause else 0,
    )


def _of(
    fact: facts.StatusFact | None,
    code: str,
    family: Family,
    cause: CauseFact | None,
    name: str = "",
) -> Explanation:
    first, topics, causes = [], list(family.advice), []
    if fact is not None:
        name, topics = fact["name"], fact["advice"]
        first = [fact["next"]] if "next" in fact else []
        causes = [fact["cause"]] if "cause" in fact else []
    steps = cause["next"] if cause is not None and not first else []
    return Explanation(
        code=code,
        name=name,
        library=family.library,
        known=fact is not None,
        family=family.text,
        meaning="" if fact is None else fact["meaning"],
        causes=tuple(causes),
        checks=tuple(dict.fromkeys([*first, *steps, *advised(topics)])),
        since="" if fact is None else fact.get("since", ""),
        cause=cause["id"] if cause else "",
        weight=min(cause.get("weight", 2), _MOST_OF_A_CODE) if cause else 0,
    )


@lru_cache(maxsize=1)
def _by_name() -> dict[str, tuple[int, bool]]:
    return {
        row["name"]: (row["code"], row["domain"] == "hccl")
        for row in facts.statuses()
        if isinstance(row["code"], int)
    }


@lru_cache(maxsize=2)
def _internal(table: str) -> dict[int, int]:
    return {
        int(number, 16): int(status)
        for status, numbers in log_codes()[table].items()
        for number in numbers
    }
