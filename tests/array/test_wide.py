# SPDX-License-Identifier: Apache-2.0
"""float64 and complex128 where an operator takes none: the last places, and what is not finite."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as ap

_RNG = np.random.default_rng(11)
_PLAIN = _RNG.standard_normal(2000) * 10.0 ** _RNG.integers(-12, 3, 2000)
_SPECIAL = [0, -0.0, np.inf, -np.inf, np.nan, 709.7, -800, 19.99, 20.1, 1e-320, 1e308, -1e308]
X = np.concatenate([_PLAIN, _SPECIAL])
# Equal numbers, pairs of special ones, and any two.
Y = np.concatenate([X[:40], np.roll(X[40:], 7)])
ENDS = np.array([(a, b) for a in _SPECIAL for b in _SPECIAL]).T


def expect_last_places(
    result: ap.Tensor, wanted: np.ndarray, places: int, beside: np.ndarray | float = 0.0
) -> None:
    """So many units of the last place; what is not finite, and zeros with their signs, exactly."""
    values = result.numpy()
    assert values.dtype == np.float64
    plain = np.isfinite(wanted) & (wanted != 0)
    np.testing.assert_array_equal(values[~plain], wanted[~plain])
    np.testing.assert_array_equal(np.signbit(values[wanted == 0]), np.signbit(wanted[wanted == 0]))
    size = np.maximum(np.abs(wanted), np.abs(beside))[plain]
    distance = np.abs(values[plain] - wanted[plain]) / np.spacing(size)
    assert distance.max() <= places


@pytest.mark.parametrize("name", ["tanh", "expm1"])
def test_of_one_number(device, name: str) -> None:
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        expect_last_places(function(ap.from_numpy(X)), function(X), 4)


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_of_two_numbers(device, name: str) -> None:
    function = getattr(np, name)
    for x, y in ((X, Y), ENDS):
        with np.errstate(all="ignore"):
            # Two terms are added: where they cancel, the places are those of the larger one.
            greater = np.nan_to_num(np.maximum(x, y), posinf=0, neginf=0)
            found = function(ap.from_numpy(x), ap.from_numpy(y))
            expect_last_places(found, function(x, y), 4, beside=greater)


def test_magnitudes(device) -> None:
    for x, y in ((X, Y), ENDS):
        z = np.empty(x.shape, np.complex128)
        z.real, z.imag = x, y
        with np.errstate(all="ignore"):
            expect_last_places(abs(ap.from_numpy(z)), abs(z), 4)
