# SPDX-License-Identifier: Apache-2.0
"""QuantMatmulV3, V4, V5 and QuantMatmulWeightNz against whole sums, scaled by NumPy in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap
from aclnn_py.errors import AclnnError

from ..quantised import put_packed

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
BRAIN = np.dtype(ml_dtypes.bfloat16)
V3, V4 = "aclnnQuantMatmulV3", "aclnnQuantMatmulV4"
V5, NZ = "aclnnQuantMatmulV5", "aclnnQuantMatmulWeightNz"


def packed_scale(scale: Array, offset: Array | None = None) -> tuple[ap.Tensor, Array]:
    """The 64-bit parameter that TransQuantParamV2 makes, and the scale it holds."""
    out = ap.empty(scale.shape, np.uint64)
    ap.ops.trans_quant_param_v2(place(scale), None if offset is None else place(offset), out)
    return out, (scale.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def numbers(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Array:
    bound = 128 if kind == "int8" else 8
    return rng.integers(-bound, bound, shape)


def stacked(values: Array, kind: str, transposed: bool) -> ap.Tensor:
    """An operand as its kind; with its last two axes exchanged where a flag will say so."""
    if transposed:
        values = np.ascontiguousarray(np.swapaxes(values, -1, -2))
    return put_packed(values, kind)


def call(
    operator: str,
    x1: Any,
    x2: Any,
    scale: Any,
    out: Any,
    *,
    row: Any = None,
    offset: Any = None,
    bias: Any = None,
    t1: bool = False,
    t2: bool = False,
    group: int = 0,
) -> tuple[Any, ...]:
    """The arguments in the order of the operator."""
    if operator == V3:
        return (x1, x2, scale, offset, bias, t1, t2, out)
    if operator == V4:
        return (x1, x2, scale, offset, row, bias, t1, t2, out)
    return (x1, x2, row, scale, None, None, offset, None, bias, t1, t2, group, out)


def run(operator: str, *arguments: Any, **more: Any) -> None:
    names = {
        V3: "quant_matmul_v3",
        V4: "quant_matmul_v4",
        V5: "quant_matmul_v5",
        NZ: "quant_matmul_weight_nz",
    }
    getattr(ap.ops, names[operator])(*call(operator, *arguments, **more))


@pytest.mark.parametrize("operator", [V3, V4, V5])
@pytest.mark.parametrize("kind", ["int8", "int4", "int32"])
@pytest.mark.parametrize("t2", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_packed_scales_give_halves(operator: str, kind: str, t2: bool, bias: bool) -> None:
    rng = np.random.default_rng(1)
    m, k, n = 7, 304, 40
    a, b = numbers(rng, kind, (m, k)), numbers(rng, kind, (k, n))
    shift = rng.integers(-999, 999, n).astype(np.int32) if bias else None
    scale, held = packed_scale(rng.uniform(1e-4, 1e-3, n).astype(np.float32))
    out = hollow((m, n), np.float16)
    given = None if shift is None else place(shift)
    run(
        operator,
        stacked(a, kind, False),
        stacked(b, kind, t2),
        scale,
        out,
        bias=given,
        t2=t2,
    )
    sums = a @ b + (0 if shift is None else shift)
    assert_close(out.numpy(), sums * wide(held))


@pytest.mark.parametrize("operator", [V3, V4, V5, NZ])
@pytest.mark.parametrize("given", ["none", "argument", "packed"])
@pytest.mark.parametrize("width", [1, 33])
def test_bytes_out_of_bytes(operator: str, given: str, width: int) -> None:
    rng = np.random.default_rng(2)
    m, k, n = 5, 100, 33
    a, b = numbers(rng, "int8", (m, k)), numbers(rng, "int8", (k, n))
    factors = rng.choice(np.array([2.0**-9, 2.0**-10], np.float32), width)
    offset = rng.integers(-20, 20, width).astype(np.float32)
    scale, held = packed_scale(factors, offset if given == "packed" else None)
    t2 = operator in (V3, NZ)
    x2 = stacked(b, "int8", t2)
    if operator == NZ:
        x2 = ap.from_numpy(np.ascontiguousarray(b.T).astype(np.int8), format=ap.Format.FRACTAL_NZ)
    out = hollow((m, n), np.int8)
    run(
        operator,
        stacked(a, "int8", False),
        x2,
        scale,
        out,
        offset=place(offset) if given == "argument" else None,
        t2=t2,
    )
    exact = (a @ b) * wide(held) + (0 if given == "none" else wide(offset))
    assert (out.numpy() == np.clip(np.rint(exact), -128, 127)).all()


@pytest.mark.parametrize("operator", [V4, V5])
@pytest.mark.parametrize("kind", ["int8", "int4", "int32"])
@pytest.mark.parametrize(
    ("dtype", "scale_dtype", "bias_dtype"),
    [
        (np.float16, np.float32, np.float16),
        (np.float16, np.float32, np.float32),
        (np.float16, np.float32, np.int32),
        (BRAIN, BRAIN, BRAIN),
        (BRAIN, np.float32, np.float32),
        (BRAIN, BRAIN, np.int32),
        (BRAIN, np.float32, None),
    ],
    ids=str,
)
def test_a_scale_for_each_row(
    operator: str, kind: str, dtype: Any, scale_dtype: Any, bias_dtype: Any
) -> None:
    rng = np.random.default_rng(3)
    m, k, n = 6, 64, 24
    a, b = numbers(rng, kind, (m, k)), numbers(rng, kind, (k, n))
    column = rng.uniform(1e-3, 1e-2, n).astype(scale_dtype)
    row = rng.uniform(0.5, 2, m).astype(np.float32)
    bias = None if bias_dtype is None else rng.integers(-50, 50, n).astype(bias_dtype)
    out = hollow((m, n), dtype)
    given = None if bias is None else place(bias)
    run(
        operator,
        stacked(a, kind, False),
        stacked(b, kind, True),
        place(column),
        out,
        row=place(row),
        bias=given,
        t2=True,
    )
    whole = bias if bias_dtype == np.int32 else 0
    after = 0 if bias is None or bias_dtype == np.int32 else wide(bias)
    assert_close(out.numpy(), (a @ b + whole) * wide(column) * wide(row)[:, None] + after, scale=2)


@pytest.mark.parametrize("operator", [V3, V4, V5, NZ])
def test_whole_sums_take_no_scale(operator: str) -> None:
    rng = np.random.default_rng(4)
    m, k, n = 9, 700, 64
    a, b = numbers(rng, "int8", (m, k)), numbers(rng, "int8", (k, n))
    bias = rng.integers(-(2**20), 2**20, n).astype(np.int32)
    x2 = put_packed(b, "int8")
    if operator == NZ:
        x2 = ap.from_numpy(b.astype(np.int8), format=ap.Format.FRACTAL_NZ)
    out = hollow((m, n), np.int32)
    scale = place(np.full(1, 3, np.float32))
    run(operator, put_packed(a, "int8"), x2, scale, out, bias=place(bias))
    assert (out.numpy() == a @ b + bias).all()


def test_sums_of_32_bits_wrap_around() -> None:
    a, b = np.full((1, 60000), -128), np.full((60000, 1), -128)
    bias = np.full(1, 2**31 - 1, np.int32)
    out = hollow((1, 1), np.int32)
    scale = place(np.ones(1, np.float32))
    run(V4, put_packed(a, "int8"), put_packed(b, "int8"), scale, out, bias=place(bias))
    assert out.numpy().item() == (60000 * 128 * 128 + 2**31 - 1 + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("operator", [V3, V4, V5])
@pytest.mark.parametrize("t1", [False, True])
@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((3,), ()), ((), (2,)), ((2, 1), (1, 4)), ((2, 1, 1, 3), (3,))],
)
def test_stacks_broadcast(
    operator: str, t1: bool, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(5)
    m, k, n = 4, 32, 8
    a, b = numbers(rng, "int8", (*left, m, k)), numbers(rng, "int8", (*right, k, n))
    column = rng.uniform(1e-3, 1e-2, n).astype(np.float32)
    batch = np.broadcast_shapes(left, right)
    out = hollow((*batch, m, n), BRAIN)
    bias = rng.standard_normal((*batch, 1, n) if len(batch) == 1 else (n,)).astype(BRAIN)
    run(
        operator,
        stacked(a, "int8", t1),
        stacked(b, "int8", False),
        place(column),
        out,
        bias=place(bias),
        t1=t1,
    )
    assert_close(out.numpy(), (a @ b) * wide(column) + wide(bias), scale=2)


def test_views_with_exchanged_axes_are_read_as_they_lie() -> None:
    rng = np.random.default_rng(6)
    a, b = numbers(rng, "int8", (5, 32)), numbers(rng, "int8", (32, 8))
    x1, x2 = place(a.astype(np.int8), "transposed"), place(b.astype(np.int8), "transposed")
    for operator in (V3, V4, V5):
        out = hollow((5, 8), np.int32, "stepped")
        run(operator, x1, x2, place(np.ones(1, np.float32)), out)
        assert (out.numpy() == a @ b).all()
    few, narrow = numbers(rng, "int4", (5, 32)), numbers(rng, "int4", (32, 8))
    turned = put_packed(np.ascontiguousarray(narrow.T), "int32").permute(1, 0)
    scale, held = packed_scale(np.full(8, 0.5, np.float32))
    out = hollow((5, 8), np.float16)
    run(V4, put_packed(few, "int32"), turned, scale, out)
    assert_close(out.numpy(), (few @ narrow) * wide(held))


@pytest.mark.parametrize("kind", ["int8", "int4"])
@pytest.mark.parametrize("t2", [False, True])
def test_blocked_weights_of_any_size(kind: str, t2: bool) -> None:
    rng = np.random.default_rng(7)
    m, k, n = 3, 70, 50
    a, b = numbers(rng, kind, (m, k)), numbers(rng, kind, (k, n))
    stored = np.ascontiguousarray(b.T if t2 else b).astype(np.int8)
    dtype = np.int8 if kind == "int8" else ml_dtypes.int4
    column = rng.uniform(1e-3, 1e-2, n).astype(np.float32)
    row = rng.uniform(0.5, 2, m).astype(np.float32)
    out = hollow((m, n), BRAIN)
    bias = rng.standard_normal(n).astype(BRAIN)
    run(
        NZ,
        put_packed(a, kind),
        ap.from_numpy(stored.astype(dtype), format=ap.Format.FRACTAL_NZ),
        place(column),
        out,
        row=place(row),
        bias=place(bias),
        t2=t2,
    )
    assert_close(out.numpy(), (a @ b) * wide(column) * wide(row)[:, None] + wide(bias), scale=2)


def test_blocked_weights_of_4_bits_take_an_offset() -> None:
    rng = np.random.default_rng(8)
    a, b = numbers(rng, "int4", (3, 64)), numbers(rng, "int4", (64, 64))
    column = rng.uniform(1e-3, 1e-2, 64).astype(BRAIN)
    offset = rng.standard_normal(64).astype(np.float32)
    out = hollow((3, 64), BRAIN)
    x2 = ap.from_numpy(b.astype(np.int8).astype(ml_dtypes.int4), format=ap.Format.FRACTAL_NZ)
    run(NZ, put_packed(a, "int4"), x2, place(column), out, offset=place(offset))
    assert_close(out.numpy(), (a @ b) * wide(column) + wide(offset), scale=2)


@pytest.mark.parametrize("group", [0, 1 << 32 | 128 << 16 | 128])
@pytest.mark.parametrize("bias", [False, True])
def test_blocks_of_128(group: int, bias: bool) -> None:
    rng = np.random.default_rng(9)
    m, k, n = 5, 1024, 256
    a, b = numbers(rng, "int8", (m, k)), numbers(rng, "int8", (n, k))
    row = rng.uniform(1e-3, 1e-2, (m, k // 128)).astype(np.float32)
    column = rng.uniform(0.5, 2, (n // 128, k // 128)).astype(np.float32)
    shift = rng.standard_normal(n).astype(np.float32)
    out = hollow((m, n), BRAIN)
    run(
        V5,
        put_packed(a, "int8"),
        put_packed(b, "int8"),
        place(column),
        out,
        row=place(row),
        bias=place(shift) if bias else None,
        t2=True,
        group=group,
    )
    left = a * np.repeat(wide(row), 128, 1)
    right = b * np.repeat(np.repeat(wide(column), 128, 0), 128, 1)
    assert_close(out.numpy(), left @ right.T + (wide(shift) if bias else 0), scale=2)


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), BRAIN], ids=str)
def test_groups_of_256_with_an_offset(dtype: Any) -> None:
    rng = np.random.default_rng(10)
    m, k, n = 3, 1024, 256
    a, b = numbers(rng, "int4", (m, k)), numbers(rng, "int4", (n, k))
    row = rng.uniform(0.5, 2, (m, 1)).astype(np.float32)
    scale = rng.uniform(1e-3, 1e-2, (k // 256, n)).astype(np.float32)
    offset = rng.uniform(-3, 3, (k // 256, n)).astype(np.float16)
    out = hollow((m, n), dtype)
    run(
        V5,
        put_packed(a, "int4"),
        put_packed(b, "int4"),
        place(scale),
        out,
        row=place(row),
        offset=place(offset),
        t2=True,
        group=256,
    )
    right = (b.T - np.repeat(wide(offset), 256, 0)) * np.repeat(wide(scale), 256, 0)
    assert_close(out.numpy(), a @ right * wide(row), scale=4)


def test_a_result_over_an_operand() -> None:
    rng = np.random.default_rng(11)
    a, b = numbers(rng, "int8", (32, 32)), numbers(rng, "int8", (32, 32))
    x1 = put_packed(a, "int8")
    scale, held = packed_scale(np.full(1, 2.0**-9, np.float32))
    run(V4, x1, put_packed(b, "int8"), scale, x1)
    assert (x1.numpy() == np.clip(np.rint((a @ b) * wide(held)), -128, 127)).all()


def message(operator: str, *arguments: Any, **more: Any) -> str:
    """The text of the refusal, which must be 161002."""
    arguments = call(operator, *arguments, **more)
    assert refusal(operator, *arguments) == 161002
    names = {V3: "quant_matmul_v3", V4: "quant_matmul_v4", V5: "quant_matmul_v5"}
    with pytest.raises(AclnnError) as caught:
        getattr(ap.ops, names.get(operator, "quant_matmul_weight_nz"))(*arguments)
    return str(caught.value)


def test_refusals_name_the_parameter() -> None:
    x1, x2 = place(np.ones((3, 32), np.int8)), place(np.ones((32, 8), np.int8))
    packed, floats = place(np.ones(8, np.uint64)), place(np.ones(8, np.float32))
    half, brain = hollow((3, 8), np.float16), hollow((3, 8), BRAIN)
    row = place(np.ones(3, np.float32))
    assert refusal(V4, *call(V4, None, x2, packed, half)) == 161001
    assert refusal(V4, *call(V4, x1, None, packed, half)) == 161001
    assert refusal(V5, *call(V5, x1, x2, None, half)) == 161001
    assert refusal(V3, *call(V3, x1, x2, packed, None)) == 161001
    assert "scale has dtype FLOAT" in message(V3, x1, x2, floats, half)
    assert "pertokenScaleOptional is null" in message(V4, x1, x2, floats, half)
    assert "x1ScaleOptional is given" in message(V5, x1, x2, packed, half, row=row)
    assert "offsetOptional is given" in message(V4, x1, x2, floats, brain, offset=floats)
    assert "biasOptional has dtype FLOAT16" in message(
        V4, x1, x2, floats, brain, bias=place(np.ones(8, np.float16))
    )
    assert "out has dtype FLOAT" in message(V4, x1, x2, floats, hollow((3, 8), np.float32))
    assert "x2 has dtype INT32" in message(V4, x1, place(np.ones((32, 1), np.int32)), packed, half)
    assert "scale has shape (7," in message(V4, x1, x2, place(np.ones(7, np.uint64)), half)
    assert "biasOptional has shape (7," in message(
        V4, x1, x2, packed, half, bias=place(np.ones(7, np.int32))
    )
    assert "pertokenScaleOptional has shape" in message(V4, x1, x2, floats, half, row=floats)
    assert "x1 (3, 32) and x2 (31, 8)" in message(
        V4, x1, place(np.ones((31, 8), np.int8)), packed, half
    )
    assert "out has shape (3, 7)" in message(V4, x1, x2, packed, hollow((3, 7), np.float16))
    assert "x2 (2, 32, 8) does not broadcast" in message(
        V4,
        place(np.ones((3, 3, 32), np.int8)),
        place(np.ones((2, 32, 8), np.int8)),
        packed,
        hollow((3, 3, 8), np.float16),
    )
    assert "x1 is neither dense" in message(
        V4, place(np.ones((3, 32), np.int8), "stepped"), x2, packed, half
    )
    assert "x1 has shape (0, 32)" in message(
        V4, ap.empty((0, 32), np.int8), x2, packed, ap.empty((0, 8), np.float16)
    )
    assert "x2 has the format" in message(NZ, x1, x2, packed, half)
    assert "groupSize is 32" in message(V5, x1, x2, packed, half, group=32)
    wide_x = place(np.ones((1, 65536), np.int8)), place(np.ones((65536, 8), np.int8))
    assert "x1 has a last dimension of 65536" in message(
        V4, *wide_x, packed, hollow((1, 8), np.float16)
    )
    blocked = ap.from_numpy(np.ones((32, 8), np.int8), format=ap.Format.FRACTAL_NZ)
    assert "transposeX2 is false" in message(V3, x1, blocked, packed, half)


def test_refusals_of_4_bits() -> None:
    few, narrow = np.ones((4, 32), np.int8), np.ones((32, 8), np.int8)
    packed, half = place(np.ones(8, np.uint64)), hollow((4, 8), np.float16)
    x1, x2 = put_packed(few, "int4"), put_packed(narrow, "int4")
    assert "transposeX1 is true" in message(V4, x1, x2, packed, half, t1=True)
    blocked = ap.from_numpy(narrow.astype(ml_dtypes.int4), format=ap.Format.FRACTAL_NZ)
    assert "x2 has the format FRACTAL_NZ" in message(V4, x1, blocked, packed, half)
    odd = put_packed(np.ones((4, 33), np.int8), "int4")
    assert "must be even" in message(
        V4, odd, put_packed(np.ones((33, 8), np.int8), "int4"), packed, half
    )
    stack = put_packed(np.ones((2, 32, 8), np.int8), "int4")
    assert "x2 has 3 dimensions" in message(V4, x1, stack, packed, hollow((2, 4, 8), np.float16))


def test_refusals_of_groups() -> None:
    x1, x2 = place(np.ones((3, 512), np.int8)), place(np.ones((256, 512), np.int8))
    row, column = place(np.ones((3, 4), np.float32)), place(np.ones((2, 4), np.float32))
    out = hollow((3, 256), BRAIN)
    wrong = place(np.ones((4, 2), np.float32))
    assert "transposeX2 is false" in message(V5, x1, place(np.ones((512, 256), np.int8)), column,
                                             out, row=row)  # fmt: skip
    assert "x2Scale has shape (4, 2)" in message(V5, x1, x2, wrong, out, row=row, t2=True)
    assert "x1ScaleOptional has shape (2, 4)" in message(
        V5, x1, x2, column, out, row=column, t2=True
    )
    assert "a group of 64 along k" in message(V5, x1, x2, column, out, row=row, t2=True, group=64)
    short = place(np.ones((3, 256), np.int8)), place(np.ones((256, 256), np.int8))
    assert "multiple of 512" in message(V5, *short, column, out, row=row, t2=True)
