# SPDX-License-Identifier: Apache-2.0
"""Grouped products of floats of 8 and 4 bits, which chips of the 950 series have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close

from ..low_bits import FLOAT8, SCALE, factors, values

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
FOUR = "float4_e2m1fn"
SIZES = [3, 0, 4]  # the last of the eight rows belongs to no group


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def codes(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> Array:
    """Finite codes of small numbers, whose products keep well inside of the results."""
    table = values(dtype)
    small = np.flatnonzero(np.isfinite(table) & (np.abs(table) <= 8)).astype(np.uint8)
    return rng.choice(small, tuple(shape))


def floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.uniform(0.25, 2, shape).astype(np.float32)


def powers(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(124, 130, shape).astype(np.uint8)


def spread(scales: Array, length: int, axis: int, block: int) -> Array:
    """Scales of blocks along an axis as one for each element."""
    return np.repeat(scales, block, axis=axis).take(range(length), axis=axis)


def mx_factors(scales: Array, length: int, axis: int) -> Array:
    """Pairs of powers, last, of blocks of 32 along an axis as one for each element."""
    flat = np.moveaxis(factors(scales), -1, axis + 1)
    shape = (*scales.shape[:axis], 2 * scales.shape[axis], *scales.shape[axis + 1 : -1])
    return spread(flat.reshape(shape), length, axis, 32)


def tensor(array: Array | None, dtype: str = "float32", **more: Any) -> list[Given] | None:
    return None if array is None else [Given(array, dtype, **more)]


def weight(array: Array, dtype: str, turned: bool) -> list[Given]:
    return [Given(array, dtype, swapped=(1, 2) if turned else None)]


def call(
    x: Any, w: Any, scale: Any, token: Any, y: Made, groups: Array, **more: Any
) -> tuple[Any, ...]:
    """The arguments of GroupedMatmulV4."""
    return (
        *(x, w, more.get("bias"), scale, None, None, None, token),
        *(Given(groups.astype(np.int64), "int64"), None, None, None),
        *(3, more.get("kind", 0), more.get("listed", 1), 0, [y], None, None),
    )


def run(newer: Chip950, *arguments: Any) -> Array:
    results = newer.operator("grouped_matmul_v4", *arguments)
    assert not isinstance(results, Refused), results
    return results[0]


def assert_rows(found: Array, exact: Array) -> None:
    """Rows of no group keep what lay there."""
    used = sum(SIZES)
    assert_close(found[:used], exact[:used], scale=4)
    np.testing.assert_array_equal(found[used:].astype(np.float64), 77)


def product(x: Array, w: Array) -> Array:
    owner = np.repeat(range(3), SIZES)
    out = np.zeros((len(x), w.shape[2]))
    for row, group in enumerate(owner):
        out[row] = x[row] @ w[group]
    return out


def of_rows(scales: Array) -> Array:
    """Scales of groups as one for each row."""
    return np.append(np.repeat(scales, SIZES, axis=0), scales[-1:], axis=0)


@pytest.mark.parametrize("dtype", [*FLOAT8, "hifloat8"])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("token", ["none", "rows", "groups"])
def test_whole_scales(newer: Chip950, dtype: str, by_column: bool, token: str) -> None:
    rng = np.random.default_rng(1)
    x, w = codes(rng, dtype, (8, 40)), codes(rng, dtype, (3, 40, 24))
    scale = floats(rng, 3, 24) if by_column else floats(rng, 3)
    left = {"none": None, "rows": floats(rng, 8), "groups": floats(rng, 3)}[token]
    found = run(
        newer,
        *call(
            *(tensor(x, dtype), weight(w, dtype, by_column), tensor(scale), tensor(left)),
            *(Made((8, 24), "bfloat16"), np.array(SIZES)),
        ),
    )
    exact = product(values(dtype)[x], values(dtype)[w])
    exact *= of_rows(scale.reshape(3, -1).astype(np.float64))
    if left is not None:
        exact *= (left if token == "rows" else of_rows(left))[:, None].astype(np.float64)
    assert_rows(found, exact)


def test_packed_scales(newer: Chip950) -> None:
    rng = np.random.default_rng(2)
    x, w = codes(rng, FLOAT8[0], (8, 40)), codes(rng, FLOAT8[1], (3, 40, 24))
    scale = np.full((3, 24), 0.125, np.float32)
    packed = scale.view(np.uint32).astype(np.uint64)
    found = run(
        newer,
        *call(
            *(tensor(x, FLOAT8[0]), weight(w, FLOAT8[1], False), tensor(packed, "uint64"), None),
            *(Made((8, 24), "float32"), np.array([3, 3, 7])),
            listed=0,
        ),
    )
    assert_rows(found, product(values(FLOAT8[0])[x], values(FLOAT8[1])[w]) / 8)


@pytest.mark.parametrize("dtype", [FLOAT8[1], "hifloat8"])
@pytest.mark.parametrize("order", ["plain", "view", "memory"])
def test_blocks(newer: Chip950, dtype: str, order: str) -> None:
    rng = np.random.default_rng(3)
    x, w = codes(rng, dtype, (8, 300)), codes(rng, dtype, (3, 300, 140))
    token, scale = floats(rng, 8, 3), floats(rng, 3, 3, 2)
    given = {
        "plain": tensor(scale),
        "view": tensor(scale, swapped=(1, 2)),
        "memory": tensor(scale.swapaxes(1, 2)),
    }[order]
    found = run(
        newer,
        *call(
            *(tensor(x, dtype), weight(w, dtype, order != "plain"), given, tensor(token)),
            *(Made((8, 140), "float16"), np.array(SIZES)),
        ),
    )
    left = values(dtype)[x] * spread(token.astype(np.float64), 300, 1, 128)
    right = spread(spread(scale.astype(np.float64), 300, 1, 128), 140, 2, 128)
    assert_rows(found, product(left, values(dtype)[w] * right))


@pytest.mark.parametrize("dtype", [*FLOAT8, FOUR])
@pytest.mark.parametrize("order", ["plain", "view", "memory"])
def test_powers_of_two(newer: Chip950, dtype: str, order: str) -> None:
    rng = np.random.default_rng(4)
    x, w = codes(rng, dtype, (8, 100)), codes(rng, dtype, (3, 100, 12))
    token, scale = powers(rng, 8, 2, 2), powers(rng, 3, 2, 12, 2)
    bias = floats(rng, 3, 12) if dtype == FOUR else None
    given = {
        "plain": tensor(scale, SCALE),
        "view": tensor(scale, SCALE, swapped=(1, 2)),
        "memory": tensor(np.ascontiguousarray(scale.swapaxes(1, 2)), SCALE),
    }[order]
    found = run(
        newer,
        *call(
            *(tensor(x, dtype), weight(w, dtype, order != "plain"), given, tensor(token, SCALE)),
            *(Made((8, 12), "float32"), np.array(SIZES)),
            bias=tensor(bias),
        ),
    )
    left = values(dtype)[x] * mx_factors(token, 100, 1)
    exact = product(left, values(dtype)[w] * mx_factors(scale, 100, 1))
    assert_rows(found, exact if bias is None else exact + of_rows(bias.astype(np.float64)))


def test_pairs_of_groups_in_any_order(newer: Chip950) -> None:
    rng = np.random.default_rng(5)
    dtype = FLOAT8[0]
    x, w = codes(rng, dtype, (6, 64)), codes(rng, dtype, (3, 64, 8))
    token, scale = powers(rng, 6, 1, 2), powers(rng, 3, 1, 8, 2)
    pairs = np.array([[2, 4], [0, 2], [1, 0]])
    found = run(
        newer,
        *call(
            *(tensor(x, dtype), weight(w, dtype, False), tensor(scale, SCALE)),
            *(tensor(token, SCALE), Made((6, 8), "float32"), pairs),
            listed=2,
        ),
    )
    left = values(dtype)[x] * mx_factors(token, 64, 1)
    right = values(dtype)[w] * mx_factors(scale, 64, 1)
    assert_close(found, np.concatenate([left[:4] @ right[2], left[4:] @ right[0]]), scale=4)


# Sums along the rows of x and weight: parts of 70, 0 and 130.
DEEP = [(0, 70), (70, 70), (70, 200)]


@pytest.mark.parametrize("form", ["groups", "columns", "blocks", "powers"])
def test_groups_of_the_inner_axis(newer: Chip950, form: str) -> None:
    rng = np.random.default_rng(6)
    dtype, m, n = FLOAT8[0], 5, 140
    x, w = codes(rng, dtype, (m, 200)), codes(rng, dtype, (200, n))
    left, right = values(dtype)[x].copy(), values(dtype)[w].copy()
    exact = np.zeros((3, m, n))
    kind = SCALE if form == "powers" else "float32"
    if form in ("groups", "columns"):
        token = floats(rng, 3, m if form == "columns" else 1)
        scale = floats(rng, 3, n if form == "columns" else 1)
        for group, (first, last) in enumerate(DEEP):
            whole = left[:, first:last] @ right[first:last]
            exact[group] = whole * token[group][:, None].astype(np.float64) * scale[group]
    elif form == "blocks":
        token, scale = floats(rng, 200 // 128 + 3, m), floats(rng, 200 // 128 + 3, 2)
        wide = spread(scale.astype(np.float64), n, 1, 128)
        for group, (first, last) in enumerate(DEEP):
            for k in range(first, last):
                entry = first // 128 + group + (k - first) // 128
                exact[group] += np.outer(left[:, k] * token[entry], right[k] * wide[entry])
    else:
        token, scale = powers(rng, 200 // 64 + 3, m, 2), powers(rng, 200 // 64 + 3, n, 2)
        for group, (first, last) in enumerate(DEEP):
            for k in range(first, last):
                entry, half = first // 64 + group + (k - first) // 64, (k - first) // 32 % 2
                row = left[:, k] * factors(token[entry, :, half])
                exact[group] += np.outer(row, right[k] * factors(scale[entry, :, half]))
    found = run(
        newer,
        *call(
            *(tensor(x, dtype, swapped=(0, 1)), tensor(w, dtype), tensor(scale, kind)),
            *(tensor(token, kind), Made((3, m, n), "float32"), np.array([70, 0, 130])),
            kind=2,
        ),
    )
    assert_close(found, exact, scale=16)


@pytest.mark.parametrize("dtype", [FLOAT8[1], FOUR, "float4_e1m2"])
@pytest.mark.parametrize("single", [True, False])
def test_weights_in_blocks_of_memory(newer: Chip950, dtype: str, single: bool) -> None:
    rng = np.random.default_rng(7)
    x, w = codes(rng, dtype, (8, 64)), codes(rng, dtype, (3, 64, 64))
    token, scale = powers(rng, 8, 1, 2), powers(rng, 3, 1, 64, 2)
    stacks = [(w, scale)] if single else list(zip(w, scale, strict=True))
    weights = [Given(part, dtype, format="FRACTAL_NZ") for part, _ in stacks]
    scales = [Given(part, SCALE) for _, part in stacks]
    results = newer.operator(
        "grouped_matmul_weight_nz",
        *([Given(x, dtype)], weights, None, scales, None, None, None, [Given(token, SCALE)]),
        *(Given(np.array(SIZES), "int64"), None, None, None, 3, 0, 1, 0, None, 0),
        *([Made((8, 64), "bfloat16")], None, None),
    )
    assert not isinstance(results, Refused), results
    left = values(dtype)[x] * mx_factors(token, 64, 1)
    assert_rows(results[0], product(left, values(dtype)[w] * mx_factors(scale, 64, 1)))


@pytest.mark.parametrize("dtype", [*FLOAT8, "hifloat8"])
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_weights_beside_half_precision(newer: Chip950, dtype: str, kind: str) -> None:
    rng = np.random.default_rng(8)
    half = np.dtype(kind) if kind == "float16" else np.dtype(ml_dtypes.bfloat16)
    x, w = floats(rng, 8, 40).astype(half), codes(rng, dtype, (3, 40, 24))
    scale = floats(rng, 3, 24).astype(half)
    results = newer.operator(
        "grouped_matmul_v4",
        *([Given(x, kind)], weight(w, dtype, True), None, None, None, [Given(scale, kind)]),
        *(None, None, Given(np.array(SIZES), "int64"), None, None, None, 3, 0, 1, 0),
        *([Made((8, 24), kind)], None, None),
    )
    assert not isinstance(results, Refused), results
    weights = values(dtype)[w].astype(np.float32) * scale[:, None].astype(np.float32)
    assert_rows(results[0], product(x.astype(np.float64), weights.astype(half).astype(np.float64)))


def test_refusals(newer: Chip950) -> None:
    dtype = FLOAT8[0]
    x = [Given(np.zeros((4, 64), np.uint8), dtype)]
    w = [Given(np.zeros((2, 64, 8), np.uint8), dtype)]
    scale, token = [Given(np.ones((2, 8), np.float32), "float32")], None
    y, groups = Made((4, 8), "bfloat16"), np.array([2, 2])
    one = Given(np.ones((2, 8), np.float32), "float32")
    other = [Given(np.zeros((2, 64, 8), np.uint8), "hifloat8")]
    mx = [Given(np.zeros((2, 1, 8, 2), np.uint8), SCALE)]
    wrong = [Given(np.zeros((2, 2, 8, 2), np.uint8), SCALE)]
    rows = [Given(np.zeros((4, 1, 2), np.uint8), SCALE)]
    for arguments, status, says in (
        (call(x, other, scale, token, y, groups), 161002, "weight has dtype HIFLOAT8"),
        (call(x, w, None, token, y, groups), 161001, "scaleOptional"),
        (call(x, w, mx, None, y, groups), 161002, "perTokenScaleOptional is null"),
        (call(x, w, wrong, rows, y, groups), 161002, r"scaleOptional has shape (2, 2, 8, 2)"),
        (call(x, w, mx, [one], y, groups), 161002, "perTokenScaleOptional has dtype FLOAT"),
        (call(x, w, scale, None, y, groups, bias=[one]), 161002, "biasOptional is given"),
        (call(x, w, scale, None, Made((4, 8), "int8"), groups), 161002, "out has dtype INT8"),
        (call(x, w, scale, None, y, np.array([2, 5])), 507015, "beyond the grouped length"),
    ):
        found = newer.operator("grouped_matmul_v4", *arguments)
        assert isinstance(found, Refused), says
        assert says in found.text
        assert found.status == status, found.text
