# SPDX-License-Identifier: Apache-2.0
"""Matrix products that are summed over all ranks, then get a residual and an RMS norm.

This is the end of a tensor-parallel layer. The three operators differ in the product only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.communicator import Communicator
from aclnn_py.distributed.fused.arguments import STOP_ON_FAILURE, communicator_of, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.tensor.creation import empty_like
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = [
    "matmul_all_reduce_add_rms_norm",
    "quant_matmul_all_reduce_add_rms_norm",
    "weight_quant_matmul_all_reduce_add_rms_norm",
]


def matmul_all_reduce_add_rms_norm(
    x1: Tensor,
    x2: Tensor,
    residual: Tensor,
    gamma: Tensor,
    epsilon: float = 1e-6,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    inplace: bool = False,
    reduce_op: str = "sum",
    comm_turn: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Multiply, sum over the ranks, add the residual and normalise by the root mean square.

    ``y = sum over the ranks of (x1 @ x2 + bias) + residual``;
    ``norm = y / sqrt(mean(y ** 2) + epsilon) * gamma``. **The bias of every rank is added; the
    residual is added once.**

    Parameters
    ----------
    x1 : Tensor
        Left matrix. Shape ``(m, k)`` or ``(b, s, k)`` with ``m = b * s``; dtype float16 |
        bfloat16; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(k, n)``, a transposed view included; dtype of ``x1``.
    residual : Tensor
        Shape ``(b, s, n)``; dtype float16 | bfloat16, that of the result; the same on every rank.
    gamma : Tensor
        Factors of the norm. Shape ``(n,)``; dtype of ``residual``.
    epsilon : float, default 1e-6
        Added to the mean of the squares.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        Shape ``(n,)``; dtype of ``x1``. Added once for each rank that passes it.
    inplace : bool, default False
        Write ``y`` into ``residual`` and return that.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    tuple of Tensor
        ``y`` and ``norm``, both of the shape and dtype of ``residual``; the same on every rank.

    Raises
    ------
    ValueError
        ``residual`` does not have 3 dimensions, or ``world_size`` is not that of the communicator.
    AclnnError
        161001: a tensor is missing. 161002: a dtype, a shape or ``reduce_op`` is refused. 561002:
        ``comm_turn`` or the number of ranks is refused, or a tensor is empty. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library has no such operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m``, ``k`` and ``n``.

    Source
    ------
    aclnnMatmulAllReduceAddRmsNorm, aclnnInplaceMatmulAllReduceAddRmsNorm
    (``include/aclnnop/mc2.h``), CANN >= 8.1.RC1.
    """
    return _add_rms_norm(
        "matmul_all_reduce_add_rms_norm",
        communicator_of(group, world_size),
        residual,
        inplace,
        stream,
        x1=x1,
        x2=x2,
        bias=bias,
        gamma=gamma,
        epsilon=epsilon,
        reduce_op=reduce_op,
        comm_turn=comm_turn,
    )


