# SPDX-License-Identifier: Apache-2.0
"""Shapes and dtypes of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_py import ops
from aclnn_py.dtypes import DType, dtype_of
from aclnn_py.tensor import Tensor

__all__ = ["broadcast", "has_operator", "matmul_shape", "promote", "reduced_shape"]

# Kinds in the order in which they take over: a mixed operation has the dtype of its highest kind.
_KINDS = ("bool", "int", "float", "complex")


def has_operator(name: str) -> bool:
    """Whether the loaded libraries have an operator of ``ops``."""
    return bool(getattr(ops, name).available())


def promote(*tensors: Tensor) -> DType:
    """dtype of the result of a mixed operation, by the rules CANN and torch share.

    Within one kind it is the smallest type that holds both; float16 with bfloat16 gives float32. A
    higher kind takes over with its own width: int64 with float16 gives float16.
    """
    result = dtype_of(tensors[0].dtype_name)
    for tensor in tensors[1:]:
        result = _promote_two(result, dtype_of(tensor.dtype_name))
    return result


def _promote_two(a: DType, b: DType) -> DType:
    if a == b:
        return a
    kinds = _kind(a), _kind(b)
    if kinds[0] != kinds[1]:
        return a if _KINDS.index(kinds[0]) > _KINDS.index(kinds[1]) else b
    if {a.name, b.name} == {"float16", "bfloat16"}:
        return dtype_of("float32")
    return dtype_of(np.promote_types(a.numpy, b.numpy), "result")


def _kind(dtype: DType) -> str:
    for kind in ("bool", "complex"):
        if dtype.name.startswith(kind):
            return kind
    return "int" if dtype.name.startswith(("int", "uint")) else "float"


def broadcast(*tensors: Tensor) -> tuple[int, ...]:
    """Shape all tensors broadcast to."""
    try:
        return np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    except ValueError:
        shapes = " and ".join(str(tensor.shape) for tensor in tensors)
        raise ValueError(f"shapes {shapes} cannot be broadcast together") from None


def matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the product of two operands of one or more dimensions."""
    if not a or not b:
        raise ValueError(f"matmul needs at least one dimension on both sides, got {a} and {b}")
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise ValueError(f"matmul: inner dimensions of {a} and {b} differ")
    batch: tuple[Any, ...] = np.broadcast_shapes(a[:-2], b[:-2])
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """Shape after a reduction over `axes` (all when empty)."""
    gone = {axis % len(shape) for axis in axes} if axes else set(range(len(shape)))
    if keepdims:
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)
