# SPDX-License-Identifier: Apache-2.0
"""Operands of collectives as HCCL takes them, and the one call that queues a collective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aclnn_py._ffi import C, ffi
from aclnn_py._ffi.source_lines import calling_line
from aclnn_py.distributed.communicator import Communicator
from aclnn_py.errors import DeviceMismatchError
from aclnn_py.operators.describe.argument_errors import not_a_tensor
from aclnn_py.operators.launch.observers import observers
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.faults import note_collective
from aclnn_py.runtime.status import check_hccl
from aclnn_py.runtime.stream import Stream, mark, order
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "Operand",
    "counts",
    "operand",
    "queue",
    "rank_in",
    "reduce_operation",
    "same_count",
    "same_type",
]

_UINT8 = 7
# The one-byte floats; only the newest libraries and chips know their numbers.
_FIRST_LATE_TYPE = 14
_REDUCE_OPERATIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3}


@dataclass(frozen=True)
class Operand:
    """One tensor of a collective."""

    tensor: Tensor
    address: Any
    count: int
    """Items of ``hccl_type``."""
    hccl_type: int
    items_per_element: int
    """More than 1 when HCCL does not know the dtype and moves its bytes instead."""


def operand(value: object, argument: str, communicator: Communicator, *, moved: bool) -> Operand:
    """Check a tensor and return what HCCL needs to know about it.

    Parameters
    ----------
    value : object
        The argument: a contiguous Tensor on the communicator's device.
    argument : str
        Name of the argument, for errors.
    communicator : Communicator
        The communicator of the call.
    moved : bool
        Whether the elements are only moved: then HCCL may move dtypes it does not know as bytes.

    Raises
    ------
    TypeError
        It is no tensor, or HCCL cannot reduce its dtype.
    DeviceMismatchError
        It is on another device.
    ValueError
        Its elements have gaps, or share bytes with other elements.
    """
    if not isinstance(value, Tensor):
        raise not_a_tensor(argument, value)
    if value.device is not communicator.device:
        raise DeviceMismatchError(
            f"{argument}: on device {value.device.index}, but rank {communicator.rank} of the"
            f" communicator is on device {communicator.device.index}"
        )
    if not value.is_contiguous:
        raise ValueError(
            f"{argument}: shape {value.shape} with strides {value.strides} has gaps; copy it to a"
            " contiguous tensor first"
        )
    kind = dtype_of(value.dtype_name)
    items = 1
    hccl_type = kind.hccl
    if hccl_type is None and not moved:
        raise TypeError(f"{argument}: HCCL cannot reduce {kind.name}")
    if hccl_type is None or (moved and hccl_type >= _FIRST_LATE_TYPE):
        if kind.bits % 8:
            raise ValueError(f"{argument}: {kind.name} shares bytes between elements")
        hccl_type, items = _UINT8, kind.bits // 8
    address = ffi.cast("void *", value.address)
    return Operand(value, address, value.count * items, hccl_type, items)


def same_type(first: Operand, second: Operand, names: tuple[str, str]) -> None:
    """Raise TypeError unless two operands have the same dtype."""
    if first.tensor.dtype_name != second.tensor.dtype_name:
        raise TypeError(
            f"{names[1]}: dtype {second.tensor.dtype_name}, but {names[0]} has"
            f" {first.tensor.dtype_name}"
        )


def reduce_operation(op: object) -> int:
    """Return the HcclReduceOp of ``"sum"``, ``"prod"``, ``"max"`` or ``"min"``."""
    number = _REDUCE_OPERATIONS.get(op) if isinstance(op, str) else None
    if number is None:
        raise ValueError(f"op: expected one of {', '.join(_REDUCE_OPERATIONS)}, got {op!r}")
    return number


def counts(values: Sequence[int], items: int) -> tuple[Any, Any, int]:
    """Return counts and displacements as uint64 arrays, and the sum, in items."""
    sizes = [int(value) * items for value in values]
    offsets, total = [], 0
    for size in sizes:
        offsets.append(total)
        total += size
    return ffi.new("uint64_t[]", sizes), ffi.new("uint64_t[]", offsets), total


def queue(
    communicator: Communicator,
    routine: str,
    stream: Stream | None,
    tensors: Iterable[Tensor],
    call: Callable[[Any, Any, Any], int],
) -> None:
    """Queue a collective, and keep its tensors until it has run.

    Parameters
    ----------
    communicator : Communicator
        Open.
    routine : str
        Name of the C function.
    stream : Stream, optional
        Stream to queue on; default is the current one.
    tensors : Iterable[Tensor]
        All tensors the collective reads or writes.
    call : callable
        Called with the C function, the HcclComm and the aclrtStream; returns the status.

    Raises
    ------
    HcclError
        HCCL refused the call; the message names the rank.
    """
    where = communicator.stream(stream)
    capture_rules.before_queue(routine, where)
    uses = [tensor.buffer.block.use for tensor in tensors]
    order(where, uses)
    with communicator.device.as_active():
        status = call(getattr(C, routine), communicator.raw, where.raw)
        check_hccl(status, routine, rank=communicator.rank, device=communicator.device.index)
    line = calling_line() if observers() else ""
    note_collective(where.state, mark(where, uses), routine, line)
    if where.state.capture is not None:
        where.state.capture.depend(communicator)


def same_count(expected: int, found: int, argument: str) -> None:
    """Raise ValueError unless an operand has as many elements as the other one."""
    if expected != found:
        raise ValueError(f"{argument}: {found} elements, expected {expected}")


def rank_in(communicator: Communicator, rank: int, argument: str) -> int:
    """Return a rank of the communicator; another value raises TypeError or ValueError."""
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"{argument}: expected the number of a rank, got {type(rank).__name__}")
    if not 0 <= rank < communicator.world_size:
        raise ValueError(f"{argument}: {rank} is not within 0..{communicator.world_size - 1}")
    return rank
