# SPDX-License-Identifier: Apache-2.0
"""Elementwise types and those of several tensors, with NumPy's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.aclop import const
from scipy import special

from .problem import (
    I32,
    PROBLEMS,
    RANDOM,
    F,
    Problem,
    elementwise,
    gelu_tanh,
    problem,
    sigmoid,
    softmax,
    spread,
    wide,
)


def unary(names: str, low: float, high: float, **formulas: Any) -> None:
    """Types with one input and one output of its shape."""
    for name in names.split():
        formula = formulas.get(name) or getattr(np, name.lower())
        PROBLEMS[name] = lambda f=formula, a=low, b=high: elementwise(
            f, spread(3, 5, low=a, high=b)
        )


unary(
    "Abs Asinh Atan Ceil Cos Cosh Exp Expm1 Floor Sign Signbit Sin Sinc Sinh Square Tanh "
    "Trunc Rint IsFinite IsInf IsNegInf IsPosInf Neg Erf Erfc Sigmoid Relu Selu FastGelu Gelu Mish "
    "LogSigmoid HardSwish Relu6 Identity TensorMove OnesLike ZerosLike Tan",
    -2,
    2,
    Asinh=np.arcsinh,
    Atan=np.arctan,
    Erf=special.erf,
    Erfc=special.erfc,
    IsFinite=np.isfinite,
    IsInf=np.isinf,
    IsNegInf=np.isneginf,
    IsPosInf=np.isposinf,
    Neg=np.negative,
    Sigmoid=sigmoid,
    Relu=lambda x: np.maximum(x, 0),
    Selu=lambda x: (
        1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))
    ),
    FastGelu=lambda x: x / (1 + np.exp(-1.702 * np.abs(x))) * np.exp(0.851 * (x - np.abs(x))),
    Gelu=gelu_tanh,
    Mish=lambda x: x * np.tanh(np.log1p(np.exp(x))),
    LogSigmoid=lambda x: -np.log1p(np.exp(-x)),
    HardSwish=lambda x: x * np.clip(x + 3, 0, 6) / 6,
    Relu6=lambda x: np.clip(x, 0, 6),
    Identity=lambda x: x,
    TensorMove=lambda x: x,
    OnesLike=np.ones_like,
    ZerosLike=np.zeros_like,
)
unary(
    "Acos Asin Atanh Erfinv Logit",
    0.05,
    0.95,
    Acos=np.arccos,
    Asin=np.arcsin,
    Atanh=np.arctanh,
    Erfinv=special.erfinv,
    Logit=lambda x: np.log(x / (1 - x)),
)
unary(
    "Acosh Digamma Lgamma Log Log1p Reciprocal Inv Rsqrt Sqrt Real",
    1.1,
    4,
    Acosh=np.arccosh,
    Digamma=special.digamma,
    Lgamma=special.gammaln,
    Inv=np.reciprocal,
    Rsqrt=lambda x: 1 / np.sqrt(x),
    Real=lambda x: x,
)


def binary(names: str, low: float = 0.5, high: float = 3, **formulas: Any) -> None:
    """Types with two inputs that broadcast."""
    for name in names.split():
        formula = formulas.get(name) or getattr(np, name.lower())
        PROBLEMS[name] = lambda f=formula, a=low, b=high: elementwise(
            f, spread(5, low=a, high=b), spread(3, 5, low=a, high=b)
        )


binary(
    "Add AddV2 Sub Mul Div RealDiv Maximum Minimum Pow Atan2 FloorDiv FloorMod Mod TruncateMod "
    "TruncateDiv Equal NotEqual Greater GreaterEqual Less LessEqual Xlogy Xlog1py LogAddExp "
    "Heaviside",
    AddV2=np.add,
    Sub=np.subtract,
    Mul=np.multiply,
    Div=np.divide,
    RealDiv=np.divide,
    Pow=np.power,
    Atan2=np.arctan2,
    FloorDiv=np.floor_divide,
    FloorMod=np.mod,
    Mod=np.fmod,
    TruncateMod=np.fmod,
    TruncateDiv=lambda a, b: np.trunc(a / b),
    NotEqual=np.not_equal,
    GreaterEqual=np.greater_equal,
    LessEqual=np.less_equal,
    Xlogy=special.xlogy,
    Xlog1py=special.xlog1py,
    LogAddExp=np.logaddexp,
)
for _name in ("ClipByValue", "ClipByValueV2"):
    PROBLEMS[_name] = lambda: elementwise(
        np.clip, spread(3, 5), spread(3, 5, low=-1, high=0), spread(3, 5, low=0, high=1)
    )
for _name, _rule in (
    ("LogicalAnd", np.logical_and),
    ("LogicalOr", np.logical_or),
    ("BitwiseAnd", np.bitwise_and),
    ("BitwiseOr", np.bitwise_or),
    ("BitwiseXor", np.bitwise_xor),
    ("Gcd", np.gcd),
    ("LeftShift", np.left_shift),
    ("RightShift", np.right_shift),
):

    def _integers(rule: Any = _rule, truths: bool = _name.startswith("Logical")) -> Problem:
        kind = np.bool_ if truths else I32
        a, b = (RANDOM.integers(0, 2 if truths else 20, (3, 5)).astype(kind) for _ in range(2))
        return Problem([a, b], [rule(a, b)])

    PROBLEMS[_name] = _integers


def formula(name: str, function: Any, low: float = -2, high: float = 2, **attributes: Any) -> None:
    """A unary type with attributes."""
    PROBLEMS[name] = lambda: elementwise(function, spread(3, 5, low=low, high=high), **attributes)


formula("Round", lambda x: np.round(x, 1), decimals=1)
formula("NanToNum", np.nan_to_num, nan=0.0, posinf=1.0, neginf=-1.0)
formula("Elu", lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0))), alpha=1.5)
formula("CeluV2", lambda x: np.maximum(x, 0) + np.minimum(0, 2 * np.expm1(x / 2)), alpha=2.0)
formula("GeluV2", gelu_tanh, approximate="tanh")
formula("HardShrink", lambda x: np.where(np.abs(x) > 0.7, x, 0), lambd=0.7)
formula("HardSigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1))
formula("LeakyRelu", lambda x: np.where(x > 0, x, 0.25 * x), negative_slope=0.25)
formula("Shrink", lambda x: np.sign(x) * np.where(np.abs(x) > 0.5, np.abs(x) - 0.1, 0), bias=0.1)
formula("SoftShrink", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0))
formula("SoftplusV2", lambda x: np.log1p(np.exp(2 * x)) / 2, beta=2.0)
formula("SoftmaxV2", lambda x: softmax(x, 0), axes=[0])
formula("LogSoftmaxV2", lambda x: np.log(softmax(x, 1)), axes=[1])
formula("Swish", lambda x: x * sigmoid(1.5 * x), scale=1.5)
formula("ThresholdV2D", lambda x: np.where(x > 0.5, x, -3), threshold=0.5, value=-3.0)
formula("Adds", lambda x: x + 0.5, value=0.5)
formula("Muls", lambda x: x * -3, value=-3.0)
formula("Fills", lambda x: np.full_like(x, 2.5), value=2.5)
formula("Tril", lambda x: np.tril(x, -1), diagonal=-1)
formula("Triu", lambda x: np.triu(x, 1), diagonal=1)
formula("CumsumD", lambda x: np.cumsum(x, 1), axis=1)
formula("CumprodD", lambda x: np.cumprod(x, 1), axis=1)
formula("ReverseV2D", lambda x: x[:, ::-1], axis=[1])
formula("Roll", lambda x: np.roll(x, 2, 1), shifts=[2], dims=[1])


@problem
def ThresholdV2() -> Problem:
    x = spread(3, 5)
    given = [x, const(F([0.5])), const(F([-3]))]
    return Problem(given, [np.where(x > 0.5, x, F(-3))])


@problem
def LogicalNot() -> Problem:
    x = RANDOM.integers(0, 2, (3, 5)).astype(np.bool_)
    return Problem([x], [~x])


@problem
def Invert() -> Problem:
    x = RANDOM.integers(-9, 9, (3, 5)).astype(I32)
    return Problem([x], [~x])


@problem
def AngleV2() -> Problem:
    x = spread(3, 5)
    return Problem([x], [np.angle(wide(x)).astype(F)])


@problem
def Complex() -> Problem:
    a, b = spread(3, 5), spread(3, 5)
    return Problem([a, b], [(a + 1j * b).astype(np.complex64)])


@problem
def Polar() -> Problem:
    a, b = spread(3, 5, low=0.1), spread(3, 5)
    return Problem([a, b], [(wide(a) * np.exp(1j * wide(b))).astype(np.complex64)])


@problem
def Cast() -> Problem:
    x = spread(3, 5)
    return Problem([x], [x.astype(np.float16)], {"dst_type": 1})


@problem
def PRelu() -> Problem:
    x, w = spread(2, 3, 4), spread(3)
    return Problem([x, w], [np.where(x > 0, x, x * w[:, None])])


@problem
def SwiGlu() -> Problem:
    x = spread(3, 8)
    a, b = wide(x[:, :4]), wide(x[:, 4:])
    return Problem([x], [(a * sigmoid(a) * b).astype(F)])


@problem
def GLU() -> Problem:
    x = spread(3, 8)
    return Problem([x], [(wide(x[:, :4]) * sigmoid(wide(x[:, 4:]))).astype(F)])
