# SPDX-License-Identifier: Apache-2.0
"""Copies, casts, fills, sequences and masked fills against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import (
    LAYOUTS,
    NUMPY,
    accepted_dtypes,
    hollow,
    op,
    place,
    refusal,
    values,
)

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

FLOAT8 = {
    "FLOAT8_E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "FLOAT8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
}


def converted(array: Any, dtype: np.dtype[Any]) -> Any:
    """What a cast gives: one rounding to nearest, truncation to integers, truth for BOOL."""
    if dtype == np.bool_:
        return array != 0
    if array.dtype.kind == "c" and dtype.kind != "c":
        array = array.real
    if dtype.kind == "c":
        return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64).astype(dtype)
    if array.dtype.kind in "iub" or dtype.kind in "iu":
        wide = array.astype(np.float64 if array.dtype.kind not in "iub" else array.dtype)
        if wide.dtype.kind == "f" and dtype.kind in "iu":
            wide = wide.astype(np.int64)
        return wide.astype(dtype)
    return array.astype(np.float64).astype(dtype)


@pytest.mark.parametrize("source", sorted(NUMPY | FLOAT8))
def test_cast_from_each_dtype_to_each(source: str) -> None:
    kinds = NUMPY | FLOAT8
    rng = np.random.default_rng(5)
    array = values(rng, (3, 301), kinds[source], -90.0, 90.0)
    casts = source in accepted_dtypes("aclnnCast", 0)
    for target in sorted(kinds):
        out = hollow(array.shape, kinds[target])
        if casts and target in accepted_dtypes("aclnnCast", 2):
            op("aclnnCast")(place(array), kinds[target], out)
        else:
            assert refusal("aclnnCast", place(array), kinds[target], out) == 161002
            op("aclnnInplaceCopy")(out, place(array))
        expected = converted(array, kinds[target])
        assert_same(out.numpy(), expected, f"{source} to {target}")


def test_cast_rounds_once_to_nearest_even() -> None:
    halves = np.array([1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-40, 65519.9, 65520.0, 2.0**-25])
    out = hollow(halves.shape, np.float16)
    op("aclnnCast")(place(halves), np.float16, out)
    assert_same(out.numpy(), np.array([1, 1 + 2**-9, 1 + 2**-10, 65504, np.inf, 0], np.float16))
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    up, down = hollow(every.shape, np.float32), hollow(every.shape, np.float16)
    op("aclnnCast")(place(every), np.float32, up)
    op("aclnnCast")(up, np.float16, down)
    with np.errstate(invalid="ignore"):  # signalling NaNs are among them
        assert_same(up.numpy(), every.astype(np.float32))
        assert_same(down.numpy(), every)


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2], ids=str)
def test_every_float8_survives_the_way_through_float(dtype: Any) -> None:
    every = np.arange(256, dtype=np.uint8).view(dtype)
    up = hollow(every.shape, np.float32)
    op("aclnnInplaceCopy")(up, place(every))
    with np.errstate(invalid="ignore"):
        assert_same(up.numpy(), every.astype(np.float32))
    floats = np.linspace(-600, 600, 4097, dtype=np.float32)
    floats = np.concatenate([floats, floats / 2**14])
    out = hollow(floats.shape, dtype)
    op("aclnnInplaceCopy")(out, place(floats))
    assert_same(out.numpy(), floats.astype(dtype))


def test_cast_to_integers_truncates_and_saturates() -> None:
    floats = np.array([-2.9, 2.9, 3e9, -3e9, np.nan, np.inf, -np.inf], np.float32)
    out = hollow(floats.shape, np.int32)
    op("aclnnCast")(place(floats), np.int32, out)
    top, bottom = 2**31 - 1, -(2**31)
    assert_same(out.numpy(), np.array([-2, 2, top, bottom, 0, top, bottom], np.int32))


def test_cast_refusals() -> None:
    x = hollow((2, 3), np.float32)
    assert refusal("aclnnCast", None, np.float16, hollow((2, 3), np.float16)) == 161001
    assert refusal("aclnnCast", x, np.float16, None) == 161001
    assert refusal("aclnnCast", x, np.float16, hollow((2, 3), np.float32)) == 161002
    assert refusal("aclnnCast", x, np.float16, hollow((3, 2), np.float16)) == 161002


@pytest.mark.parametrize(("source", "target"), list(itertools.product(LAYOUTS, LAYOUTS)))
def test_copy_between_layouts(source: str, target: str) -> None:
    rng = np.random.default_rng(6)
    for name, shape in itertools.product(
        ("FLOAT", "FLOAT16", "INT8", "COMPLEX128"), [(4, 5, 301), (7,), (), (0, 3)]
    ):
        array = values(rng, shape, NUMPY[name], -90.0, 90.0)
        out = hollow(shape, NUMPY[name], target)
        op("aclnnInplaceCopy")(out, place(array, source))
        assert_same(out.numpy(), array, f"{name} {shape}")


@pytest.mark.parametrize("name", ["INT8", "FLOAT16", "INT32", "DOUBLE", "COMPLEX128"])
def test_copy_of_every_permutation(name: str) -> None:
    array = values(np.random.default_rng(6), (33, 40, 37), NUMPY[name], -90.0, 90.0)
    source = place(array)
    for axes in itertools.permutations(range(3)):
        out = hollow(array.transpose(axes).shape, NUMPY[name])
        op("aclnnInplaceCopy")(out, source.permute(*axes))
        assert_same(out.numpy(), np.ascontiguousarray(array.transpose(axes)), f"{name} {axes}")


def test_copy_broadcasts_and_converts() -> None:
    array = np.arange(300, dtype=np.float32) / 4
    out = hollow((2, 3, 300), np.int16)
    op("aclnnInplaceCopy")(out, place(array))
    assert_same(out.numpy(), np.broadcast_to(array, (2, 3, 300)).astype(np.int16))
    assert (
        refusal("aclnnInplaceCopy", hollow((300,), np.float32), hollow((2, 300), np.float32))
        == 161002
    )
    assert refusal("aclnnInplaceCopy", hollow((3,), np.float32), hollow((2,), np.float32)) == 161002
    assert refusal("aclnnInplaceCopy", None, out) == 161001
    assert refusal("aclnnInplaceCopy", out, None) == 161001


@pytest.mark.usefixtures("unchecked")
def test_overlapping_copies_read_before_they_write() -> None:
    array = np.arange(1000, dtype=np.int32)
    memory = place(array)
    op("aclnnInplaceCopy")(memory[1:], memory[:-1])
    assert_same(memory.numpy(), np.concatenate([array[:1], array[:-1]]))
    square = np.arange(400, dtype=np.float32).reshape(20, 20)
    matrix = place(square)
    op("aclnnInplaceCopy")(matrix, matrix.T)
    assert_same(matrix.numpy(), square.T.copy())


@pytest.mark.usefixtures("unchecked")
def test_shifted_and_broadcast_operands_of_an_addition_in_place() -> None:
    array = np.arange(5000, dtype=np.float32)
    memory = place(array)
    op("aclnnInplaceAdd")(memory[1:], memory[:-1], 1)
    assert_same(memory.numpy(), np.concatenate([array[:1], array[1:] + array[:-1]]))
    memory = place(array.reshape(50, 100))
    op("aclnnInplaceAdd")(memory, memory[:1], 1)
    assert_same(memory.numpy(), array.reshape(50, 100) + array[:100])


FILLABLE = [
    "FLOAT",
    "FLOAT16",
    "BFLOAT16",
    "DOUBLE",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "BOOL",
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fills(layout: str) -> None:
    for name, shape in itertools.product(FILLABLE, [(3, 301), (), (0,)]):
        dtype = NUMPY[name]
        zero, one, filled, from_tensor = (hollow(shape, dtype, layout) for _ in range(4))
        op("aclnnInplaceZero")(zero)
        op("aclnnInplaceOne")(one)
        op("aclnnInplaceFillScalar")(filled, 3)
        assert_same(zero.numpy(), np.zeros(shape, dtype), name)
        assert_same(one.numpy(), np.ones(shape, dtype), name)
        assert_same(filled.numpy(), np.full(shape, 3).astype(dtype), name)
        if name not in ("DOUBLE",):
            op("aclnnInplaceFillTensor")(from_tensor, place(np.array(5, np.int64)))
            assert_same(from_tensor.numpy(), np.full(shape, 5).astype(dtype), name)


def test_a_fill_touches_nothing_beside_its_view() -> None:
    base = place(np.arange(40, dtype=np.float32))
    op("aclnnInplaceFillScalar")(base[3:31:4], 1.5)
    expected = np.arange(40, dtype=np.float32)
    expected[3:31:4] = 1.5
    assert_same(base.numpy(), expected)


def test_fill_refusals() -> None:
    x = hollow((4,), np.float32)
    assert refusal("aclnnInplaceZero", None) == 161001
    assert refusal("aclnnInplaceOne", hollow((4,), np.complex64)) == 161002
    assert refusal("aclnnInplaceFillScalar", x, None) == 161001
    assert refusal("aclnnInplaceFillTensor", x, hollow((2,), np.float32)) == 161002


@pytest.mark.parametrize("name", ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT32", "INT64"])
def test_arange_and_range(name: str) -> None:
    dtype = NUMPY[name]
    for start, end, step in [(0, 1000, 1), (5, -7, -3), (2, 2, 1), (0, 10, 4)]:
        expected = np.arange(start, end, step)
        out = hollow(expected.shape, dtype)
        op("aclnnArange")(start, end, step, out)
        assert_same(out.numpy(), expected.astype(dtype))
        closed = np.arange(start, end + (1 if step > 0 else -1), step)
        out = hollow(closed.shape, dtype)
        op("aclnnRange")(start, end, step, out)
        assert_same(out.numpy(), closed.astype(dtype))
    if np.dtype(dtype).kind == "f":
        expected = 0.5 + 0.25 * np.arange(301)
        out = hollow(expected.shape, dtype)
        op("aclnnArange")(0.5, 0.5 + 0.25 * 301, 0.25, out)
        assert_close(out.numpy(), expected)


def test_numbers_with_fractions_and_results_of_integers() -> None:
    """Into int64 they are cast first; into int32 the elements are, and the signs are compared."""
    for start, end, step in [(0.5, 5, 1.5), (7.9, -1.9, -2.5), (3.9, 3.1, 1.0)]:
        expected = np.arange(int(start), int(end), int(step))
        out = hollow(expected.shape, np.int64)
        op("aclnnArange")(start, end, step, out)
        assert_same(out.numpy(), expected)
    closed = hollow((6,), np.int64)
    op("aclnnRange")(0.5, 5.5, 1.5, closed)
    assert_same(closed.numpy(), np.arange(6))
    out = hollow((3,), np.int32)
    op("aclnnArange")(0.5, 5, 1.5, out)
    assert_same(out.numpy(), np.array([0, 2, 3], np.int32))
    for kind in (np.int32, np.int64):
        assert refusal("aclnnArange", 0.0, 5.0, 0.5, hollow((10,), kind)) == 161002
    assert refusal("aclnnArange", 0.5, 5, 1.5, hollow((3,), np.int64)) == 161002
    least, most = -(2**63), 2**63 - 1
    far = hollow((3,), np.int64)
    op("aclnnArange")(least, most, most, far)
    assert_same(far.numpy(), np.array([least, -1, most - 1]))
    assert refusal("aclnnArange", least, most, 1, far) == 161002


def test_sequence_refusals() -> None:
    out = hollow((10,), np.float32)
    assert refusal("aclnnArange", 0, 9, 1, out) == 161002
    assert refusal("aclnnArange", 0, 10, 0, out) == 161002
    assert refusal("aclnnArange", 0, 10, -1, out) == 161002
    assert refusal("aclnnArange", None, 10, 1, out) == 161001
    assert refusal("aclnnArange", 0, 10, 1, None) == 161001
    assert refusal("aclnnLinspace", 0, 1, 9, out) == 161002
    assert refusal("aclnnLinspace", 0, 1, -1, out) == 161002
    op("aclnnLinspace")(0, 1, 0, hollow((0,), np.float32))
    assert refusal("aclnnEye", 3, 4, hollow((4, 3), np.float32)) == 161002


@pytest.mark.parametrize("steps", [1, 2, 5, 1001])
def test_linspace_and_logspace(steps: int) -> None:
    for name in ("FLOAT", "FLOAT16", "BFLOAT16"):
        out = hollow((steps,), NUMPY[name])
        op("aclnnLinspace")(-2.5, 4.0, steps, out)
        assert_close(out.numpy(), np.linspace(-2.5, 4.0, steps))
        op("aclnnLogSpace")(0.0, 3.0, steps, 2.0, out)
        assert_close(out.numpy(), np.logspace(0.0, 3.0, steps, base=2.0))
    whole = hollow((steps,), np.int32)
    op("aclnnLinspace")(0, 4 * (steps - 1), steps, whole)
    assert_same(whole.numpy(), 4 * np.arange(steps, dtype=np.int32))


def floats_between(start: float, end: float, steps: int) -> np.ndarray[Any, Any]:
    """The line of the kernel in float32: each half from its end."""
    first, last, i = np.float32(start), np.float32(end), np.arange(steps)
    step = (last - first) / np.float32(steps - 1)
    ahead = first + step * i.astype(np.float32)
    back = last - step * (steps - 1 - i).astype(np.float32)
    return np.where(i < steps // 2, ahead, back)


@pytest.mark.parametrize("steps", [2, 5, 31, 100])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_linspace_casts_its_ends_first(dtype: type, steps: int) -> None:
    start, end = (0.9, 100.7) if dtype is np.uint8 else (-40.9, 100.7)
    out = hollow((steps,), dtype)
    op("aclnnLinspace")(start, end, steps, out)
    if dtype is np.int64:  # computed in float32 as it is
        line = floats_between(start, end, steps)
    else:
        line = floats_between(int(start), int(end), steps)
    narrow = np.dtype(dtype).itemsize < 4
    assert_same(out.numpy(), np.trunc(line.astype(np.float16) if narrow else line).astype(dtype))


def test_linspace_of_many_bits() -> None:
    narrow, wide = hollow((3,), np.int16), hollow((3,), np.int32)
    op("aclnnLinspace")(2049, 4099, 3, narrow)
    assert narrow.numpy().tolist() == [2048, 3074, 4100]  # float16
    op("aclnnLinspace")(16777217, 16777221, 3, wide)
    assert wide.numpy().tolist() == [16777216, 16777218, 16777220]  # float32
    one = hollow((1,), np.int64)
    op("aclnnLinspace")(16777217, 0, 1, one)
    assert one.numpy().tolist() == [16777217]


@pytest.mark.parametrize("name", ["FLOAT16", "BFLOAT16"])
def test_powers_have_exponents_of_their_dtype(name: str) -> None:
    steps, dtype = 7, NUMPY[name]
    out = hollow((steps,), dtype)
    ends = [float(np.array(end, dtype)) for end in (0.1, 3.7)]
    op("aclnnLinspace")(0.1, 3.7, steps, out)
    exponents = np.linspace(*ends, steps).astype(dtype)
    assert_same(out.numpy(), exponents)
    op("aclnnLogSpace")(0.1, 3.7, steps, 9.3, out)
    base = float(np.array(9.3, dtype))
    assert_same(out.numpy(), np.power(base, exponents.astype(np.float64)).astype(dtype))


@pytest.mark.parametrize("name", ["FLOAT", "FLOAT16", "BFLOAT16", "INT32", "INT8", "BOOL"])
def test_eye(name: str) -> None:
    for rows, columns in [(3, 5), (40, 40), (1, 1), (0, 3)]:
        out = hollow((rows, columns), NUMPY[name])
        op("aclnnEye")(rows, columns, out)
        assert_same(out.numpy(), np.eye(rows, columns).astype(NUMPY[name]))


def test_where_takes_a_condition_of_its_own_shape_and_uint8() -> None:
    condition = np.array([[1], [0], [200]], np.uint8)
    left, right = np.arange(4, dtype=np.int8), np.float16(2.5) * np.ones((3, 4), np.float16)
    out = hollow((3, 4), np.float16)
    op("aclnnSWhere")(place(condition), place(left), place(right), out)
    assert_same(out.numpy(), np.where(condition != 0, left.astype(np.float16), right))
    assert refusal("aclnnSWhere", hollow((3, 4), np.float32), out, out, out) == 161002


def test_masked_fill_with_a_tensor() -> None:
    rng = np.random.default_rng(8)
    array = values(rng, (6, 50), np.dtype(np.float32), -4.0, 4.0)
    mask = rng.integers(0, 2, (6, 1)).astype(np.bool_)
    x = place(array)
    op("aclnnInplaceMaskedFillTensor")(x, place(mask), place(np.array(9, np.float32)))
    assert_same(x.numpy(), np.where(mask, np.float32(9), array))
    wide = hollow((2, 6, 50), np.bool_)
    assert refusal("aclnnInplaceMaskedFillScalar", x, wide, 1.0) == 161002


def test_where_passes_every_bit_pattern_of_wide_integers() -> None:
    big = np.array([2**63 - 1, -(2**63), 2**53 + 1], np.int64)
    out = hollow((3,), np.int64)
    op("aclnnSWhere")(
        place(np.array([True, False, True])), place(big), place(big[::-1].copy()), out
    )
    assert_same(out.numpy(), np.array([2**63 - 1, -(2**63), 2**53 + 1], np.int64))
    assert ap.ops.add is op("aclnnAdd")
