# SPDX-License-Identifier: Apache-2.0
"""Operators of the aclop interface, called from NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import aclnn_py as ap
from aclnn_py._ffi import C, ffi

from .operators import hollow

ND = 2
HOST = 1  # ACL_MEMTYPE_HOST
DTYPES = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "uint32": 8,
    "int64": 9,
    "float64": 11,
    "bool": 12,
    "complex64": 16,
    "bfloat16": 27,
}
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@dataclass
class Side:
    """An operand and how it is described; `value` is its memory, in C order."""

    value: Any
    format: int = ND
    shape: tuple[int, ...] | None = None
    storage_format: int | None = None
    storage_shape: tuple[int, ...] | None = None
    place: str = "device"  # or "host", or "const"
    name: str = ""
    shared: int | None = None  # an output: the input whose memory it is


class Empty:
    """The place of an optional input that is not given."""


def host(value: Any) -> Side:
    """A value in host memory."""
    return Side(np.ascontiguousarray(value), place="host")


def const(value: Any) -> Side:
    """A value that is known when the operator is compiled."""
    return Side(np.ascontiguousarray(value), place="const")


class Described:
    """The C objects of a call; they live while the block of `described` is left open."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.kept: list[Any] = []
        self.tensors: list[Any] = []

    def desc(self, side: Side | Empty) -> Any:
        """An aclTensorDesc."""
        if isinstance(side, Empty):
            made = C.aclCreateTensorDesc(-1, 0, ffi.NULL, -1)
        else:
            dims = side.value.shape if side.shape is None else side.shape
            dtype = DTYPES[side.value.dtype.name]
            made = C.aclCreateTensorDesc(dtype, len(dims), list(dims), side.format)
            self.more(made, side)
        assert made != ffi.NULL
        self.stack.callback(C.aclDestroyTensorDesc, made)
        return made

    def more(self, made: Any, side: Side) -> None:
        """What a description says besides dtype, shape and format."""
        if side.storage_format is not None:
            assert C.aclSetTensorFormat(made, side.storage_format) == 0
        if side.storage_shape is not None:
            shape = list(side.storage_shape)
            assert C.aclSetTensorShape(made, len(shape), shape) == 0
        if side.name:
            C.aclSetTensorDescName(made, side.name.encode())
        if side.place == "host":
            assert C.aclSetTensorPlaceMent(made, HOST) == 0
        if side.place == "const":
            bytes_ = ffi.from_buffer(np.ascontiguousarray(side.value).reshape(-1).view(np.uint8))
            assert C.aclSetTensorConst(made, bytes_, len(bytes_)) == 0

    def buffer(self, side: Side | Empty, tensor: Any = None) -> Any:
        """An aclDataBuffer; `tensor` is the device memory of an output."""
        if isinstance(side, Empty):
            made = C.aclCreateDataBuffer(ffi.NULL, 0)
        elif side.place == "device":
            tensor = ap.from_numpy(np.ascontiguousarray(side.value)) if tensor is None else tensor
            self.tensors.append(tensor)
            address = ffi.cast("void *", tensor.address)
            made = C.aclCreateDataBuffer(address, tensor.size * tensor.dtype.itemsize)
        elif side.place == "host":
            memory = np.ascontiguousarray(side.value).reshape(-1).view(np.uint8)
            self.kept.append(memory)
            made = C.aclCreateDataBuffer(ffi.from_buffer(memory), memory.size)
        else:
            made = C.aclCreateDataBuffer(ffi.NULL, 0)
        assert made != ffi.NULL
        self.stack.callback(C.aclDestroyDataBuffer, made)
        return made

    def attributes(self, given: dict[str, Any]) -> Any:
        """An aclopAttr with what a dictionary holds."""
        made = C.aclopCreateAttr()
        assert made != ffi.NULL
        self.stack.callback(C.aclopDestroyAttr, made)
        for name, value in given.items():
            assert set_attribute(made, name.encode(), value) == 0, name
        return made


def set_attribute(attr: Any, name: bytes, value: Any) -> int:
    """Call the setter of the kind of value."""
    if isinstance(value, bool):
        return int(C.aclopSetAttrBool(attr, name, value))
    if isinstance(value, int):
        return int(C.aclopSetAttrInt(attr, name, value))
    if isinstance(value, float):
        return int(C.aclopSetAttrFloat(attr, name, value))
    if isinstance(value, str):
        return int(C.aclopSetAttrString(attr, name, value.encode()))
    if value and isinstance(value[0], (list, tuple)):
        rows = [ffi.new("int64_t[]", list(row)) for row in value]
        lengths = [len(row) for row in value]
        return int(C.aclopSetAttrListListInt(attr, name, len(rows), lengths, rows))
    if value and isinstance(value[0], bool):
        return int(C.aclopSetAttrListBool(attr, name, len(value), list(value)))
    if value and isinstance(value[0], float):
        return int(C.aclopSetAttrListFloat(attr, name, len(value), list(value)))
    return int(C.aclopSetAttrListInt(attr, name, len(value), list(value)))


@contextmanager
def described() -> Iterator[Described]:
    """C objects that are destroyed at the end of the block."""
    with ExitStack() as stack:
        yield Described(stack)


def side_of(value: Any) -> Side | Empty:
    """An operand in device memory, unless it says where it lies."""
    return value if isinstance(value, (Side, Empty)) else Side(np.asarray(value))


def stream_of(stream: Any) -> Any:
    """The C handle of a stream; the current one by default."""
    return (ap.current_stream() if stream is None else stream).raw


class Refused(Exception):
    """The status of a call that was refused, and the library's message."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status, self.text = status, text


def checked(status: int) -> None:
    """Raise what the library says about a status."""
    if status:
        text = C.aclGetRecentErrMsg()
        raise Refused(status, ffi.string(text).decode() if text else "")


def run(
    kind: str,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    attributes: dict[str, Any] | None = None,
    *,
    stream: Any = None,
    call: str = "aclopCompileAndExecute",
) -> list[Any]:
    """Run an operator; return its outputs.

    An output is (shape, dtype) or a Side whose value has both.
    """
    with described() as objects:
        sides = [side_of(value) for value in inputs]
        descs = [objects.desc(side) for side in sides]
        buffers = [objects.buffer(side) for side in sides]
        placed = list(objects.tensors)
        results = [Side(np.empty(o[0], o[1])) if isinstance(o, tuple) else o for o in outputs]
        memories = [
            hollow(side.value.shape, side.value.dtype)
            if side.shared is None
            else placed[side.shared]
            for side in results
        ]
        out_descs = [objects.desc(side) for side in results]
        out_buffers = [
            objects.buffer(side, memory) for side, memory in zip(results, memories, strict=True)
        ]
        attr = objects.attributes(attributes or {})
        arguments = [len(descs), descs, buffers, len(out_descs), out_descs, out_buffers, attr]
        middle = [0, 0, ffi.NULL] if "Compile" in call else []
        checked(getattr(C, call)(kind.encode(), *arguments, *middle, stream_of(stream)))
        (ap.current_stream() if stream is None else stream).synchronize()
        return [memory.numpy() for memory in memories]
