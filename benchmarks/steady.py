# SPDX-License-Identifier: Apache-2.0
"""Memory after very many launches: `python benchmarks/steady.py [--launches N]`.

Launches of mixed shapes and attributes on a device that does nothing, a tenth of them before the
first look. Resident memory, device memory and open handles have to stay what they were.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.launch import build

MIB = 1 << 20


def resident_nbytes() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Look(NamedTuple):
    """What the process holds: resident and device memory in bytes, and open handles."""

    resident: int
    reserved: int
    allocated: int
    handles: dict[str, int]


def look() -> Look:
    """Count once nothing is left to the collector or a stream."""
    import aclnn_py as ap
    from aclnn_py.runtime.handle import live_handles

    gc.collect()
    ap.synchronize()
    memory = ap.memory_stats()
    return Look(resident_nbytes(), memory.reserved_nbytes, memory.allocated_nbytes, live_handles())


def launch(count: int) -> None:
    """Tensors that come and go, shapes and attributes that change."""
    import numpy as np

    import aclnn_py as ap

    shapes = [(1 + i % 7, 8 << i % 5) for i in range(35)]
    for i in range(count // 3):
        shape = shapes[i % len(shapes)]
        x, out = ap.empty(shape, np.float32), ap.empty(shape, np.float32)
        ap.ops.add(x, x, float(i % 601), out)
        ap.ops.mul(x, out, out)
        ap.ops.foreach_sqrt([x, out], [out, x])
        if i % 256 == 0:
            # As a service does. The device cannot tell how far it is by itself, and what is
            # released without a pool (ACLNN_PY_ALLOCATOR=direct) waits for that.
            ap.synchronize()


def measure(launches: int) -> tuple[Look, Look]:
    """What `look` says after a tenth of the launches, and after all."""
    with tempfile.TemporaryDirectory() as name:
        build(Path(name))
        os.environ["ACLNN_PY_DEVICE"] = "npu"
        os.environ["ACLNN_PY_LIBRARY_PATH"] = name
        launch(launches // 10)
        warm = look()
        launch(launches - launches // 10)
        return warm, look()


def rows(quick: bool) -> list[dict[str, object]]:
    """Growth of resident memory after the warm-up."""
    launches = 60_000 if quick else 1_000_000
    warm, after = measure(launches)
    if after[1:] != warm[1:]:
        raise RuntimeError(f"device memory and handles were {warm[1:]}, and are {after[1:]}")
    return [
        {
            "name": "resident memory",
            "case": f"{launches:,} launches of mixed shapes",
            "ours": after[0] / MIB,
            "baseline": warm[0] / MIB,
            "baseline_name": "after a tenth of them",
            "ratio": after[0] / warm[0],
            "unit": "MiB",
            "aim": "<= 1.05",
        }
    ]


def main() -> int:
    """Print both looks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=1_000_000)
    options = parser.parse_args()
    for when, seen in zip(("after a tenth", "after all"), measure(options.launches), strict=True):
        print(
            f"{when:14} resident {seen.resident / MIB:7.1f} MiB, "
            f"device reserved {seen.reserved} B, allocated {seen.allocated} B, "
            f"{sum(seen.handles.values())} handles {seen.handles}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
