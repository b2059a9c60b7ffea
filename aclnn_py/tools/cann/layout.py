# SPDX-License-Identifier: Apache-2.0
"""What lies where in the tree."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aclnn_py.facts import libraries
from aclnn_py.tools.cann import pyacl
from aclnn_py.tools.cann.environment import SETENV, set_env
from aclnn_py.tools.cann.versions import Release
from aclnn_py.tools.config import include_directory, libraries_directory

__all__ = ["Entry", "Link", "Shipped", "Text", "entries"]


@dataclass(frozen=True)
class Text:
    """A file that is written."""

    path: str
    text: str


@dataclass(frozen=True)
class Link:
    """A link from one place of the tree to another; it survives a move of the whole tree."""

    path: str
    to: str

    @property
    def target(self) -> str:
        """What the link holds."""
        return os.path.relpath(self.to, os.path.dirname(self.path) or ".")


@dataclass(frozen=True)
class Shipped:
    """A file or a directory of the installed package: linked, or copied."""

    path: str
    source: Path


Entry = Text | Link | Shipped

_MACHINE = f"{platform.machine()}-linux"
_OPERATORS = "opp/built-in/op_impl/ai_core/tbe/op_api"
# Parts that programs of some years look into: each has headers, libraries, and link-time libraries.
_PARTS = ("runtime", "compiler", "hccl")
_OWN = ("aclnn_py_emulator", "aclnn_py_emulator_device")
_OLD_NAMES = {"acllib": "runtime", "fwkacllib": "compiler", "atc": "compiler"}


def entries(root: Path, release: Release) -> list[Entry]:
    """Return the files and links of a tree.

    Parameters
    ----------
    root : Path
        Where it will lie.
    release : Release
        The release it claims to be.

    Raises
    ------
    FileNotFoundError
        The package has not been built.
    """
    found: list[Entry] = [
        Text("set_env.sh", set_env(root, release)),
        Text("bin/setenv.bash", SETENV),
        *(Text(path, text) for path, text in release.files(str(root)).items()),
        *_headers(release),
        *_libraries(release),
        *_parts(release),
        *_python(),
    ]
    return sorted(found, key=lambda entry: entry.path)


def _headers(release: Release) -> Iterator[Entry]:
    include = include_directory()
    operators = include / "aclnnop"
    forwarders = {path.name for path in (operators / "level2").glob("*.h")}
    for path in sorted(include.iterdir()):
        if path.name not in ("aclnnop", "version"):
            yield Shipped(f"include/{path.name}", path)
    yield Text("include/version/cann_version.h", release.header)
    yield Shipped("include/aclnnop/level2", operators / "level2")
    for path in sorted(operators.glob("*.h")):
        # The headers of whole families are not CANN's: with this directory on the include path,
        # the one named math.h would stand in for the C library's.
        if path.name in forwarders or path.name.startswith("acl"):
            yield Shipped(f"include/aclnnop/{path.name}", path)
            yield Link(f"include/{path.name}", f"include/aclnnop/{path.name}")


def _libraries(release: Release) -> Iterator[Entry]:
    place = libraries_directory()
    known = {str(path.relative_to(place)) for path in place.rglob("lib*.so")}
    for name in _names(release):
        source = libraries.file_of(name, release.short, known)
        yield Shipped(f"lib64/lib{name}.so", place / (source or f"lib{name}.so"))
    for path in sorted((place / "cmake" / "CANN").glob("*.cmake")):
        yield Shipped(f"lib64/cmake/CANN/{path.name}", path)
    for path in sorted((place / "pkgconfig").glob("*.pc")):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"^Version: .*$", f"Version: {release.name}", text, flags=re.MULTILINE)
        text = re.sub(r" -l(\w+)", lambda word: _kept(word, release), text)
        yield Text(f"lib64/pkgconfig/{path.name}", text)


def _kept(word: re.Match[str], release: Release) -> str:
    return word[0] if word[1] in libraries.shipped(release.short) else ""


def _names(release: Release) -> list[str]:
    """The libraries of a release, and the emulator's own."""
    return [*libraries.shipped(release.short), *_OWN]


def _parts(release: Release) -> Iterator[Entry]:
    yield Link("devlib", "lib64")
    yield Link("lib", "lib64")  # where CMake looks on systems that have no lib64
    for name in ("include", "lib64", "devlib", "bin"):
        yield Link(f"{_MACHINE}/{name}", name)
    for part in _PARTS:
        yield Link(f"{part}/include", "include")
        yield Link(f"{part}/lib64/stub", "lib64")
        for name in _names(release):
            yield Link(f"{part}/lib64/lib{name}.so", f"lib64/lib{name}.so")
    for old, name in _OLD_NAMES.items():
        yield Link(old, name)
    yield Link(f"{_OPERATORS}/include", "include")
    yield Link(f"{_OPERATORS}/lib/linux/{platform.machine()}", "lib64")
    yield Link("opp/include", "include")
    yield Link("tools/mstx/include", "include/mstx")


def _python() -> Iterator[Entry]:
    yield Text(pyacl.LOADER, pyacl.loader())
    for path, source in pyacl.package_files():
        yield Shipped(path, source)
    yield Link(f"{pyacl.PACKAGE}/include", "include")
    yield Link(f"{pyacl.PACKAGE}/lib", "lib64")
