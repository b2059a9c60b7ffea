# SPDX-License-Identifier: Apache-2.0
"""ScatterReduce, ScatterMul and its kin, TfScatterAdd and Bucketize against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Changed, Chip950, Given, Made, Refused
from helpers.operators import NUMPY, hollow, op, place, refusal, values

from ..problems import fault

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
Join = Callable[[Array, Array], Array]


def quotient(a: Array, b: Array) -> Array:
    return np.trunc(a / b) if a.dtype.kind in "iu" else a / b


ROWS: dict[str, Join] = {
    "scatter_mul": np.multiply,
    "scatter_div": quotient,
    "scatter_max": np.maximum,
    "scatter_min": np.minimum,
}
NAMES = ["float32", "float16", "int32", "int8", "uint8"]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def numbers(rng: np.random.Generator, shape: tuple[int, ...], name: str) -> Array:
    made: Array = values(rng, shape, NUMPY[name.upper().replace("FLOAT32", "FLOAT")], 1, 9)
    return made


def joined(x: Array, index: Array, updates: Array, join: Join) -> Array:
    """Row after row, rounded to the dtype after each."""
    result: Array = x.copy()
    with np.errstate(over="ignore"):
        for row, update in zip(index.ravel(), updates.reshape(-1, *x.shape[1:]), strict=True):
            result[row] = join(result[row], update).astype(x.dtype)
    return result


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("operator", ROWS)
@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_rows_are_combined(newer: Chip950, operator: str, name: str) -> None:
    rng = np.random.default_rng(3)
    x, updates = numbers(rng, (4, 3), name), numbers(rng, (2, 3, 3), name)
    if name in ("int32", "int8"):
        x[::2] *= -1
        updates[:, 1] *= -1
    index = np.array([[3, 0, 3], [1, 3, 0]])
    for stepped in (False, True):
        (found,) = newer.operator(
            operator,
            Changed(x, name, stepped),
            Given(index.astype(np.int32), "int32", stepped),
            Given(updates, name, stepped),
            False,
        )
        np.testing.assert_array_equal(found, joined(x, index, updates, ROWS[operator]))


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_numbers_at_the_ends(newer: Chip950) -> None:
    index = Given(np.array([0, 0]), "int64")
    nan = Given(np.array([np.nan, 2], np.float32), "float32")
    for operator in ("scatter_max", "scatter_min"):
        one = Changed(np.ones(1, np.float32), "float32")
        (found,) = newer.operator(operator, one, index, nan, True)
        assert np.isnan(found).all()
    least = Changed(np.array([-(2**31)], np.int32), "int32")
    back = Given(np.array([-1, 1], np.int32), "int32")
    (found,) = newer.operator("scatter_div", least, index, back, False)
    assert found.tolist() == [-(2**31)]
    (found,) = newer.operator(
        "scatter_div", Changed(np.ones(1, np.float32), "float32"), index, nan, False
    )
    assert np.isnan(found).all()
    empty = Given(np.zeros((0, 3), np.float32), "float32")
    same = np.ones((2, 3), np.float32)
    none = Given(np.zeros(0, np.int64), "int64")
    (found,) = newer.operator("scatter_mul", Changed(same, "float32"), none, empty, False)
    np.testing.assert_array_equal(found, same)


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_wrong_calls_of_rows(newer: Chip950) -> None:
    x, row = np.ones((4, 3), np.int32), np.ones((1, 3), np.int32)

    def call(index: int, updates: Array, name: str = "int32") -> Refused:
        answer = newer.operator(
            "scatter_div", Changed(x, "int32"), Given(np.array([index]), "int64"),
            Given(updates, name), False,
        )  # fmt: skip
        assert isinstance(answer, Refused), answer
        return answer

    zero = call(0, np.zeros((1, 3), np.int32))
    assert (zero.status, "updates holds 0" in zero.text) == (507015, True)
    for bad in (4, -1):
        outside = call(bad, row)
        assert (outside.status, f"indices holds {bad}" in outside.text) == (507015, True)
    short = call(0, row[:, :2])
    assert (short.status, "updates" in short.text) == (561002, True)
    other = call(0, row.astype(np.float32), "float32")
    assert (other.status, "updates" in other.text) == (161002, True)


def test_a_910b_lacks_operators_of_a_950() -> None:
    x, index = place(np.ones((4, 3), np.float32)), place(np.array([1]))
    for name in ("Mul", "Div", "Max", "Min"):
        update = place(np.ones((1, 3), np.float32))
        assert refusal("aclnnScatter" + name, x, index, update, False) == 161002
        assert refusal("aclnnScatter" + name, x, None, update, False) == 161001
    line = place(np.ones(3, np.float32))
    assert refusal("aclnnBucketize", x, line, False, False, hollow((4, 3), np.int64)) == 161002
    update, wide = place(np.ones((1, 3), np.float32)), place(np.array([[1, 1, 1]]))
    for reduce, include in ((0, True), (2, True), (6, True), (-1, True), (1, False)):
        assert refusal("aclnnInplaceScatterReduce", x, 0, wide, update, reduce, include) == 161002
        assert refusal("aclnnScatterReduce", x, 0, wide, update, reduce, include, x) == 161002


@pytest.mark.parametrize("layout", ["dense", "stepped", "transposed"])
def test_tf_scatter_add(layout: str) -> None:
    rng = np.random.default_rng(5)
    for name in ("FLOAT", "FLOAT16", "BFLOAT16", "INT32", "INT8", "UINT8"):
        x, updates = (values(rng, shape, NUMPY[name], 0, 9) for shape in ((4, 5, 3), (2, 3, 5, 3)))
        index = rng.integers(0, 4, (2, 3))
        result = place(x, layout)
        op("aclnnTfScatterAdd")(result, place(index, layout), place(updates, layout))
        np.testing.assert_array_equal(result.numpy(), joined(x, index, updates, np.add))
        tuples = np.array([[3, 4], [0, 1], [3, 4], [2, 2]], np.int32)
        result, wanted = place(x, layout), x.copy()
        np.add.at(wanted, tuple(tuples.T), updates[0, :, :4].reshape(-1, 3)[:4])
        part = np.ascontiguousarray(updates[0, :, :4].reshape(-1, 3)[:4])
        op("aclnnTfScatterAdd")(result, place(tuples, layout), place(part, layout))
        np.testing.assert_array_equal(result.numpy(), wanted)


def test_wrong_calls_of_tf_scatter_add() -> None:
    x, update = place(np.zeros((4, 3), np.float32)), place(np.ones((1, 3), np.float32))
    for bad in (4, -1):
        text = fault("aclnnTfScatterAdd", x, place(np.array([bad])), update)
        assert f"indices holds {bad}" in text
    one, call = place(np.array([1])), "aclnnTfScatterAdd"
    assert refusal(call, x, one, place(np.ones((2, 3), np.float32))) == 161002
    assert refusal(call, x, one, None) == 161001
    assert refusal(call, x, one, place(np.ones((1, 3), np.int32))) == 161002
    empty = place(np.zeros((0, 3), np.float32))
    assert refusal(call, empty, one, update) == 161002
    op(call)(empty, place(np.zeros(0, np.int64)), place(np.zeros((0, 3), np.float32)))


@pytest.mark.parametrize("layout", ["dense", "stepped", "transposed"])
def test_scatter_reduce_adds(layout: str) -> None:
    rng = np.random.default_rng(7)
    x, src = rng.integers(-9, 9, (4, 5)).astype(np.float32), np.ones((6, 3), np.float32)
    index = rng.integers(0, 4, (6, 3))
    wanted = x.copy()
    np.add.at(wanted, (index, np.arange(3)), src)
    out, ref = hollow((4, 5), np.float32, layout), place(x, layout)
    op("aclnnScatterReduce")(ref, 0, place(index, layout), place(src, layout), 1, True, out)
    np.testing.assert_array_equal(out.numpy(), wanted)
    np.testing.assert_array_equal(ref.numpy(), x)
    op("aclnnInplaceScatterReduce")(ref, -2, place(index, layout), place(src, layout), 1, True)
    np.testing.assert_array_equal(ref.numpy(), wanted)
    far = place(np.array([[4]]))
    one = place(np.ones((1, 1), np.float32))
    assert "index holds 4" in fault("aclnnInplaceScatterReduce", ref, 0, far, one, 1, True)


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int32", "int8", "uint8"])
@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_scatter_reduce_of_a_950(newer: Chip950, name: str) -> None:
    rng = np.random.default_rng(9)
    x, src = numbers(rng, (3, 4), name), numbers(rng, (3, 3), name)
    index = np.array([[0, 0, 3], [1, 2, 1], [2, 2, 2]])
    for reduce, include in ((0, True), (1, True), (1, False), (2, True), (2, False)):
        wanted = x.copy()
        for row in range(3):
            for column in range(3):
                at = row, index[row, column]
                # 0 replaces; without self the first source is the start.
                first = index[row, column] not in index[row, :column]
                joins: Join = np.add if reduce == 1 else np.multiply
                if reduce == 0 or (first and not include):
                    wanted[at] = src[row, column]
                else:
                    wanted[at] = joins(wanted[at], src[row, column]).astype(x.dtype)
        arguments = (1, Given(index, "int64"), Given(src, name), reduce, include)
        (found,) = newer.operator("inplace_scatter_reduce", Changed(x, name), *arguments)
        np.testing.assert_array_equal(found, wanted)
        (found,) = newer.operator(
            "scatter_reduce", Given(x, name), *arguments, Made((3, 4), name, stepped=True)
        )
        np.testing.assert_array_equal(found, wanted)
    refused = newer.operator("inplace_scatter_reduce", Changed(x, name), *arguments[:3], 5, True)
    assert isinstance(refused, Refused)
    assert (refused.status, "reduce is 5" in refused.text) == (161002, True)


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_bucketize(newer: Chip950) -> None:
    edges = np.array([0, 10, 100], np.float32)
    x = np.array([[-5, 10000, 150], [10, 5, 100], [0, np.inf, np.nan]], np.float32)
    for right in (False, True):
        wanted = np.searchsorted(edges, x, "right" if right else "left")
        for kind in ("int32", "int64"):
            (found,) = newer.operator(
                "bucketize", Given(x, "float32", stepped=True), Given(edges, "float32"),
                kind == "int32", right, Made((3, 3), kind),
            )  # fmt: skip
            np.testing.assert_array_equal(found, wanted)
    large = np.array([2**53, 2**53 + 1])
    (found,) = newer.operator(
        "bucketize", Given(large, "int64"), Given(large, "int64"), False, False, Made((2,), "int64")
    )
    assert found.tolist() == [0, 1]
    none = Given(np.zeros(0, np.float32), "float32")
    for bounds, out in ((none, "int64"), (Given(edges, "float32"), "int32")):
        refused = newer.operator(
            "bucketize", Given(x, "float32"), bounds, False, False, Made((3, 3), out)
        )
        assert isinstance(refused, Refused)
        assert (refused.status, ("boundaries" if bounds is none else "out") in refused.text) == (
            161002,
            True,
        )


def test_rows_may_come_from_the_tensor_they_are_written_to() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    table = place(x)
    op("aclnnScatterNdUpdate")(table, place(np.array([[1], [2]])), table[:2])
    np.testing.assert_array_equal(table.numpy(), x[[0, 0, 1, 3]])
