# SPDX-License-Identifier: Apache-2.0
"""Operators that allocate their result: `functional.matmul(x, w)` returns a new tensor.

Each function queues one operator of `ops` on the current stream, or on `stream`, and returns before
the device finishes.
"""

from __future__ import annotations

from aclnn_py.functional.conversion import cast, contiguous
from aclnn_py.functional.elementwise import add, div, exp, mul, relu, sub
from aclnn_py.functional.grouped import gmm, gmm_backward, gmm_v2, gmm_v2_backward
from aclnn_py.functional.linear import matmul
from aclnn_py.functional.quant import (
    pack_scale,
    trans_matmul_weight,
    trans_quant_param,
    unpack_scale,
)
from aclnn_py.functional.reduction import softmax, sum

__all__ = [
    "add",
    "cast",
    "contiguous",
    "div",
    "exp",
    "gmm",
    "gmm_backward",
    "gmm_v2",
    "gmm_v2_backward",
    "matmul",
    "mul",
    "pack_scale",
    "relu",
    "softmax",
    "sub",
    "sum",
    "trans_matmul_weight",
    "trans_quant_param",
    "unpack_scale",
]
