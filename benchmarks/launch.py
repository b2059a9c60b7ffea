# SPDX-License-Identifier: Apache-2.0
"""What one operator launch costs the host: `python benchmarks/launch.py`.

One add (three tensors, one scalar) on a device that does nothing, by each way to call it, in one
process. Rounds of all ways alternate, so that a busy machine slows all of them alike; compare the
ratios, not the times.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHAPE = (4, 8)
GRAPH_LAUNCHES = 64
Way = Callable[[int], None]


def build(folder: Path) -> Path:
    """Compile the null device under CANN's names, and the C loop linked to it."""
    import aclnn_py

    compiler = shlex.split(os.environ.get("CC", "")) or [
        shutil.which("gcc") or shutil.which("cc") or "clang"
    ]
    headers = Path(aclnn_py.__file__).parent / "include"
    flags = ["-O2", "-fPIC", "-shared", "-w", f"-I{headers}"]
    null = folder / "libascendcl.so"
    run(
        [
            *compiler,
            *flags,
            str(HERE / "null_device.c"),
            "-Wl,-soname,libascendcl.so",
            "-o",
            str(null),
        ]
    )
    for name in ("libnnopbase.so", "libopapi.so"):
        (folder / name).symlink_to(null.name)
    loop = folder / "libc_loop.so"
    link = [f"-L{folder}", "-lascendcl", "-Wl,-rpath,$ORIGIN"]
    run([*compiler, *flags, str(HERE / "c_loop.c"), *link, "-o", str(loop)])
    return loop


def run(command: list[str]) -> None:
    """Run a compiler; its complaints go to the user."""
    subprocess.run(command, check=True)


def ways(loop_path: Path) -> dict[str, Way]:
    """Every way to launch the add, each as a function of the number of launches."""
    import numpy as np

    import aclnn_py as ap

    x, y, out = (ap.empty(SHAPE, np.float32) for _ in range(3))
    loop = ctypes.CDLL(str(loop_path)).c_loop
    loop.argtypes = [ctypes.c_long] + [ctypes.c_void_p] * 4
    addresses = [ctypes.c_void_p(t.address) for t in (x, y, out)]
    add = ap.ops.add
    step = ap.plan(add, x, y, 1.0, out, repeatable=True)

    def c_loop(count: int) -> None:
        if loop(count, *addresses, None):
            raise RuntimeError("the null device refused a call")

    def public(count: int) -> None:
        for _ in range(count):
            add(x, y, 1.0, out)

    def both_phases(count: int) -> None:
        for _ in range(count):
            ap.plan(add, x, y, 1.0, out).run()

    graph = ap.Graph()
    with graph.capture():
        public(GRAPH_LAUNCHES)

    def replayed(count: int) -> None:
        for _ in range(-(-count // GRAPH_LAUNCHES)):
            graph.replay()

    def repeated(count: int) -> None:
        for _ in range(count):
            step.run()

    return {
        "C loop, linked": c_loop,
        "ops.add": public,
        "plan(ops.add, ...).run()": both_phases,
        "repeatable plan, run()": repeated,
        f"Graph of {GRAPH_LAUNCHES} launches, replay(), for each": replayed,
        "ctypes, argtypes, cached arrays": ctypes_way(
            loop_path.parent / "libascendcl.so", addresses
        ),
    }


def ctypes_way(library: Path, addresses: list[ctypes.c_void_p]) -> Way:
    """The same sequence through ctypes, as fast as plain ctypes gets."""
    lib = ctypes.CDLL(str(library))
    pointer, int64, uint64 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64
    dims, strides, storage = (int64 * 2)(*SHAPE), (int64 * 2)(SHAPE[1], 1), (int64 * 1)(32)
    create = lib.aclCreateTensor
    create.argtypes = [
        pointer,
        uint64,
        ctypes.c_int,
        pointer,
        int64,
        ctypes.c_int,
        pointer,
        uint64,
        pointer,
    ]
    create.restype = pointer
    scalar = lib.aclCreateScalar
    scalar.argtypes, scalar.restype = [pointer, ctypes.c_int], pointer
    first, second = lib.aclnnAddGetWorkspaceSize, lib.aclnnAdd
    first.argtypes = [pointer] * 4 + [ctypes.POINTER(uint64), ctypes.POINTER(pointer)]
    second.argtypes = [pointer, uint64, pointer, pointer]
    destroy_tensor, destroy_scalar = lib.aclDestroyTensor, lib.aclDestroyScalar
    destroy_tensor.argtypes = destroy_scalar.argtypes = [pointer]
    alpha, nbytes, executor = ctypes.c_float(1.0), uint64(), pointer()

    def way(count: int) -> None:
        for _ in range(count):
            tensors = [create(dims, 2, 0, strides, 0, 2, storage, 1, a) for a in addresses]
            scale = scalar(ctypes.byref(alpha), 0)
            status = first(
                tensors[0],
                tensors[1],
                scale,
                tensors[2],
                ctypes.byref(nbytes),
                ctypes.byref(executor),
            )
            status |= second(None, nbytes.value, executor, None)
            for tensor in tensors:
                destroy_tensor(tensor)
            destroy_scalar(scale)
            if status:
                raise RuntimeError("the null device refused a call")

    return way


def measure(candidates: dict[str, Way], rounds: int, launches: int) -> dict[str, float]:
    """Median thread CPU time per launch in ns."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for way in candidates.values():
        way(launches)
    for _ in range(rounds):
        for name, way in candidates.items():
            started = time.thread_time_ns()
            way(launches)
            times[name].append((time.thread_time_ns() - started) / launches)
    return {name: statistics.median(samples) for name, samples in times.items()}


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--launches", type=int, default=2000, help="launches per round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        loop = build(Path(name))
        os.environ["ACLNN_PY_DEVICE"] = "npu"
        os.environ["ACLNN_PY_LIBRARY_PATH"] = name
        found = measure(ways(loop), options.rounds, options.launches)
    floor = found["C loop, linked"]
    slowest = found["ctypes, argtypes, cached arrays"]
    print(f"{'one add: 3 tensors, 1 scalar':34} {'ns':>8} {'x C loop':>9} {'ctypes / this':>14}")
    for way, nanoseconds in found.items():
        print(
            f"{way:34} {nanoseconds:8.0f} {nanoseconds / floor:9.1f} {slowest / nanoseconds:14.1f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
