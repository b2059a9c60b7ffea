# SPDX-License-Identifier: Apache-2.0
"""Quantised products of experts whose rows are exchanged between ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import communicator_of, own_product, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.operators.describe.argument_errors import whole_numbers
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["all_to_allv_quant_grouped_matmul", "quant_grouped_matmul_all_to_allv"]

# Quantisation modes of the C interface.
_ONE_SCALE, _BLOCKS_OF_32 = 1, 6


def all_to_allv_quant_grouped_matmul(
    gmm_x: Tensor,
    gmm_weight: Tensor,
    gmm_x_scale: Tensor,
    gmm_weight_scale: Tensor,
    send_counts: Sequence[int],
    recv_counts: Sequence[int],
    group: Group = None,
    ep_world_size: int | None = None,
    *,
    mm_x: Tensor | None = None,
    mm_weight: Tensor | None = None,
    mm_x_scale: Tensor | None = None,
    mm_weight_scale: Tensor | None = None,
    trans_gmm_weight: bool = False,
    trans_mm_weight: bool = False,
    permute_out_flag: bool = False,
    output_dtype: Any = "float16",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Send quantised rows to the ranks of their experts, and multiply them there.

    Parameters
    ----------
    gmm_x : Tensor
        Rows of this rank, by the rank and expert they go to. Shape ``(rows, H)``; dtype hifloat8,
        float8_e4m3fn | float8_e5m2 | float4_e2m1fn.
    gmm_weight : Tensor
        A matrix for each of the E experts of this rank. Shape ``(E, H, N)``, or ``(E, N, H)`` with
        ``trans_gmm_weight``; dtype as ``gmm_x``.
    gmm_x_scale : Tensor
        One float32 for hifloat8; else float8_e8m0fnu, a power of two for 32 values of a row. Shape
        ``(1,)`` or ``(rows, ceil(H / 64), 2)``.
    gmm_weight_scale : Tensor
        One float32, or a power of two for 32 values along H: ``(E, ceil(H / 64), N, 2)``, turned as
        ``gmm_weight``.
    send_counts : Sequence[int]
        How many rows go to each rank and expert, R * E numbers, by rank.
    recv_counts : Sequence[int]
        How many rows come from each rank for each expert, R * E numbers, by rank.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    ep_world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    mm_x, mm_weight, mm_x_scale, mm_weight_scale : Tensor, optional
        Rows that stay here, the matrix of an expert that every rank has, and their scales. Shapes
        ``(BS, H2)`` and ``(H2, N2)``, or ``(N2, H2)`` with ``trans_mm_weight``.
    trans_gmm_weight : bool, default False
        Whether ``gmm_weight`` is transposed.
    trans_mm_weight : bool, default False
        Whether ``mm_weight`` is transposed.
    permute_out_flag : bool, default False
        Whether to return the rows that came.
    output_dtype : dtype-like, default "float16"
        float16, bfloat16 or float32.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    gmm_y : Tensor
        Products of the rows that came, by expert, then by rank. Shape ``(sum(recv_counts), N)``.
    mm_y : Tensor or None
        Products of ``mm_x``, shape ``(BS, N2)``; None without ``mm_x``.
    permute_out : Tensor or None
        The rows that came, in the order of ``gmm_y``; None without ``permute_out_flag``.

    Raises
    ------
    ValueError
        A tensor has another number of dimensions, only one of ``mm_x`` and ``mm_weight`` is given,
        or ``ep_world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype or a shape is refused, or the chip is not of the 950 series. 561002: the
        number of ranks or a count is refused.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it, and each ``recv_counts`` is what others send. The
    modes of the operator follow from the dtype of the scales.

    Source
    ------
    aclnnAlltoAllvQuantGroupedMatMul (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, ep_world_size)
    sent, received = (
        whole_numbers(name, counts)
        for name, counts in (("send_counts", send_counts), ("recv_counts", recv_counts))
    )
    width = tensor_of(gmm_x, "gmm_x", (2,)).shape[1]
    columns = tensor_of(gmm_weight, "gmm_weight", (3,)).shape[1 if trans_gmm_weight else 2]
    device, total = comm.device, sum(received)
    gmm_y = empty((total, columns), output_dtype, device=device)
    mm_y = own_product(mm_x, mm_weight, trans_mm_weight, comm, output_dtype)
    permuted = empty((total, width), gmm_x.dtype_name, device=device) if permute_out_flag else None
    modes = _modes(gmm_x_scale, gmm_weight_scale, mm_x_scale, mm_weight_scale)
    ops.allto_allv_quant_grouped_mat_mul(
        gmm_x,
        gmm_weight,
        gmm_x_scale,
        gmm_weight_scale,
        send_counts_tensor=None,
        recv_counts_tensor=None,
        mm_x=mm_x,
        mm_weight=mm_weight,
        mm_x_scale=mm_x_scale,
        mm_weight_scale=mm_weight_scale,
        gmm_x_quant_mode=modes[0],
        gmm_weight_quant_mode=modes[1],
        mm_x_quant_mode=modes[2],
        mm_weight_quant_mode=modes[3],
        group=comm.name,
        ep_world_size=comm.world_size,
        send_counts=sent,
        recv_counts=received,
        trans_gmm_weight=trans_gmm_weight,
        trans_mm_weight=trans_mm_weight,
        group_size=0,
        permute_out_flag=permute_out_flag,
        gmm_y=gmm_y,
        mm_y=mm_y,
        permute_out=permuted,
        stream=comm.stream(stream),
    )
    return gmm_y, mm_y, permuted


def quant_grouped_matmul_all_to_allv(
    gmm_x: Tensor,
    gmm_weight: Tensor,
    gmm_x_scale: Tensor,
    gmm_weight_scale: Tensor,
    send_counts: Sequence[int],
    recv_counts: Sequence[int],
    group: Group = None,
    ep_world_size: int | None = None,
    *,
    mm_x: Tensor | None = None,
    mm_weight: Tensor | None = None,
    mm_x_scale: Tensor | None = None,
    mm_weight_scale: Tensor | None = None,
    trans_gmm_weight: bool = False,
    trans_mm_weight: bool = False,
    output_dtype: Any = "float16",
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Multiply quantised rows by the matrices of their experts, and send them back to their ranks.

    Parameters
    ----------
    gmm_x : Tensor
        Rows at the experts of this rank, by expert, then by rank. Shape ``(rows, H)``; dtype
        hifloat8, float8_e4m3fn | float8_e5m2 | float4_e2m1fn.
    gmm_weight, gmm_x_scale, gmm_weight_scale : Tensor
        As for ``all_to_allv_quant_grouped_matmul``.
    send_counts : Sequence[int]
        How many rows of each expert go to each rank, R * E numbers, by rank.
    recv_counts : Sequence[int]
        How many rows come back from each rank and expert, R * E numbers, by rank.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    ep_world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    mm_x, mm_weight, mm_x_scale, mm_weight_scale : Tensor, optional
        Rows that stay here, the matrix of an expert that every rank has, and their scales. Shapes
        ``(BS, H2)`` and ``(H2, N2)``, or ``(N2, H2)`` with ``trans_mm_weight``.
    trans_gmm_weight : bool, default False
        Whether ``gmm_weight`` is transposed.
    trans_mm_weight : bool, default False
        Whether ``mm_weight`` is transposed.
    output_dtype : dtype-like, default "float16"
        Of ``y``: float16, bfloat16 or float32. ``mm_y`` has it too.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    y : Tensor
        Products that came back, by rank, then by expert. Shape ``(sum(recv_counts), N)``.
    mm_y : Tensor or None
        Products of ``mm_x``, shape ``(BS, N2)``; None without ``mm_x``.

    Raises
    ------
    ValueError
        A tensor has another number of dimensions, only one of ``mm_x`` and ``mm_weight`` is given,
        or ``ep_world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype or a shape is refused, or the chip is not of the 950 series. 561002: the
        number of ranks or a count is refused.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it, and each ``recv_counts`` is what others send. The
    modes of the operator follow from the dtype of the scales.

    Source
    ------
    aclnnQuantGroupedMatMulAlltoAllv (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, ep_world_size)
    sent, received = (
        whole_numbers(name, counts)
        for name, counts in (("send_counts", send_counts), ("recv_counts", recv_counts))
    )
    tensor_of(gmm_x, "gmm_x", (2,))
    columns = tensor_of(gmm_weight, "gmm_weight", (3,)).shape[1 if trans_gmm_weight else 2]
    y = empty((sum(received), columns), output_dtype, device=comm.device)
    mm_y = own_product(mm_x, mm_weight, trans_mm_weight, comm, output_dtype)
    modes = _modes(gmm_x_scale, gmm_weight_scale, mm_x_scale, mm_weight_scale)
    ops.quant_grouped_mat_mul_allto_allv(
        gmm_x,
        gmm_weight,
        gmm_x_scale,
        gmm_weight_scale,
        send_counts_tensor=None,
        recv_counts_tensor=None,
        mm_x=mm_x,
        mm_weight=mm_weight,
        mm_x_scale=mm_x_scale,
        mm_weight_scale=mm_weight_scale,
        comm_quant_scale=None,
        gmm_x_quant_mode=modes[0],
        gmm_weight_quant_mode=modes[1],
        mm_x_quant_mode=modes[2],
        mm_weight_quant_mode=modes[3],
        comm_quant_mode=0,
        comm_quant_dtype=-1,
        group_size=0,
        group=comm.name,
        ep_world_size=comm.world_size,
        send_counts=sent,
        recv_counts=received,
        trans_gmm_weight=trans_gmm_weight,
        trans_mm_weight=trans_mm_weight,
        y=y,
        mm_y=mm_y,
        stream=comm.stream(stream),
    )
    return y, mm_y


def _modes(
    gmm_x: Tensor, gmm_weight: Tensor, mm_x: Tensor | None, mm_weight: Tensor | None
) -> tuple[int, int, int, int]:
    """The modes that scales belong to; those of scales that are absent count as the others'."""
    left, right = _mode(gmm_x), _mode(gmm_weight)
    return (
        *(left, right),
        left if mm_x is None else _mode(mm_x),
        right if mm_weight is None else _mode(mm_weight),
    )


def _mode(scale: Tensor) -> int:
    """The mode of a scale: powers of two are for blocks of 32 values."""
    blocks = isinstance(scale, Tensor) and scale.dtype_name == "float8_e8m0fnu"
    return _BLOCKS_OF_32 if blocks else _ONE_SCALE
