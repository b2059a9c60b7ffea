# SPDX-License-Identifier: Apache-2.0
"""Sums of a million elements as a program meets them: `python benchmarks/elementwise_cores.py`.

The emulator shares the work among the cores that it has by default; NumPy's elementwise loops use
one. Both by the clock, in turns, from the call until the result is there; the least of each.
`benchmarks/elementwise.py` has the same operators on one thread.
"""

from __future__ import annotations

import os
import sys
import time

import ml_dtypes
import numpy as np

os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")
import aclnn_py as ap

SHAPE = (1024, 1024)


def rows(quick: bool) -> list[dict[str, object]]:
    """One row per dtype of 16 bits."""
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for dtype in (np.float16, ml_dtypes.bfloat16):
            x = np.random.default_rng(0).standard_normal(SHAPE).astype(dtype)
            given, out, target = ap.from_numpy(x), ap.empty(SHAPE, dtype), np.empty_like(x)
            best = [float("inf"), float("inf")]
            for _ in range(10 if quick else 40):
                began = time.perf_counter()
                ap.ops.add(given, given, 1.0, out)
                ap.synchronize()
                ended = time.perf_counter()
                np.add(x, x, out=target)
                best[0] = min(best[0], ended - began)
                best[1] = min(best[1], time.perf_counter() - ended)
            found.append(
                {
                    "name": "add, until it is done",
                    "case": f"{np.dtype(dtype).name}, 1024 x 1024, {os.cpu_count()} cores",
                    "ours": best[0] * 1e6,
                    "baseline": best[1] * 1e6,
                    "baseline_name": "NumPy",
                    "ratio": best[0] / best[1],
                    "unit": "us",
                    "aim": "<= 0.25",
                }
            )
    return found


def main() -> int:
    """Print one line per dtype."""
    for row in rows(quick=False):
        print(f"{row['name']}, {row['case']}: {row['ratio']:.3f} of NumPy's time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
