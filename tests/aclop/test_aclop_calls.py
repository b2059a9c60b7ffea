# SPDX-License-Identifier: Apache-2.0
"""The ways to run an operator: compiled first, by a handle, by a cast, in order, from threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.aclop import Refused, Side, checked, const, described, host, run
from helpers.gates import held

import aclnn_py as ap
from aclnn_py._ffi import C, ffi

pytestmark = pytest.mark.usefixtures("device")
NOT_FOUND = 100024
RUNNERS = ["aclopCompileAndExecute", "aclopCompileAndExecuteV2", "aclopExecute", "aclopExecuteV2"]


def rows(count: int) -> Any:
    """Numbers of a shape that no other test compiles."""
    return np.arange(count * 3, dtype=np.float32).reshape(count, 3)


def compile_(kind: str, inputs: list[Any], outputs: list[Any], attributes: Any = None) -> int:
    """Call aclopCompile with descriptions of arrays."""
    with described() as objects:
        descs, out = ([objects.desc(Side(v)) for v in side] for side in (inputs, outputs))
        attr = objects.attributes(attributes or {})
        status = C.aclopCompile(
            kind.encode(), len(descs), descs, len(out), out, attr, 0, 0, ffi.NULL
        )
        return int(status)


@pytest.fixture
def every_shape() -> Iterator[None]:
    checked(C.aclopSetCompileFlag(1))
    yield
    checked(C.aclopSetCompileFlag(0))


@pytest.mark.parametrize("call", RUNNERS)
def test_every_function_runs_operators(call: str) -> None:
    x = rows(11 + RUNNERS.index(call))
    assert compile_("Muls", [x], [x], {"value": 3.0}) == 0
    (y,) = run("Muls", [x], [(x.shape, np.float32)], {"value": 3.0}, call=call)
    np.testing.assert_array_equal(y, 3 * x)


@pytest.mark.parametrize("call", ["aclopExecute", "aclopExecuteV2"])
def test_what_was_not_compiled_is_not_found(call: str) -> None:
    x = rows(10 + len(call))
    out = [(x.shape, np.float32)]
    with pytest.raises(Refused, match="Abs was not compiled for these tensors") as refused:
        run("Abs", [x], out, call=call)
    assert refused.value.status == NOT_FOUND
    run("Abs", [x], out)  # compiles it, too
    np.testing.assert_array_equal(run("Abs", [x], out, call=call)[0], x)
    with pytest.raises(Refused, match="not compiled"):
        run("Abs", [x[:, :2].copy()], [(x[:, :2].shape, np.float32)], call=call)


def test_attributes_belong_to_what_was_compiled() -> None:
    x = rows(29)
    assert compile_("Muls", [x], [x], {"value": 2.0}) == 0
    out = [(x.shape, np.float32)]
    with pytest.raises(Refused, match=r"Muls was not compiled.*value=3"):
        run("Muls", [x], out, {"value": 3.0}, call="aclopExecuteV2")
    np.testing.assert_array_equal(
        run("Muls", [x], out, {"value": 2.0}, call="aclopExecuteV2")[0], 2 * x
    )


@pytest.mark.usefixtures("every_shape")
def test_compiled_for_every_shape() -> None:
    x, longer = rows(31), rows(37)
    assert compile_("Neg", [x], [x]) == 0
    (y,) = run("Neg", [longer], [(longer.shape, np.float32)], call="aclopExecuteV2")
    np.testing.assert_array_equal(y, -longer)
    with pytest.raises(Refused, match="not compiled"):
        run("Neg", [x[0]], [((3,), np.float32)], call="aclopExecuteV2")


def test_compilation_refuses_what_execution_would() -> None:
    x = rows(2)
    assert compile_("Add", [x], [x]) == 100021
    assert compile_("Nonesuch", [x], [x]) == NOT_FOUND
    assert compile_("Add", [x, rows(5)], [x]) == 500002
    assert compile_("Muls", [x], [x]) == 100023


def test_the_oldest_compiled_operator_is_forgotten() -> None:
    x, y = rows(41), rows(43)
    assert compile_("Relu", [x], [x]) == 0
    assert C.aclopSetMaxOpQueueNum(0) == 100000
    try:
        checked(C.aclopSetMaxOpQueueNum(1))
        assert compile_("Relu", [y], [y]) == 0
        run("Relu", [y], [(y.shape, np.float32)], call="aclopExecuteV2")
        with pytest.raises(Refused, match="not compiled"):
            run("Relu", [x], [(x.shape, np.float32)], call="aclopExecuteV2")
    finally:
        checked(C.aclopSetMaxOpQueueNum(20000))


class Handled:
    """A handle and what it is executed with."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def run(self, values: list[Any], shape: Any, dtype: Any) -> Any:
        """Execute with arrays in device memory."""
        with described() as objects:
            buffers = [objects.buffer(Side(v)) for v in values]
            result = ap.from_numpy(np.full(shape, 77).astype(dtype))
            out = [objects.buffer(Side(np.empty(shape, dtype)), result)]
            stream = ap.current_stream()
            checked(C.aclopExecWithHandle(self.handle, len(buffers), buffers, 1, out, stream.raw))
            stream.synchronize()
            return result.numpy()


