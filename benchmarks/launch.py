# SPDX-License-Identifier: Apache-2.0
"""What one operator launch costs the host: `python benchmarks/launch.py`.

Operators on a device that does nothing, by each way to call them, in one process: `add` (three
tensors, one scalar), and others of 3, 10 and 44 arguments (fused attention, with the two that every
phase one has) and with two lists of 64 tensors. Rounds of all ways alternate, so that a busy
machine slows all of them alike; compare the ratios, not the times.

The last table is by the clock, with another Python thread that never pauses. Whoever releases the
interpreter's lock then waits for it as long as `sys.getswitchinterval()`: what counts is how often
a way to launch does that.
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
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHAPE = (4, 8)
REPLAYED = 64
ADD = "add: 3 tensors, 1 scalar"
PLAN = "plan(...).run()"
REPEATED = "repeatable plan, run()"
SEQUENCE = f"Sequence of {REPLAYED}, per launch"
GRAPH = f"Graph of {REPLAYED}, per launch"
CTYPES = "ctypes, argtypes, cached arrays"
CFFI = "raw cffi, cached arrays"
ATTENTION = "44 arguments"
BUSY = "beside a busy Python thread"
BUSY_ROUNDS = 11
AIMS = {"ops.add": "<= 9", REPEATED: "<= 4", SEQUENCE: "<= 1.5", GRAPH: "<= 1.5"}
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


def ways(loop_path: Path) -> dict[str, dict[str, Way]]:
    """By operator, every way to launch it as a function of the number of launches.

    The first way of an operator is the C loop.
    """
    import numpy as np

    import aclnn_py as ap

    x, y, out = (ap.empty(SHAPE, np.float32) for _ in range(3))
    addresses = [ctypes.c_void_p(t.address) for t in (x, y, out)]
    loops = ctypes.CDLL(str(loop_path))
    cases = {
        ADD: ("c_loop", ap.ops.add, (x, y, 1.0, out)),
        "3 arguments": ("c_loop_mul", ap.ops.mul, (x, y, out)),
        "10 arguments": ("c_loop_grad", ap.ops.add_layer_norm_grad, (x,) * 6 + (out,) * 4),
        ATTENTION: (
            "c_loop_attention",
            ap.ops.fused_infer_attention_score_v3,
            attention(x, y, out),
        ),
        "lists of 64": ("c_loop_list", ap.ops.foreach_sqrt, ([x] * 64, [out] * 64)),
    }
    found: dict[str, dict[str, Way]] = {}
    for case, (name, op, values) in cases.items():
        function = getattr(loops, name)
        function.argtypes = [ctypes.c_long] + [ctypes.c_void_p] * 4
        found[case] = {
            "C loop, linked": c_way(function, addresses),
            f"ops.{op.name}": call_way(op, values),
            **plan_ways(op, values),
            GRAPH: graph_way(op, values),
        }

    def functional(count: int) -> None:
        for _ in range(count):
            ap.functional.add(x, y)

    found[ADD]["functional.add, allocates"] = functional
    library = loop_path.parent / "libascendcl.so"
    found[ADD][CFFI] = cffi_way(library, [t.address for t in (x, y, out)])
    found[ADD][CTYPES] = ctypes_way(library, addresses)
    return found


def attention(x: Any, y: Any, out: Any) -> tuple[Any, ...]:
    """Arguments of fused attention without any of its options."""
    return (
        *(x, [y], [y], *[None] * 24),
        *(1, 1.0, 0, 0, "BSH", 1, 0, 0, 0, 0, False, 0, 0),
        *(out, out),
    )


def c_way(function: Any, addresses: list[ctypes.c_void_p]) -> Way:
    def way(count: int) -> None:
        if function(count, *addresses, None):
            raise RuntimeError("the null device refused a call")

    return way


def call_way(op: Any, values: tuple[Any, ...]) -> Way:
    """The public call, written out: unpacking a tuple would be part of the figure."""
    names = [f"v{i}" for i in range(len(values))]
    scope: dict[str, Any] = {"op": op, **dict(zip(names, values, strict=True))}
    body = f"def way(count):\n    for _ in range(count):\n        op({', '.join(names)})\n"
    exec(body, scope)
    way: Way = scope["way"]
    return way


def plan_ways(op: Any, values: tuple[Any, ...]) -> dict[str, Way]:
    """Plans made each time, a repeatable one, and a sequence of many of those."""
    import aclnn_py as ap

    step = ap.plan(op, *values, repeatable=True)
    sequence = ap.Sequence([ap.plan(op, *values, repeatable=True) for _ in range(REPLAYED)])

    def both_phases(count: int) -> None:
        for _ in range(count // 10):
            ap.plan(op, *values).run()

    def repeated(count: int) -> None:
        for _ in range(count):
            step.run()

    def replayed(count: int) -> None:
        for _ in range(count // REPLAYED):
            sequence.run()

    return {PLAN: both_phases, REPEATED: repeated, SEQUENCE: replayed}


def graph_way(op: Any, values: tuple[Any, ...]) -> Way:
    """One replay of a captured graph for many launches."""
    import aclnn_py as ap

    graph = ap.Graph()
    with graph.capture():
        for _ in range(REPLAYED):
            op(*values)

    def way(count: int) -> None:
        for _ in range(count // REPLAYED):
            graph.replay()

    return way


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


CDEF = """
void *aclCreateTensor(const int64_t *, uint64_t, int, const int64_t *, int64_t, int,
                      const int64_t *, uint64_t, void *);
