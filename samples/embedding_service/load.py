# SPDX-License-Identifier: Apache-2.0
"""Load the embedding server, with faults: `python samples/embedding_service/load.py --help`.

Starts a server of its own and ends it. Every answer is compared with NumPy's vector of the same
text. Writes the figures to a JSON file and, with matplotlib, a plot beside it. Last line: "ok", if
every complete request got its answer, every vector was right and device memory stayed as it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from comparison import compare
from corpus import sentence, texts
from options import at_least
from process import DEVICE_MEMORY, ServerError, memory, server
from reference import NumpyEncoder
from text import TextTokenizer
from weights import Array, model_directory, read_checkpoint, read_config

LEAST_COSINE = 0.999
SIZES = (1, 1, 1, 1, 1, 1, 1, 2)
"""Numbers of texts per request; each request takes one at random."""
AGAIN = "refused with 503, sent again"


class Progress:
    """A progress line: rewritten in place on a terminal, a new line now and then elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._terminal = sys.stderr.isatty()
        self._pause_s = 0.2 if self._terminal else 10.0
        self._last = time.monotonic()

    def show(self, done: int, outcomes: Counter[str], seconds: float) -> None:
        """Write the line, unless it was just written."""
        now = time.monotonic()
        if done < self._total and now - self._last < self._pause_s:
            return
        self._last = now
        refused = outcomes[AGAIN]
        line = (
            f"{done} of {self._total} requests, {seconds:.0f} s, "
            f"{done / seconds:.1f} per second, {refused} refused and sent again"
        )
        if self._terminal:
            end = "\n" if done == self._total else ""
            print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


