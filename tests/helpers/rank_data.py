# SPDX-License-Identifier: Apache-2.0
"""What each rank brings to a collective."""

from __future__ import annotations

from typing import Any

import numpy as np


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype, as the id of a test."""
    return np.dtype(dtype).name


def rank_data(rank: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return small integers, so that sums and products of a few ranks are exact in every dtype."""
    return np.random.default_rng(rank).integers(0, 3, shape).astype(dtype)
