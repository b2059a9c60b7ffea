# SPDX-License-Identifier: Apache-2.0
"""The embedding server: `python samples/embedding_service/server.py --help`.

POST /embed with {"texts": ["...", ...]} answers {"vectors": [[...], ...], "tokens": [...]}.
GET /health, /ready and /metrics are for the machinery around it.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import ml_dtypes
import numpy as np
import uvicorn
from batching import Batcher, BatchError, QueueFullError, StoppingError, Vectors
from encoder import Encoder, all_shapes
from intake import Bodies, Limits, RefusalError, texts_of
from metrics import Metrics
from model import Model
from options import at_least
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from text import TextTokenizer
from weights import model_directory, read_checkpoint, read_config, shard

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


class Service:
    """The routes."""

    def __init__(
        self, batcher: Batcher, metrics: Metrics, tokenizer: TextTokenizer, limits: Limits
    ) -> None:
        self._batcher = batcher
        self._metrics = metrics
        self._tokenizer = tokenizer
        self._limits = limits
        self._bodies = Bodies(limits)
        self._texts_cut = 0
        # One at a time: the device needs the processors, and memory for one request is enough.
        self._cutting = ThreadPoolExecutor(1, "tokenizer")

    @property
    def failure(self) -> str:
        """Why the device thread ended on an error; empty if it did not."""
        return self._batcher.failure

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
        # The server has closed its connections; accepted requests are still computed.
        await asyncio.to_thread(self._batcher.close)
        self._cutting.shutdown()

    async def embed(self, request: Request) -> Response:
        began = time.monotonic()
        status = 500
        try:
            answer = await self._embed(request)
            status = answer.status_code
        except RefusalError as error:
            status = error.status
            answer = JSONResponse({"error": str(error)}, status, error.headers)
        finally:
            self._metrics.answered(status, time.monotonic() - began)
        return answer

    async def _embed(self, request: Request) -> Response:
        try:
            rows, future = await self._accepted(request)
        except QueueFullError as error:
            raise RefusalError(503, str(error), retry_s=1) from None
        except StoppingError as error:
            raise RefusalError(503, str(error), retry_s=5) from None
        try:
            waited = asyncio.wrap_future(future)
            vectors = await asyncio.wait_for(waited, self._limits.answer_s)
        except asyncio.TimeoutError:
            raise RefusalError(504, f"no answer after {self._limits.answer_s} s") from None
        except BatchError as error:
            raise RefusalError(500, str(error)) from None
        return JSONResponse({"vectors": vectors.tolist(), "tokens": [len(row) for row in rows]})

    async def _accepted(self, request: Request) -> tuple[list[list[int]], Future[Vectors]]:
        """The token numbers of the texts, and the future of their vectors."""
        refusal: Exception | None = None
        try:
            # If the queue is full, spend neither memory nor time on the request's body.
            self._batcher.check_room(self._texts_cut + 1)
        except (QueueFullError, StoppingError) as error:
            refusal = error
        async with self._bodies.read(request, refusal) as body:
            texts = texts_of(body, self._limits.texts)
            self._batcher.check_room(self._texts_cut + len(texts))
            self._texts_cut += len(texts)
            try:
                loop = asyncio.get_running_loop()
                rows = await loop.run_in_executor(self._cutting, self._tokenizer, texts)
            finally:
                self._texts_cut -= len(texts)
        return rows, self._batcher.submit(rows)

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


def make_service(
    options: argparse.Namespace, directory: Path, on_failure: Callable[[], None]
) -> Service:
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
        on_failure=on_failure,
    )
    # If even an empty queue could not take a request, 503 must not tell the client to try again.
    limits = Limits(texts=min(Limits.texts, options.max_queued))
    return Service(batcher, metrics, TextTokenizer(directory), limits)


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    result = argparse.ArgumentParser(description="Sentence embeddings over HTTP.")
    result.add_argument("--host", default="127.0.0.1")
    result.add_argument(
        "--port", type=at_least(int, 0, 65535), default=8384, help="0 takes a free one"
    )
    result.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    result.add_argument(
        "--max-wait-ms", type=at_least(float, 0), default=5.0, help="a text waits for others"
    )
    result.add_argument(
        "--max-queued", type=at_least(int, 1), default=1024, help="texts; more get 503"
    )
    result.add_argument(
        "--drain-s",
        type=at_least(int, 1),
        default=int(Limits.read_s + Limits.answer_s),
        help="after SIGTERM for requests that came before it; by default the most they may take",
    )
    result.add_argument("--no-capture", action="store_true", help="launch operators one by one")
    result.add_argument(
        "--fail-every",
        type=at_least(int, 0),
        default=0,
        metavar="N",
        help="let every Nth batch fail (tests)",
    )
    return result


def main() -> int:
    options = parser().parse_args()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    server: uvicorn.Server

    def stop() -> None:
        server.should_exit = True

    try:
        service = make_service(options, model_directory(), stop)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    server = uvicorn.Server(
        uvicorn.Config(
            service.application(),
            host=options.host,
            port=options.port,
            access_log=False,
            # A client that does not read its answers must not keep the server from ending.
            timeout_graceful_shutdown=options.drain_s,
        )
    )
    # Control-C ends it like SIGTERM; uvicorn raises the signal again after closing everything.
    with suppress(KeyboardInterrupt):
        server.run()
    if service.failure:
        print(f"the device thread ended: {service.failure}", file=sys.stderr)
    return 0 if server.started and not service.failure else 1


if __name__ == "__main__":
    sys.exit(main())
