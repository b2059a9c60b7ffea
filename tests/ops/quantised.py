# SPDX-License-Identifier: Apache-2.0
"""Quantised tensors as arrays of whole numbers: int8, int4, and int32 with eight of 4 bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from helpers.operators import hollow, place

import aclnn_py as ap

Array = np.ndarray[Any, Any]

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
LIMITS = {"int8": (-128, 127), "int4": (-8, 7), "int32": (-8, 7)}


def packed(numbers: Array) -> Array:
    """Eight numbers of 4 bits to an int32, the first in the lowest bits."""
    parts = numbers.reshape(*numbers.shape[:-1], -1, 8).astype(np.int64) & 15
    return (parts << np.arange(0, 32, 4)).sum(axis=-1).astype(np.uint32).view(np.int32)


def put_packed(numbers: Array, kind: str, layout: str = "dense") -> ap.Tensor:
    """A tensor of a kind that holds these numbers; one of int4 is always dense."""
    if kind == "int8":
        return place(numbers.astype(np.int8), layout)
    if kind == "int4":
        return ap.from_numpy(numbers.astype(np.int8).astype(ml_dtypes.int4))
    return place(packed(numbers), layout)


def result(shape: tuple[int, ...], kind: str, layout: str = "dense") -> ap.Tensor:
    """A tensor for a result of so many numbers, filled with what no operator leaves there."""
    if kind == "int4":
        return ap.from_numpy(np.full(shape, 5, np.int8).astype(ml_dtypes.int4))
    if kind == "int32":
        return hollow((*shape[:-1], shape[-1] // 8), np.int32, layout)
    return hollow(shape, np.int8, layout)


def unpacked(tensor: ap.Tensor, kind: str) -> Array:
    """The numbers of a quantised tensor as int8."""
    array = tensor.numpy()
    if kind == "int32":
        parts = (array.view(np.uint32)[..., None] >> np.arange(0, 32, 4, dtype=np.uint32)) & 15
        numbers = parts.astype(np.int8).reshape(*array.shape[:-1], -1)
        return np.where(numbers < 8, numbers, numbers - 16).astype(np.int8)
    return array.astype(np.int8)


def assert_quantised(numbers: Array, exact: Array, kind: str, slack: float = 1e-4) -> None:
    """Each number is the one nearest to the exact value, within the limits of the kind.

    Near the middle between two numbers either is right: the operator computes in float32.
    """
    low, high = LIMITS[kind]
    distance = np.abs(numbers - np.clip(exact, low, high))
    assert distance.max(initial=0.0) <= 0.5 + slack, np.argmax(distance)