def handle_of(kind: str, inputs: list[Any], outputs: list[Any], attributes: Any) -> Handled:
    """A handle; its descriptions and attributes are destroyed already."""
    made = ffi.new("aclopHandle **")
    with described() as objects:
        descs, out = ([objects.desc(Side(v)) for v in side] for side in (inputs, outputs))
        attr = objects.attributes(attributes)
        checked(C.aclopCreateHandle(kind.encode(), len(descs), descs, len(out), out, attr, made))
    return Handled(made[0])


def test_a_handle_runs_again_and_again() -> None:
    x = rows(47)
    with pytest.raises(Refused, match="call aclopCompile"):
        handle_of("Muls", [x], [x], {"value": 2.0})
    assert compile_("Muls", [x], [x], {"value": 2.0}) == 0
    handled = handle_of("Muls", [x], [x], {"value": 2.0})
    for factor in (1, 5):
        np.testing.assert_array_equal(
            handled.run([factor * x], x.shape, np.float32), 2 * factor * x
        )
    with pytest.raises(Refused, match="the handle has 1 inputs and 1 outputs; 2 and 1 are given"):
        handled.run([x, x], x.shape, np.float32)
    C.aclopDestroyHandle(handled.handle)
    with pytest.raises(Refused, match="null or destroyed"):
        handled.run([x], x.shape, np.float32)
    C.aclopDestroyHandle(handled.handle)  # nothing happens
    C.aclopDestroyHandle(ffi.NULL)


def test_a_cast_by_its_descriptions() -> None:
    x, half = rows(53), rows(53).astype(np.float16)
    made = ffi.new("aclopHandle **")
    with described() as objects:
        source, target = objects.desc(Side(x)), objects.desc(Side(half))
        from_, result = objects.buffer(Side(x)), ap.from_numpy(half * 0 + 77)
        to = objects.buffer(Side(half), result)
        stream = ap.current_stream().raw
        assert C.aclopCast(source, from_, target, to, 0, stream) == NOT_FOUND
        assert compile_("Cast", [x], [half], {"dst_type": 1}) == 0
        assert C.aclopCast(source, from_, target, to, 2, stream) == 100000
        checked(C.aclopCast(source, from_, target, to, 1, stream))
        ap.current_stream().synchronize()
        np.testing.assert_array_equal(result.numpy(), half)
        checked(C.aclopCreateHandleForCast(source, target, 0, made))
    np.testing.assert_array_equal(Handled(made[0]).run([x], x.shape, np.float16), half)
    C.aclopDestroyHandle(made[0])


def test_the_call_returns_before_the_operator_ran() -> None:
    """Descriptions, buffers and host values may go while the operator waits for its turn."""
    x = rows(59)
    with ap.Stream() as stream:
        memory, result = ap.from_numpy(x), ap.from_numpy(np.full(x.shape, 77, np.float32))
        ap.synchronize()
        with held(stream):
            with described() as objects:
                sides = [Side(x), host(np.array([4], np.float32))]
                descs = [objects.desc(side) for side in sides]
                buffers = [objects.buffer(sides[0], memory), objects.buffer(sides[1])]
                out, to = objects.desc(Side(x)), objects.buffer(Side(x), result)
                call = [b"Mul", 2, descs, buffers, 1, [out], [to], ffi.NULL, 0, 0, ffi.NULL]
                checked(C.aclopCompileAndExecute(*call, stream.raw))
                objects.kept[0][:] = 0  # the host value was taken at the call
            assert not stream.query()
        np.testing.assert_array_equal(result.numpy(), 4 * x)


def test_host_values_leave_no_device_memory_behind() -> None:
    x = rows(61)
    run("Add", [x, host(x)], [(x.shape, np.float32)])
    ap.synchronize()
    before = ap.Device.current().memory_info()
    for _ in range(50):
        run("Add", [x, host(x)], [(x.shape, np.float32)])
    ap.synchronize()
    assert ap.Device.current().memory_info() == before


def test_optional_inputs_by_their_names() -> None:
    x, g, b = rows(4), np.ones(3, np.float32), np.zeros(3, np.float32)
    shape = const(np.array([3], np.int64))
    out = [(x.shape, np.float32), ((4, 1), np.float32), ((4, 1), np.float32)]
    both = run("LayerNormV4", [x, shape, g, b], out)
    without_bias = run("LayerNormV4", [x, shape, g], out)
    without = run("LayerNormV4", [x, shape], out)
    by_name = run("LayerNormV4", [x, shape, Side(b + 5, name="beta")], out)
    np.testing.assert_array_equal(both[0], without[0])
    np.testing.assert_array_equal(both[0], without_bias[0])
    np.testing.assert_allclose(by_name[0], both[0] + 5, rtol=1e-6)


def test_many_threads_run_operators() -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        with ap.Device(0), ap.Stream() as stream:
            for step in range(20):
                x = rows(3 + number % 2) + step
                given = {"value": float(number)}
                (y,) = run("Muls", [x], [(x.shape, np.float32)], given, stream=stream)
                if not np.array_equal(y, number * x):
                    wrong.append((number, step))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == []


def test_an_empty_tensor() -> None:
    (y,) = run("Abs", [np.ones((0, 3), np.float32)], [((0, 3), np.float32)])
    assert y.shape == (0, 3)
