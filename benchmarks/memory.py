# SPDX-License-Identifier: Apache-2.0
"""What memory costs: a hit and a miss of the allocator, and a decoding loop in the steady state.

    python -m benchmarks.memory [--quick]

A hit is compared with a C malloc/free pair and with a raw aclrtMalloc/aclrtFree pair, in C, from
Python, on the device in use and on one that does nothing. Rounds of all ways alternate; compare the
ratios, not the times.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.decoding_trace import steps
from benchmarks.launch import build

HERE = Path(__file__).resolve().parent
SIZES = {"512 B": 512, "64 KiB": 64 << 10, "4 MiB": 4 << 20}
WARM = 100  # steps of the decoding loop before the steady state
Way = Callable[[int], object]


def nanoseconds(ways: dict[str, tuple[Way, int]], rounds: int) -> dict[str, float]:
    """Thread CPU time of one call of each way, the least of alternating rounds."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (way, count) in ways.items():
            start = time.thread_time_ns()
            if way(count):
                raise RuntimeError(f"{name}: no memory")
            found[name].append((time.thread_time_ns() - start) / count)
    return {name: min(times) for name, times in found.items()}


def c_loops(folder: Path) -> ctypes.CDLL:
    """Compile the allocator with its loop."""
    sources = HERE.parent / "aclnn_py" / "_ffi"  # an installed package has none
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    target = folder / "pool_loop.so"
    flags = ["-O2", "-fPIC", "-shared", "-pthread", f"-I{sources}"]
    subprocess.run([*compiler, *flags, str(HERE / "pool_loop.c"), "-o", str(target)], check=True)
    loops = ctypes.CDLL(str(target))
    for function in (loops.pool_pairs, loops.malloc_pairs):
        function.argtypes = [ctypes.c_long, ctypes.c_uint64]
    return loops


def pairs(loops: ctypes.CDLL, nbytes: int) -> dict[str, tuple[Way, int]]:
    """Ways to get ``nbytes`` and give them back, and how often one round does it."""
    import aclnn_py as ap
    from aclnn_py._ffi import C, ffi

    out = ffi.new("void **")
    allocate = ap.Buffer.allocate
    ap.current_stream()
    allocate(nbytes).close()  # from here on every allocation is a hit

    def buffers(count: int) -> None:
        for _ in range(count):
            allocate(nbytes)

    def tensors(count: int) -> None:
        for _ in range(count):
            ap.empty((nbytes,), "uint8")

    def raw(count: int) -> None:
        for _ in range(count):
            C.aclrtMalloc(out, nbytes, 0)
            C.aclrtFree(out[0])

    def misses(count: int) -> None:
        for _ in range(count):
            ap.trim_memory()
            allocate(nbytes)

    return {
        "pool": (lambda count: loops.pool_pairs(count, nbytes), 20000),
        "malloc": (lambda count: loops.malloc_pairs(count, nbytes), 20000),
        "Buffer": (buffers, 1000),
        "empty": (tensors, 1000),
        "raw": (raw, 500),
        "miss": (misses, 100),
    }


def times(library_path: str, loops_folder: str, quick: bool, reply: Any) -> None:
    """In a process of its own: the times of all ways and sizes on one device."""
    if library_path:
        os.environ["ACLNN_PY_DEVICE"] = "npu"
        os.environ["ACLNN_PY_LIBRARY_PATH"] = library_path
    os.environ["ACLNN_PY_ALLOCATOR"] = "caching"
    loops = c_loops(Path(loops_folder))
    reply.send(
        {
            case: nanoseconds(pairs(loops, nbytes), 3 if quick else 9)
            for case, nbytes in SIZES.items()
        }
    )


def on_device(library_path: str, folder: str, quick: bool) -> dict[str, dict[str, float]]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=times, args=(library_path, folder, quick, theirs))
    process.start()
    theirs.close()
    found: dict[str, dict[str, float]] = ours.recv()
    process.join()
    return found


def replay(count: int) -> list[tuple[Any, int]]:
    """Replay the decoding trace; return the statistics after each step, and its raw allocations.

    Every block is released as the trace says while the stream still has work on it: the step ends
    with a synchronize, as reading the next token does.
    """
    import aclnn_py as ap

    stream = ap.current_stream()
    live: dict[int, ap.Buffer] = {}
    seen = []
    before = ap.memory_stats().raw_allocations
    for events in steps(count=count):
        for name, nbytes in events:
            if nbytes:
                live[name] = ap.Buffer.allocate(nbytes)
                if nbytes <= 1 << 20:
                    live[name].fill(0, stream=stream)
            else:
                live.pop(name).close()
        stream.synchronize()
        stats = ap.memory_stats()
        seen.append((stats, stats.raw_allocations - before))
        before = stats.raw_allocations
    return seen


def row(
    name: str,
    case: str,
    ours: float,
    unit: str,
    baseline: float | None = None,
    baseline_name: str = "",
    aim: str | None = None,
) -> dict[str, Any]:
    return {
        "name": name,
        "case": case,
        "ours": ours,
        "baseline": baseline,
        "baseline_name": baseline_name,
        "ratio": None if baseline is None else ours / baseline,
        "unit": unit,
        "aim": aim,
    }


def rows(quick: bool) -> list[dict[str, Any]]:
    """Return the rows of this module."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        null = Path(name) / "null"
        null.mkdir()
        build(null)
        for device, path in (("null device", str(null)), ("device", "")):
            for case, ns in on_device(path, name, quick).items():
                raw = f"raw aclrtMalloc/aclrtFree, {device}"
                if path:
                    # Neither depends on the device.
                    hit = ns["pool"]
                    found.append(row("hit in C", case, hit, "ns", ns["malloc"], "malloc/free"))
                    hit = ns["Buffer"]
                    found.append(row("hit, Buffer", case, hit, "ns", ns["malloc"], "malloc/free"))
                    found.append(row("hit, empty", case, ns["empty"], "ns"))
                found.append(row("hit, Buffer", case, ns["Buffer"], "ns", ns["raw"], raw))
                found.append(row("miss, Buffer", case, ns["miss"], "ns", ns["raw"], raw))
    os.environ["ACLNN_PY_ALLOCATOR"] = "caching"
    seen = replay(WARM + (50 if quick else 300))
    steady = seen[WARM:]
    case = f"{len(steady)} steps of a decoding loop"
    asked = sum(raw for _, raw in steady)
    found.append(row("raw device allocations", case, asked, "allocations", aim="<= 0.5"))
    worst = max(steady, key=lambda step: step[0].reserved_nbytes / step[0].allocated_peak_nbytes)[0]
    held, peak = worst.reserved_nbytes / 2**20, worst.allocated_peak_nbytes / 2**20
    found.append(row("reserved", case, held, "MiB", peak, "peak of what is in use", "<= 1.25"))
    worst = max(steady, key=lambda step: step[0].fragmentation)[0]
    case = f"largest in {len(steady)} steps"
    found.append(row("fragmentation of what is free", case, 100 * worst.fragmentation, "%"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    for one in rows(parser.parse_args().quick):
        ratio = "" if one["ratio"] is None else f"{one['ratio']:8.2f} x {one['baseline_name']}"
        print(f"{one['name']:30} {one['case']:32} {one['ours']:10.1f} {one['unit']:4} {ratio}")


if __name__ == "__main__":
    main()
