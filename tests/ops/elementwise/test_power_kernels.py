# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the vectorised powers of float32 in units in the last place, and special values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
NUMBERS = [0, np.inf, 1e-40, 1e-38, 3e38, 1, 2, 3, 0.5, 1.5, 0.1, 100, 127, 128, 149, 149.5]
# where all numbers are whole, and the last odd one; where the logarithm is split
EDGES = [8388608.5, 8388609, 16777215, 16777216, 16777217, 0.70710677, 1.4142135, 0.99999994]
SPECIAL = np.array([sign * x for x in (*NUMBERS, *EDGES) for sign in (1, -1)] + [np.nan], "f4")


def pairs() -> tuple[Array, Array]:
    """Bases and exponents: every pair of special values, and numbers of many sizes."""
    rng = np.random.default_rng(5)
    n, count = 3000, len(SPECIAL)
    bases = [rng.uniform(0.01, 10, n), rng.standard_normal(n) * 4, 2 ** rng.uniform(-20, 20, n)]
    powers = [rng.uniform(-20, 20, n), rng.integers(-9, 9, n), rng.uniform(-8, 8, n)]
    x = np.concatenate([np.repeat(SPECIAL, count), *bases]).astype(np.float32)
    return x, np.concatenate([np.tile(SPECIAL, count), *powers]).astype(np.float32)


def check(got: Array, x: Array, y: Array) -> None:
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    numbers = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(rounded)[numbers])
    infinite = np.isinf(rounded)
    np.testing.assert_array_equal(got[infinite], rounded[infinite])
    judged = np.isfinite(rounded)
    step = np.spacing(np.maximum(np.abs(rounded[judged]), np.float32(2.0**-126))).astype(np.float64)
    error = np.abs(got[judged].astype(np.float64) - exact[judged]) / step
    worst = int(error.argmax())
    assert error[worst] <= 1.1, f"{x[judged][worst]!r} ** {y[judged][worst]!r}: {error[worst]:.2f}"


def test_of_two_tensors() -> None:
    x, y = pairs()
    out = ap.full(x.shape, 77, np.float32)
    ap.ops.pow_tensor_tensor(ap.from_numpy(x), ap.from_numpy(y), out)
    check(out.numpy(), x, y)


@pytest.mark.parametrize("exponent", [2.0, 3.0, 0.5, -1.0, 2.5, -0.0, np.inf, np.nan, 7.0])
def test_to_a_number(exponent: float) -> None:
    x, _ = pairs()
    out = ap.full(x.shape, 77, np.float32)
    ap.ops.pow_tensor_scalar(ap.from_numpy(x), exponent, out)
    check(out.numpy(), x, np.full(x.shape, exponent, np.float32))


@pytest.mark.parametrize("base", [2.0, 3.0, 0.5, -1.0, -2.5, 0.0, -0.0, np.inf, np.nan])
def test_of_a_number(base: float) -> None:
    _, y = pairs()
    out = ap.full(y.shape, 77, np.float32)
    ap.ops.pow_scalar_tensor(base, ap.from_numpy(y), out)
    check(out.numpy(), np.full(y.shape, base, np.float32), y)


def test_in_place_and_of_views() -> None:
    x, y = pairs()
    mine, theirs = ap.from_numpy(x), ap.from_numpy(y)
    ap.ops.inplace_pow_tensor_tensor(mine, theirs)
    check(mine.numpy(), x, y)
    check(np.power(ap.from_numpy(x)[::2], theirs[::-2]).numpy(), x[::2], y[::-2])
    out = ap.full((len(x), 3), 77, np.float32)
    ap.ops.pow_tensor_tensor(ap.from_numpy(x)[:, None], ap.from_numpy(y[:3]), out)
    check(out.numpy(), np.repeat(x[:, None], 3, 1), np.repeat(y[None, :3], len(x), 0))


def test_of_whole_numbers_is_exact() -> None:
    x, y = (a.reshape(-1).astype(np.float32) for a in np.meshgrid(np.arange(-20, 21), np.arange(6)))
    found = np.power(ap.from_numpy(x), ap.from_numpy(y)).numpy()
    exact = np.abs(x.astype(np.float64) ** y) < 2**24
    np.testing.assert_array_equal(found[exact], (x.astype(np.float64) ** y)[exact])
