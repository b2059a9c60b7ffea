# SPDX-License-Identifier: Apache-2.0
"""Indices drawn from rows of weights, and exponential numbers: sequence, distribution, refusals."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import fault
from .philox_oracle import philox, units
from .test_random import COUNT, GAP, largest_gap

pytestmark = pytest.mark.usefixtures("device")

FLOATS = ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"]
# Chi-square values that one seed in 10,000 exceeds, by degrees of freedom.
FAR = {3: 21.1, 4: 23.5, 11: 37.4}


def drawn_again(weights: Array, samples: int, unit: Array) -> Array:
    """Each number of [0, 1) shows where in the cumulative weights a draw falls."""
    total = np.cumsum(weights, axis=1)
    targets = unit.reshape(len(weights), samples) * total[:, -1:]
    return np.array(
        [np.searchsorted(row, t, "right") for row, t in zip(total, targets, strict=True)]
    )


def drawn_once(weights: Array, samples: int, unit: Array) -> Array:
    """Each weight waits an exponential time of its rate; the first ones are drawn."""
    with np.errstate(divide="ignore"):
        times = -np.log1p(-unit.reshape(weights.shape)) / weights
    return np.argsort(times, axis=1, kind="stable")[:, :samples]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("name", FLOATS)
def test_multinomial(name: str, replacement: bool, layout: str) -> None:
    rng = np.random.default_rng(7)
    weights = (rng.uniform(0.1, 9, (4, 13)) * (rng.uniform(size=(4, 13)) > 0.3)).astype(NUMPY[name])
    samples = 20 if replacement else 5
    unit = units(11, 7, 4 * (samples if replacement else 13))
    expected = (drawn_again if replacement else drawn_once)(wide(weights), samples, unit)
    out = hollow((4, samples), np.int64, layout)
    op("aclnnMultinomial")(place(weights, layout), samples, replacement, 11, 7, out)
    assert_same(out.numpy(), expected)
    seed, offset = place(np.array([11])), place(np.array([4]))
    again = hollow((4, samples), np.int64, layout)
    op("aclnnMultinomialTensor")(
        place(weights, layout), samples, replacement, seed, offset, 3, again
    )
    assert_same(again.numpy(), expected)


def test_multinomial_of_one_row() -> None:
    weights = np.array([0, 10, 3, 0], np.float32)
    out = hollow((2,), np.int64)
    op("aclnnMultinomial")(place(weights), 2, False, 1234, 0, out)
    assert_same(out.numpy(), drawn_once(weights[None], 2, units(1234, 0, 4))[0])
    assert sorted(out.numpy()) == [1, 2]
    # Weights of 0 come after all others, in order.
    out = hollow((4,), np.int64)
    op("aclnnMultinomial")(place(weights), 4, False, 1234, 0, out)
    assert sorted(out.numpy()[:2]) == [1, 2]
    assert out.numpy()[2:].tolist() == [0, 3]
    none = ap.empty((0, 4), "int64")
    op("aclnnMultinomial")(ap.empty((0, 3), "float32"), 4, True, 1, 0, none)


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 17])
def test_draws_with_replacement_follow_the_weights(seed: int) -> None:
    weights = np.array([4, 0, 1, 2.5, 0.5, 2], np.float32)
    out = hollow((COUNT,), np.int64)
    op("aclnnMultinomial")(place(weights), COUNT, True, seed, 0, out)
    counts = np.bincount(out.numpy(), minlength=6)
    assert counts[1] == 0
    expected = (weights / weights.sum() * COUNT)[weights > 0]
    assert ((counts[weights > 0] - expected) ** 2 / expected).sum() < FAR[4]


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 17])
def test_draws_without_replacement_follow_the_weights_that_are_left(seed: int) -> None:
    weights = np.array([4, 1, 3, 2], np.float32)
    rows = 12_000
    out = hollow((rows, 2), np.int64)
    op("aclnnMultinomial")(place(np.tile(weights, (rows, 1))), 2, False, seed, 0, out)
    found = out.numpy()
    pairs = list(itertools.permutations(range(4), 2))
    counts = np.array([(found == pair).all(axis=1).sum() for pair in pairs])
    total = weights.sum()
    likely = [weights[a] / total * weights[b] / (total - weights[a]) for a, b in pairs]
    expected = np.array(likely) * rows
    assert counts.sum() == rows
    assert ((counts - expected) ** 2 / expected).sum() < FAR[11]


def test_rows_and_launches_draw_apart() -> None:
    weights = place(np.ones((2, 1000), np.float32))
    out = hollow((2, 1000), np.int64)
    op("aclnnMultinomial")(weights, 1000, True, 5, 0, out)
    first = out.numpy()
    assert (first[0] != first[1]).mean() > 0.99
    op("aclnnMultinomial")(weights, 1000, True, 5, 1000, out)
    assert_same(out.numpy()[0], first[1])


def test_draws_near_the_end_of_the_sum_stay_among_positive_weights() -> None:
    # The last weights are 0, and the sum of float64 weights is rounded.
    weights = np.concatenate([np.full(1000, 0.1), np.zeros(5)])
    out = hollow((COUNT,), np.int64)
    op("aclnnMultinomial")(place(weights), COUNT, True, 3, 0, out)
    assert out.numpy().max() == 999


@pytest.mark.parametrize("row", [[1, -0.5, 2], [0, 0, 0], [1, np.nan, 0], [1, np.inf, 0]], ids=str)
@pytest.mark.parametrize("replacement", [True, False])
def test_weights_that_nothing_can_be_drawn_from_are_a_fault(
    row: list[float], replacement: bool
) -> None:
    weights, out = place(np.array([[1, 2, 3], row], np.float32)), hollow((2, 2), np.int64)
    text = fault("aclnnMultinomial", weights, 2, replacement, 1, 0, out)
    assert "row 1 of self has a weight that is negative or not finite" in text


def test_multinomial_refuses() -> None:
    x, out, one = place(np.ones((3, 8), np.float32)), hollow((3, 2), np.int64), place(np.array([1]))
    plain: list[Any] = [x, 2, False, 1, 0, out]
    tensors: list[Any] = [x, 2, False, one, one, 0, out]

    for operator, good in [("aclnnMultinomial", plain), ("aclnnMultinomialTensor", tensors)]:
        last = len(good) - 1

        def changed(*changes: tuple[int, Any], name: str = operator, call: Any = good) -> int:
            arguments = list(call)
            for position, value in changes:
                arguments[position] = value
            return refusal(name, *arguments)

        assert changed((0, None)) == 161001
        assert changed((last, None)) == 161001
        assert changed((0, place(np.ones((3, 8), np.int32)))) == 161002
        assert changed((last, hollow((3, 2), np.int32))) == 161002
        assert changed((0, place(np.ones((1, 3, 8), np.float32)))) == 161002
        assert changed((last, hollow((2,), np.int64))) == 161002
        assert changed((last, hollow((3, 3), np.int64))) == 161002
        assert changed((last, hollow((2, 2), np.int64))) == 161002
        assert changed((1, 0), (last, hollow((3, 0), np.int64))) == 161002
        assert changed((1, -1)) == 161002
        assert changed((1, 9), (last, hollow((3, 9), np.int64))) == 161002
        assert changed((0, ap.empty((3, 0), "float32")), (2, True)) == 161002
        long = ap.zeros(((1 << 24) + 1,), "float16")
        assert changed((0, long), (last, hollow((2,), np.int64))) == 161002
    assert refusal("aclnnMultinomialTensor", x, 2, False, None, one, 0, out) == 161001
    assert refusal("aclnnMultinomialTensor", x, 2, False, one, None, 0, out) == 161001
    two = place(np.array([1, 2]))
    assert refusal("aclnnMultinomialTensor", x, 2, False, two, one, 0, out) == 161002
    short = place(np.array([1], np.int32))
    assert refusal("aclnnMultinomialTensor", x, 2, False, one, short, 0, out) == 161002


@pytest.mark.parametrize("replacement", [True, False])
def test_large_weights_share_their_numbers_or_draw_one_without_replacement(
    replacement: bool,
) -> None:
    # Above 5,000 elements the 910B draws with its vector cores.
    weights = np.random.default_rng(8).uniform(0.1, 9, (2, 3001)).astype(np.float32)
    out = hollow((2, 9), np.int64)
    op("aclnnMultinomial")(place(weights), 9, replacement, 5, 0, out)
    if replacement:
        expected = drawn_again(wide(weights), 9, np.tile(units(5, 0, 9), 2))
    else:
        expected = drawn_once(wide(weights), 9, units(5, 0, 6002))
    assert_same(out.numpy(), expected)
    one = hollow((2, 1), np.int64)
    op("aclnnMultinomial")(place(weights), 1, replacement, 5, 0, one)
    assert_same(one.numpy(), drawn_once(wide(weights), 1, units(5, 0, 6002)))


def exponentials(seed: int, offset: int, count: int, rate: float, places: list[int]) -> Array:
    """The numbers of some elements, as a GPU of 78 multiprocessors with 2048 threads draws them."""
    threads = min(-(-count // 256), 624) * 256
    skipped = offset % 4 if offset % 4 > 1 else 0
    found = []
    for at in places:
        draw, k = divmod(at // threads + skipped, 4)
        draw += offset // 4
        word = philox([draw & 0xFFFFFFFF, draw >> 32, at % threads, 0], seed)[k]
        unit = np.float32(word) * np.float32(2.0**-32) + np.float32(2.0**-33)
        log = np.log(float(unit)) if unit < 1 - 2.0**-24 else -(2.0**-24)
        found.append(-log / rate)
    return np.array(found)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FLOATS[:3])
@pytest.mark.parametrize("offset", [0, 1, 2, 3, 2**34 + 8])
def test_exponential_numbers_are_those_of_a_gpu(name: str, layout: str, offset: int) -> None:
    x = hollow((3, 700), NUMPY[name], layout)
    op("aclnnSimThreadExponential")(x, 2100, 2.5, 2**40 + 9, offset)
    expected = exponentials(2**40 + 9, offset, 2100, 2.5, list(range(2100)))
    assert_close(x.numpy(), expected.reshape(3, 700), scale=2)


def test_exponential_numbers_come_in_fours_of_a_thread() -> None:
    count = 5 * 624 * 256 + 3
    x = hollow((count,), np.float32)
    op("aclnnSimThreadExponential")(x, count, 1.0, 3, 6)
    places = [*range(0, count, 70_001), count - 1]
    assert_close(x.numpy()[places], exponentials(3, 6, count, 1.0, places), scale=2)


def test_a_count_below_the_size_leaves_the_rest() -> None:
    x = hollow((3, 7), np.float32, "transposed")
    op("aclnnSimThreadExponential")(x, 10, 1.0, 9, 0)
    expected = np.full(21, 77.0)
    expected[:10] = exponentials(9, 0, 10, 1.0, list(range(10)))
    assert_close(x.numpy(), expected.reshape(3, 7))
    op("aclnnSimThreadExponential")(x, 0, 1.0, 10, 0)
    assert_close(x.numpy(), expected.reshape(3, 7))


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 17])
def test_exponential_distribution(seed: int) -> None:
    x = hollow((COUNT,), np.float32)
    op("aclnnSimThreadExponential")(x, COUNT, 4.0, seed, 0)
    values = np.sort(wide(x.numpy()))
    assert values[0] > 0
    assert np.isfinite(values[-1])
    assert largest_gap(values, -np.expm1(-4 * values)) < GAP
    assert abs(values.mean() - 0.25) < 4 * 0.25 / COUNT**0.5


def test_exponential_refuses() -> None:
    x = hollow((3, 7), np.float32)
    assert refusal("aclnnSimThreadExponential", None, 21, 1.0, 0, 0) == 161001
    for rate in (0.0, -1.0, float("nan")):
        assert refusal("aclnnSimThreadExponential", x, 21, rate, 0, 0) == 161002
    for count in (-1, 22, 2**63 - 1, -(2**63)):
        assert refusal("aclnnSimThreadExponential", x, count, 1.0, 0, 0) == 161002
    for name in ("DOUBLE", "INT32"):
        x = hollow((3,), NUMPY[name])
        assert refusal("aclnnSimThreadExponential", x, 3, 1.0, 0, 0) == 161002


_ON_950 = """
import numpy as np, aclnn_py as ap
x, out = ap.from_numpy(np.ones((2, 3), "float32")), ap.zeros((2, 2), "int64")
def status(function, *arguments):
    try:
        function(*arguments)
    except ap.errors.AclnnError as error:
        return error.status
    return 0
