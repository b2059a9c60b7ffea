# SPDX-License-Identifier: Apache-2.0
"""Prototypes of operators in a tree of headers that may be anybody's.

Each file is bounded and gone through once, in time that grows with its length and not faster.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aclnn_py.errors import AclnnPyError

__all__ = ["HeaderError", "Prototype", "read_prototypes"]

MAX_FILE_NBYTES = 8 << 20
MAX_FILES = 20_000
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,150}\.h", re.ASCII)
# A block comment without an end reaches to the end of the file, so that it is looked for once.
_TOKEN = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|[;{}]", re.DOTALL)
_PHASE_ONE = re.compile(r"\b(aclnn\w{1,120}?)GetWorkspaceSize\s*\(", re.ASCII)


class HeaderError(AclnnPyError, ValueError):
    """A header is larger than headers are, or no file at all."""


@dataclass(frozen=True)
class Prototype:
    """Phase one of an operator as a header declares it.

    Attributes
    ----------
    name : str
        The C name of the operator.
    home : str
        The header, relative to the tree.
    arguments : str
        What stands between the parentheses, without comments.
    comment : str
        The block comment in front of the declaration, or "".
    """

    name: str
    home: str
    arguments: str
    comment: str


@lru_cache(maxsize=8)
def read_prototypes(cann_include: Path) -> Mapping[str, Prototype]:
    """Return operator -> prototype; the shortest path wins.

    Files whose names are none of a C header are left out: such a name would go into sources.

    Raises
    ------
    HeaderError
        A header has more than 8 MiB, or there are more than 20,000.
    OSError
        A header cannot be read.
    """
    found: dict[str, Prototype] = {}
    for path in _headers(cann_include):
        home = path.relative_to(cann_include).as_posix()
        for prototype in _prototypes(_text(path), home):
            found.setdefault(prototype.name, prototype)
    return found


def _headers(cann_include: Path) -> list[Path]:
    folder = cann_include / "aclnnop"
    paths = sorted(folder.glob("*.h")) + sorted(folder.glob("level2/*.h"))
    if len(paths) > MAX_FILES:
        raise HeaderError(f"{folder}: {len(paths)} headers; at most {MAX_FILES} are read")
    return [path for path in paths if _FILE_NAME.fullmatch(path.name)]


def _text(path: Path) -> str:
    # Without O_NONBLOCK a fifo would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise HeaderError(f"{path}: not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            raw = file.read(MAX_FILE_NBYTES + 1)
    finally:
        os.close(descriptor)
    if len(raw) > MAX_FILE_NBYTES:
        raise HeaderError(f"{path}: more than {MAX_FILE_NBYTES} bytes, which no header has")
    return raw.decode("utf-8", "replace")


def _prototypes(text: str, home: str) -> Iterator[Prototype]:
    parts: list[str] = []  # of the statement, without comments
    length = begun = 0
    comments = [(0, "")]  # since the last semicolon, each with how much of the statement is before
    for token in _TOKEN.finditer(text):
        part = text[begun : token.start()]
        parts.append(part)
        length += len(part)
        begun = token.end()
        mark = token[0]
        if mark.startswith("/*"):
            comments.append((length, mark))
            parts.append(" ")
            length += 1
        elif mark in (";", "{", "}"):
            if mark == ";":
                yield from _prototype("".join(parts), comments, home)
                comments = [(0, "")]
            parts, length = [], 0
            comments = [(0, comments[-1][1])]


def _prototype(statement: str, comments: list[tuple[int, str]], home: str) -> Iterator[Prototype]:
    found = _PHASE_ONE.search(statement)
    end = statement.rstrip()
    if found is None or not end.endswith(")"):
        return
    comment = next(text for at, text in reversed(comments) if at <= found.start())
    yield Prototype(found[1], home, end[found.end() : -1], comment)
