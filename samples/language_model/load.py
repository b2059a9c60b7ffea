# SPDX-License-Identifier: Apache-2.0
"""Load the service, with faults: `python samples/language_model/load.py MODEL`, see `--help`.

Starts a server of its own, with so few pages that sequences have to make room for one another, and
ends it. Every text is compared with the one that is computed alone. Writes the figures to a JSON
file and a plot beside it. Last line: "ok", if every request had its answer, every text was right,
and device memory stayed as it was.
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
from cases import Case, cases, text_of
from options import share, whole
from process import Server, ServerError, serving

AGAIN = "refused with 503, sent again"
RIGHT = "answered, right text"
DEVICE = "failed by the device, explained"
GONE = "client went away"
LARGE, LONG = "body too large, 413", "prompt too long, 400"
MEMORY = ("device_allocated_bytes", "device_reserved_bytes", "resident_bytes")


class Load:
    """Clients that send requests from a pool, and what they saw."""

    def __init__(self, url: str, pool: list[Case], options: argparse.Namespace) -> None:
        self._url = url
        self._pool = pool
        self._options = options
        self._random = random.Random(options.seed)
        self._left = options.requests
        self.outcomes: Counter[str] = Counter()
        self.answers: list[tuple[float, float, float]] = []
        """When each right answer was complete, and after how many seconds; of streams, when the
        first text came, else NaN."""
        self.explained = ""
        self.wrong: list[str] = []
        self.began = time.monotonic()

    async def run(self) -> None:
        """Send all requests from this number of clients at once."""
        limits = httpx.Limits(max_connections=self._options.clients)
        async with httpx.AsyncClient(base_url=self._url, limits=limits, timeout=600) as client:
            await asyncio.gather(*(self._client(client) for _ in range(self._options.clients)))

    async def warm_up(self) -> None:
        """Let the device make its workspace: send a prompt of more than one chunk."""
        body = {"prompt": [7] * 600, "max_tokens": 2, "ignore_eos": True}
        async with httpx.AsyncClient(base_url=self._url, timeout=600) as client:
            (await client.post("/v1/completions", json=body)).raise_for_status()
        self.began = time.monotonic()

    async def _client(self, client: httpx.AsyncClient) -> None:
        while self._left > 0:
            self._left -= 1
            try:
                outcome = await self._request(client)
            except (httpx.TransportError, OSError) as error:
                outcome = f"lost: {type(error).__name__}"
            self.outcomes[outcome] += 1

    async def _request(self, client: httpx.AsyncClient) -> str:
        case = self._random.choice(self._pool)
        kind = self._random.random()
        if kind < self._options.drops:
            return await self._go_away(case)
        if kind < self._options.drops + self._options.oversized:
            if self._random.random() < 0.5:
                case = Case("/v1/completions", {"prompt": "x" * (2 << 20)}, "")
                return await self._until_taken(client, case)
            body = {"prompt": "many words " * 5000, "max_tokens": 5}
            return await self._until_taken(client, Case("/v1/completions", body, ""))
        return await self._until_taken(client, case)

    async def _go_away(self, case: Case) -> str:
        """Leave in the middle of the body, before the answer, or in the middle of a stream."""
        url = httpx.URL(self._url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        body = json.dumps({**case.body, "stream": True}).encode()
        head = f"POST {case.route} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        when = self._random.choice(("body", "before", "stream"))
        writer.write(head.encode() + (body[: len(body) // 2] if when == "body" else body))
        await writer.drain()
        if when == "stream":
            await reader.read(600)
        writer.close()
        return GONE

    async def _until_taken(self, client: httpx.AsyncClient, case: Case) -> str:
        while True:
            began = time.monotonic()
            stream = self._random.random() < 0.5
            status, text, first = await self._ask(client, case, stream)
            if status != 503:
                break
            self.outcomes[AGAIN] += 1
            await asyncio.sleep(self._random.uniform(0.5, 1.5))
        if status == 200:
            now = time.monotonic()
            self.answers.append((now - self.began, now - began, (first or np.nan) - began))
            if text == case.text:
                return RIGHT
            self.wrong.append(f"{case.body}: {text!r}, alone it is {case.text!r}")
            return "wrong text"
        if status == 500 and "507015" in text:
            self.explained = text
            return DEVICE
        if status == 413:
            return LARGE
        return LONG if status == 400 and "together at most" in text else f"unexpected {status}"

    @staticmethod
    async def _ask(
        client: httpx.AsyncClient, case: Case, stream: bool
    ) -> tuple[int, str, float | None]:
        """The status, the text or the error's message, and the time of the first text."""
        if not stream:
            answer = await client.post(case.route, json=case.body)
            body = answer.json()
            if answer.status_code != 200:
                return answer.status_code, body["error"]["message"], None
            return 200, text_of(body["choices"][0]), None
        text, first, done = "", None, False
        async with client.stream("POST", case.route, json={**case.body, "stream": True}) as answer:
            if answer.status_code != 200:
                body = json.loads(await answer.aread())
                return answer.status_code, body["error"]["message"], None
            async for line in answer.aiter_lines():
                done = done or line == "data: [DONE]"
                if not line.startswith("data: {"):
                    continue
                part = json.loads(line[6:])
                if "error" in part:
                    return 500, part["error"]["message"], None
                choice = part["choices"][0]
                first = first or time.monotonic()
                text += choice["text"] if "text" in choice else choice["delta"].get("content", "")
        return (200 if done else 599), text, first


