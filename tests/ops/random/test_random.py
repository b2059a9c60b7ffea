# SPDX-License-Identifier: Apache-2.0
"""Random numbers: their sequence, their distribution, their range, refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, accepted_dtypes, hollow, op, place, refusal

import aclnn_py as ap
from aclnn_py import functional

from .philox_oracle import normals, philox, singles

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
COUNT = 40_000
FLOATS = ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"]
INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8"]


def test_the_generator_is_the_published_one() -> None:
    # Two of the known answers that come with the authors' own implementation.
    assert philox([0] * 4, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([0xFFFFFFFF] * 4, 2**64 - 1) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize(
    ("seed", "offset"), [(0, 0), (7, 5), (2**63 + 11, 2**33 + 1), (1, 2**64 - 3)]
)
def test_uniform_numbers_are_those_of_the_sequence(seed: int, offset: int) -> None:
    for layout in LAYOUTS:
        x = hollow((2, 5), np.float64, layout)
        op("aclnnInplaceUniform")(x, -1.0, 3.0, seed, offset)
        # DOUBLE gets numbers of FLOAT.
        assert_same(
            x.numpy(), singles(seed, offset, 10, -1, 3).astype(np.float64).reshape(2, 5), layout
        )


def test_normal_numbers_are_made_of_pairs_of_the_sequence() -> None:
    x = hollow((3, 7), np.float64, "transposed")
    op("aclnnInplaceNormal")(x, 2.0, 0.5, 9, 3)
    assert_close(x.numpy(), (2 + 0.5 * normals(9, 3, 21)).reshape(3, 7), scale=4)


def test_equal_seeds_give_equal_numbers_and_an_offset_moves_on() -> None:
    first = functional.normal(0.0, 1.0, (5000,), seed=3).numpy()
    assert_same(functional.normal(0.0, 1.0, (5000,), seed=3).numpy(), first)
    assert_same(functional.normal(0.0, 1.0, (4000,), seed=3, offset=1000).numpy(), first[1000:])
    other = functional.normal(0.0, 1.0, (5000,), seed=4).numpy()
    assert (other != first).mean() > 0.99


def test_launches_in_a_loop_take_their_own_seeds() -> None:
    # Executors of random operators are not kept: each launch has its own place in the sequence.
    x = ap.empty((8,), "float64")
    for offset in (0, 0, 8, 16, 16):
        functional.uniform_(x, seed=1, offset=offset)
        assert_same(x.numpy(), singles(1, offset, 8, 0, 1).astype(np.float64))


def test_the_number_of_threads_changes_nothing() -> None:
    code = (
        "import zlib, aclnn_py as ap; f = ap.functional\n"
        "for make in (f.normal, f.uniform):\n"
        "    x = make(0.0, 1.0, (200_001,), seed=5).numpy()\n"
        "    print(zlib.crc32(x.tobytes()), x.std().round(1))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env={**os.environ, "ACLNN_PY_THREADS": threads},
        ).stdout
        for threads in ("1", "3")
    }
    assert len(texts) == 1
    assert [line.split()[1] for line in texts.pop().splitlines()] == ["1.0", "0.3"]


def largest_gap(sorted_values: Array, distribution: Array) -> float:
    """The Kolmogorov-Smirnov statistic: how far the sample's steps are from the distribution."""
    steps = np.arange(len(sorted_values) + 1) / len(sorted_values)
    return float(max((steps[1:] - distribution).max(), (distribution - steps[:-1]).max()))


