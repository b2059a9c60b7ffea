# SPDX-License-Identifier: Apache-2.0
"""Time the fused operators against NumPy doing the same mathematics: `python benchmarks/fused.py`.

Ranks are threads of this process, one device each, that share the processors; NumPy does what all
ranks do together, in float32 (int8 products in float32 too, which is exact here, since NumPy's
integer product is far slower). Rounds of both alternate, so that a busy machine slows both alike;
a ratio above 1 means that the operator was slower. Compare within one run only.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

Ratio = tuple[float, float]


def threads_of_numpy(count: int) -> None:
    """NumPy reads its number of threads when it is loaded; the emulator, when it starts."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS"):
        os.environ[name] = str(count)


def operands(kind: str, rank: int, m: int, k: int, n: int) -> dict[str, Any]:
    """Arrays of one rank."""
    import ml_dtypes
    import numpy as np

    from aclnn_py.functional import pack_scale

    rng = np.random.default_rng(rank)
    if kind == "int8":
        return {
            "x1": rng.integers(-128, 128, (m, k)).astype(np.int8),
            "x2": rng.integers(-128, 128, (k, n)).astype(np.int8),
            "scale": pack_scale(np.full(n, 2.0**-12)),
        }
    dtype = ml_dtypes.bfloat16 if kind == "bfloat16" else np.float16
    left, right = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    if kind == "int8 weight":
        scale = np.full(n, 2.0**-7).astype(dtype)
        weight = rng.integers(-128, 128, (k, n)).astype(np.int8)
        return {"x1": left.astype(dtype), "x2": weight, "scale": scale}
    return {"x1": left.astype(dtype), "x2": right.astype(dtype)}


def numpy_work(name: str, kind: str, everyone: list[dict[str, Any]]) -> Callable[[], Any]:
    """The same mathematics for all ranks, from and to the arrays' own dtypes."""
    import numpy as np

    wide = np.float32

    def product(arrays: dict[str, Any]) -> Any:
        left, right = arrays["x1"].astype(wide), arrays["x2"].astype(wide)
        if kind == "int8 weight":
            right = (right * arrays["scale"].astype(wide)).astype(arrays["x1"].dtype).astype(wide)
        if name == "grouped_mat_mul_all_reduce":
            groups = np.array_split(left, GROUPS)
            return np.concatenate([group @ arrays["x2"].astype(wide) for group in groups])
        result = left @ right
        return (result * wide(2.0**-12)).astype(np.float16) if kind == "int8" else result

    def run() -> Any:
        if name == "all_gather_matmul":
            left = np.concatenate([arrays["x1"] for arrays in everyone]).astype(wide)
            return [
                (left @ arrays["x2"].astype(wide)).astype(arrays["x1"].dtype) for arrays in everyone
            ]
        dtype = np.float16 if kind == "int8" else everyone[0]["x1"].dtype
        total = product(everyone[0]).astype(dtype)
        for arrays in everyone[1:]:
            total = (total.astype(wide) + product(arrays).astype(dtype).astype(wide)).astype(dtype)
        # every rank gets its share, or all of it
        return total if name == "matmul_reduce_scatter" else [total.copy() for _ in everyone]

    return run