assert status(ap.ops.multinomial, x, 2, True, 1, 4, out) == 0
assert status(ap.ops.multinomial, x, 2, True, 1, 3, out) == 161002
assert status(ap.ops.sim_thread_exponential, x, 6, 1.0, 1, 8) == 0
assert status(ap.ops.sim_thread_exponential, x, 6, 1.0, 1, 2) == 161002
assert status(ap.ops.sim_thread_exponential, x, 5, 1.0, 1, 8) == 161002
one, double = ap.from_numpy(np.ones((1,), "int64")), ap.from_numpy(np.ones((2, 3), "float64"))
assert status(ap.ops.multinomial_tensor, x, 2, True, one, one, 3, out) == 0
assert status(ap.ops.multinomial_tensor, double, 2, True, one, one, 3, out) == 161002
"""


def test_a_950_draws_in_blocks_of_four() -> None:
    environment = {**os.environ, "ACLNN_PY_EMULATOR_SOC": "Ascend950PR_9599"}
    subprocess.run([sys.executable, "-c", _ON_950], check=True, timeout=120, env=environment)


def test_executors_that_draw_do_not_become_repeatable() -> None:
    x, out = place(np.ones((3, 8), np.float32)), hollow((3, 2), np.int64)
    for operator, arguments in [
        (ap.ops.multinomial, (x, 2, True, 1, 0, out)),
        (ap.ops.sim_thread_exponential, (x, 24, 1.0, 1, 0)),
    ]:
        with pytest.raises(ap.errors.AclnnError) as caught:
            ap.plan(operator, *arguments, repeatable=True)
        assert caught.value.status == 561000
