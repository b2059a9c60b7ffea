# SPDX-License-Identifier: Apache-2.0
"""Matrix products with NumPy's promotion: `@` and the ufuncs that multiply matrices and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aclnn_py import functional
from aclnn_py.array.promotion import cast, expect_operands, result_type
from aclnn_py.tensor.tensor import Tensor

__all__ = ["FUNCTIONS", "matmul"]


def matmul(a: Any, b: Any) -> Tensor:
    """Evaluate ``a @ b``.

    Raises
    ------
    TypeError
        CANN multiplies matrices of float16, bfloat16 and float32 only.
    """
    return _product("matmul", a, b)


def _product(name: str, a: Any, b: Any) -> Tensor:
    expect_operands(name, a, b)
    for operand in (a, b):
        if not isinstance(operand, Tensor) or not operand.ndim:
            raise ValueError(f"{name}: both operands must be tensors with a dimension at least")
    kind = result_type(a, b)
    if kind.name not in ("float16", "bfloat16", "float32"):
        raise TypeError(
            f"{name}: CANN has no matrix product of {kind}; use astype(np.float32) or bfloat16"
        )
    return functional.matmul(cast(a, kind), cast(b, kind))


def vecdot(a: Any, b: Any) -> Tensor:
    """Products of the rows of the last dimension."""
    _expect_rank("vecdot", (a, 1), (b, 1))
    return _product("vecdot", a.unsqueeze(-2), b.unsqueeze(-1)).squeeze((-2, -1))


def matvec(a: Any, b: Any) -> Tensor:
    """Matrices times vectors."""
    _expect_rank("matvec", (a, 2), (b, 1))
    return _product("matvec", a, b.unsqueeze(-1)).squeeze(-1)


def vecmat(a: Any, b: Any) -> Tensor:
    """Vectors times matrices."""
    _expect_rank("vecmat", (a, 1), (b, 2))
    return _product("vecmat", a.unsqueeze(-2), b).squeeze(-2)


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
