# SPDX-License-Identifier: Apache-2.0
"""Every elementwise operator against NumPy: dtypes, refusals, layouts, shapes and aliases."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same, is_exact, tolerance
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

from .elementwise_table import CASES, COMPLEX, INTEGER, Case

pytestmark = pytest.mark.usefixtures("device")

by_operator = pytest.mark.parametrize("case", CASES, ids=lambda case: case.operator)


def first_tensor(case: Case) -> int:
    """Position of the tensor whose dtype decides."""
    return case.form.index("t")


def supported(case: Case) -> frozenset[str]:
    """Dtypes the operator computes: those every tensor parameter takes, and the result can hold."""
    operator = "aclnn" + case.operator
    names = frozenset(NUMPY) - case.refused
    for position, kind in enumerate(case.form):
        if kind == "t":
            names &= accepted_dtypes(operator, position)
    out = result_documented(case)
    return frozenset(name for name in names if result_dtype(case, name) in out)


def result_documented(case: Case) -> frozenset[str]:
    operator = "aclnn" + case.operator
    if case.in_place:
        return accepted_dtypes(operator, first_tensor(case))
    return accepted_dtypes(operator, case.form.index("o"))


def result_dtype(case: Case, name: str) -> str:
    """Dtype of the result for tensors of one dtype, as a parameter that takes it exactly."""
    if case.in_place:
        return name
    if case.rule == "bool":
        return "BOOL"
    if case.rule == "float" and (name in INTEGER or name == "BOOL"):
        return "FLOAT"
    if case.rule == "complex":
        return "COMPLEX64"
    if case.operator in {"Abs", "AngleV2", "Real"} and name in COMPLEX:
        return "FLOAT" if name == "COMPLEX64" else "DOUBLE"
    return name


def scalar_for(case: Case, position: int, value: Any, name: str) -> Any:
    """A scalar of the tensor's own dtype, so that it has no say in promotion."""
    if case.form[position] == "n" or case.same:
        return value
    dtype = NUMPY[name]
    return ap.ops.Scalar(dtype.type(value).item(), dtype)


class Call:
    """One call of a case: arrays made at random, the oracle, and the tensors."""

    def __init__(self, case: Case, name: str, shapes: dict[int, tuple[int, ...]]) -> None:
        self.case, self.name = case, name
        rng = np.random.default_rng(zlib.crc32(f"{case.operator} {name}".encode()))
        numbers = iter(case.numbers)
        self.inputs: list[Any] = []
        for position, kind in enumerate(case.form):
            if kind == "m":
                self.inputs.append(rng.integers(0, 2, shapes[position]).astype(np.bool_))
            elif kind == "t":
                self.inputs.append(values(rng, shapes[position], NUMPY[name], *case.domain))
            elif kind in "sn":
                self.inputs.append(next(numbers))
        self.out = NUMPY[result_dtype(case, name)]

    def oracle(self) -> Any:
        """The result in the oracle's own wide dtype."""
        wides = []
        for kind, value in zip(self.case.form, self.inputs, strict=False):
            if kind == "s" and not self.case.same:
                value = wide(np.asarray(value).astype(NUMPY[self.name]))
            wides.append(wide(value) if isinstance(value, np.ndarray) else value)
        if self.name == "BOOL" and self.case.operator.removeprefix("Inplace") not in _LOGIC:
            wides = [_as_integer(value) for value in wides]
        with np.errstate(all="ignore"):
            return self.case.formula(*wides)

    def run(self, layout: str, shape: tuple[int, ...]) -> Any:
        """The result on the device, all tensors in one layout."""
        arguments: list[Any] = []
        inputs = iter(self.inputs)
        out = None
        for position, kind in enumerate(self.case.form):
            if kind == "o":
                out = hollow(shape, self.out, layout)
                arguments.append(out)
                continue
            value = next(inputs)
            if kind in "tm":
                arguments.append(place(value, layout))
            else:
                arguments.append(scalar_for(self.case, position, value, self.name))
        op("aclnn" + self.case.operator)(*arguments)
        return (out if out is not None else arguments[first_tensor(self.case)]).numpy()

    def compare(self, result: Any, what: str) -> None:
        expected = np.asarray(self.oracle())
        what = f"{self.case.operator} {self.name} {what}"
        if self.out.kind in "iub":
            assert_same(result, wrapped(expected, self.out), what)
        elif is_exact(self.case.operator) and self.out.kind != "c":
            assert_same(result, expected.astype(self.out), what)
        else:
            bound = tolerance(self.out)
            assert np.any(bound.relative > 0)
            assert_close(result, expected, scale=self.case.scale, what=what)


