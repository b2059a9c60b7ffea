# SPDX-License-Identifier: Apache-2.0
"""The process that asks; its parent (`dump`) sees to it when it dies or hangs.

Arguments are one JSON object: ``library``, ``operators`` (C names), ``every``, ``page`` (a file),
and ``leave``, questions that are not asked, as pairs of an operator's position and a number. For
each operator a line of JSON goes to standard output.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from fuzz.progress import Page  # type: ignore[import-not-found]
from helpers.accepted_calls import Call, Group, read_argument  # type: ignore[import-not-found]
from helpers.phase_one import NoObjectError, PhaseOne  # type: ignore[import-not-found]

from aclnn_py import facts
from aclnn_py._ffi import OpenLibrary, ffi
from aclnn_py._ffi.libraries import open_library
from aclnn_py.operators.rulebook.handles import Library
from aclnn_py.tools.verify.questions import Change, changes

__all__ = ["MOST", "Page", "main"]

# Calls with two changes, for every accepted call.
DOUBLES = 24
_NO_GROUP = "no communicator has this name"
# Questions of one operator; a page holds one number for operator and question.
MOST = 1 << 24

# Of a question that a process died of: status, parameter, text.
_DIED = ("died", "", "")


def opened(path: Path) -> Library:
    """Open an emulator library and make its first device current."""
    handle, reason = open_library(path)
    if handle == ffi.NULL:
        raise SystemExit(f"{path} cannot be loaded: {reason}")
    library = Library(OpenLibrary(str(path), handle))
    init = library.function("aclInit", "int32_t (*)(char const *)")
    set_device = library.function("aclrtSetDevice", "int32_t (*)(int32_t)")
    if init is None or set_device is None:
        raise SystemExit(f"{path} is no emulator library: it has no aclInit and aclrtSetDevice")
    if init(ffi.NULL) or set_device(0):
        raise SystemExit(f"{path}: {library.message()}")
    return library


class Groups(dict[int, str]):
    """Names of communicators by `Group.key`."""

    def __init__(self, library: Library) -> None:
        super().__init__()
        self._library = library

    def name(self, key: int) -> str:
        """Return the name of a communicator, which is made at the first use."""
        if key not in self:
            self[key] = self._made(abs(key))
        return self[key]

    def _made(self, count: int) -> str:
        make = self._library.function(
            "HcclCommInitAll", "int32_t (*)(uint32_t, int32_t *, void **)"
        )
        name_of = self._library.function("HcclGetCommName", "int32_t (*)(void *, char *)")
        made, name = ffi.new("void *[]", count), ffi.new("char[128]")
        if make(count, list(range(count)), made) or name_of(made[0], name):
            raise SystemExit(f"a group of {count} ranks: {self._library.message()}")
        return str(ffi.string(name).decode())


def rows_of(operator: str, soc: str, every: int) -> list[list[Any]]:
    """Accepted calls of an operator: those of all chips, and on a 950 its own too."""
    rows = list(facts.accepted_calls().get(operator, []))
    if soc.startswith("Ascend950"):
        rows += facts.accepted_calls("950").get(operator, [])
    return rows[::every]


def key_of(row: list[Any]) -> str:
    """A short name of a call, by its arguments."""
    return hashlib.blake2b(json.dumps(row).encode(), digest_size=4).hexdigest()


def questions(call: Call, row: list[Any], key: str) -> Iterator[tuple[str, str, dict[int, Any]]]:
    """Kind, description and changed arguments of each question; the first changes nothing."""
    yield "accepted", "accepted call", {}
    parameters = call.op.parameters
    found = list(changes(parameters, row))
    named = [f"{parameters[change.position].name}: {change.kind} {change.what}" for change in found]
    for change, name in zip(found, named, strict=True):
        yield change.kind, name, {change.position: read_argument(change.argument)}
    for position, value in enumerate(row):
        if isinstance(value, dict) and "group" in value:
            yield "text", f"{parameters[position].name}: unknown group", {position: _NO_GROUP}
    yield from _doubles(f"{call.operator} {key}", found, named)


def _doubles(
    seed: str, found: list[Change], named: list[str]
) -> Iterator[tuple[str, str, dict[int, Any]]]:
    rng = random.Random(seed)
    taken = set()
    for _ in range(DOUBLES if len(found) > 1 else 0):
        first, second = sorted(rng.sample(range(len(found)), 2))
        a, b = found[first], found[second]
        if a.position != b.position and (first, second) not in taken:
            taken.add((first, second))
            values = {c.position: read_argument(c.argument) for c in (a, b)}
            yield "double", f"{named[first]} and {named[second]}", values


class Asker:
    """Puts questions to a library."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._groups = Groups(library)

    def answers(self, operator: str, soc: str, every: int, note: Any) -> dict[str, list[Any]]:
        """Return the answers of an operator by call and question.

        ``note(number)`` is told of each question, and says whether it is to be asked.
        """
        if self._library.phase_one(operator) is None:
            return {"": ["absent", -1, "", "the library lacks the operator"]}
        found: dict[str, list[Any]] = {}
        number = -1
        for row in rows_of(operator, soc, every):
            key = key_of(row)
            call = Call(operator, tuple(map(read_argument, row)))
            for argument in call.arguments:
                if isinstance(argument, Group):
                    self._groups.name(argument.key)
            with PhaseOne(call, self._groups, self._library) as question:
                for kind, what, arguments in questions(call, row, key):
                    number += 1
                    asked = note(number)
                    answer = self._ask(operator, question, arguments) if asked else _DIED
                    found[f"{key} {what}"] = [kind, *answer]
        return found

    def _ask(
        self, operator: str, question: PhaseOne, arguments: dict[int, Any]
    ) -> tuple[Any, str, str]:
        try:
            status = question.ask_with(arguments)
        except NoObjectError as error:
            return "no object", "", self._plain(str(error))
        if status == 0:
            return 0, "", ""
        refusal = self._library.refusal(operator)
        text = self._plain(question.message())
        return status, "" if refusal is None else refusal.parameter, text

    def _plain(self, text: str) -> str:
        for key, name in self._groups.items():
            text = text.replace(name, f"<group of {key}>")
        return text


def main(asked: dict[str, Any]) -> None:
    """Answer for each operator that is asked for."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints does not belong among the answers
    page = Page(Path(asked["page"]))
    soc = os.environ["ACLNN_PY_EMULATOR_SOC"]
    asker = Asker(opened(Path(asked["library"])))
    leave = {tuple(pair) for pair in asked["leave"]}
    for position, operator in enumerate(asked["operators"]):

        def note(number: int, position: int = position) -> bool:
            page.begin(position * MOST + number)
            return (position, number) not in leave

        found = asker.answers(operator, soc, asked["every"], note)
        page.done({"questions": len(found)})
        answers.write(json.dumps({"operator": operator, "answers": found}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
