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
    assert status(**quantised) == 561003
