# SPDX-License-Identifier: Apache-2.0
"""Products with weights in blocks, moved batches, equations, and what is fused with a product."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import fault, message

pytestmark = pytest.mark.usefixtures("device")

BF16 = ml_dtypes.bfloat16
HALVES = [np.float16, BF16]
FLOATS = [*HALVES, np.float32]


def normal(shape: tuple[int, ...], dtype: Any, seed: int = 3) -> Any:
    return np.random.default_rng(seed + len(shape)).standard_normal(shape).astype(dtype)


def blocked(matrix: Any) -> ap.Tensor:
    return ap.from_numpy(matrix, format=ap.Format.FRACTAL_NZ)


# --- weights in blocks


@pytest.mark.parametrize("layout", ["dense", "transposed", "stepped"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(("left", "right"), [(3, 3), (1, 3), (3, 1), (0, 1)])
def test_stacks_times_blocks(dtype: Any, layout: str, left: int, right: int) -> None:
    x, y = normal((left, 5, 37), dtype), normal((right, 37, 29), dtype, 4)
    result = hollow((left if right == 1 else right, 5, 29), dtype)
    op("aclnnBatchMatMulWeightNz")(place(x, layout), blocked(y), result, 0)
    assert_close(result.numpy(), wide(x) @ wide(y), scale=20)


def test_stacks_of_blocks_are_what_the_plain_product_is() -> None:
    x, y = normal((2, 5, 40), np.float16), normal((2, 40, 33), np.float16, 4)
    plain, nz = hollow((2, 5, 33), np.float16), place(np.zeros((2, 5, 33), np.float16))
    ap.ops.batch_mat_mul(place(x), place(y), plain, 0)
    ap.ops.batch_mat_mul_weight_nz(place(x), blocked(y), nz, 0)
    assert_same(nz.numpy(), plain.numpy())


@pytest.mark.parametrize("shape", [(29,), (1, 29), (5, 1), (1, 1), (5, 29)], ids=str)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("math_type", [0, 4])
def test_sum_with_a_product_of_blocks(dtype: Any, shape: tuple[int, ...], math_type: int) -> None:
    base, x, y = normal(shape, dtype), normal((5, 37), dtype), normal((37, 29), dtype, 4)
    out = hollow((5, 29), np.float32)
    op("aclnnAddmmWeightNz")(place(base), place(x), blocked(y), 0.5, -2.0, out, math_type)
    assert_close(out.numpy(), 0.5 * wide(base) - 2.0 * (wide(x) @ wide(y)), scale=40)


def test_weights_in_blocks_are_refused() -> None:
    name, half = "aclnnBatchMatMulWeightNz", np.float16
    x, w, out = normal((2, 5, 32), half), normal((2, 32, 16), half), hollow((2, 5, 16), half)
    assert "mat2 is not in FRACTAL_NZ" in message(name, 161002, [place(x), place(w), out, 0])
    thin = normal((2, 32, 1), half)
    text = message(name, 161002, [place(x), blocked(thin), hollow((2, 5, 1), half), 0])
    assert "mat2 has shape (2, 32, 1)" in text
    mixed = [place(x.astype(BF16)), blocked(w), out, 0]
    assert "mat2 has dtype" in message(name, 161002, mixed)
    assert "cubeMathType is 4" in message(name, 161002, [place(x), blocked(w), out, 4])
    assert refusal(name, None, blocked(w), out, 0) == 161001
    name = "aclnnAddmmWeightNz"
    base, x, w = hollow((16,), half), normal((5, 32), half), normal((32, 16), half)
    out = hollow((5, 16), half)
    assert "mat2" in message(name, 161002, [base, place(x), place(w), 1.0, 1.0, out, 0])
    wrong = hollow((5, 17), half)
    assert "out" in message(name, 161002, [base, place(x), blocked(w), 1.0, 1.0, wrong, 0])
    text = message(name, 161002, [hollow((15,), half), place(x), blocked(w), 1.0, 1.0, out, 0])
    assert "self (15,) does not broadcast" in text


# --- Gemm


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("trans_a", [0, 7])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("layout", ["dense", "stepped"])
def test_gemm(dtype: Any, trans_a: int, trans_b: int, layout: str) -> None:
    a = normal((7, 5) if trans_a else (5, 7), dtype)
    b = normal((3, 7) if trans_b else (7, 3), dtype, 4)
    c = normal((1, 3), dtype, 5)
    out = hollow((5, 3), dtype, layout)
    op("aclnnGemm")(
        place(a, layout), place(b, layout), place(c), 1.5, -0.5, trans_a, trans_b, out, 0
    )
    x, y = wide(a.T if trans_a else a), wide(b.T if trans_b else b)
    assert_close(out.numpy(), 1.5 * (x @ y) - 0.5 * wide(c), scale=10)


def test_gemm_without_an_inner_dimension_is_its_addend() -> None:
    c = normal((4, 3), np.float32)
    out = hollow((4, 3), np.float32)
    empty = np.zeros((4, 0), np.float32), np.zeros((3, 0), np.float32)
    op("aclnnGemm")(place(empty[0]), place(empty[1]), place(c), 2.0, 0.5, 0, 1, out, 0)
    assert_same(out.numpy(), np.float32(0.5) * c)


def test_gemm_may_write_over_its_addend() -> None:
    a, b, c = (normal((4, 4), np.float32, seed) for seed in (1, 2, 3))
    out = place(c)
    op("aclnnGemm")(place(a), place(b), out, 1.0, 1.0, 0, 0, out, 0)
    assert_close(out.numpy(), wide(a) @ wide(b) + wide(c), scale=4)


def test_gemm_refuses() -> None:
    name = "aclnnGemm"
    a, b, c, out = (hollow(s, np.float32) for s in ((5, 7), (7, 3), (5, 3), (5, 3)))
    assert refusal(name, None, b, c, 1.0, 1.0, 0, 0, out, 0) == 161001
    assert "A (5, 7), transposed," in message(name, 161002, [a, b, c, 1.0, 1.0, 1, 0, out, 0])
    assert "cubeMathType is 5" in message(name, 161002, [a, b, c, 1.0, 1.0, 0, 0, out, 5])
    wide_c = hollow((5, 4), np.float32)
    assert "C (5, 4)" in message(name, 161002, [a, b, wide_c, 1.0, 1.0, 0, 0, out, 0])


# --- batches in another place


def stacked(x: Any, y: Any, perm1: list[int], perm2: list[int]) -> Any:
    return wide(x).transpose(perm1) @ wide(y).transpose(perm2)


@pytest.mark.parametrize("nz", [False, True], ids=["plain", "blocks"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(
    ("perm1", "perm2", "split"),
    [
        ([0, 1, 2], [0, 1, 2], 1),
        ([1, 0, 2], [0, 1, 2], 1),
        ([1, 0, 2], [0, 2, 1], 1),
        ([0, 1, 2], [0, 1, 2], 2),
        ([1, 0, 2], [0, 1, 2], 3),
        ([1, 0, 2], [0, 1, 2], 6),
    ],
    ids=str,
)
def test_moved_batches(
    dtype: Any, perm1: list[int], perm2: list[int], split: int, nz: bool
) -> None:
    batch, rows, depth, cols = 6, 5, 18, 20
    x = normal((batch, rows, depth), dtype).transpose(np.argsort(perm1)).copy()
    y = normal((batch, depth, cols), dtype, 4).transpose(np.argsort(perm2)).copy()
    shape = (rows, batch, cols) if split == 1 else (split, rows, batch // split * cols)
    out = hollow(shape, dtype, "stepped")
    name = "aclnnTransposeBatchMatMul" + ("WeightNz" if nz else "")
    weight = blocked(y) if nz else place(y, "stepped")
    op(name)(place(x, "stepped"), weight, None, None, perm1, perm2, [1, 0, 2], 0, split, out)
    expected = stacked(x, y, perm1, perm2)
    parts = expected.reshape(split, batch // split, rows, cols).transpose(0, 2, 1, 3)
    wanted = parts[0] if split == 1 else parts.reshape(shape)
    assert_close(out.numpy(), wanted, scale=12)


@pytest.mark.parametrize("nz", [False, True], ids=["plain", "blocks"])
@pytest.mark.parametrize("offset", [None, 5])
def test_moved_batches_quantised(nz: bool, offset: int | None) -> None:
    batch, rows, depth, cols = 3, 5, 32, 20
    rng = np.random.default_rng(5)
    x = rng.integers(-4, 5, (batch, rows, depth)).astype(np.float16)
    y = rng.integers(-4, 5, (batch, depth, cols)).astype(np.float16)
    # Powers of two survive the 19 bits of a packed scale, so that the result is exact.
    scale = np.exp2(rng.integers(-3, 2, batch * cols)).astype(np.float32)
    offsets = None if offset is None else place(np.full(batch * cols, offset, np.float32))
    packed = ap.functional.trans_quant_param(place(scale), offsets)
    out = hollow((rows, 1, batch * cols), np.int8)
    name = "aclnnTransposeBatchMatMul" + ("WeightNz" if nz else "")
    orders = [0, 1, 2], [0, 1, 2], [1, 0, 2]
    op(name)(place(x), blocked(y) if nz else place(y), None, packed, *orders, 1, 1, out)
    product = (wide(x) @ wide(y)).transpose(1, 0, 2).reshape(rows, 1, -1)
    wanted = np.clip(np.rint(product * scale + (offset or 0)), -128, 127).astype(np.int8)
    assert_same(out.numpy(), wanted)


def test_moved_batches_in_float32() -> None:
    x, y = normal((4, 5, 7), np.float32), normal((4, 7, 3), np.float32, 4)
    for math_type in (0, 1, 3):
        out = hollow((5, 4, 3), np.float32)
        orders = [0, 1, 2], [0, 1, 2], [1, 0, 2]
        op("aclnnTransposeBatchMatMul")(place(x), place(y), None, None, *orders, math_type, 1, out)
        assert_close(out.numpy(), (wide(x) @ wide(y)).transpose(1, 0, 2), scale=4)


def test_moved_batches_refuse() -> None:
    name, half = "aclnnTransposeBatchMatMul", np.float16
    x, y, out = hollow((4, 5, 7), half), hollow((4, 7, 3), half), hollow((5, 4, 3), half)
    same, turned, last = [0, 1, 2], [0, 2, 1], [1, 0, 2]

    def text(status: int = 161002, **other: Any) -> str:
        given = {
            "x1": x,
            "x2": y,
            "bias": None,
            "scale": None,
            "permX1": same,
            "permX2": same,
            "permY": last,
            "cubeMathType": 0,
            "batchSplitFactor": 1,
            "out": out,
            **other,
        }
        return message(name, status, list(given.values()))

    assert "x1" in text(161001, x1=None)
    assert "permY" in text(161001, permY=None)
    assert "biasOptional is given" in text(bias=hollow((3,), half))
    assert "permX1 is (2, 1, 0)" in text(permX1=[2, 1, 0])
    assert "permX2 is (0, 1)" in text(permX2=[0, 1])
    assert "permY is (0, 1, 2)" in text(permY=same)
    assert "batchSplitFactor is 3" in text(batchSplitFactor=3)
    assert "batchSplitFactor is 0" in text(batchSplitFactor=0)
    assert "permX2 is (0, 2, 1)" in text(permX2=turned, x2=hollow((4, 3, 7), half))
    assert "cubeMathType is 4" in text(cubeMathType=4)
    assert "scaleOptional is given" in text(scale=place(np.zeros(12, np.int64)))
    quantised = hollow((5, 1, 12), np.int8)
    assert "scaleOptional is null" in text(out=quantised)
    assert "scaleOptional has" in text(out=quantised, scale=place(np.zeros(11, np.int64)))
    assert "out has" in text(out=hollow((4, 5, 3), half))


# --- equations


@pytest.mark.parametrize("dtype", [np.float16, np.float32], ids=str)
@pytest.mark.parametrize("layout", ["dense", "transposed", "stepped"])
def test_equations_of_floats(dtype: Any, layout: str) -> None:
    x, y = normal((2, 3, 4, 5), dtype), normal((2, 3, 4, 6, 5), dtype, 4)
    out = hollow((2, 3, 4, 6), dtype, layout)
    op("aclnnEinsum")([place(x, layout), place(y, layout)], "abcd,abced->abce", out)
    assert_close(out.numpy(), np.einsum("abcd,abced->abce", wide(x), wide(y)), scale=4)
    a, b = normal((4,), dtype), normal((7,), dtype, 4)
    out = hollow((4, 7), dtype, layout)
    op("aclnnEinsum")([place(a, layout), place(b, layout)], "a,b->ab", out)
    assert_close(out.numpy(), np.outer(wide(a), wide(b)))


@pytest.mark.parametrize(
    "dtype", [np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64], ids=str
)
def test_equations_of_integers_wrap(dtype: Any) -> None:
    rng = np.random.default_rng(8)
    bounds = np.iinfo(dtype)
    x = rng.integers(bounds.min, bounds.max, (2, 1, 3, 5), dtype, endpoint=True)
    y = rng.integers(bounds.min, bounds.max, (2, 1, 3, 4, 5), dtype, endpoint=True)
    out = hollow((2, 1, 3, 4), dtype)
    op("aclnnEinsum")([place(x), place(y)], "abcd,abced->abce", out)
    exact = np.einsum("abcd,abced->abce", x.astype(object), y.astype(object))
    low = np.vectorize(lambda value: int(value) % 2**64, otypes=[np.uint64])(exact)
    assert_same(out.numpy(), low.astype(dtype))
    out = hollow((5, 4), dtype)
    op("aclnnEinsum")([place(x[0, 0, 0]), place(y[1, 0, 0, :, 0])], "a,b->ab", out)
    with np.errstate(over="ignore"):
        assert_same(out.numpy(), np.multiply.outer(x[0, 0, 0], y[1, 0, 0, :, 0]))


def test_equations_refuse() -> None:
    name = "aclnnEinsum"
    x, y, out = (hollow(s, np.float32) for s in ((2, 3, 4, 5), (2, 3, 4, 6, 5), (2, 3, 4, 6)))
    row = "abcd,abced->abce"
    assert refusal(name, [x, y], row, None) == 161001
    assert "equation is" in message(name, 161002, [[x, y], "ab,bc->ac", out])
    assert "tensors has 1 tensors" in message(name, 161002, [[x], row, out])
    assert "tensors[1]" in message(name, 161002, [[x, x], row, out])
    assert "output" in message(name, 161002, [[x, y], row, hollow((2, 3, 4, 5), np.float32)])
    assert "tensors[0]" in message(name, 161002, [[x[:1], y], row, out])
    assert "empty" in message(name, 161002, [[x[:0], y[:0]], row, out[:0]])


# --- logits of a part of a vocabulary


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("index", [np.int32, np.int64], ids=str)
@pytest.mark.parametrize(("rows", "keep"), [(11, True), (16, False), (0, True)])
def test_logits_and_their_statistics(dtype: Any, index: Any, rows: int, keep: bool) -> None:
    depth, words, first, last = 18, 13, 40, 50
    x, w = normal((rows, depth), dtype), normal((words, depth), dtype, 4)
    target = np.random.default_rng(9).integers(35, 56, rows).astype(index)
    target[: min(rows, 4)] = [first, last - 1, last, last + 1][: min(rows, 4)]
    logits = hollow((rows, words), dtype) if keep else None
    most, total, found = (hollow((rows,), np.float32) for _ in range(3))
    mask, places = hollow((-(-rows // 8),), np.uint8), hollow((rows,), index)
    op("aclnnFusedLinearOnlineMaxSum")(
        place(x), place(w), place(target), first, last, most, total, found, mask, places, logits
    )
    # The statistics are those of the logits as they are stored.
    stored = (wide(x) @ wide(w).T).astype(dtype)
    if logits is not None:
        assert_close(logits.numpy(), wide(x) @ wide(w).T, scale=8)
        stored = logits.numpy()
    exact = wide(stored)
    absent = (target < first) | (target >= last)
    at = np.where(absent, 0, target - first)
    assert_same(places.numpy(), at.astype(index))
    # Bits behind the last row are those of a target of 0, which is not held here.
    bits = np.concatenate([absent, np.ones(-rows % 8, bool)])
    assert_same(mask.numpy(), np.packbits(bits, bitorder="little"))
    if rows == 0:
        return
    slack = 2000 if logits is None else 4
    top = exact.max(-1)
    assert_close(most.numpy(), top, scale=slack)
    assert_close(total.numpy(), np.exp(exact - top[:, None]).sum(-1), scale=slack)
    picked = np.where(absent, 0, exact[np.arange(rows), at] - top)
    assert_close(found.numpy(), picked, scale=slack)


def test_the_part_of_a_split_vocabulary_ends_before_its_last_index() -> None:
    """The first of two parts of 4 words: words 4 and 7 are masked and no fault."""
    x, w = place(np.ones((3, 2), np.float16)), place(np.ones((4, 2), np.float16))
    most, total, found = (hollow((3,), np.float32) for _ in range(3))
    mask, places = hollow((1,), np.uint8), hollow((3,), np.int64)
    op("aclnnFusedLinearOnlineMaxSum")(
        x, w, place(np.array([3, 4, 7])), 0, 4, most, total, found, mask, places, None
    )
    assert_same(places.numpy(), np.array([3, 0, 0]))
    assert_same(mask.numpy(), np.array([0b110], np.uint8))
    assert_same(found.numpy(), np.zeros(3, np.float32))


def test_a_target_behind_the_weight_is_a_fault() -> None:
    x, w = hollow((2, 4), np.float16), hollow((3, 4), np.float16)
    outs = [hollow((2,), np.float32) for _ in range(3)]
    rest = [hollow((1,), np.uint8), hollow((2,), np.int32), None]
    target = place(np.array([0, 3], np.int32))
    text = fault("aclnnFusedLinearOnlineMaxSum", x, w, target, 0, 9, *outs, *rest)
    assert "target[1] is row 3 of weight" in text


def test_logits_refuse() -> None:
    name = "aclnnFusedLinearOnlineMaxSum"
    x, w = hollow((9, 4), np.float16), hollow((3, 4), np.float16)
    outs = [hollow((9,), np.float32) for _ in range(3)]
    mask, target = hollow((2,), np.uint8), hollow((9,), np.int32)

    def text(status: int, *given: Any) -> str:
        return message(name, status, list(given))

    assert "vocabStartIndex is -1" in text(161002, x, w, target, -1, 2, *outs, mask, target, None)
    assert "vocabEndIndex is 0" in text(161002, x, w, target, 1, 0, *outs, mask, target, None)
    assert "weight has no rows" in text(161002, x, w[:0], target, 0, 2, *outs, mask, target, None)
    assert "weight (3, 3)" in text(161002, x, w[:, :3], target, 0, 2, *outs, mask, target, None)
    assert "targetMaskOut" in text(161002, x, w, target, 0, 2, *outs, mask[:1], target, None)
    assert "target" in text(161002, x, w, target[:8], 0, 2, *outs, mask, target, None)
    assert "input" in text(161001, None, w, target, 0, 2, *outs, mask, target, None)
