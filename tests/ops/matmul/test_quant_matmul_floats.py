# SPDX-License-Identifier: Apache-2.0
"""QuantMatmulV5 with floats of 8 and 4 bits, which is for chips of the 950 series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close

from ..low_bits import FLOAT8, SCALE, values

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
FOUR = "float4_e2m1fn"
HALF, BRAIN = "float16", "bfloat16"


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def numbers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Given:
    """Finite codes of small numbers, whose products keep well inside of the results."""
    table = values(dtype)
    codes = np.flatnonzero(np.isfinite(table) & (np.abs(table) <= 8)).astype(np.uint8)
    return Given(rng.choice(codes, shape), dtype)


def decoded(tensor: Given) -> Array:
    return values(tensor.dtype)[tensor.values]


def run(newer: Chip950, *arguments: Any) -> Array:
    results = newer.operator("quant_matmul_v5", *arguments)
    assert not isinstance(results, Refused), results
    return results[0]


def call(x1: Any, x2: Any, row: Any, column: Any, out: Any, **more: Any) -> tuple[Any, ...]:
    return (
        x1,
        x2,
        row,
        column,
        more.get("y_scale"),
        None,
        None,
        None,
        more.get("bias"),
        more.get("t1", False),
        more.get("t2", False),
        more.get("group", 0),
        out,
    )


@pytest.mark.parametrize("left", [*FLOAT8, "hifloat8"])
@pytest.mark.parametrize("dtype", [HALF, BRAIN, "float32"])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_scales_of_rows_and_columns(
    newer: Chip950, left: str, dtype: str, batch: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(61)
    m, k, n = 5, 40, 24
    right = left if left == "hifloat8" else FLOAT8[0]
    x1, x2 = numbers(rng, left, (*batch, m, k)), numbers(rng, right, (k, n))
    bias = rng.standard_normal(n).astype(np.float32)
    for rows, columns in ((m, n), (m, 1), (1, 1)):
        row = rng.uniform(0.5, 2, rows).astype(np.float32)
        column = rng.uniform(0.01, 0.1, columns).astype(np.float32)
        out = run(
            newer,
            *call(
                x1,
                x2,
                Given(row, "float32"),
                Given(column, "float32"),
                Made((*batch, m, n), dtype),
                bias=Given(bias, "float32"),
            ),
        )
        exact = (decoded(x1) @ decoded(x2) + bias) * column * (row[:, None] if rows > 1 else row)
        assert_close(out, exact, scale=4)


@pytest.mark.parametrize("t1", [False, True])
@pytest.mark.parametrize("t2", [False, True])
def test_packed_scales(newer: Chip950, t1: bool, t2: bool) -> None:
    rng = np.random.default_rng(62)
    m, k, n = 6, 48, 16
    x1 = numbers(rng, FLOAT8[1], (k, m) if t1 else (m, k))
    x2 = numbers(rng, FLOAT8[1], (n, k) if t2 else (k, n))
    scale = np.full(n, 0.125, np.float32)
    packed = scale.view(np.uint32).astype(np.uint64)
    out = run(newer, *call(x1, x2, None, Given(packed, "uint64"), Made((m, n), HALF), t1=t1, t2=t2))
    a, b = decoded(x1).T if t1 else decoded(x1), decoded(x2).T if t2 else decoded(x2)
    assert_close(out, (a @ b) * 0.125, scale=2)


@pytest.mark.parametrize("t1", [False, True])
@pytest.mark.parametrize("t2", [False, True])
@pytest.mark.parametrize("tall", [1, 128])
@pytest.mark.parametrize("group", [False, True])
def test_blocks(newer: Chip950, t1: bool, t2: bool, tall: int, group: bool) -> None:
    rng = np.random.default_rng(63)
    m, k, n = 130, 300, 140
    x1 = numbers(rng, FLOAT8[1], (k, m) if t1 else (m, k))
    x2 = numbers(rng, FLOAT8[0], (n, k) if t2 else (k, n))
    row = rng.uniform(0.5, 2, (-(-m // tall), 3)).astype(np.float32)
    column = rng.uniform(0.01, 0.1, (3, 2)).astype(np.float32)
    out = run(
        newer,
        *call(
            x1,
            x2,
            Given(np.ascontiguousarray(row.T) if t1 else row, "float32"),
            Given(np.ascontiguousarray(column.T) if t2 else column, "float32"),
            Made((m, n), BRAIN),
            t1=t1,
            t2=t2,
            group=tall << 32 | 128 << 16 | 128 if group else 0,
        ),
    )
    a, b = decoded(x1).T if t1 else decoded(x1), decoded(x2).T if t2 else decoded(x2)
    left = np.repeat(np.repeat(row.astype(np.float64), tall, 0)[:m], 128, 1)[:, :k]
    right = np.repeat(np.repeat(column.astype(np.float64), 128, 0)[:k], 128, 1)[:, :n]
    assert_close(out, (a * left) @ (b * right), scale=4)


@pytest.mark.parametrize("kind", [*FLOAT8, FOUR])
@pytest.mark.parametrize("t1", [False, True])
@pytest.mark.parametrize("t2", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_powers_of_two_for_each_32(
    newer: Chip950, kind: str, t1: bool, t2: bool, bias: bool
) -> None:
    if kind == FOUR and (t1 or not t2):
        t1, t2 = False, True
    rng = np.random.default_rng(64)
    m, k, n = 5, 120, 24
    x1 = numbers(rng, kind, (k, m) if t1 else (m, k))
    x2 = numbers(rng, kind, (n, k) if t2 else (k, n))
    row = rng.integers(120, 131, (m, 2, 2)).astype(np.uint8)
    column = rng.integers(120, 131, (n, 2, 2)).astype(np.uint8)
    shift = rng.standard_normal(n).astype(np.float32)
    out = run(
        newer,
        *call(
            x1,
            x2,
            Given(np.ascontiguousarray(row.transpose(1, 0, 2)) if t1 else row, SCALE),
            Given(column if t2 else np.ascontiguousarray(column.transpose(1, 0, 2)), SCALE),
            Made((m, n), "float32"),
            bias=Given(shift, "float32") if bias else None,
            t1=t1,
            t2=t2,
            group=1 << 32 | 1 << 16 | 32,
        ),
    )
    a, b = decoded(x1).T if t1 else decoded(x1), decoded(x2).T if t2 else decoded(x2)
    left = np.repeat(2.0 ** (row.reshape(m, 4).astype(int) - 127), 32, 1)[:, :k]
    right = np.repeat(2.0 ** (column.reshape(n, 4).astype(int) - 127), 32, 1)[:, :k]
    exact = (a * left) @ (b * right.T) + (shift if bias else 0)
    assert_close(out, exact, scale=50)


def test_refusals(newer: Chip950) -> None:
    rng = np.random.default_rng(65)
    x1, x2 = numbers(rng, FLOAT8[0], (4, 64)), numbers(rng, FLOAT8[0], (64, 8))
    row, column = Given(np.ones(4, np.float32), "float32"), Given(np.ones(8, np.float32), "float32")
    out = Made((4, 8), HALF)

    def refused(*arguments: Any, status: int = 161002) -> str:
        result = newer.operator("quant_matmul_v5", *arguments)
        assert isinstance(result, Refused), "taken"
        assert result.status == status, result
        return result.text

    refused(*call(x1, None, row, column, out), status=161001)
    refused(*call(x1, x2, None, column, out), status=161001)
    refused(*call(x1, x2, row, None, out), status=161001)
    assert "yScaleOptional is given" in refused(*call(x1, x2, row, column, out, y_scale=column))
    bytes_of = Given(np.ones((64, 8), np.int8), "int8")
    assert "x2 has dtype INT8" in refused(*call(x1, bytes_of, row, column, out))
    assert "x1ScaleOptional has shape (8,)" in refused(*call(x1, x2, column, column, out))
    assert "x1 (4, 64) and x2 (8, 64)" in refused(
        *call(x1, numbers(rng, FLOAT8[0], (8, 64)), row, column, out)
    )
    assert "out has shape" in refused(*call(x1, x2, row, column, Made((4, 7), HALF)))
    assert "groupSize is 32" in refused(*call(x1, x2, row, column, out, group=32))
    one = Given(np.ones(1, np.float32), "float32")
    assert "biasOptional is given" in refused(*call(x1, x2, one, column, out, bias=column))
    scale = Given(np.full((4, 1, 2), 127, np.uint8), SCALE)
    other = Given(np.full((1, 8, 2), 127, np.uint8), SCALE)
    assert "a group of 64 along k" in refused(*call(x1, x2, scale, other, out, group=64))
    assert "x1ScaleOptional has shape" in refused(*call(x1, x2, other, other, out))
    four, narrow = numbers(rng, FOUR, (4, 64)), numbers(rng, FOUR, (64, 8))
    assert "transposeX2 is false" in refused(*call(four, narrow, scale, other, out))
