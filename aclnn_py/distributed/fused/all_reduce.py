# SPDX-License-Identifier: Apache-2.0
"""Matrix products that are summed over all ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import STOP_ON_FAILURE, communicator_of, product_like
from aclnn_py.distributed.groups import Group
from aclnn_py.functional.arguments import has_operator
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["matmul_all_reduce", "quant_matmul_all_reduce", "weight_quant_matmul_all_reduce"]


def matmul_all_reduce(
    x1: Tensor,
    x2: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    x3: Tensor | None = None,
    reduce_op: str = "sum",
    comm_turn: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply on every rank and sum the products over the ranks.

    ``output = sum over the ranks of (x1 @ x2 + bias + x3)``. **The bias and x3 of every rank are
    added**: when all ranks hold the same bias, as in a tensor-parallel layer, pass it on one rank
    only or divide it by the number of ranks.

    Parameters
    ----------
    x1 : Tensor
        Left matrix. Shape ``(m, k)`` or ``(b, s, k)``; dtype float16 | bfloat16; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(k, n)``, a transposed view (``weight.T``) included;
        dtype of ``x1``; format ND.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        Shape ``(n,)``; dtype of ``x1``. Added once for each rank that passes it.
    x3 : Tensor, optional
        Shape and dtype of the result. Added once for each rank that passes it.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)`` or ``(b, s, n)``; dtype of ``x1``; the same on every rank.

    Raises
    ------
    ValueError
        ``x1`` or ``x2`` has the wrong number of dimensions, or ``world_size`` is not that of the
        communicator.
    AclnnError
        161001: a tensor is missing. 161002: a dtype, a shape or ``reduce_op`` is refused. 561002:
        ``comm_turn`` or the number of ranks is refused, or a tensor is empty. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator, or for its form that takes ``x3``.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m``, ``k`` and ``n``. CANN supports
    1, 2, 4 or 8 ranks.
    Emulator: the product and the bias are accumulated in float32 and rounded; ``x3`` is added and
    the result rounded; then the ranks are summed in rank order, in the dtype of the result. With
    ``ACLNN_PY_REDUCE=fp32`` there is one rounding, at the end.

    Source
    ------
    aclnnMatmulAllReduceV2, else aclnnMatmulAllReduce (``include/aclnnop/mc2.h``),
    CANN >= 8.0.RC2.
    """
    comm = communicator_of(group, world_size)
    output = product_like(x1, x2, None, comm)
    name, mode, queue = comm.name, STOP_ON_FAILURE, comm.stream(stream)
    if x3 is not None or has_operator("matmul_all_reduce_v2"):
        ops.matmul_all_reduce_v2(
            x1, x2, bias, x3, name, reduce_op, comm_turn, mode, output, stream=queue
        )
    else:
        ops.matmul_all_reduce(x1, x2, bias, name, reduce_op, comm_turn, mode, output, stream=queue)
    return output


