# SPDX-License-Identifier: Apache-2.0
"""Fuzz of every operator: mutated accepted calls in a process of their own, phase one and two.

A call that ends the process, that does not end, or that writes what it must not, is a defect; so is
a status that no document knows, and a refusal without words. The process says which call it makes
before it makes it, so a dead one is attributed to its call, and the next process goes on behind it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import sanitizer
from .budget import Budget
from .cases import Case, read_case
from .progress import STARTING, STEPS, Page
from .worker import case_of, names_of, walked

HANG_CPU_S = 15.0  # of the processor: a machine that is busy elsewhere makes nothing hang
HANG_WAIT_S = 120.0  # without any use of the processor
ADDRESS_SPACE = 2 << 30
POLL_S = 0.02
CASES_OF_A_KIND = 2
ENDLESS = 1 << 60
ERRORS = 3000  # characters from each end


@dataclass
class End:
    """How a worker ended. ``kind`` is "" for a good end, else "crash" or "hang"."""

    kind: str = ""
    what: str = ""
    number: int = 0
    step: int = 0
    errors: str = ""
    defects: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def fuzz(budget: Budget, *, before: str = "", workers_at_most: int = 100_000) -> int:
    """Make mutated calls while the budget lasts; return the number of defects.

    Parameters
    ----------
    before : str
        ``module:function`` that each worker calls first; tests plant faults with it.
    workers_at_most : int
        How many processes may be used up.
    """
    names = names_of(budget.pattern)
    known: Counter[tuple[str, str]] = Counter()
    first = 0
    for _ in range(workers_at_most):
        if not budget.left():
            break
        left = ENDLESS if budget.calls is None else budget.calls - budget.spent
        end = _work(budget, first=first, calls=left, before=before)
        for row in end.defects:
            _report(budget, names, known, row, before, end.errors)
        if not end.kind:
            break
        row = {"number": end.number, "defect": end.kind, "what": end.what}
        budget.spend(end.kind)
        budget.tally[end.kind] -= 1  # `found` counts it
        _report(budget, names, known, row, before, end.errors)
        first = end.number + 1
    return len(budget.defects)


def walk(budget: Budget, name: str, settings: Mapping[str, str] | None = None) -> int:
    """Make the cases of a walk, each once; return the number of defects.

    Parameters
    ----------
    budget : Budget
        Its number of calls is a number of cases, spread over all operators.
    name : str
        The module that lists the cases and has what makes them.
    settings : mapping
        Further environment of the processes that make them.
    """
    most, budget.calls = budget.calls, None
    cases = walked(name, budget.pattern, most)
    known: Counter[tuple[str, str]] = Counter()
    first = 0
    while first < len(cases) and budget.left():
        end = _work(budget, first=first, walk=name, most=most, settings=settings)
        rows = end.defects
        if end.kind:
            rows = [*rows, {"number": end.number, "defect": end.kind, "what": end.what}]
        for row in rows:
            case, kind = cases[row["number"]], row["defect"]
            known[case.call.operator, kind] += 1
            if known[case.call.operator, kind] <= CASES_OF_A_KIND:
                what = f"{case.call.operator}: {'; '.join(case.mutations)}: {row['what']}"
                budget.found(kind, what, {**case.written(), "errors": end.errors})
        if not end.kind:
            break
        first = end.number + 1
    return len(budget.defects)


def repeat(path: Path) -> int:
    """Make one case again in a process of its own; return 1 when it is still a defect."""
    case = read_case(path)
    print(json.dumps(case.written(), indent=1))
    end = outcome_of(path)
    print(f"{end.kind or 'ended'}: {end.what} {dict(end.counts)} {end.defects}")
    if end.kind:
        print(end.errors)
    return 1 if end.kind or end.defects else 0


def outcome_of(path: Path) -> End:
    """Make one case in a process of its own and return how that ended."""
    return _work(Budget(calls=1, progress=None), case=path)


def _report(
    budget: Budget,
    names: list[str],
    known: Counter[tuple[str, str]],
    row: dict[str, Any],
    before: str,
    errors: str,
) -> None:
    number, kind = row["number"], row["defect"]
    case = case_of(names, budget.seed, number)
    known[case.call.operator, kind] += 1
    if known[case.call.operator, kind] > CASES_OF_A_KIND:
        budget.tally[kind] += 1
        return
    case, alone = _smallest(budget, names, number, case, kind, before)
    where = "" if alone else " (only after other calls)"
    what = f"{case.call.operator}: {'; '.join(case.mutations) or 'as it is'}: {row['what']}{where}"
    written = {**case.written(), "number": number, "errors": errors}
    budget.found(kind, what, written)


def _smallest(
    budget: Budget, names: list[str], number: int, case: Case, kind: str, before: str
) -> tuple[Case, bool]:
    """Leave out mutations that the defect does not need; also whether it happens alone."""

    def happens(kept: tuple[int, ...]) -> bool:
        one = Budget(calls=1, seed=budget.seed, pattern=budget.pattern, progress=None)
        end = _work(one, first=number, calls=1, kept=kept, before=before)
        return kind in (end.kind, *(row["defect"] for row in end.defects))

    kept = tuple(range(len(case.mutations)))
    if not happens(kept):
        return case, False
    for position in range(len(kept) if len(kept) > 1 else 0):
        fewer = tuple(i for i in kept if i != position)
        if fewer != kept and happens(fewer):
            kept = fewer
    return case_of(names, budget.seed, number, kept), True


def _work(
    budget: Budget,
    *,
    first: int = 0,
    calls: int = 1,
    kept: tuple[int, ...] | None = None,
    case: Path | None = None,
    before: str = "",
    walk: str = "",
    most: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> End:
    """Run one worker to its end, its death, or the end of the budget."""
    with tempfile.TemporaryDirectory(prefix="aclnn-fuzz-") as folder:
        path = Path(folder) / "page"
        page = Page(path, fresh=True)
        asked = {
            "seed": budget.seed,
            "first": first,
            "calls": calls,
            "pattern": budget.pattern,
            "page": str(path),
            # The shadow of the sanitizer alone takes terabytes of address space; a walk opens more
            # devices, each with a window of its own.
            "address_space": 0 if walk or sanitizer.sanitized() else ADDRESS_SPACE,
            "kept": kept,
            "case": None if case is None else str(case),
            "before": before,
            "walk": walk,
            "most": most,
        }
        with (
            (Path(folder) / "out").open("w+", encoding="utf-8") as out,
            (Path(folder) / "errors").open("w+", encoding="utf-8", errors="replace") as errors,
        ):
            # The sanitizer reports a crash itself, and ends the process so that it is attributed.
            own = [] if sanitizer.sanitized() else ["-X", "faulthandler"]
            command = [sys.executable, *own, "-m", f"{__package__}.worker"]
            child = subprocess.Popen(
                [*command, json.dumps(asked)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                env={**_environment(), **(settings or {})},
            )
            try:
                end = _watch(budget, child, page)
            finally:
                child.kill()
                child.wait()
                counts = page.counts()
                page.close()
            out.seek(0)
            end.defects = [json.loads(line) for line in out if line.endswith("}\n")]
            errors.seek(0)
            end.errors = _ends(errors.read())
        if child.returncode == 1:  # Python's own: no call of the library ends a process so
            raise RuntimeError(f"the worker failed at call {end.number}:\n{end.errors}")
        end.counts = counts
        return end


def _ends(text: str) -> str:
    """Head and tail of what a process wrote: a sanitizer says first what is wrong."""
    return text if len(text) <= 2 * ERRORS else f"{text[:ERRORS]}\n...\n{text[-ERRORS:]}"


def _watch(budget: Budget, child: subprocess.Popen[bytes], page: Page) -> End:
    """Count what the worker does until it ends; end it when it hangs."""
    counted: Counter[str] = Counter()
    last, since, used = -1, time.monotonic(), 0.0
    while True:
        ended = child.poll() is not None
        number, step, done = page.position()
        counts = page.counts()
        for outcome, count in (counts - counted).items():
            budget.spend(outcome, count)
        counted = counts
        if ended:
            break
        now, processor = time.monotonic(), _processor_time(child.pid)
        if done != last:
            last, since, used = done, now, processor
        elif step != STARTING and (
            processor - used > HANG_CPU_S or now - since > HANG_WAIT_S + processor - used
        ):
            what = f"no end of {STEPS[step]} after {processor - used:.0f} s of the processor"
            return End("hang", what, number, step)
        if not budget.left():
            page.ask_to_stop()
        time.sleep(POLL_S)
    if child.returncode == 0:
        return End(number=number)
    name = f"status {child.returncode}"
    if child.returncode < 0:
        name = signal.Signals(-child.returncode).name
    return End("crash", f"{name} in {STEPS[step]}", number, step)


def _processor_time(pid: int) -> float:
    """Seconds of the processor that a process has used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _environment() -> dict[str, str]:
    here = Path(__file__).resolve().parent
    # The package under its name here: `tests.fuzz` from the root, `fuzz` in the tests.
    root = here.parents[len(str(__package__).split(".")) - 1]
    paths = [str(root), str(here.parent), str(sanitizer.LIBRARY.parents[2])]
    known = os.environ.get("PYTHONPATH")
    result = {**os.environ, **sanitizer.environment(), "ACLNN_PY_DEVICE": "emulator"}
    result["PYTHONPATH"] = os.pathsep.join([*paths, *([known] if known else [])])
    return result
