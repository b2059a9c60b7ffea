# SPDX-License-Identifier: Apache-2.0
"""Write the table of docs/c_programs.md: ``python -m maintain.c_mistakes``.

``--run`` runs the programs first and writes what they say to expected.json; read the difference.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from pathlib import Path

from maintain.written_file import write_or_check

__all__ = ["PAGE_PATH", "text"]

_ROOT = Path(__file__).resolve().parent.parent
PAGE_PATH = _ROOT / "docs" / "c_programs.md"
_EXPECTED = _ROOT / "tests" / "emulator" / "faults" / "expected.json"
_INTRODUCTION = _ROOT / "maintain" / "c_mistakes_introduction.md"


def text() -> str:
    """Return the page: what is said about each mistake, from the data of the tests."""
    rows = json.loads(_EXPECTED.read_text(encoding="utf-8"))
    lines = [_INTRODUCTION.read_text(encoding="utf-8").rstrip("\n"), ""]
    lines += ["| Mistake | Without a mode | `ACLNN_PY_BLOCKING=1` | `ACLNN_PY_CHECK=1` |"]
    lines += ["| --- | --- | --- | --- |"]
    for name, row in rows.items():
        blocking = "the same" if row["blocking"] == row["without"] else row["blocking"]
        lines.append(
            f"| {name.replace('_', ' ')} | {row['without']} | {blocking} | {row['check']} |"
        )
    return "\n".join(lines) + "\n"


def _run() -> None:
    sys.path.insert(0, str(_ROOT / "tests"))
    programs = importlib.import_module("helpers.mistakes")
    with tempfile.TemporaryDirectory() as place:
        program = programs.build(Path(place))
        rows = {
            name: {
                mode: programs.said(programs.run(program, name, mode), mode)
                for mode in programs.MODES
            }
            for name in programs.NAMES
            if name != "correct"
        }
    for name in programs.BY_CHANCE:
        rows[name]["without"] = "nothing, or 507015 from `aclrtSynchronizeStream`, by chance"
        rows[name]["blocking"] = "nothing"
    _EXPECTED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--run" in sys.argv:
        sys.argv.remove("--run")
        _run()
    sys.exit(write_or_check(PAGE_PATH, text(), "python -m maintain.c_mistakes"))
