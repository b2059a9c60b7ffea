# SPDX-License-Identifier: Apache-2.0
"""The command line of the service."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from intake import Limits


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A type for argparse: integers from ``least`` to ``most``."""

    def parse(text: str) -> int:
        number = int(text)
        if number < least or (most is not None and number > most):
            upper = "" if most is None else f" and at most {most}"
            raise argparse.ArgumentTypeError(f"{number}: at least {least}{upper} is allowed")
        return number

    parse.__name__ = "integer"
    return parse


def share(text: str) -> float:
    """A type for argparse: numbers from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text}: 0 to 1 is allowed")
    return number


def text_file(text: str) -> Path:
    """A type for argparse: a file that exists."""
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is not a file")
    return path


def parser() -> argparse.ArgumentParser:
    """The options of ``python samples/language_model``."""
    result = argparse.ArgumentParser(
        prog="python samples/language_model",
        description="Serve a language model over HTTP, with OpenAI's interface.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = result.add_argument
    add("directory", type=Path, help="the model: config.json, *.safetensors, tokenizer.json")
    add("--host", default="127.0.0.1", help="address to listen on")
    add("--port", type=whole(0, 65535), default=8385, help="0 takes a free one")
    add("--name", help="the model's name in requests; by default the directory's")
    add("--dtype", choices=("float16", "bfloat16"), help="by default what config.json says")
    add("--quantise", choices=("w8a8", "w8a16", "w4a16"), help="weights in 8 or 4 bits")
    add(
        "--calibration",
        type=text_file,
        metavar="FILE",
        default=Path(__file__).with_name("README.md"),
        help="a text like those to come, for which --quantise rounds the weights",
    )
    add(
        "--experts",
        choices=("whole", "divided"),
        default="whole",
        help="on several ranks: whole experts on each, or a part of every expert",
    )
    add("--pages", type=whole(1), default=128, help="pages of the cache")
    add("--page-size", type=whole(1), default=128, help="tokens of a page")
    add("--rows", type=whole(1, 1024), default=16, help="sequences that are computed together")
    add("--chunk", type=whole(1), default=256, help="tokens of prompts between two steps")
    add("--max-waiting", type=whole(1), default=64, help="answers that wait; more get 503")
    add(
        "--drain-s",
        type=whole(1),
        default=int(Limits.read_s + Limits.answer_s),
        help="time after SIGTERM for requests that came before it",
    )
    add(
        "--fail-every",
        type=whole(0),
        default=0,
        metavar="N",
        help="let the device fail with every Nth answer (tests)",
    )
    return result
