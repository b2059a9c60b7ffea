# SPDX-License-Identifier: Apache-2.0
"""The C++ programs of `native/` again, with single allocations of the library refused.

They call every family of the runtime and of HCCL. A call that gets no memory has to say so by a
documented status, do its work when it is made again, and change nothing for the rest of the
program. ``pytest --every-allocation`` refuses every allocation in turn; without it a sample.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from helpers.native import LIB, NATIVE, SANITIZERS, compiled

PROGRAMS = [
    "addresses.cpp",
    "building.cpp",
    "graph_jumps.cpp",
    "graph_tasks.cpp",
    "callback.cpp",
    "capture.cpp",
    "copy.cpp",
    "device.cpp",
    "event.cpp",
    "executor.cpp",
    "mapping.cpp",
    "memory.cpp",
    "queues.cpp",
    "settings.cpp",
    "stream.cpp",
    "surface.cpp",
]
SETTINGS = {"memory.cpp": {"ACLNN_PY_EMULATOR_MEMORY": "64M"}}
TIMEOUT_S = 240.0
SAMPLE = 6

pytestmark = [
    pytest.mark.emulator_only(reason="links against the emulator's library"),
    pytest.mark.skipif(bool(SANITIZERS), reason="the sanitizer has an allocator of its own"),
]


@pytest.mark.timeout(3600)  # of every allocation; a sample takes seconds
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_bears_a_failed_allocation(
    program: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    target = compiled(NATIVE / program, tmp_path / "program", "-include", "scarce_expect.h")

    def run(n: int | None, name: str = "") -> str:
        place = tmp_path / (name or str(n))
        place.mkdir()
        known = {k: v for k, v in os.environ.items() if not k.startswith("ACLNN_PY_EMULATOR")}
        env = {**known, **SETTINGS.get(program, {}), **({} if n is None else {"SCARCE_N": str(n)})}
        done = subprocess.run(
            [str(target), str(place)],
            capture_output=True,
            text=True,
            env=env,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, f"allocation {n}: {done.returncode}\n{done.stderr}"
        return done.stdout.split()[-1] if n is None else done.stdout.split()[0]

    # The number of allocations depends on how fast the threads are: what waits counts too.
    count = min(int(run(None, place)) for place in ("first", "second", "third"))
    assert count > 20
    step = 1 if request.config.getoption("--every-allocation") else -(-count // SAMPLE)
    answers = [run(n) for n in range(1, count + 1, step)]
    assert answers.count("refused") > len(answers) // 2


# They end the library, or start it.
LIFE = {"aclInit", "aclFinalize", "aclFinalizeReference"}


def test_every_function_bears_nulls_and_a_failed_allocation(tmp_path: Path) -> None:
    target = compiled(NATIVE / "scarce_null.cpp", tmp_path / "program")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(LIB / "libaclnn_py_emulator.so")],
        capture_output=True,
        text=True,
        check=True,
    )
    names = sorted({line.split()[-1] for line in listed.stdout.splitlines()} - LIFE)
    assert len(names) > 1500
    done = subprocess.run(
        [str(target), *names], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    last = done.stdout.splitlines()[-1]
    assert done.returncode == 0, f"{last} ended with {done.returncode}\n{done.stderr}"
    assert last == "done"
