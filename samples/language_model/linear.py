# SPDX-License-Identifier: Apache-2.0
"""Products with a weight that stays on the device."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import aclnn_py as ap
from aclnn_py import functional as F

Array = npt.NDArray[Any]


class Linear(Protocol):
    """x weight + bias for rows x."""

    def __call__(self, x: ap.Tensor) -> ap.Tensor: ...


def put(array: Array, dtype: np.dtype[Any]) -> ap.Tensor:
    """Copy an array to the device in this dtype."""
    return ap.from_numpy(np.ascontiguousarray(array.astype(dtype, copy=False)))


class Plain:
    """A weight in the dtype of the model, given with shape (out, in) as in checkpoints."""

    def __init__(self, weight: Array, bias: Array | None, dtype: np.dtype[Any]) -> None:
        # Turned to (in, out): a product of few rows reads it fastest.
        self._weight = put(weight.T, dtype)
        self._bias = None if bias is None else put(bias, dtype)

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        return F.linear(x, self._weight.T, self._bias)
