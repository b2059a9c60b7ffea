# SPDX-License-Identifier: Apache-2.0
"""Elements chosen by index or by mask, and sorting."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import SAME

__all__ = ["ROWS"]

_INDEX = {"index": "Indices along the dimension; int32 or int64."}
_ONE = "Indices along the dimension, one dimension; int32 or int64."
_LIKE_INDEX = Output("Shape of ``index``; dtype of ``input``.", "index.shape")
_TOP = "replaced(input.shape, dim, k)"
_DESCENDING = {"descending": "Whether the largest element comes first."}

ROWS = (
    Row("where", "condition: Tensor, input: Tensor, other: Tensor",
        "Choose ``input`` where the condition holds, else ``other``.",
        (Output("Broadcast shape of the three tensors; promoted dtype of ``input`` and ``other``.",
                "broadcast(condition, input, other)", "promote(input, other)"),),
        ("s_where(condition, input, other, out)",),
        {"condition": "True where ``input`` is chosen.",
         "input": "Broadcast with the other two.", "other": "Broadcast with the other two."}),
    Row("masked_fill", "input: Tensor, mask: Tensor, value: Tensor | Number",
        "Copy a tensor and set the elements selected by a mask to one value.",
        (Output("Broadcast shape of ``input`` and ``mask``; dtype of ``input``.",
                "broadcast(input, mask)"),),
        (Call("isinstance(value, Tensor)", ("inplace_masked_fill_tensor(out, mask, value)",)),
         "inplace_masked_fill_scalar(out, mask, value)"),
        {"mask": "True for the elements to set, broadcast with ``input``.",
         "value": "Value, as a number or as a tensor of one element."},
        before=("inplace_copy(out, input)",)),
    Row("embedding", "input: Tensor, weight: Tensor", "Look up rows of a table.",
        (Output("Shape of ``input`` followed by that of a row; dtype of ``weight``.",
                "(*input.shape, *weight.shape[1:])", "weight.dtype_name"),),
        ("embedding(weight, input, out)",),
        {"input": "Indices of rows.", "weight": "The table, shape ``(rows, width)``."}),
    Row("index_select", "input: Tensor, dim: int, index: Tensor",
        "Take whole slices along a dimension.",
        (Output("Shape of ``input`` with the length of ``index`` in ``dim``; the same dtype.",
                "replaced(input.shape, dim, index.count)"),),
        ("index_select(input, dim, index, out)",), {"index": _ONE}),
    Row("take_along", "input: Tensor, dim: int, index: Tensor",
        "Take slices along a dimension by an index tensor of any shape.",
        (Output("Shape of ``input`` with the shape of ``index`` in place of ``dim``; the same "
                "dtype.", "replaced(input.shape, dim, *index.shape)"),),
        ("gather_v2(input, dim, index, out)",), _INDEX),
    Row("gather", "input: Tensor, dim: int, index: Tensor",
        "Take single elements along a dimension.", (_LIKE_INDEX,),
        ("gather(input, dim, index, out)",), _INDEX),
    Row("take", "input: Tensor, index: Tensor",
        "Take elements by their position in row-major order.", (_LIKE_INDEX,),
        ("take(input, index, out)",), {"index": "Positions; int32 or int64."}),
    Row("index_copy", "input: Tensor, dim: int, index: Tensor, source: Tensor",
        "Copy a tensor and overwrite slices along a dimension.", (SAME,),
        ("index_copy(input, dim, index, source, out)",),
        {"index": _ONE, "source": "New slices."}),
    Row("index_add", "input: Tensor, dim: int, index: Tensor, source: Tensor, *, "
        "alpha: Number = 1", "Copy a tensor and add to slices along a dimension.", (SAME,),
        ("index_add(input, dim, index, source, alpha, out)",),
        {"index": _ONE, "source": "Slices to add.", "alpha": "Factor of ``source``."}),
    Row("scatter_add", "input: Tensor, dim: int, index: Tensor, src: Tensor",
        "Copy a tensor and add to single elements along a dimension.", (SAME,),
        ("scatter_add(input, dim, index, src, out)",), {**_INDEX, "src": "Elements to add."}),
    Row("scatter", "input: Tensor, dim: int, index: Tensor, src: Tensor",
        "Copy a tensor and overwrite single elements along a dimension.",
        (SAME,), ("scatter(input, dim, index, src, 0, out)",), {**_INDEX, "src": "New elements."}),
    Row("sort", "input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False",
        "Sort along a dimension.",
        (Output("Elements in order; same shape and dtype as ``input``.", name="values"),
         Output("Index that each element had in ``input``; int64.", dtype="'int64'",
                name="indices")),
        ("sort(input, stable, dim, descending, values, indices)",),
        {**_DESCENDING, "stable": "Whether equal elements keep their order."}),
    Row("argsort", "input: Tensor, dim: int = -1, descending: bool = False",
        "Compute the indices that sort along a dimension.",
        (Output("Same shape as ``input``; int64.", dtype="'int64'"),),
        ("argsort(input, dim, descending, out)",), _DESCENDING),
    Row("topk", "input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True",
        "Take the largest or smallest elements along a dimension.",
        (Output("Shape of ``input`` with length ``k`` in ``dim``; the same dtype.", _TOP,
                name="values"),
         Output("Index that each element has in ``input``; int64.", _TOP, "'int64'", "indices")),
        ("topk(input, k, dim, largest, sorted, values, indices)",),
        {"k": "How many elements to take.",
         "largest": "Whether to take the largest or the smallest.",
         "sorted": "Whether the result is sorted."}, steps=("expect_whole(k=k)",)),
)  # fmt: skip
