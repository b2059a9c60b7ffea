# SPDX-License-Identifier: Apache-2.0
"""Rows as a table and as JSON, with what is known of the machine."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Any

from benchmarks.rows import Row

PACKAGES = ("numpy", "cffi", "ml_dtypes", "mpi4py", "mpich", "torch", "matplotlib")


def machine() -> dict[str, Any]:
    """Processor, memory and load of this machine."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": model,
        "processors": len(os.sched_getaffinity(0)),
        "memory_gib": round(pages / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages the figures depend on, of those that are installed."""
    import aclnn_py

    found = {"python": platform.python_version(), "aclnn_py": aclnn_py.__version__}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def document(rows: list[Row], failures: dict[str, str], quick: bool) -> dict[str, Any]:
    """Everything of a run, as JSON takes it."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "quick": quick,
        "machine": machine(),
        "versions": versions(),
        "rows": [row._asdict() | {"met": row.met} for row in rows],
        "failures": failures,
    }


def figure(value: float | None, unit: str = "") -> str:
    """A number with three significant digits, readable at any size."""
    if value is None:
        return ""
    if value == 0 or 0.001 <= abs(value) < 10_000_000:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
        text = f"{value:.{digits}f}"
    else:
        text = f"{value:.2e}"
    return f"{text} {unit}".rstrip()


def table(rows: list[Row]) -> str:
    """One table, grouped by module."""
    heads = ("", "case", "ours", "baseline", "ratio", "aim", "", "beside")
    verdict = {True: "met", False: "MISSED", None: ""}
    lines: list[tuple[str, ...]] = []
    for row in rows:
        cells = (figure(row.ours, row.unit), figure(row.baseline, row.unit), figure(row.ratio))
        lines.append(
            (f"  {row.name}", row.case, *cells, row.aim, verdict[row.met], row.baseline_name)
        )
    widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
    right = {2, 3, 4}

    def text(cells: tuple[str, ...]) -> str:
        both = zip(cells, widths, range(len(widths)), strict=True)
        return "  ".join(c.rjust(w) if i in right else c.ljust(w) for c, w, i in both).rstrip()

    out = [text(heads)]
    module = ""
    for row, line in zip(rows, lines, strict=True):
        if row.module != module:
            module = row.module
            out += ["", module]
        out.append(text(line))
    return "\n".join(out)


def progress(text: str) -> None:
    """Tell a person who waits what is going on, apart from the table."""
    print(text, file=sys.stderr, flush=True)
