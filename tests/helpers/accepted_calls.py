# SPDX-License-Identifier: Apache-2.0
"""Calls that phase one accepts, a few of every operator: what mutation starts from.

The package carries them; `aclnn_py.facts.accepted_calls` says how an argument is written. Tensors
without contents get those of `pattern`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from aclnn_py import facts, ops
from aclnn_py._ffi.contract.naming import operator_name
from aclnn_py.memory.buffer import Buffer
from aclnn_py.operators.describe.scalar import Scalar as NumberOfDtype
from aclnn_py.operators.launch.op import Op
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.formats import format_of, is_blocked
from aclnn_py.tensor.layout import layout_of
from aclnn_py.tensor.tensor import Tensor, tensor_over
from aclnn_py.tensor.views import contiguous_strides

PATH = Path(facts.__file__).with_name("accepted_calls.json")
PATH_950 = PATH.with_stem("accepted_calls_950")


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of a call; strides and offset count elements.

    ``memory`` tells tensors that share memory: those of one number do, those of None have their
    own. ``contents`` are the first bytes of the memory; None stands for `pattern`.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    format: str = "ND"
    storage_shape: tuple[int, ...] = ()
    memory: int | None = None
    contents: bytes | None = None

    @property
    def nbytes(self) -> int:
        """Bytes from the start of the memory to the end of the tensor."""
        kind = dtype_of(self.dtype)
        if is_blocked(format_of(self.format)):
            return kind.nbytes(prod(self.storage_shape))
        if 0 in self.shape:
            return 0
        last = sum((dim - 1) * step for dim, step in zip(self.shape, self.strides, strict=True))
        return kind.nbytes(self.offset + last + 1)


@dataclass(frozen=True)
class TensorListSpec:
    """A list of tensors, some of them perhaps null."""

    members: tuple[TensorSpec | None, ...]


@dataclass(frozen=True)
class ScalarSpec:
    """An aclScalar: its dtype and the bytes of its value."""

    dtype: str
    value: bytes


@dataclass(frozen=True)
class ScalarListSpec:
    """An aclScalarList."""

    members: tuple[ScalarSpec, ...]


@dataclass(frozen=True)
class Group:
    """The name of a communicator of so many ranks, of which device 0 is the first."""

    ranks: int
    second: bool = False

    @property
    def key(self) -> int:
        """What names are kept by: the number of ranks, negative for a second communicator."""
        return -self.ranks if self.second else self.ranks


class Rank(int):
    """The number of the rank that makes the call; 0 until `Call.at` says another."""

    ranks: int


@dataclass(frozen=True)
class Call:
    """One call of an operator, its arguments in C order."""

    operator: str
    arguments: tuple[Any, ...] = field(repr=False)

    @property
    def op(self) -> Op:
        """The operator in `aclnn_py.ops`."""
        found: Op = getattr(ops, operator_name(self.operator))
        return found

    @property
    def ranks(self) -> int:
        """Ranks of the communicator that an argument names; 0 where none does."""
        return max((a.ranks for a in self.arguments if isinstance(a, Group)), default=0)

    def tensors(self) -> Iterator[TensorSpec]:
        """Every tensor that is there, members of lists included."""
        for argument in self.arguments:
            if isinstance(argument, TensorSpec):
                yield argument
            elif isinstance(argument, TensorListSpec):
                yield from (member for member in argument.members if member is not None)

    def changed(self, position: int, value: Any = None, **fields: Any) -> Call:
        """Return the call with another argument, or with other fields of the one that is there."""
        arguments = list(self.arguments)
        arguments[position] = replace(arguments[position], **fields) if fields else value
        return replace(self, arguments=tuple(arguments))

    @property
    def group_keys(self) -> list[int]:
        """`Group.key` of each communicator that an argument names."""
        return sorted({a.key for a in self.arguments if isinstance(a, Group)}, reverse=True)

    def at(self, rank: int) -> Call:
        """Return the call as a rank of its communicator makes it."""
        arguments = (rank if isinstance(a, Rank) else a for a in self.arguments)
        return replace(self, arguments=tuple(arguments))

    def build(self, groups: Mapping[int, str] | None = None) -> list[Any]:
        """Allocate and fill the memory on the current device; return the arguments in C order.

        Parameters
        ----------
        groups : mapping
            Names of communicators by `Group.key`, for a call that names one.
        """
        sizes: dict[int, int] = {}
        contents: dict[int, TensorSpec] = {}
        for spec in self.tensors():
            if spec.memory is not None:
                sizes[spec.memory] = max(sizes.get(spec.memory, 0), spec.nbytes)
                contents.setdefault(spec.memory, spec)
        shared = {n: _filled(spec, sizes[n]) for n, spec in contents.items()}
        return [self._value(argument, shared, groups or {}) for argument in self.arguments]

    def _value(self, argument: Any, shared: dict[int, Buffer], groups: Mapping[int, str]) -> Any:
        if isinstance(argument, TensorSpec):
            own = argument.memory is None
            buffer = _filled(argument, argument.nbytes) if own else shared[argument.memory or 0]
            return _tensor(argument, buffer)
        if isinstance(argument, TensorListSpec):
            return [None if m is None else self._value(m, shared, groups) for m in argument.members]
        if isinstance(argument, ScalarSpec):
            return _number(argument)
        if isinstance(argument, ScalarListSpec):
            return [_number(member) for member in argument.members]
        return groups[argument.key] if isinstance(argument, Group) else argument


CAUSAL_MASK = 2048


def pattern(dtype: DType, nbytes: int) -> bytes:
    """Contents that operators take without objection: floats in 0.25 to 1, integers 0 and 1.

    2048 x 2048 bytes are the mask that stands for all causal ones.
    """
    count = -(-nbytes * 8 // dtype.bits)
    if dtype.bits == 8 and dtype.numpy.kind in "iub" and count == CAUSAL_MASK**2:
        return np.triu(np.ones((CAUSAL_MASK, CAUSAL_MASK), np.uint8), 1).tobytes()
    if dtype.exact and dtype.numpy.kind not in "iub":
        values = 0.25 + (np.arange(count) * 7 % 13) / 16
    else:
        values = np.arange(count) % 2
    return values.astype(dtype.numpy).tobytes()[:nbytes].ljust(nbytes, b"\0")


def _filled(spec: TensorSpec, nbytes: int) -> Buffer:
    buffer = Buffer.allocate(nbytes)
    if nbytes:
        data = pattern(dtype_of(spec.dtype), nbytes)
        if spec.contents is not None:
            data = (spec.contents + data[len(spec.contents) :])[:nbytes]
        buffer.write(np.frombuffer(data, np.uint8))
    return buffer


def _tensor(spec: TensorSpec, buffer: Buffer) -> Tensor:
    layout = layout_of(
        spec.shape,
        spec.strides,
        dtype_of(spec.dtype),
        format_of(spec.format),
        spec.storage_shape,
    )
    return tensor_over(buffer, layout, spec.offset)


def _number(spec: ScalarSpec) -> Any:
    kind = dtype_of(spec.dtype)
    value = np.frombuffer(spec.value, kind.numpy)[0]
    # A NumPy scalar keeps its dtype, but one that only carries bits would lose it.
    return value if kind.exact else NumberOfDtype(value.item(), spec.dtype)


def read_argument(written: Any) -> Any:
    """Return an argument as the file has it as one of a `Call`."""
    if not isinstance(written, dict):
        return written
    if "tensor" in written:
        shape = tuple(written["shape"])
        contents = written.get("bytes")
        return TensorSpec(
            dtype=written["tensor"],
            shape=shape,
            strides=tuple(written.get("strides", contiguous_strides(shape))),
            offset=written.get("offset", 0),
            format=written.get("format", "ND"),
            storage_shape=tuple(written.get("storage_shape", shape)),
            memory=written.get("memory"),
            contents=None if contents is None else bytes.fromhex(contents),
        )
    if "tensors" in written:
        return TensorListSpec(tuple(read_argument(item) for item in written["tensors"]))
    if "scalar" in written:
        return ScalarSpec(written["scalar"], bytes.fromhex(written["bytes"]))
    if "scalars" in written:
        return ScalarListSpec(tuple(read_argument(item) for item in written["scalars"]))
    if "rank" in written:
        rank = Rank(0)
        rank.ranks = written["rank"]
        return rank
    return Group(written["group"], written.get("second", False))


def write_argument(argument: Any) -> Any:
    """Return an argument of a `Call` as the file has it."""
    if isinstance(argument, TensorSpec):
        row: dict[str, Any] = {"tensor": argument.dtype, "shape": list(argument.shape)}
        if argument.strides != contiguous_strides(argument.shape):
            row["strides"] = list(argument.strides)
        if argument.offset:
            row["offset"] = argument.offset
        if argument.format != "ND":
            row["format"] = argument.format
        if argument.storage_shape != argument.shape:
            row["storage_shape"] = list(argument.storage_shape)
        if argument.memory is not None:
            row["memory"] = argument.memory
        if argument.contents is not None:
            row["bytes"] = argument.contents.hex()
        return row
    if isinstance(argument, TensorListSpec):
        return {"tensors": [write_argument(member) for member in argument.members]}
    if isinstance(argument, ScalarSpec):
        return {"scalar": argument.dtype, "bytes": argument.value.hex()}
    if isinstance(argument, ScalarListSpec):
        return {"scalars": [write_argument(member) for member in argument.members]}
    if isinstance(argument, Group):
        more = {"second": True} if argument.second else {}
        return {"group": argument.ranks, **more}
    if isinstance(argument, Rank):
        return {"rank": argument.ranks}
    return argument


@functools.cache
def _read(path: Path) -> dict[str, list[Any]]:
    written: dict[str, list[Any]] = json.loads(path.read_text(encoding="utf-8"))
    return written


def operators(path: Path = PATH) -> list[str]:
    """C names of the operators that have calls, in order."""
    return sorted(_read(path))


def calls(operator: str, path: Path = PATH) -> list[Call]:
    """Return the calls of an operator by its C name, the smallest first."""
    return [
        Call(operator, tuple(read_argument(argument) for argument in row))
        for row in _read(path).get(operator, [])
    ]


def calls_950(operator: str) -> list[Call]:
    """Return the calls of an operator that only a chip of the 950 series takes."""
    return calls(operator, PATH_950)
