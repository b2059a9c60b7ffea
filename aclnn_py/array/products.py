# SPDX-License-Identifier: Apache-2.0
"""Matrix products with NumPy's promotion."""

from __future__ import annotations

from typing import Any

from aclnn_py import functional
from aclnn_py.array.promotion import cast, expect_operands, result_type
from aclnn_py.tensor.tensor import Tensor

__all__ = ["matmul"]


def matmul(a: Any, b: Any) -> Tensor:
    """Evaluate ``a @ b``.

    Raises
    ------
    TypeError
        CANN multiplies matrices of float16, bfloat16 and float32 only.
    """
    expect_operands("matmul", a, b)
    for operand in (a, b):
        if not isinstance(operand, Tensor) or not operand.ndim:
            raise ValueError("matmul: both operands must be tensors with a dimension at least")
    kind = result_type(a, b)
    if kind.name not in ("float16", "bfloat16", "float32"):
        raise TypeError(
            f"matmul: CANN has no matrix product of {kind}; use astype(np.float32) or bfloat16"
        )
    return functional.matmul(cast(a, kind), cast(b, kind))
