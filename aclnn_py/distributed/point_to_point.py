# SPDX-License-Identifier: Apache-2.0
"""Transfers between two ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aclnn_py._ffi import ffi
from aclnn_py.distributed import groups
from aclnn_py.distributed.groups import Group
from aclnn_py.distributed.operands import operand, queue, rank_in
from aclnn_py.operators.describe.argument_errors import expect_sequence

if TYPE_CHECKING:
    from aclnn_py.distributed.communicator import Communicator
    from aclnn_py.runtime.stream import Stream
    from aclnn_py.tensor.tensor import Tensor

__all__ = ["batch_send_recv", "recv", "send"]

_SEND, _RECV = 0, 1


def send(tensor: Tensor, dst: int, group: Group = None, *, stream: Stream | None = None) -> None:
    """Send a tensor to another rank, which calls ``recv``.

    Parameters
    ----------
    tensor : Tensor
        What is sent; contiguous.
    dst : int
        Rank that receives; not this one.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        ``dst`` is this rank or out of range, or the tensor has gaps.
    HcclError
        HCCL refused the call; the message names the rank.

    Source
    ------
    HcclSend (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    mine = operand(tensor, "tensor", comm, moved=True)
    peer = _peer(comm, dst, "dst")
    queue(
        comm,
        "HcclSend",
        stream,
        (tensor,),
        lambda call, raw, on: call(mine.address, mine.count, mine.hccl_type, peer, raw, on),
    )


def recv(tensor: Tensor, src: int, group: Group = None, *, stream: Stream | None = None) -> None:
    """Receive a tensor from another rank, which calls ``send``.

    Parameters
    ----------
    tensor : Tensor
        Where it is received: number of elements and dtype of the sent tensor; contiguous.
    src : int
        Rank that sends; not this one.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        ``src`` is this rank or out of range, or the tensor has gaps.
    HcclError
        HCCL refused the call; the message names the rank.

    Source
    ------
    HcclRecv (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    mine = operand(tensor, "tensor", comm, moved=True)
    peer = _peer(comm, src, "src")
    queue(
        comm,
        "HcclRecv",
        stream,
        (tensor,),
        lambda call, raw, on: call(mine.address, mine.count, mine.hccl_type, peer, raw, on),
    )


def batch_send_recv(
    sends: Sequence[tuple[Tensor, int]] = (),
    recvs: Sequence[tuple[Tensor, int]] = (),
    group: Group = None,
    *,
    stream: Stream | None = None,
) -> None:
    """Send and receive several tensors at once, each as soon as it is possible.

    Between two ranks the n-th send belongs to the n-th receive.

    Parameters
    ----------
    sends : Sequence[tuple[Tensor, int]]
        Tensors to send, each with the rank that receives it.
    recvs : Sequence[tuple[Tensor, int]]
        Tensors to overwrite, each with the rank that sends it.
    group : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Raises
    ------
    ValueError
        A rank is this one or out of range, or a tensor has gaps.
    HcclError
        HCCL refused the call; the message names the rank.

    Source
    ------
    HcclBatchSendRecv (``include/hccl/hccl.h``).
    """
    comm = groups.resolve(group)
    items = []
    for kind, name, pairs in ((_SEND, "sends", sends), (_RECV, "recvs", recvs)):
        expect_sequence(name, pairs, "(tensor, rank)")
        for index, pair in enumerate(pairs):
            expect_sequence(f"{name}[{index}]", pair, "a tensor and a rank")
            if len(pair) != 2:
                raise ValueError(f"{name}[{index}]: expected (tensor, rank), got {len(pair)} items")
            tensor, rank = pair
            one = operand(tensor, f"{name}[{index}]", comm, moved=True)
            items.append((kind, one, _peer(comm, rank, f"{name}[{index}]")))
    if not items:
        return
    array = ffi.new("HcclSendRecvItem[]", len(items))
    for cell, (kind, one, peer) in zip(array, items, strict=True):
        cell.sendRecvType = kind
        cell.buf = one.address
        cell.count = one.count
        cell.dataType = one.hccl_type
        cell.remoteRank = peer
    queue(
        comm,
        "HcclBatchSendRecv",
        stream,
        [one.tensor for _, one, _ in items],
        lambda call, raw, on: call(array, len(items), raw, on),
    )


def _peer(comm: Communicator, rank: int, argument: str) -> int:
    if rank_in(comm, rank, argument) == comm.rank:
        raise ValueError(f"{argument}: {rank} is this rank itself")
    return rank
