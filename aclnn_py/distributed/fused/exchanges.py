# SPDX-License-Identifier: Apache-2.0
"""Products of experts whose rows are exchanged between ranks, and sums of quantised values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import communicator_of, own_product, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.operators.describe.argument_errors import type_name, whole_numbers
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = [
    "all_to_allv_grouped_matmul",
    "grouped_matmul_all_to_allv",
    "quant_all_reduce",
    "quant_reduce_scatter",
]


def all_to_allv_grouped_matmul(
    gmm_x: Tensor,
    gmm_weight: Tensor,
    send_counts: Sequence[int],
    recv_counts: Sequence[int],
    group: Group = None,
    ep_world_size: int | None = None,
    *,
    mm_x: Tensor | None = None,
    mm_weight: Tensor | None = None,
    trans_gmm_weight: bool = False,
    trans_mm_weight: bool = False,
    permute_out_flag: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Send rows to the ranks of their experts, and multiply them there.

    Parameters
    ----------
    gmm_x : Tensor
        Rows of this rank, by the rank and expert they go to. Shape ``(rows, H)``; dtype float16 |
        bfloat16.
    gmm_weight : Tensor
        A matrix for each of the E experts of this rank. Shape ``(E, H, N)``, or ``(E, N, H)`` with
        ``trans_gmm_weight``.
    send_counts : Sequence[int]
        How many rows go to each rank and expert, R * E numbers, by rank.
    recv_counts : Sequence[int]
        How many rows come from each rank for each expert, R * E numbers, by rank.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    ep_world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    mm_x : Tensor, optional
        Rows that stay here, for an expert that every rank has. Shape ``(BS, H2)``.
    mm_weight : Tensor, optional
        Matrix of that expert. Shape ``(H2, N2)``, or ``(N2, H2)`` with ``trans_mm_weight``.
    trans_gmm_weight : bool, default False
        Whether ``gmm_weight`` is transposed.
    trans_mm_weight : bool, default False
        Whether ``mm_weight`` is transposed.
    permute_out_flag : bool, default False
        Whether to return the rows that came.
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
        161002: a dtype or a shape is refused. 561002: the number of ranks or a count is refused.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it, and each ``recv_counts`` is what others send.

    Source
    ------
    aclnnAlltoAllvGroupedMatMul (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, ep_world_size)
    sent, received = (
        whole_numbers(name, counts)
        for name, counts in (("send_counts", send_counts), ("recv_counts", recv_counts))
    )
    width = tensor_of(gmm_x, "gmm_x", (2,)).shape[1]
    columns = tensor_of(gmm_weight, "gmm_weight", (3,)).shape[1 if trans_gmm_weight else 2]
    dtype, device, total = gmm_x.dtype_name, comm.device, sum(received)
    gmm_y = empty((total, columns), dtype, device=device)
    mm_y = own_product(mm_x, mm_weight, trans_mm_weight, comm)
    permuted = empty((total, width), dtype, device=device) if permute_out_flag else None
    ops.allto_allv_grouped_mat_mul(
        *(gmm_x, gmm_weight, None, None, mm_x, mm_weight, comm.name, comm.world_size, sent),
        *(received, trans_gmm_weight, trans_mm_weight, permute_out_flag, gmm_y, mm_y, permuted),
        stream=comm.stream(stream),
    )
    return gmm_y, mm_y, permuted


def grouped_matmul_all_to_allv(
    gmm_x: Tensor,
    gmm_weight: Tensor,
    send_counts: Sequence[int],
    recv_counts: Sequence[int],
    group: Group = None,
    ep_world_size: int | None = None,
    *,
    mm_x: Tensor | None = None,
    mm_weight: Tensor | None = None,
    trans_gmm_weight: bool = False,
    trans_mm_weight: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Multiply rows by the matrices of their experts, and send them back to their ranks.

    Parameters
    ----------
    gmm_x : Tensor
        Rows at the experts of this rank, by expert, then by rank. Shape ``(rows, H)``; dtype
        float16 | bfloat16.
    gmm_weight : Tensor
        A matrix for each of the E experts of this rank. Shape ``(E, H, N)``, or ``(E, N, H)`` with
        ``trans_gmm_weight``.
    send_counts : Sequence[int]
        How many rows of each expert go to each rank, R * E numbers, by rank.
    recv_counts : Sequence[int]
        How many rows come back from each rank and expert, R * E numbers, by rank.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    ep_world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    mm_x : Tensor, optional
        Rows that stay here, for an expert that every rank has. Shape ``(BS, H2)``.
    mm_weight : Tensor, optional
        Matrix of that expert. Shape ``(H2, N2)``, or ``(N2, H2)`` with ``trans_mm_weight``.
    trans_gmm_weight : bool, default False
        Whether ``gmm_weight`` is transposed.
    trans_mm_weight : bool, default False
        Whether ``mm_weight`` is transposed.
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
        161002: a dtype or a shape is refused. 561002: the number of ranks or a count is refused.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it, and each ``recv_counts`` is what others send.

    Source
    ------
    aclnnGroupedMatMulAlltoAllv (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, ep_world_size)
    sent, received = (
        whole_numbers(name, counts)
        for name, counts in (("send_counts", send_counts), ("recv_counts", recv_counts))
    )
    tensor_of(gmm_x, "gmm_x", (2,))
    columns = tensor_of(gmm_weight, "gmm_weight", (3,)).shape[1 if trans_gmm_weight else 2]
    y = empty((sum(received), columns), gmm_x.dtype_name, device=comm.device)
    mm_y = own_product(mm_x, mm_weight, trans_mm_weight, comm)
    ops.grouped_mat_mul_allto_allv(
        *(gmm_x, gmm_weight, None, None, mm_x, mm_weight, comm.name, comm.world_size, sent),
        *(received, trans_gmm_weight, trans_mm_weight, y, mm_y),
        stream=comm.stream(stream),
    )
    return y, mm_y


def quant_all_reduce(
    x: Tensor,
    scales: Tensor,
    group: Group = None,
    *,
    output_dtype: str = "float16",
    stream: Stream | None = None,
) -> Tensor:
    """Sum quantised values over the ranks.

    Parameters
    ----------
    x : Tensor
        Values of this rank; dtype int8, or a float of 8 bits on a 950.
    scales : Tensor
        A scale for each 128 values of the last dimension, float32.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    output_dtype : str, default "float16"
        float16, bfloat16 or float32.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        The sum of ``x * scales`` over all ranks; shape of ``x``.

    Raises
    ------
    TypeError
        ``output_dtype`` is not a str.
    AclnnError
        161002: a dtype or a shape is refused. 561002: the number of ranks is refused.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same shapes. Emulator: summed in float32
    in the order of the ranks, and rounded once.

    Source
    ------
    aclnnQuantAllReduce (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, None)
    shape = tensor_of(x, "x", (2, 3)).shape
    output = empty(shape, _dtype(output_dtype), device=comm.device)
    ops.quant_all_reduce(x, scales, comm.name, "sum", output, stream=comm.stream(stream))
    return output


