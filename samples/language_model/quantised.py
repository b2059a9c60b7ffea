# SPDX-License-Identifier: Apache-2.0
"""Products with weights of 8 or 4 bits.

"w8a8" has a scale for each output feature, and quantises the rows of each product as well, each row
by its largest element. "w8a16" has the same weights, and rows as they are. "w4a16" has a scale and
an offset for each group of 32 input features. In a model with experts, "w8a8" and "w4a16" are for
these; in another one, "w4a16" is for the networks. What is left has "w8a16".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
from experts import Grouped
from linear import Array, Linear, put
from rounding import EIGHT, FLOAT, LEAST, WHOLE, Grid, Rounded, four

import aclnn_py as ap
from aclnn_py import functional as F

INT8, INT4 = np.dtype(np.int8), np.dtype(ml_dtypes.int4)
GROUP = 32


def check_group(features: int) -> None:
    """Raise ValueError if groups of 4 bits do not fit."""
    if features <= GROUP:
        raise ValueError(
            f'quantise: "w4a16" takes products of more than {GROUP} input features; one has '
            f"{features}"
        )


def quantised_rows(rows: Array) -> Array:
    """What the device makes of rows that it quantises, each by its largest element."""
    scale = np.maximum(np.abs(rows).max(axis=1, keepdims=True) / 127, LEAST)
    found: Array = np.rint(rows / scale) * scale
    return found


class EightByEight:
    """A product of int8 rows and an int8 weight, for "w8a8"."""

    def __init__(self, weight: Rounded, bias: Array | None, dtype: np.dtype[Any]) -> None:
        self._weight = put(weight.numbers, INT8)
        self._scale = put(weight.scale[0], FLOAT)
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

    def __init__(self, weight: Rounded, bias: Array | None, dtype: np.dtype[Any]) -> None:
        scale, self._group, self._offset = weight.scale[0], 0, None
        kind = INT8
        if len(weight.scale) > 1:
            scale, self._group, kind = weight.scale, GROUP, INT4
            self._offset = put(weight.offset, dtype)
        self._weight, self._scale = put(weight.numbers, kind), put(scale, dtype)
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

    def __init__(self, weights: Sequence[Rounded], dtype: np.dtype[Any]) -> None:
        self._weights = put(np.stack([weight.numbers for weight in weights]), INT8)
        scales = np.concatenate([weight.scale for weight in weights])
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

    def __init__(self, weights: Sequence[Rounded], dtype: np.dtype[Any]) -> None:
        groups = len(weights[0].scale)
        numbers, scales, offsets = (
            np.stack(parts)
            for parts in zip(*((w.numbers, w.scale, w.offset) for w in weights), strict=True)
        )
        if groups == 1:
            scales, offsets = scales[:, 0], offsets[:, 0]
        self._weights = put(numbers, INT8 if groups == 1 else INT4)
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

    linear: Callable[[Rounded, Array | None, np.dtype[Any]], Linear]
    grouped: Callable[[Sequence[Rounded], np.dtype[Any]], Grouped]
    grid: Grid
    whole_rows: bool
    """Rows are not quantised."""

    def round(self, weight: Array, rows: Array | None, dtype: np.dtype[Any]) -> Rounded:
        """Round a weight (out, in) for typical rows (any number, in), if there are some."""
        if self.grid.group:
            check_group(weight.shape[1])
        if rows is not None and not self.whole_rows:
            rows = quantised_rows(rows)
        # Scales have the dtype of the model, but where the rows are quantised too.
        return self.grid.round(weight, rows, dtype if self.whole_rows else FLOAT)

    def product(self, weight: Array, rows: Array) -> Array:
        """About what the device makes of rows and a weight (out, in)."""
        if not self.whole_rows:
            rows = quantised_rows(rows)
        # In a hurry: this is computed many times.
        found: Array = rows @ replace(self.grid, parts=WHOLE).round(weight, None).weight()
        return found


FORMS = {
    "w8a8": Form(EightByEight, EightByEightGrouped, EIGHT, whole_rows=False),
    "w8a16": Form(WeightOnly, WeightOnlyGrouped, EIGHT, whole_rows=True),
    "w4a16": Form(WeightOnly, WeightOnlyGrouped, four(GROUP), whole_rows=True),
}
"""By the value of the option ``quantise``. The head, gates and embeddings keep their dtype."""


@dataclass(frozen=True)
class Forms:
    """The forms of a model: that of most of its weights, and one with less error for the others.

    Most weights are those of experts, or of networks where there are no experts. Errors of the
    others make gates choose other experts, and attention see other tokens.
    """

    most: Form
    others: Form
    experts: bool
    """The model has experts."""

    def of(self, name: str) -> Form:
        """The form of a product, by the name of an array."""
        return self.most if (".experts." if self.experts else ".mlp.") in name else self.others


def forms_of(name: str, *, experts: bool) -> Forms:
    """The forms for a value of ``quantise``, in a model with or without experts."""
    careful = name == "w4a16" or experts
    return Forms(FORMS[name], FORMS["w8a16" if careful else name], experts)
