# SPDX-License-Identifier: Apache-2.0
"""Memory of a decoding loop: steady, and not much more than it needs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import aclnn_py as ap
from aclnn_py.memory.allocator import device_allocator

WARM, STEPS = 60, 120


@pytest.fixture
def seen(device, monkeypatch):
    """Statistics after every step of the trace, and how often the device was asked in it."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2])
    monkeypatch.setattr(device_allocator(device), "caching", True)
    ap.trim_memory(device)
    ap.reset_peak_memory_stats(device)
    from benchmarks.memory import replay

    yield replay(STEPS)
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)


def test_a_steady_loop_never_asks_the_device(seen):
    assert sum(asked for _, asked in seen[WARM:]) == 0
    assert seen[0][1] > 0  # the weights


def test_what_is_reserved_stays_close_to_what_is_needed(seen):
    last = seen[-1][0]
    assert last.reserved_nbytes <= 1.35 * last.allocated_peak_nbytes
    assert all(stats.reserved_nbytes == last.reserved_nbytes for stats, _ in seen[WARM:])
