# SPDX-License-Identifier: Apache-2.0
"""Circular margins, and gradients of margins, of columns and of slices, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import Array, hollow, op, place, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite
from .window_oracle import columns, count_windows, kept, slopes

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Ints = Sequence[int]
MODES = {"Reflection": "reflect", "Replication": "edge", "Circular": "wrap"}


def values(rng: Rng, shape: Ints, dtype: Any) -> Array:
    drawn = rng.standard_normal(tuple(shape))
    if np.dtype(dtype).kind == "c":
        return (drawn + 1j * rng.standard_normal(tuple(shape))).astype(dtype)
    if np.dtype(dtype).kind == "i":
        return rng.integers(-9, 9, tuple(shape)).astype(dtype)
    return drawn.astype(dtype)


def padded(x: Array, padding: Ints, mode: str) -> Array:
    """The margins count from the last dimension: before and behind it, then the one before it."""
    sides = [(padding[2 * d], padding[2 * d + 1]) for d in range(len(padding) // 2)]
    whole = [(0, 0)] * (x.ndim - len(sides)) + sides[::-1]
    # mode goes to NumPy, whose stubs want to see which
    return np.asarray(np.pad(x, whole, mode=mode))  # type: ignore[call-overload]


def linear_slopes(forward: Any, dy: Array, x: Array) -> Array:
    """The derivative; complex slopes have the parts of a linear forward apart."""
    if dy.dtype.kind == "c":
        parts = [slopes(forward, part, np.zeros(x.shape)) for part in (dy.real, dy.imag)]
        return parts[0] + 1j * parts[1]
    return slopes(forward, dy, np.zeros(x.shape))


def margin(kind: str, x: Ints, padding: Ints) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        image = values(rng, x, dtype)

        def forward(part: Array) -> Array:
            return padded(part, padding, MODES[kind])

        dy = values(rng, forward(image).shape, dtype)
        dx = linear_slopes(forward, wide(dy), image)
        return [In(dy), In(image), list(padding), Out(dx, dtype, 4)]

    return Case(f"{kind}Pad{len(padding) // 2}dBackward", kept(build), f"{len(x)}d")


def circular(x: Ints, padding: Ints) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        image = values(rng, x, dtype)
        return [In(image), list(padding), Out(wide(padded(image, padding, "wrap")), dtype, 0)]

    return Case(f"CircularPad{len(padding) // 2}d", build, f"{len(x)}d")


def fold(note: str, x: Ints, window: Ints, spread: Ints, padding: Ints, step: Ints) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        def forward(part: Array) -> Array:
            return columns(part, window, spread, padding, step)

        dy = values(rng, forward(np.zeros(x)).shape, dtype)
        dx = slopes(forward, wide(dy), np.zeros(x))
        arrays = [list(x[-2:]), list(window), list(spread), list(padding), list(step)]
        return [In(dy), *arrays, Out(dx, dtype, 4)]

    return Case("Im2colBackward", kept(build), note)


def unfolded(x: Array, dim: int, size: int, step: int) -> Array:
    """Slices of a dimension; their elements are a new last dimension."""
    count = count_windows(x.shape[dim], size, step, (0, 0))
    parts = [np.take(x, range(i * step, i * step + size), dim) for i in range(count)]
    return np.moveaxis(np.stack(parts, dim), dim + 1, -1)


def unfold(x: Ints, dim: int, size: int, step: int) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        def forward(part: Array) -> Array:
            return unfolded(part, dim, size, step)

        dy = values(rng, forward(np.zeros(x)).shape, dtype)
        dx = slopes(forward, wide(dy), np.zeros(x))
        return [In(dy), list(x), dim, size, step, Out(dx, dtype, 4)]

    return Case("UnfoldGrad", kept(build), f"{len(x)}d-{dim}-{step}")


CASES = [
    *[margin(kind, (2, 4), (3, 2)) for kind in ("Reflection", "Replication")],
    *[margin(kind, (2, 3, 4), (1, 3, 2, 0)) for kind in MODES],
    *[margin(kind, (1, 2, 2, 3, 3), (2, 1, 0, 2, 1, 1)) for kind in MODES],
    *[margin(kind, (0, 2, 3, 4), (1, 3, 2, 0)) for kind in MODES],
    circular((2, 3, 4), (3, 1, 0, 2)),
    circular((1, 2, 2, 3, 3), (2, 1, 0, 2, 1, 1)),
    fold("3d", (2, 4, 5), (3, 2), (1, 2), (1, 0), (1, 2)),
    fold("4d", (2, 1, 4, 3), (2, 2), (2, 1), (0, 1), (1, 1)),
    fold("gaps", (1, 5, 5), (1, 2), (1, 1), (0, 0), (3, 2)),
    unfold((7,), 0, 2, 2),
    unfold((2, 6), 1, 4, 1),
    unfold((2, 7, 2), 1, 3, 2),
]
TestBorders = suite(CASES)


@pytest.mark.parametrize(
    ("size", "step"), [(4, 1), (3, 2), (5, 9), (1500, 7), (1500, 1), (2500, 2500), (5001, 3)]
)
def test_slices_of_long_lines_are_added_up(size: int, step: int) -> None:
    count = (5001 - size) // step + 1
    slices = (np.arange(2 * count * size) % 11).astype(np.float32).reshape(2, count, size)
    expected = np.zeros((2, 5001), np.float32)
    for i in range(count):
        expected[:, i * step : i * step + size] += slices[:, i]
    lines = hollow((2, 5001), np.float32)
    op("aclnnUnfoldGrad")(place(slices), [2, 5001], 1, size, step, lines)
    assert_same(lines.numpy(), expected)


def test_the_documents_examples() -> None:
    out = hollow((1, 3), np.float32)
    ones, image = ap.full((1, 5), 1, np.float32), ap.zeros((1, 3), np.float32)
    op("aclnnReflectionPad1dBackward")(ones, image, [1, 1], out)
    assert_same(out.numpy(), np.float32([[1, 3, 1]]))
    big = hollow((1, 1, 7, 7), np.int32)
    op("aclnnCircularPad2d")(place(np.arange(9, dtype=np.int32).reshape(1, 1, 3, 3)), [2] * 4, big)
    assert big.numpy()[0, 0, 0].tolist() == [4, 5, 3, 4, 5, 3, 4]
    assert big.numpy()[0, 0, 2].tolist() == [1, 2, 0, 1, 2, 0, 1]
    slices = place(np.arange(1, 7, dtype=np.float32).reshape(3, 2))
    row = hollow((7,), np.float32)
    op("aclnnUnfoldGrad")(slices, [7], 0, 2, 2, row)
    assert_same(row.numpy(), np.float32([1, 2, 3, 4, 5, 6, 0]))


@pytest.mark.emulator_only(reason="compares the emulator's own words")
def test_wrong_calls_name_the_parameter() -> None:
    image, slope = ap.zeros((2, 3, 4), np.float32), ap.zeros((2, 3, 8), np.float32)
    call = "aclnnReplicationPad2dBackward"
    text = message(call, 161002, [slope, image, [4, 0, 0, 0], image])
    assert "padding has 4 and 0 around 4 elements; this gradient needs less" in text
    text = message(call, 161002, [image, image, [1, 0, 0, 0], image])
    assert "gradOutput has shape (2, 3, 4); expected (2, 3, 5)" in text
    wide_image = ap.zeros((1, 2, 20), "bfloat16")
    text = message(call, 161002, [wide_image, wide_image, [8, 0, 0, 0], wide_image])
    assert "padding has the value 8; allowed with BF16: 0 to 7" in text
    text = message("aclnnCircularPad2d", 161002, [image, [0, 0, 3, 0], image])
    assert "a circular margin needs less" in text
    folds = [[3, 4], [2, 2], [1, 1], [0, 0], [1, 1]]
    plane = ap.zeros((1, 3, 4), np.float32)
    text = message("aclnnIm2colBackward", 161002, [ap.zeros((4, 5), np.float32), *folds, plane])
    assert "gradOutput has shape (4, 5); expected (4, 6)" in text
    text = message(
        "aclnnIm2colBackward", 161002, [ap.zeros((4, 6), np.float32), [3, 3], *folds[1:], plane]
    )
    assert "out has shape (1, 3, 4); expected (1, 3, 3)" in text
    rows, whole = ap.zeros((2, 2, 3), np.float32), ap.zeros((2, 6), np.float32)
    for dim, size, step, words in (
        (-1, 3, 3, "dim is -1"),
        (1, 7, 1, "size is 7; allowed: 1 to 6"),
        (1, 3, 0, "step is 0"),
        (1, 3, 1, "gradOut has shape (2, 2, 3); expected (2, 4, 3)"),
        (0, 1, 89, "step is 89; allowed: 1 to 88"),
    ):
        assert words in message("aclnnUnfoldGrad", 561002, [rows, [2, 6], dim, size, step, whole])
