# SPDX-License-Identifier: Apache-2.0
"""What is known about texts and numbers that stand in logs only: causes, and codes without a name
in any header."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypedDict

__all__ = ["CauseFact", "cause_of_code", "causes", "log_codes"]


class _NamedCause(TypedDict):
    id: str
    meaning: str
    next: list[str]
    texts: list[str]


class CauseFact(_NamedCause, total=False):
    """One cause of a failure, and how logs speak of it.

    ``next`` is what to do, in this order, and ``advice`` names entries of ``advice()`` that follow.
    ``texts`` are the words of logs: ``{name}`` stands for a part that the answer repeats,
    ``{name:PATTERN}`` for one of that form, ``...`` for anything. ``codes`` stand for this cause
    when nothing more is said: numbers, message codes, or ``hccl 9``. Of several causes the one of
    the largest ``weight`` is told first: 3 for a text that names the cause itself, 2, and 1 for
    what also follows from other causes.
    """

    advice: list[str]
    codes: list[str]
    weight: int


def _read(name: str) -> Any:
    return json.loads(files("aclnn_py.facts").joinpath(name).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def causes() -> dict[str, CauseFact]:
    """All causes by their id, in the order of the data file."""
    rows: list[CauseFact] = _read("causes.json")
    return {row["id"]: row for row in rows}


@lru_cache(maxsize=1)
def cause_of_code() -> dict[str, CauseFact]:
    """The cause that a code stands for, for the codes that stand for one."""
    return {code: row for row in causes().values() for code in row.get("codes", ())}


@lru_cache(maxsize=1)
def log_codes() -> dict[str, dict[str, Any]]:
    """Codes that no header has, by who writes them.

    - ``runtime``: ACL status to the runtime's own numbers of it, hexadecimal (``retCode=0x...``);
    - ``task_scheduler``: the same for the numbers of the device's task scheduler;
    - ``driver``: number to meaning (``drvRetCode``); ``dcmi``: the same for ``npu-smi`` and DCMI;
    - ``framework_modules`` and ``framework_kinds``: the middle and the last digits of torch_npu's
      ``ERRmmkkk``; a kind has its meaning and entries of ``advice()``.
    """
    table: dict[str, dict[str, Any]] = _read("log_codes.json")
    return table
