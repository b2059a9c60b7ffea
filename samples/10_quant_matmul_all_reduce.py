# SPDX-License-Identifier: Apache-2.0
"""Multiply in int8, dequantise, and sum over the ranks.

Run:  aclnn-py run -n 2 samples/10_quant_matmul_all_reduce.py

The host quantises activations per token and weights per channel. The same product runs three
times: with one scale for the tensor in packed 64-bit form, with a weight in FRACTAL_NZ, and with
one factor per token. The sample compares each with NumPy. Last line of each rank: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap
from aclnn_py.distributed import Communicator, quant_matmul_all_reduce
from aclnn_py.functional import trans_matmul_weight, trans_quant_param, unpack_scale

M, K, N = 32, 512, 128


def quantise(values: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return int8 values and the float32 factor of each row or column."""
    scale = (np.abs(values).max(axis=axis, keepdims=True) / 127).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale.ravel()


def operands(rank: int) -> tuple[np.ndarray, ...]:
    """Return what one rank holds: its columns of the activations and its rows of the weight."""
    rng = np.random.default_rng(rank)
    x1, per_token = quantise(rng.standard_normal((M, K)), axis=1)
    x2, per_channel = quantise(rng.standard_normal((K, N)) / 16, axis=0)
    return x1, per_token, x2, per_channel


def main() -> int:
    with Communicator.from_env() as comm:
        print(
            f"device {comm.device.index}: {comm.device.name}, rank {comm.rank} of {comm.world_size}"
        )
        everyone = [operands(rank) for rank in range(comm.world_size)]
        x1, per_token, x2, per_channel = everyone[comm.rank]
        left, right = ap.from_numpy(x1), ap.from_numpy(x2)

        # One factor for the whole tensor. Packing keeps the upper 19 bits of the float32.
        packed = trans_quant_param(ap.from_numpy(np.array([1 / 4096], np.float32)))
        coarse = quant_matmul_all_reduce(left, right, packed, comm).numpy()
        (factor,) = unpack_scale(packed.numpy())[0]

        # One factor per channel and per token; the weight has the layout of the matrix units.
        blocked = trans_matmul_weight(right)
        fine = quant_matmul_all_reduce(
            left,
            blocked,
            ap.from_numpy(per_channel),
            comm,
            pertoken_scale=ap.from_numpy(per_token),
        ).numpy()

        sums = [a.astype(np.int64) @ b.astype(np.int64) for a, _, b, _ in everyone]
        wanted = sum(s * np.float64(factor) for s in sums)
        exact = sum(
            s * channel.astype(np.float64) * token.astype(np.float64)[:, None]
            for s, (_, token, _, channel) in zip(sums, everyone, strict=True)
        )
        good = np.allclose(coarse, wanted, rtol=2e-3, atol=0.1)
        good = good and np.allclose(fine, exact, rtol=2e-3, atol=2e-3)
        print(f"per tensor {coarse.dtype}, largest error {np.abs(coarse - wanted).max():.4f}")
        print(f"per token in {blocked.format.name}, error {np.abs(fine - exact).max():.6f}")
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
