# SPDX-License-Identifier: Apache-2.0
"""Write the modules of `aclnn_py.functional` and their page: `python -m maintain.functional`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from maintain.functional.modules import COMMAND, MARK, module_texts
from maintain.functional.page import page_text

__all__ = ["differences", "main"]

_ROOT = Path(__file__).resolve().parents[2]
_FUNCTIONAL = _ROOT / "aclnn_py" / "functional"


def _texts() -> dict[Path, str]:
    modules = {_FUNCTIONAL / f"{name}.py": text for name, text in module_texts().items()}
    return {**modules, _ROOT / "docs" / "functional.md": page_text()}


def _leftovers(wanted: dict[Path, str]) -> list[Path]:
    """Modules that the command wrote once and would not write now."""
    return [
        path
        for path in sorted(_FUNCTIONAL.glob("*.py"))
        if path not in wanted and MARK in path.read_text(encoding="utf-8")
    ]


def differences() -> list[str]:
    """The files that differ from what the command writes, below the root of the repository."""
    wanted = _texts()
    stale = [
        path
        for path, text in wanted.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    return [str(path.relative_to(_ROOT)) for path in [*stale, *_leftovers(wanted)]]


def main() -> int:
    """Write the files, or with ``--check`` name those that differ."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if files differ"
    )
    if parser.parse_args().check:
        found = differences()
        for name in found:
            print(f"{name} is out of date: run {COMMAND}")
        return 1 if found else 0
    wanted = _texts()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    for path in _leftovers(wanted):
        path.unlink()
    print(f"wrote {len(wanted)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
