# SPDX-License-Identifier: Apache-2.0
"""Gradients of resized and sampled images, of affine grids and of three neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Changed, Chip950, Given
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, wide
from helpers.slopes import slopes as analytic_slopes

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, message, suite
from .resize_oracle import counted, resized, sampled, stretches
from .window_oracle import FORMATS, kept, slopes

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Ints = Sequence[int]
KINDS = {
    "UpsampleNearest1dBackward": "below",
    "UpsampleNearest2dBackward": "below",
    "UpsampleNearest3dBackward": "below",
    "UpsampleNearestExact1dBackward": "middle",
    "UpsampleNearestExact2dBackward": "middle",
    "UpsampleNearestExact3dBackward": "middle",
    "UpsampleLinear1dBackward": "linear",
    "UpsampleBilinear2dBackward": "linear",
    "UpsampleBilinear2dBackwardV2": "linear",
    "UpsampleTrilinear3dBackward": "linear",
    "UpsampleBicubic2dBackward": "cubic",
    "UpsampleBilinear2dAABackward": "smooth linear",
    "UpsampleBicubic2dAAGrad": "smooth cubic",
}


def turned(x: Array, form: str) -> Array:
    return np.moveaxis(x, 1, -1) if form.endswith("C") else x


def resizing(
    operator: str,
    note: str,
    image: Ints,
    counts: list[int],
    *attributes: float,
    align: bool = False,
    form: str = "",
) -> Case:
    """``attributes`` are the scales."""
    form = form or FORMATS[len(image)]
    kind = KINDS[operator]

    def build(rng: Rng, dtype: Any) -> Problem:
        dy = rng.standard_normal((*image[:2], *counts)).astype(dtype)

        used = counted(operator, image[2:], counts, attributes)

        def forward(x: Array) -> Array:
            nearest = kind in ("below", "middle")
            return resized(f"given back {kind}" if nearest else kind, x, counts, align, used)

        dx = slopes(forward, wide(dy), np.zeros(image))
        shape = turned(dx, form).shape if operator == "UpsampleNearest2dBackward" else image
        corners = [] if kind in ("below", "middle") else [align]
        given = [In(turned(dy, form), form), counts, list(shape), *corners, *attributes]
        return [*given, Out(turned(dx, form), dtype, 4, form)]

    return Case(operator, kept(build), note)


def sampling(mode: int, padding: int, align: bool, spatial: int, mask: list[bool]) -> Case:
    form = {2: "ND", 3: "NCDHW"}[spatial]

    def build(rng: Rng, dtype: Any) -> Problem:
        x = rng.standard_normal((2, 2, 4, 3, 2)[: spatial + 2]).astype(dtype)
        grid = (rng.standard_normal((2, *(2, 3, 2)[:spatial], spatial)) * 1.2).astype(dtype)
        dy = rng.standard_normal((2, 2, *grid.shape[1:-1])).astype(dtype)

        def forward(x: Array, grid: Array) -> Array:
            return sampled(x, grid, mode, padding, align)

        dx, dgrid = analytic_slopes(forward, [wide(x), wide(grid)], wide(dy))
        given = [In(dy, form), In(x, form), In(grid), mode, padding, align, mask]
        # A gradient that the mask does not ask for is not written.
        asked = [Out(dx, dtype, 8, form), Out(dgrid, dtype, 64)]
        rest = [In(x, form), In(grid)]
        return [*given, *(asked[i] if mask[i] else rest[i] for i in (0, 1))]

    return Case(f"GridSampler{spatial}DBackward", kept(build), f"{mode}-{padding}-{align}-{mask}")


def neighbours(features: int, rank: int) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        dy = rng.standard_normal((2, 3, 7)).astype(dtype)
        index = rng.integers(0, features, (2, 7, 3))
        weight = rng.standard_normal((2, 7, 3)).astype(dtype)
        dx = np.zeros((2, 3, features))
        for n, i, k in np.ndindex(index.shape):
            dx[n, :, index[n, i, k]] += wide(dy)[n, :, i] * wide(weight)[n, i, k]
        tail = (1,) * (rank - 3)
        given = [In(dy.reshape(*dy.shape, *tail)), In(index), In(weight), features]
        return [*given, Out(dx.reshape(*dx.shape, *tail), dtype, 4)]

    return Case("ThreeInterpolateBackward", build, f"{rank}d-{features}")


def affine(size: list[int], align: bool) -> Case:
    spatial = len(size) - 2

    def build(rng: Rng, dtype: Any) -> Problem:
        theta = rng.standard_normal((size[0], spatial, spatial + 1)).astype(dtype)
        axes = []
        for count in size[2:]:
            i = np.arange(count)
            aligned = 2 * i / (count - 1) - 1 if count > 1 else i * 0.0
            axes.append(aligned if align else (2 * i + 1) / count - 1)
        points = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size[2:])], -1)
        places = np.einsum("nij,...j->n...i", wide(theta), points)
        return [In(theta), size, align, Out(places, dtype, 4)]

    return Case("AffineGrid", build, f"{spatial}d-{align}-{size[-1]}")


NEAREST, EXACT = "UpsampleNearest", "UpsampleNearestExact"
CASES = [
    resizing(f"{NEAREST}1dBackward", "larger", (2, 2, 5), [8], 0.0),
    resizing(f"{NEAREST}2dBackward", "both", (2, 2, 3, 5), [7, 4], 0.0, 0.0),
    resizing(f"{NEAREST}2dBackward", "last", (1, 2, 3, 4), [6, 5], 2.0, 1.3, form="NHWC"),
    resizing(f"{NEAREST}2dBackward", "one-scale", (1, 2, 3, 4), [6, 5], 0.0, 1.4),
    resizing(f"{NEAREST}1dBackward", "scale", (2, 2, 5), [8], 1.7),
    resizing(f"{NEAREST}1dBackward", "unfit-scale", (2, 2, 5), [8], 1.2),
    resizing(f"{NEAREST}2dBackward", "left-over", (1, 2, 3, 4), [8, 9], 2.0, 1.5),
    resizing(f"{NEAREST}3dBackward", "both", (1, 2, 2, 3, 4), [3, 6, 2], 0.0, 0.0, 0.0),
    resizing(f"{NEAREST}3dBackward", "two-scales", (1, 2, 2, 3, 4), [3, 7, 2], 1.5, 2.0, 0.0),
    resizing(f"{EXACT}2dBackward", "left-over", (1, 2, 3, 4), [8, 9], 2.0, 1.5),
    resizing(f"{EXACT}1dBackward", "scale", (2, 2, 5), [8], 1.7, form="ND"),
    resizing(f"{EXACT}2dBackward", "both", (2, 2, 3, 5), [7, 4], 0.0, 0.0),
    resizing(f"{EXACT}3dBackward", "both", (1, 2, 2, 3, 2), [3, 5, 1], 0.0, 0.0, 0.0),
    resizing("UpsampleLinear1dBackward", "larger", (2, 3, 5), [12], 0.0),
    resizing("UpsampleLinear1dBackward", "aligned", (2, 3, 5), [3], 0.0, align=True, form="ND"),
    resizing("UpsampleBilinear2dBackward", "both", (2, 2, 3, 5), [7, 4], 0.0, 0.0),
    resizing("UpsampleBilinear2dBackward", "scales", (1, 2, 3, 4), [7, 5], 2.5, 1.3, form="NHWC"),
    resizing("UpsampleBilinear2dBackwardV2", "aligned", (2, 2, 3, 4), [5, 1], 0.0, 0.0, align=True),
    resizing("UpsampleBilinear2dBackwardV2", "scales", (1, 2, 3, 4), [7, 5], 2.5, 1.3),
    resizing("UpsampleBilinear2dBackwardV2", "unfit-scales", (1, 2, 3, 4), [7, 5], 2.5, 1.6),
    resizing("UpsampleTrilinear3dBackward", "both", (1, 1, 2, 3, 4), [3, 2, 6], 0.0, 0.0, 0.0),
    resizing("UpsampleTrilinear3dBackward", "scales", (1, 1, 2, 3, 4), [3, 4, 6], 1.6, 1.5, 1.4),
    resizing("UpsampleTrilinear3dBackward", "one", (1, 1, 2, 3, 4), [3, 4, 6], 1.6, 0.0, 0.0),
    resizing("UpsampleBicubic2dBackward", "both", (1, 2, 3, 5), [7, 4], 0.0, 0.0),
    resizing(
        "UpsampleBilinear2dAABackward", "smaller", (1, 1, 60, 23), [5, 2], 0.0, 0.0, align=True
    ),
    resizing("UpsampleBicubic2dAAGrad", "smaller", (1, 1, 60, 23), [5, 2], 0.0, 0.0, align=True),
    resizing("UpsampleBicubic2dBackward", "aligned", (1, 2, 4, 2), [3, 5], 0.0, 0.0, align=True),
    resizing("UpsampleBilinear2dAABackward", "both", (1, 2, 7, 3), [3, 5], 0.0, 0.0),
    resizing("UpsampleBicubic2dAAGrad", "both", (1, 2, 7, 3), [3, 5], 0.0, 0.0, form="ND"),
    resizing("UpsampleBicubic2dAAGrad", "scales", (1, 1, 9, 3), [4, 4], 0.5, 1.5),
    *[sampling(0, p, a, 2, [True, True]) for p in (0, 1, 2) for a in (False, True)],
    *[sampling(0, p, p == 1, 3, [True, True]) for p in (0, 1, 2)],
    sampling(1, 2, False, 2, [True, True]),
    sampling(1, 0, True, 3, [True, True]),
    sampling(0, 0, False, 2, [False, True]),
    sampling(0, 1, False, 3, [True, False]),
    neighbours(5, 3),
    neighbours(1, 4),
    affine([2, 1, 3, 4], False),
    affine([2, 1, 3, 1], True),
    affine([1, 3, 2, 3, 4], True),
]
TestGradients = suite(CASES)


@pytest.mark.parametrize(
    ("forward", "backward", "corners", "exact"),
    [
        ("UpsampleNearest2dV2", "UpsampleNearest2dBackward", (), True),
        ("UpsampleNearestExact2d", "UpsampleNearestExact2dBackward", (), True),
        ("UpsampleBilinear2d", "UpsampleBilinear2dBackward", (False,), False),
        ("UpsampleBilinear2d", "UpsampleBilinear2dBackwardV2", (True,), False),
        ("UpsampleBicubic2d", "UpsampleBicubic2dBackward", (False,), False),
        ("UpsampleBilinear2dAA", "UpsampleBilinear2dAABackward", (True,), False),
        ("UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad", (False,), False),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_gradient_is_the_transpose_of_its_function(
    forward: str, backward: str, corners: tuple[bool, ...], exact: bool, turned: bool
) -> None:
    small, large, rng = (2, 3, 13, 10), (2, 3, 7, 29), np.random.default_rng(0)
    if turned:
        small, large = large, small
    # Integers: where elements are only moved, both products are exact.
    x, dy = (rng.integers(-8, 9, shape).astype(np.float32) for shape in (small, large))
    form = "NCHW"
    y, dx = (hollow(shape, np.float32).with_format(form) for shape in (large, small))
    sizes = list(large[2:])
    op("aclnn" + forward)(ap.from_numpy(x, format=form), sizes, *corners, 0.0, 0.0, y)
    given = ap.from_numpy(dy, format=form)
    op("aclnn" + backward)(given, sizes, list(small), *corners, 0.0, 0.0, dx)
    products = [np.vdot(wide(a), wide(b)) for a, b in ((dy, y.numpy()), (dx.numpy(), x))]
    if exact:
        assert products[0] == products[1]
    else:
        assert_close(np.float64(products[0]), products[1], scale=1e7)


def test_sampling_backward_is_the_transpose_of_sampling() -> None:
    rng = np.random.default_rng(1)
    x, dy = rng.standard_normal((2, 3, 6, 5)), rng.standard_normal((2, 3, 4, 7))
    grid = ap.from_numpy(rng.standard_normal((2, 4, 7, 2)))
    y, dx, unwritten = hollow(dy.shape, float), hollow(x.shape, float), hollow((2, 4, 7, 2), float)
    before = unwritten.numpy().tobytes()
    ap.ops.grid_sampler2_d(ap.from_numpy(x), grid, 0, 2, False, y)
    ap.ops.grid_sampler2_d_backward(
        ap.from_numpy(dy), ap.from_numpy(x), grid, 0, 2, False, [True, False], dx, unwritten
    )
    np.testing.assert_allclose((dy * y.numpy()).sum(), (dx.numpy() * x).sum(), rtol=1e-12)
    assert unwritten.numpy().tobytes() == before


def test_many_slopes_of_one_element_are_summed_exactly() -> None:
    dy = np.full((1, 1, 300, 400), 1.0000001, np.float32)
    out = hollow((1, 1, 1, 1), np.float32).with_format("NCHW")
    given = ap.from_numpy(dy, format="NCHW")
    op("aclnnUpsampleNearest2dBackward")(given, [300, 400], [1, 1, 1, 1], 0.0, 0.0, out)
    assert_same(out.numpy(), dy.astype(np.float64).sum(keepdims=True).astype(np.float32))


def test_a_scale_that_does_not_belong_to_the_sizes_is_ignored_along_a_line() -> None:
    dy = np.random.default_rng(2).standard_normal((1, 2, 8)).astype(np.float32)
    results = []
    for scale in (0.0, 5.0):
        out = hollow((1, 2, 5), np.float32).with_format("NCL")
        given = ap.from_numpy(dy, format="NCL")
        op("aclnnUpsampleLinear1dBackward")(given, [8], [1, 2, 5], False, scale, out)
        results.append(out.numpy())
    exact = slopes(lambda x: resized("linear", x, [8], False, []), wide(dy), np.zeros((1, 2, 5)))
    assert_close(results[0], exact, scale=4)
    assert_same(results[1], results[0])


def test_volumes_with_channels_last_are_sampled_and_give_gradients() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 4, 3, 2, 3)).astype(np.float32)
    grid = rng.standard_normal((1, 2, 3, 2, 3)).astype(np.float32)
    results = []
    for last in (False, True):
        form = "NDHWC" if last else "NCDHW"
        shape = (1, 2, 3, 2, 4) if last else (1, 4, 2, 3, 2)
        image = ap.from_numpy(np.ascontiguousarray(turned(x, form)), format=form)
        y = hollow(shape, np.float32).with_format(form)
        dx, dgrid = hollow(image.shape, np.float32).with_format(form), hollow(grid.shape, "f4")
        places = ap.from_numpy(grid)
        ap.ops.grid_sampler3_d(image, places, 0, 1, False, y)
        ap.ops.grid_sampler3_d_backward(y, image, places, 0, 1, False, [True, True], dx, dgrid)
        back = [np.moveaxis(t.numpy(), -1, 1) if last else t.numpy() for t in (y, dx)]
        assert_close(back[0], sampled(wide(x), wide(grid), 0, 1, False), scale=8)
        results.append([*back, dgrid.numpy()])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_empty_grid_gives_an_image_of_zeros() -> None:
    dx, dgrid = hollow((2, 3, 4, 5), np.float32), hollow((2, 0, 7, 2), np.float32)
    ap.ops.grid_sampler2_d_backward(
        ap.zeros((2, 3, 0, 7), np.float32), ap.zeros((2, 3, 4, 5), np.float32), dgrid, 0, 0, True,
        [True, True], dx, hollow((2, 0, 7, 2), np.float32),
    )  # fmt: skip
    assert_same(dx.numpy(), np.zeros((2, 3, 4, 5), np.float32))


@pytest.mark.emulator_only(reason="compares the emulator's own words")
@pytest.mark.parametrize("index", [6, -1])
def test_a_neighbour_outside_the_features_is_a_fault(index: int) -> None:
    places = np.zeros((1, 2, 3), np.int64)
    places[0, 1, 2] = index
    slope, weight = ap.zeros((1, 2, 2), np.float32), ap.zeros((1, 2, 3), np.float32)
    text = fault("aclnnThreeInterpolateBackward", slope, place(places), weight, 6,
                 hollow((1, 2, 6), np.float32))  # fmt: skip
    assert f"idx {index}" in text or f"idx has {index}" in text or str(index) in text


@pytest.mark.emulator_only(reason="compares the emulator's own words")
def test_wrong_calls_name_the_parameter() -> None:
    dy = ap.zeros((2, 3, 6, 6), np.float32, format="NCHW")
    dx = ap.zeros((2, 3, 4, 4), np.float32, format="NCHW")
    sizes, image = [6, 6], [2, 3, 4, 4]
    for operator, arguments, words in (
        ("UpsampleNearest2dBackward", [dy, [6], image, 0, 0, dx], "outputSize has 1 values"),
        ("UpsampleNearest2dBackward", [dy, sizes, [4, 4], 0, 0, dx], "inputSize has 2 values"),
        ("UpsampleNearest2dBackward", [dy, [6, 5], image, 0, 0, dx], "outputSize asks for 5"),
        ("UpsampleNearest2dBackward", [dy, sizes, [2, 3, 4, 5], 0, 0, dx], "inputSize asks for 5"),
        ("UpsampleNearest2dBackward", [dy, sizes, [1, 3, 4, 4], 0, 0, dx], "a batch of 1 and 3"),
        ("UpsampleNearest2dBackward", [dy, sizes, [2, 3, 4, 0], 0, 0, dx], "inputSize asks for 0"),
        ("UpsampleNearest2dBackward", [dy.with_format("ND"), sizes, image, 0, 0, dx],
         "gradOut has format ND"),
        ("UpsampleNearestExact2dBackward", [dy, sizes, image, 0, -1, dx], "scalesW is -1"),
        ("UpsampleBicubic2dBackward", [dy, sizes, [0, 3, 4, 4], True, 0, 0, dx],
         "inputSize has the value 0"),
        ("UpsampleBicubic2dAAGrad", [dy, sizes, image, False, 0, 0.019, dx], "scalesW is 0.019"),
        ("UpsampleBilinear2dBackwardV2", [dy, sizes, image, True, 0, 0, dx.with_format("NHWC")],
         "out has format NHWC; it must have that of gradOut"),
    ):  # fmt: skip
        assert words in message("aclnn" + operator, 161002, arguments)
    wide_slope = ap.zeros((2, 3, 1, 6), np.float32, format="NCHW")
    tall = ap.zeros((2, 3, 51, 6), np.float32, format="NCHW")
    call = [wide_slope, [1, 6], [2, 3, 51, 6], False, 0, 0, tall]
    text = message("aclnnUpsampleBilinear2dAABackward", 161002, call)
    assert "51 elements along an axis become 1; antialiasing reduces at most 50 times" in text
    grid, places = ap.zeros((2, 6, 6, 2), np.float32), [True, True]
    for arguments, words in (
        ([dy, dx, grid, 2, 0, True, places, dx, grid], "interpolationMode is 2; allowed: 0 to 1"),
        ([dy, dx, grid, 0, 3, True, places, dx, grid], "paddingMode is 3"),
        ([dy, dx, grid, 0, 0, True, [True], dx, grid], "outputMask has 1 values; expected 2"),
        ([dx, dx, grid, 0, 0, True, places, dx, grid], "gradOutput has shape (2, 3, 4, 4)"),
        ([dy, dx, grid[:1], 0, 0, True, places, dx, grid], "grid has shape (1, 6, 6, 2)"),
    ):
        assert words in message("aclnnGridSampler2DBackward", 161002, arguments)
    theta, out = ap.zeros((2, 2, 3), np.float32), ap.zeros((2, 4, 5, 2), np.float32)
    for size, words in (
        ([2, 1, 4], "size has 3 values; allowed: 4, 5"),
        ([2, 1, 0, 5], "size has the value 0; allowed: 1 to 100000"),
        ([2, 1, 3, 5], "out has shape (2, 4, 5, 2)"),
        ([2, 1, 1, 4, 5], "theta has shape (2, 2, 3); expected (2, 3, 4)"),
    ):
        assert words in message("aclnnAffineGrid", 161002, [theta, size, True, out])
    slope, weight = ap.zeros((1, 2, 2, 2), np.float32), ap.zeros((1, 2, 3), np.float32)
    index = ap.zeros((1, 2, 3), np.int32)
    for arguments, words in (
        ([slope, index, weight, 6, slope], "a fourth dimension must be 1"),
        ([slope[..., :1], index, weight, 0, slope[..., :1]], "m is 0"),
        ([slope[..., :1], index, weight, 6, slope[..., :1]], "expected (1, 2, 6, 1)"),
    ):
        assert words in message("aclnnThreeInterpolateBackward", 161002, arguments)


# A place that is no number gives nothing back, but infinity behind a border does.
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize(
    ("padding", "given"), [(0, [0, 0, 0, 0]), (1, [4, 0, 0, 2]), (2, [0, 0, 0, 0])]
)
def test_gradients_of_places_that_are_no_numbers(
    mode: int, padding: int, given: list[float]
) -> None:
    image = np.array([5, 6, 7, 8], np.float32).reshape(1, 1, 1, 4)
    grid = np.zeros((1, 1, 3, 2), np.float32)
    grid[0, 0, :, 0] = [np.nan, np.inf, -np.inf]
    slopes = np.array([1, 2, 4], np.float32).reshape(1, 1, 1, 3)
    to_image, to_grid = ap.full(image.shape, 9, np.float32), ap.full(grid.shape, 9, np.float32)
    ap.ops.grid_sampler2_d_backward(
        *map(ap.from_numpy, (slopes, image, grid)), mode, padding, True, [True, True],
        to_image, to_grid,
    )  # fmt: skip
    np.testing.assert_array_equal(to_image.numpy().reshape(-1), given)
    np.testing.assert_array_equal(to_grid.numpy(), np.zeros(grid.shape))


@pytest.mark.parametrize(("sizes", "scale"), [((4, 5), 1.2), ((8, 16), 3.0), ((8, 16), 1.05)])
def test_gradients_of_the_nearest_element_where_nothing_is_resized(
    sizes: tuple[int, int], scale: float
) -> None:
    rng = np.random.default_rng(2)
    dy = rng.integers(-8, 9, (1, 2, *sizes)).astype(np.float32)
    out = hollow(dy.shape, np.float32).with_format("NCHW")
    given = ap.from_numpy(dy, format="NCHW")
    op("aclnnUpsampleNearest2dBackward")(
        given, list(sizes), list(dy.shape), scale, scale, out
    )  # fmt: skip
    # Only scales that fit the sizes count, and only where the image is not small.
    used = scale if scale == 1.05 else 0.0
    rows, columns = (stretches("below", size, size, used) for size in sizes)
    oracle = np.einsum("nchw,hi,wj->ncij", dy.astype(np.float64), rows, columns)
    assert_same(out.numpy(), oracle.astype(np.float32))


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
@pytest.mark.parametrize("align", [False, True])
def test_a_950_copies_what_keeps_its_sizes(align: bool) -> None:
    line = np.arange(12, dtype=np.float32).reshape(1, 2, 6)
    image = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    made = Changed(np.zeros_like(image), "float32", format="NCHW")
    given = Given(image, "float32", format="NCHW")
    with Chip950() as newer:
        found = newer.operator(
            "upsample_linear1d", Given(line, "float32", format="NCL"), [6], align, 1.5,
            Changed(np.zeros_like(line), "float32", format="NCL"),
        )  # fmt: skip
        np.testing.assert_array_equal(found[0], line)
        for name in ("bilinear2d", "bicubic2d"):
            found = newer.operator(f"upsample_{name}", given, [3, 4], align, 1.5, 1.5, made)
            np.testing.assert_array_equal(found[0], image)
        sizes = [3, 4], [1, 2, 3, 4]
        found = newer.operator("upsample_nearest2d_backward", given, *sizes, 1.5, 1.5, made)
        np.testing.assert_array_equal(found[0], image)


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_310p_gives_back_to_the_nearest_element_by_the_sizes() -> None:
    slopes = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    with Chip950("310P") as smaller:
        (found,) = smaller.operator(
            "upsample_nearest2d_backward", Given(slopes, "float32", format="NCHW"),
            [4, 4], [1, 1, 2, 2], 1.5, 1.5,
            Changed(np.zeros((1, 1, 2, 2), np.float32), "float32", format="NCHW"),
        )  # fmt: skip
    np.testing.assert_array_equal(found, slopes.reshape(1, 1, 2, 2, 2, 2).sum((3, 5)))
