# SPDX-License-Identifier: Apache-2.0
"""Dispatch and combine in halves: other work may run on the device between setup and teardown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import communicator_of, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.operators.describe.argument_errors import expect_whole, type_name
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = [
    "CombineSetup",
    "DispatchSetup",
    "DispatchedRows",
    "moe_distribute_combine_setup",
    "moe_distribute_combine_teardown",
    "moe_distribute_dispatch_setup",
    "moe_distribute_dispatch_teardown",
]

_COMM_TYPE = 2  # the only one: ranks write to each other
_ASSIST_PER_ROW = 128
_WORDS_PER_COMMAND = 16


class DispatchSetup(NamedTuple):
    """What `moe_distribute_dispatch_setup` returns."""

    y: Tensor
    """The rows that leave, sorted by expert. Shape ``(BS * K, H)``."""
    expand_idx: Tensor
    """The place of each choice among those of its expert, int32, shape ``(BS * K,)``."""
    comm_cmd_info: Tensor
    """What goes where, for the teardown."""


class DispatchedRows(NamedTuple):
    """What `moe_distribute_dispatch_teardown` returns."""

    expand_x: Tensor
    """Rows for the experts of this rank, those of an expert together. Shape ``(A, H)``."""
    assist_info_for_combine: Tensor
    """For `moe_distribute_combine_setup`."""
    expert_token_nums: Tensor
    """Rows of each expert of this rank, int64: counts, or their sums."""


class CombineSetup(NamedTuple):
    """What `moe_distribute_combine_setup` returns."""

    quant_expand_x: Tensor
    """Memory of the teardown, int8."""
    comm_cmd_info: Tensor
    """What goes where, for the teardown."""


def moe_distribute_dispatch_setup(
    x: Tensor,
    expert_ids: Tensor,
    group_ep: Group = None,
    ep_world_size: int | None = None,
    *,
    moe_expert_num: int,
    x_active_mask: Tensor | None = None,
    global_bs: int = 0,
    stream: Stream | None = None,
) -> DispatchSetup:
    """Sort tokens by their experts, so that `moe_distribute_dispatch_teardown` can send them.

    Parameters
    ----------
    x : Tensor
        Tokens of this rank. Shape ``(BS, H)``; dtype float16 | bfloat16; format ND.
    expert_ids : Tensor
        Experts of each token, none twice. Shape ``(BS, K)``; dtype int32.
    group_ep : Communicator or str, optional
        Ranks that share the experts; default is the first one made on the current device.
    ep_world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    moe_expert_num : int
        Number of experts on all ranks.
    x_active_mask : Tensor, optional
        Which tokens take part, the true values first. Shape ``(BS,)``; dtype bool.
    global_bs : int, default 0
        R times the most tokens of any rank; 0 when all ranks have the same number.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    DispatchSetup
        Its tensors must keep their values until the teardown has run.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``ep_world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype is refused. 561002: a shape or a number is refused. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    The operator is for chips of the 950 series.

    Source
    ------
    aclnnMoeDistributeDispatchSetup (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group_ep, ep_world_size)
    tokens, width = tensor_of(x, "x", (2,)).shape
    each = tensor_of(expert_ids, "expert_ids", (2,)).shape[1]
    expect_whole(moe_expert_num=moe_expert_num, global_bs=global_bs)
    # Behind a command for each row is one for each expert of all ranks.
    commands = (tokens * each + moe_expert_num) * _WORDS_PER_COMMAND
    out = DispatchSetup(
        empty((tokens * each, width), x.dtype_name, device=comm.device),
        empty((tokens * each,), "int32", device=comm.device),
        empty((commands,), "int32", device=comm.device),
    )
    ops.moe_distribute_dispatch_setup(
        x, expert_ids, None, x_active_mask, comm.name, comm.world_size, comm.rank, moe_expert_num,
        0, 0, 0, 0, global_bs, _COMM_TYPE, "", *out,
        stream=comm.stream(stream),
    )  # fmt: skip
    return out


