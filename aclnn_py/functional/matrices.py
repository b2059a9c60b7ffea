# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import (
    check_linear,
    expect_list,
    expect_optional,
    has_operator,
    rows,
)
from aclnn_py.functional.promotion import DTypeLike, promote
from aclnn_py.functional.shapes import (
    einsum_shape,
    matmul_shape,
    matrix_shape,
    ordered_shape,
    values_shape,
)
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.formats import Format
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "addmm",
    "baddbmm",
    "bmm",
    "dot",
    "einsum",
    "linear",
    "matmul",
    "mm",
    "mv",
    "quant_matmul",
    "transpose_batch_matmul",
    "weight_quant_batchmatmul",
]


@remembered
def matmul(
    input: Tensor, other: Tensor, *, cube_math_type: int = 0, stream: Stream | None = None
) -> Tensor:
    """Multiply two matrices, or batches of them.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., m, k)`` or ``(k,)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    other : Tensor
        Shape ``(..., k, n)`` or ``(k,)``; batch dimensions are broadcast. Also ``(k, n)`` in
        FRACTAL_NZ, beside an ``input`` of two dimensions. 2 dimensions; dtype float32 | float16 |
        bfloat16.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(..., m, n)``, without ``m`` or ``n`` where an operand is a vector; the promoted
        dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMatmulWeightNz (``include/aclnnop/matmul.h``), CANN: a release after 8.1.RC1; aclnnMatmul
    (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, other=other)
    out = empty(matmul_shape(input.shape, other.shape), promote(input, other), device=input.device)
    if other.format == Format.FRACTAL_NZ:
        ops.matmul_weight_nz(input, other, out, cube_math_type, stream=stream)
    else:
        ops.matmul(input, other, out, cube_math_type, stream=stream)
    return out


def einsum(equation: str, operands: Sequence[Tensor], *, stream: Stream | None = None) -> Tensor:
    """Add up products as an equation says.

    Parameters
    ----------
    equation : str
        'abcd,abced->abce' (a row times matrices) or 'a,b->ab' (an outer product): the operator has
        no other.
    operands : sequence of Tensor
        Two tensors, whose dimensions the letters name. Dtype float32 | float16 | int16 | int32 |
        int64 | uint16 | uint32 | uint64.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape as the equation says; dtype of the first operand.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnEinsum (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_list(operands=operands)
    out = empty(einsum_shape(equation, operands), operands[0].dtype_name, device=operands[0].device)
    ops.einsum(operands, equation, out, stream=stream)
    return out


@remembered
def mm(
    input: Tensor, mat2: Tensor, *, cube_math_type: int = 0, stream: Stream | None = None
) -> Tensor:
    """Multiply two matrices.

    Parameters
    ----------
    input : Tensor
        Shape ``(m, k)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    mat2 : Tensor
        Shape ``(k, n)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMm (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, mat2=mat2)
    out = empty(matrix_shape(input.shape, mat2.shape, 2), promote(input, mat2), device=input.device)
    ops.mm(input, mat2, out, cube_math_type, stream=stream)
    return out


@remembered
def bmm(
    input: Tensor, mat2: Tensor, *, cube_math_type: int = 0, stream: Stream | None = None
) -> Tensor:
    """Multiply two batches of matrices.

    Parameters
    ----------
    input : Tensor
        Shape ``(b, m, k)``. 3 dimensions; dtype float16 | bfloat16.
    mat2 : Tensor
        Shape ``(b, k, n)``, also in FRACTAL_NZ. 3 dimensions; dtype float16 | bfloat16.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(b, m, n)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBatchMatMulWeightNz (``include/aclnnop/matmul.h``), CANN: a release after 8.1.RC1;
    aclnnBatchMatMul (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, mat2=mat2)
    out = empty(matrix_shape(input.shape, mat2.shape, 3), promote(input, mat2), device=input.device)
    if mat2.format == Format.FRACTAL_NZ:
        ops.batch_mat_mul_weight_nz(input, mat2, out, cube_math_type, stream=stream)
    else:
        ops.batch_mat_mul(input, mat2, out, cube_math_type, stream=stream)
    return out


@remembered
def mv(
    input: Tensor, vec: Tensor, *, cube_math_type: int = 0, stream: Stream | None = None
) -> Tensor:
    """Multiply a matrix by a vector.

    Parameters
    ----------
    input : Tensor
        Shape ``(m, k)``. 2 dimensions; dtype float32 | float16 | bfloat16.
    vec : Tensor
        Shape ``(k,)``. 1 dimension; dtype float32 | float16 | bfloat16.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m,)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMv (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, vec=vec)
    out = empty(matmul_shape(input.shape, vec.shape), promote(input, vec), device=input.device)
    ops.mv(input, vec, out, cube_math_type, stream=stream)
    return out


@remembered
def dot(input: Tensor, tensor: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Compute the inner product of two vectors.

    Parameters
    ----------
    input : Tensor
        Shape ``(k,)``. 1 dimension; dtype float32 | float16 | bfloat16 | int8 | int32 | uint8.
    tensor : Tensor
        Shape ``(k,)``. 1 dimension; dtype float32 | float16 | bfloat16 | int8 | int32 | uint8.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        A 0-d tensor of the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnDot (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, tensor=tensor)
    out = empty(
        matmul_shape(input.shape, tensor.shape), promote(input, tensor), device=input.device
    )
    ops.dot(input, tensor, out, stream=stream)
    return out


@remembered
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Add ``alpha`` times a product of matrices to ``beta`` times ``input``.

    Parameters
    ----------
    input : Tensor
        Broadcast to ``(m, n)``. 1 to 2 dimensions; dtype float32 | float16 | bfloat16.
    mat1 : Tensor
        Shape ``(m, k)``. 2 dimensions; dtype float16 | bfloat16.
    mat2 : Tensor
        Shape ``(k, n)``, also in FRACTAL_NZ. 2 dimensions; dtype float16 | bfloat16.
    beta : number, default 1
        Factor of ``input``.
    alpha : number, default 1
        Factor of the product.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddmmWeightNz (``include/aclnnop/matmul.h``), CANN: a release after 8.1.RC1; aclnnAddmm
    (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, mat1=mat1, mat2=mat2)
    out = empty(
        matrix_shape(mat1.shape, mat2.shape, 2), promote(input, mat1, mat2), device=input.device
    )
    if mat2.format == Format.FRACTAL_NZ:
        ops.addmm_weight_nz(input, mat1, mat2, beta, alpha, out, cube_math_type, stream=stream)
    else:
        ops.addmm(input, mat1, mat2, beta, alpha, out, cube_math_type, stream=stream)
    return out


@remembered
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: Number = 1,
    alpha: Number = 1,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Add ``alpha`` times a product of batches of matrices to ``beta`` times ``input``.

    Parameters
    ----------
    input : Tensor
        Broadcast to ``(b, m, n)``. Dtype float32 | float16 | bfloat16.
    batch1 : Tensor
        Shape ``(b, m, k)``. 3 dimensions; dtype float32 | float16 | bfloat16.
    batch2 : Tensor
        Shape ``(b, k, n)``. 3 dimensions; dtype float32 | float16 | bfloat16.
    beta : number, default 1
        Factor of ``input``.
    alpha : number, default 1
        Factor of the product.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(b, m, n)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBaddbmm (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, batch1=batch1, batch2=batch2)
    out = empty(
        matrix_shape(batch1.shape, batch2.shape, 3),
        promote(input, batch1, batch2),
        device=input.device,
    )
    ops.baddbmm(input, batch1, batch2, beta, alpha, out, cube_math_type, stream=stream)
    return out


@remembered
def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    cube_math_type: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply by the transposed weight and add the bias.

    Parameters
    ----------
    input : Tensor
        Shape ``(..., k)``. 1 to 6 dimensions; dtype float32 | float16 | bfloat16.
    weight : Tensor
        Shape ``(n, k)``, as in checkpoints.
    bias : Tensor, optional
        Shape ``(n,)``.
    cube_math_type : int, default 0
        0 keeps the precision of the inputs, 1 allows lower precision, 2 allows float16, 3 allows
        HF32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(..., n)``; the promoted dtype.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnMatmul (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1; aclnnAddmm
    (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    expect_optional(bias=bias)
    check_linear(weight, bias)
    out = empty(
        matmul_shape(input.shape, weight.T.shape), promote(input, weight), device=input.device
    )
    if bias is None:
        ops.matmul(input, weight.T, out, cube_math_type, stream=stream)
    else:
        ops.addmm(
            bias, rows(input, stream), weight.T, 1, 1, rows(out), cube_math_type, stream=stream
        )
    return out


@remembered
def weight_quant_batchmatmul(
    x: Tensor,
    weight: Tensor,
    antiquant_scale: Tensor,
    antiquant_offset: Tensor | None = None,
    quant_scale: Tensor | None = None,
    quant_offset: Tensor | None = None,
    bias: Tensor | None = None,
    antiquant_group_size: int = 0,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply by a quantised weight.

    Parameters
    ----------
    x : Tensor
        Shape ``(m, k)``. 2 dimensions; dtype float16 | bfloat16.
    weight : Tensor
        Shape ``(k, n)``. 2 dimensions; dtype int8 | int32 | int4 | float32 | float8_e4m3fn |
        hifloat8 | float4_e2m1.
    antiquant_scale : Tensor
        Factors of the weight. 1 to 2 dimensions; dtype float16 | bfloat16 | int64 | uint64 |
        float8_e8m0.
    antiquant_offset : Tensor, optional
        Terms added to the weight before it is scaled. Dtype float16 | bfloat16 | int32.
    quant_scale : Tensor, optional
        Factors of the result. 1 to 2 dimensions; dtype uint64.
    quant_offset : Tensor, optional
        Terms added to the result. Dtype float32.
    bias : Tensor, optional
        Shape ``(n,)``. Dtype float32 | float16 | bfloat16.
    antiquant_group_size : int, default 0
        Number of weight rows that share a factor; 0 for all of them.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)``; dtype of ``x``, or int8 with ``quant_scale``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnWeightQuantBatchMatmulV2 (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x=x, weight=weight, antiquant_scale=antiquant_scale)
    expect_optional(
        antiquant_offset=antiquant_offset,
        quant_scale=quant_scale,
        quant_offset=quant_offset,
        bias=bias,
    )
    out = empty(
        matmul_shape(x.shape, weight.shape),
        x.dtype_name if quant_scale is None else "int8",
        device=x.device,
    )
    ops.weight_quant_batch_matmul_v2(
        x,
        weight,
        antiquant_scale,
        antiquant_offset,
        quant_scale,
        quant_offset,
        bias,
        antiquant_group_size,
        out,
        stream=stream,
    )
    return out


@remembered
def quant_matmul(
    x1: Tensor,
    x2: Tensor,
    scale: Tensor,
    *,
    offset: Tensor | None = None,
    pertoken_scale: Tensor | None = None,
    bias: Tensor | None = None,
    output_dtype: DTypeLike = "float16",
    stream: Stream | None = None,
) -> Tensor:
    """Multiply quantised matrices and scale the sums.

    Parameters
    ----------
    x1 : Tensor
        Shape ``(..., m, k)``. 2 to 6 dimensions; dtype int8 | int4 | float8_e4m3fn | hifloat8.
    x2 : Tensor
        Shape ``(..., k, n)``, also a transposed view, or in FRACTAL_NZ. 2 to 6 dimensions; dtype
        int8 | int4 | float8_e4m3fn | hifloat8.
    scale : Tensor
        Factors of the columns, shape ``(n,)`` or ``(1,)``: float32 or bfloat16 beside
        ``pertoken_scale`` and for a result of bfloat16, packed by `trans_quant_param` or
        `pack_scale` for float16 and int8. 1 to 3 dimensions; dtype float32 | bfloat16 | int64 |
        uint64 | float8_e8m0.
    offset : Tensor, optional
        Terms of an int8 result, shape of ``scale``. 1 dimension; dtype float32.
    pertoken_scale : Tensor, optional
        Factors of the rows, shape ``(m,)``. 1 to 3 dimensions; dtype float32 | float8_e8m0.
    bias : Tensor, optional
        Added to the sums of integers, as int32, or to the result; shape ``(n,)``. 1 or 3
        dimensions; dtype float32 | float16 | bfloat16 | int32.
    output_dtype : dtype-like, default 'float16'
        float16, bfloat16, int8 or int32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(..., m, n)``; dtype ``output_dtype``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnQuantMatmulWeightNz (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1; aclnnQuantMatmulV4
    (``include/aclnnop/matmul.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2, scale=scale)
    expect_optional(offset=offset, pertoken_scale=pertoken_scale, bias=bias)
    out = empty(matmul_shape(values_shape(x1), values_shape(x2)), output_dtype, device=x1.device)
    if x2.format == Format.FRACTAL_NZ and has_operator("quant_matmul_weight_nz"):
        ops.quant_matmul_weight_nz(
            x1=x1,
            x2=x2,
            x1_scale=pertoken_scale,
            x2_scale=scale,
            y_scale=None,
            x1_offset=None,
            x2_offset=offset,
            y_offset=None,
            bias=bias,
            transpose_x1=False,
            transpose_x2=False,
            group_size=0,
            out=out,
            stream=stream,
        )
    else:
        ops.quant_matmul_v4(
            x1, x2, scale, offset, pertoken_scale, bias, False, False, out, stream=stream
        )
    return out


@remembered
def transpose_batch_matmul(
    x1: Tensor,
    x2: Tensor,
    *,
    perm_x1: Sequence[int] = (0, 1, 2),
    perm_x2: Sequence[int] = (0, 1, 2),
    perm_y: Sequence[int] = (1, 0, 2),
    stream: Stream | None = None,
) -> Tensor:
    """Multiply batches of matrices whose batch need not be the first dimension.

    Parameters
    ----------
    x1 : Tensor
        Shape ``(batch, m, k)`` after ``perm_x1``. 3 dimensions; dtype float16 | bfloat16.
    x2 : Tensor
        Shape ``(batch, k, n)`` after ``perm_x2``, also in FRACTAL_NZ. 3 dimensions; dtype float16 |
        bfloat16.
    perm_x1 : sequence of int, default (0, 1, 2)
        Order of the dimensions of ``x1``: (0, 1, 2) or (1, 0, 2).
    perm_x2 : sequence of int, default (0, 1, 2)
        Order of the dimensions of ``x2``: (0, 1, 2) or (0, 2, 1).
    perm_y : sequence of int, default (1, 0, 2)
        Order of the dimensions of the result: (1, 0, 2).
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, batch, n)`` with the default of ``perm_y``; dtype of ``x1``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnTransposeBatchMatMulWeightNz (``include/aclnnop/matmul.h``), CANN: a release after 8.1.RC1;
    aclnnTransposeBatchMatMul (``include/aclnnop/matmul.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2)
    out = empty(
        ordered_shape(
            "perm_y",
            matmul_shape(
                ordered_shape("perm_x1", x1.shape, perm_x1),
                ordered_shape("perm_x2", x2.shape, perm_x2),
            ),
            perm_y,
        ),
        x1.dtype_name,
        device=x1.device,
    )
    if x2.format == Format.FRACTAL_NZ:
        ops.transpose_batch_mat_mul_weight_nz(
            x1=x1,
            x2=x2,
            bias=None,
            scale=None,
            perm_x1=perm_x1,
            perm_x2=perm_x2,
            perm_y=perm_y,
            cube_math_type=0,
            batch_split_factor=1,
            out=out,
            stream=stream,
        )
    else:
        ops.transpose_batch_mat_mul(
            x1=x1,
            x2=x2,
            bias=None,
            scale=None,
            perm_x1=perm_x1,
            perm_x2=perm_x2,
            perm_y=perm_y,
            cube_math_type=0,
            batch_split_factor=1,
            out=out,
            stream=stream,
        )
    return out
