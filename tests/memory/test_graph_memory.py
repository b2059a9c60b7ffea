# SPDX-License-Identifier: Apache-2.0
"""Memory allocated in captures: used again inside, shared between graphs, and given back."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from helpers.gates import held

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py import functional as F
from aclnn_py.memory.allocator import device_allocator

COUNT = 3 << 20
NBYTES = COUNT * 4  # of this size every segment holds one


@pytest.fixture(autouse=True)
def caching(device: ap.Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The caching allocator, whatever the environment chose, with nothing in it."""
    monkeypatch.setattr(device_allocator(device), "caching", True)
    gc.collect()
    ap.trim_memory(device)
    yield
    gc.collect()
    ap.trim_memory(device)


def reserved(device: ap.Device) -> int:
    return ap.memory_stats(device).reserved_nbytes


def ones(value: float = 1.0) -> ap.Tensor:
    return ap.full((COUNT,), value, np.float32)


def chain(x: ap.Tensor, length: int, out: ap.Tensor) -> None:
    """out = x + length, in steps with a result each."""
    for _ in range(length - 1):
        x = F.add(x, 1.0)
    ap.ops.adds(x, 1.0, 1.0, out)


def test_a_chain_of_results_needs_two_pieces_of_memory(device: ap.Device) -> None:
    x, out = ones(), ones()
    before = reserved(device)
    with ap.Graph() as graph:
        with graph.capture():
            chain(x, 12, out)
        assert reserved(device) - before <= 2 * (NBYTES + (2 << 20))
        for start in (1, 5):
            x.fill(start)
            for _ in range(3):
                graph.replay()
            assert set(out.numpy().tolist()) == {start + 12.0}


def test_what_a_capture_released_is_not_for_others(device: ap.Device) -> None:
    x, out = ones(), ones()
    with ap.Graph() as graph:
        with graph.capture():
            inside = F.add(x, x)
            address = inside.address
            ap.ops.add(inside, x, 1.0, out)
            del inside
        others = [ap.Buffer.allocate(NBYTES) for _ in range(3)]
        assert address not in [other.address for other in others]
        del others
    kept = [ap.Buffer.allocate(NBYTES) for _ in range(3)]
    assert address in [buffer.address for buffer in kept]


def test_what_was_allocated_before_is_not_used_again_inside(device: ap.Device) -> None:
    x, weight, out = ones(1), ones(7), ones(0)
    address = weight.address
    with ap.Graph() as graph:
        with graph.capture():
            product = F.mul(x, weight)
            del weight
            later = F.add(product, 1.0)
            assert later.address != address
            ap.ops.adds(later, 1.0, 1.0, out)
            del product, later
        for _ in range(2):
            graph.replay()
            assert float(out.numpy()[0]) == 9.0


@pytest.mark.parametrize("sharing", [False, True])
def test_results_are_not_used_again_while_the_graph_lives(device: ap.Device, sharing: bool) -> None:
    x, out = ones(2), ones(0)
    with ap.Graph() as graph:
        with graph.capture():
            result = F.mul(x, x)
        address = result.address
        with ap.Graph(memory_of=graph if sharing else None) as other:
            with other.capture():
                ap.ops.adds(result, 1.0, 1.0, out)
                del result
                taken = [F.add(x, 1.0) for _ in range(3)]
            assert address not in [tensor.address for tensor in taken]
            graph.replay()
            for _ in range(2):
                other.replay()
                assert float(out.numpy()[0]) == 5.0
            del taken
        again = [ap.Buffer.allocate(NBYTES) for _ in range(4)]
        assert address not in [buffer.address for buffer in again]
        del again


