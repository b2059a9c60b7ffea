# SPDX-License-Identifier: Apache-2.0
"""Tensors that end where memory ends: a read beyond what the operator was judged by is a crash.

Each tensor of a call lies against a closed page, as near as the library takes it. The calls are
those with tensors of less than a byte an element, or in blocks, which also get other offsets,
strides and storages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from helpers.accepted_calls import TensorListSpec, TensorSpec

from aclnn_py._ffi import C, ffi
from aclnn_py.runtime.status import check_acl
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import format_of, is_blocked

from . import operators
from .budget import Budget
from .cases import Case
from .worker import calls_here

if TYPE_CHECKING:
    from .native import Machine, Result

UNIT = 2 << 20  # of mapped memory
OFFSETS = (1, 2, 48)
RAN = "ran"


def fuzz(budget: Budget) -> int:
    """Make the calls while the budget lasts; return the number of defects."""
    return operators.walk(budget, "edges")


def unlike_bytes(tensor: TensorSpec) -> bool:
    """Whether elements are packed into bytes, or lie in blocks."""
    return dtype_of(tensor.dtype).bits < 8 or is_blocked(format_of(tensor.format))


def cases(names: list[str]) -> list[Case]:
    """Return calls with a tensor that is packed or in blocks, as they are and changed."""
    found = []
    for name in names:
        for call in calls_here(name):
            if not any(unlike_bytes(tensor) for tensor in call.tensors()):
                continue
            found.append(Case(call))
            for position, argument in enumerate(call.arguments):
                for what, changed in _changed(argument):
                    mutation = f"{call.op.parameters[position].name}: {what}"
                    found.append(Case(call.changed(position, changed), mutations=(mutation,)))
    return found


def _changed(argument: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(argument, TensorListSpec):
        for number, member in enumerate(argument.members):
            for what, changed in _changed(member):
                members = list(argument.members)
                members[number] = changed
                yield f"[{number}] {what}", TensorListSpec(tuple(members))
    elif isinstance(argument, TensorSpec) and unlike_bytes(argument):
        yield from _variants(argument)


def _variants(tensor: TensorSpec) -> Iterator[tuple[str, TensorSpec]]:
    shape, strides, storage = tensor.shape, tensor.strides, tensor.storage_shape
    for offset in OFFSETS:
        yield f"offset {offset}", replace(tensor, offset=offset)
    for axis in range(len(shape)):
        for more in (strides[axis] * 2, strides[axis] + 1, 0):
            changed = (*strides[:axis], more, *strides[axis + 1 :])
            yield f"stride {more} of axis {axis}", replace(tensor, strides=changed)
    if len(shape) >= 2:
        turned = (*strides[:-2], strides[-1], strides[-2])
        yield "transposed strides", replace(tensor, strides=turned)
        swapped = (*shape[:-2], shape[-1], shape[-2])
        yield "a transposed view", replace(tensor, shape=swapped, strides=turned)
        columns = (*strides[:-2], 1, shape[-2])
        yield "columns that follow each other", replace(tensor, strides=columns)
    for axis, extent in enumerate(storage):
        for other in (extent * 2, max(extent // 2, 1)):
            changed = (*storage[:axis], other, *storage[axis + 1 :])
            yield f"storage {changed}", replace(tensor, storage_shape=changed)
    for changed in ((), (1,), (*storage[1:],), (2, *storage), storage):
        yield f"storage {changed}", replace(tensor, storage_shape=changed)
    other = "ND" if tensor.format != "ND" else "FRACTAL_NZ"
    yield other, replace(tensor, format=other)
    if tensor.format != "ND":
        yield "ND of its shape", replace(tensor, format="ND", storage_shape=shape)


class Edges:
    """Memory of a device between two closed pieces."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        base = ffi.new("void **")
        check_acl(C.aclrtReserveMemAddress(base, 3 * UNIT, 0, ffi.NULL, 1), "reserve")
        prop = ffi.new("aclrtPhysicalMemProp *")
        prop.location.type = C.ACL_MEM_LOCATION_TYPE_DEVICE
        handle = ffi.new("aclrtDrvMemHandle *")
        check_acl(C.aclrtMallocPhysical(handle, UNIT, prop, 0), "memory")
        self.start = int(ffi.cast("uintptr_t", base[0])) + UNIT
        self.end = self.start + UNIT
        where = ffi.cast("void *", self.start)
        check_acl(C.aclrtMapMem(where, UNIT, 0, handle[0], 0), "map")
        self.memory = np.frombuffer(ffi.buffer(ffi.cast("char *", where), UNIT), np.uint8)

    def make(self, case: Case, note: Callable[[int], None]) -> Result:
        """Make a case as it is, then with each tensor at either edge."""
        machine = self._machine
        result = machine.make(case, note)
        if result.defect or result.outcome != RAN:
            return result
        counts: Counter[str] = Counter()
        for number, tensor in enumerate(case.call.tensors()):
            if tensor.memory is not None or 0 in tensor.shape:
                continue
            room = self._least_room(case, number, note)
            counts["at the end" if room else "never at the end"] += 1
            machine.moved = {number: self.start}
            machine.make(case, note)
            machine.moved = {}
        result.counts = counts
        return result

    def _least_room(self, case: Case, number: int, note: Callable[[int], None]) -> int:
        """The fewest bytes before the end that are enough, found by halves; 0 where none are."""
        few, enough = 0, 1
        while not self._fits(case, number, enough, note):
            few, enough = enough, enough * 2
            if enough > UNIT:
                return 0
        while enough - few > 1:
            middle = (few + enough) // 2
            if self._fits(case, number, middle, note):
                enough = middle
            else:
                few = middle
        return enough

    def _fits(self, case: Case, number: int, room: int, note: Callable[[int], None]) -> bool:
        self._machine.moved = {number: self.end - room}
        return self._machine.make(case, note).outcome == RAN


def maker(machine: Machine) -> Edges:
    """Return what makes the cases."""
    return Edges(machine)
