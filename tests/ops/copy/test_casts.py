# SPDX-License-Identifier: Apache-2.0
"""Casts between plain numbers: every pair, every length around a register's, layouts, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place

pytestmark = pytest.mark.usefixtures("device")

KINDS = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64")
LENGTHS = (0, 1, 7, 15, 16, 17, 31, 33, 63, 65, 127, 129, 255, 256, 257, 511, 513, 1025)


def cast(array: Any, target: str) -> Any:
    """Floats saturate at 32 bits, at 64 for int64; what is narrower keeps the low bits."""
    if target == "bool" or array.dtype.kind != "f" or target.startswith("float"):
        with np.errstate(over="ignore"):
            return array.astype(target)
    bits = 64 if target == "int64" else 32
    inside = (array >= -(2.0 ** (bits - 1))) & (array < 2.0 ** (bits - 1))
    wide = np.where(inside, array, 0).astype(np.int64)
    wide[array >= 2.0 ** (bits - 1)] = 2 ** (bits - 1) - 1
    wide[array < -(2.0 ** (bits - 1))] = -(2 ** (bits - 1))
    return wide.astype(target)


def numbers(rng: np.random.Generator, kind: str, count: int) -> Any:
    """Integers of all sizes; floats in range, of which some are far out or none."""
    dtype = np.dtype(kind)
    if dtype == np.bool_:
        return rng.random(count) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        array = rng.integers(info.min, info.max, count, dtype, endpoint=True)
        array[::3] = 0
        return array
    array = (rng.standard_normal(count) * 1e4).astype(dtype)
    array[::5] = 0
    return array


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_every_pair_and_length(source: str, target: str) -> None:
    rng = np.random.default_rng(3)
    for count in LENGTHS:
        array = numbers(rng, source, count)
        out = hollow(array.shape, np.dtype(target))
        op("aclnnCast")(place(array), np.dtype(target), out)
        assert_same(out.numpy(), cast(array, target), f"{count}")


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_layouts(source: str, target: str) -> None:
    array = numbers(np.random.default_rng(4), source, 5 * 67 * 3).reshape(5, 67, 3)
    expected = cast(array.reshape(-1), target).reshape(array.shape)
    held, room = place(array), hollow(array.shape, np.dtype(target))
    views = [
        (slice(None), slice(2, 61)),
        (slice(None, None, 2), slice(None), slice(1, 3)),
        (slice(None), slice(None, None, 3)),
        (slice(1, 4), slice(None), slice(0, 1)),
        (slice(2, 2),),
    ]
    for view in views:
        out = hollow(expected[view].shape, np.dtype(target))
        op("aclnnInplaceCopy")(out, held[view])
        assert_same(out.numpy(), np.ascontiguousarray(expected[view]), f"{view}")
        op("aclnnInplaceZero")(room)
        op("aclnnInplaceCopy")(room[view], held[view])
        other = np.zeros_like(expected)
        other[view] = expected[view]
        assert_same(room.numpy(), other, f"into {view}")
    wide = hollow((2, *array.shape), np.dtype(target))
    op("aclnnInplaceCopy")(wide, held)
    assert_same(wide.numpy(), np.broadcast_to(expected, wide.shape))
    op("aclnnInplaceCopy")(room, held.permute(0, 1, 2)[:1, :1, :1])
    assert_same(room.numpy(), np.broadcast_to(expected[:1, :1, :1], room.shape))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", KINDS)
def test_floats_out_of_range(source: str, target: str) -> None:
    dtype = np.dtype(source).type
    special = [np.nan, -np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).tiny / 2, -0.9]
    for power in (7, 8, 15, 16, 31, 32, 63, 64, 100):
        bound = dtype(2.0**power)
        for value in (bound, -bound):
            special += [value, np.nextafter(value, dtype(0)), np.nextafter(value, value * 2)]
            special += [value - dtype(0.5), value + dtype(0.5)]
    array = np.array(special, dtype)
    for padding in (0, 1, 300):
        padded = np.concatenate([np.ones(padding, dtype), array, np.full(padding, dtype(-7.9))])
        out = hollow(padded.shape, np.dtype(target))
        op("aclnnCast")(place(padded), np.dtype(target), out)
        assert_same(out.numpy(), cast(padded, target), f"{padding}")
    # each alone among others, in every place of a register
    for value in array:
        padded = np.full(70, dtype(5.5))
        padded[::17] = value
        out = hollow(padded.shape, np.dtype(target))
        op("aclnnCast")(place(padded), np.dtype(target), out)
        assert_same(out.numpy(), cast(padded, target), f"{value}")


@pytest.mark.parametrize("target", KINDS)
def test_any_byte_but_zero_is_true(target: str) -> None:
    array = np.array([0, 1, 2, 128, 255, 0, 77] * 20, np.uint8)
    out = hollow(array.shape, np.dtype(target))
    if target == "bool":
        op("aclnnCast")(place(array), np.dtype(target), out)
    else:
        op("aclnnInplaceCopy")(out, place(array.view(np.bool_)))
    assert_same(out.numpy(), (array != 0).astype(target))