async def measured(load: Load, server: Server) -> list[tuple[float, dict[str, float]]]:
    """Run the load; return the server's numbers, once a second and when it is idle again."""
    await load.warm_up()
    held = [(0.0, server.metrics())]
    running = asyncio.create_task(load.run())
    while not running.done() or held[-1][1]["running"] or held[-1][1]["waiting"]:
        await asyncio.wait([running], timeout=1.0)
        if running.done():
            await asyncio.sleep(0.2)
        numbers = await asyncio.to_thread(server.metrics)
        held.append((time.monotonic() - load.began, numbers))
        done = sum(load.outcomes.values()) - load.outcomes[AGAIN]
        print(f"\r{done} requests, {held[-1][0]:.0f} s ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    await running
    return held


def summary(load: Load, held: list[tuple[float, dict[str, float]]]) -> dict[str, Any]:
    """The figures of a run."""
    seconds, last = held[-1]
    marks = (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100))

    def percentiles(column: int) -> dict[str, float]:
        values = np.array(load.answers).reshape(-1, 3)[:, column]
        values = values[~np.isnan(values)]
        return {n: round(float(np.percentile(values, m)), 3) for n, m in marks if values.size}

    half = len(held) // 2
    names = ("answer_tokens_total", "prompt_tokens_total", "reused_tokens_total")
    return {
        "seconds": round(seconds, 1),
        "outcomes": dict(load.outcomes),
        "answers_per_second": round(len(load.answers) / seconds, 1),
        "answer_tokens_per_second": round(last["answer_tokens_total"] / seconds, 1),
        "latency_s": percentiles(1),
        "first_text_s": percentiles(2),
        **{name: last[name] for name in (*names, "preemptions_total", "cancelled_total")},
        "memory_first": {name: held[0][1][name] for name in MEMORY if name in held[0][1]},
        "memory_last": {name: last[name] for name in MEMORY if name in last},
        "most_reserved_by_half": [
            max(numbers["device_reserved_bytes"] for _, numbers in part)
            for part in (held[: half + 1], held[half:])
        ],
    }


def failures(result: dict[str, Any]) -> list[str]:
    """Mistakes in the figures; empty if there are none."""
    good = {RIGHT, DEVICE, GONE, LARGE, LONG, AGAIN}
    found = [f"{n} x {kind}" for kind, n in result["outcomes"].items() if kind not in good]
    if not result["outcomes"].get(RIGHT):
        found.append("no request was answered")
    first, last = (
        result[when]["device_allocated_bytes"] for when in ("memory_first", "memory_last")
    )
    if first != last:
        found.append(f"device memory in use: {first}, then {last}")
    before, after = result["most_reserved_by_half"]
    if after > before:
        found.append(f"device memory held: {before} in the first half, {after} in the second")
    return found


