# SPDX-License-Identifier: Apache-2.0
"""Traces: what is written to them, and that nothing stays behind."""

from __future__ import annotations

import errno
import json
import os
import re
import threading

import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py._ffi import C, add_wrapper, ffi, remove_wrapper
from aclnn_py.operators.launch.observers import observers
from aclnn_py.tools.traces.reader import read_calls


@pytest.fixture
def x(device):
    tensor = ap.from_numpy(np.arange(6, dtype=np.float16).reshape(2, 3))
    yield tensor
    tensor.close()


@pytest.fixture
def out(device):
    tensor = ap.empty((2, 3), np.float16)
    yield tensor
    tensor.close()


@pytest.mark.parametrize("suffix", ["txt", "json"])
def test_a_trace_has_launches_and_functions(x, out, stream, tmp_path, suffix):
    path = tmp_path / f"calls.{suffix}"
    with ap.tools.trace(path):
        ops.add(x, x.T.T, 2.0, out)
        with pytest.raises(errors.AclnnError):
            ops.add(x, None, 1.0, out)
        result = out.numpy()
    ops.add(x, x, 1.0, out)
    np.testing.assert_array_equal(result, 3 * x.numpy())
    calls = read_calls(path)
    launches = [call for call in calls if call.operator]
    asked = "aclnnAddGetWorkspaceSize"
    assert [call.name for call in launches] == [asked, "aclnnAdd", asked]
    first, ran, second = launches
    address = f"0x{x.address:x}"
    assert first.arguments.startswith(f"self=Tensor(float16[2,3] @{address}), other=")
    assert "alpha=2.0, out=Tensor(float16[2,3]" in first.arguments
    executor = re.search(r"\*workspaceSize=0, \*executor=(0x[0-9a-f]+)$", first.arguments)[1]
    queue = int(ffi.cast("uintptr_t", stream.raw))
    assert ran.arguments == (
        f"workspace=NULL, workspaceSize=0, executor={executor}, stream=0x{queue:x}"
    )
    assert (ran.status, ran.stream) == ("ACLNN_SUCCESS", stream.id)
    assert first.stream == stream.id and first.thread == threading.get_native_id()
    assert (first.status, first.failed) == ("ACLNN_SUCCESS", False)
    assert (second.status, second.failed) == ("ACLNN_ERR_PARAM_NULLPTR(161001)", True)
    assert "other=NULL" in second.arguments
    functions = {call.name: call for call in calls if not call.operator}
    copy = functions["aclrtMemcpy"]
    assert "count=12, kind=ACL_MEMCPY_DEVICE_TO_HOST" in copy.arguments
    assert copy.status == "ACL_SUCCESS" and copy.stream is None
    assert all(call.begun_us >= 0 and call.lasted_us > 0 for call in calls)
    assert first.begun_us + first.lasted_us <= ran.begun_us < second.begun_us < copy.begun_us


def test_json_has_a_row_per_thread_and_per_stream(x, out, stream, tmp_path):
    path = tmp_path / "calls.json"
    other = stream.device.create_stream()
    with ap.tools.trace(path):
        ops.add(x, x, 1.0, out)
        ops.mul(x, x, out, stream=other)
        plan = ap.plan(ops.mul, x, x, out)
        plan.run()
        plan.close()
        other.close()
    events = json.loads(path.read_text())
    rows = {
        event["tid"]: event["args"]["name"]
        for event in events
        if event["ph"] == "M" and event["name"] == "thread_name"
    }
    on_streams = [(rows[e["tid"]], e["name"]) for e in events if e.get("cat") == "stream"]
    assert on_streams == [
        (f"stream {stream.id}, device 0", "aclnnAdd"),
        (f"stream {other.id}, device 0", "aclnnMul"),
        (f"stream {stream.id}, device 0", "aclnnMul"),
        (f"stream {stream.id}, device 0", "aclnnMul"),
    ]
    launches = [e for e in events if e.get("cat") == "launch"]
    kinds = [(e["name"].removeprefix("aclnn"), e["args"].get("kind")) for e in launches]
    assert kinds == [
        ("AddGetWorkspaceSize", None),
        ("Add", None),
        ("MulGetWorkspaceSize", None),
        ("Mul", None),
        ("MulGetWorkspaceSize", "plan"),
        ("Mul", "run"),
    ]
    whole = next(e for e in events if e.get("cat") == "stream")
    assert whole["ts"] == launches[0]["ts"]
    ends = whole["ts"] + whole["dur"], launches[1]["ts"] + launches[1]["dur"]
    assert abs(ends[0] - ends[1]) < 0.01
    assert launches[0]["args"]["line"].startswith(__file__)
    assert rows[threading.get_native_id()].startswith("thread ")


def test_nothing_stays_behind(x, out, tmp_path):
    before, taken = observers(), C.aclrtMemcpy
    with ap.tools.trace(tmp_path / "calls"):
        assert C.aclrtMemcpy is not taken
        out.numpy()
    assert observers() == before
    assert C.aclrtMemcpy is taken
    size = (tmp_path / "calls").stat().st_size
    out.numpy()
    assert (tmp_path / "calls").stat().st_size == size


def test_wrappers_are_independent(device):
    seen = []

    def watch(name, function):
        def watched(*arguments):
            seen.append(name)
            return function(*arguments)

        return watched

    add_wrapper(watch)
    add_wrapper(twice := lambda name, function: function)
    remove_wrapper(watch)
    device.memory_info()
    assert not seen
    add_wrapper(watch)
    device.memory_info()
    remove_wrapper(watch)
    remove_wrapper(twice)
    assert "aclrtGetMemInfo" in seen


