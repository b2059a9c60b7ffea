# SPDX-License-Identifier: Apache-2.0
"""The matrix products against NumPy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal, values, wide
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py.errors import AclnnError

from ..problems import Case, In, Out, Problem, Ref, suite

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
    # Integers would turn bools into integers, which no bool takes; bool scalars do not.
    alpha, beta = (np.True_, np.True_) if dtype == np.bool_ else (2, 3)
    a, b, d = (wide(v).astype(np.float64) for v in (x, y, c))
    oracle = beta * d + alpha * (a @ b)
    if dtype.kind in "iub":
        oracle = oracle.astype(np.int64).astype(dtype)
    return [In(c), In(x), In(y), alpha, beta, Out(oracle, dtype, SUM), 0]


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
    added("Addbmm", (1, 3), (1, 5, 7), (4, 7, 3)),
    added("Addbmm", (3,), (4, 5, 7), (1, 7, 3)),
    Case("Dot", dot),
    Case("Addmv", addmv),
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


@pytest.mark.parametrize("dtype", [np.dtype(np.float32), BF16], ids=str)
@pytest.mark.parametrize("shape", [(130, 515, 70), (600, 515, 300), (420, 20000, 40)], ids=str)
def test_a_row_does_not_depend_on_the_rows_beside_it(
    shape: tuple[int, int, int], dtype: Dtype
) -> None:
    """Also where the depth is too large for all of the rows to be packed at once."""
    rng = np.random.default_rng(7)
    m, k, n = shape
    x = rng.standard_normal((m, k)).astype(dtype)
    y = rng.standard_normal((k, n)).astype(dtype)
    whole = hollow((m, n), np.float32)
    ap.ops.mm(place(x), place(y), whole, 0)
    assert_close(whole.numpy(), wide(x) @ wide(y), scale=k)
    for rows in (1, 2, 5, 49):
        part = hollow((rows, n), np.float32)
        ap.ops.mm(place(x[:rows]), place(y), part, 0)
        assert_same(part.numpy(), whole.numpy()[:rows], f"{rows} rows")


THIN = [(1, 9), (7, 1), (9, 33), (257, 45), (600, 300)]  # depth and the other extent


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("few", range(1, 10))
def test_few_rows_and_few_columns(few: int, dtype: Dtype) -> None:
    """Sums of whole numbers are exact in any order; an element in the wrong place shows."""
    rng = np.random.default_rng(few)
    for k, many in THIN:
        x = rng.integers(-4, 5, (few, k)).astype(dtype)
        y = rng.integers(-4, 5, (k, many)).astype(dtype)
        exact = (wide(x) @ wide(y)).astype(dtype)
        for left, right in (
            ("dense", "dense"),
            ("stepped", "transposed"),
            ("transposed", "stepped"),
        ):
            rows, columns = hollow((few, many), dtype), hollow((many, few), dtype, left)
            ap.ops.matmul(place(x, left), place(y, right), rows, 0)
            ap.ops.matmul(place(y.T, right), place(x.T, left), columns, 0)
            assert_same(rows.numpy(), exact, f"{few} rows, {k}, {many}, {left}, {right}")
            assert_same(columns.numpy(), exact.T, f"{few} columns, {k}, {many}, {left}, {right}")


@pytest.mark.parametrize("few", [1, 3, 5, 8, 9])
def test_few_rows_of_bytes(few: int) -> None:
    """The largest products, more of them than fp32 could add up exactly."""
    rng = np.random.default_rng(few)
    for k, many in [*THIN, (1100, 8)]:
        x = rng.choice([-128, -127, 127], (few, k)).astype(np.int8)
        y = rng.choice([-128, 127], (k, many)).astype(np.int8)
        if k == 1100:
            x[:], y[:] = -128, -128
        for left, right in ((x, y), (y.T, x.T)):
            for layout in ("dense", "transposed"):
                out = hollow((left.shape[0], right.shape[1]), np.int32)
                operands = [place(left)], [place(right, layout)]
                ap.ops.grouped_matmul_v4(*operands, *[None] * 10, 0, -1, 0, 0, [out], None, None)
                exact = (wide(left) @ wide(right)).astype(np.int32)
                assert_same(out.numpy(), exact, f"{left.shape} @ {right.shape}, {layout}")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", ["dense", "transposed"])
def test_few_rows_have_the_bits_of_the_whole_product(layout: str, dtype: Dtype) -> None:
    rng = np.random.default_rng(19)
    x = rng.standard_normal((40, 1100)).astype(dtype)
    y = rng.standard_normal((1100, 77)).astype(dtype)
    whole = hollow((40, 77), np.float32)
    ap.ops.mm(place(x), place(y, layout), whole, 0)
    assert_close(whole.numpy(), wide(x) @ wide(y), scale=200)
    for few in range(1, 10):
        rows, columns = hollow((few, 77), np.float32), hollow((40, few), np.float32)
        ap.ops.mm(place(x[:few]), place(y, layout), rows, 0)
        assert_same(rows.numpy(), whole.numpy()[:few], f"{few} rows")
        ap.ops.mm(place(x), place(y[:, :few], layout), columns, 0)
        assert_same(columns.numpy(), whole.numpy()[:, :few], f"{few} columns")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1, 700, 90), (40, 301, 70), (200, 513, 130), (301, 258, 33)])
def test_bfloat16_has_the_bits_of_the_same_values_in_float32(
    shape: tuple[int, int, int], layout: str
) -> None:
    """Also where products and sums are subnormal, which some instructions take for zeros."""
    rng = np.random.default_rng(37)
    m, k, n = shape
    x, y = rng.standard_normal((m, k)).astype(BF16), rng.standard_normal((k, n)).astype(BF16)
    x[m // 2] = 1e-39
    y[::3, n // 2 :] = 1e-30
    x[0, ::2] *= BF16.type(1e-9)
    whole, parts = hollow((m, n), np.float32), hollow((m, n), np.float32)
    ap.ops.mm(place(x, layout), place(y, layout), whole, 0)
    wide_operands = (place(v.astype(np.float32), layout) for v in (x, y))
    ap.ops.mm(*wide_operands, parts, 0)
    assert_same(whole.numpy(), parts.numpy())
    y[:, n // 2 :] = 1e38
    ap.ops.mm(place(x, layout), place(y, layout), whole, 0)
    exact = (wide(x) @ wide(y))[m // 2, n // 2 :]
    assert (exact > 1e-2).all()
    np.testing.assert_allclose(whole.numpy()[m // 2, n // 2 :], exact, rtol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_matrix_times_a_column_in_double(layout: str) -> None:
    rng = np.random.default_rng(29)
    for rows, k in ((1, 9), (33, 7), (300, 600)):
        x, y = rng.standard_normal((rows, k)), rng.standard_normal(k)
        out = hollow((rows,), np.float64)
        ap.ops.addmv(place(np.ones(rows)), place(x, layout), place(y, layout), 2.0, 3.0, out, 0)
        np.testing.assert_allclose(out.numpy(), 3 + 2 * (x @ y), rtol=1e-13, atol=1e-12)


def test_few_rows_in_batches_and_views() -> None:
    rng = np.random.default_rng(23)
    x = rng.integers(-4, 5, (3, 2, 2, 65)).astype(np.float16)
    y = rng.integers(-4, 5, (2, 65, 19)).astype(np.float16)
    for layout in LAYOUTS:
        out = hollow((3, 2, 2, 19), np.float16)
        ap.ops.matmul(place(x, layout), place(y, layout), out, 0)
        assert_same(out.numpy(), (wide(x) @ wide(y)).astype(np.float16), layout)
    every_other = ap.from_numpy(y)[:, 1::2, ::3]  # rows and columns that are steps apart
    out = hollow((2, 1, 7), np.float16)
    ap.ops.matmul(place(x[0, :, :1, 1::2]), every_other, out, 0)
    exact = wide(x[0, :, :1, 1::2]) @ wide(y[:, 1::2, ::3])
    assert_same(out.numpy(), exact.astype(np.float16))
    nothing = hollow((2, 19), np.float16)
    ap.ops.matmul(place(x[0, 0, :, :0]), place(y[0, :0]), nothing, 0)
    assert_same(nothing.numpy(), np.zeros((2, 19), np.float16))


PRODUCTS = """
import hashlib
import ml_dtypes
import numpy as np
import aclnn_py as ap

