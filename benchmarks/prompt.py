# SPDX-License-Identifier: Apache-2.0
"""What eager calls on small tensors cost: `python benchmarks/prompt.py`.

Calls on 16 x 16 float32 by the clock, the device's work included, beside torch on the CPU where it
is installed, and beside NumPy. One process; rounds of all alternate, so that a busy machine slows
all of them alike, and the shortest counts. The first `x + y` of a process is measured in processes
of its own.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")

SHAPE = (16, 16)
CASE = "16 x 16 float32"
# What the ratio to torch's time may be.
AIMS = {
    "empty": "<= 1.5",
    "x[1]": "<= 2",
    "x.reshape(4, 64)": "<= 2",
    "x.T": "<= 2",
    "functional.add(x, y)": "<= 2",
    "x + y": "<= 2",
    "x + 1.0": "<= 2",
    "functional.matmul(x, y)": "<= 2",
    "functional.softmax(x, -1)": "<= 2",
    "functional.layer_norm(x, ...)": "<= 2",
    "x.sum()": "<= 3",
}
FIRST = "the first x + y of a process"
FIRST_AIM = "<= 5"
FIRST_CODE = """
import time
import numpy as np
import aclnn_py as ap
x, y = (ap.from_numpy(np.ones((16, 16), np.float32)) for _ in range(2))
ap.synchronize()
begun = time.perf_counter()
z = x + y
print(1000 * (time.perf_counter() - begun))
"""
# A round is short: of many, some are not interrupted. One wait for the device comes to each.
CALLS = 500
Way = Callable[[], object]


def ours(values: list[Any]) -> dict[str, Way]:
    """Each call with tensors of this package."""
    import numpy as np

    import aclnn_py as ap

    x, y, weight, bias = map(ap.from_numpy, values)
    functional = ap.functional
    return {
        "empty": lambda: ap.empty(SHAPE, np.float32),
        "x[1]": lambda: x[1],
        "x.reshape(4, 64)": lambda: x.reshape(4, 64),
        "x.T": lambda: x.T,
        "functional.add(x, y)": lambda: functional.add(x, y),
        "x + y": lambda: x + y,
        "x + 1.0": lambda: x + 1.0,
        "functional.matmul(x, y)": lambda: functional.matmul(x, y),
        "functional.softmax(x, -1)": lambda: functional.softmax(x, -1),
        "functional.layer_norm(x, ...)": lambda: functional.layer_norm(x, (16,), weight, bias),
        "x.sum()": lambda: x.sum(),
    }


def torchs(values: list[Any]) -> dict[str, Way]:
    """The same calls with tensors of torch on the CPU; none where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return {}
    torch: Any = importlib.import_module("torch")
    x, y, weight, bias = map(torch.from_numpy, values)
    norm = torch.nn.functional.layer_norm
    return {
        "empty": lambda: torch.empty(SHAPE),
        "x[1]": lambda: x[1],
        "x.reshape(4, 64)": lambda: x.reshape(4, 64),
        "x.T": lambda: x.T,
        "functional.add(x, y)": lambda: torch.add(x, y),
        "x + y": lambda: x + y,
        "x + 1.0": lambda: x + 1.0,
        "functional.matmul(x, y)": lambda: torch.matmul(x, y),
        "functional.softmax(x, -1)": lambda: torch.softmax(x, -1),
        "functional.layer_norm(x, ...)": lambda: norm(x, (16,), weight, bias),
        "x.sum()": lambda: x.sum(),
    }


def numpys(values: list[Any]) -> dict[str, Way]:
    """Those of the calls that NumPy has as one."""
    import numpy as np

    x, y, _weight, _bias = values
    return {
        "empty": lambda: np.empty(SHAPE, np.float32),
        "x[1]": lambda: x[1],
        "x.reshape(4, 64)": lambda: x.reshape(4, 64),
        "x.T": lambda: x.T,
        "functional.add(x, y)": lambda: np.add(x, y),
        "x + y": lambda: x + y,
        "x + 1.0": lambda: x + 1.0,
        "functional.matmul(x, y)": lambda: np.matmul(x, y),
        "x.sum()": lambda: x.sum(),
    }


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """The shortest time of a call in us, by call and by whose it is."""
    import numpy as np

    import aclnn_py as ap

    rng = np.random.default_rng(17)
    shapes = (SHAPE, SHAPE, SHAPE[1:], SHAPE[1:])
    values = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    kinds = {"ours": ours(values), "torch": torchs(values), "NumPy": numpys(values)}
    found: dict[str, dict[str, float]] = {name: {} for name in AIMS}
    for _ in range(rounds):
        for kind, ways in kinds.items():
            for name, way in ways.items():
                begun = time.perf_counter_ns()
                for _ in range(CALLS):
                    way()
                if kind == "ours":
                    ap.synchronize()
                took = (time.perf_counter_ns() - begun) / CALLS / 1000
                found[name][kind] = min(took, found[name].get(kind, took))
    return found


def first_expression(rounds: int) -> float:
    """The shortest time of the first `x + y` of a process, in ms."""
    times = []
    # An installed package has its modules compiled.
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(rounds + 1):  # the first process of all may compile them
        done = subprocess.run(
            [sys.executable, "-c", FIRST_CODE],
            capture_output=True,
            text=True,
            check=True,
            env=variables,
        )
        times.append(float(done.stdout))
    return min(times[1:])


def rows(quick: bool) -> list[dict[str, object]]:
    """Each call beside torch and NumPy, and the first expression."""
    found: list[dict[str, object]] = []
    for name, times in measure(15 if quick else 60).items():
        for other in ("torch", "NumPy"):
            if other not in times:
                continue
            found.append(
                {
                    "name": name,
                    "case": CASE,
                    "ours": times["ours"],
                    "baseline": times[other],
                    "baseline_name": other,
                    "ratio": times["ours"] / times[other],
                    "unit": "us",
                    "aim": AIMS[name] if other == "torch" else "",
                }
            )
    found.append(
        {
            "name": FIRST,
            "case": CASE,
            "ours": first_expression(3 if quick else 9),
            "baseline": None,
            "baseline_name": "",
            "ratio": None,
            "unit": "ms",
            "aim": FIRST_AIM,
        }
    )
    return found


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    heads = ("us", "torch", "x torch", "NumPy", "x NumPy")
    print(f"{'':32}" + "".join(f"{head:>9}" for head in heads))
    for name, times in measure(options.rounds).items():
        line = f"{name:32}{times['ours']:9.2f}"
        for other in ("torch", "NumPy"):
            known = times.get(other)
            line += f"{known:9.2f}{times['ours'] / known:9.2f}" if known else f"{'':18}"
        print(line)
    print(f"{FIRST:32}{first_expression(9):9.1f} ms")
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
