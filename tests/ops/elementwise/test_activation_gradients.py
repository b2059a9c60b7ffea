# SPDX-License-Identifier: Apache-2.0
"""Activations with parameters or random slopes, and gradients, against the slope of the formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite
from .elementwise_table import elu, gelu_tanh, gelu_tanh_slope, slope

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator


def log_sigmoid(x: Array) -> Array:
    return np.asarray(-np.logaddexp(0, -x))


def log_sigmoid_case(rng: Rng, dtype: Any) -> Problem:
    x = (8 * rng.normal(size=(3, 37))).astype(dtype)
    return [In(x), Out(log_sigmoid(wide(x)), dtype), In(np.zeros(0, dtype))]


def log_sigmoid_gradient(rng: Rng, dtype: Any) -> Problem:
    g, x = (rng.normal(size=(3, 37)).astype(dtype) for _ in range(2))
    oracle = wide(g) * slope(log_sigmoid)(wide(x))
    return [In(g), In(x), In(np.zeros(0, dtype)), Out(oracle, dtype, 2)]


def prelu(x: Array, w: Array) -> Array:
    along = w.reshape(-1) if x.ndim < 2 else w.reshape(-1, *[1] * (x.ndim - 2))
    return np.where(x > 0, x, along * x)


def prelu_case(shape: tuple[int, ...], weight: tuple[int, ...]) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x, w = rng.normal(size=shape).astype(dtype), rng.normal(size=weight).astype(dtype)
        return [In(x), In(w), Out(prelu(wide(x), wide(w)), dtype)]

    return Case("Prelu", build, f"{shape}-{weight}")


def prelu_gradient(shape: tuple[int, ...], weight: tuple[int, ...], incoming: Any) -> Case:
    """The derivative of ``sum(g * prelu(x, w))``, element by element of the weight."""

    def build(rng: Rng, dtype: Any) -> Problem:
        g = rng.normal(size=incoming or shape).astype(dtype)
        x, w = rng.normal(size=shape).astype(dtype), rng.normal(size=weight).astype(dtype)
        dx = wide(g) * slope(lambda y: prelu(y, wide(w)))(wide(x))
        dw = np.zeros(weight)
        for at in np.ndindex(weight):
            move = np.zeros(weight)
            move[at] = 1e-3  # the formula is linear in the weight
            ends = [(wide(g) * prelu(wide(x), wide(w) + s * move)).sum() for s in (1, -1)]
            dw[at] = (ends[0] - ends[1]) / 2e-3
        return [In(g), In(x), In(w), Out(dx, dtype, 2), Out(dw, dtype, 4)]

    return Case("PreluBackward", build, f"{shape}-{weight}", decides=1)


def elu_gradient(result: bool) -> Case:
    alpha, scale, inner = 1.5, 2.0, 0.5

    def build(rng: Rng, dtype: Any) -> Problem:
        g = rng.normal(size=(3, 37)).astype(dtype)
        # Where the result is given, it is drawn: the argument follows from it.
        x = (2 * rng.normal(size=(3, 37))).astype(dtype)
        if result:
            x = np.maximum(wide(x), -2.5).astype(dtype)
            given = wide(x)
            at = np.where(given > 0, given / scale, 0)
            low = given <= 0
            at[low] = np.log1p(given[low] / (scale * alpha)) / inner
        else:
            at = wide(x)
        oracle = wide(g) * slope(lambda y: elu(y, alpha, scale, inner))(at)
        return [In(g), alpha, scale, inner, result, In(x), Out(oracle, dtype, 8)]

    return Case("EluBackward", build, str(result))


TestActivations = suite(
    [
        Case("LogSigmoidForward", log_sigmoid_case, nullable=frozenset({2})),
        Case("LogSigmoidBackward", log_sigmoid_gradient),
        prelu_case((2, 3, 5), (3,)),
        prelu_case((7,), (1,)),
        prelu_case((4, 3), (1, 3)),
        prelu_gradient((2, 3, 5), (3,), None),
        prelu_gradient((4, 3), (1, 3), (1, 3)),
        prelu_gradient((2, 3, 5), (1,), None),
        prelu_gradient((5,), (), None),
        elu_gradient(True),
        elu_gradient(False),
    ]
)


@pytest.mark.parametrize("shape", [(300, 700), (3, 4, 20000), (2, 90000)])
def test_gradients_of_many_weights(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    g, x = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    w = rng.normal(size=shape[1]).astype(np.float32)
    dx, dw = hollow(shape, np.float32), hollow(w.shape, np.float32)
    ap.ops.prelu_backward(place(g), place(x), place(w), dx, dw)
    axes = tuple(d for d in range(len(shape)) if d != 1)
    oracle = np.where(x > 0, 0, wide(g) * wide(x)).sum(axes)
    np.testing.assert_allclose(dw.numpy(), oracle, rtol=1e-6, atol=1e-5)
    one = hollow((), np.float32)
    ap.ops.prelu_backward(place(g), place(x), place(np.float32(0.5).reshape(())), dx, one)
    np.testing.assert_allclose(one.numpy(), oracle.sum(), rtol=1e-5)


def test_prelu_refuses_weights_that_fit_no_channel() -> None:
    x, w, out = hollow((2, 3), np.float32), hollow((2,), np.float32), hollow((2, 3), np.float32)
    assert "weight has 2 elements" in message("aclnnPrelu", 161002, [x, w, out])
    assert refusal("aclnnPreluBackward", x, x, w, out, hollow((2,), np.float32)) == 161002
    w = hollow((3,), np.float32)
    wide_x = hollow((4, 2, 3), np.float32)
    assert refusal("aclnnPreluBackward", wide_x, x, w, out, hollow((3,), np.float32)) == 161002
    assert refusal("aclnnPrelu", x, w, hollow((2, 3), np.int32)) == 161002


def test_prelu_of_no_elements() -> None:
    none, w = hollow((0, 3), np.float32), place(np.ones(3, np.float32))
    dw = hollow((3,), np.float32)
    ap.ops.prelu(none, w, hollow((0, 3), np.float32))
    ap.ops.prelu_backward(none, none, w, hollow((0, 3), np.float32), dw)
    assert_same(dw.numpy(), np.zeros(3, np.float32))


def test_gelu_by_its_tanh_form() -> None:
    rng = np.random.default_rng(4)
    g, x = rng.normal(size=(3, 1)).astype(np.float32), rng.normal(size=40).astype(np.float32)
    out = hollow((3, 40), np.float32)
    ap.ops.gelu_backward_v2(place(g), place(x), "tanh", out)
    assert_close(out.numpy(), wide(g) * slope(gelu_tanh)(wide(x)), scale=4)
    assert refusal("aclnnGeluBackwardV2", place(g), place(x), "erf", out) == 161002


def test_swish_without_a_factor() -> None:
    x = np.random.default_rng(5).normal(size=9).astype(np.float32)
    out = hollow((9,), np.float32)
    ap.ops.swish_backward(place(np.ones(9, np.float32)), place(x), None, out)
    assert_close(out.numpy(), slope(lambda y: y / (1 + np.exp(-y)))(wide(x)), scale=2)


def test_elu_of_a_result_needs_a_factor_that_is_not_negative() -> None:
    x, out = hollow((2,), np.float32), hollow((2,), np.float32)
    text = message("aclnnEluBackward", 161002, [x, -1.0, 1.0, 1.0, True, x, out])
    assert "alpha is -1" in text
    ap.ops.elu_backward(x, -1.0, 1.0, 1.0, False, x, out)


def slopes_of(name: str, y: Any, *attributes: Any) -> Array:
    """Return what a gradient operator makes of the incoming gradient 2 at each point."""
    at = np.array(y, np.float32)
    out = hollow(at.shape, np.float32)
    g = place(np.full(at.shape, 2, np.float32))
    op(f"aclnn{name}")(g, place(at), *attributes, out)
    return np.asarray(out.numpy())


def test_gelu_without_a_form_has_the_slope_of_tanh() -> None:
    y = np.array([-2.25, -0.75, 0.5, 1.75, 1e20, -1e20, np.inf, -np.inf, np.nan], np.float32)
    found = slopes_of("GeluBackward", y)
    assert_close(found[:4], 2 * gelu_tanh_slope(wide(y[:4])), scale=4)
    assert_same(found[4:], np.array([2, 0, 2, 0, np.nan], np.float32))
    out = hollow(y.shape, np.float32)
    ap.ops.gelu_backward_v2(place(np.full(9, 2, np.float32)), place(y), "tanh", out)
    assert_same(out.numpy(), found)


@pytest.mark.parametrize(("name", "ends"), [("", (-1, 3)), ("V2", (0, 2))])
def test_hardswish_at_its_bounds(name: str, ends: tuple[float, float]) -> None:
    """The first version has both bounds in its middle part, the second one neither."""
    found = slopes_of(f"HardswishBackward{name}", [-3, 3, -3.5, 3.5, 0, np.nan])
    assert_close(found, np.array([*ends, 0, 2, 1, 2]), scale=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("alpha", "inner"), [(math.inf, 1), (1.5, math.inf), (1.5, -math.inf), (math.nan, 1)]
)
def test_elu_with_a_factor_that_is_not_finite(alpha: float, inner: float, dtype: Any) -> None:
    """CANN composes it of a threshold of 0, below which the value is ``-alpha``, and the scale."""
    x, out = np.array([-1, -0.0, 0, 2, np.nan], dtype), hollow((5,), dtype)
    ap.ops.elu(place(x), alpha, 2.0, inner, out)
    assert_same(out.numpy(), (2 * np.where(wide(x) <= 0, -alpha, wide(x))).astype(dtype))
    ap.ops.inplace_elu(same := place(x), alpha, 2.0, inner)
    assert_same(same.numpy(), out.numpy())


def test_hardswish_is_zero_down_to_minus_infinity() -> None:
    x, out = np.array([-np.inf, -4, -3, np.inf, np.nan], np.float32), hollow((5,), np.float32)
    ap.ops.hardswish(place(x), out)
    assert_same(out.numpy(), np.array([0, 0, 0, np.inf, np.nan], np.float32))


def test_nan_is_not_below_what_a_slope_compares_with() -> None:
    nan = [np.nan]
    for result in (False, True):
        out = hollow((1,), np.float32)
        g = place(np.full(1, 2, np.float32))
        ap.ops.elu_backward(g, 1.5, 3.0, 0.5, result, place(np.array(nan, np.float32)), out)
        assert out.numpy()[0] == 6
    assert_close(slopes_of("SeluBackward", nan), [2 * 1.0507009873554805], scale=1)
    assert slopes_of("ThresholdBackward", nan, 1.0)[0] == 2
    assert slopes_of("ThresholdBackward", nan, 0.0)[0] == 2
    assert slopes_of("HardtanhBackward", nan, -1.0, 1.0)[0] == 2
    assert slopes_of("HardshrinkBackward", nan, 0.5)[0] == 2
    assert slopes_of("SoftshrinkBackward", nan, 0.5)[0] == 2
    assert slopes_of("HardsigmoidBackward", nan)[0] == 0


def test_nan_beside_thresholds() -> None:
    x, out = np.array([np.nan, -0.25, 2, -2], np.float32), hollow((4,), np.float32)
    ap.ops.threshold(place(x), 0.5, 7.0, out)
    assert_same(out.numpy(), np.array([np.nan, 7, 2, 7], np.float32))
    ap.ops.softshrink(place(x), 0.5, out)
    assert_same(out.numpy(), np.array([0, 0, 1.5, -1.5], np.float32))


@pytest.mark.parametrize("threshold", [-0.5, 0.5, -1.0, 1.0, 0.0])
def test_integers_are_compared_with_the_fraction_of_a_threshold(threshold: float) -> None:
    y = np.array([-2, -1, 0, 1, 2], np.int32)
    g, out = np.array([3, 4, 5, 6, 7], np.int32), hollow((5,), np.int32)
    ap.ops.threshold_backward(place(g), place(y), threshold, out)
    assert_same(out.numpy(), np.where(y > threshold, g, 0).astype(np.int32))


def test_erfinv_at_its_ends() -> None:
    x = np.array([1, -1, 1.5, np.nan, 0, -0.0, 1 - 2**-24, 1e-30, 1e-6], np.float32)
    out = hollow(x.shape, np.float32)
    ap.ops.erfinv(place(x), out)
    found = out.numpy()
    assert_same(found[:6], np.array([np.inf, -np.inf, np.nan, np.nan, 0, -0.0], np.float32))
    assert np.signbit(found[5])
    back = [math.erfc(float(found[6])) / 2**-24]
    np.testing.assert_allclose(back, [1], rtol=2e-6)
    np.testing.assert_allclose(found[7:], wide(x[7:]) * math.sqrt(math.pi) / 2, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_random_slopes_are_those_of_uniform_numbers(dtype: Any) -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(30, 100)).astype(dtype)
    x[0, :3] = 0, -0.0, np.nan  # none is below 0
    drawn = hollow((30, 100), dtype)
    ap.ops.inplace_uniform(drawn, 0.125, 0.5, 7, 12)
    noise, out = hollow((30, 100), dtype, "stepped"), hollow((30, 100), dtype, "transposed")
    ap.ops.r_relu_with_noise(place(x, "stepped"), noise, 0.125, 0.5, True, 7, 12, out)
    slopes = np.where(x < 0, wide(drawn.numpy()), 1)
    assert_same(wide(noise.numpy()), slopes)
    assert_same(out.numpy(), (wide(x) * slopes).astype(dtype))
    same, larger = place(x), hollow((31, 100), dtype)
    ap.ops.inplace_r_relu_with_noise(same, larger, 0.125, 0.5, True, 7, 12)
    assert_same(same.numpy(), out.numpy())
    assert_same(larger.numpy()[:30], noise.numpy())
    assert_same(wide(larger.numpy()[30]), np.full(100, 77.0))


def test_without_training_the_slope_is_the_middle() -> None:
    x = np.array([-2, -0.0, 3, np.nan], np.float32)
    noise, out = hollow((4,), np.float32), hollow((4,), np.float32)
    ap.ops.r_relu_with_noise(place(x), noise, 0.25, 0.75, False, 1, 0, out)
    assert_same(out.numpy(), np.array([-1, -0.0, 3, np.nan], np.float32))
    assert_same(noise.numpy(), np.full(4, 77, np.float32))
    ap.ops.inplace_r_relu_with_noise(same := place(x), noise, 0.25, 0.75, False, 1, 0)
    assert_same(same.numpy(), out.numpy())


def test_only_what_is_below_zero_has_a_random_slope() -> None:
    x = np.array([0, -0.0, np.nan, 1, -1], np.float32)
    noise, out = hollow((5,), np.float32), hollow((5,), np.float32)
    ap.ops.r_relu_with_noise(place(x), noise, 0.25, 0.75, True, 1, 0, out)
    found = noise.numpy()
    assert_same(found[:4], np.ones(4, np.float32))
    assert 0.25 <= found[4] < 0.75 and out.numpy()[4] == -found[4]


def test_random_slopes_refuse_what_does_not_fit() -> None:
    x, out = hollow((4,), np.float32), hollow((4,), np.float32)
    name, rest = "aclnnRReluWithNoise", (0.25, 0.75, True, 1, 0)
    assert refusal(name, None, x, *rest, out) == refusal(name, x, None, *rest, out) == 161001
    assert refusal(name, x, out, *rest, None) == 161001
    assert "noiseRef has 3" in message(name, 161002, [x, hollow((3,), np.float32), *rest, out])
    assert refusal(name, x, hollow((4,), np.float16), *rest, out) == 161002
    assert refusal(name, x, x, *rest, hollow((4,), np.float16)) == 161002
    assert refusal(name, x, x, *rest, hollow((2, 2), np.float32)) == 161002
    assert "lower is 0.9" in message(name, 161002, [x, x, 0.9, 0.75, True, 1, 0, out])
    assert refusal("aclnnInplaceRReluWithNoise", x, hollow((4,), np.int32), *rest) == 161002
    plan = ap.plan(op(name), x, hollow((4,), np.float32), *rest, out)
    plan.run()
