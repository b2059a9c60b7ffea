# SPDX-License-Identifier: Apache-2.0
"""The emulator's convolution beside the NumPy expression for it: windows as columns, and a product.
Its gradients are beside the convolution itself.

Both run on one thread, in turns; read the ratios. NumPy multiplies in float32 and gets the
conversions a NumPy program would write for the 16-bit kinds.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS"):
    os.environ[_name] = "1"
os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")

from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

import aclnn_py as ap  # noqa: E402
from benchmarks.clock import cpu_seconds  # noqa: E402

# input (n, channels, height, width), filters, groups
CASES = [
    ("3x3", (4, 64, 56, 56), (64, 64, 3, 3), 1),
    ("1x1", (4, 256, 28, 28), (256, 256, 1, 1), 1),
    ("depthwise 3x3", (4, 64, 56, 56), (64, 1, 3, 3), 64),
]


def cpu_ms(work: Callable[[], Any]) -> float:
    """CPU time of the whole process: another program's share of the processor is not counted."""
    start = cpu_seconds()
    work()
    return (cpu_seconds() - start) * 1000.0


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


def measure_gradients(x: Any, w: Any, groups: int, rounds: int) -> tuple[float, float]:
    """Least ms of the three gradients of a convolution, and of the convolution."""
    margins, ones = [w.shape[2] // 2] * 2, [1, 1]
    image, filters = (ap.from_numpy(part, format="NCHW") for part in (x, w))
    shape = (x.shape[0], w.shape[0], *x.shape[2:])
    slope = ap.from_numpy(
        np.random.default_rng(2).standard_normal(shape).astype(x.dtype), format="NCHW"
    )
    out = ap.empty(shape, x.dtype, format="NCHW")
    results = [ap.empty(part.shape, x.dtype, format="NCHW") for part in (x, w)]
    bias = ap.empty((len(w),), x.dtype)
    how = (ones, margins, ones, False, [0, 0], groups)

    def gradients() -> None:
        ap.ops.convolution_backward(
            slope, image, filters, [len(w)], *how, [True] * 3, 0, *results, bias
        )
        ap.synchronize()

    def convolution() -> None:
        ap.ops.convolution(image, filters, None, *how, out, 0)
        ap.synchronize()

    gradients()
    convolution()
    np.testing.assert_allclose(
        bias.numpy().astype(np.float64),
        slope.numpy().astype(np.float64).sum((0, 2, 3)),
        rtol=0.01,
        atol=0.1,
    )
    samples = [(cpu_ms(gradients), cpu_ms(convolution)) for _ in range(rounds)]
    first, second = zip(*samples, strict=True)
    return min(first), min(second)


def row(
    name: str, x: Any, times: tuple[float, float], baseline: str, aim: str
) -> dict[str, object]:
    """One row of the table of costs."""
    return {
        "name": name,
        "case": f"{x.dtype.name}, {'x'.join(map(str, x.shape))}",
        "ours": times[0],
        "baseline": times[1],
        "baseline_name": baseline,
        "ratio": times[0] / times[1],
        "unit": "ms",
        "aim": aim,
    }


def rows(quick: bool) -> list[dict[str, object]]:
    """Two rows per case and dtype: the convolution and its gradients."""
    rng = np.random.default_rng(1)
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for name, image, filters, groups in CASES[:1] if quick else CASES:
            for dtype in (np.float32, np.float16):
                x = rng.standard_normal(image).astype(dtype)
                w = rng.standard_normal(filters).astype(dtype)
                rounds = 5 if quick else 9
                times = measure(x, w, groups, rounds)
                found.append(row(f"conv2d {name}", x, times, "NumPy, columns and product", "<= 1"))
                times = measure_gradients(x, w, groups, rounds)
                found.append(row(f"conv2d {name}, gradients", x, times, "conv2d", "<= 3"))
    return found
