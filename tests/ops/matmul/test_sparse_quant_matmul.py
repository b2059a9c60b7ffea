# SPDX-License-Identifier: Apache-2.0
"""Products of INT8 rows with a weight that keeps two of every four elements."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, place, wide

import aclnn_py as ap
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.layout import layout_of
from aclnn_py.tensor.tensor import tensor_over
from aclnn_py.tensor.views import contiguous_strides

from ..problems import message
from ..random.test_host_calls import pack, sparse

pytestmark = pytest.mark.usefixtures("device")

NAME = "aclnnSparse4to2QuantMatmulWeightNz"
BRAIN = ml_dtypes.bfloat16
Array = np.ndarray[Any, Any]


def stored(array: Array, shape: tuple[int, ...], format: ap.Format) -> ap.Tensor:
    """A tensor of a shape whose storage is the array."""
    memory = ap.from_numpy(np.ascontiguousarray(array).reshape(-1))
    kind = dtype_of(array.dtype.name)
    layout = layout_of(shape, contiguous_strides(shape), kind, format, array.shape)
    return tensor_over(memory.buffer, layout, 0)


def operands(weight: Array, format: ap.Format = ap.Format.FRACTAL_NZ) -> tuple[ap.Tensor, ...]:
    n, k = weight.shape
    status, (numbers, places) = pack(weight)
    assert status == 0
    eighths = -(-k // 8)
    return stored(numbers, (n, 4 * eighths), format), stored(places, (n, eighths), ap.Format.ND)


@pytest.mark.parametrize(
    ("m", "n", "k", "bias"), [(3, 20, 100, True), (1, 16, 64, False), (5, 33, 7, True)]
)
@pytest.mark.parametrize("format", [ap.Format.FRACTAL_NZ, ap.Format.ND], ids=str)
def test_products(m: int, n: int, k: int, bias: bool, format: ap.Format) -> None:
    rng = np.random.default_rng(n)
    x = rng.integers(-128, 128, (m, k)).astype(np.int8)
    weight = sparse(rng, n, k)
    row, column = (rng.uniform(1e-4, 1e-2, size).astype(np.float32) for size in (m, n))
    shift = rng.standard_normal(n).astype(BRAIN)
    out = hollow((m, n), BRAIN)
    ap.ops.sparse4to2_quant_matmul_weight_nz(
        *(place(x), *operands(weight, format), place(row), place(column)),
        *(place(shift) if bias else None, out),
    )
    exact = (wide(x) @ wide(weight).T) * column * wide(row)[:, None] + (wide(shift) if bias else 0)
    assert_close(out.numpy(), exact, scale=2)


def test_sums_are_exact() -> None:
    """More products of the largest numbers than float32 adds exactly."""
    k = 4096
    weight = np.zeros((1, k), np.int8)
    weight[0, ::2] = 127
    x = np.full((1, k), 127, np.int8)
    x[0, 0] = 126
    total = (k // 2) * 127 * 127 - 127
    out = hollow((1, 1), BRAIN)
    ap.ops.sparse4to2_quant_matmul_weight_nz(
        *(place(x), *operands(weight), place(np.ones(1, np.float32))),
        *(place(np.ones(1, np.float32)), None, out),
    )
    assert float(out.numpy()[0, 0]) == float(np.float32(total).astype(BRAIN))


@pytest.mark.parametrize("place_of", [0b0011, 0b1100, 0b0001])
def test_places_that_cannot_be(place_of: int) -> None:
    """A place beyond the four elements, or one twice, is a fault that names its byte."""
    weight = np.zeros((1, 64), np.int8)
    weight[0, :2] = 1
    values, _ = operands(weight)
    places = np.zeros((1, 1, 16, 8), np.uint8)
    places[0, 0, 0, 0] = place_of
    one = place(np.ones(1, np.float32))
    out = hollow((1, 1), BRAIN)
    ap.ops.sparse4to2_quant_matmul_weight_nz(
        place(np.ones((1, 64), np.int8)), values, stored(places, (1, 8), ap.Format.ND), one, one,
        None, out,
    )  # fmt: skip
    with pytest.raises(ap.errors.StatusError, match="byte 0 of index"):
        ap.Device(0).synchronize()


def test_refusals() -> None:
    m, n, k = 2, 16, 64
    values, places = operands(np.zeros((n, k), np.int8))
    call: list[Any] = [
        *(place(np.ones((m, k), np.int8)), values, places, place(np.ones(m, np.float32))),
        *(place(np.ones(n, np.float32)), None, hollow((m, n), BRAIN)),
    ]

    def with_(position: int, value: Any, status: int = 161002) -> str:
        changed = [*call]
        changed[position] = value
        return str(message(NAME, status, changed))

    for position in (0, 1, 2, 6):
        with_(position, None, status=161001)
    assert "xScale is null" in with_(3, None)
    assert "sparseWeightScale is null" in with_(4, None)
    assert "sparseWeight has a storage shape" in with_(1, place(np.ones((n, 32), np.int8)))
    assert "index has a storage shape" in with_(2, place(np.ones((n, 8), np.uint8)))
    assert "index has shape" in with_(2, place(np.ones((n, 4), np.uint8)))
    assert "xScale has shape" in with_(3, call[4])
    assert "out has shape" in with_(6, hollow((n, m), BRAIN))
    assert "biasOptional has dtype" in with_(5, place(np.ones(n, np.float32)))
    assert "at most 65535" in with_(0, place(np.ones((1, 65536), np.int8)))
