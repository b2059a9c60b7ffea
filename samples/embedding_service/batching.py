# SPDX-License-Identifier: Apache-2.0
"""Form batches from requests. One thread owns the device; the others pass texts through a queue."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from encoder import Encoder, Staged
from metrics import Metrics

import aclnn_py as ap
from aclnn_py.errors import StatusError

log = logging.getLogger("embedding_service")

Vectors = npt.NDArray[np.float32]
_ABSENT_TOKEN = 1 << 30


class QueueFullError(Exception):
    """The queue has no room for the request now."""


class StoppingError(Exception):
    """The service accepts no more requests."""


class BatchError(Exception):
    """The request's batch failed; the message explains why."""


@dataclass(eq=False)
class _Job:
    """The texts of one request."""

    texts: Sequence[Sequence[int]]
    arrived: float
    future: Future[Vectors] = field(default_factory=Future)
    vectors: dict[int, npt.NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Row:
    """One text of a job, the unit that batches are made of."""

    job: _Job
    index: int

    @property
    def tokens(self) -> Sequence[int]:
        return self.job.texts[self.index]


@dataclass(frozen=True)
class _Batch:
    rows: list[_Row]
    staged: Staged


class Batcher:
    """Dynamic batching in front of an encoder.

    A batch has texts of one length bucket. It starts when it is full, or when its oldest text has
    waited for ``max_wait_s``. At most ``max_queued`` texts wait. The device thread calls
    ``make_encoder`` when it starts, and ``on_failure`` if an error ends it. If ``fail_every`` is
    not 0, every ``fail_every``-th batch gets a token that the vocabulary lacks, so that the device
    reports an error.
    """

    def __init__(
        self,
        make_encoder: Callable[[], Encoder],
        metrics: Metrics,
        *,
        max_wait_s: float = 0.005,
        max_queued: int = 1024,
        fail_every: int = 0,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        self._make_encoder = make_encoder
        self._metrics = metrics
        self._max_wait_s = max_wait_s
        self._max_queued = max_queued
        self._fail_every = fail_every
        self._on_failure = on_failure
        self._launched = 0
        self._changed = threading.Condition()
        self._lengths: list[int] = []
        self._waiting: dict[int, deque[_Row]] = {}
        self._queued = 0
        self._unanswered: set[_Job] = set()
        self._stopping = False
        self.ready = threading.Event()
        self.failure = ""
        self._thread = threading.Thread(target=self._run, name="device", daemon=True)

    # For everybody.

    def start(self) -> None:
        """Start the device thread; ``ready`` is set when it is warm."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def check_room(self, count: int) -> None:
        """Raise the error that ``submit`` would raise now for this number of texts."""
        with self._changed:
            self._check_room(count)

    def _check_room(self, count: int) -> None:
        if self.failure:
            raise StoppingError(f"the device thread ended: {self.failure}")
        if self._stopping:
            raise StoppingError("the service is shutting down")
        if not self.ready.is_set():
            raise StoppingError("the model is not loaded yet")
        if self._queued + count > self._max_queued:
            raise QueueFullError(
                f"{self._queued} texts wait, and no more than {self._max_queued} may"
            )

    def submit(self, texts: Sequence[Sequence[int]]) -> Future[Vectors]:
        """Accept all texts of a request, given as token numbers, or none of them."""
        job = _Job(texts, time.monotonic())
        with self._changed:
            self._check_room(len(texts))
            longest = max(map(len, texts))
            if longest > self._lengths[-1]:
                raise ValueError(f"texts: {longest} tokens; at most {self._lengths[-1]}")
            self._unanswered.add(job)
            for index, tokens in enumerate(texts):
                length = next(n for n in self._lengths if n >= len(tokens))
                self._waiting[length].append(_Row(job, index))
            self._count(len(texts))
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Refuse new requests, answer the accepted ones, and end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    # On the device thread.

    def _run(self) -> None:
        try:
            with ap.Device(0):
                encoder = self._make_encoder()
                try:
                    self._lengths = sorted({shape.length for shape in encoder.shapes})
                    self._waiting = {length: deque() for length in self._lengths}
                    self._report_memory()
                    self.ready.set()
                    self._serve(encoder)
                finally:
                    encoder.close()
        except BaseException as error:
            # Log the text only: a kept exception would keep its frames, and with them the model.
            log.error("the device thread ended:\n%s", traceback.format_exc())
            self._abandon(error)
            self._on_failure()

    def _serve(self, encoder: Encoder) -> None:
        current: _Batch | None = None
        while True:
            if current is None:
                rows = self._take(encoder)
                if rows is None:
                    return
                current = self._staged(encoder, rows)
                continue
            batch, current = current, None
            try:
                encoder.launch(batch.staged)
            except Exception as error:
                self._fail(batch.rows, error)
                continue
            # While the device computes, copy the inputs of the next batch if that is full.
            full = self._take_full(encoder)
            if full:
                current = self._staged(encoder, full)
            try:
                vectors = encoder.collect()
            except Exception as error:
                self._fail(batch.rows, error)
            else:
                self._deliver(batch.rows, vectors)
            self._report_memory()

    def _staged(self, encoder: Encoder, rows: list[_Row]) -> _Batch | None:
        texts = [list(row.tokens) for row in rows]
        self._launched += 1
        if self._fail_every and self._launched % self._fail_every == 0:
            texts[0][0] = _ABSENT_TOKEN
        try:
            return _Batch(rows, encoder.stage(texts))
        except Exception as error:
            self._fail(rows, error)
            return None

    def _take(self, encoder: Encoder) -> list[_Row] | None:
        """Wait for the next batch; None when all is done."""
        with self._changed:
            while True:
                length = self._due(encoder)
                if length is not None:
                    rows = self._pop(length, encoder.most_rows(length))
                    if rows:
                        return rows
                    continue
                heads = [queue[0].job.arrived for queue in self._waiting.values() if queue]
                if heads:
                    self._changed.wait(max(0.0, min(heads) + self._max_wait_s - time.monotonic()))
                elif self._stopping:
                    return None
                else:
                    self._changed.wait()

    def _take_full(self, encoder: Encoder) -> list[_Row]:
        """The next batch, if waiting would not make it larger."""
        with self._changed:
            length = self._due(encoder)
            if length is None or len(self._waiting[length]) < encoder.most_rows(length):
                return []
            return self._pop(length, encoder.most_rows(length))

    def _due(self, encoder: Encoder) -> int | None:
        """The length whose batch is next: of those that may start, the one with the oldest text."""
        overdue = time.monotonic() - self._max_wait_s
        found = [
            (queue[0].job.arrived, length)
            for length, queue in self._waiting.items()
            if queue
            and (
                self._stopping
                or queue[0].job.arrived <= overdue
                or len(queue) >= encoder.most_rows(length)
            )
        ]
        return min(found)[1] if found else None

    def _pop(self, length: int, most: int) -> list[_Row]:
        queue = self._waiting[length]
        rows: list[_Row] = []
        waited = len(queue)
        while queue and len(rows) < most:
            row = queue.popleft()
            # Skip requests that timed out, or that failed with another batch.
            if row.job.future.done():
                self._unanswered.discard(row.job)
            else:
                rows.append(row)
        self._count(len(queue) - waited)
        return rows

    def _count(self, change: int) -> None:
        self._queued += change
        self._metrics.set(queue_texts=self._queued)

    def _deliver(self, rows: list[_Row], vectors: Vectors) -> None:
        self._metrics.batch(len(rows), failed=False)
        for row, vector in zip(rows, vectors, strict=True):
            job = row.job
            job.vectors[row.index] = vector
            if len(job.vectors) < len(job.texts):
                continue
            if job.future.set_running_or_notify_cancel():
                job.future.set_result(np.stack([job.vectors[i] for i in range(len(job.texts))]))
            self._answered(job)

    def _fail(self, rows: list[_Row], error: Exception) -> None:
        self._metrics.batch(len(rows), failed=True)
        text = error.explain() if isinstance(error, StatusError) else str(error)
        log.error("a batch of %d texts failed: %s", len(rows), str(error))
        for job in {row.job for row in rows}:
            self._refuse(job, BatchError(text))

    def _refuse(self, job: _Job, error: BatchError) -> None:
        # The request may have failed before, with another batch.
        if not job.future.done() and job.future.set_running_or_notify_cancel():
            job.future.set_exception(error)
        self._answered(job)

    def _answered(self, job: _Job) -> None:
        with self._changed:
            self._unanswered.discard(job)

    def _abandon(self, error: BaseException) -> None:
        """Fail all accepted requests: an error ended the thread."""
        with self._changed:
            self.failure = f"{type(error).__name__}: {error}"
            jobs = list(self._unanswered)
            self._waiting = {}
            self._count(-self._queued)
        for job in jobs:
            self._refuse(job, BatchError(f"the device thread ended: {self.failure}"))

    def _report_memory(self) -> None:
        stats = ap.memory_stats()
        self._metrics.set(
            device_allocated_bytes=stats.allocated_nbytes,
            device_reserved_bytes=stats.reserved_nbytes,
            device_allocations_total=stats.hits + stats.misses,
        )
