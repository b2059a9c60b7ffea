# SPDX-License-Identifier: Apache-2.0
"""Accepted calls of every operator with each of their allocations refused in turn.

Both phases of a call run while the n-th allocation of the process fails, for every n until none is
left to fail. Each time the call must answer with a documented status and a message, succeed when it
is made again, keep no memory, and write nothing outside its tensors. The operators of collectives
run on all ranks of their group, a device each.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.accepted_calls import calls

import aclnn_py as ap
from aclnn_py import facts

from . import operators, sanitizer
from .budget import Budget
from .cases import Case

if TYPE_CHECKING:
    from .native import Machine, Result

SOURCE = Path(__file__).resolve().parent.parent / "emulator" / "native" / "scarce_calls.cpp"
MOST_ALLOCATIONS = 2000
ROUNDS = 6  # what is made once is no leak: one grows with every round
_POINTER = ctypes.c_void_p


def fuzz(budget: Budget) -> int:
    """Refuse every allocation of accepted calls; return the number of defects.

    A number of calls in the budget is a number of cases here, spread evenly over all operators.
    """
    if sanitizer.sanitized():
        raise SystemExit("the sanitizer's own allocator cannot be made to fail: build without it")
    with tempfile.TemporaryDirectory(prefix="aclnn-scarce-") as folder:
        library = _built(Path(folder) / "scarce.so")
        return operators.walk(budget, "scarce", {"LD_PRELOAD": str(library)})


def cases(names: list[str]) -> list[Case]:
    """Return the accepted calls of the operators that the chip of this process has."""
    here = [name for name in names if not facts.emulated()[name].chip]
    return [Case(call) for name in here for call in calls(name)]


def maker(machine: Machine) -> Scarcity:
    """Return what makes the cases."""
    return Scarcity(machine)


def _built(target: Path) -> Path:
    root = SOURCE.parents[3]
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    command = [*compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE"]
    command += ["-Wall", "-Wextra", "-Werror", f"-I{root / 'include'}", str(SOURCE)]
    subprocess.run([*command, "-o", str(target), "-lpthread", "-ldl"], check=True)
    return target


class _Functions(ctypes.Structure):
    _fields_ = (("set_device", _POINTER), ("synchronize", _POINTER), ("message", _POINTER))


class _Call(ctypes.Structure):
    _fields_ = (
        ("phase_one", _POINTER),
        ("op", _POINTER),
        ("words", _POINTER),
        ("phase_two", _POINTER),
        ("workspace", _POINTER),
        ("stream", _POINTER),
        ("device", ctypes.c_int32),
        ("refused", ctypes.c_int32),
        ("size", ctypes.c_uint64),
    )


class Outcome(ctypes.Structure):
    """What `scarce_attempt` reports."""

    _fields_ = (
        ("code", ctypes.c_int32),
        ("failed", ctypes.c_int32),
        ("undocumented", ctypes.c_int32),
        ("silent", ctypes.c_int32),
        ("more", ctypes.c_int64),
    )


@dataclass
class Attempt:
    """What one attempt showed: whether an allocation was refused, and what is wrong."""

    failed: bool
    more: int
    defect: str = ""
    what: str = ""


def judged(outcome: Outcome) -> Attempt:
    """Return what an attempt showed."""
    found = Attempt(bool(outcome.failed), int(outcome.more))
    if outcome.code:
        found.defect, found.what = "refused", f"{outcome.code} with memory to be had"
    elif outcome.undocumented:
        found.defect, found.what = "unknown status", f"refused with {outcome.undocumented}"
    elif outcome.silent:
        found.defect, found.what = "no message", f"refused with {outcome.silent}"
    return found


class Scarcity:
    """Makes cases with each of their allocations refused in turn."""

    def __init__(self, machine: Machine) -> None:
        from aclnn_py.emulator import library_path

        emulator, process = ctypes.CDLL(str(library_path())), ctypes.CDLL(None)
        names = ("aclrtSetDevice", "aclrtSynchronizeStreamWithTimeout", "aclGetRecentErrMsg")
        addresses = (ctypes.cast(getattr(emulator, name), _POINTER).value for name in names)
        self._functions = _Functions(*addresses)
        self._attempt = process.scarce_attempt
        self._attempt.restype = None
        self._machines = [machine]
        self._communicators: list[Any] = []
        self._joined: list[int] = []  # the keys of the groups that all ranks are in

    def make(self, case: Case, note: Callable[[int], None]) -> Result:
        """Refuse one allocation after the other until the call needs no other."""
        from .native import Result

        self._ranks(max(case.call.ranks, 1))
        self._join(case.call.group_keys)
        ap.Device(0).activate()
        known = self._machines[0].make(case, note)
        if known.outcome != "ran" and known.outcome != "phase one alone":
            return known
        if known.outcome != "ran" and case.call.ranks < 2:
            return known  # it takes too long, or too much memory
        counts: Counter[str] = Counter()
        n = 0
        while True:
            seen: list[Attempt] = []
            for _ in range(ROUNDS):
                seen.append(self._once(case, n, note))
                counts["refused" if seen[-1].failed else "succeeded"] += 1
                if seen[-1].defect or seen[-1].more <= 0:
                    break
            last = seen[-1]
            if last.defect:
                return Result("", last.defect, f"allocation {n}: {last.what}", counts)
            if last.more > 0:
                what = f"allocation {n}: {[attempt.more for attempt in seen]} blocks more"
                return Result("", "leak", what, counts)
            if n and not last.failed:
                return Result("", counts=counts)
            n += 1
            if n > MOST_ALLOCATIONS:
                return Result("", "endless", f"more than {MOST_ALLOCATIONS} allocations", counts)

    def _once(self, case: Case, n: int, note: Callable[[int], None]) -> Attempt:
        """One attempt: allocation ``n`` of all ranks' calls is refused, none for 0."""
        ranks = max(case.call.ranks, 1)
        machines = self._ranks(ranks)
        self._join(case.call.group_keys)
        note(0)
        rows = (_Call * ranks)()
        for rank, (row, machine) in enumerate(zip(rows, machines, strict=True)):
            with ap.Device(rank):
                made = machine.prepared(replace(case, call=case.call.at(rank)))
            row.phase_one, row.op, row.words = made.phase_one, made.op, made.words
            row.phase_two, row.workspace, row.stream = made.phase_two, made.workspace, made.stream
            row.device = rank
        outcome = Outcome()
        note(2)
        self._attempt(
            ctypes.c_long(n), ctypes.byref(self._functions), rows, ctypes.c_int32(ranks),
            ctypes.byref(outcome),
        )  # fmt: skip
        note(3)
        found = judged(outcome)
        for machine, row in zip(machines, rows, strict=True):
            result = machine.finished(int(row.size))
            if result.defect and not found.defect:
                found.defect, found.what = result.defect, result.what
        if outcome.failed or found.defect:
            self._leave()  # a rank that failed may have broken its group for good
        return found

    def _ranks(self, count: int) -> list[Machine]:
        from .native import Machine

        while len(self._machines) < count:
            with ap.Device(len(self._machines)):
                self._machines.append(Machine(len(self._machines)))
        return self._machines[:count]

    def _join(self, keys: list[int]) -> None:
        from aclnn_py.distributed import Communicator

        if not keys or self._joined == keys:
            return
        self._leave()
        self._joined = list(keys)
        for key in keys:
            members = Communicator.init_all(abs(key))
            self._communicators.extend(members)
            for machine, member in zip(self._machines, members, strict=False):
                machine.groups[key] = member.name.encode()

    def _leave(self) -> None:
        for member in self._communicators:
            member.close()
        self._communicators = []
        self._joined = []
        for machine in self._machines:
            machine.groups.clear()
