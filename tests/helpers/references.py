# SPDX-License-Identifier: Apache-2.0
"""Oracles in NumPy, written from formulas. Nothing here calls the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def in_float64(*arrays: npt.ArrayLike) -> tuple[Array, ...]:
    """Return the arrays with exact float64 (or complex128) values."""
    result = []
    for array in arrays:
        values = np.asarray(array)
        wide = np.complex128 if values.dtype.kind == "c" else np.float64
        result.append(values.astype(wide))
    return tuple(result)


def matmul(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Return the matrix product in float64."""
    left, right = in_float64(a, b)
    return np.matmul(left, right)


def softmax(x: npt.ArrayLike, axis: int = -1) -> Array:
    """Return ``exp(x - max) / sum(exp(x - max))`` along an axis."""
    (values,) = in_float64(x)
    shifted = np.exp(values - values.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def rms_norm(x: npt.ArrayLike, gamma: npt.ArrayLike, epsilon: float) -> tuple[Array, Array]:
    """Return ``x * rstd * gamma`` and ``rstd`` over the dimensions of ``gamma``."""
    values, weight = in_float64(x, gamma)
    axes = tuple(range(values.ndim - weight.ndim, values.ndim))
    rstd = 1.0 / np.sqrt(np.mean(values**2, axis=axes, keepdims=True) + epsilon)
    return values * rstd * weight, rstd


def layer_norm(
    x: npt.ArrayLike,
    gamma: npt.ArrayLike | None,
    beta: npt.ArrayLike | None,
    epsilon: float,
    rank: int,
) -> tuple[Array, Array, Array]:
    """Return the normalised values, the mean and rstd over the last ``rank`` dimensions."""
    (values,) = in_float64(x)
    axes = tuple(range(values.ndim - rank, values.ndim))
    mean = values.mean(axis=axes, keepdims=True)
    rstd = 1.0 / np.sqrt(values.var(axis=axes, keepdims=True) + epsilon)
    result = (values - mean) * rstd
    if gamma is not None:
        result = result * in_float64(gamma)[0]
    if beta is not None:
        result = result + in_float64(beta)[0]
    return result, mean, rstd
