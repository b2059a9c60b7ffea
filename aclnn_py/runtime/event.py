# SPDX-License-Identifier: Apache-2.0
"""Events: points in the work of a stream that can be waited for and timed."""

from __future__ import annotations

from typing import Any

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import StatusError
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.roles import Point
from aclnn_py.runtime.status import check_acl
from aclnn_py.runtime.stream import Stream, mark, resolve_stream
from aclnn_py.runtime.stream_state import StreamState, queued_on, raise_of_wait
from aclnn_py.runtime.waiting import wait

__all__ = ["Event"]

_SYNC_TIMEOUT = 507047
_SYNC = 0x1
_TIME_LINE = 0x8
_RECORDED_COMPLETE = 1


class _State:
    __slots__ = ("device", "raw")

    def __init__(self, raw: Any, device: Device) -> None:
        self.raw = raw
        self.device = device


def _destroy(state: _State) -> None:
    with state.device.as_active():
        check_acl(C.aclrtDestroyEvent(state.raw), "aclrtDestroyEvent", device=state.device.index)


class Event(Handle):
    """A point in the work of a stream.

    An event that was never recorded counts as complete. Recording it again replaces the point.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.
    timing : bool, default True
        Whether ``elapsed_ms`` can be asked.

    Source
    ------
    aclrtCreateEventWithFlag, aclrtDestroyEvent (``include/acl/acl_rt.h``).
    """

    __slots__ = ("_device", "_point")

    def __init__(self, device: Device | int | None = None, *, timing: bool = True) -> None:
        where = resolve(device)
        out = ffi.new("aclrtEvent *")
        flag = _SYNC | _TIME_LINE if timing else _SYNC
        with where.as_active():
            status = C.aclrtCreateEventWithFlag(out, flag)
            check_acl(status, "aclrtCreateEventWithFlag", device=where.index)
        self._device = where
        self._point: Point | None = None
        super().__init__(_State(out[0], where), _destroy)

    @property
    def raw(self) -> Any:
        """The aclrtEvent."""
        state: _State = super().raw
        return state.raw

    @property
    def device(self) -> Device:
        """The device the event belongs to."""
        return self._device

    def record(self, stream: Stream | None = None) -> None:
        """Let the event happen when the work queued so far is done.

        Parameters
        ----------
        stream : Stream, optional
            Default: the current stream of this thread.

        Source
        ------
        aclrtRecordEvent (``include/acl/acl_rt.h``).
        """
        where = resolve_stream(stream)
        self.record_state(where.state)
        capture = where.state.capture
        self._point = None if capture is None else capture.record(where)

    def record_state(self, state: StreamState) -> None:
        """Do what ``record`` does, with the state of a stream."""
        raw = self.raw
        with state.device.as_active():
            status = C.aclrtRecordEvent(raw, state.raw)
            number = int(state.context.id)
            check_acl(status, "aclrtRecordEvent", device=state.device.index, stream=number)
        # The C object must outlive the task that refers to it, whatever becomes of this one.
        state.defer(int(lib.ap_mark_use(state.context, ffi.NULL, 0)), None, self)

    def wait(self, stream: Stream | None = None) -> None:
        """Let work that a stream is given from now on wait for the event.

        Parameters
        ----------
        stream : Stream, optional
            The stream that waits. Default: the current stream of this thread.

        Source
        ------
        aclrtStreamWaitEvent (``include/acl/acl_rt.h``).
        """
        raw, where = self.raw, resolve_stream(stream)
        point = self._captured_point()
        capture_rules.before_event_wait(where, point)
        with where.device.as_active():
            status = C.aclrtStreamWaitEvent(where.raw, raw)
            check_acl(status, "aclrtStreamWaitEvent", device=where.device.index, stream=where.id)
        if point is not None:
            point.capture.wait(where, point)
        where.state.defer(mark(where, ()), None, self)

    def _captured_point(self) -> Point | None:
        """What the event stands for in a capture that is going on."""
        if self._point is not None and not self._point.capture.active:
            self._point = None
        return self._point

    def _before_look(self, call: str) -> None:
        point = self._captured_point()
        capture_rules.before_wait(call, None if point is None else point.capture)

    def close(self) -> None:
        """Destroy the event; a second call does nothing."""
        point = self._captured_point()
        capture_rules.before_close("Event.close", None if point is None else point.capture)
        super().close()

    def query(self) -> bool:
        """Return whether the recorded point has been reached, without waiting.

        Source
        ------
        aclrtQueryEventStatus (``include/acl/acl_rt.h``).
        """
        raw = self.raw
        self._before_look("Event.query")
        out = ffi.new("aclrtEventRecordedStatus *")
        with self._device.as_active():
            status = C.aclrtQueryEventStatus(raw, out)
            check_acl(status, "aclrtQueryEventStatus", device=self._device.index)
        return int(out[0]) == _RECORDED_COMPLETE

    def synchronize(self, timeout_s: float | None = None) -> None:
        """Wait until the recorded point has been reached.

        Parameters
        ----------
        timeout_s : float, optional
            In seconds; forever by default.

        Raises
        ------
        DeviceTimeoutError
            The point was not reached in time.
        DeviceError
            Work of the recording stream before the point failed on the device.

        Source
        ------
        aclrtSynchronizeEventWithTimeout, aclrtSynchronizeEvent (``include/acl/acl_rt.h``).
        """
        work = queued_on(self._device)
        try:
            self._wait(timeout_s)
        except StatusError as error:
            raise_of_wait(error, work)

    def _wait(self, timeout_s: float | None) -> None:
        raw = self.raw
        self._before_look("Event.synchronize")
        with self._device.as_active():
            if C.has("aclrtSynchronizeEventWithTimeout"):
                wait(
                    lambda ms: int(C.aclrtSynchronizeEventWithTimeout(raw, ms)),
                    _SYNC_TIMEOUT,
                    "aclrtSynchronizeEventWithTimeout",
                    timeout_s=timeout_s,
                    device=self._device.index,
                )
            else:
                check_acl(C.aclrtSynchronizeEvent(raw), "aclrtSynchronizeEvent")

    def elapsed_ms(self, start: Event) -> float:
        """Return the milliseconds from ``start`` to this event; both must have been reached.

        Parameters
        ----------
        start : Event
            The earlier event, of the same stream.

        Source
        ------
        aclrtEventElapsedTime (``include/acl/acl_rt.h``).
        """
        start._before_look("Event.elapsed_ms")
        self._before_look("Event.elapsed_ms")
        out = ffi.new("float *")
        with self._device.as_active():
            status = C.aclrtEventElapsedTime(out, start.raw, self.raw)
            check_acl(status, "aclrtEventElapsedTime", device=self._device.index)
        return float(out[0])

    def _state(self) -> str:
        return "closed" if self.closed else f"device {self._device.index}"
