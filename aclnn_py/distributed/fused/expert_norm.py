# SPDX-License-Identifier: Apache-2.0
"""Tokens that come back from their experts, a residual and a norm in one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import communicator_of, tensor_of
from aclnn_py.distributed.fused.experts import Dispatched
from aclnn_py.distributed.groups import Group
from aclnn_py.operators.describe.argument_errors import type_name
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["CombinedNorm", "moe_distribute_combine_add_rms_norm"]


class CombinedNorm(NamedTuple):
    """What `moe_distribute_combine_add_rms_norm` returns."""

    y: Tensor
    """The norm of ``x``; shape and dtype of ``residual_x``."""
    rstd: Tensor
    """One over the root of the mean square of each token, float32, shape ``(BS, 1, 1)``."""
    x: Tensor
    """The combined tokens plus ``residual_x``; shape and dtype of ``residual_x``."""


def moe_distribute_combine_add_rms_norm(
    expand_x: Tensor,
    expert_ids: Tensor,
    dispatched: Dispatched,
    expert_scales: Tensor,
    residual_x: Tensor,
    gamma: Tensor,
    group_ep: Group = None,
    ep_world_size: int | None = None,
    *,
    moe_expert_num: int,
    x_active_mask: Tensor | None = None,
    global_bs: int = 0,
    comm_alg: str = "",
    norm_eps: float = 1e-6,
    stream: Stream | None = None,
) -> CombinedNorm:
    """Bring what the experts made of the tokens back, add a residual, and take the norm.

    ``x = moe_distribute_combine(...) + residual_x`` and ``y = x / rms(x) * gamma``.

    Parameters
    ----------
    expand_x : Tensor
        Results of the experts of this rank, in the rows that dispatch gave them. Shape ``(A, H)``;
        dtype bfloat16; format ND.
    expert_ids : Tensor
        What dispatch got. Shape ``(BS, K)``; dtype int32.
    dispatched : Dispatched
        What dispatch returned.
    expert_scales : Tensor
        Weights of the experts. Shape ``(BS, K)``; dtype float32.
    residual_x : Tensor
        Shape ``(BS, 1, H)``; dtype bfloat16.
    gamma : Tensor
        Factors of the norm. Shape ``(n,)``; dtype of ``residual``.
    group_ep : Communicator or str, optional
        Ranks that share the experts; default is the first one made on the current device.
    ep_world_size : int, optional
        Number of ranks R; default is that of the communicator, and any other number is an error.
    moe_expert_num : int
        Number of experts on all ranks.
    x_active_mask : Tensor, optional
        What dispatch got.
    global_bs : int, default 0
        What dispatch got.
    comm_alg : str, default ""
        What dispatch got.
    norm_eps : float, default 1e-6
        Added to the mean square.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    CombinedNorm

    Raises
    ------
    ValueError
        A tensor has another number of dimensions, or ``ep_world_size`` is not that of the
        communicator.
    AclnnError
        161002: a dtype is refused. 561002: a shape, a number or the number of ranks is refused.
        361001: the group is unknown.
    SymbolNotFoundError
        The loaded library is too old for the operator.

    Notes
    -----
    Collective: every rank of ``group_ep`` calls it. The documents give the operator to an A3.

    Source
    ------
    aclnnMoeDistributeCombineAddRmsNormV2 (``include/aclnnop/mc2.h``).
    """
    comm = communicator_of(group_ep, ep_world_size)
    tensor_of(expand_x, "expand_x", (2,))
    tokens = tensor_of(expert_ids, "expert_ids", (2,)).shape[0]
    tensor_of(residual_x, "residual_x", (3,))
    if not isinstance(dispatched, Dispatched):
        raise TypeError(
            "dispatched: expected the result of moe_distribute_dispatch, "
            f"got {type_name(dispatched)}"
        )
    shape, dtype = residual_x.shape, residual_x.dtype_name
    out = CombinedNorm(
        empty(shape, dtype, device=comm.device),
        empty((tokens, 1, 1), "float32", device=comm.device),
        empty(shape, dtype, device=comm.device),
    )
    ops.moe_distribute_combine_add_rms_norm_v2(
        expand_x, expert_ids, dispatched.assist_info_for_combine, dispatched.ep_recv_counts,
        expert_scales, residual_x, gamma, None, x_active_mask, None, None, None, None, None,
        None, None, None, None, None,
        comm.name, comm.world_size, comm.rank, moe_expert_num, "", 0, 0, 0,
        0, 0, global_bs, 0, 0, 0, comm_alg, norm_eps, 0, 0, 0, *out,
        stream=comm.stream(stream),
    )  # fmt: skip
    return out
