# SPDX-License-Identifier: Apache-2.0
"""Causes that the words of a line name, from the table of causes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from aclnn_py.errors.code_finder import quote
from aclnn_py.errors.code_lookup import Explanation, advised
from aclnn_py.facts.log_facts import CauseFact, causes

__all__ = ["causes_in", "may_name_a_cause", "words_of"]

# What a part of a text may look like, by its name; anything else is a word.
_NUMBER = r"-?\d+"
_FORMS = {
    **dict.fromkeys(("bound", "count", "device", "dimension", "index", "port", "ranks"), _NUMBER),
    "rank": r"\d+(?:[ ,]+\d+)*,?",
    "allowed": r"[^.;\n]{1,80}?",
    "any": r".{1,80}?",
    "chip": r"[\w. -]{1,40}?\w",
    "file": r"[^\s,;'\"\[\]]{1,300}",
    "interface": r"[\w.:-]{1,60}",
    "symbol": r"[\w:~]{1,200}",
    "symbol2": r"[\w:~]{1,200}",
    "library": r"[\w.+/-]{1,200}?",
    "where": r"[\w.:/-]{1,80}",
    "address": r"[\w.:%]{1,80}",
    "variable": r"[A-Z][A-Z0-9_]{2,60}",
    "parameter": r"[\w.>\[\]-]{1,60}?",
}
_WORD = r"[^\s,;()'\"\[\]{}]{1,120}?"
_GAP = r".{0,400}?"
_AT_END = re.compile(r"(\{1,\d+\})\?\)$")

_WORDS = re.compile(r"[a-z_]+")
# Words that most logs have in most lines; any other one finds the texts that may match.
_COMMON_WORDS = """
a all alloc and are be block but by check count device error event executor failed for from get has
host id in init input is kernel_name match may must name no not of on one only open or out output
path port process python rank range read recv res reason runtime same send set shape should size so
stream support sync task tensor that the to type value wait with x
"""
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True)
class _Text:
    """One text of a cause: the words that a line needs for it, in lower case, and its pattern."""

    order: int
    words: frozenset[str]
    pattern: re.Pattern[str]
    cause: CauseFact


def words_of(line: str) -> set[str]:
    """The words of a line, in lower case."""
    return set(_WORDS.findall(line.lower()))


def may_name_a_cause(words: set[str]) -> bool:
    """Whether a line of these words may name a cause.

    Parameters
    ----------
    words : set of str
        As ``words_of`` gives them.
    """
    table = _by_word()
    return any(one.words <= words for word in table.keys() & words for one in table[word])


def causes_in(text: str) -> list[Explanation]:
    """Explain the causes that a text names, each once, with what it names.

    Parameters
    ----------
    text : str
        The text of one line, with single spaces.

    Returns
    -------
    list of Explanation
        In the order of the table of causes.
    """
    words = words_of(text)
    found: dict[str, tuple[CauseFact, re.Match[str]]] = {}
    table = _by_word()
    candidates = (one for word in table.keys() & words for one in table[word])
    for one in sorted(candidates, key=lambda one: one.order):
        match = one.pattern.search(text) if one.words <= words else None
        if match is not None:
            name = one.cause["id"]
            if name not in found or _n_named(match) > _n_named(found[name][1]):
                found[name] = (one.cause, match)
    return [_explained(*found[name], text) for name in causes() if name in found]


def _n_named(match: re.Match[str]) -> int:
    return sum(value is not None for value in match.groups())


def _explained(cause: CauseFact, match: re.Match[str], text: str) -> Explanation:
    named = {
        name: value.strip(" ,")
        for name, value in match.groupdict().items()
        if value and name != "any"
    }
    return Explanation(
        code="",
        name="",
        library="text",
        known=True,
        family="a cause that the text names",
        meaning=cause["meaning"],
        causes=(),
        checks=(*cause["next"], *advised(cause.get("advice", ()))),
        since="",
        cause=cause["id"],
        weight=cause.get("weight", 2),
        quote=quote(text, *match.span()),
        named=named,
    )


@lru_cache(maxsize=1)
def _by_word() -> dict[str, list[_Text]]:
    """The texts by the longest of their words that few lines have."""
    table: dict[str, list[_Text]] = {}
    texts = [(cause, text) for cause in causes().values() for text in cause["texts"]]
    for order, (cause, text) in enumerate(texts):
        words, pattern = _compiled(text)
        key = max(words - _COMMON or words, key=lambda word: (len(word), word))
        table.setdefault(key, []).append(_Text(order, words, pattern, cause))
    return table


def _compiled(text: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """Read one text of the table: fixed words, ``{parts}`` and gaps."""
    pattern = ""
    words: set[str] = set()
    names: set[str] = set()
    for kind, piece in _pieces(text):
        if kind == "fixed":
            pattern += re.escape(piece)
            words.update(_WORDS.findall(piece.lower()))
        elif kind == "gap":
            pattern += _GAP
        else:
            name, _, form = piece.partition(":")
            form = form or _FORMS.get(name, _WORD)
            once = name == "any" or name in names
            pattern += f"(?:{form})" if once else f"(?P<{name}>{form})"
            names.add(name)
    pattern = _AT_END.sub(r"\1)", pattern)  # at the end a part is as long as it can be
    return frozenset(words), re.compile(pattern, re.IGNORECASE)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        if text[at] == "{":
            depth, end = 1, at + 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            yield "part", text[at + 1 : end - 1]
        elif text.startswith("...", at):
            yield "gap", ""
            end = at + 3 + text.startswith(" ", at + 3)  # a gap includes the spaces around it
        else:
            ends = (text.find("{", at), text.find("...", at))
            end = min((each for each in ends if each > 0), default=len(text))
            yield "fixed", text[at:end].rstrip() if text.startswith("...", end) else text[at:end]
        at = end