def plot(load: Load, held: list[tuple[float, dict[str, float]]], path: Path) -> None:
    """Latency, throughput and memory over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8), layout="constrained")
    latency, throughput, memory = figure.subplots(3, 1, sharex=True)
    for axes in (latency, throughput, memory):
        axes.margins(y=0.35)  # for the legend
    seen = np.array(load.answers).reshape(-1, 3)
    latency.plot(seen[:, 0], seen[:, 1], ".", markersize=3, alpha=0.4, label="whole answer")
    latency.plot(seen[:, 0], seen[:, 2], ".", markersize=3, alpha=0.4, label="first text, streams")
    latency.set(ylabel="latency, s", title="Every right answer", ylim=0)
    latency.legend(loc="upper right")
    times = np.array([at for at, _ in held])
    for name, label in (("answer_tokens_total", "answers"), ("prompt_tokens_total", "prompts")):
        counts = np.array([numbers[name] for _, numbers in held])
        rates = np.diff(counts) / np.maximum(np.diff(times), 1e-3)
        smooth = np.convolve(rates, np.ones(5) / 5, "same") if rates.size > 5 else rates
        throughput.plot(times[1:], smooth, label=label)
    throughput.set(ylabel="tokens per second", ylim=0)
    throughput.legend(loc="upper right")
    labels = ("device, in use", "device, held", "host")
    for name, label in zip(MEMORY, labels, strict=True):
        points = [numbers.get(name, np.nan) / 2**20 for _, numbers in held]
        memory.plot(times, points, label=label)
    memory.set(xlabel="seconds", ylabel="MiB", ylim=0)
    memory.legend(loc="upper right")
    figure.savefig(path, dpi=80)


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    result = argparse.ArgumentParser(
        description="Load on the language-model service, with faults.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = result.add_argument
    add("directory", type=Path, help="the model; make_model.py makes one")
    add("--requests", type=whole(1), default=2000, help="faults among them")
    add("--clients", type=whole(1), default=32, help="at the same time")
    add("--pool", type=whole(1), default=150, help="different requests")
    add("--drops", type=share, default=0.05, help="share of clients that go away")
    add("--oversized", type=share, default=0.03, help="share of bodies or prompts too large")
    add("--fail-every", type=whole(0), default=40, help="answers per device error; 0: none")
    add("--pages", type=whole(1), default=12, help="of the server; few of them are short")
    add("--page-size", type=whole(1), default=128, help="of the server")
    add("--rows", type=whole(1), default=12, help="of the server")
    add("--ranks", type=whole(1), default=1, help="processes that share the model")
    add("--max-waiting", type=whole(1), default=16, help="of the server; beyond it 503")
    add("--seed", type=int, default=0, help="of texts and faults")
    add("--result", type=Path, default=Path("load.json"), help="figures; the plot lies beside it")
    return result


def main() -> int:
    options = parser().parse_args()
    if not options.result.parent.is_dir():  # better now than after the load
        print(f"--result: there is no directory {options.result.parent}", file=sys.stderr)
        return 2
    words = []
    for name in ("fail_every", "pages", "page_size", "rows", "max_waiting"):
        words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    try:
        pool = cases(options)
        with serving(options.directory, *words, ranks=options.ranks) as server:
            load = Load(server.url, pool, options)
            held = asyncio.run(measured(load, server))
    except ServerError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    result = summary(load, held)
    options.result.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))
    plot(load, held, options.result.with_suffix(".png"))
    if load.explained:
        print(f"a device error, as a client read it:\n{load.explained}")
    for line in load.wrong[:5]:
        print(line)
    bad = failures(result)
    print("ok" if not bad else f"WRONG: {'; '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
