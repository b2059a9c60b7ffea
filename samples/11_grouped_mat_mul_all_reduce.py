# SPDX-License-Identifier: Apache-2.0
"""Multiply each group of rows by its own weight and sum over the ranks, in four ways.

Run:  aclnn-py run -n 2 samples/11_grouped_mat_mul_all_reduce.py

split_item 0 takes and returns one tensor per group, 1 splits one x by group_list, 2 stacks the
groups in one y, 3 does both. The sample compares the results with NumPy in float64. Last line of
each rank: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap
from aclnn_py.distributed import Communicator, grouped_mat_mul_all_reduce

ROWS, K, N = [8, 0, 24], 256, 64


def operands(rank: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(rank)
    x = [rng.standard_normal((m, K)).astype(np.float16) for m in ROWS]
    return x, [(rng.standard_normal((K, N)) / 16).astype(np.float16) for _ in ROWS]


def main() -> int:
    with Communicator.from_env() as comm:
        print(
            f"device {comm.device.index}: {comm.device.name}, rank {comm.rank} of {comm.world_size}"
        )
        x, w = operands(comm.rank)
        weight = [ap.from_numpy(value) for value in w]
        # The bias of every rank is added, so each of R ranks passes 1/R of it.
        bias = [ap.from_numpy(np.full(N, 1 / comm.world_size, np.float16)) for _ in w]
        apart = [ap.from_numpy(value) for value in x if len(value)]
        joined = [ap.from_numpy(np.concatenate(x))]
        filled = [i for i, m in enumerate(ROWS) if m]
        ends = [int(end) for end in np.cumsum(ROWS)]

        def run(xs: list[ap.Tensor], split_item: int, cut: bool) -> np.ndarray:
            chosen = range(len(ROWS)) if cut else filled
            y = grouped_mat_mul_all_reduce(
                xs,
                [weight[i] for i in chosen],
                comm,
                bias=[bias[i] for i in chosen],
                group_list=ends if cut else None,
                split_item=split_item,
            )
            print(f"split_item {split_item}: {[value.shape for value in y]}")
            return np.concatenate([value.numpy() for value in y])

        results = [
            run(apart, 0, False), run(joined, 1, True), run(apart, 2, False), run(joined, 3, True),
        ]  # fmt: skip

        expected = np.ones((sum(ROWS), N))
        for rank in range(comm.world_size):
            pairs = zip(*operands(rank), strict=True)
            expected += np.concatenate(
                [a.astype(np.float64) @ b.astype(np.float64) for a, b in pairs]
            )
        good = all(np.allclose(result, expected, rtol=2e-3, atol=2e-2) for result in results)
        print(f"largest error {max(np.abs(result - expected).max() for result in results):.4f}")
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
