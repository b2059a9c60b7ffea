# SPDX-License-Identifier: Apache-2.0
"""Device memory that kernels and copies go over lies in large pages, where the system has them."""

from __future__ import annotations

import ctypes
import mmap
import os

import pytest
from helpers.processes import run_script

LARGE = 2 << 20
COLLAPSE = 25  # MADV_COLLAPSE of Linux 6.1
FIXED = 0x10

OF_WINDOW = """
import re
from pathlib import Path
import numpy as np
import aclnn_py as ap

def of_window(field):
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match("[0-9a-f]+-", line):
            inside = "aclnn_py_device" in line
        elif inside and line.startswith(field + ":"):
            found += int(line.split()[1]) << 10
    return found
"""


@pytest.fixture
def large_pages():
    """Skips where the system makes no large pages of a shared file."""
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = [ctypes.c_int] * 4
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *numbers[:3], ctypes.c_long]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    file = os.memfd_create("probe")
    try:
        os.ftruncate(file, LARGE)
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        taken = libc.mmap(None, 2 * LARGE, mmap.PROT_READ, private, -1, 0)
        start = -(-taken // LARGE) * LARGE
        at = libc.mmap(start, LARGE, mmap.PROT_READ, mmap.MAP_SHARED | FIXED, file, 0)
        assert at == start
        ctypes.string_at(at, 1)
        refused = libc.madvise(at, LARGE, COLLAPSE) != 0
        libc.munmap(taken, 2 * LARGE)
    finally:
        os.close(file)
    if refused:
        pytest.skip("this system makes no large pages of shared memory")


@pytest.mark.usefixtures("large_pages")
@pytest.mark.parametrize(
    "given", ["np.ones(1 << 22, np.float32)", "ap.zeros((1 << 22,), np.float32) + 1"]
)
def test_what_is_written_as_a_whole_lies_in_large_pages(given):
    script = f"""
with ap.Device(0):
    x = {given}
    x = x if isinstance(x, ap.Tensor) else ap.from_numpy(x)
    assert of_window("ShmemPmdMapped") >= 12 << 20, of_window("ShmemPmdMapped")
    assert float(x.numpy().sum()) == 1 << 22
"""
    run_script(OF_WINDOW + script, env={"ACLNN_PY_CHECK": "0"}).check()


def test_memory_that_nothing_goes_over_is_not_taken_from_the_host():
    script = """
with ap.Device(0):
    x = ap.empty((1 << 26,), "float32")
    before = of_window("Rss")
    for at in range(0, 1 << 26, 1 << 20):
        x[at:at + 256].fill(1)
    ap.synchronize()
    taken = of_window("Rss") - before
    assert 64 * 4096 <= taken < 4 << 20, taken
    assert x[1 << 20].item() == 1
"""
    run_script(OF_WINDOW + script, env={"ACLNN_PY_CHECK": "0"}).check()


def test_results_are_those_of_small_pages():
    script = """
with ap.Device(0):
    x = np.random.default_rng(1).standard_normal((3, 1 << 20)).astype(np.float32)
    given = ap.from_numpy(x)
    for _ in range(3):
        found = (given + given)[1:]
        np.testing.assert_array_equal(found.numpy(), (x + x)[1:])
        del found
        ap.trim_memory()
"""
    run_script(OF_WINDOW + script, env={"ACLNN_PY_CHECK": "0"}).check()
