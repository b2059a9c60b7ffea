# SPDX-License-Identifier: Apache-2.0
"""Products of floats of 8 and 4 bits that only chips of the 950 series have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import hollow, place, refusal

from ..low_bits import FLOAT8, SCALE, codes_of, encoded, mx, values

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
E5M2, E4M3 = FLOAT8
HIF, FOUR = "hifloat8", "float4_e2m1fn"
NZ = "FRACTAL_NZ"
NUMBER = {"float16": 1, "bfloat16": 27, HIF: 34}


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def numbers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], **ways: Any) -> Given:
    """Codes of small numbers."""
    table = values(dtype)
    codes = np.flatnonzero(np.isfinite(table) & (np.abs(table) <= 4)).astype(np.uint8)
    return Given(rng.choice(codes, shape), dtype, **ways)


def decoded(tensor: Given) -> Array:
    return values(tensor.dtype)[tensor.values]


def powers(rng: np.random.Generator, *shape: int) -> Given:
    return Given(rng.integers(122, 129, shape).astype(np.uint8), SCALE)


def spread(scale: Array, depth: int) -> Array:
    """Pairs of codes (rows, pairs, 2) as factors (rows, depth)."""
    factors = 2.0 ** (scale.reshape(len(scale), 2 * scale.shape[1]).astype(int) - 127)
    return np.repeat(factors, 32, 1)[:, :depth]


def floats(rng: np.random.Generator, *shape: int) -> Given:
    return Given(rng.uniform(0.1, 2, shape).astype(np.float32), "float32")


def turn(tensor: Given) -> Given:
    """The same scales with their first two dimensions exchanged."""
    return Given(np.ascontiguousarray(np.swapaxes(tensor.values, 0, 1)), tensor.dtype)


def results(found: Any) -> list[Array]:
    assert not isinstance(found, Refused), found
    return list(found)


def refused(found: Any, status: int = 161002) -> str:
    assert isinstance(found, Refused), "taken"
    assert found.status == status, found
    return found.text


# --- yRef += transpose(x1) @ x2; the memory of a `Made` is 77 before


@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize("left", [E5M2, HIF])
def test_a_product_is_added(newer: Chip950, left: str, stepped: bool) -> None:
    rng = np.random.default_rng(1)
    k, m, n = 100, 5, 7
    x1 = numbers(rng, left, (k, m), stepped=stepped)
    x2 = numbers(rng, HIF if left == HIF else E4M3, (k, n), stepped=stepped)
    a, b = decoded(x1).T, decoded(x2)
    if left == HIF:
        row, column, group = floats(rng, 1), floats(rng, 1), 0
        exact = a @ b * (row.values * column.values).astype(np.float64)
    else:
        row, column, group = powers(rng, m, 2, 2), powers(rng, n, 2, 2), 1 << 32 | 1 << 16 | 32
        exact = (a * spread(row.values, k)) @ (b.T * spread(column.values, k)).T
        row, column = turn(row), turn(column)
    y = Made((m, n), "float32", stepped)
    found = newer.operator(
        "quant_batch_matmul_inplace_add", x1, x2, row, column, y, True, False, group
    )
    assert_close(results(found)[0], 77 + exact, scale=20)


@pytest.mark.parametrize("ends", [True, False])
def test_products_of_groups_are_added(newer: Chip950, ends: bool) -> None:
    """Groups begin anywhere, may be empty, and need not reach the last row."""
    rng = np.random.default_rng(2)
    sizes, k, m, n = [40, 0, 70, 10], 130, 5, 7
    x1, x2 = numbers(rng, E4M3, (k, m)), numbers(rng, E5M2, (k, n))
    pairs = k // 64 + len(sizes)
    row, column = powers(rng, pairs, m, 2), powers(rng, pairs, n, 2)
    listed = np.cumsum(sizes) if ends else np.array(sizes)
    y = Made((len(sizes), m, n), "float32")
    found = newer.operator(
        *("quant_grouped_matmul_inplace_add", x1, x2, row, column, Given(listed, "int64"), y),
        *(0 if ends else 1, 0),
    )
    exact, first = np.full((len(sizes), m, n), 77.0), 0
    for g, size in enumerate(sizes):
        place_of = first // 64 + g
        own = slice(place_of, place_of + -(-size // 64))
        left = spread(turn(Given(row.values[own], SCALE)).values, size)
        right = spread(turn(Given(column.values[own], SCALE)).values, size)
        rows = slice(first, first + size)
        exact[g] += (decoded(x1)[rows].T * left) @ (decoded(x2)[rows] * right.T)
        first += size
    assert_close(results(found)[0], exact, scale=20)


@pytest.mark.parametrize("shapes", [((3,), (3, 1)), ((3, 1), (3, 7)), ((3,), (3,))], ids=str)
def test_groups_of_hifloat8(newer: Chip950, shapes: Any) -> None:
    rng = np.random.default_rng(3)
    ends, k, m, n = [4, 10, 20], 20, 5, 7
    x1, x2 = numbers(rng, HIF, (k, m)), numbers(rng, HIF, (k, n))
    row, column = (floats(rng, *shape) for shape in shapes)
    found = newer.operator(
        *("quant_grouped_matmul_inplace_add", x1, x2, row, column, Given(np.array(ends), "int64")),
        *(Made((3, m, n), "float32"), 0, 0),
    )
    for g, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
        part = decoded(x1)[first:last].T @ decoded(x2)[first:last]
        scale = row.values.reshape(3)[g] * column.values.reshape(3, -1)[g].astype(np.float64)
        assert_close(results(found)[0][g], 77 + part * scale, scale=4)


def test_sums_that_are_refused(newer: Chip950) -> None:
    rng = np.random.default_rng(4)
    x1, x2 = numbers(rng, E4M3, (64, 4)), numbers(rng, E4M3, (64, 8))
    row, column, y = powers(rng, 1, 4, 2), powers(rng, 1, 8, 2), Made((4, 8), "float32")

    def whole(*changed: Any, status: int = 161002) -> str:
        given = [x1, x2, row, column, y, True, False, 0]
        for position, value in zip(changed[::2], changed[1::2], strict=True):
            given[position] = value
        return refused(newer.operator("quant_batch_matmul_inplace_add", *given), status)

    whole(2, None, status=161001)
    assert "transposeX1 is false" in whole(5, False)
    assert "transposeX2 is true" in whole(6, True)
    assert "a group of 64 along k" in whole(7, 64)
    assert "x2 has 63 rows" in whole(1, numbers(rng, E4M3, (63, 8)))
    assert "x1ScaleOptional has shape" in whole(2, column)
    assert "x2 has dtype HIFLOAT8" in whole(1, numbers(rng, HIF, (64, 8)))
    assert "yRef has shape" in whole(4, Made((8, 4), "float32"))
    empty = numbers(rng, E4M3, (0, 4)), numbers(rng, E4M3, (0, 8))
    none = powers(rng, 0, 4, 2), powers(rng, 0, 8, 2)
    assert "must not be 0" in whole(0, empty[0], 1, empty[1], 2, none[0], 3, none[1])

    def groups(listed: list[int], kind: int, group: int = 0, status: int = 161002) -> str:
        scales = powers(rng, 1 + len(listed), 4, 2), powers(rng, 1 + len(listed), 8, 2)
        return refused(
            newer.operator(
                *("quant_grouped_matmul_inplace_add", x1, x2, *scales),
                *(Given(np.array(listed), "int64"), Made((len(listed), 4, 8), "float32")),
                *(kind, group),
            ),
            status,
        )

    assert "groupListType is 2" in groups([64], 2)
    assert "groupSize is 32" in groups([64], 0, 32)
    assert "beyond the grouped length 64" in groups([32, 65], 0, status=507015)
    assert "less than the end 32" in groups([32, 31], 0, status=507015)


# --- the batch is in the middle


def test_rows_and_columns_in_the_middle(newer: Chip950) -> None:
    rng = np.random.default_rng(5)
    m, batch, k, n = 3, 2, 512, 128
    x1 = numbers(rng, E5M2, (m, batch, k), stepped=True)
    x2 = numbers(rng, E4M3, (batch, k, n), stepped=True)
    row, column = floats(rng, m), floats(rng, n)
    found = newer.operator(
        *("transpose_quant_batch_mat_mul", x1, x2, None, row, column, 27, 0),
        *([1, 0, 2], [0, 1, 2], [1, 0, 2], 1, Made((m, batch, n), "bfloat16")),
    )
    exact = np.einsum("mbk,bkn->mbn", decoded(x1), decoded(x2))
    assert_close(results(found)[0], exact * row.values[:, None, None] * column.values, scale=2)


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_pairs_in_the_middle(newer: Chip950, blocked: bool, turned: bool) -> None:
    rng = np.random.default_rng(6)
    m, batch, k, n = 3, 2, 128, 40
    x1 = numbers(rng, E4M3, (m, batch, k))
    x2 = numbers(
        rng, E4M3, (batch, n, k) if turned else (batch, k, n), format=NZ if blocked else "ND"
    )
    row, column = powers(rng, m, batch, 2, 2), powers(rng, batch, n, 2, 2)
    given = column.values if turned else np.ascontiguousarray(column.values.swapaxes(1, 2))
    found = newer.operator(
        "transpose_quant_batch_mat_mul" + ("_weight_nz" if blocked else ""),
        *(x1, x2, None, row, Given(given, SCALE), 1, 1 << 32 | 1 << 16 | 32),
        *([1, 0, 2], [0, 2, 1] if turned else [0, 1, 2], [1, 0, 2], 1),
        Made((m, batch, n), "float16"),
    )
    for b in range(batch):
        right = decoded(x2)[b] if turned else decoded(x2)[b].T
        left = decoded(x1)[:, b] * spread(row.values[:, b], k)
        assert_close(results(found)[0][:, b], left @ (right * spread(column.values[b], k)).T)


@pytest.mark.parametrize("dtype", ["float16", HIF])
@pytest.mark.parametrize("both", [True, False])
def test_packed_scales_in_the_middle(newer: Chip950, dtype: str, both: bool) -> None:
    rng = np.random.default_rng(7)
    m, batch, k, n = 3, 2, 20, 6
    x1, x2 = numbers(rng, HIF, (m, batch, k)), numbers(rng, HIF, (batch, n, k))
    scale = np.exp2(rng.integers(-4, -1, n)).astype(np.float32)
    packed = Given(scale.view(np.uint32).astype(np.uint64), "uint64")
    one = Given(np.array([0.5], np.float32).view(np.uint32).astype(np.uint64), "uint64")
    found = newer.operator(
        *("transpose_quant_batch_mat_mul", x1, x2, None, one if both else None, packed),
        *(NUMBER[dtype], 0, [1, 0, 2], [0, 2, 1], [1, 0, 2], 1, Made((m, batch, n), dtype)),
    )
    exact = np.einsum("mbk,bnk->mbn", decoded(x1), decoded(x2)) * scale * (0.5 if both else 1)
    if dtype == HIF:
        wanted = encoded(exact, HIF, "round")
        np.testing.assert_array_equal(codes_of(results(found)[0]), wanted)
    else:
        assert_close(results(found)[0], exact)


def test_orders_that_are_refused(newer: Chip950) -> None:
    rng = np.random.default_rng(8)
    m, batch, k, n = 3, 2, 64, 32
    call: list[Any] = [
        *(numbers(rng, E4M3, (m, batch, k)), numbers(rng, E4M3, (batch, k, n)), None),
        *(powers(rng, m, batch, 1, 2), powers(rng, batch, 1, n, 2), 1, 0),
        *([1, 0, 2], [0, 1, 2], [1, 0, 2], 1, Made((m, batch, n), "float16")),
    ]

    def with_(position: int, value: Any, status: int = 161002, name: str = "") -> str:
        given = [*call]
        given[position] = value
        return refused(newer.operator("transpose_quant_batch_mat_mul" + name, *given), status)

    for position in (0, 1, 3, 4, 7, 8, 9, 11):
        with_(position, None, status=161001)
    assert "permX1 is (0, 1, 2)" in with_(7, [0, 1, 2])
    assert "permX2 is (1, 0, 2)" in with_(8, [1, 0, 2])
    assert "permY is (0, 1, 2, 3)" in with_(9, [0, 1, 2, 3, 4])
    assert "batchSplitFactor is 2" in with_(10, 2)
    assert "dtype is 27" in with_(5, 27)
    assert "a group of 64 along k" in with_(6, 64)
    assert "cannot be multiplied" in with_(8, [0, 2, 1])
    assert "bias is given" in with_(2, floats(rng, n))
    assert "x1Scale has shape" in with_(3, powers(rng, batch, m, 1, 2))
    assert "x2 has the format ND" in with_(0, call[0], name="_weight_nz")
    call[3], call[4] = floats(rng, m), floats(rng, n)
    assert "it is 512" in with_(2, None)


# --- two levels of scales


@pytest.mark.parametrize("k", [64, 512, 1088])
@pytest.mark.parametrize("bias", [False, True])
def test_two_levels(newer: Chip950, k: int, bias: bool) -> None:
    rng = np.random.default_rng(9)
    m, n, wide, pairs = 3, 20, -(-k // 512), -(-k // 64)
    x1, x2 = numbers(rng, FOUR, (m, k)), numbers(rng, FOUR, (n, k), format=NZ)
    row, column = floats(rng, m, wide), floats(rng, wide, n)
    fine = powers(rng, m, pairs, 2), powers(rng, n, pairs, 2)
    shift = floats(rng, n)
    found = newer.operator(
        *("dual_level_quant_matmul_weight_nz", x1, x2, row, column, *fine),
        *(shift if bias else None, False, True, 512, 32, Made((m, n), "bfloat16")),
    )
    left = decoded(x1) * spread(fine[0].values, k) * np.repeat(row.values, 512, 1)[:, :k]
    right = decoded(x2) * spread(fine[1].values, k) * np.repeat(column.values.T, 512, 1)[:, :k]
    assert_close(results(found)[0], left @ right.T + (shift.values if bias else 0), scale=2)


def test_two_levels_that_are_refused(newer: Chip950) -> None:
    rng = np.random.default_rng(10)
    m, k, n = 3, 64, 16
    call: list[Any] = [
        *(numbers(rng, FOUR, (m, k)), numbers(rng, FOUR, (n, k), format=NZ)),
        *(floats(rng, m, 1), floats(rng, 1, n), powers(rng, m, 1, 2), powers(rng, n, 1, 2)),
        *(None, False, True, 512, 32, Made((m, n), "float16")),
    ]

    def with_(position: int, value: Any, status: int = 161002) -> str:
        given = [*call]
        given[position] = value
        return refused(newer.operator("dual_level_quant_matmul_weight_nz", *given), status)

    for position in (0, 1, 2, 3, 4, 5, 11):
        with_(position, None, status=161001)
    assert "x2 has the format ND" in with_(1, numbers(rng, FOUR, (n, k)))
    assert "transposeX1 is true" in with_(7, True)
    assert "transposeX2 is false" in with_(8, False)
    assert "level0GroupSize is 256" in with_(9, 256)
    assert "level1GroupSize is 64" in with_(10, 64)
    assert "x2Level0Scale has shape" in with_(3, floats(rng, n, 1))
    assert "x1 or x2 is empty" in with_(0, Given(np.zeros((0, k), np.uint8), FOUR))


# --- gelu, quantised


def gelu(x: Array, form: str) -> Array:
    from math import erf

    if form == "gelu_tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def assert_blocks(found: list[Array], exact: Array, kind: str, algorithm: int) -> None:
    """Scales are right, and so are the codes but for neighbours at the middle of two numbers."""
    codes, scales = mx(exact, kind, algorithm=algorithm)
    np.testing.assert_array_equal(codes_of(found[1]), scales)
    table, y = values(kind), codes_of(found[0])
    far = np.abs(table[y] - table[codes]) > 0.26 * np.maximum(np.abs(table[codes]), 2.0**-6)
    assert not far.any()
    assert (y != codes).sum() <= 0.02 * y.size


@pytest.mark.parametrize(
    ("form", "kind", "algorithm", "t1", "t2"),
    [
        ("gelu_tanh", E4M3, 0, False, True),
        ("gelu_erf", E4M3, 1, True, False),
        ("gelu_erf", E5M2, 0, False, False),
    ],
)
@pytest.mark.parametrize("batch", [(), (2,)], ids=str)
def test_gelu_of_a_product(
    newer: Chip950, form: str, kind: str, algorithm: int, t1: bool, t2: bool, batch: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(11)
    m, k, n = 5, 100, 72
    x1 = numbers(rng, kind, (*batch, *((k, m) if t1 else (m, k))))
    x2 = numbers(rng, E4M3, (n, k) if t2 else (k, n), format=NZ)
    row, column = powers(rng, *batch, m, 2, 2), powers(rng, n, 2, 2)
    shift = Given(
        rng.standard_normal((*batch, *((1,) if batch else ()), n)).astype(np.float32), "float32"
    )
    given = np.ascontiguousarray(np.swapaxes(row.values, -3, -2)) if t1 else row.values
    found = newer.operator(
        *("quant_matmul_activation_quant_weight_nz", x1, x2, Given(given, SCALE)),
        *(column if t2 else turn(column), shift, t1, t2, 0, form, "mx", "rint", algorithm, 0.0),
        *(Made((*batch, m, n), kind), Made((*batch, m, 2, 2), SCALE)),
    )
    a = np.swapaxes(decoded(x1), -1, -2) if t1 else decoded(x1)
    b = decoded(x2).T if t2 else decoded(x2)
    factors = spread(row.values.reshape(-1, 2, 2), k).reshape(*batch, m, k)
    exact = (a * factors) @ (b * spread(column.values, k).T) + shift.values
    assert_blocks(results(found), gelu(exact, form), kind, algorithm)


@pytest.mark.parametrize("turned", ["", "stored", "view"])
@pytest.mark.parametrize(("kind", "algorithm"), [(E4M3, 0), (E5M2, 1)])
def test_gelu_of_groups(newer: Chip950, kind: str, algorithm: int, turned: str) -> None:
    rng = np.random.default_rng(12)
    sizes, m, k, n = [2, 0, 3], 6, 96, 64
    x = numbers(rng, E5M2, (m, k), stepped=True)
    shape = (len(sizes), n, k) if turned else (len(sizes), k, n)
    weight = numbers(rng, E4M3, shape, format=NZ)
    if turned == "view":  # the values are those of the view, as it is seen
        values_of = np.ascontiguousarray(weight.values.swapaxes(1, 2))
        weight = Given(values_of, E4M3, swapped=(1, 2), format=NZ)
    row, column = powers(rng, m, 2, 2), powers(rng, len(sizes), n, 2, 2)
    scale = (
        column.values if turned == "stored" else np.ascontiguousarray(column.values.swapaxes(1, 2))
    )
    found = newer.operator(
        *("grouped_matmul_activation_quant_weight_nz", x, Given(np.array(sizes), "int64")),
        *([weight], [Given(scale, SCALE)], None, row, "gelu_tanh", 1, None, "", None, algorithm),
        *(0.0, Made((m, n), kind), Made((m, 1, 2), SCALE)),
    )
    y, scales = results(found)
    first = 0
    for g, size in enumerate(sizes):
        rows = slice(first, first + size)
        b = decoded(weight)[g].T if turned == "stored" else decoded(weight)[g]
        left = decoded(x)[rows] * spread(row.values[rows], k)
        exact = gelu(left @ (b * spread(column.values[g], k).T), "gelu_tanh")
        assert_blocks([y[rows], scales[rows]], exact, kind, algorithm)
        first += size
    assert (codes_of(y[first:]) == 77).all()
    assert (codes_of(scales[first:]) == 77).all()


def test_activations_that_are_refused(newer: Chip950) -> None:
    rng = np.random.default_rng(13)
    m, k, n = 4, 64, 64
    one: list[Any] = [
        *(numbers(rng, E4M3, (m, k)), numbers(rng, E4M3, (k, n), format=NZ)),
        *(powers(rng, m, 1, 2), powers(rng, 1, n, 2), None, False, False, 0),
        *("gelu_tanh", "mx", "rint", 0, 0.0, Made((m, n), E4M3), Made((m, 1, 2), SCALE)),
    ]
    groups: list[Any] = [
        *(one[0], Given(np.array([m]), "int64"), [numbers(rng, E4M3, (1, k, n), format=NZ)]),
        *([powers(rng, 1, 1, n, 2)], None, one[2], "gelu_tanh", 0, None, "mx", "rint", 0, 0.0),
        *one[-2:],
    ]

    def with_(call: list[Any], position: int, value: Any, status: int = 161002) -> str:
        given = [*call]
        given[position] = value
        name = "quant_matmul" if call is one else "grouped_matmul"
        return refused(newer.operator(name + "_activation_quant_weight_nz", *given), status)

    for call, positions in ((one, (0, 1, 2, 3, 13, 14)), (groups, (0, 1, 2, 3, 5, 13, 14))):
        for position in positions:
            with_(call, position, None, status=161001)
    assert 'activationType is "relu"' in with_(one, 8, "relu")
    assert 'activationType is "gelu_erf"' in with_(groups, 6, "gelu_erf")
    assert 'quantMode is "static"' in with_(one, 9, "static")
    assert 'quantModeOptional is "static"' in with_(groups, 9, "static")
    assert "round" in with_(one, 10, "round")
    assert "scaleAlg is 2" in with_(one, 11, 2)
    assert "groupSize is 32" in with_(one, 7, 32)
    assert "x2 has the format ND" in with_(one, 1, numbers(rng, E4M3, (k, n)))
    assert "yOut has dtype FLOAT8_E5M2" in with_(one, 13, Made((m, n), E5M2))
    assert "biasOptional has shape" in with_(one, 4, floats(rng, n + 1))
    assert "dstTypeMax is 6" in with_(groups, 12, 6.0)
    assert "biasOptional is given" in with_(groups, 4, [floats(rng, n)])
    assert "weight has 2 tensors" in with_(groups, 2, groups[2] * 2)
    assert "groupListType is 2" in with_(groups, 7, 2)
    assert "groupList has 2 groups" in with_(groups, 1, Given(np.array([1, 2]), "int64"))
    assert "beyond" in with_(groups, 1, Given(np.array([m + 1]), "int64"), status=507015)


def test_a_910b_refuses_them() -> None:
    x, y = place(np.ones((64, 4), np.int8)), hollow((4, 4), np.float32)
    scale = place(np.ones(1, np.float32))
    assert (
        refusal("aclnnQuantBatchMatmulInplaceAdd", x, x, scale, scale, y, True, False, 0) == 561003
    )
    deep = place(np.ones((4, 4, 4), ml_dtypes.bfloat16))
    order = [1, 0, 2]
    assert (
        refusal(
            *("aclnnTransposeQuantBatchMatMul", deep, deep, None, scale, scale, 1, 0, order),
            *([0, 1, 2], order, 1, deep),
        )
        == 561003
    )


# --- QuantMatmulWeightNz


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", [E4M3, HIF])
def test_weights_in_blocks_with_scales_of_columns(newer: Chip950, kind: str, turned: bool) -> None:
    rng = np.random.default_rng(12)
    m, k, n = 5, 70, 40
    x, bias = numbers(rng, kind, (m, k)), floats(rng, n)
    w = numbers(rng, kind, (n, k) if turned else (k, n), format=NZ)
    product = decoded(x) @ (decoded(w).T if turned else decoded(w))
    for width in (1, n):
        scale = floats(rng, width).values
        packed = Given((scale.view(np.uint32) & ~np.uint32(0x1FFF)).astype(np.uint64), "uint64")
        scale = packed.values.astype(np.uint32).view(np.float32)
        found = newer.operator(
            *("quant_matmul_weight_nz", x, w, None, packed, None, None, None, None, bias),
            *(False, turned, 0, Made((m, n), "float16")),
        )
        assert_close(results(found)[0], (product + bias.values) * scale, scale=4)
        row, column = floats(rng, m), floats(rng, width)
        found = newer.operator(
            *("quant_matmul_weight_nz", x, w, row, column, None, None, None, None, None),
            *(False, turned, 0, Made((m, n), "float32")),
        )
        assert_close(results(found)[0], product * row.values[:, None] * column.values, scale=8)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("group", [0, 1 << 32 | 1 << 16 | 32])
def test_weights_in_blocks_with_powers_of_groups(newer: Chip950, turned: bool, group: int) -> None:
    rng = np.random.default_rng(13)
    m, k, n = 5, 100, 40
    x, bias = numbers(rng, E4M3, (m, k)), floats(rng, n)
    w = numbers(rng, E4M3, (n, k) if turned else (k, n), format=NZ)
    row, column = powers(rng, m, 2, 2), powers(rng, n, 2, 2)
    right = decoded(w) if turned else decoded(w).T
    exact = (decoded(x) * spread(row.values, k)) @ (right * spread(column.values, k)).T
    found = newer.operator(
        *("quant_matmul_weight_nz", x, w, row, column if turned else turn(column)),
        *(None, None, None, None, bias, False, turned, group, Made((m, n), "bfloat16")),
    )
    assert_close(results(found)[0], exact + bias.values, scale=8)


def test_weights_in_blocks_that_are_refused(newer: Chip950) -> None:
    rng = np.random.default_rng(14)
    m, k, n = 5, 64, 32
    call: list[Any] = [
        *(numbers(rng, E4M3, (m, k)), numbers(rng, E4M3, (k, n), format=NZ), None),
        *(Given(np.ones(n, np.uint64), "uint64"), None, None, None, None, None, False, False, 0),
        Made((m, n), "float16"),
    ]

    def with_(**changes: Any) -> str:
        changed = [changes.get(f"at{place}", value) for place, value in enumerate(call)]
        return refused(newer.operator("quant_matmul_weight_nz", *changed))

    assert "x2 has the format ND" in with_(at1=numbers(rng, E4M3, (k, n)))
    assert "x2 has dtype HIFLOAT8" in with_(at1=numbers(rng, HIF, (k, n), format=NZ))
    assert "x1 has dtype FLOAT8_E5M2" in with_(at0=numbers(rng, E5M2, (m, k)))
    assert "yScaleOptional is given" in with_(at4=Given(np.ones(n, np.uint64), "uint64"))
