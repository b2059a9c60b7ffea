# SPDX-License-Identifier: Apache-2.0
"""Where the build reads and writes, relative to the source tree."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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


def write_tree(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Make `folder` hold exactly these files, touching only what differs; return them, sorted."""
    wanted = {folder / name: text for name, text in texts.items()}
    for path, text in wanted.items():
        write_if_changed(path, text)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in wanted:
            path.unlink()
    return sorted(wanted)
