# SPDX-License-Identifier: Apache-2.0
"""One communicator after another: a job that opens the next session while the last one closes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import environment

from aclnn_py.distributed.rendezvous import sockets
from aclnn_py.distributed.rendezvous.sockets import LauncherPort
from aclnn_py.distributed.rendezvous.tcp import TcpRendezvous
from aclnn_py.errors.ranks import (
    RankEnvironmentError,
    RankLostError,
    RendezvousError,
    RendezvousMismatchError,
    RendezvousTimeoutError,
)

GIVE_UP_S = 60.0


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def join(port: int, rank: int, world_size: int, **other: Any) -> TcpRendezvous:
    options = {"token": "secret", "timeout_s": GIVE_UP_S, **other}
    return TcpRendezvous("127.0.0.1", port, rank=rank, world_size=world_size, **options)


def on_ranks(count: int, work: Any) -> list[Any]:
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(work, rank) for rank in range(count)]]


def test_sessions_follow_each_other_without_a_pause(port: int) -> None:
    def work(rank: int) -> list[Any]:
        seen = []
        for turn in range(30):
            meeting = join(port, rank, 3)
            meeting.gather("a", {}, timeout_s=GIVE_UP_S)
            seen.append(meeting.gather("b", {"turn": turn}, timeout_s=GIVE_UP_S))
            if turn % 3 == rank:
                time.sleep(0.01)  # each in turn is the last to leave
            meeting.close()
        return seen

    assert on_ranks(3, work) == [[[{"turn": turn}] * 3 for turn in range(30)]] * 3


def test_a_rank_that_is_ahead_waits_for_rank_zero(port: int) -> None:
    ahead = threading.Event()

    def work(rank: int) -> Any:
        meeting = join(port, rank, 2)
        meeting.gather("a", {}, timeout_s=GIVE_UP_S)
        if rank == 0:
            ahead.wait(GIVE_UP_S)
            time.sleep(0.3)  # rank 1 asks while this session stands
            assert meeting.lost_ranks() == ()
            assert meeting._server._early.keys() == {1}  # type: ignore[union-attr]
        meeting.close()
        if rank == 1:
            ahead.set()
        meeting = join(port, rank, 2)
        payloads = meeting.gather("a", {"rank": rank}, timeout_s=GIVE_UP_S)
        meeting.close()
        return payloads

    assert on_ranks(2, work) == [[{"rank": 0}, {"rank": 1}]] * 2


def test_a_session_that_never_comes_is_told_from_a_rank_zero_that_never_came(port: int) -> None:
    def work(rank: int) -> str:
        meeting = join(port, rank, 2)
        meeting.gather("a", {}, timeout_s=GIVE_UP_S)
        if rank == 0:
            time.sleep(0.2)
        meeting.close()
        if rank == 0:
            return ""
        with pytest.raises(RendezvousTimeoutError) as caught:
            join(port, 1, 2, timeout_s=1.0)
        return str(caught.value)

    assert "previous communicator" in on_ranks(2, work)[1]


def test_a_rank_that_left_is_named_at_once(port: int) -> None:
    def work(rank: int) -> Any:
        meeting = join(port, rank, 3)
        meeting.gather("a", {}, timeout_s=GIVE_UP_S)
        if rank == 1:
            meeting.close()  # its own part failed
            return (1,)
        time.sleep(0.3)
        with pytest.raises(RankLostError) as caught:
            meeting.gather("b", {}, timeout_s=GIVE_UP_S)
        meeting.close()
        return caught.value.ranks

    assert on_ranks(3, work) == [(1,)] * 3


def test_one_rank_too_many_does_not_disturb_a_job_that_has_met(port: int) -> None:
    def work(rank: int) -> Any:
        meeting = join(port, rank, 2)
        meeting.gather("a", {}, timeout_s=GIVE_UP_S)
        if rank == 1:
            with pytest.raises(RendezvousMismatchError, match="came twice"):
                join(port, 1, 2)
        payloads = meeting.gather("b", {"rank": rank}, timeout_s=GIVE_UP_S)
        meeting.close()
        return payloads

    assert on_ranks(2, work) == [[{"rank": 0}, {"rank": 1}]] * 2


def test_the_port_of_the_launcher_stays_the_jobs() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        number = bound.getsockname()[1]
        launcher = LauncherPort(str(os.dup(bound.fileno())))
    for _ in range(3):
        meeting = join(number, 0, 1, launcher=launcher)
        with pytest.raises(RendezvousError, match="close it before"):
            join(number, 0, 1, launcher=launcher)
        meeting.close()
        with pytest.raises(RendezvousError, match="MASTER_PORT"):
            join(number, 0, 1)  # another program finds it taken
    # A rank that is ahead waits in the queue instead of being refused.
    early = ThreadPoolExecutor(1).submit(join, number, 1, 2)
    time.sleep(0.2)
    meeting = join(number, 0, 2, launcher=launcher)
    early.result(GIVE_UP_S).close()
    meeting.close()
    os.close(launcher._descriptor)


@pytest.mark.parametrize("text", ["", "x", "-1", "99999", "9" * 30, "0x3"])
def test_a_wrong_descriptor_of_the_launcher_is_explained(text: str) -> None:
    with pytest.raises(RankEnvironmentError, match="ACLNN_PY_RENDEZVOUS_FD"):
        LauncherPort(text)


def test_a_descriptor_that_is_no_tcp_socket_is_explained() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(RankEnvironmentError, match="TCP"):
        LauncherPort(str(ours.fileno()))
    with open("/dev/null") as file, pytest.raises(RankEnvironmentError, match="TCP"):
        LauncherPort(str(file.fileno()))


def test_a_port_that_is_taken_in_passing_is_tried_again(port: int) -> None:
    listener = socket.create_server(("127.0.0.1", port))
    threading.Timer(0.2, listener.close).start()
    join(port, 0, 1).close()


def test_attempts_grow_apart() -> None:
    pauses = sockets.pauses()
    waits = [next(pauses) for _ in range(20)]
    assert max(waits) <= 0.1 and max(waits[:3]) < 0.01 and min(waits[10:]) >= 0.05


CYCLES = """
import sys
import numpy as np
import aclnn_py as ap
from aclnn_py.distributed import Communicator, all_reduce
for turn in range(20):
    with Communicator.from_env(timeout_s=60) as comm, comm.device:
        x = ap.from_numpy(np.full(8, turn, np.float32))
        all_reduce(x, "sum", comm)
        assert x.numpy()[0] == turn * comm.world_size
