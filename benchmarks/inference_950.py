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


FAMILIES: Families = (rows_to_mx,)


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
