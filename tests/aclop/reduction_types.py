# SPDX-License-Identifier: Apache-2.0
"""Reductions, with NumPy's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.aclop import const
from scipy import special

from .problem import I32, I64, PROBLEMS, RANDOM, F, Problem, problem, spread, wide


# --- reductions
def reduction(name: str, function: Any, kind: Any = F, low: float = 0.5) -> None:
    """A reduction with axes as an input, and its type with axes as an attribute."""

    def make(attribute: bool) -> Problem:
        x = spread(3, 4, 5, low=low, high=1.5)
        x = RANDOM.integers(0, 2, x.shape).astype(np.bool_) if kind is np.bool_ else x
        source = x if kind is np.bool_ else wide(x)
        axes = (2,) if name == "ReduceProd" else (0, 2)
        answer = np.asarray(function(source, axis=axes, keepdims=True), kind)
        if attribute:
            return Problem([x], [answer], {"axes": list(axes), "keep_dims": True})
        return Problem([x, const(I64(axes))], [answer], {"keep_dims": True})

    PROBLEMS[name] = lambda: make(False)
    if name not in ("ReduceLogSumExp", "ReduceNansum", "ReduceLogSum"):
        PROBLEMS[name + "D"] = lambda: make(True)


reduction("ReduceSum", np.sum)
reduction("ReduceMean", np.mean)
reduction("ReduceMax", np.max)
reduction("ReduceMin", np.min)
reduction("ReduceProd", np.prod)
reduction("ReduceAll", np.all, np.bool_)
reduction("ReduceAny", np.any, np.bool_)
reduction("ReduceLogSumExp", special.logsumexp)
reduction("ReduceNansum", np.nansum)
reduction("ReduceLogSum", lambda x, axis, keepdims: np.log(np.sum(x, axis=axis, keepdims=keepdims)))

for _name, _rule in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
    PROBLEMS["ArgMaxV2" if _name == "ArgMax" else _name] = lambda rule=_rule: (
        lambda x: Problem([x, const(I32([1]))], [rule(x, axis=1).astype(I32)])
    )(spread(3, 5))
    PROBLEMS[_name + "D"] = lambda rule=_rule: (
        lambda x: Problem([x], [rule(x, axis=1).astype(I32)], {"dimension": 1})
    )(spread(3, 5))
for _name, _place, _value in (
    ("ArgMaxWithValue", np.argmax, np.max),
    ("ArgMinWithValue", np.argmin, np.min),
):
    PROBLEMS[_name] = lambda place=_place, value=_value: (
        lambda x: Problem([x], [place(x, axis=1).astype(I32), value(x, axis=1)], {"dimension": 1})
    )(spread(3, 5))


@problem
def Cumsum() -> Problem:
    x = spread(3, 5)
    answer = np.cumsum(wide(x)[:, ::-1], 1)[:, ::-1]
    return Problem([x, const(I32([1]))], [answer.astype(F)], {"reverse": True})


@problem
def Cumprod() -> Problem:
    x = spread(3, 5)
    return Problem([x, const(I32([0]))], [np.cumprod(wide(x), 0).astype(F)])


for _name, _rule, _axis in (
    ("Cummax", np.maximum, "dim"),
    ("Cummin", np.minimum, "axis"),
):

    def _running(rule: Any = _rule, axis: str = _axis) -> Problem:
        x = RANDOM.permutation(20).reshape(4, 5).astype(F)
        values = rule.accumulate(x, 1)
        places = (values[:, :, None] == x[:, None, :]).argmax(2)
        return Problem([x], [values, places.astype(I32)], {axis: 1})

    PROBLEMS[_name] = _running


@problem
def Trace() -> Problem:
    x = spread(4, 4)
    return Problem([x], [np.asarray(np.trace(wide(x)), F)])


@problem
def TopKV2() -> Problem:
    x = RANDOM.permutation(20).reshape(4, 5).astype(F)
    order = np.argsort(-x, 1)[:, :2]
    return Problem([x, const(I32([2]))], [np.take_along_axis(x, order, 1), order], {"sorted": True})


@problem
def Sort() -> Problem:
    x = RANDOM.permutation(20).reshape(4, 5).astype(F)
    order = np.argsort(-x, 1)
    return Problem([x], [np.take_along_axis(x, order, 1), order], {"descending": True})


@problem
def LpNormV2() -> Problem:
    x = spread(3, 5)
    answer = np.linalg.norm(wide(x), axis=1, keepdims=True).astype(F)
    return Problem([x], [answer], {"axes": [1], "keepdim": True})
