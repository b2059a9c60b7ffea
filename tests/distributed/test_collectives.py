# SPDX-License-Identifier: Apache-2.0
"""Collectives that move data against NumPy, over ranks that are threads."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.rank_data import dtype_name, rank_data

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator
from aclnn_py.errors import DeviceMismatchError

MOVED = [
    np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16,
    np.float32, np.float64, ml_dtypes.bfloat16, np.bool_, np.complex64, ml_dtypes.float8_e4m3fn,
]  # fmt: skip


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2), (2, 2, 3), (12,)], ids=str)
def test_all_gather_into_tensor_fills_any_shape_in_rank_order(
    run_threads: Any, shape: tuple[int, ...]
) -> None:
    def work(comm: Communicator) -> Any:
        mine = np.array([[1, 2, 3], [4, 5, 6]], np.int64) + 6 * comm.rank
        out = ap.empty(shape, np.int64)
        dist.all_gather_into_tensor(out, ap.from_numpy(mine))
        return out.numpy()

    for out in run_threads(2, work):
        np.testing.assert_array_equal(out, np.arange(1, 13).reshape(shape))


@pytest.mark.parametrize("dtype", MOVED, ids=dtype_name)
def test_all_gather_moves_every_dtype(run_threads: Any, dtype: Any) -> None:
    def work(comm: Communicator) -> Any:
        out = ap.empty((4, 5), dtype)
        dist.all_gather_into_tensor(out, ap.from_numpy(rank_data(comm.rank, (5,), dtype)))
        return out.numpy()

    expected = np.stack([rank_data(rank, (5,), dtype) for rank in range(4)])
    for out in run_threads(4, work):
        assert out.dtype == np.dtype(dtype)
        assert out.tobytes() == expected.tobytes()


def test_all_gather_in_place_and_from_a_slice(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        whole = ap.from_numpy(np.full((3, 4), comm.rank, np.float32))
        dist.all_gather_into_tensor(whole, whole[comm.rank])
        return whole.numpy()

    for out in run_threads(3, work):
        np.testing.assert_array_equal(out, [[r] * 4 for r in range(3)])


def test_all_gather_mistakes_are_named(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.from_numpy(np.ones((2, 3), np.int64))
        with pytest.raises(ValueError, match=r"world size 2 times the 6"):
            dist.all_gather_into_tensor(ap.empty((4, 2), np.int64), x)
        with pytest.raises(TypeError, match="float32"):
            dist.all_gather_into_tensor(ap.empty((4, 3), np.float32), x)
        with pytest.raises(ValueError, match="strides"):
            dist.all_gather_into_tensor(ap.empty((3, 4), np.int64).T, x)
        with pytest.raises(ValueError, match="input_tensor"):
            dist.all_gather_into_tensor(ap.empty((4, 3), np.int64), x.T)
        with pytest.raises(TypeError, match="ndarray"):
            dist.all_gather_into_tensor(ap.empty((4, 3), np.int64), np.ones((2, 3)))  # type: ignore[arg-type]
        other = ap.empty((2, 3), np.int64, device=(comm.device.index + 1) % 2)
        with pytest.raises(DeviceMismatchError, match="device"):
            dist.all_gather_into_tensor(ap.empty((4, 3), np.int64), other)

    run_threads(2, work)


def test_empty_tensors_are_gathered_and_reduced(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x = ap.empty((0, 3), np.float32)
        out = ap.empty((0, 3), np.float32)
        dist.all_gather_into_tensor(out, x)
        dist.all_reduce(x)
        return out.numpy().shape

    assert run_threads(2, work) == [(0, 3)] * 2


@pytest.mark.parametrize("given", [True, False], ids=["rows given", "rows exchanged"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64], ids=dtype_name)
def test_all_gather_of_uneven_rows(run_threads: Any, given: bool, dtype: Any) -> None:
    rows = [2, 0, 3]

    def work(comm: Communicator) -> Any:
        mine = ap.from_numpy(rank_data(comm.rank, (rows[comm.rank], 2), dtype))
        parts = dist.all_gather(mine, rows if given else None)
        return [part.numpy() for part in parts]

    for parts in run_threads(3, work):
        for rank, part in enumerate(parts):
            np.testing.assert_array_equal(part, rank_data(rank, (rows[rank], 2), dtype))


def test_all_gather_rows_that_do_not_fit_are_named(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        with pytest.raises(ValueError, match="rows"):
            dist.all_gather(ap.empty((2,), np.int8), [3, 3])

    run_threads(2, work)


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, ml_dtypes.bfloat16], ids=dtype_name)
def test_all_to_all_exchanges_equal_parts(run_threads: Any, dtype: Any) -> None:
    def work(comm: Communicator) -> Any:
        out = ap.empty((6, 2), dtype)
        dist.all_to_all_single(out, ap.from_numpy(rank_data(comm.rank, (6, 2), dtype)))
        return out.numpy()

    sent = [rank_data(rank, (6, 2), dtype) for rank in range(3)]
    for rank, out in enumerate(run_threads(3, work)):
        expected = np.concatenate([part[2 * rank : 2 * rank + 2] for part in sent])
        np.testing.assert_array_equal(out, expected)


def test_all_to_all_exchanges_parts_of_given_sizes(run_threads: Any) -> None:
    matrix = np.array([[1, 2, 0], [0, 1, 3], [2, 0, 1]])  # rows from rank (row) to rank (column)

    def work(comm: Communicator) -> Any:
        sent, kept = matrix[comm.rank].tolist(), matrix[:, comm.rank].tolist()
        out = ap.empty((sum(kept), 2), np.complex64)
        mine = ap.from_numpy(rank_data(comm.rank, (sum(sent), 2), np.complex64))
        dist.all_to_all_single(out, mine, kept, sent)
        return out.numpy()

    starts = np.cumsum(matrix, axis=1) - matrix
    for rank, out in enumerate(run_threads(3, work)):
        parts = []
        for source in range(3):
            whole = rank_data(source, (int(matrix[source].sum()), 2), np.complex64)
            begin = starts[source, rank]
            parts.append(whole[begin : begin + matrix[source, rank]])
        np.testing.assert_array_equal(out, np.concatenate(parts))


def test_all_to_all_splits_are_checked(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        a, b = ap.empty((4,), np.int8), ap.empty((4,), np.int8)
        with pytest.raises(ValueError, match="input_split_sizes"):
            dist.all_to_all_single(a, b, [2, 2], [2, 1])
        with pytest.raises(ValueError, match="output_split_sizes"):
            dist.all_to_all_single(a, b, [4], [2, 2])
        with pytest.raises(ValueError, match="equal parts"):
            dist.all_to_all_single(ap.empty((3,), np.int8), ap.empty((3,), np.int8))

    run_threads(2, work)


@pytest.mark.parametrize("src", [0, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.bool_], ids=dtype_name)
def test_broadcast_copies_one_rank(run_threads: Any, src: int, dtype: Any) -> None:
    def work(comm: Communicator) -> Any:
        x = ap.from_numpy(rank_data(comm.rank, (2, 3), dtype))
        dist.broadcast(x, src)
        return x.numpy()

    for out in run_threads(3, work):
        np.testing.assert_array_equal(out, rank_data(src, (2, 3), dtype))


def test_scatter_hands_out_parts(run_threads: Any) -> None:
    whole = np.arange(12, dtype=np.float16).reshape(6, 2)

    def work(comm: Communicator) -> Any:
        out = ap.empty((2, 2), np.float16)
        dist.scatter(out, ap.from_numpy(whole) if comm.rank == 1 else None, 1)
        return out.numpy()

    for rank, out in enumerate(run_threads(3, work)):
        np.testing.assert_array_equal(out, whole[2 * rank : 2 * rank + 2])


def test_scatter_without_data_on_its_source_is_named() -> None:
    [comm] = Communicator.init_all(1)
    with comm.device, pytest.raises(ValueError, match="input"):
        dist.scatter(ap.empty((2,), np.int8), None, 0, comm)
    comm.close()


def test_a_rank_out_of_range_is_named(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.empty((2,), np.int8)
        with pytest.raises(ValueError, match="src: 2"):
            dist.broadcast(x, 2)
        with pytest.raises(ValueError, match="dst"):
            dist.send(x, comm.rank)
        with pytest.raises(ValueError, match=r"recvs\[0\]: -1"):
            dist.batch_send_recv(recvs=[(x, -1)])
        with pytest.raises(TypeError, match="src"):
            dist.broadcast(x, True)

    run_threads(2, work)


def test_tensors_may_be_dropped_while_the_collective_is_queued(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        out = ap.empty((2, 1 << 16), np.float32)
        for _ in range(8):
            x = ap.from_numpy(np.full(1 << 16, comm.rank + 1.0, np.float32))
            dist.all_gather_into_tensor(out, x)
            del x  # still in flight; the next one must not get its memory
        return out.numpy()

    for out in run_threads(2, work):
        np.testing.assert_array_equal(out, [[1.0] * (1 << 16), [2.0] * (1 << 16)])
