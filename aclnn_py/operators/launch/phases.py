# SPDX-License-Identifier: Apache-2.0
"""The two phases of an operator, one at a time: what plans do, and launches that are observed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.memory.workspace import grow_workspace
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.launch.observers import Launch, observe, timed
from aclnn_py.operators.launch.report import launch_error
from aclnn_py.runtime.stream import Stream, order

__all__ = ["execute", "launch_in_phases", "order_tensors", "prepare", "resume"]


def launch_in_phases(op: Operator, values: Sequence[object], stream: Stream) -> None:
    """Launch an operator under the eyes of the observers."""
    observe(Launch("call", op, values, stream), _both)


def _both(launch: Launch) -> None:
    block, descs, _tensors = launch.op.call_block(launch.values)  # type: ignore[union-attr]
    plan = _phase_one(launch, block, descs, False)
    try:
        _phase_two(launch, plan, ffi.NULL, 0)
    finally:
        lib.ap_discard(plan)


def prepare(
    op: Operator,
    values: Sequence[object],
    stream: Stream,
    block: Any,
    descs: list[Any],
    repeatable: bool,
) -> Any:
    """Run phase one; return the ap_plan, which the caller discards."""
    out = ffi.new("ap_plan *")
    status = _ask(stream, block, descs, repeatable, out)
    if status == lib.AP_INTERCEPTED:
        launch = Launch("plan", op, values, stream)
        work = functools.partial(_phase_one, block=block, descs=descs, repeatable=repeatable)
        return observe(launch, work)
    if status:
        raise launch_error(op, values, stream)
    return out


def execute(
    op: Operator, values: Sequence[object], stream: Stream, plan: Any, address: Any, nbytes: int
) -> None:
    """Run phase two; without an address on the workspace that the stream lends."""
    status = _run(stream, plan, address, nbytes)
    if status == lib.AP_INTERCEPTED:
        launch = Launch("run", op, values, stream)
        work = functools.partial(_phase_two, plan=plan, address=address, nbytes=nbytes)
        observe(launch, work)
    elif status:
        raise launch_error(op, values, stream)


def _phase_one(launch: Launch, block: Any, descs: list[Any], repeatable: bool) -> Any:
    out = ffi.new("ap_plan *")
    status, launch.phase_one_begun_ns, launch.phase_one_ns = timed(
        lambda: _ask(launch.stream, block, descs, repeatable, out)
    )
    if status:
        if lib.ap_last_failure().phase == lib.AP_PHASE_ONE:
            launch.phase_one_status = int(lib.ap_last_failure().status)
        raise launch_error(launch.op, launch.values, launch.stream)  # type: ignore[arg-type]
    prepared = out.prepared
    launch.phase_one_status = 0
    launch.workspace_nbytes = int(prepared.workspace_nbytes)
    launch.executor = _number(prepared.executor)
    return out


def _phase_two(launch: Launch, plan: Any, address: Any, nbytes: int) -> None:
    if launch.executor is None and plan.prepared:
        launch.executor = _number(plan.prepared.executor)
    status, launch.phase_two_begun_ns, launch.phase_two_ns = timed(
        lambda: _run(launch.stream, plan, address, nbytes)
    )
    prepared = plan.prepared
    if prepared:
        launch.workspace_nbytes = int(prepared.workspace_nbytes)
        launch.sequence = int(prepared.sequence) or None
        if launch.workspace_nbytes:
            launch.workspace = _number(address or launch.stream.context.workspace)
    if status:
        if lib.ap_last_failure().phase == lib.AP_PHASE_TWO:
            launch.phase_two_status = int(lib.ap_last_failure().status)
        raise launch_error(launch.op, launch.values, launch.stream)  # type: ignore[arg-type]
    launch.phase_two_status = 0


def _number(address: Any) -> int:
    return int(ffi.cast("uintptr_t", address))


def _ask(stream: Stream, block: Any, descs: list[Any], repeatable: bool, out: Any) -> int:
    array = ffi.new("ap_tensor *[]", descs) if descs else ffi.NULL
    while True:
        status = int(lib.ap_prepare(stream.context, block.cdata, array, repeatable, out))
        if status != lib.AP_NO_STREAM:
            return status
        stream.activate()


def _run(stream: Stream, plan: Any, address: Any, nbytes: int) -> int:
    while True:
        status = int(lib.ap_execute(stream.context, plan, address, nbytes))
        if status == lib.AP_NO_STREAM:
            stream.activate()
        elif status == lib.AP_GUARDED:
            order_tensors(stream, plan.prepared.tensors, plan.prepared.call)
        elif status == lib.AP_NEED_WORKSPACE:
            grow_workspace(stream, int(plan.prepared.workspace_nbytes))
        else:
            return status


def order_tensors(stream: Stream, tensors: Any, call: Any) -> None:
    """Let a stream wait for what was queued on the memory of a launch's tensors by others."""
    found = ffi.unpack(tensors, call.tensor_count)
    order(stream, [tensor.use for tensor in found if tensor])


def resume(stream: Stream) -> int:
    """Go on with a launch of this thread that stopped at AP_NEED_WORKSPACE; return its status."""
    failure = lib.ap_last_failure()
    pending, nbytes = failure.pending, int(failure.workspace_nbytes)
    try:
        # Another thread may have exchanged the arena in between.
        while True:
            grow_workspace(stream, nbytes)
            status = int(lib.ap_resume(stream.context, pending))
            if status != lib.AP_NEED_WORKSPACE:
                pending = ffi.NULL
                return status
    finally:
        lib.ap_abandon(pending)