def weight_quant_matmul_all_reduce_add_rms_norm(
    x1: Tensor,
    x2: Tensor,
    antiquant_scale: Tensor,
    residual: Tensor,
    gamma: Tensor,
    epsilon: float = 1e-6,
    group: Group = None,
    world_size: int | None = None,
    *,
    antiquant_offset: Tensor | None = None,
    antiquant_group_size: int = 0,
    bias: Tensor | None = None,
    inplace: bool = False,
    reduce_op: str = "sum",
    comm_turn: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute matmul_all_reduce_add_rms_norm with 8-bit or 4-bit weights.

    Parameters
    ----------
    x1 : Tensor
        Left matrix. Shape ``(m, k)`` or ``(b, s, k)`` with ``m = b * s``; dtype float16 |
        bfloat16; format ND.
    x2 : Tensor
        Weight of this rank. Shape ``(k, n)``; dtype int8 | int4; format ND, a transposed view
        included, or FRACTAL_NZ.
    antiquant_scale : Tensor
        Shape ``(1,)``, ``(n,)``, ``(1, n)`` or, with groups, ``(ceil(k / size), n)``; dtype of
        ``x1``.
    residual : Tensor
        Shape ``(b, s, n)``; dtype float16 | bfloat16, that of the result; the same on every rank.
    gamma : Tensor
        Factors of the norm. Shape ``(n,)``; dtype of ``residual``.
    epsilon : float, default 1e-6
        Added to the mean of the squares.
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
    inplace : bool, default False
        Write ``y`` into ``residual`` and return that.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    tuple of Tensor
        ``y`` and ``norm``, both of the shape and dtype of ``residual``; the same on every rank.

    Raises
    ------
    ValueError
        ``residual`` does not have 3 dimensions, or ``world_size`` is not that of the communicator.
    AclnnError
        The statuses are those of weight_quant_matmul_all_reduce.
    SymbolNotFoundError
        The loaded library has no such operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m``, ``k`` and ``n``.

    Source
    ------
    aclnnWeightQuantMatmulAllReduceAddRmsNorm, aclnnInplaceWeightQuantMatmulAllReduceAddRmsNorm
    (``include/aclnnop/mc2.h``), CANN >= 8.1.RC1.
    """
    return _add_rms_norm(
        "weight_quant_matmul_all_reduce_add_rms_norm",
        communicator_of(group, world_size),
        residual,
        inplace,
        stream,
        x1=x1,
        x2=x2,
        bias=bias,
        antiquant_scale=antiquant_scale,
        antiquant_offset=antiquant_offset,
        antiquant_group_size=antiquant_group_size,
        gamma=gamma,
        epsilon=epsilon,
        reduce_op=reduce_op,
        comm_turn=comm_turn,
    )


def quant_matmul_all_reduce_add_rms_norm(
    x1: Tensor,
    x2: Tensor,
    dequant_scale: Tensor,
    residual: Tensor,
    gamma: Tensor,
    epsilon: float = 1e-6,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    inplace: bool = False,
    reduce_op: str = "sum",
    comm_turn: int = 0,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute matmul_all_reduce_add_rms_norm with int8 matrices and a scale.

    Parameters
    ----------
    x1 : Tensor
        Left matrix. Shape ``(m, k)`` or ``(b, s, k)`` with ``m = b * s``; dtype int8; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(k, n)``; dtype int8; format ND, a transposed view
        included, or FRACTAL_NZ.
    dequant_scale : Tensor
        Shape ``(1,)``, ``(n,)`` or ``(1, n)``; dtype uint64 or int64, packed
        (``functional.trans_quant_param``), for a float16 result, bfloat16 for a bfloat16 result.
    residual : Tensor
        Shape ``(b, s, n)``; dtype float16 | bfloat16, that of the result; the same on every rank.
    gamma : Tensor
        Factors of the norm. Shape ``(n,)``; dtype of ``residual``.
    epsilon : float, default 1e-6
        Added to the mean of the squares.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        Shape ``(n,)``; dtype int32. Added before the scales, once for each rank that passes it.
    inplace : bool, default False
        Write ``y`` into ``residual`` and return that.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    tuple of Tensor
        ``y`` and ``norm``, both of the shape and dtype of ``residual``; the same on every rank.

    Raises
    ------
    ValueError
        ``residual`` does not have 3 dimensions, or ``world_size`` is not that of the communicator.
    AclnnError
        The statuses are those of quant_matmul_all_reduce.
    SymbolNotFoundError
        The loaded library has no such operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m``, ``k`` and ``n``.

    Source
    ------
    aclnnQuantMatmulAllReduceAddRmsNorm, aclnnInplaceQuantMatmulAllReduceAddRmsNorm
    (``include/aclnnop/mc2.h``), CANN >= 8.1.RC1.
    """
    return _add_rms_norm(
        "quant_matmul_all_reduce_add_rms_norm",
        communicator_of(group, world_size),
        residual,
        inplace,
        stream,
        x1=x1,
        x2=x2,
        bias=bias,
        dequant_scale=dequant_scale,
        gamma=gamma,
        epsilon=epsilon,
        reduce_op=reduce_op,
        comm_turn=comm_turn,
    )


def _add_rms_norm(
    name: str,
    comm: Communicator,
    residual: object,
    inplace: bool,
    stream: Stream | None,
    **arguments: object,
) -> tuple[Tensor, Tensor]:
    """Allocate y and the norm, and launch the operator ``name`` or its in-place form."""
    added = tensor_of(residual, "residual", (3,))
    y, norm = added if inplace else empty_like(added), empty_like(added)
    targets = {"residual_ref": added} if inplace else {"residual": added, "y": y}
    operator = getattr(ops, f"inplace_{name}" if inplace else name)
    operator(
        **arguments,
        **targets,
        norm_out=norm,
        group=comm.name,
        stream_mode=STOP_ON_FAILURE,
        stream=comm.stream(stream),
    )
    return y, norm
