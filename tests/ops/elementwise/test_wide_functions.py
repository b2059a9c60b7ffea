# SPDX-License-Identifier: Apache-2.0
"""Functions of float64: within four units in the last place of long double, the answers of the C
library at its limits, and results that do not depend on where an element lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

# Operator, NumPy's function, and the range of arguments.
FUNCTIONS: list[tuple[str, Callable[..., Any], float, float]] = [
    ("exp", np.exp, -700, 700),
    ("exp2", np.exp2, -1000, 1000),
    ("log", np.log, 1e-9, 50),
    ("log2", np.log2, 1e-9, 50),
    ("log10", np.log10, 1e-9, 50),
    ("log1p", np.log1p, -0.99, 50),
    ("sin", np.sin, -50, 50),
    ("cos", np.cos, -50, 50),
    ("tan", np.tan, -50, 50),
    ("asin", np.arcsin, -1, 1),
    ("acos", np.arccos, -1, 1),
    ("atan", np.arctan, -50, 50),
    ("sinh", np.sinh, -700, 700),
    ("cosh", np.cosh, -700, 700),
    ("asinh", np.arcsinh, -50, 50),
    ("acosh", np.arccosh, 1, 50),
    ("atanh", np.arctanh, -1, 1),
]
by_function = pytest.mark.parametrize(
    ("name", "function", "low", "high"), FUNCTIONS, ids=[row[0] for row in FUNCTIONS]
)
LIMITS = np.concatenate(
    [
        [0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3.25, np.inf, -np.inf, np.nan, 5e-324, -5e-324],
        [2.3e-308, 1e-310, -1e-310, 1e300, -1e300, 1.7e308, -1.7e308, 709.7, 710, -745, -746],
        [1e5, 1e22, 1 - 1e-16, 1 + 3e-16, 1024, -1074, -1075, 1e-20, -1e-20],
    ]
)


def ours(name: str, *operands: Any) -> Any:
    out = ap.empty(operands[0].shape, "float64")
    getattr(ap.ops, name)(*(ap.from_numpy(operand) for operand in operands), out)
    return out.numpy()


def same_at_limits(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=5e-323)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@by_function
def test_close_to_long_double(
    name: str, function: Callable[..., Any], low: float, high: float
) -> None:
    x = np.random.default_rng(3).uniform(low, high, 20_001)
    exact = function(x.astype(np.longdouble))
    units = np.abs(ours(name, x) - exact) / np.spacing(np.abs(exact).astype(np.float64))
    assert float(units.max()) < 4


@by_function
def test_limits_are_those_of_the_c_library(
    name: str, function: Callable[..., Any], low: float, high: float
) -> None:
    with np.errstate(all="ignore"):
        same_at_limits(ours(name, LIMITS), function(LIMITS))


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions(name: str) -> None:
    x = np.concatenate([LIMITS, np.random.default_rng(4).uniform(-6, 25, 5000)])
    function = getattr(math, name)
    same_at_limits(ours(name, x), np.array([function(value) for value in x]))


@pytest.mark.parametrize(
    ("name", "function"), [("pow_tensor_tensor", np.power), ("atan2", np.arctan2)]
)
def test_functions_of_two(name: str, function: Callable[..., Any]) -> None:
    x, y = (grid.reshape(-1) for grid in np.meshgrid(LIMITS, LIMITS))
    with np.errstate(all="ignore"):
        same_at_limits(ours(name, x, y), function(x, y))
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.01, 20, 20_001), rng.uniform(-30, 30, 20_001)
    exact = function(x.astype(np.longdouble), y.astype(np.longdouble))
    units = np.abs(ours(name, x, y) - exact) / np.spacing(np.abs(exact).astype(np.float64))
    assert float(units.max()) < 4


@by_function
def test_an_element_has_one_result_wherever_it_lies(
    name: str, function: Callable[..., Any], low: float, high: float
) -> None:
    x = np.random.default_rng(6).uniform(low, high, 1100)
    whole = ours(name, x)
    for first, last in ((0, 1), (1, 2), (3, 11), (5, 1030), (1090, 1100)):
        np.testing.assert_array_equal(ours(name, x[first:last].copy()), whole[first:last])
    spread = ap.from_numpy(np.repeat(x, 2))[::2]
    out = ap.empty(x.shape, "float64")
    getattr(ap.ops, name)(spread, out)
    np.testing.assert_array_equal(out.numpy(), whole)


@pytest.mark.parametrize(
    ("name", "function"),
    [("floor", np.floor), ("ceil", np.ceil), ("round", np.rint)],
)
def test_rounding(name: str, function: Callable[..., Any]) -> None:
    halves = np.arange(-50, 50) / 2
    large = np.array([2**51 + 0.5, 2**52 + 1.0, -(2**51) - 0.5, 2.0**60, 0.49999999999999994])
    x = np.concatenate([LIMITS, halves, large, np.random.default_rng(7).uniform(-1e6, 1e6, 1000)])
    same_at_limits(ours(name, x), function(x))


def test_sinc_and_sigmoid() -> None:
    x = np.concatenate([np.arange(-20, 20) / 2, np.random.default_rng(8).uniform(-90, 90, 3000)])
    np.testing.assert_allclose(ours("sinc", x), np.sinc(x), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ours("sigmoid", x), 1 / (1 + np.exp(-x)), rtol=1e-14)
