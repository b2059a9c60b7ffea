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
from pages import OutOfPagesError, Pages
from sampling import Chosen, NotANumberError, Row, Sampler
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

ABSENT_TOKEN = 1 << 30
MOST_FAILURES = 8
"""If so many calls fail in a row, the device or the model is broken, not a request."""


class DeviceLostError(RuntimeError):
    """The device does not compute any more."""


class Engine:
    """The queue of requests and the thread that answers them.

    The thread calls ``make_decoder`` when it starts, and ``on_failure`` if an error ends it. At
    most ``rows`` sequences are computed together and ``max_waiting`` wait. At most ``chunk`` tokens
    of prompts are computed between two tokens of the others. If ``fail_every`` is not 0, every
    ``fail_every``-th sequence is computed from a token that does not exist, so that the device
    reports an error.
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
        self._waiting: list[Running] = []
        self._running: list[Running] = []
        self._free_slots = list(range(rows - 1, -1, -1))
        self._failures = 0
        self._stopping = False
        self.longest = 0
        """The most tokens of a prompt and its answer together; known when ``ready`` is set."""
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
        waiting = len(self._waiting) + len(self._arriving)
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
        self._pages = Pages(decoder.pages, decoder.page_size)
        self._sampler = Sampler(decoder.vocabulary, self._rows)
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
                self._waiting += self._arriving
                self._arriving = []
                if self._cancelling:
                    self._cancelling = False
                    self._drop_cancelled()
                    self._report()
                if self._waiting or self._running:
                    return True
                if self._stopping:
                    return False
                self._changed.wait()

    def _drop_cancelled(self) -> None:
        for sequence in [*self._waiting, *self._running]:
            if sequence.request.cancelled:
                self._remove(sequence)
                self._metrics.add("cancelled_total")

    def _remove(self, sequence: Running) -> None:
        if sequence in self._running:
            self._leave(sequence)
        else:
            self._waiting.remove(sequence)

    def _leave(self, sequence: Running) -> None:
        """Give back the slot and the pages of a running sequence."""
        self._running.remove(sequence)
        self._free_slots.append(sequence.slot)
        self._pages.release(sequence.pages)
        sequence.pages, sequence.slot, sequence.computed = [], -1, 0

    def _admit(self) -> None:
        """Let waiting sequences in, in the order of their arrival."""
        while self._waiting and self._free_slots:
            sequence = self._waiting[0]
            # At least the last token is computed: its logits decide the next one.
            reusable = sequence.chain(len(sequence.tokens) - 1, self._pages.size)
            found = self._pages.find(reusable)
            wanted = self._pages.needed(len(sequence.tokens)) - len(found)
            # Every running sequence may need a page soon; without room one would be sent back.
            spare = len(self._running)
            try:
                if spare and wanted + spare > self._pages.available:
                    return
                sequence.pages = self._pages.take(wanted, found)
            except OutOfPagesError:
                return
            with self._changed:
                self._waiting.pop(0)
            sequence.slot = self._free_slots.pop()
            sequence.computed = len(found) * self._pages.size
            request = sequence.request
            if not sequence.answered:
                sequence.reused = sequence.computed
                self._metrics.add("reused_tokens_total", sequence.reused)
            answer = sequence.tokens[len(request.prompt) :]
            self._sampler.begin(sequence.slot, request.settings, request.prompt, answer)
            self._running.append(sequence)

    def _prefill_all(self) -> None:
        """Compute a chunk of prompts, the oldest first."""
        left = self._chunk
        for sequence in sorted(self._running, key=lambda s: s.number):
            while left and sequence in self._running and sequence.prefilling:
                left -= self._prefill(sequence, left)

    def _prefill(self, sequence: Running, most: int) -> int:
        start = sequence.computed
        chunk = sequence.tokens[start : start + most]
        last = start + len(chunk) == len(sequence.tokens)
        if last and self._spoilt(sequence):
            chunk[-1] = ABSENT_TOKEN
        needed = sequence.pages[: self._pages.needed(start + len(chunk))]
        try:
            logits = self._decoder.prefill(chunk, start, needed)
            if last:
                chosen = self._sampler.sample(logits, [self._row(sequence)])[0]
            else:
                # An error of this chunk must not be reported to whoever waits next.
                ap.synchronize()
        except Exception as error:
            self._fail(sequence, error)
            return len(chunk)
        self._failures = 0
        self._metrics.add("prompt_tokens_total", len(chunk))
        self._computed(sequence, start + len(chunk))
        if last:
            self._take(sequence, chosen)
        return len(chunk)

    def _decode_all(self) -> None:
        """Compute one token of every sequence whose prompt is done."""
        ready = sorted((s for s in self._running if not s.prefilling), key=lambda s: s.number)
        ready = [s for s in ready if s in self._running and self._has_page(s)]
        # Room for one may have been made by another one of them.
        batch = [s for s in ready if s in self._running]
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

    def _has_page(self, sequence: Running) -> bool:
        """Make sure of a page for the newest token; False if the sequence itself had to go."""
        while self._pages.needed(len(sequence.tokens)) > len(sequence.pages):
            try:
                sequence.pages += self._pages.take(1)
            except OutOfPagesError:
                youngest = max(self._running, key=lambda s: s.number)
                self._preempt(youngest)
                if youngest is sequence:
                    return False
        return True

    def _preempt(self, sequence: Running) -> None:
        self._metrics.add("preemptions_total")
        self._leave(sequence)
        with self._changed:
            self._waiting.append(sequence)
            self._waiting.sort(key=lambda s: s.number)

    def _decode(self, batch: list[Running]) -> None:
        logits = self._decoder.decode(
            [ABSENT_TOKEN if self._spoilt(s) else s.tokens[-1] for s in batch],
            [len(s.tokens) for s in batch],
            [s.pages for s in batch],
        )
        chosen = self._sampler.sample(logits, [self._row(s) for s in batch])
        self._failures = 0
        for sequence, one in zip(batch, chosen, strict=True):
            self._computed(sequence, len(sequence.tokens))
            self._take(sequence, one)

    @staticmethod
    def _spoilt(sequence: Running) -> bool:
        return sequence.fails and sequence.answered >= min(1, sequence.request.most_tokens - 1)

    @staticmethod
    def _row(sequence: Running) -> Row:
        return Row(sequence.slot, sequence.request.settings, sequence.answered)

    def _computed(self, sequence: Running, tokens: int) -> None:
        """Note that the cache has this number of tokens; let others use the full pages."""
        before, sequence.computed = sequence.computed, tokens
        size = self._pages.size
        keys = sequence.chain(tokens, size)
        for page in range(before // size, tokens // size):
            self._pages.publish(sequence.pages[page], keys[page])

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
            self._leave(sequence)
            self._metrics.observe("request_seconds", now - sequence.arrived)
            _tell(request, End(rest, reason, sequence.answered, sequence.reused))

    def _fail(self, sequence: Running, error: Exception) -> None:
        """End one answer with an error; end everything if the device computes no more."""
        text = error.explain() if isinstance(error, StatusError) else f"{error}"
        log.error("an answer failed: %s", str(error))
        self._metrics.add("device_errors_total")
        self._leave(sequence)
        _tell(sequence.request, Failure(text))
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            raise DeviceLostError(f"{self._failures} calls failed in a row; the last one: {text}")
        ap.from_numpy(np.zeros(1, np.float32)).numpy()  # raises if the device is gone

    def _abandon(self, error: BaseException) -> None:
        """Fail all accepted requests: an error ended the thread."""
        with self._changed:
            self.failure = f"{type(error).__name__}: {error}"
            left = [*self._running, *self._waiting, *self._arriving]
            self._running, self._waiting, self._arriving = [], [], []
        for sequence in left:
            _tell(sequence.request, Failure(f"the device thread ended: {self.failure}"))

    def _report(self) -> None:
        stats = ap.memory_stats()
        self._metrics.set(
            waiting=len(self._waiting),
            running=len(self._running),
            pages_free=self._pages.available,
            pages_kept=self._pages.kept,
            device_allocated_bytes=stats.allocated_nbytes,
            device_reserved_bytes=stats.reserved_nbytes,
            device_allocations_total=stats.hits + stats.misses,
        )


def _tell(request: Request, event: Event) -> None:
    if not request.cancelled:
        request.sink(event)
