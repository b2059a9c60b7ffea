# SPDX-License-Identifier: Apache-2.0
"""The launches of a sequence: how they are recorded, and prepared for its runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import InvalidArgumentError, StatusError, SymbolNotFoundError
from aclnn_py.operators.launch.host_lists import HostLists, frozen
from aclnn_py.operators.launch.observers import Launch, Observer
from aclnn_py.operators.launch.phases import prepare
from aclnn_py.operators.launch.plans import Plan
from aclnn_py.operators.launch.rebinding import exchanged
from aclnn_py.runtime.stream import Stream, current_stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Fresh", "Recorder", "Step", "close", "step_of"]

_REPEATABLE = "aclSetAclOpExecutorRepeatable"


class Fresh:
    """A launch that goes through both phases at every run, since the library has no other."""

    __slots__ = ("_tensors", "_values", "array", "block", "op", "refusal")

    def __init__(self, op: Any, values: tuple[object, ...], refusal: str) -> None:
        self.op = op
        self._values = list(values)
        self.refusal = refusal
        self.block, descs, self._tensors = op.call_block(values)
        self.array = ffi.new("ap_tensor *[]", descs) if descs else ffi.NULL

    def _exchange(self, index: int, tensor: Tensor) -> None:
        """Take another tensor of the same layout."""
        self._values = exchanged(self.op, self._values, index, tensor)
        self._tensors[index] = tensor
        self.array[index] = tensor._desc

    def _prepare_again(self, values: tuple[object, ...]) -> tuple[Any, Any]:
        """Run phase one with other numbers; return the ap_plan and the call block."""
        block, descs, _tensors = self.op.call_block(values)
        return prepare(self.op, values, current_stream(), block, descs, False), block

    def _renew(self, values: tuple[object, ...], fresh: Any, block: Any) -> None:
        """Take over what ``_prepare_again`` returned; each run goes through phase one itself."""
        lib.ap_discard(fresh)
        self._values, self.block = list(values), block


Step = Plan | Fresh
"""A launch, with an executor of its own or through both phases each time."""


class Recorder(Observer):
    """Notes the launches of one thread."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.thread = threading.get_ident()
        self.launches: list[tuple[Launch, tuple[object, ...]]] = []
        self.lists = HostLists()

    def before(self, launch: Launch) -> None:
        if launch.thread != self.thread:
            return
        if launch.op is None or launch.kind == "run":
            raise InvalidArgumentError(
                f"{launch.name}: a sequence records launches of operators; graphs and plans are "
                "replayed by themselves"
            )
        if launch.kind == "call" and launch.stream is not self.stream:
            raise InvalidArgumentError(
                f"{launch.name}: goes to {launch.stream!r}, but the sequence is recorded on "
                f"{self.stream!r}"
            )

    def after(self, launch: Launch) -> None:
        if launch.thread == self.thread and launch.kind == "call" and launch.error is None:
            op: Any = launch.op
            self.lists.note(op, launch.values, len(self.launches))
            # Lists as the launch has read them: the caller may change them in the block.
            self.launches.append((launch, frozen(op, launch.values)))


def step_of(launch: Launch, values: tuple[object, ...]) -> Step:
    """Prepare a recorded launch for runs: once and for all where the library can."""
    op: Any = launch.op
    try:
        return Plan(op, values, True)
    except StatusError as error:
        if error.routine != _REPEATABLE:
            raise
        return Fresh(op, values, f"{error.status_name} ({error.status})")
    except SymbolNotFoundError as error:
        if error.symbol != _REPEATABLE:
            raise
        return Fresh(op, values, f"{_REPEATABLE} is not in the loaded libraries")


def close(steps: Iterable[Step]) -> None:
    """Close the plans among steps."""
    for step in steps:
        if isinstance(step, Plan):
            step.close()
