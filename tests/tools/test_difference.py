# SPDX-License-Identifier: Apache-2.0
"""How far two results are apart: units in the last place, NaN, infinities, large integers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.operators.record.file import View
from aclnn_py.tools.records.difference import difference


def view(dtype: str, shape: tuple[int, ...]) -> View:
    return View(
        0, 0, shape, tuple(np.cumprod([1, *shape[:0:-1]])[::-1].tolist()), dtype, "ND", shape
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_neighbours_are_one_unit_apart(dtype):
    kind = np.dtype(dtype)
    bits = f"i{kind.itemsize}"
    one = np.array([1.0, -1.0, 0.0, np.inf], kind)
    two = (one.view(bits) + np.array([1, 1, 0, 0], bits)).view(kind)
    found = difference(view(kind.name, (4,)), one.tobytes(), two.tobytes())
    assert {key: n for key, n in found.ulps.items() if n} == {"0": 1, "1": 2}
    assert found.beyond == 0


def test_nan_and_infinities_are_compared():
    one = np.array([np.nan, np.inf, 1.0, np.nan], np.float32)
    two = np.array([np.nan, np.inf, np.nan, 1.0], np.float32)
    found = difference(view("float32", (4,)), one.tobytes(), two.tobytes())
    assert found.beyond == 2 and found.at in ((2,), (3,))
    signs = np.array([np.inf], np.float32)
    assert difference(view("float32", (1,)), signs.tobytes(), (-signs).tobytes()).beyond == 1


def test_large_integers_are_not_rounded_together():
    one = np.array([2**62, 5], np.int64)
    two = np.array([2**62 + 1, 5], np.int64)
    found = difference(view("int64", (2,)), one.tobytes(), two.tobytes())
    assert found.beyond == 1 and found.at == (0,) and not found.ulps