def test_graphs_that_share_need_as_much_as_the_largest(device: ap.Device) -> None:
    x = ones()
    outs = [ones(0) for _ in range(4)]
    before = reserved(device)
    graphs: list[ap.Graph] = []
    for out in outs:
        graphs.append(ap.Graph(memory_of=graphs[0] if graphs else None))
        with graphs[-1].capture():
            chain(x, 3 + len(graphs), out)
    assert reserved(device) - before <= 2 * (NBYTES + (2 << 20))
    with device.create_stream() as side:
        for turn in range(12):
            graphs[turn % 4].replay(side if turn % 3 else None)
        device.synchronize()
    assert [float(out.numpy()[-1]) for out in outs] == [5.0, 6.0, 7.0, 8.0]
    # The memory goes with the last of them, whatever their order.
    graphs.pop(0).close()
    x.fill(10)
    for graph in graphs:
        graph.replay()
    others = [ones(-1) for _ in range(3)]
    device.synchronize()
    assert [float(out.numpy()[0]) for out in outs] == [5.0, 15.0, 16.0, 17.0]
    assert all(float(other.numpy().max()) == -1 for other in others)
    del others
    while graphs:
        graphs.pop().close()
    device.synchronize()
    ap.trim_memory(device)
    assert reserved(device) <= before


def test_a_closed_graph_does_not_wait_for_those_it_shared_with(device: ap.Device) -> None:
    x, out = ones(1), ones(0)
    first = ap.Graph()
    second = ap.Graph(memory_of=first)
    for graph in (first, second):
        with graph.capture():
            chain(x, 3, out)
    first.replay()
    device.synchronize()
    state = first.raw
    with device.create_stream() as side, held(side):
        second.replay(side)
        first.close()
        assert state.model is None
    second.replay()
    assert float(out.numpy()[0]) == 4.0
    second.close()


def test_relaxed_captures_keep_what_the_host_writes(device: ap.Device) -> None:
    x, out = ones(1), ones(0)
    with ap.Graph() as graph:
        with graph.capture(mode="relaxed"):
            constant = ap.empty((COUNT,), np.float32)
            constant.copy_from(np.full(COUNT, 3, np.float32))
            product = F.mul(x, constant)
            del constant
            later = F.add(product, 1.0)
            ap.ops.adds(later, 1.0, 1.0, out)
            del product, later
        for _ in range(2):
            graph.replay()
            assert float(out.numpy()[0]) == 5.0


def test_memory_of_several_streams_waits_for_the_end(device: ap.Device) -> None:
    x, out = ones(1), ones(0)
    with device.create_stream() as side, ap.Graph() as graph:
        with graph.capture() as main:
            both = F.add(x, 1.0)
            side.wait_stream(main)
            with side.use():
                other = F.mul(both, 2.0)
            address = both.address
            ap.ops.adds(both, 0.0, 1.0, out)
            del both  # side may still read it, for all that main knows
            assert F.add(x, 5.0).address != address
            main.wait_stream(side)
            ap.ops.add(out, other, 1.0, out)
            del other
        graph.replay()
        assert float(out.numpy()[0]) == 6.0
        with ap.Graph(memory_of=graph) as later:
            with later.capture():
                taken = [F.add(x, 1.0) for _ in range(3)]
                assert address in [tensor.address for tensor in taken]
            del taken


def test_an_undone_capture_leaves_nothing(device: ap.Device) -> None:
    x = ones()
    before = reserved(device)
    graph = ap.Graph()
    with pytest.raises(RuntimeError, match="on purpose"), graph.capture():
        kept = F.add(F.add(x, 1.0), 1.0)
        raise RuntimeError("on purpose")
    del kept
    ap.trim_memory(device)
    assert reserved(device) <= before
    with graph.capture():
        result = F.add(x, 1.0)
    graph.replay()
    assert float(result.numpy()[0]) == 2.0
    graph.close()


def test_a_result_outlives_its_graph(device: ap.Device) -> None:
    x = ones(3)
    with ap.Graph() as first, ap.Graph(memory_of=first) as second:
        with first.capture():
            result = F.mul(x, x)
        with second.capture():
            chain(x, 3, x)
        first.replay()
        first.close()
        assert float(result.numpy()[0]) == 9.0
        second.replay()
        assert float(result.numpy()[0]) == 9.0
    assert float(result.numpy()[0]) == 9.0
    assert float(x.numpy()[0]) == 6.0


