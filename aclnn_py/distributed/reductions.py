# SPDX-License-Identifier: Apache-2.0
"""Collectives that combine the tensors of all ranks element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aclnn_py.distributed import groups
from aclnn_py.distributed.groups import Group
from aclnn_py.distributed.operands import (
    operand,
    queue,
    rank_in,
    reduce_operation,
    same_count,
    same_type,
)

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream
    from aclnn_py.tensor.tensor import Tensor

__all__ = ["all_reduce", "reduce", "reduce_scatter_tensor"]


def all_reduce(
    tensor: Tensor,
    op: str = "sum",
    group: Group = None,
    *,
    output: Tensor | None = None,
    stream: Stream | None = None,
) -> None:
    """Combine the tensors of all ranks element by element, with the result on every rank.

    Parameters
    ----------
    tensor : Tensor
        Operand, and result unless ``output`` is given; the same shape and dtype on every rank.
    op : {"sum", "prod", "max", "min"}, default "sum"
        How elements are combined.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    output : Tensor, optional
        Result, with the number of elements and the dtype of ``tensor``; default is ``tensor``.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        ``op`` is unknown, the sizes differ or a tensor has gaps.
    TypeError
        The dtypes differ, or HCCL does not know the dtype.
    HcclError
        HCCL refused the call, for example ``prod`` of int16 or bfloat16. The message names the
        rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclAllReduce (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    result = tensor if output is None else output
    mine = operand(tensor, "tensor", comm, moved=False)
    out = operand(result, "output", comm, moved=False)
    same_type(mine, out, ("tensor", "output"))
    same_count(mine.count, out.count, "output")
    number = reduce_operation(op)
    queue(
        comm,
        "HcclAllReduce",
        stream,
        (tensor, result),
        lambda call, raw, on: call(
            mine.address, out.address, mine.count, mine.hccl_type, number, raw, on
        ),
    )


def reduce(
    tensor: Tensor,
    dst: int,
    op: str = "sum",
    group: Group = None,
    *,
    output: Tensor | None = None,
    stream: Stream | None = None,
) -> None:
    """Combine the tensors of all ranks element by element, with the result on one rank.

    Parameters
    ----------
    tensor : Tensor
        Operand, and on rank ``dst`` the result unless ``output`` is given. Its values are undefined
        afterwards on the other ranks.
    dst : int
        Rank that gets the result.
    op : {"sum", "prod", "max", "min"}, default "sum"
        How elements are combined.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    output : Tensor, optional
        Result, with the number of elements and the dtype of ``tensor``; default is ``tensor``.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        ``op`` or ``dst`` is out of range, the sizes differ or a tensor has gaps.
    TypeError
        The dtypes differ, or HCCL does not know the dtype.
    HcclError
        HCCL refused the call; the message names the rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclReduce (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    result = tensor if output is None else output
    mine = operand(tensor, "tensor", comm, moved=False)
    out = operand(result, "output", comm, moved=False)
    same_type(mine, out, ("tensor", "output"))
    same_count(mine.count, out.count, "output")
    number = reduce_operation(op)
    root = rank_in(comm, dst, "dst")
    queue(
        comm,
        "HcclReduce",
        stream,
        (tensor, result),
        lambda call, raw, on: call(
            mine.address, out.address, mine.count, mine.hccl_type, number, root, raw, on
        ),
    )


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: str = "sum",
    group: Group = None,
    *,
    stream: Stream | None = None,
) -> None:
    """Combine the tensors of all ranks element by element, and give each rank a part of the result.

    The flat result has ``R`` equal parts; rank ``r`` gets part ``r``.

    Parameters
    ----------
    output : Tensor
        This rank's part; any shape; contiguous.
    input : Tensor
        ``R`` times the elements of the output; the same shape and dtype on every rank; contiguous.
    op : {"sum", "prod", "max", "min"}, default "sum"
        How elements are combined.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        The size of the input is not ``R`` times that of the output, or a tensor has gaps.
    TypeError
        The dtypes differ, or HCCL does not know the dtype.
    HcclError
        HCCL refused the call; the message names the rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclReduceScatter (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    out = operand(output, "output", comm, moved=False)
    mine = operand(input, "input", comm, moved=False)
    same_type(mine, out, ("input", "output"))
    if mine.count != out.count * comm.world_size:
        raise ValueError(
            f"input: {input.shape} has {input.count} elements, expected world size"
            f" {comm.world_size} times the {output.count} of output {output.shape}"
        )
    number = reduce_operation(op)
    queue(
        comm,
        "HcclReduceScatter",
        stream,
        (input, output),
        lambda call, raw, on: call(
            mine.address, out.address, out.count, mine.hccl_type, number, raw, on
        ),
    )
