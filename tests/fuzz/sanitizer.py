# SPDX-License-Identifier: Apache-2.0
"""The address sanitizer, where the emulator was built with it: how to start, and what to forbid."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import aclnn_py

SUPPRESSIONS = Path(__file__).with_name("suppressions.txt")
LIBRARY = Path(aclnn_py.__file__).parent / "lib" / "libaclnn_py_emulator_device.so"
OPTIONS = {
    # A failed allocation is the caller's business; so is what lives until the process ends.
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"
    ":max_allocation_size_mb=1024:soft_rss_limit_mb=3072",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1"
    f":suppressions={SUPPRESSIONS}",
}


def sanitized() -> bool:
    """Whether the emulator was built with the address sanitizer."""
    return b"libasan.so" in LIBRARY.read_bytes()


def environment() -> dict[str, str]:
    """What a process needs in its environment to load the emulator; nothing for an ordinary one."""
    if not sanitized():
        return {}
    compiler = os.environ.get("CXX", "c++").split()
    names = []
    for name in ("libasan.so", "libstdc++.so"):
        asked = subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        )
        names.append(os.path.realpath(asked.stdout.strip()))
    return {"LD_PRELOAD": ":".join(names), **OPTIONS}


class Shadow:
    """Forbids memory between tensors while a kernel runs; does nothing without the sanitizer."""

    def __init__(self) -> None:
        host = ctypes.CDLL(None)
        self._poison = getattr(host, "__asan_poison_memory_region", None)
        self._unpoison = getattr(host, "__asan_unpoison_memory_region", None)
        for function in filter(None, (self._poison, self._unpoison)):
            function.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
            function.restype = None

    def close(self, address: int, used: int, spans: Iterable[tuple[int, int]]) -> None:
        """Forbid the first ``used`` bytes at an address, but for the spans."""
        if self._poison is None or self._unpoison is None:
            return
        self._poison(address, used)
        for start, end in spans:
            if start < end:
                self._unpoison(address + start, end - start)

    def open(self, address: int, nbytes: int) -> None:
        """Allow everything again."""
        if self._unpoison is not None:
            self._unpoison(address, nbytes)
