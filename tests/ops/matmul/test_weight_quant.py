# SPDX-License-Identifier: Apache-2.0
"""Products with quantised weights, against the weight dequantised by NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
OPERATOR = "aclnnWeightQuantBatchMatmulV2"


def nibbles(numbers: Array) -> Array:
    """Eight numbers of 4 bits to an int32, the first in the lowest bits."""
    parts = (numbers.reshape(*numbers.shape[:-1], -1, 8).astype(np.int64) & 15) << np.arange(
        0, 32, 4
    )
    return parts.sum(axis=-1).astype(np.uint32).view(np.int32)


def stored(numbers: Array, kind: str) -> ap.Tensor:
    """The weight (k, n) as a tensor of one of the forms it may have."""
    if kind == "int8":
        return place(numbers.astype(np.int8))
    if kind == "int8-transposed":
        return place(numbers.astype(np.int8), "transposed")
    if kind == "int8-blocks":
        return ap.from_numpy(numbers.astype(np.int8), format=ap.Format.FRACTAL_NZ)
    if kind == "int8-blocks-transposed":
        turned = np.ascontiguousarray(numbers.T).astype(np.int8)
        return ap.from_numpy(turned, format=ap.Format.FRACTAL_NZ).swapaxes(-1, -2)
    if kind == "int4-transposed":
        turned = np.ascontiguousarray(numbers.T).astype(np.int8).astype(ml_dtypes.int4)
        return ap.from_numpy(turned).permute(1, 0)
    if kind == "int4-blocks":
        packed = numbers.astype(np.int8).astype(ml_dtypes.int4)
        return ap.from_numpy(packed, format=ap.Format.FRACTAL_NZ)
    if kind == "int4":
        return ap.from_numpy(numbers.astype(np.int8).astype(ml_dtypes.int4))
    if kind == "int32":
        return place(nibbles(numbers))
    return place(nibbles(np.ascontiguousarray(numbers.T))).permute(1, 0)


def rounded_weight(numbers: Array, scale: Array, offset: Array | None, group: int) -> Array:
    k, n = numbers.shape
    rows = np.arange(k) // group if group else np.zeros(k, np.int64)
    table = np.broadcast_to(wide(scale), (int(rows.max()) + 1, n))[rows]
    shift = 0 if offset is None else np.broadcast_to(wide(offset), (int(rows.max()) + 1, n))[rows]
    return wide(((numbers + shift) * table).astype(np.float32).astype(scale.dtype))


@pytest.mark.parametrize(
    "kind", ["int8", "int8-transposed", "int8-blocks", "int4", "int32", "int32-rows"]
)
@pytest.mark.parametrize("group", [0, 32])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("offset", [False, True])
def test_weights_of_every_form(kind: str, group: int, dtype: np.dtype[Any], offset: bool) -> None:
    rng = np.random.default_rng(23)
    m, k, n = 5, 80, 40
    bound = 100 if kind.startswith("int8") else 7
    numbers = rng.integers(-bound, bound + 1, (k, n))
    x = rng.integers(-3, 4, (m, k)).astype(dtype)
    shape = (3, n) if group else (n,)
    scale = rng.uniform(0.01, 0.1, shape).astype(dtype)
    shift = rng.integers(-4, 5, shape).astype(dtype) if offset else None
    bias = rng.standard_normal(n).astype(np.float32 if dtype != np.float16 else dtype)
    oracle = wide(x) @ rounded_weight(numbers, scale, shift, group) + wide(bias)
    for layout in LAYOUTS:
        out = hollow((m, n), dtype, layout)
        ap.ops.weight_quant_batch_matmul_v2(
            place(x, layout),
            stored(numbers, kind),
            place(scale, layout),
            None if shift is None else place(shift, layout),
            None,
            None,
            place(bias),
            group,
            out,
        )
        assert_close(out.numpy(), oracle, scale=2, what=f"{kind} {layout}")


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 6), (6,)], ids=str)
def test_scales_of_one_value_or_one_per_column(shape: tuple[int, ...]) -> None:
    x, numbers = np.ones((2, 4), np.float16), np.arange(24).reshape(4, 6)
    scale = np.full(shape, 0.5, np.float16)
    out = hollow((2, 6), np.float16)
    ap.ops.weight_quant_batch_matmul_v2(
        place(x), stored(numbers, "int8"), place(scale), None, None, None, None, 0, out
    )
    assert_close(out.numpy(), np.ones((2, 4)) @ (numbers * 0.5))


def test_the_weight_itself_is_rounded() -> None:
    x, weight = np.full((1, 1), 10, np.float16), np.full((1, 1), 127, np.int8)
    out = hollow((1, 1), np.float16)
    ap.ops.weight_quant_batch_matmul_v2(
        place(x), place(weight), place(np.array([0.1], np.float16)), None, None, None, None, 0, out
    )
    assert out.numpy().item() == np.float16(126.9375)


def test_refusals() -> None:
    x, weight = place(np.ones((2, 64), np.float16)), place(np.ones((64, 8), np.int8))
    scale, out = place(np.ones(8, np.float16)), hollow((2, 8), np.float16)
    groups = place(np.ones((2, 8), np.float16))

    def status(**changes: Any) -> int:
        given = {
            "x": x,
            "weight": weight,
            "scale": scale,
            "offset": None,
            "quant": None,
            "shift": None,
            "bias": None,
            "group": 0,
            "y": out,
        } | changes
        return refusal(OPERATOR, *given.values())

    assert status(x=None) == 161001
    assert status(weight=None) == 161001
    assert status(scale=None) == 161001
    assert status(y=None) == 161001
    for group in (16, 33, 64):
        assert status(scale=groups, group=group) == 161002, group
    assert status(scale=groups) == 161002
    assert status(bias=place(np.ones(7, np.float16))) == 161002
    assert status(scale=place(np.ones(8, np.float32))) == 161002
    assert status(x=place(np.ones((2, 64), np.float32))) == 161002
    assert status(weight=place(np.ones((64, 8), np.int16))) == 161002
    assert status(y=hollow((2, 8), np.float32)) == 161002
    quantised = {"y": hollow((2, 8), np.int8), "quant": place(np.ones(8, np.uint64))}
    assert status(**quantised | {"quant": None}) == 161002
    assert status(**quantised | {"quant": place(np.ones(7, np.uint64))}) == 161002
    assert status(shift=place(np.ones(8, np.float32))) == 161002
    assert status(scale=place(np.ones(8, np.uint64))) == 161002, "8 columns are no multiple of 64"
    assert status(offset=place(np.ones(8, np.int32))) == 161002
    third = "aclnnWeightQuantBatchMatmulV3"
    assert refusal(third, x, weight, scale, None, None, None, None, 0, 2, out) == 161002


def third(x: ap.Tensor, weight: ap.Tensor, scale: Any, out: ap.Tensor, **more: Any) -> None:
    """WeightQuantBatchMatmulV3 with its optional arguments by name."""
    ap.ops.weight_quant_batch_matmul_v3(
        x,
        weight,
        scale,
        more.get("offset"),
        more.get("quant"),
        more.get("shift"),
        more.get("bias"),
        more.get("group", 0),
        more.get("precise", 0),
        out,
    )


FORMS = ["int8", "int8-transposed", "int8-blocks", "int8-blocks-transposed", "int4",
         "int4-transposed", "int4-blocks", "int32", "int32-rows"]  # fmt: skip


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("group", [0, 32, 96])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("offset", [False, True])
def test_a_few_rows_are_those_of_many(
    kind: str, group: int, dtype: np.dtype[Any], offset: bool
) -> None:
    """The path that never makes the weight gives the same bits as the one that does."""
    rng = np.random.default_rng(29)
    k, n = 608, 328
    bound = 128 if kind.startswith("int8") else 8
    numbers = rng.integers(-bound, bound, (k, n))
    scale = rng.uniform(1e-3, 0.1, (-(-k // group) if group else 1, n)).astype(dtype)
    scale[:, 200] = 1e-6  # its weights are below the normal range of float16
    shift = rng.uniform(-3, 3, scale.shape).astype(dtype) if offset else None
    x = rng.standard_normal((64, k)).astype(dtype)
    weight = stored(numbers, kind)
    many = hollow((64, n), dtype)
    given = {"offset": None if shift is None else place(shift), "group": group}
    third(place(x), weight, place(scale), many, **given)
    oracle = wide(x) @ rounded_weight(numbers, scale, shift, group)
    assert_close(many.numpy(), oracle, scale=8)
    for m in (1, 3, 4, 7, 8, 9, 20, 48):
        out = hollow((m, n), dtype)
        third(place(x[:m]), weight, place(scale), out, **given)
        assert (out.numpy() == many.numpy()[:m]).all(), m


@pytest.mark.parametrize("kind", [kind for kind in FORMS if kind != "int32-rows"])
@pytest.mark.parametrize("k", [6, 38, 302])
@pytest.mark.parametrize("n", [8, 72, 136])
def test_depths_and_columns_that_fill_no_vector(kind: str, k: int, n: int) -> None:
    rng = np.random.default_rng(37)
    numbers = rng.integers(-8, 8, (k, n))
    scale = rng.uniform(1e-3, 0.1, n).astype(np.float16)
    x = rng.standard_normal((64, k)).astype(np.float16)
    weight, many = stored(numbers, kind), hollow((64, n), np.float16)
    third(place(x), weight, place(scale), many)
    oracle = wide(x) @ rounded_weight(numbers, scale[None], None, 0)
    assert_close(many.numpy(), oracle, scale=8)
    for m in (1, 2, 5, 8, 13):
        out = hollow((m, n), np.float16)
        third(place(x[:m]), weight, place(scale), out)
        assert (out.numpy() == many.numpy()[:m]).all(), m


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("layout", ["dense", "transposed"])
def test_every_product_is_rounded_to_the_nearest(dtype: np.dtype[Any], layout: str) -> None:
    """All numbers times all mantissas, ties among them."""
    mantissas = 1024 if dtype == np.float16 else 128
    numbers = np.repeat(np.arange(-128, 128), mantissas)
    scale = np.tile((1 + np.arange(mantissas) / mantissas) / 256, 256).astype(dtype)
    weight = np.stack([np.roll(numbers, i) for i in range(8)])
    x = np.zeros((1, 8), dtype)
    x[0, 3] = 1
    out = hollow((1, numbers.size), dtype)
    third(place(x), place(weight.astype(np.int8), layout), place(scale), out)
    assert (out.numpy()[0] == rounded_weight(weight, scale[None], None, 0)[3].astype(dtype)).all()


@pytest.mark.parametrize("kind", ["int8", "int4"])
def test_weights_below_and_above_the_normal_range(kind: str) -> None:
    """Each weight is rounded as float16 is: in small steps, and to infinity."""
    numbers = np.arange(-8, 8)[None, :].repeat(2, 0)
    x = np.zeros((1, 2), np.float16)
    x[0, 0] = 1
    for size in (2.0**-24, 3e-6, 6e-5, 60000.0):
        scale = np.full((1,), size, np.float16)
        out = hollow((1, 16), np.float16)
        third(place(x), stored(numbers, kind), place(scale), out)
        with np.errstate(over="ignore", invalid="ignore"):
            weight = (numbers * wide(scale)).astype(np.float32).astype(np.float16)
            exact = weight[0] + np.where(np.isinf(weight[1]), np.nan, 0)
        assert np.array_equal(out.numpy()[0], exact.astype(np.float16), equal_nan=True), size


@pytest.mark.parametrize("kind", ["int8", "int4"])
@pytest.mark.parametrize("n", [16, 72])
def test_scales_at_the_end_of_the_range_of_bfloat16(kind: str, n: int) -> None:
    numbers = np.resize(np.arange(-8, 8), (2, n))
    x = np.zeros((1, 2), HALVES[1])
    x[0, 1] = 1
    for size in (2.0**-126, 2.0**-90, 2.0**120):
        scale = np.full((1,), size * 1.2421875, HALVES[1])
        out = hollow((1, n), HALVES[1])
        third(place(x), stored(numbers, kind), place(scale), out)
        assert (wide(out.numpy())[0] == rounded_weight(numbers, scale[None], None, 0)[1]).all()


@pytest.mark.parametrize("width", [1, 64])
def test_packed_scales_of_the_weight(width: int) -> None:
    rng = np.random.default_rng(31)
    m, k, n = 5, 128, 64
    numbers = rng.integers(-128, 128, (k, n))
    x = rng.standard_normal((m, k)).astype(np.float16)
    scale = rng.uniform(0.01, 0.1, width).astype(np.float16).astype(np.float32)
    offset = rng.integers(-128, 128, width).astype(np.int32)
    packed = ap.empty((width,), np.uint64)
    ap.ops.trans_quant_param_v2(place(scale), None, packed)
    out = hollow((m, n), np.float16)
    third(
        place(x),
        place(numbers.astype(np.int8), "transposed"),
        packed,
        out,
        offset=place(offset),
    )
    weight = ((numbers + offset) * wide(scale)).astype(np.float32).astype(np.float16)
    assert_close(out.numpy(), wide(x) @ wide(weight), scale=4)


@pytest.mark.parametrize("given", ["none", "argument", "packed"])
def test_quantised_results(given: str) -> None:
    rng = np.random.default_rng(37)
    m, k, n = 3, 64, 32
    numbers = rng.integers(-8, 8, (k, n))
    x = rng.integers(-2, 3, (m, k)).astype(np.float16)
    scale, quant = np.full(n, 0.5, np.float16), rng.choice([0.25, 0.5], n).astype(np.float32)
    offset, bias = rng.integers(-9, 9, n).astype(np.float32), np.arange(n).astype(np.float16)
    packed = ap.empty((n,), np.uint64)
    ap.ops.trans_quant_param_v2(place(quant), place(offset) if given == "packed" else None, packed)
    out = hollow((m, n), np.int8)
    third(
        place(x),
        stored(numbers, "int8"),
        place(scale),
        out,
        quant=packed,
        shift=place(offset) if given == "argument" else None,
        bias=place(bias),
    )
    exact = (wide(x) @ (numbers * 0.5) + wide(bias)) * quant + (0 if given == "none" else offset)
    assert (out.numpy() == np.clip(np.rint(exact), -128, 127)).all()


@pytest.mark.parametrize("shape", [(5, 24), (3, 5, 24), (20, 136)], ids=str)
@pytest.mark.parametrize("dtype", [ml_dtypes.int4, np.int32], ids=["int4", "int32"])
def test_numbers_are_packed(shape: tuple[int, ...], dtype: Any) -> None:
    rng = np.random.default_rng(41)
    numbers = rng.integers(-8, 8, shape).astype(np.int32)
    columns = shape[-1] if dtype is ml_dtypes.int4 else shape[-1] // 8
    out = ap.from_numpy(np.full((*shape[:-1], columns), 5, np.int8).astype(dtype))
    ap.ops.convert_weight_to_int4_pack(place(numbers, "transposed"), out)
    if dtype is np.int32:
        assert (out.numpy() == nibbles(numbers)).all()
    else:
        assert (out.numpy().astype(np.int32) == numbers).all()


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, np.int32], ids=["int4", "int32"])
@pytest.mark.parametrize("m", [1, 9])
def test_packed_blocks_are_weights(dtype: Any, m: int) -> None:
    rng = np.random.default_rng(43)
    k, n = 72, 136
    numbers = rng.integers(-8, 8, (k, n)).astype(np.int32)
    columns = n if dtype is ml_dtypes.int4 else n // 8
    blocks = ap.from_numpy(
        np.full((k, columns), 5, np.int8).astype(dtype), format=ap.Format.FRACTAL_NZ
    )
    ap.ops.convert_weight_to_int4_pack(place(numbers), blocks)
    x, scale = rng.integers(-3, 4, (m, k)).astype(np.float16), np.full(n, 0.5, np.float16)
    out = hollow((m, n), np.float16)
    third(place(x), blocks, place(scale), out)
    assert (out.numpy() == wide(x) @ (numbers * 0.5)).all()


def test_what_cannot_be_packed() -> None:
    name = "aclnnConvertWeightToINT4Pack"
    numbers = place(np.ones((4, 12), np.int32))
    few = ap.from_numpy(np.ones((4, 12), np.int8).astype(ml_dtypes.int4))
    assert refusal(name, None, few) == 161001
    assert refusal(name, numbers, None) == 161001
    assert refusal(name, place(np.ones((4, 12), np.float32)), few) == 161002
    assert refusal(name, numbers, place(np.ones((4, 12), np.int8))) == 161002
    assert refusal(name, numbers, place(np.ones((4, 2), np.int32))) == 161002
    assert refusal(name, place(np.ones((4, 11), np.int32)), few) == 161002
    assert refusal(name, place(np.ones(12, np.int32)), few) == 161002
    assert refusal(name, ap.empty((0, 12), np.int32), few) == 161002
    out = place(np.ones((4, 4), np.int32))[:, ::2]
    assert refusal(name, place(np.ones((4, 16), np.int32)), out) == 161002
