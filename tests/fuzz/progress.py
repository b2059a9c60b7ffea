# SPDX-License-Identifier: Apache-2.0
"""The page that a worker shares with its parent: what it does now, and how its calls ended.

The worker writes the number of a call before it makes the call, so the page names the call that a
process died in. A store into the page costs nothing worth mentioning.
"""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from pathlib import Path

BYTES = 1 << 16
_HEAD = struct.Struct("=qqqq")  # number of the call, its step, calls done, whether to stop
_ROW = struct.Struct("=48sq")
STARTING = -1
STEPS = ("preparing", "phase one", "phase two", "comparing")


class Page:
    """A page in a file, seen by two processes; one writes the calls, the other the wish to stop."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        if fresh:
            path.write_bytes(_HEAD.pack(0, STARTING, 0, 0).ljust(BYTES, b"\0"))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), BYTES)
        self._rows: dict[str, list[int]] = {}

    def begin(self, number: int) -> None:
        """Say which call comes next."""
        struct.pack_into("=qq", self._map, 0, number, 0)

    def step(self, step: int) -> None:
        """Say what is being done, as a position in STEPS."""
        struct.pack_into("=q", self._map, 8, step)

    def done(self, outcome: str) -> None:
        """Count a call."""
        row = self._rows.get(outcome)
        if row is None:
            row = self._rows[outcome] = [_HEAD.size + len(self._rows) * _ROW.size, 0]
        row[1] += 1
        _ROW.pack_into(self._map, row[0], outcome.encode()[:48], row[1])
        (done,) = struct.unpack_from("=q", self._map, 16)
        struct.pack_into("=q", self._map, 16, done + 1)

    def position(self) -> tuple[int, int, int]:
        """Return the number of the call, its step, and how many calls were done."""
        number, step, done, _stop = _HEAD.unpack_from(self._map, 0)
        return number, step, done

    def ask_to_stop(self) -> None:
        """Let the worker end before its next call."""
        struct.pack_into("=q", self._map, 24, 1)

    @property
    def stopping(self) -> bool:
        """Whether the worker is to end."""
        return self._map[24] != 0

    def counts(self) -> Counter[str]:
        """Return how calls ended."""
        found: Counter[str] = Counter()
        for at in range(_HEAD.size, BYTES - _ROW.size, _ROW.size):
            name, count = _ROW.unpack_from(self._map, at)
            if not count:
                break
            found[name.rstrip(b"\0").decode(errors="replace")] = count
        return found

    def close(self) -> None:
        """Unmap the page."""
        self._map.close()
