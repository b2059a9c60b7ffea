# SPDX-License-Identifier: Apache-2.0
"""Fuzz of readers of files: each case in a process whose memory is bounded.

A case ends well, or with the one error that the reader promises. Any other exception, one for lack
of memory included, a death of the process and a case without an end are defects. The process says
how each case ended, so a dead one is attributed to the case behind the last, and the next process
goes on behind that.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # `helpers`

from helpers.processes import environment

from .budget import Budget

ROOT = Path(__file__).resolve().parents[2]
ADDRESS_SPACE = 1 << 30  # more than the process has when it begins
CASES_OF_A_PROCESS = 5000
START_S = 300.0  # until a process has loaded everything
HANG_S = 180.0  # for a case
MAX_KEPT = 1 << 16  # bytes of a file that are reported with it


def run(budget: Budget, module: str) -> int:
    """Make cases of a module while the budget lasts; return the number of defects.

    The module has ``seeds(folder)``, which writes files that are as they should be and returns
    their bytes; ``mutated(rng, seeds)``, which returns the bytes of a case; ``attempt(path)``,
    which reads a file and returns how that ended; and ``ERRORS``, what it may raise.
    """
    first = 0
    with tempfile.TemporaryDirectory(prefix="aclnn_py-fuzz-") as folder:
        while budget.left():
            count = CASES_OF_A_PROCESS
            if budget.calls is not None:
                count = min(count, budget.calls - budget.spent)
            first += _process(budget, module, folder, first, count)
    return len(budget.defects)


def _process(budget: Budget, module: str, folder: str, first: int, count: int) -> int:
    """Let one process make cases; return how many it began."""
    asked = {"module": module, "folder": folder, "seed": budget.seed, "first": first,
             "count": count}  # fmt: skip
    errors = Path(folder) / "errors"
    with (
        open(errors, "wb") as sink,
        subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.files", json.dumps(asked)],
            stdout=subprocess.PIPE,
            stderr=sink,
            cwd=ROOT,
            env=environment({"ACLNN_PY_EMULATOR_MEMORY": str(256 << 20)}),
        ) as process,
    ):
        done, ended = _follow(budget, process, first, count)
    if ended or done == count:
        return done
    kind = "hang" if process.returncode == -9 else "crash"
    what = f"status {process.returncode}"
    budget.spend(kind)
    budget.tally[kind] -= 1  # `found` counts it
    case = {"number": first + done, **_kept(Path(folder) / "case")}
    case["errors"] = errors.read_text(errors="replace")[-3000:]
    budget.found(kind, f"{module}: {what}", case)
    return done + 1


def _follow(
    budget: Budget, process: subprocess.Popen[bytes], first: int, count: int
) -> tuple[int, bool]:
    """Count the lines of a process; (cases that ended, whether the budget is used up)."""
    assert process.stdout is not None
    done, rest, begun = 0, b"", False
    while done < count:
        if not budget.left():
            process.kill()
            return done, True
        if not select.select([process.stdout], [], [], HANG_S if begun else START_S)[0]:
            process.kill()
            break
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        begun = True
        for line in lines:
            done += 1
            if line.startswith(b"{"):
                row = json.loads(line)
                budget.spend("defect")
                budget.tally["defect"] -= 1
                budget.found("defect", row.pop("what"), row)
            else:
                budget.spend(line.decode())
    process.wait()
    return done, False


def _kept(path: Path) -> dict[str, str]:
    data = path.read_bytes() if path.exists() else b""
    return {"file": base64.b64encode(data).decode()} if len(data) <= MAX_KEPT else {}


def main(asked: dict[str, Any]) -> None:
    """Make the cases that are asked for, one line of standard output for each."""
    module = importlib.import_module(asked["module"])
    path = Path(asked["folder"]) / "case"
    known = module.seeds(Path(asked["folder"]))
    for data in known:
        # What has been recorded here can be read here; and all is loaded before memory is bounded.
        path.write_bytes(data)
        module.attempt(path)
    limit = _mapped() + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    for number in range(asked["first"], asked["first"] + asked["count"]):
        rng = random.Random(f"{asked['seed']}/{number}")
        path.write_bytes(module.mutated(rng, known))
        try:
            line = module.attempt(path)
        except module.ERRORS as error:
            line = f"refused {type(error).__name__}"
        except Exception as error:
            line = json.dumps(
                {
                    "what": f"{asked['module']}: {type(error).__name__}: {str(error)[:200]}",
                    "number": number,
                    "traceback": traceback.format_exc()[-3000:],
                    **_kept(path),
                }
            )
        print(line, flush=True)


def _mapped() -> int:
    """Bytes of address space that the process has now, the emulator's windows included."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmSize:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmSize")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
