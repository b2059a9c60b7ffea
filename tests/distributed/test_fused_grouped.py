# SPDX-License-Identifier: Apache-2.0
"""grouped_mat_mul_all_reduce: its four scenarios by example and with random shapes."""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.staging import all_reduced, contribution

import aclnn_py as ap
from aclnn_py.distributed import Communicator, grouped_mat_mul_all_reduce
from aclnn_py.errors import DeviceError

F16, BF16 = np.float16, ml_dtypes.bfloat16
EYE = [[1, 0], [0, 1]]
ONES = [[1, 1], [1, 1]]
# Those of GMMAR-1 and GMMAR-3: one x, cut after its first row.
CUT_X = [[[[1, 2], [3, 4], [5, 6]]], [[[1, 1], [1, 1], [1, 1]]]]
CUT_W = [[EYE, [[2, 0], [0, 2]]], [ONES, [[0, 1], [1, 0]]]]


def tensors(arrays: Any, dtype: Any = F16) -> list[ap.Tensor]:
    return [ap.from_numpy(np.array(value, np.float32).astype(dtype)) for value in arrays]


def test_signature_is_the_one_users_know() -> None:
    parameters = inspect.signature(grouped_mat_mul_all_reduce).parameters
    assert list(parameters)[:3] == ["x", "weight", "hcomm"]
    keywords = {n: p.default for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert keywords == {
        "bias": None,
        "group_list": None,
        "split_item": 0,
        "reduce_op": "sum",
        "comm_turn": 0,
        "stream": None,
    }


@pytest.mark.parametrize(
    ("x", "w", "options", "expected"),
    [
        pytest.param(
            [[[[1, 2], [3, 4]], [[1, 0, 1]]], [[[0, 1], [1, 0]], [[2, 2, 2]]]],
            [[[[1, 1], [0, 1]], [[1], [2], [3]]], [[[2, 0], [0, 2]], [[1], [0], [-1]]]],
            {},
            [[[1, 5], [5, 7]], [[4]]],
            id="GMMAR-0",
        ),
        pytest.param(
            [[[[1, 2], [3, 4]], [[1, 0, 1]]], [[[0, 1], [1, 0]], [[2, 2, 2]]]],
            [[[[1, 1], [0, 1]], [[1], [2], [3]]], [[[2, 0], [0, 2]], [[1], [0], [-1]]]],
            {"bias": [[10, 20], [100]]},
            [[[21, 45], [25, 47]], [[204]]],
            id="GMMAR-0 with bias",
        ),
        pytest.param(
            CUT_X,
            CUT_W,
            {"group_list": [1, 3], "split_item": 1},
            [[[3, 4]], [[7, 9], [11, 13]]],
            id="GMMAR-1",
        ),
        pytest.param(
            CUT_X,
            CUT_W,
            {"group_list": [1, 3], "split_item": 3},
            [[[3, 4], [7, 9], [11, 13]]],
            id="GMMAR-3",
        ),
        pytest.param(
            [[[[1, 2]], [[1, 2, 3], [4, 5, 6]]], [[[1, 0]], [[1, 0, 0], [0, 1, 0]]]],
            [[[[1, 2], [3, 4]], [[1, 0], [0, 1], [1, 1]]]] * 2,
            {"split_item": 2},
            [[[8, 12], [5, 5], [10, 12]]],
            id="GMMAR-2",
        ),
    ],
)
def test_examples(run_threads: Any, x: Any, w: Any, options: Any, expected: Any) -> None:
    def work(comm: Communicator) -> Any:
        given = dict(options)
        if "bias" in given:
            given["bias"] = tensors(given["bias"])
        r = comm.rank
        y = grouped_mat_mul_all_reduce(tensors(x[r]), tensors(w[r]), comm.name, **given)
        return [value.numpy() for value in y]

    for outputs in run_threads(2, work):
        assert len(outputs) == len(expected)
        for output, rows in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(output, rows)


@pytest.mark.parametrize("dtype", [F16, BF16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("split_item", [0, 1, 2, 3])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_random_groups(run_threads: Any, ranks: int, split_item: int, dtype: Any) -> None:
    rng = np.random.default_rng(40 + 10 * ranks + split_item)
    groups = int(rng.integers(2, 7))
    same_n, cut = split_item >= 2, split_item in (1, 3)
    rows = [int(v) for v in rng.integers(0 if cut else 1, 5, groups)]
    rows[-1] += 1
    depths = [int(v) for v in rng.integers(1, 200, groups)]
    widths = [int(v) for v in rng.integers(1, 40, groups)]
    if cut:
        depths = depths[:1] * groups
    if same_n:
        widths = widths[:1] * groups
    bias_dtype = np.float32 if dtype == BF16 else F16
    lead = (2,) if split_item == 0 else ()

    def of(r: int) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
        mine = np.random.default_rng(r)

        def draw(*shape: int) -> np.ndarray:
            return mine.integers(-3, 4, shape).astype(np.float32)

        dims = list(zip(rows, depths, widths, strict=True))
        return (
            [draw(*lead, m, k).astype(dtype) for m, k, _ in dims],
            [draw(k, n).astype(dtype) for _, k, n in dims],
            [draw(n).astype(bias_dtype) for n in widths],
        )

    def work(comm: Communicator) -> Any:
        x, w, bias = of(comm.rank)
        y = grouped_mat_mul_all_reduce(
            [ap.from_numpy(v) for v in ([np.concatenate(x)] if cut else x)],
            [ap.from_numpy(v) for v in w],
            comm,
            bias=[ap.from_numpy(v) for v in bias],
            group_list=[int(v) for v in np.cumsum(rows)] if cut else None,
            split_item=split_item,
        )
        return [value.numpy() for value in y]

    parts = [
        [contribution(a, b, dtype, c) for a, b, c in zip(*of(r), strict=True)] for r in range(ranks)
    ]
    expected = [all_reduced(column, dtype) for column in zip(*parts, strict=True)]
    if same_n:
        expected = [np.concatenate(expected)]
    for outputs in run_threads(ranks, work):
        assert [v.shape for v in outputs] == [v.shape for v in expected]
        for output, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(output.view(np.uint16), wanted.view(np.uint16))


def test_sixty_four_groups_with_the_rounding_at_the_end(
    run_threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACLNN_PY_REDUCE", "fp32")
    x = [np.full((1, 1), 2048 if i % 2 else 1, F16) for i in range(64)]

    def work(comm: Communicator) -> Any:
        w = [np.array([[1 if comm.rank else 1.0005]], F16)] * 64
        bias = [np.full(1, comm.rank, F16)] * 64
        y = grouped_mat_mul_all_reduce(tensors(x), tensors(w), comm, bias=tensors(bias))
        return np.concatenate([value.numpy() for value in y])

    wanted = [(float(v[0, 0]) * (1 + float(F16(1.0005))) + 1) for v in x]
    for output in run_threads(2, work):
        np.testing.assert_array_equal(output.ravel(), np.array(wanted, np.float32).astype(F16))


def test_more_than_two_dimensions_of_any_strides(run_threads: Any) -> None:
    x = np.random.default_rng(0).integers(-3, 4, (2, 3, 2, 5, 4)).astype(F16)
    w = np.random.default_rng(1).integers(-3, 4, (4, 3)).astype(F16)

    def work(comm: Communicator) -> Any:
        turned = ap.from_numpy(x.transpose(1, 0, 3, 2, 4).copy()).permute(1, 0, 3, 2, 4)
        (y,) = grouped_mat_mul_all_reduce([turned], [ap.from_numpy(w)], comm)
        return y.numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, (2 * (x.astype(np.float64) @ w)).astype(F16))


def test_ranks_with_other_groups_are_told_apart(run_threads: Any) -> None:
    def work(comm: Communicator) -> str:
        ends = [1, 3] if comm.rank else [2, 3]
        x, w = [np.ones((3, 2))], [np.ones((2, 2))] * 2
        grouped_mat_mul_all_reduce(tensors(x), tensors(w), comm, group_list=ends, split_item=3)
        with pytest.raises(DeviceError) as caught:
            ap.synchronize()
        return str(caught.value)

    for text in run_threads(2, work):
        assert "1*2*2 2*2*2" in text and "2*2*2 1*2*2" in text


def test_mistakes_python_can_name(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x, w = tensors([np.ones((3, 2))]), tensors([np.ones((2, 2))])
        for match, arguments in {
            "split_item: expected": {"split_item": 4},
            "group_list: split_item 0 needs none": {"group_list": [3]},
            "group_list: split_item 1 needs one": {"split_item": 1},
            "group_list: 2 entries": {"split_item": 1, "group_list": [1, 3]},
        }.items():
            with pytest.raises(ValueError, match=match):
                grouped_mat_mul_all_reduce(x, w, comm, **arguments)
        with pytest.raises(ValueError, match="x: 2 tensors"):
            grouped_mat_mul_all_reduce(x * 2, w, comm)
        with pytest.raises(ValueError, match="weight: needs"):
            grouped_mat_mul_all_reduce([], [], comm)
        with pytest.raises(TypeError, match=r"x\[0\]"):
            grouped_mat_mul_all_reduce([None], w, comm)  # type: ignore[list-item]
        with pytest.raises(TypeError, match="group"):
            grouped_mat_mul_all_reduce(x, w, 3)  # type: ignore[arg-type]

    run_threads(1, work)
