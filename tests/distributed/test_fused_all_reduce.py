# SPDX-License-Identifier: Apache-2.0
"""matmul_all_reduce: the worked examples exactly, random shapes against the staged oracle."""

from __future__ import annotations

import os
import socket
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.memory import used_memory
from helpers.ranks import run_ranks
from helpers.staging import all_reduced, contribution, gen

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py.distributed import Communicator, matmul_all_reduce
from aclnn_py.errors import DeviceError

FLOATS = [np.float16, ml_dtypes.bfloat16]
IDS = ["float16", "bfloat16"]
BIAS = np.array([10, 20, 30], np.float16)
X3 = np.array([[1, 1, 1], [2, 2, 2]], np.float16)


def numbers(seed: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    values = np.random.default_rng(seed).integers(-4, 5, shape)
    return values.astype(np.float32).astype(dtype)


def operands(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Those of the examples MAR-1 to MAR-3."""
    x1 = np.array([[1, 2], [3, 4]]) + rank
    x2 = np.array([[1, 0, -1], [2, 1, 0]]) * (rank + 1)
    return x1.astype(np.float16), x2.astype(np.float16)


@pytest.mark.parametrize(
    ("bias", "x3", "expected"),
    [
        pytest.param(None, None, [[21, 8, -5], [39, 14, -11]], id="MAR-1"),
        pytest.param(BIAS, None, [[41, 48, 55], [59, 54, 49]], id="MAR-2"),
        pytest.param(BIAS, X3, [[43, 50, 57], [63, 58, 53]], id="MAR-3"),
    ],
)
def test_examples_of_two_dimensions(run_threads: Any, bias: Any, x3: Any, expected: Any) -> None:
    def work(comm: Communicator) -> Any:
        x1, x2 = (ap.from_numpy(value) for value in operands(comm.rank))
        terms = {
            name: ap.from_numpy(value)
            for name, value in (("bias", bias), ("x3", x3))
            if value is not None
        }
        return matmul_all_reduce(x1, x2, comm.name, 2, **terms).numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, expected)


def test_the_first_version_of_the_operator(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x1, x2 = (ap.from_numpy(value) for value in operands(comm.rank))
        y = ap.empty((2, 3), np.float16)
        bias = ap.from_numpy(BIAS)
        ops.matmul_all_reduce(x1, x2, bias, comm.name, "sum", 0, 1, y)
        return y.numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [[41, 48, 55], [59, 54, 49]])


def test_example_mar_4_without_columns_only_the_addends_remain(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x1, x2 = ap.empty((2, 0), np.float16), ap.empty((0, 3), np.float16)
        bias, x3 = ap.from_numpy(BIAS), ap.from_numpy(X3)
        return matmul_all_reduce(x1, x2, comm, bias=bias, x3=x3).numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [[22, 42, 62], [24, 44, 64]])


def test_example_mar_5_three_dimensions(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x1 = gen((2, 2, 3), 5, 1 + comm.rank, 7, 3).astype(np.float16)
        x2 = gen((3, 2), 3, 2 + comm.rank, 5, 2).astype(np.float16)
        return matmul_all_reduce(ap.from_numpy(x1), ap.from_numpy(x2), comm).numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [[[-6, 4], [-9, 8]], [[9, -2], [-1, -5]]])


@pytest.mark.parametrize(("choice", "expected"), [("", 256), ("fp32", 258)])
def test_example_mar_6_rounds_before_x3(
    run_threads: Any, monkeypatch: pytest.MonkeyPatch, choice: str, expected: int
) -> None:
    monkeypatch.setenv("ACLNN_PY_REDUCE", choice)
    bf16 = ml_dtypes.bfloat16

    def work(comm: Communicator) -> Any:
        x1 = ap.from_numpy(np.array([[256, 1]], bf16))
        x2, x3 = ap.from_numpy(np.ones((2, 1), bf16)), ap.from_numpy(np.ones((1, 1), bf16))
        return matmul_all_reduce(x1, x2, comm, x3=x3).numpy().astype(np.float32)

    for output in run_threads(1, work):
        np.testing.assert_array_equal(output, [[expected]])


@pytest.mark.parametrize("dtype", FLOATS, ids=IDS)
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_random_shapes(run_threads: Any, ranks: int, dtype: Any) -> None:
    rng = np.random.default_rng(10 + ranks)
    for trial in range(4):
        rows = tuple(int(d) for d in rng.integers(1, 9, 1 + trial % 2))
        k, n = int(rng.integers(1, 300)), int(rng.integers(1, 80))
        with_bias, with_x3, turned = trial != 0, trial > 1, trial == 3
        base = 10000 * ranks + 1000 * trial

        def of(r: int, rows: Any = rows, k: int = k, n: int = n, base: int = base) -> list[Any]:
            shapes = [(*rows, k), (k, n), (n,), (*rows, n)]
            return [numbers(base + 10 * i + r, shape, dtype) for i, shape in enumerate(shapes)]

        def work(
            comm: Communicator,
            of: Any = of,
            bias: bool = with_bias,
            x3: bool = with_x3,
            turned: bool = turned,
        ) -> Any:
            x1, x2, b, c = of(comm.rank)
            right = ap.from_numpy(x2.T.copy()).T if turned else ap.from_numpy(x2)
            return matmul_all_reduce(
                ap.from_numpy(x1),
                right,
                comm,
                bias=ap.from_numpy(b) if bias else None,
                x3=ap.from_numpy(c) if x3 else None,
            ).numpy()

        parts = []
        for r in range(ranks):
            x1, x2, b, c = of(r)
            parts.append(
                contribution(x1, x2, dtype, b if with_bias else None, c if with_x3 else None)
            )
        expected = all_reduced(parts, dtype)
        for output in run_threads(ranks, work):
            np.testing.assert_array_equal(output.view(np.uint16), expected.view(np.uint16))


def test_strided_operands_of_three_dimensions(run_threads: Any) -> None:
    x1, x2 = numbers(1, (3, 4, 5), np.float16), numbers(2, (5, 6), np.float16)
    x3 = numbers(3, (3, 4, 6), np.float16)

    def work(comm: Communicator) -> Any:
        # dimension 1 before dimension 0 in memory
        left = ap.from_numpy(x1.transpose(1, 0, 2).copy()).permute(1, 0, 2)
        right = ap.from_numpy(np.repeat(x2, 3, axis=0))[::3]
        addend = ap.from_numpy(x3.transpose(2, 0, 1).copy()).permute(1, 2, 0)
        whole = ap.zeros((4, 3, 6), np.float16)
        y = whole.permute(1, 0, 2)
        ops.matmul_all_reduce_v2(left, right, None, addend, comm.name, "sum", 0, 1, y)
        return whole.numpy().transpose(1, 0, 2)

    part = contribution(x1, x2, np.float16, None, x3)
    with ap.strict():  # which knows that the kernel copies x1
        outputs = run_threads(2, work)
    for output in outputs:
        np.testing.assert_array_equal(output, all_reduced([part, part], np.float16))


def test_the_result_may_replace_x3(run_threads: Any) -> None:
    x1, x2, x3 = (numbers(i, (4, 4), np.float16) for i in range(3))

    def work(comm: Communicator) -> Any:
        y = ap.from_numpy(x3)
        left, right = ap.from_numpy(x1), ap.from_numpy(x2)
        ops.matmul_all_reduce_v2(left, right, None, y, comm.name, "sum", 0, 1, y)
        return y.numpy()

    part = contribution(x1, x2, np.float16, None, x3)
    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, all_reduced([part, part], np.float16))


def test_random_data_is_within_the_roundings(run_threads: Any) -> None:
    def of(r: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(r)
        return (
            rng.standard_normal((33, 512)).astype(np.float16),
            rng.standard_normal((512, 65)).astype(np.float16),
        )

    def work(comm: Communicator) -> Any:
        x1, x2 = of(comm.rank)
        return matmul_all_reduce(ap.from_numpy(x1), ap.from_numpy(x2), comm).numpy()

    expected = sum(x1.astype(np.float64) @ x2.astype(np.float64) for x1, x2 in map(of, range(4)))
    outputs = run_threads(4, work)
    for output in outputs:
        np.testing.assert_array_equal(output, outputs[0])
        # each of four partial sums of up to about 200 is rounded to 11 bits
        np.testing.assert_allclose(output.astype(np.float64), expected, rtol=1e-3, atol=0.4)


def test_ranks_with_other_shapes_are_told_apart(run_threads: Any) -> None:
    def work(comm: Communicator) -> str:
        x1 = ap.from_numpy(np.ones((2 + comm.rank, 4), np.float16))
        matmul_all_reduce(x1, ap.from_numpy(np.ones((4, 4), np.float16)), comm)
        with pytest.raises(DeviceError) as caught:
            ap.synchronize()
        return str(caught.value)

    for text in run_threads(2, work):
        assert "m=2" in text and "m=3" in text


def test_peak_memory_is_operands_result_and_the_reported_workspace(device: ap.Device) -> None:
    m, k, n = 64, 32, 128
    (comm,) = Communicator.init_all(1)
    with comm, device.create_stream() as stream:
        x1, x2 = ap.empty((m, k), np.float16), ap.empty((k, n), np.float16)
        y = ap.empty((m, n), np.float16)
        step = ap.plan(ops.matmul_all_reduce, x1, x2, None, comm.name, "sum", 0, 1, y)
        assert m * n * 2 <= step.workspace_nbytes <= m * n * 2 + 4096
        step.close()
        before = used_memory(device)
        ops.matmul_all_reduce(x1, x2, None, comm.name, "sum", 0, 1, y, stream=stream)
        stream.synchronize()
        # the arena of the stream grows in blocks of 2 MiB
        assert used_memory(device) - before <= (2 << 20) + 4096


def _in_a_process(rank: int, ranks: int, port: int) -> Any:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
    )  # fmt: skip
    with Communicator.from_env() as comm:
        x1 = ap.from_numpy(numbers(rank, (5, 40), np.float16))
        x2 = ap.from_numpy(numbers(50 + rank, (40, 6), np.float16))
        return matmul_all_reduce(x1, x2, comm).numpy()


def test_ranks_that_are_processes() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    parts = [
        contribution(
            numbers(r, (5, 40), np.float16), numbers(50 + r, (40, 6), np.float16), np.float16
        )
        for r in range(4)
    ]
    for output in run_ranks(4, _in_a_process, port):
        np.testing.assert_array_equal(output, all_reduced(parts, np.float16))
