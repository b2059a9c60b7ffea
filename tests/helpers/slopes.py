# SPDX-License-Identifier: Apache-2.0
"""Derivatives of functions written in NumPy, by complex steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
STEP = 1e-30


def slopes(function: Callable[..., Any], parts: Sequence[Array], *gradients: Array) -> list[Array]:
    """Return the derivative of the sum of ``gradient * result`` by each element of each part.

    ``function`` takes the parts in float64 or complex128 and returns an array for each gradient, or
    one array; it must be analytic.
    """
    places = [np.ndindex(part.shape) for part in parts]
    found = slopes_at(function, parts, places, *gradients)
    return [slope.reshape(part.shape) for slope, part in zip(found, parts, strict=True)]


def slopes_at(
    function: Callable[..., Any],
    parts: Sequence[Array],
    places: Sequence[Iterable[tuple[int, ...]]],
    *gradients: Array,
) -> list[Array]:
    """Return the same by the elements at some places of each part."""
    wide = [np.asarray(part, np.float64).astype(complex) for part in parts]
    found = []
    for part, chosen in zip(wide, places, strict=True):
        slope = []
        for at in chosen:
            kept = part[at]
            part[at] = kept + 1j * STEP
            results = function(*wide)
            part[at] = kept
            results = results if isinstance(results, (tuple, list)) else (results,)
            pairs = zip(gradients, results, strict=True)
            slope.append(sum((np.asarray(g, np.float64) * r).sum().imag for g, r in pairs) / STEP)
        found.append(np.array(slope))
    return found


def some_places(shape: tuple[int, ...], count: int, seed: int = 0) -> list[tuple[int, ...]]:
    """Return places of an array, chosen by chance."""
    rng = np.random.default_rng(seed)
    return [tuple(int(rng.integers(extent)) for extent in shape) for _ in range(count)]
