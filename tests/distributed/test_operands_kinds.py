# SPDX-License-Identifier: Apache-2.0
"""An argument of a wrong kind is refused by name before anything is queued."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator

ODD = object()
CALLS: dict[str, Callable[[ap.Tensor], Any]] = {
    "rows": lambda x: dist.all_gather(x, ODD),
    "input_split_sizes": lambda x: dist.all_to_all_single(x, x, [2], ODD),
    "output_split_sizes": lambda x: dist.all_to_all_single(x, x, ODD, [2]),
    "timeout_s": lambda x: dist.barrier(timeout_s=ODD),
    "sends": lambda x: dist.batch_send_recv(sends=ODD, recvs=[]),
    "recvs": lambda x: dist.batch_send_recv(sends=[], recvs=ODD),
    "sends[0]": lambda x: dist.batch_send_recv(sends=[x], recvs=[]),
    "recvs[0]": lambda x: dist.batch_send_recv(sends=[], recvs=[(x,)]),
    "environ": lambda x: dist.detect_environment(ODD),
    "x": lambda x: dist.grouped_mat_mul_all_reduce(x, [x]),
    "weight": lambda x: dist.grouped_mat_mul_all_reduce([x], ODD),
    "bias": lambda x: dist.grouped_mat_mul_all_reduce([x], [x], bias=ODD),
    "send_counts": lambda x: dist.all_to_allv_grouped_matmul(x, x, ODD, [1]),
    "recv_counts": lambda x: dist.grouped_matmul_all_to_allv(x, x, [1], ODD),
    "gmm_x": lambda x: dist.all_to_allv_grouped_matmul(ODD, x, [1], [1]),
    "gmm_weight": lambda x: dist.grouped_matmul_all_to_allv(x, ODD, [1], [1]),
    "mm_x": lambda x: dist.all_to_allv_grouped_matmul(x, x[None], [2], [2], mm_weight=x),
    "mm_weight": lambda x: dist.grouped_matmul_all_to_allv(
        x, x[None], [2], [2], mm_x=x, mm_weight=ODD
    ),
    "output_dtype": lambda x: dist.quant_all_reduce(x, x, output_dtype=ODD),
    "dispatched": lambda x: dist.moe_distribute_combine(
        x, x.astype("int32"), ODD, x, moe_expert_num=1
    ),
    "moe_expert_num": lambda x: dist.moe_distribute_dispatch(
        x, x.astype("int32"), moe_expert_num=ODD
    ),
    "global_bs": lambda x: dist.moe_distribute_dispatch(
        x, x.astype("int32"), moe_expert_num=1, global_bs=ODD
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_error_names_the_argument(name: str, run_threads: Any) -> None:
    def work(comm: Communicator) -> str:
        x = ap.from_numpy(np.ones((2, 2), np.float32))
        with pytest.raises((TypeError, ValueError)) as caught:
            CALLS[name](x)
        return str(caught.value)

    (text,) = run_threads(1, work)
    assert text.startswith(f"{name}: "), text
