# SPDX-License-Identifier: Apache-2.0
"""A matrix product whose left operand is gathered from all ranks first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import STOP_ON_FAILURE, communicator_of, matrices
from aclnn_py.distributed.groups import Group
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["all_gather_matmul"]


def all_gather_matmul(
    input: Tensor,
    x2: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    gather_index: int = 0,
    gather_output: bool = True,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Gather the left matrices of all ranks and multiply them by this rank's right matrix.

    ``gather_out = concat(input of rank 0, ..., input of rank R-1)``; ``output = gather_out @ x2``.

    Parameters
    ----------
    input : Tensor
        Left matrix. Shape ``(m, k)``, ``256 <= k < 65535``; dtype float16 | bfloat16; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(k, n)``, or ``(n, k)`` with ``trans_x2``; dtype of
        ``input``; format ND.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        CANN supports only None.
    gather_index : int, default 0
        0 to gather ``input``; CANN supports only 0.
    gather_output : bool, default True
        Whether to return the gathered matrix too.
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
    output : Tensor
        Shape ``(m * R, n)``; dtype of ``input``.
    gather_out : Tensor
        Shape ``(m * R, k)``; shape ``(0,)`` without ``gather_output``.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``world_size`` is not that of the communicator.
    NotSupportedError
        ``trans_input`` is true.
    AclnnError
        161001: a tensor is missing. 161002: a dtype or a shape is refused. 561002:
        ``gather_index``, ``comm_turn`` or the number of ranks is refused. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``m`` and ``k``. CANN supports 2, 4
    or 8 ranks.
    Emulator: float32 accumulation and one rounding.

    Source
    ------
    aclnnAllGatherMatmul (``include/aclnnop/mc2.h``), CANN >= 8.0.RC2.
    """
    comm = communicator_of(group, world_size)
    input, right = matrices("aclnnAllGatherMatmul", input, x2, trans_input, trans_x2)
    rows, depth = input.shape[0] * comm.world_size, input.shape[1]
    output = empty((rows, right.shape[1]), input.dtype_name, device=comm.device)
    gathered = (rows, depth) if gather_output else (0,)
    gather_out = empty(gathered, input.dtype_name, device=comm.device)
    ops.all_gather_matmul(
        input,
        right,
        bias,
        comm.name,
        gather_index,
        comm_turn,
        STOP_ON_FAILURE,
        output,
        gather_out,
        stream=comm.stream(stream),
    )
    return output, gather_out
