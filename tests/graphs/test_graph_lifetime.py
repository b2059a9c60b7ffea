# SPDX-License-Identifier: Apache-2.0
"""What a graph keeps alive, what it does not, and what is left in the end."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.memory.allocator import device_allocator
from aclnn_py.runtime.handle import live_handles


def tensor(*values: float) -> ap.Tensor:
    return ap.from_numpy(np.array(values, np.float32))


def used(device: ap.Device) -> int:
    device.synchronize()
    device_allocator(device).trim()  # what no buffer uses goes back to the device
    info = device.memory_info()
    return info.total - info.free


@pytest.mark.parametrize("how", ["close", "drop"])
def test_captured_memory_lives_as_long_as_the_graph(device: ap.Device, how: str) -> None:
    out = tensor(0, 0)
    before = used(device)
    graph = ap.Graph()
    x, y = tensor(1, 2), tensor(3, 4)
    with graph.capture():
        between = ap.functional.add(x, y)
        ap.ops.mul(between, between, out)
    if how == "close":
        for held in (x, y, between):
            held.close()
    del x, y, between
    gc.collect()
    # Whoever allocates now must not get what the graph works on.
    others = [ap.from_numpy(np.full(2, 100 + i, np.float32)) for i in range(8)]
    graph.replay()
    assert out.numpy().tolist() == [16, 36]
    assert [int(other.numpy()[0]) for other in others] == [100 + i for i in range(8)]
    del others
    if how == "close":
        graph.close()
    else:
        del graph
    gc.collect()
    assert used(device) <= before


def test_a_closed_graph_finishes_its_replays(device: ap.Device) -> None:
    total = tensor(0)
    graph = ap.Graph()
    with graph.capture():
        one = ap.zeros((1,), np.float32)
        ap.ops.inplace_adds(one, 1.0, 1.0)
        for _ in range(16):
            ap.ops.add(total, one, 1.0, total)
    del one
    for _ in range(50):
        graph.replay()
    graph.close()
    assert total.numpy().tolist() == [800]
    with pytest.raises(errors.ClosedError, match="Graph is closed"):
        graph.replay()


def test_a_graph_does_not_keep_streams_open(device: ap.Device) -> None:
    x = tensor(1)
    side = device.create_stream()
    seen = weakref.ref(side)
    with ap.Graph() as graph:
        with graph.capture() as main:
            side.wait_stream(main)
            ap.ops.inplace_adds(x, 1.0, 1.0, stream=side)
            main.wait_stream(side)
        graph.replay(side)
        side.close()
        del side
        gc.collect()
        assert seen() is None
        graph.replay()
        assert x.numpy().tolist() == [3]


def test_nothing_grows_over_a_thousand_replays(device: ap.Device) -> None:
    x, out = ap.zeros((64,), np.float32), ap.zeros((64,), np.float32)
    with device.create_stream() as side, ap.Graph() as graph:
        with graph.capture(inputs={"x": x}):
            ap.ops.add(ap.functional.mul(x, x), x, 1.0, out)

        def steps(count: int) -> None:
            for step in range(count):
                graph.rebind(x=ap.zeros((64,), np.float32))
                graph.replay(side if step % 5 == 0 else None)
                if step % 50 == 49:
                    assert not out.numpy().any()

        steps(100)
        gc.collect()
        handles, memory = live_handles(), used(device)
        steps(1000)
        gc.collect()
        assert used(device) <= memory
        now = live_handles()
        # Events of the switch between streams wait until the device has been asked.
        assert {kind: now[kind] - count for kind, count in handles.items() if kind != "Event"} == {
            kind: 0 for kind in handles if kind != "Event"
        }
        assert now.get("Event", 0) <= handles.get("Event", 0) + 128


def test_graphs_come_and_go(device: ap.Device) -> None:
    x, out = tensor(1, 2), tensor(0, 0)

    def one() -> None:
        graph = ap.Graph()
        with graph.capture():
            ap.ops.add(ap.functional.mul(x, x), x, 1.0, out)
        graph.replay()
        if len(graphs) > 3:
            graphs.pop(0).close()
        graphs.append(graph)

    graphs: list[ap.Graph] = []
    for _ in range(10):
        one()
    gc.collect()
    memory, handles = used(device), live_handles()
    for _ in range(40):
        one()
    assert used(device) <= memory
    gc.collect()
    assert live_handles() == handles
    assert out.numpy().tolist() == [2, 6]
    for graph in graphs:
        graph.close()


def test_a_weight_of_many_graphs_is_freed_with_the_last_that_uses_it(device: ap.Device) -> None:
    out = tensor(0, 0)
    with ap.Graph() as unrelated:
        with unrelated.capture():
            ap.ops.inplace_adds(out, 0.0, 1.0)
        before = used(device)
        weight = ap.zeros((1 << 20,), np.float32)
        graphs = [ap.Graph() for _ in range(7)]  # more than a buffer has marks for
        for graph in graphs:
            with graph.capture():
                ap.ops.inplace_adds(weight, 1.0, 1.0)
            graph.replay()
        assert weight[:1].numpy().tolist() == [7]
        weight.close()
        del weight
        for graph in graphs:
            assert used(device) >= before + (4 << 20)
            graph.close()
        assert used(device) < before + (4 << 20)


def test_capture_and_replay_in_threads_beside_ordinary_work(device: ap.Device) -> None:
    failures: list[BaseException] = []
    turn = threading.Lock()  # one capture at a time on a device

    def work(number: int) -> None:
        try:
            with device.create_stream():
                x, out = tensor(number), tensor(0)
                for _ in range(5):
                    with ap.Graph() as graph:
                        with turn, graph.capture():
                            ap.ops.add(ap.functional.mul(x, x), x, 1.0, out)
                        for _ in range(10):
                            graph.replay()
                        assert out.numpy().tolist() == [number * number + number]
        except BaseException as error:
            failures.append(error)

    def noise() -> None:
        try:
            with device.create_stream():
                y = tensor(1)
                while not done.is_set():
                    ap.ops.inplace_adds(y, 1.0, 1.0)
                    y.numpy()
        except BaseException as error:
            failures.append(error)

    done = threading.Event()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    background = threading.Thread(target=noise)
    for thread in (*threads, background):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    background.join()
    assert not failures


def test_replays_wait_for_who_had_the_memory_before(device: ap.Device) -> None:
    out = ap.zeros((1 << 16,), np.float32)
    with device.create_stream() as before, device.create_stream() as after, ap.Graph() as graph:
        with before.use():
            old = ap.zeros((1 << 16,), np.float32)
            for _ in range(60):
                ap.ops.inplace_adds(old, 1.0, 1.0)
            del old
            x = ap.empty((1 << 16,), np.float32)  # what is being worked on, if the pool has it
        with graph.capture():
            ap.ops.inplace_fill_scalar(x, 5.0)
            ap.ops.add(x, x, 1.0, out)
        graph.replay(after)
        assert not (out.numpy() - 10).any()
        before.synchronize()
        assert not (x.numpy() - 5).any()
