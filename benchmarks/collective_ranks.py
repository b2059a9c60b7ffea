# SPDX-License-Identifier: Apache-2.0
"""What one rank does in `benchmarks.collectives`: the emulator, MPI and memcpy in turns."""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "emulator"))

from hccl_ranks import Rank, join, root_info

FP32, SUM = 4, 0
Work = Callable[[], object]
# Seconds of every round, by what was called and the bytes of the whole buffer.
Times = dict[str, list[float]]


def emulator_calls(rank: Rank, nbytes: int) -> dict[str, Work]:
    """Each call with its wait, as an MPI call waits."""
    count = nbytes // 4
    send = rank.put(np.ones(count, np.float32))
    recv = rank.put(np.zeros(count, np.float32))
    part = count // rank.ranks
    calls = {
        "all_reduce": ("HcclAllReduce", send, recv, count, FP32, SUM),
        "all_gather": ("HcclAllGather", send, recv, part, FP32),
        "reduce_scatter": ("HcclReduceScatter", send, recv, part, FP32, SUM),
    }

    def work(call: tuple[Any, ...]) -> Work:
        def run() -> None:
            rank.call(*call)
            rank.sync()

        return run

    works = {name: work(call) for name, call in calls.items()}
    works["all_reduce"]()
    if not (rank.get(recv, count, np.float32) == rank.ranks).all():
        raise RuntimeError("the all-reduce of the emulator is wrong")
    return works


def mpi_calls(comm: Any, nbytes: int) -> dict[str, Work]:
    """The same with NumPy arrays; the sum also in place."""
    from mpi4py import MPI

    count = nbytes // 4
    send, recv = np.ones(count, np.float32), np.zeros(count, np.float32)
    part = np.ones(count // comm.size, np.float32)
    return {
        "MPI all_reduce": lambda: comm.Allreduce(send, recv),
        "MPI all_reduce in place": lambda: comm.Allreduce(MPI.IN_PLACE, recv),
        "MPI all_gather": lambda: comm.Allgather(part, recv),
        "MPI reduce_scatter": lambda: comm.Reduce_scatter_block(send, part),
    }


def memcpy_call(nbytes: int) -> Work:
    source, target = np.ones(nbytes, np.uint8), np.zeros(nbytes, np.uint8)
    addresses = target.ctypes.data, source.ctypes.data
    return lambda: (ctypes.memmove(*addresses, nbytes), source, target)


def measure(rank: Rank, sizes: list[int], seconds: float, comm: Any = None) -> dict[int, Times]:
    """Take turns until about `seconds` per size are over; the ranks begin every call together."""

    def meet() -> None:
        if comm is not None:
            comm.Barrier()
        else:
            rank.call("HcclBarrier")
            rank.sync()

    result: dict[int, Times] = {}
    for nbytes in sizes:
        works = emulator_calls(rank, nbytes)
        works["memcpy"] = memcpy_call(nbytes)
        if comm is not None:
            works |= mpi_calls(comm, nbytes)
        times: Times = {name: [] for name in works}
        # about a GB/s and 100 us a call, whatever happens: all ranks count alike
        estimate = len(works) * (1e-4 + nbytes / 1e9)
        rounds = int(max(6, min(400, seconds / estimate)))
        for number in range(rounds + 2):
            for name, work in works.items():
                meet()
                start = time.perf_counter()
                work()
                if number >= 2:  # the first ones touch the pages
                    times[name].append(time.perf_counter() - start)
        result[nbytes] = times
        del works
        rank.free()
    return result


def crowd(rank: Rank, rounds: int) -> tuple[float, float]:
    """Seconds of a small all-reduce and a barrier, and CPU seconds spent waiting for a second."""
    nbytes = 64 << 10
    send, recv = rank.put(np.ones(nbytes // 4, np.float32)), rank.empty(nbytes)

    def turn() -> None:
        rank.call("HcclAllReduce", send, recv, nbytes // 4, FP32, SUM)
        rank.call("HcclBarrier")
        rank.sync()

    for _ in range(10):
        turn()
    start = time.perf_counter()
    for _ in range(rounds):
        turn()
    taken = (time.perf_counter() - start) / rounds
    before = time.process_time()
    if rank.rank == 0:
        time.sleep(1.0)
    turn()
    return taken, time.process_time() - before


def together(answers: list[dict[int, Times]]) -> dict[int, Times]:
    """A call is over when its last rank is through."""
    return {
        nbytes: {
            name: [max(each) for each in zip(*(a[nbytes][name] for a in answers), strict=True)]
            for name in times
        }
        for nbytes, times in answers[0].items()
    }


def main() -> None:
    """A rank started by mpiexec; rank 0 writes the times of all as JSON to the file it is given."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    out, sizes, seconds = Path(sys.argv[1]), json.loads(sys.argv[2]), float(sys.argv[3])
    rank = Rank(comm.rank, comm.size)
    try:
        join(rank, comm.bcast(root_info() if comm.rank == 0 else b""))
        answers = comm.gather(measure(rank, sizes, seconds, comm))
        if answers is not None:
            out.write_text(json.dumps(together(answers)), encoding="utf-8")
    finally:
        rank.close()


if __name__ == "__main__":
    main()
