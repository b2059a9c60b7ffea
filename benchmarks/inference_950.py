# SPDX-License-Identifier: Apache-2.0
"""Operators of inference that only the 950 series has: `python -m benchmarks.inference_950`.

As `benchmarks.inference`: one row per family beside NumPy's composition in float32, both on one
thread, the least CPU time of the process, and results that were compared before.
"""

from __future__ import annotations

import os

os.environ["ACLNN_PY_EMULATOR_SOC"] = "Ascend950PR_9599"  # chosen once, at the first call

import sys
from typing import Any

from benchmarks.inference import F32, Case, Families, device, main, measured, runs

# ruff: isort: split
import ml_dtypes
import numpy as np

import aclnn_py as ap

F8, SCALE = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
F8_CODE, BLOCK, LARGEST_EXPONENT = 36, 32, 8


def rows_to_mx(rng: np.random.Generator) -> Case:
    rows, width = 1024, 4096
    x = rng.standard_normal((rows, width)).astype(np.float16)
    (tokens,) = device(x)
    y = ap.empty((rows, width), F8)
    scale = ap.empty((rows, width // BLOCK // 2, 2), SCALE)

    def theirs() -> Any:
        blocks = x.astype(F32).reshape(rows, -1, BLOCK)
        _, exponent = np.frexp(np.abs(blocks).max(-1))
        shared = exponent - 1 - LARGEST_EXPONENT
        made = np.clip(np.ldexp(blocks, -shared[..., None]), -448, 448).astype(F8)
        return made.reshape(rows, width), np.ldexp(F32(1), shared).reshape(rows, -1, 2)

    call = runs(
        lambda: ap.ops.dynamic_mx_quant(tokens, 1, None, F8_CODE, BLOCK, 0, y, scale), y, scale
    )
    return Case("rows to mx", f"{rows} x {width}, float16 to float8_e4m3", call, theirs, 0)


def mx_product(rng: np.random.Generator) -> Case:
    m, k, n = 64, 2048, 2048
    x, w = (rng.standard_normal(shape).astype(F8) for shape in ((m, k), (n, k)))
    rows, columns = (
        np.ldexp(F32(1), rng.integers(-6, 1, (size, k // BLOCK // 2, 2))).astype(SCALE)
        for size in (m, n)
    )
    x1, x2, row, column = device(x, w, rows, columns)
    out = ap.empty((m, n), "float16")

    def wide(numbers: Any, scales: Any) -> Any:
        blocks = numbers.astype(F32).reshape(len(numbers), -1, BLOCK)
        return (blocks * scales.reshape(len(numbers), -1, 1).astype(F32)).reshape(numbers.shape)

    def theirs() -> Any:
        return ((wide(x, rows) @ wide(w, columns).T).astype(np.float16),)

    call = runs(
        lambda: ap.ops.quant_matmul_v5(
            *(x1, x2, row, column, None, None, None, None, None, False, True),
            *(1 << 32 | 1 << 16 | BLOCK, out),
        ),
        out,
    )
    case = f"({m}, {k}) @ ({k}, {n}), float8_e4m3"
    return Case("mx product", case, call, theirs, 2e-2)


def experts_mx_product(rng: np.random.Generator) -> Case:
    groups, rows, k, n = 8, 32, 1024, 1024
    x = rng.standard_normal((groups * rows, k)).astype(F8)
    w = rng.standard_normal((groups, n, k)).astype(F8)
    row, column = (
        np.ldexp(F32(1), rng.integers(-6, 1, (*shape, k // BLOCK // 2, 2))).astype(SCALE)
        for shape in ((groups * rows,), (groups, n))
    )
    ends = np.arange(rows, groups * rows + 1, rows)
    tokens, weight, x_scale, w_scale, group_list = device(x, w, row, column, ends)
    weight, w_scale = weight.swapaxes(-1, -2), w_scale.permute(0, 2, 1, 3)
    out = ap.empty((groups * rows, n), "float16")

    def theirs() -> Any:
        found = np.empty((groups * rows, n), np.float16)
        for g in range(groups):
            part = slice(g * rows, (g + 1) * rows)
            a = x[part].astype(F32).reshape(rows, -1, BLOCK)
            a = a * row[part].reshape(rows, -1, 1).astype(F32)
            b = w[g].astype(F32).reshape(n, -1, BLOCK) * column[g].reshape(n, -1, 1).astype(F32)
            found[part] = a.reshape(rows, k) @ b.reshape(n, k).T
        return (found,)

    call = runs(
        lambda: ap.ops.grouped_matmul_v5(
            *([tokens], [weight], None, [w_scale], None, None, None, [x_scale], group_list),
            *(None, None, None, 3, 0, 0, 0, None, [out], None, None),
        ),
        out,
    )
    case = f"{groups} x ({rows}, {k}) @ ({k}, {n}), float8_e4m3"
    return Case("grouped mx product", case, call, theirs, 2e-2)


def causal_convolution(rng: np.random.Generator) -> Case:
    batch, length, width, taps = 4, 512, 2048, 3
    x = rng.standard_normal((batch * length, width)).astype(np.float16)
    weight = rng.standard_normal((taps, width)).astype(np.float16)
    before = rng.standard_normal((batch, taps - 1, width)).astype(np.float16)
    starts = np.arange(0, batch * length + 1, length, dtype=np.int32)
    tokens, filters, begins = device(x, weight, starts)
    (start,) = device(before)
    states, y = ap.empty(before.shape, "float16"), ap.empty(x.shape, "float16")

    def theirs() -> Any:
        padded = np.concatenate([before, x.reshape(batch, length, width)], 1).astype(F32)
        wide = weight.astype(F32)
        made = sum(wide[i] * padded[:, i : i + length] for i in range(taps))
        return made.astype(np.float16).reshape(x.shape), padded[:, length:].astype(np.float16)

    def call() -> None:
        ap.ops.inplace_copy(states, start)
        ap.ops.fused_causal_conv1d(
            *(tokens, filters, states, begins, None, None, None, None, None, None, None, None),
            *(0, -1, 0, -1, 0, 0, 0, y),
        )

    case = f"{batch} x {length} x {width}, {taps} taps, float16"
    return Case("causal convolution", case, runs(call, y, states), theirs, 1e-2)


FAMILIES: Families = (rows_to_mx, mx_product, experts_mx_product, causal_convolution)


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
