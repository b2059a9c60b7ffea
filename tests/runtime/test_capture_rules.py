# SPDX-License-Identifier: Apache-2.0
"""What a capture forbids is refused by name, and leaves everything usable."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py._ffi import C
from aclnn_py.runtime.handle import live_handles


@dataclass
class World:
    """What the forbidden calls are made on."""

    device: ap.Device
    x: ap.Tensor
    other: ap.Stream
    before: ap.Event
    graph: ap.Graph
    done: ap.Graph
    main: ap.Stream


@pytest.fixture
def world(device: ap.Device) -> Iterator[World]:
    x = ap.from_numpy(np.arange(4, dtype=np.float32))
    with (
        device.create_stream() as other,
        other.record() as before,
        ap.Graph() as graph,
        ap.Graph() as done,
    ):
        with done.capture():
            ap.ops.inplace_adds(x, 0.0, 1.0)
        yield World(device, x, other, before, graph, done, other)
    x.close()


def captured_event(w: World) -> ap.Event:
    return w.main.record()


# Name in the error, and the call.
FORBIDDEN: dict[str, Callable[[World], object]] = {
    "Tensor.numpy": lambda w: w.x.numpy(),
    "Tensor.numpy of asarray": lambda w: np.asarray(w.x),
    "Tensor.numpy of item": lambda w: w.x[0:1].item(),
    "Tensor.copy_from": lambda w: w.x.copy_from(np.zeros(4, np.float32)),
    "Tensor.copy_from a tensor": lambda w: w.x.copy_from(w.x),
    "from_numpy": lambda w: ap.from_numpy(np.zeros(4)),
    "from_numpy of full": lambda w: ap.full((4,), 1, np.float32),
    "Buffer.read": lambda w: w.x.buffer.read(),
    "Buffer.write": lambda w: w.x.buffer.write(bytes(16)),
    "Buffer.copy_from": lambda w: w.x.buffer.copy_from(w.x.buffer),
    "Buffer.fill": lambda w: w.x.buffer.fill(0),
    "Buffer.write pageable": lambda w: w.x.buffer.write(bytes(16), stream=w.main),
    "Buffer.read pageable": lambda w: w.x.buffer.read(stream=w.main),
    "Stream.synchronize": lambda w: w.main.synchronize(),
    "Stream.synchronize another": lambda w: w.other.synchronize(),
    "Stream.query": lambda w: w.main.query(),
    "Stream.close": lambda w: w.main.close(),
    "Device.synchronize": lambda w: w.device.synchronize(),
    "Device.synchronize of the module": lambda w: ap.synchronize(),
    "Event.synchronize": lambda w: captured_event(w).synchronize(),
    "Event.synchronize another": lambda w: w.before.synchronize(),
    "Event.query": lambda w: captured_event(w).query(),
    "Event.elapsed_ms": lambda w: w.before.elapsed_ms(w.before),
    "Event.close": lambda w: captured_event(w).close(),
    "Event.wait": lambda w: w.main.wait(w.before),
    "Event.wait for a stream outside": lambda w: w.main.wait_stream(w.other),
    "Graph.close": lambda w: w.graph.close(),
    "Graph.capture": lambda w: w.graph.capture().__enter__(),
    "Graph.capture another": lambda w: ap.Graph().capture().__enter__(),
    "Graph.replay": lambda w: w.done.replay(),
    "Graph.replay elsewhere": lambda w: w.done.replay(w.other),
    "Graph.rebind": lambda w: w.done.rebind(),
    "aclnnInplaceAdds": lambda w: ap.ops.inplace_adds(w.x, 1.0, 1.0, stream=w.other),
    "aclnnInplaceAdds of a plan": lambda w: ap.plan(ap.ops.inplace_adds, w.x, 1.0, 1.0).run(
        w.other
    ),
    "Buffer.fill elsewhere": lambda w: w.x.buffer.fill(0, stream=w.other),
    "Buffer.copy_from elsewhere": lambda w: w.x.copy_from(w.x, stream=w.other),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_refused_by_name(world: World, what: str) -> None:
    call = what.split()[0]
    before = world.x.numpy()
    with pytest.raises(errors.CaptureError) as caught, world.graph.capture() as main:
        ap.ops.inplace_adds(world.x, 5.0, 1.0)
        world.main = main
        FORBIDDEN[what](world)
    assert caught.value.call == call
    assert str(caught.value).startswith(f"{call}: ")
    advice = str(caught.value).replace(";", ".").split(". ")
    assert len(advice) > 1, "the text says what to do"
    # Everything is usable afterwards, and nothing that was recorded runs.
    assert not world.graph.captured
    assert np.array_equal(world.x.numpy(), before)
    with world.graph.capture():
        ap.ops.inplace_adds(world.x, 1.0, 1.0)
    world.graph.replay(world.other)
    world.done.replay()
    assert np.array_equal(world.x.numpy(), before + 1)


@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_refusal_that_is_caught_changes_nothing(world: World, what: str) -> None:
    before = world.x.numpy()
    with world.graph.capture() as main:
        world.main = main
        ap.ops.inplace_adds(world.x, 5.0, 1.0)
        with pytest.raises(errors.CaptureError):
            FORBIDDEN[what](world)
        ap.ops.inplace_adds(world.x, 2.0, 1.0)
    world.graph.replay()
    assert np.array_equal(world.x.numpy(), before + 7)


def test_looking_at_a_tensor_is_no_mistake(world: World) -> None:
    with world.graph.capture():
        assert "unreadable: CaptureError" in repr(world.x)


@pytest.mark.parametrize("error", [KeyError("mine"), KeyboardInterrupt(), errors.ClosedError("x")])
def test_an_exception_in_the_block_is_kept(world: World, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, world.graph.capture() as main:
        ap.functional.add(world.x, world.x)
        world.other.wait_stream(main)
        ap.functional.mul(world.x, world.x, stream=world.other)  # not joined back
        raise error
    assert caught.value is error
    assert not world.graph.captured
    ap.ops.inplace_adds(world.x, 1.0, 1.0, stream=world.other)
    world.other.synchronize()


def test_a_launch_that_the_library_refuses_aborts(world: World) -> None:
    with pytest.raises(errors.AclnnError), world.graph.capture():
        ap.ops.add(world.x, ap.empty((3,), np.float32), 1.0, world.x)
    assert not world.graph.captured
    with world.graph.capture():
        ap.ops.inplace_adds(world.x, 1.0, 1.0)


def test_a_capture_that_other_code_made_invalid_ends_in_the_error_of_the_library(
    world: World,
) -> None:
    with pytest.raises(errors.DeviceError, match="507903"), world.graph.capture() as main:
        ap.ops.inplace_adds(world.x, 1.0, 1.0)
        assert C.aclrtSynchronizeStream(main.raw) != 0
    with world.graph.capture():
        ap.ops.inplace_adds(world.x, 1.0, 1.0)


def in_thread(work: Callable[[], None]) -> list[BaseException]:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    return failures


def test_one_capture_at_a_time_on_a_device(world: World) -> None:
    def second() -> None:
        with ap.Graph() as graph, graph.capture():
            pass

    with world.graph.capture():
        ap.ops.inplace_adds(world.x, 1.0, 1.0)
        (error,) = in_thread(second)
        assert isinstance(error, errors.CaptureError)
        assert "device 0" in str(error)
    assert not in_thread(second)
    world.graph.replay()


def test_captures_on_two_devices_go_on_side_by_side(world: World, second_device: ap.Device) -> None:
    def second() -> None:
        with second_device, ap.Graph() as graph:
            y = ap.zeros((2,), np.float32)
            with graph.capture():
                ap.ops.inplace_adds(y, 3.0, 1.0)
            graph.replay()
            assert y.numpy().tolist() == [3, 3]

    before = world.x.numpy()
    with world.graph.capture():
        ap.ops.inplace_adds(world.x, 1.0, 1.0)
        assert not in_thread(second)
    world.graph.replay()
    assert np.array_equal(world.x.numpy(), before + 1)


@pytest.mark.parametrize("mode", ["thread", "global", "relaxed"])
def test_what_other_threads_may_do(world: World, mode: str) -> None:
    y = ap.from_numpy(np.ones(3, np.float32))

    def copies() -> None:
        assert y.numpy().tolist() == [1, 1, 1]

    def launches() -> None:
        with world.device.create_stream():
            ap.ops.inplace_adds(y, 0.0, 1.0)

    def waits() -> None:
        world.device.synchronize()

    def intrudes() -> None:
        ap.ops.inplace_adds(y, 1.0, 1.0, stream=world.other)

    before = world.x.numpy()
    with world.other.use(), world.graph.capture(world.other, mode=mode):
        ap.ops.inplace_adds(world.x, 1.0, 1.0)
        assert not in_thread(launches)
        failures = in_thread(copies)
        assert [type(error) for error in failures] == [errors.CaptureError] * (mode == "global")
        (error,) = in_thread(waits)
        assert isinstance(error, errors.CaptureError)
    world.graph.replay()
    assert np.array_equal(world.x.numpy(), before + 1)


def test_a_stream_that_is_captured_takes_no_work_of_other_threads(world: World) -> None:
    entered, leave = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def intruder() -> None:
        with world.other.use():
            entered.set()
            leave.wait(60)
            try:
                ap.ops.inplace_adds(world.x, 100.0, 1.0)
            except errors.CaptureError as error:
                failures.append(error)

    thread = threading.Thread(target=intruder)
    thread.start()
    entered.wait(60)
    before = world.x.numpy()
    with world.graph.capture(world.other):
        ap.ops.inplace_adds(world.x, 1.0, 1.0)
        leave.set()
        thread.join(60)
    assert [error.call for error in failures] == ["aclnnInplaceAdds"]
    world.graph.replay()
    assert np.array_equal(world.x.numpy(), before + 1)


def test_mistakes_of_the_caller(world: World, second_device: ap.Device) -> None:
    graph = world.graph
    with pytest.raises(errors.CaptureError, match="nothing was captured"):
        graph.replay()
    with pytest.raises(ValueError, match="mode: expected one of global, thread, relaxed"):
        graph.capture(mode="safe").__enter__()
    with pytest.raises(TypeError, match="stream: expected a Stream"):
        graph.capture(3).__enter__()  # type: ignore[arg-type]
    with second_device.create_stream() as far:
        with pytest.raises(errors.DeviceMismatchError):
            graph.capture(far).__enter__()
        with pytest.raises(errors.DeviceMismatchError):
            world.done.replay(far)
    with pytest.raises(errors.CaptureError, match="captured before"):
        world.done.capture().__enter__()
    world.done.close()
    for call in (world.done.replay, world.done.rebind, lambda: world.done.capture().__enter__()):
        with pytest.raises(errors.ClosedError):
            call()


def test_a_library_without_capture_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        monkeypatch.delitem(C.__dict__, name, raising=False)
        monkeypatch.setattr(
            type(C),
            "__getattr__",
            lambda _self, wanted: (_ for _ in ()).throw(
                errors.SymbolNotFoundError(wanted, libraries=["libascendcl.so"], since="8.1")
            ),
        )

    absent("aclmdlRICaptureBegin")
    with pytest.raises(errors.SymbolNotFoundError) as caught:
        world.graph.capture().__enter__()
    text = str(caught.value)
    assert "aclmdlRICaptureBegin" in text
    assert "8.1" in text
    assert "ap.Sequence" in text
    monkeypatch.undo()
    with world.graph.capture():
        pass


def test_nothing_is_left_of_aborted_captures(world: World) -> None:
    def attempt() -> None:
        with pytest.raises(KeyError), world.graph.capture() as main:
            world.other.wait_stream(main)
            for _ in range(3):
                y = ap.functional.add(world.x, world.x)
                ap.functional.matmul(ap.zeros((8, 8), np.float16), ap.zeros((8, 8), np.float16))
            ap.functional.mul(y, y, stream=world.other)
            raise KeyError

    attempt()
    world.device.synchronize()
    handles, free = live_handles(), world.device.memory_info().free
    for _ in range(20):
        attempt()
    world.device.synchronize()
    assert live_handles() == handles
    assert world.device.memory_info().free == free
