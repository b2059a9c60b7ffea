# SPDX-License-Identifier: Apache-2.0
"""Gather tensors over ranks that are threads of one process.

Run:  python samples/06_all_gather.py

Communicator.init_all makes one communicator per device; each belongs to one thread. The shape of
the output tensor decides whether the gathered tensors are concatenated or stacked.
Last line: "ok".
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import aclnn_py as ap
from aclnn_py.distributed import Communicator, all_gather_into_tensor

RANKS = 2


def work(comm: Communicator) -> tuple[np.ndarray, np.ndarray]:
    with comm, comm.device:
        mine = ap.from_numpy(np.array([[1, 2, 3], [4, 5, 6]], np.int64) + 6 * comm.rank)
        joined = ap.empty((2 * RANKS, 3), np.int64)
        stacked = ap.empty((RANKS, 2, 3), np.int64)
        all_gather_into_tensor(joined, mine, comm)
        all_gather_into_tensor(stacked, mine, comm)
        return joined.numpy(), stacked.numpy()


def main() -> int:
    print(f"{RANKS} of {ap.device_count()} devices: {ap.Device(0).name}")
    with ThreadPoolExecutor(RANKS) as pool:
        results = list(pool.map(work, Communicator.init_all(RANKS)))

    expected = np.arange(1, 6 * RANKS + 1)
    print(results[0][0])
    good = all(
        np.array_equal(joined, expected.reshape(-1, 3))
        and np.array_equal(stacked, expected.reshape(RANKS, 2, 3))
        for joined, stacked in results
    )
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
