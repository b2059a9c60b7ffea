# SPDX-License-Identifier: Apache-2.0
"""A call as the fuzzer makes it: an accepted one after mutation, which Python could not express.

Dtypes and formats may be numbers that mean nothing, extents may be negative, and a handle may be
stale, of another kind, or the same for two parameters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helpers.accepted_calls import (
    Call,
    ScalarListSpec,
    ScalarSpec,
    TensorListSpec,
    TensorSpec,
    read_argument,
    write_argument,
)

# Values of TensorSpec.memory that stand for an address without memory behind it.
NO_DATA, HOST_DATA, FREED_DATA = -1, -2, -3


@dataclass(frozen=True)
class Stale:
    """The handle of an object that has been destroyed; ``kind`` is its letter."""

    kind: str


@dataclass(frozen=True)
class Wrong:
    """An argument of another kind, made as its own letter says and passed all the same."""

    kind: str
    argument: Any


@dataclass(frozen=True)
class Same:
    """The handle that the argument at a position has."""

    position: int


@dataclass(frozen=True)
class Text:
    """A string of any bytes."""

    data: bytes


@dataclass(frozen=True)
class Case:
    """A call and how it is made.

    Attributes
    ----------
    call : Call
    flags : frozenset of str
        "repeatable": the executor runs twice; "no size", "no executor", "no workspace": a null
        pointer in their place; "small workspace".
    mutations : tuple of str
        What was done to the accepted call, in words.
    """

    call: Call
    flags: frozenset[str] = frozenset()
    mutations: tuple[str, ...] = ()

    def written(self) -> dict[str, Any]:
        """Return the case as JSON has it."""
        return {
            "operator": self.call.operator,
            "mutations": list(self.mutations),
            "flags": sorted(self.flags),
            "arguments": [_write(argument) for argument in self.call.arguments],
        }


def read_case(path: Path) -> Case:
    """Read a case from the file of a defect."""
    row = json.loads(path.read_text(encoding="utf-8"))
    row = row.get("case", row)
    return Case(
        Call(row["operator"], tuple(_read(argument) for argument in row["arguments"])),
        frozenset(row["flags"]),
        tuple(row["mutations"]),
    )


def changed_tensors(call: Call, change: Any) -> Call:
    """Return the call with ``change(tensor)`` in place of every tensor."""

    def through(argument: Any) -> Any:
        if isinstance(argument, TensorSpec):
            return change(argument)
        if isinstance(argument, TensorListSpec):
            members = tuple(None if m is None else change(m) for m in argument.members)
            return TensorListSpec(members)
        return argument

    return replace(call, arguments=tuple(through(argument) for argument in call.arguments))


def letter_of(argument: Any) -> str:
    """The kind of an argument that is an object of the library, "" of others."""
    kinds = {TensorSpec: "T", TensorListSpec: "L", ScalarSpec: "S", ScalarListSpec: "R"}
    return kinds.get(type(argument), "")


def _write(argument: Any) -> Any:
    if isinstance(argument, Stale):
        return {"stale": argument.kind}
    if isinstance(argument, Wrong):
        return {"wrong": argument.kind, "argument": _write(argument.argument)}
    if isinstance(argument, Same):
        return {"same": argument.position}
    if isinstance(argument, Text):
        return {"text": argument.data.hex()}
    return write_argument(argument)


def _read(written: Any) -> Any:
    if isinstance(written, dict):
        if "stale" in written:
            return Stale(written["stale"])
        if "wrong" in written:
            return Wrong(written["wrong"], _read(written["argument"]))
        if "same" in written:
            return Same(written["same"])
        if "text" in written:
            return Text(bytes.fromhex(written["text"]))
    return read_argument(written)
