# SPDX-License-Identifier: Apache-2.0
"""Matrix products with NumPy's promotion: `@` and the ufuncs that multiply matrices and vectors."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.parts import part
from aclnn_py.array.promotion import (
    LISTS,
    cast,
    expect_operands,
    result_type,
    without_lists,
)
from aclnn_py.runtime.current import thread
from aclnn_py.tensor.tensor import Tensor

__all__ = ["FUNCTIONS", "matmul"]

_MULTIPLIED = ("float16", "bfloat16", "float32")  # by aclnnMatmul
_AT_ONCE = 1 << 22  # products of elements that are in memory at one time


def matmul(a: Any, b: Any) -> Tensor:
    """Evaluate ``a @ b``.

    Raises
    ------
    TypeError
        An operand is no tensor.

    Notes
    -----
    CANN multiplies matrices of float16, bfloat16 and float32. Products of other dtypes are sums of
    products of elements, which takes longer; with ``unsupported_dtypes`` float64 is multiplied in
    float32 or on the host.
    """
    return _product("matmul", a, b)


def _product(name: str, a: Any, b: Any) -> Tensor:
    if a.__class__ in LISTS or b.__class__ in LISTS:
        a, b = without_lists(a, b)
    expect_operands(name, a, b)
    for operand in (a, b):
        if not isinstance(operand, Tensor) or not operand.ndim:
            raise ValueError(f"{name}: both operands must be tensors with a dimension at least")
    kind = result_type(a, b)
    a, b = cast(a, kind), cast(b, kind)
    if kind.numpy.kind == "c":
        (a_real, a_imag), (b_real, b_imag) = (_parts(item) for item in (a, b))
        return functional.complex(
            _real_product(a_real, b_real) - _real_product(a_imag, b_imag),
            _real_product(a_real, b_imag) + _real_product(a_imag, b_real),
        )
    return _real_product(a, b)


def _parts(a: Tensor) -> tuple[Tensor, Tensor]:
    return functional.contiguous(part(a, 0)), functional.contiguous(part(a, 1))


def _real_product(a: Tensor, b: Tensor) -> Tensor:
    kind = a.dtype_name
    if kind in _MULTIPLIED or thread.unsupported == "host":
        return functional.matmul(a, b)
    if kind == "float64" and thread.unsupported == "float32":
        return functional.matmul(a, b)
    return _sums_of_products(a, b)


def _sums_of_products(a: Tensor, b: Tensor) -> Tensor:
    """For dtypes that aclnnMatmul lacks: every product at once, a few rows at a time."""
    left = a.unsqueeze(-1) if a.ndim > 1 else a[None, :, None]
    right = (b if b.ndim > 1 else b.unsqueeze(-1)).unsqueeze(-3)
    if left.shape[-2] != right.shape[-2]:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not fit")
    rows = left.shape[-3]
    shape = np.broadcast_shapes(left.shape, right.shape)
    step = max(1, _AT_ONCE * rows // max(prod(shape), 1))
    pieces = [
        _sum_of_rows(left[..., start : start + step, :, :], right)
        for start in range(0, max(rows, 1), step)
    ]
    result = pieces[0] if len(pieces) == 1 else functional.cat(pieces, -2)
    if b.ndim == 1:
        result = result.squeeze(-1)
    return result if a.ndim > 1 else result.squeeze(-1 if b.ndim == 1 else -2)


def _sum_of_rows(left: Tensor, right: Tensor) -> Tensor:
    if left.dtype_name == "bool":
        return functional.any(functional.logical_and(left, right), -2)
    return functional.sum(functional.mul(left, right), -2, dtype=left.dtype_name)


def vecdot(a: Any, b: Any) -> Tensor:
    """Products of the rows of the last dimension, those of the first operand conjugated."""
    _expect_rank("vecdot", (a, 1), (b, 1))
    return _product("vecdot", _conjugate(a).unsqueeze(-2), b.unsqueeze(-1)).squeeze((-2, -1))


def matvec(a: Any, b: Any) -> Tensor:
    """Matrices times vectors."""
    _expect_rank("matvec", (a, 2), (b, 1))
    return _product("matvec", a, b.unsqueeze(-1)).squeeze(-1)


def vecmat(a: Any, b: Any) -> Tensor:
    """Conjugated vectors times matrices."""
    _expect_rank("vecmat", (a, 1), (b, 2))
    return _product("vecmat", _conjugate(a).unsqueeze(-2), b).squeeze(-2)


def _conjugate(a: Tensor) -> Tensor:
    if a.dtype.kind != "c":
        return a
    real, imaginary = _parts(a)
    return functional.complex(real, functional.neg(imaginary))


def _expect_rank(name: str, *operands: tuple[Any, int]) -> None:
    expect_operands(name, *(operand for operand, _ in operands))
    for operand, rank in operands:
        if not isinstance(operand, Tensor) or operand.ndim < rank:
            raise ValueError(f"{name}: an operand has less than {rank} dimensions")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "matmul": matmul,
    "matvec": matvec,
    "vecdot": vecdot,
    "vecmat": vecmat,
}
