# SPDX-License-Identifier: Apache-2.0
"""The C contract in ``include/``, read as text for cffi and as prototypes.

Only the standard library is used and nothing of the package is imported: the build loads this
file by its path before the package exists.
"""

from __future__ import annotations

import re
from pathlib import Path

COMPILER_ONLY = "[compiler only]"

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_INTEGER_DEFINE = re.compile(
    r"^#define\s+[A-Za-z_]\w*\s+\(?-?(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*\)?\s*$"
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def is_compiler_only(text: str) -> bool:
    """Whether a header is for compilers alone and no part of the text cffi reads."""
    return COMPILER_ONLY in text[:400]


def ordered_headers(include_dir: str | Path) -> list[Path]:
    """The fragments below ``include_dir``, each after those it includes."""
    root = Path(include_dir)
    done: dict[Path, None] = {}
    open_: list[Path] = []

    def visit(path: Path) -> None:
        if path in done:
            return
        if path in open_:
            chain = " -> ".join(str(p.relative_to(root)) for p in [*open_, path])
            raise ValueError(f"headers include each other in a circle: {chain}")
        text = path.read_text(encoding="utf-8")
        if is_compiler_only(text):
            return
        open_.append(path)
        for name in _INCLUDE.findall(text):
            visit(root / name)
        open_.pop()
        done[path] = None

    for path in sorted(root.rglob("*.h")):
        visit(path)
    return list(done)


def cdef_text(text: str) -> str:
    """The text of one fragment without the preprocessor lines cffi does not take."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            lines.append(line)
        elif _INTEGER_DEFINE.match(line):
            # parentheses around the number are C, but none of cffi's grammar
            lines.append(line.replace("(", "").replace(")", ""))
    return "\n".join(lines) + "\n"


def read_fragments(include_dir: str | Path) -> list[tuple[str, str]]:
    """Each fragment as ``(path relative to include_dir, text for cffi.FFI().cdef)``.

    Fragments stand after those they include, so that the joined text can be read in one call.
    """
    root = Path(include_dir)
    return [
        (path.relative_to(root).as_posix(), cdef_text(path.read_text(encoding="utf-8")))
        for path in ordered_headers(root)
    ]


def without_comments(text: str) -> str:
    """``text`` with every C comment replaced by one space."""
    return _COMMENT.sub(" ", text)
