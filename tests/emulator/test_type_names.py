# SPDX-License-Identifier: Apache-2.0
"""Two types of one name in one namespace would share inline functions, of whichever is linked."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "aclnn_py" / "emulator" / "src"
OPENED = re.compile(r"namespace\s*(\w[\w:]*)?\s*\{$")
CLOSED = re.compile(r"\}  // namespace")
# A type that is defined here; a specialisation of a template, or a member's body, has no new name.
DEFINED = re.compile(
    r"(?:template <[^>]*>\s*)?(?:struct|class|enum(?: class)?)\s+(\w+)(?: final)?\s*(?:\{|:(?!:))"
)


def types(path: Path) -> set[str]:
    """Names of the types that a file defines in namespaces with names."""
    spaces: list[str | None] = []
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if opened := OPENED.match(line):
            spaces.append(opened[1])
        elif CLOSED.match(line) and spaces:
            spaces.pop()
        elif (defined := DEFINED.match(line)) and None not in spaces:
            found.add("::".join([*filter(None, spaces), defined[1]]))
    return found


def test_no_two_types_have_one_name() -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in {".h", ".cpp", ".inc"}:
            for name in types(path):
                files[name].append(str(path.relative_to(SOURCES)))
    assert len(files) > 200
    assert {name: where for name, where in files.items() if len(where) > 1} == {}
