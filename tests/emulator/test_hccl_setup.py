# SPDX-License-Identifier: Apache-2.0
"""How communicators are made and what they answer; argument checks of the collectives."""

from __future__ import annotations

import ctypes as ct
import json
import os
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hccl_ranks import (
    NOT_FOUND,
    NOT_SET,
    PARA,
    PTR,
    Rank,
    close_jobs,
    config,
    job,
    script,
)

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module", autouse=True)
def _end_jobs() -> Iterator[None]:
    yield
    close_jobs()


# --- HcclCommInitAll ---------------------------------------------


def test_init_all() -> None:
    out = script(
        """
        lib = library()
        devices, comms = (ct.c_int32 * 3)(4, 0, 2), (ct.c_void_p * 3)()
        lib("HcclCommInitAll", 3, devices, comms)
        names, totals = set(), []
        def work(i):
            one = Rank(i, 3, device=devices[i])
            one.comm = ct.c_void_p(comms[i])
            size, me = ct.c_uint32(), ct.c_uint32()
            lib("HcclGetRankSize", one.comm, ct.byref(size))
            lib("HcclGetRankId", one.comm, ct.byref(me))
            assert (size.value, me.value) == (3, i)
            names.add(one.name())
            buf = one.put(np.full(5, 10 ** i, np.int32))
            one.call("HcclAllReduce", buf, buf, 5, 2, 0)
            one.sync()
            totals.append(one.get(buf, 5, np.int32).tolist())
            one.close()
        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert len(names) == 1, names
        assert totals == [[111] * 5] * 3, totals
        for bad, code in (((0, 0), PARA), ((0, 99), PARA)):
            assert lib.status("HcclCommInitAll", 2, (ct.c_int32 * 2)(*bad), comms) == code, bad
            print(lib.message())
        assert lib.status("HcclCommInitAll", 2, None, comms) == PTR
        assert lib.status("HcclCommInitAll", 2, devices, None) == PTR
        assert lib.status("HcclCommInitAll", 0, devices, comms) == PARA
        assert lib.status("HcclCommInitAll", 9, devices, comms) == PARA
        """
    )
    assert "appears twice" in out
    assert "no such device" in out


# --- rank tables -------------------------------------------------


def rank_table(ranks: int, **changes: Any) -> dict[str, Any]:
    table = {
        "status": "completed",
        "version": "1.0",
        "server_count": "1",
        "server_list": [
            {
                "server_id": f"host-{uuid.uuid4()}",
                "device": [{"device_id": str(r), "rank_id": str(r)} for r in range(ranks)],
            }
        ],
    }
    return {**table, **changes}


def from_table(
    ranks: int,
    path: Path,
    mode: str,
    env: dict[str, str] | None = None,
    members: list[int] | None = None,
) -> list[str]:
    code = """
    ranks, path = int(sys.argv[1]), sys.argv[2].encode()
    mine = [int(r) for r in sys.argv[3].split(",")]
    def work(i):
        one = Rank(i, ranks)
        for turn in range(2):                       # the table serves again after a destroy
            status = one.lib.status("HcclCommInitClusterInfo", path, i, ct.byref(one.comm))
            if status != 0:
                sys.stdout.write(f"{status} " + one.lib.message().replace("\\n", " ") + "\\n")
                return
            assert one.name() == "hccl_world_group"
            buf = one.put(np.full(5, 10 ** i, np.int32))
            one.call("HcclAllReduce", buf, buf, 5, 2, 0)
            one.sync()
            total = one.get(buf, 5, np.int32)[0]
            one.lib("HcclCommDestroy", one.comm)
        sys.stdout.write(f"total {total}\\n")
        sys.stdout.flush()
    threads = [threading.Thread(target=work, args=(i,)) for i in mine]
    [t.start() for t in threads]
    [t.join() for t in threads]
    """
    source = "from hccl_ranks import *\nimport sys, threading\n" + textwrap.dedent(code)
    members = list(range(ranks)) if members is None else members
    groups = [[r] for r in members] if mode == "process" else [members]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", source, str(ranks), str(path), ",".join(map(str, group))],
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **(env or {})},
        )
        for group in groups
    ]
    lines: list[str] = []
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0, out
        lines += out.splitlines()
    return lines


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_rank_table(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(rank_table(3)))
    assert from_table(3, path, mode) == ["total 111"] * 3


