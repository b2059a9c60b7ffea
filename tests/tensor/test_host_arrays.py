# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.tensor import host_arrays
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import Format, format_of, storage_shape
from aclnn_py.tensor.views import contiguous_strides

NZ = Format.FRACTAL_NZ


@pytest.mark.parametrize(
    ("shape", "dtype", "stored"),
    [
        ((3, 18), "float16", (2, 1, 16, 16)),
        ((20, 33), "int8", (2, 2, 16, 32)),
        ((64, 128), "float16", (8, 4, 16, 16)),
        ((4, 17, 40), "int8", (4, 2, 2, 16, 32)),
        ((16, 8), "float32", (1, 1, 16, 8)),
        ((16, 64), "int4", (1, 1, 16, 64)),
    ],
)
def test_blocked_storage_shape(shape, dtype, stored):
    assert storage_shape(shape, NZ, dtype_of(dtype)) == stored


def test_blocked_positions_of_the_worked_example():
    array = (18 * np.arange(3)[:, None] + np.arange(18)).astype(np.float16)
    flat = host_arrays.to_storage(array, dtype_of("float16"), NZ).view(np.float16)
    assert flat.size == 512
    assert flat[[0, 16, 32, 256, 272, 289]].tolist() == [0, 18, 36, 16, 34, 53]
    assert flat[48] == 0


def test_filters_of_volumes_in_blocks():
    shape = (18, 35, 2, 1, 3)
    dtype, format = dtype_of("int8"), Format.FRACTAL_Z_3D
    filters = (np.arange(np.prod(shape)) % 113).astype(np.int8).reshape(shape)
    stored = (
        host_arrays.to_storage(filters, dtype, format)
        .view(np.int8)
        .reshape(2 * 2 * 1 * 3, 2, 16, 32)
    )
    n, c, d, h, w = 17, 34, 1, 0, 2
    assert (
        stored[(d * 2 + c // 32) * 3 + h * 3 + w, n // 16, n % 16, c % 32] == filters[n, c, d, h, w]
    )
    assert stored.sum(dtype=np.int64) == filters.sum(dtype=np.int64)
    raw = stored.reshape(-1).view(np.uint8)
    back = host_arrays.to_host(raw, dtype, format, shape, contiguous_strides(shape))
    np.testing.assert_array_equal(back, filters)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "float32", "int4"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (17, 33), (2, 3, 16, 32)])
def test_blocked_round_trip_straight_and_transposed(dtype, shape):
    kind = dtype_of(dtype)
    values = (np.arange(np.prod(shape)) % 15 - 7).reshape(shape).astype(kind.numpy)
    raw = host_arrays.to_storage(values, kind, NZ)
    assert raw.size == kind.nbytes(int(np.prod(storage_shape(shape, NZ, kind))))
    back = host_arrays.to_host(raw, kind, NZ, shape, contiguous_strides(shape))
    np.testing.assert_array_equal(back.astype(float), values.astype(float))
    flipped = (*shape[:-2], shape[-1], shape[-2])
    strides = contiguous_strides(shape)
    strides = (*strides[:-2], strides[-1], strides[-2])
    back = host_arrays.to_host(raw, kind, NZ, flipped, strides)
    np.testing.assert_array_equal(back.astype(float), values.swapaxes(-1, -2).astype(float))


def test_a_strided_array_is_stored_by_its_elements():
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    view = base[::2, 1::2]
    raw = host_arrays.to_storage(view, dtype_of("int32"), Format.ND)
    np.testing.assert_array_equal(raw.view(np.int32), [1, 3, 5, 13, 15, 17])


def test_strided_int4_views_are_read_by_element():
    values = (np.arange(12) - 6).reshape(3, 4).astype(ml_dtypes.int4)
    kind = dtype_of("int4")
    raw = host_arrays.to_storage(values, kind, Format.ND)
    back = host_arrays.to_host(raw, kind, Format.ND, (4, 2), (1, 4), 4)
    np.testing.assert_array_equal(back.astype(int), values[1:].T.astype(int))


@pytest.mark.parametrize("value", ["nd", "ND", "ACL_FORMAT_ND", 2, Format.ND])
def test_format_spellings(value):
    assert format_of(value) is Format.ND


@pytest.mark.parametrize(
    ("value", "error"), [("NX", ValueError), (99, ValueError), (None, TypeError)]
)
def test_unknown_formats_name_the_argument(value, error):
    with pytest.raises(error, match=r"^format: "):
        format_of(value)


def test_rank_must_fit_the_format():
    with pytest.raises(ValueError, match="NCHW needs 4 dimensions"):
        storage_shape((3, 4), Format.NCHW, dtype_of("float16"))
    with pytest.raises(ValueError, match="at least 2"):
        storage_shape((3,), NZ, dtype_of("float16"))
