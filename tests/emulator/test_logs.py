# SPDX-License-Identifier: Apache-2.0
"""CANN's log switches: what C programs and Python print to stdout or write to files."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from helpers.native import NATIVE, compiled, made_once
from helpers.processes import environment

pytestmark = pytest.mark.emulator_only(reason="the emulator writes the log")

# As CANN's documents describe a line.
LINE = re.compile(
    r"\[(?P<level>DEBUG|INFO|WARNING|ERROR|EVENT)\] (?P<module>[A-Z]+)"
    r"\((?P<pid>\d+),(?P<name>[^)]+)\)"
    r":(?P<time>\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3}) (?P<text>.*)"
)
PLACE = r"\[\w+\.cpp:\d+\]"
TO_STDOUT = {"ASCEND_SLOG_PRINT_TO_STDOUT": "1"}
QUIET = {**TO_STDOUT, "ASCEND_GLOBAL_EVENT_ENABLE": "0"}
REFUSAL = rf"{PLACE}\d+ aclrtMalloc: EH0001: devPtr is null, error code is 100000"


@pytest.fixture(scope="session")
def program(run_folder: Path) -> Path:
    target = run_folder / "native-logs"
    return made_once(target, lambda fresh: compiled(NATIVE / "logs.c", fresh))


def settings_of(settings: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in environment().items() if not key.startswith("ASCEND_")}
    return {**kept, **settings}


def run(program: Path, settings: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(program), *words],
        env=settings_of(settings),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def lines_of(text: str) -> list[re.Match[str]]:
    """The lines of the log; every other line is the program's own."""
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    other = [line for line, is_log in zip(text.splitlines(), found, strict=True) if not is_log]
    assert all(re.fullmatch(r"end|child \d+", line) for line in other), other
    return [match for match in found if match]


