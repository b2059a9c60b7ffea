# SPDX-License-Identifier: Apache-2.0
"""The launcher: what ranks are told, whose lines appear, and how a job ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start ``aclnn-py run`` on the text of a script; whatever is left is ended afterwards."""
    running: list[subprocess.Popen[str]] = []

    def launch(
        count: int, script: str, *arguments: str, options: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        path = tmp_path / "script.py"
        path.write_text("import os, signal, sys, time\nrank = int(os.environ['RANK'])\n" + script)
        words = [sys.executable, "-m", "aclnn_py.tools.cli", "run", "-n", str(count), *options]
        process = subprocess.Popen(
            [*words, str(path), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            start_new_session=True,
            # Tests that a shell runs in the background ignore it, and so would the launcher.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        running.append(process)
        return process

    yield launch
    for process in running:
        process.kill()
        process.communicate(timeout=10)


def lines(text: str) -> list[str]:
    return sorted(text.splitlines())


def gone(pid: int, within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def wait_for(directory: Path, names: list[str]) -> list[int]:
    """Return the numbers that the ranks write into files of these names."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if all((directory / name).exists() for name in names):
            return [int((directory / name).read_text()) for name in names]
        time.sleep(0.02)
    raise AssertionError(f"the ranks did not write {names}")


WRITE_PID = """
with open(f"part{rank}", "w") as stream: stream.write(str(os.getpid()))
os.rename(f"part{rank}", f"pid{rank}")
"""


def test_ranks_are_told_their_place(start: Start) -> None:
    names = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR"]
    script = f"""
print(*(os.environ[n] for n in {names}), sys.argv[1:], len(os.environ['ACLNN_PY_JOB_TOKEN']))
"""
    out, err = start(2, script, "--flag", "-n", "3").communicate(timeout=30)
    assert lines(out) == [
        "[0] 0 0 2 2 127.0.0.1 ['--flag', '-n', '3'] 64",
        "[1] 1 1 2 2 127.0.0.1 ['--flag', '-n', '3'] 64",
    ]
    assert err == ""


def test_all_ranks_have_one_port_and_one_token(start: Start) -> None:
    script = "print(os.environ['MASTER_PORT'], os.environ['ACLNN_PY_JOB_TOKEN'])"
    out, _ = start(4, script, options=("--no-prefix",)).communicate(timeout=30)
    assert len(out.splitlines()) == 4
    assert len(set(out.splitlines())) == 1


def test_a_job_inside_a_job_does_not_meet_the_outer_one(start: Start) -> None:
    script = """
import subprocess
if len(sys.argv) == 1:
    words = [sys.executable, "-m", "aclnn_py.tools.cli", "run", "--no-prefix", "-n", "1", __file__]
    out = subprocess.run([*words, "inner"], stdout=subprocess.PIPE, text=True, check=True).stdout
    print(out.split() != [os.environ["MASTER_PORT"], os.environ["ACLNN_PY_JOB_TOKEN"]])
else:
    print(os.environ["MASTER_PORT"], os.environ["ACLNN_PY_JOB_TOKEN"])
"""
    out, err = start(1, script).communicate(timeout=30)
    assert (out, err) == ("[0] True\n", "")


def test_lines_of_ranks_are_never_mixed(start: Start) -> None:
    script = """
for i in range(300):
    os.write(1, b"%d" % rank * 100)       # a line that arrives in two pieces
    os.write(1, b"%d" % rank * 100 + b"\\n")
os.write(1, b"unfinished")
"""
    out, _ = start(4, script).communicate(timeout=60)
    expected = [f"[{r}] " + str(r) * 200 for r in range(4) for _ in range(300)]
    expected += [f"[{r}] unfinished" for r in range(4)]
    assert lines(out) == sorted(expected)


def test_a_line_without_an_end_does_not_fill_memory(start: Start) -> None:
    out, _ = start(1, "os.write(1, b'x'); sys.stdout.write('y' * 3_000_000)").communicate(
        timeout=60
    )
    assert sum(len(line) - 4 for line in out.splitlines()) == 3_000_001
    assert all(line.startswith("[0] ") for line in out.splitlines())


def test_standard_error_stays_apart(start: Start) -> None:
    out, err = start(2, "print('o'); print('e', file=sys.stderr)").communicate(timeout=30)
    assert lines(out) == ["[0] o", "[1] o"]
    assert lines(err) == ["[0] e", "[1] e"]


def test_the_first_failure_ends_all_and_gives_the_status(start: Start, tmp_path: Path) -> None:
    script = WRITE_PID + "time.sleep(0.3) if rank == 1 else time.sleep(60)\nsys.exit(37)"
    began = time.monotonic()
    process = start(3, script)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 37
    assert time.monotonic() - began < 10
    assert "rank 1" in err and "status 37" in err
    pids = wait_for(tmp_path, ["pid0", "pid1", "pid2"])
    assert all(gone(pid) for pid in pids)


def test_a_rank_ended_by_a_signal_gives_128_plus_n(start: Start) -> None:
    process = start(2, "if rank == 0: os.kill(os.getpid(), 9)\ntime.sleep(60)")
    _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGKILL
    assert "rank 0" in err and "SIGKILL" in err


def test_a_rank_that_ignores_the_request_is_ended_by_force(start: Start) -> None:
    script = (
        """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if rank == 1:
    while not os.path.exists("pid0"): time.sleep(0.02)
    sys.exit(5)
"""
        + WRITE_PID
        + "time.sleep(60)"
    )
    began = time.monotonic()
    process = start(2, script, options=("--grace", "0.5"))
    process.communicate(timeout=30)
    assert process.returncode == 5
    assert 0.5 < time.monotonic() - began < 15


def test_interrupt_reaches_every_rank_once(start: Start, tmp_path: Path) -> None:
    script = (
        WRITE_PID
        + """
caught = []
signal.signal(signal.SIGINT, lambda *_: caught.append(1))
while not caught: time.sleep(0.02)
time.sleep(0.3)
print("caught", len(caught))
sys.exit(3)
"""
    )
    process = start(2, script)
    wait_for(tmp_path, ["pid0", "pid1"])
    time.sleep(0.2)
    # As a terminal does: to the whole foreground group.
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert lines(out) == ["[0] caught 1", "[1] caught 1"]
    assert process.returncode == 128 + signal.SIGINT


def test_terminate_is_passed_on(start: Start, tmp_path: Path) -> None:
    process = start(2, WRITE_PID + "time.sleep(60)")
    pids = wait_for(tmp_path, ["pid0", "pid1"])
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert all(gone(pid) for pid in pids)


def test_ranks_that_end_well_on_a_signal_give_0(start: Start, tmp_path: Path) -> None:
    script = (
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n" + WRITE_PID + "time.sleep(60)"
    )
    process = start(2, script)
    wait_for(tmp_path, ["pid0", "pid1"])
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_user_signals_do_not_end_the_job(start: Start, tmp_path: Path) -> None:
    script = (
        """
caught = []
signal.signal(signal.SIGUSR1, lambda *_: caught.append(1))
"""
        + WRITE_PID
        + "while not caught: time.sleep(0.02)\nprint('told')"
    )
    process = start(2, script)
    wait_for(tmp_path, ["pid0", "pid1"])
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=30)
    assert lines(out) == ["[0] told", "[1] told"]
    assert process.returncode == 0


def test_no_rank_outlives_a_killed_launcher(start: Start, tmp_path: Path) -> None:
    process = start(2, WRITE_PID + "time.sleep(60)")
    pids = wait_for(tmp_path, ["pid0", "pid1"])
    process.kill()
    assert all(gone(pid) for pid in pids)


def test_what_a_rank_leaves_running_ends_with_it(start: Start, tmp_path: Path) -> None:
    script = """
import subprocess
child = subprocess.Popen(["sleep", "60"])
with open("part", "w") as stream: stream.write(str(child.pid))
os.rename("part", "child")
"""
    process = start(1, script)
    process.communicate(timeout=30)
    assert process.returncode == 0
    [child] = wait_for(tmp_path, ["child"])
    assert gone(child)


def test_other_programs_than_python_run_too(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho $RANK of $WORLD_SIZE $1\n")
    program.chmod(0o755)
    words = [sys.executable, "-m", "aclnn_py.tools.cli", "run", "-n", "2", "--", str(program), "x"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=30, cwd=tmp_path)
    assert lines(result.stdout) == ["[0] 0 of 2 x", "[1] 1 of 2 x"]


def test_a_program_that_is_not_there_is_127(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "aclnn_py.tools.cli",
        "run",
        "-n",
        "2",
        str(tmp_path / "nothing"),
    ]
    result = subprocess.run(words, capture_output=True, text=True, timeout=30, cwd=tmp_path)
    assert result.returncode == 127
    assert "No such file" in result.stderr


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_a_count_that_is_none_is_refused(count: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "aclnn_py.tools.cli", "run", "-n", count, "x.py"]
    assert subprocess.run(words, capture_output=True, timeout=30, cwd=tmp_path).returncode == 2
