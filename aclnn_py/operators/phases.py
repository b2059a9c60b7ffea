# SPDX-License-Identifier: Apache-2.0
"""The two phases of an operator, one at a time: what plans do, and launches that are observed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.operators.interception import Launch, observe, timed
from aclnn_py.operators.report import launch_error
from aclnn_py.stream import Stream
from aclnn_py.workspace import grow_workspace

if TYPE_CHECKING:
    from aclnn_py.operators.op import Op

__all__ = ["execute", "launch_in_phases", "prepare"]


def launch_in_phases(op: Op, values: Sequence[object], stream: Stream) -> None:
    """Launch an operator under the eyes of the observers."""
    observe(Launch("call", op, values, stream), _both)


def _both(launch: Launch) -> None:
    block, descs, _tensors = launch.op.call_block(launch.values)  # type: ignore[union-attr]
    cell = _phase_one(launch, block, descs, False)
    try:
        _phase_two(launch, cell[0], ffi.NULL, 0)
    finally:
        lib.ap_discard_cell(cell)


def prepare(
    op: Op, values: Sequence[object], stream: Stream, block: Any, descs: list[Any], repeatable: bool
) -> Any:
    """Run phase one; return the cell of the ap_prepared, which the caller discards."""
    out = ffi.new("ap_prepared **")
    status = _ask(stream, block, descs, repeatable, out)
    if status == lib.AP_INTERCEPTED:
        launch = Launch("plan", op, values, stream)
        work = functools.partial(_phase_one, block=block, descs=descs, repeatable=repeatable)
        return observe(launch, work)
    if status:
        raise launch_error(op, values, stream)
    return out


def execute(
    op: Op, values: Sequence[object], stream: Stream, prepared: Any, address: Any, nbytes: int
) -> None:
    """Run phase two; without an address on the workspace that the stream lends."""
    status = _run(stream, prepared, address, nbytes)
    if status == lib.AP_INTERCEPTED:
        launch = Launch("run", op, values, stream)
        work = functools.partial(_phase_two, prepared=prepared, address=address, nbytes=nbytes)
        observe(launch, work)
    elif status:
        raise launch_error(op, values, stream)


def _phase_one(launch: Launch, block: Any, descs: list[Any], repeatable: bool) -> Any:
    out = ffi.new("ap_prepared **")
    status, launch.phase_one_ns = timed(lambda: _ask(launch.stream, block, descs, repeatable, out))
    if status:
        if lib.ap_last_failure().phase == lib.AP_PHASE_ONE:
            launch.phase_one_status = int(lib.ap_last_failure().status)
        raise launch_error(launch.op, launch.values, launch.stream)  # type: ignore[arg-type]
    launch.phase_one_status = 0
    launch.workspace_nbytes = int(out[0].workspace_nbytes)
    return out


def _phase_two(launch: Launch, prepared: Any, address: Any, nbytes: int) -> None:
    status, launch.phase_two_ns = timed(lambda: _run(launch.stream, prepared, address, nbytes))
    launch.workspace_nbytes = int(prepared.workspace_nbytes)
    launch.sequence = int(prepared.sequence) or None
    if status:
        if lib.ap_last_failure().phase == lib.AP_PHASE_TWO:
            launch.phase_two_status = int(lib.ap_last_failure().status)
        raise launch_error(launch.op, launch.values, launch.stream)  # type: ignore[arg-type]
    launch.phase_two_status = 0


def _ask(stream: Stream, block: Any, descs: list[Any], repeatable: bool, out: Any) -> int:
    array = ffi.new("ap_tensor *[]", descs) if descs else ffi.NULL
    while True:
        status = int(lib.ap_prepare(stream._ctx, block.cdata, array, repeatable, out))
        if status != lib.AP_NO_STREAM:
            return status
        stream.activate()


def _run(stream: Stream, prepared: Any, address: Any, nbytes: int) -> int:
    while True:
        status = int(lib.ap_execute(stream._ctx, prepared, address, nbytes))
        if status == lib.AP_NO_STREAM:
            stream.activate()
        elif status == lib.AP_NEED_WORKSPACE:
            grow_workspace(stream, int(prepared.workspace_nbytes))
        else:
            return status
