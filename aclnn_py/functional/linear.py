# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.creation import empty
from aclnn_py.functional.results import matmul_shape, promote
from aclnn_py.operators.expected import expect_tensors
from aclnn_py.stream import Stream
from aclnn_py.tensor import Tensor

__all__ = ["matmul"]


def matmul(
    input: Tensor, other: Tensor, *, cube_math_type: int = 0, stream: Stream | None = None
) -> Tensor:
    """Multiply two matrices, or batches of them.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., m, k)`` or ``(k,)``.
    other : Tensor
        Shape ``(..., k, n)`` or ``(k,)``; batch dimensions broadcast.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(..., m, n)``; the promoted dtype.

    Raises
    ------
    ValueError
        The inner dimensions differ.
    AclnnError
        161002 a dtype or format is refused.

    Source
    ------
    aclnnMatmul (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    shape = matmul_shape(input.shape, other.shape)
    out = empty(shape, promote(input, other), device=input.device)
    ops.matmul(input, other, out, cube_math_type, stream=stream)
    return out