class Load:
    """Clients that send texts from a pool, and what they observed."""

    def __init__(self, url: str, pool: list[str], expected: Array, options: Any) -> None:
        self._url = url
        self._pool = pool
        self._expected = expected
        self._options = options
        self._random = random.Random(options.seed)
        self._left = options.requests
        self._done = 0
        self._progress = Progress(options.requests)
        self.outcomes: Counter[str] = Counter()
        self.latencies: list[tuple[float, float]] = []
        self.least_cosine = 1.0
        self.explained = ""
        self.began = time.monotonic()

    async def run(self) -> None:
        """Send all requests from this number of clients at once."""
        limits = httpx.Limits(max_connections=self._options.clients)
        async with httpx.AsyncClient(base_url=self._url, limits=limits, timeout=120.0) as client:
            await asyncio.gather(*(self._client(client) for _ in range(self._options.clients)))

    async def _client(self, client: httpx.AsyncClient) -> None:
        while self._left > 0:
            self._left -= 1
            try:
                await self._request(client)
            except (httpx.TransportError, OSError) as error:
                self.outcomes[f"lost: {type(error).__name__}"] += 1
            self._done += 1
            self._progress.show(self._done, self.outcomes, time.monotonic() - self.began)

    async def _request(self, client: httpx.AsyncClient) -> None:
        kind = self._random.random()
        if kind < self._options.drops:
            await self._drop()
        elif kind < self._options.drops + self._options.oversized:
            answer = await client.post("/embed", content=b"x" * (2 << 20))
            self.outcomes["oversized, 413" if answer.status_code == 413 else "wrong"] += 1
        else:
            await self._ask(client)

    async def _drop(self) -> None:
        """Go away in the middle of a body, or without waiting for the answer."""
        url = httpx.URL(self._url)
        _reader, writer = await asyncio.open_connection(url.host, url.port)
        body = json.dumps({"texts": [self._random.choice(self._pool)]}).encode()
        head = f"POST /embed HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        whole = self._random.random() < 0.5
        writer.write(head + (body if whole else body[: len(body) // 2]))
        await writer.drain()
        writer.close()
        self.outcomes["dropped by the client"] += 1

    async def _ask(self, client: httpx.AsyncClient) -> None:
        chosen = [
            self._random.randrange(len(self._pool)) for _ in range(self._random.choice(SIZES))
        ]
        body = {"texts": [self._pool[index] for index in chosen]}
        while True:
            began = time.monotonic()
            answer = await client.post("/embed", json=body)
            if answer.status_code != 503:
                break
            self.outcomes[AGAIN] += 1
            await asyncio.sleep(float(answer.headers["Retry-After"]))
        now = time.monotonic()
        if answer.status_code == 200:
            self.latencies.append((now - self.began, now - began))
            vectors = np.array(answer.json()["vectors"], np.float32)
            cosine = float((vectors * self._expected[chosen]).sum(axis=1).min())
            self.least_cosine = min(self.least_cosine, cosine)
            self.outcomes["answered" if cosine >= LEAST_COSINE else "wrong vector"] += 1
        elif answer.status_code == 500 and "507015" in answer.text:
            self.outcomes["failed by the device, explained"] += 1
            self.explained = answer.json()["error"]
        else:
            self.outcomes[f"unexpected {answer.status_code}"] += 1


def summary(load: Load, held: list[tuple[float, dict[str, int]]]) -> dict[str, Any]:
    """The figures of a run."""
    seconds = time.monotonic() - load.began
    latencies = np.array([latency for _, latency in load.latencies]) * 1000
    marks = {
        name: round(float(np.percentile(latencies, mark)), 1)
        for name, mark in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100))
        if latencies.size
    }
    return {
        "seconds": round(seconds, 1),
        "outcomes": dict(load.outcomes),
        "answers_per_second": round(len(latencies) / seconds, 1),
        "latency_ms": marks,
        "least_cosine_to_numpy": round(load.least_cosine, 6),
        "memory_first": held[0][1],
        "memory_last": held[-1][1],
    }


def failures(result: dict[str, Any]) -> list[str]:
    """Mistakes in the figures; empty if there are none."""
    expected = {"answered", "dropped by the client", "oversized, 413"}
    expected |= {AGAIN, "failed by the device, explained"}
    found = [f"{n} x {kind}" for kind, n in result["outcomes"].items() if kind not in expected]
    if not result["outcomes"].get("answered"):
        found.append("no request was answered")
    for name in DEVICE_MEMORY:
        first, last = result["memory_first"][name], result["memory_last"][name]
        if first != last:
            found.append(f"device {name}: {first}, then {last}")
    return found


def plot(load: Load, held: list[tuple[float, dict[str, int]]], path: Path) -> str:
    """Plot latency and memory over time; return a line that says what was done."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        return f"no plot: {error}"
    figure = Figure(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    seen = np.array(load.latencies).reshape(-1, 2)
    above.plot(seen[:, 0], seen[:, 1] * 1000, ".", markersize=2, alpha=0.4)
    above.set(ylabel="latency, ms", title="Every answer, and what the server holds", ylim=0)
    for name, label in (("allocated_bytes", "device, in use"), ("resident_bytes", "host")):
        points = [(at, values[name] / 2**20) for at, values in held if name in values]
        if points:
            below.plot(*zip(*points, strict=True), label=label)
    below.set(xlabel="seconds", ylabel="MiB", ylim=0)
    below.legend()
    figure.savefig(path, dpi=100)
    return f"plot: {path}"


async def measured(load: Load, url: str, pid: int) -> list[tuple[float, dict[str, int]]]:
    """Run the load; return what the server held, sampled once a second."""
    held = [(0.0, memory(url, pid))]
    running = asyncio.create_task(load.run())
    while not running.done():
        await asyncio.wait([running], timeout=1.0)
        held.append((time.monotonic() - load.began, await asyncio.to_thread(memory, url, pid)))
    await running
    return held


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    result = argparse.ArgumentParser(
        description="Load on the embedding server, with faults.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    count, share = at_least(int, 1), at_least(float, 0, 1)
    result.add_argument("--requests", type=count, default=10000, help="faults among them")
    result.add_argument("--clients", type=count, default=64, help="at the same time")
    result.add_argument("--drops", type=share, default=0.02, help="share of clients that go away")
    result.add_argument("--oversized", type=share, default=0.01, help="share of oversized bodies")
    result.add_argument(
        "--fail-every", type=at_least(int, 0), default=100, help="batches per device error; 0: none"
    )
    result.add_argument("--max-queued", type=count, default=56, help="of the server; beyond it 503")
    result.add_argument("--dtype", default="float32", help="of the server")
    result.add_argument("--seed", type=int, default=0, help="of texts and faults")
    result.add_argument("--pool", type=count, default=300, help="different texts")
    result.add_argument(
        "--threads",
        type=at_least(int, 0),
        default=1,
        help="of the comparison behind the load; 0 leaves it out",
    )
    result.add_argument(
        "--result", type=Path, default=Path("load.json"), help="figures; the plot lies beside it"
    )
    return result


def main() -> int:
    options = parser().parse_args()
    if not options.result.parent.is_dir():  # better now than after the load
        print(f"--result: there is no directory {options.result.parent}", file=sys.stderr)
        return 2
    directory = model_directory()
    rng = random.Random(options.seed)
    short = [sentence(rng) for _ in range(options.pool - options.pool // 10)]
    pool = short + texts(options.pool // 10, options.seed)
    reference = NumpyEncoder(read_checkpoint(directory), read_config(directory))
    expected = reference.embed_each(TextTokenizer(directory)(pool))
    words = ["--dtype", options.dtype, "--fail-every", str(options.fail_every)]
    try:
        with server(*words, "--max-queued", str(options.max_queued)) as (url, pid):
            load = Load(url, pool, expected, options)
            held = asyncio.run(measured(load, url, pid))
    except ServerError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    result = summary(load, held)
    if options.threads:
        result["comparison"] = compare(options.threads)
    options.result.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    print(plot(load, held, options.result.with_suffix(".png")))
    if load.explained:
        print(f"a device error, as a client read it:\n{load.explained}")
    bad = failures(result)
    print("ok" if not bad else f"WRONG: {'; '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
