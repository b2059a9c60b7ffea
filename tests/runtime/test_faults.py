# SPDX-License-Identifier: Apache-2.0
"""A fault of the device names the launches it may come from, and the one where that is known."""

from __future__ import annotations

import linecache
import pickle
import re
import threading

import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.distributed import Communicator, all_reduce
from aclnn_py.operators.launch.observers import Observer, observing
from aclnn_py.runtime.faults import name_launches

pytestmark = pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")


class Rows:
    """Gathers rows of a table; row 9 does not exist."""

    def __init__(self) -> None:
        self.table = ap.from_numpy(np.ones((4, 3), np.float32))
        self.good = ap.from_numpy(np.array([1], np.int64))
        self.bad = ap.from_numpy(np.array([9], np.int64))
        self.out = ap.empty((1, 3), np.float32)

    def add(self) -> None:
        ops.add(self.table, self.table, 1.0, self.table)

    def gather(self, rows: ap.Tensor) -> None:
        ops.index_select(self.table, 0, rows, self.out)


@pytest.fixture
def rows(stream):
    made = Rows()
    stream.synchronize()
    yield made
    for tensor in vars(made).values():
        tensor.close()


def candidates(error: errors.StatusError) -> list[str]:
    return re.findall(r"aclnn[A-Z]\w+", "\n".join(error.launches))


@pytest.mark.usefixtures("unchecked")
def test_operators_since_the_last_good_wait_are_named(rows, stream):
    rows.add()
    stream.synchronize()
    rows.gather(rows.good)
    rows.gather(rows.bad)
    rows.add()
    with pytest.raises(errors.DeviceError) as caught:
        stream.synchronize()
    error = caught.value
    assert candidates(error) == ["aclnnIndexSelect", "aclnnIndexSelect", "aclnnAdd"]
    assert f"stream {stream.id} since it was last waited for" in str(error)
    assert "ACLNN_PY_BLOCKING=1" in str(error) and "ACLNN_PY_LINES=1" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.launches == error.launches


def test_no_more_are_listed_than_are_remembered(rows, stream):
    rows.gather(rows.bad)
    for _ in range(100):
        rows.add()
    with pytest.raises(errors.DeviceError) as caught:
        stream.synchronize()
    assert candidates(caught.value) == ["aclnnAdd"] * 64
    assert "the last 64 pieces of work" in str(caught.value)


def test_a_passed_event_does_not_clear_a_launch(rows, stream):
    rows.gather(rows.bad)
    for _ in range(70):  # enough for the stream to ask the device how far it is
        stream.retain(object())
    event = stream.record()
    while not event.query():
        pass
    for _ in range(70):
        stream.retain(object())
    event.close()
    with pytest.raises(errors.DeviceError) as caught:
        stream.synchronize()
    # Retained objects are numbered like work, so the gather has left the ring: nothing is claimed.
    assert "aclnnAdd" not in str(caught.value)


@pytest.mark.parametrize("wait", ["device", "copy", "event"])
def test_every_kind_of_wait_names_them(rows, stream, wait):
    rows.gather(rows.bad)
    with pytest.raises(errors.DeviceError) as caught:
        if wait == "device":
            ap.synchronize()
        elif wait == "copy":
            rows.out.numpy()
        else:
            with stream.record() as event:
                event.synchronize()
            stream.synchronize()
    assert candidates(caught.value) == ["aclnnIndexSelect"]


def test_each_wait_lists_its_own_launches(rows, stream):
    for _ in range(3):
        rows.gather(rows.bad)
        with pytest.raises(errors.DeviceError) as caught:
            stream.synchronize()
        assert candidates(caught.value) == ["aclnnIndexSelect"]
    rows.gather(rows.bad)
    with pytest.raises(errors.DeviceError) as caught:
        ap.synchronize()
    assert candidates(caught.value) == ["aclnnIndexSelect"]


@pytest.mark.parametrize("look", ["query", "poll"])
def test_what_reports_nothing_leaves_a_fault_to_the_read(rows, stream, look):
    other = ap.from_numpy(np.ones(4, np.float32))
    rows.gather(rows.bad)
    if look == "query":
        while not stream.query():
            pass
    else:
        while stream.context.completed < stream.context.sequence:
            stream.state.poll()
    with ap.Device(0):  # of another stream
        assert other.numpy().tolist() == [1.0] * 4
    with pytest.raises(errors.DeviceError, match="index holds 9"):
        rows.out.numpy()
    assert rows.out.numpy().shape == (1, 3)
    other.close()