SHAPES = ((1, 1300, 5000), (5, 700, 301), (301, 700, 5), (1, 9000, 33), (40, 600, 70), (3, 80, 200),
          (530, 300, 500), (700, 70, 40))
rng = np.random.default_rng(31)
with ap.Device(0):
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
        for m, k, n in SHAPES:
            x = rng.standard_normal((m, k)).astype(dtype)
            y = rng.standard_normal((k, n)).astype(dtype)
            turned = ap.from_numpy(np.ascontiguousarray(y.T)).permute(1, 0)
            for right in (ap.from_numpy(y), turned):
                found = ap.functional.matmul(ap.from_numpy(x), right).numpy()
                exact = x.astype(float) @ y.astype(float)
                close = {"float32": 1e-4, "float16": 2e-3}.get(np.dtype(dtype).name, 2e-2)
                np.testing.assert_allclose(
                    found.astype(float), exact, rtol=close, atol=10 * close
                )
                print(m, k, n, hashlib.sha256(found.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("level", ["base", "v4"])
def test_threads_do_not_change_a_bit(level: str) -> None:
    """With the plainest instructions, and with the best this processor has."""
    one, several = (
        run_script(PRODUCTS, env={"ACLNN_PY_THREADS": count, "ACLNN_PY_ISA": level}).check().out
        for count in ("1", "3")
    )
    assert one.count("\n") == 48
    assert one == several
    plain, turned = one.splitlines()[::2], one.splitlines()[1::2]
    assert plain == turned


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


# Operators with the highest math type they take; 4 asks for the precision that all sums here have.
MATH_TYPES = [
    ("Matmul", 4), ("Mm", 4), ("MatmulWeightNz", 4), ("Mv", 4), ("Addmm", 4), ("InplaceAddmm", 4),
    ("Baddbmm", 4), ("InplaceBaddbmm", 4), ("BatchMatMul", 3), ("Addbmm", 3), ("Addmv", 3),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "highest"), MATH_TYPES)
def test_cube_math_types(operator: str, highest: int) -> None:
    rng = np.random.default_rng(12)
    x, y = (normal(rng, shape, np.dtype(np.float32)) for shape in ((5, 7), (7, 3)))
    left, right, out = place(x), place(y), hollow((5, 3), np.float32)
    oracle = wide(x) @ wide(y)
    arguments: list[Any] = [left, right, out]
    if operator == "MatmulWeightNz":
        arguments[1] = ap.from_numpy(y, format="FRACTAL_NZ")
    elif operator in ("Mv", "Addmv"):
        arguments = [left, place(y[:, 0]), hollow((5,), np.float32)]
        oracle = oracle[:, 0]
        if operator == "Addmv":
            arguments[:0], arguments[3:3] = [place(np.zeros(5, np.float32))], [1, 1]
    elif "mm" in operator:
        batched = "bmm" in operator
        factors = [place(x[None]), place(y[None])] if batched else [left, right]
        shape = (1, 5, 3) if "Baddbmm" in operator else (5, 3)
        oracle = oracle.reshape(shape)
        out = hollow(shape, np.float32)
        addend = place(np.zeros(shape, np.float32))
        inplace = operator.startswith("Inplace")
        arguments = [addend, *factors, 1.0, 1.0, *([] if inplace else [out])]
        out = addend if inplace else out
    elif operator == "BatchMatMul":
        arguments = [place(x[None]), place(y[None]), hollow((1, 5, 3), np.float32)]
        oracle = oracle[None]
    result = out if "dd" in operator and operator != "Addmv" else arguments[-1]
    for math in {1, 3, highest}:
        if operator.startswith("Inplace"):
            ap.ops.inplace_zero(result)
        op("aclnn" + operator)(*arguments, math)
        assert_close(result.numpy(), oracle, scale=SUM)
    for math in (-1, highest + 1):
        assert refusal("aclnn" + operator, *arguments, math) == 161002


@pytest.mark.emulator_only(reason="compares the emulator's own words")
def test_sums_of_more_precision_take_no_row_for_a_matrix() -> None:
    row, x, y = (place(np.ones(shape, np.float16)) for shape in ((3,), (5, 7), (7, 3)))
    out = hollow((5, 3), np.float16)
    with pytest.raises(AclnnError, match="with cubeMathType 4 and half precision it does not"):
        ap.ops.addmm(row, x, y, 1.0, 1.0, out, 4)
    ap.ops.addmm(row, x, y, 1.0, 1.0, out, 1)
    assert_same(out.numpy(), np.full((5, 3), 8, np.float16))


NUMPY_OF = {dtype.name: dtype for dtype in FLOATS}

# Which dtypes a call of float32 tensors may not have in one of them.
RELATIONS = [
    ("Mv", {"self": "float16"}, 161002),
    ("Mv", {"vec": "float16"}, 161002),
    ("Mv", {"out": "bfloat16"}, 161002),
    ("Mv", {"self": "float16", "vec": "float16", "out": "float16"}, 0),
    ("Addbmm", {"self": "float16"}, 161002),
    ("Addbmm", {"out": "float16"}, 161002),
    ("Addbmm", {"batch1": "float16"}, 0),
    ("Baddbmm", {"self": "float16"}, 0),
]


@pytest.mark.parametrize(("operator", "change", "status"), RELATIONS)
def test_dtypes_that_must_agree(operator: str, change: dict[str, str], status: int) -> None:
    shapes: dict[str, tuple[int, ...]] = {"self": (5, 7), "vec": (7,), "out": (5,)}
    if operator != "Mv":
        lead = () if operator == "Addbmm" else (2,)
        shapes = {
            "self": (*lead, 5, 3), "batch1": (2, 5, 7), "batch2": (2, 7, 3), "out": (*lead, 5, 3)
        }  # fmt: skip
    tensors = [
        place(np.ones(shape, NUMPY_OF[change.get(name, "float32")]))
        for name, shape in shapes.items()
    ]
    scalars = [] if operator == "Mv" else [1.0, 1.0]
    arguments = [*tensors[:-1], *scalars, tensors[-1], 0]
    if status:
        assert refusal("aclnn" + operator, *arguments) == status
        return
    op("aclnn" + operator)(*arguments)
    total = {"Mv": 7, "Addbmm": 15, "Baddbmm": 8}[operator]
    assert (tensors[-1].numpy().astype(np.float64) == total).all()


@pytest.mark.parametrize(
    ("kind", "scalar", "out", "status"),
    [
        ("int32", 1.5, "int32", 161002),
        ("int32", 1.5, "float32", 0),
        ("bool", 2, "bool", 161002),
        ("bool", 2, "int64", 0),
        ("bool", np.True_, "bool", 0),
        ("int8", np.True_, "int8", 0),
        ("float16", 2, "float16", 0),
        ("float32", 1.5, "int32", 161002),
        ("float32", np.True_, "float32", 0),
    ],
)
def test_scalars_take_part_in_the_dtype_of_addmv(
    kind: str, scalar: Any, out: str, status: int
) -> None:
    c, x, y = (np.ones(shape, kind) for shape in ((2,), (2, 3), (3,)))
    result = hollow((2,), out)
    arguments = [*map(place, (c, x, y)), scalar, scalar, result, 0]
    if status:
        assert refusal("aclnnAddmv", *arguments) == status
    else:
        op("aclnnAddmv")(*arguments)
        assert_same(result.numpy(), np.full(2, 4 * scalar).astype(out))


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


# What CANN's graphs compute where a factor is zero, by operator: whether NaN in a matrix reaches
# the result of an alpha of zero, and whether NaN in self reaches one of alpha and beta of zero.
ZERO_FACTORS = {
    "addmm": (False, True),
    "addmv": (False, True),
    "addbmm": (False, False),
    "baddbmm": (True, False),
    "gemm": (True, False),
}


def _sum_with_factors(
    op: str, self: np.ndarray, x: np.ndarray, y: np.ndarray, alpha: float, beta: float
) -> np.ndarray:
    if op == "baddbmm":
        self, x, y = self[None], x[None], y[None]
    if op == "addbmm":
        x, y = x[None], y[None]
    if op == "addmv":
        self, y = self[:, 0], y[:, 0]
    out = hollow(self.shape, np.float32)
    if op == "gemm":
        ap.ops.gemm(place(x), place(y), place(self), alpha, beta, 0, 0, out, 0)
    elif op == "addmv":
        ap.ops.addmv(place(self), place(x), place(y), alpha, beta, out, 0)
    else:
        getattr(ap.ops, op)(place(self), place(x), place(y), beta, alpha, out, 0)
    found: np.ndarray = out.numpy().reshape(2, -1)
    return found


@pytest.mark.parametrize("op", ZERO_FACTORS)
def test_factors_of_zero_leave_out_what_cann_leaves_out(op: str) -> None:
    product_stays, self_stays = ZERO_FACTORS[op]
    nan, one = np.full((2, 2), np.nan, np.float32), np.ones((2, 2), np.float32)
    # beta of zero, and what counts as zero, leave self out of a sum with a product.
    for beta in (0.0, 1e-8 if op != "addbmm" else -0.0):
        assert (_sum_with_factors(op, nan, one, one, 1.0, beta) == 2).all()
    # alpha of zero leaves the product out, or multiplies it.
    found = _sum_with_factors(op, one, nan, one, 0.0, 3.0)
    assert np.isnan(found).all() if product_stays else (found == 3).all()
    assert (_sum_with_factors(op, one, one, one, 0.0, 3.0) == 3).all()
    # Both: no product is there, and self is multiplied by zero, or nothing is.
    found = _sum_with_factors(op, nan, one, one, 0.0, 0.0)
    assert np.isnan(found).all() if self_stays else (found == 0).all()
    assert (_sum_with_factors(op, one, one, one, 0.0, 0.0) == 0).all()


@pytest.mark.parametrize("op", ZERO_FACTORS)
def test_an_inner_dimension_of_zero_leaves_self_by_beta(op: str) -> None:
    x, y = np.zeros((2, 0), np.float32), np.zeros((0, 2), np.float32)
    nan = np.full((2, 2), np.nan, np.float32)
    self = np.arange(4, dtype=np.float32).reshape(2, 2)
    found = _sum_with_factors(op, self, x, y, 1.0, 3.0)
    assert_same(found, 3 * (self if op != "addmv" else self[:, :1]))
    found = _sum_with_factors(op, nan, x, y, 1.0, 0.0)
    assert (np.isnan if op in ("addmm", "addmv", "gemm") else np.logical_not)(found).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bytes_multiply_modulo_their_width(layout: str) -> None:
    x = np.array([100, 100, 3], np.int8)
    out = hollow((), np.int8)
    ap.ops.dot(place(x, layout), place(x, layout), out)
    assert out.numpy() == np.int64(100 * 100 * 2 + 9).astype(np.int8)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("product", [ap.ops.dot, lambda *given: ap.ops.matmul(*given, 0)])
def test_products_of_long_vectors_are_added_up_in_float64_by_blocks(
    product: Any, dtype: Dtype
) -> None:
    rng = np.random.default_rng(17)
    # Equal terms: what float32 loses in a long sum of them does not cancel.
    x, y = (rng.uniform(0.1, 0.1001, 300_001).astype(dtype) for _ in range(2))
    exact, found = wide(x) @ wide(y), []
    for left, right in (("dense", "dense"), ("stepped", "dense"), ("stepped", "stepped")):
        out = hollow((), dtype)
        product(place(x, left), place(y, right), out)
        found.append(out.numpy())
    last_digit = np.finfo(dtype).eps if dtype.kind == "f" else 2.0**-7
    assert abs(wide(found[0]) - exact) <= 2 * last_digit * exact
    for other in found[1:]:
        assert_same(other, found[0])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("product", [ap.ops.mv, ap.ops.matmul])
def test_rows_times_a_vector_are_added_up_as_two_vectors_are(product: Any, dtype: Dtype) -> None:
    rng = np.random.default_rng(23)
    x = rng.uniform(0.1, 0.1001, (5, 40_003)).astype(dtype)
    y = rng.uniform(0.1, 0.1001, 40_003).astype(dtype)
    each = []
    for row in x:
        out = hollow((), dtype)
        ap.ops.dot(place(row), place(y), out)
        each.append(out.numpy())
    np.testing.assert_allclose(wide(np.stack(each)), wide(x) @ wide(y), rtol=0.01)
    wider = np.zeros((5, 40_010), dtype)
    wider[:, 4:-3] = x
    for rows, layout in ((place(x), "dense"), (place(wider)[:, 4:-3], "stepped")):
        out = hollow((5,), dtype)
        product(rows, place(y, layout), out, 0)
        assert_same(out.numpy(), np.stack(each))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_integers_of_long_vectors_wrap_around(dtype: Any) -> None:
    rng, limits = np.random.default_rng(19), np.iinfo(dtype)
    x, y = (rng.integers(limits.min, limits.max, 200_003).astype(dtype) for _ in range(2))
    for layout in ("dense", "stepped"):
        out = hollow((), dtype)
        ap.ops.dot(place(x, layout), place(y, layout), out)
        exact = (x.astype(np.uint32) * y.astype(np.uint32)).sum(dtype=np.uint32)
        assert out.numpy() == exact.astype(dtype)
