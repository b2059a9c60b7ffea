# SPDX-License-Identifier: Apache-2.0
"""Shapes of several tensors as patterns that share letters, such as "m k" and "k n".

A pattern is a list of words, one per dimension: a number, a letter that stands for one extent in
all patterns of a row, ``_`` for any extent, or ``...`` for any number of dimensions, the same in
all patterns. A parameter may have several patterns; one of them has to fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from aclnn_py.operators.rules.terms import Call

__all__ = ["match_shapes"]

_LEADING = "..."


@dataclass
class _Bound:
    """What the letters stand for, and where each was read first."""

    extents: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)

    def copy(self) -> _Bound:
        return _Bound(dict(self.extents), dict(self.places), dict(self.owners))


def match_shapes(call: Call, row: Any) -> Iterator[tuple[str, str]]:
    """Compare the shapes of a call with the patterns of a row.

    `shapes` maps parameters to patterns; `limits` letters to (lowest, highest, or null for none).
    With `each` the parameters are lists, and members at one place share their letters; a list of
    one member stands beside all members of the others.
    """
    lists = {c_name: call.tensors(c_name) for c_name in row["shapes"]}
    rounds = max((len(members) for members in lists.values()), default=0) if row.get("each") else 1
    reported: set[str] = set()
    for index in range(rounds):
        bound = _Bound()
        for c_name, patterns in row["shapes"].items():
            members = lists[c_name]
            if not members or (index >= len(members) > 1):
                continue
            name, tensor = members[min(index, len(members) - 1)]
            words = [one.split() for one in ([patterns] if isinstance(patterns, str) else patterns)]
            text = _fit(words, name, tensor.shape, bound)
            if text and name not in reported:
                reported.add(name)
                yield name, text
        for letter, (low, high) in row.get("limits", {}).items():
            extent = bound.extents.get(letter)
            if extent is not None and not (low or 0) <= extent <= (
                extent if high is None else high
            ):
                allowed = f"{low} to {high}" if high is not None else f"{low} or more"
                place = f"{bound.places[letter]} ({letter}) is {extent}; allowed is {allowed}"
                yield bound.owners[letter], place


def _fit(words: list[list[str]], name: str, shape: tuple[int, ...], bound: _Bound) -> str:
    """Bind the letters of the first pattern that fits; otherwise say why none does."""
    problems = []
    for pattern in words:
        trial = bound.copy()
        problem = _bind(pattern, name, shape, trial)
        if not problem:
            bound.extents, bound.places, bound.owners = trial.extents, trial.places, trial.owners
            return ""
        problems.append(problem)
    if len(problems) == 1:
        return problems[0]
    choices = " or ".join(_spell(pattern) for pattern in words)
    letters = {w for pattern in words for w in pattern if w in bound.extents and w != _LEADING}
    known = ", ".join(f"{letter} = {bound.extents[letter]}" for letter in sorted(letters))
    return f"shape {shape}; it must be {choices}" + (f" with {known}" if known else "")


def _bind(pattern: list[str], name: str, shape: tuple[int, ...], bound: _Bound) -> str:
    if pattern and pattern[0] == _LEADING:
        count = len(shape) - len(pattern) + 1
        if count < 0:
            return f"{len(shape)} dimensions; it must be {_spell(pattern)}"
        leading, shape, first = shape[:count], shape[count:], count
        pattern = pattern[1:]
        wanted = bound.extents.setdefault(_LEADING, leading)
        bound.places.setdefault(_LEADING, name)
        if wanted != leading:
            return (
                f"leading dimensions {leading}; they must be {wanted}, "
                f"as in {bound.places[_LEADING]}"
            )
    else:
        first = 0
    if len(shape) != len(pattern):
        return f"{len(shape) + first} dimensions; it must be {_spell(pattern)}"
    for axis, (word, extent) in enumerate(zip(pattern, shape, strict=True), first):
        place = f"dimension {axis}"
        if word == "_":
            continue
        if word.isdigit():
            if extent != int(word):
                return f"{place} is {extent}; it must be {word}"
            continue
        if word not in bound.extents:
            bound.extents[word] = extent
            bound.places[word], bound.owners[word] = place, name
        elif bound.extents[word] != extent:
            source = f"{bound.places[word]} of {bound.owners[word]}"
            return f"{place} is {extent}; it must be {bound.extents[word]} ({word}), as {source}"
    return ""


def _spell(pattern: list[str]) -> str:
    return f"({', '.join(pattern)}{',' if len(pattern) == 1 else ''})"
