# SPDX-License-Identifier: Apache-2.0
"""Caches of keys and values: what is written into pages is read from them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import place

import aclnn_py as ap
from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

PAGES, PAGE, HEADS, WIDTH = 3, 4, 2, 16
SLOTS = np.array([9, 0, 5], np.int32)


def rows(seed: int, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
    values = np.random.default_rng(seed).standard_normal((len(SLOTS), HEADS, width))
    return values.astype(np.float16)


def test_scatter_pa_kv_cache() -> None:
    key, value = rows(1, WIDTH), rows(2, 2 * WIDTH)
    caches = [np.full((PAGES, PAGE, HEADS, x.shape[2]), 9, np.float16) for x in (key, value)]
    k, v = map(place, caches)
    functional.scatter_pa_kv_cache(place(key), place(value), k, v, place(SLOTS))
    for cache, x in zip(caches, (key, value), strict=True):
        cache.reshape(-1, *x.shape[1:])[SLOTS] = x
    assert_same(k.numpy(), caches[0])
    assert_same(v.numpy(), caches[1])


def test_scatter_update() -> None:
    data, updates = np.zeros((2, 5, 3), np.float16), np.ones((2, 2, 3), np.float16)
    target = place(data)
    given = functional.scatter_update_(target, place(np.array([3, 0])), place(updates), 1)
    assert given is target
    data[0, 3:], data[1, :2] = 1, 1
    assert_same(target.numpy(), data)


def test_a_slot_outside_is_a_fault() -> None:
    key = rows(1, WIDTH)
    k, v = (place(np.zeros((PAGES, PAGE, HEADS, WIDTH), np.float16)) for _ in range(2))
    functional.scatter_pa_kv_cache(place(key), place(key), k, v, place(SLOTS + 100))
    with pytest.raises(ap.errors.AclError, match="slotMapping"):
        ap.synchronize()
