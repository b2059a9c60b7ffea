# SPDX-License-Identifier: Apache-2.0
"""Functions of each element: roots, exponentials, trigonometry, rounding, limits."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import REAL, SAME, unary

__all__ = ["ROWS"]

_MAGNITUDE = Output(
    "Same shape as ``input``; of complex numbers the dtype of their parts, else the same dtype.",
    dtype="{'complex64': 'float32', 'complex128': 'float64'}.get("
          "input.dtype_name, input.dtype_name)")  # fmt: skip
ROWS = (
    unary("abs", "Compute the absolute value of each element.", _MAGNITUDE),
    unary("neg", "Change the sign of each element."),
    unary("sign", "Compute the sign of each element: -1, 0 or 1."),
    unary("square", "Multiply each element by itself."),
    unary("sqrt", "Compute the square root of each element.", REAL),
    unary("rsqrt", "Compute one divided by the square root of each element.", REAL),
    unary("reciprocal", "Compute one divided by each element.", REAL),
    unary("exp", "Raise e to the power of each element.", REAL),
    unary("exp2", "Raise 2 to the power of each element.", REAL),
    unary("expm1", "Raise e to the power of each element and subtract 1.", REAL),
    unary("log", "Compute the natural logarithm of each element.", REAL),
    unary("log2", "Compute the logarithm to base 2 of each element.", REAL),
    unary("log10", "Compute the logarithm to base 10 of each element.", REAL),
    unary("log1p", "Compute the natural logarithm of 1 plus each element.", REAL),
    unary("sin", "Compute the sine of angles in radians.", REAL),
    unary("cos", "Compute the cosine of angles in radians.", REAL),
    unary("tan", "Compute the tangent of angles in radians.", REAL),
    unary("sinh", "Compute the hyperbolic sine of each element.", REAL),
    unary("cosh", "Compute the hyperbolic cosine of each element.", REAL),
    unary("tanh", "Compute the hyperbolic tangent of each element.", REAL),
    unary("asin", "Compute the inverse sine of each element, in radians.", REAL),
    unary("acos", "Compute the inverse cosine of each element, in radians.", REAL),
    unary("atan", "Compute the inverse tangent of each element, in radians.", REAL),
    unary("asinh", "Compute the inverse hyperbolic sine of each element.", REAL),
    unary("acosh", "Compute the inverse hyperbolic cosine of each element.", REAL),
    unary("atanh", "Compute the inverse hyperbolic tangent of each element.", REAL),
    unary("erf", "Compute the error function of each element.", REAL),
    unary("erfc", "Compute one minus the error function of each element.", REAL),
    unary("floor", "Round each element down."),
    unary("ceil", "Round each element up."),
    unary("trunc", "Round each element towards zero."),
    unary("round", "Round each element to the nearest integer, ties to even."),
    Row("clamp", "input: Tensor, min: Number | None = None, max: Number | None = None",
        "Limit elements to a range.", (SAME,),
        (Call("min is not None and max is not None", ("clamp(input, min, max, out)",)),
         Call("min is not None", ("clamp_min(input, min, out)",)),
         Call("max is not None", ("clamp_max(input, max, out)",))),
        {"min": "Lower limit; default is none.", "max": "Upper limit; default is none."},
        steps=("check_limits(min, max)",)),
    Row("nan_to_num",
        "input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None",
        "Replace NaN and infinities by finite numbers.", (SAME,),
        ("nan_to_num(input, nan, posinf, neginf, out)",),
        {"nan": "Replacement for NaN.",
         "posinf": "Replacement for infinity; default is the largest number of the dtype.",
         "neginf": "Replacement for minus infinity; default is the smallest number of the dtype."},
        steps=("if posinf is None: posinf = largest(input)",
               "if neginf is None: neginf = -largest(input)")),
)  # fmt: skip
