# SPDX-License-Identifier: Apache-2.0
"""Functions of the array API standard of each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aclnn_py.array import mathematics
from aclnn_py.array.arithmetic import choose
from aclnn_py.array.promotion import cast, result_type
from aclnn_py.array.ufuncs import evaluate
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

_UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "conj",
    "cos", "cosh", "exp", "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10",
    "log1p", "log2", "logical_not", "negative", "positive", "reciprocal", "sign", "signbit",
    "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
_BINARY = (
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal",
    "hypot", "less", "less_equal", "logaddexp", "logical_and", "logical_or", "logical_xor",
    "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow", "remainder", "subtract",
)  # fmt: skip

__all__ = [*_UNARY, *_BINARY, "clip", "imag", "real", "round"]

# Of two integers NumPy's quotient is float64; the default float is float32.
_QUOTIENTS = {"divide"}


def _unary(name: str) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor, /) -> Tensor:
        result: Tensor = evaluate(name, x)
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of each element."
    return function


def _binary(name: str) -> Callable[[Any, Any], Tensor]:
    def function(x1: Any, x2: Any, /) -> Tensor:
        if name in _QUOTIENTS and result_type(x1, x2).numpy.kind in "iub":
            single = dtype_of("float32")
            x1, x2 = (cast(x, single) if isinstance(x, Tensor) else float(x) for x in (x1, x2))
        result: Tensor = evaluate(name, x1, x2)
        if name == "remainder" and result.dtype.kind == "f":
            # The standard gives a zero the sign of the divisor; CANN leaves it open.
            signed = evaluate("copysign", result * 0, x2)
            result = choose(result == 0, signed, result)
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of each pair of elements; one of both may be a Python number."
    return function


globals().update({name: _unary(name) for name in _UNARY})
globals().update({name: _binary(name) for name in _BINARY})


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Each element, or the limit that it exceeds."""
    return cast(mathematics.clip(x, min, max), x.layout.dtype)


def imag(x: Tensor, /) -> Tensor:
    """The imaginary parts."""
    if x.dtype.kind != "c":
        raise TypeError(f"imag: only for complex numbers, not {x.dtype_name}")
    return mathematics.imag(x)


def real(x: Tensor, /) -> Tensor:
    """The real parts."""
    return mathematics.real(x)


def round(x: Tensor, /) -> Tensor:
    """The nearest whole number, ties to even."""
    return mathematics.round_(x)
