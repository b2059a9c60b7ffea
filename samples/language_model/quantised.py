# SPDX-License-Identifier: Apache-2.0
"""Weights of 8 or 4 bits, quantised while they are loaded.

"w8a8" has a scale for each output feature, and quantises the rows of each product as well, each row
by its largest element. "w8a16" has the same weights, and rows as they are. "w4a16" has a scale and
an offset for each group of 128 input features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from experts import Grouped, PlainGrouped
from linear import Array, Linear, Plain, put

import aclnn_py as ap
from aclnn_py import functional as F

FLOAT, INT4 = np.dtype(np.float32), np.dtype(ml_dtypes.int4)
GROUP = 128
SHRUNK = (1.0, 0.95, 0.9, 0.85, 0.8)
"""Parts of a group's range that are tried for the 16 steps of 4 bits: clipping may round better."""


def eight_bits(weight: Array) -> tuple[Array, Array]:
    """int8 numbers (in, out) and scales (out,) of a weight (out, in)."""
    wide = weight.astype(FLOAT)
    scale = np.maximum(np.abs(wide).max(axis=1) / 127, np.float32(1e-8))
    return np.rint(wide / scale[:, None]).astype(np.int8).T, scale


def group_of(features: int) -> int:
    """Input features that share a scale: 128, or half of them where there are few."""
    group = GROUP if features > GROUP else features // 2
    if group % 32:
        raise ValueError(
            f'quantise: "w4a16" takes products of more than {GROUP} input features, or of a '
            f"multiple of 64; one has {features}"
        )
    return group


def four_bits(weight: Array, group: int) -> tuple[Array, Array, Array]:
    """int4 numbers (in, out), with scales and offsets (groups, out).

    A weight is about (number + offset) * scale.
    """
    out, features = weight.shape
    count = -(-features // group)
    wide = np.zeros((out, count * group), FLOAT)
    wide[:, :features] = weight
    parts = wide.reshape(out, count, group)
    low, high = parts.min(2), parts.max(2)
    least = np.full((out, count), np.inf, FLOAT)
    scale, offset = np.ones_like(least), np.zeros_like(least)
    for part in SHRUNK:
        step = np.maximum((high - low) * part / 15, np.float32(1e-8))
        zero = np.rint(low * part / step) + 8
        numbers = np.clip(np.rint(parts / step[..., None] - zero[..., None]), -8, 7)
        error = np.square((numbers + zero[..., None]) * step[..., None] - parts).sum(2)
        better = error < least
        least, scale = np.where(better, error, least), np.where(better, step, scale)
        offset = np.where(better, zero, offset)
    numbers = np.clip(np.rint(parts / scale[..., None] - offset[..., None]), -8, 7)
    flat = numbers.reshape(out, -1)[:, :features]
    return flat.astype(np.int8).T.astype(INT4), scale.T, offset.T


class EightByEight:
    """A product of int8 rows and an int8 weight, for "w8a8"."""

    def __init__(self, weight: Array, bias: Array | None, dtype: np.dtype[Any]) -> None:
        numbers, scale = eight_bits(weight)
        self._weight, self._scale = put(numbers, numbers.dtype), put(scale, FLOAT)
        self._bias = None if bias is None else put(bias, FLOAT)
        self._dtype = dtype

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        rows, scales = F.dynamic_quant(x)
        return F.quant_matmul(
            rows,
            self._weight,
            self._scale,
            pertoken_scale=scales,
            bias=self._bias,
            output_dtype=self._dtype,
        )


class WeightOnly:
    """A product of rows as they are and a weight of 8 or 4 bits."""

    def __init__(self, weight: Array, bias: Array | None, dtype: np.dtype[Any], bits: int) -> None:
        self._group, self._offset = 0, None
        if bits == 8:
            numbers, scale = eight_bits(weight)
        else:
            self._group = group_of(weight.shape[1])
            numbers, scale, offset = four_bits(weight, self._group)
            self._offset = put(offset, dtype)
        self._weight, self._scale = put(numbers, numbers.dtype), put(scale, dtype)
        self._bias = None if bias is None else put(bias, dtype)

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        return F.weight_quant_batchmatmul(
            x,
            self._weight,
            self._scale,
            self._offset,
            bias=self._bias,
            antiquant_group_size=self._group,
        )


class EightByEightGrouped:
    """Products of the rows of experts, for "w8a8"."""

    def __init__(self, weights: list[Array], dtype: np.dtype[Any]) -> None:
        pairs = [eight_bits(weight) for weight in weights]
        self._weights = put(np.stack([numbers for numbers, _ in pairs]), np.dtype(np.int8))
        scales = np.stack([scale for _, scale in pairs])
        self._scales = put(scales, FLOAT if dtype == np.float16 else dtype)
        self._dtype = dtype

    def __call__(self, x: ap.Tensor, counts: ap.Tensor) -> ap.Tensor:
        rows, scales = F.dynamic_quant(x)
        return F.grouped_matmul(
            rows,
            self._weights,
            counts,
            scale=self._scales,
            per_token_scale=scales,
            group_list_type=1,
            output_dtype=self._dtype,
        )


class WeightOnlyGrouped:
    """Products of the rows of experts with weights of 8 or 4 bits."""

    def __init__(self, weights: list[Array], dtype: np.dtype[Any], bits: int) -> None:
        if bits == 8:
            parts = [(*eight_bits(weight), np.zeros(weight.shape[0], FLOAT)) for weight in weights]
        else:
            group = group_of(weights[0].shape[1])
            parts = [four_bits(weight, group) for weight in weights]
        numbers, scales, offsets = (np.stack(part) for part in zip(*parts, strict=True))
        self._weights = put(numbers, numbers.dtype)
        self._scales, self._offsets = put(scales, dtype), put(offsets, dtype)

    def __call__(self, x: ap.Tensor, counts: ap.Tensor) -> ap.Tensor:
        return F.grouped_matmul(
            x,
            self._weights,
            counts,
            antiquant_scale=self._scales,
            antiquant_offset=self._offsets,
            group_list_type=1,
        )


@dataclass(frozen=True)
class Form:
    """How the products of layers are made."""

    linear: Callable[[Array, Array | None, np.dtype[Any]], Linear]
    grouped: Callable[[list[Array], np.dtype[Any]], Grouped]


FORMS: dict[str | None, Form] = {
    None: Form(Plain, PlainGrouped),
    "w8a8": Form(EightByEight, EightByEightGrouped),
    "w8a16": Form(
        lambda weight, bias, dtype: WeightOnly(weight, bias, dtype, 8),
        lambda weights, dtype: WeightOnlyGrouped(weights, dtype, 8),
    ),
    "w4a16": Form(
        lambda weight, bias, dtype: WeightOnly(weight, bias, dtype, 4),
        lambda weights, dtype: WeightOnlyGrouped(weights, dtype, 4),
    ),
}
"""By the value of the option ``quantise``. The head, gates and embeddings keep their dtype."""
