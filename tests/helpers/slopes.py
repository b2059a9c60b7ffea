# SPDX-License-Identifier: Apache-2.0
"""Derivatives of functions written in NumPy, by complex steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    wide = [np.asarray(part, np.float64).astype(complex) for part in parts]
    found = []
    for which, part in enumerate(wide):
        slope = np.zeros(part.shape)
        for at in np.ndindex(part.shape):
            kept = part[at]
            part[at] = kept + 1j * STEP
            results = function(*wide)
            part[at] = kept
            results = results if isinstance(results, (tuple, list)) else (results,)
            pairs = zip(gradients, results, strict=True)
            slope[at] = sum((np.asarray(g, np.float64) * r).sum().imag for g, r in pairs) / STEP
        assert wide[which] is part
        found.append(slope)
    return found
