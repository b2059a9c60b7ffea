# SPDX-License-Identifier: Apache-2.0
"""Profiles: what the host spent, the marks that a program sets, and the files about both."""

from __future__ import annotations

import csv
import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py._ffi import C, ffi
from aclnn_py.distributed import Communicator, all_reduce
from aclnn_py.tools.cli import main
from aclnn_py.tools.profiles.files import (
    DeviceTask,
    HostCalls,
    Mark,
    ProfileError,
    read_calls,
    read_marks,
)
from aclnn_py.tools.profiles.table import call_lines, mark_lines, sum_up

ODD = 'a "quoted", divided\nmark 前向'


def table(folder: Path, name: str) -> list[dict[str, str]]:
    (path,) = folder.rglob(f"{name}_2*.csv")
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def events(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.rglob("msprof_2*.json")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def ones(*shape: int) -> ap.Tensor:
    return ap.from_numpy(np.ones(shape, np.float32))


def test_launches_say_what_the_host_spent(device: ap.Device) -> None:
    x, y = ones(4, 8), ones(8, 2)
    with ap.tools.profile() as found:
        begun = time.perf_counter()
        for _ in range(3):
            ap.functional.mm(x, y)
        ap.functional.mm(ones(2, 4), x)
        whole_us = (time.perf_counter() - begun) * 1e6
    (row,) = found.rows()
    assert 0 < row.host_us <= whole_us
    assert all(task.host_us > 0 for task in found.tasks)
    shaped = found.rows(by_shape=True)
    assert sum(row.host_us for row in shaped) == pytest.approx(row.host_us)
    assert "host us" in found.table() and "host us" in found.table(by_shape=True)


def test_nodes_of_a_graph_cost_the_host_nothing(device: ap.Device) -> None:
    x, out = ones(4), ap.empty((4,), np.float32)
    graph = ap.Graph()
    with graph.capture():
        ap.ops.exp(x, out)
    with ap.tools.profile() as found:
        graph.replay()
        ap.synchronize()
    assert [task.host_us for task in found.tasks] == [0.0]
    assert {call.name: call.calls for call in found.calls}["aclmdlRIExecuteAsync"] == 1


def test_calls_of_the_host_are_counted(device: ap.Device, tmp_path: Path) -> None:
    address = ffi.new("void **")
    with ap.tools.profile(folder=tmp_path) as found:
        for _ in range(4):
            assert C.aclrtMalloc(address, 64, 0) == 0
            assert C.aclrtMemset(address[0], 64, 0, 64) == 0
            assert C.aclrtFree(address[0]) == 0
        assert C.aclrtFree(ffi.NULL) != 0
    calls = {call.name: call for call in found.calls}
    assert [calls[name].calls for name in ("aclrtMalloc", "aclrtMemset", "aclrtFree")] == [4, 4, 5]
    assert {calls[name].level for name in ("aclrtMalloc", "aclrtFree")} == {"acl"}
    rows = table(tmp_path, "api_statistic")
    assert [float(row["Time(us)"]) for row in rows] == sorted(
        (float(row["Time(us)"]) for row in rows), reverse=True
    )
    for row in rows:
        assert row["Device_id"] == "host"
        least, mean, most = (float(row[f"{key}(us)"]) for key in ("Min", "Avg", "Max"))
        assert least <= mean + 0.001 and mean <= most + 0.001
        assert float(row["Variance"]) >= 0
        assert mean * int(row["Count"]) == pytest.approx(float(row["Time(us)"]), abs=0.01 * 5)
    assert "aclrtMemset" in found.host_table()


def test_operators_and_collectives_have_statistics(device: ap.Device, tmp_path: Path) -> None:
    (rank,) = Communicator.init_all(1)
    x = ones(4)
    with rank, ap.tools.profile(folder=tmp_path) as found:
        for _ in range(2):
            ap.functional.relu(x)
        all_reduce(x, group=rank)
    (operator,) = table(tmp_path, "op_statistic")
    assert (operator["OP Type"], operator["Core Type"], operator["Count"]) == (
        "Relu", "AI_CORE", "2",
    )  # fmt: skip
    relu = [task.lasted_us for task in found.tasks if task.type == "Relu"]
    assert float(operator["Total Time(us)"]) == pytest.approx(sum(relu), abs=0.01)
    assert float(operator["Max Time(us)"]) == pytest.approx(max(relu), abs=0.01)
    assert float(operator["Ratio(%)"]) == pytest.approx(100)
    (collective,) = table(tmp_path, "communication_statistic")
    assert (collective["OP Type"], collective["Count"]) == ("HcclAllReduce", "1")
    levels = {call.name: call.level for call in found.calls}
    assert levels["HcclAllReduce"] == "communication"
    (task,) = [task for task in found.tasks if task.type == "HcclAllReduce"]
    assert task.host_us > 0


def test_arrows_lead_from_calls_to_tasks(device: ap.Device, tmp_path: Path) -> None:
    x = ones(4)
    with ap.tools.profile(folder=tmp_path):
        for _ in range(3):
            ap.functional.relu(x)
    found = events(tmp_path)
    (host,) = [event["pid"] for event in found if event.get("args", {}).get("name") == "CANN"]
    calls = [event for event in found if event["name"] == "AscendCL@aclnnRelu"]
    assert [(call["pid"], call["ph"]) for call in calls] == [(host, "X")] * 3
    starts = {event["id"]: event for event in found if event["ph"] == "s"}
    ends = {event["id"]: event for event in found if event["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) >= 3
    assert all(starts[key]["ts"] <= ends[key]["ts"] for key in starts)
    tasks = {event["ts"] for event in found if event["name"] == "aclnnRelu"}
    assert tasks <= {event["ts"] for event in ends.values()}


def test_marks_and_ranges_are_in_every_file(
    device: ap.Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x, stream = ones(64, 64), ap.current_stream()
    domain = C.mstxDomainCreateA(b"layers")
    assert domain != ffi.NULL
    with ap.tools.profile(folder=tmp_path) as found:
        C.mstxMarkA(ODD.encode(), ffi.NULL)
        outer = C.mstxRangeStartA(b"step", stream.raw)
        inner = C.mstxDomainRangeStartA(domain, b"layer 0", ffi.NULL)
        assert 0 not in (outer, inner) and outer != inner
        ap.functional.mm(x, x)
        C.mstxDomainRangeEnd(domain, inner)
        C.mstxRangeEnd(outer)
        C.mstxDomainMarkA(domain, b"here", stream.raw)
    C.mstxDomainDestroy(domain)
    marks = {mark.message: mark for mark in found.marks}
    assert set(marks) == {ODD.replace("\n", " "), "step", "layer 0", "here"}
    step, layer = marks["step"], marks["layer 0"]
    assert (step.kind, step.domain, layer.domain) == ("start/end", "default", "layers")
    assert step.begun_us <= layer.begun_us and step.lasted_us >= layer.lasted_us > 0
    (task,) = [task for task in found.tasks if task.type == "Mm"]
    # The range on the stream encloses the operator there, whenever the host was ready.
    assert step.device_us is not None and step.device_us >= task.lasted_us
    assert layer.device_us is None
    assert (marks["here"].kind, marks["here"].lasted_us) == ("marker_ex", 0.0)
    rows = {row["message"]: row for row in table(tmp_path, "msprof_tx")}
    assert rows["step"]["Device_id"] == str(device.index) and rows["layer 0"]["Device_id"] == "host"
    begin = float(rows["step"]["Device Start_time(us)"])
    assert begin <= task.begun_us
    assert float(rows["step"]["Device End_time(us)"]) >= task.begun_us + task.lasted_us - 0.001
    found_events = [event for event in events(tmp_path) if event["name"] in {ODD, "step", "here"}]
    assert sorted((event["name"], event["ph"]) for event in found_events) == sorted(
        [(ODD, "i"), ("step", "X"), ("step", "X"), ("here", "i"), ("here", "i")]
    )
    assert "layer 0" in str(found) and "mstx" not in found.table()
    assert main(["trace", str(tmp_path), "--host"]) == 0
    printed = capsys.readouterr().out
    assert "layer 0" in printed and "layers" in printed and "aclnnMm" in printed
    assert "host us" in printed


def test_stamps_of_aclprof_are_marks(device: ap.Device) -> None:
    stamps = [C.aclprofCreateStamp() for _ in range(3)]
    for stamp, name in zip(stamps, (b"mark", b"pushed", b"range"), strict=True):
        assert C.aclprofSetStampTraceMessage(stamp, name, len(name)) == 0
    number = ffi.new("uint32_t *")
    with ap.tools.profile() as found:
        assert C.aclprofMark(stamps[0]) == 0
        assert C.aclprofPush(stamps[1]) == 0
        assert C.aclprofRangeStart(stamps[2], number) == 0
        assert C.aclprofPop() == 0
        # A range may end on another thread.
        thread = threading.Thread(target=C.aclprofRangeStop, args=(number[0],))
        thread.start()
        thread.join()
        assert C.aclprofMarkEx(b"on the stream", 13, ap.current_stream().raw) == 0
    kinds = {mark.message: mark.kind for mark in found.marks}
    assert kinds == {
        "mark": "marker", "pushed": "push/pop", "range": "start/end", "on the stream": "marker_ex",
    }  # fmt: skip
    assert C.aclprofPop() != 0
    assert C.aclprofRangeStop(number[0] + 1) != 0
    for stamp in stamps:
        C.aclprofDestroyStamp(stamp)


def test_a_range_counts_only_within_one_profile(device: ap.Device) -> None:
    assert C.mstxRangeStartA(b"nobody looks", ffi.NULL) == 0
    with ap.tools.profile() as first:
        late = C.mstxRangeStartA(b"ends late", ffi.NULL)
    with ap.tools.profile() as second:
        C.mstxRangeEnd(late)
        C.mstxRangeEnd(late)
        C.mstxRangeEnd(12345678)
        C.mstxMarkA(ffi.NULL, ffi.NULL)
    assert first.marks == [] == second.marks
    C.mstxRangeEnd(late)


def test_a_dead_domain_and_a_dead_stream_do_no_harm(device: ap.Device) -> None:
    domain = C.mstxDomainCreateA(b"gone")
    C.mstxDomainDestroy(domain)
    C.mstxDomainDestroy(domain)
    stream = ap.Stream()
    dead = stream.raw
    stream.close()
    with ap.tools.profile() as found:
        C.mstxDomainMarkA(domain, b"in no domain", ffi.NULL)
        assert C.mstxDomainRangeStartA(domain, b"in no domain", ffi.NULL) == 0
        C.mstxMarkA(b"on no stream", dead)
    (mark,) = found.marks
    assert (mark.message, mark.device_us) == ("on no stream", None)


def test_a_captured_stream_takes_no_marks(device: ap.Device) -> None:
    x, out = ones(4), ap.empty((4,), np.float32)
    graph = ap.Graph()
    with ap.tools.profile() as found:
        with graph.capture():
            C.mstxMarkA(b"captured", ap.current_stream().raw)
            ap.ops.exp(x, out)
        graph.replay()
        ap.synchronize()
    assert [mark.message for mark in found.marks] == ["captured"]
    assert [task.name for task in found.tasks] == ["aclnnExp"]


def test_a_card_without_host_columns_takes_them_from_the_calls() -> None:
    tasks = [
        DeviceTask("aclnnAdd_AddAiCore_Add", "Add", 0, 0, None, 0.0, 4.0),
        DeviceTask("aclnnAdd_CastAiCore_Cast", "Cast", 0, 0, None, 5.0, 1.0),
        DeviceTask("MatMulV2_1", "MatMulV2", 0, 0, None, 6.0, 9.0),
    ]
    calls = [
        HostCalls("aclnnAdd", "acl", 1, 2.0, 2.0),
        HostCalls("aclnnAddGetWorkspaceSize", "acl", 1, 5.0, 5.0),
    ]
    assert [(row.name, row.host_us) for row in sum_up(tasks, calls=calls)] == [
        ("MatMulV2_1", 0.0), ("aclnnAdd_AddAiCore_Add", 7.0), ("aclnnAdd_CastAiCore_Cast", 0.0),
    ]  # fmt: skip
    assert all(row.host_us == 0 for row in sum_up(tasks, by_shape=True, calls=calls))


def test_tables_add_up() -> None:
    marks = [Mark("step", "default", "start/end", 1, at, 2.0, 1.5) for at in (1.0, 9.0)]
    head, row = mark_lines([*marks, Mark("step", "other", "marker", 1, 20.0, 0.0)])[:2]
    assert head.split()[-1] == "domain"
    assert row.split() == ["step", "2", "4.0", "3.0", "default"]
    lines = call_lines(
        [HostCalls("short", "acl", 1, 1.0, 1.0), HostCalls("long", "acl", 2, 6.0, 5.0)]
    )
    assert [line.split()[0] for line in lines] == ["call", "long", "short"]
    assert lines[1].split()[1:] == ["2", "6.0", "3.00", "5.0"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("api_statistic_1", "Level,API Name\nacl,x\n", "no column"),
        ("api_statistic_1", "API Name,Time(us),Count\nx,inf,1\n", "line 2.*no time"),
        ("api_statistic_1", "API Name,Time(us),Count\nx,1,many\n", "line 2"),
        ("msprof_tx_1", "message,domain\nx,y\n", "no column"),
        ("msprof_tx_1", "message,event_type,Start_time(us)\nx,marker,-1\n", "line 2.*no time"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(ProfileError, match=said):
        [*read_calls(tmp_path), *read_marks(tmp_path)]
