# SPDX-License-Identifier: Apache-2.0
"""Which launch a fault of the device may come from.

A fault shows in a later wait, which says nothing about the launch behind it. Each stream remembers
the operators of its last launches and the collectives between them, and, while launches are
observed, the Python lines that made them; those after the last wait that succeeded are the
candidates. Where the library has an exception callback, it names the task, and with it the launch.
What a graph captured did not run by itself: it is named with the replays of the graph.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import StatusError
from aclnn_py.runtime.roles import ActiveDevice, Capture
from aclnn_py.runtime.status import recent_message

__all__ = [
    "Note",
    "QueuedWork",
    "Replayed",
    "is_fault",
    "name_launches",
    "note_collective",
    "note_launch",
    "on_fault",
    "watching",
]

# Waits that expired: nothing is known to have failed.
_EXPIRED = (507046, 507047)
# What tasks fail with: the device, and the memory of the host.
_FAULTS = (207, 507)
_UNKNOWN = 0xFFFFFFFF
# Captured launches of one graph that an error lists.
_LISTED = 16
_GETTERS = tuple(f"aclrtGet{part}FromExceptionInfo" for part in (
    "TaskId", "StreamId", "DeviceId", "ErrorCode",
))  # fmt: skip

_lock = threading.Lock()
_watched: bool | None = None
_on_fault: Callable[[StatusError, QueuedWork, int], None] | None = None


class Note(NamedTuple):
    """What is remembered of one launch: its number on the stream, its line, its last task."""

    sequence: int
    name: str
    line: str
    task: int | None


class Replayed(Protocol):
    """A captured graph that a stream has replayed."""

    @property
    def notes(self) -> Iterable[Note]:
        """Its captured launches."""


class QueuedWork(Protocol):
    """The work of a stream, for the search for the launch that failed."""

    raw: Any
    context: Any
    notes: deque[Note]
    replays: deque[tuple[int, Replayed]]

    @property
    def device(self) -> ActiveDevice:
        """The device of the stream."""

    @property
    def capture(self) -> Capture | None:
        """The capture that records the work, None while it runs."""

    def unlisted(self) -> int:
        """The last work that no error of this thread has to list any more."""


def is_fault(error: StatusError) -> bool:
    """Whether an error is the device's report about work that was queued before."""
    family = error.status // 1000
    return error.library == "acl" and family in _FAULTS and error.status not in _EXPIRED


def on_fault(listener: Callable[[StatusError, QueuedWork, int], None] | None) -> None:
    """Tell one listener of each fault whose launch is known by its number, or nobody."""
    global _on_fault
    _on_fault = listener


def note_launch(state: QueuedWork, sequence: int, name: str, line: str) -> None:
    """Remember the line that queued the work with this number, on the thread that did it."""
    task: int | None = None
    if watching():
        out = ffi.new("uint32_t *")
        # Not through `C`: whoever watches the calls of the program has not asked for this one.
        if lib.aclrtGetThreadLastTaskId(out) == 0:
            task = int(out[0])
    state.notes.append(Note(sequence, name, line, task))


def note_collective(state: QueuedWork, sequence: int, name: str, line: str) -> None:
    """Remember the collective with this number: the launcher's own ring knows operators only.

    It is not told apart by its tasks, which HCCL queues on streams of its own as well.
    """
    state.notes.append(Note(sequence, name, line, None))


def watching() -> bool:
    """Whether the library's exception callback is ours, asking for it at the first call.

    Before CANN had room for several there was one, and the last to come had it: it is taken only
    when somebody wants the lines of launches.
    """
    global _watched
    if _watched is None:
        with _lock:
            if _watched is None:
                several = C.has("aclrtExceptionInfoCallbackRegister")
                routine = "aclrtExceptionInfoCallbackRegister" if several else (
                    "aclrtSetExceptionInfoCallback"
                )  # fmt: skip
                needed = (*_GETTERS, "aclrtGetThreadLastTaskId", routine)
                able = all(C.has(name) for name in needed)
                if able:
                    for name in needed:
                        getattr(C, name)  # binds what the callback calls from C
                    able = lib.ap_watch_faults(several) == 0
                _watched = able
    return _watched