# A sample of the distribution exceeds it once in 10,000 seeds; the seeds here are fixed.
GAP = 2.23 / COUNT**0.5


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 17])
def test_uniform_distribution(seed: int) -> None:
    x = np.sort(functional.uniform(-2.0, 6.0, (COUNT,), seed=seed, dtype="float64").numpy())
    assert x[0] >= -2 and x[-1] < 6
    assert largest_gap(x, (x + 2) / 8) < GAP
    assert abs(x.mean() - 2) < 4 * 8 / (12 * COUNT) ** 0.5
    assert abs(x.var() / (64 / 12) - 1) < 0.02


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 17])
def test_normal_distribution(seed: int) -> None:
    from math import erf

    x = functional.normal(1.0, 2.0, (COUNT,), seed=seed, dtype="float64").numpy()
    z = np.sort((x - 1) / 2)
    assert largest_gap(z, np.array([(1 + erf(v / 2**0.5)) / 2 for v in z])) < GAP
    assert abs(z.mean()) < 4 / COUNT**0.5
    assert abs(z.var() - 1) < 4 * (2 / COUNT) ** 0.5
    assert abs((z**3).mean()) < 4 * (15 / COUNT) ** 0.5
    assert abs((z**4).mean() - 3) < 4 * (96 / COUNT) ** 0.5
    neighbours = (x[1:] - 1) * (x[:-1] - 1) / 4
    assert abs(neighbours.mean()) < 4 / COUNT**0.5


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 0.0), (2.0, 2.25), (-3.0, -2.0)])
def test_rounding_never_reaches_the_upper_bound(name: str, low: float, high: float) -> None:
    x = hollow((COUNT,), NUMPY[name])
    op("aclnnInplaceUniform")(x, low, high, 11, 0)
    values = x.numpy().astype(np.float64)
    assert low <= values.min() and values.max() < high
    if name == "BFLOAT16" and high != 0:  # so coarse that the last number below the bound is drawn
        assert values.max() == np.nextafter(np.asarray(high, NUMPY[name]), NUMPY[name].type(low))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(("low", "high"), [(0.0, 7.0), (-3.0, 4.0), (-2.5, 2.5), (0.25, 0.75)])
def test_integers_are_numbers_of_the_range_without_their_fraction(
    name: str, low: float, high: float
) -> None:
    if name == "UINT8":
        low, high = abs(low), 2 * high
    x = hollow((500,), NUMPY[name])
    op("aclnnInplaceUniform")(x, low, high, 5, 0)
    assert_same(x.numpy(), np.trunc(singles(5, 0, 500, low, high)).astype(NUMPY[name]))


def test_ranges_without_width() -> None:
    assert_same(functional.uniform(2.5, 2.5, (3,)).numpy(), np.full(3, 2.5, np.float32))
    x = hollow((3,), np.int32)
    op("aclnnInplaceUniform")(x, 2.5, 2.5, 0, 0)
    assert_same(x.numpy(), np.full(3, 2, np.int32))
    assert_same(functional.normal(1.5, 0.0, (3,)).numpy(), np.full(3, 1.5, np.float32))


def test_numbers_are_rounded_to_the_dtype() -> None:
    for name in FLOATS[:3]:
        x = hollow((500,), NUMPY[name])
        op("aclnnInplaceNormal")(x, 0.0, 1.0, 8, 0)
        assert_close(x.numpy(), normals(8, 0, 500), what=name)


def test_nothing_and_one_number_are_filled() -> None:
    assert functional.normal(0.0, 1.0, (0, 3)).shape == (0, 3)
    assert_same(
        functional.uniform(0.0, 1.0, (), seed=2, dtype="float64").numpy(),
        singles(2, 0, 1, 0, 1).astype(np.float64)[0],
    )


def test_seeds_in_tensors_are_read_when_the_stream_gets_there() -> None:
    for kind in (np.int64, np.uint64):
        seed, offset = place(np.array([0], kind)), place(np.array([4], kind))
        functional.fill_(seed, 6) if kind == np.int64 else seed.copy_from(np.array([6], kind))
        x = hollow((9,), np.float64)
        op("aclnnInplaceUniformTensor")(x, 0.0, 1.0, seed, offset, 2)
        assert_same(x.numpy(), singles(6, 6, 9, 0, 1).astype(np.float64))
        y = hollow((9,), np.float32)
        if kind == np.uint64:
            assert refusal("aclnnInplaceNormalTensor", y, 0.0, 1.0, seed, offset, 2) == 161002
            continue
        op("aclnnInplaceNormalTensor")(y, 0.0, 1.0, seed, offset, 2)
        assert_same(y.numpy(), functional.normal(0.0, 1.0, (9,), seed=6, offset=6).numpy())


