# SPDX-License-Identifier: Apache-2.0
"""One step of a batch as a captured graph, whose inputs are copied at once."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

import numpy as np
from layers import Step
from model import Model

import aclnn_py as ap

SIDES = 8
"""Steps that may be on their way to the device at once."""


class Bucket:
    """The graph of a batch of ``rows`` rows. A smaller batch leaves rows empty.

    Graphs share the memory of their intermediate results with ``first``, since one of them runs at
    a time.
    """

    def __init__(self, model: Model, rows: int, width: int, first: Bucket | None) -> None:
        self.rows, self._width = rows, width
        self._host = Inputs(rows, width)
        self._tokens, positions, slots, table = self._host.tensors
        self._lengths = [0] * rows
        self._step = Step(rows, positions, slots, table, self._lengths)
        self.logits = ap.empty((rows, model.config.vocabulary), np.float32)
        self._views = [self.logits[:count] for count in range(1, rows + 1)]
        self.graph = ap.Graph(memory_of=first.graph if first else None)
        with self.graph.capture(inputs={"lengths": self._lengths}):
            model.forward(self._tokens, self._step, self.logits)

    def run(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        pages: Sequence[Sequence[int]],
        page_size: int,
    ) -> ap.Tensor:
        """Queue a step; the lengths count the new token.

        The same list of ``pages`` given again has the same pages.
        """
        self._host.fill(tokens, lengths, pages, page_size)
        self._lengths[:] = [*lengths, *(0,) * (self.rows - len(lengths))]
        self.graph.rebind(lengths=self._lengths)
        self.graph.replay()
        return self._views[len(tokens) - 1]

    def close(self) -> None:
        self.graph.close()


class Side:
    """Pinned memory for the inputs of one step: the device copies it while the host goes on."""

    def __init__(self, rows: int, width: int, count: int) -> None:
        self.memory = ap.HostBuffer(count * 8)
        host = self.memory.numpy()
        host[:] = 0
        self._bytes = memoryview(host)
        self._numbers = Struct(f"={3 * rows}q")
        self._table = host[self._numbers.size :].view(np.int32)[: rows * width]
        self._table = self._table.reshape(rows, width)
        self._rows = rows
        self._pages: Sequence[Sequence[int]] = ()

    def fill(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        pages: Sequence[Sequence[int]],
        page_size: int,
    ) -> None:
        """Write a batch. Rows behind it write nothing to the cache."""
        places = [length - 1 for length in lengths]
        slots = [
            own[place // page_size] * page_size + place % page_size
            for own, place in zip(pages, places, strict=True)
        ]
        empty = self._rows - len(places)
        none, nowhere = (0,) * empty, (-1,) * empty
        self._numbers.pack_into(self._bytes, 0, *tokens, *none, *places, *none, *slots, *nowhere)
        if pages is not self._pages:
            self._pages = pages
            for row, own in enumerate(pages):
                own = own[: self._table.shape[1]]
                self._table[row, : len(own)] = own


class Inputs:
    """Tokens, positions, slots and tables of a batch, in one piece of memory on the device.

    Several pieces on the host take turns, so that the host waits for a copy once in as many steps.
    """

    def __init__(self, rows: int, width: int) -> None:
        count = rows * 3 + -(-rows * width // 2)
        numbers = ap.zeros((count,), np.int64)
        self._buffer = numbers.buffer
        table = ap.Tensor.wrap(self._buffer, (rows, width), np.int32, offset=6 * rows)
        tokens, positions, slots = (numbers[n * rows : (n + 1) * rows] for n in range(3))
        self.tensors = tokens, positions, slots, table
        self._sides = [Side(rows, width, count) for _ in range(SIDES)]
        self._turn = 0
        self._stream: ap.Stream | None = None
        self._copied = ap.Event(timing=False)

    def fill(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        pages: Sequence[Sequence[int]],
        page_size: int,
    ) -> None:
        """Queue the copy of a batch."""
        stream = ap.current_stream()
        if self._stream is not stream:
            if self._stream is not None:
                self._stream.synchronize()
            self._stream, self._turn = stream, 0
        elif self._turn == SIDES:
            self._copied.synchronize()
            self._turn = 0
        side = self._sides[self._turn]
        self._turn += 1
        side.fill(tokens, lengths, pages, page_size)
        self._buffer.write(side.memory, stream=stream)
        if self._turn == SIDES:
            self._copied.record(stream)