def test_nothing_is_written_unless_somebody_asks(program: Path, tmp_path: Path) -> None:
    asked = {"ASCEND_GLOBAL_LOG_LEVEL": "0", "HOME": str(tmp_path)}
    for settings in ({}, asked, {"ASCEND_SLOG_PRINT_TO_STDOUT": "0"}):
        done = run(program, settings, "init", "refuse", "operator", "hccl", "application")
        assert (done.stdout, done.stderr) == ("end\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_is_a_line_with_its_reason(program: Path) -> None:
    done = run(program, QUIET, "refuse")
    (line,) = lines_of(done.stdout)
    assert (line["level"], line["name"]) == ("ERROR", program.name)
    assert re.fullmatch(REFUSAL, line["text"]), line["text"]


@pytest.mark.parametrize(
    ("what", "module", "text"),
    [
        ("refuse", "ASCENDCL", REFUSAL),
        (
            "operator",
            "OP",
            rf"{PLACE}\[NNOP\]\[aclnnAbs\w*\]\[\d+\] errno\[161001\] EZ1001: self is null",
        ),
        ("hccl", "HCCL", rf"{PLACE} \[\d+\]\[HcclGetRankSize\]E\w+: .*, hcclRet -> \d+"),
        ("application", "APP", r"\d+ main:.*logs\.c:\d+: \"eight is 8\""),
    ],
)
def test_each_module_writes_as_it_does(program: Path, what: str, module: str, text: str) -> None:
    (line,) = lines_of(run(program, QUIET, what).stdout)
    assert line["module"] == module
    assert re.fullmatch(text, line["text"]), line["text"]


def test_a_fault_names_its_reason_and_the_call_that_reported_it(program: Path) -> None:
    lines = lines_of(run(program, QUIET, "fault").stdout)
    assert [line["module"] for line in lines] == ["RUNTIME", "RUNTIME"]
    assert "aclnnIndexSelect: " in lines[0]["text"] and "index holds 99" in lines[0]["text"]
    assert "aclrtSynchronizeStream: " in lines[1]["text"]
    assert all(line["text"].endswith("error code is 507015") for line in lines)


def test_levels_choose(program: Path) -> None:
    said = {
        level: Counter(
            line["level"]
            for line in lines_of(
                run(
                    program,
                    {**QUIET, "ASCEND_GLOBAL_LOG_LEVEL": level},
                    *("init", "init-again", "refuse", "fault", "application"),
                ).stdout
            )
        )
        for level in ("0", "1", "2", "3", "4", "5", "many", "")
    }
    for level in ("3", "5", "many", ""):  # a value that is none leaves the default
        assert said[level] == Counter(ERROR=4), level
    assert said["4"] == Counter()
    assert said["2"] == Counter(ERROR=4, WARNING=1)
    assert said["1"]["INFO"] >= 2 and said["1"]["ERROR"] == 4
    assert said["0"] == said["1"]


@pytest.mark.parametrize(
    ("given", "modules"),
    [
        ("RUNTIME=4:ASCENDCL=4", {"OP"}),
        ("OP=4", {"ASCENDCL"}),
        ("TBE=0:OP=4", {"ASCENDCL"}),
        ("OP=4:NOBODY=0", {"ASCENDCL", "OP"}),
        ("OP=9", {"ASCENDCL", "OP"}),
        ("OP", {"ASCENDCL", "OP"}),
        ("OP = 4", {"ASCENDCL", "OP"}),
        ("", {"ASCENDCL", "OP"}),
    ],
)
def test_levels_of_modules_count_as_a_whole_or_not_at_all(
    program: Path, given: str, modules: set[str]
) -> None:
    settings = {**QUIET, "ASCEND_MODULE_LOG_LEVEL": given}
    lines = lines_of(run(program, settings, "refuse", "operator").stdout)
    assert {line["module"] for line in lines} == modules


def test_a_module_speaks_where_the_others_are_silent(program: Path) -> None:
    settings = {**QUIET, "ASCEND_GLOBAL_LOG_LEVEL": "4", "ASCEND_MODULE_LOG_LEVEL": "APP=1"}
    lines = lines_of(run(program, settings, "refuse", "operator", "application").stdout)
    assert [(line["module"], line["level"]) for line in lines] == [
        ("APP", "ERROR"),
        ("APP", "INFO"),
    ]


def test_events_tell_of_the_process(program: Path) -> None:
    lines = lines_of(run(program, TO_STDOUT, "init", "finalize").stdout)
    assert [(line["level"], line["module"]) for line in lines] == [("EVENT", "ASCENDCL")] * 2
    assert "aclInit: the emulator of aclnn_py" in lines[0]["text"]
    assert lines_of(run(program, QUIET, "init", "finalize").stdout) == []


def test_the_newer_name_goes_first(program: Path) -> None:
    settings = {**QUIET, "ASCEND_LOG_PRINT_TO_STDOUT": "0"}
    assert lines_of(run(program, settings, "refuse").stdout) == []
    settings = {"ASCEND_LOG_PRINT_TO_STDOUT": "1"}
    assert len(lines_of(run(program, settings, "refuse").stdout)) == 1


def test_a_question_is_no_error(program: Path) -> None:
    assert lines_of(run(program, QUIET, "device?").stdout) == []


def test_a_long_text_takes_several_lines(program: Path) -> None:
    out = run(program, QUIET, "long").stdout
    assert all(len(line) < 1024 for line in out.splitlines())
    assert sum(line["text"].count("x") for line in lines_of(out)) >= 2999


def test_lines_of_threads_are_whole(program: Path, tmp_path: Path) -> None:
    printed = lines_of(run(program, QUIET, "threads").stdout)
    run(program, {"ASCEND_PROCESS_LOG_PATH": str(tmp_path)}, "threads")
    (file,) = tmp_path.glob("debug/plog/*.log")
    for lines in (printed, lines_of(file.read_text())):
        assert len(lines) == 8 * 200
        assert all(re.fullmatch(REFUSAL, line["text"]) for line in lines)
        assert len({line["text"].split("]")[1].split()[0] for line in lines}) == 8


def test_files_lie_where_cann_s_lie(program: Path, tmp_path: Path) -> None:
    place = tmp_path / "not" / "there"
    done = run(program, {"ASCEND_PROCESS_LOG_PATH": str(place)}, "init", "refuse", "child")
    assert lines_of(done.stdout) == [] and done.stderr == ""
    debug, run_logs = place / "debug" / "plog", place / "run" / "plog"
    assert {path.relative_to(place).parts[0] for path in place.rglob("*.log")} == {"debug", "run"}
    for path in (*debug.iterdir(), *run_logs.iterdir()):
        assert re.fullmatch(r"plog-\d+_\d{17}\.log", path.name)
        assert stat.S_IMODE(path.stat().st_mode) & 0o037 == 0
    child = re.search(r"child (\d+)", done.stdout)
    assert child
    of_child = [path for path in debug.iterdir() if path.name.startswith(f"plog-{child[1]}_")]
    of_parent = [path for path in debug.iterdir() if path not in of_child]
    for paths, pid in ((of_child, child[1]), (of_parent, None)):
        (path,) = paths
        (line,) = lines_of(path.read_text())
        assert line["pid"] == (pid or re.findall(r"plog-(\d+)_", path.name)[0])


def test_files_are_limited_in_size_and_number(program: Path, tmp_path: Path) -> None:
    settings = {"ASCEND_PROCESS_LOG_PATH": str(tmp_path), "ASCEND_HOST_LOG_FILE_NUM": "2"}
    run(program, settings, "refuse", "much")
    older, newer = sorted(tmp_path.glob("debug/plog/*.log"))
    assert 19 << 20 < older.stat().st_size <= 20 << 20
    assert 0 < newer.stat().st_size < older.stat().st_size
    assert lines_of(newer.read_text()[-2000:].partition("\n")[2])


def test_the_path_of_all_files_serves_too(program: Path, tmp_path: Path) -> None:
    run(program, {"ASCEND_WORK_PATH": str(tmp_path)}, "refuse")
    assert len(list(tmp_path.glob("log/debug/plog/plog-*.log"))) == 1


def test_stdout_takes_the_place_of_files(program: Path, tmp_path: Path) -> None:
    settings = {**TO_STDOUT, "ASCEND_PROCESS_LOG_PATH": str(tmp_path / "logs")}
    assert len(lines_of(run(program, settings, "init", "refuse").stdout)) == 2
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("what", ["a file", "read only", "no room"])
def test_a_log_that_cannot_be_written_never_fails_the_program(
    what: str, program: Path, tmp_path: Path
) -> None:
    place = tmp_path / "logs"
    words = ["refuse", "refuse"]
    if what == "a file":
        place.write_text("")
    elif what == "read only":
        place = Path("/proc/logs")
    else:
        words.insert(0, "no-room")
    done = run(program, {"ASCEND_PROCESS_LOG_PATH": str(place)}, *words)
    assert done.stdout == "end\n"
    assert done.stderr.count("\n") == 1
    assert f"aclnn_py: lines of CANN's log are lost: cannot write to files below {place}: " in (
        done.stderr
    )


def test_a_pipe_that_nobody_reads_never_ends_the_program(program: Path) -> None:
    done = run(program, QUIET, "closed-pipe")
    assert done.stderr == (
        "aclnn_py: lines of CANN's log are lost: cannot write to stdout: Broken pipe\n"
    )


SCRIPT = """
import os
os.environ.update({settings})
import numpy as np
import aclnn_py as ap
x = ap.from_numpy(np.ones((4, 8), np.float32))
assert (x + x).numpy().sum() == 64
for wrong in (lambda: ap.ops.matmul(x, x, x, 0),
              lambda: ap.functional.index_select(x, 0, ap.from_numpy(np.array([99]))).numpy()):
    try:
        wrong()
    except ap.errors.AclnnPyError:
        continue
    raise AssertionError("accepted")
print("end")
"""


@pytest.mark.parametrize("early", [True, False], ids=["before the start", "in the program"])
def test_python_programs(early: bool, tmp_path: Path) -> None:
    inside = {} if early else QUIET
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(settings=inside)],
        env=settings_of({"ACLNN_PY_DEVICE": "emulator", **(QUIET if early else {})}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    lines = lines_of(done.stdout)
    assert [line["module"] for line in lines] == ["OP", "RUNTIME", "RUNTIME"]
    assert "errno[161002]" in lines[0]["text"]
    assert "index holds 99" in lines[1]["text"] and "507015" in lines[2]["text"]
    assert {line["name"] for line in lines} == {os.path.basename(sys.executable)}
