# SPDX-License-Identifier: Apache-2.0
"""MX quantisation along two dimensions, in groups of rows, in square blocks and in two levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused

from ..low_bits import (
    EXPONENT,
    FLOAT4,
    FLOAT8,
    NUMBER,
    SCALE,
    encoded,
    factors,
    grouped,
    mx,
    paired,
    scale_codes,
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


@pytest.mark.parametrize("kind", FORMATS)
def test_both_of_the_last_dimensions(newer: Chip950, kind: str) -> None:
    x = random((2, 70, 66), BFLOAT16)
    made = (*results(x.shape, kind, -1), *results(x.shape, kind, -2))
    found = newer.operator(
        "dynamic_mx_quant_with_dual_axis", given(x), None, NUMBER[kind], 0, *made
    )
    assert_codes(found, (*mx(x, kind, -1), *mx(x, kind, -2)))
    algorithm = 1 if kind in FLOAT8 else 2 if kind == "float4_e2m1fn" else 0
    limit = 7.0 if algorithm == 2 else 0.0
    found = newer.operator(
        "dynamic_mx_quant_with_dual_axis_v2",
        *(given(x), None, NUMBER[kind], algorithm, limit, *made),
    )
    ways = {"algorithm": algorithm, "limit": limit}
    assert_codes(found, (*mx(x, kind, -1, **ways), *mx(x, kind, -2, **ways)))


ENDS = [[200], [1, 200], [64, 128, 200], [70, 70, 71, 199, 200], [0, 33, 200]]


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_groups_of_rows(newer: Chip950, ends: list[int]) -> None:
    x = random((200, 6), np.float16)
    shape = (3 + len(ends), 6, 2)
    index = Given(np.array(ends, np.int32), "int32")
    for kind in FLOAT8:
        found = newer.operator(
            "grouped_dynamic_mx_quant",
            *(given(x), index, "rint", NUMBER[kind], 32, Made(x.shape, kind), Made(shape, SCALE)),
        )
        assert_codes(found, grouped(x, ends, kind))
    for kind, rounding, algorithm, limit in (
        ("float8_e4m3fn", "rint", 1, 0.0),
        ("float4_e2m1fn", "floor", 2, 0.0),
        ("float4_e2m1fn", "round", 0, 0.0),
        ("float4_e1m2", "rint", 2, 1.875),
        ("float4_e1m2", "rint", 2, 0.0),
        ("float4_e1m2", "round", 2, 3.0),
    ):
        found = newer.operator(
            "grouped_dynamic_mx_quant_v2",
            *(given(x), index, rounding, NUMBER[kind], 32, algorithm, limit),
            *(Made(x.shape, kind), Made(shape, SCALE)),
        )
        ways = {"rounding": rounding, "algorithm": algorithm, "limit": limit}
        assert_codes(found, grouped(x, ends, kind, **ways))


@pytest.mark.parametrize("kind", FLOAT8)
def test_groups_of_rows_along_both_dimensions(newer: Chip950, kind: str) -> None:
    x, ends = random((200, 128), BFLOAT16), [70, 70, 200]
    found = newer.operator(
        "grouped_dynamic_mx_quant_with_dual_axis",
        *(given(x), Given(np.array(ends), "int64"), None, 1, NUMBER[kind], 0.0),
        *(Made(x.shape, kind), Made((200, 2, 2), SCALE)),
        *(Made(x.shape, kind), Made((6, 128, 2), SCALE)),
    )
    assert_codes(found, (*mx(x, kind, algorithm=1), *grouped(x, ends, kind, algorithm=1)))


@pytest.mark.parametrize("ends", [[3, 2], [-1, 4], [5], [2**31 - 1]], ids=str)
def test_groups_outside_the_rows_are_a_fault(newer: Chip950, ends: list[int]) -> None:
    found = newer.operator(
        "grouped_dynamic_mx_quant",
        *(given(random((4, 2))), Given(np.array(ends, np.int32), "int32"), "rint", 36, 32),
        *(Made((4, 2), "float8_e4m3fn"), Made((len(ends), 2, 2), SCALE)),
    )
    assert isinstance(found, Refused)
    assert "groupIndex[" in found.text


def square_scales(x: Array, dtype: str, algorithm: int, limit: float) -> Array:
    """The scale of each block of 32 by 32 values of one matrix."""
    down, right = -(-x.shape[0] // 32), -(-x.shape[1] // 32)
    padded = np.zeros((down * 32, right * 32))
    padded[: x.shape[0], : x.shape[1]] = np.abs(x.astype(np.float64))
    most = padded.reshape(down, 32, right, 32).max(axis=(1, 3))
    return scale_codes(most, dtype, algorithm, limit)


def given_out(scales: Array, shape: tuple[int, int]) -> tuple[Array, Array]:
    """The scales of square blocks for the rows and for the columns."""
    rows = np.repeat(scales, 32, axis=0)[: shape[0]]
    columns = np.repeat(scales, 32, axis=1)[:, : shape[1]]
    return paired(rows, 1), paired(columns, 0)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("shape", [(70, 66), (2, 33, 130), (1, 4)])
def test_square_blocks(newer: Chip950, kind: str, shape: tuple[int, ...]) -> None:
    x = random(shape, BFLOAT16)
    algorithm, limit = (2, 7.0) if kind == "float4_e2m1fn" else (0, 0.0)
    made = (*results(shape, kind, -1), Made(scale_shape(shape, len(shape) - 2), SCALE))
    found = newer.operator(
        "dynamic_block_mx_quant", given(x), None, NUMBER[kind], algorithm, limit, *made
    )
    parts = []
    for matrix in x.reshape(-1, *shape[-2:]):
        scales = square_scales(matrix, kind, algorithm, limit)
        whole = factors(scales).repeat(32, 0).repeat(32, 1)[: shape[-2], : shape[-1]]
        codes = encoded(matrix.astype(np.float64) / whole, kind)
        parts.append((codes, *given_out(scales, matrix.shape)))
    expected = tuple(
        np.concatenate(part).reshape(array.shape)
        for part, array in zip(zip(*parts, strict=True), found, strict=True)
    )
    assert_codes(found, expected)


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize("source", FLOAT4)
def test_from_blocks_of_a_row_to_square_ones(newer: Chip950, kind: str, source: str) -> None:
    rng = np.random.default_rng(3)
    shape = (64, 70)
    codes = rng.integers(0, 16, shape).astype(np.uint8)
    scales = rng.integers(100, 140, (64, 2, 2)).astype(np.uint8)
    scales[:32, 0, 0] = rng.integers(0, 20, 32)
    scales[40, 1, 0] = 255
    offset = EXPONENT[kind] - EXPONENT[source]
    single = scales.reshape(64, 4)
    most = single.reshape(2, 32, 4).max(axis=1)
    new = np.where(most == 255, 255, np.maximum(most.astype(int) - offset, 0)).astype(np.uint8)
    new = new[:, :3]
    with np.errstate(invalid="ignore", over="ignore"):
        ratio = factors(single[:, :3]) / factors(new).repeat(32, 0)
        exact = values(source)[codes] * ratio.repeat(32, 1)[:, :70]
    dead = (new == 255).repeat(32, 0).repeat(32, 1)[:, :70]
    y = np.where(dead, 0, encoded(exact, kind))
    made = Made(shape, kind), Made((64, 2, 2), SCALE), Made((1, 70, 2), SCALE)
    found = newer.operator(
        "mx_to_block_mx_quant", Given(codes, source), Given(scales, SCALE), NUMBER[kind], *made
    )
    assert_codes(found, (y, *given_out(new, shape)))


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("rounding", ["rint", "floor", "round"])
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_two_levels_of_scales(newer: Chip950, dtype: Any, rounding: str, smoothed: bool) -> None:
    x = random((3, 1100), dtype, 1)
    x[2, :512] = 0
    smooth = random((1100,), dtype, 2) if smoothed else np.ones(1100, dtype)
    product = x.astype(np.float32) * smooth.astype(np.float32)
    wide = np.zeros((3, 3, 512), np.float32)
    wide.reshape(3, -1)[:, :1100] = product
    level0 = np.abs(wide).max(axis=2) / np.float32(6)
    divisor = np.where(level0 == 0, np.float32(1), level0)
    narrow = (wide / divisor[..., None]).astype(dtype).reshape(3, -1)[:, :1100]
    y, level1 = mx(narrow, "float4_e2m1fn", rounding=rounding)
    found = newer.operator(
        "dynamic_dual_level_mx_quant",
        *(given(x), given(smooth) if smoothed else None, rounding, 512, 32),
        *(Made(x.shape, "float4_e2m1fn"), Made((3, 3), "float32"), Made((3, 18, 2), SCALE)),
    )
    np.testing.assert_array_equal(found[1], level0)
    assert_codes([found[0], found[2]], (y, level1))
