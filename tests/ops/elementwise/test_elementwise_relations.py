# SPDX-License-Identifier: Apache-2.0
"""What binds the tensors and scalars of an elementwise call: dtypes, shapes, formats, precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.operators import NUMPY, hollow, op, place, refusal, values, wide

import aclnn_py as ap
from aclnn_py import functional as f
from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.usefixtures("device")

BF16 = np.dtype(ml_dtypes.bfloat16)
F, H, B, D = "FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"
I1, I2, I4, I8, U1, T = "INT8", "INT16", "INT32", "INT64", "UINT8", "BOOL"
C8, C16 = "COMPLEX64", "COMPLEX128"


def status(operator: str, *arguments: Any) -> int:
    """What phase one answers, the arguments in C order: the name of a dtype stands for a tensor."""
    made = [hollow((2, 3), NUMPY[a]) if isinstance(a, str) else a for a in arguments]
    try:
        op("aclnn" + operator)(*made)
    except AclnnError as error:
        return int(error.status)
    return 0


def scalar(value: Any, name: str) -> Any:
    return ap.ops.Scalar(value, NUMPY[name])


RESULTS = [
    # of the dtype of the argument and of no other
    *[(name, [F, H], 161002) for name in ("Abs", "Sign", "Round", "Ceil", "Trunc", "Floor")],
    *[(name, [I4, I8], 161002) for name in ("Abs", "Sign", "Round", "Frac", "Square")],
    ("BitwiseNot", [I4, I8], 161002),
    ("NanToNum", [H, 0.0, 1.0, -1.0, F], 161002),
    ("Abs", [C8, F], 0),
    ("Abs", [C8, C8], 161002),
    ("Log10", [I4, F], 0),
    ("Log10", [I4, H], 161002),
    ("Log10", [F, H], 161002),
    # of any floating dtype
    *[(name, [H, F], 0) for name in ("Sigmoid", "Hardswish", "Asinh", "Acosh", "Cosh")],
    *[(name, [F, C8], 0) for name in ("Sigmoid", "Asinh", "Acosh", "Cosh", "Reciprocal")],
    *[(name, [C8, F], 0) for name in ("Sigmoid", "Asinh", "Cosh", "Reciprocal", "Rsqrt", "Sin")],
    ("Acosh", [C8, F], 161002),
    ("Sqrt", [C8, F], 161002),
    ("Sigmoid", [T, H], 0),
    ("Hardshrink", [F, 0.5, H], 0),
    ("Softshrink", [H, 0.5, F], 0),
    ("Softshrink", [F, 0.0, F], 0),
    ("Softshrink", [F, -1.0, F], 161002),
    ("Shrink", [F, 0.5, 0.25, H], 0),
    ("Elu", [D, 1.0, 1.0, 1.0, H], 0),
    ("Celu", [F, 1.0, B], 0),
    ("LeakyRelu", [H, 0.1, D], 0),
    ("Lerps", [H, H, 0.5, D], 0),
    ("Lerp", [H, H, H, F], 161002),
    ("Signbit", [F, I4], 0),
    # of a kind that the promoted dtype is not above
    ("Div", [I4, I4, I4], 0),
    ("Div", [I4, T, I1], 0),
    ("Div", [I4, I4, T], 161002),
    ("Div", [F, I4, I4], 161002),
    ("Divs", [I4, scalar(2, I8), U1], 0),
    ("Divs", [I4, scalar(2.0, F), I4], 161002),
    ("InplaceDiv", [I4, I8], 0),
    ("InplaceDiv", [I4, F], 161002),
    ("InplaceAtan2", [I4, F], 0),
    ("FmodTensor", [F, F, I4], 0),
    ("Selu", [I1, I1], 0),
    ("Selu", [I4, F], 161002),
    ("Hardsigmoid", [I4, I4], 0),
]  # fmt: skip

OPERANDS = [
    ("RemainderTensorTensor", [I1, I4, I4], 0),
    ("RemainderTensorTensor", [T, F, F], 0),
    ("RemainderTensorTensor", [I1, U1, I2], 161002),
    ("RemainderTensorScalar", [I1, scalar(2.5, F), F], 0),
    ("RemainderTensorScalar", [I1, scalar(2, I4), I1], 161002),
    ("RemainderScalarTensor", [scalar(1, T), I8, I8], 0),
    ("Gcd", [I2, I2, I2], 0),
    ("Gcd", [I1, I2, I2], 0),
    ("Gcd", [I1, U1, I2], 0),
    ("Gcd", [I1, I1, I1], 161002),
    ("Gcd", [U1, U1, U1], 161002),
    ("Addcmul", [I1, I1, I1, scalar(1, I1), I1], 0),
    ("Addcmul", [I1, U1, I1, scalar(1, I1), I2], 161002),
    ("IsClose", [F, F, 0.1, 0.1, False, T], 0),
    ("IsClose", [F, H, 0.1, 0.1, False, T], 161002),
    # gradients
    ("TanhBackward", [H, H, H], 0),
    ("TanhBackward", [F, H, F], 161002),
    ("SeluBackward", [F, H, F], 161002),
    ("FastGeluBackward", [F, H, F], 161002),
    ("HardtanhBackward", [F, H, -1.0, 1.0, F], 161002),
    ("HardtanhBackward", [F, F, -1.0, 1.0, H], 0),
    ("HardswishBackward", [F, F, H], 161002),
    ("ThresholdBackward", [F, H, 1.0, F], 161002),
    ("GeluBackward", [F, H, B], 0),
    ("MishBackward", [F, H, B], 0),
    ("SigmoidBackward", [F, C8, C16], 0),
    ("SigmoidBackward", [F, C8, F], 161002),
    ("LeakyReluBackward", [F, H, 0.1, False, D], 0),
    ("SoftplusBackward", [H, I8, 1.0, 20.0, F], 0),
    # scalars
    ("EqScalar", [F, scalar(1, "UINT32"), T], 161002),
    ("LeScalar", [F, scalar(1, "UINT64"), T], 161002),
    ("FloorDivides", [F, scalar(2.0, B), F], 0),
    ("PowScalarTensor", [scalar(1, T), I4, I4], 0),
    ("Hardtanh", [F, scalar(0, T), scalar(1, T), F], 161002),
    ("Hardtanh", [I4, scalar(-1.5, F), scalar(2.5, F), I4], 0),
    ("Hardtanh", [F, 2.0, 1.0, F], 161002),
    ("Hardtanh", [F, 1.0, 1.0, F], 0),
    ("InplaceHardtanh", [F, 2.0, 1.0], 161002),
    ("Threshold", [I4, 1.5, 2.5, I4], 0),
    ("Softplus", [F, scalar(1, C8), 20.0, F], 161002),
    ("ClampTensor", [F, None, F, F], 0),
    ("ClampTensor", [F, F, None, F], 0),
    ("ClampTensor", [F, None, None, F], 161001),
]  # fmt: skip


def name_of(case: tuple[str, Sequence[Any], int]) -> str:
    return f"{case[0]}-" + "-".join(str(a) for a in case[1])


@pytest.mark.parametrize("case", [*RESULTS, *OPERANDS], ids=name_of)
def test_status(case: tuple[str, Sequence[Any], int]) -> None:
    operator, arguments, expected = case
    assert status(operator, *arguments) == expected


ONE_SHAPE = [
    ("HardswishBackward", [H]),
    ("HardsigmoidBackward", [H]),
    ("HardtanhBackward", [H, -1.0, 1.0]),
    ("FastGeluBackward", [H]),
    ("SeluBackward", [H]),
    ("SoftplusBackward", [H, 1.0, 20.0]),
]


@pytest.mark.parametrize(("operator", "rest"), ONE_SHAPE)
def test_gradients_of_one_shape_are_not_broadcast(operator: str, rest: list[Any]) -> None:
    kind = NUMPY[rest[0]]
    full, row = hollow((2, 3), kind), hollow((3,), kind)
    assert status(operator, full, full, *rest[1:], hollow((2, 3), kind)) == 0
    assert status(operator, full, row, *rest[1:], hollow((2, 3), kind)) == 161002
    assert status(operator, row, full, *rest[1:], hollow((2, 3), kind)) == 161002
    assert status(operator, full, full, *rest[1:], row) == 161002


PRIVATE = [
    *[(name, [H, H]) for name in ("Abs", "Acosh", "Asinh", "Cosh", "Floor", "Gelu", "Round")],
    *[(name, [H, H]) for name in ("Reciprocal", "Square", "Tanh")],
    *[(name, [H, H, H]) for name in ("Div", "LogAddExp")],
    ("Divs", [H, 2.0, H]),
    ("DivMod", [H, H, 1, H]),
    ("Addcmul", [H, H, H, 1.0, H]),
    ("Shrink", [H, 0.5, 0.5, H]),
    ("BitwiseNot", [I1, I1]),
    ("BitwiseAndTensor", [I1, I1, I1]),
]


@pytest.mark.parametrize(("operator", "arguments"), PRIVATE)
def test_private_formats_are_refused(operator: str, arguments: list[Any]) -> None:
    kind = NUMPY[arguments[0]]
    plain = ap.empty((32, 32), kind)
    made = [plain if isinstance(a, str) else a for a in arguments]
    assert status(operator, *made[:-1], ap.empty((32, 32), kind)) == 0
    made[0] = ap.empty((32, 32), kind, format="FRACTAL_NZ")
    assert status(operator, *made) == 161002
    with pytest.raises(AclnnError, match="private format FRACTAL_NZ"):
        op("aclnn" + operator)(*made)


def test_refusals_have_the_words_programs_look_for() -> None:
    with pytest.raises(AclnnError, match="can't be cast to the desired output type"):
        op("aclnnAdd")(hollow((2,), F_), hollow((2,), F_), 1, hollow((2,), np.int32))
    with pytest.raises(AclnnError, match="CheckShape failed"):
        op("aclnnAdd")(hollow((2,), F_), hollow((2,), F_), 1, hollow((3,), F_))


F_ = np.float32
SCALED = [
    ("Divs", BF16, np.float64, [50.0, 99.0], 72.2, lambda x, s: x / s),
    ("Divs", np.float16, np.float32, [50.0, 99.0], 72.2, lambda x, s: x / s),
    ("Muls", BF16, np.float64, [3.0, 99.0], 0.1, lambda x, s: x * s),
]


@pytest.mark.parametrize(("operator", "kind", "of_scalar", "x", "by", "formula"), SCALED)
def test_a_scalar_keeps_its_precision_beside_halves(
    operator: str, kind: Any, of_scalar: Any, x: list[float], by: float, formula: Any
) -> None:
    exact = formula(np.array(x, np.float64), np.float64(np.float32(by)))
    rounded = formula(np.array(x, np.float64), np.float64(np.array(by).astype(kind)))
    factor = ap.ops.Scalar(by, of_scalar)
    out = hollow((2,), kind)
    op("aclnn" + operator)(place(np.array(x, kind)), factor, out)
    np.testing.assert_array_equal(out.numpy(), exact.astype(kind))
    assert (exact.astype(kind) != rounded.astype(kind)).any()
    single = hollow((2,), np.float32)
    op("aclnn" + operator)(place(np.array(x, kind)), factor, single)
    np.testing.assert_allclose(single.numpy(), exact, rtol=2e-7)
    itself = place(np.array(x, kind))
    op("aclnnInplace" + operator)(itself, factor)
    np.testing.assert_array_equal(itself.numpy(), exact.astype(kind))


def test_a_scalar_of_another_dtype_is_rounded_to_the_tensors() -> None:
    x = np.array([3.0, 99.0], BF16)
    out = hollow((2,), BF16)
    op("aclnnMuls")(place(x), ap.ops.Scalar(0.1, np.float32), out)
    expected = (x.astype(np.float64) * np.float64(BF16.type(0.1))).astype(BF16)
    np.testing.assert_array_equal(out.numpy(), expected)


def test_gelu_is_the_form_with_the_hyperbolic_tangent() -> None:
    x = np.linspace(-4, 4, 201)
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    for kind in (np.float32, np.float16, BF16):
        rounded = x.astype(kind)
        form_1, out = hollow(x.shape, kind), hollow(x.shape, kind)
        op("aclnnGelu")(place(rounded), out)
        op("aclnnGeluV2")(place(rounded), 1, form_1)
        np.testing.assert_array_equal(out.numpy(), form_1.numpy())
    op("aclnnGelu")(place(x.astype(F_)), out := hollow(x.shape, F_))
    np.testing.assert_allclose(out.numpy(), 0.5 * x * (1 + np.tanh(inner)), rtol=2e-5, atol=1e-7)
    exact = f.gelu(place(x.astype(F_))).numpy()
    by_tanh = f.gelu(place(x.astype(F_)), approximate="tanh").numpy()
    np.testing.assert_array_equal(by_tanh, out.numpy())
    assert 3e-4 < np.abs(exact - by_tanh).max() < 6e-4


def test_integers_divided_into_integers_are_cut() -> None:
    x, y = np.array([7, -7, 9, 5], np.int32), np.array([2, 2, 3, -2], np.int64)
    out = hollow((4,), np.int16)
    op("aclnnDiv")(place(x), place(y), out)
    np.testing.assert_array_equal(out.numpy(), [3, -3, 3, -2])
    itself = place(x)
    op("aclnnInplaceDivs")(itself, ap.ops.Scalar(2, np.int64))
    np.testing.assert_array_equal(itself.numpy(), [3, -3, 4, 2])


def test_the_real_part_is_kept_where_the_result_is_real() -> None:
    rng = np.random.default_rng(6)
    x = values(rng, (3, 40), np.complex64, -2.0, 2.0)
    out = hollow((3, 40), np.float32)
    op("aclnnAsinh")(place(x), out)
    np.testing.assert_allclose(out.numpy(), np.arcsinh(wide(x)).real, rtol=1e-5, atol=1e-6)


def test_bounds_of_hardtanh_and_threshold_are_cast_to_the_tensors_dtype() -> None:
    x = np.array([-5, -1, 0, 2, 9], np.int32)
    out = hollow(x.shape, np.int32)
    low, high = ap.ops.Scalar(-1.5, np.float32), ap.ops.Scalar(2.5, np.float32)
    op("aclnnHardtanh")(place(x), low, high, out)
    np.testing.assert_array_equal(out.numpy(), np.clip(x, -1, 2))
    op("aclnnThreshold")(place(x), low, high, out)
    np.testing.assert_array_equal(out.numpy(), np.where(x > -1, x, 2))


def test_a_bound_that_is_absent_does_not_bind() -> None:
    x, bound = np.arange(-4, 5, dtype=np.float32), np.full(9, 1, np.float32)
    out = hollow(x.shape, np.float32)
    op("aclnnClampTensor")(place(x), None, place(bound), out)
    np.testing.assert_array_equal(out.numpy(), np.minimum(x, 1))
    op("aclnnClampTensor")(place(x), place(bound), None, out)
    np.testing.assert_array_equal(out.numpy(), np.maximum(x, 1))


def test_halves_make_a_complex_of_halves() -> None:
    half = hollow((2, 3), np.float16)
    assert refusal("aclnnComplex", half, half, hollow((2, 3), np.complex64)) == 161002
    out = ap.empty((2, 3), "complex32")
    op("aclnnComplex")(half, half, out)
    assert out.dtype == "complex32"
