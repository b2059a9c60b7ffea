# SPDX-License-Identifier: Apache-2.0
"""The page that a worker shares with its parent: what it does now, and how its calls ended.

The worker writes the number of a call before it makes the call, so the page names the call that a
process died in. A store into the page costs nothing worth mentioning.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

BYTES = 1 << 16
STARTING = -1
STEPS = ("preparing", "phase one", "phase two", "comparing")

# Words of the page: what it is about, then rows of a name and a count.
_NUMBER, _STEP, _DONE, _STOP, _ROWS = range(5)
_NAME_WORDS = 6
_ROW_WORDS = _NAME_WORDS + 1


class Page:
    """A page in a file, seen by two processes; one writes the calls, the other the wish to stop.

    Numbers are written as whole words, so that the other process never sees half of one.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        if fresh:
            path.write_bytes(bytes(BYTES))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), BYTES)
        self._words = memoryview(self._map).cast("q")
        if fresh:
            self._words[_STEP] = STARTING
        self._rows: dict[str, int] = {}

    def begin(self, number: int) -> None:
        """Say which call comes next."""
        self._words[_NUMBER] = number
        self._words[_STEP] = 0

    def step(self, step: int) -> None:
        """Say what is being done, as a position in STEPS."""
        self._words[_STEP] = step

    def done(self, outcomes: Mapping[str, int]) -> None:
        """Count the calls of a case by how they ended."""
        for outcome, count in outcomes.items():
            self._count(outcome, count)
        self._words[_DONE] += 1

    def _count(self, outcome: str, count: int) -> None:
        at = self._rows.get(outcome)
        if at is None:
            at = self._rows[outcome] = _ROWS + len(self._rows) * _ROW_WORDS
            name = outcome.encode()[: 8 * _NAME_WORDS]
            self._map[8 * at : 8 * at + len(name)] = name
        self._words[at + _NAME_WORDS] += count

    def position(self) -> tuple[int, int, int]:
        """Return the number of the call, its step, and how many calls were done."""
        return self._words[_NUMBER], self._words[_STEP], self._words[_DONE]

    def ask_to_stop(self) -> None:
        """Let the worker end before its next call."""
        self._words[_STOP] = 1

    @property
    def stopping(self) -> bool:
        """Whether the worker is to end."""
        return self._words[_STOP] != 0

    def counts(self) -> Counter[str]:
        """Return how calls ended."""
        found: Counter[str] = Counter()
        for at in range(_ROWS, len(self._words) - _ROW_WORDS, _ROW_WORDS):
            count = self._words[at + _NAME_WORDS]
            if not count:
                break
            name = bytes(self._map[8 * at : 8 * (at + _NAME_WORDS)]).rstrip(b"\0")
            found[name.decode(errors="replace")] = count
        return found

    def close(self) -> None:
        """Unmap the page."""
        self._words.release()
        self._map.close()
