# SPDX-License-Identifier: Apache-2.0
"""C and C++ programs against `include/` and the library: no Python in the process they run in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from helpers.native import NATIVE, compiled, made_once

TIMEOUT_S = 240.0
MOST_ALLOCATIONS = 1000  # of a small program from its first call to its last

# Program, arguments (a dot stands for a directory of its own), environment.
RUNS = [
    ("init.c", ["."], {}),
    ("device.cpp", [], {}),
    ("stream.cpp", [], {}),
    ("event.cpp", [], {}),
    ("memory.cpp", [], {"ACLNN_PY_EMULATOR_MEMORY": "64M"}),
    ("memory.cpp", [], {"ACLNN_PY_EMULATOR_MEMORY": "64M", "ACLNN_PY_CHECK": "1"}),
    ("copy.cpp", [], {}),
    ("host_memory.cpp", [], {}),
    ("host_memory.cpp", [], {"ACLNN_PY_CHECK": "1"}),
    ("mapping.cpp", [], {}),
    ("callback.cpp", [], {}),
    ("capture.cpp", [], {}),
    # CANN's getters allocate with new[]; a C program can only free() the arrays, which works and
    # which the address sanitizer would call a mismatch.
    ("meta.c", [], {"ASAN_OPTIONS": "alloc_dealloc_mismatch=0"}),
    ("executor.cpp", [], {}),
    ("executor.cpp", [], {"ACLNN_PY_CHECK": "1"}),
    ("addresses.cpp", [], {}),
    ("addresses.cpp", [], {"ACLNN_PY_CHECK": "1"}),
    ("aclop.cpp", [], {}),
    ("aclop.cpp", [], {"ACLNN_PY_CHECK": "1"}),
    *(
        ("fault_rule.cpp", ["1500", seed], {"ACLNN_PY_EMULATOR_INLINE": mode} if mode else {})
        for seed, mode in (("1", ""), ("2", "always"), ("3", "never"))
    ),
    ("queues.cpp", [], {}),
    ("queues.cpp", [], {"ACLNN_PY_CHECK": "1"}),
    ("sharing.cpp", [], {}),
    ("storage.cpp", [], {}),
    ("threads.cpp", [], {}),
    ("ranks.cpp", [], {}),
    ("settings.cpp", ["."], {}),
    ("profiling.cpp", ["."], {}),
    ("profiling.cpp", ["."], {"ACLNN_PY_CHECK": "1"}),
    ("building.cpp", ["."], {}),
    ("graph_tasks.cpp", [], {}),
    ("graph_tasks.cpp", [], {"ACLNN_PY_CHECK": "1"}),
    ("graph_jumps.cpp", [], {}),
    ("graph_jumps.cpp", [], {"ACLNN_PY_CHECK": "1"}),
    ("graph_jumps.cpp", [], {"ACLNN_PY_EMULATOR_INLINE": "never"}),
    ("securec.c", [], {}),
    ("surface.cpp", ["."], {}),
    ("surface.cpp", ["."], {"ACLNN_PY_CHECK": "1"}),
    ("scarce_runtime.cpp", [], {}),
    ("scarce_operators.cpp", [], {"ACLNN_PY_THREADS": "2"}),
    ("scarce_ranks.cpp", [], {}),
    *(
        (program, [], {"ACLNN_PY_EMULATOR_INLINE": mode} if mode else {})
        for program in ("inline.cpp", "stream.cpp", "event.cpp", "threads.cpp")
        for mode in ("always", "never", "")
        if mode or program == "inline.cpp"
    ),
    ("process.cpp", ["fork-after-use"], {}),
    ("process.cpp", ["fork-before-use"], {}),
    ("process.cpp", ["exit-with-work"], {}),
    ("process.cpp", ["exit-with-a-task-that-blocks"], {}),
]


def name_of(run: tuple[str, list[str], dict[str, str]]) -> str:
    program, arguments, env = run
    settings = [key.removeprefix("ACLNN_PY_").lower() for key in env if key == "ACLNN_PY_CHECK"]
    mode = [f"inline-{value}" for key, value in env.items() if key == "ACLNN_PY_EMULATOR_INLINE"]
    return "-".join([program, *(a for a in arguments if a != "."), *settings, *mode])


@pytest.fixture(scope="session")
def build(run_folder: Path):
    """Compile a program once, whichever worker asks first, and return its path."""

    def compile_once(program: str) -> Path:
        target = run_folder / f"native-{Path(program).stem}"
        return made_once(target, lambda fresh: compiled(NATIVE / program, fresh))

    return compile_once


def run_program(
    program: Path, arguments: list[str], settings: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a program with the emulator's own settings only."""
    env = {
        key: value for key, value in os.environ.items() if not key.startswith("ACLNN_PY_EMULATOR")
    }
    env.pop("ASCEND_RT_VISIBLE_DEVICES", None)
    env.update(settings)
    done = subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        env=env,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, (
        f"{program.name} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    )
    assert "Sanitizer" not in done.stderr, done.stderr
    return done


@pytest.mark.emulator_only(reason="links against the emulator's library")
@pytest.mark.parametrize("run", RUNS, ids=name_of)
def test_native_program(run, build, tmp_path: Path) -> None:
    program, arguments, settings = run
    run_program(build(program), [str(tmp_path) if a == "." else a for a in arguments], settings)


@pytest.mark.emulator_only(reason="links against the emulator's library")
def test_a_program_survives_the_failure_of_each_allocation(build) -> None:
    program = build("scarce_cold.cpp")
    for n in range(1, MOST_ALLOCATIONS):
        if run_program(program, [str(n)], {}).stdout.strip() == "all":
            break
    else:
        pytest.fail("the program allocates without end")
    assert n > 50


@pytest.mark.emulator_only(reason="these are settings of the emulator")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"status": "0", "count": "8", "soc": "Ascend910B1", "cann": "8.5.0", "cubes": "24"}),
        ({"ACLNN_PY_EMULATOR_DEVICES": "2"}, {"count": "2", "last": "1"}),
        ({"ACLNN_PY_EMULATOR_DEVICES": "0"}, {"status": "207004", "count": "0"}),
        ({"ACLNN_PY_EMULATOR_SOC": "Ascend310P3"}, {"soc": "Ascend310P3", "cubes": "8"}),
        ({"ACLNN_PY_EMULATOR_CANN": "9.1.0"}, {"cann": "9.1.0"}),
        ({"ACLNN_PY_EMULATOR_MEMORY": "96M"}, {"total": str(96 << 20)}),
        ({"ASCEND_RT_VISIBLE_DEVICES": "1,4"}, {"count": "2", "last": "4"}),
        ({"ASCEND_RT_VISIBLE_DEVICES": "2,5,x,6"}, {"count": "2", "last": "5"}),
        ({"ASCEND_RT_VISIBLE_DEVICES": "3,1"}, {"count": "1", "last": "3"}),
        ({"ASCEND_RT_VISIBLE_DEVICES": ""}, {"status": "207004", "count": "0"}),
    ],
)
def test_settings(settings, expected, build) -> None:
    out = run_program(build("report.c"), [], settings).stdout
    reported = dict(line.split("=", 1) for line in out.splitlines())
    assert {key: reported[key] for key in expected} == expected
