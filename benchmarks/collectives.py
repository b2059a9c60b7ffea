# SPDX-License-Identifier: Apache-2.0
"""Collectives on ranks of the emulator beside an MPI and beside memcpy, all on this machine.

    python -m benchmarks.collectives [--ranks 2] [--largest-mib 256]

Ranks are processes that take turns with both libraries and memcpy, in one job of mpiexec; then
threads of one process, which MPI has not. Without `pip install '.[bench]'` there is memcpy only.
The size is that of the whole buffer, all ranks together. All ranks copy at once, as they do in a
collective, and a figure is the least of its rounds: other work on the machine only ever adds to it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.collective_ranks import Times, crowd, measure, together
from benchmarks.report import progress
from benchmarks.rows import checked

ROOT = Path(__file__).resolve().parent.parent
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter")
AIMED = 64 << 20  # the size of which something is promised


def mpiexec() -> str | None:
    """The launcher of an MPI that mpi4py was installed for, best beside this Python."""
    if importlib.util.find_spec("mpi4py") is None:
        return None
    return shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")


def by_processes(ranks: int, sizes: list[int], seconds: float) -> dict[int, Times]:
    """Times of ranks that are processes: with MPI where there is one."""
    launcher = mpiexec()
    if launcher is None:
        progress(
            "mpi4py or mpiexec is missing (pip install '.[bench]'): memcpy is the only baseline"
        )
        return by_job("process", ranks, sizes, seconds)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "times.json"
        module = [sys.executable, "-m", "benchmarks.collective_ranks"]
        arguments = [str(out), json.dumps(sizes), str(seconds)]
        subprocess.run([launcher, "-n", str(ranks), *module, *arguments], cwd=ROOT, check=True)
        return {int(nbytes): times for nbytes, times in json.loads(out.read_text()).items()}


def by_job(mode: str, ranks: int, sizes: list[int], seconds: float) -> dict[int, Times]:
    """Times of ranks without MPI, as processes or as threads of one process."""
    from hccl_ranks import Job

    job = Job(ranks, mode)
    try:
        return together(job.run(measure, sizes, seconds, timeout_s=900))
    finally:
        job.close()


def size_text(nbytes: int) -> str:
    return f"{nbytes >> 20} MiB" if nbytes >= 1 << 20 else f"{nbytes >> 10} KiB"


def rows_of(times: dict[int, Times], mode: str, ranks: int) -> list[dict[str, object]]:
    """Each collective beside memcpy, and beside MPI where it took part."""
    found: list[dict[str, object]] = []
    for name in COLLECTIVES:
        for nbytes, by_name in times.items():
            ours = min(by_name[name])
            for baseline in ("memcpy", f"MPI {name}", f"MPI {name} in place"):
                if baseline not in by_name:
                    continue
                theirs = min(by_name[baseline])
                promised = baseline.startswith("MPI") and nbytes == AIMED and ranks == 2
                found.append(
                    {
                        "name": f"{name}, {ranks} {mode}",
                        "case": size_text(nbytes),
                        "ours": ours * 1e6,
                        "baseline": theirs * 1e6,
                        "baseline_name": baseline,
                        "ratio": ours / theirs,
                        "unit": "us",
                        "aim": "<= 1" if promised and name != "reduce_scatter" else "",
                    }
                )
    return found


def crowded_rows() -> list[dict[str, object]]:
    """Eight processes whatever the number of processors: they sleep while they wait."""
    from hccl_ranks import Job

    found: dict[int, list[tuple[float, float]]] = {}
    for ranks in (2, 8):
        job = Job(ranks, "process")
        try:
            found[ranks] = job.run(crowd, 100)
        finally:
            job.close()
    few, many = (max(taken for taken, _ in found[ranks]) * 1e6 for ranks in (2, 8))
    return [
        {
            "name": "all_reduce and barrier, 8 processes",
            "case": "64 KiB each",
            "ours": many,
            "baseline": few,
            "baseline_name": "2 processes",
            "ratio": many / few,
            "unit": "us",
            "aim": "",
        },
        {
            "name": "CPU time of a rank that waits for 1 s",
            "case": "the most of 7 processes",
            "ours": max(spent for _, spent in found[8][1:]) * 1e3,
            "baseline": None,
            "baseline_name": "",
            "ratio": None,
            "unit": "ms",
            "aim": "<= 100",
        },
    ]


def sizes_to(largest: int) -> list[int]:
    sizes = [1 << 10]
    while sizes[-1] << 3 <= largest:
        sizes.append(sizes[-1] << 3)
    return sorted({*sizes, min(AIMED, largest), largest})


def rows(quick: bool, ranks: int = 2, largest: int = 256 << 20) -> list[dict[str, object]]:
    """Every size in both modes; the quick run has three sizes and processes only."""
    sizes, seconds = ([1 << 10, 1 << 20, AIMED], 0.5) if quick else (sizes_to(largest), 3.0)
    found = rows_of(by_processes(ranks, sizes, seconds), "processes", ranks)
    if not quick:
        found += rows_of(by_job("thread", ranks, sizes, seconds), "threads", ranks)
    return found + crowded_rows()


def main() -> int:
    """Print one table."""
    from benchmarks.report import table

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--largest-mib", type=int, default=256)
    options = parser.parse_args()
    found = rows(options.quick, options.ranks, options.largest_mib << 20)
    print(table([checked("collectives", row) for row in found]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
