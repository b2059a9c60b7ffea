# SPDX-License-Identifier: Apache-2.0
"""Launches: their tensors before, and who launched what for faults that show later."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from aclnn_py._ffi import C, ffi
from aclnn_py._ffi.source_lines import calling_stack
from aclnn_py.checking.functions import address_of
from aclnn_py.checking.history import History, stack_text
from aclnn_py.checking.queued import Queued, Work
from aclnn_py.errors import (
    CheckArgumentError,
    CheckClosedError,
    CheckError,
    ClosedError,
    StatusError,
)
from aclnn_py.operators.launch.observers import Launch, Observer
from aclnn_py.runtime.faults import QueuedWork, watching
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Launches"]

# Memory that the runtime has never heard of: what malloc gives.
_UNREGISTERED = 2
# Overlaps that are harder to decide than this are passed over.
_OVERLAP_WORK: Any = 10_000
_REMEMBERED_PLANS = 1024
# NumPy 1.25 gave it a home of its own.
_TooHardError = getattr(np, "exceptions", np).TooHardError


class _Argument(NamedTuple):
    name: str
    tensor: Tensor
    written: bool
    start: int
    end: int


class Launches(Observer):
    """Looks at each launch.

    Parameters
    ----------
    history : History
        Who made and freed the memory.
    queued : Queued
        Where launches are written down.
    """

    def __init__(self, history: History, queued: Queued) -> None:
        self._history = history
        self._queued = queued
        self._runs: dict[tuple[object, ...], list[traceback.StackSummary]] = {}
        # Of launches under way: `after` is called from where the user's frames are hard to tell.
        self._stacks: dict[int, traceback.StackSummary] = {}

    def before(self, launch: Launch) -> None:
        """Refuse what the device would get wrong."""
        self._stacks[id(launch)] = calling_stack()
        watching()  # before the work is queued: the device may be quick to report its fault
        self._refuse_dead_stream(launch)
        for name, tensor, _written in _tensors(launch):
            if tensor.closed:
                raise CheckClosedError(
                    f"{launch.name}: {name} is closed",
                    fault="use after destroy",
                    stacks=[*self._history.handle_stacks(tensor.buffer), self._here(launch)],
                )
        arguments = list(_ranges(launch))
        for argument in arguments:
            self._refuse_place(launch, argument)
        for written in arguments:
            if written.written:
                self._refuse_overlap(launch, written, arguments)

    def after(self, launch: Launch) -> None:
        """Remember who launched it; say who ran a consumed executor before."""
        stack = self._stacks.pop(id(launch))
        key = (launch.name, *map(id, launch.values))
        refused = isinstance(launch.error, ClosedError) and not isinstance(launch.error, CheckError)
        if launch.kind == "run" and refused:
            self._refuse_consumed(launch, key, stack)
        if launch.error is not None:
            return
        if launch.kind in ("plan", "run"):
            stacks = self._runs.setdefault(key, []) if launch.kind == "run" else []
            self._runs[key] = [*stacks[:1], stack]
            while len(self._runs) > _REMEMBERED_PLANS:
                del self._runs[next(iter(self._runs))]
        state = launch.stream.state
        if launch.sequence is None or state.capturing():
            return  # a graph that is captured runs nothing yet
        self._queued.add(
            Work(
                int(state.context.id),
                launch.sequence,
                launch.name,
                tuple((a.start, a.end) for a in _ranges(launch)),
                stack,
                _task(state),
            )
        )

    def faulted(self, error: StatusError, state: QueuedWork, sequence: int) -> None:
        """Add both stacks to the error of a wait for work that failed on the device."""
        work = self._queued.launched(int(state.context.id), sequence)
        launched = stack_text(None if work is None else work.stack)
        for what, text in (("launched", launched), ("waited for", stack_text(calling_stack()))):
            error.launches += (f"{what}:", *(f"  {line}" for line in text.splitlines()))

    def _here(self, launch: Launch) -> tuple[str, str]:
        return (f"{launch.name} launched", stack_text(calling_stack()))

    def _refuse_dead_stream(self, launch: Launch) -> None:
        life = self._history.dead(address_of(launch.stream.raw))
        if life is not None and life.kind == "Stream":
            raise CheckClosedError(
                f"{launch.name}: {launch.stream!r} is {life.reason.split(' ', 1)[1]}",
                fault="stream used after reset" if "gone" in life.reason else "use after destroy",
                stacks=[*life.stacks(), self._here(launch)],
            )

    def _refuse_place(self, launch: Launch, argument: _Argument) -> None:
        address = argument.start
        block = self._history.block(address)
        made = self._history.handle_stacks(argument.tensor.buffer)
        if block is not None:
            if argument.end > block.address + block.nbytes:
                raise CheckArgumentError(
                    f"{launch.name}: {argument.name} ends {argument.end - block.address} bytes into"
                    f" an allocation of {block.nbytes} bytes",
                    fault="access outside an allocation",
                    stacks=[*block.stacks(), *made, self._here(launch)],
                )
            return
        freed = self._history.freed_block(address)
        if freed is not None:
            raise CheckClosedError(
                f"{launch.name}: {argument.name} lies in memory that was freed",
                fault="use after free",
                stacks=[*freed.stacks(), self._here(launch)],
            )
        if _on_host(address):
            raise CheckArgumentError(
                f"{launch.name}: {argument.name} is at {address:#x}, which is host memory",
                fault="host pointer",
                stacks=[*made, self._here(launch)],
            )

    def _refuse_overlap(
        self, launch: Launch, written: _Argument, arguments: list[_Argument]
    ) -> None:
        for other in arguments:
            if other is written or not _hazard(written, other):
                continue
            raise CheckArgumentError(
                f"{launch.name}: {written.name} is written and shares a part of its memory with"
                f" {other.name}",
                fault="overlap",
                stacks=[
                    *self._history.handle_stacks(written.tensor.buffer),
                    self._here(launch),
                ],
            )

    def _refuse_consumed(
        self, launch: Launch, key: tuple[object, ...], stack: traceback.StackSummary
    ) -> None:
        known = self._runs.get(key, [])
        names = ("executor made", "executor consumed")
        stacks = [(name, stack_text(stack)) for name, stack in zip(names, known, strict=False)]
        raise CheckClosedError(
            str(launch.error),
            fault="executor run twice",
            stacks=[*stacks, (f"{launch.name} run again", stack_text(stack))],
        ) from launch.error


def _tensors(launch: Launch) -> Iterator[tuple[str, Tensor, bool]]:
    if launch.op is None:
        return
    for parameter, value in zip(launch.op.parameters, launch.values, strict=True):
        written = parameter.direction != "in"
        if isinstance(value, Tensor):
            yield parameter.name, value, written
        elif parameter.is_tensor and isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                if isinstance(item, Tensor):
                    yield f"{parameter.name}[{index}]", item, written


def _ranges(launch: Launch) -> Iterator[_Argument]:
    for name, tensor, written in _tensors(launch):
        if tensor.closed or not tensor.address:
            continue
        layout = tensor.layout
        if 0 in layout.shape:
            continue
        if tensor.is_contiguous or len(layout.storage_shape) > len(layout.shape):
            yield _Argument(name, tensor, written, tensor.address, tensor.address + tensor.nbytes)
            continue
        steps = [(n - 1) * s for n, s in zip(layout.shape, layout.strides, strict=True)]
        first, last = sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)
        bits = layout.dtype.bits
        start = tensor.address + first * bits // 8
        yield _Argument(name, tensor, written, start, tensor.address + ((last + 1) * bits + 7) // 8)


def _hazard(a: _Argument, b: _Argument) -> bool:
    if a.start >= b.end or b.start >= a.end:
        return False
    one, other = a.tensor, b.tensor
    same_place = a.start == b.start and a.end == b.end
    same_order = one.strides == other.strides or (one.is_contiguous and other.is_contiguous)
    if same_place and same_order and one.layout.dtype.bits == other.layout.dtype.bits:
        return False  # each element is read where it is written
    mine, theirs = _bytes_of(one), _bytes_of(other)
    if mine is None or theirs is None:
        return True
    try:
        return bool(np.shares_memory(mine, theirs, max_work=_OVERLAP_WORK))
    except _TooHardError:
        return False


class _Interface:
    def __init__(self, tensor: Tensor, nbytes: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(tensor.shape),
            "strides": tuple(step * nbytes for step in tensor.strides),
            "typestr": f"|V{nbytes}",
            "data": (tensor.address, False),
        }


def _bytes_of(tensor: Tensor) -> np.ndarray[Any, Any] | None:
    """An array over the addresses of a tensor, for arithmetic only; None below a byte."""
    nbytes, rest = divmod(tensor.layout.dtype.bits, 8)
    return None if rest else np.asarray(_Interface(tensor, nbytes))


def _on_host(address: int) -> bool:
    if not C.has("aclrtPointerGetAttributes"):
        return False
    out = ffi.new("aclrtPtrAttributes *")
    if C.aclrtPointerGetAttributes(ffi.cast("void *", address), out) != 0:
        return False
    return int(out[0].location.type) == _UNREGISTERED


def _task(state: QueuedWork) -> tuple[int, int]:
    if not (C.has("aclrtStreamGetId") and C.has("aclrtGetThreadLastTaskId")):
        return (-1, -1)
    number, task = ffi.new("int32_t *"), ffi.new("uint32_t *")
    if C.aclrtStreamGetId(state.raw, number) or C.aclrtGetThreadLastTaskId(task):
        return (-1, -1)
    return int(number[0]), int(task[0])
