# SPDX-License-Identifier: Apache-2.0
"""Read C prototypes of operators. Standard library only: the build loads this file too."""

from __future__ import annotations

import re
from dataclasses import dataclass

PHASE_ONE_SUFFIX = "GetWorkspaceSize"

# C type without const -> (kind letter of launch.h, machine letter of the invoker's shape).
KINDS: dict[str, tuple[str, str]] = {
    "aclTensor *": ("T", "p"),
    "aclTensorList *": ("L", "p"),
    "aclScalar *": ("S", "p"),
    "aclScalarList *": ("R", "p"),
    "aclIntArray *": ("I", "p"),
    "aclFloatArray *": ("F", "p"),
    "aclBoolArray *": ("B", "p"),
    "char *": ("s", "p"),
    "aclDataType": ("y", "i"),
    "bool": ("?", "z"),
    "int8_t": ("b", "b"),
    "int": ("i", "i"),
    "int32_t": ("i", "i"),
    "uint32_t": ("u", "u"),
    "int64_t": ("l", "p"),
    "uint64_t": ("q", "p"),
    "float": ("f", "f"),
    "double": ("d", "d"),
}
# The C type each kind stands for; the reverse of KINDS with one spelling per kind.
C_TYPES: dict[str, str] = {kind: ctype for ctype, (kind, _) in KINDS.items()}

_PROTOTYPE = re.compile(
    r"(?P<result>[A-Za-z_][\w ]*?[ *]+)(?P<name>[A-Za-z_]\w*)\s*\((?P<args>[^()]*)\)\s*;?\s*$"
)
_ARGUMENT = re.compile(r"^(?P<type>.*?[ *])(?P<name>[A-Za-z_]\w*)(?P<array>(\[[^\]]*\])*)$")


@dataclass(frozen=True)
class Argument:
    """One argument of a C function. `ctype` is spelled `const aclTensor *`."""

    ctype: str
    name: str

    @property
    def is_const(self) -> bool:
        return self.ctype.startswith("const ")

    @property
    def bare(self) -> str:
        """The type without const."""
        return self.ctype.removeprefix("const ")


@dataclass(frozen=True)
class Prototype:
    """One C function."""

    result: str
    name: str
    arguments: tuple[Argument, ...]


class PrototypeError(ValueError):
    """The text is no prototype of the wanted form; the message says where it leaves it."""


def parse_prototype(text: str) -> Prototype:
    """Read `RESULT NAME(ARGUMENTS);` written on one or more lines."""
    flat = " ".join(text.split())
    found = _PROTOTYPE.match(flat)
    if not found:
        raise PrototypeError(f"not a C prototype: {flat!r}")
    args = found["args"].strip()
    arguments = () if args in ("", "void") else tuple(map(_argument, args.split(",")))
    return Prototype(_spaced(found["result"]), found["name"], arguments)


def parse_operator(text: str) -> Prototype:
    """Read a phase-one prototype as the operator: its name and its own arguments.

    `workspaceSize` and `executor` at the end are checked and left out.
    """
    prototype = parse_prototype(text)
    name = prototype.name.removesuffix(PHASE_ONE_SUFFIX)
    if name == prototype.name or not name:
        raise PrototypeError(f"{prototype.name}: the name of phase one ends in {PHASE_ONE_SUFFIX}")
    tail = [argument.ctype for argument in prototype.arguments[-2:]]
    if tail != ["uint64_t *", "aclOpExecutor **"]:
        raise PrototypeError(
            f"{prototype.name}: the last two parameters must be uint64_t * and aclOpExecutor **, "
            f"not {', '.join(tail) or 'none'}"
        )
    own = prototype.arguments[:-2]
    for argument in own:
        if argument.bare not in KINDS:
            raise PrototypeError(
                f"{prototype.name}: parameter {argument.name} has type {argument.ctype!r}, "
                f"which no operator parameter can have"
            )
    return Prototype(prototype.result, name, own)


def kinds_of(arguments: tuple[Argument, ...]) -> str:
    """Kind letters of an operator's arguments."""
    return "".join(KINDS[argument.bare][0] for argument in arguments)


def shape_of(arguments: tuple[Argument, ...]) -> str:
    """Machine letters of an operator's arguments: equal shapes share one invoker."""
    return "".join(KINDS[argument.bare][1] for argument in arguments)


def _argument(text: str) -> Argument:
    found = _ARGUMENT.match(text.strip())
    if not found:
        raise PrototypeError(f"not a parameter with a name: {text.strip()!r}")
    ctype = _spaced(found["type"]) + (" *" if found["array"] else "")
    return Argument(_spaced(ctype), found["name"])


def _spaced(ctype: str) -> str:
    """One spelling of a type: single spaces, `const` in front, stars together at the end."""
    stars = ctype.count("*")
    words = ctype.replace("*", " ").split()
    if "const" in words and words[0] != "const":
        words.remove("const")
        words.insert(0, "const")
    return " ".join(words) + (" " + "*" * stars if stars else "")
