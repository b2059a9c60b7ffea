# SPDX-License-Identifier: Apache-2.0
"""The negative log likelihood of classes and its gradient, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, suite

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


Rng = np.random.Generator
NONE, MEAN, SUM = 0, 1, 2
IGNORED = 1
SHAPES = {"NLLLoss": (6, 5), "NLLLoss2d": (2, 5, 3, 4)}


def problem(name: str, rng: Rng, dtype: Any) -> tuple[Any, Any, Any, Any]:
    """Scores, classes, weights of classes, and the weight of each position (0 if ignored)."""
    shape = SHAPES[name]
    classes = rng.integers(0, 5, (shape[0], *shape[2:]))
    weight = rng.uniform(0.5, 2, 5).astype(dtype)
    each = np.where(classes == IGNORED, 0, wide(weight)[classes])
    return rng.normal(size=shape).astype(dtype), classes, weight, each


def forward(name: str, reduction: int, labels: str) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x, classes, weight, each = problem(name, rng, dtype)
        chosen = np.take_along_axis(wide(x), np.expand_dims(classes, 1), 1).squeeze(1)
        losses = -each * chosen
        total = np.asarray([0.0 if reduction == NONE else each.sum()])
        result = losses
        if reduction != NONE:
            result = np.asarray([losses.sum() / (total[0] if reduction == MEAN else 1)])
        return [
            *(In(x), In(classes.astype(labels)), In(weight), reduction, IGNORED),
            *(Out(result, dtype, 4), Out(total, dtype, 2)),
        ]

    return Case(name, build, f"{reduction}-{labels}", free_shapes=reduction != NONE)


def backward(name: str, reduction: int, labels: str) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x, classes, weight, each = problem(name, rng, dtype)
        incoming = rng.normal(size=classes.shape if reduction == NONE else ()).astype(dtype)
        total = np.asarray([each.sum()]).astype(dtype)
        slopes = -wide(incoming) * each / (wide(total)[0] if reduction == MEAN else 1)
        oracle = np.zeros(x.shape)
        np.put_along_axis(oracle, np.expand_dims(classes, 1), np.expand_dims(slopes, 1), 1)
        return [
            *(In(incoming), In(x), In(classes.astype(labels)), In(weight), reduction, IGNORED),
            *(In(total), Out(oracle, dtype, 4)),
        ]

    return Case(f"{name}Backward", build, f"{reduction}-{labels}", decides=1)


KINDS = [(NONE, "int64"), (MEAN, "int32"), (SUM, "uint8")]
TestForward = suite([forward(name, *kind) for name in SHAPES for kind in KINDS])
TestBackward = suite([backward(name, *kind) for name in SHAPES for kind in KINDS])


def test_one_position_has_one_loss() -> None:
    x, weight = np.array([1.0, 2.0, 3.0], np.float32), np.array([1.0, 0.5, 2.0], np.float32)
    out, total, slope = hollow((), np.float32), hollow((1,), np.float32), hollow((3,), np.float32)
    label = np.array(2, np.int32)
    for reduction, loss in ((NONE, -6.0), (MEAN, -3.0), (SUM, -6.0)):
        op("aclnnNLLLoss")(place(x), place(label), place(weight), reduction, -100, out, total)
        assert out.numpy() == loss
    one = place(np.ones(1, np.float32))
    op("aclnnNLLLossBackward")(one, place(x), place(label), place(weight), 2, -100, one, slope)
    assert_same(slope.numpy(), np.array([0, 0, -2], np.float32))


def test_a_mean_of_nothing_is_nan() -> None:
    x, labels = place(np.ones((2, 3), np.float32)), place(np.full(2, 7, np.int32))
    out, total, weight = (
        hollow((1,), np.float32),
        hollow((1,), np.float32),
        hollow((3,), np.float32),
    )
    op("aclnnNLLLoss")(x, labels, weight, MEAN, 7, out, total)
    assert np.isnan(out.numpy()[0]) and total.numpy()[0] == 0


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_the_mean_of_one_ignored_position_is_nan_but_on_a_950_zero(newer: Chip950) -> None:
    x, weight, label = np.ones(3, np.float32), np.ones(3, np.float32), np.array(7, np.int32)
    out, total = hollow((1,), np.float32), hollow((1,), np.float32)
    op("aclnnNLLLoss")(place(x), place(label), place(weight), MEAN, 7, out, total)
    assert np.isnan(out.numpy()[0]) and total.numpy()[0] == 0
    given = Given(x, "float32"), Given(label, "int32"), Given(weight, "float32")
    made = Made((1,), "float32"), Made((1,), "float32")
    loss, whole = newer.operator("nll_loss", *given, MEAN, 7, *made)
    assert loss[0] == 0 and whole[0] == 0


@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_gradients_where_the_weights_are_zero(reduction: int) -> None:
    """A mean divides by the whole weight, so 0 of 0 is NaN; ignored positions stay 0."""
    x, labels = place(np.ones((2, 3), np.float32)), place(np.array([1, 7], np.int32))
    weight, total = place(np.zeros(3, np.float32)), place(np.zeros(1, np.float32))
    g = place(np.ones(2 if reduction == NONE else 1, np.float32))
    slope = hollow((2, 3), np.float32)
    op("aclnnNLLLossBackward")(g, x, labels, weight, reduction, 7, total, slope)
    lost = np.nan if reduction == MEAN else 0
    assert_same(slope.numpy(), np.array([[0, lost, 0], [0, 0, 0]], np.float32))


@pytest.mark.parametrize("label", [-1, 3, 2**40])
def test_a_class_that_does_not_exist_is_a_fault(label: int) -> None:
    x, weight = place(np.ones((2, 3), np.float32)), place(np.ones(3, np.float32))
    labels = place(np.array([0, label], np.int64))
    out, total = hollow((1,), np.float32), hollow((1,), np.float32)
    with pytest.raises(ap.errors.DeviceError, match=f"target.*{label}"):
        op("aclnnNLLLoss")(x, labels, weight, SUM, -100, out, total)
        ap.synchronize()
    with pytest.raises(ap.errors.DeviceError, match=f"target.*{label}"):
        op("aclnnNLLLossBackward")(total, x, labels, weight, SUM, -100, total, x)
        ap.synchronize()


def test_what_does_not_fit_is_refused() -> None:
    x, labels, weight = hollow((2, 3), np.float32), hollow((2,), np.int64), hollow((3,), np.float32)
    out, one = hollow((2,), np.float32), hollow((1,), np.float32)
    nll = "aclnnNLLLoss"
    assert refusal(nll, x, hollow((3,), np.int64), weight, 0, -100, out, one) == 161002
    assert refusal(nll, x, labels, out, 0, -100, out, one) == 161002
    assert refusal(nll, x, labels, weight, 3, -100, out, one) == 161002
    assert refusal(nll, x, labels, weight, 0, -100, one, one) == 161002
    assert refusal(nll, x, labels, weight, 1, -100, one, out) == 161002
    assert refusal(f"{nll}2d", x, labels, weight, 0, -100, out, one) == 161002
    half = hollow((2,), np.float16)
    assert refusal(f"{nll}Backward", half, x, labels, weight, 0, -100, one, x) == 161002
    assert refusal(f"{nll}Backward", out, x, labels, weight, 1, -100, one, x) == 161002
