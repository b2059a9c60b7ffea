# SPDX-License-Identifier: Apache-2.0
"""Inputs of graphs that are exchanged by address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py._ffi import C, ffi, lib


def tensor(*values: float) -> ap.Tensor:
    return ap.from_numpy(np.array(values, np.float32))


@pytest.fixture
def graph(device: ap.Device) -> Iterator[ap.Graph]:
    with ap.Graph() as graph:
        yield graph


def test_replays_take_what_was_bound_when_they_were_queued(graph: ap.Graph) -> None:
    x, y, total = tensor(1, 2), tensor(10, 20), tensor(0, 0)
    with graph.capture(inputs={"x": x, "y": y}):
        product = ap.functional.mul(x, y)
        ap.ops.add(total, product, 1.0, total)
        ap.ops.add(total, x, 1.0, total)
    assert graph.inputs == {"x": x, "y": y}
    graph.replay()
    other = tensor(3, 4)
    graph.rebind(x=other)
    assert graph.inputs["x"] is other
    graph.replay()
    graph.rebind(x=x, y=other)
    graph.replay()
    # x*y + x, for each of the three
    assert total.numpy().tolist() == [11 + 33 + 4, 42 + 84 + 10]


def test_views_and_lists_move_along(graph: ap.Graph) -> None:
    x = ap.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4))
    weight, joined, row = tensor(1, 1), ap.empty((2, 4), np.float32), ap.empty((4,), np.float32)
    with graph.capture(inputs={"x": x, "unused": weight}):
        ap.ops.cat([x[2:], x[:1]], 0, joined)
        ap.ops.add(x.T[1:, 1][:3], weight[:1], 0.5, row[:3])
    graph.replay()
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(joined.numpy(), host[[2, 0]])
    # Another offset and another piece of memory, the same layout.
    big = ap.from_numpy(np.arange(100, 140, dtype=np.float32).reshape(10, 4))
    graph.rebind(x=big[4:7], unused=tensor(8, 8))
    graph.replay()
    host = np.arange(100, 140, dtype=np.float32).reshape(10, 4)[4:7]
    assert np.array_equal(joined.numpy(), host[[2, 0]])
    assert np.array_equal(row[:3].numpy(), host[1, 1:] + np.float32(4))


def test_an_output_can_be_exchanged(graph: ap.Graph) -> None:
    x, first, second = tensor(1, 2), tensor(0, 0), tensor(0, 0)
    with graph.capture(inputs={"out": first}):
        ap.ops.add(x, x, 1.0, first)
    graph.rebind(out=second)
    graph.replay()
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([0, 0], [2, 4])


def test_on_a_side_stream_with_a_workspace(graph: ap.Graph, device: ap.Device) -> None:
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-4, 5, (24, 24)).astype(np.float16) for _ in range(3))
    x, w, other = ap.from_numpy(a), ap.from_numpy(b), ap.from_numpy(c)
    product = ap.empty((24, 24), np.float16)
    with device.create_stream() as side:
        with graph.capture(inputs={"x": x}) as main:
            side.wait_stream(main)
            ap.ops.matmul(x, w, product, 0, stream=side)
            main.wait_stream(side)
        graph.replay()
        assert np.array_equal(product.numpy(), a @ b)
    graph.rebind(x=other)
    graph.replay()
    assert np.array_equal(product.numpy(), (c.astype(np.float64) @ b).astype(np.float16))


def test_memory_goes_back_to_its_owner(graph: ap.Graph, device: ap.Device) -> None:
    x, out = tensor(0), tensor(0)
    with graph.capture(inputs={"x": x}):
        ap.ops.add(out, x, 1.0, out)
    del x

    def step(value: int) -> None:
        graph.rebind(x=tensor(value))
        graph.replay()

    step(0)
    out.numpy()
    device.synchronize()
    free = device.memory_info().free
    for value in range(200):
        step(value)
        if value % 20 == 19:
            out.numpy()
    assert out.numpy().tolist() == [sum(range(200))]
    device.synchronize()
    assert device.memory_info().free == free


def test_an_input_closed_too_early_is_named(graph: ap.Graph) -> None:
    x, out = tensor(1), tensor(0)
    with graph.capture(inputs={"x": x}):
        ap.ops.add(x, x, 1.0, out)
    graph.replay()
    x.close()  # the replay that is queued still has it
    with pytest.raises(errors.ClosedError, match="the input 'x' was closed; rebind it"):
        graph.replay()
    graph.rebind(x=tensor(5))
    graph.replay()
    assert out.numpy().tolist() == [10]
    y = tensor(1)
    another = ap.Graph()
    with (
        pytest.raises(errors.ClosedError, match=r"inputs\['y'\]"),
        another.capture(inputs={"y": y}),
    ):
        ap.ops.add(y, y, 1.0, out)
        y.close()
    another.close()


def test_other_captured_tensors_may_be_closed(graph: ap.Graph) -> None:
    x, weight, out = tensor(1, 2), tensor(3, 4), tensor(0, 0)
    with graph.capture(inputs={"x": x}):
        ap.ops.mul(x, weight, out)
    weight.close()
    tensor(9, 9), tensor(9, 9)  # would take the memory of the weight
    graph.rebind(x=tensor(10, 10))
    graph.replay()
    assert out.numpy().tolist() == [30, 40]


def test_mistakes(graph: ap.Graph, second_device: ap.Device) -> None:
    x, out = tensor(1, 2), tensor(0, 0)
    with pytest.raises(TypeError, match=r"inputs\['x'\]"):
        graph.capture(inputs={"x": 2.0}).__enter__()  # type: ignore[dict-item]
    far = ap.zeros((2,), np.float32, device=second_device)
    with pytest.raises(errors.DeviceMismatchError, match=r"inputs\['x'\]"):
        graph.capture(inputs={"x": far}).__enter__()
    with graph.capture(inputs={"x": x}):
        ap.ops.add(x, x, 1.0, out)
    closed = tensor(1, 2)
    closed.close()
    cases: list[tuple[dict[str, object], type[Exception], str]] = [
        ({"y": x}, ValueError, "y: no input of this graph; its inputs: x"),
        ({"x": np.zeros(2, np.float32)}, TypeError, "x: "),
        ({"x": tensor(1, 2, 3)}, ValueError, r"x: .*captured with"),
        ({"x": tensor(1, 2, 3, 4)[::2]}, ValueError, r"x: .*captured with"),
        ({"x": x.view(np.int32)}, ValueError, r"x: .*captured with"),
        ({"x": far}, errors.DeviceMismatchError, "x: on"),
        ({"x": closed}, errors.ClosedError, "x: "),
    ]
    for tensors, kind, text in cases:
        with pytest.raises(kind, match=text):
            graph.rebind(**tensors)  # type: ignore[arg-type]
    graph.replay()
    assert out.numpy().tolist() == [2, 4]


def test_what_cannot_be_exchanged_is_refused_in_the_capture(graph: ap.Graph) -> None:
    x, out = tensor(1, 2, 3), tensor(0, 0, 0)
    inputs = {"x": x[1:]}

    def refused(text: str) -> Any:
        return pytest.raises(errors.CaptureError, match=text)

    step = ap.plan(ap.ops.add, x, x, 1.0, out, repeatable=True)
    with refused("launch the operator itself"), graph.capture(inputs={"x": x}):
        step.run()
    step.close()
    with refused("without being a view"), graph.capture(inputs=inputs):
        ap.ops.add(x, x, 1.0, out)
    with refused("a copy or a collective uses the input 'x'"), graph.capture(inputs=inputs) as main:
        ap.ops.add(x[2:], x[2:], 1.0, out[2:])
        x.buffer.fill(0, stream=main)
    with graph.capture(inputs=inputs):
        ap.ops.add(x[:1], x[2:], 1.0, out[:1])
    graph.rebind(x=tensor(7, 8))
    x.close()  # its first element is not of the input: the graph keeps it
    graph.replay()
    assert out.numpy().tolist() == [9, 0, 0]


def test_a_library_without_task_groups_says_what_to_do(
    graph: ap.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tensor(1)
    has = C.has
    monkeypatch.setattr(type(C), "has", lambda _self, name: "TaskGrp" not in name and has(name))
    with pytest.raises(errors.NotSupportedError, match=r"aclmdlRICaptureTaskGrpBegin.*copy_from"):
        graph.capture(inputs={"x": x}).__enter__()
    with graph.capture():
        ap.ops.inplace_adds(x, 1.0, 1.0)
    graph.replay()
    assert x.numpy().tolist() == [2]


def test_a_rebind_that_fails_halfway_leaves_no_graph_to_replay(graph: ap.Graph) -> None:
    x, out = tensor(1), tensor(0)
    with graph.capture(inputs={"x": x}):
        ap.ops.add(x, x, 1.0, out)
    slot = lib.ap_slot_find(b"aclmdlRICaptureTaskUpdateBegin")
    own = lib.ap_slot_get(slot)
    refuse = ffi.callback("int32_t(void *, void *)", lambda *_: 107033)
    lib.ap_slot_set(slot, ffi.cast("void *", refuse))
    try:
        with pytest.raises(errors.InvalidArgumentError, match="TASK_GROUP_STATUS"):
            graph.rebind(x=tensor(2))
    finally:
        lib.ap_slot_set(slot, own)
    with pytest.raises(errors.CaptureError, match="capture it again") as caught:
        graph.replay()
    assert isinstance(caught.value.__cause__, errors.AclError)
