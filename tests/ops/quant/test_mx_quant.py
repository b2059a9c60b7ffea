# SPDX-License-Identifier: Apache-2.0
"""Quantisation in blocks with a power of two as their scale, which is for chips of the 950 series.

Results are compared with the documented formulas in float64, code by code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import hollow, place

import aclnn_py as ap

from ..low_bits import (
    EXPONENT,
    FLOAT4,
    FLOAT8,
    LARGEST,
    NUMBER,
    SCALE,
    codes_of,
    encoded,
    factors,
    mx,
    values,
)
from ..mx_calls import (
    BFLOAT16,
    FORMATS,
    Array,
    assert_codes,
    given,
    random,
    results,
    scale_shape,
)

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def halves_below(bound: float, dtype: Any) -> Array:
    """Every finite value of a 16-bit dtype that is smaller than a bound."""
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(invalid="ignore"):
        return every[np.abs(every.astype(np.float64)) < bound]


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
@pytest.mark.parametrize(
    ("kind", "rounding"),
    [(k, "rint") for k in FLOAT8] + [(k, r) for k in FLOAT4 for r in ("rint", "floor", "round")],
)
def test_every_half_is_rounded_as_the_format_says(
    newer: Chip950, kind: str, rounding: str, dtype: Any
) -> None:
    # A block's first value makes its scale 1, so that the others are stored as they are.
    anchor = 2.0 ** EXPONENT[kind]
    rest = halves_below(2 * anchor, dtype)
    rows = -(-len(rest) // 31)
    x = np.full((rows, 32), anchor, dtype)
    x[:, 1:].flat[: len(rest)] = rest
    found = newer.operator(
        "dynamic_mx_quant", given(x), -1, rounding, NUMBER[kind], 32, 0, *results(x.shape, kind, -1)
    )
    assert_codes(found, mx(x, kind, rounding=rounding))
    assert (codes_of(found[1])[:, 0, 0] == 127).all()
    if rounding == "rint" and kind != "float4_e1m2":
        limited = np.clip(x.astype(np.float32), -LARGEST[kind], LARGEST[kind])
        own = limited.astype(getattr(ml_dtypes, kind)).view(np.uint8)
        np.testing.assert_array_equal(codes_of(found[0]), own)


def test_every_half_is_rounded_to_hifloat8_away_from_zero(newer: Chip950) -> None:
    rest = halves_below(32769.0, np.float16)
    x = np.full((-(-len(rest) // 63), 64), 32768.0, np.float16)
    x[:, 1:].flat[: len(rest)] = rest
    made = Made(x.shape, "hifloat8"), Made((len(x), 1), "float32")
    y, scale = newer.operator("dynamic_block_quant", given(x), 0.0, "round", 34, 1, 64, *made)
    np.testing.assert_array_equal(scale, np.ones((len(x), 1)))
    expected = encoded(x, "hifloat8", "round")
    # Zero has one sign only: the other code is NaN.
    expected[values("hifloat8")[expected & 127] == 0] = 0
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("shape", "axis", "block", "dtype"),
    [
        ((3, 70), -1, 32, np.float16),
        ((70, 6), 0, 32, BFLOAT16),
        ((2, 130, 6), 1, 64, np.float16),
        ((2, 3, 5, 40), -1, 32, BFLOAT16),
        ((1100, 4), -2, 512, np.float16),
        ((64, 520), 0, 32, np.float16),
        ((40, 2), 0, 32, np.float32),
        ((130,), 0, 32, np.float16),
    ],
    ids=str,
)
def test_blocks_along_any_dimension(
    newer: Chip950, kind: str, shape: tuple[int, ...], axis: int, block: int, dtype: Any
) -> None:
    if kind in FLOAT4 and shape[-1] % 2:
        shape = (*shape[:-1], shape[-1] + 1)
    x = random(shape, dtype)
    made = results(shape, kind, axis, block)
    arguments = (given(x), axis, None, NUMBER[kind], block)
    found = newer.operator("dynamic_mx_quant", *arguments, 0, *made)
    assert_codes(found, mx(x, kind, axis, block))
    if kind in FLOAT8:
        found = newer.operator("dynamic_mx_quant_v2", *arguments, 1, 0.0, *made)
        assert_codes(found, mx(x, kind, axis, block, algorithm=1))


def edges(kind: str) -> Array:
    """Blocks whose largest value lies at, or beside, what moves a scale by one."""
    marks = np.array([1.0, 1.5, 1.75, 1.875, LARGEST[kind], 9.0 / 8])
    beside = np.concatenate([marks, marks * (1 + 2.0**-7), marks * (1 - 2.0**-8)])
    powers = 2.0 ** np.array([-133, -130, -126, -125, -124, -118, -20, 0, 20, 100, 119])
    most = np.minimum(beside[:, None] * powers, 2.0**127).ravel().astype(BFLOAT16)
    x = np.zeros((len(most), 32), BFLOAT16)
    x[:, 0], x[:, 1] = most, -most
    x[:, 2:] = (most[:, None].astype(np.float64) * np.linspace(-1, 1, 30)).astype(BFLOAT16)
    return x


@pytest.mark.parametrize(
    ("kind", "algorithm", "limit", "low"),
    [
        *[(kind, 0, 0.0, 0.0) for kind in FORMATS],
        *[(kind, 1, 0.0, low) for kind in FLOAT8 for low in (0.0, 0.3)],
        *[("float4_e2m1fn", 2, limit, 0.0) for limit in (0.0, 6.0, 7.0, 9.5, 12.0)],
    ],
)
def test_scales_at_their_edges(
    newer: Chip950, kind: str, algorithm: int, limit: float, low: float
) -> None:
    x = edges(kind)
    found = newer.operator(
        "dynamic_mx_quant_v3",
        *(given(x), 1, "rint", NUMBER[kind], 32, algorithm, limit, low),
        *results(x.shape, kind, 1),
    )
    assert_codes(found, mx(x, kind, 1, 32, "rint", algorithm, limit, low))


def test_the_document_s_own_example(newer: Chip950) -> None:
    x = np.array([[0, 8, 64, 512]], BFLOAT16)
    y, scale = newer.operator(
        "dynamic_mx_quant", given(x), -1, "rint", 36, 32, 0, *results((1, 4), "float8_e4m3fn", -1)
    )
    assert codes_of(y).tolist() == [[0, 72, 96, 120]]
    assert codes_of(scale).tolist() == [[[128, 0]]]
    made = (*results((1, 4), "float8_e4m3fn", -1), *results((1, 4), "float8_e4m3fn", -2))
    found = newer.operator("dynamic_mx_quant_with_dual_axis", given(x), "rint", 36, 0, *made)
    assert codes_of(found[3]).tolist() == [[[0, 0], [122, 0], [125, 0], [128, 0]]]


@pytest.mark.parametrize("kind", FORMATS)
def test_blocks_that_are_not_finite_or_zero(newer: Chip950, kind: str) -> None:
    x = np.ones((4, 64), np.float16)
    x[0, 3], x[1, 40], x[2, :], x[3, ::2] = np.inf, np.nan, 0, -0.0
    y, scale = newer.operator(
        "dynamic_mx_quant", given(x), 1, "rint", NUMBER[kind], 32, 0, *results(x.shape, kind, 1)
    )
    y, scale = codes_of(y), codes_of(scale)
    assert scale[0, 0, 0] == 255
    assert scale[1, 0, 1] == 255
    assert scale[2].tolist() == [[0, 0]]
    assert not y[0, :32].any()
    assert not y[1, 32:].any()
    assert not y[2].any()
    one = encoded(np.array(2.0 ** EXPONENT[kind]), kind)
    assert (y[0, 32:] == one).all()
    assert (y[3, ::2] == encoded(np.array(-0.0), kind)).all()


def test_views_with_gaps_and_empty_tensors(newer: Chip950) -> None:
    x = random((3, 70), np.float16)
    kind = "float8_e4m3fn"
    made = Made((3, 70), kind, True), Made((3, 2, 2), SCALE, True)
    found = newer.operator("dynamic_mx_quant", given(x, True), -1, None, 36, 32, 1, *made)
    assert_codes(found, mx(x, kind, algorithm=1))
    made = Made((0, 70), kind), Made((0, 2, 2), SCALE)
    empty = Given(np.zeros((0, 70), np.float16), "float16")
    found = newer.operator("dynamic_mx_quant", empty, -1, None, 36, 32, 1, *made)
    assert [array.shape for array in found] == [(0, 70), (0, 2, 2)]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 70), -1), ((2, 70, 6), 1)])
def test_the_way_back(
    newer: Chip950, kind: str, dtype: str, shape: tuple[int, ...], axis: int
) -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, len(values(kind)), shape).astype(np.uint8)
    if kind in FLOAT8:
        codes[~np.isfinite(values(kind)[codes])] = 0
    scales = rng.integers(120, 130, scale_shape(shape, axis)).astype(np.uint8)
    numbers = {"float32": 0, "float16": 1, "bfloat16": 27}
    back = newer.operator(
        "anti_mx_quant",
        *(Given(codes, kind), Given(scales, SCALE), axis, numbers[dtype], Made(shape, dtype)),
    )[0]
    flat = np.moveaxis(np.moveaxis(scales, axis - (axis < 0), -2).reshape(
        *(n for d, n in enumerate(shape) if d != axis % len(shape)), -1
    ), -1, axis)  # fmt: skip
    spread = np.repeat(factors(flat), 32, axis=axis).take(range(shape[axis]), axis=axis)
    with np.errstate(over="ignore"):
        expected = (values(kind)[codes] * spread).astype(back.dtype)
    np.testing.assert_array_equal(back.astype(np.float64), expected.astype(np.float64))


def test_a_scale_that_is_no_number_makes_none(newer: Chip950) -> None:
    arguments = (
        Given(np.full((1, 4), 0x38, np.uint8), "float8_e4m3fn"),
        Given(np.array([[[255, 0]]], np.uint8), SCALE),
    )
    back = newer.operator("anti_mx_quant", *arguments, 1, 0, Made((1, 4), "float32"))[0]
    assert np.isnan(back).all()


# (what, the call but x, y and scale, part of the message)
X = np.ones((4, 64), np.float16)
WRONG: list[tuple[Array, tuple[Any, ...], tuple[Made, Made], str]] = [
    (X, (2, None, 36, 32, 0, 0.0, 0.0), results((4, 64), "float8_e4m3fn", 1), "axis is 2"),
    (X, (1, "floor", 36, 32, 0, 0.0, 0.0), results((4, 64), "float8_e4m3fn", 1), "roundMode"),
    (X, (1, "ceil", 40, 32, 0, 0.0, 0.0), results((4, 64), "float4_e2m1fn", 1), "roundMode"),
    (X, (1, None, 35, 32, 0, 0.0, 0.0), results((4, 64), "float8_e4m3fn", 1), "dstType is 35"),
    (X, (1, None, 36, 16, 0, 0.0, 0.0), results((4, 64), "float8_e4m3fn", 1), "blocksize is 16"),
    (X, (1, None, 36, 1056, 0, 0.0, 0.0), results((4, 64), "float8_e4m3fn", 1), "blocksize"),
    (X, (1, None, 36, 32, 2, 0.0, 0.0), results((4, 64), "float8_e4m3fn", 1), "scaleAlg is 2"),
    (X, (1, None, 41, 32, 1, 0.0, 0.0), results((4, 64), "float4_e1m2", 1), "scaleAlg is 1"),
    (X, (1, None, 40, 32, 2, 5.0, 0.0), results((4, 64), "float4_e2m1fn", 1), "dstTypeMax is 5"),
    (X, (1, None, 36, 32, 1, 6.0, 0.0), results((4, 64), "float8_e4m3fn", 1), "dstTypeMax is 6"),
    (X, (1, None, 36, 32, 0, 0.0, 0.5), results((4, 64), "float8_e4m3fn", 1), "maxLowBound"),
    (X, (1, None, 36, 32, 1, 0.0, -1.0), results((4, 64), "float8_e4m3fn", 1), "maxLowBound is -1"),
    (X, (1, None, 36, 32, 0, 0.0, 0.0), results((4, 32), "float8_e4m3fn", 1), "yOut has shape"),
    (X, (1, None, 36, 32, 0, 0.0, 0.0), results((4, 64), "float8_e4m3fn", 0), "mxscaleOut has"),
    (X[:, :5], (0, None, 40, 32, 0, 0.0, 0.0), results((4, 5), "float4_e2m1fn", 0), "even"),
    (
        X.astype(np.float32),
        (0, None, 36, 32, 0, 0.0, 0.0),
        results((4, 64), "float8_e4m3fn", 0),
        "at least 32",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", WRONG, ids=[case[3] for case in WRONG])
def test_wrong_calls_name_the_argument(
    newer: Chip950, case: tuple[Array, tuple[Any, ...], tuple[Made, Made], str]
) -> None:
    x, attributes, made, text = case
    found = newer.operator("dynamic_mx_quant_v3", given(x), *attributes, *made)
    assert isinstance(found, Refused)
    assert found.status == 161002
    assert text in found.text


def test_an_older_chip_does_not_have_the_operators() -> None:
    with pytest.raises(ap.errors.AclnnError, match="only chips of the 950 series") as caught:
        ap.ops.dynamic_mx_quant(
            place(X), 1, None, 36, 32, 0,
            hollow(X.shape, ml_dtypes.float8_e4m3fn),
            place(np.ones((4, 1, 2), ml_dtypes.float8_e8m0fnu)),
        )  # fmt: skip
    assert caught.value.status == 361001