def weight_quant_matmul_all_reduce(
    x1: Tensor,
    x2: Tensor,
    antiquant_scale: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    antiquant_offset: Tensor | None = None,
    antiquant_group_size: int = 0,
    bias: Tensor | None = None,
    x3: Tensor | None = None,
    reduce_op: str = "sum",
    comm_turn: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply by 8-bit or 4-bit weights on every rank and sum the products over the ranks.

    ``w = (x2 + antiquant_offset) * antiquant_scale``, rounded to the dtype of ``x1``;
    ``output = sum over the ranks of (x1 @ w + bias + x3)``. **The bias and x3 of every rank are
    added**: in a tensor-parallel layer pass them on one rank only, or divide them by the number of
    ranks.

    Parameters
    ----------
    x1 : Tensor
        Left matrix. Shape ``(m, k)`` or ``(b, s, k)``, ``k <= 65535``; dtype float16 | bfloat16;
        format ND.
    x2 : Tensor
        Weight of this rank. Shape ``(k, n)``, ``n <= 65535``; dtype int8 | int4; format ND, a
        transposed view included, or FRACTAL_NZ.
    antiquant_scale : Tensor
        Shape ``(1,)`` per tensor, ``(n,)`` or ``(1, n)`` per channel, or ``(ceil(k / size), n)``
        with groups of ``size``; dtype of ``x1``.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    antiquant_offset : Tensor, optional
        Shape and dtype of ``antiquant_scale``; default is 0.
    antiquant_group_size : int, default 0
        Number of rows of ``x2`` that share a scale: 0 for all rows, else a multiple of 32 below
        ``k``.
    bias : Tensor, optional
        Shape ``(n,)``; dtype of ``x1``. Added once for each rank that passes it.
    x3 : Tensor, optional
        Shape and dtype of the result. Added once for each rank that passes it.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)`` or ``(b, s, n)``; dtype of ``x1``; the same on every rank.

    Raises
    ------
    ValueError
        ``x1`` or ``x2`` has the wrong number of dimensions, or ``world_size`` is not that of the
        communicator.
    AclnnError
        161001: a tensor is missing. 161002: a dtype, a shape, ``reduce_op`` or
        ``antiquant_group_size`` is refused. 561002: ``comm_turn``, the number of ranks or a
        dimension is refused, or a tensor is empty. 361001: the group is unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m``, ``k`` and ``n``. CANN supports
    1, 2, 4 or 8 ranks.
    Emulator: the weight is rounded; the rest is as in ``matmul_all_reduce``.

    Source
    ------
    aclnnWeightQuantMatmulAllReduce (``include/aclnnop/mc2.h``), CANN >= 8.0.RC2.
    """
    comm = communicator_of(group, world_size)
    output = product_like(x1, x2, None, comm)
    ops.weight_quant_matmul_all_reduce(
        x1,
        x2,
        bias,
        antiquant_scale,
        antiquant_offset,
        x3,
        comm.name,
        reduce_op,
        comm_turn,
        STOP_ON_FAILURE,
        antiquant_group_size,
        output,
        stream=comm.stream(stream),
    )
    return output


def quant_matmul_all_reduce(
    x1: Tensor,
    x2: Tensor,
    dequant_scale: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    x3: Tensor | None = None,
    pertoken_scale: Tensor | None = None,
    comm_quant_scale_1: Tensor | None = None,
    comm_quant_scale_2: Tensor | None = None,
    reduce_op: str = "sum",
    comm_turn: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply int8 matrices on every rank, dequantise, and sum over the ranks.

    ``output = sum over the ranks of ((x1 @ x2 + bias) * dequant_scale * pertoken_scale + x3)``.
    Each rank may have its own scales. **The bias and x3 of every rank are added**: in a
    tensor-parallel layer pass them on one rank only.

    Parameters
    ----------
    x1 : Tensor
        Left matrix. Shape ``(m, k)`` or ``(b, s, k)``, ``k <= 65535``; dtype int8; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(k, n)``, ``n <= 65535``; dtype int8; format ND, a
        transposed view included, or FRACTAL_NZ (``functional.trans_matmul_weight``).
    dequant_scale : Tensor
        Shape ``(1,)`` per tensor, ``(n,)`` or ``(1, n)`` per channel. Dtype for a float16 result:
        uint64 or int64, packed (``functional.trans_quant_param``), or float32 together with
        ``pertoken_scale``. Dtype for a bfloat16 result: bfloat16.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        Shape ``(n,)``; dtype int32. Added before the scales, once for each rank that passes it.
    x3 : Tensor, optional
        Shape and dtype of the result. Added once for each rank that passes it.
    pertoken_scale : Tensor, optional
        One factor per row of ``x1``. Shape ``(m,)`` or ``(b * s,)``; dtype float32.
    comm_quant_scale_1 : Tensor, optional
        Shape ``(n,)`` or ``(1, n)``; dtype of the result; equal on all ranks. Given together with
        ``comm_quant_scale_2``: the ranks exchange ``value / comm_quant_scale_1`` in 8 bits.
    comm_quant_scale_2 : Tensor, optional
        Scale of the sums; same shape and dtype.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)`` or ``(b, s, n)``; dtype bfloat16 when ``dequant_scale`` is bfloat16, else
        float16; the same on every rank.

    Raises
    ------
    ValueError
        ``x1`` or ``x2`` has the wrong number of dimensions, or ``world_size`` is not that of the
        communicator.
    AclnnError
        161001: a tensor is missing. 161002: a dtype, a shape or ``reduce_op`` is refused. 561002:
        ``comm_turn``, the number of ranks or a dimension is refused, a tensor is empty, or
        ``dequant_scale`` is float32 and ``pertoken_scale`` is missing. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator, or for its form that takes these scales.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m``, ``k`` and ``n``. CANN supports
    1, 2, 4 or 8 ranks.
    Emulator: the product and the bias are summed in int32, scaled in float32 and rounded; ``x3`` is
    added and the result rounded; then the ranks are summed in rank order, in the dtype of the
    result. With ``ACLNN_PY_REDUCE=fp32`` there is one rounding, at the end.

    Source
    ------
    aclnnQuantMatmulAllReduceV3, else V2, else V1 (``include/aclnnop/mc2.h``), CANN >= 8.0.RC2.
    """
    comm = communicator_of(group, world_size)
    narrow = isinstance(dequant_scale, Tensor) and dequant_scale.dtype_name == "bfloat16"
    output = product_like(x1, x2, "bfloat16" if narrow else "float16", comm)
    name, mode, queue = comm.name, STOP_ON_FAILURE, comm.stream(stream)
    low_bit = comm_quant_scale_1 is not None or comm_quant_scale_2 is not None
    if low_bit or has_operator("quant_matmul_all_reduce_v3"):
        ops.quant_matmul_all_reduce_v3(
            x1,
            x2,
            bias,
            x3,
            dequant_scale,
            pertoken_scale,
            comm_quant_scale_1,
            comm_quant_scale_2,
            name,
            reduce_op,
            comm_turn,
            mode,
            output,
            stream=queue,
        )
    elif pertoken_scale is not None or has_operator("quant_matmul_all_reduce_v2"):
        ops.quant_matmul_all_reduce_v2(
            x1,
            x2,
            bias,
            x3,
            dequant_scale,
            pertoken_scale,
            name,
            reduce_op,
            comm_turn,
            mode,
            output,
            stream=queue,
        )
    else:
        ops.quant_matmul_all_reduce(
            x1,
            x2,
            bias,
            x3,
            dequant_scale,
            name,
            reduce_op,
            comm_turn,
            mode,
            output,
            stream=queue,
        )
    return output
