# SPDX-License-Identifier: Apache-2.0
"""Errors of launches: which argument, and which rule it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aclnn_py._ffi import device_kind, ffi, lib, library_info
from aclnn_py._ffi.libraries import EMULATOR
from aclnn_py.errors import (
    AclnnPyError,
    BrokenRule,
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
from aclnn_py.operators.describe.groups import Member, member_of, names_of
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.record.sketch import FailedCall
from aclnn_py.operators.rulebook.advice import advice
from aclnn_py.operators.rulebook.book import judge, refused_here
from aclnn_py.runtime.status import error_of
from aclnn_py.runtime.stream import Stream

__all__ = ["launch_error", "part_of"]

# Thousands of the statuses by which phase one refuses arguments: it says so itself, or what it
# calls does.
_ARGUMENT_FAMILIES = (161, 361, 561)
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
    judged = failure.phase == lib.AP_PHASE_ONE and status // 1000 in _ARGUMENT_FAMILIES
    rule, hint = _judged(op, values, status) if judged else (None, None)
    part = part_of(op, values)
    error = error_of(
        "aclnn",
        status,
        routine,
        detail=detail,
        broken=() if rule is None else (rule,),
        hint=hint,
        arguments=echo(op, values),
        rank=None if part is None else part.rank,
        device=None if stream is None else stream.device.index,
        stream=None if stream is None else stream.id,
    )
    stage = "phase one" if failure.phase == lib.AP_PHASE_ONE else "phase two"
    error.call = FailedCall(op, values, stage)
    return error


def part_of(op: Operator, values: Sequence[object]) -> Member | None:
    """Return the caller's part in the group that a fused operator names."""
    names = names_of(op, values)
    return member_of(values, names[0]) if names else None


def _judged(
    op: Operator, values: Sequence[object], status: int
) -> tuple[BrokenRule | None, str | None]:
    """Return the rule that refused arguments break, and the next step where there is one.

    The rule is the emulator's. Where another library has refused, the next step says in so many
    words what the emulator says of the same arguments, unless it says the same.
    """
    if device_kind() == EMULATOR:
        rule = refused_here(op)
    else:
        verdict = judge(op, values)
        rule = verdict.rule
        if verdict.unasked:
            return None, f"no rule can be named: {verdict.unasked}"
        version = library_info().version
        library = f"{op.library} (CANN {version})" if version else op.library
        emulator = f"the emulator, asked for the rules of the {verdict.chip},"
        if rule is None:
            return None, (
                f"{emulator} accepts these arguments and {library} refuses them with"
                f" {status}: its message alone says why. Releases of CANN differ, and"
                " `aclnn-py doctor` shows which one is in use."
            )
        if rule.status != status:
            return rule, (
                f"{emulator} refuses these arguments too, but with {rule.status} instead of"
                f" {status}, and may mean another rule than {library}: {rule}"
            )
    return rule, advice(op, rule, values) if status == _PARAM_INVALID else None


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
