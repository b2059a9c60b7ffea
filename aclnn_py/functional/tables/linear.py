# SPDX-License-Identifier: Apache-2.0
"""Products and decompositions of matrices."""

from __future__ import annotations

from aclnn_py.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_CUBE = ", *, cube_math_type: int = 0"
_BATCH = "input.shape[:-2]"
_SIDE = "min(input.shape[-2:])"

ROWS = (
    Row("matmul", f"input: Tensor, other: Tensor{_CUBE}",
        "Multiply two matrices, or batches of them.",
        (Output("Shape ``(..., m, n)``; the promoted dtype.",
                "matmul_shape(input.shape, other.shape)", "promote(input, other)"),),
        ("matmul(input, other, out, cube_math_type)",),
        {"input": "Shape ``(..., m, k)`` or ``(k,)``.",
         "other": "Shape ``(..., k, n)`` or ``(k,)``; batch dimensions broadcast."}),
    Row("mm", f"input: Tensor, mat2: Tensor{_CUBE}", "Multiply two matrices.",
        (Output("Shape ``(m, n)``; the promoted dtype.",
                "matrix_shape(input.shape, mat2.shape, 2)", "promote(input, mat2)"),),
        ("mm(input, mat2, out, cube_math_type)",),
        {"input": "Shape ``(m, k)``.", "mat2": "Shape ``(k, n)``."}),
    Row("bmm", f"input: Tensor, mat2: Tensor{_CUBE}", "Multiply two batches of matrices.",
        (Output("Shape ``(b, m, n)``; the promoted dtype.",
                "matrix_shape(input.shape, mat2.shape, 3)", "promote(input, mat2)"),),
        ("batch_mat_mul(input, mat2, out, cube_math_type)",),
        {"input": "Shape ``(b, m, k)``.", "mat2": "Shape ``(b, k, n)``."}),
    Row("mv", f"input: Tensor, vec: Tensor{_CUBE}", "Multiply a matrix by a vector.",
        (Output("Shape ``(m,)``; the promoted dtype.", "matmul_shape(input.shape, vec.shape)",
                "promote(input, vec)"),),
        ("mv(input, vec, out, cube_math_type)",),
        {"input": "Shape ``(m, k)``.", "vec": "Shape ``(k,)``."}),
    Row("dot", "input: Tensor, tensor: Tensor", "Add the products of two vectors.",
        (Output("Without dimensions; the promoted dtype.",
                "matmul_shape(input.shape, tensor.shape)", "promote(input, tensor)"),),
        ("dot(input, tensor, out)",),
        {"input": "Shape ``(k,)``.", "tensor": "Shape ``(k,)``."}),
    Row("addmm", "input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, "
        "alpha: Number = 1, cube_math_type: int = 0",
        "Add ``alpha`` times a product of matrices to ``beta`` times ``input``.",
        (Output("Shape ``(m, n)``; the promoted dtype.",
                "matrix_shape(mat1.shape, mat2.shape, 2)", "promote(input, mat1, mat2)"),),
        ("addmm(input, mat1, mat2, beta, alpha, out, cube_math_type)",),
        {"input": "Broadcast to ``(m, n)``.", "mat1": "Shape ``(m, k)``.",
         "mat2": "Shape ``(k, n)``.", "beta": "Factor of ``input``.",
         "alpha": "Factor of the product."}),
    Row("baddbmm", "input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, "
        "alpha: Number = 1, cube_math_type: int = 0",
        "Add ``alpha`` times a product of batches of matrices to ``beta`` times ``input``.",
        (Output("Shape ``(b, m, n)``; the promoted dtype.",
                "matrix_shape(batch1.shape, batch2.shape, 3)", "promote(input, batch1, batch2)"),),
        ("baddbmm(input, batch1, batch2, beta, alpha, out, cube_math_type)",),
        {"input": "Broadcast to ``(b, m, n)``.", "batch1": "Shape ``(b, m, k)``.",
         "batch2": "Shape ``(b, k, n)``.", "beta": "Factor of ``input``.",
         "alpha": "Factor of the product."}),
    Row("linear", f"input: Tensor, weight: Tensor, bias: Tensor | None = None{_CUBE}",
        "Multiply by the transposed weight and add the bias.",
        (Output("Shape ``(..., n)``; the promoted dtype.",
                "matmul_shape(input.shape, weight.T.shape)", "promote(input, weight)"),),
        (Call("bias is None", ("matmul(input, weight.T, out, cube_math_type)",)),
         "addmm(bias, rows(input, stream), weight.T, 1, 1, rows(out), cube_math_type)"),
        {"input": "Shape ``(..., k)``.", "weight": "Shape ``(n, k)``, as checkpoints have it.",
         "bias": "Shape ``(n,)``."},
        checks=("check_linear(weight, bias)",)),
    Row("weight_quant_batchmatmul", "x: Tensor, weight: Tensor, antiquant_scale: Tensor, "
        "antiquant_offset: Tensor | None = None, quant_scale: Tensor | None = None, "
        "quant_offset: Tensor | None = None, bias: Tensor | None = None, "
        "antiquant_group_size: int = 0", "Multiply by a quantised weight.",
        (Output("Shape ``(m, n)``; the dtype of ``x``, int8 with ``quant_scale``.",
                "matmul_shape(x.shape, weight.shape)",
                "x.dtype_name if quant_scale is None else 'int8'"),),
        ("weight_quant_batch_matmul_v2(x, weight, antiquant_scale, antiquant_offset, "
         "quant_scale, quant_offset, bias, antiquant_group_size, out)",),
        {"x": "Shape ``(m, k)``.", "weight": "Shape ``(k, n)``.",
         "antiquant_scale": "Factors of the weight.", "antiquant_offset": "Added to the weight "
         "before.", "quant_scale": "Factors of the result.", "quant_offset": "Added to the result.",
         "bias": "Shape ``(n,)``.", "antiquant_group_size": "Rows of the weight that share a "
         "factor; 0 for one group."}),
    Row("triangular_solve", "input: Tensor, A: Tensor, upper: bool = True, "
        "transpose: bool = False, unitriangular: bool = False",
        "Solve ``A x = input`` for a triangular matrix.",
        (Output("The solution; batches broadcast.", "matmul_shape(A.shape, input.shape)", name="x"),
         Output("A copy of ``A`` for every batch.",
                "(*matmul_shape(A.shape, input.shape)[:-1], A.shape[-1])", "A.dtype_name", "m")),
        ("triangular_solve(input, A, upper, transpose, unitriangular, x, m)",),
        {"input": "Shape ``(..., n, k)``.", "A": "Shape ``(..., n, n)``.",
         "upper": "Whether the upper triangle is read.",
         "transpose": "Whether ``A`` is transposed.",
         "unitriangular": "Whether the diagonal counts as ones."}),
    Row("qr", "input: Tensor, mode: str = 'reduced'",
        "Split a matrix into an orthogonal and an upper triangular one.",
        (Output("Orthogonal; without elements for mode 'r'.",
                "qr_shapes(input.shape, mode)[0]", name="q"),
         Output("Upper triangular.", "qr_shapes(input.shape, mode)[1]", name="r")),
        ("linalg_qr(input, qr_form(mode), q, r)",),
        {"mode": "'reduced', 'complete' or 'r'."}, checks=("check_matrix(input)",)),
    Row("svd", "input: Tensor, full_matrices: bool = True",
        "Split a matrix by its singular values.",
        (Output("Left singular vectors.", f"(*{_BATCH}, input.shape[-2], "
                f"input.shape[-2] if full_matrices else {_SIDE})", name="u"),
         Output("Singular values, descending.", f"(*{_BATCH}, {_SIDE})", name="sigma"),
         Output("Right singular vectors, in columns.", f"(*{_BATCH}, input.shape[-1], "
                f"input.shape[-1] if full_matrices else {_SIDE})", name="v")),
        ("svd(input, full_matrices, True, sigma, u, v)",),
        {"full_matrices": "Whether ``u`` and ``v`` are square."},
        checks=("check_matrix(input)",),
        notes="The signs of the vectors are not prescribed. On the emulator a matrix with NaN or "
        "an infinity has NaN for all results."),
    Row("slogdet", "input: Tensor", "Sign and logarithm of the determinant.",
        (Output("1 or -1, 0 for a singular matrix.", _BATCH, name="sign"),
         Output("Logarithm of the absolute value.", _BATCH, name="logabsdet")),
        # CANN leaves the results of matrices without elements as they are.
        (Call("0 not in input.shape", ("slogdet(input, sign, logabsdet)",)),
         Call("True", ("inplace_one(sign)", "inplace_zero(logabsdet)"))),
        {"input": "Shape ``(..., n, n)``."},
        checks=("check_matrix(input)",)),
    Row("inverse", "input: Tensor", "Inverse of a square matrix.",
        (Output("Of the same shape and dtype."),), ("inverse(input, out)",),
        {"input": "Shape ``(..., n, n)``."},
        notes="On the emulator the inverse of a singular matrix is NaN."),
    Row("cdist", "x1: Tensor, x2: Tensor, p: float = 2.0",
        "Distances between the rows of two matrices.",
        (Output("Shape ``(..., m, n)``; the promoted dtype.",
                "matmul_shape(x1.shape, x2.transpose(-2, -1).shape)", "promote(x1, x2)"),),
        ("cdist(x1, x2, p, 0, out)",),
        {"x1": "Shape ``(..., m, k)``.", "x2": "Shape ``(..., n, k)``.",
         "p": "Order of the norm."}),
)  # fmt: skip
