# SPDX-License-Identifier: Apache-2.0
"""Launches that are replayed together: phase one once, phase two of all of them in one C call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import CaptureError
from aclnn_py.memory.workspace import grow_workspace
from aclnn_py.operators.launch.host_lists import HostLists, expect_numbers, items_of
from aclnn_py.operators.launch.observers import observing
from aclnn_py.operators.launch.phases import order_tensors, resume
from aclnn_py.operators.launch.plans import Plan
from aclnn_py.operators.launch.rebinding import overlap, same_layout, same_place
from aclnn_py.operators.launch.report import launch_error
from aclnn_py.operators.launch.sequence_steps import Fresh, Recorder, Step, close, step_of
from aclnn_py.random.draws import Draws
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.stream import Stream, current_stream, resolve_stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Sequence", "SequenceStep"]

_RENEW = (
    "Give the sequence the new ones before the run: sequence.rebind(the_list, the_list). Or pass "
    "a tuple, which does not change."
)


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


class Sequence(Handle):
    """Launches that are queued again and again with one call.

    Made of repeatable plans, or of what is launched in ``with Sequence.record() as sequence:``. A
    sequence keeps its plans and tensors alive. Several threads may run it at a time, each on a
    stream of its own.

    Functions that draw random numbers take new ones at each run, from the generator that they were
    recorded with, as long as they got no seed; such runs follow each other, also on several
    streams. Operators copy the lists of numbers they are given, so a run is refused when such a
    list was changed since: ``rebind`` gives the sequence the new numbers.

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

    __slots__ = ("_careful", "_draws", "_held", "_lists", "_steps")

    def __init__(self, plans: Iterable[Plan] = ()) -> None:
        steps: list[Step] = []
        for index, item in enumerate(plans):
            if not isinstance(item, Plan):
                raise TypeError(f"plans[{index}]: expected a Plan, got {type(item).__name__}")
            if not item.repeatable:
                raise ValueError(
                    f"plans[{index}]: {item!r} runs once; make it with repeatable=True"
                )
            _ = item.raw
            steps.append(item)
        lists = HostLists()
        for index, step in enumerate(steps):
            lists.note(step.op, step._values, index)
        self._adopt(steps, (), lists, None)

    def _adopt(
        self,
        steps: list[Step],
        owned: tuple[Plan, ...],
        lists: HostLists,
        draws: Draws | None,
    ) -> None:
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
        self._lists, self._draws = lists, draws
        self._careful = bool(lists or draws)
        super().__init__(raw, lambda _raw: close(owned), cells)

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
        recorder = Recorder(current_stream())
        outer = thread.recording
        draws = outer if isinstance(outer, Draws) else Draws(running=True)
        thread.recording = draws
        try:
            with observing(recorder):
                yield sequence
        finally:
            thread.recording = outer
            draws.used(recorder.stream)
        steps: list[Step] = []
        try:
            for launch, values in recorder.launches:
                steps.append(step_of(launch, values))
        except BaseException:
            close(steps)
            raise
        sequence.close()
        owned = tuple(step for step in steps if isinstance(step, Plan))
        sequence._adopt(steps, owned, recorder.lists, draws or None)

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
        InvalidArgumentError
            A list of numbers that a launch was given was changed since.
        CaptureError
            The sequence draws random numbers, and the stream is being captured or this thread
            records another sequence.
        AclnnError
            The library refused a launch; the text says which. Those before it are queued.

        Source
        ------
        aclnnXxx (``include/aclnnop``).
        """
        raw = self.raw
        if self._careful:
            self._run_carefully(resolve_stream(stream))
            return
        context = ffi.NULL if stream is None else resolve_stream(stream).context
        status = lib.ap_sequence_run(context, raw, 0)
        if status:
            self._settle(status, resolve_stream(stream))

    def _run_carefully(self, stream: Stream) -> None:
        """Look at the lists that launches have read, and draw other random numbers."""
        self._lists.check("Sequence.run", "recorded", lambda _name: _RENEW)
        if self._draws is None:
            self._queue(stream)
            return
        if stream.state.capture is not None or thread.recording is not None:
            raise CaptureError(
                "Sequence.run: the sequence draws random numbers, which would be the same at each "
                "replay of what is captured or recorded now; launch the functions themselves",
                call="Sequence.run",
            )
        with self._draws.turn(stream):
            self._queue(stream)

    def _queue(self, stream: Stream) -> None:
        status = lib.ap_sequence_run(stream.context, self._raw, 0)
        if status:
            self._settle(status, stream)

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
            status = lib.ap_sequence_run(stream.context, raw, at)

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

    def rebind(self, old: Any, new: Any) -> int:
        """Use another tensor or list from now on, wherever one is used.

        Parameters
        ----------
        old : Tensor or list
            A tensor of the launches; every use of it is replaced, through other Tensor objects too.
            Or a list of numbers: every launch that was given this very object.
        new : Tensor or list
            A tensor of the same layout and offset, a list of as many numbers; the same list after
            it was changed. It takes effect with the next run.

        Returns
        -------
        int
            How many uses were replaced.

        Raises
        ------
        ClosedError
            The sequence or one of its plans is closed.
        ValueError
            ``new`` has another layout or length; no launch uses ``old``; or one uses another view
            of its elements, which would stay behind.
        AclnnError
            The library refused the new address or numbers; then all uses are what they were.

        Source
        ------
        aclSetTensorAddr, aclSetDynamicTensorAddr (``include/aclnn/acl_meta.h``).
        """
        _ = self.raw
        if not isinstance(old, Tensor) and not isinstance(new, Tensor):
            return self._rebind_list(old, new)
        for name, tensor in (("old", old), ("new", new)):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{name}: expected a Tensor, got {type(tensor).__name__}")
        if not same_layout(old, new):
            raise ValueError(f"new: {new!r} does not have the layout and offset of the tensor")
        uses = list(self._uses(old))
        if not uses:
            raise ValueError(f"old: no launch of the sequence uses {old!r}")
        done: list[tuple[Step, int, Tensor]] = []
        try:
            for step, index, before in uses:
                step._exchange(index, new)
                done.append((step, index, before))
        except BaseException:
            for step, index, before in reversed(done):
                step._exchange(index, before)
            raise
        return len(uses)

    def _rebind_list(self, old: Any, new: Any) -> int:
        for name, value in (("old", old), ("new", new)):
            expect_numbers(name, value, "a Tensor or a list")
        uses = self._lists.uses(old)
        if not uses:
            raise ValueError("old: no launch of the sequence was given this very list")
        items = items_of(new)
        changed: dict[int, list[object]] = {}
        for at, position, length in uses:
            if len(items) != length:
                raise ValueError(
                    f"new: {len(items)} numbers, but the sequence was recorded with {length}"
                )
            changed.setdefault(at, list(self._steps[at]._values))[position] = items
        fresh: list[tuple[int, tuple[object, ...], Any, Any]] = []
        try:
            for at, arguments in changed.items():
                values = tuple(arguments)
                fresh.append((at, values, *self._steps[at]._prepare_again(values)))
        except BaseException:
            for _at, _values, plan, _block in fresh:
                lib.ap_discard(plan)
            raise
        for at, values, plan, block in fresh:
            step = self._steps[at]
            step._renew(values, plan, block)
            if isinstance(step, Fresh):
                self._held[at].call = block.cdata
        self._lists.exchange(old, new)
        self._careful = bool(self._lists or self._draws)
        return len(uses)

    def _uses(self, tensor: Tensor) -> Iterator[tuple[Step, int, Tensor]]:
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
        fresh = sum(isinstance(step, Fresh) for step in self._steps)
        text = f"{len(self._steps)} launches"
        if fresh:
            text += f", {fresh} of them not repeatable"
        return f"{text}, closed" if self.closed else text
