# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling and columns of windows against NumPy in float64."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import NUMPY, hollow, place, wide
from hypothesis import given, settings
from hypothesis import strategies as st

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, suite
from .window_oracle import (
    FORMATS,
    adaptively_pooled,
    columns,
    convolution,
    count_windows,
    pooled,
    transposed_convolution,
)

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]
FLOATS = frozenset({"FLOAT", "FLOAT16", "BFLOAT16"})


def normal(rng: Rng, shape: Sequence[int], dtype: Any) -> Array:
    return rng.standard_normal(tuple(shape)).astype(dtype)


def conv(
    note: str,
    x: Sequence[int],
    w: Sequence[int],
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
    bias: bool = True,
    more: Sequence[int] | None = None,
) -> Case:
    """A convolution; with ``more``, the padding of the output, a transposed one."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        form = FORMATS[len(x)]
        image, filters = normal(rng, x, dtype), normal(rng, w, dtype)
        if more is None:
            y = convolution(wide(image), wide(filters), stride, padding, dilation, groups)
        else:
            y = transposed_convolution(
                wide(image), wide(filters), stride, padding, dilation, more, groups
            )
        shift = normal(rng, y.shape[1:2], dtype) if bias else None
        if shift is not None:
            y = y + wide(shift).reshape(-1, *[1] * (len(x) - 2))
        return [
            In(image, form),
            In(filters, form),
            None if shift is None else In(shift),
            list(stride),
            list(padding),
            list(dilation),
            more is not None,
            list(more or [0] * (len(x) - 2)),
            groups,
            Out(y, dtype, 8, form),
            0,
        ]

    return Case("Convolution", build, note, nullable=frozenset({2}))


CONVOLUTIONS = [
    conv("1d", (2, 3, 9), (4, 3, 3), [2], [1], [2]),
    conv("1d-both-margins", (2, 3, 9), (4, 3, 4), [1], [0, 3], [1]),
    conv("2d", (2, 3, 7, 8), (5, 3, 3, 2), (1, 2), (1, 0), (1, 2)),
    conv("2d-four-margins", (2, 3, 5, 6), (4, 3, 3, 3), (2, 1), (0, 2, 1, 0)),
    conv("2d-groups", (2, 6, 5, 5), (4, 3, 3, 3), padding=(1, 1), groups=2, bias=False),
    conv("2d-of-one-element", (2, 5, 4, 3), (7, 5, 1, 1)),
    conv("2d-of-one-element-padded", (2, 5, 4, 3), (7, 5, 1, 1), (2, 1), (1, 1)),
    conv("2d-window-of-the-size", (2, 3, 4, 5), (6, 3, 4, 5)),
    conv("2d-many-positions", (1, 4, 40, 41), (3, 4, 3, 3), padding=(1, 1)),
    conv("depthwise", (2, 6, 7, 9), (6, 1, 3, 3), (1, 1), (1, 1), groups=6),
    conv("depthwise-steps", (2, 3, 9, 11), (6, 1, 3, 2), (2, 3), (1, 2), (2, 3), groups=3),
    conv("depthwise-one-window", (1, 2, 4, 3), (2, 1, 4, 3), (2000000000,) * 2, groups=2),
    conv("depthwise-wide", (1, 2, 5, 45), (2, 1, 3, 5), padding=(1, 2, 0, 1), groups=2),
    conv("depthwise-3d", (1, 2, 4, 5, 5), (4, 1, 2, 3, 2), [1, 2, 1], [1, 0, 1], [1, 1, 2], 2),
    conv("3d", (2, 2, 4, 5, 6), (3, 2, 2, 3, 3), [1, 1, 2], [1, 1, 0], [2, 1, 1]),
    conv("no-samples", (0, 3, 5, 5), (4, 3, 3, 3)),
    conv("transposed-1d", (2, 3, 5), (3, 4, 3), [2], [1], [1], more=[1]),
    conv("transposed-2d", (2, 4, 3, 4), (4, 3, 3, 2), (2, 3), (1, 0), (1, 2), more=[1, 0]),
    conv("transposed-2d-four-margins", (1, 2, 4, 4), (2, 3, 3, 3), (2, 2), (0, 1, 2, 1),
         more=[0, 1]),
    conv("transposed-groups", (2, 6, 3, 3), (6, 2, 3, 3), (2, 2), (1, 1), groups=3, more=[1, 1]),
    conv("transposed-many-lines", (1, 2, 70, 70), (2, 2, 1, 2), more=[0, 0]),
    conv("transposed-3d", (1, 2, 2, 3, 3), (2, 2, 2, 3, 2), [2, 1, 2], [0, 1, 0], [1, 1, 1],
         more=[1, 0, 1]),
    conv("transposed-no-samples", (0, 2, 3, 3), (2, 3, 3, 3), more=[0, 0]),
]  # fmt: skip


def average(
    note: str,
    x: Sequence[int],
    window: list[int],
    step: list[int],
    padding: list[int],
    ceil: bool = False,
    margins: bool = True,
    divisor: int = 0,
) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        image, form = normal(rng, x, dtype), FORMATS[len(x)]
        size = window * 2 if len(window) == 1 else window
        moved = (step * 2 if len(step) == 1 else step) or size
        sides = [(p, p) for p in (padding * 2 if len(padding) == 1 else padding)]
        y = pooled(wide(image), size, moved, sides, ceil, "mean", margins, divisor)
        out = Out(y, dtype, 1, form)
        return [In(image, form), window, step, padding, ceil, margins, divisor, 0, out]

    return Case("AvgPool2d", build, note)


def maximum(
    note: str,
    x: Sequence[int],
    window: list[int],
    step: list[int],
    pads: list[int],
    ceil: int = 0,
    form: str = "ND",
) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        image = normal(rng, x, dtype)
        size = window * 2 if len(window) == 1 else window
        moved = (step * 2 if len(step) == 1 else step) or [1, 1]
        sides = [(p, p) for p in (pads or [0]) * 2][:2]
        if len(pads) == 4:
            sides = [(pads[0], pads[2]), (pads[1], pads[3])]
        y = pooled(wide(image), size, moved, sides, bool(ceil), "max")
        return [In(image, form), window, step, 0, pads, [1, 1], ceil, Out(y, dtype, 1, form)]

    return Case("MaxPool", build, note, dtypes=frozenset({"FLOAT", "FLOAT16"}))


def volume_average(note: str, x: Sequence[int], *choices: Any) -> Case:
    """AvgPool3d; the choices are window, step, padding, ceil, whether margins count and divisor."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        image = normal(rng, x, dtype)
        window, step, padding, ceil, margins, divisor = choices
        size, sides = spread_out(window), [(p, p) for p in spread_out(padding)]
        moved = spread_out(step) or size
        y = pooled(wide(image), size, moved, sides, ceil, "mean", margins, divisor)
        return [In(image), window, step, padding, ceil, margins, divisor, Out(y, dtype)]

    return Case("AvgPool3d", build, note)


