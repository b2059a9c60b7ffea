# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_CUBE = ", *, cube_math_type: int = 0"
_FACTORS = "*, beta: Number = 1, alpha: Number = 1, cube_math_type: int = 0"
_SCALED = {"beta": "Factor of ``input``.", "alpha": "Factor of the product."}
_MATRIX = "Shape ``(m, n)``; the promoted dtype."
_BATCH_OF_MATRICES = "Shape ``(b, m, n)``; the promoted dtype."

ROWS = (
    Row("matmul", f"input: Tensor, other: Tensor{_CUBE}",
        "Multiply two matrices, or batches of them.",
        (Output("Shape ``(..., m, n)``, without ``m`` or ``n`` where an operand is a vector; the "
                "promoted dtype.",
                "matmul_shape(input.shape, other.shape)", "promote(input, other)"),),
        (Call("other.format == Format.FRACTAL_NZ",
              ("matmul_weight_nz(input, other, out, cube_math_type)",)),
         "matmul(input, other, out, cube_math_type)"),
        {"input": "Shape ``(..., m, k)`` or ``(k,)``.",
         "other": "Shape ``(..., k, n)`` or ``(k,)``; batch dimensions are broadcast. Also "
         "``(k, n)`` in FRACTAL_NZ, beside an ``input`` of two dimensions."}),
    Row("einsum", "equation: str, operands: Sequence[Tensor]",
        "Add up products as an equation says.",
        (Output("Shape as the equation says; dtype of the first operand.",
                "einsum_shape(equation, operands)", "operands[0].dtype_name"),),
        ("einsum(operands, equation, out)",),
        {"equation": "'abcd,abced->abce' (a row times matrices) or 'a,b->ab' (an outer product): "
         "the operator has no other.",
         "operands": "Two tensors, whose dimensions the letters name."}),
    Row("mm", f"input: Tensor, mat2: Tensor{_CUBE}", "Multiply two matrices.",
        (Output(_MATRIX, "matrix_shape(input.shape, mat2.shape, 2)", "promote(input, mat2)"),),
        ("mm(input, mat2, out, cube_math_type)",),
        {"input": "Shape ``(m, k)``.", "mat2": "Shape ``(k, n)``."}),
    Row("bmm", f"input: Tensor, mat2: Tensor{_CUBE}", "Multiply two batches of matrices.",
        (Output(_BATCH_OF_MATRICES, "matrix_shape(input.shape, mat2.shape, 3)",
                "promote(input, mat2)"),),
        (Call("mat2.format == Format.FRACTAL_NZ",
              ("batch_mat_mul_weight_nz(input, mat2, out, cube_math_type)",)),
         "batch_mat_mul(input, mat2, out, cube_math_type)"),
        {"input": "Shape ``(b, m, k)``.",
         "mat2": "Shape ``(b, k, n)``, also in FRACTAL_NZ."}),
    Row("mv", f"input: Tensor, vec: Tensor{_CUBE}", "Multiply a matrix by a vector.",
        (Output("Shape ``(m,)``; the promoted dtype.", "matmul_shape(input.shape, vec.shape)",
                "promote(input, vec)"),),
        ("mv(input, vec, out, cube_math_type)",),
        {"input": "Shape ``(m, k)``.", "vec": "Shape ``(k,)``."}),
    Row("dot", "input: Tensor, tensor: Tensor", "Compute the inner product of two vectors.",
        (Output("A 0-d tensor of the promoted dtype.",
                "matmul_shape(input.shape, tensor.shape)", "promote(input, tensor)"),),
        ("dot(input, tensor, out)",),
        {"input": "Shape ``(k,)``.", "tensor": "Shape ``(k,)``."}),
    Row("addmm", f"input: Tensor, mat1: Tensor, mat2: Tensor, {_FACTORS}",
        "Add ``alpha`` times a product of matrices to ``beta`` times ``input``.",
        (Output(_MATRIX, "matrix_shape(mat1.shape, mat2.shape, 2)",
                "promote(input, mat1, mat2)"),),
        (Call("mat2.format == Format.FRACTAL_NZ",
              ("addmm_weight_nz(input, mat1, mat2, beta, alpha, out, cube_math_type)",)),
         "addmm(input, mat1, mat2, beta, alpha, out, cube_math_type)"),
        {"input": "Broadcast to ``(m, n)``.", "mat1": "Shape ``(m, k)``.",
         "mat2": "Shape ``(k, n)``, also in FRACTAL_NZ.", **_SCALED}),
    Row("baddbmm", f"input: Tensor, batch1: Tensor, batch2: Tensor, {_FACTORS}",
        "Add ``alpha`` times a product of batches of matrices to ``beta`` times ``input``.",
        (Output(_BATCH_OF_MATRICES, "matrix_shape(batch1.shape, batch2.shape, 3)",
                "promote(input, batch1, batch2)"),),
        ("baddbmm(input, batch1, batch2, beta, alpha, out, cube_math_type)",),
        {"input": "Broadcast to ``(b, m, n)``.", "batch1": "Shape ``(b, m, k)``.",
         "batch2": "Shape ``(b, k, n)``.", **_SCALED}),
    Row("linear", f"input: Tensor, weight: Tensor, bias: Tensor | None = None{_CUBE}",
        "Multiply by the transposed weight and add the bias.",
        (Output("Shape ``(..., n)``; the promoted dtype.",
                "matmul_shape(input.shape, weight.T.shape)", "promote(input, weight)"),),
        (Call("bias is None", ("matmul(input, weight.T, out, cube_math_type)",)),
         "addmm(bias, rows(input, stream), weight.T, 1, 1, rows(out), cube_math_type)"),
        {"input": "Shape ``(..., k)``.", "weight": "Shape ``(n, k)``, as in checkpoints.",
         "bias": "Shape ``(n,)``."},
        steps=("check_linear(weight, bias)",)),
    Row("weight_quant_batchmatmul", "x: Tensor, weight: Tensor, antiquant_scale: Tensor, "
        "antiquant_offset: Tensor | None = None, quant_scale: Tensor | None = None, "
        "quant_offset: Tensor | None = None, bias: Tensor | None = None, "
        "antiquant_group_size: int = 0", "Multiply by a quantised weight.",
        (Output("Shape ``(m, n)``; dtype of ``x``, or int8 with ``quant_scale``.",
                "matmul_shape(x.shape, weight.shape)",
                "x.dtype_name if quant_scale is None else 'int8'"),),
        ("weight_quant_batch_matmul_v2(x, weight, antiquant_scale, antiquant_offset, "
         "quant_scale, quant_offset, bias, antiquant_group_size, out)",),
        {"x": "Shape ``(m, k)``.", "weight": "Shape ``(k, n)``.",
         "antiquant_scale": "Factors of the weight.",
         "antiquant_offset": "Terms added to the weight before it is scaled.",
         "quant_scale": "Factors of the result.", "quant_offset": "Terms added to the result.",
         "bias": "Shape ``(n,)``.",
         "antiquant_group_size": "Number of weight rows that share a factor; 0 for all of them."}),
    Row("quant_matmul", "x1: Tensor, x2: Tensor, scale: Tensor, *, "
        "offset: Tensor | None = None, pertoken_scale: Tensor | None = None, "
        "bias: Tensor | None = None, output_dtype: DTypeLike = 'float16'",
        "Multiply quantised matrices and scale the sums.",
        (Output("Shape ``(..., m, n)``; dtype ``output_dtype``.",
                "matmul_shape(values_shape(x1), values_shape(x2))", "output_dtype"),),
        (Call("x2.format == Format.FRACTAL_NZ and has_operator('quant_matmul_weight_nz')",
              ("quant_matmul_weight_nz(x1, x2, pertoken_scale, scale, None, None, offset, None, "
               "bias, False, False, 0, out)",)),
         "quant_matmul_v4(x1, x2, scale, offset, pertoken_scale, bias, False, False, out)"),
        {"x1": "Shape ``(..., m, k)``.",
         "x2": "Shape ``(..., k, n)``, also a transposed view, or in FRACTAL_NZ.",
         "scale": "Factors of the columns, shape ``(n,)`` or ``(1,)``: float32 or bfloat16 beside "
         "``pertoken_scale`` and for a result of bfloat16, packed by `trans_quant_param` or "
         "`pack_scale` for float16 and int8.",
         "offset": "Terms of an int8 result, shape of ``scale``.",
         "pertoken_scale": "Factors of the rows, shape ``(m,)``.",
         "bias": "Added to the sums of integers, as int32, or to the result; shape ``(n,)``.",
         "output_dtype": "float16, bfloat16, int8 or int32."}),
    Row("transpose_batch_matmul", "x1: Tensor, x2: Tensor, *, "
        "perm_x1: Sequence[int] = (0, 1, 2), perm_x2: Sequence[int] = (0, 1, 2), "
        "perm_y: Sequence[int] = (1, 0, 2)",
        "Multiply batches of matrices whose batch need not be the first dimension.",
        (Output("Shape ``(m, batch, n)`` with the default of ``perm_y``; dtype of ``x1``.",
                "ordered_shape('perm_y', matmul_shape(ordered_shape('perm_x1', x1.shape, "
                "perm_x1), ordered_shape('perm_x2', x2.shape, perm_x2)), perm_y)",
                "x1.dtype_name"),),
        (Call("x2.format == Format.FRACTAL_NZ",
              ("transpose_batch_mat_mul_weight_nz(x1, x2, None, None, perm_x1, perm_x2, perm_y, "
               "0, 1, out)",)),
         "transpose_batch_mat_mul(x1, x2, None, None, perm_x1, perm_x2, perm_y, 0, 1, out)"),
        {"x1": "Shape ``(batch, m, k)`` after ``perm_x1``.",
         "x2": "Shape ``(batch, k, n)`` after ``perm_x2``, also in FRACTAL_NZ.",
         "perm_x1": "Order of the dimensions of ``x1``: (0, 1, 2) or (1, 0, 2).",
         "perm_x2": "Order of the dimensions of ``x2``: (0, 1, 2) or (0, 2, 1).",
         "perm_y": "Order of the dimensions of the result: (1, 0, 2)."}),
)  # fmt: skip
