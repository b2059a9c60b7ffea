# SPDX-License-Identifier: Apache-2.0
"""Lines of elements, whatever their steps, at lengths around those of registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

DTYPES = ("int8", "float16", "float32", "int64", "complex128")
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100)


def bits(count: int, dtype: str) -> Any:
    size = np.dtype(dtype).itemsize
    return np.random.default_rng(count).integers(0, 256, count * size, np.uint8)


def items(count: int, dtype: str) -> Any:
    """Elements of any bits but those of NaN, which would not equal themselves."""
    array = bits(count, dtype).view(dtype)
    return np.where(np.isfinite(array), array, 1).astype(dtype)


@pytest.mark.parametrize("to_step", [1, 2, 3])
@pytest.mark.parametrize("step", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_steps(dtype: str, step: int, to_step: int) -> None:
    for count in LENGTHS:
        source = items(2 * (count * step + 1), dtype).reshape(2, -1)
        target = items(2 * (count * to_step + 2), dtype).reshape(2, -1)
        read, write = slice(0, count * step, step), slice(1, count * to_step + 1, to_step)
        to = place(target)
        op("aclnnInplaceCopy")(to[:, write], place(source)[:, read])
        target[:, write] = source[:, read]
        assert_same(to.numpy(), target, f"{count}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_backwards(dtype: str) -> None:
    for count in LENGTHS:
        array = items(3 * count, dtype).reshape(3, count)
        out = hollow(array.shape, np.dtype(dtype))
        op("aclnnFlip")(place(array), [1], out)
        assert_same(out.numpy(), np.ascontiguousarray(array[:, ::-1]), f"{count}")
        same = place(array)
        op("aclnnFlip")(same, [0, 1], same)
        assert_same(same.numpy(), np.ascontiguousarray(array[::-1, ::-1]), f"{count} in place")
        stepped = place(np.repeat(array, 2, 1))[:, ::2]
        op("aclnnFlip")(stepped, [1], out)
        assert_same(out.numpy(), np.ascontiguousarray(array[:, ::-1]), f"{count} of every second")


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_element_some_times(dtype: str) -> None:
    for times in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40):
        for count in (0, 1, 2, 3, 5, 16, 17, 33):
            array, memory = items(count, dtype), items((count + 2) * times, dtype)
            memory = memory.reshape(count + 2, times)
            wide = place(memory)
            each = place(array.reshape(count, 1)).broadcast_to((count, times))
            op("aclnnInplaceCopy")(wide[1 : count + 1], each)
            memory[1 : count + 1] = array[:, None]
            assert_same(wide.numpy(), memory, f"{count} times {times}")
    array = items(6 * 17, dtype).reshape(6, 17)
    out = hollow((6, 9, 3), np.dtype(dtype))
    op("aclnnInplaceCopy")(out, place(array.reshape(6, 17, 1))[:, ::2].broadcast_to((6, 9, 3)))
    assert_same(out.numpy(), np.repeat(array[:, ::2, None], 3, 2))


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "float64"])
@pytest.mark.parametrize("value", [0, 3])
def test_fills(dtype: str, value: int) -> None:
    for count in LENGTHS:
        for step in (1, 2, 3):
            array = np.full((2, count * step + 2), value == 0, dtype)
            tensor = place(array)
            op("aclnnInplaceFillScalar")(tensor[:, 1 : count * step + 1 : step], value)
            array[:, 1 : count * step + 1 : step] = value
            assert_same(tensor.numpy(), array, f"{count} {step}")


@pytest.mark.parametrize("dtype", [*DTYPES, "float64", "complex64", "int16"])
def test_where_takes_elements_as_they_are(dtype: str) -> None:
    rng = np.random.default_rng(8)
    for count in (0, 1, 5, 16, 17, 1023, 1025, 3001):
        mask, x, y = rng.random(count) < 0.5, items(count, dtype), items(count + 1, dtype)[1:]
        out = hollow((count,), np.dtype(dtype))
        op("aclnnSWhere")(place(mask), place(x), place(y), out)
        assert_same(out.numpy(), np.where(mask, x, y), f"{count}")
        if dtype in ("int8", "float16", "float32", "int64"):
            same = place(x)
            op("aclnnInplaceMaskedFillScalar")(same, place(mask), 2)
            assert_same(same.numpy(), np.where(mask, np.array(2, dtype), x), f"{count} filled")


@pytest.mark.parametrize(
    "pad",
    [
        [1, 2], [0, 3], [3, 0], [0, 0], [-2, 1], [1, -3], [-40, 50], [5, -60], [2000, 3000],
        [1, 1, 2, 2], [0, 0, 1, 0], [-1, 2, -1, -1], [1, 0, 0, 1, 2, 3], [0, 1, -1, 0, 0, 0],
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64", "complex128", "bool"])
def test_margins_of_a_constant(dtype: str, pad: list[int]) -> None:
    rng = np.random.default_rng(len(pad))
    for shape in ((3, 5, 33), (2, 3, 1), (1, 1, 4100), (4, 0, 7)):
        x = (rng.standard_normal(shape) * 9).astype(dtype)
        spaced = ap.from_numpy(np.repeat(x, 2, axis=2))[:, :, ::2]
        turned = ap.from_numpy(np.ascontiguousarray(x.transpose(2, 1, 0))).permute(2, 1, 0)
        pairs = [(0, 0)] * (3 - len(pad) // 2)
        pairs += [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
        cuts = [(max(-before, 0), max(-after, 0)) for before, after in pairs]
        if any(sum(cut) > size for size, cut in zip(shape, cuts, strict=True)):
            continue  # NumPy has no form where more is cut off than there is
        kept = [slice(a, size - b) for size, (a, b) in zip(shape, cuts, strict=True)]
        added = [(max(before, 0), max(after, 0)) for before, after in pairs]
        wanted = np.pad(x[tuple(kept)], added, constant_values=1)
        for tensor in (ap.from_numpy(x), spaced, turned):
            out = ap.empty(wanted.shape, dtype)
            ap.ops.constant_pad_nd(tensor, pad, 1, out)
            np.testing.assert_array_equal(out.numpy(), wanted)
        gaps = ap.zeros((*wanted.shape[:2], 2 * wanted.shape[2]), dtype)
        ap.ops.constant_pad_nd(tensor, pad, 1, gaps[:, :, ::2])
        np.testing.assert_array_equal(gaps.numpy()[:, :, ::2], wanted)
        assert not gaps.numpy()[:, :, 1::2].any()
