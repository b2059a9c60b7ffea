# SPDX-License-Identifier: Apache-2.0
"""Random numbers of work that is repeated: each run draws others.

A seed and an offset that a launch got as arguments would be the same at every replay. So a launch
that is captured or recorded reads them from two tensors, and adds what the launches before it in
the same run have drawn. Before each run the host writes where the generator is now into the two
tensors, in the order of the stream, and moves the generator on by what the run draws.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import CaptureError
from aclnn_py.memory.buffer import HostBuffer
from aclnn_py.memory.graph_memory import Moment, pending
from aclnn_py.random.generator import Generator, whole_blocks
from aclnn_py.runtime.stream import Stream, follow
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import Format
from aclnn_py.tensor.tensor import Tensor, fresh

__all__ = ["Draws", "Place"]

_WORD = 1 << 64


class Place(NamedTuple):
    """Where the numbers of a launch begin in the sequence of a seed.

    ``start`` is None where seed and offset are numbers; where they are tensors it is added to the
    offset.
    """

    seed: int | Tensor
    offset: int | Tensor
    start: int | None = None


class _Counter:
    """Seed and offset of one generator on the device, and how much of it a run draws."""

    __slots__ = ("drawn", "generator", "offset", "seed", "written")

    def __init__(self, generator: Generator) -> None:
        kind, device = dtype_of("int64"), generator.device
        self.generator = generator
        # Each has its own memory: operators need not look at the offset of a view.
        self.seed = fresh((1,), kind, Format.ND, device, for_host=True)
        self.offset = fresh((1,), kind, Format.ND, device, for_host=True)
        self.drawn = 0
        self.written: int | None = None

    def write(self, seed: int, offset: int, stream: Stream) -> None:
        """Queue the numbers for the device; earlier work on the stream still reads the old ones."""
        if seed != self.written:
            _write(self.seed, seed, stream)
            self.written = seed
        _write(self.offset, offset, stream)


def _write(tensor: Tensor, number: int, stream: Stream) -> None:
    # New memory for each run: the device copies from it when the stream gets there.
    pinned = HostBuffer(8, device=tensor.device)
    ffi.memmove(ffi.cast("void *", pinned.raw), (number % _WORD).to_bytes(8, "little"), 8)
    tensor.buffer.write(pinned, stream=stream)


class Draws:
    """What the launches of a graph or a sequence draw from generators.

    Parameters
    ----------
    running : bool
        Whether the launches also run while they are recorded, as those of a sequence do.
    """

    __slots__ = ("_counters", "_last", "_lock", "_running")

    def __init__(self, *, running: bool) -> None:
        self._running = running
        self._counters: dict[Generator, _Counter] = {}
        self._lock = threading.Lock()
        self._last: Moment | None = None

    def __bool__(self) -> bool:
        return bool(self._counters)

    def place(self, generator: Generator, count: int, stream: Stream) -> Place:
        """Return where the numbers of a launch begin that becomes part of the work."""
        with self._lock:
            counter = self._counters.get(generator)
            if counter is None:
                counter = self._counters[generator] = _Counter(generator)
            start = counter.drawn
            if self._running:
                seed, offset = generator.take(count)
                counter.write(seed, offset - start, stream)
            counter.drawn += whole_blocks(count)
        return Place(counter.seed, counter.offset, start)

    def advance(self, stream: Stream) -> None:
        """Let the run that is queued next on ``stream`` draw numbers that nobody had."""
        for counter in self._counters.values():
            seed, offset = counter.generator.take(counter.drawn)
            counter.write(seed, offset, stream)

    @contextmanager
    def turn(self, stream: Stream) -> Iterator[None]:
        """Make the work that is queued in the ``with`` block one run, after those before it."""
        with self._lock:
            before = pending(self._last)
            if before is not None and before[0] is not stream.state:
                if before[0].context.closed == lib.AP_STREAM_CAPTURED:
                    raise CaptureError(
                        "Sequence.run: the stream of the run before is being captured, and this "
                        "one has to wait for it; run it after the capture",
                        call="Sequence.run",
                    )
                follow(stream, before[0])
            self.advance(stream)
            try:
                yield
            finally:
                self.used(stream)

    def used(self, stream: Stream) -> None:
        """Note that what was queued on ``stream`` so far reads the tensors."""
        self._last = stream.state, int(stream.context.sequence)
