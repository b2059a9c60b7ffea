# SPDX-License-Identifier: Apache-2.0
"""Convolution of INT8 volumes with a scale per channel."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, op, refusal, wide

import aclnn_py as ap

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

NAME, BLOCKED = "aclnnQuantConvolution", "aclnnQuantConvolutionWeightNz"
VOLUME = ap.Format.NCDHW


def volume(array: Any) -> ap.Tensor:
    return ap.from_numpy(array, format=VOLUME)


def oracle(x: Any, w: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Exact sums, window by window."""
    padded = np.pad(wide(x), [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    sizes = [(n - r) // s + 1 for n, r, s in zip(padded.shape[2:], reach, stride, strict=True)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes), np.int64)
    for place in product(*map(range, sizes)):
        cut = tuple(
            slice(i * s, i * s + r, d)
            for i, s, r, d in zip(place, stride, reach, dilation, strict=True)
        )
        window = padded[(slice(None), slice(None), *cut)]
        out[(slice(None), slice(None), *place)] = np.einsum("ncdhw,ocdhw->no", window, wide(w))
    return out


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
@pytest.mark.parametrize("bias", [np.float32, np.float16, ml_dtypes.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("shape", "window", "stride", "padding", "dilation"),
    [
        ((2, 3, 4, 5, 6), (4, 3, 2, 3, 3), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
        ((1, 5, 3, 7, 6), (9, 5, 1, 3, 2), (1, 2, 2), (1, 1, 1), (1, 1, 2)),
        ((2, 4, 2, 3, 4), (3, 4, 1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
        ((1, 1, 3, 4, 5), (2, 1, 2, 2, 2), (1, 1, 1), (0, 1, 0), (1, 1, 1)),
    ],
    ids=str,
)
def test_volumes(
    shape: Any, window: Any, stride: Any, padding: Any, dilation: Any, bias: Any, dtype: Any
) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(-128, 128, shape).astype(np.int8)
    w = rng.integers(-128, 128, window).astype(np.int8)
    shift = rng.standard_normal(window[0]).astype(bias)
    scale = rng.uniform(1e-4, 1e-2, window[0]).astype(np.float32)
    sums = oracle(x, w, stride, padding, dilation)
    out = volume(np.full(sums.shape, 77).astype(dtype))
    op(NAME)(
        *(volume(x), volume(w), ap.from_numpy(shift), ap.from_numpy(scale), None),
        *(list(stride), list(padding), list(dilation), False, None, 1, 0, None, out),
    )
    per_channel = (slice(None), None, None, None)
    exact = sums * wide(scale)[per_channel] + wide(shift)[per_channel]
    assert_close(out.numpy(), exact, scale=2)


@pytest.mark.parametrize(
    ("shape", "window"), [((2, 3, 4, 5, 6), (4, 3, 2, 3, 3)), ((1, 35, 3, 4, 5), (18, 35, 2, 1, 2))]
)
def test_filters_in_blocks(shape: Any, window: Any) -> None:
    """They are those that NpuFormatCast makes, and give what plain ones give."""
    rng = np.random.default_rng(3)
    x = volume(rng.integers(-128, 128, shape).astype(np.int8))
    w = rng.integers(-128, 128, window).astype(np.int8)
    packed = ap.empty(window, "int8", format="FRACTAL_Z_3D")
    op("aclnnNpuFormatCast")(volume(w), packed)
    assert (packed.numpy() == w).all()
    shift = ap.from_numpy(rng.standard_normal(window[0]).astype(np.float32))
    scale = ap.from_numpy(rng.uniform(1e-4, 1e-2, window[0]).astype(np.float32))
    made = []
    for name, weight in ((NAME, volume(w)), (BLOCKED, packed)):
        sizes = oracle(np.zeros(shape), w, (1, 2, 1), (0, 1, 0), (1, 1, 1)).shape
        out = volume(np.full(sizes, 77, np.float16))
        given = [x, weight, shift, scale, None, [1, 2, 1], [0, 1, 0], [1, 1, 1]]
        op(name)(*given, False, None, 1, 0, None, out)
        made.append(out.numpy())
    exact = (
        oracle(x.numpy(), w, (1, 2, 1), (0, 1, 0), (1, 1, 1))
        * wide(scale.numpy())[:, None, None, None]
    )
    assert_close(made[1], exact + wide(shift.numpy())[:, None, None, None], scale=2)
    np.testing.assert_array_equal(made[1], made[0])


def test_filters_in_blocks_are_asked_for() -> None:
    zeros = np.zeros((4, 3, 2, 3, 3), np.int8)
    assert "format" in message(BLOCKED, 161002, call())
    assert "format" in message(NAME, 161002, call(weight=ap.from_numpy(zeros, format=33)))
    wrong = ap.from_numpy(np.zeros((4, 2, 2, 3, 3), np.int8), format=33)
    assert "weight has 2 channels" in message(BLOCKED, 161002, call(weight=wrong))
    assert refusal(BLOCKED, *call(weight=None)) == 161001


def test_sums_are_exact() -> None:
    """More products of the largest numbers than float32 adds exactly."""
    x = np.full((1, 1200, 1, 1, 1), 127, np.int8)
    w = np.full((2, 1200, 1, 1, 1), 127, np.int8)
    w[1, -1] = 126
    out = volume(np.full((1, 2, 1, 1, 1), 77, np.float16))
    sums = np.array([1200 * 127 * 127, 1200 * 127 * 127 - 127], np.float64)
    shift = ap.from_numpy(np.full(2, -sums[0] / 2**10, np.float32))
    scale = ap.from_numpy(np.full(2, 2.0**-10, np.float32))
    op(NAME)(
        *(volume(x), volume(w), shift, scale, None, [1, 1, 1], [0, 0, 0], [1, 1, 1]),
        *(False, None, 1, 0, None, out),
    )
    np.testing.assert_allclose(out.numpy().reshape(-1), (sums - sums[0]) / 2**10, atol=1e-2)


def call(**other: Any) -> list[Any]:
    given = {
        "input": volume(np.zeros((2, 3, 4, 5, 6), np.int8)),
        "weight": volume(np.zeros((4, 3, 2, 3, 3), np.int8)),
        "bias": hollow((4,), np.float32),
        "scale": hollow((4,), np.float32),
        "offset": None,
        "stride": [1, 1, 1],
        "padding": [0, 0, 0],
        "dilation": [1, 1, 1],
        "transposed": False,
        "outputPadding": None,
        "groups": 1,
        "offsetx": 0,
        "roundMode": None,
        "output": volume(np.zeros((2, 4, 3, 3, 4), np.float16)),
        **other,
    }
    return list(given.values())


def test_refusals() -> None:
    for name in ("input", "weight", "bias", "scale", "stride", "padding", "dilation", "output"):
        assert refusal(NAME, *call(**{name: None})) == 161001
    for changed, says in [
        ({"offset": hollow((4,), np.float32)}, "offsetOptional is given"),
        ({"transposed": True}, "transposed is true"),
        ({"groups": 3}, "groups is 3"),
        ({"offsetx": 1}, "offsetx is 1"),
        ({"roundMode": "rint"}, 'roundModeOptional is "rint"'),
        ({"stride": [1, 1]}, "stride"),
        ({"stride": [1, 0, 1]}, "stride"),
        ({"padding": [0, -1, 0]}, "padding"),
        ({"dilation": [1, 2**62, 1]}, "dilation"),
        ({"dilation": [1, 3, 1]}, "larger than input"),
        ({"scale": hollow((3,), np.float32)}, "scale has shape"),
        ({"weight": volume(np.zeros((4, 2, 2, 3, 3), np.int8))}, "weight has 2 channels"),
        ({"input": hollow((2, 3, 4, 5, 6), np.int8)}, "input"),
        ({"output": volume(np.zeros((2, 4, 3, 3, 3), np.float16))}, "output has shape"),
        ({"output": volume(np.zeros((2, 4, 3, 3, 4), np.float32))}, "output has dtype"),
        ({"bias": hollow((4,), np.int32)}, "bias has dtype"),
    ]:
        assert says in message(NAME, 161002, call(**changed))
    small = volume(np.zeros((2, 4, 3, 1, 1), np.float16))
    text = message(NAME, 561103, call(stride=[1, 64, 64], output=small))
    assert "stride[1] is 64; allowed: at most 63" in text
