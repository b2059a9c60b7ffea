# SPDX-License-Identifier: Apache-2.0
"""Functions of the array API standard that make tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array import creating, shaping
from aclnn_py.array.operands import with_dtype
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.tensor import creation, dlpack
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.xp.dtypes import default_dtype, float32

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

Where = Device | int | None


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Where = None, copy: bool | None = None
) -> Tensor:
    """A tensor of a tensor, an array, nested sequences or a number."""
    if isinstance(obj, Tensor):
        found = obj if device is None or resolve(device) is obj.device else obj.to_device(device)
        changed = with_dtype(found, dtype)
        if copy is False and changed is not obj:
            raise ValueError("asarray: another dtype or device needs a copy, and copy=False")
        return functional.contiguous(obj) if copy and changed is obj else changed
    if copy is False:
        raise ValueError("asarray: memory of the host is copied to the device, and copy=False")
    if isinstance(obj, (np.ndarray, np.generic)):
        return with_dtype(from_numpy(np.asarray(obj), device=device), dtype)
    if creation.holds_tensors(obj):
        return creating.joined(obj, dtype, device)
    values = np.asarray(obj)
    kind = default_dtype(values) if dtype is None else np.dtype(dtype)
    return from_numpy(values.astype(kind), device=device)


def from_dlpack(x: Any, /, *, device: Where = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array."""
    result = dlpack.from_dlpack(x)
    return asarray(result, device=device, copy=copy)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Where = None
) -> Tensor:
    """Numbers at one distance, without the last."""
    if stop is None:
        start, stop = 0, start
    values = np.arange(start, stop, step)
    kind = default_dtype(values) if dtype is None else np.dtype(dtype)
    return from_numpy(values.astype(kind), device=device)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Where = None,
    endpoint: bool = True,
) -> Tensor:
    """Numbers at one distance, as many as asked for."""
    values = np.linspace(start, stop, num, endpoint=endpoint)
    kind = default_dtype(values) if dtype is None else np.dtype(dtype)
    return from_numpy(values.astype(kind), device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Where = None,
) -> Tensor:
    """Ones on a diagonal."""
    kind = float32 if dtype is None else np.dtype(dtype)
    return from_numpy(np.eye(n_rows, n_cols, k=k).astype(kind), device=device)


def empty(shape: Any, *, dtype: Any = None, device: Where = None) -> Tensor:
    """A tensor whose elements are not set."""
    return creation.empty(shape, float32 if dtype is None else dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Where = None) -> Tensor:
    """A tensor of zeros."""
    return creation.zeros(shape, float32 if dtype is None else dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Where = None) -> Tensor:
    """A tensor of ones."""
    return full(shape, 1, dtype=float32 if dtype is None else dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Where = None) -> Tensor:
    """A tensor of one number."""
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else default_dtype(fill_value)
    return creation.full(shape, fill_value, dtype, device=device)


def _kind(x: Tensor, dtype: Any) -> Any:
    return x.dtype_name if dtype is None else dtype


def _device(x: Tensor, device: Where) -> Device:
    return x.device if device is None else resolve(device)


def empty_like(x: Tensor, /, *, dtype: Any = None, device: Where = None) -> Tensor:
    """A tensor of the same shape whose elements are not set."""
    return creation.empty(x.shape, _kind(x, dtype), device=_device(x, device))


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: Where = None) -> Tensor:
    """Zeros in the same shape."""
    return creation.zeros(x.shape, _kind(x, dtype), device=_device(x, device))


def ones_like(x: Tensor, /, *, dtype: Any = None, device: Where = None) -> Tensor:
    """Ones in the same shape."""
    return full_like(x, 1, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Any, *, dtype: Any = None, device: Where = None) -> Tensor:
    """One number in the same shape."""
    return creation.full(x.shape, fill_value, _kind(x, dtype), device=_device(x, device))


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinates of a grid."""
    return creating.meshgrid(*arrays, indexing=indexing)


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The elements on and below a diagonal, zeros elsewhere."""
    return shaping.tril(_matrices(x), k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The elements on and above a diagonal, zeros elsewhere."""
    return shaping.triu(_matrices(x), k)


def _matrices(x: Tensor) -> Tensor:
    if x.ndim < 2:
        raise ValueError(f"x: two dimensions at least, got {x.ndim}")
    return x
