# SPDX-License-Identifier: Apache-2.0
"""Packed 64-bit scales: the device operators, the host call and the NumPy functions agree."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py.emulator import library_path
from aclnn_py.errors import AclnnError
from aclnn_py.functional import (
    pack_scale,
    trans_matmul_weight,
    trans_quant_param,
    unpack_scale,
)

# scale, offset, packed
TABLE = [
    (1.0, None, 0x40003F800000),
    (0.5, None, 0x40003F000000),
    (2.0, None, 0x400040000000),
    (0.1, None, 0x40003DCCC000),
    (-1.5, None, 0x4000BFC00000),
    (3.14159274, None, 0x400040490000),
    (0.001, None, 0x40003A830000),
    (1.0, 3, 0x40603F800000),
    (0.5, -1, 0x7FE03F000000),
    (1.0, -256, 0x60003F800000),
    (1.0, 255, 0x5FE03F800000),
]
DECODED = {0.1: 0.0999755859375, 3.14159274: 3.140625, 0.001: 0.00099945068359375}
F32 = np.float32


@pytest.fixture(autouse=True)
def _on_device_0(device: ap.Device) -> None:
    pass


def host_call(scale: Any, offset: Any = None) -> tuple[int, list[int]]:
    """aclnnTransQuantParam, whose array is the caller's to free."""
    library, libc = ctypes.CDLL(str(library_path())), ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    floats = ctypes.POINTER(ctypes.c_float)
    function = library.aclnnTransQuantParam
    function.argtypes = [
        floats,
        ctypes.c_uint64,
        floats,
        ctypes.c_uint64,
        ctypes.POINTER(ctypes.POINTER(ctypes.c_uint64)),
        ctypes.POINTER(ctypes.c_uint64),
    ]

    def array(values: Any) -> tuple[Any, int]:
        if values is None:
            return None, 0
        return (ctypes.c_float * len(values))(*values), len(values)

    result, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
    status = function(*array(scale), *array(offset), ctypes.byref(result), ctypes.byref(count))
    packed = result[: count.value] if status == 0 else []
    if status == 0:
        libc.free(result)
    return status, packed


@pytest.mark.parametrize(("scale", "offset", "packed"), TABLE)
def test_table(scale: float, offset: int | None, packed: int) -> None:
    shifts = None if offset is None else np.array([offset], F32)
    assert pack_scale([scale], shifts).tolist() == [packed]
    device = None if shifts is None else ap.from_numpy(shifts)
    result = trans_quant_param(ap.from_numpy(np.array([scale], F32)), device)
    assert result.numpy().tolist() == [packed]
    value, shift = unpack_scale(np.array([packed], np.uint64))
    assert value[0] == F32(DECODED.get(scale, scale))
    assert shift[0] == (offset or 0)


@pytest.mark.emulator_only(reason="ctypes finds the function in one known library")
@pytest.mark.parametrize(("scale", "offset", "packed"), TABLE)
def test_table_on_the_host(scale: float, offset: int | None, packed: int) -> None:
    assert host_call([scale], None if offset is None else [offset]) == (0, [packed])


@pytest.mark.emulator_only(reason="ctypes finds the function in one known library")
def test_host_call_pads_and_rounds_away_from_zero() -> None:
    status, packed = host_call([1.0] * 17, [2.5] * 17)
    assert (status, len(packed)) == (0, 32)
    assert packed[17:] == [0] * 15
    assert [int(v) for v in unpack_scale(np.array(packed[:17], np.uint64))[1]] == [3] * 17
    assert host_call([1.0, 2.0], [-2.5])[1][:2] == pack_scale([1, 2], [-3]).tolist()
    assert host_call([1.0], [1000, -1000])[1][:2] == pack_scale([1, 1], [255, -256]).tolist()


@pytest.mark.emulator_only(reason="ctypes finds the function in one known library")
def test_what_the_host_call_refuses() -> None:
    assert host_call(None)[0] == 161001
    assert host_call([])[0] == 161002
    assert host_call([1.0, 2.0], [1.0, 2.0, 3.0])[0] == 161002


def test_offsets_on_the_device_go_to_the_even_neighbour() -> None:
    offsets = np.array([2.5, 3.5, -2.5, 300, -300, 0.49], F32)
    packed = trans_quant_param(ap.from_numpy(np.ones(6, F32)), ap.from_numpy(offsets))
    assert unpack_scale(packed.numpy())[1].tolist() == [2, 4, -2, 255, -256, 0]


