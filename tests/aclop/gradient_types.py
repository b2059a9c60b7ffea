# SPDX-License-Identifier: Apache-2.0
"""Gradients, and types of several tensors, with NumPy's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.aclop import const, host

from .problem import (
    PROBLEMS,
    RANDOM,
    F,
    Problem,
    gelu,
    gelu_tanh,
    problem,
    sigmoid,
    slope,
    softmax,
    spread,
    wide,
)


# --- gradients: (type, the gradient's and the other input's places, formula, attributes)
def gradient(
    name: str, formula_: Any, *, first: bool = True, result: Any = None, **attributes: Any
) -> None:
    """A gradient by the derivative; `result` says that the result is given instead of the input."""

    def make() -> Problem:
        x, dy = spread(3, 5), spread(3, 5)
        given = x if result is None else result(wide(x)).astype(F)
        answer = (wide(dy) * slope(formula_, wide(x))).astype(F)
        extra = [dy * 0] if name in ("GeluGrad", "SwishGrad") else []
        return Problem([dy, given, *extra] if first else [given, dy], [answer], attributes)

    PROBLEMS[name] = make


gradient("ReluGrad", lambda x: np.maximum(x, 0))
gradient("Relu6Grad", lambda x: np.clip(x, 0, 6))
gradient("HardtanhGrad", lambda x: np.clip(x, -1, 1), first=False)
gradient("SigmoidGrad", sigmoid, first=False, result=sigmoid)
gradient("TanhGrad", np.tanh, first=False, result=np.tanh)
gradient("GeluGrad", gelu_tanh)
gradient("GeluGradV2", gelu)
gradient("HardSwishGrad", lambda x: x * np.clip(x + 3, 0, 6) / 6)
gradient("HardSigmoidGrad", lambda x: np.clip(x / 6 + 0.5, 0, 1))
gradient("HardShrinkGrad", lambda x: np.where(np.abs(x) > 0.5, x, 0))
gradient("LeakyReluGrad", lambda x: np.where(x > 0, x, 0.25 * x), negative_slope=0.25)
gradient("EluGradV2", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))))
gradient("SiluGrad", lambda x: x * sigmoid(x))
gradient("SwishGrad", lambda x: x * sigmoid(x))
gradient("MishGrad", lambda x: x * np.tanh(np.log1p(np.exp(x))))
gradient("SoftShrinkGrad", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0))
gradient("SoftplusV2Grad", lambda x: np.log1p(np.exp(x)))
gradient("ThresholdGradV2D", lambda x: np.maximum(x - 0.5, 0), threshold=0.5)


@problem
def FastGeluGrad() -> Problem:
    x, dy = spread(3, 5), spread(3, 5)
    s = sigmoid(1.702 * wide(x))
    return Problem([dy, x], [(wide(dy) * (s + 1.702 * wide(x) * s * (1 - s))).astype(F)])


@problem
def SeluGrad() -> Problem:
    y, dy = spread(3, 5, low=-1.5), spread(3, 5)
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    answer = wide(dy) * np.where(y > 0, scale, y + scale * alpha)
    return Problem([dy, y], [answer.astype(F)])


@problem
def LogitGrad() -> Problem:
    x, dy = spread(3, 5, low=0.1, high=0.9), spread(3, 5)
    return Problem([x, dy], [(wide(dy) / (wide(x) * (1 - wide(x)))).astype(F)])


@problem
def SwiGluGrad() -> Problem:
    x, dy = spread(3, 8), spread(3, 4)
    a, b, g = wide(x[:, :4]), wide(x[:, 4:]), wide(dy)
    answer = [g * b * slope(lambda v: v * sigmoid(v), a), g * a * sigmoid(a)]
    return Problem([dy, x], [np.concatenate(answer, 1).astype(F)])


@problem
def SoftmaxGrad() -> Problem:
    y, dy = softmax(wide(spread(3, 5))).astype(F), spread(3, 5)
    inner = (wide(y) * dy).sum(1, keepdims=True)
    return Problem([y, dy], [(wide(y) * (dy - inner)).astype(F)])


@problem
def LogSoftmaxGrad() -> Problem:
    y, dy = np.log(softmax(wide(spread(3, 5)))).astype(F), spread(3, 5)
    return Problem([dy, y], [(dy - np.exp(wide(y)) * wide(dy).sum(1, keepdims=True)).astype(F)])


# --- several tensors
@problem
def Axpy() -> Problem:
    a, b = spread(3, 5), spread(3, 5)
    return Problem([a, b], [(wide(a) + 0.5 * wide(b)).astype(F)], {"alpha": 0.5})


@problem
def AxpyV2() -> Problem:
    a, b = spread(3, 5), spread(3, 5)
    return Problem([a, b, host(F([0.5]))], [(wide(a) + 0.5 * wide(b)).astype(F)])


@problem
def IsClose() -> Problem:
    a = spread(3, 5)
    b = a + F(1e-3) * (np.arange(15).reshape(3, 5) % 3).astype(F)
    return Problem([a, b], [np.isclose(a, b)])


@problem
def Cross() -> Problem:
    a, b = spread(4, 3), spread(4, 3)
    return Problem([a, b], [np.cross(wide(a), wide(b)).astype(F)], {"dim": 1})


@problem
def Dot() -> Problem:
    a, b = spread(7), spread(7)
    return Problem([a, b], [np.asarray(wide(a) @ wide(b), F)])


@problem
def Ger() -> Problem:
    a, b = spread(4), spread(3)
    return Problem([a, b], [np.outer(wide(a), wide(b)).astype(F)])


@problem
def Cdist() -> Problem:
    a, b = spread(4, 3), spread(5, 3)
    answer = np.linalg.norm(wide(a)[:, None] - wide(b)[None], axis=-1)
    return Problem([a, b], [answer.astype(F)])


@problem
def Lerp() -> Problem:
    a, b, w = spread(3, 5), spread(3, 5), spread(3, 5, low=0, high=1)
    return Problem([a, b, w], [(wide(a) + w * (wide(b) - a)).astype(F)])


for _name, _quotient in (("Addcmul", False), ("Addcdiv", True)):

    def _addc(quotient: bool = _quotient) -> Problem:
        a, b, c = spread(3, 5), spread(3, 5), spread(3, 5, low=1)
        product = wide(b) / c if quotient else wide(b) * c
        return Problem([a, b, c, const(F(0.5))], [(a + 0.5 * product).astype(F)])

    PROBLEMS[_name] = _addc


@problem
def Addr() -> Problem:
    m, a, b = spread(4, 3), spread(4), spread(3)
    answer = 2 * wide(m) + 0.5 * np.outer(wide(a), wide(b))
    return Problem([m, a, b, const(F([2])), const(F([0.5]))], [answer.astype(F)])


for _name in ("Select", "SelectV2"):

    def _select() -> Problem:
        c, a, b = RANDOM.integers(0, 2, (3, 5)).astype(np.bool_), spread(3, 5), spread(3, 5)
        return Problem([c, a, b], [np.where(c, a, b)])

    PROBLEMS[_name] = _select


@problem
def MaskedScale() -> Problem:
    x, m = spread(3, 5), RANDOM.integers(0, 2, (3, 5)).astype(np.uint8)
    return Problem([x, m], [x * m * F(2.5)], {"value": 2.5})


@problem
def AddN() -> Problem:
    parts = [spread(3, 5) for _ in range(3)]
    return Problem(parts, [sum(wide(p) for p in parts).astype(F)], {"N": 3})
