# SPDX-License-Identifier: Apache-2.0
"""What a problem of an operator type is, and NumPy's formulas that several of them need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

F, D, I32, I64 = np.float32, np.float64, np.int32, np.int64


@dataclass
class Problem:
    """What is given to an operator type and what it has to answer."""

    inputs: Sequence[Any]
    expected: Sequence[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    shared: dict[int, int] = field(default_factory=dict)  # outputs that are inputs
    relative: float = 2e-5


PROBLEMS: dict[str, Callable[[], Problem]] = {}
RANDOM = np.random.default_rng(16)


def spread(*shape: int, low: float = -2, high: float = 2) -> Any:
    """Numbers of a range, as float32."""
    return RANDOM.uniform(low, high, shape).astype(F)


def wide(array: Any) -> Any:
    """The array in the type NumPy computes with."""
    return np.asarray(array, D)


def elementwise(formula: Any, *arrays: Any, **attributes: Any) -> Problem:
    """A formula over arrays."""
    answer = np.asarray(formula(*[wide(a) if a.dtype == F else a for a in arrays]))
    made = answer if answer.dtype == np.bool_ else answer.astype(arrays[-1].dtype)
    return Problem(list(arrays), [made], attributes)


def problem(function: Callable[[], Problem]) -> Callable[[], Problem]:
    """Register the problem of the type that the function is named after."""
    PROBLEMS[function.__name__] = function
    return function


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + special.erf(x / math.sqrt(2)))


def slope(formula: Any, x: Any) -> Any:
    """The derivative of a smooth formula."""
    h = 1e-5
    return (formula(x + h) - formula(x - h)) / (2 * h)
