# SPDX-License-Identifier: Apache-2.0
"""Numbers coded without loss, and back, bit for bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import Array, hollow, op, place

import aclnn_py as ap

from ..problems import fault, message

pytestmark = pytest.mark.usefixtures("device")

ENCODE, DECODE = "aclnnHansEncode", "aclnnHansDecode"
KINDS = [np.float32, np.float16, ml_dtypes.bfloat16]


def rooms(count: int, dtype: Any, fixed: int, var: int, layout: str = "dense") -> list[ap.Tensor]:
    """The parts of a code: the bytes without exponents, the code and its rest."""
    width = np.dtype(dtype).itemsize
    sizes = (count * (width - 1) // width, fixed // width, var // width)
    return [hollow((size,), dtype, layout) for size in sizes]


def bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)


def exponents(array: Array) -> Array:
    return bits(array).reshape(-1, array.dtype.itemsize)[:, -1]


@pytest.mark.parametrize("layout", ["dense", "stepped"])
@pytest.mark.parametrize("statistic", [True, False])
@pytest.mark.parametrize("dtype", KINDS, ids=lambda kind: np.dtype(kind).name)
def test_what_is_decoded_is_what_was_encoded(dtype: Any, statistic: bool, layout: str) -> None:
    x = np.random.default_rng(1).standard_normal((512, 257))[:, :256].astype(dtype)
    x[0, :6] = [0.0, -0.0, np.nan, np.inf, -np.inf, 6e-8]
    counts = np.bincount(exponents(x), minlength=256).astype(np.int32)[None]
    pdf = hollow((1, 256), np.int32, layout) if statistic else place(counts, layout)
    parts = rooms(x.size, dtype, x.size * 3 // 4, x.size // 2, layout)
    op(ENCODE)(place(x, layout), pdf, statistic, False, *parts)
    assert_same(pdf.numpy(), counts, "occurrences of each byte")
    out = hollow(x.shape, dtype, layout)
    op(DECODE)(*parts, pdf, False, out)
    assert_same(bits(out.numpy()), bits(x))


def test_normal_numbers_take_less_than_half_of_their_exponents() -> None:
    x = np.random.default_rng(2).standard_normal(1 << 17).astype(np.float32)
    parts = rooms(x.size, np.float32, x.size // 2, 4)
    pdf = hollow((1, 256), np.int32)
    op(ENCODE)(place(x), pdf, True, True, *parts)
    out = hollow(x.shape, np.float32)
    op(DECODE)(*parts, pdf, True, out)
    assert_same(out.numpy(), x)


@pytest.mark.parametrize("counted", [True, False])
def test_numbers_that_cannot_be_coded_shorter_take_little_more(counted: bool) -> None:
    """Also with frequencies that name none of the bytes there are."""
    x = np.random.default_rng(3).integers(0, 2**16, 70_016).astype(np.uint16).view(np.float16)
    pdf = np.full((1, 256), -1, np.int32)
    pdf[0, 7] = 2**31 - 1
    given = hollow((1, 256), np.int32) if counted else place(pdf)
    parts = rooms(x.size, np.float16, 70_016 + 512 + 8, 64)
    op(ENCODE)(place(x), given, counted, False, *parts)
    out = hollow(x.shape, np.float16)
    op(DECODE)(*parts, given, False, out)
    assert_same(bits(out.numpy()), bits(x))


def test_what_lies_behind_the_code_stays() -> None:
    x = np.ones(32768, np.float32)
    parts = rooms(x.size, np.float32, 4096, 64)
    op(ENCODE)(place(x), hollow((1, 256), np.int32), True, False, *parts)
    assert (parts[1].numpy()[:100] != 77).any(), "the code"
    assert (parts[1].numpy()[-100:] == 77).all() and (parts[2].numpy() == 77).all()


def test_a_code_that_does_not_fit_is_a_fault() -> None:
    x = np.random.default_rng(4).integers(0, 2**31, 32768).astype(np.int32).view(np.float32)
    parts = rooms(x.size, np.float32, 8192, 8192)
    text = fault(ENCODE, place(x), hollow((1, 256), np.int32), True, False, *parts)
    assert "fixedOut and varOut have 16384" in text


@pytest.mark.parametrize("wrong", ["mark", "size", "code", "pdf"])
def test_what_is_no_code_is_a_fault(wrong: str) -> None:
    x = np.random.default_rng(5).standard_normal(32768).astype(np.float32)
    pdf, parts = hollow((1, 256), np.int32), rooms(x.size, np.float32, 32768, 64)
    op(ENCODE)(place(x), pdf, True, False, *parts)
    code, counts = bits(parts[1].numpy()).copy(), pdf.numpy().copy()
    if wrong == "pdf":
        counts = counts[:, ::-1].copy()
    else:
        code[{"mark": 0, "size": 514, "code": 600}[wrong]] ^= 1
    given = (parts[0], place(code.view(np.float32)), parts[2], place(counts))
    assert "do not hold the code" in fault(DECODE, *given, False, hollow(x.shape, np.float32))


def test_refusals() -> None:
    x, pdf = hollow((32768,), np.float32), hollow((1, 256), np.int32)
    mantissa, fixed, var = rooms(x.shape[0], np.float32, 16384, 64)

    def encoding(**other: Any) -> str:
        given = {"x": x, "pdf": pdf, "mantissa": mantissa, "fixed": fixed, "var": var, **other}
        order = [given[k] for k in ("x", "pdf", "mantissa", "fixed", "var")]
        return message(ENCODE, 161002, [*order[:2], True, False, *order[2:]])

    assert "multiple of 64" in encoding(x=hollow((32832 - 1,), np.float32))
    assert "multiple of 64" in encoding(x=x[:16384])
    assert "pdfRef has shape" in encoding(pdf=hollow((256,), np.int32))
    assert "mantissaOut has" in encoding(mantissa=mantissa[:-1])
    assert "fixedOut has 508 bytes" in encoding(fixed=fixed[:127])
    assert "varOut has dtype" in encoding(var=hollow((64,), np.float16))
    half = hollow((32768,), np.float16)
    small = rooms(32768, np.float16, 512, 64)
    text = encoding(x=half, mantissa=small[0], fixed=small[1], var=small[2])
    assert "expected at least 41728" in text
    decoding = [mantissa, fixed, var, pdf, False, x]
    for at, one, says in [
        (0, mantissa[:-1], "mantissa has"),
        (1, hollow((64,), np.float16), "fixed has dtype"),
        (3, hollow((256,), np.int32), "pdf has shape"),
        (5, x[:64], "multiple of 64"),
    ]:
        wrong = [one if i == at else value for i, value in enumerate(decoding)]
        assert says in message(DECODE, 161002, wrong)
