# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions about indices themselves."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.operands import host_integers, indices_on
from aclnn_py.array.promotion import cast
from aclnn_py.array.searching import flatnonzero
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def _on_device(arrays: Any, tensor: Tensor) -> tuple[Tensor, ...]:
    return tuple(from_numpy(np.ascontiguousarray(item), device=tensor.device) for item in arrays)


def diag_indices_from(arr: Tensor) -> tuple[Tensor, ...]:
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return _on_device(np.diag_indices(arr.shape[0], arr.ndim), arr)


def tril_indices_from(arr: Tensor, k: int = 0) -> tuple[Tensor, ...]:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _on_device(np.tril_indices(arr.shape[0], k, arr.shape[1]), arr)


def triu_indices_from(arr: Tensor, k: int = 0) -> tuple[Tensor, ...]:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _on_device(np.triu_indices(arr.shape[0], k, arr.shape[1]), arr)


def ix_(*args: Any) -> tuple[Tensor, ...]:
    found = []
    for number, item in enumerate(args):
        tensor = item if isinstance(item, Tensor) else _like(item, args)
        if tensor.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if tensor.dtype.kind == "b":
            tensor = flatnonzero(tensor)
        shape = [1] * len(args)
        shape[number] = tensor.count
        found.append(tensor.reshape(tuple(shape)))
    return tuple(found)


def _like(item: Any, others: Any) -> Tensor:
    device = next(other.device for other in others if isinstance(other, Tensor))
    values = np.asarray(item)
    return from_numpy(values if values.size else values.astype(np.int64), device=device)


def unravel_index(indices: Tensor, shape: Any, order: str = "C") -> tuple[Tensor, ...]:
    dims = tuple(host_integers(shape))
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    index = indices_on(indices.device, indices)
    count = prod(dims)
    if index.count and bool(((index < 0) | (index >= count)).any()):
        raise ValueError(f"index is out of bounds for array with size {count}")
    found: list[Tensor] = []
    for length in reversed(dims) if order == "C" else dims:
        found.append(index % length)
        index = functional.floor_divide(index, length)
    return tuple(reversed(found)) if order == "C" else tuple(found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Tensor:
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    lengths = host_integers(dims)
    parts = list(multi_index)
    modes = [mode] * len(parts) if isinstance(mode, str) else list(mode)
    if len(parts) != len(lengths) or len(modes) != len(parts):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(lengths)}")
    device = next(part.device for part in parts if isinstance(part, Tensor))
    total: Any = None
    rows = list(zip(parts, lengths, modes, strict=True))
    for part, length, how in rows if order == "C" else reversed(rows):
        index = cast(indices_on(device, part), dtype_of("int64"))
        if how == "wrap":
            index = index % length
        elif how == "clip":
            index = index.clip(0, length - 1)
        elif bool(((index < 0) | (index >= length)).any()):
            raise ValueError("invalid entry in coordinates array")
        total = index if total is None else total * length + index
    result: Tensor = total
    return result
