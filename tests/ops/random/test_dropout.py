# SPDX-License-Identifier: Apache-2.0
"""Dropout: the bits of masks, the elements they keep, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, hollow, op, place, refusal

import aclnn_py as ap

from ..problems import message
from .philox_oracle import units

pytestmark = pytest.mark.usefixtures("device")

FLOATS = ("FLOAT", "FLOAT16", "BFLOAT16")
SEED, OFFSET, PROB = 7, 4, 0.375
SCALE = np.float32(1 / (1 - PROB))


def kept_of(count: int, prob: float = PROB, seed: int = SEED, offset: int = OFFSET) -> Array:
    return units(seed, offset, count) >= prob


def drawn(count: int, prob: float = PROB, seed: int = SEED, offset: int = OFFSET) -> Array:
    """The mask of elements: lowest bit first, up to a multiple of 128 bits, all of them drawn."""
    return packed(kept_of(-(-count // 128) * 128, prob, seed, offset))


def packed(kept: Array) -> Array:
    """The mask of elements: lowest bit first, and 0 up to a multiple of 128 bits."""
    padded = np.zeros(-(-kept.size // 128) * 128, np.uint8)
    padded[: kept.size] = kept.ravel()
    return np.packbits(padded, bitorder="little")


def values(shape: tuple[int, ...], dtype: Any) -> Array:
    return np.random.default_rng(3).normal(size=shape).astype(dtype)


def scaled(x: Array, kept: Array, scale: np.float32, result: Any) -> Array:
    """One product in float32, rounded once."""
    return (np.where(kept.reshape(x.shape), x.astype(np.float32) * scale, 0)).astype(result)


def test_a_mask_has_one_bit_for_each_element() -> None:
    for shape in [[3, 50], [128], [1], [7, 300], [], [0, 4]]:
        expected = drawn(int(np.prod(shape)))
        for layout in ("dense", "stepped"):
            out = hollow(expected.shape, np.uint8, layout)
            op("aclnnDropoutGenMask")(shape, PROB, SEED, OFFSET, out)
            assert_same(out.numpy(), expected, f"{shape} {layout}")


def test_all_forms_of_a_mask_agree() -> None:
    expected = drawn(300, seed=11, offset=9)
    out = hollow(expected.shape, np.uint8)
    for dtype in ("float32", "float16", "bfloat16"):
        op("aclnnDropoutGenMaskV2")([300], PROB, 11, 9, dtype, out)
        assert_same(out.numpy(), expected)
        out.copy_from(np.full(expected.shape, 77, np.uint8))
    seed, start = place(np.array([11])), place(np.array([4]))
    op("aclnnDropoutGenMaskV2Tensor")([300], PROB, seed, start, 5, "float32", out)
    assert_same(out.numpy(), expected)


def test_a_mask_without_chance_is_all_bits_or_none() -> None:
    out = hollow((32,), np.uint8)
    op("aclnnDropoutGenMask")([200], 0.0, 1, 0, out)
    assert_same(out.numpy(), np.full(32, 255, np.uint8))
    op("aclnnDropoutGenMask")([200], 1.0, 1, 0, out)
    assert_same(out.numpy(), np.zeros(32, np.uint8))


@pytest.mark.parametrize("name", ["FLOAT16", "BFLOAT16"])
def test_the_probability_of_a_mask_has_its_dtype(name: str) -> None:
    out = hollow((4096,), np.uint8)
    rounded = float(np.asarray(np.float32(0.3)).astype(NUMPY[name]))
    op("aclnnDropoutGenMaskV2")([2**15], 0.3, 2, 0, name.lower(), out)
    assert_same(out.numpy(), drawn(2**15, rounded, 2, 0))
    op("aclnnDropoutGenMaskV2")([2**15], 0.9999, 2, 0, name.lower(), out)  # 1 in both dtypes
    assert_same(out.numpy(), np.zeros(4096, np.uint8))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("prob", [0.1, 0.7, 0.001])
def test_the_scale_is_made_of_a_probability_of_the_dtype(name: str, prob: float) -> None:
    x = values((3, 50), NUMPY[name])
    share = np.asarray(np.float32(1 - prob)).astype(NUMPY[name]).astype(np.float32)
    kept, scale = kept_of(150), np.float32(1) / share
    expected, mask = scaled(x, kept, scale, NUMPY[name]), place(packed(kept))
    for operator, factor in [("DropoutDoMask", prob), ("DropoutBackward", 1 / (1 - prob))]:
        out = hollow(x.shape, NUMPY[name])
        op("aclnn" + operator)(place(x), mask, factor, out)
        assert_same(out.numpy(), expected, f"{operator} {name} {prob}")
    out = hollow(x.shape, NUMPY[name])
    op("aclnnDropout")(place(x), prob, True, SEED, OFFSET, out, hollow((32,), np.uint8))
    assert_same(out.numpy(), scaled(x, kept_of(150, prob), scale, NUMPY[name]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_mask_keeps_and_scales(layout: str) -> None:
    kept = kept_of(60)
    mask = place(packed(kept), layout)
    for name in FLOATS:
        x = values((3, 20), NUMPY[name])
        for result in {NUMPY[name], NUMPY["FLOAT"]}:
            expected = scaled(x, kept, SCALE, result)
            for operator, factor in [("DropoutDoMask", PROB), ("DropoutBackward", 1 / (1 - PROB))]:
                out = hollow(x.shape, result, layout)
                op("aclnn" + operator)(place(x, layout), mask, factor, out)
                assert_same(out.numpy(), expected, f"{operator} {name} {layout}")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dropout_draws_and_applies_its_mask(layout: str) -> None:
    kept = kept_of(2100)
    for name in FLOATS:
        x = values((30, 70), NUMPY[name])
        out = hollow(x.shape, NUMPY[name], layout)
        mask = hollow(packed(kept).shape, np.uint8, layout)
        op("aclnnDropout")(place(x, layout), PROB, True, SEED, OFFSET, out, mask)
        assert_same(mask.numpy(), drawn(2100), f"{name} {layout}")
        assert_same(out.numpy(), scaled(x, kept, SCALE, NUMPY[name]), f"{name} {layout}")


def test_the_result_may_overwrite_its_operand() -> None:
    x, kept = values((5, 70), np.float32), kept_of(350)
    shared, mask = place(x), hollow(packed(kept).shape, np.uint8)
    op("aclnnDropout")(shared, PROB, True, SEED, OFFSET, shared, mask)
    assert_same(shared.numpy(), scaled(x, kept, SCALE, np.float32))
    # The source is read in full where the result lies across it.
    memory = np.arange(400, dtype=np.float32)
    whole = place(memory)
    op("aclnnDropoutDoMask")(whole[:350], mask, PROB, whole[50:])
    assert_same(whole[50:].numpy(), scaled(memory[:350], kept, SCALE, np.float32))


def test_nothing_to_draw_leaves_the_mask_alone() -> None:
    x = values((3, 5), np.float32)
    x[0, 0], x[1, 1] = np.nan, np.inf
    for prob, train, expected in [
        (0.0, True, x),
        (0.5, False, x),
        (1.0, False, x),
        (1.0, True, np.zeros_like(x)),
    ]:
        out, mask = hollow(x.shape, np.float32), hollow((16,), np.uint8)
        op("aclnnDropout")(place(x), prob, train, SEED, OFFSET, out, mask)
        np.testing.assert_array_equal(out.numpy(), expected)
        assert_same(mask.numpy(), np.full(16, 77, np.uint8))


@pytest.mark.parametrize(
    ("operator", "factor", "bits", "keeps"),
    [
        ("DropoutDoMask", 0.0, 0, True),
        ("DropoutBackward", 1.0, 0, True),
        ("DropoutDoMask", 1.0, 255, False),
        ("DropoutBackward", 0.0, 255, False),
    ],
)
def test_some_factors_need_no_mask(operator: str, factor: float, bits: int, keeps: bool) -> None:
    x, mask = values((3, 5), np.float32), place(np.full(16, bits, np.uint8))
    out = hollow(x.shape, np.float16)
    op("aclnn" + operator)(place(x), mask, factor, out)
    assert_same(out.numpy(), (x if keeps else np.zeros_like(x)).astype(np.float16))


def test_what_is_not_kept_becomes_zero_whatever_it_was() -> None:
    x = np.full(128, np.nan, np.float32)
    out = hollow((128,), np.float32)
    op("aclnnDropoutDoMask")(place(x), place(np.zeros(16, np.uint8)), 0.5, out)
    assert_same(out.numpy(), np.zeros(128, np.float32))


def test_empty_tensors() -> None:
    none, mask = hollow((0, 3), np.float32), hollow((0,), np.uint8)
    op("aclnnDropoutDoMask")(none, mask, 0.5, none)
    op("aclnnDropout")(none, 0.5, True, 0, 0, none, mask)
    assert none.numpy().shape == (0, 3)


def test_bad_masks_and_probabilities_are_refused() -> None:
    x, mask = hollow((3, 50), np.float32), hollow((32,), np.uint8)
    short = hollow((19,), np.uint8)
    square = hollow((2, 16), np.uint8)
    gen, do = "aclnnDropoutGenMask", "aclnnDropoutDoMask"
    back, whole = "aclnnDropoutBackward", "aclnnDropout"
    assert "expected 32 bytes" in message(gen, 161002, ([3, 50], 0.5, 1, 0, short))
    assert "out" in message(gen, 161002, ([3, 50], 0.5, 1, 0, square))
    assert "extent of -3" in message(gen, 161002, ([-3, 50], 0.5, 1, 0, mask))
    assert "64 bits" in message(gen, 161002, ([2**62, 2**62], 0.5, 1, 0, mask))
    for prob in (-0.1, 1.5, float("nan")):
        assert "from 0 to 1" in message(gen, 161002, ([3, 50], prob, 1, 0, mask))
        assert "from 0 to 1" in message(do, 161002, (x, mask, prob, x))
        assert "from 0 to 1" in message(whole, 161002, (x, prob, False, 1, 0, x, mask))
    assert "0, or 1 or more" in message(back, 161002, (x, mask, 0.5, x))
    assert refusal("aclnnDropoutGenMaskV2", [3, 50], 0.5, 1, 0, "int32", mask) == 161002
    for operator, arguments in [(do, (x, short, 0.5, x)), (back, (x, short, 2.0, x))]:
        assert "mask has shape (19" in message(operator, 161002, arguments)
    assert "maskOut has shape" in message(whole, 161002, (x, 0.5, True, 1, 0, x, short))
    other = hollow((50, 3), np.float32)
    assert refusal(do, x, mask, 0.5, other) == 161002
    assert refusal(do, x, None, 0.5, x) == 161001
    assert refusal(gen, None, 0.5, 1, 0, mask) == 161001
    assert refusal(back, place(np.float32(1)), hollow((16,), np.uint8), 2.0, x) == 161002
    assert refusal(do, hollow((3, 50), np.float64), mask, 0.5, x) == 161002


def test_drawing_executors_do_not_become_repeatable() -> None:
    mask = hollow((16,), np.uint8)
    with pytest.raises(ap.errors.AclnnError) as caught:
        ap.plan(ap.ops.dropout_gen_mask, [9], 0.5, 0, 0, mask, repeatable=True)
    assert caught.value.status == 561000


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_forms_of_a_950(newer: Chip950) -> None:
    x, kept = values((3, 50), np.float32), kept_of(150)
    given, made = Given(x, "float32"), Made((3, 50), "float32")
    out, mask = newer.operator(
        "dropout_v3", given, None, PROB, SEED, OFFSET, made, Made((32,), "uint8")
    )
    assert_same(out, scaled(x, kept, SCALE, np.float32))
    assert_same(mask, packed(kept))
    odd = x.copy()
    odd[0, :2] = np.nan, np.inf
    bits = np.zeros((3, 50), np.float32)
    bits.ravel()[: kept.size] = kept
    (grad,) = newer.operator(
        "dropout_v3_grad", Given(odd, "float32"), Given(packed(kept), "uint8"), 2.0, made
    )
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(grad, odd * bits * np.float32(2))
    refused = newer.operator("dropout_v3", given, None, PROB, SEED, 6, made, Made((32,), "uint8"))
    assert isinstance(refused, Refused)
    assert "multiple of 4" in refused.text
    with np.errstate(invalid="ignore"):
        expected = odd * bits * SCALE
    out, _ = newer.operator(
        "dropout_v3", Given(odd, "float32"), None, PROB, SEED, OFFSET, made, Made((32,), "uint8")
    )
    np.testing.assert_array_equal(out, expected)
    for prob, expected, byte in [(0.0, odd, 255), (1.0, np.zeros_like(odd), 0)]:
        out, mask = newer.operator(
            "dropout_v3", Given(odd, "float32"), None, prob, 1, 0, made, Made((32,), "uint8")
        )
        np.testing.assert_array_equal(out, expected)
        assert_same(mask, np.full(32, byte, np.uint8))
    # 0.999 is 1 in this dtype: the kernel does not look at the mask.
    codes = np.arange(0x3F80, 0x3F80 + 128, dtype=np.uint16)
    (out,) = newer.operator(
        "dropout_do_mask",
        Given(codes, "bfloat16"),
        Given(np.zeros(16, np.uint8), "uint8"),
        0.001,
        Made((128,), "bfloat16"),
    )
    assert_same(out.view(np.uint16), codes)
    factors = np.arange(150, dtype=np.uint8).reshape(3, 50)
    (product,) = newer.operator(
        "masked_scale", given, Given(factors, "uint8", stepped=True), 1.5, made
    )
    assert_same(product, x * factors.astype(np.float32) * np.float32(1.5))


def test_a_910b_refuses_the_forms_of_a_950() -> None:
    x, mask = hollow((3,), np.float32), hollow((16,), np.uint8)
    assert "950 series" in message("aclnnDropoutV3", 161002, (x, None, 0.5, 1, 0, x, mask))
    assert refusal("aclnnDropoutV3Grad", x, mask, 2.0, x) == 161002
    assert refusal("aclnnMaskedScale", x, x, 2.0, x) == 161002
    assert refusal("aclnnDropoutV3Grad", None, mask, 2.0, x) == 161001
