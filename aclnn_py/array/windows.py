# SPDX-License-Identifier: Apache-2.0
"""NumPy's views of all windows of an array."""

from __future__ import annotations

from typing import Any

from aclnn_py.array.operands import host_integers
from aclnn_py.array.reduction import axes_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def lib_stride_tricks_sliding_window_view(x: Tensor, window_shape: Any, axis: Any = None) -> Tensor:
    lengths = host_integers(window_shape)
    if axis is None and len(lengths) != x.ndim:
        raise ValueError(
            f"Since axis is None, must provide window_shape for all dimensions of `x`; got "
            f"{len(lengths)} window_shape elements and `x.ndim` is {x.ndim}."
        )
    axes = [axes_of(item, x.ndim)[0] for item in (range(x.ndim) if axis is None else _tuple(axis))]
    if len(axes) != len(lengths):
        raise ValueError("Must provide matching length window_shape and axis")
    shape = list(x.shape)
    for length, at in zip(lengths, axes, strict=True):
        shape[at] -= length - 1
        if length < 0 or shape[at] < 1:
            raise ValueError("window shape cannot be larger than input array shape")
    return Tensor.wrap(
        x.buffer,
        (*shape, *lengths),
        x.layout.dtype,
        strides=(*x.strides, *(x.strides[at] for at in axes)),
        offset=x.offset,
    )


def _tuple(axis: Any) -> tuple[int, ...]:
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
