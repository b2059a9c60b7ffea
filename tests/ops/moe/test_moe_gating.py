# SPDX-License-Identifier: Apache-2.0
"""Gates of a mixture of experts against NumPy in float64."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, refusal, wide

import aclnn_py as ap
from aclnn_py.errors import AclnnError

from ..problems import Case, In, Out, Problem, fault, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]


def scores(rng: Rng, shape: tuple[int, ...], dtype: Dtype) -> Array:
    """Scores whose order is certain in every dtype: each row holds multiples of 1/16, mixed."""
    steps = np.broadcast_to(np.arange(shape[-1]) - shape[-1] // 2, shape)
    return (rng.permuted(steps, axis=-1) / 16).astype(dtype)


def soft(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(-1, keepdims=True)


def best(x: Array, k: int) -> Array:
    return np.argsort(-x, axis=-1, kind="stable")[..., :k]


def softmax_gate(shape: tuple[int, ...], k: int, finished: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = scores(rng, shape, dtype)
        p = soft(wide(x))
        experts = best(p, k)
        values = np.take_along_axis(p, experts, -1)
        rows = int(np.prod(shape[:-1]))
        index = np.arange(rows * k).reshape(k, rows).T.reshape(experts.shape)
        done = rng.integers(0, 2, shape[:-1]).astype(np.bool_)
        if finished:
            experts = np.where(done[..., None], shape[-1], experts)
        return [
            In(x),
            In(done) if finished else None,
            k,
            Out(values, dtype, 2),
            Out(experts, np.int32),
            Out(index, np.int32),
        ]

    note = f"{len(shape)}d-{k}-{finished}"
    return Case("MoeGatingTopKSoftmax", build, note, nullable=frozenset({1}), free_shapes=True)


def second_softmax_gate(shape: tuple[int, ...], k: int, renorm: int, keeps: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = scores(rng, shape, dtype)
        p = soft(wide(x))
        experts = best(wide(x), k)
        values = np.take_along_axis(p, experts, -1)
        if renorm:
            values = soft(np.take_along_axis(wide(x), experts, -1))
        kept = Out(p, np.float32, 2) if keeps and not renorm else None
        done = rng.integers(0, 2, shape[:-1]).astype(np.bool_)
        experts = np.where(done[..., None], shape[-1], experts)
        return [
            *(In(x), In(done), k, renorm, keeps),
            *(Out(values, dtype, 2), Out(experts, np.int32), kept),
        ]

    note = f"{len(shape)}d-{k}-{renorm}-{keeps}"
    return Case("MoeGatingTopKSoftmaxV2", build, note, nullable=frozenset({1}), free_shapes=True)


def normed(x: Array, kind: int) -> Array:
    if kind == 0:
        return soft(x)
    return 1 / (1 + np.exp(-x)) if kind == 1 else np.sqrt(np.log1p(np.exp(x)))


def grouped_choice(choice: Array, k: int, best_groups: int, groups: int, two: bool) -> Array:
    """The definition, a row at a time."""
    result = []
    for row in choice:
        parts = row.reshape(groups, -1)
        if groups > 1:
            ranked = -np.sort(-parts, axis=-1)
            totals = ranked[:, :2].sum(-1) if two else ranked[:, 0]
            chosen = best(totals, best_groups)
            masked = np.full_like(parts, -np.inf)
            masked[chosen] = parts[chosen]
            parts = masked
        result.append(best(parts.reshape(-1), k))
    return np.array(result)


def group_gate(
    shape: tuple[int, int],
    k: int,
    best_groups: int,
    groups: int,
    select: int,
    renorm: int,
    norm: int,
    keeps: bool = True,
    version: str = "",
) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = scores(rng, shape, dtype)
        bias = (rng.permutation(shape[1]) / 8).astype(dtype)
        p = normed(wide(x), norm)
        experts = grouped_choice(p + wide(bias), k, best_groups, groups, select == 1)
        values = np.take_along_axis(p, experts, -1)
        if norm or renorm:
            values = values / (values.sum(-1, keepdims=True) + 0.125)
        untouched = np.full(shape, 77.0)
        return [
            *(In(x), In(bias), *([None, None] if version else [])),
            *(k, best_groups, groups, select, renorm, norm, keeps, 2.5, 0.125),
            Out(values * 2.5, dtype, 2),
            Out(experts, np.int32),
            Out(p if keeps else untouched, np.float32, 2),
        ]

    note = f"{k}-{best_groups}of{groups}-{select}-{renorm}-{norm}-{keeps}"
    return Case(
        "MoeGatingTopK" + version, build, note, nullable=frozenset({1, 2, 3}), free_shapes=True
    )


def table_gate(renorm: int, norm: int, ids: Any, table: Any) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = scores(rng, (5, 16), dtype)
        lines = np.array([rng.permutation(16)[:4] for _ in range(7)])
        tokens = rng.integers(0, 7, 5)
        p = normed(wide(x), norm)
        experts = lines[tokens]
        values = np.take_along_axis(p, experts, -1)
        if norm or renorm:
            values = values / values.sum(-1, keepdims=True)
        return [
            *(In(x), None, In(tokens.astype(ids)), In(lines.astype(table))),
            *(4, 1, 1, 0, renorm, norm, True, 1.5, 0.0),
            Out(values * 1.5, dtype, 2),
            Out(experts, np.int32),
            Out(p, np.float32, 2),
        ]

    note = f"table-{renorm}-{norm}-{np.dtype(ids)}-{np.dtype(table)}"
    return Case("MoeGatingTopKV2", build, note, nullable=frozenset({1, 2, 3}), free_shapes=True)


def ends(rows: int, experts: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = np.sort(rng.integers(0, experts, rows)).astype(dtype)
        return [
            In(x),
            experts,
            Out(np.bincount(x, minlength=experts).cumsum(), np.int32),
        ]

    return Case("MoeComputeExpertTokens", build, f"{rows}-{experts}", free_shapes=True)


CASES = [
    softmax_gate((7, 9), 4, False),
    softmax_gate((2, 3, 8), 8, True),
    softmax_gate((300, 256), 8, False),
    softmax_gate((3, 5), 0, False),
    softmax_gate((0, 5), 2, True),
    second_softmax_gate((7, 9), 4, 0, True),
    second_softmax_gate((2, 3, 8), 3, 0, False),
    second_softmax_gate((2, 3, 8), 3, 1, True),
    second_softmax_gate((40, 64), 6, 1, False),
    group_gate((3, 64), 6, 2, 4, 1, 0, 1),
    group_gate((40, 256), 8, 4, 8, 1, 0, 1),
    group_gate((3, 64), 6, 1, 2, 0, 1, 0),
    group_gate((3, 32), 32, 1, 1, 0, 0, 0, keeps=False),
    group_gate((3, 64), 5, 2, 2, 1, 0, 0),
    group_gate((3, 64), 6, 2, 4, 1, 0, 1, version="V2"),
    group_gate((3, 16), 6, 1, 1, 0, 1, 0, version="V2"),
    table_gate(0, 0, np.int32, np.int64),
    table_gate(1, 0, np.int64, np.int32),
    table_gate(0, 1, np.int32, np.int32),
    ends(50, 8),
    ends(0, 3),
    ends(3, 2048),
]

TestTable = suite(CASES)


def test_equal_scores_choose_the_first_expert_and_nan_is_the_highest() -> None:
    x = place(np.array([[1, 2, 2, 1, 2], [0, np.nan, 3, np.inf, 1]], np.float32))
    y, experts, rows = (
        hollow((2, 3), np.float32),
        hollow((2, 3), np.int32),
        hollow((2, 3), np.int32),
    )
    op("aclnnMoeGatingTopKSoftmaxV2")(x, None, 3, 1, False, y, experts, None)
    assert experts.numpy().tolist() == [[1, 2, 4], [1, 3, 2]]
    assert_close(y.numpy()[0], [1 / 3] * 3)
    op("aclnnMoeGatingTopKSoftmax")(x, None, 3, y, experts, rows)
    assert experts.numpy().tolist() == [[1, 2, 4], [0, 1, 2]]
    assert rows.numpy().tolist() == [[0, 2, 4], [1, 3, 5]]


def test_the_choice_does_not_leave_its_groups() -> None:
    bias = np.where(np.arange(64) < 32, -np.inf, 0).astype(np.float32)
    bias[63] = 9
    x, y, experts = place(np.zeros((1, 64), np.float32)), hollow((1, 3), np.float32), None
    experts = hollow((1, 3), np.int32)
    # Of the second half all but one are below everything: they are still before the first half.
    bias[32:63] = -np.inf
    arguments = (x, place(bias), 3, 1, 2, 0, 0, 1, False, 1.0, 0.0)
    op("aclnnMoeGatingTopK")(*arguments, y, experts, hollow((1, 64), np.float32))
    assert experts.numpy().tolist() == [[63, 32, 33]]


def test_scores_that_the_softmax_cannot_tell_apart_keep_their_order() -> None:
    x = place(np.array([[-2000, -1000, 0]], np.float32))
    y, experts = hollow((1, 3), np.float32), hollow((1, 3), np.int32)
    op("aclnnMoeGatingTopKSoftmax")(x, None, 3, y, experts, hollow((1, 3), np.int32))
    assert y.numpy().tolist() == [[1, 0, 0]]
    assert experts.numpy().tolist() == [[2, 0, 1]]


@pytest.mark.parametrize(
    ("ids", "table", "parameter"),
    [([7], [[0, 1]], "inputIdsOptional"), ([0], [[0, 16]], "tid2eidOptional")],
)
def test_an_index_outside_the_table_is_a_fault(
    ids: list[int], table: list[list[int]], parameter: str
) -> None:
    text = fault(
        "aclnnMoeGatingTopKV2",
        *(place(np.ones((1, 16), np.float32)), None, place(np.array(ids)), place(np.array(table))),
        *(2, 1, 1, 0, 0, 0, False, 1.0, 0.0),
        *(hollow((1, 2), np.float32), hollow((1, 2), np.int32), hollow((1, 16), np.float32)),
    )
    assert parameter in text


def message(operator: str, status: int, *arguments: Any) -> str:
    with pytest.raises(AclnnError) as caught:
        op(operator)(*arguments)
    assert caught.value.status == status, caught.value
    return str(caught.value)


def group_arguments(**changes: Any) -> list[Any]:
    known: dict[str, Any] = {
        "x": np.ones((2, 64), np.float32),
        "biasOptional": np.ones(64, np.float32),
        "k": 4,
        "kGroup": 1,
        "groupCount": 2,
        "groupSelectMode": 0,
        "renorm": 0,
        "normType": 0,
        "outFlag": True,
        "routedScalingFactor": 1.0,
        "eps": 0.0,
        "yOut": np.ones((2, 4), np.float32),
        "expertIdxOut": np.ones((2, 4), np.int32),
        "outOut": np.ones((2, 64), np.float32),
        **changes,
    }
    return [place(value) if isinstance(value, np.ndarray) else value for value in known.values()]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("k", 0),
        ("k", 33),
        ("k", -(2**63)),
        ("kGroup", 0),
        ("kGroup", 3),
        ("groupCount", 0),
        ("groupCount", 3),
        ("groupSelectMode", 2),
        ("renorm", 2),
        ("normType", 2),
        ("normType", -1),
        ("x", np.ones((2, 0), np.float32)),
        ("x", np.ones(64, np.float32)),
        ("biasOptional", np.ones(63, np.float32)),
        ("yOut", np.ones((2, 5), np.float32)),
        ("expertIdxOut", np.ones((3, 4), np.int32)),
        ("outOut", np.ones((2, 63), np.float32)),
    ],
)
def test_a_group_gate_names_the_argument_it_refuses(parameter: str, value: Any) -> None:
    changed = group_arguments(**{parameter: value})
    assert parameter in message("aclnnMoeGatingTopK", 561002, *changed)


def test_other_dtypes_beside_x_are_refused() -> None:
    for parameter in ("biasOptional", "yOut"):
        changed = group_arguments(**{parameter: np.ones(64, np.float16)})
        assert parameter in message("aclnnMoeGatingTopK", 161002, *changed)


def test_groups_that_take_too_many_places_are_refused() -> None:
    changed = group_arguments(
        x=np.ones((2, 128), np.float32), biasOptional=None, groupCount=128, kGroup=128
    )
    assert "groupCount" in message("aclnnMoeGatingTopK", 561002, *changed)
    wide_row = group_arguments(x=np.ones((2, 2049), np.float32), biasOptional=None)
    assert "at most 2048 experts" in message("aclnnMoeGatingTopK", 561002, *wide_row)


def test_softmax_gates_name_the_argument_they_refuse() -> None:
    x = place(np.ones((3, 4), np.float32))
    y, experts = hollow((3, 2), np.float32), hollow((3, 2), np.int32)
    for operator, tail in (
        ("aclnnMoeGatingTopKSoftmax", (y, experts, hollow((3, 2), np.int32))),
        ("aclnnMoeGatingTopKSoftmaxV2", (0, False, y, experts, None)),
    ):
        for k in (-1, 5, 2**62):
            assert "k is" in message(operator, 561002, x, None, k, *tail)
        assert "yOut" in message(operator, 561002, x, None, 3, *tail)
        wrong = place(np.ones((4,), np.bool_))
        assert "finishedOptional" in message(operator, 561002, x, wrong, 2, *tail)
        flat = place(np.ones(4, np.float32))
        assert "x has 1" in message(operator, 561002, flat, None, 2, *tail)
    rows = hollow((3, 1), np.int32)
    text = message("aclnnMoeGatingTopKSoftmax", 561002, x, None, 2, y, experts, rows)
    assert "rowIdxOut" in text
    second = "aclnnMoeGatingTopKSoftmaxV2"
    assert "renorm" in message(second, 561002, x, None, 2, 2, False, y, experts, None)
    assert "softmaxResult" in message(second, 161001, x, None, 2, 0, True, y, experts, None)
    for wrong in (hollow((3, 4), np.float16), hollow((3, 3), np.float32)):
        assert "softmaxResult" in message(second, 561002, x, None, 2, 0, True, y, experts, wrong)
    many = place(np.ones((1, 1025), np.float32))
    outs = hollow((1, 1025), np.float32), hollow((1, 1025), np.int32)
    assert "k is 1025" in message(second, 561002, many, None, 1025, 0, False, *outs, None)


def test_expert_tokens_names_the_argument_it_refuses() -> None:
    name, rows = "aclnnMoeComputeExpertTokens", place(np.zeros(4, np.int32))
    for experts in (0, -1, 2049, 2**62):
        text = message(name, 561002, rows, experts, hollow((max(0, min(experts, 9)),), np.int32))
        assert "numExperts" in text
    assert "out has shape" in message(name, 561002, rows, 3, hollow((4,), np.int32))
    assert refusal(name, place(np.zeros((2, 2), np.int32)), 3, hollow((3,), np.int32)) == 561002


_ON_950 = """
import numpy as np
import aclnn_py as ap
with ap.Device(0):
    x = np.array([[-50, -1, 0, 100]], np.float32)
    y, experts = ap.zeros((1, 2), "float32"), ap.zeros((1, 2), "int32")
    out = ap.zeros((1, 4), "float32")
    ap.ops.moe_gating_top_k_v2(
        ap.from_numpy(x), None, None, None, 2, 1, 1, 0, 0, 2, True, 2.0, 0.0, y, experts, out)
    p = np.sqrt(np.logaddexp(0, x.astype(np.float64)))
    np.testing.assert_allclose(out.numpy(), p, rtol=1e-6)
    np.testing.assert_allclose(y.numpy()[0], 2 * p[0, [3, 2]] / p[0, [3, 2]].sum(), rtol=1e-6)
    assert experts.numpy().tolist() == [[3, 2]]
    print("right")
"""


def test_a_950_scores_with_the_root_of_softplus() -> None:
    environment = {**os.environ, "ACLNN_PY_EMULATOR_SOC": "Ascend950PR_9599"}
    made = subprocess.run(
        [sys.executable, "-c", _ON_950],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.stdout == "right\n", made.stderr


def test_a_gate_may_write_over_its_scores() -> None:
    x = place(np.array([[3, 1, 2], [1, 2, 3]], np.float32))
    experts = hollow((2, 3), np.int32)
    op("aclnnMoeGatingTopKSoftmaxV2")(x, None, 3, 1, False, x, experts, None)
    assert_close(x.numpy(), np.repeat(soft(np.array([[3.0, 2, 1]])), 2, 0))
    assert_same(experts.numpy(), np.array([[0, 2, 1], [2, 1, 0]], np.int32))
    ap.synchronize()
