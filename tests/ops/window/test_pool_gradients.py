# SPDX-License-Identifier: Apache-2.0
"""Gradients of pools, pools with masks and of whole channels, and their inverse, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, message, suite
from .window_oracle import FORMATS, adaptively_pooled, count_windows, kept, pooled, slopes

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Ints = Sequence[int]
PLAIN = {**FORMATS, 4: "NCHW"}


def each(values: Ints, count: int) -> list[int]:
    return list(values) * count if len(values) == 1 else list(values)


def distinct(rng: Rng, shape: Ints) -> Array:
    """Whole numbers without two equal ones, further apart than the steps of a derivative."""
    return 4.0 * rng.permutation(int(np.prod(shape))).reshape(shape)


class Windows:
    """The arguments of a pool with windows, and the pool itself."""

    def __init__(self, spatial: int, window: Ints, step: Ints, padding: Ints, ceil: bool) -> None:
        self.given = [list(window), list(step), list(padding)]
        self.window = each(window, spatial)
        self.step = each(step, spatial) or self.window
        self.sides = [(p, p) for p in each(padding, spatial)]
        self.ceil = ceil

    def pool(self, x: Array, kind: str, *more: Any) -> Array:
        return pooled(x, self.window, self.step, self.sides, self.ceil, kind, *more)


def average(
    spatial: int,
    note: str,
    x: Ints,
    window: Ints,
    step: Ints = (),
    padding: Ints = (0,),
    ceil: bool = False,
    margins: bool = True,
    divisor: int = 0,
) -> Case:
    how = Windows(spatial, window, step, padding, ceil)

    def build(rng: Rng, dtype: Any) -> Problem:
        form = "ND" if spatial == 3 else PLAIN[len(x)]
        image = rng.standard_normal(x).astype(dtype)
        shape = how.pool(wide(image), "mean", margins, divisor).shape
        dy = rng.standard_normal(shape).astype(dtype)
        dx = slopes(lambda part: how.pool(part, "mean", margins, divisor), wide(dy), wide(image))
        flags = [ceil, margins, divisor, *([0] if spatial == 2 else [])]
        return [In(dy, form), In(image, form), *how.given, *flags, Out(dx, dtype, 8, form)]

    return Case(f"AvgPool{spatial}dBackward", kept(build), note)


def highest(
    operator: str, note: str, x: Ints, window: Ints, step: Ints, padding: Ints, ceil: bool
) -> Case:
    how = Windows(3 if "3d" in operator else 2, window, step, padding, ceil)

    def build(rng: Rng, dtype: Any) -> Problem:
        image = distinct(rng, x)
        dy = rng.standard_normal(how.pool(image, "max").shape).astype(dtype)
        dx = slopes(lambda part: how.pool(part, "max"), wide(dy), image)
        indices = In(how.pool(image, "place").astype(np.int32))
        ones = [1] * len(how.window)
        return [In(dy), In(image.astype(dtype)), indices, *how.given, ones, ceil, Out(dx, dtype, 8)]

    return Case(operator, kept(build), note)


def adaptive(kind: str, note: str, x: Ints, counts: Ints, places: Any = np.int32) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        image = distinct(rng, x)
        dy = rng.standard_normal((*x[: -len(counts)], *counts)).astype(dtype)
        what = "max" if kind == "Max" else "mean"
        dx = slopes(lambda part: adaptively_pooled(part, counts, what), wide(dy), image)
        tail = [In(adaptively_pooled(image, counts, "place").astype(places))]
        return [
            In(dy),
            In(image.astype(dtype)),
            *(tail if kind == "Max" else []),
            Out(dx, dtype, 8),
        ]

    return Case(f"Adaptive{kind}Pool{len(counts)}dBackward", kept(build), note)


def mask_of(image: Array, how: Windows) -> Array:
    """A row for each element of a window, a bit for each window, set where the maximum is."""
    places, columns = how.pool(image, "place").astype(int), image.shape[-1]
    height, width = places.shape[-2:]
    across = how.window[1]
    size = (-(-height * width // 16) + 1) * 32
    found = np.zeros((*image.shape[:-2], how.window[0] * across, size), np.uint8)
    for at in np.ndindex(*places.shape):
        y, x = places[at] // columns, places[at] % columns
        top = at[-2] * how.step[0] - how.sides[0][0]
        left = at[-1] * how.step[1] - how.sides[1][0]
        number = at[-2] * width + at[-1]
        found[(*at[:-2], (y - top) * across + x - left, number // 8)] |= 1 << (number % 8)
    return found.view(np.int8)


def masked(note: str, x: Ints, window: Ints, step: Ints, padding: Ints, ceil: bool) -> Case:
    how = Windows(2, window, step, padding, ceil)

    def build(rng: Rng, dtype: Any) -> Problem:
        image = (distinct(rng, x) / 4).astype(dtype)
        form = "NCHW" if len(x) == 4 else "ND"
        results = [Out(how.pool(wide(image), "max"), dtype, 0, form)]
        results.append(Out(mask_of(wide(image), how), np.int8, 0, form))
        return [In(image, form), *how.given, [1, 1], ceil, *results]

    return Case("MaxPool2dWithMask", build, note)


def mask_gradient(note: str, x: Ints, window: Ints, step: Ints, padding: Ints, ceil: bool) -> Case:
    how = Windows(2, window, step, padding, ceil)

    def build(rng: Rng, dtype: Any) -> Problem:
        image = distinct(rng, x)
        dy = rng.standard_normal(how.pool(image, "max").shape).astype(dtype)
        dx = slopes(lambda part: how.pool(part, "max"), wide(dy), image)
        inputs = [In(part, "NCHW") for part in (dy, image.astype(dtype), mask_of(image, how))]
        return [*inputs, *how.given, [1, 1], ceil, Out(dx, dtype, 8, "NCHW")]

    return Case("MaxPool2dWithMaskBackward", kept(build), note)


def unpool(x: Ints, size: Ints, places: Any, backward: bool) -> Case:
    spatial = len(size)

    def build(rng: Rng, dtype: Any) -> Problem:
        lead, area = x[:-spatial], int(np.prod(size))
        given = int(np.prod(x[-spatial:]))
        rows = [rng.permutation(area)[:given] for _ in range(int(np.prod(lead)))]
        indices = np.array(rows).reshape(x)
        shape = (*lead, *size) if backward else x
        values = rng.integers(1, 100, shape).astype(dtype)
        flat = indices.reshape(*lead, given)
        extra = [[1] * 3, [0] * 3] if spatial == 3 else []
        if backward:
            oracle = np.take_along_axis(values.reshape(*lead, area), flat, -1).reshape(x)
            image = In(np.zeros(x, dtype))
            head = [In(values), image, In(indices.astype(places))]
        else:
            oracle = np.zeros((*lead, area), dtype)
            np.put_along_axis(oracle, flat, values.reshape(*lead, given), -1)
            oracle = oracle.reshape(*lead, *size)
            head = [In(values), In(indices.astype(places))]
        return [*head, list(size), *extra, Out(wide(oracle), dtype, 0)]

    name = f"MaxUnpool{spatial}d" + ("Backward" if backward else "")
    return Case(name, build, f"{len(x)}d", refuses=name != "MaxUnpool2dBackward")


def whole(operator: str, x: Ints, form: str = "ND") -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        image = rng.standard_normal(x).astype(dtype)
        axes = tuple(range(2, len(x)))
        if operator == "GlobalMaxPool":
            return [In(image, form), Out(wide(image).max(axes, keepdims=True), dtype, 0, form)]
        return [In(image, form), Out(wide(image).mean(axes, keepdims=True), dtype, 1, form)]

    return Case(operator, build, f"{len(x)}d")


CASES = [
    average(2, "4d", (2, 2, 5, 6), [3, 2], [2, 1], [1, 0], margins=False),
    average(2, "3d-ceil", (2, 6, 5), [3], [2], [1], ceil=True),
    average(2, "covered", (2, 1, 4, 6), [2]),
    average(2, "covered-ceil", (1, 1, 5, 3), [2], ceil=True),
    average(2, "left-over", (1, 1, 5, 3), [2]),
    average(2, "divisor", (1, 2, 4, 4), [2], divisor=-3),
    average(2, "no-samples", (0, 2, 4, 4), [2]),
    average(3, "5d", (1, 2, 3, 4, 4), [2, 3, 2], [1, 2, 2], [1, 1, 0], True, False),
    average(3, "4d", (2, 3, 3, 4), [2]),
    highest("MaxPool2dWithIndicesBackward", "4d", (2, 2, 5, 6), [3, 2], [2, 1], [1, 1], True),
    highest("MaxPool2dWithIndicesBackward", "3d", (2, 4, 5), [2], [], [0], False),
    highest("MaxPool3dWithArgmaxBackward", "5d", (1, 1, 2, 4, 3), [2, 3, 2], [1], [1, 1, 0], False),
    highest("MaxPool3dWithArgmaxBackward", "4d", (2, 3, 4, 4), [2], [], [0], True),
    adaptive("Avg", "4d", (2, 2, 5, 4), [3, 3]),
    adaptive("Avg", "3d", (2, 3, 4), [5, 2]),
    adaptive("Avg", "5d", (1, 2, 3, 4, 5), [2, 3, 3]),
    adaptive("Avg", "5d-even", (1, 2, 6, 4, 6), [2, 2, 3]),  # slices that are alike
    adaptive("Max", "4d", (2, 2, 5, 4), [3, 3], np.int64),
    adaptive("Max", "3d", (2, 3, 4), [5, 2]),
    adaptive("Max", "5d", (1, 2, 3, 4, 5), [2, 3, 3]),
    adaptive("Max", "3d-4d", (2, 3, 4, 3), [2, 2, 2]),
    masked("4d", (2, 2, 5, 6), [3, 2], [2, 1], [1, 1], True),
    masked("3d", (2, 9, 13), [2, 3], [], [0], False),
    masked("larger-than-the-image", (1, 1, 3, 2), [9, 5], [5], [2, 1], True),
    mask_gradient("overlapping", (2, 2, 5, 6), [3, 2], [2, 1], [1, 1], True),
    mask_gradient("many-windows", (1, 1, 5, 11), [2], [1], [0], False),
    unpool((2, 2, 2, 3), (4, 5), np.int32, False),
    unpool((2, 2, 3), (3, 5), np.int64, False),
    unpool((2, 2, 1, 2, 3), (2, 2, 4), np.int64, False),
    unpool((2, 1, 2, 3), (2, 2, 4), np.int32, False),
    unpool((2, 2, 2, 3), (4, 5), np.int32, True),
    unpool((2, 3, 3), (2, 5), np.int64, True),
    whole("GlobalAveragePool", (2, 3, 4, 5), "NCHW"),
    whole("GlobalAveragePool", (2, 3, 2, 1, 3, 2, 2, 2)),
    whole("GlobalMaxPool", (2, 3, 4, 5, 2), "NCDHW"),
    whole("GlobalMaxPool", (0, 3, 4, 5)),
]
TestGradients = suite(CASES)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("odd", [None, 0, 70, 299])
def test_pools_of_long_channels(kind: Any, odd: int | None) -> None:
    """NaN is the largest wherever it is, and without it a channel may have nothing but -inf."""
    x = np.random.default_rng(1).standard_normal((1, 3, 20, 15)).astype(kind)
    x[0, 2] = -np.inf
    if odd is not None:
        x[0, 1].reshape(-1)[odd] = np.nan
    out = hollow((1, 3, 1, 1), kind)
    for operator, oracle in (("GlobalMaxPool", np.max), ("GlobalAveragePool", np.mean)):
        op(f"aclnn{operator}")(place(x), out)
        wanted = oracle(x.astype(np.float64), axis=(2, 3), keepdims=True)
        np.testing.assert_allclose(out.numpy(), wanted.astype(kind), rtol=np.finfo(kind).eps)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_the_average_of_channels_without_elements(kind: Any) -> None:
    out = hollow((2, 3, 1, 1), kind)
    op("aclnnGlobalAveragePool")(place(np.zeros((2, 3, 0, 4), kind)), out)
    assert np.isnan(out.numpy()).all()


@pytest.mark.parametrize("rank", [4, 5])
def test_the_gradient_of_unpooled_volumes_is_dense(rank: int) -> None:
    problem = unpool((2, 2, 1, 2, 3)[5 - rank :], (2, 2, 4), np.int64, True).build(
        np.random.default_rng(1), np.dtype(np.float32)
    )
    call = "aclnnMaxUnpool3dBackward"
    tensors = [place(part.array) for part in problem[:3]]
    wanted = problem[-1].oracle
    out = hollow(wanted.shape, np.float32)
    op(call)(*tensors, *problem[3:6], out)
    assert_same(out.numpy(), wanted.astype(np.float32))
    stepped = hollow(wanted.shape, np.float32, "stepped")
    assert refusal(call, *tensors, *problem[3:6], stepped) == 161002


def test_the_gradient_of_an_unpooled_plane_is_cast() -> None:
    slope, out = (
        place(np.arange(8, dtype=np.float32).reshape(1, 2, 4)),
        hollow((1, 1, 3), np.float16),
    )
    indices = place(np.array([[[5, 0, 5]]]))
    op("aclnnMaxUnpool2dBackward")(slope, hollow((1, 1, 3), np.float32), indices, [2, 4], out)
    assert_same(out.numpy(), np.float16([[[5, 0, 5]]]))


@pytest.mark.parametrize("bad", [-1, 6, 2**31 - 1])
def test_a_place_outside_the_plane_is_a_fault(bad: int) -> None:
    ones, places = ap.zeros((1, 1, 1), np.float32), place(np.array([[[bad]]], np.int32))
    image = ap.zeros((1, 2, 3), np.float32)
    text = fault("aclnnAdaptiveMaxPool2dBackward", ones, image, places, ap.zeros_like(image))
    assert "indices" in text and str(bad) in text
    text = fault("aclnnMaxUnpool2d", ones, places, [2, 3], ap.zeros_like(image))
    assert "indices" in text and str(bad) in text


def test_bits_of_margins_and_of_windows_that_do_not_exist_name_nothing() -> None:
    every = place(np.full((1, 1, 9, 64), -1, np.int8)).with_format("NCHW")
    slope = place(np.ones((1, 1, 2, 2), np.float32)).with_format("NCHW")
    image = ap.zeros((1, 1, 3, 3), np.float32).with_format("NCHW")
    out = hollow((1, 1, 3, 3), np.float32).with_format("NCHW")
    call = "aclnnMaxPool2dWithMaskBackward"
    op(call)(slope, image, every, [3, 3], [2, 2], [1, 1], [1, 1], False, out)
    assert_same(out.numpy()[0, 0], np.float32([[1, 2, 1], [2, 4, 2], [1, 2, 1]]))


def test_the_mask_of_a_pool_leads_its_gradient() -> None:
    rng = np.random.default_rng(7)
    image = distinct(rng, (2, 3, 8, 9)).astype(np.float32)
    shape = (2, 3, *(count_windows(size, 3, 2, (1, 1)) for size in (8, 9)))
    y, mask = hollow(shape, np.float32), hollow((2, 3, 9, 96), np.int8)
    tensors = [part.with_format("NCHW") for part in (place(image), y, mask)]
    how = [[3, 3], [2, 2], [1, 1], [1, 1], False]
    op("aclnnMaxPool2dWithMask")(tensors[0], *how, *tensors[1:])
    dy = rng.standard_normal(shape).astype(np.float32)
    dx = hollow(image.shape, np.float32).with_format("NCHW")
    slope = place(dy).with_format("NCHW")
    op("aclnnMaxPool2dWithMaskBackward")(slope, tensors[0], tensors[2], *how, dx)
    pool = Windows(2, [3], [2], [1], False)
    places = pool.pool(wide(image), "place").astype(int).reshape(6, -1)
    wanted = np.zeros((6, 72))
    for plane, row in enumerate(places):
        np.add.at(wanted[plane], row, wide(dy).reshape(6, -1)[plane])
    assert_close(dx.numpy(), wanted.reshape(image.shape))


def test_nan_is_the_largest_and_the_first_of_equals_is_the_place() -> None:
    image = np.array([[[[1, np.nan, 5, 5], [2, 3, 5, 4]]]], np.float32)
    y, mask = hollow((1, 1, 1, 2), np.float32), hollow((1, 1, 4, 64), np.int8)
    op("aclnnMaxPool2dWithMask")(place(image), [2, 2], [], [0, 0], [1, 1], False, y, mask)
    assert_same(y.numpy(), np.float32([[[[np.nan, 5]]]]))
    assert mask.numpy()[0, 0, :, 0].tolist() == [2, 1, 0, 0]
    out = hollow((1, 1, 1, 1), np.float32)
    op("aclnnGlobalMaxPool")(place(image), out)
    assert np.isnan(out.numpy()).all()


@pytest.mark.emulator_only(reason="compares the emulator's own words")
def test_wrong_calls_name_the_parameter() -> None:
    image, slope = ap.zeros((2, 4, 4), np.float32), ap.zeros((2, 2, 2), np.float32)
    places, ones = ap.zeros((2, 2, 2), np.int32), [[2, 2], [2, 2], [0, 0], [1, 1], False]
    call = "aclnnMaxPool2dWithIndicesBackward"
    two = [*ones[:3], [2, 2], False]
    text = message(call, 161002, [slope, image, places, *two, image])
    assert "dilation has the value 2" in text
    text = message(call, 161002, [image, image, places, *ones, image])
    assert "gradOutput has shape (2, 4, 4); expected (2, 2, 2)" in text
    text = message(call, 161002, [slope, image, ap.zeros((2, 2, 1), np.int32), *ones, image])
    assert "indices has shape" in text
    cells = "aclnnAdaptiveAvgPool2dBackward"
    assert "gradOutput has 3 dimensions" in message(
        cells, 161002, [slope, ap.zeros((1, 2, 4, 4), np.float32), image]
    )
    empty = ap.zeros((2, 0, 4), np.float32)
    assert "self has shape (2, 0, 4)" in message(cells, 161002, [slope, empty, empty])
    unpooled = ap.zeros((2, 1, 3), np.float32)
    text = message("aclnnMaxUnpool2d", 161002, [slope, places, [1, 3], unpooled])
    assert "outputSize asks for fewer elements" in text
    assert "outputSize has 1 values" in message(
        "aclnnMaxUnpool2d", 161002, [slope, places, [4], unpooled]
    )
    hollow_channel = ap.zeros((1, 2, 0, 4), np.float32)
    one = ap.zeros((1, 2, 1, 1), np.float32)
    assert "no largest" in message("aclnnGlobalMaxPool", 161002, [hollow_channel, one])
