# SPDX-License-Identifier: Apache-2.0
"""Collectives that move tensors between all ranks of a communicator, and the barrier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aclnn_py.distributed import groups
from aclnn_py.distributed.groups import Group
from aclnn_py.distributed.operands import counts, operand, queue, rank_in, same_count, same_type
from aclnn_py.operators.describe.argument_errors import whole_numbers
from aclnn_py.tensor.creation import empty, from_numpy

if TYPE_CHECKING:
    from aclnn_py.distributed.communicator import Communicator
    from aclnn_py.runtime.stream import Stream
    from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "scatter",
]


def all_gather_into_tensor(
    output_tensor: Tensor,
    input_tensor: Tensor,
    group: Group = None,
    *,
    stream: Stream | None = None,
) -> None:
    """Gather the tensors of all ranks into one tensor on every rank.

    The elements of rank 0 come first, then those of rank 1, and so on; they fill ``output_tensor``
    in order, whatever its shape is. With inputs of shape ``(a, b)`` on ``R`` ranks an output of
    shape ``(R*a, b)`` is their concatenation, one of shape ``(R, a, b)`` their stack.

    Parameters
    ----------
    output_tensor : Tensor
        Result, with ``R`` times the elements of the input in any shape; contiguous.
    input_tensor : Tensor
        Operand; the same shape and dtype on every rank; contiguous.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        The size of the output is not ``R`` times that of the input, or a tensor has gaps.
    TypeError
        The dtypes differ.
    DeviceMismatchError
        A tensor or the stream is not on the communicator's device.
    HcclError
        HCCL refused the call; the message names the rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclAllGather (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    out = operand(output_tensor, "output_tensor", comm, moved=True)
    mine = operand(input_tensor, "input_tensor", comm, moved=True)
    same_type(mine, out, ("input_tensor", "output_tensor"))
    if out.count != mine.count * comm.world_size:
        raise ValueError(
            f"output_tensor: {output_tensor.shape} has {output_tensor.count} elements, expected"
            f" world size {comm.world_size} times the {input_tensor.count} of input_tensor"
            f" {input_tensor.shape}"
        )
    queue(
        comm,
        "HcclAllGather",
        stream,
        (input_tensor, output_tensor),
        lambda call, raw, on: call(mine.address, out.address, mine.count, mine.hccl_type, raw, on),
    )


def all_gather(
    tensor: Tensor,
    rows: Sequence[int] | None = None,
    group: Group = None,
    *,
    stream: Stream | None = None,
) -> list[Tensor]:
    """Gather tensors that may have different numbers of rows on different ranks.

    Parameters
    ----------
    tensor : Tensor
        Shape ``(n_r, ...)`` on rank ``r``; all but the first dimension and the dtype the same on
        every rank; contiguous.
    rows : Sequence[int], optional
        ``n_r`` of every rank. By default the ranks exchange them first, and wait for the device.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    list[Tensor]
        Item ``r`` is the tensor of rank ``r``. All items are views of one new buffer.

    Raises
    ------
    TypeError
        ``rows`` is no sequence of ints.
    ValueError
        ``rows`` does not fit, or the tensor has gaps or no dimensions.
    HcclError
        HCCL refused the call; the message names the rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclAllGatherV, HcclAllGather (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    mine = operand(tensor, "tensor", comm, moved=True)
    if not tensor.shape:
        raise ValueError("tensor: expected at least one dimension")
    sizes = (
        _exchanged_rows(tensor.shape[0], comm, stream)
        if rows is None
        else whole_numbers("rows", rows)
    )
    if len(sizes) != comm.world_size or sizes[comm.rank] != tensor.shape[0] or min(sizes) < 0:
        raise ValueError(
            f"rows: expected {comm.world_size} numbers with {tensor.shape[0]} for rank {comm.rank},"
            f" got {sizes}"
        )
    whole = empty((sum(sizes), *tensor.shape[1:]), tensor.dtype_name, device=comm.device)
    if len(set(sizes)) == 1:
        all_gather_into_tensor(whole, tensor, comm, stream=stream)
    else:
        out = operand(whole, "whole", comm, moved=True)
        per_row = math.prod(tensor.shape[1:]) * mine.items_per_element
        number, offset, _ = counts(sizes, per_row)
        queue(
            comm,
            "HcclAllGatherV",
            stream,
            (tensor, whole),
            lambda call, raw, on: call(
                mine.address, mine.count, out.address, number, offset, mine.hccl_type, raw, on
            ),
        )
    ends = np.cumsum(sizes).tolist()
    return [whole[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _exchanged_rows(own: int, comm: Communicator, stream: Stream | None) -> tuple[int, ...]:
    mine = from_numpy(np.array([own], np.int64), device=comm.device)
    out = empty((comm.world_size,), np.int64, device=comm.device)
    all_gather_into_tensor(out, mine, comm, stream=stream)
    return tuple(int(size) for size in out.numpy())


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
    *,
    stream: Stream | None = None,
) -> None:
    """Send part ``r`` of the input to rank ``r``, and receive part ``r`` of the output from it.

    Parameters
    ----------
    output : Tensor
        Received parts in rank order, along the first dimension; contiguous; in its own memory.
    input : Tensor
        Parts to send in rank order, along the first dimension; contiguous; same dtype.
    output_split_sizes, input_split_sizes : Sequence[int], optional
        Number of rows of each part, one per rank; by default the parts are equal.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        The split sizes do not add up to the number of rows, or the parts cannot be equal.
    TypeError
        The dtypes differ.
    HcclError
        HCCL refused the call; the message names the rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it. What rank ``a`` sends to rank ``b`` must have the
    size that ``b`` expects from ``a``.

    Source
    ------
    HcclAlltoAll, HcclAlltoAllV (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    out = operand(output, "output", comm, moved=True)
    mine = operand(input, "input", comm, moved=True)
    same_type(mine, out, ("input", "output"))
    if output_split_sizes is None and input_split_sizes is None:
        same_count(mine.count, out.count, "output")
        part, rest = divmod(mine.count, comm.world_size)
        if rest or (input.shape and input.shape[0] % comm.world_size):
            raise ValueError(
                f"input: {input.shape} cannot be cut into {comm.world_size} equal parts"
            )
        queue(
            comm,
            "HcclAlltoAll",
            stream,
            (input, output),
            lambda call, raw, on: call(
                mine.address, part, mine.hccl_type, out.address, part, out.hccl_type, raw, on
            ),
        )
        return
    sent = _split(input, input_split_sizes, "input_split_sizes", comm, mine.items_per_element)
    kept = _split(output, output_split_sizes, "output_split_sizes", comm, out.items_per_element)
    queue(
        comm,
        "HcclAlltoAllV",
        stream,
        (input, output),
        lambda call, raw, on: call(
            mine.address, *sent, mine.hccl_type, out.address, *kept, out.hccl_type, raw, on
        ),
    )


def broadcast(
    tensor: Tensor, src: int, group: Group = None, *, stream: Stream | None = None
) -> None:
    """Copy the tensor of one rank to all others.

    Parameters
    ----------
    tensor : Tensor
        Source on rank ``src``, target on the others; the same size and dtype on every rank.
    src : int
        Rank whose data is copied.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        ``src`` is out of range, or the tensor has gaps.
    HcclError
        HCCL refused the call; the message names the rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclBroadcast (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    mine = operand(tensor, "tensor", comm, moved=True)
    root = rank_in(comm, src, "src")
    queue(
        comm,
        "HcclBroadcast",
        stream,
        (tensor,),
        lambda call, raw, on: call(mine.address, mine.count, mine.hccl_type, root, raw, on),
    )


def scatter(
    output: Tensor,
    input: Tensor | None,
    src: int,
    group: Group = None,
    *,
    stream: Stream | None = None,
) -> None:
    """Divide a tensor of one rank into equal parts and give each rank one of them.

    Parameters
    ----------
    output : Tensor
        This rank's part; contiguous.
    input : Tensor or None
        On rank ``src`` a tensor with ``R`` times the elements of the output, elsewhere None.
    src : int
        Rank whose tensor is divided.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        ``input`` is missing on ``src`` or its size does not fit; ``src`` is out of range.
    TypeError
        The dtypes differ.
    HcclError
        HCCL refused the call; the message names the rank.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclScatter (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    out = operand(output, "output", comm, moved=True)
    root = rank_in(comm, src, "src")
    if comm.rank != root:
        whole = out  # not read here, but HCCL refuses a null pointer on every rank
    elif input is None:
        raise ValueError(f"input: required on rank {root}, whose tensor is divided")
    else:
        whole = operand(input, "input", comm, moved=True)
        same_type(whole, out, ("input", "output"))
        if whole.count != out.count * comm.world_size:
            raise ValueError(
                f"input: {input.shape} has {input.count} elements, expected world size"
                f" {comm.world_size} times the {output.count} of output {output.shape}"
            )
    queue(
        comm,
        "HcclScatter",
        stream,
        (whole.tensor, output),
        lambda call, raw, on: call(
            whole.address, out.address, out.count, out.hccl_type, root, raw, on
        ),
    )


def barrier(
    group: Group = None, *, stream: Stream | None = None, timeout_s: float | None = None
) -> None:
    """Wait until every rank has reached the barrier and earlier work of this rank is done.

    Parameters
    ----------
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream whose work is waited for; default is the current stream.
    timeout_s : float, optional
        Seconds to wait; default is HCCL's own limit, HCCL_EXEC_TIMEOUT.

    Raises
    ------
    RankLostError
        A rank of the job has ended; ``ranks`` holds its number.
    DeviceTimeoutError
        Some rank did not come in time.

    Notes
    -----
    Collective: every rank of ``group`` calls it.

    Source
    ------
    HcclBarrier (``include/hccl/hccl_comm.h``).
    """
    groups.resolve(group).barrier(stream=stream, timeout_s=timeout_s)


def _split(
    tensor: Tensor, sizes: Sequence[int] | None, argument: str, comm: Communicator, items: int
) -> tuple[object, object]:
    if not tensor.shape:
        raise ValueError(f"{argument}: a tensor without dimensions cannot be split")
    rows, ranks = tensor.shape[0], comm.world_size
    if sizes is None:
        if rows % ranks:
            raise ValueError(f"{argument}: {rows} rows cannot be cut into {ranks} equal parts")
        sizes = [rows // ranks] * ranks
    sizes = whole_numbers(argument, sizes)
    if len(sizes) != ranks or sum(sizes) != rows or min(sizes) < 0:
        raise ValueError(
            f"{argument}: expected {ranks} numbers with the sum {rows}, got {list(sizes)}"
        )
    number, offset, _ = counts(sizes, math.prod(tensor.shape[1:]) * items)
    return number, offset