@pytest.mark.parametrize("n", [1, 255, 1000])
@pytest.mark.parametrize("rank", [1, 2])
def test_many_scales(n: int, rank: int) -> None:
    rng = np.random.default_rng(n)
    scale = np.exp(rng.standard_normal(n) * 8).astype(F32) * rng.choice([-1, 1], n).astype(F32)
    offset = rng.integers(-256, 256, n).astype(F32)
    shape = (n,) if rank == 1 else (1, n)
    left, right = (ap.from_numpy(v.reshape(shape)) for v in (scale, offset))
    expected = pack_scale(scale, offset).reshape(shape)
    np.testing.assert_array_equal(trans_quant_param(left, right).numpy(), expected)
    values, shifts = unpack_scale(expected)
    np.testing.assert_array_equal(shifts.ravel(), offset)
    np.testing.assert_array_equal(values.view(np.uint32).ravel() & 0x1FFF, 0)
    np.testing.assert_allclose(values.ravel(), scale, rtol=2**-10)


def test_one_scale_for_many_offsets() -> None:
    one, many = ap.from_numpy(np.array([0.5], F32)), ap.from_numpy(np.arange(4, dtype=F32))
    expected = pack_scale(0.5, np.arange(4))
    np.testing.assert_array_equal(trans_quant_param(one, many).numpy(), expected)


def test_rounding_to_the_nearest() -> None:
    bits = np.array([0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F803000, 0x7F800000], np.uint32)
    nearest = trans_quant_param(ap.from_numpy(bits.view(F32)), round_mode=1)
    low = nearest.numpy() & np.uint64(0xFFFFFFFF)
    assert low.tolist() == [0x3F800000, 0x3F800000, 0x3F802000, 0x3F804000, 0x7F800000]


@pytest.mark.parametrize(
    ("scale", "offset", "out", "status"),
    [
        (None, None, ((4,), np.uint64), 161001),
        (((4,), F32), None, None, 161001),
        (((4,), np.float16), None, ((4,), np.uint64), 161002),
        (((4,), F32), ((4,), np.int32), ((4,), np.uint64), 161002),
        (((4,), F32), None, ((4,), np.int32), 161002),
        (((2, 2), F32), None, ((2, 2), np.uint64), 161002),
        (((4,), F32), ((3,), F32), ((4,), np.uint64), 161002),
        (((4,), F32), ((1, 4), F32), ((4,), np.uint64), 161002),
        (((4,), F32), None, ((5,), np.uint64), 161002),
    ],
)
def test_what_the_operator_refuses(scale: Any, offset: Any, out: Any, status: int) -> None:
    given = [None if row is None else ap.empty(*row) for row in (scale, offset, out)]
    with pytest.raises(AclnnError) as caught:
        ops.trans_quant_param_v2(*given)
    assert caught.value.status == status


def test_a_round_mode_that_does_not_exist() -> None:
    with pytest.raises(AclnnError, match="roundMode") as caught:
        trans_quant_param(ap.from_numpy(np.ones(2, F32)), round_mode=2)
    assert caught.value.status == 161002


def test_mistakes_of_the_host_functions() -> None:
    with pytest.raises(ValueError, match="NaN"):
        pack_scale([1.0], [np.nan])
    with pytest.raises(TypeError, match="packed"):
        unpack_scale([1.0])
    assert pack_scale(1.0).shape == ()


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
@pytest.mark.parametrize("shape", [(3, 18), (20, 33), (4, 17, 40)])
def test_weights_in_blocks(shape: tuple[int, ...], dtype: Any) -> None:
    values = (np.arange(np.prod(shape)) % 100).reshape(shape).astype(dtype)
    blocked = trans_matmul_weight(ap.from_numpy(values))
    assert blocked.format.name == "FRACTAL_NZ"
    assert blocked.storage_shape[-2:] == (16, 32 // np.dtype(dtype).itemsize)
    np.testing.assert_array_equal(blocked.numpy(), values)
    turned = ap.from_numpy(values.swapaxes(-1, -2).copy()).transpose(-1, -2)
    np.testing.assert_array_equal(trans_matmul_weight(turned).numpy(), values)
