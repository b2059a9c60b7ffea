# SPDX-License-Identifier: Apache-2.0
"""What a profile costs per launch: `python benchmarks/profiling.py`.

One add of 16 numbers on the emulator, launched a hundred times and waited for: before any profile,
after one has ended, and under one. The host's thread does the launches and most of the work.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

MOST_US = 5.0
BATCH = 100


def measure(rounds: int) -> dict[str, float]:
    """Least time per launch in us, by way."""
    import numpy as np

    import aclnn_py as ap

    with ap.Device(0) as device:
        x, y, out = (ap.empty((16,), np.float32) for _ in range(3))
        x.copy_from(np.ones(16, np.float32))
        y.copy_from(np.ones(16, np.float32))

        def way() -> float:
            started = time.perf_counter()
            for _ in range(BATCH):
                ap.ops.add(x, y, 1.0, out)
            device.synchronize()
            return (time.perf_counter() - started) / BATCH * 1e6

        for _ in range(20):
            way()
        never = min(way() for _ in range(rounds))
        with ap.tools.profile():
            on = min(way() for _ in range(rounds))
        off = min(way() for _ in range(rounds))
    return {"never": never, "on": on, "off": off}


def rows(quick: bool) -> list[dict[str, Any]]:
    """Figures for `python -m benchmarks`."""
    os.environ["ACLNN_PY_DEVICE"] = "emulator"
    found = measure(100 if quick else 1000)
    extra = max(found["on"] - found["off"], 0.0)
    return [
        {"name": "profile", "case": "ops.add, profile off again", "ours": found["off"],
         "baseline": found["never"], "baseline_name": "never profiled",
         "ratio": found["off"] / found["never"], "unit": "us", "aim": "<= 1.1"},
        {"name": "profile", "case": "ops.add, added by a profile", "ours": extra, "baseline": None,
         "baseline_name": "", "ratio": None, "unit": "us", "aim": f"<= {MOST_US:g}"},
    ]  # fmt: skip


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    for row in rows(parser.parse_args().quick):
        print(f"{row['case']:30} {row['ours']:7.2f} us  (aim: {row['aim']})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
