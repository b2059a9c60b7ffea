# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators and norms of the emulator beside NumPy: `python benchmarks/elementwise.py`.

Both work on one thread, in turns, on a million elements; the figure is the least CPU time of the
process. NumPy computes the 16-bit kinds as a NumPy program would: its own loops for float16 and
those of ml_dtypes for bfloat16 where one function does it, in float32 and back otherwise.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS"):
    os.environ[_name] = "1"
os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")

import argparse  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from typing import Any  # noqa: E402

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

import aclnn_py as ap  # noqa: E402
from benchmarks.clock import cpu_seconds  # noqa: E402

WIDTH, ROWS = 1024, 1024
COUNT = WIDTH * ROWS
F32 = np.float32
Work = Callable[[], Any]


def numpy_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def numpy_gelu(x: Any) -> Any:
    # the tanh form: NumPy has no erf
    return F32(0.5) * x * (1 + np.tanh(F32(0.7978845608) * (x + F32(0.044715) * x * x * x)))


def numpy_softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    powers /= powers.sum(-1, keepdims=True)
    return powers


def numpy_layer_norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + F32(1e-5))


def through_float32(function: Callable[[Any], Any], x: Any) -> Work:
    return lambda: function(x.astype(F32, copy=False)).astype(x.dtype, copy=False)


def works(dtype: Any) -> Iterator[tuple[str, Work, Work, str]]:
    """Name, our work, NumPy's work and the aim of each operator in one dtype."""
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.1, 4.0, (ROWS, WIDTH)).astype(dtype) for _ in range(2))
    left, right, out = ap.from_numpy(x), ap.from_numpy(y), ap.empty(x.shape, dtype)
    target = np.empty_like(x)
    narrow = np.dtype(dtype) != np.dtype(F32)
    ops = ap.ops
    aim = "<= 0.25" if narrow else ""
    yield "add", lambda: ops.add(left, right, 1.0, out), lambda: np.add(x, y, out=target), aim
    yield "mul", lambda: ops.mul(left, right, out), lambda: np.multiply(x, y, out=target), ""
    if narrow:
        wide = x.astype(F32)
        single = ap.from_numpy(wide)
        yield "cast to it", lambda: ops.cast(single, dtype, out), lambda: wide.astype(dtype), ""
        yield "cast from it", lambda: ops.cast(left, F32, single), lambda: x.astype(F32), ""
    for name in ("exp", "log", "tanh"):
        ours, function = getattr(ops, name), getattr(np, name)
        yield name, lambda f=ours: f(left, out), lambda f=function: f(x, out=target), "<= 1"  # type: ignore[misc]
    yield "sigmoid", lambda: ops.sigmoid(left, out), through_float32(numpy_sigmoid, x), "<= 1"
    yield "gelu", lambda: ops.gelu(left, out), through_float32(numpy_gelu, x), "<= 1"
    yield "softmax", lambda: ops.softmax(left, -1, out), through_float32(numpy_softmax, x), "<= 1"
    yield (
        "layer_norm",
        lambda: ops.layer_norm(left, [WIDTH], None, None, 1e-5, out, None, None),
        through_float32(numpy_layer_norm, x),
        "<= 1",
    )


def least_us(ours: Work, theirs: Work, rounds: int) -> tuple[float, float]:
    """Least CPU time of either, in alternating rounds."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds + 1):
        for i, work in enumerate((ours, theirs)):
            start = cpu_seconds()
            work()
            if i == 0:
                ap.synchronize()
            best[i] = min(best[i], (cpu_seconds() - start) * 1e6)
    return best[0], best[1]


def rows(quick: bool) -> list[dict[str, object]]:
    """One row per operator and dtype."""
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for dtype in (F32, np.float16, ml_dtypes.bfloat16):
            for name, ours, theirs, aim in works(dtype):
                mine, numpys = least_us(ours, theirs, 5 if quick else 15)
                found.append(
                    {
                        "name": name,
                        "case": f"{np.dtype(dtype).name}, {ROWS} x {WIDTH}",
                        "ours": mine,
                        "baseline": numpys,
                        "baseline_name": "NumPy",
                        "ratio": mine / numpys,
                        "unit": "us",
                        "aim": aim,
                    }
                )
    return found


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    print(f"{'operator':14} {'operands':26} {'us':>9} {'NumPy us':>9} {'ratio':>6}  aim")
    for row in rows(parser.parse_args().quick):
        print(
            f"{row['name']:14} {row['case']:26} {row['ours']:9.0f} {row['baseline']:9.0f} "
            f"{row['ratio']:6.2f}  {row['aim']}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
