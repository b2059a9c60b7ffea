# SPDX-License-Identifier: Apache-2.0
"""Reductions, positions of extremes and running results against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
    wide,
)

import aclnn_py as ap
from aclnn_py.operators.describe.scalar import Scalar

pytestmark = pytest.mark.usefixtures("device")


@dataclass(frozen=True)
class Reduction:
    """A reduction over axes. ``form``: D dims array, d one dim, k keep, t dtype, n noop, i integer.

    ``result`` is the dtype of the result ("" for that of the tensor). ``nothing`` says whether an
    empty reduction has a result.
    """

    operator: str
    formula: Callable[..., Any]
    form: str
    result: str = ""
    nothing: bool = True
    numbers: tuple[Any, ...] = ()
    domain: tuple[float, float] = (-3.0, 3.0)
    refused: frozenset[str] = frozenset()


def log_sum_exp(x: Any, axis: Any, keepdims: bool) -> Any:
    return np.log(np.sum(np.exp(x.astype(np.float64)), axis=axis, keepdims=keepdims))


def mean(x: Any, axis: Any, keepdims: bool) -> Any:
    total = np.mean(x, axis=axis, keepdims=keepdims)
    return np.trunc(total) if x.dtype.kind in "iu" else total


def norm(p: float) -> Callable[..., Any]:
    def formula(x: Any, axis: Any, keepdims: bool) -> Any:
        size = np.abs(x)
        if np.isinf(p):
            return np.max(size, axis=axis, keepdims=keepdims)
        return np.sum(size**p, axis=axis, keepdims=keepdims) ** (1 / p)

    return formula


def moment(function: Callable[..., Any], ddof: int) -> Callable[..., Any]:
    return lambda x, axis, keepdims: function(x, axis=axis, keepdims=keepdims, ddof=ddof)


REDUCTIONS = [
    Reduction("ReduceSum", np.sum, "Dkt"),
    Reduction("ReduceNansum", np.nansum, "Dkt"),
    Reduction("Mean", mean, "Dkt"),
    Reduction("MeanV2", mean, "Dkn", numbers=(False,)),
    Reduction(
        "ReduceLogSum",
        lambda x, axis, keepdims: np.log(np.sum(x, axis=axis, keepdims=keepdims)),
        "Dkn",
        numbers=(False,),
        domain=(0.5, 3.0),
    ),
    Reduction("ProdDim", np.prod, "dkt", domain=(-1.5, 1.5)),
    Reduction("Amax", np.max, "Dk", nothing=False),
    Reduction("Amin", np.min, "Dk", nothing=False),
    Reduction("MaxV2", np.max, "Dkn", nothing=False, numbers=(False,)),
    Reduction("Any", np.any, "Dk", "BOOL"),
    Reduction("All", np.all, "Dk", "BOOL"),
    Reduction("LogSumExp", log_sum_exp, "Dk", "FLOAT"),
    Reduction("Var", moment(np.var, 1), "Dik", numbers=(True,)),
    Reduction("VarCorrection", moment(np.var, 0), "Dik", numbers=(0,)),
    Reduction("Std", moment(np.std, 1), "Dik", numbers=(1,)),
    Reduction("Norm", norm(2), "sDk", numbers=(2.0,)),
    Reduction("LinalgVectorNorm", norm(3), "sDkt", numbers=(3.0,)),
]
by_operator = pytest.mark.parametrize("case", REDUCTIONS, ids=lambda case: case.operator)


def arguments(case: Reduction, axes: tuple[int, ...], keep: bool, dtype: Any) -> list[Any]:
    numbers = iter(case.numbers)
    made = {"D": lambda: list(axes), "d": lambda: axes[0], "k": lambda: keep, "t": lambda: dtype}
    return [made[kind]() if kind in made else next(numbers) for kind in case.form]


def run(case: Reduction, array: Any, axes: tuple[int, ...], keep: bool, layout: str) -> None:
    dtype = NUMPY[case.result] if case.result else array.dtype
    every = axes or tuple(range(array.ndim))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a variance of one element is NaN
        expected = np.asarray(case.formula(wide(array), axis=every or None, keepdims=keep))
    out = hollow(expected.shape, dtype, layout)
    op("aclnn" + case.operator)(place(array, layout), *arguments(case, axes, keep, dtype), out)
    what = f"{case.operator} {array.dtype} {array.shape} over {axes} {layout}"
    if dtype.kind in "iub":
        whole = expected.astype(np.int64) if expected.dtype.kind == "f" else expected
        assert_same(out.numpy(), whole.astype(dtype), what)
    else:
        assert_close(out.numpy(), expected, scale=2, what=what)


def axes_for(case: Reduction) -> list[tuple[int, ...]]:
    if "d" in case.form:
        return [(0,), (-1,), (1,)]
    return [(0,), (-1,), (0, 2), (1,), (0, 1, 2), ()]


def supported(case: Reduction) -> frozenset[str]:
    names = accepted_dtypes("aclnn" + case.operator, 0)
    if not case.result:
        names &= accepted_dtypes("aclnn" + case.operator, len(case.form) + 1)
    return names - case.refused


@by_operator
def test_dtypes_axes_and_layouts(case: Reduction) -> None:
    rng = np.random.default_rng(11)
    for name in sorted(supported(case)):
        array = values(rng, (5, 6, 7), NUMPY[name], *case.domain)
        for layout in LAYOUTS:
            for axes in axes_for(case):
                run(case, array, axes, layout == "dense", layout)


@by_operator
def test_long_rows_long_columns_and_odd_shapes(case: Reduction) -> None:
    rng = np.random.default_rng(12)
    short = case.operator == "ProdDim"
    for shape in [(3, 1000), (1000, 300), (2, 200_000), (4, 1), (1, 1, 1)]:
        if short and np.prod(shape) > 4000:
            continue
        array = values(rng, shape, np.dtype(np.float32), *case.domain)
        for axis in range(len(shape)):
            run(case, array, (axis,), False, "dense")
    if "d" not in case.form:
        run(case, values(rng, (), np.dtype(np.float32), *case.domain), (), False, "dense")
    run(case, values(rng, (0, 4), np.dtype(np.float32), *case.domain), (1,), False, "dense")


@by_operator
def test_empty_reductions(case: Reduction) -> None:
    array = np.zeros((4, 0), np.float32)
    if case.nothing:
        out = hollow((4,), NUMPY[case.result] if case.result else np.float32)
        op("aclnn" + case.operator)(place(array), *arguments(case, (1,), False, out.dtype), out)
        with np.errstate(all="ignore"):
            if case.operator.startswith(("Var", "Std", "Mean")):
                expected = np.full(4, np.nan)
            else:
                expected = np.asarray(case.formula(wide(array), axis=1, keepdims=False))
        np.testing.assert_array_equal(out.numpy().astype(np.float64), expected.astype(np.float64))
    else:
        out = hollow((4,), np.float32)
        given = arguments(case, (1,), False, np.float32)
        assert refusal("aclnn" + case.operator, place(array), *given, out) == 161002


@by_operator
def test_refusals(case: Reduction) -> None:
    operator = "aclnn" + case.operator
    dtype = NUMPY[case.result] if case.result else np.dtype(np.float32)
    x = hollow((4, 5), np.float32)
    good = arguments(case, (1,), False, dtype)
    assert refusal(operator, None, *good, hollow((4,), dtype)) == 161001
    assert refusal(operator, x, *good, None) == 161001
    assert refusal(operator, x, *good, hollow((5,), dtype)) == 161002
    assert refusal(operator, x, *good, hollow((4, 1), dtype)) == 161002
    beyond = arguments(case, (2,), False, dtype)
    assert refusal(operator, x, *beyond, hollow((4,), dtype)) == 161002
    if "D" in case.form:
        twice = arguments(case, (1, -1), False, dtype)
        assert refusal(operator, x, *twice, hollow((4,), dtype)) == 161002
    for name in sorted(frozenset(NUMPY) - accepted_dtypes(operator, 0)):
        wrong = hollow((4, 5), NUMPY[name])
        assert refusal(operator, wrong, *good, hollow((4,), dtype)) == 161002, name


def test_sum_accumulates_wide_and_rounds_once() -> None:
    ones = np.ones(5000, np.float16)
    out = hollow((), np.float16)
    op("aclnnReduceSum")(place(ones), [0], False, np.float16, out)
    assert float(out.numpy()) == 5000.0
    big = np.array([1e8, 1.0, -1e8], np.float32)
    out = hollow((), np.float32)
    op("aclnnReduceSum")(place(big), [0], False, np.float32, out)
    assert float(out.numpy()) == 1.0
    bytes_ = np.full(300, 100, np.int8)
    narrow, roomy = hollow((), np.int8), hollow((), np.int32)
    op("aclnnReduceSum")(place(bytes_), [0], False, np.int8, narrow)
    op("aclnnReduceSum")(place(bytes_), [0], False, np.int32, roomy)
    assert int(narrow.numpy()) == np.int64(30000).astype(np.int8)
    assert int(roomy.numpy()) == 30000


def test_the_same_bits_whatever_the_layout() -> None:
    array = np.random.default_rng(3).standard_normal((64, 70_000)).astype(np.float32)
    sums = []
    for layout in LAYOUTS:
        out = hollow((64,), np.float32)
        op("aclnnReduceSum")(place(array, layout), [1], False, np.float32, out)
        sums.append(out.numpy())
    assert_same(sums[0], sums[2])
    assert_close(sums[0], array.astype(np.float64).sum(1), scale=8)
    assert_close(sums[1], sums[0])


def test_maxima_and_sums_pass_nan_and_infinity_on() -> None:
    rows = np.array([[1, np.nan, 2], [np.inf, 1, -np.inf], [-np.inf, -np.inf, -np.inf]], np.float32)
    out = hollow((3,), np.float32)
    op("aclnnAmax")(place(rows), [1], False, out)
    assert_same(out.numpy(), np.array([np.nan, np.inf, -np.inf], np.float32))
    op("aclnnReduceNansum")(place(rows), [1], False, np.float32, out)
    assert_same(out.numpy(), np.array([3, np.nan, -np.inf], np.float32))
    op("aclnnLogSumExp")(place(rows), [1], False, out)
    assert_same(out.numpy(), np.array([np.nan, np.inf, -np.inf], np.float32))


@pytest.mark.parametrize("name", ["FLOAT", "FLOAT16", "INT32", "INT64", "BOOL", "UINT8"])
def test_reductions_of_everything(name: str) -> None:
    array = values(np.random.default_rng(4), (9, 70), NUMPY[name], -50.0, 50.0)
    high, low = hollow((), NUMPY[name]), hollow((), NUMPY[name])
    op("aclnnMax")(place(array, "transposed"), high)
    op("aclnnMin")(place(array, "stepped"), low)
    assert_same(high.numpy(), array.max())
    assert_same(low.numpy(), array.min())
    op("aclnnAminmaxAll")(place(array), high, low)
    assert_same(high.numpy(), array.min())
    assert_same(low.numpy(), array.max())
    small, large = hollow((9,), NUMPY[name]), hollow((9,), NUMPY[name])
    op("aclnnAminmaxDim")(place(array), 1, False, small, large)
    assert_same(small.numpy(), array.min(1))
    op("aclnnAminmax")(place(array), [1], False, small, large)
    assert_same(large.numpy(), array.max(1))
    signs = np.where(values(np.random.default_rng(4), (40,), np.dtype(np.int8), 0, 1) == 0, 1, -1)
    product = hollow((), NUMPY["INT32"])
    op("aclnnProd")(place(signs.astype(np.int32)), np.int32, product)
    assert int(product.numpy()) == int(np.prod(signs))


def test_variance_with_mean() -> None:
    array = values(np.random.default_rng(4), (6, 500), np.dtype(np.float32), -3.0, 3.0)
    for operator, function in (("aclnnVarMean", np.var), ("aclnnStdMeanCorrection", np.std)):
        spread, centre = hollow((6,), np.float32), hollow((6,), np.float32)
        op(operator)(place(array), [1], 1, False, spread, centre)
        assert_close(spread.numpy(), function(array.astype(np.float64), axis=1, ddof=1))
        assert_close(centre.numpy(), array.astype(np.float64).mean(1))
        assert refusal(operator, place(array), [1], 1, False, spread, None) == 161001


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_positions_of_extremes(layout: str, dim: int) -> None:
    rng = np.random.default_rng(7)
    for name in ("FLOAT", "FLOAT16", "INT32", "INT64"):
        array = values(rng, (8, 300), NUMPY[name], -20.0, 20.0)
        axis = dim % 2
        for index in (np.int32, np.int64):
            place_out = hollow(np.delete(array.shape, axis), index)
            op("aclnnArgMax")(place(array, layout), dim, False, place_out)
            assert_same(place_out.numpy(), array.argmax(axis).astype(index))
            op("aclnnArgMin")(place(array, layout), dim, False, place_out)
            assert_same(place_out.numpy(), array.argmin(axis).astype(index))
        if name not in accepted_dtypes("aclnnMaxDim", 0):
            continue
        kept = tuple(1 if i == axis else n for i, n in enumerate(array.shape))
        found, where = hollow(kept, NUMPY[name]), hollow(kept, np.int64)
        op("aclnnMaxDim")(place(array, layout), dim, True, found, where)
        assert_same(found.numpy(), array.max(axis, keepdims=True))
        assert_same(where.numpy(), array.argmax(axis, keepdims=True))
        op("aclnnMinDim")(place(array, layout), dim, True, found, where)
        assert_same(found.numpy(), array.min(axis, keepdims=True))
    with_nan = np.array([[1, np.nan, 9, np.nan]], np.float32)
    first = hollow((1,), np.int64)
    op("aclnnArgMax")(place(with_nan), 1, False, first)
    assert int(first.numpy()[0]) == 1


def test_position_refusals() -> None:
    x, out = hollow((4, 5), np.float32), hollow((4,), np.int64)
    assert refusal("aclnnArgMax", None, 1, False, out) == 161001
    assert refusal("aclnnArgMax", x, 2, False, out) == 161002
    assert refusal("aclnnArgMax", x, 1, False, hollow((4,), np.float32)) == 161002
    assert refusal("aclnnArgMax", hollow((4, 5), np.bool_), 1, False, out) == 161002
    assert refusal("aclnnArgMax", hollow((4, 0), np.float32), 1, False, out) == 161002
    assert refusal("aclnnMaxDim", x, 1, False, hollow((4,), np.float16), out) == 161002


@pytest.mark.parametrize("layout", LAYOUTS)
def test_running_sums_and_products(layout: str) -> None:
    rng = np.random.default_rng(9)
    for name in ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT8", "INT32", "INT64", "COMPLEX64"):
        array = values(rng, (4, 300), NUMPY[name], -1.0, 1.0)
        for dim in (0, 1):
            out = hollow(array.shape, NUMPY[name], layout)
            op("aclnnCumsum")(place(array, layout), dim, NUMPY[name], out)
            check_running(out.numpy(), np.cumsum(wide(array), axis=dim))
            if name == "COMPLEX64":
                continue
            op("aclnnCumprod")(place(array, layout), np.int32(dim), NUMPY[name], out)
            check_running(out.numpy(), np.cumprod(wide(array), axis=dim))
            x = place(array, layout)
            op("aclnnInplaceCumprod")(x, np.int32(dim))
            check_running(x.numpy(), np.cumprod(wide(array), axis=dim))


def check_running(result: Any, expected: Any) -> None:
    if result.dtype.kind in "iu":
        assert_same(result, expected.astype(result.dtype))
    else:
        assert_close(result, expected, scale=4)


def test_exclusive_and_reversed_sums() -> None:
    array = np.arange(1, 301, dtype=np.int32).reshape(3, 100)
    x, out = place(array), hollow(array.shape, np.int32)
    op("aclnnCumsumV2")(x, 1, True, False, out)
    assert_same(out.numpy(), (np.cumsum(array, 1) - array).astype(np.int32))
    backwards = np.cumsum(array[:, ::-1], 1)[:, ::-1]
    op("aclnnCumsumV2")(x, 1, False, True, out)
    assert_same(out.numpy(), backwards.astype(np.int32))
    op("aclnnCumsumV2")(x, 1, True, True, out)
    assert_same(out.numpy(), (backwards - array).astype(np.int32))


def test_running_extremes_keep_the_last_of_equals() -> None:
    array = np.array([[1, 3, 3, 2, 5], [4, 4, 1, 4, 0]], np.float32)
    found, where = hollow(array.shape, np.float32), hollow(array.shape, np.int64)
    op("aclnnCummax")(place(array), 1, found, where)
    assert_same(found.numpy(), np.maximum.accumulate(array, 1))
    assert_same(where.numpy(), np.array([[0, 1, 2, 2, 4], [0, 1, 1, 3, 3]]))
    op("aclnnCummin")(place(array), 1, found, where)
    assert_same(found.numpy(), np.minimum.accumulate(array, 1))
    assert_same(where.numpy(), np.array([[0, 0, 0, 0, 0], [0, 1, 2, 2, 4]]))


def test_running_refusals() -> None:
    x = hollow((4, 5), np.float32)
    assert refusal("aclnnCumsum", x, 2, np.float32, hollow((4, 5), np.float32)) == 161002
    assert refusal("aclnnCumsum", x, 1, np.float32, hollow((4, 5), np.float16)) == 161002
    assert refusal("aclnnCumsum", x, 1, np.float32, hollow((5, 4), np.float32)) == 161002
    assert refusal("aclnnCumsum", None, 1, np.float32, hollow((4, 5), np.float32)) == 161001


LISTS = [
    ("aclnnSum", np.sum),
    ("aclnnAddN", np.sum),
    ("aclnnMaxN", np.max),
    ("aclnnMinN", np.min),
]


@pytest.mark.parametrize(("operator", "function"), LISTS, ids=[name for name, _ in LISTS])
def test_reductions_of_lists(operator: str, function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(13)
    for name in sorted(
        accepted_dtypes(operator, 0) & {"FLOAT", "FLOAT16", "BFLOAT16", "INT32", "INT8"}
    ):
        shapes = [(4, 300), (300,), (4, 1), ()]
        arrays = [values(rng, shape, NUMPY[name], -20.0, 20.0) for shape in shapes]
        out = hollow((4, 300), NUMPY[name], "stepped")
        op(operator)([place(array) for array in arrays], out)
        stacked = np.stack([np.broadcast_to(wide(array), (4, 300)) for array in arrays])
        expected = function(stacked, axis=0)
        if NUMPY[name].kind == "i":
            assert_same(out.numpy(), expected.astype(NUMPY[name]))
        else:
            assert_close(out.numpy(), expected)
        first = place(arrays[0])
        op(operator)([first, place(arrays[0])], first)  # the result may be a member
        expected = function(np.stack([wide(arrays[0])] * 2), axis=0)
        if NUMPY[name].kind == "f":
            assert_close(first.numpy(), expected)
    x = hollow((4, 5), np.float32)
    assert refusal(operator, None, x) == 161001
    assert refusal(operator, [x], None) == 161001
    assert refusal(operator, [], x) == 161002
    assert refusal(operator, [x, hollow((4, 5), np.float16)], x) == 161002
    assert refusal(operator, [x, hollow((4, 6), np.float32)], x) == 161002
    assert refusal(operator, [x], hollow((5, 4), np.float32)) == 161002
    assert refusal(operator, [hollow((4, 5), np.complex64)], x) == 161002


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn"])
def test_a_scalar_of_eight_bits_has_its_value(name: str) -> None:
    x, out = place(np.array([3.0, -4.0], np.float32)), hollow((), np.float32)
    ap.ops.norm(x, Scalar(1.0, name), [0], False, out)
    assert out.numpy() == 7


@pytest.mark.parametrize("place_of_nan", [None, 0, 63, 700, 1024, 2999])
def test_extremes_of_long_rows(place_of_nan: int | None) -> None:
    rng = np.random.default_rng(8)
    rows = rng.standard_normal((3, 3000)).astype(np.float32)
    rows[2] = -np.inf
    if place_of_nan is not None:
        rows[1, place_of_nan] = np.nan
    low, high = hollow((3,), np.float32), hollow((3,), np.float32)
    op("aclnnAmax")(place(rows), [1], False, high)
    op("aclnnAmin")(place(rows), [1], False, low)
    assert_same(high.numpy(), rows.max(1))
    assert_same(low.numpy(), rows.min(1))
    both = hollow((), np.float32)
    op("aclnnMax")(place(rows), both)
    assert_same(both.numpy(), rows.max())


@pytest.mark.parametrize("dtype", ["FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT32", "INT64"])
@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 63, 64, 65, 200, 1023, 1025, 4100])
def test_extremes_of_rows_of_any_length(dtype: str, width: int) -> None:
    rng = np.random.default_rng(width)
    rows = rng.integers(-90, 90, (19, width)).astype(NUMPY[dtype])
    if not dtype.startswith("INT"):
        for row in rows[3:12]:
            row[rng.integers(width)] = rng.choice([np.inf, -np.inf, np.nan])
        rows[12], rows[13] = np.inf, -np.inf
    given = place(rows)
    for name, extreme in (("aclnnAmax", np.max), ("aclnnAmin", np.min)):
        if dtype in accepted_dtypes(name, 0):
            out = hollow((19,), rows.dtype)
            op(name)(given, [1], False, out)
            assert_same(out.numpy(), extreme(wide(rows), 1).astype(rows.dtype))
    for name, find in (("aclnnArgMax", np.argmax), ("aclnnArgMin", np.argmin)):
        if dtype in accepted_dtypes(name, 0):
            where = hollow((19,), np.int64)
            op(name)(given, 1, False, where)
            assert_same(where.numpy(), find(wide(rows), 1))


@pytest.mark.parametrize("width", [5, 64, 100, 1024, 3000, 200_000])
def test_the_first_of_zeros_is_the_extreme_and_gives_it_its_sign(width: int) -> None:
    rows = np.full((2, width), -1, np.float32)
    rows[0, width // 2 :: 3], rows[1, width // 2 :: 3] = 0.0, -0.0
    rows[0, width // 2 + 1 :: 3], rows[1, width // 2 + 1 :: 3] = -0.0, 0.0
    for name, given in (("aclnnAmax", rows), ("aclnnAmin", -rows)):
        out = hollow((2,), np.float32)
        op(name)(place(given), [1], False, out)
        assert not out.numpy().any()
        assert np.signbit(out.numpy()).tolist() == np.signbit(given[:, width // 2]).tolist()
