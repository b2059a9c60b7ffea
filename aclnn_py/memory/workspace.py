# SPDX-License-Identifier: Apache-2.0
"""The arena a stream lends its launches for their workspace."""

from __future__ import annotations

import threading
from typing import NamedTuple

from aclnn_py._ffi import ffi, lib
from aclnn_py.memory.buffer import Buffer
from aclnn_py.runtime.stream import Stream
from aclnn_py.runtime.stream_state import StreamState

__all__ = ["WorkspaceStats", "grow_workspace", "release_workspace", "workspace_stats"]

_GRANULE = 2 << 20
# Threads that launch on one stream may find its arena too small at the same time.
_exchange = threading.RLock()


class WorkspaceStats(NamedTuple):
    """What a stream lends its launches.

    ``nbytes`` is the arena now, ``peak_nbytes`` the most a launch has used so far, ``exchanges``
    how often the arena was replaced.
    """

    nbytes: int
    peak_nbytes: int
    exchanges: int


def grow_workspace(stream: Stream, nbytes: int) -> None:
    """Give the stream an arena of at least `nbytes`.

    The stream executes in order, so one arena serves all its launches; the old one is kept until
    the device has passed the last launch that may use it.
    """
    with _exchange:
        current = int(stream._ctx.workspace_nbytes)
        if nbytes <= current:
            return
        fresh = stream._queue.kept_arena(nbytes)
        if fresh is None:
            # Doubling bounds the number of exchanges, and with it the memory that waits for its
            # release.
            wanted = max(nbytes, 2 * current)
            fresh = Buffer.allocate(-(-wanted // _GRANULE) * _GRANULE, stream=stream)
        address = ffi.cast("void *", fresh.address)
        sequence = lib.ap_set_workspace(stream._ctx, address, fresh.nbytes)
        stream._queue.replace_arena(fresh, int(sequence))


def release_workspace(state: StreamState) -> int:
    """Take the arena from a stream; return its bytes.

    It goes when the device has passed the last launch that may use it; the next launch makes a new
    one.
    """
    with _exchange:
        nbytes = int(state.context.workspace_nbytes)
        if nbytes:
            sequence = lib.ap_set_workspace(state.context, ffi.NULL, 0)
            state.replace_arena(None, int(sequence))
        return nbytes


def workspace_stats(stream: Stream) -> WorkspaceStats:
    """Return what the stream lends its launches."""
    context = stream._ctx
    return WorkspaceStats(
        int(context.workspace_nbytes),
        int(context.workspace_peak),
        int(context.workspace_exchanges),
    )
