# SPDX-License-Identifier: Apache-2.0
"""Signs packed into bytes and back, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made
from helpers.numerics import assert_same
from helpers.operators import Array, hollow, op, place

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")

F32 = np.float32


def packed(x: Array) -> Array:
    return np.packbits(~(x < 0), bitorder="little")


def pack(count: int, size: int) -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        x = rng.integers(-2, 3, count).astype(dtype)
        return [In(x), size, Out(packed(x).reshape(size, -1))]

    return Case("SignBitsPack", build, f"{count}-{size}")


TestPack = suite([pack(14, 2), pack(16, 1), pack(1, 1), pack(2600, 5)])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", ["dense", "stepped"])
@pytest.mark.parametrize(("count", "size"), [(3, 4), (300, 2), (1, 8)])
def test_bytes_become_signs(count: int, size: int, layout: str, dtype: str) -> None:
    given = np.random.default_rng(count).integers(0, 256, count).astype(np.uint8)
    out = hollow((size, 8 * count // size), dtype, layout)
    op("aclnnSignBitsUnpack")(place(given, layout), size, dtype, out)
    bits = np.unpackbits(given, bitorder="little").reshape(size, -1)
    assert_same(out.numpy(), np.where(bits, 1, -1).astype(dtype))


def test_the_example_of_the_vendors_documents() -> None:
    x = np.array([5, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2], F32)
    out = hollow((2, 1), np.uint8)
    op("aclnnSignBitsPack")(place(x), 2, out)
    assert_same(out.numpy(), np.array([[159], [15]], np.uint8))


def test_zeros_and_nan_are_not_negative() -> None:
    x = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, -1e-45], F32)
    out = hollow((1, 1), np.uint8)
    op("aclnnSignBitsPack")(place(x), 1, out)
    assert_same(out.numpy(), np.array([[0b01011111]], np.uint8))


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_950_packs_negative_signs_from_the_highest_bit_on() -> None:
    x = np.random.default_rng(4).normal(size=1003).astype(F32)
    x[:3] = 0.0, -0.0, np.nan  # none is negative
    padded = np.append(x < 0, np.ones(5, bool))
    with Chip950() as newer:
        (out,) = newer.operator("sign_bits_pack", Given(x, "float32"), 2, Made((2, 63), "uint8"))
        assert_same(out.ravel(), np.packbits(padded))
        (back,) = newer.operator(
            "sign_bits_unpack",
            Given(out.ravel(), "uint8"),
            1,
            "float32",
            Made((1, 1008), "float32"),
        )
    bits = np.unpackbits(out.ravel(), bitorder="little")
    assert_same(back.ravel(), np.where(bits, 1, -1).astype(F32))


def test_no_numbers() -> None:
    for size in (0, 3):
        op("aclnnSignBitsPack")(place(np.zeros(0, F32)), size, hollow((size, 0), np.uint8))
    op("aclnnSignBitsUnpack")(place(np.zeros(0, np.uint8)), 2, "float32", hollow((2, 0), F32))


def test_refusals() -> None:
    name, x, out = "aclnnSignBitsPack", hollow((14,), F32), hollow((2, 1), np.uint8)
    for size in (-1, 0, 3):
        assert f"size is {size}" in message(name, 161002, [x, size, out])
    assert "self has 2 dim" in message(name, 161002, [x.reshape(2, 7), 2, out])
    assert "out has shape" in message(name, 161002, [x, 1, out])
    name, x, out = "aclnnSignBitsUnpack", hollow((2,), np.uint8), hollow((2, 8), F32)
    for size in (-1, 0, 3):
        assert f"size is {size}" in message(name, 161002, [x, size, "float32", out])
    assert "out has dtype" in message(name, 161002, [x, 2, "float16", out])
    assert "self has 2 dim" in message(name, 161002, [x.reshape(2, 1), 2, "float32", out])
    assert "out has shape" in message(name, 161002, [x, 4, "float32", out])
