# SPDX-License-Identifier: Apache-2.0
"""Grouped products that chips of the 950 series have beside those of a 910B.

Weights of FLOAT4 beside wider x, INT8 with INT4 by groups, biases and scales of INT8 products, and
parts of the K axis in lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close

from ..low_bits import SCALE, factors, values
from ..quantised import packed
from .grouped_oracle import packed_scale

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
FOUR, EIGHT = "float4_e2m1fn", "float8_e4m3fn"
HALVES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
SIZES = [3, 0, 4]  # the last of the eight rows belongs to no group
ROWS, K, N = 8, 128, 64


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def given(array: Array | None, dtype: str = "float32", **more: Any) -> list[Given] | None:
    return None if array is None else [Given(array, dtype, **more)]


def call(x: Any, weight: Any, made: Made | list[Made], **more: Any) -> tuple[Any, ...]:
    """The arguments of GroupedMatmulWeightNz, or of V5 where ``plain`` is given."""
    groups = more.get("groups", SIZES)
    return (
        *(x, weight, more.get("bias"), more.get("scale"), more.get("offset")),
        *(more.get("antiquant"), None, more.get("token")),
        None if groups is None else Given(np.array(groups), "int64"),
        *(None, None, None, more.get("split", 3), more.get("group_type", 0), 1),
        *(more.get("act", 0), None, *(() if more.get("plain") else (more.get("size", 0),))),
        [made] if isinstance(made, Made) else made,
        *(None, None),
    )


def run(newer: Chip950, *arguments: Any, **more: Any) -> list[Array]:
    name = "grouped_matmul_v5" if more.get("plain") else "grouped_matmul_weight_nz"
    results = newer.operator(name, *call(*arguments, **more))
    assert not isinstance(results, Refused), results
    return list(results)


def product(x: Array, w: Array) -> Array:
    out = np.zeros((len(x), w.shape[2]))
    for row, group in enumerate(np.repeat(range(3), SIZES)):
        out[row] = x[row] @ w[group]
    return out


def of_rows(array: Array) -> Array:
    """Rows of groups as one for each row of x."""
    array = np.asarray(array).astype(np.float64)
    return np.append(np.repeat(array, SIZES, axis=0), array[-1:], axis=0)


def assert_rows(found: Array, exact: Array, scale: float = 8) -> None:
    used = sum(SIZES)
    assert_close(found[:used], exact[:used], scale=scale)
    np.testing.assert_array_equal(found[used:].astype(np.float64), 77)


def small(rng: np.random.Generator, dtype: str, *shape: int) -> Array:
    """Finite codes of small numbers."""
    table = values(dtype)
    codes = np.flatnonzero(np.isfinite(table) & (np.abs(table) <= 8)).astype(np.uint8)
    return rng.choice(codes, shape)


def powers(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(124, 130, shape).astype(np.uint8)


def words(codes: Array) -> Array:
    """Eight codes of 4 bits to a float32, along the last axis."""
    return packed(codes.astype(np.int64)).view(np.float32)


def mixed_bias(rng: np.random.Generator, kind: str) -> Array:
    return rng.uniform(-4, 4, (3, N)).astype(HALVES.get(kind, np.dtype(np.float32)))


@pytest.mark.parametrize("form", ["codes", "words"])
@pytest.mark.parametrize(
    ("kind", "bias"),
    [("float16", None), ("float16", "float16"), ("bfloat16", "bfloat16"), ("bfloat16", "float32")],
)
def test_half_precision_with_float4(newer: Chip950, kind: str, bias: str | None, form: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, (ROWS, K)).astype(HALVES[kind])
    w, scale = rng.integers(0, 16, (3, K, N)).astype(np.uint8), powers(rng, 3, K // 32, N)
    weight = (
        given(w, FOUR, format="FRACTAL_NZ")
        if form == "codes"
        else given(words(w), "float32", format="FRACTAL_NZ")
    )
    shift = None if bias is None else mixed_bias(rng, bias)
    (found,) = run(
        newer, given(x, kind), weight, Made((ROWS, N), kind),
        antiquant=given(scale, SCALE), bias=given(shift, bias or ""),
    )  # fmt: skip
    spread = np.repeat(factors(scale), 32, axis=1)
    exact = product(x.astype(np.float64), values(FOUR)[w] * spread)
    assert_rows(found, exact if shift is None else exact + of_rows(shift))


@pytest.mark.parametrize("order", ["view", "memory"])
@pytest.mark.parametrize("lists", [False, True], ids=["single", "lists"])
@pytest.mark.parametrize("form", ["codes", "words"])
@pytest.mark.parametrize("kind", [*HALVES])
def test_float8_with_float4(newer: Chip950, kind: str, form: str, lists: bool, order: str) -> None:
    rng = np.random.default_rng(2)
    x = small(rng, EIGHT, ROWS, K)
    w = rng.integers(0, 16, (3, K, N)).astype(np.uint8)
    token, scale = powers(rng, ROWS, K // 64, 2), powers(rng, 3, K // 64, N, 2)
    shift = mixed_bias(rng, kind)
    if form == "words":  # eight along K, which is last in memory
        stored, dtype = words(w.swapaxes(1, 2)).swapaxes(1, 2), "float32"
    else:
        stored, dtype = w, FOUR
    in_memory = scale if order == "view" else np.ascontiguousarray(scale.swapaxes(1, 2))
    if lists:
        weight = [Given(part, dtype, swapped=(0, 1), format="FRACTAL_NZ") for part in stored]
        antiquant = [Given(part, SCALE) for part in in_memory]
        bias = [Given(part, kind) for part in shift]
    else:
        weight = [Given(stored, dtype, swapped=(1, 2), format="FRACTAL_NZ")]
        antiquant, bias = [Given(in_memory, SCALE)], [Given(shift, kind)]
    (found,) = run(
        newer, given(x, EIGHT), weight, Made((ROWS, N), kind),
        antiquant=antiquant, bias=bias, token=given(token, SCALE),
    )  # fmt: skip
    flat = np.moveaxis(factors(scale), -1, 2).reshape(3, K // 32, N)
    left = values(EIGHT)[x] * np.repeat(factors(token).reshape(ROWS, -1), 32, axis=1)
    exact = product(left, values(FOUR)[w] * np.repeat(flat, 32, axis=1))
    assert_rows(found, exact + of_rows(shift))


@pytest.mark.parametrize("size", [128, 192, 256, 512])
@pytest.mark.parametrize("form", ["int4", "int32"])
@pytest.mark.parametrize("bias", [False, True])
def test_eight_bits_with_four_bits(newer: Chip950, form: str, size: int, bias: bool) -> None:
    rng = np.random.default_rng(size)
    k = 2 * size
    x, w = rng.integers(-128, 128, (ROWS, k)), rng.integers(-8, 8, (3, k, N))
    scale = rng.uniform(0.25, 2, (3, 2, N)).astype(np.float16)
    columns = rng.uniform(0.001, 0.01, (3, N)).astype(np.float32)
    token = rng.uniform(0.5, 2, ROWS).astype(np.float32)
    shift = mixed_bias(rng, "float32") if bias else None
    weight = (
        given(w.astype(ml_dtypes.int4), "int4", format="FRACTAL_NZ")
        if form == "int4"
        else given(packed(w), "int32", format="FRACTAL_NZ")
    )
    (found,) = run(
        newer, given(x.astype(np.int8), "int8"), weight, Made((ROWS, N), "bfloat16"),
        antiquant=given(scale, "float16"), scale=given(columns), token=given(token),
        bias=given(shift),
    )  # fmt: skip
    spread = np.repeat(scale.astype(np.float64), size, axis=1)
    exact = product(x.astype(np.float64), w * spread) * of_rows(columns) * token[:, None]
    assert_rows(found, exact if shift is None else exact + of_rows(shift))


INT8_FORMS = [
    (made, scale, bias, one, tokens)
    for made, scale, bias in (
        ("bfloat16", "float32", "float32"), ("bfloat16", "bfloat16", "bfloat16"),
        ("bfloat16", "float32", "int32"), ("float16", "float32", "float16"),
        ("float16", "float32", "float32"), ("float16", "uint64", "int32"),
        ("bfloat16", "int64", None), ("int8", "uint64", "int32"),
    )
    for one in (False, True)
    for tokens in (False, True)
    # Results of INT8 have a scale for each column; packed scales stand alone.
    if not (one and made == "int8") and not (tokens and "64" in scale)
]  # fmt: skip


@pytest.mark.parametrize(("made", "scale", "bias", "one", "tokens"), INT8_FORMS)
def test_int8_products(
    newer: Chip950, made: str, scale: str, bias: str | None, one: bool, tokens: bool
) -> None:
    rng = np.random.default_rng(3)
    x, w = rng.integers(-128, 128, (ROWS, 48)), rng.integers(-128, 128, (3, 48, 32))
    factor = (2.0 ** rng.integers(-12, -8, (3, 1 if one else 32))).astype(np.float32)
    if made == "int8":
        factor = factor / 64
    put = {"float32": factor, "bfloat16": factor.astype(ml_dtypes.bfloat16)}.get(scale)
    if put is None:
        put = packed_scale(factor).astype(scale)
    if one and scale == "float32":
        put = put[:, 0]
    token = rng.uniform(0.5, 2, ROWS).astype(np.float32) if tokens else None
    shift = rng.integers(-50, 50, (3, 32)) if bias else np.zeros((3, 32))
    kind = {"int32": np.dtype(np.int32), "float32": np.dtype(np.float32), **HALVES}
    (found,) = run(
        newer, given(x.astype(np.int8), "int8"), given(w.astype(np.int8), "int8"),
        Made((ROWS, 32), made), plain=True, scale=given(put, scale), token=given(token),
        bias=given(shift.astype(kind[bias]), bias) if bias else None,
    )  # fmt: skip
    sums, rows = product(x.astype(np.float64), w.astype(np.float64)), of_rows(shift)
    left = 1.0 if token is None else token[:, None].astype(np.float64)
    if bias == "int32":
        exact = (sums + rows) * of_rows(factor) * left
    else:
        exact = sums * of_rows(factor) * left + rows
    if made == "int8":
        np.testing.assert_allclose(found[:7], np.clip(exact, -128, 127)[:7], atol=0.5)
    else:
        assert_rows(found, exact)


@pytest.mark.parametrize("x", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("same", [False, True])
def test_biases_of_floats(newer: Chip950, x: str, same: bool) -> None:
    rng = np.random.default_rng(4)
    dtype = HALVES.get(x, np.dtype(np.float32))
    rows, w = rng.uniform(-1, 1, (ROWS, 20)).astype(dtype), rng.uniform(-1, 1, (3, 20, 6))
    kind = x if same else "float32"
    shift = rng.uniform(-1, 1, (3, 6)).astype(HALVES.get(kind, np.dtype(np.float32)))
    (found,) = run(
        newer, given(rows, x), given(w.astype(dtype), x), Made((ROWS, 6), x),
        plain=True, bias=given(shift, kind),
    )  # fmt: skip
    exact = product(rows.astype(np.float64), w.astype(dtype).astype(np.float64)) + of_rows(shift)
    assert_rows(found, exact)


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_numbers_without_an_offset(newer: Chip950, dtype: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(-4, 5, (ROWS, 32)).astype(np.float16)
    w, scale = rng.integers(-8, 8, (3, 32, 16)), 2.0 ** rng.integers(-3, 2, (3, 16))
    put = w.astype(np.int8).astype(np.dtype(np.int8) if dtype == "int8" else ml_dtypes.int4)
    (found,) = run(
        newer, given(x, "float16"), given(put, dtype), Made((ROWS, 16), "float16"),
        plain=True, antiquant=given(scale.astype(np.float16), "float16"),
    )  # fmt: skip
    assert_rows(found, product(x.astype(np.float64), w * scale[:, None]))


@pytest.mark.parametrize("listed", [False, True])
def test_parts_of_the_inner_axis_in_lists(newer: Chip950, listed: bool) -> None:
    rng = np.random.default_rng(6)
    sizes, columns = [5, 0, 9], [3, 4, 7]
    x = rng.integers(-3, 4, (6, 15)).astype(np.float16)
    w = [
        rng.integers(-3, 4, (k, n)).astype(np.float16) for k, n in zip(sizes, columns, strict=True)
    ]
    found = run(
        newer, given(x, "float16", swapped=(0, 1)), [Given(part, "float16") for part in w],
        [Made((6, n), "float16") for n in columns],
        plain=True, groups=sizes if listed else None, group_type=2, split=0,
    )  # fmt: skip
    first = 0
    for part, result in zip(w, found, strict=True):
        exact = x[:, first : first + len(part)].astype(np.float64) @ part.astype(np.float64)
        np.testing.assert_array_equal(result.astype(np.float64), exact)
        first += len(part)


@pytest.mark.parametrize("version", ["", "_v2", "_v3"])
@pytest.mark.parametrize(
    ("x", "bias"), [("bfloat16", "bfloat16"), ("float16", "float32"), ("float32", "float32")]
)
def test_first_versions(newer: Chip950, version: str, x: str, bias: str) -> None:
    rng = np.random.default_rng(8)
    dtype = HALVES.get(x, np.dtype(np.float32))
    rows, w = rng.uniform(-1, 1, (7, 20)).astype(dtype), rng.uniform(-1, 1, (2, 20, 6))
    shift = rng.uniform(-1, 1, (2, 6)).astype(HALVES.get(bias, np.dtype(np.float32)))
    ends = Given(np.array([3, 7]), "int64") if version == "_v3" else [3, 7]
    results = newer.operator(
        "grouped_matmul" + version,
        *(given(rows, x), [Given(part.astype(dtype), x) for part in w]),
        *([Given(part, bias) for part in shift], None, None, None, None, ends, 3),
        *(() if version == "" else (0,)), [Made((7, 6), x)],
    )  # fmt: skip
    assert not isinstance(results, Refused), results
    owner = [0, 0, 0, 1, 1, 1, 1]
    weights = w.astype(dtype).astype(np.float64)[owner]
    exact = np.einsum("mk,mkn->mn", rows.astype(np.float64), weights)
    assert_close(results[0], exact + shift.astype(np.float64)[owner], scale=8)


def test_first_versions_take_fewer_integers(newer: Chip950) -> None:
    x, w = given(np.ones((7, 8), np.int8), "int8"), given(np.ones((2, 8, 4), np.int8), "int8")
    ends, made = Given(np.array([3, 7]), "int64"), Made((7, 4), "int8")
    found = newer.operator(
        "grouped_matmul_v2", x, w, None, None, None, None, None, [3, 7], 3, 0, [made]
    )
    assert isinstance(found, Refused) and "x has dtype INT8" in found.text
    found = newer.operator(
        "grouped_matmul_v3", x, w, None, None, None, None, None, ends, 3, 0, [made]
    )
    assert isinstance(found, Refused) and "scaleOptional is null" in found.text


def test_refusals(newer: Chip950) -> None:
    rng = np.random.default_rng(7)
    half = given(np.ones((4, K), np.float16), "float16")
    eight = given(small(rng, EIGHT, 4, K), EIGHT)
    codes = rng.integers(0, 16, (2, K, N)).astype(np.uint8)
    plain = given(codes, FOUR, format="FRACTAL_NZ")
    turned = given(codes, FOUR, swapped=(1, 2), format="FRACTAL_NZ")
    made, groups = Made((4, N), "float16"), [2, 2]
    scale = given(powers(rng, 2, K // 32, N), SCALE)
    pairs, token = given(powers(rng, 2, 2, N, 2), SCALE), given(powers(rng, 4, 2, 2), SCALE)
    ints = given(np.ones((2, K, N), np.int8), "int8", format="FRACTAL_NZ")
    ones = given(np.ones((2, N), np.float16), "float16")
    wide = given(np.ones((2, N), np.float32))
    four = given(np.ones((2, K, N)).astype(ml_dtypes.int4), "int4", format="FRACTAL_NZ")
    bytes_ = given(np.ones((4, K), np.int8), "int8")
    for status, says, arguments, more in (
        (161001, "antiquantScaleOptional", (half, plain, made), {}),
        (161002, "antiquantScaleOptional has dtype", (half, plain, made), {"antiquant": ones}),
        (161002, "antiquantScaleOptional", (half, plain, made), {"antiquant": pairs}),
        (161002, "transposed view", (half, turned, made), {"antiquant": scale}),
        (161002, "this chip takes FLOAT4_E2M1", (half, ints, made), {"antiquant": ones}),
        (161002, "biasOptional", (half, plain, made), {"antiquant": scale, "bias": wide}),
        (161001, "perTokenScaleOptional", (eight, turned, made), {"antiquant": pairs}),
        (161002, "must be a transposed view", (eight, plain, made),
         {"antiquant": pairs, "token": token}),
        (161002, "has dtype FLOAT", (eight, turned, Made((4, N), "float32")),
         {"antiquant": pairs, "token": token}),
        (161002, "128, 192, 256 or 512", (bytes_, four, made),
         {"antiquant": given(np.ones((2, 2, N), np.float16), "float16"), "scale": wide,
          "token": given(np.ones(4, np.float32))}),
        (161002, "quantGroupSize is 128", (half, plain, made), {"antiquant": scale, "size": 128}),
    ):  # fmt: skip
        found = newer.operator("grouped_matmul_weight_nz", *call(*arguments, groups=groups, **more))
        assert isinstance(found, Refused), says
        assert says in found.text, found.text
        assert found.status == status, found.text
    int4 = given(np.ones((4, K)).astype(ml_dtypes.int4), "int4")
    found = newer.operator("grouped_matmul_v5", *call(int4, four, made, groups=groups, plain=True))
    assert isinstance(found, Refused) and "x has dtype INT4" in found.text
