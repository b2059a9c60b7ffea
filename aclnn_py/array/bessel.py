# SPDX-License-Identifier: Apache-2.0
"""NumPy's ``i0``, the modified Bessel function of order zero, as Chebyshev series."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import floating
from aclnn_py.array.promotion import cast
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []

_BORDER = 8.0  # between the two series


def i0(x: Tensor) -> Tensor:
    """By a series in x up to 8 and one in 1 / x beyond, each times exp(x)."""
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    values = floating(x)
    kind = values.layout.dtype
    if kind.numpy.itemsize == 2:
        values = cast(values, dtype_of("float32"))
    size = apply("absolute", values)
    near, far = _series()
    small = apply("minimum", size, _BORDER)
    large = apply("maximum", size, _BORDER)
    sums = functional.where(
        size <= _BORDER,
        _sum(near, small * (2 / _BORDER) - 1),
        _sum(far, 2 * _BORDER / large - 1) / apply("sqrt", large),
    )
    return cast(apply("exp", size) * sums, kind)


def _sum(coefficients: list[float], x: Tensor) -> Tensor:
    """Clenshaw's recurrence, the last coefficient first."""
    twice, before = 2 * x, x * 0
    total = before + coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        total, before = twice * total - before + coefficient, total
    return x * total - before + coefficients[0]


@cache
def _series() -> tuple[list[float], list[float]]:
    """Coefficients of exp(-x) I0(x), and of sqrt(x) exp(-x) I0(x) in 16 / x."""
    near = _coefficients(lambda t: _scaled((t + 1) * _BORDER / 2), 30)
    far = _coefficients(lambda t: _scaled(2 * _BORDER / (t + 1), root=True), 25)
    return near, far


def _scaled(x: Any, root: bool = False) -> Any:
    """exp(-x) I0(x), the mean of exp(x (cos t - 1)): equal steps give such a mean exactly."""
    steps = 2048
    halves = np.arange(steps + 1) * (np.arccos(np.longdouble(-1)) / (2 * steps))
    weights = np.ones(steps + 1, np.longdouble)
    weights[[0, -1]] = 0.5
    mean = (np.exp(np.multiply.outer(x, -2 * np.sin(halves) ** 2)) * weights).sum(-1) / steps
    return mean * np.sqrt(x) if root else mean


def _coefficients(function: Callable[[Any], Any], count: int) -> list[float]:
    """Of the polynomial that meets a function of -1 to 1 at Chebyshev's nodes."""
    angles = (np.arange(count) + np.longdouble(0.5)) * (np.arccos(np.longdouble(-1)) / count)
    waves = np.cos(np.multiply.outer(np.arange(count), angles))
    found = 2 / np.longdouble(count) * (waves * function(np.cos(angles))).sum(-1)
    found[0] /= 2
    return [float(value) for value in found]
