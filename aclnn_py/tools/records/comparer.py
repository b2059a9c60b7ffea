# SPDX-License-Identifier: Apache-2.0
"""Compare the operator calls of a block with the same calls on the emulator."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from aclnn_py.operators.record.file import Memory, RecordReader, RecordWriter
from aclnn_py.tools.children import python_child
from aclnn_py.tools.records.difference import Difference
from aclnn_py.tools.records.recorder import record
from aclnn_py.tools.records.replayer import Replay

__all__ = ["compare"]

# The record is our own, so its size needs no limit.
_MAX_MIB = 1 << 24
# Settings for the device in use, which do not hold for the emulator.
_NOT_PASSED_ON = ("ACLNN_PY_LIBRARY_PATH", "ACLNN_PY_TRACE", "ACLNN_PY_RECORD", "ACLNN_PY_BLOCKING",
                  "ACLNN_PY_LINES", "ACLNN_PY_STRICT", "ACLNN_PY_CHECK")  # fmt: skip


class compare:
    """Compare every operator call of a ``with`` block with the emulator, at the end of the block.

    The calls are recorded, and another process replays them on the emulator. Each call gets the
    inputs it had here, so that an error of one call does not change the next ones. Results may
    differ by the tolerance of their dtype.

    Parameters
    ----------
    save : str or os.PathLike, optional
        Where to write the first call that differs, with its inputs and the results of the device in
        use, for ``aclnn-py replay``. Nothing is written when all calls agree.

    Attributes
    ----------
    calls : list of Replay
        All calls. ``expected`` and the first value of a difference are from the device in use.
    first : Replay or None
        The first call that differs.
    """

    def __init__(self, save: str | os.PathLike[str] | None = None) -> None:
        self.calls: list[Replay] = []
        self._save = save
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._recording: record | None = None

    @property
    def first(self) -> Replay | None:
        """The first call that differs from the emulator, or None."""
        return next((call for call in self.calls if not call.agrees and not call.missing), None)

    def __str__(self) -> str:
        absent = [call for call in self.calls if call.missing]
        compared = len(self.calls) - len(absent)
        text = f"{compared} operator calls compared with the emulator"
        if absent:
            names = ", ".join(sorted({call.operator for call in absent}))
            text += f", {len(absent)} not: it does not have {names}"
        if self.first is None:
            return f"{text}; all agree"
        saved = "" if self._save is None else f"\n  saved: {os.fspath(self._save)}"
        return f"{text}; the first to differ is {self.first}{saved}"

    def __enter__(self) -> compare:
        if self._recording is not None:
            raise RuntimeError("this comparison is under way already: leave its block first")
        self.calls = []
        self._folder = tempfile.TemporaryDirectory(prefix="aclnn_py-compare-")
        self._recording = record(Path(self._folder.name) / "block")
        self._recording.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._folder is not None and self._recording is not None
        recording, self._recording = self._recording, None
        with self._folder as folder:
            recording.__exit__(kind, value, traceback)
            if kind is not None and not issubclass(kind, Exception):
                return  # the program was interrupted
            if recording.failure is not None:
                raise recording.failure  # there is nothing to compare
            path = Path(folder) / "block"
            self.calls = _on_the_emulator(path)
            if self.first is not None and self._save is not None:
                _keep(path, self.first.index, self._save)


def _on_the_emulator(path: Path) -> list[Replay]:
    environment = {k: v for k, v in os.environ.items() if k not in _NOT_PASSED_ON}
    environment["ACLNN_PY_DEVICE"] = "emulator"
    words = ("replay", "--json", "--max-mib", str(_MAX_MIB), str(path))
    child = python_child("aclnn_py.tools.cli", *words, environ=environment)
    done = subprocess.run(
        child.words, capture_output=True, text=True, env=child.environment, check=False
    )
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        raise RuntimeError(
            f"the replay on the emulator ended with {done.returncode}:\n{done.stderr.strip()}"
        )
    return [_replay_of(row) for row in json.loads(done.stdout)["calls"]]


def _replay_of(row: dict[str, Any]) -> Replay:
    row = {key: value for key, value in row.items() if key != "agrees"}
    apart = row.pop("difference")
    if apart is not None:
        at = apart["at"]
        apart = Difference(**{**apart, "at": None if at is None else tuple(at)})
    return Replay(**row, difference=apart)


def _keep(path: Path, index: int, target: str | os.PathLike[str]) -> None:
    reader = RecordReader(path, limit_nbytes=_MAX_MIB << 20)
    call = reader.calls[index]
    with RecordWriter(target, reader.about) as writer:

        def again(name: str | None, nbytes: int) -> str | None:
            return None if name is None else writer.keep(reader.data(name, nbytes))

        memories = tuple(
            Memory(part.nbytes, again(part.before, part.nbytes), again(part.after, part.nbytes))
            for part in call.memories
        )
        writer.add(replace(call, memories=memories))
