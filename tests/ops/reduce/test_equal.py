# SPDX-License-Identifier: Apache-2.0
"""Whether two tensors are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import LAYOUTS, NUMPY, accepted_dtypes, hollow, place, refusal

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")


def equal(a: Any, b: Any, layout: str = "dense") -> bool:
    # The opposite lies there before.
    for before in (True, False):
        out = place(np.array([before]))
        ap.ops.equal(place(a, layout), place(b), out)
        found = bool(out.numpy()[0])
        if before:
            first = found
    assert found == first
    return found


@pytest.mark.parametrize("name", sorted(accepted_dtypes("aclnnEqual", 0)))
def test_one_element_decides(name: str) -> None:
    a = (np.arange(2 * 2500).reshape(2, 2500) % 2).astype(NUMPY[name])
    for layout in LAYOUTS:
        assert equal(a, a, layout)
        for at in [(0, 0), (1, 2499)]:
            b = a.copy()
            b[at] = 1 - b[at].astype(np.int8)
            assert not equal(a, b, layout)


def test_shapes_count() -> None:
    a = np.zeros((2, 3), np.float32)
    assert not equal(a, np.zeros((3, 2), np.float32))
    assert not equal(a, np.zeros((3,), np.float32))
    assert not equal(np.zeros((), np.float32), np.zeros((1,), np.float32))
    assert equal(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))
    assert not equal(np.zeros((0, 3), np.float32), np.zeros((3, 0), np.float32))


def test_values_are_those_of_the_common_dtype() -> None:
    assert equal(np.array([1, 2], np.int64), np.array([1, 2], np.uint8))
    assert not equal(np.array([2**40], np.int64), np.array([0], np.int32))
    assert equal(np.array([0.1], np.float16), np.array([0.1], np.float16).astype(np.float32))
    assert not equal(np.array([0.1], np.float16), np.array([0.1], np.float32))
    assert not equal(np.array([np.nan], np.float32), np.array([np.nan], np.float32))
    assert equal(np.array([-0.0], np.float32), np.array([0.0], np.float32))
    # 2**24 + 1 rounds in float32.
    assert equal(np.array([2**24 + 1], np.int32), np.array([2**24], np.float32))


def test_refusals() -> None:
    a, out = hollow((2,), np.float32), hollow((1,), np.bool_)
    assert refusal("aclnnEqual", a, a, hollow((), np.bool_)) == 161002
    assert refusal("aclnnEqual", a, a, hollow((2,), np.bool_)) == 161002
    assert refusal("aclnnEqual", a, a, hollow((1,), np.uint8)) == 161002
    assert refusal("aclnnEqual", None, a, out) == refusal("aclnnEqual", a, a, None) == 161001
    assert refusal("aclnnEqual", hollow((2,), np.complex64), a, out) == 161002
    assert refusal("aclnnEqual", hollow((2,), np.uint16), hollow((2,), np.int8), out) == 161002
