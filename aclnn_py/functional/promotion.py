# SPDX-License-Identifier: Apache-2.0
"""Element types of results: promotion of operands, and defaults of sums and ranges."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from aclnn_py.operators.describe.scalar import Scalar
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["DTypeLike", "arange_type", "floating", "largest", "promote", "sum_type"]

# A name such as "bfloat16", a NumPy dtype or scalar type, or a type of ml_dtypes.
DTypeLike: TypeAlias = "npt.DTypeLike | DType"

# Kinds in ascending order: the result of a mixed operation has the highest kind among its operands.
_KINDS = ("bool", "int", "float", "complex")
# What a number brings when its kind is higher than that of the tensor.
_DEFAULTS = {"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"}


def promote(*operands: Any) -> DType:
    """dtype of the result of a mixed operation, by the rules that CANN and torch share.

    Within one kind the smallest type that holds both is taken; float16 with bfloat16 gives float32.
    A higher kind wins with its own width: int64 with float16 gives float16. A number matters only
    if its kind is higher than that of every tensor.
    """
    tensors = [item.layout.dtype for item in operands if isinstance(item, Tensor)]
    result = tensors[0]
    for kind in tensors[1:]:
        result = _promote_two(result, kind)
    for item in operands:
        if not isinstance(item, Tensor) and _rank(_number_kind(item)) > _rank(_kind(result)):
            result = dtype_of(_DEFAULTS[_number_kind(item)])
    return result


def _promote_two(a: DType, b: DType) -> DType:
    if a == b:
        return a
    if _kind(a) != _kind(b):
        return a if _rank(_kind(a)) > _rank(_kind(b)) else b
    if {a.name, b.name} == {"float16", "bfloat16"}:
        return dtype_of("float32")
    return dtype_of(np.promote_types(a.numpy, b.numpy), "result")


def _rank(kind: str) -> int:
    return _KINDS.index(kind)


def _kind(dtype: DType) -> str:
    for kind in ("bool", "complex"):
        if dtype.name.startswith(kind):
            return kind
    return "int" if dtype.name.startswith(("int", "uint")) else "float"


def _number_kind(value: Any) -> str:
    if isinstance(value, Scalar):
        return _kind(dtype_of(value.dtype))
    if isinstance(value, np.generic):
        return _kind(dtype_of(value.dtype))
    if isinstance(value, bool):
        return "bool"
    return {int: "int", float: "float", complex: "complex"}[type(value)]


def floating(dtype: DType) -> DType:
    """float32 for integers and bool, else the dtype itself."""
    return dtype_of("float32") if _kind(dtype) in ("bool", "int") else dtype


def sum_type(input: Tensor, dtype: Any) -> DType:
    """dtype of a sum or product: the given one, else int64 for integers and bool."""
    if dtype is not None:
        return dtype_of(dtype)
    kind = promote(input)
    return dtype_of("int64") if _kind(kind) in ("bool", "int") else kind


def arange_type(start: Any, end: Any, step: Any, dtype: Any) -> DType:
    """dtype of a range: the given one, else int64, or float32 if a number is not an integer."""
    if dtype is not None:
        return dtype_of(dtype)
    whole = all(_number_kind(value) in ("bool", "int") for value in (start, end, step))
    return dtype_of("int64" if whole else "float32")


def largest(tensor: Tensor) -> float:
    """Largest finite number of the dtype of a tensor; 0.0 for integers, which have no infinity."""
    kind = tensor.dtype
    return 0.0 if kind.kind in "biu" else float(ml_dtypes.finfo(kind).max)  # type: ignore[no-untyped-call]