def test_rank_table_of_version_1_2(tmp_path: Path) -> None:
    table = rank_table(2, version="1.2")
    server = table["server_list"][0]
    for i, device in enumerate(server["device"]):
        device["super_device_id"] = str(i)
    table["super_pod_list"] = [
        {"super_pod_id": "0", "server_list": [{"server_id": server["server_id"]}]}
    ]
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table, indent=2))
    assert from_table(2, path, "thread") == ["total 11"] * 2
    table["super_pod_list"][0]["server_list"][0]["server_id"] = "elsewhere"
    path.write_text(json.dumps(table))
    assert all("elsewhere" in line for line in from_table(2, path, "thread"))


def test_missing_ranks_of_a_table_are_named_whoever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(rank_table(4)))
    lines = from_table(4, path, "process", {"HCCL_CONNECT_TIMEOUT": "1.5"}, members=[1, 3])
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("9 "), line
        assert "rank 0, 2 did not come" in line


BROKEN: list[tuple[str, Any, str]] = [
    ("no JSON", "{", "line 1"),
    ("trailing comma", '{"status": "completed",}', "column 24"),
    ("duplicate key", '{"status": "completed", "status": "completed"}', "appears twice"),
    ("text after", "{} {}", "after the end"),
    ("no object", "[]", "no object"),
    ("deep", "[" * 100, "nested too deeply"),
    ("status", {"status": "ready"}, "ready"),
    ("version", {"version": "2.0"}, "2.0"),
    ("number for a string", {"version": 1.0}, "no string"),
    ("count", {"server_count": "2"}, "server_count is 2"),
    ("no servers", {"server_list": []}, "server_list"),
    ("missing list", {"server_list": None}, "server_list"),
]


@pytest.mark.parametrize(("content", "words"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_broken_rank_tables(content: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(content if isinstance(content, str) else json.dumps(rank_table(1, **content)))
    rank = Rank(0, 1)
    status = rank.lib.status("HcclCommInitClusterInfo", str(path).encode(), 0, ct.byref(rank.comm))
    text = rank.lib.message()
    rank.close()
    assert status == PARA
    assert words in text, text
    assert "EI0004" in text or "EI0017" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rank_id": "1"}, "rank_id 1 appears twice"),
        ({"rank_id": "7"}, "rank_id is 7"),
        ({"device_id": "1"}, "device_id 1 appears twice"),
        ({"device_id": "x"}, "not a number"),
        ({"rank_id": None}, "no string"),
    ],
)
def test_broken_devices_of_a_rank_table(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    table = rank_table(2)
    table["server_list"][0]["device"][0].update(change)
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table))
    rank = Rank(0, 2)
    status = rank.lib.status("HcclCommInitClusterInfo", str(path).encode(), 0, ct.byref(rank.comm))
    text = rank.lib.message()
    rank.close()
    assert status == PARA
    assert words in text, text


def test_rank_table_and_the_current_device(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(rank_table(2)))
    rank = Rank(0, 2, device=1)
    init = "HcclCommInitClusterInfo"
    assert rank.lib.status(init, str(path).encode(), 0, ct.byref(rank.comm)) == PARA
    assert "gives device 0 to rank 0, but the current device is 1" in rank.lib.message()
    assert rank.lib.status(init, str(path).encode(), 2, ct.byref(rank.comm)) == PARA
    assert rank.lib.status(init, str(tmp_path / "none").encode(), 0, ct.byref(rank.comm)) == 10
    assert rank.lib.status(init, None, 0, ct.byref(rank.comm)) == PTR
    assert rank.lib.status(init, str(path).encode(), 0, None) == PTR
    rank.close()


def test_a_table_that_is_completed_later(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(rank_table(1, status="initializing")))
    out = script(
        """
        one = Rank(0, 1)
        path, table = sys.argv[1], sys.argv[2]
        def complete():
            time.sleep(0.5)
            open(path + ".new", "w").write(table)
            os.rename(path + ".new", path)
        thread = threading.Thread(target=complete)
        thread.start()
        one.lib("HcclCommInitClusterInfo", path.encode(), 0, ct.byref(one.comm))
        thread.join()
        print(one.name())
        one.close()
        """,
        str(path),
        json.dumps(rank_table(1)),
    )
    assert out.strip() == "hccl_world_group"
    path.write_text(json.dumps(rank_table(1, status="initializing")))
    rank = Rank(0, 1)
    os.environ["HCCL_CONNECT_TIMEOUT"] = "0.3"
    try:
        assert (
            rank.lib.status("HcclCommInitClusterInfo", str(path).encode(), 0, ct.byref(rank.comm))
            == 9
        )
    finally:
        del os.environ["HCCL_CONNECT_TIMEOUT"]
    rank.close()


# --- sub-communicators and names ---------------------------------


