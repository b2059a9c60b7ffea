# SPDX-License-Identifier: Apache-2.0
"""Convolution over samples that offsets move, and its gradients, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Changed, Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite
from .window_oracle import convolution

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Ints = Sequence[int]
STEP = 1e-6


class Shape:
    """The arguments of a deformable convolution."""

    def __init__(
        self, x: Ints, filters: int, window: Ints, stride: Ints = (1, 1), padding: Ints = (0,) * 4,
        dilation: Ints = (1, 1), groups: int = 1, moved: int = 1,
    ) -> None:  # fmt: skip
        self.x, self.window, self.groups, self.moved = tuple(x), tuple(window), groups, moved
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.w = (filters, x[1] // groups, *window)
        self.counts = tuple(
            (x[2 + d] + sum(padding[2 * d : 2 * d + 2]) - dilation[d] * (window[d] - 1) - 1)
            // stride[d]
            + 1
            for d in range(2)
        )
        self.y = (x[0], filters, *self.counts)
        self.offset = (x[0], 3 * moved * int(np.prod(window)), *self.counts)
        self.sampled = (*x[:2], *(c * k for c, k in zip(self.counts, window, strict=True)))

    @property
    def arrays(self) -> list[Any]:
        four = [[1, 1, *self.stride], list(self.padding), [1, 1, *self.dilation]]
        return [list(self.window), *four, self.groups, self.moved, True]

    def samples(self, x: Array, offset: Array) -> Array:
        """Each sample lies between four elements and is multiplied by its mask."""
        found = np.zeros(self.sampled)
        elements = int(np.prod(self.window))
        parts = offset.reshape(len(x), 3, self.moved, elements, *self.counts)
        for n, channel, oy, ox, k in np.ndindex(*x.shape[:2], *self.counts, elements):
            ky, kx = divmod(k, self.window[1])
            group = channel // (x.shape[1] // self.moved)
            dx, dy, mask = parts[n, :, group, k, oy, ox]
            at_y = oy * self.stride[0] - self.padding[0] + ky * self.dilation[0] + dy
            at_x = ox * self.stride[1] - self.padding[2] + kx * self.dilation[1] + dx
            value = 0.0
            for row in (int(np.floor(at_y)), int(np.floor(at_y)) + 1):
                for column in (int(np.floor(at_x)), int(np.floor(at_x)) + 1):
                    if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                        near = (1 - abs(at_y - row)) * (1 - abs(at_x - column))
                        value += near * x[n, channel, row, column]
            place_of = (oy * self.window[0] + ky, ox * self.window[1] + kx)
            found[(n, channel, *place_of)] = value * mask
        return found

    def forward(self, x: Array, w: Array, offset: Array) -> Array:
        samples = self.samples(x, offset)
        return convolution(samples, w, self.window, (0, 0), (1, 1), self.groups)

    def draw(self, rng: Rng, dtype: Any) -> list[Array]:
        shapes = (self.x, self.w, self.offset)
        return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


SHAPES = {
    "plain": Shape((2, 2, 4, 5), 3, (2, 2)),
    "groups": Shape((1, 4, 5, 4), 4, (3, 2), (2, 1), (1, 0, 1, 1), (1, 2), 2, 2),
    "small": Shape((1, 2, 3, 3), 2, (2, 2)),
    "small-groups": Shape((1, 2, 3, 3), 2, (2, 1), (1, 1), (1, 0, 1, 1), (1, 2), 2, 2),
    "pointwise": Shape((1, 3, 3, 3), 2, (1, 1), moved=3),
}


def case(note: str, biased: bool, kept: bool) -> Case:
    shape = SHAPES[note]

    def build(rng: Rng, dtype: Any) -> Problem:
        x, w, offset = shape.draw(rng, dtype)
        samples = shape.samples(wide(x), wide(offset))
        y = shape.forward(wide(x), wide(w), wide(offset))
        bias = rng.standard_normal(shape.w[0]).astype(dtype) if biased else None
        if bias is not None:
            y = y + wide(bias)[:, None, None]
        given = [In(x), In(w), In(offset), None if bias is None else In(bias)]
        results = [Out(y, dtype, 32), Out(samples, dtype, 32) if kept else None]
        return [*given, *shape.arrays, *results]

    return Case("DeformableConv2d", build, note, nullable=frozenset({3, 12}))


TestDeformable = suite(
    [case("plain", True, True), case("groups", False, True), case("pointwise", True, False)]
)


def test_offsets_of_whole_elements_are_a_convolution() -> None:
    rng = np.random.default_rng(3)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((1, 2, 5, 5), (3, 2, 3, 3)))
    offset = np.zeros((1, 27, 5, 5), np.float32)
    offset[:, :9] = 1  # x comes first
    offset[:, 18:] = 1
    out = hollow((1, 3, 5, 5), np.float32)
    ones = [1] * 4
    op("aclnnDeformableConv2d")(
        place(x), place(w), place(offset), None, [3, 3], ones, ones, ones, 1, 1, True, out, None
    )
    moved = np.pad(wide(x)[..., 1:], [(0, 0), (0, 0), (0, 0), (0, 1)])
    near = convolution(moved, wide(w), (1, 1), (1, 1), (1, 1))
    # The column in front of the moved image is the first one of the image itself.
    assert_close(out.numpy()[..., 1:], near[..., 1:], scale=16)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
def test_offsets_that_lead_nowhere_sample_zeros(bad: float) -> None:
    x, w = ap.full((1, 1, 2, 2), 5, np.float32), ap.full((1, 1, 1, 1), 1, np.float32)
    offset = np.ones((1, 3, 2, 2), np.float32)
    offset[:, :2] = bad
    out = hollow((1, 1, 2, 2), np.float32)
    four, ones = [0] * 4, [1] * 4
    op("aclnnDeformableConv2d")(
        x, w, place(offset), None, [1, 1], ones, four, ones, 1, 1, True, out, None
    )
    assert (out.numpy() == 0).all()


def slope(function: Any, parts: list[Array], which: int, dy: Array) -> Array:
    found = np.zeros(parts[which].shape)
    for at in np.ndindex(found.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = [part.copy() for part in parts]
            moved[which][at] += step
            ends.append((dy * function(*moved)).sum())
        found[at] = (ends[0] - ends[1]) / (2 * STEP)
    return found


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize(("note", "stepped"), [("small", False), ("small-groups", True)])
def test_gradients_are_the_derivative(newer: Chip950, note: str, stepped: bool) -> None:
    shape, rng = SHAPES[note], np.random.default_rng(5)
    parts = shape.draw(rng, np.float32)
    exact = [wide(part) for part in parts]
    dy = rng.standard_normal(shape.y).astype(np.float32)
    samples = shape.samples(exact[0], exact[2]).astype(np.float32)
    x, w, offset = parts

    def given(array: Array) -> Given:
        return Given(array, "float32", stepped, format="NCHW")

    found = newer.operator(
        "deformable_conv2d_backward",
        *map(given, (x, dy, samples, w, offset)),
        *shape.arrays,
        *(made(part.shape) for part in (x, w, offset)),
        Made((shape.w[0],), "float32"),
    )
    assert not isinstance(found, Refused), found
    wanted = [slope(shape.forward, exact, which, wide(dy)) for which in range(3)]
    for result, oracle in zip(found, [*wanted, wide(dy).sum((0, 2, 3))], strict=True):
        np.testing.assert_allclose(result, oracle, rtol=1e-4, atol=1e-5)


def made(shape: Ints) -> Changed:
    """A result with the format of images, filled with what no gradient is."""
    return Changed(np.full(tuple(shape), 77, np.float32), "float32", format="NCHW")


@pytest.mark.emulator_only(reason="compares the emulator's own words")
def test_wrong_calls_name_the_parameter() -> None:
    shape = SHAPES["plain"]
    x, w, offset, y = (ap.zeros(s, np.float32) for s in (shape.x, shape.w, shape.offset, shape.y))

    def refused(words: str, **change: Any) -> None:
        names = ("kernel", "stride", "padding", "dilation", "groups", "moved", "modulated")
        arrays = dict(zip(names, shape.arrays, strict=True)) | change
        text = message(
            "aclnnDeformableConv2d", 161002, [x, w, offset, None, *arrays.values(), y, None]
        )
        assert words in text, text

    refused("modulated is false; allowed: true", modulated=False)
    refused("stride has 2 values; allowed: 4", stride=[1, 1])
    refused("stride begins with 2, 1", stride=[2, 1, 1, 1])
    refused("groups is 2; it must divide 2 channels and 3 filters", groups=2)
    refused("deformableGroups is 3; it must divide 2 channels", moved=3)
    refused("weight has shape (3, 2, 2, 2); expected (3, 2, 2, 1)", kernel=[2, 1])
    refused("offset has shape", padding=[1] * 4)
    refused("a window may have 2048 elements", kernel=[50, 50])
    arguments = [x, y, x, w, offset, *shape.arrays, x, w, offset, ap.zeros((3,), np.float32)]
    assert refusal("aclnnDeformableConv2dBackward", *arguments) == 161002
