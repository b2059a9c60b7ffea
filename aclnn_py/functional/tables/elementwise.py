# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons and functions of single elements."""

from __future__ import annotations

from collections.abc import Mapping

from aclnn_py.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_SAME = Output("Of the same shape and dtype.")
_REAL = Output("Of the same shape; float32 for integers, else the same dtype.",
               dtype="real(promote(input))")  # fmt: skip
_TRUTH = Output("Of the same shape; dtype bool.", dtype="'bool'")
_PAIR = Output(
    "Of the broadcast shape and the promoted dtype.",
    "broadcast(input, other)",
    "promote(input, other)",
)
_REAL_PAIR = Output(
    "Of the broadcast shape; float32 for integers, else the promoted dtype.",
    "broadcast(input, other)",
    "real(promote(input, other))",
)
_TRUTH_PAIR = Output("Of the broadcast shape; dtype bool.", "broadcast(input, other)", "'bool'")


def unary(name: str, summary: str, out: Output = _SAME, operator: str = "") -> Row:
    """A function of every element."""
    call = f"{operator or name}(input, out)"
    return Row(name, "input: Tensor", summary, (out,), (call,))


def binary(
    name: str,
    summary: str,
    tensor: str,
    number: str = "",
    out: Output = _PAIR,
    *,
    more: str = "",
    about: Mapping[str, str] | None = None,
) -> Row:
    """A function of two tensors, or of a tensor and a number where the operator has that form."""
    operand = "Tensor | Number" if number else "Tensor"
    calls: tuple[str | Call, ...] = (tensor,)
    if number:
        calls = (Call("is_number(other)", (number,)), tensor)
    head = f"input: Tensor, other: {operand}{more}"
    known = {} if number else {"other": "Broadcast with ``input``; dtypes are promoted."}
    return Row(name, head, summary, (out,), calls, {**known, **(about or {})})


def _compare(name: str, words: str) -> Row:
    return binary(
        name,
        f"Tell where ``input`` is {words} ``other``.",
        f"{name}_tensor(input, other, out)",
        f"{name}_scalar(input, other, out)",
        _TRUTH_PAIR,
    )


def _bitwise(name: str, words: str) -> Row:
    return binary(
        f"bitwise_{name}",
        f"Combine the bits of two tensors of integers or bool by {words}.",
        f"bitwise_{name}_tensor(input, other, out)",
        f"bitwise_{name}_scalar(input, other, out)",
    )


_ALPHA = ", *, alpha: Number = 1"

