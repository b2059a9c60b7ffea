# SPDX-License-Identifier: Apache-2.0
"""Losses and their gradients against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide

import aclnn_py as ap
from aclnn_py import functional

from ..problems import Case, In, Out, Problem, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
NONE, MEAN, SUM = 0, 1, 2
REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


def operands(rng: Rng, dtype: Dtype, *shapes: tuple[int, ...]) -> list[Array]:
    *values, labels = shapes
    drawn = [(rng.standard_normal(shape) * 5).astype(dtype) for shape in values]
    return [*drawn, np.where(rng.random(labels) < 0.5, -1, 1).astype(dtype)]


def losses(x: Array, y: Array) -> Array:
    return np.asarray(np.logaddexp(0, -wide(y) * wide(x)))


def reduced(values: Array, reduction: int) -> Any:
    return (lambda v: v, np.mean, np.sum)[reduction](values)


def forward(reduction: str) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, y = operands(rng, dtype, (3, 1, 37), (2, 37))
        number = REDUCTIONS[reduction]
        return [In(x), In(y), number, Out(reduced(losses(x, y), number), dtype, 4)]

    return Case("SoftMarginLoss", build, reduction)


def backward(reduction: str) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        grad, x, y = operands(rng, dtype, (3, 2, 37), (3, 1, 37), (2, 37))
        slope = -wide(y) / (1 + np.exp(wide(y) * wide(x)))
        count = slope.size if reduction == "mean" else 1
        result = Out(wide(grad) * slope / count, dtype, 8)
        return [In(grad), In(x), In(y), REDUCTIONS[reduction], result]

    return Case("SoftMarginLossBackward", build, reduction)


TestLoss = suite([*map(forward, REDUCTIONS), *map(backward, REDUCTIONS)])


def test_long_sums_are_exact_to_one_rounding() -> None:
    x, y = operands(np.random.default_rng(1), np.dtype(np.float32), (300, 700), (300, 700))
    total = functional.soft_margin_loss(place(x), place(y), reduction="sum")
    np.testing.assert_allclose(total.numpy(), losses(x, y).sum(), rtol=6e-8)


def test_dtypes_meet_and_the_result_may_be_narrower() -> None:
    x, _ = operands(np.random.default_rng(2), np.dtype(np.float32), (5,), (5,))
    y = np.array([1, -1, 1, -1, 1], np.float16)
    for reduction, shape in ((NONE, (5,)), (SUM, ())):
        out = hollow(shape, np.float16)
        op("aclnnSoftMarginLoss")(place(x), place(y), reduction, out)
        assert_close(out.numpy(), reduced(losses(x, y), reduction), scale=2)


def test_large_arguments_neither_overflow_nor_lose_the_loss() -> None:
    x = np.array([1e30, -1e30, 90.0, -90.0, np.inf, -np.inf, np.nan], np.float32)
    y = np.ones(7, np.float32)
    loss = functional.soft_margin_loss(place(x), place(y), reduction="none").numpy()
    with np.errstate(all="ignore"):
        assert_close(loss, losses(x, y), scale=4)
    slope = hollow((7,), np.float32)
    op("aclnnSoftMarginLossBackward")(place(y), place(x), place(y), NONE, slope)
    with np.errstate(over="ignore"):
        assert_close(slope.numpy(), -1 / (1 + np.exp(wide(x))), scale=4)


@pytest.mark.parametrize(("reduction", "value"), [(MEAN, np.nan), (SUM, 0.0)])
def test_nothing_has_no_mean_and_a_sum_of_zero(reduction: int, value: float) -> None:
    empty, out = place(np.zeros((0, 3), np.float32)), hollow((), np.float32)
    op("aclnnSoftMarginLoss")(empty, empty, reduction, out)
    assert_same(out.numpy(), np.float32(value))


@pytest.mark.parametrize("reduction", [-1, 3])
def test_an_unknown_reduction_is_named(reduction: int) -> None:
    x, out = hollow((3,), np.float32), hollow((3,), np.float32)
    calls = {"aclnnSoftMarginLoss": (x, x), "aclnnSoftMarginLossBackward": (x, x, x)}
    for name, tensors in calls.items():
        with pytest.raises(ap.errors.AclnnError, match=f"reduction is {reduction}; allowed: 0"):
            op(name)(*tensors, reduction, out)


def test_shapes_that_do_not_meet_are_refused() -> None:
    x, y = hollow((3, 2), np.float32), hollow((4,), np.float32)
    assert refusal("aclnnSoftMarginLoss", x, y, NONE, hollow((3, 2), np.float32)) == 161002
    assert refusal("aclnnSoftMarginLoss", x, y, SUM, hollow((), np.float32)) == 161002
    assert refusal("aclnnSoftMarginLoss", x, x, MEAN, hollow((1,), np.float32)) == 161002
    out = hollow((3, 2), np.float32)
    assert refusal("aclnnSoftMarginLossBackward", x, x, y, NONE, out) == 161002