def test_a_copy_reports_the_default_stream_of_its_context(rows, stream):
    other = ap.from_numpy(np.ones(4, np.float32))
    with ap.Stream.wrap(0) as default:
        ops.index_select(rows.table, 0, rows.bad, rows.out, stream=default)
        while not default.query():
            pass
        with pytest.raises(errors.DeviceError, match="index holds 9") as caught:
            other.numpy()
        assert caught.value.routine == "aclrtMemcpy"
        assert candidates(caught.value) == ["aclnnIndexSelect"]
        assert other.numpy().tolist() == [1.0] * 4
    other.close()


def test_a_read_that_fails_is_not_made_again(rows, stream):
    ranges = ap.from_numpy(np.arange(3))
    with ap.Stream.wrap(0) as default:
        ops.index_select(rows.table, 0, rows.bad, rows.out, stream=default)
        while not default.query():
            pass
        with pytest.raises(errors.DeviceError, match="index holds 9"):
            rows.table[ranges]  # looks at the indices first
    ranges.close()


def test_a_copy_that_fails_otherwise_names_streams_with_faults(rows, stream):
    rows.gather(rows.bad)
    while not stream.query():
        pass
    nowhere = ap.Buffer.from_address(rows.table.address + (1 << 33), 16)
    with pytest.raises(errors.AclError, match=r"stream \d+ of device 0 has an unreported fault"):
        nowhere.read()
    with pytest.raises(errors.DeviceError):
        stream.synchronize()
    with pytest.raises(errors.AclError) as caught:
        nowhere.read()
    assert "unreported" not in str(caught.value)


def test_the_thread_that_launched_hears_though_another_one_waited_first(rows, stream):
    rows.gather(rows.bad)
    heard: list[BaseException] = []

    def wait() -> None:
        for _ in range(2):
            try:
                stream.synchronize()
            except errors.DeviceError as error:
                heard.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert len(heard) == 1
    with pytest.raises(errors.DeviceError, match="index holds 9"):
        stream.synchronize()
    stream.synchronize()


def test_a_wait_for_the_device_takes_nothing_from_others(rows, stream):
    def launch() -> None:
        with stream.use():
            rows.gather(rows.bad)

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    with pytest.raises(errors.DeviceError):
        ap.synchronize()
    ap.synchronize()  # each thread hears once
    heard: list[BaseException] = []

    def wait() -> None:
        try:
            stream.synchronize()
        except errors.DeviceError as error:
            heard.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert len(heard) == 1
    stream.synchronize()


def test_a_wait_that_expires_names_nothing(rows, stream):
    error = errors.status_error("acl", 507046)
    rows.add()
    name_launches(error, [stream.state])
    assert error.launches == ()


def test_with_lines_the_device_names_the_one(rows, stream):
    with observing(Observer()):
        rows.add()
        rows.gather(rows.good)
        rows.gather(rows.bad)
        rows.add()
        with pytest.raises(errors.DeviceError) as caught:
            stream.synchronize()
    lines = [line for line in caught.value.launches if "aclnn" in line]
    assert len(lines) == 4
    assert [line.endswith("<- the device reports this one") for line in lines] == [
        False, False, True, False,
    ]  # fmt: skip
    file, number = re.search(r"(\S+\.py):(\d+)", lines[2]).groups()
    assert file == __file__
    assert "ops.index_select(self.table" in linecache.getline(file, int(number))
    assert not any(line.startswith("to find it") for line in caught.value.launches)


def test_blocking_raises_in_the_launch_itself(rows, stream):
    with ap.blocking():
        rows.gather(rows.good)
        with pytest.raises(errors.DeviceError) as caught:
            rows.gather(rows.bad)
    error = caught.value
    assert error.status == 507015 and error.routine == "aclnnIndexSelect"
    line = int(re.search(r"py:(\d+)", error.hint)[1])
    assert "ops.index_select(self.table" in linecache.getline(__file__, line)
    assert any("index" in str(argument) and "(1,) int64" in str(argument) for argument in
               error.arguments)  # fmt: skip
    rows.gather(rows.good)  # launches return at once again, and the stream is usable
    np.testing.assert_array_equal(rows.out.numpy(), np.ones((1, 3)))


