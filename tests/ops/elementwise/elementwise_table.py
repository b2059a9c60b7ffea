# SPDX-License-Identifier: Apache-2.0
"""Every elementwise operator of the emulator: its form, its formula in NumPy, its dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One operator.

    ``form`` lists the parameters in C order: t tensor, m mask (BOOL), s scalar, n plain number,
    o result. Without an o the first tensor is written. ``numbers`` are the values of the s and n.
    ``rule`` says what the result is: "keep" the promoted dtype, "float" FLOAT for integers, "bool",
    "complex" COMPLEX64.
    ``same`` means that scalars are given as plain numbers. ``refused`` are dtypes that a tensor may
    have beside others, but not all tensors at once. ``one_shape`` means that tensors are not
    broadcast. ``optional`` are positions that may be null.
    """

    operator: str
    formula: Formula
    form: str = "to"
    numbers: tuple[Any, ...] = ()
    rule: str = "keep"
    domain: tuple[float, float] = (-4.0, 4.0)
    same: bool = False
    refused: frozenset[str] = frozenset()
    scale: float = 1.0
    one_shape: bool = False
    optional: frozenset[int] = frozenset()

    @property
    def in_place(self) -> bool:
        return "o" not in self.form


def both(operator: str, formula: Formula, **options: Any) -> list[Case]:
    """The operator with a result and its in-place twin."""
    return [
        Case(operator, formula, "to", **options),
        Case("Inplace" + operator, formula, "t", **options),
    ]


