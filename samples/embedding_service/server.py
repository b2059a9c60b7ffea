# SPDX-License-Identifier: Apache-2.0
"""The embedding server: `python samples/embedding_service/server.py --help`.

POST /embed with {"texts": ["...", ...]} answers {"vectors": [[...], ...], "tokens": [...]}.
GET /health, /ready and /metrics are for the machinery around it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import uvicorn
from batching import Batcher, BatchError, QueueFullError, StoppingError
from encoder import Encoder, all_shapes
from metrics import Metrics
from model import Model
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from text import TextTokenizer
from weights import model_directory, read_checkpoint, read_config, shard

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@dataclass(frozen=True)
class Limits:
    """What one request may ask for."""

    body_nbytes: int = 1 << 20
    texts: int = 64
    read_s: float = 10.0
    answer_s: float = 60.0


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, text: str, retry_s: int | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.headers = {} if retry_s is None else {"Retry-After": str(retry_s)}


class Service:
    """The routes."""

    def __init__(
        self, batcher: Batcher, metrics: Metrics, tokenizer: TextTokenizer, limits: Limits
    ) -> None:
        self._batcher = batcher
        self._metrics = metrics
        self._tokenizer = tokenizer
        self._limits = limits

    def application(self) -> Starlette:
        return Starlette(
            lifespan=self._lifespan,
            routes=[
                Route("/embed", self.embed, methods=["POST"]),
                Route("/health", self.health),
                Route("/ready", self.is_ready),
                Route("/metrics", self.show_metrics),
            ],
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self._batcher.start()
        yield
        # The server has ended its connections; what was accepted and is not computed yet is.
        await asyncio.to_thread(self._batcher.close)

    async def embed(self, request: Request) -> Response:
        began = time.monotonic()
        try:
            answer = await self._embed(request)
        except RefusalError as error:
            answer = JSONResponse({"error": str(error)}, error.status, error.headers)
        self._metrics.answered(answer.status_code, time.monotonic() - began)
        return answer

    async def _embed(self, request: Request) -> Response:
        texts = self._checked(await self._body(request))
        if not self._batcher.ready.is_set():
            raise RefusalError(503, "the model is being loaded", retry_s=5)
        rows = await asyncio.to_thread(self._tokenizer, texts)
        try:
            future = self._batcher.submit(rows)
        except (QueueFullError, StoppingError) as error:
            raise RefusalError(503, str(error), retry_s=1) from None
        try:
            waited = asyncio.wrap_future(future)
            vectors = await asyncio.wait_for(waited, self._limits.answer_s)
        except asyncio.TimeoutError:
            raise RefusalError(504, f"no answer after {self._limits.answer_s} s") from None
        except BatchError as error:
            raise RefusalError(500, str(error)) from None
        return JSONResponse({"vectors": vectors.tolist(), "tokens": [len(row) for row in rows]})

    async def _body(self, request: Request) -> bytes:
        most = self._limits.body_nbytes
        too_large = RefusalError(413, f"the body has more than {most} bytes")
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > most:
            raise too_large

        async def read() -> bytes:
            body = bytearray()
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise too_large
            return bytes(body)

        try:
            return await asyncio.wait_for(read(), self._limits.read_s)
        except asyncio.TimeoutError:
            raise RefusalError(408, f"the body took over {self._limits.read_s} s") from None
        except ClientDisconnect:
            raise RefusalError(400, "the body is not complete") from None

    def _checked(self, body: bytes) -> list[str]:
        try:
            value: Any = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise RefusalError(400, f"the body is not JSON: {error}") from None
        expected = 'expected {"texts": ["...", ...]}'
        if not isinstance(value, dict) or set(value) != {"texts"}:
            raise RefusalError(400, expected)
        texts = value["texts"]
        if not isinstance(texts, list) or not texts:
            raise RefusalError(400, f"texts: {expected}, with at least one text")
        if len(texts) > self._limits.texts:
            raise RefusalError(
                400, f"texts: {len(texts)} in one request; at most {self._limits.texts}"
            )
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise RefusalError(400, f"texts[{index}]: not a string")
            try:
                text.encode()
            except UnicodeEncodeError:
                raise RefusalError(
                    400, f"texts[{index}]: half of a surrogate pair, which is no character"
                ) from None
        return texts

    async def health(self, _request: Request) -> Response:
        alive = self._batcher.alive
        text = "ok" if alive else f"the device thread ended: {self._batcher.failure}"
        return PlainTextResponse(text, 200 if alive else 500)

    async def is_ready(self, _request: Request) -> Response:
        ready = self._batcher.ready.is_set() and self._batcher.alive
        return PlainTextResponse("ready" if ready else "not ready", 200 if ready else 503)

    async def show_metrics(self, _request: Request) -> Response:
        return PlainTextResponse(
            self._metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8"
        )


def make_service(options: argparse.Namespace, directory: Path) -> Service:
    """The service for the options of the command line."""

    def make_encoder() -> Encoder:
        config, checkpoint = read_config(directory), read_checkpoint(directory)
        model = Model(shard(checkpoint, config), DTYPES[options.dtype])
        return Encoder(model, all_shapes(), capture=not options.no_capture)

    metrics = Metrics()
    batcher = Batcher(
        make_encoder,
        metrics,
        max_wait_s=options.max_wait_ms / 1000,
        max_queued=options.max_queued,
        fail_every=options.fail_every,
    )
    return Service(batcher, metrics, TextTokenizer(directory), Limits())


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    result = argparse.ArgumentParser(description="Sentence embeddings over HTTP.")
    result.add_argument("--host", default="127.0.0.1")
    result.add_argument("--port", type=int, default=8384, help="0 takes a free one")
    result.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    result.add_argument("--max-wait-ms", type=float, default=5.0, help="a text waits for others")
    result.add_argument("--max-queued", type=int, default=1024, help="texts; more get 503")
    result.add_argument("--no-capture", action="store_true", help="launch operators one by one")
    result.add_argument(
        "--fail-every", type=int, default=0, metavar="N", help="let every Nth batch fail (tests)"
    )
    return result


def main() -> None:
    options = parser().parse_args()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    service = make_service(options, model_directory())
    uvicorn.run(service.application(), host=options.host, port=options.port, access_log=False)


if __name__ == "__main__":
    main()
