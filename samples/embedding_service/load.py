# SPDX-License-Identifier: Apache-2.0
"""Load on the embedding server, with faults: `python samples/embedding_service/load.py --help`.

Starts a server of its own and ends it. Every answer is compared with NumPy's vector of the same
text. Writes the figures to a JSON file and, with matplotlib, a plot beside it. Last line: "ok", if
every complete request got its answer, every vector was right and device memory stayed as it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from comparison import compare
from corpus import sentence, texts
from reference import NumpyEncoder
from text import TextTokenizer
from weights import Array, model_directory, read_checkpoint, read_config

HERE = Path(__file__).parent
LEAST_COSINE = 0.999
SIZES = (1, 1, 1, 1, 1, 1, 1, 2)
"""Texts per request, one of these at random."""
DEVICE_MEMORY = ("allocated_bytes", "reserved_bytes", "allocations_total")


@contextmanager
def server(*arguments: str) -> Iterator[tuple[str, int]]:
    """A server on a free port: its address and process number."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, str(HERE / "server.py"), "--port", str(port), *arguments]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, process)
        yield url, process.pid
        process.send_signal(signal.SIGTERM)
        status = process.wait(60)
        # uvicorn raises the signal again once everything is closed.
        if status not in (0, -signal.SIGTERM):
            raise RuntimeError(f"the server ended with status {status}")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def wait_until_ready(url: str, process: subprocess.Popen[bytes], timeout_s: float = 180.0) -> None:
    """Wait for the model to be loaded."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        try:
            if httpx.get(f"{url}/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise TimeoutError(f"the server was not ready after {timeout_s} s")


def memory(url: str, pid: int) -> dict[str, int]:
    """What the server holds, on the device and on the host."""
    found = httpx.get(f"{url}/metrics").text
    values = {
        name: int(re.findall(rf"^embedding_device_{name} (\d+)$", found, re.MULTILINE)[0])
        for name in DEVICE_MEMORY
    }
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        values["resident_bytes"] = 1024 * int(re.findall(r"VmRSS:\s+(\d+)", status.read_text())[0])
    return values


class Load:
    """Clients that send texts of a pool, and what they saw."""

    def __init__(self, url: str, pool: list[str], expected: Array, options: Any) -> None:
        self._url = url
        self._pool = pool
        self._expected = expected
        self._options = options
        self._random = random.Random(options.seed)
        self._left = options.requests
        self.outcomes: Counter[str] = Counter()
        self.latencies: list[tuple[float, float]] = []
        self.least_cosine = 1.0
        self.explained = ""
        self.began = time.monotonic()

    async def run(self) -> None:
        """Send all requests from that many clients at once."""
        limits = httpx.Limits(max_connections=self._options.clients)
        async with httpx.AsyncClient(base_url=self._url, limits=limits, timeout=120.0) as client:
            await asyncio.gather(*(self._client(client) for _ in range(self._options.clients)))

    async def _client(self, client: httpx.AsyncClient) -> None:
        while self._left > 0:
            self._left -= 1
            kind = self._random.random()
            if kind < self._options.drops:
                await self._drop()
            elif kind < self._options.drops + self._options.oversized:
                answer = await client.post("/embed", content=b"x" * (2 << 20))
                self.outcomes["oversized, 413" if answer.status_code == 413 else "wrong"] += 1
            else:
                await self._ask(client)
            if self._left % 500 == 0:
                print(f"{self._left} left, {dict(self.outcomes)}", flush=True)

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
            try:
                answer = await client.post("/embed", json=body)
            except httpx.TransportError as error:
                self.outcomes[f"lost: {type(error).__name__}"] += 1
                return
            if answer.status_code != 503:
                break
            self.outcomes["refused with 503, sent again"] += 1
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
    marks = {f"p{mark}": round(float(np.percentile(latencies, mark)), 1) for mark in (50, 90, 99)}
    return {
        "seconds": round(seconds, 1),
        "outcomes": dict(load.outcomes),
        "answers_per_second": round(len(latencies) / seconds, 1),
        "latency_ms": {**marks, "max": round(float(latencies.max()), 1)},
        "least_cosine_to_numpy": round(load.least_cosine, 6),
        "memory_first": held[0][1],
        "memory_last": held[-1][1],
    }


def failures(result: dict[str, Any]) -> list[str]:
    """What must not be in the figures."""
    expected = {"answered", "dropped by the client", "oversized, 413"}
    expected |= {"refused with 503, sent again", "failed by the device, explained"}
    found = [f"{n} x {kind}" for kind, n in result["outcomes"].items() if kind not in expected]
    for name in DEVICE_MEMORY:
        first, last = result["memory_first"][name], result["memory_last"][name]
        if first != last:
            found.append(f"device {name}: {first}, then {last}")
    return found


def plot(load: Load, held: list[tuple[float, dict[str, int]]], path: Path) -> str:
    """Latency and memory over time; returns what was done."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        return f"no plot: {error}"
    figure = Figure(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    when, latency = zip(*sorted(load.latencies), strict=True)
    above.plot(when, np.array(latency) * 1000, ".", markersize=2, alpha=0.4)
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
    """Run the load; what the server held meanwhile, once a second."""
    held = [(0.0, memory(url, pid))]
    running = asyncio.create_task(load.run())
    while not running.done():
        await asyncio.wait([running], timeout=1.0)
        held.append((time.monotonic() - load.began, await asyncio.to_thread(memory, url, pid)))
    await running
    return held


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    result = argparse.ArgumentParser(description="Load on the embedding server, with faults.")
    result.add_argument("--requests", type=int, default=10000)
    result.add_argument("--clients", type=int, default=64)
    result.add_argument("--drops", type=float, default=0.02, help="share of clients that go away")
    result.add_argument("--oversized", type=float, default=0.01, help="share of oversized bodies")
    result.add_argument("--fail-every", type=int, default=100, help="batches per device error")
    result.add_argument("--max-queued", type=int, default=56, help="of the server; beyond it 503")
    result.add_argument("--dtype", default="float32")
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--pool", type=int, default=300, help="different texts")
    result.add_argument("--threads", type=int, default=1, help="of the comparison; 0 leaves it out")
    result.add_argument("--result", type=Path, default=Path("load.json"))
    return result


def main() -> int:
    options = parser().parse_args()
    directory = model_directory()
    rng = random.Random(options.seed)
    short = [sentence(rng) for _ in range(options.pool - options.pool // 10)]
    pool = short + texts(options.pool // 10, options.seed)
    reference = NumpyEncoder(read_checkpoint(directory), read_config(directory))
    expected = reference.embed_each(TextTokenizer(directory)(pool))
    words = ["--dtype", options.dtype, "--fail-every", str(options.fail_every)]
    with server(*words, "--max-queued", str(options.max_queued)) as (url, pid):
        load = Load(url, pool, expected, options)
        held = asyncio.run(measured(load, url, pid))
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
