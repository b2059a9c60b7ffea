# SPDX-License-Identifier: Apache-2.0
"""Times of the decoder beside transformers on torch, measured in turns with the same threads.

    python samples/language_model/benchmark.py DIRECTORY [--quantise w8a16] [--threads 2]

A table shows the least and the median time of a step of one sequence, and of a prompt, and the
least time of the processors, which other programs disturb less; with several threads it has their
busy waiting too. The rate of weights is what a step has to read, divided by its time; `memcpy`
copies as many bytes. torch and transformers take part if they are installed
(requirements-compare.txt).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from config import Config, read_config
from decoder import Decoder
from make_model import shapes
from quantised import FORMS

import aclnn_py as ap

PAGE = 128
Way = Callable[[], None]


class Ours:
    """One sequence: a prompt in chunks, then steps that lengthen it."""

    def __init__(self, directory: Path, tokens: list[int], steps: int, given: Any) -> None:
        pages = -(-(len(tokens) + steps + 2) // PAGE)
        self._decoder = Decoder.open(
            directory, dtype=given.dtype, quantise=given.quantise, pages=pages, most=1
        )
        self._tokens, self._pages = tokens, list(range(pages))
        self._length = len(tokens)

    def prompt(self) -> None:
        self._decoder.prefill(self._tokens, 0, self._pages)
        ap.current_stream().synchronize()

    def step(self) -> None:
        self._length += 1
        self._decoder.decode([self._tokens[0]], [self._length], [self._pages])
        ap.current_stream().synchronize()

    def begin(self) -> None:
        self._length = len(self._tokens)

    def close(self) -> None:
        self._decoder.close()


class Theirs:
    """The same with transformers, which keeps its own cache."""

    def __init__(self, directory: Path, tokens: list[int], dtype: str, threads: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        torch.set_num_threads(threads)
        self._torch = torch
        self._model = AutoModelForCausalLM.from_pretrained(directory, dtype=getattr(torch, dtype))
        self._tokens = torch.tensor([tokens])
        self._kept: Any = None

    def prompt(self) -> None:
        with self._torch.no_grad():
            out = self._model(self._tokens, use_cache=True, logits_to_keep=1)
        self._kept = out.past_key_values

    def step(self) -> None:
        with self._torch.no_grad():
            out = self._model(self._tokens[:, :1], past_key_values=self._kept, use_cache=True)
        self._kept = out.past_key_values

    def begin(self) -> None:
        if self._kept is None:
            self.prompt()


def bytes_of_step(config: Config, quantise: str | None) -> int:
    """Bytes of the weights that a step of one sequence reads, without experts."""
    total = 0
    for name, shape in shapes(config):
        count = int(np.prod(shape))
        if name == "model.embed_tokens.weight":
            total += 2 * count if config.tied else 0  # one row, or the whole of it as the head
            continue
        layered = name.endswith("_proj.weight") and quantise
        total += count * {"w4a16": 4, None: 16}.get(quantise if layered else None, 8) // 8
    return total


@dataclass
class Times:
    """Seconds of every round: on the clock, and of all threads on the processors."""

    clock: list[float] = field(default_factory=list)
    processors: list[float] = field(default_factory=list)

    @property
    def least(self) -> float:
        return min(self.clock)


def in_turns(ways: dict[str, Way], rounds: int) -> dict[str, Times]:
    """Times of each way, one after the other, so that a busy machine slows all of them."""
    times = {name: Times() for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            begun, spent = time.perf_counter(), time.process_time()
            way()
            times[name].clock.append(time.perf_counter() - begun)
            times[name].processors.append(time.process_time() - spent)
    return times


def memcpy_seconds(nbytes: int, rounds: int = 5) -> float:
    """The least time to copy this many bytes, in pieces that no cache holds."""
    piece = min(nbytes, 256 << 20)
    source, target = np.ones(piece, np.uint8), np.zeros(piece, np.uint8)
    copied = in_turns({"": lambda: np.copyto(target, source)}, rounds)[""]
    return copied.least * nbytes / piece


def show(title: str, times: dict[str, Times]) -> None:
    print(f"\n{title}")
    ours = times["aclnn_py"]
    for name, seconds in times.items():
        spent, middle = min(seconds.processors), float(np.median(seconds.clock))
        ratio = ""
        if name != "aclnn_py":
            ratio = (
                f"  ours / theirs {ours.least / seconds.least:.2f},"
                f" processors {min(ours.processors) / spent:.2f}"
            )
        print(
            f"  {name:10} least {seconds.least * 1e3:8.1f} ms  median {middle * 1e3:8.1f} ms"
            f"  processors {spent * 1e3:8.1f} ms{ratio}"
        )


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--dtype", choices=("float16", "bfloat16"), default="float16")
    parser.add_argument("--quantise", choices=FORMS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--prompts", type=int, default=3, help="how often the prompt is computed")
    parser.add_argument("--alone", action="store_true", help="leave transformers out")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    given = options(arguments)
    # Read by the emulator when it starts.
    os.environ.setdefault("ACLNN_PY_THREADS", str(given.threads))
    config = read_config(given.directory)
    rng = np.random.default_rng(1)
    tokens = [int(token) for token in rng.integers(0, config.vocabulary, given.prompt)]
    ours = Ours(given.directory, tokens, given.steps, given)
    sides: dict[str, Any] = {"aclnn_py": ours}
    if not given.alone:
        try:
            sides["torch"] = Theirs(given.directory, tokens, given.dtype, given.threads)
        except ImportError as error:
            print(f"transformers does not take part: {error}")
    form = given.quantise or given.dtype
    show(
        f"prompt of {given.prompt} tokens, {form}",
        in_turns({name: side.prompt for name, side in sides.items()}, given.prompts),
    )
    for side in sides.values():
        side.begin()
        side.step()
    steps = in_turns({name: side.step for name, side in sides.items()}, given.steps)
    show(f"step of one sequence behind it, {form}", steps)
    nbytes = bytes_of_step(config, given.quantise)
    rate, copied = nbytes / steps["aclnn_py"].least, nbytes / memcpy_seconds(nbytes)
    print(
        f"  {nbytes / 1e6:.0f} MB of weights, {rate / 1e9:.1f} GB/s; memcpy {copied / 1e9:.1f} GB/s"
        f", ratio {rate / copied:.2f}"
    )
    ours.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
