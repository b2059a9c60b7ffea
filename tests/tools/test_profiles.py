# SPDX-License-Identifier: Apache-2.0
"""Profiles: what streams ran, the files about it, and the tables made of them."""

from __future__ import annotations

import csv
import itertools
import json
import os
import stat
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py._ffi import C, ffi
from aclnn_py.distributed import Communicator, all_reduce
from aclnn_py.tools.cli import main
from aclnn_py.tools.profiles import profile as profile_module
from aclnn_py.tools.profiles.files import ProfileError, read_tasks
from aclnn_py.tools.profiles.table import sum_up

HEAD = "Device_id,Model ID,Stream ID,Op Name,OP Type,Task Start Time(us),Task Duration(us)"
# Between tasks a worker takes the next one from its queue.
BUSY = 0.95
TRIES = 10


def test_calls_are_counted_with_their_shapes(device: ap.Device) -> None:
    x, y = (ap.from_numpy(np.ones(shape, np.float32)) for shape in ((4, 8), (8, 2)))
    with ap.tools.profile() as found:
        for _ in range(3):
            ap.functional.mm(x, y)
        ap.functional.relu(x)
    rows = {row.name: row for row in found.rows()}
    assert (rows["aclnnMm"].calls, rows["aclnnRelu"].calls) == (3, 1)
    shaped = {(row.name, row.shapes): row.calls for row in found.rows(by_shape=True)}
    assert shaped["aclnnMm", "4,8;8,2"] == 3
    assert sum(row.share for row in found.rows()) == pytest.approx(1.0)
    task = next(task for task in found.tasks if task.name == "aclnnMm")
    assert (task.type, task.device, task.dtypes) == ("Mm", device.index, "FLOAT;FLOAT")
    assert "aclnnMm" in str(found) and "4,8;8,2" in found.table(by_shape=True)


def test_device_times_add_up_to_the_time_of_a_busy_stream(device: ap.Device) -> None:
    x = ap.from_numpy(np.ones((256, 256), np.float32))
    out = ap.empty((256, 256), np.float32)
    best = 0.0
    for _ in range(TRIES):
        with ap.tools.profile() as found:
            for _ in range(100):
                ap.ops.mm(x, x, out, 0)
        # The stream is busy once the host is ahead of it.
        tasks = found.tasks[20:]
        assert all(one.begun_us + one.lasted_us <= other.begun_us + 1.0
                   for one, other in itertools.pairwise(tasks))  # fmt: skip
        whole = tasks[-1].begun_us + tasks[-1].lasted_us - tasks[0].begun_us
        best = max(best, sum(task.lasted_us for task in tasks) / whole)
        if best >= BUSY:
            break
    assert BUSY <= best <= 1.001


def test_a_graph_shows_its_nodes(device: ap.Device) -> None:
    x = ap.from_numpy(np.ones((4, 4), np.float32))
    out = ap.empty((4, 4), np.float32)
    graph = ap.Graph()
    with graph.capture():
        ap.ops.exp(x, out)
        ap.ops.sin(out, out)
    with ap.tools.profile() as found:
        graph.replay()
        graph.replay()
        ap.synchronize()
    names = [task.name for task in found.tasks]
    assert names == ["aclnnExp", "aclnnSin"] * 2
    assert {task.graph for task in found.tasks} != {None}
    ap.ops.exp(x, out)