def name_launches(error: StatusError, states: Iterable[QueuedWork]) -> None:
    """Add to the error of a wait the launches that may have caused it, newest last."""
    if not is_fault(error) or error.launches:
        return
    lines: list[str] = []
    replayed: list[str] = []
    culprits: list[tuple[QueuedWork, int]] = []
    exact = lined = False
    for state in states:
        if state.capture is not None:
            continue
        found, culprit, notes = _candidates(state)
        lines += found
        replayed += _replayed(state, str(error))
        exact, lined = exact or culprit is not None, lined or notes
        if culprit is not None:
            culprits.append((state, culprit))
    error.launches = (*lines, *replayed)
    if _on_fault is not None:
        for state, sequence in culprits:
            _on_fault(error, state, sequence)
    if not lines or exact:
        return
    ways = ["ACLNN_PY_BLOCKING=1 (or `with aclnn_py.blocking():`) names the one that failed"]
    if not lined:
        ways.append("ACLNN_PY_LINES=1 adds the Python lines")
    error.launches += (f"to find it: {'; '.join(ways)}",)


def _candidates(state: QueuedWork) -> tuple[list[str], int | None, bool]:
    """The launches of a stream since its last good wait; which one is named; are lines known."""
    context = state.context
    last, done = int(context.sequence), state.unlisted()
    first = max(done + 1, last - lib.AP_RECENT + 1)
    notes = {note.sequence: note for note in tuple(state.notes)}
    culprit = _culprit(state, [notes[n] for n in range(first, last + 1) if n in notes])
    lines = []
    for sequence in range(first, last + 1):
        note = notes.get(sequence)
        op = context.recent[sequence % lib.AP_RECENT]
        name = note.name if note is not None else ""
        if op != ffi.NULL:
            name = ffi.string(op.c_name).decode()
        if not name:
            continue  # an event or a copy
        line = f"  {note.line}" if note is not None and note.line else ""
        mark = "  <- the device reports this one" if sequence == culprit else ""
        lines.append(f"  {name} #{sequence}{line}{mark}")
    if lines:
        older = f", the last {lib.AP_RECENT} pieces of work" if first > done + 1 else ""
        lines.insert(0, f"launched on stream {context.id} since it was last waited for{older}:")
    lined = any(n in notes and notes[n].line for n in range(first, last + 1))
    return lines, culprit, lined


def _replayed(state: QueuedWork, text: str) -> list[str]:
    """The graphs a stream has replayed since its last good wait, and what they captured.

    An error of a replay says which operator failed, at least to those who have the emulator: then
    only the launches of that operator are listed.
    """
    named = set(re.findall(r"\b(?:aclnn|Hccl)\w+", text))
    lines = []
    done = state.unlisted()
    graphs = dict.fromkeys(graph for at, graph in tuple(state.replays) if at > done)
    for graph in graphs:
        notes = list(graph.notes)
        chosen = [note for note in notes if note.name in named] or notes
        lines.append(f"  a graph of {len(notes)} launches, among them")
        lines += [
            f"    {note.name}  {note.line}" if note.line else f"    {note.name}"
            for note in chosen[:_LISTED]
        ]
        if len(chosen) > _LISTED:
            lines.append(f"    and {len(chosen) - _LISTED} more")
    if lines:
        lines.insert(0, f"replayed on stream {state.context.id} since it was last waited for:")
    return lines


def _culprit(state: QueuedWork, notes: list[Note]) -> int | None:
    """The number of the launch whose tasks include the one that the device reported."""
    known = any(note.task is not None for note in notes)
    tasks = set(_reported_tasks(state)) if known and watching() else set()
    before: int | None = None
    for note in notes:
        if note.task is None:
            before = None
            continue
        # A launch may be several tasks; the one before it ended where this one begins.
        first = note.task if before is None else before + 1
        if any(first <= task <= note.task for task in tasks):
            return note.sequence
        before = note.task
    return None


def _reported_tasks(state: QueuedWork) -> Iterator[int]:
    if not C.has("aclrtStreamGetId"):
        return
    number = ffi.new("int32_t *")
    with state.device.as_active():
        if C.aclrtStreamGetId(state.raw, number) != 0:
            recent_message()  # the launch stays unnamed; the fault itself is being raised
            return
    out = ffi.new("ap_fault[]", lib.AP_FAULTS)
    for fault in out[0 : lib.ap_recent_faults(out)]:
        if fault.stream == int(number[0]) and fault.task != _UNKNOWN:
            yield int(fault.task)
