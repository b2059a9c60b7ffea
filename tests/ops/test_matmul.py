# SPDX-License-Identifier: Apache-2.0
"""The matrix products against NumPy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal, values, wide

import aclnn_py as ap
from aclnn_py.errors import AclnnError

from .problems import Case, In, Out, Problem, Ref, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), BF16]
# fp32 sums of a few hundred terms: absolute errors grow with the terms, not with the result.
SUM = 40.0


def normal(rng: Rng, shape: tuple[int, ...], dtype: Dtype) -> Any:
    if dtype.kind in "iub":
        return values(rng, shape, dtype, -5, 5)
    return rng.standard_normal(shape).astype(dtype)


def product(operator: str, a: tuple[int, ...], b: tuple[int, ...], note: str) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, y = normal(rng, a, dtype), normal(rng, b, dtype)
        return [In(x), In(y), Out(np.matmul(wide(x), wide(y)), dtype, SUM), 0]

    return Case(operator, build, note)


def added(operator: str, self: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        c, x, y = (normal(rng, shape, dtype) for shape in (self, a, b))
        total = np.matmul(wide(x), wide(y))
        if operator.endswith("Addbmm"):
            total = total.sum(axis=0)
        oracle = 0.5 * wide(c) + 2.0 * total
        if operator.startswith("Inplace"):
            return [Ref(c, oracle, SUM), In(x), In(y), 0.5, 2.0, 1]
        return [In(c), In(x), In(y), 0.5, 2.0, Out(oracle, dtype, SUM), 1]

    return Case(operator, build, "x".join(map(str, self)))


def dot(rng: Rng, dtype: Dtype) -> Problem:
    x, y = values(rng, (33,), dtype, 0, 2), values(rng, (33,), dtype, -1, 1)
    return [In(x), In(y), Out(wide(x) @ wide(y), dtype, SUM)]


def addmv(rng: Rng, dtype: Dtype) -> Problem:
    c, x, y = (values(rng, shape, dtype, -3, 3) for shape in ((7,), (7, 9), (9,)))
    oracle = 3 * wide(c).astype(np.float64) + 2 * (wide(x) @ wide(y)).astype(np.float64)
    if dtype.kind in "iub":
        oracle = oracle.astype(np.int64).astype(dtype)
    return [In(c), In(x), In(y), 2, 3, Out(oracle, dtype, SUM), 0]


CASES = [
    product("Matmul", (5, 7), (7, 3), "2d"),
    product("Matmul", (7,), (7,), "vectors"),
    product("Matmul", (7,), (7, 3), "row"),
    product("Matmul", (4, 7), (7,), "column"),
    product("Matmul", (7,), (2, 7, 3), "row-batch"),
    product("Matmul", (2, 5, 7), (7,), "batch-column"),
    product("Matmul", (2, 1, 5, 7), (3, 7, 4), "broadcast"),
    product("Matmul", (2, 3, 1, 2, 5, 7), (7, 4), "6d"),
    product("Matmul", (0, 7), (7, 3), "no-rows"),
    product("Matmul", (5, 0), (0, 3), "no-depth"),
    product("Mm", (70, 300), (300, 41), "deep"),
    product("Mm", (1, 513), (513, 65), "one-row"),
    product("BatchMatMul", (3, 5, 7), (3, 7, 4), "plain"),
    product("BatchMatMul", (1, 5, 7), (3, 7, 4), "broadcast"),
    product("Mv", (5, 7), (7,), "plain"),
    added("Addmm", (5, 3), (5, 7), (7, 3)),
    added("Addmm", (3,), (5, 7), (7, 3)),
    added("Addmm", (5, 1), (5, 7), (7, 3)),
    added("InplaceAddmm", (5, 3), (5, 7), (7, 3)),
    added("Baddbmm", (2, 5, 3), (2, 5, 7), (2, 7, 3)),
    added("Baddbmm", (1, 3), (2, 5, 7), (2, 7, 3)),
    added("InplaceBaddbmm", (2, 5, 3), (2, 5, 7), (2, 7, 3)),
    added("Addbmm", (5, 3), (4, 5, 7), (4, 7, 3)),
    added("InplaceAddbmm", (5, 3), (4, 5, 7), (4, 7, 3)),
    Case("Dot", dot),
    # A product of bools can be refused for its result only: out has no BOOL.
    Case(
        "Addmv",
        addmv,
        dtypes=frozenset(
            {"FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT8", "INT16", "INT32", "INT64", "UINT8"}
        ),
    ),
]

TestTable = suite(CASES)


@pytest.mark.parametrize(
    "shape",
    [(1, 1), (2, 3), (13, 33), (47, 129), (48, 32), (49, 31), (193, 257), (1025, 40), (60, 2049)],
    ids=str,
)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_engine_at_the_edges_of_its_tiles(shape: tuple[int, int], dtype: Dtype) -> None:
    rng = np.random.default_rng(3)
    m, n = shape
    for k in (1, 255, 256, 257, 600):
        x = rng.integers(-4, 5, (m, k)).astype(dtype)
        y = rng.integers(-4, 5, (k, n)).astype(dtype)
        # Whole numbers below 2^24 add up exactly in fp32, in any order.
        oracle = (x.astype(np.float32) @ y.astype(np.float32)).astype(dtype)
        for left, right in (
            ("dense", "dense"),
            ("transposed", "stepped"),
            ("stepped", "transposed"),
        ):
            out = hollow((m, n), dtype)
            ap.ops.matmul(place(x, left), place(y, right), out, 0)
            assert_same(out.numpy(), oracle, f"{m}x{n}x{k} {left} {right}")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_random_products_stay_within_the_accumulation_bound(dtype: Dtype) -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((150, 700)).astype(dtype)
    y = rng.standard_normal((700, 130)).astype(dtype)
    out = hollow((150, 130), np.float32)
    ap.ops.mm(place(x), place(y), out, 0)
    exact = wide(x) @ wide(y)
    bound = np.abs(wide(x)) @ np.abs(wide(y)) * 700 * 2.0**-24
    assert (np.abs(out.numpy() - exact) <= bound).all()
    assert np.abs(out.numpy() - exact).max() < 1e-4


def test_sums_are_fp32_and_rounded_once() -> None:
    columns = np.full((256, 4), 8.0)
    columns[0, :3] = 9, 10, 11
    columns[:, 3] = 1.0
    columns[0, 3] = 2048
    ones = np.ones((1, 256))
    for dtype, expected in (
        (np.dtype(np.float16), [2048, 2050, 2052, 2304]),
        (BF16, [2048, 2048, 2048, 2304]),
    ):
        out = hollow((1, 4), dtype)
        ap.ops.matmul(place(ones.astype(dtype)), place(columns.astype(dtype)), out, 0)
        assert out.numpy().astype(np.float64).tolist() == [expected]


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    rng = np.random.default_rng(7)
    x = rng.standard_normal((130, 515)).astype(np.float32)
    y = rng.standard_normal((515, 70)).astype(np.float32)
    whole = hollow((130, 70), np.float32)
    ap.ops.mm(place(x), place(y), whole, 0)
    assert_close(whole.numpy(), wide(x) @ wide(y), scale=100)
    for rows in (1, 2, 5, 49):
        part = hollow((rows, 70), np.float32)
        ap.ops.mm(place(x[:rows]), place(y), part, 0)
        assert_same(part.numpy(), whole.numpy()[:rows], f"{rows} rows")


def test_mixed_dtypes_meet_in_fp32() -> None:
    rng = np.random.default_rng(11)
    x, y = rng.standard_normal((4, 6)).astype(np.float16), rng.standard_normal((6, 5)).astype(BF16)
    out = hollow((4, 5), np.float32)
    ap.ops.matmul(place(x), place(y), out, 0)
    assert_close(out.numpy(), wide(x) @ wide(y), scale=4)


def test_cube_math_type_two_rounds_operands_to_fp16() -> None:
    x = np.array([[1.0 + 2.0**-12, 3.0]], np.float32)
    y = np.array([[1.0], [2.0**-11]], np.float32)
    for math_type, expected in ((0, 1.0 + 2.0**-12 + 3 * 2.0**-11), (2, 1.0 + 3 * 2.0**-11)):
        out = hollow((1, 1), np.float32)
        ap.ops.matmul(place(x), place(y), out, math_type)
        assert out.numpy().item() == expected
    assert refusal("aclnnMatmul", place(x), place(y), hollow((1, 1), np.float32), 4) == 161002


@pytest.mark.parametrize("operator", ["Matmul", "Mm"])
def test_shapes_that_do_not_fit_are_named(operator: str) -> None:
    x, y = place(np.ones((4, 6), np.float32)), place(np.ones((5, 3), np.float32))
    with pytest.raises(AclnnError, match="mat2") as caught:
        op("aclnn" + operator)(x, y, hollow((4, 3), np.float32), 0)
    assert caught.value.status == 161002


def test_ranks_are_bounded() -> None:
    vector, matrix = place(np.ones(4, np.float32)), place(np.ones((4, 4), np.float32))
    assert refusal("aclnnMm", vector, matrix, hollow((4,), np.float32), 0) == 161002
    assert refusal("aclnnBatchMatMul", matrix, matrix, hollow((4, 4), np.float32), 0) == 161002
    scalar = place(np.ones((), np.float32))
    assert refusal("aclnnMatmul", scalar, matrix, hollow((4,), np.float32), 0) == 161002


def test_result_over_an_operand() -> None:
    rng = np.random.default_rng(13)
    x, y = (
        rng.standard_normal((6, 6)).astype(np.float32),
        rng.standard_normal((6, 6)).astype(np.float32),
    )
    left = place(x)
    ap.ops.matmul(left, place(y), left, 0)
    assert_close(left.numpy(), wide(x) @ wide(y), scale=SUM)


def test_beta_zero_ignores_what_self_holds() -> None:
    nan = place(np.full((2, 2), np.nan, np.float32))
    one = place(np.ones((2, 2), np.float32))
    out = hollow((2, 2), np.float32)
    ap.ops.addmm(nan, one, one, 0.0, 1.0, out, 0)
    assert_same(out.numpy(), np.full((2, 2), 2, np.float32))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bytes_multiply_modulo_their_width(layout: str) -> None:
    x = np.array([100, 100, 3], np.int8)
    out = hollow((), np.int8)
    ap.ops.dot(place(x, layout), place(x, layout), out)
    assert out.numpy() == np.int64(100 * 100 * 2 + 9).astype(np.int8)
