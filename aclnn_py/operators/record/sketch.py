# SPDX-License-Identifier: Apache-2.0
"""Calls turned into what a record keeps of them, and back into arguments."""

from __future__ import annotations

import os
import struct
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aclnn_py import __version__
from aclnn_py._ffi import device_kind, library_info
from aclnn_py.errors import ClosedError
from aclnn_py.memory.buffer import Buffer
from aclnn_py.operators.describe.call_arguments import token_of
from aclnn_py.operators.describe.groups import member
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.operators.record.file import Memory, RecordedCall, RecordWriter, View
from aclnn_py.runtime.device import Device
from aclnn_py.tensor.dtypes import dtype_of, from_acl
from aclnn_py.tensor.formats import format_of
from aclnn_py.tensor.layout import layout_of
from aclnn_py.tensor.tensor import Tensor, tensor_over

__all__ = ["CallSketch", "FailedCall", "about_this_process", "arguments_of", "memory_bytes"]

# Pieces begin at multiples of this, so that tensors in them are as aligned as they were, and start
# at whole elements.
_ALIGNMENT = 64


def about_this_process() -> dict[str, Any]:
    """Return what a record says about where it was made."""
    info = library_info()
    return {"package": __version__, "device": device_kind(), "cann": info.version}


def memory_bytes(buffer: Buffer, start: int = 0, nbytes: int | None = None) -> bytes:
    """Wait for the work on device memory and return its bytes."""
    raw = np.empty(buffer.nbytes - start if nbytes is None else nbytes, np.uint8)
    if raw.nbytes:
        buffer.read(raw, offset=start)
    return raw.tobytes()


@dataclass
class _Piece:
    """The part of an allocation that the tensors of a call cover, in bytes."""

    buffer: Buffer
    start: int
    end: int
    written: bool = False


