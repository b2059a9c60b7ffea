# SPDX-License-Identifier: Apache-2.0
"""Regions of feature maps sampled and pooled to one size, sample by sample in float64."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Changed, Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
MAP = (2, 3, 6, 5)
# Image, then x1, y1, x2, y2: inside, over the edge, without extent, far outside, between elements.
BOXES = [
    (0, 0.0, 1.0, 4.0, 5.0),
    (1, -3.0, -2.0, 7.0, 9.0),
    (1, 2.5, 2.5, 2.5, 2.5),
    (0, 40.0, 40.0, 50.0, 60.0),
    (1, 0.75, 1.25, 3.5, 4.75),
]


def between(plane: Array, y: float, x: float) -> float:
    """The value at a place between four elements; 0 beyond one element outside."""
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    rows, columns = np.arange(height), np.arange(width)
    near = np.maximum(0, 1 - abs(rows - y))[:, None] * np.maximum(0, 1 - abs(columns - x))
    return float((near * plane).sum())


def places(first: float, last: float, scale: float, bins: int, ratio: int, aligned: bool) -> Any:
    """Where the samples of each bin lie along an axis."""
    start = first * scale - 0.5 * aligned
    size = last * scale - 0.5 * aligned - start
    size = size if aligned else max(size, 1.0)
    each = ratio or int(np.ceil(size / bins))
    return [
        [start + (p + (i + 0.5) / each) * size / bins for i in range(each)] for p in range(bins)
    ]


def roi_align(
    x: Array, boxes: Sequence[Any], bins: tuple[int, int], scale: float, ratio: int, aligned: bool,
    reduce: Any = np.mean,
) -> Array:  # fmt: skip
    found = np.zeros((len(boxes), x.shape[1], *bins))
    for k, (image, x1, y1, x2, y2) in enumerate(boxes):
        down = places(y1, y2, scale, bins[0], ratio, aligned)
        across = places(x1, x2, scale, bins[1], ratio, aligned)
        for c, p, q in np.ndindex(x.shape[1], *bins):
            pairs = itertools.product(down[p], across[q])
            samples = [between(x[int(image), c], *pair) for pair in pairs]
            found[k, c, p, q] = reduce(samples) if samples else 0
    return found


def align_case(scale: float, ratio: int, aligned: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x = rng.standard_normal(MAP).astype(dtype)
        y = roi_align(wide(x), BOXES, (2, 3), scale, ratio, aligned)
        boxes = np.array(BOXES, dtype)
        return [In(x), In(boxes), 2, 3, scale, ratio, aligned, Out(y, dtype, 4)]

    return Case("RoiAlignV2", build, f"{scale}-{ratio}-{aligned}")


def first_case(mode: str, ratio: int) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x = rng.standard_normal(MAP).astype(dtype)
        reduce = np.mean if mode == "avg" else np.max
        y = roi_align(wide(x), BOXES, (3, 2), 0.5, ratio, False, reduce)
        boxes, images = np.array(BOXES, dtype)[:, 1:], np.array(BOXES)[:, 0].astype(np.int32)
        return [In(x), In(boxes), In(images), mode, 3, 2, ratio, 0.5, Out(y, dtype, 4)]

    return Case("RoiAlign", build, f"{mode}-{ratio}")


def backward_case(scale: float, ratio: int, aligned: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        g = rng.standard_normal((len(BOXES), 3, 2, 3)).astype(dtype)
        slope = np.zeros(MAP)
        for n, row, column in np.ndindex(2, 6, 5):  # the forward is linear, its channels alike
            one = np.zeros((2, 1, 6, 5))
            one[n, 0, row, column] = 1
            y = roi_align(one, BOXES, (2, 3), scale, ratio, aligned)
            slope[n, :, row, column] = (wide(g) * y).sum((0, 2, 3))
        boxes = np.array(BOXES, dtype)
        return [In(g), In(boxes), list(MAP), 2, 3, scale, ratio, aligned, Out(slope, dtype, 4)]

    return Case("RoiAlignV2Backward", build, f"{scale}-{ratio}-{aligned}")


TestAlign = suite(
    [
        align_case(1.0, 2, False),
        align_case(0.5, 0, True),
        align_case(1.0, 0, False),
        first_case("avg", 0),
        first_case("max", 2),
    ]
)
TestAlignBackward = suite([backward_case(1.0, 2, False), backward_case(0.5, 0, True)])

EXAMPLE = np.array([[0, -2, -2, 22, 22]], np.float32)
EXAMPLE_MEANS = np.array([[4.5, 6.5, 8.5], [16.5, 18.5, 20.5], [28.5, 30.5, 32.5]], np.float32)


def test_the_example_of_the_document() -> None:
    x = np.arange(1, 37, dtype=np.float32).reshape(1, 1, 6, 6)
    out, slope = hollow((1, 1, 3, 3), np.float32), hollow((1, 1, 6, 6), np.float32)
    ap.ops.roi_align_v2(place(x), place(EXAMPLE), 3, 3, 0.25, 2, False, out)
    assert_same(out.numpy()[0, 0], EXAMPLE_MEANS)
    ap.ops.roi_align_v2_backward(out, place(EXAMPLE), [1, 1, 6, 6], 3, 3, 0.25, 2, False, slope)
    assert_same(slope.numpy()[0, 0], EXAMPLE_MEANS.repeat(2, 0).repeat(2, 1) / 4)


@pytest.mark.parametrize("far", [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e9])
@pytest.mark.parametrize("ratio", [0, 2])
def test_a_box_that_leads_nowhere_is_all_zeros(far: float, ratio: int) -> None:
    box = np.array([[0, far, 0, far, 3]], np.float32)
    out = hollow((1, 1, 2, 2), np.float32)
    ap.ops.roi_align_v2(
        ap.full((1, 1, 4, 4), 1, np.float32), place(box), 2, 2, 1.0, ratio, True, out
    )
    assert (out.numpy() == 0).all()


def test_a_box_larger_than_any_map_samples_what_there_is() -> None:
    box = np.array([[0, -1e9, -1e9, 1e9, 1e9]], np.float32)
    out, slope = hollow((1, 1, 1, 1), np.float32), hollow((1, 1, 4, 4), np.float32)
    ap.ops.roi_align_v2(ap.full((1, 1, 4, 4), 1, np.float32), place(box), 1, 1, 1.0, 0, False, out)
    assert 0 <= out.numpy()[0, 0, 0, 0] < 1e-12
    ap.ops.roi_align_v2_backward(
        ap.full((1, 1, 1, 1), 1, np.float32), place(box), [1, 1, 4, 4], 1, 1, 1.0, 0, False, slope
    )
    assert np.isfinite(slope.numpy()).all()


def test_no_box() -> None:
    boxes, slope = ap.empty((0, 5), np.float32), hollow((2, 3, 4, 4), np.float32)
    none = ap.empty((0, 3, 2, 2), np.float32)
    ap.ops.roi_align_v2(slope, boxes, 2, 2, 1.0, 0, True, none)
    ap.ops.roi_align_v2_backward(none, boxes, [2, 3, 4, 4], 2, 2, 1.0, 0, True, slope)
    assert (slope.numpy() == 0).all()


@pytest.mark.parametrize("image", [-1, 2, np.nan])
def test_an_image_that_does_not_exist_is_a_fault(image: float) -> None:
    x, out = hollow((2, 1, 4, 4), np.float32), hollow((1, 1, 2, 2), np.float32)
    box = place(np.array([[image, 0, 0, 1, 1]], np.float32))
    assert "boxes" in fault("aclnnRoiAlignV2", x, box, 2, 2, 1.0, 0, True, out)
    backward = (out, box, [2, 1, 4, 4], 2, 2, 1.0, 0, True, x)
    assert "boxes" in fault("aclnnRoiAlignV2Backward", *backward)
    if image == image:
        images = place(np.array([image], np.int32))
        four = place(np.array([[0, 0, 1, 1]], np.float32))
        text = fault("aclnnRoiAlign", x, four, images, "avg", 2, 2, 0, 1.0, out)
        assert f"batchIndices holds {image}" in text


def test_what_does_not_fit_is_refused() -> None:
    x, out = hollow((2, 1, 4, 4), np.float32), hollow((1, 1, 2, 2), np.float32)
    boxes = hollow((1, 5), np.float32)
    good = [x, boxes, 2, 2, 1.0, 0, True, out]
    for position, wrong, words in [
        (1, hollow((1, 4), np.float32), "boxes has shape (1, 4)"),
        (2, 0, "pooledHeight is 0"),
        (3, -1, "pooledWidth is -1"),
        (3, 1 << 40, "out has shape"),
        (4, 0.0, "spatialScale is 0"),
        (5, -1, "samplingRatio is -1"),
        (5, 1 << 40, "samplingRatio is 1099511627776"),
        (0, ap.empty((0, 1, 4, 4), np.float32), "self has shape (0, 1, 4, 4)"),
    ]:
        given = [wrong if i == position else a for i, a in enumerate(good)]
        assert words in message("aclnnRoiAlignV2", 161002, given)
    backward = [out, boxes, [2, 1, 4], 2, 2, 1.0, 0, True, x]
    assert "inputShape has 3" in message("aclnnRoiAlignV2Backward", 161002, backward)
    backward[2] = [2, 1, 4, 5]
    assert "gradInput has shape" in message("aclnnRoiAlignV2Backward", 161002, backward)
    images, four = hollow((1,), np.int32), hollow((1, 4), np.float32)
    text = message("aclnnRoiAlign", 161002, [x, four, images, "sum", 2, 2, 0, 1.0, out])
    assert 'mode is "sum"' in text


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def roi_pooling(x: Array, boxes: Array, bins: tuple[int, int], down: float, across: float) -> Any:
    values = np.zeros((len(boxes), x.shape[1], *bins))
    found = np.full(values.shape, -1)
    for k, (image, x1, y1, x2, y2) in enumerate(boxes):
        tall, broad = (y2 + 1 - y1) * down, (x2 + 1 - x1) * across
        for c, p, q in np.ndindex(x.shape[1], *bins):
            if tall <= 0 or broad <= 0:
                continue
            top, left = y1 * down + p * tall / bins[0], x1 * across + q * broad / bins[1]
            rows = range(*np.clip([np.floor(top), np.ceil(top + tall / bins[0])], 0, 6).astype(int))
            columns = range(
                *np.clip([np.floor(left), np.ceil(left + broad / bins[1])], 0, 5).astype(int)
            )
            for row, column in itertools.product(rows, columns):
                value = x[int(image), c, row, column]
                if found[k, c, p, q] < 0 or value > values[k, c, p, q]:
                    values[k, c, p, q], found[k, c, p, q] = value, row * 5 + column
    return values, found


POOLED = np.array(
    [(0, 0, 1, 4, 5), (1, 1, 0, 7, 9), (1, 3, 3, 2, 2), (0, 40, 40, 50, 60), (1, 0.5, 1, 3.5, 4)]
)
KINDS = [("float32", np.float32), ("float16", np.float16)]


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize(("dtype", "kind"), KINDS)
def test_pooling_takes_the_largest_of_each_bin(newer: Chip950, dtype: str, kind: Any) -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(-9, 9, MAP).astype(kind)  # with equal ones: the first counts
    values, found = roi_pooling(x.astype(float), POOLED, (2, 3), 0.5, 1.0)
    given = [Given(x, dtype, stepped=True), Given(POOLED.astype(kind), dtype)]
    made = [Made(values.shape, dtype), Made(values.shape, "int32", stepped=True)]
    y, argmax = newer.operator("roi_pooling_with_arg_max", *given, 2, 3, 0.5, 1.0, *made)
    assert_same(y, values.astype(kind))
    assert_same(argmax, found.astype(np.int32))
    assert (found == -1).any()


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize(("dtype", "kind"), KINDS)
def test_the_slope_of_pooling_goes_to_the_largest(newer: Chip950, dtype: str, kind: Any) -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal(MAP).astype(kind)
    _, found = roi_pooling(x.astype(float), POOLED, (2, 3), 0.5, 1.0)
    g = rng.standard_normal(found.shape).astype(kind)
    slope = np.zeros(MAP)
    for k, c, p, q in np.ndindex(found.shape):
        if found[k, c, p, q] >= 0:
            row, column = divmod(found[k, c, p, q], 5)
            slope[int(POOLED[k, 0]), c, row, column] += float(g[k, c, p, q])
    (result,) = newer.operator(
        "roi_pooling_grad_with_arg_max", Given(g, dtype, stepped=True), Changed(x, dtype),
        Given(POOLED.astype(kind), dtype), Given(found.astype(np.int32), "int32"), 2, 3, 0.5,
    )  # fmt: skip
    assert_close(result, slope.astype(kind), scale=4)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_pooling_refuses_what_does_not_fit(newer: Chip950) -> None:
    x, rois = (
        Given(np.ones(MAP, np.float32), "float32"),
        Given(np.ones((1, 5), np.float32), "float32"),
    )
    y, found = Made((1, 3, 2, 2), "float32"), Made((1, 3, 2, 2), "int32")

    def forward(*changed: Any) -> Refused:
        given = [x, rois, 2, 2, 1.0, 1.0, y, found]
        for position, value in changed:
            given[position] = value
        answer = newer.operator("roi_pooling_with_arg_max", *given)
        assert isinstance(answer, Refused), answer
        return answer

    four = Given(np.ones((1, 4), np.float32), "float32")
    for position, wrong, words in [
        (1, four, "rois has shape"), (2, 0, "pooled_h is 0"), (3, -2, "pooled_w is -2"),
        (4, 0.0, "spatial_scale_h is 0"), (5, -1.0, "spatial_scale_w is -1"),
        (7, Made((1, 3, 2, 3), "int32"), "argmax has shape"),
    ]:  # fmt: skip
        answer = forward((position, wrong))
        assert answer.status == 161002 and words in answer.text
    many = Given(np.zeros((1025, 5), np.float32), "float32")
    shape = (1025, 3, 2, 2)
    answer = forward((1, many), (6, Made(shape, "float32")), (7, Made(shape, "int32")))
    assert "1025 rows" in answer.text


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_a_position_outside_the_plane_is_a_fault(newer: Chip950) -> None:
    ones = Given(np.ones((1, 3, 1, 1), np.float32), "float32")
    at = Given(np.full((1, 3, 1, 1), 30, np.int32), "int32")
    rois = Given(np.zeros((1, 5), np.float32), "float32")
    # The device of that process is lost afterwards.
    answer = newer.operator(
        "roi_pooling_grad_with_arg_max", ones, Changed(np.ones(MAP, np.float32), "float32"),
        rois, at, 1, 1, 1.0,
    )  # fmt: skip
    assert answer.status == 507015 and "argmax holds 30" in answer.text


def test_another_chip_lacks_pooling() -> None:
    x, rois = hollow(MAP, np.float32), hollow((1, 5), np.float32)
    y, found = hollow((1, 3, 2, 2), np.float32), hollow((1, 3, 2, 2), np.int32)
    assert refusal("aclnnRoiPoolingWithArgMax", x, rois, 2, 2, 1.0, 1.0, y, found) == 161002
    assert refusal("aclnnRoiPoolingGradWithArgMax", y, x, rois, found, 2, 2, 1.0) == 161002