def test_normal_numbers_lose_their_fraction_in_integers() -> None:
    reference = hollow((301,), np.float64)
    op("aclnnInplaceNormal")(reference, 3.0, 20.0, 6, 2)
    drawn = reference.numpy()
    for name in ("INT8", "INT16", "INT32", "INT64"):
        x = hollow((301,), NUMPY[name])
        op("aclnnInplaceNormal")(x, 3.0, 20.0, 6, 2)
        assert_same(x.numpy(), np.trunc(drawn).astype(NUMPY[name]), name)
    truth = hollow((301,), np.bool_)
    op("aclnnInplaceNormal")(truth, 0.0, 1.0, 6, 2)
    assert truth.numpy().all()


def test_executors_with_random_steps_do_not_become_repeatable() -> None:
    x = hollow((3,), np.float32)
    for operator in ("inplace_uniform", "inplace_normal"):
        with pytest.raises(ap.errors.AclnnError) as caught:
            ap.plan(getattr(ap.ops, operator), x, 0.0, 1.0, 0, 0, repeatable=True)
        assert caught.value.status == 561000


def test_refusals() -> None:
    x, one = hollow((3,), np.float32), place(np.array([1]))
    for name, rest in [("Uniform", (0.0, 1.0)), ("Normal", (0.0, 1.0))]:
        assert refusal(f"aclnnInplace{name}", None, *rest, 0, 0) == 161001
        tensors = f"aclnnInplace{name}Tensor"
        assert refusal(tensors, None, *rest, one, one, 0) == 161001
        assert refusal(tensors, x, *rest, None, one, 0) == 161001
        assert refusal(tensors, x, *rest, one, None, 0) == 161001
        assert refusal(tensors, x, *rest, place(np.array([1, 2])), one, 0) == 161002
        assert refusal(tensors, x, *rest, one, place(np.array([1], np.int32)), 0) == 161002
        accepted = accepted_dtypes(f"aclnnInplace{name}", 0)
        for kind in sorted(set(NUMPY) - set(accepted)):
            assert refusal(f"aclnnInplace{name}", hollow((3,), NUMPY[kind]), *rest, 0, 0) == 161002
    for low, high in [(1.0, 0.5), (float("nan"), 1.0), (0.0, float("nan"))]:
        with pytest.raises(ap.errors.AclnnError, match="from must not be greater") as caught:
            op("aclnnInplaceUniform")(x, low, high, 0, 0)
        assert caught.value.status == 161002


def test_a_negative_deviation_is_refused_after_null_arguments() -> None:
    x, one = hollow((3,), np.float32), place(np.array([1]))
    for call in (
        lambda std: op("aclnnInplaceNormal")(x, 0.0, std, 0, 0),
        lambda std: op("aclnnInplaceNormalTensor")(x, 0.0, std, one, one, 0),
        lambda std: functional.normal(0.0, std, (3,), seed=1),
        lambda std: functional.normal_(x, 0.0, std),
    ):
        with pytest.raises(
            ap.errors.AclnnError, match=r"std is -0.5; .* not be negative"
        ) as caught:
            call(-0.5)
        assert caught.value.status == 161002
        call(-0.0)
    assert refusal("aclnnInplaceNormalTensor", x, 0.0, -1.0, None, one, 0) == 161001


@pytest.mark.parametrize(
    ("name", "low", "high", "words"),
    [
        ("INT8", 0.0, 128.0, "INT8 holds -128 to 127"),
        ("UINT8", -1.0, 5.0, "UINT8 holds 0 to 255"),
        ("FLOAT16", 0.0, 65505.0, "FLOAT16 holds -65504 to 65504"),
        ("FLOAT", -np.inf, 0.0, "FLOAT holds -3.40282e[+]38"),
    ],
)
def test_bounds_the_dtype_does_not_hold_are_refused(
    name: str, low: float, high: float, words: str
) -> None:
    with pytest.raises(ap.errors.AclnnError, match=words) as caught:
        op("aclnnInplaceUniform")(hollow((3,), NUMPY[name]), low, high, 0, 0)
    assert caught.value.status == 161002


def test_the_whole_range_of_a_dtype_can_be_drawn() -> None:
    for kind, low, high in [(np.int8, -128, 127), (np.uint8, 0, 255), (np.float16, -65504, 65504)]:
        x = hollow((COUNT,), kind)
        op("aclnnInplaceUniform")(x, float(low), float(high), 1, 0)
        values = x.numpy().astype(np.float64)
        assert low <= values.min() < low + 600
        assert high - 600 < values.max() < high
