# SPDX-License-Identifier: Apache-2.0
"""Chunks side by side, diagonals, parts that are assigned, reshaped transposes and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, Ref, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Ints = Sequence[int]
ON_950 = pytest.mark.emulator_only(reason="chooses the chip of the emulator")


def chunked(parts: Sequence[Array], chunks: int) -> Array:
    """Each part filled up with zeros to whole chunks, its chunks as rows."""
    rows = []
    for part in parts:
        missing = -len(part) % chunks
        if len(part) == 0:
            rows.append(np.zeros((chunks, 0)))
            continue
        whole = np.concatenate([part, np.zeros((missing, *part.shape[1:]))])
        # The chunks are as long as they must be; those behind the last element are zeros.
        rows.append(whole.reshape(chunks, -1))
    return np.concatenate(rows, 1)


def chunk_cat(note: str, shapes: Sequence[Ints], chunks: int, result: Any = None) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        parts = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
        oracle = chunked([wide(part) for part in parts], chunks)
        kind = dtype if result is None else result
        return [[In(part) for part in parts], 0, chunks, Out(oracle, kind, 1)]

    return Case("ChunkCat", build, note, refuses=False)


def diagonal(note: str, shape: Ints, value: Any, wrap: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        before = rng.integers(0, 2, tuple(shape)).astype(dtype)
        after = before.copy()
        if len(shape) == 2:
            low, step = min(shape), min(shape) + 1
            for first in range(0, shape[0] if wrap else 1, step):
                for i in range(min(low, shape[0] - first)):
                    after[first + i, i] = np.asarray(value).astype(dtype)
        else:
            for i in range(shape[0]):
                after[(i,) * len(shape)] = np.asarray(value).astype(dtype)
        return [Ref(before, wide(after), 0), value, wrap]

    return Case("InplaceFillDiagonal", build, note)


def assign(
    note: str, shape: Ints, begin: Ints, end: Ints, strides: Ints, axes: Ints | None
) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        before = rng.integers(0, 99, tuple(shape)).astype(dtype)
        at = [slice(None)] * len(shape)
        named = range(len(begin)) if axes is None else axes
        for axis, low, high, step in zip(named, begin, end, strides, strict=True):
            at[axis] = slice(low, high, step)
        part = rng.integers(0, 99, before[tuple(at)].shape).astype(dtype)
        after = before.copy()
        after[tuple(at)] = part
        arrays = [list(begin), list(end), list(strides), None if axes is None else list(axes)]
        return [Ref(before, wide(after), 0), In(part), *arrays]

    return Case("StridedSliceAssignV2", build, note)


CASES = [
    chunk_cat("the-documents", [(2, 3), (1, 3)], 2),
    chunk_cat("filled-up", [(5, 2), (3,), (2, 2, 2)], 3),
    chunk_cat("wider", [(4, 3), (2, 1)], 2, np.float32),
    chunk_cat("nothing", [(0, 3), (2, 3)], 2),
    diagonal("square", (3, 3), 1, False),
    diagonal("wide", (3, 7), 1, True),
    diagonal("tall", (8, 3), 1, False),
    diagonal("tall-wrapped", (11, 3), 1, True),
    diagonal("cube", (3, 3, 3), 1, True),
    diagonal("of-a-float", (3, 4), 1.0, False),
    assign("the-documents", (4, 3), (1, 0), (4, 2), (2, 1), (0, 1)),
    assign("from-the-end", (5, 2, 3), (-3,), (-1,), (1,), None),
    assign("beyond", (5, 4), (-9, 1), (9, 99), (3, 1), (0, 1)),
    assign("one-axis", (3, 6, 2), (1,), (6,), (2,), (-2,)),
    assign("nothing", (3, 4), (2,), (1,), (1,), (0,)),
]
TestParts = suite(CASES)


def test_chunks_may_replace_a_tensor_they_come_from() -> None:
    whole = place(np.arange(12, dtype=np.float32).reshape(4, 3))
    out = whole.reshape(2, 6)
    before = whole.numpy()
    op("aclnnChunkCat")([whole[:2], whole[2:]], 0, 2, out)
    assert_same(out.numpy(), chunked([before[:2], before[2:]], 2).astype(np.float32))


@pytest.mark.parametrize(
    ("kind", "value"), [(np.int8, 128), (np.uint8, -1), (np.float16, 1e6), (np.int32, 2**31)]
)
def test_a_number_that_the_tensor_cannot_hold_is_refused(kind: Any, value: float) -> None:
    assert refusal("aclnnInplaceFillDiagonal", ap.zeros((2, 2), kind), value, False) == 161002


@pytest.mark.emulator_only(reason="compares the emulator's own words")
def test_wrong_calls_name_the_parameter() -> None:
    plane = ap.zeros((4, 3), np.float32)
    text = message("aclnnChunkCat", 161002, [[plane], 1, 2, plane])
    assert "dim is 1; allowed: 0" in text
    assert "numChunks is 0" in message("aclnnChunkCat", 161002, [[plane], 0, 0, plane])
    half = ap.zeros((2, 6), np.float16)
    assert "out has dtype FLOAT16" in message("aclnnChunkCat", 161002, [[plane], 0, 2, half])
    text = message("aclnnInplaceFillDiagonal", 161002, [ap.zeros((2, 3, 2), np.float32), 1, False])
    assert "they must be equal" in text
    call = "aclnnStridedSliceAssignV2"
    part = ap.zeros((2, 3), np.float32)
    text = message(call, 161002, [plane, part, [0, 0], [2, 3], [1, 2], [0, 1]])
    assert "strides[1] is 2; the last dimension of varRef takes 1" in text
    text = message(call, 161002, [plane, part, [0], [3], [1], [0]])
    assert "inputValue has shape (2, 3); expected (3, 3)" in text
    assert "names dimension 0 twice" in message(
        call, 161002, [plane, part, [0, 0], [2, 2], [1, 1], [0, -2]]
    )


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def one(found: Any) -> Array:
    assert not isinstance(found, Refused), found
    return np.asarray(found[0])


@ON_950
@pytest.mark.parametrize("stepped", [False, True])
def test_a_reshaped_transpose_is_numpys(newer: Chip950, stepped: bool) -> None:
    x = np.arange(24, dtype=np.int16).reshape(2, 12)
    given = Given(x, "int16", stepped)

    def run(perm: Ints, shape: Ints, first: bool, made: Ints) -> Array:
        out = Made(tuple(made), "int16", stepped)
        return one(newer.operator("confusion_transpose", given, perm, shape, first, out))

    found = run([2, 0, 1], [2, 3, 4], False, (4, 2, 3))
    assert_same(found, x.reshape(2, 3, 4).transpose(2, 0, 1))
    assert_same(run([1, 0], [3, 8], True, (3, 8)), x.T.reshape(3, 8))


@ON_950
def test_reshaped_transposes_refuse(newer: Chip950) -> None:
    x = Given(np.zeros((2, 4), np.float32), "float32")
    for perm, shape, made, words in (
        ([0, 0], [2, 4], (2, 4), "perm must name each"),
        ([1, 0], [2, 3], (3, 2), "its product must be the 8 elements"),
        ([1, 0], [2, 4], (2, 4), "expected (4, 2)"),
        ([0], [2, 4], (2, 4), "perm has 1 values"),
    ):
        found = newer.operator("confusion_transpose", x, perm, shape, False, Made(made, "float32"))
        assert isinstance(found, Refused) and found.status == 561103 and words in found.text
    assert refusal("aclnnConfusionTranspose", *older([1, 0], [2, 4])) == 161002
    assert refusal("aclnnRepeatInterleaveGrad", *older_runs()) == 161002


def older(perm: Ints, shape: Ints) -> list[Any]:
    x = ap.zeros((2, 4), np.float32)
    return [x, list(perm), list(shape), True, ap.zeros((2, 4), np.float32)]


def older_runs() -> list[Any]:
    return [ap.zeros((4,), np.float32), place(np.array([2])), 0, ap.zeros((2,), np.float32)]


@ON_950
@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("shape", "repeats", "axis"),
    [((2, 6), [1, 2, 2, 1], 1), ((2, 6), [2], -1), ((4, 3, 2), [0, 3, 1], 0), ((6,), 3, 0)],
)
def test_runs_are_added_up(newer: Chip950, kind: str, shape: Ints, repeats: Any, axis: int) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.dtype(kind))
    counts = np.asarray(repeats, np.int64)
    runs = counts
    if counts.size == 1:
        runs = np.full(shape[axis] // int(counts.reshape(-1)[0]), counts)
    ends = np.cumsum(runs)
    rows = [
        np.take(wide(x), range(end - run, end), axis).sum(axis)
        for run, end in zip(runs, ends, strict=True)
    ]
    wanted = np.stack(rows, axis)
    given = [Given(x, kind), Given(counts, "int64")]
    found = newer.operator("repeat_interleave_grad", *given, axis, Made(wanted.shape, kind))
    assert_close(one(found), wanted, dtype=x.dtype, scale=2)


@ON_950
@pytest.mark.parametrize("repeats", [[1, 2], [3, 3], [-1, 5], [9, -5]])
def test_runs_that_do_not_fill_the_axis_are_a_fault(newer: Chip950, repeats: Ints) -> None:
    given = [Given(np.ones(4, np.float32), "float32"), Given(np.array(repeats), "int64")]
    found = newer.operator("repeat_interleave_grad", *given, 0, Made((2,), "float32"))
    assert isinstance(found, Refused) and "repeats" in found.text
