# SPDX-License-Identifier: Apache-2.0
"""What is said about mistakes of C programs, with no Python in their process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.mistakes import BY_CHANCE, MODES, NAMES, SOURCE, build, expected, lines_of, run, said
from helpers.native import ROOT, SANITIZERS, compiled, made_once

from aclnn_py.tools.traces.reader import read_calls

pytestmark = pytest.mark.emulator_only(reason="links against the emulator's library")
# The line of a call over several lines is that of its first one.
_LONGEST_CALL = 5


@pytest.fixture(scope="session")
def program(run_folder: Path) -> Path:
    if SANITIZERS:
        pytest.skip("a sanitizer has its own handler of signals and its own reports")
    folder = run_folder / "mistakes"

    def make(fresh: Path) -> None:
        fresh.mkdir()
        build(fresh)

    return made_once(folder, make) / "mistakes"


def test_there_are_fifty_mistakes_and_check_names_them() -> None:
    table = expected()
    assert list(table) == [name for name in NAMES if name != "correct"]
    assert len(table) >= 50
    unnamed = [name for name, row in table.items() if row["check"] in ("nothing", "refused call")]
    assert not unnamed


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "correct"])
def test_a_mistake_is_named(name: str, mode: str, program: Path) -> None:
    done = run(program, name, mode)
    known = {expected()[name][mode]}
    if name in BY_CHANCE and mode == "without":
        known = {"nothing", "507015 from `aclrtSynchronizeStream`"}
    assert said(done, mode) in known, done.stdout + done.stderr


@pytest.mark.parametrize("name", [name for name in NAMES if name != "correct"])
def test_check_names_the_line(name: str, program: Path) -> None:
    if shutil.which("addr2line") is None:
        pytest.skip("no addr2line")
    done = run(program, name, "check")
    report = done.stderr.splitlines()
    places = [int(line) for line in re.findall(r"mistakes\.c:(\d+) in", report[1])]
    first, last, mistake = lines_of(name)
    if name == "thread_without_a_device":
        first, last, mistake = lines_of_the_thread()
    if mistake is None:  # the call is in a function that the program calls
        assert any(first <= line <= last for line in places), done.stderr
    else:
        assert mistake - _LONGEST_CALL < places[0] <= mistake, done.stderr


def lines_of_the_thread() -> tuple[int, int, int]:
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if "*without_a_device(" in line)
    return first + 1, first + 5, first + 3


def test_a_parameter_is_named_with_its_shape(program: Path) -> None:
    for mode, stream in (("check", "stderr"), ("without", "stdout"), ("blocking", "stdout")):
        text = getattr(run(program, "host_pointer_as_tensor", mode), stream)
        assert "aclnnAdd: other (4, 8) FLOAT" in text, text


def test_what_is_left_is_counted_by_its_place(program: Path) -> None:
    text = run(program, "memory_never_freed", "check").stderr
    assert "never destroyed: device memory, 1 made here, 128 bytes in all" in text
    assert text.endswith("aclnn_py check: 1 mistake\n")


def test_a_program_without_mistakes_is_not_reported(program: Path) -> None:
    for mode in MODES:
        done = run(program, "correct", mode)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("sample", ["07_add.cpp", "08_all_reduce.c"])
def test_a_sample_has_no_mistake(sample: str, tmp_path: Path) -> None:
    if SANITIZERS:
        pytest.skip("a sanitizer has its own handler of signals and its own reports")
    program = compiled(
        ROOT / "samples" / sample, tmp_path / "sample", f"-I{ROOT / 'aclnn_py/include'}"
    )
    for mode in MODES:
        done = run(program, "", mode)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert done.stdout.endswith("ok\n")


def test_without_debug_symbols_a_place_is_an_offset(tmp_path: Path) -> None:
    if SANITIZERS:
        pytest.skip("a sanitizer has its own handler of signals and its own reports")
    program = compiled(ROOT / "tests/emulator/faults/mistakes.c", tmp_path / "bare", "-g0")
    text = run(program, "tensor_destroyed_twice", "check").stderr
    assert "destroyed twice" in text and re.search(r"at bare\+0x[0-9a-f]+", text), text


def traced(program: Path, name: str, target: Path) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("ACLNN_PY_")}
    return subprocess.run(
        [str(program), name],
        capture_output=True,
        text=True,
        env={**env, "ACLNN_PY_EMULATOR_MEMORY": "64M", "ACLNN_PY_TRACE": str(target)},
        timeout=240.0,
        check=False,
    )


def test_a_trace_has_both_phases_of_each_operator(program: Path, tmp_path: Path) -> None:
    done = traced(program, "correct", tmp_path / "calls-%r.txt")
    assert (done.returncode, done.stderr) == (0, "")
    calls = read_calls(tmp_path / "calls-0.txt")
    assert [call.name for call in calls] == ["aclnnAddGetWorkspaceSize", "aclnnAdd"] * 3
    assert all(call.operator and not call.failed for call in calls)
    assert [call.stream for call in calls] == [0, 0, 0, 0, 1, 1]
    assert "self=Tensor(FLOAT[4,8] @0x" in calls[0].arguments
    assert "workspaceSize=0, executor=0x" in calls[1].arguments
    times = [call.begun_us for call in calls]
    assert times == sorted(times) and all(call.lasted_us >= 0 for call in calls)


def test_a_trace_has_the_status_and_the_line(program: Path, tmp_path: Path) -> None:
    target = tmp_path / "calls.txt"
    traced(program, "executor_used_twice", target)
    *_, last = read_calls(target)
    assert (last.name, last.status, last.failed) == ("aclnnAbs", "status(161002)", True)
    if shutil.which("addr2line") is not None:
        assert re.search(r"\[line [^ ]*mistakes\.c:\d+\]", target.read_text())


@pytest.mark.parametrize("name", ["absent/calls.txt", "calls.json"])
def test_a_trace_that_cannot_be_written_says_so(name: str, program: Path, tmp_path: Path) -> None:
    done = traced(program, "correct", tmp_path / name)
    assert done.returncode == 0 and not (tmp_path / name).exists()
    assert done.stderr.startswith("ACLNN_PY_TRACE: ") and "nothing is traced" in done.stderr
    assert len(done.stderr.splitlines()) == 1
