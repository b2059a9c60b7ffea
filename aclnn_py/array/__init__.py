# SPDX-License-Identifier: Apache-2.0
"""What NumPy users expect of an array, on the device: expressions, indexing, reductions, printing.

Each operator and method of ``Tensor`` calls one function here. A function is loaded when it is
first used, so that a program pays only for what it writes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aclnn_py.array.arithmetic import apply
    from aclnn_py.array.dispatch import (
        argsort,
        array_function,
        array_ufunc,
        clip,
        dot,
        nonzero,
        repeat,
        rounded,
        sort,
        take,
    )
    from aclnn_py.array.indexing import assign
    from aclnn_py.array.indexing import take as index
    from aclnn_py.array.products import matmul
    from aclnn_py.array.reduction import (
        accumulate,
        arg_extreme,
        reduce,
        standard_deviation,
        variance,
    )
    from aclnn_py.array.text import text_of

# Function -> the module that defines it, and its name there where that is another.
_HOMES = {
    "accumulate": "reduction",
    "apply": "arithmetic",
    "arg_extreme": "reduction",
    "argsort": "dispatch",
    "array_function": "dispatch",
    "array_ufunc": "dispatch",
    "assign": "indexing",
    "clip": "dispatch",
    "dot": "dispatch",
    "index": "indexing.take",
    "matmul": "products",
    "nonzero": "dispatch",
    "reduce": "reduction",
    "repeat": "dispatch",
    "rounded": "dispatch",
    "sort": "dispatch",
    "standard_deviation": "reduction",
    "take": "dispatch",
    "text_of": "text",
    "variance": "reduction",
}
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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aclnn_py.array' has no function {name!r}")
    module, _, other = _HOMES[name].partition(".")
    function = getattr(import_module(f"aclnn_py.array.{module}"), other or name)
    globals()[name] = function
    return function
