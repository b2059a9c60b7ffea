# SPDX-License-Identifier: Apache-2.0
"""Inputs of a graph that are exchanged without another capture: tensors and lists of numbers.

Every captured launch that touches an input is a task group of its own. To exchange the input the
launch is made again, with the other tensor or list, as an update of its group: the library learns
the new address by the same call that it learned the old one from, whatever the operator does with
it, and phase one reads the new list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aclnn_py._ffi import C, ffi
from aclnn_py.errors import (
    CaptureError,
    ClosedError,
    DeviceMismatchError,
    NotSupportedError,
    StatusError,
)
from aclnn_py.graphs.capture import CapturedGraph, Recording, address_of
from aclnn_py.graphs.lists import GraphList, GraphLists, Listed
from aclnn_py.graphs.updates import INSTEAD, Group, Place, Updates
from aclnn_py.memory.buffer import Buffer
from aclnn_py.operators.describe.argument_errors import not_a_tensor
from aclnn_py.operators.launch.host_lists import frozen
from aclnn_py.operators.launch.observers import Launch
from aclnn_py.operators.launch.rebinding import overlap, reach
from aclnn_py.runtime.status import check_acl
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.formats import is_blocked
from aclnn_py.tensor.layout import Layout
from aclnn_py.tensor.tensor import Tensor, tensor_over

__all__ = ["GraphInputs", "tensors_of"]

_FUNCTIONS = (
    "aclmdlRICaptureTaskGrpBegin",
    "aclmdlRICaptureTaskGrpEnd",
    "aclmdlRICaptureTaskUpdateBegin",
    "aclmdlRICaptureTaskUpdateEnd",
)


class GraphInputs:
    """The inputs of one graph, and the lists that its launches have read.

    The graph refers to the memory of tensors, but does not own it: ``bound`` keeps it, each replay
    leaves its mark on it, and a graph whose input was closed is not replayed.
    """

    __slots__ = (
        "_fixed",
        "_layouts",
        "_open",
        "_updates",
        "bound",
        "cells",
        "count",
        "lists",
        "uses",
    )

    def __init__(self, inputs: Mapping[str, object], graph: CapturedGraph) -> None:
        lists = {n: v for n, v in inputs.items() if not isinstance(v, Tensor)}
        tensors = {n: v for n, v in inputs.items() if isinstance(v, Tensor)}
        for name, tensor in tensors.items():
            if tensor.device is not graph.device:
                raise DeviceMismatchError(
                    f"inputs[{name!r}]: on {tensor.device!r}, the graph is of {graph.device!r}"
                )
        if inputs:
            _require_groups()
        self.lists = GraphLists(lists)
        self._bind(tensors)
        self._layouts = {name: tensor.layout for name, tensor in tensors.items()}
        self._updates = Updates()
        self._open: tuple[Launch, frozenset[str]] | None = None
        # Memory that the graph touches outside of its inputs as well.
        self._fixed: set[int] = set()

    def _bind(self, tensors: dict[str, Tensor]) -> None:
        self.bound = tensors
        self.count = len(tensors)
        # For the C call of a replay.
        self.uses = [tensor.buffer.block.use for tensor in tensors.values()]
        self.cells = ffi.new("ap_use *[]", self.uses) if tensors else ffi.NULL

    # While the graph is captured.

    def begin(self, launch: Launch) -> None:
        """Open a task group around a launch that touches an input."""
        names: set[str] = set()
        for tensor in tensors_of(launch.values):
            touched = [name for name, held in self.bound.items() if overlap(tensor, held)]
            names.update(touched)
            for name in touched:
                if not _is_view(tensor, self.bound[name]):
                    raise CaptureError(
                        f"{launch.name}: {tensor!r} shares memory with the input {name!r} "
                        "without being a view of it, so the input could not be exchanged; capture "
                        "without inputs=",
                        call=launch.name,
                    )
            if not touched:
                self._fixed.add(_use(tensor))
        names.update(n for n in map(self.lists.name_of, launch.values) if n is not None)
        if not names:
            return
        if launch.kind != "call":
            raise CaptureError(
                f"{launch.name}: a plan keeps the addresses and lists it was made for, so an input "
                "of the graph cannot be exchanged in it; launch the operator itself",
                call=launch.name,
            )
        stream = launch.stream
        with stream.device.as_active():
            status = C.aclmdlRICaptureTaskGrpBegin(stream.raw)
            _check(status, "aclmdlRICaptureTaskGrpBegin", stream)
        self._open = launch, frozenset(names)

    def end(self, launch: Launch) -> None:
        """Note the lists that a launch has read, and close its task group."""
        recording = launch.stream.state.recorder
        if launch.error is None and isinstance(recording, Recording):
            self.lists.note(launch)
        if self._open is None or self._open[0] is not launch:
            return
        (_, names), self._open = self._open, None
        out = ffi.new("aclrtTaskGrp *")
        stream = launch.stream
        with stream.device.as_active():
            status = C.aclmdlRICaptureTaskGrpEnd(stream.raw, out)
            _check(status, "aclmdlRICaptureTaskGrpEnd", stream)
        if launch.error is None and launch.op is not None and isinstance(recording, Recording):
            values = tuple(
                self._template(now if name is None else Listed(name))
                for now, name in zip(
                    frozen(launch.op, launch.values),
                    map(self.lists.name_of, launch.values),
                    strict=True,
                )
            )
            self._updates.add(Group(out[0], launch.op, values, names, recording))

    def _template(self, value: object) -> object:
        if isinstance(value, (list, tuple)):
            return [self._template(item) for item in value]
        if not isinstance(value, Tensor):
            return value
        for name, held in self.bound.items():
            if overlap(value, held):
                return Place(name, value.layout, value.offset - held.offset)
        # The graph keeps the memory, whatever becomes of the tensor.
        memory = value.buffer
        alias = Buffer.from_address(memory.address, memory.nbytes, device=memory.device)
        return tensor_over(alias, value.layout, value.offset)

    def finish(self, graph: CapturedGraph) -> None:
        """Hand the memory of the inputs back to their owners, at the end of the capture."""
        for name, tensor in self.bound.items():
            if tensor.closed:
                raise ClosedError(f"inputs[{name!r}] was closed during the capture")
            if any(_use(tensor) in recording.copied for recording in graph.recordings):
                raise CaptureError(
                    f"Graph.capture: a copy or a collective uses the input {name!r}, and only "
                    "operators can be given another address; capture without inputs=",
                    call="Graph.capture",
                )
        self.lists.finish(self._updates.names)
        for tensor in self.bound.values():
            self._hand_back(tensor, graph)

    def _hand_back(self, tensor: Tensor, graph: CapturedGraph) -> None:
        if _use(tensor) not in self._fixed:
            for recording in graph.recordings:
                recording.forget(tensor.buffer.block.use)

    # Afterwards.

    def clear(self) -> None:
        """Let go of everything: the graph is closed."""
        self._bind({})
        self._updates, self.lists = Updates(), GraphLists({})

    @property
    def named(self) -> dict[str, Any]:
        """What the inputs stand for now."""
        return {**self.bound, **{name: held.value for name, held in self.lists.bound.items()}}

    def check(self, inputs: Mapping[str, object]) -> tuple[dict[str, Tensor], dict[str, GraphList]]:
        """Refuse what cannot take the place of an input; return tensors and lists apart."""
        for name in inputs:
            if name not in self.bound and name not in self.lists.bound:
                names = ", ".join(self.named) or "it has none"
                raise ValueError(f"{name}: no input of this graph; its inputs: {names}")
        tensors = {n: self._checked_tensor(n, v) for n, v in inputs.items() if n in self.bound}
        lists = {n: self.lists.checked(n, v) for n, v in inputs.items() if n not in tensors}
        return tensors, lists

    def _checked_tensor(self, name: str, tensor: object) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise not_a_tensor(name, tensor)
        if tensor.closed:
            raise ClosedError(f"{name}: {tensor!r} is closed")
        device, layout = self.bound[name].device, self._layouts[name]
        if tensor.device is not device:
            raise DeviceMismatchError(f"{name}: on {tensor.device!r}, the graph is of {device!r}")
        if not _same_elements(tensor.layout, layout):
            raise ValueError(
                f"{name}: {tensor.layout}, but the graph was captured with {layout}; copy "
                "into the captured layout, or capture again"
            )
        return tensor

    def prepare(
        self, queue: Stream, tensors: Mapping[str, Tensor], lists: Mapping[str, GraphList]
    ) -> dict[str, Tensor | GraphList]:
        """Ask phase one whether launches take other inputs, before anything changes.

        Returns all inputs as they will be.
        """
        bound: dict[str, Tensor | GraphList]
        bound = {**self.bound, **self.lists.bound, **tensors, **lists}
        self._updates.prepare(queue, bound, frozenset((*tensors, *lists)))
        return bound

    def rebind(
        self,
        graph: CapturedGraph,
        queue: Stream,
        tensors: Mapping[str, Tensor],
        lists: Mapping[str, GraphList],
        bound: Mapping[str, Tensor | GraphList],
    ) -> None:
        """Make the launches again that were prepared, on a stream behind the graph's last use."""
        self._updates.run(queue, graph.own_queue(), bound)
        for tensor in tensors.values():
            self._hand_back(tensor, graph)
        if lists:
            self.lists.exchange(lists)
        if tensors:
            self._bind({**self.bound, **tensors})


