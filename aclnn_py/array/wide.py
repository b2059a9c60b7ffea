# SPDX-License-Identifier: Apache-2.0
"""Operators that take no float64 or complex128, and there several others with float64's precision.

Each function writes its last argument, as the operator does.
"""

from __future__ import annotations

from math import inf, log

from aclnn_py import functional, ops
from aclnn_py.array.parts import part
from aclnn_py.tensor.tensor import Tensor

__all__ = ["absolute", "expm1", "logaddexp", "logaddexp2", "tanh"]


def absolute(a: Tensor, out: Tensor) -> None:
    """Magnitude, without overflow on the way; infinite where a part is, beside NaN too."""
    if a.dtype_name != "complex128":
        ops.abs(a, out)
        return
    if not a.count:
        return
    parts = (functional.abs(functional.contiguous(part(a, number))) for number in (0, 1))
    real, imaginary = parts
    large, small = functional.maximum(real, imaginary), functional.minimum(real, imaginary)
    ratio = functional.div(small, functional.where(large == 0, large + 1.0, large))
    length = large * functional.sqrt(ratio * ratio + 1.0)
    infinite = (real == inf) | (imaginary == inf)
    ops.s_where(infinite, functional.full_like(length, inf), length, out)


def tanh(a: Tensor, out: Tensor) -> None:
    """From 20 on the quotient is 1."""
    if a.dtype_name != "float64":
        ops.tanh(a, out)
        return
    bounded = functional.clamp(a, -20.0, 20.0)
    ops.div(functional.sinh(bounded), functional.cosh(bounded), out)


def expm1(a: Tensor, out: Tensor) -> None:
    """The hyperbolic sine and the exponential of half the number: 2 sinh(a / 2) exp(a / 2)."""
    if a.dtype_name != "float64":
        ops.expm1(a, out)
        return
    half = functional.clamp(a, -80.0, inf) * 0.5  # below, the result is -1
    ops.mul(functional.sinh(half) * 2.0, functional.exp(half), out)


def logaddexp(a: Tensor, b: Tensor, out: Tensor) -> None:
    """The larger number, and the rest from the distance to the other."""
    if a.dtype_name != "float64":
        ops.log_add_exp(a, b, out)
        return
    rest = functional.log1p(functional.exp(_minus_distance(a, b)))
    ops.add(functional.maximum(a, b), rest, 1, out)


def logaddexp2(a: Tensor, b: Tensor, out: Tensor) -> None:
    """As ``logaddexp``, to base 2."""
    if a.dtype_name != "float64":
        ops.log_add_exp2(a, b, out)
        return
    rest = functional.log1p(functional.exp2(_minus_distance(a, b))) * (1 / log(2))
    ops.add(functional.maximum(a, b), rest, 1, out)


def _minus_distance(a: Tensor, b: Tensor) -> Tensor:
    """0 between equal numbers, infinite ones included."""
    distance = functional.abs(a - b)
    return functional.neg(functional.where(a == b, functional.zeros_like(distance), distance))
