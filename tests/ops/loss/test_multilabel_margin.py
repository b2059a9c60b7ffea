# SPDX-License-Identifier: Apache-2.0
"""The margin loss of several labels, and the logarithm of odds, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap

from ..elementwise.elementwise_table import slope
from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
NONE, MEAN, SUM = 0, 1, 2
LABELS = np.array([[0, 3, -1, 9, 9], [-1, 0, 0, 0, 0], [4, 3, 2, 1, 0], [2, 2, -1, 0, 0]])


def losses_of(x: Any, labels: Any) -> tuple[Any, Any]:
    marks = np.zeros(x.shape)
    losses = []
    for row, given in enumerate(labels):
        count = list(given).index(-1) if -1 in given else len(given)
        marks[row, given[:count]] = 1
        yes, no = x[row][given[:count]], x[row][marks[row] == 0]  # a label given twice counts twice
        losses.append(np.maximum(0, 1 - yes[:, None] + no[None]).sum() / x.shape[1])
    return np.array(losses), marks


def case(reduction: int, labels: str, flat: bool = False) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x = rng.normal(size=(4, 5)).astype(dtype)
        losses, marks = losses_of(wide(x), LABELS)
        result = {NONE: losses, MEAN: losses.mean(), SUM: losses.sum()}[reduction]
        if flat:
            x, marks, result = x[0], marks[0], losses[0]
        given = (LABELS[0] if flat else LABELS).astype(labels)
        return [In(x), In(given), reduction, Out(np.asarray(result), dtype, 2), Out(marks, dtype)]

    return Case("MultilabelMarginLoss", build, f"{reduction}-{labels}-{flat}")


TestMargins = suite(
    [case(NONE, "int64"), case(MEAN, "int32"), case(SUM, "int64"), case(NONE, "int32", True)]
)


def test_no_rows() -> None:
    x, labels = ap.empty((0, 3), np.float32), ap.empty((0, 3), np.int32)
    out = hollow((), np.float32)
    for reduction, result in [(MEAN, np.nan), (SUM, 0)]:
        ap.ops.multilabel_margin_loss(x, labels, reduction, out, x)
        assert_same(out.numpy(), np.float32(result).reshape(()))


def test_what_does_not_fit_is_refused() -> None:
    name, x, t = "aclnnMultilabelMarginLoss", hollow((2, 3), np.float32), hollow((2, 3), np.int32)
    out = hollow((2,), np.float32)
    assert "reduction is 3" in message(name, 161002, [x, t, 3, out, x])
    assert refusal(name, x, t, MEAN, out, x) == 161002
    assert refusal(name, x, t[:1], NONE, out, x) == 161002
    assert refusal(name, x, t, NONE, out, hollow((2, 3), np.float16)) == 161002
    none = hollow((2, 0), np.float32)
    assert refusal(name, none, hollow((2, 0), np.int32), NONE, out, none) == 161002


@pytest.mark.parametrize("label", [-2, 3, 2**40])
def test_a_label_that_does_not_exist_is_a_fault(label: int) -> None:
    x, t = hollow((1, 3), np.float32), place(np.array([[0, label, -1]]))
    text = fault("aclnnMultilabelMarginLoss", x, t, SUM, hollow((), np.float32), x)
    assert "target" in text and str(label) in text


def odds(x: Any, bound: float) -> Any:
    z = np.where(x < bound, bound, np.where(x > 1 - bound, 1 - bound, x))
    return np.log(z / (1 - z))


def logit(bound: float) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x = rng.uniform(0.05, 0.95, (3, 37)).astype(dtype)
        return [In(x), bound, Out(odds(wide(x), bound), dtype, 4)]

    return Case("Logit", build, str(bound))


def logit_gradient(bound: float) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x = rng.uniform(0.05, 0.95, (3, 37)).astype(dtype)
        g = rng.normal(size=x.shape).astype(dtype)
        oracle = wide(g) * slope(lambda y: odds(y, bound))(wide(x))
        return [In(x), In(g), bound, Out(oracle, dtype, 4)]

    return Case("LogitGrad", build, str(bound))


TestOdds = suite([logit(-1.0), logit(0.2), logit_gradient(-1.0), logit_gradient(0.203)])


def test_odds_of_what_is_no_probability() -> None:
    x = np.array([-0.5, 0, 1, 1.5, np.nan, np.inf], np.float32)
    out, one = hollow(x.shape, np.float32), place(np.ones(6, np.float32))
    ap.ops.logit(place(x), -1.0, out)
    inf, nan = np.inf, np.nan
    assert_same(out.numpy(), np.array([nan, -inf, inf, nan, nan, nan], np.float32))
    ap.ops.logit(place(x), 0.25, out)
    third = np.log(3.0)
    assert_close(out.numpy(), [-third, -third, third, third, nan, third], scale=2)
    ap.ops.logit_grad(place(x), one, -1.0, out)
    assert_same(out.numpy(), np.array([nan, inf, inf, nan, nan, nan], np.float32))
    ap.ops.logit_grad(place(x), one, 0.25, out)
    assert_same(out.numpy(), np.array([0, 0, 0, 0, nan, nan], np.float32))
    ap.ops.logit_grad(place(x), place(np.full(6, np.inf, np.float32)), 0.25, out)
    assert_same(out.numpy()[:4], np.zeros(4, np.float32))
    ap.ops.logit_grad(place(x), one, nan, out)
    assert np.isnan(out.numpy()).all()