def tensors_of(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among the arguments of a launch, those in lists included."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_of(value)


def _require_groups() -> None:
    missing = [name for name in _FUNCTIONS if not C.has(name)]
    if missing:
        raise NotSupportedError(
            f"Graph.capture: inputs= needs {missing[0]}, which the loaded libraries do not have. "
            + INSTEAD
        )
    # Found now, for exchanges, which call them from C.
    _ = C.aclmdlRICaptureTaskUpdateBegin, C.aclmdlRICaptureTaskUpdateEnd


def _check(status: int, routine: str, stream: Stream) -> None:
    try:
        check_acl(status, routine, device=stream.device.index, stream=stream.id)
    except NotSupportedError as error:
        if isinstance(error, StatusError):
            error.hint = INSTEAD  # a driver older than 25.0
        raise


def _use(tensor: Tensor) -> int:
    return address_of(tensor.buffer.block.use)


def _same_elements(one: Layout, other: Layout) -> bool:
    """Whether two layouts differ at most in how much memory lies around the elements."""
    if is_blocked(one.format) and one.storage_shape != other.storage_shape:
        return False
    return (one.shape, one.strides, one.dtype, one.format) == (
        other.shape,
        other.strides,
        other.dtype,
        other.format,
    )


def _is_view(view: Tensor, whole: Tensor) -> bool:
    """Whether all elements of a tensor are elements of another one, at a distance in elements."""
    (low, high), (start, end) = reach(view), reach(whole)
    return (
        view.buffer is whole.buffer
        and view.layout.dtype.bits == whole.layout.dtype.bits
        and start <= low
        and high <= end
    )
