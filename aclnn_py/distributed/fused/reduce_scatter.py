# SPDX-License-Identifier: Apache-2.0
"""A matrix product that is summed over all ranks, each of which keeps a part of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import STOP_ON_FAILURE, communicator_of, matrices
from aclnn_py.distributed.groups import Group
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["matmul_reduce_scatter"]


def matmul_reduce_scatter(
    input: Tensor,
    x2: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    reduce_op: str = "sum",
    bias: Tensor | None = None,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply on every rank, sum the products over the ranks, and keep this rank's rows.

    ``output`` on rank r is rows ``r * m / R`` up to ``(r + 1) * m / R`` of the sum over the ranks
    of ``input @ x2``. Each product is rounded to the dtype before it is added to the others.

    Parameters
    ----------
    input : Tensor
        Left matrix. Shape ``(m, k)``, ``m`` a multiple of R, ``256 <= k < 65535``;
        dtype float16 | bfloat16; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(k, n)``, or ``(n, k)`` with ``trans_x2``; dtype of
        ``input``; format ND.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    bias : Tensor, optional
        CANN supports only None.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    trans_input : bool, default False
        Whether ``input`` is transposed; only False is supported.
    trans_x2 : bool, default False
        Whether ``x2`` is transposed. It is read through a view; nothing is copied.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(m / R, n)``; dtype of ``input``.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``world_size`` is not that of the communicator.
    NotSupportedError
        ``trans_input`` is true.
    AclnnError
        161001: a tensor is missing. 161002: a dtype or a shape is refused. 561002: ``reduce_op``,
        ``comm_turn`` or the number of ranks is refused, or ``m`` is not a multiple of R. 361001:
        the group is unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m``, ``k`` and ``n``. CANN supports
    2, 4 or 8 ranks.
    Emulator: each product is accumulated in float32 and rounded; then the ranks are summed in rank
    order, in the dtype of the result. ``ACLNN_PY_REDUCE=fp32`` sums in float32 and rounds once.

    Source
    ------
    aclnnMatmulReduceScatter (``include/aclnnop/mc2.h``), CANN >= 8.0.RC2.
    """
    comm = communicator_of(group, world_size)
    input, right = matrices("aclnnMatmulReduceScatter", input, x2, trans_input, trans_x2)
    rows = input.shape[0] // comm.world_size
    output = empty((rows, right.shape[1]), input.dtype_name, device=comm.device)
    ops.matmul_reduce_scatter(
        input,
        right,
        bias,
        comm.name,
        reduce_op,
        comm_turn,
        STOP_ON_FAILURE,
        output,
        stream=comm.stream(stream),
    )
    return output
