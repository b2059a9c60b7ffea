# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that make text or files, which are on the host by their nature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aclnn_py.runtime.device import resolve
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def _read(item: Any) -> Any:
    return np.asarray(item) if isinstance(item, Tensor) else item


def _copied(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        named = {key: _read(item) for key, item in kwargs.items()}
        return getattr(np, name)(*map(_read, args), **named)

    call.__name__ = name
    return call


def on_host(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What NumPy computes of copies on the host; its arrays go to the device of the tensors."""
    device = next(item for item in (*args, *kwargs.values()) if isinstance(item, Tensor)).device
    found = function(*map(_read, args), **{key: _read(item) for key, item in kwargs.items()})
    if not isinstance(found, tuple):
        return from_numpy(found, device=device)
    copies = (from_numpy(item, device=device) for item in found)
    return type(found)(*copies) if hasattr(found, "_fields") else tuple(copies)


def pickled(tensor: Tensor) -> tuple[Any, ...]:
    """What ``pickle`` keeps of a tensor: its elements, and what NumPy does not know of them."""
    return restored, (tensor.numpy(), tensor.dtype_name, tensor.format.name)


def restored(array: Any, dtype: str, format: str) -> Tensor:
    """A tensor from its pickle, on the current device of this thread."""
    return from_numpy(array, dtype=dtype, format=format)


def to_device(tensor: Tensor, device: Any) -> Tensor:
    """The tensor itself, or a copy on another device, which passes the host."""
    target = resolve(device)
    if target is tensor.device:
        return tensor
    values, kind = tensor.numpy(), tensor.dtype_name
    return from_numpy(values, dtype=kind, format=tensor.format, device=target)


array2string, array_repr, array_str = (
    _copied(name) for name in ("array2string", "array_repr", "array_str")
)
save, savetxt, savez, savez_compressed = (
    _copied(name) for name in ("save", "savetxt", "savez", "savez_compressed")
)
