# SPDX-License-Identifier: Apache-2.0
"""Slices that are kept once, in order or where they follow each other, against NumPy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_same
from helpers.operators import NUMPY, hollow, op, place, refusal, tensor_dtypes

import aclnn_py as ap
from aclnn_py._ffi import C, ffi
from aclnn_py.emulator import library_path

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
FLAT = 1000


def taken(name: str) -> list[str]:
    return list(tensor_dtypes(name)["self"])


def expect_front(tensor: ap.Tensor, expected: Array) -> None:
    """The result lies in the front of the memory, and what is behind it is as it was."""
    found, behind = np.split(tensor.numpy().reshape(-1), [expected.size])
    assert_same(found.reshape(expected.shape), expected.astype(found.dtype))
    assert_same(behind, hollow(tensor.shape, found.dtype).numpy().reshape(-1)[expected.size :])


def expect_unique_dim(x: Array, dim: int, *expected: Array, layout: str = "dense") -> None:
    """Compare the values, inverse indices and counts of UniqueDim."""
    extent = x.shape[dim]
    out = hollow(x.shape, x.dtype), hollow((extent,), np.int64), hollow((extent + 1,), np.int64)
    op("aclnnUniqueDim")(place(x, layout), False, True, dim, *out)
    for tensor, one in zip(out, expected, strict=True):
        expect_front(tensor, np.asarray(one))


def expect_consecutive(
    x: Array, *expected: Array, dim: int = FLAT, index: Any = np.int64, layout: str = "dense"
) -> None:
    """Compare the same of UniqueConsecutive."""
    out = hollow((x.size + 1,), x.dtype), hollow(x.shape, index), hollow((x.size,), index)
    op("aclnnUniqueConsecutive")(place(x, layout), True, True, dim, *out)
    for tensor, one in zip(out, expected, strict=True):
        expect_front(tensor, np.asarray(one))


def runs(x: Array, dim: int) -> tuple[Array, Array, Array]:
    """First slices of runs of equal ones, the run of each slice, and the lengths of runs."""
    slices = np.moveaxis(x, dim, 0)
    starts = [i for i in range(len(slices)) if i == 0 or not (slices[i] == slices[i - 1]).all()]
    lengths = np.diff([*starts, len(slices)])
    inverse = np.repeat(np.arange(len(starts)), lengths)
    return np.moveaxis(slices[starts], 0, dim), inverse, lengths


@pytest.mark.parametrize("name", taken("aclnnUniqueDim"))
def test_slices_are_kept_once_in_ascending_order(name: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (4, 7, 2)).astype(NUMPY[name])
    for dim in (0, 1, -1):
        oracle = np.unique(x.astype(np.float64), return_inverse=True, return_counts=True, axis=dim)
        for layout in ("dense", "transposed"):
            expect_unique_dim(x, dim, oracle[0], oracle[1].reshape(-1), oracle[2], layout=layout)


def test_the_example_of_the_document_with_one_order() -> None:
    x = np.array([[2, 1, 2], [1, 2, 1], [2, 1, 2]], np.float32)
    expect_unique_dim(x, 0, np.array([[1, 2, 1], [2, 1, 2]]), np.array([1, 0, 1]), np.array([1, 2]))


def test_large_numbers_and_nan_stay_apart() -> None:
    for kind in (np.int64, np.uint64):
        x = np.array([2**62 + 1, 2**62, 2**62 + 1, 2**62 + 2], kind)
        expect_unique_dim(x, 0, np.unique(x), np.array([1, 0, 1, 2]), np.array([1, 2, 1]))
    x = np.array([[np.nan, 1], [0, np.nan], [0, 1], [np.nan, 1], [0, 1], [-0.0, 1]])
    expect_unique_dim(
        *(x, 0, np.array([[0, 1], [0, np.nan], [np.nan, 1], [np.nan, 1]])),
        *(np.array([2, 1, 0, 3, 0, 0]), np.array([3, 1, 1, 1])),
    )
    x = np.array([np.nan, np.nan, 1, 1])
    expect_consecutive(x, x[:3], np.array([0, 1, 2, 2]), np.array([1, 1, 2]))


@pytest.mark.parametrize("name", taken("aclnnUniqueConsecutive"))
def test_runs_of_equal_slices_are_kept_once(name: str) -> None:
    rng = np.random.default_rng(2)
    x = np.repeat(rng.integers(0, 2, (3, 4, 2)), 2, axis=1).astype(NUMPY[name])
    if x.dtype.kind == "c":
        x = x * np.array([1, 1j], x.dtype)
    flat, inverse, counts = runs(x.reshape(-1), 0)
    expect_consecutive(x, flat, inverse.reshape(x.shape), counts, index=np.int32, layout="stepped")
    for dim in (0, 1, 2, -2):
        expect_consecutive(x, *runs(x, dim), dim=dim)


@pytest.mark.parametrize("name", ["FLOAT", "FLOAT16", "INT32", "INT64", "DOUBLE", "UINT64"])
def test_runs_of_many_elements(name: str) -> None:
    rng = np.random.default_rng(3)
    x = np.repeat(rng.integers(0, 3, 1500), rng.integers(1, 5, 1500)).astype(NUMPY[name])
    flat, inverse, counts = runs(x, 0)
    expect_consecutive(x, flat, inverse, counts)
    expect_consecutive(x, flat, inverse, counts, dim=0)
    same = np.full(2500, 7, NUMPY[name])
    expect_consecutive(same, same[:1], np.zeros(2500), np.array([2500]))


@pytest.mark.parametrize("name", taken("aclnnUniqueConsecutive"))
@pytest.mark.parametrize("longest", [1, 2, 3000])
def test_runs_in_memory_that_is_apart(name: str, longest: int) -> None:
    rng = np.random.default_rng(longest)
    lengths = rng.integers(1, longest + 1, 6000 // longest + 1)
    x = np.repeat(rng.integers(0, 2, lengths.size), lengths).astype(NUMPY[name])
    flat, _, counts = runs(x, 0)
    for layout in ("dense", "strided"):
        out = hollow((x.size + 1,), x.dtype), hollow((3,), np.int64), hollow((x.size,), np.int64)
        op("aclnnUniqueConsecutive")(place(x, layout), False, True, FLAT, *out)
        expect_front(out[0], flat)
        expect_front(out[2], counts)
        assert_same(out[1].numpy(), np.full(3, 77))


def test_runs_in_memory_that_is_read() -> None:
    x = np.repeat(np.arange(3000), 2)
    for given, values, counts in ((0, 0, 1), (0, 1, 0)):
        memory = [place(x), hollow(x.shape, np.int64)]
        op("aclnnUniqueConsecutive")(
            memory[given], False, True, FLAT, memory[values], hollow((1,), np.int64), memory[counts]
        )
        ap.synchronize()
        if counts == 0:
            assert_same(memory[0].numpy()[:3000], np.full(3000, 2))
        assert_same(memory[values].numpy()[:3000], np.arange(3000))


def test_nan_begins_a_run_wherever_it_lies() -> None:
    x = np.zeros(5000, np.float32)
    x[[1023, 1024, 2047, 4999]] = np.nan
    flat, _, counts = runs(x, 0)
    out = hollow((6000,), np.float32), hollow((1,), np.int64), hollow((6000,), np.int64)
    op("aclnnUniqueConsecutive")(place(x), False, True, FLAT, *out)
    expect_front(out[0], flat)
    expect_front(out[2], counts)


def test_what_is_not_asked_for_is_left_alone() -> None:
    x = place(np.array([1, 1, 2, 2], np.float32))
    out = hollow((4,), np.float32), hollow((4,), np.int64), hollow((4,), np.int64)
    op("aclnnUniqueConsecutive")(x, False, False, 0, *out)
    expect_front(out[0], np.array([1, 2]))
    for left in out[1:]:
        assert_same(left.numpy(), np.full(4, 77))
    out = hollow((4,), np.float32), hollow((1,), np.int64), hollow((4,), np.int64)
    op("aclnnUniqueDim")(x, True, False, 0, *out)
    ap.synchronize()
    assert_same(out[1].numpy(), np.full(1, 77))


def test_nothing_and_slices_of_nothing() -> None:
    none = np.zeros(0)
    expect_unique_dim(np.zeros((0, 3), np.float32), 0, none, none, none)
    expect_unique_dim(np.zeros((3, 0), np.float32), 0, none, np.zeros(3), np.array([3]))
    expect_consecutive(np.zeros((2, 0), np.int8), none, none, none)
    expect_consecutive(np.array(5, np.int8), np.array([5]), np.array(0), np.array([1]))


@pytest.mark.emulator_only(reason="ctypes finds the operator in one known library")
def test_a_program_reads_the_shapes_afterwards() -> None:
    library = ctypes.CDLL(str(library_path()))
    x = np.array([[1, 1, 2], [3, 3, 4]], np.float32)
    memory = [place(x), hollow((9,), np.float32), hollow((6,), np.int64), hollow((6,), np.int64)]
    made, addresses = [], []
    for tensor, shape in zip(memory, ((2, 3), (3, 3), (6,), (6,)), strict=True):
        dims, kind = ffi.new("int64_t[]", shape), 9 if len(shape) == 1 else 0
        where = ffi.cast("void *", tensor.address)
        made.append(
            C.aclCreateTensor(dims, len(shape), kind, ffi.NULL, 0, 2, dims, len(shape), where)
        )
        addresses.append(int(ffi.cast("uintptr_t", made[-1])))
    address, flag = ctypes.c_void_p, ctypes.c_bool
    phase_one = library.aclnnUniqueDimGetWorkspaceSize
    phase_one.argtypes = [address, flag, flag, ctypes.c_int64, *[address] * 5]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    ends = ctypes.addressof(size), ctypes.addressof(executor)
    assert phase_one(addresses[0], True, True, 1, *addresses[1:], *ends) == 0
    library.aclnnUniqueDim.argtypes = [address, ctypes.c_uint64, address, address]
    stream = ap.Stream()
    queue = int(ffi.cast("uintptr_t", stream.raw))
    assert library.aclnnUniqueDim(None, size, executor, queue) == 0
    stream.synchronize()
    assert [shape_of(one) for one in made[1:]] == [[2, 2], [3], [2]]
    expect_front(memory[1], np.array([[1, 2], [3, 4]]))
    for one in made:
        assert C.aclDestroyTensor(one) == 0


def shape_of(tensor: Any) -> list[int]:
    dims, rank = ffi.new("int64_t **"), ffi.new("uint64_t *")
    assert C.aclGetViewShape(tensor, dims, rank) == 0
    shape = [int(dims[0][i]) for i in range(rank[0])]
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(int(ffi.cast("uintptr_t", dims[0])))
    return shape


def test_too_little_room_is_a_fault() -> None:
    x, one, many = place(np.arange(4)), hollow((1,), np.int64), hollow((4,), np.int64)
    for out, name in (((one, many, many), "valueOut"), ((many, one, many), "inverseOut")):
        with pytest.raises(ap.errors.DeviceError, match=name):
            op("aclnnUniqueDim")(x, True, True, 0, *out)
            ap.synchronize()
    with pytest.raises(ap.errors.DeviceError, match="countsOut"):
        op("aclnnUniqueConsecutive")(x, False, True, 0, hollow((4,), np.int64), many, one)
        ap.synchronize()
    for out, name in (((one, many, many), "valueOut"), ((many, many, one), "countsOut")):
        with pytest.raises(ap.errors.DeviceError, match=name):
            op("aclnnUniqueConsecutive")(x, False, True, FLAT, *out)
            ap.synchronize()


def test_what_does_not_fit_is_refused() -> None:
    x, index = hollow((2, 3), np.float32), hollow((6,), np.int64)
    dim = "aclnnUniqueDim"
    assert refusal(dim, x, True, True, 2, x, index, index) == 161002
    assert refusal(dim, x, True, True, -3, x, index, index) == 161002
    assert refusal(dim, hollow((), np.float32), True, True, 0, x, index, index) == 161002
    assert refusal(dim, x, True, True, 0, hollow((2, 3), np.float16), index, index) == 161002
    stepped = hollow((2, 3), np.float32, "stepped")
    assert refusal(dim, x, True, True, 0, stepped, index, index) == 161002
    narrow = hollow((6,), np.int32)
    assert refusal(dim, x, True, True, 0, x, narrow, narrow) == 161002
    assert refusal("aclnnUniqueConsecutive", x, True, True, 0, x, index, narrow) == 161002
    assert refusal("aclnnUniqueConsecutive", x, True, True, 999, x, index, index) == 161002


def test_a_950_flattens_and_gives_no_inverse() -> None:
    x = Given(np.array([[1, 1], [2, 2]], np.float32), "float32")
    out = Made((4,), "float32"), Made((4,), "int64"), Made((4,), "int64")
    with Chip950() as chip:
        made = chip.operator("unique_consecutive", x, False, True, FLAT, *out)
        assert not isinstance(made, Refused), made.text
        assert_same(made[0], np.array([1, 2, 77, 77], np.float32))
        for inverse, dim in ((True, FLAT), (False, 0)):
            answer = chip.operator("unique_consecutive", x, inverse, True, dim, *out)
            assert isinstance(answer, Refused) and answer.status == 161002
        wide = Given(np.zeros(4), "float64")
        answer = chip.operator(
            "unique_consecutive", wide, False, True, FLAT, Made((4,), "float64"), *out[1:]
        )
        assert isinstance(answer, Refused) and answer.status == 161002
