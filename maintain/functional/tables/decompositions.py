# SPDX-License-Identifier: Apache-2.0
"""Solutions, factors, inverses and determinants of matrices."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import SAME

__all__ = ["ROWS"]

_SQUARE = {"input": "Shape ``(..., n, n)``."}

ROWS = (
    Row("triangular_solve", "input: Tensor, A: Tensor, upper: bool = True, "
        "transpose: bool = False, unitriangular: bool = False",
        "Solve ``A x = input`` for a triangular matrix ``A``.",
        (Output("The solution, shape ``(..., n, k)``; batch dimensions are broadcast.",
                "matmul_shape(A.shape, input.shape)", name="x"),
         Output("A copy of ``A``, broadcast to the batch dimensions of ``x``.",
                "(*matmul_shape(A.shape, input.shape)[:-1], A.shape[-1])", "A.dtype_name", "m")),
        ("triangular_solve(input, A, upper, transpose, unitriangular, x, m)",),
        {"input": "Shape ``(..., n, k)``.", "A": "Shape ``(..., n, n)``.",
         "upper": "Whether to read the upper or the lower triangle.",
         "transpose": "Whether to transpose ``A``.",
         "unitriangular": "Whether to take the diagonal as ones."}),
    Row("qr", "input: Tensor, mode: str = 'reduced'",
        "Factor a matrix into an orthogonal and an upper triangular matrix.",
        (Output("Orthogonal matrix; without elements in mode 'r'.", "q_shape", name="q"),
         Output("Upper triangular matrix.", "r_shape", name="r")),
        ("linalg_qr(input, qr_mode(mode), q, r)",),
        {"input": "Shape ``(..., m, n)``.",
         "mode": "'reduced', 'complete' with a square ``q``, or 'r' for ``r`` alone."},
        steps=("check_matrix(input)", "q_shape, r_shape = qr_shapes(input.shape, mode)")),
    Row("svd", "input: Tensor, full_matrices: bool = True",
        "Compute the singular value decomposition ``u @ diag(sigma) @ v.T``.",
        (Output("Left singular vectors, in columns.",
                "(*batch, m, m if full_matrices else min(m, n))", name="u"),
         Output("Singular values, in descending order.", "(*batch, min(m, n))", name="sigma"),
         Output("Right singular vectors, in columns.",
                "(*batch, n, n if full_matrices else min(m, n))", name="v")),
        ("svd(input, full_matrices, True, sigma, u, v)",),
        {"input": "Shape ``(..., m, n)``.",
         "full_matrices": "Whether ``u`` and ``v`` are square."},
        steps=("check_matrix(input)", "*batch, m, n = input.shape"),
        notes="The signs of the vectors are not specified. On the emulator a matrix with NaN or "
        "infinity gives NaN everywhere."),
    Row("cholesky", "input: Tensor, upper: bool = False",
        "Factor symmetric positive definite matrices into a triangular one and its transpose.",
        (SAME,), ("linalg_cholesky(input, upper, out)",),
        {**_SQUARE, "upper": "Whether the result is the upper factor; the triangle it names is "
         "the one that is read."},
        notes="On the emulator a matrix that is not positive definite gives NaN."),
    Row("slogdet", "input: Tensor",
        "Compute the sign and the logarithm of the absolute value of a determinant.",
        (Output("1 or -1, or 0 for a singular matrix.", "input.shape[:-2]", name="sign"),
         Output("Logarithm of the absolute value.", "input.shape[:-2]", name="logabsdet")),
        # CANN does not write the results of matrices without elements.
        (Call("0 not in input.shape", ("slogdet(input, sign, logabsdet)",)),
         "inplace_one(sign)", "inplace_zero(logabsdet)"),
        _SQUARE, steps=("check_matrix(input)",)),
    Row("logdet", "input: Tensor", "Compute the logarithm of a determinant.",
        (Output("NaN for a negative determinant, -inf for a singular matrix.",
                "input.shape[:-2]"),),
        # CANN does not write the results of matrices without elements.
        (Call("0 not in input.shape", ("logdet(input, out)",)), "inplace_zero(out)"),
        _SQUARE, steps=("check_matrix(input)",)),
    Row("inverse", "input: Tensor", "Invert square matrices.", (SAME,), ("inverse(input, out)",),
        _SQUARE, notes="On the emulator the inverse of a singular matrix is NaN."),
)  # fmt: skip
