# SPDX-License-Identifier: Apache-2.0
"""The result of a rule: how serious it is, what was seen, why it matters and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["LEVELS", "Finding", "Level", "error", "note", "ok", "verdict", "warning"]

Level = Literal["ok", "note", "warning", "error"]
LEVELS: tuple[Level, ...] = ("ok", "note", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """One result of one rule.

    Attributes
    ----------
    level : str
        ``"ok"``, ``"note"`` (worth knowing), ``"warning"`` (some programs will fail) or ``"error"``
        (the device cannot be used, or results cannot be trusted).
    seen : str
        What was found.
    why : str
        What follows from it; may be empty for ``"ok"``.
    action : str
        What to do; empty for ``"ok"``.
    rule, group : str
        Name of the rule and of the group it belongs to.
    """

    level: Level
    seen: str
    why: str = ""
    action: str = ""
    rule: str = ""
    group: str = ""


def ok(seen: str, why: str = "") -> Finding:
    """Return a finding that needs no action."""
    return Finding("ok", seen, why)


def note(seen: str, why: str, action: str = "") -> Finding:
    """Return a finding that is worth knowing."""
    return Finding("note", seen, why, action)


def warning(seen: str, why: str, action: str) -> Finding:
    """Return a finding that breaks some programs."""
    return Finding("warning", seen, why, action)


def error(seen: str, why: str, action: str) -> Finding:
    """Return a finding that makes the device useless or its results doubtful."""
    return Finding("error", seen, why, action)


def verdict(findings: Iterable[Finding]) -> Level:
    """Return the worst level among findings; ``"ok"`` for none."""
    return max((finding.level for finding in findings), key=LEVELS.index, default="ok")
