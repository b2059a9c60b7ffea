# SPDX-License-Identifier: Apache-2.0
"""What is said about mistakes of C programs, with no Python in their process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.mistakes import (
    BY_CHANCE,
    FOLDER,
    MODES,
    NAMES,
    SOURCE,
    build,
    expected,
    lines_of,
    run,
    said,
)
from helpers.native import ROOT, SANITIZERS, compiled, made_once

from aclnn_py.tools.cli import main
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


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if SANITIZERS:
        pytest.skip("a sanitizer has its own handler of signals and its own reports")
    return compiled(FOLDER / "watched.c", tmp_path_factory.mktemp("watched") / "watched")


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
    report = next(line for line in done.stderr.splitlines() if line.startswith("    at "))
    places = [int(line) for line in re.findall(r"mistakes\.c:(\d+) in", report)]
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


def test_a_trace_has_every_call(program: Path, tmp_path: Path) -> None:
    done = traced(program, "correct", tmp_path / "calls-%r.txt")
    assert (done.returncode, done.stderr) == (0, "")
    calls = read_calls(tmp_path / "calls-0.txt")
    names = [call.name for call in calls]
    assert names[:3] == ["aclInit", "aclrtSetDevice", "aclrtCreateStream"]
    assert names[-2:] == ["aclrtResetDevice", "aclFinalize"]
    operators = [call for call in calls if call.operator]
    assert [call.name for call in operators] == ["aclnnAddGetWorkspaceSize", "aclnnAdd"] * 7
    assert [call.stream for call in operators] == [None, 0] * 2 + [None, 1] * 5
    assert not any(call.failed for call in calls)
    times = [call.begun_us for call in calls]
    assert times == sorted(times) and all(call.lasted_us >= 0 for call in calls)


def test_a_trace_has_names_values_and_numbers_of_handles(program: Path, tmp_path: Path) -> None:
    traced(program, "correct", tmp_path / "calls.txt")
    calls = read_calls(tmp_path / "calls.txt")

    def first(name: str) -> tuple[str, str]:
        return next((call.arguments, call.status) for call in calls if call.name == name)

    arguments, status = first("aclnnAddGetWorkspaceSize")
    assert re.fullmatch(
        r"self=Tensor#1\(FLOAT\[4,8\] @0x\w+\), other=Tensor#2\(FLOAT\[4,8\] @0x\w+\), "
        r"alpha=Scalar#1\(FLOAT 1\), out=Tensor#3\(FLOAT\[4,8\] @0x\w+\), \*workspaceSize=0, "
        r"\*executor=Executor#1",
        arguments,
    ), arguments
    assert status == "ACLNN_SUCCESS"
    assert first("aclnnAdd")[0] == (
        "workspace=NULL, workspaceSize=0, executor=Executor#1, stream=aclrtStream#0"
    )
    arguments, status = first("aclCreateScalar")
    assert arguments.endswith("dataType=ACL_FLOAT") and status == "Scalar#1 FLOAT 1"
    arguments, status = first("aclCreateTensor")
    assert arguments.startswith("viewDims={4,8}, viewDimsNum=2, dataType=ACL_FLOAT, stride=0x")
    assert re.fullmatch(r"Tensor#1 FLOAT\[4,8\] @0x\w+", status), status
    assert re.fullmatch(
        r"\*devPtr=0x\w+, size=128, policy=ACL_MEM_MALLOC_HUGE_FIRST", first("aclrtMalloc")[0]
    )
    assert first("aclrtStreamWaitEvent")[0] == "stream=aclrtStream#1, event=aclrtEvent#1"
    assert "kind=ACL_MEMCPY_DEVICE_TO_HOST, stream=aclrtStream#1" in first("aclrtMemcpyAsync")[0]


def test_a_trace_has_the_status_and_the_line(program: Path, tmp_path: Path) -> None:
    target = tmp_path / "calls.txt"
    traced(program, "executor_used_twice", target)
    *_, last = (call for call in read_calls(target) if call.name == "aclnnAbs")
    assert (last.status, last.failed) == ("ACLNN_ERR_PARAM_INVALID(161002)", True)
    if shutil.which("addr2line") is not None:
        lines = target.read_text().splitlines()[1:]
        assert all(re.search(r"\[line [^ ]*mistakes\.c:\d+\]$", line) for line in lines)


def test_a_trace_has_the_collectives_of_two_ranks(watched: Path, tmp_path: Path) -> None:
    done = traced(watched, "collectives", tmp_path / "calls.txt")
    assert (done.returncode, done.stderr) == (0, "")
    calls = read_calls(tmp_path / "calls.txt")
    reductions = [call for call in calls if call.name == "HcclAllReduce"]
    assert len({call.thread for call in reductions}) == 2
    comms = set()
    for call in reductions:
        found = re.fullmatch(
            r"sendBuf=0x\w+, recvBuf=0x\w+, count=15, dataType=HCCL_DATA_TYPE_FP32, "
            r"op=HCCL_REDUCE_SUM, comm=(HcclComm#\d+), stream=aclrtStream#\d+",
            call.arguments,
        )
        assert found is not None, call.arguments
        assert call.status == "HCCL_SUCCESS"
        comms.add(found[1])
    assert len(comms) == 2
    made = next(call for call in calls if call.name == "HcclCommInitAll")
    assert made.arguments.startswith("ndev=2, *devices=0, *comms=HcclComm#")
    assert main(["trace", str(tmp_path / "calls.txt")]) == 0


def test_a_trace_has_graphs_attributes_and_lists(watched: Path, tmp_path: Path) -> None:
    traced(watched, "graph", tmp_path / "graph.txt")
    names = [call.name for call in read_calls(tmp_path / "graph.txt")]
    for name in ("aclmdlRICaptureBegin", "aclmdlRICaptureEnd", "aclmdlRIExecuteAsync"):
        assert name in names
    traced(watched, "operators", tmp_path / "calls.txt")
    calls = {call.name: call for call in read_calls(tmp_path / "calls.txt")}
    assert "alpha=Scalar#1(FLOAT 2.5)" in calls["aclnnAddGetWorkspaceSize"].arguments
    assert ", dim=-1, out=" in calls["aclnnSoftmaxGetWorkspaceSize"].arguments
    text = calls["aclnnReduceSumGetWorkspaceSize"].arguments
    assert "dims=IntArray#1{1}, keepDims=true, dtype=ACL_FLOAT, out=Tensor#" in text
    assert re.search(
        r"tensors=TensorList#1\{Tensor#1\(.*?\), Tensor#3\(",
        calls["aclnnCatGetWorkspaceSize"].arguments,
    )
    assert calls["aclCreateTensorList"].status.startswith("TensorList#1{Tensor#1(FLOAT[3,5] @0x")
    assert " strides {1,3}" in calls["aclnnAddGetWorkspaceSize"].arguments


def test_a_trace_in_a_folder_is_named_after_the_process(program: Path, tmp_path: Path) -> None:
    traced(program, "correct", tmp_path)
    (found,) = tmp_path.iterdir()
    assert re.fullmatch(r"\d+\.txt", found.name) and read_calls(found)


@pytest.mark.parametrize("name", ["absent/calls.txt", "calls.json"])
def test_a_trace_that_cannot_be_written_says_so(name: str, program: Path, tmp_path: Path) -> None:
    done = traced(program, "correct", tmp_path / name)
    assert done.returncode == 0 and not (tmp_path / name).exists()
    assert done.stderr.startswith("ACLNN_PY_TRACE: ") and "nothing is traced" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_full_disk_ends_the_trace_and_not_the_program(program: Path, full_disk: Path) -> None:
    done = traced(program, "correct", full_disk)
    assert done.returncode == 0
    assert done.stderr == (
        f"ACLNN_PY_TRACE: {full_disk}: No space left on device; the trace ends here\n"
    )
