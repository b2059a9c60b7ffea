# SPDX-License-Identifier: Apache-2.0
"""Reductions over ranks against NumPy, over ranks that are threads."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.rank_data import dtype_name, rank_data

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator
from aclnn_py.errors import HcclError, NotSupportedError

REDUCED = [
    np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, ml_dtypes.bfloat16,
]  # fmt: skip


OPERATIONS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("dtype", REDUCED, ids=dtype_name)
def test_all_reduce_combines_every_dtype(run_threads: Any, dtype: Any, op: str) -> None:
    if op == "prod" and dtype in (np.int16, ml_dtypes.bfloat16):

        def refused(comm: Communicator) -> None:
            with pytest.raises(HcclError) as caught:
                dist.all_reduce(ap.from_numpy(rank_data(0, (3,), dtype)), op)
            assert isinstance(caught.value, NotSupportedError)
            assert caught.value.rank == comm.rank

        run_threads(2, refused)
        return

    def work(comm: Communicator) -> Any:
        x = ap.from_numpy(rank_data(comm.rank, (3, 5), dtype))
        dist.all_reduce(x, op)
        return x.numpy()

    everyone = np.stack([rank_data(rank, (3, 5), dtype) for rank in range(3)]).astype(np.float64)
    expected = OPERATIONS[op](everyone, axis=0)
    for out in run_threads(3, work):
        np.testing.assert_array_equal(out.astype(np.float64), expected)


def test_all_reduce_into_another_tensor_leaves_the_operand(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x = ap.from_numpy(np.full(4, comm.rank + 1.0, np.float32))
        out = ap.empty((2, 2), np.float32)
        dist.all_reduce(x, output=out)
        return x.numpy().tolist(), out.numpy().tolist()

    for rank, (x, out) in enumerate(run_threads(2, work)):
        assert x == [rank + 1.0] * 4
        assert out == [[3.0, 3.0], [3.0, 3.0]]


def test_a_dtype_hccl_cannot_reduce_is_named(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        with pytest.raises(TypeError, match="complex64"):
            dist.all_reduce(ap.from_numpy(np.ones(2, np.complex64)))
        with pytest.raises(ValueError, match="mean"):
            dist.all_reduce(ap.from_numpy(np.ones(2, np.float32)), "mean")

    run_threads(2, work)


def test_reduce_gives_the_result_to_one_rank(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x = ap.from_numpy(rank_data(comm.rank, (6,), np.int32))
        dist.reduce(x, 1, "max")
        return x.numpy()

    expected = np.max([rank_data(rank, (6,), np.int32) for rank in range(3)], axis=0)
    np.testing.assert_array_equal(run_threads(3, work)[1], expected)


@pytest.mark.parametrize("op", ["sum", "min"])
def test_reduce_scatter_gives_each_rank_its_part(run_threads: Any, op: str) -> None:
    def work(comm: Communicator) -> Any:
        out = ap.empty((2, 3), np.float32)
        dist.reduce_scatter_tensor(out, ap.from_numpy(rank_data(comm.rank, (8, 3), np.float32)), op)
        return out.numpy()

    whole = OPERATIONS[op](np.stack([rank_data(r, (8, 3), np.float32) for r in range(4)]), axis=0)
    for rank, out in enumerate(run_threads(4, work)):
        np.testing.assert_array_equal(out, whole[2 * rank : 2 * rank + 2])


def test_reduce_scatter_size_is_checked(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        with pytest.raises(ValueError, match="world size 2"):
            dist.reduce_scatter_tensor(ap.empty((3,), np.float32), ap.empty((5,), np.float32))

    run_threads(2, work)
