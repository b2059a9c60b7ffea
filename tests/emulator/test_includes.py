# SPDX-License-Identifier: Apache-2.0
"""A change of a runtime header recompiles a part of the emulator, not all of it."""

from __future__ import annotations

import functools
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "aclnn_py" / "emulator" / "src"
INCLUDE = ROOT / "include"
MOST_UNITS = 70
# What entry points and operators are written with: statuses, whether the process may still call,
# what a call takes, handles and what the host leaves for their tables, sizes, bits of floats,
# kernels, parallel loops.
VOCABULARY = {
    "core/status.h",
    "core/statuses.h",
    "core/export.h",
    "core/process.h",
    "core/host_calls.h",
    "core/chip.h",
    "core/half.h",
    "core/float_bits.h",
    "core/host_limits.h",
    "core/slots.h",
    "core/checked.h",
    "core/callable.h",
    "core/pool.h",
}


@functools.cache
def includes_of(path: Path) -> set[Path]:
    """The headers of this repository that a file names."""
    named = re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    return {base / name for name in named for base in (SOURCES, INCLUDE) if (base / name).is_file()}


@functools.cache
def closure(unit: Path) -> set[Path]:
    """Every header a unit reads, however deep."""
    seen: set[Path] = set()
    waiting = [unit]
    while waiting:
        fresh = includes_of(waiting.pop()) - seen
        seen |= fresh
        waiting.extend(fresh)
    return seen


def test_runtime_headers_reach_few_units() -> None:
    units = list(SOURCES.rglob("*.cpp"))
    reached = Counter(header for unit in units for header in closure(unit))
    counts = {
        header.relative_to(SOURCES).as_posix(): count
        for header, count in reached.items()
        if SOURCES in header.parents
    }
    assert counts["core/status.h"] > MOST_UNITS, "the headers were not followed"
    watched = {
        name: count
        for name, count in counts.items()
        if name.startswith(("core/", "runtime/")) and name not in VOCABULARY
    }
    assert len(watched) > 20
    assert {name: count for name, count in watched.items() if count >= MOST_UNITS} == {}
    # The header of the whole runtime: for entry points, and for no operator's kernel.
    runtime = [unit for unit in units if INCLUDE / "acl" / "acl_rt.h" in closure(unit)]
    assert len(runtime) < len(units) / 5
    assert sum(SOURCES / "ops" in unit.parents for unit in runtime) < 10
