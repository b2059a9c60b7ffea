# SPDX-License-Identifier: Apache-2.0
"""Launches that did not go through at once: observed, short of workspace, or refused.

Most programs launch without any of these. So this module, which loads what explains mistakes, is
loaded by the hook ``late.settling`` when the first launch needs it.
"""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import late
from aclnn_py._ffi import lib
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.launch.phases import launch_in_phases, resume
from aclnn_py.operators.launch.report import launch_error
from aclnn_py.operators.launch.verifying import launch_verified
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.stream import Stream

__all__ = ["settle"]


def settle(op: Operator, status: int, values: Sequence[object], stream: Stream) -> None:
    """Finish a launch that returned ``status``, or raise what was wrong with it.

    Parameters
    ----------
    status : int
        Neither AP_OK nor one that only asks for the stream to be prepared.
    values : sequence
        The arguments in C order.

    Notes
    -----
    What phase one refuses is computed in another way if ``unsupported_dtypes`` of this thread says
    so.
    """
    try:
        _finish(op, status, values, stream)
    except InvalidArgumentError:
        if thread.unsupported == "refuse":
            raise
        if not late.unsupported.compute_instead(op, values, stream):
            raise


def _finish(op: Operator, status: int, values: Sequence[object], stream: Stream) -> None:
    if status == lib.AP_INTERCEPTED:
        launch_in_phases(op, values, stream)
        return
    if status == lib.AP_VERIFY:
        launch_verified(op, values, stream)
        return
    if status == lib.AP_NEED_WORKSPACE:
        status = resume(stream)
    if status:
        raise launch_error(op, values, stream)
