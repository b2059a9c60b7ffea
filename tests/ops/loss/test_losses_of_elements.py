# SPDX-License-Identifier: Apache-2.0
"""Losses of elements against NumPy in float64; their gradients against the slope of the loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import NUMPY, Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
NONE, MEAN, SUM = 0, 1, 2
BETA = 0.5
STEP = 1e-6


def softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(0, x))


def smooth(x: Array, y: Array) -> Array:
    size = abs(x - y)
    return np.where(size < BETA, 0.5 * size**2 / BETA, size - 0.5 * BETA)


def entropy(x: Array, y: Array, w: Any = 1.0) -> Array:
    return np.asarray(-w * (y * np.log(x) + (1 - y) * np.log(1 - x)))


def logits_entropy(x: Array, y: Array, w: Any = 1.0, p: Any = 1.0) -> Array:
    return np.asarray(w * (p * y * softplus(-x) + (1 - y) * softplus(x)))


@dataclass(frozen=True)
class Loss:
    """A loss: its operator, its formula, and what stands between the operands and the results."""

    name: str
    of: Callable[..., Array]
    optional: tuple[bool, ...] = ()  # which of the optional weights are given
    attributes: tuple[float, ...] = ()
    probabilities: bool = False
    narrow: bool = False  # reduced results have the shape (1)
    counts_self: bool = False  # the gradient of a mean is divided by the size of self alone

    def operands(self, rng: Rng, dtype: Any) -> list[Array]:
        if self.optional:
            first = rng.uniform(0.1, 0.9, (3, 4)) if self.probabilities else rng.normal(size=(3, 4))
            parts = [first, rng.uniform(0.1, 0.9, (3, 4))]
            weights = (rng.uniform(0.5, 2, (4,)), rng.uniform(0.5, 2, (3, 1)))
            parts += [w for w, given in zip(weights, self.optional, strict=False) if given]
        else:
            parts = [rng.normal(size=(3, 1, 37)), 2 + rng.normal(size=(2, 37))]
        return [part.astype(dtype) for part in parts]

    def losses(self, *operands: Array) -> Array:
        keep = {}
        if len(self.optional) == 2 and self.optional[1]:
            keep["p"] = operands[-1]
            operands = operands[:-1]
        return self.of(*operands, **keep)

    def spread(self, tensors: list[Any]) -> list[Any]:
        """The operands with None for weights that are absent."""
        given = iter(tensors[2:])
        return [*tensors[:2], *(next(given) if there else None for there in self.optional)]


LOSSES = [
    Loss("L1Loss", lambda x, y: abs(x - y)),
    Loss("MseLoss", lambda x, y: (x - y) ** 2, counts_self=True),
    Loss("SmoothL1Loss", smooth, attributes=(BETA,), narrow=True, counts_self=True),
    Loss("BinaryCrossEntropy", entropy, (False,), probabilities=True),
    Loss("BinaryCrossEntropy", entropy, (True,), probabilities=True, narrow=True),
    Loss("BinaryCrossEntropyWithLogits", logits_entropy, (False, False)),
    Loss("BinaryCrossEntropyWithLogits", logits_entropy, (True, False), narrow=True),
    Loss("BinaryCrossEntropyWithLogits", logits_entropy, (False, True)),
    Loss("BinaryCrossEntropyWithLogits", logits_entropy, (True, True)),
]


def reduced(values: Array, reduction: int, narrow: bool = False) -> Any:
    if reduction == NONE:
        return values
    total = values.mean() if reduction == MEAN else values.sum()
    return np.asarray([total]) if narrow else np.asarray(total)


def note(loss: Loss, reduction: int) -> str:
    return f"{''.join(str(int(given)) for given in loss.optional)}-{reduction}"


def forward(loss: Loss, reduction: int) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        if np.dtype(dtype).kind == "i":
            x, y = rng.integers(-9, 9, (3, 4)), rng.integers(-9, 9, (4,))
            whole = reduced(abs(x - y), reduction)
            return [In(x.astype(dtype)), In(y.astype(dtype)), reduction, Out(whole, dtype)]
        operands = loss.operands(rng, dtype)
        oracle = reduced(loss.losses(*map(wide, operands)), reduction, loss.narrow)
        inputs = loss.spread([In(one) for one in operands])
        return [*inputs, reduction, *loss.attributes, Out(oracle, dtype, 4)]

    dtypes = frozenset({"FLOAT", "FLOAT16", "BFLOAT16"}) if reduction == MEAN else None
    nullable = frozenset({2, 3} if loss.optional else ())
    return Case(loss.name, build, note(loss, reduction), dtypes=dtypes, nullable=nullable)


def reductions(loss: Loss) -> tuple[int, ...]:
    """All of them, but one will do where only the weights differ."""
    return (NONE, MEAN, SUM) if all(loss.optional) else (MEAN,)


TestForward = suite([forward(loss, kind) for loss in LOSSES for kind in reductions(loss)])


def derivative(loss: Loss, operands: list[Array], position: int) -> Array:
    up, down = ([*operands], [*operands])
    up[position], down[position] = operands[position] + STEP, operands[position] - STEP
    return np.asarray((loss.losses(*up) - loss.losses(*down)) / (2 * STEP))


def backward(loss: Loss, reduction: int, operator: str, position: int) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        operands = loss.operands(rng, dtype)
        slope = derivative(loss, [wide(one) for one in operands], position)
        shape = slope.shape if reduction == NONE else ()
        incoming = rng.normal(size=shape).astype(dtype)
        count = operands[0].size if loss.counts_self else slope.size
        oracle = wide(incoming) * slope / (count if reduction == MEAN else 1)
        inputs = loss.spread([In(one) for one in operands])
        return [In(incoming), *inputs, reduction, *loss.attributes, Out(oracle, dtype, 16)]

    nullable = frozenset({3, 4} if loss.optional else ())
    return Case(operator, build, note(loss, reduction), nullable=nullable)


TestBackward = suite(
    [
        *(
            backward(loss, kind, f"{loss.name}Backward", 0)
            for loss in LOSSES
            for kind in reductions(loss)
        ),
        *(
            backward(loss, kind, f"{loss.name}TargetBackward", 1)
            for loss in LOSSES
            if "Logits" in loss.name
            for kind in reductions(loss)
        ),
    ]
)


@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_mse_loss_out_folds_the_first_dimension(reduction: int) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(7, 3, 400)), rng.normal(size=(3, 1))
    losses = (wide(x.astype(np.float32)) - wide(y.astype(np.float32))) ** 2
    oracle = (losses, losses.mean(0), losses.sum(0))[reduction]
    out = hollow(oracle.shape, np.float32)
    op("aclnnMseLossOut")(place(x.astype(np.float32)), place(y.astype(np.float32)), reduction, out)
    assert_close(out.numpy(), oracle, scale=4)


def test_mse_loss_out_may_overwrite_its_operand() -> None:
    x = ap.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4))
    zeros = ap.zeros((3, 4), np.float32)
    op("aclnnMseLossOut")(x, zeros, SUM, x[0])
    np.testing.assert_array_equal(x[0].numpy(), [80, 107, 140, 179])


def test_long_sums_are_exact_to_one_rounding() -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=(300, 700)).astype(np.float32) for _ in range(2))
    out = hollow((), np.float32)
    op("aclnnMseLoss")(place(x), place(y), SUM, out)
    np.testing.assert_allclose(out.numpy(), ((wide(x) - wide(y)) ** 2).sum(), rtol=6e-8)


def test_sums_of_integers_wrap_as_integers_do() -> None:
    x = np.array([2**62, 2**62, 3], np.int64)
    out = hollow((), np.int64)
    op("aclnnL1Loss")(place(x), place(np.zeros(1, np.int64)), SUM, out)
    assert_same(out.numpy(), np.array(-(2**63) + 3, np.int64))


def test_integers_have_no_mean_and_no_losses_beside_floats() -> None:
    whole, real = hollow((3,), np.int64), hollow((3,), np.float32)
    assert refusal("aclnnL1Loss", whole, whole, MEAN, hollow((), np.float32)) == 161002
    assert refusal("aclnnL1Loss", whole, real, NONE, real) == 161002
    op("aclnnL1Loss")(real, whole, MEAN, hollow((), np.float32))


def test_a_beta_of_zero_is_the_absolute_loss() -> None:
    x, y = np.array([1.0, -2.0, 3.0], np.float32), np.array([1.0, 1.0, 1.0], np.float32)
    out, slope = hollow((3,), np.float32), hollow((3,), np.float32)
    op("aclnnSmoothL1Loss")(place(x), place(y), NONE, 0.0, out)
    assert_same(out.numpy(), np.array([0, 3, 2], np.float32))
    op("aclnnSmoothL1LossBackward")(place(y), place(x), place(y), NONE, 0.0, slope)
    assert_same(slope.numpy(), np.array([0, -1, 1], np.float32))
    assert refusal("aclnnSmoothL1Loss", place(x), place(y), NONE, -1.0, out) == 161002
    assert refusal("aclnnSmoothL1Loss", place(x), place(y), NONE, float("nan"), out) == 161002


def test_certain_predictions_have_finite_losses() -> None:
    x, y = np.array([0, 0, 1, 1], np.float32), np.array([0, 1, 0, 1], np.float32)
    out, slope = hollow((4,), np.float32), hollow((4,), np.float32)
    op("aclnnBinaryCrossEntropy")(place(x), place(y), None, NONE, out)
    assert_same(out.numpy(), np.array([0, 100, 100, 0], np.float32))
    op("aclnnBinaryCrossEntropyBackward")(place(y), place(x), place(y), None, NONE, slope)
    np.testing.assert_allclose(slope.numpy(), [0, -1e12, 0, 0])


def test_large_logits_neither_overflow_nor_lose_the_loss() -> None:
    x = np.array([1e30, -1e30, 90, -90, np.inf, np.nan], np.float32)
    y = np.array([0, 1, 0.5, 0.5, 0, 0.5], np.float32)
    out = hollow((6,), np.float32)
    op("aclnnBinaryCrossEntropyWithLogits")(place(x), place(y), None, None, NONE, out)
    assert_close(out.numpy(), [np.float32(1e30), np.float32(1e30), 45, 45, np.inf, np.nan], scale=4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_logits_of_minus_infinity(weighted: bool, positive: bool) -> None:
    """The kernel subtracts the logarithm of the sigmoid from the logit, whatever the class."""
    x = np.array([-np.inf, -np.inf, -np.inf, np.inf, np.inf, np.inf, -3], np.float32)
    y = np.array([0, 0.5, 1, 0, 0.5, 1, 1], np.float32)
    ones, out = place(np.ones(7, np.float32)), hollow((7,), np.float32)
    weights = ones if weighted else None, ones if positive else None
    op("aclnnBinaryCrossEntropyWithLogits")(place(x), place(y), *weights, NONE, out)
    with np.errstate(invalid="ignore"):
        logarithm = np.minimum(wide(x), 0) - np.log1p(np.exp(-abs(wide(x))))
        oracle = (1 - wide(y)) * wide(x) - logarithm
    assert_close(out.numpy(), oracle, scale=2)


def test_the_absolute_loss_has_no_slope_where_neither_is_larger() -> None:
    x = np.array([np.nan, 1, np.inf, -np.inf, np.inf, 2], np.float32)
    y = np.array([1, np.nan, np.inf, -np.inf, 0, 5], np.float32)
    g, out = np.full(6, 3, np.float32), hollow((6,), np.float32)
    op("aclnnL1LossBackward")(place(g), place(x), place(y), NONE, out)
    assert_same(out.numpy(), np.array([0, 0, 0, 0, 3, -3], np.float32))


@pytest.mark.parametrize("operator", ["SoftmaxBackward", "LogSoftmaxBackward"])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "BFLOAT16"])
def test_gradients_of_softmax(operator: str, dim: int, kind: str) -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(4, 3, 50)) * 3
    powers = np.exp(logits - logits.max(dim, keepdims=True))
    results = powers / powers.sum(dim, keepdims=True)
    if operator.startswith("Log"):
        results = np.log(results)
    incoming, results = (
        rng.normal(size=logits.shape).astype(NUMPY[kind]),
        results.astype(NUMPY[kind]),
    )
    g, s = wide(incoming), wide(results)
    if operator.startswith("Log"):
        oracle = g - np.exp(s) * g.sum(dim, keepdims=True)
    else:
        oracle = s * (g - (g * s).sum(dim, keepdims=True))
    out = hollow(logits.shape, NUMPY[kind])
    op(f"aclnn{operator}")(place(incoming, "stepped"), place(results), dim, out)
    assert_close(out.numpy(), oracle, scale=8)


def test_gradients_of_softmax_refuse_by_name() -> None:
    x, half = hollow((3, 4), np.float32), hollow((3, 4), np.float16)
    for operator in ("aclnnSoftmaxBackward", "aclnnLogSoftmaxBackward"):
        assert refusal(operator, x, half, 0, x) == 161002
        assert refusal(operator, x, x, 2, x) == 161002
        assert refusal(operator, x, x, 0, hollow((4, 3), np.float32)) == 161002


def test_weights_and_targets_that_do_not_fit_are_refused() -> None:
    x, tall, half = (
        hollow((3, 4), np.float32),
        hollow((4, 3), np.float32),
        hollow((3, 4), np.float16),
    )
    bce = "aclnnBinaryCrossEntropy"
    assert refusal(bce, x, tall, None, NONE, x) == 161002
    assert refusal(bce, x, x, tall, NONE, x) == 161002
    assert refusal(bce, x, x, half, NONE, x) == 161002
    assert refusal(bce, x, x, None, NONE, half) == 161002
    assert refusal(bce, x, x, None, 3, x) == 161002
    assert refusal(f"{bce}Backward", tall, x, x, None, NONE, x) == 161002
    assert refusal(f"{bce}WithLogits", x, x, None, tall, NONE, x) == 161002
    assert refusal(f"{bce}WithLogits", x, half, None, None, NONE, x) == 161002
    assert refusal(f"{bce}WithLogitsBackward", x, x, x, None, None, NONE, half) == 161002
    assert refusal("aclnnMseLossBackward", half, x, x, NONE, x) == 161002
    assert refusal("aclnnMseLossOut", x, x, SUM, hollow((3,), np.float32)) == 161002
