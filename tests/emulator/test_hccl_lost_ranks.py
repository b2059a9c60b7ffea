# SPDX-License-Identifier: Apache-2.0
"""Ranks that are killed, end early, never come, or do not agree while they join."""

from __future__ import annotations

import ctypes as ct
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hccl_ranks import (
    LOST,
    REMOTE,
    TIMEOUT,
    CallError,
    Rank,
    RootInfo,
    close_jobs,
    job,
    join,
    root_info,
)

HERE = Path(__file__).resolve().parent
MODES = ["process", "thread"]


@pytest.fixture(scope="module", autouse=True)
def _end_jobs() -> Iterator[None]:
    yield
    close_jobs()


# --- ranks that are killed ---------------------------------------

KILLED = """
import os, signal, sys, time
import numpy as np
from hccl_ranks import *
rank, ranks, case, root = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
one = Rank(rank, ranks)
if rank == 0:
    info = root_info()
    open(root + ".part", "wb").write(info)
    os.rename(root + ".part", root)
while not os.path.exists(root):
    time.sleep(0.01)
join(one, open(root, "rb").read())
count = 30_000_000 if case == "busy" else 64
buf = one.put(np.ones(count, np.float32))
one.call("HcclAllReduce", buf, buf, 64, 4, 0)
one.sync()
print("ready", flush=True)
if rank == 1 and case == "idle":
    time.sleep(60)
if rank == 1 and case == "exit":
    os._exit(0)
start = time.monotonic()
try:
    for _ in range(1000):
        # once the loss is known, further calls are refused
        if one.lib.status("HcclAllReduce", buf, buf, count, 4, 2, one.comm, one.stream) != 0:
            break
    one.sync()
    print("no failure")
except CallError as error:
    took = f"{time.monotonic() - start:.2f}"
    print(error.status, took, one.async_error(), error.text.replace("\\n", " "))
print("destroy", one.lib.status("HcclCommDestroy", one.comm))
"""


def shared_memory() -> set[str]:
    return {entry.name for entry in os.scandir("/dev/shm")}


@pytest.mark.parametrize("case", ["idle", "busy", "exit"])
def test_a_killed_rank_fails_the_others_at_once_and_leaves_nothing(
    case: str, tmp_path: Path
) -> None:
    before = shared_memory()
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                textwrap.dedent(KILLED),
                str(r),
                "3",
                case,
                str(tmp_path / "root"),
            ],
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for r in range(3)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        if case != "exit":
            time.sleep(0.5)
            processes[1].send_signal(signal.SIGKILL)
        start = time.monotonic()
        # the killed process is not waited for: it stays a zombie, which must count as gone
        for r in (0, 2):
            out, _ = processes[r].communicate(timeout=60)
            lines = out.splitlines()
            status, _, asynchronous, text = lines[0].split(" ", 3)
            assert int(status) == LOST, out
            assert int(asynchronous) == REMOTE
            assert f"rank 1 (process {processes[1].pid}" in text
            assert "ended" in text
            assert lines[1] == "destroy 0"
            assert processes[r].returncode == 0
        assert time.monotonic() - start < 20
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert shared_memory() - before == set()


# --- ranks that never come ---------------------------------------

MISSING = """
import sys, time
from hccl_ranks import *
rank, ranks, root, timeout = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
os.environ["HCCL_CONNECT_TIMEOUT"] = timeout
one = Rank(rank, ranks)
if rank == 0:
    open(root + ".part", "wb").write(root_info())
    os.rename(root + ".part", root)
while not os.path.exists(root):
    time.sleep(0.01)
start = time.monotonic()
try:
    join(one, open(root, "rb").read())
    print("joined")
except CallError as error:
    print(error.status, f"{time.monotonic() - start:.2f}", error.text.replace("\\n", " "))
"""


def test_missing_ranks_are_named_after_the_connect_timeout(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MISSING, str(r), "5", str(tmp_path / "root"), "1.5"],
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for r in (0, 2, 4)
    ]
    for process in processes:
        out, _ = process.communicate(timeout=60)
        status, took, text = out.split(" ", 2)
        assert int(status) == TIMEOUT, out
        assert "EI0006" in text
        assert "of 5 ranks, rank 1, 3 did not come" in text
        assert float(took) < 10


