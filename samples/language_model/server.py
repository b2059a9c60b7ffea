# SPDX-License-Identifier: Apache-2.0
"""The routes of the service: OpenAI's interface, and what the machinery around it asks for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from answers import Form
from engine import Engine
from intake import Intake, Limits, RefusalError
from metrics import Metrics
from protocol import Asked, chat, completion
from sequence import (
    Event,
    QueueFullError,
    Request,
    StoppingError,
)
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from talk import Talk, unavailable
from tokens import Answer, PromptError, Tokens


class Service:
    """The application in front of an engine."""

    def __init__(
        self,
        engine: Engine,
        metrics: Metrics,
        tokens: Tokens,
        *,
        name: str,
        limits: Limits,
    ) -> None:
        self._engine = engine
        self._metrics = metrics
        self._tokens = tokens
        self._name = name
        self._limits = limits
        self._intake = Intake(limits)
        self._created = int(time.time())
        # One at a time: the device needs the processors more.
        self._tokenizing = ThreadPoolExecutor(1, "tokenizer")

    @property
    def failure(self) -> str:
        """Why the device thread ended on an error; empty if it did not."""
        return self._engine.failure

    def application(self) -> Starlette:
        return Starlette(
            lifespan=self._lifespan,
            routes=[
                Route("/v1/completions", self.completions, methods=["POST"]),
                Route("/v1/chat/completions", self.chat_completions, methods=["POST"]),
                Route("/v1/models", self.models),
                Route("/v1/models/{name:path}", self.model),
                Route("/health", self.health),
                Route("/ready", self.is_ready),
                Route("/metrics", self.show_metrics),
            ],
            exception_handlers={HTTPException: _wrong_route, Exception: _defect},
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self._engine.start()
        yield
        # The connections are closed; what was accepted is still computed.
        await asyncio.to_thread(self._engine.close)
        self._tokenizing.shutdown()

    async def completions(self, http: HttpRequest) -> Response:
        return await self._counted(http, completion)

    async def chat_completions(self, http: HttpRequest) -> Response:
        return await self._counted(http, chat)

    async def _counted(self, http: HttpRequest, parse: Callable[..., Asked]) -> Response:
        status = 500
        try:
            answer = await self._answer(http, parse)
            status = answer.status_code
        except RefusalError as error:
            status = error.status
            answer = error.response()
        finally:
            self._metrics.answered(http.url.path, status)
        return answer

    async def _answer(self, http: HttpRequest, parse: Callable[..., Asked]) -> Response:
        # If the queue is full, spend neither memory nor time on the request's body.
        body = await self._intake.json(http, self._refusal(1))
        if body.get("model", self._name) != self._name:
            raise RefusalError(
                404, f"model: {body['model']!r} is not served, {self._name!r} is", param="model"
            )
        asked = parse(body, self._engine.vocabulary, self._limits.choices)
        refusal = self._refusal(asked.choices * max(1, len(asked.prompts)))
        if refusal is not None:
            raise refusal
        prompts = await self._prompts(asked)
        talk = Talk(self._engine, self._requests(asked, prompts), self._limits.answer_s)
        form = Form(
            self._tokens,
            self._name,
            chat=asked.messages is not None,
            logprobs=asked.settings.alternatives is not None,
        )
        count = sum(map(len, prompts))
        try:
            if asked.stream:
                # An error before the first token has a status; it is not part of a stream.
                first = await talk.begin(http)
                stream = talk.stream(form, first, count if asked.usage else None)
                return _Stream(stream, talk.close)
            return JSONResponse(form.whole(await talk.whole(http), count))
        finally:
            if not asked.stream or not talk.begun:
                talk.close()

    def _refusal(self, count: int) -> RefusalError | None:
        try:
            self._engine.check_room(count)
        except (QueueFullError, StoppingError) as error:
            return unavailable(error)
        return None

    async def _prompts(self, asked: Asked) -> list[list[int]]:
        def tokenized() -> list[list[int]]:
            if asked.messages is not None:
                return [self._tokens.conversation(asked.messages)]
            return [self._tokens(p) if isinstance(p, str) else p for p in asked.prompts]

        loop = asyncio.get_running_loop()
        try:
            prompts = await loop.run_in_executor(self._tokenizing, tokenized)
        except PromptError as error:
            raise RefusalError(400, str(error), param="messages") from None
        if not all(prompts):
            raise RefusalError(400, "prompt: it has no tokens", param="prompt")
        return prompts

    def _requests(self, asked: Asked, prompts: list[list[int]]) -> list[Request]:
        ends = frozenset[int]() if asked.ignore_end else self._tokens.ends
        found: list[Request] = []
        for prompt in prompts:
            room = self._engine.longest - len(prompt)
            most = asked.most_tokens if asked.most_tokens is not None else max(room, 1)
            for number in range(asked.choices):
                seed = (asked.settings.seed + number) % (1 << 64)
                found.append(
                    Request(
                        prompt=prompt,
                        settings=replace(asked.settings, seed=seed),
                        most_tokens=most,
                        answer=Answer(self._tokens, asked.stops),
                        ends=ends,
                        sink=_nowhere,
                    )
                )
        return found

    async def models(self, _http: HttpRequest) -> Response:
        return JSONResponse({"object": "list", "data": [self._model()]})

    async def model(self, http: HttpRequest) -> Response:
        name = http.path_params["name"]
        if name != self._name:
            return RefusalError(404, f"{name!r} is not served, {self._name!r} is").response()
        return JSONResponse(self._model())

    def _model(self) -> dict[str, Any]:
        return {
            "id": self._name,
            "object": "model",
            "created": self._created,
            "owned_by": "local",
            "max_model_len": self._engine.longest,
        }

    async def health(self, _http: HttpRequest) -> Response:
        alive = self._engine.alive
        text = "ok" if alive else f"the device thread ended: {self._engine.failure}"
        return PlainTextResponse(text, 200 if alive else 500)

    async def is_ready(self, _http: HttpRequest) -> Response:
        ready = self._engine.ready.is_set() and self._engine.alive
        return PlainTextResponse("ready" if ready else "not ready", 200 if ready else 503)

    async def show_metrics(self, _http: HttpRequest) -> Response:
        return PlainTextResponse(
            self._metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8"
        )


async def _wrong_route(_http: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return RefusalError(error.status_code, error.detail).response()


def _nowhere(_event: Event) -> None:
    """Where events go before anybody listens."""


async def _defect(_http: HttpRequest, _error: Exception) -> Response:
    """The answer to an exception that nobody expected; the log has its traceback."""
    return RefusalError(500, "a defect of the server; its log has the details").response()


class _Stream(StreamingResponse):
    """Events for a client; when it ends or the client goes away, ``ended`` is called."""

    def __init__(self, parts: AsyncIterator[str], ended: Callable[[], None]) -> None:
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(parts, media_type="text/event-stream", headers=headers)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()
