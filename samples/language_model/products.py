# SPDX-License-Identifier: Apache-2.0
"""How the products of a layer are made of its arrays: plain, plain and watched, or quantised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from calibration import LayerArrays, Seen
from experts import Grouped, PlainGrouped
from linear import Array, Linear, Plain
from quantised import Forms
from rounding import Rounded


class Products(Protocol):
    """Makes products. Names are those of arrays, without ".weight"; the first one of several."""

    plain: bool
    """They are in the dtype of the model and nobody watches them, so that others may be used."""

    def linear(self, name: str, weight: Array, bias: Array | None) -> Linear: ...

    def grouped(self, names: Sequence[str], weights: Sequence[Array]) -> Grouped: ...


class PlainProducts:
    """Products in the dtype of the model. If ``seen`` is given, it keeps what they multiply."""

    def __init__(self, dtype: np.dtype[Any], seen: Seen | None = None) -> None:
        self._dtype, self._seen = dtype, seen
        self.plain = seen is None

    def linear(self, name: str, weight: Array, bias: Array | None) -> Linear:
        product = Plain(weight, bias, self._dtype)
        return product if self._seen is None else self._seen.linear(name, product)

    def grouped(self, names: Sequence[str], weights: Sequence[Array]) -> Grouped:
        products = PlainGrouped(weights, self._dtype)
        return products if self._seen is None else self._seen.grouped(names, products)


class QuantisedProducts:
    """Products whose weights are rounded for the rows that others have seen."""

    plain = False

    def __init__(self, forms: Forms, dtype: np.dtype[Any], arrays: LayerArrays, seen: Seen) -> None:
        self._forms, self._dtype, self._arrays, self._seen = forms, dtype, arrays, seen

    def linear(self, name: str, weight: Array, bias: Array | None) -> Linear:
        return self._forms.of(name).linear(self._rounded(name, weight), bias, self._dtype)

    def grouped(self, names: Sequence[str], weights: Sequence[Array]) -> Grouped:
        rounded = [self._rounded(*pair) for pair in zip(names, weights, strict=True)]
        return self._forms.of(names[0]).grouped(rounded, self._dtype)

    def _rounded(self, name: str, weight: Array) -> Rounded:
        rows = self._seen.rows(name)
        if rows is not None:
            rows = self._arrays.smaller(name, rows)
        return self._forms.of(name).round(weight, rows, self._dtype)
