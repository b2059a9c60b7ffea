# SPDX-License-Identifier: Apache-2.0
"""Batch normalisation in parts and its gradients: slopes in float64, and ranks that agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

FLOATS = ("FLOAT", "FLOAT16", "BFLOAT16")
EPS, STEP = 1e-3, 1e-5
BACKWARD, FAST = "aclnnBatchNormBackward", "aclnnFastBatchNormBackward"


def others(x: Array) -> tuple[int, ...]:
    """Every dimension but the channel."""
    return tuple(d for d in range(x.ndim) if d != 1)


def spread(numbers: Array, rank: int) -> Array:
    """One number for each channel, in the shape of the elements."""
    return numbers.reshape(-1, *[1] * (rank - 2))


def forward(x: Array, w: Array, b: Array, known: tuple[Array, Array] | None) -> Array:
    """Batch norm by its own statistics, or by a known mean and variance."""
    mean, variance = known or (x.mean(others(x)), x.var(others(x)))
    mean, variance = spread(mean, x.ndim), spread(variance, x.ndim)
    return (x - mean) / np.sqrt(variance + EPS) * spread(w, x.ndim) + spread(b, x.ndim)


def slopes(dy: Array, parts: list[Array], known: tuple[Array, Array] | None) -> list[Array]:
    """Central differences of ``sum(dy * forward)`` for each element of x, w and b."""
    found = []
    for which, part in enumerate(parts):
        slope = np.zeros(part.shape)
        for at in np.ndindex(part.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = [one.copy() for one in parts]
                moved[which][at] += step
                ends.append((dy * forward(*moved, known)).sum())
            slope[at] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(slope)
    return found


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(3, 2, 4), (5, 3), (2, 1, 2, 1, 3)])
def test_gradients_are_slopes(shape: tuple[int, ...], training: bool) -> None:
    rng = np.random.default_rng(len(shape))
    channels = shape[1]
    for name in FLOATS:
        kind = NUMPY[name]
        dy, x = (rng.normal(size=shape).astype(kind) for _ in range(2))
        w, b = (rng.normal(size=channels).astype(kind) for _ in range(2))
        running = [rng.normal(size=channels), rng.uniform(0.5, 2, channels)]
        running = [one.astype(np.float32) for one in running]
        mean, variance = wide(x).mean(others(x)), wide(x).var(others(x))
        saved = [mean.astype(np.float32), (1 / np.sqrt(variance + EPS)).astype(np.float32)]
        known = None if training else (wide(running[0]), wide(running[1]))
        expected = slopes(wide(dy), [wide(x), wide(w), wide(b)], known)
        for layout in LAYOUTS:
            for operator, version in [(BACKWARD, ()), (FAST, (0,)), (FAST, (1,))]:
                results = [hollow(one.shape, kind, layout) for one in (x, w, b)]
                op(operator)(
                    *(place(one, layout) for one in (dy, x, w, *running, *saved)),
                    training, EPS, [True] * 3, *version, *results,
                )  # fmt: skip
                for result, slope in zip(results, expected, strict=True):
                    assert_close(result.numpy(), slope, scale=64, what=f"{operator} {name}")


def test_only_what_the_mask_asks_for_is_written() -> None:
    x, row = place(np.ones((2, 3), np.float32)), place(np.ones(3, np.float32))
    bias, none = hollow((3,), np.float32), hollow((0,), np.float32)
    op(BACKWARD)(
        x, x, None, row, row, none, none, False, EPS, [False, False, True], None, None, bias
    )
    assert_same(bias.numpy(), np.full(3, 2, np.float32))


def test_the_gradient_may_overwrite_its_operand() -> None:
    rng = np.random.default_rng(2)
    dy, x = (rng.normal(size=(4, 3, 5)).astype(np.float32) for _ in range(2))
    row = place(np.ones(3, np.float32))
    apart, shared = hollow(dy.shape, np.float32), place(dy)
    for to in (apart, shared):
        grad = shared if to is shared else place(dy)
        op(BACKWARD)(
            grad, place(x), row, row, row, row, row, True, EPS, [True, False, False], to, None, None
        )
    assert_same(shared.numpy(), apart.numpy())


def test_no_samples_give_gradients_of_zero() -> None:
    none, row = hollow((0, 3, 2), np.float32), place(np.ones(3, np.float32))
    weight, bias = hollow((3,), np.float32), hollow((3,), np.float32)
    op(BACKWARD)(none, none, row, row, row, row, row, True, EPS, [True] * 3, none, weight, bias)
    assert_same(weight.numpy(), np.zeros(3, np.float32))
    assert_same(bias.numpy(), np.zeros(3, np.float32))


# --- parts


@pytest.mark.parametrize("layout", LAYOUTS)
def test_statistics_of_channels(layout: str) -> None:
    rng = np.random.default_rng(6)
    for name in FLOATS:
        x = rng.normal(3, 2, (4, 3, 2, 5)).astype(NUMPY[name])
        axes = others(x)
        sums, squares = (hollow((3,), np.float32, layout) for _ in range(2))
        op("aclnnBatchNormReduce")(place(x, layout), sums, squares)
        assert_close(sums.numpy(), wide(x).sum(axes), what=name)
        assert_close(squares.numpy(), (wide(x) ** 2).sum(axes), what=name)
        if name == "BFLOAT16":
            continue
        mean, inverse = (hollow((3,), np.float32, layout) for _ in range(2))
        op("aclnnBatchNormStats")(place(x, layout), EPS, mean, inverse)
        assert_close(mean.numpy(), wide(x).mean(axes), what=name)
        assert_close(inverse.numpy(), 1 / np.sqrt(wide(x).var(axes) + EPS), what=name)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_are_normalised_by_given_statistics(layout: str) -> None:
    rng = np.random.default_rng(7)
    for name in FLOATS:
        kind = NUMPY[name]
        x = rng.normal(size=(4, 3, 6)).astype(kind)
        w, b, mean, inverse = (rng.uniform(0.5, 2, 3).astype(kind) for _ in range(4))
        for scale, shift in [(w, b), (None, None)]:
            out = hollow(x.shape, kind, layout)
            affine = [None if one is None else place(one, layout) for one in (scale, shift)]
            op("aclnnBatchNormElemt")(
                place(x, layout), *affine, place(mean, layout), place(inverse, layout), EPS, out
            )
            y = (wide(x) - spread(wide(mean), 3)) * spread(wide(inverse), 3)
            if scale is not None:
                y = y * spread(wide(w), 3) + spread(wide(b), 3)
            assert_close(out.numpy(), y, scale=2, what=f"{name} {layout}")


def test_ranks_agree_with_one_device() -> None:
    """Statistics, elements and gradients of two parts of a batch are those of the whole batch."""
    rng = np.random.default_rng(9)
    dy, x = (rng.normal(1, 2, (7, 3, 4)).astype(np.float32) for _ in range(2))
    w, b = (rng.normal(size=3).astype(np.float32) for _ in range(2))
    cuts = [slice(0, 5), slice(5, 7)]
    means, inverses = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    for rank, cut in enumerate(cuts):
        mean, inverse = hollow((3,), np.float32), hollow((3,), np.float32)
        op("aclnnBatchNormStats")(place(x[cut]), EPS, mean, inverse)
        means[rank], inverses[rank] = mean.numpy(), inverse.numpy()
    counts = np.array([20, 8], np.float32)
    running = [place(np.full(3, value, np.float32)) for value in (0.5, 2.0)]
    mean, inverse = hollow((3,), np.float32), hollow((3,), np.float32)
    op("aclnnBatchNormGatherStatsWithCounts")(
        place(x), place(means), place(inverses), *running, 0.1, EPS, place(counts), mean, inverse
    )
    axes = others(x)
    true_mean, true_variance = wide(x).mean(axes), wide(x).var(axes)
    assert_close(mean.numpy(), true_mean, scale=4)
    assert_close(inverse.numpy(), 1 / np.sqrt(true_variance + EPS), scale=4)
    assert_close(running[0].numpy(), 0.45 + 0.1 * true_mean, scale=4)
    assert_close(running[1].numpy(), 1.8 + 0.1 * true_variance * 28 / 27, scale=4)

    sums = np.zeros((2, 3))
    for cut in cuts:
        out = hollow(x[cut].shape, np.float32)
        op("aclnnBatchNormElemt")(place(x[cut]), place(w), place(b), mean, inverse, EPS, out)
        expected = forward(wide(x), wide(w), wide(b), None)[cut]
        assert_close(out.numpy(), expected, scale=8)
        parts = [hollow((3,), np.float32) for _ in range(4)]
        op("aclnnBatchNormReduceBackward")(
            place(dy[cut]), place(x[cut]), mean, inverse, place(w), True, True, True, *parts
        )
        g, centred = wide(dy[cut]), wide(x[cut]) - spread(true_mean, 3)
        total, along = g.sum(axes), (g * centred).sum(axes)
        oracles = [total, along, along / np.sqrt(true_variance + EPS), total]
        for part, oracle in zip(parts, oracles, strict=True):
            assert_close(part.numpy(), oracle, scale=16)
        sums += [parts[0].numpy(), parts[1].numpy()]
    whole = slopes(wide(dy), [wide(x), wide(w), wide(b)], None)[0]
    both = [place(one.astype(np.float32)) for one in sums]
    for cut in cuts:
        for count in (np.array([20, 8], np.int32), np.array([28], np.float32)):
            grad = hollow(x[cut].shape, np.float32)
            op("aclnnBatchNormElemtBackward")(
                place(dy[cut]), place(x[cut]), mean, inverse, place(w), *both, place(count), grad
            )
            assert_close(grad.numpy(), whole[cut], scale=64)


def test_sums_of_ranks_become_statistics() -> None:
    rng = np.random.default_rng(10)
    for name in FLOATS[:2]:
        kind = NUMPY[name]
        counts = np.array([12, 4], np.int32)
        sums = rng.normal(size=(2, 5)).astype(kind)
        squares = rng.uniform(20, 40, (2, 5)).astype(kind)
        running = [rng.uniform(0.5, 2, 5).astype(kind) for _ in range(2)]
        tensors = [place(one, "stepped") for one in running]
        mean, inverse = hollow((5,), kind, "stepped"), hollow((5,), kind, "stepped")
        op("aclnnSyncBatchNormGatherStats")(
            place(sums, "transposed"), place(squares), place(counts), *tensors, 0.25, EPS,
            mean, inverse,
        )  # fmt: skip
        true_mean = wide(sums).sum(0) / 16
        variance = wide(squares).sum(0) / 16 - true_mean**2
        step = float(np.float32(0.25))
        assert_close(mean.numpy(), true_mean, what=name)
        assert_close(inverse.numpy(), 1 / np.sqrt(variance + EPS), what=name)
        oracles = [true_mean, variance * 16 / 15]
        for tensor, before, batch in zip(tensors, running, oracles, strict=True):
            assert_close(tensor.numpy(), wide(before) * (1 - step) + step * batch, what=name)


def test_running_statistics_may_be_absent() -> None:
    row, mean = place(np.full((1, 2), 2, np.float32)), hollow((2,), np.float32)
    inverse, one = hollow((2,), np.float32), place(np.ones(1, np.float32))
    x = place(np.zeros((1, 2), np.float32))
    op("aclnnBatchNormGatherStatsWithCounts")(x, row, row, None, None, 0.1, 0.0, one, mean, inverse)
    assert_same(mean.numpy(), np.full(2, 2, np.float32))
    assert_same(inverse.numpy(), np.full(2, 2, np.float32))


# --- refusals


def test_gradients_are_refused() -> None:
    x, row, half = hollow((2, 3), np.float32), hollow((3,), np.float32), hollow((3,), np.float16)
    mask, tail = [True] * 3, (x, row, row)
    rest: tuple[Any, ...] = (row, row, row, row, row)
    assert refusal(BACKWARD, None, x, *rest, True, EPS, mask, *tail) == 161001
    assert refusal(BACKWARD, x, x, *rest[:3], None, row, True, EPS, mask, *tail) == 161001
    assert refusal(BACKWARD, x, x, row, None, *rest[2:], False, EPS, mask, *tail) == 161001
    assert refusal(BACKWARD, x, x, *rest, True, EPS, mask, None, row, row) == 161001
    assert refusal(BACKWARD, x, x, *rest, True, EPS, [True] * 2, *tail) == 161002
    assert refusal(BACKWARD, x, x, *rest[:4], half, True, EPS, mask, *tail) == 161002
    assert refusal(BACKWARD, x, hollow((3, 2), np.float32), *rest, True, EPS, mask, *tail) == 161002
    short = hollow((2,), np.float32)
    assert refusal(BACKWARD, x, x, short, *rest[1:], True, EPS, mask, *tail) == 161002
    assert refusal(BACKWARD, x, x, *rest[:3], short, short, True, EPS, mask, *tail) == 161002
    assert refusal(BACKWARD, x, x, *rest, True, EPS, mask, x, row, half) == 161002
    image = hollow((1, 3, 2, 2), np.float32).with_format("NHWC")
    text = message(BACKWARD, 161002, (image, image, *rest, True, EPS, mask, image, row, row))
    assert "the channel must be the second dimension" in text
    assert refusal(FAST, x, x, *rest, True, EPS, mask, 2, *tail) == 161002
    flat = hollow((3,), np.float32)
    assert refusal(BACKWARD, flat, flat, *rest, True, EPS, mask, flat, row, row) == 161002


def test_parts_are_refused() -> None:
    x, row, none = hollow((2, 3), np.float32), hollow((3,), np.float32), hollow((2, 0), np.float32)
    stats, reduce = "aclnnBatchNormStats", "aclnnBatchNormReduce"
    assert refusal(stats, x, EPS, row, None) == 161001
    assert refusal(stats, none, EPS, hollow((0,), np.float32), hollow((0,), np.float32)) == 161002
    assert refusal(stats, x, EPS, hollow((2,), np.float32), row) == 161002
    assert refusal(stats, x, EPS, x, row) == 161002
    assert refusal(reduce, x, row, row) == 161002
    image = hollow((1, 3, 2, 2), np.float32)
    assert refusal(reduce, image, row, hollow((4,), np.float32)) == 161002
    elemt = "aclnnBatchNormElemt"
    assert refusal(elemt, x, row, row, None, row, EPS, x) == 161001
    assert refusal(elemt, x, hollow((3,), np.float16), row, row, row, EPS, x) == 161002
    assert refusal(elemt, x, row, row, row, row, EPS, hollow((3, 2), np.float32)) == 161002
    back, one = "aclnnBatchNormElemtBackward", place(np.ones(1, np.float32))
    assert refusal(back, x, x, row, row, None, row, row, None, x) == 161001
    assert refusal(back, x, x, row, row, None, x, row, one, x) == 161002
    reduce_back = "aclnnBatchNormReduceBackward"
    wanted = (True, False, False, row, None, None, None)
    assert refusal(reduce_back, x, x, row, row, None, *wanted) == 161001
    pair = (False, True, True, None, None, row, row)
    assert refusal(reduce_back, x, x, row, x, None, *pair) == 161002
    sync, ranks = "aclnnSyncBatchNormGatherStats", place(np.ones(2, np.float32))
    assert refusal(sync, x, x, ranks, row, row, 0.1, EPS, row, None) == 161001
    assert refusal(sync, x, x, row, row, row, 0.1, EPS, row, row) == 161002
    empty = hollow((0, 3), np.float32)
    nothing = hollow((0,), np.float32)
    assert refusal(sync, empty, empty, nothing, row, row, 0.1, EPS, row, row) == 161002
    gather = "aclnnBatchNormGatherStatsWithCounts"
    assert refusal(gather, x, x, x, None, None, 0.1, EPS, row, row, row) == 161002
    assert refusal(gather, x, x, x, row, ranks, 0.1, EPS, ranks, row, row) == 161002
    assert refusal(gather, x, x, x, None, None, 0.1, EPS, None, row, row) == 161001


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_950_takes_bfloat16_and_lacks_some_parts(newer: Chip950) -> None:
    rng = np.random.default_rng(11)
    x = rng.normal(size=(4, 3, 2, 2)).astype(NUMPY["BFLOAT16"])
    mean, inverse = newer.operator(
        "batch_norm_stats", Given(x, "bfloat16"), EPS, Made((3,), "float32"), Made((3,), "float32")
    )
    assert_close(mean, wide(x).mean(others(x)))
    assert_close(inverse, 1 / np.sqrt(wide(x).var(others(x)) + EPS))
    row = Made((3,), "float32")
    refused = newer.operator("batch_norm_reduce", Given(x, "bfloat16"), row, row)
    assert isinstance(refused, Refused)
    assert "does not have the operator" in refused.text


def test_results_of_a_large_batch_are_summed_in_float64() -> None:
    rng = np.random.default_rng(12)
    x = rng.normal(1000, 1, (600, 2, 50)).astype(np.float32)
    mean, inverse = hollow((2,), np.float32), hollow((2,), np.float32)
    op("aclnnBatchNormStats")(place(x), 0.0, mean, inverse)
    assert_close(mean.numpy(), wide(x).mean((0, 2)))
    assert_close(inverse.numpy(), 1 / wide(x).std((0, 2)))
    ap.synchronize()
