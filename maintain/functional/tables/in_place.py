# SPDX-License-Identifier: Apache-2.0
"""Functions that write their first argument and return it; their names end in an underscore."""

from __future__ import annotations

from dataclasses import replace

from maintain.functional.row import Call, Row
from maintain.functional.tables import activation, arithmetic, pointwise
from maintain.functional.tables.creation import (
    CHANCE,
    DRAWN,
    FIXED,
    NUMBERS,
    REAL_BOUNDS,
    SEED,
    bernoulli_calls,
    normal_calls,
    uniform_calls,
)

__all__ = ["ROWS"]

# Functions whose operators have a form that writes the first argument.
_DERIVED = (
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "addcmul", "addcdiv",
    "neg", "sqrt", "rsqrt", "reciprocal", "exp", "log", "sin", "cos", "tanh", "relu", "sigmoid",
    "leaky_relu",
)  # fmt: skip
_OTHER = "Second operand, broadcast to the shape of ``input``; the dtype of ``input`` must hold " \
    "the result."  # fmt: skip
_FILLED = "Value, as a number or as a tensor of one element."


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


_KNOWN = {row.name: row for row in (*arithmetic.ROWS, *pointwise.ROWS, *activation.ROWS)}

ROWS = (
    *(_in_place(_KNOWN[name]) for name in _DERIVED),
    Row("copy_", "input: Tensor, src: Tensor", "Copy elements into a tensor and convert them.",
        (), ("inplace_copy(input, src)",),
        {"src": "Tensor to copy from, broadcast to the shape of ``input``."}),
    Row("zero_", "input: Tensor", "Set all elements to zero.", (), ("inplace_zero(input)",)),
    Row("fill_", "input: Tensor, value: Tensor | Number", "Set all elements to one value.", (),
        (Call("isinstance(value, Tensor)", ("inplace_fill_tensor(input, value)",)),
         "inplace_fill_scalar(input, value)"), {"value": _FILLED}),
    Row("masked_fill_", "input: Tensor, mask: Tensor, value: Tensor | Number",
        "Set the elements selected by a mask to one value.", (),
        (Call("isinstance(value, Tensor)", ("inplace_masked_fill_tensor(input, mask, value)",)),
         "inplace_masked_fill_scalar(input, mask, value)"),
        {"mask": "True for the elements to set, broadcast to the shape of ``input``.",
         "value": _FILLED}),
    Row("index_copy_", "input: Tensor, dim: int, index: Tensor, source: Tensor",
        "Overwrite slices along a dimension.", (),
        ("inplace_index_copy(input, dim, index, source)",),
        {"index": "Indices of the slices, one dimension; int32 or int64.",
         "source": "New slices."}),
    Row("scatter_update_", "input: Tensor, indices: Tensor, updates: Tensor, axis: int",
        "Overwrite places of each batch along a dimension.", (),
        ("inplace_scatter_update(input, indices, updates, axis)",),
        {"input": "The first dimension is the batch.",
         "indices": "Where the update of each batch begins, shape ``(batch,)``, or a batch and a "
         "place for each update, shape ``(updates, 2)``; int32 or int64.",
         "updates": "New values; shape of ``input`` but for ``axis`` and the batch.",
         "axis": "Dimension of the places; not the first one."}),
    Row("normal_", "input: Tensor, mean: float = 0.0, std: float = 1.0, *, "
        f"{DRAWN}", "Fill a tensor with normally distributed random numbers.", (),
        normal_calls("input"),
        {"mean": "Mean of the distribution.", "std": "Standard deviation.", **SEED},
        notes=NUMBERS, draws="input"),
    Row("uniform_", "input: Tensor, low: float = 0.0, high: float = 1.0, *, "
        f"{DRAWN}", "Fill a tensor with uniformly distributed random numbers.", (),
        uniform_calls("input"),
        {"low": "Lower bound, included.", "high": "Upper bound, excluded.", **SEED},
        steps=(REAL_BOUNDS,), notes=NUMBERS, draws="input"),
    Row("bernoulli_", f"input: Tensor, p: Tensor | Number = 0.5, *, {DRAWN}",
        "Fill a tensor with random ones and zeros.", (),
        bernoulli_calls("inplace_bernoulli", ""), {"p": CHANCE, **SEED},
        notes=FIXED, draws="input", replayable=False),
)  # fmt: skip
