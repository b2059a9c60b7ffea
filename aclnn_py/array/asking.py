# SPDX-License-Identifier: Apache-2.0
"""NumPy's questions about dtypes and memory, which no element is read for."""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_py.array.promotion import result_type as expression_type
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    operands = [
        np.dtype(item).type(0) if isinstance(item, (np.dtype, type, str)) else item
        for item in arrays_and_dtypes
    ]
    return expression_type(*operands).numpy


def common_type(*arrays: Tensor) -> type:
    kinds = [np.dtype(np.float64) if item.dtype.kind in "biu" else item.dtype for item in arrays]
    kind: type = np.result_type(*kinds).type
    return kind


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    if isinstance(from_, Tensor):
        from_ = from_.dtype
    return bool(np.can_cast(from_, to, casting))


def min_scalar_type(a: Tensor, /) -> np.dtype[Any]:
    if not a.ndim:
        return np.min_scalar_type(a.item())
    return a.dtype


class _Outline:
    """Where the elements of a tensor lie, for NumPy's arithmetic on addresses; nothing is read."""

    def __init__(self, tensor: Tensor) -> None:
        size = tensor.dtype.itemsize
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "typestr": f"|V{size}",
            "data": (tensor.address, False),
            "strides": tuple(stride * size for stride in tensor.strides),
        }


def _outlines(a: Any, b: Any) -> tuple[Any, Any] | None:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor) or a.device is not b.device:
        return None
    if not a.count or not b.count:
        return None
    return np.asarray(_Outline(a)), np.asarray(_Outline(b))


def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    both = _outlines(a, b)
    return both is not None and bool(np.may_share_memory(*both, max_work))


def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    both = _outlines(a, b)
    return both is not None and bool(np.shares_memory(*both, max_work))