print("fine")
"""


@pytest.mark.parametrize("place", ["launcher", "file"])
def test_communicators_follow_each_other_without_a_pause(tmp_path: Path, place: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(CYCLES)
    extra = {}
    if place == "file":
        # The launcher's own place is dropped by the ranks in favour of this one.
        script.write_text(
            f"import os\nos.environ['ACLNN_PY_RENDEZVOUS'] = 'file://{tmp_path}/meet'\n" + CYCLES
        )
    command = [sys.executable, "-m", "aclnn_py.tools.cli", "run", "-n", "4", str(script)]
    done = subprocess.run(
        command, env=environment(extra), capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("fine") == 4
    if place == "file":
        # What earlier sessions left is not kept.
        assert len(list((tmp_path / "meet").iterdir())) <= 16


def test_communicators_follow_each_other_on_a_port_that_nobody_holds(
    tmp_path: Path, port: int
) -> None:
    script = tmp_path / "script.py"
    script.write_text(CYCLES)
    ranks = []
    for rank in range(3):
        env = environment(
            {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": "3",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
            }
        )
        ranks.append(
            subprocess.Popen(
                [sys.executable, str(script)], env=env, stdout=subprocess.PIPE, text=True
            )
        )
    try:
        results = [rank.communicate(timeout=200)[0].strip() for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    assert results == ["fine"] * 3
