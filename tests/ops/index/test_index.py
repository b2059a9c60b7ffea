# SPDX-License-Identifier: Apache-2.0
"""Operators that read and write by index, against NumPy; results are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made
from helpers.numerics import assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal, values

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, Ref, fault, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]


def some(rng: Rng, shape: tuple[int, ...], dtype: Dtype) -> Array:
    return values(rng, shape, dtype, -9, 9)


def names(rng: Rng, shape: tuple[int, ...], extent: int, wide: bool = True) -> Array:
    return rng.integers(0, extent, shape).astype(np.int64 if wide else np.int32)


def taken(
    operator: str, shape: tuple[int, ...], dim: int, index: tuple[int, ...], wide: bool = True
) -> Case:
    """Whole entries of one dimension."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, i = some(rng, shape, dtype), names(rng, index, shape[dim], wide)
        out = Out(np.take(x, i, dim), dtype)
        if operator == "Embedding":
            return [In(x), In(i), out]
        return (
            [In(x), dim, In(i), 0, 1, out] if operator == "GatherV3" else [In(x), dim, In(i), out]
        )

    return Case(operator, build, f"{shape}@{dim}{index}{wide}".replace(" ", ""))


def gathered(shape: tuple[int, ...], dim: int, index: tuple[int, ...]) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        # Below zero an index counts from the end.
        x, i = some(rng, shape, dtype), names(rng, index, 2 * shape[dim]) - shape[dim]
        cut = tuple(slice(None) if d == dim % x.ndim else slice(0, n) for d, n in enumerate(index))
        return [In(x), dim, In(i), Out(np.take_along_axis(x[cut], i, dim), dtype)]

    return Case("Gather", build, f"{shape}@{dim}{index}".replace(" ", ""))


def gathered_nd(shape: tuple[int, ...], lead: tuple[int, ...], depth: int, negative: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, shape, dtype)
        i = np.stack([names(rng, lead, n) for n in shape[:depth]], axis=-1)
        if negative:
            i = i - np.array(shape[:depth]) * rng.integers(0, 2, i.shape)
        return [In(x), In(i), negative, Out(x[tuple(np.moveaxis(i, -1, 0))], dtype)]

    return Case("GatherNd", build, f"{shape}{lead}{depth}{negative}".replace(" ", ""))


def take(rng: Rng, dtype: Dtype) -> Problem:
    x, i = some(rng, (3, 4), dtype), rng.integers(-12, 12, (2, 5))
    return [In(x), In(i), Out(x.reshape(-1)[i], dtype)]


def repeated(dim: int | None, single: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, (3, 4), dtype)
        entries = 12 if dim is None else x.shape[dim]
        times = rng.integers(0, 4, 1 if single else entries)
        result = np.repeat(x, times if not single else times.item(), dim)
        if dim is None:
            return [In(x), In(times), result.size, Out(result, dtype)]
        return [In(x), In(times), dim, result.shape[dim], Out(result, dtype)]

    return Case(
        "RepeatInterleave" if dim is None else "RepeatInterleaveWithDim", build, f"{dim}{single}"
    )


def repeats_only(rng: Rng, dtype: Dtype) -> Problem:
    times = np.array([2, 0, 3, 1]).astype(dtype)
    return [In(times), 6, Out(np.repeat(np.arange(4), times), dtype)]


