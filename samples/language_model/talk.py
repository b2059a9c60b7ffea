# SPDX-License-Identifier: Apache-2.0
"""The answers to one HTTP request, between the device thread and the client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from answers import Choice, Form, event
from engine import Engine
from intake import RefusalError
from sequence import (
    End,
    Event,
    Failure,
    Piece,
    QueueFullError,
    Request,
    StoppingError,
    TooLongError,
)
from starlette.requests import Request as HttpRequest


def unavailable(error: Exception) -> RefusalError:
    """The answer while the queue is full or the service is not there."""
    return RefusalError(503, str(error), retry_s=1 if isinstance(error, QueueFullError) else 5)


class Talk:
    """Some requests to the engine that are answered together.

    Whatever happens comes through one queue: what the device thread tells, that the time is over,
    and that the client has gone.
    """

    def __init__(self, engine: Engine, requests: list[Request], answer_s: float) -> None:
        self._engine = engine
        self._requests = requests
        self._choices = [Choice() for _ in requests]
        self._news: asyncio.Queue[tuple[int, Event | RefusalError]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self.begun = False
        """Whether the first event is there, so that an answer can begin."""
        late = RefusalError(504, f"no answer after {answer_s} s")
        self._timer = self._loop.call_later(answer_s, self._news.put_nowait, (-1, late))
        for index, request in enumerate(requests):
            request.sink = self._sink(index)

    def _sink(self, index: int) -> Callable[[Event], None]:
        def sink(event: Event) -> None:
            self._loop.call_soon_threadsafe(self._news.put_nowait, (index, event))

        return sink

    def close(self) -> None:
        """Nobody waits any more: what is not complete need not be computed."""
        self._timer.cancel()
        left = [r for r, c in zip(self._requests, self._choices, strict=True) if c.end is None]
        if left:
            self._engine.cancel(left)

    async def begin(self, http: HttpRequest) -> tuple[int, Event]:
        """Submit everything; return the first event."""
        try:
            self._engine.submit(self._requests)
        except (QueueFullError, StoppingError) as error:
            raise unavailable(error) from None
        except TooLongError as error:
            raise RefusalError(400, str(error), param="max_tokens") from None
        async with self._watched(http):
            first = await self._next()
        self.begun = True
        return first

    async def whole(self, http: HttpRequest) -> list[Choice]:
        """Submit everything; return the whole answers."""
        index, new = await self.begin(http)
        async with self._watched(http):
            while True:
                self._note(index, new)
                if self._complete:
                    return self._choices
                index, new = await self._next()

    @asynccontextmanager
    async def _watched(self, http: HttpRequest) -> AsyncIterator[None]:
        """Hear of it when the client goes away."""

        async def watch() -> None:
            while (await http.receive())["type"] != "http.disconnect":
                pass
            self._news.put_nowait((-1, RefusalError(499, "the client went away")))

        task = asyncio.ensure_future(watch())
        try:
            yield
        finally:
            task.cancel()

    async def _next(self) -> tuple[int, Event]:
        index, new = await self._news.get()
        if isinstance(new, Failure):
            raise RefusalError(500, new.text)
        if isinstance(new, RefusalError):
            raise new
        return index, new

    @property
    def _complete(self) -> bool:
        return all(choice.end is not None for choice in self._choices)

    def _note(self, index: int, new: Event) -> None:
        choice = self._choices[index]
        if isinstance(new, Piece):
            choice.text += new.text
            choice.chosen.append(new.chosen)
        elif isinstance(new, End):
            choice.text += new.text
            choice.end = new

    async def stream(
        self, form: Form, first: tuple[int, Event], prompt_tokens: int | None
    ) -> AsyncIterator[str]:
        """The answers as server-sent events; ``prompt_tokens`` if the client asked for usage."""
        begun: set[int] = set()
        index, new = first
        try:
            while True:
                offset = len(self._choices[index].text)
                self._note(index, new)
                is_first = index not in begun
                if isinstance(new, Piece) and (new.text or new.chosen.logprob is not None):
                    begun.add(index)
                    yield form.piece(index, new.text, [new.chosen], offset=offset, first=is_first)
                elif isinstance(new, End):
                    yield form.piece(index, new.text, reason=new.reason, first=is_first)
                if self._complete:
                    break
                index, new = await self._next()
        except RefusalError as error:
            # The status was sent long ago; clients look for an error among the events.
            yield event(error.body())
            return
        if prompt_tokens is not None:
            yield form.usage(self._choices, prompt_tokens)
        yield "data: [DONE]\n\n"
