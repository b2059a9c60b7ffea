# SPDX-License-Identifier: Apache-2.0
"""The arena a stream lends its launches for their workspace."""

from __future__ import annotations

import threading
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.memory.buffer import Buffer
from aclnn_py.runtime.stream import Stream
from aclnn_py.runtime.stream_state import NEVER, StreamState

__all__ = ["grow_workspace", "release_workspace"]

_GRANULE = 2 << 20
# Threads that launch on one stream may find its arena too small at the same time.
_exchange = threading.RLock()


def grow_workspace(stream: Stream, nbytes: int) -> None:
    """Give the stream an arena of at least `nbytes`.

    The stream executes in order, so one arena serves all its launches; the old one is kept until
    the device has passed the last launch that may use it.
    """
    with _exchange:
        current = int(stream.context.workspace_nbytes)
        if nbytes <= current:
            return
        recorder = stream.state.recorder
        fresh = None if recorder is None else recorder.kept_arena(nbytes)
        if fresh is None:
            # Doubling bounds the number of exchanges, and with it the memory that waits for its
            # release.
            wanted = max(nbytes, 2 * current)
            fresh = Buffer.allocate(-(-wanted // _GRANULE) * _GRANULE, stream=stream)
        address = ffi.cast("void *", fresh.address)
        sequence = lib.ap_set_workspace(stream.context, address, fresh.nbytes)
        _replace_arena(stream.state, fresh, int(sequence))


def release_workspace(state: StreamState) -> int:
    """Take the arena from a stream; return its bytes.

    It goes when the device has passed the last launch that may use it; the next launch makes a new
    one.
    """
    with _exchange:
        nbytes = int(state.context.workspace_nbytes)
        if nbytes:
            sequence = lib.ap_set_workspace(state.context, ffi.NULL, 0)
            _replace_arena(state, None, int(sequence))
        return nbytes


def _replace_arena(state: StreamState, arena: Any, sequence: int) -> None:
    """Hold the buffer that launches use as workspace; ``sequence`` is the last one on the old.

    Launches leave no marks on it, so it carries one that only the end of the stream reaches: at
    exit it may be asked to go before the stream has been waited for.
    """
    if state.recorder is not None:
        state.recorder.keep_arena(arena)
        return
    if arena is not None:
        entry = arena.block.use.marks[0]
        entry.stream_id, entry.sequence = state.context.id, NEVER
    old, state.arena = state.arena, arena
    if old is not None:
        old.block.use.marks[0].sequence = sequence