def quant_reduce_scatter(
    x: Tensor,
    scales: Tensor,
    group: Group = None,
    *,
    output_dtype: str = "float16",
    stream: Stream | None = None,
) -> Tensor:
    """Sum quantised values over the ranks, and give each rank its rows of the sum.

    Parameters
    ----------
    x : Tensor
        Values of this rank; dtype int8, or a float of 8 bits on a 950. The number of rows is a
        multiple of R.
    scales : Tensor
        A scale for each 128 values of the last dimension, float32.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    output_dtype : str, default "float16"
        float16, bfloat16 or float32.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(rows / R, width)``, the block of this rank.

    Raises
    ------
    TypeError
        ``output_dtype`` is not a str.
    AclnnError
        161002: a dtype or a shape is refused. 561002: the number of ranks is refused.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same shapes. Emulator: summed in float32
    in the order of the ranks, and rounded once.

    Source
    ------
    aclnnQuantReduceScatter (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, None)
    *lead, width = tensor_of(x, "x", (2, 3)).shape
    rows = 1
    for length in lead:
        rows *= length
    output = empty((rows // comm.world_size, width), _dtype(output_dtype), device=comm.device)
    ops.quant_reduce_scatter(x, scales, comm.name, "sum", output, stream=comm.stream(stream))
    return output


def _dtype(output_dtype: str) -> str:
    if not isinstance(output_dtype, str):
        raise TypeError(f"output_dtype: expected a str, got {type_name(output_dtype)}")
    return output_dtype
