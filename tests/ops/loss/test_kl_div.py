# SPDX-License-Identifier: Apache-2.0
"""The divergence of Kullback and Leibler and its gradients, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


Rng = np.random.Generator
NONE, MEAN, SUM, BATCH = 0, 1, 2, 3
STEP = 1e-6


def losses(x: Array, y: Array, logarithm: bool) -> Array:
    return np.asarray(np.exp(y) * (y - x) if logarithm else y * (np.log(y) - x))


def divisor(values: Array, reduction: int) -> int:
    return {NONE: 1, SUM: 1, MEAN: values.size, BATCH: values.shape[0]}[reduction]


def operands(rng: Rng, dtype: Any) -> tuple[Array, Array]:
    x = rng.normal(size=(3, 4, 5)).astype(dtype)
    return x, rng.uniform(0.1, 1, (4, 5)).astype(dtype)


def forward(reduction: int, logarithm: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x, y = operands(rng, dtype)
        values = losses(wide(x), wide(y), logarithm)
        if reduction != NONE:
            values = np.asarray([values.sum() / divisor(values, reduction)])
        return [In(x), In(y), reduction, logarithm, Out(values, dtype, 4)]

    return Case("KlDiv", build, f"{reduction}-{logarithm}")


def backward(reduction: int, logarithm: bool, of_target: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x, y = operands(rng, dtype)
        if of_target:
            x, y = rng.normal(size=(4, 1)).astype(dtype), y
        up, down = [wide(x), wide(y)], [wide(x), wide(y)]
        up[of_target], down[of_target] = up[of_target] + STEP, down[of_target] - STEP
        slope = (losses(*up, logarithm) - losses(*down, logarithm)) / (2 * STEP)
        g = rng.normal(size=slope.shape if reduction == NONE else (1,)).astype(dtype)
        oracle = wide(g) * slope / divisor(slope, reduction)
        return [In(g), In(x), In(y), reduction, logarithm, Out(oracle, dtype, 8)]

    name = "KlDivTargetBackward" if of_target else "KlDivBackward"
    return Case(name, build, f"{reduction}-{logarithm}")


KINDS = [(NONE, False), (MEAN, True), (SUM, False), (BATCH, True), (BATCH, False)]
TestForward = suite([forward(*kind) for kind in KINDS])
TestBackward = suite([backward(*kind, side) for kind in KINDS[:4] for side in (False, True)])


def test_a_target_without_a_logarithm_has_no_loss() -> None:
    x, y = np.zeros(3, np.float32), np.array([0, -1, 1], np.float32)
    out = hollow((3,), np.float32)
    ap.ops.kl_div(place(x), place(y), NONE, False, out)
    assert_same(out.numpy(), np.array([np.nan, np.nan, 0], np.float32))


def test_a_target_of_0_has_no_derivative() -> None:
    x, y = np.full(3, -1.5, np.float32), np.array([0, 1, 1], np.float32)
    ones, out = place(np.array([1, 1, 0], np.float32)), hollow((3,), np.float32)
    ap.ops.kl_div_target_backward(ones, place(x), place(y), NONE, False, out)
    assert_same(out.numpy(), np.array([np.nan, 2.5, 0], np.float32))


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_on_a_950_a_target_of_0_has_a_loss_of_0(newer: Chip950) -> None:
    for kind in (np.float32, np.float16):
        x, y = np.full(3, -1.5, kind), np.array([0, -1, 1], kind)
        name = np.dtype(kind).name
        given = Given(x, name), Given(y, name)
        (found,) = newer.operator("kl_div", *given, NONE, False, Made((3,), name))
        assert_same(found, np.array([0, np.nan, 1.5], kind))


@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_reduction_gives_one_element(shape: tuple[int, ...]) -> None:
    x, y = np.full(4, -1.5, np.float32), np.full(4, 0.5, np.float32)
    out = hollow(shape, np.float32)
    ap.ops.kl_div(place(x), place(y), SUM, False, out)
    assert_close(out.numpy(), np.full(shape, losses(wide(x), wide(y), False).sum()), scale=2)


def test_means_of_nothing() -> None:
    none, out = hollow((0, 3), np.float32), hollow((1,), np.float32)
    for reduction, result in [(MEAN, np.nan), (SUM, 0), (BATCH, np.nan)]:
        ap.ops.kl_div(none, none, reduction, True, out)
        assert_same(out.numpy(), np.array([result], np.float32))


def test_the_result_of_two_dtypes() -> None:
    x, y = np.full(3, -1.5, np.float16), np.full((2, 1), 0.3, np.float32)
    out = hollow((1,), np.float32)
    ap.ops.kl_div(place(x), place(y), BATCH, False, out)
    # The batch is that of the shape in which both meet, (2, 3).
    assert_close(out.numpy(), [losses(wide(x), wide(y), False).sum() / 2], scale=2)


def test_what_does_not_fit_is_refused() -> None:
    x, y, one = hollow((2, 3), np.float32), hollow((4, 3), np.float32), hollow((1,), np.float32)
    assert refusal("aclnnKlDiv", x, y, NONE, False, x) == 161002
    assert "reduction is 4" in message("aclnnKlDiv", 161002, [x, x, 4, False, x])
    assert refusal("aclnnKlDiv", x, x, SUM, False, hollow((2,), np.float32)) == 161002
    assert refusal("aclnnKlDiv", x, x, SUM, False, hollow((1,), np.int32)) == 161002
    for name in ("aclnnKlDivBackward", "aclnnKlDivTargetBackward"):
        assert refusal(name, one, x, x, -1, False, x) == 161002
        assert refusal(name, y, x, x, NONE, False, x) == 161002
        assert refusal(name, one, x, x, SUM, False, hollow((2, 3), np.float16)) == 161002
    # A gradient is no sum over the dimensions in which its operand is repeated.
    row = hollow((3,), np.float32)
    text = message("aclnnKlDivBackward", 161002, [one, row, x, SUM, False, row])
    assert "target has shape (2, 3), which does not broadcast to (3,) of self" in text
    assert refusal("aclnnKlDivTargetBackward", one, x, row, SUM, False, row) == 161002
    assert op("aclnnKlDiv") is ap.ops.kl_div
