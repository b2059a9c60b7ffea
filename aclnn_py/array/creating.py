# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that make arrays: on the device where ``like=`` or an argument is a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.hosting import to_device
from aclnn_py.array.operands import device_of, placed, promoted, with_dtype
from aclnn_py.array.promotion import cast, result_type, tensor_of
from aclnn_py.array.shaping import broadcast_arrays, expand_dims
from aclnn_py.runtime.device import Device
from aclnn_py.tensor import creation
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def _host(name: str) -> Any:
    """A function whose result is made on the host, by NumPy, and copied."""

    def make(*args: Any, **kwargs: Any) -> Tensor:
        return from_numpy(np.ascontiguousarray(getattr(np, name)(*args, **kwargs)))

    make.__name__ = name
    return make


arange, eye, identity, tri = (_host(name) for name in ("arange", "eye", "identity", "tri"))


def zeros(shape: Any, dtype: Any = float, order: str = "C") -> Tensor:
    return creation.zeros(shape, dtype)


def ones(shape: Any, dtype: Any = None, order: str = "C") -> Tensor:
    return creation.full(shape, 1, float if dtype is None else dtype)


def empty(shape: Any, dtype: Any = float, order: str = "C") -> Tensor:
    return creation.empty(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Tensor:
    if isinstance(fill_value, Tensor):
        return functional.contiguous(with_dtype(fill_value, dtype).broadcast_to(shape))
    kind = np.asarray(fill_value).dtype if dtype is None else dtype
    return creation.full(shape, fill_value, kind)


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", ndmin: int = 0
) -> Tensor:
    """A tensor of nested lists, arrays, numbers or tensors."""
    result = with_dtype(_converted(object, _device_within(object)), dtype)
    if copy and result is object:
        result = functional.contiguous(result)
    return (
        result.reshape((1,) * (ndmin - result.ndim) + result.shape)
        if ndmin > result.ndim
        else result
    )


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Tensor:
    return array(a, dtype, copy=bool(copy))


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Tensor:
    return array(a, dtype, copy=bool(copy))


def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    return array(a, dtype, copy=False, ndmin=1).contiguous()


def asfortranarray(a: Any, dtype: Any = None) -> Tensor:
    return functional.contiguous(array(a, dtype, copy=False, ndmin=1).T).T


def joined(values: Sequence[Any], dtype: Any = None, device: Device | int | None = None) -> Tensor:
    """A tensor of nested lists that hold tensors, which are stacked where they are."""
    result = with_dtype(_converted(values, _device_within(values)), dtype)
    return result if device is None else to_device(result, device)


def _converted(value: Any, device: Device | None) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if not creation.holds_tensors(value):
        return from_numpy(np.asarray(value), device=device)
    parts = [_converted(item, device) for item in value]
    if len({part.shape for part in parts}) > 1:
        raise ValueError("setting an array element with a sequence: the shapes differ")
    return functional.stack(promoted("asarray", *parts), 0)


def _device_within(value: Any) -> Device | None:
    """The device of the first tensor of nested lists."""
    if isinstance(value, Tensor):
        return value.device
    if not isinstance(value, (list, tuple)):
        return None
    return next((found for found in map(_device_within, value) if found is not None), None)


def _like(prototype: Tensor, dtype: Any, shape: Any) -> tuple[Any, Any, Device]:
    return (
        prototype.shape if shape is None else shape,
        prototype.dtype_name if dtype is None else dtype,
        prototype.device,
    )


def empty_like(
    prototype: Tensor, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Tensor:
    lengths, kind, device = _like(prototype, dtype, shape)
    return creation.empty(lengths, kind, device=device)


def zeros_like(
    a: Tensor, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Tensor:
    lengths, kind, device = _like(a, dtype, shape)
    return creation.zeros(lengths, kind, device=device)


def ones_like(
    a: Tensor, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Tensor:
    return full_like(a, 1, dtype, order, subok, shape)


def full_like(
    a: Tensor, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
    shape: Any = None,
) -> Tensor:  # fmt: skip
    result = empty_like(a, dtype, order, subok, shape)
    result[...] = fill_value
    return result


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    """Between tensors, in the dtype of the ends."""
    device = device_of("linspace", *(item for item in (start, stop) if isinstance(item, Tensor)))
    count = int(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    kind = result_type(start, stop, 1.0)
    first, last = broadcast_arrays(*(cast(placed(item, device), kind) for item in (start, stop)))
    steps = count - 1 if endpoint else count
    places = from_numpy(np.arange(count).astype(kind.numpy), device=device)
    places = places.reshape((count, *(1,) * first.ndim))
    width = (last - first) / float(steps) if steps else first * float("nan")
    result = places * width + first if steps else places * 0 + first
    if endpoint and count > 1:
        result[-1] = last
    if dtype is not None:
        whole = np.dtype(dtype).kind in "iu"
        result = with_dtype(functional.floor(result) if whole else result, dtype)
    if axis != 0:
        result = functional.contiguous(result.permute(*_moved(result.ndim, axis)))
    return (result, width) if retstep else result


def _wide(value: Any, device: Device) -> Tensor:
    tensor = placed(value, device)
    return tensor if tensor.dtype.kind == "c" else tensor.astype("float64")


def _moved(rank: int, axis: int) -> list[int]:
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    return order


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Tensor:  # fmt: skip
    powers = linspace(start, stop, num, endpoint, axis=axis)
    base = cast(placed(base, powers.device), powers.layout.dtype)
    if base.ndim:
        base = expand_dims(base, axis)
    return with_dtype(base**powers, dtype)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    device = device_of("geomspace", *(item for item in (start, stop) if isinstance(item, Tensor)))
    first, last = (_wide(item, device) for item in (start, stop))
    if bool((first == 0).any()) or bool((last == 0).any()):
        raise ValueError("Geometric sequence cannot include zero")
    if bool((first * last < 0).any()):
        raise TypeError("np.geomspace: both ends must have one sign for tensors")
    sign = np.sign(first)
    powers = linspace(np.log10(abs(first)), np.log10(abs(last)), num, endpoint, axis=axis)
    base = tensor_of(10.0, powers.layout.dtype, device)
    return with_dtype((base**powers) * sign, dtype)


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Tensor, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    device = device_of("meshgrid", *(item for item in xi if isinstance(item, Tensor)))
    vectors = [placed(item, device).reshape(-1) for item in xi]
    rank = len(vectors)
    grids = []
    for number, vector in enumerate(vectors):
        at = 1 - number if indexing == "xy" and number < 2 and rank > 1 else number
        grids.append(vector.reshape(tuple(-1 if i == at else 1 for i in range(rank))))
    if not sparse:
        grids = list(broadcast_arrays(*grids))
    return tuple(functional.contiguous(grid) if copy else grid for grid in grids)
