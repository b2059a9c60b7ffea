# SPDX-License-Identifier: Apache-2.0
"""Continuous batching: one thread owns the device and computes all answers together.

Every round of the thread admits sequences while there are slots and pages, computes a chunk of the
prompts, and then one token of every sequence whose prompt is done. If pages run out, the youngest
sequence gives back its pages and waits; later its tokens are computed again, as a prompt, and its
answer goes on with the same random numbers.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Sequence

import numpy as np
from metrics import Metrics
from pages import Pages
from sampling import Chosen, NotANumberError, Row, Sampler
from schedule import Schedule
from sequence import (
    Decoder,
    End,
    Event,
    Failure,
    Piece,
    QueueFullError,
    Request,
    Running,
    StoppingError,
    TooLongError,
)

import aclnn_py as ap
from aclnn_py.errors import StatusError

log = logging.getLogger("language_model")

MOST_FAILURES = 8
"""If so many calls fail in a row, the device or the model is broken, not a request."""


class DeviceLostError(RuntimeError):
    """The device does not compute any more."""


class Engine:
    """The queue of requests and the thread that answers them.

    The thread calls ``make_decoder`` when it starts, and ``on_failure`` if an error ends it. At
    most ``rows`` sequences are computed together and ``max_waiting`` wait. At most ``chunk`` tokens
    of prompts are computed between two tokens of the others. If ``fail_every`` is not 0, every
    ``fail_every``-th sequence gets, with its second token, an operator that the device refuses.
    """

    def __init__(
        self,
        make_decoder: Callable[[], Decoder],
        metrics: Metrics,
        *,
        rows: int = 16,
        max_waiting: int = 64,
        chunk: int = 256,
        fail_every: int = 0,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        self._make_decoder = make_decoder
        self._metrics = metrics
        self._rows = rows
        self._max_waiting = max_waiting
        self._chunk = chunk
        self._fail_every = fail_every
        self._on_failure = on_failure
        self._changed = threading.Condition()
        self._arriving: list[Running] = []
        self._cancelling = False
        self._count = 0
        self._schedule = Schedule(Pages(1, 1), rows)
        self._failures = 0
        self._stopping = False
        self.longest = 0
        """The most tokens of a prompt and its answer together; known when ``ready`` is set."""
        self.vocabulary = 0
        self.ready = threading.Event()
        self.failure = ""
        self._thread = threading.Thread(target=self._run, name="device", daemon=True)

    # For everybody.

    def start(self) -> None:
        """Start the device thread; ``ready`` is set when the model is loaded."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def check_room(self, count: int = 1) -> None:
        """Raise the error that ``submit`` would raise now for this number of requests."""
        with self._changed:
            self._check_room(count)

    def _check_room(self, count: int) -> None:
        if self.failure:
            raise StoppingError(f"the device thread ended: {self.failure}")
        if self._stopping:
            raise StoppingError("the service is shutting down")
        if not self.ready.is_set():
            raise StoppingError("the model is not loaded yet")
        waiting = len(self._schedule.waiting) + len(self._arriving)
        if waiting + count > self._max_waiting:
            raise QueueFullError(
                f"{waiting} answers wait, and no more than {self._max_waiting} may"
            )

    def submit(self, requests: Sequence[Request]) -> None:
        """Accept all of these requests or none of them."""
        with self._changed:
            self._check_room(len(requests))
            for request in requests:
                total = len(request.prompt) + request.most_tokens
                if not request.prompt or request.most_tokens < 1 or total > self.longest:
                    raise TooLongError(
                        f"{len(request.prompt)} tokens of the prompt and {request.most_tokens} of "
                        f"the answer; both at least 1, together at most {self.longest}"
                    )
            for request in requests:
                self._count += 1
                fails = bool(self._fail_every) and self._count % self._fail_every == 0
                self._arriving.append(Running(request, self._count, fails))
            self._changed.notify()

    def cancel(self, requests: Sequence[Request]) -> None:
        """Stop computing answers that nobody waits for any more. Complete ones are left alone."""
        with self._changed:
            for request in requests:
                request.cancelled = True
            self._cancelling = True
            self._changed.notify()

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
                decoder = self._make_decoder()
                try:
                    self._serve(decoder)
                finally:
                    decoder.close()
        except BaseException as error:
            log.error("the device thread ended:\n%s", traceback.format_exc())
            self._abandon(error)
            self._on_failure()

    def _serve(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._schedule = Schedule(Pages(decoder.pages, decoder.page_size), self._rows)
        self._sampler = Sampler(decoder.vocabulary, self._rows)
        self.vocabulary = decoder.vocabulary
        self.longest = min(decoder.context, decoder.pages * decoder.page_size)
        self._report()
        self.ready.set()
        try:
            while self._collect():
                self._admit()
                self._prefill_all()
                self._decode_all()
                self._report()
        finally:
            # The thread's end is no end of the engine, which must not keep the device's memory.
            del self._decoder, self._sampler

    def _collect(self) -> bool:
        """Take what arrived, wait if there is nothing to do; False when all is done."""
        with self._changed:
            while True:
                self._schedule.add(self._arriving)
                self._arriving = []
                if self._cancelling:
                    self._cancelling = False
                    self._drop_cancelled()
                    self._report()
                if self._schedule.waiting or self._schedule.running:
                    return True
                if self._stopping:
                    return False
                self._changed.wait()

    def _drop_cancelled(self) -> None:
        for sequence in [*self._schedule.waiting, *self._schedule.running]:
            if sequence.request.cancelled:
                self._schedule.leave(sequence)
                self._metrics.add("cancelled_total")

    def _admit(self) -> None:
        with self._changed:
            admitted = self._schedule.admit()
        for sequence in admitted:
            request = sequence.request
            if not sequence.answered:
                sequence.reused = sequence.computed
                self._metrics.add("reused_tokens_total", sequence.reused)
            answer = sequence.tokens[len(request.prompt) :]
            self._sampler.begin(sequence.slot, request.settings, request.prompt, answer)
        if admitted:
            self._report()

    def _prefill_all(self) -> None:
        """Compute a chunk of prompts, the oldest first."""
        left = self._chunk
        for sequence in list(self._schedule.running):
            while left and sequence in self._schedule.running and sequence.prefilling:
                left -= self._prefill(sequence, left)

    def _prefill(self, sequence: Running, most: int) -> int:
        start = sequence.computed
        chunk = sequence.tokens[start : start + most]
        last = start + len(chunk) == len(sequence.tokens)
        needed = sequence.pages[: self._schedule.pages.needed(start + len(chunk))]
        try:
            logits = self._decoder.prefill(chunk, start, needed)
            if last:
                self._break([sequence])
                chosen = self._sampler.sample(logits, [self._row(sequence)])[0]
            else:
                # An error of this chunk must not be reported to whoever waits next.
                ap.synchronize()
        except Exception as error:
            self._fail(sequence, error)
            return len(chunk)
        self._failures = 0
        self._metrics.add("prompt_tokens_total", len(chunk))
        self._schedule.computed(sequence, start + len(chunk))
        if last:
            self._take(sequence, chosen)
        return len(chunk)

    def _decode_all(self) -> None:
        """Compute one token of every sequence whose prompt is done."""
        for sequence in [s for s in self._schedule.running if not s.prefilling]:
            with self._changed:
                self._metrics.add("preemptions_total", self._schedule.make_room(sequence))
        batch = [s for s in self._schedule.running if not s.prefilling]
        if not batch:
            return
        self._metrics.observe("batch_rows", len(batch))
        try:
            self._decode(batch)
        except Exception as error:
            if len(batch) == 1:
                self._fail(batch[0], error)
                return
            # Only texts are logged: a kept exception would keep its frames, and the model.
            log.warning("a batch of %d failed, each is tried alone: %s", len(batch), str(error))
        else:
            return
        # Which of them is at fault is not known. Computing a token again does no harm.
        for sequence in batch:
            try:
                self._decode([sequence])
            except Exception as error:
                self._fail(sequence, error)

    def _decode(self, batch: list[Running]) -> None:
        logits = self._decoder.decode(
            [s.tokens[-1] for s in batch],
            [len(s.tokens) for s in batch],
            [s.pages for s in batch],
        )
        self._break(batch)
        chosen = self._sampler.sample(logits, [self._row(s) for s in batch])
        self._failures = 0
        for sequence, one in zip(batch, chosen, strict=True):
            self._schedule.computed(sequence, len(sequence.tokens))
            self._take(sequence, one)

    @staticmethod
    def _break(batch: list[Running]) -> None:
        """Let the device report an error, if a sequence is there to cause one."""
        if any(s.fails and s.answered >= min(1, s.request.most_tokens - 1) for s in batch):
            absent = ap.from_numpy(np.array([1 << 30]))
            ap.functional.embedding(absent, ap.zeros((1, 1), np.float32))

    @staticmethod
    def _row(sequence: Running) -> Row:
        return Row(sequence.slot, sequence.request.settings, sequence.answered)

    def _take(self, sequence: Running, chosen: Chosen | NotANumberError) -> None:
        """Add a token to the answer, and end it if that was the last one."""
        if isinstance(chosen, NotANumberError):
            self._fail(sequence, chosen)
            return
        now = time.monotonic()
        if sequence.told:
            self._metrics.observe("next_token_seconds", now - sequence.told)
        else:
            self._metrics.observe("first_token_seconds", now - sequence.arrived)
        sequence.told = now
        self._metrics.add("answer_tokens_total")
        sequence.tokens.append(chosen.token)
        request = sequence.request
        reason = ""
        if chosen.token in request.ends:
            reason = "stop"
        else:
            _tell(request, Piece(request.answer.push(chosen.token), chosen))
            if request.answer.stopped:
                reason = "stop"
            elif sequence.answered == request.most_tokens:
                reason = "length"
        if reason:
            rest = request.answer.finish()
            if request.answer.stopped:
                reason = "stop"
            self._schedule.leave(sequence)
            self._metrics.observe("request_seconds", now - sequence.arrived)
            _tell(request, End(rest, reason, sequence.answered, sequence.reused))

    def _fail(self, sequence: Running, error: Exception) -> None:
        """End one answer with an error; end everything if the device computes no more."""
        text = error.explain() if isinstance(error, StatusError) else f"{error}"
        log.error("an answer failed: %s", str(error))
        self._metrics.add("device_errors_total")
        self._schedule.leave(sequence)
        _tell(sequence.request, Failure(text))
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            raise DeviceLostError(f"{self._failures} calls failed in a row; the last one: {text}")
        ap.from_numpy(np.zeros(1, np.float32)).numpy()  # raises if the device is gone

    def _abandon(self, error: BaseException) -> None:
        """Fail all accepted requests: an error ended the thread."""
        with self._changed:
            self.failure = f"{type(error).__name__}: {error}"
            left = [*self._schedule.running, *self._schedule.waiting, *self._arriving]
            self._schedule, self._arriving = Schedule(Pages(1, 1), 1), []
        for sequence in left:
            _tell(sequence.request, Failure(f"the device thread ended: {self.failure}"))

    def _report(self) -> None:
        stats = ap.memory_stats()
        self._metrics.set(
            waiting=len(self._schedule.waiting),
            running=len(self._schedule.running),
            pages_free=self._schedule.pages.available,
            pages_kept=self._schedule.pages.kept,
            device_allocated_bytes=stats.allocated_nbytes,
            device_reserved_bytes=stats.reserved_nbytes,
            device_allocations_total=stats.hits + stats.misses,
        )


def _tell(request: Request, event: Event) -> None:
    if not request.cancelled:
        request.sink(event)
