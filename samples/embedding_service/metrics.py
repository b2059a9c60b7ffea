# SPDX-License-Identifier: Apache-2.0
"""Counters, gauges and histograms in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TEXTS = (1, 2, 4, 8, 16, 32)


class Histogram:
    """Counts of observations at or below each bound."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> list[str]:
        total, lines = 0, []
        for bound, count in zip((*self._bounds, "+Inf"), self._counts, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {self._sum}", f"{name}_count {total}"]


class Metrics:
    """The metrics of the service; any thread may write them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[int, int] = {}
        self._numbers = {
            "embedding_texts_total": ("counter", "Texts embedded.", 0),
            "embedding_device_errors_total": ("counter", "Batches the device failed.", 0),
            "embedding_queue_texts": ("gauge", "Texts that wait for a batch.", 0),
            "embedding_device_allocated_bytes": ("gauge", "Device memory in use.", 0),
            "embedding_device_reserved_bytes": ("gauge", "Device memory held.", 0),
            "embedding_device_allocations_total": ("counter", "Blocks of device memory taken.", 0),
        }
        self._histograms = {
            "embedding_batch_texts": ("Texts in a batch.", Histogram(TEXTS)),
            "embedding_request_seconds": ("From the request to its answer.", Histogram(SECONDS)),
        }

    def answered(self, status: int, seconds: float) -> None:
        """Count a request to /embed."""
        with self._lock:
            self._requests[status] = self._requests.get(status, 0) + 1
            self._histograms["embedding_request_seconds"][1].observe(seconds)

    def batch(self, texts: int, failed: bool) -> None:
        """Count a batch."""
        with self._lock:
            self._histograms["embedding_batch_texts"][1].observe(texts)
            name = "embedding_device_errors_total" if failed else "embedding_texts_total"
            kind, text, value = self._numbers[name]
            self._numbers[name] = kind, text, value + (1 if failed else texts)

    def set(self, **values: int) -> None:
        """Set numbers, by their names without ``embedding_``."""
        with self._lock:
            for short, value in values.items():
                kind, text, _ = self._numbers[f"embedding_{short}"]
                self._numbers[f"embedding_{short}"] = kind, text, value

    def text(self) -> str:
        """Everything, as Prometheus reads it."""
        with self._lock:
            lines = [
                "# HELP embedding_requests_total Requests answered, by status.",
                "# TYPE embedding_requests_total counter",
            ]
            for status, count in sorted(self._requests.items()):
                lines.append(f'embedding_requests_total{{status="{status}"}} {count}')
            for name, (kind, text, value) in self._numbers.items():
                lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value}"]
            for name, (text, histogram) in self._histograms.items():
                lines += [f"# HELP {name} {text}", f"# TYPE {name} histogram"]
                lines += histogram.lines(name)
        return "\n".join(lines) + "\n"