def test_a_collective_that_waits_says_how_long(device: ap.Device) -> None:
    first, second = Communicator.init_all(2)
    with first, second, ap.tools.profile(devices=[0, 1]) as found:

        def run(rank: Communicator, pause_s: float) -> None:
            with rank.device:
                x = ap.from_numpy(np.ones(8, np.float32))
                time.sleep(pause_s)
                all_reduce(x, group=rank)
                ap.synchronize()

        threads = [
            threading.Thread(target=run, args=pair) for pair in ((first, 0.0), (second, 0.3))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tasks = {task.device: task for task in found.tasks if task.type == "HcclAllReduce"}
    assert set(tasks) == {0, 1}
    # The early rank waits nearly as long as the late one sleeps.
    assert tasks[0].waited_us > 100_000
    assert tasks[0].lasted_us >= tasks[0].waited_us
    assert "waited us" in str(found)


def test_files_are_those_of_cann(device: ap.Device, tmp_path: Path) -> None:
    x = ap.from_numpy(np.ones((4, 8), np.float32))
    with ap.tools.profile(folder=tmp_path) as found:
        ap.functional.relu(x)
        big = ap.Buffer.allocate(1 << 20)
        big.close()
        ap.trim_memory()
    (place,) = tmp_path.glob("PROF_*/mindstudio_profiler_output")
    (summary,) = place.glob("op_summary_*.csv")
    with open(summary, newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["Op Name"], row["OP Type"], row["Task Type"]) == ("aclnnRelu", "Relu", "AI_CORE")
    assert (row["Input Shapes"], row["Output Data Types"]) == ("4,8", "FLOAT")
    assert row["Model ID"] == "4294967295"
    (tasks,) = place.glob("task_time_*.csv")
    assert "aclnnRelu" in tasks.read_text(encoding="utf-8")
    (trace,) = place.glob("msprof_*.json")
    events = json.loads(trace.read_text(encoding="utf-8"))
    assert {"X", "M"} <= {event["ph"] for event in events}
    (event,) = [event for event in events if event["name"] == "aclnnRelu"]
    assert event["dur"] == pytest.approx(found.tasks[0].lasted_us, abs=0.002)
    found.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == trace.read_bytes()
    found.plot(tmp_path / "times.png")
    assert (tmp_path / "times.png").stat().st_size > 1000


def test_memory_is_a_curve(device: ap.Device, tmp_path: Path) -> None:
    with ap.tools.profile(folder=tmp_path):
        address = ffi.new("void **")
        assert C.aclrtMalloc(address, 3 << 20, 0) == 0
        assert C.aclrtFree(address[0]) == 0
    (table,) = tmp_path.rglob("npu_mem_*.csv")
    with open(table, newline="", encoding="utf-8") as file:
        uses = [float(row["hbm(KB)"]) for row in csv.DictReader(file)]
    assert max(uses) - min(uses) >= 3 << 10
    (trace,) = tmp_path.rglob("msprof_*.json")
    events = json.loads(trace.read_text(encoding="utf-8"))
    assert sum(event["ph"] == "C" for event in events) == len(uses)


def test_nothing_is_noted_outside_the_block(device: ap.Device) -> None:
    x = ap.from_numpy(np.ones(3, np.float32))
    with ap.tools.profile() as found:
        pass
    ap.functional.relu(x)
    ap.synchronize()
    with ap.tools.profile() as again:
        ap.functional.exp(x)
    assert found.tasks == []
    assert [task.name for task in again.tasks] == ["aclnnExp"]


def test_two_profiles_at_once_are_refused(device: ap.Device) -> None:
    with ap.tools.profile() as found:
        with pytest.raises(RuntimeError, match="under way already"):
            found.__enter__()
        with pytest.raises(ap.errors.AclError, match="100042"), ap.tools.profile():
            pass
    with ap.tools.profile():
        pass


def test_an_exception_ends_the_profile(device: ap.Device) -> None:
    with pytest.raises(KeyError), ap.tools.profile():
        raise KeyError("mine")
    with ap.tools.profile() as found:
        ap.functional.relu(ap.from_numpy(np.ones(3, np.float32)))
    assert len(found.tasks) == 1


@pytest.mark.emulator_only(reason="a card's tool makes folders of its own")
def test_a_folder_that_cannot_be_made_is_named(device: ap.Device, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ap.errors.AclError, match="cannot be made"),
        ap.tools.profile(folder=tmp_path / "file"),
    ):
        pass


def test_the_command_reads_a_profile(
    device: ap.Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = ap.from_numpy(np.ones((4, 8), np.float32))
    with ap.tools.profile(folder=tmp_path):
        ap.functional.relu(x)
    assert main(["trace", str(tmp_path), "--shapes"]) == 0
    out = capsys.readouterr().out
    assert "aclnnRelu" in out and "4,8" in out and "Device times" in out
    assert main(["trace", str(tmp_path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["calls"]) == ("aclnnRelu", 1)


def test_a_table_of_a_card_is_read(tmp_path: Path) -> None:
    table = tmp_path / "op_summary_1.csv"
    table.write_text(
        f'{HEAD},Input Shapes\n0,4294967295,3,MatMulV2_1,MatMulV2,"1795\t",12.5,"""4,8;8,2"""\n'
        "0,7,3,Add_2,Add,1810.25,0.5,\n"
    )
    first, second = read_tasks(table)
    assert (first.name, first.shapes, first.graph) == ("MatMulV2_1", "4,8;8,2", None)
    assert (first.begun_us, first.lasted_us) == (1795.0, 12.5)
    assert (second.graph, second.stream) == (7, 3)
    assert [row.name for row in sum_up([first, second])] == ["MatMulV2_1", "Add_2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column"),
        ("Op Name,other\na,b\n", "no column 'Task Duration"),
        (f"{HEAD}\n0,0,0,a,b,1,nan\n", "line 2.*no time"),
        (f"{HEAD}\n0,0,0,a,b,1,-1\n", "line 2.*no time"),
        (f"{HEAD}\n0,0,x,a,b,1,1\n", "line 2"),
        (f"{HEAD}\n{'9' * (1 << 20)}\n", "longer than"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    table = tmp_path / "op_summary_1.csv"
    table.write_text(text)
    with pytest.raises(ProfileError, match=said):
        list(read_tasks(table))
    assert main(["trace", str(table)]) == 1


def test_a_folder_without_tables_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="msprof --export=on"):
        list(read_tasks(tmp_path))


def test_on_a_card_the_tool_of_cann_exports(
    device: ap.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_module, "device_kind", lambda: "npu")
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.warns(RuntimeWarning, match="msprof is not on the path"),
        ap.tools.profile() as none,
    ):
        pass
    assert isinstance(none.failure, ProfileError) and none.tasks == []
    tool = tmp_path / "msprof"
    tool.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    with pytest.warns(RuntimeWarning, match="ended with 3: broken"), ap.tools.profile():
        pass
    tool.write_text('#!/bin/sh\n[ "$1" = --export=on ]\n')
    with ap.tools.profile() as found:
        ap.functional.relu(ap.from_numpy(np.ones(3, np.float32)))
    assert len(found.tasks) == 1
