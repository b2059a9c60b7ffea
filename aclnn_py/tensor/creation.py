# SPDX-License-Identifier: Apache-2.0
"""Functions that make tensors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py import late
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.runtime.stream import current_stream
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import Format, format_of
from aclnn_py.tensor.layout import Layout, contiguous_layout
from aclnn_py.tensor.tensor import Tensor, fresh, fresh_here, fresh_of
from aclnn_py.tensor.transfer import fill
from aclnn_py.tensor.views import shape_of

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_numpy",
    "full",
    "holds_tensors",
    "linspace",
    "zeros",
    "zeros_like",
]


def from_numpy(
    array: npt.NDArray[Any] | np.generic,
    *,
    dtype: Any = None,
    format: Format | str = Format.ND,
    device: Device | int | None = None,
) -> Tensor:
    """Copy a NumPy array to the device.

    Parameters
    ----------
    array : ndarray
        Any strides and byte order; dtypes of NumPy and ml_dtypes that CANN has.
    dtype : dtype-like, optional
        What the bits mean, for element types without a host type (``"hifloat8"`` in a uint8 array).
        The width must be the same; values are not converted.
    format : Format or str, default ND
        Storage format; FRACTAL_NZ is converted on the host.
    device : Device or int, optional
        Default: the current device of this thread.

    Returns
    -------
    Tensor
        Row-major, of the same shape.

    Raises
    ------
    TypeError
        ``array`` is not an array, or CANN has no such element type.
    ValueError
        The rank does not fit the format.
    """
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(f"array: expected a numpy.ndarray, got {type(array).__name__}")
    values = np.asarray(array)
    kind = dtype_of(values.dtype, "array")
    if dtype is not None:
        wanted = dtype_of(dtype)
        if wanted.numpy.itemsize != values.dtype.itemsize:
            raise ValueError(f"dtype: {wanted} has another width than {values.dtype}")
        kind = wanted
    capture_rules.before_copy("from_numpy", "Make the tensor before the capture.")
    shape = shape_of(values.shape, "array")
    tensor = fresh(shape, kind, format_of(format), resolve(device), for_host=True)
    fill(tensor, values)
    return tensor


def empty(
    shape: int | tuple[int, ...],
    dtype: Any,
    *,
    format: Format | str = Format.ND,
    device: Device | int | None = None,
) -> Tensor:
    """Return a tensor with undefined elements.

    Parameters
    ----------
    shape : int or tuple of int
        At most 8 dimensions.
    dtype : dtype-like
        Element type; NumPy's, ml_dtypes' or a name such as ``"bfloat16"``.
    format : Format or str, default ND
        Storage format.
    device : Device or int, optional
        Default: the current device of this thread.

    Raises
    ------
    TypeError
        CANN has no such element type.
    ValueError
        A dimension is negative, or the rank does not fit the format.
    OutOfMemoryError
        The device has not enough memory.
    """
    dims = shape_of(shape)
    if format is Format.ND:
        try:
            layout = _plain_layout(dims, dtype)
        except TypeError:  # something that cannot be looked up, or no dtype
            layout = contiguous_layout(dims, dtype_of(dtype), Format.ND)
        return fresh_here(layout) if device is None else fresh_of(layout, resolve(device))
    return fresh(dims, dtype_of(dtype), format_of(format), resolve(device))


@lru_cache(maxsize=1024)
def _plain_layout(shape: tuple[int, ...], dtype: Any) -> Layout:
    return contiguous_layout(shape, dtype_of(dtype), Format.ND)


def zeros(
    shape: int | tuple[int, ...],
    dtype: Any,
    *,
    format: Format | str = Format.ND,
    device: Device | int | None = None,
) -> Tensor:
    """Return a tensor of zeros; parameters as for ``empty``."""
    kind = dtype_of(dtype)
    if kind.name == "float8_e8m0fnu":
        raise ValueError("dtype: float8_e8m0fnu has no zero")
    tensor = fresh(shape_of(shape), kind, format_of(format), resolve(device), for_host=True)
    # A capture records the fill, and every replay does it again.
    stream = None if thread.capture is None else current_stream()
    tensor.buffer.fill(0, stream=stream)  # all bits clear is zero in every other type
    return tensor


def full(
    shape: int | tuple[int, ...],
    value: Any,
    dtype: Any,
    *,
    format: Format | str = Format.ND,
    device: Device | int | None = None,
) -> Tensor:
    """Return a tensor of one value.

    Parameters
    ----------
    shape : int or tuple of int
    value : number or Tensor
        Converted to ``dtype`` as NumPy does; a tensor is broadcast on its device.
    dtype : dtype-like
    format : Format or str, default ND
    device : Device or int, optional
        Default: the current device of this thread.
    """
    if isinstance(value, Tensor):
        spread = value.astype(dtype).broadcast_to(shape)
        made: Tensor = late.functional.contiguous(spread)
        return made if device is None else made.to_device(device)
    values = np.full(shape_of(shape), value, _exact(dtype))
    return from_numpy(values, format=format, device=device)


def empty_like(tensor: Tensor, *, dtype: Any = None) -> Tensor:
    """Return an ``empty`` tensor of the shape, dtype, format and device of another."""
    kind = tensor.layout.dtype if dtype is None else dtype_of(dtype)
    return fresh(tensor.shape, kind, tensor.format, tensor.device)


def zeros_like(tensor: Tensor, *, dtype: Any = None) -> Tensor:
    """Return a tensor of ``zeros`` of the shape, dtype, format and device of another."""
    kind = tensor.layout.dtype if dtype is None else dtype_of(dtype)
    return zeros(tensor.shape, kind, format=tensor.format, device=tensor.device)


def asarray(
    value: Any, dtype: npt.DTypeLike | None = None, *, device: Device | int | None = None
) -> Tensor:
    """Return a tensor of a tensor, an array, nested lists or a number, as ``numpy.asarray`` does.

    Tensors in nested lists are stacked on the device.

    Parameters
    ----------
    value : Tensor, array_like
        A tensor is returned as it is, if it has the dtype and is on the device.
    dtype : dtype-like, optional
        Default: NumPy's choice, float64 for Python floats.
    device : Device or int, optional
        Default: that of the tensor or of the first tensor in the lists, else the current device of
        this thread.

    Returns
    -------
    Tensor
        Row-major, unless ``value`` is a tensor.

    Raises
    ------
    TypeError
        CANN has no such element type.
    ValueError
        Nested lists have different lengths.
    """
    if isinstance(value, Tensor):
        moved = value if device is None else value.to_device(device)
        if dtype is None or moved.layout.dtype is dtype_of(dtype):
            return moved
        return moved.astype(dtype)
    if holds_tensors(value):
        joined: Tensor = late.array.joined(value, dtype, device)
        return joined
    return from_numpy(np.asarray(value, None if dtype is None else _exact(dtype)), device=device)


def holds_tensors(value: Any) -> bool:
    """Whether a list or a tuple, or one inside it, has a tensor among its items."""
    if not isinstance(value, (list, tuple)):
        return False
    return any(isinstance(item, Tensor) or holds_tensors(item) for item in value)


def _exact(dtype: Any) -> np.dtype[Any]:
    kind = dtype_of(dtype)
    if not kind.exact:
        raise TypeError(f"dtype: values cannot be converted to {kind} on the host")
    return kind.numpy


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: npt.DTypeLike | None = None,
    *,
    device: Device | int | None = None,
) -> Tensor:
    """Return numbers at one distance, as ``numpy.arange`` does.

    Parameters
    ----------
    start : number
        The first, or with nothing else the end, and the first is 0.
    stop : number, optional
        Where they end; it is not among them.
    step : number, default 1
        The distance.
    dtype : dtype-like, optional
        Default: that of the numbers, int64 or float64.
    device : Device or int, optional
        Default: the current device of this thread.

    Returns
    -------
    Tensor
        Of one dimension.
    """
    first, end = (0, start) if stop is None else (start, stop)
    make: Any = np.arange  # NumPy's overloads know no dtype that may be None
    values = make(first, end, step, dtype)
    return from_numpy(values, device=device)


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Device | int | None = None,
) -> Tensor:
    """Return numbers at one distance between two ends, as ``numpy.linspace`` does.

    Parameters
    ----------
    start, stop : number
        The ends.
    num : int, default 50
        How many.
    endpoint : bool, default True
        Whether ``stop`` is the last.
    dtype : dtype-like, optional
        Default: float64.
    device : Device or int, optional
        Default: the current device of this thread.

    Returns
    -------
    Tensor
        Of shape ``(num,)``.

    Raises
    ------
    ValueError
        ``num`` is negative.
    """
    return from_numpy(np.linspace(start, stop, num, endpoint, dtype=dtype), device=device)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike | None = None,
    *,
    device: Device | int | None = None,
) -> Tensor:
    """Return ones on a diagonal and zeros elsewhere, as ``numpy.eye`` does.

    Parameters
    ----------
    N, M : int
        Rows and columns; ``M`` is ``N`` by default.
    k : int, default 0
        Which diagonal; above 0 to the right.
    dtype : dtype-like, optional
        Default: float64.
    device : Device or int, optional
        Default: the current device of this thread.

    Returns
    -------
    Tensor
        Of shape ``(N, M)``.
    """
    kind = np.dtype(np.float64) if dtype is None else np.dtype(dtype)
    return from_numpy(np.eye(N, M, k, kind), device=device)
