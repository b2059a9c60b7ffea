# SPDX-License-Identifier: Apache-2.0
"""Waits that a user can interrupt.

A C call that blocks keeps the interpreter from running signal handlers on its thread, so one long
wait would swallow Ctrl-C. Waiting in slices gives it a chance between two of them; nothing is lost,
because the work goes on meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from aclnn_py.runtime.status import error_of, recent_message

__all__ = ["milliseconds", "wait"]

_SLICE_MS = 100


def milliseconds(timeout_s: float | None, argument: str = "timeout_s") -> float | None:
    """Return a timeout in milliseconds; ``None`` stays ``None`` and means forever.

    Raises
    ------
    TypeError
        The value is not a number.
    ValueError
        The value is negative or NaN.
    """
    if timeout_s is None:
        return None
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)):
        raise TypeError(f"{argument}: expected seconds or None, got {type(timeout_s).__name__}")
    if not timeout_s >= 0:
        raise ValueError(f"{argument}: must not be negative, got {timeout_s}")
    return timeout_s * 1000.0


def wait(
    step: Callable[[int], int],
    expired: int,
    routine: str,
    *,
    timeout_s: float | None = None,
    device: int | None = None,
    stream: int | None = None,
) -> None:
    """Call ``step`` with slices of time until it says the work is done.

    Parameters
    ----------
    step : callable
        Takes milliseconds, waits at most that long and returns a status.
    expired : int
        The status that says the slice was too short.
    routine : str
        The C function behind ``step``, for the error.
    timeout_s : float, optional
        The whole wait, in seconds; forever by default.
    device, stream : int, optional
        For the error.

    Raises
    ------
    DeviceTimeoutError
        The work was not done in time. It goes on.
    AclError
        The work failed.
    """
    limit_ms = None if timeout_s is None else milliseconds(timeout_s)
    deadline = None if limit_ms is None else time.monotonic() + limit_ms / 1000.0
    while True:
        slice_ms = _SLICE_MS
        if deadline is not None:
            left_ms = (deadline - time.monotonic()) * 1000.0
            # The C functions take 0 for "invalid" and -1 for "forever".
            slice_ms = max(1, min(_SLICE_MS, int(left_ms)))
        status = step(slice_ms)
        if not status:
            return
        if status != expired:
            raise error_of("acl", status, routine, device=device, stream=stream)
        message = recent_message()
        if deadline is not None and time.monotonic() >= deadline:
            hint = f"The work was not done after {timeout_s} s; it goes on."
            raise error_of(
                "acl", expired, routine, detail=message, hint=hint, device=device, stream=stream
            )
