# SPDX-License-Identifier: Apache-2.0
"""One step of a batch as a captured graph, whose inputs are copied at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from layers import Step
from model import Model

import aclnn_py as ap


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
        self.graph = ap.Graph(memory_of=first.graph if first else None)
        with self.graph.capture(inputs={"lengths": self._lengths}):
            ap.ops.inplace_copy(self.logits, model.forward(self._tokens, self._step))

    def run(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        pages: Sequence[Sequence[int]],
        page_size: int,
    ) -> ap.Tensor:
        """Queue a step; the lengths count the new token."""
        self._host.fill(tokens, lengths, pages, page_size)
        self._lengths[:] = [*lengths, *[0] * (self.rows - len(lengths))]
        self.graph.rebind(lengths=self._lengths)
        self.graph.replay()
        return self.logits[: len(tokens)]

    def close(self) -> None:
        self.graph.close()


class Inputs:
    """Tokens, positions, slots and tables of a batch, in one piece of memory on each side."""

    def __init__(self, rows: int, width: int) -> None:
        count = rows * 3 + -(-rows * width // 2)
        memory = ap.zeros((count,), np.int64).buffer
        self._device = ap.Tensor.wrap(memory, (count,), np.int64)
        table = ap.Tensor.wrap(memory, (rows, width), np.int32, offset=6 * rows)
        tokens, positions, slots = (self._device[n * rows : (n + 1) * rows] for n in range(3))
        self.tensors = tokens, positions, slots, table
        # Pinned memory lets the device copy while the host goes on.
        self._memory = ap.HostBuffer(count * 8)
        self._host = self._memory.numpy().view(np.int64)
        self._numbers = self._host[: 3 * rows].reshape(3, rows)
        self._table = self._host[3 * rows :].view(np.int32)[: rows * width].reshape(rows, width)
        self._copied = ap.Event(timing=False)
        self._host[:] = 0
        self._used = False

    def fill(
        self,
        tokens: Sequence[int],
        lengths: Sequence[int],
        pages: Sequence[Sequence[int]],
        page_size: int,
    ) -> None:
        """Queue the copy of a batch. Rows behind it write nothing and see nothing."""
        if self._used:
            self._copied.synchronize()  # the copy before may still read the memory
        numbers = self._numbers
        numbers[:, len(tokens) :] = [[0], [0], [-1]]
        for row, (token, length, own) in enumerate(zip(tokens, lengths, pages, strict=True)):
            place = length - 1
            slot = own[place // page_size] * page_size + place % page_size
            numbers[:, row] = token, place, slot
            own = own[: self._table.shape[1]]
            self._table[row, : len(own)] = own
        self._device.copy_from(self._host, stream=ap.current_stream())
        self._copied.record(ap.current_stream())
        self._used = True
