# SPDX-License-Identifier: Apache-2.0
"""Distances between the rows of matrices, and scaling to equal sums."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

ROWS = (
    Row("cdist", "x1: Tensor, x2: Tensor, p: float = 2.0",
        "Compute the distance between each row of one matrix and each row of another.",
        (Output("Shape ``(..., m, n)``; the promoted dtype.",
                "matmul_shape(x1.shape, x2.transpose(-2, -1).shape)", "promote(x1, x2)"),),
        ("cdist(x1, x2, p, 0, out)",),
        {"x1": "Shape ``(..., m, k)``.", "x2": "Shape ``(..., n, k)``.",
         "p": "Order of the norm."}),
    Row("cdist_backward",
        "grad: Tensor, x1: Tensor, x2: Tensor, cdist: Tensor, p: float = 2.0",
        "Compute the gradient of `cdist` for ``x1``.",
        (Output("Shape and dtype of ``x1``.", "x1.shape", "x1.dtype_name"),),
        ("cdist_backward(grad, x1, x2, cdist, p, out)",),
        {"grad": "Gradient of the distances, shape ``(..., m, n)``.",
         "x1": "Shape ``(..., m, k)``, with the batch of ``grad``.",
         "x2": "Shape ``(..., n, k)``; its batch is broadcast to that of ``grad``.",
         "cdist": "The distances.", "p": "Order of the norm."},
        notes="A distance of 0 has no gradient."),
    Row("pdist", "input: Tensor, p: float = 2.0",
        "Compute the distances between the rows of a matrix, each pair once.",
        (Output("Shape ``(n * (n - 1) / 2,)``: the distances of row 0 to those behind it, then "
                "those of row 1.", "(len(input) * (len(input) - 1) // 2,)"),),
        ("pdist(input, p, out)",),
        {"input": "Shape ``(n, k)``.", "p": "Order of the norm."},
        steps=("check_matrix(input)",)),
    Row("sinkhorn", "cost: Tensor, tol: Number = 0.0001",
        "Scale the powers of a matrix until its rows, and its columns, have equal sums.",
        (Output("Shape and dtype of ``cost``; the sum of all elements is 1.", "cost.shape",
                "cost.dtype_name"),),
        ("sinkhorn(cost, tol, out)",),
        {"cost": "Shape ``(rows, columns)``, with values in 0 to 1.",
         "tol": "Mean change of the scales at which to stop."}),
)  # fmt: skip
