# SPDX-License-Identifier: Apache-2.0
"""A barrier on the streams of the ranks, between operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import communicator_of
from aclnn_py.distributed.groups import Group
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.tensor.creation import full, zeros
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["distribute_barrier"]


def distribute_barrier(
    x: Tensor,
    group: Group = None,
    world_size: int | None = None,
    *,
    time_out: int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Hold the stream until all ranks of the group have come here.

    Parameters
    ----------
    x : Tensor
        Tensor that what stands before and behind the barrier depends on; it is not changed. Dtype
        bfloat16 | float16 | float32 | bool | int8 | int16 | int32 | int64 | uint8 | uint16 |
        uint32 | uint64; format ND.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    time_out : int, optional
        Microseconds after which the wait is a fault; default is the limit of the library.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        ``x``.

    Raises
    ------
    ValueError
        ``world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype is refused. 561002: the number of ranks is refused. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group`` calls it. `distributed.barrier` holds the host instead.

    Source
    ------
    aclnnDistributeBarrier, with ``time_out`` aclnnDistributeBarrierV2 (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group, world_size)
    expect_tensors(x=x)
    on = comm.stream(stream)
    if time_out is None:
        ops.distribute_barrier(x, comm.name, comm.world_size, stream=on)
        return x
    expect_whole(time_out=time_out)
    limit = full((1,), time_out, "int32", device=comm.device)
    everyone = zeros((4 + 2 * comm.world_size,), "int32", device=comm.device)
    ops.distribute_barrier_v2(x, limit, everyone, comm.name, comm.world_size, stream=on)
    return x
