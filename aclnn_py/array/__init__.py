# SPDX-License-Identifier: Apache-2.0
"""What NumPy users expect of an array, on the device: expressions, indexing, reductions, printing.

Each operator and method of ``Tensor`` calls one function here. A function is loaded when it is
first used, so that a program pays only for what it writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_py.late import load as _load

if TYPE_CHECKING:
    from aclnn_py.array.arithmetic import apply
    from aclnn_py.array.creating import full_like, joined
    from aclnn_py.array.dispatch import array_function, array_ufunc
    from aclnn_py.array.hosting import pickled, to_device
    from aclnn_py.array.indexing import assign
    from aclnn_py.array.indexing import take as index
    from aclnn_py.array.linear import dot
    from aclnn_py.array.mathematics import clip, imag, real
    from aclnn_py.array.mathematics import round_ as rounded
    from aclnn_py.array.operands import expect_cast, stored
    from aclnn_py.array.products import matmul
    from aclnn_py.array.reduction import (
        accumulate,
        arg_extreme,
        reduce,
        standard_deviation,
        variance,
    )
    from aclnn_py.array.searching import (
        argpartition,
        argsort,
        choose,
        compress,
        nonzero,
        partition,
        searchsorted,
        sort,
        take,
    )
    from aclnn_py.array.shaping import diagonal, ravel, repeat, reshape, trace
    from aclnn_py.array.statistics import ptp
    from aclnn_py.array.storing import put
    from aclnn_py.array.text import html_of, plain_text_of, text_of
    from aclnn_py.array.ufuncs import evaluate

# Function -> the module that defines it, and its name there where that is another.
_HOMES = {
    "to_device": "hosting",
    "pickled": "hosting",
    "full_like": "creating",
    "stored": "operands",
    "expect_cast": "operands",
    "accumulate": "reduction",
    "apply": "arithmetic",
    "arg_extreme": "reduction",
    "argpartition": "searching",
    "argsort": "searching",
    "array_function": "dispatch",
    "array_ufunc": "dispatch",
    "assign": "indexing",
    "choose": "searching",
    "clip": "mathematics",
    "compress": "searching",
    "diagonal": "shaping",
    "dot": "linear",
    "evaluate": "ufuncs",
    "html_of": "text",
    "imag": "mathematics",
    "index": "indexing.take",
    "joined": "creating",
    "matmul": "products",
    "nonzero": "searching",
    "partition": "searching",
    "plain_text_of": "text",
    "ptp": "statistics",
    "put": "storing",
    "ravel": "shaping",
    "real": "mathematics",
    "reduce": "reduction",
    "repeat": "shaping",
    "reshape": "shaping",
    "rounded": "mathematics.round_",
    "searchsorted": "searching",
    "sort": "searching",
    "standard_deviation": "reduction",
    "take": "searching",
    "text_of": "text",
    "trace": "shaping",
    "variance": "reduction",
}
__all__ = [
    "accumulate",
    "apply",
    "arg_extreme",
    "argpartition",
    "argsort",
    "array_function",
    "array_ufunc",
    "assign",
    "choose",
    "clip",
    "compress",
    "diagonal",
    "dot",
    "evaluate",
    "expect_cast",
    "full_like",
    "html_of",
    "imag",
    "index",
    "joined",
    "matmul",
    "nonzero",
    "partition",
    "pickled",
    "plain_text_of",
    "ptp",
    "put",
    "ravel",
    "real",
    "reduce",
    "repeat",
    "reshape",
    "rounded",
    "searchsorted",
    "sort",
    "standard_deviation",
    "stored",
    "take",
    "text_of",
    "to_device",
    "trace",
    "variance",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aclnn_py.array' has no function {name!r}")
    module, _, other = _HOMES[name].partition(".")
    function = getattr(_load(f"aclnn_py.array.{module}"), other or name)
    globals()[name] = function
    return function
