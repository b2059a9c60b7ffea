# SPDX-License-Identifier: Apache-2.0
"""Functions that write their first argument and return it; their names end in an underscore."""

from __future__ import annotations

from dataclasses import replace

from aclnn_py.functional.row import Call, Row
from aclnn_py.functional.tables import activation, elementwise
from aclnn_py.functional.tables.creation import (
    DRAWN,
    NUMBERS,
    SEED,
    normal_calls,
    uniform_calls,
)

__all__ = ["ROWS"]

# Functions whose operators have a form that takes the result's place for the first argument.
_DERIVED = (
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "addcmul", "addcdiv",
    "neg", "sqrt", "rsqrt", "reciprocal", "exp", "log", "sin", "cos", "tanh", "relu", "sigmoid",
    "leaky_relu",
)  # fmt: skip
_OTHER = "Broadcast to the shape of ``input``, whose dtype has to hold the result."


def _in_place(row: Row) -> Row:
    """The row that computes the same into its first argument."""
    calls = tuple(
        Call(call.condition, tuple(map(_inplace_call, call.operators)))
        if isinstance(call, Call)
        else _inplace_call(call)
        for call in row.calls
    )
    about = dict(row.about)
    if "other:" in row.parameters:
        about["other"] = _OTHER
    summary = f"{row.summary[:-1]}, in place."
    return replace(row, name=f"{row.name}_", summary=summary, outputs=(), calls=calls, about=about)


def _inplace_call(call: str) -> str:
    return f"inplace_{call.removesuffix(', out)')})"


_KNOWN = {row.name: row for row in (*elementwise.ROWS, *activation.ROWS)}

ROWS = (
    *(_in_place(_KNOWN[name]) for name in _DERIVED),
    Row("copy_", "input: Tensor, src: Tensor", "Copy elements into a tensor, converting them.",
        (), ("inplace_copy(input, src)",), {"src": "Broadcast to the shape of ``input``."}),
    Row("zero_", "input: Tensor", "Set all elements to zero.", (), ("inplace_zero(input)",)),
    Row("fill_", "input: Tensor, value: Tensor | Number", "Set all elements to one value.", (),
        (Call("is_number(value)", ("inplace_fill_scalar(input, value)",)),
         "inplace_fill_tensor(input, value)"),
        {"value": "A number, or a tensor of one element."}),
    Row("masked_fill_", "input: Tensor, mask: Tensor, value: Tensor | Number",
        "Overwrite the elements under a mask.", (),
        (Call("is_number(value)", ("inplace_masked_fill_scalar(input, mask, value)",)),
         "inplace_masked_fill_tensor(input, mask, value)"),
        {"mask": "Broadcast to the shape of ``input``; true where to overwrite.",
         "value": "A number, or a tensor of one element."}),
    Row("index_copy_", "input: Tensor, dim: int, index: Tensor, source: Tensor",
        "Overwrite slices along a dimension.", (),
        ("inplace_index_copy(input, dim, index, source)",),
        {"index": "One dimension; int32 or int64.", "source": "The slices."}),
    Row("normal_", "input: Tensor, mean: float = 0.0, std: float = 1.0, *, "
        f"{DRAWN}", "Fill with random numbers of a normal distribution.", (),
        normal_calls("input"),
        {"mean": "Middle of the distribution.", "std": "Standard deviation.", **SEED},
        notes=NUMBERS, draws="input"),
    Row("uniform_", "input: Tensor, low: float = 0.0, high: float = 1.0, *, "
        f"{DRAWN}", "Fill with random numbers, all of one range equally likely.", (),
        uniform_calls("input"),
        {"low": "Lower bound.", "high": "Upper bound, not reached.", **SEED},
        notes=NUMBERS, draws="input"),
)  # fmt: skip
