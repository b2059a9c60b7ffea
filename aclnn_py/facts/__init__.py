# SPDX-License-Identifier: Apache-2.0
"""What the documents say about operators and status codes, beyond what a C prototype can carry.

The facts lie in data files beside this module. They are read once, at the first question.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, TypedDict

from aclnn_py.facts.operator_rows import OperatorFact, ParameterFact, read_rows

__all__ = [
    "OperatorFact",
    "ParameterFact",
    "PyAclFacts",
    "StatusFact",
    "accepted_calls",
    "advice",
    "emulated",
    "message",
    "operator",
    "operators",
    "pyacl",
    "status",
    "statuses",
]

Domain = Literal["acl", "rt", "ge", "aclnn", "hccl", "message", "msg_prefix"]


class _CodedStatus(TypedDict):
    domain: Domain
    code: int | str
    name: str
    meaning: str


class StatusFact(_CodedStatus, total=False):
    """One status code, or one code that stands in front of a message.

    ``next`` is the first thing to do, where there is one answer in practice; ``advice`` names the
    entries of ``advice()`` that apply.
    """

    cause: str
    since: str
    next: str
    advice: list[str]


class PyAclFacts(TypedDict):
    """The functions of pyACL by their names after ``acl.``.

    ``functions`` has for each the C function and its parameters; ``acl/table.py`` says how such a
    row is written. ``extensions`` has such rows for functions that CANN's pyACL lacks. ``by_hand``
    names those written in Python, with the C function that they call.
    ``refused`` names those that are refused, by the reason in ``acl/refusals.py``.
    """

    functions: dict[str, str]
    extensions: dict[str, str]
    by_hand: dict[str, str]
    refused: dict[str, list[str]]


@lru_cache(maxsize=1)
def pyacl() -> PyAclFacts:
    """The table of pyACL's functions."""
    text = files(__name__).joinpath("pyacl.json").read_text(encoding="utf-8")
    table: PyAclFacts = json.loads(text)
    return table


@lru_cache(maxsize=1)
def operators() -> dict[str, OperatorFact]:
    """All operators by C name, such as ``aclnnAdd``, in the order of their names."""
    return dict(sorted(read_rows().items()))


def operator(name: str) -> OperatorFact | None:
    """The facts of one operator by C name; None for an operator the documents do not have."""
    return operators().get(name)


@lru_cache(maxsize=1)
def emulated() -> dict[str, OperatorFact]:
    """The operators that the emulator has, by C name."""
    return {name: fact for name, fact in operators().items() if fact.emulated}


@lru_cache(maxsize=2)
def accepted_calls(chip: Literal["910B", "950"] = "910B") -> dict[str, list[list[Any]]]:
    """A few calls of every operator that phase one accepts: by C name, as lists of arguments.

    Arguments stand in C order. Those for "950" are the calls that only a chip of that series takes,
    of operators that other chips have too. An argument is written as

    - a tensor: ``{"tensor": dtype, "shape": [...]}``, and where they differ from a dense tensor of
      its own memory ``strides``, ``offset`` (both in elements), ``format``, ``storage_shape``,
      ``memory`` (its number: tensors with one number share their memory), ``bytes`` (contents of
      the memory in hexadecimal, for tensors whose contents the operator judges);
    - a list of tensors: ``{"tensors": [tensor or null, ...]}``;
    - a scalar: ``{"scalar": dtype, "bytes": hex}``; a list of them: ``{"scalars": [...]}``;
    - the name of a communicator: ``{"group": number of ranks}``; with ``"second": true`` that of
      another one of the same devices;
    - this rank's number in it: ``{"rank": number of ranks}``;
    - anything else as JSON has it; null is a null pointer.
    """
    name = "accepted_calls_950.json" if chip == "950" else "accepted_calls.json"
    text = files(__name__).joinpath(name).read_text(encoding="utf-8")
    table: dict[str, list[list[Any]]] = json.loads(text)
    return table


@lru_cache(maxsize=1)
def statuses() -> tuple[StatusFact, ...]:
    """All status and message codes, in the order of the data file."""
    text = files(__name__).joinpath("status.json").read_text(encoding="utf-8")
    rows: list[StatusFact] = json.loads(text)
    return tuple(rows)


@lru_cache(maxsize=1)
def advice() -> dict[str, list[str]]:
    """What to check, by topic, in the order in which it pays."""
    text = files(__name__).joinpath("advice.json").read_text(encoding="utf-8")
    table: dict[str, list[str]] = json.loads(text)
    return table


@lru_cache(maxsize=1)
def _by_number() -> dict[tuple[bool, int], StatusFact]:
    table: dict[tuple[bool, int], StatusFact] = {}
    for row in statuses():
        code = row["code"]
        if isinstance(code, int):
            # the first name of a number is the current one, later rows are its older spellings
            table.setdefault((row["domain"] == "hccl", code), row)
    return table


def status(code: int, *, hccl: bool = False) -> StatusFact | None:
    """The meaning of a status number; None when no table has it.

    AscendCL and operator calls share one range of numbers, HCCL counts from zero on its own.
    """
    return _by_number().get((hccl, code))


@lru_cache(maxsize=1)
def _by_message_code() -> dict[str, StatusFact]:
    return {row["code"]: row for row in statuses() if isinstance(row["code"], str)}


def message(code: str) -> StatusFact | None:
    """The meaning of a code such as ``EZ1001`` in front of a library's message.

    A code without a row of its own is answered with the row of its class (its first two
    characters); None when that is unknown too.
    """
    table = _by_message_code()
    return table.get(code) or table.get(code[:2])
