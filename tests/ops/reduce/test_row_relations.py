# SPDX-License-Identifier: Apache-2.0
"""What binds the arguments of reductions, lists, indices, shapes and orders."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import NUMPY, hollow, op, place, values

import aclnn_py as ap
from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.usefixtures("device")

F, H, B, D = "FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"
I1, I2, I4, I8, U1, U2, U8, T = (
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT64",
    "BOOL",
)
C8 = "COMPLEX64"


def status(operator: str, *arguments: Any) -> int:
    """What phase one answers: "FLOAT" is a tensor of (2, 3), ("FLOAT", shape) one of the shape."""

    def made(argument: Any) -> Any:
        if isinstance(argument, str):
            return hollow((2, 3), NUMPY[argument])
        if isinstance(argument, tuple):
            return hollow(argument[1], NUMPY[argument[0]])
        if isinstance(argument, list) and any(isinstance(a, (str, tuple)) for a in argument):
            return [made(a) for a in argument]
        return argument

    try:
        op("aclnn" + operator)(*[made(a) for a in arguments])
    except AclnnError as error:
        return int(error.status)
    return 0


def scalar(value: Any, name: str) -> Any:
    return ap.ops.Scalar(value, NUMPY[name])


ONE = [((), 0), ((1,), 0), ((1, 1), 161002), ((2,), 161002)]
ALL = [0, 1]


@pytest.mark.parametrize(("shape", "expected"), ONE)
def test_a_result_of_one_element_has_one_dimension_or_none(
    shape: tuple[int, ...], expected: int
) -> None:
    x, out, where = (F, (2, 3)), (F, shape), (I8, shape)
    line = (F, (3,))
    calls: list[tuple[str, list[Any]]] = [
        ("Max", [x, out]),
        ("Min", [x, out]),
        ("Prod", [x, np.float32, out]),
        ("ProdDim", [line, 0, False, np.float32, out]),
        ("ReduceSum", [x, ALL, False, np.float32, out]),
        ("ReduceNansum", [x, ALL, False, np.float32, out]),
        ("Mean", [x, ALL, False, np.float32, out]),
        ("MeanV2", [x, ALL, False, False, out]),
        ("ReduceLogSum", [x, ALL, False, False, out]),
        ("Any", [x, ALL, False, (T, shape)]),
        ("All", [x, ALL, False, (T, shape)]),
        ("ArgMax", [line, 0, False, where]),
        ("ArgMin", [line, 0, False, where]),
        ("MaxDim", [line, 0, False, out, where]),
        ("MinDim", [line, 0, False, out, where]),
        ("Aminmax", [x, ALL, False, out, out]),
        ("AminmaxAll", [x, out, out]),
        ("AminmaxDim", [line, 0, False, out, out]),
        ("Kthvalue", [line, 2, 0, False, out, where]),
        ("SearchSorteds", [line, 1.0, False, False, None, where]),
        ("Diag", [x, 2, out]),
        ("Permute", [(F, (1,)), [0], out]),
        ("Cat", [[(F, (1,))], 0, out]),
        ("Stack", [[(F, ())], 0, out]),
        ("StridedSlice", [line, [1], [2], [1], 0, 0, 0, 0, 0, out]),
        ("SplitTensor", [line, 1, 0, [out, (F, (1,)), (F, (1,))]]),
        ("SplitWithSize", [line, [1, 2], 0, [out, (F, (2,))]]),
        ("Topk", [(F, ()), 1, 0, True, True, out, where]),
        ("IndexSelect", [(F, ()), 0, (I8, (1,)), out]),
    ]
    for operator, arguments in calls:
        assert status(operator, *arguments) == expected, operator


def test_results_of_one_element_that_have_the_rank_of_the_axes() -> None:
    line = (F, (3,))
    for shape, expected in (((), 0), ((1,), 161002)):
        out = (F, shape)
        for operator, arguments in [
            ("Amax", [line, [0], False, out]),
            ("Amin", [line, [0], False, out]),
            ("MaxV2", [line, [0], False, False, out]),
            ("Var", [line, [0], True, False, out]),
            ("Std", [line, [0], 1, False, out]),
            ("LogSumExp", [line, [0], False, out]),
            ("Norm", [line, 2.0, [0], False, out]),
        ]:
            assert status(operator, *arguments) == expected, (operator, shape)


def test_values_of_results_of_one_element() -> None:
    x = np.array([[3.0, -1.0, 2.0], [9.0, 4.0, 7.0]], np.float32)
    line = np.array([5.0, 1.0, 9.0], np.float32)
    one, place_of = np.array([8.0], np.float32), np.array([0])
    for shape in ((), (1,)):
        for expected, operator, arguments in [
            (9, "Max", [place(x)]),
            (24, "ReduceSum", [place(x), ALL, False, np.float32]),
            (2, "Diag", [place(x), 2]),
            (8, "Permute", [place(one), [0]]),
            (8, "Cat", [[place(one)], 0]),
            (8, "Stack", [[place(one[0])], 0]),
            (1, "StridedSlice", [place(line), [1], [2], [1], 0, 0, 0, 0, 0]),
            (8, "IndexSelect", [place(one[0]), 0, place(place_of)]),
        ]:
            out = hollow(shape, np.float32)
            op("aclnn" + operator)(*arguments, out)
            assert out.numpy().tolist() == np.full(shape, expected, np.float32).tolist(), operator
        parts = [hollow(shape, np.float32) for _ in range(3)]
        op("aclnnSplitTensor")(place(line), 1, 0, parts)
        assert [float(part.numpy().reshape(())) for part in parts] == line.tolist()
        found, where = hollow(shape, np.float32), hollow(shape, np.int64)
        op("aclnnKthvalue")(place(line), 2, 0, False, found, where)
        assert (float(found.numpy().reshape(())), int(where.numpy().reshape(()))) == (5.0, 0)


DTYPES = [
    ("Any", [F, ALL, False, (U1, ())], 0),
    ("Amax", [F, [0], False, (H, (3,))], 161002),
    ("MaxV2", [F, [0], False, False, (D, (3,))], 161002),
    ("MaxN", [[F, F], H], 161002),
    ("MinN", [[F, F], H], 161002),
    ("AddN", [[F, F], H], 161002),
    ("Sum", [[F, F], H], 0),
    ("StdMeanCorrection", [F, [0], 1, False, (H, (3,)), (F, (3,))], 161002),
    ("Var", [F, [0], True, False, (H, (3,))], 0),
    ("Sort", [H, True, 0, False, D, I8], 0),
    ("Sort", [F, True, 0, False, I4, I8], 161002),
    ("Sort", [U2, True, 0, False, U2, I8], 161002),
    ("Unique2", [F, True, False, False, (F, (6,)), (I8, (1,)), (I4, (1,))], 161002),
    ("Unique", [F, True, False, (F, (6,)), (I4, (1,))], 161002),
    ("Cat", [[I4, F], 0, (F, (4, 3))], 0),
    ("Cat", [[I4, F], 0, (I4, (4, 3))], 161002),
    ("Cat", [[U2], 0, U2], 161002),
    ("Triu", [C8, 0, C8], 161002),
    ("Tril", [C8, 0, C8], 161002),
    ("Index", [C8, [(I8, (1,))], (C8, (1, 3))], 161002),
    ("IndexAddV2", [I4, 0, (I4, (2,)), I4, scalar(1.5, F), 0, I4], 161002),
    ("IndexAddV2", [F, 0, (I4, (2,)), F, scalar(2, I4), 0, F], 0),
    ("InplaceUniformTensor", [F, 0.0, 1.0, (I8, (1,)), (U8, (1,)), 0], 0),
    ("InplaceNormalTensor", [F, 0.0, 1.0, (U8, (1,)), (I8, (1,)), 0], 161002),
    ("InplaceCopy", [F, D], 0),
    ("Cumprod", [F, scalar(0, I8), np.float32, F], 0),
    ("Cumprod", [F, scalar(0, I1), np.float32, F], 161002),
    ("InplaceMaskedFillScalar", [I4, T, scalar(2.5, F)], 0),
    ("InplaceMaskedFillTensor", [I4, T, (F, ())], 0),
    ("InplaceMaskedFillTensor", [F, T, (F, (1,))], 161002),
    ("Linspace", [scalar(0, I8), scalar(5, I8), 6, (I8, (6,))], 0),
    ("ForeachCopy", [[F, F], [H, H]], 0),
    ("ForeachCopy", [[F, F], [H, D]], 161002),
    ("ForeachCopy", [[F, H], [H, H]], 161002),
    ("ForeachSqrt", [[F, H], [F, H]], 161002),
    ("ForeachPowScalarV2", [[I4], scalar(2, I4), [I4]], 0),
    *[
        (f"Foreach{name}ScalarV2", [[member], scalar(2, number), [member]], expected)
        for name in ("Add", "Sub", "Mul", "Maximum", "Minimum", "Pow")
        for member, number, expected in [
            (F, F, 0),
            (F, D, 0),
            (F, H, 161002),
            (F, I4, 161002),
            (B, F, 0),
            (B, B, 161002),
            (H, H, 0),
            (H, D, 0),
            (H, F, 161002),
            (I4, I4, 0),
            (I4, I8, 0),
            (I4, F, 161002),
        ]
    ],
    ("ForeachLerpScalar", [[H], [H], scalar(0.5, F), [H]], 0),
    ("ForeachLerpScalar", [[H], [H], scalar(0.5, H), [H]], 161002),
    ("ForeachDivScalar", [[F], (D, (1,)), [F]], 0),
    ("ForeachDivScalar", [[H], (F, (1,)), [H]], 161002),
    ("ForeachAddList", [[I4], [I4], (I8, (1,)), [I4]], 0),
]


@pytest.mark.parametrize(
    ("operator", "arguments", "expected"),
    DTYPES,
    ids=[f"{i}-{row[0]}" for i, row in enumerate(DTYPES)],
)
def test_dtypes(operator: str, arguments: list[Any], expected: int) -> None:
    assert status(operator, *arguments) == expected


SHAPES = [
    ("Arange", [0.0, 6.0, 1.0, (F, (2, 3))], 0),
    ("Arange", [0.0, 6.0, 1.0, (F, (2, 2))], 161002),
    ("Range", [0.0, 5.0, 1.0, (F, (3, 2, 1))], 0),
    ("OneHot", [(I4, (2,)), 3, (F, (4,)), (F, (2, 2)), -1, F], 0),
    ("OneHot", [(I4, (2,)), 3, (F, (0,)), (F, (1,)), -1, F], 161002),
    ("Gather", [(F, ()), 0, (I8, ()), (F, ())], 0),
    ("Gather", [(F, (3,)), 0, (I8, ()), (F, ())], 0),
    ("Gather", [(F, ()), 0, (I8, (2,)), (F, (2,))], 0),
    ("Gather", [F, 0, (I8, ()), (F, ())], 161002),
    ("ForeachAddcdivList", [[F, F], [F, F], [F, F], (F, (2, 1)), [F, F]], 0),
    ("ForeachAddcmulList", [[F, F], [F, F], [F, F], (F, (1, 2, 1)), [F, F]], 0),
    ("ForeachAddcmulList", [[F, F], [F, F], [F, F], (F, (2, 2)), [F, F]], 161002),
    ("Embedding", [(F, (4, 3, 2)), (I8, (5,)), (F, (5, 3, 2))], 0),
]


@pytest.mark.parametrize(
    ("operator", "arguments", "expected"), SHAPES, ids=[f"{i}-{r[0]}" for i, r in enumerate(SHAPES)]
)
def test_shapes(operator: str, arguments: list[Any], expected: int) -> None:
    assert status(operator, *arguments) == expected


def test_values_behind_those_shapes() -> None:
    grid = hollow((2, 3), np.float32)
    op("aclnnArange")(1.0, 7.0, 1.0, grid)
    assert_same(grid.numpy(), np.arange(1, 7, dtype=np.float32).reshape(2, 3))
    hot = hollow((2, 3), np.float32)
    on, off = np.array([5, 6, 7], np.float32), np.array([[-1, -2]], np.float32)
    op("aclnnOneHot")(place(np.array([2, 0], np.int32)), 3, place(on), place(off), -1, hot)
    assert hot.numpy().tolist() == [[-1, -1, 5], [5, -1, -1]]
    line = np.array([4.0, 8.0, 2.0], np.float32)
    single = hollow((), np.float32)
    op("aclnnGather")(place(line), 0, place(np.array(1)), single)
    assert float(single.numpy()) == 8.0
    twice = hollow((2,), np.float32)
    op("aclnnGather")(place(line[2]), 0, place(np.array([0, 0])), twice)
    assert twice.numpy().tolist() == [2.0, 2.0]
    from_end = hollow((2,), np.float32)
    op("aclnnGatherV2")(place(line), 0, place(np.array([-1, -3])), from_end)
    assert from_end.numpy().tolist() == [2.0, 4.0]
    members = [np.full((2,), n, np.float32) for n in (1, 2)]
    results = [hollow((2,), np.float32) for _ in members]
    factors = place(np.array([[10.0], [100.0]], np.float32))
    placed = [place(m) for m in members]
    op("aclnnForeachAddcmulList")(placed, placed, placed, factors, results)
    assert [r.numpy().tolist() for r in results] == [[11.0, 11.0], [402.0, 402.0]]


def test_masked_fills_cast_the_value_to_the_filled_tensor() -> None:
    x = np.array([2**62 + 1, 5, 7], np.int64)
    mask = np.array([False, True, False])
    for value in (ap.ops.Scalar(2.75, np.float32), place(np.array(2.75, np.float32))):
        kind = "Tensor" if isinstance(value, ap.Tensor) else "Scalar"
        tensor = place(x)
        op(f"aclnnInplaceMaskedFill{kind}")(tensor, place(mask), value)
        assert tensor.numpy().tolist() == [2**62 + 1, 2, 7]


def test_copies_between_members_of_lists_convert() -> None:
    x = values(np.random.default_rng(3), (5, 70), np.dtype(np.float32), -90.0, 90.0)
    for kind in (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.int32)):
        out = hollow(x.shape, kind)
        op("aclnnForeachCopy")([place(x)], [out])
        assert_same(out.numpy(), x.astype(kind))


@pytest.mark.parametrize("truth", [True, False])
def test_a_truth_value_as_an_index(truth: bool) -> None:
    x = values(np.random.default_rng(4), (3, 4), np.dtype(np.float32), -9.0, 9.0)
    flag = place(np.array(truth))
    expected = x[np.array(truth)]
    out = hollow(expected.shape, np.float32)
    op("aclnnIndex")(place(x), [flag], out)
    assert_same(out.numpy(), expected)
    rows = np.array([2, 0])
    both = x[np.array(truth), rows] if truth else x[np.zeros(0, int)]
    out = hollow(both.shape, np.float32)
    op("aclnnIndex")(place(x), [flag, place(rows if truth else rows[:1])], out)
    assert_same(out.numpy(), both)


def blocked(name: str = F) -> ap.Tensor:
    """A matrix in a private format."""
    return ap.from_numpy(np.ones((16, 16), NUMPY[name]), format="FRACTAL_NZ")


PRIVATE = [
    ("Take", [H, (I8, (2,)), (H, (2,))], 0),
    ("Triu", [H, 0, H], 0),
    ("InplaceTriu", [H, 0], 0),
    ("Cast", [H, np.float32, F], 0),
    ("ConstantPadNd", [H, [0, 0], 0.0, H], 0),
    ("IndexSelect", [H, 0, (I8, (16,)), H], 0),
    ("Index", [H, [(I8, (16,))], H], 0),
    ("IndexAdd", [H, 0, (I8, (16,)), H, 1.0, H], 0),
    ("ArgMin", [H, 0, False, (I8, (16,))], 0),
    ("Argsort", [H, 0, False, I8], 0),
    ("Topk", [H, 16, 0, True, True, H, I8], 0),
    ("All", [H, ALL, False, (T, ())], 0),
    ("LogSumExp", [H, [0], False, (H, (16,))], 0),
    ("Cumprod", [H, 0, np.float16, H], 0),
    ("InplaceCumprod", [H, 0], 0),
]


@pytest.mark.parametrize(
    ("operator", "arguments", "position"), PRIVATE, ids=[r[0] for r in PRIVATE]
)
def test_private_formats_are_refused(operator: str, arguments: list[Any], position: int) -> None:
    def made(argument: Any) -> Any:
        if isinstance(argument, str):
            return hollow((16, 16), NUMPY[argument])
        if isinstance(argument, tuple):
            return hollow(argument[1], NUMPY[argument[0]])
        return [made(a) for a in argument] if isinstance(argument, list) else argument

    plain = [made(a) for a in arguments]
    plain[position] = place(np.ones((16, 16), np.float16))
    index = [i for i, a in enumerate(arguments) if a == (I8, (16,))]
    for i in index:
        if operator in ("IndexSelect", "IndexAdd"):
            plain[i] = place(np.arange(16))
    if operator == "Take":
        plain[1] = place(np.array([0, 1]))
    if operator == "Index":
        plain[1] = [place(np.arange(16))]
    op("aclnn" + operator)(*plain)
    ap.synchronize()
    plain[position] = blocked(H)
    with pytest.raises(AclnnError, match="private format FRACTAL_NZ") as caught:
        op("aclnn" + operator)(*plain)
    assert caught.value.status == 161002


def test_private_formats_in_lists_are_refused() -> None:
    x, nz = hollow((16, 16), np.float16), blocked(H)
    for operator, rest in [
        ("Cat", [0, hollow((32, 16), np.float16)]),
        ("ForeachMulScalarV2", [2.0, [x, x]]),
        ("ForeachSqrt", [[x, x]]),
        ("ForeachCopy", [[x, x]]),
        ("AddN", [x]),
    ]:
        assert status(operator, [x, x], *rest) == 0, operator
        assert status(operator, [nz, x], *rest) == 161002, operator
    assert status("ForeachExp", [nz], [x]) != 161001  # its phase one does not ask


def test_formats_of_input_and_result_agree() -> None:
    image, plain = (
        ap.empty((1, 2, 3, 3), np.float32, format="NCHW"),
        hollow((1, 2, 3, 3), np.float32),
    )
    for operator, arguments in [
        ("Triu", [image, 0]),
        ("ConstantPadNd", [image, [0, 0], 0.0]),
        ("Cat", [[image], 0]),
    ]:
        assert status(operator, *arguments, plain) == 161002, operator
        same = ap.empty((1, 2, 3, 3), np.float32, format="NCHW")
        assert status(operator, *arguments, same) == 0, operator
