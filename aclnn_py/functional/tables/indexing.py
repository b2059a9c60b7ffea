# SPDX-License-Identifier: Apache-2.0
"""Elements by index, and orders of elements."""

from __future__ import annotations

from aclnn_py.functional.row import Output, Row

__all__ = ["ROWS"]

_SAME = Output("Of the same shape and dtype.")
_INDEX = {"index": "Indices along the dimension; dtype int32 or int64."}
_TOP = "replaced(input.shape, dim, k)"

ROWS = (
    Row("embedding", "input: Tensor, weight: Tensor", "Look up rows of a table.",
        (Output("The shape of ``input``, then that of a row; the dtype of ``weight``.",
                "(*input.shape, *weight.shape[1:])", "weight.dtype_name"),),
        ("embedding(weight, input, out)",),
        {"input": "Indices of rows.", "weight": "The table, shape ``(rows, width)``."}),
    Row("index_select", "input: Tensor, dim: int, index: Tensor",
        "Take whole slices along a dimension.",
        (Output("As long as ``index`` in the dimension.",
                "replaced(input.shape, dim, index.count)"),),
        ("index_select(input, dim, index, out)",), {"index": "One dimension; int32 or int64."}),
    Row("take_along", "input: Tensor, dim: int, index: Tensor",
        "Take slices along a dimension by a tensor of indices of any shape.",
        (Output("The shape of ``index`` in the place of the dimension.",
                "replaced(input.shape, dim, *index.shape)"),),
        ("gather_v2(input, dim, index, out)",), _INDEX),
    Row("gather", "input: Tensor, dim: int, index: Tensor",
        "Take elements along a dimension, each by an index of its own.",
        (Output("The shape of ``index``.", "index.shape"),),
        ("gather(input, dim, index, out)",), _INDEX),
    Row("take", "input: Tensor, index: Tensor",
        "Take elements by their position in row-major order.",
        (Output("The shape of ``index``.", "index.shape"),), ("take(input, index, out)",),
        {"index": "Positions; dtype int32 or int64."}),
    Row("index_copy", "input: Tensor, dim: int, index: Tensor, source: Tensor",
        "Copy a tensor and overwrite slices along a dimension.", (_SAME,),
        ("inplace_copy(out, input)", "inplace_index_copy(out, dim, index, source)"),
        {"index": "One dimension; int32 or int64.", "source": "The slices."}),
    Row("index_add", "input: Tensor, dim: int, index: Tensor, source: Tensor, *, "
        "alpha: Number = 1", "Copy a tensor and add to slices along a dimension.", (_SAME,),
        ("index_add(input, dim, index, source, alpha, out)",),
        {"index": "One dimension; int32 or int64.", "source": "The slices.",
         "alpha": "Factor of ``source``."}),
    Row("scatter_add", "input: Tensor, dim: int, index: Tensor, src: Tensor",
        "Copy a tensor and add elements along a dimension, each by an index of its own.", (_SAME,),
        ("scatter_add(input, dim, index, src, out)",), {**_INDEX, "src": "The elements."}),
    Row("scatter", "input: Tensor, dim: int, index: Tensor, src: Tensor",
        "Copy a tensor and overwrite elements along a dimension, each by an index of its own.",
        (_SAME,), ("scatter(input, dim, index, src, 0, out)",), {**_INDEX, "src": "The elements."}),
    Row("sort", "input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False",
        "Sort along a dimension.",
        (Output("In order.", name="values"),
         Output("Where they were; int64.", dtype="'int64'", name="indices")),
        ("sort(input, stable, dim, descending, values, indices)",),
        {"descending": "Whether the largest comes first.",
         "stable": "Whether equal elements keep their order."}),
    Row("argsort", "input: Tensor, dim: int = -1, descending: bool = False",
        "Indices that would sort along a dimension.",
        (Output("Of the same shape; int64.", dtype="'int64'"),),
        ("argsort(input, dim, descending, out)",),
        {"descending": "Whether the largest comes first."}),
    Row("topk", "input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True",
        "Take the largest elements along a dimension.",
        (Output("The elements.", _TOP, name="values"),
         Output("Where they are; int64.", _TOP, "'int64'", "indices")),
        ("topk(input, k, dim, largest, sorted, values, indices)",),
        {"k": "How many.", "largest": "Whether the largest or the smallest are taken.",
         "sorted": "Whether they come in order."}),
)  # fmt: skip
