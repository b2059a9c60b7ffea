# SPDX-License-Identifier: Apache-2.0
"""What NumPy users expect of an array, on the device: expressions, indexing, reductions, printing.

The methods and operators stand in ``array_methods``, which ``Tensor`` inherits; each leads to one
function here. The modules are tables over ``ops`` and ``functional``.
"""

from __future__ import annotations

from aclnn_py.array.arithmetic import apply
from aclnn_py.array.dispatch import (
    argsort,
    array_function,
    array_ufunc,
    clip,
    dot,
    matmul,
    nonzero,
    repeat,
    rounded,
    sort,
    take,
)
from aclnn_py.array.indexing import assign
from aclnn_py.array.indexing import take as index
from aclnn_py.array.reduction import (
    accumulate,
    arg_extreme,
    reduce,
    standard_deviation,
    variance,
)
from aclnn_py.array.text import text_of

__all__ = [
    "accumulate",
    "apply",
    "arg_extreme",
    "argsort",
    "array_function",
    "array_ufunc",
    "assign",
    "clip",
    "dot",
    "index",
    "matmul",
    "nonzero",
    "reduce",
    "repeat",
    "rounded",
    "sort",
    "standard_deviation",
    "take",
    "text_of",
    "variance",
]
