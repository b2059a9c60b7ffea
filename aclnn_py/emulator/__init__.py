# SPDX-License-Identifier: Apache-2.0
"""The emulator: a CPU device behind CANN's C interface. Its sources are below `src/`."""

from __future__ import annotations

from pathlib import Path

__all__ = ["device_path", "library_path"]

_LIBRARIES = Path(__file__).resolve().parent.parent / "lib"


def library_path() -> Path:
    """Return where the library with all functions of the emulator is in every installed package."""
    return _LIBRARIES / "libaclnn_py_emulator.so"


def device_path() -> Path:
    """Return where the one library that does their work is; its functions have a prefix."""
    return _LIBRARIES / "libaclnn_py_emulator_device.so"
