# SPDX-License-Identifier: Apache-2.0
"""Launches that wait for the device, so that a fault is raised by the launch that caused it.

``ACLNN_PY_BLOCKING=1`` turns this on for a whole process.
"""

from __future__ import annotations

from aclnn_py.errors import StatusError
from aclnn_py.operators.describe.argument_text import echo
from aclnn_py.operators.launch.mode import ObserverMode
from aclnn_py.operators.launch.observers import Launch, Observer
from aclnn_py.runtime.faults import is_fault
from aclnn_py.runtime.status import error_of

__all__ = ["blocking"]


class _Waiter(Observer):
    def before(self, launch: Launch) -> None:
        state = launch.stream.state
        if int(state.context.sequence) > state.checked and not state.capturing():
            # Work from before the mode was on must not be laid at the door of this launch.
            launch.stream.synchronize()

    def after(self, launch: Launch) -> None:
        state = launch.stream.state
        if launch.sequence is None or launch.error is not None or state.capturing():
            return
        try:
            launch.stream.synchronize()
        except StatusError as error:
            if not is_fault(error):
                raise
            raise _named(launch, error) from error


class blocking(ObserverMode):
    """Wait for the device after each launch, and raise its faults where they come from.

    A fault of the device otherwise shows in a later wait, with the launches it may come from. This
    is for finding the one: nothing overlaps any more. It holds for the whole process from the call
    on, or inside a ``with`` block; ``ACLNN_PY_BLOCKING=1`` turns it on from the start. Launches
    into a graph that is being captured do not wait, since nothing runs yet.

    Parameters
    ----------
    enabled : bool, default True
        False goes back to launches that return at once.
    """

    _observer = _Waiter()


def _named(launch: Launch, error: StatusError) -> StatusError:
    """The fault as an error of the launch that has just been waited for."""
    where = f" at {launch.line}" if launch.line else ""
    return error_of(
        "acl",
        error.status,
        launch.name,
        detail=error.detail,
        hint=f"The launch{where} failed on the device: it was waited for alone.",
        arguments=() if launch.op is None else echo(launch.op, launch.values),
        device=error.device,
        stream=error.stream,
    )
