# SPDX-License-Identifier: Apache-2.0
"""Functions that make tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.runtime.stream import current_stream
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import Format, format_of
from aclnn_py.tensor.tensor import Tensor, fresh
from aclnn_py.tensor.transfer import fill
from aclnn_py.tensor.views import shape_of

__all__ = ["empty", "empty_like", "from_numpy", "full", "zeros", "zeros_like"]


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
    return fresh(shape_of(shape), dtype_of(dtype), format_of(format), resolve(device))


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
    value : number
        Converted to ``dtype`` as NumPy does.
    dtype : dtype-like
    format : Format or str, default ND
    device : Device or int, optional
        Default: the current device of this thread.
    """
    kind = dtype_of(dtype)
    if not kind.exact:
        raise TypeError(f"dtype: values cannot be converted to {kind} on the host")
    values = np.full(shape_of(shape), value, kind.numpy)
    return from_numpy(values, format=format, device=device)


def empty_like(tensor: Tensor, *, dtype: Any = None) -> Tensor:
    """Return an ``empty`` tensor of the shape, dtype, format and device of another."""
    kind = tensor.layout.dtype if dtype is None else dtype_of(dtype)
    return fresh(tensor.shape, kind, tensor.format, tensor.device)


def zeros_like(tensor: Tensor, *, dtype: Any = None) -> Tensor:
    """Return a tensor of ``zeros`` of the shape, dtype, format and device of another."""
    kind = tensor.layout.dtype if dtype is None else dtype_of(dtype)
    return zeros(tensor.shape, kind, format=tensor.format, device=tensor.device)