def operator_work(name: str, kind: str, comm: Any, arrays: dict[str, Any]) -> Callable[[], None]:
    """One call and its wait on one rank."""
    import aclnn_py as ap
    from aclnn_py import distributed

    given = [ap.from_numpy(arrays[key]) for key in ("x1", "x2", "scale") if key in arrays]
    stream = comm.device.default_stream
    options: dict[str, Any] = {"stream": stream}
    operands: list[Any] = given
    if name == "grouped_mat_mul_all_reduce":
        rows = given[0].shape[0]
        ends = [rows * (i + 1) // GROUPS for i in range(GROUPS)]
        operands = [given[:1], given[1:] * GROUPS]
        options |= {"split_item": 3, "group_list": ends}
    function = getattr(distributed, name)

    def run() -> None:
        function(*operands, comm, **options)
        stream.synchronize()

    return run


def compare(name: str, kind: str, ranks: int, shape: tuple[int, int, int], rounds: int) -> Ratio:
    """Median seconds of the operator on all ranks and of NumPy."""
    from aclnn_py.distributed import Communicator

    everyone = [operands(kind, rank, *shape) for rank in range(ranks)]
    reference = numpy_work(name, kind, everyone)
    comms = Communicator.init_all(ranks)
    gate = threading.Barrier(ranks + 1)
    failures: list[BaseException] = []
    # Each rank looks at the clock itself: this thread may be woken long after the gate has opened.
    spans = [(0.0, 0.0)] * ranks

    def enter(comm: Any) -> None:
        try:
            with comm.device:
                run = operator_work(name, kind, comm, everyone[comm.rank])
                for _ in range(rounds + 1):
                    gate.wait()
                    start = time.perf_counter()
                    run()
                    spans[comm.rank] = start, time.perf_counter()
                    gate.wait()
        except BaseException as error:
            failures.append(error)
            gate.abort()

    threads = [threading.Thread(target=enter, args=(comm,)) for comm in comms]
    for thread in threads:
        thread.start()
    ours, theirs = [], []
    try:
        for _ in range(rounds + 1):
            gate.wait()
            gate.wait()
            ours.append(max(end for _, end in spans) - min(start for start, _ in spans))
            start = time.perf_counter()
            reference()
            theirs.append(time.perf_counter() - start)
    except threading.BrokenBarrierError:
        raise failures[0] from None
    finally:
        for thread in threads:
            thread.join()
        for comm in comms:
            comm.close()
    return statistics.median(ours[1:]), statistics.median(theirs[1:])  # the first one warms up


SHAPE = (512, 1024, 1024)
# The grouped operator gets its rows in as many groups, all with the same weight.
GROUPS = 8
CASES = [
    ("all_gather_matmul", "float16"),
    ("all_gather_matmul", "bfloat16"),
    ("matmul_reduce_scatter", "float16"),
    ("matmul_reduce_scatter", "bfloat16"),
    ("matmul_all_reduce", "float16"),
    ("matmul_all_reduce", "bfloat16"),
    ("grouped_mat_mul_all_reduce", "float16"),
    ("weight_quant_matmul_all_reduce", "int8 weight"),
    ("quant_matmul_all_reduce", "int8"),
]


def measured(
    ranks: int, threads: int, shape: tuple[int, int, int], rounds: int
) -> list[dict[str, object]]:
    """One row per operator and dtype. NumPy must not have been imported yet."""
    threads_of_numpy(threads)
    m, k, n = shape
    found: list[dict[str, object]] = []
    for name, kind in CASES:
        ours, theirs = compare(name, kind, ranks, shape, rounds)
        found.append(
            {
                "name": name,
                "case": f"{kind}, {ranks} ranks of ({m}, {k}) @ ({k}, {n}), {threads} threads",
                "ours": ours * 1e3,
                "baseline": theirs * 1e3,
                "baseline_name": "NumPy in float32",
                "ratio": ours / theirs,
                "unit": "ms",
                "aim": "<= 1",
            }
        )
    return found


def rows(quick: bool) -> list[dict[str, object]]:
    """The default problem on 2 ranks; a smaller one when quick."""
    os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")
    shape = (256, 512, 512) if quick else SHAPE
    return measured(2, os.cpu_count() or 1, shape, 5 if quick else 9)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shape", type=int, nargs=3, default=SHAPE, metavar="SIZE")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")
    print(f"{'operator':32} {'operands':56} {'ms':>8} {'NumPy ms':>9} {'ratio':>6}")
    for row in measured(options.ranks, options.threads, tuple(options.shape), options.rounds):
        print(
            f"{row['name']:32} {row['case']:56} {row['ours']:8.2f} {row['baseline']:9.2f} "
            f"{row['ratio']:6.2f}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
