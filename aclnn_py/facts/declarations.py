# SPDX-License-Identifier: Apache-2.0
"""What a fragment of ``include/`` declares: functions, enumerators, integer macros, structures.

The reader knows the few forms a fragment may hold and no other C. Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_DEFINE = re.compile(r"^#define[ \t]+(\w+)[ \t]+(-?\w+)[ \t]*$", re.MULTILINE)
_ENUM = re.compile(r"typedef enum \w*\s*\{([^}]*)\}\s*(\w+);")
_ENUMERATOR = re.compile(r"(\w+)\s*=\s*(-?\w+)")
_AGGREGATE = re.compile(r"^typedef (?:struct|union) ?\w* ?\{\n(.*?)^\} (\w+);", re.DOTALL | re.M)
_NESTED = re.compile(r"^    union \{\n(.*?)^    \}( \w+)?;\n", re.DOTALL | re.M)
_MEMBER = re.compile(r"(\w+)(?:\[[^\]]*\])*;\s*$")
_FUNCTION = re.compile(r"^(?!typedef|#)[^;{}#]*?\b(\w+)\(([^;{}]*)\);", re.MULTILINE)
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*$")


@dataclass
class Declarations:
    """The content of one fragment, each kind in the order of the text."""

    functions: dict[str, str] = field(default_factory=dict)
    """name -> prototype on one line, with its semicolon"""
    constants: dict[str, int] = field(default_factory=dict)
    """enumerators and integer macros"""
    structures: dict[str, list[str]] = field(default_factory=dict)
    """structure or union -> its members; those of an unnamed union count as its own"""


def integer(text: str) -> int:
    """The value of a C integer literal, with or without sign and suffix."""
    negative = text.startswith("-")
    found = _NUMBER.match(text.lstrip("-"))
    if found is None:
        raise ValueError(f"not an integer literal: {text!r}")
    value = int(found[1], 0)
    return -value if negative else value


def read_declarations(text: str) -> Declarations:
    """Read one fragment."""
    plain = _COMMENT.sub("", text)
    found = Declarations()
    for name, value in _DEFINE.findall(plain):
        if _NUMBER.match(value.lstrip("-")):
            found.constants[name] = integer(value)
    for body, _ in _ENUM.findall(plain):
        for name, value in _ENUMERATOR.findall(body):
            found.constants[name] = integer(value)
    for body, name in _AGGREGATE.findall(plain):
        found.structures[name] = _members(body)
    for match in _FUNCTION.finditer(plain):
        found.functions[match[1]] = " ".join(match[0].split())
    return found


def read_file(path: Path) -> Declarations:
    """Read the fragment in a file."""
    return read_declarations(path.read_text(encoding="utf-8"))


def _members(body: str) -> list[str]:
    def flatten(match: re.Match[str]) -> str:
        name = match[2]
        return f"    union {name.strip()};\n" if name else match[1]

    members = []
    for line in _NESTED.sub(flatten, body).splitlines():
        if line.strip():
            found = _MEMBER.search(line)
            if found is None:
                raise ValueError(f"cannot read the member {line.strip()!r}")
            members.append(found[1])
    return members
