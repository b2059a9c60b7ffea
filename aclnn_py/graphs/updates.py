# SPDX-License-Identifier: Apache-2.0
"""Captured launches that are made again with other inputs, all of them in two calls of C.

The numbers of a list lie in one piece of memory, which all launches that read the list share. So
an exchange of lists writes them once, runs phase one of these launches, and then phase two of each
as an update of its task group. Only another tensor needs another call block.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import NotSupportedError, StatusError
from aclnn_py.graphs.capture import Recording
from aclnn_py.graphs.lists import GraphList, Listed
from aclnn_py.memory.workspace import grow_workspace
from aclnn_py.operators.describe.call_arguments import token_of
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.operators.launch.phases import order_tensors
from aclnn_py.operators.launch.report import launch_error
from aclnn_py.runtime.status import error_of
from aclnn_py.runtime.stream import Stream, follow
from aclnn_py.tensor.layout import Layout, layout_of
from aclnn_py.tensor.tensor import Tensor, tensor_over

__all__ = ["INSTEAD", "Group", "Place", "Updates"]

INSTEAD = (
    "Capture without inputs=, and copy new values into the captured tensor before each replay: "
    "captured.copy_from(tensor, stream=stream)."
)

Bound = Mapping[str, Tensor | GraphList]


class Place:
    """Where an input stands in the arguments of a launch: a view of it at a distance."""

    __slots__ = ("distance", "layout", "name")

    def __init__(self, name: str, layout: Layout, distance: int) -> None:
        self.name = name
        self.layout = layout
        self.distance = distance

    def view(self, tensor: Tensor) -> Tensor:
        """The view at the same place of another tensor."""
        own = self.layout
        storage = tensor.layout.storage_shape
        layout = layout_of(own.shape, own.strides, own.dtype, own.format, storage)
        return tensor_over(tensor.buffer, layout, tensor.offset + self.distance)


class Group:
    """A captured launch that touches inputs: its task group and what it was called with.

    ``values`` has a ``Place`` or ``Listed`` wherever an input stands.
    """

    __slots__ = ("handle", "held", "names", "op", "recording", "values")

    def __init__(
        self,
        handle: Any,
        op: Operator,
        values: tuple[object, ...],
        names: frozenset[str],
        recording: Recording,
    ) -> None:
        self.handle = handle
        self.op = op
        self.values = values
        self.names = names
        self.recording = recording
        self.held: object = None  # what the ap_update of the group points to

    def arguments(self, bound: Bound) -> list[object]:
        """The arguments with these inputs."""
        return [_filled(value, bound) for value in self.values]


class _Numbers:
    """A list of integers that several launches read from one piece of memory."""

    __slots__ = ("_layout", "_memory", "_parameter", "cells")

    def __init__(self, parameter: Parameter, value: Tensor | GraphList) -> None:
        self._parameter = parameter
        numbers = self._checked(value)
        self.cells = ffi.new("int64_t[]", numbers)
        self._memory = ffi.buffer(self.cells)
        self._layout = struct.Struct(f"={len(numbers)}q")

    def write(self, value: Tensor | GraphList) -> None:
        """Take other numbers, as many as there were."""
        self._layout.pack_into(self._memory, 0, *self._checked(value))

    def _checked(self, value: Tensor | GraphList) -> Any:
        """The numbers as C takes them; raises what a launch would raise."""
        assert isinstance(value, GraphList)
        return token_of(self._parameter, value.items)


class Updates:
    """The launches of one graph that its inputs concern."""

    __slots__ = ("_cells", "_chosen", "_groups", "_numbers", "_stale")

    def __init__(self) -> None:
        self._groups: list[Group] = []
        self._cells: Any = None
        self._numbers: dict[str, _Numbers] = {}
        self._chosen: frozenset[str] = frozenset()
        self._stale = False  # the call blocks are of inputs that were refused

    def add(self, group: Group) -> None:
        """Note a captured launch."""
        self._groups.append(group)

    @property
    def names(self) -> set[str]:
        """The inputs that launches touch."""
        return {name for group in self._groups for name in group.names}

    def prepare(self, queue: Stream, bound: Bound, names: frozenset[str]) -> None:
        """Ask phase one whether the launches take other inputs; nothing has changed if it raises.

        ``bound`` has all inputs as they will be.
        """
        try:
            self._write(bound, names)
            self._choose(names)
            self._ask(queue, bound)
        except BaseException:
            self._stale = True
            raise

    def _write(self, bound: Bound, names: frozenset[str]) -> None:
        """Bring the call blocks up to date."""
        if self._cells is None or self._stale:
            self._cells = ffi.new("ap_update[]", max(len(self._groups), 1))
            self._numbers, self._chosen, self._stale = {}, frozenset(), False
            self._share(bound)
            self._fill(bound, self.names)
            return
        others = names - self._numbers.keys()
        for name in names - others:
            self._numbers[name].write(bound[name])
        if others:
            self._fill(bound, others)

    def _share(self, bound: Bound) -> None:
        """Give lists that stand for integers only a piece of memory each."""
        kinds: dict[str, set[Parameter]] = {}
        for group in self._groups:
            for parameter, value in zip(group.op.parameters, group.values, strict=True):
                if isinstance(value, Listed):
                    kinds.setdefault(value.name, set()).add(parameter)
        for name, parameters in kinds.items():
            if all(parameter.kind == "I" for parameter in parameters):
                self._numbers[name] = _Numbers(next(iter(parameters)), bound[name])

    def _fill(self, bound: Bound, names: Collection[str]) -> None:
        """Point the ap_update of launches that touch these inputs at their arguments."""
        for cell, group in zip(self._cells, self._groups, strict=False):
            if group.names.isdisjoint(names):
                continue
            block, descs, tensors = group.op.own_block(group.arguments(bound))
            for position, value in enumerate(group.values):
                if isinstance(value, Listed) and value.name in self._numbers:
                    block.read_from(position, self._numbers[value.name].cells)
            array = ffi.new("ap_tensor *[]", descs) if descs else ffi.NULL
            cell.group = group.handle
            cell.recording = group.recording.state.context
            cell.call = block.cdata
            cell.tensors = array
            group.held = block, array, tensors

    def _choose(self, names: frozenset[str]) -> None:
        if names == self._chosen:
            return
        for cell, group in zip(self._cells, self._groups, strict=False):
            cell.chosen = not group.names.isdisjoint(names)
        self._chosen = names

    def _ask(self, queue: Stream, bound: Bound) -> None:
        while True:
            status = lib.ap_updates_prepare(queue.context, self._cells, len(self._groups))
            if not status:
                return
            if status != lib.AP_NO_STREAM:
                group = self._groups[int(lib.ap_last_failure().step)]
                raise launch_error(group.op, group.arguments(bound), queue)
            queue.activate()

    def run(self, queue: Stream, own: Stream, bound: Bound) -> None:
        """Make the prepared launches again, on a stream behind the last use of the graph.

        ``own`` is a stream of the graph's own.
        """
        start, count = 0, len(self._groups)
        try:
            while True:
                status = lib.ap_updates_run(queue.context, self._cells, count, start)
                if not status:
                    return
                if status == lib.AP_NO_STREAM:
                    queue.activate()
                    continue
                start = int(lib.ap_last_failure().step)
                self._settle(status, queue, own, bound)
        except BaseException:
            lib.ap_updates_discard(self._cells, count)
            self._stale = True
            raise

    def _settle(self, status: int, queue: Stream, own: Stream, bound: Bound) -> None:
        """Remove what stopped a launch, or raise."""
        failure = lib.ap_last_failure()
        cell, group = self._cells[failure.step], self._groups[failure.step]
        if status == lib.AP_FAILED and failure.phase == lib.AP_PHASE_UPDATE:
            raise _refused(queue)
        if status == lib.AP_FAILED:
            raise launch_error(group.op, group.arguments(bound), queue)
        nbytes = int(failure.workspace_nbytes)
        # Waiting and allocating are done by a stream in the place of the captured one.
        group.recording.state.context.raw = own.raw
        usual = own.lend(group.recording.state)
        try:
            if status == lib.AP_GUARDED:
                order_tensors(own, cell.tensors, cell.call)
            else:
                grow_workspace(own, nbytes)
        finally:
            own.take_back(usual)
        if queue is not own:
            follow(queue, own.state)


def _refused(queue: Stream) -> Exception:
    """The error of a call that opens or closes a task group."""
    failure = lib.ap_last_failure()
    error = error_of(
        "acl",
        int(failure.status),
        ffi.string(failure.routine).decode(),
        detail=ffi.string(failure.message).decode("utf-8", "replace"),
        device=queue.device.index,
        stream=queue.id,
    )
    if isinstance(error, NotSupportedError) and isinstance(error, StatusError):
        error.hint = INSTEAD  # a driver older than 25.0
    return error


def _filled(value: object, bound: Mapping[str, Any]) -> object:
    if isinstance(value, list):
        return [_filled(item, bound) for item in value]
    if isinstance(value, Listed):
        return bound[value.name].items
    return value.view(bound[value.name]) if isinstance(value, Place) else value