def test_blocking_does_not_blame_a_launch_for_earlier_work(rows, stream):
    rows.gather(rows.bad)
    with ap.blocking(), pytest.raises(errors.DeviceError) as caught:
        rows.add()
    assert candidates(caught.value) == ["aclnnIndexSelect"]
    assert caught.value.routine != "aclnnAdd"


def test_blocking_covers_plans(rows, stream):
    plan = ap.plan(ops.index_select, rows.table, 0, rows.bad, rows.out)
    with ap.blocking():
        with pytest.raises(errors.DeviceError) as caught:
            plan.run()
        with ap.blocking(False):
            rows.gather(rows.bad)
    assert caught.value.routine == "aclnnIndexSelect"
    with pytest.raises(errors.DeviceError):
        stream.synchronize()


PROGRAM = """
import numpy as np, aclnn_py as ap
table = ap.from_numpy(np.ones((4, 3), np.float32))
out = ap.empty((1, 3), np.float32)
rows = ap.from_numpy(np.array([9]))
ap.ops.index_select(table, 0, rows, out)
print("launched")
try:
    ap.synchronize()
except ap.errors.DeviceError as error:
    print(error)
"""


def test_the_environment_turns_modes_on():
    lines = run_script(PROGRAM, env={"ACLNN_PY_LINES": "1"}).check()
    assert "<string>:6  <- the device reports this one" in lines.out
    blocked = run_script(PROGRAM, env={"ACLNN_PY_BLOCKING": "1"})
    assert blocked.status == 1 and "launched" not in blocked.out
    assert "<string>:6 failed on the device" in blocked.err
    wrong = run_script(PROGRAM, env={"ACLNN_PY_BLOCKING": "yes"})
    assert "ACLNN_PY_BLOCKING is 'yes'; it must be 1, 0 or unset" in wrong.err


def test_collectives_between_them_are_named(rows, device, unchecked):
    (comm,) = Communicator.init_all(1)
    with comm, comm.device:
        rows.add()
        ap.synchronize()
        all_reduce(rows.table, "sum", comm)
        rows.gather(rows.bad)
        with observing(Observer()):
            all_reduce(rows.table, "sum", comm)
        with pytest.raises(errors.DeviceError) as caught:
            ap.synchronize()
    named = [line.split(" ")[2] for line in caught.value.launches if line.startswith("  ")]
    assert named == ["HcclAllReduce", "aclnnIndexSelect", "HcclAllReduce"]
    here = [line for line in caught.value.launches if __file__ in line]
    assert len(here) == 1 and "HcclAllReduce" in here[0]


@pytest.mark.usefixtures("unchecked")
def test_a_replay_is_named_with_what_its_graph_captured(rows, stream):
    def line_of(text: str) -> str:
        lines = linecache.getlines(__file__)
        return f"{__file__}:{next(n for n, line in enumerate(lines, 1) if text in line)}"

    with ap.Graph() as graph:
        with graph.capture(inputs={"rows": rows.good}):
            rows.add()
            ops.index_select(rows.table, 0, rows.good, rows.out)  # captured here
            rows.add()
        graph.replay()
        stream.synchronize()
        graph.rebind(rows=rows.bad)
        for _ in range(3):
            graph.replay()
        with pytest.raises(errors.DeviceError) as caught:
            ap.synchronize()
        assert caught.value.launches == (
            f"replayed on stream {stream.id} since it was last waited for:",
            "  a graph of 3 launches, among them",
            f"    aclnnIndexSelect  {line_of('# captured' + ' here')}",
        )
        # What was captured, or made anew for another input, did not run by itself.
        rows.gather(rows.bad)
        with pytest.raises(errors.DeviceError) as caught:
            ap.synchronize()
        text = str(caught.value)
        assert f"launched on stream {stream.id} since" in text
        assert text.count("launched on stream") == 1
        assert "the device reports this one" not in text
