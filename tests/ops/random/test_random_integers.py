# SPDX-License-Identifier: Apache-2.0
"""Random integers, permutations, zeros and ones, and normal numbers of given means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, accepted_dtypes, hollow, op, place, refusal

import aclnn_py as ap

from ..problems import message
from .philox_oracle import normals, singles, units, words

pytestmark = pytest.mark.usefixtures("device")


def integers(low: int, high: int, count: int, seed: int = 7, offset: int = 4) -> list[int]:
    """The high half of the product of a word and the number of values."""
    return [low + (word * (high - low) >> 64) for word in words(seed, offset, count)]


def without_fraction(low: int, high: int, count: int, seed: int = 7, offset: int = 4) -> Array:
    """Numbers of FLOAT that are converted to INT64."""
    return np.trunc(singles(seed, offset, count, low, high).astype(np.float64)).astype(np.int64)


@pytest.mark.parametrize("name", sorted(accepted_dtypes("aclnnInplaceRandom", 0)))
def test_integers_are_numbers_of_the_sequence_without_their_fraction(name: str) -> None:
    low, high = (0, 2) if name == "BOOL" else (0, 200) if name == "UINT8" else (-100, 100)
    drawn = without_fraction(low, high, 60)
    if name == "BOOL":
        drawn = np.rint(singles(7, 4, 60, low, high)).astype(np.int64)
    expected = drawn.reshape(3, 20).astype(NUMPY[name])
    for layout in LAYOUTS:
        x = hollow((3, 20), NUMPY[name], layout)
        op("aclnnInplaceRandom")(x, low, high, 7, 4)
        assert_same(x.numpy(), expected, layout)
        y = hollow((3, 20), NUMPY[name], layout)
        op("aclnnInplaceRandomTensor")(y, low, high, place(np.array([7])), place(np.array([1])), 3)
        assert_same(y.numpy(), expected, layout)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("INT64", -(2**62), 2**62),
        ("INT64", 0, 2**63 - 1),
        ("INT32", -(2**31), 2**31 - 1),
        ("INT8", -128, 128),
        ("UINT8", 0, 256),
        ("INT64", 5, 6),
        ("INT64", 2**24 + 1, 2**24 + 3),
    ],
)
def test_ranges_are_drawn_as_far_as_float_tells_them(name: str, low: int, high: int) -> None:
    x = hollow((2000,), NUMPY[name])
    op("aclnnInplaceRandom")(x, low, high, 3, 0)
    assert_same(x.numpy(), without_fraction(low, high, 2000, 3, 0).astype(NUMPY[name]))


def test_zero_stands_for_both_sides_and_truth_for_the_nearest_integer() -> None:
    x, truth = hollow((4000,), np.int32), hollow((4000,), np.bool_)
    op("aclnnInplaceRandom")(x, -3, 3, 1, 0)
    counts = np.unique(x.numpy(), return_counts=True)
    assert counts[0].tolist() == [-2, -1, 0, 1, 2]
    assert np.abs(counts[1] - 4000 * np.array([1, 1, 2, 1, 1]) / 6).max() < 4 * 30
    for high, share in [(1, 0.5), (2, 0.75)]:
        op("aclnnInplaceRandom")(truth, 0, high, 1, 0)
        assert abs(truth.numpy().mean() - share) < 4 * 0.5 / 4000**0.5


@pytest.mark.parametrize(
    ("name", "low", "high", "inside"),
    [
        ("FLOAT16", 2040, 2052, (2040, 2050)),  # 2051 would be rounded to 2052
        ("BFLOAT16", -260, 0, (-260, 0)),
        ("BFLOAT16", 250, 260, (250, 258)),
        ("BFLOAT16", -519, -400, (-516, -402)),  # -518 would be rounded to -520
        ("FLOAT", 2**24 - 9, 2**24 + 4, (2**24 - 9, 2**24 + 2)),
    ],
)
def test_bounds_move_to_where_rounding_stays_inside(
    name: str, low: int, high: int, inside: tuple[int, int]
) -> None:
    x = hollow((500,), NUMPY[name])
    op("aclnnInplaceRandom")(x, low, high, 3, 0)
    assert_same(x.numpy(), without_fraction(*inside, 500, 3, 0).astype(NUMPY[name]))


def test_intervals_are_checked() -> None:
    random = "aclnnInplaceRandom"
    x = hollow((3,), np.int8)
    assert "from must be less" in message(random, 161002, (x, 3, 3, 0, 0))
    assert "INT8 holds -128 to 127" in message(random, 161002, (x, -129, 5, 0, 0))
    assert "INT8 holds -128 to 127" in message(random, 161002, (x, 0, 129, 0, 0))
    assert refusal(random, hollow((3,), np.bool_), 0, 3, 0, 0) == 161002
    assert refusal(random, hollow((3,), np.float16), 0, 65506, 0, 0) == 161002
    assert refusal(random, hollow((3,), np.uint16), 0, 3, 0, 0) == 161002
    assert refusal(random, None, 0, 3, 0, 0) == 161001
    one = place(np.array([1]))
    assert refusal(random + "Tensor", x, 0, 3, None, one, 0) == 161001
    assert refusal(random + "Tensor", x, 0, 3, place(np.array([1, 2])), one, 0) == 161002
    assert refusal(random + "WithoutFromTo", x, 0, 0) == 161002
    assert refusal(random + "WithoutFromToTensor", x, one, one, 0) == 161002


# --- permutations


def shuffled(count: int, seed: int, offset: int) -> Array:
    """Fisher and Yates from the first element on."""
    order = np.arange(count)
    for i, word in enumerate(words(seed, offset, count)):
        j = i + (word * (count - i) >> 64)
        order[i], order[j] = order[j], order[i]
    return order


def test_permutations_are_those_of_the_sequence() -> None:
    for count in (0, 1, 2, 1300):
        for name in ("INT64", "FLOAT", "DOUBLE", "INT16"):
            out = hollow((count,), NUMPY[name], "stepped")
            op("aclnnRandperm")(count, 5, 12, out)
            assert_same(out.numpy(), shuffled(count, 5, 12).astype(NUMPY[name]), name)
    out = hollow((300,), np.uint8)  # as documented for a narrow dtype: what it can hold
    op("aclnnRandperm")(300, 5, 12, out)
    assert_same(out.numpy(), (shuffled(300, 5, 12) % 256).astype(np.uint8))


def test_every_permutation_is_equally_likely() -> None:
    found: dict[bytes, int] = {}
    out = hollow((3,), np.int64)
    for seed in range(600):
        op("aclnnRandperm")(3, seed, 0, out)
        key = out.numpy().tobytes()
        found[key] = found.get(key, 0) + 1
    assert len(found) == 6
    assert max(abs(count - 100) for count in found.values()) < 4 * (600 * 5 / 36) ** 0.5


def test_permutations_are_refused() -> None:
    assert "n is -1" in message("aclnnRandperm", 161002, (-1, 0, 0, hollow((1,), np.int64)))
    assert refusal("aclnnRandperm", 4, 0, 0, hollow((3,), np.int64)) == 161002
    assert refusal("aclnnRandperm", 4, 0, 0, hollow((2, 2), np.int64)) == 161002
    assert refusal("aclnnRandperm", 4, 0, 0, hollow((4,), np.bool_)) == 161002
    assert refusal("aclnnRandperm", 4, 0, 0, None) == 161001


# --- zeros and ones


@pytest.mark.parametrize("name", sorted(accepted_dtypes("aclnnBernoulli", 0)))
def test_ones_come_with_the_probability(name: str) -> None:
    kind, drawn = NUMPY[name], units(9, 8, 60).reshape(3, 20)
    chances = np.linspace(0, 1, 60).reshape(3, 20)
    for layout in LAYOUTS:
        model, out = hollow((3, 20), kind), hollow((3, 20), kind, layout)
        op("aclnnBernoulli")(model, ap.Scalar(0.25, "float32"), 9, 8, out)
        assert_same(out.numpy(), (drawn < 0.25).astype(kind), layout)
        out = hollow((3, 20), kind, layout)
        op("aclnnInplaceBernoulli")(out, ap.Scalar(0.75, "float64"), 9, 8)
        assert_same(out.numpy(), (drawn < 0.75).astype(kind), layout)
        out = hollow((3, 20), kind, layout)
        op("aclnnBernoulliTensor")(model, place(chances, layout), 9, 8, out)
        assert_same(out.numpy(), (drawn < chances).astype(kind), layout)
        out = hollow((3, 20), kind, layout)
        op("aclnnInplaceBernoulliTensor")(out, place(chances, layout), 9, 8)
        assert_same(out.numpy(), (drawn < chances).astype(kind), layout)


def test_elements_without_a_probability_stay() -> None:
    out = hollow((4, 4), np.float32)
    op("aclnnInplaceBernoulliTensor")(out, place(np.ones((4, 2), np.float32)), 9, 8)
    assert_same(out.numpy().ravel(), np.repeat(np.float32([1, 77]), 8))
    op("aclnnInplaceBernoulliTensor")(out, place(np.zeros((4, 4, 2), np.float16)), 9, 8)
    assert_same(out.numpy(), np.zeros((4, 4), np.float32))


def test_zeros_and_ones_are_refused() -> None:
    x, half = hollow((3,), np.float32), ap.Scalar(0.5, "float32")
    for prob in (-0.5, 1.5, float("nan")):
        wrong = (x, ap.Scalar(prob, "float32"), 0, 0, x)
        assert "from 0 to 1" in message("aclnnBernoulli", 161002, wrong)
    assert "multiple of 4" in message("aclnnBernoulli", 161002, (x, half, 0, 2, x))
    assert "multiple of 4" in message("aclnnInplaceBernoulliTensor", 161002, (x, x, 0, 2))
    assert refusal("aclnnBernoulli", x, half, 0, 0, hollow((4,), np.float32)) == 161002
    assert refusal("aclnnBernoulli", x, half, 0, 0, hollow((3,), np.int8)) == 161002
    assert refusal("aclnnBernoulli", x, ap.Scalar(1, "int32"), 0, 0, x) == 161002
    assert refusal("aclnnBernoulli", x, None, 0, 0, x) == 161001
    assert refusal("aclnnInplaceBernoulli", None, half, 0, 0) == 161001
    assert refusal("aclnnBernoulliTensor", x, None, 0, 0, x) == 161001
    assert refusal("aclnnBernoulliTensor", x, x, 0, 0, None) == 161001
    assert refusal("aclnnInplaceBernoulliTensor", x, hollow((3,), np.int32), 0, 0) == 161002


# --- what only the 950 series has


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_integers_of_a_dtype(newer: Chip950) -> None:
    for dtype, last in [("float32", 2**24), ("float16", 2**11), ("int64", 2**63 - 1), ("bool", 1)]:
        (drawn,) = newer.operator("inplace_random_without_from_to", Made((500,), dtype), 7, 4)
        assert_same(drawn, np.array(integers(0, last + 1, 500)).astype(drawn.dtype), dtype)
    seed, offset = Given(np.array([7]), "int64"), Given(np.array([1]), "int64")
    (drawn,) = newer.operator(
        "inplace_random_without_from_to_tensor", Made((500,), "int8"), seed, offset, 4
    )
    assert_same(drawn, np.array(integers(0, 128, 500, 7, 5)).astype(np.int8))
    for name in ("inplace_random_without_from_to", "inplace_random"):
        bounds = () if name.endswith("to") else (0, 5)
        refused = newer.operator(name, Made((5,), "float32"), *bounds, 7, 2)
        assert isinstance(refused, Refused)
        assert "multiple of 4" in refused.text


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_normal_numbers_of_given_means_and_deviations(newer: Chip950, dtype: str) -> None:
    rng = np.random.default_rng(5)
    kind = NUMPY[{"float64": "DOUBLE", "float32": "FLOAT"}.get(dtype, dtype.upper())]
    mean = rng.normal(size=(20,)).astype(kind)
    deviation = rng.uniform(0.5, 2, (3, 1)).astype(kind)
    whole = rng.uniform(0.5, 2, (3, 20)).astype(kind)
    standard = normals(9, 8, 60).reshape(3, 20)
    made, means = Made((3, 20), dtype, stepped=True), Given(mean, dtype, stepped=True)
    for name, arguments, oracle in [
        ("normal_float_float", (0.5, 2.0), 0.5 + 2 * standard),
        ("normal_tensor_float", (means, 2.0), mean.astype(np.float64) + 2 * standard),
        ("normal_float_tensor", (0.5, Given(whole, dtype)), 0.5 + whole * standard),
        ("normal_tensor_tensor", (means, Given(deviation, dtype)), None),
    ]:
        (drawn,) = newer.operator(name, *arguments, 9, 8, made)
        if oracle is None:
            oracle = mean.astype(np.float64) + deviation.astype(np.float64) * standard
        assert_close(drawn, oracle.astype(np.float64), scale=4, what=name)


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_shapes_of_means_and_deviations(newer: Chip950) -> None:
    three, four = Given(np.ones(3, np.float32), "float32"), Given(np.ones(4, np.float32), "float32")
    made, none = Made((3,), "float32"), Made((0,), "float32")
    empty = Given(np.ones(0, np.float32), "float32")
    for name, arguments, words_ in [
        ("normal_tensor_tensor", (three, four, 0, 0, made), "must broadcast"),
        ("normal_tensor_tensor", (three, three, 0, 0, Made((2, 3), "float32")), "out has shape"),
        ("normal_tensor_float", (four, 1.0, 0, 0, made), "broadcast to that of out"),
        ("normal_float_tensor", (0.0, four, 0, 0, made), "out has shape"),
        ("normal_float_tensor", (0.0, empty, 0, 0, none), "std is empty"),
        ("normal_float_float", (0.0, -1.0, 0, 0, made), "must not be negative"),
        ("normal_float_float", (0.0, 1.0, 0, 2, made), "multiple of 4"),
    ]:
        refused = newer.operator(name, *arguments)
        assert isinstance(refused, Refused), name
        assert refused.status == 161002
        assert words_ in refused.text
    one = Given(np.ones(1, np.float32), "float32")
    (drawn,) = newer.operator("normal_float_tensor", 0.0, one, 0, 0, none)
    assert drawn.shape == (0,)


def test_a_910b_has_no_normal_numbers_of_given_means() -> None:
    x = hollow((3,), np.float32)
    assert refusal("aclnnNormalFloatFloat", 0.0, 1.0, 0, 0, x) == 161002
    assert refusal("aclnnNormalTensorTensor", x, x, 0, 0, x) == 161002
    assert refusal("aclnnNormalTensorTensor", x, None, 0, 0, x) == 161001