def moe_distribute_dispatch_teardown(
    x: Tensor,
    expert_ids: Tensor,
    setup: DispatchSetup,
    group_ep: Group = None,
    ep_world_size: int | None = None,
    *,
    moe_expert_num: int,
    global_bs: int = 0,
    expert_token_nums_type: int = 1,
    stream: Stream | None = None,
) -> DispatchedRows:
    """Send the rows of `moe_distribute_dispatch_setup`, and take those of the other ranks.

    Parameters
    ----------
    x : Tensor
        What the setup got.
    expert_ids : Tensor
        What the setup got.
    setup : DispatchSetup
        What the setup returned.
    group_ep : Communicator or str, optional
        What the setup got.
    ep_world_size : int, optional
        What the setup got.
    moe_expert_num : int
        What the setup got.
    global_bs : int, default 0
        What the setup got.
    expert_token_nums_type : int, default 1
        1: ``expert_token_nums`` counts. 0: it adds up from expert to expert.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    DispatchedRows
        Room for as many rows as this rank can get: ``R * BS * min(n, K)``, n being the number of
        experts of a rank. Rows behind the last token are not written.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``ep_world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype is refused. 561002: a shape or a number is refused. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group_ep`` calls it. The operator is for chips of the 950 series.

    Source
    ------
    aclnnMoeDistributeDispatchTeardown (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group_ep, ep_world_size)
    _expect(setup, DispatchSetup, "setup", "moe_distribute_dispatch_setup")
    tokens, width = tensor_of(x, "x", (2,)).shape
    each = tensor_of(expert_ids, "expert_ids", (2,)).shape[1]
    expect_whole(moe_expert_num=moe_expert_num, global_bs=global_bs)
    ranks = comm.world_size
    local = moe_expert_num // ranks
    rows = (global_bs or tokens * ranks) * min(local, each)
    out = DispatchedRows(
        empty((rows, width), x.dtype_name, device=comm.device),
        empty((rows * _ASSIST_PER_ROW,), "int32", device=comm.device),
        empty((local,), "int64", device=comm.device),
    )
    scales = empty((rows,), "float32", device=comm.device)
    ops.moe_distribute_dispatch_teardown(
        x, setup.y, expert_ids, setup.comm_cmd_info, comm.name, ranks, comm.rank, moe_expert_num,
        0, 0, 0, 0, global_bs, expert_token_nums_type, _COMM_TYPE, "",
        out.expand_x, scales, out.assist_info_for_combine, out.expert_token_nums,
        stream=comm.stream(stream),
    )  # fmt: skip
    return out


def moe_distribute_combine_setup(
    expand_x: Tensor,
    expert_ids: Tensor,
    dispatched: DispatchedRows,
    group_ep: Group = None,
    ep_world_size: int | None = None,
    *,
    moe_expert_num: int,
    global_bs: int = 0,
    stream: Stream | None = None,
) -> CombineSetup:
    """Write down where the results of the experts go, for `moe_distribute_combine_teardown`.

    Parameters
    ----------
    expand_x : Tensor
        Results of the experts of this rank, in the rows that dispatch gave them. Shape ``(A, H)``;
        dtype float16 | bfloat16; format ND.
    expert_ids : Tensor
        What dispatch got.
    dispatched : DispatchedRows
        What `moe_distribute_dispatch_teardown` returned.
    group_ep : Communicator or str, optional
        What dispatch got.
    ep_world_size : int, optional
        What dispatch got.
    moe_expert_num : int
        What dispatch got.
    global_bs : int, default 0
        What dispatch got.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    CombineSetup
        Its tensors and ``expand_x`` must keep their values until the teardown has run.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``ep_world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype is refused. 561002: a shape or a number is refused. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    The operator is for chips of the 950 series.

    Source
    ------
    aclnnMoeDistributeCombineSetup (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group_ep, ep_world_size)
    _expect(dispatched, DispatchedRows, "dispatched", "moe_distribute_dispatch_teardown")
    rows, width = tensor_of(expand_x, "expand_x", (2,)).shape
    out = CombineSetup(
        empty((rows, _message_bytes(width)), "int8", device=comm.device),
        empty(((rows + comm.world_size) * _WORDS_PER_COMMAND,), "int32", device=comm.device),
    )
    ops.moe_distribute_combine_setup(
        expand_x, expert_ids, dispatched.assist_info_for_combine, comm.name, comm.world_size,
        comm.rank, moe_expert_num, 0, 0, 0, global_bs, 0, _COMM_TYPE, "", *out,
        stream=comm.stream(stream),
    )  # fmt: skip
    return out


def moe_distribute_combine_teardown(
    expand_x: Tensor,
    expert_ids: Tensor,
    sent: DispatchSetup,
    setup: CombineSetup,
    expert_scales: Tensor,
    group_ep: Group = None,
    ep_world_size: int | None = None,
    *,
    moe_expert_num: int,
    x_active_mask: Tensor | None = None,
    shared_expert_x: Tensor | None = None,
    global_bs: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Bring what the experts made of the tokens back and add it up for each token.

    Parameters
    ----------
    expand_x : Tensor
        What the setup got.
    expert_ids : Tensor
        What dispatch got.
    sent : DispatchSetup
        What `moe_distribute_dispatch_setup` returned.
    setup : CombineSetup
        What `moe_distribute_combine_setup` returned.
    expert_scales : Tensor
        Weights of the experts. Shape ``(BS, K)``; dtype float32.
    group_ep : Communicator or str, optional
        What dispatch got.
    ep_world_size : int, optional
        What dispatch got.
    moe_expert_num : int
        What dispatch got.
    x_active_mask : Tensor, optional
        What dispatch got.
    shared_expert_x : Tensor, optional
        What this rank's own shared expert made of the tokens. Shape ``(BS, H)``; dtype of
        ``expand_x``.
    global_bs : int, default 0
        What dispatch got.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Tensor
        Shape ``(BS, H)``; dtype of ``expand_x``.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``ep_world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype is refused. 561002: a shape or a number is refused. 361001: the group is
        unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group_ep`` calls it. The operator is for chips of the 950 series.

    Source
    ------
    aclnnMoeDistributeCombineTeardown (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group_ep, ep_world_size)
    _expect(sent, DispatchSetup, "sent", "moe_distribute_dispatch_setup")
    _expect(setup, CombineSetup, "setup", "moe_distribute_combine_setup")
    width = tensor_of(expand_x, "expand_x", (2,)).shape[1]
    tokens = tensor_of(expert_ids, "expert_ids", (2,)).shape[0]
    out = empty((tokens, width), expand_x.dtype_name, device=comm.device)
    ops.moe_distribute_combine_teardown(
        expand_x, setup.quant_expand_x, expert_ids, sent.expand_idx, expert_scales,
        setup.comm_cmd_info, x_active_mask, shared_expert_x, comm.name, comm.world_size, comm.rank,
        moe_expert_num, 0, 0, 0, global_bs, 0, _COMM_TYPE, "", out,
        stream=comm.stream(stream),
    )  # fmt: skip
    return out


def _expect(value: object, kind: type, argument: str, maker: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{argument}: expected the result of {maker}, got {type_name(value)}")


def _message_bytes(width: int) -> int:
    """The bytes of a row of combine on its way: values of 8 bits and a scale for 8 of them."""
    bytes_ = -(-width // 32) * 32 + -(-width // 8) * 4
    return -(-bytes_ // 512) * 512
