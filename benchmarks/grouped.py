# SPDX-License-Identifier: Apache-2.0
"""Time gmm against NumPy doing the same mathematics group by group: `python benchmarks/grouped.py`.

NumPy multiplies in float32, from and to the dtype of the operands, with as many threads; its int8
product is in float32 too, exact up to sums of 2**24 and far faster than its integer product. Rounds
of both alternate, so that a busy machine slows both alike; a ratio above 1 means that the operator
was slower. Compare within one run only.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

KINDS = ("float32", "float16", "bfloat16", "int8")
SCALE = 2.0**-12


def threads_of_numpy(count: int) -> None:
    """NumPy reads its number of threads when it is loaded; the emulator, when it starts."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS"):
        os.environ[name] = str(count)


def operands(kind: str, groups: int, rows: int, k: int, n: int) -> tuple[Any, Any]:
    """All rows and all weights."""
    import ml_dtypes
    import numpy as np

    rng = np.random.default_rng(0)
    shapes = (groups * rows, k), (groups, k, n)
    if kind == "int8":
        x, weight = (rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes)
    else:
        dtype = ml_dtypes.bfloat16 if kind == "bfloat16" else np.dtype(kind)
        x, weight = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return x, weight


def numpy_work(kind: str, x: Any, weight: Any, ends: list[int]) -> Callable[[], Any]:
    """One product per group, stored in the dtype of the result."""
    import numpy as np

    wide, out_dtype = np.float32, np.float16 if kind == "int8" else x.dtype

    def run() -> Any:
        out = np.empty((x.shape[0], weight.shape[2]), out_dtype)
        first = 0
        for matrix, end in zip(weight, ends, strict=True):
            rows = x[first:end].astype(wide, copy=False) @ matrix.astype(wide, copy=False)
            out[first:end] = rows * wide(SCALE) if kind == "int8" else rows
            first = end
        return out

    return run


def operator_work(kind: str, x: Any, weight: Any, ends: list[int]) -> Callable[[], Any]:
    """One call and its wait; int8 is dequantised to float16 by a scale per column."""
    import numpy as np

    import aclnn_py as ap

    left, right, groups = (ap.from_numpy(v) for v in (x, weight, np.array(ends, np.int64)))
    if kind != "int8":

        def run() -> Any:
            y = ap.functional.gmm(left, right, group_list=groups)
            ap.synchronize()
            return y

        return run
    scale = ap.from_numpy(np.full((weight.shape[0], weight.shape[2]), SCALE, np.float32))

    def run_int8() -> Any:
        y = ap.empty((x.shape[0], weight.shape[2]), np.float16)
        head = ([left], [right], None, [scale], None, None, None, None, groups, None, None, None)
        ap.ops.grouped_matmul_v4(*head, 3, 0, 0, 0, [y], None, None)
        ap.synchronize()
        return y

    return run_int8


def compare(kind: str, shape: tuple[int, int, int, int], rounds: int) -> tuple[float, float]:
    """Median seconds of the operator and of NumPy; the results are compared first."""
    import numpy as np

    groups, rows, _, _ = shape
    x, weight = operands(kind, *shape)
    ends = [rows * (i + 1) for i in range(groups)]
    works = operator_work(kind, x, weight, ends), numpy_work(kind, x, weight, ends)
    result, expected = works[0]().numpy(), works[1]()
    np.testing.assert_allclose(
        result.astype(np.float64), expected.astype(np.float64), rtol=0.02, atol=0.02
    )
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, taken in zip(works, seconds, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    shape = (8, 64, 512, 512)
    names = ("GROUPS", "ROWS", "K", "N")
    parser.add_argument("--shape", type=int, nargs=4, default=shape, metavar=names)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    threads_of_numpy(options.threads)
    import aclnn_py as ap

    groups, rows, k, n = options.shape
    print(f"{options.threads} threads, {groups} groups of ({rows}, {k}) @ ({k}, {n})")
    print(f"{'dtype':12} {'ms':>9} {'NumPy ms':>9} {'ratio':>6}")
    with ap.Device(0):
        for kind in KINDS:
            ours, theirs = compare(kind, (groups, rows, k, n), options.rounds)
            print(f"{kind:12} {ours * 1e3:9.2f} {theirs * 1e3:9.2f} {ours / theirs:6.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
