# SPDX-License-Identifier: Apache-2.0
"""all_gather_matmul: the worked examples exactly, random data against NumPy, and its mistakes."""

from __future__ import annotations

import inspect
import os
import socket
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py.distributed import Communicator, all_gather_matmul
from aclnn_py.errors import AclnnError, InvalidArgumentError, NotSupportedError

FLOATS = [np.float16, ml_dtypes.bfloat16]


def gen(shape: tuple[int, ...], a: int, b: int, q: int, o: int) -> np.ndarray:
    t = np.arange(np.prod(shape))
    return ((a * t + b) % q - o).reshape(shape).astype(np.float16)


def small_integers(rank: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Values whose products and sums are exact in float32."""
    values = np.random.default_rng(rank).integers(-4, 5, shape)
    return values.astype(np.float32).astype(dtype)


def test_signature_is_the_one_users_know() -> None:
    parameters = inspect.signature(all_gather_matmul).parameters
    assert list(parameters)[:4] == ["input", "x2", "group", "world_size"]
    keywords = {
        name: p.default
        for name, p in parameters.items()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert keywords == {
        "bias": None,
        "gather_index": 0,
        "gather_output": True,
        "comm_turn": 0,
        "trans_input": False,
        "trans_x2": False,
        "stream": None,
    }


def test_right_matrix_is_local_to_the_rank(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        r = comm.rank
        x1 = np.repeat(np.array([[2 * r + 1], [2 * r + 2]], np.float16) / 16, 256, axis=1)
        x2 = np.repeat((np.array([[1, 2, 3]], np.float16) + 10 * r) / 16, 256, axis=0)
        output, gathered = all_gather_matmul(ap.from_numpy(x1), ap.from_numpy(x2), comm.name, 2)
        return output.numpy(), gathered.numpy()

    for r, (output, gathered) in enumerate(run_threads(2, work)):
        right = np.array([1, 2, 3]) + 10 * r
        np.testing.assert_array_equal(output, np.outer([1, 2, 3, 4], right))
        rows = np.array([[1], [2], [3], [4]], np.float16) / 16
        np.testing.assert_array_equal(gathered, np.repeat(rows, 256, axis=1))


def test_transposed_right_matrix_is_read_in_place(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x1 = ap.from_numpy(gen((3, 256), 7, 3 + 5 * comm.rank, 11, 5))
        stored = ap.from_numpy(gen((4, 256), 5, 1, 9, 4))
        first, _ = all_gather_matmul(x1, stored, comm, trans_x2=True)
        second, _ = all_gather_matmul(x1, stored.T, comm)
        return first.numpy(), second.numpy()

    expected = [
        [-12, -31, -5, 21],
        [-67, 25, 63, -7],
        [43, 48, -1, -68],
        [-12, -36, -15, 51],
        [21, 31, -13, -21],
        [43, -34, -66, 28],
    ]
    for first, second in run_threads(2, work):
        np.testing.assert_array_equal(first, expected)
        np.testing.assert_array_equal(second, expected)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float16, [2048, 2050, 2052, 2304]), (ml_dtypes.bfloat16, [2048, 2048, 2048, 2304])],
)
def test_sums_are_rounded_once(run_threads: Any, dtype: Any, expected: list[float]) -> None:
    def work(comm: Communicator) -> Any:
        x2 = np.full((256, 4), 8.0, np.float32)
        x2[0] = [9, 10, 11, 2048]
        x2[1:, 3] = 1
        ones = np.ones((1, 256), np.float32)
        output, _ = all_gather_matmul(
            ap.from_numpy(ones.astype(dtype)), ap.from_numpy(x2.astype(dtype)), comm
        )
        return output.numpy().astype(np.float64)

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [expected, expected])


def test_each_run_of_a_plan_may_have_outputs_of_its_own(run_threads: Any) -> None:
    """A plan without bias takes new outputs and leaves the earlier ones alone."""
    rows = [np.full((2, 256), i + 1, np.float16) for i in range(3)]

    def work(comm: Communicator) -> Any:
        def results() -> list[ap.Tensor]:
            return [ap.full(shape, -7, np.float16) for shape in ((4, 3), (4, 256))]

        x2 = ap.from_numpy(np.ones((256, 3), np.float16))
        first = ap.from_numpy(rows[0] + comm.rank)
        arguments = (ap.ops.all_gather_matmul, first, x2, None, comm.name, 0, 0, 1)
        kept = [results()]
        with ap.plan(*arguments, *kept[0], repeatable=True) as step:
            step.run()
            for values in rows[1:]:
                kept.append(results())
                output, gathered = kept[-1]
                x1 = ap.from_numpy(values + comm.rank)
                step.rebind(x1=x1, output=output, gather_out=gathered)
                step.run()
        return [[tensor.numpy() for tensor in pair] for pair in kept]

    for kept in run_threads(2, work):
        for values, (output, gathered) in zip(rows, kept, strict=True):
            everyone = np.concatenate([values, values + 1])
            np.testing.assert_array_equal(gathered, everyone)
            np.testing.assert_array_equal(output, everyone[:, :3] * 256)


@pytest.mark.parametrize("dtype", FLOATS, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_exact_products_of_any_number_of_ranks(run_threads: Any, ranks: int, dtype: Any) -> None:
    m, k, n = 5, 300, 7

    def work(comm: Communicator) -> Any:
        x1 = small_integers(comm.rank, (m, k), dtype)
        x2 = small_integers(50 + comm.rank, (k, n), dtype)
        output, gathered = all_gather_matmul(ap.from_numpy(x1), ap.from_numpy(x2), comm)
        return output.numpy(), gathered.numpy()

    everyone = np.concatenate([small_integers(r, (m, k), dtype) for r in range(ranks)])
    for rank, (output, gathered) in enumerate(run_threads(ranks, work)):
        x2 = small_integers(50 + rank, (k, n), dtype)
        expected = everyone.astype(np.float64) @ x2.astype(np.float64)
        np.testing.assert_array_equal(gathered.view(np.uint16), everyone.view(np.uint16))
        np.testing.assert_array_equal(output, expected.astype(np.float32).astype(dtype))


def test_strided_operands_are_copied(run_threads: Any) -> None:
    ranks, m, k, n = 2, 4, 300, 3

    def work(comm: Communicator) -> Any:
        x1 = small_integers(comm.rank, (m, k), np.float16)
        x2 = small_integers(50, (k, n), np.float16)
        spread = ap.from_numpy(np.repeat(x1, 3, axis=1))[:, ::3]
        output, gathered = ap.zeros((8, n), np.float16), ap.zeros((8, k), np.float16)
        zeros = ap.zeros((2 * n,), np.float16)[::2]
        ap.ops.all_gather_matmul(
            spread, ap.from_numpy(x2), zeros, comm.name, 0, 0, 1, output, gathered
        )
        return output.numpy(), gathered.numpy()

    everyone = np.concatenate([small_integers(r, (m, k), np.float16) for r in range(ranks)])
    expected = everyone.astype(np.float64) @ small_integers(50, (k, n), np.float16)
    with ap.strict():  # which knows that the kernel copies x1 and the bias
        results = run_threads(ranks, work)
    for output, gathered in results:
        np.testing.assert_array_equal(gathered, everyone)
        np.testing.assert_array_equal(output, expected.astype(np.float32).astype(np.float16))


@pytest.mark.parametrize("dtype", FLOATS, ids=["float16", "bfloat16"])
def test_random_data_is_within_one_rounding(run_threads: Any, dtype: Any) -> None:
    m, k, n = 33, 512, 65

    def left(rank: int) -> np.ndarray:
        return np.random.default_rng(rank).standard_normal((m, k)).astype(dtype)

    def work(comm: Communicator) -> Any:
        x2 = np.random.default_rng(9).standard_normal((k, n)).astype(dtype)
        output, _ = all_gather_matmul(ap.from_numpy(left(comm.rank)), ap.from_numpy(x2), comm)
        return x2, output.numpy()

    everyone = np.concatenate([left(r) for r in range(2)]).astype(np.float64)
    half_unit = 2.0 ** -(ml_dtypes.finfo(dtype).nmant + 1)
    for x2, output in run_threads(2, work):
        expected = everyone @ x2.astype(np.float64)
        np.testing.assert_allclose(output.astype(np.float64), expected, rtol=half_unit, atol=1e-3)


def test_gather_output_can_be_switched_off(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        x1 = small_integers(comm.rank, (2, 256), np.float16)
        x2 = small_integers(7, (256, 3), np.float16)
        with_it, _ = all_gather_matmul(ap.from_numpy(x1), ap.from_numpy(x2), comm)
        without, none = all_gather_matmul(
            ap.from_numpy(x1), ap.from_numpy(x2), comm, gather_output=False
        )
        assert none.shape == (0,)
        np.testing.assert_array_equal(without.numpy(), with_it.numpy())
        return with_it.numpy()

    everyone = np.concatenate([small_integers(r, (2, 256), np.float16) for r in range(2)])
    expected = everyone.astype(np.float64) @ small_integers(7, (256, 3), np.float16)
    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"k": 255}, 161002),
        ({"x2_dtype": ml_dtypes.bfloat16}, 161002),
        ({"dtype": np.float32, "x2_dtype": np.float32}, 161002),
        ({"x2_rows": 257}, 161002),
        ({"gather_index": 1}, 561002),
        ({"comm_turn": 1}, 561002),
    ],
    ids=str,
)
def test_what_cann_refuses_keeps_its_status(
    run_threads: Any, change: dict[str, Any], status: int
) -> None:
    change = dict(change)
    k = change.pop("k", 256)
    dtype = change.pop("dtype", np.float16)
    x1 = np.ones((2, k), dtype)
    x2 = np.ones((change.pop("x2_rows", k), 3), change.pop("x2_dtype", np.float16))

    def work(comm: Communicator) -> int:
        with pytest.raises(AclnnError) as caught:
            all_gather_matmul(ap.from_numpy(x1), ap.from_numpy(x2), comm, **change)
        assert "aclnnAllGatherMatmul" in str(caught.value)
        assert isinstance(caught.value, InvalidArgumentError) == (status == 161002)
        return caught.value.status

    assert run_threads(2, work) == [status, status]


def test_three_ranks_are_refused(run_threads: Any) -> None:
    def work(comm: Communicator) -> int:
        x = ap.from_numpy(np.ones((256, 256), np.float16))
        with pytest.raises(AclnnError) as caught:
            all_gather_matmul(x, x, comm)
        return caught.value.status

    assert run_threads(3, work) == [561002] * 3


def test_mistakes_python_can_name(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.from_numpy(np.ones((256, 256), np.float16))
        with pytest.raises(ValueError, match="world_size: 4"):
            all_gather_matmul(x, x, comm, 4)
        with pytest.raises(NotSupportedError, match="trans_input"):
            all_gather_matmul(x, x, comm, trans_input=True)
        with pytest.raises(TypeError, match="x2"):
            all_gather_matmul(x, np.ones((256, 2), np.float16), comm)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="matrix"):
            all_gather_matmul(x[0], x, comm)

    run_threads(2, work)


def _in_a_process(rank: int, ranks: int, port: int, name: str) -> Any:
    dtype = np.dtype(name)
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
    )  # fmt: skip
    with Communicator.from_env() as comm:
        x1 = small_integers(rank, (4, 256), dtype)
        x2 = small_integers(7, (256, 8), dtype)
        output, gathered = all_gather_matmul(ap.from_numpy(x1), ap.from_numpy(x2), comm)
        return output.numpy().astype(np.float32), gathered.numpy().astype(np.float32)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_ranks_that_are_processes(ranks: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    everyone = np.concatenate([small_integers(r, (4, 256), np.float16) for r in range(ranks)])
    expected = everyone.astype(np.float64) @ small_integers(7, (256, 8), np.float16)
    for output, gathered in run_ranks(ranks, _in_a_process, port, "float16"):
        np.testing.assert_array_equal(output, expected)
        np.testing.assert_array_equal(gathered, everyone)
