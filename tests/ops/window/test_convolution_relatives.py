# SPDX-License-Identifier: Apache-2.0
"""ConvTbc with its gradient, and ConvDepthwise2d: convolutions with other layouts of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite
from .window_oracle import convolution, kept, slopes

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Ints = Sequence[int]
HALF_PRECISION, ALLOW_LESS = 2, 1


def tbc(x: Array, w: Array, pad: int) -> Array:
    """Sums over the window and the channels, written from the formula."""
    padded = np.pad(x, [(pad, pad), (0, 0), (0, 0)])
    count = padded.shape[0] - w.shape[0] + 1
    rows = [sum(padded[t + k] @ w[k] for k in range(w.shape[0])) for t in range(count)]
    return np.array(rows).reshape(count, x.shape[1], w.shape[2])


def along_time(note: str, x: Ints, w: Ints, pad: int) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        image, filters, bias = (
            rng.standard_normal(shape).astype(dtype) for shape in (x, w, (w[2],))
        )
        y = tbc(wide(image), wide(filters), pad) + wide(bias)
        return [In(image), In(filters), In(bias), pad, Out(y, dtype, 8), ALLOW_LESS]

    return Case("ConvTbc", build, note)


def along_time_backward(note: str, x: Ints, w: Ints, pad: int) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        image, filters, bias = (
            rng.standard_normal(shape).astype(dtype) for shape in (x, w, (w[2],))
        )
        dy = rng.standard_normal(tbc(image, filters, pad).shape).astype(dtype)
        dx = slopes(lambda part: tbc(part, wide(filters), pad), wide(dy), wide(image))
        dw = slopes(lambda part: tbc(wide(image), part, pad), wide(dy), wide(filters))
        results = [Out(dx, dtype, 16), Out(dw, dtype, 16), Out(wide(dy).sum((0, 1)), dtype, 16)]
        return [In(dy), In(image), In(filters), In(bias), pad, ALLOW_LESS, *results]

    return Case("ConvTbcBackward", kept(build), note)


def depthwise(
    note: str, x: Ints, w: Ints, stride: Ints, padding: Ints, dilation: Ints, bias: bool = True
) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        image, filters = (rng.standard_normal(shape).astype(dtype) for shape in (x, w))
        y = convolution(wide(image), wide(filters), stride, padding, dilation, x[1])
        shift = rng.standard_normal(w[0]).astype(dtype) if bias else None
        if shift is not None:
            y = y + wide(shift).reshape(-1, 1, 1)
        return [
            In(image, "NCHW"),
            In(filters, "NCHW"),
            list(w[2:]),
            None if shift is None else In(shift),
            list(stride),
            list(padding),
            list(dilation),
            Out(y, dtype, 8, "NCHW"),
            0,
        ]

    return Case("ConvDepthwise2d", build, note, nullable=frozenset({3}))


CASES = [
    along_time("the-documents", (2, 2, 3), (3, 3, 4), 1),
    along_time("longer", (9, 3, 2), (4, 2, 5), 0),
    along_time("no-samples", (4, 0, 2), (2, 2, 3), 0),
    along_time_backward("padded", (5, 2, 3), (3, 3, 2), 1),
    along_time_backward("one-channel", (6, 2, 1), (2, 1, 1), 0),
    depthwise("plain", (2, 3, 5, 6), (3, 1, 3, 3), (1, 1), (1, 1), (1, 1)),
    depthwise("filters", (1, 2, 7, 9), (4, 1, 3, 2), (2, 1), (1, 0), (1, 3), False),
]
TestRelatives = suite(CASES)


def test_cube_math_type_2_rounds_operands_to_float16() -> None:
    rng = np.random.default_rng(2)
    x, w, b = (rng.standard_normal(s).astype(np.float32) for s in ((4, 2, 3), (2, 3, 2), (2,)))
    out = hollow((3, 2, 2), np.float32)
    op("aclnnConvTbc")(place(x), place(w), place(b), 0, out, HALF_PRECISION)
    half = [wide(part.astype(np.float16)) for part in (x, w)]
    assert_close(out.numpy(), tbc(*half, 0) + wide(b), scale=8)


@pytest.mark.emulator_only(reason="compares the emulator's own words")
def test_wrong_calls_name_the_parameter() -> None:
    x, w, b = (ap.zeros(shape, np.float32) for shape in ((4, 2, 3), (2, 3, 5), (5,)))
    y = ap.zeros((3, 2, 5), np.float32)
    call = "aclnnConvTbc"
    assert "cubeMathType is 0" in message(call, 161002, [x, w, b, 0, y, 0])
    assert "pad is 256; allowed: 0 to 255" in message(call, 161002, [x, w, b, 256, y, 1])
    assert "the 5 channels of self" in message(call, 161002, [y, w, b, 0, y, 1])
    assert "biasOptional has shape" in message(call, 161002, [x, w, y[0, 0, :3], 0, y, 1])
    long = ap.zeros((6, 3, 5), np.float32)
    assert "the window covers 6" in message(call, 161002, [x, long, b, 0, y[:0], 1])
    half = [part.astype(ml_dtypes.bfloat16) for part in (x, w, b)]
    text = message(call, 161002, [*half, 0, y.astype(ml_dtypes.bfloat16), HALF_PRECISION])
    assert "cubeMathType is 2, which BF16" in text
    back = "aclnnConvTbcBackward"
    assert "cubeMathType is 3" in message(back, 161002, [y, x, w, b, 0, 3, x, w, b])
    assert "gradWeight has shape" in message(back, 161002, [y, x, w, b, 0, 1, x, w[:1], b])
    image = ap.zeros((1, 2, 4, 4), np.float32).with_format("NCHW")
    filters = ap.zeros((2, 1, 2, 2), np.float32).with_format("NCHW")
    out = ap.zeros((1, 2, 3, 3), np.float32).with_format("NCHW")
    ones, none = [1, 1], [0, 0]
    apart = "aclnnConvDepthwise2d"
    text = message(apart, 161002, [image, filters, [2, 1], None, ones, none, ones, out, 0])
    assert "kernelSize is 2, 1; it must be the last two dimensions of weight, 2, 2" in text
    text = message(
        apart, 561103, [image, filters, [2, 2], None, [64, 1], none, ones, out[:, :, :1], 0]
    )
    assert "stride of 64; at most 63" in text
    wide_filters = ap.zeros((2, 2, 2, 2), np.float32).with_format("NCHW")
    text = message(apart, 161002, [image, wide_filters, [2, 2], None, ones, none, ones, out, 0])
    assert "weight has 2 channels in each of 2 groups; self has 2" in text
