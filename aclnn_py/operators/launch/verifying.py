# SPDX-License-Identifier: Apache-2.0
"""Launches that compare a kept executor with a fresh one (``ACLNN_PY_REUSE=verify``)."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import DeviceError
from aclnn_py.memory.buffer import Buffer
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.launch.observers import unobserved
from aclnn_py.operators.launch.phases import execute, prepare, resume
from aclnn_py.operators.launch.report import launch_error
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["launch_verified"]


def launch_verified(op: Operator, values: Sequence[object], stream: Stream) -> None:
    """Launch with a kept executor that has not proved itself, and with a fresh one beside it."""
    kept_nbytes = int(lib.ap_last_failure().workspace_nbytes)
    # A stream that was captured is lent once more when inputs are exchanged.
    if stream.state.capture is not None or stream.state.capturing():
        _replay(op, values, stream)  # nobody may wait now, so nothing can be compared
        return
    written = _written(op, values)
    stream.synchronize()
    before = [buffer.read() for buffer in written]
    fresh_nbytes = _fresh(op, values, stream)
    stream.synchronize()
    expected = [buffer.read() for buffer in written]
    for buffer, data in zip(written, before, strict=True):
        buffer.write(data)
    _replay(op, values, stream)
    stream.synchronize()
    if fresh_nbytes == kept_nbytes and expected == [buffer.read() for buffer in written]:
        return
    op.keep_no_executor()
    lib.ap_reuse_clear()
    for buffer, data in zip(written, expected, strict=True):
        buffer.write(data)
    what = (
        "the results differ"
        if fresh_nbytes == kept_nbytes
        else f"{kept_nbytes} bytes of workspace instead of {fresh_nbytes}"
    )
    raise DeviceError(
        f"{op.c_name}: the executor that was kept for these arguments does not do what a fresh one "
        f"does: {what}. The results are those of the fresh one, and the operator keeps no executor "
        "any more; set ACLNN_PY_REUSE=never for production"
    )


def _written(op: Operator, values: Sequence[object]) -> list[Buffer]:
    """The memory that a launch writes to, each piece once."""
    found: dict[int, Buffer] = {}
    for parameter, value in zip(op.parameters, values, strict=True):
        items = value if parameter.kind == "L" and isinstance(value, (list, tuple)) else [value]
        for item in items:
            if parameter.direction != "in" and isinstance(item, Tensor):
                found[id(item.buffer)] = item.buffer
    return list(found.values())


def _fresh(op: Operator, values: Sequence[object], stream: Stream) -> int:
    """Both phases as if nothing were kept; return the workspace."""
    block, descs, _tensors = op.call_block(values)
    with unobserved():
        plan = prepare(op, values, stream, block, descs, False)
        try:
            nbytes = int(plan.prepared.workspace_nbytes)
            execute(op, values, stream, plan, ffi.NULL, 0)
        finally:
            lib.ap_discard(plan)
    return nbytes


def _replay(op: Operator, values: Sequence[object], stream: Stream) -> None:
    block, descs, _tensors = op.call_block(values)
    lib.ap_trust_kept(1)
    try:
        status = lib.ap_launch(stream.context, block.cdata, descs)
        if status == lib.AP_NEED_WORKSPACE:
            status = resume(stream)
    finally:
        lib.ap_trust_kept(0)
    if status:
        raise launch_error(op, values, stream)
