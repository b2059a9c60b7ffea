# SPDX-License-Identifier: Apache-2.0
"""Time collectives on two ranks of the emulator, as a ratio to one memcpy of the same bytes.

    python benchmarks/collectives.py [--ranks 2] [--largest-mib 256]

For all_gather and reduce_scatter the size is that of the whole buffer, all ranks together. Ratios
compare within one run only: 1.0 means the collective took as long as copying its bytes once.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "emulator"))

from hccl_ranks import Job, Rank, library

FP32, SUM = 4, 0
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter")


def repeats(nbytes: int) -> int:
    return max(3, min(200, (64 << 20) // max(nbytes, 1)))


def time_rank(rank: Rank, sizes: list[int]) -> dict[tuple[str, int], float]:
    """Return seconds per call; the ranks start each size together."""
    result: dict[tuple[str, int], float] = {}
    for nbytes in sizes:
        count = nbytes // 4
        send = rank.put(np.ones(count, np.float32))
        recv = rank.put(np.zeros(count, np.float32))
        part = count // rank.ranks
        calls = {
            "all_reduce": ("HcclAllReduce", send, recv, count, FP32, SUM),
            "all_gather": ("HcclAllGather", send, recv, part, FP32),
            "reduce_scatter": ("HcclReduceScatter", send, recv, part, FP32, SUM),
        }
        for name, call in calls.items():
            rank.call(*call)  # the first call touches the shared pages
            rank.call("HcclBarrier")
            rank.sync()
            n = repeats(nbytes)
            start = time.perf_counter()
            for _ in range(n):
                rank.call(*call)
            rank.sync()
            result[name, nbytes] = (time.perf_counter() - start) / n
        rank.free()
    return result


def time_memcpy(nbytes: int) -> float:
    source, target = np.ones(nbytes, np.uint8), np.zeros(nbytes, np.uint8)
    n = repeats(nbytes)
    start = time.perf_counter()
    for _ in range(n):
        ctypes.memmove(target.ctypes.data, source.ctypes.data, nbytes)
    return (time.perf_counter() - start) / n


def size_text(nbytes: int) -> str:
    return f"{nbytes >> 20} MiB" if nbytes >= 1 << 20 else f"{nbytes >> 10} KiB"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--largest-mib", type=int, default=256)
    options = parser.parse_args()
    library()
    sizes = [1 << 10]
    while sizes[-1] << 3 <= options.largest_mib << 20:
        sizes.append(sizes[-1] << 3)
    if sizes[-1] != options.largest_mib << 20:
        sizes.append(options.largest_mib << 20)
    copies = {nbytes: time_memcpy(nbytes) for nbytes in sizes}
    print(f"{options.ranks} ranks; time of a call, and its ratio to a memcpy of the same bytes\n")
    modes = ("process", "thread")
    heads = "".join(f"{f'{name}, {mode}':>28}" for mode in modes for name in COLLECTIVES)
    print(f"{'size':>8}{'memcpy':>12}{heads}")
    times = {}
    for mode in modes:
        job = Job(options.ranks, mode)
        try:
            answers = job.run(time_rank, sizes, timeout_s=900)
        finally:
            job.close()
        times[mode] = {key: max(answer[key] for answer in answers) for key in answers[0]}
    for nbytes in sizes:
        line = f"{size_text(nbytes):>8}{copies[nbytes] * 1e6:>9.1f} us"
        for mode in modes:
            for name in COLLECTIVES:
                seconds = times[mode][name, nbytes]
                line += f"{seconds * 1e6:>17.1f} us {seconds / copies[nbytes]:>6.1f}x"
        print(line)


if __name__ == "__main__":
    main()
