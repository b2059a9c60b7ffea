# SPDX-License-Identifier: Apache-2.0
"""Prototypes of operators in a tree of headers that may be anybody's.

Each file is bounded, because the time to read it grows with its length.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from aclnn_py._ffi.contract.reader import DeclarationError, Function, function_of, statements
from aclnn_py.errors import AclnnPyError

__all__ = ["Declared", "HeaderError", "read_prototypes"]

MAX_FILE_NBYTES = 8 << 20
MAX_FILES = 20_000
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,150}\.h", re.ASCII)
_PHASE_ONE = re.compile(r"aclnn[A-Za-z0-9_]{1,120}GetWorkspaceSize")


class HeaderError(AclnnPyError, ValueError):
    """A header is larger than headers are, or no file at all."""


class Declared(NamedTuple):
    """Phase one of an operator as a header declares it.

    Attributes
    ----------
    home : str
        The header, relative to the tree.
    function : Function or None
        The prototype; None where it cannot be read.
    problem : str
        What cannot be read, or "".
    """

    home: str
    function: Function | None
    problem: str


@lru_cache(maxsize=8)
def read_prototypes(cann_include: Path) -> Mapping[str, Declared]:
    """Return operator -> prototype; the shortest path wins.

    Files whose names are none of a C header are left out: such a name would go into sources.

    Raises
    ------
    HeaderError
        A header has more than 8 MiB, or there are more than 20,000.
    OSError
        A header cannot be read.
    """
    found: dict[str, Declared] = {}
    for path in _headers(cann_include):
        home = path.relative_to(cann_include).as_posix()
        for name, declared in _declared(_text(path), home):
            found.setdefault(name, declared)
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


def _declared(text: str, home: str) -> Iterator[tuple[str, Declared]]:
    for item in statements(text):
        if isinstance(item, str):
            continue
        words = (token.text for token in item.tokens)
        name = next(filter(_PHASE_ONE.fullmatch, words), None)
        if name is None:
            continue
        try:
            declared = Declared(home, function_of(item, _PHASE_ONE), "")
        except DeclarationError as problem:
            declared = Declared(home, None, str(problem))
        yield name.removesuffix("GetWorkspaceSize"), declared
