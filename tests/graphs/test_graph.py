# SPDX-License-Identifier: Apache-2.0
"""Graphs: what a replay computes, in which order, and on which streams."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.runtime.handle import live_handles


def floats(*values: float) -> ap.Tensor:
    return ap.from_numpy(np.array(values, np.float32))


def chain(x: ap.Tensor, out: ap.Tensor, stream: ap.Stream | None = None) -> None:
    """out = (2 x + 1)², with a result of its own in between."""
    one = ap.zeros(x.shape, x.dtype)
    ap.ops.inplace_adds(one, 1.0, 1.0, stream=stream)
    between = ap.empty(x.shape, x.dtype)
    ap.ops.add(one, x, 2.0, between, stream=stream)
    ap.ops.mul(between, between, out, stream=stream)


def expected(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (2 * x.astype(np.float64) + 1) ** 2


def test_capture_runs_nothing_and_every_replay_computes_again(device: ap.Device) -> None:
    x, out = floats(1, 2, 3), floats(0, 0, 0)
    with ap.Graph() as graph:
        with graph.capture():
            chain(x, out)
        device.synchronize()
        assert out.numpy().tolist() == [0, 0, 0]
        for values in ([1, 2, 3], [4, 5, 6], [-1, 0.5, 7]):
            host = np.array(values, np.float32)
            x.copy_from(host)
            graph.replay()
            assert np.array_equal(out.numpy(), expected(host))


def test_results_made_inside_the_capture_are_read_outside(device: ap.Device) -> None:
    x = floats(3, 4)
    with ap.Graph() as graph:
        with graph.capture():
            result = ap.functional.mul(ap.functional.add(x, x), x)
        graph.replay()
        assert result.numpy().tolist() == [18, 32]
        x.copy_from(np.array([1, 10], np.float32))
        graph.replay()
        assert result.numpy().tolist() == [2, 200]
    assert result.numpy().tolist() == [2, 200], "the tensor outlives the graph"


def test_copies_and_fills_are_recorded(device: ap.Device) -> None:
    x, y, pinned = floats(1, 2), floats(0, 0), ap.HostBuffer(8)
    view = pinned.numpy().view(np.float32)
    with ap.Graph() as graph:
        with graph.capture() as main:
            x.buffer.write(pinned, stream=main)
            y.copy_from(x, stream=main)
            x.buffer.fill(0, stream=main)
        for values in ((5.0, 6.0), (7.0, 8.0)):
            view[:] = values
            graph.replay()
            assert y.numpy().tolist() == list(values)
            assert x.numpy().tolist() == [0, 0]


def test_a_plan_can_be_recorded_and_rebound_afterwards(device: ap.Device) -> None:
    x, y, out = floats(1, 2), floats(10, 20), ap.empty((2,), np.float32)
    with ap.plan(ap.ops.add, x, x, 1.0, out, repeatable=True) as step, ap.Graph() as graph:
        with graph.capture():
            step.run()
        step.rebind(other=y)  # of the plan: the graph has the address it recorded
        graph.replay()
        assert out.numpy().tolist() == [2, 4]


def test_side_streams_fork_and_join(device: ap.Device) -> None:
    x = floats(1, 2, 3)
    left, right, out = (ap.empty((3,), np.float32) for _ in range(3))
    with device.create_stream() as first, device.create_stream() as second, ap.Graph() as graph:
        with graph.capture() as main:
            first.wait_stream(main)
            ap.ops.add(x, x, 1.0, left, stream=first)
            second.wait_stream(first)
            ap.ops.mul(left, x, right, stream=second)
            chain(x, out)
            main.wait_stream(second)
            ap.ops.add(out, right, 1.0, out)
            with pytest.raises(errors.CaptureError, match=r"Stream\.close"):
                first.close()
        ap.ops.inplace_fill_scalar(left, 0.0, stream=first)  # an ordinary stream again
        first.synchronize()
        assert left.numpy().tolist() == [0, 0, 0]
        for values in ([1, 2, 3], [4, 5, 6]):
            host = np.array(values, np.float32)
            x.copy_from(host)
            graph.replay()
            assert np.array_equal(out.numpy(), expected(host) + 2 * host * host)


def test_a_side_stream_that_does_not_come_back_is_named(device: ap.Device) -> None:
    x, out = floats(1), floats(0)
    with device.create_stream() as joined, device.create_stream() as lost, ap.Graph() as graph:
        with pytest.raises(errors.CaptureError) as caught, graph.capture() as main:
            for side in (joined, lost):
                side.wait_stream(main)
                ap.ops.add(x, x, 1.0, out, stream=side)
            main.wait_stream(joined)
        assert repr(lost) in str(caught.value)
        assert repr(joined) not in str(caught.value)
        for stream in (joined, lost):
            ap.ops.add(x, x, 1.0, out, stream=stream)
            stream.synchronize()
        with graph.capture():
            ap.ops.add(out, x, 1.0, out)
        graph.replay()
        assert out.numpy().tolist() == [3]


def test_a_replay_has_its_place_among_other_work(device: ap.Device, stream: ap.Stream) -> None:
    x, out = floats(1), floats(0)
    with ap.Graph() as graph:
        with graph.capture(stream) as main:
            assert main is stream
            ap.ops.add(out, x, 1.0, out)
        for _ in range(50):
            graph.replay()
            ap.ops.inplace_muls(out, 2.0)
        value = 0
        for _ in range(50):
            value = (value + 1) * 2
        # Exact as long as it fits in the mantissa; float32 rounds the rest the same way.
        host = np.float32(0)
        for _ in range(50):
            host = np.float32(np.float32(host + 1) * 2)
        assert out.numpy()[0] == host
        assert value > 0


def test_replays_on_several_streams_run_one_after_the_other(device: ap.Device) -> None:
    x, total = floats(1), floats(0)
    streams = [device.create_stream() for _ in range(3)]
    with ap.Graph() as graph:
        with graph.capture():
            for _ in range(8):
                ap.ops.add(total, x, 1.0, total)
        for turn in range(60):
            graph.replay(streams[turn % 3])
        assert total.numpy().tolist() == [480], "reading waits for all of them"
    for stream in streams:
        stream.close()


@pytest.mark.usefixtures("eager_switches")
def test_threads_share_a_graph(device: ap.Device) -> None:
    """Each replay waits for the one before, on a stream that its thread may be closing."""
    x, total = floats(1), floats(0)
    failures: list[BaseException] = []
    with ap.Graph() as graph:
        with graph.capture():
            for _ in range(4):
                ap.ops.add(total, x, 1.0, total)

        def work() -> None:
            try:
                for _ in range(20):
                    with device.create_stream():
                        for _ in range(4):
                            graph.replay()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert total.numpy().tolist() == [1280]


def test_two_graphs_share_weights(device: ap.Device) -> None:
    w = floats(2, 3)
    graphs, inputs, outputs = [], [], []
    for _ in range(6):  # more than a buffer has marks for
        x, out, graph = floats(0, 0), floats(0, 0), ap.Graph()
        with graph.capture():
            ap.ops.mul(x, w, out)
        graphs.append(graph), inputs.append(x), outputs.append(out)
    for number, (graph, x, out) in enumerate(zip(graphs, inputs, outputs, strict=True)):
        x.copy_from(np.full(2, number, np.float32))
        graph.replay()
        assert out.numpy().tolist() == [2 * number, 3 * number]
    for graph in graphs[:-1]:
        graph.close()
    graphs[-1].replay()
    assert outputs[-1].numpy().tolist() == [10, 15]
    graphs[-1].close()


@pytest.mark.parametrize("mode", ["global", "thread", "relaxed"])
def test_modes(device: ap.Device, mode: str) -> None:
    x, other = floats(1, 2), floats(3, 4)
    with ap.Graph() as graph:
        with graph.capture(mode=mode):
            out = ap.functional.add(x, x)
            if mode == "relaxed":
                assert other.numpy().tolist() == [3, 4]
            else:
                with pytest.raises(errors.CaptureError, match=r"Tensor\.numpy"):
                    other.numpy()
        graph.replay()
        assert out.numpy().tolist() == [2, 4]


def test_strict_mode_looks_at_captured_launches_too(device: ap.Device) -> None:
    x, out = floats(1, 2), floats(0, 0)
    with ap.Graph() as graph, ap.strict():
        with pytest.raises(ValueError, match="strict"), graph.capture():
            ap.ops.softmax(ap.empty((2,), np.int32), 0, out)
        with graph.capture():
            ap.ops.add(x, x, 1.0, out)
        graph.replay()
        assert out.numpy().tolist() == [2, 4]


def test_text_and_properties(device: ap.Device) -> None:
    graph = ap.Graph()
    assert (graph.device, graph.captured, graph.inputs) == (device, False, {})
    assert repr(graph) == "<Graph device 0, empty>"
    with graph.capture():
        ap.functional.add(floats_inside(device), floats_inside(device))
    assert repr(graph) == "<Graph device 0, captured>"
    graph.close()
    graph.close()
    assert repr(graph) == "<Graph closed>"
    assert live_handles().get("Graph", 0) == 0


def floats_inside(device: ap.Device) -> ap.Tensor:
    return ap.zeros((2,), np.float32, device=device)
