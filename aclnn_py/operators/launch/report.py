# SPDX-License-Identifier: Apache-2.0
"""Errors of launches: which argument, and which documented rule it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aclnn_py._ffi import device_kind, ffi, lib
from aclnn_py.errors import (
    AclnnPyError,
    CaptureError,
    ClosedError,
    DeviceMismatchError,
    ForkError,
    InvalidArgumentError,
    OutOfMemoryError,
    SymbolNotFoundError,
)
from aclnn_py.errors.evidence import lines_of
from aclnn_py.operators.describe.argument_text import echo
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.record.sketch import FailedCall
from aclnn_py.operators.rules.parameters import advice, broken_rules
from aclnn_py.operators.rules.terms import Call
from aclnn_py.runtime.status import error_of
from aclnn_py.runtime.stream import Stream

__all__ = ["launch_error"]

# Statuses by which phase one refuses arguments: it says so itself, or what it calls does.
_ARGUMENT_STATUSES = (161001, 161002, 361001, 561000, 561001, 561002, 561003, 561103)
_PARAM_INVALID = 161002


def launch_error(
    op: Operator, values: Sequence[object], stream: Stream | None, place: str = ""
) -> Exception:
    """Build the exception of the launch that has just failed on this thread.

    ``place`` says which of several launches it was.
    """
    failure = lib.ap_last_failure()
    if failure.phase == lib.AP_PHASE_ARGUMENT:
        refusal = _refusal(op, failure, values, stream)
        if place:
            refusal.args = (f"{place}: {refusal}",)
        return refusal
    routine = ffi.string(failure.routine).decode()
    detail = ffi.string(failure.message).decode("utf-8", "replace")
    if place:
        detail = f"{place}: {detail}" if detail else place
    status = int(failure.status)
    where = _where(op, failure)
    if failure.phase == lib.AP_PHASE_CREATE:
        return _creation_error(op, routine, detail, where, values)
    if status == lib.AP_UNBOUND:
        return _missing(op, routine)
    if failure.phase == lib.AP_PHASE_ONE:
        routine += "GetWorkspaceSize"
    judged = failure.phase == lib.AP_PHASE_ONE and status in _ARGUMENT_STATUSES
    broken = broken_rules(op, values) if judged else []
    part = Call(op, values).member()
    error = error_of(
        "aclnn",
        status,
        routine,
        detail=detail,
        broken=broken,
        hint=advice(op, broken, values) if status == _PARAM_INVALID else None,
        arguments=echo(op, values),
        rank=None if part is None else part.rank,
        device=None if stream is None else stream.device.index,
        stream=None if stream is None else stream.id,
    )
    stage = "phase one" if failure.phase == lib.AP_PHASE_ONE else "phase two"
    error.call = FailedCall(op, values, stage)
    return error


def _refusal(
    op: Operator, failure: Any, values: Sequence[object], stream: Stream | None
) -> AclnnPyError:
    where = _where(op, failure)
    reason = int(failure.reason)
    if reason == lib.AP_REASON_CLOSED:
        return ClosedError(f"{op.c_name}: {where} is closed")
    if reason == lib.AP_REASON_OTHER_DEVICE:
        device = "another device" if stream is None else f"not on {stream.device!r}"
        return DeviceMismatchError(
            f"{op.c_name}: {where} is {device}, where the stream is; "
            "copy it there, or launch on a stream of its device"
        )
    if reason == lib.AP_REASON_STREAM_CLOSED:
        return ClosedError(f"{op.c_name}: the stream is closed")
    if reason == lib.AP_REASON_STREAM_CAPTURED:
        return CaptureError(
            f"{op.c_name}: a graph that another thread captures records this stream; launch on "
            "another stream, or after the capture",
            call=op.c_name,
        )
    if reason == lib.AP_REASON_FORKED:
        return ForkError(
            f"{op.c_name}: the device was in use when this process was forked, and it does not "
            "survive fork(). Start workers with the 'spawn' start method."
        )
    if reason == lib.AP_REASON_CONSUMED:
        return ClosedError(
            f"{op.c_name}: this plan has run, and its executor with it. Make a new plan, or one "
            "with repeatable=True"
        )
    if reason == lib.AP_REASON_PLAN_CLOSED:
        return ClosedError(f"{op.c_name}: this plan is closed")
    if reason == lib.AP_REASON_NO_MEMORY:
        return OutOfMemoryError(f"{op.c_name}: no host memory for the launch")
    return InvalidArgumentError(f"{op.c_name}: the index names no tensor of this plan")


def _creation_error(
    op: Operator, routine: str, detail: str, where: str, values: Sequence[object]
) -> AclnnPyError:
    if lib.ap_slot_get(lib.ap_slot_find(routine.encode())) == ffi.NULL:
        return _missing(op, routine)
    # aclCreate* say no more than null.
    text = f"{op.c_name}: {routine} refused {where}"
    error = InvalidArgumentError(f"{text}: {detail}" if detail else text)
    error.args = (
        "\n".join([error.args[0], *(f"  {line}" for line in lines_of(echo(op, values)))]),
    )
    return error


def _missing(op: Operator, routine: str) -> SymbolNotFoundError:
    libraries = [op.library or "the loaded libraries"]
    return SymbolNotFoundError(routine, libraries=libraries, device=device_kind())


def _where(op: Operator, failure: Any) -> str:
    if failure.parameter < 0:
        return "an argument"
    name = op.parameters[failure.parameter].name
    return name if failure.member < 0 else f"{name}[{failure.member}]"
