# SPDX-License-Identifier: Apache-2.0
"""Whether two results are alike, as a status."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from helpers.operators import LAYOUTS, Array, hollow, op, place, refusal

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

NAME, KINDS = "aclnnPrecisionCompare", [np.float32, np.float16, ml_dtypes.bfloat16]


def status(a: Array, b: Array, layout: str = "dense") -> int:
    out = hollow((), np.uint32)
    op(NAME)(place(a, layout), place(b), out)
    return int(out.numpy())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", KINDS, ids=lambda kind: np.dtype(kind).name)
def test_one_element_decides(dtype: type, layout: str) -> None:
    a = np.random.default_rng(1).standard_normal((3, 1700)).astype(dtype)
    assert status(a, a, layout) == 0
    for at in [(0, 0), (2, 1699)]:
        b = a.copy()
        b[at] = np.nextafter(b[at], dtype(9))
        assert status(a, b, layout) == 503


def test_nan_is_like_nan_and_zeros_are_alike() -> None:
    a = np.array([np.nan, 0.0, np.inf], np.float32)
    assert status(a, np.array([-np.nan, -0.0, np.inf], np.float32)) == 0
    assert status(a, np.array([1.0, 0.0, np.inf], np.float32)) == 503
    assert status(a, np.array([np.nan, 0.0, -np.inf], np.float32)) == 503
    assert status(a[:0], a[:0]) == 0
    assert status(a[1].reshape(()), a[1].reshape(())) == 0


def test_refusals() -> None:
    x, out = hollow((2, 3), np.float32), hollow((), np.uint32)
    for at in range(3):
        assert refusal(NAME, *(None if i == at else t for i, t in enumerate((x, x, out)))) == 161001
    assert "realdata has shape" in message(NAME, 161002, [x, x[:1], out])
    assert "realdata has dtype" in message(NAME, 161002, [x, hollow((2, 3), np.float16), out])
    assert "out has shape" in message(NAME, 161002, [x, x, hollow((1,), np.uint32)])
    assert "out has dtype" in message(NAME, 161002, [x, x, hollow((), np.int32)])
    double = hollow((2, 3), np.float64)
    assert "golden has dtype" in message(NAME, 161002, [double, double, out])
