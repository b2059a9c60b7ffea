# SPDX-License-Identifier: Apache-2.0
"""Weights in FRACTAL_NZ: the conversion, its sizes, and products that read the blocks."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest
from helpers.accepted_calls import calls
from helpers.numerics import assert_close
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")


def blocks(matrix: np.ndarray) -> np.ndarray:
    """The stored form of matrices (.., rows, cols): (.., column blocks, row blocks, 16, width)."""
    width = 32 // matrix.dtype.itemsize
    *lead, rows, cols = matrix.shape
    tall, broad = -(-rows // 16) * 16, -(-cols // width) * width
    padded = np.zeros((*lead, tall, broad), matrix.dtype)
    padded[..., :rows, :cols] = matrix
    split = padded.reshape(*lead, tall // 16, 16, broad // width, width)
    order = [*range(len(lead)), len(lead) + 2, len(lead), len(lead) + 1, len(lead) + 3]
    return split.transpose(order)


def roomy(matrix: np.ndarray) -> ap.Tensor:
    """A tensor of the matrix at the start of memory that has room for its blocks."""
    memory = np.zeros(blocks(matrix).size, matrix.dtype)
    memory[: matrix.size] = matrix.reshape(-1)
    return ap.from_numpy(memory)


@pytest.mark.parametrize(
    ("shape", "dtype", "storage"),
    [
        ((3, 18), np.float16, (2, 1, 16, 16)),
        ((20, 33), np.int8, (2, 2, 16, 32)),
        ((64, 128), np.float16, (8, 4, 16, 16)),
        ((4, 17, 40), np.int8, (4, 2, 2, 16, 32)),
        ((2, 5, 9), ml_dtypes.bfloat16, (2, 1, 1, 16, 16)),
    ],
    ids=str,
)
def test_conversion_in_place(shape: tuple[int, ...], dtype: type, storage: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    matrix = (np.arange(count) % 97).astype(dtype).reshape(shape)
    memory = roomy(matrix)
    weight = memory[:count].reshape(*shape)
    ap.ops.trans_matmul_weight(weight)
    expected = blocks(matrix)
    assert expected.shape == storage
    np.testing.assert_array_equal(wide(memory.numpy()), wide(expected.reshape(-1)))


def test_a_transposed_view_keeps_its_storage_order() -> None:
    matrix = np.arange(20 * 33, dtype=np.float16).reshape(20, 33)
    memory = roomy(matrix)
    ap.ops.trans_matmul_weight(memory[: matrix.size].reshape(20, 33).permute(1, 0))
    np.testing.assert_array_equal(memory.numpy(), blocks(matrix).reshape(-1))


def test_places_of_the_worked_example() -> None:
    matrix = np.arange(54, dtype=np.float16).reshape(3, 18)
    memory = roomy(matrix)
    ap.ops.trans_matmul_weight(memory[:54].reshape(3, 18))
    flat = memory.numpy()
    assert [flat[i] for i in (0, 16, 32, 256, 272, 289)] == [0, 18, 36, 16, 34, 53]


@pytest.mark.emulator_only(reason="the function is called in the emulator's own library")
def test_sizes_are_in_elements() -> None:
    from aclnn_py.emulator import library_path

    library = ctypes.CDLL(str(library_path()))
    library.aclCreateIntArray.restype = ctypes.c_void_p
    size = ctypes.c_uint64()

    def status(shape: list[int], dtype: int | None = None) -> int:
        values = (ctypes.c_int64 * len(shape))(*shape)
        array = ctypes.c_void_p(library.aclCreateIntArray(values, ctypes.c_uint64(len(shape))))
        if dtype is None:
            code = library.aclnnCalculateMatmulWeightSize(array, ctypes.byref(size))
        else:
            code = library.aclnnCalculateMatmulWeightSizeV2(array, dtype, ctypes.byref(size))
        library.aclDestroyIntArray(array)
        return int(code)

    float16, int8, float32 = 1, 2, 0
    for shape, dtype, expected in (
        ([3, 18], float16, 512),
        ([20, 33], int8, 2048),
        ([64, 128], float16, 8192),
        ([4, 17, 40], int8, 8192),
    ):
        assert status(shape, dtype) == 0
        assert size.value == expected
    assert status([3, 18]) == 0
    assert size.value == 512
    for shape in ([18], [3, 0], [1] * 7):
        assert status(shape) == 161002
    assert status([3, 18], float32) == 161002
    assert library.aclnnCalculateMatmulWeightSize(None, ctypes.byref(size)) == 161001


def test_refusals() -> None:
    assert refusal("aclnnTransMatmulWeight", None) == 161001
    assert refusal("aclnnTransMatmulWeight", hollow((16, 16), np.float32)) == 161002
    assert refusal("aclnnTransMatmulWeight", hollow((16,), np.float16)) == 161002


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32], ids=str)
def test_products_read_the_blocks(dtype: type) -> None:
    rng = np.random.default_rng(17)
    x = rng.standard_normal((5, 37)).astype(dtype)
    y = rng.standard_normal((37, 29)).astype(dtype)
    weight = ap.from_numpy(y, format=ap.Format.FRACTAL_NZ)
    for operator in (ap.ops.matmul, ap.ops.mm, ap.ops.matmul_weight_nz):
        out = hollow((5, 29), dtype)
        operator(place(x), weight, out, 0)
        assert_close(out.numpy(), wide(x) @ wide(y), scale=40)


def test_a_vector_has_no_blocks() -> None:
    call = next(call for call in calls("aclnnMatmul") if len(call.arguments[1].shape) == 1)
    x, y, out, math_type = call.changed(1, format="FRACTAL_NZ").build()
    assert refusal("aclnnMatmul", x, y, out, math_type) == 161002


def test_plain_weights_are_not_taken_for_blocks() -> None:
    x, y = place(np.ones((4, 4), np.float16)), place(np.ones((4, 4), np.float16))
    assert refusal("aclnnMatmulWeightNz", x, y, hollow((4, 4), np.float16), 0) == 161002
