# SPDX-License-Identifier: Apache-2.0
"""Split a feed-forward layer over the ranks, with the communication inside the products.

Run:  aclnn-py run -n 2 samples/09_tensor_parallel_layer.py

The first weight is split by columns, the second by rows. There are two ways. If every rank keeps
all tokens, the second product is matmul_all_reduce. If each rank keeps its share of the tokens, the
first product is all_gather_matmul and the second is matmul_reduce_scatter. The sample compares both
ways with NumPy in float64. Last line of each rank: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap
from aclnn_py.distributed import (
    Communicator,
    all_gather_matmul,
    matmul_all_reduce,
    matmul_reduce_scatter,
)
from aclnn_py.functional import matmul, relu

TOKENS, HIDDEN, INNER = 64, 256, 1024


def main() -> int:
    rng = np.random.default_rng(0)  # the same numbers on every rank
    tokens = rng.standard_normal((TOKENS, HIDDEN)).astype(np.float16)
    w1 = (rng.standard_normal((HIDDEN, INNER)) / 16).astype(np.float16)
    w2 = (rng.standard_normal((INNER, HIDDEN)) / 32).astype(np.float16)
    bias = rng.standard_normal(HIDDEN).astype(np.float16)
    inner = np.maximum(tokens.astype(np.float64) @ w1.astype(np.float64), 0)
    expected = inner @ w2.astype(np.float64)

    with Communicator.from_env() as comm:
        rank, ranks = comm.rank, comm.world_size
        print(f"device {comm.device.index}: {comm.device.name}, rank {rank} of {ranks}")
        mine = slice(rank * INNER // ranks, (rank + 1) * INNER // ranks)
        column, row = ap.from_numpy(w1[:, mine].copy()), ap.from_numpy(w2[mine])

        # All tokens are on every rank. Each rank's bias is added, so only one rank passes it.
        added = ap.from_numpy(bias) if rank == 0 else None
        activation = relu(matmul(ap.from_numpy(tokens), column))
        whole = matmul_all_reduce(activation, row, comm, bias=added).numpy()

        # Each rank has its share of the tokens, before and after.
        share = slice(rank * TOKENS // ranks, (rank + 1) * TOKENS // ranks)
        part = ap.from_numpy(tokens[share])
        product, _ = all_gather_matmul(part, column, comm, gather_output=False)
        own = matmul_reduce_scatter(relu(product), row, comm).numpy()

        close = {"rtol": 2e-3, "atol": 2e-2}
        good = np.allclose(whole, expected + bias, **close) and np.allclose(
            own, expected[share], **close
        )
        print(
            f"all tokens {whole.shape}, largest error {np.abs(whole - expected - bias).max():.4f}"
        )
        print(f"own tokens {own.shape}, largest error {np.abs(own - expected[share]).max():.4f}")
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
