# SPDX-License-Identifier: Apache-2.0
"""The arena a stream lends its launches for their workspace."""

from __future__ import annotations

from aclnn_py._ffi import ffi, lib
from aclnn_py.memory import Buffer
from aclnn_py.pending import StreamState
from aclnn_py.stream import Stream

__all__ = ["grow_workspace", "release_workspace"]

_GRANULE = 2 << 20


def grow_workspace(stream: Stream, nbytes: int) -> None:
    """Give the stream an arena of at least `nbytes`.

    The stream executes in order, so one arena serves all its launches; the old one is kept until
    the device has passed the last launch that may use it.
    """
    state = stream._queue
    if nbytes <= int(stream._ctx.workspace_nbytes):
        return
    # Doubling bounds the number of exchanges, and with it the memory that waits to be released.
    wanted = max(nbytes, 2 * int(stream._ctx.workspace_nbytes))
    size = -(-wanted // _GRANULE) * _GRANULE
    fresh = Buffer.allocate(size, stream=stream)
    sequence = lib.ap_set_workspace(stream._ctx, ffi.cast("void *", fresh.address), size)
    state.replace_arena(fresh, int(sequence))


def release_workspace(state: StreamState) -> None:
    """Wait for a stream and give its arena back to the device; the next launch makes a new one."""
    if state.arena is not None:
        sequence = lib.ap_set_workspace(state.context, ffi.NULL, 0)
        state.replace_arena(None, int(sequence))
        state.synchronize()
