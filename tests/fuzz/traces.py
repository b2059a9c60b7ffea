# SPDX-License-Identifier: Apache-2.0
"""Fuzz of traces and logs: changed bytes, changed events; read, summed up, explained."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import numpy as np

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.tools.explain import explain
from aclnn_py.tools.traces.reader import TraceError, read_calls
from aclnn_py.tools.traces.table import table, totals

from .budget import Budget
from .file_mutations import changed_bytes, changed_tree
from .files import run

ERRORS = (TraceError,)


def fuzz(budget: Budget) -> int:
    """Change traces while the budget lasts; return the number of defects."""
    return run(budget, "tests.fuzz.traces")


def seeds(folder: Path) -> list[bytes]:
    """Trace a few calls in each form."""
    with ap.Device(0) as device:
        x = ap.from_numpy(np.ones((2, 3), np.float32))
        for suffix in ("txt", "json"):
            with ap.tools.trace(folder / f"seed.{suffix}"):
                ops.add(x, x, 1.0, x)
                with contextlib.suppress(errors.AclnnError):
                    ops.add(x, None, 1.0, x)
                device.memory_info()
                x.numpy()
    return [(folder / f"seed.{suffix}").read_bytes() for suffix in ("txt", "json")]


def mutated(rng: random.Random, known: list[bytes]) -> bytes:
    """Return a changed trace."""
    data = rng.choice(known)
    if rng.random() < 0.4:
        return changed_bytes(rng, data, known)
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(lines))
        try:
            event = json.loads(lines[at].strip(b","))
        except ValueError:
            lines[at] = changed_bytes(rng, lines[at], lines)
        else:
            changed = json.dumps(changed_tree(rng, [event])).encode()
            lines[at] = changed.strip(b"[]") + b","
    return b"\n".join(lines)


def attempt(path: Path) -> str:
    """Read a trace, sum it up, and look for codes in it; return how it ended."""
    text = path.read_bytes().decode("utf-8", "replace")
    explain(text)
    calls = read_calls(path)
    rows = totals(calls)
    lines = table(rows)
    assert all(line.isprintable() for line in lines), "a table is printable"
    assert all(row.total_us >= 0 and 0 <= row.share <= 1 for row in rows), "sums are numbers"
    return "read" if calls else "empty"
