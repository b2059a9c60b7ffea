# SPDX-License-Identifier: Apache-2.0
"""Values rounded to few bits, products of them, and the way back."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import place, wide

import aclnn_py as ap
from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def within_half_a_step(codes: Array, exact: Array) -> None:
    assert np.abs(wide(codes) - exact).max() <= 0.5 + 1e-2


def test_dynamic_quant() -> None:
    x, smooth = normal(1, 3, 16), np.linspace(0.5, 2, 16).astype(np.float16)
    for factors, groups, rows in (
        (None, None, np.ones(16)),
        (smooth, None, wide(smooth)),
        (np.stack([smooth, smooth * 2]), np.array([1, 3], np.int32),
         np.stack([smooth, smooth * 2, smooth * 2]).astype(float)),
    ):  # fmt: skip
        out, scale = functional.dynamic_quant(
            place(x),
            smooth_scales=None if factors is None else place(factors),
            group_index=None if groups is None else place(groups),
        )
        exact = wide(x) * rows
        assert_close(scale.numpy(), np.abs(exact).max(axis=1) / 127, scale=8)
        within_half_a_step(out.numpy(), exact / wide(scale.numpy())[:, None])
    out, scale = functional.dynamic_quant(place(x), dtype="int4")
    assert out.dtype_name == "int4"
    within_half_a_step(out.numpy().astype(np.int8), wide(x) / wide(scale.numpy())[:, None])


def test_dynamic_quant_asymmetric() -> None:
    x = normal(1, 3, 16) + np.float16(4)
    out, scale, offset = functional.dynamic_quant_asymmetric(place(x))
    back = (wide(out.numpy()) - offset.numpy()[:, None]) * scale.numpy()[:, None]
    spread = wide(x).max(axis=1) - wide(x).min(axis=1)
    assert_close(scale.numpy(), spread / 255, scale=8)
    assert np.abs(back - wide(x)).max() <= spread.max() / 255


def test_dynamic_block_quant() -> None:
    x = normal(1, 2, 3, 300)
    codes, scale = functional.dynamic_block_quant(place(x))
    wide_x = np.pad(wide(x), ((0, 0), (0, 0), (0, 84))).reshape(2, 3, 3, 128)
    assert_close(scale.numpy(), np.abs(wide_x).max(axis=3) / 127, scale=8)
    within_half_a_step(codes.numpy(), wide(x) / wide(scale.numpy()).repeat(128, 2)[..., :300])
    _, limited = functional.dynamic_block_quant(place(x), min_scale=1000.0)
    assert_close(limited.numpy(), np.full((2, 3, 3), 1e-3, np.float32))
    for size in ((128,), (0, 128), (1, 2, 3)):
        with pytest.raises(ap.errors.InvalidArgumentError, match="expected 2 positive"):
            functional.dynamic_block_quant(place(x), block_size=size)
    with pytest.raises(ap.errors.InvalidArgumentError, match="expected at least 2"):
        functional.dynamic_block_quant(place(x[0, 0]))


def test_products_with_weights_in_blocks() -> None:
    x, weight, base = normal(1, 5, 48), normal(2, 48, 32), normal(3, 32)
    held = ap.from_numpy(weight, format=ap.Format.FRACTAL_NZ)
    exact = wide(x) @ wide(weight)
    assert_close(functional.matmul(place(x), held).numpy(), exact, scale=20)
    out = functional.addmm(place(base), place(x), held, beta=2, alpha=0.5)
    assert_close(out.numpy(), 2 * wide(base) + 0.5 * exact, scale=20)
    stack, weights = normal(4, 3, 5, 48), normal(5, 3, 48, 32)
    held = ap.from_numpy(weights, format=ap.Format.FRACTAL_NZ)
    exact = wide(stack) @ wide(weights)
    assert_close(functional.bmm(place(stack), held).numpy(), exact, scale=20)
    out = functional.transpose_batch_matmul(place(stack), held)
    assert_close(out.numpy(), exact.transpose(1, 0, 2), scale=20)


def test_group_quant() -> None:
    x = normal(2, 5, 16)
    scale, ends = np.stack([np.full(16, 8.0), np.arange(16.0)]).astype(np.float16), [2, 5]
    out = functional.group_quant(
        place(x), place(scale), place(np.array(ends, np.int32)), place(np.ones(1, np.float16))
    )
    exact = wide(x) * np.repeat(wide(scale), [2, 3], 0) + 1
    within_half_a_step(out.numpy(), exact)


def test_given_scales_there_and_back() -> None:
    x, scale = normal(1, 3, 16), np.full(16, 32, np.float16)
    codes = functional.quantize(place(x), place(scale))
    assert_same(codes.numpy(), np.clip(np.rint(wide(x) * 32), -128, 127).astype(np.int8))
    factors = place(np.full(16, 1 / 32, np.float32))
    back = functional.anti_quant(codes, factors, dtype="bfloat16")
    assert back.dtype_name == "bfloat16"
    assert_close(back.numpy(), wide(codes.numpy()) / 32)


def test_swiglu_quant() -> None:
    x = normal(1, 3, 64)
    out, scale = functional.swiglu_quant(place(x), activate_left=True)
    gate, linear = np.split(wide(x), 2, axis=1)
    exact = gate / (1 + np.exp(-gate)) * linear
    assert_close(scale.numpy(), np.abs(exact).max(axis=1) / 127, scale=8)
    within_half_a_step(out.numpy(), exact / wide(scale.numpy())[:, None])


@pytest.mark.parametrize("blocks", [False, True])
def test_a_product_of_quantised_rows(blocks: bool) -> None:
    x, weight = normal(1, 5, 64), normal(2, 64, 32)
    codes, token = functional.dynamic_quant(place(x))
    assert_close(token.numpy(), np.abs(wide(x)).max(axis=1) / 127, scale=8)
    columns = np.abs(wide(weight)).max(axis=0) / 127
    whole = np.rint(wide(weight) / columns).astype(np.int8)
    held = ap.from_numpy(whole, format=ap.Format.FRACTAL_NZ) if blocks else place(whole)
    scale = place(columns.astype(np.float32))
    out = functional.quant_matmul(codes, held, scale, pertoken_scale=token)
    exact = wide(codes.numpy()) @ wide(whole) * columns.astype(np.float32) * token.numpy()[:, None]
    assert_close(out.numpy(), exact)
    bias = np.arange(32, dtype=np.int32)
    out = functional.quant_matmul(
        codes, held, scale, bias=place(bias), pertoken_scale=token, output_dtype="bfloat16"
    ) if not blocks else out  # fmt: skip
    if not blocks:
        sums = wide(codes.numpy()) @ wide(whole) + bias
        assert_close(out.numpy(), sums * columns.astype(np.float32) * token.numpy()[:, None])


def test_a_transposed_weight_and_packed_scales() -> None:
    rng = np.random.default_rng(3)
    x, weight = (rng.integers(-99, 99, s).astype(np.int8) for s in ((3, 32), (8, 32)))
    scale = functional.trans_quant_param(place(np.full(8, 2.0**-9, np.float32)))
    out = functional.quant_matmul(place(x), place(weight).T, scale, output_dtype="int8")
    exact = np.clip(np.rint(wide(x) @ wide(weight).T * 2.0**-9), -128, 127)
    assert_same(out.numpy(), exact.astype(np.int8))


def test_a_weight_packed_to_4_bits() -> None:
    x, codes = normal(1, 3, 64), np.random.default_rng(2).integers(-8, 8, (64, 32))
    packed = functional.convert_weight_to_int4_pack(place(codes.astype(np.int32)))
    assert (packed.shape, packed.dtype_name) == ((64, 4), "int32")
    low = ap.from_numpy(codes.astype(ml_dtypes.int4))
    scale = place(np.full(32, 0.25, np.float16))
    expected = wide(x) @ (codes * 0.25)
    out = functional.weight_quant_batchmatmul(place(x), low, scale)
    assert_close(out.numpy(), expected, scale=4)


def test_transpose_batch_matmul() -> None:
    x, weight = normal(1, 5, 4, 7), normal(2, 4, 7, 3)
    out = functional.transpose_batch_matmul(place(x), place(weight), perm_x1=(1, 0, 2))
    assert_close(out.numpy(), np.einsum("mbk,bkn->mbn", wide(x), wide(weight)), scale=4)
    with pytest.raises(ValueError, match="perm_x2: "):
        functional.transpose_batch_matmul(place(x), place(weight), perm_x2=(0, 0, 1))
