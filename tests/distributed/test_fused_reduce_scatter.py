# SPDX-License-Identifier: Apache-2.0
"""matmul_reduce_scatter: the worked examples exactly, random shapes against the staged oracle."""

from __future__ import annotations

import inspect
import os
import socket
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.ranks import run_ranks
from helpers.staging import all_reduced, gen, product, rounded

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py.distributed import Communicator, matmul_reduce_scatter
from aclnn_py.errors import AclnnError, DeviceError, NotSupportedError

FLOATS = [np.float16, ml_dtypes.bfloat16]
IDS = ["float16", "bfloat16"]


def numbers(seed: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    values = np.random.default_rng(seed).integers(-4, 5, shape)
    return values.astype(np.float32).astype(dtype)


def test_signature_is_the_one_users_know() -> None:
    parameters = inspect.signature(matmul_reduce_scatter).parameters
    assert list(parameters)[:4] == ["input", "x2", "group", "world_size"]
    keywords = {n: p.default for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert keywords == {
        "reduce_op": "sum",
        "bias": None,
        "comm_turn": 0,
        "trans_input": False,
        "trans_x2": False,
        "stream": None,
    }


def test_example_mrs_1(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        rows = np.arange(1, 5, dtype=np.float16)[:, None] * (comm.rank + 1) / 16
        x1 = np.repeat(rows.astype(np.float16), 256, axis=1)
        x2 = np.repeat(np.array([[1, 2]], np.float16) / 16, 256, axis=0)
        return matmul_reduce_scatter(ap.from_numpy(x1), ap.from_numpy(x2), comm.name, 2).numpy()

    first, second = run_threads(2, work)
    np.testing.assert_array_equal(first, [[3, 6], [6, 12]])
    np.testing.assert_array_equal(second, [[9, 18], [12, 24]])


def test_example_mrs_2(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        r = comm.rank
        x1 = ap.from_numpy(gen((4, 256), 7, 3 + 5 * r, 11, 5).astype(np.float16))
        x2 = ap.from_numpy(gen((256, 3), 5, 1 + r, 9, 4).astype(np.float16))
        turned = ap.from_numpy(gen((256, 3), 5, 1 + r, 9, 4).T.astype(np.float16).copy())
        return (
            matmul_reduce_scatter(x1, x2, comm).numpy(),
            matmul_reduce_scatter(x1, turned, comm, trans_x2=True).numpy(),
        )

    expected = [[[48, -28, 76], [29, -31, 35]], [[-1, -1, -28], [-31, 29, -91]]]
    for outputs, rows in zip(run_threads(2, work), expected, strict=True):
        for output in outputs:
            np.testing.assert_array_equal(output, rows)


@pytest.mark.parametrize("choice", ["", "dtype", "fp32"])
def test_example_mrs_3_each_partial_sum_is_rounded(
    run_threads: Any, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    monkeypatch.setenv("ACLNN_PY_REDUCE", choice)

    def work(comm: Communicator) -> Any:
        x2 = np.full((256, 1), 8.0, np.float16) if comm.rank == 0 else np.zeros((256, 1))
        x2[0] = 9 if comm.rank == 0 else 1
        ones = ap.from_numpy(np.ones((2, 256), np.float16))
        return matmul_reduce_scatter(ones, ap.from_numpy(x2.astype(np.float16)), comm).numpy()

    expected = 2050 if choice == "fp32" else 2048
    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [[expected]])


def test_an_unknown_choice_of_reduction_is_refused(
    run_threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACLNN_PY_REDUCE", "fp64")

    def work(comm: Communicator) -> int:
        x = ap.from_numpy(np.ones((256, 256), np.float16))
        with pytest.raises(AclnnError, match="ACLNN_PY_REDUCE") as caught:
            matmul_reduce_scatter(x, x, comm)
        return caught.value.status

    assert run_threads(2, work) == [561000, 561000]


@pytest.mark.parametrize("dtype", FLOATS, ids=IDS)
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_random_shapes(run_threads: Any, ranks: int, dtype: Any) -> None:
    rng = np.random.default_rng(ranks)
    for trial in range(3):
        m = ranks * int(rng.integers(1, 6))
        k, n = int(rng.integers(256, 400)), int(rng.integers(1, 70))

        def left(r: int, m: int = m, k: int = k, trial: int = trial) -> np.ndarray:
            return numbers(100 * trial + r, (m, k), dtype)

        def right(r: int, k: int = k, n: int = n, trial: int = trial) -> np.ndarray:
            return numbers(1000 + 100 * trial + r, (k, n), dtype)

        def work(comm: Communicator, left: Any = left, right: Any = right) -> Any:
            x1, x2 = ap.from_numpy(left(comm.rank)), ap.from_numpy(right(comm.rank))
            return matmul_reduce_scatter(x1, x2, comm).numpy()

        parts = [rounded(product(left(r), right(r)), dtype) for r in range(ranks)]
        whole = all_reduced(parts, dtype)
        for rank, output in enumerate(run_threads(ranks, work)):
            share = whole[rank * m // ranks : (rank + 1) * m // ranks]
            np.testing.assert_array_equal(output.view(np.uint16), share.view(np.uint16))


def test_strided_operands_and_result(run_threads: Any) -> None:
    x1, x2 = numbers(1, (6, 300), np.float16), numbers(2, (300, 5), np.float16)

    def work(comm: Communicator) -> Any:
        wide = ap.from_numpy(np.repeat(x1, 2, axis=0))[::2]
        right = ap.from_numpy(np.repeat(x2, 2, axis=1))[:, ::2]
        whole = ap.zeros((3, 10), np.float16)
        ops.matmul_reduce_scatter(wide, right, None, comm.name, "sum", 0, 1, whole[:, ::2])
        return whole.numpy()

    expected = rounded(2 * product(x1, x2), np.float16)
    for rank, output in enumerate(run_threads(2, work)):
        np.testing.assert_array_equal(output[:, ::2], expected[3 * rank : 3 * rank + 3])
        np.testing.assert_array_equal(output[:, 1::2], 0)


def test_strict_mode_takes_the_operands_that_the_kernel_copies(run_threads: Any) -> None:
    x1, x2 = numbers(1, (6, 300), np.float16), numbers(2, (300, 5), np.float16)

    def work(comm: Communicator) -> Any:
        wide = ap.from_numpy(np.repeat(x1, 2, axis=0))[::2]
        zeros, output = ap.zeros((10,), np.float16)[::2], ap.zeros((3, 5), np.float16)
        ops.matmul_reduce_scatter(wide, ap.from_numpy(x2), zeros, comm.name, "sum", 0, 1, output)
        return output.numpy()

    expected = rounded(2 * product(x1, x2), np.float16)
    with ap.strict():
        outputs = run_threads(2, work)
    for rank, output in enumerate(outputs):
        np.testing.assert_array_equal(output, expected[3 * rank : 3 * rank + 3])


def test_nothing_to_do_is_no_error(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        none = matmul_reduce_scatter(
            ap.empty((0, 256), np.float16), ap.empty((256, 3), np.float16), comm
        )
        narrow = matmul_reduce_scatter(
            ap.empty((4, 256), np.float16), ap.empty((256, 0), np.float16), comm
        )
        return none.shape, narrow.shape

    assert run_threads(2, work) == [((0, 3), (2, 0))] * 2


def test_a_bias_of_zeros_changes_nothing_and_another_is_a_fault(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x = ap.from_numpy(np.eye(256, dtype=np.float16))
        bias = ap.zeros((256,), np.float16)
        output = matmul_reduce_scatter(x, x, comm, bias=bias).numpy()
        bias.copy_from(np.ones(256, np.float16))
        matmul_reduce_scatter(x, x, comm, bias=bias)
        with pytest.raises(DeviceError, match="bias"):
            ap.synchronize()
        return output

    for rank, output in enumerate(run_threads(2, work)):
        np.testing.assert_array_equal(output, 2 * np.eye(256)[128 * rank : 128 * rank + 128])


def test_mistakes_python_can_name(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.from_numpy(np.ones((256, 256), np.float16))
        with pytest.raises(ValueError, match="world_size: 4"):
            matmul_reduce_scatter(x, x, comm, 4)
        with pytest.raises(NotSupportedError, match="trans_input"):
            matmul_reduce_scatter(x, x, comm, trans_input=True)
        with pytest.raises(TypeError, match="input"):
            matmul_reduce_scatter(None, x, comm)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="x2"):
            matmul_reduce_scatter(x, x[0], comm)

    run_threads(2, work)


def _in_a_process(rank: int, ranks: int, port: int) -> Any:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
    )  # fmt: skip
    with Communicator.from_env() as comm:
        x1 = ap.from_numpy(numbers(rank, (4, 256), np.float16))
        x2 = ap.from_numpy(numbers(50 + rank, (256, 6), np.float16))
        return matmul_reduce_scatter(x1, x2, comm).numpy()


def test_ranks_that_are_processes() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    parts = [
        rounded(
            product(numbers(r, (4, 256), np.float16), numbers(50 + r, (256, 6), np.float16)),
            np.float16,
        )
        for r in range(2)
    ]
    whole = all_reduced(parts, np.float16)
    for rank, output in enumerate(run_ranks(2, _in_a_process, port)):
        np.testing.assert_array_equal(output, whole[2 * rank : 2 * rank + 2])
