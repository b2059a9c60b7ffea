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

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

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


# Written out, so that type checkers and editors know the names.
abs = _unary("abs")
acos = _unary("acos")
acosh = _unary("acosh")
asin = _unary("asin")
asinh = _unary("asinh")
atan = _unary("atan")
atanh = _unary("atanh")
bitwise_invert = _unary("bitwise_invert")
ceil = _unary("ceil")
conj = _unary("conj")
cos = _unary("cos")
cosh = _unary("cosh")
exp = _unary("exp")
expm1 = _unary("expm1")
floor = _unary("floor")
isfinite = _unary("isfinite")
isinf = _unary("isinf")
isnan = _unary("isnan")
log = _unary("log")
log10 = _unary("log10")
log1p = _unary("log1p")
log2 = _unary("log2")
logical_not = _unary("logical_not")
negative = _unary("negative")
positive = _unary("positive")
reciprocal = _unary("reciprocal")
sign = _unary("sign")
signbit = _unary("signbit")
sin = _unary("sin")
sinh = _unary("sinh")
sqrt = _unary("sqrt")
square = _unary("square")
tan = _unary("tan")
tanh = _unary("tanh")
trunc = _unary("trunc")

add = _binary("add")
atan2 = _binary("atan2")
bitwise_and = _binary("bitwise_and")
bitwise_left_shift = _binary("bitwise_left_shift")
bitwise_or = _binary("bitwise_or")
bitwise_right_shift = _binary("bitwise_right_shift")
bitwise_xor = _binary("bitwise_xor")
copysign = _binary("copysign")
divide = _binary("divide")
equal = _binary("equal")
floor_divide = _binary("floor_divide")
greater = _binary("greater")
greater_equal = _binary("greater_equal")
hypot = _binary("hypot")
less = _binary("less")
less_equal = _binary("less_equal")
logaddexp = _binary("logaddexp")
logical_and = _binary("logical_and")
logical_or = _binary("logical_or")
logical_xor = _binary("logical_xor")
maximum = _binary("maximum")
minimum = _binary("minimum")
multiply = _binary("multiply")
nextafter = _binary("nextafter")
not_equal = _binary("not_equal")
pow = _binary("pow")
remainder = _binary("remainder")
subtract = _binary("subtract")


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
