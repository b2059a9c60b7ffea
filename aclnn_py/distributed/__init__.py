# SPDX-License-Identifier: Apache-2.0
"""Communicators of several ranks, their collectives, and how the ranks find each other.

Each name is loaded when it is first used, because the launcher and the rendezvous need no device
library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_py.late import load as _load

if TYPE_CHECKING:
    from aclnn_py.distributed.collectives import (
        all_gather,
        all_gather_into_tensor,
        all_to_all_single,
        barrier,
        broadcast,
        scatter,
    )
    from aclnn_py.distributed.communicator import Communicator
    from aclnn_py.distributed.communicator_config import CommunicatorConfig
    from aclnn_py.distributed.environment import RankEnvironment, detect_environment
    from aclnn_py.distributed.fused.add_rms_norm import (
        matmul_all_reduce_add_rms_norm,
        quant_matmul_all_reduce_add_rms_norm,
        weight_quant_matmul_all_reduce_add_rms_norm,
    )
    from aclnn_py.distributed.fused.all_gather import all_gather_matmul
    from aclnn_py.distributed.fused.all_reduce import (
        matmul_all_reduce,
        quant_matmul_all_reduce,
        weight_quant_matmul_all_reduce,
    )
    from aclnn_py.distributed.fused.all_to_all import all_to_all_matmul, matmul_all_to_all
    from aclnn_py.distributed.fused.all_to_all_quant import (
        all_to_all_quant_matmul,
        quant_matmul_all_to_all,
    )
    from aclnn_py.distributed.fused.barriers import distribute_barrier
    from aclnn_py.distributed.fused.exchanges import (
        all_to_allv_grouped_matmul,
        grouped_matmul_all_to_allv,
        quant_all_reduce,
        quant_reduce_scatter,
    )
    from aclnn_py.distributed.fused.exchanges_quant import (
        all_to_allv_quant_grouped_matmul,
        quant_grouped_matmul_all_to_allv,
    )
    from aclnn_py.distributed.fused.expert_halves import (
        CombineSetup,
        DispatchedRows,
        DispatchSetup,
        moe_distribute_combine_setup,
        moe_distribute_combine_teardown,
        moe_distribute_dispatch_setup,
        moe_distribute_dispatch_teardown,
    )
    from aclnn_py.distributed.fused.expert_norm import (
        CombinedNorm,
        moe_distribute_combine_add_rms_norm,
    )
    from aclnn_py.distributed.fused.experts import (
        Dispatched,
        moe_distribute_combine,
        moe_distribute_dispatch,
    )
    from aclnn_py.distributed.fused.grouped import grouped_mat_mul_all_reduce
    from aclnn_py.distributed.fused.reduce_scatter import matmul_reduce_scatter
    from aclnn_py.distributed.point_to_point import batch_send_recv, recv, send
    from aclnn_py.distributed.reductions import all_reduce, reduce, reduce_scatter_tensor
    from aclnn_py.errors.ranks import (
        RankEnvironmentError,
        RankLostError,
        RendezvousError,
        RendezvousMismatchError,
        RendezvousTimeoutError,
    )

# Public name -> the module of aclnn_py that defines it.
_HOMES = {
    # Communicators
    "Communicator": "distributed.communicator",
    "CommunicatorConfig": "distributed.communicator_config",
    "RankEnvironment": "distributed.environment",
    "detect_environment": "distributed.environment",
    # Collectives
    "all_gather": "distributed.collectives",
    "all_gather_into_tensor": "distributed.collectives",
    "all_reduce": "distributed.reductions",
    "all_to_all_single": "distributed.collectives",
    "barrier": "distributed.collectives",
    "broadcast": "distributed.collectives",
    "reduce": "distributed.reductions",
    "reduce_scatter_tensor": "distributed.reductions",
    "scatter": "distributed.collectives",
    "batch_send_recv": "distributed.point_to_point",
    "recv": "distributed.point_to_point",
    "send": "distributed.point_to_point",
    # Communication and computation in one operator
    "CombineSetup": "distributed.fused.expert_halves",
    "CombinedNorm": "distributed.fused.expert_norm",
    "DispatchSetup": "distributed.fused.expert_halves",
    "Dispatched": "distributed.fused.experts",
    "DispatchedRows": "distributed.fused.expert_halves",
    "all_gather_matmul": "distributed.fused.all_gather",
    "all_to_all_matmul": "distributed.fused.all_to_all",
    "all_to_all_quant_matmul": "distributed.fused.all_to_all_quant",
    "all_to_allv_grouped_matmul": "distributed.fused.exchanges",
    "all_to_allv_quant_grouped_matmul": "distributed.fused.exchanges_quant",
    "distribute_barrier": "distributed.fused.barriers",
    "grouped_mat_mul_all_reduce": "distributed.fused.grouped",
    "grouped_matmul_all_to_allv": "distributed.fused.exchanges",
    "matmul_all_reduce": "distributed.fused.all_reduce",
    "matmul_all_reduce_add_rms_norm": "distributed.fused.add_rms_norm",
    "matmul_all_to_all": "distributed.fused.all_to_all",
    "matmul_reduce_scatter": "distributed.fused.reduce_scatter",
    "moe_distribute_combine": "distributed.fused.experts",
    "moe_distribute_combine_add_rms_norm": "distributed.fused.expert_norm",
    "moe_distribute_combine_setup": "distributed.fused.expert_halves",
    "moe_distribute_combine_teardown": "distributed.fused.expert_halves",
    "moe_distribute_dispatch": "distributed.fused.experts",
    "moe_distribute_dispatch_setup": "distributed.fused.expert_halves",
    "moe_distribute_dispatch_teardown": "distributed.fused.expert_halves",
    "quant_all_reduce": "distributed.fused.exchanges",
    "quant_grouped_matmul_all_to_allv": "distributed.fused.exchanges_quant",
    "quant_matmul_all_reduce": "distributed.fused.all_reduce",
    "quant_matmul_all_reduce_add_rms_norm": "distributed.fused.add_rms_norm",
    "quant_matmul_all_to_all": "distributed.fused.all_to_all_quant",
    "quant_reduce_scatter": "distributed.fused.exchanges",
    "weight_quant_matmul_all_reduce": "distributed.fused.all_reduce",
    "weight_quant_matmul_all_reduce_add_rms_norm": "distributed.fused.add_rms_norm",
    # Errors
    "RankEnvironmentError": "errors.ranks",
    "RankLostError": "errors.ranks",
    "RendezvousError": "errors.ranks",
    "RendezvousMismatchError": "errors.ranks",
    "RendezvousTimeoutError": "errors.ranks",
}

__all__ = [
    "CombineSetup",
    "CombinedNorm",
    "Communicator",
    "CommunicatorConfig",
    "DispatchSetup",
    "Dispatched",
    "DispatchedRows",
    "RankEnvironment",
    "RankEnvironmentError",
    "RankLostError",
    "RendezvousError",
    "RendezvousMismatchError",
    "RendezvousTimeoutError",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_matmul",
    "all_reduce",
    "all_to_all_matmul",
    "all_to_all_quant_matmul",
    "all_to_all_single",
    "all_to_allv_grouped_matmul",
    "all_to_allv_quant_grouped_matmul",
    "barrier",
    "batch_send_recv",
    "broadcast",
    "detect_environment",
    "distribute_barrier",
    "grouped_mat_mul_all_reduce",
    "grouped_matmul_all_to_allv",
    "matmul_all_reduce",
    "matmul_all_reduce_add_rms_norm",
    "matmul_all_to_all",
    "matmul_reduce_scatter",
    "moe_distribute_combine",
    "moe_distribute_combine_add_rms_norm",
    "moe_distribute_combine_setup",
    "moe_distribute_combine_teardown",
    "moe_distribute_dispatch",
    "moe_distribute_dispatch_setup",
    "moe_distribute_dispatch_teardown",
    "quant_all_reduce",
    "quant_grouped_matmul_all_to_allv",
    "quant_matmul_all_reduce",
    "quant_matmul_all_reduce_add_rms_norm",
    "quant_matmul_all_to_all",
    "quant_reduce_scatter",
    "recv",
    "reduce",
    "reduce_scatter_tensor",
    "scatter",
    "send",
    "weight_quant_matmul_all_reduce",
    "weight_quant_matmul_all_reduce_add_rms_norm",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_load(f"aclnn_py.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
