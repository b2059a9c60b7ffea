# SPDX-License-Identifier: Apache-2.0
"""Records of C programs, with no Python in their process, and what Python makes of them."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from helpers.mistakes import FOLDER
from helpers.native import NATIVE, SANITIZERS, compiled

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py.operators.record.file import RecordedCall, RecordError, RecordReader
from aclnn_py.operators.record.sketch import arguments_of, memory_bytes

pytestmark = pytest.mark.emulator_only(reason="links against the emulator's library")
CALLS = ["aclnnAdd", "aclnnInplaceMul", "aclnnSoftmax", "aclnnReduceSum", "aclnnCat"]
# What the program prints, and the call and the view that made it.
PRINTED = {"sum": (1, 0), "soft": (2, 1), "rows": (3, 1), "both": (4, 2)}


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if SANITIZERS:
        pytest.skip("a sanitizer has its own handler of signals and its own reports")
    return compiled(FOLDER / "watched.c", tmp_path_factory.mktemp("watched") / "watched")


@pytest.fixture(scope="session")
def lost_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if SANITIZERS:
        pytest.skip("a sanitizer has its own allocator")
    folder = tmp_path_factory.mktemp("lost_records")
    return compiled(NATIVE / "lost_records.cpp", folder / "program")


def recorded(
    program: Path, target: Path, *arguments: str, **more: str
) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("ACLNN_PY_")}
    env |= {"ACLNN_PY_EMULATOR_MEMORY": "64M", "ACLNN_PY_RECORD": str(target), **more}
    return subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        env=env,
        timeout=240.0,
        check=False,
    )


def bytes_after(reader: RecordReader, call: RecordedCall, number: int) -> bytes:
    """The bytes of one contiguous tensor after the call."""
    view = call.views[number]
    memory = call.memories[view.memory]
    assert memory.after is not None
    return reader.data(memory.after, memory.nbytes)[view.offset * 4 : view.nbytes]


def test_a_record_has_each_call_with_its_arguments(program: Path, tmp_path: Path) -> None:
    done = recorded(program, tmp_path / "calls-%r.rec", "operators")
    assert (done.returncode, done.stderr) == (0, "")
    reader = RecordReader(tmp_path / "calls-0.rec")
    assert [call.operator for call in reader.calls] == CALLS
    assert [call.arguments for call in reader.calls] == [
        (0, 1, ["float32", "00002040"], 2),
        (0, 1),
        (0, -1, 1),
        (0, [1], 1, "float32", 1),
        ([0, 1], 0, 2),
    ]
    assert reader.complete and not reader.left_out
    for call in reader.calls:
        assert (call.status, call.stage, call.message) == (0, "", "")
        assert re.fullmatch(r".*watched(\.c:\d+|\+0x\w+)", call.line)
    assert reader.calls[0].views[1].strides == (1, 3)


def test_what_the_program_computed_is_in_the_record(program: Path, tmp_path: Path) -> None:
    done = recorded(program, tmp_path / "calls.rec", "operators")
    reader = RecordReader(tmp_path / "calls.rec")
    printed = dict(line.split() for line in done.stdout.splitlines())
    assert printed.keys() == PRINTED.keys()
    for name, (call, view) in PRINTED.items():
        assert bytes_after(reader, reader.calls[call], view).hex() == printed[name], name


def test_python_computes_the_same_bits_from_a_record(
    program: Path, tmp_path: Path, device: ap.Device
) -> None:
    recorded(program, tmp_path / "calls.rec", "operators")
    reader = RecordReader(tmp_path / "calls.rec")
    for call in reader.calls:
        op = getattr(
            ops, re.sub(r"(?<!^)(?=[A-Z])", "_", call.operator.removeprefix("aclnn")).lower()
        )
        values, buffers, _ = arguments_of(op, call, reader.data, device)
        op(*values)
        kept = [memory.after for memory in call.memories]
        assert any(kept)
        for memory, buffer in zip(call.memories, buffers, strict=True):
            if memory.after is not None:
                assert memory_bytes(buffer) == reader.data(memory.after, memory.nbytes)


@pytest.mark.parametrize("what", ["operators", "failures", "graph", "collectives"])
def test_a_record_replays_as_recorded(
    what: str, program: Path, tmp_path: Path, device: ap.Device
) -> None:
    done = recorded(program, tmp_path / "calls.rec", what)
    assert done.returncode == 0, done.stderr
    found = ap.tools.replay(tmp_path / "calls.rec")
    assert [one.agrees for one in found] == [True] * len(found)
    assert len(found) == {"operators": 5, "failures": 2, "graph": 1, "collectives": 10}[what]


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("seven", 7),
        ("_exit", 7),
        ("abort", -signal.SIGABRT),
        ("fault", -signal.SIGSEGV),
        ("kill", -signal.SIGKILL),
    ],
)
def test_a_record_outlives_its_process(
    end: str, status: int, program: Path, tmp_path: Path
) -> None:
    done = recorded(program, tmp_path / "calls.rec", "operators", end)
    assert (done.returncode, done.stderr) == (status, "")
    reader = RecordReader(tmp_path / "calls.rec")
    assert [call.operator for call in reader.calls] == CALLS
    assert reader.complete == (end == "seven")
    assert bytes_after(reader, reader.calls[4], 2)


def test_a_record_that_is_cut_off_anywhere_has_the_calls_before(
    program: Path, tmp_path: Path
) -> None:
    recorded(program, tmp_path / "calls.rec", "operators")
    whole = (tmp_path / "calls.rec").read_bytes()
    lengths = set()
    for size in range(0, len(whole), 97):
        (tmp_path / "cut.rec").write_bytes(whole[:size])
        try:
            reader = RecordReader(tmp_path / "cut.rec")
        except RecordError:
            assert size < 200
            continue
        assert not reader.complete
        assert [call.operator for call in reader.calls] == CALLS[: len(reader.calls)]
        for call in reader.calls:
            for memory in call.memories:
                assert memory.before is not None
                assert len(reader.data(memory.before, memory.nbytes)) == memory.nbytes
        lengths.add(len(reader.calls))
    assert lengths == {0, 1, 2, 3, 4, 5}


def test_refusals_and_faults_are_calls(program: Path, tmp_path: Path) -> None:
    done = recorded(program, tmp_path / "calls.rec", "failures")
    assert done.stdout.split() == ["161002", "0", "507015"]  # as without a record
    refused, failed = RecordReader(tmp_path / "calls.rec").calls
    assert (refused.operator, refused.status, refused.stage) == ("aclnnAbs", 161002, "phase one")
    assert "out" in refused.message
    assert (failed.operator, failed.status, failed.stage) == ("aclnnIndexSelect", 507015, "device")
    assert "index holds 9" in failed.message


def test_captured_work_is_left_out_and_said(program: Path, tmp_path: Path) -> None:
    done = recorded(program, tmp_path / "calls.rec", "graph")
    assert "aclnnAbs is left out: a graph captures it" in done.stderr
    reader = RecordReader(tmp_path / "calls.rec")
    (left,) = reader.left_out
    assert (left.operator, left.calls, len(reader.calls)) == ("aclnnAbs", 1, 1)


def test_a_record_ends_at_its_limit(program: Path, tmp_path: Path) -> None:
    target = tmp_path / "calls.rec"
    done = recorded(program, target, "operators", ACLNN_PY_RECORD_LIMIT="24K")
    assert done.returncode == 0
    assert "is left out: the record has reached its limit of 24576 bytes" in done.stderr
    reader = RecordReader(target)
    (left,) = reader.left_out
    assert reader.complete and reader.calls and left.calls == 5 - len(reader.calls) > 0
    assert target.stat().st_size < 24576


@pytest.mark.parametrize(
    ("case", "kept", "why"),
    [
        ("memory", 1, "the host had no memory to record it"),
        ("planned", 0, "more than 100000 executors are planned and have not run"),
    ],
)
def test_calls_that_cannot_be_kept_are_counted(
    lost_records: Path, tmp_path: Path, case: str, kept: int, why: str
) -> None:
    done = recorded(lost_records, tmp_path / "calls.rec", case)
    assert done.returncode == 0
    assert f"left out: {why}" in done.stderr
    reader = RecordReader(tmp_path / "calls.rec")
    assert len(reader.calls) == kept
    assert [(row.operator, row.calls, row.why) for row in reader.left_out] == [("aclnnAdd", 3, why)]


def test_a_record_that_cannot_be_written_says_so(program: Path, tmp_path: Path) -> None:
    done = recorded(program, tmp_path / "absent" / "calls.rec", "operators")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 4
    assert done.stderr == (
        f"ACLNN_PY_RECORD: {tmp_path}/absent/calls.rec: No such file or directory; "
        "nothing is recorded\n"
    )


def test_a_full_disk_ends_the_record_and_not_the_program(program: Path, full_disk: Path) -> None:
    done = recorded(program, full_disk, "operators")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 4
    assert done.stderr == (
        f"ACLNN_PY_RECORD: {full_disk}: No space left on device; "
        "the record ends here, after 0 calls\n"
    )


def test_a_file_of_another_process_is_left_alone(program: Path, tmp_path: Path) -> None:
    target = tmp_path / "calls.rec"
    with target.open("w") as other:
        other.write("theirs")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        done = recorded(program, target, "operators")
    assert done.returncode == 0 and "put %p or %r into the name" in done.stderr
    assert target.read_text() == "theirs"


def test_a_folder_gets_a_file_named_after_the_process(program: Path, tmp_path: Path) -> None:
    recorded(program, tmp_path, "graph")
    (found,) = tmp_path.iterdir()
    assert re.fullmatch(r"\d+\.rec", found.name) and RecordReader(found).calls


def test_a_program_under_check_is_recorded_too(program: Path, tmp_path: Path) -> None:
    done = recorded(program, tmp_path / "calls.rec", "operators", ACLNN_PY_CHECK="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert [call.operator for call in RecordReader(tmp_path / "calls.rec").calls] == CALLS


@pytest.mark.parametrize("variable", ["ACLNN_PY_RECORD", "ACLNN_PY_TRACE"])
def test_a_limit_of_files_ends_the_record_and_not_the_program(
    program: Path, tmp_path: Path, variable: str
) -> None:
    whole = recorded(program, tmp_path / "whole", "operators")
    limited = tmp_path / "limited.sh"
    limited.write_text(f"#!/bin/sh\nulimit -f 4\nexec {program} operators\n")
    limited.chmod(0o755)
    other = {"ACLNN_PY_RECORD": ""} if variable == "ACLNN_PY_TRACE" else {}
    done = recorded(limited, tmp_path / "calls", **other, **{variable: str(tmp_path / "calls")})
    assert (done.returncode, done.stdout) == (0, whole.stdout), done.stderr
    assert done.stderr.count("File too large") == 1


def test_a_pipe_that_nobody_reads_any_more_ends_the_trace(program: Path, tmp_path: Path) -> None:
    whole = recorded(program, tmp_path / "whole", "operators")
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    env = {key: value for key, value in os.environ.items() if not key.startswith("ACLNN_PY_")}
    env |= {"ACLNN_PY_EMULATOR_MEMORY": "64M", "ACLNN_PY_TRACE": f"/proc/self/fd/{writer}"}
    with subprocess.Popen(
        [str(program), "operators"],
        env=env,
        pass_fds=[writer],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        os.close(writer)
        assert os.read(reader, 1) == b"#"
        os.close(reader)  # the pipe is smaller than the trace
        out, err = running.communicate(timeout=240.0)
    assert (running.returncode, out) == (0, whole.stdout), err
    assert err.count("Broken pipe; the trace ends here") == 1
