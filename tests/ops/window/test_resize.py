# SPDX-License-Identifier: Apache-2.0
"""Images with margins of their own and of another size against NumPy in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same, sample
from helpers.operators import NUMPY, hollow, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, suite
from .resize_oracle import counted, resized, sampled
from .window_oracle import FORMATS

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]
KINDS = {
    "Linear1d": "linear",
    "Bilinear2d": "linear",
    "Trilinear3d": "linear",
    "Bicubic2d": "cubic",
    "Bilinear2dAA": "smooth linear",
    "Bicubic2dAA": "smooth cubic",
}
# The dtypes whose kernels take scales, in the operators that have others too.
SCALED = ("float32", "float16", "bfloat16")
USUAL = frozenset(NUMPY) - {"UINT16", "UINT32", "UINT64"}


def padded(kind: str, note: str, x: Sequence[int], padding: list[int]) -> Case:
    spatial = len(padding) // 2

    def build(rng: Rng, dtype: Dtype) -> Problem:
        image = sample(rng, tuple(x), dtype)
        # The numbers of the operator begin with the last dimension.
        pairs = [(padding[2 * d], padding[2 * d + 1]) for d in reversed(range(spatial))]
        mode: Any = {"Reflection": "reflect", "Replication": "edge"}[kind]
        y = np.pad(image, [(0, 0)] * (len(x) - spatial) + pairs, mode=mode)
        return [In(image), padding, Out(y)]

    return Case(f"{kind}Pad{spatial}d", build, note, dtypes=USUAL)


def picked(
    operator: str, note: str, x: Sequence[int], counts: list[int], *scales: float, form: str = ""
) -> Case:
    form = form or FORMATS[len(x)]

    def build(rng: Rng, dtype: Dtype) -> Problem:
        image = sample(rng, tuple(x), dtype)
        kind = "middle" if "Exact" in operator else "below"
        first = np.moveaxis(wide(image), -1, 1) if form.endswith("C") else wide(image)
        used = counted(f"UpsampleNearest{operator}", first.shape[2:], counts, scales)
        if operator[1:] == "dV2" and np.dtype(dtype).name not in SCALED:
            used = []
        y = resized(kind, first, counts, False, used)
        y = np.moveaxis(y, 1, -1) if form.endswith("C") else y
        return [In(image, form), counts, *scales, Out(y.astype(dtype), None, 1, form)]

    return Case(f"UpsampleNearest{operator}", build, note)


def weighed(
    operator: str,
    note: str,
    x: Sequence[int],
    counts: list[int],
    align: bool,
    *scales: float,
    form: str = "",
) -> Case:
    form = form or FORMATS[len(x)]

    def build(rng: Rng, dtype: Dtype) -> Problem:
        image = sample(rng, tuple(x), dtype, 1.0)
        used = counted(f"Upsample{operator}", x[2:], counts, scales)
        if operator == "Bilinear2d" and np.dtype(dtype).name not in SCALED:
            used = []
        y = resized(KINDS[operator], wide(image), counts, align, used)
        return [In(image, form), counts, align, *scales, Out(y, dtype, 2, form)]

    return Case(f"Upsample{operator}", build, note)


def grid_sample(mode: int, padding: int, align: bool, spatial: int = 2) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = rng.standard_normal((2, 3, 4, 5, 3)[: spatial + 2]).astype(dtype)
        grid = (rng.standard_normal((2, *(3, 7, 2)[:spatial], spatial)) * 1.2).astype(dtype)
        y = sampled(wide(x), wide(grid), mode, padding, align)
        return [In(x), In(grid), mode, padding, align, Out(y, dtype, 8)]

    note = f"{mode}-{padding}-{align}"
    dtypes = frozenset({"FLOAT", "FLOAT16", "BFLOAT16"}) | ({"DOUBLE"} if mode < 2 else set())
    return Case(f"GridSampler{spatial}D", build, note, dtypes=dtypes)


TestTable = suite(
    [
        *(
            grid_sample(mode, padding, align)
            for mode in (0, 1, 2)
            for padding in (0, 1, 2)
            for align in (False, True)
        ),
        grid_sample(0, 0, False, 3),
        grid_sample(0, 1, True, 3),
        grid_sample(0, 2, False, 3),
        grid_sample(1, 2, True, 3),
        *(
            padded(kind, note, x, padding)
            for kind in ("Reflection", "Replication")
            for note, x, padding in [
                ("2d", (3, 5), [2, 4]),
                ("3d", (2, 3, 4), [3, 0]),
                ("3d", (2, 4, 5), [1, 2, 3, 0]),
                ("4d", (2, 2, 3, 4), [0, 3, 2, 1]),
                ("no-samples", (0, 2, 3, 4), [1, 1, 1, 1]),
                ("4d", (2, 3, 2, 4), [1, 3, 1, 0, 0, 2]),
                ("5d", (1, 2, 2, 3, 4), [2, 1, 0, 2, 1, 1]),
            ]
        ),
        padded("Replication", "wider-than-the-image", (1, 2, 2), [5, 7]),
        picked("1d", "larger", (2, 3, 5), [12]),
        picked("2d", "larger", (2, 3, 4, 5), [7, 10]),
        picked("2d", "smaller", (2, 3, 7, 9), [3, 4]),
        picked("2d", "no-samples", (0, 3, 4, 4), [2, 2]),
        picked("2d", "channels-last", (2, 4, 5, 3), [7, 10], form="NHWC"),
        picked("3d", "scales", (1, 2, 3, 4, 5), [5, 6, 7], 1.7, 0.0, 1.4),
        picked("3d", "all-scales", (1, 2, 3, 4, 5), [5, 6, 7], 1.7, 1.6, 1.5),
        picked("2dV2", "all-scales", (2, 3, 4, 5), [6, 9], 1.6, 1.9),
        picked("1dV2", "scale", (2, 3, 5), [8], 1.6),
        picked("2dV2", "scales", (2, 3, 4, 5), [6, 9], 0.0, 2.5),
        picked("2dV2", "one-size", (2, 3, 4, 5), [4, 9], 1.3, 2.5),
        picked("3d", "one-size", (1, 2, 3, 4, 5), [3, 6, 7], 1.3, 1.6, 1.5),
        picked("Exact1d", "one-size", (2, 3, 9), [9], 0.7),
        picked("Exact2d", "one-size", (2, 3, 4, 7), [4, 3], 1.3, 0.5),
        picked("Exact1d", "larger", (2, 3, 5), [13], 0.0),
        picked("Exact2d", "both", (2, 3, 4, 7), [9, 3], 0.0, 0.0),
        picked("Exact3d", "scales", (1, 2, 3, 4, 5), [4, 9, 2], 0.0, 2.1, 0.5, form="ND"),
        weighed("Linear1d", "larger", (2, 3, 5), [12], False, 0.0),
        weighed("Linear1d", "aligned", (2, 3, 5), [12], True, 0.0, form="ND"),
        weighed("Bilinear2d", "both", (2, 3, 4, 9), [7, 4], False, 0.0, 0.0),
        weighed("Linear1d", "scale", (2, 3, 5), [12], False, 2.3),
        weighed("Linear1d", "one-size", (2, 3, 5), [5], False, 1.3),
        weighed("Bilinear2d", "scales", (2, 3, 4, 5), [9, 7], False, 2.3, 1.5),
        weighed("Bilinear2d", "one-scale", (2, 3, 4, 5), [9, 7], False, 2.3, 0.0),
        weighed("Bilinear2d", "unfit-scales", (2, 3, 4, 5), [9, 7], False, 2.3, 1.3),
        weighed("Bilinear2d", "one-size", (2, 3, 4, 5), [4, 7], False, 1.2, 1.5),
        weighed("Bilinear2d", "aligned", (2, 3, 4, 5), [1, 7], True, 0.0, 0.0),
        weighed("Bilinear2d", "no-samples", (0, 3, 4, 5), [2, 2], True, 0.0, 0.0),
        weighed("Bicubic2d", "both", (2, 3, 4, 9), [7, 4], False, 0.0, 0.0),
        weighed("Bicubic2d", "scales", (2, 3, 4, 5), [9, 7], False, 2.3, 0.0, form="ND"),
        weighed("Bicubic2d", "one-size", (2, 3, 4, 5), [4, 7], False, 1.2, 1.5),
        weighed("Bicubic2d", "aligned", (2, 3, 1, 5), [1, 7], True, 0.0, 0.0),
        weighed("Bilinear2dAA", "both", (2, 3, 14, 4), [5, 9], False, 0.0, 0.0),
        weighed("Bilinear2dAA", "scales", (2, 3, 9, 7), [4, 3], False, 0.5, 0.0, form="ND"),
        weighed("Bilinear2dAA", "aligned", (2, 3, 9, 4), [4, 6], True, 0.0, 0.0),
        weighed("Bilinear2dAA", "much-smaller", (1, 2, 100, 45), [10, 4], True, 0.0, 0.0),
        weighed("Bilinear2dAA", "one-size", (1, 2, 9, 7), [9, 3], False, 0.7, 0.4),
        weighed("Bilinear2dAA", "behind-the-image", (1, 2, 9, 7), [8, 6], False, 0.5, 0.0),
        weighed("Bicubic2dAA", "much-smaller", (1, 2, 100, 45), [10, 4], True, 0.0, 0.0),
        weighed("Bicubic2dAA", "both", (2, 3, 14, 4), [5, 9], False, 0.0, 0.0),
        weighed("Bicubic2dAA", "fifty-to-one", (1, 1, 50, 3), [1, 1], False, 0.0, 0.0),
        weighed("Bicubic2dAA", "aligned", (2, 3, 9, 4), [4, 6], True, 0.0, 0.0, form="ND"),
        weighed("Trilinear3d", "both", (1, 2, 3, 4, 5), [5, 3, 8], False, 0.0, 0.0, 0.0),
        weighed("Trilinear3d", "aligned", (1, 2, 3, 4, 5), [5, 3, 8], True, 0.0, 0.0, 0.0),
        weighed("Trilinear3d", "scales", (1, 2, 3, 4, 5), [5, 4, 8], False, 1.7, 1.3, 1.4),
        weighed("Trilinear3d", "two-scales", (1, 2, 3, 4, 5), [5, 3, 8], False, 1.7, 0.0, 1.4),
    ]
)


def test_bilinear_reads_channels_last() -> None:
    x = np.random.default_rng(3).standard_normal((2, 4, 5, 3)).astype(np.float64)
    out = ap.empty((2, 7, 6, 3), np.float64, format="NHWC")
    ap.ops.upsample_bilinear2d(ap.from_numpy(x, format="NHWC"), [7, 6], False, 0.0, 0.0, out)
    oracle = np.moveaxis(resized("linear", np.moveaxis(x, -1, 1), [7, 6], False, []), 1, -1)
    np.testing.assert_allclose(out.numpy(), oracle, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1, 1)])
def test_one_element_is_reflected_into_any_rank(shape: tuple[int, ...]) -> None:
    out = hollow(shape, np.float32)
    ap.ops.reflection_pad1d(ap.from_numpy(np.full((1, 1), 5, np.float32)), [0, 0], out)
    assert_same(out.numpy(), np.full(shape, 5, np.float32))


@pytest.mark.emulator_only(reason="replication asks for the very shape")
def test_one_element_is_replicated_into_its_own_rank() -> None:
    one = ap.from_numpy(np.ones((1, 1), np.float32))
    assert refusal("aclnnReplicationPad1d", one, [0, 0], hollow((1,), np.float32)) == 161002


def test_a_small_image_of_twice_the_size_takes_no_scale() -> None:
    """UpsampleNearest2dV2: up to 128 rows and columns of the result together."""
    for width, ratio in [(60, 0.5), (62, 1 / 1.5)]:
        x = np.arange(width, dtype=np.float32).reshape(1, 1, 1, width)
        out = hollow((1, 1, 8, 2 * width), np.float32).with_format("NCHW")
        given = ap.from_numpy(x, format="NCHW")
        ap.ops.upsample_nearest2d_v2(given, [8, 2 * width], 8.0, 1.5, out)
        places = np.floor(np.arange(2 * width, dtype=np.float32) * np.float32(ratio))
        assert_same(out.numpy()[0, 0, 0], np.minimum(places, width - 1).astype(np.float32))


@pytest.mark.parametrize("scale", [1e-300, 5e-324, 1e300])
def test_scales_beyond_all_measure_stay_inside_the_image(scale: float) -> None:
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 6)
    out = hollow((1, 1, 4), np.float32).with_format("NCL")
    ap.ops.upsample_nearest_exact1d(ap.from_numpy(x, format="NCL"), [4], scale, out)
    assert_same(out.numpy()[0, 0], np.full(4, 0.0 if scale > 1 else 5.0, np.float32))
    out = hollow((1, 1, 4), np.float32).with_format("NCL")
    ap.ops.upsample_linear1d(ap.from_numpy(x, format="NCL"), [4], False, scale, out)
    assert_same(out.numpy()[0, 0], np.full(4, 0.0 if scale > 1 else 5.0, np.float32))


@pytest.mark.emulator_only(reason="compares the emulator's own words")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("ap.ops.reflection_pad2d(x, [1, 1], y)", "padding has 2 values; allowed: 4"),
        ("ap.ops.reflection_pad2d(x, [-1, 1, 1, 1], y)", "padding has the value -1"),
        ("ap.ops.reflection_pad2d(x, [4, 0, 0, 0], y)", "a reflection needs less than there are"),
        ("ap.ops.reflection_pad1d(x, [1, 1], y)", "self has 4 dimensions; allowed: 2 to 3"),
        ("ap.ops.replication_pad2d(x, [1, 0, 0, 0], y)", r"expected \(2, 3, 4, 5\)"),
        ("ap.ops.replication_pad2d(x, [1] * 4, y.astype('int8'))", "out has dtype INT8"),
        (
            "ap.ops.replication_pad2d(x, [1] * 4, y.with_format('ND'))",
            "must have that of self, NCHW",
        ),
        ("ap.ops.reflection_pad2d(x, [1] * 4, y.with_format('NHWC'))", "out has format NHWC"),
        ("ap.ops.upsample_nearest3d(x.astype('uint8'), [6], 0, 0, 0, y)", "self has dtype UINT8"),
        ("ap.ops.replication_pad2d(x.astype('uint16'), [1] * 4, y)", "self has dtype UINT16"),
        ("ap.ops.upsample_nearest2d(x, [6], y)", "outputSize has 1 values; allowed: 2"),
        ("ap.ops.upsample_nearest2d(x, [0, 6], y)", "outputSize has the value 0"),
        ("ap.ops.upsample_nearest2d(x, [6, 5], y)", "outputSize asks for 5, not 6"),
        ("ap.ops.upsample_nearest2d(x.with_format('ND'), [6, 6], y)", "self has format ND"),
        ("ap.ops.upsample_nearest2d(x, [6, 6], y.with_format('NHWC'))", "out has format NHWC"),
        ("ap.ops.upsample_nearest2d(x[:1], [6, 6], y)", "batch and channels must be those of self"),
        ("ap.ops.upsample_bicubic2d(x.with_format('NHWC'), [6, 6], False, 0, 0, y)", "format NHWC"),
        ("ap.ops.upsample_bilinear2d_aa(x, [6, 6], False, -1, 0, y)", "scalesH is -1"),
        (
            "ap.ops.upsample_bicubic2d_aa(x, [6, 6], False, 0.01, 0, y)",
            "scalesH is 0.01; antialiasing takes 0, or at least 0.02",
        ),
        ("ap.ops.upsample_bilinear2d(x.astype('uint8'), [6, 6], False, 0, 0, y)", "dtype UINT8"),
        (
            "ap.ops.upsample_bilinear2d(x[:, :0], [6, 6], False, 0, 0, y)",
            "only the batch may be empty",
        ),
    ],
)
def test_attributes_outside_their_range_are_refused(call: str, words: str) -> None:
    x = ap.zeros((2, 3, 4, 4), np.float32, format="NCHW")
    y = ap.zeros((2, 3, 6, 6), np.float32, format="NCHW")
    with pytest.raises(ap.errors.AclnnError, match=words) as caught:
        eval(call, {"ap": ap, "x": x, "y": y})
    assert caught.value.status == 161002


# Of each padding what NaN, infinity and minus infinity read from a line of 0 to 3.
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize(("padding", "found"), [(0, [0, 0, 0]), (1, [5, 8, 5]), (2, [5, 5, 5])])
def test_places_that_are_no_numbers(
    mode: int, padding: int, found: list[float], align: bool
) -> None:
    x = np.array([5, 6, 7, 8], np.float32)
    grid = np.zeros((1, 1, 4, 2), np.float32)
    grid[0, 0, :3, 0] = [np.nan, np.inf, -np.inf]
    out = hollow((1, 1, 1, 4), np.float32)
    image = ap.from_numpy(x.reshape(1, 1, 1, 4))
    ap.ops.grid_sampler2_d(image, ap.from_numpy(grid), mode, padding, align, out)
    oracle = found if mode != 2 or padding == 0 else [np.nan] * 3
    np.testing.assert_array_equal(out.numpy()[0, 0, 0, :3], oracle)
    if mode == 2:
        return
    volume = ap.from_numpy(x.reshape(1, 1, 4, 1, 1))
    places = np.zeros((1, 1, 1, 3, 3), np.float32)
    places[0, 0, 0, :, 2] = grid[0, 0, :3, 0]
    out = hollow((1, 1, 1, 1, 3), np.float32)
    ap.ops.grid_sampler3_d(volume, ap.from_numpy(places), mode, padding, align, out)
    np.testing.assert_array_equal(out.numpy().reshape(-1), oracle)


@pytest.mark.parametrize("align", [True, False])
def test_places_far_away_are_reflected(align: bool) -> None:
    x = np.arange(8, dtype=np.float32)
    position = np.array([1_300_000, -1_300_000, 1_400_001, 2_000_000], np.float32)
    grid = np.zeros((1, 1, 4, 2), np.float32)
    grid[0, 0, :, 0] = position
    out = hollow((1, 1, 1, 4), np.float32)
    ap.ops.grid_sampler2_d(
        ap.from_numpy(x.reshape(1, 1, 1, 8)), ap.from_numpy(grid), 0, 2, align, out
    )
    # float32 holds the places, and what they are reflected to.
    one = np.float32(1)
    if align:
        place = ((position + one) / 2 * np.float32(7)).astype(np.float64)
        turned = np.abs(place) % 14
        oracle = np.minimum(turned, 14 - turned)
    else:
        place = (((position + one) * np.float32(8) - one) / 2).astype(np.float64)
        turned = np.abs(place + 0.5) % 16
        oracle = np.clip(np.minimum(turned, 16 - turned) - 0.5, 0, 7)
    np.testing.assert_array_equal(out.numpy().reshape(-1), oracle)
