# SPDX-License-Identifier: Apache-2.0
"""Files written from tables: the command that writes one, or says that it is out of date."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["write_or_check"]


def write_or_check(path: Path, text: str, command: str) -> int:
    """Write a file, or with --check say whether it is up to date; return the exit status."""
    parser = argparse.ArgumentParser(description=f"Write {path.name} ({command}).")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 on a difference"
    )
    if not parser.parse_args().check:
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path} ({len(text.splitlines())} lines)")
        return 0
    current = path.read_text(encoding="utf-8") if path.is_file() else ""
    if current != text:
        print(f"{path} differs from the tables: run {command}")
        return 1
    return 0
