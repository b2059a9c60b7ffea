# SPDX-License-Identifier: Apache-2.0
"""Where the build reads and writes, relative to the source tree."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "include"
PACKAGE = ROOT / "aclnn_py"
FACTS = PACKAGE / "facts"
EMULATOR_SOURCES = PACKAGE / "emulator" / "src"
BUILD = ROOT / "build"
GENERATED = BUILD / "gen"
LIB = PACKAGE / "lib"
PACKAGE_INCLUDE = PACKAGE / "include"


def say(text: str) -> None:
    """Print one plain progress line."""
    print(f"build_ffi: {text}", file=sys.stderr, flush=True)


def write_if_changed(path: Path, text: str) -> bool:
    """Write `text` unless the file already holds it, so that nothing depending on it is rebuilt."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