def copied(inplace: bool, shape: tuple[int, ...], dim: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, i = some(rng, shape, dtype), rng.permutation(shape[dim])[:2]
        part = list(shape)
        part[dim] = 2
        source = some(rng, tuple(part), dtype)
        result = x.copy()
        np.moveaxis(result, dim, 0)[i] = np.moveaxis(source, dim, 0)
        if inplace:
            return [Ref(x, result), dim, In(i), In(source)]
        return [In(x), dim, In(i), In(source), Out(result, dtype)]

    return Case(
        "InplaceIndexCopy" if inplace else "IndexCopy", build, f"{shape}@{dim}".replace(" ", "")
    )


def grown(operator: str, dim: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, i = some(rng, (4, 5, 3), dtype), names(rng, (6,), (4, 5, 3)[dim])
        part = [4, 5, 3]
        part[dim] = 6
        source = some(rng, tuple(part), dtype)
        alpha: Any = True if dtype == np.bool_ else 2
        result = x.copy()
        np.add.at(np.moveaxis(result, dim, 0), i, np.moveaxis(alpha * source, dim, 0).astype(dtype))
        tail = [0] if operator == "IndexAddV2" else []
        return [In(x), dim, In(i), In(source), alpha, *tail, Out(result, dtype)]

    return Case(operator, build, str(dim))


def filled(operator: str) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, (4, 5), dtype)
        value: Any = True if dtype == np.bool_ else 7
        result = x.copy()
        result[:, [3, 0]] = value
        index: Any = [3, 0] if operator.endswith("Tensor") else In(np.array([3, 0]))
        if operator.startswith("Inplace"):
            return [Ref(x, result), 1, index, value]
        return [In(x), -1, index, value, Out(result, dtype)]

    return Case(operator, build)


def scattered(operator: str, dim: int, reduce: int | None) -> Case:
    scalar = "Value" in operator

    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, (4, 5, 3), dtype)
        shape = [3, 4, 2]
        # A replacement by several values would have no one answer.
        index = rng.permuted(np.broadcast_to(np.arange(4)[:, None, None], (4, 4, 2)), axis=0)[:3]
        shape, index = (3, 4, 2), np.moveaxis(index, 0, 0)
        if dim != 0:
            index = np.stack(
                [rng.permutation(x.shape[dim])[: shape[dim]] for _ in range(6 * 4 // shape[dim])]
            )
            other = [n for d, n in enumerate(shape) if d != dim]
            index = np.moveaxis(index[: other[0] * other[1]].reshape(*other, shape[dim]), -1, dim)
        src = some(rng, (3, 4, 3), dtype)[:, :, :2]
        value: Any = True if dtype == np.bool_ else 3
        update = np.full(shape, value).astype(dtype) if scalar else src
        result = x.copy()
        grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
        grid[dim] = index
        if not reduce:
            result[tuple(grid)] = update
        elif reduce == 1:
            np.add.at(result, tuple(grid), update)
        else:
            np.multiply.at(result, tuple(grid), update)
        with_ = value if scalar else In(np.ascontiguousarray(src))
        tail = [] if reduce is None or operator == "ScatterAdd" else [reduce]
        if operator.startswith("Inplace"):
            return [Ref(x, result), dim, In(index), with_, *tail]
        return [In(x), dim, In(index), with_, *tail, Out(result, dtype)]

    return Case(operator, build, f"{dim}-{reduce}")


def scattered_nd(inplace: bool, depth: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, (4, 5, 3), dtype)
        flat = rng.permutation(int(np.prod(x.shape[:depth])))[:3]
        index = np.stack(np.unravel_index(flat, x.shape[:depth]), axis=-1)
        updates = some(rng, (3, *x.shape[depth:]), dtype)
        result = x.copy()
        result[tuple(index.T)] = updates
        if inplace:
            return [Ref(x, result), In(index), In(updates)]
        return [In(x), In(index), In(updates), Out(result, dtype)]

    return Case("ScatterNdUpdate" if inplace else "ScatterNd", build, str(depth))


def cache_update(pairs: bool, axis: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, (3, 2, 6, 4), dtype)
        shape = [2 if pairs else 3, 2, 6, 4]
        shape[axis] = 2
        updates, result = some(rng, tuple(shape), dtype), x.copy()
        starts = rng.integers(0, 3, shape[0])
        entries = rng.permutation(3)[: shape[0]] if pairs else np.arange(3)
        for i, (entry, start) in enumerate(zip(entries, starts, strict=True)):
            cut = [slice(None)] * 3
            cut[axis % 4 - 1] = slice(start, start + 2)
            result[entry][tuple(cut)] = updates[i]
        index = np.stack((entries, starts), axis=-1) if pairs else starts
        return [Ref(x, result), In(index), In(updates), axis]

    return Case("InplaceScatterUpdate", build, f"{pairs}{axis}")


def put(accumulate: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, i = some(rng, (3, 4), dtype), rng.permutation(24)[:5] % 12
        if not accumulate:
            i = rng.permutation(12)[:5]
        source, result = some(rng, (5,), dtype), x.copy()
        if accumulate:
            np.add.at(result.reshape(-1), i, source)
        else:
            result.reshape(-1)[i] = source
        return [Ref(x, result), In(i), In(source), accumulate]

    return Case("InplacePut", build, "add" if accumulate else "set")


def indexed(note: str, put_back: bool, accumulate: bool = False) -> Case:
    """Advanced indexing: the entries of each note, as NumPy writes them."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = some(rng, (4, 5, 6), dtype)
        one, two = rng.integers(-4, 4, 3), rng.integers(0, 5, 3)
        entries: list[Array | None] = {
            "first": [one],
            "second": [None, two],
            "pair": [one, two],
            "apart": [one, None, rng.integers(0, 6, 3)],
            "grid": [one[:, None], two[None, :]],
            "narrow": [one.astype(np.int32)],
            "last": [None, None, rng.integers(0, 6, (2, 2))],
            "mask": [rng.integers(0, 2, 4).astype(np.bool_)],
            "wide-mask": [rng.integers(0, 2, (4, 5)).astype(np.bool_)],
            "mask-second": [None, np.array([True, False, True, True, False])],
            "none": [np.zeros((0,), np.int64)[:, None]],
        }[note]
        key = tuple(slice(None) if entry is None else entry for entry in entries)
        members = [None if entry is None else In(entry) for entry in entries]
        if not put_back:
            return [In(x), members, Out(x[key], dtype)]
        update, result = some(rng, x[key].shape, dtype), x.copy()
        if accumulate:
            np.add.at(result, key, update)
        else:
            update[...] = update.reshape(-1)[:1] if update.size else 0  # one answer for duplicates
            result[key] = update
        return [Ref(x, result), members, In(update), accumulate, False]

    return Case(
        "IndexPutImpl" if put_back else "Index",
        build,
        f"{note}{'-add' if accumulate else ''}",
        free_shapes=True,
    )


def masked_select(shape: tuple[int, ...], mask: tuple[int, ...]) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, m = some(rng, shape, dtype), rng.integers(0, 2, mask).astype(np.bool_)
        both = np.broadcast_arrays(x, m)
        return [In(x), In(m), Out(both[0][both[1]], dtype)]

    return Case("MaskedSelect", build, f"{shape}{mask}".replace(" ", ""))


def masked_scatter(rng: Rng, dtype: Dtype) -> Problem:
    x, m = some(rng, (4, 5), dtype), rng.integers(0, 2, (1, 5)).astype(np.bool_)
    source, result = some(rng, (30,), dtype), x.copy()
    where = np.broadcast_to(m, x.shape)
    result[where] = source[: where.sum()]
    return [Ref(x, result), In(m), In(source)]


def nonzero(operator: str, shape: tuple[int, ...]) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = (some(rng, shape, dtype) * rng.integers(0, 2, shape)).astype(dtype)
        result = np.argwhere(x)
        return [In(x), Out(result if operator == "Nonzero" else result.T, np.int64)]

    return Case(operator, build, f"{shape}".replace(" ", ""))


def one_hot(axis: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = rng.integers(-1, 6, (3, 4))  # numbers outside name no class
        on, off = np.array([7]).astype(dtype), np.array([2]).astype(dtype)
        result = np.where(
            np.expand_dims(x, axis) == np.arange(5).reshape([-1] + [1] * (2 - axis % 3)), on, off
        )
        return [In(x), 5, In(on), In(off), axis, Out(result.astype(dtype), dtype)]

    return Case("OneHot", build, str(axis), decides=2)


CASES = [
    *(
        taken(name, (4, 5, 6), dim, index, wide)
        for name in ("IndexSelect", "GatherV2")
        for dim, index, wide in (
            (0, (7,), True),
            (1, (3,), False),
            (-1, (9,), True),
            (2, (0,), True),
        )
    ),
    taken("GatherV2", (4, 5, 6), 1, (2, 3)),
    taken("GatherV3", (4, 5, 6), 0, (2, 3)),
    taken("IndexSelect", (300, 3), 0, (1000,)),
    taken("GatherV2", (4, 5), 1, ()),
    taken("Embedding", (11, 300), 0, (3, 4)),
    taken("Embedding", (11, 3), 0, (500,), False),
    gathered((4, 5, 6), 1, (4, 7, 6)),
    gathered((4, 5, 6), 0, (2, 3, 4)),
    gathered((8,), 0, (3,)),
    gathered((4, 5), -1, (0, 5)),
    gathered_nd((4, 5, 6), (3,), 1, False),
    gathered_nd((4, 5, 6), (2, 3), 2, False),
    gathered_nd((4, 5, 6), (7,), 3, True),
    Case("Take", take),
    repeated(None, False),
    repeated(None, True),
    repeated(0, False),
    repeated(1, True),
    Case("RepeatInterleaveTensor", repeats_only),
    copied(True, (4, 5, 6), 1),
    copied(False, (4, 5), 0),
    copied(True, (7,), 0),
    grown("IndexAdd", 0),
    grown("IndexAdd", 2),
    grown("IndexAddV2", 1),
    *(
        filled(name)
        for name in ("IndexFill", "InplaceIndexFill", "IndexFillTensor", "InplaceIndexFillTensor")
    ),
    *(
        scattered(name, dim, reduce)
        for name in ("Scatter", "InplaceScatter", "ScatterValue", "InplaceScatterValue")
        for dim, reduce in ((0, 0), (1, 1), (2, 2))
    ),
    scattered("ScatterAdd", 1, 1),
    scattered("ScatterAdd", 0, 1),
    scattered_nd(False, 1),
    scattered_nd(False, 3),
    scattered_nd(True, 2),
    cache_update(False, 2),
    cache_update(False, -1),
    cache_update(True, 2),
    put(False),
    put(True),
    *(
        indexed(note, False)
        for note in (
            "first",
            "second",
            "pair",
            "apart",
            "grid",
            "narrow",
            "last",
            "mask",
            "wide-mask",
            "mask-second",
            "none",
        )
    ),
    *(indexed(note, True) for note in ("second", "apart", "wide-mask")),
    indexed("pair", True, True),
    masked_select((4, 5), (4, 5)),
    masked_select((4, 5), (5,)),
    masked_select((5,), (4, 1)),
    Case("InplaceMaskedScatter", masked_scatter),
    one_hot(-1),
    one_hot(0),
    one_hot(1),
]

TestTable = suite(CASES)


@pytest.mark.parametrize(
    "case",
    [
        nonzero("Nonzero", (4, 5)),
        nonzero("NonzeroV2", (3, 4, 2)),
        nonzero("Nonzero", (9,)),
        nonzero("NonzeroV2", (0, 3)),
    ],
    ids=lambda case: case.id,
)
def test_nonzero(case: Case) -> None:
    for name in case.accepted():
        x, result = case.problem(name)
        for layout in ("dense", "transposed", "stepped"):
            out = hollow(result.oracle.shape, np.int64)
            op("aclnn" + case.operator)(place(x.array, layout), out)
            assert_same(out.numpy(), result.oracle.astype(np.int64), f"{case.id} {name} {layout}")


@pytest.mark.parametrize(
    ("operator", "bad"),
    [("IndexSelect", 4), ("IndexSelect", -1), ("GatherV2", 4), ("GatherV2", -5)],
)
def test_an_index_outside_is_a_device_fault(operator: str, bad: int) -> None:
    x, index = place(np.ones((4, 5), np.float32)), place(np.array([1, bad]))
    text = fault("aclnn" + operator, x, 0, index, hollow((2, 5), np.float32))
    assert "index" in text
    assert str(bad) in text


def test_the_device_answers_after_a_fault() -> None:
    x, index = place(np.ones((4, 5), np.float32)), place(np.array([9]))
    fault("aclnnIndexSelect", x, 0, index, hollow((1, 5), np.float32))
    out = hollow((1, 5), np.float32)
    ap.ops.index_select(x, 0, place(np.array([2])), out)
    assert out.numpy().tolist() == [[1] * 5]


def test_faults_of_writing_operators() -> None:
    x, far = place(np.zeros((4, 5), np.float32)), place(np.array([[7]]))
    one = place(np.ones((1, 1), np.float32))
    fault("aclnnInplaceScatter", x, 0, far, one, 0)
    fault("aclnnScatterNdUpdate", x, far, place(np.ones((1, 5), np.float32)))
    fault("aclnnInplaceIndexCopy", x, 0, far[0], place(np.ones((1, 5), np.float32)))
    for outside in (20, -1):
        fault("aclnnInplacePut", x, place(np.array([outside])), one[0], False)
    fault("aclnnGather", x, 0, place(np.array([[-5]])), hollow((1, 1), np.float32))
    fault("aclnnIndexPutImpl", x, [far[0]], one[0], False, False)
    mask = place(np.ones((4, 5), np.bool_))
    fault("aclnnInplaceMaskedScatter", x, mask, one)
    fault("aclnnMaskedSelect", x, mask, hollow((3,), np.float32))
    fault("aclnnRepeatInterleave", x, place(np.array([2])), 30, hollow((30,), np.float32))
    update = (place(np.array([4, 0, 0, 0])), place(np.ones((4, 2), np.float32)), 1)
    fault("aclnnInplaceScatterUpdate", x, *update)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("operator", ["IndexFill", "InplaceIndexFill"])
def test_a_fill_counts_from_the_end_and_leaves_out_what_is_outside(
    operator: str, wide: bool
) -> None:
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    index = np.array([-1, 5, 1, -6, -5, 1 << 30]).astype(np.int64 if wide else np.int32)
    oracle = x.copy()
    oracle[:, [4, 1, 0]] = 7
    given, out = place(x), hollow((4, 5), np.float32)
    if operator == "IndexFill":
        ap.ops.index_fill(given, 1, place(index), 7.0, out)
    else:
        ap.ops.inplace_index_fill(given, 1, place(index), 7.0)
        out = given
    assert_same(out.numpy(), oracle)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_listed_fill_writes_a_value_of_float32(dtype: type) -> None:
    value = (1 << 24) + 1
    x = place(np.zeros((2, 3), dtype))
    ap.ops.inplace_index_fill_tensor(x, 1, [-1], ap.Scalar(value, "int64"))
    assert x.numpy().tolist() == [[0, 0, int(np.float32(value))]] * 2
    ap.ops.inplace_index_fill(x, 1, place(np.array([0])), ap.Scalar(value, "int64"))
    assert x.numpy()[:, 0].tolist() == [value] * 2


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_listed_fill_of_a_950_writes_the_value_itself() -> None:
    value = (1 << 24) + 1
    with Chip950() as newer:
        given = Given(np.zeros((1, 3), np.int32), "int32"), 1, [-1], value
        (found,) = newer.operator("index_fill_tensor", *given, Made((1, 3), "int32"))
    assert found.tolist() == [[0, 0, value]]


def test_gather_v3_looks_for_tensors_before_attributes() -> None:
    tensors = (
        place(np.ones((4, 5), np.float32)),
        place(np.array([1])),
        hollow((1, 5), np.float32),
    )
    for absent in range(3):
        x, index, out = (None if i == absent else given for i, given in enumerate(tensors))
        assert refusal("aclnnGatherV3", x, 1, index, 1, 0, out) == 161001


def test_later_duplicates_win() -> None:
    x = place(np.zeros(3, np.int32))
    ap.ops.inplace_index_copy(
        x, 0, place(np.array([1, 1, 1])), place(np.array([5, 6, 7], np.int32))
    )
    assert x.numpy().tolist() == [0, 7, 0]


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_batch_of_gathers() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    index = np.array([[2, 0], [1, 1]])
    with Chip950() as newer:
        given = Given(x, "float32"), 1, Given(index, "int64"), 1, 0
        (found,) = newer.operator("gather_v3", *given, Made((2, 2, 4), "float32"))
    assert_same(found, np.stack([x[b][index[b]] for b in range(2)]))


def test_attributes_outside_their_range_are_refused() -> None:
    x, index, out = (
        place(np.ones((4, 5), np.float32)),
        place(np.array([1])),
        hollow((1, 5), np.float32),
    )
    square, pair = place(np.ones((1, 1), np.float32)), place(np.array([[0]]))
    for operator, arguments in (
        ("IndexSelect", (x, 2, index, out)),
        ("IndexSelect", (x, 0, pair, out)),
        ("Gather", (x, 0, index, out)),
        ("GatherNd", (x, place(np.zeros((1, 3), np.int64)), False, out)),
        ("GatherV3", (x, 0, index, 0, 2, out)),
        ("GatherV3", (x, 0, index, 1, 0, out)),
        ("InplaceScatter", (x, 0, pair, square, 3)),
        ("InplaceScatter", (x, 0, index, square, 0)),
        ("InplaceScatterUpdate", (x, index, x, 0)),
        ("IndexFillTensor", (x, 0, [4], 1.0, x)),
        ("Index", (x, [None], out)),
        ("Index", (x, [index, index, index], out)),
        ("OneHot", (index, -1, square[0], square[0], -1, hollow((1, 0), np.float32))),
    ):
        assert refusal("aclnn" + operator, *arguments) == 161002, (operator, arguments)


def test_index_dtypes_are_the_documented_ones() -> None:
    x, out = place(np.ones((4, 5), np.float32)), hollow((2, 5), np.float32)
    for dtype in (np.int8, np.int16, np.uint8, np.float32):
        index = place(np.ones(2, dtype))
        assert refusal("aclnnIndexSelect", x, 0, index, out) == 161002
        assert refusal("aclnnEmbedding", x, index, out) == 161002


@pytest.mark.parametrize("width", [64, 65, 100, 127, 128, 192, 1000])
@pytest.mark.parametrize("wide", [True, False])
def test_rows_of_any_length_that_one_index_names(width: int, wide: bool) -> None:
    rng = np.random.default_rng(width)
    x, index = some(rng, (300, width), np.dtype(np.int8)), names(rng, (7, 90), 300, wide)
    index[3] -= 300  # from the end
    around = ap.full((632, width), 77, np.int8)
    ap.ops.gather_v2(place(x), 0, place(index), around[1:-1].reshape(7, 90, width))
    found = around.numpy()
    np.testing.assert_array_equal(found[1:-1].reshape(7, 90, width), np.take(x, index, 0))
    assert (found[[0, -1]] == 77).all()


@pytest.mark.parametrize(("operator", "bad"), [("IndexSelect", -1), ("GatherV2", 300)])
def test_a_row_outside_is_a_device_fault(operator: str, bad: int) -> None:
    x, index = place(np.ones((300, 64), np.float32)), np.arange(300)
    index[200] = bad
    text = fault("aclnn" + operator, x, 0, place(index), hollow((300, 64), np.float32))
    assert f"index holds {bad}" in text


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(7, 5, 9), (1, 4, 3), (1500, 20), (5, 1)])
def test_one_index_names_the_elements_of_every_line(
    shape: tuple[int, ...], dtype: str, layout: str
) -> None:
    rng = np.random.default_rng(len(shape))
    x = some(rng, shape, np.dtype(dtype))
    for wide, extent in ((True, (3, 500)), (False, (2,))):  # the first is longer than a block
        index = names(rng, extent, shape[-1], wide)
        index[0] -= shape[-1]  # from the end
        expected = np.take(x, index, -1)
        out = hollow(expected.shape, np.dtype(dtype), layout)
        ap.ops.gather_v2(place(x, layout), -1, place(index, layout), out)
        np.testing.assert_array_equal(out.numpy(), expected)


def test_pairs_of_elements_of_every_line() -> None:
    x = np.arange(6 * 5 * 2, dtype=np.int32).reshape(6, 5, 2)
    index = np.array([4, 0, 4], np.int32)
    out = hollow((6, 3, 2), np.int32)
    ap.ops.index_select(place(x), 1, place(index), out)
    np.testing.assert_array_equal(out.numpy(), x[:, index])


@pytest.mark.parametrize(("operator", "bad"), [("IndexSelect", -1), ("GatherV2", -65)])
def test_a_column_outside_is_a_device_fault(operator: str, bad: int) -> None:
    x, index = place(np.ones((300, 64), np.float32)), np.arange(64)
    index[20] = bad
    text = fault("aclnn" + operator, x, 1, place(index), hollow((300, 64), np.float32))
    assert f"index holds {bad}" in text


def test_an_index_that_lies_under_the_result() -> None:
    rng = np.random.default_rng(4)
    x, index = rng.integers(0, 99, (20, 16)), rng.integers(0, 20, 12)
    memory = ap.zeros((12 * 16,), "int64")
    memory[5:17] = ap.from_numpy(index)
    out = memory.reshape(12, 16)
    ap.ops.index(ap.from_numpy(x), [memory[5:17]], out)
    np.testing.assert_array_equal(out.numpy(), x[index])
