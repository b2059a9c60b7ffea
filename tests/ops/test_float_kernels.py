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
BOUNDS = [88.72, 88.73, -87.3, -103.9, -105.0, 0.65, -0.65, 1.0, -1.0, 0.5, 10.2]
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
}


def inputs() -> Array:
    rng = np.random.default_rng(3)
    normal = [rng.standard_normal(2000) * scale for scale in (1e-3, 0.5, 2.0, 8.0, 40.0)]
    return np.concatenate([*normal, SPECIAL, BOUNDS]).astype(np.float32)


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


@pytest.mark.parametrize("name", ["tanh", "erf", "silu", "gelu"])
def test_zero_keeps_its_sign(device: ap.Device, name: str) -> None:
    x = np.array([0.0, -0.0], np.float32)
    out = ap.full(x.shape, 77, np.float32)
    getattr(ap.ops, name)(ap.from_numpy(x), out)
    np.testing.assert_array_equal(np.signbit(out.numpy()), [False, True])
    np.testing.assert_array_equal(out.numpy(), x)


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