void *aclCreateScalar(void *, int);
int aclDestroyTensor(void *);
int aclDestroyScalar(void *);
int aclnnAddGetWorkspaceSize(void *, void *, void *, void *, uint64_t *, void **);
int aclnnAdd(void *, uint64_t, void *, void *);
"""


def cffi_way(library: Path, places: list[int]) -> Way:
    """The same sequence through a cffi library opened at run time."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(CDEF)
    lib = ffi.dlopen(str(library))
    addresses = [ffi.cast("void *", place) for place in places]
    dims, strides = ffi.new("int64_t[]", SHAPE), ffi.new("int64_t[]", (SHAPE[1], 1))
    storage, alpha = ffi.new("int64_t[]", [32]), ffi.new("float *", 1.0)
    nbytes, executor = ffi.new("uint64_t *"), ffi.new("void **")
    create, scalar = lib.aclCreateTensor, lib.aclCreateScalar
    first, second = lib.aclnnAddGetWorkspaceSize, lib.aclnnAdd
    destroy_tensor, destroy_scalar, null = lib.aclDestroyTensor, lib.aclDestroyScalar, ffi.NULL

    def way(count: int) -> None:
        for _ in range(count):
            x, y, out = (create(dims, 2, 0, strides, 0, 2, storage, 1, a) for a in addresses)
            scale = scalar(alpha, 0)
            status = first(x, y, scale, out, nbytes, executor)
            status |= second(null, nbytes[0], executor[0], null)
            for tensor in (x, y, out):
                destroy_tensor(tensor)
            destroy_scalar(scale)
            if status:
                raise RuntimeError("the null device refused a call")

    return way


def measure_busy(candidates: dict[str, Way]) -> dict[str, float]:
    """Median time by the clock of one launch in ns while another thread computes."""
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            sum(range(100))

    # Each launch may wait for the switch interval, 5 ms, once or many times.
    counts = {"ops.add": 2000, REPEATED: 2000, SEQUENCE: 100 * REPLAYED, CFFI: 200, CTYPES: 200}
    found: dict[str, list[float]] = {name: [] for name in counts}
    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    try:
        for _ in range(BUSY_ROUNDS):
            for name, count in counts.items():
                started = time.perf_counter_ns()
                candidates[name](count)
                found[name].append((time.perf_counter_ns() - started) / count)
    finally:
        stop.set()
        thread.join()
    return {name: statistics.median(times) for name, times in found.items()}


def measure(candidates: dict[str, Way], rounds: int, launches: int) -> dict[str, float]:
    """Median thread CPU time per launch in ns."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for way in candidates.values():
        way(launches)
    for _ in range(rounds):
        for name, way in candidates.items():
            done = launches // 10 if name == PLAN else launches
            started = time.thread_time_ns()
            way(launches)
            times[name].append((time.thread_time_ns() - started) / done)
    return {name: statistics.median(samples) for name, samples in times.items()}


def measure_all(rounds: int, launches: int) -> dict[str, dict[str, float]]:
    """Every way of every operator on a null device of its own."""
    with tempfile.TemporaryDirectory() as name:
        loop = build(Path(name))
        os.environ["ACLNN_PY_DEVICE"] = "npu"
        os.environ["ACLNN_PY_LIBRARY_PATH"] = name
        found = {}
        for case, candidates in ways(loop).items():
            # Lists of 64 take as long as thirty adds.
            scale = 10 if case.startswith("lists") else 1
            found[case] = measure(candidates, rounds, launches // scale)
            if case == ADD:
                found[BUSY] = measure_busy(candidates)
        return found


def rows(quick: bool) -> list[dict[str, object]]:
    """Each way beside the C loop of its operator, and `ops.add` beside ctypes."""
    found: list[dict[str, object]] = []
    for case, times in measure_all(15 if quick else 41, 1280).items():
        if case == BUSY:
            found += [
                row(way, case, times[way], CTYPES, times[CTYPES], "")
                for way in times
                if way != CTYPES
            ]
            continue
        (floor_name, floor), *others = times.items()
        for way, nanoseconds in others:
            aim = AIMS.get(way, "") if case == ADD else ""
            found.append(row(way, case, nanoseconds, floor_name, floor, aim))
        if case == ADD:
            found.append(row(CTYPES, case, times[CTYPES], "ops.add", times["ops.add"], ">= 15"))
    return found


def row(
    name: str, case: str, ours: float, baseline_name: str, baseline: float, aim: str
) -> dict[str, object]:
    return {
        "name": name,
        "case": case,
        "ours": ours,
        "baseline": baseline,
        "baseline_name": baseline_name,
        "ratio": ours / baseline,
        "unit": "ns",
        "aim": aim,
    }


def main() -> int:
    """Print one table per operator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--launches", type=int, default=1280, help="launches per round")
    options = parser.parse_args()
    for case, times in measure_all(options.rounds, options.launches).items():
        floor = times[CTYPES] if case == BUSY else next(iter(times.values()))
        print(f"{case:34} {'ns':>8} {'x ctypes' if case == BUSY else 'x C loop':>9}")
        for way, nanoseconds in times.items():
            print(
                f"{way:34} {nanoseconds:8.0f} {nanoseconds / floor:9.{3 if case == BUSY else 1}f}"
            )
        if case == ADD:
            print(f"{'ctypes / ops.add':34} {times[CTYPES] / times['ops.add']:18.1f}")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
