# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic and bits, element by element."""

from __future__ import annotations

from maintain.functional.row import Row
from maintain.functional.tables.forms import TRUTH, TRUTH_PAIR, binary, unary

__all__ = ["ROWS"]


def _compare(name: str, words: str) -> Row:
    return binary(
        name,
        f"Test where ``input`` is {words} ``other``.",
        f"{name}_tensor(input, other, out)",
        f"{name}_scalar(input, other, out)",
        TRUTH_PAIR,
    )


def _bitwise(name: str, words: str) -> Row:
    return binary(
        f"bitwise_{name}",
        f"Compute the bitwise {words} of integers or bool.",
        f"bitwise_{name}_tensor(input, other, out)",
        f"bitwise_{name}_scalar(input, other, out)",
    )


ROWS = (
    _compare("eq", "equal to"),
    _compare("ne", "different from"),
    _compare("gt", "greater than"),
    _compare("ge", "greater than or equal to"),
    _compare("lt", "less than"),
    _compare("le", "less than or equal to"),
    binary("isclose", "Test where two tensors are equal within a tolerance.",
           "is_close(input, other, rtol, atol, equal_nan, out)", out=TRUTH_PAIR,
           more=", rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False",
           about={"rtol": "Tolerance relative to ``other``.", "atol": "Absolute tolerance.",
                  "equal_nan": "Whether NaN equals NaN."}),
    binary("logical_and", "Test where both elements are nonzero.",
           "logical_and(input, other, out)", out=TRUTH_PAIR),
    binary("logical_or", "Test where at least one of the elements is nonzero.",
           "logical_or(input, other, out)", out=TRUTH_PAIR),
    binary("logical_xor", "Test where exactly one of the elements is nonzero.",
           "logical_xor(input, other, out)", out=TRUTH_PAIR),
    unary("logical_not", "Test where elements are zero.", TRUTH),
    _bitwise("and", "and"),
    _bitwise("or", "or"),
    _bitwise("xor", "exclusive or"),
    unary("bitwise_not", "Invert the bits of integers, or negate bool."),
    unary("isfinite", "Test where elements are neither infinite nor NaN.", TRUTH, "is_finite"),
    unary("isinf", "Test where elements are infinite.", TRUTH, "is_inf"),
    unary("signbit", "Test where the sign bit is set.", TRUTH),
)  # fmt: skip
