# SPDX-License-Identifier: Apache-2.0
"""weight_quant_matmul_all_reduce: examples exactly, random shapes against the staged oracle."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.staging import all_reduced, contribution, weight_of

import aclnn_py as ap
from aclnn_py.distributed import Communicator, weight_quant_matmul_all_reduce
from aclnn_py.functional import trans_matmul_weight

FLOATS = [np.float16, ml_dtypes.bfloat16]
IDS = ["float16", "bfloat16"]
F16 = np.float16


@pytest.mark.parametrize("narrow", [np.int8, ml_dtypes.int4], ids=["int8", "int4"])
@pytest.mark.parametrize(("bias", "expected"), [(None, [[11, -4.5]]), ([1, 1], [[13, -2.5]])])
def test_example_wq_1(run_threads: Any, bias: Any, expected: Any, narrow: Any) -> None:
    x1 = [np.array([[1, 2, 3, 4]], F16), np.array([[2, 0, -1, 1]], F16)]
    x2 = [[[1, -2], [3, 4], [-5, 6], [7, -8]], [[0, 1], [2, 3], [4, -5], [-6, 7]]]

    def work(comm: Communicator) -> Any:
        return weight_quant_matmul_all_reduce(
            ap.from_numpy(x1[comm.rank]),
            ap.from_numpy(np.array(x2[comm.rank], np.int8).astype(narrow)),
            ap.from_numpy(np.array([0.5, 0.25], F16)),
            comm,
            2,
            antiquant_offset=ap.from_numpy(np.array([1, -2], F16)),
            bias=None if bias is None else ap.from_numpy(np.array(bias, F16)),
        ).numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, expected)


def test_example_wq_2_a_scale_per_group(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        return weight_quant_matmul_all_reduce(
            ap.from_numpy(np.ones((1, 64), F16)),
            ap.from_numpy(np.ones((64, 2), np.int8)),
            ap.from_numpy(np.array([[1, 2], [0.5, 4]], F16)),
            comm,
            antiquant_offset=ap.from_numpy(np.array([[0, 1], [1, -1]], F16)),
            antiquant_group_size=32,
        ).numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [[128, 256]])


def test_example_wq_3_the_weight_is_rounded(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        return weight_quant_matmul_all_reduce(
            ap.from_numpy(np.array([[10]], F16)),
            ap.from_numpy(np.array([[127]], np.int8)),
            ap.from_numpy(np.array([0.1], F16)),
            comm,
        ).numpy()

    for output in run_threads(1, work):
        np.testing.assert_array_equal(output, [[126.9375]])


@pytest.mark.parametrize("dtype", FLOATS, ids=IDS)
@pytest.mark.parametrize("narrow", [np.int8, ml_dtypes.int4], ids=["int8", "int4"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_random_shapes(run_threads: Any, ranks: int, narrow: Any, dtype: Any) -> None:
    rng = np.random.default_rng(20 + ranks)
    for per in ("tensor", "channel", "row", "group"):
        m, k, n = int(rng.integers(1, 9)), int(rng.integers(70, 200)), int(rng.integers(2, 40))
        size = 32 if per == "group" else 0
        shape = {"tensor": (1,), "channel": (n,), "row": (1, n), "group": (-(-k // 32), n)}[per]

        def of(r: int, m: int = m, k: int = k, n: int = n, shape: Any = shape) -> dict[str, Any]:
            mine = np.random.default_rng(r)
            return {
                "x1": mine.integers(-2, 3, (m, k)).astype(np.float32).astype(dtype),
                "x2": mine.integers(-8, 8, (k, n)).astype(np.int8).astype(narrow),
                # powers of two, so that sums are exact in every order
                "scale": np.exp2(mine.integers(-2, 2, shape)).astype(dtype),
                "offset": mine.integers(-2, 3, shape).astype(np.float32).astype(dtype),
                "bias": mine.integers(-4, 5, (n,)).astype(np.float32).astype(dtype),
                "x3": mine.integers(-4, 5, (m, n)).astype(np.float32).astype(dtype),
            }

        def work(comm: Communicator, of: Any = of, size: int = size) -> Any:
            t = {name: ap.from_numpy(value) for name, value in of(comm.rank).items()}
            return weight_quant_matmul_all_reduce(
                t["x1"],
                t["x2"],
                t["scale"],
                comm,
                antiquant_offset=t["offset"],
                antiquant_group_size=size,
                bias=t["bias"],
                x3=t["x3"],
            ).numpy()

        parts = []
        for r in range(ranks):
            v = of(r)
            weight = weight_of(v["x2"], v["scale"], dtype, v["offset"], size)
            parts.append(contribution(v["x1"], weight, dtype, v["bias"], v["x3"]))
        expected = all_reduced(parts, dtype)
        for output in run_threads(ranks, work):
            np.testing.assert_array_equal(output.view(np.uint16), expected.view(np.uint16), per)


@pytest.mark.parametrize("how", ["FRACTAL_NZ", "from the operator", "transposed", "int4 blocks"])
def test_layouts_of_the_weight(run_threads: Any, how: str) -> None:
    k, n = 70, 45
    rng = np.random.default_rng(5)
    x1 = rng.integers(-2, 3, (2, 3, k)).astype(F16)
    x2 = rng.integers(-8, 8, (k, n)).astype(np.int8)
    scale = np.exp2(rng.integers(-2, 2, n)).astype(F16)

    def work(comm: Communicator) -> Any:
        if how == "FRACTAL_NZ":
            weight = ap.from_numpy(x2, format="FRACTAL_NZ")
        elif how == "from the operator":
            weight = trans_matmul_weight(ap.from_numpy(x2))
        elif how == "transposed":
            weight = ap.from_numpy(x2.T.copy()).T
        else:
            weight = ap.from_numpy(x2.astype(ml_dtypes.int4), format="FRACTAL_NZ")
        return weight_quant_matmul_all_reduce(
            ap.from_numpy(x1), weight, ap.from_numpy(scale), comm
        ).numpy()

    part = contribution(x1, weight_of(x2, scale, F16), F16)
    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, all_reduced([part, part], F16))


def test_without_columns_only_the_bias_remains(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        weight = ap.empty((4, 3), np.int8)[:0]
        return weight_quant_matmul_all_reduce(
            ap.empty((2, 0), F16),
            weight,
            ap.from_numpy(np.ones(1, F16)),
            comm,
            bias=ap.from_numpy(np.array([1, 2, 3], F16)),
        ).numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [[2, 4, 6]] * 2)