def joined(rank: int, ranks: int, info: bytes) -> tuple[int, str]:
    one = Rank(rank, ranks)
    try:
        join(one, info)
        return 0, ""
    except CallError as error:
        return error.status, error.text
    finally:
        one.close()


def disagree_work(rank: Rank, case: str) -> tuple[int, str]:
    """A second communicator whose ranks do not agree; its root info comes through the first."""
    info = np.zeros(4108, np.uint8)
    if rank.rank == 0:
        info[:] = np.frombuffer(root_info(), np.uint8)
    buf = rank.put(info)
    rank.call("HcclBroadcast", buf, 4108, 7, 0)
    rank.sync()
    raw = RootInfo.from_buffer_copy(rank.get(buf, 4108, np.uint8).tobytes())
    me, n = rank.rank, rank.ranks
    comm = ct.c_void_p()
    if case == "number of ranks":
        status = rank.lib.status("HcclCommInitRootInfo", n + me, ct.byref(raw), me, ct.byref(comm))
    elif case == "same rank":
        status = rank.lib.status("HcclCommInitRootInfo", n, ct.byref(raw), 0, ct.byref(comm))
    else:
        config = (ct.c_char * 300)()
        config[0:16] = (
            np.array([300, 0], np.uint32).tobytes() + np.array([0xF0F0F0F0, 5], np.uint32).tobytes()
        )
        config[24:32] = b"\xff" * 8
        config[32:42] = f"group_{me:04d}".encode()
        config[292:300] = b"\xff" * 8
        status = rank.lib.status(
            "HcclCommInitRootInfoConfig", n, ct.byref(raw), me, config, ct.byref(comm)
        )
    return status, rank.lib.message()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("number of ranks", ["gives 2", "gives 3"]),
        ("same rank", ["same number"]),
        ("name", ["group_0000", "group_0001"]),
    ],
)
def test_ranks_that_disagree_while_joining(mode: str, case: str, words: list[str]) -> None:
    for status, text in job(2, mode).run(
        disagree_work, case, timeout_s=60, env={"HCCL_CONNECT_TIMEOUT": "20"}
    ):
        assert status == 1
        for word in words:
            assert word in text, text


def test_root_info_that_is_damaged_or_used_up() -> None:
    code = """
    from hccl_ranks import *
    one = Rank(0, 1)
    info = root_info()
    raw = RootInfo.from_buffer_copy(bytes(4108))
    comm = ct.c_void_p()
    assert one.lib.status("HcclCommInitRootInfo", 1, ct.byref(raw), 0, ct.byref(comm)) == PARA
    assert "rootInfo" in one.lib.message()
    join(one, info)                      # a communicator of one rank
    again = RootInfo.from_buffer_copy(info)
    status = one.lib.status("HcclCommInitRootInfo", 1, ct.byref(again), 0, ct.byref(comm))
    assert status == PARA, status        # its name is taken on this device
    one.lib("HcclCommDestroy", one.comm)
    status = one.lib.status("HcclCommInitRootInfo", 1, ct.byref(again), 0, ct.byref(comm))
    assert status == 11, status          # nobody holds the rendezvous any more
    assert "used before" in one.lib.message()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_a_process_that_holds_the_root_info_and_dies(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", MISSING, "0", "3", str(tmp_path / "root"), "60"],
        cwd=HERE,
        stdout=subprocess.PIPE,
        text=True,
    )
    other = subprocess.Popen(
        [sys.executable, "-c", MISSING, "1", "3", str(tmp_path / "root"), "60"],
        cwd=HERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while not (tmp_path / "root").exists():
        time.sleep(0.01)
    time.sleep(1)
    holder.kill()
    holder.wait()
    start = time.monotonic()
    out, _ = other.communicate(timeout=30)
    assert out.startswith("11 "), out
    assert "ended before all ranks had come" in out
    assert time.monotonic() - start < 5
