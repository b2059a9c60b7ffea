# SPDX-License-Identifier: Apache-2.0
"""What `import aclnn_py` costs beside `import numpy`: `python benchmarks/import_time.py`."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

CODE = "import time; t = time.process_time(); import {0}; print(time.process_time() - t)"
MODULES = ("aclnn_py", "numpy", "aclnn_py._ffi")


def cost_ms(module: str) -> float:
    """CPU time of one import in a fresh interpreter, in ms."""
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(module)], capture_output=True, text=True, check=True
    )
    return float(done.stdout) * 1000.0


def measure(rounds: int) -> dict[str, float]:
    """Median CPU time of each import in ms."""
    samples: dict[str, list[float]] = {module: [] for module in MODULES}
    for _ in range(rounds):
        for module in MODULES:
            samples[module].append(cost_ms(module))
    return {module: statistics.median(values) for module, values in samples.items()}


def rows(quick: bool) -> list[dict[str, object]]:
    """The package and its extension module beside NumPy."""
    medians = measure(3 if quick else 15)
    return [
        {
            "name": f"import {module}",
            "case": "fresh process, CPU time",
            "ours": medians[module],
            "baseline": medians["numpy"],
            "baseline_name": "import numpy",
            "ratio": medians[module] / medians["numpy"],
            "unit": "ms",
            "aim": "",
        }
        for module in MODULES
        if module != "numpy"
    ]


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    medians = measure(parser.parse_args().rounds)
    print(f"{'import':16} {'ms':>8} {'x numpy':>8}")
    for module, value in medians.items():
        print(f"{module:16} {value:8.2f} {value / medians['numpy']:8.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