def sub_work(rank: Rank) -> None:
    n, me = rank.ranks, rank.rank
    for turn in range(2):
        for members in ([0, n - 1], list(reversed(range(n))), [1]):
            sub = ct.c_void_p(1)
            if me not in members:
                rank.lib(
                    "HcclCreateSubCommConfig",
                    ct.byref(rank.comm),
                    n,
                    None,
                    NOT_SET,
                    0,
                    None,
                    ct.byref(sub),
                )
                assert not sub
                continue
            place = members.index(me)
            ids = (ct.c_uint32 * len(members))(*members)
            given = config(5, name=f"part{turn}") if turn else config(5)
            rank.lib(
                "HcclCreateSubCommConfig",
                ct.byref(rank.comm),
                len(members),
                ids,
                7,
                place,
                given,
                ct.byref(sub),
            )
            name = ct.create_string_buffer(128)
            rank.lib("HcclGetCommName", sub, name)
            assert name.value.decode() == ("part1" if turn else rank.name() + "_sub_7")
            buf = rank.put(np.full(3, 10**me, np.int64))
            out = rank.put(np.zeros(3 * len(members), np.int64))
            rank.lib("HcclAllGather", buf, out, 3, 5, sub, rank.stream)
            rank.lib("HcclAllReduce", buf, buf, 3, 5, 0, sub, rank.stream)
            rank.sync()
            assert rank.get(buf, 3, np.int64)[0] == sum(10**m for m in members)
            assert rank.get(out, (len(members), 3), np.int64)[:, 0].tolist() == [
                10**m for m in members
            ]
            bad = ct.c_void_p()
            create = "HcclCreateSubCommConfig"
            assert (
                rank.lib.status(create, ct.byref(sub), 1, ids, 8, 0, given, ct.byref(bad)) == PARA
            )  # not global
            rank.lib("HcclCommDestroy", sub)
    ids = (ct.c_uint32 * 2)(0, 0)
    bad, comm = ct.c_void_p(), ct.byref(rank.comm)
    given = config(5)
    assert (
        rank.lib.status("HcclCreateSubCommConfig", comm, 2, ids, 1, 0, given, ct.byref(bad)) == PARA
    )
    assert (
        rank.lib.status("HcclCreateSubCommConfig", comm, n + 1, ids, 1, 0, given, ct.byref(bad))
        == PARA
    )
    assert (
        rank.lib.status(
            "HcclCreateSubCommConfig",
            comm,
            1,
            (ct.c_uint32 * 1)((me + 1) % n),
            1,
            0,
            given,
            ct.byref(bad),
        )
        == PARA
    )
    assert (
        rank.lib.status("HcclCreateSubCommConfig", comm, 1, None, 1, 0, given, ct.byref(bad)) == PTR
    )


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_sub_communicators(mode: str) -> None:
    job(4, mode).run(sub_work)


def test_missing_member_of_a_sub_communicator() -> None:
    answers = job(3, "process").run(sub_missing_work, env={"HCCL_CONNECT_TIMEOUT": "1.5"})
    assert answers[0][0] == answers[1][0] == 9
    assert "of 3 ranks, rank 2 did not come" in answers[0][1]


def sub_missing_work(rank: Rank) -> tuple[int, str]:
    if rank.rank == 2:
        return 0, ""
    sub = ct.c_void_p()
    ids = (ct.c_uint32 * 3)(0, 1, 2)
    status = rank.lib.status(
        "HcclCreateSubCommConfig",
        ct.byref(rank.comm),
        3,
        ids,
        1,
        rank.rank,
        config(),
        ct.byref(sub),
    )
    return status, rank.lib.message()


def name_work(rank: Rank) -> None:
    found = ct.c_void_p()
    rank.lib("HcclCommGetHandleWithName", rank.name().encode(), ct.byref(found))
    assert found.value == rank.comm.value
    assert rank.lib.status("HcclCommGetHandleWithName", b"nobody", ct.byref(found)) == NOT_FOUND
    state = ct.c_int(-1)
    rank.lib("HcclCommGetStatus", rank.name().encode(), ct.byref(state))
    assert state.value == 0
    assert rank.lib.status("HcclCommGetHandleWithName", None, ct.byref(found)) == PTR


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_names(mode: str) -> None:
    job(2, mode).run(name_work)


def test_many_communicators_leave_nothing_behind() -> None:
    before = shared_files()
    job(2, "process").run(many_work)
    job(2, "thread").run(many_work)
    assert shared_files() - before == set()


