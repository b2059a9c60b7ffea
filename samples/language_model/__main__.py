# SPDX-License-Identifier: Apache-2.0
"""The language-model service: `python samples/language_model DIRECTORY`, `--help` for options."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from decoder import Decoder
from engine import Engine
from intake import Limits
from metrics import Metrics
from options import parser
from server import Service
from tokens import ModelFileError, Tokens

from aclnn_py.distributed import Communicator


def open_decoder(options: argparse.Namespace, tokens: Tokens) -> Decoder:
    """The model, or this rank's part of it where `aclnn-py run` has started several."""
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    calibration = tokens(options.calibration.read_text("utf-8")) if options.quantise else None
    return Decoder.open(
        options.directory,
        dtype=options.dtype,
        quantise=options.quantise,
        pages=options.pages,
        page_size=options.page_size,
        most=options.rows,
        comm=Communicator.from_env() if several else None,
        experts=options.experts,
        calibration=calibration,
    )


def follow(options: argparse.Namespace) -> int:
    """Compute this rank's part of what rank 0 serves, until it ends."""
    # Rank 0 gets the signals too. It completes what it has accepted, and lets the others go.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    decoder = open_decoder(options, Tokens(options.directory))
    try:
        decoder.follow()
    except ConnectionError as error:
        print(f"rank {os.environ['RANK']}: {error}", file=sys.stderr)
        return 1
    finally:
        decoder.close()
    return 0


def make_service(options: argparse.Namespace, on_failure: Callable[[], None]) -> Service:
    """The service for the options of the command line."""
    tokens = Tokens(options.directory)

    def make_decoder() -> Decoder:
        decoder = open_decoder(options, tokens)
        if tokens.count > decoder.vocabulary:
            raise ModelFileError(
                f"{options.directory}: tokenizer.json has {tokens.count} tokens, the model has "
                f"{decoder.vocabulary}"
            )
        return decoder

    metrics = Metrics()
    engine = Engine(
        make_decoder,
        metrics,
        rows=options.rows,
        max_waiting=options.max_waiting,
        chunk=options.chunk,
        fail_every=options.fail_every,
        on_failure=on_failure,
    )
    # If even an empty queue could not take a request, 503 must not tell the client to try again.
    limits = Limits(choices=min(Limits.choices, options.max_waiting))
    name = options.name or options.directory.resolve().name
    return Service(engine, metrics, tokens, name=name, limits=limits)


def main() -> int:
    options = parser().parse_args()
    if int(os.environ.get("RANK", "0")):
        return follow(options)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    server: uvicorn.Server

    def stop() -> None:
        server.should_exit = True

    try:
        service = make_service(options, stop)
    except ModelFileError as error:
        print(error, file=sys.stderr)
        return 1
    config = uvicorn.Config(
        service.application(),
        host=options.host,
        port=options.port,
        access_log=False,
        # A client that does not read its answer must not keep the server from ending.
        timeout_graceful_shutdown=options.drain_s,
    )
    server = uvicorn.Server(config)
    # uvicorn raises SIGTERM or SIGINT again after closing everything; both are a good end.
    signal.signal(signal.SIGTERM, lambda *_: stop())
    with suppress(KeyboardInterrupt):
        server.run()
    if service.failure:
        print(f"the device thread ended: {service.failure}", file=sys.stderr)
    return 0 if server.started and not service.failure else 1


if __name__ == "__main__":
    sys.exit(main())
