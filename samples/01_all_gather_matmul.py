# SPDX-License-Identifier: Apache-2.0
"""Gather a matrix over all ranks and multiply it, in one operator.

Run:  aclnn-py run -n 2 samples/01_all_gather_matmul.py

Every rank holds one block of rows of the left matrix, and its own right matrix.
aclnnAllGatherMatmul gathers the blocks through HCCL while it multiplies. The sample compares the
result with NumPy in float64. Last line of each rank: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap
from aclnn_py.distributed import Communicator, all_gather_matmul

M, K, N = 128, 256, 512


def left(rank: int) -> np.ndarray:
    """The rows that one rank contributes; any rank can compute those of the others."""
    return np.random.default_rng(rank).standard_normal((M, K)).astype(np.float16)


def main() -> int:
    with Communicator.from_env() as comm:
        x1 = left(comm.rank)
        x2 = np.random.default_rng(100 + comm.rank).standard_normal((K, N)).astype(np.float16)

        output, gathered = all_gather_matmul(ap.from_numpy(x1), ap.from_numpy(x2), comm)

        everyone = np.concatenate([left(rank) for rank in range(comm.world_size)])
        expected = everyone.astype(np.float64) @ x2.astype(np.float64)
        error = np.abs(output.numpy() - expected).max()
        print(
            f"device {comm.device.index}: {comm.device.name}, rank {comm.rank} of {comm.world_size}"
        )
        print(f"{x1.shape} gathered to {gathered.shape}, times {x2.shape} gives {output.shape}")
        print(f"largest error {error:.4f} for values up to {np.abs(expected).max():.1f}")

        same = np.array_equal(gathered.numpy(), everyone)
        # Sums are kept in float32. The error is one rounding to float16, half a unit in the last of
        # 11 bits, and a little from the order of additions.
        close = np.allclose(output.numpy(), expected, rtol=2**-11, atol=1e-3)
    print("ok" if same and close else "WRONG")
    return 0 if same and close else 1


if __name__ == "__main__":
    sys.exit(main())
