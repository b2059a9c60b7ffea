# SPDX-License-Identifier: Apache-2.0
"""Many launches leave the process as they found it."""

from __future__ import annotations

from pathlib import Path

from helpers.processes import run_script

ROOT = Path(__file__).resolve().parents[2]


def test_memory_and_handles_stay_flat_over_many_launches():
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from benchmarks.steady import MIB, measure
warm, after = measure(40_000)
assert after[1:] == warm[1:], (warm, after)
assert after.resident - warm.resident < 2 * MIB, (warm, after)
assert sum(after.handles.values()) <= 2, after
"""
    run_script(script, env={"ACLNN_PY_DEVICE": "npu", "ACLNN_PY_CHECK": "0"}).check()
