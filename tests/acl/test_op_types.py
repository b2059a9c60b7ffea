# SPDX-License-Identifier: Apache-2.0
"""Operators by type through pyACL: compiled, executed, by a handle, cast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest

from aclnn_py import acl

X = np.arange(6, dtype=np.float32).reshape(2, 3)
TO_DEVICE, TO_HOST = 1, 2


class Memory:
    """Arrays on the device as descriptions and data buffers; released with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack

    def desc(self, dtype: int, shape: list[int]) -> int:
        made = acl.create_tensor_desc(dtype, shape, acl.ACL_FORMAT_ND)
        self.stack.callback(acl.destroy_tensor_desc, made)
        return made

    def buffer(self, array: Any) -> tuple[int, int]:
        address, ret = acl.rt.malloc(array.nbytes, 0)
        assert ret == 0
        self.stack.callback(acl.rt.free, address)
        source = np.ascontiguousarray(array).tobytes()
        pointer = acl.util.bytes_to_ptr(source)
        assert acl.rt.memcpy(address, array.nbytes, pointer, array.nbytes, TO_DEVICE) == 0
        made = acl.create_data_buffer(address, array.nbytes)
        self.stack.callback(acl.destroy_data_buffer, made)
        return made, address

    def read(self, address: int, like: Any) -> Any:
        content = bytes(like.nbytes)
        pointer = acl.util.bytes_to_ptr(content)
        assert acl.rt.memcpy(pointer, like.nbytes, address, like.nbytes, TO_HOST) == 0
        return np.frombuffer(content, like.dtype).reshape(like.shape)

    def attribute(self, name: str, value: float) -> int:
        made = acl.op.create_attr()
        self.stack.callback(acl.op.destroy_attr, made)
        assert acl.op.set_attr_float(made, name, value) == 0
        return made


@pytest.fixture
def memory(device: Any) -> Iterator[Memory]:
    with ExitStack() as stack:
        yield Memory(stack)


@contextmanager
def a_stream() -> Iterator[int]:
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    yield stream
    assert acl.rt.destroy_stream(stream) == 0


def test_compile_then_execute(memory: Memory) -> None:
    desc, attr = memory.desc(acl.ACL_FLOAT, [2, 3]), memory.attribute("value", 3.5)
    assert acl.op.compile("Muls", [desc], [desc], attr, 0, 0, "") == 0
    (x, _), (y, address) = memory.buffer(X), memory.buffer(X * 0 + 77)
    with a_stream() as stream:
        assert acl.op.execute_v2("Muls", [desc], [x], [desc], [y], attr, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(memory.read(address, X), 3.5 * X)


@pytest.mark.emulator_only(reason="an extension of pyACL")
def test_compile_and_execute(memory: Memory) -> None:
    desc = memory.desc(acl.ACL_FLOAT, [2, 3])
    (a, _), (b, _), (y, address) = (memory.buffer(v) for v in (X, X + 1, X * 0 + 77))
    with a_stream() as stream:
        given = ([desc, desc], [a, b], [desc], [y])
        assert acl.op.compile_and_execute("Add", *given, 0, 0, 0, "", stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(memory.read(address, X), 2 * X + 1)


def test_a_handle(memory: Memory) -> None:
    desc, attr = memory.desc(acl.ACL_FLOAT, [2, 3]), memory.attribute("value", -2.0)
    assert acl.op.compile("Adds", [desc], [desc], attr, 0, 0, "") == 0
    handle, ret = acl.op.create_handle("Adds", [desc], [desc], attr)
    assert ret == 0 and handle != 0
    (x, _), (y, address) = memory.buffer(X), memory.buffer(X * 0 + 77)
    with a_stream() as stream:
        assert acl.op.execute_with_handle(handle, [x], [y], stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(memory.read(address, X), X - 2)
    acl.op.destroy_handle(handle)


def test_a_cast(memory: Memory) -> None:
    whole = np.zeros((2, 3), np.int32)
    source, target = (memory.desc(t, [2, 3]) for t in (acl.ACL_FLOAT, acl.ACL_INT32))
    attr = acl.op.create_attr()
    assert acl.op.set_attr_int(attr, "dst_type", acl.ACL_INT32) == 0
    assert acl.op.compile("Cast", [source], [target], attr, 0, 0, "") == 0
    acl.op.destroy_attr(attr)
    (x, _), (y, address) = memory.buffer(X), memory.buffer(whole + 77)
    with a_stream() as stream:
        assert acl.op.cast(source, x, target, y, 0, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(memory.read(address, whole), X.astype(np.int32))


@pytest.mark.emulator_only(reason="statuses of the emulator")
def test_a_refusal_names_the_type(memory: Memory) -> None:
    desc = memory.desc(acl.ACL_FLOAT, [2, 3])
    assert acl.op.compile("NoSuchType", [desc], [desc], 0, 0, 0, "") == 100024
    assert "no operator of type NoSuchType" in acl.get_recent_err_msg()
    assert acl.op.compile("Add", [desc], [desc], 0, 0, 0, "") == 100021
    assert "input x2 is missing" in acl.get_recent_err_msg()
    assert acl.op.infer_shape("Add", [desc], [0], 1, [desc], 0) == 207000
    assert "aclopInferShape" in acl.get_recent_err_msg()
