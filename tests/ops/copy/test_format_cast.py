# SPDX-License-Identifier: Apache-2.0
"""Casts between plain formats and formats of blocks."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.blocked import (
    DHWCN,
    FRACTAL_Z,
    FRACTAL_Z_3D,
    HWCN,
    NC1HWC0,
    NCDHW,
    NCHW,
    ND,
    NDC1HWC0,
    NDHWC,
    NHWC,
    NZ,
    blocks,
    image,
)
from helpers.chip_950 import Chip950
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place, refusal

import aclnn_py as ap
from aclnn_py._ffi import ffi
from aclnn_py.emulator import library_path

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

NAME, WEIGHTS = "aclnnNpuFormatCast", "aclnnWeightQuantPreprocess"
ACL = {np.float32: 0, np.float16: 1, np.int8: 2, np.int32: 3}


def numbered(shape: tuple[int, ...], dtype: Any) -> Any:
    return (np.arange(np.prod(shape)) % 113 + 1).astype(dtype).reshape(shape)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((5, 37), np.float16),
        ((32, 64), np.float32),
        ((3, 20, 33), np.int8),
        ((2, 2, 17, 9), np.uint32),
        ((1, 1), ml_dtypes.bfloat16),
        ((2, 1, 2, 1, 17, 40), np.uint8),
        ((0, 16), np.float16),
    ],
    ids=str,
)
def test_to_blocks_and_back(shape: tuple[int, ...], dtype: Any) -> None:
    matrix = numbered(shape, dtype)
    packed = ap.from_numpy(np.full(shape, 77).astype(dtype), format=ap.Format.FRACTAL_NZ)
    op(NAME)(place(matrix), packed)
    stored = ap.from_numpy(matrix, format=ap.Format.FRACTAL_NZ)
    back = hollow(shape, dtype)
    op(NAME)(packed, back)
    assert_same(back.numpy(), matrix)
    again = hollow(shape, dtype)
    op(NAME)(stored, again)
    assert_same(again.numpy(), matrix)


def test_the_function_casts_there_and_back() -> None:
    matrix = numbered((5, 37), np.float16)
    packed = ap.functional.npu_format_cast(place(matrix), "FRACTAL_NZ")
    assert packed.format is ap.Format.FRACTAL_NZ
    assert_same(packed.numpy(), matrix)
    back = ap.functional.npu_format_cast(packed, ap.Format.ND)
    assert back.format is ap.Format.ND
    assert_same(back.numpy(), matrix)
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        ap.functional.npu_format_cast(place(matrix[0]), "FRACTAL_NZ")


def test_the_blocks_are_those_of_the_product() -> None:
    x, w = numbered((4, 20), np.float16), numbered((20, 18), np.float16)
    packed = ap.from_numpy(np.zeros((20, 18), np.float16), format=ap.Format.FRACTAL_NZ)
    op(NAME)(place(w), packed)
    plain, nz = hollow((4, 18), np.float32), place(np.zeros((4, 18), np.float32))
    ap.ops.matmul(place(x.astype(np.float32)), place(w.astype(np.float32)), plain, 0)
    ap.ops.addmm_weight_nz(place(np.zeros((4, 18), np.float16)), place(x), packed, 1, 1, nz, 0)
    assert_same(nz.numpy(), plain.numpy())


def handle(
    library: Any, memory: ap.Tensor, shape: Any, storage: Any, dtype: Any, layout: int
) -> Any:
    numbers = ctypes.c_int64 * len(shape)
    strides = [int(np.prod(shape[d + 1 :])) for d in range(len(shape))]
    library.aclCreateTensor.restype = ctypes.c_void_p
    made = library.aclCreateTensor(
        *(numbers(*shape), ctypes.c_uint64(len(shape)), ACL[dtype]),
        *(numbers(*strides), ctypes.c_int64(0), layout),
        *((ctypes.c_int64 * len(storage))(*storage), ctypes.c_uint64(len(storage))),
        ctypes.c_void_p(memory.address),
    )
    assert made
    return ctypes.c_void_p(made)


def cast(source: tuple[Any, ...], target: tuple[Any, ...]) -> int:
    """Run a cast between tensors that the package itself cannot describe; return the status."""
    library = ctypes.CDLL(str(library_path()))
    handles = [handle(library, *source), handle(library, *target)]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    status = library.aclnnNpuFormatCastGetWorkspaceSize(
        *handles, ctypes.byref(size), ctypes.byref(executor)
    )
    if status == 0:
        stream = ap.current_stream()
        raw = ctypes.c_void_p(int(ffi.cast("uintptr_t", stream.raw)))
        status = library.aclnnNpuFormatCast(None, ctypes.c_uint64(0), executor, raw)
        stream.synchronize()
    for one in handles:
        assert library.aclDestroyTensor(one) == 0
    return int(status)


in_the_library = pytest.mark.emulator_only(reason="calls the functions of the emulator's library")


@in_the_library
@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.float32], ids=str)
@pytest.mark.parametrize(
    ("plain", "order", "shape", "blocked"),
    [
        (NCHW, "nchw", (2, 35, 3, 4), NC1HWC0),
        (NHWC, "nhwc", (2, 3, 4, 35), NC1HWC0),
        (NCHW, "nchw", (18, 35, 3, 2), FRACTAL_Z),
        (HWCN, "hwcn", (3, 2, 35, 18), FRACTAL_Z),
        (NCDHW, "ncdhw", (2, 35, 3, 2, 4), NDC1HWC0),
        (NDHWC, "ndhwc", (2, 3, 2, 4, 35), NDC1HWC0),
        (NCDHW, "ncdhw", (18, 35, 3, 1, 2), FRACTAL_Z_3D),
        (DHWCN, "dhwcn", (3, 1, 2, 35, 18), FRACTAL_Z_3D),
    ],
    ids=str,
)
def test_images_and_volumes(
    plain: int, order: str, shape: tuple[int, ...], blocked: int, dtype: Any
) -> None:
    tensor = numbered(shape, dtype)
    wanted = image(tensor, order, blocked)
    memory = hollow((wanted.size,), dtype)
    source = place(tensor)
    packed = (memory, shape, wanted.shape, dtype, blocked)
    assert cast((source, shape, shape, dtype, plain), packed) == 0
    assert_same(memory.numpy(), wanted.reshape(-1))
    back = hollow(shape, dtype)
    assert cast(packed, (back, shape, shape, dtype, plain)) == 0
    assert_same(back.numpy(), tensor)


@in_the_library
def test_stored_blocks_are_the_documented_ones() -> None:
    shape = (3, 20, 33)
    tensor = numbered(shape, np.float16)
    wanted = blocks(tensor)
    memory = hollow((wanted.size,), np.float16)
    packed = (memory, shape, wanted.shape, np.float16, NZ)
    assert cast((place(tensor), shape, shape, np.float16, ND), packed) == 0
    assert_same(memory.numpy(), wanted.reshape(-1))


@in_the_library
def test_memory_that_is_too_small_for_the_blocks() -> None:
    shape, half = (20, 33), np.float16
    tensor, small = place(numbered(shape, half)), hollow((20, 33), half)
    source = (tensor, shape, shape, half, ND)
    assert cast(source, (small, shape, shape, half, NZ)) == 161002


def test_refusals() -> None:
    half = np.float16
    x = hollow((5, 37), half)
    packed = ap.from_numpy(np.zeros((5, 37), half), format=ap.Format.FRACTAL_NZ)
    assert refusal(NAME, None, packed) == 161001
    assert refusal(NAME, x, None) == 161001
    assert "no cast from ND to it" in message(NAME, 161002, [x, hollow((5, 37), half)])
    assert "dstTensor has dtype" in message(NAME, 161002, [hollow((5, 37), np.int8), packed])
    assert "srcTensor is not contiguous" in message(
        NAME, 161002, [hollow((5, 37), half, "stepped"), packed]
    )
    assert "dstTensor has shape" in message(NAME, 161002, [hollow((37, 5), half), packed])
    assert "srcTensor has dtype" in message(NAME, 161002, [hollow((5, 37), np.float64), packed])


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def nibbles(memory: Any) -> Any:
    """Half bytes, the low bits first."""
    return np.stack([memory & 15, memory >> 4], -1).reshape(-1)


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
@pytest.mark.parametrize(
    ("number", "groups", "depth", "cols"), [(0, 1, 64, 20), (1, 2, 96, 33), (2, 1, 32, 16)]
)
def test_weights_of_four_bits(
    newer: Chip950, number: int, groups: int, depth: int, cols: int
) -> None:
    rng = np.random.default_rng(number)
    weight = rng.integers(0, 256, groups * cols * depth // 2, np.uint8)
    pairs = -(-depth // 64)
    scale = rng.integers(0, 255, groups * cols * pairs * 2, np.uint8)
    bias = rng.integers(0, 60, 2 * cols, np.uint8)
    contents = {0: weight.tobytes(), 1: scale.tobytes()}
    if number != 1:
        contents[3] = bias.tobytes()
    made = newer.call("ops.matmul.weight_calls", "memories", WEIGHTS, number, contents)
    codes = nibbles(weight).reshape(groups, cols, depth)
    rows = -(-cols // 16) * 16
    wanted = np.zeros((groups, depth // 32, rows, 32), np.uint8)
    wanted[:, :, :cols] = codes.reshape(groups, cols, depth // 32, 32).transpose(0, 2, 1, 3)
    assert_same(nibbles(made[7]), wanted.reshape(-1))
    assert_same(made[8], scale)
    if number != 1:
        assert_same(made[10], bias)


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({6: 64}, "kGroupSize is 64"),
        ({4: "float16"}, "xDtype is FLOAT16"),
        ({5: "float32"}, "xScaleDtype is FLOAT"),
        ({0: {"strides": (20, 1)}}, "weight is not a transposed view"),
        ({1: {"strides": (2, 4, 1)}}, "weightScale is not a transposed view"),
        ({7: {"storage_shape": (2, 16, 2, 32)}}, "outWeight has a storage of shape"),
        ({7: {"format": "ND", "storage_shape": (20, 64)}}, "outWeight has format ND"),
        ({7: {"offset": 4}}, "outWeight is not a transposed view"),
        ({8: {"shape": (1, 19, 2), "strides": (2, 2, 1)}}, "outWeightScale has shape"),
        ({3: {"dtype": "float32"}}, "biasOptional has dtype"),
    ],
    ids=str,
)
def test_weights_of_four_bits_refuse(newer: Chip950, changed: dict[int, Any], says: str) -> None:
    status, text = newer.call("ops.matmul.weight_calls", "refused", WEIGHTS, 0, changed)
    assert status == 161002, text
    assert says in text


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
def test_scales_of_groups_lie_one_behind_the_other(newer: Chip950) -> None:
    for position, says in ((1, "weightScale is not"), (8, "outWeightScale is not")):
        changed = {position: {"strides": (0, 2, 4, 1)}}
        status, text = newer.call("ops.matmul.weight_calls", "refused", WEIGHTS, 1, changed)
        assert status == 161002, text
        assert says in text


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
@pytest.mark.parametrize(
    ("dtype", "format"),
    [
        ("float32", "FRACTAL_NZ_C0_16"),
        ("float32", "FRACTAL_NZ_C0_32"),
        ("int32", "FRACTAL_NZ_C0_2"),
        ("int32", "FRACTAL_NZ_C0_4"),
        ("int8", "FRACTAL_NZ"),
        ("uint8", "FRACTAL_NZ_C0_16"),
        ("float16", "FRACTAL_NZ"),
    ],
)
def test_blocks_of_a_fixed_width(newer: Chip950, dtype: str, format: str) -> None:
    values = numbered((2, 20, 37), np.dtype(dtype).type)
    given = ("ops.matmul.weight_calls", "there_and_back", values, dtype, format)
    made, own, back, again = newer.call(*given)
    assert_same(made, own)
    assert_same(back, values)
    assert_same(again, values)
