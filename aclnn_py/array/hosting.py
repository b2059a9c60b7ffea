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


def _copied(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        on_host = [np.asarray(item) if isinstance(item, Tensor) else item for item in args]
        named = {
            key: np.asarray(item) if isinstance(item, Tensor) else item
            for key, item in kwargs.items()
        }
        return getattr(np, name)(*on_host, **named)

    call.__name__ = name
    return call


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
