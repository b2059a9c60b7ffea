# SPDX-License-Identifier: Apache-2.0
"""Errors of launches: which argument, and which documented rule it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import (
    AclnnPyError,
    ClosedError,
    DeviceMismatchError,
    ForkError,
    InvalidArgumentError,
    OutOfMemoryError,
    SymbolNotFoundError,
)
from aclnn_py.facts import operator as operator_facts
from aclnn_py.operators.parameter import Parameter
from aclnn_py.status import error_of
from aclnn_py.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.operators.op import Op
    from aclnn_py.stream import Stream

__all__ = ["broken_rules", "describe", "launch_error"]

# Statuses by which phase one refuses arguments.
_ARGUMENT_STATUSES = (161001, 161002, 561103)
_DTYPE_NAMES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "float8_e8m0fnu": "FLOAT8_E8M0",
    "float4_e2m1fn": "FLOAT4_E2M1",
}


def launch_error(op: Op, values: Sequence[object], stream: Stream | None) -> Exception:
    """Build the exception of the launch that has just failed on this thread."""
    failure = lib.ap_last_failure()
    if failure.phase == lib.AP_PHASE_ARGUMENT:
        return _refusal(op, failure, values, stream)
    routine = ffi.string(failure.routine).decode()
    detail = ffi.string(failure.message).decode("utf-8", "replace")
    status = int(failure.status)
    where = _where(op, failure)
    if failure.phase == lib.AP_PHASE_CREATE:
        return _creation_error(op, routine, detail, where, values)
    if status == lib.AP_UNBOUND:
        return SymbolNotFoundError(routine, libraries=[op.library or "the loaded libraries"])
    if failure.phase == lib.AP_PHASE_ONE:
        routine += "GetWorkspaceSize"
    rules = list(broken_rules(op, values)) if status in _ARGUMENT_STATUSES else []
    return error_of(
        "aclnn",
        status,
        routine,
        detail=detail,
        hint="; ".join(rules) + "." if rules else None,
        arguments=describe(op, values),
        device=None if stream is None else stream.device.index,
        stream=None if stream is None else stream.id,
    )


def _refusal(op: Op, failure: Any, values: Sequence[object], stream: Stream | None) -> AclnnPyError:
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
    op: Op, routine: str, detail: str, where: str, values: Sequence[object]
) -> AclnnPyError:
    if lib.ap_slot_get(lib.ap_slot_find(routine.encode())) == ffi.NULL:
        return SymbolNotFoundError(routine, libraries=[op.library or "the loaded libraries"])
    # aclCreate* say no more than null.
    text = f"{op.c_name}: {routine} refused {where}"
    error = InvalidArgumentError(f"{text}: {detail}" if detail else text)
    error.args = ("\n".join([error.args[0], *(f"  {line}" for line in describe(op, values))]),)
    return error


def _where(op: Op, failure: Any) -> str:
    if failure.parameter < 0:
        return "an argument"
    name = op.parameters[failure.parameter].name
    return name if failure.member < 0 else f"{name}[{failure.member}]"


def describe(op: Op, values: Sequence[object]) -> tuple[str, ...]:
    """Arguments of a call, each as `name: shape dtype strides format` or `name: value`."""
    return tuple(
        line
        for parameter, value in zip(op.parameters, values, strict=True)
        for line in _lines(parameter, value)
    )


def _lines(parameter: Parameter, value: object) -> Iterator[str]:
    if parameter.kind == "L" and isinstance(value, Sequence):
        yield f"{parameter.name}: {len(value)} tensors"
        for index, item in enumerate(value):
            yield f"{parameter.name}[{index}]: {_text(item)}"
    else:
        yield f"{parameter.name}: {_text(value)}"


def _text(value: object) -> str:
    if isinstance(value, Tensor):
        text = f"{value.shape} {value.dtype_name} strides {value.strides} {value.format.name}"
        return f"{text} offset {value.offset}" if value.offset else text
    return repr(value)


def broken_rules(op: Op, values: Sequence[object]) -> Iterator[str]:
    """What the documents say against the arguments, one sentence part each."""
    facts = operator_facts(op.c_name)
    if facts is None:
        return
    for parameter, fact, value in zip(op.parameters, facts["params"], values, strict=True):
        if value is None and not parameter.nullable and parameter.kind in "TLSRIFB":
            yield f"{parameter.name} must not be None"
        items = value if parameter.kind == "L" and isinstance(value, Sequence) else [value]
        for index, item in enumerate(items):
            if isinstance(item, Tensor):
                name = f"{parameter.name}[{index}]" if parameter.kind == "L" else parameter.name
                yield from _tensor_rules(name, fact, item)


def _tensor_rules(name: str, fact: Any, tensor: Tensor) -> Iterator[str]:
    dtypes = fact.get("dtypes", ())
    if dtypes and _documented_name(tensor) not in dtypes:
        yield f"{name} is {tensor.dtype_name}; documented are {', '.join(dtypes)}"
    ranks = _ranks(fact.get("dims", ""))
    if ranks and tensor.ndim not in ranks:
        yield f"{name} has {tensor.ndim} dimensions; documented are {fact['dims']}"
    formats = fact.get("formats", ())
    if formats and tensor.format.name not in formats:
        yield f"{name} has format {tensor.format.name}; documented are {', '.join(formats)}"
    if fact.get("strided") is False and not tensor.is_contiguous:
        yield f"{name} has gaps (strides {tensor.strides}); it must be contiguous"


def _documented_name(tensor: Tensor) -> str:
    name = tensor.dtype_name
    return _DTYPE_NAMES.get(name, name.upper())


def _ranks(dims: str) -> set[int]:
    """The ranks of "0-8", "2" or "3,5"."""
    ranks: set[int] = set()
    for part in filter(None, dims.split(",")):
        low, _, high = part.partition("-")
        ranks.update(range(int(low), int(high or low) + 1))
    return ranks
