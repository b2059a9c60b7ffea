# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the vectorised fp32 functions in units in the last place, and special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import aclnn_py as ap

Array = npt.NDArray[Any]
Oracle = Callable[[Array], Array]

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38]
BOUNDS = [88.72, 88.73, -87.3, -103.9, -105.0, 0.65, -0.65, 1.0, -1.0, 0.5, 10.2, 89.4, 2e9, 1.001]
# Multiples of pi / 2 that float32 nearly holds, and angles on either side of the largest that the
# vectors take.
ANGLES = [1.5707964, 3.1415927, 6.2831855, 11.0, 14.137167, 2.3e4, 29999.0, 30001.0, 1e8, -3e30]
erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def logistic(x: Array) -> Array:
    power = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, power) / (1.0 + power)


# The oracle in float64, the largest error, and up to which |x| it is judged: beyond that, a factor
# of the result is below the normal range although the result is not.
FUNCTIONS: dict[str, tuple[Oracle, float, float]] = {
    "exp": (np.exp, 2.0, np.inf),
    "log": (np.log, 2.0, np.inf),
    "tanh": (np.tanh, 2.5, np.inf),
    "erf": (erf, 2.5, np.inf),
    "erfc": (erfc, 5.0, np.inf),
    "sigmoid": (logistic, 3.5, np.inf),
    "silu": (lambda x: x * logistic(x), 4.0, 80.0),
    "exp2": (np.exp2, 1.5, np.inf),
    "expm1": (np.expm1, 2.0, np.inf),
    "log2": (np.log2, 2.5, np.inf),
    "log10": (np.log10, 2.5, np.inf),
    "log1p": (np.log1p, 1.5, np.inf),
    "sin": (np.sin, 2.0, np.inf),
    "cos": (np.cos, 2.0, np.inf),
    "tan": (np.tan, 4.0, np.inf),
    "asin": (np.arcsin, 3.0, np.inf),
    "acos": (np.arccos, 1.5, np.inf),
    "atan": (np.arctan, 2.0, np.inf),
    "sinh": (np.sinh, 2.5, np.inf),
    "cosh": (np.cosh, 2.0, np.inf),
    "asinh": (np.arcsinh, 2.5, np.inf),
    "acosh": (np.arccosh, 2.5, np.inf),
    "atanh": (np.arctanh, 2.5, np.inf),
}
ODD = [
    *("tanh", "erf", "silu", "gelu", "expm1", "log1p", "sin", "tan", "asin", "atan"),
    *("sinh", "asinh", "atanh"),
]


def inputs() -> Array:
    rng = np.random.default_rng(3)
    normal = [rng.standard_normal(2000) * scale for scale in (1e-3, 0.5, 2.0, 8.0, 40.0)]
    return np.concatenate([*normal, SPECIAL, BOUNDS, ANGLES]).astype(np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_in_units_in_the_last_place(device: ap.Device, name: str) -> None:
    oracle, largest, reach = FUNCTIONS[name]
    x = inputs()
    out = ap.empty(x.shape, np.float32)
    getattr(ap.ops, name)(ap.from_numpy(x), out)
    got = out.numpy()
    with np.errstate(all="ignore"):
        exact = oracle(x.astype(np.float64))
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    infinite = np.isinf(rounded)
    np.testing.assert_array_equal(got[infinite], rounded[infinite])
    judged = np.isfinite(rounded) & (np.abs(x) <= reach)
    # below the normal range one subnormal step more is allowed
    step = np.spacing(np.maximum(np.abs(rounded[judged]), np.float32(2.0**-126))).astype(np.float64)
    error = np.abs(got[judged].astype(np.float64) - exact[judged]) / step
    worst = int(error.argmax())
    assert error[worst] <= largest, f"{name}({x[judged][worst]!r}): {error[worst]:.2f} units"


@pytest.mark.parametrize("name", ODD)
def test_zero_keeps_its_sign(device: ap.Device, name: str) -> None:
    x = np.array([0.0, -0.0], np.float32)
    out = ap.full(x.shape, 77, np.float32)
    getattr(ap.ops, name)(ap.from_numpy(x), out)
    np.testing.assert_array_equal(np.signbit(out.numpy()), [False, True])
    np.testing.assert_array_equal(out.numpy(), x)


def test_angles_of_points(device: ap.Device) -> None:
    rng = np.random.default_rng(4)
    ends = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e38, 1e-45], np.float32)
    across, up = (side.reshape(-1) for side in np.meshgrid(ends, ends))
    drawn = (rng.standard_normal((2, 5000)) * 10.0 ** rng.uniform(-6, 6, (2, 5000))).astype(
        np.float32
    )
    y, x = np.concatenate([up, drawn[0]]), np.concatenate([across, drawn[1]])
    out = ap.empty(x.shape, np.float32)
    ap.ops.atan2(ap.from_numpy(y), ap.from_numpy(x), out)
    got, exact = out.numpy(), np.arctan2(y.astype(np.float64), x.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    numbers = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(exact[numbers]))
    step = np.spacing(np.maximum(np.abs(exact[numbers]), 2.0**-126).astype(np.float32))
    assert (np.abs(got[numbers] - exact[numbers]) <= 2 * step.astype(np.float64)).all()


@pytest.mark.parametrize(("name", "base"), [("log2", 2.0), ("log10", 10.0)])
def test_logarithms_of_powers_of_the_base_are_whole(
    device: ap.Device, name: str, base: float
) -> None:
    exponents = np.arange(-37.0, 38.0)
    x = (base**exponents).astype(np.float32)
    out = ap.empty(x.shape, np.float32)
    getattr(ap.ops, name)(ap.from_numpy(x), out)
    np.testing.assert_array_equal(out.numpy(), exponents)


def gelu_by_tanh(x: Array) -> Array:
    return x * logistic(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


# Activations far on the negative side, where a factor nears the end of the range of fp32.
TAILS: dict[str, tuple[Oracle, tuple[Any, ...], float]] = {
    "gelu": (gelu_by_tanh, (), 250.0),
    "gelu_v2": (lambda x: 0.5 * x * erfc(-x / math.sqrt(2)), (0,), 9.0),
    "silu": (lambda x: x * logistic(x), (), 100.0),
    "swish": (lambda x: x * logistic(x), (1.0,), 100.0),
    "fast_gelu": (lambda x: x * logistic(1.702 * x), (), 100.0),
}


@pytest.mark.parametrize("name", TAILS)
def test_error_of_activations_in_the_far_negative_range(device: ap.Device, name: str) -> None:
    oracle, options, largest = TAILS[name]
    x = np.linspace(-110, 5, 20001).astype(np.float32)
    out = ap.empty(x.shape, np.float32)
    getattr(ap.ops, name)(ap.from_numpy(x), *options, out)
    with np.errstate(all="ignore"):
        exact = oracle(x.astype(np.float64))
    step = np.spacing(np.maximum(np.abs(exact), 2.0**-126).astype(np.float32)).astype(np.float64)
    error = np.abs(out.numpy().astype(np.float64) - exact) / step
    worst = int(error.argmax())
    assert error[worst] <= largest, f"{name}({x[worst]!r}): {error[worst]:.2f} units"
