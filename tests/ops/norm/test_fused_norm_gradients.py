# SPDX-License-Identifier: Apache-2.0
"""Gradients of norms against slopes in float64, and norms whose scale differs between samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, hollow, op, place, refusal, wide

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

FLOATS = ("FLOAT", "FLOAT16", "BFLOAT16")
EPS, STEP = 1e-3, 1e-5
GROUP, SWISH = "aclnnGroupNormBackward", "aclnnGroupNormSwishGrad"
ADD, DEEP, ADA = "aclnnAddLayerNormGrad", "aclnnDeepNormGrad", "aclnnAdaLayerNormBackward"


def slopes(dy: Array, forward: Callable[..., Array], parts: Sequence[Array]) -> list[Array]:
    """Central differences of ``sum(dy * forward(*parts))`` for each element of the parts."""
    found = []
    for which, part in enumerate(parts):
        slope = np.zeros(part.shape)
        for at in np.ndindex(part.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = [one.copy() for one in parts]
                moved[which][at] += step
                ends.append((dy * forward(*moved)).sum())
            slope[at] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(slope)
    return found


def normal(x: Array, axes: tuple[int, ...]) -> Array:
    """The elements without the mean and the deviation of those along the axes."""
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + EPS)


def statistics(x: Array, axes: tuple[int, ...], kind: Any) -> list[Array]:
    """Mean and reciprocal deviation, in the dtype that an operator takes them in."""
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return [mean.astype(kind), (1 / np.sqrt(variance + EPS)).astype(kind)]


def grouped(x: Array, w: Array, b: Array, groups: int) -> Array:
    """Group norm of samples, channels and other dimensions."""
    parts = normal(x.reshape(len(x), groups, -1), (2,)).reshape(x.shape)
    line = (-1, *[1] * (x.ndim - 2))
    return parts * w.reshape(line) + b.reshape(line)


def random(rng: np.random.Generator, kind: Any, *shapes: tuple[int, ...]) -> list[Array]:
    """Numbers about 0, one array for each shape."""
    return [rng.normal(size=shape).astype(kind) for shape in shapes]


# --- groups of channels


@pytest.mark.parametrize(("shape", "groups"), [((2, 4, 3), 2), ((3, 6), 3), ((1, 2, 2, 3), 1)])
def test_gradients_of_group_norm(shape: tuple[int, ...], groups: int) -> None:
    rng = np.random.default_rng(groups)
    channels, inner = shape[1], int(np.prod(shape[2:]))
    for name in FLOATS:
        kind = NUMPY[name]
        dy, x, w, b = random(rng, kind, shape, shape, (channels,), (channels,))
        values = [wide(one) for one in (x, w, b)]
        known = statistics(values[0].reshape(shape[0], groups, -1), (2,), kind)
        # Slopes of the norm with the statistics that the operator is given, rounded as they are.
        exact = name == "FLOAT"
        expected = slopes(wide(dy), lambda *p: grouped(*p, groups), values)
        if not exact:
            expected = by_hand(wide(dy), *values[:2], *(wide(one) for one in known), groups)
        for layout in LAYOUTS:
            for weight in (w, None):
                if weight is None and layout != LAYOUTS[0]:
                    continue
                wanted = expected
                if weight is None:
                    ones = np.ones(channels)
                    wanted = by_hand(
                        wide(dy), values[0], ones, *(wide(one) for one in known), groups
                    )
                results = [hollow(one.shape, kind, layout) for one in (x, w, b)]
                op(GROUP)(
                    *(place(one, layout) for one in (dy, x)),
                    *(place(one[:, :, 0], layout) for one in known),
                    None if weight is None else place(weight, layout),
                    shape[0], channels, inner, groups, [True] * 3, *results,
                )  # fmt: skip
                for result, oracle in zip(results, wanted, strict=True):
                    assert_close(result.numpy(), oracle, scale=64, what=f"{name} {layout}")


def by_hand(dy: Array, x: Array, w: Array, mean: Array, rstd: Array, groups: int) -> list[Array]:
    """The chain rule with given statistics, where mean and variance depend on x."""
    line = (-1, *[1] * (x.ndim - 2))
    axes = tuple(d for d in range(x.ndim) if d != 1)
    cut = (len(x), groups, -1)
    y = (x.reshape(cut) - mean) * rstd
    g = (dy * w.reshape(line)).reshape(cut)
    level, slope = g.mean(2, keepdims=True), (g * y).mean(2, keepdims=True)
    dx = (g - level - y * slope) * rstd
    return [dx.reshape(x.shape), (dy * y.reshape(x.shape)).sum(axes), dy.sum(axes)]


def test_gradients_of_group_norm_and_swish() -> None:
    rng = np.random.default_rng(4)
    shape, groups = (2, 4, 3), 2
    for name in FLOATS:
        kind = NUMPY[name]
        dy, x, w, b = random(rng, kind, shape, shape, (4,), (4,))
        mean, rstd = statistics(wide(x).reshape(2, groups, -1), (2,), kind)
        for factor in (1.0, 1.7):

            def forward(x: Array, w: Array, b: Array, factor: float = factor) -> Array:
                z = grouped(x, w, b, groups)
                return z / (1 + np.exp(-factor * z))

            expected = slopes(wide(dy), forward, [wide(one) for one in (x, w, b)])
            layout = LAYOUTS[0] if factor == 1.0 else LAYOUTS[-1]
            results = [hollow(one.shape, kind) for one in (x, w, b)]
            op(SWISH)(
                *(place(one, layout) for one in (dy, mean[:, :, 0], rstd[:, :, 0], x, w, b)),
                groups, "NCHW", factor, True, True, *results,
            )  # fmt: skip
            for result, slope in zip(results, expected, strict=True):
                assert_close(result.numpy(), slope, scale=64, what=name)
        kept = [place(np.full(4, 7, kind)) for _ in range(2)]
        op(SWISH)(
            *(place(one) for one in (dy, mean[:, :, 0], rstd[:, :, 0], x, w, b)),
            groups, None, 1.7, False, False, results[0], *kept,
        )  # fmt: skip
        assert_close(results[0].numpy(), expected[0], scale=64, what=name)
        for one in kept:
            assert_same(one.numpy(), np.full(4, 7, kind))


def test_no_samples_of_groups() -> None:
    none, stats = hollow((0, 4, 3), np.float32), hollow((0, 2), np.float32)
    weight, bias = hollow((4,), np.float32), hollow((4,), np.float32)
    op(GROUP)(none, none, stats, stats, None, 0, 4, 3, 2, [True] * 3, none, weight, bias)
    assert_same(weight.numpy(), np.zeros(4, np.float32))
    assert_same(bias.numpy(), np.zeros(4, np.float32))


# --- sums


@pytest.mark.parametrize("inner", [1, 2])
def test_gradients_of_a_normalised_sum(inner: int) -> None:
    rng = np.random.default_rng(inner)
    shape = (2, 3, 4)
    tail, axes = shape[3 - inner :], tuple(range(3 - inner, 3))
    for name in FLOATS:
        kind = NUMPY[name]
        dy, first, second, more, w, b = random(rng, kind, shape, shape, shape, shape, tail, tail)
        x = wide(first) + wide(second)
        known = statistics(x, axes, np.float32)
        expected = slopes(wide(dy), lambda x, w, b: normal(x, axes) * w + b, [x, wide(w), wide(b)])
        for layout in LAYOUTS:
            for added in (None, more):
                results = [hollow(shape, kind, layout)]
                results += [hollow(tail, np.float32, layout) for _ in range(2)]
                op(ADD)(
                    *(place(one, layout) for one in (dy, first, second, *known[::-1], w)),
                    None if added is None else place(added, layout),
                    *results,
                )
                dx = expected[0] if added is None else expected[0] + wide(added)
                for result, slope in zip(results, [dx, *expected[1:]], strict=True):
                    assert_close(result.numpy(), slope, scale=64, what=f"{name} {layout}")


@pytest.mark.parametrize("inner", [1, 2])
def test_gradients_of_deep_norm(inner: int) -> None:
    rng = np.random.default_rng(inner)
    shape, alpha = (2, 3, 4), 0.75
    tail, axes = shape[3 - inner :], tuple(range(3 - inner, 3))
    for name in FLOATS:
        kind = NUMPY[name]
        dy, x, gx, w, b = random(rng, kind, shape, shape, shape, tail, tail)
        known = statistics(alpha * wide(x) + wide(gx), axes, np.float32)
        dx, dgx, dgamma, dbeta = slopes(
            wide(dy),
            lambda x, gx, w, b: normal(alpha * x + gx, axes) * w + b,
            [wide(one) for one in (x, gx, w, b)],
        )
        for layout in LAYOUTS:
            results = [hollow(shape, kind), hollow(shape, kind)]
            results += [hollow(tail, np.float32) for _ in range(2)]
            op(DEEP)(*(place(one, layout) for one in (dy, x, gx, w, *known)), alpha, *results)
            for result, slope in zip(results, [dx, dgx, dbeta, dgamma], strict=True):
                assert_close(result.numpy(), slope, scale=64, what=f"{name} {layout}")


def test_a_gradient_may_overwrite_an_operand() -> None:
    rng = np.random.default_rng(8)
    dy, x, gx, w = random(rng, np.float32, (5, 4), (5, 4), (5, 4), (4,))
    known = [place(one) for one in statistics(wide(x) + wide(gx), (1,), np.float32)]
    lines = [hollow((4,), np.float32) for _ in range(2)]
    apart = [hollow((5, 4), np.float32) for _ in range(2)]
    op(DEEP)(place(dy), place(x), place(gx), place(w), *known, 1.5, *apart, *lines)
    shared = [place(gx), place(dy)]
    op(DEEP)(shared[1], place(x), shared[0], place(w), *known, 1.5, *shared, *lines)
    for one, other in zip(apart, shared, strict=True):
        assert_same(other.numpy(), one.numpy())


# --- a scale and a shift for each sample


def adaptive(x: Array, s: Array, t: Array, w: Array, b: Array) -> Array:
    """The norm of rows, scaled and shifted as a whole and then by sample."""
    s, t = (one.reshape(len(x), 1, -1) for one in (s, t))
    return (normal(x, (2,)) * w + b) * (1 + s) + t


@pytest.mark.parametrize("layout", LAYOUTS)
def test_norms_by_sample(layout: str) -> None:
    rng = np.random.default_rng(3)
    for name in FLOATS:
        kind = NUMPY[name]
        x, s, t = random(rng, kind, (2, 3, 5), (2, 5), (2, 1, 5))
        for affine in (None, kind, np.float32):
            pair = random(rng, affine or kind, (5,), (5,))
            w, b = [np.ones(5), np.zeros(5)] if affine is None else [wide(one) for one in pair]
            given = [None if affine is None else place(one, layout) for one in pair]
            expected = adaptive(*(wide(one) for one in (x, s, t)), w, b)
            out, newer = hollow(x.shape, kind, layout), hollow(x.shape, kind, layout)
            tensors = [*(place(one, layout) for one in (x, s, t)), *given, EPS]
            op("aclnnAdaLayerNorm")(*tensors, out)
            mean, rstd = hollow((2, 3, 1), kind), hollow((2, 3, 1), kind)
            op("aclnnAdaLayerNormV2")(*tensors, newer, mean, rstd)
            assert_close(out.numpy(), expected, scale=4, what=name)
            assert_same(newer.numpy(), out.numpy())
            known = statistics(wide(x), (2,), np.float64)
            assert_close(mean.numpy(), known[0], what=name)
            assert_close(rstd.numpy(), known[1], what=name)
            op("aclnnAdaLayerNormV2")(*tensors, newer, None, None)
            assert_same(newer.numpy(), out.numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_norms_by_sample(layout: str) -> None:
    rng = np.random.default_rng(5)
    for name in FLOATS:
        kind = NUMPY[name]
        dy, x, s, t, w, b = random(rng, kind, (2, 3, 4), (2, 3, 4), (2, 4), (2, 1, 4), (4,), (4,))
        parts = [wide(one) for one in (x, s, t, w, b)]
        expected = slopes(wide(dy), adaptive, parts)
        known = statistics(parts[0], (2,), kind)
        bare = slopes(wide(dy), adaptive, [*parts[:3], np.ones(4), np.zeros(4)])
        for slope, pair in ((expected, (w, b)), (bare, (None, None))):
            results = [hollow(one.shape, kind, layout) for one in (x, s, t, w, b)]
            given = [None if one is None else place(one, layout) for one in pair]
            tensors = [place(one, layout) for one in (dy, x)], [4]
            rows = [place(one, layout) for one in (*known[::-1], s, t)]
            op(ADA)(*tensors[0], tensors[1], *rows, *given, *results)
            for result, oracle in zip(results, slope, strict=True):
                # The statistics come rounded to halves.
                assert_close(result.numpy(), oracle, scale=64, what=name)
    only = hollow(x.shape, kind)
    op(ADA)(*tensors[0], tensors[1], *rows, *given, only, None, None, None, None)
    assert_same(only.numpy(), results[0].numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_modulation(layout: str) -> None:
    rng = np.random.default_rng(6)
    for name in FLOATS:
        kind = NUMPY[name]
        dy, x, s, t = random(rng, kind, (2, 3, 5), (2, 3, 5), (2, 5), (2, 1, 5))
        factor, added = 1 + wide(s)[:, None], wide(t)
        for scale, shift in ((s, t), (None, t), (s, None), (None, None)):
            out = hollow(x.shape, kind, layout)
            given = [None if one is None else place(one, layout) for one in (scale, shift)]
            op("aclnnModulate")(place(x, layout), *given, out)
            y = wide(x) * (1 if scale is None else factor) + (0 if shift is None else added)
            assert_close(out.numpy(), y, what=name)
            flat = None if shift is None else place(t[:, 0], layout)
            results = [hollow(one.shape, kind, layout) for one in (x, s, s)]
            for at, one in ((1, scale), (2, shift)):
                if one is None:
                    results[at] = place(np.full(s.shape, 3, kind), layout)
            op("aclnnModulateBackward")(
                place(dy, layout), place(x, layout), given[0], flat, *results
            )
            g = wide(dy)
            untouched = np.full(s.shape, 3.0)
            oracles = [
                g if scale is None else g * wide(s)[:, None],
                untouched if scale is None else (g * wide(x)).sum(1),
                untouched if shift is None else g.sum(1),
            ]
            for result, oracle in zip(results, oracles, strict=True):
                assert_close(result.numpy(), oracle, scale=4, what=name)


def test_nothing_to_modulate() -> None:
    none, empty = hollow((2, 0, 5), np.float32), hollow((0, 5), np.float32)
    op("aclnnModulate")(none, None, None, none)
    assert refusal("aclnnModulate", none, hollow((2, 5), np.float32), None, none) == 161002
    nobody = hollow((0, 3, 5), np.float32)
    op("aclnnModulate")(nobody, empty, empty, nobody)


# --- refusals


def test_gradients_of_groups_are_refused() -> None:
    x, stats, row = (hollow(shape, np.float32) for shape in ((2, 4, 3), (2, 2), (4,)))
    half = hollow((2, 2), np.float16)
    results = (x, row, row)
    numbers: tuple[Any, ...] = (2, 4, 3, 2, [True] * 3)
    assert refusal(GROUP, x, None, stats, stats, row, *numbers, *results) == 161001
    assert refusal(GROUP, x, x, stats, stats, row, *numbers, x, None, row) == 161001
    assert refusal(GROUP, x, x, half, half, row, *numbers, *results) == 161002
    for wrong in ((2, 4, 3, 0), (2, 4, 3, 3), (2, 4, 2, 2), (1, 4, 3, 2), (2, 0, 3, 2)):
        assert refusal(GROUP, x, x, stats, stats, row, *wrong, [True] * 3, *results) == 161002
    assert refusal(GROUP, x, x, stats, stats, row, 2, 4, 3, 2, [True] * 2, *results) == 161002
    assert refusal(GROUP, x, x, stats, stats, stats, *numbers, x, row, row) == 161002
    text = message(GROUP, 161002, (x, x, stats, x, row, *numbers, *results))
    assert "rstd has 24 elements; expected 4" in text
    wide_group = hollow((1, 8001, 1), np.float32)
    one, line = hollow((1, 1), np.float32), hollow((8001,), np.float32)
    sizes: tuple[Any, ...] = (1, 8001, 1, 1, [True] * 3)
    given = (wide_group, wide_group, one, one, line, *sizes, wide_group, line, line)
    assert refusal(GROUP, *given) == 161002
    tail: tuple[Any, ...] = ("NCHW", 1.0, True, True, x, row, row)
    assert refusal(SWISH, x, stats, stats, x, row, None, 2, *tail) == 161001
    assert refusal(SWISH, x, stats, half, x, row, row, 2, *tail) == 161002
    assert refusal(SWISH, x, stats, stats, x, row, row, 3, *tail) == 161002
    assert refusal(SWISH, x, stats, stats, x, row, row, 0, *tail) == 161002
    assert refusal(SWISH, x, stats, stats, row, row, row, 2, *tail) == 161002


def test_gradients_of_sums_are_refused() -> None:
    x, row, rows = (hollow(shape, np.float32) for shape in ((2, 4), (4,), (2, 1)))
    half, short = hollow((2, 4), np.float16), hollow((3,), np.float32)
    tail = (x, row, row)
    assert refusal(ADD, x, x, x, rows, rows, row, None, None, row, row) == 161001
    assert refusal(ADD, x, x, half, rows, rows, row, None, *tail) == 161002
    assert refusal(ADD, x, x, x, rows, rows, row, half, *tail) == 161002
    assert refusal(ADD, x, x, x, rows, rows, short, None, *tail) == 561002
    assert refusal(ADD, x, x, x, row, rows, row, None, *tail) == 561002
    assert refusal(ADD, x, x, x, rows, rows, row, row, *tail) == 561002
    assert refusal(ADD, x, x, x, rows, rows, row, None, x, row, short) == 561002
    both = (x, x, row, row)
    assert refusal(DEEP, x, x, x, row, rows, None, 1.0, *both) == 161001
    assert refusal(DEEP, x, x, half, row, rows, rows, 1.0, *both) == 161002
    assert refusal(DEEP, x, x, x, short, rows, rows, 1.0, *both) == 161002
    assert refusal(DEEP, x, x, x, row, row, rows, 1.0, *both) == 161002
    assert refusal(DEEP, x, x, x, row, rows, rows, 1.0, x, x, row, short) == 161002


def test_norms_by_sample_are_refused() -> None:
    x, s, row = (hollow(shape, np.float32) for shape in ((2, 3, 4), (2, 4), (4,)))
    half, rows = hollow((4,), np.float16), hollow((2, 3, 1), np.float32)
    ada = "aclnnAdaLayerNorm"
    assert refusal(ada, x, None, s, None, None, EPS, x) == 161001
    assert refusal(ada, x, s, s, row, half, EPS, x) == 161002
    assert refusal(ada, x, s, s, half, half, EPS, x) == 161002
    assert refusal(ada, x, row, s, None, None, EPS, x) == 161002
    assert refusal(ada, x, s, s, None, None, EPS, s) == 161002
    assert refusal(ada + "V2", x, s, s, None, None, EPS, x, s, rows) == 161002
    affine = (None, None)
    results: tuple[Any, ...] = (x, s, s, row, row)
    assert refusal(ADA, x, x, [4], rows, None, s, s, *affine, *results) == 161001
    assert refusal(ADA, x, x, [3], rows, rows, s, s, *affine, *results) == 161002
    assert refusal(ADA, x, x, [3, 4], rows, rows, s, s, *affine, *results) == 161002
    assert refusal(ADA, x, x, [4], rows, row, s, s, *affine, *results) == 161002
    assert refusal(ADA, x, x, [4], rows, rows, s, s, *affine, x, s, s, row, half) == 161002
    assert refusal(ADA, x, x, [4], rows, rows, s, s, *affine, x, row, s, row, row) == 161002
    back = "aclnnModulateBackward"
    assert refusal("aclnnModulate", x, None, None, None) == 161001
    assert refusal("aclnnModulate", x, row, None, x) == 161002
    assert refusal("aclnnModulate", s, None, None, s) == 161002
    assert refusal(back, x, x, s, None, x, None, None) == 161001
    assert refusal(back, x, x, None, s, x, None, None) == 161001
    assert refusal(back, x, x, s, None, x, row, None) == 161002
    three = hollow((2, 1, 4), np.float32)
    assert refusal(back, x, x, three, None, x, three, None) == 161002


# --- other chips


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_950_takes_statistics_in_float32_beside_halves(newer: Chip950) -> None:
    rng = np.random.default_rng(7)
    dy, x = random(rng, np.float16, (2, 4, 3), (2, 4, 3))
    (w,) = random(rng, np.float32, (4,))
    known = statistics(wide(x).reshape(2, 2, -1), (2,), np.float32)
    line = Made((4,), "float32")
    results = newer.operator(
        "group_norm_backward", Given(dy, "float16"), Given(x, "float16"),
        *(Given(one[:, :, 0], "float32") for one in known), Given(w, "float32"),
        2, 4, 3, 2, [True] * 3, Made(x.shape, "float16"), line, line,
    )  # fmt: skip
    oracles = by_hand(wide(dy), wide(x), wide(w), *(wide(one) for one in known), 2)
    for result, oracle in zip(results, oracles, strict=True):
        assert_close(result, oracle, scale=8)


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_950_lacks_some(newer: Chip950) -> None:
    x, s = Made((2, 3, 4), "float32"), Made((2, 4), "float32")
    rows, line = Made((2, 3, 1), "float32"), Made((4,), "float32")
    three, groups = Made((3,), "float32"), Made((2, 1), "float32")
    for name, *arguments in (
        ("ada_layer_norm", x, s, s, None, None, EPS, x),
        ("ada_layer_norm_backward", x, x, [4], rows, rows, s, s, None, None, x, s, s, line, line),
        (
            "group_norm_swish_grad",
            *(x, groups, groups, x, three, three, 1, None, 1.0, True, True, x, three, three),
        ),
    ):
        refused = newer.operator(name, *arguments)
        assert isinstance(refused, Refused)
        assert "does not have the operator" in refused.text


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
@pytest.mark.parametrize("divide", [True, False])
def test_a_950_quantises_a_gradient(newer: Chip950, divide: bool) -> None:
    rng = np.random.default_rng(8)
    dy, x = random(rng, np.float16, (6, 5), (6, 5))
    (w,) = random(rng, np.float32, (5,))
    rstd = (1 / np.sqrt((wide(x) ** 2).mean(1) + EPS)).astype(np.float32)
    scale, offset = np.full(1, 0.03 if divide else 30, np.float32), np.full(1, 3, np.int32)
    y = wide(x) * wide(rstd)[:, None]
    g = wide(dy) * wide(w)
    dx = (g - y * (g * y).mean(1, keepdims=True)) * wide(rstd)[:, None]
    steps = (dx / float(scale[0]) if divide else dx * float(scale[0])) + 3
    for zero in (Given(offset, "int32"), None):
        shifted = steps if zero else steps - 3
        codes, dgamma = newer.operator(
            "rms_norm_grad_quant", Given(dy, "float16"), Given(x, "float16"),
            Given(rstd, "float32"), Given(w, "float32"), Given(scale, "float32"), zero,
            "static", divide, Made(x.shape, "int8"), Made((5,), "float32"),
        )  # fmt: skip
        sure = np.abs(shifted - np.floor(shifted) - 0.5) > 1e-3
        assert sure.any()
        assert_same(codes[sure], np.clip(np.rint(shifted), -128, 127).astype(np.int8)[sure])
        assert_close(dgamma, (wide(dy) * y).sum(0), scale=8)
    wrong = newer.operator(
        "rms_norm_grad_quant", Given(dy, "float16"), Given(x, "float16"), Given(rstd, "float32"),
        Given(w, "float32"), Given(scale, "float32"), None, "dynamic", divide,
        Made(x.shape, "int8"), Made((5,), "float32"),
    )  # fmt: skip
    assert isinstance(wrong, Refused)
    assert wrong.status == 561002
    assert "quantMode" in wrong.text


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
@pytest.mark.parametrize("order", ["NCHW", "NHWC"])
def test_a_310p_normalises_instances(smaller: Chip950, order: str) -> None:
    rng = np.random.default_rng(9)
    for kind, channels in ((np.float32, 8), (np.float16, 16)):
        x, w, b = random(rng, kind, (2, channels, 4, 5), (channels,), (channels,))
        y = normal(wide(x), (2, 3)) * wide(w)[:, None, None] + wide(b)[:, None, None]
        mean, variance = (f(wide(x), (2, 3), keepdims=True) for f in (np.mean, np.var))
        turn = (0, 1, 2, 3) if order == "NCHW" else (0, 2, 3, 1)
        oracles = [one.transpose(turn) for one in (y, mean, variance)]
        name = np.dtype(kind).name
        results = smaller.operator(
            "instance_norm", Given(np.ascontiguousarray(x.transpose(turn)), name),
            Given(w, name), Given(b, name), order, EPS,
            *(Made(one.shape, name) for one in oracles),
        )  # fmt: skip
        for result, oracle in zip(results, oracles, strict=True):
            assert_close(result, oracle, scale=4)
    few = Given(np.zeros((1, 4, 4, 4), np.float32), "float32")
    line = Given(np.zeros(4, np.float32), "float32")
    wrong = smaller.operator(
        "instance_norm", few, line, line, "NCHW", EPS, Made((1, 4, 4, 4), "float32"),
        *(Made((1, 4, 1, 1), "float32") for _ in range(2)),
    )  # fmt: skip
    assert isinstance(wrong, Refused)
    assert wrong.status == 561103


def test_other_chips_operators_are_refused() -> None:
    x, row, stats = (hollow(shape, np.float32) for shape in ((1, 8, 4, 4), (8,), (1, 8, 1, 1)))
    assert refusal("aclnnInstanceNorm", x, row, row, "NCHW", EPS, x, stats, stats) == 161002
    plane, code, one = hollow((2, 8), np.float32), hollow((2, 8), np.int8), hollow((1,), np.float32)
    rstd = hollow((2,), np.float32)
    given = (plane, plane, rstd, row, one, None, "static", True, code, row)
    assert refusal("aclnnRmsNormGradQuant", *given) == 161002
