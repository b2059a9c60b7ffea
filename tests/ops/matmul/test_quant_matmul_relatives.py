# SPDX-License-Identifier: Apache-2.0
"""Products with quantised operands or results beside the main family, against NumPy in float64."""

from __future__ import annotations

from math import erf, pi
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap

from ..quantised import put_packed

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
BRAIN = np.dtype(ml_dtypes.bfloat16)


def filled_scale(scale: Array, offset: Array | None = None) -> tuple[ap.Tensor, Array]:
    """The parameters of 64 bits, filled up to a multiple of 16, and the scales they hold."""
    room = -(-scale.size // 16) * 16
    scales, offsets = np.zeros(room, np.float32), np.zeros(room, np.float32)
    scales[: scale.size] = scale
    if offset is not None:
        offsets[: scale.size] = offset
    out = ap.empty((room,), np.uint64)
    ap.ops.trans_quant_param_v2(place(scales), None if offset is None else place(offsets), out)
    return out, (scale.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def gelu(values: Array, kind: str) -> Array:
    if kind == "gelu_erf":
        return values * 0.5 * (1 + np.vectorize(erf)(values / np.sqrt(2)))
    return values * 0.5 * (1 + np.tanh(np.sqrt(2 / pi) * (values + 0.044715 * values**3)))


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("bias", [False, True])
def test_the_first_version(batch: tuple[int, ...], bias: bool) -> None:
    rng = np.random.default_rng(51)
    a, b = rng.integers(-128, 128, (*batch, 5, 40)), rng.integers(-128, 128, (*batch, 40, 24))
    shift = rng.integers(-999, 999, 24).astype(np.int32)
    out = hollow((*batch, 5, 24), np.float16)
    given = place(shift) if bias else None
    ap.ops.quant_matmul(put_packed(a, "int8"), put_packed(b, "int8"), given, 0.0078125, out)
    assert_close(out.numpy(), (a @ b + (shift if bias else 0)) * 0.0078125)


@pytest.mark.parametrize("t1", [False, True])
@pytest.mark.parametrize("t2", [False, True])
def test_the_second_version(t1: bool, t2: bool) -> None:
    rng = np.random.default_rng(52)
    a, b = rng.integers(-128, 128, (3, 5, 40)), rng.integers(-128, 128, (40, 24))
    shift = rng.integers(-999, 999, 24).astype(np.int32)
    scale, held = filled_scale(rng.uniform(1e-3, 1e-2, 24).astype(np.float32))
    out = hollow((3, 5, 24), np.float16)
    ap.ops.quant_matmul_v2(
        put_packed(np.ascontiguousarray(a.swapaxes(1, 2)) if t1 else a, "int8"),
        put_packed(np.ascontiguousarray(b.T) if t2 else b, "int8"),
        place(shift),
        scale,
        t1,
        t2,
        out,
    )
    assert_close(out.numpy(), (a @ b + shift) * wide(held))


def test_old_versions_take_empty_tensors() -> None:
    scale, _ = filled_scale(np.ones(8, np.float32))
    out = hollow((3, 8), np.float16)
    ap.ops.quant_matmul_v2(
        ap.empty((3, 0), np.int8), ap.empty((0, 8), np.int8), None, scale, False, False, out
    )
    assert (out.numpy() == 0).all()
    bias = place(np.ones(8, np.int32))
    arguments = (ap.empty((3, 0), np.int8), ap.empty((0, 8), np.int8), bias)
    assert refusal("aclnnQuantMatmulV2", *arguments, scale, False, False, out) == 161002
    assert refusal("aclnnQuantMatmul", *arguments, 1.0, out) == 161002
    nothing = ap.empty((0, 8), np.float16)
    ap.ops.quant_matmul(
        ap.empty((0, 4), np.int8), put_packed(np.ones((4, 8)), "int8"), bias, 1.0, nothing
    )


def test_refusals_of_the_old_versions() -> None:
    x1, x2 = put_packed(np.ones((2, 3, 4)), "int8"), put_packed(np.ones((4, 8)), "int8")
    out = hollow((2, 3, 8), np.float16)
    first, second = "aclnnQuantMatmul", "aclnnQuantMatmulV2"
    assert refusal(first, None, x2, None, 1.0, out) == 161001
    assert refusal(first, x1, x2, None, 1.0, out) == 161002, "stacks do not broadcast"
    assert refusal(second, x1, x2, None, None, False, False, out) == 161001
    short = place(np.ones(8, np.uint64))
    assert refusal(second, x1, x2, None, short, False, False, out) == 161002
    floats = place(np.ones(16, np.float32))
    assert refusal(second, x1, x2, None, floats, False, False, out) == 161002


@pytest.mark.parametrize("function", ["gelu_erf", "gelu_tanh"])
@pytest.mark.parametrize("kind", ["int8", "int4", "int32"])
@pytest.mark.parametrize(
    ("dtype", "scale_dtype", "bias_dtype"),
    [(np.float16, np.float32, np.float16), (BRAIN, BRAIN, np.int32), (BRAIN, np.float32, None)],
    ids=str,
)
@pytest.mark.parametrize("blocks", [False, True])
def test_gelu_of_a_product(
    function: str, kind: str, dtype: Any, scale_dtype: Any, bias_dtype: Any, blocks: bool
) -> None:
    rng = np.random.default_rng(53)
    m, k, n = 6, 64, 72
    bound = 128 if kind == "int8" else 8
    a, b = rng.integers(-bound, bound, (m, k)), rng.integers(-bound, bound, (k, n))
    column = rng.uniform(0.2, 1, n).astype(scale_dtype)
    row = (rng.uniform(1, 4, m) / (bound * bound * 3)).astype(np.float32)
    bias = None if bias_dtype is None else rng.integers(-2, 3, n).astype(bias_dtype)
    x2 = put_packed(b, kind)
    if blocks:
        x2 = ap.from_numpy(x2.numpy(), format=ap.Format.FRACTAL_NZ)
    out = hollow((m, n), dtype)
    arguments = (None, None, None, None, None if bias is None else place(bias), None, function, 0)
    name = "fused_quant_matmul_weight_nz" if blocks else "fused_quant_matmul"
    getattr(ap.ops, name)(put_packed(a, kind), x2, place(row), place(column), *arguments, out)
    whole = bias if bias_dtype == np.int32 else 0
    after = 0 if bias is None or bias_dtype == np.int32 else wide(bias)
    product = (a @ b + whole) * wide(column) * wide(row)[:, None] + after
    assert_close(out.numpy(), gelu(product, function), scale=2)


def test_refusals_of_products_with_gelu() -> None:
    x1, x2 = put_packed(np.ones((3, 4)), "int8"), put_packed(np.ones((4, 8)), "int8")
    row, column = place(np.ones(3, np.float32)), place(np.ones(8, np.float32))
    out, tail = hollow((3, 8), np.float16), (None,) * 4
    name = "aclnnFusedQuantMatmul"

    def status(operator: str = name, **changes: Any) -> int:
        given = {
            "x1": x1,
            "x2": x2,
            "row": row,
            "column": column,
            "bias": None,
            "x3": None,
            "kind": "gelu_erf",
            "group": 0,
        } | changes
        head = [given[key] for key in ("x1", "x2", "row", "column")]
        rest = [given[key] for key in ("bias", "x3", "kind", "group")]
        return refusal(operator, *head, *tail, *rest, out)

    for missing in ("x1", "x2", "row", "column"):
        assert status(**{missing: None}) == 161001, missing
    assert status(kind="relu") == 161002
    assert status(group=32) == 161002
    assert status(x3=out) == 161002
    assert status(column=place(np.ones(8, np.uint64))) == 161002
    assert status(operator=name + "WeightNz") == 161002, "x2 is not in FRACTAL_NZ"


@pytest.mark.parametrize("width", [1, 24])
@pytest.mark.parametrize("t1", [False, True])
@pytest.mark.parametrize("t2", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_halves_become_bytes(width: int, t1: bool, t2: bool, bias: bool) -> None:
    rng = np.random.default_rng(54)
    m, k, n = 5, 32, 24
    a = rng.integers(-4, 5, (m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (k, n)).astype(np.float16)
    shift = rng.integers(-9, 10, n).astype(np.float16)
    factors = rng.choice(np.array([0.25, 0.5, 2.0], np.float32), width)
    offset = rng.integers(-20, 20, width).astype(np.float32)
    scale, _ = filled_scale(factors, offset)
    out = hollow((m, n), np.int8)
    ap.ops.batch_matmul_quant(
        place(np.ascontiguousarray(a.T) if t1 else a),
        place(np.ascontiguousarray(b.T) if t2 else b),
        scale[:1] if width == 1 else scale,
        place(shift) if bias else None,
        t1,
        t2,
        out,
    )
    exact = (wide(a) @ wide(b) + (wide(shift) if bias else 0)) * factors + offset
    assert (out.numpy() == np.clip(np.rint(exact), -128, 127)).all()


def test_refusals_of_halves_that_become_bytes() -> None:
    name = "aclnnBatchMatmulQuant"
    a, b = place(np.ones((3, 4), np.float16)), place(np.ones((4, 8), np.float16))
    scale, out = place(np.ones(16, np.uint64)), hollow((3, 8), np.int8)
    assert refusal(name, None, b, scale, None, False, False, out) == 161001
    assert refusal(name, a, b, None, None, False, False, out) == 161001
    assert refusal(name, a, b, scale, None, True, False, out) == 161002
    assert refusal(name, a, b, scale, place(np.ones(7, np.float16)), False, False, out) == 161002
    short = place(np.ones(8, np.uint64))
    assert refusal(name, a, b, short, None, False, False, out) == 161002
    assert refusal(name, a, b, scale, None, False, False, hollow((3, 8), np.float16)) == 161002
    hollow_a = ap.empty((0, 4), np.float16)
    assert (
        refusal(name, hollow_a, b, scale, None, False, False, ap.empty((0, 8), np.int8)) == 161002
    )


def test_products_of_a_stack_are_added_up() -> None:
    rng = np.random.default_rng(55)
    batch, m, k, n = 4, 5, 48, 40
    a, b = rng.integers(-128, 128, (batch, m, k)), rng.integers(-128, 128, (batch, k, n))
    row = rng.uniform(1e-3, 1e-2, (batch, m)).astype(np.float32)
    column = rng.uniform(0.5, 2, n).astype(BRAIN)
    blocks = ap.from_numpy(b.astype(np.int8), format=ap.Format.FRACTAL_NZ)
    for layout in ("dense", "stepped"):
        out = hollow((m, n), BRAIN, layout)
        ap.ops.quant_matmul_reduce_sum_weight_nz(
            put_packed(a, "int8"),
            blocks,
            place(row, layout),
            place(column, layout),
            *(None,) * 5,
            False,
            False,
            0,
            [0],
            False,
            out,
        )
        exact = ((a @ b) * wide(row)[:, :, None] * wide(column)).sum(0)
        assert_close(out.numpy(), exact, scale=2)


def test_refusals_of_products_that_are_added_up() -> None:
    name = "aclnnQuantMatmulReduceSumWeightNz"
    x1 = put_packed(np.ones((2, 3, 4)), "int8")
    x2 = ap.from_numpy(np.ones((2, 4, 8), np.int8), format=ap.Format.FRACTAL_NZ)
    row, column = place(np.ones((2, 3), np.float32)), place(np.ones(8, BRAIN))
    out, none = hollow((3, 8), BRAIN), (None,) * 5

    def status(head: tuple[Any, ...], *tail: Any) -> int:
        return refusal(name, *head, *none, *tail, out)

    head, tail = (x1, x2, row, column), (False, False, 0, [0], False)
    for i in range(4):
        assert status((*head[:i], None, *head[i + 1 :]), *tail) == 161001, i
    assert status(head, True, *tail[1:]) == 161002
    assert status(head, False, True, *tail[2:]) == 161002
    assert status(head, False, False, 1, [0], False) == 161002
    assert status(head, False, False, 0, [1], False) == 161002
    assert status(head, False, False, 0, [0], True) == 161002
    assert status((x1, put_packed(np.ones((2, 4, 8)), "int8"), row, column), *tail) == 161002
    assert status((x1, x2, place(np.ones((3, 2), np.float32)), column), *tail) == 161002
    assert status((x1, x2, row, place(np.ones(7, BRAIN))), *tail) == 161002
