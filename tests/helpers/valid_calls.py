# SPDX-License-Identifier: Apache-2.0
"""Calls of fused and grouped operators that phase one takes; a keyword changes one argument."""

from __future__ import annotations

from inspect import signature
from typing import Any

import ml_dtypes
import numpy as np

import aclnn_py as ap
from aclnn_py import ops

F16, F32, BF16, I8 = np.float16, np.float32, ml_dtypes.bfloat16, np.int8


def new(*shape: int, dtype: Any = F32, format: str = "ND") -> ap.Tensor:
    return ap.empty(shape, dtype, format=format)


def gathered(group: str, **changed: Any) -> None:
    arguments = {
        "x1": new(4, 256, dtype=F16),
        "x2": new(256, 3, dtype=F16),
        "bias": None,
        "group": group,
        "gather_index": 0,
        "comm_turn": 0,
        "stream_mode": 1,
        "output": new(8, 3, dtype=F16),
        "gather_out": new(8, 256, dtype=F16),
    }
    ops.all_gather_matmul(**{**arguments, **changed})


def scattered(group: str, **changed: Any) -> None:
    arguments = {
        "x1": new(4, 256, dtype=F16),
        "x2": new(256, 3, dtype=F16),
        "bias": None,
        "group": group,
        "reduce_op": "sum",
        "comm_turn": 0,
        "stream_mode": 1,
        "output": new(2, 3, dtype=F16),
    }
    ops.matmul_reduce_scatter(**{**arguments, **changed})


def summed(group: str, **changed: Any) -> None:
    arguments = {
        "x1": new(2, 64, dtype=F16),
        "x2": new(64, 3, dtype=F16),
        "bias": new(3, dtype=F16),
        "group": group,
        "reduce_op": "sum",
        "comm_turn": 0,
        "stream_mode": 1,
        "output": new(2, 3, dtype=F16),
    }
    ops.matmul_all_reduce(**{**arguments, **changed})


def weight_quant(group: str, **changed: Any) -> None:
    arguments = {
        "x1": new(2, 64, dtype=F16),
        "x2": new(64, 3, dtype=I8),
        "bias": None,
        "antiquant_scale": new(3, dtype=F16),
        "antiquant_offset": new(3, dtype=F16),
        "x3": None,
        "group": group,
        "reduce_op": "sum",
        "comm_turn": 0,
        "stream_mode": 1,
        "antiquant_group_size": 0,
        "output": new(2, 3, dtype=F16),
    }
    ops.weight_quant_matmul_all_reduce(**{**arguments, **changed})


def quantised(group: str, **changed: Any) -> None:
    arguments = {
        "x1": new(2, 64, dtype=I8),
        "x2": new(64, 3, dtype=I8),
        "bias": None,
        "x3": None,
        "dequant_scale": new(3, dtype=np.uint64),
        "pertoken_scale": None,
        "group": group,
        "reduce_op": "sum",
        "comm_turn": 0,
        "stream_mode": 1,
        "output": new(2, 3, dtype=F16),
    }
    ops.quant_matmul_all_reduce_v2(**{**arguments, **changed})


def grouped_summed(group: str, **changed: Any) -> None:
    arguments = {
        "x": [new(3, 4, dtype=F16)],
        "weight": [new(4, 5, dtype=F16), new(4, 5, dtype=F16)],
        "bias": [],
        "group_list": [1, 3],
        "split_item": 3,
        "group": group,
        "reduce_op": "sum",
        "comm_turn": 0,
        "stream_mode": 1,
        "y": [new(3, 5, dtype=F16)],
    }
    ops.grouped_mat_mul_all_reduce(**{**arguments, **changed})


def grouped(**changed: Any) -> None:
    arguments: dict[str, Any] = {
        "x": [new(6, 4, dtype=F16)],
        "weight": [new(3, 4, 5, dtype=F16)],
        **dict.fromkeys(
            ("bias", "scale", "offset", "antiquant_scale", "antiquant_offset", "per_token_scale")
        ),
        "group_list": ap.from_numpy(np.array([1, 2, 6])),
        **dict.fromkeys(("activation_input", "activation_quant_scale", "activation_quant_offset")),
        "split_item": 3,
        "group_type": 0,
        "group_list_type": 0,
        "act_type": 0,
        "out": [new(6, 5, dtype=F16)],
        **dict.fromkeys(("activation_feature_out", "dyn_quant_scale_out")),
    }
    ops.grouped_matmul_v4(**{**arguments, **changed})


def grouped_add(**changed: Any) -> None:
    arguments = {
        "x": new(4, 2, dtype=F16),
        "weight": new(4, 3, dtype=F16),
        "group_list": ap.from_numpy(np.array([1, 4])),
        "y_ref": new(4, 3),
        "transpose_x": True,
        "transpose_weight": False,
        "group_type": 2,
    }
    ops.grouped_matmul_add(**{**arguments, **changed})


def grouped_v2(**changed: Any) -> None:
    arguments: dict[str, Any] = {
        "x": [new(6, 4, dtype=F16)],
        "weight": [new(4, 5, dtype=F16), new(4, 5, dtype=F16)],
        **dict.fromkeys(("bias", "scale", "offset", "antiquant_scale", "antiquant_offset")),
        "group_list": [2, 6],
        "split_item": 3,
        "group_type": 0,
        "y": [new(6, 5, dtype=F16)],
    }
    ops.grouped_matmul_v2(**{**arguments, **changed})


def attended(**changed: Any) -> None:
    operator = ops.fused_infer_attention_score_v2
    arguments: dict[str, Any] = {
        **dict.fromkeys(name for name in signature(operator).parameters if name != "stream"),
        "query": new(2, 4, 3, 16, dtype=F16),
        "key": [new(2, 2, 5, 16, dtype=F16)],
        "value": [new(2, 2, 5, 16, dtype=F16)],
        "num_heads": 4,
        "scale_value": 0.25,
        **dict.fromkeys(("pre_tokens", "next_tokens"), 2147483647),
        "input_layout": "BNSD",
        "num_key_value_heads": 2,
        **dict.fromkeys(("sparse_mode", "inner_precise", "block_size", "antiquant_mode"), 0),
        "softmax_lse_flag": False,
        **dict.fromkeys(("key_antiquant_mode", "value_antiquant_mode"), 0),
        "attention_out": new(2, 4, 3, 16, dtype=F16),
    }
    operator(**{**arguments, **changed})
