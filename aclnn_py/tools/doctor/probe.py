# SPDX-License-Identifier: Apache-2.0
"""Run the trials in child processes and report how they ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclnn_py.tools.children import Child, python_child
from aclnn_py.tools.doctor.finding import Finding, error, note, ok

__all__ = [
    "Outcome",
    "all_reduce_finding",
    "device_finding",
    "memory_finding",
    "smoke_finding",
    "try_device",
]

_TRIAL = "aclnn_py.tools.doctor.trial"
RANKS = 2
_SHOWN_CHARACTERS = 1500
_MATCH = "let CANN, driver and firmware match (see the group `versions`)"


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: what it answered, or why it did not."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    fault: str = ""
    why: str = ""
    action: str = ""


def try_device(environ: Mapping[str, str], timeout_s: float) -> Outcome:
    """Open the device and copy some bytes."""
    return _run(python_child(_TRIAL, "device", environ=environ), timeout_s)


def device_finding(outcome: Outcome) -> Finding:
    """Judge ``try_device``."""
    if outcome.fault:
        return error(f"the device cannot be used: {outcome.fault}", outcome.why, outcome.action)
    answer = outcome.answers[0]
    if not answer["devices"]:
        return error(
            "no device is visible",
            "nothing can be run",
            "look at ASCEND_RT_VISIBLE_DEVICES and /dev/davinci*",
        )
    return ok(f"{len(answer['devices'])} x {answer['devices'][0]['name']} ({answer['kind']})")


def memory_finding(outcome: Outcome) -> Finding | None:
    """Judge how much memory the emulator gives a device; None for other devices."""
    first = outcome.answers[0]["devices"][0] if outcome.answers[0].get("devices") else {}
    origin = first.get("sized_by")
    if not origin:
        return None
    seen = f"each device has {first['total'] >> 20} MiB: {origin}"
    if "ulimit" not in origin and "cgroup" not in origin:
        return ok(seen)
    return note(
        seen,
        "that is a limit of this process, below the host's memory: larger tensors do not fit",
        "raise it (ulimit -a shows limits of the process); ACLNN_PY_EMULATOR_MEMORY sets the size,"
        " and fewer ACLNN_PY_EMULATOR_DEVICES leave each more of `ulimit -v`",
    )


def smoke_finding(environ: Mapping[str, str], timeout_s: float) -> Finding:
    """Run one operator."""
    outcome = _run(python_child(_TRIAL, "smoke", environ=environ), timeout_s)
    if outcome.fault:
        return error(f"an operator failed: {outcome.fault}", outcome.why, outcome.action)
    return ok(outcome.answers[0]["seen"])


def all_reduce_finding(environ: Mapping[str, str], timeout_s: float) -> Finding:
    """Sum over two ranks of this host."""
    rank = python_child(_TRIAL, "all-reduce", environ=environ)
    job = ("run", "-n", str(RANKS), *rank.words)
    outcome = _run(python_child("aclnn_py.tools.cli", *job, environ=environ), timeout_s, RANKS)
    if outcome.fault:
        return error(
            f"the all-reduce of {RANKS} ranks failed: {outcome.fault}",
            outcome.why,
            outcome.action,
        )
    return ok(outcome.answers[0]["seen"])


def _run(child: Child, timeout_s: float, answers: int = 1) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="aclnn-py-doctor-") as place:
        answer = Path(place, "answer")
        process = subprocess.Popen(
            [*child.words, str(answer)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=child.environment,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            # The whole process group, because a rank or a service of CANN may hold the pipe.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Outcome(
                fault=f"no end after {timeout_s:g} s",
                why="a device or a rank does not answer",
                action="look for another process on the device (npu-smi info), and at its health",
            )
        found = [Path(place, f"answer.{rank}") for rank in range(answers)]
        given = [json.loads(path.read_text()) for path in found if path.exists()]
    faults = [entry["fault"] for entry in given if "fault" in entry]
    if process.returncode == 0 and len(given) == answers and not faults:
        return Outcome(given)
    said = output.decode("utf-8", "replace").strip()[-_SHOWN_CHARACTERS:]
    if faults:
        return Outcome(given, faults[0], "programs meet the same error", "see the other findings")
    return _crash(process.returncode, said)


def _crash(status: int, said: str) -> Outcome:
    tail = f"; it printed: {said}" if said else ""
    if status > 128:
        status = 128 - status  # as `aclnn-py run` reports a signal
    if status >= 0:
        return Outcome(
            fault=f"the process ended with status {status}{tail}",
            why="programs will end the same way",
            action="see the other findings",
        )
    name = signal.Signals(-status).name
    why = "the libraries, the driver or the kernels do not fit each other"
    if -status == signal.SIGBUS:
        why = "a bus error is what a driver, firmware and CANN that do not match end with"
    return Outcome(fault=f"the process was ended by {name}{tail}", why=why, action=_MATCH)
