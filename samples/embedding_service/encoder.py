# SPDX-License-Identifier: Apache-2.0
"""Turn batches of texts into vectors: shape buckets, a captured graph for each, fixed memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from model import Model

import aclnn_py as ap

ROWS = (1, 2, 4, 8, 16, 32)
LENGTHS = (16, 32, 64, 128, 256)
MAX_BATCH_TOKENS = 2048
"""Rows times length of the largest batch; it limits the memory for results."""
STAGES = 2
"""Batches whose inputs may be on the device at once: one computes while the next one is copied."""


@dataclass(frozen=True)
class Shape:
    """A bucket. Smaller batches are padded to it."""

    rows: int
    length: int


def all_shapes(
    rows: Sequence[int] = ROWS, lengths: Sequence[int] = LENGTHS, most: int = MAX_BATCH_TOKENS
) -> list[Shape]:
    """All buckets, sorted by length, then by rows."""
    shapes = [Shape(r, n) for n in sorted(lengths) for r in sorted(rows) if r * n <= most]
    if not shapes or shapes[0].rows != 1 or shapes[-1].length != max(lengths):
        raise ValueError("every length needs a bucket of one row, within the most tokens")
    return shapes


class Stage:
    """Memory for the inputs of one batch, on the host and on the device."""

    def __init__(self, shape: Shape, dtype: np.dtype) -> None:
        size = (shape.rows, shape.length)
        count = shape.rows * shape.length
        self.tokens, self.mask = ap.zeros(size, np.int32), ap.zeros(size, dtype)
        # Pinned memory lets the device copy while the host goes on.
        self._memory = [ap.HostBuffer(count * 4), ap.HostBuffer(count * dtype.itemsize)]
        self._tokens = self._memory[0].numpy().view(np.int32).reshape(size)
        self._mask = self._memory[1].numpy().view(dtype).reshape(size)
        self.copied = ap.Event(timing=False)

    def fill(self, texts: Sequence[Sequence[int]], stream: ap.Stream) -> None:
        """Queue the copies of a batch."""
        self._tokens[:] = 0
        self._mask[:] = 0
        self._mask[len(texts) :, 0] = 1  # a mean over no tokens has no value
        for row, text in enumerate(texts):
            self._tokens[row, : len(text)] = text
            self._mask[row, : len(text)] = 1
        self.tokens.copy_from(self._tokens, stream=stream)
        self.mask.copy_from(self._mask, stream=stream)
        self.copied.record(stream)


@dataclass(frozen=True)
class Staged:
    """A batch whose inputs are being copied."""

    bucket: Bucket
    stage: Stage
    count: int


class Bucket:
    """One shape: its inputs, its result, and its graph."""

    def __init__(self, model: Model, shape: Shape, graph: ap.Graph | None) -> None:
        self.shape = shape
        self._model = model
        self._stages = [Stage(shape, model.dtype) for _ in range(STAGES)]
        self._turn = 0
        self._graph = graph
        self.vectors: ap.Tensor | None = None
        if graph is not None:
            first = self._stages[0]
            with graph.capture(inputs={"tokens": first.tokens, "mask": first.mask}):
                self.vectors = model.forward(first.tokens, first.mask)

    def next_stage(self) -> Stage:
        self._turn = (self._turn + 1) % STAGES
        return self._stages[self._turn]

    def launch(self, stage: Stage, stream: ap.Stream) -> None:
        """Queue the model for the inputs of a stage."""
        stage.copied.wait(stream)
        if self._graph is None:
            with stream.use():
                self.vectors = self._model.forward(stage.tokens, stage.mask)
        else:
            self._graph.rebind(tokens=stage.tokens, mask=stage.mask)
            self._graph.replay(stream)

    def close(self) -> None:
        if self._graph is not None:
            self._graph.close()


class Encoder:
    """The model for a fixed set of shapes.

    One thread uses it: ``stage`` copies the inputs of a batch, ``launch`` queues the model on
    them, ``collect`` waits for the vectors. The next batch may be staged before ``collect``.
    After the constructor it allocates no device memory. ``capture=False`` queues the same operators
    one by one.

    The graphs share the memory of their intermediate results, since only one of them runs at a
    time, and a result is read before the next one starts.
    """

    def __init__(
        self, model: Model, shapes: Sequence[Shape] | None = None, *, capture: bool = True
    ) -> None:
        self.shapes = all_shapes() if shapes is None else list(shapes)
        self._compute, self._copy = ap.Stream(), ap.Stream()
        self._buckets: dict[Shape, Bucket] = {}
        first: ap.Graph | None = None
        # The largest first: its memory is large enough for the others.
        for shape in sorted(self.shapes, key=lambda s: s.rows * s.length**2, reverse=True):
            graph = ap.Graph(memory_of=first) if capture else None
            first = first or graph
            self._buckets[shape] = Bucket(model, shape, graph)
        self.max_length = max(shape.length for shape in self.shapes)
        self._running: Staged | None = None
        # A capture allocates a graph's memory. Without one, the first batch of a shape does.
        for shape in self.shapes[:1] if capture else self._buckets:
            self.embed([[0]] * shape.rows, shape)

    def shape_for(self, count: int, length: int) -> Shape:
        """The cheapest bucket for this number of texts of this length."""
        fitting = [s for s in self.shapes if s.rows >= count and s.length >= length]
        if not fitting:
            raise ValueError(
                f"{count} texts of up to {length} tokens fit no bucket; the largest one for this "
                f"length holds {self.most_rows(length)}"
            )
        return min(fitting, key=lambda s: s.rows * s.length)

    def most_rows(self, length: int) -> int:
        """How many texts of this length fit in one batch; 0 if they are too long."""
        return max((s.rows for s in self.shapes if s.length >= length), default=0)

    def stage(self, texts: Sequence[Sequence[int]], shape: Shape | None = None) -> Staged:
        """Queue the copies of a batch of token numbers."""
        if shape is None:
            shape = self.shape_for(len(texts), max(map(len, texts)))
        bucket = self._buckets[shape]
        stage = bucket.next_stage()
        stage.fill(texts, self._copy)
        return Staged(bucket, stage, len(texts))

    def launch(self, staged: Staged) -> None:
        """Queue the model for a staged batch."""
        if self._running is not None:
            raise RuntimeError("collect the batch before this one first: results would be lost")
        staged.bucket.launch(staged.stage, self._compute)
        self._running = staged

    def collect(self) -> npt.NDArray[np.float32]:
        """Wait for the launched batch and return its vectors, or raise what the device reports."""
        running, self._running = self._running, None
        if running is None:
            raise RuntimeError("no batch was launched")
        self._compute.synchronize()
        vectors = running.bucket.vectors
        assert vectors is not None  # of this launch, or of the capture
        return vectors.numpy()[: running.count]

    def embed(
        self, texts: Sequence[Sequence[int]], shape: Shape | None = None
    ) -> npt.NDArray[np.float32]:
        """The vectors of one batch."""
        self.launch(self.stage(texts, shape))
        return self.collect()

    def close(self) -> None:
        """Release the graphs and the streams."""
        for bucket in self._buckets.values():
            bucket.close()
        self._buckets.clear()
        self._compute.close()
        self._copy.close()


def embed_all(encoder: Encoder, texts: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
    """The vectors of any number of texts, in their order. Texts of similar length share a batch."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    vectors: dict[int, npt.NDArray[np.float32]] = {}
    while order:
        longest = len(texts[order[-1]])
        taken, order = order[-encoder.most_rows(longest) :], order[: -encoder.most_rows(longest)]
        vectors.update(zip(taken, encoder.embed([texts[i] for i in taken]), strict=True))
    return np.stack([vectors[index] for index in range(len(texts))])
