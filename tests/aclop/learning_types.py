# SPDX-License-Identifier: Apache-2.0
"""Losses, optimizers, attention parts, images and lists, with NumPy's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.aclop import Side
from scipy import special

from .problem import (
    I32,
    PROBLEMS,
    RANDOM,
    F,
    Problem,
    problem,
    sigmoid,
    slope,
    softmax,
    spread,
    wide,
)


# --- losses
def loss(
    name: str,
    formula_: Any,
    *,
    gradient_of: bool = False,
    low: float = -2,
    high: float = 2,
    first: bool = False,
    **attributes: Any,
) -> None:
    """A loss of two tensors, reduced to its sum, or its gradient for one given number."""

    def make() -> Problem:
        x = spread(3, 5, low=low, high=high)
        t = spread(3, 5, low=max(low, 0.05), high=min(high, 0.95))
        given = {"reduction": "sum", **attributes}
        if not gradient_of:
            total = formula_(wide(x), wide(t)).sum()
            shape = (1,) if name == "KLDivV2" else ()
            return Problem([x, t], [np.full(shape, total, F)], given)
        dy = np.asarray(0.5, F)
        answer = 0.5 * slope(lambda v: formula_(v, wide(t)), wide(x))
        order = [dy, x, t] if first else [x, t, dy]
        return Problem(order, [answer.astype(F)], given)

    PROBLEMS[name] = make


def smooth(a: Any, b: Any) -> Any:
    d = np.abs(a - b)
    return np.where(d < 1, 0.5 * d * d, d - 0.5)


loss("MseLoss", lambda a, b: (a - b) ** 2)
loss("MseLossGrad", lambda a, b: (a - b) ** 2, gradient_of=True)
loss("SmoothL1LossV2", smooth)
loss("SmoothL1LossGradV2", smooth, gradient_of=True)
loss("LpLoss", lambda a, b: np.abs(a - b), p=1)
loss("L1LossGrad", lambda a, b: np.abs(a - b), gradient_of=True, first=True)
_BCE = {"low": 0.1, "high": 0.9}
loss("BinaryCrossEntropy", lambda a, b: -b * np.log(a) - (1 - b) * np.log(1 - a), **_BCE)
loss(
    "BinaryCrossEntropyGrad",
    lambda a, b: -b * np.log(a) - (1 - b) * np.log(1 - a),
    gradient_of=True,
    **_BCE,
)
loss("SigmoidCrossEntropyWithLogitsV2", lambda a, b: np.log1p(np.exp(a)) - a * b)
loss("SoftMarginLoss", lambda a, b: np.log1p(np.exp(-a * b)))
loss("SoftMarginLossGrad", lambda a, b: np.log1p(np.exp(-a * b)), gradient_of=True)
loss("KLDivV2", lambda a, b: b * (np.log(b) - a))
loss("KlDivLossGrad", lambda a, b: -b * a, gradient_of=True, first=True)

_LOGITS, _CLASSES, _WEIGHT = spread(4, 5), np.array([0, 2, 4, 1], I32), spread(5, low=0.5)


@problem
def NLLLoss() -> Problem:
    picked = _WEIGHT[_CLASSES]
    y = (-wide(picked) * _LOGITS[np.arange(4), _CLASSES]).sum()
    answers = [np.asarray(y, F), np.asarray(picked.sum(), F)]
    return Problem([_LOGITS, _CLASSES, _WEIGHT], answers, {"reduction": "sum"})


@problem
def NLLLossGrad() -> Problem:
    answer = np.zeros((4, 5), F)
    answer[np.arange(4), _CLASSES] = -0.5 * _WEIGHT[_CLASSES]
    total = np.asarray(_WEIGHT[_CLASSES].sum(), F)
    given = [_LOGITS, np.asarray(0.5, F), _CLASSES, _WEIGHT, total]
    return Problem(given, [answer], {"reduction": "sum"})


@problem
def SoftmaxCrossEntropyWithLogits() -> Problem:
    x, labels = spread(4, 5), softmax(wide(spread(4, 5))).astype(F)
    p = softmax(wide(x))
    answers = [(-labels * np.log(p)).sum(1).astype(F), (p - labels).astype(F)]
    return Problem([x, labels], answers)


# --- the rest
@problem
def ApplyAdamW() -> Problem:
    var, m, v, grad = spread(6), spread(6), spread(6, low=0), spread(6)
    p1, p2, lr, decay, b1, b2, eps = 0.9, 0.99, 0.01, 0.1, 0.9, 0.99, 1e-6
    new_m = wide(m) * b1 + (1 - b1) * wide(grad)
    new_v = wide(v) * b2 + (1 - b2) * wide(grad) ** 2
    one, two = 1 - p1 * b1, 1 - p2 * b2
    step = lr / one * new_m / (np.sqrt(new_v / two) + eps)
    new_var = wide(var) * (1 - lr * decay) - step
    numbers = [F([n]) for n in (p1, p2, lr, decay, b1, b2, eps)]
    answers = [new_var.astype(F), new_m.astype(F), new_v.astype(F)]
    return Problem([var, m, v, *numbers, grad], answers, shared={0: 0, 1: 1, 2: 2})


def rotated(x: Any, cos: Any, sin: Any, pairs: bool = False) -> Any:
    half = x.shape[-1] // 2
    x = wide(x)
    if pairs:
        x = np.concatenate([x[..., ::2], x[..., 1::2]], -1)
    turned = np.concatenate([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


@problem
def RotaryPositionEmbedding() -> Problem:
    x, cos, sin = spread(2, 3, 4, 64), spread(2, 3, 1, 64), spread(2, 3, 1, 64)
    return Problem([x, cos, sin], [rotated(x, cos, sin).astype(F)])


@problem
def InterleaveRope() -> Problem:
    x, cos, sin = (
        spread(*s).astype(np.float16) for s in ((2, 4, 3, 64), (2, 1, 3, 64), (2, 1, 3, 64))
    )
    answer = rotated(x, wide(cos), wide(sin), pairs=True).astype(np.float16)
    return Problem([x, cos, sin], [answer], relative=4e-3)


@problem
def ApplyRotaryPosEmb() -> Problem:
    q, k = (spread(2, 3, h, 128).astype(np.float16) for h in (4, 2))
    cos, sin = (spread(2, 3, 1, 128).astype(np.float16) for _ in range(2))
    answers = [rotated(x, wide(cos), wide(sin)).astype(np.float16) for x in (q, k)]
    return Problem([q, k, cos, sin], answers, shared={0: 0, 1: 1}, relative=4e-3)


@problem
def ScaledMaskedSoftmax() -> Problem:
    x, mask = spread(2, 3, 4, 32), RANDOM.integers(0, 2, (2, 1, 4, 32)).astype(np.bool_)
    answer = softmax(np.where(mask, -10000.0, wide(x) * 0.5))
    return Problem([x, mask], [answer.astype(F)], {"scale": 0.5})


@problem
def ScaledMaskedSoftmaxGrad() -> Problem:
    dy, mask = spread(2, 3, 4, 64), RANDOM.integers(0, 2, (2, 1, 4, 64)).astype(np.bool_)
    y = softmax(wide(spread(2, 3, 4, 64))).astype(F)
    inner = (wide(y) * dy).sum(-1, keepdims=True)
    answer = np.where(mask, 0, 0.5 * wide(y) * (dy - inner))
    return Problem([dy, y, mask], [answer.astype(F)], {"scale": 0.5})


@problem
def AdaptiveAvgPool2d() -> Problem:
    x = spread(2, 3, 6, 4)
    answer = wide(x).reshape(2, 3, 3, 2, 2, 2).mean((3, 5)).astype(F)
    return Problem([Side(x, format=0)], [Side(answer, format=0)], {"output_size": [3, 2]})


@problem
def GridSampler2D() -> Problem:
    x = spread(1, 2, 4, 5)
    down, right = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 5), indexing="ij")
    grid = np.stack([right, down], -1)[None].astype(F)
    sides = [Side(x, format=0), Side(grid, format=0)]
    attributes = {"align_corners": True, "interpolation_mode": "nearest"}
    return Problem(sides, [Side(x.copy(), format=0)], attributes)


# --- lists
def listed(names: str, low: float, high: float, **formulas: Any) -> None:
    """Types that apply a formula to every tensor of a list."""
    for name in names.split():
        chosen = formulas.get(name) or getattr(np, name.lower())

        def make(rule: Any = chosen) -> Problem:
            parts = [spread(n, 4, low=low, high=high) for n in (2, 3)]
            return Problem(parts, [rule(wide(p)).astype(F) for p in parts])

        PROBLEMS["Foreach" + name] = make


listed(
    "Abs Atan Cos Cosh Exp Expm1 Neg Sigmoid Sign Sin Sinh Tan Tanh Copy Erf Erfc",
    -1,
    1,
    Atan=np.arctan,
    Neg=np.negative,
    Sigmoid=sigmoid,
    Copy=lambda x: x,
    Erf=special.erf,
    Erfc=special.erfc,
)
listed("Acos Asin Log Log10 Log1p Log2 Reciprocal Sqrt", 0.1, 0.9, Acos=np.arccos, Asin=np.arcsin)


def paired(name: str, rule: Any, alpha: float | None = None) -> None:
    """A type that combines two lists."""

    def make() -> Problem:
        a, b = ([spread(n, 4, low=0.5) for n in (2, 3)] for _ in range(2))
        answers = [rule(wide(x), wide(y)).astype(F) for x, y in zip(a, b, strict=True)]
        return Problem([*a, *b, *([F([alpha])] if alpha else [])], answers)

    PROBLEMS["Foreach" + name] = make


paired("DivList", np.divide)
paired("MulList", np.multiply)
paired("MaximumList", np.maximum)
paired("MinimumList", np.minimum)
paired("PowList", np.power)
paired("AddList", lambda a, b: a + 0.5 * b, 0.5)
paired("SubList", lambda a, b: a - 0.5 * b, 0.5)
