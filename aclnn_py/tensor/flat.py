# SPDX-License-Identifier: Apache-2.0
"""The elements of a tensor as one row, as NumPy's ``flat``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["Flat"]


class Flat:
    """The elements of a tensor in row-major order, as ``ndarray.flat`` gives them.

    Parameters
    ----------
    tensor : Tensor
        What is read and written.
    """

    __slots__ = ("base",)

    def __init__(self, tensor: Any) -> None:
        self.base = tensor

    def __len__(self) -> int:
        return int(self.base.count)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base.reshape(-1))

    def __getitem__(self, key: Any) -> Any:
        return self.base.reshape(-1)[key].copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        row = self.base.reshape(-1)
        row[key] = value
        if row.buffer is not self.base.buffer:  # a copy, because the strides allow no view
            self.base[...] = row.reshape(self.base.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.base.reshape(-1).__array__(dtype, copy)
