# SPDX-License-Identifier: Apache-2.0
"""Launches as others see them: the one mechanism behind strict mode, traces, recordings and checks.

An observer is told before and after each launch. While there is one, the C launcher hands every
launch to Python before anything happens (AP_INTERCEPTED), and the two phases run apart, so that
each has its own time and status. The stream then also remembers the Python line of each launch, for
the error of a fault that shows later. While there is none, a launch costs what it costs without
this module: the launcher tests one word.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aclnn_py._ffi import lib
from aclnn_py._ffi.source_lines import calling_line
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.runtime.faults import note_launch, watching
from aclnn_py.runtime.stream import Stream

__all__ = [
    "Launch",
    "Observer",
    "add_observer",
    "observe",
    "observers",
    "observing",
    "remove_observer",
    "timed",
    "unobserved",
]


class Launch:
    """One launch, told to observers; what is not known yet, or never, is ``None``.

    Attributes
    ----------
    kind : str
        "call" is an operator with both phases, "plan" phase one alone, "run" phase two of a plan,
        "graph" the execution of a captured graph.
    op : Operator or None
        The operator; None for a graph.
    name : str
        The C name: of the operator, or of the routine that executes the graph.
    values : tuple
        The arguments in C order.
    stream : Stream
        The queue it goes to.
    thread : int
        Identity of the thread, as ``threading.get_ident`` has it.
    line : str
        ``file:line`` of the first frame outside the package, "" when there is none.
    begun_ns : int
        ``time.perf_counter_ns`` at the start.
    phase_one_begun_ns, phase_two_begun_ns : int or None
        ``time.perf_counter_ns`` when the library was asked.
    phase_one_ns, phase_two_ns : int or None
        How long each phase took on the host.
    phase_one_status, phase_two_status : int or None
        What the library returned.
    workspace_nbytes : int or None
        What phase one asked for.
    executor, workspace : int or None
        The addresses phase two was given; of a graph, that of the model in place of an executor.
    sequence : int or None
        The number of the work on its stream, from phase two on.
    error : BaseException or None
        What the launch raised; known in ``after``.
    """

    __slots__ = (
        "begun_ns",
        "error",
        "executor",
        "kind",
        "line",
        "name",
        "op",
        "phase_one_begun_ns",
        "phase_one_ns",
        "phase_one_status",
        "phase_two_begun_ns",
        "phase_two_ns",
        "phase_two_status",
        "sequence",
        "stream",
        "thread",
        "values",
        "workspace",
        "workspace_nbytes",
    )

    def __init__(
        self,
        kind: str,
        op: Operator | None,
        values: Sequence[object],
        stream: Stream,
        *,
        name: str = "",
    ) -> None:
        self.kind = kind
        self.op = op
        self.name = name if op is None else op.c_name
        self.values = tuple(values)
        self.stream = stream
        self.thread = threading.get_ident()
        self.line = calling_line()
        self.begun_ns = time.perf_counter_ns()
        self.phase_one_begun_ns: int | None = None
        self.phase_one_ns: int | None = None
        self.phase_two_begun_ns: int | None = None
        self.phase_two_ns: int | None = None
        self.phase_one_status: int | None = None
        self.phase_two_status: int | None = None
        self.workspace_nbytes: int | None = None
        self.executor: int | None = None
        self.workspace: int | None = None
        self.sequence: int | None = None
        self.error: BaseException | None = None

    def __repr__(self) -> str:
        return f"<Launch {self.kind} {self.name} on {self.stream!r} from {self.line or '?'}>"


class Observer:
    """Is told of every launch of the process; subclasses override what they need.

    What an observer launches itself is not observed. An exception that ``before`` raises ends the
    launch before the library is asked, and the caller gets it; one that ``after`` raises reaches
    the caller too, with the error of the launch as its context.
    """

    def before(self, launch: Launch) -> None:
        """Look at a launch that is about to be made."""

    def after(self, launch: Launch) -> None:
        """Look at a launch that has been queued, or that failed: ``launch.error`` says so."""


_observers: tuple[Observer, ...] = ()
_lock = threading.Lock()


def add_observer(observer: Observer) -> None:
    """Tell an observer of every launch from now on, after those that are there already."""
    _exchange(lambda known: (*known, observer))


def remove_observer(observer: Observer) -> None:
    """Tell an observer of no further launch; one that is unknown is ignored."""
    _exchange(lambda known: tuple(item for item in known if item is not observer))


def observers() -> tuple[Observer, ...]:
    """Return who is told of launches now."""
    return _observers


def _exchange(change: Callable[[tuple[Observer, ...]], tuple[Observer, ...]]) -> None:
    global _observers
    with _lock:
        _observers = change(_observers)
        lib.ap_set_intercept(bool(_observers))


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Tell an observer of every launch of the process inside a ``with`` block."""
    add_observer(observer)
    try:
        yield
    finally:
        remove_observer(observer)


@contextmanager
def unobserved() -> Iterator[None]:
    """Launch on this thread without telling observers, inside a ``with`` block."""
    lib.ap_pass(1)
    try:
        yield
    finally:
        lib.ap_pass(-1)


def observe(launch: Launch, work: Callable[[Launch], Any]) -> Any:
    """Make a launch under the eyes of the observers; return what ``work`` returns.

    Whoever gets AP_INTERCEPTED from the launcher comes here and repeats the C call in ``work``,
    where it goes through. ``work`` fills in what it learns about the launch.
    """
    told = _observers
    begun = 0
    lib.ap_pass(1)
    try:
        for observer in told:
            begun += 1  # first: `after` closes what a `before` that raises has begun
            observer.before(launch)
        watching()  # before the device can fail: its report comes once
        result = work(launch)
        if launch.sequence is not None:
            state = launch.stream.state
            note_launch(state, launch.sequence, launch.name, launch.line)
        return result
    except BaseException as error:
        launch.error = error
        raise
    finally:
        try:
            _tell_after(told[:begun], launch)
        finally:
            lib.ap_pass(-1)


def _tell_after(told: tuple[Observer, ...], launch: Launch) -> None:
    """Notify in reverse order; one failure does not stop the others."""
    if told:
        try:
            told[-1].after(launch)
        finally:
            _tell_after(told[:-1], launch)


def timed(call: Callable[[], int]) -> tuple[int, int, int]:
    """Return the result of a C call, when it began, and how long it took in nanoseconds."""
    begun = time.perf_counter_ns()
    result = int(call())
    return result, begun, time.perf_counter_ns() - begun
