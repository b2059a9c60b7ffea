# SPDX-License-Identifier: Apache-2.0
"""The folder ``include/``: which headers are fragments of the contract, and what cffi reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aclnn_py._ffi.contract.operators import PHASE_ONE_SUFFIX
from aclnn_py._ffi.contract.reader import Function, macro_of, read_file, statements

__all__ = ["cdef_text", "dtype_numbers", "families", "fragments", "is_compiler_only"]

COMPILER_ONLY = "[compiler only]"


def is_compiler_only(text: str) -> bool:
    """Whether a header is for compilers alone and no fragment of the contract."""
    return COMPILER_ONLY in text[:400]


def fragments(include: Path, *folders: str) -> list[Path]:
    """Return the fragments of these folders of ``include``, by default of all of it.

    Each stands after those it includes, which may lie in other folders.

    Raises
    ------
    ValueError
        Headers include each other in a circle.
    """
    done: dict[Path, None] = {}
    open_: list[Path] = []

    def visit(path: Path) -> None:
        if path in done:
            return
        if path in open_:
            chain = " -> ".join(str(p.relative_to(include)) for p in [*open_, path])
            raise ValueError(f"headers include each other in a circle: {chain}")
        text = path.read_text(encoding="utf-8")
        if is_compiler_only(text):
            return
        open_.append(path)
        for line in statements(text):
            if isinstance(line, str) and line.startswith("#include") and '"' in line:
                visit(include / line.split('"')[1])
        open_.pop()
        done[path] = None

    for folder in folders or ("",):
        for path in sorted((include / folder).rglob("*.h")):
            visit(path)
    return list(done)


def cdef_text(text: str) -> str:
    """Return the text of a fragment without the preprocessor lines that cffi does not take."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            lines.append(line)
        elif macro := macro_of(line.rstrip()):
            lines.append(f"#define {macro[0]} {macro[1]}")
    return "\n".join(lines) + "\n"


def families(include: Path) -> Iterator[tuple[str, list[Function]]]:
    """Yield the name of each header of operators and the phase one of each, in its order."""
    for path in sorted((include / "aclnnop").glob("*.h")):
        if not is_compiler_only(path.read_text(encoding="utf-8")):
            functions = read_file(path).functions.values()
            yield path.stem, [f for f in functions if f.name.endswith(PHASE_ONE_SUFFIX)]


def dtype_numbers(include: Path) -> dict[str, int]:
    """Return the enumerators of ``acl/``, with the documents' spelling of bfloat16."""
    numbers: dict[str, int] = {}
    for path in fragments(include, "acl"):
        numbers.update(read_file(path).constants)
    return {**numbers, "ACL_BFLOAT16": numbers["ACL_BF16"]}
