# SPDX-License-Identifier: Apache-2.0
"""Quantised weights in blocks, and gated units of groups, that chips of the 950 series have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.layout import layout_of
from aclnn_py.tensor.tensor import tensor_over
from aclnn_py.tensor.views import contiguous_strides

from ..low_bits import FLOAT8, LARGEST, NUMBER, SCALE, codes_of, encoded, mx, values

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
E5M2, E4M3 = FLOAT8
FOUR = "float4_e2m1fn"
NZ = "FRACTAL_NZ"
KINDS = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def given(x: Array) -> Given:
    return Given(x, x.dtype.name)


def results(found: Any) -> list[Array]:
    assert not isinstance(found, Refused), found
    return list(found)


def refused(found: Any, status: int = 161002) -> str:
    assert isinstance(found, Refused), "taken"
    assert found.status == status, found
    return found.text


# --- products with a weight in blocks


def blocks(matrix: Array, width: int) -> Array:
    rows, cols = matrix.shape
    tall, broad = -(-rows // 16), -(-cols // width)
    padded = np.zeros((tall * 16, broad * width), matrix.dtype)
    padded[:rows, :cols] = matrix
    return padded.reshape(tall, 16, broad, width).transpose(2, 0, 1, 3)


def multiply(
    x: Array,
    codes: Array,
    dtype: str,
    scale: Array,
    offset: Array | None,
    bias: Array | None,
    size: int,
) -> Array:
    """In the process with the newer chip: pack the codes, cut them into blocks, and multiply.

    Weights of 4 bits are packed by the package's own operator, from INT32 or FLOAT.
    """
    k, n = codes.shape
    kind = dtype_of(dtype)
    if dtype == "int8":
        weight = ap.from_numpy(codes, format=NZ)
    else:
        narrow = 8 if kind.bits == 32 else 1
        storage = (-(-n // 16), -(-k // 16), 16, 16 // narrow)
        buffer = ap.Buffer.allocate(int(np.prod(storage)) * kind.bits // 8)
        shape = (k, n // narrow)
        layout = layout_of(shape, contiguous_strides(shape), kind, ap.Format.FRACTAL_NZ, storage)
        weight = tensor_over(buffer, layout, 0)
        source = values(FOUR)[codes].astype(np.float32) if "float" in dtype else codes
        ap.ops.convert_weight_to_int4_pack(ap.from_numpy(source), weight)
        packed = np.frombuffer(buffer.read(), np.uint8)
        stored = blocks(codes & 15, 16).reshape(-1).astype(np.uint8)
        assert (packed == stored[::2] | stored[1::2] << 4).all()
    out = ap.from_numpy(np.full((len(x), n), 77).astype(x.dtype))
    scales = ap.from_numpy(scale, dtype=SCALE) if scale.dtype == np.uint8 else ap.from_numpy(scale)
    ap.ops.weight_quant_batch_matmul_nz(
        ap.from_numpy(x),
        weight,
        scales,
        None if offset is None else ap.from_numpy(offset),
        None,
        None,
        None if bias is None else ap.from_numpy(bias),
        size,
        out,
    )
    return out.numpy()


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("int8", 0), ("int4", 0), ("int4", 32), ("int32", 64), (FOUR, 32), ("float32", 64)],
)
@pytest.mark.parametrize("kind", KINDS.values(), ids=str)
def test_a_weight_in_blocks(newer: Chip950, dtype: str, size: int, kind: np.dtype[Any]) -> None:
    rng = np.random.default_rng(1)
    m, k, n = 3, 100, 40
    floats = "float" in dtype
    x = rng.standard_normal((m, k)).astype(kind)
    low, high = (0, 16) if floats else (-8, 8) if dtype != "int8" else (-128, 128)
    codes = rng.integers(low, high, (k, n)).astype(np.int8 if dtype == "int8" else np.int32)
    groups = -(-k // size) if size else 1
    scale = rng.uniform(0.01, 0.1, (groups, n)).astype(kind)
    offset = None if floats else rng.integers(-4, 5, (groups, n)).astype(kind)
    bias = rng.standard_normal(n).astype(
        np.float32 if dtype == "int8" and kind == KINDS["bfloat16"] else kind
    )
    found = newer.call(__name__, "multiply", x, codes, dtype, scale, offset, bias, size)
    number = values(FOUR)[codes] if floats else wide(codes)
    weight = number + (0 if offset is None else expanded(offset, k, size))
    weight = wide((weight * expanded(scale, k, size)).astype(kind))
    assert_close(found, wide(x) @ weight + wide(bias), scale=4)


def expanded(table: Array, k: int, size: int) -> Array:
    return wide(np.repeat(table, size or k, 0)[:k])


@pytest.mark.parametrize("dtype", [FOUR, "float32"])
def test_powers_of_two_for_each_32_rows(newer: Chip950, dtype: str) -> None:
    rng = np.random.default_rng(2)
    m, k, n = 3, 80, 24
    x = rng.integers(-3, 4, (m, k)).astype(np.float16)
    codes = rng.integers(0, 16, (k, n)).astype(np.int32)
    scale = rng.integers(125, 129, (3, n)).astype(np.uint8)
    found = newer.call(__name__, "multiply", x, codes, dtype, scale, None, None, 32)
    weight = values(FOUR)[codes] * np.repeat(2.0 ** (scale.astype(int) - 127), 32, 0)[:k]
    np.testing.assert_array_equal(wide(found), wide(x) @ weight)


def test_a_transposed_weight_of_bytes(newer: Chip950) -> None:
    rng = np.random.default_rng(3)
    m, k, n = 3, 40, 20
    x = rng.integers(-3, 4, (m, k)).astype(np.float16)
    weight = rng.integers(-8, 9, (k, n)).astype(np.int8)
    turned = Given(weight, "int8", swapped=(0, 1), format=NZ)
    found = newer.operator(
        *("weight_quant_batch_matmul_nz", given(x), turned),
        *(given(np.full(n, 0.5, np.float16)), None, None, None, None, 0, Made((m, n), "float16")),
    )
    np.testing.assert_array_equal(wide(results(found)[0]), wide(x) @ (weight * 0.5))


@pytest.mark.parametrize("kind", [E4M3, "hifloat8"])
@pytest.mark.parametrize("dtype", KINDS.values(), ids=str)
@pytest.mark.parametrize("swapped", [None, (0, 1)])
def test_a_weight_of_floats_of_8_bits(
    newer: Chip950, kind: str, dtype: np.dtype[Any], swapped: tuple[int, int] | None
) -> None:
    rng = np.random.default_rng(4)
    m, k, n = 3, 70, 40
    x = rng.standard_normal((m, k)).astype(dtype)
    codes = encoded(rng.standard_normal((k, n)), kind, "round" if kind == "hifloat8" else "rint")
    scale = rng.uniform(0.1, 2, n).astype(dtype)
    bias = rng.standard_normal(n).astype(dtype)
    exact = wide((values(kind)[codes] * wide(scale)).astype(dtype))
    for version, more in (("2", []), ("3", [0])):
        found = newer.operator(
            *(
                f"weight_quant_batch_matmul_v{version}",
                given(x),
                Given(codes, kind, False, swapped),
            ),
            *(given(scale), None, None, None, given(bias), 0, *more, Made((m, n), dtype.name)),
        )
        assert_close(results(found)[0], wide(x) @ exact + wide(bias), scale=4)


def eight_to_a_float(codes: Array) -> Array:
    parts = codes.reshape(*codes.shape[:-1], -1, 8).astype(np.uint32) << np.arange(
        0, 32, 4, dtype=np.uint32
    )
    words: Array = np.bitwise_or.reduce(parts, -1)
    return words.view(np.float32)


@pytest.mark.parametrize("form", ["numbers", "turned", "words", "turned words"])
def test_a_weight_of_floats_of_4_bits(newer: Chip950, form: str) -> None:
    rng = np.random.default_rng(5)
    m, k, n = 3, 80, 24
    x = rng.integers(-3, 4, (m, k)).astype(np.float16)
    codes = rng.integers(0, 16, (k, n)).astype(np.uint8)
    scale = rng.integers(125, 129, (3, n)).astype(np.uint8)
    bias = rng.integers(-3, 4, n).astype(np.float16)
    swapped = (0, 1) if "turned" in form else None
    if form == "words":
        weight = Given(eight_to_a_float(codes), "float32")
    elif form == "turned words":
        weight = Given(eight_to_a_float(codes.T.copy()).T, "float32", swapped=swapped)
    else:
        weight = Given(codes, FOUR, swapped=swapped)
    found = newer.operator(
        *("weight_quant_batch_matmul_v3", given(x), weight, Given(scale, SCALE), None, None, None),
        *(given(bias), 32, 0, Made((m, n), "float16")),
    )
    exact = values(FOUR)[codes] * np.repeat(2.0 ** (scale.astype(int) - 127), 32, 0)[:k]
    np.testing.assert_array_equal(wide(results(found)[0]), wide(x) @ exact + bias)


def test_weights_of_floats_that_are_refused(newer: Chip950) -> None:
    m, k, n = 3, 64, 40
    call: list[Any] = [
        *(given(np.ones((m, k), np.float16)), Given(np.ones((k, n), np.uint8), E4M3)),
        *(given(np.ones(n, np.float16)), None, None, None, None, 0, Made((m, n), "float16")),
    ]

    def with_(**changes: Any) -> str:
        changed = [changes.get(f"at{place}", value) for place, value in enumerate(call)]
        return refused(newer.operator("weight_quant_batch_matmul_v2", *changed))

    four = Given(np.ones((k, n), np.uint8), FOUR)
    powers = Given(np.full((2, n), 127, np.uint8), SCALE)
    half = given(np.ones(n, np.float16))
    assert "antiquantScale has dtype FLOAT8_E8M0" in with_(at2=powers, at7=32)
    assert "antiquantScale has dtype FLOAT16; with a weight of FLOAT4" in with_(at1=four, at7=32)
    assert "antiquantGroupSize is 32" in with_(at7=32)
    assert "antiquantGroupSize is 64" in with_(at1=four, at2=powers, at7=64)
    assert "antiquantOffsetOptional is given" in with_(at3=half)
    assert "quantScaleOptional is given" in with_(
        at4=given(np.ones(n, np.uint64)), at8=Made((m, n), "int8")
    )
    assert "biasOptional has dtype FLOAT" in with_(at6=given(np.ones(n, np.float32)))
    blocked = Given(np.ones((k, n), np.uint8), E4M3, format=NZ)
    assert "weight has the format FRACTAL_NZ" in with_(at1=blocked)


def test_weights_that_are_refused(newer: Chip950) -> None:
    m, k, n = 3, 64, 40
    x, scale = np.ones((m, k), np.float16), np.ones(n, np.float16)
    call: list[Any] = [
        *(given(x), Given(np.ones((k, n), np.int8), "int8", format=NZ), given(scale)),
        *(None, None, None, None, 0, Made((m, n), "float16")),
    ]

    def with_(position: int, value: Any, status: int = 161002) -> str:
        changed = [*call]
        changed[position] = value
        return refused(newer.operator("weight_quant_batch_matmul_nz", *changed), status)

    for position in (0, 1, 2, 8):
        with_(position, None, status=161001)
    assert "weight has the format ND" in with_(1, Given(np.ones((k, n), np.int8), "int8"))
    assert "quantScaleOptional is given" in with_(4, given(np.ones(n, np.float32)))
    assert "quantOffsetOptional is given" in with_(5, given(np.ones(n, np.float32)))
    assert "with a weight of INT8: 0" in with_(7, 32)
    assert "biasOptional has dtype FLOAT" in with_(6, given(np.ones(n, np.float32)))
    assert "antiquantScale has shape" in with_(2, given(np.ones((2, n), np.float16)))
    assert "y has shape" in with_(8, Made((m, n + 1), "float16"))
    # Blocks as wide as those of other chips.
    four = Given(np.ones((k, n), np.int8).astype(ml_dtypes.int4), "int4", format=NZ)
    assert "expected (3, 4, 16, 16)" in with_(1, four)

    def packed(values_of: Array, dtype: str, result: str) -> str:
        made = Made(values_of.shape, result)
        name = "convert_weight_to_int4_pack"
        return refused(newer.operator(name, Given(values_of, dtype), made))

    small = np.ones((2, 16), np.int8).astype(ml_dtypes.int4)
    assert "weight has dtype INT4" in packed(small, "int4", "int4")
    assert "weightInt4Pack has dtype INT4" in packed(
        np.ones((2, 16), np.float32), "float32", "int4"
    )


def test_a_910b_refuses_it() -> None:
    x, scale = hollow((2, 32), np.float16), place(np.ones(16, np.float16))
    call = (x, place(np.ones((32, 16), np.int8)), scale, None, None, None, None, 0)
    assert refusal("aclnnWeightQuantBatchMatmulNz", *call, hollow((2, 16), np.float16)) == 361001


# --- gated units of groups, quantised


def unit(x: Array, limit: float) -> Array:
    gate, linear = np.split(wide(x), 2, axis=-1)
    if limit > 0:
        gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
    return gate / (1 + np.exp(-gate)) * linear


def assert_near(codes: Array, exact: Array, kind: str) -> None:
    """Codes are right but for neighbours at the middle of two numbers."""
    table, wanted = values(kind), encoded(exact, kind, "round" if kind == "hifloat8" else "rint")
    far = np.abs(table[codes] - table[wanted]) > 0.26 * np.maximum(np.abs(table[wanted]), 2.0**-6)
    assert not far.any()
    assert (codes != wanted).sum() <= 0.02 * codes.size


def call_unit(
    newer: Chip950, x: Array, mode: int, y: Made, scale: Made, **ways: Any
) -> list[Array]:
    found = newer.operator(
        *("swiglu_group_quant", given(x), ways.get("weight"), ways.get("groups")),
        *(ways.get("factors"), NUMBER.get(y.dtype, 0), mode, 0, ways.get("rounded", mode == 1)),
        *(ways.get("limit", -1.0), ways.get("largest", 15.0), ways.get("origin", True)),
        *(y, scale, Made((*x.shape[:-1], x.shape[-1] // 2), x.dtype.name)),
    )
    return results(found)


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize("rounded", [False, True])
def test_units_in_blocks_of_128(newer: Chip950, kind: str, rounded: bool) -> None:
    rng = np.random.default_rng(4)
    x = (2 * rng.standard_normal((2, 3, 512))).astype(np.float16)
    x[0, 0] = 0
    weight, counts = rng.random((2, 3)).astype(np.float32), np.array([1, 3, 0])
    y, scale, origin = call_unit(
        newer, x, 0, Made((2, 3, 256), kind), Made((2, 3, 2), "float32"),
        weight=given(weight), groups=given(counts), rounded=rounded, limit=2.5,
    )  # fmt: skip
    plain = unit(x, 2.5)
    exact = plain * wide(weight)[..., None]
    most = np.maximum(np.abs(exact.reshape(2, 3, 2, 128)).max(-1), 1e-4)
    wanted = most / LARGEST[kind]
    if rounded:
        wanted = 2 ** np.ceil(np.log2(wanted))
    rows = 4
    np.testing.assert_allclose(scale.reshape(6, 2)[:rows], wanted.reshape(6, 2)[:rows], rtol=1e-5)
    scaled = exact.reshape(6, 256) / np.repeat(wanted.reshape(6, 2), 128, 1)
    assert_near(codes_of(y).reshape(6, 256)[:rows], scaled[:rows], kind)
    assert_close(origin.reshape(6, 256)[:rows], plain.reshape(6, 256)[:rows], scale=2)
    for array in (codes_of(y), scale, origin):
        assert (array.reshape(6, -1)[rows:] == 77).all()


def test_what_is_not_finite(newer: Chip950) -> None:
    """It counts nothing in the scale and is limited, or stays NaN."""
    x = np.ones((1, 256), np.float16)
    x[0, 3], x[0, 5] = np.inf, np.nan
    y, scale, _ = call_unit(newer, x, 0, Made((1, 128), E4M3), Made((1, 1), "float32"))
    one = 1 / (1 + np.exp(-1))
    np.testing.assert_allclose(scale[0, 0], one / 448, rtol=1e-6)
    decoded = values(E4M3)[codes_of(y)[0]]
    assert decoded[3] == 448
    assert np.isnan(decoded[5])
    assert (np.delete(decoded, [3, 5]) == 448).all()


@pytest.mark.parametrize("kind", FLOAT8)
def test_units_in_blocks_of_32(newer: Chip950, kind: str) -> None:
    rng = np.random.default_rng(5)
    x = (2 * rng.standard_normal((3, 256))).astype(ml_dtypes.bfloat16)
    x[1, :32] = 0
    y, scale, origin = call_unit(
        newer, x, 1, Made((3, 128), kind), Made((3, 2, 2), SCALE), origin=False
    )
    exact = unit(x, -1.0)
    np.testing.assert_array_equal(codes_of(scale), mx(exact, kind, algorithm=1, low=1e-4)[1])
    factor = 2.0 ** (codes_of(scale).reshape(3, 4).astype(int) - 127)
    assert_near(codes_of(y), exact / np.repeat(factor, 32, 1), kind)
    assert (origin == 77).all(), "what is not asked for is not written"


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("dynamic", [True, False])
def test_units_of_hifloat8(newer: Chip950, grouped: bool, dynamic: bool) -> None:
    rng = np.random.default_rng(6)
    x = rng.standard_normal((5, 256)).astype(np.float32)
    counts = [2, 0, 9] if grouped else [5]
    factors = rng.uniform(0.5, 2, len(counts)).astype(np.float32)
    y, scale, origin = call_unit(
        newer, x, 3 if dynamic else 2, Made((5, 128), "hifloat8"), Made((len(counts),), "float32"),
        groups=given(np.array(counts)) if grouped else None,
        factors=None if dynamic else given(factors),
    )  # fmt: skip
    exact, first = unit(x, -1.0), 0
    assert_close(origin, exact, scale=2)
    for g, count in enumerate(counts):
        rows = slice(first, min(5, first + count))
        factor = factors[g]
        if dynamic:
            largest = np.abs(exact[rows]).max(initial=1e-4)
            np.testing.assert_allclose(scale[g], largest / 15, rtol=1e-5)
            factor = 15 / largest
        assert_near(codes_of(y)[rows], exact[rows] * factor, "hifloat8")
        first = rows.stop


@pytest.mark.parametrize(
    ("changes", "status", "text"),
    [
        ({0: None}, 161001, "x"),
        ({11: None}, 161001, "yOut"),
        ({12: None}, 161001, "yScaleOut"),
        ({13: None}, 161001, "yOriginOutOptional"),
        ({4: 35}, 161002, "dstType is 35"),
        ({5: 4}, 161002, "quantMode is 4"),
        ({6: 32}, 161002, "blockSize is 32"),
        ({5: 1}, 161002, "roundScale is false"),
        ({8: 0.0}, 161002, "clampLimit is 0"),
        ({5: 3, 9: 448.0}, 161002, "dstTypeMax is 448"),
        ({5: 2, 11: Made((2, 128), "hifloat8")}, 161001, "scaleOptional"),
        ({1: Given(np.ones(3, np.float32), "float32")}, 161002, "weightOptional has 3 elements"),
        ({2: Given(np.zeros(0, np.int64), "int64")}, 161002, "groupIndexOptional is empty"),
        ({0: Given(np.ones((2, 128), np.float16), "float16")}, 161002, "a multiple of 256"),
        ({0: Given(np.ones((2, 256), np.float32), "float32")}, 161002, "x has dtype FLOAT"),
        ({12: Made((2, 2), "float32")}, 161002, "yScaleOut has shape"),
        ({2: Given(np.array([-1]), "int64")}, 507015, "groupIndexOptional[0] is -1"),
    ],
)
def test_units_that_are_refused(
    newer: Chip950, changes: dict[int, Any], status: int, text: str
) -> None:
    call: list[Any] = [
        *(given(np.ones((2, 256), np.float16)), None, None, None, 36, 0, 0, False, -1.0, 448.0),
        *(False, Made((2, 128), E4M3), Made((2, 1), "float32"), Made((2, 128), "float16")),
    ]
    for position, value in changes.items():
        call[position] = value
    assert text in refused(newer.operator("swiglu_group_quant", *call), status)
