# SPDX-License-Identifier: Apache-2.0
"""Gradients of convolutions: the derivative of the convolution in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, wide
from hypothesis import given, settings
from hypothesis import strategies as st

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite
from .window_oracle import FORMATS, convolution, kept, slopes, transposed_convolution

pytestmark = pytest.mark.usefixtures("device")

Ints = Sequence[int]
Rng = np.random.Generator


def forward(x: Array, w: Array, how: dict[str, Any]) -> Array:
    """The convolution whose gradients are asked for."""
    if how["more"] is None:
        return convolution(x, w, how["stride"], how["padding"], how["dilation"], how["groups"])
    return transposed_convolution(
        x, w, how["stride"], how["padding"], how["dilation"], how["more"], how["groups"]
    )


def gradients(x: Array, w: Array, dy: Array, how: dict[str, Any]) -> list[Array]:
    """The derivative of ``sum(dy * (forward(x, w) + bias))`` by x, w and the bias."""
    rest = (0, *range(2, dy.ndim))
    return [
        slopes(lambda part: forward(part, w, how), dy, x),
        slopes(lambda part: forward(x, part, how), dy, w),
        dy.sum(rest),
    ]


def backward(
    note: str,
    x: Ints,
    w: Ints,
    stride: Ints = (1, 1),
    padding: Ints = (0, 0),
    dilation: Ints = (1, 1),
    groups: int = 1,
    more: Ints | None = None,
) -> Case:
    """The gradients of a convolution; with ``more``, of a transposed one."""
    how = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "more": more,
    }

    def build(rng: Rng, dtype: Any) -> Problem:
        form = FORMATS[len(x)]
        image, filters = (rng.standard_normal(shape).astype(dtype) for shape in (x, w))
        shape = forward(wide(image), wide(filters), how).shape
        dy = rng.standard_normal(shape).astype(dtype)
        dx, dw, db = gradients(wide(image), wide(filters), wide(dy), how)
        flags = [more is not None, list(more or [0] * (len(x) - 2)), groups]
        return [
            In(dy, form),
            In(image, form),
            In(filters, form),
            [shape[1]],
            list(stride),
            list(padding),
            list(dilation),
            *flags,
            [True] * 3,
            0,
            Out(dx, dtype, 16, form),
            Out(dw, dtype, 16, form),
            Out(db, dtype, 16),
        ]

    return Case("ConvolutionBackward", kept(build), note)


CASES = [
    backward("1d", (2, 3, 7), (4, 3, 3), [2], [1], [2]),
    backward("2d", (2, 3, 5, 6), (4, 3, 3, 2), (1, 2), (1, 0), (1, 2)),
    backward("2d-four-margins", (1, 2, 5, 4), (3, 2, 3, 3), (2, 1), (0, 2, 1, 0)),
    backward("2d-groups", (2, 4, 4, 4), (4, 2, 3, 3), (1, 1), (1, 1), groups=2),
    backward("2d-of-one-element", (2, 3, 4, 3), (4, 3, 1, 1)),
    backward("depthwise", (2, 3, 5, 11), (3, 1, 3, 3), (1, 1), (1, 1), groups=3),
    backward("depthwise-steps", (1, 2, 7, 9), (4, 1, 3, 2), (2, 3), (1, 1), (2, 3), groups=2),
    backward("3d", (1, 2, 3, 4, 3), (2, 2, 2, 2, 3), [1, 1, 2], [1, 1, 0], [2, 1, 1]),
    backward("no-samples", (0, 3, 5, 5), (4, 3, 3, 3)),
    backward("no-channels", (2, 0, 4, 4), (0, 0, 3, 3)),
    backward("transposed-1d", (2, 3, 4), (3, 2, 3), [2], [1], [1], more=[1]),
    backward("transposed-2d", (1, 4, 3, 2), (4, 2, 3, 2), (2, 3), (1, 0), (1, 2), 2, more=[1, 0]),
    backward("transposed-3d", (1, 2, 2, 2, 2), (2, 1, 2, 2, 1), [2, 1, 1], [0, 1, 0], [1, 1, 1],
             more=[1, 0, 0]),
]  # fmt: skip
TestConvolutionBackward = suite(CASES)


def run(
    dy: Array,
    x: Array,
    w: Array,
    how: dict[str, Any],
    mask: Sequence[bool] = (True, True, True),
    math: int = 0,
) -> list[Array]:
    """The three results of the operator; those that the mask leaves out keep what they held."""
    form = FORMATS[x.ndim]
    results = [
        hollow(x.shape, x.dtype).with_format(form),
        hollow(w.shape, w.dtype).with_format(form),
        hollow(dy.shape[1:2], dy.dtype),
    ]
    inputs = [place(part).with_format(form) for part in (dy, x, w)]
    op("aclnnConvolutionBackward")(
        *inputs,
        [dy.shape[1]],
        list(how["stride"]),
        list(how["padding"]),
        list(how["dilation"]),
        how["more"] is not None,
        list(how["more"] or [0] * (x.ndim - 2)),
        how["groups"],
        list(mask),
        math,
        *results,
    )
    return [result.numpy() for result in results]


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_gradients_of_any_shape(data: st.DataObject) -> None:
    small, spatial = st.integers(1, 3), data.draw(st.integers(1, 2))
    window, stride, dilation = ([data.draw(small) for _ in range(spatial)] for _ in range(3))
    padding = [data.draw(st.integers(0, dilation[d] * (window[d] - 1))) for d in range(spatial)]
    groups, ins, outs = data.draw(small), data.draw(small), data.draw(small)
    turned = data.draw(st.booleans())
    size = [dilation[d] * (window[d] - 1) + data.draw(st.integers(1, 3)) for d in range(spatial)]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    more = [data.draw(st.integers(0, s - 1)) for s in stride] if turned else None
    how = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "more": more,
    }
    shapes = (groups * ins, outs) if turned else (groups * outs, ins)
    x = rng.standard_normal((2, groups * ins, *size)).astype(np.float32)
    w = rng.standard_normal((*shapes, *window)).astype(np.float32)
    dy = rng.standard_normal(forward(x, w, how).shape).astype(np.float32)
    parts = [wide(part) for part in (x, w, dy)]
    terms = gradients(*[abs(part) for part in parts], how)
    for found, wanted, most in zip(run(dy, x, w, how), gradients(*parts, how), terms, strict=True):
        assert (abs(wide(found) - wanted) <= 1e-6 * most + 1e-12).all()


PLAIN: dict[str, Any] = {
    "stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1, "more": None,
}  # fmt: skip


def test_many_positions_and_channels_are_summed_in_pieces() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 70, 40, 41)).astype(np.float32)
    w = rng.standard_normal((9, 70, 3, 3)).astype(np.float32)
    dy = rng.standard_normal((2, 9, 40, 41)).astype(np.float32)
    dx, dw, db = run(dy, x, w, PLAIN)

    def by_filters(image: Array, slope: Array) -> Array:
        padded = np.pad(image, [(0, 0), (0, 0), (1, 1), (1, 1)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        return np.asarray(np.einsum("nohw,nihwpq->oipq", slope, windows, optimize=True))

    def by_image(filters: Array, slope: Array) -> Array:
        flipped = filters[:, :, ::-1, ::-1].swapaxes(0, 1)
        return convolution(slope, flipped, (1, 1), (1, 1), (1, 1))

    for found, wanted, terms in (
        (dw, by_filters(wide(x), wide(dy)), by_filters(abs(wide(x)), abs(wide(dy)))),
        (dx, by_image(wide(w), wide(dy)), by_image(abs(wide(w)), abs(wide(dy)))),
        (db, wide(dy).sum((0, 2, 3)), abs(wide(dy)).sum((0, 2, 3))),
    ):
        assert (abs(wide(found) - wanted) <= 1e-6 * terms).all()


@pytest.mark.parametrize("which", range(3))
def test_only_what_the_mask_asks_for_is_written(which: int) -> None:
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((1, 2, 4, 4)), rng.standard_normal((3, 2, 3, 3))
    dy = rng.standard_normal((1, 3, 4, 4))
    parts = [part.astype(np.float32) for part in (dy, x, w)]
    found = run(*parts, PLAIN, [at == which for at in range(3)])
    wanted = gradients(*[wide(part) for part in (parts[1], parts[2], parts[0])], PLAIN)
    for at, result in enumerate(found):
        if at == which:
            assert_close(result, wanted[at], scale=16)
        else:
            assert (result == 77).all()


def test_cube_math_type_2_rounds_what_the_products_take() -> None:
    rng = np.random.default_rng(5)
    shapes = ((1, 3, 4, 4), (1, 2, 4, 4), (3, 2, 3, 3))
    dy, x, w = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    dx, dw, db = run(dy, x, w, PLAIN, math=2)
    less = [wide(part.astype(np.float16)) for part in (x, w, dy)]
    wanted = gradients(*less, PLAIN)
    assert_close(dx, wanted[0], scale=16)
    assert_close(dw, wanted[1], scale=16)
    assert_close(db, wide(dy).sum((0, 2, 3)), scale=16)


def test_the_gradient_of_the_input_may_replace_the_gradient_of_the_output() -> None:
    rng = np.random.default_rng(6)
    shapes = ((2, 3, 4, 4), (2, 3, 4, 4), (3, 3, 3, 3))
    dy, x, w = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    shared = place(dy).with_format("NCHW")
    dw, db = hollow(w.shape, np.float32).with_format("NCHW"), hollow((3,), np.float32)
    pair = [place(part).with_format("NCHW") for part in (x, w)]
    sizes = [[3], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True] * 3, 0]
    op("aclnnConvolutionBackward")(shared, *pair, *sizes, shared, dw, db)
    wanted = gradients(wide(x), wide(w), wide(dy), PLAIN)
    for result, oracle in zip((shared, dw, db), wanted, strict=True):
        assert_close(result.numpy(), oracle, scale=16)


CALL: dict[str, Any] = {
    "y": (2, 6, 4, 4), "x": (2, 4, 6, 6), "w": (6, 4, 3, 3), "sizes": [6], "stride": [1, 1],
    "padding": [0, 0], "dilation": [1, 1], "transposed": False, "more": [0, 0], "groups": 1,
    "mask": [True, True, True], "math": 0, "dx": (2, 4, 6, 6), "dw": (6, 4, 3, 3), "db": (6,),
    "kinds": {},
}  # fmt: skip


@pytest.mark.emulator_only(reason="compares the emulator's own words")
@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"mask": [True]}, 161002, "outputMask has 1 values; expected 3"),
        ({"sizes": None}, 161001, "biasSizesOptional is null"),
        ({"sizes": [5]}, 161002, "biasSizesOptional has the value 5; it must be the channels"),
        ({"sizes": [6, 1]}, 161002, "biasSizesOptional has 2 values; allowed: 1"),
        ({"more": [1, 0]}, 161002, "allowed: 0 where transposed is false"),
        ({"y": (2, 6, 4, 5)}, 161002, r"gradOutput has shape \(2, 6, 4, 5\); expected"),
        ({"dx": (2, 4, 6, 5)}, 161002, "gradInput has shape"),
        ({"dw": (6, 4, 3, 2)}, 161002, "gradWeight has shape"),
        ({"db": (5,)}, 161002, r"gradBias has shape \(5,\); expected \(6,\)"),
        ({"kinds": {"dx": np.float16}}, 161002, "gradInput has dtype FLOAT16"),
        ({"kinds": {"db": np.float16}}, 161002, "gradBias has dtype FLOAT16"),
        ({"dilation": [256, 1], "x": (1, 1, 1, 1), "w": (1, 1, 1, 1), "y": (1, 1, 1, 1)},
         561103, "dilation of 256; at most 255"),
    ],
)  # fmt: skip
def test_wrong_calls_name_the_parameter(change: dict[str, Any], status: int, words: str) -> None:
    call = CALL | change

    def tensor(name: str) -> ap.Tensor:
        shape = call[name]
        kind = call["kinds"].get(name, np.float32)
        return ap.zeros(shape, kind).with_format(FORMATS.get(len(shape), "ND"))

    order = ["stride", "padding", "dilation", "transposed", "more", "groups", "mask", "math"]
    arguments = [
        *[tensor(name) for name in ("y", "x", "w")],
        call["sizes"],
        *[call[name] for name in order],
        *[tensor(name) for name in ("dx", "dw", "db")],
    ]
    assert words.replace("\\", "") in message("aclnnConvolutionBackward", status, arguments)
