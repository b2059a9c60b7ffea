# SPDX-License-Identifier: Apache-2.0
"""The comparison of a library: groups of operators, first on the emulator, then on the device."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from aclnn_py import __version__
from aclnn_py.operators.record.call import Memory, RecordedCall
from aclnn_py.operators.record.file import RecordWriter
from aclnn_py.tools.operators import chosen
from aclnn_py.tools.verify.cases import Case, cases_of, chip_of, names_of
from aclnn_py.tools.verify.judge import Finding, judge
from aclnn_py.tools.verify.side import Ended, Side, VerifyError

__all__ = ["Report", "Row", "verify"]

_GROUP = 24
# Settings that would change what one of the two sides says, or that hold for the device only.
_NOT_PASSED_ON = ("ACLNN_PY_TRACE", "ACLNN_PY_RECORD", "ACLNN_PY_BLOCKING", "ACLNN_PY_LINES",
                  "ACLNN_PY_STRICT", "ACLNN_PY_CHECK")  # fmt: skip
_ONLY_THE_DEVICE = ("ACLNN_PY_LIBRARY_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")


@dataclass
class Row:
    """One operator of the report.

    Attributes
    ----------
    operator : str
    cases : int
        Calls that both sides made.
    findings : list of Finding
        Those that differ.
    left : dict
        How many calls were left out, by the reason.
    """

    operator: str
    cases: int = 0
    findings: list[Finding] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)


@dataclass
class Report:
    """What a comparison found.

    Attributes
    ----------
    about : dict
        Package, device and settings.
    rows : list of Row
        By operator.
    not_compared : list of str
        Operators that the emulator does not have, or has no calls for.
    notes : list of str
        Processes on the device that ended badly when they made no call.
    """

    about: dict[str, Any]
    rows: list[Row]
    not_compared: list[str]
    notes: list[str]

    @property
    def findings(self) -> list[Finding]:
        """All findings, by operator."""
        return [finding for row in self.rows for finding in row.findings]

    @property
    def cases(self) -> int:
        """Calls that were compared."""
        return sum(row.cases for row in self.rows)

    def written(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            "kind": "aclnn_py verify",
            "version": 1,
            "about": self.about,
            "cases": self.cases,
            "operators": [
                {
                    "operator": row.operator,
                    "cases": row.cases,
                    "left": dict(row.left),
                    "findings": [asdict(finding) for finding in row.findings],
                }
                for row in self.rows
            ],
            "not_compared": self.not_compared,
            "notes": self.notes,
        }


def verify(
    patterns: Sequence[str] = (),
    *,
    seed: int = 0,
    timeout_s: float = 60.0,
    device: str = "npu",
    records: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    progress: Callable[[str, int, int], None] = lambda name, done, all: None,
) -> Report:
    """Compare operators of the device with those of the emulator.

    Parameters
    ----------
    patterns : Sequence[str]
        The operators, as for ``aclnn_py.tools.operators.find``; default is all.
    seed : int, default 0
        Of the random contents.
    timeout_s : float, default 60
        Seconds after which a call counts as hung.
    device : str, default "npu"
        Value of ACLNN_PY_DEVICE for the device.
    records : Path, optional
        A folder for a record of each call whose results differ, for ``aclnn-py replay``.
    environment : mapping
        Variables of the processes.
    progress : callable
        Gets the name of the first operator of a group, how many operators are done, and of how
        many.

    Raises
    ------
    VerifyError
        A device cannot be used, or no operator matches.
    """
    common = {key: value for key, value in environment.items() if key not in _NOT_PASSED_ON}
    tested = Side({**common, "ACLNN_PY_DEVICE": device}, timeout_s)
    about = tested.about()
    chip = chip_of(about["soc"])
    known = set(chosen(patterns))
    names = [name for name in names_of(chip) if name in known]
    if not names:
        raise VerifyError(
            f"no operator matches {' or '.join(map(repr, patterns))}: give a name, a part of one,"
            " or a shell pattern as 'aclnnGroupedMatmul*'; `aclnn-py ops PATTERN` lists operators"
        )
    same = {key: value for key, value in common.items() if key not in _ONLY_THE_DEVICE}
    if about["kind"] == "npu":
        same["ACLNN_PY_EMULATOR_SOC"] = about["soc"]
        same["ACLNN_PY_EMULATOR_DEVICES"] = str(about["devices"])
    emulator = Side({**same, "ACLNN_PY_DEVICE": "emulator"}, timeout_s)
    asked = {"chip": chip, "seed": seed}
    rows = []
    for first in range(0, len(names), _GROUP):
        group = names[first : first + _GROUP]
        progress(group[0], first, len(names))
        rows += _compare(group, asked, emulator, tested, records)
    progress("", len(names), len(names))
    about |= {"package": __version__, "patterns": list(patterns), **asked}
    return Report(about, rows, sorted(known - set(names)), tested.notes)


def _compare(
    group: Sequence[str],
    asked: dict[str, Any],
    emulator: Side,
    tested: Side,
    records: Path | None,
) -> list[Row]:
    cases = [case for name in group for case in cases_of(name, **asked)]
    sizes = [[memory.nbytes for memory in case.call.memories] for case in cases]
    here = emulator.run(group, sizes, asked)
    # Contents that no document allows: a device may do anything with them.
    leave = [at for at, ended in here.items() if ended.stage in ("device", "died", "hung")]
    there = tested.run(group, sizes, asked, leave=leave)
    rows = {name: Row(name) for name in group}
    for at, case in enumerate(cases):
        row = rows[case.call.operator]
        mine = here[at]
        other = there.get(at) or Ended(left=f"the emulator's call ends with {mine.message}")
        if mine.left or other.left:
            row.left[other.left or mine.left] += 1
            continue
        row.cases += 1
        finding = judge(case, other, mine)
        if finding is not None:
            row.findings.append(finding)
            if records is not None and finding.kind == "result" and not case.groups:
                _keep(records, case, mine)
    return list(rows.values())


def _keep(folder: Path, case: Case, emulator: Ended) -> None:
    """Write a record of a call with what the emulator made of it."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"package": __version__, "device": "emulator", "cann": ""}
    with RecordWriter(folder / f"{case.call.operator}-{case.number}.record", about) as writer:
        memories = tuple(
            Memory(memory.nbytes, writer.keep(case.data[str(memory.before)]), writer.keep(after))
            for memory, after in zip(case.call.memories, emulator.memory[0], strict=True)
        )
        call: RecordedCall = replace(case.call, memories=memories, line=case.what)
        writer.add(call)