def shared_files() -> set[str]:
    """Files of shared memory, without the locks that Python makes for other tests' processes."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("sem.mp-")}


def many_work(rank: Rank) -> None:
    ids = (ct.c_uint32 * 2)(0, 1)
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        subs = []
        for i in range(60):
            sub = ct.c_void_p()
            rank.lib(
                "HcclCreateSubCommConfig",
                ct.byref(rank.comm),
                2,
                ids,
                i,
                rank.rank,
                config(),
                ct.byref(sub),
            )
            subs.append(sub)
        buf = rank.put(np.ones(4, np.float32))
        for sub in subs:
            rank.lib("HcclAllReduce", buf, buf, 4, 4, 2, sub, rank.stream)
        rank.sync()
        for sub in subs:
            rank.lib("HcclCommDestroy", sub)
    barrier(rank)
    assert len(os.listdir("/proc/self/fd")) <= files + 8


def barrier(rank: Rank) -> None:
    rank.call("HcclBarrier")
    rank.sync()


def test_group_makes_communicators_in_one_thread() -> None:
    script(
        """
        lib = library()
        lib("aclrtSetDevice", 0)
        info = RootInfo.from_buffer_copy(root_info())
        comms = [ct.c_void_p() for _ in range(3)]
        enabled = ct.c_bool()
        lib("HcclGroupStart")
        lib("HcclGroupStatusGet", ct.byref(enabled))
        assert enabled.value
        for i in range(3):
            lib("aclrtSetDevice", i)
            lib("HcclCommInitRootInfo", 3, ct.byref(info), i, ct.byref(comms[i]))
            assert not comms[i]
        lib("HcclGroupEnd")
        assert all(comms)
        assert lib.status("HcclGroupEnd") == PARA
        ranks = []
        for i in range(3):
            one = Rank(i, 3)
            one.comm = comms[i]
            ranks.append(one)
        # every rank sends to the next and receives from the last, all issued by one thread
        lib("HcclGroupStart")
        got = []
        for one in ranks:
            one.attach()
            send, recv = one.put(np.full(4, one.rank, np.int32)), one.put(np.zeros(4, np.int32))
            got.append(recv)
            one.call("HcclSend", send, 4, 2, (one.rank + 1) % 3)
            one.call("HcclRecv", recv, 4, 2, (one.rank + 2) % 3)
        lib("HcclGroupEnd")
        for one, recv in zip(ranks, got):
            one.attach()
            one.sync()
            assert (one.get(recv, 4, np.int32) == (one.rank + 2) % 3).all()
        for one in ranks:
            one.attach()
            one.close()
        """
    )


def captured_work(rank: Rank) -> None:
    """A collective recorded into a graph runs at every replay, on the data of that moment."""
    buf, out = rank.put(np.ones(6, np.float32)), rank.put(np.zeros(6, np.float32))
    graph = ct.c_void_p()
    rank.lib("aclmdlRICaptureBegin", rank.stream, 2)
    rank.call("HcclAllReduce", buf, out, 6, 4, 0)
    rank.lib("aclmdlRICaptureEnd", rank.stream, ct.byref(graph))
    rank.sync()
    assert (rank.get(out, 6, np.float32) == 0).all()
    for i in range(3):
        host = np.full(6, rank.rank + i, np.float32)
        rank.lib("aclrtMemcpy", buf, host.nbytes, host.ctypes.data_as(ct.c_void_p), host.nbytes, 1)
        rank.lib("aclmdlRIExecuteAsync", graph, rank.stream)
        rank.call("HcclAllReduce", buf, buf, 6, 4, 2)  # mixed with calls outside of the graph
        rank.sync()
        assert (rank.get(out, 6, np.float32) == sum(r + i for r in range(rank.ranks))).all()
    rank.lib("aclmdlRIDestroy", graph)


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_capture_and_replay(mode: str) -> None:
    job(2, mode).run(captured_work)


def leave_at_once_work(rank: Rank) -> None:
    """The first rank out destroys its end while the others are still in the last step."""
    ids = (ct.c_uint32 * rank.ranks)(*range(rank.ranks))
    buf = rank.put(np.ones(4, np.float32))
    for i in range(60):
        sub, given = ct.c_void_p(), config()
        create = ("HcclCreateSubCommConfig", ct.byref(rank.comm), rank.ranks, ids, i, rank.rank)
        rank.lib(*create, given, ct.byref(sub))
        rank.lib("HcclAllReduce", buf, buf, 4, 4, 2, sub, rank.stream)
        rank.sync()
        rank.lib("HcclCommDestroy", sub)


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_leaving_right_after_a_collective(mode: str) -> None:
    job(8, mode).run(leave_at_once_work)
