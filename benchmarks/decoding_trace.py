# SPDX-License-Identifier: Apache-2.0
"""The allocations of a small decoder transformer that serves requests, as a list of steps.

A recorded loop is the model below: every size follows from it, every lifetime from the order in
which its layers run. A key/value cache grows in chunks and goes with its request; activations live
from one operator to the next; the logits of a step leave with the answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

HALF = 2  # bytes of a float16
FLOAT = 4


@dataclass(frozen=True)
class Model:
    """Sizes of the decoder; the defaults are those of a model of about 60 million parameters."""

    layers: int = 8
    width: int = 512
    heads: int = 8
    key_heads: int = 4
    inner: int = 1408
    words: int = 16000
    cache_chunk: int = 64  # positions a request's cache grows by


class Event(NamedTuple):
    """One allocation (``nbytes`` > 0) or one release (0) of the block with this name."""

    name: int
    nbytes: int


@dataclass
class Request:
    """One sequence that is being generated."""

    prompt: int
    answer: int
    length: int = 0
    cache: list[int] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.length >= self.prompt + self.answer


class Recorder:
    """Names blocks and writes down what happens to them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._next = 0

    def take(self, nbytes: int) -> int:
        self._next += 1
        self.events.append(Event(self._next, nbytes))
        return self._next

    def give(self, *names: int) -> None:
        self.events += [Event(name, 0) for name in names]


def weights(model: Model, recorder: Recorder) -> None:
    """What is allocated once and stays."""
    head = model.width // model.heads
    recorder.take(model.words * model.width * HALF)
    for _ in range(model.layers):
        recorder.take(model.width * HALF)
        recorder.take(model.width * (model.heads + 2 * model.key_heads) * head * HALF)
        recorder.take(model.width * model.width * HALF)
        recorder.take(model.width * HALF)
        recorder.take(model.width * 2 * model.inner * HALF)
        recorder.take(model.inner * model.width * HALF)
    recorder.take(model.width * HALF)


def forward(model: Model, recorder: Recorder, rows: int, reach: int) -> None:
    """One pass over ``rows`` new positions that look at ``reach`` positions."""
    take, give = recorder.take, recorder.give
    head = model.width // model.heads
    ids, positions = take(rows * 8), take(rows * 8)
    hidden = take(rows * model.width * HALF)
    give(ids)
    for _ in range(model.layers):
        normed, rstd = take(rows * model.width * HALF), take(rows * FLOAT)
        qkv = take(rows * (model.heads + 2 * model.key_heads) * head * HALF)
        give(normed, rstd)
        query = take(rows * model.heads * head * HALF)
        key = take(rows * model.key_heads * head * HALF)
        scores = take(rows * model.heads * reach * FLOAT)
        give(qkv, key)
        shares = take(rows * model.heads * reach * HALF)
        give(scores, query)
        mixed = take(rows * model.width * HALF)
        give(shares)
        projected = take(rows * model.width * HALF)
        give(mixed)
        after = take(rows * model.width * HALF)
        give(hidden, projected)
        normed, rstd = take(rows * model.width * HALF), take(rows * FLOAT)
        gated = take(rows * 2 * model.inner * HALF)
        give(normed, rstd)
        inner = take(rows * model.inner * HALF)
        give(gated)
        down = take(rows * model.width * HALF)
        give(inner)
        hidden = take(rows * model.width * HALF)
        give(after, down)
    give(positions)
    last = take(model.width * HALF)
    give(hidden)
    logits = take(model.words * FLOAT)
    give(last)
    best = take(8)
    give(logits, best)


def steps(
    model: Model | None = None, *, count: int = 400, at_once: int = 4, seed: int = 0
) -> Iterator[list[Event]]:
    """Yield the events of the weights, and then of every step of a server.

    Parameters
    ----------
    model : Model, optional
    count : int, default 400
        Steps; each gives one token to every request, and reads the prompt of one that is new.
    at_once : int, default 4
        Requests that are served together.
    seed : int, default 0
        Of the lengths of prompts and answers.
    """
    sizes = model or Model()
    dice = random.Random(seed)
    recorder = Recorder()
    weights(sizes, recorder)
    yield recorder.events
    recorder.events = []
    chunk = sizes.cache_chunk * 2 * sizes.key_heads * (sizes.width // sizes.heads) * HALF
    running: list[Request] = []
    for _ in range(count):
        if len(running) < at_once:
            running.append(Request(dice.randrange(16, 257), dice.randrange(8, 65)))
        for request in running:
            rows = request.prompt if request.length == 0 else 1
            request.length += rows
            while len(request.cache) * sizes.cache_chunk < request.length * sizes.layers:
                request.cache.append(recorder.take(chunk))
            forward(sizes, recorder, rows, request.length)
        for request in running:
            if request.done:
                recorder.give(*request.cache)
        running = [request for request in running if not request.done]
        yield recorder.events
        recorder.events = []
