# SPDX-License-Identifier: Apache-2.0
"""A launch and the wait for it, by who does the work: `python -m benchmarks.streams`.

The emulator runs what has not begun on the thread that waits (ACLNN_PY_EMULATOR_INLINE=auto), or
leaves all of it to the stream's worker (never), which has to be woken and has to wake the waiting
thread. The setting holds for a process, so processes of both kinds take turns.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.rows import checked

ROOT = Path(__file__).resolve().parent.parent
MODES = ("auto", "never")
CASES = ("aclrtMemsetAsync of 64 B in C calls", "ops.add of 16 x 16 and synchronize()")
COUNT = 2000


def median_us(work: Callable[[], object]) -> float:
    """Median of one call, after a warm-up."""
    samples = []
    for number in range(COUNT + 200):
        start = time.perf_counter()
        work()
        if number >= 200:
            samples.append(time.perf_counter() - start)
    return statistics.median(samples) * 1e6


def measure_here() -> list[float]:
    """Both cases in this process."""
    import numpy as np

    import aclnn_py as ap
    from aclnn_py._ffi import ffi
    from aclnn_py.emulator import library_path

    with ap.Device(0) as device, device.create_stream() as stream:
        x, y = ap.from_numpy(np.ones((16, 16), np.float32)), ap.empty((16, 16), np.float32)
        library = ctypes.CDLL(str(library_path()))
        raw = ctypes.c_void_p(int(ffi.cast("uintptr_t", stream.raw)))
        fill = ctypes.c_void_p(y.address), ctypes.c_uint64(64), 0, ctypes.c_uint64(64), raw

        def in_c() -> None:
            if library.aclrtMemsetAsync(*fill) or library.aclrtSynchronizeStream(raw):
                raise RuntimeError("the emulator refused a call")

        def in_python() -> None:
            ap.ops.add(x, x, 1.0, y)
            stream.synchronize()

        return [median_us(in_c), median_us(in_python)]


def measure(mode: str) -> list[float]:
    """Both cases in a process of its own."""
    env = {**os.environ, "ACLNN_PY_EMULATOR_INLINE": mode, "ACLNN_PY_DEVICE": "emulator"}
    command = [sys.executable, "-m", "benchmarks.streams", "--here"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def rows(quick: bool) -> list[dict[str, object]]:
    """The round trip with the waiting thread's help beside that by the worker alone."""
    rounds = [{mode: measure(mode) for mode in MODES} for _ in range(2 if quick else 7)]
    found: list[dict[str, object]] = []
    for number, case in enumerate(CASES):
        ours, theirs = (statistics.median(r[mode][number] for r in rounds) for mode in MODES)
        found.append(
            {
                "name": "launch and wait",
                "case": case,
                "ours": ours,
                "baseline": theirs,
                "baseline_name": "the stream's worker",
                "ratio": ours / theirs,
                "unit": "us",
                "aim": "",
            }
        )
    return found


def main() -> int:
    """Print one table."""
    from benchmarks.report import table

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--here", action="store_true", help="one process, figures only")
    options = parser.parse_args()
    if options.here:
        print(*measure_here())
        return 0
    print(table([checked("streams", row) for row in rows(options.quick)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
