# SPDX-License-Identifier: Apache-2.0
"""Matrix products whose rows are exchanged for columns between the ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import communicator_of, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["all_to_all_matmul", "matmul_all_to_all"]


def all_to_all_matmul(
    x1: Tensor,
    x2: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    trans_x2: bool = False,
    all_to_all_output: bool = True,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Exchange the rows of all ranks' columns, and multiply them by this rank's right matrix.

    Each rank holds some columns of a matrix. It gets a share of the rows with all columns:
    ``output = rows @ x2 + bias``.

    Parameters
    ----------
    x1 : Tensor
        Columns of this rank. Shape ``(BS, H)``, ``BS`` a multiple of R; dtype float16 | bfloat16;
        format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(H * R, N)``, or ``(N, H * R)`` with ``trans_x2``; dtype
        of ``x1``.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        Shape ``(N,)``; dtype float16, or float32 when ``x1`` is bfloat16.
    trans_x2 : bool, default False
        Whether ``x2`` is transposed.
    all_to_all_output : bool, default True
        Whether to return the rows too.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    output : Tensor
        Shape ``(BS / R, N)``; dtype of ``x1``.
    all_to_all_out : Tensor or None
        The rows of this rank. Shape ``(BS / R, H * R)``; None without ``all_to_all_output``.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype or a shape is refused. 561002: the number of ranks is refused. 361001: the
        group is unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``BS`` and ``H``. CANN supports 2, 4
    or 8 ranks.
    Emulator: float32 accumulation and one rounding.

    Source
    ------
    aclnnAlltoAllMatmul (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, world_size)
    tokens, width = tensor_of(x1, "x1", (2,)).shape
    columns = tensor_of(x2, "x2", (2,)).shape[0 if trans_x2 else 1]
    ranks = comm.world_size
    output = empty((tokens // ranks, columns), x1.dtype_name, device=comm.device)
    rows = None
    if all_to_all_output:
        rows = empty((tokens // ranks, width * ranks), x1.dtype_name, device=comm.device)
    ops.allto_all_matmul(
        x1, x2, bias, None, comm.name, False, trans_x2, output, rows, stream=comm.stream(stream)
    )
    return output, rows


def matmul_all_to_all(
    x1: Tensor,
    x2: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    trans_x2: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply two matrices, and exchange the columns of the product for rows of all ranks.

    Rank r gets block r of the columns of every rank's ``x1 @ x2 + bias``.

    Parameters
    ----------
    x1 : Tensor
        Left matrix of this rank. Shape ``(BS, H1)``; dtype float16 | bfloat16; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(H1, H2)``, or ``(H2, H1)`` with ``trans_x2``; ``H2`` a
        multiple of R; dtype of ``x1``.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        Shape ``(H2,)``; dtype float16, or float32 when ``x1`` is bfloat16.
    trans_x2 : bool, default False
        Whether ``x2`` is transposed.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(BS * R, H2 / R)``, the rows of rank 0 first; dtype of ``x1``.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype or a shape is refused. 561002: the number of ranks is refused. 361001: the
        group is unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it with the same ``BS`` and ``H2``. CANN supports 2, 4
    or 8 ranks.
    Emulator: float32 accumulation and one rounding, before the exchange.

    Source
    ------
    aclnnMatmulAlltoAll (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, world_size)
    rows = tensor_of(x1, "x1", (2,)).shape[0]
    columns = tensor_of(x2, "x2", (2,)).shape[0 if trans_x2 else 1]
    ranks = comm.world_size
    output = empty((rows * ranks, columns // ranks), x1.dtype_name, device=comm.device)
    ops.matmul_allto_all(
        x1, x2, bias, None, comm.name, False, trans_x2, output, stream=comm.stream(stream)
    )
    return output
