# SPDX-License-Identifier: Apache-2.0
"""Functions of the operator library that answer at once: sizes, formats, a packed weight."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950

import aclnn_py as ap
from aclnn_py._ffi import C, ffi

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="acceptance of the emulated 910B"),
]

NULL, INVALID, RUNTIME, INNER_NULL = 161001, 161002, 361001, 561103
ND, NCDHW, NDC1HWC0, Z3D, NZ, NCHW, NCL, NHWC = 2, 30, 32, 33, 29, 0, 47, 1
FLOAT, FLOAT16, INT8, DOUBLE, BF16, UINT32 = 0, 1, 2, 11, 27, 8


def tensor(shape: tuple[int, ...], dtype: int, fmt: int) -> Any:
    dims = ffi.new("int64_t[]", shape)
    made = C.aclCreateTensor(dims, len(shape), dtype, ffi.NULL, 0, fmt, dims, len(shape), ffi.NULL)
    assert made != ffi.NULL
    return made


def cast_size(
    shape: tuple[int, ...], dtype: int, source: int, target: int, additional: int = -1
) -> tuple[int, tuple[int, ...], int]:
    """(status, shape, format) of a cast."""
    handle = tensor(shape, dtype, source)
    dims, size, actual = ffi.new("int64_t **"), ffi.new("uint64_t *"), ffi.new("int *", -9)
    status = C.aclnnNpuFormatCastCalculateSizeAndFormat(
        handle, target, additional, dims, size, actual
    )
    assert C.aclDestroyTensor(handle) == 0
    if status:
        assert dims[0] == ffi.NULL
        return status, (), actual[0]
    found = tuple(dims[0][i] for i in range(size[0]))
    release_array(int(ffi.cast("uintptr_t", dims[0])))
    return status, found, actual[0]


def release_array(address: int) -> None:
    """What delete[] does with an array of numbers."""
    ctypes.CDLL(None).free(ctypes.c_void_p(address))


@pytest.mark.parametrize(
    ("shape", "dtype", "source", "target", "expected"),
    [
        ((64, 128), FLOAT16, ND, NZ, (8, 4, 16, 16)),
        ((3, 20, 33), INT8, ND, NZ, (3, 2, 2, 16, 32)),
        ((20, 33), FLOAT, NCL, NZ, (5, 2, 16, 8)),
        ((1, 2, 3, 4, 17, 40), BF16, NCHW, NZ, (1, 2, 3, 4, 3, 2, 16, 16)),
        ((17, 0), UINT32, ND, NZ, (0, 2, 16, 8)),
        ((8, 4, 16, 16), FLOAT16, NZ, ND, (8, 4, 16, 16)),
        ((2, 33, 3, 4, 5), FLOAT16, NCDHW, NDC1HWC0, (2, 3, 3, 4, 5, 16)),
        ((18, 33, 3, 4, 5), FLOAT16, NCDHW, Z3D, (180, 2, 16, 16)),
        ((18, 33, 3, 4, 5), FLOAT, NCDHW, Z3D, (300, 2, 16, 8)),
        ((2, 33, 3, 4, 5), FLOAT16, NDC1HWC0, NCDHW, (2, 33, 3, 4, 5)),
        ((2, 33, 3, 4, 5), INT8, Z3D, NCDHW, (2, 33, 3, 4, 5)),
    ],
    ids=str,
)
def test_size_of_a_cast(
    shape: tuple[int, ...], dtype: int, source: int, target: int, expected: tuple[int, ...]
) -> None:
    assert cast_size(shape, dtype, source, target) == (0, expected, target)


def test_size_of_a_cast_refusals() -> None:
    assert cast_size((4, 4), DOUBLE, ND, NZ)[0] == INVALID
    assert cast_size((4, 4), FLOAT16, ND, NZ, FLOAT16)[0] == INVALID
    assert cast_size((4,), FLOAT16, ND, NZ)[0] == INVALID
    assert cast_size((4, 4), FLOAT16, NCDHW, NDC1HWC0)[0] == INVALID
    assert cast_size((1, 1, 2**31, 2**31, 2**31), FLOAT16, NCDHW, Z3D)[0] == INVALID
    for source, target in ((ND, NDC1HWC0), (NHWC, NZ), (NZ, NCHW), (ND, ND), (ND, 999)):
        assert cast_size((4, 4), FLOAT16, source, target)[0] == RUNTIME
    handle = tensor((4, 4), FLOAT16, ND)
    outputs = [ffi.new("int64_t **"), ffi.new("uint64_t *"), ffi.new("int *")]
    call = C.aclnnNpuFormatCastCalculateSizeAndFormat
    assert call(ffi.NULL, NZ, -1, *outputs) == INVALID
    for missing in range(3):
        some = [ffi.NULL if i == missing else one for i, one in enumerate(outputs)]
        assert call(handle, NZ, -1, *some) == NULL
    assert C.aclDestroyTensor(handle) == 0
    assert call(handle, NZ, -1, *outputs) == INVALID


def test_sizes_of_casts_on_a_950() -> None:
    int32, e4m3, e2m1 = 3, 36, 40
    c0_16, c0_32 = 50, 51
    with Chip950() as newer:
        for call, expected in [
            (((20, 33), INT8, ND, NZ, -1), (0, (2, 2, 16, 32), NZ)),
            (((3, 20, 33), FLOAT, ND, NZ, FLOAT16), (0, (3, 3, 2, 16, 16), c0_16)),
            (((20, 33), FLOAT, ND, NZ, e4m3), (0, (2, 2, 16, 32), c0_32)),
            (((20, 33), int32, ND, NZ, BF16), (0, (3, 2, 16, 16), c0_16)),
            (((20, 65), e2m1, ND, NZ, e2m1), (0, (2, 2, 16, 64), NZ)),
            (((20, 33), FLOAT, c0_16, ND, FLOAT), (0, (20, 33), ND)),
            (((20, 33), FLOAT, ND, NZ, -1), (RUNTIME, (), -9)),
            (((20, 33), FLOAT16, ND, NCDHW, FLOAT16), (RUNTIME, (), -9)),
            (((20,), FLOAT16, ND, NZ, FLOAT16), (INVALID, (), -9)),
            (((0, 5), FLOAT16, ND, NZ, FLOAT16), (INVALID, (), -9)),
        ]:
            assert newer.call("ops.random.test_host_calls", "cast_size", *call) == expected, call


CONVOLUTION = """
import sys
import aclnn_py as ap
from aclnn_py._ffi import C, ffi
ap.Device(0).__enter__()
size = ffi.new("uint64_t *")
for line in sys.stdin.read().split("\\n"):
    transposed, groups, dtype, *shape = map(int, line.split())
    array = C.aclCreateIntArray(ffi.new("int64_t[]", shape), len(shape))
    size[0] = 77
    call = C.aclnnCalculateConvolutionWeightSize
    print(call(array, transposed, groups, dtype, size), size[0])
    C.aclDestroyIntArray(array)
