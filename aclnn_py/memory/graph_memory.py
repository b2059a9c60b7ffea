# SPDX-License-Identifier: Apache-2.0
"""The memory that graphs keep between their replays, and what they share of it.

A replay writes the memory it was captured with, whatever became of the tensors. So what is
allocated while a graph is captured is kept until the graph goes. Inside the capture it is used
again in the order of its stream, as any memory; and graphs that are never replayed at the same time
can keep the same: one after the other, they need as much as the largest.
"""

from __future__ import annotations

import threading

from aclnn_py._ffi import lib
from aclnn_py.memory.buffer import Buffer
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.stream_state import StreamState, new_context

__all__ = ["GraphMemory", "Moment", "pending", "unchecked"]

Moment = tuple[StreamState, int]
"""When a graph was used: the state of a stream, and the number of the work on it."""


class GraphMemory:
    """Memory of one graph or of several, whose replays run one after the other.

    Attributes
    ----------
    context : cdata
        The ap_stream that stands for the graphs in the allocator; it never gets any work.
    last : Moment or None
        Where one of the graphs was used last. Every use waits for the one before, so when the
        device has passed this one it has passed all.
    lock : Lock
        Held by whoever uses one of the graphs.
    arenas : dict of int to Buffer
        Workspace of captured launches, by the place of their stream among those of the capture.
    """

    __slots__ = ("_graphs", "arenas", "context", "last", "lock")

    def __init__(self, device: Device) -> None:
        self.context = new_context(device)
        self.last: Moment | None = None
        self.lock = threading.Lock()
        self.arenas: dict[int, Buffer] = {}
        # The numbers of the graphs that keep memory here: finalizers leave, and sets need no lock.
        self._graphs: set[int] = set()

    def join(self, graph: object) -> None:
        """Note that a graph keeps memory here."""
        self._graphs.add(id(graph))

    def leave(self, graph: object) -> None:
        """Note that a graph does not any more; after the last one the memory is anybody's."""
        self._graphs.discard(id(graph))
        if not self._graphs:
            self.arenas.clear()
            lib.ap_pools_release(self.context)


def unchecked(moment: Moment | None) -> Moment | None:
    """The moment itself, or None if there is none or this thread knows that all went well."""
    return None if moment is None or moment[0].is_checked(moment[1]) else moment


def pending(moment: Moment | None) -> Moment | None:
    """The moment itself, or None if there is none or the device is known to have passed it."""
    return None if moment is None or moment[1] <= moment[0].context.completed else moment
