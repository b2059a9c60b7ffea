# SPDX-License-Identifier: Apache-2.0
"""The emulator's convolution beside the NumPy expression for it: windows as columns, and a product.

Both run on one thread, in turns; read the ratios. NumPy multiplies in float32 and gets the
conversions a NumPy program would write for the 16-bit kinds.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS"):
    os.environ[_name] = "1"
os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")

import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

import aclnn_py as ap  # noqa: E402

# input (n, channels, height, width), filters, groups
CASES = [
    ("3x3", (4, 64, 56, 56), (64, 64, 3, 3), 1),
    ("1x1", (4, 256, 28, 28), (256, 256, 1, 1), 1),
    ("depthwise 3x3", (4, 64, 56, 56), (64, 1, 3, 3), 64),
]


def cpu_ms(work: Callable[[], Any]) -> float:
    """CPU time of the whole process: another program's share of the processor is not counted."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000.0


def numpys(x: Any, w: Any, margin: int, groups: int) -> Any:
    """The convolution as NumPy programs write it."""
    wide, filters = x.astype(np.float32, copy=False), w.astype(np.float32, copy=False)
    padded = np.pad(wide, [(0, 0), (0, 0), (margin, margin), (margin, margin)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))
    if groups > 1:
        return np.einsum("nchwij,cij->nchw", windows, filters[:, 0]).astype(x.dtype, copy=False)
    n, _, rows, columns = windows.shape[:4]
    matrix = windows.transpose(0, 1, 4, 5, 2, 3).reshape(n, -1, rows * columns)
    out = filters.reshape(len(filters), -1) @ matrix
    return out.reshape(n, -1, rows, columns).astype(x.dtype, copy=False)


def measure(x: Any, w: Any, groups: int, rounds: int) -> tuple[float, float]:
    """Least ms of the emulator and of NumPy for one convolution; the results are compared."""
    margin = w.shape[2] // 2
    image, filters = ap.from_numpy(x, format="NCHW"), ap.from_numpy(w, format="NCHW")
    out = ap.empty((x.shape[0], w.shape[0], *x.shape[2:]), x.dtype, format="NCHW")

    def ours() -> None:
        ap.ops.convolution(
            image, filters, None, [1, 1], [margin] * 2, [1, 1], False, [0, 0], groups, out, 0
        )
        ap.synchronize()

    def theirs() -> Any:
        return numpys(x, w, margin, groups)

    ours()
    np.testing.assert_allclose(
        out.numpy().astype(np.float64), theirs().astype(np.float64), rtol=0.01, atol=0.1
    )
    samples = [(cpu_ms(ours), cpu_ms(theirs)) for _ in range(rounds)]
    first, second = zip(*samples, strict=True)
    return min(first), min(second)


def rows(quick: bool) -> list[dict[str, object]]:
    """One row per case and dtype."""
    rng = np.random.default_rng(1)
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for name, image, filters, groups in CASES[:1] if quick else CASES:
            for dtype in (np.float32, np.float16):
                x = rng.standard_normal(image).astype(dtype)
                w = rng.standard_normal(filters).astype(dtype)
                ours, theirs = measure(x, w, groups, 5 if quick else 9)
                found.append(
                    {
                        "name": f"conv2d {name}",
                        "case": f"{np.dtype(dtype).name}, {'x'.join(map(str, image))}",
                        "ours": ours,
                        "baseline": theirs,
                        "baseline_name": "NumPy, columns and product",
                        "ratio": ours / theirs,
                        "unit": "ms",
                        "aim": "<= 1",
                    }
                )
    return found
