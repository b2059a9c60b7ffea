# SPDX-License-Identifier: Apache-2.0
"""How long a fuzzer goes on, what it draws from, and what it has seen: the same for all of them."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

PROGRESS_EVERY_S = 5.0


@dataclass
class Budget:
    """Time, number of attempts and random numbers of one run of a fuzzer.

    A fuzzer is a function ``fuzz(budget) -> int`` that goes on while `left`, counts each attempt
    with `spend`, reports each defect with `found`, and returns how many defects it found.

    Parameters
    ----------
    seconds, calls : float or None, int or None
        Where to stop, whichever comes first; at least one of them is given. With ``calls`` alone
        a run does not depend on the speed of the machine.
    seed : int
        Two runs with one seed and one number of calls make the same attempts.
    pattern : str
        Regular expression in the name of what is fuzzed; "" is everything.
    cases : Path or None
        Directory for the files of found cases; None prints them only.
    progress : TextIO or None
        Where progress and defects are written; None keeps quiet.
    """

    seconds: float | None = None
    calls: int | None = None
    seed: int = 0
    pattern: str = ""
    cases: Path | None = None
    progress: TextIO | None = field(default_factory=lambda: sys.stderr)

    def __post_init__(self) -> None:
        if self.seconds is None and self.calls is None:
            raise ValueError("a budget needs seconds, calls, or both")
        self.rng = random.Random(self.seed)
        self.spent = 0
        self.tally: Counter[str] = Counter()
        self.defects: list[dict[str, Any]] = []
        self._begun = time.monotonic()
        self._shown = self._begun

    @property
    def elapsed(self) -> float:
        """Seconds since the budget was made."""
        return time.monotonic() - self._begun

    def left(self) -> bool:
        """Whether there is time for another attempt."""
        if self.calls is not None and self.spent >= self.calls:
            return False
        return self.seconds is None or self.elapsed < self.seconds

    def spend(self, outcome: str, count: int = 1) -> None:
        """Count attempts by how they ended, such as "accepted" or "refused 161002"."""
        self.spent += count
        self.tally[outcome] += count
        now = time.monotonic()
        if self.progress is not None and now - self._shown >= PROGRESS_EVERY_S:
            self._shown = now
            rate = self.spent / max(self.elapsed, 1e-9)
            self.say(f"{self.spent} in {self.elapsed:.0f} s ({rate:.0f}/s), "
                     f"{len(self.defects)} defects")  # fmt: skip

    def found(self, kind: str, what: str, case: dict[str, Any]) -> Path | None:
        """Report a defect with what repeats it; return the file of the case.

        Parameters
        ----------
        kind : str
            Such as "crash", "hang", "write outside".
        what : str
            One line for the person who repairs it.
        case : dict
            What repeats it, as JSON has it.
        """
        row = {"kind": kind, "what": what, "seed": self.seed, "case": case}
        self.defects.append(row)
        self.tally[kind] += 1
        path = None
        if self.cases is not None:
            self.cases.mkdir(parents=True, exist_ok=True)
            name = "".join(c if c.isalnum() else "-" for c in f"{kind}-{what}")[:80].strip("-")
            path = self.cases / f"{len(self.defects):04d}-{name}.json"
            path.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
        self.say(f"{kind}: {what}" + (f" ({path})" if path else f"\n{json.dumps(row)}"))
        return path

    def say(self, line: str) -> None:
        """Write a line to where progress goes."""
        if self.progress is not None:
            print(line, file=self.progress, flush=True)

    def table(self) -> str:
        """Return how the attempts ended, one line for each way."""
        rows = [("attempts", self.spent), *sorted(self.tally.items())]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {count:>10,}" for name, count in rows)