def erf(x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def erfc(x: Any) -> Any:
    return np.vectorize(math.erfc, otypes=[np.float64])(x)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def elu(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    return np.where(x > 0, scale * x, scale * alpha * np.expm1(x * input_scale))


def erfinv(x: Any) -> Any:
    def one(value: float) -> float:
        if abs(value) >= 1:
            return math.copysign(math.inf, value) if abs(value) == 1 else math.nan
        return NormalDist().inv_cdf((value + 1) / 2) / math.sqrt(2)

    return np.vectorize(one, otypes=[np.float64])(x)


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def hard_sigmoid(x: Any) -> Any:
    return np.clip(x + 3, 0, 6) / 6


def integers(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "iub"


def divide_trunc(x: Any, y: Any) -> Any:
    if not integers(x):
        return np.trunc(x / y)
    return np.where(y == 0, 0, np.sign(x) * np.sign(y) * (abs(x) // np.where(y == 0, 1, abs(y))))


def divide_floor(x: Any, y: Any) -> Any:
    return np.floor_divide(x, y)


def power(x: Any, y: Any) -> Any:
    if not integers(x):
        return np.power(x, y)
    return np.where(y < 0, np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y % 2), 0)), x ** abs(y))


def shift_left(x: Any, count: Any) -> Any:
    """Bits that leave the type are lost: 64 of them are all."""
    return np.where(count > 63, 0, x << np.clip(count, 0, 63).astype(np.asarray(x).dtype))


def shift_right(x: Any, count: Any) -> Any:
    return x >> np.clip(count, 0, 63).astype(np.asarray(x).dtype)


def log_gamma(x: Any) -> Any:
    return np.vectorize(math.lgamma, otypes=[np.float64])(x)


def digamma(x: Any) -> Any:
    """From its terms 1 / (k + x), with what is left of them by Euler and Maclaurin."""
    terms = np.arange(1000.0)
    end = x + terms.size
    tail = np.log(end) - 1 / (2 * end) - 1 / (12 * end * end)
    return tail - (1 / (np.asarray(x)[..., None] + terms)).sum(-1)


def sign(x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.sign(x)
    return np.where(x == 0, 0, x / np.where(x == 0, 1, abs(x)))


def logical(function: Formula) -> Formula:
    return lambda *x: function(*[np.asarray(a) != 0 for a in x])


FLOATING = frozenset({"FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"})
INTEGER = frozenset({"INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"})
COMPLEX = frozenset({"COMPLEX64", "COMPLEX128"})
NARROW = frozenset({"INT8", "INT16", "UINT8", "BOOL"})
UNIT = (-0.95, 0.95)
POSITIVE = (0.1, 9.0)

UNARY = [
    *both("Sin", np.sin, rule="float"),
    *both("Cos", np.cos, rule="float"),
    *both("Tan", np.tan, rule="float", domain=(-1.2, 1.2)),
    *both("Sinc", np.sinc, rule="float"),
    *both("Asin", np.arcsin, rule="float", domain=UNIT),
    *both("Acos", np.arccos, rule="float", domain=UNIT),
    *both("Atan", np.arctan, rule="float"),
    *both("Erfinv", erfinv, rule="float", domain=UNIT),
    *both("Sinh", np.sinh, rule="float"),
    *both("Cosh", np.cosh, rule="float"),
    *both("Tanh", np.tanh, rule="float"),
    *both("Asinh", np.arcsinh, rule="float"),
    *both("Acosh", np.arccosh, rule="float", domain=(1.1, 9.0)),
    *both("Atanh", np.arctanh, rule="float", domain=UNIT),
    *both("Exp", np.exp, rule="float"),
    *both("Exp2", np.exp2, rule="float"),
    *both("Expm1", np.expm1, rule="float"),
    *both("Log", np.log, rule="float", domain=POSITIVE),
    *both("Log2", np.log2, rule="float", domain=POSITIVE),
    *both("Log10", np.log10, rule="float", domain=POSITIVE),
    *both("Log1p", np.log1p, rule="float", domain=POSITIVE),
    *both("Sqrt", np.sqrt, rule="float", domain=POSITIVE),
    *both("Rsqrt", lambda x: 1 / np.sqrt(x), rule="float", domain=POSITIVE),
    *both("Reciprocal", lambda x: 1 / x, rule="float", domain=(1.0, 9.0)),
    *both("Erf", erf, rule="float"),
    *both("Erfc", erfc, rule="float", domain=(-2.0, 2.0)),
    Case("Abs", np.abs),
    *both("Neg", np.negative),
    Case("Square", np.square),
    Case("Sign", sign),
    Case("Signbit", lambda x: x < 0 if integers(x) else np.signbit(x), rule="bool"),
    *both("Round", np.round, domain=(-9.5, 9.5)),
    *both("Ceil", np.ceil, domain=(-9.5, 9.5)),
    *both("Trunc", np.trunc, domain=(-9.5, 9.5)),
    *both("Floor", np.floor, domain=(-9.5, 9.5)),
    *both("Frac", lambda x: x - np.trunc(x), domain=(-9.5, 9.5)),
    Case("Real", np.real),
    Case("AngleV2", np.angle, rule="float"),
    Case("Lgamma", log_gamma, domain=(3.0, 9.0), same=True),
    Case("Digamma", digamma, domain=(2.5, 9.0), same=True),
    Case("IsFinite", np.isfinite, rule="bool"),
    Case("IsInf", np.isinf, rule="bool"),
    Case("IsPosInf", np.isposinf, rule="bool"),
    Case("IsNegInf", np.isneginf, rule="bool"),
    *both("LogicalNot", logical(np.logical_not), rule="bool"),
    Case("BitwiseNot", np.invert),
    *both("Relu", lambda x: np.maximum(x, 0), same=True),
    *both("Sigmoid", sigmoid, same=True),
    Case("Silu", lambda x: x * sigmoid(x), same=True),
    *both("Mish", lambda x: x * np.tanh(softplus(x)), same=True),
    *both("Hardswish", lambda x: x * hard_sigmoid(x), same=True),
    *both("Hardsigmoid", hard_sigmoid, same=True),
    *both("Selu", lambda x: elu(x, 1.6732632423543772, 1.0507009873554805), same=True),
    Case("Gelu", gelu_tanh, same=True),
    Case("FastGelu", lambda x: x * sigmoid(1.702 * x), same=True),
    Case("LogSigmoid", lambda x: -softplus(-x), same=True),
    Case("SquaredRelu", lambda x: np.maximum(x, 0) ** 2, same=True),
]

ATTRIBUTES = [
    Case("LeakyRelu", lambda x, a: np.where(x > 0, x, a * x), "tso", (0.25,), same=True),
    Case("InplaceLeakyRelu", lambda x, a: np.where(x > 0, x, a * x), "ts", (0.25,), same=True),
    Case("Celu", lambda x, a: elu(x, a, 1.0, 1 / a), "tso", (2.0,), same=True),
    Case("InplaceCelu", lambda x, a: elu(x, a, 1.0, 1 / a), "ts", (2.0,), same=True),
    Case("Hardshrink", lambda x, a: np.where(abs(x) <= a, 0, x), "tso", (0.5,), same=True),
    Case(
        "Softshrink",
        lambda x, a: np.sign(x) * np.maximum(abs(x) - a, 0),
        "tso",
        (0.5,),
        same=True,
    ),
    Case(
        "Shrink",
        lambda x, a, b: np.where(x > a, x - b, np.where(x < -a, x + b, 0)),
        "tsso",
        (0.5, 0.25),
        same=True,
    ),
    Case("Softplus", softplus, "tsso", (2.0, 4.0), same=True),
    Case("Threshold", lambda x, a, b: np.where(x > a, x, b), "tsso", (1, 2), same=True),
    Case("InplaceThreshold", lambda x, a, b: np.where(x > a, x, b), "tss", (1, 2), same=True),
    Case("Elu", elu, "tssso", (0.5, 2.0, 0.25), same=True),
    Case("InplaceElu", elu, "tsss", (0.5, 2.0, 0.25), same=True),
    Case("Swish", lambda x, b: x * sigmoid(b * x), "tso", (1.5,), same=True),
    Case("RoundDecimals", np.round, "tno", (1,), domain=(-9.5, 9.5)),
    Case("InplaceRoundDecimals", np.round, "tn", (1,), domain=(-9.5, 9.5)),
    Case("IsInTensorScalar", lambda x, a, _, no: (x == a) != no, "tsnno", (2, False, True), "bool"),
    Case("GeluV2", lambda x, a: gelu_tanh(x), "tno", (1,), same=True),
]


def four(name: str, formula: Formula, **options: Any) -> list[Case]:
    """Tensor and scalar forms with results and in place, named as those of a comparison."""
    return [
        Case(f"{name}Tensor", formula, "tto", **options),
        Case(f"Inplace{name}Tensor", formula, "tt", **options),
        Case(f"{name}Scalar", formula, "tso", (2,), **options),
        Case(f"Inplace{name}Scalar", formula, "ts", (2,), **options),
    ]


def pair(operator: str, formula: Formula, **options: Any) -> list[Case]:
    return [
        Case(operator, formula, "tto", **options),
        Case("Inplace" + operator, formula, "tt", **options),
    ]


def scalar_pair(operator: str, formula: Formula, **options: Any) -> list[Case]:
    return [
        Case(operator, formula, "tso", (3,), **options),
        Case("Inplace" + operator, formula, "ts", (3,), **options),
    ]


def alphas(name: str, formula: Formula) -> list[Case]:
    return [
        Case(name, formula, "ttso", (2,)),
        Case("Inplace" + name, formula, "tts", (2,)),
        Case(name + "s", formula, "tsso", (3, 2)),
        Case(f"Inplace{name}s", formula, "tss", (3, 2)),
    ]


BINARY = [
    *alphas("Add", lambda x, y, a: x + a * y),
    *alphas("Sub", lambda x, y, a: x - a * y),
    Case("Rsub", lambda x, y, a: y - a * x, "ttso", (2,)),
    Case("AddRelu", lambda x, y, a: np.maximum(x + a * y, 0), "ttso", (2,)),
    Case("InplaceAddRelu", lambda x, y, a: np.maximum(x + a * y, 0), "tts", (2,)),
    Case("Rsubs", lambda x, y, a: y - a * x, "tsso", (3, 2)),
    Case("AddV3", lambda a, x, b: a + b * x, "stso", (3, 2)),
    Case("InplaceAddV3", lambda a, x, b: a + b * x, "sts", (3, 2)),
    Case("LeftShift", shift_left, "tto", domain=(0, 6)),
    Case("LeftShifts", shift_left, "tso", (3,)),
    Case("RightShift", shift_right, "tto", domain=(-3, 6)),
    *pair("Mul", lambda x, y: x * y),
    *scalar_pair("Muls", lambda x, y: x * y),
    *pair("Div", lambda x, y: x / y, rule="float", domain=(1.0, 9.0)),
    *scalar_pair("Divs", lambda x, y: x / y, rule="float"),
    Case("DivMod", lambda x, y, mode: divide_trunc(x, y), "ttno", (1,), refused=COMPLEX),
    Case("InplaceDivMod", lambda x, y, mode: divide_floor(x, y), "ttn", (2,), refused=COMPLEX),
    Case("DivMods", lambda x, y, mode: divide_floor(x, y), "tsno", (3, 2), refused=COMPLEX),
    Case("InplaceDivMods", lambda x, y, mode: divide_trunc(x, y), "tsn", (3, 1), refused=COMPLEX),
    *pair("FloorDivide", divide_floor),
    *scalar_pair("FloorDivides", divide_floor),
    *pair("FmodTensor", np.fmod, domain=(-9.0, 9.0)),
    *scalar_pair("FmodScalar", np.fmod, domain=(-9.0, 9.0)),
    *pair("RemainderTensorTensor", np.remainder, domain=(-9.0, 9.0), refused=NARROW),
    *scalar_pair("RemainderTensorScalar", np.remainder, domain=(-9.0, 9.0), refused=NARROW),
    Case("RemainderScalarTensor", np.remainder, "sto", (7,), domain=(1.0, 9.0), refused=NARROW),
    *pair("PowTensorTensor", power, domain=(1.0, 4.0), scale=4),
    *scalar_pair("PowTensorScalar", power, scale=4),
    Case("PowScalarTensor", power, "sto", (2,), domain=(1.0, 4.0), scale=4),
    Case("Maximum", np.maximum, "tto"),
    Case("Minimum", np.minimum, "tto"),
    *pair("Atan2", np.arctan2, rule="float", domain=(1.0, 9.0)),
    Case("LogAddExp", np.logaddexp, "tto", rule="float"),
    Case("LogAddExp2", np.logaddexp2, "tto", rule="float"),
    Case("Gcd", np.gcd, "tto", domain=(-60, 60), refused=NARROW - {"INT16"}),
    *four("Eq", lambda x, y: x == y, rule="bool"),
    *four("Ne", lambda x, y: x != y, rule="bool"),
    *four("Lt", lambda x, y: x < y, rule="bool"),
    *four("Le", lambda x, y: x <= y, rule="bool"),
    *four("Gt", lambda x, y: x > y, rule="bool"),
    *four("Ge", lambda x, y: x >= y, rule="bool"),
    *pair("LogicalAnd", logical(np.logical_and), rule="bool"),
    *pair("LogicalOr", logical(np.logical_or), rule="bool"),
    Case("LogicalXor", logical(np.logical_xor), "tto", rule="bool"),
    *four("BitwiseAnd", np.bitwise_and),
    *four("BitwiseOr", np.bitwise_or),
    *four("BitwiseXor", np.bitwise_xor),
    *pair("BitwiseAndTensorOut", np.bitwise_and),
    Case("ClampMin", np.maximum, "tso", (1,)),
    Case("ClampMax", np.minimum, "tso", (1,)),
    Case("InplaceClampMax", np.minimum, "ts", (1,)),
    Case("ClampMinTensor", np.maximum, "tto"),
    Case("ClampMaxTensor", np.minimum, "tto"),
    Case("InplaceClampMinTensor", np.maximum, "tt"),
    Case("InplaceClampMaxTensor", np.minimum, "tt"),
    Case("Clamp", np.clip, "tsso", (0, 2)),
    Case("Hardtanh", np.clip, "tsso", (0, 2)),
    Case("InplaceHardtanh", np.clip, "tss", (0, 2)),
]

TERNARY = [
    Case(
        "ClampTensor",
        lambda x, a, b: np.minimum(np.maximum(x, a), b),
        "ttto",
        optional=frozenset({1, 2}),
    ),
    Case("Addcmul", lambda x, y, z, a: x + a * y * z, "tttso", (2,)),
    Case("InplaceAddcmul", lambda x, y, z, a: x + a * y * z, "ttts", (2,)),
    Case(
        "Addcdiv",
        lambda x, y, z, a: x + a * (divide_trunc(y, z) if integers(y) else y / z),
        "tttso",
        (2,),
        domain=(1.0, 9.0),
    ),
    Case(
        "InplaceAddcdiv",
        lambda x, y, z, a: x + a * (divide_trunc(y, z) if integers(y) else y / z),
        "ttts",
        (2,),
        domain=(1.0, 9.0),
    ),
    Case("Lerp", lambda x, y, w: x + w * (y - x), "ttto", same=True, scale=4),
    Case("InplaceLerp", lambda x, y, w: x + w * (y - x), "ttt", same=True, scale=4),
    Case("Lerps", lambda x, y, w: x + w * (y - x), "ttso", (0.25,), same=True),
    Case("InplaceLerps", lambda x, y, w: x + w * (y - x), "tts", (0.25,), same=True),
    Case("SWhere", lambda c, x, y: np.where(c, x, y), "mtto"),
    Case("InplaceMaskedFillScalar", lambda x, m, a: np.where(m, a, x), "tms", (1,)),
]


def x_log_y(x: Any, y: Any) -> Any:
    return np.where(np.asarray(x) == 0, 0, x * np.log(y))


def phi(x: Any) -> Any:
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def mish_slope(y: Any) -> Any:
    t = np.tanh(softplus(y))
    return t + y * sigmoid(y) * (1 - t * t)


def gradient(operator: str, slope: Formula, **options: Any) -> Case:
    """An operator that multiplies the incoming gradient x by a slope at y."""
    return Case(operator, lambda x, y, *a: x * slope(y, *a), same=True, **options)


def slope(forward: Formula, step: float = 1e-6) -> Formula:
    """The derivative of a formula, from values beside the point."""
    return lambda y, *a: (forward(y + step, *a) - forward(y - step, *a)) / (2 * step)


def gelu_tanh_slope(y: Any) -> Any:
    """The slope of ``gelu_tanh`` in the form of the kernel of GeluBackward."""
    bent = 2 * math.sqrt(2 / math.pi) * y * (1 + 0.044715 * y * y)
    s = sigmoid(bent)
    return s + s * (1 - s) * 2 * math.sqrt(2 / math.pi) * y * (1 + 3 * 0.044715 * y * y)


def gelu(x: Any) -> Any:
    return 0.5 * x * erfc(-x / math.sqrt(2))


BACKWARD = [
    gradient("SigmoidBackward", lambda y: y * (1 - y), form="tto"),
    gradient("TanhBackward", lambda y: 1 - y * y, form="tto"),
    gradient("SiluBackward", lambda y: sigmoid(y) * (1 + y * (1 - sigmoid(y))), form="tto"),
    gradient("GeluBackward", gelu_tanh_slope, form="tto", scale=4),
    gradient(
        "FastGeluBackward",
        lambda y: sigmoid(1.702 * y) * (1 + 1.702 * y * (1 - sigmoid(1.702 * y))),
        form="tto",
        one_shape=True,
    ),
    gradient("MishBackward", mish_slope, form="tto", scale=16),  # its terms cancel
    gradient(
        "HardswishBackward",
        lambda y: np.where(y < -3, 0, np.where(y > 3, 1, y / 3 + 0.5)),
        form="tto",
        one_shape=True,
    ),
    gradient(
        "HardswishBackwardV2",
        lambda y: np.where(y <= -3, 0, np.where(y >= 3, 1, y / 3 + 0.5)),
        form="tto",
        one_shape=True,
    ),
    gradient(
        "SwishBackward",
        slope(lambda y, a: y * sigmoid(a * y)),
        form="ttso",
        numbers=(1.5,),
        one_shape=True,
        optional=frozenset({2}),
    ),
    gradient("GeluBackwardV2", lambda y, _: slope(gelu)(y), form="ttno", numbers=("none",)),
    gradient(
        "HardsigmoidBackward",
        lambda y: np.where(abs(y) < 3, 1 / 6, 0),
        form="tto",
        one_shape=True,
    ),
    Case(
        "SeluBackward",
        lambda x, y: np.where(y > 0, 1.0507009873554805 * x, x * (y + 1.7580993408473768)),
        "tto",
        same=True,
        one_shape=True,
    ),
    Case("ThresholdBackward", lambda x, y, a: np.where(y > a, x, 0), "ttso", (1,), same=True),
    gradient("HardshrinkBackward", lambda y, a: abs(y) > a, form="ttso", numbers=(0.5,)),
    gradient("SoftshrinkBackward", lambda y, a: abs(y) > a, form="ttso", numbers=(0.5,)),
    gradient(
        "HardtanhBackward",
        lambda y, a, b: (y > a) & (y < b),
        form="ttsso",
        numbers=(-1.0, 2.0),
        one_shape=True,
    ),
    gradient(
        "SoftplusBackward",
        lambda y, a, b: np.where(y * a > b, 1, sigmoid(y * a)),
        form="ttsso",
        numbers=(2.0, 4.0),
        one_shape=True,
    ),
    Case(
        "LeakyReluBackward",
        lambda x, y, a, result: np.where(y > 0, x, a * x),
        "ttsno",
        (0.25, False),
        same=True,
    ),
]

SPECIAL = [
    Case("Polar", lambda x, y: x * np.exp(1j * y), "tto", rule="complex"),
    Case(
        "IsClose",
        lambda x, y, r, a, n: np.isclose(x, y, r, a, n),
        "ttnnno",
        (0.5, 1.0, False),
        rule="bool",
    ),
    Case("NanToNum", lambda x, *a: x, "tnnno", (0.5, 2.0, -2.0)),
    Case("Heaviside", np.heaviside, "tto", same=True),
    *[
        Case(name, x_log_y, form, numbers, "float", (1.0, 9.0))
        for name, form, numbers in [
            ("XLogYTensor", "tto", ()),
            ("InplaceXLogYTensor", "tt", ()),
            ("XLogYScalarOther", "tso", (3,)),
            ("InplaceXLogYScalarOther", "ts", (3,)),
            ("XLogYScalarSelf", "sto", (3,)),
        ]
    ],
]

CASES = [*UNARY, *ATTRIBUTES, *BINARY, *TERNARY, *BACKWARD, *SPECIAL]