def spread_out(values: list[int]) -> list[int]:
    return values * 3 if len(values) == 1 else values


def with_places(
    operator: str, note: str, x: Sequence[int], *choices: Any, places: Any = np.int32
) -> Case:
    """A maximum pool that returns places; the choices are window, step, padding and ceil."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        # Few different values: of equal ones the first is the place.
        image = rng.integers(-3, 4, tuple(x)).astype(dtype)
        window, step, padding, ceil = choices
        sides, moved = [(p, p) for p in padding], step or window
        best, at = (
            pooled(wide(image), window, moved, sides, ceil, kind) for kind in ("max", "place")
        )
        ones = [1] * len(window)
        return [In(image), window, step, padding, ones, ceil, Out(best, dtype), Out(at, places)]

    return Case(operator, build, note)


def adaptive(operator: str, note: str, x: Sequence[int], counts: list[int], form: str) -> Case:
    places = np.int64 if operator == "AdaptiveMaxPool2d" else np.int32

    def build(rng: Rng, dtype: Dtype) -> Problem:
        image = normal(rng, x, dtype)

        def result(kind: str) -> Array:
            if form == "NHWC":
                pooled_first = adaptively_pooled(np.moveaxis(wide(image), -1, 1), counts, kind)
                return np.moveaxis(pooled_first, 1, -1)
            return adaptively_pooled(wide(image), counts, kind)

        if "Avg" in operator:
            return [In(image, form), counts, Out(result("mean"), dtype, 1, form)]
        best, at = result("max"), result("place")
        return [In(image, form), counts, Out(best, dtype, 1, form), Out(at, places, 1, form)]

    return Case(operator, build, note)


def im2col(
    note: str,
    x: Sequence[int],
    window: list[int],
    spread: list[int],
    padding: list[int],
    step: list[int],
) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        image = normal(rng, x, dtype)
        y = columns(wide(image), window, spread, padding, step)
        return [In(image), window, spread, padding, step, Out(y, dtype)]

    return Case("Im2col", build, note, dtypes=FLOATS)


POOLS = [
    average("square", (2, 3, 6, 8), [2], [], [0]),
    average("margins", (2, 3, 7, 8), [3, 2], [2, 3], [1, 1]),
    average("margins-left-out", (2, 3, 7, 8), [3, 2], [2], [1], margins=False),
    average("ceil", (1, 2, 8, 9), [3, 3], [2, 2], [1, 1], ceil=True),
    average("ceil-left-out", (2, 2, 8, 9), [3, 3], [2, 3], [1, 0], ceil=True, margins=False),
    average("larger-than-the-image", (2, 4, 5), [9, 2000000000], [2000000000], [2, 1], ceil=True),
    average("divisor", (2, 2, 5, 5), [2, 2], [1, 2], [1, 1], divisor=-3),
    average("whole-3d", (3, 31, 40), [31, 40], [1], [0]),
    average("no-samples", (0, 2, 4, 4), [2], [2], [0]),
    maximum("square", (2, 3, 6, 8), [2], [2], []),
    maximum("steps-of-one", (2, 3, 5, 6), [3, 2], [], [1, 0]),
    maximum("four-pads", (2, 3, 7, 9), [3, 4], [2, 3], [1, 0, 2, 3]),
    maximum("ceil", (1, 2, 8, 9), [3, 2], [2, 2], [1, 0], 1, "NCHW"),
    maximum("larger-than-the-image", (2, 4, 5), [9, 2000000000], [2000000000], [2, 1], 1),
    maximum("3d", (3, 5, 4), [2, 3], [1, 2], [1]),
    maximum("no-samples", (0, 3, 5, 4), [2], [2], [0]),
    volume_average("5d", (2, 2, 4, 5, 6), [2, 3, 2], [1, 2, 3], [1, 1, 0], True, False, 0),
    volume_average("4d", (3, 5, 5, 5), [3], [2], [1], False, True, 0),
    volume_average("divisor", (1, 2, 2, 4, 4), [2], [], [0], False, True, 5),
    with_places("MaxPool2dWithIndices", "4d", (2, 3, 7, 8), [3, 2], [2, 3], [1, 1], True),
    with_places(
        "MaxPool2dWithIndices", "3d", (3, 6, 6), [2, 2], [], [0, 0], False, places=np.int64
    ),
    with_places(
        "MaxPool3dWithArgmax", "5d", (2, 2, 4, 5, 6), [2, 3, 2], [1, 2, 2], [1, 0, 1], False
    ),
    with_places("MaxPool3dWithArgmax", "4d", (3, 5, 5, 5), [2, 2, 2], [], [0, 1, 1], True),
    adaptive("AdaptiveAvgPool2d", "4d", (2, 3, 7, 5), [3, 4], "NCHW"),
    adaptive("AdaptiveAvgPool2d", "whole", (3, 6, 6), [1, 1], "NCL"),
    adaptive("AdaptiveAvgPool2d", "larger", (1, 2, 3, 3), [5, 3], "NCHW"),
    adaptive("AdaptiveAvgPool2d", "no-samples", (0, 2, 3, 3), [2, 2], "NCHW"),
    adaptive("AdaptiveAvgPool3d", "5d", (2, 2, 4, 5, 6), [2, 3, 4], "NCDHW"),
    adaptive("AdaptiveAvgPool3d", "4d", (2, 4, 4, 4), [3, 1, 2], "ND"),
    adaptive("AdaptiveAvgPool3d", "4d-tagged", (2, 4, 3, 5), [3, 2, 2], "NCHW"),
    adaptive("AdaptiveMaxPool2d", "4d", (2, 3, 7, 5), [3, 4], "NCHW"),
    adaptive("AdaptiveMaxPool2d", "3d", (3, 6, 6), [1, 4], "NCL"),
    adaptive("AdaptiveMaxPool2d", "channels-last", (2, 7, 5, 3), [3, 4], "NHWC"),
    adaptive("AdaptiveMaxPool3d", "5d", (2, 2, 4, 5, 6), [2, 3, 4], "NCDHW"),
    im2col("4d", (2, 3, 5, 6), [2, 3], [2, 1], [1, 2], [1, 2]),
    im2col("3d", (2, 4, 7), [3, 2], [1, 3], [0, 0], [1, 1]),
    im2col("one-window", (1, 2, 3, 3), [3, 3], [1, 1], [0, 0], [5, 5]),
    im2col("no-samples", (0, 2, 3, 3), [2, 2], [1, 1], [0, 0], [1, 1]),
]

TestConvolution = suite(CONVOLUTIONS)
TestPooling = suite(POOLS)


def images(array: Array) -> ap.Tensor:
    return ap.from_numpy(array, format=FORMATS[array.ndim])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_convolutions_of_any_shape(data: st.DataObject) -> None:
    small, spatial = st.integers(1, 3), data.draw(st.integers(1, 3))
    window, stride, dilation = ([data.draw(small) for _ in range(spatial)] for _ in range(3))
    padding = [data.draw(st.integers(0, dilation[d] * (window[d] - 1))) for d in range(spatial)]
    groups, ins, outs = data.draw(small), data.draw(small), data.draw(st.integers(1, 9))
    size = [dilation[d] * (window[d] - 1) + data.draw(st.integers(1, 5)) for d in range(spatial)]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = normal(rng, (data.draw(small), groups * ins, *size), np.float32)
    if data.draw(st.booleans()):
        more = [data.draw(st.integers(0, s - 1)) for s in stride]
        w = normal(rng, (groups * ins, outs, *window), np.float32)
        y = transposed_convolution(wide(x), wide(w), stride, padding, dilation, more, groups)
        turned = True
    else:
        more, turned = [0] * spatial, False
        w = normal(rng, (groups * outs, ins, *window), np.float32)
        y = convolution(wide(x), wide(w), stride, padding, dilation, groups)
    out = hollow(y.shape, np.float32).with_format(FORMATS[x.ndim])
    ap.ops.convolution(
        images(x), images(w), None, stride, padding, dilation, turned, more, groups, out, 0
    )
    # Terms may cancel: what a sum of products is off by grows with the terms, not with the result.
    magnitude = (
        transposed_convolution(abs(wide(x)), abs(wide(w)), stride, padding, dilation, more, groups)
        if turned
        else convolution(abs(wide(x)), abs(wide(w)), stride, padding, dilation, groups)
    )
    error = abs(wide(out.numpy()) - y)
    assert (error <= (ins * np.prod(window) + 2) * np.finfo(np.float32).eps * magnitude).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_pools_of_any_shape(data: st.DataObject) -> None:
    window = [data.draw(st.integers(1, 5)) for _ in range(2)]
    step = [data.draw(st.integers(1, 4)) for _ in range(2)]
    padding = [data.draw(st.integers(0, k // 2)) for k in window]
    size = [
        max(1, k - 2 * p) + data.draw(st.integers(0, 9))
        for k, p in zip(window, padding, strict=True)
    ]
    ceil, margins = data.draw(st.booleans()), data.draw(st.booleans())
    x = normal(np.random.default_rng(data.draw(st.integers(0, 99))), (2, *size), np.float32)
    sides = [(p, p) for p in padding]
    mean = pooled(wide(x), window, step, sides, ceil, "mean", margins)
    out = hollow(mean.shape, np.float32).with_format("NCL")
    ap.ops.avg_pool2d(images(x), window, step, padding, ceil, margins, 0, 0, out)
    assert_close(out.numpy(), mean)
    ap.ops.max_pool(images(x), window, step, 0, padding, [], int(ceil), out)
    assert_same(out.numpy(), pooled(wide(x), window, step, sides, ceil, "max").astype(np.float32))


def test_operands_of_different_kinds_meet_in_float32() -> None:
    rng = np.random.default_rng(5)
    x, w = normal(rng, (1, 3, 5, 5), np.float16), normal(rng, (4, 3, 3, 3), np.float32)
    bias = normal(rng, (4,), np.float16)
    out = hollow((1, 4, 3, 3), np.float32).with_format("NCHW")
    ap.ops.convolution(
        images(x), images(w), ap.from_numpy(bias), [1, 1], [0, 0], [1, 1], False, [0, 0], 1, out, 0
    )
    oracle = convolution(wide(x), wide(w), [1, 1], [0, 0], [1, 1]) + wide(bias)[:, None, None]
    assert_close(out.numpy(), oracle, scale=4)


def test_cube_math_type_2_rounds_operands_to_float16() -> None:
    rng = np.random.default_rng(6)
    x, w = normal(rng, (2, 3, 5, 5), np.float32), normal(rng, (4, 3, 3, 3), np.float32)
    out = hollow((2, 4, 3, 3), np.float32).with_format("NCHW")
    ap.ops.convolution(images(x), images(w), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, out, 2)
    halves = (wide(a.astype(np.float16)) for a in (x, w))
    assert_close(out.numpy(), convolution(*halves, [1, 1], [0, 0], [1, 1]), scale=4)
    mean = hollow((2, 3, 2, 2), np.float32).with_format("NCHW")
    ap.ops.avg_pool2d(images(x), [2], [], [0], False, True, 0, 2, mean)
    rounded = wide(x.astype(np.float16))
    oracle = pooled(rounded, [2, 2], [2, 2], [(0, 0), (0, 0)], False, "mean")
    assert_close(mean.numpy(), oracle)


@pytest.mark.parametrize("math", [1, 3])
def test_math_types_of_less_precision_lose_none_in_a_mean(math: int) -> None:
    x = normal(np.random.default_rng(16), (2, 3, 6, 6), np.float32)
    mean = hollow((2, 3, 3, 3), np.float32).with_format("NCHW")
    ap.ops.avg_pool2d(images(x), [2], [], [0], False, True, 0, math, mean)
    assert_close(mean.numpy(), pooled(wide(x), [2, 2], [2, 2], [(0, 0)] * 2, False, "mean"))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1, 1, 1)])
def test_the_largest_of_all_may_have_any_rank(shape: tuple[int, ...]) -> None:
    x = normal(np.random.default_rng(17), (1, 4, 5), np.float32)
    best, at = (hollow(shape, kind) for kind in (np.float32, np.int64))
    ap.ops.adaptive_max_pool2d(images(x), [1, 1], best, at)
    assert_same(best.numpy(), x.max().reshape(shape))
    assert_same(at.numpy(), x.argmax().reshape(shape))


def test_a_convolution_may_write_over_its_input() -> None:
    x = normal(np.random.default_rng(7), (2, 3, 6, 6), np.float32)
    w = normal(np.random.default_rng(8), (3, 3, 3, 3), np.float32)
    tensor = images(x)
    ap.ops.convolution(tensor, images(w), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, tensor, 0)
    assert_close(tensor.numpy(), convolution(wide(x), wide(w), [1, 1], [1, 1], [1, 1]), scale=4)


def test_the_largest_of_a_window_is_nan_where_one_is() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    x[0, 0, 1, 1] = np.nan
    x[0, 0, 2:, 2:] = -np.inf
    out = hollow((1, 1, 2, 2), np.float32)
    ap.ops.max_pool(place(x), [2], [2], 0, [], [], 0, out)
    assert_same(out.numpy(), np.array([[[[np.nan, 7], [13, -np.inf]]]], np.float32))


def test_a_window_of_margins_alone_has_no_largest_element() -> None:
    out = hollow((1, 2, 3), np.float32)
    ap.ops.max_pool(
        place(np.ones((1, 2, 2), np.float32)), [1, 2], [1, 1], 0, [0, 2, 0, 0], [], 0, out
    )
    assert_same(out.numpy(), np.array([[[-np.inf, 1, 1]] * 2], np.float32))


def test_columns_are_cast_to_the_dtype_of_the_result() -> None:
    x = normal(np.random.default_rng(9), (1, 2, 4, 4), np.float32)
    out = hollow((1, 8, 9), np.float16)
    ap.ops.im2col(place(x), [2, 2], [1, 1], [0, 0], [1, 1], out)
    oracle = columns(x, [2, 2], [1, 1], [0, 0], [1, 1])
    assert_same(out.numpy(), oracle.astype(np.float16))


X, W, Y = (2, 4, 6, 6), (6, 4, 3, 3), (2, 6, 4, 4)
CONV: dict[str, Any] = {
    "x": X, "w": W, "y": Y, "bias": None, "stride": [1, 1], "padding": [0, 0], "dilation": [1, 1],
    "transposed": False, "more": [0, 0], "groups": 1, "math": 0, "dtype": np.float32,
    "out_dtype": None, "format": None, "bias_dtype": None,
}  # fmt: skip
BACK: dict[str, Any] = {"transposed": True, "w": (4, 5, 3, 3), "y": (2, 5, 8, 8)}
DEEP: dict[str, Any] = {"stride": [1] * 3, "padding": [0] * 3, "dilation": [1] * 3}


@pytest.mark.emulator_only(reason="compares the emulator's own words")
@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"x": None}, 161001, "input is null"),
        ({"stride": None}, 161001, "stride is null"),
        ({"padding": None}, 161001, "padding is null"),
        ({"dilation": None}, 161001, "dilation is null"),
        ({**BACK, "more": None}, 161001, "outputPadding is null"),
        ({"dtype": np.float64}, 161002, "input has dtype DOUBLE"),
        ({"dtype": ml_dtypes.float8_e4m3fn}, 161002, "input has dtype FLOAT8_E4M3FN"),
        ({"out_dtype": np.int32}, 161002, "output has dtype INT32"),
        ({**BACK, "out_dtype": np.float16}, 161002, "it must have that of input"),
        ({"bias": (6,), "bias_dtype": np.float16}, 161002, "biasOptional has dtype FLOAT16"),
        ({"x": (2, 4), "format": "ND"}, 161002, "input has 2 dimensions"),
        ({"w": (6, 4, 3)}, 161002, "weight has 3 dimensions"),
        ({"y": (2, 6, 4)}, 161002, "output has 3 dimensions"),
        ({"bias": (1, 6)}, 161002, "biasOptional has 2 dimensions"),
        ({"stride": [1]}, 161002, "stride has 1 values; allowed: 2"),
        ({"dilation": [1, 1, 1]}, 161002, "dilation has 3 values"),
        ({"padding": [0, 0, 0]}, 161002, "padding has 3 values; allowed: 2, 4"),
        ({**BACK, "more": [0]}, 161002, "outputPadding has 1 values"),
        ({"format": "ND"}, 161002, "input has format ND; with 4 dimensions allowed: NCHW"),
        ({"format": "NHWC"}, 161002, "input has format NHWC"),
        ({"w": (6, 4, 0, 3)}, 161002, "a window must not be empty"),
        ({"stride": [0, 1]}, 161002, "stride has the value 0; allowed: 1"),
        ({"dilation": [1, -1]}, 161002, "dilation has the value -1"),
        ({"padding": [-1, 0]}, 161002, "padding has the value -1; allowed: 0"),
        ({"groups": 0}, 161002, "groups is 0; allowed: 1 to 65535"),
        ({"groups": 2}, 161002, "weight has 4 channels in each of 2 groups; input has 4"),
        ({"groups": 4, "w": (6, 1, 3, 3)}, 161002, "not a multiple of groups, 4"),
        ({**BACK, "w": (3, 5, 3, 3)}, 161002, "must be the 4 channels of input"),
        ({**BACK, "more": [1, 0]}, 161002, "less than the stride 1 or the dilation 1"),
        ({**BACK, "more": [-1, 0]}, 161002, "outputPadding has the value -1"),
        ({"bias": (5,)}, 161002, r"biasOptional has shape \(5,\); expected \(6,\)"),
        ({**BACK, "bias": (4,)}, 161002, r"expected \(5,\)"),
        ({"dilation": [3, 1]}, 161002, "input has 6 elements along dimension 2"),
        ({"y": (2, 6, 4, 5)}, 161002, r"output has shape \(2, 6, 4, 5\); expected \(2, 6, 4, 4\)"),
        ({**BACK, "y": (2, 5, 8, 7)}, 161002, r"expected \(2, 5, 8, 8\)"),
        ({"x": (2, 0, 6, 6), "w": (6, 0, 3, 3)}, 161002, "is empty and output"),
        ({"math": 4}, 161002, "cubeMathType is 4"),
        ({"math": 2, "dtype": ml_dtypes.bfloat16}, 161002, "BF16 operands"),
        ({"x": (1, 1, 1, 1), "w": (1, 1, 1, 1), "padding": [256, 0], "y": (1, 1, 513, 1)},
         561103, "padding of 256; at most 255"),
        ({**DEEP, "x": (1, 1, 1, 64, 1), "w": (1, 1, 1, 1, 1), "stride": [1, 64, 1],
          "y": (1, 1, 1, 1, 1)}, 561103, "stride of 64; at most 63"),
        ({**BACK, "x": (1, 1, 1, 1), "w": (1, 1, 1, 257), "y": (1, 1, 1, 257)},
         161002, "the difference may be at most 255"),
        ({**BACK, "x": (1, 1, 1, 1), "w": (1, 1, 1, 256), "y": (1, 1, 1, 256)},
         561103, "a window of 256; at most 255"),
    ],
)  # fmt: skip
def test_convolution_refuses(change: dict[str, Any], status: int, words: str) -> None:
    call = CONV | change
    form = call["format"]

    def tensor(shape: tuple[int, ...] | None, dtype: Any) -> ap.Tensor | None:
        if shape is None:
            return None
        made = ap.zeros(shape, dtype)
        return made.with_format(form or FORMATS.get(len(shape), "ND"))

    bias = None
    if call["bias"] is not None:
        bias = ap.zeros(call["bias"], call["bias_dtype"] or call["dtype"])
    with pytest.raises(ap.errors.AclnnError, match=words) as caught:
        ap.ops.convolution(
            tensor(call["x"], call["dtype"]),
            tensor(call["w"], call["dtype"]),
            bias,
            call["stride"],
            call["padding"],
            call["dilation"],
            call["transposed"],
            call["more"],
            call["groups"],
            tensor(call["y"], call["out_dtype"] or call["dtype"]),
            call["math"],
        )
    assert caught.value.status == status


@pytest.mark.emulator_only(reason="compares the emulator's own words")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("avg(x.with_format('ND'))", "self has format ND; with 4 dimensions allowed: NCHW"),
        ("avg(out=half)", "out has dtype FLOAT16; it must have that of self"),
        ("avg(window=[0])", "kernelSize has the value 0"),
        ("avg(window=[])", "kernelSize has 0 values; allowed: 1, 2"),
        ("avg(step=[2, 2, 2])", "strides has 3 values; allowed: 0, 1, 2"),
        ("avg(step=[-1])", "strides has the value -1"),
        ("avg(pad=[])", "paddings has 0 values; allowed: 1, 2"),
        ("avg(pad=[2])", "at most half of the kernelSize 2"),
        ("avg(window=[7])", "a window of 7 does not fit"),
        ("avg(pad=[1])", r"expected \(2, 3, 4, 4\)"),
        ("avg(math=4)", "cubeMathType is 4; allowed: 0 to 3"),
        ("avg(images(np.zeros((2, 0, 6, 6), np.float32)))", "only the batch may be empty"),
        ("top(x.astype('bfloat16'))", "self has dtype BFLOAT16; allowed: FLOAT, FLOAT16"),
        ("top(x.astype('int32'))", "self has dtype INT32"),
        ("top(out=half)", "out has dtype FLOAT16"),
        ("top(x.with_format('ND'))", "out has format NCHW; it must have that of self, ND"),
        ("top(window=[2, 2, 2])", "kernelShape has 3 values"),
        ("top(pad=[0, 0, 0])", "pads has 3 values; allowed: 0, 1, 2, 4"),
        ("top(pad=[2, 1])", "together at most the kernelShape 2"),
        ("top(spread=[2, 1])", "dilations has the value 2; allowed: 1"),
        ("top(auto=1)", "autoPad is 1; allowed: 0"),
        ("top(step=[0, 1])", "strides has the value 0"),
        ("top(ceil=1, step=[3])", r"expected \(2, 3, 3, 3\)|expected \(2, 3, 2, 2\)"),
        ("best(spread=[2])", "dilation has the value 2; allowed: 1"),
        ("best(pad=[2])", "padding has the value 2; at most half of the kernelSize 2"),
        ("best(window=[2, 2, 2])", "kernelSize has 3 values; allowed: 1, 2"),
        ("best(x.with_format('NHWC'))", "self has format NHWC"),
        ("best(places=np.int16)", "indices has dtype INT16; allowed: INT32, INT64"),
        ("adapt([0, 2])", "outputSize has the value 0; allowed: 1"),
        ("adapt([2])", "outputSize has 1 values; allowed: 2"),
        ("adapt([2, 3])", r"expected \(2, 3, 2, 3\)"),
        ("adapt([2, 2], x.with_format('ND'))", "self has format ND"),
        ("peak([2, 2], x.with_format('ND'))", "with 4 dimensions allowed: NCHW, NHWC"),
        ("peak([2, 2], places=np.int32)", "indicesOut has dtype INT32; allowed: INT64"),
        ("peak([2, 2], at=(2, 3, 2, 1))", "indicesOut has shape"),
        ("peak([2, 2], x.with_format('NHWC'))", r"expected \(2, 2, 2, 6\)"),
        ("deep(x.with_format('ND').reshape((2, 3, 1, 6, 6)))", "indices has dtype INT64"),
        (
            "deepest(x.with_format('ND').reshape((2, 3, 1, 6, 6)).with_format('NCDHW'))",
            "indicesOut has dtype INT64; allowed: INT32",
        ),
        ("cols(kind='float64')", "out has dtype DOUBLE"),
        ("cols(x.astype('int32'))", "self has dtype INT32"),
        ("cols(window=[2])", "kernelSize has 1 values; allowed: 2"),
        ("cols(spread=[0, 1])", "dilation has the value 0"),
        ("cols(step=[1, 0])", "stride has the value 0"),
        ("cols(pad=[0, -1])", "padding has the value -1"),
        ("cols(window=[7, 1])", "kernelSize 7 with dilation 1 does not fit into 6 elements"),
        ("cols(spread=[2, 2])", r"expected \(2, 12, 16\)"),
    ],
)
def test_pools_and_columns_refuse(call: str, words: str) -> None:
    x = images(np.zeros((2, 3, 6, 6), np.float32))
    y = images(np.zeros((2, 3, 3, 3), np.float32))

    def avg(
        x: Any = x, window: Any = (2,), step: Any = (), pad: Any = (0,), math: int = 0, out: Any = y
    ) -> None:
        ap.ops.avg_pool2d(x, window, step, pad, False, True, 0, math, out)

    def top(
        x: Any = x, window: Any = (2,), step: Any = (2,), auto: int = 0, pad: Any = (),
        spread: Any = (), ceil: int = 0, out: Any = None,
    ) -> None:  # fmt: skip
        kind = x.dtype if out is None else np.float16
        made = ap.zeros((2, 3, 3, 3), kind, format="NCHW")
        ap.ops.max_pool(x, window, step, auto, pad, spread, ceil, made)

    def best(
        x: Any = x, window: Any = (2,), pad: Any = (0,), spread: Any = (1,), places: Any = np.int32
    ) -> None:
        out, found = (ap.zeros((2, 3, 3, 3), k, format=x.format) for k in (x.dtype, places))
        ap.ops.max_pool2d_with_indices(x, window, [], pad, spread, False, out, found)

    def adapt(counts: Any, x: Any = x) -> None:
        ap.ops.adaptive_avg_pool2d(x, counts, ap.zeros((2, 3, 2, 2), x.dtype, format=x.format))

    def cols(
        x: Any = x,
        window: Any = (2, 2),
        spread: Any = (1, 1),
        pad: Any = (0, 0),
        step: Any = (1, 1),
        kind: Any = None,
    ) -> None:
        ap.ops.im2col(x, window, spread, pad, step, ap.zeros((2, 12, 25), kind or x.dtype))

    def peak(counts: Any, x: Any = x, places: Any = np.int64, at: Any = (2, 3, 2, 2)) -> None:
        found = ap.zeros(at, places, format=x.format)
        out = ap.zeros((2, 3, 2, 2), x.dtype, format=x.format)
        ap.ops.adaptive_max_pool2d(x, counts, out, found)

    def deep(x: Any) -> None:
        out, found = (ap.zeros((2, 3, 1, 3, 3), k, format=x.format) for k in (x.dtype, np.int64))
        ap.ops.max_pool3d_with_argmax(x, [1, 2, 2], [], [0], [1], False, out, found)

    def deepest(x: Any) -> None:
        out, found = (ap.zeros((2, 3, 1, 3, 3), k, format=x.format) for k in (x.dtype, np.int64))
        ap.ops.adaptive_max_pool3d(x, [1, 3, 3], out, found)

    half = y.astype(np.float16)
    with pytest.raises(ap.errors.AclnnError, match=words) as caught:
        eval(call, {"np": np, "x": x, "half": half, "images": images, **locals()})
    assert caught.value.status == 161002


NEWER = """
import sys
import numpy as np
import aclnn_py as ap
with ap.Device(0):
    for name in sys.argv[1:]:
        x = ap.from_numpy(np.arange(32).reshape(2, 4, 4).astype(name))
        out = ap.empty((2, 2, 2), name)
        ap.ops.max_pool(x, [2], [2], 0, [], [], 0, out)
        assert out.numpy().tolist() == [[[5, 7], [13, 15]], [[21, 23], [29, 31]]], name
        columns = ap.empty((8, 4), name)
        ap.ops.im2col(x, [2, 2], [1, 1], [0, 0], [2, 2], columns)
        assert columns.numpy()[0].tolist() == [0, 2, 8, 10], name
    x = ap.from_numpy(np.arange(32, dtype="float32").reshape(2, 1, 4, 4))
    best, at = ap.empty((2, 1, 2, 2), "float32"), ap.empty((2, 1, 2, 2), "int64")
    ap.ops.max_pool3d_with_argmax(x, [1, 2, 2], [], [0], [1], False, best, at)
    assert at.numpy().tolist() == [[[[5, 7], [13, 15]]]] * 2
"""


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_chips_of_the_950_series_take_integers() -> None:
    names = [NUMPY[name].name for name in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "INT64")]
    environment = {**os.environ, "ACLNN_PY_EMULATOR_SOC": "Ascend950PR_9599"}
    ran = subprocess.run(
        [sys.executable, "-c", NEWER, *names],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr


def test_windows_of_ceil_mode_begin_before_the_margin_behind() -> None:
    assert count_windows(8, 3, 2, (1, 1), True) == 5
    assert ap.functional.max_pool2d(ap.zeros((1, 1, 8, 8), "float32"), 3, 2, 1, 1, True).shape == (
        1, 1, 5, 5,
    )  # fmt: skip
