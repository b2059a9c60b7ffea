# SPDX-License-Identifier: Apache-2.0
"""Random weights with the properties of trained ones that make rounding hard.

Published studies of trained models describe them. The elements of a matrix have heavier tails than
a normal distribution, and its rows and columns differ in size. A few channels, the same in every
layer, carry values many times larger than the others: embeddings and the last products of each
layer write them. The gains of norms vary, and some make those channels larger still. Tokens are
far from equally likely.

What such weights do not have is the common direction of trained layers, in which errors are small
beside the sum. So an error of a product changes these models more than trained ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TAIL = 5
"""Degrees of freedom of Student's distribution: an excess kurtosis of 6."""
SPREAD = 0.3
"""Deviation of the logarithms of the sizes of rows and columns, and of gains."""
OUTLIERS = 0.02
"""Part of the channels that carry large values, at least 1."""
LARGER = 2.5
"""How much larger the weights that write such a channel are, and its gains. Behind a norm these
channels have two fifths of all squares. Large models have fewer of them, with larger values."""
SHARP = 1.5
"""Deviation of logits."""


class TrainedLike:
    """Makes arrays by their names and shapes; ``hidden`` is the number of channels."""

    def __init__(self, hidden: int, rng: np.random.Generator) -> None:
        self._rng = rng
        count = max(1, round(hidden * OUTLIERS))
        self._large = np.ones(hidden, np.float32)
        self._large[rng.choice(hidden, count, replace=False)] = LARGER
        # A norm makes the channels equal but for these, and multiplies by its gains.
        large = np.square(self._large)
        self._behind_norm = np.sqrt(np.square(large).mean() / large.mean())

    def __call__(self, name: str, shape: tuple[int, ...]) -> Array:
        """Float32 values that keep the rows of a pass at the size of about 1."""
        if name.endswith("norm.weight"):
            gains = self._sizes(shape[0])
            return gains * self._large if shape == self._large.shape else gains
        if len(shape) == 1:
            return self._tailed(shape) * np.float32(0.1)
        values = self._tailed(shape) * self._sizes(shape[0])[:, None] * self._sizes(shape[1])
        if name == "model.embed_tokens.weight":
            return values * self._large * np.float32(0.5)
        if name.endswith(("o_proj.weight", "down_proj.weight", "w2.weight")):
            values *= self._large[:, None]
        if shape[1] == len(self._large) and not name.endswith("o_proj.weight"):
            values /= np.float32(self._behind_norm)  # it reads a norm
        if name == "lm_head.weight":
            values *= np.float32(SHARP)
        return values * np.float32(shape[1] ** -0.5)

    def _tailed(self, shape: tuple[int, ...]) -> Array:
        """Values with a deviation of 1."""
        values = self._rng.standard_t(TAIL, shape) / (TAIL / (TAIL - 2)) ** 0.5
        return values.astype(np.float32)

    def _sizes(self, count: int) -> Array:
        """Sizes whose mean square is 1."""
        logs = SPREAD * self._rng.standard_normal(count) - SPREAD**2
        return np.exp(logs).astype(np.float32)
