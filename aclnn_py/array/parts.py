# SPDX-License-Identifier: Apache-2.0
"""Elements as what operators move that lack their dtype: parts of complex numbers, and bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aclnn_py import functional
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["WIDE_UNSIGNED", "as_bits", "part", "real_type"]

# Few operators take these, which have the width of those.
WIDE_UNSIGNED = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}
_BITS = {"complex64": "int64", "float64": "int64", **WIDE_UNSIGNED}


def real_type(kind: DType) -> DType:
    """The dtype of the parts of complex numbers; others are their own."""
    return dtype_of(np.empty(0, kind.numpy).real.dtype) if kind.numpy.kind == "c" else kind


def part(tensor: Tensor, number: int) -> Tensor:
    """A view of the real (0) or the imaginary (1) parts of complex numbers."""
    if not tensor.count:
        return empty(tensor.shape, real_type(tensor.layout.dtype), device=tensor.device)
    return Tensor.wrap(
        tensor.buffer,
        tensor.shape,
        real_type(tensor.layout.dtype),
        strides=tuple(2 * stride for stride in tensor.strides),
        offset=2 * tensor.offset + number,
    )


def as_bits(tensor: Tensor, move: Callable[[Tensor], Tensor]) -> Tensor:
    """What moves elements, for every dtype: as integers of their width, or part by part."""
    if tensor.dtype_name == "complex128":
        parts = (functional.contiguous(part(tensor, number)) for number in (0, 1))
        return functional.complex(*(as_bits(item, move) for item in parts))
    bits = _BITS.get(tensor.dtype_name)
    return move(tensor) if bits is None else move(tensor.view(bits)).view(tensor.dtype_name)
