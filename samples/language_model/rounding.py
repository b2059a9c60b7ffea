# SPDX-License-Identifier: Apache-2.0
"""Round weights to 8 or 4 bits so that their products with typical rows change least.

The features of a weight are rounded one after the other. What rounding a feature changes in the
products is made good by the next ones, as far as their values in typical rows go together.
Without typical rows each element is rounded by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FLOAT = np.dtype(np.float32)
LEAST = np.float32(1e-8)
"""The smallest scale."""
WHOLE = (1.0,)
SHRUNK = (*WHOLE, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5)
"""Parts of a range that are tried: if its ends are clipped, the rest may be rounded better."""
DAMPING, UNSURE = 0.01, 0.1
"""Added to the mean squares of features, as a part of their mean, because rows are only a sample:
the first number at least, and the second one for as few rows as features."""
BLOCK = 128
"""Features that are rounded before the others hear of it."""


@dataclass(frozen=True)
class Rounded:
    """A weight is about (numbers + offset) * scale.

    ``numbers`` is int8 (in, out), ``scale`` and ``offset`` are (groups, out).
    """

    numbers: Array
    scale: Array
    offset: Array
    group: int
    """Features of a group."""

    def weight(self) -> Array:
        """The weight that the numbers stand for, float32 (in, out)."""
        group = np.arange(len(self.numbers)) // self.group
        found: Array = (self.numbers + self.offset[group]) * self.scale[group]
        return found


@dataclass(frozen=True)
class Grid:
    """Integers from ``least`` to ``most``, with one scale for ``group`` features, 0 for all."""

    least: int
    most: int
    group: int = 0
    offsets: bool = False
    parts: tuple[float, ...] = SHRUNK

    def round(self, weight: Array, rows: Array | None, scales: np.dtype[Any] = FLOAT) -> Rounded:
        """Round a weight (out, in) for typical rows (any number, in), with scales of a dtype."""
        moments = None if rows is None else _moments(rows)
        turned = np.ascontiguousarray(weight.T.astype(FLOAT, copy=False))
        features = len(turned)
        group = self.group or features
        share = np.ones(features, FLOAT) if moments is None else np.diag(moments)
        pairs = [
            self._scales(turned[at : at + group], share[at : at + group])
            for at in range(0, features, group)
        ]
        scale, offset = (np.stack(part) for part in zip(*pairs, strict=True))
        scale = scale.astype(scales).astype(FLOAT)
        of = np.arange(features) // group
        if moments is None:
            numbers = self._nearest(turned, scale[of], offset[of])
        else:
            numbers = self._one_by_one(turned, scale[of], offset[of], moments)
        return Rounded(numbers.astype(np.int8), scale, offset, group)

    def _nearest(self, values: Array, scale: Array, offset: Array) -> Array:
        return np.clip(np.rint(values / scale - offset), self.least, self.most)

    def _scales(self, values: Array, share: Array) -> tuple[Array, Array]:
        """Scale and offset of (features, out) with the least sum of weighted square errors."""
        if self.offsets:
            low = np.minimum(values.min(0), 0)
            whole = (np.maximum(values.max(0), 0) - low) / (self.most - self.least)
        else:
            whole = np.abs(values).max(0) / self.most
        lowest = np.full(whole.shape, np.inf, FLOAT)
        best = np.ones((2, *whole.shape), FLOAT)
        for part in self.parts:
            scale = np.maximum(whole * np.float32(part), LEAST)
            offset = np.zeros_like(scale)
            if self.offsets:
                offset = np.rint(low * np.float32(part) / scale) - self.least
            errors = (self._nearest(values, scale, offset) + offset) * scale - values
            error = share @ np.square(errors)
            best = np.where(error < lowest, (scale, offset), best)
            lowest = np.minimum(error, lowest)
        return best[0].astype(FLOAT), best[1].astype(FLOAT)

    def _one_by_one(self, values: Array, scale: Array, offset: Array, moments: Array) -> Array:
        """Round feature by feature, the largest of typical rows first."""
        order = np.argsort(-np.diag(moments), kind="stable")
        values, scale, offset = values[order], scale[order], offset[order]
        share = _shares(moments[np.ix_(order, order)])
        numbers, errors = np.empty_like(values), np.empty_like(values)
        for begin in range(0, len(values), BLOCK):
            end = min(begin + BLOCK, len(values))
            wanted = values[begin:end] + share[:begin, begin:end].T @ errors[:begin]
            for at in range(begin, end):
                target = wanted[at - begin] + share[begin:at, at] @ errors[begin:at]
                numbers[at] = self._nearest(target, scale[at], offset[at])
                errors[at] = values[at] - (numbers[at] + offset[at]) * scale[at]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return numbers[back]


def _moments(rows: Array) -> Array:
    """Mean products of each two features, (features, features)."""
    wide = rows.astype(FLOAT, copy=False)
    count, features = wide.shape
    moments = wide.T @ wide / np.float32(count)
    damping = DAMPING + UNSURE * features / count
    moments[np.diag_indices(features)] += damping * np.diag(moments).mean() + LEAST
    return moments


def _shares(moments: Array) -> Array:
    """How much of each earlier feature's error a feature takes over, (earlier, feature).

    The moments are U D U' with ones on the diagonal of the upper triangle U; these are U's others.
    """
    upper = np.linalg.cholesky(moments[::-1, ::-1])[::-1, ::-1]
    return np.triu(upper / np.diag(upper), 1)


EIGHT = Grid(-127, 127, parts=(*WHOLE, 0.9, 0.8, 0.7))


def four(group: int) -> Grid:
    """16 steps with an offset, for each group of features."""
    return Grid(-8, 7, group, offsets=True)