def test_an_empty_and_a_cut_off_trace_can_be_read(x, out, tmp_path):
    for name in ("empty.txt", "empty.json"):
        with ap.tools.trace(tmp_path / name):
            pass
        assert read_calls(tmp_path / name) == []
    for name, at in (("cut.txt", "executor"), ("cut.json", '"cat": "launch"')):
        with ap.tools.trace(path := tmp_path / name):
            ops.add(x, x, 1.0, out)
            ops.add(x, x, 1.0, out)
        text = path.read_text().rstrip("\n]")
        path.write_text(text[: text.rindex(at)])
        assert [c.name for c in read_calls(path) if not c.phase_one] == ["aclnnAdd"]


def test_names_hold_process_and_rank(x, out, tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "3")
    with ap.tools.trace(tmp_path / "calls-%p-%r.txt"):
        ops.add(x, x, 1.0, out)
    assert len(read_calls(tmp_path / f"calls-{os.getpid()}-3.txt")) == 2
    with pytest.raises(ValueError, match="form: expected one of text, json, got 'xml'"):
        ap.tools.trace(tmp_path / "calls", form="xml")


def test_two_traces_into_one_file_are_refused(device, tmp_path):
    with ap.tools.trace(tmp_path / "calls"):
        device.memory_info()
        before = observers()
        with (
            pytest.raises(BlockingIOError, match="put %p or %r into the name"),
            ap.tools.trace(tmp_path / "calls"),
        ):
            raise AssertionError("the block must not run")
        assert observers() == before
        device.memory_info()
    assert len(read_calls(tmp_path / "calls")) == 2


def test_the_environment_traces_a_whole_process_and_leaves_its_children_alone(tmp_path):
    source = """
        import os
        import numpy as np, aclnn_py as ap
        x = ap.from_numpy(np.ones(3, np.float32))
        ap.ops.add(x, x, 1.0, x)
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        print(x.numpy().tolist())
    """
    run_script(source, env={"ACLNN_PY_TRACE": str(tmp_path / "calls.json")}).check()
    events = json.loads((tmp_path / "calls.json").read_text())
    assert [e["ph"] for e in events].count("X") > 5
    names = [call.name for call in read_calls(tmp_path / "calls.json")]
    assert names[0] == "aclInit" and names[-1] == "aclFinalize"
    assert names.count("aclnnAdd") == 1


@pytest.mark.parametrize("suffix", ["txt", "json"])
def test_what_a_crash_leaves_is_whole(tmp_path, suffix):
    source = """
        import os, signal
        import numpy as np, aclnn_py as ap
        x = ap.from_numpy(np.ones(3, np.float32))
        ap.ops.add(x, x, 1.0, x)
        ap.ops.mul(x, x, x)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    path = tmp_path / f"calls.{suffix}"
    assert run_script(source, env={"ACLNN_PY_TRACE": str(path)}).status == -9
    if suffix == "json":
        json.loads(path.read_text())
    assert read_calls(path)[-1].name == "aclnnMul"


def test_a_graph_is_a_call(x, out, stream, tmp_path):
    graph = ap.Graph()
    with graph.capture():
        ops.add(x, x, 1.0, out)
    with ap.tools.trace(tmp_path / "calls"):
        graph.replay()
        stream.synchronize()
    (launch,) = [call for call in read_calls(tmp_path / "calls") if call.operator]
    assert launch.name == "aclmdlRIExecuteAsync" and launch.stream == stream.id
    assert re.fullmatch(r"modelRI=0x[0-9a-f]+, stream=0x[0-9a-f]+", launch.arguments)
    graph.close()


def test_a_file_that_cannot_be_written_is_said_at_once(device, tmp_path):
    before = observers()
    with pytest.raises(FileNotFoundError, match="absent"), ap.tools.trace(tmp_path / "absent/x"):
        raise AssertionError("the block must not run")
    assert observers() == before
    source = """
        import numpy as np, aclnn_py as ap
        x = ap.from_numpy(np.ones(3, np.float32))
        print(x.numpy().tolist())
    """
    done = run_script(source, env={"ACLNN_PY_TRACE": str(tmp_path / "absent/x")}).check()
    assert done.out == "[1.0, 1.0, 1.0]\n"
    assert "ACLNN_PY_TRACE: the trace has stopped" in done.err and "absent/x" in done.err


@pytest.mark.parametrize("suffix", ["txt", "json"])
def test_a_full_disk_stops_the_trace_and_not_the_program(x, out, tmp_path, monkeypatch, suffix):
    pwrite, room = os.pwrite, [4000]

    def full(file, data, at):
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = pwrite(file, bytes(data)[: room[0]], at)
        room[0] -= taken
        return taken

    monkeypatch.setattr(os, "pwrite", full)
    path, before = tmp_path / f"calls.{suffix}", observers()
    with (
        pytest.warns(RuntimeWarning, match="has stopped.*No space left"),
        ap.tools.trace(path) as trace,
    ):
        for _ in range(20):
            ops.add(x, x, 1.0, out)
        assert observers() == before
    assert isinstance(trace.failure, OSError) and trace.failure.filename == str(path)
    assert 2 <= len(read_calls(path)) < 40
