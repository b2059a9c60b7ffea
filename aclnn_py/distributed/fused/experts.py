# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts whose experts lie on several ranks: tokens go to them and come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aclnn_py import ops
from aclnn_py.distributed.communicator import Communicator
from aclnn_py.distributed.fused.arguments import communicator_of, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.operators.describe.argument_errors import expect_whole, type_name
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["Dispatched", "moe_distribute_combine", "moe_distribute_dispatch"]

_DYNAMIC = 2  # quant_mode: a scale per token
_ASSIST_PER_ROW = 128


class Dispatched(NamedTuple):
    """What `moe_distribute_dispatch` returns. Rows behind the last token are not written."""

    expand_x: Tensor
    """Rows for the experts of this rank, those of an expert together. Shape ``(A, H)``."""
    dynamic_scales: Tensor
    """The scale of each row with ``quant_mode`` 2, float32, shape ``(A,)``; else shape ``(0,)``."""
    assist_info_for_combine: Tensor
    """For `moe_distribute_combine`."""
    expert_token_nums: Tensor
    """Rows of each expert of this rank, int64: counts, or their sums."""
    ep_recv_counts: Tensor
    """For `moe_distribute_combine`."""


def moe_distribute_dispatch(
    x: Tensor,
    expert_ids: Tensor,
    group_ep: Group = None,
    ep_world_size: int | None = None,
    *,
    moe_expert_num: int,
    scales: Tensor | None = None,
    x_active_mask: Tensor | None = None,
    shared_expert_num: int = 0,
    shared_expert_rank_num: int = 0,
    quant_mode: int = 0,
    global_bs: int = 0,
    expert_token_nums_type: int = 1,
    comm_alg: str = "",
    zero_expert_num: int = 0,
    copy_expert_num: int = 0,
    const_expert_num: int = 0,
    stream: Stream | None = None,
) -> Dispatched:
    """Send each token to the ranks of the experts that it has chosen.

    Expert e lies on rank ``shared_expert_rank_num + e // n``, n being the number of experts that a
    rank has. The rows that come are sorted by expert, then by rank.

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
    scales : Tensor, optional
        Factors of the tokens of each expert with ``quant_mode`` 2. Shape ``(shared experts +
        moe_expert_num, H)``; dtype float32.
    x_active_mask : Tensor, optional
        Which tokens take part: shape ``(BS,)`` with the true values first, or, not on an A2,
        ``(BS, K)``; dtype bool.
    shared_expert_num : int, default 0
        Experts that every token goes to, which lie on the first ``shared_expert_rank_num`` ranks.
    shared_expert_rank_num : int, default 0
        Number of ranks with a shared expert; on an A2 only 0.
    quant_mode : int, default 0
        0: tokens travel as they are. 2: as int8 with a scale per row.
    global_bs : int, default 0
        R times the most tokens of any rank; 0 when all ranks have the same number.
    expert_token_nums_type : int, default 1
        1: ``expert_token_nums`` counts. 0: it adds up from expert to expert.
    comm_alg : str, default ""
        The way tokens travel, of which the numbers do not depend.
    zero_expert_num : int, default 0
        Experts behind the last one, which make zeros of a token; it is not sent.
    copy_expert_num : int, default 0
        Experts behind those, which give the token back.
    const_expert_num : int, default 0
        Experts behind those, which mix the token with a constant; on an A2 only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    Dispatched
        Room for as many rows as this rank can get: ``R * BS * min(n, K)``.

    Raises
    ------
    ValueError
        A tensor is not a matrix, or ``ep_world_size`` is not that of the communicator.
    AclnnError
        161002: a dtype is refused. 561002: a shape, a number or the number of ranks is refused.
        361001: the group is unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group_ep`` calls it with the same ``H``, ``K`` and numbers. An
    expert that does not exist is a fault of the stream on all ranks.
    A2: H is a multiple of 32. Other chips: H is 1024 to 8192.

    Source
    ------
    aclnnMoeDistributeDispatchV3 (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group_ep, ep_world_size)
    tokens, width = tensor_of(x, "x", (2,)).shape
    each = tensor_of(expert_ids, "expert_ids", (2,)).shape[1]
    expect_whole(
        moe_expert_num=moe_expert_num,
        shared_expert_num=shared_expert_num,
        shared_expert_rank_num=shared_expert_rank_num,
        global_bs=global_bs,
    )
    ranks = comm.world_size
    most = global_bs // ranks if global_bs else tokens
    here, rows = _share(comm, most, each, moe_expert_num, shared_expert_num, shared_expert_rank_num)
    quantised = quant_mode == _DYNAMIC
    on = comm.device
    out = Dispatched(
        empty((rows, width), "int8" if quantised else x.dtype_name, device=on),
        empty((rows if quantised else 0,), "float32", device=on),
        empty((rows * _ASSIST_PER_ROW,), "int32", device=on),
        empty((here,), "int64", device=on),
        empty((ranks * here,), "int32", device=on),
    )
    ops.moe_distribute_dispatch_v3(
        x, expert_ids, scales, x_active_mask, None, None,
        comm.name, ranks, comm.rank, moe_expert_num, "", 0, 0, 0,
        shared_expert_num, shared_expert_rank_num, quant_mode, global_bs, expert_token_nums_type,
        comm_alg, zero_expert_num, copy_expert_num, const_expert_num,
        out.expand_x, out.dynamic_scales, out.assist_info_for_combine, out.expert_token_nums,
        out.ep_recv_counts, None, empty((rows,), "float32", device=on),
        stream=comm.stream(stream),
    )  # fmt: skip
    return out


def moe_distribute_combine(
    expand_x: Tensor,
    expert_ids: Tensor,
    dispatched: Dispatched,
    expert_scales: Tensor,
    group_ep: Group = None,
    ep_world_size: int | None = None,
    *,
    moe_expert_num: int,
    x_active_mask: Tensor | None = None,
    shared_expert_x: Tensor | None = None,
    ori_x: Tensor | None = None,
    const_expert_alpha1: Tensor | None = None,
    const_expert_alpha2: Tensor | None = None,
    const_expert_v: Tensor | None = None,
    shared_expert_num: int = 0,
    shared_expert_rank_num: int = 0,
    global_bs: int = 0,
    comm_quant_mode: int = 0,
    comm_alg: str = "",
    zero_expert_num: int = 0,
    copy_expert_num: int = 0,
    const_expert_num: int = 0,
    stream: Stream | None = None,
) -> Tensor:
    """Bring what the experts made of the tokens back and add it up for each token.

    ``x[token] = sum over its experts of expert_scales * result``, and what shared experts made of
    it. It undoes what `moe_distribute_dispatch` did with the same arguments.

    Parameters
    ----------
    expand_x : Tensor
        Results of the experts of this rank, in the rows that dispatch gave them. Shape ``(A, H)``;
        dtype float16 | bfloat16; format ND.
    expert_ids : Tensor
        What dispatch got. Shape ``(BS, K)``; dtype int32.
    dispatched : Dispatched
        What dispatch returned.
    expert_scales : Tensor
        Weights of the experts. Shape ``(BS, K)``; dtype float32.
    group_ep : Communicator or str, optional
        Ranks that share the experts; default is the first one made on the current device.
    ep_world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    moe_expert_num : int
        Number of experts on all ranks.
    x_active_mask : Tensor, optional
        What dispatch got.
    shared_expert_x : Tensor, optional
        What this rank's own shared expert made of the tokens. Shape ``(BS, H)``; dtype of
        ``expand_x``; not on an A2.
    ori_x : Tensor, optional
        The tokens, for copy and constant experts. Shape ``(BS, H)``; dtype of ``expand_x``.
    const_expert_alpha1 : Tensor, optional
        Factors of the tokens for constant experts. Shape ``(const_expert_num, H)``.
    const_expert_alpha2 : Tensor, optional
        Factors of ``const_expert_v``. Shape ``(const_expert_num, H)``.
    const_expert_v : Tensor, optional
        Constants. Shape ``(const_expert_num, H)``.
    shared_expert_num : int, default 0
        What dispatch got.
    shared_expert_rank_num : int, default 0
        What dispatch got.
    global_bs : int, default 0
        What dispatch got.
    comm_quant_mode : int, default 0
        0: results travel as they are. 2, not on an A2: as int8 with a scale per row.
    comm_alg : str, default ""
        What dispatch got.
    zero_expert_num : int, default 0
        What dispatch got.
    copy_expert_num : int, default 0
        What dispatch got.
    const_expert_num : int, default 0
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
        161002: a dtype is refused. 561002: a shape, a number or the number of ranks is refused.
        361001: the group is unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group_ep`` calls it.
    Emulator: float32 sums in the order shared experts, experts of the token; rounded once.

    Source
    ------
    aclnnMoeDistributeCombineV3 (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group_ep, ep_world_size)
    width = tensor_of(expand_x, "expand_x", (2,)).shape[1]
    tokens = tensor_of(expert_ids, "expert_ids", (2,)).shape[0]
    if not isinstance(dispatched, Dispatched):
        raise TypeError(
            "dispatched: expected the result of moe_distribute_dispatch, "
            f"got {type_name(dispatched)}"
        )
    out = empty((tokens, width), expand_x.dtype_name, device=comm.device)
    ops.moe_distribute_combine_v3(
        expand_x, expert_ids, dispatched.assist_info_for_combine, dispatched.ep_recv_counts,
        expert_scales, None, x_active_mask, None, None, None, None, shared_expert_x,
        None, ori_x, const_expert_alpha1, const_expert_alpha2, const_expert_v,
        comm.name, comm.world_size, comm.rank, moe_expert_num, "", 0, 0, 0,
        shared_expert_num, shared_expert_rank_num, global_bs, 0, comm_quant_mode, 0, comm_alg,
        zero_expert_num, copy_expert_num, const_expert_num, out,
        stream=comm.stream(stream),
    )  # fmt: skip
    return out


def _share(
    comm: Communicator, tokens: int, each: int, experts: int, shared: int, shared_ranks: int
) -> tuple[int, int]:
    """Return the experts of this rank and the most rows that it can get."""
    ranks = comm.world_size
    if comm.rank < shared_ranks:
        copies = max(1, shared_ranks // max(1, shared))
        return 1, tokens * -(-ranks // copies)
    local = experts // max(1, ranks - shared_ranks)
    return local, tokens * ranks * min(local, each)