ROWS = (
    binary("add", "Add ``alpha`` times ``other`` to ``input``.",
           "add(input, other, alpha, out)", "adds(input, other, alpha, out)", more=_ALPHA),
    binary("sub", "Subtract ``alpha`` times ``other`` from ``input``.",
           "sub(input, other, alpha, out)", "subs(input, other, alpha, out)", more=_ALPHA),
    binary("rsub", "Subtract ``alpha`` times ``input`` from ``other``.",
           "rsub(input, other, alpha, out)", "rsubs(input, other, alpha, out)", more=_ALPHA,
           about={"alpha": "Factor of ``input``."}),
    binary("mul", "Multiply element by element.", "mul(input, other, out)",
           "muls(input, other, out)"),
    binary("div", "Divide element by element.", "div(input, other, out)",
           "divs(input, other, out)", _REAL_PAIR),
    binary("floor_divide", "Divide and round down.", "floor_divide(input, other, out)",
           "floor_divides(input, other, out)"),
    binary("remainder", "Take the remainder of a division, with the sign of the divisor.",
           "remainder_tensor_tensor(input, other, out)",
           "remainder_tensor_scalar(input, other, out)"),
    binary("fmod", "Take the remainder of a division, with the sign of the dividend.",
           "fmod_tensor(input, other, out)", "fmod_scalar(input, other, out)"),
    binary("maximum", "Take the larger of two elements; NaN if one of them is.",
           "maximum(input, other, out)"),
    binary("minimum", "Take the smaller of two elements; NaN if one of them is.",
           "minimum(input, other, out)"),
    binary("atan2", "Angle of the point (``other``, ``input``), in radians.",
           "atan2(input, other, out)", out=_REAL_PAIR),
    binary("logaddexp", "Logarithm of the sum of two exponentials.",
           "log_add_exp(input, other, out)", out=_REAL_PAIR),
    Row("pow", "input: Tensor | Number, exponent: Tensor | Number",
        "Raise ``input`` to a power, element by element.",
        (Output("Of the broadcast shape and the promoted dtype.", "broadcast(input, exponent)",
                "promote(input, exponent)"),),
        (Call("is_number(exponent)", ("pow_tensor_scalar(input, exponent, out)",)),
         Call("is_number(input)", ("pow_scalar_tensor(input, exponent, out)",)),
         "pow_tensor_tensor(input, exponent, out)"),
        {"input": "The base.", "exponent": "Broadcast with ``input``; one of the two is a tensor."},
        checks=("expect_a_tensor(input=input, exponent=exponent)",),
        device="(exponent if is_number(input) else input).device"),
    Row("addcmul", "input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1",
        "Add ``value`` times the product of two tensors.",
        (Output("Of the broadcast shape and the promoted dtype.",
                "broadcast(input, tensor1, tensor2)", "promote(input, tensor1, tensor2)"),),
        ("addcmul(input, tensor1, tensor2, value, out)",), {"value": "Factor of the product."}),
    Row("addcdiv", "input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1",
        "Add ``value`` times the quotient of two tensors.",
        (Output("Of the broadcast shape and the promoted dtype.",
                "broadcast(input, tensor1, tensor2)", "promote(input, tensor1, tensor2)"),),
        ("addcdiv(input, tensor1, tensor2, value, out)",), {"value": "Factor of the quotient."}),
    _compare("eq", "equal to"),
    _compare("ne", "different from"),
    _compare("gt", "greater than"),
    _compare("ge", "greater than or equal to"),
    _compare("lt", "less than"),
    _compare("le", "less than or equal to"),
    binary("isclose", "Tell where two tensors differ by no more than a tolerance.",
           "is_close(input, other, rtol, atol, equal_nan, out)", out=_TRUTH_PAIR,
           more=", rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False",
           about={"rtol": "Tolerance in parts of ``other``.", "atol": "Tolerance added to it.",
                  "equal_nan": "Whether NaN equals NaN."}),
    binary("logical_and", "Tell where both elements are not zero.",
           "logical_and(input, other, out)", out=_TRUTH_PAIR),
    binary("logical_or", "Tell where one of the elements is not zero.",
           "logical_or(input, other, out)", out=_TRUTH_PAIR),
    binary("logical_xor", "Tell where exactly one of the elements is not zero.",
           "logical_xor(input, other, out)", out=_TRUTH_PAIR),
    unary("logical_not", "Tell where elements are zero.", _TRUTH),
    _bitwise("and", "and"),
    _bitwise("or", "or"),
    _bitwise("xor", "exclusive or"),
    unary("bitwise_not", "Invert the bits of integers, or bool."),
    unary("isfinite", "Tell where elements are neither infinite nor NaN.", _TRUTH, "is_finite"),
    unary("isinf", "Tell where elements are infinite.", _TRUTH, "is_inf"),
    unary("signbit", "Tell where the sign bit is set.", _TRUTH),
    unary("abs", "Absolute value."),
    unary("neg", "Change the sign."),
    Row("sign", "input: Tensor", "Sign of each element: -1, 0 or 1.", (_SAME,),
        ("sign(input, out)",)),
    unary("square", "Multiply each element by itself."),
    unary("sqrt", "Square root.", _REAL),
    unary("rsqrt", "One divided by the square root.", _REAL),
    unary("reciprocal", "One divided by each element.", _REAL),
    unary("exp", "Raise e to the power of each element.", _REAL),
    unary("exp2", "Raise 2 to the power of each element.", _REAL),
    unary("expm1", "Raise e to the power of each element and subtract 1.", _REAL),
    unary("log", "Natural logarithm.", _REAL),
    unary("log2", "Logarithm to base 2.", _REAL),
    unary("log10", "Logarithm to base 10.", _REAL),
    unary("log1p", "Natural logarithm of 1 plus each element.", _REAL),
    unary("sin", "Sine of angles in radians.", _REAL),
    unary("cos", "Cosine of angles in radians.", _REAL),
    unary("tan", "Tangent of angles in radians.", _REAL),
    unary("sinh", "Hyperbolic sine.", _REAL),
    unary("cosh", "Hyperbolic cosine.", _REAL),
    unary("tanh", "Hyperbolic tangent.", _REAL),
    unary("asin", "Inverse sine, in radians.", _REAL),
    unary("acos", "Inverse cosine, in radians.", _REAL),
    unary("atan", "Inverse tangent, in radians.", _REAL),
    unary("asinh", "Inverse hyperbolic sine.", _REAL),
    unary("acosh", "Inverse hyperbolic cosine.", _REAL),
    unary("atanh", "Inverse hyperbolic tangent.", _REAL),
    unary("erf", "Error function.", _REAL),
    unary("erfc", "Complement of the error function.", _REAL),
    unary("floor", "Round down."),
    unary("ceil", "Round up."),
    unary("trunc", "Round towards zero."),
    unary("round", "Round to the nearest integer, ties to even."),
    Row("clamp", "input: Tensor, min: Number | None = None, max: Number | None = None",
        "Limit the elements to a range.", (_SAME,),
        (Call("min is None", ("clamp_max(input, max, out)",)),
         Call("max is None", ("clamp_min(input, min, out)",)),
         "clamp(input, min, max, out)"),
        {"min": "Lower limit, none by default.", "max": "Upper limit, none by default."},
        checks=("check_limits(min, max)",)),
    Row("nan_to_num",
        "input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None",
        "Replace NaN and infinities.", (_SAME,),
        ("nan_to_num(input, nan, largest(input) if posinf is None else posinf, "
         "-largest(input) if neginf is None else neginf, out)",),
        {"nan": "What NaN becomes.", "posinf": "What infinity becomes; by default the largest "
         "number of the dtype.", "neginf": "What minus infinity becomes; by default the smallest "
         "number of the dtype."}),
    Row("lerp", "input: Tensor, end: Tensor, weight: Tensor | Number",
        "Go from ``input`` a part ``weight`` of the way to ``end``.",
        (Output("Of the broadcast shape and the dtype of ``input``.",
                "broadcast(input, end, weight)"),),
        (Call("is_number(weight)", ("lerps(input, end, weight, out)",)),
         "lerp(input, end, weight, out)"),
        {"end": "Of the dtype of ``input``.", "weight": "0 gives ``input``, 1 gives ``end``."}),
    Row("where", "condition: Tensor, input: Tensor, other: Tensor",
        "Choose ``input`` where the condition holds, else ``other``.",
        (Output("Of the broadcast shape and the promoted dtype.",
                "broadcast(condition, input, other)", "promote(input, other)"),),
        ("s_where(condition, input, other, out)",),
        {"other": "Broadcast with ``input``; dtypes are promoted."}),
    Row("masked_fill", "input: Tensor, mask: Tensor, value: Tensor | Number",
        "Copy a tensor and overwrite the elements under a mask.",
        (Output("Of the broadcast shape and the dtype of ``input``.", "broadcast(input, mask)"),),
        (Call("is_number(value)", ("inplace_copy(out, input)",
                                   "inplace_masked_fill_scalar(out, mask, value)")),
         "inplace_copy(out, input)", "inplace_masked_fill_tensor(out, mask, value)"),
        {"mask": "Broadcast with ``input``; true where to overwrite.",
         "value": "A number, or a tensor of one element."}),
    Row("cast", "input: Tensor, dtype: DTypeLike", "Convert the elements to another dtype.",
        (Output("Of the same shape, row-major.", dtype="dtype"),), ("cast(input, dtype, out)",)),
    Row("contiguous", "input: Tensor", "Copy a strided view into a row-major tensor.",
        (Output("A new tensor of the same shape and dtype, also when ``input`` is row-major "
                "already."),),
        ("inplace_copy(out, input)",)),
    Row("complex", "real: Tensor, imag: Tensor",
        "Put real and imaginary parts together.",
        (Output("Of the broadcast shape; complex64 for float32, complex128 for float64.",
                "broadcast(real, imag)",
                "'complex128' if real.dtype_name == 'float64' else 'complex64'"),),
        ("complex(real, imag, out)",)),
)  # fmt: skip
