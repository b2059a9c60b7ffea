# SPDX-License-Identifier: Apache-2.0
"""The emulator's matrix product beside NumPy's: `python benchmarks/matmul.py`.

Both multiply on one thread, in turns, so that a busy machine slows both alike: read the ratios, not
the times; one below 1 means that the emulator was faster. NumPy has no fast product of the 16-bit
kinds and of int8; it gets the conversion to float32 that a NumPy program would write, and its time
includes it. Not so with a single row, as in decoding token by token: there NumPy multiplies a
matrix that was converted to float32 before, since a program converts its weights once.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS"):
    os.environ[_name] = "1"
os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")

from benchmarks.instructions import limit_numpy  # noqa: E402

limit_numpy()

import argparse  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

import aclnn_py as ap  # noqa: E402
from benchmarks.clock import cpu_seconds  # noqa: E402

# The last one opens the network of a layer, for a prompt of 512 tokens and a model of 0.5 billion
# parameters.
SHAPES = [(1024, 1024, 1024), (32, 4096, 4096), (1, 4096, 4096), (512, 896, 9728)]
DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16]


def cpu_ms(work: Callable[[], Any]) -> float:
    """CPU time of the whole process: another program's share of the processor is not counted."""
    start = cpu_seconds()
    work()
    return (cpu_seconds() - start) * 1000.0


def measure(
    shape: tuple[int, int, int], dtype: Any, turned: bool, rounds: int
) -> tuple[float, float]:
    """Least ms of the emulator and of NumPy for one product; the results are compared."""
    m, k, n = shape
    rng = np.random.default_rng(1)
    x = rng.standard_normal((m, k)).astype(dtype)
    y = rng.standard_normal((n, k) if turned else (k, n)).astype(dtype)
    left, right = ap.from_numpy(x), ap.from_numpy(y)
    if turned:
        right, y = right.permute(1, 0), y.T
    if m == 1:
        x, y = x.astype(np.float32), y.astype(np.float32)
    out = ap.empty((m, n), dtype)

    def ours() -> None:
        ap.ops.matmul(left, right, out, 0)
        ap.synchronize()

    def numpy_product() -> Any:
        wide = x.astype(np.float32, copy=False) @ y.astype(np.float32, copy=False)
        return wide.astype(dtype, copy=False)

    ours()
    np.testing.assert_allclose(
        out.numpy().astype(np.float64), numpy_product().astype(np.float64), rtol=0.05, atol=0.5
    )
    samples = [(cpu_ms(ours), cpu_ms(numpy_product)) for _ in range(rounds)]
    first, second = zip(*samples, strict=True)
    return min(first), min(second)


def rows(quick: bool) -> list[dict[str, object]]:
    """One row per shape, dtype and side of the right matrix."""
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for shape in SHAPES[::2] if quick else SHAPES:
            for dtype in DTYPES:
                for turned in (False, True):
                    ours, numpys = measure(shape, dtype, turned, 5 if quick else 9)
                    name = np.dtype(dtype).name
                    found.append(
                        {
                            "name": f"matmul {'x'.join(map(str, shape))}",
                            "case": f"{name}, x2 {'transposed' if turned else 'plain'}",
                            "ours": ours,
                            "baseline": numpys,
                            "baseline_name": "NumPy" if name == "float32" else "NumPy in float32",
                            "ratio": ours / numpys,
                            "unit": "ms",
                            "aim": "" if shape == SHAPES[1] else "<= 1",
                        }
                    )
    return found


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    print(f"{'product':24} {'operands':28} {'ms':>8} {'NumPy ms':>9} {'ratio':>6}  aim")
    for row in rows(parser.parse_args().quick):
        print(
            f"{row['name']:24} {row['case']:28} {row['ours']:8.2f} {row['baseline']:9.2f} "
            f"{row['ratio']:6.2f}  {row['aim']}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
