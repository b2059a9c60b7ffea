# SPDX-License-Identifier: Apache-2.0
"""The peak of device memory stays within inputs, results and the reported workspace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.ranks import run_ranks

pytestmark = pytest.mark.emulator_only(reason="the emulator counts the peak of each device")

BLOCK = 512 + 512  # what a block may take beyond its bytes: its length and its start are aligned
ARENA = 2 << 20  # the workspace arena of a stream grows by this much
# The device's own counters see single blocks only when each of them is asked from the device.
DIRECT = {"ACLNN_PY_ALLOCATOR": "direct"}
EXPERTS, ROWS, K, N = 64, 16, 128, 192


def usage(index: int) -> tuple[int, int]:
    """Bytes in use now, and the most there ever were in this process."""
    from aclnn_py._ffi import C, ffi

    info, count = ffi.new("aclrtMemUsageInfo *"), ffi.new("size_t *")
    assert C.aclrtGetMemUsageInfo(index, info, 1, count) == 0
    assert count[0] == 1
    return int(info.curMemSize), int(info.memPeakSize)


def limit(tensors: Sequence[Any], workspace: int) -> int:
    """What tensors and a workspace may take of a device."""
    arena = -(-workspace // ARENA) * ARENA + BLOCK if workspace else 0
    return arena + sum(tensor.nbytes + BLOCK for tensor in tensors)


def measure(
    device: Any, inputs: Callable[[], list[Any]], call: Callable[[list[Any]], tuple[list[Any], int]]
) -> dict[str, int]:
    """Bytes above what the device held before: of the inputs, at the peak, and the bound of both.

    ``call`` returns the results and the workspace that phase one reported.
    """
    before, _ = usage(device.index)
    given = inputs()
    held, peak_of_inputs = usage(device.index)
    results, workspace = call(given)
    device.synchronize()
    _, peak = usage(device.index)
    return {
        "before": before,
        "inputs": held - before,
        "earlier": peak_of_inputs - before,
        "peak": peak - before,
        "results": sum(tensor.nbytes for tensor in results),
        "bound": limit([*given, *results], workspace),
    }


def check(seen: dict[str, int]) -> None:
    # Nothing before the call reached higher: what is found at the end is the call's own peak.
    assert seen["earlier"] == seen["inputs"], seen
    assert seen["inputs"] + seen["results"] <= seen["peak"] <= seen["bound"], seen


def grouped(rank: int, ranks: int, kind: str) -> dict[str, int]:
    """One product of 64 experts in a process of its own."""
    import aclnn_py as ap

    rng = np.random.default_rng(0)

    def inputs() -> list[Any]:
        x = rng.integers(-2, 3, (EXPERTS * ROWS, K)).astype(np.float16)
        weight = rng.integers(-8, 8, (EXPERTS, K, N))
        dtype = {"float16": np.float16, "int8": np.int8, "int4": ml_dtypes.int4}[kind]
        arrays = [x, np.arange(1, EXPERTS + 1) * ROWS, weight.astype(np.int8).astype(dtype)]
        if kind != "float16":
            arrays += [np.full((EXPERTS, N), value, np.float16) for value in (0.5, 1)]
        return [ap.from_numpy(array) for array in arrays]

    def call(given: list[Any]) -> tuple[list[Any], int]:
        x, ends, weight, *antiquant = given
        lists = [[tensor] for tensor in antiquant] or [None, None]
        out = ap.empty((EXPERTS * ROWS, N), np.float16)
        head = ([x], [weight], None, None, None, *lists, None, ends, None, None, None)
        arguments = (*head, 3, 0, 0, 0, [out], None, None)
        with ap.plan(ap.ops.grouped_matmul_v4, *arguments) as step:
            workspace = step.workspace_nbytes
        ap.ops.grouped_matmul_v4(*arguments)
        return [out], workspace

    with ap.Device(0) as device:
        return measure(device, inputs, call)


@pytest.mark.parametrize("kind", ["float16", "int8", "int4"])
def test_grouped_product_of_64_experts(kind: str) -> None:
    (seen,) = run_ranks(1, grouped, kind, env=DIRECT)
    check(seen)


def gathered(rank: int, ranks: int) -> list[dict[str, int]]:
    """Two ranks as threads of one process that does nothing else."""
    import aclnn_py as ap
    from aclnn_py.distributed import Communicator

    m, k, n = 256, 512, 384
    comms = Communicator.init_all(2)
    gate = threading.Barrier(2, timeout=60)
    seen: dict[int, dict[str, int]] = {}

    def inputs() -> list[Any]:
        shapes = [(m, k), (k, n)]
        return [ap.from_numpy(np.ones(shape, np.float16)) for shape in shapes]

    def work(comm: Communicator) -> None:
        def call(given: list[Any]) -> tuple[list[Any], int]:
            outs = [ap.empty(shape, np.float16) for shape in ((2 * m, n), (2 * m, k))]
            arguments = (*given, None, comm.name, 0, 0, 1, *outs)
            with ap.plan(ap.ops.all_gather_matmul, *arguments) as step:
                workspace = step.workspace_nbytes
            assert workspace > 0
            ap.ops.all_gather_matmul(*arguments)
            return outs, workspace

        with comm.device, comm.device.create_stream():
            gate.wait()
            seen[comm.rank] = measure(comm.device, inputs, call)
            gate.wait()

    threads = [threading.Thread(target=work, args=(comm,), daemon=True) for comm in comms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    for comm in comms:
        comm.close()
    return [seen[index] for index in range(2)]


def test_all_gather_matmul() -> None:
    (everyone,) = run_ranks(1, gathered, env=DIRECT)
    for seen in everyone:
        check(seen)
