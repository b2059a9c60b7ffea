# SPDX-License-Identifier: Apache-2.0
"""The real and the imaginary parts of complex numbers."""

from __future__ import annotations

import numpy as np

from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["part", "real_type"]


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