# On BOOL these mean logic; the others compute with 0 and 1.
_LOGIC = frozenset(
    {"BitwiseNot", "LogicalNot", "LogicalAnd", "LogicalOr", "LogicalXor", "SWhere"}
    | {f"Bitwise{name}{form}" for name in ("And", "Or", "Xor") for form in ("Tensor", "Scalar")}
    | {"BitwiseAndTensorOut"}
)


def _as_integer(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(np.int64) if array.dtype == np.bool_ else value


def wrapped(values_: Any, dtype: np.dtype[Any]) -> Any:
    """Whole numbers in a dtype, wrapped as integers are; BOOL asks whether they are not zero."""
    if dtype == np.bool_:
        return values_ != 0
    if values_.dtype.kind == "f":
        values_ = values_.astype(np.int64)
    return values_.astype(dtype)


def uniform(case: Case, shape: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    return {i: shape for i, kind in enumerate(case.form) if kind in "tm"}


@by_operator
def test_every_dtype_and_layout_agrees_with_numpy(case: Case) -> None:
    names = supported(case)
    assert names, "the case supports no dtype"
    for name in sorted(names):
        call = Call(case, name, uniform(case, (3, 37)))
        for layout in LAYOUTS:
            call.compare(call.run(layout, (3, 37)), layout)


@by_operator
def test_refusals(case: Case) -> None:
    refuses_other_dtypes(case)
    refuses_nulls_and_shapes(case)


def refuses_other_dtypes(case: Case) -> None:
    accepted = supported(case)
    operator = "aclnn" + case.operator
    for name in sorted(frozenset(NUMPY) - accepted):
        if case.in_place:
            out = name
        elif case.rule == "bool":
            out = "BOOL"
        else:
            out = name if name in result_documented(case) else min(result_documented(case))
        arguments = []
        numbers = iter(case.numbers)
        for position, kind in enumerate(case.form):
            if kind == "t":
                arguments.append(hollow((2, 3), NUMPY[name]))
            elif kind == "m":
                arguments.append(hollow((2, 3), np.bool_))
            elif kind == "o":
                arguments.append(hollow((2, 3), NUMPY[out]))
            else:
                arguments.append(scalar_for(case, position, next(numbers), name))
        if name in accepted_dtypes(operator, first_tensor(case)) and name not in case.refused:
            continue  # taken with a result of another dtype, which the promotion tests cover
        assert refusal(operator, *arguments) == 161002, f"{case.operator} {name}"


UNUSUAL = [(), (0,), (2, 0, 3), (1,), (2, 1, 3, 1, 2, 1, 2, 2)]


@by_operator
def test_unusual_shapes_broadcast_and_aliases(case: Case) -> None:
    for shape in UNUSUAL:
        call = Call(case, usual(case), uniform(case, shape))
        call.compare(call.run("dense", shape), str(shape))
    if sum(kind in "tm" for kind in case.form) > 1 and not case.one_shape:
        broadcasts(case)
    if not case.in_place and case.rule not in {"bool", "complex"}:
        takes_an_operand_as_result(case)


def usual(case: Case) -> str:
    """A dtype nearly every operator takes, with a result of the same dtype where there is one."""
    names = supported(case) & {"FLOAT", "INT32"}
    return min(names, key=lambda name: (result_dtype(case, name) != name, name))


def refuses_nulls_and_shapes(case: Case) -> None:
    operator = "aclnn" + case.operator
    name = usual(case)
    numbers = iter(case.numbers)
    good: list[Any] = []
    for position, kind in enumerate(case.form):
        if kind == "o":
            good.append(hollow((2, 3), NUMPY[result_dtype(case, name)]))
        elif kind in "tm":
            good.append(hollow((2, 3), np.bool_ if kind == "m" else NUMPY[name]))
        else:
            good.append(scalar_for(case, position, next(numbers), name))
    for position, kind in enumerate(case.form):
        if kind in "tmo" and position not in case.optional:
            code = refusal(operator, *[None if i == position else a for i, a in enumerate(good)])
            assert code == 161001, f"{case.operator} parameter {position} null"
    if not case.in_place:
        position = case.form.index("o")
        out = hollow((3, 2), NUMPY[result_dtype(case, name)])
        code = refusal(operator, *[out if i == position else a for i, a in enumerate(good)])
        assert code == 161002
    if sum(kind in "tm" for kind in case.form) > 1:
        last = max(i for i, kind in enumerate(case.form) if kind in "tm")
        other = hollow((2, 4), np.bool_ if case.form[last] == "m" else NUMPY[name])
        code = refusal(operator, *[other if i == last else a for i, a in enumerate(good)])
        assert code == 161002


def broadcasts(case: Case) -> None:
    positions = [i for i, kind in enumerate(case.form) if kind in "tm"]
    shapes = dict.fromkeys(positions, (5, 300))
    shapes[positions[-1]] = (300,)
    if not case.in_place:
        shapes[positions[0]] = (5, 1)
        if len(positions) == 2:
            shapes[positions[1]] = (2, 1, 300)
    shape = np.broadcast_shapes(*shapes.values())
    call = Call(case, usual(case), shapes)
    call.compare(call.run("dense", shape), "broadcast")


def takes_an_operand_as_result(case: Case) -> None:
    name = usual(case)
    for aliased in [i for i, kind in enumerate(case.form) if kind == "t"]:
        call = Call(case, name, uniform(case, (7, 90)))
        arguments: list[Any] = []
        inputs = iter(call.inputs)
        for position, kind in enumerate(case.form):
            if kind == "o":
                arguments.append(arguments[aliased])
                continue
            value = next(inputs)
            placed = place(value) if kind in "tm" else scalar_for(case, position, value, name)
            arguments.append(placed)
        op("aclnn" + case.operator)(*arguments)
        call.compare(arguments[aliased].numpy(), f"aliased {aliased}")


def test_special_values() -> None:
    inf, nan = np.inf, np.nan
    x = place(np.array([nan, inf, -inf, 1.5], np.float32))
    out = hollow((4,), np.float32)
    op("aclnnNanToNum")(x, 0.5, 2.0, -2.0, out)
    assert_same(out.numpy(), np.array([0.5, 2.0, -2.0, 1.5], np.float32))
    itself = place(np.array([nan, inf, -inf, 1.5], np.float32))
    op("aclnnInplaceNanToNum")(itself, 0.5, 2.0, -2.0)
    assert_same(itself.numpy(), out.numpy())
    y = place(np.array([nan, inf, 3.0, 1.5], np.float32))
    same = hollow((4,), np.bool_)
    op("aclnnIsClose")(x, y, 1e-5, 1e-8, True, same)
    assert_same(same.numpy(), np.array([True, True, False, True]))
    for name, expected in [
        ("Maximum", np.maximum(x.numpy(), y.numpy())),
        ("Minimum", np.minimum(x.numpy(), y.numpy())),
    ]:
        op("aclnn" + name)(x, y, out)
        assert_same(out.numpy(), expected)
    op("aclnnRelu")(x, out)
    assert_same(out.numpy(), np.array([nan, inf, 0, 1.5], np.float32))
    ties = place(np.array([0.5, 1.5, 2.5, -2.5], np.float32))
    op("aclnnRound")(ties, out)
    assert_same(out.numpy(), np.array([0, 2, 2, -2], np.float32))


def test_integer_division_by_zero_gives_zero() -> None:
    x = place(np.array([7, -7, 0, -(2**31)], np.int32))
    zero = place(np.array([0, 0, 0, -1], np.int32))
    out = hollow((4,), np.int32)
    for operator in ("aclnnFloorDivide", "aclnnFmodTensor", "aclnnRemainderTensorTensor"):
        op(operator)(x, zero, out)
        last = -(2**31) if operator == "aclnnFloorDivide" else 0
        assert_same(out.numpy(), np.array([0, 0, 0, last], np.int32))


def test_narrow_sums_wrap_before_they_are_compared_with_zero() -> None:
    for kind, left, right, expected in [
        (np.int8, 127, 1, 0),
        (np.int16, -(2**15), -1, 2**15 - 1),
        (np.uint8, 3, 5, 254),
        (np.int32, 2**31 - 1, 1, 0),
    ]:
        x, out = place(np.array([left], kind)), hollow((1,), kind)
        alpha = ap.ops.Scalar(-1 if kind == np.uint8 else 1, np.int32)
        op("aclnnAddRelu")(x, place(np.array([right], kind)), alpha, out)
        assert_same(out.numpy(), np.array([expected], kind))
        op("aclnnInplaceAddRelu")(x, place(np.array([right], kind)), alpha)
        assert_same(x.numpy(), np.array([expected], kind))


PARTS = [(np.float32, np.complex64), (np.float64, np.complex128)]


@pytest.mark.parametrize(("part", "whole"), PARTS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_complex_numbers_of_their_parts(part: Any, whole: Any, layout: str) -> None:
    rng = np.random.default_rng(3)
    real = rng.standard_normal((3, 1, 40)).astype(part)
    imaginary = rng.standard_normal((5, 40)).astype(part)
    imaginary[0, :2] = -0.0, np.nan
    out = hollow((3, 5, 40), whole, layout)
    op("aclnnComplex")(place(real, layout), place(imaginary, layout), out)
    result = out.numpy()
    assert_same(result.real, np.broadcast_to(real, result.shape))
    assert_same(result.imag, np.broadcast_to(imaginary, result.shape))
    assert np.signbit(result.imag[:, 0, 0]).all()


def test_complex_takes_parts_of_one_dtype_and_a_result_twice_as_wide() -> None:
    single, double = hollow((2,), np.float32), hollow((2,), np.float64)
    whole = hollow((2,), np.complex64)
    assert refusal("aclnnComplex", single, double, whole) == 161002
    assert refusal("aclnnComplex", double, double, whole) == 161002
    assert refusal("aclnnComplex", single, single, single) == 161002
    assert refusal("aclnnComplex", single, single, hollow((3,), np.complex64)) == 161002
    assert refusal("aclnnComplex", single, hollow((3,), np.float32), whole) == 161002
    assert refusal("aclnnComplex", None, single, whole) == 161001
    for kind in (np.int32, np.bool_, np.complex64):
        other = hollow((2,), kind)
        assert refusal("aclnnComplex", other, other, whole) == 161002


PROMOTIONS = [
    ("INT8", "UINT8", "INT16"),
    ("INT32", "INT64", "INT64"),
    ("INT32", "FLOAT16", "FLOAT16"),
    ("FLOAT16", "BFLOAT16", "FLOAT"),
    ("FLOAT", "DOUBLE", "DOUBLE"),
    ("BOOL", "INT8", "INT8"),
    ("FLOAT", "COMPLEX64", "COMPLEX64"),
    ("DOUBLE", "COMPLEX64", "COMPLEX128"),
]


@pytest.mark.parametrize(("left", "right", "meet"), PROMOTIONS)
def test_tensors_of_two_dtypes_meet_in_a_third(left: str, right: str, meet: str) -> None:
    rng = np.random.default_rng(2)
    x, y = (values(rng, (4, 90), NUMPY[name], -30.0, 30.0) for name in (left, right))
    out = hollow((4, 90), NUMPY[meet])
    op("aclnnMul")(place(x), place(y), out)
    product = wide(x.astype(NUMPY[meet])) * wide(y.astype(NUMPY[meet]))
    if NUMPY[meet].kind in "iu":
        assert_same(out.numpy(), product.astype(NUMPY[meet]))
    else:
        assert_close(out.numpy(), product)


def test_a_result_is_rounded_to_the_promoted_dtype_before_the_cast() -> None:
    x = place(np.array([2049.0], np.float16))
    out = hollow((1,), np.float32)
    op("aclnnAdd")(x, place(np.array([1.0], np.float16)), 1, out)
    assert float(out.numpy()[0]) == 2048.0
    small = hollow((1,), np.int32)
    op("aclnnAdd")(place(np.array([127], np.int8)), place(np.array([1], np.int8)), 1, small)
    assert int(small.numpy()[0]) == -128


def test_results_never_lose_their_kind() -> None:
    real, whole = hollow((4,), np.float32), hollow((4,), np.int32)
    truth, imaginary = hollow((4,), np.bool_), hollow((4,), np.complex64)
    assert refusal("aclnnAdd", real, real, 1, whole) == 161002
    assert refusal("aclnnAdd", whole, whole, 1, truth) == 161002
    assert refusal("aclnnAdd", imaginary, imaginary, 1, real) == 161002
    assert refusal("aclnnAdd", whole, whole, 1.5, whole) == 161002
    assert refusal("aclnnInplaceAdd", whole, real, 1) == 161002
    assert refusal("aclnnMuls", whole, 1.5, whole) == 161002
    assert refusal("aclnnDiv", whole, whole, truth) == 161002
    op("aclnnAdd")(truth, truth, 1, truth)
    op("aclnnMuls")(whole, 1.5, real)
    assert_same(real.numpy(), np.full(4, 115.5, np.float32))


def test_hardtanh_refuses_an_interval_that_is_upside_down() -> None:
    for kind, low, high in [(np.float32, 1.0, 0.5), (np.int64, 2**62 + 1, 2**62), (np.int8, 1, 0)]:
        x, out = place(np.array([0, 1, 2], kind)), hollow((3,), kind)
        with pytest.raises(ap.errors.AclnnError, match="the first must not be greater") as caught:
            op("aclnnHardtanh")(x, low, high, out)
        assert caught.value.status == 161002
        assert refusal("aclnnInplaceHardtanh", x, low, high) == 161002
        assert refusal("aclnnHardtanh", None, low, high, out) == 161001
        assert refusal("aclnnHardtanh", x, low, high, None) == 161001
        op("aclnnHardtanh")(x, high, high, out)
        assert_same(out.numpy(), np.full(3, high, kind))


def test_clamp_takes_one_bound_or_both() -> None:
    x = np.arange(-4, 5, dtype=np.float32)
    out = hollow(x.shape, np.float32)
    op("aclnnClamp")(place(x), None, 2, out)
    assert_same(out.numpy(), np.minimum(x, 2))
    op("aclnnClamp")(place(x), -1, None, out)
    assert_same(out.numpy(), np.maximum(x, -1))
    assert refusal("aclnnClamp", place(x), None, None, out) == 161001


def test_messages_name_the_parameter_and_what_is_allowed() -> None:
    with pytest.raises(ap.errors.AclnnError) as caught:
        op("aclnnGelu")(hollow((2,), np.int32), hollow((2,), np.int32))
    text = str(caught.value)
    assert "self" in text and "INT32" in text and "FLOAT16" in text
    with pytest.raises(ap.errors.AclnnError) as caught:
        op("aclnnSqrt")(hollow((2,), np.float32), hollow((3,), np.float32))
    assert (
        "out" in str(caught.value) and "(3,)" in str(caught.value) and "(2,)" in str(caught.value)
    )


def test_rounding_to_decimals_counts_both_ways_from_the_point() -> None:
    real = np.array([0.125, 2.675, -1234.5678, 1e30, np.inf, np.nan], np.float32)
    whole = np.array([15, 25, -35, 149, 2**31 - 1], np.int64)
    for x, decimals, expected in [
        (real, 2, np.round(real.astype(np.float64), 2).astype(np.float32)),
        (real, -2, np.round(real.astype(np.float64), -2).astype(np.float32)),
        (real, 2**62, real),
        (real, -(2**62), np.array([0, 0, -0.0, 0, np.nan, np.nan], np.float32)),
        (whole, 3, whole),
        (whole, -1, np.array([20, 20, -40, 150, 2147483650])),
        (whole, -10, np.zeros_like(whole)),
        (whole, -(2**62), np.zeros_like(whole)),
    ]:
        out = hollow(x.shape, x.dtype)
        op("aclnnRoundDecimals")(place(x), decimals, out)
        assert_same(out.numpy(), expected, f"{x.dtype} {decimals}")


def test_shifts_beyond_the_type_lose_every_bit_but_the_sign() -> None:
    for kind in (np.int8, np.int32, np.int64, np.uint16, np.uint64):
        x = np.array([1, 5 if np.dtype(kind).kind == "u" else -5, 7]).astype(kind)
        count = np.array([100, 100, 0], kind)
        left, right = hollow(x.shape, kind), hollow(x.shape, kind)
        op("aclnnLeftShift")(place(x), place(count), left)
        assert_same(left.numpy(), np.array([0, 0, 7], kind))
        op("aclnnRightShift")(place(x), place(count), right)
        assert_same(right.numpy(), np.where(count > 0, np.where(x < 0, -1, 0), x).astype(kind))


def test_gamma_at_its_poles_and_below_zero() -> None:
    x = np.array([0.0, -0.0, -2.0, -0.5, -2.5, 1.0, 0.5, np.inf, -np.inf, np.nan])
    out = hollow(x.shape, np.float64)
    op("aclnnLgamma")(place(x), out)
    inf, nan, root = np.inf, np.nan, np.log(np.pi) / 2
    expected = [inf, inf, inf, np.log(2) + root, np.log(8 / 15) + root, 0, root, inf, inf, nan]
    assert_close(out.numpy(), np.array(expected))
    op("aclnnDigamma")(place(x), out)
    half = -np.euler_gamma - 2 * np.log(2)
    slopes = [-inf, inf, nan, half + 2, half + 2 + 2 / 3 + 2 / 5, -np.euler_gamma, half, inf, nan]
    assert_close(out.numpy(), np.array([*slopes, nan]))


def test_a_scalar_is_looked_for_among_elements() -> None:
    x = place(np.array([[1, 2, 3], [4, 5, 6]], np.float32), "transposed")
    out = hollow((), np.bool_)
    for value, invert, expected in [(5.0, False, True), (7.0, False, False), (5.0, True, False)]:
        op("aclnnIsInScalarTensor")(value, x, False, invert, out)
        assert out.numpy() == expected
    op("aclnnIsInScalarTensor")(2.5, place(np.arange(3000, dtype=np.int32)), True, False, out)
    assert not out.numpy()
    op("aclnnIsInScalarTensor")(2999, place(np.arange(3000, dtype=np.int32)), True, False, out)
    assert out.numpy()
    op("aclnnIsInScalarTensor")(2.5, hollow((0, 3), np.float32), False, True, out)
    assert out.numpy()
    assert refusal("aclnnIsInScalarTensor", 1, x, False, False, hollow((1,), np.bool_)) == 161002
    assert refusal("aclnnIsInScalarTensor", 1j, x, False, False, out) == 161002
    assert refusal("aclnnIsInScalarTensor", 1, None, False, False, out) == 161001


def test_a_scale_lies_along_some_neighbouring_dimensions() -> None:
    rng = np.random.default_rng(3)
    for dtype, layout in [(np.float32, "stepped"), (np.float16, "dense")]:
        x = rng.normal(size=(2, 3, 4)).astype(dtype)
        for shape, axis, count, blob, wide_shape in [
            ((3,), 1, 1, True, (3, 1)),
            ((3, 4), -2, -1, True, (3, 4)),
            ((1,), 2, 0, True, (1,)),
            ((2, 3), 0, 9, False, (2, 3, 1)),
            ((), 1, 0, False, ()),
        ]:
            scale, bias = (rng.normal(size=shape).astype(dtype) for _ in range(2))
            out = hollow(x.shape, dtype, layout)
            tensors = place(x, layout), place(scale, layout), place(bias, layout)
            product = wide(x) * wide(scale).reshape(wide_shape)
            op("aclnnScale")(*tensors, axis, count, blob, out)
            assert_close(out.numpy(), product + wide(bias).reshape(wide_shape), scale=4)
            op("aclnnScale")(*tensors[:2], None, axis, count, blob, out)
            assert_close(out.numpy(), product)
    row = place(np.ones(3, np.float32))
    matrix, out = hollow((2, 3), np.float32), hollow((2, 3), np.float32)
    for arguments in [(0, 1, True), (2, 1, True), (1, 2, True), (1, -2, True), (0, 1, False)]:
        assert refusal("aclnnScale", matrix, row, None, *arguments, out) == 161002, arguments
    assert refusal("aclnnScale", matrix, row, None, -(2**63), 2**63 - 1, True, out) == 161002
    assert refusal("aclnnScale", matrix, None, None, 1, 1, True, out) == 161001
