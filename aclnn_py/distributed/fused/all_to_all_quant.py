# SPDX-License-Identifier: Apache-2.0
"""Quantised matrix products whose rows are exchanged for columns between the ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import communicator_of, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["all_to_all_quant_matmul", "quant_matmul_all_to_all"]

# Quantisation modes of the C interface.
_BY_COLUMN, _BY_TOKEN, _BLOCKS_OF_32, _AS_IT_COMES = 2, 3, 6, 7


def all_to_all_quant_matmul(
    x1: Tensor,
    x2: Tensor,
    x2_scale: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    x1_scale: Tensor | None = None,
    bias: Tensor | None = None,
    trans_x2: bool = False,
    output_dtype: Any = None,
    all_to_all_output: bool = True,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Exchange the rows of all ranks' columns, and multiply them by a quantised right matrix.

    Rows of halves are quantised once this rank has them, each by its largest absolute value.

    Parameters
    ----------
    x1 : Tensor
        Columns of this rank. Shape ``(BS, H)``, ``BS`` a multiple of R; dtype float16 | bfloat16 |
        int4, on a 950 also float8_e4m3fn | float8_e5m2 | float4_e2m1fn; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(H * R, N)``, or ``(N, H * R)`` with ``trans_x2``; dtype
        int8 | int4, on a 950 one of 8 or 4 bits as above.
    x2_scale : Tensor
        Scales of the columns. Shape ``(N,)``; dtype float32. Float8_e8m0fnu for blocks of 32.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    x1_scale : Tensor, optional
        For quantised rows their scales, shape ``(BS,)``; dtype float32, or float8_e8m0fnu for
        blocks of 32. For halves what the columns are multiplied with first, shape ``(H * R,)``;
        dtype of ``x1``.
    bias : Tensor, optional
        Shape ``(N,)``; dtype float32, or that of the result.
    trans_x2 : bool, default False
        Whether ``x2`` is transposed.
    output_dtype : dtype-like, optional
        float16 | bfloat16; default is the dtype of ``x1`` if it is one of them, else float16.
    all_to_all_output : bool, default True
        Whether to return the rows too.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    output : Tensor
        Shape ``(BS / R, N)``; dtype ``output_dtype``.
    all_to_all_out : Tensor or None
        The rows of this rank, not quantised. Shape ``(BS / R, H * R)``; None without
        ``all_to_all_output``.

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

    Source
    ------
    aclnnAlltoAllQuantMatmul (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, world_size)
    tokens, width = tensor_of(x1, "x1", (2,)).shape
    columns = tensor_of(x2, "x2", (2,)).shape[0 if trans_x2 else 1]
    ranks = comm.world_size
    halves = x1.dtype_name in ("float16", "bfloat16")
    given = output_dtype or (x1.dtype_name if halves else "float16")
    output = empty((tokens // ranks, columns), given, device=comm.device)
    rows = None
    if all_to_all_output:
        rows = empty((tokens // ranks, width * ranks), x1.dtype_name, device=comm.device)
    x1_mode, x2_mode = _modes(x2_scale, _AS_IT_COMES if halves else _BY_TOKEN)
    ops.allto_all_quant_matmul(
        x1,
        x2,
        bias,
        x1_scale,
        x2_scale,
        comm_scale=None,
        x1_offset=None,
        x2_offset=None,
        group=comm.name,
        allto_all_axes=None,
        x1_quant_mode=x1_mode,
        x2_quant_mode=x2_mode,
        comm_quant_mode=0,
        comm_quant_dtype=-1,
        x1_quant_dtype=-1,
        group_size=0,
        transpose_x1=False,
        transpose_x2=trans_x2,
        output=output,
        allto_all_out=rows,
        stream=comm.stream(stream),
    )
    return output, rows


def quant_matmul_all_to_all(
    x1: Tensor,
    x2: Tensor,
    x1_scale: Tensor,
    x2_scale: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    bias: Tensor | None = None,
    trans_x2: bool = False,
    output_dtype: Any = "float16",
    stream: Stream | None = None,
) -> Tensor:
    """Multiply quantised matrices, and exchange the columns of the product for rows of all ranks.

    Rank r gets block r of the columns of every rank's product, scaled and with its bias.

    Parameters
    ----------
    x1 : Tensor
        Left matrix of this rank. Shape ``(BS, H1)``; dtype int8, on a 950 float8_e4m3fn |
        float8_e5m2 | float4_e2m1fn; format ND.
    x2 : Tensor
        Right matrix of this rank. Shape ``(H1, H2)``, or ``(H2, H1)`` with ``trans_x2``; ``H2`` a
        multiple of R; dtype of ``x1``.
    x1_scale : Tensor
        Scales of the rows. Shape ``(BS,)``; dtype float32. Float8_e8m0fnu for blocks of 32.
    x2_scale : Tensor
        Scales of the columns. Shape ``(H2,)``; dtype of ``x1_scale``.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    bias : Tensor, optional
        Shape ``(H2,)``; dtype float32, or that of the result. A 910B asks for one.
    trans_x2 : bool, default False
        Whether ``x2`` is transposed.
    output_dtype : dtype-like, default "float16"
        float16 | bfloat16.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(BS * R, H2 / R)``, the rows of rank 0 first; dtype ``output_dtype``.

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

    Source
    ------
    aclnnQuantMatmulAlltoAll (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, world_size)
    rows = tensor_of(x1, "x1", (2,)).shape[0]
    columns = tensor_of(x2, "x2", (2,)).shape[0 if trans_x2 else 1]
    ranks = comm.world_size
    output = empty((rows * ranks, columns // ranks), output_dtype, device=comm.device)
    x1_mode, x2_mode = _modes(x2_scale, _BY_TOKEN)
    ops.quant_matmul_allto_all(
        x1,
        x2,
        bias,
        x1_scale,
        x2_scale,
        comm_scale=None,
        x1_offset=None,
        x2_offset=None,
        allto_all_axes=None,
        group=comm.name,
        x1_quant_mode=x1_mode,
        x2_quant_mode=x2_mode,
        comm_quant_mode=0,
        comm_quant_dtype=-1,
        group_size=0,
        transpose_x1=False,
        transpose_x2=trans_x2,
        output=output,
        stream=comm.stream(stream),
    )
    return output


def _modes(scale: object, rows: int) -> tuple[int, int]:
    """The modes of the rows and of the columns; powers of two are for blocks of 32 values."""
    if isinstance(scale, Tensor) and scale.dtype_name == "float8_e8m0fnu":
        return _BLOCKS_OF_32, _BLOCKS_OF_32
    return rows, _BY_COLUMN
