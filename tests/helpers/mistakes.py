# SPDX-License-Identifier: Apache-2.0
"""The C programs with a mistake each: what is said about them without a mode and in each mode."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from helpers.native import ROOT, compiled

__all__ = [
    "BY_CHANCE",
    "FOLDER",
    "MODES",
    "NAMES",
    "SOURCE",
    "build",
    "expected",
    "lines_of",
    "run",
    "said",
]

FOLDER = ROOT / "tests" / "emulator" / "faults"
SOURCE = FOLDER / "mistakes.c"
MODES = {"without": {}, "check": {"ACLNN_PY_CHECK": "1"}, "blocking": {"ACLNN_PY_BLOCKING": "1"}}
NAMES = re.findall(r"^    (?:FRAMED|BARE)\((\w+)\),$", SOURCE.read_text(), re.M)
# What the stream has done by then is chance, unless somebody follows its work.
BY_CHANCE = ("workspace_freed_before_the_stream_ran", "memory_freed_before_the_stream_ran")
_ANSWER = re.compile(r"^(\w+)\(.* answered (\d+): ", re.M)
_FINDING = re.compile(r"^aclnn_py check: ([^:]+): ", re.M)


def build(directory: Path) -> Path:
    """Compile the programs, which are one."""
    return compiled(SOURCE, directory / "mistakes")


def run(program: Path, name: str, mode: str) -> subprocess.CompletedProcess[str]:
    """Run one program in one mode."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("ACLNN_PY_")}
    return subprocess.run(
        [str(program), name],
        capture_output=True,
        text=True,
        env={**env, "ACLNN_PY_EMULATOR_MEMORY": "64M", **MODES[mode]},
        timeout=240.0,
        check=False,
    )


def said(done: subprocess.CompletedProcess[str], mode: str) -> str:
    """Sum up the first thing that a run says, as the page has it."""
    if mode == "check":
        found = _FINDING.search(done.stderr)
        return found[1] if found else "nothing"
    assert "aclnn_py check" not in done.stderr, done.stderr
    if done.returncode == -signal.SIGSEGV:
        return "the process ends"
    answer = _ANSWER.search(done.stdout)
    return f"{answer[2]} from `{answer[1]}`" if answer else "nothing"


def expected() -> dict[str, dict[str, str]]:
    """What each program is known to say."""
    return dict(json.loads((FOLDER / "expected.json").read_text(encoding="utf-8")))


def lines_of(name: str) -> tuple[int, int, int | None]:
    """The first and the last line of a program, and that of its mistake."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if re.match(rf"static void {name}\(", line))
    last = next(i for i in range(first, len(lines)) if lines[i] == "}")
    marked = [i for i in range(first, last) if "/* MISTAKE */" in lines[i]]
    return first + 1, last + 1, marked[0] + 1 if marked else None
