# SPDX-License-Identifier: Apache-2.0
"""Quantisation of matrices in blocks of rows by columns, each with a scale in float32."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import LAYOUTS, hollow, place, refusal

import aclnn_py as ap

from ..low_bits import LARGEST, codes_of, encoded, values

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NUMBER = {"int8": 2, "hifloat8": 34, "float8_e5m2": 35, "float8_e4m3fn": 36}
KINDS = list(NUMBER)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def random(shape: tuple[int, ...], dtype: Any) -> Array:
    rng = np.random.default_rng(11)
    x = rng.normal(size=shape) * 2.0 ** rng.integers(-8, 5, shape)
    return x.astype(dtype)


def stored(quotients: Array, kind: str) -> Array:
    """Codes of quotients: int8 and the floats to even, HiFloat8 away from zero."""
    if kind == "int8":
        return np.clip(np.rint(quotients), -128, 127).astype(np.int8).view(np.uint8)
    codes = encoded(quotients, kind, "round" if kind == "hifloat8" else "rint")
    if kind == "hifloat8":
        codes[values(kind)[codes & 127] == 0] = 0
    return codes


def quantised(
    x: Array, kind: str, block: tuple[int, int], least: float = 0.0, limit: float = 0.0
) -> tuple[Array, Array]:
    """Codes and scales of one matrix, computed in float32 as documented."""
    rows, columns = x.shape
    down, right = -(-rows // block[0]), -(-columns // block[1])
    wide = np.zeros((down * block[0], right * block[1]), np.float32)
    wide[:rows, :columns] = x
    most = np.abs(wide).reshape(down, block[0], right, block[1]).max(axis=(1, 3))
    scale = most / np.float32(limit or LARGEST.get(kind, 127.0))
    if least:
        scale = np.minimum(scale, np.float32(1) / np.float32(least))
    divisor = np.where(scale == 0, np.float32(1), scale)
    spread = divisor.repeat(block[0], 0).repeat(block[1], 1)[:rows, :columns]
    return stored(wide[:rows, :columns] / spread, kind), scale


def mode(kind: str) -> str:
    return "round" if kind == "hifloat8" else "rint"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_rows_of_128_columns_on_a_910b(dtype: Any, layout: str) -> None:
    x = random((2, 5, 300), dtype)
    x[0, 1, :128] = 0
    for operator, extra in (
        (ap.ops.dynamic_block_quant, ()),
        (ap.ops.dynamic_block_quant_v2, (0,)),
    ):
        y, scale = hollow(x.shape, np.int8, layout), hollow((2, 5, 3), np.float32, layout)
        operator(place(x, layout), 0.0, "rint", 2, 1, 128, *extra, y, scale)
        codes, scales = quantised(x.reshape(10, 300), "int8", (1, 128))
        np.testing.assert_array_equal(y.numpy().view(np.uint8), codes.reshape(x.shape))
        np.testing.assert_array_equal(scale.numpy(), scales.reshape(2, 5, 3))


def test_a_least_scale_limits_the_numbers() -> None:
    x = random((3, 128), np.float16) * np.float16(100)
    y, scale = hollow(x.shape, np.int8), hollow((3, 1), np.float32)
    ap.ops.dynamic_block_quant(place(x), 4.0, None, 2, 1, 128, y, scale)
    codes, scales = quantised(x, "int8", (1, 128), 4.0)
    assert (scales == 0.25).all()
    np.testing.assert_array_equal(y.numpy().view(np.uint8), codes)
    np.testing.assert_array_equal(scale.numpy(), scales)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("shape", "block", "dtype"),
    [
        ((3, 200), (1, 64), np.float16),
        ((200, 130), (64, 128), BFLOAT16),
        ((2, 130, 200), (128, 192), np.float32),
        ((600, 300), (512, 256), np.float16),
    ],
    ids=str,
)
def test_blocks_on_a_950(
    newer: Chip950, kind: str, shape: tuple[int, ...], block: tuple[int, int], dtype: Any
) -> None:
    x = random(shape, dtype)
    matrices = x.reshape(-1, *shape[-2:])
    parts = [quantised(matrix, kind, block) for matrix in matrices]
    scales = np.stack([scale for _, scale in parts])
    scales = scales.reshape(*shape[:-2], *scales.shape[1:])
    made = Made(shape, kind), Made(scales.shape, "float32")
    found = newer.operator(
        "dynamic_block_quant", Given(x, x.dtype.name), 0.0, mode(kind), NUMBER[kind], *block, *made
    )
    assert not isinstance(found, Refused), found
    codes = np.stack([code for code, _ in parts]).reshape(shape)
    np.testing.assert_array_equal(codes_of(found[0]), codes)
    np.testing.assert_array_equal(found[1], scales)


@pytest.mark.parametrize("limit", [0.0, 15.0, 56.0, 224.0, 32768.0])
def test_a_limit_for_hifloat8(newer: Chip950, limit: float) -> None:
    x = random((5, 130), BFLOAT16)
    found = newer.operator(
        "dynamic_block_quant_v2",
        *(Given(x, "bfloat16"), 0.0, "round", 34, 1, 128, limit),
        *(Made(x.shape, "hifloat8"), Made((5, 2), "float32")),
    )
    codes, scales = quantised(x, "hifloat8", (1, 128), 0.0, limit)
    np.testing.assert_array_equal(found[0], codes)
    np.testing.assert_array_equal(found[1], scales)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "int8"])
@pytest.mark.parametrize("ends", [[300], [1, 300], [128, 128, 256, 300], [0, 131, 300]], ids=str)
@pytest.mark.parametrize("rows", [1, 128])
def test_groups_of_rows(newer: Chip950, kind: str, ends: list[int], rows: int) -> None:
    x = random((2, 300, 70), BFLOAT16)
    y = np.zeros(x.shape, np.uint8)
    scales = np.zeros((2, 300 // rows + len(ends), 2), np.float32)
    for matrix in range(2):
        first = 0
        for number, end in enumerate(ends):
            if end > first:
                part = slice(first, end)
                y[matrix, part], found = quantised(x[matrix, part], kind, (rows, 64), 0.1)
                start = first // rows + number
                scales[matrix, start : start + len(found)] = found
            first = end
    for operator, extra in (
        ("grouped_dynamic_block_quant", ()),
        ("grouped_dynamic_block_quant_v2", (0.0,)),
    ):
        found = newer.operator(
            operator,
            *(Given(x, "bfloat16"), Given(np.array(ends, np.int32), "int32"), 0.1, mode(kind)),
            *(NUMBER[kind], rows, 64, 0, *extra),
            *(Made(x.shape, kind), Made(scales.shape, "float32")),
        )
        assert not isinstance(found, Refused), found
        np.testing.assert_array_equal(codes_of(found[0]), y)
        np.testing.assert_array_equal(found[1], scales)


def test_values_that_are_not_finite(newer: Chip950) -> None:
    x = np.ones((3, 64), np.float16)
    x[0, 5], x[1, 5], x[2, :] = np.nan, np.inf, 0
    y, scale = newer.operator(
        "dynamic_block_quant",
        *(Given(x, "float16"), 0.0, "rint", 36, 1, 64),
        *(Made(x.shape, "float8_e4m3fn"), Made((3, 1), "float32")),
    )
    y = y.astype(np.float32)
    assert np.isnan(y[0, 5])
    assert (np.delete(y[0], 5) == 448).all()
    assert np.isinf(scale[1, 0])
    assert np.isnan(y[1, 5])
    assert not np.delete(y[1], 5).any()
    assert not y[2].any()
    assert scale[2, 0] == 0


def test_groups_outside_the_rows_are_a_fault(newer: Chip950) -> None:
    for ends in ([3, 2], [-1, 4], [5]):
        found = newer.operator(
            "grouped_dynamic_block_quant",
            *(Given(np.ones((4, 64), np.float16), "float16"),),
            *(Given(np.array(ends, np.int32), "int32"), 0.0, "rint", 36, 128, 64, 0),
            *(Made((4, 64), "float8_e4m3fn"), Made((len(ends), 1), "float32")),
        )
        assert isinstance(found, Refused)
        assert "groupList[" in found.text


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ((-1.0, "rint", 36, 1, 128), "minScale is -1"),
        ((0.0, "round", 36, 1, 128), "roundModeOptional"),
        ((0.0, "rint", 35, 1, 128), "dstType is 35"),
        ((0.0, "rint", 36, 2, 128), "rowBlockSize is 2"),
        ((0.0, "rint", 36, 1, 100), "colBlockSize is 100"),
        ((0.0, "rint", 36, 128, 128), "scaleOut has shape"),
    ],
)
def test_wrong_calls_name_the_argument(
    newer: Chip950, attributes: tuple[Any, ...], text: str
) -> None:
    x = Given(np.ones((4, 128), np.float16), "float16")
    made = Made((4, 128), "float8_e4m3fn"), Made((4, 1), "float32")
    found = newer.operator("dynamic_block_quant", x, *attributes, *made)
    assert isinstance(found, Refused)
    assert found.status == 161002
    assert text in found.text


def test_a_limit_is_for_hifloat8_only(newer: Chip950) -> None:
    x = Given(np.ones((4, 128), np.float16), "float16")
    scale = Made((4, 1), "float32")
    y = Made((4, 128), "float8_e4m3fn")
    found = newer.operator("dynamic_block_quant_v2", x, 0.0, "rint", 36, 1, 128, 15.0, y, scale)
    assert isinstance(found, Refused)
    assert "dstTypeMax is 15" in found.text
    y = Made((4, 128), "hifloat8")
    found = newer.operator("dynamic_block_quant_v2", x, 0.0, "round", 34, 1, 128, 16.0, y, scale)
    assert isinstance(found, Refused)
    assert "dstTypeMax is 16" in found.text


def test_an_older_chip_refuses_what_it_lacks() -> None:
    x = np.ones((4, 128), np.float16)
    y, scale = hollow(x.shape, np.int8), hollow((4, 1), np.float32)
    eight = hollow(x.shape, ml_dtypes.float8_e4m3fn)
    assert (
        refusal("aclnnDynamicBlockQuant", place(x), 0.0, "rint", 36, 1, 128, eight, scale) == 161002
    )
    wide = place(x.astype(np.float32))
    assert refusal("aclnnDynamicBlockQuant", wide, 0.0, "rint", 2, 1, 128, y, scale) == 161002
    assert refusal("aclnnDynamicBlockQuant", place(x), 0.0, "rint", 2, 128, 128, y, scale) == 161002
    ends = place(np.array([4], np.int32))
    grouped = place(x), ends, 0.0, "rint", 36, 1, 128, 0, eight, hollow((5, 1), np.float32)
    assert refusal("aclnnGroupedDynamicBlockQuant", *grouped) == 561003
