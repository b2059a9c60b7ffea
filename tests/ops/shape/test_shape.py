# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, against NumPy; results are exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import NUMPY, hollow, place, refusal, values

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, Ref, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]


def some(rng: Rng, shape: tuple[int, ...], dtype: Dtype) -> Array:
    return values(rng, shape, dtype, -100, 100)


def moved(
    operator: str,
    shape: tuple[int, ...],
    attributes: list[Any],
    oracle: Callable[[Array], Array],
    note: str = "",
) -> Case:
    """An operator of one input, attributes and one output."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        return [In(x), *attributes, Out(np.asarray(oracle(x)), dtype)]

    return Case(
        operator, build, note or f"{'x'.join(map(str, shape))}{attributes}".replace(" ", "")
    )


def joined(operator: str, shapes: list[tuple[int, ...]], dim: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        parts = [some(rng, shape, dtype) for shape in shapes]
        full = [part for part in parts if part.shape != (0,)] or parts
        result = np.concatenate(full, dim) if operator == "Cat" else np.stack(parts, dim)
        return [[In(part) for part in parts], dim, Out(result, dtype)]

    return Case(operator, build, f"{shapes}@{dim}".replace(" ", ""))


def split(shape: tuple[int, ...], how: int | list[int], dim: int) -> Case:
    operator = "SplitTensor" if isinstance(how, int) else "SplitWithSize"

    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        if isinstance(how, int):
            edges = list(range(how, shape[dim], how))
        else:
            edges = np.cumsum(how)[:-1].tolist()
        return [In(x), how, dim, [Out(part, dtype) for part in np.split(x, edges, dim)]]

    return Case(operator, build, f"{shape}{how}@{dim}".replace(" ", ""))


def triangle(operator: str, shape: tuple[int, ...], diagonal: int) -> Case:
    function = np.tril if operator.endswith("Tril") else np.triu

    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        if operator.startswith("Inplace"):
            return [Ref(x, function(x, diagonal)), diagonal]
        return [In(x), diagonal, Out(function(x, diagonal), dtype)]

    # The documents name no dtype for Tril.
    return Case(operator, build, f"{shape}{diagonal}".replace(" ", ""), refuses=operator != "Tril")


def roll(shape: tuple[int, ...], shifts: list[int], dims: list[int]) -> Case:
    return moved(
        "Roll",
        shape,
        [shifts, dims],
        lambda x: np.roll(x, shifts[0] if not dims else shifts, dims or None),
    )


def padded(shape: tuple[int, ...], pad: list[int], fill: float) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        value = bool(fill) if dtype == np.bool_ else fill
        pairs = [(0, 0)] * (x.ndim - len(pad) // 2)
        pairs += [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
        cut = tuple(slice(max(0, -a), x.shape[d] - max(0, -b)) for d, (a, b) in enumerate(pairs))
        grown = [(max(0, a), max(0, b)) for a, b in pairs]
        filler = np.array(value).astype(dtype)
        result = np.full([n + sum(g) for n, g in zip(x[cut].shape, grown, strict=True)], filler)
        inner = tuple(slice(g[0], g[0] + n) for n, g in zip(x[cut].shape, grown, strict=True))
        result[inner] = x[cut]
        return [In(x), pad, value, Out(result.astype(dtype), dtype)]

    return Case("ConstantPadNd", build, f"{shape}{pad}{fill}".replace(" ", ""))


def interleaved(shape: tuple[int, ...], repeats: int, dim: int | None) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        result = np.repeat(x, repeats, dim)
        if dim is None:
            return [In(x), repeats, result.size, Out(result, dtype)]
        return [In(x), repeats, dim, result.shape[dim], Out(result, dtype)]

    return Case(
        "RepeatInterleaveInt" if dim is None else "RepeatInterleaveIntWithDim",
        build,
        f"{shape}{repeats}{dim}".replace(" ", ""),
    )


def strided(
    shape: tuple[int, ...],
    key: Any,
    begin: list[int],
    end: list[int],
    steps: list[int],
    *masks: int,
) -> Case:
    return moved(
        "StridedSlice",
        shape,
        [begin, end, steps, *masks],
        lambda x: x[key],
        f"{shape}{key}".replace(" ", ""),
    )


def shuffled(x: Array) -> Array:
    return x.reshape(2, 3, 2, 4, 5).swapaxes(1, 2).reshape(x.shape)


S = slice
CASES = [
    moved("Permute", (2, 3, 4), [[2, 0, 1]], lambda x: x.transpose(2, 0, 1)),
    moved("Permute", (5, 7), [[1, 0]], lambda x: x.T),
    moved(
        "Permute",
        (2, 3, 2, 1, 2, 2, 1, 3),
        [[7, 0, 6, 1, 5, 2, 4, -5]],
        lambda x: x.transpose(7, 0, 6, 1, 5, 2, 4, 3),
    ),
    moved("Permute", (0, 3), [[1, 0]], lambda x: x.T),
    moved("Permute", (65, 300), [[1, 0]], lambda x: x.T),
    moved("Flip", (3, 4), [[0, 1]], lambda x: x[::-1, ::-1]),
    moved("Flip", (3, 4, 5), [[-1]], lambda x: x[..., ::-1]),
    moved("Flip", (3, 4), [[]], lambda x: x, "nothing"),
    roll((3, 4), [1], []),
    roll((3, 4), [1, -2], [0, 1]),
    roll((7,), [-9], [0]),
    roll((2, 3, 4), [1, 1, 1], [0, 1, 1]),
    roll((0, 3), [2], [1]),
    moved("Flatten", (2, 3, 4), [1], lambda x: x.reshape(2, 12)),
    moved("Flatten", (2, 3, 4), [0], lambda x: x.reshape(1, 24)),
    moved("Flatten", (2, 3, 4), [-1], lambda x: x.reshape(6, 4)),
    moved("ChannelShuffle", (2, 6, 4, 5), [3], shuffled),
    joined("Cat", [(2, 3), (4, 3)], 0),
    joined("Cat", [(2, 3), (2, 1), (2, 0)], -1),
    joined("Cat", [(0,), (2, 3), (0,)], 0),
    joined("Cat", [(5,)], 0),
    joined("Stack", [(2, 3), (2, 3)], 1),
    joined("Stack", [(2, 3)] * 3, -1),
    joined("Stack", [(2, 3)] * 2, 0),
    joined("Stack", [(0, 3)] * 2, 0),
    split((7, 3), 2, 0),
    split((4, 6), 3, -1),
    split((4, 6), 9, 1),
    split((7, 3), [2, 4, 1], 0),
    split((4, 6), [0, 6], 1),
    moved("Slice", (7, 5), [0, 1, 6, 2], lambda x: x[1:6:2]),
    moved("Slice", (7, 5), [-1, -4, -1, 1], lambda x: x[:, -4:-1]),
    moved("Slice", (7, 5), [0, 5, 100, 1], lambda x: x[5:]),
    moved("Slice", (7, 5), [0, 5, 2, 1], lambda x: x[5:2], "empty"),
    moved("SliceV2", (7, 5, 4), [[1, 0], [6, 3], [0, -1], [2, 1]], lambda x: x[1:6:2, :, 0:3]),
    strided((7, 5), (S(1, 6, 2), S(None, 3)), [1, 0], [6, 3], [2, 1], 2, 0, 0, 0, 0),
    strided((7, 5), (S(None, None, -1),), [0], [0], [-1], 1, 1, 0, 0, 0),
    strided((7, 5, 4), (Ellipsis, 2), [0, 2], [0, 3], [1, 1], 0, 0, 1, 0, 2),
    strided((7, 5), (None, 3, S(4, 1, -2)), [0, 3, 4], [0, 4, 1], [1, 1, -2], 0, 0, 0, 1, 2),
    strided((7, 5), (S(-3, None),), [-3], [0], [1], 0, 1, 0, 0, 0),
    padded((3, 4), [1, 2], 5),
    padded((3, 4), [1, 0, 0, 2], 0),
    padded((2, 3, 4), [-1, 2, 1, -1], 3),
    padded((0, 2), [1, 1, 1, 1], 7),
    padded((4,), [-2, -2], 1),
    # larger than what is filled and copied at a time
    padded((3, 5, 60, 70), [2, 1, -3, 4, 1, 1, 0, 2], 5),
    padded((70_000,), [3, 40_000], 2),
    padded((2, 40_000), [1, 1, 4, 0], 3),
    padded((3, 130, 300), [-40, 0, 130, -70], 4),
    moved("Repeat", (2, 3), [[2, 3]], lambda x: np.tile(x, (2, 3))),
    moved("Repeat", (2, 3), [[2, 1, 3]], lambda x: np.tile(x, (2, 1, 3))),
    moved("Repeat", (2, 3), [[0, 1]], lambda x: np.tile(x, (0, 1))),
    moved("Repeat", (), [[4]], lambda x: np.tile(x, 4)),
    moved("Expand", (3, 1), [[2, 3, 4]], lambda x: np.broadcast_to(x, (2, 3, 4))),
    moved("Expand", (3, 1), [[-1, 5]], lambda x: np.broadcast_to(x, (3, 5))),
    interleaved((2, 3), 3, None),
    interleaved((2, 3), 2, 0),
    interleaved((2, 3), 2, -1),
    interleaved((2, 3), 0, 1),
    interleaved((2, 3, 4), 3, 1),
    *(
        triangle(name, shape, diagonal)
        for name in ("Tril", "Triu", "InplaceTril", "InplaceTriu")
        for shape, diagonal in (((4, 6), 0), ((2, 5, 3), 1), ((3, 3), -2), ((3, 4), 9), ((0, 3), 0))
    ),
    moved("Diag", (4,), [0], lambda x: np.diag(x)),
    moved("Diag", (4,), [-2], lambda x: np.diag(x, -2)),
    moved("Diag", (4, 6), [1], lambda x: np.diag(x, 1)),
    moved("Diag", (4, 6), [-1], lambda x: np.diag(x, -1)),
    moved("DiagFlat", (2, 3), [1], lambda x: np.diagflat(x, 1)),
]

TestTable = suite(CASES)


def test_every_layout_pair_of_a_transposition() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for source in ("dense", "transposed", "stepped"):
        for target in ("dense", "transposed", "stepped"):
            out = hollow((4, 2, 3), np.float32, target)
            ap.ops.permute(place(x, source), [2, 0, 1], out)
            assert_same(out.numpy(), x.transpose(2, 0, 1), f"{source} to {target}")


def test_repeated_elements_of_a_broadcast_view() -> None:
    x = place(np.array([[1.0], [2.0]], np.float32)).broadcast_to((2, 3))
    out = hollow((3, 2), np.float32)
    ap.ops.permute(x, [1, 0], out)
    assert out.numpy().tolist() == [[1, 2]] * 3


@pytest.mark.parametrize("operator", ["permute", "flip", "roll"])
def test_source_and_result_share_memory(operator: str) -> None:
    x = np.arange(16, dtype=np.int32).reshape(4, 4)
    tensor = place(x)
    if operator == "permute":
        ap.ops.permute(tensor, [1, 0], tensor)
        expected = x.T
    elif operator == "flip":
        ap.ops.flip(tensor, [0], tensor)
        expected = x[::-1]
    else:
        ap.ops.roll(tensor, [3], [], tensor)
        expected = np.roll(x, 3)
    np.testing.assert_array_equal(tensor.numpy(), expected)


@pytest.mark.usefixtures("unchecked")
def test_cat_into_memory_of_its_inputs() -> None:
    memory = place(np.arange(12, dtype=np.int64))
    first, second = memory[:4], memory[4:8]
    ap.ops.cat([second, first, second], 0, memory)
    assert memory.numpy().tolist() == [4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]


def test_cat_converts_to_the_dtype_of_the_result() -> None:
    out = hollow((4,), np.float32)
    ap.ops.cat([place(np.array([1, 2], np.int8)), place(np.array([0.5, 2.5], np.float16))], 0, out)
    assert out.numpy().tolist() == [1, 2, 0.5, 2.5]
    mixed = [place(np.array([1.5], np.float32)), place(np.array([1], np.int32))]
    assert refusal("aclnnCat", mixed, 0, hollow((2,), np.int32)) == 161002


def test_attributes_outside_their_range_are_refused() -> None:
    x, out = place(np.ones((3, 4), np.float32)), hollow((3, 4), np.float32)
    for operator, arguments in (
        ("Permute", (x, [0, 0], out)),
        ("Permute", (x, [0], out)),
        ("Permute", (x, [0, 2], out)),
        ("Flip", (x, [2], out)),
        ("Flip", (x, [0, 0], out)),
        ("Roll", (x, [1, 2], [0], out)),
        ("Cat", ([], 0, out)),
        ("Cat", ([x], 2, out)),
        ("Slice", (x, 0, 0, 3, 0, out)),
        ("Slice", (x, 2, 0, 3, 1, out)),
        ("Repeat", (x, [1], out)),
        ("Repeat", (x, [-1, 1], out)),
        ("Expand", (x, [4, 4], out)),
        ("ConstantPadNd", (x, [1], 0.0, out)),
        ("ConstantPadNd", (x, [0, 0, 0, 0, 0, 0], 0.0, out)),
        ("SplitTensor", (x, 0, 0, [out])),
        ("SplitWithSize", (x, [1, 1], 0, [out, out])),
        ("RepeatInterleaveInt", (x, 2, 25, hollow((25,), np.float32))),
        ("Tril", (place(np.ones(3, np.float32)), 0, hollow((3,), np.float32))),
    ):
        assert refusal("aclnn" + operator, *arguments) == 161002, (operator, arguments)


def test_a_result_of_another_dtype_is_refused() -> None:
    x = place(np.ones((3, 4), np.float32))
    for name, dtype in NUMPY.items():
        if name != "FLOAT":
            assert refusal("aclnnPermute", x, [0, 1], hollow((3, 4), dtype)) == 161002, name
