# SPDX-License-Identifier: Apache-2.0
"""Ask a library about the whole corpus, in processes that may die, and write the answers."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aclnn_py import facts
from maintain.refusals import worker

__all__ = ["CHIPS", "dump"]

CHIPS = ("Ascend910B1", "Ascend950PR_9599", "Ascend310P3")
_PART = 24  # operators that a process is given
_HANG_S = 120.0
_POLL_S = 0.2
_ROOT = Path(__file__).resolve().parents[2]


def dump(library: Path, file: Path, *, pattern: str = "", every: int = 1, workers: int = 2) -> int:
    """Write the answers of a library to the corpus; return how many there are.

    Parameters
    ----------
    library : Path
        An emulator library.
    file : Path
        JSON lines in gzip: one for each chip and operator, in a fixed order.
    pattern : str
        A regular expression; operators whose C names have it are asked about.
    every : int
        Take only every so manieth accepted call of an operator.
    workers : int
        Processes at a time.
    """
    if not library.is_file():
        raise SystemExit(f"{library} is no file")
    names = sorted({*facts.accepted_calls(), *facts.accepted_calls("950")})
    names = [name for name in names if re.search(pattern, name)]
    parts = [(soc, names[at : at + _PART]) for soc in CHIPS for at in range(0, len(names), _PART)]
    shown = _Progress(len(parts))

    def answer(part: tuple[str, list[str]]) -> list[dict[str, Any]]:
        rows = _Part(library.resolve(), *part, every).answers()
        shown.done(sum(len(row["answers"]) for row in rows))
        return [{"chip": part[0], **row} for row in rows]

    with (
        ThreadPoolExecutor(workers) as pool,
        file.open("wb") as raw,
        # Neither the name nor the time: equal answers are equal files.
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as written,
    ):
        for rows in pool.map(answer, parts):
            for row in rows:
                written.write((json.dumps(row, sort_keys=True) + "\n").encode())
    print(
        f"{shown.questions:,} questions about {len(names):,} operators on {len(CHIPS)} chips,"
        f" {file.stat().st_size / 1e6:.1f} MB: {file}",
        file=sys.stderr,
    )
    return shown.questions


class _Progress:
    """Says how far a dump has come."""

    def __init__(self, parts: int) -> None:
        self._parts, self._done, self.questions = parts, 0, 0
        self._lock, self._begun = threading.Lock(), time.monotonic()

    def done(self, questions: int) -> None:
        with self._lock:
            self._done += 1
            self.questions += questions
            print(
                f"{self._done} of {self._parts} parts, {self.questions:,} questions,"
                f" {time.monotonic() - self._begun:.0f} s",
                file=sys.stderr,
                flush=True,
            )


class _Part:
    """Some operators on one chip, asked by one process after another until none is left."""

    def __init__(self, library: Path, soc: str, operators: list[str], every: int) -> None:
        self._library, self._soc, self._operators, self._every = library, soc, operators, every

    def answers(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        ended: dict[tuple[str, int], str] = {}
        with tempfile.TemporaryDirectory(prefix="refusals-") as folder:
            while len(rows) < len(self._operators):
                left = self._operators[len(rows) :]
                leave = [(left.index(name), n) for name, n in ended if name in left]
                found, how, at, said = self._process(Path(folder), left, leave)
                rows += found
                if len(rows) < len(self._operators):
                    operator, number = left[at // worker.MOST], at % worker.MOST
                    if not how or (operator, number) in ended:
                        raise SystemExit(f"{operator}, question {number}: {how}\n{said}")
                    ended[operator, number] = how
                    print(f"{operator}, question {number}: {how}", file=sys.stderr)
        return rows

    def _process(
        self, folder: Path, left: list[str], leave: list[tuple[int, int]]
    ) -> tuple[list[dict[str, Any]], str, int, str]:
        """Run one process; return its answers, how it ended, where, and what it said."""
        page = worker.Page(folder / "page", fresh=True)
        asked = {
            "library": str(self._library),
            "operators": left,
            "every": self._every,
            "page": str(folder / "page"),
            "leave": leave,
        }
        with (folder / "answers").open("w+b") as answers, (folder / "said").open("w+b") as said:
            child = subprocess.Popen(
                [sys.executable, "-m", "maintain.refusals.worker", json.dumps(asked)],
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=answers,
                stderr=said,
                env={**os.environ, "ACLNN_PY_EMULATOR_SOC": self._soc},
            )
            try:
                how = _watch(child, lambda: page.position()[0])
                at = page.position()[0]
            finally:
                child.kill()
                child.wait()
                page.close()
            answers.seek(0)
            said.seek(0)
            rows = [json.loads(line) for line in answers if line.endswith(b"\n")]
            return rows, how, at, said.read()[-2000:].decode(errors="replace")


def _watch(child: subprocess.Popen[bytes], position: Callable[[], int]) -> str:
    """Wait for the end of a process; return how it ended, "" for a good end."""
    last, since = -1, time.monotonic()
    while child.poll() is None:
        now = position()
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > _HANG_S:
            return f"no answer after {_HANG_S:g} s"
        time.sleep(_POLL_S)
    return signal.Signals(-child.returncode).name if child.returncode < 0 else ""
