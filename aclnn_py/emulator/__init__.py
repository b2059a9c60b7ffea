# SPDX-License-Identifier: Apache-2.0
"""The emulator: a CPU device behind CANN's C interface. Its sources are below `src/`."""

from __future__ import annotations

from pathlib import Path

__all__ = ["library_path"]


def library_path() -> Path:
    """Return where the emulator's shared library is in every installed package."""
    return Path(__file__).resolve().parent.parent / "lib" / "libaclnn_py_emulator.so"
