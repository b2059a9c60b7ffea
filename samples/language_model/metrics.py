# SPDX-License-Identifier: Apache-2.0
"""What the service counts and measures, in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left

PREFIX = "language_model_"
COUNTERS = {
    "prompt_tokens_total": "Tokens of prompts that were computed.",
    "reused_tokens_total": "Tokens of prompts whose pages were reused.",
    "answer_tokens_total": "Tokens that were chosen.",
    "preemptions_total": "Sequences that made room for older ones.",
    "cancelled_total": "Answers that nobody waited for any more.",
    "device_errors_total": "Answers that ended with an error of the device.",
    "device_allocations_total": "Blocks of device memory taken.",
}
GAUGES = {
    "waiting": "Answers that have not begun, or wait for pages.",
    "running": "Answers being computed.",
    "pages_free": "Pages of the cache that a sequence could get.",
    "pages_kept": "Those of them whose content could be reused.",
    "device_allocated_bytes": "Device memory in use.",
    "device_reserved_bytes": "Device memory held.",
}
SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
HISTOGRAMS: dict[str, tuple[str, tuple[float, ...]]] = {
    "batch_rows": ("Sequences in a decoding step.", (1, 2, 4, 8, 16, 32)),
    "first_token_seconds": ("From the request to its first token.", SECONDS),
    "next_token_seconds": ("From a token to the next one.", (0.001, 0.003, *SECONDS)),
    "request_seconds": ("From the request to the end of its answer.", SECONDS),
}


class Metrics:
    """All numbers of the service; any thread may change them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, float] = dict.fromkeys((*COUNTERS, *GAUGES), 0)
        self._answers: dict[tuple[str, int], int] = {}
        self._seen = {name: [0] * (len(b) + 1) for name, (_, b) in HISTOGRAMS.items()}
        self._sums = dict.fromkeys(HISTOGRAMS, 0.0)

    def add(self, name: str, count: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._values[name] += count

    def set(self, **values: float) -> None:
        """Set numbers that are measured, not counted here."""
        with self._lock:
            for name in values:
                if name not in self._values:
                    raise KeyError(name)
            self._values.update(values)

    def observe(self, name: str, value: float) -> None:
        """Add an observation to a histogram."""
        with self._lock:
            self._seen[name][bisect_left(HISTOGRAMS[name][1], value)] += 1
            self._sums[name] += value

    def answered(self, route: str, status: int) -> None:
        """Count an HTTP answer."""
        with self._lock:
            self._answers[route, status] = self._answers.get((route, status), 0) + 1

    def text(self) -> str:
        """Everything, as Prometheus reads it."""
        with self._lock:
            lines = _head("requests_total", "Requests answered.", "counter")
            for (route, status), count in sorted(self._answers.items()):
                labels = f'route="{route}",status="{status}"'
                lines.append(f"{PREFIX}requests_total{{{labels}}} {count}")
            for kind, names in (("counter", COUNTERS), ("gauge", GAUGES)):
                for name, meaning in names.items():
                    lines += _head(name, meaning, kind)
                    lines.append(f"{PREFIX}{name} {self._values[name]}")
            for name, (meaning, bounds) in HISTOGRAMS.items():
                lines += _head(name, meaning, "histogram")
                total = 0
                for bound, count in zip((*bounds, "+Inf"), self._seen[name], strict=True):
                    total += count
                    lines.append(f'{PREFIX}{name}_bucket{{le="{bound}"}} {total}')
                lines.append(f"{PREFIX}{name}_sum {self._sums[name]}")
                lines.append(f"{PREFIX}{name}_count {total}")
        return "\n".join(lines) + "\n"


def _head(name: str, meaning: str, kind: str) -> list[str]:
    return [f"# HELP {PREFIX}{name} {meaning}", f"# TYPE {PREFIX}{name} {kind}"]
