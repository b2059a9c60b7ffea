# SPDX-License-Identifier: Apache-2.0
"""What must not be called while a graph is captured, and the words in which it is refused.

A capture records work instead of running it, so nothing can be waited for, and a copy that does not
go through a stream is not recorded. CANN answers such calls by making the whole capture invalid;
they are refused here before it is asked, which leaves the capture as it is.
"""

from __future__ import annotations

import threading

from aclnn_py._ffi import lib
from aclnn_py.errors import CaptureError
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.roles import ActiveDevice, Capture, Point, RecordableStream

__all__ = [
    "before_close",
    "before_copy",
    "before_device_wait",
    "before_event_wait",
    "before_pageable_copy",
    "before_queue",
    "before_wait",
    "device_waits_are_safe",
    "enter",
    "leave",
    "waits_are_safe",
]

GLOBAL, THREAD, RELAXED = range(3)  # values of aclmdlRICaptureMode

# The captures that are going on, by the index of their device.
_going_on: dict[int, Capture] = {}
_lock = threading.Lock()


def enter(capture: Capture) -> None:
    """Make a capture the one of its device and of this thread; refuse where there is one."""
    own = thread.capture
    with _lock:
        other = own or _going_on.get(capture.device.index)
        if other is None:
            _going_on[capture.device.index] = capture
    if other is not None:
        where = "on this thread" if own is not None else f"on device {other.device.index}"
        raise CaptureError(
            f"Graph.capture: a capture is going on {where} already; one at a time: wait until it "
            "has ended",
            call="Graph.capture",
        )
    thread.capture = capture
    lib.ap_set_capturing(1)


def leave(capture: Capture) -> None:
    """End what ``enter`` began."""
    with _lock:
        _going_on.pop(capture.device.index, None)
    if thread.capture is capture:
        thread.capture = None
        lib.ap_set_capturing(0)


def before_wait(call: str, captured: Capture | None = None) -> None:
    """Refuse a wait for a stream or an event; ``captured`` is the capture that records it."""
    own = thread.capture
    if captured is not None:
        _refuse(call, "its work is being recorded into a graph and does not run")
    if own is not None and own.mode != RELAXED:
        _refuse(call, "this thread captures a graph, and nothing may be waited for meanwhile")


def before_device_wait(call: str, device: ActiveDevice) -> None:
    """Refuse a wait for a whole device on which a capture is going on."""
    if not _going_on:
        return
    if device.index in _going_on or thread.capture is not None:
        _refuse(call, "a graph is being captured, and its device cannot be waited for")


def before_copy(call: str, instead: str = "") -> None:
    """Refuse a copy that does not go through a stream.

    ``instead`` says what to do; by default to come back when the capture is over.
    """
    if not _going_on:
        return
    own = thread.capture
    if own is not None and own.mode != RELAXED:
        _refuse(call, "this thread captures a graph, and the host cannot take part in it", instead)
    if any(other.mode == GLOBAL for other in list(_going_on.values()) if other is not own):
        why = 'another thread captures a graph in the mode "global", which stops all host copies'
        _refuse(call, why, 'Capture in the mode "thread", or copy when the capture is over.')


def before_pageable_copy(call: str, stream: RecordableStream) -> None:
    """Refuse to record a copy from or to host memory that is not pinned."""
    if stream.state.capture is not None:
        why = "the host memory is pageable: it would be copied now, and not by a replay"
        _refuse(call, why, "Pass a HostBuffer, which is pinned.")
    before_copy(call)


def before_queue(call: str, stream: RecordableStream) -> None:
    """Refuse work that the thread of a capture gives to a stream which does not take part in it."""
    own = thread.capture
    if own is not None and stream.state.capture is None:
        _refuse(
            call,
            f"this thread captures a graph and {stream!r} takes no part in it",
            "Leave the stream out, or let it join first: stream.wait(main.record()), with main "
            "being what `with graph.capture() as main` gave.",
        )


def before_event_wait(stream: RecordableStream, point: Point | None) -> None:
    """Refuse to tie a captured stream to an event that its capture did not record."""
    capture = stream.state.capture
    if capture is not None and (point is None or point.capture is not capture):
        _refuse(
            "Event.wait",
            "the event was not recorded inside the capture, and a replay would not see it",
            "Let the stream that replays the graph wait for it.",
        )


def before_close(call: str, captured: Capture | None) -> None:
    """Refuse to end what a capture needs."""
    if captured is not None:
        _refuse(call, "a capture that is going on needs it", "Close it after the capture.")


def waits_are_safe() -> bool:
    """Whether this thread may ask the device how far its streams are."""
    return thread.capture is None


def device_waits_are_safe(device: ActiveDevice) -> bool:
    """Whether a whole device may be waited for."""
    return thread.capture is None and device.index not in _going_on


def _refuse(call: str, why: str, instead: str = "") -> None:
    advice = instead or "Do it before or after the capture."
    raise CaptureError(f"{call}: {why}. {advice}", call=call)