def test_mistakes(device: ap.Device) -> None:
    with pytest.raises(TypeError, match="memory_of: expected a Graph or None, got int"):
        ap.Graph(memory_of=3)  # type: ignore[arg-type]
    graph = ap.Graph()
    graph.close()
    with pytest.raises(errors.ClosedError, match="Graph is closed"):
        ap.Graph(memory_of=graph)


def test_graphs_of_two_devices_share_nothing(device: ap.Device, second_device: ap.Device) -> None:
    with (
        ap.Graph(second_device) as there,
        pytest.raises(
            errors.DeviceMismatchError, match=r"memory_of: <Graph device 1, .*Device\(0\)"
        ),
    ):
        ap.Graph(device, memory_of=there)


class Program:
    """Random steps on random streams: results are made, read and released."""

    def __init__(self, seed: int, streams: int) -> None:
        rng = np.random.default_rng(seed)
        self.sizes = [int(size) for size in rng.choice([40, 3000, 70000, 400000], 30)]
        self.steps = [
            (int(rng.integers(streams)), *(int(n) for n in rng.integers(1 << 30, size=3)))
            for _ in self.sizes
        ]

    def on_device(self, x: ap.Tensor, out: ap.Tensor, streams: list[ap.Stream]) -> None:
        main, live = streams[0], [(x, streams[0])]
        for size, (where, one, two, gone) in zip(self.sizes, self.steps, strict=True):
            stream = streams[where]
            operands = [live[one % len(live)], live[two % len(live)]]
            for _tensor, writer in [*operands, (x, main)]:
                if writer is not stream:
                    stream.wait_stream(writer)
            with stream.use():
                left, right = (tensor[: min(size, len(tensor))] for tensor, _writer in operands)
                short = min(len(left), len(right))
                live.append((F.sub(left[:short], F.mul(right[:short], 0.5)), stream))
            if gone % 3 and len(live) > 2:
                del live[1 + gone % (len(live) - 1)]
        for tensor, writer in live:
            if writer is not main:
                main.wait_stream(writer)
            with main.use():
                ap.ops.inplace_add(out[: len(tensor)], tensor, 1.0)
        for stream in streams[1:]:
            main.wait_stream(stream)

    def on_host(self, x: np.ndarray) -> np.ndarray:
        live = [x]
        for size, (_where, one, two, gone) in zip(self.sizes, self.steps, strict=True):
            left, right = live[one % len(live)][:size], live[two % len(live)][:size]
            short = min(len(left), len(right))
            live.append(left[:short] - right[:short] * np.float32(0.5))
            if gone % 3 and len(live) > 2:
                del live[1 + gone % (len(live) - 1)]
        out = np.zeros_like(x)
        for array in live:
            out[: len(array)] += array
        return out


@pytest.mark.parametrize("streams", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_random_programs_compute_the_same_captured(
    device: ap.Device, seed: int, streams: int
) -> None:
    """Two programs whose graphs share memory, replayed in turns, to the last bit."""
    rng = np.random.default_rng(seed)
    programs = [Program(2 * seed, streams), Program(2 * seed + 1, streams)]
    size = 400000
    x = ap.zeros((size,), np.float32)
    outs = [ap.zeros((size,), np.float32) for _ in programs]
    sides = [device.create_stream() for _ in range(streams - 1)]
    first = ap.Graph()
    graphs = [first, ap.Graph(memory_of=first)]
    for program, graph, out in zip(programs, graphs, outs, strict=True):
        with graph.capture() as main:
            ap.ops.inplace_zero(out)
            for side in sides:
                side.wait_stream(main)
            program.on_device(x, out, [main, *sides])
    for _ in range(2):
        values = rng.integers(-64, 64, size).astype(np.float32)
        x.copy_from(values)
        for graph in graphs:
            graph.replay()
        for program, out in zip(programs, outs, strict=True):
            np.testing.assert_array_equal(out.numpy(), program.on_host(values))
    for closing in [*graphs, *sides]:
        closing.close()
