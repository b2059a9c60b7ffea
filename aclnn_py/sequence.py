# SPDX-License-Identifier: Apache-2.0
"""Launches that are replayed together: phase one once, phase two of all of them in one C call."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import InvalidArgumentError, StatusError, SymbolNotFoundError
from aclnn_py.handle import Handle
from aclnn_py.operators.exchange import exchanged, overlap, same_layout, same_place
from aclnn_py.operators.interception import Launch, Observer, observing
from aclnn_py.operators.phases import order_tensors, resume
from aclnn_py.operators.report import launch_error
from aclnn_py.plans import Plan
from aclnn_py.stream import Stream, current_stream, resolve_stream
from aclnn_py.tensor import Tensor
from aclnn_py.workspace import grow_workspace

__all__ = ["Sequence", "SequenceStep"]

_REPEATABLE = "aclSetAclOpExecutorRepeatable"


@dataclass(frozen=True)
class SequenceStep:
    """One launch of a sequence, as ``Sequence.report`` describes it.

    Attributes
    ----------
    index : int
        0 for the first launch.
    operator : str
        Its C name.
    repeatable : bool
        Whether phase one is done once and for all; otherwise both phases run at every replay.
    workspace_nbytes : int or None
        What phase two needs; None where phase one says it anew at every replay.
    refusal : str
        Why it is not repeatable, "" when it is.
    """

    index: int
    operator: str
    repeatable: bool
    workspace_nbytes: int | None
    refusal: str


class _Fresh:
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


_Step = Plan | _Fresh


class Sequence(Handle):
    """Launches that are queued again and again with one call.

    Made of repeatable plans, or of what is launched in ``with Sequence.record() as sequence:``. A
    sequence keeps its plans and tensors alive. Several threads may run it at a time, each on a
    stream of its own.

    Parameters
    ----------
    plans : iterable of Plan
        Made with ``repeatable=True``, in the order in which they run; they stay the caller's.

    Raises
    ------
    TypeError
        One of them is no Plan.
    ValueError
        One of them is not repeatable.
    """

    __slots__ = ("_held", "_steps")

    def __init__(self, plans: Iterable[Plan] = ()) -> None:
        steps: list[_Step] = []
        for index, item in enumerate(plans):
            if not isinstance(item, Plan):
                raise TypeError(f"plans[{index}]: expected a Plan, got {type(item).__name__}")
            if not item.repeatable:
                raise ValueError(
                    f"plans[{index}]: {item!r} runs once; make it with repeatable=True"
                )
            _ = item.raw
            steps.append(item)
        self._adopt(steps, ())

    def _adopt(self, steps: list[_Step], owned: tuple[Plan, ...]) -> None:
        cells = ffi.new("ap_step[]", max(len(steps), 1))
        for cell, step in zip(cells, steps):  # noqa: B905 (one spare when empty)
            if isinstance(step, Plan):
                cell.plan = step.raw
            else:
                cell.call = step.block.cdata
                cell.tensors = step.array
        raw = ffi.new("ap_sequence *")
        raw.steps = cells
        raw.count = len(steps)
        self._steps = steps
        self._held = cells
        super().__init__(raw, lambda _raw: _close(owned), cells)

    @classmethod
    @contextmanager
    def record(cls) -> Iterator[Sequence]:
        """Make a sequence of what this thread launches on its current stream in a ``with`` block.

        The launches also run, as they do without it. At the end of the block the sequence is ready;
        until then it is empty. Memory that was allocated in the block stays with the sequence, so
        every run writes to the same tensors.

        Returns
        -------
        context manager
            Its value is the Sequence.

        Raises
        ------
        InvalidArgumentError
            A launch in the block goes to another stream, or executes a graph or another plan.
        AclnnError
            Phase one of a launch is refused when it is asked for a second time.
        """
        sequence = cls()
        recorder = _Recorder(current_stream())
        with observing(recorder):
            yield sequence
        steps: list[_Step] = []
        try:
            for launch in recorder.launches:
                steps.append(_step_of(launch))
        except BaseException:
            _close(steps)
            raise
        sequence.close()
        sequence._adopt(steps, tuple(step for step in steps if isinstance(step, Plan)))

    def __len__(self) -> int:
        return len(self._steps)

    def run(self, stream: Stream | None = None) -> None:
        """Queue all launches, in order.

        Parameters
        ----------
        stream : Stream | None, default None
            Queue to use; the current stream of this thread by default. Returns before the device
            finishes.

        Raises
        ------
        ClosedError
            The sequence, one of its plans or one of their tensors is closed.
        DeviceMismatchError
            The stream is on another device than a tensor.
        AclnnError
            The library refused a launch; the text says which. Those before it are queued.

        Source
        ------
        aclnnXxx (``include/aclnnop``).
        """
        raw = self.raw
        context = ffi.NULL if stream is None else resolve_stream(stream)._ctx
        status = lib.ap_sequence_run(context, raw, 0)
        if status:
            self._settle(status, resolve_stream(stream))

    def _settle(self, status: int, stream: Stream) -> None:
        raw = self._raw
        while status:
            at = int(lib.ap_last_failure().step)
            if status == lib.AP_NO_STREAM:
                stream.activate()
            elif status == lib.AP_GUARDED:
                step = raw.steps[at]
                found = step.plan.prepared if step.plan else step
                order_tensors(stream, found.tensors, found.call)
            elif status == lib.AP_INTERCEPTED:
                self._run_apart(stream, at)
                return
            elif status == lib.AP_NEED_WORKSPACE and lib.ap_last_failure().pending:
                status = resume(stream)
                if status:
                    raise self._failure(at, stream)
                at += 1
            elif status == lib.AP_NEED_WORKSPACE:
                grow_workspace(stream, int(lib.ap_last_failure().workspace_nbytes))
            else:
                raise self._failure(at, stream)
            status = lib.ap_sequence_run(stream._ctx, raw, at)

    def _run_apart(self, stream: Stream, start: int) -> None:
        """One launch at a time, for those who observe them."""
        for step in self._steps[start:]:
            if isinstance(step, Plan):
                step.run(stream)
            else:
                step.op(*step._values, stream=stream)

    def _failure(self, at: int, stream: Stream) -> Exception:
        step = self._steps[at]
        place = f"launch {at} of {len(self._steps)} of the sequence, {step.op.c_name}"
        return launch_error(step.op, step._values, stream, place)

    def rebind(self, old: Tensor, new: Tensor) -> int:
        """Use another tensor from now on, wherever one is used.

        Parameters
        ----------
        old : Tensor
            A tensor of the launches; every use of it is replaced, through other Tensor objects too.
        new : Tensor
            Of the same layout and offset. It takes effect with the next run.

        Returns
        -------
        int
            How many uses were replaced.

        Raises
        ------
        ClosedError
            The sequence or one of its plans is closed.
        ValueError
            ``new`` has another layout; no launch uses ``old``; or one uses another view of its
            elements, which would stay behind.
        AclnnError
            The library refused the new address; then all uses are what they were.

        Source
        ------
        aclSetTensorAddr, aclSetDynamicTensorAddr (``include/aclnn/acl_meta.h``).
        """
        _ = self.raw
        for name, tensor in (("old", old), ("new", new)):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{name}: expected a Tensor, got {type(tensor).__name__}")
        if not same_layout(old, new):
            raise ValueError(f"new: {new!r} does not have the layout and offset of the tensor")
        uses = list(self._uses(old))
        if not uses:
            raise ValueError(f"old: no launch of the sequence uses {old!r}")
        done: list[tuple[_Step, int, Tensor]] = []
        try:
            for step, index, before in uses:
                step._exchange(index, new)
                done.append((step, index, before))
        except BaseException:
            for step, index, before in reversed(done):
                step._exchange(index, before)
            raise
        return len(uses)

    def _uses(self, tensor: Tensor) -> Iterator[tuple[_Step, int, Tensor]]:
        for at, step in enumerate(self._steps):
            for index, used in enumerate(step._tensors):
                if not isinstance(used, Tensor):
                    continue
                if same_place(used, tensor):
                    yield step, index, used
                elif overlap(used, tensor):
                    raise ValueError(
                        f"old: launch {at} ({step.op.c_name}) uses another view of its elements, "
                        f"{used!r}; record the sequence again with the new tensor"
                    )

    def report(self) -> tuple[SequenceStep, ...]:
        """Describe every launch: its operator, and whether it is replayed or made anew."""
        return tuple(
            SequenceStep(index, step.op.c_name, True, step.workspace_nbytes, "")
            if isinstance(step, Plan)
            else SequenceStep(index, step.op.c_name, False, None, step.refusal)
            for index, step in enumerate(self._steps)
        )

    def _state(self) -> str:
        fresh = sum(isinstance(step, _Fresh) for step in self._steps)
        text = f"{len(self._steps)} launches"
        if fresh:
            text += f", {fresh} of them not repeatable"
        return f"{text}, closed" if self.closed else text


class _Recorder(Observer):
    """Notes the launches of one thread."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.thread = threading.get_ident()
        self.launches: list[Launch] = []

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
            self.launches.append(launch)


def _step_of(launch: Launch) -> _Step:
    op: Any = launch.op
    try:
        return Plan(op, launch.values, True)
    except StatusError as error:
        if error.routine != _REPEATABLE:
            raise
        return _Fresh(op, launch.values, f"{error.status_name} ({error.status})")
    except SymbolNotFoundError as error:
        if error.symbol != _REPEATABLE:
            raise
        return _Fresh(op, launch.values, f"{_REPEATABLE} is not in the loaded libraries")


def _close(steps: Iterable[_Step]) -> None:
    for step in steps:
        if isinstance(step, Plan):
            step.close()
