# SPDX-License-Identifier: Apache-2.0
"""Dropout, gradients of norms, optimizers, the scale of a loss, and random ones and orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place

import aclnn_py as ap
from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
EPS = 1e-5


# --- random numbers


def kept(mask: Array, count: int) -> Array:
    """The bits of a mask, the first one lowest."""
    return np.unpackbits(mask, bitorder="little")[:count].astype(bool)


def test_dropout_and_its_gradient() -> None:
    x = np.random.default_rng(1).standard_normal((7, 50)).astype(np.float32)
    generator = ap.Generator().manual_seed(5)
    first, mask = functional.dropout(place(x), 0.25, generator=generator)
    second, _ = functional.dropout(place(x), 0.25, generator=generator)
    assert (first.numpy() != second.numpy()).any()
    # One number for each element, rounded up to a multiple of four.
    assert generator.get_offset() == 2 * 352
    bits = kept(mask.numpy(), x.size).reshape(x.shape)
    assert mask.shape == (48,)
    assert 0.6 < bits.mean() < 0.9
    assert_close(first.numpy(), np.where(bits, x / 0.75, 0.0))
    again, _ = functional.dropout(place(x), 0.25, seed=5, offset=352)
    assert_same(again.numpy(), second.numpy())
    grad = functional.dropout_backward(place(2 * x), mask, 0.25)
    assert_close(grad.numpy(), np.where(bits, 2 * x / 0.75, 0.0))
    everything, _ = functional.dropout(place(x), 0.0)
    assert_same(everything.numpy(), x)
    nothing, none = functional.dropout(place(x[:0]), 0.5)
    assert nothing.shape == (0, 50)
    assert none.shape == (0,)


def test_dropout_and_randint_draw_anew_in_each_replay() -> None:
    x = place(np.ones(1000, np.float32))
    generator = ap.Generator().manual_seed(3)
    graph, stream = ap.Graph(), ap.Stream()
    with graph.capture(stream):
        out, _ = functional.dropout(x, 0.5, generator=generator, stream=stream)
        numbers = functional.randint(-5, 5, (100,), generator=generator, stream=stream)
    for n in range(3):
        graph.replay(stream=stream)
        stream.synchronize()
        again, _ = functional.dropout(x, 0.5, seed=3, offset=n * 1100)
        assert_same(out.numpy(), again.numpy())
        drawn = functional.randint(-5, 5, (100,), seed=3, offset=n * 1100 + 1000)
        assert_same(numbers.numpy(), drawn.numpy())
        assert set(out.numpy()) == {0, 2}
        assert set(drawn.numpy()) == set(range(-4, 5))


def test_integers_and_orders() -> None:
    drawn = functional.randint(-3, 4, (2000,), seed=9).numpy()
    assert drawn.dtype == np.int64
    assert set(drawn) == set(range(-2, 4))  # numbers of -3 to 4 without their fraction
    target = hollow((2000,), np.int64)
    op("aclnnInplaceRandom")(target, -3, 4, 9, 0)
    assert_same(drawn, target.numpy())
    assert functional.randint(0, 2, (3,), dtype="int8").dtype_name == "int8"
    order = functional.randperm(500, seed=2).numpy()
    assert sorted(order) == list(range(500))
    assert (order != np.arange(500)).any()
    assert functional.randperm(0).shape == (0,)


def test_ones_and_zeros() -> None:
    x = place(np.zeros((40, 50), np.float32))
    generator = ap.Generator().manual_seed(1)
    ones = functional.bernoulli(x, 0.3, generator=generator).numpy()
    assert set(ones.ravel()) == {0.0, 1.0}
    assert 0.25 < ones.mean() < 0.35
    chances = np.zeros((40, 50), np.float32)
    chances[:20] = 1
    assert_same(functional.bernoulli(x, place(chances)).numpy(), chances)
    assert functional.bernoulli_(x, 0.3, seed=1) is x
    assert_same(x.numpy(), ones)


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda x, **place_in: functional.bernoulli(x, 0.5, **place_in), {0, 1}),
        (lambda x, **place_in: functional.bernoulli_(x, 0.5, **place_in), {0, 1}),
        (lambda _, **place_in: functional.randperm(5, **place_in), set(range(5))),
    ],
)
def test_what_cannot_draw_anew_is_captured_with_a_seed(
    call: Callable[..., Any], values: set[int]
) -> None:
    x, graph, stream = place(np.full(50, 7, np.float32)), ap.Graph(), ap.Stream()
    generator = ap.Generator().manual_seed(1)
    with graph.capture(stream):
        with pytest.raises(ap.errors.CaptureError, match="pass seed="):
            call(x, generator=generator, stream=stream)
        out = call(x, seed=4, stream=stream)
    assert generator.get_offset() == 0
    graph.replay(stream=stream)
    stream.synchronize()
    found = out.numpy()
    assert set(found) == values
    assert_same(found, call(x, seed=4).numpy())


# --- gradients of norms


def normalised(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """The elements without mean and deviation, the mean, and the reciprocal deviation."""
    mean = x.mean(axes, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axes, keepdims=True) + EPS)
    return (x - mean) * rstd, mean, rstd


def chained(g: Array, y: Array, rstd: Array, axes: tuple[int, ...]) -> Array:
    """The gradient of what was normalised, from that of the normalised elements."""
    level, slope = g.mean(axes, keepdims=True), (g * y).mean(axes, keepdims=True)
    return np.asarray((g - level - y * slope) * rstd)


def check(results: Any, oracles: list[Array]) -> None:
    for result, oracle in zip(results, oracles, strict=True):
        assert_close(result.numpy(), oracle, scale=16)


@pytest.fixture
def given() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(4)
    g, x = (rng.standard_normal((3, 4, 5)).astype(np.float32) for _ in range(2))
    return g, x, rng.uniform(0.5, 2, 4).astype(np.float32)


def test_gradients_of_rows(given: tuple[Array, Array, Array]) -> None:
    g, x = (one.astype(float) for one in given[:2])
    weight = np.linspace(0.5, 2, 5).astype(np.float32)
    y, mean, rstd = normalised(x, (2,))
    known = [place(one.astype(np.float32)) for one in (mean, rstd)]
    grads = functional.layer_norm_backward(
        place(given[0]), place(given[1]), (5,), *known, place(weight)
    )
    check(grads, [chained(g * weight, y, rstd, (2,)), (g * y).sum((0, 1)), g.sum((0, 1))])
    plain = functional.layer_norm_backward(place(given[0]), place(given[1]), (5,), *known)
    check(plain[:1], [chained(g, y, rstd, (2,))])
    inverse = 1 / np.sqrt((x**2).mean(2, keepdims=True) + EPS)
    z, scaled = x * inverse, g * weight
    slope = (scaled * z).mean(2, keepdims=True)
    found = functional.rms_norm_backward(
        place(given[0]), place(given[1]), place(inverse.astype(np.float32)), place(weight)
    )
    check(found, [(scaled - z * slope) * inverse, (g * z).sum((0, 1))])


def test_gradients_of_channels(given: tuple[Array, Array, Array]) -> None:
    g, x, weight = (one.astype(float) for one in given)
    line = weight[:, None]
    y, mean, rstd = normalised(x, (0, 2))
    known = [place(one.ravel().astype(np.float32)) for one in (mean, rstd)]
    first = [place(one) for one in given]
    grads = functional.batch_norm_backward(*first, *known, *known)
    oracles = [(g * y).sum((0, 2)), g.sum((0, 2))]
    check(grads, [chained(g * line, y, rstd, (0, 2)), *oracles])
    variance = place((1 / known[1].numpy() ** 2 - EPS).astype(np.float32))
    fixed = functional.batch_norm_backward(
        *first, known[0], variance, *first[2:], first[2], training=False
    )
    check(fixed, [g * line * rstd, *oracles])
    cut = (3, 2, 10)
    y, mean, rstd = normalised(x.reshape(cut), (2,))
    dx = chained((g * line).reshape(cut), y, rstd, (2,)).reshape(x.shape)
    by_weight = (g * y.reshape(x.shape)).sum((0, 2))
    known = [place(one[:, :, 0].astype(np.float32)) for one in (mean, rstd)]
    found = functional.group_norm_backward(*first[:2], *known, 2, first[2])
    check(found, [dx, by_weight, g.sum((0, 2))])


# --- optimizers and the scale of a loss


def test_adamw_() -> None:
    rng = np.random.default_rng(6)
    p, m, g = (rng.standard_normal(9).astype(np.float32) for _ in range(3))
    v, largest = (rng.uniform(0, 1, 9).astype(np.float32) for _ in range(2))
    for most in (None, largest):
        tensors = [place(one) for one in (p, m, v)]
        peak = None if most is None else place(most)
        step = place(np.array([2], np.int64))  # steps before this one
        found = functional.adamw_(
            *tensors, place(g), step, lr=0.1, weight_decay=0.2, max_exp_avg_sq=peak
        )
        assert found is tensors[0]
        mean, square = 0.9 * m.astype(float) + 0.1 * g, 0.999 * v.astype(float) + 0.001 * g**2
        below = square if most is None else np.maximum(square, largest)
        root = np.sqrt(below / (1 - 0.999**3)) + 1e-8
        expected = p * (1 - 0.1 * 0.2) - 0.1 * mean / (1 - 0.9**3) / root
        for tensor, oracle in zip(tensors, (expected, mean, square), strict=True):
            assert_close(tensor.numpy(), oracle, scale=4)
        if peak is not None:
            assert_close(peak.numpy(), below)


def test_sgd_() -> None:
    rng = np.random.default_rng(7)
    params, grads, buffers = (
        [rng.standard_normal(shape).astype(np.float32) for shape in ((4,), (2, 3))]
        for _ in range(3)
    )
    tensors = [[place(one) for one in group] for group in (params, grads, buffers)]
    assert functional.sgd_(*tensors, lr=0.5, momentum=0.9, weight_decay=0.1) is tensors[0]
    for p, g, b, after, speed in zip(params, grads, buffers, tensors[0], tensors[2], strict=True):
        whole = 0.9 * b.astype(float) + g + 0.1 * p.astype(float)
        assert_close(speed.numpy(), whole)
        assert_close(after.numpy(), p - 0.5 * whole)
    plain = [place(one) for one in params]
    functional.sgd_(plain, [place(one) for one in grads], lr=0.5)
    for p, g, after in zip(params, grads, plain, strict=True):
        assert_close(after.numpy(), p - 0.5 * g.astype(float))


def test_the_scale_of_a_loss() -> None:
    grads = [place(np.array([2, 4], np.float32)), place(np.array([8], np.float32))]
    found, half = place(np.zeros(1, np.float32)), place(np.array([0.5], np.float32))
    assert functional.unscale_(grads, found, half) is grads
    assert_same(grads[0].numpy(), np.array([1, 2], np.float32))
    assert found.numpy() == 0
    scale, tracker = place(np.array([8], np.float32)), place(np.array([1], np.int32))
    grown = functional.update_loss_scale(scale, tracker, found, growth_interval=2)
    assert [one.numpy().tolist() for one in grown] == [[16], [0]]
    functional.unscale_([place(np.array([np.inf], np.float32))], found, half)
    assert found.numpy() == 1
    smaller = functional.update_loss_scale(scale, tracker, found)
    assert [one.numpy().tolist() for one in smaller] == [[4], [0]]


def test_wrong_arguments() -> None:
    x: Any = place(np.ones(3, np.float32))
    with pytest.raises(TypeError):
        functional.sgd_(x, [x])
    with pytest.raises(TypeError):
        functional.randint(0.5, 2, (3,))  # type: ignore[arg-type]
    with pytest.raises(ap.errors.AclnnError):
        functional.dropout(x, 1.5)
    with pytest.raises(ap.errors.InvalidArgumentError):
        functional.randperm(3, generator=ap.Generator(), seed=1)
