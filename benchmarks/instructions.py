# SPDX-License-Identifier: Apache-2.0
"""The vector instructions a baseline may use, which are those of the emulator."""

from __future__ import annotations

import os

_BELOW = {"v3": ("Haswell", "X86_V4 AVX512_ICL AVX512_SPR"),
          "base": ("Nehalem", "X86_V3 X86_V4 AVX512_ICL AVX512_SPR")}  # fmt: skip


def limit_numpy() -> None:
    """Keep NumPy and its products below the level ``ACLNN_PY_ISA`` names. Call it before the import
    of NumPy."""
    if level := _BELOW.get(os.environ.get("ACLNN_PY_ISA", "")):
        os.environ["OPENBLAS_CORETYPE"], os.environ["NPY_DISABLE_CPU_FEATURES"] = level