print(call(ffi.NULL, 0, 1, 1, size), 0)
array = C.aclCreateIntArray(ffi.new("int64_t[]", [2, 4, 8, 8]), 4)
print(call(array, 0, 1, 1, ffi.NULL), 0)
"""


def convolution_sizes(chip: str, rows: list[tuple[int, ...]]) -> list[tuple[int, int]]:
    """(status, size) of each row (transposed, groups, dtype, shape...), then those of nulls."""
    done = subprocess.run(
        [sys.executable, "-c", CONVOLUTION],
        input="\n".join(" ".join(map(str, row)) for row in rows),
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
        env={**os.environ, "ACLNN_PY_EMULATOR_SOC": chip},
    )
    return [(int(a), int(b)) for a, b in map(str.split, done.stdout.splitlines())]


def test_size_of_a_convolution_s_weight() -> None:
    rows: list[tuple[tuple[int, ...], tuple[int, int]]] = [
        ((0, 1, FLOAT16, 2, 4, 8, 8), (0, 16384)),  # the document's example
        ((0, 1, FLOAT16, 17, 33, 3, 1), (0, 3 * 3 * 2 * 256)),
        ((0, 1, FLOAT16, 17, 0, 3, 1), (0, 0)),
        # 32 groups of one channel in and out: sixteen of them fill an edge together
        ((0, 32, FLOAT16, 32, 1, 3, 3), (0, 2 * 9 * 1 * 256)),
        ((0, 2, FLOAT16, 4, 16, 1, 1), (0, 2 * 256)),
        ((1, 1, FLOAT16, 2, 4, 8, 8), (INVALID, 77)),
        ((0, 0, FLOAT16, 2, 4, 8, 8), (INVALID, 77)),
        ((0, 65536, FLOAT16, 65536, 4, 8, 8), (INVALID, 77)),
        ((0, 1, FLOAT, 2, 4, 8, 8), (INVALID, 77)),
        ((0, 1, FLOAT16, 2, 4, 8), (INVALID, 77)),
        ((0, 1, FLOAT16, 2, -4, 8, 8), (INVALID, 77)),
        ((0, 3, FLOAT16, 2, 4, 8, 8), (INVALID, 77)),
        ((0, 1, FLOAT16, 2**40, 2**40, 8, 8), (INVALID, 77)),
    ]
    found = convolution_sizes("Ascend310P3", [row for row, _ in rows])
    assert found == [*(expected for _, expected in rows), (NULL, 0), (NULL, 0)]


def test_other_chips_keep_no_such_weight() -> None:
    assert convolution_sizes("Ascend910B1", [(0, 1, FLOAT16, 2, 4, 8, 8)])[0] == (INVALID, 77)


def sparse(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """A weight with at most two elements besides zeros in every four of a row."""
    weight = rng.integers(-128, 128, (n, k)).astype(np.int8)
    for row in weight:
        for start in range(0, k, 4):
            four = row[start : start + 4]
            four[rng.permutation(len(four))[: max(0, len(four) - rng.integers(0, 3))]] = 0
    return weight


def unpacked(values: np.ndarray, places: np.ndarray, n: int, k: int) -> np.ndarray:
    """The weight again: the first place counts from 0, the second from 1; equal ones add up."""
    across, down = values.shape[:2]
    rows = values.transpose(1, 2, 0, 3).reshape(down * 16, across * 32)
    bits = places.transpose(1, 2, 0, 3).reshape(down * 16, across * 8).astype(int)
    weight = np.zeros((down * 16, across * 64), np.int64)
    for r in range(down * 16):
        for group in range(across * 16):
            place = bits[r, group // 2] >> (4 * (group % 2)) & 15
            weight[r, group * 4 + (place & 3)] += rows[r, 2 * group]
            weight[r, group * 4 + 1 + (place >> 2)] += rows[r, 2 * group + 1]
    assert not weight[n:].any()
    assert not weight[:, k:].any()
    return weight[:n, :k]


def pack(weight: np.ndarray) -> tuple[int, list[np.ndarray]]:
    """(status, [values, places]) of a weight."""
    shape = C.aclCreateIntArray(ffi.new("int64_t[]", weight.shape), weight.ndim)
    values, places = ffi.new("int8_t **"), ffi.new("uint8_t **")
    dims, sizes = [ffi.new("int64_t **") for _ in "vp"], [ffi.new("uint64_t *") for _ in "vp"]
    data = ffi.from_buffer("int8_t[]", weight)
    status = C.aclnnTransSparse4to2Para(
        data, shape, values, dims[0], sizes[0], places, dims[1], sizes[1]
    )
    assert C.aclDestroyIntArray(shape) == 0
    if status:
        assert values[0] == places[0] == ffi.NULL
        return status, []
    arrays = []
    for pointer, dim, size, dtype in zip(
        (values, places), dims, sizes, (np.int8, np.uint8), strict=True
    ):
        extents = [dim[0][i] for i in range(size[0])]
        raw = ffi.buffer(pointer[0], int(np.prod(extents)))
        arrays.append(np.frombuffer(bytes(raw), dtype).reshape(extents))
    for memory in (values[0], places[0], dims[0][0], dims[1][0]):
        release_array(int(ffi.cast("uintptr_t", memory)))
    return status, arrays


@pytest.mark.parametrize(
    ("n", "k"), [(1, 4), (16, 64), (17, 65), (33, 512), (5, 7), (2, 66)], ids=str
)
def test_packed_weight(n: int, k: int) -> None:
    weight = sparse(np.random.default_rng(n * k), n, k)
    status, (values, places) = pack(weight)
    assert status == 0
    half = -(-k // 8) * 4
    assert values.shape == (-(-half // 32), -(-n // 16), 16, 32)
    assert places.shape == (*values.shape[:3], 8)
    np.testing.assert_array_equal(unpacked(values, places, n, k), weight)


def test_places_of_each_pattern() -> None:
    """The codes of CANN for what stands where in four elements."""
    codes = {
        (0, 0, 0, 0): (0, 0),
        (0, 0, 0, 1): (0, 2),
        (0, 0, 1, 0): (2, 0),
        (0, 0, 1, 1): (2, 2),
        (0, 1, 0, 0): (1, 0),
        (0, 1, 0, 1): (1, 2),
        (0, 1, 1, 0): (1, 1),
        (1, 0, 0, 0): (0, 0),
        (1, 0, 0, 1): (0, 2),
        (1, 0, 1, 0): (0, 1),
        (1, 1, 0, 0): (0, 0),
    }
    for pattern, (first, second) in codes.items():
        status, (_, places) = pack(np.array([pattern], np.int8))
        assert status == 0
        assert places[0, 0, 0, 0] == first | second << 2, pattern


def test_packed_weight_refusals() -> None:
    for pattern in ((1, 1, 1, 0), (1, 1, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1)):
        assert pack(np.array([pattern], np.int8))[0] == INVALID
    assert pack(np.zeros((2, 2, 4), np.int8))[0] == INVALID
    assert pack(np.zeros((4,), np.int8))[0] == INVALID
    for dims in ((0, 4), (4, -1), (2**40, 2**40), (2**62, 2)):
        shape = C.aclCreateIntArray(ffi.new("int64_t[]", dims), 2)
        outputs = [ffi.new(f"{kind} *") for kind in ("int8_t *", "int64_t *", "uint64_t")]
        more = [ffi.new(f"{kind} *") for kind in ("uint8_t *", "int64_t *", "uint64_t")]
        data = ffi.new("int8_t[4]")
        status = C.aclnnTransSparse4to2Para(data, shape, *outputs, *more)
        assert status == INVALID
        given: list[Any] = [data, shape, *outputs, *more]
        for missing in range(len(given)):
            some = [ffi.NULL if i == missing else one for i, one in enumerate(given)]
            assert C.aclnnTransSparse4to2Para(*some) == INNER_NULL
        assert C.aclDestroyIntArray(shape) == 0


def test_choice_of_random_numbers_is_kept() -> None:
    assert C.aclnnGetPytorchRandom() == 0
    assert C.aclnnSetPytorchRandom(1) == 0
    assert C.aclnnGetPytorchRandom() == 1
    for other in (2, -1):
        assert C.aclnnSetPytorchRandom(other) == INVALID
    assert C.aclnnGetPytorchRandom() == 1
    before = ap.from_numpy(np.zeros(32, np.float32))
    after = ap.from_numpy(np.zeros(32, np.float32))
    ap.ops.inplace_uniform(before, 0.0, 1.0, 7, 0)
    assert C.aclnnSetPytorchRandom(0) == 0
    ap.ops.inplace_uniform(after, 0.0, 1.0, 7, 0)
    np.testing.assert_array_equal(before.numpy(), after.numpy())
    assert after.numpy().all()


def sizes(what: str, *arguments: Any, results: int) -> tuple[int, list[int]]:
    made = [ffi.new("uint64_t *") for _ in range(results)]
    name = f"aclnnMoeDistribute{what}SetupTeardownCalcOutputSize"
    status = getattr(C, name)(*arguments, *made)
    assert getattr(C, name)(*arguments, ffi.NULL, *made[1:]) == (status or NULL)
    return status, [result[0] for result in made]


@pytest.mark.parametrize(("mode", "row"), [(0, 4096), (1, 4096), (2, 4608), (3, 4608), (4, 4608)])
def test_sizes_of_dispatch_in_halves(mode: int, row: int) -> None:
    x, ids = tensor((16, 4096), FLOAT16, ND), tensor((16, 6), 3, ND)
    for experts, shared, ranks, all_tokens, wanted in (
        (32, 0, 0, 0, [row, 96, 32 * 6 * 128, (96 + 2 * 32 // 2) * 16]),
        (4, 0, 0, 64, [row, 96, 64 * 2 * 128, (96 + 2 * 2) * 16]),
        (4, 1, 1, 0, [row, 96, 32 * 128, (16 * 7 + 2) * 16]),
    ):
        status, found = sizes(
            "Dispatch",
            *(x, ids, ffi.NULL, ffi.NULL, b"g", 2, 0, experts, 0, shared, ranks, mode, all_tokens),
            *(1, 2, ffi.NULL),
            results=4,
        )
        assert (status, found) == (0, wanted)
    for handle in (x, ids):
        assert C.aclDestroyTensor(handle) == 0


def test_sizes_of_combine_in_halves() -> None:
    x, ids, info = (
        tensor((192, 4096), BF16, ND),
        tensor((16, 6), 3, ND),
        tensor((192 * 128,), 3, ND),
    )
    rest = (b"g", 2, 0, 32, 0, 0, 0, 0, 0, 2, ffi.NULL)
    assert sizes("Combine", x, ids, info, *rest, results=2) == (0, [6144, 194 * 16])
    assert sizes("Combine", ids, ids, info, *rest, results=2)[0] == INVALID
    assert sizes("Combine", ffi.NULL, ids, info, *rest, results=2)[0] == NULL
    for handle in (x, ids, info):
        assert C.aclDestroyTensor(handle) == 0
