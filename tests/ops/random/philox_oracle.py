# SPDX-License-Identifier: Apache-2.0
"""The random sequence of a seed in NumPy, and what operators make of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def philox(counter: list[int], seed: int) -> list[int]:
    """Philox 4x32-10 in Python numbers, from the paper."""
    word = 0xFFFFFFFF
    low, high = seed & word, seed >> 32 & word
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [b >> 32 ^ counter[1] ^ low, b & word, a >> 32 ^ counter[3] ^ high, a & word]
        low, high = low + 0x9E3779B9 & word, high + 0xBB67AE85 & word
    return counter


def words(seed: int, offset: int, count: int) -> list[int]:
    """What the sequence of a seed holds from a place on: two words of 64 bits for each block."""
    found = []
    for place in range(offset, offset + count):
        pair = place % 2**64 // 2
        block = philox([pair & 0xFFFFFFFF, pair >> 32, 0, 0], seed)
        high, low = block[2 * (place % 2) :][:2]
        found.append(high << 32 | low)
    return found


def units(seed: int, offset: int, count: int) -> Array:
    """The words as numbers of [0, 1) with 53 bits."""
    return np.array([(word >> 11) * 2.0**-53 for word in words(seed, offset, count)])


def singles(seed: int, offset: int, count: int, low: float, high: float) -> Array:
    """Numbers of [low, high) in float32, and none that rounding brings to `high`."""
    first, limit = float(np.float32(low)), np.float32(high)
    drawn = (units(seed, offset, count) * (float(limit) - first) + first).astype(np.float32)
    below = max(np.nextafter(limit, np.float32(-np.inf)), np.float32(low))
    return np.asarray(np.minimum(drawn, below))


def normals(seed: int, offset: int, count: int) -> Array:
    """Box and Muller: two normal numbers of every pair."""
    before = offset % 2
    pairs = units(seed, offset - before, count + 2 - count % 2 + before * 2).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log1p(-pairs[:, 0])), 2 * np.pi * pairs[:, 1]
    both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)
    return np.asarray(both.ravel()[before : before + count])
