# SPDX-License-Identifier: Apache-2.0
"""What phase one of a grouped product changes on the objects of a C program."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

import aclnn_py as ap
from aclnn_py._ffi import C, ffi
from aclnn_py.emulator import library_path

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="ctypes finds the operator in one known library"),
]

FLOAT16, INT8, INT32, INT64, UINT64, INT4 = 1, 2, 3, 9, 10, 29


class Arguments:
    """Lists of one tensor each, freed together."""

    def __init__(self) -> None:
        self.lists: list[Any] = []
        self.memory: list[ap.Tensor] = []

    def add(self, shape: tuple[int, ...], dtype: int) -> tuple[Any, int]:
        """A tensor and the address of its list."""
        self.memory.append(ap.zeros((64 * 64,), "int64"))
        dims, where = ffi.new("int64_t[]", shape), ffi.cast("void *", self.memory[-1].address)
        rank = len(shape)
        tensor = C.aclCreateTensor(dims, rank, dtype, ffi.NULL, 0, 2, dims, rank, where)
        self.lists.append(C.aclCreateTensorList(ffi.new("aclTensor *[]", [tensor]), 1))
        return tensor, int(ffi.cast("uintptr_t", self.lists[-1]))

    def close(self) -> None:
        for one in self.lists:
            C.aclDestroyTensorList(one)


def phase_one(x: int, weight: int, out: int, **given: int) -> int:
    """aclnnGroupedMatmulV2 with one group of all four rows; the code it returns."""
    library = ctypes.CDLL(str(library_path()))
    function = library.aclnnGroupedMatmulV2GetWorkspaceSize
    address, whole = ctypes.c_void_p, ctypes.c_int64
    function.argtypes = [*[address] * 8, whole, whole, *[address] * 3]
    ends = C.aclCreateIntArray(ffi.new("int64_t[]", [4]), 1)
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    optional = [given.get(name) for name in ("bias", "scale", "offset", "factor", "shift")]
    groups = int(ffi.cast("uintptr_t", ends))
    outputs = ctypes.addressof(size), ctypes.addressof(executor)
    status = function(x, weight, *optional, groups, 3, 0, out, *outputs)
    C.aclDestroyIntArray(ends)
    if status == 0:
        assert C.aclDestroyAclOpExecutor(ffi.cast("aclOpExecutor *", executor.value)) == 0
    return int(status)


def dtype_of(tensor: Any) -> int:
    found = ffi.new("aclDataType *")
    assert C.aclGetDataType(tensor, found) == 0
    return int(found[0])


def shape_of(tensor: Any) -> list[int]:
    dims, rank = ffi.new("int64_t **"), ffi.new("uint64_t *")
    assert C.aclGetViewShape(tensor, dims, rank) == 0
    shape = [int(dims[0][i]) for i in range(rank[0])]
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(int(ffi.cast("uintptr_t", dims[0])))
    return shape


@pytest.mark.parametrize(("rows", "status", "dtype"), [(4, 0, UINT64), (5, 161002, INT64)])
def test_a_scale_of_int64_reads_uint64_afterwards(rows: int, status: int, dtype: int) -> None:
    made = Arguments()
    _, x = made.add((4, 32), INT8)
    _, weight = made.add((1, 32, 16), INT8)
    scale, scales = made.add((1, 16), INT64)
    _, out = made.add((rows, 16), INT8)
    assert phase_one(x, weight, out, scale=scales) == status
    assert dtype_of(scale) == dtype  # a refused call changes nothing
    made.close()


@pytest.mark.parametrize(
    ("rows", "status", "dtype", "shape"),
    [(4, 0, INT4, [1, 32, 16]), (5, 161002, INT32, [1, 32, 2])],
)
def test_a_packed_weight_reads_int4_afterwards(
    rows: int, status: int, dtype: int, shape: list[int]
) -> None:
    made = Arguments()
    _, x = made.add((4, 32), FLOAT16)
    tensor, weight = made.add((1, 32, 2), INT32)
    _, factor = made.add((1, 16), FLOAT16)
    _, shift = made.add((1, 16), FLOAT16)
    _, out = made.add((rows, 16), FLOAT16)
    assert phase_one(x, weight, out, factor=factor, shift=shift) == status
    assert (dtype_of(tensor), shape_of(tensor)) == (dtype, shape)
    if status == 0:
        # The object is an ordinary INT4 weight from now on.
        assert phase_one(x, weight, out, factor=factor, shift=shift) == 0
        assert shape_of(tensor) == shape
    made.close()
