# SPDX-License-Identifier: Apache-2.0
"""What a trace costs per launch: `python benchmarks/trace.py`.

One add (three tensors, one scalar) on a device that does nothing: untouched, after a trace that has
ended, and under a trace of either form.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import launch


def measure(rounds: int, launches: int, folder: Path) -> dict[str, float]:
    """Least thread CPU time per launch in ns, by way."""
    import numpy as np

    import aclnn_py as ap

    x, y, out = (ap.empty(launch.SHAPE, np.float32) for _ in range(3))
    add = ap.ops.add

    def way(count: int) -> float:
        started = time.thread_time_ns()
        for _ in range(count):
            add(x, y, 1.0, out)
        return (time.thread_time_ns() - started) / count

    times: dict[str, list[float]] = {name: [] for name in ("never", "off", "text", "json")}
    # What came before a measurement has left its mark on the caches: nothing else comes between the
    # rounds of the two that are compared.
    way(launches)
    times["never"] += [way(launches) for _ in range(rounds)]
    for _ in range(rounds):
        for form in ("text", "json"):
            with ap.tools.trace(folder / f"calls.{form}", form=form):
                times[form].append(way(max(launches // 10, 1)))
    way(launches)
    times["off"] += [way(launches) for _ in range(rounds)]
    return {name: min(found) for name, found in times.items()}


def rows(quick: bool) -> list[dict[str, Any]]:
    """Figures for `python -m benchmarks`."""
    with tempfile.TemporaryDirectory() as name:
        launch.build(Path(name))
        os.environ["ACLNN_PY_DEVICE"] = "npu"
        os.environ["ACLNN_PY_LIBRARY_PATH"] = name
        found = measure(7 if quick else 21, 1000 if quick else 4000, Path(name))

    def row(case: str, ours: float, baseline: float, what: str, aim: str) -> dict[str, Any]:
        return {"name": "trace", "case": case, "ours": ours, "baseline": baseline,
                "baseline_name": what, "ratio": ours / baseline, "unit": "ns",
                "aim": aim}  # fmt: skip

    return [
        row("ops.add, trace off again", found["off"], found["never"], "never traced", "<= 1.1"),
        row("ops.add, text", found["text"], found["off"], "trace off", ""),
        row("ops.add, JSON", found["json"], found["off"], "trace off", ""),
    ]


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    for row in rows(parser.parse_args().quick):
        print(
            f"{row['case']:28} {row['ours']:9.0f} ns  {row['ratio']:7.2f} x {row['baseline_name']}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
