# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on a million elements: `python -m benchmarks.prompt_kernels`.

The call is NumPy's, with tensors and with arrays in turns; ours ends when the device has finished.
The figure is the least time on the clock. The emulator uses two threads. So does NumPy where it
uses more than one, which is in its norm and its products. `ACLNN_PY_ISA=v3` keeps
both from newer instructions.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS"):
    os.environ[_name] = "2"

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

from benchmarks.instructions import limit_numpy  # noqa: E402

limit_numpy()

import numpy as np  # noqa: E402

import aclnn_py as ap  # noqa: E402

COUNT = 1_000_000
ROWS, WIDTH = 15_625, 64


class Call(NamedTuple):
    """One call: the same function for tensors and arrays, and how far the two may be apart."""

    name: str
    aim: float
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    close: float = 0


def calls(dtype: Any) -> list[Call]:
    """All calls on operands of one dtype."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(COUNT).astype(dtype)
    # NumPy adds float16 up in float16, whose range ends at 65504.
    small = rng.uniform(0.1, 4, COUNT).astype(dtype)
    fine = rng.uniform(0.01, 0.05, COUNT).astype(dtype)
    other = rng.standard_normal(COUNT).astype(dtype)
    grades = rng.integers(0, 1000, COUNT).astype(dtype)
    sparse = np.where(rng.random(COUNT) < 0.5, x, 0).astype(dtype)
    mask = rng.random(COUNT) < 0.5
    table, square = x.reshape(ROWS, WIDTH), small.reshape(1000, 1000)
    places, ends = rng.integers(0, ROWS, ROWS), np.sort(other[:10_000])
    # Both sides round sums to the dtype, and add up in an order of their own.
    near = 1e-4 if dtype == np.float32 else 1e-2
    return [
        Call("sort", 5, np.sort, (x,)),
        Call("argsort", 3, np.argsort, (x,)),
        Call("argmax", 2, np.argmax, (x,)),
        Call("argmin", 2, np.argmin, (x,)),
        Call("sum", 1.2, np.sum, (fine,), near),
        Call("mean", 1.2, np.mean, (fine,), near),
        Call("std", 1.2, np.std, (fine,), near),
        Call("linalg.norm", 1.2, np.linalg.norm, (fine,), near),
        Call("nonzero", 3, np.nonzero, (sparse,)),
        Call("nonzero of a mask", 3, np.nonzero, (mask,)),
        Call("x[mask]", 3, lambda a, b: a[b], (x, mask)),
        Call("x[rows]", 2, lambda a, b: a[b], (table, places)),
        Call("take of rows", 2, lambda a, b: np.take(a, b, axis=0), (table, places)),
        Call("unique", 3, np.unique, (x,)),
        Call("unique of 1,000", 3, np.unique, (grades,)),
        Call("cumsum", 1, np.cumsum, (small,), near if dtype == np.float32 else float("inf")),
        Call("where", 1, np.where, (mask, x, other)),
        Call("pow", 1, np.power, (small, other), near),
        Call("exp", 1, np.exp, (x,), near),
        Call("log", 1, np.log, (small,), near),
        Call("tanh", 1, np.tanh, (x,), near),
        Call("sin", 1.3, np.sin, (x,), near),
        Call("arctan", 1.3, np.arctan, (x,), near),
        Call("log10", 1.3, np.log10, (small,), near),
        Call("sort of rows", 5, lambda a: np.sort(a, axis=1), (square,)),
        Call("sort of columns", 5, lambda a: np.sort(a, axis=0), (square,)),
        Call("searchsorted", 1, np.searchsorted, (ends, x)),
        Call("clip", 2, lambda a: np.clip(a, -1, 1), (x,)),
        Call("dot", 1, np.dot, (fine, small), near),
        # These read or move a million elements and do little else: waking a thread counts.
        Call("matrix @ vector", 3, np.matmul, (square, fine[:1000]), near),
        Call("vector @ matrix", 3, np.matmul, (fine[:1000], square), near),
        Call("floor", 2, np.floor, (x,)),
        Call("sqrt", 2, np.sqrt, (small,)),
        Call("divide", 2, np.divide, (x, small)),
    ]


def arrays(found: Any) -> list[Any]:
    """What a call returns, as arrays."""
    items = found if isinstance(found, tuple) else (found,)
    return [item.numpy() if isinstance(item, ap.Tensor) else np.asarray(item) for item in items]


def least_ms(call: Call, seconds: float) -> tuple[float, float]:
    """Least time of either, in turns, once the results were compared."""
    tensors = [ap.from_numpy(item) for item in call.arguments]

    def ours() -> Any:
        found = call.function(*tensors)
        ap.synchronize()
        return found

    def theirs() -> Any:
        return call.function(*call.arguments)

    for mine, other in zip(arrays(ours()), arrays(theirs()), strict=True):
        assert mine.shape == other.shape and mine.dtype == other.dtype
        if call.name == "argsort":  # NumPy's own is not stable: equal elements in any order
            mine, other = call.arguments[0][mine], call.arguments[0][other]
        if np.isfinite(call.close):
            np.testing.assert_allclose(mine, other, rtol=call.close, err_msg=call.name)
    best = [float("inf"), float("inf")]
    # A busy machine has quiet moments: short calls are repeated until one was met.
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for side, work in enumerate((ours, theirs)):
            start = time.perf_counter()
            work()
            best[side] = min(best[side], (time.perf_counter() - start) * 1e3)
    return best[0], best[1]


def rows(quick: bool) -> list[dict[str, object]]:
    """One row per call and dtype."""
    return measured(0.1 if quick else 0.5, [""])


def measured(seconds: float, wanted: list[str]) -> list[dict[str, object]]:
    """Rows of the calls whose name has one of the wanted parts."""
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for dtype in (np.float32, np.float16):
            for call in calls(dtype):
                if not any(part in call.name for part in wanted):
                    continue
                ours, theirs = least_ms(call, seconds)
                found.append(
                    {
                        "name": call.name,
                        "case": f"1M {np.dtype(dtype).name}",
                        "ours": ours,
                        "baseline": theirs,
                        "baseline_name": "NumPy",
                        "ratio": ours / theirs,
                        "unit": "ms",
                        "aim": f"<= {call.aim:g}",
                    }
                )
    return found


def main() -> int:
    """Print one table; 1 when an aim was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", help="a part of the names of calls to measure")
    options = parser.parse_args()
    print(f"{'call':18}{'operands':14}{'ms':>9}{'NumPy':>9}{'ratio':>8}  aim")
    missed = 0
    for row in measured(0.1 if options.quick else 0.5, options.only or [""]):
        over = float(str(row["ratio"])) > float(str(row["aim"]).split()[1])
        missed += over
        print(
            f"{row['name']:18}{row['case']:14}{row['ours']:9.3f}{row['baseline']:9.3f}"
            f"{row['ratio']:8.2f}  {row['aim']}{' MISSED' if over else ''}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
