# SPDX-License-Identifier: Apache-2.0
"""Filters in FRACTAL_Z, which the 310P has: the conversion, and convolutions that read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950
from helpers.operators import op, wide

import aclnn_py as ap
from aclnn_py.tensor.layout import layout_of
from aclnn_py.tensor.tensor import tensor_over

from ..cache.test_cache_pages import message

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
NAME = "aclnnTransConvolutionWeight"


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


def stored(filters: Array) -> Array:
    """(c / 16 * h * w, n / 16, 16 output channels, 16 input channels), filled with zeros."""
    n, c, h, w = filters.shape
    padded = np.zeros((-(-n // 16) * 16, -(-c // 16) * 16, h, w), np.float16)
    padded[:n, :c] = filters
    split = padded.reshape(-1, 16, padded.shape[1] // 16, 16, h, w)
    return split.transpose(2, 4, 5, 0, 1, 3).reshape(-1, padded.shape[0] // 16, 16, 16)


def converted(filters: Array, stepped: bool = False) -> tuple[Array, Array, Array | str]:
    """Blocks and values of converted filters, and a convolution with them, in this process."""
    weight = ap.from_numpy(filters, format="NCHW")
    if stepped:
        wide_filters = np.zeros((*filters.shape[:3], 2 * filters.shape[3]), filters.dtype)
        wide_filters[..., ::2] = filters
        weight = ap.from_numpy(wide_filters, format="NCHW")[..., ::2]
    blocked = ap.functional.trans_convolution_weight(weight)
    x = ap.from_numpy(image(filters.shape[1]), format="NCHW")
    out = ap.empty(convolved(filters).shape, "float32", format="NCHW")
    try:
        op("aclnnConvolution")(
            *(x, blocked, None, [1, 1], [1, 0], [1, 1], False, [0, 0], 1, out, 0)
        )
        result: Array | str = out.numpy()
    except ap.errors.AclnnError as error:
        result = str(error)
    raw = np.empty(blocked.buffer.nbytes, np.uint8)
    blocked.buffer.read(raw)
    return raw.view(np.float16), blocked.numpy(), result


def image(channels: int) -> Array:
    rng = np.random.default_rng(channels)
    return rng.standard_normal((2, channels, 5, 4)).astype(np.float32)


def convolved(filters: Array) -> Array:
    _, c, h, w = filters.shape
    x = np.pad(image(c).astype(np.float64), ((0, 0), (0, 0), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (h, w), (2, 3))
    return np.einsum("bcijhw,nchw->bnij", windows, wide(filters.astype(np.float16)))


def refused(groups: int, transposed: bool, short: bool, empty: bool) -> Any:
    """What the operator says to arguments, or the elements that it left, in this process."""
    shape = (2, 0 if empty else 4, 3, 3)
    weight = ap.from_numpy(np.ones(shape, np.float16), format="NCHW")
    memory = ap.from_numpy(np.zeros(72 if short else 9 * 256, np.float16))
    count = int(np.prod(shape))
    target = memory[:count].reshape(*shape)
    plain = layout_of(shape, target.strides, target.layout.dtype, ap.Format.NCHW, memory.shape)
    target = tensor_over(memory.buffer, plain)
    try:
        op(NAME)(weight, transposed, groups, target)
    except ap.errors.AclnnError as error:
        return int(error.status), str(error)
    ap.synchronize()
    return memory.numpy()


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((2, 4, 3, 2), np.float32), ((17, 33, 2, 1), np.float16), ((16, 16, 1, 1), np.float32)],
    ids=str,
)
def test_blocks_and_what_reads_them(smaller: Chip950, shape: Any, dtype: Any) -> None:
    filters = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    for stepped in (False, True):
        raw, values, result = smaller.call(__name__, "converted", filters, stepped)
        half = filters.astype(np.float16)
        np.testing.assert_array_equal(raw, stored(half).reshape(-1))
        np.testing.assert_array_equal(values, half)
        assert not isinstance(result, str), result
        np.testing.assert_allclose(result, convolved(filters), rtol=1e-5, atol=1e-5)


def test_refusals(smaller: Chip950) -> None:
    for arguments, text in (
        ((2, False, False, False), "groups is 2; this device takes 1"),
        ((0, False, False, False), "groups is 0; allowed: 1 to 65535"),
        ((1, True, False, False), "transposed is true"),
        ((1, False, True, False), "weightOut has a storage of 72 elements"),
    ):
        status, told = smaller.call(__name__, "refused", *arguments)
        assert status == 161002
        assert text in told
    assert (smaller.call(__name__, "refused", 1, False, False, True) == 0).all()


def test_a_910b_has_neither() -> None:
    filters = ap.from_numpy(np.ones((2, 4, 3, 3), np.float16), format="NCHW")
    assert "only the 310P has this operator" in message(161002, NAME, filters, False, 1, filters)
    blocked = ap.empty((2, 4, 3, 3), "float16", format="FRACTAL_Z")
    x = ap.from_numpy(np.ones((1, 4, 5, 5), np.float16), format="NCHW")
    out = ap.empty((1, 2, 3, 3), "float16", format="NCHW")
    call = (x, blocked, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, out, 0)
    assert "weight has format FRACTAL_Z" in message(161002, "aclnnConvolution", *call)