class CallSketch:
    """A call on its way into a record: arguments written down, memory still where it is."""

    def __init__(self, op: Operator, values: Sequence[object]) -> None:
        self.op = op
        self._pieces: list[_Piece] = []
        self._views: list[View] = []
        self.arguments = tuple(
            self._argument(parameter, value)
            for parameter, value in zip(op.parameters, values, strict=True)
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the memory under its tensors."""
        return sum(piece.end - piece.start for piece in self._pieces)

    def keep(self, writer: RecordWriter, *, written_only: bool = False) -> list[str | None]:
        """Store the bytes of the memory as they are now; return their names."""
        return [
            writer.keep(memory_bytes(piece.buffer, piece.start, piece.end - piece.start))
            if piece.written or not written_only
            else None
            for piece in self._pieces
        ]

    def finish(
        self,
        before: Sequence[str | None],
        after: Sequence[str | None],
        **outcome: Any,
    ) -> RecordedCall:
        """Return the call with the names of its bytes."""
        memories = tuple(
            Memory(piece.end - piece.start, first, second)
            for piece, first, second in zip(self._pieces, before, after, strict=True)
        )
        device = self._pieces[0].buffer.device if self._pieces else Device.current()
        names = [a for p, a in zip(self.op.parameters, self.arguments, strict=True)
                 if p.kind == "s" and isinstance(a, str)]  # fmt: skip
        parts = [part for name in names if (part := member(device.index, name)) is not None]
        group = parts[0].size if parts else None
        views = tuple(self._moved(view) for view in self._views)
        return RecordedCall(self.op.c_name, self.arguments, views, memories, group=group, **outcome)

    def _moved(self, view: View) -> View:
        """The view with its offset counted from the start of its piece."""
        skipped = self._pieces[view.memory].start * 8 // dtype_of(view.dtype).bits
        return replace(view, offset=view.offset - skipped)

    def _argument(self, parameter: Parameter, value: Any) -> Any:
        if parameter.kind == "T":
            return self._tensor(parameter, value)
        if parameter.kind == "L":
            return None if value is None else [self._tensor(parameter, item) for item in value]
        return _written(parameter, token_of(parameter, value))

    def _tensor(self, parameter: Parameter, tensor: Tensor | None) -> int | None:
        if tensor is None:
            return None
        buffer, layout = tensor.buffer, tensor.layout
        same = [i for i, known in enumerate(self._pieces) if known.buffer.block is buffer.block]
        view = View(
            memory=same[0] if same else len(self._pieces),
            offset=tensor.offset,
            shape=layout.shape,
            strides=layout.strides,
            dtype=layout.dtype.name,
            format=layout.format.name,
            storage_shape=layout.storage_shape,
        )
        first = tensor.offset * layout.dtype.bits // 8
        start, end = first - first % _ALIGNMENT, max(first, view.nbytes)
        if not same:
            self._pieces.append(_Piece(buffer, start, end))
        piece = self._pieces[view.memory]
        piece.start, piece.end = min(piece.start, start), max(piece.end, end)
        piece.written |= parameter.direction != "in"
        self._views.append(view)
        return len(self._views) - 1


def _written(parameter: Parameter, token: Any) -> Any:
    """An argument that is no tensor, as JSON has it; ``_read`` is the way back."""
    kind = parameter.kind
    if token is None or kind in "I?biulq":
        return list(token) if isinstance(token, tuple) else token
    if kind == "S":
        return [from_acl(token[0]).name, token[1].hex()]
    if kind == "R":
        return [[from_acl(acl).name, data.hex()] for acl, data in token]
    if kind == "F":
        return [struct.unpack("=d", item)[0].hex() for item in token]
    if kind == "B":
        return [bool(item) for item in token]
    if kind in "fd":
        return struct.unpack("=d", token)[0].hex()
    if kind == "y":
        return None if token < 0 else from_acl(token).name
    return token.decode("utf-8", "surrogateescape")  # a string


def _read(parameter: Parameter, value: Any) -> Any:
    kind = parameter.kind
    if value is None or kind in "Ibiulqy":
        return value
    if kind == "s":
        return value.encode("utf-8", "surrogateescape")
    if kind == "S":
        return _number(*value)
    if kind == "R":
        return [_number(*item) for item in value]
    if kind == "F":
        return [float.fromhex(item) for item in value]
    if kind in "fd":
        return float.fromhex(value)
    if kind == "?":
        return bool(value)
    return value


def _number(dtype: str, data: str) -> Any:
    return np.frombuffer(bytes.fromhex(data), dtype_of(dtype).numpy)[0]


def arguments_of(
    op: Operator,
    call: RecordedCall,
    data: Callable[[str, int], bytes],
    device: Device,
    group: str = "",
) -> tuple[list[Any], list[Buffer], list[Tensor]]:
    """Put the tensors of a recorded call on a device.

    Parameters
    ----------
    data : callable
        Returns stored bytes by name and length.
    group : str, default ""
        The name of the communicator here, in place of the recorded one.

    Returns
    -------
    tuple
        The arguments in C order, the memory, and the tensors in the order of ``call.views``.

    Notes
    -----
    ``record_schema.check_arguments`` has seen the call.
    """
    buffers = []
    for memory in call.memories:
        buffer = Buffer.allocate(memory.nbytes, device=device)
        buffers.append(buffer)
        if memory.nbytes and memory.before is not None:
            buffer.write(np.frombuffer(data(memory.before, memory.nbytes), np.uint8))
    tensors = [_tensor_over(buffers[view.memory], view) for view in call.views]
    values: list[Any] = []
    for parameter, written in zip(op.parameters, call.arguments, strict=True):
        if parameter.kind == "T":
            values.append(None if written is None else tensors[written])
        elif parameter.kind == "L":
            items = (
                None if written is None else [None if i is None else tensors[i] for i in written]
            )
            values.append(items)
        elif parameter.kind == "s" and group and parameter.name.startswith("group") and written:
            values.append(group)
        else:
            values.append(_read(parameter, written))
    return values, buffers, tensors


def _tensor_over(buffer: Buffer, view: View) -> Tensor:
    layout = layout_of(
        view.shape, view.strides, dtype_of(view.dtype), format_of(view.format), view.storage_shape
    )
    return tensor_over(buffer, layout, view.offset)


class FailedCall:
    """The call behind an exception, kept so that it can be saved.

    Tensors are held weakly: an exception that somebody stores must not keep device memory. While
    its traceback is there, so are they.
    """

    def __init__(self, op: Operator, values: Sequence[object], stage: str) -> None:
        self._op = op
        self._stage = stage
        self._values = [_weak(value) for value in values]

    def save(self, path: str | os.PathLike[str], status: int, message: str) -> None:
        """Write a record of this one call; the memory is taken as it is now."""
        values = [
            value() if callable(value) and not isinstance(value, Tensor) else value
            for value in self._values
        ]
        sketch = CallSketch(self._op, values)
        with RecordWriter(path, about_this_process()) as writer:
            before = sketch.keep(writer)
            nothing = [None] * len(before)
            writer.add(
                sketch.finish(before, nothing, status=status, stage=self._stage, message=message)
            )


def _weak(value: object) -> Any:
    if isinstance(value, Tensor):
        reference = weakref.ref(value)
        return lambda: _alive(reference)
    if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        items = [_weak(item) for item in value]
        return lambda: [item() if callable(item) else item for item in items]
    return value


def _alive(reference: weakref.ref[Tensor]) -> Tensor:
    tensor = reference()
    if tensor is None or tensor.closed:
        raise ClosedError("a tensor of the failed call is gone; save the call where it is caught")
    return tensor
