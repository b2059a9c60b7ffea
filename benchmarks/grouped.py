# SPDX-License-Identifier: Apache-2.0
"""Time gmm against NumPy doing the same mathematics group by group: `python benchmarks/grouped.py`.

Two forms of NumPy are shown. "in float32" multiplies in float32, from and to the dtype of the
operands, with as many threads; its int8 product is in float32 too, exact up to sums of 2**24 and
far faster than its integer product. "native" multiplies float16 and bfloat16 arrays as they are.
The aim is half the time of the product in float32 where operands have 16 bits, and not to be slower
with float32 and int8; the native product stands beside it for information. Both forms multiply in
float32 on the same units, so the aim can be reached by cheaper conversions only: those of float16
cost NumPy much, those of bfloat16 little. Rounds alternate, so that a
busy machine slows both alike; a ratio above 1 means that the operator was slower. Compare within
one run only.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

from benchmarks.clock import cpu_seconds

KINDS = ("float32", "float16", "bfloat16", "int8")
SCALE = 2.0**-12
SHAPE = (8, 64, 512, 512)


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


def numpy_work(
    kind: str, x: Any, weight: Any, ends: list[int], native: bool = False
) -> Callable[[], Any]:
    """One product per group, stored in the dtype of the result."""
    import numpy as np

    wide = x.dtype.type if native else np.float32
    out_dtype = np.float16 if kind == "int8" else x.dtype

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


def compare(
    kind: str, shape: tuple[int, int, int, int], rounds: int, threads: int
) -> tuple[float, float, float | None]:
    """Least seconds of the operator, of NumPy in float32 and natively; the results are compared."""
    import numpy as np

    groups, rows, _, _ = shape
    x, weight = operands(kind, *shape)
    ends = [rows * (i + 1) for i in range(groups)]
    works = operator_work(kind, x, weight, ends), numpy_work(kind, x, weight, ends)
    result, expected = works[0]().numpy(), works[1]()
    np.testing.assert_allclose(
        result.astype(np.float64), expected.astype(np.float64), rtol=0.02, atol=0.02
    )
    # one thread of either: the time other programs take is left out
    clock = cpu_seconds if threads == 1 else time.perf_counter
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, taken in zip(works, seconds, strict=True):
            start = clock()
            work()
            taken.append(clock() - start)
    native = None
    if kind in ("float16", "bfloat16"):  # once: it takes a hundred times as long
        start = clock()
        numpy_work(kind, x, weight, ends, native=True)()
        native = clock() - start
    return min(seconds[0]), min(seconds[1]), native


def measured(
    shape: tuple[int, int, int, int], threads: int, rounds: int
) -> list[dict[str, object]]:
    """One row per dtype and form of NumPy. NumPy must not have been imported yet."""
    threads_of_numpy(threads)
    import aclnn_py as ap

    groups, m, k, n = shape
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for kind in KINDS:
            ours, wide, native = compare(kind, shape, rounds, threads)
            aim = "<= 0.5" if kind in ("float16", "bfloat16") else "<= 1"
            forms = [("NumPy in float32" if kind != "float32" else "NumPy", wide, aim)]
            if native is not None:
                forms.append(("NumPy native", native, ""))
            for name, theirs, aim in forms:
                found.append(
                    {
                        "name": "gmm",
                        "case": f"{kind}, {groups} x ({m}, {k}) @ ({k}, {n}), {threads} threads",
                        "ours": ours * 1e3,
                        "baseline": theirs * 1e3,
                        "baseline_name": name,
                        "ratio": ours / theirs,
                        "unit": "ms",
                        "aim": aim,
                    }
                )
    return found


def rows(quick: bool) -> list[dict[str, object]]:
    """The default problem on one thread."""
    os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")
    return measured(SHAPE, 1, 7 if quick else 15)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    names = ("GROUPS", "ROWS", "K", "N")
    parser.add_argument("--shape", type=int, nargs=4, default=SHAPE, metavar=names)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")
    print(f"{'operands':48} {'ms':>8} {'NumPy ms':>9} {'ratio':>6}  aim     against")
    for row in measured(tuple(options.shape), options.threads, options.rounds):
        print(
            f"{row['case']:48} {row['ours']:8.2f} {row['baseline']:9.2f} {row['ratio']:6.2f}  "
            f"{row['aim']:7} {row['baseline_name']}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
