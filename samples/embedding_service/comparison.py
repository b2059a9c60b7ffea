# SPDX-License-Identifier: Apache-2.0
"""Compare with other libraries: `python samples/embedding_service/comparison.py`.

The same model runs in NumPy, and in torch and onnxruntime (with onnx) if they are installed. All
compute the same batches in turns with the same number of threads, so a busy machine slows all of
them. Read the ratios, not the times; below 1 this package was faster. The vectors of each model are
compared with NumPy's before it is timed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from encoder import Encoder, Shape
from model import Model
from options import at_least
from reference import NumpyEncoder
from weights import Array, Config, model_directory, read_checkpoint, read_config, shard

import aclnn_py as ap

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS")
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}
"""A thread that waits in a loop counts as working, and slows the model that is timed next."""
SETTLE_S = 0.1
"""Threads of NumPy's BLAS wait in a loop for a while, whatever the settings."""
BATCHES = ((1, 16), (32, 16), (32, 64), (8, 256))
OURS, NUMPY = "aclnn_py", "numpy"
OTHERS = {
    "torch": (("torch",), "reference_torch", "TorchEncoder"),
    "onnxruntime": (("onnxruntime", "onnx"), "reference_onnx", "OnnxEncoder"),
}
"""By name: the packages it needs, its module and its class."""
LEAST_COSINE = 0.9999

Texts = Sequence[Sequence[int]]


class Embedder(Protocol):
    """An object that turns token numbers into unit vectors."""

    def embed(self, texts: Texts) -> Array: ...


def missing(packages: Sequence[str]) -> str:
    """The first of these packages that is not installed. An installed one that fails raises."""
    for name in packages:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            return name
    return ""


@contextmanager
def models(
    checkpoint: dict[str, Array], config: Config, threads: int, shapes: list[Shape]
) -> Iterator[tuple[dict[str, Embedder], dict[str, str]]]:
    """All encoders by name, and the reasons why others are absent."""
    found: dict[str, Embedder] = {NUMPY: NumpyEncoder(checkpoint, config)}
    absent = {}
    for name, (packages, module, kind) in OTHERS.items():
        package = missing(packages)
        if package:
            absent[name] = f"{package} is not installed"
        else:
            found[name] = getattr(importlib.import_module(module), kind)(
                checkpoint, config, threads
            )
    with ap.Device(0):
        encoder = Encoder(Model(shard(checkpoint, config), np.float32), shapes)
        try:
            yield {OURS: encoder, **found}, absent
        finally:
            encoder.close()


def agree(name: str, vectors: Array, expected: Array) -> None:
    """Raise if these are not NumPy's vectors."""
    least = float((vectors * expected).sum(axis=1).min())
    if not least >= LEAST_COSINE:
        raise ValueError(f"{name}: cosine to NumPy {least:.6f}, expected {LEAST_COSINE} or more")


def timed(work: Callable[[Texts], Array], batch: Texts) -> tuple[float, float]:
    """CPU time of this process and wall time, in ms. Other programs add nothing to CPU time."""
    time.sleep(SETTLE_S)
    cpu, wall = time.process_time(), time.perf_counter()
    work(batch)
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def measure(
    checkpoint: dict[str, Array],
    config: Config,
    *,
    threads: int,
    rounds: int,
    batches: Sequence[tuple[int, int]] = BATCHES,
) -> dict[str, Any]:
    """The least time of each model per batch, and our time divided by theirs."""
    rng = np.random.default_rng(0)
    words = len(checkpoint["embeddings.word_embeddings.weight"])
    shapes = [Shape(*batch) for batch in batches]
    rows = []
    with models(checkpoint, config, threads, shapes) as (embedders, absent):
        for count, length in batches:
            print(f"{count} x {length}: {', '.join(embedders)}", file=sys.stderr)
            batch = rng.integers(0, words, (count, length)).tolist()
            expected = embedders[NUMPY].embed(batch)
            for name, embedder in embedders.items():
                agree(name, embedder.embed(batch), expected)
            turns = [
                {name: timed(embedder.embed, batch) for name, embedder in embedders.items()}
                for _ in range(rounds)
            ]
            least = {name: np.min([turn[name] for turn in turns], axis=0) for name in embedders}
            rows.append({"texts": count, "tokens": length, "models": figures(least)})
    used = {name: importlib.import_module(name).__version__ for name in embedders}
    return {"threads": threads, "versions": used, "absent": absent, "batches": rows}


def figures(least: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """The times of a batch as they are shown."""
    found = {}
    for name, (cpu, wall) in least.items():
        found[name] = {"cpu_ms": round(float(cpu), 1), "wall_ms": round(float(wall), 1)}
        if name != OURS:
            ours_cpu, ours_wall = least[OURS]
            found[name]["cpu_ratio"] = round(float(ours_cpu / cpu), 2)
            found[name]["wall_ratio"] = round(float(ours_wall / wall), 2)
    return found


def table(result: dict[str, Any]) -> str:
    """The result as a Markdown table, and a line for each absent model."""
    others = [name for name in result["versions"] if name != OURS]
    heads = ["texts x tokens", f"{OURS}, ms"]
    heads += [text for name in others for text in (f"{name}, ms", "ratio")]
    lines = [heads, ["---"] * len(heads)]
    for row in result["batches"]:
        cells = [f"{row['texts']} x {row['tokens']}"]
        for name in (OURS, *others):
            times = row["models"][name]
            cells.append(f"{times['cpu_ms']} ({times['wall_ms']})")
            if name != OURS:
                cells.append(f"{times['cpu_ratio']} ({times['wall_ratio']})")
        lines.append(cells)
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    used = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    notes = [f"CPU time (wall time), float32, threads: {result['threads']}; {used}"]
    notes += [f"{name}: left out, {reason}" for name, reason in result["absent"].items()]
    return "\n".join([text, "", *notes])


def threads_for(threads: int) -> dict[str, str]:
    """The environment for this number of threads; libraries read it when they load."""
    return {**os.environ, **dict.fromkeys(THREADS, str(threads)), **WAITING}


def compare(threads: int) -> dict[str, Any]:
    """The comparison with the real weights, in a process of its own."""
    words = [sys.executable, __file__, "--threads", str(threads), "--json"]
    done = subprocess.run(
        words, env=threads_for(threads), stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    result = argparse.ArgumentParser(
        description="The encoder beside the same model in NumPy, torch and onnxruntime.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    count = at_least(int, 1)
    result.add_argument("--threads", type=count, default=1, help="of each model")
    result.add_argument("--rounds", type=count, default=5, help="of which the least time counts")
    result.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return result


def main() -> int:
    options = parser().parse_args()
    environment = threads_for(options.threads)
    if os.environ != environment:
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    directory = model_directory()
    result = measure(
        read_checkpoint(directory),
        read_config(directory),
        threads=options.threads,
        rounds=options.rounds,
    )
    print(json.dumps(result, indent=2) if options.json else table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
