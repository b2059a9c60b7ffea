# SPDX-License-Identifier: Apache-2.0
"""Copies between NumPy and the device against numpy.copyto between two arrays of the host.

    python -m benchmarks.copies [--quick]

Every way writes to memory that has been written before, so that none pays for fresh pages. Rounds
of the two alternate; compare the ratios.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

SIZES = {"4 KiB": 4 << 10, "256 KiB": 256 << 10, "16 MiB": 16 << 20, "256 MiB": 256 << 20}
BUDGET = 64 << 20  # bytes per round, so that small copies are repeated


def gigabytes(
    clock: Callable[[], float],
    ours: Callable[[], Any],
    baseline: Callable[[], Any],
    nbytes: int,
    rounds: int,
) -> tuple[float, float]:
    """Rates of both, from the least time of alternating rounds."""
    count = max(1, min(200, BUDGET // nbytes))
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for which, call in enumerate((ours, baseline)):
            start = clock()
            for _ in range(count):
                call()
            best[which] = min(best[which], (clock() - start) / count)
    return nbytes / best[0] / 1e9, nbytes / best[1] / 1e9


def row(name: str, case: str, rates: tuple[float, float], aim: str | None) -> dict[str, Any]:
    ours, baseline = rates
    return {
        "name": name,
        "case": case,
        "ours": ours,
        "baseline": baseline,
        "baseline_name": "numpy.copyto",
        "ratio": ours / baseline,
        "unit": "GB/s",
        "aim": aim,
    }


def cases(nbytes: int) -> Iterator[tuple[str, Callable[[], Any], Any, Any]]:
    """Yield the name of a copy, the copy, and the two arrays that copyto does the same with."""
    import numpy as np

    import aclnn_py as ap

    side = int((nbytes // 4) ** 0.5)
    even = slice(0, side // 2 * 2, 2)
    memory = ap.HostBuffer(side * side * 4)
    pinned = memory.numpy().view(np.float32).reshape(side, side)
    pinned[...] = 1
    pageable, other = np.ones((side, side), np.float32), np.zeros((side, side), np.float32)
    target = np.zeros((side, side // 2), np.float32)
    tensor, half = ap.from_numpy(pageable), ap.zeros((side, side // 2), np.float32)
    columns, turned = tensor[:, even], tensor.T
    yield "to device, pageable", lambda: tensor.copy_from(pageable), other, pageable
    yield "to host, pageable", lambda: tensor.numpy(out=pageable), other, pageable
    yield "to device, pinned", lambda: tensor.copy_from(pinned), other, pinned
    yield "to host, pinned", lambda: tensor.numpy(out=pinned), other, pinned
    every = pageable[:, even]
    yield "every second column to device", lambda: half.copy_from(every), target, every
    yield "every second column to host", lambda: columns.numpy(out=target), target, every
    yield "transposed to device", lambda: tensor.copy_from(pageable.T), other, pageable.T
    yield "transposed to host", lambda: turned.numpy(out=other), other, pageable.T


def rows(quick: bool) -> list[dict[str, Any]]:
    """Return the rows of this module."""
    import numpy as np

    import aclnn_py as ap

    # The emulator copies on the thread that asks, whose time other programs do not disturb.
    clock = time.thread_time if ap.library_info().kind == "emulator" else time.perf_counter
    found = []
    for size, nbytes in SIZES.items():
        if quick and nbytes > 16 << 20:
            continue
        for name, ours, into, source in cases(nbytes):
            # Strided elements go through the stage as well.
            least = ">= 0.7" if source.flags.c_contiguous else ">= 0.4"
            aim = least if nbytes >= 16 << 20 else None
            copyto = functools.partial(np.copyto, into, source)
            rates = gigabytes(clock, ours, copyto, source.nbytes, 3 if quick else 7)
            found.append(row(name, size, rates, aim))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, nothing over 16 MiB")
    for one in rows(parser.parse_args().quick):
        print(
            f"{one['name']:32} {one['case']:8} {one['ours']:7.2f} {one['unit']} "
            f"{one['ratio']:6.2f} x {one['baseline_name']}"
        )


if __name__ == "__main__":
    main()
